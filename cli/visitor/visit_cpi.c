/* SPDX-License-Identifier: MIT */
/* Streams of CPI hooks. */
#include "os/system.h"
#include "output/table.h"
#include "perfblock/cpi/hooks.h"
#include "visitor/visits.h"

#include <inttypes.h>
#include <stdio.h>

typedef struct hook_visit {
    visitor *v;
    pfb_cpi_hooks hooks;
    pfb_cpi_group group;
    table figures; /* of the group, with v->has_tables */
} hook_visit;

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

/* ---- Records ------------------------------------------------------------------------------------------------------
 */

/* Writes a figure, and in JSON also the two words that store it. */
static void write_figure(output *out, const char *key, const char *words_key, pfb_cpi_words words)
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

/* Writes the figures of a CPU (`owner` is its position), of the system (PFB_CPI_OF_SYSTEM) or of the thread
 * (PFB_CPI_OF_THREAD) as an item of a list. */
static void write_figures(hook_visit *h, pfb_cpi_hook_kind kind, uint32_t owner, const pfb_cpi_stored *stored)
{
    output *out = h->v->out;
    const char *name = owner == PFB_CPI_OF_SYSTEM ? "system" : owner == PFB_CPI_OF_THREAD ? "thread" : "cpu";
    output_item_begin(out, "of", name);
    if (owner < PFB_CPI_CPU_LIMIT)
        output_unsigned(out, "position", owner);
    if (kind == PFB_CPI_THREAD_HOOK)
        visit_fields(h->v, "thread id");
    if (stored->has_counts) {
        output_unsigned(out, "instr", stored->instr);
        output_unsigned(out, "cycles", stored->cycles);
    }
    write_figure(out, "cpi", "cpi_words", stored->cpi);
    if (stored->has_counts && stored->has_scaled)
        output_unsigned(out, "scaled_cycles", stored->scaled_cycles);
    if (stored->has_scaled) {
        write_figure(out, "scaled_cpi", "scaled_cpi_words", stored->scaled_cpi);
        write_figure(out, "busy", "busy_words", stored->busy);
    }
    output_item_end(out);
}

/* Adds a cell that is empty unless `exists`. */
static void add_cell(table *t, bool exists, const char *format, ...) TEXT_PRINTF(3, 4);

static void add_cell(table *t, bool exists, const char *format, ...)
{
    buffer cell = {0};
    buffer_clear(&cell);
    va_list arguments;
    va_start(arguments, format);
    if (exists)
        buffer_format_list(&cell, format, arguments);
    va_end(arguments);
    table_cell(t, cell.data, cell.size);
    buffer_free(&cell);
}

/* Adds a cell with the figure as its two words store it, without rounding. */
static void add_figure(table *t, bool exists, pfb_cpi_words words)
{
    if (words.integral == PFB_CPI_UNDEFINED)
        add_cell(t, exists, "n/a");
    else
        add_cell(t, exists, "%" PRIu32 ".%04" PRIu32, words.integral, words.fraction);
}

/* Adds the same figures as a row of the table. CPUs are named by position, because hooks do not store their numbers. */
static void add_row(hook_visit *h, pfb_cpi_hook_kind kind, uint32_t owner, const pfb_cpi_stored *stored)
{
    table *t = &h->figures;
    bool has_scaled_counts = stored->has_counts && stored->has_scaled;
    char name[16] = "";
    if (kind == PFB_CPI_SUMMARY_HOOK && owner >= PFB_CPI_CPU_LIMIT)
        snprintf(name, sizeof name, owner == PFB_CPI_OF_SYSTEM ? " system" : " thread");
    else if (kind == PFB_CPI_THREAD_HOOK)
        snprintf(name, sizeof name, " %" PRIu32, h->group.tid);
    else if (owner < PFB_CPI_CPU_LIMIT)
        snprintf(name, sizeof name, " #%" PRIu32, owner);
    add_cell(t, true, "%s%s", pfb_cpi_hook_name(kind), name);
    add_cell(t, stored->has_counts, "%" PRIu64, stored->instr);
    add_cell(t, stored->has_counts, "%" PRIu64, stored->cycles);
    add_figure(t, true, stored->cpi);
    add_cell(t, has_scaled_counts, "%" PRIu64, stored->scaled_cycles);
    add_figure(t, stored->has_scaled, stored->scaled_cpi);
    add_figure(t, stored->has_scaled, stored->busy);
}

