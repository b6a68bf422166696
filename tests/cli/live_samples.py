# SPDX-License-Identifier: MIT
"""Samples of this machine held against the kernel's own files.

A sample is recorded between two readings of a file by this side.  Where both
readings of a count say the same, the kernel counted nothing in between, so the
sample must say that too.  A count that moved must lie between them: on a machine
that is never idle some always do.
"""

import os
import time
from fractions import Fraction

from program import Case

PATIENCE = 30.0  # seconds, to find numbers that must keep still
SHORT = 3.0  # the same, where they need not


class LiveCase(Case):
    """A test that records samples into one capture."""

    def setUp(self):
        super().setUp()
        self.capture = os.path.join(self.folder, "live.pfb")

    def offered(self, name):
        """The names of a counterset's counters by id; none when this machine
        does not have the set."""
        return {item["id"]: item["name"]
                for item in self.run_json("countersets")
                if item["record"] == "counter" and item["set"] == name}

    def record_between(self, read, *arguments, patience=SHORT):
        """Append one sample between two readings, which are returned: equal
        ones if they can be had in time."""
        end = time.monotonic() + patience
        size = (os.path.getsize(self.capture)
                if os.path.exists(self.capture) else 0)
        while True:
            before = read()
            self.run_fine("record", "-o", self.capture, "--count", "1",
                          *arguments)
            after = read()
            if after == before or time.monotonic() > end:
                return before, after
            os.truncate(self.capture, size)

    def record_still(self, read, *arguments):
        """Append one sample between two equal readings; the reading."""
        before, after = self.record_between(read, *arguments,
                                            patience=PATIENCE)
        self.assertEqual(before, after, "the kernel's numbers never kept "
                         "still for a sample")
        return before

    def samples(self):
        """What was recorded: for each sample its clocks, and raw values by
        (instance id, name) and counter id."""
        found = []
        for item in self.run_json("show", self.capture):
            if item["record"] == "data":
                found.append((item, {}))
            elif found and item["record"] == "instance":
                values = found[-1][1].setdefault(
                    (item["id"], item["name"]), {})
            elif found and item["record"] == "value":
                values[item["counter"]] = item["raw"]
        return found

    def displayed(self, counterset, instance):
        """(status, value) by counter name, of an instance of the last two
        samples."""
        items = self.run_json("live", "--source", self.capture, "--set",
                              counterset)
        last = max(item["sample"] for item in items)
        found = {item["counter"]: (item["status"], item["value"])
                 for item in items
                 if (item["sample"], item["instance"]) == (last, instance)}
        self.assertTrue(found, instance)
        return found


def is_between(low, value, high, size):
    """Whether a count of `size` values lies between two readings of it, which
    may have gone through its end.  Readings that agree allow one value."""
    return (value - low) % size <= (high - low) % size


def elapsed(older, newer, clock):
    """The time between two samples by one of their clocks, in its ticks."""
    return newer[0][clock] - older[0][clock]


def rate(difference, older, newer):
    """What a count that grew by `difference` is displayed as, per second."""
    return quotient(difference * newer[0]["perf_freq"],
                    elapsed(older, newer, "perf_time"))


def quotient(numerator, denominator):
    """What a quotient is displayed as."""
    if denominator == 0:
        return ("zero_denominator", None)
    return ("ok", float(Fraction(numerator, denominator)))
