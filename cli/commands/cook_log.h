/* SPDX-License-Identifier: MIT */
#ifndef CLI_COOK_LOG_H
#define CLI_COOK_LOG_H

#include "input/input.h"
#include "input/sample_range.h"
#include "perfblock/log.h"
#include "perfblock/pdh_text.h"
#include "values/values.h"

/* Prints the values of perfmon logs. Several logs are read at the same time, so that their samples are put into the
 * collector in the order of their times. The collector distinguishes the logs by the number in `file`. */

typedef struct cook_log {
    input in;          /* of kind INPUT_LOG or INPUT_PDH_TEXT */
    size_t file;       /* its number in the collector */
    int64_t start;     /* a time at or before the first sample: the start of the log if it is known, in UTC */
    bool has_next;     /* there is another sample */
    int64_t next_time; /* its time, in UTC if the log has the offset of local time */
    /* ------------------------------------------------------------------------------------------ */
    pfb_log_reader log;
    pfb_log_record record; /* of the next sample */
    pfb_pdh_text_reader text;
    pfb_pdh_text_row row;
    int64_t bias; /* UTC - local time, in 100 ns */
} cook_log;

/* Begins to read the log in `in`, which the caller has opened, and finds its first sample. Before each call of these
 * functions the caller chooses the log in the collector (pfb_collector_choose_file). */
void cook_log_open(cook_log *l, pfb_collector *collector, const pfb_read_options *options);

/* Prints the next sample and finds the one after it. Returns how many samples were printed: a record of a .blg that has
 * whole V1 objects counts as one for each object, and one for its other values. */
uint64_t cook_log_next(cook_log *l, values_printer *printer, pfb_collector *collector, sample_range *range);

/* Reports skipped records or lines, and the error of the log if it has one. Closes the input. */
void cook_log_close(cook_log *l);

#endif
