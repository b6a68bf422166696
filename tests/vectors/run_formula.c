/* SPDX-License-Identifier: MIT */
/* Runs formula vectors. Usage: run_formula FILE.csv..., where - is the standard input. A plain program without a test
 * framework, so that it runs on any CPU, under emulation and on boards.
 *
 * Closes with "N passed, M failed"; exit status 1 after a failure, or when there was nothing to run. A row that cannot
 * be read is a failure. The columns, of which those up to `within` never hold a comma or a quotation mark:
 *
 *   id, mode                 mode: empty, or wrap32
 *   type, value ... object_freq             the newer sample; an empty cell is an absent input
 *   older_type ... older_object_freq        the older sample; without a type there is none
 *   status, flags, unit      as the library names them; flags apart by a blank, in alphabetical order
 *   bits                     the double as 16 hexadecimal digits, when the status is ok
 *   exact                    the value as an integer or a fraction; `bits` is that, rounded once
 *   published, within        a figure printed elsewhere, and how far from it the value may be
 *   source, note             where the case comes from; not read */
#include "perfblock/formula.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INPUT_COUNT = 8 };

/* Positions of the columns. */
enum {
    COLUMN_ID,
    COLUMN_MODE,
    COLUMN_NEWER,
    COLUMN_OLDER = COLUMN_NEWER + 1 + INPUT_COUNT,
    COLUMN_STATUS = COLUMN_OLDER + 1 + INPUT_COUNT,
    COLUMN_FLAGS,
    COLUMN_UNIT,
    COLUMN_BITS,
    COLUMN_EXACT,
    COLUMN_PUBLISHED,
    COLUMN_WITHIN,
    COLUMN_COUNT
};

static const char first_columns[] = "id,mode,type,value,base,multi,perf_time,";

/* ---- Cells --------------------------------------------------------------------------------------------- */

/* Splits a line at its commas; cells hold the first columns. False when there are too few. */
static bool split(char *line, char *cells[COLUMN_COUNT])
{
    for (int i = 0; i < COLUMN_COUNT; i++) {
        cells[i] = line;
        line += strcspn(line, ",\r\n");
        if (*line == '\0')
            return false;
        *line++ = '\0';
    }
    return true;
}

static bool read_unsigned(const char *text, uint64_t *number)
{
    char *end;
    errno = 0;
    *number = strtoull(text, &end, 0);
    return end != text && *end == '\0' && errno == 0 && text[0] != '-';
}

static bool read_signed(const char *text, int64_t *number)
{
    char *end;
    errno = 0;
    *number = strtoll(text, &end, 10);
    return end != text && *end == '\0' && errno == 0;
}

/* A sample from its type and eight inputs; an absent one leaves its bit unset, and garbage in its place. */
static bool read_sample(char *const cells[1 + INPUT_COUNT], pfb_sample *sample)
{
    uint64_t type;
    uint64_t raw[3] = {UINT64_C(0xDEADBEEFDEADBEEF), UINT64_C(0xDEADBEEFDEADBEEF), UINT64_C(0xDEADBEEFDEADBEEF)};
    int64_t clock[5] = {-77, -77, -77, -77, -77};
    if (!read_unsigned(cells[0], &type) || type > UINT32_MAX)
        return false;
    *sample = (pfb_sample){.type = (uint32_t)type};
    for (unsigned i = 0; i < INPUT_COUNT; i++) {
        const char *cell = cells[1 + i];
        if (*cell == '\0')
            continue;
        if (i < 3 ? !read_unsigned(cell, &raw[i]) : !read_signed(cell, &clock[i - 3]))
            return false;
        sample->has |= UINT32_C(1) << i; /* PFB_HAS_ bits, in the order of the columns */
    }
    sample->value = raw[0];
    sample->base = raw[1];
    sample->multi = raw[2];
    sample->perf_time = clock[0];
    sample->perf_time_100ns = clock[1];
    sample->object_time = clock[2];
    sample->perf_freq = clock[3];
    sample->object_freq = clock[4];
    return true;
}

/* ---- Comparison ---------------------------------------------------------------------------------------- */

static void name_flags(uint32_t flags, char text[64])
{
    static const uint32_t in_order[] = {PFB_FLAG_ABOVE_100, PFB_FLAG_BELOW_ZERO, PFB_FLAG_WRAPPED};
    size_t length = 0;
    text[0] = '\0';
    for (size_t i = 0; i < sizeof in_order / sizeof in_order[0]; i++) {
        if (flags & in_order[i])
            length +=
                (size_t)snprintf(text + length, 64 - length, "%s%s", length > 0 ? " " : "", pfb_flag_name(in_order[i]));
    }
}

