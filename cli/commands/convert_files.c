/* SPDX-License-Identifier: MIT */
#include "commands/convert_files.h"

#include "collect/collecting.h"
#include "collect/extract.h"
#include "collect/paths.h"
#include "commands/output_file.h"
#include "convert/filter_v1.h"
#include "convert/make_capture.h"
#include "convert/text_writer.h"
#include "input/file_order.h"
#include "memory/memory.h"
#include "names/v1.h"
#include "output/diagnostics.h"

#include <stdlib.h>
#include <string.h>

enum { ENGLISH = 9 }; /* the language id of the name tables that this command adds */

typedef struct convert {
    const options *o;
    bool is_text;     /* the output is in text form */
    bool is_filtered; /* the options choose counters or instances */
    output out;
    bool is_open;       /* the output file was opened */
    bool has_failed;    /* nothing more is written */
    bool is_deferring;  /* chunks are stored in `deferred` until the first chosen value or sample */
    bool has_own_table; /* the name table of --names was written */
    title_names titles; /* its collector has the chosen counters */
    title_names
        written_titles; /* the names that the text form has so far; its collector also chooses samples by time */
    sample_range range;
    metadata_files metadata;
    filter_v1 filter;
    text_writer text;
    pfb_bytes deferred;                    /* a capture of the chunks that are deferred */
    pfb_bytes chunk, reduced, info, table; /* temporary; kept to reuse their memory */
} convert;

/* The conversion of one capture: an input file, or one that was generated from an input file. */
typedef struct conversion {
    convert *c;
    const input *in;
    bool is_generated; /* generated from a file of another kind, whose errors were reported then */
    size_t added;      /* number of bytes of metadata that were added before the bytes of the file */
    bool has_v2;       /* V2 replies are filtered: `source`, `choice` and `extract` are open */
    bool has_info;     /* query information was put */
    collecting source;
    selection choice;
    extract extract;
} conversion;

/* ---- The output ------------------------------------------------------------------------------------------ */

/* Opens the output when the first chunk is written, so that an input that cannot be read does not replace a file. */
static bool open_output(convert *c)
{
    if (c->is_open || c->has_failed)
        return c->is_open;
    c->is_open = output_file_open(c->o);
    c->has_failed = !c->is_open;
    if (c->is_open && c->is_text) {
        text_writer_open(&c->text, &c->out, &c->written_titles);
    } else if (c->is_open) {
        make_capture_put(&c->chunk, &(pfb_chunk){.tag = PFB_TAG_CAPTURE}, NULL, 0);
        output_raw(&c->out, (const char *)c->chunk.data, c->chunk.size_bytes);
    }
    return c->is_open;
}

static void write_chunk(convert *c, const pfb_chunk *chunk, const uint8_t *body, size_t size)
{
    if (!open_output(c))
        return;
    if (c->is_text) {
        text_writer_put(&c->text, chunk, body, size);
        return;
    }
    c->chunk.size_bytes = 0;
    make_capture_put(&c->chunk, chunk, body, size);
    output_raw(&c->out, (const char *)c->chunk.data, c->chunk.size_bytes);
}

/* Writes a chunk of any tag and version without changing its bytes. The text form has no chunks of later versions: the
 * writer of the text counts them as chunks of an unknown tag. */
static void write_unchanged(convert *c, const pfb_chunk *chunk, const uint8_t *data, size_t data_size)
{
    const pfb_chunk unknown = {.tag = 0};
    size_t size = (chunk->body_offset + chunk->body_size_bytes - chunk->offset + 7) / 8 * 8;
    size_t left = data_size - chunk->offset;
    if (c->is_text)
        write_chunk(c, chunk->is_known ? chunk : &unknown, data + chunk->body_offset, chunk->body_size_bytes);
    else if (open_output(c))
        output_raw(&c->out, (const char *)data + chunk->offset, size < left ? size : left);
}

