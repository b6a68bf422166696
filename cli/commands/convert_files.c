/* SPDX-License-Identifier: MIT */
#include "commands/convert_files.h"

#include "collect/collecting.h"
#include "collect/extract.h"
#include "collect/paths.h"
#include "commands/output_file.h"
#include "convert/filter_v1.h"
#include "convert/make_capture.h"
#include "convert/text_writer.h"
#include "input/merge.h"
#include "memory/memory.h"
#include "names/v1.h"
#include "output/diagnostics.h"
#include "perfblock/log.h"
#include "perfblock/v1.h"
#include "values/series.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { ENGLISH = 9 }; /* the language id of the name tables that this command adds */

/* An input file that is open. */
typedef struct conversion {
    merge_file *f;
    title_scan titles, written_titles; /* while the file is not the chosen one */
    bool is_refused;                   /* the file has nothing for a capture, which was reported */
    bool is_begun;                     /* the chunks before the first sample were put */
    bool is_joined;                    /* its V2 replies belong to the series of the output */
    bool has_v2_reply;                 /* a V2 reply was put */
    bool *has_own;            /* by file of --registration and --query-info: the file has this metadata itself */
    pfb_bytes held;           /* a capture of the chunks before the next sample, see handle_metadata() */
    size_t held_base;         /* where its first byte would be in the file if the file is a capture */
    pfb_bytes recorded_info;  /* the query information of the next V2 reply, as it was read */
    pfb_bytes info;           /* the part of it that was put last */
    bool has_names;           /* text form: the name tables of the whole capture were put */
    uint64_t objects, others; /* .blg: items that are whole objects, and others */
    /* The choice of V2 replies. */
    pfb_bytes metadata; /* a capture of the metadata in which counters are found */
    series_list keys;   /* what `metadata` contains */
    bool has_v2;        /* the file has V2 replies or registrations */
    bool has_instances; /* `metadata` has a V2 reply with instances */
    bool is_scanned;    /* `metadata` has that of the whole file; of a .blg, the names of the whole file were read */
    bool has_filter;    /* `source`, `choice` and `extract` are open ... */
    bool is_outdated;   /* ... but `metadata` has changed since */
    bool has_info;      /* chosen query information was put */
    collecting source;
    selection choice;
    extract extract;
} conversion;

typedef struct convert {
    const options *o;
    bool is_text;     /* the output is in text form */
    bool is_filtered; /* the options choose counters or instances */
    output out;
    bool is_open;       /* the output file was opened */
    bool has_failed;    /* nothing more is written */
    bool has_file;      /* a file with something for a capture was read */
    bool is_deferring;  /* chunks are stored in `deferred` until the first chosen value or sample */
    bool has_own_table; /* the name table of --names was written */
    title_names titles; /* its collector has the chosen counters */
    title_names
        written_titles; /* the names that the text form has so far; its collector also chooses samples by time */
    sample_range range;
    metadata_files metadata;
    filter_v1 filter;
    text_writer text;
    merge merge;
    conversion **files; /* the open files, by their numbers; null for a number that is free */
    size_t file_count, file_capacity;
    size_t chosen;                      /* number of the file that is chosen in the collectors */
    pfb_bytes info;                     /* the query information that was written last */
    pfb_bytes series_info;              /* of the latest V2 reply of the output: its query information, ... */
    pfb_collector_clocks series_clocks; /* ... and its clocks */
    size_t joined_count;                /* open files whose V2 replies belong to that series */
    pfb_bytes deferred;                 /* a capture of the chunks that are deferred */
    pfb_bytes chunk, reduced, body, record, table; /* temporary; kept to reuse their memory */
} convert;

/* A chunk of a file, or one that was made from another part of it. */
typedef struct piece {
    pfb_chunk chunk;
    const uint8_t *body;
    size_t size;
    size_t base;        /* offset of the body in the file */
    const uint8_t *raw; /* the chunk with its header and padding; null if it was made */
    size_t raw_size;
    bool is_added; /* from another file, or part of a record: its errors are not reported */
} piece;

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
static void write_unchanged(convert *c, const piece *p)
{
    const pfb_chunk unknown = {.tag = 0};
    if (c->is_text || !p->raw)
        write_chunk(c, p->chunk.is_known || !p->raw ? &p->chunk : &unknown, p->body, p->size);
    else if (open_output(c))
        output_raw(&c->out, (const char *)p->raw, p->raw_size);
}

