/* SPDX-License-Identifier: MIT */
#ifndef PERFBLOCK_COLLECT_H
#define PERFBLOCK_COLLECT_H

#include "perfblock/sample.h"
#include "perfblock/source.h"
#include "perfblock/stream.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Computes displayed values with their names. See docs/collect.md. A collector takes the records of streams, finds the
 * counters that a selection chooses, matches samples with older ones, and returns their values as a frame:
 *
 *     pfb_collector *collector = pfb_collector_new();
 *     pfb_frame frame = {.size = sizeof frame};
 *     pfb_series series = {.size = sizeof series};
 *     while (pfb_collector_read(collector, stream) == PFB_NEXT_RECORD && pfb_collector_frame(collector, &frame))
 *         for (uint32_t i = 0; i < frame.count; i++)
 *             if (pfb_collector_series(collector, i, &series))
 *                 printf("%s(%s)\\%s %.17g\n", series.counterset, series.instance, series.counter, frame.values[i]);
 *
 * Records are copied and need not be trusted. A collector holds the latest sample, the samples it may be compared with
 * (PFB_COLLECT_MEMORY), names and registrations. Work is linear in the input, n log n where something is sorted.
 * Conventions are those of stream.h. When memory is exhausted, the collector can still be used and closed. A collector
 * may be used by one thread at a time; different collectors are independent. */

typedef struct pfb_collector pfb_collector; /* opaque */

/* ---- Opening --------------------------------------------------------------------------------------------- */

/* Options of a collector; 0 is the default of each. */
enum {
    PFB_COLLECT_STRICT = 1,
    PFB_COLLECT_MEMORY = 2,    /* bytes of samples kept for comparison; 0: 64 MiB for each of V1, V2 and logs */
    PFB_COLLECT_IDENTITY = 3,  /* PFB_IDENTITY_: how instances of V1 and logs are found in other samples */
    PFB_COLLECT_BIAS = 4,      /* minutes, UTC = local time + bias, for local times of unknown zone */
    PFB_COLLECT_CODE_PAGE = 5, /* of instances' names in V1 objects whose code page is not UTF-16, instead of theirs:
                                * one of code_page.h or an encoding of name.h; 0: theirs */
    PFB_COLLECT_ENGLISH = 6    /* 1: names of countersets and counters are English where the data and the name tables
                                * have such names; 0: local where they have those */
};

PFB_API pfb_collector *pfb_collector_new(void);             /* null: memory is exhausted */
PFB_API void pfb_collector_close(pfb_collector *collector); /* may be null */
PFB_API uint32_t pfb_collector_set(pfb_collector *collector, uint32_t option, int64_t value); /* pfb_code */

/* How the values of the samples that follow are computed; null: the defaults. Of a text log, which has displayed
 * values, only clamp_0 and cap_100 apply; flags mark what they changed. Percentages of a text log are the counters
 * that the catalog has with this unit, and counters without a type that have a percent sign in their names. */
PFB_API void pfb_collector_set_formula(pfb_collector *collector, const pfb_formula_options *options);

/* The name of the machine of V2 data and of V1 blocks without a name; null: unknown. Copied. False: no memory. */
PFB_API bool pfb_collector_set_machine(pfb_collector *collector, const char *name);

/* Chooses the values of the samples that follow, and the samples by their times; null: everything. Samples outside of
 * the range are left out before samples are compared: of every tenth sample, each rate covers ten intervals. Counters
 * that only formulas need are not in frames. False: no memory. */
PFB_API bool pfb_collector_select(pfb_collector *collector, const pfb_selection *selection);

enum { /* the value of a group */
       PFB_GROUP_SUM = 0,
       PFB_GROUP_MAX = 1,
       PFB_GROUP_AVG = 2 /* arithmetic mean */
};

#define PFB_GROUP_PATTERN_BYTES 256

/* Groups the instances of each counterset whose names match a pattern, in the samples that follow: frames then have one
 * element per group and counter in the place of those of its instances. `pattern` is UTF-8, at most
 * PFB_GROUP_PATTERN_BYTES bytes; null: no groups. * matches any text, as little as possible, ? one character, (*) any
 * text that the instances of a group must share, and anything else itself, A to Z in any case. It is compared with the
 * name of the instance, after that of its parent and a slash if it has one; if that does not match, with the same and
 * # and the occurrence. The name of a group is the pattern with the shared text in the place of each (*). Totals are in
 * no group unless the pattern contains "_Total", in any case. Instances that do not match stay as they are.
 *
 * Members without a value are left out (PFB_FLAG_PARTIAL); if none has one, the status is that of the first member. A
 * group has the flags of all its members, and neither raw values nor inputs. Its exact integer is known if it is that
 * of all members. A sum past the range of double has the status PFB_STATUS_NO_DATA. False: no memory, or an invalid
 * argument. */
