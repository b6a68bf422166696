/* SPDX-License-Identifier: MIT */
#include "formula_reference.h"

#include <string.h>

/* ---- Types --------------------------------------------------------------------------------------------- */

/* Values of the fields of a type: class, subtype of class COUNTER, and display. */
enum { CLASS_NUMBER, CLASS_COUNTER };
enum { VALUE, RATE, FRACTION, BASE, ELAPSED, QUEUE, HISTOGRAM, PRECISION };
enum { PER_SECOND = 1, PERCENT, SECONDS, NOT_SHOWN };

/* The named types whose formula is not the one that their bits describe, and a second value of PERF_LARGE_RAW_BASE. */
enum { AVERAGE_TIMER = 0x30020400, AVERAGE_BULK = 0x40020500, MULTI_TIMER = 0x22410500 };
enum { LARGE_RAW_BASE_ALIAS = 0x40030503 };

static const uint32_t named_types[NAMED_TYPES] = {
    0x00000000, 0x00000100, 0x00000B00, 0x00010000, 0x00010100, 0x00400400, 0x00400500, 0x00410400,
    0x00450400, 0x00450500, 0x00550500, 0x00650500, 0x10410400, 0x10410500, 0x20020400, 0x20020500,
    0x20410500, 0x20470500, 0x20510500, 0x20570500, 0x20610500, 0x20670500, 0x20C20400, 0x21410500,
    0x21510500, 0x22410500, 0x22510500, 0x23410500, 0x23510500, 0x30020400, 0x30240500, 0x40000200,
    0x40020500, 0x40030401, 0x40030402, 0x40030403, 0x40030500, 0x42030500, 0x80000000};

uint32_t named_type_at(size_t position)
{
    return named_types[position];
}

static bool is_named(uint32_t type)
{
    bool found = type == LARGE_RAW_BASE_ALIAS;
    for (int i = 0; i < NAMED_TYPES; i++)
        found = found || type == named_types[i];
    return found;
}

static bool has_bit(uint32_t type, int bit)
{
    return (type >> bit & 1) != 0;
}

static bool is_dword(uint32_t type)
{
    return (type >> 8 & 3) == 0;
}

/* Returns true for a well-formed type of class COUNTER. */
static bool is_well_formed(uint32_t type)
{
    unsigned subtype = type >> 16 & 15;
    bool reserved = (type & 0xFF) != 0 || (type >> 12 & 15) != 0 || has_bit(type, 26) || has_bit(type, 27);
    bool fields =
        (type >> 10 & 3) == CLASS_COUNTER && subtype <= PRECISION && (type >> 20 & 3) < 3 && type >> 28 <= NOT_SHOWN;
    bool base_bit = !has_bit(type, 23) || subtype == FRACTION;
    bool inverse_bit = !has_bit(type, 24) || subtype == RATE;
    bool multi_bit = !has_bit(type, 25) || subtype == RATE || subtype == BASE;
    return !reserved && fields && base_bit && inverse_bit && multi_bit;
}

/* ---- Formulas from the bits of a type ---------------------------------------------------------------------------- */

/* Sets which differences a type of class COUNTER uses, and the denominator. */
static void find_operands(shape *s, uint32_t type, unsigned subtype)
{
    bool average = type == AVERAGE_TIMER || type == AVERAGE_BULK;
    bool optional = subtype == VALUE || subtype == FRACTION;
    s->by_time = subtype == RATE || subtype == QUEUE;
    s->by_base = subtype == FRACTION || subtype == PRECISION;
    s->delta = s->by_time || subtype == PRECISION || average || (optional && has_bit(type, 22));
    s->delta_base = subtype == PRECISION || average || (subtype == FRACTION && has_bit(type, 23));
    s->elapsed = subtype == ELAPSED;
}

static void find_factors(shape *s, uint32_t type, unsigned subtype, const pfb_formula_options *options)
{
    unsigned display = type >> 28;
    bool named_f = type == MULTI_TIMER && !options->server_2003_multi_timer;
    s->times_f = subtype == RATE && (display <= PER_SECOND || named_f);
    s->over_f = subtype == ELAPSED || (subtype == FRACTION && display == SECONDS);
    s->percent = subtype == PRECISION || ((subtype == RATE || subtype == FRACTION) && display == PERCENT);
    s->inverse = subtype == RATE && has_bit(type, 24);
    s->multi = subtype == RATE && has_bit(type, 25);
    s->per_item = s->multi && (!s->inverse || options->per_item_inverse);
}

