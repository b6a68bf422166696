# SPDX-License-Identifier: MIT
"""--from, --to and --every select samples; rates are computed between them."""

import datetime
import os
import random
import unittest

import captures
import log_seeds
import log_writer
import v1_blocks as v1
from program import ON_WINDOWS, Case, writer as w

SECOND = 10**7
EPOCH = datetime.datetime(1601, 1, 1)
START = datetime.datetime(2026, 11, 23, 4, 5, 0)
COUNT = 45
LOCAL = "XYZ-5:30"  # east of Greenwich


def clock_of(moment):
    """The 100 ns clock of a time in UTC."""
    since = moment - EPOCH
    return (since.days * 86400 + since.seconds) * SECOND + \
        since.microseconds * 10


def counts(seed):
    """COUNT counts whose growth differs from second to second."""
    rng = random.Random(seed)
    raw = [1000]
    for _ in range(COUNT - 1):
        raw.append(raw[-1] + rng.randrange(1000))
    return raw


RAW = counts(1)


def capture(raw, start=START, boot=0, instance="sda"):
    """A capture with a sample of each count, one per second from `start` on.
    `boot` is subtracted from the performance clock, in seconds: samples with
    another value seem to be taken after a restart."""
    chunks = [captures.metadata(captures.DISK, "Disk", [
        (1, captures.BULK, "Bytes/sec")]),
        w.chunk(b"QINF", w.identifier(captures.DISK, name="*"))]
    for number, value in enumerate(raw):
        second = clock_of(start) // SECOND - clock_of(START) // SECOND + number
        stamps = w.clocks((10**6 + second - boot) * SECOND,
                          clock_of(start) + number * SECOND, SECOND)
        chunks.append(w.chunk(b"DATA", w.reply(captures.instances_result(
            [1], [(0, instance, [value])]), stamps=stamps)))
    return w.recording(*chunks)


def v1_block(number, *titles, name="HOST"):
    """The V1 block of second `number` + 1, with a rate in each object."""
    return v1.LITTLE.block(*[v1.LITTLE.object(
        title, [v1.counter(20, v1.COUNTER, 4, 4)],
        v1.LITTLE.values((4, 4, RAW[number] * title)),
        instances=v1.NO_INSTANCES) for title in titles],
        moment=number + 1, name=name)


def blg(count):
    """A binary log of `count` samples with a rate and a whole V1 object."""
    events = list(log_writer.names("\\\\PC", (1, "11"), (4, "Memory"))) + \
        list(log_writer.names("\\\\PC", (6, "Available"), (10, "Pages/sec"))) \
        + list(log_writer.paths(log_seeds.RATE_PATH, log_seeds.OBJECT))
    for tick in range(count):
        local, _ = log_seeds.stamp(tick)
        events += log_writer.sample(
            log_writer.counter(RAW[tick], 5000000 + log_seeds.FREQUENCY * tick,
                               time=local),
            log_writer.block(log_seeds.memory_block(tick)), time=local)
    return log_writer.log(*events)


def pdh_text(count, head="(PDH-CSV 4.0) (Zone)(-60)"):
    """A text log with a row each second; its local time is UTC + 1 hour."""
    rows = ['"%s","\\\\PC\\Memory\\Pages/sec"' % head]
    for number in range(count):
        moment = START + datetime.timedelta(hours=1, seconds=number)
        rows.append('"%s","%d"' % (moment.strftime("%m/%d/%Y %H:%M:%S.000"),
                                   RAW[number]))
    return ("\r\n".join(rows) + "\r\n").encode()


class RangeCase(Case):
    """A test that runs the program in a given time zone."""

    def values(self, path, *options, zone="UTC0", command=("cook",)):
        """(raw value, value) of each JSON record."""
        done = self.run_program(*command, "--quiet", "--format", "json",
                                *options, path, zone=zone)
        self.assertEqual((done.status, done.err), (0, ""), options)
        return [(i["raw"], i["value"]) for i in done.objects()]

    def refused(self, *arguments):
        """The message of a command line that must be refused."""
        done = self.run_program(*arguments)
        self.assertEqual((done.status, done.out), (2, ""), done.err)
        return done.err


