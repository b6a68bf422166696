/* SPDX-License-Identifier: MIT */
/* Loads two V2 replies or V1 blocks with query information and registrations, matches them and evaluates the values,
 * one by one and all at once, those of V2 again with the instances in another order. A cell is a value of the newer
 * sample.
 *
 * Input: { samples u8, switches u8, scale u8, order u8[2], sizes u16[4] little-endian }, then the older reply, the
 * newer one, query information and a registration, of these sizes as far as the input goes; the rest is a second
 * registration. Bits of samples: 1 strict, 2 the older one has no query information. Switches and scale: the arguments
 * of make_options (checks.h). Order: the seeds of reorder_instances (reorder.h) for the older and the newer sample. */
#include "checks.h"
#include "perfblock/sample.h"
#include "reorder.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Samples with more cells or rows skip slow checks: cooking all values, reordering, and linear searches. Of more cells
 * only the first MAX_CELLS are evaluated one by one. */
enum { MAX_CELLS = 4096, MAX_SEARCHED_ROWS = 64 };

/* ---- Parts of the input -------------------------------------------------------------------------------- */

/* Bytes in a heap block of exactly their size. */
typedef struct part {
    uint8_t *data;
    size_t size;
} part;

static void *allocate(size_t size)
{
    void *memory = malloc(size > 0 ? size : 1);
    require(memory != NULL, "memory is available");
    return memory;
}

static part take(const uint8_t **data, size_t *left, size_t size)
{
    part p = {.size = size < *left ? size : *left};
    p.data = allocate(p.size);
    if (p.size > 0)
        memcpy(p.data, *data, p.size);
    *data += p.size;
    *left -= p.size;
    return p;
}

/* Compares offsets only: which of two blocks has the lower address differs from run to run, and a branch on it would
 * make the target unstable. */
static bool is_inside(const uint8_t *pointer, size_t size, const part *p)
{
    uintptr_t offset = (uintptr_t)pointer - (uintptr_t)p->data; /* wraps to a large number below the part */
    return offset <= p->size && size <= p->size - offset;
}

/* ---- One sample -------------------------------------------------------------------------------------------------- */

typedef struct sample {
    part data, info;
    pfb_sample_input input;
    void *memory;
    pfb_sample table;
} sample;

/* Checks that loading fails with an empty table if the memory is one byte too small, or if the count of values is one
 * too low. The memory is allocated with exactly the passed size, so that a sanitizer detects overruns. */
static void check_refusal(const sample *s, const pfb_sample_counts *counts, size_t size, uint64_t loaded_values)
{
    if (size == 0)
        return;
    pfb_sample small;
    void *memory = allocate(size - 1);
    pfb_error error = pfb_sample_load(&small, &s->input, counts, memory, size - 1);
    require(error.code == PFB_CALLER_TOO_SMALL && small.counts.rows == 0 && small.counts.values == 0,
            "memory that is too small is refused");
    free(memory);
    pfb_sample_counts fewer = *counts;
    if (loaded_values == 0)
        return;
    fewer.values = loaded_values - 1;
    memory = allocate(pfb_sample_size(&fewer));
    error = pfb_sample_load(&small, &s->input, &fewer, memory, pfb_sample_size(&fewer));
    require(error.code == PFB_CALLER_TOO_SMALL && small.counts.values == 0,
            "counts below those of the data are refused");
    free(memory);
}

/* Checks that loading a V2 reply returns the error of the reply's reader. */
static void check_error(const sample *s, pfb_error loaded)
{
    pfb_v2_reader reader;
    if (pfb_v1_recognise(s->data.data, s->data.size))
        return;
    pfb_v2_open(&reader, s->data.data, s->data.size, s->input.options);
    pfb_error error = pfb_v2_finish(&reader);
    require(loaded.code == error.code && loaded.offset == error.offset, "the error of loading is that of the reader");
}

static void load(sample *s)
{
    pfb_sample_counts counts;
    pfb_error measured = pfb_sample_measure(&s->input, &counts);
    size_t size = pfb_sample_size(&counts);
    require(measured.code != PFB_INTERNAL, "measuring returns no internal error");
    require(measured.offset <= s->data.size, "the offset of an error lies inside the input");
    require(size <= 32 * s->data.size + 8 * (size_t)counts.registrations + 64,
            "the memory of a table is linear in the input");
    s->memory = allocate(size);
    memset(s->memory, 0xA5, size);
    pfb_error loaded = pfb_sample_load(&s->table, &s->input, &counts, s->memory, size);
    const pfb_sample_counts *n = &s->table.counts;
    require(n->results <= counts.results && n->columns <= counts.columns && n->rows <= counts.rows &&
                n->values <= counts.values && n->multi_counts <= counts.multi_counts,
            "no more is loaded than was measured");
    if (loaded.code == PFB_OK)
        require(measured.code == PFB_OK && memcmp(&counts, n, sizeof counts) == 0, "a valid input is read completely");
    check_error(s, loaded);
    check_refusal(s, &counts, size, n->values);
}

