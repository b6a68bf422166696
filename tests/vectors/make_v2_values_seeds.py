#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the seeds of the fuzz target v2_values: `make_v2_values_seeds.py CORPUS`.

Each seed is four bytes that select how it is read (the layout of
fuzz/v2_values_fuzzer.c), then a V2 reply. Every run writes the same bytes.
"""

import pathlib
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "oracle"))
# pylint: disable=wrong-import-position
import seed_writer as w  # noqa: E402
from seed_files import write_seeds  # noqa: E402

(STRICT, COLUMNS, SIZES, INSTANCES, CHOSEN, BEFORE, SPARE_AFTER,
 SPARE_INSIDE) = (1 << bit for bit in range(8))


def plan(switches=0, capacity=4, first=0, step=1, after=1, inside=1):
    """The four bytes that select how the reply is read."""
    return struct.pack("<4B", switches, capacity - 1 | inside - 1 << 6, first,
                       step - 1 | after - 1 << 4)


def counterset(values, count):
    """A reply of kind 6 whose instances have these values each."""
    names = ["0,%d" % number for number in range(count)]
    ids = list(range(len(values)))
    parts = [w.instance(number, name, *values)
             for number, name in enumerate(names)]
    body = w.id_list(ids) + w.instance_block(*parts)
    return w.reply(w.result(w.COUNTERSET, body))


def bulk_seeds():
    """{name: bytes} of all seeds."""
    wide = [w.v8(number) for number in range(18)]
    mixed = [w.v4(number) if number % 3 else w.v8(number)
             for number in range(18)]
    odd = list(mixed)
    odd[9] = w.datum(b"\1\2\3")
    short = list(wide)
    short[11] = w.datum(b"\1\2\3\4", block_size=12)[:12]
    broken = list(wide)
    broken[13] = w.datum(bytes(8), data_size=9)
    single = w.reply(w.result(w.SINGLE, w.v8(7)))
    counters = w.reply(w.result(w.COUNTERS,
                                w.id_list(range(18)) + b"".join(mixed)))
    instances = w.reply(w.result(w.INSTANCES, w.instance_block(
        *[w.instance(number, "p" * number, w.v8(number))
          for number in range(11)])))
    sets = {name: counterset(values, 9) for name, values in (
        ("wide", wide), ("mixed", mixed), ("odd", odd), ("short", short),
        ("empty", []))}
    # Many instances of one layout, and instances with many values.
    many = counterset([w.v4(7)], 35)
    values_128 = counterset([w.v8(number) for number in range(128)], 2)
    values_129 = counterset([w.v8(number) for number in range(129)], 2)
    values_300 = counterset([w.v4(number) for number in range(300)], 1)
    two = w.reply(w.result(w.SINGLE, w.v4(1)), w.result(
        w.COUNTERSET, w.id_list([1]) + w.instance_block(
            w.instance(1, "a", w.v8(1)), w.instance(2, "b", w.v4(2)))))
    return {
        "valid_rows": plan(SIZES | INSTANCES, 16) + sets["wide"],
        "valid_columns": plan(COLUMNS, 16) + sets["wide"],
        "valid_batches": plan(COLUMNS | SIZES, 4) + sets["mixed"],
        "valid_mixed_rows": plan(SIZES, 3) + sets["mixed"],
        "valid_odd": plan(SIZES | COLUMNS, 8) + sets["odd"],
        "valid_short": plan(SIZES, 8) + sets["short"],
        "valid_chosen": plan(CHOSEN | COLUMNS, 9, 1, 3) + sets["mixed"],
        "valid_chosen_rows": plan(CHOSEN, 9, 0, 16) + sets["wide"],
        "valid_many": plan(COLUMNS | SIZES, 40) + many,
        "valid_many_spare": plan(COLUMNS | SIZES | SPARE_AFTER | SPARE_INSIDE,
                                 64, after=5) + many,
        "valid_most": plan(SIZES, 2) + values_128,
        "valid_above": plan(SIZES, 2) + values_129,
        "valid_parts": plan(SIZES | COLUMNS, 1) + values_300,
        "valid_parts_chosen": plan(CHOSEN | SIZES, 1, 200, 9) + values_300,
        "valid_spare_rows": plan(SIZES | SPARE_AFTER, 16, after=3)
        + sets["mixed"],
        "valid_spare_columns": plan(COLUMNS | SIZES | SPARE_AFTER, 9)
        + sets["mixed"],
        "valid_spare_both": plan(SIZES | SPARE_AFTER | SPARE_INSIDE, 5,
                                 after=16, inside=4) + sets["wide"],
        "valid_before": plan(BEFORE | INSTANCES, 2) + sets["wide"],
        "valid_no_values": plan(INSTANCES, 5) + sets["empty"],
        "valid_single": plan(SIZES, 1) + single,
        "valid_counters": plan(SIZES | COLUMNS, 1) + counters,
        "valid_instances": plan(COLUMNS | INSTANCES, 8) + instances,
        "valid_two_results": plan(SIZES | INSTANCES | STRICT, 1) + two,
        "broken_short_strict": plan(STRICT | SIZES, 8) + sets["short"],
        "broken_value": plan(COLUMNS, 8) + counterset(broken, 3),
        "broken_cut": plan(COLUMNS, 8) + sets["wide"][:700],
    }


if __name__ == "__main__":
    sys.exit(write_seeds(__doc__, {"v2_values": bulk_seeds().items()}))
