/* SPDX-License-Identifier: MIT */
#ifndef PERFBLOCK_COLLECT_H
#define PERFBLOCK_COLLECT_H

#include "perfblock/log.h"
#include "perfblock/pdh_text.h"
#include "perfblock/sample.h"
#include "perfblock/source.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Computes displayed values with their names, from a source or from replies that the caller has. See docs/collect.md.
 *
 *     pfb_collector *c = pfb_collector_open(source, NULL, &failure);
 *     pfb_collector_add(c, "\\Processor Information(*)\\% Processor Time", &failure);
 *     while (pfb_collector_collect(c, &failure))
 *         while (pfb_collector_next(c, &v))
 *             if (v.status == PFB_STATUS_OK)
 *                 printf("%s %s %.2f %s\n", v.instance, v.counter, v.value, v.unit);
 *     pfb_collector_close(c);
 *
 * A collector finds counters by name, keeps the samples that later ones are compared with, and returns each value with
 * its names as text. Replies that the caller already has, such as those in files, are not collected but passed to the
 * pfb_collector_put_ functions:
 *
 *     pfb_collector *c = pfb_collector_open(NULL, NULL, &failure);
 *     pfb_collector_put_names(c, names, names_size, NULL, &failure);
 *     pfb_collector_put_sample(c, 0, first, first_size, &failure);
 *     pfb_collector_put_sample(c, 0, second, second_size, &failure);
 *     while (pfb_collector_next(c, &v))
 *
 * Replies are copied and need not be trusted. A collector holds the latest sample, the samples it may be compared with
 * (for V1 and V2 each, at most 4096 objects and 64 MiB besides the latest; a V2 reply counts as one object), names and
 * registrations. Work is linear in the input, n log n where something is sorted.
 *
 * Functions with the parameter `failure`, which may be null, report there why they return false. When memory is
 * exhausted the code is PFB_WIN32_OUTOFMEMORY, or PFB_WIN32_NOT_ENOUGH_MEMORY from the source, and the collector can
 * still be used and closed. A collector may be used by one thread at a time; different collectors are independent. */

typedef struct pfb_collector pfb_collector; /* opaque */

/* Selects samples of a recording, or of those that are put. The others are left out before samples are compared: if
 * `every` is 10, each rate covers ten intervals. Live sources ignore the range. */
typedef struct pfb_collector_range {
    bool has_from, has_to;
    int64_t from, to;     /* the first and the last time, both included, in 100 ns since 1601-01-01 UTC */
    uint64_t every;       /* uses the first sample from `from` to `to`, and each `every`-th after it; 0 and 1: all */
    int32_t bias_minutes; /* for samples in local time whose offset from UTC is unknown: UTC = local time + bias */
} pfb_collector_range;

/* A member that is zero selects the default; a null pointer to the options selects all defaults. */
typedef struct pfb_collector_options {
    pfb_read_options reader;
    pfb_formula_options formula; /* applied to every value */
    uint32_t key_counter;        /* V1: title index of a counter that identifies instances with equal names, such as
                                  * that of "ID Process"; 0: none */
    uint32_t interval_ms;        /* between live samples; 0: 1000 */
    bool returns_at_once;        /* pfb_collector_collect does not wait for the next interval */
    bool is_raw;                 /* pfb_collector_collect fetches replies without decoding them: there are no values */
    pfb_collector_range range;
    bool is_v1;          /* V1 data of the source is collected instead of V2 data */
    const char *machine; /* UTF-8: the machine of V2 data, which does not contain its name, and of V1 blocks without a
                          * name; null: unknown. Must stay valid until the collector is closed */
    uint32_t reserved[4];
} pfb_collector_options;

/* Opens a collector. `source` may be null; otherwise it must stay open, and only this collector may use it, until the
 * collector is closed. Returns null on failure. */
PFB_API pfb_collector *pfb_collector_open(pfb_source *source, const pfb_collector_options *options,
                                          pfb_source_failure *failure);

PFB_API void pfb_collector_close(pfb_collector *collector); /* may be null */

