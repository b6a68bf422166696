/* SPDX-License-Identifier: MIT */
#include "baselines.h"

#include <stddef.h>
#include <string.h>

/* A position in the reply. take32 and take64 read one field; skip_to moves to a later offset. They return false if the
 * reply ends before the end of the field or before the offset, or if the offset is before the position. */
typedef struct stream {
    const uint8_t *data;
    size_t size;
    size_t at;
} stream;

static bool take32(stream *s, uint32_t *value)
{
    if (s->size - s->at < sizeof *value)
        return false;
    memcpy(value, s->data + s->at, sizeof *value);
    s->at += sizeof *value;
    return true;
}

static bool take64(stream *s, uint64_t *value)
{
    if (s->size - s->at < sizeof *value)
        return false;
    memcpy(value, s->data + s->at, sizeof *value);
    s->at += sizeof *value;
    return true;
}

static bool skip_to(stream *s, size_t offset)
{
    if (offset < s->at || offset > s->size)
        return false;
    s->at = offset;
    return true;
}

static void store(typical_processor *row, uint32_t id, uint64_t raw)
{
    switch (id) {
    case 0:
        row->processor_time = raw;
        break;
    case 1:
        row->user_time = raw;
        break;
    case 2:
        row->privileged_time = raw;
        break;
    case 3:
        row->interrupts = raw;
        break;
    case 4:
        row->dpc_time = raw;
        break;
    case 5:
        row->interrupt_time = raw;
        break;
    case 6:
        row->dpcs_queued = raw;
        break;
    case 7:
        row->dpc_rate = raw;
        break;
    case 8:
        row->idle_time = raw;
        break;
    case 9:
        row->c1_time = raw;
        break;
    case 10:
        row->c2_time = raw;
        break;
    case 11:
        row->c3_time = raw;
        break;
    case 12:
        row->c1_transitions = raw;
        break;
    case 13:
        row->c2_transitions = raw;
        break;
    case 14:
        row->c3_transitions = raw;
        break;
    case 15:
        row->priority_time = raw;
        break;
    case 16:
        row->parking_status = raw;
        break;
    case 17:
        row->frequency = raw;
        break;
    case 18:
        row->percent_of_maximum = raw;
        break;
    case 19:
        row->state_flags = raw;
        break;
    case 20:
        row->clock_interrupts = raw;
        break;
    case 21:
        row->average_idle = raw;
        break;
    case 22:
        row->average_idle_base = raw;
        break;
    case 23:
        row->idle_breaks = raw;
        break;
    case 24:
        row->performance = raw;
        break;
    case 25:
        row->performance_base = raw;
        break;
    case 26:
        row->utility = raw;
        break;
    case 27:
        row->utility_base = raw;
        break;
    case 28:
        row->privileged_utility = raw;
        break;
    case 29:
        row->unassigned = raw;
        break;
    case 30:
        row->performance_limit = raw;
        break;
    case 31:
        row->limit_flags = raw;
        break;
    default: /* other counters are ignored */
        break;
    }
}

/* PERF_COUNTER_DATA: the size of the data, the size of the whole structure, and the data. */
static bool read_value(stream *s, uint64_t *raw)
{
    size_t start = s->at;
    uint32_t data_size, size;
    if (!take32(s, &data_size) || !take32(s, &size) || size > s->size - start)
        return false;
    if (data_size == 4) {
        uint32_t narrow;
        if (!take32(s, &narrow))
            return false;
        *raw = narrow;
    } else if (data_size != 8 || !take64(s, raw)) {
        return false;
    }
    return skip_to(s, start + size);
}

static bool read_name(stream *s, size_t end, typical_processor *row)
{
    row->name = s->data + s->at;
    row->name_units = 0;
    for (size_t at = s->at; at + 2 <= end; at += 2) {
        if (s->data[at] == 0 && s->data[at + 1] == 0)
            return skip_to(s, end);
        row->name_units++;
    }
    return false;
}

static bool read_row(stream *s, const uint8_t *ids, uint32_t counter_count, typical_processor *row)
{
    size_t start = s->at;
    uint32_t size;
    if (!take32(s, &size) || !take32(s, &row->id) || size < 8 || size > s->size - start)
        return false;
    if (!read_name(s, start + size, row))
        return false;
    for (uint32_t i = 0; i < counter_count; i++) {
        uint32_t id;
        uint64_t raw;
        if (!read_value(s, &raw))
            return false;
        memcpy(&id, ids + 4 * i, sizeof id);
        store(row, id, raw);
    }
    return true;
}

/* Reads the headers of the reply and of its first result. *ids points to the counter ids in the reply, which may be
 * unaligned. */
static bool read_headers(stream *s, const uint8_t **ids, uint32_t *counter_count, uint32_t *instance_count)
{
    uint32_t total, results, kind, size, part;
    if (!take32(s, &total) || !take32(s, &results) || total > s->size || results == 0 || !skip_to(s, 52))
        return false;
    if (!take32(s, &kind) || !take32(s, &size) || kind != PFB_V2_COUNTERSET || !skip_to(s, 64))
        return false;
    if (!take32(s, &part) || !take32(s, counter_count) || part < 8 || part > s->size - 64 ||
        *counter_count > (part - 8) / 4)
        return false;
    *ids = s->data + s->at;
    return skip_to(s, 64 + (size_t)part) && take32(s, &size) && take32(s, instance_count);
}

bool typical_read(const uint8_t *data, size_t size, typical_processor *rows, size_t capacity, size_t *count)
{
    stream s = {data, size, 0};
    const uint8_t *ids;
    uint32_t counter_count, instance_count;
    if (!read_headers(&s, &ids, &counter_count, &instance_count) || instance_count > capacity)
        return false;
    for (*count = 0; *count < instance_count; ++*count) {
        if (!read_row(&s, ids, counter_count, &rows[*count]))
            return false;
    }
    return true;
}

uint64_t typical_sum(const typical_processor *row)
{
    enum { FIRST = offsetof(typical_processor, processor_time), COUNT = 32 };
    _Static_assert(sizeof *row == FIRST + COUNT * sizeof(uint64_t), "the numbers are not the last fields of a row");
    uint64_t numbers[COUNT]; /* the last fields of a row */
    uint64_t sum = 0;
    memcpy(numbers, (const uint8_t *)row + FIRST, sizeof numbers);
    for (int i = 0; i < COUNT; i++)
        sum += numbers[i];
    return sum;
}
