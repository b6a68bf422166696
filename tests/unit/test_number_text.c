/* SPDX-License-Identifier: MIT */
/* V1 blocks as numbers in a text. */
#include <criterion/criterion.h>

#include "perfblock/number_text.h"
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The signature in each notation. */
#define DECIMAL "80,0,69,0,82,0,70,0"
#define DUMP "50 00 45 00 52 00 46 00"

enum { LARGEST = 64 };

/* Copies the text to memory of exactly its size, so that a sanitizer detects reads past the end. */
static uint8_t *exact_text(const char *text, size_t size)
{
    uint8_t *copy = malloc(size > 0 ? size : 1);
    cr_assert_not_null(copy);
    memcpy(copy, text, size);
    return copy;
}

typedef struct decoding {
    uint8_t bytes[LARGEST];
    size_t count;
    pfb_error error; /* its offset counts from the start of the text */
} decoding;

/* Decodes the text in windows of `window` bytes, into a buffer of `capacity` bytes. */
static decoding decode(const char *content, size_t size, size_t window, size_t capacity)
{
    decoding r = {.count = 0};
    uint8_t *copy = exact_text(content, size);
    uint8_t buffer[LARGEST];
    pfb_number_text text;
    size_t at = 0;
    bool is_open = pfb_number_text_open(&text, copy, size);
    cr_expect_eq(is_open, text.error.code == PFB_OK);
    cr_expect_eq(is_open, pfb_number_text_recognise(copy, size));
    bool is_last = false;
    while (is_open && !is_last && text.error.code == PFB_OK) {
        size_t left = size - at < window ? size - at : window;
        is_last = at + left == size;
        size_t count;
        do {
            count = pfb_number_text_read(&text, copy + at, left, is_last, buffer, capacity);
            cr_assert(count <= capacity && r.count + count <= LARGEST && text.used <= left);
            cr_assert(text.error.code != PFB_OK || text.window_offset == at);
            memcpy(r.bytes + r.count, buffer, count);
            r.count += count;
            if (text.error.code == PFB_OK) {
                at += text.used;
                left -= text.used;
            }
        } while (count == capacity);
        cr_assert(left == 0 || text.error.code != PFB_OK, "the window is used up");
    }
    r.error = text.error;
    r.error.offset += r.error.code != PFB_OK ? (size_t)text.window_offset : 0;
    free(copy);
    return r;
}

/* Decodes at once, and in windows and with buffers of all small sizes, with the same result. */
static decoding decode_in_all_ways(const char *content, size_t size)
{
    decoding whole = decode(content, size, size + 1, LARGEST);
    for (size_t window = 1; window <= 9; window++) {
        for (size_t capacity = 1; capacity <= 9; capacity++) {
            decoding parts = decode(content, size, window, capacity);
            cr_expect(parts.count == whole.count && memcmp(parts.bytes, whole.bytes, whole.count) == 0,
                      "%s: windows of %zu, %zu bytes at a time", content, window, capacity);
            cr_expect(parts.error.code == whole.error.code && parts.error.offset == whole.error.offset,
                      "%s: windows of %zu, %zu bytes at a time", content, window, capacity);
        }
    }
    return whole;
}

/* ---- Notations --------------------------------------------------------------------------------------------------- */

/* What follows the signature. */
static void expect_bytes(const char *content, const char *hex)
{
    decoding r = decode_in_all_ways(content, strlen(content));
    cr_expect_eq(r.error.code, PFB_OK, "%s: %s at %zu", content, pfb_code_name(r.error.code), r.error.offset);
    cr_assert_geq(r.count, 8, "%s", content);
    cr_expect(memcmp(r.bytes, "P\0E\0R\0F\0", 8) == 0 || memcmp(r.bytes, "\0P\0E\0R\0F", 8) == 0, "%s", content);
    char text[2 * LARGEST + 1] = "";
    for (size_t i = 8; i < r.count; i++)
        snprintf(text + 2 * (i - 8), 3, "%02x", r.bytes[i]);
    cr_expect_str_eq(text, hex, "%s", content);
}

