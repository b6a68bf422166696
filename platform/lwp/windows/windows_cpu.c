/* SPDX-License-Identifier: MIT */
#include "live/windows/message.h"
#include "lwp/cpu_private.h"
#include "source/source_private.h"

#include <stdlib.h>
#include <string.h>

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

/* ---- XCR0 -------------------------------------------------------------------------------------------------------- */

typedef ULONG64(WINAPI *get_features)(void);

/* Windows has GetEnabledXStateFeatures only from Windows 7 Service Pack 1 on, so it is resolved at run time. XCR0 is
 * unknown on older systems. */
pfb_cpuid_xcr0 pfb_cpu_ask_xcr0(void)
{
    pfb_cpuid_xcr0 xcr0 = {0};
    get_features features = NULL;
    HMODULE kernel = GetModuleHandleW(L"kernel32.dll");
    FARPROC found = kernel ? GetProcAddress(kernel, "GetEnabledXStateFeatures") : NULL;
    memcpy(&features, &found, sizeof features); /* some compilers warn about casts between function types */
    if (features) {
        xcr0.is_known = true;
        xcr0.value = features();
    }
    return xcr0;
}

/* ---- CPUs ------------------------------------------------------------------------------------------------------- */

struct pfb_cpus {
    DWORD_PTR all;      /* CPUs of the process; 0 if they are in several processor groups */
    DWORD_PTR original; /* affinity of the thread; 0 until it was pinned */
    size_t count;
    uint32_t numbers[8 * sizeof(DWORD_PTR)];
};

static bool fail(const char *call, pfb_source_failure *failure)
{
    char reason[120];
    uint32_t code = GetLastError();
    pfb_windows_message(code, reason, sizeof reason);
    return pfb_source_fail(failure, code, "%s failed: %s (%u)", call, reason, (unsigned)code);
}

pfb_cpus *pfb_cpus_open(pfb_source_failure *failure)
{
    DWORD_PTR process;
    DWORD_PTR machine;
    if (!GetProcessAffinityMask(GetCurrentProcess(), &process, &machine)) {
        fail("GetProcessAffinityMask", failure);
        return NULL;
    }
    pfb_cpus *cpus = calloc(1, sizeof *cpus);
    if (!cpus) {
        pfb_source_fail_memory(failure);
        return NULL;
    }
    cpus->all = process;
    for (uint32_t i = 0; i < 8 * sizeof process; i++) {
        if (process >> i & 1)
            cpus->numbers[cpus->count++] = i;
    }
    if (cpus->count == 0) /* the mask is empty if the process has several groups: pfb_cpus_pin then fails */
        cpus->count = 1;
    return cpus;
}

void pfb_cpus_close(pfb_cpus *cpus)
{
    if (cpus && cpus->original)
        SetThreadAffinityMask(GetCurrentThread(), cpus->original);
    free(cpus);
}

size_t pfb_cpus_count(const pfb_cpus *cpus)
{
    return cpus->count;
}

uint32_t pfb_cpus_number(const pfb_cpus *cpus, size_t position)
{
    return position < cpus->count ? cpus->numbers[position] : 0;
}

bool pfb_cpus_pin(pfb_cpus *cpus, size_t position, pfb_source_failure *failure)
{
    if (cpus->all == 0)
        return pfb_source_fail(failure, PFB_WIN32_NOT_SUPPORTED, "the process has CPUs of several groups");
    if (position >= cpus->count)
        return pfb_source_fail(failure, PFB_WIN32_INVALID_PARAMETER, "there is no CPU at position %u",
                               (unsigned)position);
    DWORD_PTR original = SetThreadAffinityMask(GetCurrentThread(), (DWORD_PTR)1 << cpus->numbers[position]);
    if (!original)
        return fail("SetThreadAffinityMask", failure);
    if (!cpus->original)
        cpus->original = original;
    return true;
}
