/* SPDX-License-Identifier: MIT */
/* Two samples side by side: which rows belong together, and what a value's formula is fed with. */
#include "perfblock/sample.h"

#include "sample/order.h"

/* ---- Rows of two samples ---------------------------------------------------------------------------------- */

/* Both answer a query for the same counter, or for all, of the same counterset. */
static bool is_same_query(const pfb_sample_result *a, const pfb_sample_result *b)
{
    return a->has_query == b->has_query && pfb_guid_equal(&a->counterset, &b->counterset) &&
           a->counter_id == b->counter_id;
}

/* Pairs the rows of two results of one counterset that stand in the same order; returns how many did. Equal beginnings
 * have equal ranks. */
static uint32_t match_in_step(const pfb_sample *older, pfb_sample *newer, const pfb_sample_result *from,
                              const pfb_sample_result *to)
{
    uint32_t n = 0;
    while (n < from->row_count && n < to->row_count) {
        if (!pfb_sample_same_instance(&older->rows[from->first_row + n], &newer->rows[to->first_row + n]))
            break;
        newer->rows[to->first_row + n].older_row = from->first_row + n;
        n++;
    }
    return n;
}

/* The older row of a result that has moved to another position: queries were added or removed in between. */
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

/* ---- All rows --------------------------------------------------------------------------------------------------- */

/* Matches the rows of a newer result: in step as far as both samples have the same rows in the same order, the others
 * by their place in the sorted order of the older sample. */
static void match_result(pfb_sample *older, pfb_sample *newer, uint32_t r)
{
    pfb_sample_result *to = &newer->results[r];
    bool in_place = r < older->counts.results && is_same_query(&older->results[r], to);
    uint32_t n = in_place ? match_in_step(older, newer, &older->results[r], to) : 0;
    if (n == to->row_count)
        return;
    pfb_sample_rank_rows(older);
    pfb_sample_rank_rows(newer);
    pfb_related_rows related = {.group = PFB_NONE};
    for (; n < to->row_count; n++) {
        uint32_t row = to->first_row + n;
        pfb_row_key key = pfb_sample_row_key(newer, row);
        uint32_t found = in_place ? pfb_sample_find_row(older, &key, newer->rows[row].rank) : PFB_NONE;
        newer->rows[row].older_row = found != PFB_NONE ? found : find_moved_row(older, newer, row, &related);
    }
}

void pfb_sample_match_results(pfb_sample *older, pfb_sample *newer, const uint32_t *results, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (results[i] < newer->counts.results)
            match_result(older, newer, results[i]);
    }
}

void pfb_sample_match(pfb_sample *older, pfb_sample *newer)
{
    for (uint32_t r = 0; r < newer->counts.results; r++)
        match_result(older, newer, r);
}

/* ---- Plans -------------------------------------------------------------------------------------------------- */

/* Where the raw value of a referred counter stands. */
typedef struct reference {
    bool exists;              /* there is such a counter, it is not the one that refers to it, and of a fitting type */
    bool elsewhere;           /* in another result: looked up for each row */
    uint8_t sizes;            /* what its datum may have: SIZE_ bits */
    uint32_t column;          /* its own, unless elsewhere */
    pfb_column_range columns; /* elsewhere: all of the counter */
} reference;

