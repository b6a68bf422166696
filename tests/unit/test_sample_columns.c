/* SPDX-License-Identifier: MIT */
/* Values by column: positions of values, values of malformed blocks, and malicious counts. */
#include "support.h"
#include "support_samples.h"
#include "support_v1.h"

#include <criterion/criterion.h>

#include <stdlib.h>
#include <string.h>

enum { RESULT_AT = 48, RESULT_BYTES = 16 };

static void store(uint8_t *p, size_t value)
{
    store_ordered(p, false, (uint32_t)value);
}

/* Makes a counterset result with these numbers of instances and counters. The value in row r and column c is
 * 1000 r + c. Values in odd columns have 4 bytes. */
static sample *grid(uint32_t rows, uint32_t columns)
{
    uint32_t ids[64];
    sample *s = sample_new_large(1, 1 << 20);
    for (uint32_t c = 0; c < columns; c++)
        ids[c] = c;
    sample_result(s, PFB_V2_COUNTERSET, ids, columns);
    for (uint32_t r = 0; r < rows; r++) {
        sample_row(s, r, "a");
        for (uint32_t c = 0; c < columns; c++)
            sample_value(s, 1000 * r + c, c % 2 ? 4 : 8);
    }
    return s;
}

/* Every value is at the documented index, for various numbers of rows. */
Test(sample_columns, values_are_at_the_documented_index)
{
    static const uint32_t sizes[] = {0,   1,   2,   63,  64,  65,  96,  97,  98,  127,
                                     128, 129, 193, 194, 195, 511, 512, 513, 521, 1000};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        sample *s = grid(sizes[i], 33);
        sample_load(s);
        cr_expect_eq(s->loaded.code, PFB_OK);
        const pfb_sample *t = &s->table;
        const pfb_sample_result *result = &t->results[0];
        cr_assert(result->row_count == sizes[i] && result->stride >= sizes[i] && result->first_value == 0);
        cr_assert_eq(t->counts.values, (uint64_t)33 * result->stride);
        for (uint32_t r = 0; r < sizes[i]; r++) {
            for (uint32_t c = 0; c < 33; c++) {
                size_t place = (size_t)c * result->stride + r;
                cr_assert_eq(pfb_sample_place(t, r, c), place);
                cr_assert(t->raw[place] == 1000 * r + c && t->sizes[place] == (c % 2 ? 4 : 8), "row %u, column %u", r,
                          c);
            }
        }
        sample_free(s);
    }
}

/* The last row lacks its last values, which must not exist in the sample. */
Test(sample_columns, missing_values_of_a_truncated_row_do_not_exist)
{
    for (size_t cut = 8; cut <= 6 * 16; cut += 8) {
        sample *s = grid(100, 6);
        sample_end(s);
        size_t size = s->data.size_bytes - cut;
        store(s->data.data, size);
        store(s->data.data + RESULT_AT + 8, size - RESULT_AT);
        uint8_t *instances = s->data.data + RESULT_AT + RESULT_BYTES + 8 + 6 * 4;
        store(instances, size - (size_t)(instances - s->data.data));
        sample_load(s);
        cr_expect_eq(s->loaded.code, cut % 16 == 0 ? PFB_TRUNCATED_VALUE : PFB_BAD_VALUE_SIZE, "%zu bytes: %s", cut,
                     pfb_code_name(s->loaded.code));
        const pfb_sample *t = &s->table;
        cr_assert(t->counts.rows == 100 && s->measured.code == PFB_OK);
        uint32_t value_count = (uint32_t)(6 - (cut + 15) / 16);
        cr_expect_eq(t->rows[99].value_count, value_count, "%zu bytes: %u", cut, t->rows[99].value_count);
        for (uint32_t c = 0; c < 6; c++) {
            pfb_sample_value v = pfb_sample_value_at(t, 99, c);
            cr_expect(v.exists == (c < value_count) && v.is_number == v.exists && v.raw == (v.exists ? 99000 + c : 0),
                      "%zu bytes, column %u", cut, c);
            cr_expect_eq(pfb_sample_value_at(t, 98, c).raw, 98000 + c, "%zu bytes, column %u", cut, c);
            cr_expect(v.exists || t->sizes[pfb_sample_place(t, 99, c)] == 0);
        }
        sample_free(s);
    }
}

/* Numbers follow the rows in memory. The bytes after the last row must not be taken for a row, whatever they are. */
Test(sample_columns, no_row_follows_the_last_one)
{
    static const uint32_t ids[] = {1};
    for (uint64_t ones = 0; ones <= 1; ones++) {
        sample *s = sample_new(1);
        sample_result(s, PFB_V2_COUNTERSET, ids, 1);
        for (uint32_t r = 0; r < 100; r++) {
            sample_row(s, r, "a");
            sample_value(s, r == 0 ? 0 : UINT64_MAX * ones, 8);
        }
        sample_load(s);
        cr_assert_eq(s->table.counts.rows, 100);
        cr_expect(pfb_sample_value_at(&s->table, 99, 0).exists);
        for (uint32_t r = 100; r < 104; r++)
            cr_expect_not(pfb_sample_value_at(&s->table, r, 0).exists, "row %u", r);
        cr_expect_not(pfb_sample_value_at(&s->table, 0, 1).exists);
        sample_free(s);
    }
}

