/* SPDX-License-Identifier: MIT */
#include "commands/convert_files.h"

#include "collect/collecting.h"
#include "collect/extract.h"
#include "collect/paths.h"
#include "commands/output_file.h"
#include "commands/seen_names.h"
#include "convert/filter_v1.h"
#include "input/merge.h"
#include "memory/chunk.h"
#include "memory/memory.h"
#include "names/metadata_files.h"
#include "names/v1.h"
#include "output/diagnostics.h"
#include "perfblock/log.h"
#include "perfblock/v1.h"
#include "values/series.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { ENGLISH = 9 }; /* the language id of the name tables that this command adds */

/* The path of a chunk from an input file to the output:
 *
 * 1. convert_item() receives the chunk from the merged input files.
 * 2. A sample outside of the range of the options is dropped.
 * 3. A chunk other than a sample is held in `held` if it precedes the first sample of its file. Only at that sample is
 *    it known which metadata the file lacks. The options may give that metadata; it is put before the held chunks.
 * 4. put_piece() puts the chunk unchanged or, if the options choose counters, only its chosen part.
 *
 * To "put" a chunk means to write it or to defer it. If the options choose counters or samples, the first chunks are
 * stored in `deferred` until a chosen value or sample is found. If none is found, no output is written. */

/* An input file that is open. */
typedef struct input_file {
    merge_file *merged;      /* the file and its current item */
    uint32_t serial;         /* among all input files, from 1 */
    bool has_early;          /* early names were added */
    bool is_refused;         /* the file cannot be converted, which was reported */
    bool is_in_output;       /* a chunk of this file was put, ... */
    uint32_t output_number;  /* ... and this is its number in FILE chunks of the output */
    bool has_v1_block;       /* a V1 block was put */
    bool has_names_file;     /* the name table of --names was put */
    pfb_bytes file_body;     /* of the FILE chunks of this file in the output */
    bool is_begun;           /* the chunks before the first sample were put */
    bool has_v2_reply;       /* a V2 reply was read */
    bool *has_metadata;      /* by file of --registration and --query-info: the input file contains this
                              * metadata, or it was put */
    pfb_bytes held;          /* a capture of the chunks that are held, see handle_metadata() */
    size_t held_base;        /* captures: offset in the file that corresponds to the start of `held` */
    pfb_bytes recorded_info; /* the query information of the next V2 reply, before it is reduced */
    pfb_bytes written_info;  /* the query information that was put last for this file; empty: none was put */
    uint64_t object_count;   /* .blg: number of items that are whole V1 objects */
    uint64_t other_count;    /* .blg: number of items that have one counter */
    bool has_parts;          /* the recording has other files */
    bool is_scanned;         /* the whole file was read in advance for its metadata (scan_capture(),
                              * scan_log()) */
    /* For choosing counters of V2 data. */
    pfb_bytes described;        /* a capture of the metadata in which the chosen counters are found */
    series_list described_keys; /* of the chunks in `described`, for recorded_metadata_add() */
    bool has_instances;         /* `described` has a V2 reply with instances */
    bool has_v2;                /* the file has V2 replies or registrations */
    bool has_v1;                /* the file has V1 blocks */
    bool has_filter;            /* `source`, `choice` and `extract` are open, and made from all metadata in
                                 * `described` */
    collecting source;
    selection choice;
    extract extract;
} input_file;

typedef struct convert {
    const options *o;
    bool is_filtered; /* the options choose counters or instances */
    output out;
    bool is_open;        /* the output file was opened */
    bool has_failed;     /* after an error, which was reported: nothing more is written */
    bool has_file;       /* a file that can be converted was read */
    bool is_deferring;   /* chunks are stored in `deferred` */
    bool has_v2;         /* a file has V2 replies or registrations */
    bool has_files;      /* the output has FILE chunks: there are several input files, or one with FILE chunks */
    bool has_names_file; /* the name table of --names was put, unless has_files */
    path_list paths;
    seen_names seen;    /* for the message if the files have nothing that the options choose */
    title_names titles; /* its collector has the chosen counters */
    sample_range range;
    pfb_collector *ranging;  /* chooses samples by the range */
    metadata_files metadata; /* of --registration and --query-info */
    filter_v1 filter;
    merge merge;
    input_file **files; /* the open files, by their numbers; null for a number that is free */
    size_t file_count, file_capacity;
    uint32_t last_serial;
    size_t chosen_number;                          /* number of the file that is chosen in the collectors */
    uint32_t output_count;                         /* of files of which chunks were put */
    uint32_t output_file;                          /* number of the file that the next chunk of the output belongs to */
    pfb_bytes ended;                               /* FILE chunks of files that have ended, put before the next chunk */
    pfb_bytes written_info;                        /* the query information that was put last, for any file */
    pfb_bytes deferred;                            /* a capture of the first chunks of the output */
    pfb_bytes chunk, reduced, body, record, table; /* temporary; members so that their memory is reused */
} convert;

/* A chunk of a file, or a chunk that was made from a block, a log record or a file of the options. */
typedef struct piece {
    pfb_chunk chunk;
    const uint8_t *body;
    size_t size;
    size_t base;        /* offset of the body in the file */
    const uint8_t *raw; /* the chunk with its header and padding; null for a chunk that was made */
    size_t raw_size;
    bool is_added; /* from a file of the options or a log record: its errors are reported elsewhere */
} piece;

/* ---- The output ------------------------------------------------------------------------------------------ */

/* Opens the output unless it is open. Called when the first chunk is written, so that an input that cannot be read does
 * not replace an existing file. */
