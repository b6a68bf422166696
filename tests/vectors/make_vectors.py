#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the conformance suite of the formulas, or random vectors.

make_vectors.py CORPUS               the files CORPUS/formula/*.csv
make_vectors.py --random COUNT SEED  random rows, to the standard output
make_vectors.py --random-pdh COUNT SEED  the same in PDH's order of operations

Expectations come from exact rational arithmetic (tests/oracle/formula.py).
published.csv and worked.csv are written by hand: inputs, statuses, flags,
units, exact values, reasons and sources in them are authoritative. They are
compared with the evaluator, and the columns that follow from the exact value
are filled in. Every run writes the same bytes. corpus/formula/README.md
explains the columns.
"""

import csv
import pathlib
import sys

import edge_vectors
import option_vectors
import random_vectors
import rounding_vectors
from vector_rows import (HEADER, Suite, formula, older_cells, quoted, row_text,
                         sample_cells)

HAND_WRITTEN = ("published", "worked")
FAMILIES = {
    "types": edge_vectors.type_cases, "values": edge_vectors.value_cases,
    "clocks": edge_vectors.clock_cases, "bases": edge_vectors.base_cases,
    "flags": edge_vectors.flag_cases, "factors": edge_vectors.factor_cases,
    "missing": edge_vectors.missing_cases, "order": edge_vectors.order_cases,
    "rounding": rounding_vectors.rounding_cases,
    "options": option_vectors.option_cases,
    "unnamed": option_vectors.unnamed_cases,
}


def check_fact(row, result):
    """Raises an error if the evaluator contradicts a row written by hand."""
    exact = formula.Fraction(row["expected_exact"]) if row[
        "expected_exact"] else None
    facts = (row["expected_status"], row["expected_flags"].split(), exact,
             row["expected_unit"])
    actual = result.status, result.flags, result.exact, result.unit
    if facts != actual:
        raise ValueError("%s: expected %s, evaluated %s" % (
            row["id"], facts, actual))


def completed_rows(path, suite):
    """The lines of a file written by hand, checked and completed."""
    yield HEADER
    with open(path, encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            older = formula.read_sample(row, "0")
            newer = formula.read_sample(row, "1")
            result = formula.evaluate_row(row)
            check_fact(row, result)
            inputs = [row["mode"], newer["type"]]
            if not suite.is_new(inputs + older_cells(older, newer)
                                + sample_cells(newer)):
                raise ValueError("%s: another row has the same inputs" % row["id"])
            yield row_text(row["id"], row["mode"], (older, newer), result, [
                row["published"], row["within"], quoted(row["why"]),
                quoted(row["source"])])


def suite_files(folder):
    """Names and texts of all files; `folder` has those written by hand."""
    suite = Suite()
    for name in HAND_WRITTEN:
        path = folder / (name + ".csv")
        yield path.name, "".join(completed_rows(path, suite))
    for name, cases in FAMILIES.items():
        yield name + ".csv", "".join(suite.rows(name, cases()))


def write_suite(folder):
    """Writes the files after checking all of them."""
    for name, text in list(suite_files(folder)):
        (folder / name).write_bytes(text.encode("utf-8"))


def main(arguments):
    """Command line."""
    if len(arguments) == 3 and arguments[0] in ("--random", "--random-pdh"):
        count, seed = int(arguments[1]), int(arguments[2])
        sys.stdout.writelines(random_vectors.random_rows(
            count, seed, arguments[0] == "--random-pdh"))
    elif len(arguments) == 1 and arguments[0][:1] != "-":
        write_suite(pathlib.Path(arguments[0]) / "formula")
    else:
        print(__doc__, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
