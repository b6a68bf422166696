/* SPDX-License-Identifier: MIT */
#include "support_log.h"

#include <criterion/criterion.h>

#include "support_types.h"

#include <stdlib.h>
#include <string.h>

static void *make(size_t count, size_t size)
{
    void *memory = calloc(count + 1, size);
    cr_assert_not_null(memory);
    return memory;
}

/* Allocates exactly this size, so that a sanitizer detects reads past the end. An empty record gets one byte, which
 * must not be read. */
static uint8_t *make_bytes(size_t size)
{
    uint8_t *memory = malloc(size > 0 ? size : 1);
    cr_assert_not_null(memory);
    return memory;
}

static size_t window_size(const log_walk *walk, size_t offset, size_t window)
{
    size_t left = walk->size - offset;
    return window < left ? window : left;
}

log_walk walk_log(const uint8_t *data, size_t size, size_t window, const pfb_read_options *options)
{
    log_walk walk = {.data = data, .size = size, .window = window};
    for (;;) {
        size_t count = window_size(&walk, 0, walk.window);
        pfb_log_open(&walk.reader, data, count, count == size, options);
        if (walk.reader.error.code != PFB_CALLER_TOO_SMALL)
            return walk;
        cr_assert_lt(count, size);
        walk.window *= 2;
    }
}

static bool next_record(log_walk *walk)
{
    size_t window = walk->window;
    while (!pfb_log_next_record(&walk->reader, &walk->record)) {
        if (!walk->reader.needs_more)
            return false;
        size_t offset = (size_t)walk->reader.window_offset + walk->reader.resume_offset;
        size_t count = window_size(walk, offset, window);
        cr_assert_leq(offset, walk->size);
        pfb_log_continue(&walk->reader, walk->data + offset, count, count == walk->size - offset);
        window = walk->reader.resume_offset == 0 ? 2 * window : window;
    }
    return true;
}

/* Sizes of the smallest path and of the smallest value in a record; no record has more of them than fit. */
enum { MIN_PATH_BYTES = 52, MIN_VALUE_BYTES = 24 };

static void read_paths(log_walk *walk)
{
    pfb_log_path_reader reader;
    pfb_log_path path;
    free(walk->path_bytes);
    free(walk->paths);
    walk->path_bytes = walk->bytes;
    walk->paths = make(walk->bytes_size / MIN_PATH_BYTES, sizeof *walk->paths);
    walk->path_count = 0;
    walk->bytes = NULL;
    pfb_log_open_paths(&reader, walk->path_bytes, walk->bytes_size, NULL);
    while (pfb_log_next_path(&reader, &path))
        walk->paths[walk->path_count++] = path;
    walk->path_error = reader.error;
}

static void read_sample(log_walk *walk)
{
    free(walk->sample_bytes[0]);
    free(walk->samples[0].values);
    free(walk->samples[0].order);
    walk->sample_bytes[0] = walk->sample_bytes[1];
    walk->samples[0] = walk->samples[1];
    walk->sample_bytes[1] = walk->bytes;
    walk->bytes = NULL;
    size_t capacity = walk->bytes_size / MIN_VALUE_BYTES + 1;
    walk->samples[1] = (pfb_log_values){.values = make(capacity, sizeof(pfb_log_value)),
                                        .order = make(capacity, sizeof(uint32_t)),
                                        .capacity = capacity};
    walk->sample_error = pfb_log_load(&walk->samples[1], walk->sample_bytes[1], walk->bytes_size, NULL);
    pfb_log_match(NULL, 0, &walk->samples[0], &walk->samples[1]);
    walk->sample_count++;
}

bool walk_next(log_walk *walk)
{
    free(walk->bytes);
    walk->bytes = NULL;
    if (!next_record(walk))
        return false;
    walk->record_offset = walk->reader.window_offset + walk->record.offset;
    walk->bytes_size = walk->record.size_bytes;
    walk->bytes = make_bytes(walk->bytes_size);
    size_t size = pfb_log_copy_record(&walk->reader, &walk->record, walk->bytes, walk->bytes_size);
    cr_assert_eq(size, walk->bytes_size);
    if (walk->record.type == PFB_LOG_PATHS)
        read_paths(walk);
    else if (walk->record.type == PFB_LOG_SAMPLE)
        read_sample(walk);
    return true;
}

void walk_free(log_walk *walk)
{
    free(walk->bytes);
    free(walk->path_bytes);
    free(walk->paths);
    for (int i = 0; i < 2; i++) {
        free(walk->sample_bytes[i]);
        free(walk->samples[i].values);
        free(walk->samples[i].order);
    }
}

