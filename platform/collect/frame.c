/* SPDX-License-Identifier: MIT */
/* Frames: the values of a record as arrays. */
#include "collect/frame.h"

#include "collect/collector.h"
#include "select/memory.h"
#include "source/source_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* In units of 100 ns, as in FILETIME. */
#define UNITS_PER_MINUTE INT64_C(600000000)

static void clear_segments(frame_segments *part)
{
    for (size_t i = 0; i < part->count; i++)
        pfb_layout_release(&part->segments[i].layout);
    part->count = 0;
}

void pfb_collect_forget_frame(pfb_collector *c)
{
    c->frame.is_current = false;
    for (size_t i = 0; i < 2; i++)
        clear_segments(&c->frame.parts[i]);
}

void pfb_collect_free_frame(frame_state *f)
{
    for (size_t i = 0; i < 2; i++) {
        clear_segments(&f->parts[i]);
        free(f->parts[i].segments);
    }
    free(f->values);
    free(f->statuses);
    free(f->flag_bits);
    free(f->raw);
    free(f->times);
    *f = (frame_state){.is_current = false};
}

static uint32_t bit_if(bool is_set, uint32_t bit)
{
    return is_set ? bit : 0;
}

/* ---- Times of logs --------------------------------------------------------------------------------------- */

/* A time as in pfb_value: in UTC if the bias is known, else local. One so large that UTC could overflow is unknown. */
typedef struct log_time {
    bool has_time, is_local;
    int64_t time;
} log_time;

static log_time convert_time(uint64_t local_time, bool has_bias, int32_t bias_minutes)
{
    const uint64_t max = INT64_MAX / 2;
    bool has_time = local_time <= max;
    return (log_time){.has_time = has_time,
                      .is_local = !has_bias,
                      .time = has_time ? (int64_t)local_time + (has_bias ? bias_minutes * UNITS_PER_MINUTE : 0) : 0};
}

/* The bias of the last value that contains a UTC time. Most values have the times of the one before. */
typedef struct known_bias {
    bool is_known; /* the members below are set */
    bool has_bias;
    uint64_t utc, local;
    int32_t minutes;
} known_bias;

/* The machines of a log may be in different time zones: a bias derived from the value itself takes precedence. */
static log_time time_of_value(const frame_state *f, const layout_path *path, const pfb_log_value *value,
                              known_bias *known)
{
    if (!path->has_utc || !pfb_pdh_has_value(value->status))
        return convert_time(value->time, f->has_bias, f->bias_minutes);
    if (!known->is_known || known->utc != value->second || known->local != value->time) {
        *known = (known_bias){.is_known = true, .utc = value->second, .local = value->time};
        known->has_bias = pfb_log_bias_between(value->second, value->time, &known->minutes);
    }
    return convert_time(value->time, f->has_bias || known->has_bias,
                        known->has_bias ? known->minutes : f->bias_minutes);
}

bool pfb_collect_log_time(const log_state *log, uint64_t local_time, bool *is_local, int64_t *time)
{
    log_time t = convert_time(local_time, log->has_bias, log->bias_minutes);
    *is_local = t.is_local;
    *time = t.time;
    return t.has_time;
}

/* ---- Layouts --------------------------------------------------------------------------------------------- */

/* Gives a new layout its identifier: that of the latest layout if both have the same series. */
static void identify(frame_state *f, layout *l)
{
    const frame_segments *before = &f->parts[!f->newer];
    size_t position = f->parts[f->newer].count;
    const layout *last = position < before->count ? before->segments[position].layout : NULL;
    l->id = last && pfb_layout_is_same(l, last) ? last->id : ++f->last_layout;
}

/* Returns the layout of the current sample, with a reference. Returns null when memory is exhausted. */
static layout *find_layout(pfb_collector *c)
{
    layout **own = c->log.is_current ? &c->log.layout : &c->current->layout;
    if (*own)
        return pfb_layout_retain(*own);
    layout *l = c->log.is_current ? pfb_layout_of_log(c) : pfb_layout_of_sample(c, c->current, c->is_v1);
    if (l)
        identify(&c->frame, l);
    *own = l;
    return pfb_layout_retain(l);
}

