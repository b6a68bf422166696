# SPDX-License-Identifier: MIT
"""Formulas from CSV: parsing, output and errors. The values are those of the
vectors in corpus/formula, which eval compares with their expectations."""

import csv
import io
import os
import re
import subprocess
import unittest
from fractions import Fraction

from program import ON_WINDOWS, SECONDS, Case, program

HEADER = ["id", "status", "value", "integer", "flags"]
MAX_BYTES = 65536
ERROR_LINE = re.compile(r"^(?P<file>.*): offset (?P<offset>\d+): (?P<code>\w+): "
                   r"line (?P<line>\d+)(, column (?P<column>\d+)"
                   r"( \((?P<name>\w+)\))?)?: (?P<text>.+)$")

FRACTION = "PERF_LARGE_RAW_FRACTION"
RAW = "PERF_COUNTER_LARGE_RAWCOUNT"


def table(rows):
    """CSV from dicts, with a column for each key of any of them."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    out = io.StringIO()
    writer = csv.DictWriter(out, names, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue().encode()


def rounded(exact):
    """The double nearest to a fraction."""
    return exact.numerator / exact.denominator  # rounds once


class EvalCase(Case):
    """Runs eval on CSV that a test makes."""

    def evaluate(self, rows):
        """The output rows for these input rows, which must have no errors."""
        done = self.run_fine("eval", stdin=table(rows))
        return self.parse(done)

    def parse(self, done):
        """Standard output as dicts."""
        rows = list(csv.reader(io.StringIO(done.out)))
        self.assertEqual(rows[0], HEADER)
        self.assertTrue(all(len(row) == len(HEADER) for row in rows))
        return [dict(zip(HEADER, row)) for row in rows[1:]]

    def result(self, **row):
        """(status, value, integer, flags) of one row."""
        found, = self.evaluate([row])
        self.assertEqual(found["id"], row.get("id", ""))
        return tuple(found[name] for name in HEADER[1:])

    def value(self, **row):
        """The value of a row; its status must be ok."""
        status, value, _, _ = self.result(**row)
        self.assertEqual(status, "ok", row)
        return float(value)

    def status(self, **row):
        """The status of a row that must have no value and no flags."""
        status, *rest = self.result(**row)
        self.assertEqual(rest, ["", "", ""], row)
        return status

    def error_lines(self, done):
        """The error lines; each must name a line."""
        found = [ERROR_LINE.match(line) for line in done.err.splitlines()]
        self.assertTrue(all(found), done.err)
        return found

    def one_error(self, data):
        """Runs with data that has one error; returns the error and the rows
        that were evaluated."""
        done = self.run_program("eval", "-", stdin=data)
        self.assertEqual(done.status, 1, data[:200])
        error, = self.error_lines(done)
        self.assertEqual(error["file"], "-")
        return error, self.parse(done) if done.out else None


class Values(EvalCase):
    """How values are read and printed."""

    def test_integers_are_exact(self):
        """Integers up to 2^64 - 1, decimal or hexadecimal, are printed
        exactly."""
        for number in (0, 1, 2**53 + 1, 2**64 - 1):
            for text in (str(number), hex(number), "0x%X" % number):
                status, value, integer, flags = self.result(
                    type=RAW, value1=text)
                self.assertEqual((status, integer, flags), (
                    "ok", str(number),
                    "may_be_negative" if number >= 2**63 else ""))
                self.assertEqual(float(value), float(number))
        self.assertEqual(self.result(type=FRACTION, value1=1, base1=8),
                         ("ok", "12.5", "", ""))

    def test_shortest_form(self):
        """Doubles have as few digits as Python's repr() and read back the
        same."""
        pairs = [(n, d) for n in (1, 2**20, 2**63) for d in
                 (2**k for k in range(64))]
        pairs += [(1, 3), (2, 3), (10**17, 7), (2**64 - 1, 3), (1, 10**19)]
        rows = self.evaluate([{
            "type": FRACTION, "mode": "scale=-2", "value1": n, "base1": d}
            for n, d in pairs])
        for row, (n, d) in zip(rows, pairs):
            exact = rounded(Fraction(n, d))
            self.assertEqual(float(row["value"]), exact)
            digits = [len(re.sub(r"e.*|\D", "", text).strip("0"))
                      for text in (row["value"], repr(exact))]
            self.assertEqual(digits[0], digits[1], (row, exact))


class Samples(EvalCase):
    """Which cells form a sample, and to which clock `time` belongs."""

    def test_older_sample(self):
        """A row has an older sample if its cell in any column whose name ends
        in 0 is not empty."""
        row = {"type": "PERF_COUNTER_DELTA", "value0": "", "value1": 9}
        self.assertEqual(self.status(**row), "need_two_samples")
        self.assertEqual(self.status(**row, object_freq0=1), "missing_input")
        for name, cell in (("type0", "PERF_COUNTER_DELTA"), ("time0", 1),
                           ("base_type0", "PERF_RAW_BASE"), ("multi0", 0)):
            self.assertEqual(self.status(**row, **{name: cell}),
                             "missing_input")
        self.assertEqual(self.value(**{**row, "value0": 4}), 5)
        self.assertEqual(self.status(type="PERF_COUNTER_DELTA", value0=4),
                         "missing_input")

    def test_types_by_name_and_number(self):
        """A type is given by its name or its number; numbers without a name
        are unknown types."""
        for name in (RAW, "0x00010100", "0x10100", "65792"):
            self.assertEqual(self.value(type=name, value1=3), 3)
        self.assertEqual(self.status(type="PERF_PRECISION_TIMESTAMP",
                                     value1=3), "not_displayed")
        self.assertEqual(self.status(type="0x00012000", value1=3),
                         "unknown_type")

    def test_the_type_selects_the_clock_of_time(self):
        for name, time, frequency in (
                ("PERF_COUNTER_COUNTER", "perf_time", "perf_freq"),
                ("PERF_100NSEC_TIMER", "perf_time_100ns", None),
                ("PERF_OBJ_TIME_TIMER", "object_time", "object_freq"),
                ("PERF_ELAPSED_TIME", "object_time", "object_freq")):
            row = {"type": name, "value0": 1, "value1": 2}
            expected = self.value(**row, time0=10, time1=13, frequency0=7,
                                  frequency1=7)
            clock = {time + "0": 10, time + "1": 13}
            if frequency:
                clock[frequency + "1"] = 7
            self.assertEqual(expected, self.value(**row, **clock))
            for number in "01":  # the other clocks are not used
                others = {name + number: 99 for name in (
                    "perf_time", "perf_time_100ns", "object_time")
                    if name != time}
                self.assertEqual(expected,
                                 self.value(**row, **clock, **others))
            del clock[time + "1"]
            self.assertEqual(self.status(**row, **clock), "missing_input")

    def test_time_without_a_clock(self):
        """Types that use no clock ignore times."""
        row = {"value1": 3, "time1": 4, "frequency1": 5, "perf_time1": 6}
        self.assertEqual(self.value(type=RAW, **row), 3)
        self.assertEqual(self.status(type="0x00012000", **row),
                         "unknown_type")

    def test_time_of_types_without_name(self):
        """Type 0x00610500 has no name. Its bits describe a rate over the
        object's clock, and only mode `generic` uses them."""
        row = {"type": "0x00610500", "mode": "generic", "value0": 0,
               "value1": 6, "time0": 0, "time1": 4, "frequency1": 10}
        self.assertEqual(self.value(**row), 15)
        error, _ = self.one_error(table([{**row, "object_time1": 4}]))
        self.assertEqual(error["name"], "time1")
        self.assertEqual(self.status(**{**row, "mode": ""}), "unknown_type")

    def test_a_clock_given_twice(self):
        for name, clock, generic in (
                ("PERF_COUNTER_COUNTER", "perf_time1", "time1"),
                ("PERF_COUNTER_COUNTER", "perf_freq0", "frequency0"),
                ("PERF_100NSEC_TIMER", "perf_time_100ns0", "time0"),
                ("PERF_OBJ_TIME_TIMER", "object_time1", "time1"),
                ("PERF_ELAPSED_TIME", "object_freq1", "frequency1")):
            for names in ((clock, generic), (generic, clock)):
                error, rows = self.one_error(table([
                    {"type": name, **dict.fromkeys(names, 5)}]))
                self.assertEqual((error["code"], error["line"], error["name"],
                                  rows), ("bad_cell", "2", generic, []))

    def test_rows_shorter_than_the_header(self):
        done = self.run_fine("eval", stdin=b"id,type,value1,base1\n"
                             b"a,PERF_COUNTER_RAWCOUNT,5\n"
                             b"b,PERF_RAW_FRACTION,5\n")
        self.assertEqual([row["status"] for row in self.parse(done)],
                         ["ok", "missing_base"])


    def test_two_values_of_another_library(self):
        """A raw count and a delta, with the columns of a public test. The
        column of its own results is passed over."""
        done = self.run_fine("eval", stdin=(
            b"id,type,mode,value0,base0,time0,frequency0,value1,base1,time1,"
            b"frequency1,expected_value\n"
            b"net1,PERF_COUNTER_RAWCOUNT,,,,,,5,,,,5\n"
            b"net2,PERF_COUNTER_DELTA,,5,,0,0,15,,0,0,10\n"))
        self.assertEqual([(row["id"], row["status"], row["value"])
                          for row in self.parse(done)],
                         [("net1", "ok", "5"), ("net2", "ok", "10")])


