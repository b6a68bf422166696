#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks the conformance suite, its writer and its runner.

test_vectors.py RUN_FORMULA...   the command of the runner

The expectations are derived a second time, from the formulas in
docs/formula.md, and rounding is checked with neighbouring doubles.
"""

import csv
import pathlib
import re
import struct
import subprocess
import sys
import unittest
from collections import Counter
from fractions import Fraction

import make_vectors
import random_vectors
from vector_rows import HEADER, formula

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "corpus" / "formula"
PAGE = (ROOT / "docs" / "formula.md").read_text(encoding="utf-8")
README = (FOLDER / "README.md").read_text(encoding="utf-8")
STATUSES = set(re.findall(r"^\| \d+ \| `(\w+)` \|", PAGE, re.MULTILINE))
OPTIONS = set(formula.Options._fields)


def read_rows(text):
    """The rows of a file."""
    return list(csv.DictReader(text.splitlines(keepends=True)))


def all_rows():
    """The rows of all files."""
    for path in sorted(FOLDER.glob("*.csv")):
        yield from read_rows(path.read_text(encoding="utf-8"))


ROWS = list(all_rows())
VALUED = [row for row in ROWS if row["expected_status"] == "ok"]


def coverage(rows):
    """Statuses, named types, options and flags that occur."""
    return ({row["expected_status"] for row in rows},
            {int(row["type"], 0) for row in rows} & set(formula.TYPES),
            {word.partition("=")[0] for row in rows
             for word in row["mode"].split()},
            {flag for row in rows for flag in row["expected_flags"].split()})


class Suite(unittest.TestCase):
    """The files have what corpus/formula/README.md says."""

    def test_the_writer_writes_these_files(self):
        written = dict(make_vectors.suite_files(FOLDER))
        self.assertEqual(set(written), {path.name for path
                                        in FOLDER.glob("*.csv")})
        for name, text in written.items():
            self.assertEqual((FOLDER / name).read_bytes(),
                             text.encode("utf-8"), name + " is not current")

    def test_every_status_type_option_and_flag_occurs(self):
        self.assertGreater(len(ROWS), 2000)
        statuses, types, options, flags = coverage(ROWS)
        self.assertEqual(len(STATUSES), 14)
        self.assertEqual(statuses, STATUSES)
        self.assertEqual(len(types), 39)
        self.assertEqual(options, OPTIONS)
        self.assertEqual(flags, {"above_100", "below_zero", "wrapped"})

    def test_ids_and_inputs_occur_once(self):
        ids = Counter(row["id"] for row in ROWS)
        inputs = Counter(tuple(row[name] for name in formula.COLUMNS[1:22])
                         for row in ROWS)
        self.assertEqual(ids.most_common(1)[0][1], 1)
        self.assertEqual(inputs.most_common(1)[0][1], 1)
        self.assertEqual(formula.COLUMNS[21:23],
                         ("object_freq1", "expected_status"))

    def test_every_row_has_a_reason_and_a_source(self):
        for row in ROWS:
            self.assertTrue(len(row["why"]) > 4 and row["source"], row["id"])

    def test_raw_values_have_the_size_of_their_type(self):
        for row in ROWS:
            kind = int(row["type"], 0)
            known = formula.find_type(kind)
            small = kind & 0x300 == 0 and not (
                known and known.form is formula.RAW)
            for name in ("value0", "value1"):
                self.assertLess(int(row[name] or 0),
                                1 << (32 if small else 64), row["id"])

    def test_columns_and_files_are_in_the_readme(self):
        for column in formula.COLUMNS:
            self.assertIn("`%s`" % column, README)
        for path in FOLDER.glob("*.csv"):
            self.assertIn("| `%s` |" % path.name, README)

    def test_decisions_are_explained(self):
        table = README[README.index("| decision |"):].partition("\n\n")[0]
        explained = {name for line in table.splitlines()[2:]
                     for name in re.findall("`([^`]+)`", line.split("|")[1])}
        used = {row["source"].partition("decision: ")[2] for row in ROWS}
        self.assertEqual(used - {""}, explained)

    def test_the_example_in_the_readme_passes_all_rows(self):
        code = re.search(r"```python\n(.*?)```", README, re.DOTALL)[1]
        done = subprocess.run([sys.executable, "-c", code], cwd=FOLDER,
                              stdout=subprocess.PIPE, check=True, text=True)
        self.assertEqual(done.stdout, "%d passed, 0 failed\n" % len(ROWS))


# The formulas of docs/formula.md ---------------------------------------------

def documented_formulas():
    """Formula and clock of each type with a formula in the page's table."""
    table = {}
    for line in PAGE.splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if len(cells) == 8 and cells[0].startswith("`0x") and cells[5] != "-":
            table[cells[1].strip("`")] = cells[5], cells[4]
    return table


FORMULAS = documented_formulas()


def as_python(text):
    """A formula such as 100 (dN / dT) as a Python expression."""
    return re.sub(r"([\w)]) (?=[\w(])", r"\1 * ", text)