/* ---- Arrays ---------------------------------------------------------------------------------------------- */

/* Returns true if the result lacks instances of the older result that its rows were matched with. */
static bool is_instance_missing(const pfb_sample *older, const pfb_sample *table, const pfb_sample_result *result)
{
    uint32_t older_result = PFB_NONE;
    uint32_t matched = 0;
    for (uint32_t i = result->first_row; i < result->first_row + result->row_count; i++) {
        uint32_t row = table->rows[i].older_row;
        if (row == PFB_NONE)
            continue;
        older_result = older_result == PFB_NONE ? older->rows[row].result : older_result;
        matched += older->rows[row].result == older_result;
    }
    return older_result != PFB_NONE && matched < older->results[older_result].row_count;
}

/* Sets PFB_FLAG_INCOMPLETE_TOTAL of the totals that were computed from two samples, of which the newer one lacks
 * instances of the older one. */
static void flag_totals(const pfb_collector *c, const frame_segment *segment)
{
    const layout *l = segment->layout;
    const pfb_sample *table = &segment->sample->table;
    uint32_t last = PFB_NONE;
    bool is_missing = false;
    for (size_t i = 0; i < l->total_count; i++) {
        uint32_t element = l->totals[i];
        uint32_t result = l->columns[l->elements[element].column].result;
        const pfb_sample *older = c->older[segment->first_older + result];
        if (result != last)
            is_missing = older && is_instance_missing(older, table, &table->results[result]);
        last = result;
        if (is_missing && c->frame.statuses[segment->first_element + element] == PFB_STATUS_OK)
            c->frame.flag_bits[segment->first_element + element] |= PFB_FLAG_INCOMPLETE_TOTAL;
    }
}

/* Returns true if the sample of a log lacks instances that the path of this value had in the older sample. The values
 * of a path follow each other. */
static bool is_log_instance_missing(const pfb_log_values *older, const pfb_log_values *newer, size_t place)
{
    const pfb_log_value *value = &newer->values[place];
    const uint32_t path = value->path;
    size_t first = value->older;
    size_t end = first;
    size_t matched = 0;
    if (value->older == PFB_LOG_NONE || older->values[value->older].path != path)
        return false;
    while (first > 0 && older->values[first - 1].path == path)
        first--;
    while (end < older->count && older->values[end].path == path)
        end++;
    while (place > 0 && newer->values[place - 1].path == path)
        place--;
    for (; place < newer->count && newer->values[place].path == path; place++)
        matched += newer->values[place].older >= first && newer->values[place].older < end;
    return matched < end - first;
}

/* The same as flag_totals for a sample of a log. */
static void flag_log_totals(const pfb_collector *c, const frame_segment *segment)
{
    const layout *l = segment->layout;
    const log_state *log = &c->log;
    const pfb_log_values *newer = &log->samples[log->newer].values;
    const pfb_log_values *older = &log->samples[!log->newer].values;
    uint32_t last = PFB_NONE;
    bool is_missing = false;
    for (size_t i = 0; i < l->total_count; i++) {
        const layout_element *element = &l->elements[l->totals[i]];
        size_t at = segment->first_element + l->totals[i];
        if (element->column != last)
            is_missing = is_log_instance_missing(older, newer, element->place);
        last = element->column;
        if (is_missing && c->frame.statuses[at] == PFB_STATUS_OK)
            c->frame.flag_bits[at] |= PFB_FLAG_INCOMPLETE_TOTAL;
    }
}

/* The types whose value is a decimal number that is not computed: those with _HEX show bit patterns. */
static bool is_count(uint32_t type)
{
    const uint32_t raw_count = 0x00010000, large_raw_count = 0x00010100;
    return type == raw_count || type == large_raw_count;
}