/* What is the same for all rows of a column. */
typedef struct plan {
    const pfb_sample *sample;
    pfb_related_rows *related; /* of the last row that needed them */
    uint32_t column;           /* of the counter */
    uint8_t sizes;
    reference base, multi, time, freq;
    bool has_object_clock; /* V1: the object's own, which stands in the sample */
    pfb_raw_value raw;     /* filled anew for each row; type and clocks stay */
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

/* What a counter may refer to. */
typedef enum role { ROLE_BASE, ROLE_MULTI_COUNT, ROLE_CLOCK } role;

static bool fits_role(uint32_t type, role as, bool is_v1)
{
    if (as == ROLE_BASE)
        return pfb_counter_type_is_base(type) && (is_v1 || pfb_counter_type_find(type) != NULL);
    if (as == ROLE_MULTI_COUNT && is_v1)
        return type == PFB_TYPE_MULTI_BASE;
    return pfb_counter_type_is_number(type);
}

/* The counter that `column` refers to; `target` is the linked column. */
static reference refer(const pfb_sample *sample, const pfb_sample_column *column, uint32_t target, role as)
{
    reference none = {.exists = false};
    if (target == PFB_NONE)
        return none;
    const pfb_sample_column *referred = &sample->columns[target];
    uint32_t type = referred->counter.type;
    bool is_v1 = sample->results[column->result].kind == PFB_V1_OBJECT;
    if (!referred->has_counter || !fits_role(type, as, is_v1))
        return none;
    /* V1 values come in either size, whatever the type says: real providers differ from it. */
    reference r = {.exists = true,
                   .elsewhere = referred->result != column->result,
                   .sizes = is_v1 ? SIZE_4 | SIZE_8 : declared_sizes(type),
                   .column = target};
    if (r.elsewhere)
        r.columns = pfb_sample_columns_of(sample, &sample->results[column->result].counterset, referred->counter_id);
    return r;
}

/* With those of the counters it refers to that tell one of these inputs: PFB_HAS_ bits. */
static plan make_plan(const pfb_sample *sample, uint32_t column, uint32_t inputs, pfb_related_rows *related)
{
    const pfb_sample_column *c = &sample->columns[column];
    const pfb_sample_result *result = &sample->results[c->result];
    plan p = {.sample = sample, .related = related, .column = column, .sizes = declared_sizes(c->counter.type)};
    p.base = refer(sample, c, inputs & PFB_HAS_BASE ? c->base_column : PFB_NONE, ROLE_BASE);
    p.multi = refer(sample, c, inputs & PFB_HAS_MULTI_COUNT ? c->multi_column : PFB_NONE, ROLE_MULTI_COUNT);
    p.time = refer(sample, c, inputs & PFB_HAS_OBJECT_TIME ? c->time_column : PFB_NONE, ROLE_CLOCK);
    p.freq = refer(sample, c, inputs & PFB_HAS_OBJECT_FREQ ? c->freq_column : PFB_NONE, ROLE_CLOCK);
    p.has_object_clock = result->kind == PFB_V1_OBJECT;
    if (result->kind == PFB_V1_OBJECT) /* real ones give PERF_AVERAGE_TIMER 8 bytes: the declared size counts */
        p.sizes = SIZE_4 | SIZE_8;
    p.raw = (pfb_raw_value){.type = c->counter.type,
                            .perf_time = sample->perf_time,
                            .perf_time_100ns = sample->perf_time_100ns,
                            .perf_freq = sample->perf_freq,
                            .object_time = result->object_time,
                            .object_freq = result->object_freq};
    if (p.base.exists)
        p.raw.base_type = sample->columns[c->base_column].counter.type;
    return p;
}

/* ---- Samples ------------------------------------------------------------------------------------------------ */

/* A raw value and its size, 4 or 8; 0 where there is no number. */
typedef struct number {
    uint64_t raw;
    uint8_t size;
} number;

/* The number of a row in a column. Where a broken block ended before it, there is none. */
static number number_at(const pfb_sample *sample, uint32_t row, uint32_t column)
{
    size_t place = pfb_sample_place(sample, row, column);
    return (number){sample->raw[place], sample->sizes[place]};
}

/* The same instance in another result of the counterset, the first that holds the counter. */
static number number_elsewhere(const plan *p, uint32_t row, pfb_column_range columns)
{
    uint32_t column;
    const pfb_sample_row *r = &p->sample->rows[row];
    pfb_sample_related_rows(p->sample, r->group, r->rank, p->related);
    uint32_t i = pfb_sample_first_with(p->sample, p->related, columns, &column);
    return i < p->related->count ? number_at(p->sample, p->related->rows[i], column) : (number){0, 0};
}

/* The number referred to; of size 0 when there is none, or none of a fitting size. */
static number read_reference(const plan *p, uint32_t row, const reference *to)
{
    number none = {0, 0};
    if (!to->exists)
        return none;
    number n = to->elsewhere ? number_elsewhere(p, row, to->columns) : number_at(p->sample, row, to->column);
    return to->sizes & n.size ? n : none;
}

/* A raw value read as a clock, which is signed. */
static int64_t as_clock(uint64_t raw)
{
    return raw <= INT64_MAX ? (int64_t)raw : -(int64_t)(UINT64_MAX - raw) - 1;
}

/* The clock that other counters of the row tell. */
static void read_clock(plan *p, uint32_t row)
{
    number time = read_reference(p, row, &p->time);
    number freq = read_reference(p, row, &p->freq);
    p->raw.has |= (time.size ? PFB_HAS_OBJECT_TIME : 0) | (freq.size ? PFB_HAS_OBJECT_FREQ : 0);
    p->raw.object_time = as_clock(time.raw);
    p->raw.object_freq = as_clock(freq.raw);
}

/* Base and multi count. */
static void read_companions(plan *p, uint32_t row)
{
    number base = read_reference(p, row, &p->base);
    number multi_count = read_reference(p, row, &p->multi);
    p->raw.has |= (base.size ? PFB_HAS_BASE : 0) | (multi_count.size ? PFB_HAS_MULTI_COUNT : 0);
    p->raw.base = base.raw;
    p->raw.base_size = base.size;
    p->raw.multi_count = multi_count.raw;
}

/* What all samples have. */
static uint32_t shared_inputs(const plan *p)
{
    uint32_t clocks = PFB_HAS_PERF_TIME | PFB_HAS_PERF_TIME_100NS | PFB_HAS_PERF_FREQ;
    return p->has_object_clock ? clocks | PFB_HAS_OBJECT_TIME | PFB_HAS_OBJECT_FREQ : clocks;
}

/* Fills the plan's sample; false when the datum has not the size its type declares. */
static bool fill_sample(plan *p, uint32_t row)
{
    pfb_raw_value *raw = &p->raw;
    raw->has = shared_inputs(p);
    read_companions(p, row);
    if (!p->has_object_clock)
        read_clock(p, row);
    size_t place = pfb_sample_place(p->sample, row, p->column);
    raw->value_size = p->sample->sizes[place];
    raw->value = raw->value_size ? p->sample->raw[place] : 0;
    if (raw->value_size == 0)
        return true;
    raw->has |= PFB_HAS_VALUE;
    if (p->sample->multi_counts && p->sample->multi_counts[place] != PFB_NO_MULTI_COUNT) {
        raw->has |= PFB_HAS_MULTI_COUNT;
        raw->multi_count = p->sample->multi_counts[place];
    }
    return (p->sizes & raw->value_size) != 0;
}

/* ---- Evaluation --------------------------------------------------------------------------------------------- */

/* The older column of the same counter, in one of the older results; or PFB_NONE. While both results have as many
 * columns it stands at the same place; where some came or went, only a counter that is there once can be told. */
static uint32_t find_older_column(const pfb_sample *older, uint32_t r, const pfb_sample *newer,
                                  const pfb_sample_column *column)
{
    const pfb_sample_result *from = &older->results[r];
    if (from->column_count == newer->results[column->result].column_count) {
        uint32_t same = from->first_column + column->position;
        if (older->columns[same].counter_id == column->counter_id)
            return same;
    }
    bool is_known = column->counter_id != PFB_NO_ID || from->kind == PFB_V1_OBJECT; /* any number may be a title */
    if (!is_known || pfb_sample_find_only_column(newer, column->result, column->counter_id) == PFB_NONE)
        return PFB_NONE;
    return pfb_sample_find_only_column(older, r, column->counter_id);
}

/* A newer column, the formula of its counter, and the older column it is compared with. */
typedef struct comparison {
    const pfb_sample_column *column;
    pfb_formula formula;
    plan newer;
    const pfb_sample *older_sample; /* null: one sample only */
    uint32_t older_result;          /* for which `older` was made; PFB_NONE: none yet */
    bool has_older;                 /* that result has the counter */
    plan older;
    /* The same for all columns. */
    bool shows_inputs; /* also those that the formula does not read */
    pfb_related_rows newer_related, older_related;
} comparison;

static void begin_comparison(comparison *c, bool shows_inputs)
{
    c->shows_inputs = shows_inputs;
    c->newer_related.group = c->older_related.group = PFB_NONE;
}

/* What a formula may read of the newer or of the older sample: without a base some are measured by the object's clock.
 */
static uint32_t possible_needs(const pfb_formula *f, bool is_older)
{
    return (is_older ? f->older_needs : f->newer_needs) | (f->terms & PFB_TERM_BASE_OR_TIME ? PFB_HAS_OBJECT_TIME : 0);
}

/* Which inputs are asked for. */
static uint32_t inputs_of(const comparison *c, bool is_older)
{
    return c->shows_inputs ? UINT32_MAX : possible_needs(&c->formula, is_older);
}

static void compare_column(comparison *c, const pfb_sample *older, const pfb_sample *newer, uint32_t column,
                           const pfb_formula_options *options)
{
    c->column = &newer->columns[column];
    c->formula = (pfb_formula){.status = PFB_STATUS_UNKNOWN_TYPE, .unit = PFB_UNIT_NONE};
    if (c->column->has_counter)
        c->formula = pfb_formula_prepare(c->column->counter.type, options);
    c->newer = make_plan(newer, column, inputs_of(c, false), &c->newer_related);
    c->older_sample = older;
    c->older_result = PFB_NONE;
    c->has_older = false;
}

/* Whether the older sample has the row and the counter; then `older` is its plan. */
static bool find_older(comparison *c, uint32_t older_row)
{
    if (!c->older_sample || older_row >= c->older_sample->counts.rows) /* PFB_NONE, or matched with another one */
        return false;
    uint32_t result = c->older_sample->rows[older_row].result;
    if (result != c->older_result) { /* mostly the same for all rows */
        uint32_t column = find_older_column(c->older_sample, result, c->newer.sample, c->column);
        c->older_result = result;
        c->has_older = column != PFB_NONE && c->older_sample->columns[column].has_counter;
        if (c->has_older)
            c->older = make_plan(c->older_sample, column, inputs_of(c, true), &c->older_related);
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
    uint32_t older_row = c->newer.sample->rows[row].older_row;
    bool sizes_fit = fill_sample(&c->newer, row);
    *two = find_older(c, older_row);
    if (*two) {
        bool older_fits = fill_sample(&c->older, older_row);
        sizes_fit = sizes_fit && (older_fits || c->formula.samples < 2);
    }
    pfb_formula_result result = pfb_formula_apply(&c->formula, *two ? &c->older.raw : NULL, &c->newer.raw);
    if (!sizes_fit && size_matters(result.status))
        result = (pfb_formula_result){.status = PFB_STATUS_TYPE_MISMATCH, .unit = result.unit};
    return result;
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
        bool two;
        begin_comparison(&c, inputs != NULL);
        compare_column(&c, older, newer, column, options);
        result = evaluate_row(&c, row, &two);
        in.newer = c.newer.raw;
        if (two)
            in.older = c.older.raw;
    }
    if (inputs)
        *inputs = in;
    return result;
}

/* ---- Whole samples ------------------------------------------------------------------------------------------- */

uint64_t pfb_sample_value_count(const pfb_sample *newer)
{
    uint64_t count = 0;
    for (uint32_t r = 0; r < newer->counts.results; r++)
        count += (uint64_t)newer->results[r].row_count * newer->results[r].column_count;
    return count;
}

enum { FEW_ROWS = 128 }; /* rows whose older ones are gathered from wherever they stand */

/* Consecutive rows of a newer result, and the rows of one older result that they are compared with. */
typedef struct span {
    uint32_t first, count;
    uint32_t older_first;     /* the older row of the first that has one; PFB_NONE: none has */
    bool in_step;             /* the older rows follow one another too, from older_first on; or there are none */
    uint32_t older[FEW_ROWS]; /* where they do not: each of them; PFB_NONE: a stranger, with none in this result */
    bool has_strangers;
} span;

/* The older row, or PFB_NONE: matched with no row, or with another sample. */
static uint32_t older_row_of(const pfb_sample *older, const pfb_sample *newer, uint32_t row)
{
    uint32_t found = newer->rows[row].older_row;
    return older && found < older->counts.rows ? found : PFB_NONE;
}

/* How many rows from `first` on keep step with their older ones, which stand in one result; or have none. */
static uint32_t count_in_step(const pfb_sample *older, const pfb_sample *newer, uint32_t first, uint32_t end)
{
    uint32_t begin = older_row_of(older, newer, first);
    uint32_t most = end - first;
    uint32_t n = 1;
    if (begin == PFB_NONE) {
        while (n < most && older_row_of(older, newer, first + n) == PFB_NONE)
            n++;
        return n;
    }
    const pfb_sample_result *from = &older->results[older->rows[begin].result];
    uint32_t left = from->first_row + from->row_count - begin;
    most = left < most ? left : most;
    while (n < most && newer->rows[first + n].older_row == begin + n)
        n++;
    return n;
}

/* Takes the older rows of a few, wherever they stand. */
static void gather_rows(const pfb_sample *older, const pfb_sample *newer, span *s)
{
    for (uint32_t i = 0; i < s->count; i++) {
        uint32_t row = older_row_of(older, newer, s->first + i);
        if (s->older_first == PFB_NONE)
            s->older_first = row;
        bool is_own = row != PFB_NONE && older->rows[row].result == older->rows[s->older_first].result;
        s->older[i] = is_own ? row : PFB_NONE;
        s->has_strangers = s->has_strangers || !is_own;
    }
}

/* The next rows that are evaluated together: many in step, or a few. */
static void take_span(const pfb_sample *older, const pfb_sample *newer, uint32_t first, uint32_t end, span *s)
{
    uint32_t left = end - first;
    s->first = first;
    s->count = count_in_step(older, newer, first, end);
    s->in_step = s->count >= FEW_ROWS || s->count == left;
    s->has_strangers = false;
    s->older_first = s->in_step ? older_row_of(older, newer, first) : PFB_NONE;
    if (s->in_step)
        return;
    s->count = left < FEW_ROWS ? left : FEW_ROWS;
    gather_rows(older, newer, s);
}

/* Gathers the numbers of an older column into `room`, with 0 for strangers; false when they are of several sizes, or
 * some are none. */
static bool gather_numbers(const pfb_sample *older, uint32_t column, const span *s, uint64_t *room, uint32_t *size)
{
    size_t first = pfb_sample_place(older, s->older_first, column);
    uint8_t common = older->sizes[first];
    uint8_t different = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        bool is_own = s->older[i] != PFB_NONE;
        size_t place = is_own ? first - s->older_first + s->older[i] : first;
        different |= older->sizes[place] ^ common;
        room[i] = is_own ? older->raw[place] : 0;
    }
    *size = common;
    return different == 0 && common != 0;
}

