/* SPDX-License-Identifier: MIT */
/* Evaluation of all values of two samples: matching of instances, bases and clocks of counters, and statuses. */
#include "support.h"
#include "support_samples.h"

#include <criterion/criterion.h>

#include "perfblock/sample.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SET = 1, OTHER_SET = 2 };

static void expect_value(pfb_formula_result r, double value, const char *what)
{
    cr_expect_eq(r.status, PFB_STATUS_OK, "%s: %s", what, pfb_status_name(r.status));
    cr_expect_eq(memcmp(&r.value, &value, sizeof value), 0, "%s: %.17g instead of %.17g", what, r.value, value);
}

static void expect_status(pfb_formula_result r, pfb_status status, const char *what)
{
    cr_expect_eq(r.status, status, "%s: %s instead of %s", what, pfb_status_name(r.status), pfb_status_name(status));
}

/* Matches the samples and evaluates one cell of the newer one. */
static pfb_formula_result evaluate_cell(sample *older, sample *newer, uint32_t row, uint32_t column)
{
    pfb_sample_match(&older->table, &newer->table, NULL, 0);
    return pfb_sample_cook_value(&older->table, &newer->table, row, column, NULL, NULL);
}

/* ---- Instances ----------------------------------------------------------------------------------------- */

/* Makes a sample with these instances, each with a value of one counter. */
static sample *instances_at(int64_t tick, const instance *list)
{
    return sample_of_instances(SET, tick, DELTA, list);
}

#define NO PFB_NONE
#define END                                                                                                            \
    {                                                                                                                  \
        0, NULL                                                                                                        \
    }

