# SPDX-License-Identifier: MIT
"""report with a recording of all counters of this machine, and without one."""

import os
import signal
import subprocess
import time
import unittest

import browser
import pages
from program import LiveCase, program
from test_report import ReportCase
from test_streaming import OnTerminal


class LiveReport(LiveCase, ReportCase):
    """Reports of this machine."""

    def record(self):
        """A recording with three samples of all counters."""
        path = os.path.join(self.folder, "all.pfb")
        self.run_fine("record", "-o", path, "--set", "*", "--count", "3",
                      "--interval", "0.2")
        return path

    def test_values(self):
        """The page of a recording of this machine has the values of cook."""
        path = self.record()
        page = self.report(path)
        self.assertGreater(len(page.lines), 50)
        self.assert_cooked(page, path)

    def test_without_a_recording(self):
        """report live ends after --count samples or --duration."""
        for limit in (("--count", "3"), ("--duration", "0.5")):
            page = self.report("live", "--interval", "0.1", *limit)
            facts = page.facts()
            self.assertEqual(facts["Source"], "this machine")
            self.assertGreaterEqual(int(facts["Samples"]), 3)
            self.assertEqual({key[1] for key in page.lines},
                             {"Processor Information"})
            for line in page.lines.values():
                self.assertEqual(line.values + line.gaps,
                                 int(facts["Samples"]))

    def test_an_interruption_ends_the_samples(self):
        """After SIGINT the page has the samples so far; the status is 0."""
        path = os.path.join(self.folder, "a.html")
        with subprocess.Popen(
                [program(), "report", "live", "--interval", "0.05",
                 "--set", "Memory", "-o", path]) as running:
            time.sleep(1)
            running.send_signal(signal.SIGINT)
            self.assertEqual(running.wait(timeout=30), 0)
        with open(path, encoding="utf-8") as file:
            page = pages.Report(file.read())
        self.assertGreater(int(page.facts()["Samples"]), 1)

    def test_progress(self):
        """On a terminal the number of samples so far is shown, and removed at
        the end."""
        path = os.path.join(self.folder, "a.html")
        status, text = OnTerminal(
            "report", "live", "--count", "8", "--interval", "0.1",
            "-o", path, shared=True).end()
        self.assertEqual(status, 0, text)
        self.assertIn("live: 1 sample, ", text)
        self.assertTrue(text.endswith("\r\033[K"), text)

    def test_unknown_names(self):
        """An unknown counterset is reported, and no page is written."""
        done = self.run_program("report", "live", "--set", "None")
        self.assertEqual((done.status, done.out), (2, ""))
        self.assertIn("None", done.err)

    @unittest.skipIf(browser.missing(), browser.missing())
    def test_in_a_browser(self):
        """A page of this machine draws all its charts without messages or
        requests."""
        path = self.record()
        count = len(self.report(path).articles)
        html = os.path.join(self.folder, "all.html")
        self.run_fine("report", path, "-o", html)
        with browser.Browser() as page:
            page.load(html)
            page.run("scrollTo(0, document.body.scrollHeight)")
            page.settle()
            self.assertEqual((page.console(), page.requests()), ([], []))
            self.assertEqual(page.run("document.querySelectorAll("
                                      "'article .line').length > 0 && "
                                      "document.querySelectorAll('article')"
                                      ".length"), count)


if __name__ == "__main__":
    unittest.main()