static bool is_column(const pfb_sample *t, uint32_t column)
{
    return column == PFB_NONE || column < t->counts.columns;
}

static void check_results(const pfb_sample *t)
{
    uint32_t row = 0;
    uint32_t column = 0;
    for (uint32_t r = 0; r < t->counts.results; r++) {
        const pfb_sample_result *result = &t->results[r];
        require(result->first_row == row && result->first_column == column,
                "the rows and columns of a result follow those of the result before");
        row += result->row_count;
        column += result->column_count;
    }
    require(row == t->counts.rows && column == t->counts.columns, "the results contain all rows and columns");
    for (uint32_t c = 0; c < t->counts.columns; c++) {
        const pfb_sample_column *at = &t->columns[c];
        require(at->result < t->counts.results && at->position < t->results[at->result].column_count,
                "a column belongs to a result");
        require(is_column(t, at->base_column) && is_column(t, at->multi_column) && is_column(t, at->time_column) &&
                    is_column(t, at->freq_column),
                "references are columns or PFB_NONE");
        require(!at->has_counter || at->counter.id == at->counter_id, "a counter is registered under its id");
    }
}

/* Checks that every value of a row lies in the table, and that only numbers have a raw value other than 0. */
static void check_values(const sample *s, uint32_t row)
{
    const pfb_sample *t = &s->table;
    const pfb_sample_result *result = &t->results[t->rows[row].result];
    for (uint32_t n = 0; n < result->column_count; n++) {
        uint32_t column = result->first_column + n;
        pfb_sample_value v = pfb_sample_value_at(t, row, column);
        size_t place = pfb_sample_place(t, row, column);
        require(place < t->counts.values, "values lie in the table");
        require(v.exists == (n < t->rows[row].value_count), "a row has the number of values that it states");
        require(v.exists || (t->sizes[place] == 0 && t->raw[place] == 0), "values that do not exist are 0");
        require(v.raw == 0 || v.is_number, "data that is not a number has raw value 0");
        require(!v.exists || v.is_number == (v.size_bytes == 4 || v.size_bytes == 8), "numbers have 4 or 8 bytes");
        require(v.offset <= s->data.size && (v.is_number || v.size_bytes <= s->data.size - v.offset),
                "data that is not a number lies inside the input");
    }
}

static void check_rows(const sample *s)
{
    const pfb_sample *t = &s->table;
    for (uint32_t i = 0; i < t->counts.rows; i++) {
        const pfb_sample_row *row = &t->rows[i];
        require(row->result < t->counts.results, "a row belongs to a result");
        require(row->value_count <= t->results[row->result].column_count, "no more values than columns");
        size_t size = row->name.size_bytes;
        require(size == 0 || is_inside(row->name.bytes, size, &s->data) || is_inside(row->name.bytes, size, &s->info),
                "names lie inside the input");
        size = row->parent.size_bytes;
        require(size == 0 || is_inside(row->parent.bytes, size, &s->data), "names of parents lie inside the input");
        check_values(s, i);
    }
}

/* ---- Matching by linear search --------------------------------------------------------------------------------- */

static bool is_same_name(const pfb_name *a, const pfb_name *b)
{
    return a->size_bytes == b->size_bytes &&
           (a->size_bytes == 0 || (a->encoding == b->encoding && memcmp(a->bytes, b->bytes, a->size_bytes) == 0));
}

static bool is_same_instance(const pfb_sample_row *a, const pfb_sample_row *b)
{
    if (a->is_unique || b->is_unique)
        return a->is_unique && b->is_unique && a->id == b->id;
    return a->id == b->id && a->has_name == b->has_name && is_same_name(&a->name, &b->name) &&
           is_same_name(&a->parent, &b->parent);
}

static bool is_same_query(const pfb_sample_result *a, const pfb_sample_result *b)
{
    return a->has_query == b->has_query && pfb_guid_equal(&a->counterset, &b->counterset) &&
           a->counter_id == b->counter_id;
}

/* Returns the number of equal instances before a row in its result. */
static uint32_t count_equal_before(const pfb_sample *t, uint32_t row)
{
    uint32_t count = 0;
    for (uint32_t i = t->results[t->rows[row].result].first_row; i < row; i++)
        count += is_same_instance(&t->rows[i], &t->rows[row]);
    return count;
}

