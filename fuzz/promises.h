/* SPDX-License-Identifier: MIT */
#ifndef PFB_FUZZ_PROMISES_H
#define PFB_FUZZ_PROMISES_H

/* What the targets of formulas and of pairing share: demanding, comparing results, and options from an input. */
#include "perfblock/formula.h"

/* Aborts with the promise unless it was kept. */
void demand(bool kept, const char *promise);

uint64_t bits_of(double value);

/* Equal in everything, the sign of a zero included. */
bool is_same_result(const pfb_formula_result *a, const pfb_formula_result *b);

/* Value and mark tell what the result tells; its integer only below 2^53. */
bool is_marked(double value, uint8_t mark, const pfb_formula_result *result);

/* Two bytes of an input: switches, and the scale as a signed number. Switches: 1 wrap32, 2 per_item_inverse,
 * 4 server_2003_multi_timer, 8 generic, 16 cap_100, 32 clamp_0. */
pfb_formula_options make_options(uint8_t switches, uint8_t scale);

#endif
