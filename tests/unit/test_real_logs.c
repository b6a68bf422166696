/* SPDX-License-Identifier: MIT */
/* Perfmon logs of real machines. */
#include <criterion/criterion.h>

#ifdef PERFBLOCK_READERS
#include "log_readers.h"
#include "pdh_text_readers.h"
#endif
#include "perfblock/pdh_text.h"
#include "perfblock/v1.h"
#include "support.h"
#include "support_log.h"
#include "support_readers.h"
#include "support_real.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Expected values ------------------------------------------------------------------------------------------- */

typedef struct expectation {
    unsigned long sample, occurrence, type, status;
    unsigned long long time, first, second;
    bool has_value;
    double value;
    char machine[64], object[64], counter[64], instance[64];
} expectation;

/* Reads a string. The only escape in it is a doubled backslash. */
static void read_string(const char *line, const char *key, char *out, size_t capacity)
{
    const char *at = find_key(line, key);
    size_t size = 0;
    cr_assert_eq(*at++, '"');
    for (; *at != '"'; at++) {
        at += *at == '\\';
        cr_assert(size + 1 < capacity, "%s", line);
        out[size++] = *at;
    }
    out[size] = '\0';
}

static expectation parse_line(const char *line)
{
    expectation e = {.sample = strtoul(find_key(line, "sample"), NULL, 10)};
    e.occurrence = strtoul(find_key(line, "occurrence"), NULL, 10);
    e.type = strtoul(find_key(line, "type") + 1, NULL, 16);
    e.status = strtoul(find_key(line, "status"), NULL, 10);
    e.time = strtoull(find_key(line, "time"), NULL, 10);
    e.first = strtoull(find_key(line, "first"), NULL, 10);
    e.second = strtoull(find_key(line, "second"), NULL, 10);
    e.has_value = strncmp(find_key(line, "value"), "null", 4) != 0;
    e.value = e.has_value ? strtod(find_key(line, "value"), NULL) : 0;
    read_string(line, "machine", e.machine, sizeof e.machine);
    read_string(line, "object", e.object, sizeof e.object);
    read_string(line, "counter", e.counter, sizeof e.counter);
    read_string(line, "instance", e.instance, sizeof e.instance);
    return e;
}

/* Compares a value with its line of expected values. Doubles are compared by their bits. */
static void check_value(const log_walk *walk, uint32_t position, const char *line)
{
    expectation e = parse_line(line);
    const pfb_log_value *value = &walk->samples[1].values[position];
    cr_assert_lt(value->path, walk->path_count);
    const pfb_log_path *path = &walk->paths[value->path];
    cr_assert_eq(e.sample, walk->sample_count - 1, "%s", line);
    cr_expect(has_text(&path->machine, e.machine) && has_text(&path->object, e.object) &&
                  has_text(&path->counter, e.counter) &&
                  has_text(value->has_instance ? &value->instance : &path->instance, e.instance),
              "%s", line);
    cr_expect(path->type == e.type && value->status == e.status && value->occurrence == e.occurrence, "%s", line);
    cr_expect(value->time == e.time && value->first == e.first && value->second == e.second, "%s", line);
    pfb_raw_value newer = pfb_log_raw_value(path, value);
    pfb_raw_value older = {0};
    if (value->older != PFB_LOG_NONE)
        older = pfb_log_raw_value(path, &walk->samples[0].values[value->older]);
    pfb_formula_result r = pfb_formula_evaluate(older.has ? &older : NULL, &newer, NULL);
    cr_expect_eq(r.status == PFB_STATUS_OK, e.has_value, "%s: %s", pfb_status_name(r.status), line);
    cr_expect(!e.has_value || memcmp(&r.value, &e.value, sizeof e.value) == 0, "%.17g: %s", r.value, line);
}

static void check_log(const char *name, const char *expected, size_t window)
{
    real_file f = read_real(name);
    FILE *lines = open_real(expected);
    cr_assert(lines, "%s is missing", expected);
    char line[1024];
    size_t count = 0;
    log_walk walk = walk_log(f.data, f.size, window, STRICT);
    expect_error(walk.reader.error, PFB_OK, 0, name);
    while (walk_next(&walk)) {
        if (walk.record.type != PFB_LOG_SAMPLE)
            continue;
        expect_error(walk.sample_error, PFB_OK, 0, name);
        for (uint32_t i = 0; i < walk.samples[1].count; i++, count++) {
            cr_assert(fgets(line, sizeof line, lines), "the log has more values than %s", expected);
            check_value(&walk, i, line);
        }
    }
    cr_expect_null(fgets(line, sizeof line, lines), "the log has fewer values than %s: %zu", expected, count);
    cr_expect_gt(count, 6000);
    expect_error(walk.reader.error, PFB_OK, 0, name);
    cr_expect(walk.reader.notes == 0 && walk.reader.skipped_events == 0);
    fclose(lines);
    walk_free(&walk);
    free(f.data);
}