/* Finds the older row of a newer one among the results that answer the same query: in the one at the same position if
 * that has the instance, otherwise in the first that has it. Equal instances of a result are matched in their order. */
static uint32_t find_older_row(const pfb_sample *older, const pfb_sample *newer, uint32_t row)
{
    uint32_t result_of_row = newer->rows[row].result;
    uint32_t rank = count_equal_before(newer, row);
    uint32_t older_row = PFB_NONE;
    for (uint32_t i = 0; i < older->counts.rows; i++) {
        uint32_t result = older->rows[i].result;
        if (!is_same_query(&older->results[result], &newer->results[result_of_row]) ||
            !is_same_instance(&older->rows[i], &newer->rows[row]) || count_equal_before(older, i) != rank)
            continue;
        if (result == result_of_row)
            return i;
        older_row = older_row == PFB_NONE ? i : older_row;
    }
    return older_row;
}

/* ---- Two samples ------------------------------------------------------------------------------------------------ */

/* Checks that a row and its older row have the same identity and answer the same query, and that no two rows of a
 * result have the same older row. */
static void check_match(const pfb_sample *older, const pfb_sample *newer)
{
    uint32_t *used_by =
        allocate(older->counts.rows * sizeof *used_by); /* by older row: result of the newer row, plus 1 */
    memset(used_by, 0, older->counts.rows * sizeof *used_by);
    for (uint32_t i = 0; i < newer->counts.rows; i++) {
        const pfb_sample_row *row = &newer->rows[i];
        if (row->older_row == PFB_NONE)
            continue;
        require(row->older_row < older->counts.rows, "older_row is a row of the older sample");
        const pfb_sample_row *old = &older->rows[row->older_row];
        require(is_same_instance(row, old), "a row and its older row have the same identity");
        require(is_same_query(&newer->results[row->result], &older->results[old->result]),
                "a row and its older row answer the same query");
        require(used_by[row->older_row] != row->result + 1, "no two rows of a result have the same older row");
        used_by[row->older_row] = row->result + 1;
    }
    free(used_by);
}

/* Compares older_row with a linear search. For small tables only: pfb_sample_match examines at most 64 rows with equal
 * id and name, and the search is slow. */
static void check_older_rows(const pfb_sample *older, const pfb_sample *newer)
{
    if (older->counts.rows > MAX_SEARCHED_ROWS || newer->counts.rows > MAX_SEARCHED_ROWS)
        return;
    for (uint32_t i = 0; i < newer->counts.rows; i++)
        require(newer->rows[i].older_row == find_older_row(older, newer, i),
                "the older row is the one that a linear search finds");
}

/* ---- Related counters by linear search -------------------------------------------------------------- */

/* Returns the position of the first of a result's columns for a counter, or PFB_NONE. */
static uint32_t find_position(const pfb_sample *t, uint32_t result, uint32_t counter_id)
{
    const pfb_sample_result *r = &t->results[result];
    for (uint32_t n = 0; n < r->column_count; n++) {
        if (t->columns[r->first_column + n].counter_id == counter_id)
            return n;
    }
    return PFB_NONE;
}

/* Finds the value of a counter for the row's instance: in the row's result, otherwise in the first other result of the
 * counterset that has both the counter and the instance. */
static pfb_sample_value find_value(const pfb_sample *t, uint32_t row, uint32_t counter_id)
{
    uint32_t result_of_row = t->rows[row].result;
    uint32_t position = find_position(t, result_of_row, counter_id);
    uint32_t rank = count_equal_before(t, row);
    uint32_t found_row = row;
    for (uint32_t i = 0; i < t->counts.rows && position == PFB_NONE; i++) {
        uint32_t result = t->rows[i].result;
        bool fits = result != result_of_row && is_same_instance(&t->rows[i], &t->rows[row]) &&
                    pfb_guid_equal(&t->results[result].counterset, &t->results[result_of_row].counterset) &&
                    count_equal_before(t, i) == rank;
        if (fits) {
            position = find_position(t, result, counter_id);
            found_row = i;
        }
    }
    return pfb_sample_value_at(
        t, found_row, position == PFB_NONE ? PFB_NONE : t->results[t->rows[found_row].result].first_column + position);
}

/* Finds the column of a related counter: in the same result, otherwise in the first result of the same counterset that
 * has it; or PFB_NONE. */
