/* SPDX-License-Identifier: MIT */
/* Samples: tables of the results, rows, columns and values of a V2 block. */
#include "support.h"
#include "support_samples.h"

#include <criterion/criterion.h>

#include "perfblock/sample.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SET = 1, OTHER_SET = 2 };

static void expect_row(const sample *s, uint32_t row, uint32_t id, const char *name, const char *what)
{
    cr_assert_lt(row, s->table.counts.rows, "%s", what);
    const pfb_sample_row *r = &s->table.rows[row];
    cr_expect_eq(r->id, id, "%s: id %u", what, r->id);
    cr_expect_eq(r->has_name, name != NULL, "%s", what);
    if (name)
        expect_name(&r->name, name, what);
}

/* ---- The table ----------------------------------------------------------------------------------------- */

/* One result of each kind, in this order: error, single, multiple counters, multiple instances, counterset. */
static sample *all_kinds(void)
{
    static const uint32_t ids[] = {5, 6, 7};
    sample *s = sample_new(1);
    sample_result(s, PFB_V2_ERROR, NULL, 0);
    sample_result(s, PFB_V2_SINGLE_COUNTER, NULL, 0);
    sample_value(s, 11, 8);
    sample_result(s, PFB_V2_MULTIPLE_COUNTERS, ids, 2);
    sample_value(s, 21, 4);
    sample_value(s, 0, 5);
    sample_result(s, PFB_V2_MULTIPLE_INSTANCES, NULL, 0);
    sample_row(s, 1, "a");
    sample_value(s, 31, 4);
    sample_row(s, 2, "");
    sample_value(s, 32, 4);
    sample_result(s, PFB_V2_COUNTERSET, ids, 3);
    sample_row(s, 3, "c");
    sample_value(s, 41, 4);
    sample_value(s, 42, 8);
    sample_value(s, UINT64_MAX, 8);
    return s;
}

Test(sample, a_table_has_every_kind_of_result)
{
    sample *s = all_kinds();
    sample_load(s);
    const pfb_sample *t = &s->table;
    cr_expect_eq(t->counts.results, 5);
    cr_expect_eq(t->counts.columns, 0 + 1 + 2 + 1 + 3);
    cr_expect_eq(t->counts.rows, 0 + 1 + 1 + 2 + 1);
    cr_expect_eq(t->counts.values, 1 + 2 + 2 + 3);
    cr_expect_eq(memcmp(&t->counts, &s->counts, sizeof s->counts), 0, "the counts equal the measured counts");
    cr_expect(t->perf_time == 1000 && t->perf_time_100ns == 10000000 && t->perf_freq == 1000 && t->notes == 0);
    cr_expect(t->system_time.year == 2024 && t->system_time.millisecond == 678);
    static const uint32_t kinds[] = {PFB_V2_ERROR, PFB_V2_SINGLE_COUNTER, PFB_V2_MULTIPLE_COUNTERS,
                                     PFB_V2_MULTIPLE_INSTANCES, PFB_V2_COUNTERSET};
    static const uint32_t rows[] = {0, 1, 1, 2, 1};
    static const uint32_t columns[] = {0, 1, 2, 1, 3};
    static const size_t offsets[] = {48, 64, 96, 160, 248}; /* sizes: 16; 16+16; 16+16+16+16; 16+8+2*(16+16) */
    for (uint32_t i = 0, row = 0, column = 0; i < 5; i++) {
        const pfb_sample_result *r = &t->results[i];
        cr_expect_eq(r->kind, kinds[i], "result %u", i);
        cr_expect_eq(r->status, i == 0 ? 0x1069 : 0, "result %u", i);
        cr_expect_eq(r->offset, offsets[i], "result %u at %zu", i, r->offset);
        cr_expect(r->first_row == row && r->row_count == rows[i], "result %u", i);
        cr_expect(r->first_column == column && r->column_count == columns[i], "result %u", i);
        cr_expect(!r->has_query && r->counter_id == PFB_NO_ID, "result %u", i);
        cr_expect(r->code_page == PFB_ENCODING_UTF16LE && r->help_index == 0 && r->detail_level == 0, "result %u", i);
        cr_expect_eq(r->default_column, PFB_NONE, "result %u", i);
        row += rows[i];
        column += columns[i];
    }
    expect_row(s, 0, PFB_NO_ID, NULL, "the single value");
    expect_row(s, 1, PFB_NO_ID, NULL, "the row of multiple counters");
    expect_row(s, 2, 1, "a", "the first instance");
    expect_row(s, 3, 2, "", "the second instance");
    expect_row(s, 4, 3, "c", "the instance of the counterset");
    sample_free(s);
}

