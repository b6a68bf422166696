/* SPDX-License-Identifier: MIT */
#ifndef PFB_STREAM_EARLY_H
#define PFB_STREAM_EARLY_H

/* The metadata of a recording that follows the samples that need it. It is found by going from header to header. */
#include "perfblock/capture.h"
#include "stream/formats.h"

typedef struct early_metadata {
    byte_source source;
    stream_window window; /* the bytes of the chunk that was returned last */
    uint8_t *chunks;      /* array of early_chunk, in the order of the file */
    size_t capacity, count;
    size_t next; /* element that may be returned next */
} early_metadata;

/* Searches a recording up to its end or its first error. Of each part, finds what follows its first sample: all name
 * tables; the first reply to each registration request, unless a reply to it precedes the sample; and query
 * information, unless other query information precedes the sample or is different: then it is not known which one the
 * first samples answer. Stops early if the budget of memory is exhausted. */
void pfb_early_search(early_metadata *early, const file_input *file);

void pfb_early_begin(early_metadata *early); /* what follows is for another part */

/* Returns the next chunk of a part. Its offsets count from the start of early->window. */
bool pfb_early_next(early_metadata *early, uint32_t part, pfb_chunk *chunk);

/* Returns true if the chunk at an offset of the file is a name table that was found. */
bool pfb_early_has_names(const early_metadata *early, uint64_t offset);

void pfb_early_close(early_metadata *early);

#endif
