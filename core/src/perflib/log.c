/* SPDX-License-Identifier: MIT */
/* The container of perfmon logs: buffers, events, and records joined from events. docs/log.md has the layout. */
#include "perfblock/log.h"

#include "bytes/cursor.h"
#include "bytes/memory.h"
#include "bytes/view.h"

/* Sizes in bytes, and offsets of fields, of the headers of a buffer, of an event, and of an event with a part of a
 * record. */
enum {
    BUFFER_USED = 0x30,
    BUFFER_HEADER_BYTES = 0x48,

    EVENT_LAYOUT = 0x02,
    EVENT_LAYOUT_32 = 0xC00A, /* written by 32-bit Windows */
    EVENT_LAYOUT_64 = 0xC014, /* written by 64-bit Windows */
    EVENT_MIN_BYTES = 8,      /* has its layout and type */
    EVENT_TYPE = 0x04,
    EVENT_TIME = 0x10,
    EVENT_GUID = 0x18,
    EVENT_HEADER_BYTES = 0x30,

    PART_NUMBER = 0x40,
    PART_COUNT = 0x44,
    PART_HEADER_BYTES = 0x48
};

/* ---- The header of the log ------------------------------------------------------------------------------------- */

/* Offsets in the first event (TRACE_) and in its time zone (ZONE_), and sizes. The zone follows two pointers, whose
 * size depends on the Windows that wrote the log. */
enum {
    TRACE_LAYOUT_32 = 0xC001, /* at EVENT_LAYOUT */
    TRACE_LAYOUT_64 = 0xC002,
    TRACE_SIZE = 0x04,
    TRACE_START = 0x10,
    TRACE_BUFFER_SIZE = 0x20,
    TRACE_VERSION = 0x24,
    TRACE_BUILD = 0x28,
    TRACE_END = 0x30,
    TRACE_BUFFER_COUNT = 0x44,
    TRACE_POINTER_SIZE = 0x4C,
    TRACE_POINTERS = 0x58,
    TRACE_RECOGNISED_BYTES = 0x24, /* the part of the event by which a log is recognised */
    ZONE_NAME_BYTES = 64,
    ZONE_STANDARD_NAME = 4,
    ZONE_STANDARD_BIAS = 84,
    ZONE_DAYLIGHT_NAME = 88,
    ZONE_DAYLIGHT_BIAS = 168,
    ZONE_BYTES = 172
};

static pfb_name log_zone_name(const uint8_t *p)
{
    return (pfb_name){p, 2 * pfb_count_units(p, ZONE_NAME_BYTES / 2), PFB_ENCODING_UTF16LE};
}

static bool log_fail(pfb_log_reader *log, pfb_code code, size_t offset)
{
    log->error = (pfb_error){code, offset};
    return false;
}

static pfb_view log_view(const pfb_log_reader *log)
{
    return (pfb_view){log->data, log->size};
}

/* ---- Buffers --------------------------------------------------------------------------------------------------- */

/* A position in the events of the log. */
typedef struct log_position {
    size_t buffer, next_buffer; /* offsets of the current buffer, and of the one after it */
    size_t at, used_end;        /* offsets of the next event, and of the end of the buffer's events */
    bool is_cut;                /* the input ends at used_end, before the buffer's events do */
    uint64_t buffers_read;      /* including the current one */
} log_position;

/* The result of moving to a buffer or an event. */
typedef enum log_step { LOG_FOUND, LOG_SKIPPED, LOG_ENDED, LOG_NEEDS_MORE, LOG_FAILED } log_step;

/* Checks the header of the buffer after the current one and moves to its first event. */
static log_step log_enter_buffer(pfb_log_reader *log, log_position *p)
{
    size_t at = p->next_buffer;
    size_t left = log->size - at;
    if (left < BUFFER_HEADER_BYTES && !log->is_last)
        return LOG_NEEDS_MORE;
    if (left == 0)
        return LOG_ENDED;
    if (left < BUFFER_HEADER_BYTES) {
        log_fail(log, PFB_TRUNCATED_BUFFER, at);
        return LOG_FAILED;
    }
    const uint8_t *header = pfb_checked(log_view(log), at, BUFFER_HEADER_BYTES);
    size_t size = load_le32(header);
    size_t used = load_le32(header + BUFFER_USED);
    if (size < BUFFER_HEADER_BYTES || size % 8 != 0) {
        log_fail(log, PFB_BAD_BUFFER_SIZE, at);
        return LOG_FAILED;
    }
    if (used < BUFFER_HEADER_BYTES || used > size) {
        log_fail(log, PFB_BAD_BUFFER_USED, at + BUFFER_USED);
        return LOG_FAILED;
    }
    if (size > left && !log->is_last)
        return LOG_NEEDS_MORE;
    p->buffer = at;
    p->next_buffer = at + (size < left ? size : left);
    p->at = at + BUFFER_HEADER_BYTES;
    p->used_end = at + (used < left ? used : left);
    p->is_cut = used > left;
    p->buffers_read++;
    return LOG_FOUND;
}

