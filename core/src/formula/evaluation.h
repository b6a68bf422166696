/* SPDX-License-Identifier: MIT */
#ifndef PFB_FORMULA_EVALUATION_H
#define PFB_FORMULA_EVALUATION_H

/* Evaluation in three steps. The results of the first two are shared by many values:
 *
 *     pfb_formula formula = pfb_formula_prepare(type, options);             once per counter
 *     pfb_formula_check(&formula, &older, &newer, &conditions);             once per set of inputs, sizes and clocks
 *     pfb_formula_compute(&formula, &conditions, &older, &newer, &result);
 */
#include "bytes/wide.h"
#include "perfblock/formula.h"

/* The formula of a type with options applied. */
typedef struct pfb_formula {
    uint32_t type;
    pfb_status status; /* ok, or the status of every evaluation: unknown_type, not_displayed, bad_scale */
    pfb_unit unit;     /* PFB_UNIT_NONE for unknown types */
    uint16_t terms;    /* PFB_TERM_ bits */
    uint8_t samples, clock, denominator;
    bool is_dword, base_is_dword; /* the value or the base has 4 bytes, according to its type */
    bool wrap32, cap_100, clamp_0, pdh_order;
    bool changes_value;                /* cap_100, clamp_0 or a scale may change the value */
    uint32_t newer_needs, older_needs; /* PFB_HAS_ bits */
    uint64_t scale_above, scale_below; /* powers of ten, one of them 1 */
} pfb_formula;

/* The inputs that a formula takes from two raw values, except the numbers `value`, `base` and `multi_count`. */
typedef struct pfb_conditions {
    pfb_status status;            /* ok, or the status of every evaluation */
    pfb_status frequency_status;  /* of F; reported if the numerator is ok */
    pfb_status time_status;       /* of dT as the denominator; reported last */
    uint8_t denominator;          /* pfb_denominator */
    bool value_wraps, base_wraps; /* a decrease is a wrap: with wrap32 and numbers of 4 bytes in both samples */
    int64_t now;                  /* T */
    uint64_t elapsed;             /* dT */
    uint64_t frequency;           /* F */
} pfb_conditions;

/* Looks the type up and applies the options, which may be null. */
pfb_formula pfb_formula_prepare(uint32_t type, const pfb_formula_options *options);

/* Checks types, sizes, clocks, and which inputs are present. `older` may be null. */
void pfb_formula_check(const pfb_formula *formula, const pfb_raw_value *older, const pfb_raw_value *newer,
                       pfb_conditions *conditions);

/* Evaluates raw values that differ from the checked ones at most in `value`, `base` and `multi_count`. `older` may be
 * null if it was null for pfb_formula_check. */
void pfb_formula_compute(const pfb_formula *formula, const pfb_conditions *conditions, const pfb_raw_value *older,
                         const pfb_raw_value *newer, pfb_formula_result *result);

/* Returns true for the four raw-count types, whose displayed value is the raw value. */
bool pfb_counter_type_is_raw_count(uint32_t value);

/* Copies the row of the type, or derives one from its bits. Returns false if neither is possible. */
bool pfb_counter_type_resolve(uint32_t value, pfb_counter_type *row);

/* The second value of PDH's raw values is the base, the clock, or unused: the counter type decides. */
static inline bool pfb_second_is_base(const pfb_counter_type *row)
{
    return row->denominator == PFB_DENOMINATOR_BASE || row->denominator == PFB_DENOMINATOR_BASE_DELTA;
}

static inline bool pfb_second_is_time(const pfb_counter_type *row)
{
    return row->denominator == PFB_DENOMINATOR_TIME || (row->terms & PFB_TERM_ELAPSED) != 0;
}

/* Returns the status byte of a result (PFB_STATUS_BYTE_). */
static inline uint8_t pfb_formula_pack(const pfb_formula_result *result)
{
    bool is_small = result->is_integer && result->integer >> PFB_EXACT_BITS == 0;
    return (uint8_t)((uint32_t)result->status | result->flags << 4 | (is_small ? PFB_STATUS_BYTE_INTEGER : 0));
}

#endif
