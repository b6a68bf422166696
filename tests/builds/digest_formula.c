/* SPDX-License-Identifier: MIT */
/* Prints one number that stands for the results of many samples, one by one and as columns. Usage: digest_formula
 * COUNT. Two builds agree on every bit of every result when they print the same, and a build with itself when its
 * columns have the results of their instances alone. No expectation here: tests/vectors has those. */
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

/* A number of any length: short ones as likely as long ones. */
static uint64_t random_number(uint64_t *state)
{
    uint64_t shift = next_random(state) % 64;
    return next_random(state) >> shift;
}

/* Of any length and mostly positive. */
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

/* Puts the greater reading into the newer sample, as it is in most of the world. */
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

/* ---- Columns ------------------------------------------------------------------------------------------ */

enum { ROWS = 75 };

typedef struct rows {
    uint64_t older_values[ROWS], newer_values[ROWS], older_bases[ROWS], newer_bases[ROWS], multi_counts[ROWS];
} rows;

/* Readings that grew, by anything up to 2^53 or by a multiple of it, so that quotients with and without a fraction
 * occur; in one of `rarely` rows any number. */
static void fill_rows(uint64_t *state, uint64_t rarely, rows *r)
{
    uint64_t bits = next_random(state) % 54;
    for (int i = 0; i < ROWS; i++) {
        bool is_odd = next_random(state) % rarely == 0;
        r->older_values[i] = random_number(state) >> 2;
        r->newer_values[i] = is_odd ? random_number(state) : r->older_values[i] + (next_random(state) >> (63 - bits));
        r->older_bases[i] = next_random(state) >> 40;
        r->newer_bases[i] = r->older_bases[i] + (is_odd ? random_number(state) : 1 + next_random(state) % 5);
        r->multi_counts[i] = next_random(state) % 65;
    }
}

static bool is_status_byte(double value, uint8_t status_byte, const pfb_formula_result *alone)
{
    bool is_small_integer = alone->is_integer && alone->integer >> 53 == 0;
    return memcmp(&value, &alone->value, sizeof value) == 0 &&
           (status_byte & PFB_STATUS_BYTE_CODE) == (unsigned)alone->status &&
           (status_byte & PFB_STATUS_BYTE_FLAGS) == alone->flags * 16 &&
           ((status_byte & PFB_STATUS_BYTE_INTEGER) != 0) == is_small_integer;
}

/* One column of this type; what it gave goes into the digest. False when a row has another result than alone. */
static bool digest_column(uint64_t *state, uint32_t type, const pfb_formula_options *options, uint64_t *digest)
{
    rows r;
    double values[ROWS];
    uint8_t status_bytes[ROWS];
    fill_rows(state, next_random(state) % 2 == 0 ? 20 : UINT64_MAX, &r);
    pfb_raw_value older = random_sample(state, type);
    pfb_raw_value newer = random_sample(state, type);
    order(&older, &newer);
    newer.perf_freq = newer.object_freq = (int64_t)(1 + next_random(state) % 10000000);
    pfb_formula formula = pfb_formula_prepare(type, options);
    pfb_formula_column column = {.older = &older,
                                 .newer = &newer,
                                 .older_values = r.older_values,
                                 .newer_values = r.newer_values,
                                 .older_bases = r.older_bases,
                                 .newer_bases = r.newer_bases,
                                 .newer_multi_counts = r.multi_counts,
                                 .count = ROWS};
    pfb_formula_apply_column(&formula, &column, values, status_bytes);
    for (int i = 0; i < ROWS; i++) {
        older.value = r.older_values[i];
        newer.value = r.newer_values[i];
        older.base = r.older_bases[i];
        newer.base = r.newer_bases[i];
        newer.multi_count = r.multi_counts[i];
        pfb_formula_result alone = pfb_formula_apply(&formula, &older, &newer);
        if (!is_status_byte(values[i], status_bytes[i], &alone)) {
            printf("%08" PRIX32 ", row %d: %a, status_byte %02X; alone %a, %s\n", type, i, values[i], status_bytes[i],
                   alone.value, pfb_status_name(alone.status));
            return false;
        }
        mix(digest, status_bytes[i]);
    }
    return true;
}

int main(int argc, char **argv)
{
    unsigned long count = argc == 2 ? strtoul(argv[1], NULL, 10) : 0;
    unsigned long valued = 0;
    uint64_t state = 1;
    uint64_t digest = UINT64_C(0xCBF29CE484222325);
    for (unsigned long i = 0; i < count; i++) {
        size_t row = (size_t)(next_random(&state) % pfb_counter_type_count());
        uint32_t type = pfb_counter_type_at(row)->value;
        if (next_random(&state) % 8 == 0) /* mostly a type without a name */
            type = (type ^ (uint32_t)(next_random(&state) & 0xF3FF0500)) & ~PFB_TYPE_RESERVED_MASK;
        pfb_raw_value older = random_sample(&state, type);
        pfb_raw_value newer = random_sample(&state, type);
        if (next_random(&state) % 8 != 0)
            order(&older, &newer);
        pfb_formula_options options = random_options(&state);
        pfb_formula_result result = pfb_formula_evaluate(&older, &newer, &options);
        valued += result.status == PFB_STATUS_OK;
        mix_result(&digest, &result);
        if (i % 16 == 0 && !digest_column(&state, type, &options, &digest))
            return 1;
    }
    printf("%lu samples, %lu values, digest %016" PRIX64 "\n", count, valued, digest);
    return valued == 0;
}
