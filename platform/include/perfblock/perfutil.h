/* SPDX-License-Identifier: MIT */
#ifndef PERFBLOCK_PERFUTIL_H
#define PERFBLOCK_PERFUTIL_H

#include "perfblock/cpi_facility.h"

/* The CPI facility under its original names, for programs written for Performance Inspector (first generation, with its
 * values and layout). All of it is in this header; the library exports none of these names. For C11 and C++. May be
 * included together with <windows.h>. See docs/cpi.md. */

/* ---- Types --------------------------------------------------------------------------------------------- */

#if defined(_WIN32)
#include <basetsd.h> /* has UINT32 and UINT64 */
#else
typedef uint32_t UINT32;
typedef uint64_t UINT64;
#endif

#define MAX_CPUS PFB_CPI_MAX_CPUS

typedef pfb_cpi_data CPI_DATA;
typedef pfb_cpi_data cpi_data_t;

/* ---- Modes --------------------------------------------------------------------------------------------- */

#define CPI_TYPE_RAW PFB_CPI_RAW
#define CPI_TYPE_SCALED PFB_CPI_SCALED
#define CPI_TYPE_ONTHREAD PFB_CPI_ON_THREAD
#define CPI_TYPE_TRACE_ON_GET PFB_CPI_TRACE_ON_GET
#define CPI_TYPE_TRACE_ONLY_ON_GET PFB_CPI_TRACE_ONLY_ON_GET
#define CPI_TYPE_TRACE_SUMMARY PFB_CPI_FORM_SUMMARY
#define CPI_TYPE_TRACE_DETAILED PFB_CPI_FORM_DETAILED
#define CPI_TYPE_TRACE_EVERYTHING (PFB_CPI_FORM_SUMMARY | PFB_CPI_FORM_DETAILED)
#define CPI_TYPE_ALL PFB_CPI_ALL
#define CPI_TYPE_THREAD_ONLY PFB_CPI_THREAD_ONLY /* not in the original */

/* ---- Return codes -------------------------------------------------------------------------------------- */

#define PU_SUCCESS PFB_PU_SUCCESS
#define PU_FAILURE PFB_PU_FAILURE
#define PU_ERR_NULL_PTR PFB_PU_ERR_NULL_PTR
#define PU_ERROR_ACCESS_DENIED PFB_PU_ERROR_ACCESS_DENIED
#define PU_ERR_NOT_INITIALIZED PFB_PU_ERR_NOT_INITIALIZED
#define PU_ERROR_NOT_ENOUGH_MEMORY PFB_PU_ERROR_NOT_ENOUGH_MEMORY
#define PU_ERROR_INVALID_PARAMETER PFB_PU_ERROR_INVALID_PARAMETER
#define PU_ERROR_INSUFFICIENT_BUFFER PFB_PU_ERROR_INSUFFICIENT_BUFFER
#define PU_ERROR_INTERNAL_ERROR PFB_PU_ERROR_INTERNAL_ERROR
#define PU_ERROR_INCORRECT_STATE PFB_PU_ERROR_INCORRECT_STATE
#define PU_ERROR_NO_BUFFER PFB_PU_ERROR_NO_BUFFER
#define PU_ERROR_BUFFER_FULL PFB_PU_ERROR_BUFFER_FULL
#define PU_ERROR_HOOK_TOO_LONG PFB_PU_ERROR_HOOK_TOO_LONG
#define PU_ERROR_DRIVER_NOT_LOADED PFB_PU_ERROR_DRIVER_NOT_LOADED
#define PU_ERROR_NOT_SUPPORTED PFB_PU_ERROR_NOT_SUPPORTED
#define PU_ERROR_FACILITY_BUSY PFB_PU_ERROR_FACILITY_BUSY
#define PU_ERROR_EVENT_NOT_SUPPORTED PFB_PU_ERROR_EVENT_NOT_SUPPORTED
#define PU_ERROR_INVALID_CPI_DATA PFB_PU_ERROR_INVALID_CPI_DATA
#define PU_ERROR_NOT_VALID_IN_VM PFB_PU_ERROR_NOT_VALID_IN_VM
#define PU_ERROR_INSUFFICIENT_RESOURCES PFB_PU_ERROR_INSUFFICIENT_RESOURCES
#define PU_ERROR_INVALID_SIGNATURE PFB_PU_ERROR_INVALID_SIGNATURE
#define PU_ERROR_INVALID_THREAD PFB_PU_ERROR_INVALID_THREAD
#define PU_ERROR_ENABLE_THREAD_PROFILING PFB_PU_ERROR_ENABLE_THREAD_PROFILING
#define PU_ERROR_READ_PERFORMANCE_DATA PFB_PU_ERROR_READ_PERFORMANCE_DATA
#define PU_ERROR_REQUIRED_APIS_MISSING PFB_PU_ERROR_REQUIRED_APIS_MISSING
#define PU_ERROR_INCOMPATIBLE_OPTIONS PFB_PU_ERROR_INCOMPATIBLE_OPTIONS

/* ---- Functions ----------------------------------------------------------------------------------------- */

/* Not static in C++, where compilers warn about unused static functions even if they are inline. */
#if defined(__cplusplus)
#define PFB_PERFUTIL inline
#else
#define PFB_PERFUTIL static inline
#endif

PFB_PERFUTIL int CpiInit(UINT32 mode, void **handle)
{
    return pfb_cpi_init(mode, handle);
}

PFB_PERFUTIL int CpiTerminate(void *handle)
{
    return pfb_cpi_terminate(handle);
}

PFB_PERFUTIL int CpiStart(void *handle)
{
    return pfb_cpi_start(handle);
}

PFB_PERFUTIL int CpiGet(void *handle, const CPI_DATA **cd)
{
    return pfb_cpi_get(handle, cd);
}

PFB_PERFUTIL int CpiGetAndTrace(void *handle, int minor_code, UINT32 flags, const char *label, const CPI_DATA **cd)
{
    return pfb_cpi_get_and_trace(handle, minor_code, flags, label, cd);
}

PFB_PERFUTIL int CpiSetTraceHookId(void *handle, int minor_code, const char *label)
{
    return pfb_cpi_set_trace_hook_id(handle, minor_code, label);
}

PFB_PERFUTIL UINT32 CpiGetCurrentMode(void *handle)
{
    return pfb_cpi_get_current_mode(handle);
}

PFB_PERFUTIL int IsCpiSupported(void)
{
    return pfb_cpi_is_supported();
}

PFB_PERFUTIL const char *RcToString(int rc)
{
    return pfb_cpi_rc_to_string(rc);
}

/* Returns the number of CPUs for which CPI_DATA has figures; 0 if the counters cannot be opened or read. */
PFB_PERFUTIL int pfb_perfutil_processors(void)
{
    void *handle;
    const CPI_DATA *cd = NULL;
    int count = 0;
    if (pfb_cpi_init(PFB_CPI_RAW, &handle) != PFB_PU_SUCCESS)
        return 0;
    pfb_cpi_get(handle, &cd);
    if (cd)
        count = cd->num_cpus;
    pfb_cpi_terminate(handle);
    return count;
}

#endif
