/* SPDX-License-Identifier: MIT */
/* A V1 provider: a library whose functions the system calls when HKEY_PERFORMANCE_DATA is asked. Other tests ask at the
 * same time, so that it answers to its own object alone. */
#include "provider.h"

#include <string.h>

__declspec(dllexport) DWORD APIENTRY Open(LPWSTR devices);
__declspec(dllexport) DWORD APIENTRY Collect(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD objects);
__declspec(dllexport) DWORD APIENTRY Close(void);

DWORD APIENTRY Open(LPWSTR devices)
{
    LPWSTR unused = devices; /* the system fixes the signature, which has no const */
    (void)unused;
    return ERROR_SUCCESS;
}

DWORD APIENTRY Collect(LPWSTR query, LPVOID *data, LPDWORD bytes, LPDWORD objects)
{
    DWORD room = *bytes;
    *bytes = *objects = 0;
    if (!query || wcscmp(query, L"2000") != 0)
        return ERROR_SUCCESS;
    if (room < sizeof provided)
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
