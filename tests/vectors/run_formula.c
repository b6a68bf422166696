/* SPDX-License-Identifier: MIT */
/* Runs formula vectors. Usage: run_formula [--pdh] FILE.csv..., where - is the standard input. A plain program without
 * a test framework, so that it runs on any CPU, under emulation and on boards.
 *
 * With --pdh, it also prints the newer sample of each row in PDH's form: "pdh", the id, status, first and second value,
 * multi count and time base.
 *
 * The last line is "N passed, M failed". The exit status is 1 after a failure, or if there are no rows. A row that
 * cannot be read is a failure. The columns are those of `header` below, in that order; corpus/formula/README.md
 * describes them. Types are numbers here. No cell up to `within` contains a comma or a quotation mark. The columns
 * `why` and `source` may contain them and are not read. `expected_exact` and `expected_value` are not compared either,
 * because `expected_bits` is the same value as a double. */
#include "perfblock/formula.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INPUT_COUNT = 8, LARGEST_LINE = 4096 };

/* Positions of the columns. */
enum {
    COLUMN_ID,
    COLUMN_TYPE,
    COLUMN_MODE,
    COLUMN_OLDER_TYPE,
    COLUMN_OLDER, /* type of the base, then the inputs */
    COLUMN_NEWER = COLUMN_OLDER + 1 + INPUT_COUNT,
    COLUMN_STATUS = COLUMN_NEWER + 1 + INPUT_COUNT,
    COLUMN_FLAGS,
    COLUMN_UNIT,
    COLUMN_EXACT,
    COLUMN_VALUE,
    COLUMN_BITS,
    COLUMN_INTEGER,
    COLUMN_PUBLISHED,
    COLUMN_WITHIN,
    COLUMN_COUNT
};

static const char header[] =
    "id,type,mode,type0,base_type0,value0,base0,multi0,perf_time0,perf_time_100ns0,object_time0,perf_freq0,object_"
    "freq0,"
    "base_type1,value1,base1,multi1,perf_time1,perf_time_100ns1,object_time1,perf_freq1,object_freq1,"
    "expected_status,expected_flags,expected_unit,expected_exact,expected_value,expected_bits,expected_integer,"
    "published,within,why,source";

/* ---- Cells --------------------------------------------------------------------------------------------- */

/* Splits a line at its commas and stores the first columns in `cells`. Returns false if there are too few columns. */
static bool split(char *line, char *cells[COLUMN_COUNT])
{
    for (int i = 0; i < COLUMN_COUNT; i++) {
        cells[i] = line;
        while (*line != ',' && *line != '\0')
            line++;
        if (*line == '\0')
            return false;
        *line++ = '\0';
    }
    return true;
}

static bool read_unsigned(const char *text, int radix, uint64_t *number)
{
    char *end;
    errno = 0;
    *number = strtoull(text, &end, radix);
    return end != text && *end == '\0' && errno == 0 && text[0] != '-';
}

static bool read_signed(const char *text, int64_t *number)
{
    char *end;
    errno = 0;
    *number = strtoll(text, &end, 10);
    return end != text && *end == '\0' && errno == 0;
}

static bool read_type(const char *text, uint32_t *type)
{
    uint64_t number;
    bool fits = read_unsigned(text, 0, &number) && number <= UINT32_MAX;
    *type = fits ? (uint32_t)number : 0;
    return fits;
}

/* Reads a sample: the type of its base, then eight inputs. If a cell is empty, the bit of the input is not set, and the
 * input has an arbitrary value. */
static bool read_sample(char *const cells[1 + INPUT_COUNT], pfb_raw_value *sample)
{
    uint64_t raw[3] = {UINT64_C(0xDEADBEEFDEADBEEF), UINT64_C(0xDEADBEEFDEADBEEF), UINT64_C(0xDEADBEEFDEADBEEF)};
    int64_t clock[5] = {-77, -77, -77, -77, -77};
    *sample = (pfb_raw_value){.type = 0};
    if (cells[0][0] != '\0' && !read_type(cells[0], &sample->base_type))
        return false;
    for (unsigned i = 0; i < INPUT_COUNT; i++) {
        const char *cell = cells[1 + i];
        if (*cell == '\0')
            continue;
        if (i < 3 ? !read_unsigned(cell, 10, &raw[i]) : !read_signed(cell, &clock[i - 3]))
            return false;
        sample->has |= UINT32_C(1) << i; /* PFB_HAS_ bits, in the order of the columns */
    }
    sample->value = raw[0];
    sample->base = raw[1];
    sample->multi_count = raw[2];
    sample->perf_time = clock[0];
    sample->perf_time_100ns = clock[1];
    sample->object_time = clock[2];
    sample->perf_freq = clock[3];
    sample->object_freq = clock[4];
    return true;
}

/* ---- Options ------------------------------------------------------------------------------------------- */

static bool read_option(const char *word, pfb_formula_options *options)
{
    const struct {
        const char *name;
        bool *chosen;
    } names[] = {
        {"wrap32", &options->wrap32},       {"per_item_inverse", &options->per_item_inverse},
        {"generic", &options->generic},     {"server_2003", &options->server_2003_multi_timer},
        {"cap_100", &options->cap_100},     {"clamp_0", &options->clamp_0},
        {"pdh_order", &options->pdh_order},
    };
    int64_t scale;
    if (strncmp(word, "scale=", 6) == 0) {
        bool fits = read_signed(word + 6, &scale) && scale >= INT8_MIN && scale <= INT8_MAX;
        options->scale = fits ? (int8_t)scale : 0;
        return fits;
    }
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(word, names[i].name) == 0)
            return *names[i].chosen = true;
    }
    return false;
}

