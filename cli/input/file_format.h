/* SPDX-License-Identifier: MIT */
#ifndef CLI_FILE_FORMAT_H
#define CLI_FILE_FORMAT_H

#include "input/input.h"

/* Recognises the format of a file from its bytes. */

typedef struct file_format {
    input_kind kind;         /* INPUT_UNKNOWN if it is none of those named below */
    const char *description; /* completes "the file ..."; static */
} file_format;

/* Recognises captures, V1 blocks, name tables, texts of CPI snapshots, perfmon logs and V2 data, and describes other
 * formats. `data` has the first `available` bytes of a file of `file_size` bytes. Examines a bounded number of them,
 * and in addition all zeros at the start of the file. */
file_format file_format_recognise(const uint8_t *data, size_t available, uint64_t file_size);

/* Returns INPUT_LOG or INPUT_PDH_TEXT for the first bytes of a file that is a log (--kind log). A .blg begins with the
 * size of its buffers, which is small enough that one of its 4 bytes is zero; text has no zero bytes. */
input_kind file_format_of_log(const uint8_t *data, size_t available);

#endif
