/* SPDX-License-Identifier: MIT */
/* Samples of V1 blocks, and the evaluation of their values. */
#include "support_faults.h"
#include "support_readers.h"
#include "support_v1.h"

#include <criterion/criterion.h>

#include "perfblock/sample.h"
#include "sample/sample_v1.h"

#include <stdlib.h>
#include <string.h>

/* ---- Samples ----------------------------------------------------------------------------------------- */

/* A V1 block and its sample, which is in guarded memory. */
typedef struct v1 {
    uint8_t block[1 << 14];
    pfb_writer b;
    pfb_sample_input input;
    pfb_sample_counts counts;
    pfb_error measured, loaded;
    guarded memory;
    pfb_sample table;
} v1;

/* Makes a sample whose block is not begun. */
static v1 *v1_empty(void)
{
    v1 *s = calloc(1, sizeof *s);
    cr_assert_not_null(s);
    pfb_write_init(&s->b, s->block, sizeof s->block);
    return s;
}

/* Makes a sample and begins its block, which is taken `tick` seconds after the clocks started. */
static v1 *v1_new(int64_t tick)
{
    v1 *s = v1_empty();
    pfb_write_times times = v1_times(tick);
    pfb_write_begin_v1(&s->b, &times, NULL, false);
    return s;
}

/* Loads a sample into aligned memory that ends less than 16 bytes before an inaccessible page. */
static void load_bytes(v1 *s, const uint8_t *data, size_t size)
{
    s->input.data = data;
    s->input.data_size_bytes = size;
    s->measured = pfb_sample_measure(&s->input, &s->counts);
    size_t needed = pfb_sample_size(&s->counts);
    s->memory = guarded_make(needed);
    s->loaded = pfb_sample_load(&s->table, &s->input, &s->counts, s->memory.end - (needed + 15) / 16 * 16, needed);
}

static void v1_load(v1 *s)
{
    pfb_write_end_v1(&s->b);
    cr_assert_eq(s->b.error.code, PFB_OK, "%s", pfb_code_name(s->b.error.code));
    load_bytes(s, s->block, s->b.size_bytes);
    expect_error(s->measured, PFB_OK, 0, "the error of measuring");
    expect_error(s->loaded, PFB_OK, 0, "the error of loading");
    cr_expect_eq(memcmp(&s->counts, &s->table.counts, sizeof s->counts), 0,
                 "the loaded counts equal the measured counts");
}

static void v1_free(v1 *s)
{
    guarded_free(&s->memory);
    free(s);
}

static void expect_value(pfb_formula_result r, double value, const char *what)
{
    cr_expect_eq(r.status, PFB_STATUS_OK, "%s: %s", what, pfb_status_name(r.status));
    cr_expect_eq(memcmp(&r.value, &value, sizeof value), 0, "%s: %.17g instead of %.17g", what, r.value, value);
}

static void expect_status(pfb_formula_result r, pfb_status status, const char *what)
{
    cr_expect_eq(r.status, status, "%s: %s instead of %s", what, pfb_status_name(r.status), pfb_status_name(status));
}

/* ---- The table --------------------------------------------------------------------------------------- */

static void check_rows(const pfb_sample *s, const uint8_t *data, bool big)
{
    static const char *const names[] = {"a\0", "b\0", NULL, "\xE9x"};
    static const char *const swapped[] = {"\0a", "\0b", NULL, "\xE9x"};
    static const uint32_t results[] = {0, 0, 1, 4};
    uint32_t wide = big ? PFB_ENCODING_UTF16BE : PFB_ENCODING_UTF16LE;
    for (size_t i = 0; i < 4; i++) {
        const pfb_sample_row *row = &s->rows[i];
        cr_expect_eq(row->result, results[i], "row %zu", i);
        cr_expect_eq(row->has_name, names[i] != NULL, "row %zu", i);
        cr_expect_eq(row->is_unique, i == 1, "row %zu", i);
        cr_expect_eq(row->id, i == 1 ? 7 : PFB_NO_ID, "row %zu", i);
        if (names[i])
            cr_expect_eq(memcmp(row->name.bytes, big ? swapped[i] : names[i], 2), 0, "row %zu", i);
        cr_expect_eq(row->name.size_bytes, i == 2 ? 0 : 2, "row %zu", i);
        cr_expect(i == 2 || row->name.encoding == (i == 3 ? 1252 : wide), "row %zu", i);
        cr_expect(i == 3 || (row->parent.bytes == NULL && row->parent.size_bytes == 0), "row %zu", i);
    }
    cr_expect_eq(s->rows[3].parent.bytes, data + INSTANCE_B + 24, "the parent of the last row");
    cr_expect(s->rows[3].parent.size_bytes == 2 && s->rows[3].parent.encoding == wide);
}

Test(sample_v1, every_part_of_a_block_is_loaded)
{
    for (int big = 0; big < 2; big++) {
        v1 *s = v1_empty();
        v1_everything(&s->b, big);
        load_bytes(s, s->block, s->b.size_bytes);
        expect_error(s->loaded, PFB_OK, 0, "the error of loading");
        const pfb_sample *t = &s->table;
        cr_assert(t->counts.results == 5 && t->counts.columns == 8 && t->counts.rows == 4);
        cr_expect_eq(memcmp(&s->counts, &t->counts, sizeof s->counts), 0);
        cr_expect(t->perf_time == -2 && t->perf_freq == INT64_MAX && t->system_time.year == 2024);
        for (uint32_t r = 0; r < 5; r++) {
            cr_expect(t->results[r].kind == PFB_V1_OBJECT && t->results[r].title_index == 100 * (r + 1));
            cr_expect(t->results[r].has_query && t->results[r].counter_id == PFB_NO_ID);
            uint32_t utf16 = big ? PFB_ENCODING_UTF16BE : PFB_ENCODING_UTF16LE;
            cr_expect_eq(t->results[r].code_page, r == 4 ? 1252 : utf16);
            cr_expect_eq(t->results[r].help_index, r == 4 ? 0 : 100 * (r + 1) + 1);
            cr_expect_eq(t->results[r].detail_level, r == 4 ? 0 : r == 0 ? 200 : 100);
            cr_expect_eq(t->results[r].default_column, PFB_NONE); /* 102 in the first object, which has 4 counters */
        }
        cr_expect(t->columns[1].help_index == 105 && t->columns[1].counter.detail_level == 200);
        cr_expect_eq(t->results[0].object_time, -5);
        cr_expect_eq(t->results[0].object_freq, INT64_C(0x0102030405060708));
        cr_expect(t->columns[1].has_counter && t->columns[1].counter.type == AVERAGE_BULK);
        cr_expect(t->columns[1].counter_id == 104 && t->columns[1].base_column == 2);
        cr_expect(t->columns[0].base_column == PFB_NONE && t->columns[2].base_column == PFB_NONE);
        cr_expect_eq(t->columns[1].counter.default_scale, -2);
        cr_expect_eq(pfb_sample_value_at(t, 0, 1).raw, UINT64_C(0x2122232425262728));
        pfb_sample_value label = pfb_sample_value_at(t, 0, 3);
        cr_expect(label.exists && !label.is_number && label.size_bytes == 0 && label.offset >= BLOCK_A &&
                  label.offset < INSTANCE_B);
        cr_expect_eq(pfb_sample_value_at(t, 3, 7).raw, 0x61626364, "the value of the last row");
        check_rows(t, s->block, big);
        v1_free(s);
    }
}

