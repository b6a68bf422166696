/* SPDX-License-Identifier: MIT */
/* Perfmon logs: buffers, events and records; paths, samples and their values. */
#include <criterion/criterion.h>

#include "perfblock/log.h"
#include "support_formula.h"
#include "support_log.h"
#include "support_types.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Whole logs ------------------------------------------------------------------------------------------------ */

/* Checks the records of the small log and their contents. */
static void check_small_log(const small_log *log, size_t window)
{
    static const uint32_t types[] = {PFB_LOG_NAMES, PFB_LOG_PATHS, PFB_LOG_SAMPLE, PFB_LOG_SAMPLE, PFB_LOG_SUMMARY};
    const size_t offsets[] = {log->names, log->paths, log->samples[0], log->samples[1], log->summary};
    uint8_t *copy = exact_copy(&log->b);
    log_walk walk = walk_log(copy, log->b.size, window, STRICT);
    size_t count = 0;
    while (walk_next(&walk)) {
        cr_assert_lt(count, sizeof types / sizeof types[0]);
        cr_expect_eq(walk.record.type, types[count], "record %zu", count);
        cr_expect_eq(walk.record_offset, offsets[count], "record %zu", count);
        cr_expect_eq(walk.record.part_count, count == 3 ? 2 : 1, "record %zu", count);
        cr_expect_eq(walk.record.time, 130057734178440000, "record %zu", count);
        count++;
    }
    expect_error(walk.reader.error, PFB_OK, 0, "small log");
    expect_error(walk.path_error, PFB_OK, 0, "paths");
    expect_error(walk.sample_error, PFB_OK, 0, "sample");
    cr_expect_eq(count, 5, "window of %zu bytes: %zu records", window, count);
    cr_expect(!walk_next(&walk), "nothing follows the last record");
    cr_expect_eq(walk.path_count, 3);
    const pfb_log_values *newer = &walk.samples[1];
    cr_assert_eq(newer->count, 4);
    cr_expect(newer->values[0].first == 100 && newer->values[0].second == 14 && !newer->values[0].has_instance);
    static const struct {
        const char *name;
        uint64_t first;
        uint32_t occurrence;
    } rows[] = {{"0", 200, 0}, {"_Total", 600, 0}, {"0", 400, 1}};
    for (uint32_t i = 0; i < 4; i++)
        cr_expect_eq(newer->values[i].older, i, "value %u", i);
    for (uint32_t i = 0; i < 3; i++) {
        const pfb_log_value *value = &newer->values[i + 1];
        cr_expect(value->has_instance && has_text(&value->instance, rows[i].name) && value->first == rows[i].first &&
                      value->occurrence == rows[i].occurrence && value->path == 1,
                  "instance %u", i);
    }
    walk_free(&walk);
    free(copy);
}

Test(log, records_and_values_of_a_small_log_are_read)
{
    small_log log = make_small_log();
    check_small_log(&log, SIZE_MAX);
    cr_expect(pfb_log_recognise(log.b.data, log.b.size));
}

Test(log, windows_of_any_size_give_the_same_records)
{
    small_log log = make_small_log();
    for (size_t window = 1; window <= log.b.size; window++)
        check_small_log(&log, window);
}

Test(log, fields_of_the_header_are_read)
{
    small_log log = make_small_log();
    pfb_log_reader reader;
    cr_assert(pfb_log_open(&reader, log.b.data, log.b.size, true, STRICT));
    cr_expect_eq(reader.start_time, 130057734178440000);
    cr_expect_eq(reader.end_time, 130057734188440000);
    cr_expect(reader.major == 6 && reader.minor == 2 && reader.build == 9200);
    cr_expect(reader.pointer_size == 8 && reader.buffer_count == 4);
    cr_expect(reader.bias_minutes == 480 && reader.standard_bias_minutes == 0 && reader.daylight_bias_minutes == -60);
    cr_expect(has_text(&reader.standard_name, "Standard") && has_text(&reader.daylight_name, "Daylight"));
    cr_expect(reader.standard_name.size_bytes == 16 && reader.daylight_name.size_bytes == 16);
}

Test(log, records_are_copied_up_to_the_capacity)
{
    small_log log = make_small_log();
    pfb_log_reader reader;
    pfb_log_record record;
    uint8_t whole[1024];
    uint8_t part[1024];
    pfb_log_open(&reader, log.b.data, log.b.size, true, NULL);
    while (pfb_log_next_record(&reader, &record)) {
        cr_assert_eq(pfb_log_copy_record(&reader, &record, whole, sizeof whole), record.size_bytes);
        for (size_t capacity = 0; capacity <= record.size_bytes; capacity++) {
            memset(part, 0xEE, sizeof part);
            cr_expect_eq(pfb_log_copy_record(&reader, &record, part, capacity), capacity);
            cr_expect(memcmp(part, whole, capacity) == 0 && part[capacity] == 0xEE);
        }
        for (size_t i = 0; i < record.size_bytes; i++)
            cr_expect_eq(log.b.data[pfb_log_record_offset(&reader, &record, i)], whole[i]);
        size_t end = pfb_log_record_offset(&reader, &record, record.size_bytes);
        cr_expect_eq(pfb_log_record_offset(&reader, &record, SIZE_MAX), end);
    }
}

Test(log, continue_is_refused_unless_more_data_is_needed)
{
    small_log log = make_small_log();
    pfb_log_reader reader;
    pfb_log_open(&reader, log.b.data, log.b.size, true, NULL);
    cr_expect(!pfb_log_continue(&reader, log.b.data, log.b.size, true));
    expect_error(reader.error, PFB_CALLER_ORDER, 0, "continue without needs_more");
    cr_expect(!pfb_log_open(&reader, log.b.data, 1023, false, NULL));
    expect_error(reader.error, PFB_CALLER_TOO_SMALL, 0, "a window smaller than the first buffer");
}

/* ---- Broken logs ----------------------------------------------------------------------------------------------- */

/* A change of a log or of a joined record: `width` bytes at `at` become `value`. */
typedef struct change {
    const char *name;
    size_t at;
    uint64_t value;
    unsigned width;
    pfb_code code;      /* expected error in strict mode */
    size_t offset;      /* of that error */
    uint32_t note;      /* expected note in tolerant mode; 0: the result is that of strict mode */
    size_t found_count; /* records or paths that are found in tolerant mode */
} change;

static size_t read_all(pfb_log_reader *reader, const uint8_t *data, size_t size, const pfb_read_options *options)
{
    pfb_log_record record;
    size_t count = 0;
    cr_expect_eq(pfb_log_open(reader, data, size, true, options), reader->error.code == PFB_OK);
    while (pfb_log_next_record(reader, &record)) {
        cr_expect_eq(reader->error.code, PFB_OK);
        count++;
    }
    return count;
}

Test(log, a_log_may_be_appended)
{
    small_log log = make_small_log();
    pfb_log_reader reader;
    size_t size = log.b.size;
    cr_assert_leq(2 * size, sizeof log.b.data);
    memcpy(log.b.data + size, log.b.data, size);
    cr_expect_eq(read_all(&reader, log.b.data, 2 * size, NULL), 10);
    expect_error(reader.error, PFB_OK, 0, "appended");
    cr_expect(reader.notes == PFB_NOTE_UNKNOWN_EVENT && reader.skipped_events == 1);
    cr_expect_eq(read_all(&reader, log.b.data, 2 * size, STRICT), 5);
    expect_error(reader.error, PFB_UNKNOWN_EVENT, size + 0x48, "appended");
}

Test(log, broken_buffers_and_events_are_rejected_or_noted)
{
    small_log log = make_small_log();
    const size_t *buffers = log.buffers;
    const size_t trace = 0x48;
    const change changes[] = {
        {"another signature", trace + 3, 0x40, 1, PFB_UNKNOWN_FORMAT, 0, 0, 0},
        {"buffer sizes that differ", trace + 0x20, 2048, 4, PFB_UNKNOWN_FORMAT, 0, 0, 0},
        {"pointers of 5 bytes", trace + 0x4C, 5, 4, PFB_BAD_LOG_HEADER, trace + 0x4C, 0, 0},
        {"a header too small", trace + 4, 0x113, 2, PFB_BAD_EVENT_SIZE, trace + 4, 0, 0},
        {"a header too large", trace + 4, 0x181, 2, PFB_BAD_EVENT_SIZE, trace + 4, 0, 0},
        {"a first buffer without events", 0x30, 0x48, 4, PFB_TRUNCATED_EVENT, trace, 0, 0},
        {"a first buffer that ends in the header's fields", 0x30, 0x48 + 0x57, 4, PFB_TRUNCATED_EVENT, trace, 0, 0},
        {"a first buffer that ends after the header's fields", 0x30, 0x48 + 0x58, 4, PFB_BAD_EVENT_SIZE, trace + 4, 0,
         0},
        {"a first buffer whose used size is below its header", 0x30, 0x47, 4, PFB_BAD_BUFFER_USED, 0x30, 0, 0},
        {"a first buffer whose used size is above its size", 0x30, 1025, 4, PFB_BAD_BUFFER_USED, 0x30, 0, 0},
        {"a header with more buffers than the log", trace + 0x44, 5, 4, PFB_TRUNCATED_LOG, 4096, 0, 5},
        {"a header with fewer buffers than the log", trace + 0x44, 0, 4, PFB_OK, 0, 0, 5},
        {"buffer size 0", buffers[2], 0, 4, PFB_BAD_BUFFER_SIZE, buffers[2], 0, 2},
        {"buffer size not a multiple of 8", buffers[2], 1020, 4, PFB_BAD_BUFFER_SIZE, buffers[2], 0, 2},
        {"buffer of the size of its header, with a larger used size", buffers[3], 0x48, 4, PFB_BAD_BUFFER_USED,
         buffers[3] + 0x30, 0, 3},
        {"a buffer past the end", buffers[3], 2048, 4, PFB_OK, 0, 0, 5},
        {"used size below the buffer header", buffers[2] + 0x30, 0x47, 4, PFB_BAD_BUFFER_USED, buffers[2] + 0x30, 0, 2},
        {"used size above the buffer size", buffers[2] + 0x30, 1025, 4, PFB_BAD_BUFFER_USED, buffers[2] + 0x30, 0, 2},
        {"used size that ends in an event header", buffers[3] + 0x30, 0x4C, 4, PFB_TRUNCATED_EVENT, buffers[3] + 0x48,
         0, 3},
        {"used size that ends 7 bytes into an event", buffers[3] + 0x30, 0x48 + 7, 4, PFB_TRUNCATED_EVENT,
         buffers[3] + 0x48, 0, 3},
        {"used size that ends 8 bytes into an event", buffers[3] + 0x30, 0x48 + 8, 4, PFB_BAD_EVENT_SIZE,
         buffers[3] + 0x48, 0, 3},
        {"used size that ends in an event", buffers[1] + 0x30, 0x90, 4, PFB_BAD_EVENT_SIZE, log.names, 0, 0},
        {"event smaller than a header", log.paths, 0x2F, 2, PFB_BAD_EVENT_SIZE, log.paths, 0, 1},
        {"event smaller than a part", log.paths, 0x47, 2, PFB_BAD_EVENT_SIZE, log.paths, 0, 1},
        {"event larger than the rest", log.paths, 0xFFFF, 2, PFB_BAD_EVENT_SIZE, log.paths, 0, 1},
        {"event of unknown layout", log.names + 2, 0xC013, 2, PFB_UNKNOWN_EVENT, log.names, PFB_NOTE_UNKNOWN_EVENT, 3},
        {"a header of a log that is not first in its buffer", log.summary + 2, 0xC002, 2, PFB_UNKNOWN_EVENT,
         log.summary, PFB_NOTE_UNKNOWN_EVENT, 4},
        {"a broken header of a log", buffers[3] + 0x48 + 2, 0xC001, 2, PFB_BAD_LOG_HEADER, buffers[3] + 0x48 + 0x4C, 0,
         3},
        {"event of 32-bit Windows", log.names + 2, 0xC00A, 2, PFB_OK, 0, 0, 5},
        {"event of another GUID", log.names + 0x18, 0, 1, PFB_UNKNOWN_EVENT, log.names, PFB_NOTE_UNKNOWN_EVENT, 4},
        {"event of another type", log.names + 4, 0x21, 2, PFB_UNKNOWN_EVENT, log.names, PFB_NOTE_UNKNOWN_EVENT, 4},
        {"part 0", log.names + 0x40, 0, 4, PFB_BAD_PART, log.names, PFB_NOTE_INCOMPLETE_RECORD, 4},
        {"part 2 first", log.names + 0x40, 2, 4, PFB_BAD_PART, log.names, PFB_NOTE_INCOMPLETE_RECORD, 4},
        {"a record of 0 parts", log.names + 0x44, 0, 4, PFB_BAD_PART, log.names, PFB_NOTE_INCOMPLETE_RECORD, 4},
        {"a part of another record", log.parts[1] + 4, PFB_LOG_PATHS, 2, PFB_BAD_PART, log.parts[1],
         PFB_NOTE_INCOMPLETE_RECORD, 4},
        {"a part repeated", log.parts[1] + 0x40, 1, 4, PFB_BAD_PART, log.parts[1], PFB_NOTE_INCOMPLETE_RECORD, 4},
        {"a part left out", log.parts[1] + 0x40, 3, 4, PFB_BAD_PART, log.parts[1], PFB_NOTE_INCOMPLETE_RECORD, 4},
        {"a part of a record of three parts", log.parts[1] + 0x44, 3, 4, PFB_BAD_PART, log.parts[1],
         PFB_NOTE_INCOMPLETE_RECORD, 4},
        {"an event of another GUID instead of a part", log.parts[1] + 0x18, 0, 1, PFB_BAD_PART, log.parts[1],
         PFB_NOTE_INCOMPLETE_RECORD | PFB_NOTE_UNKNOWN_EVENT, 4},
        {"a part missing at the end", log.summary + 0x44, 2, 4, PFB_TRUNCATED_RECORD, 4096, 0, 4},
        {"very many parts", log.summary + 0x44, UINT32_MAX, 4, PFB_TRUNCATED_RECORD, 4096, 0, 4},
    };
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        const change *c = &changes[i];
        bytes b = log.b;
        for (unsigned k = 0; k < c->width; k++)
            b.data[c->at + k] = (uint8_t)(c->value >> 8 * k);
        uint8_t *copy = exact_copy(&b);
        pfb_log_reader reader;
        read_all(&reader, copy, b.size, STRICT);
        expect_error(reader.error, c->code, c->offset, c->name);
        size_t count = read_all(&reader, copy, b.size, NULL);
        expect_error(reader.error, c->note ? PFB_OK : c->code, c->note ? 0 : c->offset, c->name);
        cr_expect_eq(reader.notes, c->note, "%s: notes %x", c->name, reader.notes);
        cr_expect_eq(reader.skipped_events > 0, c->note != 0, "%s", c->name);
        cr_expect_eq(count, c->found_count, "%s: %zu records", c->name, count);
        free(copy);
    }
}