def rates(raw, seconds):
    """(raw value, rate) of the samples of these seconds: each rate is computed
    from the sample before it in the list."""
    found = [(raw[seconds[0]], None)]
    for older, newer in zip(seconds, seconds[1:]):
        found.append((raw[newer], (raw[newer] - raw[older]) / (newer - older)))
    return found


class Captures(RangeCase):
    """Captures of V2 samples."""

    def test_every(self):
        """--every N gives rates over N samples."""
        path = self.file("a.pfb", capture(RAW))
        for step in (1, 2, 10, 44, 45, 10**18):
            self.assertEqual(
                self.values(path, "--every", str(step)),
                rates(RAW, range(0, COUNT, step)), step)

    def test_limits(self):
        """The range includes both limits. --every counts from the first sample
        in the range."""
        path = self.file("a.pfb", capture(RAW))
        for options, chosen in (
                (("--from", "2026-11-23T04:05:10Z"), range(10, COUNT)),
                (("--to", "2026-11-23T04:05:10Z"), range(11)),
                (("--from", "2026-11-23T05:05:10+01:00",
                  "--to", "2026-11-22 23:35:20.000 -04:30"), range(10, 21)),
                (("--from", "2026-11-23t04:05:07.0000001z", "--every", "10"),
                 range(8, COUNT, 10)),
                (("--from", "2026-11-23T04:05:03Z", "--to",
                  "2026-11-23T04:05:33Z", "--every", "10"),
                 range(3, 34, 10))):
            for zone in ("UTC0", LOCAL):
                self.assertEqual(self.values(path, *options, zone=zone),
                                 rates(RAW, chosen), options)

    def test_fraction(self):
        """Tables of cook have times with three decimals. So that such a time can
        be used for --to, a time with decimals includes samples whose time
        begins with its digits."""
        start = START.replace(microsecond=123456)
        path = self.file("a.pfb", capture(RAW, start))
        for end, count in (("04:05:10.123", 11), ("04:05:10.1234", 11),
                           ("04:05:10.1233", 10), ("04:05:10", 10),
                           ("04:05:10.1234559", 10),
                           ("04:05:10.123456000", 11)):
            self.assertEqual(self.values(path, "--to", end),
                             rates(RAW, range(count)), end)

    @unittest.skipIf(ON_WINDOWS, "TZ is not the time zone of Windows")
    def test_local(self):
        """Times without a zone are local, or UTC with --utc; a time without a
        date is on the first day."""
        path = self.file("a.pfb", capture(RAW))
        for zone, options in (
                (LOCAL, ("--from", "2026-11-23T09:35:10")),
                (LOCAL, ("--from", "2026-11-23 09:35:10")),
                (LOCAL, ("--from", "09:35:10")),
                (LOCAL, ("--utc", "--from", "2026-11-23T04:05:10")),
                (LOCAL, ("--utc", "--from", "04:05:10")),
                # The day is that of local time: the 22nd.
                ("ABC8", ("--from", "20:05:10"))):
            self.assertEqual(self.values(path, *options, zone=zone),
                             rates(RAW, range(10, COUNT)), options)

    @unittest.skipIf(ON_WINDOWS, "TZ is not the time zone of Windows")
    def test_change_of_the_hour(self):
        """02:30 occurs twice on 2026-10-25, and not on 2026-03-29."""
        berlin = "CET-1CEST,M3.5.0,M10.5.0/3"
        for text, utc in (("2026-10-25T02:30:00", (2026, 10, 25, 0, 30)),
                          ("2026-10-25T03:00:00", (2026, 10, 25, 2, 0)),
                          ("2026-03-29T02:30:00", (2026, 3, 29, 1, 30)),
                          ("2026-03-29T03:30:00", (2026, 3, 29, 1, 30)),
                          ("2026-07-01T12:00:00", (2026, 7, 1, 10, 0))):
            start = datetime.datetime(*utc) - datetime.timedelta(seconds=10)
            path = self.file("a.pfb", capture(RAW, start))
            self.assertEqual(self.values(path, "--from", text, zone=berlin),
                             rates(RAW, range(10, COUNT)), text)

    def test_files_of_a_machine_are_one_series(self):
        """--every counts over the files of a machine."""
        paths = [self.file(name, capture(RAW[first:last], START +
                                         datetime.timedelta(seconds=first)))
                 for name, first, last in (("a", 0, 13), ("b", 13, 29),
                                           ("c", 29, COUNT))]
        self.assertEqual(self.values(paths[2], "--every", "10", *paths[:2]),
                         rates(RAW, range(0, COUNT, 10)))

    def test_every_is_counted_from_the_first_sample_after_a_restart(self):
        """After a restart --every counts from the first sample again."""
        later = START + datetime.timedelta(seconds=60)
        first = self.file("a", capture(RAW[:15]))
        second = self.file("b", capture(RAW, later, boot=10**6 + 50))
        self.assertEqual(self.values(first, second, "--every", "10"),
                         rates(RAW, [0, 10]) + rates(RAW, range(0, COUNT, 10)))

    def test_convert(self):
        """convert selects samples of a recording as cook does."""
        path = self.file("a.pfb", capture(RAW))
        options = ("--from", "04:05:03", "--to", "2026-11-23T04:05:40Z",
                   "--every", "10", "--set", "Disk", "--utc")
        expected = rates(RAW, range(3, 41, 10))
        out = os.path.join(self.folder, "out.pfb")
        self.run_fine("convert", "-o", out, path, *options)
        self.assertEqual(self.values(out), expected)

    def test_convert_keeps_changed_query_information(self):
        """If a sample is left out, query information before it still applies to
        the samples after it."""
        other = captures.MEMORY
        data = w.recording(
            captures.metadata(captures.DISK, "Disk", [
                (1, captures.BULK, "Bytes/sec")]),
            captures.metadata(other, "Memory", [
                (1, captures.LARGE_RAW, "Free")], instance_type=0),
            w.chunk(b"QINF", w.identifier(captures.DISK, name="*")),
            captures.data(0, captures.instances_result([1], [(0, "a", [5])])),
            w.chunk(b"QINF", w.identifier(other)),
            captures.data(1, captures.single_result([1], [6])),
            captures.data(2, captures.single_result([1], [7])))
        path = self.file("a.pfb", data)
        out = os.path.join(self.folder, "out.pfb")
        self.run_fine("convert", "-o", out, path, "--every", "2", "--set",
                      "*")
        for name in (path, out):
            done = self.run_json("cook", *(["--every", "2"] if name == path
                                           else []), name)
            self.assertEqual([(i["set"], i["raw"]) for i in done],
                             [("Disk", 5), ("Memory", 7)])

    def test_report(self):
        """The page has only the selected samples."""
        path = self.file("a.pfb", capture(RAW))
        full = self.run_fine("report", path).out
        part = self.run_fine("report", path, "--every", "10").out
        self.assertLess(len(part), len(full))

    def test_a_truncation_after_the_range_is_reported(self):
        """An error after the range is reported."""
        path = self.file("a.pfb", capture(RAW)[:-8])
        done = self.run_program("cook", "--to", "04:05:10", "--utc",
                                "--format", "json", path)
        self.assertEqual(done.status, 1)
        self.assertEqual([code for _, _, code in done.errors()],
                         ["truncated_chunk"])
        self.assertEqual(len(done.objects()), 11)


