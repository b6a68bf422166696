/* SPDX-License-Identifier: MIT */
/* Writes the page of a report: sections of charts and tables as HTML and SVG, then the points as JSON for the script.
 * The JSON has numbers and names of statuses only, no text from an input. */
#include "memory/memory.h"
#include "names/names.h"
#include "output/html.h"
#include "output/text.h"
#include "output/time_text.h"
#include "perfblock/version.h"
#include "report/lines.h"
#include "report_script.h"
#include "report_style.h"

#include <float.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    PLOT_WIDTH = 2000, /* units of a chart's viewBox, as in report.js */
    PLOT_HEIGHT = 500,
    GRID_LINES = 4,  /* steps of the vertical axis */
    TIME_LABELS = 5, /* on the horizontal axis */
    COLOURS = 12,
    DASHES = 3,         /* solid, dashed, dotted */
    TALL_TABLE = 14,    /* a table with more rows scrolls */
    FOLDED_TABLE = 500, /* maximum number of rows of a folded table */
    MANY_CHARTS = 300   /* if there are more, charts out of view are not laid out */
};

/* The state of writing a page. */
typedef struct page {
    report *r;
    output *out;
    buffer html;
    int64_t first, last; /* the earliest and the latest time of a sample: the range of all charts */
    uint32_t chart;      /* number of the next chart */
} page;

static void put(page *p, const char *html)
{
    buffer_string(&p->html, html);
}

static void put_name(page *p, int32_t name)
{
    const report_name *n = &p->r->names[name];
    html_text(&p->html, p->r->text.data + n->offset, n->size);
}

/* ---- Time ------------------------------------------------------------------------------------------------ */

#define TICKS_PER_MILLISECOND INT64_C(10000)
#define DAY INT64_C(86400000)              /* milliseconds */
#define UNIX_EPOCH INT64_C(11644473600000) /* milliseconds from 1601 to 1970 */

/* Returns milliseconds since 1970, rounded down. */
static int64_t milliseconds(int64_t time)
{
    int64_t whole = time / TICKS_PER_MILLISECOND - (time % TICKS_PER_MILLISECOND < 0);
    return whole - UNIX_EPOCH;
}

/* Returns the offset from UTC of the times that are shown, in minutes. */
static int offset_at(const report *r, int64_t time)
{
    size_t low = 0;
    size_t high = r->zone_count;
    int32_t minutes = 0;
    while (high - low > 1) { /* the last zone from this time on, or the first one */
        size_t middle = low + (high - low) / 2;
        if (r->zones[middle].time <= time)
            low = middle;
        else
            high = middle;
    }
    if (r->zone_count > 0)
        time_text_offset(time, &r->zones[low].zone, &minutes);
    return minutes;
}

/* Appends the Gregorian date of a day, which is counted from 1970-01-01. An era is a period of 400 years. The terms
 * with 1460, 36524 and 146096 remove the leap days from the days of the era, so that each remaining year has 365 days.
 * (153 * month + 2) / 5 is the number of days from March 1 to the first day of a month; March is month 0. */
static void put_date(buffer *out, int64_t day)
{
    enum { ERA_DAYS = 146097, ERA_YEARS = 400 };
    int64_t shifted = day + 719468; /* days since 0000-03-01: a year ends with its leap day */
    int64_t era = shifted / ERA_DAYS - (shifted % ERA_DAYS < 0);
    int64_t in_era = shifted - era * ERA_DAYS;
    int64_t year = (in_era - in_era / 1460 + in_era / 36524 - in_era / 146096) / 365;
    int64_t in_year = in_era - (365 * year + year / 4 - year / 100);
    int64_t month = (5 * in_year + 2) / 153;
    buffer_format(out, "%04" PRId64 "-%02" PRId64 "-%02" PRId64, era * ERA_YEARS + year + (month >= 10),
                  month < 10 ? month + 3 : month - 9, in_year - (153 * month + 2) / 5 + 1);
}

/* Appends a time with its offset: "2026-11-21 03:13:55.718+01:00". That of UTC is "+00:00". */
static void put_time(buffer *out, const report *r, int64_t time)
{
    int minutes = offset_at(r, time);
    int64_t local = milliseconds(time) + (int64_t)minutes * 60000;
    int64_t day = local / DAY - (local % DAY < 0);
    int in_day = (int)(local - day * DAY);
    put_date(out, day);
    buffer_format(out, " %02d:%02d:%02d.%03d%c%02d:%02d", in_day / 3600000, in_day / 60000 % 60, in_day / 1000 % 60,
                  in_day % 1000, minutes < 0 ? '-' : '+', abs(minutes) / 60, abs(minutes) % 60);
}

