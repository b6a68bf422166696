/* SPDX-License-Identifier: MIT */
/* Collects the values of a report. Each name is stored once. Points are stored by line, and thinned when there are more
 * than REPORT_MAX_POINTS. */
#include "report/report.h"

#include "memory/memory.h"
#include "os/system.h"
#include "report/lines.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reasons of points in which a line has no value: no status, but these. */
static const char gap_absent[] = "absent";
static const char gap_no_sample[] = "no_sample";

/* ---- Names ----------------------------------------------------------------------------------------------- */

/* Returns true if the page has as many lines as it may have. From then on, no name and no node is added either. */
static bool is_full(const report *r)
{
    return r->line_count >= REPORT_MAX_LINES;
}

/* Returns the position of a name; REPORT_NONE if it is new and the page is full. */
static int32_t get_name(report *r, const char *name)
{
    size_t size = strlen(name);
    uint64_t hash = hash_bytes(r->seed, name, size);
    uint64_t slot = hash;
    size_t at = 0;
    while ((at = hash_index_next(&r->name_index, hash, &slot)) != HASH_INDEX_NONE) {
        if (r->names[at].size == size && memcmp(r->text.data + r->names[at].offset, name, size) == 0)
            return (int32_t)at;
    }
    if (is_full(r))
        return REPORT_NONE;
    hash_index_add(&r->name_index, hash);
    r->names = memory_grow(r->names, &r->name_capacity, r->name_count + 1, sizeof *r->names);
    r->names[r->name_count] = (report_name){.offset = r->text.size, .size = size};
    buffer_bytes(&r->text, name, size);
    return (int32_t)r->name_count++;
}

/* ---- The tree -------------------------------------------------------------------------------------------- */

/* Returns the child of a node with this name, unit and repeat. If there is none, adds it as the last child, or returns
 * REPORT_NONE if the page is full. */
static int32_t get_node(report *r, int32_t parent, int32_t name, int32_t unit, uint32_t repeat)
{
    uint64_t key = (uint64_t)(uint32_t)parent << 32 | (uint32_t)name;
    uint64_t hash = hash_mix(hash_mix(r->seed ^ key) ^ ((uint64_t)(uint32_t)unit << 32 | repeat));
    uint64_t slot = hash;
    size_t found = 0;
    while ((found = hash_index_next(&r->node_index, hash, &slot)) != HASH_INDEX_NONE) {
        const report_node *node = &r->nodes[found];
        if (node->parent == parent && node->name == name && node->unit == unit && node->repeat == repeat)
            return (int32_t)found;
    }
    if (is_full(r))
        return REPORT_NONE;
    hash_index_add(&r->node_index, hash);
    r->nodes = memory_grow(r->nodes, &r->node_capacity, r->node_count + 1, sizeof *r->nodes);
    int32_t at = (int32_t)r->node_count++;
    r->nodes[at] = (report_node){.parent = parent,
                                 .name = name,
                                 .unit = unit,
                                 .repeat = repeat,
                                 .first = REPORT_NONE,
                                 .last = REPORT_NONE,
                                 .next = REPORT_NONE,
                                 .line = REPORT_NONE,
                                 .track = REPORT_NONE};
    if (parent == REPORT_NONE)
        return at;
    report_node *parent_node = &r->nodes[parent];
    if (parent_node->first == REPORT_NONE)
        parent_node->first = at;
    else
        r->nodes[parent_node->last].next = at;
    parent_node->last = at;
    return at;
}

/* Returns the line of an instance's node; adds it if the node has none. */
static report_line *line_of(report *r, int32_t instance)
{
    report_node *node = &r->nodes[instance];
    if (node->line == REPORT_NONE) {
        node->line = (int32_t)r->line_count;
        r->lines = memory_grow(r->lines, &r->line_capacity, r->line_count + 1, sizeof *r->lines);
        r->lines[r->line_count++] = (report_line){0};
    }
    return &r->lines[node->line];
}

/* Returns the first child of a node with this name and unit; "" is the unit of all nodes but counters. Returns
 * REPORT_NONE if `parent` is REPORT_NONE, or if the child is new and the page is full. */
static int32_t descend(report *r, int32_t parent, const char *name, const char *unit)
{
    int32_t name_at = parent == REPORT_NONE ? REPORT_NONE : get_name(r, name);
    int32_t unit_at = name_at == REPORT_NONE ? REPORT_NONE : get_name(r, unit);
    return unit_at == REPORT_NONE ? REPORT_NONE : get_node(r, parent, name_at, unit_at, 0);
}

