/* SPDX-License-Identifier: MIT */
/* The table of counter types, and the parts of a type. */
#include <criterion/criterion.h>

#include "support.h"
#include "support_formula.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The list of winperf.h with the parts of each formula, written from the description of the types and not from the
 * table under test. */
typedef struct expected_row {
    uint32_t value;
    const char *name;
    pfb_raw_size raw_size;
    int samples;
    pfb_clock clock;
    pfb_denominator denominator;
    pfb_unit unit;
    uint32_t base;
    const char *formula;
} expected_row;

#define DWORD PFB_RAW_DWORD
#define LARGE PFB_RAW_LARGE
#define NO_CLOCK PFB_CLOCK_NONE
#define PERF PFB_CLOCK_PERF
#define NS100 PFB_CLOCK_100NS
#define OBJECT PFB_CLOCK_OBJECT
#define ONE PFB_DENOMINATOR_ONE
#define TIME PFB_DENOMINATOR_TIME
#define BASE PFB_DENOMINATOR_BASE
#define BASE_DELTA PFB_DENOMINATOR_BASE_DELTA
#define NONE PFB_UNIT_NONE
#define RATE PFB_UNIT_PER_SECOND
#define PERCENT PFB_UNIT_PERCENT
#define SECONDS PFB_UNIT_SECONDS

