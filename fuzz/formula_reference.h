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
    bool known;      /* the type is known */
    bool shown;      /* the type has displayed values */
    bool delta;      /* dN instead of N */
    bool delta_base; /* dB instead of B */
    bool elapsed;    /* T - N instead of N */
    bool by_time;    /* divided by dT */
    bool by_base;    /* divided by B or dB */
    bool times_f;    /* multiplied by F */
    bool over_f;     /* divided by F */
    bool percent;    /* multiplied by 100 */
    bool inverse;    /* 1 minus the quotient; M minus the quotient if `multi` */
    bool multi;      /* M is used */
    bool per_item;   /* divided by M */
    bool dword;      /* the value has 4 bytes */
    bool dword_base; /* dB is used, and the type's own base has 4 bytes */
    unsigned clock;  /* 0: perf, 1: 100 ns, 2: object */
    pfb_unit unit;
} shape;

typedef struct expected_result {
    pfb_status status;
    uint32_t flags;
    pfb_unit unit;
    ratio value; /* if the status is ok */
} expected_result;

enum { NAMED_TYPES = 39 };

/* Returns the named type at `position`, in ascending order. Requires position < NAMED_TYPES. */
uint32_t named_type_at(size_t position);

/* Returns the formula of a type with these options. */
shape shape_of(uint32_t type, const pfb_formula_options *options);

/* Returns the result that pfb_formula_evaluate must have for the same arguments if value_size and base_size are 0.
 * `options` must not be null. */
expected_result reference_result(const pfb_raw_value *older, const pfb_raw_value *newer,
                                 const pfb_formula_options *options);

/* Returns true if `value` is the double nearest to the ratio, ties to even. Sets *exact to whether it equals the ratio.
 */
bool is_nearest(const ratio *r, double value, bool *exact);

#endif
