/* SPDX-License-Identifier: MIT */
#include "commands/eval_row.h"

#include "names/names.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char not_a_number[] = "is not a number";
static const char out_of_range[] = "is out of range";

static bool is_word(csv_cell cell, const char *word)
{
    return cell.size == strlen(word) && memcmp(cell.text, word, cell.size) == 0;
}

/* Moves the first word of `rest` to *word. Returns false if there is none. */
static bool next_word(csv_cell *rest, csv_cell *word)
{
    *rest = csv_trim(*rest);
    *word = *rest;
    word->size = 0;
    while (word->size < rest->size && word->text[word->size] != ' ' && word->text[word->size] != '\t')
        word->size++;
    rest->text += word->size;
    rest->size -= word->size;
    return word->size > 0;
}

/* ---- Numbers --------------------------------------------------------------------------------------------- */

/* The value of a digit; at least `base` for any other character. */
static unsigned digit_of(char c, unsigned base)
{
    if (c >= '0' && c <= '9')
        return (unsigned)(c - '0');
    if (base == 16 && c >= 'a' && c <= 'f')
        return (unsigned)(c - 'a') + 10;
    if (base == 16 && c >= 'A' && c <= 'F')
        return (unsigned)(c - 'A') + 10;
    return base;
}

static const char *read_digits(csv_cell cell, unsigned base, uint64_t *number)
{
    const uint64_t most = UINT64_MAX / base;
    const unsigned last = (unsigned)(UINT64_MAX % base);
    bool fits = true;
    uint64_t read = 0;
    for (size_t i = 0; i < cell.size; i++) {
        unsigned digit = digit_of(cell.text[i], base);
        if (digit >= base)
            return not_a_number;
        fits = fits && (read < most || (read == most && digit <= last));
        read = read * base + digit;
    }
    *number = read;
    return cell.size == 0 ? not_a_number : fits ? NULL : out_of_range;
}

/* Decimal, or hexadecimal after 0x. */
static const char *read_unsigned(csv_cell cell, uint64_t most, uint64_t *number)
{
    bool is_hex = cell.size > 2 && cell.text[0] == '0' && cell.text[1] == 'x';
    if (is_hex) {
        cell.text += 2;
        cell.size -= 2;
    }
    const char *wrong = read_digits(cell, is_hex ? 16 : 10, number);
    return wrong || *number <= most ? wrong : out_of_range;
}

static const char *read_signed(csv_cell cell, int64_t *number)
{
    uint64_t size = 0;
    bool is_negative = cell.size > 0 && cell.text[0] == '-';
    if (is_negative) {
        cell.text++;
        cell.size--;
    }
    const char *wrong = read_unsigned(cell, is_negative ? UINT64_C(1) << 63 : INT64_MAX, &size);
    if (wrong)
        return wrong;
    *number = is_negative && size > 0 ? -(int64_t)(size - 1) - 1 : (int64_t)size;
    return NULL;
}

/* A decimal fraction with or without an exponent. Other forms that strtod accepts are rejected. */
static bool read_double(csv_cell cell, double *number)
{
    buffer text = {0};
    buffer_bytes(&text, cell.text, cell.size);
    const char *rest = text.data + (*text.data == '-');
    bool begins_well = *rest >= '0' && *rest <= '9';
    char *end = NULL;
    *number = strtod(text.data, &end);
    bool is_number =
        begins_well && end == text.data + text.size && !strpbrk(text.data, "xX") && fabs(*number) <= DBL_MAX;
    buffer_free(&text);
    return is_number;
}

/* ---- The table ------------------------------------------------------------------------------------------- */

typedef struct column_rule column_rule;

/* Takes a cell that is not empty, as eval_row_take does. */
typedef const char *take_cell(eval_row *row, const column_rule *c, csv_cell *cell);

/* Compares a result with a cell, as eval_row_check does. */
typedef eval_verdict check_cell(const pfb_formula_result *result, csv_cell expected, buffer *got);

static take_cell take_id, take_type, take_mode, take_unsigned, take_signed, take_clock;
static check_cell check_status, check_flags, check_unit, check_value, check_bits, check_integer;

enum { OLDER, NEWER, NEITHER };
enum { CLOCK_TIME, CLOCK_FREQUENCY };

struct column_rule {
    const char *name;
    take_cell *take;   /* null: nothing to take */
    check_cell *check; /* null: nothing to check */
    unsigned sample;   /* OLDER, NEWER, NEITHER */
    uint32_t bit;      /* the PFB_HAS_ bit; for take_clock, time or frequency */
    size_t field;      /* its offset in pfb_raw_value */
};

