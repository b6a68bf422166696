# SPDX-License-Identifier: MIT
"""The counterset Process, compared with /proc/PID of a child process of this
test.

The environment variable PERFBLOCK is the path of the program. The child works
only on request. So the kernel's numbers of the child do not change while a
sample is recorded, and the sample must have the same numbers.
"""

import os
import subprocess
import sys
import time
import unittest
from fractions import Fraction

from live_samples import LiveCase, elapsed, rate

CHILD = """
import os, sys, time
with open("/proc/self/comm", "wb") as comm:
    comm.write(b"a) (b")
os.nice(3)
print("ready", flush=True)
for line in sys.stdin:
    end = time.process_time() + float(line)
    while time.process_time() < end:
        os.stat("/")
    block = bytearray(8 << 20)
    with open("/dev/null", "wb", buffering=0) as null:
        for _ in range(100):
            null.write(block[:1000])
    print("done", flush=True)
"""
NAME = "a) (b"  # parentheses also enclose the name in /proc/PID/stat
WORK = 0.2  # seconds of processor time per request to the child
# The unit of the times in /proc/PID/stat, in seconds.
TICK = 1 / os.sysconf("SC_CLK_TCK")
# {counter id: name in /proc/PID/io}. 15 and 18 are sums of two of these.
IO = {13: "syscr", 14: "syscw", 16: "rchar", 17: "wchar"}
# Counters that _Total sums over all processes, and those of them whose values
# have 4 bytes.
SUMS = (0, 1, 2, 3, 4, 5, 6, 13, 14, 15, 16, 17, 18)
FOUR_BYTES = (5, 6)


def read_stat(pid):
    """{number of the field in proc(5): value} of /proc/PID/stat."""
    with open(f"/proc/{pid}/stat", encoding="utf-8",
              errors="replace") as file:
        text = file.read()
    words = text[text.rindex(")") + 1:].split()
    return {number: int(words[number - 3]) for number in range(4, 25)}


def readable_processes():
    """The ids of all processes whose stat file can be read. /proc may list
    processes of other users without access to their files."""
    found = set()
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            read_stat(int(name))
        except OSError:
            continue
        found.add(int(name))
    return found


def read_io(pid):
    """{name: number} of /proc/PID/io."""
    with open(f"/proc/{pid}/io", encoding="utf-8") as file:
        return {key: int(number) for key, number in
                (line.split(":") for line in file)}


