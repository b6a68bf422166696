# SPDX-License-Identifier: MIT
"""CPU times of `perfblock live`, compared with /proc/stat.

The environment variable PERFBLOCK is the path of the program.

A child process keeps one CPU busy. The program takes three samples two seconds
apart, while a thread of this test reads /proc/stat about every 10 ms and
records the times. The program prints the time of each sample, so both ends of
its last interval are known. The kernel's counts of ticks only grow, except
that the count of waiting for disks may fall slightly, which TOLERANCE allows.
So the readings directly before and after the two ends give a lower and an
upper bound for each percentage in that interval. Besides processor time, the
time in user mode and in the kernel is compared, because on a fully busy
machine processor time is 100 % even if it is computed wrongly.

The remaining error comes from the kernel's ticks of 10 ms and from the program
and the thread not reading at the same instant: together less than 1.5
percentage points. On a busy machine the thread may get no CPU for a while, and
then its readings are farther apart and the bounds less tight. If they are too
far apart, or if a value is not within its bounds, the measurement is repeated.
After two attempts larger gaps between readings are allowed; after four the
test fails.
"""

import bisect
import datetime
import json
import os
import subprocess
import sys
import threading
import time
import unittest

INTERVAL = 2.0
TOLERANCE = 2.0  # percentage points
READ_EVERY = 0.01  # seconds
# The maximum time in seconds between the readings before and after a sample,
# for each attempt. With gaps of 0.3 s at both ends, the bounds of a percentage
# are 30 percentage points apart.
LARGEST_GAPS = (0.1, 0.1, 0.3, 0.3)
BUSY = 80.0  # smallest percentage shown for the CPU with the busy process
NAMES = ("% Processor Time", "% User Time", "% Privileged Time")  # ids 0 to 2


class NotComparable(Exception):
    """The readings give no bounds for the program's interval."""


# ---- The kernel's values ----------------------------------------------------


def ticks_of(text):
    """{(CPU, n): ticks} of /proc/stat; n is 0 for idle, 1 for user mode and 2
    for the kernel."""
    ticks = {}
    for line in text.splitlines():
        words = line.split()
        if words and words[0].startswith("cpu") and words[0] != "cpu":
            cpu = int(words[0][3:])
            user, nice, system, idle, iowait, irq, softirq = map(
                int, words[1:8])
            ticks[cpu, 0] = idle + iowait
            ticks[cpu, 1] = user + nice
            ticks[cpu, 2] = system + irq + softirq
    return ticks


class Reader(threading.Thread):
    """A thread that reads /proc/stat repeatedly. `readings` are (time before,
    time after, ticks)."""

    def __init__(self):
        super().__init__(daemon=True)
        self.readings = []
        self.stopping = threading.Event()

    def read(self):
        """Appends one reading."""
        before = time.time()
        with open("/proc/stat", encoding="ascii") as stat:
            text = stat.read()
        self.readings.append((before, time.time(), ticks_of(text)))

    def run(self):
        while not self.stopping.wait(READ_EVERY):
            self.read()
        self.read()  # after the program's last sample

    def finish(self):
        """Stops the thread after one more reading, and returns all readings."""
        self.stopping.set()
        self.join()
        return self.readings


def readings_around(readings, moment, largest_gap):
    """The ticks of the last reading before and the first after a moment."""
    count = bisect.bisect_right([end for _, end, _ in readings], moment)
    after = bisect.bisect_left([start for start, _, _ in readings], moment)
    if count == 0 or after == len(readings):
        raise NotComparable("no reading on one side of a sample")
    (start, _, older), (_, end, newer) = readings[count - 1], readings[after]
    if end - start > largest_gap:
        raise NotComparable(f"{end - start:.3f} s without a reading")
    return older, newer


