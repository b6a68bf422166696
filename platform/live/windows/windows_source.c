/* SPDX-License-Identifier: MIT */
#include "live/windows/functions.h"
#include "live/windows/message.h"
#include "live/windows/registry.h"
#include "live/windows/windows_perflib.h"
#include "perfblock/live.h"
#include "source/source_private.h"

#include <stdlib.h>
#include <string.h>

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

/* The Windows functions that the live source calls. */

/* ---- The registry --------------------------------------------------------------------------------------------- */

/* Context of the functions of pfb_registry: the value that is read. */
typedef struct reading {
    const pfb_machine *machine;
    HKEY key;
    WCHAR *name; /* name of the value */
} reading;

/* Opens the key of another machine. The key of this machine is predefined and needs no opening. */
static uint32_t open_key(void *context)
{
    reading *value = context;
    WCHAR path[2 + PFB_MACHINE_UNITS + 1] = L"\\\\";
    value->key = HKEY_PERFORMANCE_DATA;
    if (value->machine->name[0] == 0)
        return PFB_WIN32_SUCCESS;
    memcpy(path + 2, value->machine->name, sizeof value->machine->name);
    return (uint32_t)RegConnectRegistryW(path, HKEY_PERFORMANCE_DATA, &value->key);
}

static uint32_t query_value(void *context, uint8_t *data, uint32_t *size_bytes)
{
    const reading *value = context;
    DWORD size = *size_bytes;
    LSTATUS code = RegQueryValueExW(value->key, value->name, NULL, NULL, data, &size);
    *size_bytes = size;
    return (uint32_t)code;
}

/* Closes the key. Closing the predefined key has an effect, too: it unloads the provider libraries that the query
 * loaded. */
static void close_key(void *context)
{
    const reading *value = context;
    RegCloseKey(value->key);
}

static void wait_for(void *context, uint32_t milliseconds)
{
    (void)context;
    Sleep(milliseconds);
}

static void describe(void *context, uint32_t code, char *out, size_t capacity)
{
    (void)context;
    pfb_windows_message(code, out, capacity);
}

/* Converts the query, which is ASCII, to UTF-16. Returns NULL when memory is exhausted. */
static WCHAR *to_utf16(const char *query)
{
    size_t length = strlen(query);
    WCHAR *name = calloc(length + 1, sizeof *name);
    for (size_t i = 0; name && i < length; i++)
        name[i] = (WCHAR)query[i];
    return name;
}

static bool v1(const pfb_machine *machine, const char *query, pfb_bytes *bytes, pfb_source_failure *failure)
{
    reading value = {.machine = machine, .name = to_utf16(query)};
    if (!value.name)
        return pfb_source_fail_memory(failure);
    pfb_registry registry = {.open = open_key,
                             .query = query_value,
                             .close = close_key,
                             .wait = wait_for,
                             .describe = describe,
                             .context = &value,
                             .place = machine->place};
    bool is_read = pfb_registry_read(&registry, query, bytes, failure);
    free(value.name);
    return is_read;
}

/* ---- Opening -------------------------------------------------------------------------------------------------- */

static pfb_source *open_machine(const char *machine, pfb_source_failure *failure)
{
    pfb_perflib system = {.describe = pfb_windows_message, .v1 = v1};
    pfb_functions_load(&system);
    return pfb_perflib_open(&system, machine, failure);
}

pfb_source *pfb_source_open_live(pfb_source_failure *failure)
{
    return open_machine(NULL, failure);
}

pfb_source *pfb_source_open_remote(const char *machine, pfb_source_failure *failure)
{
    return open_machine(machine ? machine : "", failure); /* NULL is refused like an empty name */
}

pfb_source *pfb_source_open_linux(const char *root, pfb_source_failure *failure)
{
    (void)root;
    pfb_source_fail(failure, PFB_WIN32_NOT_SUPPORTED, "kernel files of Linux are read on Linux only");
    return NULL;
}