/* DefaultCounter is a position among the counters of the object. */
Test(sample_v1, the_default_counter_is_a_column)
{
    static const struct {
        int32_t position;
        uint32_t column;
    } rows[] = {{-1, PFB_NONE}, {0, 1}, {1, 2}, {2, PFB_NONE}, {INT32_MIN, PFB_NONE}, {INT32_MAX, PFB_NONE}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        v1 *s = v1_new(1);
        pfb_v1_object object = {
            .title_index = 2, .default_counter = rows[i].position, .instance_count = PFB_V1_METADATA_NO_INSTANCES};
        v1_object(&s->b, 1, PFB_V1_METADATA_NO_INSTANCES);
        v1_counter(&s->b, 4, COUNTER, 4, 0);
        pfb_write_end_object(&s->b);
        pfb_write_begin_object(&s->b, &object);
        v1_counter(&s->b, 6, COUNTER, 4, 0);
        v1_counter(&s->b, 8, COUNTER, 4, 0);
        pfb_write_end_object(&s->b);
        v1_load(s);
        cr_expect_eq(s->table.results[0].default_column, PFB_NONE);
        cr_expect_eq(s->table.results[1].default_column, rows[i].column, "position %d", rows[i].position);
        v1_free(s);
    }
}

Test(sample_v1, blocks_are_recognised_by_their_signature)
{
    cr_expect(pfb_v1_recognise("P\0E\0R\0F", 8));
    cr_expect(pfb_v1_recognise("\0P\0E\0R\0F", 8));
    cr_expect_not(pfb_v1_recognise("P\0E\0R\0F", 7));
    cr_expect_not(pfb_v1_recognise("P\0E\0R\0G", 8));
    cr_expect_not(pfb_v1_recognise("P\0E\0\0R\0F", 8), "a signature of mixed byte orders");
    cr_expect_not(pfb_v1_recognise(NULL, 8));
}

/* Blocks with each fault, and too little memory. The loaded counts never exceed the measured counts. */
Test(sample_v1, malformed_blocks_are_loaded_up_to_the_error)
{
    for (int fault = PFB_FAULT_NONE; fault < PFB_FAULT_COUNT; fault++) {
        v1 *s = v1_empty();
        pfb_write_break(&s->b, (pfb_fault)fault);
        v1_everything(&s->b, fault % 2);
        pfb_v1_reader block;
        pfb_v1_open(&block, s->block, s->b.size_bytes, NULL);
        pfb_error block_error = finish_v1(&block);
        load_bytes(s, s->block, s->b.size_bytes);
        if (fault != PFB_FAULT_SIGNATURE_WRONG) { /* with a wrong signature it is not a V1 block */
            expect_error(s->measured, block_error.code, block_error.offset, fault_name((pfb_fault)fault));
            expect_error(s->loaded, block_error.code, block_error.offset, fault_name((pfb_fault)fault));
        }
        const pfb_sample_counts *n = &s->table.counts;
        cr_expect(n->results <= s->counts.results && n->columns <= s->counts.columns && n->rows <= s->counts.rows &&
                      n->values <= s->counts.values && n->multi_counts <= s->counts.multi_counts,
                  "%s", fault_name((pfb_fault)fault));
        cr_expect(s->loaded.code != PFB_OK || s->table.notes == block.notes, "%s", fault_name((pfb_fault)fault));
        if (s->loaded.code == PFB_OK)
            cr_expect_eq(memcmp(&s->counts, n, sizeof *n), 0, "%s", fault_name((pfb_fault)fault));
        size_t needed = pfb_sample_size(&s->counts);
        if (needed > 0)
            expect_error(pfb_sample_load(&s->table, &s->input, &s->counts, s->memory.begin, needed - 1),
                         PFB_CALLER_TOO_SMALL, 0, "memory that is one byte too small");
        v1_free(s);
    }
}

/* The header declares 100 instances of 100 counters, more values than the object has bytes. Only the first instance is
 * valid and counted. */
Test(sample_v1, declared_values_are_limited_by_the_bytes)
{
    enum { COUNTERS = 100, OBJECT_AT = 96, INSTANCES_AT = OBJECT_AT + 40 };
    v1 *s = v1_new(1);
    v1_object(&s->b, 2, 0);
    for (uint32_t i = 0; i < COUNTERS; i++)
        v1_counter(&s->b, 4, RAWCOUNT, 4, 8);
    v1_instance(&s->b, "a");
    pfb_write_end_object(&s->b);
    pfb_write_end_v1(&s->b);
    cr_assert_eq(s->b.error.code, PFB_OK);
    pfb_v1_reader block;
    pfb_v1_object object;
    pfb_v1_open(&block, s->block, s->b.size_bytes, NULL);
    cr_assert(pfb_v1_next_object(&block, &object));
    cr_assert(object.offset == OBJECT_AT && object.instance_count == 1);
    /* Enough bytes for 100 instances, all zero after the first. */
    enum { MORE_BYTES = 4000 };
    memset(s->block + s->b.size_bytes, 0, MORE_BYTES);
    store_ordered(s->block + 20, false, (uint32_t)s->b.size_bytes + MORE_BYTES);
    store_ordered(s->block + OBJECT_AT, false, (uint32_t)object.size_bytes + MORE_BYTES);
    store_ordered(s->block + INSTANCES_AT, false, 100);
    cr_assert_lt(object.size_bytes + MORE_BYTES, 100 * COUNTERS);
    load_bytes(s, s->block, s->b.size_bytes + MORE_BYTES);
    expect_error(s->loaded, PFB_BAD_INSTANCE_SIZE, s->b.size_bytes, "the second instance");
    cr_expect_eq(s->counts.rows, 1);
    cr_expect_eq(s->table.counts.rows, 1);
    v1_free(s);
}

/* The second value lies outside of the counter block. It and the third do not exist in the sample, where their raw
 * values and sizes are 0. */
