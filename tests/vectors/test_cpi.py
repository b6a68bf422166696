#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares CPI figures with exact fractions.

test_cpi.py RUN_CPI...   the command that starts the runner, run_cpi.c

Random snapshots, the same in each run, go through the runner. Every count,
status and bit must be that of tests/oracle/cpi_figures.py.
"""

import pathlib
import random
import re
import struct
import subprocess
import sys
import unittest
from collections import Counter

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "oracle"))
# pylint: disable=wrong-import-position
import cpi_figures as c  # noqa: E402
import make_cpi_facility_seeds  # noqa: E402
import make_cpi_seeds  # noqa: E402

PAGE = (ROOT / "docs" / "cpi.md").read_text(encoding="utf-8")
STATUSES = re.findall(r"^\| \d+ \| `(\w+)` \|", PAGE, re.MULTILINE)
RUNNER = []
MODES = (0, c.RAW, c.SCALED, c.ON_THREAD, c.SCALED | c.ON_THREAD,
         c.THREAD_ONLY)
EDGES = [0, 1, 2, 3, 100, 4999, 5000, 9999, 10000, 20000] + [
    (1 << bits) + more for bits in (31, 32, 40, 48, 52, 53, 54, 63)
    for more in (-1, 0, 1)] + [c.UINT64_MAX - 1, c.UINT64_MAX]


# Cases -----------------------------------------------------------------------

def some_number(rng, bits=64):
    """A random number of 1 to `bits` bits, or the low `bits` bits of a number
    of EDGES."""
    if rng.random() < 0.3:
        return rng.choice(EDGES) & ((1 << bits) - 1)
    return rng.getrandbits(rng.randint(1, bits))


def advance(rng, start, width):
    """A later reading: mostly greater, sometimes wrapped, equal or random."""
    kind = rng.random()
    if kind < 0.15:
        return start
    if kind < 0.2:
        return some_number(rng)
    later = start + some_number(rng, width)
    return later % (1 << width) if kind < 0.6 else min(later, (1 << width) - 1)


def cpu_readings(rng, number, widths):
    """One CPU at both ends of the interval."""
    bits = widths + (64, 64)
    start = [some_number(rng, width) if rng.random() < 0.9 else
             some_number(rng) for width in bits]
    if rng.random() < 0.5:
        start = [value // 4 for value in start]
    end = [advance(rng, value, width) for value, width in zip(start, bits)]
    return c.Cpu(number, *start), c.Cpu(number, *end)


def thread_readings(rng):
    """A thread at both ends of the interval; sometimes two different ones, or
    none at the start."""
    tid = rng.getrandbits(32)
    other = tid ^ 1 if rng.random() < 0.02 else tid
    start = (some_number(rng) // 2, some_number(rng) // 2)
    return (c.Thread(tid, *start) if rng.random() < 0.99 else None,
            c.Thread(other, *(advance(rng, value, 64) for value in start)))


def some_case(rng, cpus):
    """Two snapshots, widths and a mode."""
    # In more than 40 % of the cases both counters have 64 bits. For narrower
    # ones, an interval of 2^width or more is ambiguous.
    widths = tuple(rng.choice((64, 48, 40, rng.randint(1, 64)))
                   for _ in range(2)) if rng.random() < 0.6 else (64, 64)
    pairs = [cpu_readings(rng, number, widths) for number
             in sorted(rng.sample(range(4 * cpus + 1), cpus))]
    stay = rng.choice((1, 0.9))
    online = [[pair[end] for pair in pairs if rng.random() < stay]
              for end in range(2)]
    if rng.random() < 0.02:
        rng.shuffle(online[rng.randrange(2)])
    clock = some_number(rng) // 2
    elapsed = some_number(rng, min(63, rng.choice((63, *widths))))
    if rng.random() < 0.02:
        elapsed = -min(clock, 1)
    threads = thread_readings(rng)
    mode = rng.choice(MODES) if rng.random() < 0.98 else rng.getrandbits(32)
    return (c.Snapshot(clock, online[0], threads[0]),
            c.Snapshot(clock + elapsed, online[1], threads[1]), widths, mode)


def snapshot_text(snapshot):
    """A snapshot in the runner's input format."""
    thread = snapshot.thread or c.Thread(0)
    numbers = [snapshot.clock, int(snapshot.thread is not None), *thread,
               len(snapshot.cpus)]
    for cpu in snapshot.cpus:
        numbers += cpu
    return " ".join(map(str, numbers))


def case_text(start, end, widths, mode):
    """A case in the runner's input format."""
    return "{} {} {}\n{}\n{}\n".format(mode, *widths, snapshot_text(start),
                                       snapshot_text(end))


