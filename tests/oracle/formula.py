# SPDX-License-Identifier: MIT
"""A second implementation of the counter formulas (docs/formula.md), in exact
integers.

evaluate() takes samples and returns a Result. A sample is a dict with the keys
type, base_type, value, base, multi, perf_time, perf_time_100ns, object_time,
perf_freq and object_freq; a key that is missing or None is an absent input.
The value of a result is a quotient of two integers. Only its double is
rounded.

formula.py --self-test FILE...   evaluates vectors and compares the results with
                                 their expectations; files are CSV with the
                                 columns COLUMNS, or JSON as json_row reads it
"""

import csv
import functools
import json
import math
import struct
import sys
from collections import namedtuple
from fractions import Fraction

# The formula of a type, in the symbols of docs/formula.md.
# delta: whether the formula uses dN instead of N.
# denominator: the input in the denominator: None, "time", "base" (of the newer
#     sample), "base_delta", or "base_or_time" (the time if one of the samples
#     has no base).
# frequency, items: whether the formula uses F and M.
# quotient: a function of the integers n (N, dN or, for elapsed times, T - N),
#     d (the input in the denominator), f and m, which returns numerator and
#     denominator.
Form = namedtuple("Form", "delta denominator frequency items quotient")
# form: None if the type has no formula. clock: a key of CLOCKS. base: the type
# of the base counter.
Type = namedtuple("Type", "name form clock unit base")
# status: None if the type can be evaluated. needs_two: whether two samples are
# compared. wraps, base_wraps: whether the value and the base may wrap at 2**32.
Prepared = namedtuple("Prepared", "status type needs_two wraps base_wraps")

PERCENT, PER_SECOND, SECONDS = "%", "/sec", "sec"

RAW = Form(False, None, False, False, lambda n, d, f, m: (n, 1))
DELTA = Form(True, None, False, False, lambda n, d, f, m: (n, 1))
# dN / (dT / F)
RATE = Form(True, "time", True, False, lambda n, d, f, m: (n * f, d))
QUEUE = Form(True, "time", False, False, lambda n, d, f, m: (n, d))
TIMER = Form(True, "time", False, False, lambda n, d, f, m: (100 * n, d))
# 100 (1 - dN / dT)
TIMER_INV = Form(True, "time", False, False,
                 lambda n, d, f, m: (100 * (d - n), d))
# 100 (dN / (dT / F)) / M
MULTI_RATE = Form(True, "time", True, True,
                  lambda n, d, f, m: (100 * n * f, d * m))
# 100 (dN / dT) / M
MULTI = Form(True, "time", False, True,
             lambda n, d, f, m: (100 * n, d * m))
# 100 (M - dN / dT), and the same divided by M
MULTI_INV = Form(True, "time", False, True,
                 lambda n, d, f, m: (100 * (m * d - n), d))
PER_ITEM_INV = Form(True, "time", False, True,
                    lambda n, d, f, m: (100 * (m * d - n), d * m))
FRACTION = Form(False, "base", False, False, lambda n, d, f, m: (100 * n, d))
FRACTION_DELTA = Form(True, "base_delta", False, False,
                      lambda n, d, f, m: (100 * n, d))
PRECISION_TIME = Form(True, "base_or_time", False, False,
                      lambda n, d, f, m: (100 * n, d))
AVERAGE = Form(True, "base_delta", False, False, lambda n, d, f, m: (n, d))
# (dN / F) / dB
AVERAGE_TIME = Form(True, "base_delta", True, False,
                    lambda n, d, f, m: (n, f * d))
# (T - N) / F
ELAPSED = Form(False, None, True, False, lambda n, d, f, m: (n, f))

