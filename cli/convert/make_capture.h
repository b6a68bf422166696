/* SPDX-License-Identifier: MIT */
#ifndef CLI_MAKE_CAPTURE_H
#define CLI_MAKE_CAPTURE_H

#include "names/metadata_files.h"
#include "names/titles.h"
#include "perfblock/capture.h"

/* Appends a chunk to a capture in memory. Only tag, guid, request and language of `chunk` are used. */
void make_capture_put(pfb_bytes *capture, const pfb_chunk *chunk, const void *body, size_t size);

/* Makes a capture in memory from a file of another format: V2 replies with the metadata of --registration and
 * --query-info, V1 blocks, or the whole V1 objects of a perfmon log. Reports errors in the file; what precedes an error
 * is used. Returns false after a message if the file has nothing for a capture. */
bool make_capture(input *in, const metadata_files *metadata, const pfb_read_options *reader, pfb_bytes *capture);

/* Adds the metadata that a capture file lacks before its first V2 sample: `capture` receives a capture with this
 * metadata, followed by a copy of the file. Returns the number of bytes before the copy; 0 if nothing is missing, and
 * then nothing is copied. */
size_t make_capture_complete(const input *in, const metadata_files *metadata, pfb_bytes *capture);

#endif