/* The arrays of a frame, from an element on. In local variables they stay in registers: stores of bytes could change
 * members of structures. */
typedef struct frame_arrays {
    double *values;
    uint8_t *statuses, *flag_bits;
    uint64_t *raw;
    int64_t *times;
} frame_arrays;

static frame_arrays arrays_from(const frame_state *f, size_t element)
{
    return (frame_arrays){f->values + element, f->statuses + element, f->flag_bits + element, f->raw + element,
                          f->times + element};
}

enum { FLAGS_SHIFT = 4 }; /* of PFB_STATUS_BYTE_FLAGS */

/* Sets an element. A raw value of this type may be negative. */
static inline void set_element(const frame_arrays *to, size_t at, double value, uint8_t status_byte, uint64_t raw,
                               uint32_t type)
{
    bool is_ok = (status_byte & PFB_STATUS_BYTE_CODE) == PFB_STATUS_OK;
    uint32_t flags = (uint32_t)(status_byte & PFB_STATUS_BYTE_FLAGS) >> FLAGS_SHIFT;
    if (raw > INT64_MAX && is_ok && is_count(type))
        flags |= PFB_FLAG_MAY_BE_NEGATIVE;
    to->values[at] = is_ok ? value : (double)NAN;
    to->statuses[at] = status_byte & PFB_STATUS_BYTE_CODE;
    to->flag_bits[at] = (uint8_t)flags;
    to->raw[at] = raw;
}

static void fill_table(pfb_collector *c, const frame_segment *segment)
{
    const layout *l = segment->layout;
    const pfb_sample *table = &segment->sample->table;
    const double *values = c->values + segment->first_value;
    const uint8_t *status_bytes = c->status_bytes + segment->first_value;
    const frame_arrays to = arrays_from(&c->frame, segment->first_element);
    const layout_element *elements = l->elements;
    const layout_column *columns = l->columns;
    const int64_t time = table->perf_time_100ns;
    for (size_t i = 0, count = l->element_count; i < count; i++) {
        size_t place = elements[i].place;
        uint64_t raw = table->sizes[place] != 0 ? table->raw[place] : 0;
        set_element(&to, i, values[place], status_bytes[place], raw, columns[elements[i].column].type);
        to.times[i] = time;
    }
    flag_totals(c, segment);
}

static void fill_log(pfb_collector *c, const frame_segment *segment)
{
    const log_state *log = &c->log;
    const layout *l = segment->layout;
    const pfb_log_value *values = log->samples[log->newer].values.values;
    const double *cooked = c->values + segment->first_value;
    const uint8_t *status_bytes = c->status_bytes + segment->first_value;
    const frame_arrays to = arrays_from(&c->frame, segment->first_element);
    const layout_element *elements = l->elements;
    const layout_path *paths = l->paths;
    known_bias known = {.is_known = false};
    for (size_t i = 0, count = l->element_count; i < count; i++) {
        size_t place = elements[i].place;
        const pfb_log_value *value = &values[place];
        const layout_path *path = &paths[elements[i].column];
        uint64_t raw = pfb_pdh_has_value(value->status) ? value->first : 0;
        set_element(&to, i, cooked[place], status_bytes[place], raw, path->type);
        to.times[i] = time_of_value(&c->frame, path, value, &known).time;
    }
    flag_log_totals(c, segment);
}

/* A text log has no types. Where the catalog does not know the type either, percentages are the counters with a percent
 * sign in their names. */
static bool is_percentage(const layout_path *path)
{
    if (path->has & PFB_SERIES_TYPE)
        return strcmp(path->unit, "%") == 0;
    return path->counter.size > 0 && memchr(path->counter.bytes, '%', path->counter.size) != NULL;
}

/* Applies clamp_0 and cap_100 to a cell of a text log. */
static void limit_cell(const pfb_formula_options *limits, const layout_path *path, log_cell *cell)
{
    if (limits->clamp_0 && cell->has_value && cell->value < 0) {
        cell->value = 0;
        cell->flags = PFB_FLAG_BELOW_ZERO;
    } else if (limits->cap_100 && cell->has_value && cell->value > 100 && is_percentage(path)) {
        cell->value = 100;
        cell->flags = PFB_FLAG_ABOVE_100;
    }
}

