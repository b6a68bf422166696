#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes formula vectors: samples, and the status and exact value they give.

    make_vectors.py --facts FACTS.json   published and hand-made cases
    make_vectors.py --edges              every type at the edges of its inputs
    make_vectors.py --random COUNT SEED  random samples of random types

All expectations come from exact rational arithmetic (tests/oracle/formula.py);
a double is that fraction rounded once.  Output is the same every time.  The
columns are explained in tests/vectors/run_formula.c, which runs the rows.
"""

import csv
import json
import pathlib
import random
import struct
import sys
from fractions import Fraction

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "oracle"))
import formula  # noqa: E402  pylint: disable=wrong-import-position

INPUTS = ("value", "base", "multi", "perf_time", "perf_time_100ns",
          "object_time", "perf_freq", "object_freq")
COLUMNS = ("id", "mode", "type") + INPUTS + ("older_type",) + tuple(
    "older_" + name for name in INPUTS) + (
        "status", "flags", "unit", "bits", "exact", "published", "within",
        "source", "note")

TWO32, TWO53, TWO63, TWO64 = 1 << 32, 1 << 53, 1 << 63, 1 << 64
LEAST, MOST = -TWO63, TWO63 - 1
DWORD_EDGES = (0, 1, 2, TWO32 // 2, TWO32 - 1)
LARGE_EDGES = (0, 1, TWO32 - 1, TWO32, TWO53 - 1, TWO53 + 1, TWO63,
               TWO64 - 1)
# Pairs of clock readings: equal, reversed, a step, and as far as they go.
CLOCK_PAIRS = ((0, 0), (5, 5), (6, 5), (0, -1), (0, 1), (-1, 1),
               (MOST, LEAST), (LEAST, MOST), (LEAST, 0), (0, MOST),
               (TWO53 - 1, TWO53 + 2), (133000000000000000,
                                        133000000010000321))
FREQUENCIES = (LEAST, -1, 0, 1, 3, 10000000, TWO32 + 1, TWO53 + 1, MOST)
ITEMS = (0, 1, 3, TWO32 - 1, TWO53 + 1, TWO64 - 1)
# Values without a row, and one that is an alias.
UNNAMED = (0x00510500, 0x00012000, 0x00020000, 0x40030400, 0x60410400,
           0xFFFFFFFF, 0x40030503)


def key_of(name, older=False):
    """The column of an input."""
    return "older_" + name if older else name


def double_bits(exact):
    """The double nearest to a fraction, as 16 hexadecimal digits."""
    return "%016X" % struct.unpack("<Q", struct.pack("<d", float(exact)))


def is_ambiguous(older, newer, mode):
    """Whether two of the tests whose order is left open fail together.

    A count of 0 beside a bad denominator: what a count of 1 would give tells.
    """
    if newer.get("multi") != 0:
        return False
    return formula.evaluate(older, dict(newer, multi=1), mode).status != "ok"


def make_row(ident, older, newer, mode=None, **extra):
    """One row: the samples, and what the exact evaluator makes of them."""
    result = formula.evaluate(older, newer, mode)
    row = {"id": ident, "mode": mode or "", "type": "0x%08X" % newer["type"],
           "older_type": "0x%08X" % older["type"] if older else "",
           "status": result.status, "flags": " ".join(sorted(result.flags)),
           "unit": result.unit, "source": "exact rational arithmetic"}
    for name in INPUTS:
        row[name] = newer.get(name)
        row[key_of(name, True)] = older.get(name) if older else None
    if result.status == "ok":
        row["bits"], row["exact"] = double_bits(result.exact), result.exact
    row.update(extra)
    return row


# Facts -----------------------------------------------------------------------

def published_columns(expected, tolerance):
    """What was printed elsewhere, and how far from it the value may be."""
    if "published" not in expected:
        return {}
    within = max(tolerance.get("abs", 0), expected.get(
        "published_rel", tolerance.get("rel", 0)) * abs(expected["value"]))
    return {"published": expected["published"], "within": repr(float(within))}


def fact_note(vector):
    """The remarks of a case in one line."""
    notes = [vector["note"]] if "note" in vector else []
    if vector.get("policy"):
        notes.append("a recommendation; no source fixes this status")
    for other in vector.get("alternatives", ()):
        notes.append("not %s as %s would have it: %s" % (
            other.get("value", other.get("status")), other["formula"],
            other["why"]))
    return "; ".join(notes)


def fact_rows(path):
    """The cases of a file of facts, checked against the evaluator."""
    with open(path, encoding="utf-8") as file:
        vectors = json.load(file)["vectors"]
    for vector in vectors:
        samples = [formula.read_sample(fields, vector["type_value"])
                   for fields in vector["samples"]]
        older = samples[-2] if len(samples) > 1 else None
        expected = vector["expected"]
        row = make_row(vector["id"], older, samples[-1], vector.get("mode"),
                       source=vector["source"], note=fact_note(vector),
                       **published_columns(expected,
                                           vector.get("tolerance", {})))
        # The file's own figures rule: the evaluator must agree with them.
        fixed = expected.get("exact", expected.get("uint"))
        assert row["status"] == expected["status"], vector["id"]
        assert fixed is None or Fraction(fixed) == row["exact"], vector["id"]
        assert "value" not in expected or fixed is not None, vector["id"]
        yield row


# Edges -----------------------------------------------------------------------

def usual_samples(kind):
    """Two samples with every input there, nothing of it extreme."""
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


def edge_pairs(kind):
    """Numbers of the type's width: equal, rising from 0 and to the last, and
    falling by a step."""
    edges = LARGE_EDGES if kind & 0x300 == 0x100 else DWORD_EDGES
    for edge, step in zip(edges, edges[1:] + (edges[-1],)):
        yield from ((0, edge), (edge, edges[-1]), (step, edge))


def value_edges(kind):
    """Raw values against each other."""
    for old, new in edge_pairs(kind):
        yield "value", vary(kind, {"value": old}, value=new)


def clock_edges(kind, clock):
    """Readings of the clock the type uses."""
    name = formula.CLOCK_KEYS[clock][0]
    for number, (old, new) in enumerate(CLOCK_PAIRS):
        raw = 3, TWO32 - 1 if number % 2 else 1750
        yield "clock", vary(kind, {name: old, "value": raw[0]},
                            **{name: new, "value": raw[1]})


def other_clocks(kind, clock):
    """Clocks the type does not use: they may be anything, or absent."""
    keys = [formula.CLOCK_KEYS[name][0] for name in formula.CLOCK_KEYS
            if name != clock]
    yield "other_clock", vary(kind, dict.fromkeys(keys, 9),
                              **dict.fromkeys(keys, 3))


def elapsed_edges(kind):
    """Now against start, the one signed and the other not."""
    for start in (0, 1, TWO53 - 1, TWO63 - 1, TWO63, TWO64 - 1):
        for now in (LEAST, -1, 0, 1, TWO53 + 1, MOST):
            yield "elapsed", vary(kind, value=start, object_time=now)


def base_edges(kind):
    """Bases against each other."""
    for old, new in edge_pairs(kind):
        yield "base", vary(kind, {"base": old}, base=new)


def factor_edges(kind, frequency):
    """Frequencies and item counts, beside small and large differences."""
    for number, ticks in enumerate(FREQUENCIES if frequency else ()):
        raw = 1750 if number % 2 else TWO32 - 1
        yield "frequency", vary(kind, {frequency: 77},
                                **{frequency: ticks, "value": raw})
    if frequency:
        clock = frequency.replace("freq", "time")
        for whole in (1, 3, 0x123456789ABCDEF, MOST):
            yield "huge", vary(kind, {"value": 0, clock: 0, "base": 1},
                               **{"value": TWO64 - 59, clock: whole, "base":
                                  whole, frequency: MOST - 24, "multi": 7})
    multi = formula.FORMS[formula.find_type(kind).form].multi
    for number, items in enumerate(ITEMS if multi else ()):
        raw = 1750 if number % 2 else TWO64 - 1
        yield "items", vary(kind, {"multi": 77}, multi=items, value=raw)


def missing_inputs(kind):
    """Inputs absent: from both samples, and where that matters from one."""
    older, newer = usual_samples(kind)
    usual, unused = formula.evaluate(older, newer), []
    for name in INPUTS:
        both = vary(kind, {name: None}, **{name: None})
        if formula.evaluate(*both) == usual:
            unused.append(name)
            continue
        yield "no_" + name, both
        yield "no_new_" + name, vary(kind, **{name: None})
        yield "no_old_" + name, vary(kind, {name: None})
    yield "no_unused", vary(kind, dict.fromkeys(unused),
                            **dict.fromkeys(unused))
    yield "nothing", ({"type": kind}, {"type": kind})
    yield "one_sample", (None, newer)
    yield "type_mismatch", (dict(older, type=kind ^ 0x00010000), newer)


def hidden_samples(kind):
    """What a type without a formula is given, all in vain."""
    older, newer = usual_samples(kind)
    yield "usual", (older, newer)
    yield "one_sample", (None, newer)
    yield "nothing", ({"type": 0}, {"type": kind})


def percent_edges(kind):
    """Just below, at, and just above 100 %, and 0 %."""
    for delta, whole in ((999999, 1000000), (1000000, 1000000),
                         (1000001, 1000000), (0, 1000000),
                         (TWO53 + 1, TWO53), (3 * TWO32 - 1, 3 * TWO32)):
        steps = {"perf_time": whole, "perf_time_100ns": whole,
                 "object_time": whole, "base": whole}
        yield "percent", vary(kind, dict(dict.fromkeys(steps, 0), value=0),
                              value=delta, multi=1, perf_freq=1, **steps)


def edges_of(kind):
    """All edge cases of a type that has a formula."""
    known = formula.find_type(kind)
    form = formula.FORMS[known.form]
    clock = known.clock
    by_base = form.denominator in ("base", "base_or_clock")
    yield from value_edges(kind)
    if form.denominator in ("clock", "base_or_clock"):
        yield from clock_edges(kind, clock)
        yield from other_clocks(kind, clock)
    if known.form == "elapsed":
        yield from elapsed_edges(kind)
    if by_base:
        yield from base_edges(kind)
    frequency = formula.CLOCK_KEYS[clock or "perf"][1] if form.frequency \
        else None
    yield from factor_edges(kind, frequency)
    yield from missing_inputs(kind)
    if known.unit == formula.PERCENT:
        yield from percent_edges(kind)


def wrapping(kind):
    """The same falls with and without the opt-in wrap."""
    wide = kind & 0x300 == 0x100
    for old, new in ((TWO32 - 128, 192), (TWO32 - 1, 0), (1, 0), (5, 5),
                     (TWO32, 1) if wide else (TWO32 - 1, TWO32 - 2)):
        yield "wrap32", vary(kind, {"value": old}, value=new)


def edge_rows():
    """All rows of formula_edges.csv."""
    for kind in sorted(formula.TYPES):
        known, seen, number = formula.TYPES[kind], set(), {}
        shown = known.form != "none"
        cases = [(name, pair, None) for name, pair in (
            edges_of(kind) if shown else hidden_samples(kind))]
        if formula.needs_two(known):
            cases += [(name, pair, "wrap32") for name, pair in wrapping(kind)]
        for name, (older, newer), mode in cases:
            what = (repr(older), repr(newer), mode)
            if what in seen or is_ambiguous(older, newer, mode):
                continue
            seen.add(what)
            number[name] = number.get(name, 0) + 1
            yield make_row("%s-%s-%d" % (known.name.lower(), name,
                                         number[name]), older, newer, mode)
    for kind in UNNAMED:
        older, newer = usual_samples(kind)
        yield make_row("unnamed-%08x" % kind, older, newer)
        yield make_row("unnamed-%08x-one" % kind, None, newer)


# Random ----------------------------------------------------------------------

def random_number(source, bits=64):
    """A number of any length, and sometimes an edge."""
    if source.random() < 0.2:
        return source.choice([edge for edge in LARGE_EDGES
                              if edge < 1 << bits])
    return source.getrandbits(source.randint(1, bits))


def random_sample(source, kind):
    """A sample with inputs of any size, a few of them absent."""
    sample = {"type": kind}
    bits = 64 if kind & 0x300 == 0x100 else 32
    for name in INPUTS:
        wide = bits if name in ("value", "base") else 64
        sample[name] = random_number(source, wide)
        if name not in ("value", "base", "multi"):
            sample[name] = formula.signed64(sample[name])
        if source.random() < 0.01:
            sample[name] = None
    return sample


def sort_inputs(source, older, newer):
    """Mostly lets counters and clocks rise, and frequencies be positive."""
    for name in INPUTS:
        pair = older[name], newer[name]
        if None in pair or source.random() < 0.05:
            continue
        if name.endswith("freq"):
            newer[name] = abs(newer[name]) % TWO63 or 1
        elif name != "multi":
            older[name], newer[name] = sorted(pair)


def random_rows(count, seed):
    """Rows of random types; the same seed gives the same rows."""
    source, kinds = random.Random(seed), sorted(formula.TYPES)
    shown = [kind for kind in kinds if formula.TYPES[kind].form != "none"]
    made = 0
    while made < count:
        kind = source.choice(shown if source.random() < 0.97 else kinds)
        older, newer = random_sample(source, kind), random_sample(source, kind)
        sort_inputs(source, older, newer)
        if source.random() < 0.01:
            older["type"] = source.choice(kinds)
        if source.random() < 0.02:
            older = None
        mode = "wrap32" if source.random() < 0.1 else None
        if is_ambiguous(older, newer, mode):
            continue
        made += 1
        yield make_row("random-%s-%d" % (seed, made), older, newer, mode)


def main(arguments):
    """Command line."""
    command, parameters = (arguments + [""])[0], arguments[1:]
    if command == "--facts" and len(parameters) == 1:
        rows = fact_rows(parameters[0])
    elif command == "--edges" and not parameters:
        rows = edge_rows()
    elif command == "--random" and len(parameters) == 2:
        rows = random_rows(int(parameters[0]), int(parameters[1]))
    else:
        print(__doc__, file=sys.stderr)
        return 2
    writer = csv.DictWriter(sys.stdout, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