/* The piece of a chunk that is in `size` bytes at `data`, which begin at `base` of the file. */
static piece piece_of_chunk(const pfb_chunk *chunk, const uint8_t *data, size_t size, size_t base)
{
    size_t raw_size = (chunk->body_offset + chunk->body_size_bytes - chunk->offset + 7) / 8 * 8;
    size_t left = size - chunk->offset;
    return (piece){.chunk = *chunk,
                   .body = data + chunk->body_offset,
                   .size = chunk->body_size_bytes,
                   .base = base + chunk->body_offset,
                   .raw = data + chunk->offset,
                   .raw_size = raw_size < left ? raw_size : left};
}

/* Appends a chunk to a capture in memory. */
static void store(pfb_bytes *capture, const piece *p)
{
    if (!p->raw)
        make_capture_put(capture, &p->chunk, p->body, p->size);
    else if (!pfb_bytes_append(capture, p->raw, p->raw_size))
        memory_exhausted();
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
        const piece p = piece_of_chunk(&chunk, c->deferred.data, c->deferred.size_bytes, 0);
        if (chunk.tag != PFB_TAG_CAPTURE)
            write_unchanged(c, &p);
    }
    pfb_bytes_free(&c->deferred);
}

/* Writes a chunk, or defers it. */
static void put(convert *c, const pfb_chunk *chunk, const uint8_t *body, size_t size)
{
    if (c->is_deferring)
        store(&c->deferred, &(piece){.chunk = *chunk, .body = body, .size = size});
    else
        write_chunk(c, chunk, body, size);
}

static bool is_sample(const piece *p)
{
    return p->chunk.is_known && (p->chunk.tag == PFB_TAG_DATA || p->chunk.tag == PFB_TAG_V1);
}

static void copy(pfb_bytes *to, const uint8_t *data, size_t size)
{
    to->size_bytes = 0;
    if (!pfb_bytes_reserve(to, size + 1) || !pfb_bytes_append(to, data, size))
        memory_exhausted();
}

static bool is_equal(const pfb_bytes *a, const pfb_bytes *b)
{
    return a->size_bytes == b->size_bytes && (a->size_bytes == 0 || memcmp(a->data, b->data, a->size_bytes) == 0);
}

/* Before a V2 reply: puts its query information again if that of another file was put since. */
static void put_own_info(convert *c, const conversion *v)
{
    if (v->info.size_bytes == 0 || is_equal(&v->info, &c->info))
        return;
    put(c, &(pfb_chunk){.tag = PFB_TAG_QUERY_INFO}, v->info.data, v->info.size_bytes);
    copy(&c->info, v->info.data, v->info.size_bytes);
}

/* Notes the query information that was put. */
static void set_info(convert *c, conversion *v, const uint8_t *info, size_t size)
{
    copy(&v->info, info, size);
    copy(&c->info, info, size);
}

/* Writes a chunk with its bytes unchanged, or defers it. A sample ends deferring. */
static void put_unchanged(convert *c, conversion *v, const piece *p)
{
    if (is_sample(p))
        write_deferred(c);
    if (p->chunk.is_known && p->chunk.tag == PFB_TAG_DATA)
        put_own_info(c, v);
    if (p->chunk.is_known && p->chunk.tag == PFB_TAG_QUERY_INFO)
        set_info(c, v, p->body, p->size);
    if (c->is_deferring)
        store(&c->deferred, p);
    else
        write_unchanged(c, p);
}

/* ---- Names of V1 titles ---------------------------------------------------------------------------------- */

/* Puts a name table with the names that the chosen part of a V1 block needs and that were not put yet. */
static void put_names(convert *c)
{
    if (filter_v1_names(&c->filter, &c->table))
        put(c, &(pfb_chunk){.tag = PFB_TAG_NAMES, .language = ENGLISH}, c->table.data, c->table.size_bytes);
}

/* Puts the table of --names: once, in the text form for each file, because there it applies to that file. */
static void put_own_table(convert *c)
{
    if (c->titles.file.data && (c->is_text || !c->has_own_table))
        put(c, &(pfb_chunk){.tag = PFB_TAG_NAMES, .language = ENGLISH}, c->titles.file.data, c->titles.file.size);
    c->has_own_table = true;
}

/* ---- The whole file -------------------------------------------------------------------------------------- */

/* Prepares to read a file from its start while it is being read. False if that is not possible: it comes from a pipe.
 * Otherwise the caller calls end_second_pass(). */