static void fill_text(pfb_collector *c, const frame_segment *segment)
{
    const layout *l = segment->layout;
    const frame_arrays to = arrays_from(&c->frame, segment->first_element);
    for (size_t i = 0; i < l->element_count; i++) {
        log_cell *cell = &c->log.cells[l->elements[i].place];
        limit_cell(&c->options.formula, &l->paths[l->elements[i].column], cell);
        uint32_t status_byte = cell->has_value ? PFB_STATUS_OK | cell->flags << FLAGS_SHIFT : PFB_STATUS_NO_DATA;
        set_element(&to, i, cell->value, (uint8_t)status_byte, 0, 0);
    }
}

/* Computes the values of a sample of a .blg that the elements of its layout show. Of a selection, they are copied
 * first, unless it has most of them: the other values are not computed. Returns false when memory is exhausted. */
static bool cook_log(pfb_collector *c, const frame_segment *segment)
{
    const log_state *log = &c->log;
    const layout *l = segment->layout;
    const pfb_log_values *newer = &log->samples[log->newer].values;
    const pfb_log_values *older = &log->samples[!log->newer].values;
    pfb_log_values chosen = {.count = l->element_count};
    const bool is_few = chosen.count < newer->count / 2;
    const size_t needed = segment->first_value + newer->count;
    const size_t capacity = needed + (is_few ? chosen.count : 0); /* the results of the copies follow */
    if (!PFB_COLLECT_GROW(c->values, c->value_capacity, capacity) ||
        !PFB_COLLECT_GROW(c->status_bytes, c->status_capacity, capacity) ||
        (is_few && !PFB_COLLECT_GROW(c->chosen, c->chosen_capacity, chosen.count)))
        return false;
    double *values = c->values + segment->first_value;
    uint8_t *status_bytes = c->status_bytes + segment->first_value;
    c->value_count = needed;
    if (!is_few) {
        pfb_log_cook(log->paths, log->path_count, older, newer, &c->options.formula, values, status_bytes);
        return true;
    }
    chosen.values = c->chosen;
    for (size_t i = 0; i < chosen.count; i++)
        chosen.values[i] = newer->values[l->elements[i].place];
    pfb_log_cook(log->paths, log->path_count, older, &chosen, &c->options.formula, values + newer->count,
                 status_bytes + newer->count);
    for (size_t i = 0; i < chosen.count; i++) {
        values[l->elements[i].place] = values[newer->count + i];
        status_bytes[l->elements[i].place] = status_bytes[newer->count + i];
    }
    return true;
}

static bool reserve_elements(frame_state *f, size_t count)
{
    return count <= UINT32_MAX && PFB_COLLECT_GROW(f->values, f->value_capacity, count) &&
           PFB_COLLECT_GROW(f->statuses, f->status_capacity, count) &&
           PFB_COLLECT_GROW(f->flag_bits, f->flag_capacity, count) &&
           PFB_COLLECT_GROW(f->raw, f->raw_capacity, count) && PFB_COLLECT_GROW(f->times, f->time_capacity, count);
}

/* ---- Frames ---------------------------------------------------------------------------------------------- */

