#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints how long a headless Chromium takes until it has drawn a page and
reacts to input, and the processor time that the page's main thread uses until
then. Both are medians of several loads, each in a new browser.

Usage: bench/pages.py PAGE..."""

import pathlib
import statistics
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent /
                       "tests" / "cli"))

import browser  # noqa: E402 (found only by the path added above)

RUNS = 5


def measure(page):
    """Loads a page in a new browser. Returns the seconds from the start of the
    load until the page is drawn and reacts, and the seconds of processor time
    that parsing, scripts, layout and drawing took."""
    with browser.Browser() as chromium:
        chromium.call("Performance.enable", timeDomain="threadTicks")
        begin = time.monotonic()
        chromium.load(page)
        chromium.settle()
        elapsed = time.monotonic() - begin
        metrics = chromium.call("Performance.getMetrics")["metrics"]
        return elapsed, next(m["value"] for m in metrics
                             if m["name"] == "TaskDuration")


def main():
    """Measures the pages that the arguments name."""
    for name in sys.argv[1:]:
        page = pathlib.Path(name).resolve()
        elapsed, used = zip(*(measure(page) for _ in range(RUNS)))
        print("%s: %.2f s (%.2f to %.2f), processor time %.2f s" % (
            name, statistics.median(elapsed), min(elapsed), max(elapsed),
            statistics.median(used)))


if __name__ == "__main__":
    main()
