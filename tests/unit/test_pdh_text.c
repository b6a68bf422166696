/* SPDX-License-Identifier: MIT */
/* PDH text logs: headers, rows, times and numbers. */
#include <criterion/criterion.h>

#include "perfblock/pdh_text.h"
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEADER "\"(PDH-CSV 4.0) (Pacific Daylight Time)(420)\",\"\\\\PC\\Memory\\Pages/sec\",\"\\\\PC\\A(b)\\C\"\r\n"
#define TIME "\"05/29/2008 11:36:51.794\""

/* Copies the text to memory of exactly its size, so that a sanitizer detects reads past the end. */
static uint8_t *exact_text(const char *text)
{
    size_t size = strlen(text);
    uint8_t *copy = malloc(size > 0 ? size : 1);
    cr_assert_not_null(copy);
    memcpy(copy, text, size);
    return copy;
}

/* The result of reading a log. `rows` has each row as "time: value value;", with '-' for a missing value. */
typedef struct result {
    char rows[512];
    size_t size;
    pfb_error error;
    uint32_t notes;
    uint64_t skipped_lines;
} result;

static void print(result *r, const char *format, double number)
{
    int count = snprintf(r->rows + r->size, sizeof r->rows - r->size, format, number);
    r->size += (size_t)count;
    cr_assert_lt(r->size, sizeof r->rows);
}

static bool next_row(pfb_pdh_text_reader *text, const uint8_t *data, size_t size, size_t window, pfb_pdh_text_row *row)
{
    while (!pfb_pdh_text_next_row(text, row)) {
        if (!text->needs_more)
            return false;
        size_t offset = (size_t)text->window_offset + text->resume_offset;
        size_t left = size - offset;
        window = text->resume_offset == 0 ? 2 * window : window;
        pfb_pdh_text_continue(text, data + offset, window < left ? window : left, window >= left);
    }
    return true;
}

static result read_rows(const char *content, size_t window, const pfb_read_options *options)
{
    result r = {.size = 0};
    size_t size = strlen(content);
    uint8_t *copy = exact_text(content);
    pfb_pdh_text_reader text;
    pfb_pdh_text_row row;
    pfb_pdh_text_value value;
    do {
        window = window < size ? window : size;
        pfb_pdh_text_open(&text, copy, window, window == size, options);
        window *= 2;
    } while (text.error.code == PFB_CALLER_TOO_SMALL);
    while (next_row(&text, copy, size, window, &row)) {
        print(&r, "%.0f:", (double)row.time);
        while (pfb_pdh_text_next_value(&text, &value))
            print(&r, value.has_value ? " %g" : " -", value.value);
        print(&r, ";", 0);
    }
    r.error = text.error;
    r.error.offset += r.error.code != PFB_OK ? (size_t)text.window_offset : 0;
    r.notes = text.notes;
    r.skipped_lines = text.skipped_lines;
    free(copy);
    return r;
}

/* ---- Headers --------------------------------------------------------------------------------------------------- */

