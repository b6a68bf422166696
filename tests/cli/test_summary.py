# SPDX-License-Identifier: MIT
"""cook --summary, compared with figures computed from the values of cook."""

import csv
import io
import unittest
from fractions import Fraction

import captures
import log_seeds
import v1_blocks as v1
from program import (Case, bytes_of, needs_real_data, real, seed,
                     writer as w)

KEYS = ["set", "object", "instance", "occurrence", "counter", "counter_id",
        "type", "unit", "count", "minimum", "average", "maximum", "last",
        "missing", "statuses", "guid", "parent", "machine", "flags"]
IDENTITY = ["set", "object", "instance", "occurrence", "counter", "counter_id",
            "type", "unit", "guid", "parent", "machine"]


def figures(values):
    """The records that --summary should have for these records of cook."""
    groups = {}
    for v in values:
        if v["status"] != "not_displayed":
            groups.setdefault(tuple(v[key] for key in IDENTITY), []).append(v)
    out = []
    for identity, group in groups.items():
        good = [v["value"] for v in group if v["status"] == "ok"]
        record = dict(zip(IDENTITY, identity))
        record.update(
            count=len(good), missing=len(group) - len(good),
            statuses={v["status"] for v in group} - {"ok"},
            flags={flag for v in group for flag in v["flags"]},
            minimum=min(good, default=None), maximum=max(good, default=None),
            average=sum(map(Fraction, good)) / len(good) if good else None,
            last=good[-1] if good else None)
        out.append(record)
    return out


class SummaryCase(Case):
    """A test of summaries."""

    def check(self, *arguments, quiet=("--quiet",)):
        """Asserts that the summary of these arguments, in JSON and CSV, follows
        from the values of cook; returns the JSON records."""
        expected = figures(self.run_json("cook", *quiet, *arguments))
        found = self.run_json("cook", "--summary", *quiet, *arguments)
        self.assertEqual(len(found), len(expected))
        for got, want in zip(found, expected):
            self.assertEqual(list(got), KEYS)
            for key in IDENTITY + ["count", "missing", "minimum", "maximum",
                                   "last"]:
                self.assertEqual(got[key], want[key], (key, want))
            for key in ("statuses", "flags"):
                self.assertEqual(sorted(got[key]), sorted(want[key]))
            if want["average"] is None:
                self.assertIsNone(got["average"])
            else:
                largest = max(abs(want["minimum"]), abs(want["maximum"]))
                self.assertLessEqual(
                    abs(Fraction(got["average"]) - want["average"]),
                    Fraction(largest) / 2**51)
        out = self.run_fine("cook", "--summary", *quiet, "--format", "csv",
                            *arguments).out
        rows = list(csv.DictReader(io.StringIO(out)))
        self.assertEqual(len(rows), len(found))
        for row, got in zip(rows, found):
            self.assertEqual(list(row), KEYS)
            for key in ("minimum", "average", "maximum", "last"):
                self.assertEqual(float(row[key]) if row[key] else None,
                                 got[key])
            self.assertEqual((row["count"], row["statuses"].split()),
                             (str(got["count"]), got["statuses"]))
        return found


