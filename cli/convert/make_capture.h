/* SPDX-License-Identifier: MIT */
#ifndef CLI_MAKE_CAPTURE_H
#define CLI_MAKE_CAPTURE_H

#include "names/metadata_files.h"
#include "names/titles.h"
#include "perfblock/capture.h"

/* Appends a chunk to a capture in memory. Only tag, guid, request and language of `chunk` are used. */
void make_capture_put(pfb_bytes *capture, const pfb_chunk *chunk, const void *body, size_t size);

/* The header of the chunk that stores a file of --registration or --query-info. */
pfb_chunk make_capture_chunk_of(const metadata_file *file);

#endif
