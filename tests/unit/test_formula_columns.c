/* SPDX-License-Identifier: MIT */
/* Formulas over columns: each result is the one of its instance alone. */
#include "support_formula.h"

#include <criterion/criterion.h>

#include <math.h>

enum { COUNT = 77 }; /* two blocks of those that are computed together, and a rest */

typedef struct arrays {
    uint64_t older_values[COUNT], newer_values[COUNT], older_bases[COUNT], newer_bases[COUNT],
        newer_multi_counts[COUNT];
} arrays;

static uint64_t next_random(uint64_t *state)
{
    *state += UINT64_C(0x9E3779B97F4A7C15);
    uint64_t x = *state;
    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    return x ^ x >> 31;
}

/* Everyday numbers; one in `rarely` is of any length, or about where products reach 2^52 or 2^53. */
static uint64_t random_number(uint64_t *state, uint64_t rarely)
{
    static const uint64_t factors[] = {1, 100, 3000000, 10000000};
    uint64_t kind = next_random(state) % rarely;
    if (kind == 0)
        return next_random(state) >> next_random(state) % 64;
    if (kind == 1)
        return (UINT64_C(1) << (52 + next_random(state) % 2)) / factors[next_random(state) % 4] - 2 +
               next_random(state) % 4;
    return next_random(state) % 100000000;
}

static pfb_raw_value random_shared(uint64_t *state, uint32_t type, int64_t time)
{
    pfb_raw_value s = sample_at(type, 0, 99);
    s.perf_time += time;
    s.perf_time_100ns += time;
    s.object_time += time;
    s.has &= ~(next_random(state) % 8 == 0 ? (uint32_t)next_random(state) : 0);
    if (next_random(state) % 16 == 0)
        s.perf_freq = s.object_freq = (int64_t)(next_random(state) % 3) - 1;
    if (next_random(state) % 16 == 0)
        s.base_type = LARGE_RAW_BASE;
    return s;
}

static void fill(uint64_t *state, uint64_t rarely, arrays *a)
{
    for (int i = 0; i < COUNT; i++) {
        a->older_values[i] = random_number(state, rarely);
        a->newer_values[i] = a->older_values[i] + random_number(state, rarely);
        a->older_bases[i] = random_number(state, rarely);
        a->newer_bases[i] = a->older_bases[i] + 1 + next_random(state) % 1000;
        a->newer_multi_counts[i] = 1 + next_random(state) % 5;
        if (next_random(state) % rarely == 0)
            a->newer_values[i] = random_number(state, rarely); /* it may have fallen */
        if (next_random(state) % rarely == 0)
            a->newer_bases[i] = random_number(state, rarely) % 3;
        if (next_random(state) % rarely == 0)
            a->newer_multi_counts[i] = 0;
    }
}

/* What take_sample of the library is to do, said once more. */
static pfb_raw_value one_sample(pfb_raw_value shared, const uint64_t *values, const uint64_t *bases,
                                const uint64_t *multi_counts, int i)
{
    const uint32_t own = PFB_HAS_VALUE | PFB_HAS_BASE | PFB_HAS_MULTI_COUNT;
    shared.has = (shared.has & ~own) | (values ? PFB_HAS_VALUE : 0) | (bases ? PFB_HAS_BASE : 0) |
                 (multi_counts ? PFB_HAS_MULTI_COUNT : 0);
    shared.value = values ? values[i] : 0;
    shared.base = bases ? bases[i] : 0;
    shared.multi_count = multi_counts ? multi_counts[i] : 0;
    return shared;
}

static unsigned expect_column(uint32_t type, const pfb_formula_options *options, const pfb_formula_column *column)
{
    double values[COUNT];
    uint8_t status_bytes[COUNT];
    unsigned ok = 0;
    pfb_formula formula = pfb_formula_prepare(type, options);
    pfb_formula_apply_column(&formula, column, values, status_bytes);
    for (int i = 0; i < (int)column->count; i++) {
        pfb_raw_value newer =
            one_sample(*column->newer, column->newer_values, column->newer_bases, column->newer_multi_counts, i);
        pfb_raw_value older = newer;
        if (column->older)
            older = one_sample(*column->older, column->older_values, column->older_bases, NULL, i);
        pfb_formula_result alone = pfb_formula_evaluate(column->older ? &older : NULL, &newer, options);
        cr_assert(same_marked(values[i], status_bytes[i], &alone), "%08X, instance %d: %02X %a, alone %s %a", type, i,
                  status_bytes[i], values[i], pfb_status_name(alone.status), alone.value);
        ok += alone.status == PFB_STATUS_OK;
    }
    return ok;
}