/* Replaces the range of the options, for the samples that follow. */
PFB_API void pfb_collector_choose_range(pfb_collector *collector, const pfb_collector_range *range);

/* Returns true if V1 data of the source is collected: if the options say so, or if the source cannot enumerate
 * countersets (PFB_WIN32_NOT_SUPPORTED) and has V1 objects. The first call may query the source. */
PFB_API bool pfb_collector_is_v1(pfb_collector *collector);

/* ---- Choosing counters ----------------------------------------------------------------------------------- */

/* Counters, by the parts of their paths. Each name is a pattern with * and ?; the case of A to Z is ignored. */
typedef struct pfb_collector_choice {
    const char *const *countersets; /* names or GUIDs */
    size_t counterset_count;
    const char *const *counters; /* names or ids */
    size_t counter_count;        /* 0: all */
    const char *instance;        /* a name; null: all. "a#1" also matches the second instance called "a", and "a/b"
                                  * instances called "b" whose parent is "a" */
    const char *machine;         /* a name, with or without two leading backslashes; null: all */
} pfb_collector_choice;

/* Adds counters of the source, and the counters that their formulas need. A pattern is compared with the names in the
 * system's language, the English names and those of the catalog (of counters only if the counterset has no
 * registration), and with the GUID or id (a pattern with wildcards only where there is no name). A counterset named
 * without wildcards must have at least one of the counters and a matching instance; V2: if the source lists no
 * instances of it, any instance is accepted. Countersets that match a pattern and lack either are skipped. Each pattern
 * for counters must match a counter of at least one counterset.
 *
 * Fails with PFB_WIN32_COUNTERSET_NOT_FOUND, PFB_WIN32_COUNTER_NOT_FOUND or PFB_WIN32_INSTANCE_NOT_FOUND if a name
 * matches nothing; failure->sentence contains the name. Fails with PFB_WIN32_NOT_FOUND if a counterset named without
 * wildcards has none of the counters, although another counterset has them. Fails with the code of the source if it
 * refuses all counters. Each counter that it refuses is a problem (pfb_collector_next_problem). A failed call adds no
 * counter.
 *
 * If the source cannot enumerate countersets (PFB_WIN32_NOT_SUPPORTED) and has no V1 data, only countersets of the
 * catalog are found by name; others can be added by GUID. The catalog then provides the registrations. The failure is
 * PFB_WIN32_NOT_SUPPORTED if a counterset is not found.
 *
 * V1: countersets are objects, found by name or title index, those of the catalog also by GUID; counters are found by
 * name or title index. Names are those of the table "Counter 009", which is English, and of tables that were put.
 * Patterns match the objects that the query "Global" returns; a name without wildcards also finds costly objects. With
 * a recorded source, names are compared with each block when it is collected, as without a source.
 *
 * Without a source, names are compared with each sample when it is put; V1 objects and counters may also be given by
 * title index. A name that matches nothing is not a failure. Names of machines, countersets and counters in the data
 * that are longer than 2048 bytes match only the pattern "*".
 *
 * choice->machine is compared with the machine's name in V1 blocks and logs, or with `machine` of the options for V2
 * data and V1 blocks without a name. If the name is unknown, only "*" matches. Unless names are compared with each
 * sample, a machine that does not match `machine` of the options is a failure: PFB_WIN32_INVALID_PARAMETER. */
PFB_API bool pfb_collector_add_choice(pfb_collector *collector, const pfb_collector_choice *choice,
                                      pfb_source_failure *failure);

/* Calls pfb_collector_add_choice with the parts of a path in UTF-8: [\\machine]\counterset(instance)\counter, as
 * described at pfb_path_parse. The counter "*" selects all counters. Fails with PFB_WIN32_INVALID_PARAMETER if `path`
 * is not a path. */
PFB_API bool pfb_collector_add(pfb_collector *collector, const char *path, pfb_source_failure *failure);