static size_t event_end(const small_log *log, size_t event)
{
    return event + log->b.data[event] + 256u * log->b.data[event + 1];
}

static uint64_t little_endian(const bytes *b, size_t at, unsigned width)
{
    uint64_t number = 0;
    for (unsigned k = 0; k < width; k++)
        number |= (uint64_t)b->data[at + k] << 8 * k;
    return number;
}

/* The first event of a buffer and the latest of the times of all. */
Test(log, buffers_are_read_one_by_one)
{
    small_log log = make_small_log();
    const size_t events[] = {log.names, log.paths, log.samples[0], log.parts[0], log.parts[1], log.summary};
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++)
        log.b.data[events[i] + 0x10] = (uint8_t)(200 - 10 * i); /* descending */
    for (size_t i = 0; i < 4; i++) {
        size_t end = i < 3 ? log.buffers[i + 1] : log.b.size;
        size_t first = 0;
        while (first < 6 && events[first] < log.buffers[i])
            first++;
        bool has_event = first < 6 && events[first] < end;
        for (size_t size = 0; size <= end - log.buffers[i]; size++) {
            bytes part = {.size = size};
            memcpy(part.data, log.b.data + log.buffers[i], size);
            uint8_t *copy = exact_copy(&part);
            pfb_log_buffer buffer;
            bool is_in_memory = has_event && log.buffers[i] + size >= events[first] + 72;
            cr_expect_eq(pfb_log_read_buffer(copy, size, &buffer), size >= 72);
            cr_expect_eq(buffer.size_bytes, size >= 72 ? 1024 : 0);
            cr_expect_eq(buffer.has_time, is_in_memory, "buffer %zu, %zu bytes", i, size);
            cr_expect_eq(buffer.type, is_in_memory ? little_endian(&log.b, events[first] + 4, 2) : 0);
            cr_expect_eq(buffer.part, is_in_memory ? little_endian(&log.b, events[first] + 0x40, 4) : 0);
            cr_expect_eq(buffer.first_time, is_in_memory ? little_endian(&log.b, events[first] + 0x10, 8) : 0);
            cr_expect_eq(buffer.latest_time, buffer.first_time);
            free(copy);
        }
    }
    pfb_log_buffer buffer;
    log.b.data[log.parts[0] + 0x10] = 255;
    cr_expect(pfb_log_read_buffer(log.b.data + log.buffers[2], 1024, &buffer));
    cr_expect_eq(buffer.latest_time, little_endian(&log.b, log.parts[0] + 0x10, 8));
    cr_expect_lt(buffer.first_time, buffer.latest_time);
    static const struct {
        size_t at;
        uint32_t value;
    } bad[] = {{0, 64}, {0, 1028}, {0, 0}, {0x30, 71}, {0x30, 1025}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        small_log other = make_small_log();
        set_u32(&other.b, other.buffers[2] + bad[i].at, bad[i].value);
        cr_expect(!pfb_log_read_buffer(other.b.data + other.buffers[2], 1024, &buffer), "row %zu", i);
    }
    log.b.data[log.parts[0] + 2] = 0x0A; /* the layout 0xC00A of 32-bit Windows */
    cr_expect(pfb_log_read_buffer(log.b.data + log.buffers[2], 1024, &buffer) && buffer.has_time);
    cr_expect_eq(buffer.latest_time, little_endian(&log.b, log.parts[0] + 0x10, 8));
    cr_expect(!pfb_log_read_buffer(NULL, 100, &buffer));
}

/* A part without payload has 72 bytes. It is the only event of its buffer. */
Test(log, a_part_may_have_no_payload)
{
    for (uint8_t size = 71; size <= 72; size++) {
        small_log log = make_small_log();
        cr_assert_eq(log.names, log.buffers[1] + 0x48);
        log.b.data[log.names] = size;
        log.b.data[log.names + 1] = 0;
        set_u32(&log.b, log.buffers[1] + 0x30, 0x48 + 72);
        pfb_log_reader reader;
        pfb_log_record record;
        cr_assert(pfb_log_open(&reader, log.b.data, log.b.size, true, NULL));
        cr_assert_eq(pfb_log_next_record(&reader, &record), size == 72);
        if (size == 72)
            cr_expect(record.type == PFB_LOG_NAMES && record.size_bytes == 0);
        else
            expect_error(reader.error, PFB_BAD_EVENT_SIZE, log.names, "an event of 71 bytes");
    }
}

/* Each prefix of the log returns the records before its end, and one error unless only padding is missing. */
Test(log, truncated_logs_return_whole_records)
{
    small_log log = make_small_log();
    const size_t ends[] = {event_end(&log, log.names), event_end(&log, log.paths), event_end(&log, log.samples[0]),
                           event_end(&log, log.parts[1]), event_end(&log, log.summary)};
    for (size_t size = 1024; size < log.b.size; size++) {
        bytes b = log.b;
        b.size = size;
        uint8_t *copy = exact_copy(&b);
        pfb_log_reader reader;
        size_t expected = 0;
        while (expected < 5 && ends[expected] <= size)
            expected++;
        cr_expect_eq(read_all(&reader, copy, size, NULL), expected, "%zu bytes", size);
        if (expected == 5)
            expect_error(reader.error, PFB_OK, 0, "only padding is missing");
        else
            cr_expect(reader.error.code == PFB_TRUNCATED_BUFFER || reader.error.code == PFB_TRUNCATED_RECORD ||
                          reader.error.code == PFB_TRUNCATED_LOG,
                      "%zu bytes: %s", size, pfb_code_name(reader.error.code));
        cr_expect_leq(reader.error.offset, size);
        free(copy);
    }
}

/* An event of another provider may consist of its header only. */
Test(log, events_of_other_providers_may_have_no_payload)
{
    enum { HEADER_BYTES = 48 };
    for (uint8_t size = HEADER_BYTES - 1; size <= HEADER_BYTES; size++) {
        small_log log = make_small_log();
        log.b.data[log.names] = size;
        log.b.data[log.names + 1] = 0;
        log.b.data[log.names + 0x18] = 0; /* first byte of the GUID: another provider */
        uint8_t *copy = exact_copy(&log.b);
        pfb_log_reader reader;
        read_all(&reader, copy, log.b.size, NULL);
        bool is_refused = reader.error.code == PFB_BAD_EVENT_SIZE && reader.error.offset == log.names;
        cr_expect_eq(is_refused, size < HEADER_BYTES, "an event of %u bytes: %s", size,
                     pfb_code_name(reader.error.code));
        free(copy);
    }
}

/* A buffer is counted once, even if a window ends inside a record that begins in it. */
Test(log, each_buffer_is_counted_once)
{
    small_log log = make_small_log();
    log.b.data[0x48 + 0x44] = 5; /* the number of buffers in the header */
    for (size_t i = 1; i <= 4; i++) {
        bytes b = log.b;
        b.size = i < 4 ? log.buffers[i] : log.b.size;
        uint8_t *copy = exact_copy(&b);
        pfb_log_reader whole;
        size_t expected = read_all(&whole, copy, b.size, NULL);
        for (size_t window = 1; window <= b.size; window += 13) {
            log_walk walk = walk_log(copy, b.size, window, NULL);
            size_t count = 0;
            while (walk_next(&walk))
                count++;
            cr_expect_eq(count, expected, "%zu bytes in windows of %zu: %zu records", b.size, window, count);
            cr_expect_eq(walk.reader.error.code, whole.error.code, "%zu bytes in windows of %zu: %s", b.size, window,
                         pfb_code_name(walk.reader.error.code));
            walk_free(&walk);
        }
        free(copy);
    }
}

