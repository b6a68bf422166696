/* SPDX-License-Identifier: MIT */
#ifndef CLI_FILE_BYTES_H
#define CLI_FILE_BYTES_H

#include "perfblock/log.h"

/* The bytes of a reply, a block, a record or a list, and where they are in the file. */
typedef struct file_bytes {
    const uint8_t *data;
    size_t size;
    size_t base;  /* offset of the first byte in the file; with `record`, in the record */
    size_t depth; /* nesting depth of the records that show prints for these bytes */
    /* Null, except for bytes of a perfmon log: its reader, and the record that the bytes are part of. A log may store a
     * record in several pieces, so offsets are counted in the joined record and converted to offsets in the file. */
    const pfb_log_reader *log;
    const pfb_log_record *record;
} file_bytes;

/* The offset in the file of the byte at `offset` of these bytes. */
static inline size_t file_bytes_offset(const file_bytes *bytes, size_t offset)
{
    offset += bytes->base;
    return bytes->log ? (size_t)bytes->log->window_offset + pfb_log_record_offset(bytes->log, bytes->record, offset)
                      : offset;
}

#endif
