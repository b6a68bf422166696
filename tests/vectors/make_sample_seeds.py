#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the seeds of the fuzz targets formula and sample.

make_sample_seeds.py CORPUS

CORPUS/formula/seeds gets a pair of samples for each type, status and option,
and for each rule for unnamed types. CORPUS/sample/seeds gets pairs of small
blocks with their metadata. Every run writes the same bytes.
fuzz/formula_fuzzer.c and fuzz/sample_fuzzer.c describe the layouts of the
inputs.
"""

import pathlib
import struct
import sys

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "oracle"))
# pylint: disable=wrong-import-position
import formula  # noqa: E402
import v1_seeds  # noqa: E402
import seed_writer as w  # noqa: E402

from seed_files import write_seeds

SET = "3f1c0c4e-5d1b-4a53-9c2e-0a1b2c3d4e5f"
SECOND = "7a9e2b60-11d4-4f0c-8f6d-c0ffee001122"

AVERAGE, AVERAGE_BASE, RATE, TIMER = (0x40020500, 0x40030402, 0x10410400,
                                      0x20510500)
RAW, LARGE, OBJECT, MULTI = 0x00010000, 0x00010100, 0x20610500, 0x22410500
ELAPSED, PRECISION, TIMESTAMP = 0x30240500, 0x20670500, 0x40030500
AVERAGE_TIMER, RAW_FRACTION, LARGE_FRACTION = (0x30020400, 0x20020400,
                                               0x20020500)
DELTA, LARGE_DELTA, INVERSE = 0x00400400, 0x00400500, 0x21510500
MULTI_100NS, MULTI_INVERSE = 0x22510500, 0x23510500
TEXT, LARGE_RAW_BASE = 0x00000B00, 0x40030500

# Switches and scale of an input: fuzz/checks.h.
(WRAP32, PER_ITEM_INVERSE, SERVER_2003, GENERIC, CAP_100,
 CLAMP_0) = (1 << bit for bit in range(6))


def options_bytes(switches=0, scale=0):
    """The two bytes that hold the options."""
    return struct.pack("<Bb", switches, scale)


# Formula ---------------------------------------------------------------------

INPUTS = ("value", "base", "multi", "perf_time", "perf_time_100ns",
          "object_time", "perf_freq", "object_freq")
OLDER = {"value": 1000, "base": 700, "multi": 4, "perf_time": 5000000,
         "perf_time_100ns": 133000000000000000, "object_time": 70000,
         "perf_freq": 3579545, "object_freq": 1000}
NEWER = {"value": 1750, "base": 1900, "multi": 4, "perf_time": 8579545,
         "perf_time_100ns": 133000000010000321, "object_time": 71000,
         "perf_freq": 3579545, "object_freq": 1000}
TWO32, TWO53, TWO63, TWO64 = 1 << 32, 1 << 53, 1 << 63, 1 << 64


def fields(sample):
    """The eight inputs of a sample, and the bits of the absent ones."""
    absent = sum(1 << bit for bit, name in enumerate(INPUTS)
                 if sample.get(name) is None)
    return struct.pack("<8Q", *((sample.get(name) or 0) % TWO64
                                for name in INPUTS)), absent


def formula_seed(kind, newer=None, older=None, switches=0, scale=0, one=False,
                 older_type=None, base_types=(0, 0), step=1):
    """Two samples that differ from the default in these inputs; None is
    absent."""
    kinds = sorted(formula.TYPES)
    named = kind in formula.TYPES
    samples = int(one) | (not named) << 1 | (older_type is not None) << 3
    new, new_absent = fields({**NEWER, **(newer or {})})
    old, old_absent = fields({**OLDER, **(older or {})})
    return options_bytes(switches, scale) + struct.pack(
        "<BBIIIIBB", samples, kinds.index(kind) if named else 0, kind,
        older_type or kind, *base_types, new_absent,
        old_absent) + new + old + struct.pack("<Q", step)


def status_seeds():
    """Seeds for each status except ok, and for each flag except wrapped, which
    needs an option."""
    yield "need_two_samples", formula_seed(RATE, one=True)
    yield "type_mismatch", formula_seed(RATE, older_type=TIMER)
    yield "unknown_type", formula_seed(0x00510500)
    yield "not_displayed", formula_seed(TEXT, one=True)
    yield "missing_base", formula_seed(AVERAGE, older={"base": None})
    yield "missing_items", formula_seed(MULTI, {"multi": None})
    yield "missing_input", formula_seed(RATE, {"perf_freq": None})
    yield "missing_value", formula_seed(LARGE, {"value": None}, one=True)
    yield "negative_delta", formula_seed(LARGE_DELTA, {"value": 999})
    yield "zero_denominator", formula_seed(AVERAGE, {"base": 700})
    yield "negative_denominator", formula_seed(TIMER, {
        "perf_time_100ns": 132999999999999999})
    yield "bad_frequency", formula_seed(RATE, {"perf_freq": -1})
    yield "zero_base", formula_seed(LARGE_FRACTION, {"base": 0})
    yield "zero_items", formula_seed(MULTI_100NS, {"multi": 0})
    yield "no_data", formula_seed(ELAPSED, {"value": 0})
    yield "bad_scale", formula_seed(RATE, scale=11)
    yield "bad_scale_below", formula_seed(RATE, scale=-128)
    yield "above_100", formula_seed(TIMER, {"value": 20001643})
    yield "exactly_100", formula_seed(TIMER, {"value": 10001321})
    yield "below_zero", formula_seed(INVERSE, {"value": 20001643})


def option_seeds():
    """The effect of each option, and of several at once."""
    over, fall = {"value": 20001643}, {"value": 20, "base": 30}
    top = {"value": TWO32 - 100, "base": TWO32 - 50}
    yield "wrap32_counter", formula_seed(DELTA, fall, top, WRAP32)
    yield "wrap32_both", formula_seed(AVERAGE_TIMER, fall, top, WRAP32)
    yield "wrap32_base", formula_seed(AVERAGE, {"value": TWO53, "base": 30},
                                      top, WRAP32)
    yield "wrap32_typed_base", formula_seed(
        PRECISION, {"base": 30}, {"base": TWO32 - 50}, WRAP32,
        base_types=(AVERAGE_BASE, AVERAGE_BASE))
    yield "wrap32_large_base", formula_seed(
        AVERAGE, {"base": 30}, {"base": TWO32 - 50}, WRAP32,
        base_types=(LARGE_RAW_BASE, LARGE_RAW_BASE))
    yield "wrap32_mixed_bases", formula_seed(
        AVERAGE, {"base": 30}, {"base": TWO32 - 50}, WRAP32,
        base_types=(AVERAGE_BASE, LARGE_RAW_BASE))
    yield "wrap32_beyond", formula_seed(DELTA, {"value": 20},
                                        {"value": TWO32}, WRAP32)
    yield "per_item_inverse", formula_seed(
        MULTI_INVERSE, {"value": 25000000}, {"value": 0}, PER_ITEM_INVERSE)
    yield "server_2003", formula_seed(MULTI, {"perf_freq": None},
                                      switches=SERVER_2003)
    yield "cap_100", formula_seed(TIMER, over, switches=CAP_100)
    yield "cap_100_inside", formula_seed(TIMER, switches=CAP_100)
    yield "clamp_0", formula_seed(INVERSE, over, switches=CLAMP_0)
    yield "scale_up", formula_seed(RATE, scale=10)
    yield "scale_down", formula_seed(RATE, scale=-10)
    yield "scale_capped", formula_seed(TIMER, over, switches=CAP_100, scale=-2)
    yield "all_options", formula_seed(RAW_FRACTION, over, switches=63, scale=3)


def unnamed_seeds():
    """Types without a name, for the option generic."""
    kinds = {"value": 0x00000400, "value_delta": 0x10400500,
             "rate_100ns_per_second": 0x10510500,
             "rate_object_percent": 0x20610400,
             "rate_without_delta": 0x30010500,
             "rate_inverse_by_frequency": 0x11410400,
             "rate_multi_object": 0x22610400,
             "rate_multi_inverse_object": 0x23610500,
             "fraction_delta_over_base": 0x20420500,
             "fraction_over_base_delta": 0x20820400,
             "fraction_seconds_100ns": 0x30D20400,
             "fraction_seconds_object": 0x30220500,
             "elapsed_perf": 0x30040500, "elapsed_100ns": 0x10140400,
             "queue_without_delta": 0x00150400,
             "precision_shown_plainly": 0x00470500,
             "base": 0x40030400, "histogram": 0x20060500,
             "no_size": 0x10410600}
    for name, kind in kinds.items():
        yield "unnamed_" + name, formula_seed(kind, switches=GENERIC)
    yield "unnamed_object_without_base", formula_seed(
        0x20670400, {"base": None}, switches=GENERIC)
    yield "unnamed_reserved", formula_seed(0x10510501, switches=GENERIC)
    yield "unnamed_broken", formula_seed(0x00810400, switches=GENERIC)
    yield "unnamed_alias", formula_seed(0x40030503, switches=GENERIC)


def edge_seeds():
    """Quotients that are hard to round, and numbers at their limits."""
    # 2^53 + 1 and 2^53 + 3 are halfway between two doubles.
    yield "round_tie", formula_seed(LARGE_DELTA, {"value": TWO53 + 1},
                                    {"value": 0})
    yield "round_tie_odd", formula_seed(LARGE_DELTA, {"value": TWO53 + 3},
                                        {"value": 0})
    tie = {"value": 2 * TWO53 + 2, "base": 2}
    yield "round_quotient_tie", formula_seed(AVERAGE, tie,
                                             {"value": 0, "base": 0})
    tie = {"value": 2 * TWO53 + 3, "base": 2}
    yield "round_quotient_above_tie", formula_seed(AVERAGE, tie,
                                                   {"value": 0, "base": 0})
    yield "round_third", formula_seed(AVERAGE, {"value": 1, "base": 3},
                                      {"value": 0, "base": 0})
    # Both operands are below 2 to the power of 53, but 100 times the first is
    # not.
    yield "round_percent", formula_seed(
        TIMER, {"value": TWO53 // 3, "perf_time_100ns": TWO53 - 1},
        {"value": 0, "perf_time_100ns": 0})
    # A quarter: it is exact, and so is 1 minus it.
    yield "quarter_inverse", formula_seed(
        INVERSE, {"value": 1 << 20, "perf_time_100ns": 1 << 22},
        {"value": 0, "perf_time_100ns": 0})
    yield "quarter_inverse_per_item", formula_seed(
        MULTI_INVERSE, {"value": 1 << 22, "perf_time_100ns": 1 << 22},
        {"value": 0, "perf_time_100ns": 0}, PER_ITEM_INVERSE)
    largest = {"value": TWO64 - 1, "multi": TWO64 - 1,
               "perf_time": TWO63 - 1, "perf_time_100ns": TWO63 - 1,
               "perf_freq": TWO63 - 1, "object_freq": TWO63 - 1}
    smallest = {"value": 0, "perf_time": -TWO63, "perf_time_100ns": -TWO63}
    yield "limits_rate", formula_seed(0x10410500, largest, smallest, scale=10)
    yield "limits_multi", formula_seed(MULTI, largest, smallest, scale=-10)
    yield "limits_inverse", formula_seed(MULTI_INVERSE, largest, smallest,
                                         PER_ITEM_INVERSE, 10)
    yield "limits_elapsed", formula_seed(ELAPSED, {
        "value": 1, "object_time": TWO63 - 1, "object_freq": TWO63 - 1})
    yield "no_bytes", b""


def formula_seeds():
    """All sample pairs."""
    for kind, row in sorted(formula.TYPES.items()):
        yield row.name.lower(), formula_seed(kind)
    yield from status_seeds()
    yield from option_seeds()
    yield from unnamed_seeds()
    yield from edge_seeds()


# Samples ---------------------------------------------------------------------

STRICT, OLDER_WITHOUT_INFO = 1, 2  # bits of `samples`, see sample_fuzzer.c
AS_IT_IS, REVERSED, SHUFFLED = 0, 1, 7


def stamps(tick):
    """The clocks of a sample."""
    return w.clocks(1000000 + 10000000 * tick, 133000000000000000 + 10000321 *
                    tick, 10000000)


def sample_seed(make, queries, infos, **more):
    """Both samples, the identifiers of their queries, and the registration."""
    parts = [w.reply(*make(tick), stamps=stamps(tick)) for tick in (0, 1)]
    parts += [b"".join(queries), w.counterset(more.get("guid", SET), infos)]
    return struct.pack("<B", more.get("samples", 0)) + options_bytes(
        more.get("switches", 0), more.get("scale", 0)) + bytes(
            more.get("order", (AS_IT_IS, REVERSED))) + struct.pack(
                "<4H", *map(len, parts)) + b"".join(parts) + more.get(
                    "registration", b"")


def rows(kind, ids, *instances):
    """One result of kind 4 or 6."""
    body = w.instance_block(*[w.instance(*each) for each in instances])
    return w.result(kind, (w.id_list(ids) if kind == w.COUNTERSET else b"") +
                    body)


def whole_set(tick):
    """The base is in the same row. One instance ends, one is new, two change
    places."""
    def row(ident, name, factor):
        return ident, name, w.v8(1000 + 70 * factor * tick), w.v4(
            10 + 7 * tick), w.v4(5 + factor * tick)
    return [rows(w.COUNTERSET, (1, 2, 3), *(
        (row(1, "a", 1), row(2, "b", 2), row(3, "old", 1)) if tick == 0 else
        (row(2, "b", 2), row(1, "a", 1), row(3, "new", 1))))]


def repeated(tick):
    """Equal names and ids several times, and repeated counter ids."""
    names = ((1, "x"), (1, "x"), (2, "x"), (1, ""), (1, "x"))
    chosen = names if tick == 0 else names[::-1] + names[:2]
    return [rows(w.COUNTERSET, (3, 3), *[
        (ident, name, w.v4(5 + tick * number), w.v4(9 + tick))
        for number, (ident, name) in enumerate(chosen)])]


def separate(tick):
    """Base and counter in separate results, in another order; equal instances.
    """
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
    """Multi count, object time and frequency, base and time stamp."""
    values = [w.v8(500 * tick + 7), w.v8(40 * tick + 1), w.v8(3 * tick + 2),
              w.v8(25 * tick + 1), w.v8(1000 + 50 * tick), w.v8(100), w.v4(4),
              w.v8(200 * tick)]
    return [w.result(w.COUNTERSET, w.id_list(range(1, 9)) + w.instance_block(
        w.instance(1, "a", *values)))]


def moved(tick):
    """A result at another position in the second sample."""
    old = rows(w.INSTANCES, (), (1, "a", w.v4(5 + tick)))
    return [old] if tick == 0 else [w.result(w.ERROR, status=0x1069), old]


def split(tick):
    """Instances of two results, with their counters in another order, are in a
    third result of the second sample."""
    def row(name, number, *order):
        values = (w.v8(number * 90 * tick), w.v4(number * (4 + 3 * tick)),
                  w.v4(number * 7 * tick))
        return number, name, *(values[place - 1] for place in order)
    failed = w.result(w.ERROR, status=0x1069)
    if tick == 0:
        return [rows(w.COUNTERSET, (1, 2, 3), row("a", 1, 1, 2, 3)),
                rows(w.COUNTERSET, (3, 1, 2), row("b", 2, 3, 1, 2))]
    return [failed, failed, rows(w.COUNTERSET, (1, 2, 3), row(
        "a", 1, 1, 2, 3), row("b", 2, 1, 2, 3))]


def joined(tick):
    """An instance moves to another result, where others are added and removed.
    """
    def some(names):
        return rows(w.INSTANCES, (), *[
            (ord(name), name, w.v4(ord(name) * tick)) for name in names])
    return [some("abd"), some("c")] if tick == 0 else [some("bcde"), some("")]


def broken(tick):
    """The last value of the newer sample declares too many bytes."""
    bad = w.datum(b"1234", data_size=None if tick == 0 else 0xFFFFFFFF)
    return [rows(w.COUNTERSET, (1, 2), (1, "a", w.v8(50 * tick), w.v4(3 + tick)
                                        ), (2, "b", w.v8(1), bad))]


def widths(tick):
    """Data that are not numbers or do not have the width of their type."""
    return [rows(w.COUNTERSET, (1, 2, 3), (1, "a", w.v4(50 * tick), w.v8(
        3 + tick), w.datum(b"12345")))]


def older_width(tick):
    """Only the older datum has a wrong width."""
    value = w.v4(50) if tick == 0 else w.v8(120)
    return [rows(w.COUNTERSET, (1, 2, 3), (1, "a", value, w.v4(3 + tick),
                                           w.v4(7 + tick)))]


def many(tick):
    """Many instances; most ids occur three times."""
    return [rows(w.INSTANCES, (), *[(n // 3, "", w.v4(7 + n * tick))
                                    for n in range(40)])]


def churn(older, newer):
    """Samples whose instances are named by the letters of `older` and `newer`;
    each newer one has its own value."""
    def make(tick):
        return [rows(w.INSTANCES, (), *[
            (ord(name), name, w.v4(tick * (5 + place * place)))
            for place, name in enumerate((older, newer)[tick])])]
    return make


def limits(tick):
    """An inverse below 0 and above 100, and an average whose 4-byte base
    decreased."""
    def row(ident, busy):
        return (ident, "", w.v8(busy * tick), w.v8(busy * tick), w.v4(
            (1 << 32) - 5 if tick == 0 else 90), w.v4(4))
    return [rows(w.COUNTERSET, (1, 2, 3, 4), row(1, 50000000), row(2, 5000000),
                 row(3, 0))]


# The identifiers of the seeds' queries.
WHOLE = [w.identifier(SET, name="*")]
TWO = [w.identifier(SET, 1, name="*", index=1),
       w.identifier(SET, 2, name="*", index=0)]
NAMED = [w.identifier(SET, 1, name="_Total"),
         w.identifier(SET, 2, name="_Total", index=1),
         w.identifier(SET, name="_Total", index=2)]
PATTERNS = [w.identifier(SET, 1, name="a*"),
            w.identifier(SET, 2, name="b?", index=1)]
THRICE = [w.identifier(SET, name="*", index=index) for index in range(3)]
THIRD = [w.identifier(SET, 3, name="*")]

# The counters of the seeds' registrations.
INFOS = (w.counter_info(1, AVERAGE, 2), w.counter_info(2, AVERAGE_BASE),
         w.counter_info(3, RATE))
REFERS = (w.counter_info(1, MULTI, multi=7),
          w.counter_info(2, OBJECT, perf_time=5, perf_freq=6),
          w.counter_info(3, ELAPSED, perf_time=5, perf_freq=6),
          w.counter_info(4, PRECISION, base=8, perf_time=5),
          w.counter_info(5, LARGE), w.counter_info(6, LARGE),
          w.counter_info(7, RAW), w.counter_info(8, TIMESTAMP))
LOOPS = (w.counter_info(1, AVERAGE, 2), w.counter_info(2, AVERAGE, 1),
         w.counter_info(3, TIMER, 3, 3, 3, 3))
LIMITS = (w.counter_info(1, MULTI_INVERSE, multi=4),
          w.counter_info(2, AVERAGE, 3), w.counter_info(3, AVERAGE_BASE),
          w.counter_info(4, RAW))
UNNAMED = (w.counter_info(1, 0x10510500), w.counter_info(2, 0x30020500, 3),
           w.counter_info(3, AVERAGE_BASE), w.counter_info(4, 0x00010400))


def plain_seeds():
    """Pairs without options."""
    yield "whole_set", sample_seed(whole_set, WHOLE, INFOS)
    yield "repeated", sample_seed(repeated, WHOLE, INFOS)
    yield "separate", sample_seed(separate, TWO, INFOS)
    yield "exact_names", sample_seed(exact, NAMED, INFOS)
    yield "patterns", sample_seed(exact, PATTERNS, INFOS)
    yield "references", sample_seed(referring, WHOLE, REFERS)
    yield "loops", sample_seed(whole_set, WHOLE, LOOPS)
    yield "later_registration", sample_seed(
        whole_set, WHOLE, INFOS,
        registration=w.counterset(SET, INFOS[:2] + (w.counter_info(3, RAW),)))
    yield "other_set", sample_seed(separate, TWO, INFOS[:1],
                                    registration=w.counterset(SECOND, INFOS))
    yield "moved", sample_seed(moved, TWO[:1], INFOS,
                               samples=OLDER_WITHOUT_INFO)
    yield "split", sample_seed(split, THRICE, INFOS)
    yield "joined", sample_seed(joined, [
        w.identifier(SET, 3, name="*", index=index) for index in range(2)],
                                 INFOS)
    yield "broken", sample_seed(broken, WHOLE, INFOS)
    yield "widths", sample_seed(widths, WHOLE, INFOS)
    yield "older_width", sample_seed(older_width, WHOLE, INFOS)
    yield "unasked", sample_seed(whole_set, (), INFOS)
    yield "many", sample_seed(many, THIRD, INFOS, order=(SHUFFLED, REVERSED))
    yield "no_results", sample_seed(lambda tick: [], (), ())


def option_pairs():
    """Pairs for each option, and for each order of instances."""
    yield "strict", sample_seed(whole_set, WHOLE, INFOS, samples=STRICT)
    for name, switches in (("wrap32", WRAP32), ("cap_100", CAP_100),
                           ("per_item_inverse", PER_ITEM_INVERSE),
                           ("clamp_0", CLAMP_0), ("limits", 0)):
        yield name, sample_seed(limits, WHOLE, LIMITS, switches=switches)
    yield "scale", sample_seed(limits, WHOLE, LIMITS, switches=WRAP32,
                                scale=-3)
    yield "bad_scale", sample_seed(widths, WHOLE, INFOS, scale=11)
    yield "server_2003", sample_seed(referring, WHOLE, REFERS,
                                      switches=SERVER_2003)
    yield "generic", sample_seed(limits, WHOLE, UNNAMED, switches=GENERIC)
    yield "unnamed", sample_seed(limits, WHOLE, UNNAMED)
    for name, order in (("as_it_is", (AS_IT_IS, AS_IT_IS)),
                        ("older_reversed", (REVERSED, AS_IT_IS)),
                        ("both_reversed", (REVERSED, REVERSED)),
                        ("both_shuffled", (SHUFFLED, SHUFFLED + 1))):
        yield "order_" + name, sample_seed(repeated, WHOLE, INFOS,
                                            order=order)
        yield "order_separate_" + name, sample_seed(separate, TWO, INFOS,
                                                     order=order)


def churn_seeds():
    """Instances that are added, removed or moved."""
    letters = "abcdefghijklmnopqrst"
    for name, older, newer in (
            ("first_gone", letters, letters[1:]),
            ("first_come", letters[1:], letters),
            ("some", letters, "abcfghXYijklmnopqrtZ"),
            ("too_many_gone", letters, letters[12:]),
            ("too_many_come", "rst", letters),
            ("none_stays", letters, letters.upper()),
            ("gone_again", "aba", "ba"), ("come_again", "ba", "aba"),
            ("gone_later", "abca", "bca"), ("come_later", "bca", "abca"),
            ("gone_last", "ab", "ba"), ("come_last", "bca", "abc"),
            ("gone_and_come", "abcd", "bcad"), ("twins", "aabab", "babaa")):
        yield "churn_" + name, sample_seed(churn(older, newer), THIRD, INFOS,
                                            order=(SHUFFLED, AS_IT_IS))


def v1_pairs():
    """Equal V1 blocks as older and newer sample; they need no queries."""
    for name, block in v1_seeds.v1_valid().items():
        if len(block) < 1900:
            yield "v1_" + name[len("valid_"):], (
                struct.pack("<B", 0) + options_bytes(0, 0) + bytes(2) +
                struct.pack("<4H", len(block), len(block), 0, 0) + 2 * block)


def sample_seeds():
    """All pairs of blocks."""
    yield from v1_pairs()
    yield from plain_seeds()
    yield from option_pairs()
    yield from churn_seeds()


if __name__ == "__main__":
    sys.exit(write_seeds(__doc__, {"formula": formula_seeds(),
                                   "sample": sample_seeds()}))