static bool open_output(convert *c)
{
    if (c->is_open || c->has_failed)
        return c->is_open;
    c->is_open = output_file_open(c->o);
    c->has_failed = !c->is_open;
    if (c->is_open) {
        chunk_append(&c->chunk, &(pfb_chunk){.tag = PFB_TAG_CAPTURE}, NULL, 0);
        output_raw(&c->out, (const char *)c->chunk.data, c->chunk.size_bytes);
    }
    return c->is_open;
}

static void write_chunk(convert *c, const pfb_chunk *chunk, const uint8_t *body, size_t size)
{
    if (!open_output(c))
        return;
    c->chunk.size_bytes = 0;
    chunk_append(&c->chunk, chunk, body, size);
    output_raw(&c->out, (const char *)c->chunk.data, c->chunk.size_bytes);
}

/* Writes a chunk of any tag and version without changing its bytes. */
static void write_unchanged(convert *c, const piece *p)
{
    if (!p->raw)
        write_chunk(c, &p->chunk, p->body, p->size);
    else if (open_output(c))
        output_raw(&c->out, (const char *)p->raw, p->raw_size);
}

/* Returns the piece of a chunk. `data` and `size` are the bytes that the offsets of the chunk refer to, `base` is their
 * offset in the file. */
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
        chunk_append(capture, &p->chunk, p->body, p->size);
    else if (!pfb_bytes_append(capture, p->raw, p->raw_size))
        memory_exhausted();
}

/* Begins to defer chunks if the options choose counters or samples. */
static void begin_deferring(convert *c)
{
    c->is_deferring = c->is_filtered || sample_range_is_given(&c->range);
    if (c->is_deferring)
        chunk_append(&c->deferred, &(pfb_chunk){.tag = PFB_TAG_CAPTURE}, NULL, 0);
}

/* Writes the deferred chunks, and ends deferring. */
static void write_deferred(convert *c)
{
    pfb_capture capture;
    pfb_chunk chunk;
    if (!c->is_deferring)
        return;
    c->is_deferring = false;
    pfb_capture_open(&capture, c->deferred.data, c->deferred.size_bytes, true, NULL);
    while (pfb_capture_next_chunk(&capture, &chunk)) {
        const piece p = piece_of_chunk(&chunk, c->deferred.data, c->deferred.size_bytes, 0);
        if (chunk.tag != PFB_TAG_CAPTURE)
            write_unchanged(c, &p);
    }
    pfb_bytes_free(&c->deferred);
}

static void put_chunk(convert *c, const piece *p)
{
    if (c->is_deferring)
        store(&c->deferred, p);
    else
        write_unchanged(c, p);
}

static void put_file_chunk(convert *c, uint32_t number, const pfb_bytes *body)
{
    put_chunk(c, &(piece){.chunk = {.tag = PFB_TAG_FILE, .is_known = true, .file = number},
                          .body = body->data,
                          .size = body->size_bytes});
}

/* Call before a chunk of the chosen file is put. Puts a FILE chunk if the previous chunk is of another file, so that
 * readers do not compare samples that must not be compared. The first file has number 0, to which chunks before the
 * first FILE chunk belong. */
static void choose_output_file(convert *c)
{
    input_file *file = c->files[c->chosen_number];
    static const pfb_bytes end = {0};
    if (!file) /* after the last one */
        return;
    if (!file->is_in_output)
        file->output_number = c->output_count++;
    file->is_in_output = true;
    if (!c->has_files || c->output_file == file->output_number)
        return;
    for (size_t at = 0; at < c->ended.size_bytes; at += sizeof(uint32_t)) {
        uint32_t number;
        memcpy(&number, c->ended.data + at, sizeof number);
        put_file_chunk(c, number, &end);
    }
    c->ended.size_bytes = 0;
    c->output_file = file->output_number;
    put_file_chunk(c, c->output_file, &file->file_body);
}

