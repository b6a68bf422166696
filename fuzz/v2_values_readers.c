/* SPDX-License-Identifier: MIT */
#include "v2_values_readers.h"

#include "perfblock/v2.h"

#include <stdlib.h>
#include <string.h>

enum {
    FILL_BYTE = 0xA5, /* the value of every byte of the arrays before a call, to detect which elements are written */
    MAX_POSITIONS = 64,
    FOLLOWING_VALUES = 9 /* values to compare after a call */
};

/* ---- Reading value by value ---------------------------------------------------------------------------- */

static void store_value(const pfb_v2_values *arrays, size_t row, size_t n, const pfb_v2_value *value)
{
    size_t at = row * arrays->instance_step + n * arrays->position_step;
    arrays->values[at] = value->raw;
    if (arrays->sizes)
        arrays->sizes[at] = value->is_number ? (uint8_t)value->data_size_bytes : 0;
}

/* Reads value by value and stores the elements that pfb_v2_read_values must store. */
static void read_singly(pfb_v2_reader *reader, pfb_v2_values *arrays)
{
    pfb_v2_instance instance;
    pfb_v2_value value;
    arrays->instance_count = 0;
    arrays->last_value_count = 0;
    arrays->has_opaque = false;
    while (arrays->instance_count < arrays->instance_capacity && pfb_v2_next_instance(reader, &instance)) {
        size_t row = arrays->instance_count++;
        if (arrays->instances)
            arrays->instances[row] = instance;
        arrays->last_value_count = 0;
        while (pfb_v2_next_value(reader, &value)) {
            arrays->last_value_count++;
            arrays->has_opaque = arrays->has_opaque || !value.is_number;
            for (uint32_t n = 0; arrays->positions && n < arrays->position_count; n++) {
                if (arrays->positions[n] == value.position)
                    store_value(arrays, row, n, &value);
            }
            if (!arrays->positions)
                store_value(arrays, row, value.position, &value);
        }
    }
}

/* ---- Arrays ----------------------------------------------------------------------------------------------
 *
 * The arrays have exactly the required size, so that a sanitizer detects writes past the end. A line is a row or
 * column of bulk_plan: the values of an instance, or with as_columns those of a position. */

static void *make_array(size_t count, size_t element_bytes)
{
    size_t size = count * element_bytes;
    void *memory = malloc(size > 0 ? size : 1);
    if (!memory)
        abort();
    memset(memory, FILL_BYTE, size);
    return memory;
}

/* The number of elements from one value to the next in a line. */
static size_t value_step(const bulk_plan *plan)
{
    return 1 + (size_t)plan->spare_inside;
}

/* The number of elements from the start of one line to the next. */
static size_t line_step(const bulk_plan *plan, size_t columns)
{
    return value_step(plan) * (plan->as_columns ? plan->capacity : columns) + plan->spare_after;
}

/* The number of elements up to the last one that may be written. The padding after it must not be accessed. */
static size_t count_cells(const bulk_plan *plan, size_t columns)
{
    size_t lines = plan->as_columns ? columns : plan->capacity;
    size_t length = plan->as_columns ? plan->capacity : columns;
    return columns > 0 ? (lines - 1) * line_step(plan, columns) + (length - 1) * value_step(plan) + 1 : 0;
}

/* Allocates the arrays for a call. The caller frees them with free_arrays. */
static pfb_v2_values make_arrays(const bulk_plan *plan, const uint32_t *positions, uint32_t position_count,
                                 size_t columns)
{
    size_t cells = count_cells(plan, columns);
    return (pfb_v2_values){.values = make_array(cells, sizeof(uint64_t)),
                           .sizes = plan->with_sizes ? make_array(cells, 1) : NULL,
                           .instances =
                               plan->with_instances ? make_array(plan->capacity, sizeof(pfb_v2_instance)) : NULL,
                           .instance_capacity = plan->capacity,
                           .instance_step = plan->as_columns ? value_step(plan) : line_step(plan, columns),
                           .position_step = plan->as_columns ? line_step(plan, columns) : value_step(plan),
                           .positions = positions,
                           .position_count = position_count};
}