/* ---- Events ---------------------------------------------------------------------------------------------------- */

/* An event that holds a part of a record. */
typedef struct log_part {
    uint32_t type;
    uint32_t number, count; /* number: from 1 to count */
    uint64_t time;
    size_t payload; /* offset of the payload */
    size_t payload_size;
} log_part;

/* The GUID of events that hold a part of a record. */
static const uint8_t log_guid[16] = {0xB3, 0x3B, 0x3F, 0x93, 0x3E, 0x94, 0x0D, 0x49,
                                     0x9C, 0xED, 0x3C, 0xBB, 0x14, 0xC1, 0x44, 0x79};

/* Returns the offset of the event after one that ends at `end`, or used_end if there is none. Events begin at multiples
 * of 8 in their buffer. */
static size_t log_align(const log_position *p, size_t end)
{
    size_t padding = (8 - (end - p->buffer) % 8) % 8;
    return padding < p->used_end - end ? end + padding : p->used_end;
}

/* Reads the header of the log: the first event, whose layout differs from that of other events. */
static bool log_read_header(pfb_log_reader *log, log_position *at)
{
    size_t start = at->at;
    size_t left = at->used_end - start;
    if (left < TRACE_POINTERS)
        return log_fail(log, at->is_cut ? PFB_TRUNCATED_BUFFER : PFB_TRUNCATED_EVENT, start);
    const uint8_t *p = pfb_checked(log_view(log), start, TRACE_POINTERS);
    size_t size = load_le16(p + TRACE_SIZE);
    if (size > left && at->is_cut)
        return log_fail(log, PFB_TRUNCATED_BUFFER, start);
    log->pointer_size = load_le32(p + TRACE_POINTER_SIZE);
    if (log->pointer_size != 4 && log->pointer_size != 8)
        return log_fail(log, PFB_BAD_LOG_HEADER, start + TRACE_POINTER_SIZE);
    size_t zone = TRACE_POINTERS + 2 * (size_t)log->pointer_size;
    if (size < zone + ZONE_BYTES || size > left)
        return log_fail(log, PFB_BAD_EVENT_SIZE, start + TRACE_SIZE);
    log->start_time = load_le64(p + TRACE_START);
    log->end_time = load_le64(p + TRACE_END);
    log->major = p[TRACE_VERSION];
    log->minor = p[TRACE_VERSION + 1];
    log->build = load_le32(p + TRACE_BUILD);
    log->buffer_count = load_le32(p + TRACE_BUFFER_COUNT);
    const uint8_t *z = pfb_checked(log_view(log), start + zone, ZONE_BYTES);
    log->bias_minutes = signed_32(load_le32(z));
    log->standard_name = log_zone_name(z + ZONE_STANDARD_NAME);
    log->standard_bias_minutes = signed_32(load_le32(z + ZONE_STANDARD_BIAS));
    log->daylight_name = log_zone_name(z + ZONE_DAYLIGHT_NAME);
    log->daylight_bias_minutes = signed_32(load_le32(z + ZONE_DAYLIGHT_BIAS));
    at->at = log_align(at, start + size);
    return true;
}

/* Reads the event at the position, in the next buffer if the current one is at its end, and moves past it. Stores the
 * position of the event in *where. Returns LOG_SKIPPED if the event is not a part of a record of a known type. The size
 * of an event of unknown layout is unknown: the rest of its buffer is skipped, too. The header of a log that was
 * appended to the file is skipped alone: its lists of paths follow. */
