/* SPDX-License-Identifier: MIT */
#include "live/windows/registry.h"

#include "source/source_private.h"

/* Codes returned while the system is not ready, or is busy with another query. */
static bool is_transient(uint32_t code)
{
    return code == PFB_WIN32_NOT_READY || code == PFB_WIN32_LOCK_FAILED || code == PFB_WIN32_BUSY ||
           code == PFB_WIN32_WAIT_TIMEOUT;
}

/* Queries with a buffer of `capacity` bytes, and repeats the query while the system is not ready or busy, until
 * *retries is PFB_REGISTRY_RETRIES. Returns the last code. */
static uint32_t query_with_retries(const pfb_registry *registry, uint32_t capacity, unsigned *retries, pfb_bytes *bytes)
{
    for (;;) {
        uint32_t size = capacity; /* undefined after a failure, so set for each call */
        uint32_t code = registry->query(registry->context, bytes->data, &size);
        if (code == PFB_WIN32_SUCCESS && size > capacity) /* impossible: do not read past the buffer */
            code = PFB_WIN32_MORE_DATA;
        if (code == PFB_WIN32_SUCCESS)
            bytes->size_bytes = size;
        if (!is_transient(code) || *retries == PFB_REGISTRY_RETRIES)
            return code;
        registry->wait(registry->context, (uint32_t)PFB_REGISTRY_FIRST_WAIT_MS << (*retries)++);
    }
}

/* Short enough that the sentences below fit into pfb_source_failure, with a `place` of up to 47 bytes and the code. */
enum { REASON_BYTES = 88 };

static bool fail_query(const pfb_registry *registry, const char *name, uint32_t code, pfb_source_failure *failure)
{
    char reason[REASON_BYTES];
    registry->describe(registry->context, code, reason, sizeof reason);
    return pfb_source_fail(failure, code,
                           "RegQueryValueExW of HKEY_PERFORMANCE_DATA%s, value \"%.20s\", failed%s: %s (%u)",
                           registry->place, name, is_transient(code) ? " again and again" : "", reason, (unsigned)code);
}

static bool fail_open(const pfb_registry *registry, uint32_t code, pfb_source_failure *failure)
{
    char reason[REASON_BYTES];
    registry->describe(registry->context, code, reason, sizeof reason);
    return pfb_source_fail(failure, code, "RegConnectRegistryW of HKEY_PERFORMANCE_DATA%s failed: %s (%u)",
                           registry->place, reason, (unsigned)code);
}

static bool read_open(const pfb_registry *registry, const char *name, pfb_bytes *bytes, pfb_source_failure *failure)
{
    static const pfb_source_capacity limits = {1, PFB_REGISTRY_INITIAL_BYTES, PFB_REGISTRY_MAX_BYTES,
                                               PFB_REGISTRY_MAX_BYTES};
    unsigned retries = 0;
    uint32_t size = 0;
    while (pfb_source_next_capacity(&limits, bytes, 0, &size, failure)) {
        uint32_t code = query_with_retries(registry, size, &retries, bytes);
        if (code == PFB_WIN32_SUCCESS)
            return true;
        if (code != PFB_WIN32_MORE_DATA || size == PFB_REGISTRY_MAX_BYTES)
            return fail_query(registry, name, code, failure);
    }
    return false;
}

bool pfb_registry_read(const pfb_registry *registry, const char *name, pfb_bytes *bytes, pfb_source_failure *failure)
{
    bytes->size_bytes = 0;
    uint32_t code = registry->open(registry->context);
    if (code != PFB_WIN32_SUCCESS)
        return fail_open(registry, code, failure);
    bool is_read = read_open(registry, name, bytes, failure);
    registry->close(registry->context);
    return is_read;
}
