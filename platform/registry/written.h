/* SPDX-License-Identifier: MIT */
#ifndef PFB_REGISTRY_WRITTEN_H
#define PFB_REGISTRY_WRITTEN_H

/* V1 blocks that are written from the values of a frame, for data that is not V1. */
#include "pdh/titles.h"
#include "perfblock/collect.h"
#include "perfblock/write.h"

/* A counter of an object. */
typedef struct written_column {
    uint32_t entry;      /* in the catalog */
    uint32_t size_bytes; /* 4 or 8; 0: a label */
    uint32_t base_type;  /* 0: neither base nor multi count */
    uint32_t base_bytes; /* the same of the base */
    bool has_sizes;      /* they are those of a value */
    uint32_t offset, base_offset;
} written_column;

typedef struct written_object {
    uint32_t place; /* in the catalog */
    written_column *columns;
    size_t column_count;
    uint32_t row_count;
    bool has_result, has_failed; /* a result has its instances, or is that of an error; logs have no results */
    int64_t time, frequency;     /* the object's clock */
} written_object;

typedef struct written_row {
    uint32_t object, position;
    uint32_t occurrence;                    /* among rows with equal names and parents */
    uint32_t parent_title, parent_position; /* 0: none */
    const char *name, *parent;              /* of the frame. name: null without one */
} written_row;

typedef struct written_cell {
    uint32_t object, row, column;
    uint64_t value, base;
} written_cell;

/* What is written. Zero is an empty plan. */
typedef struct written_plan {
    const pdh_catalog *catalog; /* not owned, as the titles and the machine */
    const pdh_titles *titles;
    const char *machine;
    written_object *objects;
    size_t object_count, object_capacity;
    pdh_map names; /* of the objects and counters */

    /* Of the sample. */
    pdh_map row_names;
    written_row *rows;
    written_cell *cells;
    size_t row_count, row_capacity, cell_count, cell_capacity;
    bool has_objects;
    pfb_write_times times;
    uint32_t has; /* PFB_HAS_ bits of the times that are known */
} written_plan;

/* Adds an object of the catalog, unless the plan has it. Returns false when memory is exhausted. */
bool pfb_registry_plan_object(written_plan *plan, uint32_t place);
void pfb_registry_free_plan(written_plan *plan);

/* Returns the title index of the object that has the parents of another one's instances; 0: none. */
uint32_t pfb_registry_parent_of(uint32_t title);

/* Takes the values of the current frame; plan->has_objects is false if it has none of the planned objects. Returns
 * false when memory is exhausted. */
bool pfb_registry_take_frame(written_plan *plan, pfb_collector *collector);

/* Writes the block while the frame is valid. `machine` is the name for it. Returns the Win32 code. */
uint32_t pfb_registry_write_frame(written_plan *plan, const char *machine, pfb_bytes *out);

#endif