/* Returns the line of a value, or null if the line is new and the page is full. Stores the node of the value's
 * counterset in *set. */
static report_line *get_line(report *r, const report_value *value, report_node **set)
{
    uint32_t sample = (uint32_t)(r->sample_count - 1);
    int32_t set_at = descend(r, descend(r, REPORT_ROOT, value->machine, ""), value->counterset, "");
    int32_t counter = descend(r, set_at, value->counter, value->unit);
    int32_t instance = descend(r, counter, value->instance, "");
    if (instance == REPORT_NONE)
        return NULL;
    *set = &r->nodes[set_at];
    report_line *line = line_of(r, instance);
    if (line->seen == 0 || line->sample != sample)
        return line;
    instance = get_node(r, counter, r->nodes[instance].name, r->nodes[instance].unit, ++line->repeats);
    *set = &r->nodes[set_at]; /* get_node() may have moved the nodes */
    return instance == REPORT_NONE ? NULL : line_of(r, instance);
}

/* ---- Points ---------------------------------------------------------------------------------------------- */

static void add_point(report *r, report_line *line, report_point point)
{
    line->points = memory_grow(line->points, &line->capacity, line->count + 1, sizeof *line->points);
    line->points[line->count++] = point;
    r->point_count++;
}

/* Returns the position of a reason. A log may have more reasons than positions, because statuses of PDH without a name
 * have a number: those that do not fit share the last position, "other". */
static uint8_t get_gap(report *r, const char *reason)
{
    size_t at = 1;
    if (!reason)
        return REPORT_HAS_VALUE;
    while (at < r->gap_count && strcmp(r->gaps[at], reason) != 0)
        at++;
    if (at == r->gap_count && at <= REPORT_MAX_GAPS)
        snprintf(r->gaps[r->gap_count++], REPORT_GAP_BYTES, "%s", at < REPORT_MAX_GAPS ? reason : "other");
    return (uint8_t)(at < REPORT_MAX_GAPS ? at : REPORT_MAX_GAPS);
}

/* The points of a run that are not removed, by position: those with the smallest and the largest value, and the first
 * one without a value. SIZE_MAX: none. */
typedef struct run_points {
    size_t minimum, maximum, gap;
} run_points;

/* Thins the points of the run [begin, end). Moves those that are kept to position `count` and following, and returns
 * the position after the last of them. */
static size_t thin_run(report_line *line, size_t begin, size_t end, size_t count)
{
    run_points points = {SIZE_MAX, SIZE_MAX, SIZE_MAX};
    for (size_t i = begin; i < end; i++) {
        const report_point *point = &line->points[i];
        if (point->gap != REPORT_HAS_VALUE) {
            points.gap = points.gap == SIZE_MAX ? i : points.gap;
            continue;
        }
        if (points.minimum == SIZE_MAX || point->value < line->points[points.minimum].value)
            points.minimum = i;
        if (points.maximum == SIZE_MAX || point->value > line->points[points.maximum].value)
            points.maximum = i;
    }
    for (size_t i = begin; i < end; i++) {
        if (i == points.minimum || i == points.maximum || i == points.gap)
            line->points[count++] = line->points[i];
    }
    return count;
}

static void thin_line(report *r, report_line *line)
{
    size_t count = 0;
    size_t end = 0;
    for (size_t begin = 0; begin < line->count; begin = end) {
        uint32_t run = line->points[begin].sample / r->run;
        for (end = begin + 1; end < line->count && line->points[end].sample / r->run == run; end++)
            ;
        count = thin_run(line, begin, end, count);
    }
    r->point_count -= line->count - count;
    line->count = count;
}

void report_thin_all(report *r)
{
    for (size_t i = 0; r->run > 1 && i < r->line_count; i++)
        thin_line(r, &r->lines[i]);
}

/* Thins the points added since the last call. Then raises the run length until at most three quarters of
 * REPORT_MAX_POINTS remain, or until a run contains all samples. */