static uint32_t find_referred(const pfb_sample *t, uint32_t result, uint32_t counter_id)
{
    uint32_t position = find_position(t, result, counter_id);
    if (position != PFB_NONE)
        return t->results[result].first_column + position;
    for (uint32_t c = 0; c < t->counts.columns; c++) {
        if (t->columns[c].counter_id == counter_id &&
            pfb_guid_equal(&t->results[t->columns[c].result].counterset, &t->results[result].counterset))
            return c;
    }
    return PFB_NONE;
}

/* Returns true for the four types whose displayed value is the raw value. */
static bool is_raw_count(uint32_t type)
{
    const pfb_counter_type *row = pfb_counter_type_find(type);
    return row && row->terms == PFB_TERM_RAW;
}

/* Returns true if a value can be that of a related counter: a base has a base type and the size of that type; a multi
 * count, clock or frequency has a raw-count type and 4 or 8 bytes. */
static bool fits_reference(const pfb_sample_column *referred, uint32_t size_bytes, bool is_base)
{
    const pfb_counter_type *type = pfb_counter_type_find(referred->counter.type);
    if (!referred->has_counter || !type)
        return false;
    if (is_base)
        return pfb_counter_type_is_base(type->value) && type->value != PFB_TYPE_MULTI_BASE &&
               size_bytes == (type->raw_size == PFB_RAW_DWORD ? 4 : 8);
    return is_raw_count(type->value) && (size_bytes == 4 || size_bytes == 8);
}

static bool find_reference(const pfb_sample *t, uint32_t row, uint32_t column, uint32_t counter_id, bool is_base,
                           uint64_t *raw)
{
    const pfb_sample_column *c = &t->columns[column];
    if (counter_id == PFB_NO_ID || counter_id == c->counter_id)
        return false;
    uint32_t referred = find_referred(t, c->result, counter_id);
    pfb_sample_value value = {.exists = false};
    if (referred != PFB_NONE)
        value = find_value(t, row, counter_id);
    if (!value.exists || !fits_reference(&t->columns[referred], value.size_bytes, is_base))
        return false;
    *raw = value.raw;
    return true;
}

static bool is_v1(const pfb_sample *t, uint32_t row)
{
    return t->results[t->rows[row].result].kind == PFB_V1_OBJECT;
}

/* Checks the inputs that come from related counters, for small tables only. V1 has no references by id; v1_readers.c
 * checks its bases. */
static void check_references(const pfb_sample *t, uint32_t row, uint32_t column, const pfb_raw_value *in)
{
    const pfb_counter *counter = &t->columns[column].counter;
    uint64_t raw = 0;
    if (t->counts.rows > MAX_SEARCHED_ROWS || !t->columns[column].has_counter || is_v1(t, row))
        return;
    bool has = find_reference(t, row, column, counter->base_id, true, &raw);
    require(has == ((in->has & PFB_HAS_BASE) != 0), "a base is found where there is one");
    require(!has || raw == in->base, "the base is that of the instance");
    uint32_t referred = has ? find_referred(t, t->columns[column].result, counter->base_id) : PFB_NONE;
    require(!has || t->columns[referred].counter.type == in->base_type, "the base has its own type");
    has = find_reference(t, row, column, counter->multi_id, false, &raw);
    require(has == ((in->has & PFB_HAS_MULTI_COUNT) != 0), "a multi count is found where there is one");
    require(!has || raw == in->multi_count, "the multi count is that of the instance");
    has = find_reference(t, row, column, counter->perf_time_id, false, &raw);
    require(has == ((in->has & PFB_HAS_OBJECT_TIME) != 0), "an object's clock is found where there is one");
    require(!has || raw == (uint64_t)in->object_time, "the clock is that of the instance");
    has = find_reference(t, row, column, counter->perf_freq_id, false, &raw);
    require(has == ((in->has & PFB_HAS_OBJECT_FREQ) != 0), "a clock's frequency is found where there is one");
    require(!has || raw == (uint64_t)in->object_freq, "the frequency is that of the instance");
}

/* ---- Cells ---------------------------------------------------------------------------------------------------- */

/* Returns true for data of 4 or 8 bytes if the type has another size. Raw counts, and all of V1, may have either
 * size. */
static bool is_wrong_size(const pfb_sample *t, uint32_t row, uint32_t column)
{
    const pfb_sample_column *c = &t->columns[column];
    uint32_t size = pfb_sample_value_at(t, row, column).size_bytes;
    if (is_raw_count(c->counter.type) || is_v1(t, row))
        return false;
    uint32_t declared = c->counter.type & PFB_TYPE_SIZE_MASK;
    return (size == 4 && declared != 0) || (size == 8 && declared != 0x100);
}