/* The numbers of a column in the rows of a span, of one size; null when they are of several, or some are none. `room`:
 * for those of the older sample that are not in step; null for the newer one. */
static const uint64_t *column_of_span(const pfb_sample *sample, uint32_t column, const span *s, uint64_t *room,
                                      uint32_t *size)
{
    if (room && !s->in_step)
        return gather_numbers(sample, column, s, room, size) ? room : NULL;
    size_t place = pfb_sample_place(sample, room ? s->older_first : s->first, column);
    *size = pfb_sample_common_size(sample->sizes + place, s->count);
    return *size != 0 ? sample->raw + place : NULL;
}

/* The numbers that a counter refers to; null in `numbers` when no row has them. False when each row must be asked. */
static bool take_reference(const plan *p, const reference *to, const span *s, uint64_t *room, const uint64_t **numbers,
                           uint32_t *size)
{
    *numbers = NULL;
    *size = 0;
    if (!to->exists)
        return true;
    const uint64_t *found = to->elsewhere ? NULL : column_of_span(p->sample, to->column, s, room, size);
    if (!found)
        return false;
    if (to->sizes & *size)
        *numbers = found;
    else
        *size = 0;
    return true;
}

/* One side of a span: what its samples share, and the numbers that differ. */
typedef struct side {
    pfb_raw_value raw;
    const uint64_t *values, *bases, *multi_counts;
} side;