# The same in doubles, each operation rounded, in the order of Windows' PDH (the
# option pdh_order): divide, subtract an inverse, times 100, divide by M.
PDH_ORDER = {
    RAW: lambda n, d, f, m: n,
    DELTA: lambda n, d, f, m: n,
    RATE: lambda n, d, f, m: n / (d / f),
    QUEUE: lambda n, d, f, m: n / d,
    TIMER: lambda n, d, f, m: n / d * 100,
    TIMER_INV: lambda n, d, f, m: (1 - n / d) * 100,
    MULTI_RATE: lambda n, d, f, m: n / (d / f) * 100 / m,
    MULTI: lambda n, d, f, m: n / d * 100 / m,
    MULTI_INV: lambda n, d, f, m: (m - n / d) * 100,
    PER_ITEM_INV: lambda n, d, f, m: (m - n / d) * 100 / m,
    FRACTION: lambda n, d, f, m: n / d * 100,
    FRACTION_DELTA: lambda n, d, f, m: n / d * 100,
    PRECISION_TIME: lambda n, d, f, m: n / d * 100,
    AVERAGE: lambda n, d, f, m: n / d,
    AVERAGE_TIME: lambda n, d, f, m: n / f / d,
    ELAPSED: lambda n, d, f, m: n / f,
}

AVERAGE_BASE, SAMPLE_BASE, RAW_BASE = 0x40030402, 0x40030401, 0x40030403
LARGE_RAW_BASE, MULTI_BASE = 0x40030500, 0x42030500
MULTI_TIMER = 0x22410500


def type_row(name, form=None, clock=None, unit="", base=None):
    """A row of the table of types."""
    return Type("PERF_" + name, form, clock, unit, base)


TYPES = {
    0x00000000: type_row("COUNTER_RAWCOUNT_HEX", RAW),
    0x00000100: type_row("COUNTER_LARGE_RAWCOUNT_HEX", RAW),
    0x00000B00: type_row("COUNTER_TEXT"),
    0x00010000: type_row("COUNTER_RAWCOUNT", RAW),
    0x00010100: type_row("COUNTER_LARGE_RAWCOUNT", RAW),
    0x00400400: type_row("COUNTER_DELTA", DELTA),
    0x00400500: type_row("COUNTER_LARGE_DELTA", DELTA),
    0x00410400: type_row("SAMPLE_COUNTER", RATE, "perf"),
    0x00450400: type_row("COUNTER_QUEUELEN_TYPE", QUEUE, "perf"),
    0x00450500: type_row("COUNTER_LARGE_QUEUELEN_TYPE", QUEUE, "perf"),
    0x00550500: type_row("COUNTER_100NS_QUEUELEN_TYPE", QUEUE, "100ns"),
    0x00650500: type_row("COUNTER_OBJ_TIME_QUEUELEN_TYPE", QUEUE, "object"),
    0x10410400: type_row("COUNTER_COUNTER", RATE, "perf", PER_SECOND),
    0x10410500: type_row("COUNTER_BULK_COUNT", RATE, "perf", PER_SECOND),
    0x20020400: type_row("RAW_FRACTION", FRACTION, None, PERCENT, RAW_BASE),
    0x20020500: type_row("LARGE_RAW_FRACTION", FRACTION, None, PERCENT,
                         LARGE_RAW_BASE),
    0x20410500: type_row("COUNTER_TIMER", TIMER, "perf", PERCENT),
    0x20470500: type_row("PRECISION_SYSTEM_TIMER", FRACTION_DELTA, None, PERCENT,
                         LARGE_RAW_BASE),
    0x20510500: type_row("100NSEC_TIMER", TIMER, "100ns", PERCENT),
    0x20570500: type_row("PRECISION_100NS_TIMER", FRACTION_DELTA, None, PERCENT,
                         LARGE_RAW_BASE),
    0x20610500: type_row("OBJ_TIME_TIMER", TIMER, "object", PERCENT),
    0x20670500: type_row("PRECISION_OBJECT_TIMER", PRECISION_TIME, "object",
                         PERCENT, LARGE_RAW_BASE),
    0x20C20400: type_row("SAMPLE_FRACTION", FRACTION_DELTA, None, PERCENT,
                         SAMPLE_BASE),
    0x21410500: type_row("COUNTER_TIMER_INV", TIMER_INV, "perf", PERCENT),
    0x21510500: type_row("100NSEC_TIMER_INV", TIMER_INV, "100ns", PERCENT),
    0x22410500: type_row("COUNTER_MULTI_TIMER", MULTI_RATE, "perf", PERCENT,
                         MULTI_BASE),
    0x22510500: type_row("100NSEC_MULTI_TIMER", MULTI, "100ns", PERCENT,
                         MULTI_BASE),
    0x23410500: type_row("COUNTER_MULTI_TIMER_INV", MULTI_INV, "perf", PERCENT,
                         MULTI_BASE),
    0x23510500: type_row("100NSEC_MULTI_TIMER_INV", MULTI_INV, "100ns", PERCENT,
                         MULTI_BASE),
    0x30020400: type_row("AVERAGE_TIMER", AVERAGE_TIME, "perf", SECONDS,
                         AVERAGE_BASE),
    0x30240500: type_row("ELAPSED_TIME", ELAPSED, "object", SECONDS),
    0x40000200: type_row("COUNTER_NODATA"),
    0x40020500: type_row("AVERAGE_BULK", AVERAGE, None, "", AVERAGE_BASE),
    0x40030401: type_row("SAMPLE_BASE"),
    0x40030402: type_row("AVERAGE_BASE"),
    0x40030403: type_row("RAW_BASE"),
    0x40030500: type_row("LARGE_RAW_BASE"),
    0x42030500: type_row("COUNTER_MULTI_BASE"),
    0x80000000: type_row("COUNTER_HISTOGRAM_TYPE"),
}
# Other numbers of types. Some tools print this one for PERF_LARGE_RAW_BASE.
ALIASES = {0x40030503: LARGE_RAW_BASE}