Test(sample, values_and_columns_are_those_of_the_block)
{
    sample *s = all_kinds();
    sample_load(s);
    const pfb_sample *t = &s->table;
    static const uint64_t raws[] = {11, 21, 0, 31, 32, 41, 42, UINT64_MAX};
    static const uint32_t sizes[] = {8, 4, 5, 4, 4, 4, 8, 8};
    static const uint32_t rows[] = {0, 1, 1, 2, 3, 4, 4, 4};
    static const uint32_t columns[] = {0, 1, 2, 3, 3, 4, 5, 6};
    for (uint32_t i = 0; i < 8; i++) {
        pfb_sample_value v = pfb_sample_value_at(t, rows[i], columns[i]);
        cr_expect(v.exists && v.raw == raws[i] && v.size_bytes == sizes[i], "value %u", i);
        cr_expect(v.is_number == (sizes[i] != 5) && !v.has_multi_count && (v.is_number || v.offset == 152), "value %u",
                  i);
    }
    cr_expect_null(t->multi_counts);
    cr_expect_not(pfb_sample_value_at(t, 0, 1).exists, "a column of another result");
    cr_expect_not(pfb_sample_value_at(t, 5, 0).exists || pfb_sample_value_at(t, 0, 7).exists, "outside the table");
    static const uint32_t ids[] = {PFB_NO_ID, 5, 6, PFB_NO_ID, 5, 6, 7};
    static const uint32_t positions[] = {0, 0, 1, 0, 0, 1, 2};
    for (uint32_t i = 0; i < 7; i++) {
        const pfb_sample_column *c = &t->columns[i];
        cr_expect(c->counter_id == ids[i] && c->position == positions[i] && !c->has_counter, "column %u", i);
        cr_expect(c->base_column == PFB_NONE && c->multi_column == PFB_NONE && c->time_column == PFB_NONE &&
                      c->freq_column == PFB_NONE,
                  "column %u", i);
    }
    for (uint32_t i = 0; i < 5; i++)
        cr_expect_eq(t->rows[i].older_row, PFB_NONE, "row %u", i);
    cr_expect(t->results[3].stride == 2 && pfb_sample_place(t, 3, 3) == pfb_sample_place(t, 2, 3) + 1,
              "the values of a column are adjacent");
    sample_free(s);
}

/* ---- Queries ------------------------------------------------------------------------------------------- */

/* The reply to a query for one counter lacks its id. The reply to a query for one instance lacks its id and name. */
Test(sample, ids_and_names_that_replies_lack_come_from_the_queries)
{
    sample *s = sample_new(1);
    pfb_counter counters[] = {counter_without_references(5, COUNTER), counter_without_references(6, AVERAGE_BULK)};
    static const uint32_t ids[] = {6};
    sample_register(s, SET, counters, 2);
    sample_query(s, SET, 5, 9, "exact", 0);
    sample_query(s, SET, PFB_NO_ID, PFB_NO_ID, "other", 1);
    sample_query(s, SET, 5, PFB_NO_ID, "*", 2);
    sample_query(s, SET, 5, PFB_NO_ID, NULL, 3);
    sample_query(s, SET, 5, 3, "a?c", 4);
    for (uint32_t i = 0; i < 5; i++) {
        static const uint32_t kinds[] = {PFB_V2_SINGLE_COUNTER, PFB_V2_MULTIPLE_COUNTERS, PFB_V2_MULTIPLE_INSTANCES,
                                         PFB_V2_SINGLE_COUNTER, PFB_V2_SINGLE_COUNTER};
        sample_result(s, kinds[i], ids, 1);
        if (kinds[i] == PFB_V2_MULTIPLE_INSTANCES)
            sample_row(s, 77, "own");
        sample_value(s, i, 4);
    }
    sample_load(s);
    const pfb_sample *t = &s->table;
    static const uint32_t column_ids[] = {5, 6, 5, 5, 5};
    for (uint32_t i = 0; i < 5; i++) {
        cr_expect(t->results[i].has_query && t->columns[i].has_counter, "result %u", i);
        cr_expect_eq(t->columns[i].counter_id, column_ids[i], "result %u", i);
        cr_expect_eq(t->columns[i].counter.id, column_ids[i], "result %u", i);
        cr_expect_eq(t->results[i].counter_id, i == 1 ? PFB_NO_ID : 5, "result %u", i);
    }
    expect_row(s, 0, 9, "exact", "a query of one counter with an exact name");
    expect_row(s, 1, PFB_NO_ID, "other", "a query of all counters with an exact name");
    expect_row(s, 2, 77, "own", "an instance whose name is in the reply");
    expect_row(s, 3, PFB_NO_ID, NULL, "a query without name");
    expect_row(s, 4, 3, NULL, "a pattern is not used as a name");
    sample_free(s);
}