static void thin(report *r)
{
    enum { FIRST_RUN = 4, MAX_THINNED = REPORT_MAX_POINTS / 4 * 3 };
    report_thin_all(r);
    while (r->point_count > MAX_THINNED && r->run < r->sample_count) {
        r->run = r->run < FIRST_RUN ? FIRST_RUN : r->run * 2;
        report_thin_all(r);
    }
    /* A run that contains all samples has at most 3 points of each line, so more than MAX_THINNED points can remain
     * only if REPORT_MAX_LINES is raised. Thinning again soon would then remove few points. */
    r->thin_at = r->point_count > MAX_THINNED ? r->point_count * 2 : REPORT_MAX_POINTS;
}

/* ---- Values ---------------------------------------------------------------------------------------------- */

report *report_begin(void)
{
    report *r = memory_get(1, sizeof *r);
    r->seed = hash_mix(system_now() ^ (uintptr_t)r);
    r->run = 1;
    r->gap_count = 1;
    r->thin_at = REPORT_MAX_POINTS;
    get_node(r, REPORT_NONE, get_name(r, ""), 0, 0);
    return r;
}

/* Limits a time to the years 1601 to 9999. */
static int64_t limit_time(int64_t time)
{
    const int64_t last = INT64_C(2650467743999999999); /* of the year 9999 */
    return time < 0 ? 0 : time > last ? last : time;
}

/* The upper median of the latest steps, or the last step if that is longer; 0 if there are none. */
static int64_t usual_step(const report_clock *clock)
{
    int64_t sorted[REPORT_STEPS];
    uint32_t count = clock->count < REPORT_STEPS ? clock->count : REPORT_STEPS;
    if (count == 0)
        return 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = i;
        for (; at > 0 && sorted[at - 1] > clock->steps[i]; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = clock->steps[i];
    }
    int64_t last = clock->steps[(clock->count - 1) % REPORT_STEPS];
    return sorted[count / 2] > last ? sorted[count / 2] : last;
}

/* Adds the step from one sample to the next. Returns true if it is a break: more than three times as long as usual. */
static bool pass_time(report_clock *clock, int64_t step)
{
    const int64_t limit = 3;
    int64_t usual = usual_step(clock);
    clock->is_after_break = usual > 0 && step / limit >= usual && step > limit * usual;
    if (step > 0)
        clock->steps[clock->count++ % REPORT_STEPS] = step;
    return clock->is_after_break;
}

static void add_sample(report *r, int64_t time)
{
    r->times = memory_grow(r->times, &r->time_capacity, r->sample_count + 1, sizeof *r->times);
    r->times[r->sample_count++] = time;
}

void report_zone(report *r, uint32_t file, int64_t time, const log_zone *zone)
{
    const log_zone *last = r->zone_count > 0 ? &r->zones[r->zone_count - 1].zone : NULL;
    bool is_same = last && last->is_known == zone->is_known && last->bias_minutes == zone->bias_minutes;
    if (last && (is_same || file != r->zone_file))
        return;
    r->zones = memory_grow(r->zones, &r->zone_capacity, r->zone_count + 1, sizeof *r->zones);
    r->zones[r->zone_count++] =
        (report_change){limit_time(time), {.is_known = zone->is_known, .bias_minutes = zone->bias_minutes}};
    r->zone_file = file;
}

/* Lists the break before the current sample of a counterset, once for all countersets that have it. */
static void add_break(report *r, report_break added)
{
    size_t listed = r->break_count < REPORT_MAX_BREAKS ? r->break_count : REPORT_MAX_BREAKS;
    while (listed > 0 && r->breaks[listed - 1].after == added.after) {
        report_break *known = &r->breaks[--listed];
        if (known->before == added.before) {
            known->has_more_sets = true;
            return;
        }
    }
    if (r->break_count < REPORT_MAX_BREAKS)
        r->breaks[r->break_count++] = added;
    else if (r->break_sample != added.after)
        r->break_count++;
    r->break_sample = added.after;
}

/* Returns the track of a file, which becomes the first one of its counterset. */
static report_track *get_track(report *r, report_node *set, uint32_t file)
{
    int32_t before = REPORT_NONE;
    int32_t at = set->track;
    while (at != REPORT_NONE && r->tracks[at].file != file) {
        before = at;
        at = r->tracks[at].next;
    }
    if (at == set->track && at != REPORT_NONE)
        return &r->tracks[at];
    if (at == REPORT_NONE) {
        at = (int32_t)r->track_count;
        r->tracks = memory_grow(r->tracks, &r->track_capacity, r->track_count + 1, sizeof *r->tracks);
        r->tracks[r->track_count++] =
            set->track != REPORT_NONE ? r->tracks[set->track] : (report_track){.next = REPORT_NONE};
        r->tracks[at].file = file;
        r->tracks[at].inherited = r->tracks[at].samples;
    } else {
        report_track *last = &r->tracks[set->track];
        if (last->samples == last->inherited + 1) /* a file beside this one, with an interval of its own */
            last->clock.count = 0;
        r->tracks[before].next = r->tracks[at].next;
    }
    r->tracks[at].next = set->track;
    set->track = at;
    return &r->tracks[at];
}