Test(pdh_text, headers_are_recognised_and_read)
{
    static const struct {
        const char *text;
        bool is_header, has_version, has_bias;
        int bias;
        const char *zone;
        unsigned columns;
    } cases[] = {
        {HEADER, true, true, true, 420, "Pacific Daylight Time", 2},
        {"\"(PDH-CSV 4.0)\",\"\\\\PC\\A\\B\"\n", true, true, false, 0, NULL, 1},
        {"\"(PDH-TSV 4.0) (X)(-60)\"\t\"\\\\PC\\A\\B\"\t\"\\\\PC\\A\\C\"\n", true, true, true, -60, "X", 2},
        {"\"(Pacific Daylight Time)(420)\",\"\\\\PC\\A\\B\"\n", true, false, true, 420, "Pacific Daylight Time", 1},
        {"(PDH-CSV 4.0) (X)(0),\\\\PC\\A\\B,\\\\PC\\A\\C\n", true, true, true, 0, "X", 2},
        {"\xEF\xBB\xBF\"(Zone)(420)\",\"a\"\r\n", true, false, true, 420, "Zone", 1},
        {"\xEF\xBB\xBF\r\n\"(PDH-CSV 4.0)\",\"a\"\r\n", true, true, false, 0, NULL, 1},
        {"\"(PDH-CSV 4.0) ((UTC+01:00) Bern)(-120)\",\"a\"\n", true, true, true, -120, "(UTC+01:00) Bern", 1},
        {"\"(PDH-TSV 4.0) (A,B)(60)\"\t\"a\"\n", true, true, true, 60, "A,B", 1},
        {"\"(PDH-CSV 4.0)\"\n", true, true, false, 0, NULL, 0},
        {"\"(PDH-CSV 4.0)\"", true, true, false, 0, NULL, 0},
        {"\"(PDH-CSV 4.0) (no bias)\",\"a\"\n", true, true, false, 0, NULL, 1},
        {"\"(PDH-CSV 5.0)\",\"a\"\n", false, false, false, 0, NULL, 0},
        {"\"(PDH-CSV 5.0) (X)(0)\",\"a\"\n", false, false, false, 0, NULL, 0},
        {"\"(Zone)(420\",\"a\"\n", false, false, false, 0, NULL, 0},
        {"\"Zone)(420)\",\"a\"\n", false, false, false, 0, NULL, 0},
        {"\"(Zone(420)\",\"a\"\n", false, false, false, 0, NULL, 0},
        {"\"(Zone)(x)\",\"a\"\n", false, false, false, 0, NULL, 0},
        {"\"(Zone)(99999)\",\"a\"\n", false, false, false, 0, NULL, 0},
        {"\"(Zone)(420)x\",\"a\"\n", false, false, false, 0, NULL, 0},
        {"\"(420)\",\"a\"\n", false, false, false, 0, NULL, 0},
        {"()(1)\n", true, false, true, 1, "", 0},
        {"time,value\n", false, false, false, 0, NULL, 0},
        {"", false, false, false, 0, NULL, 0},
        {"\r\n\r\n", false, false, false, 0, NULL, 0},
        {"\xEF\n\n\"(PDH-CSV 4.0)\",\"a\"\n", false, false, false, 0, NULL, 0},
        {"\n\xBB\xBF\"(PDH-CSV 4.0)\",\"a\"\n", false, false, false, 0, NULL, 0},
        {"\xEF\n\xBF\"(PDH-CSV 4.0)\",\"a\"\n", false, false, false, 0, NULL, 0},
        {"\xEF\xBB\n\"(PDH-CSV 4.0)\",\"a\"\n", false, false, false, 0, NULL, 0},
        {"\"", false, false, false, 0, NULL, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t size = strlen(cases[i].text);
        uint8_t *copy = exact_text(cases[i].text);
        pfb_pdh_text_reader text;
        cr_expect_eq(pfb_pdh_text_recognise(copy, size), cases[i].is_header, "%s", cases[i].text);
        cr_expect_eq(pfb_pdh_text_open(&text, copy, size, true, STRICT), cases[i].is_header, "%s", cases[i].text);
        if (cases[i].is_header) {
            cr_expect_eq(text.has_version, cases[i].has_version, "%s", cases[i].text);
            cr_expect_eq(text.has_bias, cases[i].has_bias, "%s", cases[i].text);
            cr_expect_eq(text.bias_minutes, cases[i].bias, "%s", cases[i].text);
            cr_expect(!cases[i].zone || has_text(&text.zone_name, cases[i].zone), "%s", cases[i].text);
            cr_expect_eq(text.column_count, cases[i].columns, "%s", cases[i].text);
        } else {
            cr_expect_eq(text.error.code, PFB_UNKNOWN_FORMAT, "%s", cases[i].text);
            cr_expect_leq(text.error.offset, size, "%s", cases[i].text);
        }
        free(copy);
    }
    cr_expect(!pfb_pdh_text_recognise(NULL, 0) && !pfb_pdh_text_recognise(NULL, 5));
    static const char version[] = "(PDH-CSV 4.0)";
    for (size_t before = 1000; before < 1024; before++) { /* the first 1024 bytes decide */
        char text[1100];
        memset(text, '\n', sizeof text);
        memcpy(text + before, version, sizeof version - 1);
        cr_expect_eq(pfb_pdh_text_recognise(text, sizeof text), before + sizeof version - 1 <= 1024, "%zu", before);
    }
}

Test(pdh_text, paths_are_the_cells_of_the_header)
{
    static const struct {
        const char *text, *paths[3];
        uint32_t encoding;
    } cases[] = {
        {HEADER, {"\\\\PC\\Memory\\Pages/sec", "\\\\PC\\A(b)\\C", NULL}, PFB_ENCODING_UTF8},
        {"\"(PDH-CSV 4.0)\",\"a\"\"b\",\"a,b\"\n", {"a\"\"b", "a,b", NULL}, PFB_ENCODING_UTF8},
        {"\"(PDH-CSV 4.0)\",\"\",\"a\"\n", {"", "a", NULL}, PFB_ENCODING_UTF8},
        {"\"(PDH-CSV 4.0)\",\"a\"\",b\",\"c\"\n", {"a\"\",b", "c", NULL}, PFB_ENCODING_UTF8},
        {"\"(PDH-CSV 4.0)\",\"a\"\"\",\"c\"\n", {"a\"\"", "c", NULL}, PFB_ENCODING_UTF8},
        {"\"(PDH-CSV 4.0)\",\"a\"\",\"c\"\n", {"a\"", "c", NULL}, PFB_ENCODING_UTF8},
        {"\"(PDH-CSV 4.0)\",\"a\"\"\n", {"a\"", NULL}, PFB_ENCODING_UTF8},
        {"\"(PDH-TSV 4.0)\"\t\"a\"\"\tb\"\t\"c\"\n", {"a\"\"\tb", "c", NULL}, PFB_ENCODING_UTF8},
        {"\"(PDH-CSV 4.0)\",\"a\"\",\"\"b\",\"c\"\n", {"a\"\",\"\"b", "c", NULL}, PFB_ENCODING_UTF8},
        {"\"(PDH-CSV 4.0)\",\"a\"\",\",\"c\"\n", {"a\"\",", "c", NULL}, PFB_ENCODING_UTF8},
        {"\"(PDH-CSV 4.0)\",\"a\"\",\"\n", {"a\"\",", NULL}, PFB_ENCODING_UTF8},
        {"\"(PDH-CSV 4.0)\",\"caf\xE9\"\n", {"caf\xC3\xA9", NULL}, PFB_ENCODING_WINDOWS_1252},
        {"\"(PDH-CSV 4.0)\",\"caf\xC3\xA9\"\n", {"caf\xC3\xA9", NULL}, PFB_ENCODING_UTF8},
        {"\"(PDH-CSV 4.0)\",\"(vm \"q\", 2)\"\n", {"(vm \"q\", 2)", NULL}, PFB_ENCODING_UTF8},
        {"\"(PDH-CSV 4.0)\",\"a\"b\",c\n", {"a\"b", "c", NULL}, PFB_ENCODING_UTF8},
        {"\"(PDH-CSV 4.0)\",\"\xEF\xBF\xBD\"\n", {"\xEF\xBF\xBD", NULL}, PFB_ENCODING_UTF8},
        {"\"(PDH-CSV 4.0)\",\"\x80\"\n", {"\xE2\x82\xAC", NULL}, PFB_ENCODING_WINDOWS_1252},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint8_t *copy = exact_text(cases[i].text);
        pfb_pdh_text_reader text;
        pfb_pdh_text_path path;
        uint32_t count = 0;
        cr_assert(pfb_pdh_text_open(&text, copy, strlen(cases[i].text), true, STRICT));
        cr_expect_eq(text.encoding, cases[i].encoding, "%s", cases[i].text);
        for (; pfb_pdh_text_next_path(&text, &path); count++) {
            cr_assert(count < 2 && path.column == count);
            cr_expect(has_text(&path.name, cases[i].paths[count]), "%s", cases[i].text);
        }
        cr_expect(!cases[i].paths[count] && count == text.column_count, "%s", cases[i].text);
        free(copy);
    }
}

/* A line of 4 GiB can have more columns than are counted. */
Test(pdh_text, paths_end_at_the_number_of_columns)
{
    pfb_pdh_text_reader text;
    pfb_pdh_text_path path;
    cr_assert(pfb_pdh_text_open(&text, HEADER, strlen(HEADER), true, NULL));
    text.column_count = 1;
    cr_expect(pfb_pdh_text_next_path(&text, &path) && !pfb_pdh_text_next_path(&text, &path));
}

/* ---- Rows ------------------------------------------------------------------------------------------------------ */

Test(pdh_text, rows_are_read_in_windows_of_any_size)
{
    static const struct {
        const char *text, *rows;
        pfb_code code; /* expected error in strict mode */
        size_t offset; /* of that error, from the end of the header */
        uint32_t note; /* expected note in tolerant mode; 0: the same result as in strict mode */
    } cases[] = {
        {"", "", PFB_OK, 0, 0},
        {TIME ",\"1\",\"2.5\"\r\n" TIME ",\"-3\",\" \"", "128565346117940000: 1 2.5;128565346117940000: -3 -;", PFB_OK,
         0, 0},
        {TIME ",\"1\",\"\"\n\n\n" TIME ",\" \",\"4\"\n", "128565346117940000: 1 -;128565346117940000: - 4;", PFB_OK, 0,
         0},
        {TIME ",1,2\n", "128565346117940000: 1 2;", PFB_OK, 0, 0},
        {TIME ",\"1\",\"2\",\n", "128565346117940000: 1 2;", PFB_OK, 0, 0},
        {TIME ",1,\n" TIME ",,2\r\n", "128565346117940000: 1 -;128565346117940000: - 2;", PFB_OK, 0, 0},
        {TIME ",\"1\",\r\n" TIME ",,\n", "128565346117940000: 1 -;128565346117940000: - -;", PFB_OK, 0, 0},
        {TIME ",\n" TIME ",1\n", "128565346117940000:;128565346117940000: 1;", PFB_UNEVEN_ROW, 0, PFB_NOTE_UNEVEN_ROW},
        {TIME ",1,", "", PFB_TRUNCATED_LINE, 28, 0},
        {"Exiting, please wait...\n" TIME ",\"1\",\"2\"\nThe command completed successfully.\n",
         "128565346117940000: 1 2;", PFB_BAD_TEXT_LINE, 0, PFB_NOTE_TEXT_LINE},
        {TIME ",\"1\"\n" TIME ",\"1\",\"2\",\"3\"\n", "128565346117940000: 1;128565346117940000: 1 2;", PFB_UNEVEN_ROW,
         0, PFB_NOTE_UNEVEN_ROW},
        {TIME ",\"1.#INF\",\"2\"\n", "128565346117940000: - 2;", PFB_BAD_NUMBER, 26, PFB_NOTE_BAD_NUMBER},
        {TIME ",\"1\n" TIME ",\"3\",\"4\"\n", "128565346117940000: 1;128565346117940000: 3 4;", PFB_UNEVEN_ROW, 0,
         PFB_NOTE_UNEVEN_ROW},
        {TIME ",\"1\",\"2", "", PFB_TRUNCATED_LINE, 32, 0},
        {TIME ",\"1\"", "", PFB_TRUNCATED_LINE, 29, 0},
        {TIME ",", "", PFB_TRUNCATED_LINE, 26, 0},
        {"\"05/29/2008 11:36", "", PFB_TRUNCATED_LINE, 17, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char content[1024];
        snprintf(content, sizeof content, "%s%s", HEADER, cases[i].text);
        size_t offset = cases[i].code == PFB_OK ? 0 : strlen(HEADER) + cases[i].offset;
        for (size_t window = 1; window <= strlen(content); window += 11) {
            result strict = read_rows(content, window, STRICT);
            expect_error(strict.error, cases[i].code, offset, cases[i].text);
            cr_expect_eq(strict.notes, 0);
            result r = read_rows(content, window, NULL);
            expect_error(r.error, cases[i].note ? PFB_OK : cases[i].code, cases[i].note ? 0 : offset, cases[i].text);
            cr_expect_str_eq(r.rows, cases[i].rows, "%s: %s", cases[i].text, r.rows);
            cr_expect_eq(r.notes, cases[i].note, "%s", cases[i].text);
            cr_expect_eq(r.skipped_lines > 0, cases[i].note == PFB_NOTE_TEXT_LINE, "%s", cases[i].text);
        }
    }
}

Test(pdh_text, truncated_headers_are_errors)
{
    static const char text[] = HEADER;
    pfb_pdh_text_reader reader;
    cr_expect(!pfb_pdh_text_open(&reader, text, sizeof text - 4, true, NULL));
    expect_error(reader.error, PFB_TRUNCATED_LINE, sizeof text - 4, "a header that ends inside its last cell");
    static const char *const first_cells[] = {"\"(PDH-CSV 4.0)", "\"(PDH-CSV 4.0) (Pacific", "\"(Zone)(420)"};
    for (size_t i = 0; i < sizeof first_cells / sizeof first_cells[0]; i++) {
        size_t size = strlen(first_cells[i]);
        cr_expect(pfb_pdh_text_recognise(first_cells[i], size));
        cr_expect(!pfb_pdh_text_open(&reader, first_cells[i], size, true, NULL));
        expect_error(reader.error, PFB_TRUNCATED_LINE, size, first_cells[i]);
    }
    cr_expect(!pfb_pdh_text_open(&reader, text, sizeof text - 4, false, NULL));
    expect_error(reader.error, PFB_CALLER_TOO_SMALL, 0, "a window without the whole header");
    pfb_pdh_text_open(&reader, text, sizeof text - 1, true, NULL);
    cr_expect(!pfb_pdh_text_continue(&reader, text, 1, true));
    expect_error(reader.error, PFB_CALLER_ORDER, 0, "continue without needs_more");
}

/* Most expected times are computed from POSIX times, whose epoch is 11,644,473,600 s after the start of 1601. */
Test(pdh_text, times_are_converted_or_rejected)
{
    static const struct {
        const char *text;
        double time; /* in units of 100 ns since 1601; 0: the text is not a time */
    } cases[] = {
        {"01/01/1970 00:00:00.000", 116444736000000000.0},
        {"01/01/1970 00:00:00", 116444736000000000.0},
        {"01/01/1970 00:00:00.0000001", 116444736000000001.0},
        {"01/01/1970 00:00:00.00000019", 116444736000000001.0},
        {"03/01/2000 00:00:00.000", 116444736000000000.0 + 951868800e7},
        {"02/29/2000 23:59:59.999", 116444736000000000.0 + 951868800e7 - 10000},
        {"03/01/2100 00:00:00.000", 116444736000000000.0 + 4107542400e7},
        {"1/2/1970 0:0:0.5", 0},
        {"2/2/1970 0:0:0.5", 116444736000000000.0 + 32 * 86400e7 + 5000000},
        {"12/31/1601 00:00:00.000", 364 * 86400e7},
        {"02/29/1900 00:00:00.000", 0},
        {"02/30/2000 00:00:00.000", 0},
        {"13/01/2000 00:00:00.000", 116444736000000000.0 + 947721600e7},
        {"00/01/2000 00:00:00.000", 0},
        {"04/31/2000 00:00:00.000", 0},
        {"01/01/1600 00:00:00.000", 0},
        {"01/01/2000 24:00:00.000", 0},
        {"01/01/2000 00:60:00.000", 0},
        {"01/01/2000 00:00:60.000", 0},
        {"01/01/2000 00:00:00.", 0},
        {"01/01/2000 00:00:00.0x", 0},
        {"01-01-2000 00:00:00.000", 116444736000000000.0 + 946684800e7},
        {"01/01/2000", 0},
        {"01/01", 0},
        {"01/01/10000 00:00:00", 0},
        {"01/00/2000 00:00:00", 0},
        {"01/32/2000 00:00:00", 0},
        {"0101/2000 00:00:00", 0},
        {"01/012000 00:00:00", 0},
        {"01/01/200000:00:00", 0},
        {"01/01/2000 0000:00", 0},
        {"01/01/2000 00:0000", 0},
        {"/01/2000 00:00:00", 0},
        {"01//2000 00:00:00", 0},
        {"01/01/ 00:00:00", 0},
        {"01/01/2000 :00:00", 0},
        {"01/01/2000 00::00", 0},
        {"01/01/2000 00:00:", 0},
        {"12/31/9999 23:59:59", 3067671 * 86400e7 - 1e7},
        {"01/01/1601 01:02:03", 3723e7},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char content[256];
        char expected[64] = "";
        snprintf(content, sizeof content, "\"(PDH-CSV 4.0)\"\n\"%s\"\n", cases[i].text);
        if (cases[i].time != 0)
            snprintf(expected, sizeof expected, "%.0f:;", cases[i].time);
        cr_expect_str_eq(read_rows(content, SIZE_MAX / 2, NULL).rows, expected, "%s", cases[i].text);
    }
}

/* Returns the days of a month. */
static unsigned days_in(unsigned year, unsigned month)
{
    bool is_leap = year % 400 == 0 || (year % 4 == 0 && year % 100 != 0);
    if (month == 2)
        return is_leap ? 29 : 28;
    return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
}

/* Every day from 1601 to 2004, which has years of all kinds, and the day after the last one of each month. */
Test(pdh_text, every_day_of_the_calendar_is_converted)
{
    uint64_t days = 0;
    for (unsigned year = 1601; year <= 2004; year++) {
        char content[16384];
        unsigned last = 0; /* day of the year */
        size_t size = (size_t)snprintf(content, sizeof content, "\"(PDH-CSV 4.0)\"\n");
        for (unsigned month = 1; month <= 12; month++) {
            for (unsigned day = 1; day <= days_in(year, month) + 1; day++) {
                size += (size_t)snprintf(content + size, sizeof content - size, "\"%02u/%02u/%u 00:00:00\"\n", month,
                                         day, year);
                cr_assert_lt(size, sizeof content);
            }
            last += days_in(year, month);
        }
        pfb_pdh_text_reader text;
        pfb_pdh_text_row row;
        cr_assert(pfb_pdh_text_open(&text, content, size, true, NULL));
        for (unsigned day = 0; day < last; day++, days++) {
            cr_assert(pfb_pdh_text_next_row(&text, &row), "%u-%u", year, day);
            cr_assert_eq(row.time, days * 864000000000, "%u-%u: %llu", year, day, (unsigned long long)row.time);
        }
        cr_expect(!pfb_pdh_text_next_row(&text, &row), "%u: the 12 days that do not exist are not rows", year);
        cr_expect_eq(text.skipped_lines, 12, "%u: %llu", year, (unsigned long long)text.skipped_lines);
    }
}

/* Numbers must equal those of strtod, which rounds correctly. */
Test(pdh_text, numbers_are_rounded_as_by_strtod)
{
    static const char *const numbers[] = {
        "0",
        "-0",
        "1",
        "-1",
        "00012",
        "4.6153846153846096",
        "11980.986682813664",
        "0.00025000000000000001",
        "1e0",
        "1.5E+3",
        "1.7976931348623157e+30",
        "9007199254740993",
        "9007199254740992.5",
        "18446744073709551615",
        "1844674407370955161",
        "5.4210108624275222e-20",
        "2.2250738585072014e-39",
        "123456789012345678e-5",
        "0.1",
        "0.3",
        "2.5",
        ".5",
        "5.",
        "99.999999999999986",
        "3.0303030303030276",
        "1e38",
        "9.999e37",
        "0.000000000000000000000000000000000001",
        "1000000000000000000000000000000",
        "72057594037927945",
        "1e300",
        "1.7976931348623157e308",
        "1.7976931348623158e+308",
        "17976931348623157e292",
        "2.2250738585072014e-308",
        "2.2250738585072011e-308",
        "2.2250738585072009e-308",
        "1e-41",
        "4.9406564584124654e-324",
        "2.4703282292062328e-324",
        "2.4703282292062327e-324",
        "-1e-324",
        "9.9e-325",
        "-1e-400",
        "1e-2147483647",
        "0e2147483647",
        "123456789012345678901234567890",
        "9007199254740993.0000000000000000000000000000000000000000000000000000000000000000001",
        "9007199254740992.9999999999999999999999999999999999999999999999999999999999999999999",
        "0000000000000000000000000000000000000000000000000000000000000.00000000000000000000000000001",
        "100000000000000000000000000000000000000000000000000000000000000000000000000000000000e-80",
    };
    static const char *const others[] = {"",
                                         " ",
                                         "-",
                                         ".",
                                         "1e",
                                         "1e+",
                                         "1x",
                                         "x",
                                         "1,5,2",
                                         "1e309",
                                         "-1.8e308",
                                         "--1",
                                         "+1",
                                         "1.#QNAN",
                                         "0x10",
                                         "e5",
                                         ".e1",
                                         "1e310",
                                         "1e400",
                                         "1e2147483648",
                                         "1e9999999999",
                                         "1.7976931348623159e308"};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        char content[256];
        snprintf(content, sizeof content, "\"(PDH-CSV 4.0)\",\"a\"\n" TIME ",\"%s\"\n", numbers[i]);
        pfb_pdh_text_reader text;
        pfb_pdh_text_row row;
        pfb_pdh_text_value value;
        uint8_t *copy = exact_text(content);
        cr_assert(pfb_pdh_text_open(&text, copy, strlen(content), true, STRICT));
        cr_assert(pfb_pdh_text_next_row(&text, &row));
        cr_assert(pfb_pdh_text_next_value(&text, &value), "%s", numbers[i]);
        double expected = strtod(numbers[i], NULL);
        cr_expect(value.has_value && memcmp(&value.value, &expected, sizeof expected) == 0, "%s: %.17g", numbers[i],
                  value.value);
        free(copy);
    }
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        char content[256];
        snprintf(content, sizeof content, "\"(PDH-CSV 4.0)\",\"a\"\n" TIME ",\"%s\"\n", others[i]);
        result r = read_rows(content, SIZE_MAX / 2, NULL);
        cr_expect_str_eq(r.rows, "128565346117940000: -;", "%s: %s", others[i], r.rows);
    }
}

