/* SPDX-License-Identifier: MIT */
/* Loads a sample after the input changed since it was measured: to another format, shape or size. The table ends less
 * than 16 bytes before an inaccessible page, so that a write into that page ends the test. */
#include <criterion/criterion.h>

#include "perfblock/sample.h"
#include "support.h"
#include "support_shapes.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_INPUTS = 512 };

/* Measures `before`, overwrites it with `after`, and loads. The memory has the size of the measured table. */
static pfb_error load_changed(const block *before, const block *after)
{
    size_t size = before->size > after->size ? before->size : after->size;
    uint8_t *shared = calloc(1, size + 1);
    cr_assert(shared);
    memcpy(shared, before->data, before->size);
    pfb_sample_input input = {.data = shared, .data_size_bytes = size};
    pfb_sample_counts counts;
    pfb_sample table;
    pfb_sample_measure(&input, &counts);
    memset(shared, 0, size);
    memcpy(shared, after->data, after->size);

    size_t needed = pfb_sample_size(&counts);
    guarded memory = guarded_make(needed + 16);
    uint8_t *at = memory.end - (needed + 15) / 16 * 16; /* aligned to 16 bytes, like memory of malloc */
    pfb_error error = pfb_sample_load(&table, &input, &counts, at, needed);
    cr_assert_leq(table.counts.results, counts.results);
    cr_assert_leq(table.counts.columns, counts.columns);
    cr_assert_leq(table.counts.rows, counts.rows);
    cr_assert_leq(table.counts.values, counts.values);
    cr_assert_leq(table.counts.multi_counts, counts.multi_counts);
    guarded_free(&memory);
    free(shared);
    return error;
}

/* A table measured for V2 has no space for the multi counts of a V1 block. */
Test(sample_changed, v2_is_replaced_by_v1)
{
    block v2 = shape_v2(8, 64);
    block v1 = shape_v1(8, 64);
    expect_error(load_changed(&v2, &v1), PFB_CALLER_TOO_SMALL, 0, "V2, then V1");
    expect_error(load_changed(&v1, &v2), PFB_OK, 0, "V1, then V2 of the same shape");
    expect_error(load_changed(&v1, &v1), PFB_OK, 0, "V1, unchanged");
    free(v2.data);
    free(v1.data);
}

/* ---- Every pair of seeds ------------------------------------------------------------------------------------- */

static block inputs[MAX_INPUTS];
static size_t input_count;

static void store_input(const char *name, const uint8_t *data, size_t size)
{
    (void)name;
    cr_assert_lt(input_count, MAX_INPUTS);
    block *b = &inputs[input_count++];
    *b = (block){malloc(size + 1), size};
    cr_assert(b->data);
    memcpy(b->data, data, size);
}

Test(sample_changed, every_seed_is_replaced_by_every_other, .timeout = 240)
{
    cr_assert_geq(visit_seeds("v2", store_input), 10);
    cr_assert_geq(visit_seeds("v1", store_input), 10);
    for (size_t i = 0; i < input_count; i++) {
        for (size_t k = 0; k < input_count; k++)
            load_changed(&inputs[i], &inputs[k]);
    }
}
