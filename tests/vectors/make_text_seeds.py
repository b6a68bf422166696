#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the seeds of the fuzz target text.

make_text_seeds.py CORPUS

CORPUS/text/seeds gets texts of CPI snapshots in the layout of docs/cpi.md.
Each `broken_*` has the one mistake that its name describes. Every run writes
the same bytes.
"""

import sys

from seed_files import write_seeds

HEAD = "cpi-snapshots 1\n"
UINT64_MAX = 2**64 - 1


def snapshot(clock, cpus=(), thread=None):
    """Lines of a snapshot. A CPU is (number, instr, cycles), or with (busy,
    elapsed) at the end; a thread is (tid, instr, cycles)."""
    lines = ["snapshot %d" % clock]
    lines += ["cpu " + " ".join(map(str, cpu)) for cpu in cpus]
    if thread:
        lines.append("thread " + " ".join(map(str, thread)))
    return "\n".join(lines) + "\n"


def examples():
    """Typical texts: the example of README.md, intervals of test_cpi.c (narrow:
    that of docs/cpi.md with a CPU that goes offline), and texts with refusals.
    """
    yield "two_cpus_scaled", HEAD + snapshot(
        1000, [(0, 0, 1000, 0, 1000), (1, 5000, 1000, 0, 1000)]) + snapshot(
            3001000, [(0, 1500000, 3001000, 2250000, 3001000),
                      (1, 3005120, 3001000, 600000, 3001000)])
    yield "thread", HEAD + snapshot(
        68719476736, [(0, 7000000000, 68719476736)],
        (4242, 100, 200)) + snapshot(
            80719476737, [(0, 16000000000, 80719476737)],
            (4242, 8000000100, 10500000200))
    yield "narrow", HEAD + "widths 40 64\n" + snapshot(
        500, [(0, 1099511626776, 10, 0, 0), (1, 777, 10, 5, 0),
              (3, 1, 1, 1, 1)], (900, 0, 0)) + snapshot(
                  8500, [(0, 3000, 8010, 6000, 8000), (1, 777, 8010, 5, 8000)],
                  (900, 3200, 4801))
    yield "refused", HEAD + "refuse -234 instructions on CPU 0, ENOENT\n"
    yield "refused_later", HEAD + snapshot(1, [(0, 1, 2)]) + (
        "refuse -257\n") + snapshot(2, [(0, 3, 4)])


def oddities():
    """Unusual texts that are accepted."""
    yield "head_alone", HEAD
    yield "largest", HEAD + "widths 1 1\n" + snapshot(
        UINT64_MAX, [(2**32 - 1, *[UINT64_MAX] * 4)],
        (2**32 - 1, UINT64_MAX, UINT64_MAX))
    yield "blanks", ("cpi-snapshots\t1 \n\n# remark\n \t\n  snapshot \t7\n"
                     "\tcpu  0\t1  2 \n #\n thread 1 2 3  user\n")
    yield "returns", (HEAD + snapshot(1, [(0, 1, 2)])).replace("\n", "\r\n")
    yield "byte_order_mark", "\ufeff" + HEAD + snapshot(1)
    yield "zeros_before", HEAD + "snapshot 0000000000000000000000000012\n"
    yield "thread_first", HEAD + "snapshot 1\nthread 1 2 3\ncpu 0 1 2\n"
    yield "sentences", (HEAD + "refuse 2147483647 5\nrefuse -2147483648\t#\n"
                        "refuse -1 \u00e4\u4e2d  two blanks \n")
    yield "many_cpus", HEAD + snapshot(
        9, [(3 * number, number, 7) for number in range(60)])
    yield "remark_at_end", HEAD + snapshot(1) + "# nothing"


BROKEN = {
    "widths_zero": "widths 0 64\n",
    "widths_beyond": "widths 64 65\n",
    "widths_later": snapshot(1) + "widths 64 64\n",
    "cpu_alone": "cpu 0 1 2\n",
    "thread_alone": "thread 0 1 2\n",
    "cpu_after_refusal": "refuse -1 x\ncpu 0 1 2\n",
    "clock_missing": "snapshot\n",
    "clock_beyond": "snapshot %d\n" % (UINT64_MAX + 1),
    "clock_two": "snapshot 1 2\n",
    "cpu_four": snapshot(1) + "cpu 0 1 2 3\n",
    "cpu_beyond": snapshot(1) + "cpu 4294967296 1 2\n",
    "cpu_twice": snapshot(1, [(0, 1, 2), (0, 1, 2)]),
    "cpu_falls": snapshot(1, [(1, 1, 2), (0, 1, 2)]),
    "busy_of_one": snapshot(1, [(0, 1, 2, 3, 4), (1, 1, 2)]),
    "thread_twice": snapshot(1, [], (1, 2, 3)) + "thread 1 2 3\n",
    "thread_word": snapshot(1) + "thread 1 2 3 kernel\n",
    "code_zero": "refuse 0 x\n",
    "code_beyond": "refuse -2147483649 x\n",
    "nul": "refuse -1 a\0b\n",
    "unknown_word": "hello\n",
    "no_last_end": snapshot(1) + "cpu 0 1 2",
}


def seeds():
    """(name, text) of each seed; write_seeds appends .txt to the names."""
    for make in (examples, oddities):
        for name, text in make():
            yield "valid_" + name, text
    for name, text in BROKEN.items():
        yield "broken_" + name, HEAD + text
    yield "broken_version_0", "cpi-snapshots 0\n"
    # Lines of a later version, which must not be read.
    yield "broken_version_2", "cpi-snapshots 2\nwidths 40 64 64\n"
    yield "broken_other_text", "snapshot 1\n"
    yield "broken_no_bytes", ""


if __name__ == "__main__":
    sys.exit(write_seeds(__doc__, {"text": seeds()}))