static log_step log_next_event(pfb_log_reader *log, log_position *p, log_position *where, log_part *part)
{
    while (p->at == p->used_end && !p->is_cut) {
        log_step entered = log_enter_buffer(log, p);
        if (entered != LOG_FOUND)
            return entered;
    }
    *where = *p;
    size_t at = p->at;
    size_t left = p->used_end - at;
    if (left < EVENT_MIN_BYTES) {
        log_fail(log, p->is_cut ? PFB_TRUNCATED_BUFFER : PFB_TRUNCATED_EVENT, at);
        return LOG_FAILED;
    }
    const uint8_t *e = pfb_checked(log_view(log), at, EVENT_MIN_BYTES);
    uint32_t layout = load_le16(e + EVENT_LAYOUT);
    if (at == p->buffer + BUFFER_HEADER_BYTES && (layout == TRACE_LAYOUT_32 || layout == TRACE_LAYOUT_64)) {
        pfb_log_reader appended = *log;
        bool is_read = log_read_header(&appended, p);
        log->error = appended.error;
        return is_read ? LOG_SKIPPED : LOG_FAILED;
    }
    if (layout != EVENT_LAYOUT_32 && layout != EVENT_LAYOUT_64) {
        p->at = p->used_end;
        return LOG_SKIPPED;
    }
    size_t size = load_le16(e);
    if (size < EVENT_HEADER_BYTES || size > left) {
        log_fail(log, p->is_cut && size >= EVENT_HEADER_BYTES ? PFB_TRUNCATED_BUFFER : PFB_BAD_EVENT_SIZE, at);
        return LOG_FAILED;
    }
    e = pfb_checked(log_view(log), at, size);
    p->at = log_align(p, at + size);
    if (memcmp(e + EVENT_GUID, log_guid, sizeof log_guid) != 0)
        return LOG_SKIPPED;
    if (size < PART_HEADER_BYTES) {
        log_fail(log, PFB_BAD_EVENT_SIZE, at);
        return LOG_FAILED;
    }
    *part = (log_part){.type = load_le16(e + EVENT_TYPE),
                       .number = load_le32(e + PART_NUMBER),
                       .count = load_le32(e + PART_COUNT),
                       .time = load_le64(e + EVENT_TIME),
                       .payload = at + PART_HEADER_BYTES,
                       .payload_size = size - PART_HEADER_BYTES};
    bool is_known = part->type == PFB_LOG_PATHS || (part->type >= PFB_LOG_SAMPLE && part->type <= PFB_LOG_NAMES);
    return is_known ? LOG_FOUND : LOG_SKIPPED;
}

bool pfb_log_read_buffer(const void *data, size_t size, pfb_log_buffer *buffer)
{
    const pfb_view view = {data, data ? size : 0};
    *buffer = (pfb_log_buffer){.size_bytes = 0};
    if (view.size < BUFFER_HEADER_BYTES)
        return false;
    const uint8_t *header = pfb_checked(view, 0, BUFFER_HEADER_BYTES);
    size_t used = load_le32(header + BUFFER_USED);
    buffer->size_bytes = load_le32(header);
    if (buffer->size_bytes < BUFFER_HEADER_BYTES || buffer->size_bytes % 8 != 0 || used < BUFFER_HEADER_BYTES ||
        used > buffer->size_bytes)
        return false;
    const log_position p = {.used_end = used < view.size ? used : view.size};
    size_t event_bytes = 0;
    for (size_t at = BUFFER_HEADER_BYTES; p.used_end - at >= PART_HEADER_BYTES; at = log_align(&p, at + event_bytes)) {
        const uint8_t *e = pfb_checked(view, at, PART_HEADER_BYTES);
        uint32_t layout = load_le16(e + EVENT_LAYOUT);
        bool is_event = layout == EVENT_LAYOUT_32 || layout == EVENT_LAYOUT_64;
        bool is_header = at == BUFFER_HEADER_BYTES && (layout == TRACE_LAYOUT_32 || layout == TRACE_LAYOUT_64);
        event_bytes = load_le16(e + (is_header ? TRACE_SIZE : 0));
        if (is_event && memcmp(e + EVENT_GUID, log_guid, sizeof log_guid) == 0) {
            uint64_t time = load_le64(e + EVENT_TIME);
            if (!buffer->has_time) {
                buffer->type = load_le16(e + EVENT_TYPE);
                buffer->part = load_le32(e + PART_NUMBER);
                buffer->first_time = buffer->latest_time = time;
            }
            buffer->has_time = true;
            buffer->latest_time = time > buffer->latest_time ? time : buffer->latest_time;
        }
        if ((!is_event && !is_header) || event_bytes < EVENT_HEADER_BYTES || event_bytes > p.used_end - at)
            break;
    }
    return true;
}

