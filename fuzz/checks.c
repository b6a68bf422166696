/* SPDX-License-Identifier: MIT */
#include "checks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void require(bool condition, const char *guarantee)
{
    if (condition)
        return;
    fprintf(stderr, "violated guarantee: %s\n", guarantee);
    abort();
}

uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

bool is_same_result(const pfb_formula_result *a, const pfb_formula_result *b)
{
    return a->status == b->status && a->flags == b->flags && bits_of(a->value) == bits_of(b->value) &&
           a->unit == b->unit && a->is_integer == b->is_integer && a->integer == b->integer;
}

bool is_packed_result(double value, uint8_t status_byte, const pfb_formula_result *result)
{
    bool is_small_integer = result->is_integer && result->integer >> 53 == 0;
    return bits_of(value) == bits_of(result->value) &&
           (status_byte & PFB_STATUS_BYTE_CODE) == (unsigned)result->status &&
           (status_byte & PFB_STATUS_BYTE_FLAGS) == result->flags * 16 &&
           ((status_byte & PFB_STATUS_BYTE_INTEGER) != 0) == is_small_integer;
}

pfb_formula_options make_options(uint8_t switches, uint8_t scale)
{
    enum { WRAP32 = 1, PER_ITEM_INVERSE = 2, SERVER_2003 = 4, GENERIC = 8, CAP_100 = 16, CLAMP_0 = 32 };
    return (pfb_formula_options){.wrap32 = (switches & WRAP32) != 0,
                                 .per_item_inverse = (switches & PER_ITEM_INVERSE) != 0,
                                 .server_2003_multi_timer = (switches & SERVER_2003) != 0,
                                 .generic = (switches & GENERIC) != 0,
                                 .cap_100 = (switches & CAP_100) != 0,
                                 .clamp_0 = (switches & CLAMP_0) != 0,
                                 .scale = (int8_t)(scale < 128 ? scale : scale - 256)};
}