static void free_arrays(const pfb_v2_values *arrays)
{
    free(arrays->values);
    free(arrays->sizes);
    free(arrays->instances);
}

/* ---- Comparing -------------------------------------------------------------------------------------------
 *
 * `bulk` is the reader that is used with pfb_v2_read_values, `single` the one that is read value by value. Each
 * function returns a description of the first difference, or NULL if there is none. */

static bool is_same_instance(const pfb_v2_instance *a, const pfb_v2_instance *b)
{
    return a->offset == b->offset && a->instance == b->instance && a->id == b->id && a->name.bytes == b->name.bytes &&
           a->name.size_bytes == b->name.size_bytes && a->name.encoding == b->name.encoding;
}

static bool is_same_value(const pfb_v2_value *a, const pfb_v2_value *b)
{
    return a->offset == b->offset && a->data_size_bytes == b->data_size_bytes && a->position == b->position &&
           a->counter_id == b->counter_id && a->is_number == b->is_number && a->raw == b->raw;
}

static const char *compare_errors(const pfb_v2_reader *bulk, const pfb_v2_reader *single)
{
    if (bulk->error.code != single->error.code || bulk->error.offset != single->error.offset)
        return "the error of the bulk reader differs from that of the single reader";
    return bulk->notes == single->notes ? NULL : "the notes of the bulk reader differ from those of the single reader";
}

/* Reads up to `count` remaining values of an instance. */
static const char *compare_values(pfb_v2_reader *bulk, pfb_v2_reader *single, uint32_t count)
{
    pfb_v2_value value;
    pfb_v2_value bulk_value;
    for (bool more = true; more && count > 0; count--) {
        more = pfb_v2_next_value(single, &value);
        if (pfb_v2_next_value(bulk, &bulk_value) != more || (more && !is_same_value(&value, &bulk_value)))
            return "the next value of the bulk reader differs from that of the single reader";
    }
    return compare_errors(bulk, single);
}

/* Reads the next instance and up to `count` of its values. */
static const char *compare_next_instance(pfb_v2_reader *bulk, pfb_v2_reader *single, uint32_t count)
{
    pfb_v2_instance instance;
    pfb_v2_instance bulk_instance;
    bool more = pfb_v2_next_instance(single, &instance);
    if (pfb_v2_next_instance(bulk, &bulk_instance) != more || (more && !is_same_instance(&instance, &bulk_instance)))
        return "the next instance of the bulk reader differs from that of the single reader";
    return compare_values(bulk, single, count);
}

/* Reads the next result, which validates the rest of the current one. Sets *more to whether there is a next result. */
static const char *compare_next_result(pfb_v2_reader *bulk, pfb_v2_reader *single, pfb_v2_result *result, bool *more)
{
    pfb_v2_result bulk_result;
    *more = pfb_v2_next_result(single, result);
    if (pfb_v2_next_result(bulk, &bulk_result) != *more)
        return "only one of the two readers returns another result";
    if (*more && (bulk_result.offset != result->offset || bulk_result.index != result->index))
        return "the next result of the bulk reader differs from that of the single reader";
    return compare_errors(bulk, single);
}

/* Compares the positions and states of both readers: continues value by value with copies of them. */
static const char *compare_positions(pfb_v2_reader bulk, pfb_v2_reader single)
{
    pfb_v2_result result;
    bool more;
    const char *difference = compare_errors(&bulk, &single);
    if (!difference)
        difference = compare_values(&bulk, &single, 1); /* the last instance has no values left */
    if (!difference)
        difference = compare_next_instance(&bulk, &single, FOLLOWING_VALUES);
    return difference ? difference : compare_next_result(&bulk, &single, &result, &more);
}

