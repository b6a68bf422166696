/* SPDX-License-Identifier: MIT */
/* Strides of columns, and the search for related columns. test_sample.c and test_cook.c test the orders themselves. */
#include <criterion/criterion.h>

#include "sample/order.h"
#include "support.h"

#include <stdlib.h>
#include <string.h>

/* A stride is at least the number of rows and at most a quarter more, up to the rows of the largest possible block. */
Test(order, strides_are_large_enough)
{
    for (uint32_t rows = 0; rows < UINT32_MAX / 8 - 1000; rows += rows < 70000 ? 1 : rows / 1000) {
        uint32_t stride = pfb_sample_stride(rows);
        cr_assert(stride >= rows && stride - rows <= rows / 4, "%u rows: %u", rows, stride);
    }
}

/* The values of a row in 32 columns are in 32 cache lines. At most 4 of these lines are in the same set of a small
 * cache with 64 sets. */
Test(order, strides_spread_a_row_over_cache_sets)
{
    for (uint32_t rows = 512; rows <= 65536; rows += 64) {
        unsigned lines[64] = {0};
        for (uint64_t column = 0; column < 32; column++)
            lines[column * pfb_sample_stride(rows) * 8 / 64 % 64]++;
        for (unsigned i = 0; i < 64; i++)
            cr_assert_leq(lines[i], 4, "%u rows: %u lines at %u", rows, lines[i], i);
    }
}

enum { RESULTS = 48 };

/* Adds rows of an instance to random results, and one or two columns of a counter to random results. Stores the
 * expected row in related->rank and the expected column in *column: those of the first result that has both. */
static void scatter(uint32_t round, uint64_t *random, const pfb_sample *table, pfb_related_rows *related,
                    pfb_column_range *columns, uint32_t *column)
{
    uint32_t first = PFB_NONE;
    *column = PFB_NONE;
    for (uint32_t r = 0; r < RESULTS; r++) {
        bool has_row = random_below(random, 8) < round % 8;
        bool has_column = random_below(random, 64) < round / 8 % 32;
        for (uint32_t n = 0; has_column && n < 1 + r % 2; n++) {
            uint32_t at = columns->end++;
            table->column_order[at] = 2 * RESULTS - 1 - at;
            table->columns[2 * RESULTS - 1 - at].result = r;
            if (has_row && first == PFB_NONE) {
                first = related->count;
                *column = 2 * RESULTS - 1 - at;
            }
        }
        if (has_row)
            related->results[related->count++] = r;
    }
    related->rank = first; /* not read by pfb_sample_first_with */
}

Test(order, the_first_result_with_row_and_column_is_found)
{
    uint32_t order[2 * RESULTS];
    pfb_sample_column columns[2 * RESULTS];
    pfb_sample table = {.columns = columns, .column_order = order};
    uint64_t random = 1;
    unsigned found = 0;
    for (uint32_t round = 0; round < 4000; round++) {
        pfb_related_rows related = {.group = PFB_NONE};
        pfb_column_range range = {0, 0};
        uint32_t expected_column;
        uint32_t column = PFB_NONE;
        scatter(round, &random, &table, &related, &range, &expected_column);
        /* The order ends with the columns of the counter, so that a sanitizer detects reads past them. */
        table.column_order = malloc((range.end + 1) * sizeof *order);
        cr_assert_not_null(table.column_order);
        uint32_t *begin = table.column_order;
        memcpy(++table.column_order, order, range.end * sizeof *order);
        uint32_t first = pfb_sample_first_with(&table, &related, range, &column);
        free(begin);
        table.column_order = order;
        cr_assert_eq(first, related.rank == PFB_NONE ? related.count : related.rank, "round %u", round);
        cr_assert_eq(column, expected_column, "round %u", round);
        found += related.rank != PFB_NONE;
    }
    cr_expect(found > 1000 && found < 3900, "%u of 4000 rounds have such a result", found);
}