Test(real_logs, all_values_of_counters_and_instances_are_read)
{
    skip_without_real("blg/win8-counters.blg", "real logs");
    check_log("blg/win8-counters.blg", "blg/win8-counters.expected.jsonl", SIZE_MAX);
}

Test(real_logs, all_values_of_many_machines_are_read)
{
    skip_without_real("blg/win8-counters.blg", "real logs");
    check_log("blg/many-machines.blg", "blg/many-machines.expected.jsonl", SIZE_MAX);
}

Test(real_logs, all_values_are_read_in_small_windows)
{
    skip_without_real("blg/win8-counters.blg", "real logs");
    check_log("blg/win8-counters.blg", "blg/win8-counters.expected.jsonl", 1);
    check_log("blg/many-machines.blg", "blg/many-machines.expected.jsonl", 100000);
}

/* The difference between local time and UTC is read from the header and computed from values. */
Test(real_logs, time_zones_are_read)
{
    skip_without_real("blg/win8-counters.blg", "real logs");
    static const struct {
        const char *name;
        int32_t header, standard, daylight, measured;
        uint32_t pointer_size, major, minor, buffers;
        const char *zone;
    } logs[] = {
        {"blg/win8-counters.blg", 480, 0, -60, 480, 8, 6, 2, 6, "@tzres.dll,-212"},
        {"blg/many-machines.blg", 180, 0, 0, 180, 4, 5, 2, 7, "SA Eastern Standard Time"},
    };
    for (size_t i = 0; i < sizeof logs / sizeof logs[0]; i++) {
        real_file f = read_real(logs[i].name);
        log_walk walk = walk_log(f.data, f.size, SIZE_MAX, NULL);
        cr_expect_eq(walk.reader.bias_minutes, logs[i].header, "%s", logs[i].name);
        cr_expect_eq(walk.reader.standard_bias_minutes, logs[i].standard, "%s", logs[i].name);
        cr_expect_eq(walk.reader.daylight_bias_minutes, logs[i].daylight, "%s", logs[i].name);
        cr_expect_eq(walk.reader.pointer_size, logs[i].pointer_size, "%s", logs[i].name);
        cr_expect(walk.reader.major == logs[i].major && walk.reader.minor == logs[i].minor, "%s", logs[i].name);
        cr_expect_eq(walk.reader.buffer_count, logs[i].buffers, "%s", logs[i].name);
        cr_expect(has_text(&walk.reader.standard_name, logs[i].zone), "%s", logs[i].name);
        size_t count = 0;
        while (walk_next(&walk)) {
            for (size_t k = 0; walk.record.type == PFB_LOG_SAMPLE && k < walk.samples[1].count; k++) {
                const pfb_log_value *value = &walk.samples[1].values[k];
                int32_t minutes = 0;
                if (!pfb_log_utc_bias(&walk.paths[value->path], value, &minutes))
                    continue;
                cr_expect_eq(minutes, logs[i].measured, "%s: %d", logs[i].name, (int)minutes);
                count++;
            }
        }
        cr_expect_gt(count, 0, "%s", logs[i].name);
        walk_free(&walk);
        free(f.data);
    }
}

/* ---- Whole objects --------------------------------------------------------------------------------------------- */

/* Checks a V1 block of one object. The names of the log have the titles of the object and its counters. The time zone
 * in the header of this log is 300 minutes, but the difference to UTC is 240 minutes. */
