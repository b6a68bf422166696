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

/* Pairs the rows of two results of one counterset that stand in the same order; returns how many did. Equal beginnings
 * have equal ranks. */
static uint32_t match_in_step(const pfb_snapshot *older, pfb_snapshot *newer, const pfb_snapshot_result *from,
                              const pfb_snapshot_result *to)
{
    uint32_t n = 0;
    while (n < from->row_count && n < to->row_count) {
        if (!pfb_snapshot_same_instance(&older->rows[from->first_row + n], &newer->rows[to->first_row + n]))
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

/* ---- Rows that keep their order while others come and go --------------------------------------------------- */

/* Two results side by side, and the rows of each that were passed over because the other has none like them. */
typedef struct merge {
    const pfb_snapshot *older;
    pfb_snapshot *newer;
    uint32_t from, from_end; /* rows left of the older result */
    uint32_t to, to_end;     /* of the newer one */
    uint32_t gone[8], come[8];
    uint32_t gone_count, come_count;
} merge;

enum { MERGE_STEPS = 8 }; /* so few rows are looked ahead, and passed over on either side */

static bool is_pair(const merge *m, uint32_t older_row, uint32_t newer_row)
{
    return pfb_snapshot_same_instance(&m->older->rows[older_row], &m->newer->rows[newer_row]);
}

static bool is_gone(const merge *m, const pfb_snapshot_row *row)
{
    for (uint32_t i = 0; i < m->gone_count; i++) {
        if (pfb_snapshot_same_instance(&m->older->rows[m->gone[i]], row))
            return true;
    }
    return false;
}

static bool has_come(const merge *m, const pfb_snapshot_row *row)
{
    for (uint32_t i = 0; i < m->come_count; i++) {
        if (pfb_snapshot_same_instance(&m->newer->rows[m->come[i]], row))
            return true;
    }
    return false;
}

/* Passes over the fewest rows until two are alike again. False when that is too far. */
static bool pass_over(merge *m)
{
    for (uint32_t distance = 1; distance <= MERGE_STEPS; distance++) {
        for (uint32_t gone = 0; gone <= distance; gone++) {
            uint32_t come = distance - gone;
            if (gone >= m->from_end - m->from || come >= m->to_end - m->to || !is_pair(m, m->from + gone, m->to + come))
                continue;
            if (gone > MERGE_STEPS - m->gone_count || come > MERGE_STEPS - m->come_count)
                return false;
            for (; gone > 0; gone--)
                m->gone[m->gone_count++] = m->from++;
            for (; come > 0; come--) {
                m->newer->rows[m->to].older_row = PFB_NONE;
                m->come[m->come_count++] = m->to++;
            }
            return true;
        }
    }
    return false;
}

/* Pairs two results of one query whose common rows stand in the same order. False when they do not, or when an
 * instance that was passed over turns up again: then ranks may differ, and only sorting tells. Linear. */
static bool match_in_order(merge *m)
{
    while (m->from < m->from_end && m->to < m->to_end) {
        if (!is_pair(m, m->from, m->to)) {
            if (!pass_over(m))
                return false;
            continue;
        }
        const pfb_snapshot_row *row = &m->older->rows[m->from];
        if ((m->gone_count > 0 && is_gone(m, row)) || (m->come_count > 0 && has_come(m, row)))
            return false;
        m->newer->rows[m->to++].older_row = m->from++;
    }
    for (uint32_t i = 0; i < m->gone_count; i++) {
        if (has_come(m, &m->older->rows[m->gone[i]]))
            return false;
    }
    for (; m->from < m->from_end; m->from++) {
        if (has_come(m, &m->older->rows[m->from]))
            return false;
    }
    for (; m->to < m->to_end; m->to++) {
        if (is_gone(m, &m->newer->rows[m->to]))
            return false;
        m->newer->rows[m->to].older_row = PFB_NONE;
    }
    return true;
}

/* Whether an instance missing in its own result may stand in another one that answers the same query: then only sorting
 * tells. Two results of one query are looked for among so many as a system's whole reply may have. */
static bool may_move(const pfb_snapshot *older)
{
    enum { MANY = 256 };
    if (older->counts.results > MANY)
        return true;
    for (uint32_t r = 1; r < older->counts.results; r++) {
        for (uint32_t k = 0; k < r; k++) {
            if (is_same_query(&older->results[r], &older->results[k]))
                return true;
        }
    }
    return false;
}

/* May_move(), once it is needed. */
typedef enum movement { MOVEMENT_UNKNOWN, MOVEMENT_NONE, MOVEMENT_POSSIBLE } movement;

/* ---- All rows --------------------------------------------------------------------------------------------------- */

static void match_result(pfb_snapshot *older, pfb_snapshot *newer, uint32_t r, movement *moves)
{
    pfb_snapshot_result *to = &newer->results[r];
    bool in_place = r < older->counts.results && is_same_query(&older->results[r], to);
    uint32_t n = in_place ? match_in_step(older, newer, &older->results[r], to) : 0;
    if (n == to->row_count)
        return;
    if (*moves == MOVEMENT_UNKNOWN)
        *moves = may_move(older) ? MOVEMENT_POSSIBLE : MOVEMENT_NONE;
    if (in_place && *moves == MOVEMENT_NONE) {
        const pfb_snapshot_result *from = &older->results[r];
        merge m = {.older = older,
                   .newer = newer,
                   .from = from->first_row,
                   .from_end = from->first_row + from->row_count,
                   .to = to->first_row,
                   .to_end = to->first_row + to->row_count};
        if (match_in_order(&m))
            return;
    }
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
    movement moves = MOVEMENT_UNKNOWN;
    for (uint32_t r = 0; r < newer->counts.results; r++)
        match_result(older, newer, r, &moves);
}

/* ---- Plans -------------------------------------------------------------------------------------------------- */

/* Where the raw value of a referred counter stands. */
typedef struct reference {
    bool exists;       /* there is such a counter, it is not the one that refers to it, and of a fitting type */
    bool elsewhere;    /* in another result: looked up for each row */
    uint8_t sizes;     /* what its datum may have: SIZE_ bits */
    uint32_t position; /* among the values of its own result, unless elsewhere */
    uint32_t counter_id;
} reference;

/* What is the same for all rows of a column. */
typedef struct plan {
    const pfb_snapshot *snapshot;
    uint32_t position; /* of the counter among the values of a row */
    uint8_t sizes;
    reference base, multi, time, freq;
    bool has_object_clock; /* V1: the object's own, which stands in the sample */
    pfb_sample sample;     /* filled anew for each row; type and clocks stay */
} plan;

/* The sizes in bytes that numbers come in, which are bits at the same time. */
enum { SIZE_4 = 4, SIZE_8 = 8 };

/* The sizes a type declares. Plain numbers come in either. */
static uint8_t declared_sizes(uint32_t type)
{
    if (pfb_counter_type_is_number(type))
        return SIZE_4 | SIZE_8;
    uint32_t declared = (type & PFB_TYPE_SIZE_MASK) >> 8;
    return declared == PFB_RAW_DWORD ? SIZE_4 : declared == PFB_RAW_LARGE ? SIZE_8 : 0;
}

static bool is_number(const pfb_snapshot_value *value)
{
    return value->size_bytes == SIZE_4 || value->size_bytes == SIZE_8;
}

/* What a counter may refer to. */
typedef enum role { ROLE_BASE, ROLE_ITEMS, ROLE_CLOCK } role;

static bool fits_role(uint32_t type, role as, bool is_legacy)
{
    if (as == ROLE_BASE)
        return pfb_counter_type_is_base(type) && (is_legacy || pfb_counter_type_find(type) != NULL);
    if (as == ROLE_ITEMS && is_legacy)
        return type == PFB_TYPE_MULTI_BASE;
    return pfb_counter_type_is_number(type);
}

/* The counter that `column` refers to; `target` is the linked column. */
static reference refer(const pfb_snapshot *snapshot, const pfb_snapshot_column *column, uint32_t target, role as)
{
    reference none = {.exists = false};
    if (target == PFB_NONE)
        return none;
    const pfb_snapshot_column *referred = &snapshot->columns[target];
    uint32_t type = referred->counter.type;
    bool is_legacy = snapshot->results[column->result].kind == PFB_KIND_OBJECT;
    if (!referred->has_counter || !fits_role(type, as, is_legacy))
        return none;
    /* V1 values come in either size, whatever the type says: real providers differ from it. */
    return (reference){true, referred->result != column->result, is_legacy ? SIZE_4 | SIZE_8 : declared_sizes(type),
                       referred->position, referred->counter_id};
}

static plan make_plan(const pfb_snapshot *snapshot, uint32_t column)
{
    const pfb_snapshot_column *c = &snapshot->columns[column];
    const pfb_snapshot_result *result = &snapshot->results[c->result];
    plan p = {.snapshot = snapshot, .position = c->position, .sizes = declared_sizes(c->counter.type)};
    p.base = refer(snapshot, c, c->base_column, ROLE_BASE);
    p.multi = refer(snapshot, c, c->multi_column, ROLE_ITEMS);
    p.time = refer(snapshot, c, c->time_column, ROLE_CLOCK);
    p.freq = refer(snapshot, c, c->freq_column, ROLE_CLOCK);
    p.has_object_clock = result->kind == PFB_KIND_OBJECT;
    if (result->kind == PFB_KIND_OBJECT) /* real ones give PERF_AVERAGE_TIMER 8 bytes: the declared size counts */
        p.sizes = SIZE_4 | SIZE_8;
    p.sample = (pfb_sample){.type = c->counter.type,
                            .perf_time = snapshot->perf_time,
                            .perf_time_100ns = snapshot->perf_time_100ns,
                            .perf_freq = snapshot->perf_freq,
                            .object_time = result->object_time,
                            .object_freq = result->object_freq};
    if (p.base.exists)
        p.sample.base_type = snapshot->columns[c->base_column].counter.type;
    return p;
}

/* ---- Samples ------------------------------------------------------------------------------------------------ */

/* The value of a row at a position; null when a broken block ended before it. */
static const pfb_snapshot_value *value_at(const pfb_snapshot *snapshot, uint32_t row, uint32_t position)
{
    const pfb_snapshot_row *r = &snapshot->rows[row];
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
            return value_at(snapshot, other, snapshot->columns[column].position);
    }
    return NULL;
}

/* The value referred to; null when there is none, or of no fitting size. */
static const pfb_snapshot_value *read_reference(const pfb_snapshot *snapshot, uint32_t row, const reference *to)
{
    if (!to->exists)
        return NULL;
    const pfb_snapshot_value *value =
        to->elsewhere ? value_elsewhere(snapshot, row, to->counter_id) : value_at(snapshot, row, to->position);
    return value && is_number(value) && (to->sizes & value->size_bytes) ? value : NULL;
}

/* A raw value read as a clock, which is signed. */
static int64_t as_clock(uint64_t raw)
{
    return raw <= INT64_MAX ? (int64_t)raw : -(int64_t)(UINT64_MAX - raw) - 1;
}

/* The clock that other counters of the row tell. */
static void read_clock(plan *p, uint32_t row)
{
    const pfb_snapshot_value *time = read_reference(p->snapshot, row, &p->time);
    const pfb_snapshot_value *freq = read_reference(p->snapshot, row, &p->freq);
    p->sample.has |= (time ? PFB_HAS_OBJECT_TIME : 0) | (freq ? PFB_HAS_OBJECT_FREQ : 0);
    p->sample.object_time = time ? as_clock(time->raw) : 0;
    p->sample.object_freq = freq ? as_clock(freq->raw) : 0;
}

/* Base and item count. */
static void read_companions(plan *p, uint32_t row)
{
    const pfb_snapshot_value *base = read_reference(p->snapshot, row, &p->base);
    const pfb_snapshot_value *items = read_reference(p->snapshot, row, &p->multi);
    p->sample.has |= (base ? PFB_HAS_BASE : 0) | (items ? PFB_HAS_MULTI : 0);
    p->sample.base = base ? base->raw : 0;
    p->sample.base_size = base ? base->size_bytes : 0;
    p->sample.multi = items ? items->raw : 0;
}

/* Fills the plan's sample; false when the datum has not the size its type declares. */
static bool fill_sample(plan *p, uint32_t row)
{
    pfb_sample *sample = &p->sample;
    sample->has = PFB_HAS_PERF_TIME | PFB_HAS_PERF_TIME_100NS | PFB_HAS_PERF_FREQ;
    read_companions(p, row);
    if (p->has_object_clock)
        sample->has |= PFB_HAS_OBJECT_TIME | PFB_HAS_OBJECT_FREQ;
    else
        read_clock(p, row);
    sample->value = 0;
    sample->value_size = 0;
    const pfb_snapshot_value *value = value_at(p->snapshot, row, p->position);
    if (!value || !is_number(value))
        return true;
    if (value->has_items) {
        sample->has |= PFB_HAS_MULTI;
        sample->multi = value->items;
    }
    sample->has |= PFB_HAS_VALUE;
    sample->value = value->raw;
    sample->value_size = value->size_bytes;
    return (p->sizes & value->size_bytes) != 0;
}

/* ---- Evaluation --------------------------------------------------------------------------------------------- */

/* The older column of the same counter, in one of the older results; or PFB_NONE. While both results have as many
 * columns it stands at the same place; where some came or went, only a counter that is there once can be told. */
static uint32_t find_older_column(const pfb_snapshot *older, uint32_t r, const pfb_snapshot *newer,
                                  const pfb_snapshot_column *column)
{
    const pfb_snapshot_result *from = &older->results[r];
    if (from->column_count == newer->results[column->result].column_count) {
        uint32_t same = from->first_column + column->position;
        if (older->columns[same].counter_id == column->counter_id)
            return same;
    }
    bool is_known = column->counter_id != PFB_NO_ID || from->kind == PFB_KIND_OBJECT; /* any number may be a title */
    if (!is_known || pfb_snapshot_find_only_column(newer, column->result, column->counter_id) == PFB_NONE)
        return PFB_NONE;
    return pfb_snapshot_find_only_column(older, r, column->counter_id);
}

/* A newer column, the formula of its counter, and the older column it is compared with. */
typedef struct comparison {
    const pfb_snapshot_column *column;
    pfb_formula formula;
    plan newer;
    const pfb_snapshot *older_snapshot; /* null: one sample only */
    uint32_t older_result;              /* for which `older` was made; PFB_NONE: none yet */
    bool has_older;                     /* that result has the counter */
    plan older;
} comparison;

static void compare_column(comparison *c, const pfb_snapshot *older, const pfb_snapshot *newer, uint32_t column,
                           const pfb_formula_options *options)
{
    c->column = &newer->columns[column];
    c->formula = (pfb_formula){.status = PFB_STATUS_UNKNOWN_TYPE, .unit = PFB_UNIT_NONE};
    if (c->column->has_counter)
        c->formula = pfb_formula_prepare(c->column->counter.type, options);
    c->newer = make_plan(newer, column);
    c->older_snapshot = older;
    c->older_result = PFB_NONE;
    c->has_older = false;
}

/* Whether the older snapshot has the row and the counter; then `older` is its plan. */
static bool find_older(comparison *c, uint32_t older_row)
{
    if (!c->older_snapshot || older_row >= c->older_snapshot->counts.rows) /* PFB_NONE, or matched with another one */
        return false;
    uint32_t result = c->older_snapshot->rows[older_row].result;
    if (result != c->older_result) { /* mostly the same for all rows */
        uint32_t column = find_older_column(c->older_snapshot, result, c->newer.snapshot, c->column);
        c->older_result = result;
        c->has_older = column != PFB_NONE && c->older_snapshot->columns[column].has_counter;
        if (c->has_older)
            c->older = make_plan(c->older_snapshot, column);
    }
    return c->has_older;
}

/* A wrong size counts where the types are compared: after what makes it irrelevant. */
static bool size_matters(pfb_status status)
{
    return status != PFB_STATUS_UNKNOWN_TYPE && status != PFB_STATUS_NOT_DISPLAYED && status != PFB_STATUS_BAD_SCALE &&
           status != PFB_STATUS_NEED_TWO_SAMPLES;
}

/* Leaves what went in in the plans; whether there is an older sample, in `two`. */
static pfb_formula_result evaluate_row(comparison *c, uint32_t row, bool *two)
{
    uint32_t older_row = c->newer.snapshot->rows[row].older_row;
    bool sizes_fit = fill_sample(&c->newer, row);
    *two = find_older(c, older_row);
    if (*two) {
        bool older_fits = fill_sample(&c->older, older_row);
        sizes_fit = sizes_fit && (older_fits || c->formula.samples < 2);
    }
    pfb_formula_result result = pfb_formula_apply(&c->formula, *two ? &c->older.sample : NULL, &c->newer.sample);
    if (!sizes_fit && size_matters(result.status))
        result = (pfb_formula_result){.status = PFB_STATUS_TYPE_MISMATCH, .unit = result.unit};
    return result;
}

pfb_formula_result pfb_pairing_evaluate(const pfb_snapshot *older, const pfb_snapshot *newer, uint32_t row,
                                        uint32_t column, const pfb_formula_options *options, pfb_pairing_inputs *inputs)
{
    pfb_formula_result result = {.status = PFB_STATUS_UNKNOWN_TYPE, .unit = PFB_UNIT_NONE};
    pfb_pairing_inputs in = {.older = {.has = 0}, .newer = {.has = 0}};
    bool inside = row < newer->counts.rows && column < newer->counts.columns &&
                  newer->columns[column].result == newer->rows[row].result;
    if (inside) {
        comparison c;
        bool two;
        compare_column(&c, older, newer, column, options);
        result = evaluate_row(&c, row, &two);
        in.newer = c.newer.sample;
        if (two)
            in.older = c.older.sample;
    }
    if (inputs)
        *inputs = in;
    return result;
}

/* ---- Whole samples ------------------------------------------------------------------------------------------- */

uint64_t pfb_pairing_count(const pfb_snapshot *newer)
{
    uint64_t count = 0;
    for (uint32_t r = 0; r < newer->counts.results; r++)
        count += (uint64_t)newer->results[r].row_count * newer->results[r].column_count;
    return count;
}

/* Some rows, column by column, so that what they share is found once; stored row by row. */
static void evaluate_rows(const pfb_snapshot *older, const pfb_snapshot *newer, const pfb_snapshot_result *result,
                          uint32_t first, uint32_t count, const pfb_formula_options *options, pfb_pairing_value *values)
{
    comparison pair;
    bool two;
    for (uint32_t c = 0; c < result->column_count; c++) {
        compare_column(&pair, older, newer, result->first_column + c, options);
        for (uint32_t r = 0; r < count; r++) {
            pfb_pairing_value *value = &values[(size_t)r * result->column_count + c];
            value->row = first + r;
            value->column = result->first_column + c;
            value->result = evaluate_row(&pair, value->row, &two);
        }
    }
}

bool pfb_pairing_evaluate_all(const pfb_snapshot *older, const pfb_snapshot *newer, const pfb_formula_options *options,
                              pfb_pairing_value *values, size_t capacity)
{
    enum { ROWS = 32 }; /* few enough to stay in the first cache, enough to share a column's plan */
    if (capacity < pfb_pairing_count(newer))
        return false;
    for (uint32_t r = 0; r < newer->counts.results; r++) {
        const pfb_snapshot_result *result = &newer->results[r];
        for (uint32_t done = 0; done < result->row_count; done += ROWS) {
            uint32_t left = result->row_count - done;
            uint32_t count = left < ROWS ? left : ROWS;
            evaluate_rows(older, newer, result, result->first_row + done, count, options, values);
            values += (size_t)count * result->column_count;
        }
    }
    return true;
}
