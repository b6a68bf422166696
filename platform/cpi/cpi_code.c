/* SPDX-License-Identifier: MIT */
#include "perfblock/cpi_code.h"

#include <stddef.h>

static const pfb_cpi_code codes[] = {
    {PFB_PU_SUCCESS, "PU_SUCCESS", "the call succeeded"},
    {PFB_PU_FAILURE, "PU_FAILURE", "the call failed for an unknown reason"},
    {PFB_PU_ERR_NULL_PTR, "PU_ERR_NULL_PTR", "a pointer that is required is null"},
    {PFB_PU_ERROR_ACCESS_DENIED, "PU_ERROR_ACCESS_DENIED", "the system refuses the counters to this user"},
    {PFB_PU_ERR_NOT_INITIALIZED, "PU_ERR_NOT_INITIALIZED", "this process has no live instance"},
    {PFB_PU_ERROR_NOT_ENOUGH_MEMORY, "PU_ERROR_NOT_ENOUGH_MEMORY", "memory is exhausted"},
    {PFB_PU_ERROR_INVALID_PARAMETER, "PU_ERROR_INVALID_PARAMETER", "an argument is outside its documented range"},
    {PFB_PU_ERROR_INSUFFICIENT_BUFFER, "PU_ERROR_INSUFFICIENT_BUFFER", "the output buffer is too small"},
    {PFB_PU_ERROR_INTERNAL_ERROR, "PU_ERROR_INTERNAL_ERROR", "an internal error of the facility"},
    {PFB_PU_ERROR_INCORRECT_STATE, "PU_ERROR_INCORRECT_STATE", "the call is out of its documented order"},
    {PFB_PU_ERROR_NO_BUFFER, "PU_ERROR_NO_BUFFER", "hooks are requested, but no trace buffer is attached"},
    {PFB_PU_ERROR_BUFFER_FULL, "PU_ERROR_BUFFER_FULL",
     "the trace buffer is full, and nothing of the group was written"},
    {PFB_PU_ERROR_HOOK_TOO_LONG, "PU_ERROR_HOOK_TOO_LONG", "a hook would exceed its maximum length"},
    {PFB_PU_ERROR_DRIVER_NOT_LOADED, "PU_ERROR_DRIVER_NOT_LOADED", "the driver that the counters need is not loaded"},
    {PFB_PU_ERROR_NOT_SUPPORTED, "PU_ERROR_NOT_SUPPORTED", "this processor or system has no such counter"},
    {PFB_PU_ERROR_FACILITY_BUSY, "PU_ERROR_FACILITY_BUSY", "another program is using the counters"},
    {PFB_PU_ERROR_EVENT_NOT_SUPPORTED, "PU_ERROR_EVENT_NOT_SUPPORTED",
     "an event that must be counted is not available"},
    {PFB_PU_ERROR_INVALID_CPI_DATA, "PU_ERROR_INVALID_CPI_DATA",
     "the interval has no valid figures for the system, or they do not fit a hook"},
    {PFB_PU_ERROR_NOT_VALID_IN_VM, "PU_ERROR_NOT_VALID_IN_VM",
     "the host provides no performance counters to this virtual machine"},
    {PFB_PU_ERROR_INSUFFICIENT_RESOURCES, "PU_ERROR_INSUFFICIENT_RESOURCES",
     "there are more CPUs than the caller has space for, or the system has no more handles"},
    {PFB_PU_ERROR_INVALID_SIGNATURE, "PU_ERROR_INVALID_SIGNATURE", "the handle is not that of a live instance"},
    {PFB_PU_ERROR_INVALID_THREAD, "PU_ERROR_INVALID_THREAD", "the instance belongs to another thread"},
    {PFB_PU_ERROR_ENABLE_THREAD_PROFILING, "PU_ERROR_ENABLE_THREAD_PROFILING",
     "the counters of a thread cannot be switched on"},
    {PFB_PU_ERROR_READ_PERFORMANCE_DATA, "PU_ERROR_READ_PERFORMANCE_DATA", "the counters cannot be read"},
    {PFB_PU_ERROR_REQUIRED_APIS_MISSING, "PU_ERROR_REQUIRED_APIS_MISSING",
     "the system is too old: it lacks functions that are needed"},
    {PFB_PU_ERROR_INCOMPATIBLE_OPTIONS, "PU_ERROR_INCOMPATIBLE_OPTIONS", "the options exclude each other"},
};

const pfb_cpi_code *pfb_cpi_code_find(int code)
{
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        if (codes[i].code == code)
            return &codes[i];
    }
    return NULL;
}

const char *pfb_cpi_rc_to_string(int code)
{
    const pfb_cpi_code *found = pfb_cpi_code_find(code);
    return found ? found->name : "PU_UNKNOWN_CODE";
}
