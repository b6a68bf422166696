# SPDX-License-Identifier: MIT
"""The captures in fixtures/: they are made from their texts, or by machine.py,
and have the values of the texts, commands read them without an error, and
fixtures/README.md describes them. The simulated machine is consistent.
perfblock-fixture, which makes captures."""

import collections
import csv
import functools
import glob
import os
import random
import re
import runpy
import shutil
import unittest

from program import (FIXTURE_WRITER, FIXTURES, ROOT, STEP, Case, bytes_of,
                     fixture_texts)
import comparison
import fixture_reader
import formula

# Rows of the table of statuses in fixtures/README.md, and of the counters in
# catalog.c.
ROW = re.compile(r"^\| `(\w+)` \| `(\w+)` \| (\d+) \|", re.M)
CATALOG_ROW = re.compile(r'^    \{([A-Z_]+), \w+, (\d+), \w+, \w+, "(.*)"\},$',
                         re.M)


@functools.lru_cache(maxsize=None)
def machine():
    """The names of machine.py."""
    return runpy.run_path(os.path.join(FIXTURES, "machine.py"))


def read(*names):
    """The text of a file of the project."""
    with open(os.path.join(ROOT, *names), encoding="utf-8") as file:
        return file.read()


class FixtureCase(Case):
    """A test of what cook prints of a recording."""

    def cooked(self, path):
        """The records of the values of a recording. Records of results that
        failed, whose status is a number, are left out."""
        return [item for item in self.run_json("cook", path)
                if isinstance(item["status"], str)]

    def assert_values(self, path, text):
        """The values of a recording are those of the text."""
        lines, errors = fixture_reader.cook_text(text)
        self.assertIsNone(comparison.list_problem(
            lines, self.cooked(path),
            lambda item: ("type",) if item.get("_unnamed") else ()), text)
        self.assertEqual(
            [status for _, _, status in errors],
            [item["status"] for item in self.run_json("cook", path)
             if not isinstance(item["status"], str)])


class Fixtures(FixtureCase):
    """Everything in fixtures/."""

    def setUp(self):
        super().setUp()
        self.paths = sorted(glob.glob(os.path.join(FIXTURES, "*.pfb")))
        self.assertGreaterEqual(len(self.paths), 12)

    @staticmethod
    def stem(path):
        """The name of a fixture without its extension."""
        return os.path.basename(path)[:-len(".pfb")]

    def test_fixtures_are_made_from_their_texts(self):
        """perfblock-fixture makes the same bytes from the texts."""
        texts = glob.glob(os.path.join(FIXTURES, "*.txt"))
        paths = [path[:-len("txt")] + "pfb" for path in texts]
        texts = [shutil.copy(path, self.folder) for path in texts]
        done = self.write_fixture(*texts)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        for path in paths:
            self.assertEqual(bytes_of(path), bytes_of(os.path.join(
                self.folder, os.path.basename(path))), path)

    def test_machine_makes_its_files(self):
        """machine.py makes the same bytes, and all files that have no text."""
        files = machine()["files"]()
        texts = {name[:-len("txt")] + "pfb" for name in os.listdir(FIXTURES)
                 if name.endswith(".txt")}
        self.assertEqual(sorted(files), sorted(
            name for name in os.listdir(FIXTURES)
            if name.endswith((".pfb", ".blg", ".csv", ".tsv"))
            and name not in texts))
        for name, data in files.items():
            self.assertTrue(bytes_of(os.path.join(FIXTURES, name)) == data,
                            name)

    def test_values_are_those_of_the_texts(self):
        """Raw and displayed values are those that tests/oracle computes from
        the texts."""
        texts = fixture_texts()
        self.assertEqual(sorted(texts), self.paths)
        for path, text in texts.items():
            self.assert_values(path, text)

    def test_commands_read_them(self):
        """show, check --strict, cook and countersets accept each fixture."""
        for path in self.paths:
            for command in (["show"], ["check", "--strict"], ["cook"]):
                self.assertEqual(self.run_program(*command, path).status, 0)
            self.run_fine("countersets", "--source", path)

    def test_statuses_are_those_in_the_readme(self):
        """The README's table has the number of values of each status other
        than ok."""
        documented = {(name, status): int(count) for name, status, count
                      in ROW.findall(read("fixtures", "README.md"))}
        found = collections.Counter(
            (self.stem(path), item["status"]) for path in self.paths
            for item in self.cooked(path) if item["status"] != "ok")
        self.assertEqual(found, documented)

    def test_readme_lists_them(self):
        """The README has a row for each fixture."""
        text = read("fixtures", "README.md")
        for path in self.paths:
            self.assertIn(f"\n| `{self.stem(path)}` | ", text)

    def test_every_counter_of_the_catalog_is_in_a_fixture(self):
        catalog = {(name.replace("_", " ").lower(), int(ident), counter)
                   for name, ident, counter in CATALOG_ROW.findall(
                       read("core", "src", "perflib", "catalog.c"))}
        self.assertGreaterEqual(len(catalog), 41)
        found = set()
        for path in self.paths:
            for item in self.cooked(path):
                found.add((str(item.get("set")).lower(), item.get("counter_id"),
                           item.get("counter")))
        self.assertEqual(catalog - found, set())