def kernel_percents(readings, first, last, largest_gap):
    """{(CPU, counter): (lower bound, upper bound)} of the percentages between
    two moments."""
    before_first, after_first = readings_around(readings, first, largest_gap)
    before_last, after_last = readings_around(readings, last, largest_gap)
    common = (before_first.keys() & after_first.keys() & before_last.keys() &
              after_last.keys())  # a CPU may be added or removed between
    rate = os.sysconf("SC_CLK_TCK") * (last - first)
    percents = {}
    for key in common:
        low = 100 * (before_last[key] - after_first[key]) / rate
        high = 100 * (after_last[key] - before_first[key]) / rate
        # Counter 0 is idle time, from which processor time follows.
        percents[key] = (low, high) if key[1] else (100 - high, 100 - low)
    return percents


# ---- The program's values ---------------------------------------------------


def moment_of(text):
    """Seconds since 1970 of "2026-11-20T12:30:45.1234567Z"."""
    stamp = datetime.datetime.strptime(text[:-2], "%Y-%m-%dT%H:%M:%S.%f")
    return stamp.replace(tzinfo=datetime.timezone.utc).timestamp()


def run_live(program):
    """The JSON objects of the counters NAMES, of two consecutive samples."""
    done = subprocess.run(
        [program, "live", "--count", "2", "--interval", str(INTERVAL),
         "--format", "json"], check=True, stdout=subprocess.PIPE, timeout=60)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    lines = [line for line in lines if line["counter"] in NAMES]
    last = max(line["sample"] for line in lines)
    return ([line for line in lines if line["sample"] == last - 1],
            [line for line in lines if line["sample"] == last])


def shown_percents(lines):
    """{(CPU, counter): percentage} from instances named "node,number"."""
    shown = {}
    for line in lines:
        number = line["instance"].rpartition(",")[2]
        if number.isdigit():
            key = int(number), NAMES.index(line["counter"])
            shown[key] = line["value"] if line["status"] == "ok" else None
    return shown


# ---- The comparison ---------------------------------------------------------


def disagreements(shown, kernel, busy):
    """Descriptions of the values that are not within their bounds."""
    found = []
    for key in sorted(set(shown) | set(kernel)):
        ours, theirs = shown.get(key), kernel.get(key)
        if ours is None or theirs is None or not (
                theirs[0] - TOLERANCE <= ours <= theirs[1] + TOLERANCE):
            found.append(f"CPU {key[0]}, {NAMES[key[1]]}: shown {ours}, "
                         f"kernel {theirs}")
    if not (shown.get((busy, 0)) or 0) >= BUSY:
        found.append(f"CPU {busy} is kept busy, shown {shown.get((busy, 0))}")
    return found


def measure(program, busy, largest_gap):
    """Runs the program and the thread; returns the disagreements."""
    reader = Reader()
    reader.start()
    try:
        older, newer = run_live(program)
    finally:
        readings = reader.finish()
    kernel = kernel_percents(readings, moment_of(older[0]["time"]),
                             moment_of(newer[0]["time"]), largest_gap)
    return disagreements(shown_percents(newer), kernel, busy)


def start_busy_process(cpu):
    """Starts a process that keeps this CPU busy."""
    code = (f"import os\nos.sched_setaffinity(0, {{{cpu}}})\n"
            "parent = os.getppid()\n"
            "while os.getppid() == parent:\n    sum(range(100000))\n")
    return subprocess.Popen([sys.executable, "-c", code])


@unittest.skipUnless(sys.platform == "linux", "needs the live source of Linux")
class LiveAgreement(unittest.TestCase):
    """live on this machine against /proc/stat."""

    def test_processor_time(self):
        """Each percentage lies between the bounds of /proc/stat in one of the
        attempts."""
        program = os.environ["PERFBLOCK"]
        allowed = os.sched_getaffinity(0)
        busy = 0 if 0 in allowed else min(allowed)
        load = start_busy_process(busy)
        outcomes = []
        try:
            time.sleep(0.3)
            for largest_gap in LARGEST_GAPS:
                try:
                    outcomes.append(measure(program, busy, largest_gap))
                except NotComparable as reason:
                    outcomes.append([str(reason)])
                if not outcomes[-1]:
                    return
        finally:
            load.kill()
            load.wait()
        self.fail(f"no agreement: {outcomes}")


