/* SPDX-License-Identifier: MIT */
#include "perfblock/formula.h"

#include "bytes/memory.h"
#include "bytes/wide.h"

/* The type whose formula the options can change by name. */
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

/* What the type's terms become under the options. */
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

/* The frequency of the 100 ns clock is what its name says. */
static uint32_t frequency_bit(unsigned clock)
{
    return clock == PFB_CLOCK_PERF ? PFB_HAS_PERF_FREQ : clock == PFB_CLOCK_OBJECT ? PFB_HAS_OBJECT_FREQ : 0;
}

/* Which inputs the formula reads: of both samples what it takes the difference of, else of the newer one. */
static void find_needs(pfb_formula *f)
{
    uint32_t both = 0;
    uint32_t alone = PFB_HAS_VALUE;
    if (f->terms & PFB_TERM_DELTA)
        both |= PFB_HAS_VALUE;
    if (f->denominator == PFB_DENOMINATOR_TIME)
        both |= time_bit(f->clock);
    if (f->denominator == PFB_DENOMINATOR_BASE_DELTA)
        both |= PFB_HAS_BASE;
    if (f->denominator == PFB_DENOMINATOR_BASE)
        alone |= PFB_HAS_BASE;
    if (f->terms & PFB_TERM_ELAPSED)
        alone |= time_bit(f->clock);
    if (f->terms & (PFB_TERM_TIMES_FREQUENCY | PFB_TERM_OVER_FREQUENCY))
        alone |= frequency_bit(f->clock);
    if (f->terms & (PFB_TERM_OVER_MULTI_COUNT | PFB_TERM_FROM_MULTI_COUNT))
        alone |= PFB_HAS_MULTI_COUNT;
    f->newer_needs = both | alone;
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
    f.changes_value = f.cap_100 || f.clamp_0 || options->scale != 0;
    f.status = check_formula(&f, options);
    if (f.status == PFB_STATUS_OK) {
        f.scale_above = power_of_ten(options->scale);
        f.scale_below = power_of_ten(-options->scale);
        find_needs(&f);
    }
    return f;
}

/* ---- Inputs ------------------------------------------------------------------------------------------ */

/* What the type's formula asks of its samples, resolved: all integers, all checked. */
typedef struct inputs {
    uint64_t numerator;   /* N, dN or T - N */
    uint64_t denominator; /* 1, dT, B or dB; never 0 */
    uint64_t frequency;   /* F; unused without its terms */
    uint64_t multi_count; /* M; likewise */
    uint32_t flags;
} inputs;

static int64_t read_time(const pfb_raw_value *sample, unsigned clock)
{
    return clock == PFB_CLOCK_PERF     ? sample->perf_time
           : clock == PFB_CLOCK_OBJECT ? sample->object_time
                                       : sample->perf_time_100ns;
}

static int64_t read_frequency(const pfb_raw_value *sample, unsigned clock)
{
    return clock == PFB_CLOCK_PERF     ? sample->perf_freq
           : clock == PFB_CLOCK_OBJECT ? sample->object_freq
                                       : TICKS_OF_100NS_CLOCK;
}

/* Every input the formula reads is there. For formulas of one sample `older` is the newer one. A precision timer of an
 * object that has no base of its own is measured by the object's clock: then dT takes the place of dB. */
static pfb_status check_presence(const pfb_formula *f, const pfb_raw_value *older, const pfb_raw_value *newer,
                                 unsigned *denominator)
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

/* to - from; a DWORD that fell may have gone through 2^32. False when it fell. */
static bool subtract(uint64_t from, uint64_t to, bool may_wrap, uint64_t *difference, uint32_t *flags)
{
    *difference = to - from;
    if (to >= from)
        return true;
    if (!may_wrap || from > UINT32_MAX)
        return false;
    *difference += UINT64_C(1) << 32;
    *flags |= PFB_FLAG_WRAPPED;
    return true;
}

/* Whether the counter is one of 4 bytes. The size of the datum counts: V1 providers differ from their types. */
static bool is_dword_value(const pfb_formula *f, const pfb_raw_value *sample)
{
    return sample->value_size != 0 ? sample->value_size == 4 : f->is_dword;
}

