/* SPDX-License-Identifier: MIT */
#include "input/file_order.h"

#include "input/file_format.h"
#include "memory/buffer.h"
#include "memory/memory.h"
#include "os/system.h"
#include "perfblock/capture.h"
#include "perfblock/pdh_text.h"
#include "perfblock/v1.h"

#include <stdlib.h>
#include <string.h>

/* ---- Bytes of a file ------------------------------------------------------------------------------------- */

enum { WINDOW_BYTES = 1 << 16 };

/* A file that is read from its beginning through a window. */
typedef struct file_window {
    int file;
    size_t start, end;
    uint8_t bytes[WINDOW_BYTES];
} file_window;

/* Returns the next `size` bytes, at most WINDOW_BYTES, without moving past them. They are valid until the next call.
 * *available receives their number, which is less than `size` only at the end of the file or after a read error. */
static const uint8_t *look_ahead(file_window *w, size_t size, size_t *available)
{
    long long read_size = 1;
    if (w->end - w->start < size) {
        memmove(w->bytes, w->bytes + w->start, w->end - w->start);
        w->end -= w->start;
        w->start = 0;
    }
    while (w->end - w->start < size && read_size > 0) {
        read_size = system_read(w->file, w->bytes + w->end, WINDOW_BYTES - w->end);
        w->end += read_size > 0 ? (size_t)read_size : 0;
    }
    *available = w->end - w->start < size ? w->end - w->start : size;
    return w->bytes + w->start;
}