/* A query for all counters does not identify the counter of a result of kind 1. The id PFB_NO_ID identifies none, even
 * if a registered counter has it. */
Test(sample, counters_without_an_id_stay_unknown)
{
    pfb_counter counters[] = {counter_without_references(PFB_NO_ID, COUNTER), counter_without_references(1, COUNTER)};
    static const uint32_t ids[] = {PFB_NO_ID, 1};
    sample *s = sample_new(1);
    sample_register(s, SET, counters, 2);
    sample_query(s, SET, PFB_NO_ID, PFB_NO_ID, NULL, 0);
    sample_query(s, SET, PFB_NO_ID, PFB_NO_ID, NULL, 1);
    sample_result(s, PFB_V2_SINGLE_COUNTER, NULL, 0);
    sample_value(s, 1, 4);
    sample_result(s, PFB_V2_MULTIPLE_COUNTERS, ids, 2);
    sample_value(s, 1, 4);
    sample_value(s, 1, 4);
    sample_load(s);
    cr_expect(!s->table.columns[0].has_counter && !s->table.columns[1].has_counter);
    cr_expect(s->table.columns[2].has_counter);
    sample_free(s);
}

Test(sample, results_without_instances_have_columns)
{
    static const uint32_t ids[] = {5, 6};
    sample *s = sample_new(1);
    sample_query(s, SET, 3, PFB_NO_ID, "*", 0);
    sample_result(s, PFB_V2_MULTIPLE_INSTANCES, NULL, 0);
    sample_result(s, PFB_V2_COUNTERSET, ids, 2);
    sample_result(s, PFB_V2_COUNTERSET, NULL, 0);
    sample_load(s);
    cr_expect_eq(s->table.counts.rows, 0);
    cr_assert_eq(s->table.counts.columns, 3);
    cr_expect_eq(s->table.columns[0].counter_id, 3);
    cr_expect(s->table.columns[1].counter_id == 5 && s->table.columns[2].counter_id == 6);
    cr_expect_eq(s->table.results[2].column_count, 0);
    sample_free(s);
}

/* Queries are found by Index, not by their order. The first of several for one result is used. A query for a result
 * that does not exist is ignored. */
Test(sample, results_are_found_by_index)
{
    sample *s = sample_new(1);
    sample_query(s, SET, 3, 1, "three", 2);
    sample_query(s, SET, 1, 1, "one", 0);
    sample_query(s, OTHER_SET, 8, 1, "late", 0);
    sample_query(s, SET, 9, 1, "far", 3);
    sample_query(s, SET, 9, 1, "farther", UINT32_MAX);
    for (uint32_t i = 0; i < 3; i++) {
        sample_result(s, PFB_V2_SINGLE_COUNTER, NULL, 0);
        sample_value(s, i, 4);
    }
    sample_load(s);
    const pfb_sample *t = &s->table;
    expect_row(s, 0, 1, "one", "result 0");
    expect_row(s, 1, PFB_NO_ID, NULL, "result 1, which has no query");
    expect_row(s, 2, 1, "three", "result 2");
    cr_expect(t->results[0].has_query && !t->results[1].has_query && t->results[2].has_query);
    cr_expect(t->columns[0].counter_id == 1 && t->columns[1].counter_id == PFB_NO_ID && t->columns[2].counter_id == 3);
    pfb_guid guid = set_guid(SET);
    cr_expect(pfb_guid_equal(&t->results[0].counterset, &guid));
    sample_free(s);
}

/* The block has one result. The query for result 1 must not lead to an access past the end of the table. */
Test(sample, queries_for_missing_results_are_ignored)
{
    sample *s = sample_new(1);
    sample_query(s, SET, 1, 1, "far", 1);
    sample_query(s, SET, 1, 1, "near", 0);
    sample_result(s, PFB_V2_ERROR, NULL, 0);
    sample_load(s);
    cr_expect(s->table.counts.results == 1 && s->table.results[0].has_query);
    cr_expect_eq(s->table.results[0].counter_id, 1);
    sample_free(s);
}

/* Query information is read in tolerant mode even if the block is read in strict mode. An identifier of unaligned size
 * is accepted. */
Test(sample, query_information_is_read_in_tolerant_mode)
{
    sample *s = sample_new(1);
    bytes info = {.size = 0};
    for (uint32_t index = 0; index < 2; index++) {
        sample_result(s, PFB_V2_SINGLE_COUNTER, NULL, 0);
        sample_value(s, index, 4);
        put_fill(&info, SET, 16);
        put_u32(&info, 0);
        put_u32(&info, 44);
        put_u32(&info, 5 + index);
        put_u32(&info, PFB_NO_ID);
        put_u32(&info, index);
        put_u64(&info, 0); /* reserved, an empty name */
    }
    sample_end(s);
    s->input.query_info = info.data;
    s->input.query_info_size_bytes = info.size;
    for (int is_strict = 0; is_strict < 2; is_strict++) {
        s->input.options = is_strict ? STRICT : NULL;
        sample_load(s);
        cr_expect(s->table.columns[0].counter_id == 5 && s->table.columns[1].counter_id == 6, "strict: %d", is_strict);
    }
    sample_free(s);
}