static pfb_status read_numerator(const pfb_formula *f, const pfb_raw_value *older, const pfb_raw_value *newer,
                                 inputs *in)
{
    in->numerator = newer->value;
    if (f->terms & PFB_TERM_RAW)
        return PFB_STATUS_OK;
    if (f->terms & PFB_TERM_DELTA) {
        bool may_wrap = f->wrap32 && is_dword_value(f, older) && is_dword_value(f, newer);
        bool rose = subtract(older->value, newer->value, may_wrap, &in->numerator, &in->flags);
        return rose ? PFB_STATUS_OK : PFB_STATUS_NEGATIVE_DELTA;
    }
    if (newer->value == 0)
        return PFB_STATUS_NO_DATA;
    int64_t now = read_time(newer, f->clock);
    if (now < 0 || (uint64_t)now < newer->value)
        return PFB_STATUS_NEGATIVE_DELTA;
    in->numerator = (uint64_t)now - newer->value;
    return PFB_STATUS_OK;
}

static bool is_dword_base(const pfb_formula *f, const pfb_raw_value *sample)
{
    if (sample->base_size != 0)
        return sample->base_size == 4;
    return sample->base_type != 0 ? is_dword_type(sample->base_type) : f->base_is_dword;
}

static pfb_status read_denominator(const pfb_formula *f, unsigned denominator, const pfb_raw_value *older,
                                   const pfb_raw_value *newer, inputs *in)
{
    bool forward = true;
    if (denominator == PFB_DENOMINATOR_ONE) {
        in->denominator = 1;
    } else if (denominator == PFB_DENOMINATOR_BASE) {
        in->denominator = newer->base;
        return newer->base == 0 ? PFB_STATUS_ZERO_BASE : PFB_STATUS_OK;
    } else if (denominator == PFB_DENOMINATOR_TIME) {
        /* Compared as signed, subtracted as unsigned: no difference overflows. */
        int64_t from = read_time(older, f->clock);
        int64_t to = read_time(newer, f->clock);
        forward = to >= from;
        in->denominator = (uint64_t)to - (uint64_t)from;
    } else {
        bool may_wrap = f->wrap32 && is_dword_base(f, older) && is_dword_base(f, newer);
        forward = subtract(older->base, newer->base, may_wrap, &in->denominator, &in->flags);
    }
    if (!forward)
        return PFB_STATUS_NEGATIVE_DENOMINATOR;
    return in->denominator == 0 ? PFB_STATUS_ZERO_DENOMINATOR : PFB_STATUS_OK;
}

static pfb_status read_factors(const pfb_formula *f, const pfb_raw_value *newer, inputs *in)
{
    if (f->terms & (PFB_TERM_TIMES_FREQUENCY | PFB_TERM_OVER_FREQUENCY)) {
        int64_t frequency = read_frequency(newer, f->clock);
        if (frequency <= 0)
            return PFB_STATUS_BAD_FREQUENCY;
        in->frequency = (uint64_t)frequency;
    }
    if (f->terms & (PFB_TERM_OVER_MULTI_COUNT | PFB_TERM_FROM_MULTI_COUNT)) {
        if (newer->multi_count == 0)
            return PFB_STATUS_ZERO_BASE;
        in->multi_count = newer->multi_count;
    }
    return PFB_STATUS_OK;
}

/* ---- Arithmetic -------------------------------------------------------------------------------------- */

/* The exact value: above / below, negative or not. */
typedef struct ratio {
    pfb_wide above, below;
    bool negative;
} ratio;

/* Bounds: numerator 64 bits, times F 127, times 100 134; or D * M 128, times 100 135. Denominator D * F or D * M,
 * 128. */
static ratio make_ratio(const pfb_formula *f, const inputs *in)
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

/* Sets the flags of a value outside 0 to 100, and what the options make of it. */
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

/* Any inputs. With a scale of 10^10, below 2^34, both numbers stay below 2^170. */
static void compute_wide(const pfb_formula *f, const inputs *in, pfb_formula_result *result)
{
    ratio r = make_ratio(f, in);
    result->flags = in->flags;
    limit(f, &r, &result->flags);
    if (f->scale_above != f->scale_below) {
        r.above = pfb_wide_times(r.above, f->scale_above);
        r.below = pfb_wide_times(r.below, f->scale_below);
    }
    pfb_quotient quotient = pfb_wide_divide(r.above, r.below);
    result->value = r.negative ? -quotient.value : quotient.value;
    result->is_integer = quotient.is_integer && !r.negative;
    result->integer = result->is_integer ? quotient.integer : 0;
}

