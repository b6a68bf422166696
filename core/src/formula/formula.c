/* SPDX-License-Identifier: MIT */
#include "formula/evaluation.h"

#include "bytes/cursor.h"
#include "bytes/never.h"
#include "bytes/wide.h"

/* The type that server_2003_multi_timer changes. */
#define PERF_COUNTER_MULTI_TIMER UINT32_C(0x22410500)

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
    "bad_scale",
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

/* ---- Preparation --------------------------------------------------------------------------------------- */

enum { TICKS_OF_100NS_CLOCK = 10000000 };

static uint64_t power_of_ten(int exponent)
{
    uint64_t power = 1;
    for (; exponent > 0; exponent--)
        power *= 10;
    return power;
}

/* Returns the type's terms, changed by the options. */
static uint16_t choose_terms(const pfb_counter_type *type, const pfb_formula_options *options)
{
    unsigned terms = type->terms;
    if (options->per_item_inverse && (terms & PFB_TERM_FROM_MULTI_COUNT))
        terms |= PFB_TERM_OVER_MULTI_COUNT;
    if (options->server_2003_multi_timer && type->value == PERF_COUNTER_MULTI_TIMER)
        terms &= ~PFB_TERM_TIMES_FREQUENCY;
    return (uint16_t)terms;
}

static uint32_t time_bit(unsigned clock)
{
    return clock == PFB_CLOCK_PERF     ? PFB_HAS_PERF_TIME
           : clock == PFB_CLOCK_OBJECT ? PFB_HAS_OBJECT_TIME
                                       : PFB_HAS_PERF_TIME_100NS;
}

/* The frequency of the 100 ns clock is a constant. */
static uint32_t frequency_bit(unsigned clock)
{
    return clock == PFB_CLOCK_PERF ? PFB_HAS_PERF_FREQ : clock == PFB_CLOCK_OBJECT ? PFB_HAS_OBJECT_FREQ : 0;
}

/* Sets the inputs that must be present: all inputs of the formula in the newer sample, and in the older sample those
 * of which the formula takes the difference. */
static void find_needs(pfb_formula *f)
{
    uint32_t both = 0;
    uint32_t newer_only = PFB_HAS_VALUE;
    if (f->terms & PFB_TERM_DELTA)
        both |= PFB_HAS_VALUE;
    if (f->denominator == PFB_DENOMINATOR_TIME)
        both |= time_bit(f->clock);
    if (f->denominator == PFB_DENOMINATOR_BASE_DELTA)
        both |= PFB_HAS_BASE;
    if (f->denominator == PFB_DENOMINATOR_BASE)
        newer_only |= PFB_HAS_BASE;
    if (f->terms & PFB_TERM_ELAPSED)
        newer_only |= time_bit(f->clock);
    if (f->terms & (PFB_TERM_TIMES_FREQUENCY | PFB_TERM_OVER_FREQUENCY))
        newer_only |= frequency_bit(f->clock);
    if (f->terms & (PFB_TERM_OVER_MULTI_COUNT | PFB_TERM_FROM_MULTI_COUNT))
        newer_only |= PFB_HAS_MULTI_COUNT;
    f->newer_needs = both | newer_only;
    f->older_needs = both;
}

static bool is_dword_type(uint32_t type)
{
    return (type & PFB_TYPE_SIZE_MASK) == 0;
}

static pfb_status check_formula(const pfb_formula *f, const pfb_formula_options *options)
{
    if (f->terms == 0)
        return PFB_STATUS_NOT_DISPLAYED;
    bool in_range = options->scale >= -PFB_SCALE_LIMIT && options->scale <= PFB_SCALE_LIMIT;
    return in_range ? PFB_STATUS_OK : PFB_STATUS_BAD_SCALE;
}