/* A counter that is collected, or all counters of a counterset. */
typedef struct pfb_collector_identifier {
    pfb_guid counterset;
    uint32_t counter_id;  /* PFB_NO_ID: all of the counterset */
    bool is_shown;        /* false: it is collected only for formulas of other counters, its values are not returned */
    const char *instance; /* pattern of its instances; null: all. Valid until the collector is closed */
    size_t name_size; /* of `instance` without a number at its end: 1 for "a#1", which also chooses the second "a" */
    bool is_v1;       /* `counter_id` is the title index of the counter, `counterset` is zero */
    uint32_t title;   /* V1: title index of the object */
} pfb_collector_identifier;

/* Stores the added counter at `position`, from 0, in *identifier. Counters are grouped by counterset or object, and
 * ascending by id within it; a counter that was added with several instance patterns has a position for each. Returns
 * false past the end. Counters that are chosen by comparing names with each sample (no source, recorded V1 data) have
 * no positions. */
PFB_API bool pfb_collector_identifier_at(const pfb_collector *collector, size_t position,
                                         pfb_collector_identifier *identifier);

/* A malformed reply or a refused counter. The other counters are collected nevertheless. */
typedef struct pfb_collector_problem {
    pfb_guid counterset;
    bool is_names;       /* the V1 name table is malformed */
    uint32_t request;    /* unless is_names: the request code (PFB_REQUEST_) whose reply is malformed; 0: a counter was
                          * refused */
    pfb_error error;     /* of the malformed reply */
    uint32_t counter_id; /* the counter that was refused; PFB_NO_ID: all of the counterset */
    uint32_t status;     /* why it was refused, as a Win32 code */
} pfb_collector_problem;

/* Stores the next problem in *problem; each is returned once. Returns false if there is none. */
PFB_API bool pfb_collector_next_problem(pfb_collector *collector, pfb_collector_problem *problem);

/* ---- Collecting ------------------------------------------------------------------------------------------ */

/* Collects the next sample of the range, which becomes the current one. With a live source, waits until the next whole
 * number of intervals after the first sample; with a recording, does not wait. Most counters need two samples: their
 * values in the first have the status PFB_STATUS_NEED_TWO_SAMPLES. Returns false at the end of a recording
 * (PFB_WIN32_NO_MORE_ITEMS) and on failure, such as PFB_WIN32_FILE_CORRUPT where a recording is damaged, or
 * PFB_WIN32_INVALID_PARAMETER without a source or if no counter was added. A malformed reply is no failure;
 * pfb_collector_reply has its error. */
PFB_API bool pfb_collector_collect(pfb_collector *collector, pfb_source_failure *failure);

/* The reply that was collected or put last. */
typedef struct pfb_collected_reply {
    const uint8_t *data; /* the reply; valid until the next one. Null if it was put and its header is malformed, if it
                          * was left out, and for records and rows of logs */
    size_t size_bytes;   /* of the reply according to its header, which may be less than the bytes at `data`. 0: the
                          * header is malformed, or the reply was collected with is_raw */
    pfb_error error;     /* the first error in the reply, unless it was collected with is_raw; values that precede the
                          * error are returned */
    bool is_v1;
    bool is_sample;     /* the reply is the current sample; false: its header is malformed, it was left out, the
                         * options have is_raw, or it is a record of a log without values */
    bool is_left_out;   /* the range of the options leaves it out */
    bool has_time;      /* `time` is known: of replies with a valid header and samples of logs, but not of V1 objects in
                         * a log */
    bool is_local_time; /* `time` is the local time of a log whose offset from UTC is unknown */
    int64_t time;       /* of the sample, as in pfb_collected_value */
    /* Of a reply that was collected: */
    size_t collected_bytes; /* number of bytes at `data` */
    bool has_new_info;      /* V2: the query information differs from that of the previous reply */
    const uint8_t *info;    /* V2: the query information: what PerfQueryCounterInfo returned */
    size_t info_bytes;
    pfb_error info_error; /* the first error in the query information, if has_new_info */
} pfb_collected_reply;

PFB_API pfb_collected_reply pfb_collector_reply(const pfb_collector *collector);

/* ---- Putting replies ------------------------------------------------------------------------------------- */

