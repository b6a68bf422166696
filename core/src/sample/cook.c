/* SPDX-License-Identifier: MIT */
/* Matches the rows of two samples, collects the inputs of each formula, and evaluates it. */
#include "perfblock/sample.h"

#include "bytes/cursor.h"
#include "bytes/never.h"
#include "formula/evaluation.h"
#include "sample/order.h"

/* ---- Rows of two samples ---------------------------------------------------------------------------------- */

/* Returns true if both results answer the same query: one counter, or all counters, of the same counterset. Unknown
 * queries count as the same. */
static bool is_same_query(const pfb_sample_result *a, const pfb_sample_result *b)
{
    return a->has_query == b->has_query && pfb_guid_equal(&a->counterset, &b->counterset) &&
           a->counter_id == b->counter_id;
}

/* Matches the rows of two results up to the first position where their instances differ. Returns the number of matched
 * rows. Ranks need not be compared, because all earlier rows have the same instances. */
static uint32_t match_in_step(const pfb_sample *older, pfb_sample *newer, const pfb_sample_result *older_result,
                              const pfb_sample_result *newer_result)
{
    uint32_t n = 0;
    while (n < older_result->row_count && n < newer_result->row_count) {
        uint32_t older_row = older_result->first_row + n;
        uint32_t newer_row = newer_result->first_row + n;
        if (older->rows[older_row].key != newer->rows[newer_row].key ||
            !pfb_sample_same_instance(&older->rows[older_row], &newer->rows[newer_row]))
            break;
        newer->rows[newer_row].older_row = older_row;
        n++;
    }
    return n;
}

/* Finds the older row of an instance in the first result of the same query that has it. That result may have another
 * position in the older sample, because queries were added or removed. */
static uint32_t find_moved_row(const pfb_sample *older, const pfb_sample *newer, uint32_t row,
                               pfb_related_rows *related)
{
    pfb_row_key key = pfb_sample_row_key(newer, row);
    pfb_sample_related_rows(older, pfb_sample_find_group(older, &key), newer->rows[row].rank, related);
    for (uint32_t i = 0; i < related->count; i++) {
        if (is_same_query(&older->results[related->results[i]], &newer->results[newer->rows[row].result]))
            return related->rows[i];
    }
    return PFB_NONE;
}

/* Finds the older row of an instance, first by the ids of process and thread, then by its name and position. The latter
 * applies only if one of the two rows has no ids; and not to the row of a process or thread that the newer sample has
 * elsewhere. `same_position`: the result at the same position of the older sample answers the same query. */
static uint32_t find_older_row(const pfb_sample *older, const pfb_sample *newer, uint32_t row, bool same_position,
                               pfb_related_rows *related)
{
    const pfb_sample_row *r = &newer->rows[row];
    uint32_t title = newer->results[r->result].title_index;
    uint32_t found = r->key != 0 ? pfb_sample_find_key(older, title, r->result, r->key) : PFB_NONE;
    if (found != PFB_NONE && pfb_sample_same_owner(&older->rows[found], r))
        return found;
    pfb_row_key key = pfb_sample_row_key(newer, row);
    found = same_position ? pfb_sample_find_ranked_row(older, &key, r->rank) : PFB_NONE;
    if (found == PFB_NONE)
        found = find_moved_row(older, newer, row, related);
    if (found == PFB_NONE || older->rows[found].key == 0)
        return found;
    bool is_other = r->key != 0 || pfb_sample_find_key(newer, title, r->result, older->rows[found].key) != PFB_NONE;
    return is_other ? PFB_NONE : found;
}

/* ---- All rows --------------------------------------------------------------------------------------------------- */

/* Matches the rows of a result of the newer sample: those at the beginning with the older rows at the same positions,
 * the others by a search in the sorted rows of the older sample. */
static void match_result(pfb_sample *older, pfb_sample *newer, uint32_t r)
{
    const pfb_sample_result *result = &newer->results[r];
    bool same_position = r < older->counts.results && is_same_query(&older->results[r], result);
    uint32_t n = same_position ? match_in_step(older, newer, &older->results[r], result) : 0;
    if (n == result->row_count)
        return;
    pfb_sample_rank_rows(older);
    pfb_sample_rank_rows(newer);
    pfb_related_rows related = {.group = PFB_NONE};
    for (; n < result->row_count; n++) {
        uint32_t row = result->first_row + n;
        newer->rows[row].older_row = find_older_row(older, newer, row, same_position, &related);
    }
}

