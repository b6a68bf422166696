/* SPDX-License-Identifier: MIT */
#include "support_cpi.h"

#include <string.h>

/* ---- The worked examples ------------------------------------------------------------------------------- */

static const uint32_t example_1[] = {0x00C00064, 0x10000001, 0x00000000, 0x00000003, 0x00000002, 0x00000000, 0x002DC6C0,
                                     0x00000002, 0x00000000, 0x00000001, 0x00000000, 0x00000001, 0x00000D05, 0x00000001,
                                     0x00001388, 0x0000004B, 0x00000000, 0x00000000, 0x000007D0, 0x00000014, 0x00000000,
                                     0x00000000, 0x000018BD, 0x0000002F, 0x00001388};

static const uint32_t example_2[] = {0x00C00026, 0x0000002A, 0x00000000, 0x00000002, 0x00000002, 0xCB417801, 0x00000006,
                                     0x706F6F6C, 0x00004120, 0x00C00030, 0x8000002A, 0x00000000, 0x00000001, 0x00000002,
                                     0xCB417801, 0x00000002, 0x18711A00, 0x00000002, 0xCB417801, 0x00000001, 0x00000D05,
                                     0x00C00034, 0x4000002A, 0x00000000, 0x00000001, 0x00000001, 0x00000002, 0xCB417801,
                                     0x00000002, 0x18711A00, 0x00000002, 0xCB417801, 0x00000001, 0x00000D05, 0x00C00030,
                                     0x2000002A, 0x00000000, 0x00001092, 0x00000002, 0xCB417801, 0x00000001, 0xDCD65000,
                                     0x00000002, 0x71D94900, 0x00000001, 0x00000C35, 0x00C00026, 0xF000002A, 0x00000000,
                                     0x00000002, 0x00000002, 0xCB417801, 0x00000006, 0x706F6F6C, 0x00004120};

static const uint32_t example_3[] = {
    0x00C00026, 0x00000007, 0x00000000, 0x00000002, 0x00000000, 0x00001F40, 0x00000008, 0x73616870, 0x33302D65,
    0x00C00084, 0x10000007, 0x00000000, 0x00000007, 0x00000003, 0x00000000, 0x00001F40, 0x00000002, 0x00000000,
    0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0x00000004, 0x00000000, 0x00000001, 0x00001388, 0x0000004B,
    0x00000000, 0xFFFFFFFF, 0xFFFFFFFF, 0x00000000, 0x00000000, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF,
    0x00000001, 0x00001388, 0x00000025, 0x00001388, 0x00000001, 0x0000138B, 0x00C00048, 0x80000007, 0x00000000,
    0x00000003, 0x00000000, 0x00001F40, 0x00000000, 0x00000FA0, 0x00000000, 0x00003E80, 0x00000004, 0x00000000,
    0x00000000, 0x00001770, 0x00000001, 0x00001388, 0x00000025, 0x00001388, 0x00C000AC, 0x40000007, 0x00000000,
    0x00000003, 0x00000003, 0x00000000, 0x00001F40, 0x00000000, 0x00000FA0, 0x00000000, 0x00001F40, 0x00000002,
    0x00000000, 0x00000000, 0x00001770, 0x00000001, 0x00001388, 0x0000004B, 0x00000000, 0x00000000, 0x00000000,
    0x00000000, 0x00001F40, 0xFFFFFFFF, 0xFFFFFFFF, 0x00000000, 0x00000000, 0xFFFFFFFF, 0xFFFFFFFF, 0x00000000,
    0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x00000000, 0xFFFFFFFF, 0xFFFFFFFF, 0x00000000, 0x00000000,
    0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0x00C00030, 0x20000007, 0x00000000, 0x00000384, 0x00000000,
    0x00001F40, 0x00000000, 0x00000C80, 0x00000000, 0x000012C1, 0x00000001, 0x0000138B, 0x00C00026, 0xF0000007,
    0x00000000, 0x00000002, 0x00000000, 0x00001F40, 0x00000008, 0x73616870, 0x33302D65};

bytes example(int number)
{
    bytes b = {.size = 0};
    if (number == 1)
        put_u32s(&b, example_1, sizeof example_1 / sizeof example_1[0]);
    else if (number == 2)
        put_u32s(&b, example_2, sizeof example_2 / sizeof example_2[0]);
    else
        put_u32s(&b, example_3, sizeof example_3 / sizeof example_3[0]);
    return b;
}

/* ---- Hooks --------------------------------------------------------------------------------------------- */

enum { SCALED = 2, THREAD = 4 };

