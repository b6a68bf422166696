/* SPDX-License-Identifier: MIT */
/* Conversion and comparison of names in all encodings. */
#include <criterion/criterion.h>

#include "perfblock/name.h"
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_UNITS = 8 };

/* A text in UTF-16 and UTF-8. */
typedef struct text_case {
    const char *name;
    uint16_t units[MAX_UNITS];
    size_t count;
    const char *utf8;
} text_case;

/* Texts that convert in both directions without loss. */
static const text_case whole_cases[] = {
    {"empty text", {0}, 0, ""},
    {"ASCII", {'_', 'T', 'o', 't', 'a', 'l'}, 6, "_Total"},
    {"last character of one byte", {0x7F}, 1, "\x7F"},
    {"first character of two bytes", {0x80}, 1, "\xC2\x80"},
    {"last character of two bytes", {0x7FF}, 1, "\xDF\xBF"},
    {"first character of three bytes", {0x800}, 1, "\xE0\xA0\x80"},
    {"last character before the surrogates", {0xD7FF}, 1, "\xED\x9F\xBF"},
    {"first character after the surrogates", {0xE000}, 1, "\xEE\x80\x80"},
    {"byte order mark",
     {0xFEFF, 'a'},
     2,
     "\xEF\xBB\xBF"
     "a"},
    {"last character of three bytes", {0xFFFF}, 1, "\xEF\xBF\xBF"},
    {"first surrogate pair", {0xD800, 0xDC00}, 2, "\xF0\x90\x80\x80"},
    {"surrogate pair between letters",
     {'a', 0xD83D, 0xDE00, 'b'},
     4,
     "a\xF0\x9F\x98\x80"
     "b"},
    {"last surrogate pair", {0xDBFF, 0xDFFF}, 2, "\xF4\x8F\xBF\xBF"},
    {"control characters", {1, 0x1B, '\n'}, 3, "\x01\x1B\n"},
};

#define FFFD "\xEF\xBF\xBD"

/* Units that are not valid UTF-16 become U+FFFD in UTF-8. */
static const text_case unpaired_cases[] = {
    {"high surrogate at the end", {'a', 0xD800}, 2, "a" FFFD},
    {"high surrogate before a letter", {0xDBFF, 'a'}, 2, FFFD "a"},
    {"low surrogate at the start", {0xDC00, 'a'}, 2, FFFD "a"},
    {"low surrogate before a high one", {0xDFFF, 0xD800}, 2, FFFD FFFD},
    {"high surrogate before a pair", {0xD83D, 0xD83D, 0xDE00}, 3, FFFD "\xF0\x9F\x98\x80"},
    {"low surrogate after a pair", {0xD83D, 0xDE00, 0xDE00}, 3, "\xF0\x9F\x98\x80" FFFD},
    {"high surrogate before U+E000", {0xD800, 0xE000}, 2, FFFD "\xEE\x80\x80"},
    {"high surrogate before the last high one", {0xD800, 0xDBFF}, 2, FFFD FFFD},
};