static bool begin_second_pass(const merge_file *f, input *in)
{
    *in = f->in;
    bool is_whole = f->in.offset == 0 && f->in.is_last;
    return is_whole || (f->in.can_reopen && input_open(in, f->in.name, f->in.kind, false));
}

static void end_second_pass(const merge_file *f, input *in)
{
    if (in->data != f->in.data)
        input_free(in);
}

/* Stores a chunk of metadata, and the first V2 reply with instances, among which the chosen ones are found. */
static void add_metadata(conversion *v, const pfb_chunk *chunk, const uint8_t *body)
{
    pfb_v2_reader reader;
    pfb_v2_result result;
    pfb_v2_instance instance;
    if (v->metadata.size_bytes == 0)
        make_capture_put(&v->metadata, &(pfb_chunk){.tag = PFB_TAG_CAPTURE}, NULL, 0);
    if (recorded_metadata_add(&v->metadata, &v->keys, chunk, body))
        v->is_outdated = v->has_filter;
    v->has_v2 = v->has_v2 || (chunk->is_known && (chunk->tag == PFB_TAG_DATA || chunk->tag == PFB_TAG_REGISTRATION));
    if (!chunk->is_known || chunk->tag != PFB_TAG_DATA || v->has_instances)
        return;
    pfb_v2_open(&reader, body, chunk->body_size_bytes, NULL);
    while (!v->has_instances && pfb_v2_next_result(&reader, &result))
        v->has_instances = pfb_v2_next_instance(&reader, &instance);
    if (v->has_instances)
        make_capture_put(&v->metadata, chunk, body, chunk->body_size_bytes);
}

/* Scans a capture: adds its metadata if counters are chosen, and else, for text, puts all its name tables, because the
 * text form has each name where it is used. */
static void scan_capture(convert *c, conversion *v)
{
    pfb_capture capture;
    pfb_chunk chunk;
    input in;
    if ((!c->is_filtered && !c->is_text) || !begin_second_pass(v->f, &in))
        return;
    bool is_open = input_open_capture(&in, &capture);
    while (is_open) {
        while (pfb_capture_next_chunk(&capture, &chunk)) {
            const uint8_t *body = in.data + chunk.body_offset;
            if (c->is_filtered)
                add_metadata(v, &chunk, body);
            else if (chunk.is_known && chunk.tag == PFB_TAG_NAMES)
                put(c, &chunk, body, chunk.body_size_bytes);
        }
        is_open = input_continue_capture(&in, &capture);
    }
    v->is_scanned = v->has_names = true;
    end_second_pass(v->f, &in);
}

static void load_record(pfb_bytes *to, const pfb_log_reader *log, const pfb_log_record *record)
{
    if (!pfb_bytes_reserve(to, record->size_bytes + 1))
        memory_exhausted();
    to->size_bytes = pfb_log_copy_record(log, record, to->data, record->size_bytes);
}

/* Puts the table of a record of names, or holds it until the first object. */
static void put_log_names(convert *c, conversion *v, const pfb_log_reader *log, const pfb_log_record *record)
{
    const pfb_chunk chunk = {.tag = PFB_TAG_NAMES, .language = ENGLISH};
    pfb_log_names names;
    load_record(&c->record, log, record);
    if (pfb_log_read_names(c->record.data, c->record.size_bytes, &names).code != PFB_OK)
        return;
    const uint8_t *table = c->record.data + names.table_offset;
    title_names_add(&c->titles, 0, table, names.table_size_bytes);
    if (v->is_begun && !c->is_filtered)
        put(c, &chunk, table, names.table_size_bytes);
    else if (!v->is_begun && v->held.size_bytes == 0)
        make_capture_put(&v->held, &(pfb_chunk){.tag = PFB_TAG_CAPTURE}, NULL, 0);
    if (!v->is_begun)
        make_capture_put(&v->held, &chunk, table, names.table_size_bytes);
}

/* Holds the names of a .blg, which may follow the samples. */
static void scan_log(convert *c, conversion *v)
{
    pfb_log_reader log;
    pfb_log_record record;
    input in;
    if (!begin_second_pass(v->f, &in))
        return;
    bool is_open = input_open_log(&in, &log, &c->o->reader);
    while (is_open) {
        while (pfb_log_next_record(&log, &record)) {
            if (record.type == PFB_LOG_NAMES)
                put_log_names(c, v, &log, &record);
        }
        is_open = input_continue_log(&in, &log);
    }
    v->is_scanned = true;
    end_second_pass(v->f, &in);
}

