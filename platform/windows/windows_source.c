/* SPDX-License-Identifier: MIT */
#include "message.h"
#include "registry.h"
#include "source_private.h"

#include <stdlib.h>
#include <string.h>

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

/* The live source of a Windows machine: V1 data out of the registry. It keeps nothing between calls, so it has no
 * context. */

static void close_context(void *context)
{
    (void)context;
}

/* ---- V2: not in this version ------------------------------------------------------------------------------- */

static bool refuse(const char *what, pfb_source_failure *failure)
{
    return pfb_source_fail(failure, PFB_WIN32_NOT_SUPPORTED, "%s: on Windows this version reads V1 data only", what);
}

static bool countersets(void *context, pfb_bytes *bytes, pfb_source_failure *failure)
{
    (void)context;
    (void)bytes;
    return refuse("list of countersets", failure);
}

static bool registration(void *context, const pfb_guid *counterset, uint32_t request, uint32_t language,
                         pfb_bytes *bytes, pfb_source_failure *failure)
{
    (void)context;
    (void)counterset;
    (void)request;
    (void)language;
    (void)bytes;
    return refuse("registration of a counterset", failure);
}

static bool instances(void *context, const pfb_guid *counterset, pfb_bytes *bytes, pfb_source_failure *failure)
{
    (void)context;
    (void)counterset;
    (void)bytes;
    return refuse("list of instances", failure);
}

static void *query_open(void *context, pfb_source_failure *failure)
{
    (void)context;
    refuse("query", failure);
    return NULL;
}

/* ---- The registry ------------------------------------------------------------------------------------------- */

static uint32_t query_value(void *context, uint8_t *data, uint32_t *size_bytes)
{
    const WCHAR *name = context;
    DWORD size = *size_bytes;
    LSTATUS code = RegQueryValueExW(HKEY_PERFORMANCE_DATA, name, NULL, NULL, data, &size);
    *size_bytes = size;
    return (uint32_t)code;
}

/* The handle is predefined, but closing it lets go of the provider libraries that the query loaded. */
static void close_key(void *context)
{
    (void)context;
    RegCloseKey(HKEY_PERFORMANCE_DATA);
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

/* The query as the system takes it; it is ASCII. Null when memory is exhausted. */
static WCHAR *widen(const char *query)
{
    size_t length = strlen(query);
    WCHAR *name = calloc(length + 1, sizeof *name);
    for (size_t i = 0; name && i < length; i++)
        name[i] = (WCHAR)query[i];
    return name;
}

static bool legacy(void *context, const char *query, pfb_bytes *bytes, pfb_source_failure *failure)
{
    (void)context;
    WCHAR *name = widen(query);
    if (!name)
        return pfb_source_fail_memory(failure);
    pfb_registry registry = {
        .query = query_value, .close = close_key, .wait = wait_for, .describe = describe, .context = name};
    bool is_read = pfb_registry_read(&registry, query, bytes, failure);
    free(name);
    return is_read;
}

/* ---- Opening ------------------------------------------------------------------------------------------------ */

static const pfb_source_operations operations = {.close = close_context,
                                                 .countersets = countersets,
                                                 .registration = registration,
                                                 .instances = instances,
                                                 .query_open = query_open,
                                                 .legacy = legacy};

pfb_source *pfb_source_open_live(pfb_source_failure *failure)
{
    return pfb_source_make(&operations, NULL, failure);
}
