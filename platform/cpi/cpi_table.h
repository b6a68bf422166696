/* SPDX-License-Identifier: MIT */
#ifndef PFB_CPI_TABLE_H
#define PFB_CPI_TABLE_H

/* Which handle names which instance of the CPI facility. A handle is a number: a slot and how often the slot was given
 * away. So no handle comes twice, a dead one is told from a live one and from one that never was, and nothing behind a
 * handle is ever looked at. Its lowest bit is set: no pointer to a word is one. The caller locks. */
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Half of a pointer's bits are the slot and the lowest bit, the others the generation. */
#define PFB_CPI_HANDLE_HALF (sizeof(uintptr_t) * CHAR_BIT / 2)
#define PFB_CPI_MOST_GENERATION (UINTPTR_MAX >> PFB_CPI_HANDLE_HALF)
#define PFB_CPI_MOST_SLOTS ((size_t)1 << (PFB_CPI_HANDLE_HALF - 1))

struct pfb_cpi_instance;

typedef struct pfb_cpi_slot {
    struct pfb_cpi_instance *instance; /* null: none now */
    uintptr_t generation;              /* of the instance, or of the latest one; from 1 */
    size_t next_free;                  /* in the queue of free slots */
} pfb_cpi_slot;

/* All zero but for `most_generation` at first. Its slots are never given back: they know which handles are dead. */
typedef struct pfb_cpi_table {
    uintptr_t most_generation; /* up to PFB_CPI_MOST_GENERATION; a slot that reached it is not used again */
    pfb_cpi_slot *slots;
    size_t slot_count, capacity;
    size_t live_count;
    size_t free_count, first_free, last_free; /* a queue: the slot that is free longest is used first */
} pfb_cpi_table;

/* A handle for the instance; null when memory or handles are exhausted. */
void *pfb_cpi_table_add(pfb_cpi_table *table, struct pfb_cpi_instance *instance);

/* The instance of a live handle, or null. */
struct pfb_cpi_instance *pfb_cpi_table_find(const pfb_cpi_table *table, const void *handle);

/* Whether the handle was given out, may it be live or dead. */
bool pfb_cpi_table_knows(const pfb_cpi_table *table, const void *handle);

/* As finding it; then the handle is dead. */
struct pfb_cpi_instance *pfb_cpi_table_remove(pfb_cpi_table *table, const void *handle);

#endif
