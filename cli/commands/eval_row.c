/* SPDX-License-Identifier: MIT */
#include "commands/eval_row.h"

#include "names/names.h"
#include "perfblock/collect.h"

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

/* Removes the first word from *rest and stores it in *word. Returns false if there is none. */
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

/* Returns null, or what is wrong with the cell. */
static const char *read_digits(csv_cell cell, unsigned base, uint64_t *number)
{
    const uint64_t max = UINT64_MAX / base;
    const unsigned last = (unsigned)(UINT64_MAX % base);
    bool fits = true;
    uint64_t read = 0;
    for (size_t i = 0; i < cell.size; i++) {
        unsigned digit = digit_of(cell.text[i], base);
        if (digit >= base)
            return not_a_number;
        fits = fits && (read < max || (read == max && digit <= last));
        read = read * base + digit;
    }
    *number = read;
    return cell.size == 0 ? not_a_number : fits ? NULL : out_of_range;
}

/* Reads a decimal number, or a hexadecimal one after "0x". */
static const char *read_unsigned(csv_cell cell, uint64_t max, uint64_t *number)
{
    bool is_hex = cell.size > 2 && cell.text[0] == '0' && cell.text[1] == 'x';
    if (is_hex) {
        cell.text += 2;
        cell.size -= 2;
    }
    const char *problem = read_digits(cell, is_hex ? 16 : 10, number);
    return problem || *number <= max ? problem : out_of_range;
}

static const char *read_signed(csv_cell cell, int64_t *number)
{
    uint64_t size = 0;
    bool is_negative = cell.size > 0 && cell.text[0] == '-';
    if (is_negative) {
        cell.text++;
        cell.size--;
    }
    const char *problem = read_unsigned(cell, is_negative ? UINT64_C(1) << 63 : INT64_MAX, &size);
    if (problem)
        return problem;
    *number = is_negative && size > 0 ? -(int64_t)(size - 1) - 1 : (int64_t)size;
    return NULL;
}

/* Reads a decimal fraction with or without an exponent. Rejects the other forms that strtod() accepts. */
static bool read_double(csv_cell cell, double *number)
{
    buffer text = {0};
    buffer_bytes(&text, cell.text, cell.size);
    const char *rest = text.data + (*text.data == '-');
    bool begins_with_digit = *rest >= '0' && *rest <= '9';
    char *end = NULL;
    *number = strtod(text.data, &end);
    bool is_number =
        begins_with_digit && end == text.data + text.size && !strpbrk(text.data, "xX") && fabs(*number) <= DBL_MAX;
    buffer_free(&text);
    return is_number;
}

/* ---- The table ------------------------------------------------------------------------------------------- */

typedef struct column_rule column_rule;

/* Reads a cell that is not empty; see eval_row_read_cell(). */
typedef const char *cell_reader(eval_row *row, const column_rule *c, csv_cell *cell);

/* Compares a result with a cell; see eval_row_check(). */
typedef eval_verdict cell_checker(const pfb_formula_result *result, csv_cell expected, buffer *actual);

static cell_reader read_id_cell, read_type_cell, read_mode_cell, read_unsigned_cell, read_signed_cell, read_time_cell,
    read_frequency_cell;
static cell_checker check_status, check_flags, check_unit, check_value, check_bits, check_integer;

enum { OLDER, NEWER, NEITHER };
enum { CLOCK_TIME, CLOCK_FREQUENCY }; /* indexes in eval_row.clocks */

struct column_rule {
    const char *name;
    cell_reader *read;   /* null: the cell is not an input */
    cell_checker *check; /* null: the cell is not an expectation */
    unsigned sample;     /* the sample that the cell belongs to: OLDER, NEWER or NEITHER */
    uint32_t bit;        /* the PFB_HAS_ bit of the field; 0: none */
    size_t field;        /* the offset in pfb_raw_value, if `read` stores one field */
};

/* Two columns, one for each sample: "value0" and "value1". */
#define INPUTS(name, read, bit, field)                                                                                 \
    {name "0", read, NULL, OLDER, bit, field},                                                                         \
    {                                                                                                                  \
        name "1", read, NULL, NEWER, bit, field                                                                        \
    }
#define FIELDS(name, read, bit) INPUTS(#name, read, bit, offsetof(pfb_raw_value, name))

