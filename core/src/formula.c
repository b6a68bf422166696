/* SPDX-License-Identifier: MIT */
#include "perfblock/formula.h"

#include "wide.h"

/* ---- Names ------------------------------------------------------------------------------------------- */

static const char status_names[][22] = {
    "ok",
    "need_two_samples",
    "type_mismatch",
    "unknown_type",
    "not_displayed",
    "missing_base",
    "missing_input",
    "negative_delta",
    "zero_denominator",
    "negative_denominator",
    "bad_frequency",
    "zero_base",
    "no_data",
};

const char *pfb_status_name(pfb_status status)
{
    return (unsigned)status < sizeof status_names / sizeof status_names[0] ? status_names[status] : "unknown_status";
}

const char *pfb_flag_name(uint32_t flag)
{
    static const char names[][12] = {"wrapped", "above_100", "below_zero", ""};
    return names[flag == PFB_FLAG_WRAPPED ? 0 : flag == PFB_FLAG_ABOVE_100 ? 1 : flag == PFB_FLAG_BELOW_ZERO ? 2 : 3];
}

/* ---- Inputs ------------------------------------------------------------------------------------------ */

/* What the type's formula asks of its samples, resolved: all integers, all checked. */
typedef struct inputs {
    uint64_t numerator;   /* N, dN or T - N */
    uint64_t denominator; /* 1, dT, B or dB; never 0 */
    uint64_t frequency;   /* F; 1 when unused */
    uint64_t items;       /* M; 1 when unused */
    uint32_t flags;
} inputs;

static bool has(const pfb_sample *sample, uint32_t bit)
{
    return (sample->has & bit) == bit;
}

typedef struct clock_reading {
    uint32_t has_time;
    uint32_t has_frequency;
    int64_t time;
    int64_t frequency;
} clock_reading;

static clock_reading read_clock(const pfb_sample *sample, unsigned clock)
{
    switch (clock) {
    case PFB_CLOCK_PERF:
        return (clock_reading){PFB_HAS_PERF_TIME, PFB_HAS_PERF_FREQ, sample->perf_time, sample->perf_freq};
    case PFB_CLOCK_OBJECT:
        return (clock_reading){PFB_HAS_OBJECT_TIME, PFB_HAS_OBJECT_FREQ, sample->object_time, sample->object_freq};
    default: /* no formula uses the frequency of the 100 ns clock, which is 10^7 by definition */
        return (clock_reading){PFB_HAS_PERF_TIME_100NS, 0, sample->perf_time_100ns, 0};
    }
}

/* A precision timer of an object that has no base of its own is measured by the object's clock. */
static unsigned effective_denominator(const pfb_counter_type *type, const pfb_sample *older, const pfb_sample *newer)
{
    bool may_use_clock = type->denominator == PFB_DENOMINATOR_BASE_DELTA && type->clock == PFB_CLOCK_OBJECT;
    bool has_base = has(newer, PFB_HAS_BASE) && has(older, PFB_HAS_BASE);
    bool has_clock = has(newer, PFB_HAS_OBJECT_TIME) && has(older, PFB_HAS_OBJECT_TIME);
    return may_use_clock && !has_base && has_clock ? PFB_DENOMINATOR_TIME : type->denominator;
}

static bool uses_items(const pfb_counter_type *type)
{
    return (type->terms & (PFB_TERM_OVER_ITEMS | PFB_TERM_FROM_ITEMS)) != 0;
}

static bool uses_frequency(const pfb_counter_type *type)
{
    return (type->terms & (PFB_TERM_TIMES_FREQUENCY | PFB_TERM_OVER_FREQUENCY)) != 0;
}

