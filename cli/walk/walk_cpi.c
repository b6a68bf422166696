/* SPDX-License-Identifier: MIT */
#include "os/system.h"
#include "output/table.h"
#include "perfblock/cpi/hooks.h"
#include "walk/walk_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* State of the walk of a stream of CPI hooks. */
typedef struct hook_walk {
    walk *w;
    const file_bytes *bytes;
    pfb_cpi_hooks hooks;
    pfb_cpi_group group;
} hook_walk;

/* The fields of each kind of hook, in the order of pfb_cpi_hook_kind. */
static const struct {
    uint32_t nibble; /* the kind, in bits 31 to 28 of the minor word */
    pfb_cpi_hook_kind kind;
    structure which;
} layouts[] = {
    {0x0, PFB_CPI_LABEL_START, STRUCTURE_CPI_LABEL},  {0x1, PFB_CPI_SUMMARY_HOOK, STRUCTURE_CPI_SUMMARY},
    {0x8, PFB_CPI_SYSTEM_HOOK, STRUCTURE_CPI_SYSTEM}, {0x4, PFB_CPI_PROCESSORS_HOOK, STRUCTURE_CPI_PROCESSORS},
    {0x2, PFB_CPI_THREAD_HOOK, STRUCTURE_CPI_THREAD}, {0xF, PFB_CPI_LABEL_END, STRUCTURE_CPI_LABEL},
};

/* Prints a figure, and in JSON also the two words that store it. */
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

/* Prints the figures that a hook stores for a CPU (`owner` is its position), for the system (PFB_CPI_OF_SYSTEM) or for
 * the thread (PFB_CPI_OF_THREAD). Prints nothing if the hook does not store them. */
static void print_figures(const hook_walk *h, pfb_cpi_hook_kind kind, uint32_t owner)
{
    output *out = h->w->out;
    pfb_cpi_stored stored;
    if (!pfb_cpi_hooks_stored(&h->hooks, &h->group, kind, owner, &stored))
        return;
    const char *name = owner == PFB_CPI_OF_SYSTEM ? "system" : owner == PFB_CPI_OF_THREAD ? "thread" : "cpu";
    output_item_begin(out, "of", name);
    if (owner < PFB_CPI_CPU_LIMIT)
        output_unsigned(out, "position", owner);
    if (kind == PFB_CPI_THREAD_HOOK)
        walk_print_fields(&(walk_structure){h->w, h->bytes, STRUCTURE_CPI_THREAD, h->group.hooks[kind].offset},
                          "thread id");
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
    walk_print_fields(&(walk_structure){h->w, h->bytes, STRUCTURE_CPI_HOOK, hook->offset}, "time stamp");
    print_flags(out, hook->flags);
    if (hook->cpu_count > 0)
        walk_print_fields(&(walk_structure){h->w, h->bytes, layouts[kind].which, hook->offset}, "n");
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

/* Adds a cell with the figure as its two words store it, without rounding. */
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

/* Adds the row of a CPU (`owner` is its position), of the system or of the thread. Adds no row if the hook does not
 * store the figures. */
static void put_row(const hook_walk *h, table *t, pfb_cpi_hook_kind kind, uint32_t owner)
{
    buffer name = {0};
    pfb_cpi_stored stored;
    if (!pfb_cpi_hooks_stored(&h->hooks, &h->group, kind, owner, &stored))
        return;
    buffer_format(&name, "%s", pfb_cpi_hook_name(kind));
    if (kind == PFB_CPI_SUMMARY_HOOK && owner >= PFB_CPI_CPU_LIMIT)
        buffer_string(&name, owner == PFB_CPI_OF_SYSTEM ? " system" : " thread");
    else if (kind == PFB_CPI_THREAD_HOOK)
        buffer_format(&name, " %" PRIu32, h->group.tid);
    else if (owner < PFB_CPI_CPU_LIMIT)
        buffer_format(&name, " #%" PRIu32, owner);
    put_cell(t, &name);
    put_count(t, stored.has_counts, stored.instr);
    put_count(t, stored.has_counts, stored.cycles);
    put_figure(t, true, stored.cpi);
    put_count(t, stored.has_counts && stored.has_scaled, stored.scaled_cycles);
    put_figure(t, stored.has_scaled, stored.scaled_cpi);
    put_figure(t, stored.has_scaled, stored.busy);
}

/* Prints a table of the group's figures: for each hook a row per CPU, for the system and for the thread. CPUs are named
 * by position, because hooks do not store their numbers. */
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
    walk_print_number(h->w, "num_cpus", group->cpu_count > 0, group->cpu_count);
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
        const pfb_cpi_warning_summary *warned = &h->group.warnings[i];
        if (warned->count == 0)
            continue;
        output_begin(out, "warning", h->bytes->depth);
        output_offset(out, h->bytes->base + warned->offset);
        output_word(out, "code", pfb_cpi_warning_name((pfb_cpi_warning)i));
        output_unsigned(out, "count", warned->count);
        output_end(out);
    }
}

