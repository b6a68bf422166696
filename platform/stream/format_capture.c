/* SPDX-License-Identifier: MIT */
/* Recordings (.pfb). Chunks that nobody reads are skipped without being read. Names and registrations that follow the
 * samples of their part are found and returned in advance. */
#include "stream/early.h"

#include "perfblock/capture.h"
#include "perfblock/catalog.h"
#include "perfblock/v1.h"
#include "perfblock/v2.h"

#include <stdlib.h>
#include <string.h>

/* What was read of a part. */
enum { PART_V2 = 1, PART_REGISTRATIONS = 2, PART_INFO = 4, PART_EARLY = 8 };

/* Title indexes below this are looked at to find out whether a name table comes too late; others hardly occur. */
enum { MAX_TITLE = 1 << 16 };

typedef struct capture_state {
    pfb_capture reader;
    pfb_capture_files parts;
    pfb_chunk chunk;
    bool has_chunk; /* `chunk` was read, and it may begin or end further parts before it is returned */
    bool is_ending; /* all chunks were read: the parts that are open end */
    bool is_open;
    uint64_t skipped; /* if the window waits: bytes of the chunk that is skipped, ... */
    bool is_later;    /* ... which has a later version */
    bool is_cut;      /* the file ends inside a chunk that is skipped, which begins at cut_offset */
    uint64_t cut_offset;
    uint8_t seen[PFB_CAPTURE_MAX_FILES]; /* PART_ bits of each open part */

    early_metadata early; /* metadata that follows samples */
    bool is_early;        /* that of the current part is returned before its first sample, which is `chunk` */

    /* For notes. */
    uint64_t later_count, later_first; /* chunks of a later version; offset of the first one */
    uint64_t late_count, late_first;   /* chunks with metadata that came too late */
    /* Of a pipe, bits by title index, of the part that has begun last: titles with a name; titles of V1 objects and
     * counters that were returned before they had one. */
    uint8_t named[MAX_TITLE / 8], unnamed[MAX_TITLE / 8];
} capture_state;

/* ---- Metadata of pipes ----------------------------------------------------------------------------------- */

static void note_title(capture_state *state, uint32_t title)
{
    if (title < MAX_TITLE && !(state->named[title / 8] >> title % 8 & 1))
        state->unnamed[title / 8] |= (uint8_t)(1u << title % 8);
}

/* Notes the titles of a V1 block that have no name yet. */
static void note_titles(capture_state *state, const pfb_record *record, const pfb_read_options *options)
{
    pfb_v1_reader block;
    pfb_v1_object object;
    pfb_v1_counter counter;
    pfb_v1_open(&block, record->bytes, (size_t)record->byte_count, options);
    while (pfb_v1_next_object(&block, &object)) {
        note_title(state, object.title_index);
        while (pfb_v1_next_counter(&block, &counter))
            note_title(state, counter.title_index);
    }
}

/* Notes the titles that a table names. Returns true if samples that needed one of the names precede it. */
static bool note_names(capture_state *state, const pfb_record *record, const pfb_read_options *options)
{
    pfb_name_table table;
    pfb_name_entry entry;
    bool is_late = false;
    pfb_name_table_open(&table, record->bytes, (size_t)record->byte_count, options);
    while (pfb_name_table_next_entry(&table, &entry)) {
        if (entry.index >= MAX_TITLE)
            continue;
        uint8_t bit = (uint8_t)(1u << entry.index % 8);
        is_late = is_late || (state->unnamed[entry.index / 8] & bit);
        state->unnamed[entry.index / 8] &= (uint8_t)~bit;
        state->named[entry.index / 8] |= bit;
    }
    return is_late;
}

/* Begins a part, whose titles have the names that the caller has given. */
static void begin_names(file_input *file)
{
    capture_state *state = file->state;
    const pfb_stream *stream = file->input->stream;
    if (file->bytes.can_seek)
        return;
    memset(state->named, 0, sizeof state->named);
    memset(state->unnamed, 0, sizeof state->unnamed);
    for (size_t i = 0; i < stream->given_count; i++) {
        if (stream->given[i].kind == PFB_RECORD_NAMES)
            note_names(state, &stream->given[i], &stream->reader);
    }
}

