# SPDX-License-Identifier: MIT
"""Perfmon logs, binary and text: their values in cook."""

import csv
import io
import json
import os
import struct
import unittest

from captures import PROCESSOR
from program import (CORPUS, ON_WINDOWS, STEP, Case, bytes_of,
                     needs_real_data, real, seed)
import log_seeds
import pages
import pdh_text_seeds
import log_writer as w

KEYS = ["sample", "time", "set", "object", "instance", "occurrence", "counter",
        "counter_id", "position", "type", "status", "value", "unit", "flags",
        "raw", "base", "guid", "instance_id", "parent", "machine",
        "path"]


class Binary(Case):
    """.blg files."""

    def cook(self, name):
        """The values that cook prints of a seed."""
        return self.run_json("cook", "--kind", "log", self.file(
            name, log_seeds.log_seeds()[name]))

    def test_counters(self):
        """Each path and instance has its displayed value, machine and path."""
        values = self.cook("valid_counters")
        self.assertEqual(list(values[0]), KEYS)
        self.assertEqual([v["sample"] for v in values], [0] * 5 + [1] * 5)
        self.assertEqual(
            [(v["set"], v["instance"], v["counter"]) for v in values[5:]],
            [("PhysicalDisk", "0 C:", "Avg. Disk Bytes/Read"),
             ("Memory", None, "Pages/sec"),
             ("Processor", "0", "% Processor Time"),
             ("Processor", "1", "% Processor Time"),
             ("Processor", "_Total", "% Processor Time")])
        # 4096 bytes in 3 reads; 70 in a second; 0.4, 0.9, 0.65 s idle of 1 s.
        self.assertEqual([v["value"] for v in values[5:]],
                         [4096 / 3, 70, 60, 10, 35])
        self.assertEqual({v["machine"] for v in values}, {"\\\\PC"})
        self.assertEqual([v["path"] for v in values[5:7]], [
            r"\\PC\PhysicalDisk(0 C:)\Avg. Disk Bytes/Read",
            r"\\PC\Memory\Pages/sec"])
        self.assertEqual({(v["guid"], v["counter_id"], v["object"])
                          for v in values}, {(None, None, None)})
        self.assertEqual((values[5]["raw"], values[5]["base"]), (8192, 6))
        # 18:50:18.844 on the day before; UTC is 8 hours later.
        self.assertEqual({v["time"] for v in values[:5]},
                         {"2013-02-20T02:50:18.8440000Z"})

    def test_time_without_bias(self):
        """The header has two biases and does not say which one applies, so
        times are local."""
        done = self.run_program("cook", "--quiet", "--format", "json",
                                seed("log", "valid_fewer_items.blg"))
        self.assertEqual(done.objects()[0]["time"],
                         "2013-02-19T18:50:17.8440000")

    def test_no_data(self):
        """Values that the log does not have are null, with the PDH status."""
        values = self.cook("valid_statuses")
        self.assertLessEqual(
            {"no_machine", "no_object", "no_instance",
             "unknown_status_0xFFFFFFFF"},
            {v["status"] for v in values})
        for value in values:
            if value["status"].startswith(("no_", "unknown_status")):
                self.assertEqual((value["value"], value["raw"]), (None, None))

    STATUSES = {0xC0000BBA: "invalid_data", 0x800007D1: "no_instance",
                0xC0000BB8: "no_object", 0x800007FF: "unknown_status_0x800007FF",
                2: "unknown_status_0x00000002",
                2**32 - 1: "unknown_status_0xFFFFFFFF"}

    def test_statuses(self):
        """Each status has its name, and one without a name its number, in
        every format that has a place for it."""
        path = self.file("s.blg", w.log(*w.paths(*[
            w.path(0x00010000, 10**7, "\\\\PC", "Set", None, "c%d" % i)
            for i in range(len(self.STATUSES))]), *w.sample(*[
                w.counter(7, 0, status) for status in self.STATUSES])))
        names = list(self.STATUSES.values())
        values = self.run_json("cook", path)
        self.assertEqual([(v["status"], v["value"], v["raw"])
                          for v in values], [(n, None, None) for n in names])
        rows = csv.DictReader(io.StringIO(self.run_fine(
            "cook", "-f", "csv", path).out))
        self.assertEqual([(row["status"], row["value"]) for row in rows],
                         [(name, "") for name in names])
        summary = self.run_json("cook", "--summary", path)
        self.assertEqual([v["statuses"] for v in summary],
                         [[name] for name in names])
        for command in (("cook", path), ("report", path),
                        ("show", path, "-f", "json"),
                        ("show", path, "-f", "html")):
            out = self.run_fine(*command).out
            for name in names:
                self.assertIn(name, out, command)

    def test_check_counts_values(self):
        """Items and instances without a value are none."""
        events = [w.paths(w.path(0x00010000, 10**7, "\\\\PC", "A", None, "c"),
                          w.path(0x00010000, 10**7, "\\\\PC", "B", "*", "c"))]
        for status in (0, 1, 0xC0000BBA):
            events.append(w.sample(w.counter(7, 0, status), w.instances(
                ("a", 7, 0), ("b", 7, 0, status))))
        item, = self.run_json("check", self.file("s.blg", w.log(*[
            event for record in events for event in record])))
        self.assertEqual((item["samples"], item["values"]), (3, 7))

    def test_many_statuses(self):
        """A page has 254 reasons of its own; further ones are "other". The
        summary lists the first 64."""
        path = self.file("s.blg", w.log(*w.paths(w.path(
            0x00010000, 10**7, "\\\\PC", "Set", None, "c")), *[
                event for status in range(2, 302) for event in w.sample(
                    w.counter(7, 0, status, time=w.LOCAL + status))]))
        item, = self.run_json("cook", "--summary", path)
        self.assertEqual((item["missing"], item["statuses"]), (
            300, ["unknown_status_0x%08X" % i for i in range(2, 66)]))
        line, = pages.Report(self.run_fine(
            "report", path).out).lines.values()
        self.assertEqual(line.points, [
            "unknown_status_0x%08X" % i for i in range(2, 256)] + [
                "other"] * 46)

    def test_raw_counts_that_may_be_negative(self):
        """As in V2 data; an item without a value has no flag."""
        rows = ((0x00010100, 2**64 - 1, 0), (0x00010000, 2**63, 0),
                (0x00010100, 2**63 - 1, 0), (0x00000100, 2**64 - 1, 0),
                (0x00010100, 2**64 - 1, 0x800007D1))
        values = self.run_json("cook", self.file("n.blg", w.log(*w.paths(*[
            w.path(kind, 10**7, "\\\\PC", "Set", None, "c%d" % i)
            for i, (kind, _, _) in enumerate(rows)]), *w.sample(*[
                w.counter(value, 0, status) for _, value, status in rows]))))
        flag = ["may_be_negative"]
        self.assertEqual([v["flags"] for v in values], [flag, flag, [], [], []])
        self.assertEqual([v["value"] for v in values], [
            float(2**64 - 1), 2.0**63, float(2**63 - 1), float(2**64 - 1),
            None])

    def test_a_log_that_was_appended(self):
        """Its lists of paths apply to its samples, also if it is earlier."""
        def log(second, counters):
            now = w.LOCAL + second * w.SECOND
            return w.log(*w.paths(*(w.path(0x00010100, 0, "\\\\PC", "Set", None, name)
                                    for name in counters)),
                         *w.sample(*(w.counter(ord(name), 0, time=now)
                                     for name in counters), time=now),
                         whole=True)
        parts = log(9, "abc"), log(0, "db"), log(20, "be")
        path = self.file("a.blg", b"".join(parts))
        values = self.run_json("cook", "-q", path)
        self.assertEqual("".join(v["counter"] for v in values), "abcdbbe")
        for value in values:
            self.assertEqual(value["raw"], ord(value["counter"]))

    def test_instances_are_matched_by_name_and_number(self):
        """The n-th instance of a name is compared with the n-th one of the
        previous sample."""
        values = [v for v in self.cook("valid_moving_instances")
                  if v["sample"] == 1]
        self.assertEqual(
            [(v["instance"], v["occurrence"], v["raw"],
              v["status"] == "need_two_samples") for v in values],
            [("b", 0, 5, False), ("a", 0, 6, False), ("b", 1, 7, False),
             ("d", 0, 8, True)])

    def test_whole_objects(self):
        """Objects of one part and of several parts have the same values."""
        for name in ("valid_objects", "valid_objects_in_parts"):
            values = self.cook(name)
            self.assertEqual([(v["sample"], v["set"], v["counter"],
                               v["value"], v["raw"]) for v in values],
                             [(0, "Memory", "Available", 1001, 1001),
                              (0, "Memory", "Pages/sec", None, 70),
                              (1, "Memory", "Available", 1002, 1002),
                              (1, "Memory", "Pages/sec", 70, 140)])

    def test_an_error_in_an_object_has_its_offset_in_the_log(self):
        log = bytearray(log_seeds.whole_objects(48))
        block = log_seeds.memory_block(1)
        size_at = len(block) - 4 - 8 - 80 - 64
        found = log.find(block[size_at:size_at + 16])
        log[found:found + 4] = b"\1\0\0\0"
        path = self.file("a.blg", bytes(log))
        done = self.run_program("cook", "--kind", "log", path)
        self.assert_error(done, 1, path, found, "bad_object_size")

    def test_logs_of_one_time_are_not_compared(self):
        """A log that is read twice gives no rates between its copies."""
        path = self.file("a", log_seeds.log_seeds()["valid_counters"])
        values = self.run_json("cook", path, path)
        self.assertEqual([v["status"] for v in values],
                         ["need_two_samples"] * 10 + ["ok"] * 10)
        self.assertEqual([v["sample"] for v in values],
                         [n for n in range(4) for _ in range(5)])

    def test_text_and_csv(self):
        """Tables have times and paths; CSV has the same values."""
        path = self.file("a", log_seeds.log_seeds()["valid_counters"])
        text = self.run_fine("cook", "--utc", path).out
        self.assertIn("Sample 1, 2013-02-20 02:50:19.844 Z", text)
        self.assertRegex(text, r"\\\\PC\\Processor\(1\)\\% Processor Time +10")
        rows = list(csv.DictReader(io.StringIO(
            self.run_fine("cook", "--format", "csv", path).out)))
        self.assertEqual(rows[6]["value"], "70")
        self.assertEqual(rows[6]["machine"], "\\\\PC")

    def test_seeds(self):
        """Broken seeds have an error, as has the valid one with an object that
        is not a V1 block; the other valid ones have none."""
        folder = os.path.join(CORPUS, "log", "seeds")
        for name in sorted(os.listdir(folder))[::STEP]:
            for form in ("json", "text"):
                done = self.run_program(
                    "cook", "--quiet", "--kind", "log", "--format", form,
                    os.path.join(folder, name))
                expected = name.startswith("broken") or "no_block" in name
                self.assertEqual(done.status, int(expected), (name, done.err))


