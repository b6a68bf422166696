/* SPDX-License-Identifier: MIT */
#ifndef CLI_FILE_FORMAT_H
#define CLI_FILE_FORMAT_H

#include "input/input.h"

/* The format of a file, recognised by its bytes. */

typedef struct file_format {
    input_kind kind;         /* INPUT_UNKNOWN for any other format */
    const char *description; /* completes "the file ..."; static */
} file_format;

/* Recognises captures, V1 blocks, name tables and V2 data, and describes other formats. `data` are the first
 * `held_size` bytes of a file of `file_size` bytes. Reads a bounded part of them, and of a file that begins with zeros
 * up to the first byte that is not zero. */
file_format file_format_recognise(const uint8_t *data, size_t held_size, uint64_t file_size);

#endif