/* ---- Writing --------------------------------------------------------------------------------------------------- */

/* docs/log.md has the layout of buffers, events and records. Fields that the reader ignores are 0 here, or have the
 * values of captured logs. */

enum { BUFFER_BYTES = 1024, EVENT_HEADER_BYTES = 72 };

static const uint8_t perfmon_guid[] = {0xB3, 0x3B, 0x3F, 0x93, 0x3E, 0x94, 0x0D, 0x49,
                                       0x9C, 0xED, 0x3C, 0xBB, 0x14, 0xC1, 0x44, 0x79};

static const uint64_t local_time = UINT64_C(130057734178440000); /* 2013-02-19 18:50:17.844 */

static size_t begin_buffer(bytes *b)
{
    size_t at = b->size;
    PUT_U32(b, BUFFER_BYTES, 0, 0, 0);
    put_fill(b, 0, 56);
    return at;
}

static void end_buffer(bytes *b, size_t at)
{
    set_u32(b, at + 48, (uint32_t)(b->size - at));
    put_fill(b, 0xFF, BUFFER_BYTES - (b->size - at));
}

static size_t put_event(bytes *b, uint32_t type, uint32_t part, uint32_t parts, const uint8_t *payload, size_t size)
{
    size_t at = b->size;
    put_u16(b, (uint32_t)(EVENT_HEADER_BYTES + size));
    put_u16(b, 0xC014); /* marker */
    put_u16(b, type);
    put_u16(b, 60);
    PUT_U32(b, 1, 2);
    put_u64(b, local_time);
    put_raw(b, perfmon_guid, sizeof perfmon_guid);
    put_fill(b, 0, 24);
    PUT_U32(b, part, parts);
    put_raw(b, payload, size);
    put_fill(b, 0xA5, (8 - size % 8) % 8);
    return at;
}

static void put_header(bytes *b, uint32_t buffers)
{
    enum { HEADER_BYTES = 384 };
    size_t at = b->size;
    put_u16(b, 0);
    put_u16(b, 0xC002); /* marker */
    put_u16(b, HEADER_BYTES);
    put_fill(b, 0, 10);
    put_u64(b, local_time); /* start */
    put_fill(b, 0, 8);
    put_u32(b, BUFFER_BYTES);
    put_u32(b, 0x05010206);            /* Windows 6.2 */
    PUT_U32(b, 9200, 1);               /* build */
    put_u64(b, local_time + 10000000); /* end */
    put_fill(b, 0, 12);
    put_u32(b, buffers);
    put_u32(b, 0);
    put_u32(b, 8); /* size of a pointer */
    put_fill(b, 0, 24);
    put_u32(b, 480); /* bias of the time zone */
    put_text(b, "Standard");
    put_fill(b, 0, 64 - 18 + 16); /* the rest of the name, and the date */
    put_u32(b, 0);
    put_text(b, "Daylight");
    put_fill(b, 0, 64 - 18 + 16);
    put_u32(b, (uint32_t)-60); /* bias of daylight saving time */
    put_fill(b, 0, HEADER_BYTES - (b->size - at));
}

static void put_string_offset(bytes *b, size_t strings, size_t field, const char *text)
{
    if (!text)
        return;
    set_u32(b, field, (uint32_t)(b->size - strings));
    put_text(b, text);
}

void put_path(bytes *b, uint32_t flags, uint32_t type, uint64_t frequency, const char *machine, const char *object,
              const char *instance, const char *counter)
{
    size_t at = b->size;
    PUT_U32(b, 0, flags, 7, type);
    put_u64(b, frequency);
    PUT_U32(b, (uint32_t)-2, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, 3, UINT32_MAX);
    size_t strings = b->size;
    put_string_offset(b, strings, at + 28, machine);
    put_string_offset(b, strings, at + 32, object);
    put_string_offset(b, strings, at + 36, instance);
    put_string_offset(b, strings, at + 48, counter);
    put_fill(b, 0, (8 - (b->size - at) % 8) % 8);
    set_u32(b, at, (uint32_t)(b->size - at));
}

static size_t begin_item(bytes *b, uint32_t kind)
{
    size_t at = b->size;
    PUT_U32(b, 0x00034C42 | kind << 24, 0); /* "BL", version 3, kind, size */
    return at;
}

static void end_item(bytes *b, size_t at)
{
    put_fill(b, 0, (8 - (b->size - at) % 8) % 8);
    set_u32(b, at + 4, (uint32_t)(b->size - at));
}

