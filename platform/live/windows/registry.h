/* SPDX-License-Identifier: MIT */
#ifndef PFB_REGISTRY_H
#define PFB_REGISTRY_H

/* Reads a value of HKEY_PERFORMANCE_DATA: grows the buffer, and retries while the system is busy. The system is called
 * through function pointers, so that this can be tested on any system. */
#include "perfblock/source.h"

/* The functions of the system. Every member is set. */
typedef struct pfb_registry {
    /* RegConnectRegistryW for another machine; does nothing for this one. Returns the Win32 code. */
    uint32_t (*open)(void *context);
    /* RegQueryValueExW of the value. *size_bytes is the capacity of `data`; on success it becomes the size of the
     * value. Returns the Win32 code. */
    uint32_t (*query)(void *context, uint8_t *data, uint32_t *size_bytes);
    void (*close)(void *context); /* RegCloseKey of the key that was opened, or of HKEY_PERFORMANCE_DATA */
    void (*wait)(void *context, uint32_t milliseconds);
    void (*describe)(void *context, uint32_t code, char *out,
                     size_t capacity); /* writes the system's message for a code */
    void *context;
    const char *place; /* for messages: " on NAME", or empty */
} pfb_registry;

#define PFB_REGISTRY_INITIAL_BYTES (UINT32_C(64) << 10)
#define PFB_REGISTRY_MAX_BYTES (UINT32_C(64) << 20)
enum { PFB_REGISTRY_RETRIES = 5, PFB_REGISTRY_FIRST_WAIT_MS = 10 };

/* Reads the whole value into `bytes`. The first capacity is that of `bytes`, but at least PFB_REGISTRY_INITIAL_BYTES
 * and at most PFB_REGISTRY_MAX_BYTES. It is doubled while the system returns PFB_WIN32_MORE_DATA, up to that maximum.
 * After PFB_WIN32_NOT_READY, LOCK_FAILED, BUSY or WAIT_TIMEOUT the query is repeated after a wait, at most
 * PFB_REGISTRY_RETRIES times in all; each wait is twice as long as the previous one. This makes at most 16 queries and
 * 310 ms of waiting. A key that was opened is always closed once. `name` is used in messages only. */
bool pfb_registry_read(const pfb_registry *registry, const char *name, pfb_bytes *bytes, pfb_source_failure *failure);

#endif