/* Bytes that are not valid UTF-8 become U+FFFD, one each. */
static const text_case malformed_cases[] = {
    {"continuation byte alone",
     {0xFFFD, 'a'},
     2,
     "\x80"
     "a"},
    {"two-byte character truncated by the end", {'a', 0xFFFD}, 2, "a\xC3"},
    {"three-byte character truncated by the end", {0xFFFD, 0xFFFD}, 2, "\xE2\x82"},
    {"four-byte character truncated by the end", {0xFFFD, 0xFFFD, 0xFFFD}, 3, "\xF0\x9F\x98"},
    {"two-byte character truncated by a letter",
     {0xFFFD, 'a'},
     2,
     "\xC3"
     "a"},
    {"three-byte character truncated by a letter",
     {0xFFFD, 0xFFFD, 'a'},
     3,
     "\xE2\x82"
     "a"},
    {"overlong form of two bytes", {0xFFFD, 0xFFFD}, 2, "\xC0\xAF"},
    {"largest overlong form of two bytes", {0xFFFD, 0xFFFD}, 2, "\xC1\xBF"},
    {"overlong form of three bytes", {0xFFFD, 0xFFFD, 0xFFFD}, 3, "\xE0\x9F\xBF"},
    {"overlong form of four bytes", {0xFFFD, 0xFFFD, 0xFFFD, 0xFFFD}, 4, "\xF0\x8F\xBF\xBF"},
    {"first surrogate", {0xFFFD, 0xFFFD, 0xFFFD}, 3, "\xED\xA0\x80"},
    {"last surrogate", {0xFFFD, 0xFFFD, 0xFFFD}, 3, "\xED\xBF\xBF"},
    {"above the last character", {0xFFFD, 0xFFFD, 0xFFFD, 0xFFFD}, 4, "\xF4\x90\x80\x80"},
    {"invalid lead byte", {0xFFFD, 0xFFFD, 0xFFFD, 0xFFFD}, 4, "\xF5\x80\x80\x80"},
    {"bytes FF and FE", {0xFFFD, 0xFFFD}, 2, "\xFF\xFE"},
    {"letters after truncated characters",
     {0xFFFD, 'a', 0xFFFD, 'b', 0xFFFD, 'c'},
     6,
     "\xF0"
     "a\xE0"
     "b\xC3"
     "c"},
};

#define COUNT(table) (sizeof(table) / sizeof(table)[0])

/* Returns the units as bytes, which begin at an odd address. */
static const uint8_t *units_of(const text_case *t, bytes *b)
{
    b->size = 0;
    put_fill(b, 0xAA, 1);
    for (size_t i = 0; i < t->count; i++)
        put_u16(b, t->units[i]);
    return b->data + 1;
}

static void expect_utf8(const text_case *t)
{
    bytes b;
    char out[4 * MAX_UNITS];
    memset(out, '#', sizeof out);
    size_t length = pfb_name_to_utf8(UTF16_NAME(units_of(t, &b), t->count), out, sizeof out);
    cr_expect_eq(length, strlen(t->utf8), "%s: %zu bytes", t->name, length);
    cr_expect_arr_eq(out, t->utf8, strlen(t->utf8) + 1, "%s", t->name);
    cr_expect_eq(out[strlen(t->utf8) + 1], '#', "%s: written after the NUL", t->name);
}

static void expect_units(const text_case *t)
{
    bytes b;
    uint8_t out[2 * MAX_UNITS + 2];
    memset(out, '#', sizeof out);
    size_t count = pfb_name_to_utf16(UTF8_NAME(t->utf8, strlen(t->utf8)), out, MAX_UNITS);
    cr_expect_eq(count, t->count, "%s: %zu units", t->name, count);
    cr_expect_arr_eq(out, units_of(t, &b), 2 * t->count, "%s", t->name);
    cr_expect_eq(out[2 * t->count], '#', "%s: written after the last unit", t->name);
}

Test(name, utf16_is_converted_to_utf8)
{
    for (size_t i = 0; i < COUNT(whole_cases); i++)
        expect_utf8(&whole_cases[i]);
}

Test(name, utf8_is_converted_to_utf16)
{
    for (size_t i = 0; i < COUNT(whole_cases); i++)
        expect_units(&whole_cases[i]);
}

Test(name, unpaired_surrogates_are_replaced)
{
    for (size_t i = 0; i < COUNT(unpaired_cases); i++)
        expect_utf8(&unpaired_cases[i]);
}

Test(name, malformed_bytes_are_replaced_one_by_one)
{
    for (size_t i = 0; i < COUNT(malformed_cases); i++)
        expect_units(&malformed_cases[i]);
}

Test(name, nul_is_converted_like_other_characters)
{
    static const uint8_t units[] = {'a', 0, 0, 0, 'b', 0};
    char utf8[4];
    cr_expect_eq(pfb_name_to_utf8(UTF16_NAME(units, 3), utf8, sizeof utf8), 3);
    cr_expect_arr_eq(utf8, "a\0b", 4);
    uint8_t back[6];
    cr_expect_eq(pfb_name_to_utf16(UTF8_NAME(utf8, 3), back, 3), 3);
    cr_expect_arr_eq(back, units, 6);
}