Test(sample, query_information_is_used_up_to_its_first_error)
{
    sample *s = sample_new(1);
    for (uint32_t i = 0; i < 3; i++) {
        sample_result(s, PFB_V2_SINGLE_COUNTER, NULL, 0);
        sample_value(s, i, 4);
        sample_query(s, SET, i, 1, "name", i);
    }
    sample_end(s);
    size_t block = s->info.size_bytes / 3;
    for (size_t size = 0; size <= s->info.size_bytes; size++) {
        s->input.query_info_size_bytes = size;
        sample_load(s);
        for (uint32_t i = 0; i < 3; i++)
            cr_expect_eq(s->table.results[i].has_query, size >= (i + 1) * block, "%zu bytes", size);
    }
    s->input.query_info = NULL;
    sample_load(s);
    cr_expect(!s->table.results[0].has_query, "without query information, results have no query");
    sample_free(s);
}

/* ---- Registrations ------------------------------------------------------------------------------------- */

static sample *one_column(uint32_t counter_id)
{
    sample *s = sample_new(1);
    sample_query(s, SET, counter_id, PFB_NO_ID, NULL, 0);
    sample_result(s, PFB_V2_SINGLE_COUNTER, NULL, 0);
    sample_value(s, 1, 4);
    return s;
}

/* The ids descend, and each occurs twice. They are found by linear search, and by binary search after sorting. */
Test(sample, the_first_of_repeated_counters_is_found)
{
    enum { IDS = 500 };
    pfb_counter counters[IDS];
    static uint32_t order[IDS];
    for (uint32_t i = 0; i < IDS; i++) {
        counters[i] = counter_without_references(2 * ((IDS - 1 - i) / 2), RAWCOUNT);
        counters[i].detail_level = i;
    }
    for (int is_sorted = 0; is_sorted < 2; is_sorted++) {
        for (uint32_t id = 0; id < IDS + 2; id++) {
            sample *s = one_column(id);
            sample_register(s, SET, counters, IDS);
            cr_assert_not(s->registrations[0].is_ascending);
            if (is_sorted)
                pfb_registration_sort(&s->registrations[0], order);
            sample_load(s);
            const pfb_sample_column *column = &s->table.columns[0];
            cr_expect_eq(column->has_counter, id < IDS && id % 2 == 0, "id %u, sorted: %d", id, is_sorted);
            if (column->has_counter) /* the first of the two with this id */
                cr_expect(column->counter.id == id && column->counter.detail_level == IDS - 2 - id, "id %u, sorted: %d",
                          id, is_sorted);
            sample_free(s);
        }
    }
}

Test(sample, the_last_registration_of_a_counterset_is_used)
{
    pfb_counter first[] = {counter_without_references(1, RAWCOUNT), counter_without_references(5, COUNTER)};
    pfb_counter second[] = {counter_without_references(5, AVERAGE_BULK), counter_without_references(5, RAWCOUNT),
                            counter_without_references(0, LARGE_RAWCOUNT)};
    for (int last = 0; last < 4; last++) {
        sample *s = one_column(5);
        sample_register(s, SET, first, 2);
        if (last == 1)
            sample_register(s, SET, second, 3);
        if (last == 2)
            sample_register(s, SET, second + 2, 1);
        if (last == 3)
            sample_register(s, SET, NULL, 0);
        sample_register(s, OTHER_SET, second, 3);
        sample_load(s);
        const pfb_sample_column *c = &s->table.columns[0];
        cr_expect_eq(c->has_counter, last < 2, "case %d: only counters of the last registration are known", last);
        cr_expect(!c->has_counter || c->counter.type == (last == 0 ? COUNTER : AVERAGE_BULK), "case %d", last);
        sample_free(s);
    }
}