/* ---- Opening --------------------------------------------------------------------------------------------------- */

static log_position log_get_position(const pfb_log_reader *log)
{
    return (log_position){log->buffer, log->next_buffer, log->at, log->used_end, log->is_cut, log->buffers_read};
}

static void log_set_position(pfb_log_reader *log, const log_position *p)
{
    log->buffer = p->buffer;
    log->next_buffer = p->next_buffer;
    log->at = p->at;
    log->used_end = p->used_end;
    log->is_cut = p->is_cut;
    log->buffers_read = p->buffers_read;
}

bool pfb_log_recognise(const void *data, size_t size)
{
    if (!data || size < BUFFER_HEADER_BYTES + TRACE_RECOGNISED_BYTES)
        return false;
    const uint8_t *p = data;
    /* The first event has a system header of 32-bit (1) or 64-bit Windows (2), and repeats the size of the buffer. */
    const uint8_t *event = p + BUFFER_HEADER_BYTES;
    return event[3] == 0xC0 && (event[2] == 1 || event[2] == 2) && load_le32(p) == load_le32(event + TRACE_BUFFER_SIZE);
}

bool pfb_log_open(pfb_log_reader *log, const void *data, size_t size, bool is_last, const pfb_read_options *options)
{
    *log = (pfb_log_reader){
        .data = data, .size = data ? size : 0, .is_strict = options && options->is_strict, .is_last = is_last};
    if (log->size < BUFFER_HEADER_BYTES + TRACE_RECOGNISED_BYTES)
        return log_fail(log, is_last ? PFB_TRUNCATED_HEADER : PFB_CALLER_TOO_SMALL, 0);
    if (!pfb_log_recognise(data, size))
        return log_fail(log, PFB_UNKNOWN_FORMAT, 0);
    log_position p = log_get_position(log);
    log_step entered = log_enter_buffer(log, &p);
    if (entered == LOG_NEEDS_MORE)
        return log_fail(log, PFB_CALLER_TOO_SMALL, 0);
    if (entered != LOG_FOUND)
        return false;
    if (!log_read_header(log, &p))
        return false;
    log_set_position(log, &p);
    return true;
}

bool pfb_log_continue(pfb_log_reader *log, const void *data, size_t size, bool is_last)
{
    if (log->error.code != PFB_OK)
        return false;
    if (!log->needs_more)
        return log_fail(log, PFB_CALLER_ORDER, 0);
    log->window_offset += log->resume_offset;
    log->data = data;
    log->size = data ? size : 0;
    log->is_last = is_last;
    log->needs_more = false;
    log->resume_offset = 0;
    log_position p = {.buffers_read = log->buffers_read};
    log_step entered = log_enter_buffer(log, &p);
    if (entered == LOG_FOUND && log->resume_at > BUFFER_HEADER_BYTES)
        p.at = log->resume_at < p.used_end ? log->resume_at : p.used_end;
    log->needs_more = entered == LOG_NEEDS_MORE;
    log_set_position(log, &p);
    return entered != LOG_FAILED;
}

/* ---- Records --------------------------------------------------------------------------------------------------- */

/* Stops reading until pfb_log_continue passes a window that begins at the buffer at the offset `buffer`. The events of
 * this buffer before `at` were read. Always returns false. */
static bool log_suspend(pfb_log_reader *log, size_t buffer, size_t at, uint64_t buffers_read)
{
    log->needs_more = true;
    log->resume_offset = buffer;
    log->resume_at = at - buffer;
    log->buffers_read = buffers_read;
    return false;
}

/* Records a deviation as a note, or as an error in strict mode. Returns true if reading may continue. */
static bool log_tolerate(pfb_log_reader *log, uint32_t note, pfb_code code, size_t offset)
{
    if (log->is_strict)
        return log_fail(log, code, offset);
    log->notes |= note;
    log->skipped_events++;
    return true;
}

/* Returns true if `part` is the part `number` of a record with this type and `count` parts. */
static bool log_is_part(const log_part *part, uint32_t type, uint64_t number, uint32_t count)
{
    return part->type == type && part->number == number && part->count == count;
}

/* Reads the parts of a record after the first one and moves past them. Returns LOG_SKIPPED at an event that is not the
 * next part. */