/* Writes the part of a time that differs along the axis: date, hours and minutes if the axis spans a day or more;
 * otherwise hours, minutes and seconds, with milliseconds if the axis spans less than 10 s. */
static void put_short_time(page *p, int64_t time)
{
    int64_t span = (p->last - p->first) / TICKS_PER_MILLISECOND;
    buffer text = {0};
    put_time(&text, p->r, time);
    if (span >= DAY)
        buffer_bytes(&p->html, text.data, strlen("YYYY-MM-DD hh:mm"));
    else
        buffer_bytes(&p->html, text.data + strlen("YYYY-MM-DD "), strlen(span < 10000 ? "hh:mm:ss.mmm" : "hh:mm:ss"));
    buffer_free(&text);
}

/* ---- Numbers --------------------------------------------------------------------------------------------- */

/* Writes a cell with a number, rounded for people; an attribute has all digits for programs. */
static void put_number(page *p, bool exists, double value)
{
    if (!exists || !(value - value == 0)) { /* the average of large values may not be finite */
        put(p, "<td>-</td>");
        return;
    }
    put(p, "<td><data value=\"");
    text_double(&p->html, value);
    put(p, "\">");
    text_double_short(&p->html, value);
    put(p, "</data></td>");
}

/* Appends a label of the vertical axis: "2.5 M". */
static void put_label(buffer *out, double value)
{
    static const struct {
        double scale;
        const char *suffix;
    } rows[] = {{1e12, " T"}, {1e9, " G"}, {1e6, " M"}, {1e3, " k"}};
    double size = value < 0 ? -value : value;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0] && size < 1e15; i++) {
        if (size >= rows[i].scale) {
            buffer_format(out, "%.4g%s", value / rows[i].scale, rows[i].suffix);
            return;
        }
    }
    buffer_format(out, "%.4g", value);
}

/* The vertical axis: from `low` to `low` + GRID_LINES * `step`. */
typedef struct axis {
    double low, step;
} axis;

/* Chooses the smallest step of 1, 2, 2.5 or 5 times a power of ten with which the axis covers `min`, `max` and 0.
 * chooseAxis() in report.js does the same. */
static axis choose_axis(double min, double max)
{
    static const double steps[] = {1, 2, 2.5, 5};
    double power = 1;
    min = min < 0 ? min : 0;
    max = max > 0 ? max : 0;
    double min_step = max / GRID_LINES - min / GRID_LINES;
    if (min_step < DBL_MIN) /* powers of ten that are this small are inexact, and the smallest become 0 */
        return (axis){0, 1.0 / GRID_LINES};
    while (power > min_step)
        power /= 10;
    while (power <= min_step / 10)
        power *= 10;
    for (size_t i = 0;; i++) {
        double step = power * steps[i % 4];
        if (i % 4 == 3)
            power *= 10;
        if (step < min_step)
            continue;
        int below = (int)(-min / step);
        below += below < -min / step;
        if (max / step + below <= GRID_LINES)
            return (axis){-below * step, step};
    }
}

/* ---- Charts ---------------------------------------------------------------------------------------------- */

static bool has_value(const report_point *point)
{
    return point->gap == REPORT_HAS_VALUE;
}

static int position_of(const page *p, const report_point *point)
{
    if (p->last == p->first)
        return PLOT_WIDTH / 2;
    return (int)((double)(p->r->times[point->sample] - p->first) / (double)(p->last - p->first) * PLOT_WIDTH + 0.5);
}

static int height_of(const axis *a, double value)
{
    return (int)((1 - (value / a->step - a->low / a->step) / GRID_LINES) * PLOT_HEIGHT + 0.5);
}

/* Writes the path of a line. Consecutive points with values are joined; a single point becomes a dot. The path is
 * interrupted where time runs backwards. */
static void put_path(page *p, const report_line *line, const axis *a)
{
    bool is_joined = false;
    int before = 0;
    for (size_t i = 0; i < line->count; i++) {
        const report_point *point = &line->points[i];
        if (!has_value(point)) {
            is_joined = false;
            continue;
        }
        int at = position_of(p, point);
        is_joined = is_joined && at >= before;
        buffer_format(&p->html, "%c%d %d", is_joined ? 'L' : 'M', at, height_of(a, point->value));
        const report_point *next = i + 1 < line->count ? point + 1 : NULL;
        bool continues = next && has_value(next) && position_of(p, next) >= at;
        if (!is_joined && !continues)
            put(p, "h0");
        is_joined = true;
        before = at;
    }
}

