#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the seeds of the fuzz target cpi.

make_cpi_seeds.py CORPUS

CORPUS/cpi/seeds gets worked intervals, and one seed for each mode, status,
wrong argument and limit. Every run writes the same bytes. fuzz/cpi_fuzzer.c
describes the layout of an input.
"""

import struct
import sys

from seed_files import write_seeds

RAW, SCALED, ON_THREAD, THREAD_ONLY = 1, 2, 4, 0x80000000
NOT_AT_START, NOT_AT_END = 1, 2
TWO32, TWO40, TWO48, TWO53, TWO64 = (1 << bits for bits in (32, 40, 48, 53,
                                                            64))
THREAD = ((4242, 100, 200), (4242, 900, 1800))


def cpu(number, instr=(1000, 5000), cycles=(10, 8010), busy=(0, 6000),
        elapsed=(0, 8000), absent=0):
    """One CPU, each counter at start and end."""
    start, end = zip(instr, cycles, busy, elapsed)
    return struct.pack("<IB8Q", number, absent, *start, *end)


def seed(*cpus, mode=RAW | SCALED, widths=(64, 64), clock=(500, 8500),
         threads=THREAD, absent=0):
    """Two snapshots."""
    return struct.pack("<IBBB2Q", mode, *widths, absent, *clock) + b"".join(
        struct.pack("<IQQ", *thread) for thread in threads) + b"".join(cpus)


def worked_seeds():
    """Realistic intervals."""
    clock = (1000, 3001000)
    yield "two_cpus", seed(
        cpu(0, (0, 1500000), clock, (0, 2250000), clock),
        cpu(1, (5000, 3005120), clock, (0, 600000), clock), clock=clock)
    clock = (1 << 36, (1 << 36) + 12000000001)
    yield "on_thread", seed(
        cpu(0, (7000000000, 16000000000), clock), mode=RAW | ON_THREAD,
        clock=clock, threads=((4242, 100, 200),
                              (4242, 8000000100, 10500000200)))
    yield "wrapped_idle_and_offline", seed(
        cpu(0, (TWO40 - 1000, 3000)), cpu(1, (777, 777), busy=(5, 5)),
        cpu(3, (1, 0), (1, 0), (1, 0), (1, 0), NOT_AT_END),
        mode=RAW | SCALED | ON_THREAD, widths=(40, 64),
        threads=((900, 0, 0), (900, 3200, 4801)))
    yield "many", seed(*(cpu(number, (0, 977 * number), (0, 8000))
                         for number in range(56)))


def mode_seeds():
    """Modes, threads and wrong arguments."""
    for mode in (0, RAW, SCALED, ON_THREAD, THREAD_ONLY):
        yield f"mode_{mode:x}", seed(cpu(0), mode=mode)
    yield "bad_mode", seed(cpu(0), mode=8)
    yield "bad_thread_only_scaled", seed(mode=THREAD_ONLY | SCALED)
    yield "bad_no_thread", seed(cpu(0), mode=ON_THREAD, absent=NOT_AT_END)
    yield "bad_two_threads", seed(cpu(0), mode=ON_THREAD, threads=(
        (1, 0, 0), (2, 10, 20)))
    for width in (0, 65, 255):
        yield f"bad_width_{width}", seed(cpu(0), widths=(64, width))
    yield "bad_order", seed(cpu(1), cpu(0))
    yield "bad_twice", seed(cpu(1, absent=NOT_AT_START), cpu(1))
    yield "clock_backward", seed(cpu(0), clock=(2, 1))
    for name, end in (("no_instr", (100, 900)), ("backward", (900, 199)),
                      ("overflow", (101, TWO64 - 1))):
        yield "thread_" + name, seed(mode=THREAD_ONLY, threads=(
            (7, 100, 200), (7, *end)))


def status_seeds():
    """Statuses of CPUs, with their causes."""
    yield "no_cpus", seed()
    yield "no_instr", seed(cpu(0, (5, 5)))
    yield "no_elapsed", seed(cpu(0, elapsed=(9, 9)), cpu(1))
    yield "offline", seed(cpu(0, absent=NOT_AT_END))
    yield "come_and_gone", seed(cpu(0, absent=NOT_AT_START), cpu(1),
                                cpu(2, absent=NOT_AT_END))
    yield "ambiguous", seed(cpu(0), widths=(40, 48), clock=(0, TWO40))
    yield "not_ambiguous", seed(cpu(0), widths=(40, 48), clock=(0, TWO40 - 1))
    yield "clamped", seed(cpu(0, busy=(0, 8001)))
    for place, name in enumerate(("instr", "cycles", "busy", "elapsed")):
        fell = [(1000, 5000), (10, 8010), (0, 6000), (0, 8000)]
        fell[place] = (20, 10)
        yield "backward_" + name, seed(cpu(0, *fell), cpu(1))
        if place < 2:
            fell[place] = (20, TWO48)
            yield "invalid_" + name, seed(cpu(0, *fell), widths=(48, 48))
            fell[place] = (TWO48 - 5, 10)
            yield "wrapped_" + name, seed(cpu(0, *fell), widths=(48, 48))
    yield "one_bit", seed(cpu(0, (1, 0), (0, 1)), cpu(1, (0, 1), (1, 1)),
                          widths=(1, 1), clock=(0, 1))


def edge_seeds():
    """Limits of hooks and of doubles, and the longest sums."""
    longest = (0, TWO64 - 1)
    for name, cycles, instr in (
            ("hook_most", TWO32 - 2, 1), ("hook_over", TWO32 - 1, 1),
            ("hook_tie", 20000 * (TWO32 - 1) - 1, 20000),
            ("hook_below_tie", 20000 * (TWO32 - 1) - 2, 20000),
            ("double_tie", TWO53 + 1, 1), ("double_carry", TWO64 - 1, 1),
            ("double_least", 1, TWO64 - 1), ("third", 1, 3)):
        yield name, seed(cpu(0, (0, instr), (0, cycles), (0, 1), (0, 3)))
    yield "longest_product", seed(cpu(0, (0, 3), longest, (1, TWO64 - 1),
                                      longest))
    yield "longest_sums", seed(*(cpu(number, longest, longest, longest,
                                     longest) for number in range(8)))
    yield "long_cycles", seed(*(cpu(number, (0, number), longest)
                                for number in range(3)))


def all_seeds():
    """(name, bytes) of each seed."""
    yield from worked_seeds()
    yield from mode_seeds()
    yield from status_seeds()
    yield from edge_seeds()


if __name__ == "__main__":
    sys.exit(write_seeds(__doc__, {"cpi": all_seeds()}))
