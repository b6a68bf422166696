/* SPDX-License-Identifier: MIT */
/* Cursors, by which a reader stays inside its input. */
#include <criterion/criterion.h>

#include "bytes/cursor.h"
#include "support.h"

#include <stdio.h>
#include <stdlib.h>

static const uint8_t ten[10] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};

/* ---- Windows -------------------------------------------------------------------------------------------- */

/* Checks the invariant of a cursor over an input of `size` bytes. */
static bool is_inside(const pfb_cursor *cursor, size_t size)
{
    return cursor->at <= cursor->end && cursor->end <= size;
}

Test(cursor, a_cursor_covers_the_whole_input)
{
    pfb_cursor c = pfb_cursor_make(ten, sizeof ten);
    cr_expect(is_inside(&c, sizeof ten));
    cr_expect_eq(pfb_cursor_left(&c), 10);
    expect_error(c.error, PFB_OK, 0, "a new cursor");
}

Test(cursor, a_null_input_is_empty)
{
    pfb_cursor c = pfb_cursor_make(NULL, 10);
    cr_expect_eq(pfb_cursor_left(&c), 0);
    cr_expect_null(pfb_cursor_take(&c, 1, PFB_TRUNCATED_VALUE));
    expect_error(c.error, PFB_TRUNCATED_VALUE, 0, "a byte of a null input");
}

Test(cursor, offsets_count_from_the_start_of_the_input)
{
    pfb_cursor c = pfb_cursor_between(ten, 4, 7);
    cr_expect_eq(pfb_cursor_left(&c), 3);
    cr_expect_eq(pfb_cursor_take(&c, 1, PFB_TRUNCATED_VALUE), ten + 4);
    cr_expect_null(pfb_cursor_take(&c, 3, PFB_TRUNCATED_VALUE));
    expect_error(c.error, PFB_TRUNCATED_VALUE, 5, "a byte after the window");
}

Test(cursor, a_window_that_ends_before_it_begins_is_refused)
{
    pfb_cursor c = pfb_cursor_between(ten, 7, 4);
    cr_expect_eq(c.error.code, PFB_INTERNAL);
    cr_expect_eq(pfb_cursor_left(&c), 0);
    c = pfb_cursor_between(NULL, 0, 4);
    cr_expect_eq(c.error.code, PFB_INTERNAL);
    cr_expect_eq(pfb_cursor_left(&c), 0);
}

Test(cursor, the_invariant_detects_an_invalid_cursor)
{
    pfb_cursor c = {.base = ten, .at = 3, .end = 5};
    cr_expect(is_inside(&c, 5));
    cr_expect_not(is_inside(&c, 4));
    c.at = 6;
    cr_expect_not(is_inside(&c, 10));
}

/* ---- Taking bytes ----------------------------------------------------------------------------------------- */

Test(cursor, bytes_are_taken_in_order_up_to_the_last)
{
    pfb_cursor c = pfb_cursor_make(ten, sizeof ten);
    cr_expect_eq(pfb_cursor_take(&c, 4, PFB_TRUNCATED_VALUE), ten);
    cr_expect_eq(pfb_cursor_take(&c, 0, PFB_TRUNCATED_VALUE), ten + 4);
    cr_expect_eq(pfb_cursor_take(&c, 6, PFB_TRUNCATED_VALUE), ten + 4);
    cr_expect_eq(pfb_cursor_left(&c), 0);
    cr_expect_eq(pfb_cursor_take(&c, 0, PFB_TRUNCATED_VALUE), ten + 10);
    cr_expect_null(pfb_cursor_take(&c, 1, PFB_TRUNCATED_VALUE));
    expect_error(c.error, PFB_TRUNCATED_VALUE, 10, "the byte after the last");
    cr_expect(is_inside(&c, sizeof ten));
}

Test(cursor, huge_requests_do_not_wrap)
{
    static const size_t sizes[] = {11, SIZE_MAX / 2 + 1, SIZE_MAX - 9, SIZE_MAX - 1, SIZE_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        char what[40];
        snprintf(what, sizeof what, "size %zu", sizes[i]);
        pfb_cursor c = pfb_cursor_between(ten, 2, 10);
        cr_expect_null(pfb_cursor_take(&c, sizes[i], PFB_TRUNCATED_VALUE), "%s", what);
        expect_error(c.error, PFB_TRUNCATED_VALUE, 2, what);
        c = pfb_cursor_between(ten, 2, 10);
        pfb_cursor w = pfb_cursor_window(&c, sizes[i], 0, PFB_BAD_VALUE_SIZE, 1);
        cr_expect_eq(pfb_cursor_left(&w), 0, "%s", what);
        expect_error(c.error, PFB_BAD_VALUE_SIZE, 1, what);
    }
}

