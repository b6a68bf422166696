/* SPDX-License-Identifier: MIT */
#ifndef PERFBLOCK_LOG_H
#define PERFBLOCK_LOG_H

#include "perfblock/error.h"
#include "perfblock/formula.h"
#include "perfblock/name.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Perfmon logs (.blg): the binary logs of Performance Monitor, logman and relog. No public description of the format
 * exists; docs/log.md has the layout as captured logs show it.
 *
 * A log is a sequence of buffers. A buffer holds events. A record is the joined payload of one or several consecutive
 * events: the list of counter paths, a sample, a part of the name table, or the summary.
 *
 *     pfb_log_reader log;
 *     pfb_log_record record;
 *     pfb_log_open(&log, file, file_size, true, 0);
 *     while (pfb_log_next_record(&log, &record)) {
 *         size_t size = pfb_log_copy_record(&log, &record, memory, capacity);   (capacity >= record.size_bytes)
 *         if (record.type == PFB_LOG_PATHS)
 *             ... pfb_log_open_paths, pfb_log_next_path ...
 *         if (record.type == PFB_LOG_SAMPLE)
 *             ... pfb_log_open_sample, pfb_log_next_item ..., or pfb_log_load and pfb_log_match
 *     }
 *     if (log.error.code != PFB_OK)
 *         report(pfb_code_name(log.error.code), log.window_offset + log.error.offset);
 *
 * The log may be hostile. Nothing outside of it is read, nothing is allocated, and the work is linear in its size,
 * except for the sort of pfb_log_load. If another thread changes the bytes meanwhile, values are unspecified but these
 * guarantees hold. Different readers may be used from different threads.
 *
 * Times are counts of 100 ns since 1601-01-01: of UTC in the log's header, of the logging machine's local time in
 * records and items. */

/* Position of a path or value that does not exist. */
#define PFB_LOG_NONE 0xFFFFFFFFu

/* ---- Records ------------------------------------------------------------------------------------------------- */

/* Reads a log in memory, or window by window: a window is the part of the log that is in memory. Callers may read the
 * fields above the line; those below are private. */
typedef struct pfb_log_reader {
    pfb_error error;         /* the first failure; its offset counts from the start of the window */
    uint32_t notes;          /* PFB_NOTE_ bits: deviations tolerated so far */
    uint64_t window_offset;  /* offset of the window in the log */
    bool needs_more;         /* reading continues with the next window: see pfb_log_continue */
    size_t resume_offset;    /* if needs_more: offset in this window at which the next window must begin */
    uint64_t skipped_events; /* events of unknown kind or layout, plus one for each record that breaks off and for each
                              * part that continues no record */

    /* The header of the log. */
    uint64_t start_time, end_time; /* UTC */
    uint32_t buffer_count;         /* buffers in the complete log, also if this one was cut */
    uint32_t pointer_size;         /* 4 or 8: written by 32-bit or 64-bit Windows */
    uint8_t major, minor;          /* version of the Windows that wrote the log: 5.2 is Server 2003 */
    uint32_t build;                /* build number of that Windows */
    int32_t bias_minutes;          /* UTC = local time + bias + standard or daylight bias */
    int32_t standard_bias_minutes, daylight_bias_minutes; /* the log does not say which of the two applies */
    pfb_name standard_name, daylight_name;                /* "@tzres.dll,-212" in newer logs; valid as long as the first
                                                             window */
    /* ------------------------------------------------------------------------------------------ */
    const uint8_t *data;
    size_t size;
    bool is_strict;
    bool is_last;               /* no window follows this one */
    size_t buffer, next_buffer; /* offsets of the current buffer, and of the one after it */
    size_t at, used_end;        /* offsets of the next event, and of the end of the buffer's events */
    bool is_cut;                /* the input ends at used_end, before the buffer's events do */
    uint64_t buffers_read;
    size_t resume_at; /* offset of the next event in the first buffer of the next window */
} pfb_log_reader;

/* Types of records. Others are skipped. */
#define PFB_LOG_PATHS 0x20u
#define PFB_LOG_SAMPLE 0x22u
#define PFB_LOG_SUMMARY 0x23u
#define PFB_LOG_NAMES 0x24u

