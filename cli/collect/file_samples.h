/* SPDX-License-Identifier: MIT */
#ifndef CLI_FILE_SAMPLES_H
#define CLI_FILE_SAMPLES_H

#include "input/input.h"
#include "perfblock/capture.h"
#include "perfblock/collect.h"

/* Puts the samples of a file into a collector without a source, one by one: those of V1 blocks, V2 data, perfmon logs,
 * and the V1 blocks of captures. Errors of the file are reported; those of replies are left to the caller. */

typedef struct file_samples {
    const input *in;
    pfb_collector *collector;
    pfb_read_options options;
    size_t base; /* of the latest reply in the file */
    /* ------------------------------------------------------------------------------------------ */
    bool is_open, has_ended;
    input_blocks blocks;
    pfb_capture capture;
    pfb_log_reader log;
    pfb_log_record record;
    bool has_record; /* it may have further objects */
    pfb_pdh_text_reader text;
} file_samples;

/* Returns true if samples of the file can be put. Of captures those without V2 data can. */
bool file_samples_has(const input *in);

void file_samples_open(file_samples *f, const input *in, pfb_collector *collector, const pfb_read_options *options);

/* Puts the next sample, or the next part of one. Returns false at the end. A malformed reply may have no sample:
 * pfb_collector_reply has its error. */
bool file_samples_next(file_samples *f);

/* Returns true if the values of the file are displayed values already. */
bool file_samples_is_displayed(const file_samples *f);

#endif