/* For every capacity, the output is whole characters and a NUL, no byte after the NUL is written, and the length of the
 * whole text is returned. */
Test(name, output_is_truncated_between_characters)
{
    static const uint8_t units[] = {'a', 0, 0xE9, 0, 0x2D, 0x4E, 0x3D, 0xD8, 0x00, 0xDE};
    static const char utf8[] = "a\xC3\xA9\xE4\xB8\xAD\xF0\x9F\x98\x80";
    static const size_t whole[] = {0, 1, 3, 6, 10}; /* lengths without part of a character */
    for (size_t capacity = 0; capacity <= sizeof utf8; capacity++) {
        char out[sizeof utf8 + 1];
        memset(out, '#', sizeof out);
        cr_expect_eq(pfb_name_to_utf8(UTF16_NAME(units, 5), capacity ? out : NULL, capacity), sizeof utf8 - 1);
        size_t length = 0;
        for (size_t i = 0; i < COUNT(whole); i++)
            length = whole[i] < capacity ? whole[i] : length;
        cr_expect_arr_eq(out, utf8, capacity ? length : 0, "capacity %zu", capacity);
        cr_expect(capacity == 0 || out[length] == '\0', "capacity %zu: no NUL at %zu", capacity, length);
        cr_expect_eq(out[capacity ? length + 1 : 0], '#', "capacity %zu: written after the NUL", capacity);
    }
}

/* A short character after one that did not fit is not written either. */
Test(name, nothing_is_written_after_a_character_that_did_not_fit)
{
    static const uint8_t units[] = {'a', 0, 0x2D, 0x4E, 'b', 0};
    char out[4];
    cr_expect_eq(pfb_name_to_utf8(UTF16_NAME(units, 3), out, 4), 5);
    cr_expect_str_eq(out, "a");
}

Test(name, whole_characters_are_written_up_to_the_capacity)
{
    static const char utf8[] = "a\xF0\x9F\x98\x80"
                               "b";
    static const uint8_t units[] = {'a', 0, 0x3D, 0xD8, 0x00, 0xDE, 'b', 0};
    static const size_t whole[] = {0, 1, 1, 3, 4, 4}; /* the second character takes two units */
    for (size_t capacity = 0; capacity <= 5; capacity++) {
        uint8_t out[12];
        memset(out, '#', sizeof out);
        size_t written = 2 * whole[capacity];
        cr_expect_eq(pfb_name_to_utf16(UTF8_NAME(utf8, sizeof utf8 - 1), capacity ? out : NULL, capacity), 4);
        cr_expect_arr_eq(out, units, written, "capacity %zu", capacity);
        cr_expect_eq(out[written], '#', "capacity %zu", capacity);
    }
}

/* A high surrogate without its low one is a whole unit, which may be the last that fits. */
Test(name, unpaired_surrogates_fill_the_capacity)
{
    static const struct {
        const char *what;
        uint8_t units[6];
        size_t count;
        bool is_written; /* the second unit, where the capacity is 2 */
    } rows[] = {{"at the end", {'a', 0, 0x3D, 0xD8}, 2, true},
                {"before a letter", {'a', 0, 0x3D, 0xD8, 'b', 0}, 3, true},
                {"before a low surrogate", {'a', 0, 0x3D, 0xD8, 0x00, 0xDE}, 3, false}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        uint8_t out[6];
        memset(out, '#', sizeof out);
        cr_expect_eq(pfb_name_to_utf16(UTF16_NAME(rows[i].units, rows[i].count), out, 2), rows[i].count);
        cr_expect_eq(memcmp(out, rows[i].units, rows[i].is_written ? 4 : 2), 0, "%s", rows[i].what);
        for (size_t at = rows[i].is_written ? 4 : 2; at < sizeof out; at++)
            cr_expect_eq(out[at], '#', "%s", rows[i].what);
    }
}

