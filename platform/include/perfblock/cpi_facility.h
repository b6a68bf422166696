/* SPDX-License-Identifier: MIT */
#ifndef PERFBLOCK_CPI_FACILITY_H
#define PERFBLOCK_CPI_FACILITY_H

#include "perfblock/cpi/hooks.h"
#include "perfblock/cpi_source.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The CPI facility of IBM's Performance Inspector, first generation: the same functions, values and return codes, with
 * names of this library. perfblock/perfutil.h provides the original names. See docs/cpi.md.
 *
 * An instance measures an interval, from pfb_cpi_init or the latest pfb_cpi_start to pfb_cpi_get. There may be any
 * number of instances, nested or overlapping, created and used by any thread. Instances with PFB_CPI_ON_THREAD measure
 * the thread that created them, and only that thread may start and get them. Calls on the same instance must be ordered
 * by the caller; calls on different instances are independent. Instances are not inherited by fork: do not use them in
 * the child.
 *
 * Handles are numbers, not pointers to memory. A handle that was terminated or never created is reported with an error
 * code. Functions return PFB_PU_SUCCESS or an error code; pfb_cpi_last_error_text describes the error. */

/* Capacity of pfb_cpi_data, in CPUs. Library and program must agree: the build option PERFBLOCK_CPI_MAX_CPUS sets both.
 */
#ifndef PFB_CPI_MAX_CPUS
#define PFB_CPI_MAX_CPUS 128
#endif

/* Mode bits for tracing. The other mode bits are in cpi.h, the hook forms in hooks.h. */
#define PFB_CPI_TRACE_ON_GET 0x08u      /* every successful pfb_cpi_get writes hooks */
#define PFB_CPI_TRACE_ONLY_ON_GET 0x10u /* accepted for compatibility; has no effect */
#define PFB_CPI_ALL 0x7Fu

/* CPI_DATA of Performance Inspector, with the same layout. Figures that were not requested or are undefined are 0.0;
 * the statuses in pfb_cpi_details distinguish these cases. */
typedef struct pfb_cpi_data {
    int num_cpus; /* elements in use in each array: the CPUs present at the start, ascending by number */
    uint32_t tid; /* thread id of the reading at the start; if it has none, that of the thread that created the
                     instance, or 0 with a source of pfb_cpi_use_source */
    uint64_t elapsed_cycles; /* clock cycles from start to get */
    double raw_cpi[PFB_CPI_MAX_CPUS];
    double raw_sys_cpi;
    double scaled_cpi[PFB_CPI_MAX_CPUS];
    double scaled_sys_cpi;
    double cpu_busy[PFB_CPI_MAX_CPUS]; /* percent, 0 to 100; derived from ticks, so imprecise for intervals below a
                                          second */
    double sys_busy;
    double thread_cpi;
} pfb_cpi_data;

/* ---- Instances --------------------------------------------------------------------------------------------- */

/* Creates an instance and starts its interval. The first instance to measure CPUs enables their counters, the last
 * one to be terminated disables them. `mode` is a set of PFB_CPI_* bits. On failure *handle is NULL. */
PFB_API int pfb_cpi_init(uint32_t mode, void **handle);

/* Terminates an instance. Its handle and the data obtained from it become invalid. Any thread may terminate any
 * instance. On Windows, terminating an instance with PFB_CPI_ON_THREAD from another thread leaves the counters of the
 * creating thread enabled, so the creating thread should do it. */
PFB_API int pfb_cpi_terminate(void *handle);

/* Restarts the interval. */
PFB_API int pfb_cpi_start(void *handle);

/* Computes the figures from the start of the interval until now; the interval continues. *data points into the instance
 * and is valid until the next get on the instance. On failure *data is NULL, except for PFB_PU_ERROR_INVALID_CPI_DATA
 * because there is no usable system figure or the sums do not fit into hooks: then it has the figures that are
 * available. */
PFB_API int pfb_cpi_get(void *handle, const pfb_cpi_data **data);

/* Returns the mode bits of the instance, including the bits they imply; 0 if the handle is not valid. */
PFB_API uint32_t pfb_cpi_get_current_mode(void *handle);

/* Returns 1 if pfb_cpi_init(PFB_CPI_RAW, ...) would succeed, else 0. */
PFB_API int pfb_cpi_is_supported(void);

/* Describes why the latest call of this thread failed: the event or call that was refused, the system's reason, and
 * what would help. "" after a success. Valid until the thread's next call. */
PFB_API const char *pfb_cpi_last_error_text(void);

/* ---- Details that are not in pfb_cpi_data ------------------------------------------------------------------------ */

typedef struct pfb_cpi_details {
    pfb_cpi_result result;       /* statuses, counts, whether CPUs were added or removed */
    const pfb_cpi_figures *cpus; /* result.cpu_count elements, owned by the instance */
    bool is_user_only;           /* the thread's figures cover user mode only */
} pfb_cpi_details;

/* Stores details of the latest pfb_cpi_get in *details, even if the interval was restarted since. Fails with
 * PFB_PU_ERROR_INCORRECT_STATE before the first get, or if the latest get that read the counters returned no figures.
 * Valid as long as the data of that call. */
PFB_API int pfb_cpi_get_details(void *handle, pfb_cpi_details *details);

/* Stores in *cycles the unhalted cycles, in the interval of the latest pfb_cpi_get, of the CPU at index `position` of
 * the arrays in pfb_cpi_data. Fails with PFB_PU_ERROR_EVENT_NOT_SUPPORTED if they were not counted. */
PFB_API int pfb_cpi_get_unhalted(void *handle, size_t position, uint64_t *cycles);

/* ---- Trace hooks --------------------------------------------------------------------------------------------- */

/* Sets the buffer for the instance's hooks. The memory is the caller's and must stay valid until another buffer is
 * attached (NULL: none) or the instance is terminated. */
PFB_API int pfb_cpi_attach_trace_buffer(void *handle, void *buffer, size_t capacity_bytes);

/* *used_bytes: bytes written to the buffer. *needed_bytes: size of the latest group if it was refused with
 * PFB_PU_ERROR_BUFFER_FULL, else 0. Both pointers may be NULL. */
PFB_API int pfb_cpi_get_trace_size(void *handle, size_t *used_bytes, size_t *needed_bytes);

/* Like pfb_cpi_get, then writes a group of hooks with this minor code (0 to 255) and label (at most 255 bytes; NULL or
 * "" for none). `forms` is a set of PFB_CPI_FORM_* bits; 0 means those of the instance's mode. A group is written
 * completely or not at all (PFB_PU_ERROR_NO_BUFFER, PFB_PU_ERROR_BUFFER_FULL), and not if the get fails. */
PFB_API int pfb_cpi_get_and_trace(void *handle, int minor_code, uint32_t forms, const char *label,
                                  const pfb_cpi_data **data);

/* Sets the minor code and the label (copied) of the groups that pfb_cpi_get writes with PFB_CPI_TRACE_ON_GET. Initially
 * 1 and no label. */
PFB_API int pfb_cpi_set_trace_hook_id(void *handle, int minor_code, const char *label);

/* ---- Where the counters come from ---------------------------------------------------------------------------- */

/* Sets the source for instances created from now on and takes ownership of it. NULL means this machine, which is the
 * default. Fails with PFB_PU_ERROR_INCORRECT_STATE while there are instances; the caller then keeps `source`. */
PFB_API int pfb_cpi_use_source(pfb_cpi_source *source);

#ifdef __cplusplus
}
#endif

#endif