/* Returns true for metadata that follows samples that need it: names of titles that had none; a registration or query
 * information, unless the part has had one before, the caller has given it, or the catalog knows the counterset. */
static bool is_late(file_input *file, const pfb_record *record)
{
    capture_state *state = file->state;
    const pfb_read_options *options = &file->input->stream->reader;
    uint8_t *seen = &state->seen[state->parts.slot];
    uint8_t before = *seen;
    bool is_known = pfb_given_has(file->input->stream, record);
    switch (record->kind) {
    case PFB_RECORD_V1:
        note_titles(state, record, options);
        return false;
    case PFB_RECORD_NAMES:
        return note_names(state, record, options);
    case PFB_RECORD_V2:
        *seen |= PART_V2;
        return false;
    case PFB_RECORD_REGISTRATION:
        *seen |= PART_REGISTRATIONS;
        return !is_known && (before & PART_V2) && !(before & PART_REGISTRATIONS) && !pfb_catalog_find(&record->set);
    case PFB_RECORD_QUERY_INFO:
        *seen |= PART_INFO;
        return !is_known && (before & PART_V2) && !(before & PART_INFO);
    default:
        return false;
    }
}

static void count_late(file_input *file, const pfb_record *record)
{
    capture_state *state = file->state;
    if (!file->bytes.can_seek && is_late(file, record) && state->late_count++ == 0)
        state->late_first = record->offset;
}

/* ---- Opening --------------------------------------------------------------------------------------------- */

static int32_t open_capture(file_input *file)
{
    capture_state *state = file->state;
    stream_window *window = &file->window;
    pfb_capture_files_open(&state->parts);
    while (window->is_waiting || !pfb_capture_open(&state->reader, window->data, window->size, window->is_last, NULL)) {
        if (!window->is_waiting && state->reader.error.code != PFB_CALLER_TOO_SMALL) {
            pfb_file_malformed(file, state->reader.error.offset, state->reader.error.code);
            return PFB_NEXT_END;
        }
        int32_t step = window->is_waiting ? pfb_window_resume(window) : pfb_window_more(window, 0, 0);
        if (step == PFB_NEXT_END && !file->bytes.has_failed) { /* a recorder has not written a whole chunk yet */
            state->reader.error = (pfb_error){PFB_OK, 0};
            return PFB_NEXT_RECORD;
        }
        if (step != PFB_NEXT_RECORD)
            return step;
    }
    state->is_open = true;
    begin_names(file);
    if (file->bytes.can_seek && !file->input->stream->is_trial)
        pfb_early_search(&state->early, file);
    return file->input->stream->has_failed ? PFB_NEXT_FAILED : PFB_NEXT_RECORD;
}

static void close_capture(file_input *file)
{
    capture_state *state = file->state;
    pfb_early_close(&state->early);
}

/* ---- Records --------------------------------------------------------------------------------------------- */

static uint32_t kind_of(const pfb_chunk *chunk)
{
    switch (chunk->tag) {
    case PFB_TAG_DATA:
        return PFB_RECORD_V2;
    case PFB_TAG_V1:
        return PFB_RECORD_V1;
    case PFB_TAG_REGISTRATION:
        return PFB_RECORD_REGISTRATION;
    case PFB_TAG_QUERY_INFO:
        return PFB_RECORD_QUERY_INFO;
    case PFB_TAG_NAMES:
        return PFB_RECORD_NAMES;
    case PFB_TAG_INSTANCES:
        return PFB_RECORD_INSTANCES;
    case PFB_TAG_NOTE:
        return PFB_RECORD_NOTE;
    default:
        return PFB_RECORD_OTHER;
    }
}

static pfb_record record_of(const pfb_chunk *chunk, const stream_window *window)
{
    return (pfb_record){.kind = kind_of(chunk),
                        .tag = chunk->tag,
                        .offset = window->offset + chunk->body_offset,
                        .bytes = window->data + chunk->body_offset,
                        .byte_count = chunk->body_size_bytes,
                        .set = chunk->guid,
                        .request = chunk->request,
                        .language = chunk->language};
}

/* Sets the time of a sample, unless its header is malformed. Bytes after the reply or block are tolerated unless the
 * stream is strict. */