/* Writes a chunk, or defers it. */
static void put(convert *c, const pfb_chunk *chunk, const uint8_t *body, size_t size)
{
    choose_output_file(c);
    put_chunk(c, &(piece){.chunk = *chunk, .body = body, .size = size});
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

/* Call before a V2 reply of a file is put. If the query information of another file was put last, puts that of this
 * file again. */
static void put_info_again(convert *c, const input_file *file)
{
    if (file->written_info.size_bytes == 0 || is_equal(&file->written_info, &c->written_info))
        return;
    put(c, &(pfb_chunk){.tag = PFB_TAG_QUERY_INFO}, file->written_info.data, file->written_info.size_bytes);
    copy(&c->written_info, file->written_info.data, file->written_info.size_bytes);
}

/* Stores the query information that was put last, for this file and for all files together. */
static void set_written_info(convert *c, input_file *file, const uint8_t *info, size_t size)
{
    copy(&file->written_info, info, size);
    copy(&c->written_info, info, size);
}

/* Writes a chunk with its bytes unchanged, or defers it. A sample is not deferred: it ends deferring. */
static void put_unchanged(convert *c, input_file *file, const piece *p)
{
    if (is_sample(p))
        write_deferred(c);
    if (p->chunk.is_known && p->chunk.tag == PFB_TAG_DATA)
        put_info_again(c, file);
    if (p->chunk.is_known && p->chunk.tag == PFB_TAG_QUERY_INFO)
        set_written_info(c, file, p->body, p->size);
    file->has_v1_block = file->has_v1_block || (p->chunk.is_known && p->chunk.tag == PFB_TAG_V1);
    choose_output_file(c);
    put_chunk(c, p);
}

/* ---- Names of V1 titles ---------------------------------------------------------------------------------- */

/* Puts a name table for the chosen part of a V1 block. The table has only names that were not put before. */
static void put_names(convert *c)
{
    if (filter_v1_names(&c->filter, &c->table))
        put(c, &(pfb_chunk){.tag = PFB_TAG_NAMES, .language = ENGLISH}, c->table.data, c->table.size_bytes);
}

/* Puts the table of --names: once in a capture without FILE chunks, else again for each file, because each has names
 * of its own. */
static void put_names_file(convert *c)
{
    bool *has_table = c->has_files ? &c->files[c->chosen_number]->has_names_file : &c->has_names_file;
    if (c->titles.file.data && !*has_table)
        put(c, &(pfb_chunk){.tag = PFB_TAG_NAMES, .language = ENGLISH}, c->titles.file.data, c->titles.file.size);
    *has_table = true;
}

/* ---- Reading in advance -------------------------------------------------------------------------------------- */

/* Prepares to read a whole file in advance: uses the window if it has the whole file, else opens the file a second
 * time. Returns false if that is not possible because the file is a pipe, and after an error. After true, the caller
 * must call end_scan(). */
static bool begin_scan(const merge_file *f, input *in)
{
    *in = f->in;
    bool is_whole = f->in.offset == 0 && f->in.is_last;
    return is_whole || (f->in.can_reopen && input_open(in, f->in.name, f->in.kind, false));
}

static void end_scan(const merge_file *f, input *in)
{
    if (in->data != f->in.data)
        input_free(in);
}

static void close_filter(input_file *file)
{
    if (!file->has_filter)
        return;
    selection_free(&file->choice);
    collecting_close(&file->source);
    file->has_filter = false;
}

/* Stores a chunk of metadata in `described`, and the first V2 reply with instances, in which the chosen instances are
 * found. New metadata may describe more counters, so the filter is closed; open_filter() finds the counters again. */
static void add_described(input_file *file, const pfb_chunk *chunk, const uint8_t *body)
{
    pfb_v2_reader reader;
    pfb_v2_result result;
    pfb_v2_instance instance;
    if (file->described.size_bytes == 0)
        chunk_append(&file->described, &(pfb_chunk){.tag = PFB_TAG_CAPTURE}, NULL, 0);
    if (recorded_metadata_add(&file->described, &file->described_keys, chunk, body))
        close_filter(file);
    file->has_v2 =
        file->has_v2 || (chunk->is_known && (chunk->tag == PFB_TAG_DATA || chunk->tag == PFB_TAG_REGISTRATION));
    file->has_v1 = file->has_v1 || (chunk->is_known && chunk->tag == PFB_TAG_V1);
    if (!chunk->is_known || chunk->tag != PFB_TAG_DATA || file->has_instances)
        return;
    pfb_v2_open(&reader, body, chunk->body_size_bytes, NULL);
    while (!file->has_instances && pfb_v2_next_result(&reader, &result))
        file->has_instances = pfb_v2_next_instance(&reader, &instance);
    if (file->has_instances)
        chunk_append(&file->described, chunk, body, chunk->body_size_bytes);
}

/* If counters are chosen, reads a capture in advance; if it has several files, the first one. Adds its metadata to
 * `described`. */
static void scan_capture(convert *c, input_file *file)
{
    pfb_capture_files files;
    pfb_capture capture;
    pfb_chunk chunk;
    input in;
    if (!c->is_filtered || !begin_scan(file->merged, &in))
        return;
    pfb_capture_files_open(&files);
    const uint64_t first = files.file;
    bool is_open = input_open_capture(&in, &capture);
    while (is_open && input_next_chunk(&in, &capture, &chunk)) {
        while (pfb_capture_files_next(&files, &chunk) != PFB_CAPTURE_CHUNK)
            file->has_parts = true;
        if (files.file == first)
            add_described(file, &chunk, in.data + chunk.body_offset);
    }
    file->is_scanned = true;
    end_scan(file->merged, &in);
}

static void load_record(pfb_bytes *to, const pfb_log_reader *log, const pfb_log_record *record)
{
    if (!pfb_bytes_reserve(to, record->size_bytes + 1))
        memory_exhausted();
    to->size_bytes = pfb_log_copy_record(log, record, to->data, record->size_bytes);
}

/* Adds the name table of a record of a .blg to the title names. Holds the table until the first V1 object; after that
 * object, puts it, unless the options choose counters: then put_names() puts the chosen names. */
static void put_log_names(convert *c, input_file *file, const pfb_log_reader *log, const pfb_log_record *record)
{
    const pfb_chunk chunk = {.tag = PFB_TAG_NAMES, .language = ENGLISH};
    pfb_log_names names;
    load_record(&c->record, log, record);
    if (pfb_log_read_names(c->record.data, c->record.size_bytes, &names).code != PFB_OK)
        return;
    const uint8_t *table = c->record.data + names.table_offset;
    title_names_add(&c->titles, table, names.table_size_bytes);
    if (file->is_begun && !c->is_filtered)
        put(c, &chunk, table, names.table_size_bytes);
    else if (!file->is_begun && file->held.size_bytes == 0)
        chunk_append(&file->held, &(pfb_chunk){.tag = PFB_TAG_CAPTURE}, NULL, 0);
    if (!file->is_begun)
        chunk_append(&file->held, &chunk, table, names.table_size_bytes);
}

/* Reads a .blg in advance and holds its names, which may be stored after the samples that need them. */
static void scan_log(convert *c, input_file *file)
{
    pfb_log_reader log;
    pfb_log_record record;
    input in;
    if (!begin_scan(file->merged, &in))
        return;
    bool is_open = input_open_log(&in, &log, &c->o->reader);
    while (is_open && input_next_record(&in, &log, &record)) {
        if (record.type == PFB_LOG_NAMES)
            put_log_names(c, file, &log, &record);
    }
    file->is_scanned = true;
    end_scan(file->merged, &in);
}

/* ---- Filters --------------------------------------------------------------------------------------------- */

/* Finds the chosen counters of the V2 replies in `described`, unless that was done. Without --set and paths, counters
 * of all countersets are chosen. A name that matches nothing is an error, unless it may match in another file, in V1
 * objects or in chunks that were not read yet. Returns false after an error, which was reported. */
static bool open_filter(convert *c, input_file *file)
{
    static const char *any_set[] = {"*"};
    static const pfb_collector_options raw = {.is_raw = true};
    options o = *c->o;
    pfb_source_failure failure = {0};
    if (file->has_filter)
        return true;
    file->source = (collecting){.subject = file->merged->in.name, .skips_machines = true};
    file->source.source = pfb_source_open_recorded(file->described.data, file->described.size_bytes, &failure);
    if (!file->source.source) {
        diagnostics_say(STATUS_MALFORMED, file->merged->in.name, "%s", failure.sentence);
        return false;
    }
    file->source.collector = pfb_collector_open(file->source.source, &raw, NULL);
    if (!file->source.collector)
        memory_exhausted();
    if (o.set_count == 0 && o.path_count == 0 && o.path_file_count == 0) {
        o.sets = any_set;
        o.set_count = 1;
    }
    file->has_filter = true;
    bool may_be_elsewhere = o.file_count > 1 || file->has_v1 || !file->is_scanned || file->has_parts;
    bool is_ok = may_be_elsewhere ? collecting_add_found(&file->source, &o) : collecting_add(&file->source, &o);
    if (may_be_elsewhere && c->is_deferring)
        seen_names_add_metadata(&c->seen, file->source.collector);
    if (is_ok)
        selection_open(&file->choice, file->source.collector);
    file->extract.choice = &file->choice;
    return is_ok;
}

/* Reports an error in a piece, if there is one. error.offset counts from the start of the body. */
static void report_error(const input_file *file, const piece *p, pfb_error error)
{
    error.offset += p->base;
    if (error.code != PFB_OK && !p->is_added)
        diagnostics_malformed(file->merged->in.name, error);
}

/* Puts the chosen part of a registration reply or an instance list. */
static void filter_metadata(convert *c, input_file *file, const piece *p)
{
    const pfb_chunk *chunk = &p->chunk;
    const pfb_guid *set = &chunk->guid;
    pfb_error error = {PFB_OK, 0};
    if (!selection_has_set(&file->choice, set))
        return;
    /* The language of a request for one counter is the id of that counter. */
    if (chunk->request == PFB_REQUEST_COUNTER && !selection_has_counter(&file->choice, set, chunk->language))
        return;
    if (chunk->tag == PFB_TAG_INSTANCES)
        error = extract_instances(&file->extract, set, &c->body, &c->reduced);
    else
        error = extract_registration(&file->extract, set, chunk->request, &c->body, &c->reduced);
    report_error(file, p, error);
    if (error.code == PFB_OK && (c->reduced.size_bytes > 0 || c->body.size_bytes == 0))
        put(c, chunk, c->reduced.data, c->reduced.size_bytes);
}

/* Puts the chosen part of query information or of a V2 reply. Replies before the first query information with a chosen
 * counter are left out. Later replies are put even if no result is chosen: otherwise the samples before and after them
 * would be compared with each other. */
static void filter_v2(convert *c, input_file *file, const piece *p)
{
    pfb_error error = {PFB_OK, 0};
    if (p->chunk.tag == PFB_TAG_QUERY_INFO) {
        report_error(file, p, extract_set_info(&file->extract, &c->body, &c->reduced));
        if (c->reduced.size_bytes == 0)
            return;
        put(c, &p->chunk, c->reduced.data, c->reduced.size_bytes);
        set_written_info(c, file, c->reduced.data, c->reduced.size_bytes);
        return;
    }
    pfb_v2_reader reader;
    pfb_v2_result result;
    pfb_v2_instance instance;
    bool has_reply = extract_sample(&file->extract, &c->body, &c->reduced, &error);
    if (!c->o->reader.is_strict)
        report_error(file, p, error);
    if (!has_reply || file->written_info.size_bytes == 0)
        return;
    pfb_v2_open(&reader, c->reduced.data, c->reduced.size_bytes, NULL);
    while (c->is_deferring && pfb_v2_next_result(&reader, &result)) { /* a chosen instance ends deferring */
        if (pfb_v2_next_instance(&reader, &instance))
            write_deferred(c);
    }
    put_info_again(c, file);
    put(c, &p->chunk, c->reduced.data, c->reduced.size_bytes);
}

static void filter_v1_piece(convert *c, input_file *file, const piece *p)
{
    pfb_error error = {PFB_OK, 0};
    if (c->is_deferring)
        seen_names_add_block(&c->seen, &c->titles, p->body, p->size);
    bool has_chosen = filter_v1_block(&c->filter, p->body, p->size, &c->reduced, &error);
    report_error(file, p, error);
    if (!has_chosen)
        return;
    write_deferred(c);
    put_names(c);
    put(c, &p->chunk, c->reduced.data, c->reduced.size_bytes);
}

/* Puts the chosen part of a chunk. Chunks other than V1 blocks, V2 replies and their metadata are left out. */
static void put_chosen(convert *c, input_file *file, const piece *p)
{
    bool is_known = p->chunk.is_known;
    bool is_set = is_known && (p->chunk.tag == PFB_TAG_REGISTRATION || p->chunk.tag == PFB_TAG_INSTANCES);
    bool is_v2 = is_known && (p->chunk.tag == PFB_TAG_QUERY_INFO || p->chunk.tag == PFB_TAG_DATA);
    if (is_known && p->chunk.tag == PFB_TAG_V1)
        filter_v1_piece(c, file, p);
    if ((!is_set && !is_v2) || !file->has_v2)
        return;
    c->has_failed = c->has_failed || !open_filter(c, file);
    if (c->has_failed)
        return;
    copy(&c->body, p->body, p->size);
    if (is_set)
        filter_metadata(c, file, p);
    else
        filter_v2(c, file, p);
}

/* ---- Chunks ---------------------------------------------------------------------------------------------- */

/* Puts a chunk, or its chosen part if counters are chosen. */
static void put_piece(convert *c, input_file *file, const piece *p)
{
    if (p->chunk.tag == PFB_TAG_CAPTURE)
        return;
    if (c->is_filtered)
        put_chosen(c, file, p);
    else
        put_unchanged(c, file, p);
}

/* Puts the files of --registration and --query-info, except those whose metadata the input file contains. */
static void put_metadata_files(convert *c, input_file *file)
{
    size_t count = 0;
    piece *pieces = memory_get(c->metadata.count + 1, sizeof *pieces);
    for (size_t i = 0; i < c->metadata.count; i++) {
        const metadata_file *extra = &c->metadata.files[i];
        if (!extra->in.data || file->has_metadata[i])
            continue;
        file->has_metadata[i] = true;
        piece *p = &pieces[count++];
        *p = (piece){
            .chunk = metadata_file_chunk(extra), .body = extra->in.data, .size = extra->in.size, .is_added = true};
        p->chunk.is_known = true;
        p->chunk.body_size_bytes = p->size;
        if (c->is_filtered)
            add_described(file, &p->chunk, p->body);
    }
    /* Put only now, because the chosen counters may be described in any of the files. */
    for (size_t i = 0; i < count; i++)
        put_piece(c, file, &pieces[i]);
    free(pieces);
}

/* Puts the chunks that are held. */
static void put_held(convert *c, input_file *file)
{
    pfb_capture capture;
    pfb_chunk chunk;
    if (file->held.size_bytes == 0)
        return;
    pfb_capture_open(&capture, file->held.data, file->held.size_bytes, true, NULL);
    while (!c->has_failed && pfb_capture_next_chunk(&capture, &chunk)) {
        piece p = piece_of_chunk(&chunk, file->held.data, file->held.size_bytes, file->held_base);
        p.is_added = file->merged->in.kind == INPUT_LOG;
        put_piece(c, file, &p);
    }
    pfb_bytes_free(&file->held);
}

/* Puts the chunks that must precede the next sample of a file: the table of --names, the metadata of the options and
 * the chunks that are held. */
static void begin_sample(convert *c, input_file *file, bool is_v2)
{
    bool is_capture = file->merged->in.kind == INPUT_CAPTURE;
    bool is_first_reply = is_v2 && !file->has_v2_reply;
    /* Of several name tables, the last takes precedence. The table of --names is put before the tables of a log, so
     * that the names of the log take precedence. It is put after the tables of a capture, in convert_all(). */
    if (!file->is_begun && !c->is_filtered && !is_capture)
        put_names_file(c);
    if (is_first_reply || (!file->is_begun && file->merged->in.kind == INPUT_V1))
        put_metadata_files(c, file);
    file->is_begun = true;
    file->has_v2_reply = file->has_v2_reply || is_v2;
    put_held(c, file);
}

/* Stores the query information of the next V2 replies of a file. Also passes it to the collector that chooses samples
 * by time, because --every counts the replies of each query separately. */
static void set_recorded_info(convert *c, input_file *file, const uint8_t *info, size_t size)
{
    copy(&file->recorded_info, info, size);
    if (sample_range_is_given(&c->range) && !pfb_collector_put_query_info(c->ranging, info, size, NULL, NULL))
        memory_exhausted();
}

/* Adds a name table of a capture, unless add_early_metadata() has added it. */
static void add_names(convert *c, const input_file *file, const piece *p)
{
    if (!file->has_early || p->base >= file->merged->early.end)
        title_names_add(&c->titles, p->body, p->size);
}

/* Returns the piece of a chunk that follows the first sample of its file. */
static piece early_piece(const merge_file *f, size_t position)
{
    piece p = {.is_added = true};
    p.body = early_metadata_body(&f->early, position, &p.chunk);
    p.size = p.chunk.body_size_bytes;
    return p;
}

/* Call before the first sample of a file is filtered. Adds the metadata that follows this sample, so that names and
 * counters are found. */
static void add_early_metadata(convert *c, input_file *file)
{
    merge_file *f = file->merged;
    size_t first;
    early_metadata_search(&f->early, &f->in);
    size_t count = early_metadata_of_file(&f->early, f->parts.file, &first);
    for (size_t i = first; i < first + count; i++) {
        const piece p = early_piece(f, i);
        if (p.chunk.tag == PFB_TAG_NAMES)
            title_names_add(&c->titles, p.body, p.size);
        else if (!file->is_scanned)
            add_described(file, &p.chunk, p.body);
    }
}

/* Puts query information that follows the first sample of a file before this sample, which is reduced with it. */
static void put_early_info(convert *c, input_file *file)
{
    const merge_file *f = file->merged;
    size_t first;
    size_t count = early_metadata_of_file(&f->early, f->parts.file, &first);
    for (size_t i = first; i < first + count; i++) {
        const piece p = early_piece(f, i);
        if (p.chunk.tag != PFB_TAG_QUERY_INFO || metadata_files_have(&c->metadata, &p.chunk))
            continue;
        set_recorded_info(c, file, p.body, p.size);
        put_piece(c, file, &p);
    }
}

/* Handles a chunk that is not a sample: puts it, or holds it until the next sample. Chunks before the first sample of
 * the file are always held. If counters of a pipe are chosen, chunks before later samples are held as well: the
 * counters are found only after all chunks that describe them were read, and a pipe cannot be read in advance. */
static void handle_metadata(convert *c, input_file *file, const piece *p)
{
    const pfb_chunk *chunk = &p->chunk;
    for (size_t i = 0; i < c->metadata.count && chunk->is_known && !file->has_v2_reply; i++) {
        const pfb_chunk wanted = metadata_file_chunk(&c->metadata.files[i]);
        if (chunk->tag == wanted.tag && chunk->request == wanted.request && pfb_guid_equal(&chunk->guid, &wanted.guid))
            file->has_metadata[i] = true;
    }
    if (chunk->is_known && chunk->tag == PFB_TAG_QUERY_INFO)
        set_recorded_info(c, file, p->body, p->size);
    if (c->is_filtered && chunk->is_known && chunk->tag == PFB_TAG_NAMES)
        add_names(c, file, p);
    if (c->is_filtered && !file->is_scanned)
        add_described(file, chunk, p->body);
    if (file->is_begun && (!c->is_filtered || file->is_scanned)) {
        put_piece(c, file, p);
        return;
    }
    if (file->held.size_bytes == 0) {
        /* Held chunks have the same distances in `held` as in the file, so one base applies to all of them. */
        chunk_append(&file->held, &(pfb_chunk){.tag = PFB_TAG_CAPTURE}, NULL, 0);
        file->held_base = p->base - (size_t)(p->body - p->raw) - file->held.size_bytes;
    }
    store(&file->held, p);
}

/* Reports the errors in a sample. If counters are chosen, filter_v2() reports the errors in V2 replies instead, except
 * with --strict, because the functions that it calls tolerate what --strict rejects. */
static void check_sample(const convert *c, const input_file *file, const piece *p)
{
    pfb_v2_reader reader;
    const pfb_read_options *reading = &c->o->reader;
    if (p->is_added)
        return;
    if (p->chunk.tag == PFB_TAG_V1) {
        size_t used = v1_report_errors(file->merged->in.name, p->base, p->body, p->size, reading);
        report_error(file, p, input_trailing_bytes(reading, p->raw ? used : 0, p->size));
    } else if (!c->is_filtered || c->o->reader.is_strict) {
        if (pfb_v2_open(&reader, p->body, p->size, reading))
            pfb_v2_finish(&reader);
        bool is_valid = reader.error.code == PFB_OK;
        size_t used = p->raw ? reader.total_size_bytes : 0;
        report_error(file, p, is_valid ? input_trailing_bytes(reading, used, p->size) : reader.error);
    }
}

/* Returns false for a sample that --from, --to or --every leaves out. The first sample may be put into the collector
 * twice (sample_range_repeats()). */
static bool is_in_range(convert *c, const piece *p)
{
    if (!sample_range_is_given(&c->range))
        return true;
    do {
        if (!pfb_collector_put_sample(c->ranging, p->chunk.tag == PFB_TAG_V1 ? 1 : 2, p->body, p->size, NULL))
            memory_exhausted();
    } while (sample_range_repeats(&c->range, c->ranging));
    return !pfb_collector_reply(c->ranging).is_left_out;
}

static void handle_sample(convert *c, input_file *file, const piece *p)
{
    if (c->is_filtered && !file->is_scanned)
        add_described(file, &p->chunk, p->body);
    bool is_first = c->is_filtered && !file->has_early && file->merged->in.kind == INPUT_CAPTURE;
    file->has_early = file->has_early || is_first;
    if (is_first)
        add_early_metadata(c, file);
    begin_sample(c, file, p->chunk.tag == PFB_TAG_DATA);
    if (is_first)
        put_early_info(c, file);
    if (!is_in_range(c, p))
        return;
    check_sample(c, file, p);
    if (!c->has_failed)
        put_piece(c, file, p);
}

/* ---- Items ----------------------------------------------------------------------------------------------- */

static void convert_chunk(convert *c, input_file *file)
{
    const merge_file *f = file->merged;
    const piece p = piece_of_chunk(&f->chunk, f->in.data, f->in.size, (size_t)f->in.offset);
    if (f->is_sample)
        handle_sample(c, file, &p);
    else
        handle_metadata(c, file, &p);
    input_progress(&f->in, f->chunk.offset);
}

/* Converts a V2 reply or V1 block that is not in a capture. If its header is malformed, reports the error. */
static void convert_block(convert *c, input_file *file)
{
    merge_file *f = file->merged;
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
        report_error(file, &p, f->is_v1 ? v1.error : v2.error);
        return;
    }
    handle_sample(c, file, &p);
    input_progress(&f->in, f->at);
}