/* A record. Valid until pfb_log_continue. */
typedef struct pfb_log_record {
    uint32_t type;     /* PFB_LOG_ */
    size_t offset;     /* offset of its first event in the window */
    size_t size_bytes; /* sum of the payloads of all parts */
    uint32_t part_count;
    uint64_t time; /* local */
    /* ------------------------------------------------------------------------------------------ */
    size_t buffer, next_buffer, used_end;
} pfb_log_record;

/* Returns true if the bytes begin like a log. Reads at most 108 bytes. Other event traces (.etl) begin in the same way,
 * so the result is true for them, too. */
PFB_API bool pfb_log_recognise(const void *data, size_t size);

/* A buffer of a log. */
typedef struct pfb_log_buffer {
    uint64_t size_bytes;  /* the next buffer begins after them */
    uint32_t type;        /* of the first event of a record: PFB_LOG_, or another number */
    bool has_time;        /* there is such an event; else the members below, and the type, are 0 */
    uint32_t part;        /* its part of the record, from 1 */
    uint64_t first_time;  /* its time; local */
    uint64_t latest_time; /* the greatest of the times of all such events */
} pfb_log_buffer;

/* Reads the header of a buffer and those of its events, for programs that go from buffer to buffer: in a circular log
 * the oldest ones are not the first ones. `data` are the first bytes of the buffer, as many as are in memory: events
 * whose header is not among them are not read. Returns false if they are fewer than 72 or the sizes in the header are
 * malformed. */
PFB_API bool pfb_log_read_buffer(const void *data, size_t size, pfb_log_buffer *buffer);

/* Opens a log of which `data` is the first window. `is_last`: the log ends with this window. Null options are defaults.
 * Returns false if this is not a log, or if the headers in its first buffer are malformed or cut; `error` says why. The
 * error is PFB_CALLER_TOO_SMALL if this is not the last window and does not contain the whole first buffer. */
PFB_API bool pfb_log_open(pfb_log_reader *log, const void *data, size_t size, bool is_last,
                          const pfb_read_options *options);

/* Continues with the next window after needs_more: `data` is the log from resume_offset of the previous window on.
 * Unless `is_last` is true, it must be longer than the rest of the previous window from there; double it until
 * needs_more is false. The memory is thus proportional to the size of the longest record plus one buffer. Returns false
 * on error; the error is PFB_CALLER_ORDER if needs_more is false. */
PFB_API bool pfb_log_continue(pfb_log_reader *log, const void *data, size_t size, bool is_last);

/* Finds the next whole record. Returns false at the end, on error, and if more is needed. A record that lacks a part is
 * skipped with PFB_NOTE_INCOMPLETE_RECORD, events of other kinds with PFB_NOTE_UNKNOWN_EVENT. At the end, the error is
 * PFB_TRUNCATED_RECORD if a record lacks its last parts, and PFB_TRUNCATED_LOG if the log has fewer buffers than its
 * header says. */
PFB_API bool pfb_log_next_record(pfb_log_reader *log, pfb_log_record *record);

/* Joins the parts of a record in `memory`, up to `capacity` bytes. Returns the number of bytes written: size_bytes,
 * unless the capacity is less or the log was changed since pfb_log_next_record. */
PFB_API size_t pfb_log_copy_record(const pfb_log_reader *log, const pfb_log_record *record, void *memory,
                                   size_t capacity);

/* Returns the offset in the window of a byte of a record. Offsets past the record's end give the end of its last part.
 * Linear in the number of parts. */
PFB_API size_t pfb_log_record_offset(const pfb_log_reader *log, const pfb_log_record *record, size_t offset);

/* ---- Paths --------------------------------------------------------------------------------------------------- */

/* Flags of a path. */
#define PFB_LOG_ALL_INSTANCES 0x01u /* the instance is a wildcard */
#define PFB_LOG_ALL_COUNTERS 0x10u  /* the counter is a wildcard: samples hold whole V1 objects */