/* clang-format off */
static const expected_row list[] = {
    {0x00000000, "PERF_COUNTER_RAWCOUNT_HEX", DWORD, 1, NO_CLOCK, ONE, NONE, 0, "N"},
    {0x00000100, "PERF_COUNTER_LARGE_RAWCOUNT_HEX", LARGE, 1, NO_CLOCK, ONE, NONE, 0, "N"},
    {0x00000B00, "PERF_COUNTER_TEXT", PFB_RAW_VARIABLE, 0, NO_CLOCK, ONE, NONE, 0, "-"},
    {0x00010000, "PERF_COUNTER_RAWCOUNT", DWORD, 1, NO_CLOCK, ONE, NONE, 0, "N"},
    {0x00010100, "PERF_COUNTER_LARGE_RAWCOUNT", LARGE, 1, NO_CLOCK, ONE, NONE, 0, "N"},
    {0x00400400, "PERF_COUNTER_DELTA", DWORD, 2, NO_CLOCK, ONE, NONE, 0, "dN"},
    {0x00400500, "PERF_COUNTER_LARGE_DELTA", LARGE, 2, NO_CLOCK, ONE, NONE, 0, "dN"},
    {0x00410400, "PERF_SAMPLE_COUNTER", DWORD, 2, PERF, TIME, NONE, 0, "dN / (dT / F)"},
    {0x00450400, "PERF_COUNTER_QUEUELEN_TYPE", DWORD, 2, PERF, TIME, NONE, 0, "dN / dT"},
    {0x00450500, "PERF_COUNTER_LARGE_QUEUELEN_TYPE", LARGE, 2, PERF, TIME, NONE, 0, "dN / dT"},
    {0x00550500, "PERF_COUNTER_100NS_QUEUELEN_TYPE", LARGE, 2, NS100, TIME, NONE, 0, "dN / dT"},
    {0x00650500, "PERF_COUNTER_OBJ_TIME_QUEUELEN_TYPE", LARGE, 2, OBJECT, TIME, NONE, 0, "dN / dT"},
    {0x10410400, "PERF_COUNTER_COUNTER", DWORD, 2, PERF, TIME, RATE, 0, "dN / (dT / F)"},
    {0x10410500, "PERF_COUNTER_BULK_COUNT", LARGE, 2, PERF, TIME, RATE, 0, "dN / (dT / F)"},
    {0x20020400, "PERF_RAW_FRACTION", DWORD, 1, NO_CLOCK, BASE, PERCENT, 0x40030403, "100 N / B"},
    {0x20020500, "PERF_LARGE_RAW_FRACTION", LARGE, 1, NO_CLOCK, BASE, PERCENT, 0x40030500, "100 N / B"},
    {0x20410500, "PERF_COUNTER_TIMER", LARGE, 2, PERF, TIME, PERCENT, 0, "100 dN / dT"},
    {0x20470500, "PERF_PRECISION_SYSTEM_TIMER", LARGE, 2, NO_CLOCK, BASE_DELTA, PERCENT, 0x40030500, "100 dN / dB"},
    {0x20510500, "PERF_100NSEC_TIMER", LARGE, 2, NS100, TIME, PERCENT, 0, "100 dN / dT"},
    {0x20570500, "PERF_PRECISION_100NS_TIMER", LARGE, 2, NO_CLOCK, BASE_DELTA, PERCENT, 0x40030500, "100 dN / dB"},
    {0x20610500, "PERF_OBJ_TIME_TIMER", LARGE, 2, OBJECT, TIME, PERCENT, 0, "100 dN / dT"},
    {0x20670500, "PERF_PRECISION_OBJECT_TIMER", LARGE, 2, OBJECT, BASE_DELTA, PERCENT, 0x40030500, "100 dN / dB"},
    {0x20C20400, "PERF_SAMPLE_FRACTION", DWORD, 2, NO_CLOCK, BASE_DELTA, PERCENT, 0x40030401, "100 dN / dB"},
    {0x21410500, "PERF_COUNTER_TIMER_INV", LARGE, 2, PERF, TIME, PERCENT, 0, "100 (1 - dN / dT)"},
    {0x21510500, "PERF_100NSEC_TIMER_INV", LARGE, 2, NS100, TIME, PERCENT, 0, "100 (1 - dN / dT)"},
    {0x22410500, "PERF_COUNTER_MULTI_TIMER", LARGE, 2, PERF, TIME, PERCENT, 0x42030500, "100 (dN / (dT / F)) / M"},
    {0x22510500, "PERF_100NSEC_MULTI_TIMER", LARGE, 2, NS100, TIME, PERCENT, 0x42030500, "100 (dN / dT) / M"},
    {0x23410500, "PERF_COUNTER_MULTI_TIMER_INV", LARGE, 2, PERF, TIME, PERCENT, 0x42030500, "100 (M - dN / dT)"},
    {0x23510500, "PERF_100NSEC_MULTI_TIMER_INV", LARGE, 2, NS100, TIME, PERCENT, 0x42030500, "100 (M - dN / dT)"},
    {0x30020400, "PERF_AVERAGE_TIMER", DWORD, 2, PERF, BASE_DELTA, SECONDS, 0x40030402, "(dN / F) / dB"},
    {0x30240500, "PERF_ELAPSED_TIME", LARGE, 1, OBJECT, ONE, SECONDS, 0, "(T - N) / F"},
    {0x40000200, "PERF_COUNTER_NODATA", PFB_RAW_ZERO, 0, NO_CLOCK, ONE, NONE, 0, "-"},
    {0x40020500, "PERF_AVERAGE_BULK", LARGE, 2, NO_CLOCK, BASE_DELTA, NONE, 0x40030402, "dN / dB"},
    {0x40030401, "PERF_SAMPLE_BASE", DWORD, 0, NO_CLOCK, ONE, NONE, 0, "-"},
    {0x40030402, "PERF_AVERAGE_BASE", DWORD, 0, NO_CLOCK, ONE, NONE, 0, "-"},
    {0x40030403, "PERF_RAW_BASE", DWORD, 0, NO_CLOCK, ONE, NONE, 0, "-"},
    {0x40030500, "PERF_LARGE_RAW_BASE", LARGE, 0, NO_CLOCK, ONE, NONE, 0, "-"},
    {0x42030500, "PERF_COUNTER_MULTI_BASE", LARGE, 0, NO_CLOCK, ONE, NONE, 0, "-"},
    {0x80000000, "PERF_COUNTER_HISTOGRAM_TYPE", DWORD, 0, NO_CLOCK, ONE, NONE, 0, "-"},
};
/* clang-format on */

enum { LIST_COUNT = sizeof list / sizeof list[0] };

/* A field of a type's value. */
static unsigned bits(uint32_t value, int lowest, unsigned mask)
{
    return value >> lowest & mask;
}

static bool is_counter(uint32_t value)
{
    return bits(value, 10, 3) == 1;
}

static unsigned subtype(uint32_t value)
{
    return bits(value, 16, 15);
}

/* ---- The table ----------------------------------------------------------------------------------------- */

Test(counter_type, there_are_39_rows)
{
    cr_assert_eq(LIST_COUNT, 39);
    cr_assert_eq(type_count(), 39);
    cr_assert_not_null(pfb_counter_type_at(38));
    cr_assert_null(pfb_counter_type_at(39));
    cr_assert_null(pfb_counter_type_at(SIZE_MAX));
}

