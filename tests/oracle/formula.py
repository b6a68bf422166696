# SPDX-License-Identifier: MIT
"""Counter formulas, exactly: samples in, a fraction or a named status out.

A sample is a dict with the keys type, value, base, multi, perf_time,
perf_time_100ns, object_time, perf_freq, object_freq; a key that is missing or
None is an input that is absent.  No floating point is used until the very end,
where the exact result is rounded once.
"""

import json
import sys
from collections import namedtuple
from fractions import Fraction

Type = namedtuple("Type", "name form clock unit")
Form = namedtuple("Form", "delta denominator frequency multi compute")
Result = namedtuple("Result", "status exact value flags unit")

# What each form needs, and its quotient.  n: the raw value, or its difference
# where `delta`; d: the denominator (a difference too where `delta`); f: ticks
# per second; m: item count.  All arguments are Fractions.
FORMS = {
    "none": None,
    "raw": Form(False, None, False, False, lambda n, d, f, m: n),
    "delta": Form(True, None, False, False, lambda n, d, f, m: n),
    "rate": Form(True, "clock", True, False, lambda n, d, f, m: n / (d / f)),
    "queue": Form(True, "clock", False, False, lambda n, d, f, m: n / d),
    "timer": Form(True, "clock", False, False, lambda n, d, f, m: 100 * n / d),
    "timer_inv": Form(True, "clock", False, False,
                      lambda n, d, f, m: 100 * (1 - n / d)),
    "multi_rate": Form(True, "clock", True, True,
                       lambda n, d, f, m: 100 * (n / (d / f)) / m),
    "multi": Form(True, "clock", False, True,
                  lambda n, d, f, m: 100 * (n / d) / m),
    "multi_inv": Form(True, "clock", False, True,
                      lambda n, d, f, m: 100 * (m - n / d)),
    "fraction": Form(False, "base", False, False,
                     lambda n, d, f, m: 100 * n / d),
    "fraction_delta": Form(True, "base", False, False,
                           lambda n, d, f, m: 100 * n / d),
    # The one type whose denominator has two possible sources.
    "precision_object": Form(True, "base_or_clock", False, False,
                             lambda n, d, f, m: 100 * n / d),
    "average": Form(True, "base", False, False, lambda n, d, f, m: n / d),
    "average_time": Form(True, "base", True, False,
                         lambda n, d, f, m: n / f / d),
    # n is already the object's time minus the raw value.
    "elapsed": Form(False, None, True, False, lambda n, d, f, m: n / f),
}

PERCENT, PER_SECOND, SECONDS = "%", "/sec", "sec"

TYPES = {
    0x00000000: Type("PERF_COUNTER_RAWCOUNT_HEX", "raw", None, ""),
    0x00000100: Type("PERF_COUNTER_LARGE_RAWCOUNT_HEX", "raw", None, ""),
    0x00000B00: Type("PERF_COUNTER_TEXT", "none", None, ""),
    0x00010000: Type("PERF_COUNTER_RAWCOUNT", "raw", None, ""),
    0x00010100: Type("PERF_COUNTER_LARGE_RAWCOUNT", "raw", None, ""),
    0x00400400: Type("PERF_COUNTER_DELTA", "delta", None, ""),
    0x00400500: Type("PERF_COUNTER_LARGE_DELTA", "delta", None, ""),
    0x00410400: Type("PERF_SAMPLE_COUNTER", "rate", "perf", ""),
    0x00450400: Type("PERF_COUNTER_QUEUELEN_TYPE", "queue", "perf", ""),
    0x00450500: Type("PERF_COUNTER_LARGE_QUEUELEN_TYPE", "queue", "perf", ""),
    0x00550500: Type("PERF_COUNTER_100NS_QUEUELEN_TYPE", "queue", "100ns", ""),
    0x00650500: Type("PERF_COUNTER_OBJ_TIME_QUEUELEN_TYPE", "queue", "object",
                     ""),
    0x10410400: Type("PERF_COUNTER_COUNTER", "rate", "perf", PER_SECOND),
    0x10410500: Type("PERF_COUNTER_BULK_COUNT", "rate", "perf", PER_SECOND),
    0x20020400: Type("PERF_RAW_FRACTION", "fraction", None, PERCENT),
    0x20020500: Type("PERF_LARGE_RAW_FRACTION", "fraction", None, PERCENT),
    0x20410500: Type("PERF_COUNTER_TIMER", "timer", "perf", PERCENT),
    0x20470500: Type("PERF_PRECISION_SYSTEM_TIMER", "fraction_delta", None,
                     PERCENT),
    0x20510500: Type("PERF_100NSEC_TIMER", "timer", "100ns", PERCENT),
    0x20570500: Type("PERF_PRECISION_100NS_TIMER", "fraction_delta", None,
                     PERCENT),
    0x20610500: Type("PERF_OBJ_TIME_TIMER", "timer", "object", PERCENT),
    0x20670500: Type("PERF_PRECISION_OBJECT_TIMER", "precision_object",
                     "object", PERCENT),
    0x20C20400: Type("PERF_SAMPLE_FRACTION", "fraction_delta", None, PERCENT),
    0x21410500: Type("PERF_COUNTER_TIMER_INV", "timer_inv", "perf", PERCENT),
    0x21510500: Type("PERF_100NSEC_TIMER_INV", "timer_inv", "100ns", PERCENT),
    0x22410500: Type("PERF_COUNTER_MULTI_TIMER", "multi_rate", "perf",
                     PERCENT),
    0x22510500: Type("PERF_100NSEC_MULTI_TIMER", "multi", "100ns", PERCENT),
    0x23410500: Type("PERF_COUNTER_MULTI_TIMER_INV", "multi_inv", "perf",
                     PERCENT),
    0x23510500: Type("PERF_100NSEC_MULTI_TIMER_INV", "multi_inv", "100ns",
                     PERCENT),
    0x30020400: Type("PERF_AVERAGE_TIMER", "average_time", None, SECONDS),
    0x30240500: Type("PERF_ELAPSED_TIME", "elapsed", "object", SECONDS),
    0x40000200: Type("PERF_COUNTER_NODATA", "none", None, ""),
    0x40020500: Type("PERF_AVERAGE_BULK", "average", None, ""),
    0x40030401: Type("PERF_SAMPLE_BASE", "none", None, ""),
    0x40030402: Type("PERF_AVERAGE_BASE", "none", None, ""),
    0x40030403: Type("PERF_RAW_BASE", "none", None, ""),
    0x40030500: Type("PERF_LARGE_RAW_BASE", "none", None, ""),
    0x42030500: Type("PERF_COUNTER_MULTI_BASE", "none", None, ""),
    0x80000000: Type("PERF_COUNTER_HISTOGRAM_TYPE", "none", None, ""),
}
# A value some tools print for the large base; it is nobody's formula.
ALIASES = {0x40030503: 0x40030500}