class V1(RangeCase):
    """Files of V1 blocks."""

    def test_every(self):
        """--every N gives rates over N blocks."""
        path = self.file("a", b"".join(v1_block(n, 2) for n in range(COUNT)))
        self.assertEqual(self.values(path, "--every", "10"),
                         rates([2 * n for n in RAW], range(0, COUNT, 10)))

    def test_blocks_of_one_time_are_one_sample(self):
        """--every counts blocks of one time as one sample."""
        path = self.file("a", b"".join(
            v1_block(n, title) for n in range(COUNT) for title in (2, 3)))
        expected = zip(rates([2 * n for n in RAW], range(0, COUNT, 10)),
                       rates([3 * n for n in RAW], range(0, COUNT, 10)))
        self.assertEqual(self.values(path, "--every", "10"),
                         [value for pair in expected for value in pair])

    def test_machines(self):
        """--every counts the samples of each machine separately."""
        path = self.file("a", b"".join(
            v1_block(n, title, name=name) for n in range(COUNT)
            for title, name in ((2, "A"), (3, "B"))))
        expected = zip(rates([2 * n for n in RAW], range(0, COUNT, 10)),
                       rates([3 * n for n in RAW], range(0, COUNT, 10)))
        self.assertEqual(self.values(path, "--every", "10"),
                         [value for pair in expected for value in pair])

    def test_limits(self):
        """The time of block n is n + 1 seconds after the start of 1601."""
        path = self.file("a", b"".join(v1_block(n, 2) for n in range(COUNT)))
        self.assertEqual(
            self.values(path, "--from", "1601-01-01T00:00:11Z",
                        "--to", "00:00:31", "--every", "10"),
            rates([2 * n for n in RAW], (10, 20, 30)))


