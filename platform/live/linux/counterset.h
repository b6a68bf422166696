/* SPDX-License-Identifier: MIT */
#ifndef PFB_COUNTERSET_H
#define PFB_COUNTERSET_H

/* Countersets of the live Linux source: each has a constant description, a table of counters, and operations that
 * return its values. Registration, instance lists and query results of all countersets are made in counterset.c. */
#include "live/linux/kernel_reader.h"
#include "perfblock/formula.h"
#include "perfblock/write.h"

/* ---- Tables -------------------------------------------------------------------------------------------- */

/* The counter types in the tables, with their names in winperf.h. */
#define PERF_COUNTER_RAWCOUNT UINT32_C(0x00010000)
#define PERF_COUNTER_LARGE_RAWCOUNT UINT32_C(0x00010100)
#define PERF_COUNTER_COUNTER UINT32_C(0x10410400)
#define PERF_COUNTER_BULK_COUNT UINT32_C(0x10410500)
#define PERF_100NSEC_TIMER UINT32_C(0x20510500)
#define PERF_100NSEC_TIMER_INV UINT32_C(0x21510500)
#define PERF_COUNTER_100NS_QUEUELEN_TYPE UINT32_C(0x00550500)
#define PERF_PRECISION_100NS_TIMER UINT32_C(0x20570500)
#define PERF_PRECISION_TIMESTAMP UINT32_C(0x40030500) /* same value as PERF_LARGE_RAW_BASE */
#define PERF_AVERAGE_TIMER UINT32_C(0x30020400)
#define PERF_AVERAGE_BULK UINT32_C(0x40020500)
#define PERF_AVERAGE_BASE UINT32_C(0x40030402)
#define PERF_RAW_FRACTION UINT32_C(0x20020400)
#define PERF_RAW_BASE UINT32_C(0x40030403)
#define PERF_LARGE_RAW_FRACTION UINT32_C(0x20020500)
#define PERF_LARGE_RAW_BASE UINT32_C(0x40030500)
#define PERF_ELAPSED_TIME UINT32_C(0x30240500)

/* Values of `aggregate` in a registration: how consumers may aggregate the values of instances. */
enum { PFB_AGGREGATE_NONE = 0, PFB_AGGREGATE_SUM = 1, PFB_AGGREGATE_MEAN = 2 };

enum { PFB_DETAIL_NOVICE = 100, PFB_DETAIL_ADVANCED = 200 };

/* A counter. Tables are sorted by id. In base_id, perf_time_id and perf_freq_id, 0 means none: counter 0 is never a
 * base or a clock. The time and frequency of a PERF_ELAPSED_TIME counter are two further counters of type
 * PERF_COUNTER_LARGE_RAWCOUNT. */
typedef struct pfb_set_counter {
    uint32_t id;
    uint32_t type;         /* PERF_*; its size bits select values of 4 or 8 bytes */
    uint32_t needs;        /* the data that its value requires, as bits that each set defines */
    uint32_t base_id;      /* base counter in the same set */
    uint32_t perf_time_id; /* counter in the same set with the object's time */
    uint32_t perf_freq_id; /* counter in the same set with the object's frequency, in ticks per second */
    uint8_t aggregate;     /* PFB_AGGREGATE_* */
    uint8_t detail_level;  /* PFB_DETAIL_ */
    uint8_t attributes;    /* PFB_ATTRIBUTE_* bits; bases and clocks have PFB_ATTRIBUTE_NO_DISPLAY */
    const char *name;
    const char *help;
} pfb_set_counter;

/* ---- Operations ------------------------------------------------------------------------------------------ */

/* An instance of the last sample. The name is valid until the next sample. */
typedef struct pfb_set_instance {
    uint32_t id;   /* any value except PFB_NO_ID */
    pfb_name name; /* empty for the instance of a single-instance set */
} pfb_set_instance;

/* The instance "_Total" and its id. */
#define PFB_TOTAL_ID UINT32_C(0xFFFFFFFE)
pfb_set_instance pfb_set_total(void);

