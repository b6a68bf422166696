# SPDX-License-Identifier: MIT
"""The page of `report`, parsed without a browser: its numbers, which must be
those of cook, its charts, and hostile names."""

import collections
import datetime
import glob
import os
import random
import re
import struct
import unittest
from fractions import Fraction

import captures as c
import pages
from program import (ON_WINDOWS, Case, bytes_of, needs_real_data, real,
                     writer as w)

# Types of bases, which have no displayed value.
HIDDEN = ("PERF_RAW_BASE", "PERF_SAMPLE_BASE", "PERF_AVERAGE_BASE",
          "PERF_COUNTER_MULTI_BASE", "PERF_LARGE_RAW_BASE",
          "PERF_PRECISION_TIMESTAMP")

HOSTILE = ["</script><script>alert(1)</script>", "<!--", "]]>", "&amp;",
           "\"><img src=x onerror=alert(1)>", "' onclick='alert(1)",
           "</title></style></svg>", "\u202edrowssap\u2066", "\u2028\u2029",
           "javascript:alert(1)", "}*{display:none", "x" * 60000, "\ud800",
           "</SCRIPT >", "{{7*7}}${7*7}", "\u0627\u0644\u0639"]


def recording(counters, samples, name="Alpha Disk"):
    """A capture of one set. `counters` are (type, name); `samples` are
    {instance: values of its counters}."""
    rows = [(i, kind, text) for i, (kind, text) in enumerate(counters)]
    ids = [row[0] for row in rows]
    chunks = [c.metadata(c.DISK, name, rows),
              w.chunk(b"QINF", w.identifier(c.DISK, name="*", index=0))]
    instance_ids = {}
    for number, values in enumerate(samples):
        chunks.append(c.data(number, c.instances_result(
            ids, [(instance_ids.setdefault(instance, len(instance_ids)),
                   instance, numbers)
                  for instance, numbers in values.items()])))
    return w.recording(*chunks)


BREAKS = ("absent", "no_sample")  # points that interrupt a line
ONE_SAMPLE = {  # types whose value needs one sample; null: a text log
    None, "PERF_COUNTER_RAWCOUNT", "PERF_COUNTER_LARGE_RAWCOUNT",
    "PERF_COUNTER_RAWCOUNT_HEX", "PERF_COUNTER_LARGE_RAWCOUNT_HEX",
    "PERF_RAW_FRACTION", "PERF_LARGE_RAW_FRACTION", "PERF_ELAPSED_TIME"}
Point = collections.namedtuple("Point", "value time is_rate")


def seconds(text):
    """The seconds since 2000 of a time of cook, exact."""
    whole, fraction = text.rstrip("Z").split(".")
    since = datetime.datetime.fromisoformat(whole) - datetime.datetime(2000, 1, 1)
    return since.days * 86400 + since.seconds + Fraction(int(fraction), 10**7)


def point_of(row):
    """The point of a record of cook."""
    return Point(row["value"] if row["status"] == "ok" else row["status"],
                 seconds(row["time"]), row["type"] not in ONE_SAMPLE)


def weighted(points):
    """The average of a line, by docs/report.md: a value counts for the time
    since the point before it. One that is no rate counts for the time until
    the next point if it is the first one or follows a break (None); without
    that for the last such time of the line, or for a second."""
    total, weight, interval, waiting = Fraction(0), Fraction(0), None, None

    def add(value, time):
        nonlocal total, weight
        total += Fraction(value) * time
        weight += time

    before, is_broken = None, False
    for point in points:
        step = point.time - before.time if point and before else Fraction(0)
        is_joined = step > 0 and not is_broken
        has_value = point is not None and not isinstance(point.value, str)
        interval = step if is_joined else interval
        if waiting is not None and (is_joined or has_value):
            add(waiting, interval or 1)
            waiting = None
        if has_value and (is_joined or (point.is_rate and step > 0)):
            add(point.value, step)
        elif has_value:
            waiting = point.value
        is_broken = point is None
        before = point or before
    if waiting is not None:
        add(waiting, interval or 1)
    return float(total / weight)


def hostile_capture():
    """A capture in which a set, counters and instances have names that would
    break a page without correct escaping."""
    counters = [(c.BULK, name) for name in HOSTILE]
    return recording(counters, [
        {name: [100 * i + number * (i + n) for i in range(len(counters))]
         for n, name in enumerate(HOSTILE)} for number in range(3)],
        name=HOSTILE[0])