class Logs(RangeCase):
    """Perfmon logs, binary and text."""

    def test_binary(self):
        """--every selects samples of a binary log, with its objects."""
        path = self.file("a.blg", blg(35))
        found = self.values(path, "--every", "10")
        # A counter, then the two counters of the whole object.
        self.assertEqual(found[0::3], rates(RAW, (0, 10, 20, 30)))
        self.assertEqual(found[1::3], [(1000 + n, 1000 + n)
                                       for n in (0, 10, 20, 30)])
        self.assertEqual(found[2::3], [(0, None), (700, 70), (1400, 70),
                                       (2100, 70)])

    def test_times_of_a_binary_log(self):
        """The objects of the log have the time in UTC, 8 hours ahead of the
        local time of its records."""
        path = self.file("a.blg", blg(35))
        first = self.run_json("cook", path)[1]["time"]
        self.assertEqual(first, "2013-02-20T02:50:17.8440000Z")
        for options in (("--from", "2013-02-20T02:50:27.8Z"),
                        ("--from", "18:50:27.8"),
                        ("--from", "2013-02-19T18:50:27.8"),
                        ("--utc", "--from", "02:50:27.8")):
            found = self.values(path, "--every", "10", *options)
            self.assertEqual(found[0::3], rates(RAW, (10, 20, 30)), options)

    def test_text(self):
        """A text log contains displayed values: no samples are compared."""
        path = self.file("a.csv", pdh_text(COUNT))
        for options, chosen in (
                (("--every", "10"), range(0, COUNT, 10)),
                (("--from", "2026-11-23T04:05:10Z"), range(10, COUNT)),
                (("--from", "05:05:10", "--every", "10"),
                 range(10, COUNT, 10)),
                (("--utc", "--from", "04:05:10", "--every", "10"),
                 range(10, COUNT, 10))):
            self.assertEqual([value for _, value in
                              self.values(path, *options)],
                             [RAW[n] for n in chosen], options)

    @unittest.skipIf(ON_WINDOWS, "TZ is not the time zone of Windows")
    def test_text_without_zone(self):
        """Times of a log without a zone count as local, with --utc as UTC."""
        path = self.file("a.csv", pdh_text(COUNT, head="(PDH-CSV 4.0)"))
        for zone, options in (
                (LOCAL, ("--from", "05:05:10")),
                (LOCAL, ("--from", "2026-11-23T05:05:10")),
                (LOCAL, ("--from", "2026-11-22T23:35:10Z")),
                (LOCAL, ("--utc", "--from", "2026-11-23T05:05:10Z"))):
            self.assertEqual(
                [value for _, value in self.values(path, *options, zone=zone)],
                RAW[10:], options)