/* Converts a record of a .blg: puts its whole V1 objects as V1 blocks, or its names. Other counters have neither GUIDs
 * nor title indexes, so a capture cannot contain them. */
static void convert_record(convert *c, input_file *file)
{
    merge_file *f = file->merged;
    pfb_log_sample_reader sample;
    pfb_log_item item;
    pfb_v1_reader block;
    if (f->record.type == PFB_LOG_NAMES && !file->is_scanned)
        put_log_names(c, file, &f->log, &f->record);
    if (!f->is_sample)
        return;
    load_record(&c->record, &f->log, &f->record);
    if (!pfb_log_open_sample(&sample, c->record.data, c->record.size_bytes, &c->o->reader))
        return;
    while (pfb_log_next_item(&sample, &item)) {
        bool is_object = item.kind == PFB_LOG_OBJECT && item.block;
        file->object_count += is_object;
        file->other_count += item.kind == PFB_LOG_COUNTER || item.kind == PFB_LOG_INSTANCES;
        if (!is_object)
            continue;
        pfb_v1_open(&block, item.block, item.block_size_bytes, NULL);
        /* The block has its time in UTC, so the bias of the log's local times is known exactly from here on. */
        if (block.total_size_bytes > 0 && f->record.time <= INT64_MAX / 2)
            f->bias = block.perf_time_100ns - (int64_t)f->record.time;
        const piece p = {.chunk = {.tag = PFB_TAG_V1, .is_known = true, .body_size_bytes = item.block_size_bytes},
                         .body = item.block,
                         .size = item.block_size_bytes,
                         .is_added = true};
        handle_sample(c, file, &p);
    }
    pfb_error error = sample.error;
    error.offset = pfb_log_record_offset(&f->log, &f->record, error.offset);
    report_error(file, &(piece){.base = (size_t)f->in.offset}, error);
    input_progress(&f->in, f->record.offset);
}