def rate_log(machine, ticks, **options):
    """A log of one rate, which is always 70 per second, with a sample at each
    of the seconds `ticks`."""
    samples = [w.sample(w.counter(
        70 * tick, log_seeds.FREQUENCY * tick, time=w.LOCAL + tick * w.SECOND),
        time=w.LOCAL + tick * w.SECOND) for tick in ticks]
    return w.log(*w.paths(w.path(
        log_seeds.RATE, log_seeds.FREQUENCY, machine, "Memory", None,
        "Pages/sec")), *[part for sample in samples for part in sample],
        start=w.UTC + min(ticks, default=0) * w.SECOND, **options)


class Merged(Case):
    """Several logs are cooked in the order of their samples' times."""

    def ticks(self, *paths, options=()):
        """(machine, second, value) of each record of cook."""
        values = self.run_json("cook", *options, *paths)
        self.assertEqual([v["sample"] for v in values],
                         list(range(len(values))))
        return [(v["machine"][2:], round(float(v["time"][17:-1]) - 17.844) % 60,
                 v["value"]) for v in values]

    def test_samples_are_sorted_by_time(self):
        logs = [self.file("a.blg", rate_log("\\\\A", (1, 3, 5, 6))),
                self.file("b.blg", rate_log("\\\\B", (2, 4, 8))),
                self.file("c.blg", rate_log("\\\\C", (9, 10)))]
        expected = [("A", 1, None), ("B", 2, None), ("A", 3, 70), ("B", 4, 70),
                    ("A", 5, 70), ("A", 6, 70), ("B", 8, 70), ("C", 9, None),
                    ("C", 10, 70)]
        for order in (logs, logs[::-1], logs[1:] + logs[:1]):
            self.assertEqual(self.ticks(*order), expected)
        self.assertEqual(self.ticks(*logs, options=["--every", "2"]), [
            ("A", 1, None), ("B", 2, None), ("A", 5, 70), ("B", 8, 70),
            ("C", 9, None)])
        rows = self.run_fine("cook", "--utc", "--format", "pdh-csv",
                             *logs).out.splitlines()
        self.assertEqual([row.split(",")[1:].index('"70"') for row in rows
                          if '"70"' in row], [0, 1, 0, 0, 1, 2])
        self.assertEqual(rows[1:], sorted(rows[1:]))

    def test_zones(self):
        """The header of a binary log has the biases of standard and of
        daylight saving time but not which one applies. A text log has the
        bias that applies. Samples are in the order of UTC for either."""
        text = pdh_text_seeds.text(
            "(PDH-CSV 4.0) (UTC)(0)", ("\\\\C\\Memory\\Pages/sec",),
            (("1",), ("2",)), ("02/20/2013 02:50:20.844",
                               "02/20/2013 02:50:22.844"))
        for bias, daylight in ((480, -60), (540, -60), (480, 0)):
            logs = [self.file("a.blg", rate_log("\\\\A", (2, 4, 6))),
                    self.file("b.blg", rate_log(
                        "\\\\B", (1, 7, 8), bias=bias, daylight=daylight)),
                    self.file("c.csv", text)]
            values = self.run_json("cook", *logs)
            self.assertEqual("".join(v["machine"][2:] for v in values),
                             "BACACABB")

    def test_objects(self):
        """The objects of each log get the names that this log contains."""
        def log(name, ticks):
            return w.log(
                *w.names("\\\\PC", (4, name), (6, "Available"), (10, "Rate")),
                *w.paths(log_seeds.OBJECT), *[
                    part for tick in ticks for part in w.sample(
                        w.block(log_seeds.memory_block(tick)),
                        time=w.LOCAL + tick * w.SECOND)])
        logs = [self.file("a.blg", log("Memory", (1, 3))),
                self.file("b.blg", log("Speicher", (2, 4)))]
        values = self.run_json("cook", *logs)
        self.assertEqual([v["set"] for v in values],
                         ["Memory"] * 2 + ["Speicher"] * 2 + ["Memory"] * 2 +
                         ["Speicher"] * 2)
        self.assertEqual([v["raw"] for v in values[::2]],
                         [1001, 1002, 1003, 1004])

    def test_errors(self):
        """An error in one log does not change the values of the others."""
        broken = rate_log("\\\\A", (1, 3, 5))[:-8]
        logs = [self.file("a.blg", broken),
                self.file("b.blg", rate_log("\\\\B", (2, 4, 6))),
                self.file("empty.blg", rate_log("\\\\C", ()))]
        done = self.run_program("cook", "--format", "json", *logs)
        self.assertEqual((done.status, [error[::2] for error in done.errors()]),
                         (1, [(logs[0], "truncated_buffer")]))
        self.assertEqual("".join(v["machine"][2:] for v in done.objects()),
                         "ABABB")

    @unittest.skipIf(ON_WINDOWS, "no limit of open files")
    def test_few_files_are_open(self):
        """If the times of logs do not overlap, only one or two are open at a
        time: 40 logs are read with at most 24 open files."""
        import resource
        logs = [self.file("%d.blg" % n, rate_log("\\\\PC", (2 * n, 2 * n + 1)))
                for n in range(40)]
        limits = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (24, limits[1]))
        try:
            values = self.run_json("cook", *logs)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, limits)
        self.assertEqual(len(values), 80)


