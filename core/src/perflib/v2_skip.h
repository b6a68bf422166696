/* SPDX-License-Identifier: MIT */
#ifndef PFB_V2_SKIP_H
#define PFB_V2_SKIP_H

#include "perfblock/v2.h"

/* Skips the rest of the current result without checking it, for a first pass that only counts. */
void pfb_v2_skip_result(pfb_v2_reader *reader);

#endif
