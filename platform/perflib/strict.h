/* SPDX-License-Identifier: MIT */
#ifndef PFB_STRICT_H
#define PFB_STRICT_H

/* What PERFBLOCK_STRICT changes: what only some sources allow is refused, and results are in another order than that of
 * adding. See docs/perflib.md. */
#include "source/source_private.h"

/* As pfb_source_query_add, but a block that names an instance of a single-instance counterset is not passed to the
 * source: its Status is PFB_WIN32_INVALID_PARAMETER. */
bool pfb_strict_add(pfb_source *source, pfb_source_query *query, uint8_t *blocks, size_t size,
                    pfb_source_failure *failure);

/* Changes a reply of PerfQueryCounterInfo and one of PerfQueryCounterData of the same query: the last result becomes
 * the first one, and all others follow. Data that cannot be read stays as it is. */
void pfb_strict_info(pfb_bytes *info);
void pfb_strict_data(pfb_bytes *sample);

#endif
