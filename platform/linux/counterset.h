/* SPDX-License-Identifier: MIT */
#ifndef PFB_COUNTERSET_H
#define PFB_COUNTERSET_H

/* What a counterset of the live source of Linux is: one constant description, a table of counters, and the operations
 * that give its numbers. What all have in common (registration, lists of instances, results of queries) is written once
 * in counterset.c. */
#include "linux/kernel_reader.h"
#include "perfblock/counter_type.h"
#include "perfblock/write.h"

/* ---- Tables -------------------------------------------------------------------------------------------- */

/* The counter types that are used, as winperf.h names them. */
#define PERF_COUNTER_RAWCOUNT UINT32_C(0x00010000)
#define PERF_COUNTER_LARGE_RAWCOUNT UINT32_C(0x00010100)
#define PERF_COUNTER_COUNTER UINT32_C(0x10410400)
#define PERF_COUNTER_BULK_COUNT UINT32_C(0x10410500)
#define PERF_100NSEC_TIMER UINT32_C(0x20510500)
#define PERF_COUNTER_100NS_QUEUELEN_TYPE UINT32_C(0x00550500)
#define PERF_PRECISION_100NS_TIMER UINT32_C(0x20570500)
#define PERF_PRECISION_TIMESTAMP UINT32_C(0x40030500) /* another name of PERF_LARGE_RAW_BASE */
#define PERF_AVERAGE_TIMER UINT32_C(0x30020400)
#define PERF_AVERAGE_BULK UINT32_C(0x40020500)
#define PERF_AVERAGE_BASE UINT32_C(0x40030402)
#define PERF_LARGE_RAW_FRACTION UINT32_C(0x20020500)
#define PERF_LARGE_RAW_BASE UINT32_C(0x40030500)
#define PERF_ELAPSED_TIME UINT32_C(0x30240500)

/* Aggregate functions, as registered: of the totals a counterset makes, and what others may make of its instances. */
enum { PFB_AGGREGATE_NONE = 0, PFB_AGGREGATE_SUM = 1, PFB_AGGREGATE_MEAN = 2 };

enum { PFB_DETAIL_NOVICE = 100, PFB_DETAIL_ADVANCED = 200 };

/* A counter. Tables are ascending by id. In references 0 stands for none: counter 0 of no set is a base or a clock.
 * Clocks of elapsed times are two more counters, PERF_COUNTER_LARGE_RAWCOUNT. */
typedef struct pfb_set_counter {
    uint32_t id;
    uint32_t type;         /* PERF_; its size bits say whether a value has 4 or 8 bytes */
    uint32_t needs;        /* the set's own bits: what must be read, and known of an instance, to have its value */
    uint32_t base_id;      /* counter of the same set that is the base; likewise: */
    uint32_t perf_time_id; /* holds the object's time */
    uint32_t perf_freq_id; /* holds the object's frequency, ticks per second */
    uint8_t aggregate;     /* PFB_AGGREGATE_ */
    uint8_t detail_level;  /* PFB_DETAIL_ */
    uint8_t attributes;    /* PFB_ATTRIBUTE_ bits: bases and clocks have PFB_ATTRIBUTE_NO_DISPLAY */
    const char *name;
    const char *help;
} pfb_set_counter;

/* ---- Operations ------------------------------------------------------------------------------------------ */

/* An instance of the last sample; its name is valid until the next one. */
typedef struct pfb_set_instance {
    uint32_t id;         /* anything but PFB_NO_ID */
    const uint8_t *name; /* UTF-16LE without NUL */
    size_t name_units;   /* 0 for the one instance of a single-instance set */
} pfb_set_instance;

/* The total of all instances, "_Total". */
#define PFB_TOTAL_ID UINT32_C(0xFFFFFFFE)
pfb_set_instance pfb_set_total(void);

/* A description. Static and constant. Contexts are the set's own. When the catalog of core knows the GUID, name,
 * instance type, and the counters' names and types are the catalog's and are left out here. */
