/* SPDX-License-Identifier: MIT */
#ifndef CLI_CPI_KEEP_H
#define CLI_CPI_KEEP_H

#include "output/text.h"
#include "perfblock/cpi_source.h"

/* The facility hands out figures, not the snapshots they came from: a source in between keeps these. */

/* What was read last at each end of an interval. Starts as all zero. */
typedef struct cpi_kept {
    pfb_cpi_reading readings[2]; /* by pfb_cpi_moment */
    bool is_there[2];
    /* ------------------------------------------------------------------------------------------ */
    pfb_cpi_cpu *cpus[2]; /* of the readings */
} cpi_kept;

/* A source that reads from `inner`, which it takes over in any case, and leaves in `kept` what it read. `kept` must
 * stay as long as the source. Null, and why, when there is none. */
pfb_cpi_source *cpi_keep(pfb_cpi_source *inner, cpi_kept *kept, pfb_cpi_failure *failure);

/* Appends both readings as a text (cpi_text.h), from which a fixture gives them again. Nothing when one is missing. */
void cpi_kept_write(const cpi_kept *kept, buffer *text);

void cpi_kept_free(cpi_kept *kept);

#endif