static uint32_t count_counters(const pfb_sample *t, uint32_t result, uint32_t counter_id)
{
    const pfb_sample_result *r = &t->results[result];
    uint32_t count = 0;
    for (uint32_t i = 0; i < r->column_count; i++)
        count += t->columns[r->first_column + i].counter_id == counter_id;
    return count;
}

/* Finds the column of the counter in the older row's result: the one at the same position if both results have the same
 * number of columns and it has this id; otherwise the one with this id if each result has exactly one; or PFB_NONE. */
static uint32_t find_older_column(const pfb_sample *older, uint32_t older_row, const pfb_sample *newer,
                                  const pfb_sample_column *column)
{
    uint32_t result = older->rows[older_row].result;
    const pfb_sample_result *r = &older->results[result];
    uint32_t id = column->counter_id;
    if (r->column_count == newer->results[column->result].column_count &&
        older->columns[r->first_column + column->position].counter_id == id)
        return r->first_column + column->position;
    bool is_known = id != PFB_NO_ID || r->kind == PFB_V1_OBJECT; /* V1: PFB_NO_ID may be a title index */
    bool is_alone =
        is_known && count_counters(newer, column->result, id) == 1 && count_counters(older, result, id) == 1;
    return is_alone ? r->first_column + find_position(older, result, id) : PFB_NONE;
}

/* A cell, and the older one that it is compared with, if there is one. */
typedef struct cell {
    const pfb_sample *older, *newer;
    uint32_t row, column, older_row, older_column;
} cell;

/* Returns true if the two columns exist and are those of different counters. */
static bool are_different(const cell *c, uint32_t older, uint32_t newer)
{
    return older != PFB_NONE && newer != PFB_NONE &&
           c->older->columns[older].counter_id != c->newer->columns[newer].counter_id;
}

/* Returns true if the formula subtracts a base or an object clock that is another counter in the older sample. */
static bool has_other_reference(const cell *c, const pfb_formula_options *options)
{
    const pfb_sample_column *older = &c->older->columns[c->older_column];
    const pfb_sample_column *newer = &c->newer->columns[c->column];
    pfb_counter_type derived;
    const pfb_counter_type *type = pfb_counter_type_find(newer->counter.type);
    if (!type && options->generic && pfb_counter_type_derive(newer->counter.type, &derived))
        type = &derived;
    if (!type)
        return false;
    bool may_take_time = (type->terms & PFB_TERM_BASE_OR_TIME) != 0;
    bool subtracts_base = type->denominator == PFB_DENOMINATOR_BASE_DELTA;
    bool subtracts_clock = type->denominator == PFB_DENOMINATOR_TIME && type->clock == PFB_CLOCK_OBJECT;
    return (subtracts_base && are_different(c, older->base_column, newer->base_column)) ||
           ((subtracts_clock || may_take_time) && are_different(c, older->time_column, newer->time_column));
}

static cell make_cell(const pfb_sample *older, const pfb_sample *newer, uint32_t row, uint32_t column,
                      const pfb_formula_options *options)
{
    cell c = {older, newer, row, column, newer->rows[row].older_row, PFB_NONE};
    if (older && c.older_row != PFB_NONE)
        c.older_column = find_older_column(older, c.older_row, newer, &newer->columns[column]);
    if (c.older_column != PFB_NONE && (!older->columns[c.older_column].has_counter || has_other_reference(&c, options)))
        c.older_column = PFB_NONE;
    return c;
}

/* Checks that the result of a cell is that of its inputs, or type_mismatch if the data have a size that the type does
 * not allow. */
static void check_status(const cell *c, const pfb_cook_inputs *in, const pfb_formula_options *options,
                         const pfb_formula_result *result)
{
    bool has_older = c->older_column != PFB_NONE;
    pfb_formula_result repeated = pfb_formula_evaluate(has_older ? &in->older : NULL, &in->newer, options);
    pfb_formula_result alone = pfb_formula_evaluate(NULL, &in->newer, options);
    bool is_size_checked = repeated.status != PFB_STATUS_UNKNOWN_TYPE && repeated.status != PFB_STATUS_NOT_DISPLAYED &&
                           repeated.status != PFB_STATUS_BAD_SCALE && repeated.status != PFB_STATUS_NEED_TWO_SAMPLES;
    bool has_wrong_size =
        is_wrong_size(c->newer, c->row, c->column) || (has_older && alone.status == PFB_STATUS_NEED_TWO_SAMPLES &&
                                                       is_wrong_size(c->older, c->older_row, c->older_column));
    require(has_older == (in->older.has != 0), "the older inputs are returned if there is an older value");
    if (is_size_checked && has_wrong_size)
        require(result->status == PFB_STATUS_TYPE_MISMATCH && result->unit == repeated.unit,
                "data of another size than its type's has status type_mismatch");
    else
        require(is_same_result(result, &repeated), "the returned inputs give the same result");
}

