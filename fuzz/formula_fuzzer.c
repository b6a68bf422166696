/* SPDX-License-Identifier: MIT */
/* Compares formulas with a reference implementation: computes status, flags and exact quotient of two raw values from
 * the bits of the type, with slow integers. The value is checked against its definition: no double is nearer to the
 * quotient. Then evaluates the same raw values with one input increased, without limits, and as their complement.
 *
 * Input: { switches u8, scale u8, samples u8, row u8, type u32, older type u32, base type u32 of the newer and of the
 * older sample, absent newer u8, absent older u8 }, then the eight fields of the newer sample and the eight of the
 * older one, u64 each, in the order of pfb_raw_value, and the increase of an input, u64. Little-endian; missing bytes
 * are 0. Switches and scale: promises.h. Bits of samples: 1 only one sample, 2 use `type` instead of choosing a named
 * type, 4 keep only the bits of `type` that a well-formed counter may have, 8 the older sample has its own type. Bits
 * of `absent`: PFB_HAS_*. */
#include "promises.h"
#include "second_opinion.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The contents of an input. */
typedef struct question {
    pfb_raw_value newer, older;
    bool has_older;
    pfb_formula_options options;
    uint64_t step;
} question;

static const pfb_raw_value *older_of(const question *q)
{
    return q->has_older ? &q->older : NULL;
}

static pfb_formula_result evaluate(const question *q)
{
    return pfb_formula_evaluate(older_of(q), &q->newer, &q->options);
}

/* Returns the question without limits. */
static question without_limits(const question *q)
{
    question unlimited = *q;
    unlimited.options.cap_100 = unlimited.options.clamp_0 = false;
    return unlimited;
}

static int64_t as_signed(uint64_t bits)
{
    return bits <= INT64_MAX ? (int64_t)bits : -(int64_t)(UINT64_MAX - bits) - 1;
}

/* ---- The definition ------------------------------------------------------------------------------------ */

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
    demand(big_compare(&r->n, &limit) >= 0 || !big_is_zero(&rest), "is_integer distinguishes integers of 64 bits");
}

static void check_result(const question *q, const pfb_formula_result *result)
{
    bool exact;
    opinion o = judge(older_of(q), &q->newer, &q->options);
    demand(result->status == o.status, "the status follows the documented order");
    demand(result->unit == o.unit, "the unit is that of the type");
    if (result->status != PFB_STATUS_OK) {
        demand(bits_of(result->value) == 0 && result->flags == 0 && !result->is_integer && result->integer == 0,
               "without status ok there is no value");
        return;
    }
    demand(is_nearest(&o.value, result->value, &exact), "the value is the double nearest to the exact quotient");
    demand(result->flags == o.flags, "the flags agree with what happened");
    check_integer(result, &o.value);
}

/* ---- Options ------------------------------------------------------------------------------------------- */

/* Limits change only values outside them. Limits and scale do not change the flags. */
static void check_limits(const question *q, const pfb_formula_result *result)
{
    question plain = without_limits(q);
    pfb_formula_result unlimited = evaluate(&plain);
    plain.options.scale = 0;
    pfb_formula_result unscaled = evaluate(&plain);
    if (result->status != PFB_STATUS_BAD_SCALE)
        demand(unscaled.status == result->status, "the status does not depend on the scale");
    if (result->status != PFB_STATUS_OK)
        return;
    demand(unlimited.flags == result->flags && unscaled.flags == result->flags, "the flags agree with the samples");
    bool capped = q->options.cap_100 && (result->flags & PFB_FLAG_ABOVE_100);
    bool clamped = q->options.clamp_0 && (result->flags & PFB_FLAG_BELOW_ZERO);
    demand(capped || clamped || is_same_result(&unlimited, result), "values inside the limits are not changed");
}

/* The unscaled exact value times the power of ten, rounded once. */
static void check_scale(const question *q, const pfb_formula_result *result)
{
    bool exact;
    if (result->status != PFB_STATUS_OK)
        return;
    question plain = *q;
    plain.options.scale = 0;
    ratio r = judge(older_of(q), &q->newer, &plain.options).value;
    uint64_t power = 1;
    for (int i = q->options.scale < 0 ? -q->options.scale : q->options.scale; i > 0; i--)
        power *= 10;
    r.n = big_times(r.n, q->options.scale > 0 ? power : 1);
    r.d = big_times(r.d, q->options.scale < 0 ? power : 1);
    demand(is_nearest(&r, result->value, &exact), "a scale multiplies before the one rounding");
}

/* ---- Order --------------------------------------------------------------------------------------------- */

static void grow(uint64_t *field, uint64_t step)
{
    *field += *field <= UINT64_MAX - step ? step : 0;
}

/* Two's complement: what stays below INT64_MAX does not overflow. */
static void grow_signed(int64_t *field, uint64_t step)
{
    uint64_t room = (uint64_t)INT64_MAX - (uint64_t)*field;
    *field = as_signed((uint64_t)*field + (step <= room ? step : 0));
}

/* Increasing the newer sample moves the result in one direction or leaves it unchanged. */
static void check_move(const question *grown, const pfb_formula_result *before, bool rises, const char *promise)
{
    pfb_formula_result after = evaluate(grown);
    if (after.status != PFB_STATUS_OK || ((after.flags | before->flags) & PFB_FLAG_WRAPPED))
        return;
    demand(rises ? after.value >= before->value : after.value <= before->value, promise);
}

