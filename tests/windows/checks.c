/* SPDX-License-Identifier: MIT */
#include "checks.h"

#include <stdio.h>
#include <stdlib.h>

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

static unsigned checks_passed;

_Noreturn void fail(const char *what)
{
    printf("FAILED: %s\n", what);
    fflush(stdout);
    exit(1);
}

void count_check(void)
{
    checks_passed++;
}

bool is_wine(void)
{
    HMODULE ntdll = GetModuleHandleW(L"ntdll.dll");
    return ntdll && GetProcAddress(ntdll, "wine_get_version");
}

int finish_checks(void)
{
    if (fflush(stdout) != 0 || ferror(stdout))
        return 1;
    printf("%u checks passed, none failed\n", checks_passed);
    return 0;
}
