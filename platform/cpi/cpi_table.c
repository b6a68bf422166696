/* SPDX-License-Identifier: MIT */
#include "cpi/cpi_table.h"

#include "source/source_private.h"

#include <string.h>

/* Makes a handle: a number, stored in a pointer. */
static void *make_handle(size_t slot, uintptr_t generation)
{
    uintptr_t number = generation << PFB_CPI_HANDLE_HALF | (uintptr_t)slot << 1 | 1;
    void *handle;
    memcpy(&handle, &number, sizeof handle);
    return handle;
}

/* Returns the slot of a handle and sets its generation. Returns NULL if no such handle was ever created. */
static pfb_cpi_slot *find_slot(const pfb_cpi_table *table, const void *handle, uintptr_t *generation)
{
    uintptr_t number = (uintptr_t)handle;
    size_t slot = (number & PFB_CPI_MAX_GENERATION) >> 1; /* the mask selects the lower half of the bits */
    *generation = number >> PFB_CPI_HANDLE_HALF;
    if (!(number & 1) || slot >= table->slot_count)
        return NULL;
    return *generation >= 1 && *generation <= table->slots[slot].generation ? &table->slots[slot] : NULL;
}

/* ---- Free slots ---------------------------------------------------------------------------------------- */

static void push_free(pfb_cpi_table *table, size_t slot)
{
    if (table->free_count == 0)
        table->first_free = slot;
    else
        table->slots[table->last_free].next_free = slot;
    table->last_free = slot;
    table->free_count++;
}

static size_t pop_free(pfb_cpi_table *table)
{
    size_t slot = table->first_free;
    table->first_free = table->slots[slot].next_free;
    table->free_count--;
    return slot;
}

/* Adds a free slot. Returns false when memory or slots are exhausted. */
static bool grow(pfb_cpi_table *table)
{
    if (table->slot_count >= PFB_CPI_MAX_SLOTS)
        return false;
    pfb_cpi_slot *grown = pfb_source_grow(table->slots, &table->capacity, table->slot_count + 1, sizeof *table->slots);
    if (!grown)
        return false;
    table->slots = grown;
    grown[table->slot_count] = (pfb_cpi_slot){.instance = NULL};
    push_free(table, table->slot_count);
    table->slot_count++;
    return true;
}

/* ---- Handles ------------------------------------------------------------------------------------------- */

void *pfb_cpi_table_add(pfb_cpi_table *table, struct pfb_cpi_instance *instance)
{
    if (table->free_count == 0 && !grow(table))
        return NULL;
    size_t at = pop_free(table);
    pfb_cpi_slot *slot = &table->slots[at];
    slot->generation++; /* cannot exceed max_generation: a slot that reached it is not in the queue of free slots */
    slot->instance = instance;
    table->live_count++;
    return make_handle(at, slot->generation);
}

struct pfb_cpi_instance *pfb_cpi_table_find(const pfb_cpi_table *table, const void *handle)
{
    uintptr_t generation;
    const pfb_cpi_slot *slot = find_slot(table, handle, &generation);
    return slot && generation == slot->generation ? slot->instance : NULL;
}

bool pfb_cpi_table_knows(const pfb_cpi_table *table, const void *handle)
{
    uintptr_t generation;
    return find_slot(table, handle, &generation) != NULL;
}

struct pfb_cpi_instance *pfb_cpi_table_remove(pfb_cpi_table *table, const void *handle)
{
    uintptr_t generation;
    struct pfb_cpi_instance *instance = pfb_cpi_table_find(table, handle);
    pfb_cpi_slot *slot = find_slot(table, handle, &generation);
    if (!instance)
        return NULL;
    slot->instance = NULL;
    table->live_count--;
    if (slot->generation < table->max_generation)
        push_free(table, (size_t)(slot - table->slots));
    return instance;
}