static void read_sample(file_input *file, pfb_record *record)
{
    const pfb_read_options *options = &file->input->stream->reader;
    pfb_v1_reader v1;
    pfb_v2_reader v2;
    bool is_v1 = record->kind == PFB_RECORD_V1;
    size_t size = (size_t)record->byte_count;
    bool is_open =
        is_v1 ? pfb_v1_open(&v1, record->bytes, size, options) : pfb_v2_open(&v2, record->bytes, size, options);
    if (!is_open)
        return;
    uint32_t used = is_v1 ? v1.total_size_bytes : v2.total_size_bytes;
    record->flags |= PFB_RECORD_HAS_TIME;
    record->time = is_v1 ? v1.perf_time_100ns : v2.perf_time_100ns;
    if (used < size && options->is_strict)
        pfb_stream_malformed(file->input, record->offset + used, PFB_TRAILING_BYTES);
}

/* Returns the next chunk of the part that was found in advance, unless the caller has added the same metadata. */
static bool next_early(file_input *file, pfb_record *record)
{
    capture_state *state = file->state;
    pfb_chunk chunk;
    while (state->is_early && pfb_early_next(&state->early, file->part, &chunk)) {
        *record = record_of(&chunk, &state->early.window);
        record->flags = PFB_RECORD_EARLY;
        if (!pfb_given_has(file->input->stream, record))
            return true;
    }
    state->is_early = false;
    return false;
}

/* Moves the window to the next chunk, or past it if it is not read. */
static int32_t move_window(file_input *file)
{
    capture_state *state = file->state;
    stream_window *window = &file->window;
    pfb_capture *reader = &state->reader;
    int32_t step = PFB_NEXT_RECORD;
    uint64_t offset = reader->window_offset + reader->resume_offset;
    if (!window->is_waiting) {
        pfb_chunk chunk;
        uint64_t size = 0;
        bool has_header = pfb_capture_read_header(window->data + reader->resume_offset,
                                                  window->size - reader->resume_offset, &chunk, &size);
        bool is_skipped = has_header && !chunk.is_known;
        state->skipped = is_skipped ? size : 0;
        state->is_later = is_skipped && chunk.version > PFB_CAPTURE_VERSION;
        size_t needed = has_header ? size < SIZE_MAX ? (size_t)size : SIZE_MAX : PFB_CHUNK_HEADER_BYTES;
        step = is_skipped ? pfb_window_skip(window, reader->resume_offset, size)
                          : pfb_window_more(window, reader->resume_offset, needed);
    } else {
        step = pfb_window_resume(window);
    }
    if (step == PFB_NEXT_END && state->skipped > 0 && window->is_last) {
        state->is_cut = true;
        state->cut_offset = offset;
    }
    if (step == PFB_NEXT_RECORD && state->is_later && state->later_count++ == 0)
        state->later_first = offset;
    if (step == PFB_NEXT_RECORD)
        pfb_capture_continue_after(reader, state->skipped, window->data, window->size, window->is_last);
    return step;
}

static void end_capture(file_input *file)
{
    const capture_state *state = file->state;
    if (state->later_count > 0)
        pfb_stream_note(file->input, state->later_first, "chunks of a later version were skipped: %" PRIu64,
                        state->later_count);
    if (state->late_count > 0)
        pfb_stream_note(file->input, state->late_first,
                        "names, registrations or query information follow samples that need them, and standard input "
                        "or a pipe is read only once: name a file, or give them with --names, --registration and "
                        "--query-info");
    if (state->is_cut)
        pfb_file_malformed(file, state->cut_offset, PFB_TRUNCATED_CHUNK);
    else
        pfb_file_malformed(file, file->window.offset + state->reader.error.offset, state->reader.error.code);
    file->is_incomplete = file->is_incomplete || state->later_count > 0;
}

/* Reads the next chunk that is known. */
static int32_t read_next(file_input *file)
{
    capture_state *state = file->state;
    const stream_window *window = &file->window;
    pfb_chunk *chunk = &state->chunk;
    while (true) {
        if (window->is_waiting || !pfb_capture_next_chunk(&state->reader, chunk)) {
            int32_t step = window->is_waiting || state->reader.needs_more ? move_window(file) : PFB_NEXT_END;
            if (step != PFB_NEXT_RECORD)
                return step;
        } else if (chunk->is_known) {
            return PFB_NEXT_RECORD;
        } else if (chunk->version > PFB_CAPTURE_VERSION && state->later_count++ == 0) {
            state->later_first = window->offset + chunk->offset;
        }
    }
}