void put_counter_item(bytes *b, uint32_t status, uint64_t time, uint64_t first, uint64_t second, uint32_t multi_count)
{
    size_t at = begin_item(b, 1);
    put_u32(b, status);
    put_u64(b, time);
    put_u32(b, 0);
    put_u64(b, first);
    put_u64(b, second);
    PUT_U32(b, multi_count, 0);
    end_item(b, at);
}

void put_instances_item(bytes *b, uint32_t status, uint64_t time, const log_row *rows, size_t count)
{
    size_t at = begin_item(b, 2);
    PUT_U32(b, 0, (uint32_t)count, status, 0);
    put_u64(b, time);
    size_t offset = 24 + 24 * count;
    for (size_t i = 0; i < count; i++) {
        PUT_U32(b, (uint32_t)offset, rows[i].status);
        put_u64(b, rows[i].first);
        put_u64(b, rows[i].second);
        offset += 2 * strlen(rows[i].name) + 2;
    }
    for (size_t i = 0; i < count; i++)
        put_text(b, rows[i].name);
    end_item(b, at);
    set_u32(b, at + 8, (uint32_t)(b->size - at - 8));
}

void begin_sample(bytes *b)
{
    begin_item(b, 0);
}

void end_sample(bytes *b)
{
    set_u32(b, 4, (uint32_t)b->size);
}

static void put_sample(bytes *b, uint64_t tick)
{
    static const char block[] = "PERF, then bytes without meaning";
    const log_row rows[] = {{"0", 0, 100 * tick, 0}, {"_Total", 0, 300 * tick, 0}, {"0", 0, 200 * tick, 0}};
    uint64_t time = local_time + 10000000 * tick;
    begin_sample(b);
    put_counter_item(b, 0, time, 50 * tick, 7 * tick, 1);
    put_instances_item(b, 0, time, rows, sizeof rows / sizeof rows[0]);
    size_t at = begin_item(b, 5);
    put_raw(b, block, sizeof block - 1);
    end_item(b, at);
    end_sample(b);
}

static void put_names(bytes *b)
{
    static const char *const strings[] = {"\\\\PC", "1", "1847", "2", "System", "4", "Memory"};
    for (size_t i = 0; i < sizeof strings / sizeof strings[0]; i++)
        put_text(b, strings[i]);
}

static void put_paths(bytes *b)
{
    PUT_U32(b, 0x6FF, 0x20008);
    put_path(b, 0, AVERAGE_BULK, 2725536, "\\\\PC", "PhysicalDisk", "0 C:", "Avg. Disk Bytes/Read");
    put_path(b, PFB_LOG_ALL_INSTANCES, TIMER_100NS_INV, 10000000, "\\\\PC", "Processor", "*", "% Processor Time");
    put_path(b, PFB_LOG_ALL_COUNTERS, 0x10, 0, "\\\\PC", "Memory", NULL, "*");
}

small_log make_small_log(void)
{
    small_log log = {.b = {.size = 0}};
    bytes *b = &log.b;
    bytes payload = {.size = 0};
    log.buffers[0] = begin_buffer(b);
    put_header(b, 4);
    end_buffer(b, log.buffers[0]);

    log.buffers[1] = begin_buffer(b);
    put_names(&payload);
    log.names = put_event(b, PFB_LOG_NAMES, 1, 1, payload.data, payload.size);
    payload.size = 0;
    put_paths(&payload);
    log.paths = put_event(b, PFB_LOG_PATHS, 1, 1, payload.data, payload.size);
    end_buffer(b, log.buffers[1]);

    log.buffers[2] = begin_buffer(b);
    payload.size = 0;
    put_sample(&payload, 1);
    log.samples[0] = put_event(b, PFB_LOG_SAMPLE, 1, 1, payload.data, payload.size);
    payload.size = 0;
    put_sample(&payload, 2);
    log.samples[1] = log.parts[0] = put_event(b, PFB_LOG_SAMPLE, 1, 2, payload.data, 96);
    end_buffer(b, log.buffers[2]);

    log.buffers[3] = begin_buffer(b);
    log.parts[1] = put_event(b, PFB_LOG_SAMPLE, 2, 2, payload.data + 96, payload.size - 96);
    payload.size = 0;
    put_u64(&payload, local_time + 10000000);
    put_u64(&payload, local_time + 20000000);
    PUT_U32(&payload, 2, 0);
    log.summary = put_event(b, PFB_LOG_SUMMARY, 1, 1, payload.data, payload.size);
    end_buffer(b, log.buffers[3]);
    return log;
}
