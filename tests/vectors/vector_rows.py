# SPDX-License-Identifier: MIT
"""What the writers of formula vectors share: cases, usual samples, rows.

A case is a pair of samples under a mode, with the reason why it is there.  A
row is a case with what the exact evaluator (tests/oracle/formula.py) makes of
it, as a line of the format that corpus/formula/README.md describes.
"""

import pathlib
import sys
from collections import namedtuple

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "oracle"))
import formula  # noqa: E402  pylint: disable=wrong-import-position

# tag: part of the identifier.  decision: what of docs/formula.md the
# expectation rests on beyond documented facts, or empty.
Case = namedtuple("Case", "tag older newer why mode decision",
                  defaults=("", ""))

HEADER = ",".join(formula.COLUMNS) + "\n"
KEYS = formula.INPUTS
NO_SAMPLE = [""] * (2 + len(KEYS))

TWO31, TWO32, TWO53 = 1 << 31, 1 << 32, 1 << 53
TWO63, TWO64 = 1 << 63, 1 << 64
LEAST, MOST = -TWO63, TWO63 - 1

POWERS = {1 << power: "2^%d" % power for power in (31, 32, 53, 54, 63, 64)}

# Statuses that no document fixes; each is a decision on its own.
DECIDED = ("zero_denominator", "negative_denominator", "bad_frequency",
           "zero_base", "no_data", "unknown_type")

# Nor does every program give what lies outside of 0 to 100 %.
LIMITS = {"above_100": "no cap", "below_zero": "no clamp"}


def spell(number):
    """A number as people read it: 2^53+1 rather than its sixteen digits."""
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
    """A type in an identifier: its name without prefix, or its number."""
    known = formula.find_type(kind)
    return known.name[5:].lower() if known else "0x%08x" % kind


# Samples ---------------------------------------------------------------------

def usual_samples(kind):
    """Two samples with every input there, nothing of it extreme.

    The three clocks run for different times, so that none can be taken for
    another: 1 s, 1.0000321 s and 1 s at frequencies of their own.
    """
    older = {"type": kind, "value": 1000, "base": 700, "multi": 4,
             "perf_time": 5000000, "perf_time_100ns": 133000000000000000,
             "object_time": 70000, "perf_freq": 3579545, "object_freq": 1000}
    newer = {"type": kind, "value": 1750, "base": 1900, "multi": 4,
             "perf_time": 8579545, "perf_time_100ns": 133000000010000321,
             "object_time": 71000, "perf_freq": 3579545, "object_freq": 1000}
    return older, newer


def vary(kind, older=None, **newer):
    """The usual samples with some inputs replaced."""
    first, second = usual_samples(kind)
    first.update(older or {})
    second.update(newer)
    return first, second


def clock_of(kind):
    """The keys of the clock a type reads: time and frequency, or None."""
    clock = formula.find_type(kind).clock
    return formula.CLOCKS[clock] if clock else (None, None)


def divider(kind, amount):
    """Older and newer inputs that put `amount` below the line: dT, dB or B."""
    known = formula.find_type(kind) or formula.derive(kind)
    below = known.form.below
    if below == "time":
        key = formula.CLOCKS[known.clock][0]
        if amount <= MOST:
            return {key: 0}, {key: amount}
        return {key: LEAST}, {key: amount + LEAST}
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
    """The older sample's type where it must be given, then its cells."""
    if older is None:
        return NO_SAMPLE
    cells = sample_cells(older)
    # Without another cell, only its type shows that there is a sample.
    if older["type"] == newer["type"] and any(cells):
        return [""] + cells
    return ["0x%08X" % older["type"]] + cells


def quoted(text):
    """A cell that may hold anything."""
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
    """What an expectation rests on, where that is not a documented fact."""
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
    """Rows of several files, none of which has the inputs of another."""

    def __init__(self):
        self.seen = set()

    def is_new(self, cells):
        """Whether these input cells come for the first time."""
        cells = tuple(cells)
        if cells in self.seen:
            return False
        self.seen.add(cells)
        return True

    def rows(self, name, cases):
        """The lines of one file; a case that was there before is left out."""
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