/* Each pfb_collector_put_ function copies its bytes and ends the current sample: pfb_collector_next returns false until
 * the next sample is put. *error, which may be null, receives the first error in the bytes; what precedes it is used,
 * except in replies to the request codes 1, 3, 4 and 9. */

/* Begins another file and ends the current sample. Registrations, names and query information of the previous file are
 * discarded. A sample of the new file is compared with one of another file if their clocks show the same machine
 * without a restart in between: both performance clocks have the same frequency, no clock runs backwards, and from the
 * older sample to the newer one the performance clock loses at most 1 second plus 0.1 percent of the elapsed time
 * against the 100 ns clock. V2 data does not contain the name of its machine: there the performance clock must not gain
 * more than this either. While both files are read, they must also answer the same queries. A file that has ended may
 * be continued by one with other queries: counters and instances that both have are compared. A V2 result with a
 * counter that has another type or other related counters in the older sample is not compared. Not for collectors with
 * a source, which would lose their names and query information. */
PFB_API void pfb_collector_begin_file(pfb_collector *collector);

/* Ends the chosen file, so that later files can continue it. Ends the current sample if it comes from a .blg.
 * pfb_collector_begin_file also ends the previous file. Returns false when memory is exhausted: then the first sample
 * of the next log may have no older one to be compared with. */
PFB_API bool pfb_collector_end_file(pfb_collector *collector, pfb_source_failure *failure);

/* Chooses the file that the following calls refer to, so that samples of several files can be put in the order of their
 * times. Files have numbers from 0; file 0 is chosen at first, and memory grows with the largest number. Each file has
 * its own registrations, query information, V1 names, log paths and log samples; pfb_collector_begin_file discards only
 * those of the chosen file. V1 blocks and V2 replies are compared with the latest one of their machine, whatever file
 * it comes from; values of logs are compared with those of their own log. Ends the current sample. Not for collectors
 * with a source. Returns false when memory is exhausted. */
PFB_API bool pfb_collector_choose_file(pfb_collector *collector, size_t file, pfb_source_failure *failure);

/* Puts the reply to a registration request (pfb_source_registration). Replies to request codes other than 1, 3 to 6, 9
 * and 10 are ignored. A later reply to the same request replaces an earlier one. The source is not asked for a reply
 * that was put without an error. */
PFB_API bool pfb_collector_put_registration(pfb_collector *collector, const pfb_guid *counterset, uint32_t request,
                                            const void *data, size_t size, pfb_error *error,
                                            pfb_source_failure *failure);

/* Puts a V1 name table. Later tables take precedence over earlier ones. */
PFB_API bool pfb_collector_put_names(pfb_collector *collector, const void *data, size_t size, pfb_error *error,
                                     pfb_source_failure *failure);

/* Puts the reply of PerfQueryCounterInfo for the V2 samples that follow. */
PFB_API bool pfb_collector_put_query_info(pfb_collector *collector, const void *data, size_t size, pfb_error *error,
                                          pfb_source_failure *failure);

/* Puts a V2 reply or V1 block, which becomes the current sample. `version` is 2, 1, or 0 to detect it by the signature.
 * A V2 reply is compared with the latest one of the same file, or of another file that can be compared with it
 * (pfb_collector_begin_file). Each object of a V1 block is compared with the latest block of the same machine that has
 * this object. Consecutive V1 blocks with different objects of the same machine and time are one sample: they have the
 * same number. Returns false only when memory is exhausted; pfb_collector_reply has the error of malformed bytes. */
PFB_API bool pfb_collector_put_sample(pfb_collector *collector, uint32_t version, const void *data, size_t size,
                                      pfb_source_failure *failure);

/* ---- Putting perfmon logs -------------------------------------------------------------------------------- */

