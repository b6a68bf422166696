/* SPDX-License-Identifier: MIT */
#ifndef PFB_CURSOR_H
#define PFB_CURSOR_H

/* Bounds-checked reading: turns offsets into pointers. Code that runs once per value (V1 and V2 readers) or per
 * character (readers of text) does not use cursors: it checks the bounds itself, and gets its pointers from view.h or
 * reads spans (line.h).
 *
 * A cursor is a window [at, end) of the caller's buffer. Offsets always count from `base`, the start of the input, so
 * that an error in a nested window has the right offset. After an error every read fails, and later errors are not
 * recorded. Every function here keeps the invariant at <= end <= size of the input. */
#include "bytes/view.h"
#include "perfblock/error.h"
#include "perfblock/name.h"

#include <stdbool.h>

typedef struct pfb_cursor {
    const uint8_t *base;
    size_t at;
    size_t end;
    pfb_error error;
} pfb_cursor;

/* For functions that run once per value. A slow path marked PFB_NOINLINE is not inlined into them, so that their common
 * case saves fewer registers. PFB_LIKELY puts the common case on the fall-through path. */
#if defined(__GNUC__)
#define PFB_NOINLINE __attribute__((noinline))
#define PFB_LIKELY(condition) __builtin_expect(condition, 1)
#else
#define PFB_NOINLINE
#define PFB_LIKELY(condition) (condition)
#endif

/* Makes a cursor over a whole input. A null `data` counts as empty. */
pfb_cursor pfb_cursor_make(const void *data, size_t size);

/* Makes a cursor over [at, end) of an input, for readers that keep only offsets. The cursor has the error PFB_INTERNAL
 * if at > end or `data` is null. */
pfb_cursor pfb_cursor_between(const void *data, size_t at, size_t end);

/* Returns the number of bytes left. */
size_t pfb_cursor_left(const pfb_cursor *cursor);

/* Records an error if it is the first. Always returns false. */
bool pfb_cursor_fail(pfb_cursor *cursor, pfb_code code, size_t offset);

/* Returns a pointer to n bytes and moves past them; or returns null and records `code` at the cursor. */
const uint8_t *pfb_cursor_take(pfb_cursor *cursor, size_t n, pfb_code code);

/* Returns the next `size` bytes as a window and moves past them. If `size` is below `min_size` or above the number of
 * bytes left, the window is empty and both cursors record `code` at `error_offset`, the offset of the size field. */
pfb_cursor pfb_cursor_window(pfb_cursor *cursor, size_t size, size_t min_size, pfb_code code, size_t error_offset);

/* Reads a UTF-16LE string and moves past its NUL. The NUL must lie inside the window, whole and at an even distance
 * from the cursor; otherwise PFB_TRUNCATED_STRING. Work is linear in the window. */
bool pfb_cursor_text(pfb_cursor *cursor, pfb_name *text);

static inline bool pfb_is_strict(const pfb_read_options *options)
{
    return options && options->is_strict;
}

/* Records a deviation as a note, or as an error in strict mode. Returns true if reading may continue. */
bool pfb_cursor_tolerate(pfb_cursor *cursor, bool is_strict, uint32_t *notes, uint32_t note, pfb_code code,
                         size_t offset);

/* Checks a size that must be a multiple of 8 and reports it through pfb_cursor_tolerate. */
bool pfb_cursor_aligned(pfb_cursor *cursor, bool is_strict, uint32_t *notes, uint32_t size_bytes, size_t offset);

/* ---- Little-endian loads of any alignment, on any host ------------------------------------------------- */

/* Where the compiler says that the host is little-endian, memcpy is used, because not every compiler merges the loads
 * of single bytes into one. It is called as a builtin, because only that is expanded inline in freestanding builds. */
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

/* Loads the number at `position` of an array. */
static inline uint32_t load_le32_at(const uint8_t *array, size_t position)
{
    return load_le32(array + 4 * position);
}

/* Return the signed number that has these bits in two's complement. A cast of numbers above INT32_MAX or INT64_MAX
 * would be implementation-defined. */
static inline int32_t signed_32(uint32_t bits)
{
    return bits <= INT32_MAX ? (int32_t)bits : -(int32_t)(UINT32_MAX - bits) - 1;
}

static inline int64_t signed_64(uint64_t bits)
{
    return bits <= INT64_MAX ? (int64_t)bits : -(int64_t)(UINT64_MAX - bits) - 1;
}

/* ---- Instances ---------------------------------------------------------------------------------------- */

/* PERF_INSTANCE_HEADER with its name, as in V2 replies and instance lists. */
typedef struct pfb_instance_header {
    size_t offset;
    uint32_t size_bytes; /* with name and padding */
    uint32_t id;
    pfb_name name;
} pfb_instance_header;

enum { INSTANCE_HEADER_BYTES = 8, INSTANCE_MIN_BYTES = INSTANCE_HEADER_BYTES + 2 /* the NUL of an empty name */ };

/* Returns a number in which the highest bit of each 16-bit unit that is 0 in `units` is set. The borrow of the
 * subtraction may also set it in units above a zero unit, so only the lowest set bit is reliable. */
static inline uint64_t zero_units(uint64_t units)
{
    return (units - UINT64_C(0x0001000100010001)) & ~units & UINT64_C(0x8000800080008000);
}

/* Returns the position of the unit with the lowest set bit; zeros must not be 0. */
static inline size_t lowest_unit(uint64_t zeros)
{
    uint64_t lowest = (zeros & (0 - zeros)) >> 15;                /* 2 to the power of 0, 16, 32 or 48 */
    return (size_t)(lowest * UINT64_C(0x0000000100020003) >> 48); /* a builtin could become a library call */
}

/* Returns the number of 16-bit units before the first NUL; `max` if there is none among the first `max` units. */
static inline size_t pfb_count_units(const uint8_t *p, size_t max)
{
    size_t count = 0;
    for (; max - count >= 4; count += 4) {
        uint64_t zeros = zero_units(load_le64(p + 2 * count));
        if (zeros != 0)
            return count + lowest_unit(zeros);
    }
    while (count < max && load_le16(p + 2 * count) != 0)
        count++;
    return count;
}

/* Reads the header at `at` of a window that ends at `end`; returns an error with code PFB_OK on success. Requires
 * at <= end. Inline, so that *header stays in registers: this runs once per instance. */
static inline pfb_error pfb_read_instance(const uint8_t *base, size_t at, size_t end, pfb_instance_header *header)
{
    size_t left = end - at;
    if (left < INSTANCE_HEADER_BYTES)
        return (pfb_error){PFB_TRUNCATED_INSTANCE, at};
    const uint8_t *p = base + at;
    uint32_t size = load_le32(p);
    uint32_t id = load_le32(p + 4);
    /* The size includes header, name, its NUL and padding. */
    if (size < INSTANCE_MIN_BYTES || size > left)
        return (pfb_error){PFB_BAD_INSTANCE_SIZE, at};
    size_t max = (size - INSTANCE_HEADER_BYTES) / 2;
    size_t units = pfb_count_units(p + INSTANCE_HEADER_BYTES, max);
    if (units == max)
        return (pfb_error){PFB_TRUNCATED_STRING, at + INSTANCE_HEADER_BYTES};
    *header = (pfb_instance_header){
        .offset = at, .size_bytes = size, .id = id, .name = pfb_utf16_name(p + INSTANCE_HEADER_BYTES, units)};
    return (pfb_error){PFB_OK, 0};
}

/* Reads the header at a cursor, which moves past the name and its padding. Returns false on error. */
bool pfb_cursor_instance(pfb_cursor *cursor, pfb_instance_header *header);

#endif
