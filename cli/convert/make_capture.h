/* SPDX-License-Identifier: MIT */
#ifndef CLI_MAKE_CAPTURE_H
#define CLI_MAKE_CAPTURE_H

#include "names/metadata_files.h"
#include "names/titles.h"
#include "perfblock/capture.h"

/* Appends a chunk to a capture in memory. Only tag, guid, request and language of `chunk` are used. */
void make_capture_put(pfb_bytes *capture, const pfb_chunk *chunk, const void *body, size_t size);

/* Makes a capture in memory from a file of another kind: V2 replies with the metadata of --registration and
 * --query-info, V1 blocks, or the whole V1 objects of a perfmon log. Reports what is malformed; what precedes it is
 * used. False after a message if nothing can be made of the file. */
bool make_capture(input *in, const metadata_files *metadata, const pfb_read_options *reader, pfb_bytes *capture);

/* Copies the capture of a file after a capture with the metadata that is missing before its first V2 sample. Returns
 * the size of that capture; 0 if nothing is missing and nothing was copied. */
size_t make_capture_complete(const input *in, const metadata_files *metadata, pfb_bytes *capture);

#endif