class Machine(FixtureCase):
    """The simulated machine: its forms agree with each other and with the table
    of displayed values, and its values with themselves."""

    def setUp(self):
        super().setUp()
        with open(os.path.join(FIXTURES, "machine.tsv"), encoding="utf-8",
                  newline="") as file:
            rows = list(csv.reader(file, delimiter="\t",
                                   quoting=csv.QUOTE_NONE))
        self.samples = len(rows[0]) - 1
        self.table = {row[0]: [float(cell) if cell else None
                               for cell in row[1:]] for row in rows[1:]}
        self.assertEqual(len(self.table), len(rows) - 1)

    def displayed(self, name, *options):
        """{path without the machine: [displayed value of each sample, None
        without one]} of a file; bases are left out."""
        found = collections.defaultdict(dict)
        for item in self.run_json("cook", os.path.join(FIXTURES, name),
                                  *options):
            if item["status"] == "not_displayed":
                continue
            path = re.sub(r"^\\\\\w+", "", item["path"])
            self.assertNotIn(item["sample"], found[path], path)
            found[path][item["sample"]] = item["value"]
        return {path: [values[number] for number in range(self.samples)]
                for path, values in found.items()
                if not path.rpartition("\\")[2].startswith("Object ")}

    def test_forms_display_the_table(self):
        """Each form displays the values of the table. Together the recordings
        have all of them."""
        seen = set()
        for name in ("machine.pfb", "machine_v1.pfb", "machine.blg",
                     "machine.csv"):
            found = self.displayed(name)
            self.assertGreaterEqual(len(found), 31)
            seen |= found.keys() if name.endswith(".pfb") else set()
            for path, values in found.items():
                self.assertEqual(values, self.table[path], (name, path))
        self.assertEqual(seen, set(self.table))

    def test_german_names(self):
        """The German log and recording have the values of the table under
        their names."""
        names = machine()["GERMAN"]
        table = {}
        for path, values in self.table.items():
            part, _, counter = path[1:].rpartition("\\")
            title, mark, instance = part.partition("(")
            if title in names and counter in names:
                table["\\%s%s%s\\%s" % (names[title], mark, instance,
                                        names[counter])] = values
        for name, samples, *options in (
                ("machine_german.csv", self.samples, "--code-page", "1252"),
                ("machine_german_v1.pfb", 4)):
            self.samples = samples
            found = self.displayed(name, *options)
            self.assertGreaterEqual(len(found), 19)
            for path, values in found.items():
                self.assertEqual(values, table[path][:samples], (name, path))

    def values(self, path):
        """The displayed values of a path after the first sample."""
        return self.found[path][1:]

    def sums(self, *paths):
        """The sums of displayed values of paths, for each sample but the first.
        """
        return [round(sum(values), 9)
                for values in zip(*map(self.values, paths))]

    def instances(self, name, counter):
        """The paths of the instances of a counter, without the total."""
        found = [path for path in self.found if re.fullmatch(
            r"\\%s\((?!(\d,)?_Total).*\)\\%s" % (
                re.escape(name), re.escape(counter)), path)]
        self.assertGreaterEqual(len(found), 1)
        return found

    def assert_sum(self, total, *paths):
        """The values of the paths add up to the total, a path or a number."""
        wanted = [total] * (self.samples - 1) if isinstance(total, int) else \
            self.sums(total)
        self.assertEqual(self.sums(*paths), wanted, paths)

    def assert_processors(self, name, instances):
        """Laws of a processor's times."""
        for instance in instances:
            def path(counter, instance=instance):
                return "\\%s(%s)\\%s" % (name, instance, counter)

            self.assert_sum(100, path("% Processor Time"), path("% Idle Time"))
            self.assert_sum(path("% Processor Time"), path("% User Time"),
                            path("% Privileged Time"))
            for privileged, *parts in zip(*map(self.values, map(path, (
                    "% Privileged Time", "% DPC Time", "% Interrupt Time")))):
                self.assertLessEqual(sum(parts), privileged)

    def assert_processes(self, name, processors, disk):
        """Laws of processes: their values add up to the total, and that to the
        times of the processors and the bytes of the disk."""
        for counter in ("% Processor Time", "% User Time", "% Privileged Time",
                        "Page Faults/sec", "Working Set", "Private Bytes",
                        "Thread Count", "Handle Count", "IO Read Bytes/sec",
                        "IO Write Bytes/sec", "Working Set - Private"):
            self.assert_sum("\\%s(_Total)\\%s" % (name, counter),
                            *self.instances(name, counter))
        self.assert_sum(200, "\\%s(_Total)\\%% Processor Time" % name)
        total = "\\%s(_Total)\\" % name
        self.assert_sum(total + "% User Time",
                        *[processors + "% User Time"] * 2)
        self.assert_sum("\\Memory\\Page Faults/sec", total + "Page Faults/sec")
        self.assert_sum("\\System\\Threads", total + "Thread Count")
        self.assertEqual(set(self.values("\\System\\Processes")),
                         {len(self.instances(name, "Thread Count"))})
        for kind, pages in (("Read", "Input"), ("Write", "Output")):
            self.assert_sum(
                disk + "Disk %s Bytes/sec" % kind,
                total + "IO %s Bytes/sec" % kind,
                *["\\Memory\\Pages %s/sec" % pages] * 4096)
        for path in self.instances(name, "Priority Base"):
            self.assertLessEqual(set(self.values(path)), {0, 6, 8}, path)
        for counter in ("Working Set", "Working Set - Private"):
            for path in self.instances(name, counter):
                for size in self.values(path):
                    self.assertEqual(size % 4096, 0, path)
        for working, private in zip(
                self.instances(name, "Working Set"),
                self.instances(name, "Working Set - Private")):
            for pair in zip(self.values(private), self.values(working)):
                self.assertLessEqual(*pair)
        for path in self.instances(name, "Elapsed Time"):
            values = self.values(path)
            self.assertEqual(values, sorted(values))

    def assert_disks(self):
        """Laws of the disk: its volumes add up to it, it is busy or idle, and
        free space and its share belong to one size."""
        for counter in ("Disk Reads/sec", "Disk Writes/sec",
                        "Disk Read Bytes/sec", "Disk Write Bytes/sec"):
            for name in ("PhysicalDisk", "LogicalDisk"):
                self.assert_sum("\\%s(_Total)\\%s" % (name, counter),
                                *self.instances("LogicalDisk", counter))
        for name in ("PhysicalDisk(_Total)", "PhysicalDisk(0 C: D:)",
                     "LogicalDisk(_Total)", "LogicalDisk(C:)",
                     "LogicalDisk(D:)"):
            self.assert_sum(100, "\\%s\\%% Disk Time" % name,
                            "\\%s\\%% Idle Time" % name)
        for name, size in (("C:", 102400), ("D:", 409600), ("_Total", 512000)):
            path = "\\LogicalDisk(%s)\\" % name
            for share, free in zip(self.values(path + "% Free Space"),
                                   self.values(path + "Free Megabytes")):
                self.assertAlmostEqual(share * size, 100 * free, places=5)

    def assert_memory(self):
        """Laws of memory: used, modified and available parts are all of it."""
        path = "\\Memory\\%s"
        private = [name for name in self.found if re.fullmatch(
            r"\\Process( V2)?\(_Total\)\\Working Set - Private", name)]
        self.assert_sum(8 << 30, path % "Available Bytes",
                        path % "Modified Page List Bytes",
                        path % "Cache Bytes", path % "Pool Nonpaged Bytes",
                        *private)
        self.assert_sum(path % "Available Bytes",
                        path % "Free & Zero Page List Bytes", *[
                            path % ("Standby Cache %s Bytes" % kind)
                            for kind in ("Reserve", "Normal Priority", "Core")])
        self.assert_sum(path % "Committed Bytes", path % "Pool Paged Bytes",
                        path % "Pool Nonpaged Bytes", *[
                            name.replace("Working Set - Private",
                                         "Private Bytes") for name in private])
        self.assert_sum(path % "Pages/sec", path % "Pages Input/sec",
                        path % "Pages Output/sec")
        for committed, limit, share in zip(
                *(self.values(path % name) for name in (
                    "Committed Bytes", "Commit Limit",
                    "% Committed Bytes In Use"))):
            self.assertLess(committed, limit)
            self.assertAlmostEqual(share, 100 * committed / limit, places=9)

    def assert_networks(self):
        """Laws of interfaces: no direction exceeds the bandwidth."""
        for path in self.instances("Network Interface", "Current Bandwidth"):
            name = path.rpartition("\\")[0] + "\\"
            self.assertIn(set(self.values(path)), ({10**8}, {10**9}))
            self.assert_sum(name + "Bytes Total/sec", name + "Bytes Sent/sec",
                            name + "Bytes Received/sec")
            for counter in ("Sent", "Received"):
                for size, packets, bandwidth in zip(
                        self.values(name + "Bytes %s/sec" % counter),
                        self.values(name + "Packets %s/sec" % counter),
                        self.values(path)):
                    self.assertLessEqual(8 * size, bandwidth)
                    self.assertTrue(60 * packets <= size <= 1514 * packets)

    def assert_counts_rise(self, name):
        """Raw values of counters that are compared with earlier ones rise."""
        for items in self.run_series(name):
            raws = [item["raw"] for item in items]
            if items[0]["type"] not in (
                    "PERF_COUNTER_RAWCOUNT", "PERF_COUNTER_LARGE_RAWCOUNT",
                    "PERF_ELAPSED_TIME", "PERF_RAW_FRACTION", "PERF_RAW_BASE"):
                self.assertEqual(raws, sorted(raws), items[0]["path"])

    def run_series(self, name):
        """The records of each counter of a file."""
        found = collections.defaultdict(list)
        for item in self.run_json("cook", os.path.join(FIXTURES, name)):
            found[item["path"], item["position"]].append(item)
        return found.values()

    def test_v2_is_consistent(self):
        self.found = self.displayed("machine.pfb")
        self.assert_processors("Processor Information",
                               ("0,0", "0,1", "0,_Total", "_Total"))
        for instance in ("0,0", "0,1", "_Total"):
            path = "\\Processor Information(%s)\\" % instance
            self.assert_sum(path + "% Idle Time",
                            *[path + "%% C%d Time" % n for n in (1, 2, 3)])
            self.assert_sum(path + "Idle Break Events/sec", *[
                path + "C%d Transitions/sec" % n for n in (1, 2, 3)])
            for utility, busy, speed in zip(
                    self.values(path + "% Processor Utility"),
                    self.values(path + "% Processor Time"),
                    self.values(path + "% of Maximum Frequency")):
                self.assertAlmostEqual(utility, busy * speed / 100, places=9)
        self.assert_processes(
            "Process V2", "\\Processor Information(_Total)\\",
            "\\PhysicalDisk(_Total)\\")
        self.assert_disks()
        self.assert_memory()
        self.assert_networks()
        self.assert_counts_rise("machine.pfb")
        for path in self.instances("GPU Engine", "Utilization Percentage"):
            self.assertLessEqual(max(self.values(path)), 100)

    def test_v1_is_consistent(self):
        self.found = self.displayed("machine_v1.pfb")
        self.assert_processors("Processor", ("0", "1", "_Total"))
        self.assert_processes("Process", "\\Processor(_Total)\\",
                              "\\PhysicalDisk(_Total)\\")
        self.assert_disks()
        self.assert_memory()
        self.assert_networks()
        self.assert_counts_rise("machine_v1.pfb")
        self.assert_sum("\\TCPv4\\Segments/sec",
                        "\\TCPv4\\Segments Sent/sec",
                        "\\TCPv4\\Segments Received/sec")
        self.assert_sum("\\TCPv4\\Segments Sent/sec", *self.instances(
            "Network Interface", "Packets Sent/sec"))

    def statuses(self, name, pattern):
        """{path: statuses of its samples} of the paths that match a pattern."""
        found = {items[0]["path"]: [item["status"] for item in items]
                 for items in self.run_series(name)
                 if isinstance(items[0]["status"], str)}
        return {path: statuses for path, statuses in found.items()
                if re.search(pattern, path)}

    def test_restart(self):
        """The process that has the id again is another one: its counts start
        at 0 and its elapsed time decreases."""
        for name in ("machine_restart.pfb", "machine_restart_v1.pfb"):
            self.samples = 5
            found = self.displayed(name)
            elapsed, = (values for path, values in found.items()
                        if re.search(r"\(agent.*Elapsed", path))
            self.assertEqual(elapsed[2:4], [elapsed[0] + 20, 5])
            ident, = (values for path, values in found.items()
                      if re.search(r"\(agent.*ID Process", path))
            self.assertEqual(set(ident), {2208})
            for path, statuses in self.statuses(
                    name, r"\(agent.*% (Processor|User) Time").items():
                self.assertEqual(statuses, [
                    "need_two_samples", "ok", "ok", "negative_delta", "ok"],
                                 path)

    def test_equal_names(self):
        """After the first of three processes named svchost ended, the others
        are still compared with themselves: each has the rate of its id."""
        items = [item for item in self.run_json("cook", os.path.join(
            FIXTURES, "machine_names_v1.pfb")) if item["instance"] == "svchost"]
        for number, idents in enumerate((
                (812, 860, 904), (812, 860, 904), (812, 860, 904), (860, 904),
                (860, 904))):
            rows = {counter: [item["value"] for item in items
                              if item["sample"] == number
                              and item["counter"] == counter]
                    for counter in ("ID Process", "IO Read Bytes/sec")}
            self.assertEqual(rows["ID Process"], list(idents))
            self.assertEqual(rows["IO Read Bytes/sec"], [
                819.2 * ident if number else None for ident in idents])

    def test_appears(self):
        """An instance that was not in the previous sample has no rate."""
        statuses = self.statuses("machine_appears.pfb",
                                 r"(tool:3004\)\\% User|USB.*Bytes Sent)")
        self.assertEqual(sorted(map(len, statuses.values())), [4, 5])
        items = [(item["sample"], item["instance_id"], item["status"])
                 for item in self.run_json("cook", os.path.join(
                     FIXTURES, "machine_appears.pfb"))
                 if item["instance"] == "USB Ethernet"
                 and item["counter"] == "Bytes Sent/sec"]
        self.assertEqual(items, [
            (2, 3, "need_two_samples"), (3, 3, "ok"),
            (6, 4, "need_two_samples"), (7, 4, "ok")])

    def test_wraps(self):
        """With the option wrap32, the values are those of a machine without
        the wrap; without it, there is none."""
        name = "machine_wraps.pfb"
        found = self.statuses(
            name, r"\(0,0\)\\(% Processor Utility|Interrupts/sec)$")
        self.assertEqual(len(found), 2)
        for path, statuses in found.items():
            self.assertIn(statuses[3], ("negative_delta",
                                        "negative_denominator"), path)
            self.assertEqual(statuses[4], "ok")
        self.samples = 5
        found = self.displayed(name, "--wrap32")
        for path, values in found.items():
            self.assertEqual(values, self.table[path][:5], path)

    def test_fails(self):
        """A result that fails is reported with its status; the others of the
        sample are there."""
        items = self.run_json("cook", os.path.join(FIXTURES,
                                                   "machine_fails.pfb"))
        errors = {(item["sample"], item["status"]) for item in items
                  if not isinstance(item["status"], str)}
        self.assertEqual(errors, {(3, 21), (4, 4201), (5, 4201)})
        sets = collections.Counter(
            (item["sample"], item["set"]) for item in items
            if isinstance(item["status"], str))
        for number in range(6):
            for name, is_there in (("Memory", True),
                                   ("Process V2", number != 3),
                                   ("Network Interface", number < 4)):
                self.assertEqual((number, name) in sets, is_there)

    def test_missing(self):
        """A counterset that the machine does not have is in no reply."""
        path = os.path.join(FIXTURES, "machine_missing.pfb")
        self.assertEqual({item["set"] for item in self.run_json("cook", path)},
                         {"Processor Information", "Memory"})
        self.assertEqual(self.run_program(
            "countersets", "--source", path, "Process V2").status, 2)