/* Room for the numbers of older rows that are not in step. */
typedef struct gathered {
    uint64_t values[FEW_ROWS], bases[FEW_ROWS];
} gathered;

/* Whether the rows tell clocks or multi counts in another way than by a column that all of them have. */
static bool differ_in_more(const plan *p, uint32_t needs)
{
    bool own_clocks = !p->has_object_clock && (p->time.exists || p->freq.exists);
    bool own_multi_counts = p->sample->multi_counts && !p->multi.exists; /* V1: behind the values */
    return ((needs & (PFB_HAS_OBJECT_TIME | PFB_HAS_OBJECT_FREQ)) && own_clocks) ||
           ((needs & PFB_HAS_MULTI_COUNT) && own_multi_counts);
}

/* Takes what a formula needs of one side, the values in any case; `room` is null for the newer one. False when its rows
 * differ in more than their numbers. */
static bool take_side(const plan *p, uint32_t needs, const span *s, gathered *room, side *to)
{
    uint32_t unused;
    *to = (side){.raw = p->raw};
    to->raw.has = shared_inputs(p);
    to->raw.base_size = 0;
    if (differ_in_more(p, needs))
        return false;
    to->values = column_of_span(p->sample, p->column, s, room ? room->values : NULL, &to->raw.value_size);
    if (!to->values || !(p->sizes & to->raw.value_size))
        return false;
    if ((needs & PFB_HAS_BASE) &&
        !take_reference(p, &p->base, s, room ? room->bases : NULL, &to->bases, &to->raw.base_size))
        return false;
    return !(needs & PFB_HAS_MULTI_COUNT) || take_reference(p, &p->multi, s, NULL, &to->multi_counts, &unused);
}

