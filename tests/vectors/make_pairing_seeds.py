#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the seeds of the fuzz targets formula and pairing.

    make_pairing_seeds.py CORPUS

CORPUS/formula gets a sample pair for each type and each status, taken from the
vectors beside this file; CORPUS/pairing gets pairs of small data blocks with
what belongs to them.  The same bytes every time.  The layouts of the inputs
are described in fuzz/formula_fuzzer.c and fuzz/pairing_fuzzer.c.
"""

import csv
import pathlib
import struct
import sys

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "oracle"))
# pylint: disable=wrong-import-position
import formula  # noqa: E402
import seed_writer as w  # noqa: E402
from make_vectors import INPUTS, key_of  # noqa: E402

SET = "3f1c0c4e-5d1b-4a53-9c2e-0a1b2c3d4e5f"
SECOND = "7a9e2b60-11d4-4f0c-8f6d-c0ffee001122"
STRICT, WRAP32, OLDER_UNASKED = 1, 2, 4

AVERAGE, AVERAGE_BASE, RATE, TIMER = (0x40020500, 0x40030402, 0x10410400,
                                      0x20510500)
RAW, LARGE, OBJECT, MULTI = 0x00010000, 0x00010100, 0x20610500, 0x22410500
ELAPSED, PRECISION, TIMESTAMP = 0x30240500, 0x20670500, 0x40030500


# Formula ---------------------------------------------------------------------

def fields(row, older):
    """The eight inputs of a sample, and the bits of those that are absent."""
    numbers, absent = [], 0
    for bit, name in enumerate(INPUTS):
        text = row[key_of(name, older)]
        numbers.append(formula.unsigned64(int(text or 0)))
        absent |= 0 if text else 1 << bit
    return struct.pack("<8Q", *numbers), absent


def formula_seed(row):
    """The bytes of one vector."""
    kind, kinds = int(row["type"], 0), sorted(formula.TYPES)
    older = int(row["older_type"] or "0", 0)
    options = (1 if row["mode"] else 0) | (0 if row["older_type"] else 2) | (
        0 if kind in kinds else 4) | (0 if older == kind else 8)
    newer_fields, newer_absent = fields(row, False)
    older_fields, older_absent = fields(row, True)
    place = kinds.index(kind) if kind in kinds else 0
    return struct.pack("<BBIIBB", options, place, kind, older, newer_absent,
                       older_absent) + newer_fields + older_fields


def formula_seeds():
    """A vector of each type that has a value, and of each status and flag."""
    seen = set()
    for name in ("formula_vectors.csv", "formula_edges.csv"):
        with open(HERE / name, encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                what = row["status"]
                if what == "ok":
                    what = formula.TYPES[int(row["type"], 0)].name.lower()
                for tag in (what, row["flags"].replace(" ", "_")):
                    if tag and tag not in seen:
                        seen.add(tag)
                        yield tag, formula_seed(row)


# Pairing ---------------------------------------------------------------------

def stamps(tick):
    """The clocks of a sample."""
    return w.clocks(1000000 + 10000000 * tick, 133000000000000000 + 10000321 *
                    tick, 10000000)


def pairing_seed(make, queries, infos, options=0, more=b"", guid=SET):
    """Both samples, what their queries asked and the registration."""
    parts = [w.reply(*make(tick), stamps=stamps(tick)) for tick in (0, 1)]
    parts += [b"".join(queries), w.counterset(guid, infos)]
    return struct.pack("<B4H", options, *map(len, parts)) + b"".join(
        parts) + more


def rows(kind, ids, *instances):
    """One result of kind 4 or 6."""
    body = w.instance_block(*[w.instance(*each) for each in instances])
    return w.result(kind, (w.id_list(ids) if kind == w.COUNTERSET else b"") +
                    body)


def whole_set(tick):
    """Base in the same row; an instance goes, one comes, two change places."""
    def row(ident, name, factor):
        return ident, name, w.v8(1000 + 70 * factor * tick), w.v4(
            10 + 7 * tick), w.v4(5 + factor * tick)
    return [rows(w.COUNTERSET, (1, 2, 3), *(
        (row(1, "a", 1), row(2, "b", 2), row(3, "old", 1)) if tick == 0 else
        (row(2, "b", 2), row(1, "a", 1), row(3, "new", 1))))]


def repeated(tick):
    """Equal names and ids, several times, and ids that repeat."""
    names = ((1, "x"), (1, "x"), (2, "x"), (1, ""), (1, "x"))
    chosen = names if tick == 0 else names[::-1] + names[:2]
    return [rows(w.COUNTERSET, (3, 3), *[
        (ident, name, w.v4(5 + tick * number), w.v4(9 + tick))
        for number, (ident, name) in enumerate(chosen)])]


def separate(tick):
    """Base and counter in results of their own, in another order; twins."""
    return [rows(w.INSTANCES, (), (2, "b", w.v4(3 + 2 * tick)),
                 (1, "a", w.v4(4 + tick)), (1, "a", w.v4(5 + 9 * tick))),
            rows(w.INSTANCES, (), (1, "a", w.v8(90 * tick)),
                 (2, "b", w.v8(60 * tick)), (1, "a", w.v8(81 * tick)))]


def exact(tick):
    """Replies without names."""
    return [w.result(w.SINGLE, w.v8(90 * tick)),
            w.result(w.SINGLE, w.v4(30 * tick)),
            w.result(w.COUNTERS, w.id_list((2, 1)) + w.v4(tick + 1) +
                     w.v8(8 * tick))]


def referring(tick):
    """Item count, object time and frequency, base and timestamp."""
    values = [w.v8(500 * tick + 7), w.v8(40 * tick + 1), w.v8(3 * tick + 2),
              w.v8(25 * tick + 1), w.v8(1000 + 50 * tick), w.v8(100), w.v4(4),
              w.v8(200 * tick)]
    return [w.result(w.COUNTERSET, w.id_list(range(1, 9)) + w.instance_block(
        w.instance(1, "a", *values)))]


def moved(tick):
    """A result that stands elsewhere in the second sample."""
    old = rows(w.INSTANCES, (), (1, "a", w.v4(5 + tick)))
    return [old] if tick == 0 else [w.result(w.ERROR, status=0x1069), old]


def broken(tick):
    """The second value of the newer sample claims too much."""
    bad = w.datum(b"1234", data_size=None if tick == 0 else 0xFFFFFFFF)
    return [rows(w.COUNTERSET, (1, 2), (1, "a", w.v8(50 * tick), w.v4(3 + tick)
                                        ), (2, "b", w.v8(1), bad))]


def widths(tick):
    """Data that are no numbers, or not of the width of their types."""
    return [rows(w.COUNTERSET, (1, 2, 3), (1, "a", w.v4(50 * tick), w.v8(
        3 + tick), w.datum(b"12345")))]


def pairing_seeds():
    """All pairs of blocks."""
    infos = (w.counter_info(1, AVERAGE, 2), w.counter_info(2, AVERAGE_BASE),
             w.counter_info(3, RATE))
    whole = [w.identifier(SET, name="*")]
    two = [w.identifier(SET, 1, name="*", index=1),
           w.identifier(SET, 2, name="*", index=0)]
    named = [w.identifier(SET, 1, name="_Total"),
             w.identifier(SET, 2, name="_Total", index=1),
             w.identifier(SET, name="_Total", index=2)]
    patterns = [w.identifier(SET, 1, name="a*"),
                w.identifier(SET, 2, name="b?", index=1)]
    refers = (w.counter_info(1, MULTI, multi=7),
              w.counter_info(2, OBJECT, perf_time=5, perf_freq=6),
              w.counter_info(3, ELAPSED, perf_time=5, perf_freq=6),
              w.counter_info(4, PRECISION, base=8, perf_time=5),
              w.counter_info(5, LARGE), w.counter_info(6, LARGE),
              w.counter_info(7, RAW), w.counter_info(8, TIMESTAMP))
    loops = (w.counter_info(1, AVERAGE, 2), w.counter_info(2, AVERAGE, 1),
             w.counter_info(3, TIMER, 3, 3, 3, 3))
    later = w.counterset(SET, infos[:2] + (w.counter_info(3, RAW),))
    other = w.counterset(SECOND, infos)
    yield "whole_set", pairing_seed(whole_set, whole, infos)
    yield "strict", pairing_seed(whole_set, whole, infos, STRICT | WRAP32)
    yield "repeated", pairing_seed(repeated, whole, infos)
    yield "separate", pairing_seed(separate, two, infos)
    yield "exact_names", pairing_seed(exact, named, infos)
    yield "patterns", pairing_seed(exact, patterns, infos)
    yield "references", pairing_seed(referring, whole, refers)
    yield "loops", pairing_seed(whole_set, whole, loops)
    yield "later_registration", pairing_seed(whole_set, whole, infos,
                                             more=later)
    yield "other_set", pairing_seed(separate, two, infos[:1], more=other)
    yield "moved", pairing_seed(moved, two[:1], infos, OLDER_UNASKED)
    yield "broken", pairing_seed(broken, whole, infos)
    yield "widths", pairing_seed(widths, whole, infos)
    yield "unasked", pairing_seed(whole_set, (), infos)


def main(arguments):
    """Command line."""
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    for subject, seeds in (("formula", formula_seeds()),
                           ("pairing", pairing_seeds())):
        folder = pathlib.Path(arguments[0]) / subject / "seeds"
        folder.mkdir(parents=True, exist_ok=True)
        for name, data in seeds:
            (folder / (name + ".bin")).write_bytes(data)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
