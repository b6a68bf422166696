/* SPDX-License-Identifier: MIT */
/* Compares formulas with a reference implementation: computes status, flags and exact quotient of two raw values from
 * the bits of the type, with slow integers. The value is checked against its definition: no double is nearer to the
 * quotient. Then evaluates the same raw values with one input increased, without limits (cap_100, clamp_0), and with
 * the complementary type: an inverse timer and its timer.
 *
 * Input: { switches u8, scale u8, samples u8, row u8, type u32, older type u32, base type u32 of the newer and of the
 * older sample, absent newer u8, absent older u8 }, then the eight fields of the newer sample and the eight of the
 * older one, u64 each, in the order of pfb_raw_value, and the increase of an input, u64. Little-endian; missing bytes
 * are 0. Switches and scale: checks.h. Row: position of a named type in the reference. Bits of samples: 1 only one
 * sample, 2 use `type` instead of choosing a named type, 4 keep only the bits of `type` that a well-formed counter may
 * have, 8 the older sample has its own type. Bits of `absent`: PFB_HAS_*. */
#include "checks.h"
#include "formula_reference.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The contents of an input. `step` is the increase of a field in check_order. */
typedef struct inputs {
    pfb_raw_value newer, older;
    bool has_older;
    pfb_formula_options options;
    uint64_t step;
} inputs;

static const pfb_raw_value *older_of(const inputs *q)
{
    return q->has_older ? &q->older : NULL;
}

static pfb_formula_result evaluate(const inputs *q)
{
    return pfb_formula_evaluate(older_of(q), &q->newer, &q->options);
}

/* Returns a copy with the options cap_100 and clamp_0 off. */
static inputs without_limits(const inputs *q)
{
    inputs unlimited = *q;
    unlimited.options.cap_100 = unlimited.options.clamp_0 = false;
    return unlimited;
}

static int64_t as_signed(uint64_t bits)
{
    return bits <= INT64_MAX ? (int64_t)bits : -(int64_t)(UINT64_MAX - bits) - 1;
}

/* ---- The definition ------------------------------------------------------------------------------------ */

/* Checks is_integer and integer. The value must have been checked to be the nearest double. */
static void check_integer(const pfb_formula_result *result, const ratio *r)
{
    static const double two53 = 9007199254740992.0;
    if (result->is_integer) {
        big product = big_times(r->d, result->integer);
        require(!r->negative && big_compare(&product, &r->n) == 0, "the integer equals the exact quotient");
        return;
    }
    require(result->integer == 0, "without is_integer the integer is 0");
    /* If the quotient were an integer below 2^53, the value would be that integer: a fraction excludes this. */
    if (r->negative || (result->value < two53 && result->value != (double)(int64_t)result->value))
        return;
    big limit = big_shifted(r->d, 64);
    big remainder = big_remainder(r->n, &r->d);
    require(big_compare(&r->n, &limit) >= 0 || !big_is_zero(&remainder),
            "a quotient that is an integer below 2^64 has is_integer");
}

static void check_result(const inputs *q, const pfb_formula_result *result)
{
    bool exact;
    expected_result o = reference_result(older_of(q), &q->newer, &q->options);
    require(result->status == o.status, "the status follows the documented order");
    require(result->unit == o.unit, "the unit is that of the type");
    if (result->status != PFB_STATUS_OK) {
        require(bits_of(result->value) == 0 && result->flags == 0 && !result->is_integer && result->integer == 0,
                "without status ok there is no value");
        return;
    }
    require(is_nearest(&o.value, result->value, &exact), "the value is the double nearest to the exact quotient");
    require(result->flags == o.flags, "the flags are those of the reference");
    check_integer(result, &o.value);
}

/* ---- Options ------------------------------------------------------------------------------------------- */

