/* SPDX-License-Identifier: MIT */
#ifndef CLI_CPI_READINGS_H
#define CLI_CPI_READINGS_H

#include "output/text.h"
#include "perfblock/cpi_source.h"

/* The CPI facility (perfblock/cpi_facility.h) returns figures, but not the snapshots of the hardware counters from
 * which it computes them. cpi run records the snapshots too: it makes the facility read from the source of
 * cpi_readings_source(), which stores the snapshots that another source returns. */

/* The readings at the start and at the end of the latest interval. Initialise with zeros. */
typedef struct cpi_readings {
    pfb_cpi_reading latest[2]; /* indexed by pfb_cpi_moment */
    bool has_reading[2];
    /* ------------------------------------------------------------------------------------------ */
    pfb_cpi_cpu *cpus[2]; /* owned copies; latest[i].snapshot.cpus points to them */
} cpi_readings;

/* Makes a source that reads from `inner` and stores each reading in `readings`, which must stay valid as long as the
 * source. Takes ownership of `inner`, also on failure. Returns NULL with the reason on failure. */
pfb_cpi_source *cpi_readings_source(pfb_cpi_source *inner, cpi_readings *readings, pfb_cpi_failure *failure);

/* Appends both readings in the text form of perfblock/cpi/text.h, which pfb_cpi_source_open_fixture() can replay.
 * Appends nothing if a reading is missing. */
void cpi_readings_write(const cpi_readings *readings, buffer *text);

void cpi_readings_free(cpi_readings *readings);

#endif
