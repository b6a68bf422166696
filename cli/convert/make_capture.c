/* SPDX-License-Identifier: MIT */
#include "convert/make_capture.h"

#include "memory/memory.h"
#include "names/v1.h"
#include "output/diagnostics.h"
#include "perfblock/log.h"
#include "perfblock/v1.h"

#include <inttypes.h>
#include <stdlib.h>

enum { ENGLISH = 9 };

void make_capture_put(pfb_bytes *capture, const pfb_chunk *chunk, const void *body, size_t size)
{
    size_t needed = pfb_capture_write(chunk, body, size, NULL, 0);
    if (needed == 0 || needed > SIZE_MAX - capture->size_bytes ||
        !pfb_bytes_reserve(capture, capture->size_bytes + needed))
        memory_exhausted();
    pfb_capture_write(chunk, body, size, capture->data + capture->size_bytes, needed);
    capture->size_bytes += needed;
}

static void report_error(const input *in, size_t base, pfb_error error)
{
    error.offset += base;
    if (error.code != PFB_OK)
        diagnostics_malformed(in->name, error);
}

/* ---- Blocks ---------------------------------------------------------------------------------------------- */

/* The header of the chunk for a metadata file. */
static pfb_chunk chunk_of(const metadata_file *file)
{
    return (pfb_chunk){.tag = file->request > 0 ? PFB_TAG_REGISTRATION : PFB_TAG_QUERY_INFO,
                       .guid = file->set,
                       .request = file->request};
}

static void put_metadata(const metadata_files *metadata, pfb_bytes *capture)
{
    for (size_t i = 0; i < metadata->count; i++) {
        const metadata_file *file = &metadata->files[i];
        const pfb_chunk chunk = chunk_of(file);
        if (file->in.data)
            make_capture_put(capture, &chunk, file->in.data, file->in.size);
    }
}

/* Returns true if a capture has V2 samples, and before the first of them no chunk with the same metadata as `wanted`.
 */
static bool is_missing(const input *in, const pfb_chunk *wanted)
{
    pfb_capture capture;
    pfb_chunk chunk;
    pfb_capture_open(&capture, in->data, in->size, NULL);
    while (pfb_capture_next_chunk(&capture, &chunk)) {
        if (!chunk.is_known)
            continue;
        if (chunk.tag == PFB_TAG_DATA)
            return true;
        if (chunk.tag == wanted->tag && chunk.request == wanted->request && pfb_guid_equal(&chunk.guid, &wanted->guid))
            return false;
    }
    return false;
}

size_t make_capture_complete(const input *in, const metadata_files *metadata, pfb_bytes *capture)
{
    for (size_t i = 0; i < metadata->count; i++) {
        const metadata_file *file = &metadata->files[i];
        const pfb_chunk chunk = chunk_of(file);
        if (!file->in.data || !is_missing(in, &chunk))
            continue;
        if (capture->size_bytes == 0)
            make_capture_put(capture, &(pfb_chunk){.tag = PFB_TAG_CAPTURE}, NULL, 0);
        make_capture_put(capture, &chunk, file->in.data, file->in.size);
    }
    size_t added = capture->size_bytes;
    if (added > 0 && !pfb_bytes_append(capture, in->data, in->size))
        memory_exhausted();
    return added;
}

/* Adds the chunk of the V2 reply or V1 block at offset `at`. Returns the size of the block, or 0 after reporting an
 * error in its header. */
static size_t put_block(const input *in, bool is_v1, size_t at, const pfb_read_options *reader, pfb_bytes *capture)
{
    const uint8_t *data = in->data + at;
    size_t size = in->size - at;
    pfb_v1_reader v1;
    pfb_v2_reader v2;
    bool is_open = is_v1 ? pfb_v1_open(&v1, data, size, reader) : pfb_v2_open(&v2, data, size, reader);
    if (!is_open) {
        report_error(in, at, is_v1 ? v1.error : v2.error);
        return 0;
    }
    size_t total = is_v1 ? v1.total_size_bytes : v2.total_size_bytes;
    if (is_v1)
        v1_report_errors(in->name, at, data, size, reader);
    else
        report_error(in, at, pfb_v2_finish(&v2));
    make_capture_put(capture, &(pfb_chunk){.tag = is_v1 ? PFB_TAG_V1 : PFB_TAG_DATA}, data,
                     total < size ? total : size);
    return total < size ? total : size;
}

static void put_blocks(input *in, const pfb_read_options *reader, pfb_bytes *capture)
{
    input_blocks blocks = {0};
    input_part part = INPUT_PART_END;
    while ((part = input_next_part(in, &blocks)) != INPUT_PART_END) {
        if (part == INPUT_PART_TRAILING) {
            diagnostics_note(in->name, blocks.at, "the bytes from here on belong to no block");
            continue;
        }
        size_t size = put_block(in, part == INPUT_PART_V1, blocks.at, reader, capture);
        blocks.has_ended = size == 0;
        blocks.at += size;
    }
}

