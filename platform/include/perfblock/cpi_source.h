/* SPDX-License-Identifier: MIT */
#ifndef PERFBLOCK_CPI_SOURCE_H
#define PERFBLOCK_CPI_SOURCE_H

#include "perfblock/cpi/cpi.h"
#include "perfblock/cpi_code.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Sources of CPI counter snapshots: this machine, or a fixture. See docs/cpi.md. */

/* Why an operation failed. After pfb_cpi_reader_open and pfb_cpi_reader_read succeed, code is 0 and the sentence is
 * empty. */
typedef struct pfb_cpi_failure {
    int code;           /* PFB_PU_*; never 0 after a failure */
    char sentence[240]; /* message for users: the event or call that was refused, the system's reason, and what would
                           help; no final period */
} pfb_cpi_failure;

/* A source of snapshots. Any number of threads may use it at the same time. */
typedef struct pfb_cpi_source pfb_cpi_source; /* opaque */

/* A reader: the counters that pfb_cpi_reader_open opened. One thread at a time may use it. With PFB_CPI_ON_THREAD, only
 * the thread that opened the reader may read; any thread may close it. Do not use a reader in a child of fork. */
typedef struct pfb_cpi_reader pfb_cpi_reader; /* opaque */

/* ---- Opening ------------------------------------------------------------------------------------------- */

/* Opens the source of this machine: perf_event_open on Linux, thread profiling (EnableThreadProfiling) on Windows. No
 * counter is opened yet. Returns NULL if memory is exhausted, and on other systems (PFB_PU_ERROR_NOT_SUPPORTED). */
PFB_API pfb_cpi_source *pfb_cpi_source_open_live(pfb_cpi_failure *failure);

/* Opens recorded snapshots. `data` (copied) is a text (perfblock/cpi/text.h) or a capture with PFB_TAG_SNAPSHOTS
 * chunks, each a whole text; their steps are concatenated. Returns NULL if `data` is neither or is malformed
 * (PFB_PU_ERROR_INVALID_PARAMETER), or memory is exhausted. Each reading of a reader consumes one step, a snapshot or a
 * refusal, from the first one on: it returns the snapshot, or fails with the code and sentence of the refusal. Readings
 * after the last step fail with PFB_PU_ERROR_READ_PERFORMANCE_DATA. If the first step is a refusal, opening a reader
 * fails with it. A reading whose snapshot lacks what the reader's mode needs fails with
 * PFB_PU_ERROR_EVENT_NOT_SUPPORTED. */
PFB_API pfb_cpi_source *pfb_cpi_source_open_fixture(const void *data, size_t size, pfb_cpi_failure *failure);

PFB_API void pfb_cpi_source_close(pfb_cpi_source *source); /* may be NULL; close its readers first */

/* ---- Reading -------------------------------------------------------------------------------------------- */

/* Opens the counters that `mode` (PFB_CPI_* bits) needs: those of all CPUs unless it has PFB_CPI_THREAD_ONLY, the busy
 * clock of each CPU (the cycles in which it was not idle) for PFB_CPI_SCALED, and those of the calling thread for
 * PFB_CPI_ON_THREAD. Returns NULL if one of them is refused, except that CPUs without such counters are not counted if
 * other CPUs have them, and that the thread is counted in user mode only (is_user_only) if kernel mode is refused. */
PFB_API pfb_cpi_reader *pfb_cpi_reader_open(pfb_cpi_source *source, uint32_t mode, pfb_cpi_failure *failure);

/* `reader` may be NULL. On Windows, if another thread closes the last reader of a thread, that thread's counters stay
 * enabled until the thread closes a later reader of the source or the source itself, or ends. */
PFB_API void pfb_cpi_reader_close(pfb_cpi_reader *reader);

/* Which end of an interval is read. A reading at the start begins a new interval; readings at the end belong to the
 * latest start. Only readings of the same interval can be compared. */
typedef enum pfb_cpi_moment { PFB_CPI_AT_START = 0, PFB_CPI_AT_END } pfb_cpi_moment;

typedef struct pfb_cpi_reading {
    pfb_cpi_snapshot snapshot; /* snapshot.cpus is the caller's array. `instr` of a CPU that was not counted is larger
                                  than `widths` allows */
    pfb_cpi_widths widths;
    bool is_user_only; /* the thread's counters count user mode only */
} pfb_cpi_reading;

/* Reads the counters. The clock is read last at the start and first at the end, so that the cost of reading is outside
 * the interval. `cpus` has `capacity` elements; fails with PFB_PU_ERROR_INSUFFICIENT_RESOURCES if there are more CPUs.
 */
PFB_API bool pfb_cpi_reader_read(pfb_cpi_reader *reader, pfb_cpi_moment moment, pfb_cpi_cpu *cpus, size_t capacity,
                                 pfb_cpi_reading *reading, pfb_cpi_failure *failure);

/* Stores in *cycles the unhalted cycles of a CPU from the start to the latest reading at the end. `position` is that of
 * the CPU in the reading at the start. No CPI figure uses these cycles. Returns false if they were not counted. */
PFB_API bool pfb_cpi_reader_unhalted(const pfb_cpi_reader *reader, size_t position, uint64_t *cycles);

/* ---- Making a source ----------------------------------------------------------------------------------------- */

/* The functions of a source implementation; every member must be set. If the mode passed to `reader_open` has
 * PFB_CPI_THREAD_ONLY, it also has PFB_CPI_ON_THREAD. `read` gets a `reading` that is all zero except for
 * snapshot.cpus, which equals `cpus`. */
typedef struct pfb_cpi_source_operations {
    void (*close)(void *context);
    void *(*reader_open)(void *context, uint32_t mode, pfb_cpi_failure *failure);
    void (*reader_close)(void *reader);
    bool (*read)(void *reader, pfb_cpi_moment moment, pfb_cpi_cpu *cpus, size_t capacity, pfb_cpi_reading *reading,
                 pfb_cpi_failure *failure);
    bool (*unhalted)(const void *reader, size_t position, uint64_t *cycles);
} pfb_cpi_source_operations;

/* Makes a source from an implementation. Takes ownership of `context`: if memory is exhausted, closes it and returns
 * NULL. `operations` must stay valid as long as the source. */
PFB_API pfb_cpi_source *pfb_cpi_source_make(const pfb_cpi_source_operations *operations, void *context,
                                            pfb_cpi_failure *failure);

#ifdef __cplusplus
}
#endif

#endif
