/* SPDX-License-Identifier: MIT */
#include "os/system.h"
#include "output/table.h"
#include "perfblock/cpi/hooks.h"
#include "walk/walk.h"

#include <inttypes.h>
#include <string.h>

/* State of the walk of a stream of CPI hooks. */
typedef struct hook_walk {
    walk *w;
    const file_bytes *bytes;
    pfb_cpi_hooks hooks;
    pfb_cpi_group group;
} hook_walk;

/* A figure, and in JSON also the two words that store it. */
static void print_figure(output *out, const char *key, const char *words_key, pfb_cpi_words words)
{
    double value;
    if (pfb_cpi_words_value(words, &value))
        output_double(out, key, value);
    else if (out->format == OUTPUT_TEXT)
        output_word(out, key, "n/a");
    else
        output_null(out, key);
    if (out->format != OUTPUT_JSON)
        return;
    output_begin_object(out, words_key);
    output_unsigned(out, "integral", words.integral);
    output_unsigned(out, "fraction", words.fraction);
    output_end_object(out);
}

/* The figures that a hook stores of a CPU (`owner` is its position), of the system or of the thread, if it has them. */
static void print_figures(const hook_walk *h, pfb_cpi_hook_kind kind, uint32_t owner)
{
    output *out = h->w->out;
    pfb_cpi_stored stored;
    if (!pfb_cpi_hooks_stored(&h->hooks, &h->group, kind, owner, &stored))
        return;
    const char *name = owner == PFB_CPI_OF_SYSTEM ? "system" : owner == PFB_CPI_OF_THREAD ? "thread" : "cpu";
    output_item_begin(out, "of", name);
    if (owner < PFB_CPI_MOST_CPUS)
        output_unsigned(out, "position", owner);
    if (kind == PFB_CPI_THREAD_HOOK)
        output_unsigned(out, "tid", h->group.tid);
    if (stored.has_counts) {
        output_unsigned(out, "instr", stored.instr);
        output_unsigned(out, "cycles", stored.cycles);
    }
    print_figure(out, "cpi", "cpi_words", stored.cpi);
    if (stored.has_counts && stored.has_scaled)
        output_unsigned(out, "scaled_cycles", stored.scaled_cycles);
    if (stored.has_scaled) {
        print_figure(out, "scaled_cpi", "scaled_cpi_words", stored.scaled_cpi);
        print_figure(out, "busy", "busy_words", stored.busy);
    }
    output_item_end(out);
}

static void print_flags(output *out, uint32_t flags)
{
    static const struct {
        uint32_t bit;
        const char *name;
    } rows[] = {{PFB_CPI_FLAG_RAW, "raw"}, {PFB_CPI_FLAG_SCALED, "scaled"}, {PFB_CPI_FLAG_THREAD, "thread"}};
    const char *names[sizeof rows / sizeof rows[0]];
    size_t count = 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (flags & rows[i].bit)
            names[count++] = rows[i].name;
    }
    if (count > 0) /* 0: the hook has no flags word, since a valid one has the raw bit */
        output_names(out, "flags", names, count);
}

static void print_hook(const hook_walk *h, pfb_cpi_hook_kind kind)
{
    output *out = h->w->out;
    const pfb_cpi_hook *hook = &h->group.hooks[kind];
    if (!hook->is_present)
        return;
    output_item_begin(out, "hook", pfb_cpi_hook_name(kind));
    output_offset(out, h->bytes->base + hook->offset);
    output_unsigned(out, "words", hook->word_count);
    output_unsigned(out, "stamp", hook->stamp);
    print_flags(out, hook->flags);
    if (hook->cpu_count > 0)
        output_unsigned(out, "num_cpus", hook->cpu_count);
    if (kind != PFB_CPI_LABEL_START && kind != PFB_CPI_LABEL_END) {
        output_list_begin(out, "figures");
        for (uint32_t i = 0; i < hook->cpu_count; i++)
            print_figures(h, kind, i);
        print_figures(h, kind, PFB_CPI_OF_SYSTEM);
        print_figures(h, kind, PFB_CPI_OF_THREAD);
        output_list_end(out);
    }
    output_item_end(out);
}

/* ---- Tables ------------------------------------------------------------------------------------------------------ */

enum { TABLE_COLUMNS = 7 };

static void put_cell(table *t, buffer *cell)
{
    table_cell(t, cell->data, cell->size);
    buffer_free(cell);
}

static void put_count(table *t, bool exists, uint64_t count)
{
    buffer cell = {0};
    buffer_clear(&cell);
    if (exists)
        buffer_unsigned(&cell, count);
    put_cell(t, &cell);
}

/* The figure as its two words store it, without rounding. */
static void put_figure(table *t, bool exists, pfb_cpi_words words)
{
    buffer cell = {0};
    buffer_clear(&cell);
    if (exists && words.integral == PFB_CPI_UNDEFINED)
        buffer_string(&cell, "n/a");
    else if (exists)
        buffer_format(&cell, "%" PRIu32 ".%04" PRIu32, words.integral, words.fraction);
    put_cell(t, &cell);
}

