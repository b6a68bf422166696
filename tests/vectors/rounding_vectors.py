# SPDX-License-Identifier: MIT
"""Cases whose value depends on rounding once, to nearest.

A tie is a number halfway between two doubles: it has 54 bits, of which the
last is 1. A program that also rounds an intermediate result, even to 64 bits,
can turn a value near a tie into the tie.
"""

import itertools
import random

from edge_vectors import SHOWN
from vector_rows import (Case, INT64_MAX, INT64_MIN, TWO32, TWO53, TWO63,
                         TWO64, clock_of, divider, formula, is_large, spell,
                         vary)

TIES = ((1, "down"), (3, "up"))  # last two bits of the tie, direction


def form_of(kind):
    """The form of a named type."""
    return formula.TYPES[kind].form


def place(kind, n, d, f=None, m=1, start=0):
    """Samples with numerator n, divisor d, and F and M."""
    form, clock = form_of(kind), clock_of(kind)
    older, newer = divider(kind, d)
    older, newer = dict(older), dict(newer)
    if form is formula.ELAPSED:
        newer.update({"value": 1 + start, clock[0]: n + 1 + start})
    else:
        older["value"], newer["value"] = start, start + n
    if f is not None and form.frequency:
        newer[clock[1]] = f
    if form.items:
        newer["multi"] = m
    return vary(kind, older, **newer)


def limits(kind):
    """The largest numerator and the largest divisor that fit."""
    known = formula.TYPES[kind]
    top = (TWO64 if is_large(kind) else TWO32) - 1
    if known.form is formula.ELAPSED:
        top = INT64_MAX - 1
    below = TWO64 - 1
    if known.form.denominator in ("base", "base_delta") and known.base & 0x300 == 0:
        below = TWO32 - 1
    return top, below


def fraction(kind, n, d, f, m):
    """The value as numerator and denominator."""
    return form_of(kind).quotient(n, d, f, m)


# Near ties -------------------------------------------------------------------

def candidates(kind):
    """Odd divisors, frequencies and counts; None if the formula uses none."""
    form, below = form_of(kind), limits(kind)[1]
    start = (1 << 61) + 1 if is_large(kind) and below > TWO32 else 4000000007
    if form is formula.AVERAGE_TIME:
        start = 601  # so that the product with F begins below 2^32
    for number in range(3000):
        d = start + 2 * number if form.denominator else None
        f = m = None
        if form.frequency:
            f = 3579547 if form.denominator else (1 << 61) + 1 + 2 * number
        if form.items:
            m = 3
        yield d, f, m


def near_tie(kind, last_bits, side):
    """Inputs whose value is slightly above (side 1) or below (-1) a tie, or None.

    The value is (first + step n) / bottom. It is the tie r / 2^s plus side /
    (bottom 2^s) if r bottom = (first + step n) 2^s - side, which is solved
    modulo step 2^s with an inverse of bottom.
    """
    for d, f, m in candidates(kind):
        first, bottom = fraction(kind, 0, d, f, m)
        step = fraction(kind, 1, d, f, m)[0] - first
        shift = 55 - abs(step).bit_length()
        modulus = abs(step) << shift
        try:
            inverse = pow(bottom, -1, modulus)
        except ValueError:
            continue  # not coprime
        tie = ((first << shift) - side) * inverse % modulus
        n, rest = divmod(tie * bottom + side - (first << shift),
                         step << shift)
        if (tie >> 53 == 1 and tie % 4 == last_bits and rest == 0
                and 0 <= n <= limits(kind)[0]):
            return n, d, f, m
    return None


def near_ties(kind):
    """The two kinds of near ties that rounding twice gets wrong."""
    for last_bits, side, what in ((1, 1, "above a tie that goes down"),
                                  (3, -1, "below a tie that goes up")):
        inputs = near_tie(kind, last_bits, side)
        if inputs:
            yield Case("near_tie", *place(kind, *inputs),
                       "less than 2^-30 of an ulp %s: 64 bits are not enough" %
                       what)


