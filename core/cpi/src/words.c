/* SPDX-License-Identifier: MIT */
#include "perfblock/cpi/words.h"

#include "bytes/memory.h"
#include "bytes/wide.h"

enum { PLACES = 10000, PERCENT_PLACES = 100 * PLACES };

/* The least 10000 * integral + fraction whose integral part does not fit. */
#define TOO_LARGE (UINT64_C(10000) * PFB_CPI_UNDEFINED)

static const pfb_cpi_words undefined = {PFB_CPI_UNDEFINED, PFB_CPI_UNDEFINED};

static bool is_undefined(pfb_cpi_words words)
{
    return words.integral == PFB_CPI_UNDEFINED && words.fraction == PFB_CPI_UNDEFINED;
}

static bool is_figure(pfb_cpi_words words)
{
    return words.integral != PFB_CPI_UNDEFINED && words.fraction < PLACES;
}

static uint64_t ten_thousandths(pfb_cpi_words words)
{
    return (uint64_t)PLACES * words.integral + words.fraction;
}

/* Requires q < TOO_LARGE. */
static pfb_cpi_words split(uint64_t q)
{
    /* Not with the / operator: a 32-bit compiler would call its runtime library. */
    uint64_t integral = pfb_wide_floor(pfb_wide_from(q), pfb_wide_from(PLACES));
    return (pfb_cpi_words){(uint32_t)integral, (uint32_t)(q - integral * PLACES)};
}

/* The dividend that makes rounding down round half up: factor * numerator + denominator / 2, below 2^85. */
static pfb_wide dividend(uint64_t numerator, uint64_t factor, uint64_t denominator)
{
    return pfb_wide_plus(pfb_wide_times(pfb_wide_from(numerator), factor), denominator / 2);
}

/* Returns true if the quotient is too large; always true for a denominator of 0. */
static bool is_too_large(pfb_wide divided, uint64_t denominator)
{
    return pfb_wide_compare(divided, pfb_wide_times(pfb_wide_from(denominator), TOO_LARGE)) >= 0;
}

static pfb_cpi_words round_quotient(uint64_t numerator, uint64_t factor, uint64_t denominator)
{
    pfb_wide divided = dividend(numerator, factor, denominator);
    if (is_too_large(divided, denominator))
        return undefined;
    return split(pfb_wide_floor(divided, pfb_wide_from(denominator)));
}

pfb_cpi_words pfb_cpi_figure_words(uint64_t numerator, uint64_t denominator)
{
    return round_quotient(numerator, PLACES, denominator);
}

pfb_cpi_words pfb_cpi_percent_words(uint64_t part, uint64_t whole)
{
    return round_quotient(part, PERCENT_PLACES, whole);
}

bool pfb_cpi_words_valid(pfb_cpi_words words)
{
    return is_figure(words) || is_undefined(words);
}

/* With q from the words and Q = floor(dividend / denominator), q - 1 <= Q <= q + 1 is tested without a division:
 * (q - 1) * denominator <= dividend < (q + 2) * denominator. */
bool pfb_cpi_words_near(pfb_cpi_words words, uint64_t numerator, uint64_t denominator)
{
    pfb_wide divided = dividend(numerator, PLACES, denominator);
    if (is_undefined(words) || is_too_large(divided, denominator))
        return is_undefined(words) && is_too_large(divided, denominator);
    uint64_t q = ten_thousandths(words);
    pfb_wide unit = pfb_wide_from(denominator);
    return (q == 0 || pfb_wide_compare(pfb_wide_times(unit, q - 1), divided) <= 0) &&
           pfb_wide_compare(divided, pfb_wide_times(unit, q + 2)) < 0;
}

/* value = mantissa * 2^exponent and 10000 = 625 * 2^4. 625 * mantissa is below 2^63; the rest of the multiplication and
 * the rounding are one shift. */
bool pfb_cpi_double_words(double value, pfb_cpi_words *words)
{
    enum { MANTISSA_BITS = 52, EXPONENT_MASK = 0x7FF, EXPONENT_BIAS = 1023 + MANTISSA_BITS, SHIFT = 4 };
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint64_t mantissa = bits & ((UINT64_C(1) << MANTISSA_BITS) - 1);
    int biased = (int)(bits >> MANTISSA_BITS & EXPONENT_MASK);
    bool is_negative = bits >> 63 && bits << 1 != 0; /* -0.0 is 0 */
    *words = undefined;
    if (biased == EXPONENT_MASK || is_negative)
        return false;
    mantissa |= UINT64_C(1) << MANTISSA_BITS; /* wrong for subnormal numbers, but they round to 0 anyway */
    int down = EXPONENT_BIAS - SHIFT - biased;
    if (down <= 0) /* 2^48 or more */
        return true;
    uint64_t q = down < 64 ? (mantissa * (PLACES >> SHIFT) + (UINT64_C(1) << (down - 1))) >> down : 0;
    if (q < TOO_LARGE)
        *words = split(q);
    return true;
}

bool pfb_cpi_words_value(pfb_cpi_words words, double *value)
{
    *value = 0.0;
    if (!is_figure(words))
        return false;
    *value = pfb_wide_divide(pfb_wide_from(ten_thousandths(words)), pfb_wide_from(PLACES)).value;
    return true;
}