/* The row of a CPU (`owner` is its position), of the system or of the thread, if the hook has it. */
static void put_row(const hook_walk *h, table *t, pfb_cpi_hook_kind kind, uint32_t owner)
{
    buffer name = {0};
    pfb_cpi_stored stored;
    if (!pfb_cpi_hooks_stored(&h->hooks, &h->group, kind, owner, &stored))
        return;
    buffer_format(&name, "%s", pfb_cpi_hook_name(kind));
    if (kind == PFB_CPI_SUMMARY_HOOK && owner >= PFB_CPI_MOST_CPUS)
        buffer_string(&name, owner == PFB_CPI_OF_SYSTEM ? " system" : " thread");
    else if (kind == PFB_CPI_THREAD_HOOK)
        buffer_format(&name, " %" PRIu32, h->group.tid);
    else if (owner < PFB_CPI_MOST_CPUS)
        buffer_format(&name, " #%" PRIu32, owner);
    put_cell(t, &name);
    put_count(t, stored.has_counts, stored.instr);
    put_count(t, stored.has_counts, stored.cycles);
    put_figure(t, true, stored.cpi);
    put_count(t, stored.has_counts && stored.has_scaled, stored.scaled_cycles);
    put_figure(t, stored.has_scaled, stored.scaled_cpi);
    put_figure(t, stored.has_scaled, stored.busy);
}

/* A row for each owner of figures in each hook of the group. CPUs are named by position, because hooks do not store
 * their numbers. */
static void print_table(const hook_walk *h)
{
    static const char *const headings[TABLE_COLUMNS] = {"hook",          "instr",  "cycles", "cpi",
                                                        "scaled cycles", "cpi_wb", "busy%"};
    table t;
    table_open(&t, TABLE_COLUMNS, false);
    for (size_t i = 0; i < TABLE_COLUMNS; i++)
        table_cell(&t, headings[i], strlen(headings[i]));
    for (unsigned kind = 0; kind < PFB_CPI_HOOK_COUNT; kind++) {
        const pfb_cpi_hook *hook = &h->group.hooks[kind];
        for (uint32_t i = 0; i < hook->cpu_count && hook->is_present; i++)
            put_row(h, &t, (pfb_cpi_hook_kind)kind, i);
        put_row(h, &t, (pfb_cpi_hook_kind)kind, PFB_CPI_OF_SYSTEM);
        put_row(h, &t, (pfb_cpi_hook_kind)kind, PFB_CPI_OF_THREAD);
    }
    table_print(&t, h->w->out, system_columns());
}

/* ---- Groups ------------------------------------------------------------------------------------------------------ */

static void print_hooks(const hook_walk *h)
{
    output_list_begin(h->w->out, "hooks");
    for (unsigned kind = 0; kind < PFB_CPI_HOOK_COUNT; kind++)
        print_hook(h, (pfb_cpi_hook_kind)kind);
    output_list_end(h->w->out);
}

static void print_group(const hook_walk *h)
{
    output *out = h->w->out;
    const pfb_cpi_group *group = &h->group;
    output_begin(out, "group", h->bytes->depth);
    output_offset(out, h->bytes->base + group->offset);
    output_unsigned(out, "size", group->end_offset - group->offset);
    output_unsigned(out, "minor", group->minor);
    if (group->label_size_bytes > 0)
        output_bytes(out, "label", (const char *)h->bytes->data + group->label_offset, group->label_size_bytes);
    else
        output_null(out, "label");
    output_unsigned(out, "elapsed_cycles", group->elapsed_cycles);
    if (group->cpu_count > 0)
        output_unsigned(out, "num_cpus", group->cpu_count);
    else
        output_null(out, "num_cpus");
    bool has_table = h->w->has_tables && out->format == OUTPUT_TEXT;
    if (!has_table)
        print_hooks(h);
    output_end(out);
    if (has_table)
        print_table(h);
}

static void print_warnings(const hook_walk *h)
{
    output *out = h->w->out;
    for (unsigned i = 0; i < PFB_CPI_WARNING_COUNT; i++) {
        const pfb_cpi_warned *warned = &h->group.warnings[i];
        if (warned->count == 0)
            continue;
        output_begin(out, "warning", h->bytes->depth);
        output_offset(out, h->bytes->base + warned->offset);
        output_word(out, "code", pfb_cpi_warning_name((pfb_cpi_warning)i));
        output_unsigned(out, "count", warned->count);
        output_end(out);
    }
}

void walk_hooks(walk *w, const file_bytes *bytes)
{
    hook_walk h = {.w = w, .bytes = bytes};
    pfb_cpi_hooks_open(&h.hooks, bytes->data, bytes->size, NULL);
    while (!output_failed(w->out) && pfb_cpi_hooks_next(&h.hooks, &h.group)) {
        w->counts.groups++;
        print_group(&h);
        print_warnings(&h);
    }
    walk_fail(w, bytes, h.hooks.error);
}