/* Two countersets whose GUIDs differ in the last byte only, with a counter of the same id. */
Test(sample, countersets_are_distinguished_by_the_last_byte_of_their_guids)
{
    enum { SIMILAR = SET + 0x100 };
    const pfb_counter counters[] = {counter_without_references(5, COUNTER), counter_without_references(5, RAWCOUNT)};
    for (uint32_t order = 0; order < 2; order++) {
        sample *s = sample_new(1);
        sample_register(s, order ? SIMILAR : SET, &counters[order], 1);
        sample_register(s, order ? SET : SIMILAR, &counters[1 - order], 1);
        sample_query(s, SIMILAR, 5, PFB_NO_ID, "a", 0);
        sample_query(s, SET, 5, PFB_NO_ID, "a", 1);
        for (uint32_t r = 0; r < 2; r++) {
            sample_result(s, PFB_V2_SINGLE_COUNTER, NULL, 0);
            sample_value(s, r, 4);
        }
        sample_load(s);
        cr_expect_eq(s->table.columns[0].counter.type, RAWCOUNT, "order %u", order);
        cr_expect_eq(s->table.columns[1].counter.type, COUNTER, "order %u", order);
        sample_free(s);
    }
}

Test(sample, each_of_many_registrations_is_found)
{
    enum { COUNT = 7 };
    sample *s = sample_new(1);
    for (unsigned set = COUNT; set > 0; set--) {
        pfb_counter counter = counter_without_references(5, 1000 + set);
        sample_register(s, set, &counter, 1);
    }
    for (unsigned set = 1; set <= COUNT; set++) {
        sample_query(s, set, 5, PFB_NO_ID, "a", set - 1);
        sample_result(s, PFB_V2_SINGLE_COUNTER, NULL, 0);
        sample_value(s, set, 4);
    }
    sample_load(s);
    for (unsigned i = 0; i < COUNT; i++)
        cr_expect_eq(s->table.columns[i].counter.type, 1001 + i, "counterset %u", i + 1);
    sample_free(s);
}

Test(sample, counters_are_found_in_any_order_of_ids)
{
    enum { COUNT = 500 };
    static pfb_counter counters[COUNT];
    for (uint32_t i = 0; i < COUNT; i++) /* 7 and 500 are coprime, so each id occurs once, in mixed order */
        counters[i] = counter_without_references(i * 7 % COUNT, i * 7 % COUNT + 1000);
    sample *s = sample_new(1);
    uint32_t ids[COUNT + 2];
    for (uint32_t i = 0; i < COUNT + 2; i++)
        ids[i] = COUNT + 1 - i;
    sample_register(s, SET, counters, COUNT);
    sample_query(s, SET, PFB_NO_ID, PFB_NO_ID, NULL, 0);
    sample_result(s, PFB_V2_MULTIPLE_COUNTERS, ids, COUNT + 2);
    for (uint32_t i = 0; i < COUNT + 2; i++)
        sample_value(s, i, 4);
    sample_load(s);
    for (uint32_t i = 0; i < COUNT + 2; i++) {
        const pfb_sample_column *c = &s->table.columns[i];
        cr_expect_eq(c->has_counter, ids[i] < COUNT, "id %u", ids[i]);
        cr_expect(!c->has_counter || (c->counter.id == ids[i] && c->counter.type == ids[i] + 1000), "id %u", ids[i]);
    }
    sample_free(s);
}

/* The columns of base, multi count and clocks are in the same result, or else in another result of the same
 * counterset. */
Test(sample, references_are_linked)
{
    pfb_counter counters[] = {counter_without_references(1, AVERAGE_BULK), counter_without_references(2, AVERAGE_BASE),
                              counter_without_references(3, RAWCOUNT), counter_without_references(4, LARGE_RAWCOUNT),
                              counter_without_references(5, LARGE_RAWCOUNT)};
    counters[0].base_id = 2;
    counters[0].multi_id = 3;
    counters[0].perf_time_id = 4;
    counters[0].perf_freq_id = 5;
    static const uint32_t ids[] = {2, 1, 4};
    static const uint32_t others[] = {5, 4, 2, 2};
    sample *s = sample_new(1);
    sample_register(s, SET, counters, 5);
    sample_register(s, OTHER_SET, counters, 5);
    sample_query(s, OTHER_SET, PFB_NO_ID, PFB_NO_ID, NULL, 0); /* only its result has counter 3 */
    sample_query(s, SET, PFB_NO_ID, PFB_NO_ID, NULL, 1);
    sample_query(s, SET, PFB_NO_ID, PFB_NO_ID, NULL, 2);
    static const uint32_t id_of_multi_count[] = {3};
    sample_result(s, PFB_V2_MULTIPLE_COUNTERS, id_of_multi_count, 1);
    sample_value(s, 1, 4);
    sample_result(s, PFB_V2_MULTIPLE_COUNTERS, ids, 3);
    for (int i = 0; i < 3; i++)
        sample_value(s, 1, 8);
    sample_result(s, PFB_V2_MULTIPLE_COUNTERS, others, 4);
    for (int i = 0; i < 4; i++)
        sample_value(s, 1, 8);
    sample_load(s);
    const pfb_sample_column *c = &s->table.columns[2]; /* counter 1, after 3 and 2 */
    cr_assert_eq(c->counter_id, 1);
    cr_expect_eq(c->base_column, 1, "counter 2 is in the same result");
    cr_expect_eq(c->time_column, 3, "counter 4 is in the same result");
    cr_expect_eq(c->freq_column, 4, "counter 5 is in the next result");
    cr_expect_eq(c->multi_column, PFB_NONE, "counter 3 is only in a result of another counterset");
    cr_expect_eq(s->table.columns[1].base_column, PFB_NONE);
    sample_free(s);
}