/* *product *= factor; false when that reaches 2^53. */
static bool times_small(uint64_t *product, uint64_t factor)
{
    uint64_t high;
    *product = pfb_multiply_limbs(*product, factor, &high);
    return (high | *product >> PFB_EXACT_BITS) == 0;
}

/* The same for everyday numbers: every product stays below 2^53, and no option changes the value. False otherwise. */
static bool compute_small(const pfb_formula *f, const inputs *in, pfb_formula_result *result)
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
    pfb_quotient quotient = pfb_divide_small(above, below);
    result->value = negative ? -quotient.value : quotient.value;
    result->is_integer = quotient.is_integer && !negative;
    result->integer = result->is_integer ? quotient.integer : 0;
    result->flags = in->flags;
    if (negative)
        result->flags |= PFB_FLAG_BELOW_ZERO;
    else if (f->unit == PFB_UNIT_PERCENT && above > 100 * below) /* below 2^60 */
        result->flags |= PFB_FLAG_ABOVE_100;
    return true;
}

static pfb_status apply(const pfb_formula *f, const pfb_raw_value *older, const pfb_raw_value *newer,
                        pfb_formula_result *result)
{
    if (f->status != PFB_STATUS_OK)
        return f->status;
    if (f->samples == 2 && !older)
        return PFB_STATUS_NEED_TWO_SAMPLES;
    if (newer->type != f->type || (older && older->type != f->type))
        return PFB_STATUS_TYPE_MISMATCH;
    if (f->samples != 2)
        older = newer;
    if (older->value_size != newer->value_size && older->value_size != 0 && newer->value_size != 0)
        return PFB_STATUS_TYPE_MISMATCH;
    unsigned denominator = f->denominator;
    inputs in = {.flags = 0};
    pfb_status status = check_presence(f, older, newer, &denominator);
    if (status == PFB_STATUS_OK)
        status = read_numerator(f, older, newer, &in);
    if (status == PFB_STATUS_OK)
        status = read_factors(f, newer, &in);
    if (status == PFB_STATUS_OK)
        status = read_denominator(f, denominator, older, newer, &in);
    if (status == PFB_STATUS_OK && !compute_small(f, &in, result))
        compute_wide(f, &in, result);
    return status;
}

pfb_formula_result pfb_formula_apply(const pfb_formula *formula, const pfb_raw_value *older, const pfb_raw_value *newer)
{
    pfb_formula_result result = {.unit = formula->unit};
    result.status = apply(formula, older, newer, &result);
    return result;
}

pfb_formula_result pfb_formula_evaluate(const pfb_raw_value *older, const pfb_raw_value *newer,
                                        const pfb_formula_options *options)
{
    pfb_formula formula = pfb_formula_prepare(newer->type, options);
    return pfb_formula_apply(&formula, older, newer);
}

/* ---- Status bytes --------------------------------------------------------------------------------------------- */

enum { FLAGS_SHIFT = 4, FLAG_BITS = 7 };
enum { STATUS_BYTE_ABOVE_100_BIT = 5, STATUS_BYTE_BELOW_ZERO_BIT = 6, STATUS_BYTE_INTEGER_BIT = 7 };

uint8_t pfb_formula_pack(const pfb_formula_result *result)
{
    bool is_integer = result->is_integer && result->integer >> PFB_EXACT_BITS == 0;
    unsigned status_byte =
        (unsigned)result->status | result->flags << FLAGS_SHIFT | (is_integer ? PFB_STATUS_BYTE_INTEGER : 0u);
    return (uint8_t)status_byte;
}

pfb_formula_result pfb_formula_unpack(double value, uint8_t status_byte, pfb_unit unit)
{
    /* The status byte may come from anywhere: only what fits 2^53 can be the integer that it promises. */
    bool is_integer = (status_byte & PFB_STATUS_BYTE_INTEGER) && value >= 0 && value < 9007199254740992.0 &&
                      value == (double)(uint64_t)value;
    return (pfb_formula_result){.status = (pfb_status)(status_byte & PFB_STATUS_BYTE_CODE),
                                .flags = status_byte >> FLAGS_SHIFT & FLAG_BITS,
                                .value = value,
                                .unit = unit,
                                .is_integer = is_integer,
                                .integer = is_integer ? (uint64_t)value : 0};
}