PFB_API bool pfb_collector_group(pfb_collector *collector, const char *pattern, uint32_t how);

/* ---- Records --------------------------------------------------------------------------------------------- */

/* Takes a record; its bytes are copied. Returns 1 if there is a current frame now; 0 if not (metadata, a sample outside
 * of the range or with a malformed header); -1 when memory is exhausted. Metadata belongs to the record's file and part
 * until its PFB_RECORD_END.
 *
 * A V2 reply is compared with the latest one of its file, each object of a V1 block with the latest block of its
 * machine that has this object. Consecutive V1 blocks with different objects of the same machine and time are one
 * sample: they have the same number. Samples of different files are compared if their clocks show the same machine
 * without a restart in between: both performance clocks have the same frequency, no clock runs backwards, and from the
 * older sample to the newer one the performance clock loses at most 1 second plus 0.1 percent of the elapsed time
 * against the 100 ns clock. V2 data does not contain the name of its machine: there the performance clock must not gain
 * more than this either. While both files are read, they must also answer the same queries. A file that has ended may
 * be continued by one with other queries: counters and instances that both have are compared. A V2 result with a
 * counter that has another type or other related counters in the older sample is not compared.
 *
 * A sample of a log is compared with the previous one of the same log; if the log has a new list of paths in between,
 * only values of paths in both lists are compared. The first sample of a log is compared with the last sample of an
 * ended log: the one that has the most paths with equal counter types in common. Values of a machine are not compared
 * with the ended log if the clocks that they contain show a restart or another machine. The values of a text log are
 * displayed values: type and raw value are unknown. */
PFB_API int32_t pfb_collector_put(pfb_collector *collector, const pfb_record *record);

/* Puts the records of a stream up to the next one with a frame: PFB_NEXT_. Gives the collector's selection to the
 * stream if that has none. */
PFB_API int32_t pfb_collector_read(pfb_collector *collector, pfb_stream *stream);

PFB_API bool pfb_collector_take_problem(pfb_collector *collector, pfb_problem *problem); /* the next one */

/* ---- Frames ---------------------------------------------------------------------------------------------- */

/* Flag of a value computed from two samples of a total (an instance named "_Total" or "...,_Total"): the newer sample
 * lacks instances of the older one. Windows and Linux compute a total from the instances that exist, so the value lacks
 * what these instances counted. The other flags are those of formula.h. */
#define PFB_FLAG_INCOMPLETE_TOTAL 8u

/* Flag of a PERF_COUNTER_RAWCOUNT or PERF_COUNTER_LARGE_RAWCOUNT of 8 bytes whose highest bit is set. Raw values are
 * unsigned, but some providers count below zero: then the value is raw - 2^64. */
#define PFB_FLAG_MAY_BE_NEGATIVE 16u

/* Flag of a percentage above 100 that is the sum of a group's members. */
#define PFB_FLAG_SUM 32u

/* Flag of a group of whose members some have no value, such as a process that has just started. */
#define PFB_FLAG_PARTIAL 64u

/* The values of the latest record with all its parts (the V1 objects in a sample of a .blg follow its counters), valid
 * until the next put, read, select or close. As long as `layout` stays the same, element i is the same series. Bases
 * and texts, which have no displayed value, are elements with the status PFB_STATUS_NOT_DISPLAYED. */
typedef struct pfb_frame {
    uint32_t size;
    uint32_t kind;        /* of its record: PFB_RECORD_V2, _V1, _LOG or _ROW */
    uint32_t file, flags; /* of its record; flags: PFB_RECORD_HAS_TIME, PFB_RECORD_LOCAL_TIME */
    uint64_t number;      /* of the sample, from 0: samples with a malformed header are not counted, and consecutive V1
                           * blocks of one time share it */
    uint64_t layout;
    int64_t time; /* of the sample; if all values are of V1 objects in a .blg, of the first one, which is more exact */
    int64_t perf_time, perf_freq; /* of V1 and V2; else 0 */
    uint32_t notes;               /* PFB_NOTE_ bits */
    uint32_t result_count;        /* for pfb_collector_result; of a log: of the V1 objects in its sample */
    uint32_t count;               /* elements of the arrays */
    const double *values;         /* NaN unless the status is ok */
    const uint8_t *statuses;      /* pfb_status */
    const uint8_t *flag_bits;     /* PFB_FLAG_ */
    const uint64_t *raw;          /* 0 where there is none */
    const int64_t *times;         /* of each value, in a .blg; null: all have `time` */
} pfb_frame;

/* Stores the current frame in *frame. False: there is none. */
PFB_API bool pfb_collector_frame(pfb_collector *collector, pfb_frame *frame);

