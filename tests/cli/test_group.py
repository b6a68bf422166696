# SPDX-License-Identifier: MIT
"""--group and --group-by: the values of groups, computed again from those of
all instances, in every format."""

import csv
import io
import math
import random
import re
import unittest
from fractions import Fraction

import captures as c
import log_writer
import pages
import v1_blocks
from program import Case, seed, writer as w

RATE, TIMER, RAW, FRACTION, BASE = (c.BULK, c.TIMER, c.LARGE_RAW, 0x20020500,
                                    0x40030500)
ENGINES = [  # (name, counts of two samples in 100 ns, bytes)
    ("pid_10_luid_0x0_0xF8_phys_0_eng_0_engtype_3D", 0, 6000000, 5),
    ("pid_10_luid_0x0_0xF8_phys_0_eng_1_engtype_Copy", 0, 1000000, 7),
    ("pid_4_luid_0x0_0xF8_phys_0_eng_0_engtype_3D", 0, 500000, 2**53),
    ("pid_10_luid_0x0_0xAA_phys_1_eng_0_engtype_3D", 0, 7500000, 6),
    ("pid_4_luid_0x0_0xAA_phys_1_eng_0_engtype_3D", 9, 8, 2**53 + 1),
    ("_Total", 0, 15000000, 1)]
PATTERN = "pid_(*)_*engtype_3D"


def engines():
    """A recording of engines: a timer (0) and an amount (1)."""
    chunks = [c.metadata(c.DISK, "GPU Engine", [
        (0, TIMER, "% Utilization"), (1, RAW, "Bytes")]),
              w.chunk(b"QINF", w.identifier(c.DISK, name="*", index=0))]
    for number in range(2):
        chunks.append(c.data(number, c.instances_result([0, 1], [
            (i, name, (counts[number], counts[2]))
            for i, (name, *counts) in enumerate(ENGINES)])))
    return w.recording(*chunks)


def v1_block(number):
    """A V1 block with repeated names, parents and bases."""
    v, counter = v1_blocks.Writer(), v1_blocks.counter
    process = v.object(230, [
        counter(20, v1_blocks.LARGE_RAW, 8, 8),
        counter(22, v1_blocks.FRACTION, 16, 4),
        counter(22, v1_blocks.FRACTION_BASE, 20, 4)], *[
            v.instance(name, v.values((8, 8, 2**i), (16, 4, 3 * i),
                                      (20, 4, 7 + number)))
            for i, name in enumerate(("java", "chrome", "java", "_Total",
                                      "chrome", "java"))])
    thread = v.object(232, [counter(30, v1_blocks.COUNTER, 4, 4)], *[
        v.instance(str(i % 2), v.values((4, 4, (1 + i) * number)),
                   parent=(230, i)) for i in (0, 0, 1, 2, 2, 4)])
    return v.block(process, thread, moment=number + 1)


# The oracle -------------------------------------------------------------------

def group_name(pattern, record):
    """The name of the group of a record of cook; None: it is in none."""
    name = record["instance"]
    if name is None or (re.search("(^|,)_Total$", name) and
                        "_total" not in pattern.lower()):
        return None
    parts = re.split(r"(\(\*\)|\*|\?)", pattern)
    form = "".join({"(*)": "(.*?)", "*": ".*?", "?": "."}.get(
        part, re.sub("[A-Za-z]", lambda m: "[%s%s]" % (
            m[0].lower(), m[0].upper()), re.escape(part))) for part in parts)
    if record["parent"] is not None:
        name = record["parent"] + "/" + name
    for subject in (name, name + "#%d" % record["occurrence"]):
        match = re.fullmatch(form, subject, re.S)
        if match:
            shared = iter(match.groups())
            return "".join(next(shared) if part == "(*)" else part
                           for part in parts)
    return None


def aggregate(values, how):
    exact = [Fraction(value) for value in values]
    return float({"sum": sum, "max": max, "avg": lambda all: sum(all) / len(
        all)}[how](exact))


