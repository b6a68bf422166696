/* SPDX-License-Identifier: MIT */
#ifndef CLI_EARLY_METADATA_H
#define CLI_EARLY_METADATA_H

#include "input/input.h"
#include "perfblock/source.h"

/* The metadata of a recording that follows the samples that need it. It is found by reading the headers of all chunks,
 * and the bodies of metadata only. Memory grows with the metadata that is found. */

/* A chunk of a file of the recording. */
typedef struct early_chunk {
    uint64_t file;     /* serial number of the file, see pfb_capture_files */
    uint64_t position; /* among the chunks that were found, in the order of the recording */
    uint64_t start;    /* offset of the chunk in the recording */
    size_t offset;     /* in `bytes` */
    size_t size_bytes;
    bool is_ambiguous; /* while it is searched: not used */
} early_chunk;

typedef struct early_metadata {
    bool is_searched;
    uint64_t end;    /* offset in the recording up to which it was searched; 0: it is a pipe and cannot be searched */
    pfb_bytes bytes; /* whole chunks */
    early_chunk *chunks; /* ascending by file, then by position */
    size_t count, capacity;
} early_metadata;

/* Searches a recording unless that was done before: in the window if it has the whole recording, otherwise the file is
 * opened a second time. Standard input and pipes cannot be read twice. Of each file in the recording, finds what
 * follows its first sample: all name tables; the first reply to each registration request, unless a reply to it
 * precedes the sample; and query information, unless other query information precedes the sample or is different.
 * Errors in the contents are not reported. */
void early_metadata_search(early_metadata *e, const input *recording);

/* Returns the number of chunks of a file; *first becomes the position of the first one in e->chunks. */
size_t early_metadata_of_file(const early_metadata *e, uint64_t file, size_t *first);

/* Reads the chunk at `position` of e->chunks. Returns its body; the offsets in *chunk have no meaning. */
const uint8_t *early_metadata_body(const early_metadata *e, size_t position, pfb_chunk *chunk);

void early_metadata_free(early_metadata *e);

#endif
