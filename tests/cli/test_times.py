# SPDX-License-Identifier: MIT
"""Times of samples: UTC in JSON and CSV, local time with its offset in text."""

import csv
import datetime
import io
import unittest

from program import Case, ON_WINDOWS, writer as w

FREQUENCY = 10000000
EPOCH = datetime.datetime(1601, 1, 1)

# The last 100 ns of the year 9999.
LAST = (datetime.date(9999, 12, 31) - EPOCH.date()).days * 864000000000 + \
    863999999999


def clock_of(*fields):
    """The 100 ns clock of a date and time in UTC."""
    since = datetime.datetime(*fields) - EPOCH
    return (since.days * 86400 + since.seconds) * FREQUENCY + \
        since.microseconds * 10


def block(clock):
    """A V2 reply with one value at this time."""
    return w.reply(
        w.result(w.COUNTERSET, w.id_list([1]) + w.instance_block(
            w.instance(0, "a", w.v8(1)))),
        stamps=w.clocks(1, clock, FREQUENCY, (1999, 1, 5, 1, 1, 1, 1, 1)))


class Times(Case):
    """Times come from the 100 ns clock of a sample, not from its SYSTEMTIME."""

    def cook(self, clock, form, *options, zone="UTC0"):
        """Runs cook with a sample at this time, in this time zone."""
        done = self.run_program("cook", "--quiet", "--format", form, *options,
                                self.file("a.bin", block(clock)), zone=zone)
        self.assertEqual((done.status, done.err), (0, ""))
        return done

    def title(self, clock, *options, zone="UTC0"):
        """The time in the title of a table."""
        first = self.cook(clock, "text", *options, zone=zone).lines()[0]
        return first.split(", sample 0, ")[1]

    def test_records(self):
        """JSON and CSV have RFC 3339 times in UTC with seven decimals."""
        for clock, expected in (
                (0, "1601-01-01T00:00:00.0000000Z"),
                (1, "1601-01-01T00:00:00.0000001Z"),
                (133000000000000000, "2022-06-18T04:26:40.0000000Z"),
                (116444736000000000, "1970-01-01T00:00:00.0000000Z"),
                (LAST, "9999-12-31T23:59:59.9999999Z"),
                (LAST + 1, None), (2**63 - 1, None), (-1, None),
                (-2**63, None)):
            for zone in ("UTC0", "XYZ-5:30"):
                for item in self.cook(clock, "json", zone=zone).objects():
                    self.assertEqual(item["time"], expected, clock)
                table = self.cook(clock, "csv", zone=zone).out
                for row in csv.DictReader(io.StringIO(table)):
                    self.assertEqual(row["time"], expected or "", clock)

    def test_calendar(self):
        """Dates in every kind of year, compared with Python's calendar."""
        dates = [(year, month, day, 23, 59, 58, 123456)
                 for year in (1601, 1699, 1700, 1800, 1900, 1904, 1999, 2000,
                              2001, 2024, 2100, 2400, 9996, 9999)
                 for month, day in ((1, 1), (2, 28), (3, 1), (12, 31))]
        dates += [(year, 2, 29, 0, 0, 0, 0) for year in (1604, 2000, 2024)]
        for date in dates:
            item, = self.cook(clock_of(*date), "json").objects()
            expected = datetime.datetime(*date).isoformat(
                timespec="microseconds") + "0Z"
            self.assertEqual(item["time"], expected)

    def test_utc(self):
        """--utc shows UTC in any time zone."""
        for zone in ("UTC0", "XYZ-5:30"):
            self.assertEqual(self.title(
                clock_of(2024, 2, 29, 23, 59, 59, 987654), "--utc", zone=zone),
                "2024-02-29 23:59:59.987 Z")

    def test_clocks_that_are_no_dates(self):
        """A clock that is no date is shown as a number."""
        for clock in (LAST + 1, -1, -2**63, 2**63 - 1):
            for options in ((), ("--utc",)):
                self.assertEqual(self.title(clock, *options),
                                 "time %d" % clock)

    @unittest.skipIf(ON_WINDOWS, "TZ is not the time zone of Windows")
    def test_local(self):
        """Text shows local time with its offset, also of half hours and of
        daylight saving time."""
        summer = clock_of(2024, 7, 1, 12, 0, 0, 500000)
        winter = clock_of(2024, 1, 1, 0, 0, 0, 1000)
        berlin = "CET-1CEST,M3.5.0,M10.5.0/3"
        for clock, zone, expected in (
                (summer, "UTC0", "2024-07-01 12:00:00.500 +00:00"),
                (summer, berlin, "2024-07-01 14:00:00.500 +02:00"),
                (winter, berlin, "2024-01-01 01:00:00.001 +01:00"),
                (winter, "NST3:30", "2023-12-31 20:30:00.001 -03:30"),
                (winter, "IST-5:30", "2024-01-01 05:30:00.001 +05:30")):
            self.assertEqual(self.title(clock, zone=zone), expected)

    @unittest.skipIf(ON_WINDOWS, "TZ is not the time zone of Windows")
    def test_local_times_outside_the_calendar(self):
        """UTC is printed if local time is outside the years 1601 to 9999."""
        self.assertEqual(self.title(0, zone="AAA5"),
                         "1601-01-01 00:00:00.000 Z")
        self.assertEqual(self.title(LAST, zone="AAA-5"),
                         "9999-12-31 23:59:59.999 Z")


if __name__ == "__main__":
    unittest.main()