/* Begins to defer chunks until the first chosen value or sample. If there is none, no output is written. */
static void begin_deferring(convert *c)
{
    c->is_deferring = c->is_filtered || sample_range_is_given(&c->range);
    if (c->is_deferring)
        make_capture_put(&c->deferred, &(pfb_chunk){.tag = PFB_TAG_CAPTURE}, NULL, 0);
}

/* Writes the deferred chunks, and ends deferring. */
static void write_deferred(convert *c)
{
    pfb_capture capture;
    pfb_chunk chunk;
    if (!c->is_deferring)
        return;
    c->is_deferring = false;
    pfb_capture_open(&capture, c->deferred.data, c->deferred.size_bytes, NULL);
    while (pfb_capture_next_chunk(&capture, &chunk)) {
        if (chunk.tag != PFB_TAG_CAPTURE)
            write_unchanged(c, &chunk, c->deferred.data, c->deferred.size_bytes);
    }
    pfb_bytes_free(&c->deferred);
}

/* Writes a chunk, or defers it. */
static void put(convert *c, const pfb_chunk *chunk, const uint8_t *body, size_t size)
{
    if (c->is_deferring)
        make_capture_put(&c->deferred, chunk, body, size);
    else
        write_chunk(c, chunk, body, size);
}

/* The same for a chunk of the capture, with its bytes unchanged. A sample ends deferring. */
static void put_unchanged(const conversion *v, const pfb_chunk *chunk)
{
    convert *c = v->c;
    size_t size = (chunk->body_offset + chunk->body_size_bytes - chunk->offset + 7) / 8 * 8;
    size_t left = v->in->size - chunk->offset;
    if (chunk->is_known && (chunk->tag == PFB_TAG_DATA || chunk->tag == PFB_TAG_V1))
        write_deferred(c);
    if (!c->is_deferring)
        write_unchanged(c, chunk, v->in->data, v->in->size);
    else if (!pfb_bytes_append(&c->deferred, v->in->data + chunk->offset, size < left ? size : left))
        memory_exhausted();
}

/* ---- Names of V1 titles ---------------------------------------------------------------------------------- */

/* Puts a name table with the names that the chosen part of a V1 block needs and that were not put yet. */
static void put_names(convert *c)
{
    if (filter_v1_names(&c->filter, &c->table))
        put(c, &(pfb_chunk){.tag = PFB_TAG_NAMES, .language = ENGLISH}, c->table.data, c->table.size_bytes);
}

/* Puts the table of --names, once. */
static void put_own_table(convert *c)
{
    if (c->titles.file.data && !c->has_own_table)
        put(c, &(pfb_chunk){.tag = PFB_TAG_NAMES, .language = ENGLISH}, c->titles.file.data, c->titles.file.size);
    c->has_own_table = true;
}

/* Puts all name tables of the capture. */
static void put_tables(const conversion *v)
{
    pfb_capture capture;
    pfb_chunk chunk;
    pfb_capture_open(&capture, v->in->data, v->in->size, NULL);
    while (pfb_capture_next_chunk(&capture, &chunk)) {
        if (chunk.is_known && chunk.tag == PFB_TAG_NAMES)
            put(v->c, &chunk, v->in->data + chunk.body_offset, chunk.body_size_bytes);
    }
}

/* ---- Filters --------------------------------------------------------------------------------------------- */

static bool has_v2(const input *in)
{
    pfb_capture capture;
    pfb_chunk chunk;
    bool is_found = false;
    pfb_capture_open(&capture, in->data, in->size, NULL);
    while (!is_found && pfb_capture_next_chunk(&capture, &chunk))
        is_found = chunk.is_known && (chunk.tag == PFB_TAG_DATA || chunk.tag == PFB_TAG_REGISTRATION);
    return is_found;
}

/* Finds the chosen counters of the V2 replies. Without --set and paths, counters of all countersets are chosen. False
 * after a message. */