class Modes(EvalCase):
    """The options of column `mode`, one by one and together."""

    def test_pdh_order(self):
        """(1 - N / D) * 100 in doubles; the exact value ends with other
        digits."""
        row = {"type": "PERF_100NSEC_TIMER_INV", "value0": 0, "time0": 0,
               "value1": 609851, "time1": 77665755}
        in_order = (1 - 609851.0 / 77665755.0) * 100
        exact = rounded(Fraction(100 * (77665755 - 609851), 77665755))
        self.assertNotEqual(in_order, exact)
        for mode, value in (("", exact), ("pdh_order", in_order)):
            self.assertEqual(float(self.result(**row, mode=mode)[1]), value)

    def test_several(self):
        """Several options are separated by blanks, in any order."""
        row = {"type": FRACTION, "value1": 3, "base1": 2}
        for mode in ("cap_100 scale=-2", "scale=-2 cap_100",
                     " \tscale=-2  cap_100\tclamp_0 wrap32 generic "
                     "server_2003 per_item_inverse "):
            self.assertEqual(self.result(**row, mode=mode),
                             ("ok", "1", "1", "above_100"))

    def test_an_option_applies_to_its_row_only(self):
        rows = self.evaluate([{"type": FRACTION, "mode": mode, "value1": 3,
                               "base1": 2} for mode in ("", "cap_100", "")])
        self.assertEqual([row["value"] for row in rows],
                         ["150", "100", "150"])

    def test_flags(self):
        """Values out of range have flags, in a fixed order."""
        self.assertEqual(self.result(
            type="PERF_100NSEC_TIMER_INV", value0=0, value1=3, time0=0,
            time1=2), ("ok", "-50", "", "below_zero"))
        self.assertEqual(self.result(
            type="PERF_SAMPLE_FRACTION", mode="wrap32", value0=2**32 - 1,
            value1=9, base0=1, base1=6), ("ok", "200", "200",
                                          "wrapped above_100"))


