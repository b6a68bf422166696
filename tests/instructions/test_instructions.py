#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every reader takes a bounded number of instructions per byte, for any input.

test_instructions.py READ_INPUTS CORPUS

The inputs are those of the corpus, the worst cases of worst_*.py, and regular
blocks. Instructions are counted, so the numbers are the same in each run.

The instructions per byte of an input of the corpus must not exceed a limit,
after those for an empty input were subtracted. For a worst case, the cost of a
smaller input of the case is subtracted. Readers that sort have a limit per byte
and binary digit of the size. Twice the bytes of a worst case may cost only
little more than twice the instructions, because a limit per byte alone would
not detect a nested loop over a small input. A value of a regular block must
cost the same for any number of instances.
"""

import math
import pathlib
import sys
import tempfile
import unittest

import cases
import counting
import regular
import worst_blocks  # noqa: F401 (adds its cases to cases.CASES)
import worst_logs  # noqa: F401
import worst_samples  # noqa: F401
import worst_streams  # noqa: F401
import worst_texts  # noqa: F401

PER_BYTE = 60
# Higher for V1, where the definition of a counter is read again for each value.
PER_BYTE_V1 = 72
# Higher for PDH text: converting a few characters, such as 1e-300, to the nearest double takes long.
PER_BYTE_PDH_TEXT = 700
# Readers that sort: instructions for each byte and each binary digit of the size.
SORTING = {"name_index": 56, "cook": 45, "log": 10}
# Allowance for the instructions that opening an input takes, which small seeds are too short to outweigh.
ONCE = 500
# Higher for numbers in a text, whose first eight are read in each of two forms before they are read.
ONCE_NUMBER_TEXT = 3500
SHOWN = 5  # rows printed by check_limits
# Regular blocks: their numbers of instances, and the maximum growth of the cost of one value.
INSTANCES = 64, 4096, 65536
MAX_VALUE_GROWTH = 1.02

# {folder of the corpus: readers of its inputs}
READERS = {
    "capture": ["capture"],
    "hooks": ["cpi_hooks"],
    "text": ["cpi_text"],
    "log": ["log"],
    "number_text": ["number_text"],
    "pdh_text": ["pdh_text"],
    "cpuid_text": ["cpuid_text"],
    "v2": ["v2", "finish", "bulk", "bulk_columns", "bulk_single"],
    "v1": ["v1"],
    "lwp": ["lwp"],
    "name_table": ["name_table", "name_index"],
    "sample": ["cook"],
    "metadata": ["registration"],
}


def allowed(reader, size):
    """The maximum number of instructions for `size` bytes."""
    if reader in SORTING:
        return SORTING[reader] * size * math.log2(max(size, 2))
    return {"v1": PER_BYTE_V1, "pdh_text": PER_BYTE_PDH_TEXT}.get(reader, PER_BYTE) * size


def growth(jobs, counts):
    """The factor by which the cost grows if the bytes double: 2 if the cost is
    linear. Differences between three sizes are compared, so that constant costs
    cancel out."""
    first, second, third = (count.total for count in counts)
    sizes = [job.size for job in jobs]
    steps = (sizes[2] - sizes[1]) / (sizes[1] - sizes[0])
    return (third - second) / (second - first) * 2 / steps


def describe(taken, limit, job, count):
    """A line about an input: its share of the limit, and the functions with most instructions."""
    functions = ", ".join(f"{name} {part / count.total:.0%}" for name, part
                          in count.functions.most_common(3))
    return (f"{taken / limit:6.2f} of the limit, {taken / job.size:7.1f} a byte: {job.name} "
            f"({job.size} bytes; {functions})")


class Instructions(unittest.TestCase):
    """The tests; `program` is read_inputs and `corpus` the folder of the corpus."""

    program = corpus = None

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def job(self, name, reader, content, strict=False):
        """Writes an input to a file; returns its Job."""
        path = self.folder / f"{len(list(self.folder.iterdir()))}.bin"
        path.write_bytes(content)
        return counting.Job(name, reader, strict, path, len(content))

    def count(self, jobs):
        """The Count of each Job."""
        return counting.count(self.program, jobs, self.folder / "counts")

    def check_limits(self, what, rows):
        """Prints the rows with the highest shares of their limits, and fails for shares above 1."""
        rows.sort(reverse=True)
        print(f"{what}: {len(rows)}, the worst of them:")
        print("\n".join(line for _, line in rows[:SHOWN]))
        above = [line for share, line in rows if share > 1]
        if above:
            self.fail("above the limit:\n" + "\n".join(above))

    def test_seeds_stay_below_the_limit(self):
        """Seeds and regression inputs of the folders in READERS stay below the limit, with and without strict mode."""
        jobs = []
        for folder, readers in READERS.items():
            paths = sorted(path for kind in ("seeds", "regress")
                           for path in self.corpus.joinpath(folder, kind).glob("*"))
            self.assertTrue(paths, folder)
            for reader in readers:
                jobs.append(self.job(f"{reader}/nothing", reader, b""))
                for strict in (False, True):
                    how = "strict " if strict else ""
                    jobs += [counting.Job(f"{reader} {how}{path.relative_to(self.corpus)}", reader, strict,
                                          path, path.stat().st_size) for path in paths]
        nothing, rows = {}, []
        for job, count in zip(jobs, self.count(jobs)):
            if job.size == 0:
                nothing.setdefault(job.reader, count.total)
                continue
            taken = count.total - nothing[job.reader]
            limit = allowed(job.reader, job.size) + (ONCE_NUMBER_TEXT if job.reader == "number_text" else ONCE)
            rows.append((taken / limit, describe(taken, limit, job, count)))
        self.check_limits("seeds", rows)

    def check_case(self, case, jobs, counts):
        """Asserts that the cost of a case grows linearly, and that the reader read the input to its end."""
        with self.subTest(case.name):
            self.assertGreater(counts[2].total - counts[1].total,
                               case.min_cost * (jobs[2].size - jobs[1].size), "reading stopped early")
            self.assertLess(growth(jobs, counts), case.max_growth, "the cost grows faster than the size")
            rows, matched, values, displayed = counts[2].samples
            self.assertGreaterEqual(matched, case.matched * rows, "rows matched")
            self.assertGreaterEqual(displayed, case.displayed * values, "values displayed")
            if case.reader == "cook":
                self.assertGreater(min(rows, values), 0, "no samples")

    def test_worst_cases_are_linear_and_below_the_limit(self):
        """Each worst case stays below the limit, and its cost grows linearly."""
        jobs, rows = [], []
        for case in cases.CASES:
            jobs += [self.job(case.name, case.reader, case.make(size)) for size in case.sizes]
        counts = self.count(jobs)
        for number, case in enumerate(cases.CASES):
            three = slice(3 * number, 3 * number + 3)
            self.check_case(case, jobs[three], counts[three])
            _, small, large = jobs[three]
            _, few, many = counts[three]
            taken = many.total - few.total
            limit = allowed(large.reader, large.size) - allowed(small.reader, small.size)
            more = large._replace(size=large.size - small.size)
            rows.append((taken / limit, describe(taken, limit, more, many)))
        self.check_limits("worst cases", rows)

    def test_a_value_costs_the_same_in_large_blocks(self):
        """A value costs the same in blocks of up to 65,536 instances."""
        jobs = [self.job(f"{reader}/regular", reader, make(count))
                for reader, make in regular.READERS.items() for count in INSTANCES]
        totals = [count.total for count in self.count(jobs)]
        for number, reader in enumerate(regular.READERS):
            taken = totals[len(INSTANCES) * number:][:len(INSTANCES)]
            steps = zip(taken, taken[1:], INSTANCES, INSTANCES[1:])
            costs = [(after - before) / (many - few) / regular.COUNTERS for before, after, few, many in steps]
            print(f"{reader}: {', '.join(f'{cost:.2f}' for cost in costs)} a value")
            with self.subTest(reader):
                self.assertGreater(costs[0], 1, "the values were not read")
                self.assertLess(costs[1] / costs[0], MAX_VALUE_GROWTH)

    def test_counts_are_the_same_when_repeated(self):
        """Counting twice gives the same numbers, and a longer input takes more instructions."""
        case = cases.CASES[0]
        jobs = [self.job("once", case.reader, case.make(case.sizes[0]))] * 2
        jobs.append(self.job("more", case.reader, case.make(case.sizes[1])))
        first, second, longer = self.count(jobs)
        self.assertEqual(first, second)
        self.assertGreater(longer.total, first.total)
        self.assertEqual(sum(first.functions.values()), first.total)


if __name__ == "__main__":
    Instructions.program, Instructions.corpus = sys.argv[1], pathlib.Path(sys.argv[2])
    unittest.main(argv=sys.argv[:1])