void pfb_collect_begin_frame(pfb_collector *c)
{
    frame_state *f = &c->frame;
    uint32_t log_kind = c->log.is_text ? PFB_RECORD_ROW : PFB_RECORD_LOG;
    uint32_t reply_kind = c->is_v1 ? PFB_RECORD_V1 : PFB_RECORD_V2;
    const pfb_sample *table = c->log.is_current ? NULL : &c->current->table;
    bool has_time = true;
    bool is_local = false;
    int64_t time = table ? table->perf_time_100ns : 0;
    if (!table)
        has_time = pfb_collect_log_time(&c->log, c->log.local_time, &is_local, &time);
    f->is_current = false;
    f->newer = !f->newer;
    f->has_bias = c->log.has_bias;
    f->bias_minutes = c->log.bias_minutes;
    clear_segments(&f->parts[f->newer]);
    f->frame = (pfb_frame){.kind = table ? reply_kind : log_kind,
                           .file = c->file < c->record_file_count ? c->record_files[c->file].file : (uint32_t)c->file,
                           .flags = bit_if(has_time, PFB_RECORD_HAS_TIME) | bit_if(is_local, PFB_RECORD_LOCAL_TIME),
                           .number = table ? c->current->number : c->log.number,
                           .layout = f->frame.layout,
                           .time = time,
                           .perf_time = table ? table->perf_time : 0,
                           .perf_freq = table ? table->perf_freq : 0,
                           .notes = table ? table->notes : 0};
}

bool pfb_collect_extend_frame(pfb_collector *c)
{
    frame_state *f = &c->frame;
    frame_segments *part = &f->parts[f->newer];
    bool is_log = c->log.is_current;
    if (!is_log && !c->current) /* a malformed V1 object of a log */
        return true;
    frame_segment segment = {.sample = is_log ? NULL : c->current,
                             .first_element = f->frame.count,
                             .first_result = f->frame.result_count,
                             .first_value = is_log ? c->value_count : c->first_value,
                             .first_older = c->first_older};
    if (!PFB_COLLECT_GROW(part->segments, part->capacity, part->count + 1))
        return false;
    segment.layout = find_layout(c);
    if (!segment.layout)
        return false;
    part->segments[part->count++] = segment;
    if ((is_log && !c->log.is_text && !cook_log(c, &segment)) ||
        !reserve_elements(f, segment.first_element + segment.layout->element_count))
        return false;
    if (!is_log)
        fill_table(c, &segment);
    else if (c->log.is_text)
        fill_text(c, &segment);
    else
        fill_log(c, &segment);
    if (f->frame.kind == PFB_RECORD_LOG && !is_log && f->frame.count == 0 && segment.layout->element_count > 0) {
        /* All values are of V1 objects, whose headers have the time in UTC. */
        f->frame.time = c->current->table.perf_time_100ns;
        f->frame.flags = PFB_RECORD_HAS_TIME;
    }
    f->frame.count += (uint32_t)segment.layout->element_count;
    f->frame.result_count += is_log ? 0 : c->current->table.counts.results;
    f->frame.notes |= is_log ? 0 : c->current->table.notes;
    return true;
}

/* Returns true if the current frame has the layouts of the one before. */
static bool has_same_layouts(const frame_state *f)
{
    const frame_segments *now = &f->parts[f->newer];
    const frame_segments *before = &f->parts[!f->newer];
    bool is_same = now->count == before->count;
    for (size_t i = 0; i < now->count && is_same; i++)
        is_same = now->segments[i].layout->id == before->segments[i].layout->id;
    return is_same;
}

bool pfb_collect_end_frame(pfb_collector *c)
{
    frame_state *f = &c->frame;
    const frame_segments *part = &f->parts[f->newer];
    if (part->count == 1)
        f->frame.layout = part->segments[0].layout->id;
    else if (!has_same_layouts(f))
        f->frame.layout = ++f->last_layout;
    f->frame.values = f->values;
    f->frame.statuses = f->statuses;
    f->frame.flag_bits = f->flag_bits;
    f->frame.raw = f->raw;
    f->frame.times = f->frame.kind == PFB_RECORD_LOG ? f->times : NULL;
    f->is_current = true;
    f->is_current = pfb_group_frame(c);
    return f->is_current;
}

bool pfb_collect_make_frame(pfb_collector *c)
{
    if (!c->log.is_current && !c->current)
        return true;
    pfb_collect_begin_frame(c);
    return pfb_collect_extend_frame(c) && pfb_collect_end_frame(c);
}

