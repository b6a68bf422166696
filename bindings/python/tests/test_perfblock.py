# SPDX-License-Identifier: MIT
"""Tests of the installed package. PERFBLOCK_SOURCE is the checkout, PERFBLOCK_PROGRAM the program, whose values those of the
package are compared with: the library computes both, the package must give them to the right series."""

import csv
import datetime
import gc
import json
import math
import os
import pathlib
import struct
import subprocess
import sys
import unittest

import numpy
import perfblock

SOURCE = pathlib.Path(os.environ["PERFBLOCK_SOURCE"])
PROGRAM = os.environ["PERFBLOCK_PROGRAM"]
FIELDS = {"value": "value", "base": "base", "multi": "multi_count", "perf_time": "perf_time",
          "perf_time_100ns": "perf_time_100ns", "object_time": "object_time", "perf_freq": "perf_freq",
          "object_freq": "object_freq", "base_type": "base_type", "type": "type"}
OPTIONS = {"server_2003": "server_2003_multi_timer"}
INPUTS = sorted(path for pattern in ("corpus/*/*/*", "fixtures/*") for path in SOURCE.glob(pattern)
                if path.suffix in (".pfb", ".blg", ".csv", ".tsv", ".bin"))


def sample_of(row, suffix):
    return {field: int(row[name + suffix], 0) for name, field in FIELDS.items() if row.get(name + suffix)}


class Formulas(unittest.TestCase):
    def test_vectors(self):
        """Each row of corpus/formula has its status, flags, unit, bits and integer."""
        count = 0
        for path in sorted((SOURCE / "corpus" / "formula").glob("*.csv")):
            with path.open(encoding="utf-8", newline="") as file:
                for row in csv.DictReader(file):
                    options = {OPTIONS.get(name, name): int(value) if value else True
                               for name, _, value in (mode.partition("=") for mode in row["mode"].split())}
                    older = sample_of(row, "0")
                    found = perfblock.evaluate(int(row["type"], 0), sample_of(row, "1"), older or None, **options)
                    bits = "" if found.value is None else struct.pack(">d", found.value).hex().upper()
                    integer = "" if found.integer is None else str(found.integer)
                    self.assertEqual(
                        (found.status, " ".join(sorted(found.flags)), found.unit, bits, integer),
                        tuple(row["expected_" + name] for name in ("status", "flags", "unit", "bits", "integer")), row["id"])
                    count += 1
        self.assertGreater(count, 4000)

    def test_names(self):
        found = perfblock.evaluate("PERF_RAW_FRACTION", {"value": 1, "base": 4})
        self.assertEqual((found.status, found.value, found.unit), ("ok", 25.0, "%"))
        with self.assertRaises(TypeError):
            perfblock.evaluate("PERF_RAW_FRACTION", {"valeu": 1})
        with self.assertRaises(TypeError):
            perfblock.evaluate("PERF_RAW_FRACTION", {"value": 1}, cap=True)