# The 100 ns clock has a fixed frequency, which samples do not contain.
CLOCKS = {
    "perf": ("perf_time", "perf_freq"),
    "100ns": ("perf_time_100ns", None),
    "object": ("object_time", "object_freq"),
}
TICKS_OF_100NS = 10000000


class Refusal(Exception):
    """A status other than ok."""


# Options --------------------------------------------------------------------

# docs/formula.md describes the options.
Options = namedtuple("Options", "wrap32 per_item_inverse server_2003 generic "
                     "cap_100 clamp_0 scale")
NO_OPTIONS = Options(False, False, False, False, False, False, 0)
SCALE_LIMIT = 10


@functools.lru_cache(maxsize=None)
def read_options(text):
    """Options from text as in the column `mode` of vectors."""
    chosen = {}
    for word in text.split():
        name, equals, number = word.partition("=")
        if (name not in Options._fields or name in chosen
                or (name == "scale") != bool(equals)):
            raise ValueError("not an option: %r" % word)
        chosen[name] = int(number) if equals else True
    return NO_OPTIONS._replace(**chosen)


# Types ----------------------------------------------------------------------

def rate_form(percent, timed, inverse, multi, per_item):
    """The form of a rate with these properties, which its bits indicate."""
    def quotient(n, d, f, m):
        top, bottom = (n * f if timed else n), d
        if inverse:
            top = (m if multi else 1) * bottom - top
        if multi and (per_item or not inverse):
            bottom *= m
        return (100 * top if percent else top), bottom
    return Form(True, "time", timed, multi, quotient)


def fraction_form(delta, delta_base, percent, over_frequency):
    """The form of a fraction with these properties, which its bits indicate."""
    def quotient(n, d, f, m):
        return (100 * n if percent else n), (f * d if over_frequency else d)
    return Form(delta, "base_delta" if delta_base else "base", over_frequency,
                False, quotient)


def is_well_formed(value):
    """Whether the bits of a type of class COUNTER are consistent."""
    subtype = value >> 16 & 15
    return (value & 0xC00 == 0x400 and value & 0x0C00F0FF == 0
            and subtype <= 7 and value >> 20 & 3 != 3 and value >> 28 <= 4
            and (not value & 0x00800000 or subtype == 2)
            and (not value & 0x01000000 or subtype == 1)
            and (not value & 0x02000000 or subtype in (1, 3)))


