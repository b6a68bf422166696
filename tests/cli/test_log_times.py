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