Test(sample_v1, a_row_ends_before_a_malformed_value)
{
    enum { OBJECT_AT = 96, SECOND_OFFSET = OBJECT_AT + 64 + 40 + 36 };
    v1 *s = v1_new(1);
    v1_object(&s->b, 2, 0);
    for (uint32_t i = 0; i < 3; i++)
        v1_counter(&s->b, 4 + 2 * i, RAWCOUNT, 4, 8 + 4 * i);
    v1_instance(&s->b, "a");
    for (uint32_t i = 0; i < 3; i++)
        pfb_write_v1_value(&s->b, 8 + 4 * i, 7 + i, 4);
    pfb_write_end_object(&s->b);
    pfb_write_end_v1(&s->b);
    cr_assert_eq(s->b.error.code, PFB_OK);
    store_ordered(s->block + SECOND_OFFSET, false, 4096);
    load_bytes(s, s->block, s->b.size_bytes);
    expect_error(s->loaded, PFB_BAD_COUNTER_OFFSET, SECOND_OFFSET, "the offset of the second value");
    cr_assert(s->table.counts.rows == 1 && s->table.counts.columns == 3);
    cr_expect_eq(s->table.rows[0].value_count, 1);
    for (uint32_t c = 0; c < 3; c++) {
        size_t place = pfb_sample_place(&s->table, 0, c);
        cr_expect_eq(s->table.raw[place], c == 0 ? 7 : 0, "column %u", c);
        cr_expect_eq(s->table.sizes[place], c == 0 ? 4 : 0, "column %u", c);
        cr_expect_eq(s->table.multi_counts[place], PFB_NO_MULTI_COUNT, "column %u", c);
        cr_expect_eq(pfb_sample_value_at(&s->table, 0, c).exists, c == 0, "column %u", c);
    }
    v1_free(s);
}

/* Memory for fewer items than the block has is refused. */
Test(sample_v1, counts_that_are_too_small_are_refused)
{
    v1 *s = v1_empty();
    v1_everything(&s->b, false);
    load_bytes(s, s->block, s->b.size_bytes);
    for (unsigned part = 0; part < 4; part++) {
        pfb_sample_counts less = s->counts;
        uint32_t *const counts[] = {&less.results, &less.columns, &less.rows};
        if (part < 3)
            --*counts[part];
        else
            less.values--;
        pfb_error error = pfb_sample_load(&s->table, &s->input, &less, s->memory.begin, pfb_sample_size(&less));
        static const char *const names[] = {"one result less", "one column less", "one row less", "one value less"};
        expect_error(error, PFB_CALLER_TOO_SMALL, 0, names[part]);
        cr_expect_eq(s->table.counts.rows, 0, "%s", names[part]);
    }
    v1_free(s);
}

/* ---- Parents ----------------------------------------------------------------------------------------- */

/* Makes objects with the titles 10 (instances "p0", "p1"), 20 (no instances), 10 again ("q0") and 5. The instances of
 * the last one are named "c" and have these parents: a title and the position of an instance. */
static v1 *make_children(const uint32_t links[][2], size_t count)
{
    v1 *s = v1_new(1);
    v1_object(&s->b, 10, 0);
    v1_instance(&s->b, "p0");
    v1_instance_of(&s->b, "p1", PFB_V1_NO_UNIQUE_ID, 10, 0);
    pfb_write_end_object(&s->b);
    v1_object(&s->b, 20, PFB_V1_NO_INSTANCES);
    pfb_write_end_object(&s->b);
    v1_object(&s->b, 10, 0);
    v1_instance(&s->b, "q0");
    pfb_write_end_object(&s->b);
    v1_object(&s->b, 5, 0);
    for (size_t i = 0; i < count; i++)
        v1_instance_of(&s->b, "c", PFB_V1_NO_UNIQUE_ID, links[i][0], links[i][1]);
    pfb_write_end_object(&s->b);
    v1_load(s);
    return s;
}

/* A parent is looked up in the first object with its title. Title 5 is the object of the children. */
Test(sample_v1, parents_are_found_by_title_and_position)
{
    static const uint32_t links[][2] = {{0, 0},  {0, 1},  {10, 0}, {10, 1}, {10, 2}, {10, UINT32_MAX},
                                        {20, 0}, {20, 1}, {99, 0}, {5, 9},  {5, 2},  {5, 12}};
    static const char *const names[] = {NULL, NULL, "p0", "p1", NULL, NULL, NULL, NULL, NULL, "c", "c", NULL};
    enum { COUNT = sizeof links / sizeof links[0], FIRST = 4 };
    v1 *s = make_children(links, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        const pfb_sample_row *row = &s->table.rows[FIRST + i];
        cr_expect_eq(row->parent.size_bytes, names[i] ? 2 * strlen(names[i]) : 0, "child %zu", i);
        if (names[i]) {
            cr_assert_not_null(row->parent.bytes, "child %zu", i);
            expect_name(&row->parent, names[i], "the name of the parent");
            cr_expect_eq(row->parent.encoding, PFB_ENCODING_UTF16LE);
        }
    }
    cr_expect_eq(s->table.rows[1].parent.bytes, s->table.rows[0].name.bytes, "the parent of p1 is p0");
    v1_free(s);
}

/* A block is changed by its owner and loaded again: the parent of "c" has another name at the same place, or the name
 * is in another code page. Then "c" is another instance, although both samples refer to the same bytes. */
Test(sample_v1, parents_in_the_same_memory_are_compared_by_name)
{
    enum { OBJECT_AT = 96, CODE_PAGE_AT = OBJECT_AT + 44, NAME_SIZE_AT = OBJECT_AT + 64 + 20 };
    static const struct {
        const char *what;
        size_t at;
        uint32_t value;
        bool is_same;
    } rows[] = {{"nothing changed", 0, 0, true},
                {"a shorter name", NAME_SIZE_AT, 2, false},
                {"another code page", CODE_PAGE_AT, 1252, false}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        v1 *s = v1_new(1);
        v1_object(&s->b, 10, 0);
        v1_instance(&s->b, "p");
        pfb_write_end_object(&s->b);
        v1_object(&s->b, 30, 0);
        v1_instance_of(&s->b, "c", PFB_V1_NO_UNIQUE_ID, 10, 0);
        pfb_write_end_object(&s->b);
        pfb_write_end_v1(&s->b);
        cr_assert_eq(s->b.error.code, PFB_OK);
        /* The name and its NUL, 4 bytes in UTF-16, become a name in UTF-8 without NUL. */
        uint8_t *name = s->block + OBJECT_AT + 64 + 24;
        memcpy(name, "pqrs", 4);
        store_ordered(s->block + NAME_SIZE_AT, false, 4);
        store_ordered(s->block + CODE_PAGE_AT, false, 65001);
        load_bytes(s, s->block, s->b.size_bytes);
        v1 *second = v1_empty();
        if (rows[i].at != 0)
            store_ordered(s->block + rows[i].at, false, rows[i].value);
        load_bytes(second, s->block, s->b.size_bytes);
        cr_assert(s->table.counts.rows == 2 && second->table.counts.rows == 2);
        cr_assert_eq(s->table.rows[1].parent.bytes, second->table.rows[1].parent.bytes);
        pfb_sample_match(&s->table, &second->table, NULL, 0);
        cr_expect_eq(second->table.rows[1].older_row, rows[i].is_same ? 1 : PFB_NONE, "%s", rows[i].what);
        v1_free(second);
        v1_free(s);
    }
}