def derive(value, per_item=False):
    """The Type that the bits of a type without a name describe, or None."""
    if not is_well_formed(value):
        return None
    display = value >> 28
    delta, delta_base = bool(value & 0x00400000), bool(value & 0x00800000)
    inverse, multi = bool(value & 0x01000000), bool(value & 0x02000000)
    clock = ("perf", "100ns", "object")[value >> 20 & 3]
    form = {
        0: DELTA if delta else RAW,
        1: rate_form(display == 2, display <= 1, inverse, multi, per_item),
        2: fraction_form(delta, delta_base, display == 2, display == 3),
        4: ELAPSED, 5: QUEUE,
        7: PRECISION_TIME if clock == "object" else FRACTION_DELTA,
    }.get(value >> 16 & 15)
    if form is None or value & 0x300 > 0x100:
        return Type("", None, None, "", None)
    return Type("", form, clock, ("", PER_SECOND, PERCENT, SECONDS,
                                  "")[display], None)


def find_type(value):
    """The Type of a named type or an alias; None for other numbers."""
    return TYPES.get(ALIASES.get(value, value))


def needs_two(kind):
    """Whether the type compares two samples."""
    form = kind.form
    return bool(form and (form.delta or form.denominator == "base_delta"))


def choose_form(value, kind, options):
    """The form of a type under the options."""
    if options.server_2003 and value == MULTI_TIMER:
        return MULTI
    if options.per_item_inverse and kind.form is MULTI_INV:
        return PER_ITEM_INV
    return kind.form


@functools.lru_cache(maxsize=65536)
def prepare(value, options):
    """What type and options determine about an evaluation."""
    kind = find_type(value)
    if kind is None and options.generic:
        kind = derive(value, options.per_item_inverse)
    status = None
    if kind is None:
        kind, status = Type("", None, None, "", None), "unknown_type"
    elif kind.form is None:
        status = "not_displayed"
    elif abs(options.scale) > SCALE_LIMIT:
        status = "bad_scale"
    kind = kind._replace(form=choose_form(value, kind, options))
    # Only values declared with 32 bits can wrap at 2**32.
    return Prepared(status, kind, needs_two(kind),
                    options.wrap32 and value & 0x300 == 0, options.wrap32)


# Inputs ---------------------------------------------------------------------

def signed64(number):
    """The 64 bits of `number`, read as two's complement."""
    return (number & (1 << 64) - 1 ^ 1 << 63) - (1 << 63)


def need(sample, key, status):
    """An input of a sample; refuses with this status if it is absent."""
    number = sample.get(key)
    if number is None:
        raise Refusal(status)
    return number


def need_clock(sample, key, status="missing_input"):
    """An input as a signed number; refuses with this status if it is absent."""
    return signed64(need(sample, key, status))


def is_dword(base_type):
    """Whether a base of this type has 32 bits; False for None."""
    return base_type is not None and base_type & 0x300 == 0


def has_small_bases(kind, older, newer):
    """Whether both bases are 32 bits wide, according to the type of each base
    or, if that is not known, to the table of types."""
    return all(is_dword(sample.get("base_type") or kind.base)
               for sample in (older, newer))


# Evaluation -----------------------------------------------------------------

# What evaluate_pdh() returns. value: a double, or None. integer: or None.
PdhResult = namedtuple("PdhResult", "status value integer flags unit")


class Result(namedtuple("Result", "status top bottom flags unit")):
    """A status; with the status ok, the value is top / bottom."""

    __slots__ = ()

    @property
    def exact(self):
        """The value as a fraction, or None."""
        return None if self.top is None else Fraction(self.top, self.bottom)

    @property
    def value(self):
        """The value as a double; a quotient of integers is rounded once."""
        return None if self.top is None else self.top / self.bottom


def refused(status, unit):
    """A result without a value."""
    return Result(status, None, None, [], unit)


def subtract(older, newer, wraps, flags):
    """newer - older. If `wraps`, values below 2**32 that fell have wrapped."""
    if newer < older < 1 << 32 and wraps:
        flags.add("wrapped")
        newer += 1 << 32
    return newer - older