/* ---- The bytes, for explain -------------------------------------------------------------------------------------- */

/* Offsets of fields in a record. */
enum {
    MAJOR_AT = 2,
    MINOR_AT = 4,
    FLAGS_AT = 12,
    CPUS_AT = 16,
    SYSTEM_COUNTS_AT = 24, /* also the counts of the thread */
    LABEL_LENGTH_AT = 24,
    LABEL_AT = 28,
    FIGURES_AT = 28, /* the figures of the summary */
    PROCESSORS_COUNTS_AT = 28
};

enum { FIGURE_BYTES = 8, COUNTS_BYTES = 24 };

/* Returns a number of `size` bytes, or 0 if it does not lie within the bytes. */
static uint32_t load(const file_bytes *bytes, size_t offset, size_t size)
{
    if (offset > bytes->size || size > bytes->size - offset)
        return 0;
    return (uint32_t)field_unsigned(bytes->data + offset, size, false);
}

static void explain_processors(const walk *w, const file_bytes *record, size_t at, uint32_t cpu_count, bool is_scaled)
{
    size_t size = is_scaled ? 2 * COUNTS_BYTES : COUNTS_BYTES;
    for (uint32_t i = 0; i < cpu_count && at < record->size && size <= record->size - at; i++, at += size) {
        explain_begin(w->page, record, STRUCTURE_CPI_COUNTS, at, cpu_count > EXPLAIN_MAX_OPEN, NULL, "CPU #%" PRIu32,
                      i);
        if (is_scaled)
            explain_fields(w->page, record, STRUCTURE_CPI_SCALED_COUNTS, at + COUNTS_BYTES);
        explain_end(w->page, record, 0);
    }
}

/* Prints the figures of a summary in the order in which they are stored: the CPI of each CPU and of the system; with
 * PFB_CPI_FLAG_SCALED, scaled CPI and busy of each CPU and of the system; with PFB_CPI_FLAG_THREAD, the CPI of the
 * thread. */
static void explain_summary(const walk *w, const file_bytes *record, size_t at, uint32_t cpu_count, uint32_t flags)
{
    explainer *page = w->page;
    for (uint32_t i = 0; i < cpu_count; i++, at += FIGURE_BYTES)
        explain_row(page, record, at, FIGURE_BYTES, FIELD_FIGURE, "CPI of CPU #%" PRIu32, i);
    explain_row(page, record, at, FIGURE_BYTES, FIELD_FIGURE, "CPI of the system");
    at += FIGURE_BYTES;
    for (uint32_t i = 0; flags & PFB_CPI_FLAG_SCALED && i <= cpu_count; i++, at += (size_t)2 * FIGURE_BYTES) {
        char whose[24] = "the system";
        if (i < cpu_count)
            snprintf(whose, sizeof whose, "CPU #%" PRIu32, i);
        explain_row(page, record, at, FIGURE_BYTES, FIELD_FIGURE, "scaled CPI of %s", whose);
        explain_row(page, record, at + FIGURE_BYTES, FIGURE_BYTES, FIELD_FIGURE, "busy of %s", whose);
    }
    if (flags & PFB_CPI_FLAG_THREAD)
        explain_row(page, record, at, FIGURE_BYTES, FIELD_FIGURE, "CPI of the thread");
}

/* Prints the words of a hook. Its flags and its number of CPUs decide which words it has; words past the end of the
 * record are left out. */
static void explain_words(const walk *w, const file_bytes *record, size_t at, structure which)
{
    uint32_t flags = load(record, at + FLAGS_AT, 4);
    uint32_t cpu_count = load(record, at + CPUS_AT, 4);
    bool is_scaled = flags & PFB_CPI_FLAG_SCALED;
    cpu_count = cpu_count < PFB_CPI_CPU_LIMIT ? cpu_count : PFB_CPI_CPU_LIMIT;
    explain_fields(w->page, record, which, at);
    if (which == STRUCTURE_CPI_LABEL)
        explain_row(w->page, record, at + LABEL_AT, load(record, at + LABEL_LENGTH_AT, 4), FIELD_ASCII, "label");
    if (which == STRUCTURE_CPI_SUMMARY)
        explain_summary(w, record, at + FIGURES_AT, cpu_count, flags);
    if (which == STRUCTURE_CPI_PROCESSORS)
        explain_processors(w, record, at + PROCESSORS_COUNTS_AT, cpu_count, is_scaled);
    if (which == STRUCTURE_CPI_SYSTEM || which == STRUCTURE_CPI_THREAD)
        explain_fields(w->page, record, STRUCTURE_CPI_COUNTS, at + SYSTEM_COUNTS_AT);
    if (which == STRUCTURE_CPI_SYSTEM && is_scaled)
        explain_fields(w->page, record, STRUCTURE_CPI_SCALED_COUNTS, at + SYSTEM_COUNTS_AT + COUNTS_BYTES);
}