/* Begins the current sample of a counterset, of which no value was added yet. */
static void begin_set(report *r, report_node *set, report_track *track)
{
    uint32_t sample = (uint32_t)(r->sample_count - 1);
    bool is_break = track->samples > 0 && pass_time(&track->clock, r->times[sample] - r->times[track->sample]);
    if (is_break && set->break_end <= track->sample) { /* else it is that of another file */
        bool is_of_all = r->clock.is_after_break;
        add_break(r, (report_break){.before = is_of_all ? sample - 2 : track->sample,
                                    .after = sample,
                                    .set = is_of_all ? REPORT_NONE : (int32_t)(set - r->nodes)});
        set->break_end = sample;
    }
    set->samples++;
    set->sample = sample;
    track->samples++;
    track->previous_sample = track->sample;
    track->sample = sample;
}

/* ---- Averages -------------------------------------------------------------------------------------------- */

/* Adds a value to the average of a line whose previous point precedes it by `step` units of 100 ns. */
static void weigh(report_line *line, bool has_value, double value, int64_t step, bool is_after_break)
{
    double seconds = (double)step / 1e7;
    bool is_joined = step > 0 && !is_after_break;
    if (is_joined)
        line->interval = seconds;
    if (line->has_pending && (is_joined || has_value)) {
        figures_weigh(&line->figures, line->pending, line->interval > 0 ? line->interval : 1);
        line->has_pending = false;
    }
    if (has_value && (is_joined || (line->is_of_interval && step > 0))) {
        figures_weigh(&line->figures, value, seconds);
    } else if (has_value) {
        line->has_pending = true;
        line->pending = value;
    }
}

void report_weigh_all(report *r)
{
    for (size_t i = 0; i < r->line_count; i++) {
        report_line *line = &r->lines[i];
        if (line->has_pending)
            figures_weigh(&line->figures, line->pending, line->interval > 0 ? line->interval : 1);
        line->has_pending = false;
    }
}

/* ---- The first step -------------------------------------------------------------------------------------- */

/* Returns true if the first step was a break: more than three times as long as each of the next two, of which `step` is
 * the second one. No earlier step says what is usual, such as in a circular log, whose first sample remains. */
static bool is_after_first_break(const report_clock *clock, int64_t step)
{
    const int64_t limit = 3;
    int64_t usual = step > clock->steps[1] ? step : clock->steps[1];
    return clock->count == 2 && step > 0 && clock->steps[0] / limit >= usual && clock->steps[0] > limit * usual;
}

/* Weighs the points of a line again, of which the first step was no break. `interval`: seconds, as is usual. */
static void weigh_again(const report *r, report_line *line, double interval)
{
    int64_t before = r->times[line->points[0].sample];
    bool is_after_break = false;
    line->figures.sum = line->figures.correction = line->figures.weight = 0;
    line->has_pending = false;
    line->interval = interval;
    for (size_t i = 0; i < line->count; i++) {
        const report_point *point = &line->points[i];
        const char *gap = r->gaps[point->gap];
        int64_t time = r->times[point->sample];
        bool is_mark = strcmp(gap, gap_absent) == 0 || strcmp(gap, gap_no_sample) == 0;
        if (!is_mark) {
            weigh(line, point->gap == REPORT_HAS_VALUE, point->value, time - before, is_after_break);
            before = time;
        }
        is_after_break = is_mark;
    }
}

/* Returns true if the line has points in this sample and in sample 0, and none between them. */
static bool has_first_step(const report_line *line, uint32_t sample)
{
    return line->count >= 2 && line->points[0].sample == 0 && line->points[1].sample == sample;
}

/* Interrupts a line between samples 0 and 2. */
static void break_line(report *r, report_line *line, double interval)
{
    add_point(r, line, (report_point){.sample = 1, .gap = get_gap(r, gap_no_sample)});
    memmove(line->points + 2, line->points + 1, (line->count - 2) * sizeof *line->points);
    line->points[1] = (report_point){.sample = 1, .gap = get_gap(r, gap_no_sample)};
    weigh_again(r, line, interval);
}

