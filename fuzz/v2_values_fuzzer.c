/* SPDX-License-Identifier: MIT */
/* Reads a V2 reply with pfb_v2_read_values and value by value, and compares the results.
 *
 * Input: { switches u8, capacity u8, first position u8, step u8 }, then the reply. Switches: 1 strict, 2 values stored
 * by column, 4 an array for sizes, 8 an array for instances, 16 chosen positions, 32 read the first three values of an
 * instance one by one before each call, 64 padding after each row or column, 128 padding after each value. The capacity
 * is the low 6 bits of its byte plus 1, the step the low 4 bits plus 1. The high bits plus 1 are the padding: those of
 * the capacity byte after each value, those of the step byte after each row or column. */
#include "checks.h"
#include "perfblock/error.h"
#include "v2_values_readers.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PLAN_BYTES = 4 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < PLAN_BYTES)
        return 0;
    bulk_plan plan = {.options = data[0] & 1 ? STRICT : NULL,
                      .capacity = data[1] % 64u + 1,
                      .as_columns = data[0] & 2,
                      .with_sizes = data[0] & 4,
                      .with_instances = data[0] & 8,
                      .position_step = data[0] & 16 ? data[3] % 16u + 1 : 0,
                      .first_position = data[2],
                      .values_before = data[0] & 32 ? 3 : 0,
                      .spare_after = data[0] & 64 ? data[3] / 16u + 1 : 0,
                      .spare_inside = data[0] & 128 ? data[1] / 64u + 1 : 0};
    size -= PLAN_BYTES;
    uint8_t *copy = malloc(size > 0 ? size : 1); /* exact size: a sanitizer detects reads past the end */
    if (!copy)
        return 0;
    memcpy(copy, data + PLAN_BYTES, size);
    const char *broken = compare_bulk(copy, size, &plan);
    require(!broken, broken);
    free(copy);
    return 0;
}
