# SPDX-License-Identifier: MIT
"""Checks of report.py on results written out by hand."""
import contextlib
import io
import json
import os
import tempfile
import unittest

import report


def run(name, nanoseconds, **more):
    """One repetition of a benchmark in which an item took so long, as Google Benchmark writes it."""
    return {"name": name, "run_name": name, "run_type": "iteration", "items_per_second": 1e9 / nanoseconds, **more}


def result(*runs, cpu="A", compiler="1"):
    """A file's content."""
    return {"context": {"cpu": cpu, "compiler": compiler}, "benchmarks": list(runs)}


def runs(name, *nanoseconds):
    """Several repetitions of one benchmark."""
    return [run(name, each) for each in nanoseconds]


class Program(unittest.TestCase):
    """What the program prints and returns."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = scratch.name

    def write(self, name, content):
        """A file in the scratch folder."""
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(content if isinstance(content, str) else json.dumps(content))
        return path

    def call(self, *arguments):
        """Exit status, lines printed with single blanks, and what stands on standard error."""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = report.main(list(arguments))
        return status, [" ".join(line.split()) for line in out.getvalue().splitlines()], err.getvalue()

    def test_medians_and_ratios(self):
        # Medians 30 and 2.5 (of an even number: the mean of the two in the middle); 30 / 2.5 = 12.
        path = self.write("a.json", result(*runs("f/x/apply/10", 20, 900, 30), *runs("f/x/plain/10", 2, 3, 1, 9)))
        status, lines, _ = self.call(path)
        self.assertEqual(status, 0)
        self.assertIn("x/apply 30.0 (12.0x)", lines)
        self.assertIn("x/plain 2.50", lines)
        self.assertIn("CPU: A. Compiler: 1.", lines)

    def test_counts_are_columns(self):
        path = self.write("a.json", result(run("f/x/apply/1000", 3), run("f/x/apply/10", 4), run("f/y/apply/1000", 5)))
        lines = self.call(path)[1]
        self.assertEqual(lines[-3:], ["f 10 1,000", "x/apply 4.00 3.00", "y/apply 5.00"])

    def test_what_is_measured_stands_before_its_baselines(self):
        path = self.write("a.json", result(run("f/x/memcpy/10", 1), run("f/y/apply/10", 8), run("f/x/plain/10", 2),
                                           run("f/x/apply/10", 4)))
        lines = self.call(path)[1]
        self.assertEqual([line.split()[0] for line in lines[-4:]], ["x/apply", "x/plain", "x/memcpy", "y/apply"])

    def test_order_of_registration(self):
        # Runs finish at random; the number of the family tells the order, file by file.
        first = self.write("1.json", result(run("f/y/apply/10", 1, family_index=1), run("f/x/apply/10", 2,
                                                                                       family_index=0)))
        second = self.write("2.json", result(run("g/y/apply/10", 3, family_index=0)))
        saved = os.path.join(self.folder, "saved.json")
        expected = ["f 10", "x/apply 2.00", "y/apply 1.00", "", "g 10", "y/apply 3.00"]
        self.assertEqual(self.call("--save", saved, first, second)[1][-6:], expected)
        self.assertEqual(self.call(saved)[1][-6:], expected)

    def test_baseline_of_a_wider_group(self):
        path = self.write("a.json", result(run("f/x/apply/10", 8), run("f/memcpy/10", 2), run("g/x/load/10", 8),
                                           run("f/memcpy/1000", 1)))
        lines = self.call(path)[1]
        self.assertIn("x/apply 8.00 (4.00x)", lines)
        self.assertIn("x/load 8.00", lines)

    def test_names_of_manual_times(self):
        path = self.write("a.json", result(run("m/x/match/10/manual_time", 8), run("m/x/plain/10", 2)))
        self.assertIn("x/match 8.00 (4.00x)", self.call(path)[1])

    def test_aggregates_are_no_repetitions(self):
        path = self.write("a.json", result(run("f/x/apply/10", 8), run("f/x/apply/10", 99, run_type="aggregate")))
        lines = self.call(path)[1]
        self.assertIn("x/apply 8.00", lines)
        self.assertTrue(any("median of 1 repetitions" in line for line in lines))

    def test_compare(self):
        old = self.write("old.json", result(*runs("f/x/apply/10", 100, 101, 102),
                                            *runs("f/y/apply/10", 100, 110, 120),
                                            *runs("f/z/apply/10", 10, 10, 10)))
        new = self.write("new.json", result(*runs("f/x/apply/10", 120, 121.2, 122),
                                            *runs("f/y/apply/10", 105, 112, 130),
                                            *runs("f/z/apply/10", 5, 5, 5),
                                            *runs("f/w/apply/10", 5, 5, 5)))
        status, lines, _ = self.call("--compare", old, new)
        self.assertEqual(status, 0)
        self.assertIn("x/apply 121 (+20%)", lines)
        self.assertIn("y/apply 112 (~)", lines)
        self.assertIn("z/apply 5.00 (-50%)", lines)
        self.assertIn("w/apply 5.00 (new)", lines)

    def test_compare_tells_of_another_machine(self):
        old = self.write("old.json", result(run("f/x/apply/10", 8), cpu="B"))
        new = self.write("new.json", result(run("f/x/apply/10", 8)))
        self.assertIn("The earlier run had another cpu: B.", self.call("--compare", old, new)[1])

    def test_save_and_compare_with_the_same_file(self):
        saved = self.write("saved.json", result(run("f/x/apply/10", 10)))
        first = self.write("1.json", result(run("f/x/apply/10", 20)))
        second = self.write("2.json", result(run("g/x/apply/10", 7)))
        status, lines, _ = self.call("--save", saved, "--compare", saved, first, second)
        self.assertEqual(status, 0)
        self.assertIn("x/apply 20.0 (+100%)", lines)
        lines = self.call(saved)[1]
        self.assertIn("x/apply 20.0", lines)
        self.assertIn("x/apply 7.00", lines)

    def test_markdown(self):
        path = self.write("a.json", result(run("f/x/apply/10", 8), run("f/x/plain/10", 2)))
        lines = self.call("--markdown", path)[1]
        self.assertEqual(lines[-4:], ["| `f/` | 10 |", "|---|---:|", "| `x/apply` | 8.00 (4.00x) |",
                                      "| `x/plain` | 2.00 |"])

    def test_failures(self):
        failed = self.write("failed.json", result(run("f/x/apply/10", 8), {
            "name": "f/y/apply/10", "run_name": "f/y/apply/10", "run_type": "iteration", "error_occurred": True,
            "error_message": "zero_denominator"}))
        good = self.write("good.json", result(run("f/x/apply/10", 8)))
        none = os.path.join(self.folder, "none.json")
        cases = {
            "a benchmark failed": ([failed], "f/y/apply/10: zero_denominator"),
            "nothing ran": ([self.write("empty.json", result())], "nothing was measured"),
            "no JSON": ([self.write("broken.json", "{")], "no result of a benchmark"),
            "another JSON": ([self.write("list.json", "[]")], "no result of a benchmark"),
            "no file": ([none], "no result of a benchmark"),
            "no earlier file": (["--compare", none, good], "no result of a benchmark"),
        }
        for name, (arguments, expected) in cases.items():
            with self.subTest(name):
                saved = os.path.join(self.folder, "saved.json")
                status, lines, error = self.call("--save", saved, *arguments)
                self.assertEqual((status, lines), (1, []))
                self.assertIn(expected, error)
                self.assertFalse(os.path.exists(saved))


if __name__ == "__main__":
    unittest.main()
