/* SPDX-License-Identifier: MIT */
#include "input/merge.h"

#include "memory/memory.h"
#include "os/system.h"
#include "output/diagnostics.h"
#include "perfblock/v1.h"
#include "perfblock/v2.h"

#include <stdlib.h>
#include <string.h>

#define UNITS_PER_MINUTE INT64_C(600000000)

/* ---- Times ----------------------------------------------------------------------------------------------- */

/* Converts a time to int64_t. A time above INT64_MAX / 2 becomes INT64_MAX / 2, so that its sample is last and the sum
 * with a bias does not overflow. */
static int64_t clock_of(uint64_t time)
{
    return time <= INT64_MAX / 2 ? (int64_t)time : INT64_MAX / 2;
}

/* The times of samples in a .blg are local. The header has the biases of standard and daylight saving time, but does
 * not say which one is in force. The start of the log is in UTC: returns the bias with which the first sample is
 * closest to it, in 100 ns; 0 if the header has a bias of more than a day. */
static int64_t find_bias(const pfb_log_reader *log, uint64_t first_time)
{
    int64_t elapsed = clock_of(first_time) - clock_of(log->start_time);
    int64_t standard = ((int64_t)log->bias_minutes + log->standard_bias_minutes) * UNITS_PER_MINUTE;
    int64_t daylight = ((int64_t)log->bias_minutes + log->daylight_bias_minutes) * UNITS_PER_MINUTE;
    const int64_t max = (int64_t)24 * 60 * UNITS_PER_MINUTE;
    if (standard < -max || standard > max || daylight < -max || daylight > max)
        return 0;
    int64_t standard_difference = elapsed + standard;
    int64_t daylight_difference = elapsed + daylight;
    return (standard_difference < 0 ? -standard_difference : standard_difference) <=
                   (daylight_difference < 0 ? -daylight_difference : daylight_difference)
               ? standard
               : daylight;
}

/* Reads the time and size in the header of the reply or block of the current item. If the header is malformed the size
 * is 0, and the time is not changed. */
static void read_header(merge_file *f)
{
    int64_t time = 0;
    const uint8_t *data = f->in.data + f->at;
    size_t available = f->size;
    pfb_v1_reader v1;
    pfb_v2_reader v2;
    if (f->is_v1) {
        pfb_v1_open(&v1, data, available, f->options);
        f->size = v1.total_size_bytes;
        time = v1.perf_time_100ns;
    } else {
        bool is_open = pfb_v2_open(&v2, data, available, f->options);
        f->size = is_open ? v2.total_size_bytes : 0;
        time = v2.perf_time_100ns;
    }
    f->has_time = f->size > 0;
    f->time = f->has_time ? time : f->time;
    f->size = f->size < available ? f->size : available;
}

/* ---- Numbers --------------------------------------------------------------------------------------------- */

/* Returns the lowest number that no file has, and marks it as used. */
static size_t take_number(merge *m)
{
    size_t number = 0;
    while (number < m->number_count && m->is_used[number])
        number++;
    m->is_used = memory_grow(m->is_used, &m->number_capacity, number + 1, sizeof *m->is_used);
    m->number_count = number < m->number_count ? m->number_count : number + 1;
    m->is_used[number] = true;
    return number;
}

/* Gives a number to the file of a recording that has just begun. */
static void add_part(merge *m, merge_file *f)
{
    f->number = f->numbers[f->parts.slot] = take_number(m);
}

/* Frees the number of a file of a recording that has ended. */
static void remove_part(merge *m, merge_file *f)
{
    m->is_used[f->number] = false;
    f->numbers[f->parts.slot] = MERGE_NO_NUMBER;
}

/* ---- Items of a file ------------------------------------------------------------------------------------- */

/* Ends a file of the recording and makes its end the item, or that of the recording if it was the last one. */
static void end_next_part(merge *m, merge_file *f)
{
    bool has_part = pfb_capture_files_end(&f->parts);
    if (!has_part) { /* FILE chunks have ended all files */
        pfb_capture_files_open(&f->parts);
        add_part(m, f);
        pfb_capture_files_end(&f->parts);
    }
    f->number = f->numbers[f->parts.slot];
    f->item = f->parts.open_count > 0 ? MERGE_END_PART : MERGE_END;
}