enum { /* what is known of a series */
       PFB_SERIES_MACHINE = 1,
       PFB_SERIES_COUNTERSET = 2,
       PFB_SERIES_INSTANCE = 4,
       PFB_SERIES_PARENT = 8,
       PFB_SERIES_COUNTER = 16,
       PFB_SERIES_TYPE = 32,
       PFB_SERIES_SET = 64,
       PFB_SERIES_TITLE = 128,
       PFB_SERIES_COUNTER_ID = 256,
       PFB_SERIES_INSTANCE_ID = 512,
       PFB_SERIES_HIDDEN = 1024, /* the counter has PFB_ATTRIBUTE_NO_DISPLAY and was not chosen by name or id */
       PFB_SERIES_LOG = 2048,    /* of a path of a log, not of a V1 object inside it */
       PFB_SERIES_TOTALS = 4096, /* V1, V2: a term chose its counter with an instance pattern that contains "_Total", in
                                  * any case: then the user wants sums of instances, too */
       PFB_SERIES_GROUP = 8192   /* a group of instances (pfb_collector_group) */
};

/* What an element belongs to. Strings are never null, "" for what is absent, with a NUL after their bytes; names of
 * text logs may contain NULs. They are valid as long as the frame. */
typedef struct pfb_series {
    uint32_t size, has;                                             /* PFB_SERIES_ */
    const char *machine, *counterset, *instance, *parent, *counter; /* machine: of logs with its two backslashes */
    const char *unit;                                               /* "%", "/sec", ...; "" without one */
    uint32_t machine_bytes, counterset_bytes, instance_bytes, parent_bytes, counter_bytes;
    uint32_t occurrence;       /* among the instances with its name and parent in the result, from 0 */
    uint32_t type;             /* counter type */
    uint32_t counter_id;       /* V1: title index */
    uint32_t title;            /* V1: title index of the object */
    uint32_t result, position; /* V1, V2: of the result in the sample and of the counter in the result; logs: both are
                                * the position of the path */
    uint32_t row; /* number of the instance among those of the result, or of the path, that the frame has, from 0 */
    uint64_t attributes; /* PFB_ATTRIBUTE_ bits */
    int64_t instance_id;
    pfb_guid set;
} pfb_series;

PFB_API bool pfb_collector_series(pfb_collector *collector, uint32_t element, pfb_series *series);

enum {
    PFB_VALUE_RAW = 1,
    PFB_VALUE_BASE = 2,
    PFB_VALUE_INTEGER = 4,
    PFB_VALUE_OBJECT_FREQ = 8,
    PFB_VALUE_TIME = 16,
    PFB_VALUE_LOCAL_TIME = 32 /* the offset of `time` from UTC is unknown */
};

/* All of an element. */
typedef struct pfb_value {
    uint32_t size, has;             /* PFB_VALUE_ bits */
    uint32_t status, source_status; /* pfb_status; status of PDH in a .blg where it has no value, else 0 */
    uint32_t flags;                 /* PFB_FLAG_ bits */
    double value;                   /* 0 unless the status is ok */
    uint64_t integer;               /* the exact value, where it is an integer from 0 to 2^64 - 1 */
    uint64_t raw, base;
    int64_t object_freq; /* ticks per second of the object's own clock */
    int64_t time;        /* of this value */
} pfb_value;

PFB_API bool pfb_collector_value(pfb_collector *collector, uint32_t element, pfb_value *value);

/* The inputs of the formula: [0] of the older sample (has == 0: none), [1] of this one. */
PFB_API bool pfb_collector_inputs(pfb_collector *collector, uint32_t element, pfb_raw_value inputs[2]);

/* ---- Results --------------------------------------------------------------------------------------------- */

/* A result of the current frame, with or without values: the answer to an identifier block of the query, or a V1
 * object. */
typedef struct pfb_collected_result {
    uint32_t size;
    uint32_t kind;   /* PFB_V2_ or PFB_V1_OBJECT */
    size_t offset;   /* in the reply */
    bool has_values; /* the kind is known, and not that of an error */
    uint32_t status; /* Win32 code */
    bool is_chosen;  /* a term of the selection chooses its counterset, or there are no terms */
    const char *counterset;
    size_t counterset_size;
    bool has_counterset;
    bool has_guid;
    pfb_guid guid;
    bool has_title;
    uint32_t title;
    bool has_counter_id; /* V2: it answers a query for one counter */
    uint32_t counter_id;
    uint32_t row_count, column_count; /* instances and counters that the frame has. If column_count is 0, the frame has
                                       * none, and row_count counts all instances */
    uint32_t shown_column_count;      /* counters among them that have a displayed value and are not hidden */
    bool has_repeated_names;          /* instances with equal names */
    bool has_rows_of_previous; /* V2: no error, and the counterset and the instances, in the same order, are those of
                                * the previous result: both fit one table */
} pfb_collected_result;