/* Puts a record of a .blg that pfb_log_next_record returned:
 *
 *     pfb_collector_begin_file(c);
 *     while (pfb_log_next_record(&log, &record)) {
 *         pfb_collector_put_log_record(c, &log, &record, &failure);
 *         do
 *             while (pfb_collector_next(c, &v))
 *                 ...
 *         while (pfb_collector_next_log_object(c, &log, &record, &failure));
 *     }
 *
 * Paths and names apply to the samples that follow. A sample becomes the current one, with a value for each of its
 * counters and instances in the order of the log. It is compared with the previous sample of the same log; if the log
 * has a new list of paths in between, only values of paths in both lists are compared. The first sample of a log is
 * compared with the last sample of an ended log: the one that has the most paths with equal counter types in common.
 * Values of a machine are not compared with the ended log if the clocks that they contain show a restart or another
 * machine (pfb_collector_begin_file). Memory holds two samples, the paths and the names of the log, whatever its size,
 * and, within the limits of pfb_collector_losses, the last sample of each ended log that no later log has continued.
 * Other records have no values. pfb_collector_reply has the error; its offset counts from the start of the reader's
 * window. */
PFB_API bool pfb_collector_put_log_record(pfb_collector *collector, const pfb_log_reader *log,
                                          const pfb_log_record *record, pfb_source_failure *failure);

/* A sample record may contain whole V1 objects, each as a V1 block. Puts the next of these blocks of the latest record,
 * as pfb_collector_put_sample does; it becomes the current sample. It has the sample number of the record and names
 * from the log. `log` and `record` are those of the call that put the record. Returns false after the last block
 * (PFB_WIN32_NO_MORE_ITEMS) and on failure. */
PFB_API bool pfb_collector_next_log_object(pfb_collector *collector, const pfb_log_reader *log,
                                           const pfb_log_record *record, pfb_source_failure *failure);

/* Reads the paths of a PDH text log, which must have just been opened. */
PFB_API bool pfb_collector_put_text_paths(pfb_collector *collector, pfb_pdh_text_reader *text,
                                          pfb_source_failure *failure);

/* Reads the values of a row, which pfb_pdh_text_next_row returned; the row becomes the current sample. The values are
 * displayed values: type and raw value are unknown. A cell without a number has the status PFB_STATUS_NO_DATA. */
PFB_API bool pfb_collector_put_text_row(pfb_collector *collector, pfb_pdh_text_reader *text,
                                        const pfb_pdh_text_row *row, pfb_source_failure *failure);

/* ---- The current sample ---------------------------------------------------------------------------------- */

/* Strings below are UTF-8 with a final NUL and never null: "" for what is unknown or absent. Sizes are in bytes without
 * the final NUL; names in text logs may contain NULs themselves. Strings are valid until the next call for this
 * collector; pfb_collector_result and pfb_collector_sample leave the strings of values valid. */

/* Flag of a value computed from two samples of a total (an instance named "_Total" or "...,_Total"): the newer sample
 * lacks instances of the older one. Windows and Linux compute a total from the instances that exist, so the value lacks
 * what these instances counted. The other flags are those of formula.h. */
#define PFB_FLAG_INCOMPLETE_TOTAL UINT32_C(8)

/* A displayed value: of one counter of one instance. */
typedef struct pfb_collected_value {
    const char *counterset, *instance, *parent, *counter; /* names; parent: of a V1 instance's parent instance */
    const char *machine; /* logs: the name with its two leading backslashes; V1: the name in the block; V2, or V1
                          * without one: that of the options */
    size_t counterset_size, instance_size, parent_size, counter_size, machine_size;
    bool has_counterset, has_instance, has_parent, has_counter, has_machine; /* the name is known */
    uint32_t occurrence; /* number of the instance among those with its name and parent in the result, from 0 */

    bool has_time;
    bool is_local_time; /* `time` is the local time of a log whose offset from UTC is unknown */
    int64_t time;       /* 100 ns since 1601-01-01 UTC: the 100 ns clock of the sample; logs: the time of the value */

    pfb_status status;   /* logs: PFB_STATUS_NO_DATA where the log has no value */
    uint32_t log_status; /* PDH status of a .blg if it has no value (pfb_pdh_status_name); else 0 */
    uint32_t flags;      /* PFB_FLAG_ bits */
    double value;        /* 0 unless the status is ok */
    bool is_integer;     /* the exact value is an integer from 0 to 2^64 - 1 */
    uint64_t integer;    /* that integer */
    const char *unit;    /* "%", "/sec", ...; "" without one */

    bool has_raw; /* the raw value has 4 or 8 bytes */
    uint64_t raw;
    bool has_base; /* the raw value of the base counter exists */
    uint64_t base;

    bool has_type;       /* the counter's registration is known, or it is from V1 or a .blg */
    uint32_t type;       /* counter type */
    uint64_t attributes; /* PFB_ATTRIBUTE_ bits */
    bool is_hidden;      /* the counter has PFB_ATTRIBUTE_NO_DISPLAY, and was not added by a name, pattern or id */

    bool has_guid;
    pfb_guid guid; /* V2: of the counterset */
    bool has_title;
    uint32_t title; /* V1: title index of the object */
    bool has_counter_id;
    uint32_t counter_id; /* V1: title index */
    bool has_instance_id;
    int64_t instance_id; /* V1: the unique id, or the value of the key counter */

    uint64_t sample;      /* number of the sample, from 0, counted over all files */
    uint32_t result;      /* position in the sample, for pfb_collector_result */
    uint32_t row;         /* position of the instance in the result */
    uint32_t position;    /* position of the counter in the result */
    bool has_object_freq; /* the object has a clock of its own */
    int64_t object_freq;  /* ticks of that clock per second */
} pfb_collected_value;