/* A column for each sample. */
#define INPUTS(name, take, bit, field)                                                                                 \
    {name "0", take, NULL, OLDER, bit, field},                                                                         \
    {                                                                                                                  \
        name "1", take, NULL, NEWER, bit, field                                                                        \
    }
#define FIELDS(name, take, bit) INPUTS(#name, take, bit, offsetof(pfb_raw_value, name))

static const column_rule columns[] = {
    {"id", take_id, NULL, NEITHER, 0, 0},
    {"type", take_type, NULL, NEWER, 0, offsetof(pfb_raw_value, type)},
    {"mode", take_mode, NULL, NEITHER, 0, 0},
    {"type0", take_type, NULL, OLDER, 0, offsetof(pfb_raw_value, type)},
    FIELDS(base_type, take_type, 0),
    FIELDS(value, take_unsigned, PFB_HAS_VALUE),
    FIELDS(base, take_unsigned, PFB_HAS_BASE),
    INPUTS("multi", take_unsigned, PFB_HAS_MULTI_COUNT, offsetof(pfb_raw_value, multi_count)),
    INPUTS("time", take_clock, CLOCK_TIME, 0),
    INPUTS("frequency", take_clock, CLOCK_FREQUENCY, 0),
    FIELDS(perf_time, take_signed, PFB_HAS_PERF_TIME),
    FIELDS(perf_time_100ns, take_signed, PFB_HAS_PERF_TIME_100NS),
    FIELDS(object_time, take_signed, PFB_HAS_OBJECT_TIME),
    FIELDS(perf_freq, take_signed, PFB_HAS_PERF_FREQ),
    FIELDS(object_freq, take_signed, PFB_HAS_OBJECT_FREQ),
    {"expected_status", NULL, check_status, NEITHER, 0, 0},
    {"expected_flags", NULL, check_flags, NEITHER, 0, 0},
    {"expected_unit", NULL, check_unit, NEITHER, 0, 0},
    {"expected_value", NULL, check_value, NEITHER, 0, 0},
    {"expected_bits", NULL, check_bits, NEITHER, 0, 0},
    {"expected_integer", NULL, check_integer, NEITHER, 0, 0},
    {"expected_exact", NULL, NULL, NEITHER, 0, 0},
    {"published", NULL, NULL, NEITHER, 0, 0},
    {"within", NULL, NULL, NEITHER, 0, 0},
    {"why", NULL, NULL, NEITHER, 0, 0},
    {"source", NULL, NULL, NEITHER, 0, 0},
};

enum { COLUMN_COUNT = sizeof columns / sizeof columns[0], TYPE_COLUMN = 1, OLDER_TYPE_COLUMN = 3 };

_Static_assert(COLUMN_COUNT <= 64, "eval_row.given has a bit for each column");

size_t eval_column_named(csv_cell name)
{
    name = csv_trim(name);
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        if (is_word(name, columns[i].name))
            return i;
    }
    return EVAL_NO_COLUMN;
}

const char *eval_column_name(size_t column)
{
    return column < COLUMN_COUNT ? columns[column].name : "";
}

/* ---- Inputs ---------------------------------------------------------------------------------------------- */

static bool is_given(const eval_row *row, size_t column)
{
    return (row->given >> column & 1) != 0;
}

static const char *take_id(eval_row *row, const column_rule *c, csv_cell *cell)
{
    (void)c;
    row->id = *cell;
    return NULL;
}

/* Puts a field into the column's sample. */
static void put_field(eval_row *row, const column_rule *c, const void *field, size_t size)
{
    pfb_raw_value *sample = &row->samples[c->sample];
    memcpy((char *)sample + c->field, field, size);
    sample->has |= c->bit;
}

/* A counter type by name or by number. */
static const char *take_type(eval_row *row, const column_rule *c, csv_cell *cell)
{
    uint64_t number = 0;
    const char *wrong = NULL;
    if (digit_of(cell->text[0], 10) < 10) {
        wrong = read_unsigned(*cell, UINT32_MAX, &number);
    } else {
        const pfb_counter_type *type = pfb_counter_type_named(cell->text, cell->size);
        wrong = type ? NULL : "is not a counter type";
        number = type ? type->value : 0;
    }
    uint32_t value = (uint32_t)number;
    put_field(row, c, &value, sizeof value);
    return wrong;
}

static const char *take_unsigned(eval_row *row, const column_rule *c, csv_cell *cell)
{
    uint64_t number = 0;
    const char *wrong = read_unsigned(*cell, UINT64_MAX, &number);
    put_field(row, c, &number, sizeof number);
    return wrong;
}

