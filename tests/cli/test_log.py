# SPDX-License-Identifier: MIT
"""Perfmon logs, binary and text: what show and check print.
tests/oracle/compare.py compares every record, value and error of the seeds and
of captured logs with a second reader."""

import csv
import io
import unittest

from program import Case, needs_real_data, real, seed
import log_seeds

RECORD_KEYS = ["record", "offset", "type", "size", "parts", "time"]
PATH_KEYS = ["record", "offset", "position", "machine", "object", "parent",
             "instance", "counter", "type", "frequency", "flags",
             "type_value", "instance_index", "default_scale", "user_data"]
ITEM_KEYS = ["record", "offset", "position", "kind", "time", "status",
             "first", "second", "multi_count"]


class Binary(Case):
    """.blg files."""

    def show(self, name):
        """The records that show prints of a seed."""
        return self.run_json("show", "--kind", "log", self.file(
            name, log_seeds.log_seeds()[name]))

    def test_keys(self):
        """Records, paths and items have their keys in order."""
        for kind, keys in (("record", RECORD_KEYS), ("path", PATH_KEYS),
                           ("item", ITEM_KEYS)):
            first = next(item for item in self.show("valid_counters")
                         if item["record"] == kind)
            self.assertEqual(list(first), keys)

    def test_whole_objects_with_the_names_of_the_log(self):
        """V1 objects of a log have the names that the log contains."""
        records = self.show("valid_objects_in_parts")
        named = [(item["record"], item["name"]) for item in records
                 if item["record"] in ("object", "counter")]
        self.assertEqual(named[:3], [("object", "Memory"),
                                     ("counter", "Available"),
                                     ("counter", "Pages/sec")])
        values = [item["raw"] for item in records if item["record"] == "value"]
        self.assertEqual(values, [1001, 70, 1002, 140])

    def test_deviations(self):
        """Deviations are tolerated with a note and rejected by --strict."""
        for name, note, code in (
                ("unknown_item", "unknown_item", "unknown_item"),
                ("foreign_event", "unknown_event", "unknown_event"),
                ("missing_part", "incomplete_record", "bad_part")):
            path = self.file(name, log_seeds.log_seeds()["valid_" + name])
            item, = self.run_json("check", "--kind", "log", path)
            self.assertEqual(item["tolerated"], [note])
            done = self.run_program("check", "--strict", "--kind", "log",
                                    "--format", "json", path)
            self.assertEqual(done.objects()[0]["code"], code)

    def test_text_and_csv(self):
        """show prints text, check CSV, without messages."""
        path = self.file("a", log_seeds.log_seeds()["valid_counters"])
        text = self.run_fine("show", path).out
        self.assertIn('counter "% Processor Time"', text)
        self.assertEqual(self.run_fine("show", path).err, "")
        rows = list(csv.reader(io.StringIO(
            self.run_fine("check", "--format", "csv", path).out)))
        self.assertEqual(rows[1][1], "log")


class Text(Case):
    """CSV and TSV files."""

    def test_show(self):
        """A text log has its zone, and its columns have their paths."""
        records = self.run_json("show", seed("pdh_text", "valid_csv.csv"))
        self.assertEqual((records[0]["bias"], records[0]["zone_name"]),
                         (480, "Pacific Standard Time"))
        self.assertEqual([item["path"] for item in records
                          if item["record"] == "column"],
                         ["\\\\PC\\Memory\\Pages/sec",
                          "\\\\PC\\Processor(_Total)\\% Processor Time",
                          "\\\\PC\\Process(a#1)\\ID"])

    def test_check(self):
        """Lines that belong to no sample are tolerated."""
        path = seed("pdh_text", "valid_typeperf.csv")
        done = self.run_program("check", path, "--format", "json")
        item, = done.objects()
        self.assertEqual((item["kind"], item["valid"], item["tolerated"]),
                         ("log", True, ["text_line"]))
        self.assertEqual((done.status, done.err), (
            0, path + ": note: 2 lines that are no rows were skipped, the "
            "first in line 7\n"))
        self.assertEqual(
            [item[key] for key in ("samples", "values", "unreadable",
                                   "skipped_lines")], [3, 7, 0, 2])


@needs_real_data
class Captured(Case):
    """Logs of real machines."""

    def test_verdicts(self):
        """Captured logs are valid, except the one that is truncated."""
        for name, kind, code in (
                ("win8-counters.blg", "log", None),
                ("many-machines.blg", "log", None),
                ("vista-objects-cut.blg", "log", "truncated_record"),
                ("text-named-blg.blg", "log", None)):
            path = real("blg", name)
            done = self.run_program("check", "--strict", "--format", "json",
                                    path)
            item, = done.objects()
            self.assertEqual((item["kind"], item.get("code")), (kind, code))
            self.assertEqual(done.status, 1 if code else 0)


if __name__ == "__main__":
    unittest.main()