Test(cursor, the_first_error_is_not_replaced)
{
    pfb_name text;
    pfb_instance_header header;
    pfb_cursor c = pfb_cursor_make(ten, sizeof ten);
    cr_expect_not(pfb_cursor_fail(&c, PFB_BAD_DATA_SIZE, 3));
    cr_expect_not(pfb_cursor_fail(&c, PFB_BAD_VALUE_SIZE, 4));
    cr_expect_null(pfb_cursor_take(&c, 1, PFB_TRUNCATED_VALUE));
    cr_expect_null(pfb_cursor_take(&c, 11, PFB_TRUNCATED_VALUE));
    cr_expect_not(pfb_cursor_text(&c, &text));
    cr_expect_not(pfb_cursor_instance(&c, &header));
    pfb_cursor w = pfb_cursor_window(&c, 2, 3, PFB_BAD_RESULT_SIZE, 5);
    expect_error(w.error, PFB_BAD_DATA_SIZE, 3, "a window of a failed cursor");
    cr_expect_eq(pfb_cursor_left(&w), 0);
    expect_error(c.error, PFB_BAD_DATA_SIZE, 3, "the cursor");
    cr_expect_eq(c.at, 0);
}

/* ---- Windows inside windows -------------------------------------------------------------------------------- */

Test(cursor, a_window_has_the_given_size)
{
    pfb_cursor c = pfb_cursor_make(ten, sizeof ten);
    pfb_cursor_take(&c, 1, PFB_INTERNAL);
    pfb_cursor w = pfb_cursor_window(&c, 5, 5, PFB_BAD_RESULT_SIZE, 0);
    cr_expect_eq(c.at, 6);
    cr_expect_eq(pfb_cursor_left(&w), 5);
    pfb_cursor v = pfb_cursor_window(&w, 2, 0, PFB_BAD_VALUE_SIZE, 0);
    cr_expect_eq(pfb_cursor_take(&v, 2, PFB_INTERNAL), ten + 1);
    cr_expect_null(pfb_cursor_take(&v, 1, PFB_TRUNCATED_VALUE), "the inner window has no further byte");
    expect_error(v.error, PFB_TRUNCATED_VALUE, 3, "after the inner window");
    expect_error(w.error, PFB_OK, 0, "the middle window");
    cr_expect_eq(pfb_cursor_take(&w, 3, PFB_INTERNAL), ten + 3);
    cr_expect(is_inside(&v, 10) && is_inside(&w, 10) && is_inside(&c, 10));
}

Test(cursor, an_empty_window_is_allowed_if_the_minimum_is_0)
{
    pfb_cursor c = pfb_cursor_between(ten, 10, 10);
    pfb_cursor w = pfb_cursor_window(&c, 0, 0, PFB_BAD_RESULT_SIZE, 0);
    expect_error(w.error, PFB_OK, 0, "an empty window at the end");
    cr_expect_eq(w.at, 10);
}

Test(cursor, a_window_that_is_too_small_or_too_large_is_an_error_at_its_size_field)
{
    static const size_t sizes[] = {0, 7, 9};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        pfb_cursor c = pfb_cursor_between(ten, 2, 10);
        pfb_cursor w = pfb_cursor_window(&c, sizes[i], 8, PFB_BAD_RESULT_SIZE, 6);
        expect_error(c.error, PFB_BAD_RESULT_SIZE, 6, "the cursor");
        expect_error(w.error, PFB_BAD_RESULT_SIZE, 6, "the window");
        cr_expect_eq(c.at, 2, "a failed cursor does not move");
        cr_expect_eq(pfb_cursor_left(&w), 0);
    }
}

/* ---- Strings ------------------------------------------------------------------------------------------------ */

typedef struct text_case {
    const char *name;
    uint8_t data[8];
    size_t size;
    int units; /* -1: no NUL */
} text_case;

static const text_case text_cases[] = {
    {"empty", {0, 0}, 2, 0},
    {"one letter", {'a', 0, 0, 0}, 4, 1},
    {"NUL in the last two bytes", {'a', 0, 'b', 0, 0, 0}, 6, 2},
    {"bytes after the NUL", {'a', 0, 0, 0, 'z', 0, 0, 0}, 8, 1},
    {"letters with a zero in either byte", {0, 1, 1, 0, 0, 0}, 6, 2},
    {"odd byte after the NUL", {'a', 0, 0, 0, 9}, 5, 1},
    {"no bytes", {0}, 0, -1},
    {"one byte", {0}, 1, -1},
    {"no NUL", {'a', 0, 'b', 0}, 4, -1},
    {"half a NUL", {'a', 0, 0}, 3, -1},
    {"zeros across two units only", {'a', 0, 0, 'b', 1, 0, 0, 1}, 8, -1},
};