Test(number_text, decimal_numbers_are_read)
{
    expect_bytes(DECIMAL, "");
    expect_bytes(DECIMAL ",1,255", "01ff");
    expect_bytes("0 80 0 69 0 82 0 70 1 0", "0100");
    expect_bytes("080 000 069 000 082 000 070 000 001 010", "010a");
    expect_bytes("80 , 0,69\t0\r\n82 ,\n0 70 0\n\n7", "07");
    expect_bytes("80 00 69 00 82 00 70 00 10", "0a");
}

Test(number_text, prefixed_numbers_are_read)
{
    expect_bytes("0x50, 0x00, 0x45, 0x00, 0x52, 0x00, 0x46, 0x00, 0xFF, 0xa", "ff0a");
    expect_bytes("0X50 0x0 0x45 0x0 0x52 0x0 0x46 0x0 0Xfe", "fe");
    expect_bytes("0x50,0,69,0,0x52,0,70,0,16,0x16", "1016");
}

Test(number_text, hex_dumps_are_read)
{
    expect_bytes(DUMP, "");
    expect_bytes(DUMP " 10 fF\n99\n", "10ff99");
    expect_bytes("00 50 00 45 00 52 00 46 0A", "0a");
    expect_bytes("50,00,45,00,52,00,46,00,12", "12");
    expect_bytes("{ " DUMP " }", "");
}

Test(number_text, brackets_and_trailing_commas_are_read)
{
    expect_bytes("[" DECIMAL "]", "");
    expect_bytes("[" DECIMAL ",3]\n", "03");
    expect_bytes("\n {\n" DECIMAL ",\n 3,\n}; \n", "03");
    expect_bytes("{" DECIMAL " } ;", "");
    expect_bytes(DECIMAL ",", "");
    expect_bytes("\xEF\xBB\xBF[" DECIMAL "]", "");
    expect_bytes("\xEF\xBB\xBF" DUMP, "");
}

/* ---- Recognition ------------------------------------------------------------------------------------------------- */

static bool is_recognised(const char *content, size_t size)
{
    uint8_t *copy = exact_text(content, size);
    bool is_list = pfb_number_text_recognise(copy, size);
    free(copy);
    return is_list;
}

Test(number_text, other_formats_are_not_recognised)
{
    static const char *const others[] = {
        "",
        "80 0 69 0 82 0 70",
        "80,0,69,0,82,0,71,0",
        "80,69,82,70",
        "5 0 45 0 52 0 46 0",
        "0x50 00 45 00 52 00 46 00",
        "50004500520046 00",
        "\\x50\\x00\\x45\\x00\\x52\\x00\\x46\\x00",
        "80;0;69;0;82;0;70;0",
        "(80,0,69,0,82,0,70,0)",
        "\"80,0,69,0,82,0,70,0\"",
        "[[80,0,69,0,82,0,70,0]]",
        "char block[] = {80,0,69,0,82,0,70,0};",
        "00000000: 50 00 45 00 52 00 46 00",
        ("\xEF\xBB" DECIMAL),
        "\xEF",
        "P\0E\0R\0F",
        "\"(PDH-CSV 4.0) (Pacific Daylight Time)(420)\",\"\\\\PC\\Memory\\Pages/sec\"\r\n",
        "{\"record\":\"log\",\"offset\":0}",
        "[{\"offset\":80}]",
        "sample v1 perf 80",
        "CPUID 00000000: 00000001-68747541-444D4163-69746E65",
    };
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        cr_expect(!is_recognised(others[i], strlen(others[i])), "%s", others[i]);
    pfb_number_text text;
    cr_expect(!pfb_number_text_open(&text, NULL, 100) && text.error.code == PFB_UNKNOWN_FORMAT);
    uint8_t byte;
    cr_expect_eq(pfb_number_text_read(&text, "1 2", 3, true, &byte, 1), 0, "the first error stays");
}