Test(name, null_pointers_are_allowed_for_empty_text)
{
    char out[1] = {'#'};
    cr_expect_eq(pfb_name_to_utf8(UTF16_NAME(NULL, 0), out, 1), 0);
    cr_expect_eq(out[0], '\0');
    cr_expect_eq(pfb_name_to_utf8(UTF16_NAME(NULL, 0), NULL, 0), 0);
    cr_expect_eq(pfb_name_to_utf16(UTF8_NAME(NULL, 0), NULL, 0), 0);
}

/* Every single unit converts to UTF-8 and back, except surrogates, which become U+FFFD. */
Test(name, single_units_convert_to_utf8_and_back)
{
    for (uint32_t unit = 0; unit <= 0xFFFF; unit++) {
        const uint8_t in[2] = {(uint8_t)unit, (uint8_t)(unit >> 8)};
        char utf8[4];
        uint8_t back[2];
        size_t length = pfb_name_to_utf8(UTF16_NAME(in, 1), utf8, sizeof utf8);
        size_t count = pfb_name_to_utf16(UTF8_NAME(utf8, length), back, 1);
        uint32_t expected = unit >= 0xD800 && unit <= 0xDFFF ? 0xFFFD : unit;
        cr_assert(count == 1 && (back[0] | (uint32_t)back[1] << 8) == expected, "unit %04X", unit);
    }
}

/* Every character above U+FFFF is two units and four bytes. */
Test(name, surrogate_pairs_convert_to_utf8_and_back)
{
    for (uint32_t point = 0x10000; point <= 0x10FFFF; point++) {
        uint32_t high = 0xD7C0 + (point >> 10); /* 0xD800 - (0x10000 >> 10) */
        uint32_t low = 0xDC00 | (point & 0x3FF);
        const uint8_t in[4] = {(uint8_t)high, (uint8_t)(high >> 8), (uint8_t)low, (uint8_t)(low >> 8)};
        char utf8[5];
        uint8_t back[4] = {0};
        bool is_same = pfb_name_to_utf8(UTF16_NAME(in, 2), utf8, sizeof utf8) == 4 &&
                       pfb_name_to_utf16(UTF8_NAME(utf8, 4), back, 2) == 2 && memcmp(in, back, 4) == 0;
        cr_assert(is_same, "U+%06X", point);
    }
}

/* The text ends at an inaccessible page, so a read past its end would crash. */
Test(name, nothing_after_the_text_is_read)
{
    guarded memory = guarded_make(16);
    for (size_t i = 0; i < COUNT(whole_cases) + COUNT(unpaired_cases) + COUNT(malformed_cases); i++) {
        const text_case *t = i < COUNT(whole_cases) ? &whole_cases[i]
                             : i < COUNT(whole_cases) + COUNT(unpaired_cases)
                                 ? &unpaired_cases[i - COUNT(whole_cases)]
                                 : &malformed_cases[i - COUNT(whole_cases) - COUNT(unpaired_cases)];
        bytes b;
        uint8_t *at = memory.end - 2 * t->count;
        memcpy(at, units_of(t, &b), 2 * t->count);
        pfb_name_to_utf8(UTF16_NAME(at, t->count), NULL, 0);
        char *text = (char *)memory.end - strlen(t->utf8);
        memcpy(text, t->utf8, strlen(t->utf8));
        pfb_name_to_utf16(UTF8_NAME(text, strlen(t->utf8)), NULL, 0);
    }
    guarded_free(&memory);
}

/* ---- Names in any encoding ------------------------------------------------------------------------------------- */