pfb_formula pfb_formula_prepare(uint32_t type, const pfb_formula_options *options)
{
    static const pfb_formula_options none = {.wrap32 = false};
    pfb_formula f = {.type = type, .status = PFB_STATUS_UNKNOWN_TYPE, .unit = PFB_UNIT_NONE};
    pfb_counter_type derived;
    const pfb_counter_type *row = pfb_counter_type_find(type);
    options = options ? options : &none;
    if (!row && options->generic && pfb_counter_type_derive(type, &derived))
        row = &derived;
    if (!row)
        return f;
    f.unit = (pfb_unit)row->unit;
    f.terms = choose_terms(row, options);
    f.samples = row->samples;
    f.clock = row->clock;
    f.denominator = row->denominator;
    f.is_dword = row->raw_size == PFB_RAW_DWORD;
    f.base_is_dword = row->base != 0 && is_dword_type(row->base);
    f.wrap32 = options->wrap32;
    f.cap_100 = options->cap_100 && f.unit == PFB_UNIT_PERCENT;
    f.clamp_0 = options->clamp_0;
    f.pdh_order = options->pdh_order;
    f.changes_value = f.cap_100 || f.clamp_0 || options->scale != 0;
    f.status = check_formula(&f, options);
    if (f.status == PFB_STATUS_OK) {
        f.scale_above = power_of_ten(options->scale);
        f.scale_below = power_of_ten(-options->scale);
        find_needs(&f);
    }
    return f;
}

/* ---- Conditions -------------------------------------------------------------------------------------- */

static int64_t read_time(const pfb_raw_value *raw, unsigned clock)
{
    return clock == PFB_CLOCK_PERF     ? raw->perf_time
           : clock == PFB_CLOCK_OBJECT ? raw->object_time
                                       : raw->perf_time_100ns;
}

static int64_t read_frequency(const pfb_raw_value *raw, unsigned clock)
{
    return clock == PFB_CLOCK_PERF     ? raw->perf_freq
           : clock == PFB_CLOCK_OBJECT ? raw->object_freq
                                       : TICKS_OF_100NS_CLOCK;
}

/* Returns ok if every input of the formula is present. Precision timers of objects may lack a base: then dT of the
 * object's clock replaces dB, and *denominator is changed. */
static pfb_status check_presence(const pfb_formula *f, const pfb_raw_value *older, const pfb_raw_value *newer,
                                 uint8_t *denominator)
{
    uint32_t missing = (f->newer_needs & ~newer->has) | (f->older_needs & ~older->has);
    if (missing == 0)
        return PFB_STATUS_OK;
    uint32_t in_both = newer->has & older->has;
    if ((f->terms & PFB_TERM_BASE_OR_TIME) && missing == PFB_HAS_BASE && (in_both & time_bit(f->clock))) {
        *denominator = PFB_DENOMINATOR_TIME;
        return PFB_STATUS_OK;
    }
    return missing & ~(PFB_HAS_BASE | PFB_HAS_MULTI_COUNT) ? PFB_STATUS_MISSING_INPUT : PFB_STATUS_MISSING_BASE;
}

/* Returns true for a value of 4 bytes. The size of the datum decides, since in V1 blocks it may differ from that of the
 * type. */
static bool is_dword_value(const pfb_formula *f, const pfb_raw_value *raw)
{
    return raw->value_size != 0 ? raw->value_size == 4 : f->is_dword;
}

static bool is_dword_base(const pfb_formula *f, const pfb_raw_value *raw)
{
    if (raw->base_size != 0)
        return raw->base_size == 4;
    return raw->base_type != 0 ? is_dword_type(raw->base_type) : f->base_is_dword;
}

static void read_clocks(const pfb_formula *f, const pfb_raw_value *older, const pfb_raw_value *newer, pfb_conditions *c)
{
    int64_t older_time = read_time(older, f->clock);
    int64_t frequency = read_frequency(newer, f->clock);
    c->now = read_time(newer, f->clock);
    /* Compared as signed, subtracted as unsigned: no difference overflows. */
    c->elapsed = (uint64_t)c->now - (uint64_t)older_time;
    if (c->now <= older_time)
        c->time_status = c->now < older_time ? PFB_STATUS_NEGATIVE_DENOMINATOR : PFB_STATUS_ZERO_DENOMINATOR;
    c->frequency = (uint64_t)frequency;
    if ((f->terms & (PFB_TERM_TIMES_FREQUENCY | PFB_TERM_OVER_FREQUENCY)) && frequency <= 0)
        c->frequency_status = PFB_STATUS_BAD_FREQUENCY;
}

