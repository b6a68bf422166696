#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs that call PDH and the registry as published consumers do, over
recordings, perfmon logs and this machine.

test_consumers.py FOLDER [TEST...]: the folder has the programs.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/oracle"))

import log_writer as w  # noqa: E402

FOLDER = pathlib.Path(sys.argv.pop(1))
RATE = 0x10410400

# What the processes of machine_names_v1 read: 327,680 bytes in 10 s, and each
# svchost 8192 bytes times its id.
READS = [("Idle", 0), ("System", 32768), ("svchost", 665190.4),
         ("svchost", 704512), ("svchost", 740556.8), ("database", 0),
         ("agent", 0), ("_Total", 2143027.2)]
NUMBERED = ["Idle", "System", "svchost", "svchost#1", "svchost#2", "database",
            "agent", "_Total"]
# What they ask this machine for.
QUEUE = r"\System\Processor Queue Length"
FREE = r"\LogicalDisk(*)\% Free Space"
PAGED = r"\Paging File(*)\% Usage"
SWAPPED = r"\Paging File(_Total)\% Usage"
BUSY = r"\Processor(*)\% Processor Time"
READ = r"\Process(*)\IO Read Bytes/sec"
TIME = r"\Process(*)\% Processor Time"
# Rates of the log: 70 and 140 events in a second.
THINGS = [("a", 70), ("b", 140)]


def has_swap():
    if not os.path.exists("/proc/swaps"):
        return False
    with open("/proc/swaps", encoding="utf-8") as file:
        return len(file.read().splitlines()) > 1


def displayed(counter, sample):
    """The values of a counter of each process in machine_v1, as machine.tsv
    has them."""
    found = []
    with open(ROOT / "fixtures/machine.tsv", encoding="utf-8") as table:
        for line in table:
            path, *values = line.rstrip("\n").split("\t")
            match = re.fullmatch(r"\\Process\((.*)\)\\" + re.escape(counter), path)
            if match:
                found.append((match[1], float(values[sample])))
    return found


def log(first=0):
    """A .blg of three samples, the first of which is so many seconds late."""
    events = w.paths(*[w.path(RATE, w.SECOND, r"\\PC", "Thing", name, "Events/sec")
                       for name, _ in THINGS])
    for second in range(first, first + 3):
        events += w.sample(*[w.counter(1000 + rate * second, second * w.SECOND,
                                       time=w.LOCAL + second * w.SECOND)
                             for _, rate in THINGS],
                           time=w.LOCAL + second * w.SECOND)
    return w.log(*events)