def split_log(data, *cuts):
    """Copies of the log `data`: one with all complete samples, then one with
    the samples before the first of `cuts`, one with those up to the next cut,
    and so on. Cuts are numbers of samples."""
    size, = struct.unpack_from("<I", data, 0x48 + 0x20)
    width, = struct.unpack_from("<I", data, 0x48 + 0x4C)
    zone = 0x48 + 0x58 + 2 * width
    bias, = struct.unpack_from("<i", data, zone)
    daylight, = struct.unpack_from("<i", data, zone + 168)
    head, samples = [], []
    for base in range(0, len(data), size):
        used, = struct.unpack_from("<I", data, base + 0x30)
        at = base + 0x48
        if base == 0:
            at += struct.unpack_from("<H", data, at + 4)[0] + 7 & ~7
        while at + 0x48 <= base + used:
            length, _, kind = struct.unpack_from("<3H", data, at)
            part, parts = struct.unpack_from("<II", data, at + 0x40)
            event = data[at:at + length]
            if kind in (w.PATHS, w.NAMES):
                head.append(event)
            elif kind == w.SAMPLE and part == 1:
                samples.append((parts, [event]))
            elif kind == w.SAMPLE:
                samples[-1][1].append(event)
            at += max(length, 8) + 7 & ~7
    samples = [events for parts, events in samples if len(events) == parts]
    places = [0, *cuts, len(samples)]
    groups = [samples] + [samples[begin:end]
                          for begin, end in zip(places, places[1:])]
    return [w.log(*head, *[event for events in group for event in events],
                  size=size, width=width, bias=bias, daylight=daylight,
                  start=struct.unpack_from("<Q", group[0][0], 16)[0] +
                  bias * 60 * w.SECOND) for group in groups]