def formula_of(name, words):
    """The text of a type's formula under the options."""
    if "server_2003" in words and name == "PERF_COUNTER_MULTI_TIMER":
        return "100 (dN / dT) / M"
    if "per_item_inverse" in words and name.endswith("MULTI_TIMER_INV"):
        return "100 (M - dN / dT) / M"
    return FORMULAS[name][0]


def inputs_of(row, clock):
    """The symbols of the page with the values of a row, as far as present."""
    names = {"N": "value", "B": "base", "M": "multi"}
    if clock in ("perf", "object"):
        names.update({"T": clock + "_time", "F": clock + "_freq"})
    if clock == "100ns":
        names["T"] = "perf_time_100ns"
    symbols = {}
    for symbol, name in names.items():
        old, new = row[name + "0"], row[name + "1"]
        if new:
            symbols[symbol] = Fraction(new)
        if old and new:
            symbols["d" + symbol] = Fraction(new) - Fraction(old)
    return symbols


def documented_value(row):
    """The exact value according to the page: wrap, formula, limits, scale."""
    known = formula.TYPES[int(row["type"], 0)]
    words = row["mode"].split()
    symbols = inputs_of(row, FORMULAS[known.name][1])
    for symbol in ("dN", "dB"):
        if symbols.get(symbol, 0) < 0 and "wrapped" in row["expected_flags"]:
            symbols[symbol] += 1 << 32
    if known.name == "PERF_PRECISION_OBJECT_TIMER":
        symbols.setdefault("dB", symbols.get("dT"))
    value = Fraction(eval(  # pylint: disable=eval-used
        as_python(formula_of(known.name, words)), {}, symbols))
    if "cap_100" in words and known.unit == "%":
        value = min(value, Fraction(100))
    if "clamp_0" in words:
        value = max(value, Fraction(0))
    return value * Fraction(10) ** sum(int(word[6:]) for word in words
                                       if word.startswith("scale="))


def double_of(bits):
    """The double of these bits, as a fraction."""
    return Fraction(struct.unpack(">d", struct.pack(">Q", bits))[0])


def is_nearest(exact, bits):
    """Whether this double is the nearest, or the even one on a tie."""
    exact, bits = abs(exact), bits & (1 << 63) - 1
    off = abs(double_of(bits) - exact)
    near = [abs(double_of(bits + step) - exact) for step in (-1, 1)
            if bits + step >= 0]
    return off < min(near) or off == min(near) and bits % 2 == 0


def rounded(exact, bits):
    """A positive fraction, rounded to this many significant bits."""
    shift = (bits - exact.numerator.bit_length()
             + exact.denominator.bit_length())
    while exact * Fraction(2) ** shift >= 1 << bits:
        shift -= 1
    return Fraction(round(exact * Fraction(2) ** shift)) / Fraction(2) ** shift


class Expectations(unittest.TestCase):
    """Expectations derived without the evaluator."""

    def test_values_follow_the_page(self):
        checked = set()
        for row in VALUED:
            kind = int(row["type"], 0)
            if kind in formula.TYPES:
                checked.add(kind)
                self.assertEqual(documented_value(row),
                                 Fraction(row["expected_exact"]), row["id"])
        self.assertEqual(len(checked), 31)

    def test_values_are_rounded_to_nearest(self):
        for row in VALUED:
            exact, bits = Fraction(row["expected_exact"]), int(
                row["expected_bits"], 16)
            self.assertTrue(is_nearest(exact, bits), row["id"])
            self.assertEqual(bits >> 63, exact < 0, row["id"])
            self.assertEqual(struct.pack(">Q", bits), struct.pack(
                ">d", float(row["expected_value"])), row["id"])

    def test_integers_are_the_exact_values(self):
        for row in ROWS:
            whole = row["expected_exact"].isdigit() and int(
                row["expected_exact"]) < 1 << 64
            self.assertEqual(row["expected_integer"], row["expected_exact"]
                             if whole else "", row["id"])

    def test_rows_for_rounding_detect_wrong_rounding(self):
        found = Counter()
        for row in VALUED:
            trap = row["id"].replace("rounding-", "").split("-")[0]
            exact = Fraction(row["expected_exact"])
            value = Fraction(float(row["expected_value"]))
            if trap == "near_tie":
                found[trap] += 1
                twice = rounded(rounded(exact, 64), 53)
                self.assertNotEqual(twice, value, row["id"])
            elif trap == "tie":
                found[trap] += 1
                self.assertEqual(rounded(exact, 54), exact, row["id"])
                self.assertNotEqual(exact, value, row["id"])
            elif trap == "up":
                found[trap] += 1
                self.assertGreater(value, exact, row["id"])
        self.assertEqual(set(found), {"near_tie", "tie", "up"})

    def test_published_values_are_near(self):
        rows = [row for row in ROWS if row["published"]]
        self.assertGreater(len(rows), 15)
        for row in rows:
            self.assertLessEqual(
                abs(Fraction(row["expected_exact"])
                    - Fraction(row["published"])),
                Fraction(row["within"]) or 0, row["id"])


# Random rows -----------------------------------------------------------------