/* Stores the result at `position`, from 0, in *result. Returns false past the end. Counters of logs have
 * no results. The string is valid as long as the frame. */
PFB_API bool pfb_collector_result(pfb_collector *collector, uint32_t position, pfb_collected_result *result);

/* ---- Losses ---------------------------------------------------------------------------------------------- */

/* Why samples were not compared with those of an earlier file, as bits. */
#define PFB_GAP_BACKWARDS 1u /* time runs backwards */
#define PFB_GAP_FREQUENCY 2u /* the performance clocks have different frequencies */
#define PFB_GAP_RESTART 4u   /* the clocks show a restart or another machine */
#define PFB_GAP_COUNTERS 8u  /* the queries or the counters differ */

/* Why samples were not compared with an older one: all reasons since the collector was opened. */
typedef struct pfb_collector_losses {
    uint32_t size;
    uint32_t gaps;          /* PFB_GAP_ bits */
    uint64_t dropped_count; /* samples dropped because of the limits below although later samples could have been
                             * compared with them: replies that were the latest one with some object, and last samples
                             * of ended logs */
    uint32_t max_objects;   /* limit of objects whose samples are stored, for V1 and V2 each; and limit of ended logs */
    size_t max_bytes;       /* limit of the memory of these samples, for V1 and V2 each; and of that of ended logs */
} pfb_collector_losses;

PFB_API void pfb_collector_lost(const pfb_collector *collector, pfb_collector_losses *losses);

/* ---- Countersets ----------------------------------------------------------------------------------------- */

/* Countersets whose registrations were put, for the file of the latest record. A failure is exhausted memory unless
 * stated otherwise. */

/* Stores the GUIDs, 16 bytes each, of the countersets whose registration was put, ascending. */
PFB_API bool pfb_collector_countersets(pfb_collector *collector, pfb_bytes *guids, pfb_source_failure *failure);

/* A counterset. */
typedef struct pfb_described_counterset {
    uint32_t size;
    const char *name, *english_name, *help; /* name: in the language of PFB_COLLECT_ENGLISH, where there is one;
                                             * english_name: of a registration, else of the catalog */
    size_t name_size, english_name_size, help_size;
    bool has_name, has_english_name, has_help;
    bool has_counters;      /* its registration is known, or it is in the catalog; else the members below are 0 */
    uint32_t instance_type; /* PFB_INSTANCES_ bits */
    uint32_t counter_count;
    const char *local_name;
    size_t local_name_size;
    bool has_local_name;
} pfb_described_counterset;

/* Stores the names and the type of a counterset in *counterset; without a registration, those of the catalog. The
 * strings are valid until the next call for this collector, except calls of pfb_collector_counter. */
PFB_API bool pfb_collector_counterset(pfb_collector *collector, const pfb_guid *guid,
                                      pfb_described_counterset *counterset, pfb_source_failure *failure);

/* A counter of a counterset. */
typedef struct pfb_described_counter {
    uint32_t size;
    pfb_counter counter;
    const char *name, *english_name, *help;
    size_t name_size, english_name_size, help_size;
    bool has_name, has_english_name, has_help;
    const char *local_name;
    size_t local_name_size;
    bool has_local_name;
} pfb_described_counter;

/* Stores the counter at `position`, from 0 and below counter_count, in *counter. The strings are valid until the next
 * call for this collector. Returns false past the end (PFB_WIN32_COUNTER_NOT_FOUND) and when memory is exhausted. */
PFB_API bool pfb_collector_counter(pfb_collector *collector, const pfb_guid *guid, uint32_t position,
                                   pfb_described_counter *counter, pfb_source_failure *failure);

/* ---- Names ----------------------------------------------------------------------------------------------- */

/* Returns the name of a V1 title index in the tables that were put for the file of the latest record; `bytes` is null
 * if there is none. In the language of PFB_COLLECT_ENGLISH if it has a name in it, else in the other one; _in: only in
 * English, or only in the local language. Valid until the next record. */
PFB_API pfb_name pfb_collector_title(pfb_collector *collector, uint32_t title_index);
PFB_API pfb_name pfb_collector_title_in(pfb_collector *collector, uint32_t title_index, bool is_english);

/* Stores the different names in English, or in the local language, of all title indexes that have this name in the
 * other one in these tables; the case of A to Z does not count. Returns their number, at most `capacity`; 0 also when
 * memory is exhausted. */
PFB_API uint32_t pfb_collector_translate(pfb_collector *collector, const pfb_name *name, bool is_english,
                                         pfb_name *names, uint32_t capacity);

#ifdef __cplusplus
}
#endif

#endif