/* The header of a record of `words` words. */
static void put_header(bytes *b, uint32_t kind, uint32_t minor, uint32_t words)
{
    PUT_U32(b, 0x00C00000 + 12 + 4 * words, kind << 28 | minor, 0);
}

static void put_long(bytes *b, uint64_t value)
{
    PUT_U32(b, (uint32_t)(value >> 32), (uint32_t)value);
}

/* Counters of a CPU that was always busy and took one cycle per instruction. A `count` of 0 makes the figures
 * undefined. */
static void put_counts(bytes *b, uint64_t count, bool is_scaled)
{
    for (int part = 0; part < (is_scaled ? 2 : 1); part++) {
        put_long(b, count);
        if (part == 0)
            put_long(b, count);
        PUT_U32(b, count ? 1 : UINT32_MAX, count ? 0 : UINT32_MAX);
    }
    if (is_scaled)
        PUT_U32(b, count ? 100 : UINT32_MAX, count ? 0 : UINT32_MAX);
}

void put_summary(bytes *b, uint32_t minor, uint32_t elapsed, uint32_t flags, uint32_t cpus)
{
    bool is_scaled = flags & SCALED;
    bool has_thread = flags & THREAD;
    put_header(b, 1, minor, 6 + 2 * cpus + (is_scaled ? 4 * cpus + 4 : 0) + (has_thread ? 2 : 0));
    PUT_U32(b, flags, cpus, 0, elapsed);
    for (uint32_t i = 0; i <= cpus; i++)
        PUT_U32(b, 1, 0);
    for (uint32_t i = 0; is_scaled && i <= cpus; i++)
        PUT_U32(b, 1, 0, 100, 0);
    if (has_thread)
        PUT_U32(b, 1, 0);
}

void put_system(bytes *b, uint32_t minor, uint32_t elapsed, uint32_t flags, uint64_t count, uint32_t cpus)
{
    put_header(b, 8, minor, flags & SCALED ? 15 : 9);
    PUT_U32(b, flags, 0, elapsed);
    put_counts(b, count * cpus, flags & SCALED);
}

void put_processors(bytes *b, uint32_t minor, uint32_t elapsed, uint32_t flags, uint64_t count, uint32_t cpus)
{
    put_header(b, 4, minor, 4 + (flags & SCALED ? 12 : 6) * cpus);
    PUT_U32(b, flags, cpus, 0, elapsed);
    for (uint32_t i = 0; i < cpus; i++)
        put_counts(b, count, flags & SCALED);
}

void put_thread(bytes *b, uint32_t minor, uint32_t elapsed)
{
    put_header(b, 2, minor, 9);
    PUT_U32(b, 77, 0, elapsed);
    put_counts(b, 5, false);
}

void put_label(bytes *b, uint32_t minor, uint32_t elapsed, const char *text, bool is_end)
{
    size_t size = strlen(text);
    uint32_t words = 4 + (uint32_t)(size + 3) / 4;
    PUT_U32(b, 0x00C00002 + 12 + 4 * words, (is_end ? 0xF0000000 : 0) | minor, 0, 2, 0, elapsed, (uint32_t)size);
    put_raw(b, text, size);
    put_fill(b, 0, (4 - size % 4) % 4);
}

void put_detailed(bytes *b, uint32_t minor, uint32_t elapsed, uint32_t flags, uint32_t cpus)
{
    put_system(b, minor, elapsed, flags, 1, cpus);
    put_processors(b, minor, elapsed, flags, 1, cpus);
}

/* Returns true if a + b >= n. Does not overflow if b <= n. */
static bool reaches(uint64_t a, uint64_t b, uint64_t n)
{
    return a >= n - b;
}

pfb_cpi_words divided_words(uint64_t numerator, uint64_t denominator, int places)
{
    const pfb_cpi_words undefined = {PFB_CPI_UNDEFINED, PFB_CPI_UNDEFINED};
    if (denominator == 0 || numerator / denominator >= UINT32_MAX)
        return undefined;
    uint64_t units = numerator / denominator;
    uint64_t rest = numerator % denominator;
    for (int place = 0; place < places; place++) {
        uint64_t tenfold = 0;
        units *= 10;
        for (int i = 0; i < 10; i++) {
            bool is_whole = reaches(tenfold, rest, denominator);
            units += is_whole;
            tenfold = is_whole ? tenfold - (denominator - rest) : tenfold + rest;
        }
        rest = tenfold;
    }
    units += reaches(rest, denominator / 2, denominator);
    return units / 10000 < UINT32_MAX ? (pfb_cpi_words){(uint32_t)(units / 10000), (uint32_t)(units % 10000)}
                                      : undefined;
}
