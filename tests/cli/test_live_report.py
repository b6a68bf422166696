# SPDX-License-Identifier: MIT
"""The report of a recording of all counters of this machine."""

import os
import unittest

import browser
from program import LiveCase
from test_report import ReportCase


class LiveReport(LiveCase, ReportCase):
    """The values are those of cook, and a browser draws every chart."""

    def record(self):
        """A recording with three samples of all counters."""
        path = os.path.join(self.folder, "all.pfb")
        self.run_fine("record", "-o", path, "--set", "*", "--count", "3",
                      "--interval", "0.2")
        return path

    def test_values(self):
        path = self.record()
        page = self.report(path)
        self.assertGreater(len(page.lines), 50)
        self.assert_cooked(page, path)

    @unittest.skipIf(browser.missing(), browser.missing())
    def test_in_a_browser(self):
        path = self.record()
        count = len(self.report(path).articles)
        html = os.path.join(self.folder, "all.html")
        self.run_fine("report", path, "-o", html)
        with browser.Browser() as page:
            page.load(html)
            page.run("scrollTo(0, document.body.scrollHeight)")
            page.settle()
            self.assertEqual((page.complaints(), page.requests()), ([], []))
            self.assertEqual(page.run("document.querySelectorAll("
                                      "'article .line').length > 0 && "
                                      "document.querySelectorAll('article')"
                                      ".length"), count)


if __name__ == "__main__":
    unittest.main()
