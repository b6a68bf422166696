# SPDX-License-Identifier: MIT
"""Tests report.py with results written by hand."""
import contextlib
import io
import json
import os
import pathlib
import re
import tempfile
import unittest

import promises
import report


def run(name, nanoseconds, **more):
    """One repetition of a benchmark with this time per item, in the format of Google Benchmark."""
    return {"name": name, "run_name": name, "run_type": "iteration", "items_per_second": 1e9 / nanoseconds, **more}


def result(*runs, cpu="A", compiler="1"):
    """The content of a file that Google Benchmark writes for these runs."""
    return {"context": {"cpu": cpu, "compiler": compiler}, "benchmarks": list(runs)}


def runs(name, *nanoseconds):
    """The repetitions of one benchmark, one for each time per item."""
    return [run(name, each) for each in nanoseconds]


class Program(unittest.TestCase):
    """What report.py prints, writes and returns."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = scratch.name

    def write(self, name, content):
        """Writes a file into the scratch folder, as text or else as JSON; returns its path."""
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(content if isinstance(content, str) else json.dumps(content))
        return path

    def call(self, *arguments):
        """Runs report.py; returns its exit status, its output lines with single blanks, and its standard error."""
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

    def test_a_typical_reader_is_preferred_to_twin_and_memcpy(self):
        path = self.write("a.json", result(run("d/x/walk/10", 8), run("d/x/memcpy/10", 1), run("d/x/twin/10", 2),
                                           run("d/x/typical/10", 4)))
        lines = self.call(path)[1]
        self.assertEqual(lines[-4:], ["x/walk 8.00 (2.00x)", "x/typical 4.00", "x/twin 2.00", "x/memcpy 1.00"])

    def test_counts_are_columns(self):
        path = self.write("a.json", result(run("f/x/apply/1000", 3), run("f/x/apply/10", 4), run("f/y/apply/1000", 5)))
        lines = self.call(path)[1]
        self.assertEqual(lines[-3:], ["f 10 1,000", "x/apply 4.00 3.00", "y/apply 5.00"])

    def test_baselines_come_after_the_measured_benchmark(self):
        path = self.write("a.json", result(run("f/x/memcpy/10", 1), run("f/y/apply/10", 8), run("f/x/plain/10", 2),
                                           run("f/x/apply/10", 4)))
        lines = self.call(path)[1]
        self.assertEqual([line.split()[0] for line in lines[-4:]], ["x/apply", "x/plain", "x/memcpy", "y/apply"])

    def test_order_of_registration(self):
        # Runs finish in random order; the number of the family gives the order within a file.
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

    def test_aggregates_are_not_counted_as_repetitions(self):
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

    def test_compare_reports_another_machine(self):
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
            "no JSON": ([self.write("broken.json", "{")], "not a file of benchmark results"),
            "another JSON": ([self.write("list.json", "[]")], "not a file of benchmark results"),
            "no file": ([none], "not a file of benchmark results"),
            "a folder": ([self.folder], "not a file of benchmark results"),
        }
        cases.update({name: ([path], text) for name, (path, text) in self.write_unusable_files().items()})
        for name, (arguments, expected) in cases.items():
            with self.subTest(name):
                saved = os.path.join(self.folder, "saved.json")
                status, lines, error = self.call("--save", saved, *arguments)
                self.assertEqual((status, lines), (1, []))
                self.assertIn(expected, error)
                self.assertEqual(error.count("\n"), 1, error)
                self.assertFalse(os.path.exists(saved))

    def write_unusable_files(self):
        """Writes files of JSON that report.py refuses; maps each file's defect to its path and a part of the message."""
        name = "f/x/apply/10"
        rateless = {"name": name, "run_name": name, "run_type": "iteration"}
        contents = {
            "no rate": (result(rateless), f"{name}: no items per second"),
            "a rate of 0": (result({**rateless, "items_per_second": 0}), f"{name}: no items per second"),
            "a rate below 0": (result({**rateless, "items_per_second": -1.0}), f"{name}: no items per second"),
            "a rate that is no number": (result({**rateless, "items_per_second": "1"}), f"{name}: no items per second"),
            "no finite rate": (result({**rateless, "items_per_second": float("inf")}), f"{name}: no items per second"),
            "a rate of many digits": (result({**rateless, "items_per_second": 10 ** 400}),
                                      f"{name}: no items per second"),
            "a rate too small": (result({**rateless, "items_per_second": 1e-308}), f"{name}: no items per second"),
            "one slash": (result(run("apply/10", 8)), "apply/10: not the name of a benchmark"),
            "no slash": (result(run("10", 8)), "10: not the name of a benchmark"),
            "no count": (result(run("f/x/apply", 8)), "f/x/apply: not the name of a benchmark"),
            "no name": (result({"run_type": "iteration"}), "not a file of benchmark results"),
            "no kind": (result({"name": name, "run_name": name}), "not a file of benchmark results"),
            "a run that is a text": (result("a"), "not a file of benchmark results"),
            "runs that are a number": ({"context": {}, "benchmarks": 1}, "not a file of benchmark results"),
            "a context that is a list": ({"context": [], "benchmarks": [run(name, 8)]}, "not a file of benchmark results"),
            "too deep": ("[" * 100000, "not a file of benchmark results"),
        }
        return {defect: (self.write(defect + ".json", content), text) for defect, (content, text) in contents.items()}

    def test_an_earlier_file_is_checked_without_a_run(self):
        good = self.write("good.json", result(run("f/x/apply/10", 8)))
        self.assertEqual(self.call("--check", good), (0, [], ""))
        for what, (path, expected) in {**self.write_unusable_files(), "a folder": (self.folder, "not a file")}.items():
            with self.subTest(what):
                status, lines, error = self.call("--check", path)
                self.assertEqual((status, lines, error.count("\n")), (1, [], 1), error)
                self.assertTrue(error.startswith(f"{path}: ") and expected in error, error)

    def test_a_run_is_saved_whatever_it_is_compared_with(self):
        good = self.write("good.json", result(run("f/x/apply/10", 8)))
        none = os.path.join(self.folder, "none.json")
        for what, (path, expected) in {**self.write_unusable_files(), "no file": (none, "not a file")}.items():
            with self.subTest(what):
                saved = os.path.join(self.folder, f"saved {what}.json")
                status, lines, error = self.call("--save", saved, "--compare", path, good)
                self.assertEqual((status, lines, error.count("\n")), (1, [], 1), error)
                self.assertTrue(error.startswith(f"{path}: ") and expected in error, error)
                self.assertIn("x/apply 8.00", self.call(saved)[1])

    def test_a_path_that_cannot_be_written(self):
        good = self.write("good.json", result(run("f/x/apply/10", 8)))
        status, lines, error = self.call("--save", self.folder, good)
        self.assertEqual((status, lines, error.count("\n")), (1, [], 1), error)

    # ---- Promises -----------------------------------------------------------------------------------

    def promise_lines(self, *names_and_times):
        """Prints a report, which must succeed, on benchmarks with these repetitions; returns its lines about promises."""
        all_runs = [each for name, times in names_and_times for each in runs(name, *times)]
        status, lines, _ = self.call(self.write("a.json", result(*all_runs)))
        self.assertEqual(status, 0)
        start = [at for at, line in enumerate(lines) if line.startswith("promise at most this run")]
        return lines[start[0] + 1:] if start else []

    def test_a_promise_is_kept_up_to_its_limit(self):
        # 6.4 / 16 = 0.4, the limit; the median is used, not the mean.
        lines = self.promise_lines((f"{promises.REPLY}/bulk_instances/64", [6.4] * 8 + [90]),
                                   (f"{promises.REPLY}/documented/64", [16] * 9))
        self.assertEqual(len(lines), len(promises.PROMISES))
        self.assertTrue(lines[0].endswith("0.40x 0.400x kept"), lines[0])
        self.assertTrue(all(line.endswith("not measured") for line in lines[1:]), lines)

    def test_a_promise_above_its_limit_is_missed_and_the_run_passes(self):
        lines = self.promise_lines((f"{promises.REPLY}/walk/4096", [26.2] * 9),
                                   (f"{promises.REPLY}/twin/4096", [20] * 9))
        self.assertEqual([line for line in lines if not line.endswith("not measured")],
                         ["value by value: at most 1.3 times the time of the same reader without checks 1.30x 1.310x missed"])

    def test_a_promise_missed_slightly_has_more_digits(self):
        lines = self.promise_lines((f"{promises.REPLY}/bulk_instances/64", [6.48] * 9),
                                   (f"{promises.REPLY}/documented/64", [16] * 9))
        self.assertTrue(lines[0].endswith("0.40x 0.405x missed"), lines[0])

    def test_a_promise_in_nanoseconds(self):
        name = next(promise.measured for promise in promises.PROMISES if not promise.baseline)
        for nanoseconds, expected in ((14.5, "15 ns 14.50 ns kept"), (15.5, "15 ns 15.50 ns missed")):
            lines = self.promise_lines((name, [nanoseconds] * 9))
            self.assertEqual([line.endswith(expected) for line in lines].count(True), 1, lines)

    def test_too_few_repetitions_give_no_verdict(self):
        lines = self.promise_lines((f"{promises.REPLY}/bulk_instances/64", [6.4] * 9),
                                   (f"{promises.REPLY}/documented/64", [16] * 8))
        self.assertTrue(lines[0].endswith("0.40x 0.400x too few repetitions"), lines[0])

    def test_a_run_of_other_benchmarks_has_no_promises(self):
        self.assertEqual(self.promise_lines(("f/x/apply/10", [8] * 9)), [])

    def test_markdown_has_the_promises(self):
        path = self.write("a.json", result(*runs(f"{promises.REPLY}/from_memory/walk/4096", *[10] * 9),
                                           *runs(f"{promises.REPLY}/from_memory/walk/65536", *[11] * 9)))
        lines = self.call("--markdown", path)[1]
        self.assertIn("| promise | at most | this run | |", lines)
        self.assertTrue(any(re.fullmatch(r"[|] value by value, not cached: .* [|] 1.15x [|] 1.100x [|] kept [|]", line)
                            for line in lines), lines)

    def test_the_page_has_the_promises(self):
        page = pathlib.Path(__file__).parent.parent.joinpath("docs", "performance.md").read_text(encoding="utf-8")
        self.assertIn("\n".join(promises.documentation_table()), page)


if __name__ == "__main__":
    unittest.main()
