/* SPDX-License-Identifier: MIT */
#ifndef PFB_LEGACY_SNAPSHOT_H
#define PFB_LEGACY_SNAPSHOT_H

/* V1 blocks as snapshots: objects as results, definitions as columns, instances as rows. Called by snapshot.c. */
#include "perfblock/snapshot.h"

/* As pfb_snapshot_measure. */
pfb_error pfb_legacy_snapshot_measure(const pfb_snapshot_input *input, pfb_snapshot_counts *counts);

/* Fills the arrays that were laid out; false when they do not hold what was measured. */
bool pfb_legacy_snapshot_load(pfb_snapshot *snapshot, const pfb_snapshot_input *input,
                              const pfb_snapshot_counts *capacity, pfb_error *verdict);

#endif
