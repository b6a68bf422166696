# SPDX-License-Identifier: MIT
"""Perfmon logs, binary and text: what show and check print."""

import csv
import io
import os
import unittest

from program import Case, needs_real_data, real, seed
import log_seeds
import log_writer as w

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

    def test_records(self):
        """The header of a log, and its records with their parts, are shown."""
        records = self.show("valid_counters")
        header = records[0]
        self.assertEqual(
            [header[key] for key in (
                "record", "version", "build", "buffers", "pointer_size",
                "bias", "standard_bias", "daylight_bias", "standard_name",
                "daylight_name")],
            ["log", "6.2", 9200, 4, 8, 480, 0, -60, "Standard", "Daylight"])
        self.assertEqual(header["end_time"] - header["start_time"], w.SECOND)
        joined = [item for item in records if item["record"] == "record"]
        self.assertEqual([item["type"] for item in joined],
                         ["paths", "sample", "sample", "summary"])
        self.assertEqual([item["parts"] for item in joined], [2, 1, 1, 1])
        self.assertEqual(list(joined[0]), RECORD_KEYS)
        self.assertEqual(records[-1]["record"], "summary")
        self.assertEqual(records[-1]["samples"], 2)

    def test_paths_and_items(self):
        """Paths and items have all keys in order; instances have their names.
        """
        records = self.show("valid_counters")
        paths = [item for item in records if item["record"] == "path"]
        self.assertEqual(list(paths[0]), PATH_KEYS)
        self.assertEqual([path["counter"] for path in paths],
                         ["Avg. Disk Bytes/Read", "Pages/sec",
                          "% Processor Time"])
        self.assertEqual(paths[0]["type"], "PERF_AVERAGE_BULK")
        self.assertEqual(paths[0]["default_scale"], -2)
        self.assertIsNone(paths[1]["instance"])
        items = [item for item in records if item["record"] == "item"]
        self.assertEqual(list(items[0]), ITEM_KEYS)
        self.assertEqual((items[0]["status"], items[0]["first"],
                          items[0]["second"]), ("valid_data", 4096, 3))
        self.assertEqual(items[2]["instances"], 3)
        rows = [item for item in records if item["record"] == "instance"]
        self.assertEqual([row["name"] for row in rows],
                         ["0", "1", "_Total"] * 2)

    def test_no_data_is_null(self):
        """Items whose status means that there is no value have null values."""
        items = [item for item in self.show("valid_statuses")
                 if item["record"] in ("item", "instance")]
        for item in items:
            if item["status"] not in ("valid_data", "new_data"):
                self.assertIsNone(item.get("first"))
        self.assertLessEqual(
            {"no_machine", "no_object", "no_instance", "unknown_status"},
            {item["status"] for item in items})

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

    def test_an_error_in_an_object_has_its_offset_in_the_log(self):
        log = bytearray(log_seeds.whole_objects(48))
        at = log.find(b"P\0E\0R\0F\0", 1)
        block = log_seeds.memory_block(1)
        size_at = len(block) - 4 - 8 - 80 - 64
        # Offset of the size of the first V1 object, in the record's third
        # part.
        found = log.find(block[size_at:size_at + 16])
        self.assertGreater(found, at)
        log[found:found + 4] = b"\1\0\0\0"
        path = self.file("a.blg", bytes(log))
        item, = self.run_program("check", "--kind", "log", "--format", "json",
                                 path).objects()
        self.assertEqual((item["code"], item["offset"]),
                         ("bad_object_size", found))

    def test_a_truncated_log(self):
        """show and check report where a log is truncated."""
        data = log_seeds.log_seeds()["broken_cut_in_record"]
        path = self.file("a.blg", data)
        for command in ("show", "check"):
            done = self.run_program(command, path)
            self.assert_error(done, 1, path, len(data), "truncated_record")
        self.assertIn("(log, ", done.out)

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
        """The header, columns and values of a text log are shown."""
        path = seed("pdh_text", "valid_csv.csv")
        records = self.run_json("show", path)
        self.assertEqual(
            {key: records[0][key] for key in (
                "record", "has_version", "columns", "bias", "zone_name")},
            {"record": "text_log", "has_version": True, "columns": 3,
             "bias": 480, "zone_name": "Pacific Standard Time"})
        self.assertEqual([item["path"] for item in records
                          if item["record"] == "column"],
                         ["\\\\PC\\Memory\\Pages/sec",
                          "\\\\PC\\Processor(_Total)\\% Processor Time",
                          "\\\\PC\\Process(a#1)\\ID"])
        self.assertEqual([item["value"] for item in records
                          if item["record"] == "value"],
                         [None, 99.5, 4, 0.25, 4.6153846153846096, 4,
                          11980.986682813664, -0.0015, None])

    def test_check(self):
        """Lines that belong to no sample are tolerated; a truncated row is an
        error."""
        path = seed("pdh_text", "valid_typeperf.csv")
        item, = self.run_json("check", path)
        self.assertEqual((item["kind"], item["valid"], item["tolerated"]),
                         ("log", True, ["text_line"]))
        path = seed("pdh_text", "broken_row_cut.csv")
        self.assert_error(self.run_program("check", path), 1, path,
                          os.path.getsize(path), "truncated_line")


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

    def test_samples_before_a_truncation(self):
        """The samples before the truncation are shown."""
        path = real("blg", "vista-objects-cut.blg")
        done = self.run_program("show", "--format", "json", path)
        records = done.objects()
        self.assertEqual(sum(item.get("type") == "sample"
                             for item in records), 3)
        errors = [item for item in records if item["record"] == "error"]
        self.assertEqual([item["offset"] for item in errors], [262144])


if __name__ == "__main__":
    unittest.main()
