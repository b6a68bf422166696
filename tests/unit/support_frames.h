/* SPDX-License-Identifier: MIT */
#ifndef PFB_TEST_SUPPORT_FRAMES_H
#define PFB_TEST_SUPPORT_FRAMES_H

/* Collectors that read records made by a test, and their frames as text. */
#include "perfblock/collect.h"

/* Makes a collector; if `path` is not null, it chooses the counters of this path. Returns null when memory is
 * exhausted.
 */
pfb_collector *new_collector(const char *path);

/* Stores the elements of the current frame in `text`, one a line: "counterset|instance#occurrence|counter|" and the
 * value with its unit, or the name of its status. The instance is "-" if there is none. Without a frame, `text` becomes
 * "". */
void list_frame(pfb_collector *c, char *text, size_t capacity);

#endif