/* ---- Columns ----------------------------------------------------------------------------------------- */

/* The sample of one instance. */
static pfb_raw_value take_sample(const pfb_raw_value *shared, const uint64_t *values, const uint64_t *bases,
                                 const uint64_t *multi_counts, size_t i)
{
    pfb_raw_value s = *shared;
    s.has &= ~(PFB_HAS_VALUE | PFB_HAS_BASE | PFB_HAS_MULTI_COUNT);
    if (values) {
        s.has |= PFB_HAS_VALUE;
        s.value = values[i];
    }
    if (bases) {
        s.has |= PFB_HAS_BASE;
        s.base = bases[i];
    }
    if (multi_counts) {
        s.has |= PFB_HAS_MULTI_COUNT;
        s.multi_count = multi_counts[i];
    }
    return s;
}

static pfb_formula_result apply_one(const pfb_formula *f, const pfb_formula_column *column, size_t i)
{
    pfb_raw_value newer =
        take_sample(column->newer, column->newer_values, column->newer_bases, column->newer_multi_counts, i);
    if (!column->older)
        return pfb_formula_apply(f, NULL, &newer);
    pfb_raw_value older = take_sample(column->older, column->older_values, column->older_bases, NULL, i);
    return pfb_formula_apply(f, &older, &newer);
}

/* Whether what the instances share passes the tests of apply(). The first instance stands for it, its own numbers
 * replaced by harmless ones. */
static bool is_shared_sound(const pfb_formula *f, const pfb_formula_column *column)
{
    pfb_raw_value older = {.has = 0};
    pfb_raw_value newer =
        take_sample(column->newer, column->newer_values, column->newer_bases, column->newer_multi_counts, 0);
    newer.value = newer.base = newer.multi_count = 1;
    if (column->older)
        older = take_sample(column->older, column->older_values, column->older_bases, NULL, 0);
    older.value = older.base = 0;
    return pfb_formula_apply(f, column->older ? &older : NULL, &newer).status == PFB_STATUS_OK;
}

/* Everyday numbers of a column: value = factor * n / (divisor * d), where n is N or dN, or |d * items - n| of inverse
 * formulas, and d is dT, B, dB or 1. All of it is done in doubles that hold integers below 2^52, so that every
 * operation but the division is exact, and by loops without a branch, which compilers turn into vector instructions. */
typedef struct fast_column {
    bool inverse, percent, from_items, over_items;
    bool is_plain;                              /* value = n, as of a raw count: nothing is divided */
    const uint64_t *older_values, *older_bases; /* null: not subtracted */
    const uint64_t *bases;                      /* null: d is `time` */
    double time, factor, divisor;
    uint64_t too_large_n, too_large_d, too_large_items; /* the bits that these numbers must not have */
} fast_column;

enum { TILE = 32, FAST_BITS = 52 };

/* The instances that are computed together. */
typedef struct tile {
    double n[TILE], d[TILE], items[TILE], below[TILE];
    uint64_t is_negative[TILE];
} tile;

/* The bits of which a factor of `other` must have none for the product to stay below 2^52. Requires other below 2^52.
 */
static uint64_t too_large_beside(uint64_t other)
{
    uint64_t bits = (UINT64_C(1) << FAST_BITS) - 1;
    while (other > 1) {
        other = other / 2 + other % 2;
        bits >>= 1;
    }
    return ~bits;
}

/* Comparisons, too, are made with bits: compilers do not turn those of doubles into vectors. */
static uint64_t bits_of(double value)
{
    union {
        double value;
        uint64_t bits;
    } number = {.value = value};
    return number.bits;
}

static double from_bits(uint64_t bits)
{
    union {
        uint64_t bits;
        double value;
    } number = {.bits = bits};
    return number.value;
}

#define SIGN_BIT (UINT64_C(1) << 63)

/* 2^52, behind whose exponent stands the integer that is added to it. */
static const double small_base = 4503599627370496.0;

