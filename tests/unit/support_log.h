/* SPDX-License-Identifier: MIT */
#ifndef PFB_TEST_SUPPORT_LOG_H
#define PFB_TEST_SUPPORT_LOG_H

/* Reads a perfmon log as an application does: joins the parts of records, and stores the paths and the last two
 * samples. Writes a small log. */
#include "perfblock/log.h"
#include "support.h"

/* The log is passed to the reader in windows of `window` bytes, which grow as needed; SIZE_MAX: in one window. */
typedef struct log_walk {
    const uint8_t *data;
    size_t size;
    size_t window;
    pfb_log_reader reader;
    pfb_log_record record;
    uint8_t *bytes; /* of the joined record, in memory of exactly its size; null if it has paths or a sample */
    size_t bytes_size;
    uint64_t record_offset; /* in the log */
    /* Paths and the last two samples. */
    uint8_t *path_bytes;
    pfb_log_path *paths;
    uint32_t path_count;
    uint8_t *sample_bytes[2];
    pfb_log_values samples[2]; /* older, newer */
    pfb_error sample_error;    /* of the newer one */
    pfb_error path_error;
    uint32_t sample_count;
} log_walk;

log_walk walk_log(const uint8_t *data, size_t size, size_t window, const pfb_read_options *options);

/* Reads the next record. A PATHS record replaces the paths; a SAMPLE becomes the newer sample, matched with the one
 * before it. */
bool walk_next(log_walk *walk);

void walk_free(log_walk *walk);

/* ---- Writing --------------------------------------------------------------------------------------------------- */

/* The small log, and the offsets of its parts. */
typedef struct small_log {
    bytes b;
    size_t buffers[4];                        /* the first one has the header of the log */
    size_t names, paths, samples[2], summary; /* events */
    size_t parts[2];                          /* events of the second sample */
} small_log;

/* Makes a log of four buffers of 1 KiB with a record of every type: names, three paths (a counter, a wildcard, an
 * object), a sample in one event, a sample in two parts in different buffers, and the summary. */
small_log make_small_log(void);

/* These functions append to the payload of a record. */
void put_path(bytes *b, uint32_t flags, uint32_t type, uint64_t frequency, const char *machine, const char *object,
              const char *instance, const char *counter);
void put_counter_item(bytes *b, uint32_t status, uint64_t time, uint64_t first, uint64_t second, uint32_t multi_count);

/* An instance with the two values that a log stores for it. */
typedef struct log_row {
    const char *name;
    uint32_t status;
    uint64_t first, second;
} log_row;

void put_instances_item(bytes *b, uint32_t status, uint64_t time, const log_row *rows, size_t count);

/* Begin a sample, and set its size after its items were appended. */
void begin_sample(bytes *b);
void end_sample(bytes *b);

#endif