/* Stores the next value of the current sample in *value; returns false after the last one. Values are ordered by
 * result, then instance, then counter. Values of logs have the order of the log: `result` and `position` are the
 * position of the path. */
PFB_API bool pfb_collector_next(pfb_collector *collector, pfb_collected_value *value);

/* Makes pfb_collector_next start again at the first value of the current sample. */
PFB_API void pfb_collector_rewind(pfb_collector *collector);

/* A result of the current sample, with or without values: the answer to an identifier block of the query, or a V1
 * object. */
typedef struct pfb_collected_result {
    size_t offset;   /* in the reply */
    uint32_t kind;   /* PFB_V2_ or PFB_V1_OBJECT */
    bool has_values; /* the kind is known, and not that of an error */
    uint32_t status; /* Win32 code */
    bool is_chosen;  /* a counter of its counterset was added, or no counter was added at all */
    const char *counterset;
    size_t counterset_size;
    bool has_counterset;
    bool has_guid;
    pfb_guid guid;
    bool has_title;
    uint32_t title;
    bool has_counter_id; /* V2: it answers a query for one counter */
    uint32_t counter_id;
    uint32_t row_count, column_count; /* instances and counters that pfb_collector_next returns. If column_count is 0,
                                       * nothing is returned, and row_count has no meaning */
    uint32_t shown_column_count;      /* counters among them that have a displayed value and are not hidden */
    bool has_repeated_names;          /* instances with equal names */
    bool has_rows_of_previous; /* V2: no error, and the counterset and the instances, in the same order, are those of
                                * the previous result: both fit one table */
} pfb_collected_result;

/* Stores the result at `position`, from 0, in *result. Returns false past the end, and without a current sample.
 * Counters of logs have no results. */
PFB_API bool pfb_collector_result(pfb_collector *collector, uint32_t position, pfb_collected_result *result);

/* The current sample as a whole. */
typedef struct pfb_collected_sample {
    uint64_t number;
    bool is_v1;
    bool is_log;        /* it has counters of a log: below, only is_local_time and perf_time_100ns are set */
    bool is_local_time; /* perf_time_100ns is local time, because the log's offset from UTC is unknown */
    uint32_t result_count;
    int64_t perf_time, perf_time_100ns, perf_freq; /* as in pfb_v2_reader */
    pfb_system_time system_time;
    uint32_t notes;      /* PFB_NOTE_ bits of the reply */
    const char *machine; /* V1: the name in the block; V2, or V1 without a name: that of the options */
    size_t machine_size;
    bool has_machine;
} pfb_collected_sample;

/* Returns false without a current sample. */
PFB_API bool pfb_collector_sample(pfb_collector *collector, pfb_collected_sample *sample);

