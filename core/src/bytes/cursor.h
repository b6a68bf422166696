/* SPDX-License-Identifier: MIT */
#ifndef PFB_CURSOR_H
#define PFB_CURSOR_H

/* The place where an offset becomes a pointer; the only one but for data blocks of either version, whose readers run
 * for each value and compare with their windows themselves.
 *
 * A cursor is a window [at, end) of the caller's buffer. Offsets count from `base` at every level, so that an error
 * found deep inside names the place in the input. The first error sticks; every later read gives null.
 * Invariant, kept by every function here: at <= end <= size of the input. */
#include "perfblock/error.h"
#include "perfblock/name.h"

#include <stdbool.h>

typedef struct pfb_cursor {
    const uint8_t *base;
    size_t at;
    size_t end;
    pfb_error error;
} pfb_cursor;

/* Keeps what is rare out of the functions that run for each value, which then have fewer registers to save; and what is
 * frequent where no jump leads to it. */
#if defined(__GNUC__)
#define PFB_NOINLINE __attribute__((noinline))
#define PFB_LIKELY(condition) __builtin_expect(condition, 1)
#else
#define PFB_NOINLINE
#define PFB_LIKELY(condition) (condition)
#endif

/* A cursor over a whole input. A null `data` counts as empty. */
pfb_cursor pfb_cursor_make(const void *data, size_t size);

/* A cursor over [at, end) of an input, for readers that keep only offsets. Refuses at > end as internal. */
pfb_cursor pfb_cursor_between(const void *data, size_t at, size_t end);

/* True while the invariant holds against the size of the input. */
bool pfb_cursor_ok(const pfb_cursor *cursor, size_t size);

/* Bytes left. */
size_t pfb_cursor_left(const pfb_cursor *cursor);

/* Records the first failure; later ones are ignored. Always returns false. */
bool pfb_cursor_fail(pfb_cursor *cursor, pfb_code code, size_t offset);

/* n readable bytes, the cursor moved behind them; or null and `code` recorded at the cursor. */
const uint8_t *pfb_cursor_take(pfb_cursor *cursor, size_t n, pfb_code code);

/* The next `size` bytes as a window of their own; the cursor moves behind them. A size below `least` or above what is
 * left is recorded as `code`, blamed on `blame` (where the size was read), in both cursors. */
pfb_cursor pfb_cursor_window(pfb_cursor *cursor, size_t size, size_t least, pfb_code code, size_t blame);

/* A UTF-16LE string from the cursor to its NUL, which must lie inside the window at an even distance; a last odd byte
 * is not part of it. The cursor moves behind the NUL. Work is linear in the window. */
bool pfb_cursor_text(pfb_cursor *cursor, pfb_text *text);

/* A tolerated oddity: a note, or an error in strict mode. True when reading may go on. */
bool pfb_cursor_tolerate(pfb_cursor *cursor, uint32_t options, uint32_t *notes, uint32_t note, pfb_code code,
                         size_t offset);

/* The rule about sizes that must be multiples of 8, through pfb_cursor_tolerate. */
bool pfb_cursor_aligned(pfb_cursor *cursor, uint32_t options, uint32_t *notes, uint32_t size_bytes, size_t offset);

/* ---- Loads: neither alignment nor byte order matters -------------------------------------------------- */

/* Assembled from bytes, which not every compiler merges into one load. Where numbers are known to lie in memory as they
 * do in the input they are copied, by the name a compiler expands also where there is no library. */
#if defined(__BYTE_ORDER__) && defined(__ORDER_LITTLE_ENDIAN__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__

static inline uint16_t load_le16(const uint8_t *p)
{
    uint16_t number;
    __builtin_memcpy(&number, p, sizeof number);
    return number;
}

static inline uint32_t load_le32(const uint8_t *p)
{
    uint32_t number;
    __builtin_memcpy(&number, p, sizeof number);
    return number;
}

static inline uint64_t load_le64(const uint8_t *p)
{
    uint64_t number;
    __builtin_memcpy(&number, p, sizeof number);
    return number;
}

#else

static inline uint16_t load_le16(const uint8_t *p)
{
    return (uint16_t)(p[0] | p[1] << 8);
}

static inline uint32_t load_le32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline uint64_t load_le64(const uint8_t *p)
{
    return load_le32(p) | (uint64_t)load_le32(p + 4) << 32;
}