# Results ---------------------------------------------------------------------

def double_text(value):
    """The bits of a double."""
    return struct.pack(">d", value).hex()


def figures_text(figures):
    """Figures in the runner's output format."""
    return " ".join(map(str, figures[:6])) + " " + " ".join(map(
        double_text, figures[6:9])) + f" {figures.cpu} {int(figures.clamped)}"


def expected_text(case):
    """The expected output of the runner."""
    verdict, result = c.compute(*case)
    if result is None:
        return str(verdict)
    head = (verdict, result.mode, result.elapsed, len(result.cpus),
            int(result.changed), int(result.tid is not None), result.tid or 0)
    return " ".join([*map(str, head), *map(figures_text, (
        result.system, result.thread, *result.cpus))])


def run(cases):
    """The output lines of the runner."""
    done = subprocess.run(RUNNER, input="".join(case_text(*case) for case
                                                in cases),
                          stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout.splitlines()


class Figures(unittest.TestCase):
    """The runner, compared with fractions."""

    def compare(self, cases):
        """Compare each case."""
        lines = run(cases)
        self.assertEqual(len(lines), len(cases))
        seen = Counter()
        for case, line in zip(cases, lines):
            expected = expected_text(case)
            self.assertEqual(line, expected, case_text(*case))
            verdict, result = c.compute(*case)
            seen[verdict] += 1
            if result:
                seen.update([f"system_{result.system.status}",
                             f"thread_{result.thread.status}"])
                seen.update(cpu.status for cpu in result.cpus)
                seen["clamped"] += result.system.clamped
                seen["changed"] += result.changed
        return seen

    def test_random_snapshots_have_the_figures_of_fractions(self):
        rng = random.Random(1)
        seen = self.compare([some_case(rng, rng.randint(0, 6))
                             for _ in range(20000)])
        # Every status occurred several times.
        for name in (*range(4), *STATUSES, "clamped", "changed", "system_ok",
                     "system_no_instr", "system_overflow", "system_invalid",
                     "thread_ok", "thread_no_instr", "thread_backward",
                     "thread_overflow"):
            self.assertGreater(seen[name], 20, name)

    def test_many_cpus_have_the_figures_of_fractions(self):
        rng = random.Random(2)
        cases = [some_case(rng, count) for count in (1023, 1024, 1024, 1025)
                 for _ in range(3)]
        self.compare(cases)

    def test_largest_sums_are_exact_or_overflow(self):
        for count in (1, 2, 1024):
            part = c.UINT64_MAX // count
            for instr, cycles, busy in (
                    (c.UINT64_MAX, c.UINT64_MAX, c.UINT64_MAX),
                    (c.UINT64_MAX, 1, 0), (1, c.UINT64_MAX, 1),
                    (part, part, 7), (part + (count > 1), 3, 3)):
                self.compare([(
                    c.Snapshot(0, [c.Cpu(n) for n in range(count)]),
                    c.Snapshot(0, [c.Cpu(n, instr, cycles, busy, c.UINT64_MAX)
                                   for n in range(count)]),
                    (64, 64), mode) for mode in (c.RAW, c.SCALED)])


class Files(unittest.TestCase):
    """docs/cpi.md, corpus/cpi and corpus/cpi_facility."""

    def test_the_writers_write_the_seeds(self):
        folder = ROOT / "corpus" / "cpi" / "seeds"
        self.assertEqual({path.stem: path.read_bytes() for path
                          in folder.iterdir()},
                         dict(make_cpi_seeds.all_seeds()))
        folder = ROOT / "corpus" / "cpi_facility" / "seeds"
        self.assertEqual({path.stem: path.read_bytes() for path
                          in folder.iterdir()},
                         dict(make_cpi_facility_seeds.all_seeds()))

    def test_the_page_lists_every_status_in_order(self):
        rows = re.findall(r"^\| (\d+) \| `(\w+)` \|", PAGE, re.MULTILINE)
        header = (ROOT / "core/cpi/include/perfblock/cpi/cpi.h").read_text(
            encoding="utf-8")
        body = re.search(r"typedef enum pfb_cpi_status \{(.*?)\}", header,
                         re.DOTALL).group(1)
        names = re.findall(r"^\s*PFB_CPI_(\w+)", body, re.MULTILINE)
        self.assertEqual([row[1] for row in rows],
                         [name.lower() for name in names[:-1]])
        self.assertEqual([int(row[0]) for row in rows], list(range(9)))


if __name__ == "__main__":
    RUNNER = sys.argv[1:]
    if not RUNNER:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    unittest.main(argv=sys.argv[:1])
