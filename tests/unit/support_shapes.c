/* SPDX-License-Identifier: MIT */
#include "support_shapes.h"

#include <criterion/criterion.h>

#include "support_v1.h"

#include <stdlib.h>

enum { BLOCK_BYTES = 1 << 16 };

block shape_v2(uint32_t counters, uint32_t instances)
{
    static const uint8_t name[2] = {'a', 0};
    uint32_t ids[SHAPE_MAX_COUNTERS];
    for (uint32_t i = 0; i < counters; i++)
        ids[i] = i;
    block b = {.data = calloc(1, BLOCK_BYTES)};
    pfb_writer writer;
    pfb_write_init(&writer, b.data, BLOCK_BYTES);
    pfb_write_begin_v2(&writer, &(pfb_write_times){1, 1, 1, {0}});
    pfb_write_begin_result(&writer, PFB_V2_COUNTERSET, 0, ids, counters);
    for (uint32_t i = 0; i < instances; i++) {
        pfb_write_instance(&writer, i, UTF16_NAME(name, 1));
        for (uint32_t k = 0; k < counters; k++)
            pfb_write_value(&writer, k, 8);
    }
    pfb_write_end_result(&writer);
    pfb_write_end_v2(&writer);
    cr_assert_eq(writer.error.code, PFB_OK);
    b.size = writer.size_bytes;
    return b;
}

block shape_v1(uint32_t counters, uint32_t instances)
{
    block b = {.data = calloc(1, BLOCK_BYTES)};
    uint32_t at[SHAPE_MAX_COUNTERS];
    pfb_writer writer;
    v1_begin(&writer, b.data, BLOCK_BYTES, false);
    v1_object(&writer, 2, 0);
    for (uint32_t k = 0; k < counters; k++)
        at[k] = v1_counter(&writer, 4 + 2 * k, RAWCOUNT, 8, 0);
    for (uint32_t i = 0; i < instances; i++) {
        v1_instance(&writer, "a");
        for (uint32_t k = 0; k < counters; k++)
            pfb_write_v1_value(&writer, at[k], k, 8);
    }
    v1_end(&writer);
    b.size = writer.size_bytes;
    return b;
}
