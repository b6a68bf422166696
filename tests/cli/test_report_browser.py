# SPDX-License-Identifier: MIT
"""The pages of `report` and `show -f html` in a browser: they print nothing on the
console and request nothing; lines can be switched off, the time range can be
changed, and structures fold."""

import glob
import os
import re
import unittest

import browser
import captures as c
import pages
from test_report import HOSTILE, hostile_capture, recording
from program import ON_WINDOWS, Case, needs_real_data, real, seed

# A seed with an error, and an expression for the texts of elements that match a
# CSS selector.
BROKEN = "broken_rule03_size_below_header.bin"
TEXTS = "Array.from(document.querySelectorAll('%s'), e => e.textContent)"


@unittest.skipIf(ON_WINDOWS, "the pages are the same as on Linux")
@unittest.skipIf(browser.missing(), browser.missing())
class InBrowser(Case):
    """A test with a browser; all tests of a class share it."""

    @classmethod
    def setUpClass(cls):
        cls.browser = browser.Browser()

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()

    def setUp(self):
        super().setUp()
        self.browser.resize(1280, 900)

    def load(self, *arguments):
        """Loads the report that these arguments give, with times in UTC;
        returns its path."""
        path = os.path.join(self.folder, "page.html")
        self.run_fine("report", *arguments, "-o", path, zone="UTC0")
        self.browser.load(path)
        self.browser.settle()
        self.assert_silent()
        return path

    def assert_silent(self):
        """Asserts that the page caused no console message, no exception and no
        request."""
        self.assertEqual(self.browser.console(), [])
        self.assertEqual(self.browser.requests(), [])

    def evaluate(self, expression):
        """The value of a JavaScript expression in the page."""
        return self.browser.run(expression)

    def texts(self, selector):
        """The texts of the elements that match a CSS selector."""
        return self.evaluate(TEXTS % selector)

    def path_of(self, chart, number):
        """The SVG path of a line of a chart."""
        return self.evaluate(
            "document.querySelectorAll('#chart-%d .line')[%d]"
            ".getAttribute('d')" % (chart, number))

    def low_and_high(self):
        """A capture of ten seconds with two charts of two lines: in the first
        one, line `high` has much larger values than line `low`."""
        return self.file("a.pfb", recording(
            [(c.LARGE_RAW, "A"), (c.LARGE_RAW, "B")],
            [{"low": [n, n], "high": [1000 * n, 5]} for n in range(11)]))


