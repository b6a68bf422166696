/* SPDX-License-Identifier: MIT */
#ifndef CLI_INPUTS_H
#define CLI_INPUTS_H

#include "input/options.h"
#include "perfblock/stream.h"

/* The inputs of the command line as a stream of records: files, with the metadata of --registration, --query-info and
 * --names, or this machine or that of --machine. */
typedef struct inputs {
    const options *o;
    pfb_stream *stream;
    bool has_pipe;         /* an input is a pipe or device: the program that writes it may wait for our output */
    uint64_t max_samples;  /* set by the caller; 0: no limit */
    uint64_t sample_count; /* read so far */
    uint64_t start;        /* of a machine: time of the first sample; 0: not known yet */
} inputs;

/* Opens the stream. `metadata` is the value of PFB_STREAM_METADATA. False after a message, with exit status 4 if the
 * machine has no data, 2 if the value of --machine cannot be the name of a machine. */
bool inputs_open(inputs *in, const options *o, uint32_t metadata);
void inputs_close(inputs *in);

/* Adds a name table that was read, which must stay valid. */
void inputs_add_names(inputs *in, const input *names, uint32_t language);

/* Returns the next record, after waiting for it. What was printed is written before the program waits. False after the
 * last record, after `max_samples` samples, at the end of --duration, and after an interrupt of live data. */
bool inputs_next(inputs *in, pfb_record *record);

/* Reports the problems of the stream; inputs_report_problem() one of any stream, recorder or collector. */
void inputs_report(const inputs *in);
void inputs_report_problem(const inputs *in, const pfb_problem *problem);

void inputs_progress(const inputs *in, const pfb_record *record);

/* Returns true for the kinds of records that are samples. */
bool inputs_is_sample(const pfb_record *record);

/* Returns true for a regular file, and for null, which is an option that was not given. */
bool inputs_is_regular(const char *path);

#endif
