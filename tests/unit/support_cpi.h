/* SPDX-License-Identifier: MIT */
#ifndef PFB_TEST_SUPPORT_CPI_H
#define PFB_TEST_SUPPORT_CPI_H

/* Appends CPI hooks (the records of a CPI trace, see docs/cpi.md) to a buffer, word by word. */
#include "support.h"

#include "perfblock/cpi/hooks.h"

#include <stdlib.h>

/* Returns a worked example, a stream of one group:
 * 1: a summary, raw and scaled, of two CPUs; the example of docs/cpi.md
 * 2: labels, system, processors and thread, raw, of one CPU
 * 3: all hooks, raw and scaled, of three CPUs: busy, idle and offline */
bytes example(int number);

/* Hooks with simple figures: every CPU has `count` instructions and as many cycles, all of them busy. `minor` is the
 * minor code of the hook, `elapsed` its elapsed cycles, and `flags` its flags. */
void put_summary(bytes *b, uint32_t minor, uint32_t elapsed, uint32_t flags, uint32_t cpus);
void put_system(bytes *b, uint32_t minor, uint32_t elapsed, uint32_t flags, uint64_t count, uint32_t cpus);
void put_processors(bytes *b, uint32_t minor, uint32_t elapsed, uint32_t flags, uint64_t count, uint32_t cpus);
void put_thread(bytes *b, uint32_t minor, uint32_t elapsed);
void put_label(bytes *b, uint32_t minor, uint32_t elapsed, const char *text, bool is_end);

/* System and processors hooks with one instruction per CPU. */
void put_detailed(bytes *b, uint32_t minor, uint32_t elapsed, uint32_t flags, uint32_t cpus);

/* Returns a quotient as a hook stores it, with four decimal places rounded half up. `places` is 4 for a CPI, and 6 for
 * a percentage, which is the quotient times 100. Both words are PFB_CPI_UNDEFINED if the denominator is 0 or the figure
 * is too large. The digits are computed by long division, independently of the library. */
pfb_cpi_words divided_words(uint64_t numerator, uint64_t denominator, int places);

#endif