/* Description of a counterset; static and constant. `context` is what `open` returned. */
typedef struct pfb_counterset {
    pfb_guid guid;
    const char *name;
    const char *help;
    uint32_t instance_type; /* PFB_INSTANCES_* bits; 0 for a single-instance set */
    const pfb_set_counter *counters;
    uint32_t counter_count;

    /* Opens the set, which uses the reader until it is closed. Sets *offered to the bits of `needs` that this machine
     * supports: while the set is open, it has the counters that need no other bits. Returns NULL with
     * PFB_WIN32_FILE_NOT_FOUND, _ACCESS_DENIED or _NOT_SUPPORTED if the machine has no such data; the set is then not
     * listed. Returns NULL with any other code if opening failed; the source can then not be opened. */
    void *(*open)(pfb_kernel_reader *reader, uint32_t *offered, pfb_source_failure *failure);
    void (*close)(void *context);

    /* Takes a sample: reads what `needs` requires, each file once, and calls pfb_kernel_clock at the point that
     * kernel_reader.h describes. If `needs` is 0, only the instances are needed. Returns false if there is no sample at
     * all; if only some values are missing, `instance` reports that. Need not check for errors that the reader stored:
     * pfb_open_set_sample does. */
    bool (*sample)(void *context, uint32_t needs, pfb_source_failure *failure);

    /* The following functions return data of the last sample. */
    size_t (*instance_count)(const void *context);

    /* Returns instance number `i`. Returns false if the sample lacks data in `needs` for this instance, or the instance
     * itself, such as a total of nothing. */
    bool (*instance)(const void *context, size_t i, uint32_t needs, pfb_set_instance *instance);

    /* Returns the value of an offered counter. `needs` has the bits of all counters of the result, and the instance has
     * this data; a total includes only instances that have all of this data. Values of 4 bytes are written modulo 2^32.
     */
    uint64_t (*value)(const void *context, size_t i, uint32_t needs, const pfb_set_counter *counter);
} pfb_counterset;

/* The first member of the context of a single-instance set. The two functions below are its operations for
 * instances. */
typedef struct pfb_single_set {
    pfb_kernel_reader *reader;
    uint32_t known; /* bits of `needs`: the values that this sample has */
} pfb_single_set;

size_t pfb_single_set_count(const void *context);
bool pfb_single_set_instance(const void *context, size_t i, uint32_t needs, pfb_set_instance *instance);

/* All countersets. linux_source.c defines the order in which they are listed and sampled. */
extern const pfb_counterset pfb_processor_information_set;
extern const pfb_counterset pfb_processor_set;
extern const pfb_counterset pfb_system_set;
extern const pfb_counterset pfb_memory_set;
extern const pfb_counterset pfb_physical_disk_set;
extern const pfb_counterset pfb_logical_disk_set;
extern const pfb_counterset pfb_network_interface_set;
extern const pfb_counterset pfb_tcp4_set;
extern const pfb_counterset pfb_udp4_set;
extern const pfb_counterset pfb_udp6_set;
extern const pfb_counterset pfb_paging_file_set;
extern const pfb_counterset pfb_process_set;
extern const pfb_counterset pfb_thread_set;

/* ---- Open countersets ------------------------------------------------------------------------------------- */

/* A counterset that was opened on this machine. */
typedef struct pfb_open_set {
    const pfb_counterset *set;
    pfb_set_counter *counters; /* the offered counters */
    uint32_t *ids;             /* the ids of `counters`, in the same order */
    uint32_t counter_count;
    void *context;
    pfb_kernel_reader *reader;
    uint32_t status; /* PFB_WIN32_SUCCESS, or why the last sample failed */
} pfb_open_set;

/* Opens a counterset. Returns false if memory is exhausted, the set's `open` fails or the reader stored an error; then
 * there is nothing to close. */
bool pfb_open_set_open(pfb_open_set *open, const pfb_counterset *set, pfb_kernel_reader *reader,
                       pfb_source_failure *failure);
void pfb_open_set_close(pfb_open_set *open);

/* Takes a sample. Returns false with the reason if it failed or the reader stored an error. */
bool pfb_open_set_sample(pfb_open_set *open, uint32_t needs, pfb_source_failure *failure);

/* Finds the position of an offered counter. Returns false if it is not offered. */
bool pfb_open_set_find(const pfb_open_set *open, uint32_t id, uint32_t *position);

/* Writes the reply to a registration request code, PFB_REQUEST_. `position` is that of the counter for
 * PFB_REQUEST_COUNTER, else unused. */
void pfb_open_set_register(const pfb_open_set *open, uint32_t request, uint32_t position, pfb_writer *writer);

/* Writes the instance list of the last sample. */
void pfb_open_set_list(const pfb_open_set *open, pfb_writer *writer);

/* The counters of a set that a query selects. */
typedef struct pfb_selection {
    const pfb_open_set *open;
    const pfb_query *query;
    uint32_t position; /* first counter */
    uint32_t count;
    uint32_t needs;
} pfb_selection;

pfb_selection pfb_open_set_select(const pfb_open_set *open, const pfb_query *query);

/* Writes the result of a query, with values of the last sample; if that sample failed, an error result with its status.
 */
void pfb_selection_write(const pfb_selection *chosen, pfb_writer *writer);

#endif