/* ---- Filters --------------------------------------------------------------------------------------------- */

static void close_filter(conversion *v)
{
    if (!v->has_filter)
        return;
    selection_free(&v->choice);
    collecting_close(&v->source);
    v->has_filter = false;
}

/* Finds the chosen counters of the V2 replies, unless that was done with the same metadata. Without --set and paths,
 * counters of all countersets are chosen. False after a message. */
static bool open_filter(convert *c, conversion *v)
{
    static const char *any_set[] = {"*"};
    static const pfb_collector_options choices = {.is_raw = true};
    options o = *c->o;
    pfb_source_failure failure = {0};
    if (v->has_filter && !v->is_outdated)
        return true;
    close_filter(v);
    v->is_outdated = false;
    v->source = (collecting){.subject = v->f->in.name};
    v->source.source = pfb_source_open_recorded(v->metadata.data, v->metadata.size_bytes, &failure);
    if (!v->source.source) {
        diagnostics_say(STATUS_MALFORMED, v->f->in.name, "%s", failure.sentence);
        return false;
    }
    v->source.collector = pfb_collector_open(v->source.source, &choices, NULL);
    if (!v->source.collector)
        memory_exhausted();
    if (o.set_count == 0 && o.path_count == 0 && !o.path_file) {
        o.sets = any_set;
        o.set_count = 1;
    }
    v->has_filter = true;
    bool is_ok = collecting_add(&v->source, &o);
    if (is_ok)
        selection_open(&v->choice, v->source.collector);
    v->extract.choice = &v->choice;
    return is_ok;
}

/* Reports an error in a piece. */
static void report_error(const conversion *v, const piece *p, pfb_error error)
{
    error.offset += p->base;
    if (error.code != PFB_OK && !p->is_added)
        diagnostics_malformed(v->f->in.name, error);
}

/* Puts the chosen part of a registration reply or an instance list. */
static void filter_metadata(convert *c, conversion *v, const piece *p)
{
    const pfb_chunk *chunk = &p->chunk;
    const pfb_guid *set = &chunk->guid;
    pfb_error error = {PFB_OK, 0};
    if (!selection_has_set(&v->choice, set))
        return;
    if (chunk->request == PFB_REQUEST_COUNTER && !selection_has_counter(&v->choice, set, chunk->language))
        return;
    if (chunk->tag == PFB_TAG_INSTANCES)
        error = extract_instances(&v->extract, set, &c->body, &c->reduced);
    else
        error = extract_registration(&v->extract, set, chunk->request, &c->body, &c->reduced);
    report_error(v, p, error);
    if (error.code == PFB_OK && (c->reduced.size_bytes > 0 || c->body.size_bytes == 0))
        put(c, chunk, c->reduced.data, c->reduced.size_bytes);
}

/* Puts the chosen part of query information or of a V2 reply. Replies before the first chosen query are left out. Later
 * ones are put even without results: otherwise the samples before and after them would be compared with each other. */
static void filter_v2(convert *c, conversion *v, const piece *p)
{
    pfb_error error = {PFB_OK, 0};
    if (p->chunk.tag == PFB_TAG_QUERY_INFO) {
        report_error(v, p, extract_set_info(&v->extract, &c->body, &c->reduced));
        if (c->reduced.size_bytes == 0)
            return;
        v->has_info = true;
        put(c, &p->chunk, c->reduced.data, c->reduced.size_bytes);
        set_info(c, v, c->reduced.data, c->reduced.size_bytes);
        return;
    }
    pfb_v2_reader reader;
    pfb_v2_result result;
    pfb_v2_instance instance;
    bool has_reply = extract_sample(&v->extract, &c->body, &c->reduced, &error);
    report_error(v, p, error);
    if (!has_reply || !v->has_info)
        return;
    pfb_v2_open(&reader, c->reduced.data, c->reduced.size_bytes, NULL);
    while (c->is_deferring && pfb_v2_next_result(&reader, &result)) {
        if (pfb_v2_next_instance(&reader, &instance))
            write_deferred(c);
    }
    put_own_info(c, v);
    put(c, &p->chunk, c->reduced.data, c->reduced.size_bytes);
}

static void filter_v1_piece(convert *c, conversion *v, const piece *p)
{
    pfb_error error = {PFB_OK, 0};
    bool has_chosen = filter_v1_block(&c->filter, p->body, p->size, &c->reduced, &error);
    report_error(v, p, error);
    if (!has_chosen)
        return;
    write_deferred(c);
    put_names(c);
    put(c, &p->chunk, c->reduced.data, c->reduced.size_bytes);
}