static const column_rule columns[] = {
    {"id", read_id_cell, NULL, NEITHER, 0, 0},
    {"type", read_type_cell, NULL, NEWER, 0, offsetof(pfb_raw_value, type)},
    {"mode", read_mode_cell, NULL, NEITHER, 0, 0},
    {"type0", read_type_cell, NULL, OLDER, 0, offsetof(pfb_raw_value, type)},
    FIELDS(base_type, read_type_cell, 0),
    FIELDS(value, read_unsigned_cell, PFB_HAS_VALUE),
    FIELDS(base, read_unsigned_cell, PFB_HAS_BASE),
    INPUTS("multi", read_unsigned_cell, PFB_HAS_MULTI_COUNT, offsetof(pfb_raw_value, multi_count)),
    INPUTS("time", read_time_cell, 0, 0),
    INPUTS("frequency", read_frequency_cell, 0, 0),
    FIELDS(perf_time, read_signed_cell, PFB_HAS_PERF_TIME),
    FIELDS(perf_time_100ns, read_signed_cell, PFB_HAS_PERF_TIME_100NS),
    FIELDS(object_time, read_signed_cell, PFB_HAS_OBJECT_TIME),
    FIELDS(perf_freq, read_signed_cell, PFB_HAS_PERF_FREQ),
    FIELDS(object_freq, read_signed_cell, PFB_HAS_OBJECT_FREQ),
    {"expected_status", NULL, check_status, NEITHER, 0, 0},
    {"expected_flags", NULL, check_flags, NEITHER, 0, 0},
    {"expected_unit", NULL, check_unit, NEITHER, 0, 0},
    {"expected_value", NULL, check_value, NEITHER, 0, 0},
    {"expected_bits", NULL, check_bits, NEITHER, 0, 0},
    {"expected_integer", NULL, check_integer, NEITHER, 0, 0},
    /* The columns below are not read: they explain the row to people and to other checkers. */
    {"expected_exact", NULL, NULL, NEITHER, 0, 0},
    {"published", NULL, NULL, NEITHER, 0, 0},
    {"within", NULL, NULL, NEITHER, 0, 0},
    {"why", NULL, NULL, NEITHER, 0, 0},
    {"source", NULL, NULL, NEITHER, 0, 0},
};

enum { COLUMN_COUNT = sizeof columns / sizeof columns[0], TYPE_COLUMN = 1, OLDER_TYPE_COLUMN = 3 };

_Static_assert(COLUMN_COUNT <= 64, "eval_row.present has a bit for each column");

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

static bool is_present(const eval_row *row, size_t column)
{
    return (row->present >> column & 1) != 0;
}

static const char *read_id_cell(eval_row *row, const column_rule *c, csv_cell *cell)
{
    (void)c;
    row->id = *cell;
    return NULL;
}

/* Stores a field in the sample of the column. */
static void put_field(eval_row *row, const column_rule *c, const void *field, size_t size)
{
    pfb_raw_value *sample = &row->samples[c->sample];
    memcpy((char *)sample + c->field, field, size);
    sample->has |= c->bit;
}

/* Reads a counter type: its name or its number. */
static const char *read_type_cell(eval_row *row, const column_rule *c, csv_cell *cell)
{
    uint64_t number = 0;
    const char *problem = NULL;
    if (digit_of(cell->text[0], 10) < 10) {
        problem = read_unsigned(*cell, UINT32_MAX, &number);
    } else {
        const pfb_counter_type *type = pfb_counter_type_named(cell->text, cell->size);
        problem = type ? NULL : "is not a counter type";
        number = type ? type->value : 0;
    }
    uint32_t value = (uint32_t)number;
    put_field(row, c, &value, sizeof value);
    return problem;
}

static const char *read_unsigned_cell(eval_row *row, const column_rule *c, csv_cell *cell)
{
    uint64_t number = 0;
    const char *problem = read_unsigned(*cell, UINT64_MAX, &number);
    put_field(row, c, &number, sizeof number);
    return problem;
}

static const char *read_signed_cell(eval_row *row, const column_rule *c, csv_cell *cell)
{
    int64_t number = 0;
    const char *problem = read_signed(*cell, &number);
    put_field(row, c, &number, sizeof number);
    return problem;
}

/* The next two functions store the number for assign_clock(). The counter type decides to which clock the number
 * belongs, and the cell of the type may follow. */
static const char *read_time_cell(eval_row *row, const column_rule *c, csv_cell *cell)
{
    return read_signed(*cell, &row->clocks[c->sample][CLOCK_TIME]);
}