/* Instances that are unchanged, added, removed, moved or repeated. */
Test(cook, instances_match_by_id_and_name)
{
    static const struct {
        const char *what;
        instance older[8], newer[8];
        uint32_t expected[8];
    } rows[] = {
        {"unchanged instances", {{1, "a"}, {2, "b"}, END}, {{1, "a"}, {2, "b"}, END}, {0, 1}},
        {"an instance is added at the end", {{1, "a"}, END}, {{1, "a"}, {2, "b"}, END}, {0, NO}},
        {"an instance is added at the beginning", {{1, "a"}, END}, {{2, "b"}, {1, "a"}, END}, {NO, 0}},
        {"the first instance is removed", {{1, "a"}, {2, "b"}, {3, "c"}, END}, {{2, "b"}, {3, "c"}, END}, {1, 2}},
        {"the last instance is removed", {{1, "a"}, {2, "b"}, END}, {{1, "a"}, END}, {0}},
        {"the order changed", {{1, "a"}, {2, "b"}, {3, "c"}, END}, {{3, "c"}, {1, "a"}, {2, "b"}, END}, {2, 0, 1}},
        {"no older instances", {END}, {{1, "a"}, END}, {NO}},
        {"no newer instances", {{1, "a"}, END}, {END}, {0}},
        {"same name, another id", {{1, "a"}, END}, {{2, "a"}, END}, {NO}},
        {"same id, another name", {{1, "a"}, END}, {{1, "b"}, END}, {NO}},
        {"a longer name", {{1, "a"}, END}, {{1, "aa"}, END}, {NO}},
        {"the case of a letter changed", {{1, "a"}, END}, {{1, "A"}, END}, {NO}},
        {"empty names", {{1, ""}, {2, ""}, END}, {{2, ""}, {1, ""}, END}, {1, 0}},
        {"two ids of one name are exchanged", {{1, "a"}, {2, "a"}, END}, {{2, "a"}, {1, "a"}, END}, {1, 0}},
        {"equal instances, one is removed", {{1, "a"}, {1, "a"}, {1, "a"}, END}, {{1, "a"}, {1, "a"}, END}, {0, 1}},
        {"equal instances, one is added", {{1, "a"}, {1, "a"}, END}, {{1, "a"}, {1, "a"}, {1, "a"}, END}, {0, 1, NO}},
        {"equal instances among others",
         {{1, "a"}, {2, "b"}, {1, "a"}, {3, "c"}, {1, "a"}, END},
         {{3, "c"}, {1, "a"}, {1, "a"}, {2, "b"}, {1, "a"}, {1, "a"}, END},
         {3, 0, 2, 1, 4, NO}},
        {"equal instances after unchanged ones",
         {{1, "a"}, {1, "a"}, {2, "b"}, END},
         {{1, "a"}, {2, "b"}, {1, "a"}, END},
         {0, 2, 1}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        sample *older = instances_at(1, rows[i].older);
        sample *newer = instances_at(2, rows[i].newer);
        for (int pass = 0; pass < 2; pass++) { /* a second call does not change the result */
            pfb_sample_match(&older->table, &newer->table, NULL, 0);
            for (uint32_t n = 0; n < newer->table.counts.rows; n++)
                cr_expect_eq(newer->table.rows[n].older_row, rows[i].expected[n], "%s: row %u matches older row %u",
                             rows[i].what, n, newer->table.rows[n].older_row);
        }
        sample_free_both(older, newer);
    }
}

/* The first 0 to 12 instances are equal in both samples. */
Test(cook, random_instances_match_as_in_the_reference)
{
    static const char *const names[] = {"", "a", "b", "ab", "abc", "_Total"};
    uint64_t random = 7;
    for (int round = 0; round < 2000; round++) {
        instance lists[2][41] = {{END}, {END}};
        uint32_t common = (uint32_t)round % 5 * 3;
        for (int side = 0; side < 2; side++) {
            uint32_t count = common + random_below(&random, 26);
            for (uint32_t i = 0; i < count; i++) {
                uint32_t id = random_below(&random, 3);
                lists[side][i] = (instance){id, names[random_below(&random, 6)]};
                if (side == 1 && i < common)
                    lists[1][i] = lists[0][i];
            }
            lists[side][count].name = NULL;
        }
        sample *older = instances_at(1, lists[0]);
        sample *newer = instances_at(2, lists[1]);
        pfb_sample_match(&older->table, &newer->table, NULL, 0);
        for (uint32_t n = 0; n < newer->table.counts.rows; n++)
            cr_expect_eq(newer->table.rows[n].older_row, matching_row(lists[0], lists[1], n), "round %d, row %u", round,
                         n);
        sample_free_both(older, newer);
    }
}

static sample *many_instances(int64_t tick, uint32_t count, bool reversed)
{
    sample *s = sample_new_large(tick, (size_t)1 << 20);
    sample_query(s, SET, 1, PFB_NO_ID, "*", 0);
    sample_result(s, PFB_V2_MULTIPLE_INSTANCES, NULL, 0);
    for (uint32_t i = 0; i < count; i++) {
        char name[16];
        uint32_t n = reversed ? count - 1 - i : i;
        snprintf(name, sizeof name, "%u", n % 1000);
        sample_row(s, n / 2, name);
        sample_value(s, n, 4);
    }
    sample_load(s);
    return s;
}

/* Matching takes n log n steps; a quadratic algorithm would take minutes under a sanitizer. */
Test(cook, many_instances_in_reverse_order_are_matched, .timeout = 30)
{
    enum { COUNT = 20000 };
    sample *older = many_instances(1, COUNT, false);
    sample *newer = many_instances(2, COUNT, true);
    pfb_sample_match(&older->table, &newer->table, NULL, 0);
    for (uint32_t n = 0; n < COUNT; n++)
        cr_expect_eq(newer->table.rows[n].older_row, COUNT - 1 - n, "row %u", n);
    sample_free_both(older, newer);
}

/* ---- Results ------------------------------------------------------------------------------------------- */

/* Makes a sample of one single-counter result with its query. */
static sample *single_at(int64_t tick, unsigned set, uint32_t counter, uint32_t id, const char *name)
{
    sample *s = sample_new(tick);
    if (set != 0)
        sample_query(s, set, counter, id, name, 0);
    sample_result(s, PFB_V2_SINGLE_COUNTER, NULL, 0);
    sample_value(s, (uint64_t)tick, 4);
    sample_load(s);
    return s;
}

/* Results match if they answer the same query. If the reply has no names, the filters must be equal: the reply to a
 * pattern may be about any matching instance, so a different pattern is a different query. */
Test(cook, results_match_if_their_queries_are_equal)
{
    static const struct {
        const char *what, *older_name;
        unsigned set;
        uint32_t counter, id;
        const char *name;
        bool same;
    } rows[] = {
        {"the same query", "exact", SET, 1, 5, "exact", true},
        {"another counterset", "exact", OTHER_SET, 1, 5, "exact", false},
        {"another counter id", "exact", SET, 2, 5, "exact", false},
        {"another instance id", "exact", SET, 1, 6, "exact", false},
        {"another name", "exact", SET, 1, 5, "exacT", false},
        {"no name", "exact", SET, 1, 5, NULL, false},
        {"a pattern instead of a name", "exact", SET, 1, 5, "exa*", false},
        {"no query", "exact", 0, 0, 0, NULL, false},
        {"the same pattern", "a*", SET, 1, 5, "a*", true},
        {"another pattern", "a*", SET, 1, 5, "b*", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        sample *older = single_at(1, SET, 1, 5, rows[i].older_name);
        sample *newer = single_at(2, rows[i].set, rows[i].counter, rows[i].id, rows[i].name);
        pfb_sample_match(&older->table, &newer->table, NULL, 0);
        cr_expect_eq(newer->table.rows[0].older_row, rows[i].same ? 0 : PFB_NONE, "%s", rows[i].what);
        sample_free_both(older, newer);
    }
}

/* The newer sample has two results and the older one has one: the array of older results is not read past its end. */
Test(cook, added_results_do_not_match)
{
    sample *older = sample_new(1);
    sample_result(older, PFB_V2_ERROR, NULL, 0);
    sample_load(older);
    sample *newer = sample_new(2);
    sample_result(newer, PFB_V2_ERROR, NULL, 0);
    sample_result(newer, PFB_V2_SINGLE_COUNTER, NULL, 0);
    sample_value(newer, 1, 4);
    sample_load(newer);
    pfb_sample_match(&older->table, &newer->table, NULL, 0);
    cr_expect_eq(newer->table.rows[0].older_row, PFB_NONE);
    sample_free_both(older, newer);
}

/* Two queries were added and one was removed, so results that match have different positions. */
Test(cook, moved_results_match)
{
    sample *older = sample_new(1);
    sample *newer = sample_new(2);
    static const uint32_t older_counters[] = {1, 2, 3};
    static const uint32_t newer_counters[] = {4, 3, 5, 1};
    for (uint32_t i = 0; i < 3 + 4; i++) {
        sample *s = i < 3 ? older : newer;
        uint32_t counter = i < 3 ? older_counters[i] : newer_counters[i - 3];
        sample_query(s, SET, counter, PFB_NO_ID, "*", i < 3 ? i : i - 3);
        sample_result(s, PFB_V2_MULTIPLE_INSTANCES, NULL, 0);
        for (uint32_t id = 0; id < 3; id++) {
            sample_row(s, i < 3 ? id : 2 - id, "same"); /* instances are in reverse order */
            sample_value(s, counter, 4);
        }
    }
    sample_load(older);
    sample_load(newer);
    pfb_sample_match(&older->table, &newer->table, NULL, 0);
    static const uint32_t expected[] = {NO, NO, NO, 8, 7, 6, NO, NO, NO, 2, 1, 0};
    for (uint32_t row = 0; row < 12; row++)
        cr_expect_eq(newer->table.rows[row].older_row, expected[row], "row %u matches older row %u", row,
                     newer->table.rows[row].older_row);
    sample_free_both(older, newer);
}

/* ---- Bases in the same row ----------------------------------------------------------------------------- */

enum { VALUE = 10, REFERRED = 20, THIRD = 30 };

/* Makes a counterset sample with counter 10 and its related counter 20. At tick t their values are 100 t and 20 t. */
static sample *pair_at(int64_t tick, const pfb_counter *counters, uint32_t count, uint32_t size, uint32_t base_size)
{
    static const uint32_t ids[] = {VALUE, REFERRED};
    sample *s = sample_of_set(SET, tick, counters, count, ids, 2);
    sample_value(s, 100 * (uint64_t)tick, size);
    sample_value(s, 20 * (uint64_t)tick, base_size);
    sample_load(s);
    return s;
}

static pfb_formula_result evaluate_pair(const pfb_counter *counters, uint32_t count, uint32_t size, uint32_t base_size)
{
    sample *older = pair_at(1, counters, count, size, base_size);
    sample *newer = pair_at(2, counters, count, size, base_size);
    pfb_formula_result r = evaluate_cell(older, newer, 0, 0);
    sample_free_both(older, newer);
    return r;
}

static pfb_formula_result evaluate_average(uint32_t base_id, uint32_t base_type, uint32_t base_size)
{
    pfb_counter counters[] = {counter_without_references(VALUE, AVERAGE_BULK),
                              counter_without_references(REFERRED, base_type)};
    counters[0].base_id = base_id;
    return evaluate_pair(counters, 2, 8, base_size);
}

Test(cook, bases_in_the_same_row_are_used)
{
    expect_value(evaluate_average(REFERRED, AVERAGE_BASE, 4), 5.0, "a base of 4 bytes: 100 / 20");
    expect_value(evaluate_average(REFERRED, LARGE_RAW_BASE, 8), 5.0, "a base of 8 bytes, as in SQL Server");
    expect_value(evaluate_average(REFERRED, 0x40030503, 8), 5.0, "the alias of the type PERF_LARGE_RAW_BASE");
}

Test(cook, invalid_bases_are_missing)
{
    expect_status(evaluate_average(PFB_NO_ID, AVERAGE_BASE, 4), PFB_STATUS_MISSING_BASE, "no base registered");
    expect_status(evaluate_average(VALUE, AVERAGE_BASE, 4), PFB_STATUS_MISSING_BASE, "the base is the counter itself");
    expect_status(evaluate_average(99, AVERAGE_BASE, 4), PFB_STATUS_MISSING_BASE, "a base id that no counter has");
    expect_status(evaluate_average(REFERRED, RAWCOUNT, 4), PFB_STATUS_MISSING_BASE, "a base that is a raw count");
    expect_status(evaluate_average(REFERRED, PRECISION_100NS, 8), PFB_STATUS_MISSING_BASE,
                  "a base that is a precision timer");
    expect_status(evaluate_average(REFERRED, 0x40000200, 8), PFB_STATUS_MISSING_BASE, "a base of a type without value");
    expect_status(evaluate_average(REFERRED, 0x40030400, 4), PFB_STATUS_MISSING_BASE, "a base of an unknown type");
    expect_status(evaluate_average(REFERRED, MULTI_BASE, 8), PFB_STATUS_MISSING_BASE, "a multi count");
    expect_status(evaluate_average(REFERRED, AVERAGE_BASE, 8), PFB_STATUS_MISSING_BASE, "a DWORD base of 8 bytes");
    expect_status(evaluate_average(REFERRED, LARGE_RAW_BASE, 4), PFB_STATUS_MISSING_BASE, "a LARGE base of 4 bytes");
    expect_status(evaluate_average(REFERRED, AVERAGE_BASE, 0), PFB_STATUS_MISSING_BASE, "a base of 0 bytes");
    pfb_counter counters[] = {counter_without_references(VALUE, AVERAGE_BULK),
                              counter_without_references(REFERRED, AVERAGE_BASE)};
    counters[0].base_id = REFERRED;
    expect_status(evaluate_pair(counters, 1, 8, 4), PFB_STATUS_MISSING_BASE, "a base that is not registered");
}

/* Two averages, each of which has the other as its base. */
Test(cook, circular_bases_are_missing)
{
    pfb_counter counters[] = {counter_without_references(VALUE, AVERAGE_BULK),
                              counter_without_references(REFERRED, AVERAGE_BULK)};
    counters[0].base_id = REFERRED;
    counters[1].base_id = VALUE;
    expect_status(evaluate_pair(counters, 2, 8, 8), PFB_STATUS_MISSING_BASE, "two counters that are each other's base");
}

Test(cook, multi_counts_are_raw_counts)
{
    pfb_counter counters[] = {counter_without_references(VALUE, MULTI_TIMER),
                              counter_without_references(REFERRED, RAWCOUNT)};
    counters[0].multi_id = REFERRED;
    /* 100 * (100 / (1000 ticks / 1000 Hz)) / 40: the value increases by 100, and the newer multi count is 40 */
    expect_value(evaluate_pair(counters, 2, 8, 4), 250.0, "a multi count of 4 bytes");
    expect_value(evaluate_pair(counters, 2, 8, 8), 250.0, "a multi count of 8 bytes");
    static const uint32_t others[] = {AVERAGE_BASE, 0x42030500, DELTA, 0x00012000, 0x00020000, 0x40000200, 0x80000000};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        counters[1].type = others[i];
        char what[64];
        snprintf(what, sizeof what, "a multi count of type 0x%08X", others[i]);
        expect_status(evaluate_pair(counters, 2, 8, 4), PFB_STATUS_MISSING_BASE, what);
        expect_status(evaluate_pair(counters, 2, 8, 8), PFB_STATUS_MISSING_BASE, what);
    }
    counters[1].type = RAWCOUNT;
    counters[0].multi_id = VALUE;
    expect_status(evaluate_pair(counters, 2, 8, 4), PFB_STATUS_MISSING_BASE, "the multi count is the counter itself");
}

Test(cook, object_clocks_are_counters_of_the_counterset)
{
    pfb_counter counters[] = {counter_without_references(VALUE, OBJ_TIMER),
                              counter_without_references(REFERRED, LARGE_RAWCOUNT)};
    expect_status(evaluate_pair(counters, 2, 8, 8), PFB_STATUS_MISSING_INPUT, "no object time registered");
    counters[0].perf_time_id = REFERRED;
    expect_value(evaluate_pair(counters, 2, 8, 8), 500.0, "object time: 100 * 100 / 20");
    counters[1].type = AVERAGE_BASE;
    expect_status(evaluate_pair(counters, 2, 8, 4), PFB_STATUS_MISSING_INPUT, "a base is not an object time");
    counters[1].type = LARGE_RAWCOUNT;
    counters[0].type = ELAPSED;
    expect_status(evaluate_pair(counters, 2, 8, 8), PFB_STATUS_MISSING_INPUT, "no object frequency registered");
    counters[0].perf_freq_id = REFERRED;
    expect_status(evaluate_pair(counters, 2, 8, 8), PFB_STATUS_NEGATIVE_DELTA,
                  "the start time 200 is later than the object time 40");
    counters[0].type = PRECISION_OBJECT;
    expect_value(evaluate_pair(counters, 2, 8, 8), 500.0, "without a base, the object time is used");
    counters[0].base_id = REFERRED;
    counters[1].type = LARGE_RAW_BASE;
    expect_value(evaluate_pair(counters, 2, 8, 8), 500.0, "with a base, the base is used");
}

/* Makes a sample of a counter of 8 bytes and two counters of the type `type` to which it may refer. */
static sample *triple_at(int64_t tick, const pfb_counter *counter, uint32_t type)
{
    static const uint32_t ids[] = {VALUE, REFERRED, THIRD};
    const pfb_counter counters[] = {*counter, counter_without_references(REFERRED, type),
                                    counter_without_references(THIRD, type)};
    sample *s = sample_of_set(SET, tick, counters, 3, ids, 3);
    for (uint64_t i = 1; i <= 3; i++)
        sample_value(s, 1000 * i + 10 * i * (uint64_t)tick, 8);
    sample_load(s);
    return s;
}

static pfb_formula_result evaluate_triple(const pfb_counter *older_counter, const pfb_counter *newer_counter,
                                          uint32_t type)
{
    sample *older = triple_at(1, older_counter, type);
    sample *newer = triple_at(2, newer_counter, type);
    pfb_formula_result r = evaluate_cell(older, newer, 0, 0);
    sample_free_both(older, newer);
    return r;
}

/* The registrations of the two samples differ. The difference of two counters would be a wrong base or time. */
Test(cook, counters_whose_base_or_clock_has_changed_are_not_compared)
{
    static const struct {
        uint32_t type, referred_type;
        bool is_base;
        uint32_t older, newer; /* ids of the base or the clock */
        pfb_status status;
    } rows[] = {
        {AVERAGE_BULK, LARGE_RAW_BASE, true, REFERRED, REFERRED, PFB_STATUS_OK},
        {AVERAGE_BULK, LARGE_RAW_BASE, true, REFERRED, THIRD, PFB_STATUS_NEED_TWO_SAMPLES},
        {AVERAGE_BULK, LARGE_RAW_BASE, true, PFB_NO_ID, REFERRED, PFB_STATUS_MISSING_BASE},
        {AVERAGE_BULK, LARGE_RAW_BASE, true, REFERRED, PFB_NO_ID, PFB_STATUS_MISSING_BASE},
        {PRECISION_OBJECT, LARGE_RAW_BASE, true, REFERRED, THIRD, PFB_STATUS_NEED_TWO_SAMPLES},
        {PRECISION_OBJECT, LARGE_RAWCOUNT, false, REFERRED, REFERRED, PFB_STATUS_OK},
        {PRECISION_OBJECT, LARGE_RAWCOUNT, false, REFERRED, THIRD, PFB_STATUS_NEED_TWO_SAMPLES},
        {OBJ_TIMER, LARGE_RAWCOUNT, false, REFERRED, REFERRED, PFB_STATUS_OK},
        {OBJ_TIMER, LARGE_RAWCOUNT, false, REFERRED, THIRD, PFB_STATUS_NEED_TWO_SAMPLES},
        /* Formulas that do not subtract what the counter refers to. */
        {BULK_COUNT, LARGE_RAW_BASE, true, REFERRED, THIRD, PFB_STATUS_OK},
        {BULK_COUNT, LARGE_RAWCOUNT, false, REFERRED, THIRD, PFB_STATUS_OK},
        {LARGE_RAW_FRACTION, LARGE_RAW_BASE, true, REFERRED, THIRD, PFB_STATUS_OK},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        pfb_counter older = counter_without_references(VALUE, rows[i].type);
        pfb_counter newer = older;
        *(rows[i].is_base ? &older.base_id : &older.perf_time_id) = rows[i].older;
        *(rows[i].is_base ? &newer.base_id : &newer.perf_time_id) = rows[i].newer;
        char what[64];
        snprintf(what, sizeof what, "type 0x%08X, %u, then %u", rows[i].type, rows[i].older, rows[i].newer);
        expect_status(evaluate_triple(&older, &newer, rows[i].referred_type), rows[i].status, what);
    }
}

Test(cook, object_clocks_are_signed)
{
    pfb_counter counters[] = {counter_without_references(VALUE, LARGE_RAWCOUNT),
                              counter_without_references(REFERRED, LARGE_RAWCOUNT)};
    static const uint32_t ids[] = {VALUE, REFERRED};
    static const struct {
        uint64_t raw;
        int64_t clock;
    } rows[] = {{0, 0},
                {INT64_MAX, INT64_MAX},
                {UINT64_C(1) << 63, INT64_MIN},
                {UINT64_MAX, -1},
                {(UINT64_C(1) << 63) + 1, -INT64_MAX}};
    counters[0].perf_time_id = REFERRED;
    counters[0].perf_freq_id = REFERRED;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        sample *s = sample_new(1);
        pfb_cook_inputs inputs;
        sample_register(s, SET, counters, 2);
        sample_query(s, SET, PFB_NO_ID, PFB_NO_ID, NULL, 0);
        sample_result(s, PFB_V2_MULTIPLE_COUNTERS, ids, 2);
        sample_value(s, rows[i].raw, 8);
        sample_value(s, rows[i].raw, 8);
        sample_load(s);
        pfb_formula_result r = pfb_sample_cook_value(NULL, &s->table, 0, 0, NULL, &inputs);
        cr_expect(r.status == PFB_STATUS_OK && r.integer == rows[i].raw && inputs.newer.value == rows[i].raw, "row %zu",
                  i);
        cr_expect_eq(inputs.newer.object_time, rows[i].clock, "row %zu", i);
        cr_expect_eq(inputs.newer.object_freq, rows[i].clock, "row %zu", i);
        cr_expect_eq(inputs.older.has, 0, "row %zu", i);
        uint32_t has = PFB_HAS_VALUE | PFB_HAS_PERF_TIME | PFB_HAS_PERF_TIME_100NS | PFB_HAS_PERF_FREQ |
                       PFB_HAS_OBJECT_TIME | PFB_HAS_OBJECT_FREQ;
        cr_expect_eq(inputs.newer.has, has, "row %zu", i);
        cr_expect(inputs.newer.perf_time == 1000 && inputs.newer.perf_freq == 1000, "row %zu", i);
        cr_expect(inputs.newer.perf_time_100ns == 10000000 && inputs.newer.type == LARGE_RAWCOUNT, "row %zu", i);
        sample_free(s);
    }
}