/* Writes the figures that a hook stores. */
static void write_all_figures(hook_visit *h, pfb_cpi_hook_kind kind)
{
    const pfb_cpi_hook *hook = &h->group.hooks[kind];
    pfb_cpi_stored stored;
    for (uint32_t i = 0; i < hook->cpu_count + 2; i++) {
        uint32_t owner = i < hook->cpu_count ? i : i == hook->cpu_count ? PFB_CPI_OF_SYSTEM : PFB_CPI_OF_THREAD;
        if (!pfb_cpi_hooks_stored(&h->hooks, &h->group, kind, owner, &stored))
            continue;
        if (h->v->has_tables)
            add_row(h, kind, owner, &stored);
        else
            write_figures(h, kind, owner, &stored);
    }
}

static void write_flags(output *out, uint32_t flags)
{
    static const char *const bits[] = {"raw", "scaled", "thread"}; /* PFB_CPI_FLAG_, from bit 0 on */
    const char *names[sizeof bits / sizeof bits[0]];
    size_t count = 0;
    for (size_t i = 0; i < sizeof bits / sizeof bits[0]; i++) {
        if (flags >> i & 1)
            names[count++] = bits[i];
    }
    if (count > 0) /* 0: the hook has no flags word, since a valid one has the raw bit */
        output_names(out, "flags", names, count);
}

static void write_hook(hook_visit *h, pfb_cpi_hook_kind kind)
{
    visitor *v = h->v;
    output *out = v->out;
    const pfb_cpi_hook *hook = &h->group.hooks[kind];
    output_item_begin(out, "hook", pfb_cpi_hook_name(kind));
    output_offset(out, v->bytes.base + hook->offset);
    output_unsigned(out, "words", hook->word_count);
    visit_also(v, STRUCTURE_CPI_HOOK, hook->offset);
    visit_fields(v, "time stamp");
    write_flags(out, hook->flags);
    visit_also(v, layouts[kind].which, hook->offset);
    if (hook->cpu_count > 0)
        visit_fields(v, "n");
    if (kind != PFB_CPI_LABEL_START && kind != PFB_CPI_LABEL_END) {
        output_list_begin(out, "figures");
        write_all_figures(h, kind);
        output_list_end(out);
    }
    output_item_end(out);
}

/* Writes the hooks of a group as a list, or their figures as a table. */
static void write_hooks(hook_visit *h)
{
    static const char *const headings[] = {"hook", "instr", "cycles", "cpi", "scaled cycles", "cpi_wb", "busy%"};
    enum { COLUMNS = sizeof headings / sizeof headings[0] };
    visitor *v = h->v;
    if (v->has_tables) {
        visit_flush(v);
        table_open(&h->figures, COLUMNS, false);
        for (size_t i = 0; i < COLUMNS; i++)
            add_cell(&h->figures, true, "%s", headings[i]);
    } else {
        output_list_begin(v->out, "hooks");
    }
    for (unsigned kind = 0; kind < PFB_CPI_HOOK_COUNT; kind++) {
        if (h->group.hooks[kind].is_present && v->has_tables)
            write_all_figures(h, (pfb_cpi_hook_kind)kind);
        else if (h->group.hooks[kind].is_present)
            write_hook(h, (pfb_cpi_hook_kind)kind);
    }
    if (v->has_tables)
        table_print(&h->figures, v->out, system_columns());
    else
        output_list_end(v->out);
}

static void write_warnings(const hook_visit *h)
{
    visitor *v = h->v;
    for (unsigned i = 0; i < PFB_CPI_WARNING_COUNT; i++) {
        const pfb_cpi_warning_summary *warned = &h->group.warnings[i];
        if (warned->count == 0)
            continue;
        visit_record(v, warned->offset, "warning", 0);
        output_word(v->out, "code", pfb_cpi_warning_name((pfb_cpi_warning)i));
        output_unsigned(v->out, "count", warned->count);
    }
}