/* ---- Logs ------------------------------------------------------------------------------------------------ */

typedef struct log_objects {
    const input *in;
    const pfb_read_options *reader;
    pfb_bytes record;
    pfb_bytes names;          /* the name table of the log */
    uint64_t objects, others; /* items that are whole objects, and others */
} log_objects;

static void load_record(log_objects *l, const pfb_log_reader *log, const pfb_log_record *record)
{
    if (!pfb_bytes_reserve(&l->record, record->size_bytes + 1))
        memory_exhausted();
    l->record.size_bytes = pfb_log_copy_record(log, record, l->record.data, record->size_bytes);
}

static void add_names(log_objects *l)
{
    pfb_log_names names;
    pfb_error error = pfb_log_read_names(l->record.data, l->record.size_bytes, &names);
    if (error.code == PFB_OK &&
        !pfb_bytes_append(&l->names, l->record.data + names.table_offset, names.table_size_bytes))
        memory_exhausted();
}

/* Adds the chunks of the whole V1 objects in a sample. */
static void put_objects(log_objects *l, const pfb_log_reader *log, const pfb_log_record *record, pfb_bytes *capture)
{
    pfb_log_sample_reader sample;
    pfb_log_item item;
    if (!pfb_log_open_sample(&sample, l->record.data, l->record.size_bytes, l->reader))
        return;
    while (pfb_log_next_item(&sample, &item)) {
        bool is_object = item.kind == PFB_LOG_OBJECT && item.block;
        l->objects += is_object;
        l->others += item.kind == PFB_LOG_COUNTER || item.kind == PFB_LOG_INSTANCES;
        if (is_object)
            make_capture_put(capture, &(pfb_chunk){.tag = PFB_TAG_V1}, item.block, item.block_size_bytes);
    }
    report_error(l->in, pfb_log_record_offset(log, record, sample.error.offset),
                 (pfb_error){.code = pfb_log_finish_sample(&sample).code});
}

/* Handles the records of one type. Returns the error of the log. */
static pfb_error read_records(log_objects *l, uint32_t type, pfb_bytes *capture)
{
    pfb_log_reader log;
    pfb_log_record record;
    pfb_log_open(&log, l->in->data, l->in->size, l->reader);
    while (pfb_log_next_record(&log, &record)) {
        if (record.type != type)
            continue;
        load_record(l, &log, &record);
        if (type == PFB_LOG_NAMES)
            add_names(l);
        else
            put_objects(l, &log, &record, capture);
    }
    return log.error;
}

/* The name table is read first, because a log may store it after its samples. */
static bool put_log(const input *in, const pfb_read_options *reader, pfb_bytes *capture)
{
    log_objects l = {.in = in, .reader = reader};
    read_records(&l, PFB_LOG_NAMES, capture);
    if (l.names.size_bytes > 0)
        make_capture_put(capture, &(pfb_chunk){.tag = PFB_TAG_NAMES, .language = ENGLISH}, l.names.data,
                         l.names.size_bytes);
    pfb_error error = read_records(&l, PFB_LOG_SAMPLE, capture);
    report_error(in, 0, error);
    if (l.objects == 0 && error.code == PFB_OK)
        diagnostics_say(
            STATUS_USAGE, in->name,
            "has no whole V1 objects: the counters of a perfmon log have neither GUIDs nor ids, so that only "
            "their values can be converted, to json or csv");
    else if (l.others > 0)
        diagnostics_say(STATUS_FINE, in->name,
                        "note: %" PRIu64 " counters of the log are no whole V1 objects and were left out", l.others);
    pfb_bytes_free(&l.record);
    pfb_bytes_free(&l.names);
    return l.objects > 0;
}

bool make_capture(input *in, const metadata_files *metadata, const pfb_read_options *reader, pfb_bytes *capture)
{
    make_capture_put(capture, &(pfb_chunk){.tag = PFB_TAG_CAPTURE}, NULL, 0);
    switch (in->kind) {
    case INPUT_LOG:
        return put_log(in, reader, capture);
    case INPUT_PDH_TEXT:
        diagnostics_say(STATUS_USAGE, in->name,
                        "has displayed values only, which cannot be converted to raw ones: convert it to json or csv");
        return false;
    case INPUT_NAMES:
        diagnostics_say(STATUS_USAGE, in->name, "is a name table, which is given with --names");
        return false;
    case INPUT_SNAPSHOTS:
    case INPUT_UNKNOWN:
        input_refuse(in, "a capture, a perfmon log, V1 blocks, V2 data or samples in text form");
        return false;
    default:
        put_metadata(metadata, capture);
        put_blocks(in, reader, capture);
        return true;
    }
}