static const char *compare_instances(const pfb_v2_values *bulk, const pfb_v2_values *single)
{
    size_t count = bulk->instance_count;
    for (size_t i = 0; i < count; i++) {
        if (!is_same_instance(&bulk->instances[i], &single->instances[i]))
            return "bulk reading stored an instance that differs from that of the single reader";
    }
    size_t rest = (bulk->instance_capacity - count) * sizeof *bulk->instances;
    if (memcmp(bulk->instances + count, single->instances + count, rest) != 0)
        return "bulk reading wrote an instance past the last one that it read";
    return NULL;
}

static const char *compare_calls(const pfb_v2_values *bulk, const pfb_v2_values *single, size_t cells)
{
    if (bulk->instance_count != single->instance_count || bulk->last_value_count != single->last_value_count)
        return "bulk reading returned a wrong instance_count or last_value_count";
    if (bulk->has_opaque != single->has_opaque)
        return "bulk reading returned a wrong has_opaque";
    if (memcmp(bulk->values, single->values, cells * sizeof *bulk->values) != 0)
        return "bulk reading stored a wrong value, or wrote an element that has no value";
    if (bulk->sizes && single->sizes && memcmp(bulk->sizes, single->sizes, cells) != 0)
        return "bulk reading stored a wrong size, or wrote an element that has no value";
    return bulk->instances && single->instances ? compare_instances(bulk, single) : NULL;
}

/* Reads up to the capacity of instances in bulk and value by value. Sets *more to the result of the bulk call. */
static const char *compare_call(pfb_v2_reader *bulk, pfb_v2_reader *single, const bulk_plan *plan,
                                const uint32_t *positions, uint32_t position_count, size_t columns, bool *more)
{
    const char *difference = plan->values_before > 0 ? compare_next_instance(bulk, single, plan->values_before) : NULL;
    if (difference)
        return difference;
    pfb_v2_values bulk_arrays = make_arrays(plan, positions, position_count, columns);
    pfb_v2_values single_arrays = make_arrays(plan, positions, position_count, columns);
    *more = pfb_v2_read_values(bulk, &bulk_arrays);
    read_singly(single, &single_arrays);
    difference = compare_calls(&bulk_arrays, &single_arrays, count_cells(plan, columns));
    if (!difference && *more != (single_arrays.instance_count > 0))
        difference = "the result of bulk reading does not match the number of instances that were read";
    free_arrays(&bulk_arrays);
    free_arrays(&single_arrays);
    return difference ? difference : compare_positions(*bulk, *single);
}

static const char *compare_result(pfb_v2_reader *bulk, pfb_v2_reader *single, const bulk_plan *plan,
                                  const pfb_v2_result *result)
{
    uint32_t *positions = NULL;
    uint32_t position_count = 0;
    if (plan->position_step > 0) { /* the last chosen position may be past the last value */
        positions = make_array(MAX_POSITIONS, sizeof *positions);
        uint32_t position = plan->first_position;
        for (; position_count < MAX_POSITIONS && position <= result->counter_count; position += plan->position_step)
            positions[position_count++] = position;
    }
    size_t columns = positions ? position_count : result->counter_count;
    const char *difference = NULL;
    bool more = true;
    while (more && !difference)
        difference = compare_call(bulk, single, plan, positions, position_count, columns, &more);
    free(positions);
    return difference;
}

const char *compare_bulk(const uint8_t *data, size_t size, const bulk_plan *plan)
{
    pfb_v2_reader bulk;
    pfb_v2_reader single;
    pfb_v2_result result;
    pfb_v2_open(&bulk, data, size, plan->options);
    pfb_v2_open(&single, data, size, plan->options);
    bool more;
    const char *difference = compare_next_result(&bulk, &single, &result, &more);
    while (more && !difference) {
        difference = compare_result(&bulk, &single, plan, &result);
        if (!difference)
            difference = compare_next_result(&bulk, &single, &result, &more);
    }
    return difference;
}
