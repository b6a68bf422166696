# SPDX-License-Identifier: MIT
"""Common part of the writers of formula vectors: cases, default samples, rows.

A case is one or two samples with options and a reason. A row is a case with
the result of the exact evaluator (tests/oracle/formula.py), as a line of the
format in corpus/formula/README.md.
"""

import pathlib
import sys
from collections import namedtuple

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "oracle"))
import formula  # noqa: E402  pylint: disable=wrong-import-position

# tag: part of the identifier. older: None if there is one sample. decision:
# the decision that the expectation depends on, as corpus/formula/README.md
# names it; if it is empty, decision_of() derives it.
Case = namedtuple("Case", "tag older newer why mode decision",
                  defaults=("", ""))

HEADER = ",".join(formula.COLUMNS) + "\n"
KEYS = formula.INPUTS
NO_SAMPLE = [""] * (2 + len(KEYS))

TWO31, TWO32, TWO53 = 1 << 31, 1 << 32, 1 << 53
TWO63, TWO64 = 1 << 63, 1 << 64
INT64_MIN, INT64_MAX = -TWO63, TWO63 - 1

POWERS = {1 << power: "2^%d" % power for power in (31, 32, 53, 54, 63, 64)}

# Statuses of results that Microsoft's pages leave open; each is a decision.
DECIDED = ("zero_denominator", "negative_denominator", "bad_frequency",
           "zero_base", "no_data", "unknown_type")

# Programs differ in values outside of 0 to 100 %.
LIMITS = {"above_100": "no cap", "below_zero": "no clamp"}


def spell(number):
    """A number in readable form: 2^53+1 instead of sixteen digits."""
    sign, size = ("-", -number) if number < 0 else ("", number)
    for step in range(-4, 5):
        if size - step in POWERS:
            text = POWERS[size - step] + ("%+d" % step if step else "")
            return "-(%s)" % text if sign and step else sign + text
    return str(number)


def is_large(kind):
    """Whether raw values of the type have 8 bytes."""
    return kind & 0x300 == 0x100


def short_name(kind):
    """The name of a type in identifiers: without prefix, or its number."""
    known = formula.find_type(kind)
    return known.name[5:].lower() if known else "0x%08x" % kind


# Samples ---------------------------------------------------------------------

def usual_samples(kind):
    """Two samples with every input, and without extreme values.

    The three clocks advance by different numbers of ticks, so that they cannot
    be confused: 1 s, 1.0000321 s and 1 s at frequencies of their own.
    """
    older = {"type": kind, "value": 1000, "base": 700, "multi": 4,
             "perf_time": 5000000, "perf_time_100ns": 133000000000000000,
             "object_time": 70000, "perf_freq": 3579545, "object_freq": 1000}
    newer = {"type": kind, "value": 1750, "base": 1900, "multi": 4,
             "perf_time": 8579545, "perf_time_100ns": 133000000010000321,
             "object_time": 71000, "perf_freq": 3579545, "object_freq": 1000}
    return older, newer


def vary(kind, older=None, **newer):
    """The default samples with some inputs replaced."""
    first, second = usual_samples(kind)
    first.update(older or {})
    second.update(newer)
    return first, second


def clock_of(kind):
    """The keys of the clock that a type uses: time and frequency, or None."""
    clock = formula.find_type(kind).clock
    return formula.CLOCKS[clock] if clock else (None, None)


def divider(kind, amount):
    """Older and newer inputs that make `amount` the divisor: dT, dB or B; none
    if the formula has no such divisor."""
    known = formula.find_type(kind) or formula.derive(kind)
    below = known.form.denominator
    if below == "time":
        key = formula.CLOCKS[known.clock][0]
        if amount <= INT64_MAX:
            return {key: 0}, {key: amount}
        return {key: INT64_MIN}, {key: amount + INT64_MIN}
    if below == "base":
        return {}, {"base": amount}
    return ({"base": 0}, {"base": amount}) if below else ({}, {})


# Rows ------------------------------------------------------------------------

def sample_cells(sample):
    """Type of the base, then the inputs."""
    base_type = sample.get("base_type")
    cells = ["0x%08X" % base_type if base_type else ""]
    cells += ["" if number is None else str(number)
              for number in map(sample.get, KEYS)]
    return cells


def older_cells(older, newer):
    """The older sample's type if it must be given, then its cells."""
    if older is None:
        return NO_SAMPLE
    cells = sample_cells(older)
    # If all other cells are empty, only its type shows that there is a sample.
    if older["type"] == newer["type"] and any(cells):
        return [""] + cells
    return ["0x%08X" % older["type"]] + cells


def quoted(text):
    """A cell with arbitrary content."""
    if any(mark in text for mark in ',"\n'):
        return '"%s"' % text.replace('"', '""')
    return text


def row_text(ident, mode, samples, result, last):
    """One line; `last` are the cells after the expectations."""
    older, newer = samples
    return ",".join([ident, "0x%08X" % newer["type"], mode]
                    + older_cells(older, newer) + sample_cells(newer)
                    + formula.expected_cells(result) + last) + "\n"


def decision_of(case, result):
    """The decision that an expectation depends on, or empty."""
    kind = case.newer["type"]
    if case.decision:
        return case.decision
    if case.mode:
        return "options"
    if result.status in DECIDED:
        return result.status
    known = formula.find_type(kind)
    if known.form is formula.ELAPSED and result.status == "negative_delta":
        return "elapsed time before its start"
    if known.form and known.form.items and result.status == "ok":
        return "form of the multi timers"
    return LIMITS.get(result.flags[0], "") if result.flags else ""


class Suite:
    """Rows of several files; no two have the same inputs."""

    def __init__(self):
        self.seen = set()

    def is_new(self, cells):
        """Whether these input cells occur for the first time."""
        cells = tuple(cells)
        if cells in self.seen:
            return False
        self.seen.add(cells)
        return True

    def rows(self, name, cases):
        """The lines of one file, without cases that occurred before."""
        yield HEADER
        numbers = {}
        for case in cases:
            inputs = [case.mode, case.newer["type"]]
            inputs += older_cells(case.older, case.newer)
            if not self.is_new(inputs + sample_cells(case.newer)):
                continue
            ident = "%s-%s-%s" % (name, case.tag,
                                  short_name(case.newer["type"]))
            numbers[ident] = numbers.get(ident, 0) + 1
            result = formula.evaluate(case.older, case.newer,
                                      formula.read_options(case.mode))
            source = "exact rational arithmetic"
            decision = decision_of(case, result)
            if decision:
                source += "; decision: " + decision
            yield row_text("%s-%d" % (ident, numbers[ident]), case.mode,
                           (case.older, case.newer), result,
                           ["", "", quoted(case.why), quoted(source)])
