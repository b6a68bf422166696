/* SPDX-License-Identifier: MIT */
#ifndef PFB_RECORDING_H
#define PFB_RECORDING_H

/* A capture in memory, indexed by the requests that its chunks answer. */
#include "perfblock/capture.h"
#include "source/source_private.h"

/* Index entry: a request, and the first chunk that contains the reply to it, of a file in the capture or of all. */
typedef struct pfb_recorded {
    uint64_t file;       /* serial number of the file (pfb_capture_files); PFB_ANY_FILE: of all files */
    pfb_guid counterset; /* all zero for name tables */
    uint32_t tag;        /* PFB_TAG_ of the chunk */
    uint32_t request;    /* registrations: request code; PFB_ANY_REQUEST: the first registration; otherwise 0 */
    uint64_t language;   /* name tables and registrations: language; PFB_ANY_LANGUAGE: the first in any; otherwise 0 */
    size_t body_offset;
    size_t body_size_bytes;
} pfb_recorded;

#define PFB_ANY_FILE UINT64_C(0)
#define PFB_ANY_REQUEST UINT32_C(0)          /* not a valid request code */
#define PFB_ANY_LANGUAGE (UINT64_C(1) << 32) /* greater than every language and counter id */

/* Where the chunks of a file in the capture begin or continue. */
typedef struct pfb_recorded_part {
    size_t offset;
    uint64_t file;
} pfb_recorded_part;

/* Query information. */
typedef struct pfb_recorded_info {
    uint64_t file;
    pfb_chunk chunk;
    bool is_single; /* of the first one of a file: the others of this file have the same contents */
} pfb_recorded_info;

typedef struct pfb_recording {
    uint8_t *data;
    size_t size;
    pfb_recorded *entries; /* sorted by file and request, without duplicates */
    size_t entry_count;
    size_t entry_capacity;
    uint64_t file;            /* the file whose metadata is returned; PFB_ANY_FILE: the first of any file */
    pfb_recorded_part *parts; /* in the order of the capture; none if it has a single file */
    size_t part_count, part_capacity;
    pfb_recorded_info *infos; /* sorted by file, then by offset */
    size_t info_count, info_capacity;
} pfb_recording;

/* Copies and indexes a capture. Fails if PFBC or the first chunk after it is not readable. */
bool pfb_recording_open(pfb_recording *recording, const void *data, size_t size, pfb_source_failure *failure);
void pfb_recording_close(pfb_recording *recording);

/* Returns a reader of the capture, at the first chunk after PFBC. */
pfb_capture pfb_recording_start(const pfb_recording *recording);

/* Advances `at`, a reader of the capture, past the next V2 sample, which becomes *sample. *info becomes the query
 * information that applies to it: the last that precedes it in its file, else the only one that follows it there, else
 * one with body_size_bytes 0. Returns false if there is no further sample. */
bool pfb_recording_next_sample(const pfb_recording *recording, pfb_capture *at, pfb_chunk *info, pfb_chunk *sample);

/* Returns the serial number of the file that a chunk belongs to. */
uint64_t pfb_recording_file_of(const pfb_recording *recording, const pfb_chunk *chunk);

/* Returns the index entry of a request in a file, or NULL. */
const pfb_recorded *pfb_recording_find_in(const pfb_recording *recording, uint64_t file, uint32_t tag,
                                          const pfb_guid *counterset, uint32_t request, uint64_t language);

/* The same in recording->file. */
const pfb_recorded *pfb_recording_find(const pfb_recording *recording, uint32_t tag, const pfb_guid *counterset,
                                       uint32_t request, uint64_t language);

/* Returns the registration in this language, or else the first in any language, or NULL. For PFB_REQUEST_COUNTER,
 * `language` is the counter id, and no other one is returned. */
const pfb_recorded *pfb_recording_find_registration(const pfb_recording *recording, const pfb_guid *counterset,
                                                    uint32_t request, uint32_t language);

/* Returns true if the capture, whatever file of it, has a registration or the instance list of the counterset, or query
 * information that names it: a capture may lack registrations. */
bool pfb_recording_has_set(const pfb_recording *recording, const pfb_guid *counterset);

/* Opens the recorded reply to PFB_REQUEST_COUNTERSET. Returns false if there is none or it is malformed. */
bool pfb_recording_register(const pfb_recording *recording, const pfb_guid *counterset, pfb_registration *registration);

/* Copies part of the capture, such as the body of a chunk. */
bool pfb_recording_copy(const pfb_recording *recording, size_t offset, size_t size, pfb_bytes *bytes,
                        pfb_source_failure *failure);

/* Fails because the capture has no further sample: with PFB_WIN32_FILE_CORRUPT if `error`, that of the capture's
 * reader, is not PFB_OK, otherwise with PFB_WIN32_NO_MORE_ITEMS. */
bool pfb_recording_fail_at_end(const pfb_error *error, pfb_source_failure *failure);

#endif