/* Writes a mark at the bottom of the chart for each point without a value. */
static void put_gaps(page *p, const report_node *counter)
{
    int32_t at = counter->first;
    put(p, "<path class=\"gap\" d=\"");
    for (size_t number = 0; number < counter->drawn; number++, at = p->r->nodes[at].next) {
        const report_line *line = &p->r->lines[p->r->nodes[at].line];
        int before = -1;
        for (size_t i = 0; i < line->count; i++) {
            int position = has_value(&line->points[i]) ? before : position_of(p, &line->points[i]);
            if (position != before)
                buffer_format(&p->html, "M%d %dv12", position, PLOT_HEIGHT - 12);
            before = position;
        }
        html_flush(&p->html, p->out);
    }
    put(p, "\"/>");
}

/* Finds the smallest and the largest value of the lines that a chart shows. Returns false if they have no value. */
static bool find_range(const report *r, const report_node *counter, double *min, double *max)
{
    bool has_any = false;
    int32_t at = counter->first;
    *min = *max = 0;
    for (size_t number = 0; number < counter->drawn; number++, at = r->nodes[at].next) {
        const report_line *line = &r->lines[r->nodes[at].line];
        if (line->figures.count == 0)
            continue;
        *min = !has_any || line->figures.minimum < *min ? line->figures.minimum : *min;
        *max = !has_any || line->figures.maximum > *max ? line->figures.maximum : *max;
        has_any = true;
    }
    return has_any;
}

/* Writes the text alternative of a chart, for screen readers. */
static void put_alternative(page *p, const report_node *counter, bool has_any, double min, double max)
{
    size_t count = report_count_children(p->r, counter);
    put_name(p, counter->name);
    if (counter->drawn < count)
        buffer_format(&p->html, ": %zu of %zu lines from ", counter->drawn, count);
    else
        buffer_format(&p->html, ": %zu %s from ", count, count == 1 ? "line" : "lines");
    put_time(&p->html, p->r, p->first);
    put(p, " to ");
    put_time(&p->html, p->r, p->last);
    if (!has_any) {
        put(p, ", no value");
        return;
    }
    put(p, ", values from ");
    text_double_short(&p->html, min);
    put(p, " to ");
    text_double_short(&p->html, max);
}

static void put_plot(page *p, const report_node *counter)
{
    double min = 0;
    double max = 0;
    bool has_any = find_range(p->r, counter, &min, &max);
    axis a = choose_axis(min, max);
    put(p, "<div class=\"plot\"><div class=\"values\" aria-hidden=\"true\">");
    for (int i = GRID_LINES; i >= 0; i--) {
        put(p, "<span>");
        put_label(&p->html, a.low + i * a.step);
        put(p, "</span>");
    }
    buffer_format(&p->html,
                  "</div><div class=\"area\"><svg viewBox=\"0 0 %d %d\" preserveAspectRatio=\"none\" "
                  "role=\"img\" aria-label=\"",
                  PLOT_WIDTH, PLOT_HEIGHT);
    put_alternative(p, counter, has_any, min, max);
    put(p, "\"><path class=\"grid\" d=\"");
    for (int i = 0; i <= GRID_LINES; i++)
        buffer_format(&p->html, "M0 %dH%d", PLOT_HEIGHT / GRID_LINES * i, PLOT_WIDTH);
    put(p, "\"/>");
    put_gaps(p, counter);
    int32_t at = counter->first;
    for (size_t number = 0; number < counter->drawn; number++, at = p->r->nodes[at].next) {
        buffer_format(&p->html, "<path class=\"line c%zu d%zu\" d=\"", number % COLOURS, number / COLOURS % DASHES);
        put_path(p, &p->r->lines[p->r->nodes[at].line], &a);
        put(p, "\"/>");
        html_flush(&p->html, p->out);
    }
    put(p, "</svg></div><div class=\"times\" aria-hidden=\"true\">");
    for (int i = 0; i < TIME_LABELS; i++) {
        put(p, "<span>");
        put_short_time(p, p->first + (p->last - p->first) / (TIME_LABELS - 1) * i);
        put(p, "</span>");
    }
    put(p, "</div></div>\n");
}