/* Returns the row of `layouts` for a record; PFB_CPI_HOOK_COUNT if the record is not a hook. */
static size_t find_layout(const file_bytes *record, size_t at)
{
    enum { MAJOR = 0xC0, KIND_SHIFT = 28 };
    size_t row = 0;
    if (record->size - at < PFB_CPI_HOOK_HEADER_BYTES || load(record, at + MAJOR_AT, 2) != MAJOR)
        return PFB_CPI_HOOK_COUNT;
    while (row < PFB_CPI_HOOK_COUNT && layouts[row].nibble != load(record, at + MINOR_AT, 4) >> KIND_SHIFT)
        row++;
    return row;
}

/* Prints a record and returns its end. If `has_error` is true, the record is malformed, and its size may be wrong. */
static size_t explain_hook(const hook_walk *h, size_t at, bool has_error)
{
    enum { TYPE_BITS = 3 }; /* low bits of the size: the type of the record */
    explainer *page = h->w->page;
    const file_bytes *bytes = h->bytes;
    size_t size = load(bytes, at, 2) & ~(size_t)TYPE_BITS;
    if (size < PFB_CPI_HOOK_HEADER_BYTES)
        size = PFB_CPI_HOOK_HEADER_BYTES;
    if (size > bytes->size - at)
        size = bytes->size - at;
    file_bytes record = *bytes;
    record.size = at + size;
    size_t row = find_layout(&record, at);
    bool is_known = row < PFB_CPI_HOOK_COUNT;
    explain_begin(page, &record, STRUCTURE_CPI_HOOK, at, false, NULL, "%s",
                  is_known ? pfb_cpi_hook_name(layouts[row].kind) : "");
    if (is_known)
        explain_words(h->w, &record, at, layouts[row].which);
    explain_rest(page, &record, at + size, has_error ? "not read" : is_known ? "padding" : "not explained");
    explain_end(page, &record, 0);
    return at + size;
}

/* Prints the records up to the end of the group, and returns that end. Before the group there may be records with other
 * major codes. */
static size_t explain_group(const hook_walk *h, size_t at)
{
    explainer *page = h->w->page;
    const pfb_cpi_group *group = &h->group;
    pfb_name label = {h->bytes->data + group->label_offset, group->label_size_bytes, PFB_ENCODING_UTF8};
    while (at < group->offset)
        at = explain_hook(h, at, false);
    explain_begin(page, h->bytes, STRUCTURE_CPI_GROUP, at, explain_folds_parts(page),
                  group->label_size_bytes > 0 ? &label : NULL, "minor code %" PRIu32, group->minor);
    while (at < group->end_offset)
        at = explain_hook(h, at, false);
    explain_end(page, h->bytes, 0);
    return at;
}

/* Prints the records after the last group: those with other major codes, and after an error the records of the
 * incomplete group, up to the malformed record. */
static void explain_tail(const hook_walk *h, size_t at)
{
    const file_bytes *bytes = h->bytes;
    pfb_error error = h->hooks.error;
    size_t end = error.code == PFB_OK ? bytes->size : error.offset;
    while (at < end)
        at = explain_hook(h, at, false);
    if (at < bytes->size)
        explain_hook(h, at, true);
    explain_part_end(h->w->page, bytes, error, bytes->size);
}

/* ---- A stream ---------------------------------------------------------------------------------------------------- */

void walk_hooks(walk *w, const file_bytes *bytes)
{
    hook_walk h = {.w = w, .bytes = bytes};
    size_t at = 0; /* end of the groups that are on the page of explain */
    pfb_cpi_hooks_open(&h.hooks, bytes->data, bytes->size, NULL);
    while (!output_failed(w->out) && pfb_cpi_hooks_next(&h.hooks, &h.group)) {
        w->counts.groups++;
        print_group(&h);
        print_warnings(&h);
        if (w->page)
            at = explain_group(&h, at);
    }
    walk_fail(w, bytes, h.hooks.error);
    if (w->page)
        explain_tail(&h, at);
}