static void check_block(const pfb_log_item *item, const pfb_log_path *path, const pfb_name_index *names,
                        uint64_t record_time)
{
    pfb_v1_reader block;
    pfb_v1_object object;
    pfb_v1_counter counter;
    size_t objects = 0;
    int32_t minutes = 0;
    pfb_v1_open(&block, item->block, item->block_size_bytes, STRICT);
    cr_expect_eq(block.total_size_bytes, item->block_size_bytes);
    cr_expect(pfb_log_bias_between((uint64_t)block.perf_time_100ns, record_time, &minutes));
    cr_expect_eq(minutes, 240);
    while (pfb_v1_next_object(&block, &object)) {
        const pfb_name_entry *title = pfb_name_index_find(names, object.title_index);
        cr_assert_not_null(title);
        cr_expect(pfb_name_equal(&title->name, &path->object));
        while (pfb_v1_next_counter(&block, &counter)) {
            bool is_known = counter.title_index == 0 || pfb_name_index_find(names, counter.title_index);
            cr_expect(is_known, "counter %u has no name", counter.title_index);
        }
        objects++;
    }
    cr_expect_eq(objects, 1);
    expect_error(finish_v1(&block), PFB_OK, 0, "the V1 block of an object");
}

enum { MAX_NAMES = 20000 };

typedef struct table {
    uint8_t *bytes;
    size_t size;
    pfb_name_entry *entries;
    uint32_t *by_index, *by_name;
    pfb_name_index index;
} table;

/* Appends one piece of the name table. */
static void add_names(table *t, const log_walk *walk)
{
    pfb_log_names names;
    expect_error(pfb_log_read_names(walk->bytes, walk->bytes_size, &names), PFB_OK, 0, "a record of names");
    cr_expect(has_text(&names.machine, "\\\\ZACH-PC"));
    t->bytes = realloc(t->bytes, t->size + names.table_size_bytes);
    cr_assert_not_null(t->bytes);
    memcpy(t->bytes + t->size, walk->bytes + names.table_offset, names.table_size_bytes);
    t->size += names.table_size_bytes;
}

static void index_names(table *t)
{
    pfb_name_table reader;
    cr_assert(pfb_name_table_open(&reader, t->bytes, t->size, STRICT));
    t->entries = calloc(MAX_NAMES, sizeof *t->entries);
    t->by_index = calloc(MAX_NAMES, sizeof *t->by_index);
    t->by_name = calloc(MAX_NAMES, sizeof *t->by_name);
    cr_assert(t->entries && t->by_index && t->by_name);
    expect_error(pfb_name_index_build(&t->index, &reader, t->entries, t->by_index, t->by_name, MAX_NAMES), PFB_OK, 0,
                 "the index of the name table");
    cr_expect_gt(t->index.count, 1000);
}

/* The log has three whole samples of eight objects. The fourth sample is truncated by the end of the file. */
Test(real_logs, whole_objects_of_a_truncated_log_are_read)
{
    skip_without_real("blg/win8-counters.blg", "real logs");
    static const char *const objects[] = {"LogicalDisk",  "TCPv4",   "Memory",    "Network Interface",
                                          "PhysicalDisk", "Process", "Processor", "System"};
    real_file f = read_real("blg/vista-objects-cut.blg");
    table t = {0};
    size_t items = 0;
    log_walk walk = walk_log(f.data, f.size, SIZE_MAX, STRICT);
    while (walk_next(&walk)) {
        if (walk.record.type == PFB_LOG_NAMES)
            add_names(&t, &walk);
        if (walk.record.type == PFB_LOG_PATHS) {
            index_names(&t);
            cr_assert_eq(walk.path_count, 8);
            for (uint32_t i = 0; i < 8; i++) {
                cr_expect(has_text(&walk.paths[i].object, objects[i]));
                cr_expect_eq(walk.paths[i].flags, PFB_LOG_ALL_COUNTERS);
            }
        }
        if (walk.record.type != PFB_LOG_SAMPLE)
            continue;
        expect_error(walk.sample_error, PFB_OK, 0, "a sample of objects");
        cr_expect_eq(walk.samples[1].count, 0);
        pfb_log_sample_reader sample;
        pfb_log_item item;
        pfb_log_open_sample(&sample, walk.sample_bytes[1], walk.bytes_size, STRICT);
        while (pfb_log_next_item(&sample, &item)) {
            cr_assert(item.kind == PFB_LOG_OBJECT && item.position < walk.path_count);
            check_block(&item, &walk.paths[item.position], &t.index, walk.record.time);
            items++;
        }
        expect_error(sample.error, PFB_OK, 0, "a sample of objects");
    }
    cr_expect_eq(walk.sample_count, 3);
    cr_expect_eq(items, 24);
    expect_error(walk.reader.error, PFB_TRUNCATED_RECORD, f.size, "the truncated log");
    walk_free(&walk);
    free(t.bytes);
    free(t.entries);
    free(t.by_index);
    free(t.by_name);
    free(f.data);
}