class Programs(unittest.TestCase):
    """Runs them."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.log = pathlib.Path(folder.name, "things.blg")
        self.log.write_bytes(log())

    def run_program(self, name, *arguments, source=None):
        """The values that it prints, as pairs."""
        environment = {**os.environ}
        environment.pop("PERFBLOCK_CAPTURE", None)
        if source:
            environment["PERFBLOCK_CAPTURE"] = str(source)
        done = subprocess.run([FOLDER / f"consumer_{name}", *arguments],
                              env=environment, capture_output=True, text=True,
                              timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        rows = [line.split("\t") for line in done.stdout.splitlines()]
        return [(row[0], float(row[1])) for row in rows]

    def of_fixture(self, name, *arguments, fixture="machine_names_v1"):
        return self.run_program(name, *arguments,
                                source=ROOT / f"fixtures/{fixture}.pfb")

    def of_log(self, name, *arguments):
        return self.run_program(name, *arguments, source=self.log)

    def values(self, rows):
        return [value for _, value in rows]


class Consumers(Programs):
    """Consumers of PDH: each test is one."""

    def test_gopsutil(self):
        self.assertEqual(self.values(self.of_fixture(
            "gopsutil", r"\System\Context Switches/sec",
            fixture="machine_v1")), [0, 1200])
        self.assertEqual(self.values(self.of_log(
            "gopsutil", r"\Thing(b)\Events/sec")), [0, 140])
        values = self.values(self.run_program(
            "gopsutil", r"\Memory\Available Bytes"))
        self.assertTrue(all(value > 0 for value in values))
        values = self.values(self.run_program("gopsutil", QUEUE))
        self.assertTrue(all(value >= 0 for value in values))

    def test_psutil(self):
        rows = self.of_fixture("psutil", r"\System\Threads",
                               fixture="machine_v1")
        self.assertEqual(rows[0], ("load", 140))
        rows = self.run_program("psutil", r"\System\System Up Time")
        self.assertGreater(rows[0][1], 0)
        self.assertGreaterEqual(self.run_program("psutil", QUEUE)[0][1], 0)
        if os.path.exists("/proc/swaps"):  # with or without swap
            (_, value), = self.run_program("psutil", SWAPPED, "now")
            self.assertTrue(0 <= value <= 100, value)

    def test_browse(self):
        self.addCleanup(os.environ.update if "TZ" in os.environ else os.environ.pop,
                        *([{"TZ": os.environ["TZ"]}] if "TZ" in os.environ else ["TZ", None]))
        for zone in ("UTC0", "<+0530>-5:30", "PST8PDT"):
            os.environ["TZ"] = zone  # the third sample is that of 2025-01-01 00:00:20, a Wednesday
            self.assertEqual(self.values(self.of_fixture(
                "browse", r"\System\Context Switches/sec", fixture="machine_v1")),
                [1200, 2025, 1, 1, 3, 0, 0, 20, 0], zone)

    def test_windows_exporter(self):
        rows = self.of_fixture("windows_exporter", TIME,
                               r"\Process(*)\Elapsed Time", fixture="machine_v1")
        # Ticks of the first hour; System uses 250,000 in half a second.
        self.assertEqual(rows[:2], [("Idle", 65700000000), ("System", 1800000000)])
        self.assertEqual(rows[5:], displayed("Elapsed Time", 0))
        self.assertEqual(self.of_log(
            "windows_exporter", r"\Thing(*)\Events/sec",
            r"\Thing(*)\Events/sec")[:1], [("a", 1000)])
        self.assertTrue(self.run_program(
            "windows_exporter", r"\Process(*)\ID Process",
            r"\Process(*)\Thread Count"))
        rows = self.run_program("windows_exporter", FREE,
                                r"\LogicalDisk(*)\Free Megabytes")
        half = len(rows) // 2  # both are in MiB
        self.assertEqual([name for name, _ in rows[:half]],
                         [name for name, _ in rows[half:]])
        self.assertIn("/", dict(rows))
        if has_swap():
            rows = self.run_program("windows_exporter", *2 * [PAGED])
            self.assertEqual(rows[-1][0], "_Total")

    def test_telegraf(self):
        self.assertEqual(self.of_fixture("telegraf", READ), READS)
        self.assertEqual(self.of_fixture("telegraf", TIME, fixture="machine_v1"),
                         displayed("% Processor Time", 1))
        self.assertEqual(self.of_log("telegraf", r"\Thing(a)\Events/sec"),
                         THINGS[:1])
        self.assertTrue(self.run_program("telegraf", r"\Process(*)\ID Process"))
        self.assertEqual([name for name, _ in self.run_program(
            "telegraf", BUSY)][-1], "_Total")
        self.assertEqual([name for name, _ in self.run_program(
            "telegraf", r"\Processor(_Total)\% Processor Time")], ["_Total"])
        self.assertTrue(all(0 <= value <= 100 for _, value in
                            self.run_program("telegraf", FREE)))
        self.assertEqual([name for name, _ in self.run_program(
            "telegraf", QUEUE)], [""])

    def test_fluent_bit(self):
        self.assertEqual(self.of_fixture("fluent_bit", READ), [
            (rf"\\FIXTURE\Process({name})\IO Read Bytes/sec", value)
            for name, (_, value) in zip(NUMBERED, READS)])
        # Percentages are at most 100: it does not ask for more.
        self.assertEqual(self.of_fixture("fluent_bit", TIME, fixture="machine_v1"), [
            (rf"\\FIXTURE\Process({name})\% Processor Time", min(value, 100))
            for name, value in displayed("% Processor Time", 1)])
        self.assertTrue(self.run_program(
            "fluent_bit", r"\Processor Information(*)\% Processor Time"))
        self.assertTrue(self.run_program("fluent_bit", FREE))

    def test_datadog(self):
        self.assertEqual(
            self.of_fixture("datadog", "Process", "IO Read Bytes/sec"),
            [(name, value) for name, (_, value) in zip(NUMBERED, READS)])
        self.assertEqual(self.of_log("datadog", "Thing", "Events/sec"), THINGS)
        rows = self.run_program("datadog", "Memory", "Available Bytes")
        self.assertEqual([name for name, _ in rows], [""])
        self.assertIn("/", dict(self.run_program(
            "datadog", "LogicalDisk", "Free Megabytes")))

    def test_openjdk(self):
        self.assertEqual(self.of_fixture("openjdk", "svchost", "Thread Count"), [
            ("svchost#0", 14), ("svchost#1", 9), ("svchost#2", 20)])

    def test_beats(self):
        self.assertEqual(self.of_fixture("beats", READ, "double"), [
            (rf"\\FIXTURE\Process({name})\IO Read Bytes/sec", value)
            for name, (_, value) in zip(NUMBERED, READS)])
        # Other formats cut off the fraction, and 100 is no limit.
        self.assertEqual(self.values(self.of_fixture("beats", READ, "large")),
                         [int(value) for value in self.values(READS)])
        self.assertEqual(
            self.values(self.of_fixture("beats", TIME, "long", fixture="machine_v1")),
            [int(value) for _, value in displayed("% Processor Time", 1)])
        self.assertEqual(self.values(self.of_log(
            "beats", r"\Thing(*)\Events/sec", "double")), self.values(THINGS))
        self.assertTrue(self.run_program("beats", r"\Memory\*", "large"))

    def test_nscp(self):
        self.assertEqual(self.of_fixture("nscp", r"\230(svchost*)\IO Read Bytes/sec"), [
            (rf"\\FIXTURE\Process({name})\IO Read Bytes/sec", value)
            for name, (_, value) in zip(NUMBERED, READS) if "svchost" in name])
        # \238 is Processor, \6 % Processor Time: 16.25 and 3.125 of two.
        self.assertEqual(self.of_fixture("nscp", r"\238(_total)\6", fixture="machine_v1"),
                         [(r"\\FIXTURE\Processor(_Total)\% Processor Time",
                           (1 - 18062500.0 / 20000000.0) * 100)])
        self.assertEqual(self.values(self.of_log(
            "nscp", r"\Thing(b)\Events/sec")), [140])
        self.assertTrue(self.run_program("nscp", r"\Memory\Available Bytes"))

    def test_oshi(self):
        self.assertEqual(self.of_fixture("oshi", "230", "Thread Count",
                                         fixture="machine_v1"),
                         displayed("Thread Count", 0))
        # Instances of one name are listed once.
        rows = self.of_fixture("oshi", "Process", "Thread Count")
        self.assertEqual([name for name, _ in rows], [
            name for name in NUMBERED if "#" not in name])
        self.assertIn(("svchost", 14), rows)
        # MiB of the volumes, which the sizes of % Free Space are.
        self.assertEqual(self.of_fixture(
            "oshi", "LogicalDisk", "% Free Space_Base", fixture="machine_v1"),
            [("C:", 102400), ("D:", 409600), ("_Total", 512000)])
        self.assertEqual(self.of_log("oshi", "Thing", "Events/sec"),
                         [("a", 1000), ("b", 1000)])
        rows = self.run_program("oshi", "4", "Available Bytes")
        self.assertEqual([name for name, _ in rows], [""])
        self.assertGreater(rows[0][1], 0)

    def test_tx(self):
        self.assertEqual(self.run_program("tx", "Thing", str(self.log)),
                         [(f"Events/sec({name})", rate) for _ in range(2)
                          for name, rate in THINGS])
        later = self.log.with_name("later.blg")
        later.write_bytes(log(3))
        rows = self.run_program("tx", "Thing", str(later), str(self.log))
        self.assertEqual(rows, [(f"Events/sec({name})", rate) for _ in range(5)
                                for name, rate in THINGS])
        rows = self.run_program("tx", "Process", str(
            ROOT / "fixtures/machine_names_v1.pfb"))
        self.assertEqual([(name[18:-1], value) for name, value in rows
                          if name.startswith("IO Read Bytes/sec(")][:8], READS)

    def test_powershell(self):
        def paths(counter):
            return [(rf"\\PC\Thing({name})\{counter}", rate)
                    for name, rate in THINGS]

        self.assertEqual(self.run_program(
            "powershell", r"\Thing(*)\Events/sec", str(self.log)),
            paths("Events/sec"))
        self.assertEqual(self.values(self.run_program(
            "powershell", READ, str(ROOT / "fixtures/machine_names_v1.pfb"))),
            self.values(READS))
        self.assertEqual(self.values(self.of_fixture("powershell", READ)),
                         self.values(READS))
        self.assertTrue(self.run_program("powershell", r"\Memory\*"))
        self.assertTrue(self.run_program(
            "powershell", r"\Processor(_Total)\% Processor Time"))


class Registry(Programs):
    """Consumers of the performance registry keys; each prints the raw values
    of two samples."""

    NAMES = ["fluent_bit_perflib", "netdata", "oshi_registry",
             "windows_exporter_registry", "dotnet"]
    # What the processes of machine_v1 have in each sample.
    THREADS = [("Idle", 2), ("System", 92), ("database", 40), ("agent", 6),
               ("_Total", 140)]

    def arguments(self, name, machine, *rest):
        return (name, *((machine,) if name == "dotnet" else ()), *rest)

    def test_recordings(self):
        for name in self.NAMES:
            with self.subTest(name):
                self.assertEqual(self.of_fixture(
                    *self.arguments(name, "FIXTURE", "Process", "Thread Count"),
                    fixture="machine_v1"), 2 * self.THREADS)
                # V2, of which blocks are written
                self.assertEqual(self.of_fixture(
                    *self.arguments(name, ".", "Process V2", "Priority Base"),
                    fixture="machine")[:1], [("Idle:0", 0)])

    def test_rates(self):
        for name in self.NAMES:
            rows = self.of_fixture(
                *self.arguments(name, "FIXTURE", "Process", "IO Read Bytes/sec"))
            older, newer = rows[:len(rows) // 2], rows[len(rows) // 2:]
            self.assertEqual(
                [(after[0], (after[1] - before[1]) / 10)
                 for before, after in zip(older, newer)], READS, name)

    def test_average_times(self):
        """The type says 4 bytes, but some read the 8 that Windows has. 14,400
        reads of 2 ms in the first hour, then 40 in 10 s, in ticks."""
        expected = [(name, reads * 20000) for reads in (14400, 14440)
                    for name in ("0 C: D:", "_Total")]
        for name in self.NAMES:
            for machine, fixture in ("FIXTURE", "machine_v1"), (".", "machine"):
                with self.subTest(name, fixture=fixture):
                    rows = self.of_fixture(*self.arguments(
                        name, machine, "PhysicalDisk", "Avg. Disk sec/Read"),
                        fixture=fixture)
                    if name == "windows_exporter_registry":  # divides by reads
                        self.assertEqual([value for _, value in rows], [20000] * 4)
                    else:
                        self.assertEqual(rows, expected)

    def test_logs(self):
        for name in self.NAMES:
            self.assertEqual(self.of_log(
                *self.arguments(name, "PC", "Thing", "Events/sec")),
                [("a", 1000), ("b", 1000), ("a", 1070), ("b", 1140)], name)

    def test_without_instances(self):
        for name in self.NAMES:
            if name == "oshi_registry":  # only reads instances
                continue
            rows = self.of_fixture(
                *self.arguments(name, "FIXTURE", "System", "Threads"),
                fixture="machine_v1")
            self.assertEqual(rows, [("", 140)] * 2, name)

    def test_this_machine(self):
        for name in self.NAMES:
            rows = self.run_program(*self.arguments(
                name, ".", "Processor Information", "% Processor Time"))
            self.assertEqual(rows[-1][0], "_Total")
            self.assertTrue(all(value > 0 for _, value in rows), name)


if __name__ == "__main__":
    unittest.main()