/* An integer below 2^52. Of a larger one some bits are lost: with all of them it could be a number that traps. */
static double from_small(uint64_t integer)
{
    uint64_t bits = integer & ((UINT64_C(1) << FAST_BITS) - 1);
    return from_bits(bits | UINT64_C(0x4330000000000000)) - small_base;
}

/* To - from for a tile. Returns the bits that the differences have; bit 63 where one fell, since a number of 63 bits
 * that falls gives a difference of 64. */
static uint64_t subtract_tile(const uint64_t *from, const uint64_t *to, double *differences)
{
    uint64_t seen = 0;
    for (int i = 0; i < TILE; i++) {
        uint64_t difference = to[i] - from[i];
        seen |= difference | (from[i] & SIGN_BIT);
        differences[i] = from_small(difference);
    }
    return seen;
}

/* The same where nothing is subtracted. */
static uint64_t convert_tile(const uint64_t *from, double *to)
{
    uint64_t seen = 0;
    for (int i = 0; i < TILE; i++) {
        seen |= from[i];
        to[i] = from_small(from[i]);
    }
    return seen;
}

/* Bit 63 where one of a tile is 0. */
static uint64_t find_zero(const double *numbers)
{
    uint64_t seen = 0;
    for (int i = 0; i < TILE; i++)
        seen |= (bits_of(numbers[i]) - 1) >> 63; /* the bits of other small integers have neither sign nor borrow */
    return seen << 63;
}

/* Reads the numbers of a tile; false when one is out of the ordinary, or they are not there. */
static bool read_tile(const fast_column *fast, const pfb_formula_column *column, size_t first, tile *t)
{
    bool has_items = fast->from_items || fast->over_items;
    if (!column->newer_values || (has_items && !column->newer_multi_counts))
        return false;
    const uint64_t *values = column->newer_values + first;
    uint64_t seen =
        fast->older_values ? subtract_tile(fast->older_values + first, values, t->n) : convert_tile(values, t->n);
    uint64_t wrong = seen & fast->too_large_n;
    if (fast->bases) {
        seen = fast->older_bases ? subtract_tile(fast->older_bases + first, fast->bases + first, t->d)
                                 : convert_tile(fast->bases + first, t->d);
        wrong |= (seen & fast->too_large_d) | find_zero(t->d);
    }
    if (has_items)
        wrong |=
            (convert_tile(column->newer_multi_counts + first, t->items) & fast->too_large_items) | find_zero(t->items);
    return wrong == 0;
}

/* What n is divided by, and for inverses subtracted from, where that is not the same for all. */
static void scale_tile(const fast_column *fast, tile *t)
{
    for (int i = 0; fast->bases && i < TILE; i++)
        t->below[i] = t->d[i] * fast->divisor;
    for (int i = 0; fast->over_items && i < TILE; i++)
        t->below[i] = fast->time * fast->divisor * t->items[i];
    for (int i = 0; fast->from_items && i < TILE; i++)
        t->d[i] = fast->time * t->items[i];
}

/* n becomes its distance from d. */
static void invert_tile(tile *t)
{
    for (int i = 0; i < TILE; i++) {
        uint64_t distance = bits_of(t->d[i] - t->n[i]);
        t->is_negative[i] = distance >> 63;
        t->n[i] = from_bits(distance & ~SIGN_BIT);
    }
}

/* Divides. Added to 2^52 a quotient below it loses its fraction; it had none if what is left, times the denominator, is
 * the numerator. That product is at most the numerator and half the denominator: exact, and so is the difference, which
 * is 0, or 1 and more: without its sign, the bits of 1 and 2^54 have the highest bit. Whether the value is above 100 is
 * seen by a product that is exact, or greater than any numerator. What was inverted, and lies below 0, gets its sign
 * back, and is neither an integer nor above 100. */