/* Reads the next chunk, or handles the rest of the latest one: a FILE chunk or PFBC may begin and end several files. */
static bool next_chunk(merge *m, merge_file *f)
{
    pfb_capture_step step = PFB_CAPTURE_CHUNK;
    do {
        bool has_chunk = f->is_chunk_pending || input_next_chunk(&f->in, &f->capture, &f->chunk);
        f->error = f->capture.error;
        if (!has_chunk)
            return false;
        step = pfb_capture_files_next(&f->parts, &f->chunk);
        f->is_chunk_pending = step != PFB_CAPTURE_CHUNK;
    } while (step == PFB_CAPTURE_CHUNK && f->chunk.is_known && f->chunk.tag == PFB_TAG_FILE);
    if (step == PFB_CAPTURE_BEGIN)
        add_part(m, f);
    else
        f->number = f->numbers[f->parts.slot];
    f->item = step == PFB_CAPTURE_BEGIN ? MERGE_BEGIN_PART : step == PFB_CAPTURE_END ? MERGE_END_PART : MERGE_CHUNK;
    if (step != PFB_CAPTURE_CHUNK)
        return true;
    f->at = f->chunk.body_offset;
    f->size = f->chunk.body_size_bytes;
    f->is_v1 = f->chunk.tag == PFB_TAG_V1;
    f->is_sample = f->chunk.is_known && (f->is_v1 || f->chunk.tag == PFB_TAG_DATA);
    if (f->is_sample)
        read_header(f);
    f->size = f->chunk.body_size_bytes; /* not the size in the header of the reply or block */
    return true;
}

/* Moves to the next block. Reading ends after a block with a malformed header, whose size is unknown. */
static bool next_block(merge_file *f)
{
    bool is_after_block = f->item == MERGE_BLOCK;
    f->blocks.at += is_after_block ? f->size : 0;
    f->blocks.has_ended = f->blocks.has_ended || f->has_ended || (is_after_block && f->size == 0);
    input_part part = input_next_part(&f->in, &f->blocks);
    if (part == INPUT_PART_END)
        return false;
    f->at = f->blocks.at;
    f->size = f->in.size - f->at;
    f->item = part == INPUT_PART_TRAILING ? MERGE_TRAILING : MERGE_BLOCK;
    f->is_sample = f->item == MERGE_BLOCK;
    f->is_v1 = part == INPUT_PART_V1;
    if (f->is_sample)
        read_header(f);
    return true;
}

static bool next_record(merge_file *f)
{
    bool has_record = input_next_record(&f->in, &f->log, &f->record);
    f->error = f->log.error;
    if (!has_record)
        return false;
    f->item = MERGE_RECORD;
    f->is_sample = f->record.type == PFB_LOG_SAMPLE;
    if (!f->is_sample)
        return true;
    if (!f->has_bias)
        f->bias = find_bias(&f->log, f->record.time);
    f->has_bias = true;
    f->time = clock_of(f->record.time) + f->bias;
    f->has_time = true;
    return true;
}

static bool next_row(merge_file *f)
{
    bool has_row = input_next_row(&f->in, &f->text, &f->row);
    f->error = f->text.error;
    if (!has_row)
        return false;
    f->item = MERGE_ROW;
    f->is_sample = true;
    f->time = clock_of(f->row.time) + f->bias;
    f->has_time = true;
    return true;
}

static void open_reader(merge_file *f)
{
    switch (f->in.kind) {
    case INPUT_CAPTURE:
        f->is_open = input_open_capture(&f->in, &f->capture);
        f->error = f->capture.error;
        break;
    case INPUT_LOG:
        f->is_open = input_open_log(&f->in, &f->log, f->options);
        f->error = f->log.error;
        break;
    case INPUT_PDH_TEXT:
        f->is_open = input_open_text(&f->in, &f->text, f->options);
        f->error = f->text.error;
        f->bias = f->is_open ? f->text.bias_minutes * UNITS_PER_MINUTE : 0;
        break;
    default:
        f->is_open = f->in.kind == INPUT_V1 || f->in.kind == INPUT_DATA;
        break;
    }
}

