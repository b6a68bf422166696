# SPDX-License-Identifier: MIT
"""The countersets System and Memory, as `perfblock record` stores them,
compared with /proc.

The environment variable PERFBLOCK is the path of the program.

The test reads the files, records a sample, and reads them again. A count that
only grows must lie between both readings. Other numbers must equal both
readings, except that amounts of memory other than the commit limit may differ
by 64 MiB. Because such numbers may change between the readings, the measurement
is repeated until each has agreed once, and made at most ATTEMPTS times.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
import unittest

# (set, counter id)
PAGE_FAULTS, CONTEXT_SWITCHES, UP_TIME = ("Memory", 9), ("System", 0), (
    "System", 3)
OBJECT_TIME, OBJECT_FREQUENCY = ("System", 4), ("System", 5)
ATTEMPTS = 20
TICK = 100000  # 10 ms, the unit of /proc/uptime, in units of 100 ns


def read(name):
    """The text of a file of /proc."""
    with open(f"/proc/{name}", encoding="ascii", errors="replace") as file:
        return file.read()


def numbers(text):
    """{first word: the number after it} of the lines of a text."""
    found = {}
    for line in text.splitlines():
        words = line.split()
        if len(words) > 1 and words[1].isdigit():
            found.setdefault(words[0].rstrip(":"), int(words[1]))
    return found


def growing():
    """{(set, counter id): count} of counts that only grow."""
    seconds, hundredths = read("uptime").split()[0].split(".")
    return {CONTEXT_SWITCHES: numbers(read("stat"))["ctxt"],
            PAGE_FAULTS: numbers(read("vmstat"))["pgfault"],
            UP_TIME: (int(seconds) * 100 + int(hundredths)) * TICK}


def moving():
    """{(set, counter id): number} of numbers that may rise and fall."""
    info = numbers(read("meminfo"))
    cpus = sum(line[:3] == "cpu" and line[3:4].isdigit()
               for line in read("stat").splitlines())
    processes = sum(name.isdigit() for name in os.listdir("/proc"))
    return {("System", 1): processes,
            ("System", 2): int(read("loadavg").split()[3].split("/")[1]),
            ("System", 6): max(
                0, numbers(read("stat"))["procs_running"] - cpus),
            ("Memory", 0): info["MemAvailable"] * 1024,
            ("Memory", 3): info["Committed_AS"] * 1024,
            ("Memory", 4): info["CommitLimit"] * 1024,
            ("Memory", 7): info["Cached"] * 1024,
            ("Memory", 8): info["MemFree"] * 1024}


# The sample also counts the program itself, which is one process and thread.
OURS = {("System", 1): 1, ("System", 2): 1}
# Allowed differences: amounts of memory in bytes and the number of waiting
# threads change all the time.
NEAR = {("System", 6): 4, **{("Memory", n): 64 << 20 for n in (0, 3, 7, 8)}}


def record(folder):
    """{(set, counter id): raw value} of a recorded sample."""
    path = os.path.join(folder, "sample.pfb")
    program = os.environ["PERFBLOCK"]
    subprocess.run([program, "record", "--count", "1", "--set", "System",
                    "--set", "Memory", "--output", path], check=True,
                   timeout=60, stderr=subprocess.DEVNULL)
    shown = subprocess.run([program, "show", "--format", "json", path],
                           check=True, timeout=60, stdout=subprocess.PIPE)
    os.remove(path)
    items = [json.loads(line) for line in shown.stdout.splitlines()]
    return {(("System", "Memory")[item["query"]], item["counter"]):
            item["raw"] for item in items if item["record"] == "value"}


def elapsed(values):
    """The values with the start time of the machine replaced by the time since
    then, as /proc/uptime has it."""
    return {**values, UP_TIME: values[OBJECT_TIME] - values[UP_TIME]}


def outside(before, values, after):
    """The growing counts whose values do not lie between the readings."""
    wrong = []
    for key, low in before.items():
        width = 2 ** 64 if key == UP_TIME else 2 ** 32
        if (values[key] - low) % width > (after[key] - low) % width:
            wrong.append((key, low, values[key], after[key]))
    return wrong


def settled(before, values, after):
    """The keys of the other numbers whose values equal both readings, within
    the allowed differences."""
    return {key for key in before
            if max(abs(values[key] - OURS.get(key, 0) - reading[key])
                   for reading in (before, after)) <= NEAR.get(key, 0)}


@unittest.skipUnless(sys.platform == "linux", "needs the live source of Linux")
class Machine(unittest.TestCase):
    """Samples of this machine against /proc."""

    def test_counts_lie_between_two_readings(self):
        """Counts that only grow lie between the readings before and after the
        sample."""
        with tempfile.TemporaryDirectory() as folder:
            for _ in range(3):
                before = growing()
                values = record(folder)
                after = growing()
                self.assertEqual(outside(before, elapsed(values), after), [])
                self.assertEqual(values[OBJECT_FREQUENCY], 10 ** 7)

    def test_amounts_are_those_of_both_readings(self):
        """Amounts equal both readings in one of the attempts."""
        missing = set(moving())
        with tempfile.TemporaryDirectory() as folder:
            for _ in range(ATTEMPTS):
                before = moving()
                values = record(folder)
                missing -= settled(before, values, moving())
                if not missing:
                    break
                time.sleep(0.1)
        self.assertEqual(missing, set())

    def test_units_are_consistent(self):
        """Amounts in KB and MB are those in bytes."""
        with tempfile.TemporaryDirectory() as folder:
            memory = {key[1]: raw for key, raw in record(folder).items()
                      if key[0] == "Memory"}
        self.assertEqual(memory[0], memory[1] * 1024)
        self.assertEqual(memory[2], memory[1] // 1024)
        self.assertEqual(memory[3], memory[5] * 1024)
        self.assertEqual(memory[4], memory[6] * 1024)


class Comparison(unittest.TestCase):
    """The functions above detect wrong values."""

    def test_outside(self):
        """Counts are compared modulo their width."""
        key = CONTEXT_SWITCHES
        for low, value, high, good in (
                (5, 5, 5, True), (5, 6, 7, True), (5, 4, 7, False),
                (5, 8, 7, False), (2 ** 32 - 1, 0, 2 ** 32 + 1, True),
                (2 ** 32 - 1, 2, 2 ** 32 + 1, False)):
            wrong = outside({key: low}, {key: value}, {key: high})
            self.assertEqual(wrong == [], good, (low, value, high))

    def test_settled(self):
        """A number must equal both readings, within its allowed difference."""
        key, ours = ("Memory", 4), ("System", 1)
        self.assertEqual(settled({key: 3}, {key: 3}, {key: 3}), {key})
        self.assertEqual(settled({ours: 3}, {ours: 4}, {ours: 3}), {ours})
        for key, step in ((key, 1), (("Memory", 0), (64 << 20) + 1)):
            for moved in range(3):
                three = [{key: step if n == moved else 0} for n in range(3)]
                self.assertEqual(settled(*three), set())

    def test_numbers(self):
        """The first number after a name is used, with or without a colon."""
        self.assertEqual(numbers("a: 5 kB\nb 6\na: 7\nc\nd x\n"),
                         {"a": 5, "b": 6})


if __name__ == "__main__":
    unittest.main()
