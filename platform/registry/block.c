/* SPDX-License-Identifier: MIT */
#include "registry/block.h"

#include "source/source_private.h"

#include <stdlib.h>
#include <string.h>

/* ---- Headers -------------------------------------------------------------------------------------------- */

enum { TOTAL_AT = 20, COUNT_AT = 28, DEFAULT_AT = 32, OBJECT_TOTAL_AT = 0, PROCESSOR = 238 };

static void put32(uint8_t *at, uint32_t number, bool is_big_endian)
{
    for (unsigned i = 0; i < 4; i++)
        at[i] = (uint8_t)(number >> 8 * (is_big_endian ? 3 - i : i));
}

void pfb_registry_begin(pfb_writer *writer, const pfb_write_times *times, const char *machine, bool is_big_endian)
{
    pfb_name name = pfb_utf8_name(machine, strlen(machine));
    pfb_write_begin_v1(writer, times, &name, is_big_endian);
}

void pfb_registry_set_default(uint8_t *block, bool is_big_endian)
{
    put32(block + DEFAULT_AT, PROCESSOR, is_big_endian);
}

pfb_system_time pfb_registry_system_time(int64_t time)
{
    const int64_t millisecond = 10000;
    const int64_t day = 86400000;
    int64_t at = time > 0 ? time / millisecond : 0;
    int64_t days = at / day;
    uint32_t left = (uint32_t)(at % day);
    /* Counted from 1600-03-01, so that the leap day is the last one of a year, and of a cycle of 400 years. */
    int64_t shifted = days + 306;
    int64_t cycle = shifted / 146097;
    int64_t in_cycle = shifted % 146097;
    int64_t year = (in_cycle - in_cycle / 1460 + in_cycle / 36524 - in_cycle / 146096) / 365;
    int64_t in_year = in_cycle - (365 * year + year / 4 - year / 100);
    int64_t month = (5 * in_year + 2) / 153; /* 0: March */
    int64_t is_next = month >= 10;
    return (pfb_system_time){.year = (uint16_t)(1600 + 400 * cycle + year + is_next),
                             .month = (uint16_t)(month + 3 - 12 * is_next),
                             .day_of_week = (uint16_t)((days + 1) % 7),
                             .day = (uint16_t)(in_year - (153 * month + 2) / 5 + 1),
                             .hour = (uint16_t)(left / 3600000),
                             .minute = (uint16_t)(left / 60000 % 60),
                             .second = (uint16_t)(left / 1000 % 60),
                             .millisecond = (uint16_t)(left % 1000)};
}

/* ---- Objects of a sample -------------------------------------------------------------------------------- */

void pfb_registry_clear_block(registry_block *block)
{
    block->count = 0;
    block->bytes.size_bytes = 0;
}

void pfb_registry_free_block(registry_block *block)
{
    free(block->parts);
    pfb_bytes_free(&block->bytes);
}

/* Copies an object, whose size becomes a multiple of 8. Returns false when memory is exhausted. */
static bool add_part(registry_block *block, const uint8_t *data, const pfb_v1_object *object, uint32_t parent)
{
    static const uint8_t zeros[8];
    block_part *grown = pfb_source_grow(block->parts, &block->capacity, block->count + 1, sizeof *block->parts);
    if (!grown)
        return false;
    block->parts = grown;
    size_t at = block->bytes.size_bytes;
    size_t padding = (8 - object->size_bytes % 8) % 8;
    if (!pfb_bytes_append(&block->bytes, data + object->offset, object->size_bytes) ||
        !pfb_bytes_append(&block->bytes, zeros, padding))
        return false;
    size_t size = object->size_bytes + padding;
    put32(block->bytes.data + at + OBJECT_TOTAL_AT, (uint32_t)size, block->is_big_endian);
    block->parts[block->count++] =
        (block_part){.title = object->title_index, .parent = parent, .at = at, .size_bytes = size};
    return true;
}

