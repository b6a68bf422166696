/* SPDX-License-Identifier: MIT */
#ifndef PFB_SAMPLE_V1_H
#define PFB_SAMPLE_V1_H

/* V1 blocks as samples: objects are results, definitions are columns, instances are rows. */
#include "perfblock/sample.h"

/* Does the work of pfb_sample_measure for a V1 block. */
pfb_error pfb_sample_measure_v1(const pfb_sample_input *input, pfb_sample_counts *counts);

/* Fills the arrays of the sample from a V1 block. Returns false if they are too small for it; otherwise stores the
 * first error of the block in *error. */
bool pfb_sample_load_v1(pfb_sample *sample, const pfb_sample_input *input, const pfb_sample_counts *capacity,
                        pfb_error *error);

#endif
