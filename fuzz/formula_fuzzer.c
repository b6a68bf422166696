/* SPDX-License-Identifier: MIT */
/* Formulas against a second opinion: two samples from the input are evaluated, and the status, the flags and the exact
 * quotient are worked out again from the bits of the type, with slow integers of this file's own. What is checked is
 * not another rounding but the definition: no double lies nearer to the quotient.
 *
 * An input: { options u8, row u8, type u32, older type u32, absent newer u8, absent older u8 }, then the eight fields
 * of the newer sample and the eight of the older one, u64 each, in the order of pfb_sample; little-endian, missing
 * bytes are 0. Options: 1 wrap32, 2 one sample, 4 the type is `type` and not a row of the table, 8 the older sample has
 * its own type. `absent` bits are those of PFB_HAS_. */
#include "perfblock/formula.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool kept, const char *promise)
{
    if (kept)
        return;
    fprintf(stderr, "broken promise: %s\n", promise);
    abort();
}

/* ---- Slow integers ------------------------------------------------------------------------------------- */

enum { LIMBS = 14, LIMB_BITS = 32 };

/* 448 bits, least significant limb first: a quotient's two sides need 190 of them. */
typedef struct big {
    uint32_t limb[LIMBS];
} big;

static big big_of(uint64_t value)
{
    return (big){{(uint32_t)value, (uint32_t)(value >> 32)}};
}

static big big_plus(big a, const big *b)
{
    uint64_t carry = 0;
    for (int i = 0; i < LIMBS; i++) {
        carry += (uint64_t)a.limb[i] + b->limb[i];
        a.limb[i] = (uint32_t)carry;
        carry >>= LIMB_BITS;
    }
    return a;
}

static big big_minus(big a, const big *b)
{
    uint32_t borrow = 0;
    for (int i = 0; i < LIMBS; i++) {
        uint64_t rest = (uint64_t)a.limb[i] - b->limb[i] - borrow;
        a.limb[i] = (uint32_t)rest;
        borrow = (uint32_t)(rest >> 63);
    }
    return a;
}

static int big_compare(const big *a, const big *b)
{
    for (int i = LIMBS - 1; i >= 0; i--) {
        if (a->limb[i] != b->limb[i])
            return a->limb[i] < b->limb[i] ? -1 : 1;
    }
    return 0;
}

static big big_shifted(big a, int bits)
{
    big shifted = big_of(0);
    for (int i = LIMBS - 1; i >= bits / LIMB_BITS; i--) {
        int from = i - bits / LIMB_BITS;
        uint64_t pair = (uint64_t)a.limb[from] << LIMB_BITS | (from > 0 ? a.limb[from - 1] : 0);
        shifted.limb[i] = (uint32_t)(pair >> (LIMB_BITS - bits % LIMB_BITS));
    }
    return shifted;
}

static big big_times_limb(big a, uint32_t factor)
{
    uint64_t carry = 0;
    for (int i = 0; i < LIMBS; i++) {
        carry += (uint64_t)a.limb[i] * factor;
        a.limb[i] = (uint32_t)carry;
        carry >>= LIMB_BITS;
    }
    return a;
}

static big big_times(big a, uint64_t factor)
{
    big high = big_shifted(big_times_limb(a, (uint32_t)(factor >> LIMB_BITS)), LIMB_BITS);
    return big_plus(big_times_limb(a, (uint32_t)factor), &high);
}

static bool big_is_zero(const big *a)
{
    big zero = big_of(0);
    return big_compare(a, &zero) == 0;
}

/* What remains of a after the multiples of b below 2^64, bit by bit. */
static big big_rest(big a, const big *b)
{
    for (int bit = 63; bit >= 0; bit--) {
        big part = big_shifted(*b, bit);
        if (big_compare(&a, &part) >= 0)
            a = big_minus(a, &part);
    }
    return a;
}

/* ---- The definition of the value ----------------------------------------------------------------------- */

