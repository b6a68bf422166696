/* SPDX-License-Identifier: MIT */
#ifndef PFB_CPI_INSTANCE_H
#define PFB_CPI_INSTANCE_H

/* One instance of the CPI facility, without its handle: its interval, its figures and its trace buffer. Once it has a
 * handle, callers of the functions below hold its lock, except for pfb_cpi_instance_free, which destroys the lock.
 * `failure` is not NULL; after a failure its code is not 0. */
#include "cpi/cpi_source_private.h"
#include "source/lock.h"

#include "perfblock/cpi_facility.h"

/* Minor code, label and forms of a group of hooks. */
typedef struct pfb_cpi_tag {
    uint32_t minor;
    uint32_t forms; /* 0: those of the instance */
    size_t label_size_bytes;
    char label[PFB_CPI_MAX_LABEL_BYTES];
} pfb_cpi_tag;

/* The caller's memory for hooks. */
typedef struct pfb_cpi_trace {
    uint8_t *buffer; /* NULL: none */
    size_t capacity_bytes, used_bytes;
    size_t needed_bytes; /* size of the latest group if it did not fit into the buffer; else 0 */
} pfb_cpi_trace;

/* Unhalted cycles of a CPU. */
typedef struct pfb_cpi_unhalted {
    bool is_known;
    uint64_t cycles;
} pfb_cpi_unhalted;

typedef struct pfb_cpi_instance {
    pfb_lock lock;
    size_t reference_count; /* references of calls and of its handle; protected by the facility's lock */
    bool is_terminated;     /* calls that waited for the lock must fail */
    uint32_t mode;          /* including implied bits */
    uint64_t thread;        /* the creating thread's number in the facility */
    uint64_t system_thread; /* the creating thread's id in the system */
    uint32_t tid;           /* thread id to report if snapshots have none */
    pfb_cpi_reader *reader;
    bool has_start; /* the interval has started */
    pfb_cpi_reading start, end;
    pfb_cpi_tag tag;
    pfb_cpi_trace trace;
    pfb_cpi_cpu start_cpus[PFB_CPI_MAX_CPUS], end_cpus[PFB_CPI_MAX_CPUS];
    /* ---- Results of the latest get; not changed by a start ---- */
    bool has_data;
    bool is_user_only;
    pfb_cpi_result result;
    pfb_cpi_data data;
    pfb_cpi_figures figures[PFB_CPI_MAX_CPUS];
    pfb_cpi_unhalted unhalted[PFB_CPI_MAX_CPUS];
} pfb_cpi_instance;

/* Validates a mode and adds the bits it implies. */
bool pfb_cpi_complete_mode(uint32_t *mode, pfb_cpi_failure *failure);

/* Makes a tag after checking the arguments; `label` may be NULL. */
bool pfb_cpi_tag_make(int minor_code, const char *label, pfb_cpi_tag *tag, pfb_cpi_failure *failure);

/* Creates an instance and starts its interval. `mode` includes implied bits. Returns NULL on failure. */
pfb_cpi_instance *pfb_cpi_instance_make(pfb_cpi_source *source, uint32_t mode, pfb_cpi_failure *failure);

/* Closes the reader. The rest is kept until pfb_cpi_instance_free. */
void pfb_cpi_instance_end(pfb_cpi_instance *instance);
void pfb_cpi_instance_free(pfb_cpi_instance *instance);

/* Reads the start of the interval. If that fails, the instance has no interval until the next start. */
bool pfb_cpi_instance_start(pfb_cpi_instance *instance, pfb_cpi_failure *failure);

/* Reads the end of the interval and computes the figures; writes a group of hooks if `tag` is not NULL. Sets has_data
 * if there are figures, which is possible even after a failure. */
bool pfb_cpi_instance_get(pfb_cpi_instance *instance, const pfb_cpi_tag *tag, pfb_cpi_failure *failure);

#endif