class Random(unittest.TestCase):
    """The random rows reach every status, and are the same for the same seed.
    """

    def test_every_status_type_option_and_flag_occurs(self):
        text = "".join(random_vectors.random_rows(20000, 5))
        rows = read_rows(text)
        statuses, types, options, flags = coverage(rows)
        self.assertEqual(statuses, STATUSES)
        self.assertEqual(len(types), 39)
        self.assertEqual(options, OPTIONS)
        self.assertEqual(len(flags), 3)
        self.assertTrue(any(row["type0"] for row in rows))
        self.assertTrue(any(row["base_type1"] for row in rows))
        self.assertGreater(sum(row["expected_status"] == "ok" and
                               int(row["type"], 0) not in formula.TYPES
                               for row in rows), 2000)

    def test_equal_seeds_give_equal_rows(self):
        one, two, other = ["".join(random_vectors.random_rows(500, seed))
                           for seed in (7, 7, 8)]
        self.assertEqual(one, two)
        self.assertNotEqual(one.replace("random-7", "random-8"), other)


# The runner ------------------------------------------------------------------

def run(text):
    """Exit status of the runner over a text, and its last line."""
    done = subprocess.run(RUN_FORMULA + ["-"], input=text, text=True,
                          stdout=subprocess.PIPE, check=False)
    return done.returncode, done.stdout.splitlines()[-1]


def line_of(row):
    """A row as a line; the columns that may be quoted are empty."""
    return ",".join(list(row.values())[:-2] + ["", ""]) + "\n"


class Runner(unittest.TestCase):
    """The runner reports a wrong value in any column that it compares."""

    def check_refused(self, rows):
        self.assertGreater(len(rows), 10)
        self.assertEqual(run(HEADER + "".join(map(line_of, rows))),
                         (1, "0 passed, %d failed" % len(rows)))

    def test_correct_rows_pass(self):
        self.assertEqual(run(HEADER + "".join(map(line_of, VALUED[:50]))),
                         (0, "50 passed, 0 failed"))

    def test_raw_values_have_the_form_of_pdh(self):
        rows = ROWS + read_rows("".join(random_vectors.random_rows(5000, 3)))
        done = subprocess.run(
            RUN_FORMULA + ["--pdh", "-"], text=True, check=True,
            input=HEADER + "".join(map(line_of, rows)),
            stdout=subprocess.PIPE)
        lines = [line.split()[1:] for line in done.stdout.splitlines()
                 if line.startswith("pdh ")]
        self.assertEqual(len(lines), len(rows))
        for row, line in zip(rows, lines):
            pdh = formula.pdh_raw(formula.read_sample(row, "1"))
            self.assertEqual(line, [row["id"]] + list(map(str, pdh)))

    def test_wrong_expectations_are_reported(self):
        for name, wrong in (
                ("expected_status", "no_data"), ("expected_status", ""),
                ("expected_flags", "wrapped above_100"),
                ("expected_unit", "ms"), ("expected_bits", ""),
                ("expected_bits", "7FF8000000000000")):
            self.check_refused([{**row, name: wrong} for row in VALUED[:50]])
        self.check_refused([
            {**row, "expected_bits": "%016X" % (
                int(row["expected_bits"], 16) ^ 1)} for row in VALUED])
        whole = [row for row in VALUED if row["expected_integer"]]
        self.check_refused([{**row, "expected_integer": ""} for row in whole])
        self.check_refused([
            {**row, "expected_integer": str(int(row["expected_integer"]) ^ 1)}
            for row in whole])
        self.check_refused([{**row, "published": "-1", "within": "0.5"}
                            for row in VALUED if row["published"]])

    def test_values_with_a_status_of_failure_are_reported(self):
        refused = [row for row in ROWS if row["expected_status"] != "ok"]
        for name in ("expected_bits", "expected_integer", "expected_flags"):
            self.check_refused([{**row, name: "0"} for row in refused[:50]])

    def test_unreadable_rows_are_reported(self):
        for name, wrong in (("mode", "wrap33"), ("mode", "scale=128"),
                            ("mode", "scale="), ("type", "RATE"),
                            ("type", ""), ("type0", "4294967296"),
                            ("base_type1", "-1"), ("value1", "1.5"),
                            ("value1", "-1"), ("base0", str(1 << 64)),
                            ("perf_time1", str(1 << 63)),
                            ("object_freq0", "1 ")):
            self.check_refused([{**row, name: wrong} for row in ROWS[:50]])

    def test_unreadable_files_are_reported(self):
        line = line_of(ROWS[0])
        for text in ("", HEADER, line, HEADER.replace("why", "reason") + line,
                     HEADER + line.rstrip("\n"), HEADER + "a,b,c\n",
                     HEADER + "x" * 5000 + line):
            self.assertEqual(run(text)[0], 1, text[:80])
        done = subprocess.run(RUN_FORMULA + [str(FOLDER / "none.csv")],
                              stdout=subprocess.DEVNULL, check=False)
        self.assertEqual(done.returncode, 1)


if __name__ == "__main__":
    RUN_FORMULA = sys.argv[1:]
    if not RUN_FORMULA:
        sys.exit(__doc__)
    unittest.main(argv=sys.argv[:1])