#endif

/* Two's complement without the implementation-defined conversion. */
static inline int64_t load_le64s(const uint8_t *p)
{
    uint64_t bits = load_le64(p);
    return bits <= INT64_MAX ? (int64_t)bits : -(int64_t)(UINT64_MAX - bits) - 1;
}

/* ---- Instances ---------------------------------------------------------------------------------------- */

/* PERF_INSTANCE_HEADER with its name: read by data blocks and by instance lists alike. */
typedef struct pfb_instance_header {
    size_t offset;
    uint32_t size_bytes; /* with name and padding */
    uint32_t id;
    pfb_text name;
} pfb_instance_header;

enum { INSTANCE_HEADER_BYTES = 8, INSTANCE_LEAST_BYTES = INSTANCE_HEADER_BYTES + 2 /* the NUL of an empty name */ };

/* A bit in each of four 16-bit units that is 0. A borrow can make a unit above a 0 look like one, never one below: the
 * lowest bit is right. */
static inline uint64_t zero_units(uint64_t units)
{
    return (units - UINT64_C(0x0001000100010001)) & ~units & UINT64_C(0x8000800080008000);
}

/* The unit that the lowest bit belongs to; there is one. */
static inline size_t lowest_unit(uint64_t zeros)
{
    uint64_t lowest = (zeros & (0 - zeros)) >> 15;                /* 2 to the power of 0, 16, 32 or 48 */
    return (size_t)(lowest * UINT64_C(0x0000000100020003) >> 48); /* counting by a builtin may be a call */
}

/* 16-bit units before the first NUL; `most` when none of that many is one. */
static inline size_t pfb_count_units(const uint8_t *p, size_t most)
{
    size_t count = 0;
    for (; most - count >= 4; count += 4) {
        uint64_t zeros = zero_units(load_le64(p + 2 * count));
        if (zeros != 0)
            return count + lowest_unit(zeros);
    }
    while (count < most && load_le16(p + 2 * count) != 0)
        count++;
    return count;
}

/* The same where the last of `most` units mostly is the one NUL. That is seen of up to 16 without a loop, of whose
 * rounds processors would guess the number: words that overlap are looked at, and none outside. */
static inline size_t pfb_count_ended_units(const uint8_t *p, size_t most)
{
    enum { LEAST = 5, MOST = 16, WORD = 8 };
    if (most >= LEAST && most <= MOST) {
        size_t last = 2 * most - WORD;
        size_t second = last > WORD ? WORD : 0;
        size_t third = last > WORD ? last - WORD : 0;
        uint64_t zeros =
            zero_units(load_le64(p)) | zero_units(load_le64(p + second)) | zero_units(load_le64(p + third));
        if (zeros == 0 && zero_units(load_le64(p + last)) == UINT64_C(0x8000) << 48)
            return most - 1;
    }
    return pfb_count_units(p, most);
}

/* The header at `at` of a window that ends at `end`, with code PFB_OK; or why it is none. Requires at <= end.
 * Inline, for what it gives would otherwise be written to memory and read again, once for each instance. */
static inline pfb_error pfb_read_instance(const uint8_t *base, size_t at, size_t end, pfb_instance_header *header)
{
    size_t left = end - at;
    if (left < INSTANCE_HEADER_BYTES)
        return (pfb_error){PFB_TRUNCATED_INSTANCE, at};
    const uint8_t *p = base + at;
    uint32_t size = load_le32(p);
    uint32_t id = load_le32(p + 4);
    /* Size counts header, name and padding: the name has to find its NUL inside. */
    if (size < INSTANCE_LEAST_BYTES || size > left)
        return (pfb_error){PFB_BAD_INSTANCE_SIZE, at};
    size_t most = (size - INSTANCE_HEADER_BYTES) / 2;
    size_t units = pfb_count_units(p + INSTANCE_HEADER_BYTES, most);
    if (units == most)
        return (pfb_error){PFB_TRUNCATED_STRING, at + INSTANCE_HEADER_BYTES};
    *header =
        (pfb_instance_header){.offset = at, .size_bytes = size, .id = id, .name = {at + INSTANCE_HEADER_BYTES, units}};
    return (pfb_error){PFB_OK, 0};
}

/* The same at a cursor, which moves behind the name's padding. */
bool pfb_cursor_instance(pfb_cursor *cursor, pfb_instance_header *header);

#endif