/* Evaluates the rows of a span together; false when they have to be evaluated one by one. */
static bool evaluate_span(const comparison *c, const span *s, bool two, double *values, uint8_t *status_bytes)
{
    side newer;
    side older;
    gathered room;
    const pfb_formula *f = &c->formula;
    pfb_formula_column column = {.newer = &c->newer.raw, .older = two ? &c->older.raw : NULL, .count = s->count};
    if (f->status == PFB_STATUS_OK && (two || f->samples < 2)) { /* else all have one status, whatever their numbers */
        if (!take_side(&c->newer, possible_needs(f, false), s, NULL, &newer))
            return false;
        column.newer = &newer.raw;
        column.newer_values = newer.values;
        column.newer_bases = newer.bases;
        column.newer_multi_counts = newer.multi_counts;
        if (f->samples == 2) {
            if (!take_side(&c->older, possible_needs(f, true), s, &room, &older))
                return false;
            column.older = &older.raw;
            column.older_values = older.values;
            column.older_bases = older.bases;
        }
    }
    pfb_formula_apply_column(f, &column, values, status_bytes);
    return true;
}

/* The values of a column in the rows of a span. */
static void evaluate_column(comparison *c, const span *s, double *values, uint8_t *status_bytes)
{
    bool two = find_older(c, s->older_first);
    bool is_done = evaluate_span(c, s, two, values, status_bytes);
    if (is_done && !s->has_strangers)
        return;
    for (uint32_t i = 0; i < s->count; i++) {
        if (is_done && s->older[i] != PFB_NONE)
            continue;
        pfb_formula_result result = evaluate_row(c, s->first + i, &two);
        values[i] = result.value;
        status_bytes[i] = pfb_formula_pack(&result);
    }
}

