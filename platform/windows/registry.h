/* SPDX-License-Identifier: MIT */
#ifndef PFB_REGISTRY_H
#define PFB_REGISTRY_H

/* Reading a value of HKEY_PERFORMANCE_DATA: how much room to give, when to ask again and when to give up. What the
 * system does is behind functions, so that these decisions can be tested without it. */
#include "perfblock/source.h"

/* The system; contexts are its own. Every member is set. */
typedef struct pfb_registry {
    uint32_t (*open)(void *context); /* RegConnectRegistryW of another machine; of this one, nothing to do */
    /* RegQueryValueExW of one value: *size_bytes is the room at `data` before, and on success the size of the value
     * after. Returns the Win32 code. */
    uint32_t (*query)(void *context, uint8_t *data, uint32_t *size_bytes);
    void (*close)(void *context); /* RegCloseKey of what was opened, or of HKEY_PERFORMANCE_DATA itself */
    void (*wait)(void *context, uint32_t milliseconds);
    void (*describe)(void *context, uint32_t code, char *out, size_t capacity); /* the system's text for a code */
    void *context;
    const char *place; /* for sentences: " on NAME", or empty */
} pfb_registry;

#define PFB_REGISTRY_LEAST_BYTES (UINT32_C(64) << 10)
#define PFB_REGISTRY_MOST_BYTES (UINT32_C(64) << 20)
enum { PFB_REGISTRY_RETRIES = 5, PFB_REGISTRY_FIRST_WAIT_MS = 10 };

/* Reads the whole value into `bytes`. The room begins with what `bytes` has, at least PFB_REGISTRY_LEAST_BYTES, and is
 * doubled while the system answers PFB_WIN32_MORE_DATA, up to PFB_REGISTRY_MOST_BYTES. A transient code is waited out
 * PFB_REGISTRY_RETRIES times in all, each wait twice as long as the one before. So there are at most 16 queries and
 * 310 ms of waiting. A key that was opened is closed once, whatever happened. `name` is for the sentence. */
bool pfb_registry_read(const pfb_registry *registry, const char *name, pfb_bytes *bytes, pfb_source_failure *failure);

#endif