class Summary(SummaryCase):
    """Summaries of captures, blocks and logs."""

    def disk(self, *rows, kind=captures.LARGE_RAW):
        """Writes a capture; rows[n] are the (instance, value) of sample n."""
        return self.file("a.pfb", w.recording(
            captures.metadata(captures.DISK, "Disk", [(1, kind, "Bytes")]),
            w.chunk(b"QINF", w.identifier(captures.DISK, name="*")),
            *[captures.data(number, captures.instances_result(
                [1], [(0, name, [value]) for name, value in row]))
              for number, row in enumerate(rows)]))

    def test_figures(self):
        """Figures of instances that are added and removed."""
        path = self.disk([("a", 5), ("b", 0)], [("a", 1)],
                         [("b", 0), ("a", 6), ("c", 2)])
        a, b, c = self.check(path)
        self.assertEqual([a[key] for key in KEYS[8:15]],
                         [3, 1, 4, 6, 6, 0, []])
        self.assertEqual((b["count"], c["count"]), (2, 1))

    def test_missing(self):
        """A rate has no value in the first sample, nor when the raw value
        falls."""
        path = self.disk([("a", 5)], [("a", 25)], [("a", 4)], [("a", 14)],
                         kind=captures.BULK)
        a, = self.check(path)
        self.assertEqual((a["count"], a["average"], a["missing"]), (2, 15, 2))
        self.assertEqual(sorted(a["statuses"]),
                         ["need_two_samples", "negative_delta"])

    def test_no_values(self):
        """A counter without values has null figures; without samples there are
        no records."""
        a, = self.check(self.disk([("a", 5)], kind=captures.BULK))
        self.assertEqual([a[key] for key in KEYS[8:14]],
                         [0, None, None, None, None, 1])
        self.assertEqual(self.check(self.disk([])), [])

    def test_average_of_many(self):
        """Rounding errors of many values do not accumulate in the average."""
        path = self.disk(*[[("a", 2**60 if n == 0 else 1)]
                           for n in range(3000)])
        a, = self.check(path)
        self.assertAlmostEqual(a["average"], (2**60 + 2999) / 3000,
                               delta=0.125)

    def test_average_beyond_the_range(self):
        """There is no average if the sum of the values is not finite."""
        path = self.file("a.csv", (
            '"(PDH-CSV 4.0) (UTC)(0)","\\\\PC\\A\\B"\r\n'
            '"01/01/2025 00:00:00.000","1.5e308"\r\n'
            '"01/01/2025 00:00:01.000","1.5e308"\r\n').encode())
        record, = self.run_json("cook", "--summary", path)
        self.assertEqual([record[key] for key in KEYS[8:13]],
                         [2, 1.5e308, None, 1.5e308, 1.5e308])
        out = self.run_fine("cook", "--summary", path).out
        self.assertEqual(out.splitlines()[2].split(),
                         ["B", "2", "0", *["1.5e+308"] * 3])

    def test_equal_names(self):
        """V1 instances with the same name are summarised separately and
        numbered."""
        wr = v1.LITTLE
        counts = [v1.counter(20, v1.RAW, 4, 4)]
        blocks = b"".join(wr.block(wr.object(2, counts, *[
            wr.instance("svchost", wr.values((4, 4, n * moment)))
            for n in (1, 2, 3)]), moment=moment) for moment in (1, 2))
        found = self.check("--kind", "v1", self.file("a.bin", blocks))
        self.assertEqual([(i["occurrence"], i["last"]) for i in found],
                         [(0, 2), (1, 4), (2, 6)])

    def test_inputs(self):
        """Summaries of captures and logs follow from the values of cook."""
        self.check(self.file("a.pfb", captures.three_sets()))
        self.check(seed("capture", "valid_processor_information.pfb"))
        self.check(seed("pdh_text", "valid_csv.csv"))
        for name in ("counters", "objects", "moving_instances", "statuses"):
            self.check("--kind", "log", self.file(
                "a.blg", log_seeds.log_seeds()["valid_" + name]))

    def test_filter(self):
        """Only selected values are summarised."""
        found = self.check(
            "--path", "\\Alpha Disk(sd*)\\Read*",
            self.file("a.pfb", captures.three_sets()), quiet=())
        self.assertEqual([(i["instance"], i["counter"]) for i in found],
                         [("sda", "Read Bytes/sec"),
                          ("sdb", "Read Bytes/sec")])

    def test_text(self):
        """The table has a row per counter and instance; --nonzero omits
        the rows with zeros only."""
        path = self.disk([("a", 5), ("z", 0)], [("a", 1), ("z", 0)])
        self.assertEqual(
            self.run_fine("cook", "--summary", path).lines(), [
                "\\Disk",
                "           count  missing  minimum  average  maximum  last",
                "Bytes (a)      2        0      1 B      3 B      5 B   1 B",
                "Bytes (z)      2        0      0 B      0 B      0 B   0 B",
                ""])
        self.assertEqual(len(self.run_fine(
            "cook", "--summary", "--nonzero", path).lines()), 4)

    def test_units(self):
        """Figures are formatted like the values of cook (docs/perfblock.md)."""
        counters = [(1, captures.LARGE_RAW, "Working Set"),
                    (2, captures.LARGE_RAW, "Handles"),
                    (3, captures.LARGE_RAW, "ID Process")]
        path = self.file("a.pfb", w.recording(
            captures.metadata(captures.DISK, "Process", counters),
            w.chunk(b"QINF", w.identifier(captures.DISK, name="*")),
            *[captures.data(number, captures.instances_result(
                [1, 2, 3], [(0, "a", [24200000 * number, 1234 + number,
                                      4194303])]))
              for number in (1, 2)]))
        lines = self.run_fine("cook", "--summary", path, columns=120).lines()
        self.assertEqual([line.split("  ")[0] for line in lines[2:5]],
                         [name + " (a)" for _, _, name in counters])
        self.assertEqual([line.split()[-5:] if "MiB" not in line else
                          line.split()[-8:] for line in lines[2:5]], [
            "23.1 MiB 34.6 MiB 46.2 MiB 46.2 MiB".split(),
            "0 1,235 1,236 1,236 1,236".split(),
            "0 4194303 4194303 4194303 4194303".split()])

    def test_a_table_for_each_set(self):
        """Each counterset has one table."""
        out = self.run_fine("cook", "--summary", self.file(
            "a.pfb", captures.three_sets())).lines()
        self.assertEqual([line for line in out if line.startswith("\\")],
                         ["\\Beta Network", "\\Alpha Disk", "\\Alpha Memory"])

    def test_wrong_usage(self):
        """--summary is refused with a PDH output format, and by live."""
        path = self.disk([("a", 5)])
        for form in ("pdh-csv", "pdh-tsv"):
            done = self.run_program("cook", "--summary", "--format", form,
                                    path)
            self.assertEqual((done.status, done.out), (2, ""))
        self.assertEqual(self.run_program("live", "--summary").status, 2)

    def test_errors(self):
        """The samples before an error are summarised."""
        raw = bytes_of(self.disk([("a", 5)], [("a", 6)]))
        done = self.run_program("cook", "--summary", "--format", "json",
                                self.file("b.pfb", raw[:-8]))
        self.assertEqual((done.status, done.objects()[0]["count"]), (1, 1))


@needs_real_data
class Real(SummaryCase):
    """Logs of real machines."""

    def test_logs(self):
        """Summaries of captured logs follow from the values of cook."""
        for name in ("win8-counters", "many-machines"):
            self.check(real("blg", name + ".blg"))


if __name__ == "__main__":
    unittest.main()