/* The signature ends within the first 1024 bytes. */
Test(number_text, the_first_1024_bytes_are_examined)
{
    char text[2048];
    size_t length = sizeof DECIMAL - 1;
    for (size_t blanks = 1024 - length - 2; blanks < 1024 - length + 3; blanks++) {
        memset(text, ' ', sizeof text);
        memcpy(text + blanks, DECIMAL, length);
        cr_expect_eq(is_recognised(text, sizeof text), blanks + length <= 1024, "%zu blanks", blanks);
    }
}

/* ---- Errors ------------------------------------------------------------------------------------------------------ */

/* Expects the error at this offset, after `count` bytes past the signature. */
static void expect_bad_list(const char *content, size_t size, size_t offset, size_t count)
{
    decoding r = decode_in_all_ways(content, size);
    cr_expect_eq(r.error.code, PFB_BAD_NUMBER_LIST, "%s: %s", content, pfb_code_name(r.error.code));
    cr_expect_eq(r.error.offset, offset, "%s: at %zu", content, r.error.offset);
    cr_expect_eq(r.count, 8 + count, "%s: %zu bytes", content, r.count);
}

Test(number_text, the_first_byte_that_is_not_allowed_is_reported)
{
    static const struct {
        const char *rest; /* after the signature and a separator */
        size_t offset;    /* in the rest */
        size_t count;     /* bytes decoded before */
    } rows[] = {
        {"256", 2, 0},       {"1 999", 4, 1}, {"0080", 3, 0},    {"0x123", 4, 0}, {"0x", 2, 0},      {"0x,1", 2, 0},
        {"0xG", 2, 0},       {"0x5G", 3, 0},  {"1x1", 1, 0},     {"00x1", 2, 0},  {"0x0x1", 3, 0},   {"5h", 1, 0},
        {"A", 0, 0},         {"1A", 1, 0},    {"-1", 0, 0},      {"+1", 0, 0},    {"1-2", 1, 1},     {"1.5", 1, 1},
        {"1,,2", 2, 1},      {",1", 0, 0},    {"1 , , 2", 4, 1}, {"1;2", 1, 1},   {"1]", 1, 1},      {"1}", 1, 1},
        {"{1}", 0, 0},       {"[1]", 0, 0},   {"1 [", 2, 1},     {"1_0", 1, 1},   {"1 \"2\"", 2, 1}, {"1\f2", 1, 1},
        {"1 /* 2 */", 2, 1}, {"1\xFF", 1, 1}, {"1:2", 1, 1},     {"`", 0, 0},     {"{", 0, 0},       {"@", 0, 0},
        {"1/", 1, 1},
    };
    char text[128];
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        snprintf(text, sizeof text, DECIMAL ",%s", rows[i].rest);
        expect_bad_list(text, strlen(text), sizeof DECIMAL + rows[i].offset, rows[i].count);
    }
    static const char with_nul[] = DECIMAL " 1\0";
    expect_bad_list(with_nul, sizeof with_nul, sizeof with_nul - 2, 1);
    expect_bad_list(with_nul, sizeof with_nul - 1, sizeof with_nul - 2, 1);
}

Test(number_text, numbers_of_dumps_have_two_digits)
{
    static const struct {
        const char *rest;
        size_t offset, count;
    } rows[] = {{"1", 1, 0}, {"1 2", 1, 0}, {"123", 2, 0}, {"0x1", 1, 0}, {"12 3,", 4, 1}, {"1g", 1, 0}, {"g1", 0, 0}};
    char text[128];
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        snprintf(text, sizeof text, DUMP " %s", rows[i].rest);
        expect_bad_list(text, strlen(text), sizeof DUMP + rows[i].offset, rows[i].count);
    }
}