class SplitCase(Case):
    """A test that splits a log into several files."""

    def assert_continued(self, data, *cuts, options=()):
        """Asserts that cook prints the same values for the parts of a log, in
        ascending and descending order, as for the whole log. Returns the
        values."""
        paths = [self.file("%d.blg" % number, part)
                 for number, part in enumerate(split_log(data, *cuts))]
        expected = self.run_json("cook", *options, paths[0])
        for parts in (paths[1:], paths[:0:-1]):
            self.assertEqual(self.run_json("cook", *options, *parts), expected)
        return expected


class Rotated(SplitCase):
    """Rotated logs: the first sample of a log is compared with the last sample
    of the log that it continues."""

    @staticmethod
    def rates(machine, ticks, frequency=log_seeds.FREQUENCY, more=(),
              clock=0, shift=0, last=()):
        """A log of % Processor Time of two processors, always 60 and 10, and
        of Pages/sec, always 70. `more` are further paths, which come first;
        `shift` seconds are added to local time; `last` are events at the end.
        """
        samples = []
        for tick in ticks:
            time = w.LOCAL + (tick + shift) * w.SECOND
            utc = w.UTC + tick * w.SECOND
            samples += w.sample(
                *[w.counter(tick, 0, time=time) for _ in more],
                w.instances(("0", tick * 4000000, utc),
                            ("1", tick * 9000000, utc), time=time),
                w.counter(70 * tick, clock + frequency * tick, time=time),
                time=time)
        return w.log(*w.paths(
            *more,
            w.path(log_seeds.TIMER_INV, w.SECOND, machine, "Processor", "*",
                   "% Processor Time", flags=log_seeds.ALL),
            w.path(log_seeds.RATE, frequency, machine, "Memory", None,
                   "Pages/sec")), *samples, *last,
            start=w.UTC + ticks[0] * w.SECOND)

    def statuses(self, *logs, **options):
        """For each sample, the number of values with the status
        need_two_samples."""
        values = self.run_json("cook", *[
            self.file("%d.blg" % number, log)
            for number, log in enumerate(logs)], **options)
        return [sum(v["status"] == "need_two_samples" for v in values
                    if v["sample"] == n)
                for n in range(values[-1]["sample"] + 1)]

    def test_parts(self):
        """A log that is split at any sample has the values of the whole log.
        """
        data = self.rates("\\\\A", (1, 2, 4, 7, 8, 9))
        for cuts in ((1,), (3,), (5,), (2, 4), (1, 2, 3, 4, 5)):
            for options in ((), ("--every", "2"), ("--every", "4")):
                values = self.assert_continued(data, *cuts, options=options)
                self.assertEqual({v["value"] for v in values},
                                 {None, 70, 60, 10})

    def test_instances_and_objects(self):
        """In all of these logs but the first, the records of samples have the
        same time. The parts are joined nevertheless."""
        for name in ("valid_counters", "valid_moving_instances",
                     "valid_objects", "valid_objects_in_parts"):
            joined, *parts = [
                self.file("%d.blg" % number, part) for number, part in
                enumerate(split_log(log_seeds.log_seeds()[name], 1))]
            self.assertEqual(self.run_json("cook", *parts),
                             self.run_json("cook", joined))

    def test_logs_of_several_machines(self):
        """A log continues the latest log that has its paths, not one of
        another machine."""
        logs = [self.rates(machine, ticks) for machine, ticks in (
            ("\\\\A", (1, 3)), ("\\\\B", (2, 4)), ("\\\\A", (5, 7)),
            ("\\\\B", (6, 8)), ("\\\\C", (9, 10)), ("\\\\A", (11,)))]
        expected = [3, 3] + [0] * 6 + [3, 0, 0]
        self.assertEqual(self.statuses(*logs), expected)
        self.assertEqual(self.statuses(*logs[::-1]), expected)

    def test_paths_are_found_by_name_and_type(self):
        """Paths may have other positions in the next log. A path that is not
        in the first log has no rate in the first sample of the next."""
        other = w.path(log_seeds.RATE, log_seeds.FREQUENCY, "\\\\A", "Memory",
                       None, "Page Faults/sec")
        raw = w.path(log_seeds.RAW, 0, "\\\\A", "Memory", None, "Pages/sec")
        old = self.rates("\\\\A", (1, 2))
        for more, expected in (((other,), [3, 0, 1, 0]),
                               ((raw,), [3, 0, 0, 0]),
                               ((raw, other, raw), [3, 0, 1, 0])):
            new = self.rates("\\\\A", (3, 4), more=more)
            self.assertEqual(self.statuses(old, new), expected)
            self.assertEqual({v["value"] for v in self.run_json(
                "cook", "--counter", "Pages/sec", *[
                    self.file(name, log) for name, log in (
                        ("old.blg", old), ("new.blg", new))])
                              if v["type"] == "PERF_COUNTER_COUNTER"},
                             {None, 70})
        self.assertEqual(self.statuses(
            self.rates("\\\\A", (1, 2), more=(other,)),
            self.rates("\\\\A", (3, 4))), [4, 0, 0, 0])

    def test_a_list_of_paths_that_changes(self):
        """A log may contain several lists of paths, each for the samples after
        it. A counter has a rate if it is also in the previous sample, whatever
        its position in the lists."""
        def path(name):
            return w.path(log_seeds.RATE, log_seeds.FREQUENCY, "\\\\A",
                          "Memory", None, name)
        names = ["Pages/sec", "Page Faults/sec", "Reads/sec"]
        lists = [([0], 3), ([1, 0], 2), ([1, 0], 2), ([0, 2], 3), ([2, 0], 1),
                 ([], 1), ([0], 2)]
        events, expected, latest, tick = [], [], {}, 0
        for columns, count in lists:
            events += w.paths(*[path(names[n]) for n in columns])
            for _ in range(count):
                tick += 1
                time = w.LOCAL + tick * w.SECOND
                events += w.sample(*[
                    w.counter((n + 1) * tick * tick,
                              log_seeds.FREQUENCY * tick, time=time)
                    for n in columns], time=time)
                for n in columns:
                    # (n + 1) * (tick^2 - (tick - 1)^2) in a second
                    expected.append((names[n], tick, (n + 1) * (2 * tick - 1)
                                     if latest.get(n) == tick - 1 else None))
                latest = {n: tick for n in columns}
        path = self.file("a.blg", w.log(*events))
        for arguments in ([path], ["-"]):
            done = self.run_program("cook", "-f", "json", *arguments,
                                    stdin=bytes_of(path))
            self.assertEqual((done.status, done.err), (0, ""))
            self.assertEqual([(v["counter"], round(float(
                v["time"][17:-1]) - 17.844) % 60, v["value"])
                              for v in done.objects()], expected)

    def test_a_list_of_paths_at_the_end(self):
        """A log that ends after a list of paths, before a sample of this list,
        is continued from its last sample."""
        other = w.path(log_seeds.RATE, log_seeds.FREQUENCY, "\\\\A", "Memory",
                       None, "Page Faults/sec")
        self.assertEqual(self.statuses(
            self.rates("\\\\A", (1, 2), last=w.paths(other)),
            self.rates("\\\\A", (3, 4))), [3, 0, 0, 0])

    def test_logs_that_are_not_continued(self):
        """Logs of other machines, frequencies or starts are not compared; a
        note says why."""
        old = ("\\\\A", (1,))
        for name, new, reason in (
                ("another machine", self.rates("\\\\B", (2,)), "add later"),
                ("frequency", self.rates("\\\\A", (2,), frequency=10000000),
                 "the clocks have different frequencies"),
                ("restart", self.rates("\\\\A", (60,), clock=-log_seeds.
                                       FREQUENCY * 30),
                 "the clocks show a restart")):
            paths = [self.file("a.blg", self.rates(*old)),
                     self.file("b.blg", new)]
            for order in (paths, paths[::-1]):
                done = self.run_program("cook", "--format", "json", *order)
                self.assertEqual((done.status, {
                    v["status"] for v in done.objects()}),
                                 (0, {"need_two_samples"}), name)
                self.assertIn(reason, done.err, name)

    def test_daylight_saving_time(self):
        """If local time changes by an hour between two logs, the second one
        still continues the first: the clocks are compared."""
        hour = 3600
        for shifts in ((0, hour), (hour, 0)):
            self.assertEqual(self.statuses(*[
                self.rates("\\\\A", ticks, shift=shift)
                for ticks, shift in zip(((1, 2), (3, 4)), shifts)]),
                             [3, 0, 0, 0])

    def test_standard_input(self):
        """A log from standard input continues a file."""
        path = self.file("a.blg", self.rates("\\\\A", (1,)))
        done = self.run_program("cook", "--format", "json", "-", path,
                                stdin=self.rates("\\\\A", (5,)))
        self.assertEqual([v["value"] for v in done.objects()],
                         [None] * 3 + [60, 10, 70])

    @unittest.skipIf(ON_WINDOWS, "command lines are short")
    def test_many_machines(self):
        """The last samples of at most 4096 logs are stored: of two logs that
        continue earlier ones, only one has a rate."""
        machines = [*range(4097), 0, 4096]
        paths = [self.file("%d.blg" % tick, rate_log(
            "\\\\%d" % machine, (tick,)))
                 for tick, machine in enumerate(machines)]
        done = self.run_program("cook", "--format", "csv", *paths)
        self.assertEqual((done.status, done.out.count(",need_two_samples,"),
                          done.out.count(",ok,")), (0, 4098, 1))

    def test_logs_that_overlap_are_not_continued(self):
        """A log that begins before the other one ends does not continue it."""
        self.assertEqual(self.statuses(self.rates("\\\\A", (1, 3, 5)),
                                       self.rates("\\\\A", (2, 4, 6))),
                         [3, 3, 0, 0, 0, 0])


