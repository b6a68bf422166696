# SPDX-License-Identifier: MIT
"""live --format prometheus with the counters of this machine."""

import os
import re
import shutil
import signal
import subprocess
import time
import unittest

from expositions import (MetricsCase, expected_value, read_exposition,
                         table_of_types)
from program import ON_WINDOWS, SECONDS, LiveCase, program


class Machine(LiveCase, MetricsCase):
    """All countersets of this machine."""

    def test_promtool(self):
        """promtool accepts all metrics of this machine."""
        if not shutil.which("promtool"):
            self.skipTest("promtool is not installed: its checks are left out")
        self.metrics("--set", "*")

    def test_all_sets(self):
        """Each counterset of this machine has metrics."""
        found = self.metrics("--set", "*")
        has_swap = False
        if os.path.exists("/proc/swaps"):
            with open("/proc/swaps", encoding="utf-8") as swaps:
                has_swap = len(swaps.readlines()) > 1
        for item in self.offered:
            if item["record"] != "counterset":
                continue
            if item["name"] == "Paging File" and not has_swap:
                continue  # there are no instances
            prefix = "perfblock_%s_" % re.sub(
                "[^a-z0-9]+", "_", item["name"].lower())
            self.assertTrue([name for name in found
                             if name.startswith(prefix)], prefix)

    def test_values_are_those_of_a_recording(self):
        """Each metric of a recording follows from the values that cook prints
        for its counter."""
        path = os.path.join(self.folder, "a.pfb")
        self.run_fine("record", "-o", path, "--set", "*", "--count", "2",
                      "--interval", "0.1")
        table = table_of_types()
        scale = {"KBytes": 1024, "MBytes": 1048576, "Megabytes": 1048576,
                 "Frequency": 1000000,
                 "Bandwidth": 1 / 8}
        raw = {}
        for item in self.run_json("cook", path):
            if not (item["instance"] or "").endswith("_Total"):
                raw.setdefault((item["sample"], item["counter"],
                                item["instance"]), []).append(item)
        frequency = [item["perf_freq"] for item in self.run_json("show", path)
                     if item["record"] == "data"][0]
        found = self.expositions("--set", "*", "--count", "2", machine=path)
        self.assertEqual(len(found), 2)
        count = 0
        for sample, metrics in enumerate(found):
            for name, (kind, text, points) in metrics.items():
                counter, counter_type = re.match(
                    r"(.*?) \((PERF_\w+)\)", text).groups()
                self.assertEqual(table[counter_type][0], kind, name)
                for labels, value in points.items():
                    labels = dict(labels)
                    items = [
                        item for item in raw[sample, counter,
                                             labels.get("instance")]
                        if labels.get("instance_id") in (
                            None, str(item["instance_id"]))]
                    factor = scale.get(counter.split()[-1], 1)
                    shown = [self.value(table[counter_type][2], item,
                                        frequency, factor) for item in items]
                    self.assertIn(value, shown, (name, labels))
                    count += 1
        self.assertGreater(count, 50)

    def value(self, formula, item, frequency, factor):
        """The value of a metric, computed from an object of cook's JSON."""
        if "PerfFreq" in formula:
            seconds = item["raw"] / frequency
            return ((seconds, item["base"]) if formula.startswith("sum")
                    else seconds)
        value = expected_value(formula, item, None)
        return value if isinstance(value, tuple) else value * factor

    def test_totals_do_not_fall(self):
        """Totals do not fall from one sample of a run to the next. From one
        run to another they may also wrap at 2^32, which only a single run
        corrects (docs/prometheus.md)."""
        runs = self.expositions("--set", "*", "--count", "2", "--interval",
                                "0.2") + [self.metrics("--set", "*")]
        compared = 0
        for older, newer in zip(runs, runs[1:]):
            for name, (kind, _, points) in older.items():
                later = newer.get(name, (0, 0, {}))[2]
                for labels in points.keys() & later.keys():
                    if kind == "gauge":
                        continue
                    # The kernel's own counts of idle time may fall.
                    if "idle" in name or "inactive" in name:
                        continue
                    old, new = points[labels], later[labels]
                    if newer is runs[-1]:
                        if kind == "summary" or (new - old) % 2 ** 32 < 2 ** 31:
                            continue
                    self.assertLessEqual(old, new, (name, labels))
                    compared += 1
        self.assertGreater(compared, 20)

    def test_until_interrupted(self):
        """With -o FILE, live runs until it is interrupted. A reader never sees
        an incomplete file."""
        if ON_WINDOWS:
            self.skipTest("Windows has other signals")
        path = os.path.join(self.folder, "a.prom")
        with subprocess.Popen([program(), "live", "--format", "prometheus",
                               "-o", path, "--set", "*", "--interval",
                               "0.01"]) as running:
            seen = set()
            end = time.monotonic() + SECONDS
            while len(seen) < 5 and time.monotonic() < end:
                if not os.path.exists(path):
                    time.sleep(0.001)
                    continue
                with open(path, encoding="utf-8") as file:
                    seen.add(os.fstat(file.fileno()).st_ino)
                    text = file.read()
                self.assertTrue(text.endswith("\n"))
                self.assertIn("\n# TYPE perfblock_system_threads gauge\n",
                              text)
                read_exposition(text)
            running.send_signal(signal.SIGTERM)
            self.assertEqual(running.wait(timeout=SECONDS), 0)
        self.assertGreater(len(seen), 1)
        self.assertEqual(os.listdir(self.folder), ["a.prom"])

    def test_context_switches(self):
        """The metric lies between two readings of the kernel's count."""
        def now():
            with open("/proc/stat", encoding="ascii") as file:
                return int(re.search(r"(?m)^ctxt (\d+)$", file.read())[1])
        if not os.path.exists("/proc/stat"):
            self.skipTest("only Linux has /proc/stat")
        low = now()
        found = self.metrics("--set", "System")
        high = now()
        name = "perfblock_system_context_switches_total"
        value = found[name][2][()]
        self.assertTrue((value - low) % 2 ** 32 <= (high - low), name)


if __name__ == "__main__":
    unittest.main()