CLOCK_KEYS = {
    "perf": ("perf_time", "perf_freq"),
    "100ns": ("perf_time_100ns", "perf_freq"),
    "object": ("object_time", "object_freq"),
}


class Refusal(Exception):
    """A status other than ok, carried out of the evaluation."""


def find_type(value):
    """The Type of a 32-bit type value, aliases included, or None."""
    return TYPES.get(ALIASES.get(value, value))


def needs_two(kind):
    """Whether the type compares two samples."""
    form = FORMS[kind.form]
    return bool(form and form.delta)


def unsigned64(number):
    """The 64 bits of `number`, read as unsigned."""
    return number & (1 << 64) - 1


def signed64(number):
    """The 64 bits of `number`, read as two's complement."""
    return (unsigned64(number) ^ 1 << 63) - (1 << 63)


def require(samples, key, status, read):
    """The readings of `key`, one per sample; refuse if any is absent."""
    readings = [sample.get(key) for sample in samples]
    if None in readings:
        raise Refusal(status)
    return [read(reading) for reading in readings]


def denominators(kind, form, samples):
    """The readings below the line, one per sample, or None."""
    if form.denominator is None:
        return None
    if form.denominator == "clock":
        key = CLOCK_KEYS[kind.clock][0]
        return require(samples, key, "missing_input", signed64)
    paired = all(sample.get("base") is not None for sample in samples)
    if form.denominator == "base_or_clock" and not paired:
        return require(samples, "object_time", "missing_base", signed64)
    return require(samples, "base", "missing_base", unsigned64)


def difference(older, newer, wraps, flags):
    """Newer minus older of a raw value; a fall is refused or unwrapped."""
    delta = newer - older
    if delta < 0 and wraps:
        delta += 1 << 32
        flags.append("wrapped")
    if delta < 0:
        raise Refusal("negative_delta")
    return delta


def elapsed_ticks(value, now):
    """Ticks between the start in `value` and `now`."""
    if value == 0:
        raise Refusal("no_data")
    if now < value:
        raise Refusal("negative_delta")
    return now - value


def check_denominator(delta, amount):
    """Refuse what cannot be divided by."""
    if amount == 0:
        raise Refusal("zero_denominator" if delta else "zero_base")
    if amount < 0:
        raise Refusal("negative_denominator")


