# SPDX-License-Identifier: MIT
"""Realistic blocks with any number of instances, to test that a value costs the
same in large blocks as in small ones."""

import cases  # noqa: F401 (makes the writers importable)
import v1_writer as v1
import seed_writer as w

COUNTERS = 32
LARGE, DWORD = 0x00010100, 0x00010000
L = v1.little


def processors(count):
    """A V2 reply whose values have 8 bytes, except that every third has 4."""
    values = b"".join(w.v8(n) if n % 3 else w.v4(n) for n in range(COUNTERS))
    made = [w.instance(n, f"{n // 64},{n % 64}", values) for n in range(count)]
    return w.reply(w.result(w.COUNTERSET, w.id_list(range(COUNTERS)) + w.instance_block(*made)))


def processes(count):
    """A V1 block of one object with values of the same sizes."""
    counters, raws, at = [], [], 8
    for n in range(COUNTERS):
        size = 8 if n % 3 else 4
        counters.append(L.counter(2 * n, LARGE if size == 8 else DWORD, size, at))
        raws.append(L.v8(n) if size == 8 else L.v4(n))
        at += size
    block = L.values(bytes(4), *raws, tail=bytes(-at % 8))
    made = [L.instance(f"process#{n}", block) for n in range(count)]
    return L.block(L.object(230, counters, made))


# {reader: function that returns the block for a number of instances}
READERS = {
    "v2": processors,
    "bulk": processors,
    "bulk_columns": processors,
    "v1": processes,
}
