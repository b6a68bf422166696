/* SPDX-License-Identifier: MIT */
/* Two samples side by side: which rows belong together, and what a value's formula is fed with. */
#include "perfblock/pairing.h"

#include "snapshot_order.h"

/* ---- One instance in several results ------------------------------------------------------------------------ */

/* The rows of one instance and rank, result by result. Bounded: hostile data may ask for one instance any number of
 * times. Rows of one instance share a group, so that no name is compared again. */
typedef struct candidates {
    const pfb_snapshot *snapshot;
    uint32_t group;
    uint32_t rank;
    uint32_t at; /* in row_order */
    uint32_t tries_left;
} candidates;

/* Requires ranked rows, as do all that use it. */
static candidates find_candidates(const pfb_snapshot *snapshot, uint32_t group, uint32_t rank)
{
    enum { TRIES = 64 };
    return (candidates){snapshot, group, rank, group, TRIES};
}

static bool next_candidate(candidates *c, uint32_t *row)
{
    while (c->tries_left > 0 && c->at < c->snapshot->counts.rows) {
        *row = c->snapshot->row_order[c->at++];
        c->tries_left--;
        if (c->snapshot->rows[*row].group != c->group)
            return false;
        if (c->snapshot->rows[*row].rank == c->rank)
            return true;
    }
    return false;
}

/* ---- Rows of two samples ---------------------------------------------------------------------------------- */

/* Both answer a query for the same counter, or for all, of the same counterset. */
static bool is_same_query(const pfb_snapshot_result *a, const pfb_snapshot_result *b)
{
    return a->has_query == b->has_query && pfb_guid_equal(&a->counterset, &b->counterset) &&
           a->counter_id == b->counter_id;
}

/* Pairs the rows that stand in the same order; returns how many did. Equal beginnings have equal ranks. */
static uint32_t match_in_step(const pfb_snapshot *older, pfb_snapshot *newer, const pfb_snapshot_result *from,
                              const pfb_snapshot_result *to)
{
    uint32_t n = 0;
    while (n < from->row_count && n < to->row_count) {
        pfb_row_key a = pfb_snapshot_row_key(older, from->first_row + n);
        pfb_row_key b = pfb_snapshot_row_key(newer, to->first_row + n);
        if (pfb_snapshot_compare_instance(&a, &b) != 0)
            break;
        newer->rows[to->first_row + n].older_row = from->first_row + n;
        n++;
    }
    return n;
}

/* The older row of a result that has moved to another position: queries were added or removed in between. */
static uint32_t find_moved_row(const pfb_snapshot *older, const pfb_snapshot *newer, uint32_t row)
{
    pfb_row_key key = pfb_snapshot_row_key(newer, row);
    uint32_t group = pfb_snapshot_find_group(older, &key);
    candidates c = find_candidates(older, group, newer->rows[row].rank);
    uint32_t found;
    while (next_candidate(&c, &found)) {
        if (is_same_query(&older->results[older->rows[found].result], &newer->results[newer->rows[row].result]))
            return found;
    }
    return PFB_NONE;
}

static void match_result(pfb_snapshot *older, pfb_snapshot *newer, uint32_t r)
{
    pfb_snapshot_result *to = &newer->results[r];
    bool in_place = r < older->counts.results && is_same_query(&older->results[r], to);
    uint32_t n = in_place ? match_in_step(older, newer, &older->results[r], to) : 0;
    if (n == to->row_count)
        return;
    pfb_snapshot_rank_rows(older);
    pfb_snapshot_rank_rows(newer);
    for (; n < to->row_count; n++) {
        uint32_t row = to->first_row + n;
        pfb_row_key key = pfb_snapshot_row_key(newer, row);
        uint32_t found = in_place ? pfb_snapshot_find_row(older, &key, newer->rows[row].rank) : PFB_NONE;
        newer->rows[row].older_row = found != PFB_NONE ? found : find_moved_row(older, newer, row);
    }
}

void pfb_pairing_match(pfb_snapshot *older, pfb_snapshot *newer)
{
    for (uint32_t r = 0; r < newer->counts.results; r++)
        match_result(older, newer, r);
}

/* ---- What a counter refers to -------------------------------------------------------------------------------- */

static bool is_number_size(uint32_t size_bytes)
{
    return size_bytes == 4 || size_bytes == 8;
}

/* True when a datum of this size is what the type declares. Plain numbers come in either size. */
static bool has_declared_size(uint32_t type, uint32_t size_bytes)
{
    const pfb_counter_type *row = pfb_counter_type_find(type);
    if (pfb_counter_type_is_number(type))
        return is_number_size(size_bytes);
    return row &&
           ((row->raw_size == PFB_RAW_DWORD && size_bytes == 4) || (row->raw_size == PFB_RAW_LARGE && size_bytes == 8));
}

/* The value of a row in a column of its own result; null when a broken block ended before it. */
static const pfb_snapshot_value *value_at(const pfb_snapshot *snapshot, uint32_t row, uint32_t column)
{
    const pfb_snapshot_row *r = &snapshot->rows[row];
    uint32_t position = snapshot->columns[column].position;
    return position < r->value_count ? &snapshot->values[r->first_value + position] : NULL;
}

/* The same instance in another result of the counterset that holds the counter. */
static const pfb_snapshot_value *value_elsewhere(const pfb_snapshot *snapshot, uint32_t row, uint32_t counter_id)
{
    candidates c = find_candidates(snapshot, snapshot->rows[row].group, snapshot->rows[row].rank);
    uint32_t other;
    while (next_candidate(&c, &other)) {
        uint32_t column = pfb_snapshot_find_column(snapshot, snapshot->rows[other].result, counter_id);
        if (column != PFB_NONE)
            return value_at(snapshot, other, column);
    }
    return NULL;
}