static void check_order(const question *q, const pfb_formula_result *result)
{
    shape s = shape_of(q->newer.type, &q->options);
    if (result->status != PFB_STATUS_OK)
        return;
    question grown = *q;
    grow(&grown.newer.value, q->step);
    check_move(&grown, result, !s.inverse && !s.elapsed, "the result is monotonic in the raw value");
    grown = *q;
    grow(&grown.newer.base, q->step);
    grow_signed(&grown.newer.perf_time, q->step);
    grow_signed(&grown.newer.perf_time_100ns, q->step);
    grow_signed(&grown.newer.object_time, q->step);
    check_move(&grown, result, s.inverse || s.elapsed, "the result is monotonic in the denominator");
    grown = *q;
    grow(&grown.newer.multi_count, q->step);
    check_move(&grown, result, s.inverse,
               "a greater multi count makes plain timers smaller and their inverses greater");
    grown = *q;
    grow_signed(&grown.newer.perf_freq, q->step);
    grow_signed(&grown.newer.object_freq, q->step);
    check_move(&grown, result, s.times_f && !s.inverse, "the result is monotonic in the frequency");
}

/* ---- Complement ---------------------------------------------------------------------------------------- */

/* An inverse timer and the timer of the same formula add up to 100, or to 1 if the formula is not a percentage, if both
 * are doubles. */
static void check_complement(const question *q)
{
    question inverse = without_limits(q);
    inverse.options.scale = 0;
    question timer = inverse;
    timer.newer.type &= ~PFB_TYPE_INVERSE;
    timer.older.type &= ~PFB_TYPE_INVERSE;
    shape s = shape_of(inverse.newer.type, &inverse.options);
    shape p = shape_of(timer.newer.type, &timer.options);
    pfb_formula_result result = evaluate(&inverse);
    if (result.status != PFB_STATUS_OK || !s.inverse || !p.known || s.times_f != p.times_f || s.per_item != p.per_item)
        return;
    pfb_formula_result other = evaluate(&timer);
    demand(other.status == PFB_STATUS_OK, "a timer can be computed where its inverse can");
    bool exact;
    bool other_exact;
    opinion o = judge(older_of(&inverse), &inverse.newer, &inverse.options);
    is_nearest(&o.value, result.value, &exact);
    o = judge(older_of(&timer), &timer.newer, &timer.options);
    is_nearest(&o.value, other.value, &other_exact);
    double whole = s.percent ? 100.0 : 1.0;
    demand(!exact || !other_exact || bits_of(result.value + other.value) == bits_of(whole), "they make a whole");
}

/* ---- Other ways to the same result --------------------------------------------------------------------- */

static void check_no_options(const question *q)
{
    pfb_formula_options none = make_options(0, 0);
    pfb_formula_result without = pfb_formula_evaluate(older_of(q), &q->newer, NULL);
    pfb_formula_result off = pfb_formula_evaluate(older_of(q), &q->newer, &none);
    demand(is_same_result(&without, &off), "no options are all options off");
}

static void check(const question *q)
{
    pfb_formula_result result = evaluate(q);
    pfb_formula_result again = evaluate(q);
    demand(is_same_result(&result, &again), "the same samples give the same result");
    demand((unsigned)result.status <= PFB_STATUS_BAD_SCALE, "statuses are known");
    check_result(q, &result);
    check_limits(q, &result);
    check_scale(q, &result);
    check_order(q, &result);
    check_complement(q);
    check_no_options(q);
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
    return as_signed(take(from, 8));
}

static void take_fields(source *from, pfb_raw_value *s)
{
    s->value = take(from, 8);
    s->base = take(from, 8);
    s->multi_count = take(from, 8);
    s->perf_time = take_signed(from);
    s->perf_time_100ns = take_signed(from);
    s->object_time = take_signed(from);
    s->perf_freq = take_signed(from);
    s->object_freq = take_signed(from);
}

static void take_types(source *from, question *q)
{
    enum { ONE = 1, FREE = 2, TIDY = 4, OWN_OLDER = 8, CLASS_COUNTER = 0x400 };
    uint64_t samples = take(from, 1);
    size_t row = (size_t)take(from, 1);
    uint32_t type = (uint32_t)take(from, 4);
    uint32_t older_type = (uint32_t)take(from, 4);
    if (samples & TIDY)
        type = (type & ~(PFB_TYPE_RESERVED_MASK | PFB_TYPE_CLASS_MASK)) | CLASS_COUNTER;
    q->newer.type = samples & FREE ? type : named_type_at(row % NAMED_TYPES);
    q->older.type = samples & OWN_OLDER ? older_type : q->newer.type;
    q->has_older = !(samples & ONE);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { ALL = 255 };
    source from = {data, size};
    uint8_t switches = (uint8_t)take(&from, 1);
    question q = {.options = make_options(switches, (uint8_t)take(&from, 1))};
    take_types(&from, &q);
    q.newer.base_type = (uint32_t)take(&from, 4);
    q.older.base_type = (uint32_t)take(&from, 4);
    q.newer.has = ALL & ~(uint32_t)take(&from, 1);
    q.older.has = ALL & ~(uint32_t)take(&from, 1);
    take_fields(&from, &q.newer);
    take_fields(&from, &q.older);
    q.step = take(&from, 8);
    check(&q);
    return 0;
}