class Text(Case):
    """CSV and TSV files."""

    def test_values(self):
        """The values of a text log are displayed values, with machine, set and
        instance from its paths."""
        values = self.run_json("cook", seed("pdh_text", "valid_csv.csv"))
        self.assertEqual(list(values[0]), KEYS)
        self.assertEqual([v["value"] for v in values],
                         [None, 99.5, 4, 0.25, 4.6153846153846096, 4,
                          11980.986682813664, -0.0015, None])
        self.assertEqual([v["status"] for v in values],
                         ["no_data"] + ["ok"] * 7 + ["no_data"])
        self.assertEqual({(v["type"], v["raw"], v["machine"])
                          for v in values}, {(None, None, "\\\\PC")})
        self.assertEqual(
            [(v["set"], v["instance"], v["occurrence"], v["counter"])
             for v in values[:3]],
            [("Memory", None, 0, "Pages/sec"),
             ("Processor", "_Total", 0, "% Processor Time"),
             ("Process", "a", 1, "ID")])
        self.assertEqual(values[0]["time"], "2013-02-20T13:43:37.8440000Z")

    def test_headers(self):
        """A header without zone gives local times and a note; names may
        contain quotation marks."""
        done = self.run_program("cook", "--format", "json",
                                seed("pdh_text", "valid_typeperf.csv"))
        self.assertEqual((done.status, done.objects()[0]["time"]),
                         (0, "2013-02-20T05:43:37.8440000"))
        self.assertIn("note", done.err)
        values = self.run_json("cook", seed("pdh_text", "valid_quotes.csv"))
        self.assertEqual([v["counter"] for v in values[:3]],
                         ['a"b', 'c"d', "e,f"])

    def test_text(self):
        """Tables of a text log have its paths."""
        text = self.run_fine("cook", seed("pdh_text", "valid_csv.csv")).out
        self.assertRegex(text, r"\\\\PC\\Process\(a#1\)\\ID +4\.00\n")

    def test_cut(self):
        """A truncated row is an error at the end of the file."""
        path = seed("pdh_text", "broken_row_cut.csv")
        self.assert_error(self.run_program("cook", path), 1, path,
                          os.path.getsize(path), "truncated_line")

    def test_files_are_ordered_by_their_first_rows(self):
        """The header of one file is longer than what is read of it at once,
        and one file has no rows."""
        zones = ("(PDH-CSV 4.0) (A)(0)", "(PDH-CSV 4.0) (B)(60)",
                 "(PDH-CSV 4.0)", "(PDH-CSV 4.0) (C)(-60)")
        times = ("02/20/2013 05:00:00.000", "02/20/2013 04:30:00.000",
                 "02/20/2013 06:00:00.000", "02/20/2013 07:30:00.000")
        paths = []
        for number, (zone, time) in enumerate(zip(zones, times)):
            columns = 3000 if number == 1 else 1
            paths.append(self.file("%d.csv" % number, pdh_text_seeds.text(
                zone, ["\\\\PC\\Memory\\Pages %d/sec" % n
                       for n in range(columns)],
                [[str(number)] * columns], [time])))
        paths.append(self.file("4.csv", pdh_text_seeds.text(zones[0], ("a",),
                                                            ())))
        self.assertGreater(os.path.getsize(paths[1]), 1 << 16)
        for order in (paths, paths[::-1], paths[2:] + paths[:2]):
            for kind in ([], ["--kind", "log"]):
                values = self.run_json("cook", "--quiet", *kind, *order)
                found = [v["value"] for v in values
                         if v["counter"] == "Pages 0/sec"]
                self.assertEqual(found, [0, 1, 2, 3])

    def test_seeds(self):
        """Broken seeds have an error, valid ones none."""
        folder = os.path.join(CORPUS, "pdh_text", "seeds")
        for name in sorted(os.listdir(folder))[::STEP]:
            done = self.run_program("cook", "--quiet", "--kind", "log",
                                    os.path.join(folder, name))
            self.assertEqual(done.status, int(name.startswith("broken")),
                             (name, done.err))


