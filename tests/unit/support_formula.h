/* SPDX-License-Identifier: MIT */
#ifndef PFB_TEST_SUPPORT_FORMULA_H
#define PFB_TEST_SUPPORT_FORMULA_H

/* Raw values with all inputs, and comparisons of results. */
#include "perfblock/formula.h"
#include "support_types.h"

enum { ALL_INPUTS = 255 }; /* all flags PFB_HAS_... */

/* A sample with all inputs. Each clock advances by a different amount per tick, so that a formula with the wrong clock
 * has another result. */
pfb_raw_value sample_at(uint32_t type, int64_t tick, uint64_t value);

bool same_result(const pfb_formula_result *a, const pfb_formula_result *b);

/* The number of counter types: 39. */
size_t type_count(void);

/* Returns true if value and status byte are those of the result. */
bool same_packed(double value, uint8_t status_byte, const pfb_formula_result *result);

#endif