shape shape_of(uint32_t type, const pfb_formula_options *options)
{
    unsigned class = type >> 10 & 3;
    unsigned subtype = type >> 16 & 15;
    unsigned display = type >> 28;
    bool named = is_named(type);
    bool sized = (type >> 8 & 3) < 2;
    shape s = {.known = named || (options->generic && is_well_formed(type)), .clock = type >> 20 & 3};
    if (!s.known || !sized)
        return s;
    s.dword = is_dword(type);
    if (class == CLASS_NUMBER) {
        s.shown = display == 0;
    } else if (class == CLASS_COUNTER && subtype != BASE && subtype != HISTOGRAM) {
        s.shown = true;
        find_operands(&s, type, subtype);
        find_factors(&s, type, subtype, options);
    }
    if (s.shown && display >= PER_SECOND && display <= SECONDS)
        s.unit = (pfb_unit)display;
    /* Of the named types with dB, fractions and averages have bases of four bytes, precision types bases of eight. The
     * size matters only for a wrap, so it is not set for types that use B. */
    s.dword_base = named && subtype == FRACTION && s.delta_base;
    return s;
}

/* ---- Clocks -------------------------------------------------------------------------------------------- */

typedef struct reading {
    uint32_t has_time, has_freq;
    int64_t time, freq;
} reading;

/* The frequency of the 100 ns clock is 10 MHz and not an input. */
static reading read_clock(const pfb_raw_value *s, unsigned clock)
{
    if (clock == 0)
        return (reading){PFB_HAS_PERF_TIME, PFB_HAS_PERF_FREQ, s->perf_time, s->perf_freq};
    if (clock == 1)
        return (reading){PFB_HAS_PERF_TIME_100NS, 0, s->perf_time_100ns, 10000000};
    return (reading){PFB_HAS_OBJECT_TIME, PFB_HAS_OBJECT_FREQ, s->object_time, s->object_freq};
}

/* A precision timer of an object uses the object's clock if the two samples do not both have a base, but both have its
 * time. */
static void choose_clock(shape *s, uint32_t type, uint32_t both)
{
    bool object = (type >> 16 & 15) == PRECISION && s->clock == 2;
    if (object && !(both & PFB_HAS_BASE) && (both & PFB_HAS_OBJECT_TIME)) {
        s->by_base = s->delta_base = false;
        s->by_time = true;
    }
}

/* ---- Inputs -------------------------------------------------------------------------------------------- */

/* Returns true if the newer sample has an input, and the older one too if both are compared. */
static bool has_input(const pfb_raw_value *older, const pfb_raw_value *newer, bool compared, uint32_t bit)
{
    return (newer->has & bit) == bit && (!compared || (older->has & bit) == bit);
}

static pfb_status check_inputs(const shape *s, const pfb_raw_value *older, const pfb_raw_value *newer)
{
    reading clock = read_clock(newer, s->clock);
    bool value = has_input(older, newer, s->delta, PFB_HAS_VALUE);
    bool time = (!s->by_time && !s->elapsed) || has_input(older, newer, s->by_time, clock.has_time);
    bool freq = (!s->times_f && !s->over_f) || has_input(older, newer, false, clock.has_freq);
    bool base = !s->by_base || has_input(older, newer, s->delta_base, PFB_HAS_BASE);
    bool items = !s->multi || has_input(older, newer, false, PFB_HAS_MULTI_COUNT);
    if (!value || !time || !freq)
        return PFB_STATUS_MISSING_INPUT;
    return base && items ? PFB_STATUS_OK : PFB_STATUS_MISSING_BASE;
}

/* Stores newer - older, with one wrap at 2^32 if allowed. Returns false if the difference is negative. */
static bool subtract(uint64_t older, uint64_t newer, bool may_wrap, big *difference, uint32_t *flags)
{
    big low = big_of(older);
    big high = big_of(newer);
    if (newer < older && may_wrap && older <= UINT32_MAX) {
        big wrap = big_of(UINT64_C(1) << 32);
        high = big_plus(high, &wrap);
        *flags |= PFB_FLAG_WRAPPED;
    } else if (newer < older) {
        return false;
    }
    *difference = big_minus(high, &low);
    return true;
}