/* Skips bytes. False if the file has fewer. */
static bool skip_bytes(file_window *w, uint64_t size)
{
    size_t available = 1;
    while (size > 0 && available > 0) {
        look_ahead(w, size < WINDOW_BYTES ? (size_t)size : WINDOW_BYTES, &available);
        w->start += available;
        size -= available;
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

/* Offsets: PerfTime100NSec in V2 data; LittleEndian and PerfTime100nSec in V1 blocks; the start time in a .blg. */
enum { DATA_TIME = 16, V1_BYTE_ORDER = 8, V1_TIME = 72, LOG_START = 88 };

/* Reads the time of the block at the current position. False if the file ends before the time does, or if the signature
 * or byte order of a V1 block is invalid. */
static bool read_block_time(file_window *w, bool is_v1, int64_t *time)
{
    size_t available = 0;
    size_t at = is_v1 ? V1_TIME : DATA_TIME;
    const uint8_t *data = look_ahead(w, at + 8, &available);
    /* The signature "PERF" is UTF-16, so it begins with a zero byte in big-endian order. */
    bool is_big_endian = is_v1 && available > 0 && data[0] == 0;
    if (available < at + 8)
        return false;
    if (is_v1 &&
        (!pfb_v1_recognise(data, available) || load_integer(data + V1_BYTE_ORDER, 4, is_big_endian) != !is_big_endian))
        return false;
    uint64_t raw = load_integer(data + at, 8, is_big_endian);
    *time = raw <= INT64_MAX ? (int64_t)raw : -(int64_t)(UINT64_MAX - raw) - 1;
    return true;
}

/* Reads the time of the first sample of a capture. */
static bool read_capture_time(file_window *w, int64_t *time)
{
    size_t available = 0;
    while (true) {
        pfb_chunk chunk;
        uint64_t size;
        const uint8_t *header = look_ahead(w, PFB_CHUNK_HEADER_BYTES, &available);
        bool has_size = pfb_capture_read_header(header, available, &chunk, &size);
        if (available < PFB_CHUNK_HEADER_BYTES)
            return false;
        if (chunk.is_known && (chunk.tag == PFB_TAG_DATA || chunk.tag == PFB_TAG_V1)) {
            skip_bytes(w, PFB_CHUNK_HEADER_BYTES);
            return read_block_time(w, chunk.tag == PFB_TAG_V1, time);
        }
        if (!has_size || !skip_bytes(w, size))
            return false;
    }
}

/* Reads the start time of a perfmon log (.blg), in UTC. */
static bool read_log_time(file_window *w, int64_t *time)
{
    size_t available = 0;
    const uint8_t *data = look_ahead(w, LOG_START + 8, &available);
    uint64_t raw = available < LOG_START + 8 ? UINT64_MAX : load_integer(data + LOG_START, 8, false);
    *time = (int64_t)(raw & INT64_MAX);
    return raw <= INT64_MAX;
}

/* Finds the time of the first row in the first bytes of a perfmon log in text: in UTC if the header has the offset of
 * local time, otherwise in local time. If that fails, *needs_more is true when the row may be in bytes that follow. */
static bool find_row_time(const uint8_t *data, size_t size, bool is_last, int64_t *time, bool *needs_more)
{
    const int64_t units_per_minute = INT64_C(600000000);
    pfb_pdh_text_reader text;
    pfb_pdh_text_row row;
    bool is_open = pfb_pdh_text_open(&text, data, size, is_last, NULL);
    bool is_found = is_open && pfb_pdh_text_next_row(&text, &row);
    *needs_more = is_open ? text.needs_more : text.error.code == PFB_CALLER_TOO_SMALL;
    if (is_found)
        *time = (int64_t)row.time + text.bias_minutes * units_per_minute;
    return is_found;
}

/* Reads the time of the first row of a perfmon log in text. The header before it may be long, so the number of bytes
 * read is doubled until they contain the row, up to MAX_BYTES: a log may have no rows. */
static bool read_text_time(file_window *w, int64_t *time)
{
    enum { MAX_BYTES = 1 << 24 };
    buffer bytes = {0};
    bool is_found = false;
    bool needs_more = true;
    buffer_bytes(&bytes, (const char *)w->bytes + w->start, w->end - w->start);
    while (!is_found && needs_more) {
        size_t new_size = 2 * bytes.size;
        long long read_size = 1;
        while (bytes.size < new_size && read_size > 0) {
            read_size = system_read(w->file, buffer_reserve(&bytes, new_size - bytes.size), new_size - bytes.size);
            buffer_commit(&bytes, read_size > 0 ? (size_t)read_size : 0);
        }
        bool is_last = bytes.size < new_size;
        is_found = find_row_time((const uint8_t *)bytes.data, bytes.size, is_last, time, &needs_more);
        needs_more = needs_more && !is_last && bytes.size < MAX_BYTES;
    }
    buffer_free(&bytes);
    return is_found;
}

static bool read_time(file_window *w, input_kind kind, int64_t *time)
{
    size_t available = 0;
    const uint8_t *data = look_ahead(w, WINDOW_BYTES, &available);
    if (kind == INPUT_AUTO)
        kind = file_format_recognise(data, available, system_file_size(w->file)).kind;
    else if (kind == INPUT_LOG)
        kind = file_format_of_log(data, available);
    if (kind == INPUT_CAPTURE)
        return read_capture_time(w, time);
    if (kind == INPUT_LOG)
        return read_log_time(w, time);
    if (kind == INPUT_PDH_TEXT)
        return read_text_time(w, time);
    return (kind == INPUT_DATA || kind == INPUT_V1) && read_block_time(w, kind == INPUT_V1, time);
}

/* Returns true for standard input and for the name of anything but a regular file. */
static bool is_pipe(const char *name)
{
    return strcmp(name, "-") == 0 || !system_names_regular(name);
}

/* Finds the time of the first sample of a regular file. */
static bool find_time(file_window *w, const char *name, input_kind kind, int64_t *time)
{
    w->file = system_read_open(name);
    if (w->file < 0)
        return false;
    w->start = w->end = 0;
    bool is_found = system_is_regular(w->file) && read_time(w, kind, time);
    system_read_close(w->file);
    return is_found;
}

/* ---- Order ----------------------------------------------------------------------------------------------- */

static int compare_files(const void *left, const void *right)
{
    const ordered_file *a = left;
    const ordered_file *b = right;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return (a->position > b->position) - (a->position < b->position);
}

ordered_file *file_order_by_time(char *const *names, size_t count, input_kind kind)
{
    ordered_file *order = memory_get(count, sizeof *order);
    ordered_file *timed = memory_get(count, sizeof *timed);
    size_t *places = memory_get(count, sizeof *places); /* indexes in `order` of the files with a time, ascending */
    file_window *w = memory_get(1, sizeof *w);
    size_t used = 0;
    size_t timed_count = 0;
    for (size_t i = 0; i < count; i++) {
        if (is_pipe(names[i]))
            order[used++] = (ordered_file){.name = names[i], .position = i, .start = INT64_MIN};
    }
    for (size_t i = 0; i < count; i++) {
        ordered_file file = {.name = names[i], .position = i, .start = INT64_MIN};
        if (is_pipe(names[i]))
            continue;
        if (count > 1 && find_time(w, names[i], kind, &file.start)) {
            timed[timed_count] = file;
            places[timed_count++] = used;
        }
        order[used++] = file;
    }
    if (timed_count > 0)
        qsort(timed, timed_count, sizeof *timed, compare_files);
    for (size_t i = 0; i < timed_count; i++)
        order[places[i]] = timed[i];
    for (size_t i = 0, place = 0; i < count; i++) {
        bool is_timed = place < timed_count && places[place] == i;
        place += is_timed;
        if (!is_timed && i > 0)
            order[i].start = order[i - 1].start;
    }
    free(w);
    free(places);
    free(timed);
    return order;
}
