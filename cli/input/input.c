/* SPDX-License-Identifier: MIT */
#include "input/input.h"

#include "memory/memory.h"
#include "os/system.h"
#include "output/diagnostics.h"
#include "output/stream.h"
#include "perfblock/capture.h"
#include "perfblock/cpi/text.h"
#include "perfblock/pdh_text.h"
#include "perfblock/stream.h"
#include "perfblock/v1.h"
#include "perfblock/v2.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Kinds ----------------------------------------------------------------------------------------------- */

const char *const input_kind_names[] = {
    [INPUT_AUTO] = "auto",       [INPUT_DATA] = "data",
    [INPUT_STRINGS] = "strings", [INPUT_REGISTRATION] = "registration",
    [INPUT_GUIDS] = "guids",     [INPUT_IDENTIFIERS] = "identifiers",
    [INPUT_CAPTURE] = "capture", [INPUT_INSTANCES] = "instances",
    [INPUT_V1] = "v1",           [INPUT_NAMES] = "names",
    [INPUT_LWP] = "lwp",         [INPUT_HOOKS] = "cpi",
    [INPUT_LOG] = "log",         [INPUT_SNAPSHOTS] = "snapshots",
    [INPUT_PDH_TEXT] = NULL,
};

const char *input_kind_name(input_kind kind)
{
    return kind == INPUT_UNKNOWN ? "unknown" : input_kind_names[kind == INPUT_PDH_TEXT ? INPUT_LOG : kind];
}

/* ---- Windows --------------------------------------------------------------------------------------------- */

enum { FIRST_CAPACITY = 1 << 18 };

#define FOLLOW_PAUSE UINT64_C(100000000) /* nanoseconds before a followed file is read again */

/* Reads from a regular file, which may be growing. Returns 0 at its end, and sets has_stopped there if the file is
 * still being written and reading does not wait for more. */
static long long read_regular(input *in, uint8_t *to, size_t size)
{
    while (true) {
        in->has_stopped = in->is_followed && system_interrupted();
        if (in->has_stopped)
            return 0;
        long long read_size = system_read(in->file, to, size);
        if (read_size != 0)
            return read_size;
        bool is_locked = system_is_locked(in->file);
        /* Reads again: bytes may have been written between the first read and the test of the lock. */
        read_size = system_read(in->file, to, size);
        if (read_size != 0)
            return read_size;
        bool may_grow = is_locked || !in->was_locked;
        in->was_locked = in->was_locked || is_locked;
        in->is_replaced = in->is_followed && may_grow &&
                          system_is_replaced(in->file, in->name, in->offset + in->size + in->skipped_zeros);
        in->has_stopped = in->is_replaced;
        if (in->has_stopped)
            return 0;
        if (!is_locked && (!in->is_followed || in->was_locked))
            return 0;
        stream_flush();
        in->has_stopped = !in->is_followed || stream_failed() || !system_sleep_until(system_now() + FOLLOW_PAUSE);
        if (in->has_stopped)
            return 0;
    }
}

/* Reports why the file is not read to its end, from an offset on. Returns false. */
static bool fail_reading(input *in, const char *code, uint64_t offset, const char *sentence)
{
    in->has_failed = in->has_stopped = true;
    in->failed_code = code;
    in->failed_offset = offset;
    snprintf(in->failed_sentence, sizeof in->failed_sentence, "%s", sentence);
    if (strcmp(code, INPUT_UNREADABLE) == 0)
        diagnostics_say(STATUS_FILE, in->name, "%s", sentence);
    else
        diagnostics_say(STATUS_FILE, in->name, "offset %" PRIu64 ": %s: %s", offset, code, sentence);
    return false;
}

/* Reads bytes into the free capacity of the window, and sets is_last at the end of the file. False after an error, and
 * at the present end of a file that is being written. */