Test(log, empty_and_short_input_is_rejected)
{
    pfb_log_reader reader;
    pfb_log_record record;
    uint8_t zeros[256] = {0};
    cr_expect(!pfb_log_recognise(NULL, 0) && !pfb_log_recognise(NULL, 256) && !pfb_log_recognise(zeros, 107));
    cr_expect(!pfb_log_open(&reader, NULL, 256, true, NULL));
    expect_error(reader.error, PFB_TRUNCATED_HEADER, 0, "a null input");
    cr_expect(!pfb_log_next_record(&reader, &record));
    cr_expect(!pfb_log_open(&reader, zeros, 107, true, NULL));
    expect_error(reader.error, PFB_TRUNCATED_HEADER, 0, "an input of 107 bytes");
    cr_expect(!pfb_log_open(&reader, zeros, 108, true, NULL));
    expect_error(reader.error, PFB_UNKNOWN_FORMAT, 0, "an input of zeros");
}

/* ---- Paths ----------------------------------------------------------------------------------------------------- */

static pfb_error read_paths(const bytes *b, const pfb_read_options *options, uint32_t *notes, size_t *count)
{
    uint8_t *copy = exact_copy(b);
    pfb_log_path_reader reader;
    pfb_log_path path;
    *count = 0;
    pfb_log_open_paths(&reader, copy, b->size, options);
    while (pfb_log_next_path(&reader, &path))
        cr_expect_eq(path.position, (*count)++);
    cr_expect(!pfb_log_next_path(&reader, &path));
    *notes = reader.notes;
    free(copy);
    return reader.error;
}

static bytes two_paths(size_t *second)
{
    bytes b = {.size = 0};
    PUT_U32(&b, 0x6FF, 0x20008);
    put_path(&b, 0, 0x10410400, 3, "\\\\PC", "Memory", NULL, "Pages/sec");
    *second = b.size;
    put_path(&b, 0x20000011, 0x10, 0, NULL, "Process", "*", "*");
    return b;
}

Test(log, fields_of_paths_are_read)
{
    size_t second;
    bytes b = two_paths(&second);
    pfb_log_path_reader reader;
    pfb_log_path path;
    cr_assert(pfb_log_open_paths(&reader, b.data, b.size, STRICT));
    cr_assert(pfb_log_next_path(&reader, &path));
    cr_expect(path.offset == 8 && path.position == 0 && path.flags == 0 && path.user_data == 7);
    cr_expect(path.type == 0x10410400 && path.frequency == 3 && path.default_scale == -2 && path.instance_index == 3);
    cr_expect(has_text(&path.machine, "\\\\PC") && has_text(&path.object, "Memory") &&
              has_text(&path.counter, "Pages/sec"));
    cr_expect(!path.instance.bytes && !path.parent.bytes);
    cr_assert(pfb_log_next_path(&reader, &path));
    cr_expect(path.offset == second && path.position == 1 && path.flags == 0x20000011 && !path.machine.bytes);
    cr_expect(!pfb_log_next_path(&reader, &path));
    expect_error(reader.error, PFB_OK, 0, "two paths");
}

Test(log, broken_paths_are_rejected_or_noted)
{
    size_t second;
    const bytes whole = two_paths(&second);
    const change changes[] = {
        {"size below the header", second, 51, 4, PFB_BAD_ITEM_SIZE, second, 0, 1},
        {"size 0", 8, 0, 4, PFB_BAD_ITEM_SIZE, 8, 0, 0},
        {"size past the record", second, (uint32_t)(whole.size - second + 8), 4, PFB_BAD_ITEM_SIZE, second, 0, 1},
        {"size not a multiple of 8", second, (uint32_t)(whole.size - second - 1), 4, PFB_UNALIGNED_SIZE, second,
         PFB_NOTE_UNALIGNED_SIZE, 2},
        {"string outside the entry", second + 32, 1000, 4, PFB_BAD_STRING_OFFSET, second + 32, 0, 1},
        {"string at the end of the entry", second + 48, (uint32_t)(whole.size - second - 52), 4, PFB_TRUNCATED_STRING,
         whole.size, 0, 1},
        {"no counter", second + 48, UINT32_MAX, 4, PFB_OK, 0, 0, 2},
    };
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        const change *c = &changes[i];
        bytes b = whole;
        uint32_t notes;
        size_t count;
        set_u32(&b, c->at, (uint32_t)c->value);
        expect_error(read_paths(&b, STRICT, &notes, &count), c->code, c->offset, c->name);
        pfb_error error = read_paths(&b, NULL, &notes, &count);
        if (c->note && error.code == PFB_TRUNCATED_ITEM)
            error = (pfb_error){PFB_OK, 0}; /* the rest of an unaligned entry is read as another entry */
        expect_error(error, c->note ? PFB_OK : c->code, c->note ? 0 : c->offset, c->name);
        cr_expect(notes == c->note && count == c->found_count, "%s: %zu paths", c->name, count);
    }
    for (size_t size = 0; size < whole.size; size++) {
        bytes b = whole;
        uint32_t notes;
        size_t count;
        b.size = size;
        pfb_error error = read_paths(&b, NULL, &notes, &count);
        cr_expect_eq(error.code == PFB_OK, size == 8 || size == second, "%zu bytes", size);
        cr_expect_leq(error.offset, size);
    }
}

/* The smallest path entry is a header of 52 bytes without strings. */
Test(log, a_path_may_have_no_strings)
{
    for (uint32_t size = 51; size <= 52; size++) {
        bytes b = {.size = 0};
        uint32_t notes;
        size_t count;
        PUT_U32(&b, 0x6FF, 0x20008, size);
        put_fill(&b, 0xFF, 48); /* no string */
        expect_error(read_paths(&b, NULL, &notes, &count), size == 52 ? PFB_OK : PFB_BAD_ITEM_SIZE, size == 52 ? 0 : 8,
                     "a path without strings");
        cr_expect_eq(count, size == 52, "a path of %u bytes", size);
    }
}

/* ---- Samples --------------------------------------------------------------------------------------------------- */

static const log_row two_rows[] = {{"a", 0, 1, 2}, {"bcd", 0x800007D1, 3, 4}};

/* A sample with a counter, two instances and an item of kind 9. */
static bytes make_sample(size_t items[3])
{
    bytes b = {.size = 0};
    begin_sample(&b);
    items[0] = b.size;
    put_counter_item(&b, 1, 77, 5, 6, 4);
    items[1] = b.size;
    put_instances_item(&b, 0, 78, two_rows, 2);
    items[2] = b.size;
    PUT_U32(&b, 0x09034C42, 16, 1, 2);
    end_sample(&b);
    return b;
}

Test(log, fields_of_items_are_read)
{
    size_t items[3];
    bytes b = make_sample(items);
    pfb_log_sample_reader reader;
    pfb_log_item item;
    pfb_log_instance instance;
    cr_assert(pfb_log_open_sample(&reader, b.data, b.size, NULL));
    cr_expect(!pfb_log_next_instance(&reader, &instance), "no item is current");
    cr_assert(pfb_log_next_item(&reader, &item));
    cr_expect(item.kind == PFB_LOG_COUNTER && item.offset == items[0] && item.position == 0 && item.status == 1);
    cr_expect(item.time == 77 && item.first == 5 && item.second == 6 && item.multi_count == 4);
    cr_expect(!pfb_log_next_instance(&reader, &instance), "a counter has no instances");
    cr_assert(pfb_log_next_item(&reader, &item));
    cr_expect(item.kind == PFB_LOG_INSTANCES && item.position == 1 && item.time == 78 && item.instance_count == 2);
    cr_assert(pfb_log_next_instance(&reader, &instance));
    cr_expect(has_text(&instance.name, "a") && instance.status == 0 && instance.first == 1 && instance.second == 2);
    cr_assert(pfb_log_next_instance(&reader, &instance));
    cr_expect(has_text(&instance.name, "bcd") && instance.status == 0x800007D1);
    cr_expect(!pfb_log_next_instance(&reader, &instance));
    cr_assert(pfb_log_next_item(&reader, &item));
    cr_expect(item.kind == 9 && item.position == 2 && item.offset == items[2]);
    cr_expect(!pfb_log_next_item(&reader, &item));
    expect_error(reader.error, PFB_OK, 0, "items");
    cr_expect_eq(reader.notes, PFB_NOTE_UNKNOWN_ITEM);
}

static pfb_error read_sample(const bytes *b, const pfb_read_options *options, uint32_t *notes)
{
    uint8_t *copy = exact_copy(b);
    pfb_log_sample_reader reader;
    bool is_open = pfb_log_open_sample(&reader, copy, b->size, options);
    cr_expect_eq(is_open, reader.error.code == PFB_OK);
    pfb_log_item item;
    while (pfb_log_next_item(&reader, &item))
        cr_expect_eq(reader.error.code, PFB_OK);
    pfb_error error = reader.error;
    *notes = reader.notes;
    free(copy);
    return error;
}

Test(log, broken_samples_are_rejected_or_noted)
{
    size_t items[3];
    const bytes whole = make_sample(items);
    const size_t second = items[1];
    size_t names = 24 + 2 * 24; /* counted from the item's offset 8 */
    const change changes[] = {
        {"no signature", 0, 0x00034C43, 4, PFB_UNKNOWN_FORMAT, 0, 0, 0},
        {"size below the header", 4, 7, 4, PFB_BAD_RECORD_SIZE, 4, 0, 0},
        {"size past the record", 4, (uint32_t)(whole.size + 1), 4, PFB_BAD_RECORD_SIZE, 4, 0, 0},
        {"bytes after the sample", 4, (uint32_t)items[2], 4, PFB_TRAILING_BYTES, items[2], PFB_NOTE_TRAILING_BYTES, 0},
        {"item without signature", items[0], 0x01034C43, 4, PFB_BAD_ITEM, items[0], 0, 0},
        {"item below its header", items[0] + 4, 7, 4, PFB_BAD_ITEM_SIZE, items[0] + 4, 0, 0},
        {"item past the sample", items[2] + 4, 24, 4, PFB_BAD_ITEM_SIZE, items[2] + 4, 0, 0},
        {"counter too small", items[0] + 4, 40, 4, PFB_BAD_ITEM_SIZE, items[0] + 4, 0, 0},
        {"instances too small", second + 4, 24, 4, PFB_BAD_ITEM_SIZE, second + 4, 0, 0},
        {"more instances than bytes", second + 12, 3, 4, PFB_BAD_INSTANCE_COUNT, second + 12, 0, 0},
        {"very many instances", second + 12, UINT32_MAX, 4, PFB_BAD_INSTANCE_COUNT, second + 12, 0, 0},
        {"name among the entries", second + 32, (uint32_t)names - 1, 4, PFB_BAD_STRING_OFFSET, second + 32, 0, 0},
        {"name past the item", second + 56, 1000, 4, PFB_BAD_STRING_OFFSET, second + 56, 0, 0},
        {"name at the item's end", second + 56, (uint32_t)(items[2] - second - 8), 4, PFB_TRUNCATED_STRING, items[2], 0,
         0},
        {"names that share bytes", second + 56, (uint32_t)names, 4, PFB_UNKNOWN_ITEM, items[2], PFB_NOTE_UNKNOWN_ITEM,
         0},
        {"unknown kind", items[2], 0x06034C42, 4, PFB_UNKNOWN_ITEM, items[2], PFB_NOTE_UNKNOWN_ITEM, 0},
    };
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        const change *c = &changes[i];
        bytes b = whole;
        uint32_t notes;
        set_u32(&b, c->at, (uint32_t)c->value);
        expect_error(read_sample(&b, STRICT, &notes), c->code, c->offset, c->name);
        expect_error(read_sample(&b, NULL, &notes), c->note ? PFB_OK : c->code, c->note ? 0 : c->offset, c->name);
        cr_expect_eq(notes, c->note, "%s: 0x%x", c->name, (unsigned)notes);
    }
    for (size_t size = 0; size < whole.size; size++) {
        bytes b = whole;
        uint32_t notes;
        b.size = size;
        pfb_error error = read_sample(&b, NULL, &notes);
        cr_expect(error.code != PFB_OK && error.offset <= size, "%zu bytes", size);
        if (size < 8)
            continue;
        set_u32(&b, 4, (uint32_t)size);
        error = read_sample(&b, NULL, &notes);
        cr_expect_eq(error.code == PFB_OK, size == 8 || size == items[1] || size == items[2], "%zu bytes", size);
        cr_expect_leq(error.offset, size);
    }
}