/* Reads the options of a mode, which are separated by single blanks. */
static bool read_mode(char *mode, pfb_formula_options *options)
{
    *options = (pfb_formula_options){.scale = 0};
    while (*mode != '\0') {
        char *end = mode + strcspn(mode, " ");
        char *next = *end == '\0' ? end : end + 1;
        *end = '\0';
        if (!read_option(mode, options))
            return false;
        mode = next;
    }
    return true;
}

/* ---- Comparison ---------------------------------------------------------------------------------------- */

static bool is_same_flags(uint32_t flags, const char *expected)
{
    static const uint32_t in_order[] = {PFB_FLAG_ABOVE_100, PFB_FLAG_BELOW_ZERO, PFB_FLAG_WRAPPED};
    char text[64] = "";
    size_t length = 0;
    for (size_t i = 0; i < sizeof in_order / sizeof in_order[0]; i++) {
        if (flags & in_order[i])
            length += (size_t)snprintf(text + length, sizeof text - length, "%s%s", length > 0 ? " " : "",
                                       pfb_flag_name(in_order[i]));
    }
    return strcmp(text, expected) == 0;
}

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Compares a number with a cell. If the cell is empty, the number must be absent and 0. */
static bool is_same_number(bool is_present, uint64_t number, const char *expected, int radix)
{
    uint64_t wanted;
    if (expected[0] == '\0')
        return !is_present && number == 0;
    return is_present && read_unsigned(expected, radix, &wanted) && number == wanted;
}

static bool is_near(double value, const char *published, const char *within)
{
    double difference = value - strtod(published, NULL);
    double bound = strtod(within, NULL);
    return difference <= bound && -difference <= bound;
}

/* Compares a result with the expected cells. Returns the name of the first part that differs, or null. */
static const char *find_difference(const pfb_formula_result *result, char *const cells[COLUMN_COUNT])
{
    bool ok = result->status == PFB_STATUS_OK;
    if (strcmp(pfb_status_name(result->status), cells[COLUMN_STATUS]) != 0)
        return "status";
    if (!is_same_flags(result->flags, cells[COLUMN_FLAGS]))
        return "flags";
    if (strcmp(pfb_unit_text(result->unit), cells[COLUMN_UNIT]) != 0)
        return "unit";
    if (!is_same_number(ok, bits_of(result->value), cells[COLUMN_BITS], 16))
        return "bits";
    if (!is_same_number(result->is_integer, result->integer, cells[COLUMN_INTEGER], 10))
        return "integer";
    if (cells[COLUMN_PUBLISHED][0] && !is_near(result->value, cells[COLUMN_PUBLISHED], cells[COLUMN_WITHIN]))
        return "published value";
    return NULL;
}

/* ---- Rows ---------------------------------------------------------------------------------------------- */

typedef struct tally {
    unsigned long passed, failed;
    bool prints_pdh;
} tally;

static void fail(tally *count, const char *id, const char *what)
{
    printf("%s: %s\n", id, what);
    count->failed++;
}

/* Returns true if any cell of the older sample is not empty. */
static bool has_older(char *const cells[COLUMN_COUNT])
{
    for (int i = COLUMN_OLDER_TYPE; i < COLUMN_NEWER; i++) {
        if (cells[i][0] != '\0')
            return true;
    }
    return false;
}

static bool read_samples(char *const cells[COLUMN_COUNT], pfb_raw_value *older, pfb_raw_value *newer)
{
    const char *older_type = cells[COLUMN_OLDER_TYPE][0] != '\0' ? cells[COLUMN_OLDER_TYPE] : cells[COLUMN_TYPE];
    return read_sample(cells + COLUMN_OLDER, older) && read_type(older_type, &older->type) &&
           read_sample(cells + COLUMN_NEWER, newer) && read_type(cells[COLUMN_TYPE], &newer->type);
}

static void run_row(char *line, tally *count)
{
    char *cells[COLUMN_COUNT];
    pfb_raw_value older;
    pfb_raw_value newer;
    pfb_formula_options options;
    if (!split(line, cells)) {
        fail(count, "a row", "has too few columns");
        return;
    }
    bool two = has_older(cells);
    if (!read_samples(cells, &older, &newer) || !read_mode(cells[COLUMN_MODE], &options)) {
        fail(count, cells[COLUMN_ID], "cannot be read");
        return;
    }
    if (count->prints_pdh) {
        pfb_pdh_raw pdh = pfb_formula_pdh_raw(&newer);
        printf("pdh %s %" PRIu32 " %" PRIu64 " %" PRIu64 " %" PRIu32 " %" PRIu64 "\n", cells[COLUMN_ID], pdh.status,
               pdh.first, pdh.second, pdh.multi_count, pdh.time_base);
    }
    pfb_formula_result result = pfb_formula_evaluate(two ? &older : NULL, &newer, &options);
    const char *wrong = find_difference(&result, cells);
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
    char line[LARGEST_LINE];
    size_t names = sizeof header - 1;
    if (!fgets(line, sizeof line, file) || strncmp(line, header, names) != 0 || strcspn(line, "\r\n") != names) {
        fail(count, path, "does not begin with the names of the columns");
        return;
    }
    while (fgets(line, sizeof line, file)) {
        if (!strchr(line, '\n'))
            fail(count, path, "has a line that is too long or has no end");
        else
            run_row(line, count);
    }
    if (ferror(file))
        fail(count, path, "cannot be read");
}

int main(int argc, char **argv)
{
    tally count = {0, 0, argc > 1 && strcmp(argv[1], "--pdh") == 0};
    for (int i = count.prints_pdh ? 2 : 1; i < argc; i++) {
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