class Countersets(Case):
    """countersets lists what a log contains."""

    def listed(self, path, *arguments):
        """Countersets, counters and instances of a log."""
        found = self.run_json("countersets", "--source", path, *arguments)
        return ([(i["name"], i["counters"]) for i in found
                 if i["record"] == "counterset"],
                [(i["set"], i["name"], i["type"]) for i in found
                 if i["record"] == "counter"],
                [(i["set"], i["name"]) for i in found
                 if i["record"] == "instance"])

    def test_binary(self):
        """The sets, types and instances of a binary log are listed."""
        path = seed("log", "valid_counters.blg")
        self.assertEqual(self.listed(path), (
            [("PhysicalDisk", 1), ("Memory", 1), ("Processor", 1)],
            [("PhysicalDisk", "Avg. Disk Bytes/Read", "PERF_AVERAGE_BULK"),
             ("Memory", "Pages/sec", "PERF_COUNTER_COUNTER"),
             ("Processor", "% Processor Time", "PERF_100NSEC_TIMER_INV")], []))
        self.assertEqual(self.listed(path, "proc*"), (
            [("Processor", 1)],
            [("Processor", "% Processor Time", "PERF_100NSEC_TIMER_INV")],
            [("Processor", "0"), ("Processor", "1"),
             ("Processor", "_Total")]))

    def test_text(self):
        """The sets and instances of a text log are listed, without types."""
        path = seed("pdh_text", "valid_csv.csv")
        self.assertEqual(self.listed(path, "Memory", "Process"), (
            [("Memory", 1), ("Process", 1)],
            [("Memory", "Pages/sec", None), ("Process", "ID", None)],
            [("Process", "a")]))

    def test_unknown_names(self):
        """An unknown name is refused, with a suggestion."""
        done = self.run_program("countersets", "--source", seed(
            "log", "valid_counters.blg"), "Procesor")
        self.assertEqual((done.status, done.out), (2, ""))
        self.assertIn("no counterset Procesor; did you mean Processor?",
                      done.err)