/* What the value must be: n / d, negative or not. */
typedef struct ratio {
    big n, d;
    bool negative;
} ratio;

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* True when no double lies nearer to the ratio, and of two equally near ones this is the even one. `exact`: no
 * difference at all. */
static bool is_nearest(const ratio *r, double value, bool *exact)
{
    enum { FRACTION_BITS = 52, BIAS = 1023, LEAST = -300, MOST = 200 };
    uint64_t bits = bits_of(value);
    int exponent = (int)(bits >> FRACTION_BITS & 2047) - BIAS - FRACTION_BITS;
    uint64_t mantissa = (bits & ((UINT64_C(1) << FRACTION_BITS) - 1)) | UINT64_C(1) << FRACTION_BITS;
    *exact = bits == 0;
    if (big_is_zero(&r->n))
        return bits == 0;
    if ((bits >> 63 != 0) != r->negative || exponent < LEAST || exponent > MOST)
        return false;
    /* value = mantissa * 2^exponent; both sides times what makes them integers. */
    big left = exponent < 0 ? big_shifted(r->n, -exponent) : r->n;
    big unit = exponent > 0 ? big_shifted(r->d, exponent) : r->d;
    big right = big_times(unit, mantissa);
    bool above = big_compare(&right, &left) > 0;
    big error = above ? big_minus(right, &left) : big_minus(left, &right);
    *exact = big_is_zero(&error);
    /* Below a power of two the doubles stand half as far apart. */
    bool at_power = above && mantissa == UINT64_C(1) << FRACTION_BITS;
    error = big_shifted(error, at_power ? 2 : 1);
    int difference = big_compare(&error, &unit);
    return difference < 0 || (difference == 0 && mantissa % 2 == 0);
}

/* ---- What a type's bits say ---------------------------------------------------------------------------- */

enum { CLASS_NUMBER, CLASS_COUNTER };
enum { VALUE, RATE, FRACTION, BASE, ELAPSED, QUEUE, HISTOGRAM, PRECISION };
enum { AVERAGE_TIMER = 0x30020400, AVERAGE_BULK = 0x40020500, MULTI_TIMER = 0x22410500 };

/* A formula from the bits alone; the few types that do not follow theirs are named. */
typedef struct shape {
    bool shown, two, is_elapsed, by_time, by_base, times_f, over_f, percent, inverse, multi;
    unsigned clock; /* 0 perf, 1 100 ns, 2 object */
} shape;

static shape shape_of(uint32_t type)
{
    unsigned class = type >> 10 & 3;
    unsigned subtype = type >> 16 & 15;
    unsigned display = type >> 28;
    bool counter = class == CLASS_COUNTER;
    bool sized = (type >> 8 & 3) < 2;
    shape s = {.clock = type >> 20 & 3};
    s.shown = (counter && subtype != BASE) || (class == CLASS_NUMBER && sized && display == 0);
    s.two = counter && ((type >> 22 & 1) != 0 || type == AVERAGE_TIMER || type == AVERAGE_BULK);
    s.is_elapsed = counter && subtype == ELAPSED;
    s.by_time = counter && (subtype == RATE || subtype == QUEUE);
    s.by_base = counter && (subtype == FRACTION || subtype == PRECISION);
    s.times_f = counter && subtype == RATE && (display < 2 || type == MULTI_TIMER);
    s.over_f = display == 3;
    s.percent = display == 2;
    s.inverse = (type >> 24 & 1) != 0;
    s.multi = (type >> 25 & 1) != 0;
    return s;
}

typedef struct reading {
    uint32_t has_time, has_freq;
    int64_t time, freq;
} reading;

static reading read_clock(const pfb_sample *s, unsigned clock)
{
    if (clock == 0)
        return (reading){PFB_HAS_PERF_TIME, PFB_HAS_PERF_FREQ, s->perf_time, s->perf_freq};
    if (clock == 1)
        return (reading){PFB_HAS_PERF_TIME_100NS, 0, s->perf_time_100ns, 0};
    return (reading){PFB_HAS_OBJECT_TIME, PFB_HAS_OBJECT_FREQ, s->object_time, s->object_freq};
}