Test(cursor, a_string_ends_at_its_nul_at_an_even_distance)
{
    for (size_t i = 0; i < sizeof text_cases / sizeof text_cases[0]; i++) {
        const text_case *t = &text_cases[i];
        bytes b = {.size = 0};
        put_fill(&b, 0xAA, 3); /* so that the string begins at an odd offset */
        put_raw(&b, t->data, t->size);
        uint8_t *data = exact_copy(&b);
        pfb_cursor c = pfb_cursor_between(data, 3, b.size);
        pfb_name text = {.size_bytes = 99};
        cr_expect_eq(pfb_cursor_text(&c, &text), t->units >= 0, "%s", t->name);
        if (t->units >= 0) {
            cr_expect(text.bytes == data + 3 && text.size_bytes == 2 * (size_t)t->units, "%s: %zu bytes", t->name,
                      text.size_bytes);
            cr_expect_eq(text.encoding, PFB_ENCODING_UTF16LE);
            cr_expect_eq(c.at, 3 + 2 * ((size_t)t->units + 1), "%s: the cursor is at %zu", t->name, c.at);
        } else {
            expect_error(c.error, PFB_TRUNCATED_STRING, 3, t->name);
            cr_expect(!text.bytes && text.size_bytes == 99, "%s: the text is not written", t->name);
        }
        free(data);
    }
}

Test(cursor, a_nul_outside_the_window_does_not_end_the_string)
{
    static const uint8_t data[] = {'a', 0, 'b', 0, 0, 0};
    pfb_name text;
    for (size_t end = 0; end < 6; end++) {
        pfb_cursor c = pfb_cursor_between(data, 0, end);
        cr_expect_not(pfb_cursor_text(&c, &text), "window of %zu bytes", end);
    }
}

/* ---- Instance headers --------------------------------------------------------------------------------------- */

/* 3 bytes, an instance header of 16 bytes with the name "ab", 1 byte. */
static void put_instance(bytes *b)
{
    b->size = 0;
    put_fill(b, 0xAA, 3);
    put_u32(b, 16);
    put_u32(b, 0x80000001);
    put_text(b, "ab");
    put_fill(b, 0xBB, 2);
    put_fill(b, 0xCC, 1);
}

Test(cursor, an_instance_header_is_read_with_its_name)
{
    bytes b;
    pfb_instance_header header;
    put_instance(&b);
    pfb_cursor c = pfb_cursor_between(b.data, 3, b.size);
    cr_assert(pfb_cursor_instance(&c, &header));
    cr_expect(header.offset == 3 && header.size_bytes == 16 && header.id == 0x80000001);
    cr_expect(header.name.bytes == b.data + 11 && header.name.size_bytes == 4);
    cr_expect_eq(c.at, 19, "the cursor moves by the size of the header");
}

typedef struct instance_case {
    const char *name;
    uint32_t size; /* size field of the header */
    size_t end;    /* of the window */
    pfb_code code;
    size_t offset;
} instance_case;

static const instance_case instance_cases[] = {
    {"no bytes", 16, 3, PFB_TRUNCATED_INSTANCE, 3},
    {"7 of the 8 bytes before the name", 16, 10, PFB_TRUNCATED_INSTANCE, 3},
    {"size 0", 0, 20, PFB_BAD_INSTANCE_SIZE, 3},
    {"size of a header", 8, 20, PFB_BAD_INSTANCE_SIZE, 3},
    {"size without space for a NUL", 9, 20, PFB_BAD_INSTANCE_SIZE, 3},
    {"size with space for a NUL, but not for this name", 10, 20, PFB_TRUNCATED_STRING, 11},
    {"size that ends inside the NUL", 13, 20, PFB_TRUNCATED_STRING, 11},
    {"smallest size for this name", 14, 20, PFB_OK, 0},
    {"odd size", 17, 20, PFB_OK, 0},
    {"size beyond the window", 17, 19, PFB_BAD_INSTANCE_SIZE, 3},
    {"largest size", UINT32_MAX, 20, PFB_BAD_INSTANCE_SIZE, 3},
};