/* Makes the first step a break, as begin_sample() and begin_set() do with later ones: adds sample 1, its middle. */
static void break_first_step(report *r, int64_t interval)
{
    int64_t step = r->clock.steps[0];
    bool is_of_lines = false;
    for (size_t i = 0; i < r->line_count; i++)
        is_of_lines = is_of_lines || has_first_step(&r->lines[i], 1);
    if (!is_of_lines || r->run > 1 || r->times[1] - r->times[0] != step)
        return;
    add_sample(r, 0);
    memmove(r->times + 2, r->times + 1, (r->sample_count - 2) * sizeof *r->times);
    r->times[1] = r->times[0] + step / 2;
    r->break_samples++;
    r->break_time += step;
    for (size_t i = 0; i < r->node_count; i++) {
        r->nodes[i].sample += r->nodes[i].sample > 0;
        r->nodes[i].break_end += r->nodes[i].break_end > 0;
    }
    for (size_t i = 0; i < r->track_count; i++) {
        r->tracks[i].sample += r->tracks[i].sample > 0;
        r->tracks[i].previous_sample += r->tracks[i].previous_sample > 0;
    }
    for (size_t i = 0; i < r->line_count; i++) {
        report_line *line = &r->lines[i];
        for (size_t at = 0; at < line->count; at++)
            line->points[at].sample += line->points[at].sample > 0;
        line->sample += line->sample > 0;
        if (has_first_step(line, 2))
            break_line(r, line, (double)interval / 1e7);
    }
    add_break(r, (report_break){.before = 0, .after = 2, .set = REPORT_NONE});
}

/* ---- Adding ---------------------------------------------------------------------------------------------- */

/* Makes the sample of the value the current one. Returns false if there are too many samples. */
static bool begin_sample(report *r, const report_value *value)
{
    if (r->sample_count > 0 && r->last_number == value->sample)
        return true;
    if (r->sample_count >= UINT32_MAX / 2)
        return false;
    int64_t time = limit_time(value->time);
    int64_t step = r->sample_count > 0 ? time - r->times[r->sample_count - 1] : 0;
    if (is_after_first_break(&r->clock, step))
        break_first_step(r, step);
    if (pass_time(&r->clock, step)) {
        add_sample(r, time - step / 2);
        r->break_samples++;
        r->break_time += step;
    }
    add_sample(r, time);
    r->last_number = value->sample;
    return true;
}

/* Returns true if the counterset had samples without the line, in the file of its last point. */
static bool is_absent(const report *r, const report_track *track, const report_line *line)
{
    const report_track *last = &r->tracks[line->track];
    return last == track ? track->samples - line->seen > 1 : last->samples > line->seen;
}

/* Returns a sample in which the counterset was and the line was not: the first one after the line's last point if the
 * counterset was in all samples since, else the last one. */
static uint32_t absent_sample(const report *r, const report_track *track, const report_line *line)
{
    const report_track *last = &r->tracks[line->track];
    bool has_all_samples = last->samples - line->seen == last->sample - line->sample;
    return has_all_samples ? line->sample + 1 : last == track ? track->previous_sample : last->sample;
}

void report_add(report *r, const report_value *value)
{
    report_node *set = NULL;
    report_line *line = begin_sample(r, value) ? get_line(r, value, &set) : NULL;
    r->values++;
    if (!line) {
        r->dropped_values++;
        return;
    }
    uint32_t sample = (uint32_t)(r->sample_count - 1);
    bool has_value = value->gap == NULL;
    report_track *track = get_track(r, set, value->file);
    if (set->samples == 0 || set->sample != sample)
        begin_set(r, set, track);
    bool is_first = line->seen == 0;
    bool was_absent = !is_first && is_absent(r, track, line);
    bool is_after_break = !is_first && track->clock.is_after_break;
    if (was_absent)
        add_point(r, line, (report_point){.sample = absent_sample(r, track, line), .gap = get_gap(r, gap_absent)});
    else if (is_after_break && sample - line->sample > 1)
        add_point(r, line, (report_point){.sample = line->sample + 1, .gap = get_gap(r, gap_no_sample)});
    int64_t time = limit_time(value->own_time);
    line->is_of_interval = value->is_of_interval;
    weigh(line, has_value, value->value, is_first ? 0 : time - line->time, was_absent || is_after_break);
    line->time = time;
    add_point(r, line,
              (report_point){.value = has_value ? value->value : 0, .sample = sample, .gap = get_gap(r, value->gap)});
    line->track = set->track;
    line->seen = track->samples;
    line->sample = sample;
    line->repeats = 0;
    if (has_value)
        figures_add(&line->figures, value->value);
    else
        line->gaps++;
    if (r->point_count > r->thin_at)
        thin(r);
}

