/* SPDX-License-Identifier: MIT */
#ifndef CLI_CHUNK_H
#define CLI_CHUNK_H

#include "perfblock/capture.h"
#include "perfblock/source.h"

/* Appends a chunk to a capture in memory. Of `chunk`, uses what pfb_capture_write() uses. When memory runs
 * out, the program ends (memory.h). */
void chunk_append(pfb_bytes *capture, const pfb_chunk *chunk, const void *body, size_t size);

/* The label of FILE chunks for a file: its name without folders. */
pfb_name chunk_file_label(const char *path);

#endif
