/* SPDX-License-Identifier: MIT */
#ifndef CLI_CHUNK_H
#define CLI_CHUNK_H

#include "perfblock/capture.h"
#include "perfblock/source.h"

/* Appends a chunk to a capture in memory. Only tag, guid, request and language of `chunk` are used. When memory runs
 * out, the program ends (memory.h). */
void chunk_append(pfb_bytes *capture, const pfb_chunk *chunk, const void *body, size_t size);

#endif
