/* SPDX-License-Identifier: MIT */
#ifndef PFB_COLLECT_RECORDER_H
#define PFB_COLLECT_RECORDER_H

#include "perfblock/capture.h"
#include "perfblock/stream.h"
#include "select/metadata.h"
#include "select/set_choice.h"

/* The chunks of a file or part that wait for its next sample, and its metadata, which is kept until the part ends. */

typedef struct recorded_set recorded_set;
typedef struct kept_chunk kept_chunk;

struct kept_chunk {
    kept_chunk *before, *after; /* in the order in which they are written */
    recorded_set *set;          /* of metadata that is not replaced; else null */
    kept_chunk *older;          /* of the same set */
    pfb_chunk chunk;            /* tag, guid, request and language */
    bool is_given;              /* metadata of the caller: that of the file replaces it, except names */
    bool is_written;
    uint64_t offset; /* of the bytes in the file that they come from */
    size_t size;
    uint8_t bytes[];
};

/* The metadata of a GUID; that of the GUID 0 includes what has none. */
struct recorded_set {
    metadata_set *described; /* its registration and names, if counters are chosen */
    kept_chunk *latest;      /* linked by `older` */
    set_choice choice;
    bool is_resolved; /* `choice` is up to date */
    bool is_skipped;  /* chunks were not written because nothing was chosen */
    bool is_dormant;  /* its instance list has no chosen instance, and no reply had one: nothing is chosen yet */
    bool is_awake;    /* a reply had one */
};

/* A list of chunks: first those that are in the current file of the output, then the others. Initialised to zero. */
typedef struct kept_chunks {
    kept_chunk *first, *last;
    kept_chunk *unwritten; /* the first one that is not written; null: none */
    metadata index;        /* `mark` of its sets: 1 + position in `sets` */
    recorded_set **sets;
    size_t set_count, set_capacity;
    kept_chunk *info;        /* the current query information; or null */
    kept_chunk *names;       /* the latest name table of the file; or null */
    kept_chunk *given_names; /* that of the caller, which follows it; or null */
} kept_chunks;

/* Adds a chunk that is written once. Returns false when memory is exhausted. */
bool pfb_kept_add(kept_chunks *kept, const pfb_chunk *chunk, const pfb_record *record);

/* Adds a record of metadata, unless the part has the same. It replaces older metadata of its kind, counterset, request
 * and language; name tables complement each other. `is_described`: also stores it in recorded_set.described. Returns
 * false when memory is exhausted. */
bool pfb_kept_add_metadata(kept_chunks *kept, const pfb_chunk *chunk, const pfb_record *record, bool is_described);

/* Returns the set of a GUID, which is added if it is missing; null when memory is exhausted. */
recorded_set *pfb_kept_set(kept_chunks *kept, const pfb_guid *guid);

void pfb_kept_repeat_set(kept_chunks *kept, recorded_set *set); /* its metadata is to be written (again) ... */
void pfb_kept_repeat_info(kept_chunks *kept);                   /* ... and so is the query information */
void pfb_kept_repeat(kept_chunks *kept);                        /* ... and so is all metadata */

/* What is chosen of the sets is not known any more. */
void pfb_kept_forget_choice(kept_chunks *kept);

/* Call after kept->unwritten was written or skipped. Frees it unless it is metadata. */
void pfb_kept_end_chunk(kept_chunks *kept);

void pfb_kept_free(kept_chunks *kept);

#endif
