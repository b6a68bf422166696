# SPDX-License-Identifier: MIT
"""How tables round numbers (docs/perfblock.md, "Numbers in text")."""

import csv
import glob
import io
import os
import re
import unittest

from captures import (BULK, DISK, LARGE_RAW, RAW, data, instances_result,
                      metadata)
from program import ROOT, Case, writer as w

FRACTION, FRACTION_BASE = 0x20020400, 0x40030403
HEX = 0x00000100
TEXT_LOG = '"(PDH-CSV 4.0) (UTC)(0)","%s"\n"01/01/2026 00:00:00.000","%s"\n'

# Displayed values, and what the table shows.
QUOTIENTS = (
    ("0", "0.00"), ("-0", "0.00"), ("0.00779", "0.00779"),
    ("0.0105", "0.0105"), ("0.001", "0.00100"), ("0.0024", "0.00240"),
    ("0.123456", "0.123"), ("0.5", "0.500"), ("-0.25", "-0.250"),
    ("0.0000779", "7.79e-05"), ("1e-9", "1.00e-09"),
    ("0.9994", "0.999"), ("0.99951", "1.00"), ("1", "1.00"),
    ("53.256", "53.26"), ("100", "100.00"), ("-99.5", "-99.50"),
    ("999.994", "999.99"), ("999.9951", "1,000"), ("1000", "1,000"),
    ("1234.5678", "1,235"), ("-25033.37", "-25,033"),
    ("1234567.89", "1,234,568"), ("999999999999999", "999,999,999,999,999"),
    ("1e15", "1e+15"), ("1.23456789e18", "1.23457e+18"),
)

# The same for counters in bytes, which are shown in units of 1024.
BYTES = (
    ("0", "0 B"), ("5", "5 B"), ("0.5", "0.500 B"), ("0.0123", "0.0123 B"),
    ("3.14159", "3.14 B"), ("9.996", "10.0 B"), ("40", "40 B"),
    ("99.96", "100 B"), ("341.33", "341 B"), ("1023", "1,023 B"),
    ("1023.49", "1,023 B"), ("1047552", "1,023 KiB"), ("1023.5", "1.00 KiB"), ("1024", "1.00 KiB"),
    ("1536", "1.50 KiB"), ("10240", "10.0 KiB"), ("20000", "19.5 KiB"),
    ("1048575", "1.00 MiB"), ("1048576", "1.00 MiB"),
    ("24754749440", "23.1 GiB"), ("1099511627776", "1.00 TiB"),
    ("1125899906842624", "1.00 PiB"), ("18446744073709551615", "16.0 EiB"),
    ("-2048", "-2.00 KiB"), ("1.1529215046068469e24", "1e+06 EiB"),
)

# Names of counters, and what the table shows for the value 20000.
NAMES = (
    ("Working Set", "19.5 KiB"), ("Working Set - Private", "19.5 KiB"),
    ("Virtual Bytes", "19.5 KiB"), ("Disk Bytes/sec", "19.5 KiB"),
    ("Avg. Disk Bytes/Transfer", "19.5 KiB"), ("Commit Limit", "19.5 KiB"),
    ("Bytes Total/sec", "19.5 KiB"), ("Available KBytes", "20,000"),
    ("Available MBytes", "20,000"), ("% Committed Bytes In Use", "20,000"),
    ("Errors/Bytes", "20,000"), ("Megabytes", "20,000"),
    ("Context Switches/sec", "20,000"),
)

# Counts: type, name, raw value, what the table shows.
COUNTS = (
    (RAW, "Threads", 7, "7"), (RAW, "Handle Count", 1234, "1,234"),
    (LARGE_RAW, "Packets", 999999999999999, "999,999,999,999,999"),
    (LARGE_RAW, "Packets", 1 << 50, "1.1259e+15"),
    (LARGE_RAW, "Available KBytes", 24174560, "24,174,560"),
    (LARGE_RAW, "Cache Bytes", 2149990400, "2.00 GiB"),
    (RAW, "ID Process", 4194303, "4194303"),
    (RAW, "Creating Process ID", 1234, "1234"),
    (RAW, "IDs", 1234, "1,234"),
    (HEX, "Flags", 4660, "0x1234"),
)