class Usage(RangeCase):
    """Values and combinations of options that are refused."""

    def test_times(self):
        """Times of another form or outside of the calendar are refused."""
        path = self.file("a.pfb", capture(RAW))
        for text in ("", "now", "2026-11-23", "2026-11-23T", "4:05", "24:00",
                     "04:60", "04:05:60", "04:05:00.", "04:05Z", "04:05:00x",
                     "2026-02-29T00:00:00Z", "2026-13-01T00:00:00Z",
                     "2026-00-01T00:00:00Z", "1600-12-31T23:59:59Z",
                     "2026-11-23T04:05:00+1", "2026-11-23T04:05:00+24:00",
                     "2026-11-23T04:05:00 UTC", "26-11-23T04:05:00",
                     "2026-11-23T04:05:00ZZ", "04"):
            for option in ("--from", "--to"):
                done = self.refused("cook", option, text, path)
                self.assertIn("expected a time such as 2026-11-23T04:05:00Z",
                              done, text)
                self.assertIn(option, done)

    def test_every(self):
        """--every takes a number from 1 on."""
        for text in ("0", "-1", "1.5", "x", ""):
            self.assertIn("expected a number from 1 up", self.refused(
                "cook", "--every", text, "a"))

    def test_a_range_needs_a_file(self):
        """Options of a range need a file."""
        out = os.path.join(self.folder, "a.pfb")
        for option in (("--from", "04:05"), ("--to", "04:05"),
                       ("--every", "2")):
            self.assertIn("choose samples of files", self.refused(
                "cook", "live", *option))
            for command in (("record", "-o", out), ("live",)):
                self.assertIn("does not apply", self.refused(*command,
                                                             *option))

    def test_order(self):
        """--from must not be after --to."""
        self.assertIn("--from is after --to", self.refused(
            "cook", "--from", "04:06", "--to", "04:05", "a"))

    def test_nothing_in_the_range(self):
        """A range without samples is refused; the message has the times of the
        file."""
        path = self.file("a.pfb", capture(RAW))
        out = os.path.join(self.folder, "out.pfb")
        late = ("--utc", "--from", "2026-11-24T00:00:00Z")
        done = self.refused("cook", *late, path)
        self.assertIn("no sample is between --from and --to", done)
        self.assertIn("2026-11-23 04:05:00.000 Z to 2026-11-23 04:05:44.000 Z",
                      done)
        self.assertIn("no sample is between --from and --to", self.refused(
            "convert", "-o", out, *late, "--set", "*", path))

    @unittest.skipIf(ON_WINDOWS, "TZ is not the time zone of Windows")
    def test_nothing_in_the_range_of_an_unknown_zone(self):
        """Times of a log without a time zone are shown as they are."""
        path = self.file("a.csv", b'"(PDH-CSV 4.0)","\\\\M\\A\\B"\r\n'
                         b'"01/02/2013 00:00:00.000","1"\r\n')
        done = self.run_program("cook", "--to", "2000-01-01T00:00:00", path,
                                zone=LOCAL)
        self.assertEqual(done.status, 2)
        self.assertIn("from 2013-01-02T00:00:00.0000000 to ", done.err)

    def test_an_unknown_counter_in_the_range(self):
        """convert reports an unknown counter."""
        path = self.file("a.pfb", capture(RAW))
        out = os.path.join(self.folder, "out.pfb")
        self.assertEqual(self.refused(
            "convert", "--from", "2026-11-23T04:05:09Z", "--set", "Disk",
            "--counter", "none", path, "-o", out),
            "perfblock: no counter none; perfblock countersets lists them\n")


if __name__ == "__main__":
    unittest.main()
