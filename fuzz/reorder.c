/* SPDX-License-Identifier: MIT */
#include "reorder.h"

#include "perfblock/v2.h"

#include <string.h>

/* Results with more instances than this keep their order. */
enum { MAX_INSTANCES = 128 };

/* An instance and the bytes it takes. */
typedef struct span {
    size_t begin, end;
    uint32_t id;
    pfb_name name;
} span;

/* The instances of a result in their old order, and the new order: order[i] is the instance at position i. */
typedef struct instances {
    const uint8_t *data;
    uint32_t count;
    span spans[MAX_INSTANCES];
    uint32_t order[MAX_INSTANCES];
} instances;

/* ---- Reading ------------------------------------------------------------------------------------------- */

static uint32_t load32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* Returns the bytes of an instance: its header and all of its values. The size is the first field of the instance
 * header, and the second field of a value header. */
static span read_span(pfb_v2_reader *reader, const uint8_t *data, const pfb_v2_instance *instance)
{
    span s = {.begin = instance->offset, .id = instance->id, .name = instance->name};
    pfb_v2_value value;
    s.end = s.begin + load32(data + s.begin);
    while (pfb_v2_next_value(reader, &value))
        s.end = value.offset + load32(data + value.offset + 4);
    return s;
}

/* Reads the instances of the current result and stores the first MAX_INSTANCES that have a name. Returns the number of
 * all instances. */
static uint32_t read_instances(pfb_v2_reader *reader, const uint8_t *data, instances *list)
{
    pfb_v2_instance instance;
    uint32_t all = 0;
    list->data = data;
    list->count = 0;
    for (; pfb_v2_next_instance(reader, &instance); all++) {
        if (instance.name.bytes && list->count < MAX_INSTANCES)
            list->spans[list->count++] = read_span(reader, data, &instance);
    }
    return all;
}

/* ---- Order --------------------------------------------------------------------------------------------- */

static bool is_same(const instances *list, uint32_t a, uint32_t b)
{
    const span *left = &list->spans[a];
    const span *right = &list->spans[b];
    return left->id == right->id && pfb_name_equal(&left->name, &right->name);
}

/* Returns the next pseudo-random number (xorshift); *state is not 0. */
static uint32_t next_random(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

static void shuffle(instances *list, uint32_t seed)
{
    for (uint32_t i = 0; i < list->count; i++)
        list->order[i] = seed == 1 ? list->count - 1 - i : i;
    for (uint32_t i = list->count; seed > 1 && i > 1; i--) {
        uint32_t other = next_random(&seed) % i;
        uint32_t swap = list->order[i - 1];
        list->order[i - 1] = list->order[other];
        list->order[other] = swap;
    }
}

/* Restores the relative order of equal instances: sorts them within the positions that they have. */
static void keep_equal_in_order(instances *list)
{
    bool placed[MAX_INSTANCES] = {false};
    for (uint32_t position = 0; position < list->count; position++) {
        uint32_t first = 0;
        while (placed[first] || !is_same(list, first, list->order[position]))
            first++;
        placed[first] = true;
        list->order[position] = first;
    }
}

/* Writes the instances in their new order. In the input they are contiguous. */
static void write_instances(const instances *list, uint32_t first_row, uint8_t *out, uint32_t *moved_to)
{
    size_t at = list->count > 0 ? list->spans[0].begin : 0;
    for (uint32_t position = 0; position < list->count; position++) {
        const span *s = &list->spans[list->order[position]];
        memcpy(out + at, list->data + s->begin, s->end - s->begin);
        at += s->end - s->begin;
        moved_to[first_row + list->order[position]] = first_row + position;
    }
}

bool reorder_instances(const uint8_t *data, size_t size, const pfb_read_options *options, uint32_t seed, uint8_t *out,
                       uint32_t *moved_to)
{
    pfb_v2_reader reader;
    pfb_v2_result result;
    instances list;
    uint32_t row = 0;
    if (size > 0)
        memcpy(out, data, size);
    pfb_v2_open(&reader, data, size, options);
    while (pfb_v2_next_result(&reader, &result)) {
        uint32_t all = read_instances(&reader, data, &list);
        for (uint32_t i = 0; i < all; i++)
            moved_to[row + i] = row + i;
        if (reader.error.code == PFB_OK && all == list.count) {
            shuffle(&list, seed);
            keep_equal_in_order(&list);
            write_instances(&list, row, out, moved_to);
        }
        row += all;
    }
    return reader.error.code == PFB_OK;
}
