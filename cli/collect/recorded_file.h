/* SPDX-License-Identifier: MIT */
#ifndef CLI_RECORDED_FILE_H
#define CLI_RECORDED_FILE_H

#include "input/early_metadata.h"
#include "input/input.h"
#include "perfblock/source.h"
#include "values/series.h"

/* A recording that is read through a window, so that the memory for replaying it does not grow with the number of its
 * samples. */

typedef struct recorded_file {
    input in;       /* of any kind; nothing was read past the first window, except from a pipe */
    bool has_v1;    /* the part that was scanned has V1 blocks */
    bool has_v2;    /* the part that was scanned has V2 replies */
    bool has_files; /* the part that was scanned has chunks of several files (PFB_TAG_FILE) */
    bool has_time;  /* that part has a V2 reply with a valid header, ... */
    int64_t time;   /* ... and this is the time of the first such reply */
    /* Offsets in the file; 0 before there is one: */
    size_t sample_offset; /* of the sample that the source returned last */
    size_t info_offset;   /* of its query information */
    /* ------------------------------------------------------------------------------------------ */
    pfb_bytes metadata; /* a capture of the metadata that the scan found, see recorded_metadata_add() */
    early_metadata early;
    pfb_error error; /* the error in the part that was scanned */
} recorded_file;

/* Opens a file ("-" is standard input) and, if it is a recording, scans it for its metadata: a regular file, and a pipe
 * that fits in the first window, up to the end; a longer pipe, which can be read only once, up to the first sample.
 * False after an error on standard error. */
bool recorded_file_open(recorded_file *r, const char *name, input_kind kind);

/* Makes a source that replays the recording. The source keeps the pointer `r`: *r must be valid until the source is
 * closed. It answers like the source of pfb_source_open_recorded(), with these differences: each sample is returned
 * only once, to the query that collects next; there is no query information before the first sample; of several files
 * in a pipe, each has the metadata before its first sample; an error in the file is reported on standard error, and
 * samples then end with PFB_WIN32_NO_MORE_ITEMS; there are no V1 blocks. Null after a message if the file is not a
 * recording, or its first chunk cannot be read. */
pfb_source *recorded_file_source(recorded_file *r);
void recorded_file_free(recorded_file *r);

/* Appends a chunk to a capture of metadata if it is the first reply to a registration request, the first instance list
 * of a counterset, the first name table of a language, or query information that names a counterset for the first time.
 * `keys` lists what was appended before. Returns true if the chunk was appended. */
bool recorded_metadata_add(pfb_bytes *metadata, series_list *keys, const pfb_chunk *chunk, const uint8_t *body);

#endif
