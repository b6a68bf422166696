/* SPDX-License-Identifier: MIT */
#include "support_formula.h"

#include <string.h>

pfb_raw_value sample_at(uint32_t type, int64_t tick, uint64_t value)
{
    return (pfb_raw_value){.type = type,
                           .has = ALL_INPUTS,
                           .value = value,
                           .base = 1000 + (uint64_t)tick * 20,
                           .multi_count = 4,
                           .perf_time = 5 + tick * 500,
                           .perf_time_100ns = 133000000000000000 + tick * 10000000,
                           .object_time = 70 + tick * 40,
                           .perf_freq = 250,
                           .object_freq = 80};
}

size_t type_count(void)
{
    size_t count = 0;
    while (pfb_counter_type_at(count))
        count++;
    return count;
}

static bool same_bits(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

bool same_result(const pfb_formula_result *a, const pfb_formula_result *b)
{
    return a->status == b->status && a->flags == b->flags && same_bits(a->value, b->value) && a->unit == b->unit &&
           a->is_integer == b->is_integer && a->integer == b->integer;
}

bool same_packed(double value, uint8_t status_byte, const pfb_formula_result *result)
{
    bool is_small_integer = result->is_integer && result->integer < UINT64_C(1) << 53;
    return same_bits(value, result->value) && (status_byte & PFB_STATUS_BYTE_CODE) == (unsigned)result->status &&
           (status_byte & PFB_STATUS_BYTE_FLAGS) == result->flags * 16 &&
           ((status_byte & PFB_STATUS_BYTE_INTEGER) != 0) == is_small_integer;
}