/* Reads a joined record of type PFB_LOG_PATHS. Offsets of errors count from the start of the record. */
typedef struct pfb_log_path_reader {
    pfb_error error;
    uint32_t notes;
    /* ------------------------------------------------------------------------------------------ */
    const uint8_t *data;
    size_t size, at;
    bool is_strict;
    uint32_t position;
} pfb_log_path_reader;

/* Whether the counter of a path is the id of a process or thread. */
typedef enum pfb_log_role { PFB_LOG_NO_ID = 0, PFB_LOG_PROCESS_ID = 1, PFB_LOG_THREAD_ID = 2 } pfb_log_role;

/* A counter path. Names are UTF-16LE, valid as long as the joined record. */
typedef struct pfb_log_path {
    size_t offset;      /* in the record */
    uint32_t position;  /* equals the position of its item in each sample */
    uint32_t flags;     /* PFB_LOG_ALL_ and unknown bits */
    uint32_t user_data; /* number that the recording program gave the counter */
    uint32_t type;      /* counter type */
    uint64_t frequency; /* ticks per second of the clock in the type's formula; 0 if the formula has no clock */
    int32_t default_scale;
    pfb_name machine; /* "\\MACHINE"; absent names have null bytes */
    pfb_name object;
    pfb_name instance;
    pfb_name parent;
    uint32_t instance_index; /* among instances of equal name */
    pfb_name counter;
    pfb_log_role role; /* PFB_LOG_NO_ID; callers that know the name of an id in another language set it */
    /* Private, set by pfb_log_link_paths. */
    uint32_t object_class; /* of paths with the same machine and object; 0: the object has no ids */
    uint32_t family;       /* of paths in an object that differ only in their instance */
    bool has_thread;       /* the object has ids of threads */
} pfb_log_path;

/* Opens the `size` bytes of a joined record. Returns false with PFB_TRUNCATED_HEADER if they are fewer than 8. Null
 * options are defaults. */
PFB_API bool pfb_log_open_paths(pfb_log_path_reader *reader, const void *record, size_t size,
                                const pfb_read_options *options);

/* Returns the next path, in the order of the items of each sample; false at the end and on error. */
PFB_API bool pfb_log_next_path(pfb_log_path_reader *reader, pfb_log_path *path);

/* Finds the paths whose counter has a role or is "ID Process" or "ID Thread", and the paths of the same machine and
 * object: with the ids, pfb_log_identify and pfb_log_match recognise instances. `order` has `count` elements and is not
 * needed afterwards. Returns false, and sets nothing that these functions need, if there are no such paths. O(n log n).
 */
PFB_API bool pfb_log_link_paths(pfb_log_path *paths, size_t count, uint32_t *order);

/* ---- Samples ------------------------------------------------------------------------------------------------- */

/* Reads a joined record of type PFB_LOG_SAMPLE. Offsets of errors count from the start of the record. */
typedef struct pfb_log_sample_reader {
    pfb_error error;
    uint32_t notes;
    /* ------------------------------------------------------------------------------------------ */
    const uint8_t *data;
    size_t size, at;
    bool is_strict;
    uint32_t position;
    size_t item, item_end; /* the current item */
    uint32_t instance_count, instances_read;
    size_t name_bytes_left; /* maximum size in bytes of all remaining names of the item together */
} pfb_log_sample_reader;

/* Kinds of items. */
#define PFB_LOG_COUNTER 1u   /* one counter of one instance */
#define PFB_LOG_INSTANCES 2u /* one counter of all instances */
#define PFB_LOG_OBJECT 5u    /* a V1 block with one object */

/* The content of a sample for one path. */
typedef struct pfb_log_item {
    size_t offset;           /* in the record */
    uint32_t kind;           /* PFB_LOG_COUNTER, _INSTANCES or _OBJECT; callers ignore items of other kinds */
    uint32_t position;       /* position of its path */
    uint32_t status;         /* PDH status; pfb_pdh_has_value returns whether it has a value */
    uint64_t time;           /* local; 0 for objects */
    uint64_t first;          /* COUNTER: the raw value */
    uint64_t second;         /* COUNTER: clock or base, depending on the type (pfb_log_raw_value) */
    uint32_t multi_count;    /* COUNTER: 0 if there is none */
    uint32_t instance_count; /* INSTANCES: number of instances */
    const uint8_t *block;    /* OBJECT: for pfb_v1_open; its title indexes are those of the log's name table */
    size_t block_size_bytes;
} pfb_log_item;

