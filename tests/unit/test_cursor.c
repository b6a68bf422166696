/* SPDX-License-Identifier: MIT */
/* What no reader does with a cursor, and strings of any length. The readers test the rest of cursors from outside. */
#include <criterion/criterion.h>

#include "bytes/cursor.h"
#include "support.h"

#include <stdio.h>

static const uint8_t ten[10] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};

Test(cursor, a_window_that_ends_before_it_begins_is_refused)
{
    pfb_cursor c = pfb_cursor_between(ten, 7, 4);
    cr_expect_eq(c.error.code, PFB_INTERNAL);
    cr_expect_eq(pfb_cursor_left(&c), 0);
    c = pfb_cursor_between(NULL, 0, 4);
    cr_expect_eq(c.error.code, PFB_INTERNAL);
    cr_expect_eq(pfb_cursor_left(&c), 0);
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
