/* SPDX-License-Identifier: MIT */
#ifndef PFB_DECIMAL_H
#define PFB_DECIMAL_H

#include "bytes/line.h"

/* Parses the whole of `s` as a decimal number, "-12.5e-3", and stores the nearest double, ties to even, in *value. The
 * number may have any number of digits. Numbers closer to 0 than half of the smallest positive double become 0. Returns
 * false if `s` is not a number, is too large for a double, or has an exponent of 2^31 or more in magnitude. Work is
 * linear in the number of bytes. */
bool pfb_decimal_parse(span s, double *value);

#endif