static bool open_filter(conversion *v)
{
    static const char *any_set[] = {"*"};
    static const pfb_collector_options choices = {.is_raw = true};
    options o = *v->c->o;
    pfb_source_failure failure = {0};
    v->source = (collecting){.subject = v->in->name};
    v->source.source = pfb_source_open_recorded(v->in->data, v->in->size, &failure);
    if (!v->source.source) {
        diagnostics_say(STATUS_MALFORMED, v->in->name, "%s", failure.sentence);
        return false;
    }
    v->source.collector = pfb_collector_open(v->source.source, &choices, NULL);
    if (!v->source.collector)
        memory_exhausted();
    if (o.set_count == 0 && o.path_count == 0 && !o.path_file) {
        o.sets = any_set;
        o.set_count = 1;
    }
    v->has_v2 = true;
    if (!collecting_add(&v->source, &o))
        return false;
    selection_open(&v->choice, v->source.collector);
    v->extract = (extract){.choice = &v->choice};
    return true;
}

static void close_filter(conversion *v)
{
    if (!v->has_v2)
        return;
    extract_free(&v->extract);
    selection_free(&v->choice);
    collecting_close(&v->source);
}

/* Reports an error; its offset counts from `base` of the capture. Errors in added metadata were reported when that was
 * read. */
static void report_error(const conversion *v, size_t base, pfb_error error)
{
    error.offset += base;
    if (error.code == PFB_OK || v->is_generated || error.offset < v->added)
        return;
    error.offset -= v->added;
    diagnostics_malformed(v->in->name, error);
}

static void copy(pfb_bytes *to, const uint8_t *data, size_t size)
{
    to->size_bytes = 0;
    if (!pfb_bytes_reserve(to, size + 1) || !pfb_bytes_append(to, data, size))
        memory_exhausted();
}

/* Puts the chosen part of a registration reply or an instance list. */
static void filter_metadata(conversion *v, const pfb_chunk *chunk, const pfb_bytes *body)
{
    convert *c = v->c;
    pfb_error error = {PFB_OK, 0};
    if (!selection_has_set(&v->choice, &chunk->guid))
        return;
    if (chunk->request == PFB_REQUEST_COUNTER && !selection_has_counter(&v->choice, &chunk->guid, chunk->language))
        return;
    if (chunk->tag == PFB_TAG_INSTANCES)
        error = extract_instances(&v->extract, &chunk->guid, body, &c->reduced);
    else
        error = extract_registration(&v->extract, &chunk->guid, chunk->request, body, &c->reduced);
    report_error(v, chunk->body_offset, error);
    if (error.code == PFB_OK && (c->reduced.size_bytes > 0 || body->size_bytes == 0))
        put(c, chunk, c->reduced.data, c->reduced.size_bytes);
}

/* Puts the chosen part of query information or of a V2 reply. Replies before the first chosen query are left out. Later
 * ones are put even without results: otherwise the samples before and after them would be compared with each other. */
static void filter_v2(conversion *v, const pfb_chunk *chunk, pfb_bytes *body)
{
    convert *c = v->c;
    pfb_error error = {PFB_OK, 0};
    if (chunk->tag == PFB_TAG_QUERY_INFO) {
        report_error(v, chunk->body_offset, extract_set_info(&v->extract, body, &c->reduced));
        if (c->reduced.size_bytes == 0)
            return;
        v->has_info = true;
        put(c, chunk, c->reduced.data, c->reduced.size_bytes);
        return;
    }
    pfb_v2_reader reader;
    pfb_v2_result result;
    pfb_v2_instance instance;
    bool is_sample = extract_sample(&v->extract, body, &c->reduced, &error);
    report_error(v, chunk->body_offset, error);
    if (!is_sample || !v->has_info)
        return;
    pfb_v2_open(&reader, c->reduced.data, c->reduced.size_bytes, NULL);
    while (c->is_deferring && pfb_v2_next_result(&reader, &result)) {
        if (pfb_v2_next_instance(&reader, &instance))
            write_deferred(c);
    }
    put(c, chunk, c->reduced.data, c->reduced.size_bytes);
}