static log_step log_join(pfb_log_reader *log, log_position *p, const log_part *first, size_t *size)
{
    *size = first->payload_size;
    for (uint64_t number = 2; number <= first->count; number++) {
        log_position next = *p;
        log_position where;
        log_part part;
        log_step step = log_next_event(log, &next, &where, &part);
        if (step == LOG_ENDED) {
            log_fail(log, PFB_TRUNCATED_RECORD, log->size);
            return LOG_FAILED;
        }
        if (step == LOG_NEEDS_MORE || step == LOG_FAILED)
            return step;
        if (step == LOG_SKIPPED || !log_is_part(&part, first->type, number, first->count))
            return log_tolerate(log, PFB_NOTE_INCOMPLETE_RECORD, PFB_BAD_PART, where.at) ? LOG_SKIPPED : LOG_FAILED;
        *p = next;
        *size += part.payload_size;
    }
    return LOG_FOUND;
}

bool pfb_log_next_record(pfb_log_reader *log, pfb_log_record *record)
{
    log_position p = log_get_position(log);
    while (log->error.code == PFB_OK && !log->needs_more) {
        log_position where = p;
        log_part first = {0};
        size_t size = 0;
        log_step step = log_next_event(log, &p, &where, &first);
        if (step == LOG_NEEDS_MORE)
            return log_suspend(log, p.next_buffer, p.next_buffer, p.buffers_read);
        if (step == LOG_ENDED && p.buffers_read < log->buffer_count)
            log_fail(log, PFB_TRUNCATED_LOG, log->size);
        if (step == LOG_ENDED || step == LOG_FAILED)
            return false;
        if (step == LOG_SKIPPED) {
            log_tolerate(log, PFB_NOTE_UNKNOWN_EVENT, PFB_UNKNOWN_EVENT, where.at);
        } else if (first.number != 1 || first.count == 0) {
            log_tolerate(log, PFB_NOTE_INCOMPLETE_RECORD, PFB_BAD_PART, where.at);
            step = LOG_SKIPPED;
        } else {
            step = log_join(log, &p, &first, &size);
        }
        if (step == LOG_NEEDS_MORE)
            return log_suspend(log, where.buffer, where.at, where.buffers_read - 1);
        log_set_position(log, &p);
        if (step == LOG_FOUND) {
            *record = (pfb_log_record){.type = first.type,
                                       .offset = where.at,
                                       .size_bytes = size,
                                       .part_count = first.count,
                                       .time = first.time,
                                       .buffer = where.buffer,
                                       .next_buffer = where.next_buffer,
                                       .used_end = where.used_end};
            return true;
        }
    }
    return false;
}

/* Iterates over the parts of a record that pfb_log_next_record returned. All bounds are checked again, because the
 * bytes may have changed. */
typedef struct log_parts {
    pfb_log_reader log;
    log_position at;
    uint64_t number;
} log_parts;

static log_parts log_begin_parts(const pfb_log_reader *log, const pfb_log_record *record)
{
    log_position at = {.buffer = record->buffer,
                       .next_buffer = record->next_buffer,
                       .at = record->offset,
                       .used_end = record->used_end};
    return (log_parts){*log, at, 0};
}

static bool log_next_part(log_parts *parts, const pfb_log_record *record, log_part *part)
{
    log_position where;
    return parts->number++ < record->part_count && log_next_event(&parts->log, &parts->at, &where, part) == LOG_FOUND &&
           log_is_part(part, record->type, parts->number, record->part_count);
}

size_t pfb_log_copy_record(const pfb_log_reader *log, const pfb_log_record *record, void *memory, size_t capacity)
{
    log_parts parts = log_begin_parts(log, record);
    log_part part;
    size_t size = 0;
    while (log_next_part(&parts, record, &part)) {
        size_t left = capacity - size;
        size_t count = part.payload_size < left ? part.payload_size : left;
        if (count > 0)
            memcpy((uint8_t *)memory + size, pfb_checked(log_view(log), part.payload, count), count);
        size += count;
    }
    return size;
}

size_t pfb_log_record_offset(const pfb_log_reader *log, const pfb_log_record *record, size_t offset)
{
    log_parts parts = log_begin_parts(log, record);
    log_part part;
    size_t at = record->offset;
    while (log_next_part(&parts, record, &part)) {
        if (offset < part.payload_size)
            return part.payload + offset;
        offset -= part.payload_size;
        at = part.payload + part.payload_size;
    }
    return at;
}