/* ---- Matching of instances --------------------------------------------------------------------------- */

typedef struct instance_case {
    const char *name;
    int32_t unique_id;
    uint32_t key, parent;
} instance_case;

#define NO_ID PFB_V1_NO_UNIQUE_ID
#define END                                                                                                            \
    {                                                                                                                  \
        NULL, 0, 0, 0                                                                                                  \
    }

/* An object of a counter and ID Process; parents "x" and "y" are in object 1. */
static v1 *make_instances(int64_t tick, const instance_case *list, uint32_t identity)
{
    v1 *s = v1_new(tick);
    v1_object(&s->b, 1, 0);
    v1_instance(&s->b, "x");
    v1_instance(&s->b, "y");
    pfb_write_end_object(&s->b);
    v1_object(&s->b, 2, 0);
    v1_counter(&s->b, 4, COUNTER, 4, 0);
    v1_counter(&s->b, PFB_TITLE_PROCESS_ID, RAWCOUNT, 4, 0);
    for (; list->name; list++) {
        v1_instance_of(&s->b, list->name, list->unique_id, list->parent ? 1 : 0, list->parent - 1);
        pfb_write_v1_value(&s->b, 8, list->key, 4);
    }
    pfb_write_end_object(&s->b);
    s->input.identity = identity;
    v1_load(s);
    return s;
}

/* Two objects of one title have the same instances, in another order in the newer sample. The instances of each object
 * match those of the object at the same position. */
Test(sample_v1, instances_of_objects_with_the_same_title)
{
    v1 *s[2];
    for (int i = 0; i < 2; i++) {
        s[i] = v1_new(1 + i);
        for (int object = 0; object < 2; object++) {
            v1_object(&s[i]->b, 2, 0);
            v1_counter(&s[i]->b, 4, COUNTER, 4, 0);
            for (int k = 0; k < 3; k++)
                v1_instance(&s[i]->b, (const char *[]){"a", "b", "c"}[i == 0 ? k : 2 - k]);
            pfb_write_end_object(&s[i]->b);
        }
        v1_load(s[i]);
    }
    pfb_sample_match(&s[0]->table, &s[1]->table, NULL, 0);
    static const uint32_t expected[] = {2, 1, 0, 5, 4, 3};
    for (uint32_t row = 0; row < 6; row++)
        cr_expect_eq(s[1]->table.rows[row].older_row, expected[row], "row %u", row);
    v1_free(s[0]);
    v1_free(s[1]);
}