def compute(kind, samples, wraps, flags):
    """The exact value; `samples` holds the newest last.  Raises Refusal."""
    form, newest = FORMS[kind.form], samples[-1:]
    # First everything that must be there ...
    values = require(samples, "value", "missing_input", unsigned64)
    frequency = count = now = None
    if kind.form == "elapsed":
        now, = require(newest, "object_time", "missing_input", signed64)
    if form.frequency:
        key = CLOCK_KEYS[kind.clock or "perf"][1]
        frequency, = require(newest, key, "missing_input", signed64)
    below = denominators(kind, form, samples)
    if form.multi:
        count, = require(newest, "multi", "missing_base", unsigned64)
    # ... then the raw value, and what divides it.
    top = values[-1]
    if kind.form == "elapsed":
        top = elapsed_ticks(top, now)
    elif form.delta:
        top = difference(values[0], values[-1], wraps, flags)
    if frequency is not None and frequency <= 0:
        raise Refusal("bad_frequency")
    amount = None
    if below is not None:
        amount = below[-1] - below[0] if form.delta else below[-1]
        check_denominator(form.delta, amount)
    if count == 0:
        raise Refusal("zero_base")
    return form.compute(*(None if x is None else Fraction(x)
                          for x in (top, amount, frequency, count)))


def prepare(older, newer):
    """The type and the samples its formula uses.  Raises Refusal."""
    kind = find_type(newer.get("type"))
    if kind is None:
        raise Refusal("unknown_type")
    if kind.form == "none":
        raise Refusal("not_displayed")
    if needs_two(kind) and older is None:
        raise Refusal("need_two_samples")
    if older is not None and older.get("type") != newer["type"]:
        raise Refusal("type_mismatch")
    return kind, [older, newer] if needs_two(kind) else [newer]


def evaluate(older, newer, mode=None):
    """Evaluate one counter; `older` may be None, `mode` None or "wrap32"."""
    if mode not in (None, "wrap32"):
        raise ValueError("unknown mode: %r" % (mode,))
    known = find_type(newer.get("type"))
    unit, flags = known.unit if known else "", []
    # Only a counter that is 32 bits wide by its type can wrap at 2**32.
    wraps = mode == "wrap32" and bool(known) and not newer["type"] & 0x300
    try:
        kind, samples = prepare(older, newer)
        exact = compute(kind, samples, wraps, flags)
    except Refusal as refusal:
        return Result(str(refusal), None, None, [], unit)
    if unit == PERCENT and exact > 100:
        flags.append("above_100")
    if exact < 0:
        flags.append("below_zero")
    return Result("ok", exact, float(exact), flags, unit)


# Vectors ------------------------------------------------------------------

def read_sample(fields, type_value):
    """A sample of the vectors' format; its integers are decimal strings."""
    numbers = {key: int(text) for key, text in fields.items()}
    sample = {"type": numbers.pop("type_value", type_value)}
    kind = find_type(type_value)
    time_key, freq_key = CLOCK_KEYS[kind and kind.clock or "perf"]
    if "time" in numbers:
        sample[time_key] = numbers.pop("time")
    if "frequency" in numbers:
        sample[freq_key] = numbers.pop("frequency")
    sample.update(numbers)
    return sample


def difference_from(expected, tolerance, result):
    """What is wrong with `result`, or None."""
    if result.status != expected["status"]:
        return "status %s, expected %s" % (result.status, expected["status"])
    if result.status != "ok":
        return None
    for key in ("exact", "uint"):
        if key in expected and Fraction(expected[key]) != result.exact:
            return "%s %s, expected %s" % (key, result.exact, expected[key])
    slack = max(tolerance.get("abs", 0.0),
                tolerance.get("rel", 0.0) * abs(expected["value"]))
    if abs(result.value - expected["value"]) > slack:
        return "value %r, expected %r" % (result.value, expected["value"])
    return None


def run_vector(vector):
    """What is wrong with the evaluation of one vector, or None."""
    samples = [read_sample(fields, vector["type_value"])
               for fields in vector["samples"]]
    older = samples[-2] if len(samples) > 1 else None
    result = evaluate(older, samples[-1], vector.get("mode"))
    known = find_type(vector["type_value"])
    if known and known.name != vector["type"]:
        return "type %s, expected %s" % (known.name, vector["type"])
    return difference_from(vector["expected"], vector.get("tolerance", {}),
                           result)


def self_test(path):
    """Run all vectors of a file; 0 when every one agrees."""
    with open(path, encoding="utf-8") as file:
        vectors = json.load(file)["vectors"]
    wrong = 0
    for vector in vectors:
        problem = run_vector(vector)
        if problem:
            wrong += 1
            print("%s: %s" % (vector["id"], problem))
    print("%d passed, %d failed" % (len(vectors) - wrong, wrong))
    return 1 if wrong or not vectors else 0


def main(arguments):
    """Command line."""
    if len(arguments) != 2 or arguments[0] != "--self-test":
        print("usage: formula.py --self-test VECTORS.json", file=sys.stderr)
        return 2
    return self_test(arguments[1])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