static pfb_status check(const pfb_formula *f, const pfb_raw_value *older, const pfb_raw_value *newer, pfb_conditions *c)
{
    if (f->status != PFB_STATUS_OK)
        return f->status;
    if (f->samples == 2 && !older)
        return PFB_STATUS_NEED_TWO_SAMPLES;
    /* Callers prepare the formula for the type of the newer value. */
    if (PFB_NEVER(newer->type != f->type) || (older && older->type != f->type))
        return PFB_STATUS_TYPE_MISMATCH;
    if (f->samples != 2)
        older = newer;
    if (older->value_size != newer->value_size && older->value_size != 0 && newer->value_size != 0)
        return PFB_STATUS_TYPE_MISMATCH;
    c->value_wraps = f->wrap32 && is_dword_value(f, older) && is_dword_value(f, newer);
    c->base_wraps = f->wrap32 && is_dword_base(f, older) && is_dword_base(f, newer);
    c->denominator = f->denominator;
    read_clocks(f, older, newer, c);
    return check_presence(f, older, newer, &c->denominator);
}

void pfb_formula_check(const pfb_formula *formula, const pfb_raw_value *older, const pfb_raw_value *newer,
                       pfb_conditions *conditions)
{
    conditions->frequency_status = conditions->time_status = PFB_STATUS_OK;
    conditions->status = check(formula, older, newer, conditions);
}

/* ---- Inputs ------------------------------------------------------------------------------------------ */

/* The inputs of the arithmetic: integers, all checked. */
typedef struct formula_inputs {
    uint64_t numerator;   /* N, dN or T - N */
    uint64_t denominator; /* 1, dT, B or dB; never 0 */
    uint64_t frequency;   /* F; not used without its terms */
    uint64_t multi_count; /* M; not used without its terms */
    uint32_t flags;
} formula_inputs;

/* Stores newer - older. Returns false if `newer` is less and cannot have wrapped through 2^32. */
static bool subtract(uint64_t older, uint64_t newer, bool may_wrap, uint64_t *difference, uint32_t *flags)
{
    *difference = newer - older;
    if (newer >= older)
        return true;
    if (!may_wrap || older > UINT32_MAX)
        return false;
    *difference += UINT64_C(1) << 32;
    *flags |= PFB_FLAG_WRAPPED;
    return true;
}

static pfb_status read_numerator(const pfb_formula *f, const pfb_conditions *c, const pfb_raw_value *older,
                                 const pfb_raw_value *newer, formula_inputs *in)
{
    in->numerator = newer->value;
    if (f->terms & PFB_TERM_RAW)
        return PFB_STATUS_OK;
    if (f->terms & PFB_TERM_DELTA) {
        bool rose = subtract(older->value, newer->value, c->value_wraps, &in->numerator, &in->flags);
        return rose ? PFB_STATUS_OK : PFB_STATUS_NEGATIVE_DELTA;
    }
    if (newer->value == 0)
        return PFB_STATUS_NO_DATA;
    if (c->now < 0 || (uint64_t)c->now < newer->value)
        return PFB_STATUS_NEGATIVE_DELTA;
    in->numerator = (uint64_t)c->now - newer->value;
    return PFB_STATUS_OK;
}

static pfb_status read_denominator(const pfb_conditions *c, const pfb_raw_value *older, const pfb_raw_value *newer,
                                   formula_inputs *in)
{
    switch (c->denominator) {
    case PFB_DENOMINATOR_ONE:
        in->denominator = 1;
        return PFB_STATUS_OK;
    case PFB_DENOMINATOR_TIME:
        in->denominator = c->elapsed;
        return c->time_status;
    case PFB_DENOMINATOR_BASE:
        in->denominator = newer->base;
        return newer->base == 0 ? PFB_STATUS_ZERO_BASE : PFB_STATUS_OK;
    default:
        if (!subtract(older->base, newer->base, c->base_wraps, &in->denominator, &in->flags))
            return PFB_STATUS_NEGATIVE_DENOMINATOR;
        return in->denominator == 0 ? PFB_STATUS_ZERO_DENOMINATOR : PFB_STATUS_OK;
    }
}

static pfb_status read_factors(const pfb_formula *f, const pfb_conditions *c, const pfb_raw_value *newer,
                               formula_inputs *in)
{
    in->frequency = c->frequency;
    in->multi_count = newer->multi_count;
    if (c->frequency_status != PFB_STATUS_OK)
        return c->frequency_status;
    bool divides = (f->terms & (PFB_TERM_OVER_MULTI_COUNT | PFB_TERM_FROM_MULTI_COUNT)) != 0;
    return divides && newer->multi_count == 0 ? PFB_STATUS_ZERO_BASE : PFB_STATUS_OK;
}