void pfb_sample_match(pfb_sample *older, pfb_sample *newer, const uint32_t *results, size_t count)
{
    if (!results)
        count = newer->counts.results;
    for (size_t i = 0; i < count; i++) {
        uint32_t r = results ? results[i] : (uint32_t)i;
        if (r < newer->counts.results)
            match_result(older, newer, r);
    }
}

/* ---- Inputs of a counter ------------------------------------------------------------------------------------ */

/* The sizes of numbers in bytes. Each is one bit, so a set of sizes is a bit mask. */
enum { SIZE_4 = 4, SIZE_8 = 8 };

/* Returns the set of sizes that values of a type may have; raw counts may have either size. */
static uint8_t declared_sizes(uint32_t type)
{
    if (pfb_counter_type_is_raw_count(type))
        return SIZE_4 | SIZE_8;
    uint32_t declared = (type & PFB_TYPE_SIZE_MASK) >> 8;
    return declared == PFB_RAW_DWORD ? SIZE_4 : declared == PFB_RAW_LARGE ? SIZE_8 : 0;
}

/* The numbers of a column, from the first row of its result on. */
typedef struct numbers {
    const uint64_t *raw;
    const uint8_t *sizes; /* 0 where there is no number */
} numbers;

/* Requires a column of a result with rows. */
static numbers column_numbers(const pfb_sample *sample, uint32_t column)
{
    const pfb_sample_result *result = &sample->results[sample->columns[column].result];
    size_t place = pfb_sample_place(sample, result->first_row, column);
    return (numbers){sample->raw + place, sample->sizes + place};
}

/* A counter that another counter refers to: its base, its multi count, or its clock. */
typedef struct reference {
    bool exists;              /* the sample has the counter, and its type fits the role */
    bool in_other_result;     /* the number is looked up for each row */
    uint8_t sizes;            /* SIZE_ bits: the sizes that its data may have */
    numbers numbers;          /* unless in_other_result */
    pfb_column_range columns; /* if in_other_result: all columns of the counter */
} reference;

/* The role of a counter for the counter that refers to it. */
typedef enum role { ROLE_BASE, ROLE_MULTI_COUNT, ROLE_CLOCK } role;

/* Returns true if counters of this type can have the role. */
static bool fits_role(uint32_t type, role wanted, bool is_v1)
{
    if (wanted == ROLE_BASE)
        return pfb_counter_type_is_base(type) && type != PFB_TYPE_MULTI_BASE &&
               (is_v1 || pfb_counter_type_find(type) != NULL);
    if (wanted == ROLE_MULTI_COUNT && is_v1)
        return type == PFB_TYPE_MULTI_BASE;
    return pfb_counter_type_is_raw_count(type);
}

/* Describes the counter of the column `target`, to which the counter of `column` refers; PFB_NONE: it refers to none.
 */
static reference refer(const pfb_sample *sample, const pfb_sample_column *column, uint32_t target, role wanted)
{
    reference none = {.exists = false};
    if (target == PFB_NONE)
        return none;
    const pfb_sample_column *referred = &sample->columns[target];
    uint32_t type = referred->counter.type;
    bool is_v1 = sample->results[column->result].kind == PFB_V1_OBJECT;
    if (!referred->has_counter || !fits_role(type, wanted, is_v1))
        return none;
    /* V1 values may have either size: real providers write other sizes than their types declare. */
    reference r = {.exists = true,
                   .in_other_result = referred->result != column->result,
                   .sizes = is_v1 ? SIZE_4 | SIZE_8 : declared_sizes(type)};
    if (r.in_other_result)
        r.columns = pfb_sample_columns_of(sample, &sample->results[column->result].counterset, referred->counter_id);
    else
        r.numbers = column_numbers(sample, target);
    return r;
}

