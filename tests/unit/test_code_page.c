/* SPDX-License-Identifier: MIT */
/* Names in code pages of Windows. tests/cli/test_code_pages.py converts every character. */
#include <criterion/criterion.h>

#include "perfblock/code_page.h"
#include "support.h"

#include <string.h>

#define FFFD "\xEF\xBF\xBD"
#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* What Python's codecs make of the bytes; of bytes that begin no character, MultiByteToWideChar. */
static const struct {
    const char *name;
    uint32_t page;
    const char *bytes, *utf8;
} rows[] = {
    {"no characters", 932, "", ""},
    {"ASCII", 1251, "a\\~\x7F", "a\\~\x7F"},
    {"Cyrillic", 1251, "\xC1\xE0\xE7\xE0", "\xD0\x91\xD0\xB0\xD0\xB7\xD0\xB0"},
    {"an undefined byte", 1251, "\x98", "\xC2\x98"},
    {"an undefined byte above 0x9F", 1253, "\xAA", "\xEF\xA3\xB9"},
    {"Thai", 874, "\xA1", "\xE0\xB8\x81"},
    {"a second byte that is a backslash", 932, "\x83\x5C\\", "\xE3\x82\xBD\\"},
    {"one byte", 932, "\xB1", "\xEF\xBD\xB1"},
    {"a lead byte at the end", 932, "a\x83", "a" FFFD},
    {"a lead byte before a byte that is no second one", 932, "\x83\"\x83\x20", FFFD "\"" FFFD " "},
    {"a pair without a character", 932, "\x85\x40\x5C", FFFD "@\\"},
    {"0xFF, after which the rows end", 936, "\x81\xFF", FFFD "\xEF\xA3\xB5"},
    {"the last pairs, the second defined by users", 949, "\xC8\xFE\xFE\xFE", "\xED\x9E\x9D\xEE\x82\xBB"},
    {"a euro sign", 936, "\x80", "\xE2\x82\xAC"},
    {"three bytes and two", 950, "\xA4\xA4\xA3\x44", "\xE4\xB8\xAD\xCE\x91"},
    {"a page of core", 1252, "\x80\x81", "\xE2\x82\xAC\xC2\x81"},
    {"an unknown page", 437, "a\x80", "a" FFFD},
};

Test(code_page, names_are_converted_to_utf8)
{
    for (size_t i = 0; i < COUNT(rows); i++) {
        char out[32];
        const pfb_name name = {(const uint8_t *)rows[i].bytes, strlen(rows[i].bytes), rows[i].page};
        size_t size = strlen(rows[i].utf8);
        cr_expect_eq(pfb_code_page_to_utf8(&name, out, sizeof out), size, "%s", rows[i].name);
        cr_expect_str_eq(out, rows[i].utf8, "%s", rows[i].name);
    }
}

Test(code_page, characters_that_do_not_fit_are_left_out)
{
    for (size_t i = 0; i < COUNT(rows); i++) {
        const size_t size = strlen(rows[i].utf8);
        const pfb_name name = {(const uint8_t *)rows[i].bytes, strlen(rows[i].bytes), rows[i].page};
        for (size_t capacity = 0; capacity <= size; capacity++) {
            char out[33];
            memset(out, '?', sizeof out);
            size_t whole = capacity > 0 ? capacity - 1 : 0; /* bytes of the characters that fit */
            while (whole > 0 && ((unsigned char)rows[i].utf8[whole] & 0xC0) == 0x80)
                whole--;
            cr_expect_eq(pfb_code_page_to_utf8(&name, capacity > 0 ? out : NULL, capacity), size, "%s", rows[i].name);
            cr_expect(memcmp(out, rows[i].utf8, whole) == 0 && out[whole] == (capacity > 0 ? '\0' : '?'), "%s, %zu",
                      rows[i].name, capacity);
            cr_expect_eq(out[capacity], '?', "%s, %zu", rows[i].name, capacity);
        }
    }
}

Test(code_page, an_absent_name_has_no_characters)
{
    char out[2] = "x";
    cr_expect_eq(pfb_code_page_to_utf8(&(pfb_name){NULL, 0, 932}, out, sizeof out), 0);
    cr_expect_str_eq(out, "");
}