class Comparison(unittest.TestCase):
    """The functions above detect wrong values."""

    READINGS = [(100.0 + n / 100, 100.001 + n / 100,
                 {(0, 0): 5000 + n, (0, 1): 3 * n, (2, 0): 7000, (2, 2): 0})
                for n in range(500)]

    def test_kernel_percents(self):
        """The bounds of a percentage follow from the readings around both
        ends."""
        percents = kernel_percents(self.READINGS, 101.005, 103.005, 0.1)
        rate = os.sysconf("SC_CLK_TCK")
        # In two seconds 199 to 201 ticks are idle, and 597 to 603 in user mode.
        for key, ticks in (((0, 1), (597, 603)), ((2, 2), (0, 0))):
            for percent, tick in zip(percents[key], ticks):
                self.assertAlmostEqual(percent, 50 * tick / rate, 6)
        for key, ticks in (((0, 0), (201, 199)), ((2, 0), (0, 0))):
            for percent, tick in zip(percents[key], ticks):
                self.assertAlmostEqual(percent, 100 - 50 * tick / rate, 6)

    def test_ticks(self):
        """The columns of /proc/stat are added to idle, user and kernel time.
        """
        text = "cpu  9 9 9 9 9 9 9\ncpu3 1 2 4 8 16 32 64 128 0 0\nintr 1\n"
        self.assertEqual(ticks_of(text), {(3, 0): 24, (3, 1): 3, (3, 2): 100})

    def test_readings_must_surround_the_interval(self):
        """Without readings near both ends there are no bounds."""
        for first, last in ((99.0, 101.0), (101.0, 110.0)):
            with self.assertRaises(NotComparable):
                kernel_percents(self.READINGS, first, last, 0.1)
        gap = self.READINGS[:100] + self.READINGS[200:]
        with self.assertRaises(NotComparable):
            kernel_percents(gap, 100.5, 101.5, 0.3)

    def test_disagreements_are_found(self):
        """Values outside of their bounds, missing values, and too little time
        of the CPU with the busy process are found."""
        kernel = {(0, 0): (98.5, 99.5), (1, 0): (9.8, 10.3),
                  (1, 1): (5.0, 5.0)}
        good = {(0, 0): 100.0, (1, 0): 8.5, (1, 1): 6.9}
        self.assertEqual(disagreements(good, kernel, 0), [])
        for key, value in (((1, 0), 12.5), ((1, 0), 7.5), ((1, 1), 7.5),
                           ((1, 1), None), ((1, 1), float("nan")),
                           ((2, 0), 5.0)):
            bad = {**good, key: value}
            self.assertTrue(disagreements(bad, kernel, 0), bad)
        self.assertTrue(disagreements({(0, 0): 99.0}, kernel, 0), "missing")
        self.assertTrue(disagreements({}, {}, 0), "nothing shown")
        self.assertTrue(disagreements({(0, 0): 50.0}, {(0, 0): (50.0, 50.0)},
                                      0), "not busy")

    def test_times_are_utc(self):
        self.assertEqual(moment_of("1970-01-02T00:00:00.2500000Z"), 86400.25)

    def test_only_cpus_are_compared(self):
        lines = [{"instance": name, "counter": NAMES[counter], "value": 5,
                  "status": status}
                 for name, counter, status in (
                     ("0,0", 0, "ok"), ("1,12", 2, "no_data"),
                     ("0,_Total", 0, "ok"), ("_Total", 0, "ok"))]
        self.assertEqual(shown_percents(lines), {(0, 0): 5, (12, 2): None})


if __name__ == "__main__":
    unittest.main()
