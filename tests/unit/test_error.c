/* SPDX-License-Identifier: MIT */
/* Error codes: their numbers, names and texts, and the table of docs/error.md. */
#include <criterion/criterion.h>

#include "perfblock/error.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define NAME_CHARACTERS "abcdefghijklmnopqrstuvwxyz0123456789_"

/* Returns the known code at `position` in ascending order, -1 past the last one. */
static int code_at(size_t position)
{
    enum { HIGHEST = 999 };
    static int codes[HIGHEST + 1];
    static size_t count;
    static bool is_listed;
    for (int code = 0; !is_listed && code <= HIGHEST; code++) {
        if (strcmp(pfb_code_name((pfb_code)code), "unknown_code") != 0)
            codes[count++] = code;
    }
    is_listed = true;
    return position < count ? codes[position] : -1;
}

static size_t code_count(void)
{
    size_t count = 0;
    while (code_at(count) >= 0)
        count++;
    return count;
}

static bool is_in_a_range(int code)
{
    return code == PFB_OK || (code >= 1 && code <= 399) || code == PFB_INTERNAL;
}

/* Returns the number of rows in docs/error.md with this number and name; counts all rows if `code` is negative. */
static size_t rows_of_page(int code, const char *name)
{
    FILE *page = fopen(PERFBLOCK_SOURCE_DIR "/docs/error.md", "r");
    cr_assert(page != NULL, "docs/error.md cannot be opened");
    size_t rows = 0;
    char line[512];
    while (fgets(line, sizeof line, page)) {
        int row_code;
        char row_name[64];
        if (sscanf(line, "| %d | `%63[^`]` |", &row_code, row_name) == 2)
            rows += code < 0 || (row_code == code && strcmp(row_name, name) == 0);
    }
    fclose(page);
    return rows;
}

Test(error, the_table_begins_with_ok_and_has_an_end)
{
    cr_assert_eq(code_at(0), PFB_OK);
    cr_assert_gt(code_count(), 1);
    cr_assert_eq(code_at(code_count()), -1);
    cr_assert_eq(code_at(SIZE_MAX), -1);
}

Test(error, codes_are_within_the_documented_ranges)
{
    for (size_t i = 0; i < code_count(); i++) {
        int code = code_at(i);
        cr_expect(is_in_a_range(code), "code %d is in no documented range", code);
    }
}

Test(error, names_are_unique_and_lowercase)
{
    for (size_t i = 0; i < code_count(); i++) {
        const char *name = pfb_code_name((pfb_code)code_at(i));
        cr_expect(name[0] != '\0' && strspn(name, NAME_CHARACTERS) == strlen(name), "invalid name \"%s\"", name);
        cr_expect_str_neq(name, "unknown_code");
        for (size_t k = 0; k < i; k++)
            cr_expect_str_neq(name, pfb_code_name((pfb_code)code_at(k)));
    }
}

/* According to error.h, codes 1 to 99 report truncated input and codes 300 to 399 wrong calls. Their names say so. */
Test(error, names_agree_with_ranges)
{
    for (size_t i = 0; i < code_count(); i++) {
        int code = code_at(i);
        const char *name = pfb_code_name((pfb_code)code);
        bool is_cut = strncmp(name, "trunc", 5) == 0 || strncmp(name, "unterminated_", 13) == 0;
        cr_expect_eq(is_cut, code >= 1 && code <= 99, "%d %s", code, name);
        cr_expect_eq(strncmp(name, "caller_", 7) == 0, code >= 300 && code <= 399, "%d %s", code, name);
    }
}

Test(error, texts_are_not_empty_and_have_no_final_dot)
{
    for (size_t i = 0; i < code_count(); i++) {
        const char *text = pfb_code_text((pfb_code)code_at(i));
        size_t length = strlen(text);
        cr_expect(length > 0 && text[length - 1] != '.' && text[length - 1] != ' ',
                  "empty text or final dot or space: \"%s\"", text);
    }
}

Test(error, unlisted_values_have_a_name_and_a_text_too)
{
    /* 65536 + a code would be mistaken for that code if compared in 16 bits. */
    static const int unlisted[] = {-1, 99, 199, 299, 399, 899, 901, 65536, 65536 + 100, INT_MAX, INT_MIN};
    for (size_t i = 0; i < sizeof unlisted / sizeof unlisted[0]; i++) {
        pfb_code code;
        memcpy(&code, &unlisted[i], sizeof code); /* not a cast, to which sanitizers may object */
        cr_expect_str_eq(pfb_code_name(code), "unknown_code", "code %d", unlisted[i]);
        cr_expect_gt(strlen(pfb_code_text(code)), 0, "code %d", unlisted[i]);
    }
}

Test(error, every_code_is_in_the_documentation_once)
{
    for (size_t i = 0; i < code_count(); i++) {
        int code = code_at(i);
        const char *name = pfb_code_name((pfb_code)code);
        cr_expect_eq(rows_of_page(code, name), 1, "docs/error.md should have one row for %d %s", code, name);
    }
}

Test(error, the_documentation_has_no_other_codes)
{
    cr_expect_eq(rows_of_page(-1, NULL), code_count());
}
