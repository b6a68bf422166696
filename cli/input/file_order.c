/* SPDX-License-Identifier: MIT */
#include "input/file_order.h"

#include "input/file_format.h"
#include "memory/buffer.h"
#include "memory/memory.h"
#include "os/system.h"
#include "perfblock/capture.h"
#include "perfblock/pdh_text.h"
#include "perfblock/v1.h"
#include "sample_text/text_form.h"

#include <stdlib.h>
#include <string.h>

/* ---- Bytes of a file ------------------------------------------------------------------------------------- */

enum { WINDOW = 1 << 16 };

/* A file that is read from its beginning through a window. */
typedef struct file_window {
    int file;
    size_t start, end;
    uint8_t bytes[WINDOW];
} file_window;

/* Returns the next bytes, which are valid until the next call. `size` is at most WINDOW; `held` receives the number of
 * bytes, which is less than `size` only at the end of the file. */
static const uint8_t *look_ahead(file_window *w, size_t size, size_t *held)
{
    long long got = 1;
    if (w->end - w->start < size) {
        memmove(w->bytes, w->bytes + w->start, w->end - w->start);
        w->end -= w->start;
        w->start = 0;
    }
    while (w->end - w->start < size && got > 0) {
        got = system_read(w->file, w->bytes + w->end, WINDOW - w->end);
        w->end += got > 0 ? (size_t)got : 0;
    }
    *held = w->end - w->start < size ? w->end - w->start : size;
    return w->bytes + w->start;
}

/* Skips bytes. False if the file ends before them. */
static bool pass_bytes(file_window *w, uint64_t size)
{
    size_t held = 1;
    while (size > 0 && held > 0) {
        look_ahead(w, size < WINDOW ? (size_t)size : WINDOW, &held);
        w->start += held;
        size -= held;
    }
    return size == 0;
}

static uint64_t load_integer(const uint8_t *p, size_t size, bool is_big_endian)
{
    uint64_t number = 0;
    for (size_t i = 0; i < size; i++)
        number |= (uint64_t)p[is_big_endian ? size - 1 - i : i] << 8 * i;
    return number;
}

/* ---- Times ----------------------------------------------------------------------------------------------- */

/* Offsets of PerfTime100nSec, of LittleEndian in V1 blocks, and of the start time of a .blg. */
enum { DATA_TIME = 16, V1_BYTE_ORDER = 8, V1_TIME = 72, LOG_START = 88 };

/* The time of the next block. False if its header is truncated or has no known byte order. */
static bool read_block_time(file_window *w, bool is_v1, int64_t *time)
{
    size_t held = 0;
    size_t at = is_v1 ? V1_TIME : DATA_TIME;
    const uint8_t *data = look_ahead(w, at + 8, &held);
    bool is_big_endian = is_v1 && held > 0 && data[0] == 0; /* "PERF" in UTF-16 */
    if (held < at + 8)
        return false;
    if (is_v1 &&
        (!pfb_v1_recognise(data, held) || load_integer(data + V1_BYTE_ORDER, 4, is_big_endian) != !is_big_endian))
        return false;
    uint64_t raw = load_integer(data + at, 8, is_big_endian);
    *time = raw <= INT64_MAX ? (int64_t)raw : -(int64_t)(UINT64_MAX - raw) - 1;
    return true;
}

/* The time of the first sample of a capture. */
static bool read_capture_time(file_window *w, int64_t *time)
{
    size_t held = 0;
    while (true) {
        const uint8_t *header = look_ahead(w, PFB_CHUNK_HEADER_BYTES, &held);
        if (held < PFB_CHUNK_HEADER_BYTES)
            return false;
        uint64_t tag = load_integer(header, 4, false);
        bool is_known = load_integer(header + 4, 4, false) <= PFB_CAPTURE_VERSION;
        uint64_t size = load_integer(header + 8, 8, false);
        pass_bytes(w, PFB_CHUNK_HEADER_BYTES);
        if (is_known && (tag == PFB_TAG_DATA || tag == PFB_TAG_V1))
            return read_block_time(w, tag == PFB_TAG_V1, time);
        if (size > UINT64_MAX - 7 || !pass_bytes(w, size + (8 - size % 8) % 8))
            return false;
    }
}

/* The start of a perfmon log, in UTC. */
static bool read_log_time(file_window *w, int64_t *time)
{
    size_t held = 0;
    const uint8_t *data = look_ahead(w, LOG_START + 8, &held);
    uint64_t raw = held < LOG_START + 8 ? UINT64_MAX : load_integer(data + LOG_START, 8, false);
    *time = (int64_t)(raw & INT64_MAX);
    return raw <= INT64_MAX;
}