/* An instance of an item of kind PFB_LOG_INSTANCES. */
typedef struct pfb_log_instance {
    size_t offset; /* in the record */
    pfb_name name; /* UTF-16LE, valid as long as the joined record; may repeat */
    uint32_t status;
    uint64_t first, second;
} pfb_log_instance;

/* Opens the `size` bytes of a joined record and checks its header. Returns false if the header is malformed; `error`
 * says why. Null options are defaults. */
PFB_API bool pfb_log_open_sample(pfb_log_sample_reader *reader, const void *record, size_t size,
                                 const pfb_read_options *options);

/* Moves to the next item, after checking the instances of the current one that were not read. Returns false at the end
 * and on error. */
PFB_API bool pfb_log_next_item(pfb_log_sample_reader *reader, pfb_log_item *item);

/* Returns the next instance of the current item in *instance; false after the last one and on error. */
PFB_API bool pfb_log_next_instance(pfb_log_sample_reader *reader, pfb_log_instance *instance);

/* ---- Names and summary --------------------------------------------------------------------------------------- */

/* The content of a joined record of type PFB_LOG_NAMES: a piece of the name table of a machine. */
typedef struct pfb_log_names {
    pfb_name machine;    /* "\\MACHINE" */
    size_t table_offset; /* of the piece in the record. All pieces of a machine, concatenated, are a multi-string in
                          * UTF-16LE for pfb_name_table_open */
    size_t table_size_bytes;
} pfb_log_names;

/* Reads the record. Fails with PFB_TRUNCATED_STRING if the machine's name has no NUL. */
PFB_API pfb_error pfb_log_read_names(const void *record, size_t size, pfb_log_names *names);

/* The content of a joined record of type PFB_LOG_SUMMARY, which is the last record of a log that was closed. */
typedef struct pfb_log_summary {
    uint64_t first_time, last_time; /* local */
    uint32_t sample_count;
} pfb_log_summary;

/* Reads the record. Fails with PFB_TRUNCATED_HEADER if it has fewer than 20 bytes. */
PFB_API pfb_error pfb_log_read_summary(const void *record, size_t size, pfb_log_summary *summary);

/* ---- Values of two samples ----------------------------------------------------------------------------------- */

/* A counter's value in a sample. */
typedef struct pfb_log_value {
    size_t offset;       /* of its item or instance in the record */
    uint32_t path;       /* position of its path */
    uint32_t status;     /* PDH status of the item; of the instance if there is one and pfb_pdh_has_value is true for
                          * the item */
    uint32_t occurrence; /* among the instances of its path with this name, from 0 */
    uint32_t older;      /* position of the same counter in the previous sample; PFB_LOG_NONE if it is not there */
    bool has_instance;   /* the path is a wildcard, and this is one of its instances */
    pfb_name instance;
    uint64_t time; /* local */
    uint64_t first, second;
    uint32_t multi_count; /* 0 if there is none */
    uint64_t key;         /* private: id of the process << 32 | id of the thread; 0: none */
} pfb_log_value;

/* The values of a sample in arrays of the caller. All arrays have `capacity` elements. A value takes at least 24 bytes
 * of the record, so record size / 24 + 1 elements are always enough. */
typedef struct pfb_log_values {
    pfb_log_value *values;
    uint32_t *order;  /* private: positions sorted by path and name */
    uint32_t *by_key; /* private: positions of values with a key; null if pfb_log_identify is not called */
    size_t key_count;
    size_t capacity;
    size_t count;
    size_t object_count; /* items of kind PFB_LOG_OBJECT, which are not among the values */
    /* Set by the caller: an earlier sample of the log, whose values and record are in memory as pfb_log_load,
     * pfb_log_identify and pfb_log_match left them; null: none. Most samples of a log have the same instances in the
     * same order, which are then copied from it instead of being sorted and matched again. */
    const struct pfb_log_values *like;
    bool is_like; /* every value is of the same path, instance and occurrence as the one at its position in `like` */
    /* Private: the record, if `like` of another sample may refer to this one; else null. */
    const uint8_t *record;
    size_t record_size;
} pfb_log_values;