Test(number_text, brackets_must_match)
{
    static const struct {
        const char *text;
        size_t offset, count;
    } rows[] = {
        {"{" DECIMAL, sizeof DECIMAL, 0},           {"[" DECIMAL ", ", sizeof DECIMAL + 2, 0},
        {"[" DECIMAL ",1", sizeof DECIMAL + 2, 1},  {"{" DECIMAL "]", sizeof DECIMAL, 0},
        {"[" DECIMAL "}", sizeof DECIMAL, 0},       {"[" DECIMAL "] 1", sizeof DECIMAL + 2, 0},
        {"[" DECIMAL "],", sizeof DECIMAL + 1, 0},  {"[" DECIMAL "]]", sizeof DECIMAL + 1, 0},
        {"{" DECIMAL "};;", sizeof DECIMAL + 2, 0}, {"{" DECIMAL "}; 1", sizeof DECIMAL + 3, 0},
        {"{" DECIMAL "};}", sizeof DECIMAL + 2, 0}, {"{" DECIMAL "} {", sizeof DECIMAL + 2, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        expect_bad_list(rows[i].text, strlen(rows[i].text), rows[i].offset, rows[i].count);
}

/* ---- Limits of the caller ---------------------------------------------------------------------------------------- */

/* The last number needs no blank after it, but it needs memory. Empty windows are allowed. */
Test(number_text, the_last_number_waits_for_memory)
{
    uint8_t out[8];
    pfb_number_text text;
    size_t size = sizeof DECIMAL - 1;
    cr_assert(pfb_number_text_open(&text, DECIMAL, size));
    cr_expect_eq(pfb_number_text_read(&text, NULL, 10, false, out, 8), 0, "a null pointer is an empty window");
    cr_expect_eq(pfb_number_text_read(&text, DECIMAL, size, true, out, 7), 7);
    cr_expect_eq(text.used, size);
    cr_expect_eq(pfb_number_text_read(&text, &DECIMAL[size], 0, true, out, 0), 0);
    cr_expect_eq(pfb_number_text_read(&text, &DECIMAL[size], 0, true, out, 8), 1);
    cr_expect_eq(out[0], 0);
    cr_expect_eq(pfb_number_text_read(&text, &DECIMAL[size], 0, true, out, 8), 0);
    cr_expect_eq(text.error.code, PFB_OK);
    cr_expect_eq(text.window_offset, size);
}

/* The bytes changed after they were recognised: there is no number any more. */
Test(number_text, changed_texts_are_read_within_bounds)
{
    uint8_t out[8];
    pfb_number_text text;
    cr_assert(pfb_number_text_open(&text, "\xEF\xBB\xBF[" DECIMAL "]", 4 + sizeof DECIMAL));
    cr_expect_eq(pfb_number_text_read(&text, "]]]]", 4, true, out, 8), 0);
    cr_expect(text.error.code == PFB_BAD_NUMBER_LIST && text.error.offset == 3);
    cr_assert(pfb_number_text_open(&text, DECIMAL, sizeof DECIMAL - 1));
    cr_expect_eq(pfb_number_text_read(&text, " ", 1, true, out, 8), 0);
    cr_expect_eq(text.error.code, PFB_OK);
    cr_assert(pfb_number_text_open(&text, DECIMAL, sizeof DECIMAL - 1));
    cr_expect_eq(pfb_number_text_read(&text, "[ , ]", 5, true, out, 8), 0);
    cr_expect(text.error.code == PFB_BAD_NUMBER_LIST && text.error.offset == 2);
    cr_assert(pfb_number_text_open(&text, DECIMAL, sizeof DECIMAL - 1));
    cr_expect_eq(pfb_number_text_read(&text, "[]", 2, true, out, 8), 0);
    cr_expect(text.error.code == PFB_BAD_NUMBER_LIST && text.error.offset == 1);
}