/* ---- Files ----------------------------------------------------------------------------------------------- */

/* Chooses the file in both collectors, together with its title names. Returns the state of the file. */
static input_file *choose_file(convert *c, merge_file *f)
{
    if (f->number >= c->file_count) {
        c->files = memory_grow(c->files, &c->file_capacity, f->number + 1, sizeof(input_file *));
        while (c->file_count <= f->number)
            c->files[c->file_count++] = NULL;
    }
    if (!c->files[f->number]) {
        c->files[f->number] = memory_get(1, sizeof(input_file));
        c->files[f->number]->merged = f;
        c->files[f->number]->serial = ++c->last_serial;
        c->files[f->number]->has_metadata = memory_get(c->metadata.count + 1, sizeof(bool));
    }
    c->filter.file = c->has_files ? c->files[f->number]->serial : 0;
    if (f->number == c->chosen_number)
        return c->files[f->number];
    c->chosen_number = f->number;
    if (!pfb_collector_choose_file(c->titles.collector, f->number, NULL) ||
        !pfb_collector_choose_file(c->ranging, f->number, NULL))
        memory_exhausted();
    return c->files[f->number];
}

/* Begins a file, or another file of a recording. */
static void begin_part(convert *c, input_file *file)
{
    const merge_file *f = file->merged;
    pfb_capture_file texts = {.label = chunk_file_label(f->in.name)};
    title_names_begin(&c->titles);
    pfb_collector_begin_file(c->ranging);
    if (f->item == MERGE_BEGIN_PART && f->chunk.tag == PFB_TAG_FILE) {
        const uint8_t *body = f->in.data + f->chunk.body_offset;
        report_error(file, &(piece){.base = (size_t)f->in.offset + f->chunk.body_offset},
                     pfb_capture_read_file(body, f->chunk.body_size_bytes, &texts));
    }
    file->file_body.size_bytes = pfb_capture_write_file(&texts, NULL, 0);
    if (!pfb_bytes_reserve(&file->file_body, file->file_body.size_bytes))
        memory_exhausted();
    pfb_capture_write_file(&texts, file->file_body.data, file->file_body.size_bytes);
    for (size_t i = 0; i < c->metadata.count; i++) {
        const metadata_file *extra = &c->metadata.files[i];
        if (extra->in.data && extra->request == 0)
            set_recorded_info(c, file, extra->in.data, extra->in.size);
    }
}