def read_clocks(prepared, older, newer):
    """The time (dT or T) and the frequency F, if the form uses them."""
    form, clock = prepared.type.form, prepared.type.clock
    time = frequency = None
    if form is ELAPSED:
        time = need_clock(newer, CLOCKS[clock][0])
    elif form.denominator == "time":
        key = CLOCKS[clock][0]
        time = need_clock(newer, key) - need_clock(older, key)
    if form.frequency:
        key = CLOCKS[clock][1]
        frequency = need_clock(newer, key) if key else TICKS_OF_100NS
    return time, frequency


def read_bases(prepared, older, newer, flags):
    """The denominator B or dB, or dT where it replaces dB; None if the form uses
    no base."""
    name, key = prepared.type.form.denominator, "base"
    if name == "base":
        return need(newer, key, "missing_base")
    if name not in ("base_delta", "base_or_time"):
        return None
    if (name == "base_or_time"
            and None in (older.get(key), newer.get(key))):
        key = CLOCKS[prepared.type.clock][0]
        return (need_clock(newer, key, "missing_base")
                - need_clock(older, key, "missing_base"))
    wraps = prepared.base_wraps and has_small_bases(prepared.type, older,
                                                    newer)
    return subtract(need(older, key, "missing_base"),
                    need(newer, key, "missing_base"), wraps, flags)


def raw_part(prepared, values, time, flags):
    """N, dN or T - N, which must not be negative."""
    if prepared.type.form is ELAPSED:
        if values[-1] == 0:
            raise Refusal("no_data")
        number = time - values[-1]
    elif prepared.type.form.delta:
        number = subtract(*values, prepared.wraps, flags)
    else:
        number = values[-1]
    if number < 0:
        raise Refusal("negative_delta")
    return number


def read_inputs(prepared, older, newer, flags):
    """N, D, F and M of the form's quotient, None where it has none; refuses in
    the order of docs/formula.md."""
    form = prepared.type.form
    # First check that all inputs are present ...
    values = [need(sample, "value", "missing_input") for sample in
              ((older, newer) if form.delta else (newer,))]
    time, frequency = read_clocks(prepared, older, newer)
    denominator = read_bases(prepared, older, newer, flags)
    items = need(newer, "multi", "missing_base") if form.items else None
    # ... then the raw value and the denominator.
    number = raw_part(prepared, values, time, flags)
    if frequency is not None and frequency <= 0:
        raise Refusal("bad_frequency")
    if items == 0:
        raise Refusal("zero_base")
    if form.denominator == "time":
        denominator = time
    if denominator == 0:
        raise Refusal("zero_base" if form.denominator == "base"
                      else "zero_denominator")
    if denominator is not None and denominator < 0:
        raise Refusal("negative_denominator")
    return number, denominator, frequency, items


def limit(top, bottom, unit, options, flags):
    """(numerator, denominator) after limits and scale; sets flags."""
    if unit == PERCENT and top > 100 * bottom:
        flags.add("above_100")
        if options.cap_100:
            top, bottom = 100, 1
    if top < 0:
        flags.add("below_zero")
        if options.clamp_0:
            top = 0
    if options.scale > 0:
        top *= 10 ** options.scale
    elif options.scale < 0:
        bottom *= 10 ** -options.scale
    return top, bottom


def prepare_inputs(older, newer, options, flags):
    """(Prepared, status, inputs), where `inputs` is that of read_inputs() if the
    status is ok; sets flags."""
    prepared = prepare(newer.get("type"), options)
    if prepared.status:
        return prepared, prepared.status, None
    if prepared.needs_two and older is None:
        return prepared, "need_two_samples", None
    if older is not None and older.get("type") != newer["type"]:
        return prepared, "type_mismatch", None
    try:
        return prepared, "ok", read_inputs(prepared, older, newer, flags)
    except Refusal as refusal:
        return prepared, str(refusal), None


