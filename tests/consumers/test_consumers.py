#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs that call PDH as published consumers do, over recordings, perfmon
logs and this machine.

test_consumers.py FOLDER [TEST...]: the folder has the programs.
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/oracle"))

import log_writer as w  # noqa: E402

FOLDER = pathlib.Path(sys.argv.pop(1))
RATE = 0x10410400

# % Processor Time of the fixture: ticks of 10,000,000 in its text.
PROCESSES = [("Idle", 5), ("svchost", 26), ("svchost", 47), ("svchost", 68),
             ("app", 9), ("_Total", 30)]
TIME = r"\Process(*)\% Processor Time"
# Rates of the log: 70 and 140 events in a second.
THINGS = [("a", 70), ("b", 140)]


def log():
    """A .blg of three samples."""
    events = w.paths(*[w.path(RATE, w.SECOND, r"\\PC", "Thing", name, "Events/sec")
                       for name, _ in THINGS])
    for second in range(3):
        events += w.sample(*[w.counter(1000 + rate * second, second * w.SECOND,
                                       time=w.LOCAL + second * w.SECOND)
                             for _, rate in THINGS],
                           time=w.LOCAL + second * w.SECOND)
    return w.log(*events)


class Consumers(unittest.TestCase):
    """Each test is a consumer."""

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

    def of_fixture(self, name, *arguments, fixture="process"):
        return self.run_program(name, *arguments,
                                source=ROOT / f"fixtures/{fixture}.pfb")

    def of_log(self, name, *arguments):
        return self.run_program(name, *arguments, source=self.log)

    def values(self, rows):
        return [value for _, value in rows]

    def test_gopsutil(self):
        self.assertEqual(self.values(self.of_fixture(
            "gopsutil", r"\System\Context Switches/sec", fixture="system")),
            [0, 118])
        self.assertEqual(self.values(self.of_log(
            "gopsutil", r"\Thing(b)\Events/sec")), [0, 140])
        values = self.values(self.run_program(
            "gopsutil", r"\Memory\Available Bytes"))
        self.assertTrue(all(value > 0 for value in values))

    def test_psutil(self):
        rows = self.of_fixture("psutil", r"\System\Processor Queue Length",
                               fixture="system")
        self.assertEqual(rows[0], ("load", 170))
        rows = self.run_program("psutil", r"\System\System Up Time")
        self.assertGreater(rows[0][1], 0)

    def test_windows_exporter(self):
        rows = self.of_fixture("windows_exporter", TIME,
                               r"\Process(*)\Elapsed Time")
        self.assertEqual(rows[:2], [("Idle", 1000000000), ("svchost", 2000000000)])
        # The object's clock is the time of the sample; Idle began 3200 s before.
        self.assertEqual(rows[6], ("Idle", 3200))
        self.assertEqual(self.of_log(
            "windows_exporter", r"\Thing(*)\Events/sec",
            r"\Thing(*)\Events/sec")[:1], [("a", 1000)])
        self.assertTrue(self.run_program(
            "windows_exporter", r"\Process(*)\ID Process",
            r"\Process(*)\Thread Count"))

    def test_telegraf(self):
        self.assertEqual(self.of_fixture("telegraf", TIME), PROCESSES)
        self.assertEqual(self.of_log("telegraf", r"\Thing(a)\Events/sec"),
                         THINGS[:1])
        self.assertTrue(self.run_program("telegraf", r"\Process(*)\ID Process"))

    def test_fluent_bit(self):
        def path(name):
            return rf"\\FIXTURE\Process({name})\% Processor Time"

        self.assertEqual(self.of_fixture("fluent_bit", TIME), [
            (path("Idle"), 5), (path("svchost"), 26), (path("svchost#1"), 47),
            (path("svchost#2"), 68), (path("app"), 9), (path("_Total"), 30)])
        self.assertTrue(self.run_program(
            "fluent_bit", r"\Processor Information(*)\% Processor Time"))

    def test_datadog(self):
        self.assertEqual(
            self.of_fixture("datadog", "Process", "% Processor Time"),
            [("Idle", 5), ("svchost", 26), ("svchost#1", 47), ("svchost#2", 68),
             ("app", 9), ("_Total", 30)])
        self.assertEqual(self.of_log("datadog", "Thing", "Events/sec"), THINGS)
        rows = self.run_program("datadog", "Memory", "Available Bytes")
        self.assertEqual([name for name, _ in rows], [""])

    def test_openjdk(self):
        self.assertEqual(self.of_fixture("openjdk", "svchost", "Thread Count"), [
            ("svchost#0", 180), ("svchost#1", 183), ("svchost#2", 186)])

    def test_powershell(self):
        def paths(counter):
            return [(rf"\\PC\Thing({name})\{counter}", rate)
                    for name, rate in THINGS]

        self.assertEqual(self.run_program(
            "powershell", r"\Thing(*)\Events/sec", str(self.log)),
            paths("Events/sec"))
        self.assertEqual(self.values(self.run_program(
            "powershell", TIME, str(ROOT / "fixtures/process.pfb"))),
            [value for _, value in PROCESSES])
        self.assertEqual(self.values(self.of_fixture("powershell", TIME)),
                         [value for _, value in PROCESSES])
        self.assertTrue(self.run_program("powershell", r"\Memory\*"))


if __name__ == "__main__":
    unittest.main()
