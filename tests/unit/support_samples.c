/* SPDX-License-Identifier: MIT */
#include "support_samples.h"

#include "support.h"
#include "support_formula.h"

#include <criterion/criterion.h>

#include <stdlib.h>
#include <string.h>

static void *allocate(size_t size)
{
    void *memory = malloc(size);
    cr_assert(memory || size == 0, "out of memory");
    return memory;
}

/* Converts ASCII to UTF-16LE. Returns the number of units. */
static size_t widen(const char *name, uint8_t utf16[512])
{
    size_t units = strlen(name);
    cr_assert_leq(units, 256);
    for (size_t i = 0; i < units; i++) {
        utf16[2 * i] = (uint8_t)name[i];
        utf16[2 * i + 1] = 0;
    }
    return units;
}

/* ---- Building samples ---------------------------------------------------------------------------------- */

sample *sample_new_large(int64_t tick, size_t capacity)
{
    sample *s = allocate(sizeof *s);
    *s = (sample){.input = {.options = 0}};
    pfb_write_init(&s->data, allocate(capacity), capacity);
    pfb_write_init(&s->info, allocate(SAMPLE_BYTES), SAMPLE_BYTES);
    pfb_write_times times = {.perf_time = 1000 * tick,
                             .perf_time_100ns = 10000000 * tick,
                             .perf_freq = 1000,
                             .system_time = {2024, 5, 3, 15, 12, 30, 45, 678}};
    pfb_write_begin_v2(&s->data, &times);
    return s;
}

sample *sample_new(int64_t tick)
{
    return sample_new_large(tick, SAMPLE_BYTES);
}

void sample_free(sample *s)
{
    for (uint32_t i = 0; i < s->registration_count; i++)
        free(s->registration_bytes[i]);
    free(s->data.data);
    free(s->info.data);
    free(s->memory);
    free(s);
}

void sample_free_both(sample *older, sample *newer)
{
    sample_free(older);
    sample_free(newer);
}

pfb_guid set_guid(unsigned set)
{
    pfb_guid guid;
    memset(guid.bytes, (int)(set & 0xFF), sizeof guid.bytes);
    guid.bytes[sizeof guid.bytes - 1] ^= (uint8_t)(set >> 8);
    return guid;
}

pfb_counter counter_without_references(uint32_t id, uint32_t type)
{
    return (pfb_counter){.id = id,
                         .type = type,
                         .detail_level = 100,
                         .base_id = PFB_NO_ID,
                         .perf_time_id = PFB_NO_ID,
                         .perf_freq_id = PFB_NO_ID,
                         .multi_id = PFB_NO_ID};
}

void sample_register(sample *s, unsigned set, const pfb_counter *counters, uint32_t count)
{
    cr_assert_lt(s->registration_count, SAMPLE_REGISTRATIONS);
    size_t size = 32 + (size_t)48 * count;
    uint8_t *data = allocate(size);
    pfb_guid guid = set_guid(set);
    pfb_writer writer;
    pfb_write_init(&writer, data, size);
    pfb_write_counterset(&writer, &guid, 100, PFB_INSTANCES_MULTIPLE, count);
    for (uint32_t i = 0; i < count; i++)
        pfb_write_counter(&writer, &counters[i]);
    s->registration_bytes[s->registration_count] = data;
    cr_assert(pfb_registration_open(&s->registrations[s->registration_count++], data, size, STRICT));
}

void sample_query(sample *s, unsigned set, uint32_t counter_id, uint32_t instance_id, const char *name, uint32_t index)
{
    uint8_t utf16[512];
    pfb_query query = {
        .counterset = set_guid(set), .counter_id = counter_id, .instance_id = instance_id, .index = index};
    if (name)
        query.name = pfb_utf16_name(utf16, widen(name, utf16));
    pfb_write_identifier(&s->info, &query);
}

void sample_result(sample *s, uint32_t kind, const uint32_t *ids, uint32_t count)
{
    if (s->in_result)
        pfb_write_end_result(&s->data);
    s->in_result = true;
    pfb_write_begin_result(&s->data, kind, kind == PFB_V2_ERROR ? 0x1069 : 0, ids, count);
}

void sample_row(sample *s, uint32_t id, const char *name)
{
    uint8_t utf16[512];
    pfb_write_instance(&s->data, id, UTF16_NAME(utf16, widen(name, utf16)));
}

void sample_value(sample *s, uint64_t raw, uint32_t size)
{
    if (size == 4 || size == 8)
        pfb_write_value(&s->data, raw, size);
    else
        pfb_write_datum(&s->data, NOT_A_NUMBER, size);
}

sample *sample_of_set(unsigned set, int64_t tick, const pfb_counter *counters, uint32_t count, const uint32_t *ids,
                      uint32_t id_count)
{
    sample *s = sample_new(tick);
    sample_register(s, set, counters, count);
    sample_query(s, set, PFB_NO_ID, PFB_NO_ID, "*", 0);
    sample_result(s, PFB_V2_COUNTERSET, ids, id_count);
    sample_row(s, 1, "a");
    return s;
}

/* ---- Loading ------------------------------------------------------------------------------------------- */