/* Writes the name of a line: the instance's name, with a number if it repeats; "value" if there is no instance. */
static void put_line_name(page *p, const report_node *node)
{
    if (p->r->names[node->name].size == 0)
        put(p, "value");
    else
        put_name(p, node->name);
    if (node->repeat > 0)
        buffer_format(&p->html, " (%" PRIu32 ")", node->repeat + 1);
}

/* Writes a table of the lines of a counter at positions `begin` to `end` - 1. `at` is the node of the line at `begin`.
 * Returns the node of the line at `end`. */
static int32_t put_table(page *p, int32_t at, size_t begin, size_t end)
{
    put(p, end - begin > TALL_TABLE ? "<div class=\"tall\" tabindex=\"0\" role=\"group\" aria-label=\"Instances\">"
                                    : "<div class=\"rows\">");
    put(p,
        "<table><thead><tr><th scope=\"col\">Instance</th><th scope=\"col\">Minimum</th><th scope=\"col\">Average</th>"
        "<th scope=\"col\">Maximum</th><th scope=\"col\">Last</th><th scope=\"col\">Values</th>"
        "<th scope=\"col\">Gaps</th></tr></thead><tbody>\n");
    for (size_t number = begin; number < end; number++, at = p->r->nodes[at].next) {
        const report_line *line = &p->r->lines[p->r->nodes[at].line];
        bool has_any = line->figures.count > 0;
        buffer_format(&p->html, "<tr><th scope=\"row\"><i class=\"c%zu d%zu\"></i><span>", number % COLOURS,
                      number / COLOURS % DASHES);
        put_line_name(p, &p->r->nodes[at]);
        put(p, "</span></th>");
        put_number(p, has_any, line->figures.minimum);
        put_number(p, has_any, figures_average(&line->figures));
        put_number(p, has_any, line->figures.maximum);
        put_number(p, has_any, line->figures.last);
        buffer_format(&p->html, "<td>%" PRIu64 "</td><td>%" PRIu64 "</td></tr>\n", line->figures.count, line->gaps);
        html_flush(&p->html, p->out);
    }
    put(p, "</tbody></table></div>\n");
    return at;
}

/* Writes a table of the lines in the chart, and folded tables of the others. */
static void put_tables(page *p, const report_node *counter)
{
    size_t count = report_count_children(p->r, counter);
    int32_t at = put_table(p, counter->first, 0, counter->drawn);
    for (size_t begin = counter->drawn; begin < count; begin += FOLDED_TABLE) {
        size_t end = count - begin < FOLDED_TABLE ? count : begin + FOLDED_TABLE;
        buffer_format(&p->html, "<details><summary>Not in the chart: lines %zu to %zu of %zu, by average</summary>\n",
                      begin + 1, end, count);
        at = put_table(p, at, begin, end);
        put(p, "</details>\n");
    }
}

static void put_chart(page *p, const report_node *counter)
{
    buffer_format(&p->html, "<article id=\"chart-%" PRIu32 "\">\n<h3>", p->chart++);
    put_name(p, counter->name);
    if (p->r->names[counter->unit].size > 0) {
        put(p, " <small>");
        put_name(p, counter->unit);
        put(p, "</small>");
    }
    put(p, "</h3>\n");
    put_plot(p, counter);
    put_tables(p, counter);
    put(p, "</article>\n");
}

/* ---- The first section ----------------------------------------------------------------------------------- */

static void put_term(page *p, const char *term)
{
    buffer_format(&p->html, "<dt>%s</dt><dd>", term);
}

static void put_files(page *p, const report_description *description)
{
    put_term(p, description->file_count == 0 ? "Source" : description->file_count == 1 ? "File" : "Files");
    if (description->file_count == 0)
        put(p, "this machine");
    for (size_t i = 0; i < description->file_count; i++) {
        put(p, i > 0 ? "<br>" : "");
        html_string(&p->html, description->files[i]);
    }
    put(p, "</dd>\n");
}