class Errors(EvalCase):
    """Cells that cannot be read are reported with their position; the other
    rows are evaluated."""

    def test_cells(self):
        """The reported offset, line and column are those of the cell."""
        names = ["id", "type", "mode", "type0", "base_type1", "value0",
                 "base1", "multi1", "time0", "frequency1", "perf_time0",
                 "perf_time_100ns1", "object_time1", "perf_freq1",
                 "object_freq0"]
        good = ["good", RAW] + [""] * (len(names) - 2)
        types = ("PERF_NOTHING", "perf_counter_rawcount", "0x100000000",
                 "-1", "0x", "1x")
        counts = ("12x", "x", "-1", "+1", "1.0", "1e3", "0x", "0xG", "1 2",
                  "18446744073709551616", "0x10000000000000000",
                  "99999999999999999999999")
        clocks = ("12x", "-", "--1", "+1", "1.0", "9223372036854775808",
                  "-9223372036854775809", "0x8000000000000000")
        modes = ("wrap", "WRAP32", "scale", "scale=", "scale=x", "scale=1.5",
                 "scale=128", "scale=-129", "wrap32,cap_100",
                 "wrap32 wrap32", "scale=1 scale=1", "cap_100 x")
        cells = {"type": types + ("",), "mode": modes, "type0": types,
                 "base_type1": types}
        for position, name in enumerate(names):
            wrong = cells.get(name, clocks if "time" in name or "freq" in name
                              else counts if name != "id" else ())
            for cell in wrong:
                bad = list(good)
                bad[position] = '"%s"' % cell if "," in cell else cell
                before = ",".join(names) + "\n" + ",".join(good) + "\n"
                offset = len(before) + len(",".join(bad[:position] + [""]))
                data = before + ",".join(bad) + "\n" + ",".join(good)
                error, rows = self.one_error(data.encode())
                self.assertEqual(
                    (int(error["offset"]), error["code"], error["line"],
                     error["column"], error["name"]),
                    (offset, "bad_cell", "3", str(position + 1), name), cell)
                self.assertEqual([row["id"] for row in rows], ["good"] * 2)

    def test_messages(self):
        """Messages quote the cell, escaped and cut to 60 columns."""
        for cell, text in (("12x", '"12x" is not a number'),
                           ("18446744073709551616",
                            '"18446744073709551616" is out of range'),
                           ("\x1b[2J", '"\\u001B[2J" is not a number'),
                           ("1" * 70, '"%s\u2026" is out of range' %
                            ("1" * 59))):
            error, _ = self.one_error(table([{"type": RAW, "value1": cell}]))
            self.assertEqual(error["text"], text)
        error, _ = self.one_error(table([{"type": RAW,
                                          "mode": "cap_100 wrap"}]))
        self.assertIn('"wrap"', error["text"])

    def test_every_bad_cell_of_a_row(self):
        """Each malformed cell of a row is reported."""
        done = self.run_program("eval", stdin=table([
            {"id": "a", "type": RAW, "value1": "x", "base1": "y"},
            {"id": "b", "type": RAW, "value1": 1}]))
        self.assertEqual([(e["line"], e["name"]) for e in
                          self.error_lines(done)],
                         [("2", "value1"), ("2", "base1")])
        self.assertEqual([row["id"] for row in self.parse(done)], ["b"])
        self.assertEqual(done.status, 1)

    def test_cells_beyond_the_header(self):
        """Cells beyond the last column are an error of their row."""
        error, rows = self.one_error(b"type,value1\n0x10000,1,2,3\n0x10000,4")
        self.assertEqual((error["code"], error["line"], error["column"],
                          error["offset"]), ("bad_cell", "2", "3", "22"))
        self.assertEqual([row["value"] for row in rows], ["4"])
        error, rows = self.one_error(b"type,value1\n0x10000,1,")
        self.assertEqual((error["column"], rows), ("3", []))

    def test_column_names(self):
        """Unknown and repeated columns are errors; their cells are not used.
        """
        data = b"id,type,Value1,value1,id\na,0x10000,x,5,b\n"
        done = self.run_program("eval", stdin=data)
        self.assertEqual(done.status, 1)
        self.assertEqual(
            [(e["code"], e["line"], e["column"], int(e["offset"]))
             for e in self.error_lines(done)],
            [("bad_column", "1", "3", data.index(b"Value1")),
             ("bad_column", "1", "5", data.index(b"id\n"))])
        self.assertIn('"Value1"', done.err)
        row, = self.parse(done)
        self.assertEqual((row["id"], row["value"]), ("a", "5"))
        for name in ("", "expected_", "expected_flag", "value", "type1",
                     "value2"):
            error, rows = self.one_error(
                b"type,%s\n0x10000,\n" % name.encode())
            self.assertEqual((error["code"], error["column"], len(rows)),
                             ("bad_column", "2", 1))

    def test_files_without_a_valid_header(self):
        """Input without a header that names the type is refused with one
        error."""
        for data in (b"", b"\n\n", b"\xef\xbb\xbf", b"id,value1\na,1\n",
                     b'id,"type\n0x10000\n', b"id\0,type\na,0x10000\n"):
            done = self.run_program("eval", stdin=data)
            self.assertEqual((done.status, done.out), (1, ""), data)
            self.assertEqual(len(done.errors()), 1, done.err)
        self.assert_error(self.run_program("eval", stdin=b"\nid\nx\n"), 1,
                          "-", 1, "bad_header")

    def test_files(self):
        """Errors name the file; a file that cannot be read gives status 3."""
        data = b"type,value1\n0x10100,x\n"
        path = self.file("a.csv", data)
        self.assert_error(self.run_program("eval", path), 1, path,
                          data.index(b"x\n"), "bad_cell")
        for path, reason in ((os.path.join(self.folder, "none"),
                              "No such file or directory"),
                             (self.folder, "Permission denied" if ON_WINDOWS
                              else "Is a directory")):
            done = self.run_program("eval", path)
            self.assertEqual((done.status, done.out, done.err),
                             (3, "", path + ": " + reason + "\n"))

    def test_usage(self):
        """A second file, other formats and other options are refused."""
        path = self.file("a.csv", table([{"type": RAW}]))
        for arguments in ((path, path), ("--format", "json", path),
                          ("--format", "text"), ("--format", "prometheus"),
                          ("--strict",), ("--kind", "data")):
            done = self.run_program("eval", *arguments)
            self.assertEqual((done.status, done.out), (2, ""), arguments)
        plain = self.run_fine("eval", path).out
        self.assertEqual(self.run_fine("eval", "--format", "csv", path).out,
                         plain)