/* Puts the chosen part of a chunk. Chunks without performance data or metadata are left out. */
static void put_chosen(convert *c, conversion *v, const piece *p)
{
    bool is_known = p->chunk.is_known;
    bool is_set = is_known && (p->chunk.tag == PFB_TAG_REGISTRATION || p->chunk.tag == PFB_TAG_INSTANCES);
    bool is_v2 = is_known && (p->chunk.tag == PFB_TAG_QUERY_INFO || p->chunk.tag == PFB_TAG_DATA);
    if (is_known && p->chunk.tag == PFB_TAG_V1)
        filter_v1_piece(c, v, p);
    if ((!is_set && !is_v2) || !v->has_v2)
        return;
    c->has_failed = c->has_failed || !open_filter(c, v);
    if (c->has_failed)
        return;
    copy(&c->body, p->body, p->size);
    if (is_set)
        filter_metadata(c, v, p);
    else
        filter_v2(c, v, p);
}

/* ---- Chunks ---------------------------------------------------------------------------------------------- */

/* Puts a chunk that precedes the first sample, or follows it. */
static void put_piece(convert *c, conversion *v, const piece *p)
{
    bool is_table = p->chunk.is_known && p->chunk.tag == PFB_TAG_NAMES;
    if (p->chunk.tag == PFB_TAG_CAPTURE || (c->is_text && is_table && (c->is_filtered || v->has_names)))
        return; /* the text form has name tables already, or put_names() puts them */
    if (c->is_filtered)
        put_chosen(c, v, p);
    else
        put_unchanged(c, v, p);
}

/* Puts the files of --registration and --query-info, of a capture only those that it lacks. */
static void put_metadata_files(convert *c, conversion *v)
{
    size_t count = 0;
    piece *pieces = memory_get(c->metadata.count + 1, sizeof *pieces);
    for (size_t i = 0; i < c->metadata.count; i++) {
        const metadata_file *file = &c->metadata.files[i];
        if (!file->in.data || v->has_own[i])
            continue;
        v->has_own[i] = true; /* from now on */
        piece *p = &pieces[count++];
        *p = (piece){
            .chunk = make_capture_chunk_of(file), .body = file->in.data, .size = file->in.size, .is_added = true};
        p->chunk.is_known = true;
        p->chunk.body_size_bytes = p->size;
        if (c->is_filtered)
            add_metadata(v, &p->chunk, p->body);
    }
    for (size_t i = 0; i < count; i++)
        put_piece(c, v, &pieces[i]);
    free(pieces);
}

/* Puts the chunks that are held. */
static void put_held(convert *c, conversion *v)
{
    pfb_capture capture;
    pfb_chunk chunk;
    if (v->held.size_bytes == 0)
        return;
    pfb_capture_open(&capture, v->held.data, v->held.size_bytes, NULL);
    while (!c->has_failed && pfb_capture_next_chunk(&capture, &chunk)) {
        piece p = piece_of_chunk(&chunk, v->held.data, v->held.size_bytes, v->held_base);
        p.is_added = v->f->in.kind == INPUT_LOG;
        put_piece(c, v, &p);
    }
    pfb_bytes_free(&v->held);
}

/* Puts what precedes a sample of a file. */
static void begin_sample(convert *c, conversion *v, bool is_v2)
{
    bool is_capture = v->f->in.kind == INPUT_CAPTURE;
    bool is_first_reply = is_v2 && !v->has_v2_reply;
    /* Later tables take precedence: that of --names over those of a capture, but those of a log over that of --names.
     */
    if (!v->is_begun && !c->is_filtered && (c->is_text || !is_capture))
        put_own_table(c);
    if (is_first_reply || (!v->is_begun && v->f->in.kind == INPUT_V1))
        put_metadata_files(c, v);
    v->is_begun = true;
    v->has_v2_reply = v->has_v2_reply || is_v2;
    put_held(c, v);
}

/* Notes the query information of the next V2 replies of a file. The collector that chooses samples by time counts the
 * replies of each query. */
static void set_recorded_info(convert *c, conversion *v, const uint8_t *info, size_t size)
{
    copy(&v->recorded_info, info, size);
    if (sample_range_is_given(&c->range) &&
        !pfb_collector_put_query_info(c->written_titles.collector, info, size, NULL, NULL))
        memory_exhausted();
}