/* ---- Arithmetic -------------------------------------------------------------------------------------- */

/* The exact value: above / below, negative or not. */
typedef struct ratio {
    pfb_wide above, below;
    bool negative;
} ratio;

/* Builds the quotient. N, D and M have at most 64 bits, F has 63: the numerator needs at most 134 bits (100 * N * F) or
 * 135 (100 * D * M), the denominator 128 (D * M). */
static ratio make_ratio(const pfb_formula *f, const formula_inputs *in)
{
    ratio r = {pfb_wide_from(in->numerator), pfb_wide_from(in->denominator), false};
    if (f->terms & PFB_TERM_TIMES_FREQUENCY)
        r.above = pfb_wide_times(r.above, in->frequency);
    if (f->terms & PFB_TERM_INVERSE) { /* W - N/D = (W D - N) / D, where W is 1 or M */
        pfb_wide whole = f->terms & PFB_TERM_FROM_MULTI_COUNT ? pfb_wide_times(r.below, in->multi_count) : r.below;
        r.negative = pfb_wide_compare(whole, r.above) < 0;
        r.above = r.negative ? pfb_wide_minus(r.above, whole) : pfb_wide_minus(whole, r.above);
    }
    if (f->terms & PFB_TERM_PERCENT)
        r.above = pfb_wide_times(r.above, 100);
    if (f->terms & PFB_TERM_OVER_FREQUENCY)
        r.below = pfb_wide_times(r.below, in->frequency);
    if (f->terms & PFB_TERM_OVER_MULTI_COUNT)
        r.below = pfb_wide_times(r.below, in->multi_count);
    return r;
}

/* Sets the flag of a value below 0 or of a percentage above 100, and applies clamp_0 or cap_100. */
static void limit(const pfb_formula *f, ratio *r, uint32_t *flags)
{
    if (r->negative) {
        *flags |= PFB_FLAG_BELOW_ZERO;
        if (f->clamp_0)
            *r = (ratio){pfb_wide_from(0), pfb_wide_from(1), false};
    } else if (f->unit == PFB_UNIT_PERCENT && pfb_wide_compare(r->above, pfb_wide_times(r->below, 100)) > 0) {
        *flags |= PFB_FLAG_ABOVE_100;
        if (f->cap_100)
            *r = (ratio){pfb_wide_from(100), pfb_wide_from(1), false};
    }
}

/* Stores a value. `negative`: the quotient is its absolute value. */
static void set_result(pfb_formula_result *result, pfb_quotient quotient, bool negative, uint32_t flags)
{
    result->flags = flags;
    result->value = negative ? -quotient.value : quotient.value;
    result->is_integer = quotient.is_integer && !negative;
    result->integer = result->is_integer ? quotient.integer : 0;
}

/* Computes with integers of 192 bits. The factor of the scale is at most 10^10, which is below 2^34, so numerator and
 * denominator stay below 2^170. */
PFB_NOINLINE static void compute_wide(const pfb_formula *f, const formula_inputs *in, pfb_formula_result *result)
{
    ratio r = make_ratio(f, in);
    uint32_t flags = in->flags;
    limit(f, &r, &flags);
    if (f->scale_above != f->scale_below) {
        r.above = pfb_wide_times(r.above, f->scale_above);
        r.below = pfb_wide_times(r.below, f->scale_below);
    }
    set_result(result, pfb_wide_divide(r.above, r.below), r.negative, flags);
}

/* Multiplies *product by `factor`. Returns false if the product is 2^53 or more. */
static bool times_small(uint64_t *product, uint64_t factor)
{
    uint64_t high;
    *product = pfb_multiply_limbs(*product, factor, &high);
    return (high | *product >> PFB_EXACT_BITS) == 0;
}

/* Computes the same as compute_wide, but faster, with the hardware division. Returns false if numerator, denominator
 * or a product is 2^53 or more, an option may change the value, or the hardware division is not correctly rounded. */