class Reading(EvalCase):
    """CSV according to RFC 4180, and malformed CSV."""

    def ids(self, data):
        """The ids of rows without errors."""
        done = self.run_fine("eval", stdin=data)
        return [row["id"] for row in self.parse(done)]

    def test_quotation_marks(self):
        """Quoted cells may contain commas, line breaks and doubled quotation
        marks."""
        self.assertEqual(self.ids(
            b'"id","type",why\n"a,b","0x10000","x\ny\r\n""z"""\n'
            b'"say ""so""",0x10000,\n"",0x10000,""\n""""""" ",0x10000,\n'),
            ["a,b", 'say "so"', "", '""" '])

    def test_ids_are_printed_safely(self):
        """Line breaks are quoted, other control characters are escaped."""
        done = self.run_fine("eval", stdin='id,type\n"a\nb\x1b\u200b é",1\n'
                             .encode() + b"\xff,1\n")
        self.assertEqual(done.out.split("\n", 1)[1],
                         '"a\nb\\u001B\\u200B é",unknown_type,,,\n'
                         "\ufffd,unknown_type,,,\n")

    def test_ids_keep_their_blanks(self):
        self.assertEqual(self.ids(b"id,type\n a ,1\n\tb,1\n"),
                         [" a ", "\tb"])

    def test_line_ends(self):
        """LF and CR LF, empty lines and a byte order mark are accepted."""
        rows = [b"id,type,value1,why", b"a,0x10000,1,", b"b,0x10000,2,x"]
        for end in (b"\n", b"\r\n"):
            for last in (b"", end):
                for blank in (b"", end, b" \t" + end):
                    data = (end + blank).join(rows) + last + blank
                    self.assertEqual(self.ids(data), ["a", "b"], data)
                    self.assertEqual(self.ids(b"\xef\xbb\xbf" + data),
                                     ["a", "b"], data)
        self.assertEqual(self.ids(b'id,type,why\r\na,1,"x"\r\nb,1,"y"'),
                         ["a", "b"])

    def test_blanks(self):
        """Blanks around names of columns and numbers are ignored."""
        done = self.run_fine("eval", stdin=b" id ,\ttype , value1,mode\n"
                             b"a, 0x10000 ,\t5\t,  \n")
        row, = self.parse(done)
        self.assertEqual((row["id"], row["value"]), ("a", "5"))

    def broken(self, line, column, code="bad_row"):
        """Asserts that a malformed row between valid ones has one error, at
        this column of line 3, and that the others are evaluated. Returns the
        offset of the error in the row."""
        head = b"id,type,value1\na,0x10000,1\n"
        data = head + line + b"\nb,0x10000,2\n\"c\",0x10000,\"3\"\n"
        error, rows = self.one_error(data)
        self.assertEqual((error["code"], error["line"], error["column"]),
                         (code, "3", str(column)), line)
        self.assertEqual([row["id"] for row in rows], ["a", "b", "c"], line)
        return int(error["offset"]) - len(head)

    def test_broken_quotation(self):
        """Parsing continues at the next line, even inside a quotation."""
        for line, column, offset in (
                (b'x"y,1,1', 1, 0), (b'x,1,"', 3, 4), (b'"x,1,1', 1, 0),
                (b'x,"1"1,1', 2, 2), (b'"x" ,1,1', 1, 0),
                (b'x, "1",1', 2, 2), (b'"x"\r,1,1', 1, 0),
                (b'x,1,"1"\r\r', 3, 4), (b'x,1,"""', 3, 4)):
            self.assertEqual(self.broken(line, column), offset)
        error, rows = self.one_error(b'id,type\na,1\n"b,1\nc,1\n')
        self.assertEqual((error["line"], error["offset"]), ("3", "12"))
        self.assertEqual([row["id"] for row in rows], ["a", "c"])

    def test_nul_bytes(self):
        """A NUL byte makes its row malformed."""
        for line, column in ((b"\0", 1), (b"x\0,1,1", 1), (b"x,1,1\0", 3),
                             (b'x,1,"\0"', 3), (b'x,1,"1"\0', 3)):
            self.broken(line, column)

    def test_line_breaks_in_cells_are_counted(self):
        error, _ = self.one_error(b'id,type,value1\r\n"a\n\r\n",1,1\r\n\r\n'
                                  b'b,1,x\r\n')
        self.assertEqual((error["line"], error["name"]), ("6", "value1"))
        done = self.run_program("eval", stdin=b'id,type,value1\n"b,1,1\n'
                                b'c,1,1\nd,1,x\n"e",1,1\n')
        self.assertEqual([error["line"] for error in self.error_lines(done)],
                         ["2", "4"])

    def test_rows_without_a_type(self):
        """A row without a type is an error in the column of the type, at the
        empty cell, or at the start of a row that is too short."""
        self.assertEqual(self.one_error(b'type\n""\n')[0]["offset"], "5")
        head = b"id,value1,type\n" + b"a,1,0x10000\n" * 20000
        error, _ = self.one_error(head + b"b,1\n")
        self.assertEqual((error["column"], error["name"], error["line"],
                          int(error["offset"])),
                         ("3", "type", "20002", len(head)))

    def test_positions_far_into_a_file(self):
        """Offset and line of an error are correct beyond the reader's window.
        """
        line = b"%07d,0x10000,1,%s\n"
        data = b"id,type,value1,why\n" + b"".join(
            line % (n, b"w" * (n % 999)) for n in range(5000))
        place = data.index(b"0004321,")
        bad = data[:place + 16] + b"z" + data[place + 17:]
        error, rows = self.one_error(bad)
        self.assertEqual((int(error["offset"]), int(error["line"])),
                         (place + 16, 4321 + 2))
        self.assertEqual([int(row["id"]) for row in rows],
                         [n for n in range(5000) if n != 4321])


