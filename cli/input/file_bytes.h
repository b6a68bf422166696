/* SPDX-License-Identifier: MIT */
#ifndef CLI_FILE_BYTES_H
#define CLI_FILE_BYTES_H

#include "perfblock/log.h"

/* Bytes of a file that form a reply, a block, a record or a list, and their position in the file. */
typedef struct file_bytes {
    const uint8_t *data;
    size_t size;
    size_t base;
    size_t depth; /* of the records that show prints of them */
    /* The record of a perfmon log that the bytes are part of, once its parts are joined: `base` counts from its start.
     */
    const pfb_log_reader *log;
    const pfb_log_record *record;
} file_bytes;

/* The offset in the file of a byte. */
static inline size_t file_bytes_offset(const file_bytes *bytes, size_t offset)
{
    offset += bytes->base;
    return bytes->log ? (size_t)bytes->log->window_offset + pfb_log_record_offset(bytes->log, bytes->record, offset)
                      : offset;
}

#endif