class ReportCase(Case):
    """A test that makes reports."""

    def report(self, *arguments, **options):
        """The parsed page for these arguments."""
        page = pages.Report(self.run_fine("report", *arguments,
                                          **options).out)
        pages.check_safe(self, page, pages.Report.TAGS)
        return page

    def hidden(self, path):
        """{(set, counter)} of the counters with the attribute
        PERF_ATTRIB_NO_DISPLAYABLE (2), which the page omits."""
        found, guid = set(), None
        for record in self.run_json("show", path):
            if record["record"] == "chunk":
                guid = record.get("guid")
            elif record["record"] == "counter" and \
                    record.get("attributes", 0) & 2:
                found.add((guid, record["counter"]))
        return found

    def cooked(self, *arguments):
        """The values of cook: {(set, counter, instance): [value, or status if
        there is none]}, without counters that the page omits."""
        lines = {}
        hidden = self.hidden(arguments[0])
        for row in self.run_json("cook", *arguments):
            if row.get("record") == "result" or row["type"] in HIDDEN or \
                    (row["guid"], row["counter_id"]) in hidden:
                continue
            instance = row["instance"]
            name = "value"
            if instance is not None:
                name = (row["parent"] + "/" if row["parent"] is not None
                        else "") + instance
                if row["occurrence"]:
                    name += "#%d" % row["occurrence"]
            key = (row["set"] or "Object %s" % row["object"],
                   row["counter"] or "counter %s" % row["counter_id"], name)
            lines.setdefault(key, []).append(point_of(row))
        return lines

    def assert_line(self, line, points):
        """Asserts that a line has these points, and the figures that follow
        from them. No points may have been left out."""
        expected = [point.value for point in points]
        self.assertEqual([p for p in line.points if p not in BREAKS], expected)
        numbers = [p for p in expected if not isinstance(p, str)]
        self.assertEqual((line.values, line.gaps),
                         (len(numbers), len(expected) - len(numbers)))
        minimum, average, maximum, last = line.figures
        if not numbers:
            self.assertEqual(line.figures, [None] * 4)
            return
        self.assertEqual((minimum, maximum, last),
                         (min(numbers), max(numbers), numbers[-1]))
        left = iter(points)
        self.assertAlmostEqual(
            average, weighted([None if point in BREAKS else next(left)
                               for point in line.points]),
            delta=1e-9 * max(map(abs, numbers)))

    def assert_cooked(self, page, *arguments):
        """Asserts that the page has the values of cook."""
        lines = {key[1:]: line for key, line in page.lines.items()}
        cooked = self.cooked(*arguments)
        self.assertEqual(set(lines), set(cooked))
        for key, expected in cooked.items():
            self.assert_line(lines[key], expected)


class Values(ReportCase):
    """Numbers of the page."""

    def test_three_sets(self):
        """The page has all values, units and facts of a capture."""
        path = self.file("a.pfb", c.three_sets())
        page = self.report(path)
        self.assert_cooked(page, path)
        self.assertEqual(
            list(dict.fromkeys(key[1] for key in page.lines)),
            ["Beta Network", "Alpha Disk", "Alpha Memory"])
        self.assertEqual(page.units["", "Alpha Disk", "Read Bytes/sec"],
                         "/sec")
        facts = page.facts()
        self.assertEqual((facts["Samples"], facts["Values"], facts["Span"],
                          facts["Interval"]),
                         ("2", "20", "1.00 s", "1.00 s on average"))
        self.assertTrue(facts["File"].endswith("a.pfb"))

    def test_times(self):
        """Times are stored in milliseconds since 1970."""
        path = self.file("a.pfb", c.three_sets())
        # 133000000000000000 of 100 ns since 1601 is 2022-06-18 04:26:40 UTC.
        self.assertEqual(self.report(path).times,
                         [1655526400000, 1655526401000])

    @unittest.skipIf(ON_WINDOWS, "TZ is not the time zone of Windows")
    def test_times_of_an_unknown_zone(self):
        """Times of a log without a time zone are shown as they are."""
        path = self.file("a.csv", b'"(PDH-CSV 4.0)","\\\\M\\A\\B"\r\n'
                         b'"01/02/2013 00:00:00.000","1"\r\n')
        for zone, hours in (("XYZ-9", 9), ("XYZ5", -5)):
            page = self.report(path, zone=zone)
            # 1357084800000: 2013-01-02 00:00:00 UTC.
            self.assertEqual(page.times, [1357084800000 - hours * 3600000])
            self.assertEqual(self.report(path, "--utc", zone=zone).times,
                             [1357084800000])

    def test_absent_instances(self):
        """The absence of an instance is marked at a sample that has its
        counterset."""
        head = c.metadata(c.DISK, "D", [(1, c.BULK, "C")])
        other = c.metadata(c.NETWORK, "E", [(1, c.BULK, "C")])
        queries = w.chunk(b"QINF", w.identifier(c.DISK, name="*") +
                          w.identifier(c.NETWORK, name="*", index=1))
        chunks = []
        for number in range(5):
            names = ["b"] if number == 3 else ["a", "b"]
            disk = c.instances_result([1], [(i, name, [number])
                                            for i, name in enumerate(names)])
            chunks.append(c.data(
                number, w.result(w.ERROR, status=5) if number in (1, 2)
                else disk, c.instances_result([1], [(0, "x", [number])])))
        page = pages.Report(self.run_program("report", self.file(
            "a.pfb", w.recording(head, other, queries, *chunks))).out)
        line = page.lines["", "D", "C", "a"]
        self.assertEqual([(sample, point) for sample, point in zip(
            line.samples, line.points) if point == "absent"], [(3, "absent")])

    def test_long_spans(self):
        """The span of an hour or more is also given in hours and minutes."""
        for minutes, expected in ((59, "3,540 s"), (60, "3,600 s (1 h 0 min)"),
                                  (2740, "164,400 s (45 h 40 min)")):
            path = self.file("a.csv", b'"(PDH-CSV 4.0) (UTC)(0)","\\\\M\\A\\B"\r\n'
                             b'"01/02/2013 00:00:00.000","1"\r\n'
                             b'"01/%02d/2013 %02d:%02d:00.000","2"\r\n' % (
                                 2 + minutes // 1440, minutes // 60 % 24,
                                 minutes % 60))
            self.assertEqual(self.report(path).facts()["Span"], expected)

    def test_figures_of_a_line(self):
        """Smallest, largest and last value of a line are exact."""
        path = self.file("a.pfb", recording(
            [(c.LARGE_RAW, "Free Bytes")],
            [{"x": [value]} for value in (5, 2**53 + 2, 0, 7)]))
        line, = self.report(path).lines.values()
        self.assertEqual(line.figures[:1] + line.figures[2:],
                         [0, 2**53 + 2, 7])

    def test_gaps(self):
        """A rate has no value if its count fell, and in the first sample after
        its instance was absent. If an instance is absent and returns, its line
        has the point "absent" once, at the first sample without it."""
        path = self.file("a.pfb", recording(
            [(c.BULK, "Reads/sec")],
            [{"x": [10], "y": [1]}, {"x": [20], "y": [2]}, {"y": [3]},
             {"y": [2]}, {"x": [50], "y": [4]}, {"x": [52], "y": [9]}]))
        lines = {key[3]: line for key, line in self.report(path).lines.items()}
        self.assertEqual(lines["x"].points,
                         ["need_two_samples", 10, "absent",
                          "need_two_samples", 2])
        self.assertEqual(lines["x"].samples, [0, 1, 2, 4, 5])
        self.assertEqual(lines["y"].points,
                         ["need_two_samples", 1, 1, "negative_delta", 2, 5])

    def test_names_that_repeat(self):
        """Lines whose names look equal get numbers: those of equal counter
        names, and of instance names that differ only after the part that the
        page shows."""
        long = "n" * 300
        counters = [(c.LARGE_RAW, "A"), (c.LARGE_RAW, "A")]
        path = self.file("a.pfb", recording(
            counters, [{long + "1": [1, 2], long + "2": [3, 4]}] * 3))
        name = "n" * 200 + "\u2026"
        found = {key[3]: line.points
                 for key, line in self.report(path).lines.items()}
        self.assertEqual(found, {name: [1] * 3, name + " (2)": [2] * 3,
                                 name + " (3)": [3] * 3,
                                 name + " (4)": [4] * 3})

    @needs_real_data
    def test_captured_v1(self):
        """The page of captured V1 blocks has the values of cook."""
        files = sorted(glob.glob(real("v1", "*.bin")))
        names = ["--names", real("v1", "names-009.tsv")]
        page = self.report(*files, *names)
        self.assert_cooked(page, *files, *names)
        self.assertEqual(len({key[0] for key in page.lines}), 1)


