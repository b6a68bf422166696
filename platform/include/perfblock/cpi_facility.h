/* SPDX-License-Identifier: MIT */
#ifndef PERFBLOCK_CPI_FACILITY_H
#define PERFBLOCK_CPI_FACILITY_H

#include "perfblock/cpi/hooks.h"
#include "perfblock/cpi_source.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The CPI facility of IBM's Performance Inspector, first generation: the original's functions with its values and
 * return codes, under names of ours. perfblock/cpi_original.h has its own names. docs/cpi_facility.md.
 *
 * An instance measures an interval: from its latest pfb_cpi_start, or from pfb_cpi_init, to pfb_cpi_get. There may be
 * any number of them, nested or overlapping, made and used by any thread; those of PFB_CPI_ON_THREAD measure the thread
 * that made them and are used by it alone. Calls on one instance are the caller's to put in order; calls on different
 * ones are independent. Instances do not cross fork: in a child those of PFB_CPI_ON_THREAD are another thread's, and
 * the others are not to be used.
 *
 * Handles are numbers that look like pointers: one that was terminated, or never made, gives a code. Functions return
 * PFB_PU_SUCCESS or another of these codes, and pfb_cpi_last_error_text then says more. */

/* How many CPUs a pfb_cpi_data has room for. Library and program must agree: the build's option
 * PERFBLOCK_CPI_MAX_CPUS sets both. */
#ifndef PFB_CPI_MAX_CPUS
#define PFB_CPI_MAX_CPUS 128
#endif

/* The mode's bits for tracing; the others are in cpi.h, the forms in cpi_hooks.h. */
#define PFB_CPI_TRACE_ON_GET UINT32_C(0x08)      /* every successful pfb_cpi_get writes hooks */
#define PFB_CPI_TRACE_ONLY_ON_GET UINT32_C(0x10) /* accepted, without effect: of another binding */
#define PFB_CPI_ALL UINT32_C(0x7F)

/* The original's result; layout as it had it. Figures that were not asked for, or are undefined, are 0.0: the status
 * (pfb_cpi_get_details) tells. */
typedef struct pfb_cpi_data {
    int num_cpus;            /* CPUs there are figures of: those of the start, ascending by number */
    uint32_t tid;            /* of the thread that made the instance; 0 in a fixture without thread */
    uint64_t elapsed_cycles; /* of the clock, from start to get */
    double raw_cpi[PFB_CPI_MAX_CPUS];
    double raw_sys_cpi;
    double scaled_cpi[PFB_CPI_MAX_CPUS];
    double scaled_sys_cpi;
    double cpu_busy[PFB_CPI_MAX_CPUS]; /* percent, 0 to 100; of ticks, so intervals below a second are rough */
    double sys_busy;
    double thread_cpi;
} pfb_cpi_data;

/* ---- Instances --------------------------------------------------------------------------------------------- */

/* Makes an instance and begins its interval. The first one of a process brings the counters up, the last one to go
 * takes them down. `mode` is PFB_CPI_ bits; on failure *handle is null. */
PFB_API int pfb_cpi_init(uint32_t mode, void **handle);

/* Ends an instance; its handle and what was handed out of it are dead. Any thread may end any; on Windows another
 * thread leaves the counters of the thread that made it enabled, so that one of PFB_CPI_ON_THREAD is best ended by its
 * own. */
PFB_API int pfb_cpi_terminate(void *handle);

/* Begins the interval anew. */
PFB_API int pfb_cpi_start(void *handle);

/* The figures from the start of the interval until now; the interval goes on. *data points into the instance until the
 * next get on it. It is null after a failure, but for PFB_PU_ERROR_INVALID_CPI_DATA, the system executed nothing that
 * can be used: then it has the figures there are. */
PFB_API int pfb_cpi_get(void *handle, const pfb_cpi_data **data);

/* The bits the instance was made with and what they imply; 0 for a handle that is none. */
PFB_API uint32_t pfb_cpi_get_current_mode(void *handle);

/* Not 0 when pfb_cpi_init(PFB_CPI_RAW, ...) would succeed. */
PFB_API int pfb_cpi_is_supported(void);

/* Why this thread's latest call failed, for people: the event or call that was refused, the system's reason and what
 * would help. "" after a success. Valid until the thread's next call. */
PFB_API const char *pfb_cpi_last_error_text(void);

/* ---- What pfb_cpi_data has no room for --------------------------------------------------------------------------- */

typedef struct pfb_cpi_details {
    pfb_cpi_result result;       /* statuses, counts, whether CPUs came or went */
    const pfb_cpi_figures *cpus; /* result.cpu_count of them, in the instance */
    bool is_user_only;           /* the thread's figures: of user mode only */
} pfb_cpi_details;

/* Of the latest get, also after a start; PFB_PU_ERROR_INCORRECT_STATE before the first one. Lives as long as that get's
 * data. */
PFB_API int pfb_cpi_get_details(void *handle, pfb_cpi_details *details);

/* Cycles that a CPU did not halt in that interval; PFB_PU_ERROR_EVENT_NOT_SUPPORTED where they were not counted. */
PFB_API int pfb_cpi_get_unhalted(void *handle, size_t position, uint64_t *cycles);

/* ---- Trace hooks --------------------------------------------------------------------------------------------- */

/* Where the instance's hooks go: the caller's memory, which must stay until another is attached (null: none) or the
 * instance ends. */
PFB_API int pfb_cpi_attach_trace_buffer(void *handle, void *buffer, size_t capacity_bytes);

/* How much of it is written; and how much the latest group needs that was refused with PFB_PU_ERROR_BUFFER_FULL (0:
 * none was). Both may be null. */
PFB_API int pfb_cpi_get_trace_size(void *handle, size_t *used_bytes, size_t *needed_bytes);

/* As pfb_cpi_get; then writes a group of hooks, with this minor code (0 to 255) and label (null or "": none; at most
 * 255 bytes). `forms` is PFB_CPI_FORM_ bits, 0 for those of the instance. A group is written whole or not at all, and
 * none when the call fails: PFB_PU_ERROR_NO_BUFFER, PFB_PU_ERROR_BUFFER_FULL. */
PFB_API int pfb_cpi_get_and_trace(void *handle, int minor_code, uint32_t forms, const char *label,
                                  const pfb_cpi_data **data);

/* Minor code and label (copied) of the groups that pfb_cpi_get writes under PFB_CPI_TRACE_ON_GET, until they are set
 * again; 1 and none at first. */
PFB_API int pfb_cpi_set_trace_hook_id(void *handle, int minor_code, const char *label);

/* ---- Where the counters come from ---------------------------------------------------------------------------- */

/* Which source instances read from now on: takes over `source`; null is this machine, as at first.
 * PFB_PU_ERROR_INCORRECT_STATE while there are instances: then `source` stays the caller's. */
PFB_API int pfb_cpi_use_source(pfb_cpi_source *source);

#ifdef __cplusplus
}
#endif

#endif
