# SPDX-License-Identifier: MIT
"""cook -o FILE.sqlite, read by Python's SQLite. Tables and columns are those of
"SQL Log File Schema" in the documentation of Win32; the values of the fixtures
are those that tests/oracle computes from their texts."""

import contextlib
import os
import sqlite3
import unittest
import uuid

from program import (FIXTURES, IMPOSSIBLE, ON_WINDOWS, Case, bytes_of,
                     fixture_texts)
import fixture_reader
import formula

IS_BUILT = os.environ.get("PERFBLOCK_SQLITE", "1") == "1"
TABLES = {
    "CounterDetails": [
        "CounterID", "MachineName", "ObjectName", "CounterName", "CounterType",
        "DefaultScale", "InstanceName", "InstanceIndex", "ParentName",
        "ParentObjectID", "TimeBaseA", "TimeBaseB"],
    "CounterData": [
        "GUID", "CounterID", "RecordIndex", "CounterDateTime", "CounterValue",
        "FirstValueA", "FirstValueB", "SecondValueA", "SecondValueB",
        "MultiCount"],
    "DisplayToID": [
        "GUID", "RunID", "DisplayString", "LogStartTime", "LogStopTime",
        "NumberOfRecords", "MinutesToUTC", "TimeZoneName"],
    "CounterStatus": ["GUID", "CounterID", "RecordIndex", "Status"],
}
VALUES = """
    SELECT * FROM CounterData JOIN CounterDetails USING (CounterID)
    LEFT JOIN CounterStatus USING (GUID, CounterID, RecordIndex)
    ORDER BY RecordIndex, CounterID"""
PROCESSOR = os.path.join(FIXTURES, "processor.pfb")
PATH = r"\\PC\Memory\Pages/sec"


def whole(row, column):
    """The number whose halves are in two columns; None if they are null."""
    halves = [row[column + half] for half in "AB"]
    if halves == [None, None]:
        return None
    for half in halves:
        assert -1 << 31 <= half < 1 << 31
    return (halves[0] & 0xFFFFFFFF) | (halves[1] & 0xFFFFFFFF) << 32


def expected_raw(line, sample):
    """A value of a fixture as PDH has it."""
    inputs = {
        "type": fixture_reader.TYPES[line["type"]], "value": line["raw"],
        "perf_time": fixture_reader.FIRST_TICK + sample.ticks,
        "perf_time_100ns": fixture_reader.FIRST_TIME + sample.ticks,
        "object_time": fixture_reader.FIRST_TIME + sample.ticks,
        "perf_freq": fixture_reader.SECOND,
        "object_freq": fixture_reader.SECOND}
    if line["base"] is not None:
        inputs["base"] = line["base"]
    return formula.pdh_raw(inputs)


class SqliteCase(Case):
    """A test that writes a file."""

    def setUp(self):
        super().setUp()
        self.out = os.path.join(self.folder, "log.sqlite")

    def query(self, statement):
        """The rows of a query as dicts."""
        with contextlib.closing(sqlite3.connect(self.out)) as database:
            database.row_factory = sqlite3.Row
            return [dict(row) for row in database.execute(statement)]

    def cook(self, *arguments, **options):
        """The values that cook writes, with their counters and statuses."""
        done = self.run_fine("cook", *arguments, "-o", self.out, **options)
        self.assertEqual(done.out, "")
        return self.query(VALUES)

    def cook_text(self, header, *rows, zone=None):
        """The same for a text log with these cells."""
        lines = "".join(",".join(f'"{cell}"' for cell in row) + "\r\n"
                        for row in [header, *rows])
        return self.cook(self.file("log.csv", lines.encode()), zone=zone)

    def only_file(self):
        """Asserts that the folder has no other file than the output."""
        self.assertEqual(os.listdir(self.folder), ["log.sqlite"])