/* The minimum size of an item is 48 bytes for a counter, 32 for instances, and 8 for other kinds. */
Test(log, each_kind_of_item_has_a_minimum_size)
{
    static const struct {
        uint32_t kind, min_size;
    } kinds[] = {{PFB_LOG_COUNTER, 48}, {PFB_LOG_INSTANCES, 32}, {PFB_LOG_OBJECT, 8}, {9, 8}};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        for (uint32_t size = 8; size <= 49; size++) {
            bytes b = {.size = 0};
            uint32_t notes;
            begin_sample(&b);
            size_t at = b.size;
            PUT_U32(&b, kinds[i].kind << 24 | 0x034C42, size, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
            b.size = at + size;
            set_u32(&b, 4, (uint32_t)b.size);
            bool is_valid = size >= kinds[i].min_size;
            char what[64];
            snprintf(what, sizeof what, "an item of kind %u and %u bytes", kinds[i].kind, size);
            expect_error(read_sample(&b, NULL, &notes), is_valid ? PFB_OK : PFB_BAD_ITEM_SIZE, is_valid ? 0 : at + 4,
                         what);
            pfb_code strict = size % 8 != 0        ? PFB_UNALIGNED_SIZE
                              : !is_valid          ? PFB_BAD_ITEM_SIZE
                              : kinds[i].kind == 9 ? PFB_UNKNOWN_ITEM
                                                   : PFB_OK;
            uint32_t strict_notes;
            size_t offset = strict == PFB_OK ? 0 : strict == PFB_UNKNOWN_ITEM ? at : at + 4;
            expect_error(read_sample(&b, STRICT, &strict_notes), strict, offset, what);
            uint32_t unaligned = size % 8 == 0 ? 0 : PFB_NOTE_UNALIGNED_SIZE;
            uint32_t unknown = kinds[i].kind == 9 ? PFB_NOTE_UNKNOWN_ITEM : 0;
            cr_expect_eq(notes, unaligned | unknown, "%s: notes %x", what, (unsigned)notes);
        }
    }
}

/* 200 instances share one name of 1000 characters. The reader limits how often it reads the name. */
Test(log, names_that_share_bytes_are_limited)
{
    enum { COUNT = 200, LENGTH = 1000 };
    bytes b = {.size = 0};
    begin_sample(&b);
    PUT_U32(&b, 0x02034C42, 32 + 24 * COUNT + 2 * LENGTH + 8, 0, COUNT, 0, 0, 0, 0);
    for (size_t i = 0; i < COUNT; i++) {
        PUT_U32(&b, 24 + 24 * COUNT, 0);
        put_u64(&b, 0);
        put_u64(&b, 0);
    }
    for (size_t i = 0; i < LENGTH; i++)
        put_u16(&b, 'x');
    put_fill(&b, 0, 8);
    end_sample(&b);
    uint32_t notes;
    expect_error(read_sample(&b, NULL, &notes), PFB_OVERLAPPING_STRINGS, 8 + 32 + 24 * 16, "names that share bytes");
}

/* ---- Names and summary ----------------------------------------------------------------------------------------- */

Test(log, names_and_summary_are_read)
{
    bytes b = {.size = 0};
    pfb_log_names names;
    pfb_log_summary summary;
    put_text(&b, "\\\\PC");
    put_text(&b, "2");
    put_text(&b, "System");
    expect_error(pfb_log_read_names(b.data, b.size, &names), PFB_OK, 0, "names");
    cr_expect(has_text(&names.machine, "\\\\PC") && names.table_offset == 10 && names.table_size_bytes == b.size - 10);
    expect_error(pfb_log_read_names(b.data, 8, &names), PFB_TRUNCATED_STRING, 0, "a machine without NUL");
    expect_error(pfb_log_read_names(NULL, 0, &names), PFB_TRUNCATED_STRING, 0, "an empty record of names");
    expect_error(pfb_log_read_names(NULL, 8, &names), PFB_TRUNCATED_STRING, 0, "a null record of names");
    b.size = 0;
    put_u64(&b, 11);
    put_u64(&b, 12);
    PUT_U32(&b, 13, 0);
    expect_error(pfb_log_read_summary(b.data, 20, &summary), PFB_OK, 0, "summary");
    cr_expect(summary.first_time == 11 && summary.last_time == 12 && summary.sample_count == 13);
    expect_error(pfb_log_read_summary(b.data, 19, &summary), PFB_TRUNCATED_HEADER, 0, "a short summary");
    cr_expect(summary.first_time == 0 && summary.last_time == 0 && summary.sample_count == 0);
}

/* ---- Values ---------------------------------------------------------------------------------------------------- */

enum { MAX_VALUES = 64 };

/* A sample and the values that were loaded from it. */
typedef struct loaded {
    bytes b;
    pfb_log_value values[MAX_VALUES];
    uint32_t order[MAX_VALUES];
    pfb_log_values table;
} loaded;

/* Makes and loads a sample of three items: instances named by the letters of `names`, a counter, and the same instances
 * again. `like` may be null. */
static void load_instances(loaded *l, const char *names, const loaded *like)
{
    log_row rows[MAX_VALUES];
    char texts[MAX_VALUES][2];
    size_t count = strlen(names);
    for (size_t i = 0; i < count; i++) {
        texts[i][0] = names[i];
        texts[i][1] = '\0';
        rows[i] = (log_row){texts[i], 0, i, 0};
    }
    l->b.size = 0;
    begin_sample(&l->b);
    put_instances_item(&l->b, 0, 1, rows, count);
    put_counter_item(&l->b, 0, 1, 9, 9, 1);
    put_instances_item(&l->b, 0, 1, rows, count);
    end_sample(&l->b);
    l->table = (pfb_log_values){
        .values = l->values, .order = l->order, .capacity = MAX_VALUES, .like = like ? &like->table : NULL};
    expect_error(pfb_log_load(&l->table, l->b.data, l->b.size, NULL), PFB_OK, 0, names);
    cr_assert_eq(l->table.count, 2 * count + 1);
}

/* The k-th instance with a name matches the k-th instance with that name in the older sample. */
Test(log, instances_are_matched_by_name_and_occurrence)
{
    static const struct {
        const char *older, *newer;
    } cases[] = {{"", ""},           {"", "abc"},       {"abc", ""},          {"abc", "abc"},
                 {"abc", "cba"},     {"aab", "aba"},    {"aaa", "aaaaa"},     {"aaaa", "a"},
                 {"abcdef", "bdfg"}, {"zyx", "xazbyc"}, {"ababab", "bbbaaa"}, {"hgfedcba", "badcfehg"}};
    for (size_t n = 0; n < 2 * sizeof cases / sizeof cases[0]; n++) { /* without and with `like` */
        const size_t i = n / 2;
        loaded older;
        loaded newer;
        load_instances(&older, cases[i].older, NULL);
        load_instances(&newer, cases[i].newer, n % 2 == 1 ? &older : NULL);
        bool is_like = cases[i].older[0] != '\0' && strcmp(cases[i].older, cases[i].newer) == 0;
        cr_expect_eq(newer.table.is_like, is_like && n % 2 == 1, "%s, %s", cases[i].older, cases[i].newer);
        pfb_log_match(NULL, 0, &older.table, &newer.table);
        size_t older_count = strlen(cases[i].older);
        size_t count = strlen(cases[i].newer);
        for (size_t k = 0; k < count; k++) {
            uint32_t occurrence = 0;
            for (size_t m = 0; m < k; m++)
                occurrence += cases[i].newer[m] == cases[i].newer[k];
            uint32_t expected = PFB_LOG_NONE;
            uint32_t seen = 0;
            for (uint32_t m = 0; m < older_count; m++) {
                if (cases[i].older[m] == cases[i].newer[k] && seen++ == occurrence)
                    expected = m;
            }
            uint32_t second = expected == PFB_LOG_NONE ? PFB_LOG_NONE : expected + (uint32_t)older_count + 1;
            cr_expect_eq(newer.values[k].occurrence, occurrence, "%s, %s: %zu", cases[i].older, cases[i].newer, k);
            cr_expect_eq(newer.values[k].older, expected, "%s, %s: %zu", cases[i].older, cases[i].newer, k);
            cr_expect_eq(newer.values[count + 1 + k].older, second, "%s, %s: %zu", cases[i].older, cases[i].newer, k);
        }
        cr_expect_eq(newer.values[count].older, older_count, "%s, %s: the counter", cases[i].older, cases[i].newer);
        pfb_log_match(NULL, 0, &(pfb_log_values){.count = 0}, &newer.table);
        for (size_t k = 0; k < newer.table.count; k++)
            cr_expect_eq(newer.values[k].older, PFB_LOG_NONE, "%s: no older sample", cases[i].newer);
    }
}

Test(log, items_with_an_error_status_have_no_raw_value)
{
    bytes b = {.size = 0};
    pfb_log_value values[3];
    uint32_t order[3];
    pfb_log_values table = {.values = values, .order = order, .capacity = 3};
    begin_sample(&b);
    put_counter_item(&b, 0x800007D0, 1, 0, 0, 1);
    put_instances_item(&b, 0xC0000BB8, 1, NULL, 0);
    put_instances_item(&b, 0x800007D1, 1, two_rows, 1);
    end_sample(&b);
    expect_error(pfb_log_load(&table, b.data, b.size, NULL), PFB_OK, 0, "sample");
    cr_assert_eq(table.count, 3);
    static const char *const names[] = {"no_machine", "no_object", "no_instance"};
    const pfb_log_path path = {.type = RAWCOUNT};
    for (uint32_t i = 0; i < 3; i++) {
        cr_expect_eq(values[i].path, i);
        cr_expect_str_eq(pfb_pdh_status_name(values[i].status), names[i]);
        cr_expect(!pfb_pdh_has_value(values[i].status));
        cr_expect_eq(pfb_log_raw_value(&path, &values[i]).has, 0);
    }
    cr_expect(!values[1].has_instance && values[2].has_instance);
    cr_expect_str_eq(pfb_pdh_status_name(2), "unknown_status");
    table.capacity = 2;
    expect_error(pfb_log_load(&table, b.data, b.size, NULL), PFB_CALLER_TOO_SMALL, 8 + 48 + 32,
                 "a capacity of two for three values");
    cr_expect_eq(table.count, 2);
}

