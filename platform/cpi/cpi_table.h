/* SPDX-License-Identifier: MIT */
#ifndef PFB_CPI_TABLE_H
#define PFB_CPI_TABLE_H

/* Maps handles to instances of the CPI facility. A handle is a number made of a slot and its generation, which counts
 * the uses of the slot. Handles are therefore never reused, a terminated handle can be distinguished from a live one
 * and from one that never existed, and no memory is accessed through a handle. The lowest bit is set, so no handle
 * equals an aligned pointer. The caller holds facility_lock during each call. */
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The lower half of the bits holds the slot and the lowest bit, the upper half the generation. */
#define PFB_CPI_HANDLE_HALF (sizeof(uintptr_t) * CHAR_BIT / 2)
#define PFB_CPI_MAX_GENERATION (UINTPTR_MAX >> PFB_CPI_HANDLE_HALF)
#define PFB_CPI_MAX_SLOTS ((size_t)1 << (PFB_CPI_HANDLE_HALF - 1))

struct pfb_cpi_instance;

typedef struct pfb_cpi_slot {
    struct pfb_cpi_instance *instance; /* NULL: free */
    uintptr_t generation;              /* of the current or latest instance, from 1; 0: never used */
    size_t next_free;                  /* next in the queue of free slots */
} pfb_cpi_slot;

/* Initially all zero except `max_generation`. The array never shrinks: it records which handles are terminated. */
typedef struct pfb_cpi_table {
    uintptr_t max_generation; /* at most PFB_CPI_MAX_GENERATION; a slot that reached it is not reused */
    pfb_cpi_slot *slots;
    size_t slot_count, capacity;
    size_t live_count;
    size_t free_count, first_free, last_free; /* queue: the slot that was freed first is reused first */
} pfb_cpi_table;

/* Creates a handle for the instance. Returns NULL when memory or handles are exhausted. */
void *pfb_cpi_table_add(pfb_cpi_table *table, struct pfb_cpi_instance *instance);

/* Returns the instance of a live handle, or NULL. */
struct pfb_cpi_instance *pfb_cpi_table_find(const pfb_cpi_table *table, const void *handle);

/* Returns true if the handle is live or was terminated. */
bool pfb_cpi_table_knows(const pfb_cpi_table *table, const void *handle);

/* Removes a live handle. Returns its instance, or NULL. */
struct pfb_cpi_instance *pfb_cpi_table_remove(pfb_cpi_table *table, const void *handle);

#endif