/* Bytes 0x80 to 0x9F in Windows-1252, as decoded by Python; those that it leaves undefined by MultiByteToWideChar. */
static const char text_1252[] =
    "\xE2\x82\xAC\xC2\x81\xE2\x80\x9A\xC6\x92\xE2\x80\x9E\xE2\x80\xA6\xE2\x80\xA0\xE2\x80\xA1"
    "\xCB\x86\xE2\x80\xB0\xC5\xA0\xE2\x80\xB9\xC5\x92\xC2\x8D\xC5\xBD\xC2\x8F"
    "\xC2\x90\xE2\x80\x98\xE2\x80\x99\xE2\x80\x9C\xE2\x80\x9D\xE2\x80\xA2\xE2\x80\x93\xE2\x80\x94"
    "\xCB\x9C\xE2\x84\xA2\xC5\xA1\xE2\x80\xBA\xC5\x93\xC2\x9D\xC5\xBE\xC5\xB8";

/* Bytes 0xA0 to 0xFF, in Windows-1252 and Latin-1. */
static const char text_latin_1[] = "\xC2\xA0\xC2\xA1\xC2\xA2\xC2\xA3\xC2\xA4\xC2\xA5\xC2\xA6\xC2\xA7"
                                   "\xC2\xA8\xC2\xA9\xC2\xAA\xC2\xAB\xC2\xAC\xC2\xAD\xC2\xAE\xC2\xAF"
                                   "\xC2\xB0\xC2\xB1\xC2\xB2\xC2\xB3\xC2\xB4\xC2\xB5\xC2\xB6\xC2\xB7"
                                   "\xC2\xB8\xC2\xB9\xC2\xBA\xC2\xBB\xC2\xBC\xC2\xBD\xC2\xBE\xC2\xBF"
                                   "\xC3\x80\xC3\x81\xC3\x82\xC3\x83\xC3\x84\xC3\x85\xC3\x86\xC3\x87"
                                   "\xC3\x88\xC3\x89\xC3\x8A\xC3\x8B\xC3\x8C\xC3\x8D\xC3\x8E\xC3\x8F"
                                   "\xC3\x90\xC3\x91\xC3\x92\xC3\x93\xC3\x94\xC3\x95\xC3\x96\xC3\x97"
                                   "\xC3\x98\xC3\x99\xC3\x9A\xC3\x9B\xC3\x9C\xC3\x9D\xC3\x9E\xC3\x9F"
                                   "\xC3\xA0\xC3\xA1\xC3\xA2\xC3\xA3\xC3\xA4\xC3\xA5\xC3\xA6\xC3\xA7"
                                   "\xC3\xA8\xC3\xA9\xC3\xAA\xC3\xAB\xC3\xAC\xC3\xAD\xC3\xAE\xC3\xAF"
                                   "\xC3\xB0\xC3\xB1\xC3\xB2\xC3\xB3\xC3\xB4\xC3\xB5\xC3\xB6\xC3\xB7"
                                   "\xC3\xB8\xC3\xB9\xC3\xBA\xC3\xBB\xC3\xBC\xC3\xBD\xC3\xBE\xC3\xBF";

static const uint8_t upper_bytes[] = {0xE4, 0x80};
static const uint8_t utf16le[] = {0xE4, 0, 0xAC, 0x20, 0x3D, 0xD8, 0x00, 0xDE};
static const uint8_t utf16be[] = {0, 0xE4, 0x20, 0xAC, 0xD8, 0x3D, 0xDE, 0x00};
static const uint8_t lone_be[] = {0xD8, 0x00, 0, 'a', 0xDC, 0x00, 0};
static const uint8_t utf8[] = {0xC3, 0xA4, 0xE2, 0x82, 0xAC, 0xF0, 0x9F, 0x98, 0x80};
static const uint8_t utf8_cut[] = {'a', 0xE2, 0x82};