class Pages(InBrowser):
    """Reports of several kinds of input."""

    def test_charts_are_drawn(self):
        """Each chart has its lines, a checkbox for each of them, and one for all
        of them if there are several."""
        self.load(self.file("a.pfb", c.three_sets()))
        self.assertEqual(self.evaluate(
            "document.querySelectorAll('article svg').length"), 5)
        self.assertEqual(self.evaluate(  # 10 lines; 3 charts have several
            "document.querySelectorAll('input[type=checkbox]').length"), 13)
        self.assertEqual(self.evaluate(
            "Array.from(document.querySelectorAll('article'), e => "
            "e.querySelectorAll('.line').length)"), [2, 3, 3, 1, 1])

    def test_hostile_names(self):
        """Names that look like HTML add no element, and do not break switching
        lines off."""
        self.load(self.file("a.pfb", hostile_capture()))
        self.assertEqual(
            self.evaluate("document.querySelectorAll('article').length"),
            len(HOSTILE))
        names = [pages.shown(name.replace("\ud800", "\ufffd"))
                 for name in HOSTILE]
        self.assertEqual(self.texts("#chart-0 tbody th"), names)
        self.assertEqual(self.evaluate(
            "document.querySelectorAll('script, img, [onclick]').length"), 2)
        self.evaluate("document.querySelectorAll('input').forEach(box => "
                      "box.click())")
        self.browser.settle()
        self.evaluate("document.querySelector('.area').focus()")
        self.browser.key("ArrowRight")
        self.assert_silent()

    @needs_real_data
    def test_captured_v1(self):
        """The page of captured blocks has all its charts."""
        files = sorted(glob.glob(real("v1", "*.bin")))
        path = self.load(*files, "--names", real("v1", "names-009.tsv"))
        with open(path, encoding="utf-8") as file:
            count = len(pages.Report(file.read()).articles)
        self.assertEqual(
            self.evaluate("document.querySelectorAll('article').length"),
            count)
        self.evaluate("scrollTo(0, document.body.scrollHeight)")
        self.browser.settle()
        self.assert_silent()

    @needs_real_data
    def test_captured_logs(self):
        """Charts are drawn; the time range changes, and a line can be switched
        off."""
        for name, count in (("win8-counters.blg", 6),
                            ("many-machines.blg", 26)):
            self.load(real("blg", name))
            self.assertEqual(self.evaluate(
                "document.querySelectorAll('article .line').length >= %d && "
                "document.querySelectorAll('article').length" % count), count)
            before = self.path_of(0, 0)
            self.assertRegex(before, r"^M[\d.]+ [\d.]+")
            self.evaluate("document.querySelector('#tools button').click()")
            self.browser.settle()
            self.assertNotEqual(self.path_of(0, 0), before)
            self.evaluate("document.querySelector('tbody input').click()")
            self.browser.settle()
            self.assertEqual(self.evaluate(
                "getComputedStyle(document.querySelector('#chart-0 .line'))"
                ".display"), "none")
            self.assert_silent()

    def test_widths(self):
        """The page is not wider than the window."""
        for path in (self.low_and_high(),
                     self.file("h.pfb", hostile_capture())):
            self.load(path)
            for width in (360, 768, 1920):
                self.browser.resize(width, 900)
                self.browser.settle()
                self.assertLessEqual(self.evaluate(
                    "document.documentElement.scrollWidth"), width)

    def test_without_samples(self):
        """A page without samples has no controls."""
        self.load(self.file("a.pfb", recording([(c.BULK, "A")], [])),
                  "--quiet")
        self.assertEqual(self.texts("button"), [])

    def test_without_script(self):
        """If the browser runs no scripts, the page still has its charts, names
        and figures, but no controls."""
        self.browser.call("Emulation.setScriptExecutionDisabled", value=True)
        try:
            path = os.path.join(self.folder, "a.html")
            self.run_fine("report", self.low_and_high(), "-o", path)
            self.browser.load(path)
            self.assert_silent()
        finally:
            self.browser.call("Emulation.setScriptExecutionDisabled",
                              value=False)
        self.assertEqual(self.texts("button"), [])
        self.assertEqual(self.texts("#chart-0 tbody th"), ["low", "high"])
        box = self.evaluate("(({width, height}) => [width, height])(document."
                            "querySelectorAll('.line')[1]"
                            ".getBoundingClientRect())")
        self.assertGreater(min(box), 0)