/* Every input the formula reads is there. For types that need one sample `older` is the newer one. */
static pfb_status check_presence(const pfb_counter_type *type, unsigned denominator, const pfb_sample *older,
                                 const pfb_sample *newer)
{
    uint32_t base = denominator == PFB_DENOMINATOR_BASE || denominator == PFB_DENOMINATOR_BASE_DELTA ? PFB_HAS_BASE : 0;
    if (!has(newer, PFB_HAS_VALUE) || !has(older, PFB_HAS_VALUE))
        return PFB_STATUS_MISSING_INPUT;
    clock_reading clock = read_clock(newer, type->clock);
    bool by_time = denominator == PFB_DENOMINATOR_TIME;
    bool elapsed = (type->terms & PFB_TERM_ELAPSED) != 0;
    if ((by_time || elapsed) && (!has(newer, clock.has_time) || (by_time && !has(older, clock.has_time))))
        return PFB_STATUS_MISSING_INPUT;
    if (uses_frequency(type) && !has(newer, clock.has_frequency))
        return PFB_STATUS_MISSING_INPUT;
    if (!has(newer, base) || !has(older, base))
        return PFB_STATUS_MISSING_BASE;
    if (uses_items(type) && !has(newer, PFB_HAS_MULTI))
        return PFB_STATUS_MISSING_BASE;
    return PFB_STATUS_OK;
}

/* N1 - N0; a DWORD counter that fell may have gone through 2^32. */
static pfb_status subtract_values(const pfb_counter_type *type, const pfb_sample *older, const pfb_sample *newer,
                                  uint32_t options, inputs *in)
{
    uint64_t from = older->value;
    uint64_t to = newer->value;
    if (to < from) {
        if (!(options & PFB_WRAP32) || type->raw_size != PFB_RAW_DWORD || from > UINT32_MAX)
            return PFB_STATUS_NEGATIVE_DELTA;
        to += UINT64_C(1) << 32;
        in->flags |= PFB_FLAG_WRAPPED;
    }
    in->numerator = to - from;
    return PFB_STATUS_OK;
}

static pfb_status read_numerator(const pfb_counter_type *type, const pfb_sample *older, const pfb_sample *newer,
                                 uint32_t options, inputs *in)
{
    if (type->terms & PFB_TERM_DELTA)
        return subtract_values(type, older, newer, options, in);
    in->numerator = newer->value;
    if (!(type->terms & PFB_TERM_ELAPSED))
        return PFB_STATUS_OK;
    if (newer->value == 0)
        return PFB_STATUS_NO_DATA;
    int64_t now = read_clock(newer, type->clock).time;
    if (now < 0 || (uint64_t)now < newer->value)
        return PFB_STATUS_NEGATIVE_DELTA;
    in->numerator = (uint64_t)now - newer->value;
    return PFB_STATUS_OK;
}

static pfb_status read_denominator(const pfb_counter_type *type, unsigned denominator, const pfb_sample *older,
                                   const pfb_sample *newer, inputs *in)
{
    int64_t from;
    int64_t to;
    switch (denominator) {
    case PFB_DENOMINATOR_TIME: /* compared as signed, subtracted as unsigned: no difference overflows */
        from = read_clock(older, type->clock).time;
        to = read_clock(newer, type->clock).time;
        in->denominator = (uint64_t)to - (uint64_t)from;
        return to < from ? PFB_STATUS_NEGATIVE_DENOMINATOR : to == from ? PFB_STATUS_ZERO_DENOMINATOR : PFB_STATUS_OK;
    case PFB_DENOMINATOR_BASE:
        in->denominator = newer->base;
        return newer->base == 0 ? PFB_STATUS_ZERO_BASE : PFB_STATUS_OK;
    case PFB_DENOMINATOR_BASE_DELTA:
        in->denominator = newer->base - older->base;
        return newer->base < older->base    ? PFB_STATUS_NEGATIVE_DENOMINATOR
               : newer->base == older->base ? PFB_STATUS_ZERO_DENOMINATOR
                                            : PFB_STATUS_OK;
    default:
        in->denominator = 1;
        return PFB_STATUS_OK;
    }
}

