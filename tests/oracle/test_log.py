# SPDX-License-Identifier: MIT
"""Tests of the readers of perfmon logs in this folder.

Run with: python3 -m unittest test_log. If PERFBLOCK_REAL_DATA names the folder
of captured data, values of captured logs are tested too.
"""

import json
import os
import unittest

import compare_log
import formula
import log_reader
import log_seeds
import pdh_text_reader
import pdh_text_seeds

REAL = os.environ.get("PERFBLOCK_REAL_DATA")
CLOCKS = {"perf": ("perf_time", "perf_freq"), "100ns": ("perf_time_100ns",
                                                        None),
          "object": ("object_time", "object_freq")}


def read(name):
    """The bytes of a captured log."""
    with open(os.path.join(REAL, "blg", name), "rb") as file:
        return file.read()


def inputs(path, value):
    """The inputs of formula.py for a value (status, time, first, second, multi
    count) of a path."""
    kind = formula.find_type(path["type"])
    out = {"type": path["type"], "value": value[2], "multi": value[4] or None}
    if kind.form.denominator in ("base", "base_delta", "base_or_time"):
        out["base"] = value[3]
    clock, frequency = CLOCKS.get(kind.clock, (None, None))
    if clock and kind.form.denominator == "time":
        out[clock] = value[3]
    if frequency:
        out[frequency] = path["frequency"]
    return out


class Seeds(unittest.TestCase):
    """The readers find an error in each seed except those named valid_*."""

    def test_logs(self):
        """The reader accepts the binary logs named valid_* and no others."""
        codes = set()
        for name, seed in log_seeds.log_seeds().items():
            with self.subTest(name):
                self.assertEqual(name.startswith("valid_"),
                                 compare_log.is_sound_log(seed))
                error = compare_log.log_expectation(seed)[1]
                if error:
                    codes.add(error[0])
                    self.assertTrue(0 <= error[1] <= len(seed))
        self.assertLessEqual({
            "truncated_header", "truncated_string", "truncated_buffer",
            "truncated_record", "truncated_log", "truncated_event",
            "truncated_item", "bad_string_offset", "overlapping_strings",
            "bad_instance_count", "bad_buffer_size", "bad_buffer_used",
            "bad_event_size", "bad_log_header", "bad_record_size", "bad_item",
            "bad_item_size", "unknown_format"}, codes)

    def test_texts(self):
        """The reader accepts the text logs named valid_* and no others."""
        for name, seed in pdh_text_seeds.pdh_text_seeds().items():
            with self.subTest(name):
                self.assertEqual(name.startswith("valid_"),
                                 pdh_text_reader.Text(seed).error is None)


@unittest.skipUnless(REAL, "PERFBLOCK_REAL_DATA names no folder")
class Captured(unittest.TestCase):
    """Logs of real machines."""

    def check_values(self, name):
        """Asserts that the values of a log, and the displayed values computed
        from them, are those that are expected."""
        log = log_reader.Log(read(name + ".blg"), strict=True)
        self.assertIsNone(log.error)
        expected = read(name + ".expected.jsonl").splitlines()
        paths, older, count = [], {}, 0
        for kind, _, _, parts in log.records:
            content = log_reader.read_record(kind, b"".join(
                raw for _, raw in parts), strict=True)
            self.assertIsNone(content.error)
            if kind == log_reader.PATHS:
                paths = content.lines
            if kind != log_reader.SAMPLE:
                continue
            newer = log_reader.values(content)
            for key, value in newer.items():
                wanted = json.loads(expected[count])
                path = paths[key[0]]
                self.assertEqual(
                    (wanted["machine"], wanted["counter"], wanted["instance"],
                     wanted["occurrence"]),
                    (path["machine"], path["counter"],
                     path["instance"] if key[1] is None else key[1], key[2]))
                self.assertEqual(
                    (wanted["status"], wanted["time"], wanted["first"],
                     wanted["second"]), value[:4])
                self.assertEqual(wanted["value"], self.displayed(
                    path, older.get(key), value))
                count += 1
            older = newer
        self.assertEqual(count, len(expected))

    def displayed(self, path, older, newer):
        """The displayed value of a path, or None."""
        if not log_reader.has_value(newer[0]):
            return None
        if older and not log_reader.has_value(older[0]):
            older = None
        return formula.evaluate(older and inputs(path, older),
                                inputs(path, newer)).value

    def test_values(self):
        """The values of captured logs are the expected ones."""
        for name in ("win8-counters", "many-machines"):
            with self.subTest(name):
                self.check_values(name)

    def test_a_truncated_log(self):
        """The records before the truncation are read; the error has its
        offset."""
        data = read("vista-objects-cut.blg")
        log = log_reader.Log(data, strict=True)
        self.assertEqual(log.error, ("truncated_record", len(data)))
        self.assertEqual(sum(kind == log_reader.SAMPLE
                             for kind, _, _, _ in log.records), 3)


if __name__ == "__main__":
    unittest.main()
