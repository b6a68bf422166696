# SPDX-License-Identifier: MIT
"""The countersets that Linux has for programs which ask for those of Windows,
compared with /proc and with the tools of the system.

The environment variable PERFBLOCK is the path of the program.
"""

import os
import sys
import unittest

from live_samples import CountCase

TICK = 10**7 // os.sysconf("SC_CLK_TCK")  # in units of 100 ns
TOTAL = (0xFFFFFFFE, "_Total")


def read_text(path):
    """The text of a file."""
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


@unittest.skipUnless(sys.platform == "linux", "needs the live source of Linux")
class Processors(CountCase):
    """The counterset Processor against /proc/stat."""

    @staticmethod
    def read():
        """{CPU: its times} of /proc/stat, in ticks."""
        lines = [line.split() for line in read_text("/proc/stat").splitlines()
                 if line.startswith("cpu") and line[3] != " "]
        return {int(words[0][3:]): [int(word) for word in words[1:8]]
                for words in lines}

    @staticmethod
    def counts(times):
        """{counter id: time in units of 100 ns}."""
        user, nice, system, idle, iowait, irq, softirq = times
        ticks = {0: idle + iowait, 1: user + nice, 2: system + irq + softirq,
                 4: softirq, 5: irq, 8: idle + iowait}
        return {counter: count * TICK for counter, count in ticks.items()}

    def test_times(self):
        """The times of each processor are those of its line, and the total is
        their mean."""
        low, high = self.record_between(self.read, "--set", "Processor")
        values = self.samples()[0][1]
        self.assertEqual(list(values), [*((cpu, str(cpu)) for cpu in low),
                                        TOTAL])
        for cpu in low:
            self.expect_counts(self.counts, (low[cpu], high[cpu]),
                               values[cpu, str(cpu)], {})
        total = values.pop(TOTAL)
        for counter in self.counts([0] * 7):
            self.assertEqual(total[counter], sum(
                counters[counter] for counters in values.values())
                // len(values))


if __name__ == "__main__":
    unittest.main()