Test(sample_v1, instances_are_matched_between_samples)
{
    enum { NO = -1, PROCESS = PFB_IDENTITY_PROCESS, WINDOWS = PFB_IDENTITY_WINDOWS, ANY = 0 };
    static const struct {
        const char *what;
        instance_case older[4], newer[4];
        uint32_t identity;
        int expected[3];
    } rows[] = {
        {"names match",
         {{"a", NO_ID, 0, 0}, {"b", NO_ID, 0, 0}, END},
         {{"b", NO_ID, 0, 0}, {"a", NO_ID, 0, 0}, END},
         ANY,
         {1, 0}},
        {"equal names match in their order",
         {{"a", NO_ID, 0, 0}, {"b", NO_ID, 0, 0}, {"a", NO_ID, 0, 0}, END},
         {{"a", NO_ID, 0, 0}, {"a", NO_ID, 0, 0}, {"b", NO_ID, 0, 0}, END},
         ANY,
         {0, 2, 1}},
        {"an equal unique id matches under another name", {{"a", 5, 0, 0}, END}, {{"b", 5, 0, 0}, END}, ANY, {0}},
        {"another unique id does not match under the same name",
         {{"a", 5, 0, 0}, END},
         {{"a", 6, 0, 0}, END},
         ANY,
         {NO}},
        {"a unique id that occurs twice is ignored, and names match",
         {{"a", 0, 0, 0}, {"b", 0, 0, 0}, {"c", 0, 0, 0}, END},
         {{"b", 0, 0, 0}, {"c", 0, 0, 0}, END},
         ANY,
         {1, 2}},
        {"a unique id does not match an instance without one",
         {{"a", 5, 0, 0}, END},
         {{"a", NO_ID, 0, 0}, END},
         ANY,
         {NO}},
        {"a unique id does not match an equal id of a process",
         {{"a", 7, 0, 0}, END},
         {{"a", NO_ID, 7, 0}, END},
         PROCESS,
         {NO}},
        {"an id of a process does not match an equal unique id",
         {{"a", NO_ID, 7, 0}, END},
         {{"a", 7, 0, 0}, END},
         PROCESS,
         {NO}},
        {"unique id 0 is valid", {{"a", 0, 0, 0}, END}, {{"b", 0, 0, 0}, END}, ANY, {0}},
        {"ids of processes are ignored if names and positions decide",
         {{"a", NO_ID, 7, 0}, {"a", NO_ID, 8, 0}, END},
         {{"a", NO_ID, 8, 0}, END},
         WINDOWS,
         {0}},
        {"ids of processes distinguish equal names",
         {{"a", NO_ID, 7, 0}, {"a", NO_ID, 8, 0}, END},
         {{"a", NO_ID, 8, 0}, {"a", NO_ID, 9, 0}, END},
         PROCESS,
         {1, NO}},
        {"an equal id of a process does not match under another name",
         {{"a", NO_ID, 7, 0}, END},
         {{"b", NO_ID, 7, 0}, END},
         PROCESS,
         {NO}},
        {"a unique id takes precedence over the id of the process",
         {{"a", 5, 7, 0}, END},
         {{"a", 5, 8, 0}, END},
         PROCESS,
         {0}},
        {"another id of a process does not match under the same name and position",
         {{"a", NO_ID, 7, 0}, {"b", NO_ID, 9, 0}, END},
         {{"a", NO_ID, 8, 0}, {"b", NO_ID, 9, 0}, END},
         PROCESS,
         {NO, 1}},
        {"an id of a process does not match with another parent",
         {{"a", NO_ID, 7, 1}, {"b", NO_ID, 8, 0}, END},
         {{"a", NO_ID, 7, 2}, {"b", NO_ID, 8, 0}, END},
         PROCESS,
         {NO, 1}},
        {"without an id, name and position decide",
         {{"a", NO_ID, 0, 0}, {"b", NO_ID, 0, 0}, {"b", NO_ID, 0, 0}, END},
         {{"b", NO_ID, 0, 0}, {"b", NO_ID, 0, 0}, END},
         PROCESS,
         {1, 2}},
        {"an id that occurs twice is no id",
         {{"a", NO_ID, 7, 0}, {"b", NO_ID, 7, 0}, {"c", NO_ID, 7, 0}, END},
         {{"b", NO_ID, 7, 0}, {"c", NO_ID, 7, 0}, END},
         PROCESS,
         {1, 2}},
        {"an id that only one sample has: name and position decide",
         {{"x", NO_ID, 1, 0}, {"a", NO_ID, 7, 0}, {"b", NO_ID, 0, 0}, END},
         {{"a", NO_ID, 0, 0}, {"b", NO_ID, 8, 0}, END},
         PROCESS,
         {1, 2}},
        {"not if the process has another position now",
         {{"a", NO_ID, 7, 0}, {"a", NO_ID, 8, 0}, END},
         {{"a", NO_ID, 0, 0}, {"a", NO_ID, 7, 0}, END},
         PROCESS,
         {NO, 0}},
        {"an id that neither name nor position has in the older sample",
         {{"a", NO_ID, 7, 0}, END},
         {{"c", NO_ID, 9, 0}, {"a", NO_ID, 7, 0}, END},
         PROCESS,
         {NO, 0}},
        {"the names of the parents must match",
         {{"a", NO_ID, 0, 1}, {"a", NO_ID, 0, 2}, END},
         {{"a", NO_ID, 0, 2}, {"a", NO_ID, 0, 1}, {"a", NO_ID, 0, 0}, END},
         ANY,
         {1, 0, NO}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        v1 *older = make_instances(1, rows[i].older, rows[i].identity);
        v1 *newer = make_instances(2, rows[i].newer, rows[i].identity);
        pfb_sample_match(&older->table, &newer->table, NULL, 0);
        for (uint32_t k = 0; rows[i].newer[k].name; k++) {
            uint32_t expected = rows[i].expected[k] == NO ? PFB_NONE : 2 + (uint32_t)rows[i].expected[k];
            uint32_t found = newer->table.rows[2 + k].older_row;
            cr_expect_eq(found, expected, "%s: %u: %d", rows[i].what, k, (int)found - 2);
        }
        v1_free(older);
        v1_free(newer);
    }
}

/* A thread of an object with the ids of processes and threads; its parent is the process of the same name in the first
 * object. */
typedef struct thread_case {
    const char *name;
    uint32_t process, thread;
    uint32_t parent; /* 1: "x", 2: "y" */
} thread_case;

static v1 *make_threads(int64_t tick, const thread_case *list, uint32_t object_count, bool has_process)
{
    v1 *s = v1_new(tick);
    v1_object(&s->b, 1, 0);
    v1_instance(&s->b, "x");
    v1_instance(&s->b, "y");
    pfb_write_end_object(&s->b);
    for (uint32_t n = 0; n < object_count; n++) {
        v1_object(&s->b, 2, 0);
        v1_counter(&s->b, 4, COUNTER, 4, 0);
        v1_counter(&s->b, PFB_TITLE_THREAD_ID, RAWCOUNT, 4, 0);
        if (has_process)
            v1_counter(&s->b, PFB_TITLE_PROCESS_ID, RAWCOUNT, 4, 0);
        for (const thread_case *t = list; t->name; t++) {
            v1_instance_of(&s->b, t->name, NO_ID, 1, t->parent - 1);
            pfb_write_v1_value(&s->b, 8, t->thread + 100 * n, 4);
            if (has_process)
                pfb_write_v1_value(&s->b, 12, t->process, 4);
        }
        pfb_write_end_object(&s->b);
    }
    v1_load(s);
    return s;
}

/* The names of threads are numbers, which change when another thread of the process ends. */
Test(sample_v1, threads_are_matched_by_their_ids)
{
    enum { NO = -1 };
    static const struct {
        const char *what;
        thread_case older[4], newer[4];
        bool has_process;
        int expected[3];
    } rows[] = {
        {"a thread before it ended",
         {{"0", 5, 51, 1}, {"1", 5, 52, 1}, {"0", 6, 61, 2}, {.name = NULL}},
         {{"0", 5, 52, 1}, {"0", 6, 61, 2}, {.name = NULL}},
         true,
         {1, 2}},
        {"another process", {{"0", 5, 51, 1}, {.name = NULL}}, {{"0", 6, 51, 1}, {.name = NULL}}, true, {NO}},
        {"another parent", {{"0", 5, 51, 1}, {.name = NULL}}, {{"0", 5, 51, 2}, {.name = NULL}}, true, {NO}},
        {"threads without ids",
         {{"0", 0, 0, 1}, {"1", 0, 0, 1}, {.name = NULL}},
         {{"1", 0, 0, 1}, {.name = NULL}},
         true,
         {1}},
        {"only ids of threads",
         {{"0", 5, 51, 1}, {"1", 5, 52, 1}, {.name = NULL}},
         {{"0", 5, 52, 1}, {.name = NULL}},
         false,
         {1}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        v1 *older = make_threads(1, rows[i].older, 1, rows[i].has_process);
        v1 *newer = make_threads(2, rows[i].newer, 1, rows[i].has_process);
        pfb_sample_match(&older->table, &newer->table, NULL, 0);
        for (uint32_t k = 0; rows[i].newer[k].name; k++) {
            uint32_t expected = rows[i].expected[k] == NO ? PFB_NONE : 2 + (uint32_t)rows[i].expected[k];
            cr_expect_eq(newer->table.rows[2 + k].older_row, expected, "%s: %u", rows[i].what, k);
        }
        v1_free(older);
        v1_free(newer);
    }
}

/* A number of 8 bytes that has more than 32 bits is no id: names and positions decide. */
Test(sample_v1, ids_of_processes_have_32_bits)
{
    v1 *s[2];
    for (uint32_t i = 0; i < 2; i++) {
        s[i] = v1_new(1 + i);
        v1_object(&s[i]->b, 2, 0);
        v1_counter(&s[i]->b, PFB_TITLE_PROCESS_ID, RAWCOUNT, 8, 0);
        for (uint64_t k = 0; k < 2; k++) {
            v1_instance(&s[i]->b, "a");
            pfb_write_v1_value(&s[i]->b, 8, k == 0 ? UINT32_MAX - i : UINT32_MAX + UINT64_C(1) + i, 8);
        }
        pfb_write_end_object(&s[i]->b);
        v1_load(s[i]);
    }
    pfb_sample_match(&s[0]->table, &s[1]->table, NULL, 0);
    cr_expect_eq(s[1]->table.rows[0].older_row, PFB_NONE);
    cr_expect_eq(s[1]->table.rows[1].older_row, 1);
    v1_free(s[0]);
    v1_free(s[1]);
}

/* The object at the same position has another title: its processes are others. */
Test(sample_v1, processes_of_objects_with_other_titles)
{
    v1 *s[2];
    for (uint32_t i = 0; i < 2; i++) {
        s[i] = v1_new(1 + i);
        v1_object(&s[i]->b, 3 - i, 0);
        v1_counter(&s[i]->b, PFB_TITLE_PROCESS_ID, RAWCOUNT, 4, 0);
        v1_instance(&s[i]->b, "a");
        pfb_write_v1_value(&s[i]->b, 4, 7, 4);
        pfb_write_end_object(&s[i]->b);
        v1_load(s[i]);
    }
    pfb_sample_match(&s[0]->table, &s[1]->table, NULL, 0);
    cr_expect_eq(s[1]->table.rows[0].older_row, PFB_NONE);
    v1_free(s[0]);
    v1_free(s[1]);
}

/* Threads of two objects with one title: they are first searched in the object at the same position. */
Test(sample_v1, threads_of_objects_with_the_same_title)
{
    static const thread_case older_list[] = {{"0", 5, 51, 1}, {"1", 5, 52, 1}, {.name = NULL}};
    static const thread_case newer_list[] = {{"0", 5, 52, 1}, {"1", 5, 151, 1}, {.name = NULL}};
    v1 *older = make_threads(1, older_list, 2, true);
    v1 *newer = make_threads(2, newer_list, 2, true);
    pfb_sample_match(&older->table, &newer->table, NULL, 0);
    /* In the second object the ids are 152 and 251. */
    static const uint32_t expected[] = {3, 4, 5, PFB_NONE};
    for (uint32_t k = 0; k < 4; k++)
        cr_expect_eq(newer->table.rows[2 + k].older_row, expected[k], "row %u", k);
    v1_free(older);
    v1_free(newer);
}

/* The size of a name is in bytes, in any code page. */
Test(sample_v1, sizes_of_names_are_in_bytes_in_any_code_page)
{
    static const uint32_t pages[] = {PFB_ENCODING_UTF16LE, PFB_ENCODING_UTF16BE, 1252, 65001};
    static const uint8_t names[][4] = {{'a', 0, 'b', 0}, {0, 'a', 0, 'b'}, {'a', 'b', 'c', 'd'}, {'a', 'b', 'c', 'd'}};
    for (size_t i = 0; i < sizeof pages / sizeof pages[0]; i++) {
        v1 *s = v1_new(1);
        pfb_v1_object object = {.title_index = 2, .instance_count = 0, .code_page = pages[i]};
        pfb_v1_instance instance = {.name = {names[i], 4, pages[i]}, .unique_id = NO_ID};
        pfb_write_begin_object(&s->b, &object);
        pfb_write_v1_instance(&s->b, &instance);
        pfb_write_end_object(&s->b);
        v1_load(s);
        const pfb_sample_row *row = &s->table.rows[0];
        cr_expect(row->name.encoding == pages[i] && row->name.size_bytes == 4, "%zu bytes", row->name.size_bytes);
        cr_expect_eq(memcmp(row->name.bytes, names[i], 4), 0);
        v1_free(s);
    }
}

/* ---- Displayed values -------------------------------------------------------------------------------- */

typedef struct slot {
    uint32_t type, size;
    uint64_t older, newer; /* values */
    uint32_t offset;       /* 0: at any offset */
} slot;

/* One object without instances, with its clock at 100 * tick in units of 0.1 s; the samples are one second apart. */
static v1 *slots_at(int64_t tick, const slot *slots)
{
    v1 *s = v1_new(tick);
    uint32_t offsets[8];
    uint32_t count = 0;
    pfb_v1_object object = {
        .title_index = 2, .instance_count = PFB_V1_NO_INSTANCES, .perf_time = 100 * tick, .perf_freq = 10};
    pfb_write_begin_object(&s->b, &object);
    for (; slots[count].type; count++)
        offsets[count] = v1_counter(&s->b, 4, slots[count].type, slots[count].size, slots[count].offset);
    pfb_write_counter_block(&s->b, 64);
    for (uint32_t i = 0; i < count; i++) {
        if (slots[i].size == 4 || slots[i].size == 8)
            pfb_write_v1_value(&s->b, offsets[i], tick == 1 ? slots[i].older : slots[i].newer, slots[i].size);
    }
    /* A multi timer at offset 8 has its multi count after the value. */
    if (slots[0].type == MULTI_TIMER && slots[0].offset == 8 && count == 1)
        pfb_write_v1_value(&s->b, 16, 4, 4);
    pfb_write_end_object(&s->b);
    v1_load(s);
    return s;
}

static pfb_formula_result evaluate_first(const slot *slots, const pfb_formula_options *options)
{
    v1 *older = slots_at(1, slots);
    v1 *newer = slots_at(2, slots);
    pfb_sample_match(&older->table, &newer->table, NULL, 0);
    pfb_formula_result r = pfb_sample_cook_value(&older->table, &newer->table, 0, 0, options, NULL);
    double values[8];
    uint8_t status_bytes[8];
    cr_assert(pfb_sample_cook(&older->table, &newer->table, NULL, 0, options, values, status_bytes, 8));
    cr_expect((status_bytes[0] & PFB_STATUS_BYTE_CODE) == (unsigned)r.status &&
              memcmp(&values[0], &r.value, sizeof r.value) == 0);
    v1_free(older);
    v1_free(newer);
    return r;
}

/* A multi count that follows the value of a multi timer is returned with the value. A gauge has none. */
Test(sample_v1, a_multi_count_is_returned_with_its_value)
{
    static const slot timer[] = {{MULTI_TIMER, 8, 0, 500, 8}, {0}};
    static const slot gauge[] = {{LARGE_RAWCOUNT, 8, 0, 500, 8}, {0}};
    v1 *with = slots_at(2, timer);
    v1 *without = slots_at(2, gauge);
    pfb_sample_value value = pfb_sample_value_at(&with->table, 0, 0);
    cr_expect(value.raw == 500 && value.has_multi_count && value.multi_count == 4);
    value = pfb_sample_value_at(&without->table, 0, 0);
    cr_expect(value.raw == 500 && !value.has_multi_count && value.multi_count == 0);
    v1_free(with);
    v1_free(without);
}

Test(sample_v1, values_are_displayed_by_type_base_and_multi_count)
{
    static const struct {
        const char *what;
        slot slots[4];
        pfb_status status;
        double value;
    } rows[] = {
        {"a rate of 50 per second", {{COUNTER, 4, 100, 150, 0}}, PFB_STATUS_OK, 50},
        {"a rate of 8 bytes", {{BULK_COUNT, 8, UINT64_C(1) << 40, (UINT64_C(1) << 40) + 50, 0}}, PFB_STATUS_OK, 50},
        {"a 4-byte type with a value of 8 bytes",
         {{COUNTER, 8, UINT64_C(1) << 40, (UINT64_C(1) << 40) + 50, 0}},
         PFB_STATUS_OK,
         50},
        {"an 8-byte type with a value of 4 bytes", {{BULK_COUNT, 4, 100, 150, 0}}, PFB_STATUS_OK, 50},
        {"a rate whose count decreases", {{COUNTER, 4, 150, 100, 0}}, PFB_STATUS_NEGATIVE_DELTA, 0},
        {"an average of 30 in 3 operations",
         {{AVERAGE_BULK, 8, 10, 40, 0}, {AVERAGE_BASE, 4, 1, 4, 0}},
         PFB_STATUS_OK,
         10},
        {"an average with a base of 8 bytes",
         {{AVERAGE_BULK, 8, 10, 40, 0}, {LARGE_RAW_BASE, 8, 1, 4, 0}},
         PFB_STATUS_OK,
         10},
        {"an average time of 1500 ticks, at 1000 per second, in 3 operations",
         {{AVERAGE_TIMER, 8, 1000, 2500, 0}, {AVERAGE_BASE, 4, 1, 4, 0}},
         PFB_STATUS_OK,
         0.5},
        {"a base of a type without a name",
         {{AVERAGE_BULK, 8, 10, 40, 0}, {0x40030400, 4, 1, 4, 0}},
         PFB_STATUS_OK,
         10},
        {"an average without a base", {{AVERAGE_BULK, 8, 10, 40, 0}}, PFB_STATUS_MISSING_BASE, 0},
        {"a next definition that is not a base",
         {{AVERAGE_BULK, 8, 10, 40, 0}, {RAWCOUNT, 4, 1, 4, 0}},
         PFB_STATUS_MISSING_BASE,
         0},
        {"a base after another definition",
         {{AVERAGE_BULK, 8, 10, 40, 0}, {RAWCOUNT, 4, 1, 4, 0}, {AVERAGE_BASE, 4, 1, 4, 0}},
         PFB_STATUS_MISSING_BASE,
         0},
        {"a base of 8 bytes with a 4-byte type",
         {{AVERAGE_BULK, 8, 10, 40, 0}, {AVERAGE_BASE, 8, 1, 4, 0}},
         PFB_STATUS_OK,
         10},
        {"a base of 4 bytes with an 8-byte type",
         {{AVERAGE_BULK, 8, 10, 40, 0}, {LARGE_RAW_BASE, 4, 1, 4, 0}},
         PFB_STATUS_OK,
         10},
        {"a base without size", {{AVERAGE_BULK, 8, 10, 40, 0}, {AVERAGE_BASE, 0, 0, 0, 0}}, PFB_STATUS_MISSING_BASE, 0},
        /* 500 of 1000 ticks in a second, a multi count of 4: 100 * 500 / 4 */
        {"a multi count with a definition",
         {{MULTI_TIMER, 8, 0, 500, 0}, {MULTI_BASE, 8, 9, 4, 0}},
         PFB_STATUS_OK,
         12500},
        {"a multi count after the value", {{MULTI_TIMER, 8, 0, 500, 8}}, PFB_STATUS_OK, 12500},
        {"no multi count, because another value uses the bytes",
         {{MULTI_TIMER, 8, 0, 500, 8}, {RAWCOUNT, 4, 4, 4, 16}},
         PFB_STATUS_MISSING_BASE,
         0},
        {"a multi count of 4 bytes with a definition",
         {{MULTI_TIMER, 8, 0, 500, 8}, {MULTI_BASE, 4, 4, 4, 24}},
         PFB_STATUS_OK,
         12500},
        {"an elapsed time from 50 to 200 tenths of a second", {{ELAPSED, 8, 50, 50, 0}}, PFB_STATUS_OK, 15},
        {"25 of 100 ticks of the clock of the object", {{OBJ_TIMER, 8, 10, 35, 0}}, PFB_STATUS_OK, 25},
        {"a label", {{NODATA, 0, 0, 0, 0}}, PFB_STATUS_NOT_DISPLAYED, 0},
        {"a gauge", {{LARGE_RAWCOUNT, 8, 7, UINT64_C(1) << 50, 0}}, PFB_STATUS_OK, 1125899906842624.0},
        {"a value of 5 bytes", {{COUNTER, 5, 0, 0, 0}}, PFB_STATUS_MISSING_INPUT, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        pfb_formula_result r = evaluate_first(rows[i].slots, NULL);
        if (rows[i].status == PFB_STATUS_OK)
            expect_value(r, rows[i].value, rows[i].what);
        else
            expect_status(r, rows[i].status, rows[i].what);
    }
}

/* A wrap of 32 bits is detected by the size of the value, not by its type. */
Test(sample_v1, wraps_depend_on_the_size_of_the_value)
{
    pfb_formula_options wrap = {.wrap32 = true};
    static const slot narrow[] = {{COUNTER, 4, UINT32_MAX - 9, 40, 0}, {0}};
    static const slot wide[] = {{COUNTER, 8, UINT32_MAX - 9, 40, 0}, {0}};
    expect_value(evaluate_first(narrow, &wrap), 50, "a value of 4 bytes");
    expect_status(evaluate_first(narrow, NULL), PFB_STATUS_NEGATIVE_DELTA, "a value of 4 bytes, without the option");
    expect_status(evaluate_first(wide, &wrap), PFB_STATUS_NEGATIVE_DELTA, "a value of 8 bytes");
    static const slot large[] = {{BULK_COUNT, 4, UINT32_MAX - 9, 40, 0}, {0}};
    expect_value(evaluate_first(large, &wrap), 50, "a value of 4 bytes with an 8-byte type");
    static const slot narrow_base[] = {{AVERAGE_BULK, 8, 0, 50, 0}, {LARGE_RAW_BASE, 4, UINT32_MAX, 4, 0}, {0}};
    expect_value(evaluate_first(narrow_base, &wrap), 10, "a base of 4 bytes with an 8-byte type");
    static const slot wide_base[] = {{AVERAGE_BULK, 8, 0, 50, 0}, {AVERAGE_BASE, 8, UINT32_MAX, 4, 0}, {0}};
    expect_status(evaluate_first(wide_base, &wrap), PFB_STATUS_NEGATIVE_DENOMINATOR, "a base of 8 bytes");
}

/* In objects without instances the id of a process may change. */
Test(sample_v1, process_ids_are_ignored_without_instances)
{
    v1 *s[2];
    for (int64_t tick = 1; tick <= 2; tick++) {
        v1 *t = s[tick - 1] = v1_new(tick);
        v1_object(&t->b, 2, PFB_V1_NO_INSTANCES);
        uint32_t at = v1_counter(&t->b, PFB_TITLE_PROCESS_ID, COUNTER, 4, 0);
        pfb_write_v1_value(&t->b, at, 7 * (uint64_t)tick, 4);
        pfb_write_end_object(&t->b);
        v1_load(t);
    }
    pfb_sample_match(&s[0]->table, &s[1]->table, NULL, 0);
    expect_value(pfb_sample_cook_value(&s[0]->table, &s[1]->table, 0, 0, NULL, NULL), 7, "a rate of 7 per second");
    v1_free(s[0]);
    v1_free(s[1]);
}

/* The newer sample has one more definition before the others, so definitions cannot match by position. A definition
 * matches the older one with the same title, which may be any number, unless several definitions have that title. */
Test(sample_v1, definitions_at_other_positions_match_by_unique_title)
{
    v1 *s[2];
    for (uint32_t tick = 1; tick <= 2; tick++) {
        static const uint32_t titles[] = {6, 10, 10, 12, UINT32_MAX};
        v1 *t = s[tick - 1] = v1_new(tick);
        v1_object(&t->b, 2, PFB_V1_NO_INSTANCES);
        uint32_t at[5];
        for (uint32_t i = tick == 1 ? 1 : 0; i < 5; i++)
            at[i] = v1_counter(&t->b, titles[i], COUNTER, 4, 0);
        for (uint32_t i = tick == 1 ? 1 : 0; i < 5; i++)
            pfb_write_v1_value(&t->b, at[i], 100 * i + 10 * tick, 4);
        pfb_write_end_object(&t->b);
        v1_load(t);
    }
    pfb_sample_match(&s[0]->table, &s[1]->table, NULL, 0);
    for (uint32_t i = 0; i < 3; i++)
        expect_status(pfb_sample_cook_value(&s[0]->table, &s[1]->table, 0, i, NULL, NULL), PFB_STATUS_NEED_TWO_SAMPLES,
                      "a new definition, or one of two with the same title");
    for (uint32_t i = 3; i < 5; i++)
        expect_value(pfb_sample_cook_value(&s[0]->table, &s[1]->table, 0, i, NULL, NULL), 10,
                     "the only definition with its title");
    v1_free(s[0]);
    v1_free(s[1]);
}

/* Registrations describe V2 countersets and are not read for V1 blocks. */
Test(sample_v1, v1_blocks_need_no_registrations)
{
    v1 *s = v1_new(1);
    s->input.registration_count = 2;
    v1_load(s);
    cr_expect_eq(s->table.counts.registrations, 2);
    v1_free(s);
}

/* Many rows can have the same parent, and its name is compared for each of them. A name that is too long is therefore
 * ignored. */
Test(sample_v1, parents_with_too_long_names_are_ignored)
{
    for (size_t units = 1024; units <= 1025; units++) {
        v1 *s = v1_new(1);
        uint8_t name[2 * 1025];
        memset(name, 'x', sizeof name);
        pfb_v1_instance parent = {.name = pfb_utf16_name(name, units), .unique_id = NO_ID};
        v1_object(&s->b, 1, 0);
        pfb_write_v1_instance(&s->b, &parent);
        pfb_write_end_object(&s->b);
        v1_object(&s->b, 2, 0);
        v1_instance_of(&s->b, "child", NO_ID, 1, 0);
        pfb_write_end_object(&s->b);
        v1_load(s);
        cr_expect_eq(s->table.rows[1].parent.size_bytes, units == 1024 ? 2048 : 0, "a name of %zu units", units);
        v1_free(s);
    }
}

/* A row that was matched with an older sample has no older value in a shorter one without such a row. */
Test(sample_v1, older_rows_are_checked_against_the_rows)
{
    v1 *many =
        make_instances(1, (const instance_case[]){{"a", NO_ID, 0, 0}, {"b", NO_ID, 0, 0}, {"c", NO_ID, 0, 0}, END}, 0);
    v1 *newer = make_instances(2, (const instance_case[]){{"c", NO_ID, 0, 0}, END}, 0);
    v1 *few = v1_new(1);
    v1_load(few);
    pfb_sample_match(&many->table, &newer->table, NULL, 0);
    cr_expect_eq(newer->table.rows[2].older_row, 4);
    expect_status(
        pfb_sample_cook_value(&few->table, &newer->table, 2, newer->table.results[1].first_column, NULL, NULL),
        PFB_STATUS_NEED_TWO_SAMPLES, "the older sample has no such row");
    v1_free(many);
    v1_free(newer);
    v1_free(few);
}

/* The newer sample has the objects in reverse order, after an added one. */
Test(sample_v1, objects_match_by_title)
{
    v1 *s[2];
    for (int64_t tick = 1; tick <= 2; tick++) {
        v1 *t = s[tick - 1] = v1_new(tick);
        for (uint32_t i = 0; i < (tick == 1 ? 2 : 3); i++) {
            uint32_t title = tick == 1 ? 10 + 10 * i : 30 - 10 * i;
            v1_object(&t->b, title, PFB_V1_NO_INSTANCES);
            uint32_t at = v1_counter(&t->b, 4, COUNTER, 4, 0);
            pfb_write_v1_value(&t->b, at, title * (uint64_t)tick, 4);
            pfb_write_end_object(&t->b);
        }
        v1_load(t);
    }
    pfb_sample_match(&s[0]->table, &s[1]->table, NULL, 0);
    for (uint32_t i = 0; i < 3; i++) {
        pfb_formula_result r = pfb_sample_cook_value(&s[0]->table, &s[1]->table, i, i, NULL, NULL);
        if (i == 0)
            expect_status(r, PFB_STATUS_NEED_TWO_SAMPLES, "a new object");
        else
            expect_value(r, 30 - 10 * i, "an object of both samples");
    }
    v1_free(s[0]);
    v1_free(s[1]);
}