class Use(InBrowser):
    """What mouse and keyboard do on a report."""

    def test_a_line_is_switched_off_and_on(self):
        """The axis is adapted to the lines that are on."""
        self.load(self.low_and_high())
        before = [self.path_of(0, 0), self.texts("#chart-0 .values span")]
        self.assertEqual(before[1][0], "10 k")
        click = "document.querySelectorAll('#chart-0 tbody input')[1].click()"
        self.evaluate(click)
        self.browser.settle()
        self.assertEqual(self.texts("#chart-0 .values span"),
                         ["10", "7.5", "5", "2.5", "0"])
        self.assertNotEqual(self.path_of(0, 0), before[0])
        hidden = ("getComputedStyle(document.querySelectorAll("
                  "'#chart-0 .line')[1]).display")
        self.assertEqual(self.evaluate(hidden), "none")
        self.assertEqual(self.texts("#chart-1 .values span")[0], "10")
        self.evaluate(click)
        self.browser.settle()
        self.assertNotEqual(self.evaluate(hidden), "none")
        self.assertEqual(self.texts("#chart-0 .values span"), before[1])

    def test_all_lines_of_a_table(self):
        """The checkbox in the head of a table switches its lines, and shows
        whether all, none or some of them are on."""
        self.load(self.low_and_high())
        boxes = "Array.from(document.querySelectorAll('#chart-0 input'), "
        state = boxes + "b => b.indeterminate ? 'some' : b.checked)"
        for number, expected in ((0, [False, False, False]),
                                 (2, ["some", False, True]),
                                 (1, [True, True, True])):
            self.evaluate(boxes + "b => b)[%d].click()" % number)
            self.browser.settle()
            self.assertEqual(self.evaluate(state), expected)
            self.assertEqual(self.evaluate(
                "Array.from(document.querySelectorAll('#chart-0 .line'), "
                "path => getComputedStyle(path).display !== 'none')"),
                expected[1:])
        self.assert_silent()

    def test_20000_lines(self):
        """Lines that are not drawn at first are drawn when they are switched
        on."""
        self.load(self.file("a.pfb", recording(
            [(c.LARGE_RAW, "A")],
            [{"i%d" % i: [i] for i in range(20000)}] * 3)))
        count = "document.querySelectorAll('%s').length"
        self.assertEqual(self.evaluate(count % ".line"), 36)
        self.assertEqual(self.evaluate(count % "input"), 37)
        self.assertEqual(self.evaluate(count % "article tbody tr"), 20000)
        self.evaluate("document.querySelectorAll('details')[1].open = true")
        self.browser.settle()
        self.assertEqual(self.evaluate(count % "input"), 37 + 501)
        line = "document.querySelectorAll('details input')[1]"
        self.assertEqual(self.evaluate(
            line + ".closest('tr').querySelector('span').textContent"),
            "i%d" % (20000 - 36 - 500 - 1))
        self.evaluate(line + ".click()")
        self.browser.settle()
        self.assertEqual(self.evaluate(count % ".line"), 37)
        # 19463 on an axis from 0 to 20000, 500 units high.
        self.assertRegex(self.path_of(0, 36),
                         r"^M0\.0 13\.4L1000\.0 13\.4L2000\.0 13\.4$")
        self.evaluate(line + ".click()")
        self.browser.settle()
        self.assertEqual(self.evaluate(
            "getComputedStyle(document.querySelectorAll('.line')[36])"
            ".display"), "none")
        self.assert_silent()

    def test_the_script_draws_what_the_program_drew(self):
        """The script draws the same positions as the program, within one unit.
        A chart is 2000 units wide and 500 high."""
        self.load(self.low_and_high())
        before = [self.path_of(0, n) for n in range(2)]
        self.evaluate("document.querySelector('#tools button:last-of-type')"
                      ".click()")
        self.browser.settle()
        for number, path in enumerate(before):
            after = self.path_of(0, number)
            self.assertEqual(re.sub(r"[\d. ]+", "", after),
                             re.sub(r"[\d. ]+", "", path))
            for a, b in zip(re.findall(r"[\d.]+", after),
                            re.findall(r"[\d.]+", path)):
                self.assertAlmostEqual(float(a), float(b), delta=0.6)

    def times(self, chart):
        """The first and last time below a chart."""
        found = self.texts("#chart-%d .times span" % chart)
        return found[0], found[-1]

    def test_the_smallest_values(self):
        """The script redraws a chart whose axis would have a subnormal step.
        """
        self.load(self.file("a.csv", (
            '"(PDH-CSV 4.0)","\\\\PC\\A(x)\\B","\\\\PC\\A(y)\\B"\r\n'
            '"01/01/2025 00:00:00.000","3e-323","0"\r\n'
            '"01/01/2025 00:00:01.000","0","3e-323"\r\n').encode()))
        self.evaluate("document.querySelectorAll('input')[0].click()")
        self.evaluate("document.querySelectorAll('input')[0].click()")
        self.browser.settle()
        for number in range(2):
            self.assertEqual(self.path_of(0, number),
                             "M0.0 500.0L2000.0 500.0")
        self.assert_silent()

    def test_zoom_by_buttons(self):
        """The buttons change the time range of all charts."""
        self.load(self.low_and_high())
        self.assertEqual(self.times(0), ("04:26:40", "04:26:50"))
        self.evaluate("document.querySelector('#tools button').click()")
        self.browser.settle()
        for chart in range(2):
            self.assertEqual(self.times(chart),
                             ("04:26:42.500", "04:26:47.500"))
        self.assertEqual(self.texts("#chart-0 .values span")[0], "8 k")
        buttons = self.texts("#tools button")
        for name, expected in (("Later", ("04:26:45.000", "04:26:50.000")),
                               ("Earlier", ("04:26:42.500", "04:26:47.500")),
                               ("Zoom out", ("04:26:40", "04:26:50")),
                               ("Zoom in", ("04:26:42.500", "04:26:47.500")),
                               ("All times", ("04:26:40", "04:26:50"))):
            self.evaluate("document.querySelectorAll('#tools button')[%d]"
                          ".click()" % buttons.index(name))
            self.browser.settle()
            self.assertEqual(self.times(1), expected, name)

    def first_chart(self):
        """Scrolls to the first chart; returns its left edge, width and top."""
        self.evaluate("document.querySelector('.area').scrollIntoView("
                      "{block: 'center'})")
        self.browser.settle()
        return self.evaluate(
            "(box => [box.left, box.width, box.top])(document.querySelector("
            "'.area').getBoundingClientRect())")

    def test_zoom_by_dragging(self):
        """Dragging over a chart selects a time range for all charts."""
        self.load(self.low_and_high())
        left, width, top = self.first_chart()
        self.browser.drag((left + width * 0.2, top + 50),
                          (left + width * 0.6, top + 60))
        begin, end = (float(t[6:]) for t in self.times(1))
        self.assertAlmostEqual(begin, 42, delta=0.1)
        self.assertAlmostEqual(end, 46, delta=0.1)
        self.assert_silent()

    def test_keys(self):
        """Arrow keys read values; plus, minus and Escape change the time
        range."""
        self.load(self.file("a.pfb", recording(
            [(c.BULK, "A")], [{"x": [v]} for v in (0, 4, 8, 7, 11)])))
        self.evaluate("document.querySelector('.area').focus()")
        notes = []
        for _ in range(4):
            self.browser.key("ArrowRight")
            notes.append(self.texts(".note li"))
        self.assertEqual(notes, [
            ["2022-06-18 04:26:40.000+00:00", "x: no value: need_two_samples"],
            ["2022-06-18 04:26:41.000+00:00", "x: 4"],
            ["2022-06-18 04:26:42.000+00:00", "x: 4"],
            ["2022-06-18 04:26:43.000+00:00", "x: no value: negative_delta"]])
        self.browser.key("+")
        self.assertEqual(self.times(0), ("04:26:41.500", "04:26:43.500"))
        self.browser.key("-")
        self.browser.key("Escape")
        self.assertEqual(self.times(0), ("04:26:40.000", "04:26:44.000"))

    def test_values_at_the_pointer(self):
        """The note at the pointer lists the values of the nearest sample."""
        self.load(self.low_and_high())
        left, width, top = self.first_chart()
        self.browser.mouse("mouseMoved", left + width * 0.31, top + 50)
        self.browser.settle()
        self.assertEqual(self.texts("#chart-0 .note li")[1:],
                         ["low: 3", "high: 3000"])

    def note(self, sample):
        """The values that the first chart's note lists at a sample."""
        self.evaluate("document.querySelector('.area').focus()")
        for _ in range(sample + 1):
            self.browser.key("ArrowRight")
        found = self.texts("#chart-0 .note li")[1:]
        self.evaluate("document.querySelector('.area').blur()")
        return found

    def test_notes_of_lines_with_other_samples(self):
        """The note lists a line from its first sample to its last."""
        samples = [{"a": [5]}, {"a": [6], "b": [1]}, {"a": [7]},
                   {"a": [8], "b": [3]}, {"a": [9]}]
        self.load(self.file("a.pfb", recording([(c.LARGE_RAW, "A")],
                                               samples)))
        self.assertEqual([self.note(n) for n in range(5)], [
            ["a: 5"], ["a: 6", "b: 1"], ["a: 7", "b: no value: absent"],
            ["a: 8", "b: 3"], ["a: 9"]])

    def test_notes_of_many_lines(self):
        """The note lists the twelve lines with the largest values."""
        self.load(self.file("a.pfb", recording(
            [(c.LARGE_RAW, "A")],
            [{"i%d" % i: [i] for i in range(14)}] * 2)))
        self.assertEqual(self.note(0), ["i%d: %d" % (i, i) for i in range(
            13, 1, -1)] + ["and 2 more"])

    def test_links_lead_to_countersets(self):
        """A link scrolls to its counterset, also past tables that the browser
        has not laid out yet."""
        names = ["Set %d" % n for n in range(6)]
        path = self.file("a.csv", ('"(PDH-CSV 4.0) (UTC)(0)",' + ",".join(
            '"\\\\M\\%s(i%d)\\C%d"' % (name, i, n) for name in names
            for n in range(4) for i in range(n * 8 + 1)) + "\r\n" +
            '"01/02/2013 03:04:05.000"' + ',"1"' * (6 * 52) +
            "\r\n").encode())
        self.load(path)
        for number in (5, 2, 4):
            self.evaluate("document.querySelector('a[href=\"#set-%d\"]')"
                          ".click()" % number)
            self.browser.settle()
            top = self.evaluate("document.getElementById('set-%d')"
                                ".getBoundingClientRect().top" % number)
            self.assertTrue(0 <= top < 100, (number, top))