/* ---- The page of bytes --------------------------------------------------------------------------------------------
 */

/* The page has the records in the order of the file, and those that are no hooks. */

/* Offsets of fields in a record. */
enum { MAJOR_AT = 2, MINOR_AT = 4, FLAGS_AT = 12, CPUS_AT = 16, LABEL_LENGTH_AT = 24 };

enum { FIGURE_BYTES = 8, COUNTS_BYTES = 24 };

/* Returns a number of `size` bytes, or 0 if it does not lie within the bytes. */
static uint32_t load(const file_bytes *bytes, size_t offset, size_t size)
{
    if (offset > bytes->size || size > bytes->size - offset)
        return 0;
    return (uint32_t)field_unsigned(bytes->data + offset, size, false);
}

/* Visits the counts of each CPU of a record that ends with the bytes. */
static void visit_processors(visitor *v, size_t at, bool is_scaled)
{
    size_t size = is_scaled ? 2 * COUNTS_BYTES : COUNTS_BYTES;
    for (uint32_t i = 0; at < v->bytes.size && size <= v->bytes.size - at; i++, at += size) {
        visit_begin(v, STRUCTURE_CPI_COUNTS, at, NULL, 0);
        visit_title(v, "CPU #%" PRIu32, i);
        if (is_scaled)
            visit_also(v, STRUCTURE_CPI_SCALED_COUNTS, at + COUNTS_BYTES);
        visit_end(v, VISIT_FINE, 0);
    }
}

/* Visits the figures of a summary in the order in which they are stored: the CPI of each CPU and of the system; with
 * PFB_CPI_FLAG_SCALED, scaled CPI and busy of each CPU and of the system; with PFB_CPI_FLAG_THREAD, the CPI of the
 * thread. */
static void visit_summary(visitor *v, size_t at, uint32_t cpu_count, uint32_t flags)
{
    for (uint32_t i = 0; i < 2 * (cpu_count + 1); i++) {
        bool is_scaled = i > cpu_count;
        uint32_t cpu = is_scaled ? i - cpu_count - 1 : i;
        char whose[24] = "the system";
        if (is_scaled && !(flags & PFB_CPI_FLAG_SCALED))
            break;
        if (cpu < cpu_count)
            snprintf(whose, sizeof whose, "CPU #%" PRIu32, cpu);
        visit_field(v, NULL, at, FIGURE_BYTES, FIELD_FIGURE, "%s of %s", is_scaled ? "scaled CPI" : "CPI", whose);
        at += FIGURE_BYTES;
        if (is_scaled)
            visit_field(v, NULL, at, FIGURE_BYTES, FIELD_FIGURE, "busy of %s", whose);
        at += is_scaled ? FIGURE_BYTES : 0;
    }
    if (flags & PFB_CPI_FLAG_THREAD)
        visit_field(v, NULL, at, FIGURE_BYTES, FIELD_FIGURE, "CPI of the thread");
}

/* Visits the words of a hook. Its flags and its number of CPUs decide which words it has; words past the end of the
 * record are left out. */
static void visit_words(visitor *v, size_t at, structure which)
{
    uint32_t flags = load(&v->bytes, at + FLAGS_AT, 4);
    uint32_t cpu_count = load(&v->bytes, at + CPUS_AT, 4);
    bool is_scaled = flags & PFB_CPI_FLAG_SCALED;
    size_t words = at + field_tables[which].size;
    visit_also(v, which, at);
    if (which == STRUCTURE_CPI_LABEL)
        visit_field(v, NULL, words, load(&v->bytes, at + LABEL_LENGTH_AT, 4), FIELD_ASCII, "label");
    else if (which == STRUCTURE_CPI_SUMMARY)
        visit_summary(v, words, cpu_count < PFB_CPI_CPU_LIMIT ? cpu_count : PFB_CPI_CPU_LIMIT, flags);
    else if (which == STRUCTURE_CPI_PROCESSORS)
        visit_processors(v, words, is_scaled);
    else
        visit_also(v, STRUCTURE_CPI_COUNTS, words);
    if (which == STRUCTURE_CPI_SYSTEM && is_scaled)
        visit_also(v, STRUCTURE_CPI_SCALED_COUNTS, words + COUNTS_BYTES);
}