static bool compute_small(const pfb_formula *f, const formula_inputs *in, pfb_formula_result *result)
{
    uint64_t above = in->numerator;
    uint64_t below = in->denominator;
    bool negative = false;
    if (!PFB_DIVIDES_EXACTLY || f->changes_value || (above | below) >> PFB_EXACT_BITS != 0)
        return false;
    if ((f->terms & PFB_TERM_TIMES_FREQUENCY) && !times_small(&above, in->frequency))
        return false;
    if (f->terms & PFB_TERM_INVERSE) {
        uint64_t whole = below;
        if ((f->terms & PFB_TERM_FROM_MULTI_COUNT) && !times_small(&whole, in->multi_count))
            return false;
        negative = whole < above;
        above = negative ? above - whole : whole - above;
    }
    if ((f->terms & PFB_TERM_PERCENT) && !times_small(&above, 100))
        return false;
    if ((f->terms & PFB_TERM_OVER_FREQUENCY) && !times_small(&below, in->frequency))
        return false;
    if ((f->terms & PFB_TERM_OVER_MULTI_COUNT) && !times_small(&below, in->multi_count))
        return false;
    uint32_t flags = in->flags;
    if (negative)
        flags |= PFB_FLAG_BELOW_ZERO;
    else if (f->unit == PFB_UNIT_PERCENT && above > 100 * below) /* the product has at most 60 bits */
        flags |= PFB_FLAG_ABOVE_100;
    set_result(result, pfb_divide_small(above, below), negative, flags);
    return true;
}

/* ---- The order of PDH -------------------------------------------------------------------------------- */

/* Each result is stored, so that it is rounded to a double also where registers have more digits. */
typedef volatile double rounded;

/* Multiplies by 10^scale, one of whose powers is 1: the inverse of an exact power of ten is the double next to 10^-n.
 */
static double to_pdh_scale(const pfb_formula *f, double value)
{
    rounded inverse = 1 / (double)f->scale_below;
    rounded scaled = value * (f->scale_below > 1 ? inverse : (double)f->scale_above);
    return scaled;
}

/* Divides first, then subtracts an inverse, then multiplies by 100. Logs of Windows with their values as text show this
 * order for rates, fractions, times and the inverse of a 100 ns timer; the other types follow by analogy. */
PFB_NOINLINE static void compute_pdh(const pfb_formula *f, const formula_inputs *in, pfb_formula_result *result)
{
    rounded value = (double)in->numerator;
    rounded divisor = (double)in->denominator;
    uint32_t flags = in->flags;
    bool is_raw = (f->terms & ~PFB_TERM_RAW) == 0;
    if (f->terms & PFB_TERM_OVER_FREQUENCY)
        value = value / (double)in->frequency;
    if (f->terms & PFB_TERM_TIMES_FREQUENCY)
        divisor = divisor / (double)in->frequency;
    value = value / divisor;
    if (f->terms & PFB_TERM_INVERSE)
        value = (f->terms & PFB_TERM_FROM_MULTI_COUNT ? (double)in->multi_count : 1) - value;
    if (f->terms & PFB_TERM_PERCENT)
        value = value * 100;
    if (f->terms & PFB_TERM_OVER_MULTI_COUNT)
        value = value / (double)in->multi_count;
    flags |= value < 0 ? PFB_FLAG_BELOW_ZERO : 0;
    flags |= value > 100 && f->unit == PFB_UNIT_PERCENT ? PFB_FLAG_ABOVE_100 : 0;
    if (value < 0 && f->clamp_0)
        value = 0;
    if (value > 100 && f->cap_100)
        value = 100;
    value = to_pdh_scale(f, value);
    bool is_small = value >= 0 && value < 9007199254740992.0 && value == (double)(uint64_t)value;
    pfb_quotient quotient = {.value = value, .is_integer = is_small, .integer = is_small ? (uint64_t)value : 0};
    if (is_raw && f->scale_above == f->scale_below) /* a double rounds raw counts above 2^53 */
        quotient = (pfb_quotient){.value = value, .is_integer = true, .integer = in->numerator};
    set_result(result, quotient, false, flags);
}

