/* SPDX-License-Identifier: MIT */
#include "names/titles.h"

#include "memory/memory.h"
#include "output/diagnostics.h"
#include "perfblock/v1.h"

void title_names_open(title_names *t, const char *path, const pfb_read_options *options)
{
    pfb_name_table table;
    *t = (title_names){.collector = pfb_collector_new()};
    if (!t->collector)
        memory_exhausted();
    pfb_collector_set(t->collector, PFB_COLLECT_STRICT, options->is_strict);
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

/* Puts a record of the chosen file. */
static void put_record(title_names *t, const pfb_record *record)
{
    pfb_problem problem = {.size = sizeof problem};
    if (pfb_collector_put(t->collector, record) < 0)
        memory_exhausted();
    while (pfb_collector_take_problem(t->collector, &problem)) /* errors are reported where the table is read */
        continue;
}

void title_names_choose(title_names *t, size_t file)
{
    t->file_number = (uint32_t)file;
    put_record(t, &(pfb_record){.kind = PFB_RECORD_NOTE, .file = t->file_number});
}

void title_names_begin(title_names *t)
{
    put_record(t, &(pfb_record){.kind = PFB_RECORD_BEGIN, .file = t->file_number});
    if (t->file.data)
        put_record(t, &(pfb_record){.kind = PFB_RECORD_NAMES,
                                    .file = t->file_number,
                                    .flags = PFB_RECORD_GIVEN,
                                    .bytes = t->file.data,
                                    .byte_count = t->file.size});
}

void title_names_add(title_names *t, const uint8_t *data, size_t size)
{
    put_record(t, &(pfb_record){.kind = PFB_RECORD_NAMES, .file = t->file_number, .bytes = data, .byte_count = size});
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