class Readable(Case):
    """Numbers in the tables of cook."""

    def table_value(self, counter, number):
        """What the table shows for this displayed value of a counter."""
        path = self.file("log.csv", (TEXT_LOG % (
            "\\\\PC\\Set\\" + counter, number)).encode())
        lines = self.run_fine("cook", path, columns=200).lines()
        return re.split(" {2,}", lines[2])[1]

    def test_quotients(self):
        """Numbers below 1 have three significant digits, those below 1000 two
        decimals, those below 10^15 none. Larger ones have six significant
        digits."""
        for number, shown in QUOTIENTS:
            self.assertEqual(self.table_value("Queue Length", number), shown, number)

    def test_bytes(self):
        """Bytes are shown in the smallest unit in which they are less than 1024
        when rounded to an integer, or in EiB if there is none."""
        for number, shown in BYTES:
            self.assertEqual(self.table_value("Free Bytes", number), shown,
                             number)

    def test_names(self):
        """The name of a counter decides whether its values are bytes."""
        for name, shown in NAMES:
            self.assertEqual(self.table_value(name, "20000"), shown, name)

    def test_counts(self):
        """Raw counts below 10^15 are shown as integers, ids without separators,
        counts of HEX types in hexadecimal."""
        for kind, name, raw, shown in COUNTS:
            datum = w.v8(raw) if kind & 0x300 == 0x100 else w.v4(raw)
            path = self.file("a.pfb", w.recording(
                metadata(DISK, "Set", [(1, kind, name)]),
                w.chunk(b"QINF", w.identifier(DISK, name="*")),
                data(0, instances_result([1], [(0, "one", [datum])]))))
            line = self.run_fine("cook", path).lines()[2]
            self.assertEqual(re.split(" {2,}", line)[1], shown, name)

    def test_other_formats_have_exact_values(self):
        """JSON and CSV are not rounded."""
        path = self.file("a.pfb", w.recording(
            metadata(DISK, "Set", [(1, LARGE_RAW, "Cache Bytes"),
                                   (2, BULK, "Bytes/sec")]),
            w.chunk(b"QINF", w.identifier(DISK, name="*")),
            *(data(n, instances_result([1, 2], [
                (0, "one", [2149990400 + n, n * 12345])]))
              for n in range(2))))
        last = self.run_json("cook", path)[-2:]
        self.assertEqual([item["value"] for item in last],
                         [2149990401, 12345])
        text = self.run_fine("cook", path, "--format", "csv").out
        rows = list(csv.DictReader(io.StringIO(text)))
        self.assertEqual([row["value"] for row in rows[-2:]],
                         ["2149990401", "12345"])
        lines = self.run_fine("cook", path).lines()
        self.assertIn("12.1 KiB", " ".join(lines))

    def test_fixtures(self):
        """Every number in the tables of the fixtures differs by at most 0.5 %
        from one of the displayed values."""
        units = {"": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20}
        number = re.compile(r"(?<= {2})(-?[\d,.]+)(?: ([KM]?i?B))?(?= {2}|$)",
                            re.MULTILINE)
        checked = 0
        for path in sorted(glob.glob(os.path.join(ROOT, "fixtures",
                                                  "*.pfb"))):
            values = [item["value"] for item in self.run_program(
                "cook", "--format", "json", path).objects()
                if item.get("value") is not None]
            text = self.run_program("cook", path, columns=10000).out
            for digits, unit in number.findall(text):
                shown = float(digits.replace(",", "")) * units[unit or ""]
                self.assertTrue(any(
                    abs(shown - value) <= abs(value) * 0.005
                    for value in values), (path, digits, unit))
                checked += 1
        self.assertGreater(checked, 1000)


if __name__ == "__main__":
    unittest.main()
