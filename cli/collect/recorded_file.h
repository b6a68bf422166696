/* SPDX-License-Identifier: MIT */
#ifndef CLI_RECORDED_FILE_H
#define CLI_RECORDED_FILE_H

#include "input/input.h"
#include "perfblock/source.h"

/* A recording that is replayed window by window: memory is that of its metadata and of two samples, whatever its size.
 */

typedef struct recorded_file {
    input in;            /* before the first sample; of any kind */
    bool has_v1, has_v2; /* blocks; replies */
    bool has_time;       /* some reply has a sound header: ... */
    int64_t time;        /* ... the first one's time */
    /* ------------------------------------------------------------------------------------------ */
    pfb_bytes metadata; /* a capture with the first chunk of each registration, instance list, name table and query */
    pfb_error error;    /* of the part that was scanned */
} recorded_file;

/* Opens a file ("-" is standard input) and, if it is a recording, looks for its metadata: in a regular file up to its
 * end; in a stream, which can be read only once, up to the first sample. False after an error on standard error. */
bool recorded_file_open(recorded_file *r, const char *name);

/* Makes a source of the recording, which must stay where it is until the source is closed. The source answers as that
 * of pfb_source_open_recorded(), but its samples are read once, by all queries together, and it has no V1 blocks. Null
 * after a message for other files, and for recordings whose first chunk cannot be read. */
pfb_source *recorded_file_source(recorded_file *r);
void recorded_file_free(recorded_file *r);

#endif