/* Stores N, dN or T - N: the numerator before it is multiplied. */
static pfb_status find_numerator(const shape *s, const pfb_raw_value *older, const pfb_raw_value *newer, bool wrap32,
                                 expected_result *o)
{
    if (s->elapsed) {
        int64_t now = read_clock(newer, s->clock).time;
        if (newer->value == 0)
            return PFB_STATUS_NO_DATA;
        bool past = now >= 0 && subtract(newer->value, (uint64_t)now, false, &o->value.n, &o->flags);
        return past ? PFB_STATUS_OK : PFB_STATUS_NEGATIVE_DELTA;
    }
    uint64_t older_value = s->delta ? older->value : 0;
    bool rose = subtract(older_value, newer->value, wrap32 && s->dword, &o->value.n, &o->flags);
    return rose ? PFB_STATUS_OK : PFB_STATUS_NEGATIVE_DELTA;
}

static bool has_dword_base(const shape *s, const pfb_raw_value *sample)
{
    return sample->base_type != 0 ? is_dword(sample->base_type) : s->dword_base;
}

/* Stores 1, dT, B or dB: the denominator before it is multiplied. */
static pfb_status find_denominator(const shape *s, const pfb_raw_value *older, const pfb_raw_value *newer, bool wrap32,
                                   expected_result *o)
{
    bool rose = true;
    if (s->by_time) { /* adding 2^63 keeps the order of signed values */
        uint64_t older_time = (uint64_t)read_clock(older, s->clock).time ^ UINT64_C(1) << 63;
        uint64_t newer_time = (uint64_t)read_clock(newer, s->clock).time ^ UINT64_C(1) << 63;
        rose = subtract(older_time, newer_time, false, &o->value.d, &o->flags);
    } else if (s->delta_base) {
        bool may_wrap = wrap32 && has_dword_base(s, older) && has_dword_base(s, newer);
        rose = subtract(older->base, newer->base, may_wrap, &o->value.d, &o->flags);
    } else if (s->by_base) {
        o->value.d = big_of(newer->base);
    }
    if (!rose)
        return PFB_STATUS_NEGATIVE_DENOMINATOR;
    if (!big_is_zero(&o->value.d))
        return PFB_STATUS_OK;
    return s->by_time || s->delta_base ? PFB_STATUS_ZERO_DENOMINATOR : PFB_STATUS_ZERO_BASE;
}

/* ---- The value ----------------------------------------------------------------------------------------- */

/* Applies the factors F, M and 100 and the inverse. Numerators stay below 2^135, denominators below 2^128. */
static void multiply(const shape *s, const pfb_raw_value *newer, ratio *v)
{
    uint64_t freq = (uint64_t)read_clock(newer, s->clock).freq;
    big whole = s->multi ? big_times(v->d, newer->multi_count) : v->d;
    if (s->times_f)
        v->n = big_times(v->n, freq);
    if (s->over_f)
        v->d = big_times(v->d, freq);
    if (s->inverse) {
        v->negative = big_compare(&whole, &v->n) < 0;
        v->n = v->negative ? big_minus(v->n, &whole) : big_minus(whole, &v->n);
    }
    if (s->per_item)
        v->d = big_times(v->d, newer->multi_count);
    if (s->percent)
        v->n = big_times(v->n, 100);
}

/* Sets the flag of a value below 0 or of a percentage above 100, and applies cap_100 and clamp_0. */
static void limit(const shape *s, const pfb_formula_options *options, expected_result *o)
{
    big hundred = big_times(o->value.d, 100);
    if (o->value.negative) {
        o->flags |= PFB_FLAG_BELOW_ZERO;
        if (options->clamp_0)
            o->value = (ratio){big_of(0), big_of(1), false};
    } else if (s->unit == PFB_UNIT_PERCENT && big_compare(&o->value.n, &hundred) > 0) {
        o->flags |= PFB_FLAG_ABOVE_100;
        if (options->cap_100)
            o->value = (ratio){big_of(100), big_of(1), false};
    }
}

