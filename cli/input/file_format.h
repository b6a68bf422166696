/* SPDX-License-Identifier: MIT */
#ifndef CLI_FILE_FORMAT_H
#define CLI_FILE_FORMAT_H

#include "input/input.h"

/* What a file is, judged by its bytes. */

typedef struct file_format {
    input_kind kind;         /* INPUT_UNKNOWN when it is none that can be recognised */
    const char *description; /* completes "the file ..."; static */
} file_format;

/* Recognises captures, V1 blocks, name tables and V2 data; names everything else for what it looks like. `held_size`
 * bytes of the file's beginning are at `data`, which may be all of them; `file_size` is the size of the whole.
 * Reads bounded parts of the beginning, and of a file that begins with zeros as many bytes as are zero. */
file_format file_format_recognise(const uint8_t *data, size_t held_size, uint64_t file_size);

#endif