/* A change of a record: `width` bytes at `at` become `value`. */
typedef struct small_change {
    const char *name;
    size_t at;
    uint64_t value;
    unsigned width;
    bool is_like; /* the changed sample is still like the unchanged one */
} small_change;

/* The items of load_instances: instances from offset 8 on, the counter, instances. Headers of instances have 32 bytes,
 * entries 24, names 4 each. */
enum {
    FIRST_ENTRY = 8 + 32,
    FIRST_NAMES = FIRST_ENTRY + 3 * 24,
    COUNTER_ITEM = FIRST_NAMES + 3 * 4 + 4 /* padding */
};

/* A sample with the items and names of another one has the values that it has without `like`. */
Test(log, samples_that_are_like_another_one_have_their_own_values)
{
    static const small_change changes[] = {
        {"nothing", 0, 0, 0, true},
        {"the number of an instance", FIRST_ENTRY + 8, 77, 8, true},
        {"the second number of an instance", FIRST_ENTRY + 24 + 16, 77, 8, true},
        {"the status of an instance", FIRST_ENTRY + 4, 0x800007D1, 4, true},
        {"the status of all instances", 8 + 16, 0xC0000BB8, 4, true},
        {"the time of all instances", 8 + 24, 77, 8, true},
        {"the status of the counter", COUNTER_ITEM + 8, 0x800007D1, 4, true},
        {"the time of the counter", COUNTER_ITEM + 12, 77, 8, true},
        {"the number of the counter", COUNTER_ITEM + 24, 77, 8, true},
        {"the second number of the counter", COUNTER_ITEM + 32, 77, 8, true},
        {"the multi count", COUNTER_ITEM + 40, 77, 4, true},
        {"a name", FIRST_NAMES + 4, 'c', 2, false},
        {"the place of a name", FIRST_ENTRY, 24 + 3 * 24 + 4, 4, false},
        {"fewer instances", 8 + 12, 2, 4, false},
        {"another kind", COUNTER_ITEM + 3, 9, 1, false},
        {"a size that includes the counter", 8 + 4, COUNTER_ITEM + 48 - 8, 4, false},
    };
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        loaded older;
        loaded newer;
        loaded plain;
        load_instances(&older, "aba", NULL);
        load_instances(&newer, "aba", NULL);
        for (unsigned k = 0; k < changes[i].width; k++)
            newer.b.data[changes[i].at + k] = (uint8_t)(changes[i].value >> 8 * k);
        plain = newer;
        plain.table.values = plain.values;
        plain.table.order = plain.order;
        newer.table.like = &older.table;
        expect_error(pfb_log_load(&newer.table, newer.b.data, newer.b.size, NULL), PFB_OK, 0, changes[i].name);
        expect_error(pfb_log_load(&plain.table, plain.b.data, plain.b.size, NULL), PFB_OK, 0, changes[i].name);
        cr_expect_eq(newer.table.is_like, changes[i].is_like, "%s", changes[i].name);
        cr_assert_eq(newer.table.count, plain.table.count, "%s", changes[i].name);
        for (size_t k = 0; k < plain.table.count; k++) {
            const pfb_log_value *a = &newer.values[k];
            const pfb_log_value *b = &plain.values[k];
            cr_expect(a->offset == b->offset && a->path == b->path && a->status == b->status &&
                          a->occurrence == b->occurrence && a->older == PFB_LOG_NONE &&
                          a->has_instance == b->has_instance && a->time == b->time && a->first == b->first &&
                          a->second == b->second && a->multi_count == b->multi_count && a->key == 0 &&
                          newer.order[k] == plain.order[k],
                      "%s: value %zu", changes[i].name, k);
            cr_expect_eq(a->instance.size_bytes, b->instance.size_bytes, "%s: value %zu", changes[i].name, k);
            cr_expect(!a->has_instance || a->instance.bytes - newer.b.data == b->instance.bytes - plain.b.data);
        }
    }
}

/* A sample of which the offsets of the values do not show all items, and one with an error, are like no other one. */
Test(log, some_samples_are_like_no_other_one)
{
    loaded older;
    loaded newer;
    load_instances(&older, "ab", NULL);
    newer = older;
    newer.table = (pfb_log_values){.values = newer.values, .order = newer.order, .capacity = 4, .like = &older.table};
    expect_error(pfb_log_load(&newer.table, newer.b.data, newer.b.size, NULL), PFB_CALLER_TOO_SMALL, 8 + 32 + 56 + 48,
                 "the capacity is too small");
    cr_expect(!newer.table.is_like);
    newer.table.capacity = MAX_VALUES;
    newer.table.like = &newer.table; /* the incomplete one */
    expect_error(pfb_log_load(&newer.table, newer.b.data, newer.b.size, NULL), PFB_OK, 0, "like an incomplete one");
    cr_expect(!newer.table.is_like);
    newer.table.like = &older.table;
    expect_error(pfb_log_load(&newer.table, NULL, newer.b.size, NULL), PFB_TRUNCATED_HEADER, 0, "a null record");
    cr_expect(!newer.table.is_like && newer.table.count == 0);
    newer.b.data[0] ^= 1;
    expect_error(pfb_log_load(&newer.table, newer.b.data, newer.b.size, NULL), PFB_UNKNOWN_FORMAT, 0, "a signature");
    newer.b.data[0] ^= 1;
    for (uint8_t kind = 5; kind < 7; kind++) { /* an object, an unknown item: it is ignored */
        older.b.data[8 + 32 + 56 + 3] = newer.b.data[8 + 32 + 56 + 3] = kind;
        expect_error(pfb_log_load(&older.table, older.b.data, older.b.size, NULL), PFB_OK, 0,
                     "an item of another kind");
        expect_error(pfb_log_load(&newer.table, newer.b.data, newer.b.size, NULL), PFB_OK, 0,
                     "an item of another kind");
        cr_expect(!newer.table.is_like && newer.table.count == 4);
    }
    load_instances(&older, "ab", NULL);
    load_instances(&newer, "ab", NULL);
    put_fill(&older.b, 0, 8);
    expect_error(pfb_log_load(&older.table, older.b.data, older.b.size, NULL), PFB_OK, 0, "bytes after the sample");
    newer.table.like = &older.table;
    expect_error(pfb_log_load(&newer.table, older.b.data, older.b.size, NULL), PFB_OK, 0, "bytes after the sample");
    cr_expect(!newer.table.is_like && newer.table.count == 5);
    load_instances(&older, "", NULL); /* an item without instances */
    load_instances(&newer, "", &older);
    cr_expect(!newer.table.is_like && newer.table.count == 1);
    older.b.size = 0;
    begin_sample(&older.b);
    end_sample(&older.b);
    expect_error(pfb_log_load(&older.table, older.b.data, older.b.size, NULL), PFB_OK, 0, "an empty sample");
    newer.b = older.b;
    expect_error(pfb_log_load(&newer.table, newer.b.data, newer.b.size, NULL), PFB_OK, 0, "an empty sample");
    cr_expect(newer.table.is_like && newer.table.count == 0);
}

/* Depending on the counter type, the second value of a log is a time, a base, or unused. */
Test(log, the_counter_type_determines_the_second_value)
{
    enum { N = PFB_HAS_VALUE, M = PFB_HAS_MULTI_COUNT, F = PFB_HAS_PERF_FREQ, O = PFB_HAS_OBJECT_FREQ };
    static const struct {
        uint32_t type, has;
    } types[] = {
        {RAWCOUNT, N | M},
        {DELTA, N | M}, /* needs no time */
        {COUNTER, N | M | F | PFB_HAS_PERF_TIME},
        {TIMER, N | M | F | PFB_HAS_PERF_TIME},
        {TIMER_100NS_INV, N | M | PFB_HAS_PERF_TIME_100NS},
        {QUEUELEN_100NS, N | M | PFB_HAS_PERF_TIME_100NS},
        {OBJ_QUEUELEN, N | M | O | PFB_HAS_OBJECT_TIME},
        {OBJ_TIMER, N | M | O | PFB_HAS_OBJECT_TIME},
        {RAW_FRACTION, N | M | PFB_HAS_BASE},
        {PRECISION_100NS, N | M | PFB_HAS_BASE},
        {AVERAGE_TIMER, N | M | F | PFB_HAS_BASE},
        {AVERAGE_BULK, N | M | PFB_HAS_BASE},
        {ELAPSED, N | M | O | PFB_HAS_OBJECT_TIME},
        {PRECISION_OBJECT, N | M | O | PFB_HAS_BASE},
        {0x10510400, N | M | PFB_HAS_PERF_TIME_100NS}, /* rate by the 100 ns clock, not in winperf.h */
        {0x10610400, N | M | O | PFB_HAS_OBJECT_TIME}, /* rate by the object's clock, not in winperf.h */
        {0x20C20500, N | M | PFB_HAS_BASE},            /* fraction of 8 bytes, not in winperf.h */
        {0xFFFFFFFF, N | M},                           /* no type */
    };
    const pfb_log_value value = {.first = 11, .second = UINT64_MAX, .multi_count = 12};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        const pfb_log_path path = {.type = types[i].type, .frequency = 13};
        pfb_raw_value raw = pfb_log_raw_value(&path, &value);
        cr_expect_eq(raw.has, types[i].has, "%08x: %x", types[i].type, raw.has);
        cr_expect(raw.type == types[i].type && raw.value == 11 && raw.multi_count == 12, "%08x", types[i].type);
        cr_expect_eq(raw.base, raw.has & PFB_HAS_BASE ? UINT64_MAX : 0, "%08x", types[i].type);
        cr_expect_eq(raw.perf_time, raw.has & PFB_HAS_PERF_TIME ? -1 : 0, "%08x", types[i].type);
        cr_expect_eq(raw.perf_time_100ns, raw.has & PFB_HAS_PERF_TIME_100NS ? -1 : 0, "%08x", types[i].type);
        cr_expect_eq(raw.object_time, raw.has & PFB_HAS_OBJECT_TIME ? -1 : 0, "%08x", types[i].type);
        cr_expect_eq(raw.perf_freq, raw.has & F ? 13 : 0, "%08x", types[i].type);
        cr_expect_eq(raw.object_freq, raw.has & O ? 13 : 0, "%08x", types[i].type);
    }
}

/* Expects the values of `now`, whose older values are in `before`, to be those of formulas that are evaluated one by
 * one. The path of the last value is unknown. `before` may be null. */
