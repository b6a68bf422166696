# SPDX-License-Identifier: MIT
"""Compares samples of this machine with the kernel's own files.

A test reads a file, records a sample, and reads the file again. If both
readings of a count are equal, the sample must have the same number. If the
count changed, the number in the sample must lie between them. On a machine
that is never idle, some counts always change."""

import os
import time
from fractions import Fraction

from program import Case

PATIENCE = 30.0  # seconds, if a test requires equal readings
SHORT = 3.0  # seconds otherwise


class LiveCase(Case):
    """A test that records samples into one capture."""

    def setUp(self):
        super().setUp()
        self.capture = os.path.join(self.folder, "live.pfb")

    def offered(self, name):
        """The names of a counterset's counters by id; empty if this machine
        does not have the set."""
        return {item["id"]: item["name"]
                for item in self.run_json("countersets")
                if item["record"] == "counter" and item["set"] == name}

    def record_between(self, read, *arguments, patience=SHORT):
        """Record one sample between two readings and return both. Retries for
        some time until the readings are equal."""
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
        """Record one sample between two equal readings and return the reading.
        """
        before, after = self.record_between(read, *arguments,
                                            patience=PATIENCE)
        self.assertEqual(before, after, "the kernel's numbers changed during "
                         "every sample")
        return before

    def samples(self):
        """The recorded samples: for each its clocks, and raw values by
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
    """Whether a count modulo `size` lies between two readings, between which
    it may have wrapped. Equal readings allow only that value."""
    return (value - low) % size <= (high - low) % size


def elapsed(older, newer, clock):
    """The difference of two samples in ticks of one of their clocks."""
    return newer[0][clock] - older[0][clock]


def rate(difference, older, newer):
    """The displayed rate per second of a count that grew by `difference`."""
    return quotient(difference * newer[0]["perf_freq"],
                    elapsed(older, newer, "perf_time"))


def quotient(numerator, denominator):
    """The displayed value of a quotient."""
    if denominator == 0:
        return ("zero_denominator", None)
    return ("ok", float(Fraction(numerator, denominator)))
