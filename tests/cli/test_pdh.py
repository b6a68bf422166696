# SPDX-License-Identifier: MIT
"""The formats pdh-csv and pdh-tsv of cook and live: PDH text logs, which
perfmon opens."""

import csv
import datetime
import io
import json
import os
import random
import re
import struct
import unittest
from fractions import Fraction

import captures
import pdh_text_reader
import v1_blocks as v1
from program import (ON_WINDOWS, Case, needs_real_data, real, seed,
                     writer as w)
import log_seeds
import log_writer as log

BERLIN = "CET-1CEST,M3.5.0,M10.5.0/3"
EPOCH = datetime.datetime(1601, 1, 1)
SEPARATORS = {"pdh-csv": ",", "pdh-tsv": "\t"}


def cells(text, form="pdh-csv"):
    """The cells of each line of a log, whose lines must end with CR LF."""
    assert text.endswith("\r\n") and "\n" not in text.replace("\r\n", "")
    return list(csv.reader(io.StringIO(text, newline=""),
                           delimiter=SEPARATORS[form]))


def moment(units):
    """A time in 100 ns units as text logs write it."""
    time = EPOCH + datetime.timedelta(microseconds=units // 10)
    return time.strftime("%m/%d/%Y %H:%M:%S.") + "%03d" % (
        time.microsecond // 1000)


def series_capture(*rows):
    """A capture; rows[n] are the (instance, raw count) of sample n."""
    return w.recording(
        captures.metadata(captures.DISK, "Disk",
                          [(1, captures.LARGE_RAW, "Bytes")]),
        w.chunk(b"QINF", w.identifier(captures.DISK, name="*")),
        *[captures.data(number, captures.instances_result(
            [1], [(0, name, [value]) for name, value in row]))
          for number, row in enumerate(rows)])


class PdhCase(Case):
    """A test of logs that cook writes."""

    def cook(self, *arguments, form="pdh-csv", zone="UTC0", **options):
        """The log that cook writes, without errors, in this time zone."""
        return self.run_fine("cook", "--format", form, *arguments, zone=zone,
                             **options).out

    def values(self, *arguments):
        """For each displayed value of cook, in order: sample, time, machine,
        set, parent, instance, occurrence, counter and value."""
        out = []
        for v in self.run_json("cook", *arguments):
            if v["status"] == "not_displayed":
                continue
            time = v["time"]
            out.append((
                v["sample"], time[:23] + ("Z" if time[-1] == "Z" else ""),
                v["machine"], v["set"], v["parent"], v["instance"],
                v["occurrence"], v["counter"], v["value"]))
        return out


class Form(PdhCase):
    """The bytes of a log: header, numbers, names."""

    def test_whole_log(self):
        """The bytes of a log of two samples, in both formats."""
        path = self.file("a.pfb", series_capture(
            [("a", 1), ("b", 2)], [("b", 2**53 + 1), ("a", 0)]))
        for form, mark in SEPARATORS.items():
            lines = [
                ("(PDH-%s 4.0) (UTC)(0)" % form[4:].upper(),
                 "\\Disk(a)\\Bytes", "\\Disk(b)\\Bytes"),
                ("06/18/2022 04:26:40.000", "1", "2"),
                ("06/18/2022 04:26:41.000", "0", "9007199254740992")]
            self.assertEqual(
                self.cook("--utc", path, form=form), "".join(
                    mark.join('"%s"' % cell for cell in line) + "\r\n"
                    for line in lines))

    def test_seventeen_digits(self):
        """Values have up to 17 digits, which identify a double."""
        body = w.recording(
            captures.metadata(captures.DISK, "Disk",
                              [(1, captures.TIMER, "% Time")]),
            w.chunk(b"QINF", w.identifier(captures.DISK, name="*")),
            *[captures.data(number, captures.instances_result(
                [1], [(n, "i%d" % n, [number * (n * 1234567 + 1)])
                      for n in range(9)])) for number in range(2)])
        rows = cells(self.cook(self.file("a.pfb", body)))
        self.assertEqual(rows[1][1:], [" "] * 9)
        self.assertEqual(rows[2][1:], [
            "%.17g" % ((n * 1234567 + 1) / 100000) for n in range(9)])

    def test_machine_and_numbers(self):
        """The machine name of a V1 block is in the paths. An object or counter
        without a name is written with its title index."""
        wr = v1.LITTLE
        blocks = b"".join(wr.block(v1.plain(wr, 5 + n), moment=n + 1)
                          for n in range(2))
        rows = cells(self.cook("--kind", "v1", self.file("a.bin", blocks)))
        self.assertEqual(rows[0][1], "\\\\HOST\\Object 2\\counter 20")
        names = self.file("names.bin", v1.table((2, "Memory"), (20, "Pages")))
        rows = cells(self.cook("--names", names, "--kind", "v1",
                               self.file("a.bin", blocks)))
        self.assertEqual(rows[0][1:], ["\\\\HOST\\Memory\\Pages"])
        self.assertEqual([row[1] for row in rows[1:]], ["5", "6"])

    def test_parents_and_occurrences(self):
        """Paths have the parent of an instance, and its number among equal
        names."""
        wr = v1.LITTLE
        counts = [v1.counter(20, v1.RAW, 4, 4)]

        def names_of(parent, *names):
            return [wr.instance(name, wr.values((4, 4, 1)), parent=parent)
                    for name in names]

        block = wr.block(
            wr.object(2, counts, *names_of((0, 0), "p")),
            wr.object(4, counts, *names_of((2, 0), "a", "a", "b")))
        names = self.file("names.bin", v1.table(
            (2, "Process"), (4, "Thread"), (20, "ID")))
        header = cells(self.cook("--names", names, "--kind", "v1",
                                 self.file("a.bin", block)))[0]
        self.assertEqual(header[1:], [
            "\\\\HOST\\Process(p)\\ID", "\\\\HOST\\Thread(p/a)\\ID",
            "\\\\HOST\\Thread(p/a#1)\\ID", "\\\\HOST\\Thread(p/b)\\ID"])

    def test_one_sample_of_several_blocks(self):
        """V1 blocks of one time with different objects make one row."""
        wr = v1.LITTLE
        blocks = b"".join(wr.block(v1.plain(wr, title + n, title),
                                   moment=n + 1)
                          for n in range(2) for title in (2, 4))
        rows = cells(self.cook("--kind", "v1", self.file("a.bin", blocks)))
        self.assertEqual([row[1:] for row in rows[1:]],
                         [["2", "4"], ["3", "5"]])

    def test_hostile_names(self):
        """Quotation marks are doubled. Control characters other than tabs, such
        as a line feed that would end the line, and invisible ones are escaped.
        """
        names = ["u1234", '\u200e"\u2029', 'a"b', 'a,"b', 'x",y', 'x","y',
                 '",",', '"\t"', "t\tu", "l\nm\r", "e\x1b[1m",
                 "\u4e2d\U0001f600", "(a)\\c", '"']
        path = self.file("a.pfb", series_capture(
            [(name, n) for n, name in enumerate(names)]))
        for form in SEPARATORS:
            out = self.cook(path, form=form)
            header, row = cells(out, form)
            expected = [re.sub("[\n\r\x1b\u200e\u2029]", lambda m: "\\u%04X" % ord(m[0]),
                               name) for name in names]
            self.assertEqual(header[1:],
                             ["\\Disk(%s)\\Bytes" % n for n in expected])
            self.assertEqual(row[1:], [str(n) for n in range(len(names))])
            read = self.run_json("cook", self.file("out", out.encode()))
            self.assertEqual([(v["instance"], v["value"]) for v in read],
                             [(n, expected.index(n)) for n in expected])


class Columns(PdhCase):
    """cook writes a column for every path that occurs if it can read the input
    twice."""

    # Instances b, c and d appear after the first sample.
    LATER_INSTANCES = series_capture([("a", 1)], [("b", 2), ("a", 3)],
                                     [("b", 4)], [("c", 5), ("d", 6)])

    def test_file(self):
        """A file has a column for each path in any of its samples."""
        rows = cells(self.cook(self.file("a.pfb", self.LATER_INSTANCES)))
        self.assertEqual(rows[0][1:], ["\\Disk(%s)\\Bytes" % n
                                       for n in "abcd"])
        self.assertEqual([row[1:] for row in rows[1:]], [
            ["1", " ", " ", " "], ["3", "2", " ", " "], [" ", "4", " ", " "],
            [" ", " ", "5", "6"]])

    def test_pipe(self):
        """A pipe has the columns of its first sample; further paths are noted.
        """
        done = self.run_program("cook", "--format", "pdh-csv", "-",
                                stdin=self.LATER_INSTANCES)
        rows = cells(done.out)
        self.assertEqual(done.status, 0)
        self.assertEqual(rows[0][1:], ["\\Disk(a)\\Bytes"])
        self.assertEqual([row[1:] for row in rows[1:]],
                         [["1"], ["3"], [" "], [" "]])
        self.assertEqual(done.err.splitlines(), [
            "-: note: sample 1: \\Disk(b)\\Bytes has no column",
            "-: note: sample 3: \\Disk(c)\\Bytes and 1 more have no column"])

    def test_pipe_whose_first_sample_is_empty(self):
        """A pipe has the columns of its first sample with values."""
        done = self.run_program(
            "cook", "--format", "pdh-csv", "-",
            stdin=series_capture([], [("a", 1)], [], [("a", 2)]))
        self.assertEqual([row[1:] for row in cells(done.out)],
                         [["\\Disk(a)\\Bytes"], ["1"], [" "], ["2"]])

    def test_filter(self):
        """Paths that are not selected have no column; all samples have a row.
        """
        rows = cells(self.cook("--path", "\\Disk(b)\\*",
                               self.file("a.pfb", self.LATER_INSTANCES)))
        self.assertEqual([row[1:] for row in rows],
                         [["\\Disk(b)\\Bytes"], [" "], ["2"], ["4"], [" "]])

    def test_repeated_paths(self):
        """Equal paths of a text log remain separate columns."""
        text = ('"(PDH-CSV 4.0)","\\A\\b","\\A\\c","\\A\\b"\r\n'
                '"02/20/2013 05:43:37.844","1"," ","3"\r\n'
                '"02/20/2013 05:43:38.844"," ","5","6"\r\n')
        self.assertEqual(self.cook(self.file("a.csv", text.encode())), text)

    def test_live(self):
        """live writes the columns of the first sample that it shows."""
        done = self.run_live(self.file("a.pfb", self.LATER_INSTANCES),
                             "--format", "pdh-csv", "\\Disk(*)\\*", count=3)
        self.assertEqual([row[1:] for row in cells(done.out)], [
            ["\\Disk(b)\\Bytes", "\\Disk(a)\\Bytes"], ["2", "3"], ["4", " "],
            [" ", " "]])
        self.assertIn("\\Disk(c)\\Bytes and 1 more have no column", done.err)

    def test_no_values(self):
        """Without values there is no output."""
        self.assertEqual(self.cook(self.file("a.pfb", series_capture([]))),
                         "")

    def test_errors_are_reported_once(self):
        """A file is read twice, but its error is reported once."""
        bad = self.file("a.pfb", self.LATER_INSTANCES[:-8])
        done = self.run_program("cook", "--format", "pdh-csv", bad)
        self.assertEqual((done.status, len(done.err.splitlines())), (1, 1))
        self.assertEqual(len(cells(done.out)), 4)
        missing = os.path.join(self.folder, "none")
        done = self.run_program("cook", "--format", "pdh-csv", missing)
        self.assertEqual((done.status, len(done.err.splitlines())), (3, 1))
        self.assertEqual(done.out, "")

    def test_wrong_usage(self):
        """show does not write PDH logs."""
        done = self.run_program("show", "--format", "pdh-csv", "x")
        self.assertEqual(done.status, 2)


class Times(PdhCase):
    """The time zone of a log, and its times."""

    def at(self, *clocks):
        """The path of a file with V2 replies of these times."""
        return self.file("a.bin", b"".join(w.reply(
            w.result(w.COUNTERSET, w.id_list([1]) + w.instance_block(
                w.instance(0, "a", w.v8(1)))),
            stamps=w.clocks(n, clock, 10**7))
            for n, clock in enumerate(clocks)))

    def rows(self, *clocks, zone, options=()):
        """The first cells of the header and of each row."""
        rows = cells(self.cook("--quiet", *options, self.at(*clocks),
                               zone=zone))
        return [row[0] for row in rows]

    @staticmethod
    def clock(*fields):
        """A date and time in 100 ns units since 1601."""
        return (datetime.datetime(*fields) - EPOCH) // \
            datetime.timedelta(microseconds=1) * 10

    @unittest.skipIf(ON_WINDOWS, "TZ is not the time zone of Windows")
    def test_zones(self):
        """The header has the zone of local time, or UTC with --utc."""
        summer = self.clock(2024, 7, 1, 22, 0, 0, 999999)
        for zone, name, bias, shown in (
                (BERLIN, "CEST", -120, "07/02/2024 00:00:00.999"),
                ("NST3:30", "NST", 210, "07/01/2024 18:30:00.999"),
                ("UTC0", "UTC", 0, "07/01/2024 22:00:00.999")):
            self.assertEqual(self.rows(summer, zone=zone), [
                "(PDH-CSV 4.0) (%s)(%d)" % (name, bias), shown])
            self.assertEqual(
                self.rows(summer, zone=zone, options=["--utc"]),
                ["(PDH-CSV 4.0) (UTC)(0)", "07/01/2024 22:00:00.999"])

    @unittest.skipIf(ON_WINDOWS, "TZ is not the time zone of Windows")
    def test_change_to_summer_time(self):
        """All rows have the bias of the first row, also after the change."""
        before = self.clock(2024, 3, 31, 0, 30)
        self.assertEqual(
            self.rows(before, before + 36000000000, zone=BERLIN),
            ["(PDH-CSV 4.0) (CET)(-60)", "03/31/2024 01:30:00.000",
             "03/31/2024 02:30:00.000"])

    def test_times_that_are_no_dates(self):
        """A sample whose clock is not a date has no row."""
        path = self.at(-1, self.clock(2024, 1, 1), 2**63 - 1)
        done = self.run_program("cook", "--format", "pdh-csv", "--utc", path)
        self.assertEqual([row[0] for row in cells(done.out)[1:]],
                         ["01/01/2024 00:00:00.000"])
        self.assertEqual(done.err.count("has no row"), 2)

    @unittest.skipIf(ON_WINDOWS, "TZ is not the time zone of Windows")
    def test_a_first_time_that_is_no_date(self):
        """The header has the zone of the first sample with a row."""
        for clock in (-1, 0, 2**63 - 1):
            rows = self.rows(clock, self.clock(2024, 7, 1), zone="AAA5")
            self.assertEqual(rows, ["(PDH-CSV 4.0) (AAA)(300)",
                                    "06/30/2024 19:00:00.000"], clock)

    def test_unknown_zone(self):
        """If the offset of a log from UTC is unknown, its times are written
        unchanged, in any time zone, and the header has no zone."""
        path = seed("log", "valid_fewer_items.blg")
        for zone in (BERLIN, "UTC0"):
            rows = cells(self.cook("--quiet", path, zone=zone))
            self.assertEqual([rows[0][0], rows[1][0]], [
                "(PDH-CSV 4.0)", "02/19/2013 18:50:17.844"])


class RoundTrip(PdhCase):
    """cook reads logs that it wrote."""

    def check(self, *arguments, options=()):
        """Asserts that values, times and paths are the same after cook wrote
        them to a log, in several time zones, and read the log."""
        expected = self.values(*arguments)
        self.assertTrue(expected)
        for form in SEPARATORS:
            for zone in (BERLIN, "NST3:30"):
                for utc in ((), ("--utc",)):
                    out = self.cook(*arguments, *utc, form=form, zone=zone)
                    read = self.values(self.file("out", out.encode()))
                    got = {row[:-1]: row[-1] for row in read}
                    self.assertEqual(len(got), len(read))
                    self.assertEqual(
                        {row: value for row, value in got.items()
                         if value is not None},
                        {row[:-1]: row[-1] for row in expected
                         if row[-1] is not None})

    def test_logs(self):
        """Binary logs keep values, times and paths."""
        for name in ("counters", "objects", "parts"):
            self.check(seed("log", "valid_%s.blg" % name))

    def test_text(self):
        """Text logs keep values, times and paths."""
        for name in ("valid_csv.csv", "valid_typeperf.csv", "valid_utf8.csv"):
            self.check("--quiet", seed("pdh_text", name))

    def test_capture(self):
        """Captures keep values, times and paths."""
        self.check(self.file("a.pfb", captures.three_sets()))

    def test_numbers(self):
        """Numbers are read as the nearest double, as Python's float() does.
        The texts include doubles of any exponent, numbers halfway between two
        doubles, and numbers that differ from those in the last digit."""
        source = random.Random(1)
        texts = []
        for _ in range(2000):
            bits = source.getrandbits(63) % (0x7FE << 52)
            low, high = struct.unpack("<dd", struct.pack("<QQ", bits, bits + 1))
            middle = (Fraction(low) + Fraction(high)) / 2
            power = middle.denominator.bit_length() - 1
            digits = middle.numerator * 5**power
            zeros = source.randrange(900)
            texts += ["%.17g" % low, "%.*e" % (source.randrange(30), high),
                      "-%de-%d" % (digits, power),
                      "%d%s1E-%d" % (digits, "0" * zeros, power + zeros + 1),
                      "%d%se-%d" % (digits - 1, "9" * zeros, power + zeros),
                      "%d.%de%+d" % (source.getrandbits(40), source.getrandbits(
                          source.randrange(1, 80)), source.randrange(-350, 290))]
        body = '"(PDH-CSV 4.0)","\\A\\b"\n' + "".join(
            '"01/01/2000 00:00:00.000","%s"\n' % text for text in texts)
        read = self.run_json("show", self.file("a.csv", body.encode()))
        values = [v["value"] for v in read if v["record"] == "value"]
        self.assertEqual([float(text).hex() for text in texts],
                         [float(value).hex() for value in values])

    def test_second_implementation(self):
        """The reader of tests/oracle accepts the log without a note."""
        raw = log_seeds.log_seeds()["valid_counters"]
        out = self.cook("--utc", "--kind", "log",
                        self.file("a.blg", raw)).encode()
        text = pdh_text_reader.Text(out)
        self.assertEqual((text.error, text.notes), (None, set()))
        self.assertEqual(text.header, {"has_version": True, "bias": 0})
        self.assertEqual(text.rows, 2)

    def test_machine_names_are_kept(self):
        """The paths keep the machine names of a binary log."""
        entries = [log.path(0x00010000, 0, "\\\\" + m, "Memory", None, "Free")
                   for m in ("A", "B")]
        raw = log.log(*log.paths(*entries), *log.sample(
            log.counter(1, 0), log.counter(2, 0, status=0x800007D0)))
        rows = cells(self.cook("--kind", "log", self.file("a.blg", raw)))
        self.assertEqual([row[1:] for row in rows], [
            ["\\\\A\\Memory\\Free", "\\\\B\\Memory\\Free"], ["1", " "]])


@needs_real_data
class Real(PdhCase):
    """Logs of real machines, some with values computed independently."""

    def path(self, name):
        """The path of a captured log."""
        return real("blg", name)

    def test_times(self):
        """The times that the log stores are local: UTC minus 8 hours."""
        with open(self.path("win8-counters.expected.jsonl"),
                  encoding="utf-8") as file:
            times = {e["sample"]: e["time"] for e in map(json.loads, file)}
        rows = cells(self.cook("--utc", self.path("win8-counters.blg")))
        self.assertEqual([row[0] for row in rows[1:]],
                         [moment(times[n] + 8 * 36000000000)
                          for n in range(len(times))])

    def test_objects(self):
        """Of a truncated log of whole objects, the values before the end are
        written."""
        path = self.path("vista-objects-cut.blg")
        done = self.run_program("cook", "--format", "pdh-csv", "--utc", path)
        self.assert_error(done, 1, path, 262144, "truncated_record")
        rows = cells(done.out)
        self.assertEqual(len(rows), 1 + 3)
        header = rows[0]
        expected = self.run_program("cook", "--format", "json", path)
        count = 0
        for v in expected.objects():
            if v["value"] is None:
                continue
            path = "\\\\ZACH-PC\\" + v["set"]
            if v["instance"] is not None:
                path += "(%s%s%s)" % (
                    v["parent"] + "/" if v["parent"] is not None else "",
                    v["instance"],
                    "#%d" % v["occurrence"] if v["occurrence"] else "")
            column = header.index(path + "\\" + v["counter"])
            self.assertEqual(float(rows[1 + v["sample"]][column]), v["value"])
            count += 1
        self.assertEqual(count, sum(cell != " " for row in rows[1:]
                                    for cell in row[1:]))

    def test_every_value(self):
        """The numbers are the expected ones to the last bit."""
        for name in ("win8-counters", "many-machines"):
            samples = {}
            with open(self.path(name + ".expected.jsonl"),
                      encoding="utf-8") as file:
                for line in file:
                    v = json.loads(line)
                    path = "%s\\%s%s\\%s" % (
                        v["machine"], v["object"], "(%s)" % v["instance"] if
                        v["instance"] is not None else "", v["counter"])
                    samples.setdefault(v["sample"], {})[path] = v["value"]
            for form in SEPARATORS:
                rows = cells(self.cook(self.path(name + ".blg"), form=form),
                             form)
                self.assertEqual(len(rows), 1 + len(samples))
                for number, row in enumerate(rows[1:]):
                    self.assertEqual({
                        path: None if cell == " " else float(cell)
                        for path, cell in zip(rows[0][1:], row[1:])
                        if cell != " " or path in samples[number]},
                        samples[number])


if __name__ == "__main__":
    unittest.main()