static void begin_file(convert *c, input_file *file)
{
    const merge_file *f = file->merged;
    begin_part(c, file);
    file->is_refused = true;
    if (f->in.kind == INPUT_PDH_TEXT)
        diagnostics_say(STATUS_USAGE, f->in.name,
                        "has displayed values only, which cannot be converted to raw ones: convert it to json or csv");
    else if (f->in.kind == INPUT_NAMES)
        diagnostics_say(STATUS_USAGE, f->in.name, "is a name table, which is given with --names");
    else if (f->in.kind == INPUT_SNAPSHOTS || f->in.kind == INPUT_UNKNOWN)
        input_refuse(&f->in, "a capture, a perfmon log, V1 blocks or V2 data");
    else
        file->is_refused = false;
    if (file->is_refused) {
        merge_drop(&c->merge);
    } else if (f->in.kind == INPUT_CAPTURE) {
        scan_capture(c, file);
    } else if (f->in.kind == INPUT_LOG) {
        scan_log(c, file);
    }
    c->has_file = c->has_file || !file->is_refused;
}

/* Ends a file, or one of several files of a recording, and frees its state. */
static void end_part(convert *c, input_file *file)
{
    const merge_file *f = file->merged;
    if (c->has_files && file->has_v1_block && !c->is_filtered && !c->has_failed)
        put_names_file(c);
    if (file->is_in_output && !pfb_bytes_append(&c->ended, &file->output_number, sizeof file->output_number))
        memory_exhausted();
    if (!f->in.can_reopen)
        seen_names_end_pipe(&c->seen, &c->titles);
    close_filter(file);
    extract_free(&file->extract);
    series_free(&file->described_keys);
    pfb_bytes_free(&file->described);
    pfb_bytes_free(&file->held);
    pfb_bytes_free(&file->recorded_info);
    pfb_bytes_free(&file->written_info);
    pfb_bytes_free(&file->file_body);
    free(file->has_metadata);
    c->files[f->number] = NULL;
    free(file);
}