class Filters(Case):
    """--set, --counter, --instance and --path select values of logs."""

    BINARY = seed("log", "valid_counters.blg")
    TEXT = seed("pdh_text", "valid_csv.csv")
    UNKNOWN = "00000001-0378-476f-89ba-a5a79f810b36"
    # Filters, and whether they select a value.
    CASES = (
        (["--set", "processor"], lambda v: v["set"] == "Processor"),
        (["--set", "P*"], lambda v: v["set"].startswith("P")),
        (["--set", "P*", "--counter", "% *"],
         lambda v: v["set"][0] == "P" and v["counter"].startswith("% ")),
        (["--instance", "_Total"], lambda v: v["instance"] == "_Total"),
        (["--instance", "*"], lambda v: True),
        (["--counter", "Pages/sec"], lambda v: v["counter"] == "Pages/sec"),
        (["--path", "\\Memory\\*", "--path", "\\Processor(0)\\*"],
         lambda v: v["set"] == "Memory" or (v["set"], v["instance"]) == (
             "Processor", "0")))

    def test_filters(self):
        """cook with a filter prints the records that the filter selects, or
        status 2 if there are none."""
        for path in (self.BINARY, self.TEXT):
            for arguments, is_selected in self.CASES:
                expected = [v for v in self.run_json("cook", path)
                            if is_selected(v)]
                done = self.run_program("cook", "--format", "json",
                                        *arguments, path)
                self.assertEqual(done.objects(), expected, arguments)
                self.assertEqual(done.status, 0 if expected else 2)

    def test_logs_have_no_guids(self):
        """A GUID is looked up in the catalog; if it has no name there, it is
        refused."""
        for path in (self.BINARY, self.TEXT):
            for filters in (["--set", self.UNKNOWN],
                            ["--path", "\\" + self.UNKNOWN + "\\1"]):
                done = self.run_program("cook", path, *filters)
                self.assertEqual((done.status, done.out), (2, ""))
                self.assertTrue(done.err.startswith(
                    path + ": perfmon logs have no GUIDs: "), done.err)
            done = self.run_program("cook", path, "--set", PROCESSOR)
            self.assertEqual((done.status, done.out), (2, ""))
            # The catalog has a name for this GUID, so the message says that
            # the log has no such counterset.
            self.assertNotIn("GUID", done.err)
            made = os.path.join(self.folder, "x.pfb")
            done = self.run_program("convert", "-o", made, path)
            self.assertEqual((done.status, done.out), (2, ""))
            self.assertIn(path + ": has ", done.err)
            self.assertFalse(os.path.exists(made))