typedef struct pfb_counterset {
    pfb_guid guid;
    const char *name;
    const char *help;
    uint32_t instance_type; /* PFB_INSTANCES_ bits; 0 for a single-instance set */
    const pfb_set_counter *counters;
    uint32_t counter_count;

    /* Opens the set over a reader, which outlives it. `offered` becomes the needs bits this machine has: a counter is
     * offered, for as long as the set is open, when all of its bits are among them. Null when the machine has nothing
     * of it (PFB_WIN32_FILE_NOT_FOUND, _ACCESS_DENIED or _NOT_SUPPORTED), the set is then not listed; or for another
     * reason, and then the source cannot be opened. */
    void *(*open)(pfb_kernel_reader *reader, uint32_t *offered, pfb_source_failure *failure);
    void (*close)(void *context);

    /* Takes a sample: reads what `needs` asks for, each file once, and calls pfb_kernel_clock right after the file its
     * rates stand on. 0 asks for the instances alone. False when there can be no sample at all; numbers that are merely
     * missing are not known of their instances. Errors that the reader keeps need no look here. */
    bool (*sample)(void *context, uint32_t needs, pfb_source_failure *failure);

    /* Of the last sample: */
    size_t (*instance_count)(const void *context);

    /* The instance at `i`; false when the sample has no values of all of `needs` for it. */
    bool (*instance)(const void *context, size_t i, uint32_t needs, pfb_set_instance *instance);

    /* The value of a counter that is offered, for an instance that has `needs`, which are those of the whole result: a
     * total is made of the instances that have all of them. A value of 4 bytes is taken modulo 2^32. */
    uint64_t (*value)(const void *context, size_t i, uint32_t needs, const pfb_set_counter *counter);
} pfb_counterset;

/* What the context of a single-instance set begins with; its operations of instances are then these. */
typedef struct pfb_single_set {
    pfb_kernel_reader *reader;
    uint32_t known; /* needs bits: which numbers are of this sample */
} pfb_single_set;

size_t pfb_single_set_count(const void *context);
bool pfb_single_set_instance(const void *context, size_t i, uint32_t needs, pfb_set_instance *instance);

/* All countersets there are. linux_source.c lists them in the order in which they are shown and sampled. */
extern const pfb_counterset pfb_processor_set;
extern const pfb_counterset pfb_system_set;
extern const pfb_counterset pfb_memory_set;
extern const pfb_counterset pfb_physical_disk_set;
extern const pfb_counterset pfb_network_interface_set;
extern const pfb_counterset pfb_process_set;

/* ---- An open counterset: what the source does with a description -------------------------------------------- */

typedef struct pfb_open_set {
    const pfb_counterset *set;
    const char *name;
    uint32_t instance_type;
    pfb_set_counter *counters; /* those offered, with name and type */
    uint32_t *ids;             /* of the same */
    uint32_t counter_count;
    void *context;
    pfb_kernel_reader *reader;
    uint32_t status; /* PFB_WIN32_SUCCESS, or why there is no last sample */
} pfb_open_set;

/* False as for the set's own operation, or for an error that the reader kept; then nothing need be closed. */
bool pfb_open_set_open(pfb_open_set *open, const pfb_counterset *set, pfb_kernel_reader *reader,
                       pfb_source_failure *failure);
void pfb_open_set_close(pfb_open_set *open);

/* Takes a sample; false and the reason when there is none, or it is not whole. */
bool pfb_open_set_sample(pfb_open_set *open, uint32_t needs, pfb_source_failure *failure);

/* Position of a counter among those offered; false when it is not. */
bool pfb_open_set_find(const pfb_open_set *open, uint32_t id, uint32_t *position);

/* Writes the reply to a request code from 1 to 10; for code 2, about the counter at `position`. */
void pfb_open_set_register(const pfb_open_set *open, uint32_t request, uint32_t position, pfb_writer *builder);

/* Writes the instances of the last sample. */
void pfb_open_set_list(const pfb_open_set *open, pfb_writer *builder);

/* What a query asks of a set. */
typedef struct pfb_selection {
    const pfb_open_set *open;
    const pfb_query *query;
    uint32_t position; /* the counters, by their positions */
    uint32_t count;
    uint32_t needs;
} pfb_selection;

pfb_selection pfb_open_set_select(const pfb_open_set *open, const pfb_query *query);

/* Writes the result of a query from the last sample: an error with its status when there is none. */
void pfb_selection_write(const pfb_selection *chosen, pfb_writer *builder);

/* Of this provider: data of Windows never carry it. */
extern const pfb_guid pfb_provider_guid;

#endif