/* Puts the chunks that are still held, but not the names of a log without V1 objects. */
static void put_rest(convert *c, input_file *file)
{
    c->has_v2 = c->has_v2 || file->has_v2;
    if (!file->is_refused && file->merged->in.kind != INPUT_LOG && file->held.size_bytes > 0)
        begin_sample(c, file, false);
}

/* Reports the parts of the file that were left out, and the error of the file if it has one. */
static void end_file(convert *c, input_file *file)
{
    const merge_file *f = file->merged;
    bool is_log = f->in.kind == INPUT_LOG && !file->is_refused;
    put_rest(c, file);
    report_error(file, &(piece){.base = (size_t)f->in.offset}, f->error);
    if (is_log && file->object_count == 0 && f->error.code == PFB_OK)
        diagnostics_say(
            STATUS_USAGE, f->in.name,
            "has no whole V1 objects: the counters of a perfmon log have neither GUIDs nor ids, so that only "
            "their values can be converted, to json or csv");
    else if (is_log && file->other_count > 0)
        diagnostics_say(STATUS_FINE, f->in.name,
                        "note: %" PRIu64 " items of the log's samples are not whole V1 objects and were left out",
                        file->other_count);
    if (f->repeated > 0)
        diagnostics_note(f->in.name, f->repeated_at, "samples that another file has as well were left out: %" PRIu64,
                         f->repeated);
    end_part(c, file);
}