def evaluate(older, newer, options=NO_OPTIONS):
    """The Result of one counter; `older` may be None."""
    flags = set()
    prepared, status, inputs = prepare_inputs(older, newer, options, flags)
    unit = prepared.type.unit
    if inputs is None:
        return refused(status, unit)
    top, bottom = limit(*prepared.type.form.quotient(*inputs), unit, options,
                        flags)
    return Result("ok", top, bottom, sorted(flags), unit)


def evaluate_pdh(older, newer, options=NO_OPTIONS):
    """The PdhResult of one counter of a named type in PDH's order of operations;
    `older` may be None."""
    flags = set()
    prepared, status, inputs = prepare_inputs(older, newer, options, flags)
    unit, form = prepared.type.unit, prepared.type.form
    if inputs is None:
        return PdhResult(status, None, None, [], unit)
    value = float(PDH_ORDER[form](*(None if number is None else float(number)
                                    for number in inputs)))
    if unit == PERCENT and value > 100:
        flags.add("above_100")
        value = 100.0 if options.cap_100 else value
    if value < 0:
        flags.add("below_zero")
        value = 0.0 if options.clamp_0 else value
    if options.scale > 0:
        value *= 10.0 ** options.scale
    elif options.scale < 0:
        value *= 1 / 10.0 ** -options.scale
    is_small = 0 <= value < 1 << 53 and value == int(value)
    integer = int(value) if is_small else None
    if form is RAW and options.scale == 0:  # a raw count stays an integer
        integer = inputs[0]
    return PdhResult("ok", value, integer, sorted(flags), unit)


# PDH's form -----------------------------------------------------------------

PdhRaw = namedtuple("PdhRaw", "status first second multi time_base")
PDH_INVALID = 0xC0000BBA
PDH_CLOCKS = ("perf", "100ns", "object", None)


def pdh_second(kind, sample):
    """The second value of a sample in PDH's form; None if it is absent."""
    form = kind.form if kind else None
    if form is ELAPSED or form and form.denominator == "time":
        return sample.get(CLOCKS[kind.clock][0])
    if form and form.denominator == "base_or_time":
        return sample.get("base", sample.get(CLOCKS[kind.clock][0]))
    if form and form.denominator in ("base", "base_delta"):
        return sample.get("base")
    return 0


def pdh_raw(sample):
    """A sample as PDH_RAW_COUNTER has it; numbers are unsigned."""
    kind = find_type(sample["type"]) or derive(sample["type"])
    clock = PDH_CLOCKS[sample["type"] >> 20 & 3]
    time_base = 0
    if clock:
        key = CLOCKS[clock][1]
        time_base = sample.get(key, 0) if key else TICKS_OF_100NS
    multi = 1
    if kind and kind.form and kind.form.items:
        multi = sample.get("multi")
    pair = (sample.get("value"), pdh_second(kind, sample), multi)
    status = 0
    if None in pair or multi >= 1 << 32:
        status, pair = PDH_INVALID, (0, 0, 0)
    first, second, multi = pair
    return PdhRaw(status, first, second & (1 << 64) - 1, multi,
                  time_base & (1 << 64) - 1)


# Vectors --------------------------------------------------------------------

INPUTS = ("value", "base", "multi", "perf_time", "perf_time_100ns",
          "object_time", "perf_freq", "object_freq")
EXPECTED = ("status", "flags", "unit", "exact", "value", "bits", "integer")
COLUMNS = (("id", "type", "mode", "type0", "base_type0")
           + tuple(name + "0" for name in INPUTS) + ("base_type1",)
           + tuple(name + "1" for name in INPUTS)
           + tuple("expected_" + name for name in EXPECTED)
           + ("published", "within", "why", "source"))


def read_type(text):
    """The number of a type from its number or name in a cell."""
    for value, kind in TYPES.items():
        if text == kind.name:
            return value
    return int(text, 0)


def read_sample(row, suffix):
    """The sample in the cells with this suffix; None if there is none."""
    keys = ("base_type",) + INPUTS
    sample = {key: int(row[key + suffix], 0) for key in keys
              if row[key + suffix]}
    kind = row["type0"] if suffix == "0" else ""
    if suffix == "0" and not sample and not kind:
        return None
    sample["type"] = read_type(kind or row["type"])
    return sample