/* Evaluates all values of one newer result. */
static void cook_result(comparison *pair, const pfb_sample *older, const pfb_sample *newer, uint32_t r,
                        const pfb_formula_options *options, double *values, uint8_t *status_bytes)
{
    span s;
    const pfb_sample_result *result = &newer->results[r];
    uint32_t end = result->first_row + result->row_count;
    for (uint32_t row = result->first_row; row < end; row += s.count) {
        take_span(older, newer, row, end, &s);
        for (uint32_t c = result->first_column; c < result->first_column + result->column_count; c++) {
            compare_column(pair, older, newer, c, options);
            size_t place = pfb_sample_place(newer, row, c);
            evaluate_column(pair, &s, values + place, status_bytes + place);
        }
    }
}

bool pfb_sample_cook(const pfb_sample *older, const pfb_sample *newer, const pfb_formula_options *options,
                     double *values, uint8_t *status_bytes, size_t capacity)
{
    comparison pair;
    if (capacity < newer->counts.values)
        return false;
    begin_comparison(&pair, false);
    for (uint32_t r = 0; r < newer->counts.results; r++)
        cook_result(&pair, older, newer, r, options, values, status_bytes);
    return true;
}

bool pfb_sample_cook_results(const pfb_sample *older, const pfb_sample *newer, const uint32_t *results, size_t count,
                             const pfb_formula_options *options, double *values, uint8_t *status_bytes, size_t capacity)
{
    comparison pair;
    if (capacity < newer->counts.values)
        return false;
    begin_comparison(&pair, false);
    for (size_t i = 0; i < count; i++) {
        if (results[i] < newer->counts.results)
            cook_result(&pair, older, newer, results[i], options, values, status_bytes);
    }
    return true;
}