/* Checks that limits change only values outside them, and that limits and scale do not change the flags. */
static void check_limits(const inputs *q, const pfb_formula_result *result)
{
    inputs unlimited_inputs = without_limits(q);
    pfb_formula_result unlimited = evaluate(&unlimited_inputs);
    unlimited_inputs.options.scale = 0;
    pfb_formula_result unscaled = evaluate(&unlimited_inputs);
    if (result->status != PFB_STATUS_BAD_SCALE)
        require(unscaled.status == result->status, "the status does not depend on the scale");
    if (result->status != PFB_STATUS_OK)
        return;
    require(unlimited.flags == result->flags && unscaled.flags == result->flags,
            "the flags do not depend on limits and scale");
    bool capped = q->options.cap_100 && (result->flags & PFB_FLAG_ABOVE_100);
    bool clamped = q->options.clamp_0 && (result->flags & PFB_FLAG_BELOW_ZERO);
    require(capped || clamped || is_same_result(&unlimited, result), "values inside the limits are not changed");
}

/* Checks that the value is the unscaled exact value times the power of ten, rounded once. */
static void check_scale(const inputs *q, const pfb_formula_result *result)
{
    bool exact;
    if (result->status != PFB_STATUS_OK)
        return;
    inputs unscaled_inputs = *q;
    unscaled_inputs.options.scale = 0;
    ratio r = reference_result(older_of(q), &q->newer, &unscaled_inputs.options).value;
    uint64_t power = 1;
    for (int i = q->options.scale < 0 ? -q->options.scale : q->options.scale; i > 0; i--)
        power *= 10;
    r.n = big_times(r.n, q->options.scale > 0 ? power : 1);
    r.d = big_times(r.d, q->options.scale < 0 ? power : 1);
    require(is_nearest(&r, result->value, &exact), "a scale is applied before the only rounding");
}

/* ---- Order --------------------------------------------------------------------------------------------- */

/* Increases a field; leaves it unchanged if the sum would overflow. */
static void grow(uint64_t *field, uint64_t step)
{
    *field += *field <= UINT64_MAX - step ? step : 0;
}

/* The same for a signed field. */
static void grow_signed(int64_t *field, uint64_t step)
{
    uint64_t space = (uint64_t)INT64_MAX - (uint64_t)*field;
    *field = as_signed((uint64_t)*field + (step <= space ? step : 0));
}

/* Checks that increasing an input of the newer sample moves the result in one direction or leaves it unchanged. */
static void check_move(const inputs *grown, const pfb_formula_result *before, bool rises, const char *guarantee)
{
    pfb_formula_result after = evaluate(grown);
    if (after.status != PFB_STATUS_OK || ((after.flags | before->flags) & PFB_FLAG_WRAPPED))
        return;
    require(rises ? after.value >= before->value : after.value <= before->value, guarantee);
}

static void check_order(const inputs *q, const pfb_formula_result *result)
{
    shape s = shape_of(q->newer.type, &q->options);
    if (result->status != PFB_STATUS_OK)
        return;
    inputs grown = *q;
    grow(&grown.newer.value, q->step);
    check_move(&grown, result, !s.inverse && !s.elapsed, "the result is monotonic in the raw value");
    grown = *q;
    grow(&grown.newer.base, q->step);
    grow_signed(&grown.newer.perf_time, q->step);
    grow_signed(&grown.newer.perf_time_100ns, q->step);
    grow_signed(&grown.newer.object_time, q->step);
    check_move(&grown, result, s.inverse || s.elapsed, "the result is monotonic in base and clock");
    grown = *q;
    grow(&grown.newer.multi_count, q->step);
    check_move(&grown, result, s.inverse, "a greater multi count makes timers smaller and inverse timers greater");
    grown = *q;
    grow_signed(&grown.newer.perf_freq, q->step);
    grow_signed(&grown.newer.object_freq, q->step);
    check_move(&grown, result, s.times_f && !s.inverse, "the result is monotonic in the frequency");
}

/* ---- Complement ---------------------------------------------------------------------------------------- */

/* Checks that an inverse timer and the timer of the same formula add up to 100, or to 1 if the formula is not a
 * percentage, provided that the exact values of both are doubles. */
