/* SPDX-License-Identifier: MIT */
#ifndef PFB_SAMPLE_V1_H
#define PFB_SAMPLE_V1_H

/* V1 blocks as samples: objects as results, definitions as columns, instances as rows. Called by sample.c. */
#include "perfblock/sample.h"

/* As pfb_sample_measure. */
pfb_error pfb_sample_measure_v1(const pfb_sample_input *input, pfb_sample_counts *counts);

/* Fills the arrays that were laid out; false when they do not hold what was measured. */
bool pfb_sample_load_v1(pfb_sample *sample, const pfb_sample_input *input, const pfb_sample_counts *capacity,
                        pfb_error *verdict);

#endif