@needs_real_data
class Captured(SplitCase):
    """Logs of real machines."""

    def path(self, name):
        """The path of a captured log."""
        return real("blg", name)

    def test_every_value(self):
        """Each value of captured logs is the expected one, computed
        independently."""
        for name in ("win8-counters", "many-machines"):
            with open(self.path(name + ".expected.jsonl"),
                      encoding="utf-8") as file:
                expected = [json.loads(line) for line in file]
            values = self.run_json("cook", self.path(name + ".blg"))
            self.assertEqual(len(values), len(expected))
            for v, e in zip(values, expected):
                key = (v["sample"], v["machine"], v["set"], v["counter"],
                       v["instance"], v["occurrence"])
                self.assertEqual(key, tuple(e[k] for k in (
                    "sample", "machine", "object", "counter", "instance",
                    "occurrence")))
                self.assertEqual(v["value"], e["value"], key)
                if e["status"] in (0, 1):
                    self.assertEqual(v["raw"], e["first"], key)
                else:
                    self.assertEqual((v["status"], v["raw"]),
                                     ("no_machine", None), key)

    def test_parts(self):
        """Captured logs that are split have the values of the whole logs."""
        for name, cuts in (("win8-counters", (1, 100, 200)),
                           ("many-machines", (77, 78)),
                           ("vista-objects-cut", (1,)),
                           ("vista-objects-cut", (2,))):
            self.assert_continued(bytes_of(self.path(name + ".blg")), *cuts)

    def test_cut(self):
        """The samples before the truncation have values; the error has its
        offset."""
        path = self.path("vista-objects-cut.blg")
        done = self.run_program("cook", "--format", "json", path)
        self.assert_error(done, 1, path, 262144, "truncated_record")
        values = done.objects()
        self.assertEqual({v["sample"] for v in values}, {0, 1, 2})
        self.assertFalse([v for v in values if not v["set"]])

    def test_text(self):
        """A text log named .blg has its values and times in UTC."""
        values = self.run_json("cook", self.path("text-named-blg.blg"))
        self.assertEqual(values[13]["value"], 11980.986682813664)
        self.assertEqual(values[0]["time"], "2008-05-29T18:36:51.7940000Z")


if __name__ == "__main__":
    unittest.main()