static const char *read_frequency_cell(eval_row *row, const column_rule *c, csv_cell *cell)
{
    return read_signed(*cell, &row->clocks[c->sample][CLOCK_FREQUENCY]);
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
    {"pdh_order", offsetof(pfb_formula_options, pdh_order)},
};

/* Reads "scale=N". Accepts any N that fits into the option; the formula returns the status bad_scale if N is out of
 * range. */
static const char *read_scale(pfb_formula_options *options, csv_cell word, size_t prefix)
{
    int64_t scale = 0;
    word.text += prefix;
    word.size -= prefix;
    const char *problem = read_signed(word, &scale);
    if (!problem && (scale < INT8_MIN || scale > INT8_MAX))
        problem = out_of_range;
    options->scale = problem ? 0 : (int8_t)scale;
    return problem;
}

static const char *read_mode_word(pfb_formula_options *options, csv_cell word, bool *has_scale)
{
    static const char twice[] = "occurs twice";
    static const char prefix[] = "scale=";
    const size_t prefix_size = sizeof prefix - 1;
    if (word.size >= prefix_size && memcmp(word.text, prefix, prefix_size) == 0) {
        const char *problem = *has_scale ? twice : read_scale(options, word, prefix_size);
        *has_scale = true;
        return problem;
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

static const char *read_mode_cell(eval_row *row, const column_rule *c, csv_cell *cell)
{
    (void)c;
    csv_cell rest = *cell;
    csv_cell word;
    bool has_scale = false;
    const char *problem = NULL;
    while (!problem && next_word(&rest, &word)) {
        problem = read_mode_word(&row->options, word, &has_scale);
        if (problem)
            *cell = word;
    }
    return problem;
}

/* ---- Rows ------------------------------------------------------------------------------------------------ */

const char *eval_row_read_cell(eval_row *row, size_t column, csv_cell *cell)
{
    const column_rule *c = &columns[column];
    if (c->read != read_id_cell) /* blanks at the ends of an id are part of it */
        *cell = csv_trim(*cell);
    if (!c->read || cell->size == 0)
        return NULL;
    row->present |= UINT64_C(1) << column;
    row->has_older = row->has_older || c->sample == OLDER;
    return c->read(row, c, cell);
}

/* The clock that the formula of a type uses. */
static unsigned clock_of(uint32_t type, bool is_generic)
{
    const pfb_counter_type *row = pfb_counter_type_find(type);
    pfb_counter_type derived;
    if (!row && is_generic && pfb_counter_type_derive(type, &derived))
        row = &derived;
    return row ? row->clock : PFB_CLOCK_NONE;
}

/* Stores a number of the column time or frequency (`index`: CLOCK_TIME or CLOCK_FREQUENCY) in the field of the clock
 * that the sample's counter type uses. A number for which this clock has no field, such as a frequency of the 100 ns
 * clock, is ignored. Returns false if the row also has a value in the column of that clock, such as perf_time1. */
static bool assign_clock(eval_row *row, unsigned sample_index, unsigned index)
{
    static const struct {
        uint32_t bit;
        size_t field;
    } fields[][2] = {
        [PFB_CLOCK_NONE] = {{0, 0}, {0, 0}},
        [PFB_CLOCK_PERF] = {{PFB_HAS_PERF_TIME, offsetof(pfb_raw_value, perf_time)},
                            {PFB_HAS_PERF_FREQ, offsetof(pfb_raw_value, perf_freq)}},
        [PFB_CLOCK_100NS] = {{PFB_HAS_PERF_TIME_100NS, offsetof(pfb_raw_value, perf_time_100ns)}, {0, 0}},
        [PFB_CLOCK_OBJECT] = {{PFB_HAS_OBJECT_TIME, offsetof(pfb_raw_value, object_time)},
                              {PFB_HAS_OBJECT_FREQ, offsetof(pfb_raw_value, object_freq)}},
    };
    pfb_raw_value *sample = &row->samples[sample_index];
    unsigned clock = clock_of(sample->type, row->options.generic);
    uint32_t bit = fields[clock][index].bit;
    if (sample->has & bit)
        return false;
    if (bit != 0)
        memcpy((char *)sample + fields[clock][index].field, &row->clocks[sample_index][index], sizeof(int64_t));
    sample->has |= bit;
    return true;
}

const char *eval_row_finish(eval_row *row, size_t *column)
{
    *column = TYPE_COLUMN;
    if (!is_present(row, TYPE_COLUMN))
        return "is not a counter type";
    if (!is_present(row, OLDER_TYPE_COLUMN))
        row->samples[OLDER].type = row->samples[NEWER].type;
    for (*column = 0; *column < COLUMN_COUNT; ++*column) {
        const column_rule *c = &columns[*column];
        bool is_time = c->read == read_time_cell;
        bool is_clock = (is_time || c->read == read_frequency_cell) && is_present(row, *column);
        if (is_clock && !assign_clock(row, c->sample, is_time ? CLOCK_TIME : CLOCK_FREQUENCY))
            return "belongs to a clock that also has a value in its own column, such as perf_time1";
    }
    return NULL;
}

/* The types whose values have PFB_FLAG_MAY_BE_NEGATIVE: decimal numbers that are not computed. */
static bool is_count(uint32_t type)
{
    const uint32_t raw_count = 0x00010000, large_raw_count = 0x00010100;
    return type == raw_count || type == large_raw_count;
}

pfb_formula_result eval_row_evaluate(const eval_row *row)
{
    const pfb_raw_value *older = row->has_older ? &row->samples[OLDER] : NULL;
    const pfb_raw_value *newer = &row->samples[NEWER];
    pfb_formula_result result = pfb_formula_evaluate(older, newer, &row->options);
    if (result.status == PFB_STATUS_OK && newer->value > INT64_MAX && is_count(newer->type))
        result.flags |= PFB_FLAG_MAY_BE_NEGATIVE;
    return result;
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

static eval_verdict check_word(const char *word, csv_cell expected, buffer *actual)
{
    buffer_string(actual, word);
    return verdict(is_word(expected, word));
}

static eval_verdict check_status(const pfb_formula_result *result, csv_cell expected, buffer *actual)
{
    return check_word(pfb_status_name(result->status), expected, actual);
}

static eval_verdict check_unit(const pfb_formula_result *result, csv_cell expected, buffer *actual)
{
    return check_word(pfb_unit_text(result->unit), expected, actual);
}

/* The flags may be in any order. PFB_FLAG_MAY_BE_NEGATIVE is none of the formula: it may be expected or not. */
static eval_verdict check_flags(const pfb_formula_result *result, csv_cell expected, buffer *actual)
{
    const char *names[NAMES_MAX_BITS];
    size_t count = names_of_flags(result->flags, names);
    unsigned found = 0; /* a bit for each of `names` that was expected; the bit after the last one for any other word */
    csv_cell word;
    for (size_t i = 0; i < count; i++) {
        buffer_format(actual, "%s%s", i > 0 ? " " : "", names[i]);
        found |= strcmp(names[i], "may_be_negative") == 0 ? 1u << i : 0;
    }
    while (next_word(&expected, &word)) {
        size_t i = 0;
        while (i < count && !is_word(word, names[i]))
            i++;
        found |= 1u << i;
    }
    return verdict(found == (1u << count) - 1);
}

static eval_verdict check_value(const pfb_formula_result *result, csv_cell expected, buffer *actual)
{
    bool has_value = result->status == PFB_STATUS_OK;
    double number = 0;
    if (has_value)
        text_double(actual, result->value);
    if (expected.size == 0)
        return verdict(!has_value);
    if (!read_double(expected, &number))
        return EVAL_UNREADABLE;
    return verdict(has_value && bits_of(number) == bits_of(result->value));
}

static eval_verdict check_bits(const pfb_formula_result *result, csv_cell expected, buffer *actual)
{
    enum { DIGITS = 16 };
    bool has_value = result->status == PFB_STATUS_OK;
    uint64_t bits = 0;
    if (has_value)
        buffer_format(actual, "%016" PRIX64, bits_of(result->value));
    if (expected.size == 0)
        return verdict(!has_value);
    if (expected.size != DIGITS || read_digits(expected, 16, &bits))
        return EVAL_UNREADABLE;
    return verdict(has_value && bits == bits_of(result->value));
}

static eval_verdict check_integer(const pfb_formula_result *result, csv_cell expected, buffer *actual)
{
    uint64_t integer = 0;
    if (result->is_integer)
        buffer_unsigned(actual, result->integer);
    if (expected.size == 0)
        return verdict(!result->is_integer);
    if (read_unsigned(expected, UINT64_MAX, &integer))
        return EVAL_UNREADABLE;
    return verdict(result->is_integer && integer == result->integer);
}

eval_verdict eval_row_check(const pfb_formula_result *result, size_t column, csv_cell expected, buffer *actual)
{
    const column_rule *c = &columns[column];
    buffer_clear(actual);
    return c->check ? c->check(result, csv_trim(expected), actual) : EVAL_HOLDS;
}