/* Multiplies by the power of ten, which adds at most 34 bits. */
static void scale(int exponent, ratio *v)
{
    for (; exponent > 0; exponent--)
        v->n = big_times(v->n, 10);
    for (; exponent < 0; exponent++)
        v->d = big_times(v->d, 10);
}

/* ---- The result --------------------------------------------------------------------------------------- */

/* Returns the status of the checks that do not depend on the values of the inputs. */
static pfb_status check_call(const shape *s, const pfb_raw_value *older, const pfb_raw_value *newer,
                             const pfb_formula_options *options)
{
    if (!s->known)
        return PFB_STATUS_UNKNOWN_TYPE;
    if (!s->shown)
        return PFB_STATUS_NOT_DISPLAYED;
    if (options->scale < -10 || options->scale > 10)
        return PFB_STATUS_BAD_SCALE;
    if ((s->delta || s->delta_base) && !older)
        return PFB_STATUS_NEED_TWO_SAMPLES;
    return older && older->type != newer->type ? PFB_STATUS_TYPE_MISMATCH : PFB_STATUS_OK;
}

expected_result reference_result(const pfb_raw_value *older, const pfb_raw_value *newer,
                                 const pfb_formula_options *options)
{
    shape s = shape_of(newer->type, options);
    expected_result o = {.unit = s.unit, .value = {big_of(0), big_of(1), false}};
    o.status = check_call(&s, older, newer, options);
    if (o.status != PFB_STATUS_OK)
        return o;
    choose_clock(&s, newer->type, older ? older->has & newer->has : 0);
    o.status = check_inputs(&s, older, newer);
    if (o.status == PFB_STATUS_OK)
        o.status = find_numerator(&s, older, newer, options->wrap32, &o);
    if (o.status == PFB_STATUS_OK && (s.times_f || s.over_f) && read_clock(newer, s.clock).freq <= 0)
        o.status = PFB_STATUS_BAD_FREQUENCY;
    if (o.status == PFB_STATUS_OK && s.multi && newer->multi_count == 0)
        o.status = PFB_STATUS_ZERO_BASE;
    if (o.status == PFB_STATUS_OK)
        o.status = find_denominator(&s, older, newer, options->wrap32, &o);
    if (o.status != PFB_STATUS_OK)
        return o;
    multiply(&s, newer, &o.value);
    limit(&s, options, &o);
    scale(options->scale, &o.value);
    return o;
}

/* ---- Rounding ------------------------------------------------------------------------------------------ */

bool is_nearest(const ratio *r, double value, bool *exact)
{
    /* A quotient of numbers below 2^170 is between 2^-170 and 2^170, so that of its double's 53-bit mantissa the lowest
     * bit has an exponent from -222 to 118. A shift by 222 bits fits a big. */
    enum { FRACTION_BITS = 52, BIAS = 1023, MIN_EXPONENT = -222, MAX_EXPONENT = 118 };
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    int exponent = (int)(bits >> FRACTION_BITS & 2047) - BIAS - FRACTION_BITS;
    uint64_t mantissa = (bits & ((UINT64_C(1) << FRACTION_BITS) - 1)) | UINT64_C(1) << FRACTION_BITS;
    *exact = false;
    if (big_is_zero(&r->n))
        return *exact = bits == 0;
    if ((bits >> 63 != 0) != r->negative || exponent < MIN_EXPONENT || exponent > MAX_EXPONENT)
        return false;
    /* Compares value = mantissa * 2^exponent with n / d, both multiplied by d and by the power of two that makes them
     * integers. */
    big left = exponent < 0 ? big_shifted(r->n, -exponent) : r->n;
    big unit = exponent > 0 ? big_shifted(r->d, exponent) : r->d;
    big right = big_times(unit, mantissa);
    bool above = big_compare(&right, &left) > 0;
    big error = above ? big_minus(right, &left) : big_minus(left, &right);
    *exact = big_is_zero(&error);
    /* Doubles just below a power of two are half as far apart. */
    bool at_power = above && mantissa == UINT64_C(1) << FRACTION_BITS;
    error = big_shifted(error, at_power ? 2 : 1);
    int difference = big_compare(&error, &unit);
    return difference < 0 || (difference == 0 && mantissa % 2 == 0);
}