/* Handles a chunk that is no sample: puts it, or holds it until the next sample. It is held before the first sample,
 * and always if a pipe is filtered: counters are found only after all chunks that describe them were read. */
static void handle_metadata(convert *c, conversion *v, const piece *p)
{
    const pfb_chunk *chunk = &p->chunk;
    for (size_t i = 0; i < c->metadata.count && chunk->is_known && !v->has_v2_reply; i++) {
        const pfb_chunk wanted = make_capture_chunk_of(&c->metadata.files[i]);
        if (chunk->tag == wanted.tag && chunk->request == wanted.request && pfb_guid_equal(&chunk->guid, &wanted.guid))
            v->has_own[i] = true;
    }
    if (chunk->is_known && chunk->tag == PFB_TAG_QUERY_INFO)
        set_recorded_info(c, v, p->body, p->size);
    if (c->is_filtered && chunk->is_known && chunk->tag == PFB_TAG_NAMES)
        title_names_add(&c->titles, p->base, p->body, p->size);
    if (c->is_filtered && !v->is_scanned)
        add_metadata(v, chunk, p->body);
    if (v->is_begun && (!c->is_filtered || v->is_scanned)) {
        put_piece(c, v, p);
        return;
    }
    if (v->held.size_bytes == 0) {
        make_capture_put(&v->held, &(pfb_chunk){.tag = PFB_TAG_CAPTURE}, NULL, 0);
        v->held_base = p->base - (size_t)(p->body - p->raw) - v->held.size_bytes;
    }
    store(&v->held, p);
}

/* Reports the errors in a sample. Those of filtered V2 replies are reported by the filter. */
static void check_sample(const convert *c, const conversion *v, const piece *p)
{
    pfb_v2_reader reader;
    if (p->is_added)
        return;
    if (p->chunk.tag == PFB_TAG_V1) {
        v1_report_errors(v->f->in.name, p->base, p->body, p->size, &c->o->reader);
    } else if (!c->is_filtered) {
        if (pfb_v2_open(&reader, p->body, p->size, &c->o->reader))
            pfb_v2_finish(&reader);
        report_error(v, p, reader.error);
    }
}

/* Returns false for a sample that --from, --to or --every leave out. */
static bool is_in_range(convert *c, const piece *p)
{
    if (!sample_range_is_given(&c->range))
        return true;
    do {
        if (!pfb_collector_put_sample(c->written_titles.collector, p->chunk.tag == PFB_TAG_V1 ? 1 : 2, p->body, p->size,
                                      NULL))
            memory_exhausted();
    } while (sample_range_repeats(&c->range, c->written_titles.collector));
    return !pfb_collector_reply(c->written_titles.collector).is_left_out;
}

/* Returns true if a V2 reply can be put next. The samples of a capture are compared in the order in which they are
 * stored, so files whose V2 replies form different series are written one after the other. */
static bool joins_series(convert *c, conversion *v, const piece *p)
{
    pfb_v2_reader reader;
    if (p->chunk.tag != PFB_TAG_DATA || !pfb_v2_open(&reader, p->body, p->size, NULL))
        return true;
    const pfb_collector_clocks clocks = {reader.perf_time, reader.perf_time_100ns, reader.perf_freq};
    if (!v->is_joined && c->joined_count > 0 &&
        (!is_equal(&c->series_info, &v->recorded_info) ||
         pfb_collector_compare_clocks(&c->series_clocks, &clocks, false) != 0))
        return false;
    c->joined_count += !v->is_joined;
    v->is_joined = true;
    c->series_clocks = clocks;
    if (!is_equal(&c->series_info, &v->recorded_info))
        copy(&c->series_info, v->recorded_info.data, v->recorded_info.size_bytes);
    return true;
}

static void handle_sample(convert *c, conversion *v, const piece *p)
{
    if (!joins_series(c, v, p)) {
        merge_put_off(&c->merge);
        return;
    }
    if (c->is_filtered && !v->is_scanned)
        add_metadata(v, &p->chunk, p->body);
    begin_sample(c, v, p->chunk.tag == PFB_TAG_DATA);
    if (!is_in_range(c, p))
        return;
    check_sample(c, v, p);
    if (!c->has_failed)
        put_piece(c, v, p);
}

/* ---- Items ----------------------------------------------------------------------------------------------- */

static void convert_chunk(convert *c, conversion *v)
{
    const merge_file *f = v->f;
    const piece p = piece_of_chunk(&f->chunk, f->in.data, f->in.size, (size_t)f->in.offset);
    if (f->is_sample)
        handle_sample(c, v, &p);
    else
        handle_metadata(c, v, &p);
    input_progress(&f->in, f->chunk.offset);
}