static inline void divide_tile(const fast_column *fast, bool percent, bool inverse, const tile *t,
                               double *restrict values, uint8_t *restrict status_bytes)
{
    uint64_t all[TILE];
    for (int i = 0; i < TILE; i++) {
        double above = t->n[i] * fast->factor;
        double value = above / t->below[i];
        double rounded = value + small_base;
        uint64_t difference = bits_of((rounded - small_base) * t->below[i] - above) << 1;
        uint64_t has_fraction = (difference + (UINT64_C(1) << 54)) >> 63;
        uint64_t is_negative = inverse ? t->is_negative[i] : 0;
        uint64_t status_byte = (has_fraction | is_negative) << STATUS_BYTE_INTEGER_BIT ^ PFB_STATUS_BYTE_INTEGER;
        if (percent)
            status_byte |= (bits_of(100 * t->below[i] - above) >> 63 & ~is_negative) << STATUS_BYTE_ABOVE_100_BIT;
        values[i] = inverse ? from_bits(bits_of(value) | is_negative << 63) : value;
        all[i] = status_byte | is_negative << STATUS_BYTE_BELOW_ZERO_BIT;
    }
    for (int i = 0; i < TILE; i++)
        status_bytes[i] = (uint8_t)all[i];
}

/* Evaluates a tile from the instance `first` on; false when it has to be done one by one. */
static bool apply_tile(const fast_column *fast, const pfb_formula_column *column, size_t first, tile *t, double *values,
                       uint8_t *status_bytes)
{
    if (!read_tile(fast, column, first, t))
        return false;
    scale_tile(fast, t);
    if (fast->inverse)
        invert_tile(t);
    if (fast->is_plain) {
        memcpy(values, t->n, sizeof t->n);
        memset(status_bytes, PFB_STATUS_BYTE_INTEGER, TILE);
    } else if (fast->inverse) /* all of them are percentages */
        divide_tile(fast, true, true, t, values, status_bytes);
    else if (fast->percent)
        divide_tile(fast, true, false, t, values, status_bytes);
    else
        divide_tile(fast, false, false, t, values, status_bytes);
    return true;
}

/* Bounds of what a tile may hold. False when not even the numbers that all instances share fit them. */
static bool bound_fast(fast_column *fast, uint64_t time, uint64_t factor, uint64_t divisor)
{
    uint64_t scaled = time;
    uint64_t divided = time;
    if (!times_small(&scaled, factor) || !times_small(&divided, divisor) || (scaled | divided) >> FAST_BITS != 0)
        return false;
    fast->too_large_n = too_large_beside(factor);
    fast->too_large_d = too_large_beside(divisor);
    fast->too_large_items = (fast->from_items ? too_large_beside(scaled) : 0) |
                            (fast->over_items ? too_large_beside(divided) : 0) | too_large_beside(1);
    fast->time = (double)(int64_t)time;
    fast->factor = (double)(int64_t)factor;
    fast->divisor = (double)(int64_t)divisor;
    /* Inverses are percentages, and what is divided by a frequency has bases. */
    bool only_n = !fast->bases && !fast->percent && !fast->over_items;
    fast->is_plain = only_n && time == 1 && factor == 1;
    return true;
}

/* False where apply() has to look at each instance. */
static bool prepare_fast(const pfb_formula *f, const pfb_formula_column *column, fast_column *fast)
{
    bool is_plain_inverse = !(f->terms & PFB_TERM_TIMES_FREQUENCY) && f->unit == PFB_UNIT_PERCENT; /* if named at all */
    bool delta_base = f->denominator == PFB_DENOMINATOR_BASE_DELTA;
    bool by_base = delta_base || f->denominator == PFB_DENOMINATOR_BASE;
    *fast = (fast_column){.inverse = (f->terms & PFB_TERM_INVERSE) != 0,
                          .percent = f->unit == PFB_UNIT_PERCENT,
                          .from_items = (f->terms & PFB_TERM_FROM_MULTI_COUNT) != 0,
                          .over_items = (f->terms & PFB_TERM_OVER_MULTI_COUNT) != 0,
                          .older_values = f->terms & PFB_TERM_DELTA ? column->older_values : NULL,
                          .older_bases = delta_base ? column->older_bases : NULL,
                          .bases = by_base ? column->newer_bases : NULL};
    if (!PFB_DIVIDES_EXACTLY || f->changes_value || (f->terms & PFB_TERM_ELAPSED) ||
        (fast->inverse && !is_plain_inverse) || !is_shared_sound(f, column))
        return false;
    /* A precision timer without a base is measured by a clock: one by one. No type that has a base is an inverse or has
     * multi counts besides. */
    if (by_base && (!fast->bases || (delta_base && !fast->older_bases)))
        return false;
    uint64_t frequency = (uint64_t)read_frequency(column->newer, f->clock); /* positive where it is used */
    uint64_t time = 1;
    uint64_t factor = f->terms & PFB_TERM_PERCENT ? 100 : 1;
    if (f->denominator == PFB_DENOMINATOR_TIME)
        time = (uint64_t)read_time(column->newer, f->clock) - (uint64_t)read_time(column->older, f->clock);
    if ((f->terms & PFB_TERM_TIMES_FREQUENCY) && !times_small(&factor, frequency))
        return false;
    return bound_fast(fast, time, factor, f->terms & PFB_TERM_OVER_FREQUENCY ? frequency : 1);
}

