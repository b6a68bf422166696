# SPDX-License-Identifier: MIT
"""Writes CPI hooks (docs/cpi.md) from counts.

Fields are those of the counts unless a keyword argument overrides them, which
is how broken streams are made.
"""

import struct
from fractions import Fraction

LABEL, SUMMARY, SYSTEM, PROCESSORS, THREAD, LABEL_END = 0, 1, 8, 4, 2, 15
RAW, SCALED, WITH_THREAD = 1, 2, 4
NONE = 0xFFFFFFFF
UNDEFINED = (NONE, NONE)


def figure(numerator, denominator):
    """The two words of a figure, rounded half up to 4 decimal places."""
    if denominator == 0:
        return UNDEFINED
    units = int(Fraction(10000 * numerator, denominator) + Fraction(1, 2))
    return UNDEFINED if units // 10000 >= NONE else divmod(units, 10000)


def percent(part, whole):
    """The two words of a percentage."""
    return figure(100 * part, whole)


def long(value):
    """The two words of a 64-bit number, high word first."""
    return value >> 32, value & 0xFFFFFFFF


def record(kind, data, minor=1, stamp=0, **other):
    """A hook with these bytes after its header. `other` may override fields of
    the header: length, type, major, and word, which has kind and minor."""
    mixed = kind in (LABEL, LABEL_END)
    length = other.get("length", 12 + len(data))
    return struct.pack(
        "<HHII", length | other.get("type", 2 if mixed else 0),
        other.get("major", 0xC0), other.get("word", kind << 28 | minor),
        stamp) + data


def words(kind, values, **options):
    """A hook with these words after its header."""
    values = list(values)
    return record(kind, struct.pack("<%dI" % len(values), *values), **options)


def label(text, elapsed, kind=LABEL, **options):
    """A label hook; `options` are those of record(), integers, size, padding."""
    data = struct.pack("<4I", options.pop("integers", 2), *long(elapsed),
                       options.pop("size", len(text)))
    padding = options.pop("padding", bytes(-len(text) % 4))
    return record(kind, data + text + padding, **options)


class Counts:
    """The counts of one CPU, the system or a thread."""

    def __init__(self, instr, cycles, scaled=0, busy=0, elapsed=0):
        self.instr, self.cycles, self.scaled = instr, cycles, scaled
        self.busy, self.elapsed = busy, elapsed

    def cpi(self):
        """The words of cycles per instruction."""
        return figure(self.cycles, self.instr)

    def while_busy(self):
        """The words of scaled CPI and busy percentage."""
        return (figure(self.scaled, self.instr) +
                percent(self.busy, self.elapsed))

    def row(self, scaled):
        """The words of counts and figures in the detailed hooks."""
        values = long(self.instr) + long(self.cycles) + self.cpi()
        if scaled:
            values += long(self.scaled) + self.while_busy()
        return values


def total(rows):
    """The sums of the counts of all CPUs."""
    return Counts(*(sum(getattr(row, name) for row in rows) for name in (
        "instr", "cycles", "scaled", "busy", "elapsed")))


def summary(elapsed, rows, scaled=False, thread=None, **options):
    """The summary hook; `options` are those of record(), system, flags and n."""
    everyone = list(rows) + [options.pop("system", None) or total(rows)]
    flags = RAW | (SCALED if scaled else 0) | (WITH_THREAD if thread else 0)
    values = [options.pop("flags", flags), options.pop("n", len(rows)),
              *long(elapsed)]
    for row in everyone:
        values += row.cpi()
    for row in everyone if scaled else ():
        values += row.while_busy()
    values += thread.cpi() if thread else ()
    return words(SUMMARY, values, **options)


def system(elapsed, rows, scaled=False, **options):
    """The system hook; `options` are those of record(), flags and row."""
    flags = options.pop("flags", RAW | (SCALED if scaled else 0))
    row = options.pop("row", None) or total(rows).row(scaled)
    return words(SYSTEM, (flags, *long(elapsed), *row), **options)


def processors(elapsed, rows, scaled=False, **options):
    """The processors hook; `options` are those of record(), flags and n."""
    values = [options.pop("flags", RAW | (SCALED if scaled else 0)),
              options.pop("n", len(rows)), *long(elapsed)]
    for row in rows:
        values += row.row(scaled)
    return words(PROCESSORS, values, **options)


def thread_hook(tid, elapsed, row, **options):
    """The thread hook."""
    return words(THREAD, (tid, *long(elapsed), *row.row(False)), **options)


def group(elapsed, rows, forms="S", scaled=False, thread=None, text=b"",
          **options):
    """A group of hooks. `forms` has S for the summary and D for the detailed
    hooks; `thread` is (tid, Counts); `text` is the label."""
    out = b""
    of_thread = thread[1] if thread else None
    if "S" in forms:
        out += summary(elapsed, rows, scaled, of_thread, **options)
    if "D" in forms and rows:
        out += system(elapsed, rows, scaled, **options)
        out += processors(elapsed, rows, scaled, **options)
    if "D" in forms and thread:
        out += thread_hook(thread[0], elapsed, of_thread, **options)
    if text:
        out = (label(text, elapsed, **options) + out +
               label(text, elapsed, LABEL_END, **options))
    return out


# ---- Worked examples; docs/cpi.md has the bytes of the first ---------------

ONE_TWO = (Counts(1500000, 3000000, 2250000, 2250000, 3000000),
           Counts(3000120, 3000000, 600000, 600000, 3000000))
LARGE = (Counts(9000000000, 12000000001),)
LARGE_THREAD = (4242, Counts(8000000000, 10500000000))
PHASE = (Counts(4000, 8000, 6000, 6000, 8000), Counts(0, 8000, 0, 0, 8000),
         Counts(0, 0))
PHASE_THREAD = (900, Counts(3200, 4801))


def first_example():
    """A summary, raw and scaled."""
    return group(3000000, ONE_TWO, "S", True)


def second_example():
    """Detailed, with label and thread, and counts above 2^32."""
    return group(12000000001, LARGE, "D", False, LARGE_THREAD, b"loop A",
                 minor=0x2A)


def third_example():
    """A group with all hooks, an idle CPU and a CPU that went offline."""
    return group(8000, PHASE, "SD", True, PHASE_THREAD, b"phase-03", minor=7)
