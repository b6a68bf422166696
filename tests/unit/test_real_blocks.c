/* SPDX-License-Identifier: MIT */
/* V1 blocks of a real machine: two samples of eight objects. */
#include "support_readers.h"
#include "support_real.h"
#include "support_v1.h"

#include <criterion/criterion.h>

#include "perfblock/sample.h"
#include "perfblock/v1.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Samples ----------------------------------------------------------------------------------------- */

static const unsigned objects[] = {2, 4, 230, 234, 236, 238, 510, 638};

enum { OBJECTS = sizeof objects / sizeof objects[0], ID_PROCESS = 784 };

typedef struct real_sample {
    real_file block;
    void *memory;
    pfb_sample table;
} real_sample;

/* Loads the object from sample number `tick`, 0 or 1. */
static real_sample load_sample(unsigned tick, unsigned object)
{
    char name[64];
    snprintf(name, sizeof name, "v1/pal-s%02u-obj%u.bin", tick, object);
    real_sample s = {.block = read_real(name)};
    pfb_sample_input input = {.data = s.block.data,
                              .data_size_bytes = s.block.size,
                              .options = STRICT,
                              .key_counter = object == 230 ? ID_PROCESS : 0};
    pfb_sample_counts counts;
    expect_error(pfb_sample_measure(&input, &counts), PFB_OK, 0, name);
    size_t size = pfb_sample_size(&counts);
    s.memory = malloc(size);
    cr_assert_not_null(s.memory);
    expect_error(pfb_sample_load(&s.table, &input, &counts, s.memory, size), PFB_OK, 0, name);
    pfb_sample_number_rows(&s.table);
    return s;
}

static void free_sample(real_sample *s)
{
    free(s->block.data);
    free(s->memory);
}

/* ---- The header -------------------------------------------------------------------------------------- */

static uint64_t field(const real_file *f, size_t at, size_t size)
{
    uint64_t value = 0;
    cr_assert(at + size <= f->size);
    for (size_t i = 0; i < size; i++)
        value |= (uint64_t)f->data[at + i] << 8 * i;
    return value;
}

/* A size or an offset. */
static size_t extent(const real_file *f, size_t at)
{
    return (size_t)field(f, at, 4);
}

/* Checks the fields at the offsets of winperf.h; the chain of objects must end with the block. */
static void check_block(unsigned tick, unsigned title)
{
    char name[64];
    snprintf(name, sizeof name, "v1/pal-s%02u-obj%u.bin", tick, title);
    real_file f = read_real(name);
    pfb_v1_reader block;
    pfb_v1_object object;
    pfb_v1_counter counter;
    cr_assert(pfb_v1_open(&block, f.data, f.size, STRICT), "%s", name);
    cr_expect_eq(block.total_size_bytes, field(&f, 20, 4), "%s", name);
    cr_expect(block.version == 1 && block.revision == 1 && !block.is_big_endian, "%s", name);
    cr_expect_eq((uint64_t)block.perf_time, field(&f, 56, 8), "%s", name);
    cr_expect_eq((uint64_t)block.perf_freq, field(&f, 64, 8), "%s", name);
    cr_expect_eq((uint64_t)block.perf_time_100ns, field(&f, 72, 8), "%s", name);
    cr_expect_eq(block.system_time.year, field(&f, 36, 2), "%s", name);
    cr_expect_eq(block.system_time.millisecond, field(&f, 50, 2), "%s", name);
    cr_expect_eq(block.system_name.bytes, f.data + field(&f, 84, 4), "%s", name);
    cr_expect_eq(block.system_name.size_bytes, field(&f, 80, 4) - 2, "%s: the length in the header includes the NUL",
                 name);
    size_t at = extent(&f, 24);
    bool is_found = false;
    while (pfb_v1_next_object(&block, &object)) {
        cr_expect_eq(object.offset, at, "%s", name);
        cr_expect_eq(object.title_index, field(&f, at + 12, 4), "%s", name);
        cr_expect_eq((uint32_t)object.instance_count, field(&f, at + 40, 4), "%s", name);
        cr_expect_eq(object.counter_count, field(&f, at + 32, 4), "%s", name);
        size_t definition = at + extent(&f, at + 8);
        while (pfb_v1_next_counter(&block, &counter)) {
            cr_expect_eq(counter.title_index, field(&f, definition + 4, 4), "%s", name);
            cr_expect_eq(counter.type, field(&f, definition + 28, 4), "%s", name);
            cr_expect_eq(counter.size_bytes, field(&f, definition + 32, 4), "%s", name);
            cr_expect_eq(counter.value_offset, field(&f, definition + 36, 4), "%s", name);
            definition += extent(&f, definition);
        }
        if (object.title_index == title)
            is_found = true;
        bool is_single = object.title_index == 2 || object.title_index == 4 || object.title_index == 638;
        cr_expect_eq(object.instance_count == PFB_V1_NO_INSTANCES, is_single, "%s", name);
        at += extent(&f, at);
    }
    cr_expect(is_found, "%s contains no object %u", name, title);
    cr_expect_eq(at, f.size, "%s", name);
    expect_error(finish_v1(&block), PFB_OK, 0, name);
    free(f.data);
}