/* What is the same in all tiles. */
static void prepare_tile(const fast_column *fast, tile *t)
{
    for (int i = 0; i < TILE; i++) {
        t->d[i] = fast->time;
        t->below[i] = fast->time * fast->divisor;
    }
}

/* An array that goes on with its last number up to a whole tile; null stays null. */
static const uint64_t *pad(const uint64_t *numbers, size_t count, uint64_t *room)
{
    if (!numbers)
        return NULL;
    for (size_t i = 0; i < TILE; i++)
        room[i] = numbers[i < count ? i : count - 1];
    return room;
}

/* Evaluates what is left behind the last whole tile; false when it has to be done one by one, as few are anyway. */
static bool apply_rest(const fast_column *fast, const pfb_formula_column *column, size_t first, tile *t, double *values,
                       uint8_t *status_bytes)
{
    enum { FEW = 4 };
    uint64_t room[5][TILE];
    double some_values[TILE];
    uint8_t some_status_bytes[TILE];
    size_t count = column->count - first;
    if (count < FEW)
        return false;
    fast_column padded = *fast;
    pfb_formula_column rest = {.newer_values = pad(column->newer_values + first, count, room[0])};
    padded.older_values = pad(fast->older_values ? fast->older_values + first : NULL, count, room[1]);
    padded.bases = pad(fast->bases ? fast->bases + first : NULL, count, room[2]);
    padded.older_bases = pad(fast->older_bases ? fast->older_bases + first : NULL, count, room[3]);
    if (fast->from_items || fast->over_items)
        rest.newer_multi_counts = pad(column->newer_multi_counts + first, count, room[4]);
    if (!apply_tile(&padded, &rest, 0, t, some_values, some_status_bytes))
        return false;
    memcpy(values + first, some_values, count * sizeof *values);
    memcpy(status_bytes + first, some_status_bytes, count);
    return true;
}

static void apply_each(const pfb_formula *f, const pfb_formula_column *column, size_t first, size_t count,
                       double *values, uint8_t *status_bytes)
{
    for (size_t i = first; i < first + count; i++) {
        pfb_formula_result result = apply_one(f, column, i);
        values[i] = result.value;
        status_bytes[i] = pfb_formula_pack(&result);
    }
}

/* What all instances have when their numbers do not matter. */
static void fill(pfb_status status, size_t count, double *values, uint8_t *status_bytes)
{
    for (size_t i = 0; i < count; i++)
        values[i] = 0;
    memset(status_bytes, (int)status, count);
}

void pfb_formula_apply_column(const pfb_formula *formula, const pfb_formula_column *column, double *values,
                              uint8_t *status_bytes)
{
    fast_column fast;
    if (column->count == 0)
        return;
    if (formula->status != PFB_STATUS_OK || (formula->samples == 2 && !column->older)) {
        fill(formula->status != PFB_STATUS_OK ? formula->status : PFB_STATUS_NEED_TWO_SAMPLES, column->count, values,
             status_bytes);
        return;
    }
    tile t;
    size_t done = 0;
    bool is_fast = prepare_fast(formula, column, &fast);
    if (is_fast)
        prepare_tile(&fast, &t);
    for (; is_fast && column->count - done >= TILE; done += TILE) {
        if (!apply_tile(&fast, column, done, &t, values + done, status_bytes + done))
            apply_each(formula, column, done, TILE, values, status_bytes);
    }
    if (!is_fast || !apply_rest(&fast, column, done, &t, values, status_bytes))
        apply_each(formula, column, done, column->count - done, values, status_bytes);
}