/* Sets the record to the begin of the part that the current chunk begins. */
static void begin_part(file_input *file, pfb_record *record)
{
    capture_state *state = file->state;
    pfb_capture_file texts;
    *record = (pfb_record){.kind = PFB_RECORD_BEGIN, .flags = PFB_RECORD_CONTINUES};
    state->seen[state->parts.slot] = 0;
    begin_names(file);
    if (state->chunk.tag != PFB_TAG_FILE)
        return;
    *record = record_of(&state->chunk, &file->window);
    record->kind = PFB_RECORD_BEGIN;
    record->flags = PFB_RECORD_CONTINUES;
    pfb_error error = pfb_capture_read_file(record->bytes, (size_t)record->byte_count, &texts);
    pfb_stream_malformed(file->input, record->offset + error.offset, error.code);
}

/* Ends a part that is open at the end of the file. */
static int32_t next_end(file_input *file, pfb_record *record)
{
    capture_state *state = file->state;
    *record = (pfb_record){.kind = PFB_RECORD_END};
    if (!pfb_capture_files_end(&state->parts))
        return PFB_NEXT_END;
    file->part = (uint32_t)(state->parts.file - 1);
    return PFB_NEXT_RECORD;
}

/* Sets the record to the current chunk. Returns false if it has none, or if other records come before it. */
static bool use_chunk(file_input *file, pfb_record *record)
{
    capture_state *state = file->state;
    const pfb_chunk *chunk = &state->chunk;
    uint8_t *seen = &state->seen[state->parts.slot];
    bool is_sample = chunk->tag == PFB_TAG_DATA || chunk->tag == PFB_TAG_V1;
    if (chunk->tag == PFB_TAG_CAPTURE || chunk->tag == PFB_TAG_FILE)
        return false;
    if (is_sample && !(*seen & PART_EARLY)) {
        *seen |= PART_EARLY;
        state->is_early = state->has_chunk = true;
        pfb_early_begin(&state->early);
        return false;
    }
    if (chunk->tag == PFB_TAG_NAMES && pfb_early_has_names(&state->early, file->window.offset + chunk->offset))
        return false; /* the table was returned in advance */
    *record = record_of(chunk, &file->window);
    if (is_sample)
        read_sample(file, record);
    count_late(file, record);
    file->is_incomplete = file->is_incomplete || record->kind == PFB_RECORD_OTHER; /* it may have samples */
    return true;
}

/* Does what the current chunk does: it may end parts or begin one before it is used itself. Returns false if there is
 * no record. */
static bool step_chunk(file_input *file, pfb_record *record)
{
    capture_state *state = file->state;
    pfb_capture_step step = pfb_capture_files_next(&state->parts, &state->chunk);
    state->has_chunk = step != PFB_CAPTURE_CHUNK;
    if (state->parts.file == 0) /* a FILE chunk has ended the current part */
        return false;
    file->part = (uint32_t)(state->parts.file - 1);
    if (step == PFB_CAPTURE_CHUNK)
        return use_chunk(file, record);
    *record = (pfb_record){.kind = PFB_RECORD_END};
    if (step == PFB_CAPTURE_BEGIN)
        begin_part(file, record);
    return true;
}

static int32_t next_of_capture(file_input *file, pfb_record *record)
{
    capture_state *state = file->state;
    while (state->is_open && !state->is_ending) {
        if (next_early(file, record))
            return PFB_NEXT_RECORD;
        int32_t step = state->has_chunk ? PFB_NEXT_RECORD : read_next(file);
        if (step == PFB_NEXT_RECORD && step_chunk(file, record))
            return PFB_NEXT_RECORD;
        if (step == PFB_NEXT_WAIT || step == PFB_NEXT_FAILED)
            return step;
        state->is_ending = step == PFB_NEXT_END;
        if (state->is_ending)
            end_capture(file);
    }
    return next_end(file, record);
}

const stream_format pfb_format_capture = {.open = open_capture,
                                          .next = next_of_capture,
                                          .close = close_capture,
                                          .state_bytes = sizeof(capture_state),
                                          .has_parts = true};