def evaluate_row(row):
    """The Result of a row of vectors, a dict of texts."""
    return evaluate(read_sample(row, "0"), read_sample(row, "1"),
                    read_options(row["mode"]))


def double_bits(number):
    """A double as 16 hexadecimal digits."""
    return struct.pack(">d", number).hex().upper()


def expected_cells(result):
    """The texts of a Result or a PdhResult, in the order of EXPECTED."""
    if isinstance(result, PdhResult):
        status, value, integer, flags, unit = result
        if value is None:
            return [status, "", unit, "", "", "", ""]
        return [status, " ".join(flags), unit, str(Fraction(value)),
                repr(value), double_bits(value),
                "" if integer is None else str(integer)]
    status, top, bottom, flags, unit = result
    if top is None:
        return [status, "", unit, "", "", "", ""]
    value, common = top / bottom, math.gcd(top, bottom)
    exact = str(top // common)
    integer = exact if bottom == common and 0 <= top < bottom << 64 else ""
    if bottom != common:
        exact += "/%d" % (bottom // common)
    return [status, " ".join(flags), unit, exact, repr(value),
            double_bits(value), integer]


def row_problem(row):
    """The difference between a row's evaluation and its expectations, or None.
    """
    result = evaluate_row(row)
    for name, cell in zip(EXPECTED, expected_cells(result)):
        if cell != row["expected_" + name]:
            return "%s %s, expected %s" % (name, cell, row["expected_" + name])
    if row["published"] and abs(result.exact - Fraction(
            row["published"])) > Fraction(row["within"]):
        return "%r is not the published %s" % (result.value, row["published"])
    return None


def json_row(vector):
    """The inputs of a JSON vector as a row. Its expectations have another
    format; json_problem() compares them."""
    row = dict.fromkeys(COLUMNS, "")
    row["id"], row["mode"] = vector["id"], vector.get("mode") or ""
    row["type"] = str(vector["type_value"])
    kind = find_type(vector["type_value"])
    time, frequency = CLOCKS[kind and kind.clock or "perf"]
    names = {"time": time, "frequency": frequency}
    # The last sample is the newer one, which has the suffix 1.
    samples = dict(zip("10", vector["samples"][::-1]))
    for suffix, fields in samples.items():
        for key, text in fields.items():
            key = "type" if key == "type_value" else names.get(key, key)
            if key and key + suffix in row:
                row[key + suffix] = text
    return row


def json_problem(vector):
    """The difference between a JSON vector's evaluation and its expectations, or
    None."""
    result, expected = evaluate_row(json_row(vector)), vector["expected"]
    if result.status != expected["status"]:
        return "status %s, expected %s" % (result.status, expected["status"])
    for key in ("exact", "uint"):
        if key in expected and Fraction(expected[key]) != result.exact:
            return "%s %s, expected %s" % (key, result.exact, expected[key])
    return None


def read_vectors(path):
    """(id, problem or None) of each vector of a file."""
    with open(path, encoding="utf-8", newline="") as file:
        if path.endswith(".json"):
            for vector in json.load(file)["vectors"]:
                yield vector["id"], json_problem(vector)
            return
        rows = csv.DictReader(file)
        if tuple(rows.fieldnames or ()) != COLUMNS:
            raise ValueError("%s has other columns" % path)
        for row in rows:
            yield row["id"], row_problem(row)


def self_test(paths):
    """Evaluates all vectors of the files; returns 0 if all agree and there is
    at least one."""
    passed = failed = 0
    for path in paths:
        for ident, problem in read_vectors(path):
            if problem:
                failed += 1
                print("%s: %s" % (ident, problem))
            else:
                passed += 1
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed or not passed else 0


def main(arguments):
    """Command line."""
    if len(arguments) < 2 or arguments[0] != "--self-test":
        print(__doc__, file=sys.stderr)
        return 2
    return self_test(arguments[1:])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
