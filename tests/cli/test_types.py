# SPDX-License-Identifier: MIT
"""The table of counter types that `types` prints."""

import csv
import io
import unittest

from program import Case

KEYS = ["name", "value", "hex", "size", "samples", "clock", "unit", "base",
        "formula", "aliases"]


class Types(Case):
    """All 39 types in JSON, CSV and text."""

    def test_json(self):
        """Types are in the order of their values, with all keys."""
        items = self.run_json("types")
        self.assertEqual(len(items), 39)
        for item in items:
            self.assertEqual(list(item), KEYS)
            self.assertEqual(int(item["hex"], 16), item["value"])
            self.assertEqual(len(item["hex"]), 10)
        values = [item["value"] for item in items]
        self.assertEqual(values, sorted(values))

    def test_facts(self):
        """Size, unit, base and aliases of some types, as documented."""
        types = {item["name"]: item for item in self.run_json("types")}
        timer = types["PERF_PRECISION_100NS_TIMER"]
        self.assertEqual((timer["value"], timer["size"], timer["samples"],
                          timer["unit"], timer["base"]),
                         (0x20570500, 8, 2, "%", "PERF_LARGE_RAW_BASE"))
        self.assertEqual(types["PERF_COUNTER_TEXT"]["size"], None)
        self.assertEqual(types["PERF_COUNTER_NODATA"]["size"], 0)
        self.assertEqual(types["PERF_LARGE_RAW_BASE"]["aliases"],
                         ["PERF_PRECISION_TIMESTAMP", "0x40030503"])
        self.assertEqual(types["PERF_100NSEC_TIMER"]["clock"], "100ns")
        self.assertIsNone(types["PERF_COUNTER_RAWCOUNT"]["base"])

    def test_csv_has_the_same_columns(self):
        done = self.run_fine("types", "--format", "csv")
        rows = list(csv.DictReader(io.StringIO(done.out)))
        self.assertEqual(list(rows[0]), KEYS)
        self.assertEqual([row["name"] for row in rows],
                         [item["name"] for item in self.run_json("types")])

    def test_text(self):
        """The table fits the terminal and has all names."""
        names = [item["name"] for item in self.run_json("types")]
        for columns in (40, 60, 100, 200):
            done = self.run_fine("types", columns=columns)
            self.assertLessEqual(max(map(len, done.lines())), columns)
        for name in names:
            self.assertIn(name, done.out)


if __name__ == "__main__":
    unittest.main()
