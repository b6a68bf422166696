/* SPDX-License-Identifier: MIT */
/* Random samples, some with added, removed, repeated and reordered instances: pfb_sample_cook stores the values
 * that pfb_sample_cook_value returns. */
#include "support.h"
#include "support_samples.h"
#include "support_v1.h"

#include <criterion/criterion.h>

#include "perfblock/sample.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MULTI_COUNT_COLUMN = 10 }; /* position of the multi count in `kinds` */
enum { SET = 1, COLUMNS = 17, MAX_ROWS = 700, CAPACITY = 1 << 18 };

static bool one_in(uint64_t *state, uint64_t count)
{
    return random_u64(state) % count == 0;
}

/* ---- Counters ------------------------------------------------------------------------------------------- */

/* Counters with their related counters; the id is the position + 1. */
static const struct {
    uint32_t type, size, base, multi, time, freq;
} kinds[COLUMNS] = {
    {RAWCOUNT, 4, 0, 0, 0, 0},
    {COUNTER, 4, 0, 0, 0, 0},
    {BULK_COUNT, 8, 0, 0, 0, 0},
    {TIMER_100NS, 8, 0, 0, 0, 0},
    {TIMER_100NS_INV, 8, 0, 0, 0, 0},
    {PRECISION_100NS, 8, 7, 0, 0, 0},
    {LARGE_RAW_BASE, 8, 0, 0, 0, 0}, /* the base of the precision timer */
    {AVERAGE_BULK, 8, 9, 0, 0, 0},
    {AVERAGE_BASE, 4, 0, 0, 0, 0}, /* the base of the average */
    {MULTI_TIMER_INV, 8, 0, 11, 0, 0},
    {RAWCOUNT, 4, 0, 0, 0, 0},       /* the multi count of that timer */
    {OBJ_TIMER, 8, 0, 0, 13, 14},    /* a timer with its own clock */
    {LARGE_RAWCOUNT, 8, 0, 0, 0, 0}, /* the clock of that timer */
    {LARGE_RAWCOUNT, 8, 0, 0, 0, 0}, /* the frequency of that clock */
    {PRECISION_OBJECT, 8, 17, 0, 13,
     14},                            /* a precision timer; without its base, which may be absent, it uses that clock */
    {ELAPSED, 8, 0, 0, 0, 14},       /* an elapsed time that refers to a frequency but not to a clock */
    {LARGE_RAW_BASE, 8, 0, 0, 0, 0}, /* the base of counter 15; absent in some samples */
};

static uint32_t id_or_none(uint32_t id)
{
    return id == 0 ? PFB_NO_ID : id;
}

static void register_kinds(sample *s)
{
    pfb_counter counters[COLUMNS];
    for (uint32_t i = 0; i < COLUMNS; i++) {
        counters[i] = counter_without_references(i + 1, kinds[i].type);
        counters[i].base_id = id_or_none(kinds[i].base);
        counters[i].multi_id = id_or_none(kinds[i].multi);
        counters[i].perf_time_id = id_or_none(kinds[i].time);
        counters[i].perf_freq_id = id_or_none(kinds[i].freq);
    }
    sample_register(s, SET, counters, COLUMNS);
}

/* ---- Instances ------------------------------------------------------------------------------------------ */

/* Average distances between irregularities: about one in `rows` instances each is removed, added, repeated and
 * exchanged; about one in `values` raw values is random, and about one has a random size. UINT64_MAX: none. */
typedef struct irregularity {
    uint64_t rows, values;
} irregularity;

/* The instances of a sample. */
typedef struct instance_ids {
    uint32_t ids[MAX_ROWS];
    uint32_t count;
} instance_ids;

static void fill_instances(uint64_t *state, instance_ids *instances)
{
    instances->count = (uint32_t)(one_in(state, 3) ? random_u64(state) % 40 : random_u64(state) % MAX_ROWS);
    for (uint32_t i = 0; i < instances->count; i++)
        instances->ids[i] = i;
}

/* Of `period` instances, about one each is removed, preceded by a new one, repeated, and exchanged with another. */
static void change_instances(uint64_t *state, instance_ids *instances, uint64_t period)
{
    instance_ids original = *instances;
    instances->count = 0;
    for (uint32_t i = 0; i < original.count && instances->count + 2 < MAX_ROWS; i++) {
        uint64_t change = random_u64(state) % period;
        if (change == 0)
            continue;
        if (change == 1)
            instances->ids[instances->count++] = 100000 + (uint32_t)(random_u64(state) % 1000);
        if (change == 2)
            instances->ids[instances->count++] = original.ids[i];
        instances->ids[instances->count++] = original.ids[i];
        if (change == 3) {
            uint32_t other = (uint32_t)(random_u64(state) % instances->count);
            uint32_t id = instances->ids[other];
            instances->ids[other] = instances->ids[instances->count - 1];
            instances->ids[instances->count - 1] = id;
        }
    }
}