/* ---- The second opinion -------------------------------------------------------------------------------- */

typedef struct opinion {
    pfb_status status;
    uint32_t flags;
    ratio value;
} opinion;

/* An object's precision timer takes its clock when there is no pair of bases. */
static void choose_clock(shape *s, uint32_t type, uint32_t both)
{
    bool object = (type >> 16 & 15) == PRECISION && s->clock == 2;
    if (object && !(both & PFB_HAS_BASE) && (both & PFB_HAS_OBJECT_TIME)) {
        s->by_base = false;
        s->by_time = true;
    }
}

static pfb_status check_inputs(const shape *s, const pfb_sample *older, const pfb_sample *newer)
{
    uint32_t both = s->two ? older->has & newer->has : newer->has;
    reading clock = read_clock(newer, s->clock);
    bool has_value = (both & PFB_HAS_VALUE) != 0;
    bool has_time = (both & clock.has_time) != 0 || !(s->by_time || s->is_elapsed);
    bool has_freq = (newer->has & clock.has_freq) != 0 || !(s->times_f || s->over_f);
    if (!has_value || !has_time || !has_freq)
        return PFB_STATUS_MISSING_INPUT;
    bool has_base = (both & PFB_HAS_BASE) != 0 || !s->by_base;
    bool has_items = (newer->has & PFB_HAS_MULTI) != 0 || !s->multi;
    return has_base && has_items ? PFB_STATUS_OK : PFB_STATUS_MISSING_BASE;
}

/* The numerator before factors. */
static pfb_status count(const shape *s, const pfb_sample *older, const pfb_sample *newer,
                        const pfb_formula_options *options, opinion *o)
{
    uint64_t from = s->two ? older->value : 0;
    uint64_t to = newer->value;
    if (s->is_elapsed) {
        int64_t now = read_clock(newer, s->clock).time;
        if (newer->value == 0)
            return PFB_STATUS_NO_DATA;
        if (now < 0)
            return PFB_STATUS_NEGATIVE_DELTA;
        from = newer->value;
        to = (uint64_t)now;
    }
    big n = big_of(to);
    if (to < from && s->two && options->wrap32 && !(newer->type & PFB_TYPE_SIZE_MASK) && from <= UINT32_MAX) {
        big wrap = big_of(UINT64_C(1) << 32);
        n = big_plus(n, &wrap);
        o->flags |= PFB_FLAG_WRAPPED;
    } else if (to < from) {
        return PFB_STATUS_NEGATIVE_DELTA;
    }
    big old = big_of(from);
    o->value.n = big_minus(n, &old);
    return PFB_STATUS_OK;
}

/* The denominator before factors. */
static pfb_status measure(const shape *s, const pfb_sample *older, const pfb_sample *newer, opinion *o)
{
    if (!s->by_time && !s->by_base)
        return PFB_STATUS_OK;
    big from = big_of(s->two ? older->base : 0);
    big to = big_of(newer->base);
    if (s->by_time) { /* moved up by 2^63, signed readings keep their order */
        from = big_of((uint64_t)read_clock(older, s->clock).time ^ UINT64_C(1) << 63);
        to = big_of((uint64_t)read_clock(newer, s->clock).time ^ UINT64_C(1) << 63);
    }
    int order = big_compare(&to, &from);
    o->value.d = big_minus(to, &from);
    if (order == 0)
        return s->two ? PFB_STATUS_ZERO_DENOMINATOR : PFB_STATUS_ZERO_BASE;
    return order < 0 ? PFB_STATUS_NEGATIVE_DENOMINATOR : PFB_STATUS_OK;
}