/* The integer result against the exact one: equal when that is an integer of 64 bits, absent when it is not. */
static bool is_same_integer(const pfb_formula_result *result, const char *exact)
{
    uint64_t integer;
    bool is_integer = read_unsigned(exact, &integer);
    return result->is_integer == is_integer && result->integer == (is_integer ? integer : 0);
}

static bool is_near(double value, const char *published, const char *within)
{
    double difference = value - strtod(published, NULL);
    double bound = strtod(within, NULL);
    return difference <= bound && -difference <= bound;
}

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* What is wrong with the result, or null. */
static const char *judge(const pfb_formula_result *result, char *const cells[COLUMN_COUNT])
{
    char flags[64];
    char bits[24];
    bool ok = result->status == PFB_STATUS_OK;
    name_flags(result->flags, flags);
    snprintf(bits, sizeof bits, "%016" PRIX64, bits_of(result->value));
    if (strcmp(pfb_status_name(result->status), cells[COLUMN_STATUS]) != 0)
        return "status";
    if (strcmp(flags, cells[COLUMN_FLAGS]) != 0)
        return "flags";
    if (strcmp(pfb_unit_text(result->unit), cells[COLUMN_UNIT]) != 0)
        return "unit";
    if (strcmp(ok ? bits : "", cells[COLUMN_BITS]) != 0)
        return "bits";
    if (!ok && bits_of(result->value) != 0)
        return "value without status ok";
    if (!is_same_integer(result, cells[COLUMN_EXACT]))
        return "integer";
    if (cells[COLUMN_PUBLISHED][0] && !is_near(result->value, cells[COLUMN_PUBLISHED], cells[COLUMN_WITHIN]))
        return "published value";
    return NULL;
}

/* ---- Rows ---------------------------------------------------------------------------------------------- */

typedef struct tally {
    unsigned long passed, failed;
} tally;

static void fail(tally *count, const char *id, const char *what)
{
    printf("%s: %s\n", id, what);
    count->failed++;
}

static void run_row(char *line, tally *count)
{
    char *cells[COLUMN_COUNT];
    pfb_sample newer;
    pfb_sample older;
    if (!split(line, cells)) {
        fail(count, "a row", "has too few columns");
        return;
    }
    bool two = cells[COLUMN_OLDER][0] != '\0';
    bool wrap = strcmp(cells[COLUMN_MODE], "wrap32") == 0;
    if (!read_sample(cells + COLUMN_NEWER, &newer) || (two && !read_sample(cells + COLUMN_OLDER, &older)) ||
        (!wrap && cells[COLUMN_MODE][0] != '\0')) {
        fail(count, cells[COLUMN_ID], "cannot be read");
        return;
    }
    pfb_formula_options options = {.wrap32 = wrap};
    pfb_formula_result result = pfb_formula_evaluate(two ? &older : NULL, &newer, &options);
    const char *wrong = judge(&result, cells);
    if (!wrong) {
        count->passed++;
        return;
    }
    fail(count, cells[COLUMN_ID], wrong);
    printf("    got %s %016" PRIX64 " (%.17g), expected %s %s (%s)\n", pfb_status_name(result.status),
           bits_of(result.value), result.value, cells[COLUMN_STATUS], cells[COLUMN_BITS], cells[COLUMN_EXACT]);
}

static void run_file(FILE *file, const char *path, tally *count)
{
    char line[4096];
    if (!fgets(line, sizeof line, file) || strncmp(line, first_columns, sizeof first_columns - 1) != 0) {
        fail(count, path, "does not begin with the names of the columns");
        return;
    }
    while (fgets(line, sizeof line, file)) {
        if (!strchr(line, '\n'))
            fail(count, path, "has a line too long, or without end");
        else
            run_row(line, count);
    }
    if (ferror(file))
        fail(count, path, "cannot be read");
}

int main(int argc, char **argv)
{
    tally count = {0, 0};
    for (int i = 1; i < argc; i++) {
        bool standard = strcmp(argv[i], "-") == 0;
        FILE *file = standard ? stdin : fopen(argv[i], "rb");
        if (!file) {
            fail(&count, argv[i], "cannot be opened");
            continue;
        }
        unsigned long before = count.passed + count.failed;
        run_file(file, argv[i], &count);
        if (count.passed + count.failed == before)
            fail(&count, argv[i], "has no rows");
        if (!standard)
            fclose(file);
    }
    printf("%lu passed, %lu failed\n", count.passed, count.failed);
    return count.passed == 0 || count.failed > 0;
}