static void check_cell(const pfb_sample *older, const pfb_sample *newer, uint32_t row, uint32_t column,
                       const pfb_formula_options *options)
{
    pfb_cook_inputs in;
    pfb_formula_result result = pfb_sample_cook_value(older, newer, row, column, options, &in);
    pfb_formula_result repeated = pfb_sample_cook_value(older, newer, row, column, options, NULL);
    require(is_same_result(&result, &repeated), "the same cell gives the same result");
    require((unsigned)result.status <= PFB_STATUS_BAD_SCALE, "statuses are known");
    require(result.value - result.value == 0, "values are finite");
    if (result.status != PFB_STATUS_OK)
        require(result.value == 0 && result.flags == 0 && !result.is_integer, "there is no value without status ok");
    if (!newer->columns[column].has_counter) {
        require(result.status == PFB_STATUS_UNKNOWN_TYPE, "a counter without registration has status unknown_type");
        return;
    }
    cell c = make_cell(older, newer, row, column, options);
    check_references(newer, row, column, &in.newer);
    if (c.older_column != PFB_NONE)
        check_references(older, c.older_row, c.older_column, &in.older);
    check_status(&c, &in, options, &result);
}

static void check_cells(const pfb_sample *older, const pfb_sample *newer, const pfb_formula_options *options)
{
    uint32_t cells = 0;
    for (uint32_t row = 0; row < newer->counts.rows; row++) {
        const pfb_sample_result *result = &newer->results[newer->rows[row].result];
        for (uint32_t n = 0; n < result->column_count && cells < MAX_CELLS; n++, cells++) {
            check_cell(older, newer, row, result->first_column + n, options);
            check_cell(NULL, newer, row, result->first_column + n, options);
        }
    }
}

/* ---- Whole samples -------------------------------------------------------------------------------------------- */

/* Checks that `capacity`, which is one value too small, is refused, and that nothing is written. */
static void check_small_capacity(const pfb_sample *older, const pfb_sample *newer, const pfb_formula_options *options,
                                 size_t capacity)
{
    size_t size = capacity * (sizeof(double) + 1);
    uint8_t *memory = allocate(size);
    memset(memory, 0xA5, size);
    double *values = (double *)(void *)memory;
    bool done = pfb_sample_cook(older, newer, NULL, 0, options, values, memory + capacity * sizeof(double), capacity);
    require(!done, "a capacity that is too small is refused");
    for (size_t i = 0; i < size; i++)
        require(memory[i] == 0xA5, "a rejected call writes nothing");
    free(memory);
}

/* Checks that each result is stored at the index of its value. The arrays have exactly the required size, so that a
 * sanitizer detects overruns. */
static void check_packed_results(const pfb_sample *older, const pfb_sample *newer, const pfb_formula_options *options,
                                 const double *values, const uint8_t *status_bytes)
{
    for (uint32_t row = 0; row < newer->counts.rows; row++) {
        const pfb_sample_result *result = &newer->results[newer->rows[row].result];
        for (uint32_t n = 0; n < result->column_count; n++) {
            uint32_t column = result->first_column + n;
            pfb_formula_result alone = pfb_sample_cook_value(older, newer, row, column, options, NULL);
            size_t place = pfb_sample_place(newer, row, column);
            require(is_packed_result(values[place], status_bytes[place], &alone),
                    "cooking all values gives the same results as one by one");
        }
    }
}

static void check_cook(const pfb_sample *older, const pfb_sample *newer, const pfb_formula_options *options)
{
    if (newer->counts.values > MAX_CELLS)
        return;
    size_t count = (size_t)newer->counts.values;
    if (count > 0)
        check_small_capacity(older, newer, options, count - 1);
    double *values = allocate(count * sizeof *values);
    uint8_t *status_bytes = allocate(count);
    require(pfb_sample_cook(older, newer, NULL, 0, options, values, status_bytes, count),
            "a capacity of counts.values is sufficient");
    check_packed_results(older, newer, options, values, status_bytes);
    free(values);
    free(status_bytes);
}

/* ---- Instances in another order -------------------------------------------------------------------------------- */

/* A copy of a sample whose instances are in another order. */
typedef struct reordered {
    sample sample;
    uint32_t *moved_to; /* by row of the original: its row in the copy */
} reordered;