void sample_end(sample *s)
{
    if (s->is_ended)
        return;
    if (s->in_result)
        pfb_write_end_result(&s->data);
    pfb_write_end_v2(&s->data);
    cr_assert_eq(s->data.error.code, PFB_OK);
    cr_assert_eq(s->info.error.code, PFB_OK);
    s->is_ended = true;
    s->input.data = s->data.data;
    s->input.data_size_bytes = s->data.size_bytes;
    s->input.query_info = s->info.data;
    s->input.query_info_size_bytes = s->info.size_bytes;
    s->input.registrations = s->registrations;
    s->input.registration_count = s->registration_count;
}

void sample_measure(sample *s)
{
    sample_end(s);
    s->measured = pfb_sample_measure(&s->input, &s->counts);
    s->memory_size = pfb_sample_size(&s->counts);
    free(s->memory);
    s->memory = allocate(s->memory_size);
}

void sample_load(sample *s)
{
    sample_measure(s);
    memset(s->memory, 0xA5, s->memory_size);
    s->loaded = pfb_sample_load(&s->table, &s->input, &s->counts, s->memory, s->memory_size);
    const pfb_sample_counts *n = &s->table.counts;
    cr_assert(n->results <= s->counts.results && n->columns <= s->counts.columns && n->rows <= s->counts.rows &&
              n->values <= s->counts.values);
    if (s->loaded.code == PFB_OK)
        cr_assert(s->measured.code == PFB_OK && memcmp(n, &s->counts, sizeof *n) == 0);
}

uint32_t row_named(const sample *s, uint32_t result, const char *name)
{
    uint8_t utf16[512];
    size_t units = widen(name, utf16);
    const pfb_sample_result *r = &s->table.results[result];
    for (uint32_t row = r->first_row; row < r->first_row + r->row_count; row++) {
        const pfb_sample_row *candidate = &s->table.rows[row];
        if (candidate->has_name && candidate->name.size_bytes == 2 * units &&
            memcmp(candidate->name.bytes, utf16, 2 * units) == 0)
            return row;
    }
    return PFB_NONE;
}

uint32_t column_of(const sample *s, uint32_t result, uint32_t counter_id)
{
    const pfb_sample_result *r = &s->table.results[result];
    for (uint32_t column = r->first_column; column < r->first_column + r->column_count; column++) {
        if (s->table.columns[column].counter_id == counter_id)
            return column;
    }
    return PFB_NONE;
}

sample *sample_of_instances(unsigned set, int64_t tick, uint32_t type, const instance *list)
{
    sample *s = sample_new(tick);
    pfb_counter counter = counter_without_references(1, type);
    sample_register(s, set, &counter, 1);
    sample_query(s, set, 1, PFB_NO_ID, "*", 0);
    sample_result(s, PFB_V2_MULTIPLE_INSTANCES, NULL, 0);
    for (uint32_t i = 0; list[i].name; i++) {
        sample_row(s, list[i].id, list[i].name);
        sample_value(s, (uint64_t)tick * 100 + i, 4);
    }
    sample_load(s);
    return s;
}

uint32_t matching_row(const instance *older, const instance *newer, uint32_t n)
{
    uint32_t rank = 0;
    for (uint32_t i = 0; i < n; i++)
        rank += newer[i].id == newer[n].id && strcmp(newer[i].name, newer[n].name) == 0;
    for (uint32_t i = 0; older[i].name; i++) {
        bool same = older[i].id == newer[n].id && strcmp(older[i].name, newer[n].name) == 0;
        if (same && rank-- == 0)
            return i;
    }
    return PFB_NONE;
}

/* ---- Results --------------------------------------------------------------------------------------------- */

uint64_t value_count(const pfb_sample *table)
{
    uint64_t count = 0;
    for (uint32_t r = 0; r < table->counts.results; r++)
        count += (uint64_t)table->results[r].row_count * table->results[r].column_count;
    return count;
}

displayed displayed_of(const pfb_sample *older, const pfb_sample *newer, const pfb_formula_options *options)
{
    size_t count = (size_t)newer->counts.values;
    displayed all = {malloc(count * sizeof *all.values + 1), malloc(count + 1)};
    memset(all.values, 0xA5, count * sizeof *all.values);
    memset(all.status_bytes, 0xA5, count);
    cr_assert(pfb_sample_cook(older, newer, NULL, 0, options, all.values, all.status_bytes, count));
    return all;
}

void displayed_free(displayed all)
{
    free(all.values);
    free(all.status_bytes);
}

unsigned expect_displayed(const pfb_sample *older, const pfb_sample *newer, const pfb_formula_options *options,
                          displayed all)
{
    unsigned ok = 0;
    for (uint32_t row = 0; row < newer->counts.rows; row++) {
        const pfb_sample_result *result = &newer->results[newer->rows[row].result];
        for (uint32_t column = result->first_column; column < result->first_column + result->column_count; column++) {
            size_t place = pfb_sample_place(newer, row, column);
            pfb_formula_result alone = pfb_sample_cook_value(older, newer, row, column, options, NULL);
            cr_assert(same_packed(all.values[place], all.status_bytes[place], &alone),
                      "row %u, column %u: status byte %02X and value %a, evaluated alone %s and %a", row, column,
                      all.status_bytes[place], all.values[place], pfb_status_name(alone.status), alone.value);
            ok += alone.status == PFB_STATUS_OK;
        }
    }
    return ok;
}
