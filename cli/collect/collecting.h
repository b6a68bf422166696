/* SPDX-License-Identifier: MIT */
#ifndef CLI_COLLECTING_H
#define CLI_COLLECTING_H

#include "collect/recorded_file.h"
#include "input/options.h"
#include "perfblock/collect.h"

/* The source that the options name, live or a recording, and a collector that reads from it. */

typedef struct collecting {
    pfb_source *source;
    pfb_collector *collector;
    const char *subject; /* for messages: "live", or the name of the recording */
    recorded_file file;  /* of --source; `in.data` is null for a live source */
    sample_range range;
    bool skips_machines; /* paths with a machine other than * choose nothing: V2 data does not name its machine */
} collecting;

/* Opens the live source of this machine or of --machine, or the recording of --source. False after a message, with exit
 * status 4 if there is no such live source, 3 if the file cannot be read, 1 if it is not a recording, 2 if the value
 * of --machine cannot be the name of a machine. */
bool collecting_open(collecting *c, const options *o, const pfb_collector_options *collector_options);

/* Like collecting_open(), with a recording that was opened, or with the live source if `file` is null. Takes ownership
 * of the contents of `file`: collecting_close() frees them, and so does a failure. */
bool collecting_open_file(collecting *c, const options *o, const recorded_file *file,
                          const pfb_collector_options *collector_options);

/* Adds to the collector the counters that the options choose: by path, and with --set, --counter and --instance. False
 * after a message, with exit status 2 for malformed paths and names that match nothing, 3 if a file of --paths cannot
 * be read, else 4. */
bool collecting_add(collecting *c, const options *o);

/* Like collecting_add(), but a name that matches nothing is not an error, and nothing is added by default. False after
 * a message, if the paths of the options cannot be read. */
bool collecting_add_found(collecting *c, const options *o);

/* Collects the next sample in the range of --from, --to and --every. False at the end of a recording; then it reports
 * with exit status 2 if --from or --to was given and no sample was in the range. Also false after any other message,
 * with exit status 4. */
bool collecting_next(collecting *c);

/* Reports an error, if there is one, in bytes that begin at `base` of the file or of the live sample. */
void collecting_report_error(const collecting *c, size_t base, pfb_error error);

/* Reports an error in the reply to a registration request, or in an instance list if `request` is 0. Its offset counts
 * from the start of the reply, because the place of the reply in a file is not known. */
void collecting_report_reply(const collecting *c, const pfb_guid *counterset, uint32_t request, pfb_error error);

/* Reports the problems that the collector has met since the last call: refused counters and malformed metadata. */
void collecting_report(const collecting *c);

/* Closes the source and the collector. If a recording was not read to its end, reports an error that was found when it
 * was opened, such as that the file is truncated. */
void collecting_close(collecting *c);

#endif
