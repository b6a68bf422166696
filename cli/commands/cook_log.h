/* SPDX-License-Identifier: MIT */
#ifndef CLI_COOK_LOG_H
#define CLI_COOK_LOG_H

#include "input/input.h"
#include "input/sample_range.h"
#include "perfblock/log.h"
#include "perfblock/pdh_text.h"
#include "values/values.h"

/* Prints the values of perfmon logs. The samples of several logs are put in the order of their times; a collector knows
 * each log by its number. */

typedef struct cook_log {
    input in;          /* of kind INPUT_LOG or INPUT_PDH_TEXT */
    size_t file;       /* its number */
    int64_t start;     /* of the log, at or before its first sample; see file_order.h */
    bool has_next;     /* there is another sample */
    int64_t next_time; /* its time, in UTC as far as that is known */
    /* ------------------------------------------------------------------------------------------ */
    pfb_log_reader log;
    pfb_log_record record; /* of the next sample */
    pfb_pdh_text_reader text;
    pfb_pdh_text_row row;
    int64_t bias; /* UTC - local time, in 100 ns */
} cook_log;

/* Begins to read the log of an input that was opened; moves to the first sample. In all functions, the file of the
 * collector is chosen. */
void cook_log_open(cook_log *l, pfb_collector *collector, const pfb_read_options *options);

/* Prints the next sample and moves to the one after it. Returns the number of samples and of whole objects that were
 * printed. */
uint64_t cook_log_next(cook_log *l, values_printer *printer, pfb_collector *collector, sample_range *range);

/* Reports what was skipped and the error of the log, and closes the input. */
void cook_log_close(cook_log *l);

#endif