def grouped(records, pattern, how="sum"):
    """The records of cook with --group, from those without: (sample, set,
    instance, parent, occurrence, counter, status, value, flags, raw)."""
    rows, groups, result = {}, {}, []
    for at, record in enumerate(records):
        name = group_name(pattern, record)
        is_log = record["guid"] is None and record["object"] is None
        owner = (record["sample"], record["machine"], record["set"],
                 record["object"], record["guid"])
        row = owner + ((name,) if name is not None else (
            record["instance"], record["parent"], record["occurrence"],
            record["position"] if is_log else None, "single"))
        # In a log each path is a result of its own, elsewhere all counters.
        anchor = at if is_log else rows.setdefault(row, at)
        column = (record["counter"], record["counter_id"], record["type"],
                  None if is_log else record["position"])
        if name is None:
            result.append((anchor, at, record["instance"], [record]))
            continue
        members = groups.setdefault((row, column), [])
        if not members:
            result.append((anchor, at, name, members))
        members.append(record)
    for anchor, _, name, members in sorted(result, key=lambda g: g[:2]):
        first = members[0]
        row = group_name(pattern, first) is not None
        known = [m for m in members if m["status"] == "ok"]
        value = aggregate([m["value"] for m in known], how) if known else None
        is_sum = row and how == "sum" and len(known) > 1 and value > 100 and \
            "%" in (first["unit"] if first["type"] else first["counter"])
        flags = {flag for m in known for flag in m["flags"]} | (
            {"sum"} if is_sum else set()) | ({"partial"} if known and any(
                m["status"] not in ("ok", "no_instance")
                for m in members) else set())
        yield (first["sample"], first["set"], name,
               None if row else first["parent"],
               0 if row else first["occurrence"], first["counter"],
               "ok" if known else first["status"], value, flags,
               None if row else first["raw"])


def seen(record):
    """What grouped() yields, of a record with --group."""
    return tuple(record[key] for key in (
        "sample", "set", "instance", "parent", "occurrence", "counter",
        "status", "value")) + (set(record["flags"]), record["raw"])


class GroupCase(Case):
    """A test with the oracle."""

    def check(self, path, pattern, how="sum", options=()):
        """Compares the groups of an input with the oracle; returns them."""
        all_records = self.run_json("cook", "-q", path, *options)
        records = self.run_json("cook", "-q", path, *options, "--group",
                                pattern, "--group-by", how)
        wanted = list(grouped(all_records, pattern, how))
        self.assertEqual(len(records), len(wanted), pattern)
        for record, expected in zip(map(seen, records), wanted):
            self.assertEqual(record[:7] + record[8:],
                             expected[:7] + expected[8:], pattern)
            if expected[7] is None:
                self.assertIsNone(record[7])
            else:
                self.assertTrue(math.isclose(record[7], expected[7],
                                             rel_tol=1e-15), (record, expected))
        return records


# Tests ------------------------------------------------------------------------

