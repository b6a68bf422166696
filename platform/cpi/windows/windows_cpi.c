/* SPDX-License-Identifier: MIT */
#include "cpi/windows/windows_cpi.h"

#include "live/windows/functions.h"
#include "live/windows/message.h"
#include "lwp/cpu_private.h"

#include <string.h>

/* Checks the structures against the system's header; thread_profiling.c checks them against the documentation. */
_Static_assert(sizeof(PERFORMANCE_DATA) == sizeof(pfb_performance_data), "PERFORMANCE_DATA");
_Static_assert(sizeof(HARDWARE_COUNTER_DATA) == sizeof(pfb_hardware_counter), "HARDWARE_COUNTER_DATA");
_Static_assert(offsetof(PERFORMANCE_DATA, CycleTime) == offsetof(pfb_performance_data, cycle_time), "CycleTime");
_Static_assert(offsetof(PERFORMANCE_DATA, HwCounters) == offsetof(pfb_performance_data, counters), "HwCounters");
_Static_assert(MAX_HW_COUNTERS == PFB_HARDWARE_COUNTERS && PERFORMANCE_DATA_VERSION == 1, "PERFORMANCE_DATA");

/* ---- Threads -------------------------------------------------------------------------------------------------- */

/* Identifies the calling thread. If its creation time is not available, the thread id alone is used. */
static pfb_thread_identity identify(void)
{
    FILETIME created;
    FILETIME exited;
    FILETIME kernel;
    FILETIME user;
    pfb_thread_identity thread = {.tid = (uint32_t)GetCurrentThreadId()};
    if (GetThreadTimes(GetCurrentThread(), &created, &exited, &kernel, &user))
        thread.creation_time = (uint64_t)created.dwHighDateTime << 32 | created.dwLowDateTime;
    return thread;
}

/* ---- Rights ---------------------------------------------------------------------------------------------------- */

/* Returns true if the process runs with administrator rights. A member of the administrators' group whose process is
 * not elevated has none: CheckTokenMembership then reports false. Returns false if the membership cannot be read. */
static bool is_administrator(void)
{
    SID_IDENTIFIER_AUTHORITY authority = SECURITY_NT_AUTHORITY;
    PSID group;
    BOOL is_member = FALSE;
    if (!AllocateAndInitializeSid(&authority, 2, SECURITY_BUILTIN_DOMAIN_RID, DOMAIN_ALIAS_RID_ADMINS, 0, 0, 0, 0, 0, 0,
                                  &group))
        return false;
    if (!CheckTokenMembership(NULL, group, &is_member))
        is_member = FALSE;
    FreeSid(group);
    return is_member;
}

/* ---- Opening -------------------------------------------------------------------------------------------------- */

/* Reads the environment variable, as described at pfb_thread_profiling.counter. */
static void read_counter(char *out, DWORD capacity)
{
    DWORD length = GetEnvironmentVariableA(PFB_CPI_COUNTER_VARIABLE, out, capacity);
    if (length >= capacity) /* too long: `length` is the required capacity, and `out` is undefined */
        memcpy(out, "...", 4);
    else
        out[length] = '\0';
}

void pfb_windows_cpi_load(pfb_thread_profiling *system)
{
    HMODULE kernel = GetModuleHandleW(L"kernel32.dll");                 /* loaded in every process and never unloaded */
    *system = (pfb_thread_profiling){.this_thread = GetCurrentThread(), /* a pseudo handle, valid in every thread */
                                     .identify = identify,
                                     .is_administrator = is_administrator,
                                     .has_hypervisor = pfb_cpu_has_hypervisor,
                                     .has_clock = pfb_cpu_has_constant_time_stamp,
                                     .read_clock = pfb_cpu_time_stamp,
                                     .describe = pfb_windows_message};
    read_counter(system->counter, sizeof system->counter);
#define FIND(name) pfb_functions_find(kernel, #name, &system->functions.name);
    PFB_THREAD_PROFILING_FUNCTIONS(FIND)
#undef FIND
}

pfb_cpi_source *pfb_cpi_source_open_live(pfb_cpi_failure *failure)
{
    pfb_thread_profiling system;
    pfb_windows_cpi_load(&system);
    return pfb_thread_profiling_open(&system, failure);
}