/* Factors, complement, flags. */
static void finish(const shape *s, const pfb_sample *newer, opinion *o)
{
    ratio *v = &o->value;
    uint64_t freq = (uint64_t)read_clock(newer, s->clock).freq;
    if (s->times_f)
        v->n = big_times(v->n, freq);
    if (s->over_f)
        v->d = big_times(v->d, freq);
    if (s->multi && !s->inverse)
        v->d = big_times(v->d, newer->multi);
    if (s->inverse) {
        big whole = s->multi ? big_times(v->d, newer->multi) : v->d;
        v->negative = big_compare(&whole, &v->n) < 0;
        v->n = v->negative ? big_minus(v->n, &whole) : big_minus(whole, &v->n);
    }
    if (s->percent)
        v->n = big_times(v->n, 100);
    big hundred = big_times(v->d, 100);
    if (v->negative)
        o->flags |= PFB_FLAG_BELOW_ZERO;
    else if (s->percent && big_compare(&v->n, &hundred) > 0)
        o->flags |= PFB_FLAG_ABOVE_100;
}

static opinion judge(const pfb_sample *older, const pfb_sample *newer, const pfb_formula_options *options)
{
    opinion o = {.status = PFB_STATUS_OK, .value = {big_of(0), big_of(1), false}};
    shape s = shape_of(newer->type);
    if (!s.shown)
        o.status = PFB_STATUS_NOT_DISPLAYED;
    else if (s.two && !older)
        o.status = PFB_STATUS_NEED_TWO_SAMPLES;
    else if (older && older->type != newer->type)
        o.status = PFB_STATUS_TYPE_MISMATCH;
    if (o.status != PFB_STATUS_OK)
        return o;
    choose_clock(&s, newer->type, s.two ? older->has & newer->has : 0);
    o.status = check_inputs(&s, older, newer);
    if (o.status == PFB_STATUS_OK)
        o.status = count(&s, older, newer, options, &o);
    if (o.status == PFB_STATUS_OK && (s.times_f || s.over_f) && read_clock(newer, s.clock).freq <= 0)
        o.status = PFB_STATUS_BAD_FREQUENCY;
    if (o.status == PFB_STATUS_OK && s.multi && newer->multi == 0)
        o.status = PFB_STATUS_ZERO_BASE;
    if (o.status == PFB_STATUS_OK)
        o.status = measure(&s, older, newer, &o);
    if (o.status == PFB_STATUS_OK)
        finish(&s, newer, &o);
    return o;
}

/* ---- What must hold ------------------------------------------------------------------------------------ */

/* Requires a value known to be the nearest double. */
static void check_integer(const pfb_formula_result *result, const ratio *r)
{
    static const double two53 = 9007199254740992.0;
    if (result->is_integer) {
        big product = big_times(r->d, result->integer);
        demand(!r->negative && big_compare(&product, &r->n) == 0, "integer is the exact value");
        return;
    }
    demand(result->integer == 0, "no integer without is_integer");
    /* An integer below 2^53 is a double: nothing with a fraction comes from one. */
    if (r->negative || (result->value < two53 && result->value != (double)(int64_t)result->value))
        return;
    big limit = big_shifted(r->d, 64);
    big rest = big_rest(r->n, &r->d);
    demand(big_compare(&r->n, &limit) >= 0 || !big_is_zero(&rest), "is_integer tells integers of 64 bits");
}

static void check_result(const pfb_formula_result *result, const opinion *o)
{
    bool exact;
    demand(result->status == o->status, "the status is the one that the documented order gives");
    if (result->status != PFB_STATUS_OK) {
        demand(bits_of(result->value) == 0 && result->flags == 0 && !result->is_integer && result->integer == 0,
               "without status ok there is nothing that looks like a value");
        return;
    }
    demand(is_nearest(&o->value, result->value, &exact), "the value is the double nearest to the exact quotient");
    demand(result->flags == o->flags, "the flags tell what happened");
    check_integer(result, &o->value);
}