class Bounds(EvalCase):
    """Memory does not grow with the input, and the length of rows is limited.
    """

    HEAD = b"id,type,why\n"

    def test_longest_row(self):
        """A row of 65,536 bytes with its line end is read, a longer one is an
        error."""
        for end in (b"\n", b"\r\n", b""):
            row = b"a,0x10000,"
            fits = row + b"w" * (MAX_BYTES - len(row) - len(end)) + end
            self.assertEqual(len(fits), MAX_BYTES)
            rows = self.parse(self.run_fine("eval", stdin=self.HEAD + fits))
            self.assertEqual(len(rows), 1)
            error, rows = self.one_error(
                self.HEAD + row + b"w" + fits[len(row):] +
                (b"b,0x10000,\n" if end else b""))
            self.assertEqual((error["code"], error["line"], error["column"]),
                             ("bad_row", "2", "3"))
            self.assertEqual(len(rows), 1 if end else 0)

    def test_longest_row_at_any_position(self):
        """A row of the maximal length is read whether it begins before or
        after offset MAX_BYTES: the reader's window has twice that size."""
        row = b"a,0x10000," + b"w" * (MAX_BYTES - 11) + b"\n"
        for start in range(MAX_BYTES - 4, MAX_BYTES + 5):
            first = b"b,0x10000,"
            first += b"v" * (start - len(self.HEAD) - len(first) - 1) + b"\n"
            path = self.file("a.csv", self.HEAD + first + row * 3)
            done = self.run_fine("eval", path)
            self.assertEqual([row["id"] for row in self.parse(done)],
                             ["b", "a", "a", "a"])

    def test_quotation_marks_count_towards_the_length(self):
        """The limit applies to the bytes of the file, not to those of the
        decoded cells."""
        for size, count in ((MAX_BYTES - 1, 1), (MAX_BYTES, 0)):
            row = b'a,0x10000,"' + b'""' * ((size - 12) // 2)
            row += b"w" * (size - len(row) - 1) + b'"'
            done = self.run_program("eval", stdin=self.HEAD + row + b"\n")
            self.assertEqual(len(self.parse(done)), count)
            self.assertEqual(done.status, 1 - count)

    def test_unterminated_quotation_far_from_the_end(self):
        """An unterminated quotation loses only its own line."""
        rows = b"".join(b"%d,0x10000,\n" % n for n in range(20000))
        error, found = self.one_error(self.HEAD + b'x,0x10000,"\n' + rows)
        self.assertEqual((error["code"], error["line"], error["column"]),
                         ("bad_row", "2", "3"))
        self.assertEqual(len(found), 20000)

    def test_many_cells(self):
        """A row of 65,536 empty cells is one error, at the first cell beyond
        the header."""
        error, rows = self.one_error(self.HEAD + b"," * (MAX_BYTES - 1) +
                                     b"\nb,0x10000,\n")
        self.assertEqual((error["code"], error["column"], len(rows)),
                         ("bad_cell", "4", 1))

    def peak(self, chunks):
        """The peak memory in KiB and the exit status of a run with these
        chunks as its input."""
        with subprocess.Popen([program(), "eval"], stdin=subprocess.PIPE,
                              stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as child:
            for chunk in chunks:
                child.stdin.write(chunk)
            child.stdin.close()
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
        return usage.ru_maxrss, child.returncode

    @unittest.skipUnless(hasattr(os, "wait4"), "no resource usage of children here")
    def test_memory(self):
        """Peak memory for 36 MB of rows, of one line and of one quotation is
        less than 8 MiB above that for 18 KB of rows."""
        row = b"a,0x10000,because\n" * 1000
        small, status = self.peak([self.HEAD, row])
        self.assertEqual(status, 0)
        for chunks, expected in (
                ([self.HEAD] + [row] * 2000, 0),  # 36 MB of rows
                ([self.HEAD] + [b"w" * 10**6] * 36, 1),  # one line
                ([self.HEAD, b'"'] + [b"\n" * 10**6] * 36, 1)):
            large, status = self.peak(chunks)
            self.assertEqual(status, expected)
            self.assertLess(large, small + 8192)


class Streams(EvalCase):
    """Each result is written as soon as its row was read."""

    def child(self, **options):
        """Starts eval with pipes."""
        return subprocess.Popen([program(), "eval"], stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, **options)

    def test_results_before_the_end(self):
        """A result is printed while the input is still open."""
        with self.child() as child:
            self.addCleanup(child.kill)
            child.stdin.write(b"id,type,value1\n")
            child.stdin.flush()
            self.assertEqual(child.stdout.readline(),
                             b"id,status,value,integer,flags\n")
            for n in range(3):
                child.stdin.write(b"%d,0x10000,%d\nrest" % (n, n))
                child.stdin.flush()
                self.assertEqual(child.stdout.readline().strip(
                    b"rest"), b"%d,ok,%d,%d,\n" % (n, n, n))
            child.stdin.write(b",0x10000,x\n")
            child.stdin.flush()
            self.assertIn(b"line 5, column 3 (value1)",
                          child.stderr.readline())
            child.stdin.close()
            self.assertEqual((child.stdout.read(), child.stderr.read()),
                             (b"", b""))
            self.assertEqual(child.wait(SECONDS), 1)

    def test_byte_by_byte(self):
        """Input that arrives byte by byte gives the same output."""
        data = ('\ufeffid,type,value1,why\r\n"a,\nb",0x10000,7,"""x"\r\n'
                '\r\nc,0x10000,z\r\n"d').encode()
        whole = self.run_program("eval", stdin=data)
        with self.child(bufsize=0) as child:
            for n in range(len(data)):
                child.stdin.write(data[n:n + 1])
            child.stdin.close()
            self.assertEqual(child.stdout.read().decode(), whole.out)
            self.assertEqual(child.stderr.read().decode(), whole.err)
            self.assertEqual(child.wait(SECONDS), 1)
        self.assertIn('"a,\nb",ok,7,7', whole.out)

    def test_order_of_output_and_error(self):
        """An error is printed between the results of the rows before and after
        it."""
        done = subprocess.run(
            [program(), "eval"], check=False, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, timeout=SECONDS,
            input=b"id,type,value1\na,0x10000,1\nb,0x10000,x\nc,0x10000,2\n")
        self.assertEqual([line[:4] for line in done.stdout.splitlines()],
                         [b"id,s", b"a,ok", b"-: o", b"c,ok"])

    def test_reader_that_closes_the_pipe_while_input_is_open(self):
        """The program ends although its input is still open."""
        with self.child() as child:
            self.addCleanup(child.kill)
            child.stdin.write(b"id,type,value1\n")
            child.stdin.flush()
            self.assertTrue(child.stdout.readline())
            child.stdout.close()
            child.stdin.write(b"a,0x10000,1\n")
            child.stdin.flush()
            self.assertEqual(child.wait(SECONDS), 0)
            self.assertEqual(child.stderr.read(), b"")

    def test_only_a_header(self):
        """A header without rows gives a header without rows."""
        self.assertEqual(self.run_fine("eval", stdin=b"type").out,
                         ",".join(HEADER) + "\n")


class Expectations(EvalCase):
    """Columns whose names begin with expected_, except expected_exact, are
    compared with the result."""

    GOOD = {"id": "a", "type": "0x20C20400", "mode": "wrap32",
            "value0": 2**32 - 1, "value1": 9, "base0": 1, "base1": 6,
            "expected_status": "ok",
            "expected_flags": "above_100 wrapped", "expected_unit": "%",
            "expected_exact": "200", "expected_value": "200.0",
            "expected_bits": "4069000000000000", "expected_integer": "200",
            "published": "200.1", "within": "0.2", "why": "because",
            "source": "made up"}
    NO_VALUE = {**GOOD, "mode": "", "expected_status": "negative_delta",
            "expected_flags": "", "expected_exact": "", "expected_value": "",
            "expected_bits": "", "expected_integer": ""}
    THIRD = {"id": "c", "type": FRACTION, "value1": 1, "base1": 3,
             "expected_status": "ok", "expected_unit": "%",
             "expected_value": repr(100 / 3),
             "expected_bits": "4040AAAAAAAAAAAB"}

    def test_all_expectations_are_met(self):
        """Rows whose expectations are met give no error."""
        rows = self.evaluate([self.GOOD, self.NO_VALUE, self.THIRD])
        self.assertEqual([row["status"] for row in rows],
                         ["ok", "negative_delta", "ok"])

    def test_counts_that_may_be_negative(self):
        """Their flag is printed, and may be expected or not."""
        for kind, value, flags in (
                ("PERF_COUNTER_LARGE_RAWCOUNT", 2**64 - 5, "may_be_negative"),
                ("PERF_COUNTER_RAWCOUNT", 2**63, "may_be_negative"),
                ("PERF_COUNTER_LARGE_RAWCOUNT", 2**63 - 1, ""),
                ("PERF_COUNTER_LARGE_RAWCOUNT_HEX", 2**64 - 5, ""),
                ("PERF_COUNTER_LARGE_RAWCOUNT", "", "")):
            row = {"id": "a", "type": kind, "value1": value}
            for expected in {flags, ""}:
                found, = self.evaluate([{**row, "expected_flags": expected}])
                self.assertEqual(found["flags"], flags, row)

    def test_other_spellings(self):
        """Equal numbers and flags may be written in another way."""
        for name, cell in (("expected_flags", " wrapped  above_100 "),
                           ("expected_value", "2e2"),
                           ("expected_value", "200"),
                           ("expected_integer", "0xC8")):
            self.evaluate([{**self.GOOD, name: cell}])
        self.evaluate([{**self.THIRD, "expected_bits": "4040aaaaaaaaaaab"}])

    def assert_differs(self, row, name, cell, got):
        """Asserts that the row with this cell has one unexpected result, and
        that its values are printed nevertheless."""
        data = table([self.GOOD, {**row, name: cell}, self.GOOD])
        error, rows = self.one_error(data)
        names = data.split(b"\n", 1)[0].decode().split(",")
        self.assertEqual((error["code"], error["line"], error["name"],
                          int(error["column"])),
                         ("unexpected_result", "3", name,
                          names.index(name) + 1))
        self.assertEqual(error["text"], "expected %s, got %s" % (
            cell or "nothing", got or "nothing"))
        self.assertEqual(len(rows), 3)

    def test_differences(self):
        """Each column with an expectation that is not met is an error."""
        for name, got in (("expected_status", "ok"),
                          ("expected_flags", "wrapped above_100"),
                          ("expected_unit", "%"), ("expected_value", "200"),
                          ("expected_bits", "4069000000000000"),
                          ("expected_integer", "200")):
            self.assert_differs(self.GOOD, name, "", got)
        for name, cell, got in (
                ("expected_status", "OK", "ok"),
                ("expected_status", "zero_base", "ok"),
                ("expected_flags", "wrapped", "wrapped above_100"),
                ("expected_flags", "wrapped wrapped", "wrapped above_100"),
                ("expected_flags", "above_100 wrapped below_zero",
                 "wrapped above_100"),
                ("expected_unit", "sec", "%"),
                ("expected_value", "200.00000000000003", "200"),
                ("expected_value", "-200", "200"),
                ("expected_bits", "4069000000000001", "4069000000000000"),
                ("expected_integer", "201", "200")):
            self.assert_differs(self.GOOD, name, cell, got)
        for name, cell in (("expected_value", "0"),
                           ("expected_value", "0.0"),
                           ("expected_bits", "0" * 16),
                           ("expected_integer", "0"),
                           ("expected_flags", "wrapped")):
            self.assert_differs(self.NO_VALUE, name, cell, "")
        self.assert_differs(self.THIRD, "expected_value", "33.33333333333333",
                            "33.333333333333336")

    def test_the_sign_of_zero_is_compared(self):
        row = {"type": RAW, "value1": 0, "expected_value": "0.0"}
        self.evaluate([row])
        error, _ = self.one_error(table([{**row, "expected_value": "-0.0"}]))
        self.assertEqual(error["text"], "expected -0.0, got 0")

    def test_malformed_expectations(self):
        """Cells that are not numbers in the form of their column are errors."""
        for name, cells in (
                ("expected_value", ("x", "0x1p3", "inf", "nan", "1e999", "-",
                                    "1_0", "1 2", "+1", ".5")),
                ("expected_bits", ("406900000000000", "0x40690000000000",
                                   "40690000000000000", "406900000000000g")),
                ("expected_integer", ("-1", "200.0", "18446744073709551616")),
                ):
            for cell in cells:
                error, rows = self.one_error(table([{**self.GOOD,
                                                     name: cell}]))
                self.assertEqual((error["code"], error["name"], len(rows)),
                                 ("bad_cell", name, 1), cell)

    def test_missing_cells(self):
        """A missing expectation at the end of a row is compared as an empty
        cell."""
        error, rows = self.one_error(
            b"type,value1,expected_status\n0x10000,1\n")
        self.assertEqual((error["text"], len(rows)),
                         ("expected nothing, got ok", 1))


if __name__ == "__main__":
    unittest.main()