static const struct {
    const char *name;
    pfb_name in;
    const char *utf8;
} encoding_cases[] = {
    {"UTF-16LE", {utf16le, 8, PFB_ENCODING_UTF16LE}, "\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80"},
    {"UTF-16BE", {utf16be, 8, PFB_ENCODING_UTF16BE}, "\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80"},
    {"UTF-16BE, unpaired surrogates and an odd size", {lone_be, 7, PFB_ENCODING_UTF16BE}, FFFD "a" FFFD FFFD},
    {"UTF-16LE, an odd size", {utf16le, 3, PFB_ENCODING_UTF16LE}, "\xC3\xA4" FFFD},
    {"UTF-8", {utf8, 9, PFB_ENCODING_UTF8}, "\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80"},
    {"UTF-8, truncated", {utf8_cut, 3, PFB_ENCODING_UTF8}, "a" FFFD FFFD},
    {"Windows-1252", {upper_bytes, 2, PFB_ENCODING_WINDOWS_1252}, "\xC3\xA4\xE2\x82\xAC"},
    {"Latin-1", {upper_bytes, 2, PFB_ENCODING_LATIN_1}, "\xC3\xA4\xC2\x80"},
    {"ASCII", {upper_bytes, 2, PFB_ENCODING_ASCII}, FFFD FFFD},
    {"a code page that is not listed", {utf8_cut, 3, 932}, "a" FFFD FFFD},
    {"an empty name", {utf8, 0, PFB_ENCODING_UTF8}, ""},
    {"no name", {NULL, 0, 0}, ""},
};

Test(name, every_encoding_is_converted_to_utf8)
{
    for (size_t i = 0; i < COUNT(encoding_cases); i++) {
        char out[32];
        size_t size = pfb_name_to_utf8(&encoding_cases[i].in, out, sizeof out);
        cr_expect_eq(size, strlen(encoding_cases[i].utf8), "%s", encoding_cases[i].name);
        cr_expect_str_eq(out, encoding_cases[i].utf8, "%s", encoding_cases[i].name);
    }
}

Test(name, bytes_from_0x80_to_0xff_are_converted_by_code_page)
{
    uint8_t upper[128];
    char out[512];
    char expected[512];
    for (size_t i = 0; i < sizeof upper; i++)
        upper[i] = (uint8_t)(0x80 + i);
    pfb_name_to_utf8(&(pfb_name){upper, sizeof upper, PFB_ENCODING_WINDOWS_1252}, out, sizeof out);
    snprintf(expected, sizeof expected, "%s%s", text_1252, text_latin_1);
    cr_expect_str_eq(out, expected);
    pfb_name_to_utf8(&(pfb_name){upper + 32, 96, PFB_ENCODING_LATIN_1}, out, sizeof out);
    cr_expect_str_eq(out, text_latin_1);
}

Test(name, equal_names_have_the_same_characters)
{
    static const pfb_name no_name = {0};
    for (size_t i = 0; i < COUNT(encoding_cases); i++) {
        for (size_t k = 0; k < COUNT(encoding_cases); k++) {
            const pfb_name *a = &encoding_cases[i].in;
            const pfb_name *b = &encoding_cases[k].in;
            bool expected = i == k || (a->encoding != b->encoding && a->bytes && b->bytes &&
                                       strcmp(encoding_cases[i].utf8, encoding_cases[k].utf8) == 0);
            cr_expect_eq(pfb_name_equal(a, b), expected, "%s, %s", encoding_cases[i].name, encoding_cases[k].name);
        }
    }
    cr_expect(!pfb_name_equal(&no_name, &(pfb_name){utf8, 0, PFB_ENCODING_UTF8}));
    cr_expect(!pfb_name_equal(&(pfb_name){(const uint8_t *)"a", 1, PFB_ENCODING_UTF8},
                              &(pfb_name){(const uint8_t *)"b", 1, PFB_ENCODING_UTF8}));
    cr_expect(!pfb_name_equal(&(pfb_name){utf8, 5, PFB_ENCODING_UTF8}, &(pfb_name){utf16le, 8, PFB_ENCODING_UTF16LE}));
    cr_expect(!pfb_name_equal(&(pfb_name){utf8, 9, PFB_ENCODING_UTF8}, &(pfb_name){utf8, 8, PFB_ENCODING_UTF8}));
    cr_expect(!pfb_name_equal(&(pfb_name){utf16le, 2, PFB_ENCODING_UTF16LE},
                              &(pfb_name){utf16be + 2, 2, PFB_ENCODING_UTF16LE}));
}
