/* SPDX-License-Identifier: MIT */
#include "support_formula.h"

#include <criterion/criterion.h>
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

pfb_formula_result evaluate_two(uint32_t type, uint64_t older_value, uint64_t newer_value)
{
    pfb_raw_value older = sample_at(type, 0, older_value);
    pfb_raw_value newer = sample_at(type, 1, newer_value);
    return pfb_formula_evaluate(&older, &newer, NULL);
}

size_t type_count(void)
{
    size_t count = 0;
    while (pfb_counter_type_at(count))
        count++;
    return count;
}

bool same_bits(double a, double b)
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

void expect_value(pfb_formula_result result, double value, uint32_t flags, const char *what)
{
    cr_expect_eq(result.status, PFB_STATUS_OK, "%s: %s", what, pfb_status_name(result.status));
    cr_expect(same_bits(result.value, value), "%s: %.17g instead of %.17g", what, result.value, value);
    cr_expect_eq(result.flags, flags, "%s: flags %u", what, result.flags);
}

void expect_integer(pfb_formula_result result, uint64_t integer, const char *what)
{
    expect_value(result, (double)integer, result.flags, what);
    cr_expect(result.is_integer && result.integer == integer, "%s: integer %llu", what,
              (unsigned long long)result.integer);
}

void expect_status(pfb_formula_result result, pfb_status status, const char *what)
{
    cr_expect_eq(result.status, status, "%s: %s instead of %s", what, pfb_status_name(result.status),
                 pfb_status_name(status));
    cr_expect(status == PFB_STATUS_OK ||
                  (same_bits(result.value, 0.0) && result.flags == 0 && !result.is_integer && result.integer == 0),
              "%s: there is a value although the status is %s", what, pfb_status_name(status));
}