static void put_span(page *p)
{
    const report *r = p->r;
    put_term(p, "Samples");
    const size_t samples = r->sample_count - r->break_samples;
    buffer_format(&p->html, "%zu", samples);
    if (r->sample_count > 0) {
        put(p, "</dd>\n<dt>From</dt><dd>");
        put_time(&p->html, p->r, p->first);
        put(p, "</dd>\n<dt>To</dt><dd>");
        put_time(&p->html, p->r, p->last);
    }
    if (p->last > p->first) {
        double seconds = (double)(p->last - p->first) / 1e7;
        put(p, "</dd>\n<dt>Span</dt><dd>");
        text_double_short(&p->html, seconds);
        put(p, " s");
        if (seconds >= 3600)
            buffer_format(&p->html, " (%" PRId64 " h %d min)", (int64_t)seconds / 3600,
                          (int)((int64_t)seconds % 3600 / 60));
        put(p, "</dd>\n<dt>Interval</dt><dd>");
        text_double_short(&p->html, (seconds - (double)r->break_time / 1e7) / (double)(samples - 1 - r->break_samples));
        put(p, r->break_samples > 0 ? " s on average, without the gaps" : " s on average");
    }
    put(p, "</dd>\n");
}

/* Appends a duration: "13 h 59 min 46 s", or fractions of seconds if it is shorter than a minute. */
static void put_duration(page *p, int64_t duration)
{
    int64_t seconds = duration / (1000 * TICKS_PER_MILLISECOND);
    if (seconds < 60) {
        text_double_short(&p->html, (double)duration / 1e7);
    } else {
        if (seconds >= 3600)
            buffer_format(&p->html, "%" PRId64 " h ", seconds / 3600);
        buffer_format(&p->html, "%d min %d", (int)(seconds / 60 % 60), (int)(seconds % 60));
    }
    put(p, " s");
}

static void put_set_name(page *p, const report_node *machine, const report_node *set)
{
    put_name(p, set->name);
    if (p->r->names[machine->name].size > 0) {
        put(p, " <small>");
        put_name(p, machine->name);
        put(p, "</small>");
    }
}

/* Writes the stretches without samples. */
static void put_breaks(page *p)
{
    const report *r = p->r;
    if (r->break_count == 0)
        return;
    put_term(p, "Gaps");
    for (size_t i = 0; i < r->break_count && i < REPORT_MAX_BREAKS; i++) {
        const report_break *b = &r->breaks[i];
        put(p, i > 0 ? "<br>" : "");
        put(p, "no sample for ");
        put_duration(p, r->times[b->after] - r->times[b->before]);
        put(p, ", from ");
        put_time(&p->html, r, r->times[b->before]);
        put(p, " to ");
        put_time(&p->html, r, r->times[b->after]);
        if (b->set != REPORT_NONE) {
            put(p, ", of ");
            put_set_name(p, &r->nodes[r->nodes[b->set].parent], &r->nodes[b->set]);
            put(p, b->has_more_sets ? " and others" : "");
        }
    }
    if (r->break_count > REPORT_MAX_BREAKS)
        buffer_format(&p->html, "<br>and %zu more", r->break_count - REPORT_MAX_BREAKS);
    put(p, "</dd>\n");
}

static void put_tolerated(page *p)
{
    const char *names[NAMES_MAX_BITS];
    size_t count = names_of_notes(p->r->notes, names);
    if (count == 0)
        return;
    put_term(p, "Tolerated");
    for (size_t i = 0; i < count; i++)
        buffer_format(&p->html, "%s%s", i > 0 ? ", " : "", names[i]);
    put(p, "</dd>\n");
}

static void put_messages(page *p, const char *messages)
{
    if (*messages == '\0')
        return;
    put(p, "<h2>Messages</h2>\n<ul class=\"messages\">\n");
    while (*messages != '\0') {
        size_t size = strcspn(messages, "\n");
        put(p, "<li>");
        html_text(&p->html, messages, size);
        put(p, "</li>\n");
        messages += size + (messages[size] == '\n');
        html_flush(&p->html, p->out);
    }
    put(p, "</ul>\n");
}

static void put_summary_row(page *p, const report_node *machine, const report_node *set, uint32_t number)
{
    const report *r = p->r;
    size_t lines = 0;
    for (int32_t at = set->first; at != REPORT_NONE; at = r->nodes[at].next)
        lines += report_count_children(r, &r->nodes[at]);
    buffer_format(&p->html, "<tr><th scope=\"row\"><a href=\"#set-%" PRIu32 "\">", number);
    put_set_name(p, machine, set);
    buffer_format(&p->html, "</a></th><td>%zu</td><td>%zu</td><td>%" PRIu64 "</td></tr>\n",
                  report_count_children(r, set), lines, set->samples);
    html_flush(&p->html, p->out);
}

