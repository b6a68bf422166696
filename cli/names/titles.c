/* SPDX-License-Identifier: MIT */
#include "names/titles.h"

#include "memory/memory.h"
#include "output/diagnostics.h"
#include "perfblock/capture.h"
#include "perfblock/v1.h"

void title_names_open(title_names *t, const char *path, const pfb_read_options *options)
{
    const pfb_collector_options collecting = {.reader = *options};
    pfb_name_table table;
    *t = (title_names){.collector = pfb_collector_open(NULL, &collecting, NULL)};
    if (!t->collector)
        memory_exhausted();
    if (!path || !input_read(&t->file, path, INPUT_NAMES))
        return;
    pfb_name_table_open(&table, t->file.data, t->file.size, options);
    pfb_name_table_count(&table); /* reads the whole table; sets table.error */
    if (table.error.code != PFB_OK)
        diagnostics_malformed(path, table.error);
}

void title_names_close(title_names *t)
{
    pfb_collector_close(t->collector);
    input_free(&t->file);
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

/* Adds the table of --names. It is added again after each other table, because the collector gives precedence to the
 * table that was added last. */
static void put_names_file(title_names *t)
{
    if (t->file.data)
        put_table(t, t->file.data, t->file.size);
}

void title_names_begin(title_names *t)
{
    pfb_collector_begin_file(t->collector);
    t->scan = (title_scan){.scanned_end = 0};
    put_names_file(t);
}

void title_names_look_ahead(title_names *t, const input *capture)
{
    pfb_capture reader;
    pfb_chunk chunk;
    input in = *capture;
    bool is_whole = capture->offset == 0 && capture->is_last;
    if (t->scan.scanned_end > 0 ||
        (!is_whole && (!capture->can_reopen || !input_open(&in, capture->name, INPUT_CAPTURE, false))))
        return;
    bool is_open = input_open_capture(&in, &reader);
    while (is_open && input_next_chunk(&in, &reader, &chunk)) {
        t->scan.scanned_end = in.offset + chunk.offset + 1;
        if (chunk.is_known && chunk.tag == PFB_TAG_NAMES && in.offset + chunk.offset >= t->scan.added_end)
            put_table(t, in.data + chunk.body_offset, chunk.body_size_bytes);
    }
    if (!is_whole)
        input_free(&in);
    put_names_file(t);
}

void title_names_add(title_names *t, uint64_t offset, const uint8_t *data, size_t size)
{
    if (offset < t->scan.scanned_end)
        return;
    put_table(t, data, size);
    put_names_file(t);
    t->scan.added_end = offset + 1;
}

void title_names_report_late(const char *subject, bool has_values)
{
    diagnostics_say(has_values ? STATUS_FINE : STATUS_USAGE, subject,
                    "%schosen names are in a table that follows their V1 blocks, and a pipe is read only once: read a "
                    "file, or give the table with --names",
                    has_values ? "note: earlier samples are left out: " : "");
}

pfb_name title_names_find(const title_names *t, uint32_t index)
{
    return t ? pfb_collector_title(t->collector, index) : (pfb_name){.bytes = NULL};
}