class Explained(InBrowser):
    """The page of `show -f html`."""

    def test_structures_fold(self):
        """Structures can be folded; no element is wider than the window."""
        path = os.path.join(self.folder, "a.html")
        self.run_fine("show", "-f", "html", self.file("a.pfb", hostile_capture()), "-o",
                      path)
        self.browser.load(path)
        self.browser.settle()
        self.assert_silent()
        inner = "document.querySelector('details details')"
        self.assertGreater(self.evaluate("document.querySelectorAll('details')"
                                         ".length"), len(HOSTILE))
        self.evaluate("document.querySelectorAll('details').forEach("
                      "part => part.open = true)")
        self.browser.settle()
        self.assertGreater(self.evaluate(inner + ".offsetHeight"), 50)
        self.evaluate(inner + ".querySelector('summary').click()")
        self.browser.settle()
        self.assertLess(self.evaluate(inner + ".offsetHeight"), 50)
        for width in (360, 800, 1920):
            self.browser.resize(width, 900)
            self.browser.settle()
            self.assertLessEqual(self.evaluate(
                "document.documentElement.scrollWidth"), width)
        self.assert_silent()

    @needs_real_data
    def test_a_captured_log(self):
        """A structure can be unfolded; no element is wider than the window."""
        path = os.path.join(self.folder, "a.html")
        done = self.run_program("show", "-f", "html", real(
            "blg", "vista-objects-cut.blg"), "-o", path)
        self.assertEqual(done.status, 1)
        self.browser.load(path)
        self.browser.settle()
        record = ("Array.from(document.querySelectorAll("
                  "'details:not([open])')).find(part => part.querySelector("
                  "'summary b').textContent === 'Record')")
        before = self.evaluate(record + ".offsetHeight")
        self.evaluate("(part => (part.id = 'record', part.open = true))(%s)" %
                      record)
        self.browser.settle()
        self.assertGreater(self.evaluate(
            "document.getElementById('record').offsetHeight"), before + 50)
        for width in (360, 1920):
            self.browser.resize(width, 900)
            self.browser.settle()
            self.assertLessEqual(self.evaluate(
                "document.documentElement.scrollWidth"), width)
        self.assert_silent()

    def test_the_link_of_an_error_leads_to_its_row(self):
        """A click on an error marks the row with its message."""
        path = os.path.join(self.folder, "a.html")
        done = self.run_program("show", "-f", "html", seed("v2", BROKEN), "-o", path)
        self.assertEqual(done.status, 1)
        self.browser.load(path)
        self.evaluate("document.querySelector('.errors a').click()")
        self.browser.settle()
        self.assertIn("bad_result_size", self.evaluate(
            "document.querySelector('tr:target').textContent"))


if __name__ == "__main__":
    unittest.main()