bool pfb_collector_frame(pfb_collector *c, pfb_frame *frame)
{
    const pfb_frame *current = c->group.pattern ? &c->group.frame : &c->frame.frame;
    if (c->frame.is_current)
        pfb_collect_copy_out(frame, current, sizeof *current);
    return c->frame.is_current;
}

/* ---- Elements -------------------------------------------------------------------------------------------- */

/* Returns the segment of an element of the current frame, and stores the position in the segment in *position. Returns
 * null if there is no such element. */
static const frame_segment *find_segment(const pfb_collector *c, uint32_t element, uint32_t *position)
{
    const frame_segments *part = &c->frame.parts[c->frame.newer];
    size_t low = 0;
    size_t high = part->count;
    if (!c->frame.is_current || element >= c->frame.frame.count)
        return NULL;
    while (high - low > 1) { /* the last segment that begins at or before the element, which is not empty */
        size_t middle = low + (high - low) / 2;
        if (part->segments[middle].first_element <= element)
            low = middle;
        else
            high = middle;
    }
    *position = element - part->segments[low].first_element;
    return &part->segments[low];
}

bool pfb_collect_source_series(const pfb_collector *c, uint32_t element, pfb_series *series)
{
    uint32_t position;
    const frame_segment *segment = find_segment(c, element, &position);
    if (!segment)
        return false;
    pfb_layout_series(segment->layout, position, series);
    if (segment->sample)
        series->result += segment->first_result;
    return true;
}

bool pfb_collector_series(pfb_collector *c, uint32_t element, pfb_series *series)
{
    pfb_series copy;
    pfb_series *all = series->size == sizeof copy ? series : &copy;
    bool exists = c->group.pattern ? c->frame.is_current && pfb_group_series(c, element, all)
                                   : pfb_collect_source_series(c, element, all);
    if (exists && all == &copy)
        pfb_collect_copy_out(series, &copy, sizeof copy);
    return exists;
}

static const double exact_limit = 9007199254740992.0; /* 2^53: a double has all integers below it */

/* A double has the exact integer only below 2^53; for larger values the formula is evaluated again. */
static void describe_table_value(const pfb_collector *c, const frame_segment *segment, const layout_element *element,
                                 pfb_value *v)
{
    const pfb_sample *table = &segment->sample->table;
    uint32_t row = segment->layout->rows[element->row].table_row;
    uint32_t column = element->column;
    const pfb_sample_column *input = &table->columns[column];
    const pfb_sample *older = c->older[segment->first_older + input->result];
    size_t at = segment->first_value + element->place;
    bool is_v1 = segment->layout->is_v1;
    bool has_raw = table->sizes[element->place] != 0;
    bool has_object_freq = is_v1;
    pfb_formula_result result = pfb_formula_unpack(c->values[at], c->status_bytes[at], PFB_UNIT_NONE);
    if (result.status == PFB_STATUS_OK && result.value >= exact_limit)
        result = pfb_sample_cook_value(older, table, row, column, &c->options.formula, NULL);
    v->status = (uint32_t)result.status;
    v->value = result.value;
    v->integer = result.integer;
    v->time = table->perf_time_100ns;
    v->object_freq = table->results[input->result].object_freq;
    v->raw = has_raw ? table->raw[element->place] : 0;
    v->has = PFB_VALUE_TIME | bit_if(result.is_integer, PFB_VALUE_INTEGER) | bit_if(has_raw, PFB_VALUE_RAW);
    if (input->base_column != PFB_NONE || (!is_v1 && input->freq_column != PFB_NONE)) {
        pfb_raw_value raw = pfb_sample_raw_value(table, row, column);
        v->has |= bit_if((raw.has & PFB_HAS_BASE) != 0, PFB_VALUE_BASE);
        v->base = raw.has & PFB_HAS_BASE ? raw.base : 0;
        has_object_freq = (raw.has & PFB_HAS_OBJECT_FREQ) != 0;
        v->object_freq = has_object_freq ? raw.object_freq : 0;
    }
    v->has |= bit_if(has_object_freq, PFB_VALUE_OBJECT_FREQ);
}

