/* SPDX-License-Identifier: MIT */
#ifndef PFB_CPI_INSTANCE_H
#define PFB_CPI_INSTANCE_H

/* One instance of the CPI facility, without its handle: what an interval is, what is computed of it and where its hooks
 * go. The caller holds its lock. After a failure `failure`, which is not null, has a code that is not 0. */
#include "cpi/cpi_source_private.h"
#include "cpi/lock.h"

#include "perfblock/cpi_facility.h"

/* What the hooks of a group are called, and which there are. */
typedef struct pfb_cpi_tag {
    uint32_t minor;
    uint32_t forms; /* 0: those of the instance */
    size_t label_size_bytes;
    char label[PFB_CPI_MOST_LABEL_BYTES];
} pfb_cpi_tag;

/* The caller's memory for hooks. */
typedef struct pfb_cpi_trace {
    uint8_t *buffer; /* null: none */
    size_t capacity_bytes, used_bytes;
    size_t needed_bytes; /* of the group that was refused; 0: none was */
} pfb_cpi_trace;

/* Cycles that a CPU did not halt, where they were counted. */
typedef struct pfb_cpi_unhalted {
    bool is_known;
    uint64_t cycles;
} pfb_cpi_unhalted;

typedef struct pfb_cpi_instance {
    pfb_lock lock;
    size_t reference_count; /* of calls, and of its handle; under the facility's lock */
    bool is_dead;           /* terminated, while calls waited for the lock */
    uint32_t mode;          /* with what it implies */
    uint64_t thread;        /* that made it, by this facility's own numbers */
    uint64_t system_thread; /* likewise, by the system's */
    uint32_t tid;           /* that thread's number, where snapshots have none */
    pfb_cpi_reader *reader;
    bool has_start; /* an interval has begun */
    pfb_cpi_reading start, end;
    pfb_cpi_tag tag;
    pfb_cpi_trace trace;
    pfb_cpi_cpu start_cpus[PFB_CPI_MAX_CPUS], end_cpus[PFB_CPI_MAX_CPUS];
    /* ---- Of the latest get: a start leaves it as it is ---- */
    bool has_data;
    bool is_user_only;
    pfb_cpi_result result;
    pfb_cpi_data data;
    pfb_cpi_figures figures[PFB_CPI_MAX_CPUS];
    pfb_cpi_unhalted unhalted[PFB_CPI_MAX_CPUS];
} pfb_cpi_instance;

/* The mode with what it implies; false for one that is none. */
bool pfb_cpi_complete_mode(uint32_t *mode, pfb_cpi_failure *failure);

/* A tag of the caller's parts; `label` may be null. */
bool pfb_cpi_tag_make(int minor_code, const char *label, pfb_cpi_tag *tag, pfb_cpi_failure *failure);

/* An instance whose interval has begun, of a mode that is complete. Null after a failure. */
pfb_cpi_instance *pfb_cpi_instance_make(pfb_cpi_source *source, uint32_t mode, pfb_cpi_failure *failure);

/* Closes the reader; the rest stays until it is freed. */
void pfb_cpi_instance_end(pfb_cpi_instance *instance);
void pfb_cpi_instance_free(pfb_cpi_instance *instance);

bool pfb_cpi_instance_start(pfb_cpi_instance *instance, pfb_cpi_failure *failure);

/* Computes, and writes a group when there is a tag. There may be data after a failure: `has_data` tells. */
bool pfb_cpi_instance_get(pfb_cpi_instance *instance, const pfb_cpi_tag *tag, pfb_cpi_failure *failure);

#endif