static pfb_status read_factors(const pfb_counter_type *type, const pfb_sample *newer, inputs *in)
{
    in->frequency = in->items = 1;
    if (uses_frequency(type)) {
        int64_t frequency = read_clock(newer, type->clock).frequency;
        if (frequency <= 0)
            return PFB_STATUS_BAD_FREQUENCY;
        in->frequency = (uint64_t)frequency;
    }
    if (uses_items(type)) {
        if (newer->multi == 0)
            return PFB_STATUS_ZERO_BASE;
        in->items = newer->multi;
    }
    return PFB_STATUS_OK;
}

/* ---- Arithmetic -------------------------------------------------------------------------------------- */

/* Bounds: numerator 64 bits, times F 127, times 100 134; or D * M 128, times 100 135. Denominator D * F or D * M,
 * 128. All below 2^191. */
static void compute(const pfb_counter_type *type, const inputs *in, pfb_formula_result *result)
{
    pfb_wide above = pfb_wide_from(in->numerator);
    pfb_wide below = pfb_wide_from(in->denominator);
    bool negative = false;
    if (type->terms & PFB_TERM_TIMES_FREQUENCY)
        above = pfb_wide_times(above, in->frequency);
    if (type->terms & PFB_TERM_INVERSE) { /* W - N/D = (W D - N) / D, where W is 1 or M */
        pfb_wide whole = type->terms & PFB_TERM_FROM_ITEMS ? pfb_wide_times(below, in->items) : below;
        negative = pfb_wide_compare(whole, above) < 0;
        above = negative ? pfb_wide_minus(above, whole) : pfb_wide_minus(whole, above);
    }
    if (type->terms & PFB_TERM_PERCENT)
        above = pfb_wide_times(above, 100);
    if (type->terms & PFB_TERM_OVER_FREQUENCY)
        below = pfb_wide_times(below, in->frequency);
    if (type->terms & PFB_TERM_OVER_ITEMS)
        below = pfb_wide_times(below, in->items);
    pfb_quotient quotient = pfb_wide_divide(above, below);
    result->value = negative ? -quotient.value : quotient.value;
    result->is_integer = quotient.is_integer && !negative;
    result->integer = result->is_integer ? quotient.integer : 0;
    result->flags = in->flags;
    if (negative)
        result->flags |= PFB_FLAG_BELOW_ZERO;
    else if (type->unit == PFB_UNIT_PERCENT && pfb_wide_compare(above, pfb_wide_times(below, 100)) > 0)
        result->flags |= PFB_FLAG_ABOVE_100;
}

static pfb_status evaluate_known(const pfb_counter_type *type, const pfb_sample *older, const pfb_sample *newer,
                                 uint32_t options, pfb_formula_result *result)
{
    if (type->terms == 0)
        return PFB_STATUS_NOT_DISPLAYED;
    if (type->samples == 2 && !older)
        return PFB_STATUS_NEED_TWO_SAMPLES;
    if (older && older->type != newer->type)
        return PFB_STATUS_TYPE_MISMATCH;
    if (!older || type->samples == 1)
        older = newer;
    unsigned denominator = effective_denominator(type, older, newer);
    inputs in = {0};
    pfb_status status = check_presence(type, denominator, older, newer);
    if (status == PFB_STATUS_OK)
        status = read_numerator(type, older, newer, options, &in);
    if (status == PFB_STATUS_OK)
        status = read_factors(type, newer, &in);
    if (status == PFB_STATUS_OK)
        status = read_denominator(type, denominator, older, newer, &in);
    if (status == PFB_STATUS_OK)
        compute(type, &in, result);
    return status;
}

pfb_formula_result pfb_formula_evaluate(const pfb_sample *older, const pfb_sample *newer, uint32_t options)
{
    pfb_formula_result result = {.status = PFB_STATUS_UNKNOWN_TYPE, .unit = PFB_UNIT_NONE};
    const pfb_counter_type *type = pfb_counter_type_find(newer->type);
    if (type) {
        result.unit = (pfb_unit)type->unit;
        result.status = evaluate_known(type, older, newer, options, &result);
    }
    return result;
}