/* ---- Text ------------------------------------------------------------------------------------------------------ */

/* Compares a row with its line, which is parsed with strtok, sscanf and strtod. */
static void check_row(char *line, const pfb_pdh_text_row *row, pfb_pdh_text_reader *text, const char *path)
{
    unsigned month, day, hour, minute;
    double second;
    pfb_pdh_text_value value;
    char *cell = strtok(line, "\",\n");
    cr_assert_eq(sscanf(cell, "%u/%u/2008 %u:%u:%lf", &month, &day, &hour, &minute, &second), 5, "%s", path);
    cr_assert(month == 5 && day == 29, "all rows are of May 29");
    double seconds = (hour * 60 + minute) * 60 + second;
    cr_expect_eq(row->time, UINT64_C(128564928000000000) + (uint64_t)(seconds * 1e4 + 0.5) * 1000, "%s", cell);
    for (uint32_t column = 0; column < text->column_count; column++) {
        cell = strtok(NULL, "\",\n");
        cr_assert(cell && pfb_pdh_text_next_value(text, &value));
        double expected = strtod(cell, NULL);
        cr_expect_eq(value.column, column);
        cr_expect_eq(value.has_value, strcmp(cell, " ") != 0);
        cr_expect(memcmp(&value.value, &expected, sizeof expected) == 0, "%s: %.17g", cell, value.value);
    }
    cr_expect(!pfb_pdh_text_next_value(text, &value));
}

Test(real_logs, a_text_log_with_the_extension_blg_is_read)
{
    skip_without_real("blg/win8-counters.blg", "real logs");
    real_file f = read_real("blg/text-named-blg.blg");
    FILE *lines = open_real("blg/text-named-blg.blg");
    pfb_pdh_text_reader text;
    pfb_pdh_text_path path;
    pfb_pdh_text_row row;
    char line[4096];
    size_t count = 0;
    cr_expect(!pfb_log_recognise(f.data, f.size) && pfb_pdh_text_recognise(f.data, f.size));
    cr_assert(lines && pfb_pdh_text_open(&text, f.data, f.size, true, STRICT));
    cr_expect(!text.has_version && text.has_bias && text.bias_minutes == 420);
    cr_expect(has_text(&text.zone_name, "Pacific Daylight Time"));
    cr_assert(text.column_count == 9 && pfb_pdh_text_next_path(&text, &path));
    cr_expect(has_text(&path.name, "\\\\CHANDSR-X86\\Processor(0)\\% Processor Time"));
    cr_assert(fgets(line, sizeof line, lines));
    for (; pfb_pdh_text_next_row(&text, &row); count++) {
        cr_assert(fgets(line, sizeof line, lines));
        check_row(line, &row, &text, "text-named-blg.blg");
    }
    cr_expect_null(fgets(line, sizeof line, lines));
    cr_expect_gt(count, 100);
    expect_error(text.error, PFB_OK, 0, "the text log");
    cr_expect_eq(text.notes, 0);
    fclose(lines);
    free(f.data);
}

/* ---- Sweeps ---------------------------------------------------------------------------------------------------- */

#ifdef PERFBLOCK_READERS

/* The first buffer of a log and, to change another buffer, the beginning of that one. */
typedef struct excerpt {
    guarded memory;
    uint8_t *data;
    size_t size;
} excerpt;

enum { BUFFER = 65536, EXCERPT = 16384, SWEPT = 1024, TEXT = 4096 };

static excerpt make_excerpt(const real_file *f, size_t buffer)
{
    excerpt e = {.size = buffer == 0 ? BUFFER : BUFFER + EXCERPT};
    e.memory = guarded_make(e.size);
    e.data = e.memory.end - e.size;
    memcpy(e.data, f->data, BUFFER);
    if (buffer != 0)
        memcpy(e.data + BUFFER, f->data + buffer * BUFFER, EXCERPT);
    return e;
}

static void check_excerpt(const excerpt *e, size_t size, const char *change, size_t at)
{
    reading result = read_log(e->memory.end - size, size, NULL);
    cr_assert_null(result.broken, "%s at %zu: broken guarantee: %s", change, at, result.broken);
    cr_assert_leq(result.error.offset, size);
}

