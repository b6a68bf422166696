/* SPDX-License-Identifier: MIT */
#ifndef PFB_FUZZ_CHECKS_H
#define PFB_FUZZ_CHECKS_H

/* Shared by several targets: checks that abort, comparison of formula results, and formula options from an input. */
#include "perfblock/formula.h"

/* Aborts with `guarantee` as the message if `condition` is false. */
void require(bool condition, const char *guarantee);

/* Returns the representation of a double, to compare values exactly. */
uint64_t bits_of(double value);

/* Returns true if the results are equal in all members, including the sign of a zero. */
bool is_same_result(const pfb_formula_result *a, const pfb_formula_result *b);

/* Returns true if value and status byte are those of the result. The status byte has PFB_STATUS_BYTE_INTEGER only for
 * integers below 2^53. */
bool is_packed_result(double value, uint8_t status_byte, const pfb_formula_result *result);

/* Makes options from two bytes of an input: switches, and the scale as a signed number. Switches: 1 wrap32, 2
 * per_item_inverse, 4 server_2003_multi_timer, 8 generic, 16 cap_100, 32 clamp_0. */
pfb_formula_options make_options(uint8_t switches, uint8_t scale);

#endif
