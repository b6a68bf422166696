/* SPDX-License-Identifier: MIT */
#ifndef PFB_PDH_HANDLES_H
#define PFB_PDH_HANDLES_H

/* Handles: numbers that are looked up in a table, so that closed and foreign ones are recognised without reading what
 * they point to. A number returns only after its place was used again 4096 times (64-bit: never). */
#include "perfblock/pdh.h"
#include "source/lock.h"

enum { PDH_KIND_FREE = 0, PDH_KIND_QUERY, PDH_KIND_COUNTER, PDH_KIND_LOG, PDH_KIND_EVENT, PDH_KIND_WAIT, PDH_KIND_KEY };

/* The lock of the table, and of the counts of users of all objects. Held briefly: no other lock is acquired, and
 * nothing is read or collected, while it is held. */
extern pfb_lock pfb_pdh_lock;

/* The functions below are called while the lock is held. */

HANDLE pfb_pdh_add_handle(uint32_t kind, void *object);    /* NULL: memory is exhausted */
void *pfb_pdh_find_handle(HANDLE handle, uint32_t kind);   /* null: no handle of this kind */
void *pfb_pdh_remove_handle(HANDLE handle, uint32_t kind); /* the same; the handle is closed */
bool pfb_pdh_has_queries(void);

#endif
