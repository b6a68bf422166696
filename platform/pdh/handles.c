/* SPDX-License-Identifier: MIT */
#include "pdh/handles.h"

#include "source/source_private.h"

pfb_lock pfb_pdh_lock = PFB_LOCK_INIT;

/* A handle has the place in the lower bits and the generation, which is never 0, above. */
enum { PLACE_BITS = 20, MAX_PLACES = 1 << PLACE_BITS };

typedef struct handle_place {
    void *object;
    uintptr_t generation;
    uint32_t kind;
    uint32_t next_free; /* 1 + the place that is reused after this one; 0: none */
} handle_place;

static struct {
    handle_place *places;
    size_t capacity;
    uint32_t count, first_free, last_free; /* of free places: 1 + their position. The one free for longest is reused */
    uint32_t query_count;
} table;

static handle_place *find_handle_place(HANDLE handle, uint32_t kind)
{
    uintptr_t number = (uintptr_t)handle;
    uintptr_t place = number & (MAX_PLACES - 1);
    if (place >= table.count || table.places[place].kind != kind ||
        table.places[place].generation != number >> PLACE_BITS)
        return NULL;
    return &table.places[place];
}

HANDLE pfb_pdh_add_handle(uint32_t kind, void *object)
{
    uint32_t place = table.first_free;
    const uint32_t kept_free = 64; /* so that a handle is not reused soon */
    bool reuses = place > 0 && (table.count >= kept_free || table.count == MAX_PLACES);
    if (reuses) {
        table.first_free = table.places[--place].next_free;
        table.last_free = table.first_free > 0 ? table.last_free : 0;
    } else {
        handle_place *grown = table.count < MAX_PLACES ? pfb_source_grow(table.places, &table.capacity, table.count + 1,
                                                                         sizeof *table.places)
                                                       : NULL;
        if (!grown)
            return NULL;
        table.places = grown;
        place = table.count++;
        table.places[place].generation = 0;
    }
    const uintptr_t max_generation = UINTPTR_MAX >> PLACE_BITS;
    handle_place *p = &table.places[place];
    /* The largest generation is left out: -1 is H_WBEM_DATASOURCE and INVALID_HANDLE_VALUE. */
    p->generation = p->generation + 1 < max_generation ? p->generation + 1 : 1;
    /* Nor do handles look like a predefined key of the registry, such as 0x80000004. */
    const uintptr_t predefined = UINT32_C(0x80000000);
    p->generation += ((p->generation << PLACE_BITS | place) & ~(uintptr_t)0xFF) == predefined;
    p->object = object;
    p->kind = kind;
    p->next_free = 0;
    table.query_count += kind == PDH_KIND_QUERY;
    return (HANDLE)(p->generation << PLACE_BITS | place); /* NOLINT(performance-no-int-to-ptr) */
}

void *pfb_pdh_find_handle(HANDLE handle, uint32_t kind)
{
    const handle_place *p = find_handle_place(handle, kind);
    return p ? p->object : NULL;
}

void *pfb_pdh_remove_handle(HANDLE handle, uint32_t kind)
{
    handle_place *p = find_handle_place(handle, kind);
    if (!p)
        return NULL;
    void *object = p->object;
    uint32_t number = (uint32_t)(p - table.places) + 1;
    p->kind = PDH_KIND_FREE;
    p->object = NULL;
    if (table.last_free > 0)
        table.places[table.last_free - 1].next_free = number;
    else
        table.first_free = number;
    table.last_free = number;
    table.query_count -= kind == PDH_KIND_QUERY;
    return object;
}

bool pfb_pdh_has_queries(void)
{
    return table.query_count > 0;
}