/* Reads a text of one number. */
static bool read_number(const char *number, double *read)
{
    static char content[2048];
    pfb_pdh_text_reader text;
    pfb_pdh_text_row row;
    pfb_pdh_text_value value = {0};
    int size = snprintf(content, sizeof content, "\"(PDH-CSV 4.0)\",\"a\"\n" TIME ",\"%s\"\n", number);
    cr_assert_lt((size_t)size, sizeof content);
    pfb_pdh_text_open(&text, content, (size_t)size, true, NULL);
    cr_assert(pfb_pdh_text_next_row(&text, &row) && pfb_pdh_text_next_value(&text, &value));
    *read = value.value;
    return value.has_value;
}

/* 100,000 quotients and as many doubles of any exponent, printed with %.17g, are read back as the same double.
 * Infinities and NaNs are not read as numbers. */
Test(pdh_text, printed_numbers_are_read_back)
{
    uint64_t random = 88172645463325252;
    for (int i = 0; i < 200000; i++) {
        uint64_t bits = random_u64(&random);
        double number = (double)(bits >> (bits & 31)) / (double)((bits >> 40) + 1);
        double read;
        char text[64];
        if (i % 2 == 1)
            memcpy(&number, &bits, sizeof number);
        snprintf(text, sizeof text, "%.17g", number);
        bool is_finite = number - number == 0;
        cr_assert_eq(read_number(text, &read), is_finite, "%s", text);
        cr_assert(!is_finite || memcmp(&read, &number, sizeof number) == 0, "%.17g: %.17g", number, read);
    }
}

