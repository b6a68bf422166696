/* SPDX-License-Identifier: MIT */
#ifndef PFB_TEST_SUPPORT_READERS_H
#define PFB_TEST_SUPPORT_READERS_H

/* Reading in one call what the library reads item by item. */
#include "perfblock/metadata.h"
#include "perfblock/v1.h"

/* Checks the rest of the block and returns the error. */
pfb_error finish_v1(pfb_v1_reader *reader);

/* Finds the first query with this index in a reply of PerfQueryCounterInfo, which must be valid up to it. */
bool find_query(const void *info, size_t size, uint32_t index, pfb_identifier *identifier);

#endif
