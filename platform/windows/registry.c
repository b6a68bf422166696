/* SPDX-License-Identifier: MIT */
#include "registry.h"

#include "source_private.h"

/* Codes of a system that is not ready yet, or busy with the query of another. */
static bool is_transient(uint32_t code)
{
    return code == PFB_WIN32_NOT_READY || code == PFB_WIN32_LOCK_FAILED || code == PFB_WIN32_BUSY ||
           code == PFB_WIN32_WAIT_TIMEOUT;
}

static uint32_t first_room(const pfb_bytes *bytes)
{
    if (bytes->capacity_bytes >= PFB_REGISTRY_MOST_BYTES)
        return PFB_REGISTRY_MOST_BYTES;
    uint32_t capacity = (uint32_t)bytes->capacity_bytes;
    return capacity > PFB_REGISTRY_LEAST_BYTES ? capacity : PFB_REGISTRY_LEAST_BYTES;
}

static uint32_t larger_room(uint32_t room)
{
    return room <= PFB_REGISTRY_MOST_BYTES / 2 ? 2 * room : PFB_REGISTRY_MOST_BYTES;
}

/* One query with `room` bytes of room, repeated while the system is not ready. Returns its last code. */
static uint32_t query_patiently(const pfb_registry *registry, uint32_t room, unsigned *retries, pfb_bytes *bytes)
{
    for (;;) {
        uint32_t size = room; /* set each time: after a failure it is undefined */
        uint32_t code = registry->query(registry->context, bytes->data, &size);
        if (code == PFB_WIN32_SUCCESS && size > room) /* an impossible size is no reason to read behind the room */
            code = PFB_WIN32_MORE_DATA;
        if (code == PFB_WIN32_SUCCESS)
            bytes->size_bytes = size;
        if (!is_transient(code) || *retries == PFB_REGISTRY_RETRIES)
            return code;
        registry->wait(registry->context, (uint32_t)PFB_REGISTRY_FIRST_WAIT_MS << (*retries)++);
    }
}

static bool fail_query(const pfb_registry *registry, const char *name, uint32_t code, pfb_source_failure *failure)
{
    char reason[120];
    registry->describe(registry->context, code, reason, sizeof reason);
    return pfb_source_fail(failure, code,
                           "RegQueryValueExW of HKEY_PERFORMANCE_DATA, value \"%.40s\", failed%s: %s (%u)", name,
                           is_transient(code) ? " again and again" : "", reason, (unsigned)code);
}

static bool read_open(const pfb_registry *registry, const char *name, pfb_bytes *bytes, pfb_source_failure *failure)
{
    unsigned retries = 0;
    for (uint32_t room = first_room(bytes);; room = larger_room(room)) {
        if (!pfb_bytes_reserve(bytes, room))
            return pfb_source_fail_memory(failure);
        uint32_t code = query_patiently(registry, room, &retries, bytes);
        if (code == PFB_WIN32_SUCCESS)
            return true;
        if (code != PFB_WIN32_MORE_DATA || room == PFB_REGISTRY_MOST_BYTES)
            return fail_query(registry, name, code, failure);
    }
}

bool pfb_registry_read(const pfb_registry *registry, const char *name, pfb_bytes *bytes, pfb_source_failure *failure)
{
    bytes->size_bytes = 0;
    bool is_read = read_open(registry, name, bytes, failure);
    registry->close(registry->context);
    return is_read;
}