/* Moves the file to its next item. */
static void advance(merge *m, merge_file *f)
{
    bool has_item = false;
    f->is_sample = false;
    if (f->is_open) {
        has_item = f->in.kind == INPUT_CAPTURE    ? next_chunk(m, f)
                   : f->in.kind == INPUT_LOG      ? next_record(f)
                   : f->in.kind == INPUT_PDH_TEXT ? next_row(f)
                                                  : next_block(f);
    }
    f->is_waiting = has_item && f->is_sample;
    if (!has_item)
        end_next_part(m, f);
}

/* ---- Files ----------------------------------------------------------------------------------------------- */

void merge_open(merge *m, char *const *names, size_t count, input_kind kind, bool is_followed,
                const pfb_read_options *options)
{
    *m = (merge){.order = file_order_by_time(names, count, kind),
                 .order_count = count,
                 .kind = kind,
                 .is_followed = is_followed,
                 .options = options};
}

/* Adds a file to the open ones, with the lowest number that is free. */
static merge_file *add_file(merge *m, const input *in, size_t position, int64_t start)
{
    merge_file *f = memory_get(1, sizeof *f);
    *f = (merge_file){.in = *in, .item = MERGE_BEGIN, .time = start, .position = position, .options = m->options};
    while (f->slot < m->count && m->files[f->slot])
        f->slot++;
    m->files = memory_grow(m->files, &m->capacity, f->slot + 1, sizeof(merge_file *));
    m->files[f->slot] = f;
    m->open_count++;
    m->count = f->slot < m->count ? m->count : f->slot + 1;
    for (size_t i = 0; i < PFB_CAPTURE_MAX_FILES; i++)
        f->numbers[i] = MERGE_NO_NUMBER;
    pfb_capture_files_open(&f->parts);
    add_part(m, f);
    open_reader(f);
    return f;
}

void merge_open_input(merge *m, const input *in, const pfb_read_options *options)
{
    *m = (merge){.options = options};
    m->single = add_file(m, in, 0, INT64_MIN);
}

static void close_file(merge *m, merge_file *f)
{
    m->files[f->slot] = NULL;
    m->open_count--;
    for (size_t i = 0; i < PFB_CAPTURE_MAX_FILES; i++) {
        if (f->numbers[i] != MERGE_NO_NUMBER)
            m->is_used[f->numbers[i]] = false;
    }
    early_metadata_free(&f->early);
    input_free(&f->in);
    free(f);
}

/* Returns the first open file, or null. */
static merge_file *first_file(const merge *m)
{
    size_t i = 0;
    while (i < m->count && !m->files[i])
        i++;
    return i < m->count ? m->files[i] : NULL;
}

/* Returns true if the sample of `a` is returned before that of `b`. Of samples with equal times, those with a malformed
 * header (without has_time) are last. */
static bool is_before(const merge_file *a, const merge_file *b)
{
    if (a->time != b->time)
        return a->time < b->time;
    return a->has_time != b->has_time ? a->has_time : a->position < b->position;
}

/* Returns the open file whose sample is next, or null. */
static merge_file *find_next(const merge *m)
{
    merge_file *next = NULL;
    for (size_t i = 0; i < m->count; i++) {
        merge_file *f = m->files[i];
        if (f && f->is_waiting && (!next || is_before(f, next)))
            next = f;
    }
    return next;
}

/* Opens the next file if its start is not after the next sample; with --follow, if no file is open. Null if no file was
 * opened. */
static merge_file *open_next(merge *m, const merge_file *next_sample)
{
    input in;
    while (m->next < m->order_count) {
        const ordered_file *file = &m->order[m->next];
        if (m->is_followed ? m->open_count > 0 : next_sample && file->start > next_sample->time)
            return NULL;
        if (m->open_count == MERGE_MAX_FILES) {
            if (!m->has_noted)
                diagnostics_say(STATUS_FINE, file->name,
                                "note: more than %d files overlap: this and later ones are opened when others end",
                                MERGE_MAX_FILES);
            m->has_noted = true;
            return NULL;
        }
        m->next++;
        if (input_open(&in, file->name, m->kind, m->is_followed))
            return add_file(m, &in, file->position, file->start);
    }
    return NULL;
}

/* Returns true if the sample of a file is a reply or block. */
static bool has_bytes(const merge_file *f)
{
    return (f->item == MERGE_CHUNK || f->item == MERGE_BLOCK) && f->size > 0;
}