class Groups(GroupCase):
    """Groups of every kind of input."""

    PATTERNS = (PATTERN, "pid_(*)_*", "*engtype_(*)", "pid_(*)_*eng_(*)_*",
                "(*)", "*", "PID_(*)_*ENGTYPE_3d", "pid_?_(*)", "pid_??_*",
                "nothing(*)", "(*)_Total", "*_total", "(*", "*)", "((*))",
                "(*)(*)")

    def test_v2(self):
        """Worked numbers first: process 10 has 60 % and 75 % of 3D."""
        path = self.file("a.pfb", engines())
        found = {(r["sample"], r["instance"], r["counter_id"]): r
                 for r in self.check(path, PATTERN)}
        name = "pid_10_*engtype_3D"
        self.assertEqual(
            [(found[1, name, i]["value"], found[1, name, i]["flags"])
             for i in range(2)], [(135, ["sum"]), (11, [])])
        self.assertEqual(found[1, "pid_4_*engtype_3D", 0]["value"], 5)
        self.assertEqual(found[0, name, 0]["status"], "need_two_samples")
        self.assertIn((1, ENGINES[1][0], 0), found)
        for how, value in (("max", 75), ("avg", 67.5)):
            records = self.check(path, PATTERN, how)
            self.assertEqual([r["value"] for r in records if
                              r["instance"] == name and r["sample"] == 1 and
                              r["counter_id"] == 0], [value])
            self.assertNotIn("sum", {f for r in records for f in r["flags"]})
        for pattern in self.PATTERNS:
            for how in ("sum", "max", "avg"):
                self.check(path, pattern, how)

    def test_random_patterns(self):
        """Of names of few letters, so that much matches in several ways."""
        pick = random.Random(5)
        names = sorted({"".join(pick.choices("ab_", k=pick.randint(1, 7)))
                        for _ in range(60)})
        path = self.file("a.pfb", w.recording(
            c.metadata(c.DISK, "Set", [(1, RAW, "n")]),
            w.chunk(b"QINF", w.identifier(c.DISK, name="*", index=0)),
            c.data(0, c.instances_result([1], [
                (i, name, (2**i % 1000003,))
                for i, name in enumerate(names)]))))
        for _ in range(60):
            self.check(path, "".join(pick.choices(
                ["a", "b", "_", "*", "?", "(*)"], k=pick.randint(1, 6))))

    def test_members_that_change(self):
        """Instances come and go, and one has no earlier value."""
        samples = ({"a:1": 10, "a:2": 5, "b:1": 1}, {"a:1": 30, "b:1": 2},
                   {"a:1": 50, "a:3": 0, "b:2": 0}, {"a:3": 8, "b:2": 1},
                   {}, {"a:3": 9})
        ids = {}
        chunks = [c.metadata(c.DISK, "Set", [(1, RATE, "n/sec")]),
                  w.chunk(b"QINF", w.identifier(c.DISK, name="*", index=0))]
        for number, rows in enumerate(samples):
            chunks.append(c.data(number, c.instances_result([1], [
                (ids.setdefault(name, len(ids)), name, (value,))
                for name, value in rows.items()])))
        path = self.file("a.pfb", w.recording(*chunks))
        records = self.check(path, "(*):*")
        self.assertEqual(
            [(r["sample"], r["instance"], r["value"]) for r in records],
            [(0, "a:*", None), (0, "b:*", None), (1, "a:*", 20),
             (1, "b:*", 1), (2, "a:*", 20), (2, "b:*", None), (3, "a:*", 8),
             (3, "b:*", 1), (5, "a:*", None)])

    def test_v1(self):
        """Instances with equal names and with parents; bases stay apart."""
        path = self.file("a.bin", b"".join(v1_block(i) for i in range(2)))
        for pattern in ("(*)", "(*)#*", "*#(*)", "ja(*)#*", "java/(*)",
                        "(*)/*", "*/(*)"):
            for how in ("sum", "avg"):
                self.check(path, pattern, how)

    def test_logs(self):
        """Instances of one path, paths of single instances, of two machines;
        an item without a value."""
        paths = [log_writer.path(0x00010100, 10**7, machine, "Set", None, "n",
                                 flags=1) for machine in ("\\\\A", "\\\\B")] + [
            log_writer.path(0x00010100, 10**7, "\\\\A", "Set", name, counter)
            for name in ("a1", "a2", "b1") for counter in ("n", "% x")]
        rows = [("a1", 1, 0), ("a2", 2, 0), ("a2", 4, 0), ("b1", 8, 0),
                ("a3", 9, 0, 0xC0000BBA)]
        path = self.file("a.blg", log_writer.log(
            *log_writer.paths(*paths), *[
                event for second in range(2) for event in log_writer.sample(
                    log_writer.instances(*rows), log_writer.instances(*rows[:2]),
                    *[log_writer.counter(60 + i, 0, 0x800007D1 if i == 4 else 0)
                      for i in range(6)])]))
        for pattern in ("(*)?", "a*", "?(*)", "b(*)", "a?#(*)", "(*)"):
            for how in ("sum", "max", "avg"):
                self.check(path, pattern, how)

    def test_text_logs(self):
        """Displayed values; a percentage is known by its name."""
        head = ["PDH-CSV 4.0"] + [
            "\\\\PC\\Process(%s)\\%s" % (name, counter)
            for name in ("chrome", "chrome#1", "java", "_Total")
            for counter in ("% Processor Time", "Working Set")]
        rows = [["01/02/2024 03:04:0%d.000" % i] + cells for i, cells in
                enumerate((["60", "1.5", "70", "-2", "1", "3", "131", "9"],
                           ["5", " ", "6", " ", " ", " ", "11", "0"]))]
        path = self.file("a.csv", "".join(
            ",".join('"%s"' % cell for cell in row) + "\r\n"
            for row in [["(%s)" % head[0]] + head[1:]] + rows).encode())
        records = self.check(path, "(*)")
        self.assertEqual([(r["instance"], r["value"], r["flags"])
                          for r in records[:2]],
                         [("chrome", 130, ["sum"]), ("chrome", -.5, [])])
        self.check(path, "*")
        self.check(path, "*_Total")

    def test_seeds(self):
        """Inputs of many shapes agree with the oracle."""
        for subject, name in (("log", "valid_counters.blg"),
                              ("log", "valid_moving_instances.blg"),
                              ("log", "valid_statuses.blg"),
                              ("pdh_text", "valid_csv.csv")):
            for pattern in ("(*)", "*", "*(*)", "?(*)"):
                self.check(seed(subject, name), pattern)

    def test_integers_and_overflow(self):
        """Sums of integers are exact; a sum past the range of double has no
        value."""
        path = self.file("a.csv", b'"(PDH-CSV 4.0)","\\\\M\\S(a)\\n",'
                         b'"\\\\M\\S(b)\\n"\r\n"01/02/2024 03:04:05.000",'
                         b'"1.7e308","1.7e308"\r\n')
        for how, status, value in (("sum", "no_data", None),
                                   ("avg", "no_data", None),
                                   ("max", "ok", 1.7e308)):
            record, = self.run_json("cook", "-q", path, "--group", "*",
                                    "--group-by", how)
            self.assertEqual((record["status"], record["value"]),
                             (status, value))
        path = self.file("b.csv", b'"(PDH-CSV 4.0)","\\\\M\\S(a)\\n",'
                         b'"\\\\M\\S(b)\\n"\r\n"01/02/2024 03:04:05.000",'
                         b'"4503599627370497","4503599627370496"\r\n')
        record, = self.run_json("cook", "-q", path, "--group", "*")
        self.assertEqual(record["value"], 9007199254740993.0)