static bool make_reordered(reordered *r, const sample *original, uint8_t order)
{
    r->sample = *original;
    r->sample.memory = NULL;
    r->sample.data.data = allocate(original->data.size);
    r->sample.input.data = r->sample.data.data;
    r->moved_to = allocate(original->table.counts.rows * sizeof *r->moved_to);
    if (!reorder_instances(original->data.data, original->data.size, original->input.options, order,
                           r->sample.data.data, r->moved_to))
        return false;
    load(&r->sample);
    require(memcmp(&r->sample.table.counts, &original->table.counts, sizeof original->table.counts) == 0,
            "a reordered valid reply is valid");
    return true;
}

static void free_reordered(reordered *r)
{
    free(r->sample.data.data);
    free(r->sample.memory);
    free(r->moved_to);
}

static bool is_same_raw_value(const pfb_raw_value *a, const pfb_raw_value *b)
{
    return a->type == b->type && a->has == b->has && a->value == b->value && a->base == b->base &&
           a->multi_count == b->multi_count && a->perf_time == b->perf_time &&
           a->perf_time_100ns == b->perf_time_100ns && a->object_time == b->object_time &&
           a->perf_freq == b->perf_freq && a->object_freq == b->object_freq && a->base_type == b->base_type &&
           a->value_size == b->value_size && a->base_size == b->base_size;
}

/* A pair of samples, the same pair with its instances in another order, and a row of the newer sample in both. */
typedef struct two_orders {
    const pfb_sample *older, *newer, *moved_older, *moved_newer;
    uint32_t row, moved_row;
} two_orders;

static void check_moved_row(const two_orders *o, const pfb_formula_options *options)
{
    const pfb_sample_result *result = &o->newer->results[o->newer->rows[o->row].result];
    for (uint32_t n = 0; n < result->column_count; n++) {
        pfb_cook_inputs in;
        pfb_cook_inputs moved_in;
        uint32_t column = result->first_column + n;
        pfb_formula_result a = pfb_sample_cook_value(o->older, o->newer, o->row, column, options, &in);
        pfb_formula_result b =
            pfb_sample_cook_value(o->moved_older, o->moved_newer, o->moved_row, column, options, &moved_in);
        require(is_same_result(&a, &b), "an instance's values do not depend on the order of instances");
        require(is_same_raw_value(&in.newer, &moved_in.newer),
                "the newer inputs do not depend on the order of instances");
        require(in.older.has == moved_in.older.has &&
                    (in.older.has == 0 || is_same_raw_value(&in.older, &moved_in.older)),
                "the older inputs do not depend on the order of instances");
    }
}

/* Requires matched samples of which the newer one has at most MAX_CELLS values, padding included. */
static void compare_orders(const sample *older, const sample *newer, reordered *moved_older, reordered *moved_newer,
                           const pfb_formula_options *options)
{
    pfb_sample *a = &moved_older->sample.table;
    pfb_sample *b = &moved_newer->sample.table;
    pfb_sample_match(a, b, NULL, 0);
    for (uint32_t row = 0; row < newer->table.counts.rows; row++) {
        uint32_t older_row = newer->table.rows[row].older_row;
        uint32_t moved = moved_newer->moved_to[row];
        require(b->rows[moved].older_row == (older_row == PFB_NONE ? PFB_NONE : moved_older->moved_to[older_row]),
                "the matched rows do not depend on the order of instances");
        two_orders both = {&older->table, &newer->table, a, b, row, moved};
        check_moved_row(&both, options);
    }
}

static void check_orders(const sample *older, const sample *newer, const uint8_t order[2],
                         const pfb_formula_options *options)
{
    reordered moved_older = {.moved_to = NULL};
    reordered moved_newer = {.moved_to = NULL};
    if ((order[0] == 0 && order[1] == 0) || newer->table.counts.values > MAX_CELLS)
        return;
    if (make_reordered(&moved_older, older, order[0]) && make_reordered(&moved_newer, newer, order[1]))
        compare_orders(older, newer, &moved_older, &moved_newer, options);
    free_reordered(&moved_older);
    free_reordered(&moved_newer);
}

/* ---- All checks ----------------------------------------------------------------------------------------------- */

/* Matches a sample with itself and checks that every row is its own older row. */
static void check_match_with_itself(pfb_sample *t)
{
    pfb_sample_match(t, t, NULL, 0);
    for (uint32_t row = 0; row < t->counts.rows; row++)
        require(t->rows[row].older_row == row, "in a sample matched with itself, each row is its own older row");
}

/* Checks that each row of a numbered sample is found by its name, its parent and its occurrence, for small tables only.
 */