class Files(unittest.TestCase):
    @staticmethod
    def values_of_program(path):
        done = subprocess.run([PROGRAM, "cook", "--format", "json", path], capture_output=True, check=False)
        items = [json.loads(line) for line in done.stdout.decode("utf-8", "replace").splitlines()]
        return [item["value"] for item in items if item.get("status") == "ok"], done.returncode

    def test_values_are_those_of_the_program(self):
        """Samples and tables have all values of each input that the program displays."""
        compared = 0
        for path in INPUTS:
            expected, status = self.values_of_program(path)
            reader = perfblock.open(path)
            found, failed = [], False
            try:
                for sample in reader:
                    found += [value.value for value in sample if value.status == "ok"]
            except perfblock.Error as error:
                failed = True
                self.assertTrue(error.sentence and (error.offset is not None or error.code == "ok"), path)
            if status in (0, 1) and expected:
                self.assertEqual(sorted(found), sorted(expected), path)
                compared += len(found)
            if not failed:
                table = perfblock.open(path).table()
                self.assertEqual(sorted(table.values[table.statuses == 0]), sorted(found), path)
                self.assertEqual(table.values.shape, (len(table.times), len(table.series)), path)
        self.assertGreater(compared, 2000)

    def test_a_fixture(self):
        """Times, series and arrays of a recording."""
        data = (SOURCE / "fixtures" / "processor.pfb").read_bytes()
        with perfblock.open(data, paths=["\\Processor(*)\\% Processor Time"]) as reader:
            samples = list(reader)
        self.assertEqual(samples[0].time, datetime.datetime(2025, 1, 1, tzinfo=datetime.timezone.utc))
        first = list(samples[0])
        self.assertTrue(all(value.status == "need_two_samples" and math.isnan(value.value) for value in first))
        table = perfblock.open(data).table()
        self.assertEqual(table.times[1] - table.times[0], numpy.timedelta64(10, "s"))
        path = next(series.path for series in table.series if series.counter == "% Processor Time" and series.instance == "0")
        self.assertEqual(list(table.column(path)[1:]), [v.value for s in samples[1:] for v in s if v.series.path == path])
        with self.assertRaises(KeyError):
            table.column("\\Nothing\\here")

    def test_a_part(self):
        """A table of a damaged log has the samples before the damage."""
        data = (SOURCE / "fixtures" / "machine.blg").read_bytes()
        whole = perfblock.open(data).table()
        with self.assertRaises(perfblock.Error):
            perfblock.open(data[:40000]).table()
        reader = perfblock.open(data[:40000])
        part = reader.table(partial=True)
        self.assertEqual(reader.failure.code, "truncated_buffer")
        self.assertTrue(0 < len(part.times) < len(whole.times))
        self.assertTrue(numpy.array_equal(part.values, whole.values[:len(part.times)], equal_nan=True))

    def test_forms(self):
        """What a text log or a block does not say is given."""
        text = ('"(PDH-CSV 4.0) (W. Europe)(-60)","\\\\A\\Memory\\MB",\r\n5/6/2018 14:13,"1,234",\r\n'
                '6/6/2018 14:13,"2,345",\r\n').encode()
        with self.assertRaises(perfblock.Error) as raised:
            list(perfblock.open(text))
        self.assertEqual(raised.exception.code, "ambiguous_dates")
        for order, month in (("mdy", 5), ("dmy", 6)):
            for decimal, value in ((",", 1.234), (".", 1234)):
                sample = next(iter(perfblock.open(text, date_order=order, decimal=decimal)))
                self.assertEqual((sample.time.month, next(iter(sample)).value), (month, value))
        german = next(iter(perfblock.open(text.replace(b"MB", b"\xe4"), code_page=1251, date_order="mdy", decimal=".")))
        self.assertEqual(next(iter(german)).series.counter, "\u0434")

    def test_names(self):
        """A name table gives the names of a V1 block."""
        block = SOURCE / "corpus" / "v1" / "seeds" / "valid_base.bin"
        table = "".join(f"{title}\tname {title}\n" for title in range(2, 9000)).encode()
        self.assertEqual({series.counterset for series in perfblock.open(block).table().series}, {""})
        named = perfblock.open(block, names=table).table().series
        self.assertTrue(named)
        self.assertTrue(all(name.startswith("name ") for series in named for name in (series.counterset, series.counter)))

    def test_identity(self):
        """Processes are compared by their ids, or by name and position."""
        path = SOURCE / "fixtures" / "machine_names_v1.pfb"
        values, by_id, by_position = (perfblock.open(path, **options).table().values for options in (
            {}, {"identity": "process"}, {"identity": "windows"}))
        self.assertTrue(numpy.array_equal(values, by_id, equal_nan=True))
        self.assertFalse(numpy.array_equal(values, by_position, equal_nan=True))

    def test_misuse(self):
        for call in (lambda: perfblock.open(b"", paths=["no path"]), lambda: perfblock.open(b"", bias=5000)):
            with self.assertRaises(ValueError):
                call()
        with self.assertRaises(TypeError):
            perfblock.open(b"", capped=True)
        reader = perfblock.open(b"")
        reader.close()
        reader.close()
        with self.assertRaises(ValueError):
            list(reader)
        with self.assertRaises(perfblock.Error) as raised:
            list(perfblock.open("/nonexistent/file"))
        self.assertEqual(str(raised.exception), "/nonexistent/file: No such file or directory")
        for wrong in ({"date_order": "myd"}, {"decimal": ";"}, {"code_page": 1}, {"code_page": -1}, {"identity": "name"}):
            with self.assertRaises(ValueError):
                perfblock.open(b"", **wrong)

    def test_memory_is_released(self):
        """A reader that is forgotten frees its memory."""
        path = SOURCE / "fixtures" / "processor_information.pfb"
        sizes = []
        for _ in range(5):
            for _ in range(100):
                next(iter(perfblock.open(path)))
            gc.collect()
            sizes.append(int(pathlib.Path("/proc/self/statm").read_text(encoding="ascii").split()[1]))
        self.assertLess(sizes[-1] - sizes[1], 256, sizes)  # pages

    def test_the_module_prints_values(self):
        done = subprocess.run([sys.executable, "-m", "perfblock", SOURCE / "fixtures" / "machine_v1.pfb"], capture_output=True,
                              text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout.splitlines()[0], r"^2025-01-01T00:00:00\+00:00\t\\\\FIXTURE\\Processor\(0\)\\[^\t]+\t[^\t]+$")
        with subprocess.Popen([sys.executable, "-m", "perfblock", SOURCE / "fixtures" / "machine.blg"], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as process:
            process.stdout.readline()
            process.stdout.close()
            self.assertEqual(process.stderr.read(), b"")


if __name__ == "__main__":
    unittest.main()