/* Finds the time of the first sample in the first bytes of a text. Stores in *needs_more whether more bytes may have
 * it.
 */
typedef bool find_time_in_text(const uint8_t *data, size_t size, bool is_last, int64_t *time, bool *needs_more);

/* Of a text log: in UTC, or as it is if the log does not say how far UTC is. */
static bool find_row_time(const uint8_t *data, size_t size, bool is_last, int64_t *time, bool *needs_more)
{
    const int64_t units_per_minute = INT64_C(600000000);
    pfb_pdh_text_reader text;
    pfb_pdh_text_row row;
    bool is_open = pfb_pdh_text_open_window(&text, data, size, is_last, NULL);
    bool is_found = is_open && pfb_pdh_text_next_row(&text, &row);
    *needs_more = is_open ? text.needs_more : text.error.code == PFB_CALLER_TOO_SMALL;
    if (is_found)
        *time = (int64_t)row.time + text.bias_minutes * units_per_minute;
    return is_found;
}

/* What precedes the first sample may be long: the window is doubled until it holds the sample. */
static bool read_text_time(file_window *w, find_time_in_text *find, int64_t *time)
{
    enum { MOST_BYTES = 1 << 24 };
    buffer bytes = {0};
    bool is_found = false;
    bool needs_more = true;
    buffer_bytes(&bytes, (const char *)w->bytes + w->start, w->end - w->start);
    while (!is_found && needs_more) {
        size_t wanted = 2 * bytes.size;
        long long got = 1;
        while (bytes.size < wanted && got > 0) {
            got = system_read(w->file, buffer_reserve(&bytes, wanted - bytes.size), wanted - bytes.size);
            buffer_commit(&bytes, got > 0 ? (size_t)got : 0);
        }
        bool is_last = bytes.size < wanted;
        is_found = find((const uint8_t *)bytes.data, bytes.size, is_last, time, &needs_more);
        needs_more = needs_more && !is_last && bytes.size < MOST_BYTES;
    }
    buffer_free(&bytes);
    return is_found;
}

static bool read_time(file_window *w, input_kind kind, int64_t *time)
{
    size_t held = 0;
    const uint8_t *data = look_ahead(w, WINDOW, &held);
    if ((kind == INPUT_AUTO || kind == INPUT_CAPTURE) && text_form_recognise(data, held))
        return read_text_time(w, text_form_find_time, time);
    if (kind == INPUT_AUTO)
        kind = file_format_recognise(data, held, system_file_size(w->file)).kind;
    if (kind == INPUT_CAPTURE)
        return read_capture_time(w, time);
    if (kind == INPUT_LOG)
        return read_log_time(w, time);
    if (kind == INPUT_PDH_TEXT)
        return read_text_time(w, find_row_time, time);
    return (kind == INPUT_DATA || kind == INPUT_V1) && read_block_time(w, kind == INPUT_V1, time);
}

/* The time of the first sample of a file. Pipes are not opened: they can be read once. */
static bool find_time(file_window *w, const char *name, input_kind kind, int64_t *time)
{
    if (strcmp(name, "-") == 0 || !system_names_regular(name))
        return false;
    w->file = system_read_open(name);
    if (w->file < 0)
        return false;
    w->start = w->end = 0;
    bool is_found = system_is_regular(w->file) && read_time(w, kind, time);
    system_read_close(w->file);
    return is_found;
}

/* ---- Order ----------------------------------------------------------------------------------------------- */

typedef struct timed_file {
    int64_t time;
    size_t position; /* on the command line */
} timed_file;

static int compare_files(const void *left, const void *right)
{
    const timed_file *a = left;
    const timed_file *b = right;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return (a->position > b->position) - (a->position < b->position);
}

char **file_order_by_time(char *const *names, size_t count, input_kind kind)
{
    char **ordered = memory_get(count, sizeof *ordered);
    timed_file *found = memory_get(count, sizeof *found);
    size_t *places = memory_get(count, sizeof *places); /* of the files that have a time */
    file_window *w = memory_get(1, sizeof *w);
    size_t found_count = 0;
    memcpy(ordered, names, count * sizeof *ordered);
    for (size_t i = 0; i < count && count > 1; i++) {
        if (find_time(w, names[i], kind, &found[found_count].time)) {
            found[found_count].position = i;
            places[found_count++] = i;
        }
    }
    if (found_count > 0)
        qsort(found, found_count, sizeof *found, compare_files);
    for (size_t i = 0; i < found_count; i++)
        ordered[places[i]] = names[found[i].position];
    free(w);
    free(places);
    free(found);
    return ordered;
}
