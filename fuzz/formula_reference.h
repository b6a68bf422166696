/* SPDX-License-Identifier: MIT */
#ifndef PFB_FUZZ_FORMULA_REFERENCE_H
#define PFB_FUZZ_FORMULA_REFERENCE_H

/* Reference implementation of the formulas, from the bits of the counter type and with slow integers: status, flags,
 * unit and exact quotient. It does not call core; it follows docs/formula.md. */
#include "big.h"
#include "perfblock/formula.h"

/* The exact value: n / d with a sign. Both are below 2^170. */
typedef struct ratio {
    big n, d;
    bool negative;
} ratio;

/* The formula of a type, derived from its bits, except for the few named types whose bits describe another formula. The
 * letters N, T, B, M and F are those of docs/formula.md. */
typedef struct shape {
    bool known, shown;              /* the type is known; it has displayed values */
    bool delta, delta_base;         /* dN instead of N, dB instead of B */
    bool elapsed, by_time, by_base; /* T - N instead of N; divided by dT; divided by B or dB */
    bool times_f, over_f, percent;  /* multiplied by F; divided by F; multiplied by 100 */
    bool inverse, multi, per_item;  /* 1 (multi: M) minus the quotient; M is used; divided by M */
    bool dword, dword_base;         /* the value has 4 bytes; the type's own base has 4 bytes */
    unsigned clock;                 /* 0: perf, 1: 100 ns, 2: object */
    pfb_unit unit;
} shape;

typedef struct expected_result {
    pfb_status status;
    uint32_t flags;
    pfb_unit unit;
    ratio value; /* if the status is ok */
} expected_result;

enum { NAMED_TYPES = 39 };

/* The named types, in ascending order. */
uint32_t named_type_at(size_t position);

shape shape_of(uint32_t type, const pfb_formula_options *options);
expected_result reference_result(const pfb_raw_value *older, const pfb_raw_value *newer,
                                 const pfb_formula_options *options);

/* Returns true if `value` is the double nearest to the ratio, ties to even. Sets *exact to whether it equals the ratio.
 */
bool is_nearest(const ratio *r, double value, bool *exact);

#endif
