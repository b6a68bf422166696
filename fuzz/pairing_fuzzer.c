/* SPDX-License-Identifier: MIT */
/* Snapshots and pairing: two data blocks, what their queries asked and registrations, all of it from the input, are
 * loaded, matched and evaluated, cell by cell.
 *
 * An input: { options u8, sizes u16[4] little-endian }, then the older data block, the newer one, query information and
 * a registration, of these sizes as far as the input goes; what is left is a second registration. Options: 1 strict,
 * 2 wrap32, 4 the older sample has no query information. */
#include "perfblock/pairing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { STRICT = 1, WRAP32 = 2, OLDER_UNASKED = 4 };
enum { MOST_CELLS = 4096 };

static void demand(bool kept, const char *promise)
{
    if (kept)
        return;
    fprintf(stderr, "broken promise: %s\n", promise);
    abort();
}

/* ---- Parts of the input -------------------------------------------------------------------------------- */

/* Bytes in a heap block of exactly their size. */
typedef struct part {
    uint8_t *data;
    size_t size;
} part;

static void *allocate(size_t size)
{
    void *memory = malloc(size > 0 ? size : 1);
    demand(memory != NULL, "there is memory");
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

static bool is_inside(const uint8_t *pointer, size_t size, const part *p)
{
    uintptr_t begin = (uintptr_t)p->data;
    uintptr_t at = (uintptr_t)pointer;
    return at >= begin && at - begin <= p->size && size <= p->size - (at - begin);
}

/* ---- One sample
 * ------------------------------------------------------------------------------------------------------ */

typedef struct sample {
    part data, info;
    pfb_snapshot_input input;
    void *memory;
    pfb_snapshot snapshot;
} sample;

/* Memory one byte too small, or a count too low: refused, and the table is empty. The exact block shows overruns. */
static void check_refusal(const sample *s, const pfb_snapshot_counts *counts, size_t size)
{
    if (size == 0)
        return;
    pfb_snapshot small;
    void *memory = allocate(size - 1);
    pfb_error error = pfb_snapshot_load(&small, &s->input, counts, memory, size - 1);
    demand(error.code == PFB_CALLER_TOO_SMALL && small.counts.rows == 0 && small.counts.values == 0,
           "small is refused");
    free(memory);
    pfb_snapshot_counts fewer = *counts;
    if (fewer.values == 0)
        return;
    fewer.values--;
    memory = allocate(pfb_snapshot_size(&fewer));
    error = pfb_snapshot_load(&small, &s->input, &fewer, memory, pfb_snapshot_size(&fewer));
    demand(error.code == PFB_CALLER_TOO_SMALL && small.counts.values == 0, "bytes that grew are refused");
    free(memory);
}

static void load(sample *s)
{
    pfb_snapshot_counts counts;
    pfb_error measured = pfb_snapshot_measure(&s->input, &counts);
    size_t size = pfb_snapshot_size(&counts);
    demand(measured.code != PFB_INTERNAL, "no contradiction inside");
    demand(measured.offset <= s->data.size, "errors lie inside the input");
    demand(size <= 25 * s->data.size + 8 * (size_t)counts.registrations + 64, "tables have a bound");
    s->memory = allocate(size);
    memset(s->memory, 0xA5, size);
    pfb_error loaded = pfb_snapshot_load(&s->snapshot, &s->input, &counts, s->memory, size);
    demand(loaded.code == measured.code && loaded.offset == measured.offset, "measuring and loading agree");
    demand(memcmp(&counts, &s->snapshot.counts, sizeof counts) == 0, "as much is loaded as was measured");
    check_refusal(s, &counts, size);
}

static bool is_column(const pfb_snapshot *t, uint32_t column)
{
    return column == PFB_NONE || column < t->counts.columns;
}

static void check_results(const pfb_snapshot *t)
{
    uint32_t row = 0;
    uint32_t column = 0;
    for (uint32_t r = 0; r < t->counts.results; r++) {
        const pfb_snapshot_result *result = &t->results[r];
        demand(result->first_row == row && result->first_column == column, "results part the table");
        row += result->row_count;
        column += result->column_count;
    }
    demand(row == t->counts.rows && column == t->counts.columns, "results part the whole table");
    for (uint32_t c = 0; c < t->counts.columns; c++) {
        const pfb_snapshot_column *at = &t->columns[c];
        demand(at->result < t->counts.results && at->position < t->results[at->result].column_count, "columns");
        demand(is_column(t, at->base_column) && is_column(t, at->multi_column) && is_column(t, at->time_column) &&
                   is_column(t, at->freq_column),
               "references lead to columns");
        demand(!at->has_counter || at->counter.id == at->counter_id, "a counter is registered under its id");
    }
}

static void check_rows(const sample *s)
{
    const pfb_snapshot *t = &s->snapshot;
    uint32_t value = 0;
    for (uint32_t i = 0; i < t->counts.rows; i++) {
        const pfb_snapshot_row *row = &t->rows[i];
        demand(row->result < t->counts.results && row->first_value == value, "rows part the values");
        demand(row->value_count <= t->results[row->result].column_count, "no more values than columns");
        demand(row->name_units == 0 || is_inside(row->name, 2 * (size_t)row->name_units, &s->data) ||
                   is_inside(row->name, 2 * (size_t)row->name_units, &s->info),
               "names lie inside the input");
        value += row->value_count;
    }
    demand(value == t->counts.values, "rows part all values");
    for (uint32_t i = 0; i < t->counts.values; i++) {
        const pfb_snapshot_value *v = &t->values[i];
        demand(v->offset <= s->data.size && v->size_bytes <= s->data.size - v->offset, "values lie inside the input");
        demand(v->raw == 0 || v->size_bytes == 4 || v->size_bytes == 8, "only numbers have a number");
    }
}

/* ---- Two samples
 * ----------------------------------------------------------------------------------------------------- */

static bool is_same_name(const pfb_snapshot_row *a, const pfb_snapshot_row *b)
{
    return a->has_name == b->has_name && a->name_units == b->name_units &&
           (a->name_units == 0 || memcmp(a->name, b->name, 2 * (size_t)a->name_units) == 0);
}

/* A row's older row is the same instance, for the same counter of the same set; none serves two rows of a result. */
static void check_match(const pfb_snapshot *older, const pfb_snapshot *newer)
{
    uint32_t *used_by = allocate(older->counts.rows * sizeof *used_by); /* result + 1 */
    memset(used_by, 0, older->counts.rows * sizeof *used_by);
    for (uint32_t i = 0; i < newer->counts.rows; i++) {
        const pfb_snapshot_row *row = &newer->rows[i];
        if (row->older_row == PFB_NONE)
            continue;
        demand(row->older_row < older->counts.rows, "older rows are rows");
        const pfb_snapshot_row *old = &older->rows[row->older_row];
        const pfb_snapshot_result *a = &newer->results[row->result];
        const pfb_snapshot_result *b = &older->results[old->result];
        demand(row->id == old->id && is_same_name(row, old), "a row and its older row are one instance");
        demand(pfb_guid_equal(&a->counterset, &b->counterset) && a->counter_id == b->counter_id, "of one query");
        demand(used_by[row->older_row] != row->result + 1, "an older row serves one row of a result");
        used_by[row->older_row] = row->result + 1;
    }
    free(used_by);
}

/* ---- Bases, the obvious way --------------------------------------------------------------------------------- */

static bool is_same_instance(const pfb_snapshot_row *a, const pfb_snapshot_row *b)
{
    return a->id == b->id && is_same_name(a, b);
}

/* Which of the equal instances of its result a row is. */
static uint32_t count_twins_before(const pfb_snapshot *t, uint32_t row)
{
    uint32_t count = 0;
    for (uint32_t i = t->results[t->rows[row].result].first_row; i < row; i++)
        count += is_same_instance(&t->rows[i], &t->rows[row]);
    return count;
}

/* The position of the first of a result's columns for a counter, or PFB_NONE. */
static uint32_t find_position(const pfb_snapshot *t, uint32_t result, uint32_t counter_id)
{
    const pfb_snapshot_result *r = &t->results[result];
    for (uint32_t n = 0; n < r->column_count; n++) {
        if (t->columns[r->first_column + n].counter_id == counter_id)
            return n;
    }
    return PFB_NONE;
}

/* The value of a counter for the row's instance: in its own result, else in the first other that has both. */
static const pfb_snapshot_value *find_value(const pfb_snapshot *t, uint32_t row, uint32_t counter_id)
{
    uint32_t home = t->rows[row].result;
    uint32_t position = find_position(t, home, counter_id);
    uint32_t twin = count_twins_before(t, row);
    uint32_t found = row;
    for (uint32_t i = 0; i < t->counts.rows && position == PFB_NONE; i++) {
        uint32_t result = t->rows[i].result;
        bool fits = result != home && is_same_instance(&t->rows[i], &t->rows[row]) &&
                    pfb_guid_equal(&t->results[result].counterset, &t->results[home].counterset) &&
                    count_twins_before(t, i) == twin;
        if (fits) {
            position = find_position(t, result, counter_id);
            found = i;
        }
    }
    if (position >= t->rows[found].value_count)
        return NULL;
    return &t->values[t->rows[found].first_value + position];
}

static bool find_base(const pfb_snapshot *t, uint32_t row, uint32_t column, uint64_t *raw)
{
    const pfb_snapshot_column *c = &t->columns[column];
    if (c->base_column == PFB_NONE || c->counter.base_id == c->counter_id)
        return false;
    const pfb_snapshot_column *base = &t->columns[c->base_column];
    const pfb_counter_type *type = pfb_counter_type_find(base->counter.type);
    const pfb_snapshot_value *value = find_value(t, row, c->counter.base_id);
    if (!base->has_counter || !type || !pfb_counter_type_is_base(type->value) || !value)
        return false;
    *raw = value->raw;
    return value->size_bytes == (type->raw_size == PFB_RAW_DWORD ? 4 : 8);
}

/* Small tables only: there the limit on candidates does not bind, and slowness does not matter. */
static void check_base(const pfb_snapshot *t, uint32_t row, uint32_t column, const pfb_sample *inputs)
{
    enum { FEW_ROWS = 64 };
    uint64_t raw = 0;
    if (t->counts.rows > FEW_ROWS || !t->columns[column].has_counter)
        return;
    bool has = find_base(t, row, column, &raw);
    demand(has == ((inputs->has & PFB_HAS_BASE) != 0), "a base is found where there is one");
    demand(!has || raw == inputs->base, "the base is that of the instance");
}

/* ---- Cells ---------------------------------------------------------------------------------------------------- */

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static bool is_same_result(const pfb_formula_result *a, const pfb_formula_result *b)
{
    return a->status == b->status && a->flags == b->flags && bits_of(a->value) == bits_of(b->value) &&
           a->unit == b->unit && a->is_integer == b->is_integer && a->integer == b->integer;
}

static void check_cell(const pfb_snapshot *older, const pfb_snapshot *newer, uint32_t row, uint32_t column,
                       const pfb_formula_options *options)
{
    pfb_pairing_inputs in;
    pfb_formula_result result = pfb_pairing_evaluate(older, newer, row, column, options, &in);
    pfb_formula_result again = pfb_pairing_evaluate(older, newer, row, column, options, NULL);
    demand(is_same_result(&result, &again), "the same cell gives the same result");
    demand((unsigned)result.status <= PFB_STATUS_NO_DATA, "statuses are known");
    check_base(newer, row, column, &in.newer);
    demand(result.value - result.value == 0, "values are finite");
    if (result.status != PFB_STATUS_OK)
        demand(result.value == 0 && result.flags == 0 && !result.is_integer, "no value without status ok");
    if (!newer->columns[column].has_counter)
        demand(result.status == PFB_STATUS_UNKNOWN_TYPE, "no type without registration");
    else if (result.status != PFB_STATUS_TYPE_MISMATCH) {
        again = pfb_formula_evaluate(in.older.has != 0 ? &in.older : NULL, &in.newer, options);
        demand(is_same_result(&result, &again), "the inputs handed out are those of the result");
    }
}

static void check_cells(const pfb_snapshot *older, const pfb_snapshot *newer, const pfb_formula_options *options)
{
    uint32_t cells = 0;
    for (uint32_t row = 0; row < newer->counts.rows; row++) {
        const pfb_snapshot_result *result = &newer->results[newer->rows[row].result];
        for (uint32_t n = 0; n < result->column_count && cells < MOST_CELLS; n++, cells++) {
            check_cell(older, newer, row, result->first_column + n, options);
            check_cell(NULL, newer, row, result->first_column + n, options);
        }
    }
}

/* A sample matched with itself: every instance is its own past. */
static void check_own_past(pfb_snapshot *t)
{
    pfb_pairing_match(t, t);
    for (uint32_t row = 0; row < t->counts.rows; row++)
        demand(t->rows[row].older_row == row, "nothing changed, and everybody is still there");
}

static void check_samples(sample *older, sample *newer, const pfb_formula_options *options)
{
    load(older);
    load(newer);
    check_results(&newer->snapshot);
    check_rows(newer);
    check_own_past(&newer->snapshot);
    pfb_pairing_match(&older->snapshot, &newer->snapshot);
    check_match(&older->snapshot, &newer->snapshot);
    check_cells(&older->snapshot, &newer->snapshot, options);
    pfb_snapshot_number_rows(&older->snapshot);
    pfb_snapshot_number_rows(&newer->snapshot);
    pfb_pairing_match(&older->snapshot, &newer->snapshot);
    check_match(&older->snapshot, &newer->snapshot);
    check_rows(newer);
}

/* ---- Input
 * ------------------------------------------------------------------------------------------------------------ */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { PARTS = 4, HEADER = 1 + 2 * PARTS };
    if (size < HEADER)
        return 0;
    unsigned options = data[0];
    const uint8_t *at = data + HEADER;
    size_t left = size - HEADER;
    part parts[PARTS];
    for (int i = 0; i < PARTS; i++)
        parts[i] = take(&at, &left, (size_t)(data[1 + 2 * i] | data[2 + 2 * i] << 8));
    part last = take(&at, &left, left);
    pfb_registration registrations[2];
    uint32_t count = 0;
    count += pfb_registration_open(&registrations[count], parts[3].data, parts[3].size, 0);
    count += pfb_registration_open(&registrations[count], last.data, last.size, 0);
    sample samples[2];
    for (int i = 0; i < 2; i++) {
        part none = {parts[2].data, 0};
        samples[i] = (sample){.data = parts[i], .info = i == 0 && options & OLDER_UNASKED ? none : parts[2]};
        samples[i].input = (pfb_snapshot_input){.data = samples[i].data.data,
                                                .data_size_bytes = samples[i].data.size,
                                                .query_info = samples[i].info.data,
                                                .query_info_size_bytes = samples[i].info.size,
                                                .registrations = registrations,
                                                .registration_count = count,
                                                .options = options & STRICT ? PFB_STRICT : 0};
    }
    pfb_formula_options policies = {.wrap32 = (options & WRAP32) != 0};
    check_samples(&samples[0], &samples[1], &policies);
    for (int i = 0; i < PARTS; i++)
        free(parts[i].data);
    free(last.data);
    free(samples[0].memory);
    free(samples[1].memory);
    return 0;
}
