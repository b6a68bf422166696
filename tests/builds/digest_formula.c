/* SPDX-License-Identifier: MIT */
/* Prints a digest of the results of COUNT random pairs of samples. Usage: digest_formula COUNT. Two builds that print
 * the same digest agree on every bit of every result. tests/vectors has the expected results of known samples. */
#include "perfblock/formula.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t next_random(uint64_t *state)
{
    *state += UINT64_C(0x9E3779B97F4A7C15);
    uint64_t x = *state;
    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    return x ^ x >> 31;
}

/* A random number below 2^n, where n is random from 1 to 64. */
static uint64_t random_number(uint64_t *state)
{
    uint64_t shift = next_random(state) % 64;
    return next_random(state) >> shift;
}

/* A random number below 2^n, where n is random from 0 to 63; one in 16 is negated. */
static int64_t random_clock(uint64_t *state)
{
    int64_t reading = (int64_t)(random_number(state) >> 1);
    return next_random(state) % 16 == 0 ? -reading : reading;
}

static pfb_raw_value random_sample(uint64_t *state, uint32_t type)
{
    pfb_raw_value s = {.type = type, .has = 255};
    s.value = random_number(state);
    s.base = random_number(state);
    s.multi_count = random_number(state);
    s.perf_time = random_clock(state);
    s.perf_time_100ns = random_clock(state);
    s.object_time = random_clock(state);
    s.perf_freq = random_clock(state);
    s.object_freq = random_clock(state);
    return s;
}

static void swap(uint64_t *a, uint64_t *b)
{
    uint64_t c = *a;
    *a = *b;
    *b = c;
}

static void swap_clocks(int64_t *a, int64_t *b)
{
    int64_t c = *a;
    *a = *b;
    *b = c;
}

/* Puts the greater reading into the newer sample. */
static void order(pfb_raw_value *older, pfb_raw_value *newer)
{
    if (older->value > newer->value)
        swap(&older->value, &newer->value);
    if (older->base > newer->base)
        swap(&older->base, &newer->base);
    if (older->perf_time > newer->perf_time)
        swap_clocks(&older->perf_time, &newer->perf_time);
    if (older->perf_time_100ns > newer->perf_time_100ns)
        swap_clocks(&older->perf_time_100ns, &newer->perf_time_100ns);
    if (older->object_time > newer->object_time)
        swap_clocks(&older->object_time, &newer->object_time);
}

static pfb_formula_options random_options(uint64_t *state)
{
    uint64_t bits = next_random(state);
    pfb_formula_options options = {.generic = true};
    if (bits % 4 != 0)
        return options;
    options.wrap32 = (bits >> 2 & 1) != 0;
    options.per_item_inverse = (bits >> 3 & 1) != 0;
    options.server_2003_multi_timer = (bits >> 4 & 1) != 0;
    options.cap_100 = (bits >> 5 & 1) != 0;
    options.clamp_0 = (bits >> 6 & 1) != 0;
    options.scale = (int8_t)((int)(bits >> 8 & 31) % 21 - 10);
    return options;
}

static void mix(uint64_t *digest, uint64_t word)
{
    for (int i = 0; i < 64; i += 8)
        *digest = (*digest ^ (word >> i & 255)) * UINT64_C(0x100000001B3); /* FNV-1a */
}

static void mix_result(uint64_t *digest, const pfb_formula_result *result)
{
    uint64_t bits;
    memcpy(&bits, &result->value, sizeof bits);
    mix(digest, bits);
    mix(digest, result->integer);
    mix(digest, (uint64_t)result->status << 40 | (uint64_t)result->flags << 8 | (uint64_t)result->unit << 4 |
                    (result->is_integer ? 1 : 0));
}

enum { TYPES = 39 }; /* rows of the table of counter types */

int main(int argc, char **argv)
{
    unsigned long count = argc == 2 ? strtoul(argv[1], NULL, 10) : 0;
    unsigned long value_count = 0;
    uint64_t state = 1;
    uint64_t digest = UINT64_C(0xCBF29CE484222325);
    for (unsigned long i = 0; i < count; i++) {
        size_t row = (size_t)(next_random(&state) % TYPES);
        uint32_t type = pfb_counter_type_at(row)->value;
        if (next_random(&state) % 8 == 0) /* usually gives a type without a name */
            type = (type ^ (uint32_t)(next_random(&state) & 0xF3FF0500)) & ~PFB_TYPE_RESERVED_MASK;
        pfb_raw_value older = random_sample(&state, type);
        pfb_raw_value newer = random_sample(&state, type);
        if (next_random(&state) % 8 != 0)
            order(&older, &newer);
        pfb_formula_options options = random_options(&state);
        pfb_formula_result result = pfb_formula_evaluate(&older, &newer, &options);
        value_count += result.status == PFB_STATUS_OK;
        mix_result(&digest, &result);
    }
    printf("%lu samples, %lu values, digest %016" PRIX64 "\n", count, value_count, digest);
    return value_count == 0;
}