@unittest.skipUnless(IS_BUILT, "built without SQLite")
class Tables(SqliteCase):
    """What a file has."""

    def test_schema(self):
        """Names of tables and columns, and primary keys."""
        self.cook(PROCESSOR)
        for table, columns in TABLES.items():
            found = self.query(f"PRAGMA table_info({table})")
            self.assertEqual([row["name"] for row in found], columns)
            keys = [row["name"] for row in found if row["pk"] > 0]
            self.assertEqual(keys, [name for name in columns if name in (
                ("CounterID",) if table == "CounterDetails" else
                ("GUID", "CounterID", "RecordIndex"))])
        names = self.query("SELECT name FROM sqlite_master "
                           "WHERE type = 'table'")
        self.assertEqual({row["name"] for row in names}, set(TABLES))
        self.assertEqual(self.query("PRAGMA integrity_check"),
                         [{"integrity_check": "ok"}])

    def test_known_numbers(self):
        """The first values of processor.pfb. In 6850 s before 2025-01-01
        processor 0 was idle for 5822.5 s; in the 10 s that followed it was
        busy for 16.25 %."""
        rows = [row for row in self.cook(PROCESSOR)
                if (row["InstanceName"], row["CounterName"]) ==
                ("0", "% Processor Time")]
        self.assertEqual([row["CounterValue"] for row in rows],
                         [None, 16.25, 15.625, 16.25])
        self.assertEqual([row["Status"] for row in rows],
                         ["need_two_samples", None, None, None])
        self.assertEqual([whole(row, "FirstValue") for row in rows],
                         [58225000000, 58308750000, 58393125000, 58476875000])
        time = 133801632000000000  # FILETIME of 2025-01-01 UTC
        self.assertEqual([whole(row, "SecondValue") for row in rows],
                         [time + n * 10**8 for n in range(4)])
        self.assertEqual([row["CounterDateTime"] for row in rows],
                         [f"2025-01-01 00:00:{n}0.000" for n in range(4)])
        self.assertEqual([row["RecordIndex"] for row in rows], [1, 2, 3, 4])
        self.assertEqual({(row["MachineName"], row["ObjectName"],
                           row["CounterType"], row["DefaultScale"],
                           whole(row, "TimeBase"), row["MultiCount"])
                          for row in rows},
                         {(r"\\FIXTURE", "Processor", 0x21510500, 0, 10**7, 1)})

    def test_values_of_fixtures(self):
        """Displayed values, statuses and raw values of all fixtures are those
        of their texts."""
        for path, text in sorted(fixture_texts().items()):
            with self.subTest(path):
                self.assert_values(text, self.run_cook(path))

    def run_cook(self, path):
        """The values of a fixture, which may have results that failed."""
        done = self.run_program("cook", path, "-o", self.out)
        self.assertEqual(done.status, 0, done.err)
        return self.query(VALUES)

    def assert_values(self, text, rows):
        """The rows are those of the values in the text."""
        _, _, samples = fixture_reader.read_text(text)
        lines, _ = fixture_reader.cook_text(text)
        shown = [line for line in lines if line["status"] != "not_displayed"]
        first = shown[0]["sample"]
        self.assertEqual(len(rows), len(shown))
        key = ("RecordIndex", "ObjectName", "InstanceName", "InstanceIndex",
               "CounterName")
        by_key = {tuple(row[name] for name in key): row for row in rows}
        self.assertEqual(len(by_key), len(rows))
        for line in shown:
            is_single = line["instance"] is None
            row = by_key[line["sample"] - first + 1, line["set"],
                         line["instance"],
                         None if is_single else line["occurrence"],
                         line["counter"]]
            self.assertEqual(
                (row["CounterValue"], row["Status"] or "ok",
                 row["CounterDateTime"]),
                (line["value"], line["status"],
                 line["time"][:23].replace("T", " ")), line)
            self.assertEqual(whole(row, "FirstValue"), line["raw"], line)
            if line["type"]:
                raw = expected_raw(line, samples[line["sample"]])
                self.assertEqual(
                    (whole(row, "FirstValue"), whole(row, "SecondValue"),
                     row["MultiCount"], whole(row, "TimeBase") or 0,
                     row["CounterType"] & 0xFFFFFFFF),
                    (*raw[1:], fixture_reader.TYPES[line["type"]]), line)

    def test_log(self):
        """The row of the log. Each file has its own GUID."""
        guids = set()
        for _ in range(2):
            rows = self.cook(PROCESSOR)
            log, = self.query("SELECT * FROM DisplayToID")
            guid = uuid.UUID(log.pop("GUID"))
            self.assertEqual((guid.variant, guid.version),
                             (uuid.RFC_4122, 4))
            self.assertEqual({uuid.UUID(row["GUID"]) for row in rows}, {guid})
            self.assertEqual(log, {
                "RunID": 0, "DisplayString": "log.sqlite",
                "LogStartTime": "2025-01-01 00:00:00.000",
                "LogStopTime": "2025-01-01 00:00:30.000",
                "NumberOfRecords": 4, "MinutesToUTC": 0,
                "TimeZoneName": "UTC"})
            guids.add(guid)
        self.assertEqual(len(guids), 2)
        self.only_file()

    def test_choice(self):
        """Filters apply; the ending may have capitals."""
        self.out = os.path.join(self.folder, "LOG.SQLite")
        rows = self.cook(PROCESSOR, "--path", r"\Processor(1)\Interrupts/sec",
                         "--every", "2")
        self.assertEqual(
            [(row["RecordIndex"], row["InstanceName"], row["CounterName"],
              row["CounterDateTime"]) for row in rows],
            [(index, "1", "Interrupts/sec", f"2025-01-01 00:00:{second}.000")
             for index, second in ((1, "00"), (2, "20"))])


