/* SPDX-License-Identifier: MIT */
#include "v2_values_readers.h"

#include "perfblock/v2.h"

#include <stdlib.h>
#include <string.h>

enum { UNWRITTEN = 0xA5, MOST_POSITIONS = 64, VALUES_BEHIND = 9 /* more than are validated at once */ };

/* ---- The obvious way ----------------------------------------------------------------------------------- */

static void store_value(const pfb_v2_values *bulk, size_t row, size_t n, const pfb_v2_value *value)
{
    size_t at = row * bulk->instance_step + n * bulk->position_step;
    bulk->values[at] = value->raw;
    if (bulk->sizes)
        bulk->sizes[at] = value->is_number ? (uint8_t)value->data_size_bytes : 0;
}

static void read_slowly(pfb_v2_reader *block, pfb_v2_values *bulk)
{
    pfb_v2_instance instance;
    pfb_v2_value value;
    bulk->instance_count = 0;
    bulk->last_value_count = 0;
    bulk->has_others = false;
    while (bulk->instance_count < bulk->instance_capacity && pfb_v2_next_instance(block, &instance)) {
        size_t row = bulk->instance_count++;
        if (bulk->instances)
            bulk->instances[row] = instance;
        bulk->last_value_count = 0;
        while (pfb_v2_next_value(block, &value)) {
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

/* Distance of values in a row or column. */
static size_t small_step(const bulk_plan *plan)
{
    return 1 + (size_t)plan->spare_inside;
}

/* Distance of rows or columns. */
static size_t large_step(const bulk_plan *plan, size_t columns)
{
    return small_step(plan) * (plan->as_columns ? plan->capacity : columns) + plan->spare_after;
}

/* Number of elements up to the last one that may be written: the padding after it must not be accessed. */
static size_t count_cells(const bulk_plan *plan, size_t columns)
{
    size_t lines = plan->as_columns ? columns : plan->capacity;
    size_t length = plan->as_columns ? plan->capacity : columns;
    return columns > 0 ? (lines - 1) * large_step(plan, columns) + (length - 1) * small_step(plan) + 1 : 0;
}

/* Makes the arguments of a call. */
static pfb_v2_values make_bulk(const bulk_plan *plan, const uint32_t *positions, uint32_t position_count,
                               size_t columns)
{
    size_t cells = count_cells(plan, columns);
    size_t small = small_step(plan);
    size_t large = large_step(plan, columns);
    return (pfb_v2_values){.values = fill_memory(cells, sizeof(uint64_t)),
                           .sizes = plan->with_sizes ? fill_memory(cells, 1) : NULL,
                           .instances =
                               plan->with_instances ? fill_memory(plan->capacity, sizeof(pfb_v2_instance)) : NULL,
                           .instance_capacity = plan->capacity,
                           .instance_step = plan->as_columns ? small : large,
                           .position_step = plan->as_columns ? large : small,
                           .positions = positions,
                           .position_count = position_count};
}

static void free_bulk(const pfb_v2_values *bulk)
{
    free(bulk->values);
    free(bulk->sizes);
    free(bulk->instances);
}

/* ---- Comparing ------------------------------------------------------------------------------------------- */

static bool is_same_instance(const pfb_v2_instance *a, const pfb_v2_instance *b)
{
    return a->offset == b->offset && a->instance == b->instance && a->id == b->id && a->name.bytes == b->name.bytes &&
           a->name.size_bytes == b->name.size_bytes && a->name.encoding == b->name.encoding;
}

static bool is_same_value(const pfb_v2_value *a, const pfb_v2_value *b)
{
    return a->offset == b->offset && a->data_offset == b->data_offset && a->data_size_bytes == b->data_size_bytes &&
           a->position == b->position && a->counter_id == b->counter_id && a->is_number == b->is_number &&
           a->raw == b->raw;
}

static const char *compare_verdicts(const pfb_v2_reader *fast, const pfb_v2_reader *slow)
{
    if (fast->error.code != slow->error.code || fast->error.offset != slow->error.offset)
        return "in bulk the verdict is the same";
    return fast->notes == slow->notes ? NULL : "in bulk the notes are the same";
}

/* Reads up to `count` remaining values of an instance. */
static const char *compare_values(pfb_v2_reader *fast, pfb_v2_reader *slow, uint32_t count)
{
    pfb_v2_value value;
    pfb_v2_value same;
    for (bool more = true; more && count > 0; count--) {
        more = pfb_v2_next_value(slow, &value);
        if (pfb_v2_next_value(fast, &same) != more || (more && !is_same_value(&value, &same)))
            return "after bulk reading the next value is the same";
    }
    return compare_verdicts(fast, slow);
}

/* Reads the next instance and up to `count` of its values. */
static const char *compare_next_instance(pfb_v2_reader *fast, pfb_v2_reader *slow, uint32_t count)
{
    pfb_v2_instance instance;
    pfb_v2_instance same;
    bool more = pfb_v2_next_instance(slow, &instance);
    if (pfb_v2_next_instance(fast, &same) != more || (more && !is_same_instance(&instance, &same)))
        return "after bulk reading the next instance is the same";
    return compare_values(fast, slow, count);
}

/* Reads the next result, which validates the rest of the current one. *more is set to whether there is one. */
static const char *compare_next_result(pfb_v2_reader *fast, pfb_v2_reader *slow, pfb_v2_result *result, bool *more)
{
    pfb_v2_result same;
    *more = pfb_v2_next_result(slow, result);
    if (pfb_v2_next_result(fast, &same) != *more)
        return "after bulk reading as many results come";
    if (*more && (same.offset != result->offset || same.index != result->index))
        return "after bulk reading the next result is the same";
    return compare_verdicts(fast, slow);
}

/* Checks that both readers have the same position and state, by reading on with copies, one by one. */
static const char *compare_places(pfb_v2_reader fast, pfb_v2_reader slow)
{
    pfb_v2_result result;
    bool more;
    const char *broken = compare_verdicts(&fast, &slow);
    if (!broken)
        broken = compare_values(&fast, &slow, 1); /* the last instance has no values left */
    if (!broken)
        broken = compare_next_instance(&fast, &slow, VALUES_BEHIND);
    return broken ? broken : compare_next_result(&fast, &slow, &result, &more);
}

static const char *compare_instances(const pfb_v2_values *fast, const pfb_v2_values *slow)
{
    size_t count = fast->instance_count;
    for (size_t i = 0; i < count; i++) {
        if (!is_same_instance(&fast->instances[i], &slow->instances[i]))
            return "in bulk the instances are the same";
    }
    size_t rest = (fast->instance_capacity - count) * sizeof *fast->instances;
    if (memcmp(fast->instances + count, slow->instances + count, rest) != 0)
        return "in bulk no other instance is written";
    return NULL;
}

static const char *compare_calls(const pfb_v2_values *fast, const pfb_v2_values *slow, size_t cells)
{
    if (fast->instance_count != slow->instance_count || fast->last_value_count != slow->last_value_count)
        return "in bulk as many instances and values come";
    if (fast->has_others != slow->has_others)
        return "in bulk it is reported whether all are numbers";
    if (memcmp(fast->values, slow->values, cells * sizeof *fast->values) != 0)
        return "in bulk the values are the same, and nothing else is written";
    if (fast->sizes && slow->sizes && memcmp(fast->sizes, slow->sizes, cells) != 0)
        return "in bulk the sizes are the same, and nothing else is written";
    return fast->instances && slow->instances ? compare_instances(fast, slow) : NULL;
}

/* Makes one call each way. *more is set to whether it returned anything. */
static const char *compare_call(pfb_v2_reader *fast, pfb_v2_reader *slow, const bulk_plan *plan,
                                const uint32_t *positions, uint32_t position_count, size_t columns, bool *more)
{
    const char *broken = plan->values_before > 0 ? compare_next_instance(fast, slow, plan->values_before) : NULL;
    if (broken)
        return broken;
    pfb_v2_values quick = make_bulk(plan, positions, position_count, columns);
    pfb_v2_values careful = make_bulk(plan, positions, position_count, columns);
    *more = pfb_v2_read_values(fast, &quick);
    read_slowly(slow, &careful);
    broken = compare_calls(&quick, &careful, count_cells(plan, columns));
    if (!broken && *more != (careful.instance_count > 0))
        broken = "it is reported when nothing came";
    free_bulk(&quick);
    free_bulk(&careful);
    return broken ? broken : compare_places(*fast, *slow);
}

static const char *compare_result(pfb_v2_reader *fast, pfb_v2_reader *slow, const bulk_plan *plan,
                                  const pfb_v2_result *result)
{
    uint32_t *positions = NULL;
    uint32_t position_count = 0;
    if (plan->position_step > 0) { /* one of them may be past the last value */
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
    pfb_v2_reader fast;
    pfb_v2_reader slow;
    pfb_v2_result result;
    pfb_v2_open(&fast, data, size, plan->options);
    pfb_v2_open(&slow, data, size, plan->options);
    bool more;
    const char *broken = compare_next_result(&fast, &slow, &result, &more);
    while (more && !broken) {
        broken = compare_result(&fast, &slow, plan, &result);
        if (!broken)
            broken = compare_next_result(&fast, &slow, &result, &more);
    }
    return broken;
}
