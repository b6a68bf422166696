/* SPDX-License-Identifier: MIT */
#include "live/windows/functions.h"

#include <stddef.h>
#include <string.h>

/* The types declared in live/windows/windows_perflib.h match those of the system. */
_Static_assert(_Generic((DWORD)0, pfb_dword : 1, default : 0), "DWORD");
_Static_assert(_Generic((WCHAR)0, pfb_wide : 1, default : 0), "WCHAR");
_Static_assert(_Generic((HANDLE)0, void * : 1, default : 0), "HANDLE");
_Static_assert(sizeof(GUID) == sizeof(pfb_perflib_guid), "GUID");

/* Each function's name, and the offset of its pointer in pfb_perflib_functions. */
static const struct {
    const char *name;
    size_t at;
} rows[] = {
#define ROW(name) {#name, offsetof(pfb_perflib_functions, name)},
    PFB_PERFLIB_FUNCTIONS(ROW)
#undef ROW
};

/* All function pointers have the same size on Windows. They are copied as bytes because their types differ. */
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

static void unload_library(void *library)
{
    FreeLibrary(library);
}

/* Loads the libraries only from the system directory, never from the directory of the program. */
void pfb_functions_load(pfb_perflib *system)
{
    static const WCHAR *const names[PFB_PERFLIB_LIBRARIES] = {L"advapi32.dll",
                                                              L"api-ms-win-core-perfcounters-l1-1-0.dll"};
    system->unload = unload_library;
    for (size_t i = 0; i < PFB_PERFLIB_LIBRARIES; i++) {
        HMODULE library = LoadLibraryExW(names[i], NULL, LOAD_LIBRARY_SEARCH_SYSTEM32);
        system->libraries[i] = library;
        if (library)
            pfb_functions_resolve(&system->functions, library);
    }
}
