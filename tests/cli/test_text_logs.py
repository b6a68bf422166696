# SPDX-License-Identifier: MIT
"""Text logs that other programs have saved, and what is lost of them."""

import datetime
import itertools
import random
import re
import unittest

from program import Case

HEAD = '"(PDH-CSV 4.0) (UTC)(0)"'
MEMORY = '"\\\\A\\Memory\\Available MBytes"'
BIAS = -120  # minutes

# How programs write a time: (order of the date, whether seconds are written,
# function).
DATES = {
    "perfmon": ("mdy", lambda t: t.strftime("%m/%d/%Y %H:%M:%S.000")),
    "mdy": ("mdy", lambda t: "%d/%d/%d %d:%02d:%02d" % (
        t.month, t.day, t.year, t.hour, t.minute, t.second)),
    "mdy_short": ("mdy", lambda t: "%d/%d/%d %d:%02d" % (
        t.month, t.day, t.year, t.hour, t.minute)),
    "mdy_half": ("mdy", lambda t: "%d/%d/%d " % (
        t.month, t.day, t.year) + t.strftime("%I:%M:%S %p")),
    "dmy": ("dmy", lambda t: t.strftime("%d/%m/%Y %H:%M:%S")),
    "dmy_half": ("dmy", lambda t: t.strftime("%d/%m/%Y %I:%M:%S %p").lower()),
    "dmy_half_spanish": ("dmy", lambda t: t.strftime("%d/%m/%Y %I:%M:%S ") +
                         "ap"[t.hour // 12] + ".\u00a0m."),
    "dmy_dots": ("dmy", lambda t: t.strftime("%d.%m.%Y %H:%M:%S")),
    "dmy_czech": ("dmy", lambda t: "%d. %d. %d %d:%02d:%02d" % (
        t.day, t.month, t.year, t.hour, t.minute, t.second)),
    "dmy_croatian": ("dmy", lambda t: "%d.%d.%d. %d:%02d:%02d" % (
        t.day, t.month, t.year, t.hour, t.minute, t.second)),
    "dmy_dashes": ("dmy", lambda t: t.strftime("%d-%m-%Y %H.%M.%S")),
    "iso": ("ymd", lambda t: t.strftime("%Y-%m-%dT%H:%M:%S.250")),
    "iso_blank": ("ymd", lambda t: t.strftime("%Y-%m-%d %H:%M:%S")),
    "ymd": ("ymd", lambda t: t.strftime("%Y/%m/%d %H:%M")),
    "ymd_dots": ("ymd", lambda t: t.strftime("%Y. %m. %d. %H:%M:%S")),
}
SHORT = ("mdy_short", "ymd")
ENCODINGS = {"utf8": ("utf-8", b""), "mark": ("utf-8", b"\xef\xbb\xbf"),
             "ansi": ("cp1252", b""),
             "wide": ("utf-16-le", b"\xff\xfe"),
             "wide_big": ("utf-16-be", b"\xfe\xff"),
             "wide_bare": ("utf-16-le", b""),
             "wide_big_bare": ("utf-16-be", b"")}
HEADERS = {"zone": ("(PDH-CSV 4.0) (Zone)(%d)" % BIAS, True),
           "version": ("(PDH-CSV 4.0)", False),
           "only_zone": ("(Zone)(%d)" % BIAS, True)}


def cells_line(cells, separator, is_quoted):
    """A line."""
    mark = '"' if is_quoted else ""
    return separator.join(mark + cell + mark for cell in cells)


def number_in(cell, decimal):
    """The number in a cell, in which the other sign of "." and "," separates
    thousands; None if the cell has none."""
    thousands = "," if decimal == "." else r"\."
    match = re.fullmatch(r"(-?(?:\d+|[1-9]\d{0,2}(?:%s\d{3})+))(?:%s(\d*))?(e.\d+)?" % (
        thousands, re.escape(decimal)), cell)
    return float("".join([re.sub(r"[.,]", "", match[1]), ".", match[2] or "",
                          match[3] or ""])) if match else None


class Log:
    """A random log: its file, and what a reader returns of it."""

    def __init__(self, rng, number, form):
        self.separator, self.decimal, self.date, encoding, header = form
        self.machine = "\\\\L%d" % number
        self.order, write = DATES[self.date]
        first, has_bias = HEADERS[header]
        names = [self.machine + "\\Caf\u00e9(%d)\\Rate" % i for i in range(3)]
        # Without quotation marks, commas cannot be both signs.
        quoted = rng.random() < 0.5 or self.separator == self.decimal
        lines = [cells_line([first] + names, self.separator, quoted)]
        time = datetime.datetime(2000 + number // 300, 1, 1) + \
            datetime.timedelta(days=number % 300, seconds=rng.randrange(43200))
        self.expected, self.rows, self.has_bias = {}, [], has_bias
        for _ in range(rng.randrange(1, 5)):
            time += datetime.timedelta(seconds=rng.randrange(60, 40000))
            values = [self.value(rng) for _ in names]
            cells = [value.replace(".", self.decimal) for value in values]
            lines.append(cells_line([write(time)] + cells, self.separator,
                                    quoted))
            self.rows.append((write(time), "half" in self.date, cells))
            self.expected[self.shown(time, has_bias)] = [
                float(value) if value.strip() else None for value in values]
        end = rng.choice(["\r\n", "\n", "\r\r\n"])
        top = rng.choice(["", "", "sep=%s\r\n" % self.separator, "\r\n"])
        codec, mark = ENCODINGS[encoding]
        self.data = mark + (top + end.join(lines) + end).encode(codec)
        self.form = form

    def readings(self, order, decimal):
        """[(time, values)] of the rows that can be read in another form."""
        found = []
        for date, has_half, cells in self.rows:
            numbers = [int(part) for part in re.findall(r"\d+", date)]
            is_year_first = numbers[0] > 31  # whatever the option says
            day = dict(zip("ymd" if is_year_first else order, numbers))
            hour, minute, second = (numbers[3:6] + [0])[:3]
            if has_half:
                hour = hour % 12 + 12 * ("p" in date.lower())
            values = [number_in(cell, decimal) for cell in cells]
            try:
                time = datetime.datetime(day["y"], day["m"], day["d"], hour,
                                         minute, second)
            except ValueError:
                continue
            found.append((self.shown(time, self.has_bias), values))
        return found

    def value(self, rng):
        """A number as text, with a point."""
        return rng.choice([
            lambda: "%.17g" % rng.uniform(0, 1000),
            lambda: "%.3f" % rng.uniform(0, 1000),
            lambda: "%d" % rng.randrange(10**6),
            lambda: "-%.2f" % rng.random(), lambda: " ",
            lambda: "%.6e" % rng.uniform(-1, 1)])()

    def shown(self, time, has_bias):
        """The time as cook prints it."""
        if self.date in SHORT:
            time = time.replace(second=0)
        if has_bias:
            time += datetime.timedelta(minutes=BIAS)
        return time.strftime("%Y-%m-%dT%H:%M:%S.") + (
            "2500000" if self.date == "iso" else "0000000") + (
                "Z" if has_bias else "")


class Saved(Case):
    """Logs as other programs save them."""

    def cooked(self, text, *options, name="a.csv"):
        """(values of cook, what is on standard error) of a log."""
        data = text if isinstance(text, bytes) else text.encode()
        done = self.run_program("cook", "--format", "json", *options,
                                self.file(name, data))
        self.assertEqual(done.status, 0, done.err)
        return [(item["time"][:23].rstrip("Z"), item["set"], item["value"])
                for item in done.objects()], done.err

    def refused(self, text, code, words, *options):
        """Asserts that a log is malformed."""
        path = self.file("a.csv", text.encode())
        for command in ("cook", "check", "report"):
            done = self.run_program(command, *options, path)
            self.assertEqual(done.status, 1, (command, done.err))
            self.assertIn(code + ": ", done.err)
            for word in words:
                self.assertIn(word, done.err)

    def test_a_second_header_begins_new_columns(self):
        """Its bias and its columns are those of the rows after it."""
        head = '"(PDH-CSV 4.0) (Zone)(%d)",' + MEMORY + "\r\n"
        text = (head % -60 + '"03/25/2023 12:00:00.000","1"\r\n' +
                head % -120 + '"03/27/2023 12:00:00.000","2"\r\n')
        self.assertEqual(self.cooked(text)[0], [
            ("2023-03-25T11:00:00.000", "Memory", 1),
            ("2023-03-27T10:00:00.000", "Memory", 2)])
        for mark in (b"\xff\xfe", b"\xfe\xff"):  # each file has one
            codec = "utf-16-%se" % "bl"[mark[0] == 0xff]
            wide = text.replace('"(PDH', '\ufeff"(PDH').encode(codec)
            self.assertEqual(self.cooked(wide)[0], self.cooked(text)[0])
        self.assertEqual(self.cooked(text.replace('"(PDH', '\ufeff(PDH')
                                     .replace(')",', "),"))[0],
                         self.cooked(text)[0])
        threads = '"\\\\A\\System\\Threads"'
        text = (HEAD + "," + MEMORY + "," + threads + "\r\n"
                '"03/25/2023 12:00:00.000","1","2"\r\n' +
                HEAD + "," + threads + "\r\n"
                '"03/27/2023 12:00:00.000","1500"\r\n')
        self.assertEqual(self.cooked(text)[0], [
            ("2023-03-25T12:00:00.000", "Memory", 1),
            ("2023-03-25T12:00:00.000", "System", 2),
            ("2023-03-27T12:00:00.000", "System", 1500)])

    def test_other_headers(self):
        """Rows are never read under the names of a header that is not theirs;
        the line of one that cannot be read is named."""
        threads = ',"\\\\A\\System\\Threads"\r\n'
        top = HEAD + "," + MEMORY + '\r\n"03/25/2023 12:00:00.000","1"\r\n'
        rest = threads + '"03/27/2023 12:00:00.000","1500"\r\n'
        first = ("2023-03-25T12:00:00.000", "Memory", 1)
        for header, noted in (
                ('"(Zone)(-60)"', None), ("(Zone)(-60)", None),
                ("\ufeff(Zone)(-60)", None),
                ('"03/26/2023 12:00:00.000","7"(PDH-CSV 4.0) (Zone)(-60)"',
                 "1 lines that are no rows were skipped, the first in line 3"),
                ('"03/26/20"(PDH-CSV 4.0) (Zone)(-60)"',
                 "1 lines that are no rows were skipped, the first in line 3"),
                ('"03/26/2023 12:00:00.000","7\ufeff"(PDH-CSV 4.0) (Z)(-60)"',
                 "1 lines that are no rows were skipped, the first in line 3")):
            for codec in ("utf-8", "utf-16", "utf-16-be"):
                values, err = self.cooked((top + header + rest).encode(codec))
                self.assertEqual(values, [first, (
                    "2023-03-27T11:00:00.000", "System", 1500)], header)
                self.assertEqual("skipped" in err, noted is not None, header)
                self.assertIn(noted or "", err)
        for header in ('"(PDH-CSV 5.0) (Zone)(-60)"', '"(PDH-CSV',
                       "(PDH-TSV 4"):
            path = self.file("a.csv", (top + header + rest).encode())
            for command in ("cook", "check", "report"):
                done = self.run_program(command, path)
                self.assertEqual(done.status, 1, (command, header))
                self.assertNotIn("1500", done.out)
                self.assertIn(path + ": note: line 3 is not read, nor are "
                              "those after it\n", done.err)
        self.refused((top + rest).replace("4.0) (UTC)", "5.0) (UTC)"),
                     "unknown_format", [])

    def test_excel(self):
        """The log that a German Excel has saved."""
        text = ("(PDH-CSV 4.0) (Mitteleurop\u00e4ische Sommerzeit)(-120);"
                "\\\\S\\Prozessor(_Total)\\Prozessorzeit (%);"
                "\\\\S\\Arbeitsspeicher\\Verf\u00fcgbare MB\r\n"
                "30.04.2019 18:41:05;3,526;2048\r\n"
                "30.04.2019 18:41:20;4,75;2049\r\n").encode("cp1252")
        values, err = self.cooked(text)
        self.assertEqual([(time, value) for time, _, value in values], [
            ("2019-04-30T16:41:05.000", 3.526),
            ("2019-04-30T16:41:05.000", 2048),
            ("2019-04-30T16:41:20.000", 4.75),
            ("2019-04-30T16:41:20.000", 2049)])
        self.assertIn("note: the log is not as perfmon writes it; it is read "
                      "with semicolons between cells, with decimal commas, "
                      "with dates as day, month, year\n", err)

    def test_times_without_dates(self):
        """They are malformed, with the reason and the first line."""
        self.refused("(PDH-CSV 4.0) (Eastern Daylight Time)(240),\\\\S\\A\\B,"
                     "\\\\S\\A\\C,\r\n18:41.5,3526,0,\r\n18:56.5,3527, ,\r\n",
                     "no_date", ["the times have no date",
                                 "the first in line 2"])

    def test_empty_columns(self):
        """Excel writes separators after the last column and the last row."""
        text = ("(PDH-CSV 4.0) (Zone)(-60);\\\\S\\A\\B;\\\\S\\C\\D;;;\r\n"
                "30.04.2019 18:41:05;3,5;4;;;\r\n30.04.2019 18:41:06;4,5;;;;\r\n"
                ";;;;;\r\n;;;;;\r\n")
        values, err = self.cooked(text)
        self.assertEqual([row[1:] for row in values], [
            ("A", 3.5), ("C", 4), ("A", 4.5), ("C", None)])
        self.assertNotIn("fewer or more cells", err)

    def test_lines_that_end_in_cr_alone(self):
        """The log is refused, not taken for one without samples."""
        for text in (HEAD + "," + MEMORY + '\r"05/15/2018 02:13:06.123","1"\r',
                     "(PDH-CSV 4.0),\\\\S\\A\\B\r4/30/2019 8:41,1\r"):
            path = self.file("a.csv", text.encode())
            for command in ("cook", "check", "report"):
                done = self.run_program(command, path)
                self.assertEqual(done.status, 1, (command, done.err))
                self.assertRegex(done.err, "no row can be read|the text ends")

    def test_times_of_unknown_forms(self):
        """Lines with a number after the first cell are rows."""
        for row in ("43235.59236,1", "Tuesday 15 May 2018 14:13,1",
                    "15-May-18,1", "5/15/18 14:13,1"):
            self.refused(HEAD + "," + MEMORY + "\r\n" + row + "\r\n",
                         "no_row", ["the first in line 2"])

    def test_other_programs(self):
        """Rows with other dates, separators and encodings."""
        for row, time, value, separator in (
                ('"2017-01-10 16:49:51.250","13.7"', "2017-01-10T16:49:51.250",
                 13.7, ","),
                ('"5/15/2018 2:13:06 PM","1.5"', "2018-05-15T14:13:06.000", 1.5,
                 ","),
                ('"5/15/2018 2:13:06\u202fPM","1.5"',
                 "2018-05-15T14:13:06.000", 1.5, ","),
                ('"15/05/2018 02:13:06 p. m.";"1,5"',
                 "2018-05-15T14:13:06.000", 1.5, ";"),
                ('"05/15/2018 02:13:06.123";"1,5"', "2018-05-15T02:13:06.123",
                 1.5, ";"),
                ('"01/15/2024 10:00:00.000","3,5"', "2024-01-15T10:00:00.000",
                 3.5, ",")):
            text = HEAD + separator + MEMORY + "\r\n" + row + "\r\n"
            with self.subTest(row):
                wanted = [(time, "Memory", value)]
                self.assertEqual(self.cooked(text)[0], wanted)
                self.assertEqual(self.cooked(
                    b"\xff\xfe" + text.encode("utf-16-le"))[0], wanted)

    def test_a_name_with_marks_and_commas(self):
        text = (HEAD + ',"\\\\A\\VM(vm "q", 2)\\CPU",' + MEMORY + "\r\n"
                '"01/01/2020 00:00:00.000","1","2"\r\n')
        self.assertEqual([row[1:] for row in self.cooked(text)[0]],
                         [("VM", 1), ("Memory", 2)])

    def test_ambiguous_dates(self):
        """Both readings and the option are named; the option decides."""
        text = (HEAD + "," + MEMORY + "\r\n5/6/2018 14:13,1\r\n"
                "6/6/2018 14:13,2\r\n")
        self.refused(text, "ambiguous_dates", ["--date-order mdy or dmy"])
        self.assertEqual(self.cooked(text, "--date-order", "mdy")[0][0][0],
                         "2018-05-06T14:13:00.000")
        self.assertEqual(self.cooked(text, "--date-order", "dmy")[0][0][0],
                         "2018-06-05T14:13:00.000")
        self.refused(text + "5/13/2018 1:00,1\r\n13/5/2018 2:00,1\r\n",
                     "ambiguous_dates", [])

    def test_ambiguous_numbers(self):
        """Thousands and decimal commas."""
        text = HEAD + "," + MEMORY + '\r\n"05/15/2018 02:13:06.123","1,234"\r\n'
        self.refused(text, "ambiguous_numbers", ["--decimal", "1.234", "1234"])
        for option, value in ((",", 1.234), (".", 1234)):
            self.assertEqual(self.cooked(text, "--decimal", option)[0][0][2],
                             value)

    def test_separators_of_thousands(self):
        """They are read where they cannot be decimal signs; the rest has no
        value, with a note."""
        for mark in "\u00a0\u202f\u2009'\u2019":
            numbers = [("12%s345" % mark, 12345),
                       ("-1%s234%s567,25" % (mark, mark), -1234567.25),
                       ("1%s23" % mark, None), ("1234%s567" % mark, None)]
            text = HEAD + ";" + MEMORY + "\n" + "".join(
                '05/15/2018 02:13:06.123;"%s"\n' % number
                for number, _ in numbers)
            for codec in ("utf-8", "utf-16", "utf-16-be", "cp1252"):
                if codec == "cp1252" and mark in "\u202f\u2009":
                    continue
                with self.subTest(mark, codec=codec):
                    values, err = self.cooked(text.encode(codec))
                    self.assertEqual([row[2] for row in values],
                                     [value for _, value in numbers])
                    self.assertIn("2 cells that are no numbers have no value, "
                                  "the first in line 4", err)
        for numbers in ([("1,234,567", 1234567), ("1,234.5", 1234.5),
                         ("1,234", None), ("12", 12)],
                        [("1.234.567", 1234567), ("1.234,5", 1234.5),
                         ("1.234", None), ("1,5", 1.5)]):
            text = HEAD + "," + MEMORY + "\n" + "".join(
                '"05/15/2018 02:13:06.123","%s"\n' % number
                for number, _ in numbers)
            self.assertEqual([row[2] for row in self.cooked(text)[0]],
                             [value for _, value in numbers])
        self.refused(HEAD + "," + MEMORY + "\n" + "".join(
            '"05/15/2018 02:13:06.123","%s"\n' % number
            for number in ("1.234,5", "1,234.5")), "ambiguous_numbers", [])

    def test_what_is_lost_is_counted(self):
        """Cells, rows and lines that cannot be read have a count and the line
        of the first one."""
        text = (HEAD + "," + MEMORY + ',"\\\\A\\System\\Threads"\r\n\r\n'
                '"05/15/2018 02:13:06.123","1.5","x"\r\n'
                '"15/05/2018 02:13:07.123","1","2"\r\n'
                '"05/15/2018 02:13:08.123","1"\r\n'
                '"05/15/2018 02:13:09.123","1,5","2"\r\n')
        path = self.file("a.csv", text.encode())
        for command in ("cook", "check", "report"):
            err = self.run_program(command, path).err
            for note in ("1 lines that are no rows were skipped, the first in "
                         "line 4",
                         "1 rows have fewer or more cells than the header, the "
                         "first in line 5",
                         "2 cells that are no numbers have no value, the first "
                         "in line 3"):
                self.assertIn(path + ": note: " + note + "\n", err)
        item, = self.run_program("check", "--format", "json", path).objects()
        self.assertEqual([item[key] for key in (
            "valid", "samples", "values", "unreadable", "skipped_lines")],
            [True, 3, 3, 2, 1])

    def test_loose_commas(self):
        """A row whose decimal commas are also separators is not read."""
        head = HEAD + "," + MEMORY + "\n"
        self.refused(head + "05/15/2018 02:13:06.123,1,5\n", "no_row", [])
        values, err = self.cooked(head + "05/15/2018 02:13:06.123,1\n"
                                  "05/15/2018 02:13:07.123,2,5\n")
        self.assertEqual(len(values), 1)
        self.assertIn("the first in line 3", err)

    def test_pipes(self):
        """The form is found in a pipe, too."""
        text = (HEAD + ";" + MEMORY + "\n" + "".join(
            "%d.04.2019 18:41:05;%d,25\n" % (day, day)
            for day in range(1, 30))).encode()
        done = self.run_program("cook", "-", "--format", "json", stdin=text)
        self.assertEqual([item["value"] for item in done.objects()],
                         [day + 0.25 for day in range(1, 30)])

    def test_a_late_decimal_comma(self):
        """The first MiB shows the form."""
        row = '"05/15/2018 02:13:%02d.%03d","%s"\r\n'
        rows = [row % (i // 1000, i % 1000, "1") for i in range(20000)]
        text = HEAD + "," + MEMORY + "\r\n" + "".join(rows) + \
            row % (30, 0, "1,25")
        self.assertEqual(self.cooked(text)[0][-1][2], 1.25)


# Paths that the tests of a public agent call valid: (path, parts).
VALID_PATHS = [
    (r"\O\CT", (None, "O", None, "CT")),
    (r"\O\CT(i)", (None, "O", None, "CT(i)")),
    (r"\O\CT(d:\f\i)", (None, "O", None, r"CT(d:\f\i)")),
    (r"\\CM\O\CT", (r"\\CM", "O", None, "CT")),
    (r"\O(I)\CT", (None, "O", "I", "CT")),
    (r"\O(I)\CT(i)", (None, "O", "I", "CT(i)")),
    (r"\O(I)\CT(i)x", (None, "O", "I", "CT(i)x")),
    (r"\O(I)\CT(d:\f\i)", (None, "O", "I", r"CT(d:\f\i)")),
    (r"\\CM\O(I)\CT", (r"\\CM", "O", "I", "CT")),
    (r"\O(d:\f\I)\CT", (None, "O", r"d:\f\I", "CT")),
    (r"\O(d:\f\I(d))\CT", (None, "O", r"d:\f\I(d)", "CT")),
    (r"\O(d:\f\I(d)x)\CT", (None, "O", r"d:\f\I(d)x", "CT")),
    (r"\O(d:\f\I)\CT(i)", (None, "O", r"d:\f\I", "CT(i)")),
    (r"\O(d:\f\I)\CT(d:\f\i)", (None, "O", r"d:\f\I", r"CT(d:\f\i)")),
    (r"\\CM\O(d:\f\I)\CT", (r"\\CM", "O", r"d:\f\I", "CT")),
    (r"\\CM\O(d:\f\I)\CT(d:\f\i)", (r"\\CM", "O", r"d:\f\I",
                                       r"CT(d:\f\i)")),
    (r"\O(I(info))\CT", (None, "O", "I(info)", "CT")),
    (r"\\CM\O(I(info))\CT", (r"\\CM", "O", "I(info)", "CT")),
]
CPU = ("\\\\A", "VM", 'vm "q", 2', "CPU")
DISK = ("\\\\HOSTD", "PhysicalDisk", "_Total", "Disk Reads/sec")


def memory(machine, counter="Available MBytes"):
    """The parts of a path."""
    return ("\\\\" + machine, "Memory", None, counter)


# Logs as people have them: {kind: (file, [(time, parts of the path, value)])}.
FOUND = {
    "decimal commas between commas": (
        '"(PDH-CSV 4.0) (Central European Standard Time)(-60)","\\\\HOSTD\\Memory'
        '\\Available MBytes","\\\\HOSTD\\PhysicalDisk(_Total)\\Disk Reads/sec"\n'
        '"01/15/2024 10:00:00.000","2048","3,5"\n'
        '"01/15/2024 10:00:15.000","2049","12,25"\n', [
            ("2024-01-15T09:00:00.000", memory("HOSTD"), 2048),
            ("2024-01-15T09:00:00.000", DISK, 3.5),
            ("2024-01-15T09:00:15.000", memory("HOSTD"), 2049),
            ("2024-01-15T09:00:15.000", DISK, 12.25)]),
    "ISO 8601": (
        '"(PDH-CSV 4.0) (UTC)(0)","\\\\H\\Memory\\Available MBytes"\r\n'
        '"2017-01-10 16:49:51.250","13.7"\r\n"2017-01-10 16:49:52.250","14"\r\n', [
            ("2017-01-10T16:49:51.250", memory("H"), 13.7),
            ("2017-01-10T16:49:52.250", memory("H"), 14)]),
    "typeperf > file": (
        ('"(PDH-CSV 4.0) (UTC)(0)","\\\\H\\Memory\\Available MBytes"\r\n'
         '"05/15/2018 02:13:06.123","1.5"\r\n').encode("utf-16"), [
             ("2018-05-15T02:13:06.123", memory("H"), 1.5)]),
    "typeperf with a footer": (
        '\r\n"(PDH-CSV 4.0)","\\\\R\\Paging File(_Total)\\% Usage","\\\\R\\Memory\\'
        'Commit Limit"\r\n"09/22/2026 21:42:32.824","0.000000","20261367808.0'
        '00000"\r\nExiting, please wait...                         \r\n'
        "The command completed successfully.\r\n\r\n", [
            ("2026-09-22T21:42:32.824", ("\\\\R", "Paging File", "_Total",
                                         "% Usage"), 0),
            ("2026-09-22T21:42:32.824", memory("R", "Commit Limit"),
             20261367808)]),
    "marks and commas in a name": (
        HEAD + ',"\\\\A\\VM(vm "q", 2)\\CPU",' + MEMORY + "\r\n"
        '"01/01/2020 00:00:00.000","1","2"\r\n', [
            ("2020-01-01T00:00:00.000", CPU, 1),
            ("2020-01-01T00:00:00.000", memory("A"), 2)]),
    "one backslash before the machine": (
        HEAD + ',"\\SRVX\\Processor Information(3,3)\\% DPC Time","\\SRVX\\Memory\\'
        'Available MBytes"\r\n"01/01/2020 00:00:00.000","1","2"\r\n', [
            ("2020-01-01T00:00:00.000", (
                "\\\\SRVX", "Processor Information", "3,3", "% DPC Time"), 1),
            ("2020-01-01T00:00:00.000", memory("SRVX"), 2)]),
    "paths": (
        HEAD + "," + ",".join('"%s"' % path for path, _ in VALID_PATHS) +
        '\r\n"05/15/2018 02:13:06.123",' + ",".join(
            '"%d"' % n for n in range(len(VALID_PATHS))) + "\r\n", [
                ("2018-05-15T02:13:06.123", parts, n)
                for n, (_, parts) in enumerate(VALID_PATHS)]),
}


class Found(Case):
    """Logs as people have them."""

    def test_each(self):
        """Times, parts of the paths and values; each path that is printed
        selects its values."""
        for kind, (text, expected) in FOUND.items():
            data = text if isinstance(text, bytes) else text.encode()
            path = self.file("a.csv", data)
            items = self.run_program("cook", "--format", "json",
                                     path).objects()
            with self.subTest(kind):
                self.assertEqual([(item["time"][:23], tuple(
                    item[key] for key in ("machine", "set", "instance",
                                          "counter")), item["value"])
                    for item in items], expected)
            for printed in {item["path"] for item in items}:
                self.assertEqual(self.run_program(
                    "cook", "--format", "json", path, "--path",
                    printed).objects(), [
                        item for item in items if item["path"] == printed or
                        item["path"] == "\\\\CM" + printed])  # any machine

    def test_one_backslash(self):
        """A note says that it was read as that of a machine; other paths are
        read as they are."""
        for paths, machine in (
                ((r"\A\B\C", r"\A\B(d)\C"), r"\\A"),
                ((r"\A\B\C", r"\D\B(d)\C"), None),
                ((r"\A\B\C", r"\A\B"), None),
                ((r"\A\B(c\d)", r"\A\B(c\d)"), None),
                ((r"\A(b)\C\D", r"\A(b)\C\D"), None)):
            text = (HEAD + "," + ",".join('"%s"' % path for path in paths) +
                    '\r\n"01/01/2020 00:00:00.000","1","2"\r\n')
            for codec in ("utf-8", "utf-16", "utf-16-be"):
                done = self.run_program("cook", "--format", "json", self.file(
                    "a.csv", text.encode(codec)))
                self.assertEqual([item["machine"] for item in done.objects()],
                                 [machine] * 2, paths)
                self.assertEqual("name of the machine" in done.err,
                                 machine is not None, paths)


class Random(Case):
    """Logs of all forms."""

    def read(self, logs, *options):
        """{machine: {time: values}} that cook prints, and its messages."""
        paths = [self.file("l%d.csv" % number, log.data)
                 for number, log in enumerate(logs)]
        done = self.run_program("cook", "--format", "json", *options, *paths)
        found = {}
        for item in done.objects():
            row = found.setdefault(item["machine"], {}).setdefault(
                item["time"], [None] * 3)
            row[int(item["instance"])] = item["value"]
        return found, done.err

    def test_every_combination(self):
        """Each log is read as it was written, or refused as ambiguous; with
        the options none is."""
        rng = random.Random(37)
        forms = [form for form in itertools.product(
            ",;\t", ".,", DATES, ENCODINGS, HEADERS)]
        logs = [Log(rng, number, form) for number, form in enumerate(forms)]
        read = 0
        for at in range(0, len(logs), 182):
            batch = logs[at:at + 182]
            found, err = self.read(batch)
            for number, log in enumerate(batch):
                if log.machine in found:
                    self.assertEqual(found[log.machine], log.expected,
                                     (log.form, log.data))
                    read += 1
                else:
                    own = re.search(r"/l%d\.csv: offset \d+: (\w+)" % number,
                                    err)
                    self.assertIn(own and own[1], (
                        "ambiguous_dates", "ambiguous_numbers"), log.form)
        self.assertGreater(read, len(logs) * 6 // 10)
        for order, decimal in itertools.product(("mdy", "dmy", "ymd"), ".,"):
            batch = [log for log in logs
                     if (log.order, log.decimal) == (order, decimal)]
            found, err = self.read(batch, "--date-order", order, "--decimal",
                                   decimal)
            for log in batch:
                self.assertEqual(found.get(log.machine), log.expected,
                                 (log.form, log.data))

    def test_wrong_options(self):
        """With the options of another form, what is read is what the text
        says in that form, too; the rest is refused or left out."""
        rng = random.Random(38)
        forms = [form for form in itertools.product(
            ",;\t", ".,", DATES, ("utf8", "wide"), ("zone", "version"))]
        logs = [Log(rng, number, form) for number, form in enumerate(forms)]
        kept = 0
        for order, decimal in itertools.product(("mdy", "dmy", "ymd"), ".,"):
            batch = [log for log in logs
                     if (log.order, log.decimal) != (order, decimal)]
            found, _ = self.read(batch, "--date-order", order, "--decimal",
                                 decimal)
            for log in batch:
                for time, values in found.get(log.machine, {}).items():
                    self.assertIn((time, values), log.readings(order, decimal),
                                  (log.form, order, decimal, log.data))
                    kept += 1
        self.assertGreater(kept, 100)

    def test_rows_of_another_form(self):
        """A row that contradicts the form of the rows before it is not read."""
        time = datetime.datetime(2018, 5, 25, 14, 13, 0)
        later = time + datetime.timedelta(hours=1)
        styles = [name for name in DATES if name != "perfmon"]
        logs, places = [], []
        for first, second in itertools.product(DATES, styles):
            log = Log(random.Random(1), len(logs), (
                ";", ".", first, "utf8", "zone"))
            lines = ["(PDH-CSV 4.0) (Zone)(%d)" % BIAS + ";" + log.machine +
                     "\\A(0)\\B", DATES[first][1](time) + ";1.5",
                     DATES[second][1](later) + ";2.5"]
            log.data = "\n".join(lines + [""]).encode()
            log.date = first
            log.expected = {log.shown(time, True): [1.5, None, None]}
            log.date = second
            places.append(log.shown(later, True))
            logs.append(log)
        found, err = self.read(logs)
        for number, (log, place) in enumerate(zip(logs, places)):
            rows = dict(found.get(log.machine, {}))
            extra = rows.pop(place, [2.5, None, None])
            if "l%d.csv: offset" % number in err and not rows:
                continue  # dates that contradict each other
            self.assertEqual((rows, extra), (log.expected, [2.5, None, None]),
                             log.data)


if __name__ == "__main__":
    unittest.main()