/* A column of one of the two samples, and the counters to which its counter refers. */
typedef struct side {
    const pfb_sample *sample;
    uint32_t first_row, row_count; /* of the result */
    uint8_t sizes;                 /* SIZE_ bits: the sizes that the data may have */
    uint32_t shared;               /* PFB_HAS_ bits that every row has */
    numbers numbers;
    const uint64_t *multi_counts; /* V1: multi counts that follow the values; else null */
    reference base, multi_count, time, freq;
    pfb_raw_value raw; /* of the row read last; type, base type and the sample's clocks are the same for all rows */
    bool is_uniform;   /* rows whose data have the same sizes differ only in `value` and `base` of `raw` */
    pfb_related_rows *related; /* rows of the same instance in all results, for the last row that needed them */
} side;

/* Fills *s for a column. Only the references in `needs` (PFB_HAS_ bits) are prepared. Requires a result with rows. */
static void open_side(side *s, const pfb_sample *sample, uint32_t column, uint32_t needs, pfb_related_rows *related)
{
    const pfb_sample_column *c = &sample->columns[column];
    const pfb_sample_result *result = &sample->results[c->result];
    bool is_v1 = result->kind == PFB_V1_OBJECT;
    uint32_t object_clock = is_v1 ? PFB_HAS_OBJECT_TIME | PFB_HAS_OBJECT_FREQ : 0;
    *s = (side){.sample = sample,
                .first_row = result->first_row,
                .row_count = result->row_count,
                .sizes = is_v1 ? SIZE_4 | SIZE_8 : declared_sizes(c->counter.type),
                .shared = PFB_HAS_PERF_TIME | PFB_HAS_PERF_TIME_100NS | PFB_HAS_PERF_FREQ | object_clock,
                .numbers = column_numbers(sample, column),
                .related = related};
    s->base = refer(sample, c, needs & PFB_HAS_BASE ? c->base_column : PFB_NONE, ROLE_BASE);
    s->multi_count = refer(sample, c, needs & PFB_HAS_MULTI_COUNT ? c->multi_column : PFB_NONE, ROLE_MULTI_COUNT);
    s->time = refer(sample, c, needs & PFB_HAS_OBJECT_TIME & ~object_clock ? c->time_column : PFB_NONE, ROLE_CLOCK);
    s->freq = refer(sample, c, needs & PFB_HAS_OBJECT_FREQ & ~object_clock ? c->freq_column : PFB_NONE, ROLE_CLOCK);
    if (sample->multi_counts)
        s->multi_counts = sample->multi_counts + pfb_sample_place(sample, result->first_row, column);
    s->raw = (pfb_raw_value){.type = c->counter.type,
                             .perf_time = sample->perf_time,
                             .perf_time_100ns = sample->perf_time_100ns,
                             .perf_freq = sample->perf_freq,
                             .object_time = result->object_time,
                             .object_freq = result->object_freq};
    if (s->base.exists)
        s->raw.base_type = sample->columns[c->base_column].counter.type;
    s->is_uniform =
        !s->base.in_other_result && !s->multi_count.exists && !s->multi_counts && !s->time.exists && !s->freq.exists;
}

/* A raw value and its size in bytes, 4 or 8; 0 where there is no number. */
typedef struct number {
    uint64_t raw;
    uint8_t size;
} number;

/* Returns the number of another counter for the same instance, from the first result of the counterset that has both.
 */
static number number_in_other_result(const side *s, uint32_t row, pfb_column_range columns)
{
    uint32_t column;
    const pfb_sample_row *r = &s->sample->rows[row];
    pfb_sample_related_rows(s->sample, r->group, r->rank, s->related);
    uint32_t i = pfb_sample_first_with(s->sample, s->related, columns, &column);
    if (i == s->related->count)
        return (number){0, 0};
    size_t place = pfb_sample_place(s->sample, s->related->rows[i], column);
    return (number){s->sample->raw[place], s->sample->sizes[place]};
}

/* Returns the number of the counter `target` for a row, and sets `bit` in raw.has. If there is no number, or its size
 * does not fit the type, returns size 0 and leaves raw.has unchanged. */
