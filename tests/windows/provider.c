/* SPDX-License-Identifier: MIT */
/* A V1 provider: a library that the system loads for queries of HKEY_PERFORMANCE_DATA. It replies only to queries for
 * its own object, because other tests may query at the same time and expect no object. */
#include "provider.h"

#include <string.h>

__declspec(dllexport) DWORD APIENTRY Open(LPWSTR devices);
__declspec(dllexport) DWORD APIENTRY Collect(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD objects);
__declspec(dllexport) DWORD APIENTRY Close(void);

DWORD APIENTRY Open(LPWSTR devices)
{
    LPWSTR unused = devices; /* keeps static analysis from asking for const, which the signature does not have */
    (void)unused;
    return ERROR_SUCCESS;
}

DWORD APIENTRY Collect(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD objects)
{
    DWORD capacity = *bytes;
    *bytes = *objects = 0;
    if (!query || wcscmp(query, L"2000") != 0) /* the title index of the object */
        return ERROR_SUCCESS;
    if (capacity < sizeof provided)
        return ERROR_MORE_DATA;
    memcpy(*data, &provided, sizeof provided);
    *data = (BYTE *)*data + sizeof provided;
    *bytes = sizeof provided;
    *objects = 1;
    return ERROR_SUCCESS;
}

DWORD APIENTRY Close(void)
{
    return ERROR_SUCCESS;
}