/* Reads the counters of a joined sample record into `values`; items of kind PFB_LOG_OBJECT are ignored. Sets
 * `occurrence`; `older` is PFB_LOG_NONE. Values keep the order of the record and point to the names in it. An item
 * whose status says that there is no value (pfb_pdh_has_value) and that has no instances adds one value with this
 * status. Returns the sample's error, or PFB_CALLER_TOO_SMALL; the values before the error are stored. O(n log n),
 * because the values are sorted; linear if is_like. */
PFB_API pfb_error pfb_log_load(pfb_log_values *values, const void *record, size_t size,
                               const pfb_read_options *options);

/* Finds the instances of a loaded sample that have ids of processes and threads, with paths for which
 * pfb_log_link_paths returned true. Without this call, pfb_log_match goes by name and position only. The id of an
 * instance is the value of a path of the same machine, object and instance. 0 is no id, nor is one that several
 * instances of an object have. O(n log n), because ids are sorted. */
PFB_API void pfb_log_identify(const pfb_log_path *paths, size_t path_count, pfb_log_values *values);

/* Sets `older` of each newer value to the position of the same counter and instance in the older sample. It is the
 * value with the same ids of process and thread, whose path may have another instance, if also the name of the process
 * is the same, without "#n", or the parent of the thread. Without one it is the value with the same path, instance name
 * and occurrence, unless both values have ids, or the newer sample has the older value's ids elsewhere. `paths` are
 * those of both samples; null: none of them was identified. The records of both samples must still be in memory and
 * unchanged. Linear; O(n log n) if instances have other ids than those of their name and position in the older sample.
 */
PFB_API void pfb_log_match(const pfb_log_path *paths, size_t path_count, pfb_log_values *older, pfb_log_values *newer);

/* Converts a value to the input of a formula. `has` is 0 if the status says that there is no value. */
PFB_API pfb_raw_value pfb_log_raw_value(const pfb_log_path *path, const pfb_log_value *value);

/* Evaluates every value of a sample: values[i] is the displayed value of newer->values[i], 0 unless the status is ok,
 * and status_bytes[i] has its PFB_STATUS_BYTE_ bits. `paths` are those of the log by position; a value of another path,
 * or with a status that says that there is no value, has the status no_data. `older` is the sample that `newer` was
 * matched with, or null; `options` may be null. */
PFB_API void pfb_log_cook(const pfb_log_path *paths, size_t path_count, const pfb_log_values *older,
                          const pfb_log_values *newer, const pfb_formula_options *options, double *values,
                          uint8_t *status_bytes);

/* Stores the difference UTC - local time in minutes, a multiple of 15. Values of types with the 100 ns clock contain a
 * UTC time besides their local time; returns false for all other values, if the status says that there is no value, and
 * if pfb_log_bias_between does. The log's header is less exact: it does not say whether daylight saving time applies.
 */
PFB_API bool pfb_log_utc_bias(const pfb_log_path *path, const pfb_log_value *value, int32_t *minutes);

/* Stores the difference utc - local of two times of the same moment, such as PerfTime100nSec of a V1 block and the time
 * of its record, in minutes and rounded to a multiple of 15. Returns false if they differ by more than 15 hours, which
 * is more than in any time zone. */
PFB_API bool pfb_log_bias_between(uint64_t utc, uint64_t local, int32_t *minutes);

/* ---- Statuses ------------------------------------------------------------------------------------------------ */

/* Returns true for PDH_CSTATUS_VALID_DATA and PDH_CSTATUS_NEW_DATA. With any other status there is no value. */
PFB_API bool pfb_pdh_has_value(uint32_t status);

/* Returns a name for a PDH status that a value can have, in lower case ("no_machine"), or "unknown_status". The string
 * is static. */
PFB_API const char *pfb_pdh_status_name(uint32_t status);

#ifdef __cplusplus
}
#endif

#endif