/* Numbers of 19 digits are often near the middle of two doubles, where a wrong bit of a quotient changes the result. */
Test(pdh_text, quotients_of_19_digits_are_rounded_as_by_strtod)
{
    uint64_t random = 362436069;
    for (int i = 0; i < 40000; i++) {
        double read;
        char text[64];
        uint64_t digits = UINT64_C(1000000000000000000) + random_u64(&random) % UINT64_C(9000000000000000000);
        snprintf(text, sizeof text, "%llue-%d", (unsigned long long)digits, 1 + i % 40);
        double expected = strtod(text, NULL);
        cr_assert(read_number(text, &read) && memcmp(&read, &expected, sizeof read) == 0, "%s: %.17g", text, read);
    }
}

/* However far to the right, a digit can decide to which of two doubles a number is rounded. test_pdh.py has random
 * numbers of many digits. */
Test(pdh_text, every_digit_of_a_number_affects_its_rounding)
{
    static const struct {
        const char *first;
        int zeros;
        const char *last;
        double expected;
    } cases[] = {
        {"9007199254740993.", 900, "", 9007199254740992.0},
        {"9007199254740993.", 700, "1", 9007199254740994.0},
        {"9007199254740993.", 900, "1", 9007199254740994.0},
        {"9007199254740995.", 900, "", 9007199254740996.0},
        {"1", 900, "e-900", 1},
        {"1", 900, "9e-901", 1},
        {"0.", 900, "1e901", 1},
        {"-0.", 400, "1", -0.0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[1024];
        double read;
        snprintf(text, sizeof text, "%s%0*d%s", cases[i].first, cases[i].zeros, 0, cases[i].last);
        cr_expect(read_number(text, &read) && memcmp(&read, &cases[i].expected, sizeof read) == 0, "%s: %.17g", text,
                  read);
    }
    for (int digits = 1019; digits <= 1020; digits++) { /* with separators a number has up to 1024 characters */
        char text[1026];
        double read;
        snprintf(text, sizeof text, "1'234.%0*d", digits - 1, 0);
        cr_expect_eq(read_number(text, &read), digits == 1019, "%d", digits);
    }
}

/* Reads a text whose lines are kept apart: the header is opened alone, then each row alone. */
Test(pdh_text, lines_can_be_read_without_their_text)
{
    static const char content[] =
        "\xEF\xBB\xBF\r\n" HEADER TIME ",\"1\",\"2.5\"\r\n\r\n" TIME ",\"3\",\" \"\n" TIME ",4,5";
    uint8_t *copy = exact_text(content);
    pfb_pdh_text_reader text;
    pfb_pdh_text_reader line;
    pfb_pdh_text_row row;
    pfb_pdh_text_row again;
    pfb_pdh_text_path path;
    result r = {.size = 0};
    cr_assert(pfb_pdh_text_open(&text, copy, strlen(content), true, NULL));
    cr_expect(text.header_offset == 5 && text.header_size_bytes == strlen(HEADER) - 2);
    while (pfb_pdh_text_next_row(&text, &row)) {
        cr_assert(pfb_pdh_text_open(&line, copy + text.header_offset, text.header_size_bytes, true, NULL));
        cr_expect(pfb_pdh_text_next_path(&line, &path) && path.column == 0);
        cr_expect(line.column_count == 2 && line.separator == ',' && line.bias_minutes == 420);
        char *kept = malloc(row.size_bytes);
        cr_assert_not_null(kept);
        memcpy(kept, copy + row.offset, row.size_bytes);
        cr_assert(pfb_pdh_text_open_row(&line, kept, row.size_bytes, &again));
        cr_expect(again.offset == 0 && again.size_bytes == row.size_bytes && again.time == row.time);
        for (pfb_pdh_text_value value; pfb_pdh_text_next_value(&line, &value);)
            print(&r, value.has_value ? " %g" : " -", value.value);
        print(&r, ";", 0);
        cr_expect_not(pfb_pdh_text_next_row(&line, &again));
        free(kept);
    }
    cr_expect_not(pfb_pdh_text_open_row(&line, NULL, 100, &again), "a null pointer is an empty line");
    cr_expect_not(pfb_pdh_text_open_row(&line, "x", 1, &again), "a line without a time is no row");
    cr_expect_not(pfb_pdh_text_open_row(&line, "(PDH-CSV", 8, &again), "a header is no row");
    cr_expect_str_eq(r.rows, " 1 2.5; 3 -; 4 5;");
    free(copy);
}

/* A null pointer is empty input, whatever its size, and a reader with an error returns nothing more. */
Test(pdh_text, null_input_is_empty)
{
    pfb_pdh_text_reader text;
    pfb_pdh_text_path path;
    pfb_pdh_text_row row;
    pfb_pdh_text_value value;
    cr_expect(!pfb_pdh_text_open(&text, NULL, 4096, true, NULL));
    pfb_error error = text.error;
    cr_expect_neq(error.code, PFB_OK);
    cr_expect(!pfb_pdh_text_next_path(&text, &path) && !pfb_pdh_text_next_row(&text, &row) &&
              !pfb_pdh_text_next_value(&text, &value) && !pfb_pdh_text_continue(&text, NULL, 0, true));
    cr_expect(text.error.code == error.code && text.error.offset == error.offset);
}

Test(pdh_text, null_windows_are_empty)
{
    pfb_pdh_text_reader text;
    pfb_pdh_text_row row;
    uint8_t *copy = exact_text(HEADER TIME ",1,2\n");
    cr_expect(!pfb_pdh_text_recognise(NULL, 4096));
    const pfb_read_options tolerant = {.is_strict = false};
    cr_assert(!pfb_pdh_text_open(&text, copy, strlen(HEADER), false, &tolerant));
    expect_error(text.error, PFB_CALLER_TOO_SMALL, 0, "a window without a row");
    cr_assert(pfb_pdh_text_open(&text, copy, strlen(HEADER TIME ",1,2\n"), false, &tolerant));
    cr_assert(pfb_pdh_text_next_row(&text, &row));
    cr_expect(!pfb_pdh_text_next_row(&text, &row) && text.needs_more);
    cr_expect(!pfb_pdh_text_next_row(&text, &row) && text.needs_more, "nothing is read until reading continues");
    cr_expect(pfb_pdh_text_continue(&text, NULL, 4096, true));
    cr_expect(!pfb_pdh_text_next_row(&text, &row) && !text.needs_more && text.error.code == PFB_OK);
    free(copy);
}

/* ---- The form of the rows -------------------------------------------------------------------------------------- */

enum { FORM_BYTES = 4096 };

/* Writes a text of ASCII characters as UTF-16. */
static size_t widen(const char *text, bool is_big_endian, bool has_mark, uint8_t *to)
{
    size_t size = 0;
    for (const char *c = has_mark ? "m" : ""; *c; c++) {
        to[size++] = is_big_endian ? 0xFE : 0xFF;
        to[size++] = is_big_endian ? 0xFF : 0xFE;
    }
    for (; *text; text++) {
        cr_assert_lt(size, FORM_BYTES - 1);
        to[size + !is_big_endian] = 0;
        to[size + is_big_endian] = (uint8_t)*text;
        size += 2;
    }
    return size;
}

/* Reads a text in windows of growing sizes. Times are seconds since the start of 2000. */
static result read_form(const uint8_t *data, size_t size, size_t window, const pfb_read_options *options,
                        pfb_pdh_text_reader *text)
{
    const double start = 125911584000000000.0;
    result r = {.size = 0};
    uint8_t *copy = malloc(size);
    pfb_pdh_text_row row;
    pfb_pdh_text_row again;
    cr_assert_not_null(copy);
    memcpy(copy, data, size);
    bool is_open = false;
    for (; !is_open; window *= 2) {
        window = window < size ? window : size;
        bool is_read = pfb_pdh_text_open(text, copy, window, window == size, options);
        is_open = window == size || (is_read ? text->is_form_certain : text->error.code != PFB_CALLER_TOO_SMALL);
    }
    do {
        while (next_row(text, copy, size, window, &row)) {
            pfb_pdh_text_reader alone = *text;
            print(&r, "%.10g:", ((double)row.time - start) / 1e7);
            cr_expect(pfb_pdh_text_open_row(&alone, copy + text->window_offset + row.offset, row.size_bytes, &again));
            cr_expect_eq(again.time, row.time);
            for (pfb_pdh_text_value value; pfb_pdh_text_next_value(text, &value);)
                print(&r, value.has_value ? " %g" : " -", value.value);
            print(&r, ";", 0);
        }
        if (text->is_header)
            print(&r, "header %.0f;", text->column_count);
    } while (text->is_header);
    r.error = text->error;
    free(copy);
    return r;
}

#define COMMAS "\"(PDH-CSV 4.0)\",\"a\"\n"
#define SEMICOLONS "\"(PDH-CSV 4.0)\";\"a\"\n"
#define PERFMON "01/01/2000 00:00:00.000"

/* 2000-02-03 10:00 is 33 days and 36,000 s after the start of the year, 03-02 61 days, 02-22 52 days. */
Test(pdh_text, forms_are_found_in_the_rows)
{
    static const struct {
        const char *text, *rows;
        uint32_t dates, decimal; /* given */
        unsigned unreadable, skipped, uneven;
        pfb_code code;
    } cases[] = {
        /* dates */
        {COMMAS "2000. 2. 3. 10:00:00,1.5\n", "2887200: 1.5;", 0, 0, 0, 0, 0, PFB_OK},
        {COMMAS "2000-02-03 10:00:00,1.5\n", "2887200: 1.5;", 0, 0, 0, 0, 0, PFB_OK},
        {COMMAS "2000-02-03 10:00,1.5\n", "2887200: 1.5;", 0, 0, 0, 0, 0, PFB_OK},
        {COMMAS "03.02.2000 10:00:00,1.5\n", "2887200: 1.5;", 0, 0, 0, 0, 0, PFB_OK},
        {COMMAS "3.2.2000. 10:00:00,1.5\n3/2/2000. 10:00:00,1\n", "2887200: 1.5;", 0, 0, 0, 1, 0, PFB_OK},
        {COMMAS "03.02.2000 10:00:00,1.5\n", "5306400: 1.5;", PFB_DATE_MDY, 0, 0, 0, 0, PFB_OK},
        {COMMAS "3/2/2000 10:00:00,1.5\n", "5306400: 1.5;", PFB_DATE_MDY, 0, 0, 0, 0, PFB_OK},
        {COMMAS "3/2/2000 10:00:00,1.5\n", "2887200: 1.5;", PFB_DATE_DMY, '.', 0, 0, 0, PFB_OK},
        {COMMAS "3/2/2000 10:00:00,1.5\n", "", 0, 0, 0, 0, 0, PFB_AMBIGUOUS_DATES},
        {COMMAS "22/2/2000 10:00:00,1.5\n2/22/2000 10:00:00,1.5\n", "", 0, 0, 0, 0, 0, PFB_AMBIGUOUS_DATES},
        {COMMAS "2/2/2000 00:00:00,1.5\n2/2/2000 00:00:00,2\n2/2/2000 00:00:00,3\n",
         "2764800: 1.5;2764800: 2;2764800: 3;", 0, 0, 0, 0, 0, PFB_OK},
        {COMMAS "02/01/2000 00:00:00.000,1.5\n", "86400: 1.5;", PFB_DATE_DMY, 0, 0, 0, 0, PFB_OK},
        {COMMAS "22/2/2000 10:00:00,1.5\n03/02/2000 10:00:00.000,1.5\n3/2/2000 10:00:00,2\n",
         "4528800: 1.5;2887200: 2;", 0, 0, 0, 1, 0, PFB_OK},
        {COMMAS "22/02/2000 10:00:00.000,1.5\n03/02/2000 10:00:00.000,1.5\n", "4528800: 1.5;2887200: 1.5;", 0, 0, 0, 0,
         0, PFB_OK},
        {COMMAS "22/2/2000 10:00:00,1.5\n2000-02-03 10:00:00,1\n22.2.2000 10:00:00,1\n", "4528800: 1.5;", 0, 0, 0, 2, 0,
         PFB_OK},
        {COMMAS "3/22/00 10:00:00,1.5\n", "", 0, 0, 0, 1, 0, PFB_NO_ROW},
        {COMMAS "02/22.2000 10:00:00,1.5\n", "", 0, 0, 0, 1, 0, PFB_NO_ROW},
        {COMMAS "02/22/2000x10:00:00,1.5\n", "", 0, 0, 0, 1, 0, PFB_NO_ROW},
        {COMMAS "10:00:00,1.5\n", "", 0, 0, 0, 1, 0, PFB_NO_DATE},
        {COMMAS "1601-01-01T00:00:00+01:00,1.5\n", "", 0, 0, 0, 1, 0, PFB_NO_ROW},
        /* times of day */
        {COMMAS "2/22/2000 10:00 AM,1.5\n2/22/2000 10:00:00 a.m.,1\n2/3/2000 12:00 AM,1\n2/3/2000 1:00 PM,1\n"
                "2/3/2000 1:00 pm,1\n2/3/2000 13:00 PM,1\n2/3/2000 0:30 AM,1\n2/3/2000 1:00 Px,1\n",
         "4528800: 1.5;4528800: 1;2851200: 1;2898000: 1;2898000: 1;", 0, 0, 0, 3, 0, PFB_OK},
        {COMMAS "02/22/2000 10.00.00.000,1.5\n02/22/2000 9:00:00.000,1\n02/22/2000 10:0:00.000,1\n"
                "02/22/2000 10:00:0.000,1\n\"02/22/2000 10:00:00,000\",1\n02/22/2000 10:00:00.0,1\n",
         "4528800: 1.5;4525200: 1;4528800: 1;4528800: 1;4528800: 1;4528800: 1;", 0, 0, 0, 0, 0, PFB_OK},
        {COMMAS "2/22/2000 10:00,1.5\n02/22/2000T10:00:00.000,1\n02/22/2000  10:00:00.000,1\n"
                "\"02/22/2000, 10:00:00.000\",1\n02/2/2000 00:00:00.000,1\n2/02/2000 00:00:00.000,1\n",
         "4528800: 1.5;4528800: 1;4528800: 1;4528800: 1;2764800: 1;2764800: 1;", 0, 0, 0, 0, 0, PFB_OK},
        {COMMAS "2/22/2000 10:00,1.5\n2/22/2000 :00,1\n2/22/2000 10,1\n2/22/2000 10:,1\n2/22/2000 10:00:,1\n"
                "2/22/2000 10:00:00.,1\n2/22/2000 10:00:00 x,1\n2/22/2000 010:00,1\n",
         "4528800: 1.5;", 0, 0, 0, 7, 0, PFB_OK},
        /* offsets from UTC, with the bias of the header */
        {"\"(PDH-CSV 4.0) (X)(60)\",\"a\"\n2000-02-03T10:00:00Z,1.5\n2000-02-03T10:00:00z,1\n"
         "2000-02-03T10:00:00+01:00,1\n2000-02-03T10:00:00-0130,1\n2000-02-03T10:00:00+01,1\n"
         "2000-02-03T10:00:00+01:5,1\n2000-02-03T10:00:00+01:60,1\n2000-02-03T10:00:00+1,1\n"
         "2000-02-03T10:00:00+0160,1\n2000-02-03T10:00:00+25,1\n2000-02-03T10:00:00,1\n",
         "2883600: 1.5;2883600: 1;2880000: 1;2889000: 1;2880000: 1;", 0, 0, 0, 6, 0, PFB_OK},
        {COMMAS "2000-02-03T10:00:00Z,1.5\n", "2887200: 1.5;", 0, 0, 0, 0, 0, PFB_OK},
        /* decimal signs */
        {COMMAS PERFMON ",\"3,25\"\n", "0: 3.25;", 0, 0, 0, 0, 0, PFB_OK},
        {COMMAS PERFMON ",\"1,234\"\n", "", 0, 0, 0, 0, 0, PFB_AMBIGUOUS_NUMBERS},
        {SEMICOLONS PERFMON ";1,234\n" PERFMON ";1.5\n", "0: -;0: 1.5;", 0, 0, 1, 0, 0, PFB_OK},
        {SEMICOLONS PERFMON ";1,234\n", "0: 1.234;", 0, 0, 0, 0, 0, PFB_OK},
        {SEMICOLONS PERFMON ";1.234\n", "", 0, 0, 0, 0, 0, PFB_AMBIGUOUS_NUMBERS},
        {SEMICOLONS PERFMON ";1.5\n", "0: 1.5;", 0, 0, 0, 0, 0, PFB_OK},
        {SEMICOLONS PERFMON ";5\n", "0: 5;", 0, 0, 0, 0, 0, PFB_OK},
        {COMMAS "03.02.2000 10:00:00,1.234\n", "", 0, 0, 0, 0, 0, PFB_AMBIGUOUS_NUMBERS},
        {COMMAS PERFMON ",1.234\n", "0: 1.234;", 0, 0, 0, 0, 0, PFB_OK},
        {COMMAS PERFMON ",\"1,5\"\n" PERFMON ",1.5\n", "", 0, 0, 0, 0, 0, PFB_AMBIGUOUS_NUMBERS},
        {COMMAS "22/2/2000 10:00,0.123\n22/2/2000 10:00,1.234\n", "4528800: 0.123;4528800: 1.234;", 0, 0, 0, 0, 0,
         PFB_OK},
        {COMMAS "22/2/2000 10:00,\"0,123\"\n22/2/2000 10:00,\"1,234\"\n", "4528800: 0.123;4528800: 1.234;", 0, 0, 0, 0,
         0, PFB_OK},
        {COMMAS "22/2/2000 10:00,\",125\"\n", "4528800: 0.125;", 0, 0, 0, 0, 0, PFB_OK},
        {COMMAS "22/2/2000 10:00,\"1234,5\"\n", "4528800: 1234.5;", 0, 0, 0, 0, 0, PFB_OK},
        {COMMAS "22/2/2000 10:00,\"1234,125\"\n", "4528800: 1234.12;", 0, 0, 0, 0, 0, PFB_OK},
        {COMMAS "22/2/2000 10:00,\"1,250e2\"\n", "4528800: 125;", 0, 0, 0, 0, 0, PFB_OK},
        {COMMAS "22/2/2000 10:00,\".\"\n22/2/2000 10:00,1.5x\n22/2/2000 10:00,-\n", "4528800: -;4528800: -;4528800: -;",
         0, 0, 3, 0, 0, PFB_OK},
        /* separators of thousands */
        {COMMAS PERFMON ",\"1.234,5\"\n" PERFMON ",\"1234,5\"\n" PERFMON ",\"1.234.567\"\n" PERFMON ",\"12.345\"\n",
         "0: 1234.5;0: 1234.5;0: 1.23457e+06;0: 12345;", 0, ',', 0, 0, 0, PFB_OK},
        {COMMAS PERFMON ",\"1.23,5\"\n" PERFMON ",\"1234.567,5\"\n" PERFMON ",\".123\"\n" PERFMON
                        ",\"1,5.000\"\n" PERFMON ",\"1,5,5\"\n" PERFMON ",\"1.23\"\n" PERFMON ",\" \"\n",
         "0: -;0: -;0: -;0: -;0: -;0: -;0: -;", 0, ',', 6, 0, 0, PFB_OK},
        {COMMAS PERFMON ",\"1,234.5\"\n", "0: 1234.5;", 0, '.', 0, 0, 0, PFB_OK},
        {SEMICOLONS PERFMON ";1,5\n" PERFMON ";1.234,5\n", "0: 1.5;0: 1234.5;", 0, 0, 0, 0, 0, PFB_OK},
        {COMMAS PERFMON ",\"1,234,567\"\n" PERFMON ",\"1,234\"\n" PERFMON ",\"1,234.\"\n" PERFMON ",\"0,123.5\"\n",
         "0: 1.23457e+06;0: -;0: 1234;0: -;", 0, 0, 2, 0, 0, PFB_OK},
        {COMMAS PERFMON ",\"1.234.567\"\n" PERFMON ",\"1.234\"\n" PERFMON ",\"-1.234,5e1\"\n",
         "0: 1.23457e+06;0: -;0: -12345;", 0, 0, 1, 0, 0, PFB_OK},
        {COMMAS PERFMON ",\"1.234,5\"\n" PERFMON ",\"1,234.5\"\n", "", 0, 0, 0, 0, 0, PFB_AMBIGUOUS_NUMBERS},
        {COMMAS PERFMON ",\"1,234,5\"\n" PERFMON ",\"1,234,567e2\"\n" PERFMON ",\"1,23e4\"\n", "0: -;0: -;0: -;", 0,
         '.', 3, 0, 0, PFB_OK},
        {COMMAS PERFMON ",1'234'567\n" PERFMON ",\"12'345'678,5\"\n" PERFMON ",1'23\n" PERFMON ",1234'567\n" PERFMON
                        ",1'2345\n" PERFMON ",\"1'2.345\"\n" PERFMON ",'123\n" PERFMON ",1'234e1\n",
         "0: 1.23457e+06;0: 1.23457e+07;0: -;0: -;0: -;0: -;0: -;0: -;", 0, 0, 6, 0, 0, PFB_OK},
        {SEMICOLONS PERFMON ";1'234\n" PERFMON ";0,123\n" PERFMON ";0.123\n", "0: 1234;0: 0.123;0: -;", 0, ',', 1, 0, 0,
         PFB_OK},
        {COMMAS "3/2/2000 10:00:00,\"1.234,5\"\n3/2/2000 10:00:00,1\n3/2/2000 10:00:00,2\n",
         "2887200: 1234.5;2887200: 1;2887200: 2;", PFB_DATE_DMY, ',', 0, 0, 0, PFB_OK},
        /* lines and headers */
        {"\n" COMMAS PERFMON ",1.5\n", "0: 1.5;", 0, 0, 0, 0, 0, PFB_OK},
        {"\r\n" COMMAS PERFMON ",1.5\n", "0: 1.5;", 0, 0, 0, 0, 0, PFB_OK},
        {"sep=;\n" SEMICOLONS PERFMON ";1,5\n", "0: 1.5;", 0, 0, 0, 0, 0, PFB_OK},
        {"(PDH-CSV 4.0);a\n" PERFMON ";1,5\n", "0: 1.5;", 0, 0, 0, 0, 0, PFB_OK},
        {"\"(PDH-CSV 4.0) (A;B)(0)\",\"a\"\n" PERFMON ",1.5\n", "0: 1.5;", 0, 0, 0, 0, 0, PFB_OK},
        {"(PDH-CSV 4.0) (A;B)(0),a\n" PERFMON ",1.5\n", "0: 1.5;", 0, 0, 0, 0, 0, PFB_OK},
        {COMMAS PERFMON ",1.5\n\"(PDH-CSV 4.0)\",\"b\",\"c\"\n" PERFMON ",1,2\n(PDH-TSV 4.0)\n(\n\"\n\"(\n(PDH\n",
         "0: 1.5;header 2;0: 1 2;header 0;", 0, 0, 0, 4, 0, PFB_OK},
        {COMMAS PERFMON ",1.5\n\"(PDH-CSV 5.0)\",\"b\"\n", "0: 1.5;", 0, 0, 0, 0, 0, PFB_UNKNOWN_FORMAT},
        {COMMAS PERFMON ",1.5\n\"(X)(60)\",\"b\",\"c\"\n" PERFMON ",1,2\n(X)(60)\n(X)(y),b\n",
         "0: 1.5;header 2;0: 1 2;", 0, 0, 0, 2, 0, PFB_OK},
        {COMMAS PERFMON ",1.5\n(X)(60);b;c\n" PERFMON ";1;2\n", "0: 1.5;header 2;0: 1 2;", 0, 0, 0, 0, 0, PFB_OK},
        /* headers that follow a row in the same line */
        {COMMAS PERFMON ",1.5\n01/01/2000 0\"(PDH-CSV 4.0)\",\"b\",\"c\"\n" PERFMON ",1,2\n", "0: 1.5;header 2;0: 1 2;",
         0, 0, 0, 1, 0, PFB_OK},
        {COMMAS PERFMON ",1.5\n" PERFMON ",2(PDH-TSV 4.0)\tb\tc\n" PERFMON "\t1\t2\n", "0: 1.5;header 2;0: 1 2;", 0, 0,
         0, 1, 0, PFB_OK},
        {COMMAS PERFMON ",1.5\n" PERFMON ",2(PDH-CSV 5.0),b\n" PERFMON ",1\n", "0: 1.5;", 0, 0, 0, 1, 0,
         PFB_UNKNOWN_FORMAT},
        {"(PDH-CSV 4.0),a,b\n\"" PERFMON "\",\"1.5\",\"2\"\n\"" PERFMON
         "\",\"5\"\"(PDH-CSV 4.0)\",\"\\\\A\\B\"\n\"" PERFMON "\",\"1\"\n",
         "0: 1.5 2;header 1;0: 1;", 0, 0, 0, 1, 0, PFB_OK},
        {"(PDH-CSV 4.0),a,b\n" PERFMON ",1.5,\\A(\n", "0: 1.5 -;", 0, 0, 1, 0, 0, PFB_OK},
        {COMMAS PERFMON ",1.5\n" PERFMON ",1,5\n" PERFMON ",\"1\",5\n" PERFMON "\n", "0: 1.5;0: 1;0:;", 0, 0, 0, 1, 2,
         PFB_OK},
        {COMMAS PERFMON ",1,5\n", "", 0, 0, 0, 1, 0, PFB_NO_ROW},
        {"(PDH-CSV 4.0);a;; \n" PERFMON ";1,5;;\n" PERFMON ";2; ;\n" PERFMON ";3;;4\n" PERFMON "\n",
         "0: 1.5;0: 2;0: 3;0:;", 0, 0, 0, 0, 2, PFB_OK},
        {"(PDH-CSV 4.0),,a,,\n" PERFMON ",,1.5,,\n" PERFMON ",1,2,,\n", "0: - 1.5;0: 1 2;", 0, 0, 0, 0, 0, PFB_OK},
        {"(PDH-CSV 4.0),a\r" PERFMON ",1.5\r", "", 0, 0, 0, 0, 0, PFB_NO_ROW},
        {"(PDH-CSV 4.0),a\rb\n" PERFMON ",1.5\n", "0: 1.5;", 0, 0, 0, 0, 0, PFB_OK},
        {COMMAS PERFMON ",1,5\nx,1\n" PERFMON ",1,5\n", "", 0, 0, 0, 3, 0, PFB_NO_ROW},
        {COMMAS "x,1\ny\n", "", 0, 0, 0, 2, 0, PFB_NO_ROW},
        {COMMAS "x,y\nz\n", "", 0, 0, 0, 2, 0, PFB_OK},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const pfb_read_options options = {.date_order = cases[i].dates, .decimal = cases[i].decimal};
        for (unsigned form = 0; form < 5; form++) { /* as it is; UTF-16 of both byte orders, with a mark or without */
            uint8_t data[FORM_BYTES];
            size_t size = strlen(cases[i].text);
            cr_assert_lt(size, sizeof data);
            memcpy(data, cases[i].text, size);
            if (form > 0)
                size = widen(cases[i].text, form % 2, form > 2, data);
            for (size_t window = 1; window <= 2 * size; window *= 2 * size) {
                pfb_pdh_text_reader text;
                result r = read_form(data, size, window, &options, &text);
                cr_expect_str_eq(r.rows, cases[i].rows, "form %u of %s: %s", form, cases[i].text, r.rows);
                cr_expect_eq(r.error.code, cases[i].code, "form %u of %s: %u", form, cases[i].text,
                             (unsigned)r.error.code);
                cr_expect(text.unreadable_cells == cases[i].unreadable && text.skipped_lines == cases[i].skipped &&
                              text.uneven_rows == cases[i].uneven,
                          "form %u of %s: %u, %u, %u", form, cases[i].text, (unsigned)text.unreadable_cells,
                          (unsigned)text.skipped_lines, (unsigned)text.uneven_rows);
            }
        }
    }
}

/* Byte order marks before later headers, and no-break spaces in times and numbers. */
Test(pdh_text, marks_and_spaces_of_unicode_are_read)
{
    static const char joined[] =
        COMMAS PERFMON ",1.5\n\xEF\xBB\xBF\"(PDH-CSV 4.0)\",\"b\",\"c\"\n" PERFMON ",1,2\n\xEF\xBB\xBF\n";
    static const uint16_t wide[] = u"(PDH-CSV 4.0),a\n01/01/2000 00:00:00.000,1.5\n\uFEFF(PDH-CSV 4.0),b,c\n"
                                   u"01/01/2000 00:00:00.000,1,2\n\uFEFF\n";
    static const char halves[] = COMMAS "2/22/2000 10:00\xC2\xA0"
                                        "AM,1.5\n2/22/2000 10:00\xE2\x80\xAF"
                                        "AM,1\n"
                                        "2/22/2000 10:00 a.\xA0m.,1\n";
    static const uint16_t wide_halves[] = u"(PDH-CSV 4.0),a\n2/22/2000 10:00\u00A0AM,1.5\n"
                                          u"2/22/2000 10:00\u202FAM,1\n2/22/2000 10:00 a. m.,1\n";
    static const char groups[] = COMMAS PERFMON ",1\xA0"
                                                "234.5\n" PERFMON ",1\xC2\xA0"
                                                "234\xC2\xA0"
                                                "567\n" PERFMON ",1\xE2\x80\xAF"
                                                "234\n" PERFMON ",1\xE2\x80\x89"
                                                "234\n" PERFMON ",1\x92"
                                                "234\n" PERFMON ",1\xE2\x80\x99"
                                                "234\n" PERFMON ",1\xE2\x80\x80"
                                                "234\n" PERFMON ",1\xA0"
                                                "234'567\n";
    static const uint16_t wide_groups[] =
        u"(PDH-CSV 4.0),a\n01/01/2000 00:00:00.000,1\u00A0234.5\n01/01/2000 00:00:00.000,1\u00A0234\u00A0567\n"
        u"01/01/2000 00:00:00.000,1\u202F234\n01/01/2000 00:00:00.000,1\u2009234\n01/01/2000 00:00:00.000,1'234\n"
        u"01/01/2000 00:00:00.000,1\u2019234\n01/01/2000 00:00:00.000,1\u2000234\n"
        u"01/01/2000 00:00:00.000,1\u00A0234'567\n";
    static const char numbers[] = "0: 1234.5;0: 1.23457e+06;0: 1234;0: 1234;0: 1234;0: 1234;0: -;0: -;";
    static const char parts[] = "0: 1.5;header 2;0: 1 2;";
    static const char times[] = "4528800: 1.5;4528800: 1;4528800: 1;";
    const struct {
        const void *text;
        size_t size;
        const char *rows;
        unsigned skipped;
    } cases[] = {{joined, sizeof joined - 1, parts, 1},   {wide, sizeof wide - 2, parts, 1},
                 {groups, sizeof groups - 1, numbers, 0}, {wide_groups, sizeof wide_groups - 2, numbers, 0},
                 {halves, sizeof halves - 1, times, 0},   {wide_halves, sizeof wide_halves - 2, times, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        pfb_pdh_text_reader text;
        result r = read_form(cases[i].text, cases[i].size, cases[i].size, NULL, &text);
        cr_expect_str_eq(r.rows, cases[i].rows, "%zu: %s", i, r.rows);
        cr_expect(r.error.code == PFB_OK && text.skipped_lines == cases[i].skipped, "%zu", i);
    }
}

/* Splits the paths of a header as machine|object|instance|counter, each after a space; "!" is no path. */
static void split_header(const uint8_t *data, size_t size, char *to, size_t capacity)
{
    pfb_pdh_text_reader text;
    pfb_pdh_text_path column;
    pfb_path path;
    cr_assert(pfb_pdh_text_open(&text, data, size, true, NULL));
    size_t used = (size_t)snprintf(to, capacity, "%s", text.has_bare_machine ? "bare" : "");
    while (pfb_pdh_text_next_path(&text, &column)) {
        bool is_path = pfb_pdh_text_split_path(&text, &column.name, &path);
        const pfb_name *parts[] = {&path.machine, &path.counterset, &path.instance, &path.counter};
        used += (size_t)snprintf(to + used, capacity - used, "%s", is_path ? "" : " !");
        for (size_t i = 0; i < 4 && is_path; i++) {
            char part[64] = "";
            if (parts[i]->bytes)
                pfb_name_to_utf8(parts[i], part, sizeof part);
            used += (size_t)snprintf(to + used, capacity - used, "%c%s", i == 0 ? ' ' : '|', part);
        }
    }
}

/* A machine with one backslash before it is one if all paths of the header agree. */
Test(pdh_text, machines_may_have_one_backslash)
{
    static const struct {
        const char *text, *expected;
    } rows[] = {
        {"(PDH-CSV 4.0),\\PC\\Memory\\Pages,\\PC\\Process(a)\\ID\n", "bare PC|Memory||Pages PC|Process|a|ID"},
        {"(PDH-CSV 4.0),\\PC\\Memory\\Pages,\\PD\\Process(a)\\ID\n", " |Memory|| |PC||"},
        {"(PDH-CSV 4.0),\\PC\\Memory\\Pages,\\PCX\\A\\B,\\PC\\A\\B\n", ""},
        {"(PDH-CSV 4.0),\\\\PC\\Memory\\Pages\n", " PC|Memory||Pages"},
        {"(PDH-CSV 4.0),\\Memory\\Pages\n", " |Memory||Pages"},
        {"(PDH-CSV 4.0),\\PC\\Memory\\\n", ""},
        {"(PDH-CSV 4.0),\\PC\\Process(a\\b)\\ID\n", "bare PC|Process|a\\b|ID"},
        {"(PDH-CSV 4.0),\\PC\\A\\B\\C\n", "bare PC|A||B\\C"},
        {"(PDH-CSV 4.0),\\PC\\A)b\\C\n", "bare PC|A)b||C"},
        {"(PDH-CSV 4.0),a,\\PC\\A\\B\n", ""},
        {"(PDH-CSV 4.0),\\PC\\A\\B,x\n", ""},
        {"(PDH-CSV 4.0),\\P(C)\\A\\B\n", ""},
        {"(PDH-CSV 4.0),\\PC\\\\A\n", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (unsigned form = 0; form < 3; form++) {
            uint8_t data[FORM_BYTES];
            char found[256];
            size_t size = strlen(rows[i].text);
            memcpy(data, rows[i].text, size);
            if (form > 0)
                size = widen(rows[i].text, form == 2, true, data);
            split_header(data, size, found, sizeof found);
            bool is_bare = strncmp(rows[i].expected, "bare", 4) == 0;
            cr_expect_eq(strncmp(found, "bare", 4) == 0, is_bare, "form %u of row %zu: %s", form, i, found);
            if (is_bare && form < 2) /* paths in UTF-16 of the other byte order are not split */
                cr_expect_str_eq(found, rows[i].expected, "form %u of row %zu: %s", form, i, found);
        }
    }
    pfb_pdh_text_reader text;
    pfb_path path;
    const char header[] = "(PDH-CSV 4.0),\\PC\\A\\B\n";
    cr_assert(pfb_pdh_text_open(&text, header, sizeof header - 1, true, NULL));
    const pfb_name no_path = {(const uint8_t *)"x", 1, PFB_ENCODING_UTF8};
    cr_expect(text.has_bare_machine && !pfb_pdh_text_split_path(&text, &no_path, &path));
}

/* The rows of the first MiB show the form. */
Test(pdh_text, rows_after_the_first_mib_do_not_change_the_form)
{
    static const char header[] = SEMICOLONS;
    static const char row[] = PERFMON ";5\n";
    static const char last[] = PERFMON ";1.5\n";
    enum { ROWS = (1 << 20) / (sizeof row - 1) + 1 };
    const size_t size = sizeof header + ROWS * (sizeof row - 1) + sizeof last;
    char *content = malloc(size);
    cr_assert_not_null(content);
    char *at = content + snprintf(content, size, "%s", header);
    for (size_t i = 0; i < ROWS; i++, at += sizeof row - 1)
        memcpy(at, row, sizeof row - 1);
    memcpy(at, last, sizeof last - 1);
    const size_t used = (size_t)(at - content) + sizeof last - 1;
    for (int is_last = 0; is_last <= 1; is_last++) {
        pfb_pdh_text_reader text;
        cr_expect(pfb_pdh_text_open(&text, content, used, is_last, NULL));
        cr_expect(text.is_form_certain && text.decimal == ',');
    }
    free(content);
}

/* Two bytes before a header that are no byte order mark, and do not show UTF-16 either. */
Test(pdh_text, other_first_bytes_are_no_encoding)
{
    static const uint8_t firsts[][2] = {{0xFF, '('}, {0xFE, '('}, {0, 'x'}, {'x', 0}, {0xFF, 0xFF}};
    for (size_t i = 0; i < sizeof firsts / sizeof firsts[0]; i++) {
        char text[] = "--(PDH-CSV 4.0)";
        memcpy(text, firsts[i], sizeof firsts[i]);
        cr_expect_not(pfb_pdh_text_recognise(text, sizeof text - 1), "row %zu", i);
    }
}