void pfb_formula_compute(const pfb_formula *formula, const pfb_conditions *conditions, const pfb_raw_value *older,
                         const pfb_raw_value *newer, pfb_formula_result *result)
{
    formula_inputs in = {.flags = 0};
    pfb_status status = conditions->status;
    if (status == PFB_STATUS_OK)
        status = read_numerator(formula, conditions, older, newer, &in);
    if (status == PFB_STATUS_OK)
        status = read_factors(formula, conditions, newer, &in);
    if (status == PFB_STATUS_OK)
        status = read_denominator(conditions, older, newer, &in);
    result->status = status;
    result->unit = formula->unit;
    if (status != PFB_STATUS_OK)
        set_result(result, (pfb_quotient){.value = 0}, false, 0);
    else if (formula->pdh_order)
        compute_pdh(formula, &in, result);
    else if (!compute_small(formula, &in, result))
        compute_wide(formula, &in, result);
}

pfb_formula_result pfb_formula_evaluate(const pfb_raw_value *older, const pfb_raw_value *newer,
                                        const pfb_formula_options *options)
{
    pfb_formula_result result;
    pfb_formula formula = pfb_formula_prepare(newer->type, options);
    pfb_conditions conditions;
    pfb_formula_check(&formula, older, newer, &conditions);
    pfb_formula_compute(&formula, &conditions, older, newer, &result);
    return result;
}

/* ---- PDH's form ------------------------------------------------------------------------------------------------- */

/* Returns the frequency of the clock that the timer bits of the type mean; 0 if it is not present. */
static uint64_t read_time_base(const pfb_raw_value *raw)
{
    unsigned clock = PFB_CLOCK_PERF + ((raw->type & PFB_TYPE_TIMER_MASK) >> 20);
    bool is_clock = clock <= PFB_CLOCK_OBJECT;
    return is_clock && (frequency_bit(clock) & ~raw->has) == 0 ? (uint64_t)read_frequency(raw, clock) : 0;
}

/* Stores the base or the time in `second`, if the formula of the type has one of them, and returns its PFB_HAS_ bit. */
static uint32_t read_second(const pfb_raw_value *raw, const pfb_counter_type *row, uint64_t *second)
{
    bool lacks_base = (row->terms & PFB_TERM_BASE_OR_TIME) && !(raw->has & PFB_HAS_BASE);
    if (pfb_second_is_base(row) && !lacks_base) {
        *second = raw->base;
        return PFB_HAS_BASE;
    }
    if (pfb_second_is_time(row) || lacks_base) {
        *second = (uint64_t)read_time(raw, row->clock);
        return time_bit(row->clock);
    }
    return 0;
}

pfb_pdh_raw pfb_formula_pdh_raw(const pfb_raw_value *raw)
{
    pfb_pdh_raw pdh = {.multi_count = 1, .first = raw->value, .time_base = read_time_base(raw)};
    pfb_counter_type row;
    uint32_t needs = PFB_HAS_VALUE;
    bool fits = true;
    if (pfb_counter_type_resolve(raw->type, &row)) {
        needs |= read_second(raw, &row, &pdh.second);
        if (row.terms & (PFB_TERM_OVER_MULTI_COUNT | PFB_TERM_FROM_MULTI_COUNT)) {
            needs |= PFB_HAS_MULTI_COUNT;
            pdh.multi_count = (uint32_t)raw->multi_count;
            fits = raw->multi_count <= UINT32_MAX;
        }
    }
    if ((needs & ~raw->has) == 0 && fits)
        return pdh;
    return (pfb_pdh_raw){.status = PFB_PDH_INVALID_DATA, .time_base = pdh.time_base};
}

/* ---- Status bytes --------------------------------------------------------------------------------------------- */

enum { FLAGS_SHIFT = 4, FLAG_BITS = 7 };

pfb_formula_result pfb_formula_unpack(double value, uint8_t status_byte, pfb_unit unit)
{
    /* The caller may pass a status byte of another value: is_integer is set only if the value is an integer below 2^53.
     */
    bool is_integer = (status_byte & PFB_STATUS_BYTE_INTEGER) && value >= 0 && value < 9007199254740992.0 &&
                      value == (double)(uint64_t)value;
    return (pfb_formula_result){.status = (pfb_status)(status_byte & PFB_STATUS_BYTE_CODE),
                                .flags = status_byte >> FLAGS_SHIFT & FLAG_BITS,
                                .value = value,
                                .unit = unit,
                                .is_integer = is_integer,
                                .integer = is_integer ? (uint64_t)value : 0};
}