static void expect_cooked(const pfb_log_path *paths, pfb_log_value *before, pfb_log_value *now, uint32_t count,
                          const pfb_formula_options *options)
{
    double values[128];
    uint8_t status_bytes[128];
    const pfb_log_values older = {.values = before, .count = count};
    const pfb_log_values newer = {.values = now, .count = count};
    cr_assert_leq(count, 128);
    pfb_log_cook(paths, count - 1, before ? &older : NULL, &newer, options, values, status_bytes);
    for (uint32_t i = 0; i < count; i++) {
        bool has_older = before && now[i].older != PFB_LOG_NONE && pfb_pdh_has_value(before[i].status);
        pfb_raw_value newer_raw = pfb_log_raw_value(&paths[i], &now[i]);
        pfb_raw_value older_raw = {.has = 0};
        if (has_older)
            older_raw = pfb_log_raw_value(&paths[i], &before[i]);
        pfb_formula_result wanted = pfb_formula_evaluate(has_older ? &older_raw : NULL, &newer_raw, options);
        if (i + 1 == count || !pfb_pdh_has_value(now[i].status))
            wanted = (pfb_formula_result){.status = PFB_STATUS_NO_DATA};
        pfb_formula_result result = pfb_formula_unpack(values[i], status_bytes[i], wanted.unit);
        cr_expect(result.status == wanted.status && result.flags == wanted.flags && result.value == wanted.value &&
                      result.integer == wanted.integer,
                  "%08x, value %u: %s, not %s", paths[i].type, i, pfb_status_name(result.status),
                  pfb_status_name(wanted.status));
    }
}

/* Every type, twice, so that kept formulas of other types are replaced. */
Test(log, values_of_a_sample_are_those_of_their_formulas)
{
    enum { STATUSES = 3, MAX_PATHS = 128 };
    static const uint32_t statuses[STATUSES][2] = {{0, 1}, {0x800007D5, 0}, {0, 0x800007D5}};
    static const uint32_t others[] = {0x10510400, 0x10610400, 0x20C20500, 0xFFFFFFFF};
    const pfb_formula_options options[] = {{0}, {.wrap32 = true, .generic = true, .cap_100 = true, .scale = 2}};
    pfb_log_path paths[MAX_PATHS];
    pfb_log_value before[MAX_PATHS];
    pfb_log_value now[MAX_PATHS];
    uint32_t count = 0;
    for (size_t i = 0; i < 2; i++) {
        const pfb_counter_type *type;
        for (size_t k = 0; (type = pfb_counter_type_at(k)) != NULL; k++)
            paths[count++] = (pfb_log_path){.type = type->value, .frequency = 1000 + i};
        for (size_t k = 0; k < sizeof others / sizeof others[0]; k++)
            paths[count++] = (pfb_log_path){.type = others[k], .frequency = 1000 + i};
    }
    for (size_t s = 0; s < STATUSES; s++) {
        for (uint32_t i = 0; i < count; i++) {
            before[i] = (pfb_log_value){.status = statuses[s][0], .path = i, .first = 4000000000, .second = 100 + i};
            now[i] = (pfb_log_value){.status = statuses[s][1],
                                     .path = i,
                                     .older = i % 7 == 0 ? PFB_LOG_NONE : i,
                                     .first = i % 5 == 0 ? 7 : 4000000000 + 3 * i,
                                     .second = 300 + 3 * i,
                                     .multi_count = i % 3};
        }
        for (size_t o = 0; o < 2; o++) {
            expect_cooked(paths, before, now, count, &options[o]);
            expect_cooked(paths, NULL, now, count, &options[o]);
        }
    }
}

/* Values of one type whose frequency, clocks or bases, and multi counts are those of the value before, or not. */
Test(log, values_after_one_of_the_same_type_have_their_own_conditions)
{
    enum { COUNT = 64 };
    static const pfb_formula_options options = {.generic = true};
    const pfb_counter_type *type;
    for (size_t k = 0; (type = pfb_counter_type_at(k)) != NULL; k++) {
        pfb_log_path paths[COUNT];
        pfb_log_value before[COUNT];
        pfb_log_value now[COUNT];
        for (uint32_t i = 0; i < COUNT; i++) {
            const uint32_t row = i / 2 % 8; /* each value has a second one like it, with other raw values */
            paths[i] = (pfb_log_path){.type = type->value, .frequency = 1000 + (row == 1)};
            before[i] = (pfb_log_value){
                .path = i, .first = 50 + i, .second = 100 + (row == 2), .multi_count = row == 3 ? 2 : i / 16 % 2};
            now[i] = (pfb_log_value){.path = i,
                                     .older = row == 6 ? PFB_LOG_NONE : i,
                                     .first = 60 + 3 * i,
                                     .second = 200 + (row == 4),
                                     .multi_count = row == 5 ? 3 + i % 2 : i / 32};
        }
        expect_cooked(paths, before, now, COUNT, &options);
    }
}

/* Raw values in PDH's form, written to a log and read from it, have the same displayed value: of each type, and of
 * types without a name. */
Test(log, raw_values_in_the_form_of_pdh_are_read_back)
{
    static const uint32_t unnamed[] = {0x10510400, 0x10610400, 0x20C20500, 0x22610500, 0x00012000};
    const pfb_formula_options generic = {.generic = true};
    size_t count = type_count() + sizeof unnamed / sizeof unnamed[0];
    for (size_t i = 0; i < count; i++) {
        uint32_t type = i < type_count() ? pfb_counter_type_at(i)->value : unnamed[i - type_count()];
        pfb_raw_value raw[2];
        pfb_raw_value read[2];
        for (int tick = 0; tick < 2; tick++) {
            raw[tick] = sample_at(type, tick, 50 + (uint64_t)tick * 15);
            pfb_pdh_raw pdh = pfb_formula_pdh_raw(&raw[tick]);
            const pfb_log_path path = {.type = type, .frequency = pdh.time_base};
            const pfb_log_value value = {
                .status = pdh.status, .first = pdh.first, .second = pdh.second, .multi_count = pdh.multi_count};
            read[tick] = pfb_log_raw_value(&path, &value);
        }
        pfb_formula_result expected = pfb_formula_evaluate(&raw[0], &raw[1], &generic);
        pfb_formula_result result = pfb_formula_evaluate(&read[0], &read[1], &generic);
        cr_expect(same_result(&result, &expected), "%08x: %s %.17g instead of %s %.17g", type,
                  pfb_status_name(result.status), result.value, pfb_status_name(expected.status), expected.value);
    }
}

/* Times are in units of 100 ns. Their difference is rounded to a multiple of 15 minutes. A difference of more than 15
 * hours is not the bias of a time zone. */
