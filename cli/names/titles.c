/* SPDX-License-Identifier: MIT */
#include "names/titles.h"

#include "memory/memory.h"
#include "output/diagnostics.h"
#include "perfblock/v1.h"

#include <stdlib.h>

void title_names_open(title_names *t, const options *o)
{
    *t = (title_names){.o = o, .tables = memory_get(o->names_count + 1, sizeof *t->tables)};
    for (size_t i = 0; i < o->names_count; i++) {
        pfb_name_table table;
        if (!input_read(&t->tables[i], o->names[i].path, INPUT_NAMES))
            continue;
        pfb_name_table_open(&table, t->tables[i].data, t->tables[i].size, &o->reader);
        pfb_name_table_count(&table); /* reads the whole table; sets table.error */
        if (table.error.code != PFB_OK)
            diagnostics_malformed(o->names[i].path, table.error);
    }
}

static void close_file(title_names *t)
{
    pfb_stream_close(t->stream);
    pfb_collector_close(t->collector);
    t->stream = NULL;
    t->collector = NULL;
}

void title_names_close(title_names *t)
{
    close_file(t);
    for (size_t i = 0; i < t->o->names_count; i++)
        input_free(&t->tables[i]);
    free(t->tables);
}

/* Puts a record; after the begin of a file also the tables of --names. */
static void put_record(title_names *t, const pfb_record *record)
{
    bool has_memory = pfb_collector_put(t->collector, record) >= 0;
    for (size_t i = 0; record->kind == PFB_RECORD_BEGIN && i < t->o->names_count && has_memory; i++) {
        const pfb_record given = {.kind = PFB_RECORD_NAMES,
                                  .part = record->part,
                                  .flags = PFB_RECORD_GIVEN,
                                  .bytes = t->tables[i].data,
                                  .byte_count = t->tables[i].size,
                                  .language = t->o->names[i].language};
        has_memory = !given.bytes || pfb_collector_put(t->collector, &given) >= 0;
    }
    if (!has_memory)
        memory_exhausted();
}

void title_names_begin(title_names *t)
{
    close_file(t);
    t->collector = pfb_collector_new();
    t->has_sample = false;
    if (!t->collector)
        memory_exhausted();
    pfb_collector_set(t->collector, PFB_COLLECT_STRICT, t->o->reader.is_strict);
    pfb_collector_set(t->collector, PFB_COLLECT_CODE_PAGE, t->o->reader.code_page);
    pfb_collector_set(t->collector, PFB_COLLECT_ENGLISH, t->o->language);
    pfb_capture_files_open(&t->files);
    put_record(t, &(pfb_record){.kind = PFB_RECORD_BEGIN});
}

void title_names_add(title_names *t, const uint8_t *data, size_t size)
{
    put_record(t, &(pfb_record){.kind = PFB_RECORD_NAMES, .bytes = data, .byte_count = size});
}

/* ---- Captures -------------------------------------------------------------------------------------------- */

/* Opens the stream, unless the capture can be read only once. */
static void open_stream(title_names *t, const input *in)
{
    bool is_in_memory = in->offset == 0 && in->is_last;
    pfb_input file = {.size = sizeof file, .kind = PFB_RECORD_BEGIN, .label = in->name};
    if (!is_in_memory && !in->can_reopen)
        return;
    if (is_in_memory) {
        file.data = in->data;
        file.byte_count = in->size;
    }
    t->sample_offset = 0;
    t->stream = pfb_stream_new();
    if (!t->stream || pfb_stream_add(t->stream, &file) < 0)
        memory_exhausted();
    pfb_stream_set(t->stream, PFB_STREAM_STRICT, t->o->reader.is_strict);
    pfb_stream_set(t->stream, PFB_STREAM_FOLLOW, in->is_followed);
    pfb_stream_set(t->stream, PFB_STREAM_NO_WAIT, 1);
    pfb_stream_set(t->stream, PFB_STREAM_REPEATED, 1);
}

/* Reports why the stream cannot be read on. What is wrong with the content of the file is reported by who shows it. */
static void report_stream(title_names *t)
{
    pfb_problem problem = {.size = sizeof problem};
    while (pfb_stream_problem(t->stream, &problem)) {
        if (problem.kind == PFB_PROBLEM_MEMORY && problem.file == PFB_NONE)
            memory_exhausted();
        if (problem.kind == PFB_PROBLEM_MEMORY || problem.kind == PFB_PROBLEM_FILE)
            diagnostics_say(STATUS_FILE, pfb_stream_label(t->stream, 0), "%s", problem.sentence);
    }
}

/* Puts the records of the stream up to the V1 block at an offset of the file. */
static void read_stream(title_names *t, uint64_t offset)
{
    pfb_record record = {.size = sizeof record};
    while (t->sample_offset < offset && pfb_stream_next(t->stream, &record) == PFB_NEXT_RECORD) {
        bool is_sample = record.kind == PFB_RECORD_V1;
        t->sample_offset = is_sample ? record.offset : t->sample_offset;
        if (is_sample || record.kind == PFB_RECORD_V2)
            record.kind = PFB_RECORD_NOTE; /* only chooses the file */
        put_record(t, &record);
    }
    report_stream(t);
}

/* Puts a chunk. */
static void put_chunk(title_names *t, const input *in, const pfb_chunk *chunk)
{
    bool is_table = chunk->is_known && chunk->tag == PFB_TAG_NAMES;
    pfb_capture_step step;
    do {
        step = pfb_capture_files_next(&t->files, chunk);
        if (t->files.file == 0) /* a FILE chunk that ends its file */
            return;
        put_record(t, &(pfb_record){.kind = step == PFB_CAPTURE_BEGIN ? PFB_RECORD_BEGIN
                                            : step == PFB_CAPTURE_END ? PFB_RECORD_END
                                            : is_table                ? PFB_RECORD_NAMES
                                                                      : PFB_RECORD_NOTE,
                                    .part = (uint32_t)(t->files.file - 1),
                                    .language = is_table ? chunk->language : 0,
                                    .bytes = in->data + chunk->body_offset,
                                    .byte_count = chunk->body_size_bytes});
    } while (step != PFB_CAPTURE_CHUNK);
}

void title_names_follow(title_names *t, const input *in, const pfb_chunk *chunk)
{
    bool is_sample = chunk->is_known && chunk->tag == PFB_TAG_V1;
    if (is_sample && !t->has_sample)
        open_stream(t, in);
    t->has_sample = t->has_sample || is_sample;
    if (!t->stream)
        put_chunk(t, in, chunk);
    else if (is_sample)
        read_stream(t, in->offset + chunk->body_offset);
}

/* ---------------------------------------------------------------------------------------------------------- */

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

pfb_name title_names_find_in(const title_names *t, uint32_t index, unsigned language)
{
    return pfb_collector_title_in(t->collector, index, language == 1);
}

size_t title_names_others(const title_names *t, pfb_name name, pfb_name others[TITLE_OTHERS])
{
    size_t count = 0;
    for (unsigned language = 0; language < TITLE_NAMES && t->collector; language++)
        count += pfb_collector_translate(t->collector, &name, language == 1, others + count,
                                         (uint32_t)(TITLE_OTHERS - count));
    return count;
}