@unittest.skipUnless(IS_BUILT, "built without SQLite")
class TextLogs(SqliteCase):
    """Text logs have displayed values only."""

    def test_offset(self):
        """Times are UTC if the log has its offset from UTC."""
        rows = self.cook_text(
            ["(PDH-CSV 4.0) (CET)(-60)", PATH],
            ["11/23/2026 04:05:00.123", "1.5"],
            ["11/23/2026 04:05:01.123", " "])
        self.assertEqual(
            [(row["CounterDateTime"], row["CounterValue"], row["Status"])
             for row in rows],
            [("2026-11-23 03:05:00.123", 1.5, None),
             ("2026-11-23 03:05:01.123", None, "no_data")])
        self.assertEqual({(row["MachineName"], row["ObjectName"],
                           row["CounterName"]) for row in rows},
                         {(r"\\PC", "Memory", "Pages/sec")})
        for column in ("CounterType", "InstanceName", "InstanceIndex",
                       "ParentName", "TimeBaseA", "FirstValueA",
                       "SecondValueB", "MultiCount"):
            self.assertEqual({row[column] for row in rows}, {None}, column)

    def test_unknown_offset(self):
        """Otherwise they are local, and the offset is null."""
        rows = self.cook_text(["(PDH-CSV 4.0)", PATH],
                              ["11/23/2026 04:05:00.123", "7"], zone="XYZ-5")
        self.assertEqual(rows[0]["CounterDateTime"], "2026-11-23 04:05:00.123")
        log, = self.query("SELECT * FROM DisplayToID")
        self.assertEqual((log["LogStartTime"], log["LogStopTime"]),
                         ("2026-11-23 04:05:00.123",) * 2)
        self.assertEqual((log["MinutesToUTC"], log["TimeZoneName"]),
                         (None, None))

    def test_equal_paths(self):
        """Counters with equal names have a CounterID each."""
        rows = self.cook_text(["(PDH-CSV 4.0) (UTC)(0)", PATH, PATH],
                              ["11/23/2026 04:05:00.123", "1", "2"],
                              ["11/23/2026 04:05:01.123", "3", "4"])
        self.assertEqual([(row["RecordIndex"], row["CounterID"],
                           row["CounterValue"]) for row in rows],
                         [(1, 1, 1), (1, 2, 2), (2, 1, 3), (2, 2, 4)])

    def test_names(self):
        """Parts of paths have columns. Names are escaped as in text, and cut
        after 1024 characters."""
        long = "x" * 1025
        rows = self.cook_text(
            ["(PDH-CSV 4.0) (UTC)(0)", r"\\PC\Thread(app/1#2)\ID Thread",
             "\\\\PC\\Set\x07\\é", "\\\\PC\\Set\\" + long],
            ["11/23/2026 04:05:00.123", "1", "2", "3"])
        self.assertEqual(
            [(row["ObjectName"], row["ParentName"], row["InstanceName"],
              row["InstanceIndex"], row["CounterName"]) for row in rows],
            [("Thread", "app", "1", 2, "ID Thread"),
             ("Set\\u0007", None, None, None, "é"),
             ("Set", None, None, None, long[:1024] + "…")])


