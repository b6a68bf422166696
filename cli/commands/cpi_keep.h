/* SPDX-License-Identifier: MIT */
#ifndef CLI_CPI_KEEP_H
#define CLI_CPI_KEEP_H

#include "output/text.h"
#include "perfblock/cpi_source.h"

/* The facility returns figures, not the snapshots that they are computed from. This source keeps the snapshots. */

/* The latest reading at each end of an interval. Starts as all zero. */
typedef struct cpi_kept {
    pfb_cpi_reading readings[2]; /* by pfb_cpi_moment */
    bool is_there[2];
    /* ------------------------------------------------------------------------------------------ */
    pfb_cpi_cpu *cpus[2]; /* of the readings */
} cpi_kept;

/* A source that reads from `inner` and stores its readings in `kept`, which must live as long as the source. It owns
 * `inner`, also on failure. Returns null and the reason on failure. */
pfb_cpi_source *cpi_keep(pfb_cpi_source *inner, cpi_kept *kept, pfb_cpi_failure *failure);

/* Appends both readings as a text (cpi_text.h) that a fixture can replay. Appends nothing if one is missing. */
void cpi_kept_write(const cpi_kept *kept, buffer *text);

void cpi_kept_free(cpi_kept *kept);

#endif