static number read_reference(side *s, uint32_t row, const reference *target, uint32_t bit)
{
    uint32_t n = row - s->first_row;
    number found = target->in_other_result ? number_in_other_result(s, row, target->columns)
                                           : (number){target->numbers.raw[n], target->numbers.sizes[n]};
    if (!(target->sizes & found.size))
        return (number){0, 0};
    s->raw.has |= bit;
    return found;
}

/* The same for a clock, which is signed. */
static int64_t read_clock(side *s, uint32_t row, const reference *target, uint32_t bit)
{
    return signed_64(read_reference(s, row, target, bit).raw);
}

/* Fills s->raw with the inputs of a row. Returns false if the datum is a number of a size that its type does not
 * allow. */
static bool read_row(side *s, uint32_t row)
{
    uint32_t n = row - s->first_row;
    pfb_raw_value *raw = &s->raw;
    raw->has = s->shared;
    raw->value_size = s->numbers.sizes[n];
    raw->value = 0;
    raw->multi_count = 0;
    if (raw->value_size != 0) {
        raw->has |= PFB_HAS_VALUE;
        raw->value = s->numbers.raw[n];
    }
    if (s->base.exists) {
        number base = read_reference(s, row, &s->base, PFB_HAS_BASE);
        raw->base = base.raw;
        raw->base_size = base.size;
    }
    if (s->multi_count.exists)
        raw->multi_count = read_reference(s, row, &s->multi_count, PFB_HAS_MULTI_COUNT).raw;
    if (s->multi_counts && raw->value_size != 0 && s->multi_counts[n] != PFB_NO_MULTI_COUNT) {
        raw->has |= PFB_HAS_MULTI_COUNT;
        raw->multi_count = s->multi_counts[n];
    }
    if (s->time.exists)
        raw->object_time = read_clock(s, row, &s->time, PFB_HAS_OBJECT_TIME);
    if (s->freq.exists)
        raw->object_freq = read_clock(s, row, &s->freq, PFB_HAS_OBJECT_FREQ);
    return raw->value_size == 0 || (s->sizes & raw->value_size) != 0;
}

/* ---- Evaluation --------------------------------------------------------------------------------------------- */

/* Returns the column of the same counter in the result `r` of the older sample, or PFB_NONE. If both results have the
 * same number of columns, and the same counter at the position of `column`, this is the column at that position.
 * Otherwise columns were added, removed or moved, and only a counter that occurs once in each result is found. */
static uint32_t find_older_column(const pfb_sample *older, uint32_t r, const pfb_sample *newer,
                                  const pfb_sample_column *column)
{
    const pfb_sample_result *result = &older->results[r];
    if (result->column_count == newer->results[column->result].column_count) {
        uint32_t same = result->first_column + column->position;
        if (older->columns[same].counter_id == column->counter_id)
            return same;
    }
    /* In V1, PFB_NO_ID may be the title index of a counter. */
    bool is_known = column->counter_id != PFB_NO_ID || result->kind == PFB_V1_OBJECT;
    if (!is_known || pfb_sample_find_only_column(newer, column->result, column->counter_id) == PFB_NONE)
        return PFB_NONE;
    return pfb_sample_find_only_column(older, r, column->counter_id);
}

/* A column of the newer sample, the formula of its counter, and the older column that it is compared with. */
typedef struct comparison {
    const pfb_sample *older_sample; /* null: there is one sample only */
    bool has_inputs;                /* the caller wants all inputs, also those that the formula does not need */
    pfb_related_rows newer_related, older_related;
    /* The rest depends on the column. */
    const pfb_sample_column *column;
    pfb_formula formula;
    pfb_conditions conditions; /* of the row evaluated last */
    side newer;
    uint32_t older_result; /* for which `older` was opened; PFB_NONE: for none yet */
    bool has_older;        /* that result has the counter, with the same base and object clock */
    side older;
} comparison;

static void begin_comparison(comparison *c, const pfb_sample *older, bool has_inputs)
{
    c->older_sample = older;
    c->has_inputs = has_inputs;
    c->newer_related.group = c->older_related.group = PFB_NONE;
}

/* Adds the object's clock to `needs`, which are PFB_HAS_ bits, if the formula uses it when there is no base. */
static uint32_t with_clock(const comparison *c, uint32_t needs)
{
    return needs | (c->formula.terms & PFB_TERM_BASE_OR_TIME ? PFB_HAS_OBJECT_TIME : 0);
}