/* Marks the samples of other files that have the same bytes as the sample of `f`. */
static void mark_repetitions(const merge *m, const merge_file *f)
{
    for (size_t i = 0; has_bytes(f) && i < m->count; i++) {
        merge_file *other = m->files[i];
        bool is_candidate = other && other != f && other->is_waiting && other->time == f->time && has_bytes(other) &&
                            other->is_v1 == f->is_v1 && other->size == f->size;
        if (is_candidate && memcmp(other->in.data + other->at, f->in.data + f->at, f->size) == 0)
            other->is_repetition = true;
    }
}

/* Returns true if the bytes of the sample were returned as a sample of another file with the same time. Otherwise
 * stores their hash for the samples that follow. mark_repetitions() finds only the first one of several samples of a
 * file that have the same time. At most MAX_RETURNED hashes are stored, because malformed files may have any number of
 * samples of one time. */
static bool was_returned(merge *m, const merge_file *f)
{
    enum { MAX_RETURNED = 4096 };
    bool is_new_time = m->returned_time != f->time;
    if (!has_bytes(f) || (is_new_time && m->open_count < 2))
        return false;
    if (is_new_time)
        hash_index_free(&m->returned);
    m->returned_time = f->time;
    if (m->seed == 0)
        m->seed = hash_mix(system_now() ^ (uintptr_t)m) | 1;
    uint64_t hash = hash_bytes(m->seed, f->in.data + f->at, f->size);
    uint64_t slot = hash;
    size_t at = hash_index_next(&m->returned, hash, &slot);
    if (at != HASH_INDEX_NONE)
        return m->returned_by[at] != f->position;
    at = m->returned.count;
    if (at == MAX_RETURNED)
        return false;
    hash_index_add(&m->returned, hash);
    m->returned_by = memory_grow(m->returned_by, &m->returned_capacity, at + 1, sizeof *m->returned_by);
    m->returned_by[at] = f->position;
    return false;
}

/* Skips a sample whose bytes were returned as a sample of another file. */
static void skip_repetition(merge *m, merge_file *f)
{
    pfb_v2_reader v2;
    f->is_repetition = false;
    if (f->repeated++ == 0)
        f->repeated_at = (size_t)f->in.offset + f->at;
    if (f->item == MERGE_BLOCK && !f->is_v1) {
        /* A malformed V2 reply ends the file, as it does where the reply is not skipped. */
        pfb_v2_open(&v2, f->in.data + f->at, f->size, f->options);
        f->has_ended = pfb_v2_finish(&v2).code != PFB_OK;
    }
    advance(m, f);
}

/* Returns the file with the next sample. Before that, returns each file that has to be opened for it, and each file
 * whose item after skipped samples is not a sample. Null if all files were read. */
static merge_file *choose_file(merge *m)
{
    while (true) {
        merge_file *next = find_next(m);
        merge_file *opened = open_next(m, next);
        if (opened || !next)
            return opened;
        if (!next->is_repetition && !was_returned(m, next)) {
            mark_repetitions(m, next);
            next->is_waiting = false;
            next->has_samples = true;
            return next;
        }
        skip_repetition(m, next);
        if (!next->is_waiting)
            return next;
    }
}

merge_file *merge_next(merge *m)
{
    merge_file *f = m->current;
    m->current = NULL;
    if (f && f->item == MERGE_END) {
        close_file(m, f);
        f = NULL;
    } else if (f && f->item == MERGE_END_PART) {
        remove_part(m, f);
    }
    if (f && !m->is_stopping) {
        advance(m, f);
        m->current = f->is_waiting ? NULL : f;
    }
    if (m->single) {
        m->current = m->single;
        m->single = NULL;
    } else if (m->is_stopping) {
        m->current = first_file(m);
        if (m->current)
            end_next_part(m, m->current);
    } else if (!m->current) {
        m->current = choose_file(m);
    }
    return m->current;
}

void merge_stop(merge *m)
{
    m->is_stopping = true;
}

void merge_drop(merge *m)
{
    m->current->is_open = false;
    m->current->error = (pfb_error){PFB_OK, 0};
}

void merge_close(merge *m)
{
    for (size_t i = 0; i < m->count; i++) {
        if (m->files[i])
            close_file(m, m->files[i]);
    }
    free(m->files);
    free(m->is_used);
    free(m->order);
    hash_index_free(&m->returned);
    free(m->returned_by);
}