/* Visits a record and returns its end. If `has_error` is true, the record is malformed, and its size may be wrong. */
static size_t visit_hook(visitor *v, size_t at, bool has_error)
{
    enum { TYPE_BITS = 3 }; /* low bits of the size: the type of the record */
    enum { MAJOR = 0xC0, KIND_SHIFT = 28 };
    const file_bytes outer = v->bytes;
    size_t size = load(&v->bytes, at, 2) & ~(size_t)TYPE_BITS;
    if (size < PFB_CPI_HOOK_HEADER_BYTES)
        size = PFB_CPI_HOOK_HEADER_BYTES;
    if (size > outer.size - at)
        size = outer.size - at;
    v->bytes.size = at + size;
    visit_begin(v, STRUCTURE_CPI_HOOK, at, NULL, 0);
    bool is_hook = size >= PFB_CPI_HOOK_HEADER_BYTES && load(&v->bytes, at + MAJOR_AT, 2) == MAJOR;
    bool is_known = false;
    for (size_t i = 0; is_hook && i < PFB_CPI_HOOK_COUNT; i++) {
        if (layouts[i].nibble != load(&v->bytes, at + MINOR_AT, 4) >> KIND_SHIFT)
            continue;
        is_known = true;
        visit_title(v, "%s", pfb_cpi_hook_name(layouts[i].kind));
        visit_words(v, at, layouts[i].which);
    }
    visit_rest(v, at + size, has_error ? "not read" : is_known ? "padding" : "not explained");
    visit_end(v, VISIT_FINE, 0);
    v->bytes = outer;
    return at + size;
}

/* Visits the records after the last group: those with other major codes, and after an error the records of the
 * incomplete group, up to the malformed record. */
static void visit_tail(const hook_visit *h, size_t at)
{
    visitor *v = h->v;
    pfb_error error = h->hooks.error;
    size_t end = error.code == PFB_OK ? v->bytes.size : error.offset;
    while (at < end)
        at = visit_hook(v, at, false);
    if (at < v->bytes.size)
        visit_hook(v, at, true);
    visit_padding(v, error, v->bytes.size);
}

/* ---- A stream -----------------------------------------------------------------------------------------------------
 */

/* Visits a group. *at is the end of the records that are on the page: before the group there may be others. */
static void visit_group(hook_visit *h, size_t *at)
{
    visitor *v = h->v;
    output *out = v->out;
    const pfb_cpi_group *group = &h->group;
    while (v->page && *at < group->offset)
        *at = visit_hook(v, *at, false);
    visit_begin(v, STRUCTURE_CPI_GROUP, group->offset, "group", 0);
    output_unsigned(out, "size", group->end_offset - group->offset);
    output_unsigned(out, "minor", group->minor);
    if (group->label_size_bytes > 0)
        output_bytes(out, "label", (const char *)v->bytes.data + group->label_offset, group->label_size_bytes);
    else
        output_null(out, "label");
    output_unsigned(out, "elapsed_cycles", group->elapsed_cycles);
    visit_number(v, "num_cpus", group->cpu_count > 0, group->cpu_count);
    while (v->page && *at < group->end_offset)
        *at = visit_hook(v, *at, false);
    if (!v->page && visit_writes(v))
        write_hooks(h);
    visit_end(v, VISIT_FINE, 0);
}

void visit_hooks(visitor *v)
{
    hook_visit h = {.v = v};
    size_t at = 0;
    pfb_cpi_hooks_open(&h.hooks, v->bytes.data, v->bytes.size, NULL);
    while (!output_failed(v->out) && pfb_cpi_hooks_next(&h.hooks, &h.group)) {
        v->counts.groups++;
        visit_group(&h, &at);
        write_warnings(&h);
    }
    visit_error(v, h.hooks.error);
    if (v->page)
        visit_tail(&h, at);
}