/* A V2 reply or V1 block that is not in a capture. After an error in its header no other block can be found. */
static void convert_block(convert *c, conversion *v)
{
    merge_file *f = v->f;
    pfb_v1_reader v1;
    pfb_v2_reader v2;
    piece p = {.chunk = {.tag = f->is_v1 ? PFB_TAG_V1 : PFB_TAG_DATA, .is_known = true},
               .body = f->in.data + f->at,
               .size = f->size,
               .base = (size_t)f->in.offset + f->at};
    p.chunk.body_size_bytes = p.size;
    if (p.size == 0) {
        const uint8_t *data = f->in.data + f->at;
        if (f->is_v1)
            pfb_v1_open(&v1, data, f->in.size - f->at, &c->o->reader);
        else
            pfb_v2_open(&v2, data, f->in.size - f->at, &c->o->reader);
        report_error(v, &p, f->is_v1 ? v1.error : v2.error);
        return;
    }
    handle_sample(c, v, &p);
    input_progress(&f->in, f->at);
}

/* A record of a .blg: its whole V1 objects, or names. */
static void convert_record(convert *c, conversion *v)
{
    merge_file *f = v->f;
    pfb_log_sample_reader sample;
    pfb_log_item item;
    pfb_v1_reader block;
    if (f->record.type == PFB_LOG_NAMES && !v->is_scanned)
        put_log_names(c, v, &f->log, &f->record);
    if (!f->is_sample)
        return;
    load_record(&c->record, &f->log, &f->record);
    if (!pfb_log_open_sample(&sample, c->record.data, c->record.size_bytes, &c->o->reader))
        return;
    while (pfb_log_next_item(&sample, &item)) {
        bool is_object = item.kind == PFB_LOG_OBJECT && item.block;
        v->objects += is_object;
        v->others += item.kind == PFB_LOG_COUNTER || item.kind == PFB_LOG_INSTANCES;
        if (!is_object)
            continue;
        pfb_v1_open(&block, item.block, item.block_size_bytes, NULL);
        if (block.total_size_bytes > 0 && f->record.time <= INT64_MAX / 2)
            f->bias = block.perf_time_100ns - (int64_t)f->record.time;
        const piece p = {.chunk = {.tag = PFB_TAG_V1, .is_known = true, .body_size_bytes = item.block_size_bytes},
                         .body = item.block,
                         .size = item.block_size_bytes,
                         .is_added = true};
        handle_sample(c, v, &p);
    }
    pfb_error error = pfb_log_finish_sample(&sample);
    error.offset = pfb_log_record_offset(&f->log, &f->record, error.offset);
    report_error(v, &(piece){.base = (size_t)f->in.offset}, error);
    input_progress(&f->in, f->record.offset);
}

/* ---- Files ----------------------------------------------------------------------------------------------- */

/* Makes the collectors and the names those of this file. Returns the state of the file. */
static conversion *choose_file(convert *c, merge_file *f)
{
    if (f->number >= c->file_count) {
        c->files = memory_grow(c->files, &c->file_capacity, f->number + 1, sizeof(conversion *));
        while (c->file_count <= f->number)
            c->files[c->file_count++] = NULL;
    }
    if (!c->files[f->number]) {
        c->files[f->number] = memory_get(1, sizeof(conversion));
        c->files[f->number]->f = f;
        c->files[f->number]->has_own = memory_get(c->metadata.count + 1, sizeof(bool));
    }
    if (f->number == c->chosen)
        return c->files[f->number];
    if (c->files[c->chosen]) {
        c->files[c->chosen]->titles = c->titles.scan;
        c->files[c->chosen]->written_titles = c->written_titles.scan;
    }
    c->chosen = f->number;
    c->titles.scan = c->files[f->number]->titles;
    c->written_titles.scan = c->files[f->number]->written_titles;
    if (!pfb_collector_choose_file(c->titles.collector, f->number, NULL) ||
        !pfb_collector_choose_file(c->written_titles.collector, f->number, NULL))
        memory_exhausted();
    return c->files[f->number];
}

