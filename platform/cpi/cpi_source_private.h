/* SPDX-License-Identifier: MIT */
#ifndef PFB_CPI_SOURCE_PRIVATE_H
#define PFB_CPI_SOURCE_PRIVATE_H

/* Helpers for implementations of CPI sources. */
#include "perfblock/cpi_source.h"
#include "source/source_private.h"

/* Fills in `failure`, which may be NULL, and returns false, so that an operation can return the result. `code` is not
 * 0. A sentence that does not fit is cut between two characters. */
bool pfb_cpi_fail(pfb_cpi_failure *failure, int code, const char *format, ...) PFB_PRINTF(3, 4);

/* Opens a file as pfb_cpi_source_open_fixture opens its bytes. */
pfb_cpi_source *pfb_cpi_source_open_snapshots(const char *path, pfb_cpi_failure *failure);

/* Reports a failed allocation. Returns false. */
bool pfb_cpi_fail_memory(pfb_cpi_failure *failure);

#endif