@unittest.skipUnless(sys.platform == "linux", "needs the live source of Linux")
class Process(LiveCase):
    """The counterset Process, compared with /proc/PID."""

    def setUp(self):
        super().setUp()
        self.start_time = time.monotonic()
        self.child = subprocess.Popen(
            [sys.executable, "-c", CHILD], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.end_child)
        self.assertEqual(self.child.stdout.readline(), "ready\n")
        self.ready_time = time.monotonic()

    def end_child(self):
        """Closes the child's input, which ends the child."""
        self.child.communicate(timeout=60)

    def work(self):
        """Makes the child work, and waits until it is done."""
        self.child.stdin.write(f"{WORK}\n")
        self.child.stdin.flush()
        self.assertEqual(self.child.stdout.readline(), "done\n")

    def read(self):
        """The kernel's numbers of the child."""
        return read_stat(self.child.pid), read_io(self.child.pid)

    def sample(self, *arguments):
        """Records one sample and returns the kernel's numbers at its time."""
        return self.record_still(self.read, "--set", "Process", *arguments)

    def expect_raw(self, stat, io, values):
        """Asserts that the raw values are those of the kernel, except counter
        9, which is the time of the sample."""
        tick = 10**7 // os.sysconf("SC_CLK_TCK")
        expected = {
            0: (stat[14] + stat[15]) * tick, 1: stat[14] * tick,
            2: stat[15] * tick, 3: stat[23],
            4: stat[24] * os.sysconf("SC_PAGE_SIZE"),
            5: (stat[10] + stat[12]) % 2**32, 6: stat[20], 7: 20 - stat[19],
            8: 10**7 + stat[22] * tick, 10: 10**7, 11: self.child.pid,
            12: os.getpid()}
        if 13 in values:
            expected.update({counter: io[name]
                             for counter, name in IO.items()})
            expected.update({15: io["syscr"] + io["syscw"],
                             18: io["rchar"] + io["wchar"]})
        self.assertEqual({counter: value for counter, value in values.items()
                          if counter != 9}, expected)

    def test_child(self):
        """Raw and displayed values of the child follow from /proc/PID."""
        first, first_io = self.sample()
        self.work()
        before = time.monotonic()
        second, second_io = self.sample()
        after = time.monotonic()
        older, newer = self.samples()
        for (stat, io), (_, values) in (((first, first_io), older),
                                        ((second, second_io), newer)):
            self.expect_raw(stat, io, values[self.child.pid, NAME])
        shown = self.displayed("Process", NAME)
        ticks = second[14] + second[15] - first[14] - first[15]
        self.assertGreaterEqual(ticks * TICK, WORK - 4 * TICK)
        self.assertEqual(shown["% Processor Time"], ("ok", float(Fraction(
            100 * ticks * 10**7, os.sysconf("SC_CLK_TCK")
            * elapsed(older, newer, "perf_time_100ns")))))
        faults = (second[10] + second[12] - first[10] - first[12])
        self.assertGreater(faults, 0)
        self.assertEqual(shown["Page Faults/sec"], rate(faults, older, newer))
        self.assertEqual(shown["Priority Base"], ("ok", 20 - second[19]))
        if "IO Write Bytes/sec" in shown:
            written = second_io["wchar"] - first_io["wchar"]
            self.assertGreater(written, 100 * 1000)
            self.assertEqual(shown["IO Write Bytes/sec"],
                             rate(written, older, newer))
        status, seconds = shown["Elapsed Time"]
        self.assertEqual(status, "ok")
        self.assertGreaterEqual(seconds, before - self.ready_time)
        self.assertLess(seconds, after - self.start_time + TICK)

    def test_total_is_consistent(self):
        """The counters SUMS of _Total are sums over all other instances in
        the same sample. Priority, start time and process ids are 0."""
        self.sample()
        values = self.samples()[0][1]
        total = values.pop((0xFFFFFFFE, "_Total"))
        self.assertGreater(len(values), 2)
        for counter in SUMS:
            if counter in total:
                size = 32 if counter in FOUR_BYTES else 64
                self.assertEqual(
                    total[counter], sum(
                        counters[counter] for counters in values.values())
                    % 2**size, counter)
        for counter in (7, 8, 11, 12):
            self.assertEqual(total[counter], 0)

    def test_processes_are_those_of_proc(self):
        """Each process that could be read before and after the sample occurs
        in it exactly once."""
        before = readable_processes()
        self.sample("--counter", "Thread Count")
        after = readable_processes()
        ids = [pid for pid, _ in self.samples()[0][1]]
        self.assertEqual(ids, sorted(set(ids)))
        self.assertLessEqual(before & after, set(ids))

    def test_threads(self):
        """The child has one thread, whose numbers are those of the process,
        and this test has those that the kernel and ps list."""
        stat, _ = self.record_still(self.read, "--set", "Thread")
        values = self.samples()[0][1]
        counters = values[self.child.pid, NAME + "/0"]
        tick = 10**7 // os.sysconf("SC_CLK_TCK")
        expected = {0: (stat[14] + stat[15]) * tick, 1: stat[14] * tick,
                    2: stat[15] * tick, 4: 20 - stat[19], 5: 40 - stat[18],
                    6: 10**7 + stat[22] * tick, 8: 10**7, 9: 5,
                    10: self.child.pid, 11: self.child.pid}
        self.assertEqual({counter: counters[counter] for counter in expected},
                         expected)
        ours = {tid for (tid, _), counters in values.items()
                if counters[10] == os.getpid()}
        self.assertEqual(ours, {int(name) for name in
                                os.listdir("/proc/self/task")})
        done = subprocess.run(["ps", "-L", "-o", "lwp=", "-p",
                               str(self.child.pid)], check=False,
                              stdout=subprocess.PIPE, text=True)
        if done.returncode == 0:
            self.assertEqual(done.stdout.split(), [str(self.child.pid)])


if __name__ == "__main__":
    unittest.main()