/* Why samples were not compared with those of an earlier file, as bits. */
#define PFB_GAP_BACKWARDS UINT32_C(1) /* time runs backwards */
#define PFB_GAP_FREQUENCY UINT32_C(2) /* the performance clocks have different frequencies */
#define PFB_GAP_RESTART UINT32_C(4)   /* the clocks show a restart or another machine */
#define PFB_GAP_COUNTERS UINT32_C(8)  /* the queries or the counters differ */

/* Why samples were not compared with an older one: all reasons since the collector was opened. */
typedef struct pfb_collector_losses {
    uint32_t gaps;          /* PFB_GAP_ bits */
    uint64_t dropped_count; /* samples dropped because of the limits below although later samples could have been
                             * compared with them: replies that were the latest one with some object, and last samples
                             * of ended logs */
    uint32_t max_objects;   /* limit of objects whose samples are stored, for V1 and V2 each; and limit of ended logs */
    size_t max_bytes;       /* limit of the memory of these samples, for V1 and V2 each; and of that of ended logs */
} pfb_collector_losses;

PFB_API pfb_collector_losses pfb_collector_lost(const pfb_collector *collector);

/* The clocks in the header of a V1 block or V2 reply, in its units: ticks, 100 ns since 1601-01-01, ticks per second.
 */
typedef struct pfb_collector_clocks {
    int64_t perf_time, perf_time_100ns, perf_freq;
} pfb_collector_clocks;

/* Returns why samples with these clocks are not compared if they come from different files, as a PFB_GAP_ bit; 0 if the
 * clocks allow it (pfb_collector_begin_file). With `is_v1`, perf_time may gain any time against perf_time_100ns: V1
 * blocks name their machine. */
PFB_API uint32_t pfb_collector_compare_clocks(const pfb_collector_clocks *older, const pfb_collector_clocks *newer,
                                              bool is_v1);

/* ---- What a source offers -------------------------------------------------------------------------------- */

/* Stores the GUIDs, 16 bytes each, of the countersets that the source lists, each once and in the order of the source.
 * Without a source: those of the countersets whose registration was put, ascending. */
PFB_API bool pfb_collector_countersets(pfb_collector *collector, pfb_bytes *guids, pfb_source_failure *failure);

/* A counterset. */
typedef struct pfb_described_counterset {
    const char *name, *english_name, *help; /* english_name: the source's; without a registration also the catalog's */
    size_t name_size, english_name_size, help_size;
    bool has_name, has_english_name, has_help;
    bool has_counters;      /* its registration is known, or it is in the catalog; else the members below are 0 */
    uint32_t instance_type; /* PFB_INSTANCES_ bits */
    uint32_t counter_count;
} pfb_described_counterset;

/* Stores the names and the type of a counterset in *counterset. Asks the source for them at the first call; malformed
 * replies are problems (pfb_collector_next_problem). The strings are valid until the next call for this collector,
 * except calls of pfb_collector_counter. */
PFB_API bool pfb_collector_counterset(pfb_collector *collector, const pfb_guid *guid,
                                      pfb_described_counterset *counterset, pfb_source_failure *failure);

/* A counter of a counterset. */
typedef struct pfb_described_counter {
    pfb_counter counter;
    const char *name, *english_name, *help;
    size_t name_size, english_name_size, help_size;
    bool has_name, has_english_name, has_help;
} pfb_described_counter;

/* Stores the counter at `position`, from 0 and below counter_count, in *counter. The strings are valid until the next
 * call for this collector. Returns false past the end (PFB_WIN32_COUNTER_NOT_FOUND) and when memory is exhausted. */
PFB_API bool pfb_collector_counter(pfb_collector *collector, const pfb_guid *guid, uint32_t position,
                                   pfb_described_counter *counter, pfb_source_failure *failure);

/* ---- Names ----------------------------------------------------------------------------------------------- */

/* Returns the name of a V1 title index in the tables that were put, or in the table of the source once V1 counters were
 * added; `bytes` is null if there is none. Valid until the next call that puts names, adds counters or begins a file.
 */
PFB_API pfb_name pfb_collector_title(pfb_collector *collector, uint32_t title_index);

#ifdef __cplusplus
}
#endif

#endif
