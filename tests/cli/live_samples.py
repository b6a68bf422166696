# SPDX-License-Identifier: MIT
"""Compares samples of this machine with the files from which the kernel's
counts can be read, such as /proc/stat.

A test reads a file, records a sample, and reads the file again. The count in
the sample must lie between the two readings; if they are equal, it must equal
them. Some counts change all the time if the machine is never idle."""

import os
import time
from fractions import Fraction

from program import Case

# Seconds for which a test tries to get equal readings: if it requires them,
# and if it does not.
REQUIRED_SECONDS, OPTIONAL_SECONDS = 30.0, 3.0


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

    def record_between(self, read, *arguments, seconds=OPTIONAL_SECONDS):
        """Records one sample between two calls of `read` and returns what they
        returned. Tries again for some seconds until both are equal."""
        end = time.monotonic() + seconds
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
        """Records one sample between two equal readings and returns the
        reading."""
        before, after = self.record_between(read, *arguments,
                                            seconds=REQUIRED_SECONDS)
        self.assertEqual(before, after, "the kernel's numbers changed during "
                         "every sample")
        return before

    def samples(self):
        """The recorded samples as (record with the clocks, {(instance id,
        name): {counter id: raw value}})."""
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
        """{counter name: (status, value)} of an instance, computed from the
        last two samples."""
        items = self.run_json("cook", self.capture, "--set", counterset)
        last = max(item["sample"] for item in items)
        found = {item["counter"]: (item["status"], item["value"])
                 for item in items
                 if (item["sample"], item["instance"]) == (last, instance)}
        self.assertTrue(found, instance)
        return found


class CountCase(LiveCase):
    """A test of counts that may change while a sample is taken."""

    def setUp(self):
        super().setUp()
        self.exact = 0  # nonzero counts that were compared exactly

    def expect_counts(self, counts_of, readings, values, sizes):
        """Asserts that each raw value lies between the counts that `counts_of`
        computes from two readings. `sizes` are {counter: value at which it
        wraps}, if not 2^64."""
        low, high = (counts_of(numbers) for numbers in readings)
        for counter, value in values.items():
            if counter not in low:
                continue
            self.assertTrue(
                is_between(low[counter], value, high[counter],
                           sizes.get(counter, 2**64)),
                (counter, low[counter], value, high[counter]))
            self.exact += low[counter] == high[counter] != 0
        self.assertLessEqual(low.keys(), values.keys())


def is_between(low, value, high, size):
    """Whether a count that wraps at `size` lies between two readings. It may
    wrap between them. If they are equal, only that value does."""
    return (value - low) % size <= (high - low) % size


def elapsed(older, newer, clock):
    """The ticks of a clock between two samples."""
    return newer[0][clock] - older[0][clock]


def rate(difference, older, newer):
    """(status, value) of the rate per second of a count that grew by
    `difference`."""
    return quotient(difference * newer[0]["perf_freq"],
                    elapsed(older, newer, "perf_time"))


def quotient(numerator, denominator):
    """(status, value) of a quotient."""
    if denominator == 0:
        return ("zero_denominator", None)
    return ("ok", float(Fraction(numerator, denominator)))
