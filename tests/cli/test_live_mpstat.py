# SPDX-License-Identifier: MIT
"""CPU times of `perfblock live`, compared with those of mpstat.

The environment variable PERFBLOCK is the path of the program; mpstat is in the
package sysstat.

Both programs start at the same time and measure two seconds, while a child
process keeps one CPU busy. Their intervals may be some hundredths of a second
apart, so the tolerance is wide and a failed comparison is repeated.
test_live_agreement.py compares the values more exactly. This test shows that
the counters have the same meaning as mpstat's columns.
"""

import json
import os
import subprocess
import sys
import time
import unittest

import test_live_agreement as agreement

INTERVAL = 2
TOLERANCE = 6.0  # percentage points
ATTEMPTS = 5


def percents_of(text):
    """{(CPU, position of the counter in test_live_agreement.NAMES): percent}
    from mpstat's JSON."""
    host = json.loads(text)["sysstat"]["hosts"][0]
    loads = host["statistics"][0]["cpu-load"]
    found = {}
    for load in loads:
        if load["cpu"].isdigit():
            cpu = int(load["cpu"])
            found[cpu, 0] = 100 - load["idle"] - load["iowait"]
            found[cpu, 1] = sum(load[name] for name in (
                "usr", "nice", "guest", "gnice"))
            found[cpu, 2] = load["sys"] + load["irq"] + load["soft"]
    return found


def measure():
    """(percentages of perfblock, of mpstat) of nearly the same two seconds."""
    with subprocess.Popen(
            ["mpstat", "-P", "ALL", "-o", "JSON", str(INTERVAL), "1"],
            stdout=subprocess.PIPE, text=True,
            env={**os.environ, "LC_ALL": "C"}) as mpstat:
        done = subprocess.run(
            [os.environ["PERFBLOCK"], "live", "--count", "1", "--interval",
             str(INTERVAL), "--format", "json"], check=True, text=True,
            stdout=subprocess.PIPE, timeout=60)
        theirs = percents_of(mpstat.communicate(timeout=60)[0])
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return agreement.shown_percents(
        [line for line in lines if line["counter"] in agreement.NAMES]), theirs


def disagreements(ours, theirs):
    """(key, ours, theirs) of values that differ by more than the tolerance."""
    return [(key, ours.get(key), theirs.get(key))
            for key in sorted(set(ours) | set(theirs))
            if ours.get(key) is None or theirs.get(key) is None
            or not abs(ours[key] - theirs[key]) <= TOLERANCE]


@unittest.skipUnless(sys.platform == "linux", "needs the live source of Linux")
class Mpstat(unittest.TestCase):
    """perfblock against mpstat on this machine."""

    def test_processor_time(self):
        """All percentages agree with those of mpstat in one of the attempts.
        """
        busy = min(os.sched_getaffinity(0))
        load = agreement.start_busy_process(busy)
        outcomes = []
        try:
            time.sleep(0.3)
            for _ in range(ATTEMPTS):
                ours, theirs = measure()
                outcomes.append(disagreements(ours, theirs))
                if (ours.get((busy, 0)) or 0) < agreement.BUSY:
                    outcomes[-1].append(f"CPU {busy} is not busy: {ours}")
                if not outcomes[-1]:
                    return
        finally:
            load.kill()
            load.wait()
        self.fail(f"no agreement in {ATTEMPTS} attempts: {outcomes}")


class Comparison(unittest.TestCase):
    """The functions above detect wrong values."""

    def test_disagreements_are_found(self):
        """Differences above the tolerance and missing values are found."""
        theirs = {(0, 0): 90.0, (1, 0): 10.0}
        self.assertEqual(disagreements({(0, 0): 95.0, (1, 0): 4.5}, theirs), [])
        for ours in ({(0, 0): 97.0, (1, 0): 10.0}, {(0, 0): 90.0},
                     {(0, 0): 90.0, (1, 0): None},
                     {**theirs, (2, 0): 0.0}):
            self.assertTrue(disagreements(ours, theirs), ours)

    def test_terms(self):
        """The columns of mpstat are added to processor, user and kernel time.
        """
        load = {"cpu": "3", "usr": 1.0, "nice": 2.0, "sys": 4.0, "iowait": 8.0,
                "irq": 16.0, "soft": 32.0, "steal": 0.5, "guest": 0.25,
                "gnice": 0.125, "idle": 36.125}
        text = json.dumps({"sysstat": {"hosts": [{"statistics": [
            {"cpu-load": [{**load, "cpu": "all"}, load]}]}]}})
        self.assertEqual(percents_of(text), {(3, 0): 55.875, (3, 1): 3.375,
                                             (3, 2): 52.0})


if __name__ == "__main__":
    unittest.main()