/* ---- Top lines ------------------------------------------------------------------------------------------- */

/* A line of a chart, for sorting by average. */
typedef struct ranked_line {
    int32_t node;
    bool has_average;
    double average;
} ranked_line;

/* Orders by descending average; lines without values, or with a sum that overflows, come last. Lines with equal
 * averages keep the order of their nodes, which is that of the input. */
static int compare_lines(const void *left, const void *right)
{
    const ranked_line *a = left;
    const ranked_line *b = right;
    if (a->has_average != b->has_average)
        return a->has_average ? -1 : 1;
    if (a->has_average && a->average != b->average)
        return a->average > b->average ? -1 : 1;
    return (a->node > b->node) - (a->node < b->node);
}

/* Orders the lines of a counter by average. Removes the lines after the first `max_count`, with their points. */
static void order_lines(report *r, report_node *counter, uint64_t max_count)
{
    ranked_line *ranked = NULL;
    size_t capacity = 0;
    size_t line_count = 0;
    for (int32_t at = counter->first; at != REPORT_NONE; at = r->nodes[at].next) {
        const figures *f = &r->lines[r->nodes[at].line].figures;
        ranked = memory_grow(ranked, &capacity, line_count + 1, sizeof *ranked);
        double average = figures_average(f);
        bool is_finite = average >= -DBL_MAX && average <= DBL_MAX;
        ranked[line_count++] = (ranked_line){at, f->count > 0 && is_finite, average};
    }
    if (line_count > 0)
        qsort(ranked, line_count, sizeof *ranked, compare_lines);
    int32_t *link = &counter->first;
    for (size_t i = 0; i < line_count && i < max_count; i++) {
        *link = counter->last = ranked[i].node;
        link = &r->nodes[ranked[i].node].next;
    }
    *link = REPORT_NONE;
    for (size_t i = 0; i < line_count; i++) {
        report_line *line = &r->lines[r->nodes[ranked[i].node].line];
        if (i < max_count)
            continue;
        r->point_count -= line->count;
        r->removed_lines++;
        line->count = 0;
    }
    free(ranked);
}

static bool is_counter(const report *r, const report_node *node)
{
    return node->first != REPORT_NONE && r->nodes[node->first].line != REPORT_NONE;
}

void report_keep_top(report *r, uint64_t count)
{
    r->top = count;
    report_weigh_all(r);
    for (size_t i = 0; i < r->node_count; i++) {
        if (is_counter(r, &r->nodes[i]))
            order_lines(r, &r->nodes[i], count);
    }
}

size_t report_count_children(const report *r, const report_node *node)
{
    size_t count = 0;
    for (int32_t at = node->first; at != REPORT_NONE; at = r->nodes[at].next)
        count++;
    return count;
}

void report_choose_drawn(report *r)
{
    uint64_t max_drawn = r->top > 0 ? r->top : REPORT_MAX_DRAWN;
    for (size_t i = 0; i < r->node_count; i++) {
        report_node *node = &r->nodes[i];
        if (!is_counter(r, node))
            continue;
        size_t count = report_count_children(r, node);
        r->chart_count++;
        node->drawn = count < max_drawn ? count : (size_t)max_drawn;
        if (node->drawn < count)
            order_lines(r, node, count);
        r->folded_lines += count - node->drawn;
    }
}

void report_tolerated(report *r, uint32_t notes)
{
    r->notes |= notes;
}

bool report_is_empty(const report *r)
{
    return r->line_count == 0;
}

uint64_t report_dropped_values(const report *r)
{
    return r->dropped_values;
}

void report_free(report *r)
{
    for (size_t i = 0; i < r->line_count; i++)
        free(r->lines[i].points);
    free(r->lines);
    free(r->times);
    free(r->tracks);
    free(r->zones);
    free(r->nodes);
    hash_index_free(&r->node_index);
    free(r->names);
    hash_index_free(&r->name_index);
    buffer_free(&r->text);
    free(r);
}