Test(counter_type, every_row_is_as_listed)
{
    for (size_t i = 0; i < LIST_COUNT; i++) {
        const expected_row *e = &list[i];
        const pfb_counter_type *row = pfb_counter_type_find(e->value);
        cr_assert_not_null(row, "%s", e->name);
        cr_expect_eq(row->value, e->value, "%s", e->name);
        cr_expect_str_eq(row->name, e->name);
        cr_expect_str_eq(row->formula, e->formula, "%s", e->name);
        cr_expect_eq(row->raw_size, (int)e->raw_size, "%s", e->name);
        cr_expect_eq(row->samples, e->samples, "%s", e->name);
        cr_expect_eq(row->clock, (int)e->clock, "%s", e->name);
        cr_expect_eq(row->denominator, (int)e->denominator, "%s", e->name);
        cr_expect_eq(row->unit, (int)e->unit, "%s", e->name);
        cr_expect_eq(row->base, e->base, "%s", e->name);
        cr_expect_eq(pfb_counter_type_named(e->name, strlen(e->name)), row, "%s", e->name);
    }
}

Test(counter_type, rows_ascend_by_value_and_can_be_found)
{
    for (size_t i = 0; i < type_count(); i++) {
        const pfb_counter_type *row = pfb_counter_type_at(i);
        cr_expect(i == 0 || row->value > pfb_counter_type_at(i - 1)->value, "row %zu", i);
        cr_expect_eq(pfb_counter_type_find(row->value), row);
        cr_expect_not_null(memchr(row->name, '\0', sizeof row->name));
        cr_expect_not_null(memchr(row->formula, '\0', sizeof row->formula));
        for (size_t k = 0; k < i; k++)
            cr_expect_str_neq(row->name, pfb_counter_type_at(k)->name);
    }
}

Test(counter_type, values_that_differ_in_one_bit_are_unknown)
{
    for (size_t i = 0; i < LIST_COUNT; i++) {
        for (int bit = 0; bit < 32; bit++) {
            uint32_t value = list[i].value ^ UINT32_C(1) << bit;
            bool named = value == 0x40030503;
            for (size_t k = 0; k < LIST_COUNT; k++)
                named = named || list[k].value == value;
            cr_expect_eq(pfb_counter_type_find(value) != NULL, named, "0x%08X", value);
        }
    }
    cr_expect_null(pfb_counter_type_find(UINT32_MAX));
    cr_expect_null(pfb_counter_type_find(0x00012000), "PERF_DOUBLE_RAW does not occur in binary data");
}

Test(counter_type, the_alias_of_large_raw_base_is_found_by_name_and_value)
{
    const pfb_counter_type *base = pfb_counter_type_find(0x40030500);
    cr_assert_not_null(base);
    cr_expect_eq(pfb_counter_type_named("PERF_PRECISION_TIMESTAMP", 24), base);
    cr_expect_eq(pfb_counter_type_find(0x40030503), base);
    cr_expect_eq(base->value, 0x40030500, "the row found by the alias has the value of PERF_LARGE_RAW_BASE");
}

