/* SPDX-License-Identifier: MIT */
#ifndef PFB_CPI_SOURCE_PRIVATE_H
#define PFB_CPI_SOURCE_PRIVATE_H

/* What the implementations of CPI sources share. */
#include "perfblock/cpi_source.h"
#include "source/source_private.h"

/* Fills in `failure` (may be null) and returns false, so that an operation can end with it. `code` is not 0. A sentence
 * that is too long is cut between two characters. */
bool pfb_cpi_fail(pfb_cpi_failure *failure, int code, const char *format, ...) PFB_PRINTF(3, 4);

/* The failure of an allocation. */
bool pfb_cpi_fail_memory(pfb_cpi_failure *failure);

#endif