static void begin_file(convert *c, conversion *v)
{
    const merge_file *f = v->f;
    title_names_begin(&c->titles);
    title_names_begin(&c->written_titles);
    v->is_refused = true;
    if (f->in.kind == INPUT_PDH_TEXT)
        diagnostics_say(STATUS_USAGE, f->in.name,
                        "has displayed values only, which cannot be converted to raw ones: convert it to json or csv");
    else if (f->in.kind == INPUT_NAMES)
        diagnostics_say(STATUS_USAGE, f->in.name, "is a name table, which is given with --names");
    else if (f->in.kind == INPUT_SNAPSHOTS || f->in.kind == INPUT_UNKNOWN)
        input_refuse(&f->in, "a capture, a perfmon log, V1 blocks, V2 data or samples in text form");
    else
        v->is_refused = false;
    if (v->is_refused) {
        merge_drop(&c->merge);
    } else if (f->in.kind == INPUT_CAPTURE) {
        title_names_look_ahead(&c->titles, &f->in);
        scan_capture(c, v);
    } else if (f->in.kind == INPUT_LOG) {
        scan_log(c, v);
    }
    for (size_t i = 0; i < c->metadata.count; i++) {
        const metadata_file *file = &c->metadata.files[i];
        if (file->in.data && file->request == 0)
            set_recorded_info(c, v, file->in.data, file->in.size);
    }
    c->has_file = c->has_file || !v->is_refused;
}

/* Reports what was left out, and the error of the file if it has one. */
static void end_file(convert *c, conversion *v)
{
    const merge_file *f = v->f;
    bool is_log = f->in.kind == INPUT_LOG && !v->is_refused;
    if (!v->is_refused && !is_log && v->held.size_bytes > 0)
        begin_sample(c, v, false);
    report_error(v, &(piece){.base = (size_t)f->in.offset}, f->error);
    if (is_log && v->objects == 0 && f->error.code == PFB_OK)
        diagnostics_say(
            STATUS_USAGE, f->in.name,
            "has no whole V1 objects: the counters of a perfmon log have neither GUIDs nor ids, so that only "
            "their values can be converted, to json or csv");
    else if (is_log && v->others > 0)
        diagnostics_say(STATUS_FINE, f->in.name,
                        "note: %" PRIu64 " counters of the log are no whole V1 objects and were left out", v->others);
    if (f->repeated > 0)
        diagnostics_note(f->in.name, f->repeated_at, "samples that another file has as well were left out: %" PRIu64,
                         f->repeated);
    c->joined_count -= v->is_joined;
    close_filter(v);
    extract_free(&v->extract);
    series_free(&v->keys);
    pfb_bytes_free(&v->metadata);
    pfb_bytes_free(&v->held);
    pfb_bytes_free(&v->recorded_info);
    pfb_bytes_free(&v->info);
    free(v->has_own);
    c->files[f->number] = NULL;
    free(v);
}

static void convert_item(convert *c, merge_file *f)
{
    conversion *v = choose_file(c, f);
    switch (f->item) {
    case MERGE_BEGIN:
        begin_file(c, v);
        break;
    case MERGE_CHUNK:
        convert_chunk(c, v);
        break;
    case MERGE_BLOCK:
        convert_block(c, v);
        break;
    case MERGE_TRAILING:
        diagnostics_note(f->in.name, (size_t)f->in.offset + f->at, "the bytes from here on belong to no block");
        break;
    case MERGE_RECORD:
        convert_record(c, v);
        break;
    case MERGE_ROW:
        break;
    case MERGE_END:
        end_file(c, v);
        break;
    }
}

static void convert_all(convert *c)
{
    const options *o = c->o;
    merge_file *f;
    progress_begin(true);
    metadata_files_put(&c->metadata, c->titles.collector); /* reports the errors in the files */
    begin_deferring(c);
    sample_range_begin(&c->range, c->written_titles.collector, NULL);
    merge_open(&c->merge, o->files, o->file_count, o->kind, false, &o->reader);
    while ((f = merge_next(&c->merge))) {
        convert_item(c, f);
        if (output_failed(&c->out) || c->has_failed)
            merge_stop(&c->merge);
    }
    merge_close(&c->merge);
    if (c->has_file && !c->is_filtered && !c->is_text && !c->has_failed)
        put_own_table(c);
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
    free(c.files);
    pfb_bytes_free(&c.info);
    pfb_bytes_free(&c.series_info);
    pfb_bytes_free(&c.deferred);
    pfb_bytes_free(&c.chunk);
    pfb_bytes_free(&c.reduced);
    pfb_bytes_free(&c.body);
    pfb_bytes_free(&c.record);
    pfb_bytes_free(&c.table);
}
