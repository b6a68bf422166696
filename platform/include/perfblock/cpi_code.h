/* SPDX-License-Identifier: MIT */
#ifndef PERFBLOCK_CPI_CODE_H
#define PERFBLOCK_CPI_CODE_H

#include "perfblock/export.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Return codes of the CPI facility, with the values of Performance Inspector. docs/cpi.md lists the codes that
 * each function returns. */

#define PFB_PU_SUCCESS 0
#define PFB_PU_FAILURE (-1)
#define PFB_PU_ERR_NULL_PTR (-3)
#define PFB_PU_ERROR_ACCESS_DENIED (-5)
#define PFB_PU_ERR_NOT_INITIALIZED (-6)
#define PFB_PU_ERROR_NOT_ENOUGH_MEMORY (-8)
#define PFB_PU_ERROR_INVALID_PARAMETER (-87)
#define PFB_PU_ERROR_INSUFFICIENT_BUFFER (-122)
#define PFB_PU_ERROR_INTERNAL_ERROR (-200)
#define PFB_PU_ERROR_INCORRECT_STATE (-201)
#define PFB_PU_ERROR_NO_BUFFER (-202)
#define PFB_PU_ERROR_BUFFER_FULL (-205)
#define PFB_PU_ERROR_HOOK_TOO_LONG (-208)
#define PFB_PU_ERROR_DRIVER_NOT_LOADED (-209)
#define PFB_PU_ERROR_NOT_SUPPORTED (-210)
#define PFB_PU_ERROR_FACILITY_BUSY (-211)
#define PFB_PU_ERROR_EVENT_NOT_SUPPORTED (-213)
#define PFB_PU_ERROR_INVALID_CPI_DATA (-216)
#define PFB_PU_ERROR_NOT_VALID_IN_VM (-234)
#define PFB_PU_ERROR_INSUFFICIENT_RESOURCES (-241)
#define PFB_PU_ERROR_INVALID_SIGNATURE (-251)
#define PFB_PU_ERROR_INVALID_THREAD (-255)
#define PFB_PU_ERROR_ENABLE_THREAD_PROFILING (-256)
#define PFB_PU_ERROR_READ_PERFORMANCE_DATA (-257)
#define PFB_PU_ERROR_REQUIRED_APIS_MISSING (-260)
#define PFB_PU_ERROR_INCOMPATIBLE_OPTIONS (-264)

/* Name and description of one of the codes above. */
typedef struct pfb_cpi_code {
    int code;
    const char *name; /* name in Performance Inspector: "PU_ERROR_ACCESS_DENIED" */
    const char *text; /* meaning: "the system refuses the counters to this user" */
} pfb_cpi_code;

/* Returns NULL for a code not listed above. */
PFB_API const pfb_cpi_code *pfb_cpi_code_find(int code);

/* RcToString: the name of the constant, or "PU_UNKNOWN_CODE" for any other value. Returns a static string, never NULL.
 */
PFB_API const char *pfb_cpi_rc_to_string(int code);

#ifdef __cplusplus
}
#endif

#endif