static void convert_item(convert *c, merge_file *f)
{
    input_file *file = choose_file(c, f);
    c->has_files = c->has_files || f->item == MERGE_BEGIN_PART || f->item == MERGE_END_PART;
    switch (f->item) {
    case MERGE_BEGIN:
        begin_file(c, file);
        break;
    case MERGE_BEGIN_PART:
        begin_part(c, file);
        break;
    case MERGE_CHUNK:
        convert_chunk(c, file);
        break;
    case MERGE_BLOCK:
        convert_block(c, file);
        break;
    case MERGE_TRAILING:
        input_report_trailing(&f->in, f->at, &c->o->reader);
        break;
    case MERGE_RECORD:
        convert_record(c, file);
        break;
    case MERGE_ROW:
        break;
    case MERGE_END_PART:
        put_rest(c, file);
        end_part(c, file);
        break;
    case MERGE_END:
        end_file(c, file);
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
    c->has_files = o->file_count > 1;
    sample_range_begin(&c->range, c->ranging, NULL);
    merge_open(&c->merge, o->files, o->file_count, o->kind, false, &o->reader);
    while ((f = merge_next(&c->merge))) {
        convert_item(c, f);
        if (output_failed(&c->out) || c->has_failed)
            merge_stop(&c->merge);
    }
    merge_close(&c->merge);
    if (c->has_file && !c->is_filtered && !c->has_files && !c->has_failed)
        put_names_file(c);
    if (!c->has_failed) /* otherwise the files were not read to their ends */
        sample_range_end(&c->range);
    bool is_empty = !c->has_failed && c->is_deferring && diagnostics_status() == STATUS_FINE;
    if (c->seen.is_late && !c->has_failed)
        title_names_report_late("perfblock", !c->is_deferring);
    else if (is_empty && seen_names_check(&c->seen, "perfblock"))
        diagnostics_say(STATUS_USAGE, "perfblock", "the files have no such %s%s",
                        c->is_filtered ? "counters and instances" : "samples",
                        path_list_machines(&c->paths, c->has_v2));
    if (!is_empty && !c->has_failed && diagnostics_status() == STATUS_FINE)
        open_output(c); /* creates the output even if it has no chunks */
}

void convert_files(const options *o)
{
    const pfb_collector_options reading = {.reader = o->reader};
    convert c = {.o = o, .range = o->range, .ranging = pfb_collector_open(NULL, &reading, NULL)};
    if (!c.ranging)
        memory_exhausted();
    output_open(&c.out, OUTPUT_TEXT, false);
    title_names_open(&c.titles, o->names, &o->reader);
    metadata_files_open(&c.metadata, o);
    c.filter.collector = c.titles.collector;
    if (path_list_choose(&c.paths, c.titles.collector, o, &c.is_filtered)) {
        seen_names_open(&c.seen, &c.paths, o);
        convert_all(&c);
        seen_names_close(&c.seen);
    }
    path_list_free(&c.paths);
    output_file_close(o, &c.out);
    filter_v1_free(&c.filter);
    metadata_files_close(&c.metadata);
    pfb_collector_close(c.ranging);
    title_names_close(&c.titles);
    free(c.files);
    pfb_bytes_free(&c.written_info);
    pfb_bytes_free(&c.deferred);
    pfb_bytes_free(&c.ended);
    pfb_bytes_free(&c.chunk);
    pfb_bytes_free(&c.reduced);
    pfb_bytes_free(&c.body);
    pfb_bytes_free(&c.record);
    pfb_bytes_free(&c.table);
}