Test(log, the_bias_of_a_time_zone_is_rounded_to_15_minutes)
{
    static const struct {
        uint64_t utc, local;
        bool is_zone;
        int32_t minutes;
    } cases[] = {{130058022178447225, 130057734178440000, true, 480},
                 {128278704992984875, 128278596992980000, true, 180},
                 {1000, 1000, true, 0},
                 {0, 198000000000, true, -330},
                 {9000000000 / 2 - 1, 0, true, 0},
                 {9000000000 / 2, 0, true, 15},
                 {540000000000, 0, true, 900},
                 {540000000001, 0, false, 0},
                 {0, UINT64_MAX, false, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int32_t minutes = 0;
        cr_expect_eq(pfb_log_bias_between(cases[i].utc, cases[i].local, &minutes), cases[i].is_zone, "case %zu", i);
        cr_expect_eq(minutes, cases[i].minutes, "case %zu", i);
        const pfb_log_path timer = {.type = TIMER_100NS_INV};
        const pfb_log_path rate = {.type = COUNTER};
        pfb_log_value value = {.second = cases[i].utc, .time = cases[i].local};
        minutes = 0;
        cr_expect_eq(pfb_log_utc_bias(&timer, &value, &minutes), cases[i].is_zone, "case %zu", i);
        cr_expect_eq(minutes, cases[i].minutes, "case %zu", i);
        cr_expect(!pfb_log_utc_bias(&rate, &value, &minutes), "case %zu: a tick count is not a time", i);
        value.status = 0x800007D0;
        cr_expect(!pfb_log_utc_bias(&timer, &value, &minutes), "case %zu: a status without a value", i);
    }
}

/* A null pointer is empty input, whatever its size, and a reader with an error returns nothing more. */
Test(log, null_input_is_empty)
{
    pfb_log_reader log;
    pfb_log_record record;
    cr_expect(!pfb_log_open(&log, NULL, 4096, true, NULL) && log.error.code == PFB_TRUNCATED_HEADER);
    cr_expect(!pfb_log_next_record(&log, &record) && !pfb_log_continue(&log, NULL, 0, true));
    cr_expect_eq(log.error.code, PFB_TRUNCATED_HEADER);
    pfb_log_path_reader paths;
    pfb_log_path path;
    cr_expect(!pfb_log_open_paths(&paths, NULL, 4096, NULL) && paths.error.code == PFB_TRUNCATED_HEADER);
    cr_expect(!pfb_log_next_path(&paths, &path));
    pfb_log_sample_reader sample;
    pfb_log_item item;
    cr_expect(!pfb_log_open_sample(&sample, NULL, 4096, NULL) && sample.error.code == PFB_TRUNCATED_HEADER);
    cr_expect(!pfb_log_next_item(&sample, &item));
}

Test(log, null_records_and_windows_are_empty)
{
    pfb_log_summary summary;
    expect_error(pfb_log_read_summary(NULL, 20, &summary), PFB_TRUNCATED_HEADER, 0, "no summary");
    small_log log = make_small_log();
    pfb_log_reader reader;
    pfb_log_record record;
    cr_expect(!pfb_log_open(&reader, NULL, log.b.size, false, NULL));
    const pfb_read_options tolerant = {.is_strict = false};
    cr_assert(pfb_log_open(&reader, log.b.data, log.buffers[1], false, &tolerant));
    while (pfb_log_next_record(&reader, &record))
        continue;
    cr_assert(reader.needs_more);
    cr_expect(pfb_log_continue(&reader, NULL, log.b.size, true));
    cr_expect(!pfb_log_next_record(&reader, &record) && !reader.needs_more);
}

/* Between two windows the caller's memory changes: the buffer now declares fewer used bytes than were already read. */
Test(log, a_window_that_changes_is_read_inside_its_bounds)
{
    enum { USED_AT = 48, HEADER_BYTES = 72 };
    small_log log = make_small_log();
    for (size_t window = log.buffers[1]; window < log.b.size; window += 8) {
        pfb_log_reader reader;
        pfb_log_record record;
        unsigned count = 0;
        cr_assert(pfb_log_open(&reader, log.b.data, window, false, NULL));
        while (pfb_log_next_record(&reader, &record))
            continue;
        cr_assert(reader.needs_more);
        size_t resume_offset = reader.resume_offset;
        bytes rest = {.size = 0};
        put_raw(&rest, log.b.data + resume_offset, log.b.size - resume_offset);
        if (rest.size >= HEADER_BYTES)
            memcpy(rest.data + USED_AT, (const uint8_t[4]){HEADER_BYTES}, 4);
        uint8_t *copy = exact_copy(&rest);
        pfb_log_continue(&reader, copy, rest.size, true);
        while (pfb_log_next_record(&reader, &record))
            count++;
        cr_expect_leq(count, 5, "window of %zu bytes", window);
        free(copy);
    }
}

/* A caller may remove values before matching. The second of two equal names still matches the second one, although it
 * is now the only one. */
Test(log, instances_match_by_occurrence_after_values_were_removed)
{
    pfb_log_value older_values[2] = {{.has_instance = true}, {.has_instance = true, .occurrence = 1}};
    pfb_log_value newer_values[1] = {{.has_instance = true, .occurrence = 1}};
    uint32_t order[2] = {0, 1};
    pfb_log_values older = {.values = older_values, .order = order, .capacity = 2, .count = 2};
    pfb_log_values newer = {.values = newer_values, .order = order, .capacity = 1, .count = 1};
    pfb_log_match(NULL, 0, &older, &newer);
    cr_expect_eq(newer_values[0].older, 1);
}

/* ---- Ids of processes ------------------------------------------------------------------------------------------- */

/* A path of the tests of ids; the machine is "\\A" unless the object begins with "B:". */
typedef struct id_path {
    const char *object, *parent, *instance, *counter;
    uint32_t index;
    uint32_t type;
} id_path;

/* A value of the path at `path`; `name` null: the path is no wildcard. */
typedef struct id_value {
    uint32_t path;
    const char *name;
    uint32_t first;
    uint32_t status;
} id_value;

enum { ID_MAX = 16 };

typedef struct id_sample {
    bytes b;
    pfb_log_value values[ID_MAX];
    uint32_t order[ID_MAX], by_key[ID_MAX];
    pfb_log_values table;
} id_sample;

/* Returns a name in UTF-16LE whose bytes are never freed or moved: there are few. */
static pfb_name kept_name(const char *text)
{
    static uint8_t pool[1 << 16];
    static size_t used = 0;
    pfb_name name = {NULL, 0, PFB_ENCODING_UTF16LE};
    if (!text)
        return name;
    name.bytes = pool + used;
    for (; *text != '\0'; text++, name.size_bytes += 2) {
        cr_assert_lt(used, sizeof pool - 2);
        pool[used++] = (uint8_t)*text;
        pool[used++] = 0;
    }
    return name;
}

static size_t make_id_paths(const id_path *list, pfb_log_path *paths)
{
    size_t count = 0;
    for (; list->object; list++, count++) {
        bool is_b = strncmp(list->object, "B:", 2) == 0;
        paths[count] = (pfb_log_path){.position = (uint32_t)count,
                                      .machine = kept_name(is_b ? "\\\\B" : "\\\\A"),
                                      .object = kept_name(list->object + (is_b ? 2 : 0)),
                                      .parent = kept_name(list->parent),
                                      .instance = kept_name(list->instance),
                                      .instance_index = list->index,
                                      .counter = kept_name(list->counter),
                                      .type = list->type};
    }
    return count;
}

/* Loads a sample of values, of which those of one wildcard follow each other. `like` may be null. */
static void load_ids(id_sample *s, const id_value *list, const id_sample *like)
{
    log_row rows[ID_MAX];
    uint32_t path = 0;
    s->b.size = 0;
    begin_sample(&s->b);
    while (list->path != PFB_LOG_NONE) {
        size_t count = 0;
        uint32_t current = list->path;
        for (; path < current; path++) /* items of paths that the sample does not have */
            put_counter_item(&s->b, 0x800007D1, 1, 0, 0, 0);
        if (!list->name) {
            put_counter_item(&s->b, list->status, 1, list->first, 0, 0);
            list++;
        } else {
            for (; list->path == current; list++)
                rows[count++] = (log_row){list->name, list->status, list->first, 0};
            put_instances_item(&s->b, 0, 1, rows, count);
        }
        path++;
    }
    end_sample(&s->b);
    s->table = (pfb_log_values){
        .values = s->values, .order = s->order, .by_key = s->by_key, .capacity = ID_MAX, .key_count = 9};
    s->table.like = like ? &like->table : NULL;
    expect_error(pfb_log_load(&s->table, s->b.data, s->b.size, NULL), PFB_OK, 0, "ids");
}

#define ID_END                                                                                                         \
    {                                                                                                                  \
        PFB_LOG_NONE, NULL, 0, 0                                                                                       \
    }

Test(log, instances_are_matched_by_ids_of_processes)
{
    enum { NO = -1, RATE = 0x10410400, RAW = 0x10000 };
    static const id_path wildcards[] = {{"Process", NULL, "*", "% Processor Time", 0, RATE},
                                        {"process", NULL, "*", "ID PROCESS", 0, RAW},
                                        {.object = NULL}};
    static const id_path single[] = {{"Process", NULL, "a", "Rate", 0, RATE},
                                     {"Process", NULL, "a", "Rate", 1, RATE},
                                     {"Process", NULL, "b", "Rate", 0, RATE},
                                     {"Process", NULL, "a", "ID Process", 0, RAW},
                                     {"Process", NULL, "a", "ID Process", 1, RAW},
                                     {"Process", NULL, "b", "ID Process", 0, RAW},
                                     {.object = NULL}};
    static const id_path indexed[] = {{"Process", NULL, "a", "Rate", 0, RATE},
                                      {"Process", NULL, "a#12", "Rate", 0, RATE},
                                      {"Process", NULL, "#3", "Rate", 0, RATE},
                                      {"Process", NULL, "a", "ID Process", 0, RAW},
                                      {"Process", NULL, "a#12", "ID Process", 0, RAW},
                                      {"Process", NULL, "#3", "ID Process", 0, RAW},
                                      {.object = NULL}};
    static const id_path mixed[] = {{"Process", NULL, "a", "Rate", 1, RATE},
                                    {"Process", NULL, "*", "Rate", 0, RATE},
                                    {"Process", NULL, "*", "ID Process", 0, RAW},
                                    {"Memory", NULL, NULL, "Pages", 0, RATE},
                                    {.object = NULL}};
    static const id_path threads[] = {{"Thread", NULL, "*", "Rate", 0, RATE},
                                      {"Thread", NULL, "*", "ID Process", 0, RAW},
                                      {"Thread", NULL, "*", "ID Thread", 0, RAW},
                                      {.object = NULL}};
    static const id_path parents[] = {{"Thread", "p", "0", "Rate", 0, RATE},
                                      {"Thread", "p", "1", "Rate", 0, RATE},
                                      {"Thread", NULL, "*", "ID Thread", 0, RAW},
                                      {.object = NULL}};
    static const id_path thread_paths[] = {
        {"Thread", "p", "0", "Rate", 0, RATE},       {"Thread", "p", "1", "Rate", 0, RATE},
        {"Thread", "p", "0", "ID Thread", 0, RAW},   {"Thread", "p", "1", "ID Thread", 0, RAW},
        {"Thread", NULL, NULL, "ID Thread", 0, RAW}, {.object = NULL}};
    static const id_path objects[] = {
        {"Process", NULL, "*", "Rate", 0, RATE},   {"Process", NULL, "*", "ID Process", 0, RAW},
        {"B:Process", NULL, "*", "Rate", 0, RATE}, {"B:Process", NULL, "*", "ID Process", 0, RAW},
        {"System", NULL, "*", "Rate", 0, RATE},    {.object = NULL}};
    static const id_path repeated[] = {{"Process", NULL, "*", "Rate", 0, RATE},
                                       {"Process", NULL, "*", "ID Process", 0, RAW},
                                       {"Process", NULL, "*", "ID Process", 0, RAW},
                                       {"Process", NULL, "*", "ID Process", 0, RAW},
                                       {.object = NULL}};
    static const id_path numbered[] = {{"Process", NULL, "a#1", "Rate", 0, RATE},
                                       {"Process", NULL, "a#1234567890", "Rate", 0, RATE},
                                       {"Process", NULL, "*", "ID Process", 0, RAW},
                                       {.object = NULL}};
    static const struct {
        const char *what;
        const id_path *paths;
        id_value older[12], newer[12];
        int expected[4]; /* of the first values, from 1; 0: not checked */
    } cases[] = {
        {"a process ended, another began",
         wildcards,
         {{0, "a", 1, 0}, {0, "a", 2, 0}, {0, "b", 3, 0}, {1, "a", 5, 0}, {1, "a", 6, 0}, {1, "b", 7, 0}, ID_END},
         {{0, "a", 4, 0}, {0, "a", 1, 0}, {0, "b", 5, 0}, {1, "a", 6, 0}, {1, "a", 8, 0}, {1, "b", 7, 0}, ID_END},
         {2, NO, 3}},
        {"an id that another program uses",
         wildcards,
         {{0, "a", 1, 0}, {0, "b", 2, 0}, {1, "a", 5, 0}, {1, "b", 6, 0}, ID_END},
         {{0, "b", 3, 0}, {0, "a", 4, 0}, {1, "b", 5, 0}, {1, "a", 6, 0}, ID_END},
         {NO, NO}},
        {"names of other lengths",
         wildcards,
         {{0, "a", 1, 0}, {0, "bb", 2, 0}, {1, "a", 5, 0}, {1, "bb", 6, 0}, ID_END},
         {{0, "bb", 3, 0}, {0, "ccc", 4, 0}, {1, "bb", 6, 0}, {1, "ccc", 5, 0}, ID_END},
         {2, NO}},
        {"ids that are 0 or repeat: name and position",
         wildcards,
         {{0, "a", 1, 0}, {0, "b", 2, 0}, {0, "c", 3, 0}, {1, "a", 0, 0}, {1, "b", 6, 0}, {1, "c", 6, 0}, ID_END},
         {{0, "c", 1, 0}, {0, "b", 2, 0}, {0, "a", 3, 0}, {1, "c", 6, 0}, {1, "b", 6, 0}, {1, "a", 0, 0}, ID_END},
         {3, 2, 1}},
        {"an id that only the newer sample has",
         wildcards,
         {{0, "a", 1, 0}, {1, "a", 5, 0x800007D0}, ID_END},
         {{0, "a", 2, 0}, {1, "a", 5, 0}, ID_END},
         {1}},
        {"an id that only the older sample has",
         wildcards,
         {{0, "a", 1, 0}, {1, "a", 5, 0}, ID_END},
         {{0, "a", 2, 0}, {1, "a", 5, 0x800007D0}, ID_END},
         {1}},
        {"an id that no sample has, in another way",
         wildcards,
         {{0, "a", 1, 0}, {1, "a", 0, 0}, ID_END},
         {{0, "a", 2, 0}, {1, "a", 0, 0x800007D0}, ID_END},
         {1, 2}},
        {"not if the process has another position now",
         wildcards,
         {{0, "a", 1, 0}, {0, "a", 2, 0}, {1, "a", 5, 0}, {1, "a", 6, 0}, ID_END},
         {{0, "a", 2, 0}, {0, "a", 3, 0}, {1, "a", 0, 0}, {1, "a", 5, 0}, ID_END},
         {NO, 1}},
        {"a sample without ids", wildcards, {{0, "a", 1, 0}, ID_END}, {{0, "a", 2, 0}, ID_END}, {1}},
        {"paths of single instances",
         single,
         {{0, NULL, 1, 0}, {1, NULL, 2, 0}, {2, NULL, 3, 0}, {3, NULL, 5, 0}, {4, NULL, 6, 0}, {5, NULL, 7, 0}, ID_END},
         {{0, NULL, 1, 0}, {1, NULL, 2, 0}, {2, NULL, 3, 0}, {3, NULL, 6, 0}, {4, NULL, 8, 0}, {5, NULL, 7, 0}, ID_END},
         {2, NO, 3}},
        {"instances with their number in the name",
         indexed,
         {{0, NULL, 1, 0}, {1, NULL, 2, 0}, {2, NULL, 3, 0}, {3, NULL, 5, 0}, {4, NULL, 6, 0}, {5, NULL, 7, 0}, ID_END},
         {{0, NULL, 1, 0}, {1, NULL, 2, 0}, {2, NULL, 3, 0}, {3, NULL, 6, 0}, {4, NULL, 5, 0}, {5, NULL, 8, 0}, ID_END},
         {2, 1, NO}},
        {"an instance whose id is that of a wildcard",
         mixed,
         {{0, NULL, 1, 0}, {1, "a", 2, 0}, {1, "a", 3, 0}, {2, "a", 5, 0}, {2, "a", 6, 0}, {3, NULL, 1, 0}, ID_END},
         {{0, NULL, 1, 0}, {1, "a", 2, 0}, {1, "a", 3, 0}, {2, "a", 4, 0}, {2, "a", 5, 0}, {3, NULL, 1, 0}, ID_END},
         {2, NO, 2, NO}},
        {"threads, which are renumbered",
         threads,
         {{0, "p/0", 1, 0},
          {0, "p/1", 2, 0},
          {0, "x", 3, 0},
          {1, "p/0", 5, 0},
          {1, "p/1", 5, 0},
          {1, "x", 5, 0},
          {2, "p/0", 51, 0},
          {2, "p/1", 52, 0},
          {2, "x", 53, 0},
          ID_END},
         {{0, "p/0", 1, 0},
          {0, "q/0", 2, 0},
          {0, "y", 3, 0},
          {1, "p/0", 5, 0},
          {1, "q/0", 5, 0},
          {1, "y", 5, 0},
          {2, "p/0", 52, 0},
          {2, "q/0", 51, 0},
          {2, "y", 53, 0},
          ID_END},
         {2, NO, 3}},
        {"threads without an id",
         threads,
         {{0, "p/0", 1, 0},
          {0, "p/1", 2, 0},
          {1, "p/0", 5, 0},
          {1, "p/1", 6, 0},
          {2, "p/0", 0, 0},
          {2, "p/1", 0, 0},
          ID_END},
         {{0, "p/1", 1, 0},
          {0, "p/0", 2, 0},
          {1, "p/1", 5, 0},
          {1, "p/0", 7, 0},
          {2, "p/1", 0, 0},
          {2, "p/0", 0, 0},
          ID_END},
         {2, 1}},
        {"threads with a parent",
         parents,
         {{0, NULL, 1, 0}, {1, NULL, 2, 0}, {2, "p/0", 51, 0}, {2, "p/1", 52, 0}, ID_END},
         {{0, NULL, 1, 0}, {1, NULL, 2, 0}, {2, "p/0", 52, 0}, {2, "p/1", 53, 0}, ID_END},
         {2, NO}},
        {"threads with paths of their own",
         thread_paths,
         {{0, NULL, 1, 0}, {1, NULL, 2, 0}, {2, NULL, 51, 0}, {3, NULL, 52, 0}, {4, NULL, 9, 0}, ID_END},
         {{0, NULL, 1, 0}, {1, NULL, 2, 0}, {2, NULL, 52, 0}, {3, NULL, 51, 0}, {4, NULL, 9, 0}, ID_END},
         {2, 1}},
        {"names of digits, and names that end in digits",
         wildcards,
         {{0, "12", 1, 0},
          {0, "12", 2, 0},
          {0, "a12", 3, 0},
          {0, "a12", 4, 0},
          {1, "12", 5, 0},
          {1, "12", 6, 0},
          {1, "a12", 7, 0},
          {1, "a12", 8, 0},
          ID_END},
         {{0, "12", 1, 0},
          {0, "12", 2, 0},
          {0, "a12", 3, 0},
          {0, "12", 4, 0},
          {1, "12", 6, 0},
          {1, "12", 5, 0},
          {1, "a12", 8, 0},
          {1, "12", 7, 0},
          ID_END},
         {2, 1, 4, NO}},
        {"several machines and objects",
         objects,
         {{0, "a", 1, 0}, {1, "a", 5, 0}, {2, "a", 2, 0}, {3, "a", 5, 0}, {4, "a", 3, 0}, ID_END},
         {{0, "a", 1, 0}, {1, "a", 6, 0}, {2, "a", 2, 0}, {3, "a", 5, 0}, {4, "a", 3, 0}, ID_END},
         {NO, NO, 3, 4}},
        {"paths that contradict each other: name and position",
         repeated,
         {{0, "a", 1, 0}, {1, "a", 5, 0}, {2, "a", 6, 0}, {3, "a", 5, 0}, ID_END},
         {{0, "a", 1, 0}, {1, "a", 6, 0}, {2, "a", 7, 0}, {3, "a", 6, 0}, ID_END},
         {1}},
        {"paths that agree",
         repeated,
         {{0, "a", 1, 0}, {0, "a", 2, 0}, {1, "a", 5, 0}, {1, "a", 6, 0}, {2, "a", 5, 0}, {2, "a", 6, 0}, ID_END},
         {{0, "a", 1, 0}, {0, "a", 2, 0}, {1, "a", 6, 0}, {1, "a", 7, 0}, {2, "a", 6, 0}, {2, "a", 7, 0}, ID_END},
         {2, NO}},
        {"a path with a number, whose id is that of a wildcard",
         numbered,
         {{0, NULL, 1, 0}, {1, NULL, 2, 0}, {2, "a", 5, 0}, {2, "a", 6, 0}, {2, "a#1234567890", 7, 0}, ID_END},
         {{0, NULL, 1, 0}, {1, NULL, 2, 0}, {2, "a", 6, 0}, {2, "a", 8, 0}, {2, "a#1234567890", 9, 0}, ID_END},
         {NO, NO}},
        {"the same while the process lives",
         numbered,
         {{0, NULL, 1, 0}, {1, NULL, 2, 0}, {2, "a", 5, 0}, {2, "a", 6, 0}, {2, "a#1234567890", 7, 0}, ID_END},
         {{0, NULL, 1, 0}, {1, NULL, 2, 0}, {2, "a", 9, 0}, {2, "a", 6, 0}, {2, "a#1234567890", 7, 0}, ID_END},
         {1, 2}},
    };
    static id_sample older;
    static id_sample newer;
    for (size_t n = 0; n < 2 * sizeof cases / sizeof cases[0]; n++) { /* without and with `like` */
        const size_t i = n / 2;
        pfb_log_path paths[ID_MAX];
        uint32_t order[ID_MAX];
        size_t count = make_id_paths(cases[i].paths, paths);
        cr_assert(pfb_log_link_paths(paths, count, order));
        load_ids(&older, cases[i].older, NULL);
        pfb_log_identify(paths, count, &older.table);
        load_ids(&newer, cases[i].newer, n % 2 == 1 ? &older : NULL);
        pfb_log_identify(paths, count, &newer.table);
        pfb_log_match(paths, count, &older.table, &newer.table);
        for (size_t k = 0; k < 4 && cases[i].expected[k] != 0; k++) {
            uint32_t expected = cases[i].expected[k] == NO ? PFB_LOG_NONE : (uint32_t)cases[i].expected[k] - 1;
            cr_expect_eq(newer.values[k].older, expected, "%s: %zu: %d", cases[i].what, k, (int)newer.values[k].older);
        }
    }
}

/* Items without a path, and logs without paths of ids, have no ids. */
Test(log, values_without_paths_have_no_ids)
{
    static const id_path lists[][3] = {{{"Process", NULL, "*", "ID Process", 0, 0x10000}, {.object = NULL}},
                                       {{"Process", NULL, "*", "ID ProcesS0", 0, 0x10000}, {.object = NULL}}};
    static const id_value values[] = {{0, "a", 5, 0}, {1, "a", 6, 0}, {2, NULL, 7, 0}, ID_END};
    pfb_log_path paths[ID_MAX];
    uint32_t order[ID_MAX];
    static id_sample sample;
    cr_expect(!pfb_log_link_paths(paths, make_id_paths(lists[1], paths), order));
    size_t count = make_id_paths(lists[0], paths);
    cr_expect(pfb_log_link_paths(paths, count, order));
    load_ids(&sample, values, NULL);
    pfb_log_identify(paths, count, &sample.table);
    cr_expect_eq(sample.table.key_count, 1);
    pfb_log_match(paths, count, &sample.table, &sample.table);
    for (uint32_t i = 0; i < sample.table.count; i++)
        cr_expect_eq(sample.values[i].older, i);
    static id_sample same; /* the ids are taken over */
    load_ids(&same, values, &sample);
    cr_expect(same.table.is_like);
    pfb_log_identify(paths, count, &same.table);
    cr_expect_eq(same.table.key_count, 1);
    cr_expect(same.values[0].key == sample.values[0].key && same.values[0].key != 0 && same.by_key[0] == 0);
    pfb_log_match(paths, count, &sample.table, &same.table);
    for (uint32_t i = 0; i < same.table.count; i++)
        cr_expect_eq(same.values[i].older, i);
}

/* A caller that knows names in other languages sets the role of a path. */
Test(log, ids_may_have_names_in_other_languages)
{
    static const id_path list[] = {{"Prozess", NULL, "*", "Rate", 0, 0x10410400},
                                   {"Prozess", NULL, "*", "Prozesskennung", 0, 0x10000},
                                   {.object = NULL}};
    static const id_value older[] = {{0, "a", 1, 0}, {0, "a", 2, 0}, {1, "a", 5, 0}, {1, "a", 6, 0}, ID_END};
    static const id_value newer[] = {{0, "a", 2, 0}, {1, "a", 6, 0}, ID_END};
    pfb_log_path paths[ID_MAX];
    uint32_t order[ID_MAX];
    static id_sample samples[2];
    size_t count = make_id_paths(list, paths);
    cr_expect(!pfb_log_link_paths(paths, count, order));
    paths[1].role = PFB_LOG_PROCESS_ID;
    cr_expect(pfb_log_link_paths(paths, count, order));
    load_ids(&samples[0], older, NULL);
    load_ids(&samples[1], newer, &samples[0]);
    for (int i = 0; i < 2; i++)
        pfb_log_identify(paths, count, &samples[i].table);
    pfb_log_match(paths, count, &samples[0].table, &samples[1].table);
    cr_expect_eq(samples[1].values[0].older, 1, "the process with id 6 is the second one of the older sample");
}

/* The older values have no path any more, because the newer sample has another list of paths: they have no match. */
Test(log, values_of_removed_paths_are_not_found)
{
    static const id_path list[] = {{"Process", NULL, "*", "Rate", 0, 0x10410400},
                                   {"Process", NULL, "*", "ID Process", 0, 0x10000},
                                   {.object = NULL}};
    static const id_value values[] = {{0, "a", 1, 0}, {0, "b", 2, 0}, {1, "a", 5, 0}, {1, "b", 6, 0}, ID_END};
    pfb_log_path paths[ID_MAX];
    uint32_t order[ID_MAX];
    static id_sample samples[2];
    size_t count = make_id_paths(list, paths);
    cr_expect(pfb_log_link_paths(paths, count, order));
    for (int i = 0; i < 2; i++) {
        load_ids(&samples[i], values, NULL);
        pfb_log_identify(paths, count, &samples[i].table);
    }
    for (size_t i = 0; i < samples[0].table.count; i++)
        samples[0].values[i].path = PFB_LOG_NONE;
    pfb_log_match(paths, count, &samples[0].table, &samples[1].table);
    for (size_t i = 0; i < samples[1].table.count; i++)
        cr_expect_eq(samples[1].values[i].older, PFB_LOG_NONE);
}
