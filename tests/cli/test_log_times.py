# SPDX-License-Identifier: MIT
"""Times of logs: daylight saving time ends, circular logs, time that goes
back. Expectations are the times from which the inputs are made."""

import datetime
import itertools
import unittest

from program import Case
import log_seeds
import log_writer as w

MINUTE = datetime.timedelta(minutes=1)
EPOCH = datetime.datetime(1601, 1, 1)
BACK = "note: the time goes back by about an hour"
EARLIER = "note: samples that are earlier than the one before them: %d"
CIRCULAR = "note: the log is circular"

# (UTC at which daylight saving time ends, bias before it in minutes)
ENDS = {
    "Berlin": (datetime.datetime(2022, 10, 30, 1), -120),
    "New York": (datetime.datetime(2022, 11, 6, 6), 240),
    "Sydney": (datetime.datetime(2023, 4, 1, 16), -660),
    "Santiago": (datetime.datetime(2023, 4, 2, 3), 180),
    "London": (datetime.datetime(2024, 10, 27, 1), -60)}


def text_log(rows, header="(PDH-CSV 4.0) (Zone)(%d)", bias=0):
    """A text log with a row for each local time."""
    first = header % bias if "%" in header else header
    lines = ['"%s","\\\\A\\Memory\\Available MBytes"' % first]
    lines += ['"%s.%03d","%d"' % (time.strftime("%m/%d/%Y %H:%M:%S"),
                                  time.microsecond // 1000, number)
              for number, time in enumerate(rows)]
    return ("\r\n".join(lines) + "\r\n").encode()


def clock(time):
    """A time in 100 ns since 1601."""
    since = time - EPOCH
    return (since.days * 86400 + since.seconds) * w.SECOND + \
        since.microseconds * 10


class Log(Case):
    """Times that cook prints."""

    def times(self, data, *options, name="a.csv", stdin=None):
        """(times, standard error) of a log."""
        arguments = ["-"] if stdin else [self.file(name, data)]
        done = self.run_program("cook", "-f", "json", *options, *arguments,
                                **({"stdin": data} if stdin else {}))
        self.assertEqual(done.status, 0, done.err)
        return [item["time"] for item in done.objects()], done.err

    def shown(self, utc, suffix="Z"):
        """UTC times as cook prints them."""
        return [time.strftime("%Y-%m-%dT%H:%M:%S.") +
                "%06d0" % time.microsecond + suffix for time in utc]


class Daylight(Log):
    """Daylight saving time ends inside of a log with one bias."""

    def local(self, utc, end, bias):
        """Local times of a place."""
        return [time - MINUTE * (bias + (60 if time >= end else 0))
                for time in utc]

    def test_text_logs(self):
        """Rows after the end have the other bias, in both hemispheres and for
        all intervals; the repeated hour may have many rows."""
        for (place, (end, bias)), seconds in itertools.product(
                ENDS.items(), (1, 15, 60, 300, 900, 1800, 3600)):
            step = datetime.timedelta(seconds=seconds)
            count = min(200, 2 + 7200 // seconds)
            for first in (end - count // 2 * step,
                          end - count // 2 * step + step / 4):
                utc = [first + step * i for i in range(count + 4)]
                data = text_log(self.local(utc, end, bias), bias=bias)
                found, err = self.times(data)
                self.assertEqual(found, self.shown(utc), (place, seconds))
                self.assertEqual(err.count(BACK), 1, (place, seconds))
                self.assertIn("the bias is %d minutes" % (bias + 60), err)
                self.assertNotIn("earlier", err)

    def test_other_steps(self):
        """Steps that are not the end of daylight saving time."""
        start = datetime.datetime(2022, 6, 1, 12)
        for offsets, earlier in (
                ((0, 1, 2, 62, 63), 0),         # forward: an hour is missing
                ((0, 1, 2, -28, -27), 1),       # back by half an hour
                ((0, 1, 2, -60, -59), 1),       # by more than an hour
                ((0, 1, 2, 1.9, 3), 1),
                ((0, 1, 2, 2, 3), 0),           # equal times
                ((0, 1, 2, -1438, -1437), 1)):  # by a day
            rows = [start + MINUTE * offset for offset in offsets]
            found, err = self.times(text_log(rows))
            self.assertEqual(found, self.shown(rows), offsets)
            self.assertNotIn(BACK, err)
            if earlier:
                self.assertIn(EARLIER % earlier, err)
            else:
                self.assertEqual(err, "")

    def test_daylight_saving_time_ends_once(self):
        """The second step is a sample that is earlier."""
        start = datetime.datetime(2022, 6, 1, 12)
        rows = [start + MINUTE * offset for offset in (0, 1, -58, -57, -116)]
        found, err = self.times(text_log(rows))
        self.assertEqual(found, self.shown(rows[:2] + [
            time + 60 * MINUTE for time in rows[2:]]))
        self.assertEqual(err.count(BACK), 1)
        self.assertIn(EARLIER % 1, err)

    def test_a_header_begins_again(self):
        """A second header has its own bias, before and after its own end."""
        end, bias = ENDS["Berlin"]
        utc = [end + MINUTE * i for i in range(-2, 2)]
        year = datetime.timedelta(days=364)
        later = [time + year for time in utc]
        data = text_log(self.local(utc, end, bias), bias=bias) + \
            text_log(self.local(later, end + year, bias), bias=bias)
        found, err = self.times(data)
        self.assertEqual(found, self.shown(utc + later))
        self.assertEqual(err.count(BACK), 2)

    def test_logs_without_zone(self):
        """Times stay local, without a Z; they are in order all the same."""
        end, bias = ENDS["London"]
        utc = [end + MINUTE * i for i in range(-2, 3)]
        rows = self.local(utc, end, bias)
        found, err = self.times(text_log(rows, "(PDH-CSV 4.0)"))
        self.assertEqual(found, self.shown(rows, ""))
        self.assertEqual(err.count(BACK), 1)
        self.assertNotIn("earlier", err)

    def test_rows_with_offsets(self):
        """Offsets beside the times say all."""
        lines = ["(PDH-CSV 4.0) (Zone)(-120),\\\\A\\Memory\\Available MBytes",
                 "2022-10-30T02:59:00+02:00,1", "2022-10-30T02:00:00+01:00,2"]
        found, err = self.times("\n".join(lines).encode())
        self.assertEqual(found, ["2022-10-30T00:59:00.0000000Z",
                                 "2022-10-30T01:00:00.0000000Z"])
        self.assertNotIn(BACK, err)

    def test_binary_logs(self):
        """Values with UTC show the bias; without them the time is local."""
        end, bias = ENDS["London"]
        utc = [end + MINUTE * i for i in range(-3, 3)]
        local = self.local(utc, end, bias)
        for path, has_utc in ((log_seeds.CPUS, True),
                              (log_seeds.RATE_PATH, False)):
            events = w.paths(path)
            for number, (moment, time) in enumerate(zip(utc, local)):
                item = w.instances(("0", 10 * number, clock(moment)),
                                   time=clock(time)) if has_utc else \
                    w.counter(number, number * w.SECOND, time=clock(time))
                events += w.sample(item, time=clock(time))
            data = w.log(*events, bias=0, daylight=-60, start=clock(utc[0]))
            found, err = self.times(data, name="a.blg")
            self.assertEqual(found, self.shown(utc) if has_utc else
                             self.shown(local, ""))
            self.assertEqual(err.count(BACK), 0 if has_utc else 1)
            self.assertNotIn("earlier", err)


def lines_of(out):
    """The header and the times of a text log that cook has written."""
    lines = out.split("\r\n")[:-1]
    return lines[0].split('"')[1], [line.split('"')[1][11:19]
                                    for line in lines[1:]]


class Zones(Log):
    """The times that are shown and chosen are those of the log."""

    TOKYO = [datetime.datetime(2023, 6, 1, 9, 0, second)
             for second in (0, 15, 30)]
    NEW_YORK = "EST5EDT,M3.2.0,M11.1.0"

    def tokyo(self, name="tokyo.csv"):
        """A log of Tokyo."""
        return self.file(name, text_log(
            self.TOKYO, "(PDH-CSV 4.0) (Tokyo Standard Time)(-540)"))

    def kyiv(self):
        """A log across the end of daylight saving time in Kyiv: 03:58, 03:59,
        03:00, 03:01."""
        start = datetime.datetime(2022, 10, 30, 3)
        rows = [start + MINUTE * at for at in (58, 59, 0, 1)]
        return self.file("kyiv.csv", text_log(
            rows, "(PDH-CSV 4.0) (FLE Daylight Time)(-180)"))

    def text_times(self, *arguments, zone="UTC0"):
        """The times of the tables."""
        out = self.run_program("cook", *arguments, zone=zone).out
        return [line.split(", ")[1] for line in out.splitlines()
                if line.startswith("Sample")]

    def test_text(self):
        """--time; --utc is --time utc."""
        path = self.tokyo()
        for options, zone, expected in (
                ((), "UTC0", "2023-06-01 09:00:00.000 +09:00"),
                (("--time", "log"), self.NEW_YORK,
                 "2023-06-01 09:00:00.000 +09:00"),
                (("--time", "local"), self.NEW_YORK,
                 "2023-05-31 20:00:00.000 -04:00"),
                (("--time", "utc"), self.NEW_YORK, "2023-06-01 00:00:00.000 Z"),
                (("--utc",), self.NEW_YORK, "2023-06-01 00:00:00.000 Z")):
            self.assertEqual(self.text_times(*options, path, zone=zone)[0],
                             expected, options)
        self.assertEqual(self.text_times(self.kyiv()), [
            "2022-10-30 03:58:00.000 +03:00", "2022-10-30 03:59:00.000 +03:00",
            "2022-10-30 03:00:00.000 +02:00", "2022-10-30 03:01:00.000 +02:00"])

    def test_written_logs(self):
        """pdh-csv has the zone and the bias of the log; all rows have those of
        the first one."""
        for path, options, zone, times in (
                (self.tokyo(), (), "(Tokyo Standard Time)(-540)",
                 ["09:00:00", "09:00:15", "09:00:30"]),
                (self.tokyo(), ("--utc",), "(UTC)(0)",
                 ["00:00:00", "00:00:15", "00:00:30"]),
                (self.tokyo(), ("--time", "local"), "(EDT)(240)",
                 ["20:00:00", "20:00:15", "20:00:30"]),
                (self.tokyo(), ("--bias", "-570"), "(UTC+09:30)(-570)",
                 ["09:00:00", "09:00:15", "09:00:30"]),
                (self.tokyo(), ("--bias", "0"), "(UTC)(0)",
                 ["09:00:00", "09:00:15", "09:00:30"]),
                (self.kyiv(), (), "(FLE Daylight Time)(-180)",
                 ["03:58:00", "03:59:00", "04:00:00", "04:01:00"]),
                (self.file("u.csv", text_log(self.TOKYO, "(PDH-CSV 4.0)")), (),
                 None, ["09:00:00", "09:00:15", "09:00:30"])):
            out = self.run_program("cook", "-f", "pdh-csv", *options, path,
                                   zone=self.NEW_YORK).out
            head, found = lines_of(out)
            self.assertEqual(head, "(PDH-CSV 4.0)" + (
                " " + zone if zone else ""), options)
            self.assertEqual(found, times, options)

    def test_a_written_log_is_the_same_log(self):
        """What is written and read again has the same times."""
        for path in (self.tokyo(), self.kyiv()):
            again = self.file("again.csv", self.run_fine(
                "cook", "-q", "-f", "pdh-csv", path).out.encode())
            first, second = (
                [item["time"] for item in self.run_json("cook", "-q", name)]
                for name in (path, again))
            self.assertEqual(first, second)

    def test_binary_logs(self):
        """The name is that of the header's zone with the bias that the values
        show."""
        local = datetime.datetime(2022, 6, 1, 12)
        for bias, zone in ((-60, "(Mid)(-60)"), (-120, "(Mid Summer)(-120)"),
                           (300, "(UTC-05:00)(300)"), (0, "(UTC)(0)")):
            utc = clock(local + MINUTE * bias)
            data = w.log(*w.paths(log_seeds.CPUS), *[
                part for n in range(2) for part in w.sample(
                    w.instances(("0", n, utc + n * w.SECOND),
                                time=clock(local) + n * w.SECOND),
                    time=clock(local) + n * w.SECOND)],
                         bias=-60, daylight=-60, names=("Mid", "Mid Summer"))
            out = self.run_fine("cook", "-f", "pdh-csv",
                                self.file("a.blg", data)).out
            self.assertEqual(lines_of(out), ("(PDH-CSV 4.0) " + zone,
                                             ["12:00:00", "12:00:01"]))

    def test_range(self):
        """--from and --to are in the times of the log. Of a time that occurs
        twice, the first is meant."""
        for path, options, chosen in (
                (self.tokyo(), ("--from", "2023-06-01T09:00:15"), [1, 2]),
                (self.tokyo(), ("--from", "09:00:15", "--to", "09:00:15"), [1]),
                (self.tokyo(), ("--to", "09:00:15"), [0, 1]),
                (self.tokyo(), ("--from", "2023-06-01T00:00:15Z"), [1, 2]),
                (self.tokyo(), ("--from", "2023-06-01T02:00:15+02:00"), [1, 2]),
                (self.tokyo(), ("--utc", "--from", "00:00:15"), [1, 2]),
                (self.tokyo(), ("--time", "local", "--from",
                                "2023-05-31T20:00:15"), [1, 2]),
                (self.tokyo(), ("--bias", "-600", "--from", "09:00:15"),
                 [1, 2]),
                (self.tokyo(), ("--bias", "-600", "--to",
                                "2023-05-31T23:00:15Z"), [0, 1]),
                (self.kyiv(), ("--from", "03:59"), [1, 2, 3]),
                (self.kyiv(), ("--to", "03:59"), [0, 1]),
                (self.kyiv(), ("--from", "03:00"), [0, 1, 2, 3]),
                (self.kyiv(), ("--from", "2022-10-30T01:01Z"), [3]),
                (self.kyiv(), ("--from", "2022-10-30T03:01:00+02:00"), [3])):
            items = self.run_program("cook", "-q", "-f", "json", *options, path,
                                     zone=self.NEW_YORK).objects()
            self.assertEqual([item["value"] for item in items], chosen, options)

    def test_limits_after_the_end_of_daylight_saving_time(self):
        """They are in the bias of that time, also in a second header."""
        end, bias = ENDS["Berlin"]
        utc = [end + 30 * MINUTE * i for i in range(-4, 8)]
        local = [time - MINUTE * (bias + (60 if time >= end else 0))
                 for time in utc]
        headers = text_log(local[:4], bias=bias) + text_log(local[4:], bias=-60)
        for data in (text_log(local, bias=bias), headers):
            path = self.file("a.csv", data)
            for first, last in itertools.combinations(range(len(local)), 2):
                if any(local.count(local[at]) > 1 and at >= 4
                       for at in (first, last)):
                    continue
                stamps = [local[at].isoformat() for at in (first, last)]
                out = self.run_json("cook", "-q", "--from", stamps[0], "--to",
                                    stamps[1], path)
                self.assertEqual(
                    [item["time"] for item in out],
                    self.shown(utc[first:last + 1]), (first, last))

    def test_clocks_set_forward(self):
        """Limits in the hour that a later header leaves out."""
        before = [datetime.datetime(2023, 3, 26, 1, m) for m in (30, 45)]
        after = [datetime.datetime(2023, 3, 26, 3, m) for m in (0, 15)]
        path = self.file("a.csv", text_log(before, bias=-60) +
                         text_log(after, bias=-120))
        utc = [datetime.datetime(2023, 3, 26, 0, m) for m in (30, 45)] + \
            [datetime.datetime(2023, 3, 26, 1, m) for m in (0, 15)]
        for options, chosen in ((("--from", "02:30"), utc[2:]),
                                (("--to", "02:30"), utc[:2]),
                                (("--from", "03:15"), utc[3:]),
                                (("--to", "03:00"), utc[:3])):
            items = self.run_json("cook", *options, path)
            self.assertEqual([item["time"] for item in items],
                             self.shown(chosen), options)

    def test_logs_of_two_zones(self):
        """They are merged by UTC. Each table has the zone of its log; what is
        written and the limits have the zone of the first sample."""
        paris = self.file("paris.csv", text_log(
            [datetime.datetime(2023, 6, 1, 2, 0, second)
             for second in (10, 20)], "(PDH-CSV 4.0) (Paris)(-120)"))
        for files in ((self.tokyo(), paris), (paris, self.tokyo())):
            self.assertEqual([time[11:] for time in self.text_times(*files)], [
                "09:00:00.000 +09:00", "02:00:10.000 +02:00",
                "09:00:15.000 +09:00", "02:00:20.000 +02:00",
                "09:00:30.000 +09:00"])
            head, times = lines_of(self.run_fine(
                "cook", "-f", "pdh-csv", *files).out)
            self.assertEqual(head,
                             "(PDH-CSV 4.0) (Tokyo Standard Time)(-540)")
            self.assertEqual(times, ["09:00:00", "09:00:10", "09:00:15",
                                     "09:00:20", "09:00:30"])
            items = self.run_json("cook", "--from", "09:00:12", "--to",
                                  "09:00:20", *files)
            self.assertEqual([item["time"][17:19] for item in items],
                             ["15", "20"])

    def test_bias(self):
        """--bias is that of the first sample, in place of the header's, and
        of logs without zone."""
        start = datetime.datetime(2022, 10, 30, 2)
        rows = [start + MINUTE * at for at in (58, 59, 0, 1)]
        for header in ("(PDH-CSV 4.0) (Wrong)(480)", "(PDH-CSV 4.0)"):
            for bias in (-120, 0, 240, 1440, -1440):
                found, err = self.times(text_log(rows, header), "--bias",
                                        str(bias))
                self.assertEqual(found, self.shown(
                    [time + MINUTE * bias for time in rows[:2]] +
                    [time + MINUTE * (bias + 60) for time in rows[2:]]))
                self.assertIn("the bias is %d minutes" % (bias + 60), err)

    def test_bias_of_binary_logs(self):
        """UTC in values takes precedence over --bias."""
        time = datetime.datetime(2022, 6, 1, 12)
        utc = [time, time + datetime.timedelta(hours=3)]
        for path, item, moment in (
                (log_seeds.RATE_PATH, w.counter(1, 1, time=clock(time)),
                 utc[1]),
                (log_seeds.CPUS, w.instances(("0", 1, clock(time)),
                                             time=clock(time)), utc[0])):
            data = w.log(*w.paths(path), *w.sample(item, time=clock(time)))
            self.assertEqual(self.times(data, "--bias", "180", name="a.blg")[0],
                             self.shown([moment]))

    def test_usage(self):
        """Values that are refused."""
        path = self.tokyo()
        for arguments, words in (
                (("--bias", "1441", path), "from -1440 to 1440"),
                (("--bias", "-1h", path), "from -1440 to 1440"),
                (("--bias", "", path), "from -1440 to 1440"),
                (("--bias", "1", "--bias", "2", path), "only once"),
                (("--bias", "0", "live"), "--bias applies to files"),
                (("--time", "zone", path), "expected log, local or utc"),
                (("--utc", "--time", "local", path), "--utc is --time utc")):
            done = self.run_program("cook", *arguments)
            self.assertEqual(done.status, 2, arguments)
            self.assertIn(words, done.err)

    def test_report(self):
        """The page has the offsets of the log."""
        for path, expected in (
                (self.tokyo(), "[[1685577600000,540]]"),
                (self.kyiv(), "[[1667091480000,180],[1667091600000,120]]")):
            page = self.run_program("report", "-q", path,
                                    zone=self.NEW_YORK).out
            self.assertIn('"offsets":' + expected, page)


class Circular(Log):
    """Logs whose oldest buffers were overwritten by the newest ones."""

    TIMES = [datetime.datetime(2020, 1, 1, 12) + i * 5 * MINUTE / 60
             for i in range(24)]

    def buffers(self, size=w.SIZE, large=False, first=0):
        """The buffers of a log, of which the first one has only its header,
        the second one the paths."""
        samples = []
        for number, time in enumerate(self.TIMES):
            rows = [("%d" % i, number, clock(time)) for i in range(
                40 if large else 1)]
            samples += w.sample(w.instances(*rows, time=clock(time)),
                                time=clock(time))
        events = w.paths(log_seeds.CPUS, time=clock(self.TIMES[0]))
        data = w.log(*events, *samples[first:], size=size, whole=True, bias=0,
                     daylight=0)
        return [data[at:at + size] for at in range(0, len(data), size)]

    def found(self, buffers, **options):
        """(times, standard error) of a log."""
        times, err = self.times(b"".join(buffers), name="a.blg", **options)
        return [time for time, _ in itertools.groupby(times)], err

    def test_each_place_of_the_wrap(self):
        """The paths are in a buffer that was not overwritten."""
        whole = self.buffers()
        self.assertEqual(self.found(whole), (self.shown(self.TIMES), ""))
        for at in range(3, len(whole)):
            moved = whole[:2] + whole[at:] + whole[2:at]
            found, err = self.found(moved)
            self.assertEqual(found, self.shown(self.TIMES), at)
            self.assertEqual(err.count(CIRCULAR), 1)
            self.assertNotIn("earlier", err)
            piped, err = self.found(moved, stdin=True)
            self.assertEqual(sorted(piped), found)
            self.assertIn(EARLIER % 1, err)

    def test_samples_of_several_parts(self):
        """A sample may have parts on both sides of the wrap."""
        whole = self.buffers(large=True)
        self.assertGreater(len(whole), 60)
        for at in range(4, len(whole), 7):
            found, err = self.found(whole[:2] + whole[at:] + whole[2:at])
            self.assertEqual(found, self.shown(self.TIMES), at)
            self.assertNotIn("skipped", err)

    def test_any_order_of_parts(self):
        """More than two parts, as if the log had been wrapped twice."""
        whole = self.buffers()
        a, b, c, d = whole[2:5], whole[5:6], whole[6:9], whole[9:]
        self.assertTrue(d)
        for parts in itertools.permutations((a, b, c, d)):
            found, err = self.found(whole[:2] + sum(parts, []))
            self.assertEqual(found, self.shown(self.TIMES))
            self.assertEqual(err.count(CIRCULAR), parts != (a, b, c, d))

    def test_rates_after_the_wrap(self):
        """Values are those of the order of time."""
        whole = self.buffers()
        files = [self.file("%d.blg" % i, b"".join(parts)) for i, parts in
                 enumerate((whole, whole[:2] + whole[7:] + whole[2:7]))]
        for form in ("json", "pdh-csv"):
            one, other = (self.run_program("cook", "-q", "--utc", "-f", form,
                                           path).out for path in files)
            self.assertEqual(one, other)

    def test_clocks_that_were_set_back(self):
        """A log with a step back is not circular if its times overlap, or if
        they are before its start."""
        hour = datetime.timedelta(hours=1)
        saved = self.TIMES
        early = [saved[0] - 2 * hour + (time - saved[0]) for time in saved]
        again = [time - datetime.timedelta(seconds=30) for time in saved]
        for second in (early, again):
            self.TIMES = saved[:14] + second[14:]
            found, err = self.found(self.buffers())
            self.assertEqual(found, self.shown(self.TIMES))
            self.assertNotIn(CIRCULAR, err)
            self.assertIn(EARLIER % 1, err)

    def across(self, end, bias, step, count):
        """(UTC, buffers) of a log across the end of daylight saving time, with
        a sample in each buffer but the first."""
        utc = [end + step / 4 + step * (i - count // 2) for i in range(count)]
        events = []
        for number, time in enumerate(utc):
            local = clock(time - MINUTE * (bias + (60 if time >= end else 0)))
            if number == 0:
                events += w.paths(log_seeds.CPUS, time=local)
            rows = [("%d" % i, number, clock(time)) for i in range(20)]
            events += w.sample(w.instances(*rows, time=local), time=local)
        data = w.log(*events, size=w.SIZE, whole=True, bias=bias + 60,
                     daylight=-60, start=clock(utc[0]))
        return utc, [data[at:at + w.SIZE]
                     for at in range(0, len(data), w.SIZE)]

    def test_the_end_of_daylight_saving_time(self):
        """A log that goes through it keeps its order; if it is circular, too,
        its order is found at each place of the wrap."""
        for (end, bias), minutes in itertools.product(
                ENDS.values(), (7, 15, 25, 45)):
            utc, whole = self.across(end, bias, minutes * MINUTE, 24)
            for at in (2, 5, *range(len(whole) // 2 - 4, len(whole) // 2 + 4),
                       len(whole) - 2):
                moved = whole[:2] + whole[at:] + whole[2:at]
                found, err = self.found(moved)
                self.assertEqual(found, self.shown(utc), (minutes, at))
                self.assertEqual(err.count(CIRCULAR), at != 2, (minutes, at))
                self.assertNotIn("earlier", err)

    def test_a_cut_log_keeps_its_order(self):
        """The last buffer must be complete."""
        whole = self.buffers()
        data = b"".join(whole[:2] + whole[5:] + whole[2:5])[:-16]
        done = self.run_program("cook", "-f", "json", self.file("a.blg", data))
        self.assertNotIn(CIRCULAR, done.err)


class Earlier(Log):
    """Samples that are earlier than the one before them."""

    def test_each_is_counted(self):
        """A note counts them."""
        start = datetime.datetime(2022, 6, 1, 12)
        rows = [start + MINUTE * offset for offset in (5, 4, 3, 9, 8, 10)]
        found, err = self.times(text_log(rows))
        self.assertEqual(found, self.shown(rows))
        self.assertEqual(len(err.splitlines()), 1)
        self.assertIn(EARLIER % 3, err)


if __name__ == "__main__":
    unittest.main()