static void filter_v1_chunk(conversion *v, const pfb_chunk *chunk)
{
    convert *c = v->c;
    pfb_error error = {PFB_OK, 0};
    bool has_chosen =
        filter_v1_block(&c->filter, v->in->data + chunk->body_offset, chunk->body_size_bytes, &c->reduced, &error);
    report_error(v, chunk->body_offset, error);
    if (!has_chosen)
        return;
    write_deferred(c);
    put_names(c);
    put(c, chunk, c->reduced.data, c->reduced.size_bytes);
}

/* Puts the chosen part of a chunk. Chunks without performance data or metadata are left out. */
static void put_chosen(conversion *v, const pfb_chunk *chunk)
{
    if (!chunk->is_known)
        return;
    if (chunk->tag == PFB_TAG_V1) {
        filter_v1_chunk(v, chunk);
        return;
    }
    if (!v->has_v2)
        return;
    copy(&v->c->info, v->in->data + chunk->body_offset, chunk->body_size_bytes);
    if (chunk->tag == PFB_TAG_REGISTRATION || chunk->tag == PFB_TAG_INSTANCES)
        filter_metadata(v, chunk, &v->c->info);
    else if (chunk->tag == PFB_TAG_QUERY_INFO || chunk->tag == PFB_TAG_DATA)
        filter_v2(v, chunk, &v->c->info);
}

/* ---- Captures -------------------------------------------------------------------------------------------- */

/* Reports the errors in a sample. Those of filtered V2 replies are reported by the filter. */
static void check_sample(const conversion *v, const pfb_chunk *chunk)
{
    const uint8_t *body = v->in->data + chunk->body_offset;
    pfb_v2_reader reader;
    if (v->is_generated || !chunk->is_known)
        return;
    if (chunk->tag == PFB_TAG_V1)
        v1_report_errors(v->in->name, chunk->body_offset - v->added, body, chunk->body_size_bytes, &v->c->o->reader);
    if (chunk->tag != PFB_TAG_DATA || v->has_v2)
        return;
    if (pfb_v2_open(&reader, body, chunk->body_size_bytes, &v->c->o->reader))
        pfb_v2_finish(&reader);
    report_error(v, chunk->body_offset, reader.error);
}

/* Returns false for a sample that --from, --to or --every leave out. */
static bool is_in_range(const conversion *v, const pfb_chunk *chunk)
{
    convert *c = v->c;
    const uint8_t *body = v->in->data + chunk->body_offset;
    bool is_v1 = chunk->tag == PFB_TAG_V1;
    if (!chunk->is_known || (!is_v1 && chunk->tag != PFB_TAG_DATA) || !sample_range_is_given(&c->range))
        return true;
    do {
        if (!pfb_collector_put_sample(c->written_titles.collector, is_v1 ? 1 : 2, body, chunk->body_size_bytes, NULL))
            memory_exhausted();
    } while (sample_range_repeats(&c->range, c->written_titles.collector));
    return !pfb_collector_reply(c->written_titles.collector).is_left_out;
}

static void convert_chunks(conversion *v)
{
    convert *c = v->c;
    pfb_capture capture;
    pfb_chunk chunk;
    pfb_capture_open(&capture, v->in->data, v->in->size, NULL);
    while (!output_failed(&c->out) && !c->has_failed && pfb_capture_next_chunk(&capture, &chunk)) {
        if (!is_in_range(v, &chunk))
            continue;
        check_sample(v, &chunk);
        /* Name tables of the text form are put by put_tables() or put_names(). */
        bool is_put_elsewhere = c->is_text && chunk.is_known && chunk.tag == PFB_TAG_NAMES;
        if (chunk.tag == PFB_TAG_CAPTURE || is_put_elsewhere)
            continue;
        if (c->is_filtered)
            put_chosen(v, &chunk);
        else
            put_unchanged(v, &chunk);
        input_progress(v->in, chunk.offset);
    }
    report_error(v, 0, capture.error);
}

