/* SPDX-License-Identifier: MIT */
#include "commands/summary_sets.h"

#include "memory/memory.h"
#include "names/names.h"
#include "sinks/series.h"
#include "sinks/sink.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* A line of the summary and the number of its counterset, for sorting lines by counterset. */
typedef struct placed_line {
    size_t set, line;
} placed_line;

static int compare_placed(const void *left, const void *right)
{
    const placed_line *a = left;
    const placed_line *b = right;
    if (a->set != b->set)
        return a->set < b->set ? -1 : 1;
    return (a->line > b->line) - (a->line < b->line);
}

/* Makes the key of a counterset, counter or parent instance: its name, after its number if it has one. The key of a
 * parent has the number 0 if there is a parent. */
static void put_key(buffer *key, const char *name, size_t size, bool has_number, uint32_t number)
{
    buffer_clear(key);
    if (has_number)
        buffer_format(key, "%" PRIu32, number);
    buffer_bytes(key, "", 1);
    buffer_bytes(key, name, size);
}

/* Returns true if the list does not have the key, and adds it. */
static bool is_new(series_list *list, const buffer *key)
{
    size_t count = list->count;
    return series_find_key(list, key->data, key->size) == count;
}

static void write_set(output *out, const pfb_series *s, size_t counter_count)
{
    output_begin(out, "counterset", 0);
    if (out->format != OUTPUT_TEXT)
        output_null(out, "guid");
    sink_put_number(out, "object", s->has & PFB_SERIES_TITLE, s->title);
    sink_put_name(out, "name", s->has & PFB_SERIES_COUNTERSET, s->counterset, s->counterset_bytes);
    if (out->format != OUTPUT_TEXT)
        output_null(out, "instance_type");
    output_unsigned(out, "counters", counter_count);
    output_end(out);
}

static void write_counter(output *out, const pfb_series *s)
{
    char type[NAMES_TYPE_BYTES];
    bool is_text = out->format == OUTPUT_TEXT;
    output_begin(out, is_text ? "    counter" : "counter", 0);
    if (!is_text) {
        sink_put_name(out, "set", s->has & PFB_SERIES_COUNTERSET, s->counterset, s->counterset_bytes);
        output_null(out, "guid");
    }
    sink_put_number(out, "id", s->has & PFB_SERIES_COUNTER_ID, s->counter_id);
    sink_put_name(out, "name", s->has & PFB_SERIES_COUNTER, s->counter, s->counter_bytes);
    if (s->has & PFB_SERIES_TYPE)
        output_word(out, "type", names_of_type(s->type, type));
    else
        output_null(out, "type");
    output_end(out);
}

static void write_instance(output *out, const pfb_series *s)
{
    bool is_text = out->format == OUTPUT_TEXT;
    output_begin(out, is_text ? "    instance" : "instance", 0);
    if (!is_text) {
        sink_put_name(out, "set", s->has & PFB_SERIES_COUNTERSET, s->counterset, s->counterset_bytes);
        output_null(out, "guid");
        output_null(out, "id");
    }
    sink_put_name(out, "name", true, s->instance, s->instance_bytes);
    sink_put_name(out, "parent", s->has & PFB_SERIES_PARENT, s->parent, s->parent_bytes);
    output_end(out);
}

/* Compares the counterset with the names on the command line. */
static bool is_wanted(set_names *names, const title_names *titles, const pfb_series *s)
{
    pfb_name others[TITLE_OTHERS];
    size_t count = title_names_others(titles, pfb_utf8_name(s->counterset, s->counterset_bytes), others);
    buffer text = {0};
    char number[16];
    int size = snprintf(number, sizeof number, "%" PRIu32, s->title);
    bool is_match = (s->has & PFB_SERIES_TITLE) && set_names_match(names, number, (size_t)size);
    is_match = set_names_match(names, s->counterset, s->counterset_bytes) || is_match;
    for (size_t i = 0; i < count; i++) {
        buffer_clear(&text);
        name_text(&text, others[i]);
        is_match = set_names_match(names, text.data, text.size) || is_match;
    }
    buffer_free(&text);
    return is_match;
}

/* Writes a counterset, its counters and, with `has_names`, its instances. Its values are in `count` lines. */
static void write_lines(const value_summary *summary, const placed_line *lines, size_t count, bool has_names,
                        output *out)
{
    pfb_series s;
    series_list counters = {0};
    series_list instances = {0};
    buffer key = {0};
    size_t *shown = memory_get(count, sizeof *shown); /* the lines with the first value of a counter */
    size_t shown_count = 0;
    for (size_t i = 0; i < count; i++) {
        s = value_summary_series(summary, lines[i].line);
        put_key(&key, s.counter, s.counter_bytes, s.has & PFB_SERIES_COUNTER_ID, s.counter_id);
        if (is_new(&counters, &key))
            shown[shown_count++] = lines[i].line;
    }
    s = value_summary_series(summary, lines[0].line);
    write_set(out, &s, shown_count);
    for (size_t i = 0; i < shown_count && !output_failed(out); i++) {
        s = value_summary_series(summary, shown[i]);
        write_counter(out, &s);
    }
    for (size_t i = 0; has_names && i < count && !output_failed(out); i++) {
        s = value_summary_series(summary, lines[i].line);
        put_key(&key, s.parent, s.parent_bytes, s.has & PFB_SERIES_PARENT, 0);
        buffer_bytes(&key, "", 1);
        buffer_bytes(&key, s.instance, s.instance_bytes);
        buffer_format(&key, "#%" PRIu32, s.occurrence);
        if ((s.has & PFB_SERIES_INSTANCE) && is_new(&instances, &key))
            write_instance(out, &s);
    }
    free(shown);
    buffer_free(&key);
    series_free(&instances);
    series_free(&counters);
}

void summary_sets_write(const value_summary *summary, set_names *names, const title_names *titles, output *out)
{
    size_t count = value_summary_count(summary);
    placed_line *placed = memory_get(count + 1, sizeof *placed);
    series_list sets = {0};
    buffer key = {0};
    for (size_t i = 0; i < count; i++) {
        const pfb_series s = value_summary_series(summary, i);
        put_key(&key, s.counterset, s.counterset_bytes, s.has & PFB_SERIES_TITLE, s.title);
        placed[i] = (placed_line){series_find_key(&sets, key.data, key.size), i};
    }
    if (count > 0)
        qsort(placed, count, sizeof *placed, compare_placed);
    for (size_t i = 0; i < count && !output_failed(out);) {
        size_t first = i;
        while (i < count && placed[i].set == placed[first].set)
            i++;
        const pfb_series s = value_summary_series(summary, placed[first].line);
        if (is_wanted(names, titles, &s))
            write_lines(summary, placed + first, i - first, names->count > 0, out);
    }
    series_free(&sets);
    buffer_free(&key);
    free(placed);
}