static void put_set(page *p, const report_node *machine, const report_node *set, uint32_t number)
{
    buffer_format(&p->html, "<section id=\"set-%" PRIu32 "\">\n<h2>", number);
    put_set_name(p, machine, set);
    put(p, "</h2>\n<div class=\"charts\">\n");
    for (int32_t at = set->first; at != REPORT_NONE && !output_failed(p->out); at = p->r->nodes[at].next)
        put_chart(p, &p->r->nodes[at]);
    put(p, "</div>\n</section>\n");
}

/* Calls `put_one` for each counterset. */
static void put_sets(page *p, void (*put_one)(page *, const report_node *, const report_node *, uint32_t))
{
    const report_node *nodes = p->r->nodes;
    uint32_t number = 0;
    for (int32_t machine = nodes[REPORT_ROOT].first; machine != REPORT_NONE; machine = nodes[machine].next) {
        for (int32_t set = nodes[machine].first; set != REPORT_NONE && !output_failed(p->out); set = nodes[set].next)
            put_one(p, &nodes[machine], &nodes[set], number++);
    }
}

static void put_summary(page *p, const report_description *description)
{
    put(p, "<section id=\"summary\">\n<dl>\n");
    put_files(p, description);
    put_span(p);
    put_term(p, "Values");
    buffer_format(&p->html, "%" PRIu64 "</dd>\n", p->r->values);
    put_breaks(p);
    put_tolerated(p);
    if (p->r->run > 1) {
        put_term(p, "Thinned");
        buffer_format(&p->html, "of each %" PRIu32 " samples charts have the minimum and the maximum</dd>\n",
                      p->r->run);
    }
    if (p->r->removed_lines > 0) {
        put_term(p, "Left out");
        buffer_format(&p->html, "%" PRIu64 " lines: charts have the %" PRIu64 " with the largest averages</dd>\n",
                      p->r->removed_lines, p->r->top);
    }
    if (p->r->folded_lines > 0) {
        put_term(p, "Folded");
        buffer_format(&p->html,
                      "%" PRIu64 " lines are only in tables: each chart shows the %d with the largest averages</dd>\n",
                      p->r->folded_lines, REPORT_MAX_DRAWN);
    }
    if (p->r->dropped_values > 0) {
        put_term(p, "Missing");
        buffer_format(&p->html, "%" PRIu64 " values of lines after the first %d</dd>\n", p->r->dropped_values,
                      REPORT_MAX_LINES);
    }
    put(p,
        "</dl>\n<div class=\"rows\"><table><thead><tr><th scope=\"col\">Counterset</th><th scope=\"col\">Counters</th>"
        "<th scope=\"col\">Lines</th><th scope=\"col\">Samples</th></tr></thead><tbody>\n");
    put_sets(p, put_summary_row);
    put(p, "</tbody></table></div>\n");
    put(p, "<p>The column Gaps counts samples without a value, such as the first sample of a rate. Marks at the bottom "
           "of a "
           "chart show them, and where an instance was absent or no sample was taken for more than three intervals. "
           "Averages are weighted by time.</p>\n");
    put_messages(p, description->messages);
    put(p, "</section>\n");
}

/* ---- The points ------------------------------------------------------------------------------------------ */

/* Numbers from 0 on the samples that have points; the others get UINT32_MAX. Returns the numbers by sample; free with
 * free(). */
static uint32_t *number_samples(const report *r)
{
    uint32_t *numbers = memory_get(r->sample_count, sizeof *numbers);
    uint32_t count = 0;
    for (size_t i = 0; i < r->line_count; i++) {
        for (size_t n = 0; n < r->lines[i].count; n++)
            numbers[r->lines[i].points[n].sample] = 1;
    }
    for (size_t i = 0; i < r->sample_count; i++) {
        if (numbers[i] != 0)
            numbers[i] = count++;
        else
            numbers[i] = UINT32_MAX;
    }
    return numbers;
}

/* Writes the times in milliseconds since 1970; each but the first is written as the difference from the previous one.
 * Then writes the times at which the offset of local time changes, with the new offset in minutes. */
