/* SPDX-License-Identifier: MIT */
#ifndef PFB_FUZZ_SECOND_OPINION_H
#define PFB_FUZZ_SECOND_OPINION_H

/* A formula worked out again, from the bits of the type and with slow integers: status, flags, unit and the exact
 * quotient. Nothing here calls core; what it knows is what docs/formula.md and docs/counter_type.md say. */
#include "big.h"
#include "perfblock/formula.h"

/* What the value must be: n / d, negative or not. Both below 2^170. */
typedef struct ratio {
    big n, d;
    bool negative;
} ratio;

/* A formula from the bits alone; the few types that do not follow theirs are named. */
typedef struct shape {
    bool known, shown;
    bool delta, delta_base;         /* dN instead of N, dB instead of B */
    bool elapsed, by_time, by_base; /* T - N instead of N; over dT; over B or dB */
    bool times_f, over_f, percent;
    bool inverse, multi, per_item; /* 1 minus that, M minus it if multi; takes M; divided by M */
    bool dword, dword_base;        /* four bytes: by its type; by the base type that the table lists */
    unsigned clock;                /* 0 perf, 1 100 ns, 2 object */
    pfb_unit unit;
} shape;

typedef struct opinion {
    pfb_status status;
    uint32_t flags;
    pfb_unit unit;
    ratio value; /* if the status is ok */
} opinion;

enum { NAMED_TYPES = 39 };

/* The types that have a name, in ascending order. */
uint32_t named_type_at(size_t position);

shape shape_of(uint32_t type, const pfb_formula_options *options);
opinion judge(const pfb_raw_value *older, const pfb_raw_value *newer, const pfb_formula_options *options);

/* True when no double lies nearer to the ratio, and of two equally near ones this is the even one. `exact`: no
 * difference at all. */
bool is_nearest(const ratio *r, double value, bool *exact);

#endif