class TimeGaps(ReportCase):
    """Stretches of more than three intervals without samples, and averages
    that are weighted by time."""

    def log(self, times, values, name="a.csv"):
        """A text log of one counter: its values at seconds of a day."""
        return self.file(name, b'"(PDH-CSV 4.0) (UTC)(0)","\\\\M\\A\\B"\r\n' +
                         b"".join(b'"01/02/2013 %02d:%02d:%02d.%03d","%g"\r\n' % (
                             *divmod(int(t) // 60, 60), int(t) % 60,
                             round(t % 1 * 1000), value)
                                  for t, value in zip(times, values)))

    ROWS = (  # times, (from, to) of the gaps
        ((0, 1, 2, 3), ()),
        ((0, 1, 2, 5), ()),  # three intervals
        ((0, 1, 2, 5.001), ((2, 5.001),)),
        ((0, 10, 20, 51, 61, 92), ((20, 51), (61, 92))),
        ((0, 100), ()),  # nothing to compare the only interval with
        ((0, 100, 101), ()),
        ((0, 100, 101, 102), ((0, 100),)),
        ((0, 30, 40, 50), ()),
        ((0, 30.001, 40, 50, 60), ((0, 30.001),)),
        ((0, 100, 101, 151, 152), ()),
        ((0, 0, 100, 101, 102), ()),
        ((0, 100, 101, 101, 102), ((0, 100),)),
        ((0, 1, 50400, 50401), ((1, 50400),)),
        ((0, 1, 2, 62, 122, 182, 183), ((2, 62),)),  # another interval
        # Two recorders: after eight samples they are the usual.
        ((0, .1, 1, 1.1, 2, 2.1, 3, 3.1, 4, 4.1, 5, 5.1, 6),
         ((.1, 1), (1.1, 2), (2.1, 3), (3.1, 4))),
        ((5, 4, 3, 2, 9), ()),  # time runs backwards
        ((0, 0, 0, 5, 6, 7), ()),
    )

    def test_gaps(self):
        """Each is named, has a point in its middle and interrupts the line."""
        for times, gaps in self.ROWS:
            path = self.log(times, range(len(times)))
            page = self.report(path, "--utc", "--quiet")
            line, = page.lines.values()
            named = page.facts().get("Gaps", "")
            found = re.findall(r"from 2013-01-02 (\S+)\+00:00 to 2013-01-02 "
                               r"(\S+)\+00:00", named)
            clock = lambda t: "%02d:%02d:%06.3f" % (
                t // 3600, t // 60 % 60, t % 60)
            self.assertEqual(found, [(clock(a), clock(b)) for a, b in gaps],
                             times)
            expected = []
            for number, time in enumerate(times):
                if any(time == after for _, after in gaps):
                    expected.append("no_sample")
                expected.append(number)
            self.assertEqual(line.points, expected, times)
            self.assertEqual(page.facts()["Samples"], str(len(times)))
            start = page.times[0] / 1000 - times[0]
            middles = [page.times[s] / 1000 - start for s, p in zip(
                line.samples, line.points) if p == "no_sample"]
            for middle, (before, after) in zip(middles, gaps):
                self.assertAlmostEqual(middle, (before + after) / 2, delta=.002)
            article, = page.articles.values()
            drawn, = article.find("path", "line")
            if times == tuple(sorted(times)):
                self.assertEqual(drawn.attributes["d"].count("M"),
                                 len(gaps) + 1, times)

    def test_names_of_gaps(self):
        """A gap of some countersets names one of them; at most 20 gaps are
        named, and their lengths are readable."""
        long = [0, 1, 2, 3602.5, 3603.5, 3604.5]
        rows = ((long, "no sample for 1 h 0 min 0 s, from 2013"),
                ([0, .5, 1, 3.25], "no sample for 2.25 s, from 2013"),
                ([0, 1, 2, 63], "no sample for 1 min 1 s, from 2013"))
        for times, expected in rows:
            facts = self.report(self.log(times, times), "--utc").facts()
            self.assertIn(expected, facts["Gaps"])
        many = [n * 1000 + i for n in range(25) for i in range(3)]
        facts = self.report(self.log(many, many)).facts()
        self.assertEqual(facts["Gaps"].count("no sample for"), 20)
        self.assertRegex(facts["Gaps"], "and 4 more$")
        self.assertRegex(facts["Interval"], "^1.00 s on average, without the gaps$")
        every = self.log(range(61), range(61), "b.csv")
        set_c = bytes_of(self.log((0, 5, 10, 50, 55, 60), range(6))).replace(
            b"\\A\\", b"\\C\\")
        facts = self.report(every, self.file("c.csv", set_c)).facts()
        self.assertRegex(facts["Gaps"], r"^no sample for 40\S* s, .*, of C ?\\\\M$")

    def test_files_of_one_counterset(self):
        """Samples of one file do not interrupt the lines of another one. The
        gap of one file is named, and a gap of all files once."""
        times = [10 * n for n in range(30)]
        for offset, interval in ((0, 10), (5, 10), (5, 60), (.5, 1)):
            own = [offset + interval * n for n in range(30)]
            cases = (
                (times, own, 0, 0),
                (times, own[:10] + [t + 9 * interval for t in own[10:]], 0, 1),
                (times[:25] + [t + 9000 for t in times[25:]],
                 [t for t in own if t < 240] +
                 [t + 9000 for t in own if t >= 240], 1, 1))
            for first, second, *gaps in cases:
                if interval != 10 and gaps[0]:
                    continue
                other = bytes_of(self.log(second, second, "b.csv")).replace(
                    b"\\B", b"\\D")
                page = self.report(self.log(first, first),
                                   self.file("c.csv", other))
                for key, expected in (("B", first), ("D", second)):
                    points = page.lines["\\\\M", "A", key, "value"].points
                    self.assertEqual([p for p in points if p != "no_sample"],
                                     expected)
                    self.assertEqual(points.count("no_sample"),
                                     gaps[key == "D"], (offset, interval))
                self.assertEqual(page.facts().get("Gaps", "").count(
                    "no sample"), max(gaps))

    def test_averages(self):
        """Worked numbers. Rates: the count's increase divided by the time.
        Amounts: each counts for the time before it, the first one and one
        after a gap for the time after it."""
        counts = {0: 0, 1: 10, 2: 20, 4: 20, 504: 1020, 505: 1030}
        ids = [1]
        chunks = [c.metadata(c.DISK, "S", [(1, c.BULK, "Reads/sec")],
                             instance_type=0),
                  w.chunk(b"QINF", w.identifier(c.DISK))]
        chunks += [c.data(second, c.single_result(ids, [count]))
                   for second, count in counts.items()]
        line, = self.report(self.file("r.pfb", w.recording(
            *chunks))).lines.values()
        self.assertEqual(line.points, ["need_two_samples", 10, 10, 0,
                                       "no_sample", 2, 10])
        self.assertAlmostEqual(line.figures[1], 1030 / 505, delta=1e-12)
        rows = (
            ((0, 1, 2), (3, 6, 12), 7),
            ((0, 2, 3), (3, 6, 12), (2 * 3 + 2 * 6 + 12) / 5),
            ((0, 1, 2, 100, 102), (3, 6, 12, 8, 5),
             (3 + 6 + 12 + 2 * 8 + 2 * 5) / 7),
            ((0, 1, 2, 100), (3, 6, 12, 9), 30 / 4),
            ((0, 100, 101, 102), (3, 6, 12, 5), 26 / 4),
            ((0, 100, 102, 104, 204), (3, 6, 12, 5, 7), 33 / 5),
            ((7,), (9,), 9),
            ((0, 0), (1, 2), 1.5))
        for times, values, average in rows:
            line, = self.report(self.log(times, values)).lines.values()
            self.assertAlmostEqual(line.figures[1], average, delta=1e-12)
            self.assertEqual(line.values, len(values))


class Logs(ReportCase):
    """Logs name the machine and object of each value."""

    def compare(self, path):
        """Asserts that the lines are those of cook, by machine, object,
        counter and instance. Returns the page."""
        lines = {}
        for row in self.run_json("cook", path):
            name = "value"
            if row["instance"] is not None:
                name = "/".join(filter(None, (row["parent"],
                                              row["instance"])))
                if row["occurrence"]:
                    name += "#%d" % row["occurrence"]
            key = (row["machine"] or "", row["set"] or "", row["counter"],
                   name)
            lines.setdefault(key, []).append(point_of(row))
        page = self.report(path)
        self.assertEqual(set(page.lines), set(lines))
        for key, line in page.lines.items():
            self.assert_line(line, lines[key])
        return page

    @needs_real_data
    def test_captured_logs(self):
        """The pages of captured logs have the values of cook, with their
        machines."""
        page = self.compare(real("blg", "win8-counters.blg"))
        self.assertEqual({key[:2] for key in page.lines},
                         {("\\\\GEORGIS3", "PhysicalDisk"),
                          ("\\\\GEORGIS3", "Processor")})
        page = self.compare(real("blg", "many-machines.blg"))
        self.assertEqual(len({key[0] for key in page.lines}), 26)

    def test_text(self):
        """The page of a text log has the values of its columns."""
        page = self.compare(self.file(
            "a.csv", b'"(PDH-CSV 4.0) (UTC)(0)","\\\\M\\A(x)\\C",'
            b'"\\\\N\\A(x)\\C","\\\\N\\B\\D"\r\n'
            b'"01/02/2013 03:04:05.000","1.5"," ","2"\r\n'
            b'"01/02/2013 03:04:06.000","2.5","7","3"\r\n'))
        self.assertEqual(
            [(key, line.points) for key, line in page.lines.items()],
            [(("\\\\M", "A", "C", "x"), [1.5, 2.5]),
             (("\\\\N", "A", "C", "x"), ["no_data", 7]),
             (("\\\\N", "B", "D", "value"), [2, 3])])


class Thinning(ReportCase):
    """Pages with more values than fit: points are left out."""

    def test_extremes_remain(self):
        """A page for 45 lines of 5000 samples divides the samples into runs.
        Of each run it has the smallest and the largest value of each line, at
        their times."""
        count, samples = 45, 5000
        counters = [(c.BULK, "C%d" % i) for i in range(count)]
        head = recording(counters, [])
        marks = [0x5EED0000 + i for i in range(count)]
        template = c.data(0, c.instances_result(range(count),
                                                [(0, "x", marks)]))
        places = [template.index(struct.pack("<Q", mark)) for mark in marks]
        source = random.Random(5)
        steps = [[source.randrange(10**6) for _ in range(samples)]
                 for _ in range(count)]
        steps[0][2500] = 10**9
        parts, totals = [head], [0] * count
        for n in range(samples):
            block = bytearray(template)
            struct.pack_into("<qq", block, 24, (5 + n) * c.FREQUENCY,
                             133000000000000000 + n * 10000000)
            for i in range(count):
                totals[i] += steps[i][n]
                struct.pack_into("<Q", block, places[i], totals[i])
            parts.append(bytes(block))
        text = self.run_fine("report", self.file("a.pfb",
                                                 b"".join(parts))).out
        page = pages.Report(text)
        run = int(re.match(r"of each (\d+) samples",
                           page.facts()["Thinned"])[1])
        self.assertLess(run, 64)
        self.assertLessEqual(sum(len(line.points)
                                 for line in page.lines.values()), 200000)
        start = page.times[0]
        for i, line in enumerate(page.lines.values()):
            self.assertEqual((line.values, line.gaps), (samples - 1, 1))
            self.assertEqual(line.figures[0], min(steps[i][1:]))
            self.assertEqual(line.figures[2], max(steps[i][1:]))
            found = dict(zip([(t - start) // 1000 for t in line.times],
                             line.points))
            self.assertEqual(found.pop(0), "need_two_samples")
            for at, value in found.items():
                self.assertEqual(value, steps[i][at])
            for begin in range(0, samples, run):
                part = steps[i][max(begin, 1):begin + run]
                remaining = [found[n] for n in range(begin, begin + run)
                             if n in found]
                self.assertEqual((min(remaining), max(remaining)),
                                 (min(part), max(part)))

    def test_lines_beyond_the_limit_are_counted(self):
        """A page has at most 20,000 lines; the values of the others are
        counted."""
        values = {"i%05d" % i: [i] for i in range(20050)}
        path = self.file("a.pfb", recording([(c.LARGE_RAW, "A")],
                                            [values, values]))
        done = self.run_program("report", path)
        self.assertEqual(done.status, 0)
        self.assertRegex(done.err, "note: the page lacks 100 values")
        page = pages.Report(done.out)
        self.assertEqual(len(page.lines), 20000)
        self.assertRegex(page.facts()["Missing"], "^100 values")


class Selection(ReportCase):
    """--top, sources and inputs of a page."""

    def ranks(self):
        """A capture with two counters and four instances p to s. The averages
        of A are 2, 40, 30 and 9; those of B descend."""
        return self.file("a.pfb", recording(
            [(c.LARGE_RAW, "A"), (c.LARGE_RAW, "B")],
            [{"p": [1, 4], "q": [60, 3], "r": [30, 2], "s": [9, 1]},
             {"p": [3, 4], "q": [20, 3], "r": [30, 2], "s": [9, 1]}]))

    def test_top(self):
        """--top N: each chart has the N lines with the largest averages, the
        largest first."""
        path = self.ranks()
        for count, first, second in ((1, "q", "p"), (2, "qr", "pq"),
                                     (4, "qrsp", "pqrs"), (9, "qrsp", "pqrs")):
            page = self.report(path, "--top", str(count))
            names = [key[2] + key[3] for key in page.lines]
            self.assertEqual(names, ["A" + name for name in first] +
                             ["B" + name for name in second])
            removed = max(0, 8 - 2 * count)
            self.assertEqual(page.facts().get("Left out"), None if not removed
                             else "%d lines: charts have the %d with the "
                             "largest averages" % (removed, count))
            every = self.report(path)
            for key, line in page.lines.items():
                self.assertEqual(line.points, every.lines[key].points)
                self.assertEqual(line.figures, every.lines[key].figures)

    def test_top_puts_lines_without_values_last(self):
        """A line without values has no average and comes last."""
        path = self.file("a.pfb", recording(
            [(c.BULK, "A")], [{"x": [9], "y": [1]}, {"x": [8], "y": [2]}]))
        self.assertEqual([key[3] for key in
                          self.report(path, "--top", "1").lines], ["y"])

    def test_top_keeps_the_order_of_lines_whose_sum_overflows(self):
        """Lines whose sum overflows have no average either. They come last, in
        the order of the file."""
        names = "IJABCDEFGH"
        values = {name: "1.7e308" for name in names}
        values["A"] = "1"
        rows = [b'"(PDH-CSV 4.0)",' + b",".join(
            b'"\\\\M\\O(%s)\\C"' % name.encode() for name in names)]
        rows += [b'"01/02/2013 00:00:%02d.000",' % second + b",".join(
            b'"%s"' % values[name].encode() for name in names)
            for second in range(3)]
        path = self.file("a.csv", b"\r\n".join(rows) + b"\r\n")
        for top in (1, 4, 10):
            self.assertEqual(
                [key[3] for key in self.report(path, "--top", str(top)).lines],
                list("AIJBCDEFGH")[:top])

    def test_bare_replies(self):
        """Replies and their metadata may be in different files."""
        counters = [(0, c.BULK, "Reads/sec"), (1, c.LARGE_RAW, "Free")]
        replies = [self.file("%d.bin" % n, c.data(n, c.instances_result(
            [0, 1], [(0, "x", [10 * n, 5])]))[16:])  # without chunk header
            for n in range(2)]
        metadata = ["--registration", self.file("set.bin", w.counterset(
            c.DISK, [w.counter_info(i, kind) for i, kind, _ in counters])),
                 "--registration", "5:" + self.file(
                     "names.bin", w.string_block([(0, "Reads/sec"),
                                                  (1, "Free")])),
                 "--query-info", self.file("info.bin", w.identifier(
                     c.DISK, name="*", index=0))]
        page = self.report(*replies, *metadata)
        self.assertEqual({key[2]: line.points
                          for key, line in page.lines.items()},
                         {"Reads/sec": ["need_two_samples", 10],
                          "Free": [5, 5]})

    def test_refusals(self):
        """Options that contradict the source, and values out of range, are
        refused."""
        path = self.ranks()
        for arguments in ([], [path, "live"], ["--source", path],
                          [path, "--top", "0"],
                          [path, "--count", "2"], [path, "--duration", "9"],
                          [path, "--interval", "2"],
                          ["live", "--from", "10:00"],
                          ["live", "--names", path], ["live", "--kind", "v1"],
                          ["live", "--duration", "0.5"]):
            done = self.run_program("report", *arguments)
            self.assertEqual((done.status, done.out), (2, ""), arguments)


class Shown(ReportCase):
    """Without --top a chart shows at most 36 lines; its tables list all lines.
    """

    def many(self, count):
        """A capture for a chart of `count` constant lines, in ascending order.
        """
        values = {"i%d" % i: [10 * i] for i in range(count)}
        return self.file("a.pfb", recording([(c.LARGE_RAW, "A")],
                                            [values, values]))

    def shown(self, page):
        """Number of lines, highest label and text alternative of the chart;
        the names in its table; the headings of its folded tables."""
        article, = page.articles.values()
        table, *_ = article.find("tbody")
        return (len(article.find("path", "line")),
                article.find("div", "values")[0].find("span")[0].text(),
                article.find("svg")[0].attributes["aria-label"].split(" fr")[0],
                [row.find("span")[0].text() for row in table.find("tr")],
                [e.text() for e in article.find("summary")])

    def test_all_lines(self):
        """A chart of 36 lines shows all of them."""
        page = self.report(self.many(36))
        self.assertEqual(self.shown(page),
                         (36, "400", "A: 36 lines",
                          ["i%d" % i for i in range(36)], []))
        self.assertNotIn("Folded", page.facts())

    def test_largest_averages(self):
        """The chart has the 36 lines with the largest averages, the largest
        first. The others are listed in folded tables of at most 500 lines."""
        page = self.report(self.many(1037))
        self.assertEqual(self.shown(page), (
            36, "20 k", "A: 36 of 1037 lines",
            ["i%d" % i for i in range(1036, 1000, -1)],
            ["Not in the chart: lines %d to %d of 1037, by average" % part
             for part in ((37, 536), (537, 1036), (1037, 1037))]))
        self.assertEqual(page.facts()["Folded"],
                         "1001 lines are only in tables: each chart shows the "
                         "36 with the largest averages")
        self.assertEqual([key[3] for key in page.lines],
                         ["i%d" % i for i in range(1036, -1, -1)])
        for name, line in page.lines.items():
            self.assert_line(line, [Point(10 * int(name[3][1:]), i, False)
                                    for i in range(2)])

    def test_values_and_gaps_of_lines_in_the_chart(self):
        """Only gaps of lines in the chart have marks, and the axis covers only
        values of these lines."""
        steps = [{"i%d" % i: [50] for i in range(36)} for _ in range(5)]
        for step, value in zip(steps, (0, None, 160, 0, 0)):
            if value is not None:  # the average is 40
                step["low"] = [value]
        del steps[3]["i9"]
        article, = self.report(self.file("a.pfb", recording(
            [(c.LARGE_RAW, "A")], steps))).articles.values()
        gap, = article.find("path", "gap")
        self.assertEqual(re.findall(r"M(\d+)", gap.attributes["d"]), ["1500"])
        self.assertEqual(
            article.find("div", "values")[0].find("span")[0].text(), "80")

    def test_many_charts(self):
        """A page of more than 300 charts has the class "many", with which the
        browser lays out only the charts in view."""
        for count, name in ((300, None), (301, "many")):
            page = self.report(self.file("a.csv", (
                '"(PDH-CSV 4.0) (UTC)(0)"' + "".join(
                    ',"\\\\M\\A\\C%d"' % i for i in range(count)) +
                '\r\n"01/02/2013 03:04:05.000"' + ',"1"' * count +
                "\r\n").encode()))
            self.assertEqual(len(page.articles), count)
            self.assertEqual(page.find("main")[0].attributes.get("class"),
                             name)

    def test_top(self):
        """--top N shows N lines in a chart, also more than 36."""
        page = self.report(self.many(60), "--top", "50")
        self.assertEqual(self.shown(page),
                         (50, "800", "A: 50 lines",
                          ["i%d" % i for i in range(59, 9, -1)], []))
        self.assertNotIn("Folded", page.facts())


class Names(ReportCase):
    """Hostile names change neither the page nor its script."""

    def test_hostile_names(self):
        """Names that look like HTML are shown as text."""
        page = self.report(self.file("a.pfb", hostile_capture()))
        names = [pages.shown(name.replace("\ud800", "\ufffd"))
                 for name in HOSTILE]
        self.assertEqual({key[1] for key in page.lines}, {names[0]})
        self.assertEqual(list(dict.fromkeys(k[2] for k in page.lines)), names)
        self.assertEqual(list(dict.fromkeys(k[3] for k in page.lines)), names)
        title, = page.find("title")
        self.assertEqual(title.text(), "Performance report")

    def test_the_script_contains_only_numbers_and_statuses(self):
        """No name is in the data of the script."""
        page = self.report(self.file("a.pfb", hostile_capture()))
        self.assertEqual(set(page.data), {"times", "offsets", "charts"})
        for line in page.lines.values():
            for point in line.points:
                self.assertTrue(isinstance(point, (int, float)) or
                                re.fullmatch("[a-z_]+", point))

    @unittest.skipIf(ON_WINDOWS, "Windows has no such file names")
    def test_file_names(self):
        """A file name that looks like HTML is shown as text."""
        path = self.file("<b>&'\".pfb", c.three_sets())
        self.assertEqual(self.report(path).facts()["File"], path)

    @needs_real_data
    def test_machines(self):
        """V1 blocks name their machine."""
        name = real("v1", "pal-s00-obj2.bin")
        block, = [o for o in self.run_json("show", name)
                  if o["record"] == "data"]
        machines = {key[0] for key in self.report(name).lines}
        self.assertEqual(machines, {block["system_name"]})


class Charts(ReportCase):
    """Charts as drawn without the script."""

    def test_path(self):
        """The axis has labels from 0 to 40 in steps of 10. The chart is 2000
        units wide and 500 high; y grows downwards."""
        path = self.file("a.pfb", recording(
            [(c.LARGE_RAW, "A")], [{"x": [v]} for v in (0, 10, 40, 20, 20)]))
        article, = self.report(path).articles.values()
        line, = article.find("path", "line")
        self.assertEqual(line.attributes["d"],
                         "M0 500L500 375L1000 0L1500 250L2000 250")
        labels = article.find("div", "values")[0].find("span")
        self.assertEqual([e.text() for e in labels],
                         ["40", "30", "20", "10", "0"])
        image, = article.find("svg")
        self.assertEqual(image.attributes["role"], "img")
        self.assertRegex(image.attributes["aria-label"],
                         r"^A: 1 line from .* to .*, values from 0.* to 40")

    def test_interruptions(self):
        """A line is interrupted, and a gap marked, where a sample has no
        value."""
        path = self.file("a.pfb", recording(
            [(c.BULK, "A")], [{"x": [v]} for v in (0, 4, 8, 7, 11)]))
        article, = self.report(path).articles.values()
        line, = article.find("path", "line")
        self.assertEqual(line.attributes["d"], "M500 0L1000 0M2000 0h0")
        gap, = article.find("path", "gap")
        self.assertEqual(re.findall(r"M(\d+)", gap.attributes["d"]),
                         ["0", "1500"])

    def test_times_that_run_backwards(self):
        """A line is interrupted where time runs backwards; a point alone is a
        dot."""
        path = self.file("a.csv", b'"(PDH-CSV 4.0)","\\\\M\\A\\B"\r\n' + b"".join(
            b'"01/02/2013 00:00:%02d.000","%d"\r\n' % row
            for row in ((4, 0), (0, 8), (2, 4), (1, 8))))
        article, = self.report("-q", path).articles.values()
        line, = article.find("path", "line")
        self.assertEqual(line.attributes["d"],
                         "M2000 500h0M0 0L1000 250M500 0h0")

    def test_zeros_and_large_values(self):
        """The axis of constant zeros ends at 1; large numbers have a unit."""
        for values, labels in (((0, 0), ["1", "0.75", "0.5", "0.25", "0"]),
                               ((1, 3 * 10**9), ["4 G", "3 G", "2 G", "1 G",
                                                 "0"])):
            path = self.file("a.pfb", recording(
                [(c.LARGE_RAW, "A")], [{"x": [v]} for v in values]))
            article, = self.report(path).articles.values()
            spans = article.find("div", "values")[0].find("span")
            self.assertEqual([e.text() for e in spans], labels)

    def test_the_smallest_values(self):
        """An axis whose steps would be subnormal is that of zeros."""
        head = '"(PDH-CSV 4.0)","\\\\PC\\A\\B"\r\n'
        for value in ("4.94e-324", "2e-323", "3e-323", "8.8e-308"):
            path = self.file("a.csv", (
                head + '"01/01/2025 00:00:00.000","%s"\r\n' % value).encode())
            page = self.report(path)
            article, = page.articles.values()
            spans = article.find("div", "values")[0].find("span")
            self.assertEqual(spans[0].text(), "1")
            self.assertEqual([line.points for line in page.lines.values()],
                             [[float(value)]])


class Output(ReportCase):
    """Where the page is written, and errors in inputs."""

    def test_file_and_standard_output(self):
        """-o FILE writes the page of standard output, and replaces a longer
        one completely."""
        path = self.file("a.pfb", c.three_sets())
        page = os.path.join(self.folder, "a.html")
        self.assertEqual(self.run_fine("report", path, "-o", page).out, "")
        with open(page, encoding="utf-8") as file:
            self.assertEqual(file.read(), self.run_fine("report", path).out)
        with open(page, "wb") as file:
            file.write(b"x" * 10**6)  # a longer page is replaced completely
        self.run_fine("report", path, "-o", page)
        with open(page, encoding="utf-8") as file:
            self.assertEqual(file.read(), self.run_fine("report", path).out)

    def test_an_input_is_not_replaced(self):
        """An input is refused as the output file."""
        path = self.file("a.pfb", c.three_sets())
        other = self.file("b.pfb", c.three_sets())
        for inputs in ([path], [other, path]):
            done = self.run_program("report", *inputs, "-o", path)
            self.assertEqual((done.status, done.out), (2, ""))
            self.assertEqual(bytes_of(path), c.three_sets())

    def test_a_failure_replaces_nothing(self):
        """A run that fails without any value leaves the old file unchanged."""
        path = self.file("a.pfb", c.three_sets())
        page = self.file("a.html", b"old")
        for status, *arguments in (
                (2, path, "--set", "none"), (3, path + "x"),
                (1, self.file("a", b"hello, world\n"))):
            done = self.run_program("report", *arguments, "-o", page)
            self.assertEqual((done.status, done.out), (status, ""))
            self.assertEqual(bytes_of(page), b"old", arguments)

    def test_a_file_that_cannot_be_written(self):
        """A missing folder is reported with status 3."""
        path = self.file("a.pfb", c.three_sets())
        page = os.path.join(self.folder, "none", "a.html")
        done = self.run_program("report", path, "-o", page)
        self.assertEqual((done.status, done.out), (3, ""))
        self.assertTrue(done.err.startswith(page), done.err)

    def test_a_broken_input(self):
        """The page has the values before the error, and its message."""
        data = c.three_sets()
        path = self.file("a.pfb", data[:-20])
        done = self.run_program("report", path)
        self.assertEqual(done.status, 1)
        page = pages.Report(done.out)
        messages = [e.text() for e in page.find("ul", "messages")[0].find("li")]
        self.assertEqual(messages, done.err.splitlines())
        self.assertTrue(page.lines)

    def test_an_input_without_samples(self):
        """A capture without samples gives a page without charts."""
        path = self.file("a.pfb", w.recording())
        page = self.report(path, "--quiet")
        self.assertEqual((page.lines, page.facts()["Samples"]), ({}, "0"))

    def test_unknown_formats(self):
        """A file of another format gives a page with the message."""
        done = self.run_program("report", self.file("a", b"hello, world\n"))
        self.assertEqual(done.status, 1)
        self.assertIn("unknown_format", pages.Report(done.out).root.text())

    def test_open_needs_a_file(self):
        """--open is refused without -o."""
        path = self.file("a.pfb", c.three_sets())
        done = self.run_program("report", path, "--open")
        self.assertEqual((done.status, done.out), (2, ""))

    @unittest.skipIf(ON_WINDOWS, "Windows opens pages by itself")
    def test_open(self):
        """xdg-open gets the path, even if the name begins with a dash."""
        self.file("a.pfb", c.three_sets())
        for name, status in (("-a.html", 0), ("b.html", 4)):
            opened = os.path.join(self.folder, "opened")
            opener = self.file("xdg-open", b"#!/bin/sh\nprintf %%s \"$1\" "
                               b">'%s'\nexit %d\n" % (opened.encode(),
                                                      status))
            os.chmod(opener, 0o755)
            before = os.environ["PATH"]
            os.environ["PATH"] = self.folder + ":" + before
            try:
                done = self.run_program("report", "a.pfb", "--output=" + name,
                                        "--open", cwd=self.folder)
            finally:
                os.environ["PATH"] = before
            self.assertEqual(done.status, status, done.err)
            with open(opened, encoding="utf-8") as file:
                self.assertEqual(file.read(), "./" + name)

    @unittest.skipIf(ON_WINDOWS, "the zone is that of the system")
    def test_local_time(self):
        """2022-06-18 04:26:40 UTC in time zones with POSIX rules."""
        path = self.file("a.pfb", c.three_sets())
        for zone, text, minutes in (
                ("UTC0", "2022-06-18 04:26:40.000+00:00", 0),
                ("IST-5:30", "2022-06-18 09:56:40.000+05:30", 330),
                ("EST5EDT", "2022-06-18 00:26:40.000-04:00", -240),
                ("AKST9AKDT", "2022-06-17 20:26:40.000-08:00", -480)):
            page = self.report(path, zone=zone)
            self.assertEqual(page.facts()["From"], text)
            self.assertEqual([o[1] for o in page.data["offsets"]], [minutes])

    def test_utc(self):
        """--utc shows UTC in every time zone."""
        path = self.file("a.pfb", c.three_sets())
        page = self.report("--utc", path, zone="IST-5:30")
        self.assertEqual(page.facts()["From"], "2022-06-18 04:26:40.000+00:00")
        self.assertEqual([o[1] for o in page.data["offsets"]], [0])


if __name__ == "__main__":
    unittest.main()