/* An inverse and its plain timer make 100 wherever both are doubles. */
static void check_complement(pfb_sample older, pfb_sample newer, const pfb_formula_result *result)
{
    bool exact;
    if (!(newer.type & PFB_TYPE_INVERSE) || newer.type & PFB_TYPE_MULTI || result->status != PFB_STATUS_OK)
        return;
    opinion o = judge(&older, &newer, &(pfb_formula_options){.wrap32 = false});
    is_nearest(&o.value, result->value, &exact);
    newer.type &= ~PFB_TYPE_INVERSE;
    older.type = newer.type;
    pfb_formula_result plain = pfb_formula_evaluate(&older, &newer, NULL);
    demand(plain.status == PFB_STATUS_OK, "a timer can be computed where its inverse can");
    bool plain_exact;
    o = judge(&older, &newer, &(pfb_formula_options){.wrap32 = false});
    is_nearest(&o.value, plain.value, &plain_exact);
    demand(!exact || !plain_exact || bits_of(plain.value + result->value) == bits_of(100.0), "they make 100");
}

static bool is_same(const pfb_formula_result *a, const pfb_formula_result *b)
{
    return a->status == b->status && a->flags == b->flags && bits_of(a->value) == bits_of(b->value) &&
           a->unit == b->unit && a->is_integer == b->is_integer && a->integer == b->integer;
}

static void check(const pfb_sample *older, const pfb_sample *newer, const pfb_formula_options *options)
{
    pfb_formula_result result = pfb_formula_evaluate(older, newer, options);
    pfb_formula_result again = pfb_formula_evaluate(older, newer, options);
    demand(is_same(&result, &again), "the same samples give the same result");
    demand(pfb_status_name(result.status)[0] != 'u' || result.status == PFB_STATUS_UNKNOWN_TYPE, "statuses have names");
    const pfb_counter_type *type = pfb_counter_type_find(newer->type);
    demand((type == NULL) == (result.status == PFB_STATUS_UNKNOWN_TYPE), "unknown types are unknown");
    demand(result.unit == (type ? (pfb_unit)type->unit : PFB_UNIT_NONE), "the unit is the type's");
    if (!type)
        return;
    opinion o = judge(older, newer, options);
    check_result(&result, &o);
    if (older && !options->wrap32)
        check_complement(*older, *newer, &result);
}

/* ---- Input --------------------------------------------------------------------------------------------- */

typedef struct source {
    const uint8_t *data;
    size_t size;
} source;

static uint64_t take(source *from, size_t bytes)
{
    uint64_t value = 0;
    for (size_t i = 0; i < bytes && from->size > 0; i++, from->size--)
        value |= (uint64_t)*from->data++ << 8 * i;
    return value;
}

static int64_t take_signed(source *from)
{
    uint64_t bits = take(from, 8);
    return bits <= INT64_MAX ? (int64_t)bits : -(int64_t)(UINT64_MAX - bits) - 1;
}

static void take_fields(source *from, pfb_sample *s)
{
    s->value = take(from, 8);
    s->base = take(from, 8);
    s->multi = take(from, 8);
    s->perf_time = take_signed(from);
    s->perf_time_100ns = take_signed(from);
    s->object_time = take_signed(from);
    s->perf_freq = take_signed(from);
    s->object_freq = take_signed(from);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { ONE_SAMPLE = 2, FREE_TYPE = 4, OWN_OLDER_TYPE = 8, ALL = 255 };
    source from = {data, size};
    uint64_t options = take(&from, 1);
    size_t row = (size_t)take(&from, 1) % pfb_counter_type_count();
    uint32_t free_type = (uint32_t)take(&from, 4);
    uint32_t older_type = (uint32_t)take(&from, 4);
    pfb_sample newer = {.type = options & FREE_TYPE ? free_type : pfb_counter_type_at(row)->value};
    pfb_sample older = {.type = options & OWN_OLDER_TYPE ? older_type : newer.type};
    newer.has = ALL & ~(uint32_t)take(&from, 1);
    older.has = ALL & ~(uint32_t)take(&from, 1);
    take_fields(&from, &newer);
    take_fields(&from, &older);
    pfb_formula_options policies = {.wrap32 = (options & 1) != 0};
    check(options & ONE_SAMPLE ? NULL : &older, &newer, &policies);
    return 0;
}