/* ---- Bases in another result --------------------------------------------------------------------------- */

/* Registers an average and its base for a sample. */
static void register_average(sample *s)
{
    pfb_counter counters[] = {counter_without_references(VALUE, AVERAGE_BULK),
                              counter_without_references(REFERRED, AVERAGE_BASE)};
    counters[0].base_id = REFERRED;
    sample_register(s, SET, counters, 2);
}

/* Makes a sample of two results for "*", of one counter each. The first result has the bases; its instances are in
 * another order, and two instances of the second result are missing. */
static sample *separate_results(int64_t tick)
{
    sample *s = sample_new(tick);
    register_average(s);
    sample_query(s, SET, VALUE, PFB_NO_ID, "*", 1);
    sample_query(s, SET, REFERRED, PFB_NO_ID, "*", 0);
    sample_result(s, PFB_V2_MULTIPLE_INSTANCES, NULL, 0);
    static const instance bases[] = {{2, "b"}, {1, "a"}, {1, "a"}, {7, "c"}};
    for (uint32_t i = 0; i < 4; i++) {
        sample_row(s, bases[i].id, bases[i].name);
        sample_value(s, (uint64_t)tick * (i + 1), 4);
    }
    sample_result(s, PFB_V2_MULTIPLE_INSTANCES, NULL, 0);
    static const instance values[] = {{1, "a"}, {1, "a"}, {2, "b"}, {3, "c"}, {7, "d"}};
    for (uint32_t i = 0; i < 5; i++) {
        sample_row(s, values[i].id, values[i].name);
        sample_value(s, (uint64_t)tick * 120, 8);
    }
    sample_load(s);
    return s;
}