/* ---- Memory -------------------------------------------------------------------------------------------- */

static void expect_empty(const pfb_sample *t, const char *what)
{
    cr_expect(t->counts.results == 0 && t->counts.columns == 0 && t->counts.rows == 0 && t->counts.values == 0, "%s",
              what);
}

Test(sample, a_sample_needs_exactly_the_measured_memory)
{
    sample *s = all_kinds();
    pfb_counter counters[] = {counter_without_references(5, COUNTER), counter_without_references(1, COUNTER)};
    sample_register(s, SET, counters, 2);
    sample_query(s, SET, PFB_NO_ID, PFB_NO_ID, "*", 4);
    sample_measure(s);
    guarded memory = guarded_make(s->memory_size);
    uint8_t *at = memory.end - s->memory_size;
    cr_assert_eq(s->memory_size % 8, 0);
    memset(memory.begin, 0x77, (size_t)(memory.end - memory.begin));
    pfb_sample t;
    pfb_error error = pfb_sample_load(&t, &s->input, &s->counts, at, s->memory_size);
    expect_error(error, PFB_OK, 0, "memory of exactly the size");
    cr_expect_eq(t.counts.values, 8);
    for (const uint8_t *p = memory.begin; p < at; p++)
        cr_assert_eq(*p, 0x77, "a byte before the memory is unchanged");
    for (size_t less = 1; less <= s->memory_size; less += less < 16 ? 1 : 97) {
        char what[40];
        snprintf(what, sizeof what, "memory that lacks %zu bytes", less);
        memset(memory.begin, 0x77, (size_t)(memory.end - memory.begin));
        error = pfb_sample_load(&t, &s->input, &s->counts, at, s->memory_size - less);
        expect_error(error, PFB_CALLER_TOO_SMALL, 0, what);
        expect_empty(&t, what);
        for (size_t i = s->memory_size - less; i < s->memory_size; i++)
            cr_assert_eq(at[i], 0x77, "%s: byte %zu is after it", what, i);
    }
    error = pfb_sample_load(&t, &s->input, &s->counts, NULL, s->memory_size);
    expect_error(error, PFB_CALLER_TOO_SMALL, 0, "no memory");
    guarded_free(&memory);
    sample_free(s);
}

/* Each count in turn is one too small, as if the bytes had changed after they were measured. */
Test(sample, counts_that_are_too_small_are_refused)
{
    static const char *const names[] = {"one result less", "one column less", "one row less", "one value less",
                                        "one registration less"};
    for (int which = 0; which < 5; which++) {
        pfb_counter counter = counter_without_references(5, COUNTER);
        sample *s = all_kinds();
        sample_register(s, SET, &counter, 1);
        sample_measure(s);
        pfb_sample_counts counts = s->counts;
        uint32_t *fields[] = {&counts.results, &counts.columns, &counts.rows};
        if (which < 3)
            --*fields[which];
        else if (which == 3)
            counts.values--;
        else
            counts.registrations--;
        size_t size = pfb_sample_size(&counts);
        void *memory = malloc(size);
        pfb_sample t;
        expect_error(pfb_sample_load(&t, &s->input, &counts, memory, size), PFB_CALLER_TOO_SMALL, 0, names[which]);
        expect_empty(&t, names[which]);
        free(memory);
        sample_free(s);
    }
}

Test(sample, larger_counts_are_accepted)
{
    sample *s = all_kinds();
    sample_measure(s);
    pfb_sample_counts counts = {9, 19, 29, 49, 39, 0};
    size_t size = pfb_sample_size(&counts);
    void *memory = malloc(size);
    pfb_sample t;
    expect_error(pfb_sample_load(&t, &s->input, &counts, memory, size), PFB_OK, 0, "memory for larger counts");
    cr_expect_eq(memcmp(&t.counts, &s->counts, sizeof t.counts), 0, "the counts are those of the loaded block");
    free(memory);
    sample_free(s);
}