static void convert_capture(convert *c, const input *in, bool is_generated, size_t added)
{
    conversion v = {.c = c, .in = in, .is_generated = is_generated, .added = added};
    title_names_begin(&c->titles);
    title_names_look_ahead(&c->titles, in);
    title_names_begin(&c->written_titles);
    if (c->is_filtered && has_v2(in) && !open_filter(&v))
        c->has_failed = true;
    /* The text form has each name where it is used, so all tables are put before the blocks. The table of --names is
     * put last, because later tables take precedence. */
    if (!c->is_filtered && c->is_text)
        put_tables(&v);
    if (!c->is_filtered && (c->is_text || is_generated))
        put_own_table(c);
    if (!c->has_failed)
        convert_chunks(&v);
    if (!c->is_filtered && !c->has_failed)
        put_own_table(c);
    close_filter(&v);
}

static void convert_file(convert *c, const char *name)
{
    input in;
    if (!input_read(&in, name, c->o->kind))
        return;
    pfb_bytes generated = {0};
    bool is_capture = in.kind == INPUT_CAPTURE;
    size_t added = is_capture ? make_capture_complete(&in, &c->metadata, &generated) : 0;
    if (is_capture && added == 0) {
        convert_capture(c, &in, false, 0);
    } else if (is_capture || make_capture(&in, &c->metadata, &c->o->reader, &generated)) {
        const input capture = {
            .name = name, .data = generated.data, .size = generated.size_bytes, .is_last = true, .kind = INPUT_CAPTURE};
        convert_capture(c, &capture, !is_capture, added);
    }
    pfb_bytes_free(&generated);
    input_free(&in);
}

static void convert_all(convert *c)
{
    const options *o = c->o;
    ordered_file *files = file_order_by_time(o->files, o->file_count, o->kind);
    progress_begin(true);
    metadata_files_put(&c->metadata, c->titles.collector); /* reports the errors in the files */
    begin_deferring(c);
    sample_range_begin(&c->range, c->written_titles.collector, NULL);
    for (size_t i = 0; i < o->file_count && !output_failed(&c->out) && !c->has_failed; i++)
        convert_file(c, files[i].name);
    free(files);
    sample_range_end(&c->range);
    if (!c->has_failed && c->is_deferring && diagnostics_status() == STATUS_FINE)
        diagnostics_say(STATUS_USAGE, "perfblock", "the files have no such counters and instances");
    else if (!c->has_failed && diagnostics_status() == STATUS_FINE)
        open_output(c); /* the files have no chunks: the output is an empty capture */
    if (c->is_open && c->is_text)
        text_writer_close(&c->text);
}

void convert_files(const options *o, bool is_text)
{
    convert c = {.o = o, .is_text = is_text, .range = o->range};
    path_list paths;
    output_open(&c.out, OUTPUT_TEXT, false);
    title_names_open(&c.titles, o->names, &o->reader);
    title_names_open(&c.written_titles, NULL, &o->reader);
    metadata_files_open(&c.metadata, o);
    c.filter.collector = c.titles.collector;
    if (path_list_choose(&paths, c.titles.collector, o, &c.is_filtered))
        convert_all(&c);
    path_list_free(&paths);
    output_file_close(o, &c.out);
    filter_v1_free(&c.filter);
    metadata_files_close(&c.metadata);
    title_names_close(&c.written_titles);
    title_names_close(&c.titles);
    pfb_bytes_free(&c.deferred);
    pfb_bytes_free(&c.chunk);
    pfb_bytes_free(&c.reduced);
    pfb_bytes_free(&c.info);
    pfb_bytes_free(&c.table);
}