/* Flips bits and changes fields of the first SWEPT bytes of a buffer, and reads prefixes. Only every SWEEP_STEPth
 * change of the first two kinds is read. */
static void sweep_buffer(const char *name, size_t buffer)
{
    static const uint32_t values[] = {0,  1,  7,  8,  23,         24,         31,         32,         47,        48,
                                      51, 52, 71, 72, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFC, 0xFFFFFFFE, 0xFFFFFFFF};
    real_file f = read_real(name);
    cr_assert_geq(f.size, (buffer + 1) * BUFFER);
    excerpt e = make_excerpt(&f, buffer);
    uint8_t *swept = e.data + (buffer == 0 ? 0 : BUFFER);
    check_excerpt(&e, e.size, "no change", 0);
    for (size_t bit = 0; bit < 8 * SWEPT; bit += SWEEP_STEP) {
        swept[bit / 8] ^= (uint8_t)(1u << bit % 8);
        check_excerpt(&e, e.size, "a flipped bit", bit);
        swept[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    for (size_t at = 0; at < SWEPT; at += 4 * SWEEP_STEP) {
        uint8_t old[4];
        memcpy(old, swept + at, 4);
        for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
            for (unsigned k = 0; k < 4; k++)
                swept[at + k] = (uint8_t)(values[i] >> 8 * k);
            check_excerpt(&e, e.size, "a changed field", at);
        }
        memcpy(swept + at, old, 4);
    }
    /* Checks prefixes: each is moved to the end of the guarded memory. */
    for (size_t size = e.size; size > e.size - SWEPT; size--) {
        memmove(e.memory.end - (size - 1), e.memory.end - size, size - 1);
        check_excerpt(&e, size - 1, "a truncation", size - 1);
    }
    guarded_free(&e.memory);
    free(f.data);
}

Test(real_logs, a_changed_first_buffer_breaks_no_guarantee)
{
    skip_without_real("blg/win8-counters.blg", "real logs");
    sweep_buffer("blg/win8-counters.blg", 0);
}

Test(real_logs, changed_paths_break_no_guarantee)
{
    skip_without_real("blg/win8-counters.blg", "real logs");
    sweep_buffer("blg/win8-counters.blg", 1);
}

/* A log that 32-bit Windows wrote. */
Test(real_logs, a_changed_first_buffer_of_32_bits_breaks_no_guarantee)
{
    skip_without_real("blg/win8-counters.blg", "real logs");
    sweep_buffer("blg/many-machines.blg", 0);
}

Test(real_logs, changed_paths_of_32_bits_break_no_guarantee)
{
    skip_without_real("blg/win8-counters.blg", "real logs");
    sweep_buffer("blg/many-machines.blg", 1);
}

Test(real_logs, changed_names_break_no_guarantee)
{
    skip_without_real("blg/win8-counters.blg", "real logs");
    sweep_buffer("blg/vista-objects-cut.blg", 1);
}

Test(real_logs, a_changed_part_of_a_sample_breaks_no_guarantee)
{
    skip_without_real("blg/win8-counters.blg", "real logs");
    sweep_buffer("blg/vista-objects-cut.blg", 3);
}

/* Reads prefixes of the beginning of the text log, and flips its bits. */
Test(real_logs, changed_text_breaks_no_guarantee)
{
    skip_without_real("blg/win8-counters.blg", "real logs");
    real_file f = read_real("blg/text-named-blg.blg");
    guarded memory = guarded_make(TEXT);
    cr_assert_geq(f.size, TEXT);
    for (size_t size = 0; size <= TEXT; size++) {
        memcpy(memory.end - size, f.data, size);
        reading result = read_pdh_text(memory.end - size, size, NULL);
        cr_assert(!result.broken && result.error.offset <= size, "%zu bytes: %s", size, result.broken);
    }
    for (size_t bit = 0; bit < 8 * TEXT; bit += SWEEP_STEP) {
        uint8_t *byte = memory.end - TEXT + bit / 8;
        *byte ^= (uint8_t)(1u << bit % 8);
        reading result = read_pdh_text(memory.end - TEXT, TEXT, NULL);
        cr_assert(!result.broken && result.error.offset <= TEXT, "bit %zu: %s", bit, result.broken);
        *byte ^= (uint8_t)(1u << bit % 8);
    }
    guarded_free(&memory);
    free(f.data);
}

#endif