/* Stores the inputs of a value of a .blg, as pfb_collector_inputs. */
static void find_log_inputs(const log_state *log, const pfb_log_value *value, pfb_raw_value inputs[2])
{
    const pfb_log_values *older = &log->samples[!log->newer].values;
    const pfb_log_path *path = &log->paths[value->path];
    inputs[1] = pfb_log_raw_value(path, value);
    if (value->older != PFB_LOG_NONE)
        inputs[0] = pfb_log_raw_value(path, &older->values[value->older]);
}

static void describe_log_value(const pfb_collector *c, const frame_segment *segment, const layout_element *element,
                               pfb_value *v)
{
    const log_state *log = &c->log;
    const layout_path *path = &segment->layout->paths[element->column];
    const pfb_log_value *value = &log->samples[log->newer].values.values[element->place];
    known_bias known = {.is_known = false};
    log_time time = time_of_value(&c->frame, path, value, &known);
    v->has = bit_if(time.has_time, PFB_VALUE_TIME) | bit_if(time.is_local, PFB_VALUE_LOCAL_TIME);
    v->time = time.time;
    v->status = PFB_STATUS_NO_DATA;
    if (!pfb_pdh_has_value(value->status)) {
        v->source_status = value->status;
        return;
    }
    size_t at = segment->first_value + element->place;
    pfb_formula_result result = pfb_formula_unpack(c->values[at], c->status_bytes[at], PFB_UNIT_NONE);
    if (result.status == PFB_STATUS_OK && result.value >= exact_limit) {
        pfb_raw_value inputs[2] = {{.has = 0}};
        find_log_inputs(log, value, inputs);
        result = pfb_formula_evaluate(inputs[0].has ? &inputs[0] : NULL, &inputs[1], &c->options.formula);
    }
    v->status = (uint32_t)result.status;
    v->value = result.value;
    v->integer = result.integer;
    v->raw = value->first;
    v->has |= PFB_VALUE_RAW | bit_if(result.is_integer, PFB_VALUE_INTEGER);
    if (!path->has_more)
        return;
    pfb_raw_value raw = pfb_log_raw_value(&log->paths[value->path], value);
    v->base = raw.base;
    v->object_freq = raw.object_freq;
    v->has |= bit_if((raw.has & PFB_HAS_BASE) != 0, PFB_VALUE_BASE) |
              bit_if((raw.has & PFB_HAS_OBJECT_FREQ) != 0, PFB_VALUE_OBJECT_FREQ);
}

static void describe_cell(const pfb_collector *c, const log_cell *cell, pfb_value *v)
{
    const pfb_frame *frame = &c->frame.frame;
    double value = cell->has_value ? cell->value : 0;
    bool is_integer = cell->has_value && value >= 0 && value < exact_limit && value == (double)(uint64_t)value;
    v->has = bit_if((frame->flags & PFB_RECORD_HAS_TIME) != 0, PFB_VALUE_TIME) |
             bit_if((frame->flags & PFB_RECORD_LOCAL_TIME) != 0, PFB_VALUE_LOCAL_TIME) |
             bit_if(is_integer, PFB_VALUE_INTEGER);
    v->status = cell->has_value ? PFB_STATUS_OK : PFB_STATUS_NO_DATA;
    v->value = value;
    v->integer = is_integer ? (uint64_t)value : 0;
    v->time = frame->time;
}

bool pfb_collect_source_value(const pfb_collector *c, uint32_t element, pfb_value *value)
{
    uint32_t position;
    const log_state *log = &c->log;
    const frame_segment *segment = find_segment(c, element, &position);
    if (!segment)
        return false;
    *value = (pfb_value){.size = sizeof *value};
    const layout_element *own = &segment->layout->elements[position];
    if (segment->sample)
        describe_table_value(c, segment, own, value);
    else if (log->is_text)
        describe_cell(c, &log->cells[own->place], value);
    else
        describe_log_value(c, segment, own, value);
    value->flags = c->frame.flag_bits[element];
    return true;
}