Test(cursor, an_instance_header_fits_its_window_and_its_name)
{
    for (size_t i = 0; i < sizeof instance_cases / sizeof instance_cases[0]; i++) {
        const instance_case *t = &instance_cases[i];
        bytes b;
        pfb_instance_header header;
        put_instance(&b);
        set_u32(&b, 3, t->size);
        pfb_cursor c = pfb_cursor_between(b.data, 3, t->end);
        cr_expect_eq(pfb_cursor_instance(&c, &header), t->code == PFB_OK, "%s", t->name);
        expect_error(c.error, t->code, t->offset, t->name);
    }
}

/* ---- Tolerance ---------------------------------------------------------------------------------------------- */

Test(cursor, a_deviation_is_noted_or_refused_in_strict_mode)
{
    uint32_t notes = PFB_NOTE_UNKNOWN_KIND;
    pfb_cursor c = pfb_cursor_make(ten, sizeof ten);
    cr_expect(pfb_cursor_tolerate(&c, false, &notes, PFB_NOTE_TRAILING_BYTES, PFB_TRAILING_BYTES, 7));
    cr_expect_eq(notes, PFB_NOTE_UNKNOWN_KIND | PFB_NOTE_TRAILING_BYTES, "earlier notes are still set");
    expect_error(c.error, PFB_OK, 0, "tolerant mode");
    notes = 0;
    cr_expect_not(pfb_cursor_tolerate(&c, true, &notes, PFB_NOTE_TRAILING_BYTES, PFB_TRAILING_BYTES, 7));
    cr_expect_eq(notes, 0);
    expect_error(c.error, PFB_TRAILING_BYTES, 7, "strict mode");
}

Test(cursor, sizes_that_are_not_multiples_of_8_are_noted_or_refused)
{
    for (uint32_t size = 0; size < 40; size++) {
        uint32_t notes = 0;
        pfb_cursor c = pfb_cursor_make(ten, sizeof ten);
        cr_expect(pfb_cursor_aligned(&c, false, &notes, size, 5));
        cr_expect_eq(notes, size % 8 ? PFB_NOTE_UNALIGNED_SIZE : 0, "size %u", size);
        cr_expect_eq(pfb_cursor_aligned(&c, true, &notes, size, 5), size % 8 == 0, "size %u", size);
        expect_error(c.error, size % 8 ? PFB_UNALIGNED_SIZE : PFB_OK, size % 8 ? 5 : 0, "strict mode");
    }
}

/* ---- Loads -------------------------------------------------------------------------------------------------- */

Test(cursor, loads_are_little_endian_at_any_address)
{
    static const uint8_t data[] = {0xEE, 0x81, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88, 0xEE};
    cr_expect_eq(load_le16(data + 1), 0x8281);
    cr_expect_eq(load_le32(data + 1), UINT32_C(0x84838281));
    cr_expect_eq(load_le64(data + 1), UINT64_C(0x8887868584838281));
    cr_expect_eq(signed_64(load_le64(data + 1)), INT64_C(-0x7778797A7B7C7D7F));
}

Test(cursor, signed_numbers_cover_the_whole_range)
{
    cr_expect_eq(signed_64(UINT64_C(1) << 63), INT64_MIN);
    cr_expect_eq(signed_64(INT64_MAX), INT64_MAX);
    cr_expect_eq(signed_64(UINT64_MAX), -1);
    cr_expect_eq(signed_64(0), 0);
    cr_expect_eq(signed_32(UINT32_C(1) << 31), INT32_MIN);
    cr_expect_eq(signed_32(INT32_MAX), INT32_MAX);
    cr_expect_eq(signed_32(UINT32_MAX), -1);
    cr_expect_eq(signed_32(0), 0);
}

/* Units that resemble 0 in one half, or in arithmetic on several units at once. */
Test(cursor, the_first_nul_is_found_at_any_place)
{
    static const uint16_t units[] = {0x0001, 0x0100, 0x00FF, 0xFF00, 0x7FFF, 0x8000, 0x8001, 0xFFFF};
    for (size_t kind = 0; kind < sizeof units / sizeof units[0]; kind++) {
        for (size_t length = 0; length < 14; length++) {
            for (size_t after = 0; after < 6; after++) {
                bytes b = {.size = 0};
                for (size_t i = 0; i < length + after; i++)
                    put_u16(&b, i == length ? 0 : units[kind]);
                pfb_cursor c = pfb_cursor_make(b.data, b.size);
                pfb_name text = {.size_bytes = 99};
                cr_expect_eq(pfb_cursor_text(&c, &text), after > 0, "%zu units of value %x", length, units[kind]);
                cr_expect_eq(text.size_bytes, after > 0 ? 2 * length : 99, "%zu units of value %x", length,
                             units[kind]);
            }
        }
    }
}