/* Returns the inputs to read as PFB_HAS_ bits. */
static uint32_t inputs_to_read(const comparison *c, uint32_t needs)
{
    return c->has_inputs ? UINT32_MAX : with_clock(c, needs);
}

/* Starts the comparison of a column of the newer sample. Requires a result with rows. */
static void begin_column(comparison *c, const pfb_sample *newer, uint32_t column, const pfb_formula_options *options)
{
    c->column = &newer->columns[column];
    c->formula = (pfb_formula){.status = PFB_STATUS_UNKNOWN_TYPE, .unit = PFB_UNIT_NONE};
    if (c->column->has_counter)
        c->formula = pfb_formula_prepare(c->column->counter.type, options);
    open_side(&c->newer, newer, column, inputs_to_read(c, c->formula.newer_needs), &c->newer_related);
    c->older_result = PFB_NONE;
    c->has_older = false;
}

/* Returns false if the columns to which a counter refers in the two samples are those of different counters. */
static bool is_same_reference(const comparison *c, uint32_t older, uint32_t newer)
{
    return older == PFB_NONE || newer == PFB_NONE || /* the formula reports what is missing */
           c->older_sample->columns[older].counter_id == c->newer.sample->columns[newer].counter_id;
}

/* Returns false if the formula would subtract the values of different counters, because the counter has another base or
 * object clock in the older sample. Registrations may change between the samples. */
static bool has_same_references(const comparison *c, const pfb_sample_column *older)
{
    uint32_t needs = with_clock(c, c->formula.older_needs);
    return (!(needs & PFB_HAS_BASE) || is_same_reference(c, older->base_column, c->column->base_column)) &&
           (!(needs & PFB_HAS_OBJECT_TIME) || is_same_reference(c, older->time_column, c->column->time_column));
}

/* Opens the older side for a row of the older sample. */
static void open_older(comparison *c, uint32_t older_row)
{
    uint32_t result = c->older_sample->rows[older_row].result;
    uint32_t column = find_older_column(c->older_sample, result, c->newer.sample, c->column);
    c->older_result = result;
    c->has_older = column != PFB_NONE && c->older_sample->columns[column].has_counter &&
                   has_same_references(c, &c->older_sample->columns[column]);
    const pfb_sample_result *r = &c->older_sample->results[result];
    if (c->has_older)
        open_side(&c->older, c->older_sample, column, inputs_to_read(c, c->formula.older_needs), &c->older_related);
    c->older.first_row = r->first_row;
    c->older.row_count = r->row_count;
}

/* Returns true if the older sample has the row and the counter with the same references; then the older side is open.
 */
static bool find_older(comparison *c, uint32_t older_row)
{
    /* older_row is out of range if it is PFB_NONE, and possibly if the row was matched with another sample. */
    if (!c->older_sample || older_row >= c->older_sample->counts.rows)
        return false;
    bool is_open = c->older_result != PFB_NONE && older_row - c->older.first_row < c->older.row_count;
    if (!is_open)
        open_older(c, older_row);
    return c->has_older;
}

/* Evaluates a row of the column. Returns true if there is an older value, whose inputs are then in c->older.raw. */
static bool evaluate_row(comparison *c, uint32_t row, pfb_formula_result *result)
{
    uint32_t older_row = c->newer.sample->rows[row].older_row;
    bool fits = read_row(&c->newer, row);
    bool has_older = find_older(c, older_row);
    if (has_older)
        fits = (read_row(&c->older, older_row) || c->formula.samples < 2) && fits;
    const pfb_raw_value *older = has_older ? &c->older.raw : NULL;
    pfb_formula_check(&c->formula, older, &c->newer.raw, &c->conditions);
    /* A wrong size is a type mismatch. The formula's own status and PFB_STATUS_NEED_TWO_SAMPLES are checked before
     * types, so they take precedence. */
    if (!fits && c->formula.status == PFB_STATUS_OK && c->conditions.status != PFB_STATUS_NEED_TWO_SAMPLES)
        c->conditions.status = PFB_STATUS_TYPE_MISMATCH;
    pfb_formula_compute(&c->formula, &c->conditions, older, &c->newer.raw, result);
    return has_older;
}