Test(cook, bases_are_found_in_the_result_of_another_query)
{
    sample *older = separate_results(1);
    sample *newer = separate_results(2);
    pfb_sample_match(&older->table, &newer->table, NULL, 0);
    uint32_t column = column_of(newer, 1, VALUE);
    for (int pass = 0; pass < 2; pass++) {
        pfb_formula_result r[5];
        for (uint32_t i = 0; i < 5; i++)
            r[i] = pfb_sample_cook_value(&older->table, &newer->table, 4 + i, column, NULL, NULL);
        expect_value(r[0], 60.0, "the first (1, a): 120 / 2");
        expect_value(r[1], 40.0, "the second (1, a): 120 / 3");
        expect_value(r[2], 120.0, "(2, b): 120 / 1");
        expect_status(r[3], PFB_STATUS_MISSING_BASE, "(3, c) does not match (7, c)");
        expect_status(r[4], PFB_STATUS_MISSING_BASE, "(7, d) does not match (7, c)");
        displayed all = displayed_of(&older->table, &newer->table, NULL);
        expect_displayed(&older->table, &newer->table, NULL, all);
        displayed_free(all);
        pfb_sample_number_rows(&newer->table); /* sorts row_order again */
    }
    sample_free_both(older, newer);
}

/* Makes a sample of two queries of one counter each. The replies have no names, so names and ids of the queries decide
 * whether the results are about the same instance. */