static pfb_formula_options random_options(uint64_t *state)
{
    uint64_t bits = next_random(state);
    pfb_formula_options options = {.generic = true, .wrap32 = bits % 2 != 0};
    if (bits % 8 < 2)
        options.cap_100 = options.clamp_0 = true;
    if (bits % 8 == 2)
        options.scale = -3;
    if (bits % 8 == 3)
        options.per_item_inverse = options.server_2003_multi_timer = true;
    return options;
}

static uint32_t random_type(uint64_t *state)
{
    uint32_t type = pfb_counter_type_at((size_t)next_random(state) % pfb_counter_type_count())->value;
    if (next_random(state) % 4 == 0) /* mostly one without a name */
        type = (type ^ (uint32_t)(next_random(state) & 0xF3FF0500)) & ~PFB_TYPE_RESERVED_MASK;
    return type;
}

Test(formula_columns, each_result_is_that_of_the_instance_alone)
{
    uint64_t state = 7;
    unsigned ok = 0;
    for (int round = 0; round < 20000; round++) {
        arrays a;
        static const uint64_t rarely[] = {8, 200, 2000, UINT64_MAX};
        fill(&state, rarely[round % 4], &a);
        uint32_t type = random_type(&state);
        pfb_formula_options options = random_options(&state);
        pfb_raw_value older = random_shared(&state, type, 0);
        pfb_raw_value newer = random_shared(&state, type, (int64_t)(next_random(&state) % 4 * 2500000) - 1);
        uint64_t absent = next_random(&state) % 4 == 0 ? next_random(&state) : 0;
        pfb_formula_column column = {.older = absent & 1 ? NULL : &older,
                                     .newer = &newer,
                                     .older_values = absent & 2 ? NULL : a.older_values,
                                     .newer_values = absent & 4 ? NULL : a.newer_values,
                                     .older_bases = absent & 8 ? NULL : a.older_bases,
                                     .newer_bases = absent & 16 ? NULL : a.newer_bases,
                                     .newer_multi_counts = absent & 32 ? NULL : a.newer_multi_counts,
                                     .count = COUNT};
        ok += expect_column(type, &options, &column);
    }
    cr_expect_gt(ok, 100000, "only %u values", ok);
}

/* An object's precision timer, bases in the newer sample alone: the clock measures it, not half a base. */
Test(formula_columns, bases_in_one_sample_only)
{
    arrays a;
    uint64_t state = 1;
    fill(&state, UINT64_MAX, &a); /* all of them everyday numbers, which are computed together */
    pfb_raw_value older = sample_at(PRECISION_OBJECT, 0, 0);
    pfb_raw_value newer = sample_at(PRECISION_OBJECT, 1, 0);
    pfb_formula_column column = {.older = &older,
                                 .newer = &newer,
                                 .older_values = a.older_values,
                                 .newer_values = a.newer_values,
                                 .newer_bases = a.newer_bases,
                                 .count = COUNT};
    cr_expect_gt(expect_column(PRECISION_OBJECT, NULL, &column), 0);
}

/* ---- The edges of what is computed together ------------------------------------------------------------- */

/* Readings from and to: around the numbers of bits that doubles hold, wrapped, fallen, and unchanged. */
static const uint64_t edges[][2] = {
    {UINT64_MAX - 4, 10},
    {UINT64_MAX, 0},
    {UINT64_C(1) << 63, (UINT64_C(1) << 63) + 3},
    {(UINT64_C(1) << 63) - 1, UINT64_C(1) << 63},
    {0, (UINT64_C(1) << 51) - 1},
    {0, UINT64_C(1) << 51},
    {7, UINT64_C(1) << 52},
    {0, (UINT64_C(1) << 52) - 1},
    {0, UINT64_C(1) << 53},
    {1, (UINT64_C(1) << 53) + 2},
    {0, UINT64_MAX},
    {UINT64_C(0x0008000000000002), 1},
    {5, 4},
    {9, 9},
    {0, ((UINT64_C(1) << 52) - 1) / 100},
    {0, (UINT64_C(1) << 52) / 100 + 1},
    {0, ((UINT64_C(1) << 52) - 1) / 10000000},
    {0, (UINT64_C(1) << 52) / 10000000 + 1},
};
enum { EDGES = sizeof edges / sizeof edges[0], EDGE_ROW = 9 };