static void check_names(const pfb_sample *t)
{
    const pfb_name none = {NULL, 0, 0};
    for (uint32_t i = 0; i < t->counts.rows && t->counts.rows <= MAX_SEARCHED_ROWS; i++) {
        const pfb_sample_row *row = &t->rows[i];
        const pfb_sample_result *result = &t->results[row->result];
        const pfb_name *name = row->has_name ? &row->name : &none;
        uint32_t equal = 0;
        uint32_t named = 0;
        for (uint32_t n = result->first_row; n < result->first_row + result->row_count; n++) {
            const pfb_sample_row *other = &t->rows[n];
            bool is_named = other->has_name == row->has_name && is_same_name(&other->name, &row->name);
            named += is_named;
            equal += is_named && n < i && is_same_name(&other->parent, &row->parent);
        }
        require(row->occurrence == equal, "rows of equal names are numbered in their order");
        /* Names that are not in the object's code page are those of parents in other objects. */
        if (row->parent.size_bytes == 0 || row->parent.encoding == result->code_page)
            require(pfb_sample_find_row(t, row->result, name, &row->parent, equal) == i, "a row is found by its name");
        uint32_t found = pfb_sample_find_row(t, row->result, name, NULL, named - 1);
        require(found - result->first_row < result->row_count && is_same_name(&t->rows[found].name, &row->name),
                "rows of any parent are found");
        require(pfb_sample_find_row(t, row->result, name, NULL, named) == PFB_NONE, "no more rows have the name");
    }
    for (uint32_t c = 0; c < t->counts.columns && t->counts.columns <= MAX_SEARCHED_ROWS; c++) {
        const pfb_sample_column *column = &t->columns[c];
        const pfb_sample_result *result = &t->results[column->result];
        uint32_t found =
            pfb_sample_find_column(t, &result->counterset, column->counter_id, column->result) - result->first_column;
        require(found == find_position(t, column->result, column->counter_id), "a column is found by its counter");
    }
}

static void check_samples(sample *older, sample *newer, const uint8_t order[2], const pfb_formula_options *options)
{
    load(older);
    load(newer);
    check_results(&newer->table);
    check_rows(newer);
    check_match_with_itself(&newer->table);
    pfb_sample_match(&older->table, &newer->table, NULL, 0);
    check_match(&older->table, &newer->table);
    check_older_rows(&older->table, &newer->table);
    check_cells(&older->table, &newer->table, options);
    check_cook(&older->table, &newer->table, options);
    check_cook(NULL, &newer->table, options);
    check_orders(older, newer, order, options);
    pfb_sample_number_rows(&older->table);
    pfb_sample_number_rows(&newer->table);
    check_names(&newer->table);
    pfb_sample_match(&older->table, &newer->table, NULL, 0);
    check_match(&older->table, &newer->table);
    check_rows(newer);
}

/* ---- Input ------------------------------------------------------------------------------------------------------ */

enum { IS_STRICT = 1, OLDER_WITHOUT_INFO = 2 };

static sample make_sample(part data, part info, const pfb_registration *registrations, uint32_t count, bool strict)
{
    sample s = {.data = data, .info = info};
    s.input = (pfb_sample_input){.data = data.data,
                                 .data_size_bytes = data.size,
                                 .query_info = info.data,
                                 .query_info_size_bytes = info.size,
                                 .registrations = registrations,
                                 .registration_count = count,
                                 .options = strict ? STRICT : NULL};
    return s;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { PARTS = 4, SIZES_AT = 5, HEADER = SIZES_AT + 2 * PARTS };
    if (size < HEADER)
        return 0;
    bool strict = (data[0] & IS_STRICT) != 0;
    const uint8_t order[2] = {data[3], data[4]};
    const uint8_t *at = data + HEADER;
    size_t left = size - HEADER;
    part parts[PARTS];
    for (int i = 0; i < PARTS; i++)
        parts[i] = take(&at, &left, (size_t)(data[SIZES_AT + 2 * i] | data[SIZES_AT + 1 + 2 * i] << 8));
    part last = take(&at, &left, left);
    pfb_registration registrations[2];
    uint32_t count = 0;
    count += pfb_registration_open(&registrations[count], parts[3].data, parts[3].size, NULL);
    count += pfb_registration_open(&registrations[count], last.data, last.size, NULL);
    part older_info = {parts[2].data, data[0] & OLDER_WITHOUT_INFO ? 0 : parts[2].size};
    sample older = make_sample(parts[0], older_info, registrations, count, strict);
    sample newer = make_sample(parts[1], parts[2], registrations, count, strict);
    pfb_formula_options options = make_options(data[1], data[2]);
    check_samples(&older, &newer, order, &options);
    for (int i = 0; i < PARTS; i++)
        free(parts[i].data);
    free(last.data);
    free(older.memory);
    free(newer.memory);
    return 0;
}