@unittest.skipUnless(IS_BUILT, "built without SQLite")
class Failures(SqliteCase):
    """The file appears when it is complete."""

    def refused(self, status, *arguments, **options):
        """The message of a run that fails and writes nothing."""
        done = self.run_program("cook", *arguments, **options)
        self.assertEqual((done.status, done.out), (status, ""), done.err)
        return done.err

    def test_missing_folder(self):
        """A folder that does not exist."""
        path = os.path.join(self.folder, "missing", "log.sqlite")
        self.assertIn(path, self.refused(3, PROCESSOR, "-o", path))

    @unittest.skipIf(ON_WINDOWS or os.geteuid() == 0,
                     "this user may write everywhere")
    def test_read_only_folder(self):
        """A folder in which no file can be created."""
        os.chmod(self.folder, 0o500)
        self.addCleanup(os.chmod, self.folder, 0o700)
        self.refused(3, PROCESSOR, "-o", self.out)
        self.assertEqual(os.listdir(self.folder), [])

    @unittest.skipIf(ON_WINDOWS, "Windows has no resource limits")
    def test_failed_write(self):
        """A file that cannot grow: the old one stays."""
        def limit():
            import resource
            resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))
        self.file("log.sqlite", b"old")
        message = self.refused(3, PROCESSOR, "-o", self.out, begin=limit)
        self.assertEqual(message.count("\n"), 1, message)
        self.assertIn(self.out, message)
        self.assertEqual(bytes_of(self.out), b"old")
        self.only_file()

    def test_missing_input(self):
        """Without a sample because of an error, the old file stays."""
        self.file("log.sqlite", b"old")
        self.refused(3, os.path.join(self.folder, "missing.pfb"), "-o",
                     self.out)
        self.assertEqual(bytes_of(self.out), b"old")
        self.only_file()

    def test_damaged_input(self):
        """What precedes the damage is written, and replaces the old file."""
        path = self.file("cut.pfb", bytes_of(PROCESSOR)[:-10])
        self.file("log.sqlite", b"old")
        self.refused(1, path, "-o", self.out)
        self.assertEqual({row["RecordIndex"] for row in self.query(VALUES)},
                         {1, 2, 3})

    def test_other_targets(self):
        """A folder, and the input itself."""
        os.mkdir(self.out)
        self.assertIn("not a regular file",
                      self.refused(3, PROCESSOR, "-o", self.out))
        path = self.file("in.sqlite", bytes_of(PROCESSOR))
        self.assertIn("is an input", self.refused(2, path, "-o", path))
        self.assertEqual(bytes_of(path), bytes_of(PROCESSOR))
        self.assertEqual(sorted(os.listdir(self.folder)),
                         ["in.sqlite", "log.sqlite"])

    def test_no_samples(self):
        """A recording without samples gives tables without values."""
        rows = self.cook("--quiet", self.text_recording(
            "empty.pfb", "perfblock text 1\n"))
        self.assertEqual(rows, [])
        log, = self.query("SELECT * FROM DisplayToID")
        self.assertEqual((log["NumberOfRecords"], log["LogStartTime"]),
                         (0, None))

    def test_options_of_tables(self):
        """--summary applies to other formats."""
        self.assertIn("--summary", self.refused(
            2, PROCESSOR, "-o", self.out, "--summary"))


@unittest.skipIf(IS_BUILT, "built with SQLite")
class NotBuilt(SqliteCase):
    """A program without SQLite."""

    def test_refusal(self):
        """The message says why; the old file stays."""
        self.file("log.sqlite", b"old")
        done = self.run_program("cook", PROCESSOR, "-o", self.out)
        self.assertEqual((done.status, done.out), (IMPOSSIBLE, ""))
        self.assertIn("libsqlite3", done.err)
        self.assertEqual(bytes_of(self.out), b"old")
        self.only_file()


if __name__ == "__main__":
    unittest.main()