static bool read_more(input *in)
{
    uint8_t *to = in->data + in->size;
    size_t size = in->capacity - in->size;
    long long read_size = 0;
    if (in->is_regular) {
        read_size = read_regular(in, to, size);
    } else {
        stream_flush(); /* the program that writes the pipe may wait for our output */
        read_size = system_read(in->file, to, size);
    }
    if (read_size < 0)
        return fail_reading(in, INPUT_UNREADABLE, in->offset + in->size + in->skipped_zeros, strerror(errno));
    in->size += read_size > 0 ? (size_t)read_size : 0;
    in->is_last = read_size == 0 && !in->has_stopped;
    return !in->has_stopped;
}

/* Doubles the capacity if the window takes more than half of it, up to the budget. False after an error, which was
 * reported. */
static bool grow_window(input *in)
{
    char sentence[sizeof in->failed_sentence];
    if (in->size <= in->capacity / 2)
        return true;
    if (in->capacity < PFB_STREAM_BUDGET)
        in->data = memory_grow(in->data, &in->capacity, 2 * in->capacity, 1);
    if (in->size < in->capacity)
        return true;
    snprintf(sentence, sizeof sentence, "%s needs more than the %u MiB of memory that all files have",
             in->is_whole ? "the file is read as a whole and" : "what begins here",
             (unsigned)(PFB_STREAM_BUDGET >> 20));
    return fail_reading(in, pfb_code_name(PFB_CALLER_LIMIT), in->offset, sentence);
}

bool input_advance(input *in, size_t start)
{
    size_t rest = in->size - start;
    if (in->is_last || in->has_stopped)
        return false;
    if (start > 0)
        memmove(in->data, in->data + start, rest);
    in->offset += start;
    in->size = rest;
    if (!grow_window(in) || !read_more(in))
        return false;
    /* The readers of logs begin an incomplete line or buffer again from its start. A pipe may return few bytes at a
     * time, so the window is doubled: otherwise reading a long line would take quadratic time. */
    bool is_log = in->kind == INPUT_LOG || in->kind == INPUT_PDH_TEXT;
    while (is_log && !in->is_regular && !in->is_last && in->size < 2 * rest) {
        if (!read_more(in))
            return false;
    }
    return true;
}

/* Reads all of the file into the window. */
static bool read_rest(input *in)
{
    while (!in->is_last) {
        if (!grow_window(in) || !read_more(in))
            return false;
    }
    return true;
}

bool input_extend(input *in, pfb_error *error)
{
    if (error->code != PFB_CALLER_TOO_SMALL)
        return false;
    if (input_advance(in, 0))
        return true;
    *error = (pfb_error){PFB_OK, 0};
    return false;
}

bool input_can_skip(const input *in, const pfb_capture *capture, pfb_chunk *chunk, uint64_t *size)
{
    size_t left = in->size - capture->resume_offset;
    uint64_t at = in->offset + capture->resume_offset;
    if (!capture->needs_more || !in->can_reopen || in->is_last || in->has_stopped ||
        !pfb_capture_read_header(in->data + capture->resume_offset, left, chunk, size) || chunk->is_known ||
        *size <= left)
        return false;
    uint64_t file_size = system_file_size(in->file);
    chunk->offset += capture->resume_offset;
    chunk->body_offset += capture->resume_offset;
    return at <= file_size && *size <= file_size - at;
}

bool input_skip(input *in, pfb_capture *capture, uint64_t size)
{
    in->offset += capture->resume_offset + size;
    long long read_size = system_read_at(in->file, in->offset, in->data, in->capacity);
    in->size = read_size > 0 ? (size_t)read_size : 0;
    return (in->size > 0 || read_more(in)) &&
           pfb_capture_continue_after(capture, size, in->data, in->size, in->is_last);
}

void input_progress(const input *in, size_t at)
{
    progress_show(in->name, in->offset + at, in->is_last ? in->offset + in->size : in->expected_size);
}

uint64_t input_file_size(input *in)
{
    if (in->is_regular && !in->is_last && (in->has_failed || !in->has_stopped))
        return system_file_size(in->file);
    while (!in->is_last && !in->has_stopped)
        input_advance(in, in->size);
    return in->offset + in->size + in->skipped_zeros;
}