static const char *take_signed(eval_row *row, const column_rule *c, csv_cell *cell)
{
    int64_t number = 0;
    const char *wrong = read_signed(*cell, &number);
    put_field(row, c, &number, sizeof number);
    return wrong;
}

/* Kept until the type, and with it the clock, is known. */
static const char *take_clock(eval_row *row, const column_rule *c, csv_cell *cell)
{
    return read_signed(*cell, &row->clocks[c->sample][c->bit]);
}

/* ---- Options --------------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    size_t field;
} modes[] = {
    {"wrap32", offsetof(pfb_formula_options, wrap32)},
    {"per_item_inverse", offsetof(pfb_formula_options, per_item_inverse)},
    {"server_2003", offsetof(pfb_formula_options, server_2003_multi_timer)},
    {"generic", offsetof(pfb_formula_options, generic)},
    {"cap_100", offsetof(pfb_formula_options, cap_100)},
    {"clamp_0", offsetof(pfb_formula_options, clamp_0)},
};

/* "scale=N". Any N that fits the option: the formula returns a status for values outside its range. */
static const char *take_scale(pfb_formula_options *options, csv_cell word, size_t prefix)
{
    int64_t scale = 0;
    word.text += prefix;
    word.size -= prefix;
    const char *wrong = read_signed(word, &scale);
    if (!wrong && (scale < INT8_MIN || scale > INT8_MAX))
        wrong = out_of_range;
    options->scale = wrong ? 0 : (int8_t)scale;
    return wrong;
}

static const char *take_word(pfb_formula_options *options, csv_cell word, bool *has_scale)
{
    static const char twice[] = "occurs twice";
    static const char prefix[] = "scale=";
    const size_t prefix_size = sizeof prefix - 1;
    if (word.size >= prefix_size && memcmp(word.text, prefix, prefix_size) == 0) {
        const char *wrong = *has_scale ? twice : take_scale(options, word, prefix_size);
        *has_scale = true;
        return wrong;
    }
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        bool *option = (bool *)((char *)options + modes[i].field);
        if (!is_word(word, modes[i].name))
            continue;
        bool was_on = *option;
        *option = true;
        return was_on ? twice : NULL;
    }
    return "is not an option of the formulas";
}

static const char *take_mode(eval_row *row, const column_rule *c, csv_cell *cell)
{
    (void)c;
    csv_cell rest = *cell;
    csv_cell word;
    bool has_scale = false;
    const char *wrong = NULL;
    while (!wrong && next_word(&rest, &word)) {
        wrong = take_word(&row->options, word, &has_scale);
        if (wrong)
            *cell = word;
    }
    return wrong;
}

/* ---- Rows ------------------------------------------------------------------------------------------------ */

const char *eval_row_take(eval_row *row, size_t column, csv_cell *cell)
{
    const column_rule *c = &columns[column];
    if (c->take != take_id) /* an id may be anything */
        *cell = csv_trim(*cell);
    if (!c->take || cell->size == 0)
        return NULL;
    row->given |= UINT64_C(1) << column;
    row->has_older = row->has_older || c->sample == OLDER;
    return c->take(row, c, cell);
}

/* The clock of a type's formula. */
static unsigned clock_of(uint32_t type, bool is_generic)
{
    const pfb_counter_type *row = pfb_counter_type_find(type);
    pfb_counter_type derived;
    if (!row && is_generic && pfb_counter_type_derive(type, &derived))
        row = &derived;
    return row ? row->clock : PFB_CLOCK_NONE;
}

/* Assigns a time or frequency to the clock of the type. The 100 ns clock needs no frequency. Returns false if the clock
 * already has a value. */
static bool settle_clock(eval_row *row, const column_rule *c)
{
    static const struct {
        uint32_t bit;
        size_t field;
    } places[][2] = {
        [PFB_CLOCK_NONE] = {{0, 0}, {0, 0}},
        [PFB_CLOCK_PERF] = {{PFB_HAS_PERF_TIME, offsetof(pfb_raw_value, perf_time)},
                            {PFB_HAS_PERF_FREQ, offsetof(pfb_raw_value, perf_freq)}},
        [PFB_CLOCK_100NS] = {{PFB_HAS_PERF_TIME_100NS, offsetof(pfb_raw_value, perf_time_100ns)}, {0, 0}},
        [PFB_CLOCK_OBJECT] = {{PFB_HAS_OBJECT_TIME, offsetof(pfb_raw_value, object_time)},
                              {PFB_HAS_OBJECT_FREQ, offsetof(pfb_raw_value, object_freq)}},
    };
    pfb_raw_value *sample = &row->samples[c->sample];
    unsigned clock = clock_of(sample->type, row->options.generic);
    uint32_t bit = places[clock][c->bit].bit;
    if (sample->has & bit)
        return false;
    if (bit != 0)
        memcpy((char *)sample + places[clock][c->bit].field, &row->clocks[c->sample][c->bit], sizeof(int64_t));
    sample->has |= bit;
    return true;
}

