#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reading takes a bounded number of instructions for each byte, whatever the bytes are.

    test_instructions.py READ_INPUTS CORPUS     the inputs of the corpus, and worst cases

Counted, not timed: the same numbers every time. Of a seed the cost of reading
nothing is taken out, of a worst case that of half of it. What sorts may take as
much again for each binary digit of the size.
"""

import math
import pathlib
import sys
import tempfile
import unittest

import cases
import counting
import worst_blocks  # noqa: F401 (fills the list)
import worst_samples  # noqa: F401
import worst_streams  # noqa: F401
import worst_texts  # noqa: F401

PER_BYTE = 60
SORTING = {"name_index", "pairing"}
# Between nothing and something lies what an open function does once: seeds are small.
ONCE = 500
# Below, a reader has given up before it came to what the case is about.
LEAST_PER_BYTE = 0.5
SHOWN = 5

# Folders of the corpus and who reads them.
READERS = {
    "capture": ["capture"],
    "cpi_hooks": ["cpi_hooks"],
    "cpi_text": ["cpi_text"],
    "cpuid_text": ["cpuid_text"],
    "data_block": ["data_block", "finish", "bulk", "bulk_single"],
    "legacy_block": ["legacy_block"],
    "lwp": ["lwp"],
    "name_table": ["name_table", "name_index"],
    "pairing": ["pairing"],
    "registration": ["registration"],
}


def allowed(reader, size):
    """Instructions for so many bytes."""
    return PER_BYTE * size * (math.log2(max(size, 2)) if reader in SORTING
                              else 1)


def describe(taken, limit, job, count):
    """A line about an input: how near it comes to its limit, and where."""
    functions = ", ".join(f"{name} {part / count.total:.0%}" for name, part
                          in count.functions.most_common(3))
    return (f"{taken / limit:6.2f} of the limit, {taken / job.size:7.1f} a byte: {job.name} "
            f"({job.size} bytes; {functions})")


class Instructions(unittest.TestCase):
    """What the counts say."""

    program = corpus = None

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def job(self, name, reader, content, strict=False):
        """An input of its own file."""
        path = self.folder / f"{len(list(self.folder.iterdir()))}.bin"
        path.write_bytes(content)
        return counting.Job(name, reader, strict, path, len(content))

    def count(self, jobs):
        """Their counts."""
        return counting.count(self.program, jobs, self.folder / "counts")

    def judge(self, what, rows):
        """Prints the worst of (share of the limit, line), and fails for those above."""
        rows.sort(reverse=True)
        print(f"{what}: {len(rows)}, the worst of them:")
        print("\n".join(line for _, line in rows[:SHOWN]))
        above = [line for share, line in rows if share > 1]
        if above:
            self.fail("above the limit:\n" + "\n".join(above))

    def test_seeds(self):
        """Every seed and every past crash, tolerant and strict."""
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
            limit = allowed(job.reader, job.size) + ONCE
            rows.append((taken / limit, describe(taken, limit, job, count)))
        self.judge("seeds", rows)

    def test_worst_cases(self):
        """Two sizes of each: the difference has no cost of starting in it."""
        jobs = []
        for name, reader, make, sizes in cases.CASES:
            jobs += [self.job(name, reader, make(size)) for size in sizes]
        counts, rows = self.count(jobs), []
        for small, large, few, many in zip(jobs[::2], jobs[1::2], counts[::2], counts[1::2]):
            taken = many.total - few.total
            limit = allowed(large.reader, large.size) - allowed(small.reader, small.size)
            with self.subTest(large.name):
                self.assertGreater(taken, LEAST_PER_BYTE * (large.size - small.size), "was given up early")
            more = large._replace(size=large.size - small.size)
            rows.append((taken / limit, describe(taken, limit, more, many)))
        self.judge("worst cases", rows)

    def test_counts_repeat(self):
        """The same input takes the same instructions twice, and a longer one more."""
        _, reader, make, sizes = cases.CASES[0]
        jobs = [self.job("once", reader, make(sizes[0]))] * 2 + [self.job("more", reader, make(sizes[1]))]
        first, second, longer = self.count(jobs)
        self.assertEqual(first, second)
        self.assertGreater(longer.total, first.total)
        self.assertEqual(sum(first.functions.values()), first.total)


if __name__ == "__main__":
    Instructions.program, Instructions.corpus = sys.argv[1], pathlib.Path(sys.argv[2])
    unittest.main(argv=sys.argv[:1])