/* Reads the first bytes of the file, up to the initial capacity of the window. So as not to wait for a writer, stops
 * earlier when a capture or V1 block is recognised, and at the present end of a followed file that is not empty. */
static void read_start(input *in)
{
    bool is_known = false;
    in->capacity = FIRST_CAPACITY;
    in->data = memory_get(in->capacity, 1);
    while (!in->is_last && !is_known && in->size < in->capacity && read_more(in))
        is_known = pfb_capture_recognise(in->data, in->size) || pfb_v1_recognise(in->data, in->size) ||
                   (in->is_followed && in->is_regular && in->size > 0 && in->size >= system_file_size(in->file));
}

static bool is_read_in_windows(const input *in)
{
    return in->kind == INPUT_CAPTURE || in->kind == INPUT_V1 || in->kind == INPUT_DATA || in->kind == INPUT_LOG ||
           in->kind == INPUT_PDH_TEXT || (in->kind == INPUT_UNKNOWN && in->is_regular);
}

/* Recognises the kind of the first bytes. */
static input_kind recognise(input *in)
{
    uint64_t size = in->is_last ? in->size : in->is_regular ? system_file_size(in->file) : UINT64_MAX;
    uint32_t kind;
    in->description = pfb_stream_recognise(in->data, in->size, size, &kind);
    switch (kind) {
    case PFB_RECORD_BEGIN:
        return INPUT_CAPTURE;
    case PFB_RECORD_V1:
        return pfb_v1_recognise(in->data, in->size) ? INPUT_V1 : INPUT_UNKNOWN; /* numbers in a text are not shown */
    case PFB_RECORD_V2:
        return INPUT_DATA;
    case PFB_RECORD_LOG:
        return INPUT_LOG;
    case PFB_RECORD_ROW:
        return pfb_pdh_text_recognise(in->data, in->size) ? INPUT_PDH_TEXT
                                                          : INPUT_UNKNOWN; /* nor other forms of logs */
    case PFB_RECORD_NAMES:
        return INPUT_NAMES;
    default:
        return pfb_cpi_text_recognise(in->data, in->size) ? INPUT_SNAPSHOTS : INPUT_UNKNOWN;
    }
}

/* Replaces INPUT_AUTO by the kind of the first bytes, and INPUT_LOG by INPUT_PDH_TEXT if they are text. */
static void choose_kind(input *in)
{
    bool is_begun_recording = in->size == 0 && in->has_stopped; /* empty, and a recorder has locked it */
    size_t first_size = in->size < sizeof(uint32_t) ? in->size : sizeof(uint32_t);
    if (in->kind == INPUT_AUTO) {
        input_kind kind = recognise(in);
        in->kind = is_begun_recording ? INPUT_CAPTURE : kind;
    } else if (in->kind == INPUT_LOG && first_size > 0 &&
               (!memchr(in->data, 0, first_size) || pfb_pdh_text_recognise(in->data, in->size))) {
        /* A .blg begins with the size of its buffers, which is small enough that one of its 4 bytes is zero. Text has
         * zeros only in UTF-16. */
        in->kind = INPUT_PDH_TEXT;
    }
}

/* Shrinks the memory to the size of the file, so that sanitizers and valgrind detect reads past the end. */
static void trim(input *in)
{
    uint8_t *data = realloc(in->data, in->size > 0 ? in->size : 1);
    if (data)
        in->data = data;
}

/* Reads the first window of the open file, or all of it. Frees the input after an error. */
static bool read_open(input *in)
{
    read_start(in);
    if (in->is_whole) {
        read_rest(in);
        in->file = -1;
        in->is_last = true; /* also if a recorder may write more */
        in->has_stopped = false;
    }
    choose_kind(in);
    if (!in->has_failed && !is_read_in_windows(in))
        read_rest(in);
    if (in->has_failed)
        input_free(in);
    else if (in->is_last)
        trim(in);
    return !in->has_failed;
}