const char *eval_row_finish(eval_row *row, size_t *column)
{
    *column = TYPE_COLUMN;
    if (!is_given(row, TYPE_COLUMN))
        return "is not a counter type";
    if (!is_given(row, OLDER_TYPE_COLUMN))
        row->samples[OLDER].type = row->samples[NEWER].type;
    for (*column = 0; *column < COLUMN_COUNT; ++*column) {
        const column_rule *c = &columns[*column];
        if (c->take == take_clock && is_given(row, *column) && !settle_clock(row, c))
            return "gives a clock that the row also gives by its own name";
    }
    return NULL;
}

pfb_formula_result eval_row_evaluate(const eval_row *row)
{
    const pfb_raw_value *older = row->has_older ? &row->samples[OLDER] : NULL;
    return pfb_formula_evaluate(older, &row->samples[NEWER], &row->options);
}

/* ---- Expectations ---------------------------------------------------------------------------------------- */

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static eval_verdict verdict(bool holds)
{
    return holds ? EVAL_HOLDS : EVAL_DIFFERS;
}

static eval_verdict check_word(const char *word, csv_cell expected, buffer *got)
{
    buffer_string(got, word);
    return verdict(is_word(expected, word));
}

static eval_verdict check_status(const pfb_formula_result *result, csv_cell expected, buffer *got)
{
    return check_word(pfb_status_name(result->status), expected, got);
}

static eval_verdict check_unit(const pfb_formula_result *result, csv_cell expected, buffer *got)
{
    return check_word(pfb_unit_text(result->unit), expected, got);
}

/* The same flags in any order. */
static eval_verdict check_flags(const pfb_formula_result *result, csv_cell expected, buffer *got)
{
    const char *names[NAMES_MOST_BITS];
    size_t count = names_of_flags(result->flags, names);
    unsigned found = 0; /* positions in `names`, as bits; the bit after the last for any other word */
    csv_cell word;
    for (size_t i = 0; i < count; i++)
        buffer_format(got, "%s%s", i > 0 ? " " : "", names[i]);
    while (next_word(&expected, &word)) {
        size_t i = 0;
        while (i < count && !is_word(word, names[i]))
            i++;
        found |= 1u << i;
    }
    return verdict(found == (1u << count) - 1);
}

static eval_verdict check_value(const pfb_formula_result *result, csv_cell expected, buffer *got)
{
    bool has_value = result->status == PFB_STATUS_OK;
    double number = 0;
    if (has_value)
        text_double(got, result->value);
    if (expected.size == 0)
        return verdict(!has_value);
    if (!read_double(expected, &number))
        return EVAL_UNREADABLE;
    return verdict(has_value && bits_of(number) == bits_of(result->value));
}

static eval_verdict check_bits(const pfb_formula_result *result, csv_cell expected, buffer *got)
{
    enum { DIGITS = 16 };
    bool has_value = result->status == PFB_STATUS_OK;
    uint64_t bits = 0;
    if (has_value)
        buffer_format(got, "%016" PRIX64, bits_of(result->value));
    if (expected.size == 0)
        return verdict(!has_value);
    if (expected.size != DIGITS || read_digits(expected, 16, &bits))
        return EVAL_UNREADABLE;
    return verdict(has_value && bits == bits_of(result->value));
}

static eval_verdict check_integer(const pfb_formula_result *result, csv_cell expected, buffer *got)
{
    uint64_t integer = 0;
    if (result->is_integer)
        buffer_unsigned(got, result->integer);
    if (expected.size == 0)
        return verdict(!result->is_integer);
    if (read_unsigned(expected, UINT64_MAX, &integer))
        return EVAL_UNREADABLE;
    return verdict(result->is_integer && integer == result->integer);
}

eval_verdict eval_row_check(const pfb_formula_result *result, size_t column, csv_cell expected, buffer *got)
{
    const column_rule *c = &columns[column];
    buffer_clear(got);
    return c->check ? c->check(result, csv_trim(expected), got) : EVAL_HOLDS;
}