/* Each edge in one row, as value, as base and as item count, among rows that have nothing of it. */
static void expect_edges(uint32_t type, const pfb_raw_value *older, const pfb_raw_value *newer)
{
    arrays plain;
    uint64_t state = type;
    fill(&state, UINT64_MAX, &plain);
    for (size_t edge = 0; edge < EDGES * 3; edge++) {
        arrays a = plain;
        uint64_t from = edges[edge / 3][0];
        uint64_t to = edges[edge / 3][1];
        if (edge % 3 == 0) {
            a.older_values[EDGE_ROW] = from;
            a.newer_values[EDGE_ROW] = to;
        } else if (edge % 3 == 1) {
            a.older_bases[EDGE_ROW] = from;
            a.newer_bases[EDGE_ROW] = to;
        } else {
            a.newer_multi_counts[EDGE_ROW] = to;
        }
        pfb_formula_column column = {.older = older,
                                     .newer = newer,
                                     .older_values = a.older_values,
                                     .newer_values = a.newer_values,
                                     .older_bases = a.older_bases,
                                     .newer_bases = a.newer_bases,
                                     .newer_multi_counts = a.newer_multi_counts,
                                     .count = EDGE_ROW + 32};
        expect_column(type, &(pfb_formula_options){.per_item_inverse = true}, &column);
    }
}

Test(formula_columns, edges_of_what_is_computed_together)
{
    static const int64_t frequencies[] = {1, 3, 7, 10000000};
    static const int64_t times[] = {1, 3, 1000, INT64_C(1) << 45};
    for (size_t i = 0; i < pfb_counter_type_count(); i++) {
        uint32_t type = pfb_counter_type_at(i)->value;
        for (size_t k = 0; k < 16; k++) {
            pfb_raw_value older = sample_at(type, 0, 0);
            pfb_raw_value newer = older;
            newer.perf_freq = newer.object_freq = frequencies[k % 4];
            newer.perf_time += times[k / 4];
            newer.perf_time_100ns += times[k / 4];
            newer.object_time += times[k / 4];
            expect_edges(type, &older, &newer);
        }
    }
}

/* The type behind this one, of those without a reserved bit; behind the last one 0. */
static uint32_t next_type(uint32_t type)
{
    return (type - ~PFB_TYPE_RESERVED_MASK) & ~PFB_TYPE_RESERVED_MASK;
}

/* One tick of both clocks, so that dT is 1: every type there can be. */
static unsigned expect_one_tick(int64_t frequency, const pfb_formula_options *options)
{
    arrays a;
    uint64_t state = 11;
    unsigned ok = 0;
    fill(&state, UINT64_MAX, &a);
    uint32_t type = 0;
    do {
        pfb_raw_value older = sample_at(type, 0, 0);
        pfb_raw_value newer = older;
        newer.perf_freq = newer.object_freq = frequency;
        newer.perf_time++;
        newer.perf_time_100ns++;
        newer.object_time++;
        pfb_formula_column column = {.older = &older,
                                     .newer = &newer,
                                     .older_values = a.older_values,
                                     .newer_values = a.newer_values,
                                     .older_bases = a.older_bases,
                                     .newer_bases = a.newer_bases,
                                     .newer_multi_counts = a.newer_multi_counts,
                                     .count = COUNT};
        if (pfb_formula_prepare(type, options).status == PFB_STATUS_OK)
            ok += expect_column(type, options, &column);
        type = next_type(type);
    } while (type != 0);
    return ok;
}

/* Where all that is divided by, and multiplied with, may be 1: then only the bases or the items tell a value from its
 * numerator. */
Test(formula_columns, one_tick)
{
    static const pfb_formula_options options = {.generic = true};
    cr_expect_gt(expect_one_tick(1, &options), 100 * COUNT);
    cr_expect_gt(expect_one_tick(7, &options), 100 * COUNT);
}