static void put_times(page *p, const uint32_t *numbers)
{
    const report *r = p->r;
    buffer offsets = {0};
    int64_t before = 0;
    int minutes = INT32_MAX;
    buffer_clear(&offsets);
    put(p, "{\"times\":[");
    for (size_t i = 0, count = 0; i < r->sample_count; i++) {
        if (numbers[i] == UINT32_MAX)
            continue;
        int64_t now = milliseconds(r->times[i]);
        buffer_format(&p->html, "%s%" PRId64, count++ > 0 ? "," : "", now - before);
        before = now;
        if (offset_at(r, r->times[i]) != minutes) {
            minutes = offset_at(r, r->times[i]);
            buffer_format(&offsets, "%s[%" PRId64 ",%d]", offsets.size > 0 ? "," : "", now, minutes);
        }
        html_flush(&p->html, p->out);
    }
    buffer_format(&p->html, "],\n\"offsets\":[%s],\n", offsets.data);
    buffer_free(&offsets);
}

/* Writes the numbers of the samples of a line's points; each but the first is written as the difference from the
 * previous one. Then writes their values or statuses. */
static void put_points(page *p, const report_line *line, const uint32_t *numbers)
{
    uint32_t before = 0;
    put(p, "{\"x\":[");
    for (size_t i = 0; i < line->count; i++) {
        uint32_t number = numbers[line->points[i].sample];
        buffer_format(&p->html, "%s%" PRIu32, i > 0 ? "," : "", number - before);
        before = number;
    }
    put(p, "],\"y\":[");
    for (size_t i = 0; i < line->count; i++) {
        const report_point *point = &line->points[i];
        put(p, i > 0 ? "," : "");
        if (has_value(point))
            text_double(&p->html, point->value);
        else
            buffer_format(&p->html, "\"%s\"", p->r->gaps[point->gap]);
    }
    put(p, "]}");
    html_flush(&p->html, p->out);
}

/* Writes the lines of each chart of a counterset, in the order of the page. */
static void put_charts_data(page *p, const report_node *set, const uint32_t *numbers, bool *has_any)
{
    const report_node *nodes = p->r->nodes;
    for (int32_t counter = set->first; counter != REPORT_NONE; counter = nodes[counter].next) {
        put(p, *has_any ? ",\n[" : "[");
        for (int32_t at = nodes[counter].first; at != REPORT_NONE; at = nodes[at].next) {
            put_points(p, &p->r->lines[nodes[at].line], numbers);
            put(p, nodes[at].next != REPORT_NONE ? ",\n" : "");
        }
        put(p, "]");
        *has_any = true;
    }
}

static void put_data(page *p)
{
    const report_node *nodes = p->r->nodes;
    uint32_t *numbers = number_samples(p->r);
    bool has_any = false;
    put(p, "<script type=\"application/json\" id=\"data\">");
    put_times(p, numbers);
    put(p, "\"charts\":[");
    for (int32_t machine = nodes[REPORT_ROOT].first; machine != REPORT_NONE; machine = nodes[machine].next) {
        for (int32_t set = nodes[machine].first; set != REPORT_NONE; set = nodes[set].next)
            put_charts_data(p, &nodes[set], numbers, &has_any);
    }
    put(p, "]}</script>\n");
    free(numbers);
}

/* ---- The page -------------------------------------------------------------------------------------------- */

static void find_span(page *p)
{
    const report *r = p->r;
    for (size_t i = 0; i < r->sample_count; i++) {
        p->first = i == 0 || r->times[i] < p->first ? r->times[i] : p->first;
        p->last = i == 0 || r->times[i] > p->last ? r->times[i] : p->last;
    }
}

void report_write(report *r, const report_description *description, output *out)
{
    static const html_part style = {report_style_bytes, REPORT_STYLE_HASH};
    static const html_part script = {report_script_bytes, REPORT_SCRIPT_HASH};
    page p = {.r = r, .out = out};
    report_weigh_all(r);
    report_thin_all(r);
    report_choose_drawn(r);
    find_span(&p);
    html_begin(&p.html, "Performance report", style, script);
    put(&p, "<body>\n<header><h1>Performance report</h1><div id=\"tools\"></div></header>\n");
    put(&p, r->chart_count > MANY_CHARTS ? "<main class=\"many\">\n" : "<main>\n");
    put_summary(&p, description);
    put_sets(&p, put_set);
    buffer_format(&p.html, "</main>\n<footer>Made by perfblock %s</footer>\n", pfb_version());
    put_data(&p);
    buffer_format(&p.html, "<script>%s</script>\n</body>\n</html>\n", script.bytes);
    output_raw(out, p.html.data, p.html.size);
    buffer_free(&p.html);
}
