/* SPDX-License-Identifier: MIT */
#include "names/titles.h"

#include "memory/memory.h"
#include "output/diagnostics.h"
#include "perfblock/v1.h"
#include "perfblock/write.h"

#include <stdlib.h>

static int compare_titles(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left;
    uint32_t b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

/* Lists the title indexes of the table of --names. */
static void list_file_titles(title_names *t)
{
    pfb_name_table table;
    pfb_name_entry entry;
    size_t capacity = 0;
    pfb_name_table_open(&table, t->file.data, t->file.size, &t->reader);
    while (pfb_name_table_next_entry(&table, &entry)) {
        t->file_titles = memory_grow(t->file_titles, &capacity, t->file_title_count + 1, sizeof *t->file_titles);
        t->file_titles[t->file_title_count++] = entry.index;
    }
    if (t->file_title_count > 0)
        qsort(t->file_titles, t->file_title_count, sizeof *t->file_titles, compare_titles);
}

void title_names_open_for_values(title_names *t, const char *path, const pfb_collector_options *options)
{
    pfb_name_table table;
    *t = (title_names){.collector = pfb_collector_open(NULL, options, NULL), .reader = options->reader};
    if (!t->collector)
        memory_exhausted();
    if (!path || !input_read(&t->file, path, INPUT_NAMES))
        return;
    pfb_name_table_open(&table, t->file.data, t->file.size, &t->reader);
    pfb_name_table_count(&table); /* reads the whole table; sets table.error */
    if (table.error.code != PFB_OK)
        diagnostics_malformed(path, table.error);
    list_file_titles(t);
}

void title_names_open(title_names *t, const char *path, const pfb_read_options *options)
{
    title_names_open_for_values(t, path, &(pfb_collector_options){.reader = *options});
}

void title_names_close(title_names *t)
{
    pfb_collector_close(t->collector);
    input_free(&t->file);
    free(t->file_titles);
    *t = (title_names){.collector = NULL};
}

void title_names_check(const char *path, const pfb_read_options *options)
{
    title_names unused;
    title_names_open(&unused, path, options);
    title_names_close(&unused);
}

static void put_table(title_names *t, const uint8_t *data, size_t size)
{
    if (!pfb_collector_put_names(t->collector, data, size, NULL, NULL))
        memory_exhausted();
}

static bool is_in_file(const title_names *t, uint32_t title)
{
    size_t at = memory_find(t->file_titles, t->file_title_count, sizeof *t->file_titles, 0, title);
    return at < t->file_title_count && t->file_titles[at] == title;
}

/* Writes the pairs of a table whose titles the table of --names lacks. */
static void write_others(const title_names *t, const uint8_t *data, size_t size, pfb_writer *writer)
{
    pfb_name_table table;
    pfb_name_entry entry;
    pfb_name_table_open(&table, data, size, &t->reader);
    while (pfb_name_table_next_entry(&table, &entry)) {
        if (!is_in_file(t, entry.index))
            pfb_write_name(writer, entry.index, &entry.name);
    }
    pfb_write_end_names(writer);
}

/* Adds the table without the titles that --names has: the collector gives precedence to the table that was added last,
 * and adding the table of --names again after each of many small tables would take memory for a copy each time. */
void title_names_add(title_names *t, const uint8_t *data, size_t size)
{
    pfb_writer writer;
    if (t->file_title_count == 0) {
        put_table(t, data, size);
        return;
    }
    pfb_write_init(&writer, NULL, 0);
    write_others(t, data, size, &writer);
    size_t capacity = writer.size_bytes;
    uint8_t *bytes = memory_get(capacity, 1);
    pfb_write_init(&writer, bytes, capacity);
    write_others(t, data, size, &writer);
    put_table(t, bytes, writer.size_bytes);
    free(bytes);
}

void title_names_begin(title_names *t)
{
    pfb_collector_begin_file(t->collector);
    if (t->file.data)
        put_table(t, t->file.data, t->file.size);
}

void title_names_report_late(const char *subject, bool has_values)
{
    diagnostics_say(has_values ? STATUS_FINE : STATUS_USAGE, subject,
                    "%schosen names are in a table that follows their V1 blocks, and standard input or a pipe is read "
                    "only once: name a file, or give the table with --names",
                    has_values ? "note: earlier samples are left out: " : "");
}

pfb_name title_names_find(const title_names *t, uint32_t index)
{
    return t ? pfb_collector_title(t->collector, index) : (pfb_name){.bytes = NULL};
}