/* What is computed together has no way for such a type: it must be added before the type is. */
Test(formula_columns, no_type_has_a_base_and_is_an_inverse_or_has_items)
{
    static const uint32_t others = PFB_TERM_INVERSE | PFB_TERM_FROM_MULTI_COUNT | PFB_TERM_OVER_MULTI_COUNT;
    size_t with_base = 0;
    for (unsigned policies = 0; policies < 4; policies++) {
        pfb_formula_options options = {
            .generic = true, .per_item_inverse = policies & 1, .server_2003_multi_timer = policies >> 1 & 1};
        uint32_t type = 0;
        do { /* every one, counted through the bits that are not reserved */
            pfb_formula f = pfb_formula_prepare(type, &options);
            bool has_base = f.denominator == PFB_DENOMINATOR_BASE || f.denominator == PFB_DENOMINATOR_BASE_DELTA;
            if (f.status == PFB_STATUS_OK && has_base) {
                with_base++;
                cr_expect((f.terms & others) == 0, "%08X", (unsigned)type);
            }
            type = next_type(type);
        } while (type != 0);
    }
    cr_expect_gt(with_base, 4 * 5, "at least those with a name");
}

Test(formula_columns, nothing_is_written_for_no_instance)
{
    pfb_raw_value newer = sample_at(RAWCOUNT, 0, 0);
    pfb_formula formula = pfb_formula_prepare(RAWCOUNT, NULL);
    pfb_formula_column column = {.newer = &newer, .count = 0};
    pfb_formula_apply_column(&formula, &column, NULL, NULL);
}

/* ---- Marks ---------------------------------------------------------------------------------------------- */

Test(formula_columns, a_mark_tells_all_but_large_integers)
{
    const uint64_t limit = UINT64_C(1) << 53;
    const pfb_formula_result results[] = {
        {PFB_STATUS_OK, 0, 0.5, PFB_UNIT_PERCENT, false, 0},
        {PFB_STATUS_OK, 0, 0, PFB_UNIT_NONE, true, 0},
        {PFB_STATUS_OK, 0, (double)(limit - 1), PFB_UNIT_NONE, true, limit - 1},
        {PFB_STATUS_OK, PFB_FLAG_WRAPPED | PFB_FLAG_ABOVE_100, 250, PFB_UNIT_PERCENT, true, 250},
        {PFB_STATUS_OK, PFB_FLAG_BELOW_ZERO, -3, PFB_UNIT_PERCENT, false, 0},
        {PFB_STATUS_BAD_SCALE, 0, 0, PFB_UNIT_NONE, false, 0},
        {PFB_STATUS_NEED_TWO_SAMPLES, 0, 0, PFB_UNIT_PER_SECOND, false, 0},
    };
    static const uint8_t status_bytes[] = {0x00, 0x80, 0x80, 0xB0, 0x40, 0x0D, 0x01};
    for (size_t i = 0; i < sizeof status_bytes; i++) {
        cr_expect_eq(pfb_formula_pack(&results[i]), status_bytes[i], "result %zu", i);
        pfb_formula_result back = pfb_formula_unpack(results[i].value, status_bytes[i], results[i].unit);
        cr_expect(same_result(&back, &results[i]), "result %zu", i);
    }
    pfb_formula_result large = {PFB_STATUS_OK, 0, (double)limit, PFB_UNIT_NONE, true, limit + 1};
    cr_expect_eq(pfb_formula_pack(&large), 0, "the value is rounded, and the status byte does not claim an integer");
}

/* A status byte of any origin: the result is an integer only where the value is one below 2^53. */
Test(formula_columns, a_mark_of_a_value_it_does_not_fit)
{
    static const double values[] = {-1, 0.5, 9007199254740992.0, 1e300, INFINITY, -INFINITY, NAN};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        for (unsigned status_byte = 0x80; status_byte <= 0xFF; status_byte += 0x7F) {
            pfb_formula_result result = pfb_formula_unpack(values[i], (uint8_t)status_byte, PFB_UNIT_NONE);
            cr_expect(!result.is_integer && result.integer == 0, "value %zu, status_byte %x", i, status_byte);
        }
    }
}