static sample *exact_results(int64_t tick, const char *name, uint32_t id, const char *base_name, uint32_t base_id)
{
    sample *s = sample_new(tick);
    register_average(s);
    sample_query(s, SET, VALUE, id, name, 0);
    sample_query(s, SET, REFERRED, base_id, base_name, 1);
    sample_result(s, PFB_V2_SINGLE_COUNTER, NULL, 0);
    sample_value(s, (uint64_t)tick * 90, 8);
    sample_result(s, PFB_V2_SINGLE_COUNTER, NULL, 0);
    sample_value(s, (uint64_t)tick * 30, 4);
    sample_load(s);
    return s;
}

Test(cook, bases_of_results_without_names_are_found_by_their_queries)
{
    static const struct {
        const char *what, *name;
        uint32_t id;
        const char *base_name;
        uint32_t base_id;
        bool found;
    } rows[] = {
        {"the same name and id", "_Total", 4, "_Total", 4, true},
        {"any id", "_Total", PFB_NO_ID, "_Total", PFB_NO_ID, true},
        {"no names: a single-instance set", NULL, PFB_NO_ID, NULL, PFB_NO_ID, true},
        {"an empty name and no name", "", PFB_NO_ID, NULL, PFB_NO_ID, true},
        {"another name", "_Total", 4, "0,0", 4, false},
        {"another id", "_Total", 4, "_Total", 5, false},
        {"one with a name, one without", "_Total", 4, NULL, 4, false},
        {"the same pattern", "a*", 4, "a*", 4, true},
        {"two patterns, which may match different instances", "a*", PFB_NO_ID, "b*", PFB_NO_ID, false},
        {"a pattern and no name", "a*", PFB_NO_ID, NULL, PFB_NO_ID, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        sample *older = exact_results(1, rows[i].name, rows[i].id, rows[i].base_name, rows[i].base_id);
        sample *newer = exact_results(2, rows[i].name, rows[i].id, rows[i].base_name, rows[i].base_id);
        pfb_formula_result r = evaluate_cell(older, newer, 0, 0);
        if (rows[i].found)
            expect_value(r, 3.0, rows[i].what);
        else
            expect_status(r, PFB_STATUS_MISSING_BASE, rows[i].what);
        sample_free_both(older, newer);
    }
}

/* A counter of the same id in another counterset is not the base. */
Test(cook, counters_of_another_counterset_are_not_bases)
{
    sample *s[2];
    for (int side = 0; side < 2; side++) {
        s[side] = sample_new(side + 1);
        register_average(s[side]);
        pfb_counter base = counter_without_references(REFERRED, AVERAGE_BASE);
        sample_register(s[side], OTHER_SET, &base, 1);
        sample_query(s[side], SET, VALUE, PFB_NO_ID, "*", 0);
        sample_query(s[side], OTHER_SET, REFERRED, PFB_NO_ID, "*", 1);
        for (uint32_t size = 8; size >= 4; size -= 4) {
            sample_result(s[side], PFB_V2_MULTIPLE_INSTANCES, NULL, 0);
            sample_row(s[side], 1, "a");
            sample_value(s[side], (uint64_t)side + 5, size);
        }
        sample_load(s[side]);
    }
    pfb_formula_result r = evaluate_cell(s[0], s[1], 0, 0);
    expect_status(r, PFB_STATUS_MISSING_BASE, "a base of another set");
    sample_free_both(s[0], s[1]);
}

/* Evaluates an average whose instance is also in `others` other results before the result of its base. */
static pfb_status evaluate_with_results_before_base(uint32_t others)
{
    sample *s[2];
    for (int side = 0; side < 2; side++) {
        s[side] = sample_new(side + 1);
        register_average(s[side]);
        for (uint32_t i = 0; i < others + 2; i++) {
            bool is_base = i == others + 1;
            uint32_t counter = i == 0 ? VALUE : is_base ? REFERRED : 77;
            sample_query(s[side], SET, counter, PFB_NO_ID, "*", i);
            sample_result(s[side], PFB_V2_MULTIPLE_INSTANCES, NULL, 0);
            sample_row(s[side], 1, "a");
            sample_value(s[side], (uint64_t)side + 5, is_base ? 4 : 8);
        }
        sample_load(s[side]);
    }
    pfb_status status = evaluate_cell(s[0], s[1], 0, 0).status;
    sample_free_both(s[0], s[1]);
    return status;
}

Test(cook, at_most_64_rows_of_an_instance_are_searched_for_a_base)
{
    cr_expect_eq(evaluate_with_results_before_base(0), PFB_STATUS_OK);
    cr_expect_eq(evaluate_with_results_before_base(62), PFB_STATUS_OK, "the base is in the 64th result");
    cr_expect_eq(evaluate_with_results_before_base(63), PFB_STATUS_MISSING_BASE, "the base is in the 65th result");
    cr_expect_eq(evaluate_with_results_before_base(1000), PFB_STATUS_MISSING_BASE);
}

/* ---- Malicious input ----------------------------------------------------------------------------------- */

enum { CELLS = 20000, LONG_NAME = 100000 };

/* Makes a sample of an instance with a very long name and very many counters, whose bases are in another result. */
static sample *long_name_many_cells(int64_t tick)
{
    static uint32_t ids[CELLS];
    static uint8_t name[2 * LONG_NAME];
    sample *s = sample_new_large(tick, (size_t)1 << 20);
    register_average(s);
    memset(name, 'x', sizeof name);
    for (uint32_t i = 0; i < CELLS; i++)
        ids[i] = VALUE;
    sample_query(s, SET, PFB_NO_ID, PFB_NO_ID, "*", 0);
    sample_query(s, SET, REFERRED, PFB_NO_ID, "*", 1);
    sample_result(s, PFB_V2_COUNTERSET, ids, CELLS);
    pfb_write_instance(&s->data, 1, UTF16_NAME(name, LONG_NAME));
    for (uint32_t i = 0; i < CELLS; i++)
        sample_value(s, (uint64_t)tick * i, 8);
    sample_result(s, PFB_V2_MULTIPLE_INSTANCES, NULL, 0);
    pfb_write_instance(&s->data, 1, UTF16_NAME(name, LONG_NAME));
    sample_value(s, (uint64_t)tick, 4);
    sample_load(s);
    return s;
}

/* The search for bases must not read the instance's name once per value, which would take quadratic time. */
Test(cook, bases_of_long_names_are_found_in_linear_time, .timeout = 20)
{
    sample *older = long_name_many_cells(1);
    sample *newer = long_name_many_cells(2);
    pfb_sample_match(&older->table, &newer->table, NULL, 0);
    for (uint32_t i = 0; i < 10 * CELLS; i++) {
        pfb_formula_result r = pfb_sample_cook_value(&older->table, &newer->table, 0, i % CELLS, NULL, NULL);
        cr_assert(r.status == PFB_STATUS_OK && r.integer == i % CELLS);
    }
    sample_free_both(older, newer);
}

/* ---- Values -------------------------------------------------------------------------------------------- */

/* Counter ids may repeat. Each value is compared with the older value at the same position. The base is the first
 * counter with its id. */
Test(cook, values_of_repeated_counter_ids_match_by_position)
{
    static const uint32_t ids[] = {VALUE, VALUE, REFERRED, REFERRED};
    pfb_counter counters[] = {counter_without_references(VALUE, AVERAGE_BULK),
                              counter_without_references(REFERRED, AVERAGE_BASE)};
    counters[0].base_id = REFERRED;
    sample *s[2];
    for (int side = 0; side < 2; side++) {
        s[side] = sample_of_set(SET, side + 1, counters, 2, ids, 4);
        for (uint32_t i = 0; i < 4; i++)
            sample_value(s[side], (uint64_t)side * (10 * i + 10) + 3, i < 2 ? 8 : 4);
        sample_load(s[side]);
    }
    /* the values increase by 10 and 20, the first base by 30 */
    expect_value(evaluate_cell(s[0], s[1], 0, 0), 10.0 / 30, "the first value");
    expect_value(evaluate_cell(s[0], s[1], 0, 1), 20.0 / 30, "the second value");
    sample_free_both(s[0], s[1]);
}

/* The newer columns are in another order and one was added: older columns are found by counter id. */
Test(cook, older_counters_are_found_by_id)
{
    static const uint32_t ids[2][4] = {{1, 2, 3}, {3, 1, 4, 2}};
    pfb_counter counters[] = {counter_without_references(1, LARGE_DELTA), counter_without_references(2, LARGE_DELTA),
                              counter_without_references(3, LARGE_DELTA), counter_without_references(4, LARGE_DELTA)};
    sample *s[2];
    for (int side = 0; side < 2; side++) {
        s[side] = sample_of_set(SET, side + 1, counters, 4, ids[side], 3 + (uint32_t)side);
        for (int i = 0; i < 3 + side; i++)
            sample_value(s[side], (uint64_t)side * 1000 + ids[side][i] * 100, 8);
        sample_load(s[side]);
    }
    expect_value(evaluate_cell(s[0], s[1], 0, 0), 1000.0, "counter 3");
    expect_value(evaluate_cell(s[0], s[1], 0, 1), 1000.0, "counter 1");
    expect_status(evaluate_cell(s[0], s[1], 0, 2), PFB_STATUS_NEED_TWO_SAMPLES, "counter 4, which was added");
    expect_value(evaluate_cell(s[0], s[1], 0, 3), 1000.0, "counter 2");
    sample_free_both(s[0], s[1]);
}

/* Evaluates one counter of these types whose values have these sizes. */
static pfb_formula_result evaluate_sizes(uint32_t older_type, uint32_t newer_type, uint32_t older_size,
                                         uint32_t newer_size)
{
    static const uint32_t ids[] = {VALUE};
    sample *s[2];
    for (int side = 0; side < 2; side++) {
        pfb_counter counter = counter_without_references(VALUE, side ? newer_type : older_type);
        s[side] = sample_of_set(SET, side + 1, &counter, 1, ids, 1);
        sample_value(s[side], (uint64_t)side + 5, side ? newer_size : older_size);
        sample_load(s[side]);
    }
    pfb_formula_result r = evaluate_cell(s[0], s[1], 0, 0);
    sample_free_both(s[0], s[1]);
    return r;
}

Test(cook, the_size_of_a_value_must_suit_its_type)
{
    static const struct {
        uint32_t older_type, newer_type, older, newer;
        pfb_status status;
        const char *what;
    } rows[] = {
        {DELTA, DELTA, 4, 4, PFB_STATUS_OK, "a DWORD of 4 bytes"},
        {DELTA, DELTA, 4, 8, PFB_STATUS_TYPE_MISMATCH, "a DWORD of 8 bytes"},
        {DELTA, DELTA, 8, 4, PFB_STATUS_TYPE_MISMATCH, "an older DWORD of 8 bytes"},
        {LARGE_DELTA, LARGE_DELTA, 8, 8, PFB_STATUS_OK, "a LARGE of 8 bytes"},
        {LARGE_DELTA, LARGE_DELTA, 8, 4, PFB_STATUS_TYPE_MISMATCH, "a LARGE of 4 bytes"},
        {LARGE_DELTA, LARGE_DELTA, 4, 8, PFB_STATUS_TYPE_MISMATCH, "an older LARGE of 4 bytes"},
        {DELTA, DELTA, 4, 5, PFB_STATUS_MISSING_INPUT, "a value of 5 bytes"},
        {DELTA, DELTA, 0, 4, PFB_STATUS_MISSING_INPUT, "an older value of 0 bytes"},
        {DELTA, LARGE_DELTA, 4, 8, PFB_STATUS_TYPE_MISMATCH, "the type changed"},
        {RAWCOUNT, RAWCOUNT, 4, 8, PFB_STATUS_OK, "a 4-byte raw count of 8 bytes"},
        {LARGE_RAWCOUNT, LARGE_RAWCOUNT, 8, 4, PFB_STATUS_OK, "an 8-byte raw count of 4 bytes"},
        {RAWCOUNT, RAWCOUNT, 7, 4, PFB_STATUS_OK, "the older raw count is not used"},
        {0x20020400, 0x20020400, 8, 8, PFB_STATUS_TYPE_MISMATCH, "the size of a fraction is checked before its base"},
        {0x20020400, 0x20020400, 8, 4, PFB_STATUS_MISSING_BASE, "the older fraction is not used"},
        {0x00000B00, 0x00000B00, 4, 8, PFB_STATUS_NOT_DISPLAYED, "a text of any size"},
        {AVERAGE_BASE, AVERAGE_BASE, 8, 8, PFB_STATUS_NOT_DISPLAYED, "a base of the wrong size"},
        {0x00510500, 0x00510500, 4, 4, PFB_STATUS_UNKNOWN_TYPE, "an unknown type"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        expect_status(evaluate_sizes(rows[i].older_type, rows[i].newer_type, rows[i].older, rows[i].newer),
                      rows[i].status, rows[i].what);
}

Test(cook, a_difference_needs_two_matched_samples)
{
    sample *older = instances_at(1, (const instance[]){{1, "a"}, END});
    sample *newer = instances_at(2, (const instance[]){{1, "a"}, {2, "b"}, END});
    pfb_sample *t = &newer->table;
    expect_status(pfb_sample_cook_value(NULL, t, 0, 0, NULL, NULL), PFB_STATUS_NEED_TWO_SAMPLES, "one sample");
    expect_status(pfb_sample_cook_value(&older->table, t, 0, 0, NULL, NULL), PFB_STATUS_NEED_TWO_SAMPLES,
                  "two samples that are not matched");
    pfb_sample_match(&older->table, t, NULL, 0);
    expect_value(pfb_sample_cook_value(&older->table, t, 0, 0, NULL, NULL), 100.0, "two matched samples");
    expect_status(pfb_sample_cook_value(&older->table, t, 1, 0, NULL, NULL), PFB_STATUS_NEED_TWO_SAMPLES,
                  "an added instance");
    expect_status(pfb_sample_cook_value(NULL, t, 0, 0, NULL, NULL), PFB_STATUS_NEED_TWO_SAMPLES,
                  "one sample, although it was matched");
    t->sizes[pfb_sample_place(t, 1, 0)] = 8;
    expect_status(pfb_sample_cook_value(NULL, t, 1, 0, NULL, NULL), PFB_STATUS_NEED_TWO_SAMPLES,
                  "one sample, with a value of a wrong size");
    sample_free_both(older, newer);
}

Test(cook, the_option_wrap32_is_passed_to_the_formula)
{
    sample *older = instances_at(2, (const instance[]){{1, "a"}, END});
    sample *newer = instances_at(1, (const instance[]){{1, "a"}, END});
    pfb_sample_match(&older->table, &newer->table, NULL, 0);
    pfb_sample *t = &newer->table;
    expect_status(pfb_sample_cook_value(&older->table, t, 0, 0, NULL, NULL), PFB_STATUS_NEGATIVE_DELTA, "200 to 100");
    pfb_formula_options wrap32 = {.wrap32 = true};
    pfb_formula_result r = pfb_sample_cook_value(&older->table, t, 0, 0, &wrap32, NULL);
    expect_value(r, 4294967196.0, "2^32 - 100");
    cr_expect_eq(r.flags, PFB_FLAG_WRAPPED);
    sample_free_both(older, newer);
}

Test(cook, positions_outside_the_table_have_no_value)
{
    sample *s = separate_results(1);
    pfb_cook_inputs inputs;
    uint32_t rows = s->table.counts.rows;
    uint32_t columns = s->table.counts.columns;
    /* The last two positions are inside the table, but the column is one of the other result. */
    uint32_t wrong[][2] = {{rows, 0}, {PFB_NONE, 0}, {0, columns}, {0, PFB_NONE}, {0, 1}, {4, 0}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        pfb_formula_result r = pfb_sample_cook_value(NULL, &s->table, wrong[i][0], wrong[i][1], NULL, &inputs);
        char what[64];
        snprintf(what, sizeof what, "row %u, column %u", wrong[i][0], wrong[i][1]);
        expect_status(r, PFB_STATUS_UNKNOWN_TYPE, what);
        cr_expect(inputs.newer.has == 0 && inputs.older.has == 0, "%s", what);
    }
    sample_free(s);
}

/* The only row is incomplete, and there is no row after it. */
Test(cook, the_row_after_the_last_has_no_value)
{
    static const uint32_t ids[] = {VALUE};
    pfb_counter counter = counter_without_references(VALUE, LARGE_RAWCOUNT);
    sample *s = sample_of_set(SET, 1, &counter, 1, ids, 1);
    pfb_write_break(&s->data, PFB_FAULT_VALUE_SIZE_HUGE);
    sample_value(s, 1, 8);
    sample_load(s);
    cr_assert(s->table.counts.rows == 1 && s->table.rows[0].value_count == 0);
    expect_status(pfb_sample_cook_value(NULL, &s->table, 0, 0, NULL, NULL), PFB_STATUS_MISSING_INPUT, "the last row");
    expect_status(pfb_sample_cook_value(NULL, &s->table, 1, 0, NULL, NULL), PFB_STATUS_UNKNOWN_TYPE,
                  "the row after the last");
    sample_free(s);
}

/* Without query information or registration, the types of counters are unknown. */
Test(cook, types_need_query_information_and_registration)
{
    static const uint32_t ids[] = {VALUE};
    for (int side = 0; side < 2; side++) {
        sample *s = sample_new(1);
        if (side == 1)
            sample_query(s, SET, PFB_NO_ID, PFB_NO_ID, "*", 0);
        else
            register_average(s);
        sample_result(s, PFB_V2_COUNTERSET, ids, 1);
        sample_row(s, 1, "a");
        sample_value(s, 5, 8);
        sample_load(s);
        pfb_formula_result r = pfb_sample_cook_value(NULL, &s->table, 0, 0, NULL, NULL);
        expect_status(r, PFB_STATUS_UNKNOWN_TYPE, side ? "no registration" : "no query information");
        sample_free(s);
    }
}

/* In a row that a malformed block truncates, missing values have no result and the others are computed. */
Test(cook, truncated_rows_have_their_intact_values)
{
    static const uint32_t ids[] = {VALUE, REFERRED, VALUE + 1};
    pfb_counter counters[] = {counter_without_references(VALUE, AVERAGE_BULK),
                              counter_without_references(REFERRED, AVERAGE_BASE),
                              counter_without_references(VALUE + 1, LARGE_DELTA)};
    counters[0].base_id = REFERRED;
    for (uint32_t intact = 0; intact < 3; intact++) { /* number of values before the malformed one */
        sample *s[2];
        for (int side = 0; side < 2; side++) {
            s[side] = sample_of_set(SET, side + 1, counters, 3, ids, 3);
            for (uint32_t i = 0; i < 3; i++) {
                if (side == 1 && i == intact)
                    pfb_write_break(&s[side]->data, PFB_FAULT_VALUE_SIZE_HUGE);
                sample_value(s[side], 10 * (uint64_t)side + 3, i == 1 ? 4 : 8);
            }
            sample_load(s[side]);
        }
        cr_expect_eq(s[1]->loaded.code, PFB_BAD_VALUE_SIZE);
        pfb_formula_result r = evaluate_cell(s[0], s[1], 0, 0);
        static const pfb_status expected[] = {PFB_STATUS_MISSING_INPUT, PFB_STATUS_MISSING_BASE, PFB_STATUS_OK};
        char what[64];
        snprintf(what, sizeof what, "the average in a row with %u intact values", intact);
        expect_status(r, expected[intact], what);
        r = evaluate_cell(s[0], s[1], 0, 2);
        snprintf(what, sizeof what, "the last value of a row with %u intact values", intact);
        expect_status(r, PFB_STATUS_MISSING_INPUT, what);
        sample_free_both(s[0], s[1]);
    }
}