/* Returns the raw value of a counter of an instance. It grows linearly with `tick`, but about one value in `period` is
 * random. */
static uint64_t raw_value(uint64_t *state, uint32_t id, uint32_t column, int64_t tick, uint64_t period)
{
    if (one_in(state, period))
        return random_u64(state) >> random_u64(state) % 64;
    uint64_t rate = 1 + (id * 7919 + column * 104729) % 9999;
    return 1000 + id + (uint64_t)tick * (column == MULTI_COUNT_COLUMN ? 3 : rate);
}

static uint32_t value_size(uint64_t *state, uint32_t column, uint64_t period)
{
    static const uint32_t others[] = {4, 8, 5, 12};
    return one_in(state, period) ? others[random_u64(state) % 4] : kinds[column].size;
}

static sample *make_sample(uint64_t *state, const instance_ids *instances, int64_t tick, uint64_t period)
{
    uint32_t ids[COLUMNS];
    sample *s = sample_new_large(tick, CAPACITY);
    register_kinds(s);
    sample_query(s, SET, PFB_NO_ID, PFB_NO_ID, "*", 0);
    for (uint32_t i = 0; i < COLUMNS; i++)
        ids[i] = i + 1;
    uint32_t columns = one_in(state, 4) ? COLUMNS - 1 : COLUMNS; /* the last counter is sometimes missing */
    sample_result(s, PFB_V2_COUNTERSET, ids, columns);
    for (uint32_t row = 0; row < instances->count; row++) {
        char name[16];
        snprintf(name, sizeof name, "i%u", instances->ids[row] % 500);
        sample_row(s, instances->ids[row], name);
        for (uint32_t column = 0; column < columns; column++)
            sample_value(s, raw_value(state, instances->ids[row], column, tick, period),
                         value_size(state, column, period));
    }
    sample_end(s);
    if (one_in(state, 4) && s->data.size_bytes > 200) /* sometimes the total size is too small */
        store_ordered(s->data.data, false, (uint32_t)(s->data.size_bytes - random_u64(state) % 100 / 8 * 8));
    sample_load(s);
    return s;
}

static pfb_formula_options random_options(uint64_t *state)
{
    uint64_t bits = random_u64(state);
    return (pfb_formula_options){.wrap32 = bits % 2 != 0,
                                 .cap_100 = bits % 16 == 2,
                                 .per_item_inverse = bits % 16 == 4,
                                 .scale = (int8_t)(bits % 16 == 6 ? 2 : 0)};
}

/* ---- Comparisons ---------------------------------------------------------------------------------------- */

static unsigned expect_same_as_cook_value(const pfb_sample *older, const pfb_sample *newer,
                                          const pfb_formula_options *options)
{
    displayed all = displayed_of(older, newer, options);
    unsigned ok = expect_displayed(older, newer, options, all);
    displayed_free(all);
    return ok;
}

/* Compares all results for two random samples, and returns the number of values with status ok. */
static unsigned compare_samples(uint64_t *state, irregularity periods)
{
    instance_ids instances;
    fill_instances(state, &instances);
    sample *older = make_sample(state, &instances, 1, periods.values);
    change_instances(state, &instances, periods.rows);
    sample *newer = make_sample(state, &instances, 2, periods.values);
    pfb_formula_options options = random_options(state);
    pfb_sample_match(&older->table, &newer->table, NULL, 0);
    unsigned ok = expect_same_as_cook_value(&older->table, &newer->table, &options);
    expect_same_as_cook_value(NULL, &newer->table, &options);
    sample_free_both(older, newer);
    return ok;
}

Test(cook_columns, random_v2_samples_have_the_values_of_cook_value, .timeout = 300)
{
    static const irregularity irregularities[] = {
        {UINT64_MAX, UINT64_MAX}, {200, 100000}, {200, 1000}, {20, 10000}, {5, 30}, {UINT64_MAX, 2000}};
    uint64_t state = 42;
    unsigned ok = 0;
    for (unsigned round = 0; round < 60; round++)
        ok += compare_samples(&state, irregularities[round % 6]);
    cr_expect_gt(ok, 50000, "only %u values with status ok", ok);
}

/* `newer` is matched with `large` and then cooked with `small`, which lacks some of the older rows. */
Test(cook_columns, a_sample_can_be_cooked_with_one_it_was_not_matched_with)
{
    uint64_t state = 1;
    instance_ids instances = {.count = 300};
    for (uint32_t i = 0; i < instances.count; i++)
        instances.ids[i] = i;
    sample *large = make_sample(&state, &instances, 1, UINT64_MAX);
    sample *newer = make_sample(&state, &instances, 2, UINT64_MAX);
    instances.count = 200;
    sample *small = make_sample(&state, &instances, 1, UINT64_MAX);
    pfb_sample_match(&large->table, &newer->table, NULL, 0);
    expect_same_as_cook_value(&small->table, &newer->table, NULL);
    sample_free(small);
    sample_free_both(large, newer);
}