static void check_complement(const inputs *q)
{
    inputs inverse = without_limits(q);
    inverse.options.scale = 0;
    inputs timer = inverse;
    timer.newer.type &= ~PFB_TYPE_INVERSE;
    timer.older.type &= ~PFB_TYPE_INVERSE;
    shape s = shape_of(inverse.newer.type, &inverse.options);
    shape p = shape_of(timer.newer.type, &timer.options);
    pfb_formula_result result = evaluate(&inverse);
    if (result.status != PFB_STATUS_OK || !s.inverse || !p.known || s.times_f != p.times_f || s.per_item != p.per_item)
        return;
    pfb_formula_result other = evaluate(&timer);
    require(other.status == PFB_STATUS_OK, "a timer can be computed where its inverse can");
    bool exact;
    bool other_exact;
    expected_result o = reference_result(older_of(&inverse), &inverse.newer, &inverse.options);
    is_nearest(&o.value, result.value, &exact);
    o = reference_result(older_of(&timer), &timer.newer, &timer.options);
    is_nearest(&o.value, other.value, &other_exact);
    double whole = s.percent ? 100.0 : 1.0;
    require(!exact || !other_exact || bits_of(result.value + other.value) == bits_of(whole),
            "a timer and its inverse add up to 100 or 1");
}

/* ---- Other ways to the same result --------------------------------------------------------------------- */

static void check_no_options(const inputs *q)
{
    pfb_formula_options none = make_options(0, 0);
    pfb_formula_result without = pfb_formula_evaluate(older_of(q), &q->newer, NULL);
    pfb_formula_result off = pfb_formula_evaluate(older_of(q), &q->newer, &none);
    require(is_same_result(&without, &off), "null options equal options that are all off");
}

static void check(const inputs *q)
{
    pfb_formula_result result = evaluate(q);
    pfb_formula_result repeated = evaluate(q);
    require(is_same_result(&result, &repeated), "the same samples give the same result");
    require((unsigned)result.status <= PFB_STATUS_BAD_SCALE, "statuses are known");
    check_result(q, &result);
    check_limits(q, &result);
    check_scale(q, &result);
    check_order(q, &result);
    check_complement(q);
    check_no_options(q);
}

/* ---- Input --------------------------------------------------------------------------------------------- */

typedef struct input_bytes {
    const uint8_t *data;
    size_t size;
} input_bytes;

static uint64_t take(input_bytes *input, size_t bytes)
{
    uint64_t value = 0;
    for (size_t i = 0; i < bytes && input->size > 0; i++, input->size--)
        value |= (uint64_t)*input->data++ << 8 * i;
    return value;
}

static int64_t take_signed(input_bytes *input)
{
    return as_signed(take(input, 8));
}

static void take_fields(input_bytes *input, pfb_raw_value *s)
{
    s->value = take(input, 8);
    s->base = take(input, 8);
    s->multi_count = take(input, 8);
    s->perf_time = take_signed(input);
    s->perf_time_100ns = take_signed(input);
    s->object_time = take_signed(input);
    s->perf_freq = take_signed(input);
    s->object_freq = take_signed(input);
}

static void take_types(input_bytes *input, inputs *q)
{
    enum { ONE_SAMPLE = 1, ANY_TYPE = 2, WELL_FORMED = 4, OLDER_TYPE = 8, CLASS_COUNTER = 0x400 };
    uint64_t samples = take(input, 1);
    size_t row = (size_t)take(input, 1);
    uint32_t type = (uint32_t)take(input, 4);
    uint32_t older_type = (uint32_t)take(input, 4);
    if (samples & WELL_FORMED)
        type = (type & ~(PFB_TYPE_RESERVED_MASK | PFB_TYPE_CLASS_MASK)) | CLASS_COUNTER;
    q->newer.type = samples & ANY_TYPE ? type : named_type_at(row % NAMED_TYPES);
    q->older.type = samples & OLDER_TYPE ? older_type : q->newer.type;
    q->has_older = !(samples & ONE_SAMPLE);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { ALL = 255 };
    input_bytes input = {data, size};
    uint8_t switches = (uint8_t)take(&input, 1);
    inputs q = {.options = make_options(switches, (uint8_t)take(&input, 1))};
    take_types(&input, &q);
    q.newer.base_type = (uint32_t)take(&input, 4);
    q.older.base_type = (uint32_t)take(&input, 4);
    q.newer.has = ALL & ~(uint32_t)take(&input, 1);
    q.older.has = ALL & ~(uint32_t)take(&input, 1);
    take_fields(&input, &q.newer);
    take_fields(&input, &q.older);
    q.step = take(&input, 8);
    check(&q);
    return 0;
}