Test(real_blocks, headers_and_definitions_are_read)
{
    skip_without_real("v1/expected-s00-s01.jsonl", "real blocks");
    for (unsigned tick = 0; tick < 2; tick++) {
        for (size_t i = 0; i < OBJECTS; i++)
            check_block(tick, objects[i]);
    }
}

/* ---- Every value ------------------------------------------------------------------------------------- */

/* One line of the expected values. */
typedef struct expectation {
    unsigned object, counter, position, type, occurrence;
    bool has_instance, has_base, has_value;
    char instance[128], status[32];
    uint64_t raw, base;
    double value;
} expectation;

/* Reads a string, in which these files have no escape sequences. Returns false for null. */
static bool read_string(const char *line, const char *key, char *out, size_t capacity)
{
    const char *at = find_key(line, key);
    if (*at != '"')
        return false;
    size_t length = strcspn(at + 1, "\"");
    cr_assert(length < capacity && !memchr(at + 1, '\\', length), "%s", line);
    memcpy(out, at + 1, length);
    out[length] = '\0';
    return true;
}

static bool read_number(const char *line, const char *key, uint64_t *out)
{
    const char *at = find_key(line, key);
    if (strncmp(at, "null", 4) == 0)
        return false;
    *out = strtoull(at, NULL, 10);
    return true;
}

static expectation parse_line(const char *line)
{
    expectation e = {.object = (unsigned)strtoul(find_key(line, "object"), NULL, 10)};
    e.counter = (unsigned)strtoul(find_key(line, "counter"), NULL, 10);
    e.position = (unsigned)strtoul(find_key(line, "pos"), NULL, 10);
    e.occurrence = (unsigned)strtoul(find_key(line, "occurrence"), NULL, 10);
    e.type = (unsigned)strtoul(find_key(line, "type") + 1, NULL, 16);
    e.has_instance = read_string(line, "instance", e.instance, sizeof e.instance);
    cr_assert(read_string(line, "status", e.status, sizeof e.status));
    e.has_base = read_number(line, "base", &e.base);
    cr_assert(read_number(line, "raw", &e.raw));
    e.has_value = strncmp(find_key(line, "value"), "null", 4) != 0;
    e.value = e.has_value ? strtod(find_key(line, "value"), NULL) : 0;
    return e;
}

static bool is_named(const pfb_sample_row *row, const expectation *e)
{
    if (row->has_name != e->has_instance || row->occurrence != e->occurrence)
        return false;
    bool is_same = !e->has_instance || row->name.size_bytes == 2 * strlen(e->instance);
    for (uint32_t i = 0; is_same && e->has_instance && i < row->name.size_bytes / 2; i++)
        is_same = row->name.bytes[2 * i] == (uint8_t)e->instance[i] && row->name.bytes[2 * i + 1] == 0;
    return is_same;
}

/* Returns the row of the expected object and instance; PFB_NONE if there is none. */
static uint32_t find_row(const pfb_sample *s, const expectation *e)
{
    for (uint32_t i = 0; i < s->counts.rows; i++) {
        if (s->results[s->rows[i].result].title_index == e->object && is_named(&s->rows[i], e))
            return i;
    }
    return PFB_NONE;
}