/* ---- V1 ------------------------------------------------------------------------------------------------- */

/* Some counters have a base or a multi count, as the next definition or as the 4 bytes after the value. */
static const uint32_t v1_types[] = {COUNTER,  AVERAGE_BULK, AVERAGE_BASE, MULTI_TIMER_INV, MULTI_BASE,
                                    RAWCOUNT, OBJ_TIMER,    TEXT,         MULTI_TIMER};
enum { V1_COLUMNS = sizeof v1_types / sizeof v1_types[0] };

typedef struct v1_sample {
    uint8_t *data;
    void *memory;
    pfb_sample table;
    bool has_multi_counts;
} v1_sample;

static v1_sample make_v1(uint64_t *state, const instance_ids *instances, int64_t tick, const uint32_t *sizes,
                         uint64_t period)
{
    v1_sample s = {.data = malloc(CAPACITY)};
    uint32_t at[V1_COLUMNS];
    pfb_writer b;
    pfb_write_times times = v1_times(tick);
    pfb_write_init(&b, s.data, CAPACITY);
    pfb_write_begin_v1(&b, &times, NULL, false);
    v1_object(&b, 10, 0);
    for (uint32_t i = 0; i < V1_COLUMNS; i++)
        at[i] = v1_counter(&b, 100 + 2 * i, v1_types[i], sizes[i], 0);
    for (uint32_t row = 0; row < instances->count; row++) {
        char name[16];
        snprintf(name, sizeof name, "i%u", instances->ids[row] % 500);
        v1_instance_of(&b, name, one_in(state, 20) ? (int32_t)instances->ids[row] : -1, 0, 0);
        uint32_t multi_at = at[V1_COLUMNS - 1] + sizes[V1_COLUMNS - 1]; /* of the last definition */
        pfb_write_counter_block(&b, multi_at + 4);
        pfb_write_v1_value(&b, multi_at, row % 5, 4);
        for (uint32_t i = 0; i < V1_COLUMNS; i++) {
            if (sizes[i] == 4 || sizes[i] == 8)
                pfb_write_v1_value(&b, at[i], raw_value(state, instances->ids[row], i, tick, period), sizes[i]);
        }
    }
    v1_end(&b);
    pfb_sample_input input = {.data = s.data, .data_size_bytes = b.size_bytes};
    pfb_sample_counts counts;
    pfb_sample_measure(&input, &counts);
    size_t size = pfb_sample_size(&counts);
    s.memory = malloc(size);
    expect_error(pfb_sample_load(&s.table, &input, &counts, s.memory, size), PFB_OK, 0, "V1");
    bool has_multi = sizes[V1_COLUMNS - 1] == 8;
    for (uint32_t row = 0; row < s.table.counts.rows && has_multi; row++) {
        for (uint32_t column = 0; column < V1_COLUMNS && !s.has_multi_counts; column++)
            s.has_multi_counts = pfb_sample_value_at(&s.table, row, column).has_multi_count;
    }
    cr_expect_eq(s.has_multi_counts, has_multi && instances->count > 0);
    return s;
}

static void free_v1(v1_sample *s)
{
    free(s->data);
    free(s->memory);
}

Test(cook_columns, random_v1_samples_have_the_values_of_cook_value, .timeout = 300)
{
    uint64_t state = 43;
    unsigned ok = 0;
    for (unsigned round = 0; round < 40; round++) {
        instance_ids instances;
        uint32_t sizes[V1_COLUMNS];
        uint64_t period = round % 2 ? 500 : UINT64_MAX;
        for (uint32_t i = 0; i < V1_COLUMNS; i++)
            sizes[i] = one_in(&state, 12) ? 5 : one_in(&state, 3) ? 4 : 8; /* 5 bytes are not a number */
        fill_instances(&state, &instances);
        v1_sample older = make_v1(&state, &instances, 1, sizes, period);
        change_instances(&state, &instances, round % 3 ? 100 : UINT64_MAX);
        sizes[round % V1_COLUMNS] = one_in(&state, 2) ? 4 : 8;
        v1_sample newer = make_v1(&state, &instances, 2, sizes, period);
        pfb_formula_options options = random_options(&state);
        pfb_sample_match(&older.table, &newer.table, NULL, 0);
        ok += expect_same_as_cook_value(&older.table, &newer.table, &options);
        expect_same_as_cook_value(NULL, &newer.table, &options);
        free_v1(&older);
        free_v1(&newer);
    }
    cr_expect_gt(ok, 10000, "only %u values with status ok", ok);
}
