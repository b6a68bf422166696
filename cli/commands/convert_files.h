/* SPDX-License-Identifier: MIT */
#ifndef CLI_CONVERT_FILES_H
#define CLI_CONVERT_FILES_H

#include "input/options.h"
#include "perfblock/stream.h"

/* Where a recording is written. The functions return false after a message if writing has failed. */
typedef struct recording_target {
    void *context;
    bool (*write)(void *context, const void *bytes, size_t byte_count); /* as in pfb_recorder_new() */

    /* Call after a record was put, with the result of pfb_recorder_put(). May put it again in a new file. *is_done
     * becomes true if no more records are wanted. Null: nothing is to be done. */
    bool (*end_record)(void *context, pfb_recorder *recorder, const pfb_record *record, int32_t put, bool *is_done);
} recording_target;

/* Writes the records of the input files to a recording: those samples and counters that the options choose, and the
 * counters that their formulas need. `number` is that of the latest file in a recording that is continued, or -1.
 * Returns false if that failed, or if nothing is chosen, after a message. */
bool convert_files(const options *o, const recording_target *target, int64_t number);

#endif
