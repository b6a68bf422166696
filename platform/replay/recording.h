/* SPDX-License-Identifier: MIT */
#ifndef PFB_RECORDING_H
#define PFB_RECORDING_H

/* The raw data of a stream in memory: its samples in order, and its metadata, indexed by the requests that it answers.
 */
#include "perfblock/stream.h"
#include "source/source_private.h"

/* Index entry: a request, and the first record with the reply to it, of a file in the stream or of all. */
typedef struct pfb_recorded {
    uint64_t file;       /* number of the file, see pfb_recording; PFB_ANY_FILE: of all files */
    pfb_guid counterset; /* all zero for name tables */
    uint32_t kind;       /* PFB_RECORD_ */
    uint32_t request;    /* registrations: request code; PFB_ANY_REQUEST: the first registration; otherwise 0 */
    uint64_t language;   /* name tables and registrations: language; PFB_ANY_LANGUAGE: the first in any; otherwise 0 */
    size_t at, size;     /* in `bytes` */
} pfb_recorded;

#define PFB_ANY_FILE UINT64_C(0)
#define PFB_ANY_REQUEST UINT32_C(0)          /* not a valid request code */
#define PFB_ANY_LANGUAGE (UINT64_C(1) << 32) /* greater than every language and counter id */

typedef struct pfb_recorded_sample {
    uint32_t kind;          /* PFB_RECORD_V2 or PFB_RECORD_V1 */
    uint64_t file;          /* number of the file */
    uint64_t offset;        /* in the file of the stream, for messages */
    size_t at, size;        /* in `bytes` */
    size_t info, info_size; /* the query information that applies to it, in `bytes`; without it info_size is 0 */
} pfb_recorded_sample;

/* A file or part that has begun and not ended. */
typedef struct pfb_recorded_part {
    uint32_t input, part;   /* of its records */
    uint64_t file;          /* its number */
    size_t info, info_size; /* the latest query information */
} pfb_recorded_part;

typedef struct pfb_recording {
    pfb_bytes bytes;
    pfb_recorded *entries; /* sorted by file and request, without duplicates */
    size_t entry_count, entry_capacity;
    pfb_recorded_sample *samples; /* in the order of the stream */
    size_t sample_count, sample_capacity;
    pfb_recorded_part *parts; /* while the stream is read */
    size_t part_count, part_capacity;
    uint64_t file;          /* the file whose metadata is returned; PFB_ANY_FILE: the first of any file */
    uint64_t file_count;    /* files and parts have numbers from 1 in the order in which they begin */
    bool has_log;           /* records of a perfmon log were left out */
    uint32_t end_input;     /* the input of the stream with the problem `end` */
    pfb_source_failure end; /* why there is no sample after the last one */
} pfb_recording;

/* Reads and indexes all of a stream. Fails if it cannot be read and has nothing before that, or if it is a perfmon log.
 */
bool pfb_recording_open(pfb_recording *recording, pfb_stream *stream, pfb_source_failure *failure);
void pfb_recording_close(pfb_recording *recording);

/* Advances *next, the number of a sample, past the next one of this kind, and returns it; null if there is none. */
const pfb_recorded_sample *pfb_recording_next_sample(const pfb_recording *recording, size_t *next, uint32_t kind);

/* Returns the index entry of a request in a file, or NULL. */
const pfb_recorded *pfb_recording_find_in(const pfb_recording *recording, uint64_t file, uint32_t kind,
                                          const pfb_guid *counterset, uint32_t request, uint64_t language);

/* The same in recording->file. */
const pfb_recorded *pfb_recording_find(const pfb_recording *recording, uint32_t kind, const pfb_guid *counterset,
                                       uint32_t request, uint64_t language);

/* Returns the registration in this language, or else the first in any language, or NULL. For PFB_REQUEST_COUNTER,
 * `language` is the counter id, and no other one is returned. */
const pfb_recorded *pfb_recording_find_registration(const pfb_recording *recording, const pfb_guid *counterset,
                                                    uint32_t request, uint32_t language);

/* Returns true if any file of the recording has a registration or the instance list of the counterset, or query
 * information that names it: registrations may be missing. */
bool pfb_recording_has_set(const pfb_recording *recording, const pfb_guid *counterset);

/* Opens the recorded reply to PFB_REQUEST_COUNTERSET. Returns false if there is none or it is malformed. */
bool pfb_recording_register(const pfb_recording *recording, const pfb_guid *counterset, pfb_registration *registration);

/* Replaces *bytes by part of the recording, such as a sample. */
bool pfb_recording_copy(const pfb_recording *recording, size_t at, size_t size, pfb_bytes *bytes,
                        pfb_source_failure *failure);

/* Fails because there is no further sample: with PFB_WIN32_NO_MORE_ITEMS, or because the stream could not be read to
 * its end. */
bool pfb_recording_fail_at_end(const pfb_recording *recording, pfb_source_failure *failure);

#endif