bool pfb_registry_add_block(registry_block *block, const uint8_t *data, size_t size_bytes)
{
    pfb_v1_reader reader;
    pfb_v1_object object;
    pfb_v1_counter counter;
    pfb_v1_instance instance;
    if (!pfb_v1_open(&reader, data, size_bytes, NULL) ||
        (block->count > 0 && block->is_big_endian != reader.is_big_endian))
        return true;
    if (block->count == 0) {
        block->is_big_endian = reader.is_big_endian;
        block->times =
            (pfb_write_times){reader.perf_time, reader.perf_time_100ns, reader.perf_freq, reader.system_time};
    }
    while (pfb_v1_next_object(&reader, &object)) {
        uint32_t parent = 0;
        while (pfb_v1_next_counter(&reader, &counter))
            continue;
        while (pfb_v1_next_instance(&reader, &instance))
            parent = parent != 0 ? parent : instance.parent_title;
        bool fits = object.size_bytes <= REGISTRY_MAX_BLOCK - block->bytes.size_bytes;
        if (reader.object_error.code == PFB_OK && fits && !add_part(block, data, &object, parent))
            return false;
    }
    return true;
}

bool pfb_registry_has_object(const registry_block *block, const registry_value *value)
{
    bool found = value->kind == VALUE_GLOBAL;
    for (size_t i = 0; i < value->title_count && !found; i++)
        for (size_t part = 0; part < block->count && !found; part++)
            found = block->parts[part].title == value->titles[i];
    return found;
}

/* ---- Writing -------------------------------------------------------------------------------------------- */

/* Returns false when memory is exhausted. */
static bool write_part(const registry_block *block, block_part *part, pfb_bytes *out, uint32_t *count)
{
    part->is_written = true;
    ++*count;
    return pfb_bytes_append(out, block->bytes.data + part->at, part->size_bytes);
}

static bool write_title(registry_block *block, uint32_t title, pfb_bytes *out, uint32_t *count)
{
    bool has_memory = true;
    for (size_t i = 0; i < block->count && has_memory; i++)
        if (block->parts[i].title == title)
            has_memory = write_part(block, &block->parts[i], out, count);
    return has_memory;
}

static int compare_titles(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left;
    uint32_t b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

/* Writes the objects that have the parents of those that were written. Returns false when memory is exhausted. */
static bool write_parents(registry_block *block, pfb_bytes *out, uint32_t *count)
{
    uint32_t *parents = malloc((block->count + 1) * sizeof *parents);
    size_t parent_count = 0;
    bool has_memory = parents != NULL;
    for (size_t i = 0; has_memory && i < block->count; i++)
        if (block->parts[i].is_written && block->parts[i].parent != 0)
            parents[parent_count++] = block->parts[i].parent;
    if (parent_count > 0)
        qsort(parents, parent_count, sizeof *parents, compare_titles);
    for (size_t i = 0; has_memory && parent_count > 0 && i < block->count; i++) {
        block_part *part = &block->parts[i];
        if (!part->is_written && bsearch(&part->title, parents, parent_count, sizeof *parents, compare_titles))
            has_memory = write_part(block, part, out, count);
    }
    free(parents);
    return has_memory;
}

/* Writes the header. Returns false when memory is exhausted. */
static bool write_header(const registry_block *block, const char *machine, pfb_bytes *out)
{
    pfb_writer writer;
    pfb_write_init(&writer, NULL, 0);
    pfb_registry_begin(&writer, &block->times, machine, block->is_big_endian);
    out->size_bytes = 0;
    if (!pfb_bytes_reserve(out, writer.size_bytes))
        return false;
    out->size_bytes = writer.size_bytes;
    pfb_write_init(&writer, out->data, out->size_bytes);
    pfb_registry_begin(&writer, &block->times, machine, block->is_big_endian);
    pfb_write_end_v1(&writer);
    pfb_registry_set_default(out->data, block->is_big_endian);
    return true;
}

bool pfb_registry_write_block(registry_block *block, const registry_value *value, const char *machine, pfb_bytes *out)
{
    uint32_t count = 0;
    bool has_memory = write_header(block, machine, out);
    for (size_t i = 0; i < value->title_count && has_memory; i++)
        has_memory = write_title(block, value->titles[i], out, &count);
    for (size_t i = 0; i < block->count && has_memory && value->kind == VALUE_GLOBAL; i++)
        has_memory = write_part(block, &block->parts[i], out, &count);
    if (!has_memory || !write_parents(block, out, &count))
        return false;
    put32(out->data + TOTAL_AT, (uint32_t)out->size_bytes, block->is_big_endian);
    put32(out->data + COUNT_AT, count, block->is_big_endian);
    return true;
}