/* A value that is not a number is located by its offset and size. */
Test(sample_columns, values_that_are_not_numbers_are_located)
{
    static const uint32_t ids[] = {1, 2, 3};
    static const uint32_t sizes[] = {0, 5, 23};
    sample *s = sample_new(1);
    sample_result(s, PFB_V2_COUNTERSET, ids, 3);
    for (uint32_t r = 0; r < 3; r++) {
        sample_row(s, r, "a");
        sample_value(s, r, 8);
        sample_value(s, r, sizes[r]);
        sample_value(s, r, 4);
    }
    sample_load(s);
    for (uint32_t r = 0; r < 3; r++) {
        pfb_sample_value v = pfb_sample_value_at(&s->table, r, 1);
        cr_assert(v.exists && !v.is_number && v.raw == 0 && v.size_bytes == sizes[r]);
        cr_expect_eq(memcmp(s->data.data + v.offset, NOT_A_NUMBER, sizes[r]), 0);
        v = pfb_sample_value_at(&s->table, r, 2);
        cr_expect(v.is_number && v.raw == r && v.offset == 0 && v.size_bytes == 4);
    }
    sample_free(s);
}

/* One of 300 values of a column is not a number. Many rows are loaded at once, so its position among them is varied. */
Test(sample_columns, one_value_that_is_not_a_number_is_located)
{
    enum { ROWS = 300 };
    static const uint32_t ids[] = {1, 2};
    for (uint32_t odd = 0; odd < ROWS; odd += 23) {
        sample *s = sample_new_large(1, 1 << 16);
        sample_result(s, PFB_V2_COUNTERSET, ids, 2);
        for (uint32_t r = 0; r < ROWS; r++) {
            sample_row(s, r, "a");
            sample_value(s, r, 8);
            sample_value(s, r, r == odd ? 23 : 8);
        }
        sample_load(s);
        pfb_sample_value v = pfb_sample_value_at(&s->table, odd, 1);
        cr_assert(v.exists && !v.is_number && v.size_bytes == 23, "row %u", odd);
        cr_expect_eq(memcmp(s->data.data + v.offset, NOT_A_NUMBER, 23), 0, "row %u", odd);
        sample_free(s);
    }
}

/* ---- Malicious counts ------------------------------------------------------------------------------------ */

/* Writes a block whose first part is counter ids and whose second part is instances of the smallest size, without
 * values. The product of both numbers may exceed the number of values that a block of this size can contain. Returns
 * the end of the last instance. */
static size_t put_malicious_block(uint8_t *data, size_t size, size_t counters, size_t instances)
{
    size_t at = RESULT_AT + RESULT_BYTES;
    memset(data, 0, size);
    store(data, size);
    store(data + 4, 1);
    store(data + RESULT_AT + 4, PFB_V2_COUNTERSET);
    store(data + RESULT_AT + 8, size - RESULT_AT);
    store(data + at, 8 + 4 * counters);
    store(data + at + 4, counters);
    at += 8 + 4 * counters;
    store(data + at, size - at);
    store(data + at + 4, instances);
    for (at += 8; at + 16 <= size; at += 16)
        store(data + at, 16);
    return at;
}

Test(sample_columns, malicious_counts_need_memory_in_proportion_to_the_block)
{
    enum { SIZE = 1 << 16 };
    static const size_t counts[][2] = {{8000, 4000}, {2, 4000}, {1, 4000}, {16000, 60}, {7000, 2}, {0, 8000}};
    uint8_t *data = malloc(SIZE);
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        pfb_sample_counts n;
        pfb_sample t;
        pfb_sample_input input = {.data = data, .data_size_bytes = SIZE};
        put_malicious_block(data, SIZE, counts[i][0], counts[i][1]);
        pfb_sample_measure(&input, &n);
        size_t size = pfb_sample_size(&n);
        cr_expect_leq(size, (size_t)32 * SIZE, "%zu by %zu: %zu bytes", counts[i][0], counts[i][1], size);
        cr_expect_leq(n.values, (uint64_t)SIZE / 8 * 5 / 4 + n.columns, "%zu by %zu", counts[i][0], counts[i][1]);
        void *memory = malloc(size);
        pfb_error loaded = pfb_sample_load(&t, &input, &n, memory, size);
        pfb_v2_reader block;
        pfb_v2_open(&block, data, SIZE, NULL);
        pfb_error verdict = pfb_v2_finish(&block);
        expect_error(loaded, verdict.code, verdict.offset, "loading has the error of the reader");
        cr_expect(t.counts.rows <= n.rows && t.counts.columns == n.columns && t.counts.values <= n.values);
        free(memory);
    }
    free(data);
}

/* A malformed block is measured. Its bytes change before it is loaded, so that there are more valid instances than were
 * measured. */
Test(sample_columns, instances_added_after_measuring_are_refused)
{
    sample *s = grid(40, 4);
    sample_end(s);
    uint8_t *count = s->data.data + RESULT_AT + RESULT_BYTES + 8 + 4 * 4 + 4;
    store(count, 300); /* more instances than the block has, so that measuring counts them one by one */
    uint8_t *last = count + 4 + 39 * (16 + 4 * 16);
    uint8_t saved = *last;
    cr_assert(pfb_sample_measure(&s->input, &s->counts).code == PFB_OK && s->counts.rows == 40);
    pfb_sample_counts all = s->counts;
    *last = 0;
    pfb_sample_measure(&s->input, &s->counts);
    cr_assert_lt(s->counts.rows, 40);
    *last = saved;
    void *memory = malloc(pfb_sample_size(&all));
    pfb_sample t;
    expect_error(pfb_sample_load(&t, &s->input, &s->counts, memory, pfb_sample_size(&all)), PFB_CALLER_TOO_SMALL, 0,
                 "more rows than were measured");
    cr_expect(t.counts.rows == 0 && t.counts.values == 0);
    free(memory);
    sample_free(s);
}