Test(sample, the_size_is_0_if_it_exceeds_the_address_space)
{
    pfb_sample_counts none = {0};
    cr_expect_eq(pfb_sample_size(&none), 0);
    pfb_sample_counts huge = {PFB_NONE - 1, PFB_NONE - 1, PFB_NONE - 1, PFB_NONE - 1, PFB_NONE - 1, 0};
    if (sizeof(size_t) == 8)
        cr_expect_gt(pfb_sample_size(&huge), (size_t)4 * PFB_NONE);
    else
        cr_expect_eq(pfb_sample_size(&huge), 0);
    /* More values or multi counts than any block has. */
    const pfb_sample_counts impossible[] = {{.values = UINT64_MAX / 8}, {.multi_counts = UINT64_MAX / 8}};
    for (size_t i = 0; i < 2; i++)
        cr_expect_eq(pfb_sample_size(&impossible[i]), 0, "case %zu", i);
}

Test(sample, null_and_empty_blocks_give_an_empty_table)
{
    pfb_sample_input input = {.data = NULL};
    pfb_sample_counts counts;
    pfb_sample t;
    expect_error(pfb_sample_measure(&input, &counts), PFB_TRUNCATED_HEADER, 0, "a null block");
    expect_error(pfb_sample_load(&t, &input, &counts, NULL, 0), PFB_TRUNCATED_HEADER, 0, "a null block");
    expect_empty(&t, "a null block");
    pfb_sample_number_rows(&t);
    sample *s = sample_new(1);
    sample_load(s);
    cr_expect_eq(s->loaded.code, PFB_OK);
    expect_empty(&s->table, "a block without results");
    sample_free(s);
}

/* ---- Broken blocks ------------------------------------------------------------------------------------- */

/* Checks that everything before the error is as in the valid block. Returns the number of values. */
static uint32_t expect_beginning(const pfb_sample *part, const pfb_sample *whole, size_t size)
{
    cr_expect_leq(part->counts.results, whole->counts.results, "%zu bytes", size);
    cr_expect_leq(part->counts.rows, whole->counts.rows, "%zu bytes", size);
    uint32_t values = 0;
    for (uint32_t i = 0; i < part->counts.rows; i++) {
        const pfb_sample_row *row = &part->rows[i];
        const pfb_sample_result *result = &part->results[row->result];
        cr_expect(row->id == whole->rows[i].id && row->value_count <= whole->rows[i].value_count, "row %u of %zu bytes",
                  i, size);
        for (uint32_t n = 0; n < result->column_count; n++) {
            pfb_sample_value v = pfb_sample_value_at(part, i, result->first_column + n);
            pfb_sample_value w = pfb_sample_value_at(whole, i, result->first_column + n);
            cr_expect_eq(v.exists, n < row->value_count, "row %u, column %u of %zu bytes", i, n, size);
            cr_expect(!v.exists || (v.raw == w.raw && v.size_bytes == w.size_bytes && v.offset == w.offset),
                      "row %u, column %u of %zu bytes", i, n, size);
        }
        values += row->value_count;
    }
    return values;
}

/* The total size is set to each smaller multiple of 8. The sample contains everything before the error, which is that
 * of the block reader. */
Test(sample, malformed_blocks_are_loaded_up_to_the_error)
{
    sample *whole = all_kinds();
    sample_load(whole);
    size_t full = whole->data.size_bytes;
    uint32_t last_values = 0;
    for (size_t size = 48; size < full; size += 8) {
        sample *s = all_kinds();
        sample_end(s);
        s->data.data[0] = (uint8_t)size;
        s->data.data[1] = (uint8_t)(size >> 8);
        sample_load(s);
        pfb_v2_reader block;
        pfb_v2_open(&block, s->input.data, s->input.data_size_bytes, NULL);
        pfb_error expected = pfb_v2_finish(&block);
        char what[32];
        snprintf(what, sizeof what, "%zu bytes", size);
        expect_error(s->loaded, expected.code, expected.offset, what);
        cr_expect_neq(s->loaded.code, PFB_OK, "%s", what);
        uint32_t values = expect_beginning(&s->table, &whole->table, size);
        cr_expect_geq(values, last_values, "%s", what);
        last_values = values;
        sample_free(s);
    }
    sample_free(whole);
}

/* The size of a value is too large. The sample contains its instance and the values before it. */
Test(sample, a_row_ends_before_a_malformed_value)
{
    static const uint32_t ids[] = {1, 2, 3};
    sample *s = sample_new(1);
    sample_result(s, PFB_V2_COUNTERSET, ids, 3);
    sample_row(s, 1, "a");
    for (uint64_t i = 0; i < 3; i++)
        sample_value(s, i, 4);
    sample_row(s, 2, "b");
    sample_value(s, 10, 4);
    pfb_write_break(&s->data, PFB_FAULT_DATA_SIZE_HUGE);
    sample_value(s, 11, 4);
    sample_value(s, 12, 4);
    sample_load(s);
    cr_expect_eq(s->loaded.code, PFB_BAD_DATA_SIZE);
    cr_expect_eq(s->loaded.offset, s->data.fault_offset);
    cr_expect_eq(s->table.counts.rows, 2);
    cr_expect(s->table.rows[0].value_count == 3 && s->table.rows[1].value_count == 1);
    cr_expect_eq(s->table.results[0].row_count, 2);
    sample_free(s);
}