# Ties ------------------------------------------------------------------------

def is_tie(top, bottom, last_bits):
    """Whether a positive value lies halfway between two doubles, and its 54
    bits end with `last_bits`."""
    exact = formula.Fraction(top, bottom)
    number = exact.numerator
    number //= number & -number or 1
    return (exact.denominator & exact.denominator - 1 == 0 and
            number.bit_length() == 54 and number % 4 == last_bits)


def exact_tie(kind, last_bits):
    """Inputs whose value is a tie, or None."""
    form, most = form_of(kind), limits(kind)[0]
    f = 2097143 if form.frequency and form.denominator == "time" else 1
    f = 1 << 20 if form is formula.ELAPSED or not form.denominator else f
    d = 1 << 28 if limits(kind)[1] < TWO32 else 1 << 60
    d = d if form.denominator else None
    step = abs(fraction(kind, 1, d, f, 1)[0] - fraction(kind, 0, d, f, 1)[0])
    while step % 2 == 0:
        step //= 2
    first = (TWO53 // step + 1) | 1
    for n in range(first, first + 4000, 2):
        if n <= most and is_tie(*fraction(kind, n, d, f, 1), last_bits):
            return n, d, f, 1
    return None


def ties(kind):
    """A tie that rounds down and one that rounds up, each to the even double.
    """
    for last_bits, way in TIES:
        inputs = exact_tie(kind, last_bits)
        if inputs:
            yield Case("tie", *place(kind, *inputs),
                       "halfway between two doubles: rounds to even, " + way)


# Rounding in between ---------------------------------------------------------

# The formulas in double arithmetic, by form. n, d, f and m are doubles.
CALCULATIONS = {
    formula.RATE: (("n / (d / f)", lambda n, d, f, m: n / (d / f)),
                   ("n / d * f", lambda n, d, f, m: n / d * f)),
    formula.QUEUE: (("double(n) / double(d)", lambda n, d, f, m: n / d),),
    formula.TIMER: (("100 * (n / d)", lambda n, d, f, m: 100 * (n / d)),
                    ("n / (d / 100)", lambda n, d, f, m: n / (d / 100))),
    formula.TIMER_INV: (
        ("100 * (1 - n / d)", lambda n, d, f, m: 100 * (1 - n / d)),
        ("100 - 100 * n / d", lambda n, d, f, m: 100 - 100 * n / d)),
    formula.MULTI_RATE: (
        ("100 * (n / (d / f)) / m",
         lambda n, d, f, m: 100 * (n / (d / f)) / m),),
    formula.MULTI: (
        ("100 * (n / d) / m", lambda n, d, f, m: 100 * (n / d) / m),),
    formula.MULTI_INV: (
        ("100 * (m - n / d)", lambda n, d, f, m: 100 * (m - n / d)),),
    formula.AVERAGE: (("double(n) / double(d)", lambda n, d, f, m: n / d),),
    formula.AVERAGE_TIME: (("n / f / d", lambda n, d, f, m: n / f / d),),
    formula.ELAPSED: (("n * (1 / f)", lambda n, d, f, m: n * (1 / f)),),
}
for same in (formula.FRACTION, formula.FRACTION_DELTA, formula.PRECISION_TIME):
    CALCULATIONS[same] = CALCULATIONS[formula.TIMER]


def usual_inputs(kind, source):
    """A random d and an n below it, or an n that no double holds."""
    large = is_large(kind)
    d = source.randrange(10 ** 7, 10 ** 9)
    n = source.randrange(1, d)
    if form_of(kind) in (formula.QUEUE, formula.AVERAGE) and large:
        n = source.randrange(TWO53, TWO63) | 1
    return n, d, source.choice((3579545, 10000000, 2211058)), source.choice(
        (3, 6, 7))


def wrong_doubles(kind):
    """Inputs for which the formula in double arithmetic is wrong."""
    source = random.Random(kind)
    for text, calculate in CALCULATIONS.get(form_of(kind), ()):
        for _ in range(2000):
            inputs = usual_inputs(kind, source)
            top, bottom = fraction(kind, *inputs)
            wrong = calculate(*map(float, inputs))
            if wrong != top / bottom:
                yield Case("double", *place(kind, *inputs),
                           "%s in doubles gives %r" % (text, wrong))
                break


def cut_off(kind):
    """A value that is rounded up; truncation would round it down."""
    source = random.Random(kind + 1)
    while form_of(kind) in CALCULATIONS:
        inputs = usual_inputs(kind, source)
        top, bottom = fraction(kind, *inputs)
        if formula.Fraction(top / bottom) > formula.Fraction(top, bottom):
            yield Case("up", *place(kind, *inputs),
                       "rounding to nearest goes up, truncation would go down")
            return


def late_conversion(kind):
    """Large readings with a small difference, which conversion to double
    loses."""
    form, large = form_of(kind), is_large(kind)
    if not large or not (form.delta or form is formula.ELAPSED):
        return
    start = (1 << 62) + 1
    yield Case("late", *place(kind, 1000, 4096, 10000000, 1, start),
               "raw values near 2^62 must be subtracted before conversion")
    key = clock_of(kind)[0]
    if form.denominator == "time":
        older, newer = place(kind, 1000, 4096, 10000000)
        older[key], newer[key] = start, start + 3001
        yield Case("late", older, newer,
                   "clocks near 2^62 must be subtracted before conversion")


def product_beyond(kind):
    """100 N is near 2^64 or above, but N is only half of the divisor."""
    top = fraction(kind, 1, 1, 1, 1)[0] - fraction(kind, 0, 1, 1, 1)[0]
    if abs(top) < 100 or not is_large(kind):
        return
    for n in (184467440737095516, 184467440737095517, TWO63 - 1):
        yield Case("product", *place(kind, n, 2 * n, 1),
                   "100 times %d %s 64 bits" % (
                       n, "just fits into" if n * 100 < TWO64 else
                       "does not fit into"))


# The ends of the range -------------------------------------------------------

def extremes(kind):
    """The largest n with the smallest d, and n = 1 with the largest d."""
    form, (most, widest) = form_of(kind), limits(kind)
    f = INT64_MAX if form.frequency else None
    below = widest if form.denominator else None
    one = 1 if form.denominator else None
    yield Case("largest", *place(kind, most, one, f, 1),
               "the largest n and the smallest d if there is one")
    yield Case("smallest", *place(kind, 1, below, f if form.denominator != "time"
                                  else 1, TWO64 - 1),
               "n = 1 and the largest d if there is one")
    if form in (formula.TIMER_INV, formula.MULTI_INV):
        for step, what in ((-1, "just above 0"), (0, "exactly 0"),
                           (1, "just below 0")):
            yield Case("cancel", *place(kind, TWO63 + step, TWO63, f),
                       "the complement is " + what)


def whole_numbers(kind):
    """Integers of 53 to 64 bits, some of which a double cannot represent."""
    form = form_of(kind)
    if form not in (formula.RAW, formula.DELTA) or (
            form is formula.DELTA and not is_large(kind)):
        return
    for number, what in (
            (TWO53 - 1, "a double"), (TWO53, "a double"),
            (TWO53 + 1, "a tie that goes down"), (TWO53 + 2, "a double"),
            (TWO53 + 3, "a tie that goes up"),
            (2 * TWO53 - 1, "a tie that goes up, to the next power of two"),
            (2 * TWO53 + 1, "below a tie"),
            (2 * TWO53 + 2, "a tie that goes down"),
            (2 * TWO53 + 3, "above a tie"),
            (2 * TWO53 + 6, "a tie that goes up"),
            (TWO63 + 1023, "below a tie"),
            (TWO63 + 1024, "a tie that goes down"),
            (TWO63 + 1025, "above a tie"),
            (TWO63 + 3072, "a tie that goes up"),
            (TWO64 - 1025, "below a tie"),
            (TWO64 - 1024, "a tie that goes up, to 2^64"),
            (TWO64 - 1, "rounded to 2^64; the integer is exact")):
        older, newer = vary(kind, {"value": 0}, value=number)
        yield Case("whole", older if form.delta else None, newer,
                   "%s is %s" % (spell(number), what))


def longest_clock(kind):
    """A clock difference that needs unsigned arithmetic."""
    if form_of(kind).denominator == "time":
        key = clock_of(kind)[0]
        for step in (TWO63, TWO64 - 1):
            yield Case("long", *vary(kind, {key: INT64_MIN, "value": 0},
                                     **{key: INT64_MIN + step, "value": 3}),
                       "the clock's step of %s is above what a signed number "
                       "holds" % spell(step))


# Carries ---------------------------------------------------------------------

MULTI_TIMER, BULK_COUNT = 0x22410500, 0x10410500


def carrying_frequency(factor):
    """A frequency F whose product with 2^64-1 and then with the factor carries
    from the lower 64 bits through all of the next.

    The first product is (F - 1) 2^64 + 2^64 - F. For an odd part q of the
    factor 2^k q, (F - 1) q = -1 modulo 2^(64-k) sets all bits of the middle
    limb except its k lowest ones.
    """
    low = factor & -factor
    modulus = TWO64 // low
    return 1 + pow(-(factor // low), -1, modulus)


def carries():
    """Products of three factors with a long carry."""
    yield Case("carry", *place(MULTI_TIMER, TWO64 - 1, 3,
                               carrying_frequency(100)),
               "times 100, a carry runs through all of the middle 64 bits")
    for scale in range(1, 11):
        yield Case("carry", *place(BULK_COUNT, TWO64 - 1, 3,
                                   carrying_frequency(10 ** scale)),
                   "times 10^%d, a carry runs through all of the middle 64 "
                   "bits" % scale, "scale=%d" % scale)


def borrows():
    """Long divisions in which a borrow meets two equal middle limbs.

    pfb_wide_divide() in core/src/bytes/wide.c shifts both numbers so that the
    quotient is from 1 to 2. Its first step subtracts 4 d m from 2 top. Since m is
    rounded up, 2 d m is top - 2^128 + r with r below 2 d, and the difference is
    2^129 - 2 r: the upper limbs differ by 2, the middle ones are equal, and the
    lower one borrows.
    """
    d, f, found = TWO64 - 59, INT64_MAX - 24, 0
    for n in range(TWO64 // 21, TWO64, TWO64 // 977):
        top = 100 * n * f
        m = -(-(top - (1 << 128)) // (2 * d))
        upper = 2 * top >> 128, 4 * d * m >> 128
        middle = 2 * top >> 64 & TWO64 - 1, 4 * d * m >> 64 & TWO64 - 1
        lower = 2 * top & TWO64 - 1, 4 * d * m & TWO64 - 1
        if (0 < m < TWO64 and upper[0] > upper[1] and middle[0] == middle[1]
                and lower[0] < lower[1] and d * m >> 127 and found < 3):
            found += 1
            yield Case("borrow", *place(MULTI_TIMER, n, d, f, m),
                       "a borrow runs through equal middle 64 bits")


def rounding_cases():
    """All rounding cases, for each type that has a value."""
    for kind in SHOWN:
        yield from itertools.chain(
            whole_numbers(kind), ties(kind), near_ties(kind),
            wrong_doubles(kind), cut_off(kind), late_conversion(kind),
            product_beyond(kind), extremes(kind), longest_clock(kind))
    yield from itertools.chain(carries(), borrows())
