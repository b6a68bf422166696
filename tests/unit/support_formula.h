/* SPDX-License-Identifier: MIT */
#ifndef PFB_TEST_SUPPORT_FORMULA_H
#define PFB_TEST_SUPPORT_FORMULA_H

/* Samples and expectations for the tests of formulas and their options. */
#include "perfblock/formula.h"
#include "support_types.h"

enum { ALL_INPUTS = 255 }; /* all flags PFB_HAS_... */

/* A sample with all inputs. Each clock advances by a different amount per tick, so that a formula with the wrong clock
 * has another result. */
pfb_raw_value sample_at(uint32_t type, int64_t tick, uint64_t value);

/* Evaluates two such samples, one tick apart. */
pfb_formula_result evaluate_two(uint32_t type, uint64_t older_value, uint64_t newer_value);

bool same_bits(double a, double b);
bool same_result(const pfb_formula_result *a, const pfb_formula_result *b);

/* The number of counter types: 39. */
size_t type_count(void);

/* Returns true if value and status byte are those of the result. */
bool same_packed(double value, uint8_t status_byte, const pfb_formula_result *result);

void expect_value(pfb_formula_result result, double value, uint32_t flags, const char *what);
void expect_integer(pfb_formula_result result, uint64_t integer, const char *what);

/* Checks that the result has this status, and no value unless the status is PFB_STATUS_OK. */
void expect_status(pfb_formula_result result, pfb_status status, const char *what);

#endif