static void check_line(const char *line, const real_sample *older, const real_sample *newer)
{
    expectation e = parse_line(line);
    const pfb_sample *s = &newer->table;
    uint32_t row = find_row(s, &e);
    cr_assert_neq(row, PFB_NONE, "no row for %s", line);
    uint32_t column = s->results[s->rows[row].result].first_column + e.position;
    cr_assert_lt(column, s->counts.columns, "%s", line);
    cr_expect(s->columns[column].counter_id == e.counter && s->columns[column].counter.type == e.type, "%s", line);
    cr_expect_eq(pfb_sample_value_at(s, row, column).raw, e.raw, "%s", line);
    pfb_cook_inputs inputs;
    pfb_formula_result r = pfb_sample_cook_value(&older->table, s, row, column, NULL, &inputs);
    cr_expect_str_eq(pfb_status_name(r.status), e.status, "%s: %s", pfb_status_name(r.status), line);
    cr_expect_eq(r.status == PFB_STATUS_OK, e.has_value, "%s", line);
    if (e.has_value)
        cr_expect_leq(fabs(r.value - e.value), 1e-12 * fabs(e.value), "%.17g: %s", r.value, line);
    if (e.has_base) {
        cr_expect(inputs.newer.has & PFB_HAS_BASE, "no base: %s", line);
        cr_expect_eq(inputs.newer.base, e.base, "%s", line);
    }
}

Test(real_blocks, every_displayed_value_is_the_expected_one)
{
    skip_without_real("v1/expected-s00-s01.jsonl", "real blocks");
    real_sample samples[2][OBJECTS];
    uint64_t cells = 0;
    for (size_t i = 0; i < OBJECTS; i++) {
        samples[0][i] = load_sample(0, objects[i]);
        samples[1][i] = load_sample(1, objects[i]);
        pfb_sample_match(&samples[0][i].table, &samples[1][i].table, NULL, 0);
        for (uint32_t r = 0; r < samples[1][i].table.counts.results; r++) {
            const pfb_sample_result *result = &samples[1][i].table.results[r];
            cells += (uint64_t)result->row_count * result->column_count;
        }
    }
    FILE *stream = open_real("v1/expected-s00-s01.jsonl");
    char line[1024];
    size_t lines = 0;
    cr_assert(stream);
    for (; fgets(line, sizeof line, stream); lines++) {
        unsigned object = (unsigned)strtoul(find_key(line, "object"), NULL, 10);
        size_t i = 0;
        while (i < OBJECTS && objects[i] != object)
            i++;
        cr_assert_lt(i, OBJECTS, "%s", line);
        check_line(line, &samples[0][i], &samples[1][i]);
    }
    fclose(stream);
    cr_expect_gt(lines, 1000);
    cr_expect_eq(lines, cells, "%zu lines for %zu values", lines, cells);
    for (size_t i = 0; i < OBJECTS; i++) {
        free_sample(&samples[0][i]);
        free_sample(&samples[1][i]);
    }
}

/* ---- The name table ---------------------------------------------------------------------------------- */

Test(real_blocks, names_are_found_by_title_and_by_text)
{
    skip_without_real("v1/expected-s00-s01.jsonl", "real blocks");
    static const struct {
        uint32_t title;
        const char *name;
    } expected[] = {{2, "System"},        {4, "Memory"},      {230, "Process"},           {234, "PhysicalDisk"},
                    {236, "LogicalDisk"}, {238, "Processor"}, {510, "Network Interface"}, {638, "TCPv4"}};
    real_file f = read_real("v1/names-009.tsv");
    pfb_name_table table;
    cr_assert(pfb_name_table_open(&table, f.data, f.size, STRICT));
    pfb_name_table copy = table;
    uint32_t count = pfb_name_table_count(&copy);
    uint32_t lines = 0;
    for (size_t i = 0; i < f.size; i++)
        lines += f.data[i] == '\n';
    cr_expect_eq(count, lines + (f.data[f.size - 1] != '\n'));
    pfb_name_entry *entries = calloc(count, sizeof *entries);
    uint32_t *by_index = calloc(count, sizeof *by_index);
    uint32_t *by_name = calloc(count, sizeof *by_name);
    pfb_name_index index;
    cr_assert(entries && by_index && by_name);
    expect_error(pfb_name_index_build(&index, &table, entries, by_index, by_name, count), PFB_OK, 0, "the name index");
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        const pfb_name_entry *found = pfb_name_index_find(&index, expected[i].title);
        uint32_t first;
        size_t length = strlen(expected[i].name);
        cr_assert_not_null(found, "%s", expected[i].name);
        cr_expect(found->name.size_bytes == length && memcmp(found->name.bytes, expected[i].name, length) == 0, "%s",
                  expected[i].name);
        uint32_t equal = pfb_name_index_named(&index, UTF8_NAME(expected[i].name, length), &first);
        bool is_listed = false;
        for (uint32_t k = 0; k < equal; k++)
            is_listed = is_listed || entries[by_name[first + k]].index == expected[i].title;
        cr_expect(is_listed, "%s", expected[i].name);
    }
    free(f.data);
    free(entries);
    free(by_index);
    free(by_name);
}