Test(sample, strict_mode_and_notes_are_those_of_the_block_reader)
{
    sample *s = all_kinds();
    pfb_write_break(&s->data, PFB_FAULT_RESULT_KIND_UNKNOWN);
    sample_result(s, PFB_V2_SINGLE_COUNTER, NULL, 0);
    sample_value(s, 1, 4);
    sample_load(s);
    cr_expect_eq(s->loaded.code, PFB_OK);
    cr_expect_eq(s->table.notes, PFB_NOTE_UNKNOWN_KIND);
    cr_expect(s->table.results[5].row_count == 0 && s->table.results[5].column_count == 0);
    s->input.options = STRICT;
    sample_load(s);
    cr_expect_eq(s->loaded.code, PFB_UNKNOWN_KIND);
    cr_expect_eq(s->table.counts.results, 5);
    sample_free(s);
}

/* ---- Occurrences and ranks ----------------------------------------------------------------------------- */

/* `occurrence` counts equal names in a result, `rank` equal names with equal ids; from 0, in the order of the block. */
Test(sample, rows_are_numbered_by_name_and_id)
{
    static const struct {
        uint32_t id;
        const char *name;
        uint32_t occurrence, rank;
    } rows[] = {
        {1, "x", 0, 0}, {2, "x", 1, 0}, {1, "x", 2, 1}, {1, "", 0, 0},   {1, "y", 0, 0},
        {2, "x", 3, 1}, {1, "x", 4, 2}, {1, "", 1, 1},  {1, "xx", 0, 0}, {9, "X", 0, 0},
    };
    sample *s = sample_new(1);
    for (int result = 0; result < 2; result++) {
        sample_query(s, SET, 1, PFB_NO_ID, "*", (uint32_t)result);
        sample_result(s, PFB_V2_MULTIPLE_INSTANCES, NULL, 0);
        for (size_t i = 0; i < 10; i++) {
            sample_row(s, rows[i].id, rows[i].name);
            sample_value(s, i, 4);
        }
    }
    sample_load(s);
    for (int pass = 0; pass < 2; pass++) { /* a second call does not change the result */
        pfb_sample_number_rows(&s->table);
        for (uint32_t i = 0; i < 20; i++) {
            const pfb_sample_row *row = &s->table.rows[i];
            cr_expect_eq(row->occurrence, rows[i % 10].occurrence, "row %u", i);
            cr_expect_eq(row->rank, rows[i % 10].rank, "row %u", i);
            cr_expect_eq(row->instance, i % 10, "row %u", i);
        }
    }
    sample_free(s);
}

/* 20000 equal instances, and 20000 in descending order. The time-out detects numbering in quadratic time. */
Test(sample, numbering_does_not_take_quadratic_time, .timeout = 20)
{
    for (int equal = 0; equal < 2; equal++) {
        sample *s = sample_new_large(1, 1 << 20);
        sample_result(s, PFB_V2_MULTIPLE_INSTANCES, NULL, 0);
        for (uint32_t i = 0; i < 20000; i++) {
            sample_row(s, equal ? 5 : 20000 - i, equal ? "same" : "");
            sample_value(s, i, 4);
        }
        sample_load(s);
        pfb_sample_number_rows(&s->table);
        cr_expect_eq(s->table.rows[19999].occurrence, 19999);
        cr_expect_eq(s->table.rows[19999].rank, equal ? 19999 : 0);
        sample_free(s);
    }
}

Test(sample, there_is_no_raw_value_outside_of_the_sample)
{
    const pfb_sample empty = {.counts = {.rows = 0}};
    cr_expect_eq(pfb_sample_raw_value(&empty, 0, 0).has, 0);
    sample *s = all_kinds();
    sample_load(s);
    static const uint32_t outside[][2] = {{5, 0}, {0, 7}, {0, 1}, {PFB_NONE, 0}, {0, PFB_NONE}};
    for (size_t i = 0; i < sizeof outside / sizeof outside[0]; i++)
        cr_expect_eq(pfb_sample_raw_value(&s->table, outside[i][0], outside[i][1]).has, 0, "row %u, column %u",
                     outside[i][0], outside[i][1]);
    pfb_raw_value inside = pfb_sample_raw_value(&s->table, 0, 0);
    cr_expect((inside.has & PFB_HAS_VALUE) && inside.value == 11, "the value of the first result that has one");
    sample_free(s);
}
