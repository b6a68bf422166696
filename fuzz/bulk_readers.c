/* SPDX-License-Identifier: MIT */
#include "bulk_readers.h"

#include "perfblock/bulk.h"

#include <stdlib.h>
#include <string.h>

enum { UNWRITTEN = 0xA5, MOST_POSITIONS = 64 };

/* ---- The obvious way ----------------------------------------------------------------------------------- */

static void store_value(const pfb_bulk *bulk, size_t row, size_t n, const pfb_data_value *value)
{
    size_t at = row * bulk->instance_step + n * bulk->position_step;
    bulk->values[at] = value->raw;
    if (bulk->sizes)
        bulk->sizes[at] = value->is_number ? (uint8_t)value->data_size_bytes : 0;
}

static void read_slowly(pfb_data_block *block, pfb_bulk *bulk)
{
    pfb_data_instance instance;
    pfb_data_value value;
    bulk->instance_count = 0;
    bulk->last_value_count = 0;
    bulk->has_others = false;
    while (bulk->instance_count < bulk->instance_capacity && pfb_data_block_next_instance(block, &instance)) {
        size_t row = bulk->instance_count++;
        if (bulk->instances)
            bulk->instances[row] = instance;
        bulk->last_value_count = 0;
        while (pfb_data_block_next_value(block, &value)) {
            bulk->last_value_count++;
            bulk->has_others = bulk->has_others || !value.is_number;
            for (uint32_t n = 0; bulk->positions && n < bulk->position_count; n++) {
                if (bulk->positions[n] == value.position)
                    store_value(bulk, row, n, &value);
            }
            if (!bulk->positions)
                store_value(bulk, row, value.position, &value);
        }
    }
}

/* ---- Arrays of exactly their size ------------------------------------------------------------------------ */

static void *fill_memory(size_t count, size_t each)
{
    size_t size = count * each;
    void *memory = malloc(size > 0 ? size : 1);
    if (!memory)
        abort();
    memset(memory, UNWRITTEN, size);
    return memory;
}

/* What one call of either way is given. */
static pfb_bulk make_bulk(const bulk_plan *plan, const uint32_t *positions, uint32_t position_count, size_t columns)
{
    size_t cells = plan->capacity * columns;
    return (pfb_bulk){.values = fill_memory(cells, sizeof(uint64_t)),
                      .sizes = plan->with_sizes ? fill_memory(cells, 1) : NULL,
                      .instances = plan->with_instances ? fill_memory(plan->capacity, sizeof(pfb_data_instance)) : NULL,
                      .instance_capacity = plan->capacity,
                      .instance_step = plan->as_columns ? 1 : columns,
                      .position_step = plan->as_columns ? plan->capacity : 1,
                      .positions = positions,
                      .position_count = position_count};
}

static void free_bulk(const pfb_bulk *bulk)
{
    free(bulk->values);
    free(bulk->sizes);
    free(bulk->instances);
}

/* ---- Comparing ------------------------------------------------------------------------------------------- */

static bool is_same_instance(const pfb_data_instance *a, const pfb_data_instance *b)
{
    return a->offset == b->offset && a->instance == b->instance && a->id == b->id && a->has_name == b->has_name &&
           a->name.offset == b->name.offset && a->name.units == b->name.units;
}

static const char *compare_state(const pfb_data_block *fast, const pfb_data_block *slow)
{
    if (fast->error.code != slow->error.code || fast->error.offset != slow->error.offset)
        return "in bulk the verdict is the same";
    return fast->notes == slow->notes ? NULL : "in bulk the notes are the same";
}

static const char *compare_calls(const pfb_bulk *fast, const pfb_bulk *slow, size_t cells)
{
    if (fast->instance_count != slow->instance_count || fast->last_value_count != slow->last_value_count)
        return "in bulk as many instances and values come";
    if (fast->has_others != slow->has_others)
        return "in bulk it is said whether all are numbers";
    if (memcmp(fast->values, slow->values, cells * sizeof *fast->values) != 0)
        return "in bulk the values are the same, and nothing else is written";
    if (fast->sizes && slow->sizes && memcmp(fast->sizes, slow->sizes, cells) != 0)
        return "in bulk the sizes are the same, and nothing else is written";
    for (size_t i = 0; fast->instances && slow->instances && i < fast->instance_count; i++) {
        if (!is_same_instance(&fast->instances[i], &slow->instances[i]))
            return "in bulk the instances are the same";
    }
    return NULL;
}

static void pass_values(pfb_data_block *block, uint32_t count)
{
    pfb_data_instance instance;
    pfb_data_value value;
    if (count == 0 || !pfb_data_block_next_instance(block, &instance))
        return;
    for (uint32_t i = 0; i < count && pfb_data_block_next_value(block, &value); i++)
        continue;
}

/* One call each; `more` tells whether it gave anything. */
static const char *compare_call(pfb_data_block *fast, pfb_data_block *slow, const bulk_plan *plan,
                                const uint32_t *positions, uint32_t position_count, size_t columns, bool *more)
{
    pass_values(fast, plan->values_before);
    pass_values(slow, plan->values_before);
    pfb_bulk quick = make_bulk(plan, positions, position_count, columns);
    pfb_bulk careful = make_bulk(plan, positions, position_count, columns);
    *more = pfb_bulk_read(fast, &quick);
    read_slowly(slow, &careful);
    const char *broken = compare_calls(&quick, &careful, plan->capacity * columns);
    if (!broken && *more != (careful.instance_count > 0))
        broken = "it is said when nothing came";
    free_bulk(&quick);
    free_bulk(&careful);
    return broken ? broken : compare_state(fast, slow);
}

static const char *compare_result(pfb_data_block *fast, pfb_data_block *slow, const bulk_plan *plan,
                                  const pfb_data_result *result)
{
    uint32_t *positions = NULL;
    uint32_t position_count = 0;
    if (plan->position_step > 0) { /* one of them may lie behind the last value */
        positions = fill_memory(MOST_POSITIONS, sizeof *positions);
        uint32_t position = plan->first_position;
        for (; position_count < MOST_POSITIONS && position <= result->counter_count; position += plan->position_step)
            positions[position_count++] = position;
    }
    size_t columns = positions ? position_count : result->counter_count;
    const char *broken = NULL;
    bool more = true;
    while (more && !broken)
        broken = compare_call(fast, slow, plan, positions, position_count, columns, &more);
    free(positions);
    return broken;
}

const char *compare_bulk(const uint8_t *data, size_t size, const bulk_plan *plan)
{
    pfb_data_block fast;
    pfb_data_block slow;
    pfb_data_result result;
    pfb_data_result same;
    pfb_data_block_open(&fast, data, size, plan->options);
    pfb_data_block_open(&slow, data, size, plan->options);
    const char *broken = NULL;
    while (!broken && pfb_data_block_next_result(&slow, &result)) {
        if (!pfb_data_block_next_result(&fast, &same) || same.offset != result.offset)
            return "after bulk reading the next result is the same";
        broken = compare_result(&fast, &slow, plan, &result);
    }
    if (!broken && pfb_data_block_next_result(&fast, &same))
        broken = "after bulk reading no other result comes";
    return broken ? broken : compare_state(&fast, &slow);
}