Test(counter_type, names_are_matched_whole)
{
    static const char *const wrong[] = {"",
                                        "PERF_COUNTER_COUNTE",
                                        "PERF_COUNTER_COUNTERS",
                                        "perf_counter_counter",
                                        " PERF_COUNTER_COUNTER",
                                        "PERF_COUNTER_COUNTER ",
                                        "PERF_PRECISION_TIMESTAM",
                                        "PERF_PRECISION_TIMESTAMPS",
                                        "PERF_COUNTER_OBJ_TIME_QUEUELEN_TYPE_AND_MORE_THAN_A_ROW_HOLDS"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        cr_expect_null(pfb_counter_type_named(wrong[i], strlen(wrong[i])), "%s", wrong[i]);
    cr_expect_not_null(pfb_counter_type_named("PERF_COUNTER_COUNTER and more", 20),
                       "only the first `size` bytes are compared");
    cr_expect_null(pfb_counter_type_named("PERF_COUNTER_COUNTER\0", 21),
                   "a NUL within `size` bytes is part of the name");
    char *exact = malloc(20); /* a sanitizer detects reads past the end */
    cr_assert_not_null(exact);
    memcpy(exact, "PERF_COUNTER_COUNTER", 20);
    cr_expect_not_null(pfb_counter_type_named(exact, 20));
    free(exact);
}

Test(counter_type, units_have_a_text)
{
    cr_expect_str_eq(pfb_unit_text(PFB_UNIT_NONE), "");
    cr_expect_str_eq(pfb_unit_text(PFB_UNIT_PER_SECOND), "/sec");
    cr_expect_str_eq(pfb_unit_text(PFB_UNIT_PERCENT), "%");
    cr_expect_str_eq(pfb_unit_text(PFB_UNIT_SECONDS), "sec");
    cr_expect_str_eq(pfb_unit_text((pfb_unit)4), "");
    cr_expect_str_eq(pfb_unit_text((pfb_unit)1000), "");
}

/* ---- Bases ------------------------------------------------------------------------------------------------- */

/* A base has the width of its counter, except for AVERAGE_BULK: 64 bits with a 32-bit base. */
Test(counter_type, bases_are_base_types)
{
    for (size_t i = 0; i < type_count(); i++) {
        const pfb_counter_type *row = pfb_counter_type_at(i);
        cr_expect_eq(pfb_counter_type_is_base(row->value), is_counter(row->value) && subtype(row->value) == 3, "%s",
                     row->name);
        if (row->base == 0)
            continue;
        const pfb_counter_type *base = pfb_counter_type_find(row->base);
        cr_assert_not_null(base, "%s", row->name);
        cr_expect(pfb_counter_type_is_base(base->value), "%s", row->name);
        if (row->value != AVERAGE_BULK)
            cr_expect_eq(base->raw_size, row->raw_size, "%s", row->name);
    }
}

Test(counter_type, precision_types_are_not_bases)
{
    cr_expect(!pfb_counter_type_is_base(0x20470500));
    cr_expect(!pfb_counter_type_is_base(0x20570500));
    cr_expect(!pfb_counter_type_is_base(0x20670500));
    cr_expect(!pfb_counter_type_is_base(0x40020500), "a fraction is not a base");
    cr_expect(pfb_counter_type_is_base(0x40030503), "the alias of PERF_LARGE_RAW_BASE is a base");
    cr_expect(!pfb_counter_type_is_base(0x00030000), "subtype 3 of a number is not BASE");
    cr_expect(!pfb_counter_type_is_base(0x00030800));
}

/* ---- Types derived from their bits --------------------------------------------------------------------- */

Test(counter_type, well_formed_counters_are_derived)
{
    static const struct {
        uint32_t value;
        bool derived;
        const char *why;
    } rows[] = {
        {0x00510500, true, "a 64-bit rate of the 100 ns clock without suffix"},
        {0x10510400, true, "a 32-bit rate of the 100 ns clock per second"},
        {0x20C20500, true, "a 64-bit sample fraction"},
        {0x00020000, false, "a number in thousandths"},
        {0x00010B00, false, "ASCII text"},
        {0x00000C00, false, "class ZERO"},
        {0x00460400, true, "a histogram of class COUNTER"},
        {0x02030400, true, "a multi base of 32 bits"},
        {0x40400400, true, "a difference that is not shown"},
        {0x00410401, false, "low reserved bits"},
        {0x00012000, false, "PERF_DOUBLE_RAW: bit 13 is reserved"},
        {0x04410400, false, "bit 26 is reserved"},
        {0x08410400, false, "bit 27 is reserved"},
        {0x00030000, false, "subtype 3 of a number"},
        {0x00080400, false, "subtype 8 of a counter"},
        {0x00020800, false, "subtype 2 of a text"},
        {0x00010C00, false, "a subtype of class ZERO"},
        {0x00710400, false, "timer 3"},
        {0x00110000, false, "a number with a timer"},
        {0x00100800, false, "a text with a timer"},
        {0x00C10400, false, "DELTA_BASE with a rate"},
        {0x00820000, false, "DELTA_BASE with a number"},
        {0x01420400, false, "INVERSE with a fraction"},
        {0x01010000, false, "INVERSE with a number"},
        {0x02420400, false, "MULTI with a fraction"},
        {0x02010000, false, "MULTI with a number"},
        {0x01030400, false, "INVERSE with a base"},
        {0x50410400, false, "display 5"},
        {0xF0410400, false, "display 15"},
        {0x80410400, false, "display 8"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        pfb_counter_type row;
        cr_expect_eq(pfb_counter_type_derive(rows[i].value, &row), rows[i].derived, "0x%08X: %s", rows[i].value,
                     rows[i].why);
        cr_expect_null(pfb_counter_type_find(rows[i].value), "0x%08X has no name", rows[i].value);
    }
}

/* If pfb_counter_type_derive accepts a named type, it gives its row without name, formula text and base, except for
 * types whose formula differs from what their bits mean. */
Test(counter_type, named_types_follow_their_bits)
{
    static const uint32_t others[] = {
        0x30020400, 0x40020500, 0x22410500}; /* the averages, and the multi timer, whose formula uses the frequency */
    size_t derived = 0;
    for (size_t i = 0; i < type_count(); i++) {
        const pfb_counter_type *named = pfb_counter_type_at(i);
        pfb_counter_type row = {.value = 1};
        if (!pfb_counter_type_derive(named->value, &row)) {
            cr_expect(named->terms == PFB_TERM_RAW || named->terms == 0, "%s", named->name);
            cr_expect_eq(row.value, 1, "a failed call does not change the row");
            continue;
        }
        derived++;
        bool same = row.value == named->value && row.raw_size == named->raw_size && row.samples == named->samples &&
                    row.clock == named->clock && row.denominator == named->denominator && row.unit == named->unit &&
                    row.terms == named->terms;
        bool other = named->value == others[0] || named->value == others[1] || named->value == others[2];
        cr_expect_eq(same, !other, "%s", named->name);
        cr_expect(row.name[0] == '\0' && row.formula[0] == '\0' && row.base == 0);
    }
    /* All except the four raw counts, text, no-data, the histogram, and the three bases with reserved bits. */
    cr_expect_eq(derived, 39 - 7 - 3);
}

/* ---- The documentation --------------------------------------------------------------------------------- */

/* Splits a row "| a | b |" into cells without surrounding blanks and back quotes; returns their number. */
static size_t split_row(char *line, char *cells[], size_t capacity)
{
    size_t count = 0;
    if (line[0] != '|')
        return 0;
    for (char *cell = strtok(line + 1, "|\n"); cell && count < capacity; cell = strtok(NULL, "|\n")) {
        while (*cell == ' ' || *cell == '`')
            cell++;
        size_t length = strlen(cell);
        while (length > 0 && (cell[length - 1] == ' ' || cell[length - 1] == '`'))
            cell[--length] = '\0';
        cells[count++] = cell;
    }
    return count;
}

static const char *or_dash(const char *text)
{
    return text[0] != '\0' ? text : "-";
}

static void check_page_row(char *const cells[8], const pfb_counter_type *row)
{
    static const char *const sizes[] = {"4", "8", "0", "any"};
    static const char *const clocks[] = {"-", "perf", "100ns", "object"};
    char samples[2] = {(char)('0' + row->samples), '\0'};
    const pfb_counter_type *base = row->base ? pfb_counter_type_find(row->base) : NULL;
    char value[16];
    snprintf(value, sizeof value, "0x%08X", row->value);
    cr_expect_str_eq(cells[0], value, "%s", row->name);
    cr_expect_str_eq(cells[1], row->name);
    cr_expect_str_eq(cells[2], sizes[row->raw_size], "%s", row->name);
    cr_expect_str_eq(cells[3], samples, "%s", row->name);
    cr_expect_str_eq(cells[4], clocks[row->clock], "%s", row->name);
    cr_expect_str_eq(cells[5], row->formula, "%s", row->name);
    cr_expect_str_eq(cells[6], or_dash(pfb_unit_text((pfb_unit)row->unit)), "%s", row->name);
    cr_expect_str_eq(cells[7], base ? base->name : "-", "%s", row->name);
}

Test(counter_type, the_documentation_has_the_same_table)
{
    FILE *page = fopen(PERFBLOCK_SOURCE_DIR "/docs/formula.md", "r");
    cr_assert(page != NULL, "docs/formula.md cannot be opened");
    size_t rows = 0;
    char line[512];
    while (fgets(line, sizeof line, page)) {
        char *cells[9];
        if (strncmp(line, "| `0x", 5) != 0)
            continue;
        cr_assert_eq(split_row(line, cells, 9), 8, "row %zu", rows);
        cr_assert_lt(rows, type_count());
        check_page_row(cells, pfb_counter_type_at(rows++));
    }
    fclose(page);
    cr_expect_eq(rows, type_count());
}