static bool open_file(input *in)
{
    bool is_standard = strcmp(in->name, "-") == 0;
    int file = is_standard ? SYSTEM_INPUT : system_read_open(in->name);
    if (file < 0) {
        diagnostics_file(in->name, errno);
        return false;
    }
    in->file = file;
    in->is_regular = system_is_regular(file);
    in->can_reopen = in->is_regular && !is_standard;
    if (in->is_followed && in->is_regular)
        system_catch_interrupts();
    in->expected_size = in->is_regular && !in->is_followed ? system_file_size(file) : 0;
    bool is_read = read_open(in);
    if (in->is_whole && !is_standard)
        system_read_close(file);
    return is_read;
}

bool input_open(input *in, const char *name, input_kind kind, bool is_followed)
{
    *in = (input){.name = name, .kind = kind, .is_followed = is_followed};
    return open_file(in);
}

bool input_read(input *in, const char *name, input_kind kind)
{
    *in = (input){.name = name, .kind = kind, .is_whole = true};
    return open_file(in);
}

void input_free(input *in)
{
    if (in->file > SYSTEM_INPUT)
        system_read_close(in->file);
    in->file = -1;
    free(in->data);
    in->data = NULL;
    in->size = 0;
}

/* ---- Data blocks ----------------------------------------------------------------------------------------- */

enum { DATA_HEADER_BYTES = 48 }; /* of V2; the header of V1 is larger */

/* Whether all bytes are zero. Reads only up to the first one that is not. */
static bool is_zero(const uint8_t *data, size_t size)
{
    size_t at = 0;
    while (at < size && data[at] == 0)
        at++;
    return at == size;
}

/* Skips zeros at the start of the window, so that it does not grow with their number: drops all but REMAINING_BYTES of
 * them and reads on, until the window has a byte that is not zero. A block that begins with zeros is malformed; the
 * zeros that remain are more than a header and suffice to report that. */
static bool skip_zeros(input *in)
{
    enum { REMAINING_BYTES = 128 };
    while (!in->is_last && is_zero(in->data, in->size)) {
        size_t remaining = in->size < REMAINING_BYTES ? in->size : REMAINING_BYTES;
        in->skipped_zeros += in->size - remaining;
        in->size = remaining;
        if (!read_more(in))
            return false;
    }
    return true;
}

/* Moves the window until it has the whole block at `at`, or the file ends. False if reading stopped before that. */
static bool load_block(input *in, input_blocks *blocks)
{
    while (!in->is_last) {
        const uint8_t *data = in->data + blocks->at;
        size_t available = in->size - blocks->at;
        bool is_v1 = in->offset + blocks->at == 0 ? in->kind == INPUT_V1 : pfb_v1_recognise(data, available);
        bool is_blank = !is_v1 && available >= DATA_HEADER_BYTES && is_zero(data, available);
        uint64_t needed = is_v1 ? pfb_v1_needed_size(data, available) : pfb_v2_needed_size(data, available);
        if (!is_blank && needed <= available)
            return true;
        if (is_blank && blocks->at == 0)
            return skip_zeros(in);
        if (!input_advance(in, blocks->at))
            return false;
        blocks->at = 0;
    }
    return true;
}

input_part input_next_part(input *in, input_blocks *blocks)
{
    if (blocks->has_ended || !load_block(in, blocks))
        return INPUT_PART_END;
    size_t available = in->size - blocks->at;
    const uint8_t *data = in->data + blocks->at;
    bool is_first = in->offset + blocks->at == 0;
    if (available == 0 && !is_first)
        return INPUT_PART_END;
    if (is_first ? in->kind == INPUT_V1 : pfb_v1_recognise(data, available))
        return INPUT_PART_V1;
    if (!is_first && (available < DATA_HEADER_BYTES || is_zero(data, available))) {
        blocks->has_ended = true;
        return INPUT_PART_TRAILING;
    }
    return INPUT_PART_BLOCK;
}