/* The raw value of the counter that `column` refers to by `id`; `target` is the linked column. */
static bool read_referred(const pfb_snapshot *snapshot, uint32_t row, uint32_t column, uint32_t id, uint32_t target,
                          bool is_base, uint64_t *raw)
{
    if (target == PFB_NONE || id == snapshot->columns[column].counter_id)
        return false;
    const pfb_snapshot_column *referred = &snapshot->columns[target];
    if (!referred->has_counter)
        return false;
    uint32_t type = referred->counter.type;
    if (is_base ? !pfb_counter_type_is_base(type) : !pfb_counter_type_is_number(type))
        return false;
    const pfb_snapshot_value *value = referred->result == snapshot->columns[column].result
                                          ? value_at(snapshot, row, target)
                                          : value_elsewhere(snapshot, row, id);
    if (!value || !has_declared_size(type, value->size_bytes))
        return false;
    *raw = value->raw;
    return true;
}

/* A raw value read as a clock, which is signed. */
static int64_t as_clock(uint64_t raw)
{
    return raw <= INT64_MAX ? (int64_t)raw : -(int64_t)(UINT64_MAX - raw) - 1;
}

/* ---- Evaluation ------------------------------------------------------------------------------------------------ */

/* Fills a sample; false when the datum has not the size its type declares. */
static bool fill_sample(const pfb_snapshot *snapshot, uint32_t row, uint32_t column, pfb_sample *sample)
{
    const pfb_snapshot_column *c = &snapshot->columns[column];
    const pfb_counter *counter = &c->counter;
    *sample = (pfb_sample){.type = counter->type,
                           .has = PFB_HAS_PERF_TIME | PFB_HAS_PERF_TIME_100NS | PFB_HAS_PERF_FREQ,
                           .perf_time = snapshot->perf_time,
                           .perf_time_100ns = snapshot->perf_time_100ns,
                           .perf_freq = snapshot->perf_freq};
    uint64_t raw;
    if (read_referred(snapshot, row, column, counter->base_id, c->base_column, true, &sample->base))
        sample->has |= PFB_HAS_BASE;
    if (read_referred(snapshot, row, column, counter->multi_id, c->multi_column, false, &sample->multi))
        sample->has |= PFB_HAS_MULTI;
    if (read_referred(snapshot, row, column, counter->perf_time_id, c->time_column, false, &raw)) {
        sample->has |= PFB_HAS_OBJECT_TIME;
        sample->object_time = as_clock(raw);
    }
    if (read_referred(snapshot, row, column, counter->perf_freq_id, c->freq_column, false, &raw)) {
        sample->has |= PFB_HAS_OBJECT_FREQ;
        sample->object_freq = as_clock(raw);
    }
    const pfb_snapshot_value *value = value_at(snapshot, row, column);
    if (!value || !is_number_size(value->size_bytes))
        return true;
    sample->has |= PFB_HAS_VALUE;
    sample->value = value->raw;
    return has_declared_size(counter->type, value->size_bytes);
}

/* The older snapshot's column of the same counter, in the older row's result; or PFB_NONE. */
static uint32_t find_older_column(const pfb_snapshot *older, uint32_t older_row, const pfb_snapshot_column *column)
{
    uint32_t r = older->rows[older_row].result;
    const pfb_snapshot_result *result = &older->results[r];
    if (column->position < result->column_count) {
        uint32_t same = result->first_column + column->position;
        if (older->columns[same].counter_id == column->counter_id)
            return same;
    }
    return column->counter_id == PFB_NO_ID ? PFB_NONE : pfb_snapshot_find_column(older, r, column->counter_id);
}

/* A wrong size counts where the types are compared: after what makes it irrelevant. */
static bool size_matters(pfb_status status)
{
    return status != PFB_STATUS_UNKNOWN_TYPE && status != PFB_STATUS_NOT_DISPLAYED &&
           status != PFB_STATUS_NEED_TWO_SAMPLES;
}

pfb_formula_result pfb_pairing_evaluate(const pfb_snapshot *older, const pfb_snapshot *newer, uint32_t row,
                                        uint32_t column, uint32_t options, pfb_pairing_inputs *inputs)
{
    pfb_formula_result result = {.status = PFB_STATUS_UNKNOWN_TYPE, .unit = PFB_UNIT_NONE};
    pfb_pairing_inputs in = {.older = {.has = 0}, .newer = {.has = 0}};
    bool inside = row < newer->counts.rows && column < newer->counts.columns &&
                  newer->columns[column].result == newer->rows[row].result;
    if (inside) {
        bool sizes_fit = fill_sample(newer, row, column, &in.newer);
        uint32_t older_row = older ? newer->rows[row].older_row : PFB_NONE;
        uint32_t older_column =
            older_row == PFB_NONE ? PFB_NONE : find_older_column(older, older_row, &newer->columns[column]);
        bool two = older_column != PFB_NONE && older->columns[older_column].has_counter;
        if (two) {
            const pfb_counter_type *type = pfb_counter_type_find(in.newer.type);
            bool older_fits = fill_sample(older, older_row, older_column, &in.older);
            sizes_fit = sizes_fit && (older_fits || !type || type->samples < 2);
        }
        if (newer->columns[column].has_counter)
            result = pfb_formula_evaluate(two ? &in.older : NULL, &in.newer, options);
        if (!sizes_fit && size_matters(result.status))
            result = (pfb_formula_result){.status = PFB_STATUS_TYPE_MISMATCH, .unit = result.unit};
    }
    if (inputs)
        *inputs = in;
    return result;
}
