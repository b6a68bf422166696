/* SPDX-License-Identifier: MIT */
#include "baselines.h"

#include <string.h>

/* Offsets in buffers, events, items and instances of a .blg; docs/log.md has the layout. */
enum {
    BUFFER_USED = 0x30,
    BUFFER_HEADER_BYTES = 0x48,
    EVENT_TYPE = 0x04,
    EVENT_PART = 0x40,
    EVENT_HEADER_BYTES = 0x48,
    ITEM_KIND = 3,
    ITEM_SIZE = 4,
    ITEM_HEADER_BYTES = 8,
    COUNTER_FIRST = 24,
    COUNTER_SECOND = 32,
    INSTANCES_COUNT = 12,
    INSTANCES_HEADER_BYTES = 32,
    INSTANCE_FIRST = 8,
    INSTANCE_SECOND = 16,
    INSTANCE_BYTES = 24
};

static uint16_t log16(const uint8_t *p)
{
    uint16_t value;
    memcpy(&value, p, sizeof value);
    return value;
}

static uint32_t log32(const uint8_t *p)
{
    uint32_t value;
    memcpy(&value, p, sizeof value);
    return value;
}

static uint64_t log64(const uint8_t *p)
{
    uint64_t value;
    memcpy(&value, p, sizeof value);
    return value;
}

/* Computes the value at `column` from its two numbers, and keeps them. */
static void compute(plain_log *log, size_t column, const plain_log_path *path, uint64_t first, uint64_t second)
{
    const uint64_t delta = first - log->first[column];
    const uint64_t elapsed = second - log->second[column];
    double value = (double)first;
    if (path->form == PLAIN_RATE)
        value = (double)delta * (double)path->frequency / (double)elapsed;
    else if (path->form == PLAIN_INVERSE_PERCENT)
        value = 100 * (1 - (double)delta / (double)elapsed);
    else if (path->form == PLAIN_AVERAGE_TIME)
        value = (double)delta / (double)path->frequency / (double)elapsed;
    log->values[column] = value;
    log->first[column] = first;
    log->second[column] = second;
}

static void read_sample(plain_log *log, const uint8_t *record, size_t size)
{
    size_t column = 0;
    uint32_t position = 0;
    for (size_t at = ITEM_HEADER_BYTES; at < size; at += log32(record + at + ITEM_SIZE), position++) {
        const uint8_t *item = record + at;
        const plain_log_path *path = &log->paths[position];
        if (item[ITEM_KIND] == PFB_LOG_COUNTER) {
            compute(log, column++, path, log64(item + COUNTER_FIRST), log64(item + COUNTER_SECOND));
            continue;
        }
        const uint8_t *instance = item + INSTANCES_HEADER_BYTES;
        for (uint32_t i = log32(item + INSTANCES_COUNT); i > 0; i--, instance += INSTANCE_BYTES)
            compute(log, column++, path, log64(instance + INSTANCE_FIRST), log64(instance + INSTANCE_SECOND));
    }
    log->count = column;
}

size_t plain_log_read(plain_log *log, const uint8_t *data, size_t size, plain_log_sample *use, void *context)
{
    size_t samples = 0;
    size_t joined = 0;
    for (size_t buffer = log32(data); buffer < size; buffer += log32(data + buffer)) {
        const size_t end = buffer + log32(data + buffer + BUFFER_USED);
        for (size_t at = buffer + BUFFER_HEADER_BYTES; at < end; at += ((size_t)log16(data + at) + 7) / 8 * 8) {
            const uint8_t *event = data + at;
            const size_t bytes = log16(event) - (size_t)EVENT_HEADER_BYTES;
            if (log16(event + EVENT_TYPE) != PFB_LOG_SAMPLE)
                continue;
            joined = log32(event + EVENT_PART) == 1 ? 0 : joined;
            memcpy(log->record + joined, event + EVENT_HEADER_BYTES, bytes);
            joined += bytes;
            if (log32(event + EVENT_PART) != log32(event + EVENT_PART + 4))
                continue;
            read_sample(log, log->record, joined);
            use(context, log);
            samples++;
        }
    }
    return samples;
}
