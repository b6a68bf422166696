/* SPDX-License-Identifier: MIT */
#ifndef PERFBLOCK_CPI_SOURCE_H
#define PERFBLOCK_CPI_SOURCE_H

#include "perfblock/cpi/cpi.h"
#include "perfblock/cpi_code.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where snapshots of CPI counters come from: this machine, or a fixture. docs/cpi_source.md. */

/* Why an operation failed. After a reader was opened or read it has code 0 and no sentence. */
typedef struct pfb_cpi_failure {
    int code;           /* PFB_PU_, never 0 after a failure */
    char sentence[240]; /* for people: the event or call that was refused, the system's reason, and what would help. No
                         * final dot */
} pfb_cpi_failure;

/* May be used by any number of threads at once. */
typedef struct pfb_cpi_source pfb_cpi_source; /* opaque */

/* The counters of one instance. Used by one thread at a time; of PFB_CPI_ON_THREAD it is read by the thread that opened
 * it, and closed by any. None is used in a child of fork. */
typedef struct pfb_cpi_reader pfb_cpi_reader; /* opaque */

/* ---- Opening ------------------------------------------------------------------------------------------- */

/* This machine: Linux by perf_event_open, Windows as far as user mode goes. Opening asks for nothing yet; null when
 * memory is exhausted, and on other systems (PFB_PU_ERROR_NOT_SUPPORTED). */
PFB_API pfb_cpi_source *pfb_cpi_source_open_live(pfb_cpi_failure *failure);

/* Canned snapshots: a text (cpi_text.h), or a capture with such a text (PFB_TAG_SNAPSHOTS; with several their steps one
 * after the other), copied. Null when it is not that, or broken (PFB_PU_ERROR_INVALID_PARAMETER). Each reader gets all
 * steps from the first one on, one for each reading, and PFB_PU_ERROR_READ_PERFORMANCE_DATA after the last. */
PFB_API pfb_cpi_source *pfb_cpi_source_open_fixture(const void *data, size_t size, pfb_cpi_failure *failure);

PFB_API void pfb_cpi_source_close(pfb_cpi_source *source); /* null is fine; close its readers first */

/* ---- Reading -------------------------------------------------------------------------------------------- */

/* Opens what `mode` needs (PFB_CPI_ bits): counters of all CPUs, unless it has PFB_CPI_THREAD_ONLY, the busy clock for
 * PFB_CPI_SCALED, and counters of the calling thread for PFB_CPI_ON_THREAD. Null, and why, when one is refused:
 * nothing is put in its place. */
PFB_API pfb_cpi_reader *pfb_cpi_reader_open(pfb_cpi_source *source, uint32_t mode, pfb_cpi_failure *failure);

/* Null is fine. On Windows the counters of a thread go on when another thread closes their last reader: until the
 * thread itself closes a later reader of the source, or ends. */
PFB_API void pfb_cpi_reader_close(pfb_cpi_reader *reader);

/* Which end of an interval is read. A reading at the start begins a new one; those at the end belong to the latest
 * start. Only readings of the same interval can be compared. */
typedef enum pfb_cpi_moment { PFB_CPI_AT_START = 0, PFB_CPI_AT_END } pfb_cpi_moment;

typedef struct pfb_cpi_reading {
    pfb_cpi_snapshot snapshot; /* its CPUs are the caller's array. A CPU without a count has one outside of the width */
    pfb_cpi_widths widths;
    bool is_user_only; /* the thread's counters: of user mode only */
} pfb_cpi_reading;

/* Reads the counters: at the start the clock last, at the end first, so that the cost of reading falls outside.
 * `cpus` takes up to `capacity`; PFB_PU_ERROR_INSUFFICIENT_RESOURCES when there are more. */
PFB_API bool pfb_cpi_reader_read(pfb_cpi_reader *reader, pfb_cpi_moment moment, pfb_cpi_cpu *cpus, size_t capacity,
                                 pfb_cpi_reading *reading, pfb_cpi_failure *failure);

/* Cycles the CPU at `position` of the start did not halt, from the start to the latest reading at the end: what
 * processors count as cycles, and no part of any figure here. False where they were not counted. */
PFB_API bool pfb_cpi_reader_unhalted(const pfb_cpi_reader *reader, size_t position, uint64_t *cycles);

/* ---- Making a source ----------------------------------------------------------------------------------------- */

/* What an implementation provides; every member is set. `reader_open` gets a mode that has PFB_CPI_ON_THREAD where it
 * has PFB_CPI_THREAD_ONLY; `read` gets a `reading` that is all zero but for snapshot.cpus, which is `cpus`. */
typedef struct pfb_cpi_source_operations {
    void (*close)(void *context);
    void *(*reader_open)(void *context, uint32_t mode, pfb_cpi_failure *failure);
    void (*reader_close)(void *reader);
    bool (*read)(void *reader, pfb_cpi_moment moment, pfb_cpi_cpu *cpus, size_t capacity, pfb_cpi_reading *reading,
                 pfb_cpi_failure *failure);
    bool (*unhalted)(const void *reader, size_t position, uint64_t *cycles);
} pfb_cpi_source_operations;

/* A source over an implementation. Takes over `context`, also when it returns null (memory exhausted): then it closes
 * it. `operations` must stay valid. */
PFB_API pfb_cpi_source *pfb_cpi_source_make(const pfb_cpi_source_operations *operations, void *context,
                                            pfb_cpi_failure *failure);

#ifdef __cplusplus
}
#endif

#endif