HEAD = "perfblock text 1\n"
DISK = re.search(r"```\n(perfblock text 1\n.*?)```",
                 read("fixtures", "README.md"), re.S)[1]
V1 = HEAD + """object 2 multiple none Thing
define 4 PERF_COUNTER_COUNTER 4 4 0 Rate
define 6 PERF_COUNTER_RAWCOUNT 4 8 -1 Count
sample 0
result Thing
row a#-1 1 2
"""


class Writer(FixtureCase):
    """The texts that perfblock-fixture reads, and what it writes."""

    def raws(self, text):
        """{(sample, counter id): raw value} of a text with one instance."""
        return {(item["sample"], item["counter_id"]): item["raw"]
                for item in self.cooked(self.text_recording("a.pfb", text))}

    def test_worked_numbers(self):
        """The displayed values of the example of the README are those computed
        by hand."""
        found = {(item["sample"], item["counter_id"]):
                 (item["status"], item["value"])
                 for item in self.cooked(self.text_recording("disk.pfb", DISK))}
        self.assertEqual(found[1, 1], ("ok", 2000000))  # 4 MB in 2 s
        self.assertEqual(found[1, 2], ("ok", 40000))    # 4 MB in 100 reads
        self.assertEqual(found[0, 1][0], "need_two_samples")

    def test_equivalent_spellings(self):
        """Line ends, comments, quotation and number formats do not change the
        recording."""
        plain = bytes_of(self.text_recording("a.pfb", DISK))
        for text in ("\ufeff" + DISK, DISK.replace("\n", "\r\n"),
                     DISK.rstrip("\n"),
                     DISK.replace(" +4000000", "\n\t+4000000"),
                     DISK.replace("+100", "\n# between\n\n   0x64"),
                     DISK.replace('row "sda#0"', "row sda#0"),
                     DISK.replace("sample 2", "sample 2.0000000"),
                     DISK.replace("PERF_AVERAGE_BASE", "0x40030402")):
            self.assertEqual(bytes_of(self.text_recording("b.pfb", text)), plain,
                             text)

    def test_names(self):
        """Names have any characters but NUL."""
        for name, word in (
                ("a b", '"a b#0"'), ('"', r'"\"#0"'), ("\\", r'"\\#0"'),
                ("C:\\x", r"C:\x#0"), ("", "#0"),
                ("\u00fc#\U0001F600", "\u00fc#\U0001F600#0")):
            for text, old in ((DISK, '"sda#0"'), (V1, "a#-1")):
                text = text.replace(old, word)
                path = self.text_recording("a.pfb", text)
                self.assertEqual({item["instance"] for item in
                                  self.cooked(path)}, {name}, text)
                self.assert_values(path, text)

    def test_relative_values_wrap(self):
        """A relative value wraps at the size of its counter."""
        raws = self.raws(DISK.replace("0 0 0",
                                      "0 18446744073709551615 4294967295"))
        self.assertEqual((raws[1, 2], raws[1, 3]), (3999999, 99))
        raws = self.raws(DISK.replace("+4000000 +4000000", "-1 ="))
        self.assertEqual((raws[1, 1], raws[1, 2]), (2**64 - 1, 0))

    def test_rows_of_one_name(self):
        """The n-th row of a name is relative to the n-th."""
        count = 3000
        rows = "".join(f'row "same#0" {n} 0 0\n' for n in range(count))
        text = DISK[:DISK.index("row")] + rows + \
            'sample 2\nresult "Example Disk"\n' + \
            'row "same#0" +1 0 0\n' * count
        items = self.cooked(self.text_recording("a.pfb", text))
        self.assertEqual([item["raw"] for item in items if item["sample"] == 1
                          and item["counter_id"] == 1],
                         [n + 1 for n in range(count)])

    def test_elapsed_time_of_v2(self):
        """A counter names the clock and the frequency of its elapsed time."""
        text = DISK.replace("PERF_COUNTER_BULK_COUNT 8 -",
                            "PERF_ELAPSED_TIME 8 2/3")
        for other in ("PERF_AVERAGE_BULK 8 3", "PERF_AVERAGE_BASE 4 -"):
            text = text.replace(other, "PERF_COUNTER_LARGE_RAWCOUNT 8 -")
        text = text.replace('row "sda#0" 0 0 0', 'row "sda#0" 400 1000 100')
        text = text.replace("+4000000 +4000000 +100", "= +3000 =")
        self.assertEqual([item["value"] for item in self.cooked(
            self.text_recording("a.pfb", text)) if item["counter_id"] == 1],
                         [6, 36])

    def test_language(self):
        """The names of V1 counters have the language of the text, or else
        English."""
        for text, language in ((V1, 9), (V1.replace(
                "object", "language 0x407\nobject", 1), 0x407)):
            data = bytes_of(self.text_recording("a.pfb", text))
            at = data.index(b"NAME")
            self.assertEqual(int.from_bytes(data[at + 16:at + 20], "little"),
                             language)

    def test_types(self):
        """All named types are known."""
        self.assertEqual(runpy.run_path(FIXTURE_WRITER)["TYPES"],
                         {kind.name: value
                          for value, kind in formula.TYPES.items()})

    def random_text(self, order, is_v1):
        """A text with counters of all types that have numbers."""
        kinds = [(kind.name, 4 if value & 0x300 == 0 else 8)
                 for value, kind in formula.TYPES.items()
                 if value & 0x300 in (0, 0x100) and value < 0x80000000]
        order.shuffle(kinds)
        instances = order.choice(("single", "multiple"))
        lines = ["perfblock text 1", "machine M"]
        if is_v1:
            lines += ["object 2 %s %s Thing" % (
                instances, order.choice(("object", "none")))]
            lines += ["define %d %s %d %d %d n%d" % (
                4 + 2 * n, name, width, 8 + 8 * n, order.randrange(-7, 7), n)
                      for n, (name, width) in enumerate(kinds)]
        else:
            lines += ["counterset %s %s Thing" % (
                "3f1c0c4e-5d1b-4a53-9c2e-0a1b2c3d4e5f", instances)]
            lines += ["counter %d %s %d %s n%d" % (
                n, name, width, order.choice((
                    "-", (n + 1) % len(kinds), order.randrange(len(kinds)),
                    "%d/%d" % (order.randrange(len(kinds)),
                               order.randrange(len(kinds))))),
                n) for n, (name, width) in enumerate(kinds)]
        known = set()
        for number in range(4):
            lines += ["sample %d.%d" % (number, order.randrange(10**7)),
                      "result Thing"]
            names = collections.Counter()
            for row in ("-",) if instances == "single" else order.sample(
                    ("a#1", "b#2", "b#3", "_Total#4"), 3):
                key = row[0], names[row[0]]
                names[row[0]] += 1
                words = [str(order.choice((0, 1, 2**31, 2**32 - 1,
                                           order.randrange(10**6))))
                         for _ in kinds]
                if key in known:
                    words = [order.choice(("=", "+1", "-3", "+" + word, word))
                             for word in words]
                known.add(key)
                lines += ["row %s %s" % (row, " ".join(words))]
        return "\n".join(lines) + "\n"

    def test_random_texts(self):
        """Counters of every type, with and without bases, have the values that
        tests/oracle computes from the text."""
        for seed in range(0, 40, STEP):
            text = self.random_text(random.Random(seed), seed % 2)
            self.assert_values(self.text_recording("a.pfb", text), text)

    def test_errors(self):
        """An error is reported with the file and the line, and nothing is
        written."""
        last = DISK.count("\n")
        guid = "3f1c0c4e-5d1b-4a53-9c2e-0a1b2c3d4e5f"
        v2 = HEAD + f"counterset {guid} multiple a\n"
        single = HEAD + f"counterset {guid} single a\nsample 0\n"
        texts, places = [], []
        for text, line in (
                ("", 1), ("perfblock text 2\n", 1), ("\n" + HEAD, 1),
                (HEAD + "\nnothing\n", 3), (HEAD + "perfblock text 1\n", 2),
                (HEAD + "note a b\n", 2), (HEAD + "note\n", 2),
                (HEAD + 'note "a\n', 2), (HEAD + 'note "a"b\n', 2),
                (HEAD + 'note "\\x"\n', 2), (HEAD + "note a\0b\n", 2),
                (HEAD + "\nnote \udcff\n", 3),
                (HEAD + "language\n", 2), (HEAD + "language x\n", 2),
                (HEAD + "language 4294967296\n", 2),
                (HEAD + "counterset x multiple a\n", 2),
                (HEAD + f"counterset {guid} some a\n", 2),
                (v2 + f"counterset {guid} multiple b\n", 3),
                (v2 + "object 1 single none b\n", 3),
                (HEAD + "counter 1 0 4 - a\n", 2),
                (v2 + "counter 1 0 5 - a\n", 3),
                (v2 + "counter x 0 4 - a\n", 3),
                (v2 + "counter 1 0 4 2/ a\n", 3),
                (v2 + "counter 1 0 4 2/3/4 a\n", 3),
                (v2 + "counter 1 0 4 x/3 a\n", 3),
                (v2 + "counter 1 PERF_NOTHING 4 - a\n", 3),
                (v2 + "counter 1 0 4 - a\ncounter 1 0 4 - b\n", 4),
                (v2 + "define 1 0 4 4 0 a\n", 3),
                (HEAD + "object 4294967296 single none a\n", 2),
                (HEAD + "object 1 single other a\n", 2),
                (HEAD + "object 1 aggregate none a\n", 2),
                (V1.replace(" 8 -1", " 3 -1"), 4),
                (V1.replace(" 8 -1", " 6 -1"), 4),
                (V1.replace(" 8 -1", " 65536 -1"), 4),
                (V1.replace(" 8 -1", " 8 2147483648"), 4),
                (V1.replace("define 6", "define 4"), 4),
                (V1.replace("Count", '""'), 4),
                (V1 + "error 5\n", 8), (V1 + "define 8 0 4 12 0 b\n", 8),
                (V1.replace("#-1", ""), 7), (V1.replace("a#-1", "-"), 7),
                (V1.replace("#-1", "#2147483648"), 7),
                (HEAD + "result a\n", 2), (V1 + "result Thing\n", 8),
                (V1 + "result Other\n", 8), (HEAD + "row a#1\n", 2),
                (V1 + "sample 1\nrow a#1 1 2\n", 9),
                (HEAD + "sample 1.00000001\n", 2),
                (HEAD + "sample -1\n", 2), (HEAD + "sample 1e3\n", 2),
                (v2 + "\nsample 0\nsample 1\n", 4),
                (single + "result a\n", 4),
                (single + "result a\nrow -\nrow -\n", 6),
                (single + "result a\nrow b#1\n", 5),
                (DISK + "error 5\n", last + 1),
                (DISK.replace("+100", "4294967296"), last),
                (DISK.replace("+100", "x"), last),
                (DISK.replace("+100", "1 2"), last),
                (DISK.replace("+100", ""), last),
                (DISK.replace("0 0 0", "= 0 0"), last - 4),
                (DISK.replace('"sda#0" +', '"sdb#0" +'), last)):
            texts.append(self.file("%02d.txt" % len(texts), text.encode(
                "utf-8", "surrogateescape")))
            places.append("%s:%d" % (texts[-1], line))
        done = self.write_fixture(*texts)
        self.assertEqual((done.returncode, done.stdout), (1, b""))
        self.assertEqual(re.findall("^(.*?:[0-9]+): .+$",
                                    done.stderr.decode(), re.M), places)
        self.assertEqual(len(done.stderr.splitlines()), len(texts))
        self.assertEqual(sorted(os.listdir(self.folder)),
                         list(map(os.path.basename, texts)))

    def test_truncated_texts(self):
        """A text that ends early is valid or has an error with a line."""
        for text in (DISK, V1):
            texts = [self.file("%d.txt" % size, text[:size].encode())
                     for size in range(len(HEAD), len(text))]
            done = self.write_fixture(*texts)
            lines = done.stderr.decode().splitlines()
            self.assertGreater(len(texts), len(lines))
            for line in lines:
                self.assertRegex(line, r"/[0-9]+\.txt:[0-9]+: .")

    def test_files(self):
        """The recording of a text is beside it; a failure replaces nothing."""
        text = self.file("a.txt", DISK.encode())
        old = self.file("a.pfb", b"old")
        broken = self.file("b.txt", b"x")
        self.file("b.pfb", b"old")
        done = self.write_fixture(broken, text)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(bytes_of(old),
                         self.write_fixture(text, "-o", "-").stdout)
        self.assertEqual(bytes_of(os.path.join(self.folder, "b.pfb")), b"old")
        for status, *arguments in (
                (3, os.path.join(self.folder, "none.txt")),
                (3, text, "-o", os.path.join(self.folder, "none", "a.pfb")),
                (2, text, "-o", text), (2, "-"), (2,),
                (2, text, broken, "-o", old)):
            done = self.write_fixture(*arguments)
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertNotEqual(done.stderr, b"")
        self.assertEqual(bytes_of(text), DISK.encode())
        self.assertEqual(sorted(os.listdir(self.folder)),
                         ["a.pfb", "a.txt", "b.pfb", "b.txt"])
        self.assertIn(b"perfblock text 1",
                      self.write_fixture("--help").stdout)


if __name__ == "__main__":
    unittest.main()