class Sinks(GroupCase):
    """Every format has the same groups."""

    def setUp(self):
        super().setUp()
        self.path = self.file("a.pfb", engines())
        self.options = ("--group", PATTERN, "--instance", "pid_*3D")
        self.name = "pid_10_*engtype_3D"

    def test_text(self):
        """A sum above 100 % is marked; the legend says what the mark is."""
        out = self.run_fine("cook", self.path, *self.options).out
        self.assertRegex(out, r"(?m)^pid_10_\*engtype_3D +135\.00\+ +11 B?")
        self.assertRegex(out, r"(?m)^  \+ sum above 100")
        self.assertEqual(out.count("pid_10"), 2)

    def test_csv(self):
        rows = list(csv.DictReader(io.StringIO(self.run_fine(
            "cook", "-f", "csv", self.path, *self.options).out)))
        self.assertEqual([(r["value"], r["flags"], r["path"]) for r in rows
                          if r["instance"] == self.name and r["sample"] == "1"],
                         [("135", "sum", r"\GPU Engine(pid_10_*engtype_3D)"
                           r"\% Utilization"),
                          ("11", "", r"\GPU Engine(pid_10_*engtype_3D)\Bytes")])

    def test_paths_select_the_members(self):
        """The path of a group, without --group, chooses what it adds."""
        record = [r for r in self.run_json("cook", self.path, *self.options)
                  if r["instance"] == self.name][0]
        members = self.run_json("cook", self.path, "--path", record["path"])
        self.assertEqual({r["instance"] for r in members},
                         {ENGINES[0][0], ENGINES[3][0]})

    def test_pdh(self):
        rows = list(csv.reader(io.StringIO(self.run_fine(
            "cook", "-q", "-f", "pdh-csv", self.path, *self.options).out)))
        self.assertEqual(len(rows[0]), 5)
        at = [i for i, name in enumerate(rows[0])
              if self.name in name and "Util" in name]
        self.assertEqual([row[i] for row in rows[1:] for i in at],
                         [" ", "135"])

    def test_prometheus(self):
        """Groups have no raw values, so metrics are gauges of the displayed
        ones."""
        out = self.run_fine("cook", "-q", "-f", "prometheus", self.path,
                            *self.options).out
        self.assertRegex(out, r'(?m)^perfblock_gpu_engine_utilization_ratio\{'
                         r'instance="pid_10_\*engtype_3D"\} 1.35 ')
        self.assertRegex(out, r'(?m)^perfblock_gpu_engine_bytes\{instance='
                         r'"pid_10_\*engtype_3D"\} 11 ')
        self.assertNotIn("_total", out)

    def test_summary(self):
        found = {(r["instance"], r["counter"]): r for r in self.run_json(
            "cook", "--summary", self.path, *self.options)}
        line = found[self.name, "% Utilization"]
        self.assertEqual((line["maximum"], line["flags"]), (135, ["sum"]))
        self.assertEqual(found[self.name, "Bytes"]["flags"], [])

    def test_report(self):
        page = pages.Report(self.run_fine("report", "-q", self.path,
                                          *self.options).out)
        line = page.lines["", "GPU Engine", "% Utilization", self.name]
        self.assertEqual(line.points, ["need_two_samples", 135])
        self.assertEqual(len(page.lines), 4)

    def test_live(self):
        """Instances that appear change the groups of a machine."""
        found = self.live(self.path, "--set", "GPU Engine", *self.options)
        self.assertEqual([r["value"] for r in found
                          if r["instance"] == self.name], [135, 11])

    def test_notes(self):
        """Formats without flags count the sums; a page contains the note."""
        words = "1 percentages above 100 are sums of groups"
        for options, wanted in (
                (("-f", "pdh-csv"), 1), (("-f", "pdh-tsv"), 1),
                (("-f", "prometheus"), 1), (("--summary",), 1), ((), 0),
                (("-f", "json"), 0), (("-f", "csv"), 0),
                (("-f", "json", "--summary"), 0)):
            done = self.run_program("cook", self.path, *self.options,
                                    *options)
            self.assertEqual(done.err.count(words), wanted, options)
        done = self.run_program("report", self.path, *self.options)
        self.assertIn(words, done.err)
        self.assertIn(words, done.out)

    def test_members_without_a_value(self):
        """A process has just started: the others' sum is marked."""
        v, counter = v1_blocks.LITTLE, v1_blocks.counter
        path = self.file("a.bin", b"".join(v.block(v.object(
            230, [counter(6, v1_blocks.TIMER, 8, 8)], *[
                v.instance("java", v.values((8, 8, 9 * i * 10**6)))] * (i + 1)),
            moment=i) for i in range(1, 3)))
        group = "--group", "(*)"
        for how, value in (("sum", 180), ("max", 90), ("avg", 90)):
            record = self.run_json("cook", path, *group, "--group-by", how)[-1]
            self.assertEqual((record["value"], record["flags"]), (
                value, ["sum", "partial"][how != "sum":]))
        words = "1 values of groups lack members that have no value"
        for options, wanted in ((("-f", "pdh-csv"), 1), (("--summary",), 1),
                                ((), 0), (("-f", "csv"), 0)):
            done = self.run_program("cook", path, *group, *options)
            self.assertEqual(done.err.count(words), wanted, options)
        self.assertRegex(self.run_fine("cook", path, *group).out,
                         r"180\.00\+&\n  \+ sum above 100.*\n?.*& without m")
        self.assertIn(words, self.run_program("report", path, *group).out)

    def test_no_instance_matches(self):
        """A note says so: nothing was grouped."""
        words = "note: no instance matches the pattern of --group"
        for command, options in (
                ("cook", ()), ("cook", ("-f", "json")), ("report", ()),
                ("cook", ("-f", "pdh-csv")), ("cook", ("--summary",))):
            for pattern, wanted in (("pid_(*)_x", 1), (PATTERN, 0)):
                done = self.run_program(command, self.path, *options,
                                        "--group", pattern)
                self.assertEqual(done.err.count(words), wanted, options)

    def test_usage(self):
        """Wrong uses are refused."""
        for arguments, message in (
                (("cook", "x", "--group-by", "sum"), "needs --group"),
                (("cook", "x", "--group", ""), "--group"),
                (("cook", "x", "--group", "a" * 257), "--group"),
                (("cook", "x", "--group", "a", "--group-by", "min"),
                 "--group-by"),
                (("convert", "x", "-o", "y.pfb", "--group", "a"),
                 "does not apply")):
            done = self.run_program(*arguments)
            self.assertEqual(done.status, 2, arguments)
            self.assertIn(message, done.err)
        self.assertEqual(len(self.run_json("cook", "-q", self.path, "--group",
                                           "a" * 256)), 24)


if __name__ == "__main__":
    unittest.main()
