/* SPDX-License-Identifier: MIT */
#ifndef CLI_INPUTS_H
#define CLI_INPUTS_H

#include "input/options.h"
#include "perfblock/stream.h"

/* The files of the command line, with the metadata of --registration, --query-info and --names, as a stream of records.
 */
typedef struct inputs {
    pfb_stream *stream;
    bool has_pipe; /* an input is a pipe or device: the program that writes it may wait for our output */
    bool is_live;  /* the input is the live source */
} inputs;

/* Opens a stream without files, or with those of the options and their metadata. */
void inputs_open_empty(inputs *in, const options *o);
void inputs_open(inputs *in, const options *o);
void inputs_close(inputs *in);

/* Add a file, and a name table that was read, which must stay valid. */
void inputs_add_file(inputs *in, const options *o, const char *path);
void inputs_add_names(inputs *in, const input *names);

/* Returns the next record, or false. What was printed is written before the program waits for more. */
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
