/* SPDX-License-Identifier: MIT */
#ifndef CLI_COLLECTING_H
#define CLI_COLLECTING_H

#include "collect/recorded_file.h"
#include "input/options.h"
#include "perfblock/collect.h"

/* A source and its collector, opened from options; for live, record and countersets. */

typedef struct collecting {
    pfb_source *source;
    pfb_collector *collector;
    const char *subject; /* for messages: "live", or the name of the recording */
    recorded_file file;  /* of --source; its `in` has data while it is open */
    sample_range range;
} collecting;

/* Opens the live source of --machine or this machine, or the recording of --source. False after a message: status 4
 * where there is no such live source, 3 for a file that cannot be read, 1 for one of another kind, 2 for a name that no
 * machine can have. */
bool collecting_open(collecting *c, const options *o, const pfb_collector_options *choices);

/* The same with the recording in `file`, which is freed by collecting_close, or after a message. Null: the live source.
 */
bool collecting_open_file(collecting *c, const options *o, const recorded_file *file,
                          const pfb_collector_options *choices);

/* Adds the counters that were asked for by path, and those of --set, --counter and --instance. False after a message:
 * status 2 for names that match nothing, 3 for a file of paths that cannot be read, else 4. */
bool collecting_add(collecting *c, const options *o);

/* Collects a sample of the range of --from, --to and --every. False at the end of a recording, and after a message:
 * status 2 if the range has no sample, else 4. */
bool collecting_next(collecting *c);

/* Reports what the source did wrong since the last call. */
void collecting_report(const collecting *c);

/* Closes everything. Of a regular file it reports that it is cut, even if it was not read so far. */
void collecting_close(collecting *c);

#endif
