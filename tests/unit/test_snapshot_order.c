/* SPDX-License-Identifier: MIT */
/* Where the values of a snapshot stand. How its parts are ordered is what test_snapshot.c and its neighbours see. */
#include <criterion/criterion.h>

#include "snapshot_order.h"

#include <string.h>

/* Columns hold their rows and at most a quarter more, also at the limit of what a block can have. */
Test(snapshot_order, strides_hold_the_rows)
{
    for (uint32_t rows = 0; rows < UINT32_MAX / 8 - 1000; rows += rows < 70000 ? 1 : rows / 1000) {
        uint32_t stride = pfb_snapshot_stride(rows);
        cr_assert(stride >= rows && stride - rows <= rows / 4, "%u rows: %u", rows, stride);
    }
}

/* Of 32 columns that one row touches no more than 4 lines fall on one of the 64 places of a small cache. */
Test(snapshot_order, strides_spread_a_row_over_a_cache)
{
    for (uint32_t rows = 512; rows <= 65536; rows += 64) {
        unsigned used[64] = {0};
        for (uint64_t column = 0; column < 32; column++)
            used[column * pfb_snapshot_stride(rows) * 8 / 64 % 64]++;
        for (unsigned i = 0; i < 64; i++)
            cr_assert_leq(used[i], 4, "%u rows: %u lines at %u", rows, used[i], i);
    }
}

/* One size that differs is seen wherever it stands. */
Test(snapshot_order, common_sizes)
{
    uint8_t sizes[40];
    for (size_t count = 1; count <= 33; count++) {
        for (int size = 0; size <= 8; size += 4) {
            memset(sizes, size, count);
            sizes[count] = 1;
            cr_expect_eq(pfb_snapshot_common_size(sizes, count), size, "%zu of %d", count, size);
        }
        for (size_t i = 0; i < count && count > 1; i++) {
            memset(sizes, 8, count);
            sizes[i] = i % 2 ? 4 : 0;
            cr_expect_eq(pfb_snapshot_common_size(sizes, count), 0, "%zu of %zu", i, count);
        }
    }
    cr_expect_eq(pfb_snapshot_common_size(sizes, 0), 0, "of nothing");
}