pfb_formula_result pfb_sample_cook_value(const pfb_sample *older, const pfb_sample *newer, uint32_t row,
                                         uint32_t column, const pfb_formula_options *options, pfb_cook_inputs *inputs)
{
    pfb_formula_result result = {.status = PFB_STATUS_UNKNOWN_TYPE, .unit = PFB_UNIT_NONE};
    pfb_cook_inputs in = {.older = {.has = 0}, .newer = {.has = 0}};
    bool inside = row < newer->counts.rows && column < newer->counts.columns &&
                  newer->columns[column].result == newer->rows[row].result;
    if (inside) {
        comparison c;
        begin_comparison(&c, older, inputs != NULL);
        begin_column(&c, newer, column, options);
        if (evaluate_row(&c, row, &result))
            in.older = c.older.raw;
        in.newer = c.newer.raw;
    }
    if (inputs)
        *inputs = in;
    return result;
}

/* Fast path for uniform sides: replaces the numbers of the row read last by those of another row. Returns false if the
 * two rows may also differ in the sizes of their data, or if `row` is not a row of this result. */
static inline bool read_numbers(side *s, uint32_t row)
{
    uint32_t n = row - s->first_row;
    if (n >= s->row_count || s->numbers.sizes[n] != s->raw.value_size)
        return false;
    s->raw.value = s->numbers.raw[n];
    if (!s->base.exists)
        return true;
    s->raw.base = s->base.numbers.raw[n];
    return s->base.numbers.sizes[n] == s->raw.base_size;
}

static void cook_column(comparison *c, double *values, uint8_t *status_bytes)
{
    const pfb_sample_row *rows = c->newer.sample->rows + c->newer.first_row;
    bool has_older = false; /* the previous row had an older value */
    for (uint32_t n = 0; n < c->newer.row_count; n++) {
        pfb_formula_result cooked;
        bool only_numbers_differ = has_older && c->newer.is_uniform && c->older.is_uniform;
        if (only_numbers_differ && read_numbers(&c->newer, c->newer.first_row + n) &&
            read_numbers(&c->older, rows[n].older_row))
            pfb_formula_compute(&c->formula, &c->conditions, &c->older.raw, &c->newer.raw, &cooked);
        else
            has_older = evaluate_row(c, c->newer.first_row + n, &cooked);
        values[n] = cooked.value;
        status_bytes[n] = pfb_formula_pack(&cooked);
    }
}

/* Evaluates the values of one newer result. */
static void cook_result(comparison *c, const pfb_sample *newer, uint32_t r, const pfb_formula_options *options,
                        double *values, uint8_t *status_bytes)
{
    const pfb_sample_result *result = &newer->results[r];
    if (result->row_count == 0)
        return;
    for (uint32_t i = 0; i < result->column_count; i++) {
        uint32_t column = result->first_column + i;
        begin_column(c, newer, column, options);
        size_t place = pfb_sample_place(newer, result->first_row, column);
        cook_column(c, values + place, status_bytes + place);
    }
}

bool pfb_sample_cook(const pfb_sample *older, const pfb_sample *newer, const uint32_t *results, size_t count,
                     const pfb_formula_options *options, double *values, uint8_t *status_bytes, size_t capacity)
{
    comparison c;
    if (capacity < newer->counts.values)
        return false;
    if (!results)
        count = newer->counts.results;
    begin_comparison(&c, older, false);
    for (size_t i = 0; i < count; i++) {
        uint32_t r = results ? results[i] : (uint32_t)i;
        if (r < newer->counts.results)
            cook_result(&c, newer, r, options, values, status_bytes);
    }
    return true;
}

pfb_raw_value pfb_sample_raw_value(const pfb_sample *sample, uint32_t row, uint32_t column)
{
    comparison c;
    if (row >= sample->counts.rows || column >= sample->counts.columns ||
        sample->columns[column].result != sample->rows[row].result)
        return (pfb_raw_value){.has = 0};
    begin_comparison(&c, NULL, true);
    begin_column(&c, sample, column, NULL);
    read_row(&c.newer, row);
    return c.newer.raw;
}
