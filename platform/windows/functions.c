/* SPDX-License-Identifier: MIT */
#include "windows/functions.h"

#include <stddef.h>
#include <string.h>

/* perflib.h's own types are those of the system. */
_Static_assert(_Generic((DWORD)0, pfb_dword : 1, default : 0), "DWORD");
_Static_assert(_Generic((WCHAR)0, pfb_wide : 1, default : 0), "WCHAR");
_Static_assert(_Generic((HANDLE)0, void * : 1, default : 0), "HANDLE");
_Static_assert(sizeof(GUID) == sizeof(pfb_perflib_guid), "GUID");

/* The name of a function and its member. */
static const struct {
    const char *name;
    size_t at;
} rows[] = {
#define ROW(name) {#name, offsetof(pfb_perflib_functions, name)},
    PFB_PERFLIB_FUNCTIONS(ROW)
#undef ROW
};

/* Pointers to functions are all of one size here, and go as bytes where they have different types. */
_Static_assert(sizeof(pfb_perflib_functions) == sizeof rows / sizeof rows[0] * sizeof(FARPROC), "members");

void pfb_functions_find(HMODULE library, const char *name, void *function)
{
    FARPROC found;
    memcpy(&found, function, sizeof found);
    if (!found && library)
        found = GetProcAddress(library, name);
    memcpy(function, &found, sizeof found);
}

void pfb_functions_resolve(pfb_perflib_functions *functions, HMODULE library)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        pfb_functions_find(library, rows[i].name, (uint8_t *)functions + rows[i].at);
}

static void let_go(void *library)
{
    FreeLibrary(library);
}

/* The libraries come from the system's folder alone, whatever lies beside the program. */
void pfb_functions_load(pfb_perflib *system)
{
    static const WCHAR *const names[PFB_PERFLIB_LIBRARIES] = {L"advapi32.dll",
                                                              L"api-ms-win-core-perfcounters-l1-1-0.dll"};
    system->let_go = let_go;
    for (size_t i = 0; i < PFB_PERFLIB_LIBRARIES; i++) {
        HMODULE library = LoadLibraryExW(names[i], NULL, LOAD_LIBRARY_SEARCH_SYSTEM32);
        system->libraries[i] = library;
        if (library)
            pfb_functions_resolve(&system->functions, library);
    }
}