pfb_raw_value pfb_sample_raw_value(const pfb_sample *sample, uint32_t row, uint32_t column)
{
    pfb_related_rows related = {.group = PFB_NONE};
    if (row >= sample->counts.rows || column >= sample->counts.columns ||
        sample->columns[column].result != sample->rows[row].result)
        return (pfb_raw_value){.has = 0};
    plan p = make_plan(sample, column, UINT32_MAX, &related);
    fill_sample(&p, row);
    return p.raw;
}

/* ---- From replies to displayed values ------------------------------------------------------------------------- */

/* The next multiple of what malloc aligns to. */
static uint64_t round_up(uint64_t size)
{
    return (size + 15) & ~UINT64_C(15);
}

/* A part of the memory; null where there is none, since nothing is needed. */
static uint8_t *take_memory(uint8_t **memory, uint64_t size)
{
    uint8_t *taken = *memory;
    *memory = taken ? taken + (size_t)round_up(size) : NULL;
    return taken;
}

/* Tables and results in the memory that was found enough. */
static void show(pfb_cooked_replies *display, const pfb_sample_input *const inputs[2],
                 const pfb_sample_counts counts[2], const pfb_formula_options *options, uint8_t *memory)
{
    size_t older_size = pfb_sample_size(&counts[0]);
    size_t newer_size = pfb_sample_size(&counts[1]);
    uint8_t *older_memory = take_memory(&memory, older_size);
    uint8_t *newer_memory = take_memory(&memory, newer_size);
    size_t count = (size_t)counts[1].values;
    display->values = (double *)(void *)take_memory(&memory, counts[1].values * sizeof(double));
    display->status_bytes = memory;
    display->older_error = pfb_sample_load(&display->older, inputs[0], &counts[0], older_memory, older_size);
    display->newer_error = pfb_sample_load(&display->newer, inputs[1], &counts[1], newer_memory, newer_size);
    pfb_sample_match(&display->older, &display->newer);
    pfb_sample_cook(&display->older, &display->newer, options, display->values, display->status_bytes, count);
}

bool pfb_cook_replies(pfb_cooked_replies *display, const pfb_sample_input *older, const pfb_sample_input *newer,
                      const pfb_formula_options *options, void *memory, size_t memory_size_bytes)
{
    const pfb_sample_input *const inputs[2] = {older, newer};
    pfb_sample_counts counts[2];
    uint64_t needed = 0;
    *display = (pfb_cooked_replies){.values = NULL};
    for (int i = 0; i < 2; i++) {
        pfb_sample_measure(inputs[i], &counts[i]); /* loading tells what is wrong */
        size_t size = pfb_sample_size(&counts[i]);
        bool is_empty = counts[i].results == 0 && counts[i].registrations == 0;
        if (size == 0 && !is_empty)
            return false;
        needed += round_up(size);
    }
    needed += round_up(counts[1].values * sizeof(double)) + counts[1].values;
    if (needed > SIZE_MAX)
        return false;
    display->needed_bytes = (size_t)needed;
    if (memory_size_bytes < needed || (!memory && needed > 0))
        return false;
    show(display, inputs, counts, options, memory);
    return true;
}