bool pfb_collector_value(pfb_collector *c, uint32_t element, pfb_value *value)
{
    pfb_value copy;
    pfb_value *all = value->size == sizeof copy ? value : &copy;
    bool exists = c->group.pattern ? c->frame.is_current && pfb_group_value(c, element, all)
                                   : pfb_collect_source_value(c, element, all);
    if (exists && all == &copy)
        pfb_collect_copy_out(value, &copy, sizeof copy);
    return exists;
}

bool pfb_collector_inputs(pfb_collector *c, uint32_t element, pfb_raw_value inputs[2])
{
    return c->group.pattern ? c->frame.is_current && pfb_group_inputs(c, element, inputs)
                            : pfb_collect_source_inputs(c, element, inputs);
}

bool pfb_collect_source_inputs(const pfb_collector *c, uint32_t element, pfb_raw_value inputs[2])
{
    uint32_t position;
    pfb_cook_inputs cooked;
    const log_state *log = &c->log;
    const frame_segment *segment = find_segment(c, element, &position);
    if (!segment)
        return false;
    const layout_element *own = &segment->layout->elements[position];
    inputs[0] = inputs[1] = (pfb_raw_value){.has = 0};
    if (!segment->sample && !log->is_text)
        find_log_inputs(log, &log->samples[log->newer].values.values[own->place], inputs);
    if (!segment->sample)
        return true;
    const pfb_sample *table = &segment->sample->table;
    pfb_sample_cook_value(c->older[segment->first_older + table->columns[own->column].result], table,
                          segment->layout->rows[own->row].table_row, own->column, &c->options.formula, &cooked);
    inputs[0] = cooked.older;
    inputs[1] = cooked.newer;
    return true;
}

/* ---- Results --------------------------------------------------------------------------------------------- */

bool pfb_collector_result(pfb_collector *c, uint32_t position, pfb_collected_result *out)
{
    const frame_segments *part = &c->frame.parts[c->frame.newer];
    size_t at = part->count;
    if (!c->frame.is_current || position >= c->frame.frame.result_count)
        return false;
    while (!part->segments[at - 1].sample || part->segments[at - 1].first_result > position)
        at--;
    const frame_segment *segment = &part->segments[at - 1];
    uint32_t own = position - segment->first_result;
    const pfb_sample_result *input = &segment->sample->table.results[own];
    const layout_result *known = &segment->layout->results[own];
    bool is_v1 = segment->layout->is_v1;
    pfb_collected_result result = {.offset = input->offset,
                                   .kind = input->kind,
                                   .has_values = is_v1 || pfb_source_has_values(input->kind),
                                   .status = input->status,
                                   .is_chosen = known->is_chosen,
                                   .counterset = known->counterset.bytes,
                                   .counterset_size = known->counterset.size,
                                   .has_counterset = known->has_counterset,
                                   .has_guid = known->has_set,
                                   .guid = known->set,
                                   .has_title = is_v1,
                                   .title = input->title_index,
                                   .has_counter_id = input->has_query && input->counter_id != PFB_NO_ID,
                                   .row_count = known->row_count,
                                   .column_count = known->column_count,
                                   .shown_column_count = known->shown_column_count,
                                   .has_repeated_names = known->has_repeated_names,
                                   .has_rows_of_previous = known->has_rows_of_previous};
    result.counter_id = result.has_counter_id ? input->counter_id : 0;
    if (c->group.pattern && known->column_count > 0) {
        result.row_count = pfb_group_row_count(&c->group, position);
        result.has_repeated_names = result.has_repeated_names && result.row_count == known->row_count;
        /* The groups of a result may be elements of an earlier one with the same counterset. */
        result.is_chosen = result.is_chosen && (result.row_count > 0 || known->row_count == 0);
    }
    pfb_collect_copy_out(out, &result, sizeof result);
    return true;
}
