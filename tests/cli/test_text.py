# SPDX-License-Identifier: MIT
"""Names with arbitrary content in each output format that can be decoded. What
is printed is decoded according to docs/perfblock.md and must give the name of
the input.
"""

import csv
import io
import itertools
import random
import re
import unittest

from captures import BULK, DISK, data, instances_result, metadata
from program import Case, writer as w

ESCAPE = re.compile(r"(\\+)(u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8})")

# Names that text output prints unchanged.
ORDINARY = (
    "C:\\Users\\unit\\x.pfb", "C:\\x\\", "\\\\machine\\Processor(0)\\% Time",
    "\\\\server\\update", "\\", "\\\\", "\\\\\\", "a\\u", "\\u12", "\\u12G4",
    "\\U0001234", "u0007", "U0001F600", "\\n", "\\x07", "\\ u0007",
)

# Names and how text output prints them.
PAIRS = (
    ("\x07", "\\u0007"), ("\\u0007", "\\\\u0007"),
    ("\\\x07", "\\\\\\u0007"), ("\\\\u0007", "\\\\\\\\u0007"),
    ("\\\\\x07", "\\\\\\\\\\u0007"), ("\\\\\\u0007", "\\\\\\\\\\\\u0007"),
    ("\U000E0001", "\\U000E0001"), ("\\U000E0001", "\\\\U000E0001"),
    ("\\uabcd", "\\\\uabcd"), ("\\Uffffffff", "\\\\Uffffffff"),
    ("\\\\server\\uface", "\\\\server\\\\uface"),
    ("\\\n", "\\\\\\u000A"), ("\n", "\\u000A"), ("\t", "\\u0009"),
)

# Code points that are escaped, because they are invisible or change how a
# terminal displays text: controls, separators, directional marks, tags,
# fillers, variation selectors, blanks, noncharacters.
ESCAPED = (
    0x07, 0x1B, 0x7F, 0x85, 0x9B, 0xA0, 0xAD, 0x34F, 0x600, 0x61C, 0x6DD,
    0x70F, 0x890, 0x8E2, 0x115F, 0x1160, 0x1680, 0x17B4, 0x180B, 0x180E,
    0x180F, 0x2000, 0x200A, 0x200B, 0x200D, 0x200F, 0x2028, 0x2029, 0x202A,
    0x202E, 0x202F, 0x205F, 0x2060, 0x2065, 0x206F, 0x2800, 0x3000, 0x3164,
    0xFDD0, 0xFDEF, 0xFE00, 0xFE0F, 0xFEFF, 0xFFA0, 0xFFF0, 0xFFFB, 0xFFFE,
    0xFFFF, 0x110BD, 0x110CD, 0x13430, 0x1343F, 0x13441, 0x16FE4, 0x1BCA0,
    0x1D159, 0x1D173, 0x1D17A, 0x1FFFE, 0x1FFFF, 0xE0000, 0xE0001, 0xE0020,
    0xE007F, 0xE0100, 0xE01EF, 0xE0FFF, 0x10FFFE, 0x10FFFF,
)

# Code points that are printed unchanged: letters, symbols, combining marks,
# private use and unassigned, in several planes.
UNCHANGED = (0x21, 0xA1, 0xE9, 0x301, 0x378, 0x4E2D, 0xAC00, 0xE000, 0xFFFC,
             0xFFFD, 0x1F600, 0x20000, 0xE1000, 0xF0000, 0x10FFFD)


def decode(text):
    """The name that text output prints as `text`. N backslashes before the
    letters and digits of an escape are N / 2 backslashes, rounded down. If N is
    even, the letters and digits are themselves; if it is odd, they are the
    escape of a character."""
    def decode_one(match):
        slashes = "\\" * (len(match[1]) // 2)
        if len(match[1]) % 2 == 0:
            return slashes + match[2]
        point = int(match[2][1:], 16)
        return slashes + (chr(point) if point < 0x110000 else "no character")
    return ESCAPE.sub(decode_one, text)


def escape(point):
    """The escape of a code point in text output."""
    return ("\\u%04X" if point <= 0xFFFF else "\\U%08X") % point


def short_names():
    """All names of one to five of these parts."""
    parts = ("\\", "u0007", "\x07", "x")
    for count in range(1, 6):
        for chosen in itertools.product(parts, repeat=count):
            yield "".join(chosen)


def random_names(count):
    """Random names that resemble escapes, the same in each run."""
    parts = ["\\", "\\", "\\", "u", "U", "0", "0007", "000E0001", "A", "f",
             "\x07", "\x1b", "\n", "\r", "\t", "\u200b", "\u3000", "\ufffe",
             "\U000E0001", "\U0010FFFF", "\U0001F600", "\u00e9", "\u4e2d",
             "\u0301", " ", ",", '"', ";", "=", "x"]
    dice = random.Random(1)
    for _ in range(count):
        yield "".join(dice.choices(parts, k=dice.randint(1, 12)))


NAMES = tuple(dict.fromkeys(itertools.chain(
    ORDINARY, (name for name, _ in PAIRS), map(chr, ESCAPED),
    map(chr, UNCHANGED), short_names(), random_names(2000))))


class Names(Case):
    """Names of instances in each of these formats."""

    def setUp(self):
        super().setUp()
        self.assertGreater(len(NAMES), 3000)

    def block(self, names):
        """A V2 block with an instance of each name."""
        return self.file("block.bin", w.reply(w.result(
            w.INSTANCES, w.instance_block(*[
                w.instance(number, name, w.v4(1))
                for number, name in enumerate(names)]))))

    def texts(self, names):
        """The instance names as show prints them in text."""
        done = self.run_fine("show", self.block(names))
        return re.findall(r'^ *\d+ +instance .*  name "([^"]*)"$', done.out,
                          re.MULTILINE)

    def test_text(self):
        """Text escapes the characters that are invisible or change the
        display, and no others but quotation marks."""
        names = [name for name, _ in PAIRS]
        self.assertEqual(self.texts(names), [text for _, text in PAIRS])
        self.assertEqual(self.texts(ORDINARY), list(ORDINARY))
        self.assertEqual(self.texts(map(chr, ESCAPED)),
                         list(map(escape, ESCAPED)))
        self.assertEqual(self.texts(map(chr, UNCHANGED)),
                         list(map(chr, UNCHANGED)))

    def test_quotation_marks(self):
        """A quotation mark in a name cannot end the field."""
        names = ['a"  kind "b', '\\"', "C:\\", "\\u0022"]
        self.assertEqual(self.texts(names), [
            "a\\u0022  kind \\u0022b", "\\\\\\u0022", "C:\\", "\\\\u0022"])

    def test_text_can_be_read_back(self):
        """Each name has its own text, from which it can be decoded."""
        texts = self.texts(NAMES)
        self.assertEqual([decode(text) for text in texts], list(NAMES))
        self.assertEqual(len(set(texts)), len(NAMES))

    def test_json_contains_the_original_names(self):
        """JSON decodes to the original names and has no invisible character.
        """
        done = self.run_fine("show", "--format", "json", self.block(NAMES))
        self.assertEqual([item["name"] for item in done.objects()
                          if item["record"] == "instance"], list(NAMES))
        for char in map(chr, ESCAPED):
            self.assertNotIn(char, done.out)

    def test_json_escapes(self):
        """Characters beyond 16 bits that JSON escapes become two surrogates."""
        done = self.run_fine("show", "--format", "json", self.block(
            ["\x07\\u0007\U000E0001\U0010FFFF\U0001F600"]))
        self.assertIn('"name":"\\u0007\\\\u0007\\uDB40\\uDC01\\uDBFF\\uDFFF'
                      '\U0001F600"', done.out)

    def test_csv(self):
        """CSV cells decode to the original names."""
        done = self.run_fine("cook", "--format", "csv", self.block(NAMES))
        rows = list(csv.DictReader(io.StringIO(done.out, newline="")))
        self.assertEqual([decode(row["instance"]) for row in rows],
                         list(NAMES))
        self.assertEqual(len({row["instance"] for row in rows}), len(NAMES))
        for row, name in zip(rows, NAMES):
            if not re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]", name) and (
                    not ESCAPE.search(name)) and name.isascii():
                self.assertEqual(row["instance"], name)

    def test_csv_quotes(self):
        """Cells with commas, quotation marks, line breaks or outer blanks are
        quoted."""
        for name, field in (("a\nb", '"a\nb"'), ("a\r\nb", '"a\r\nb"'),
                            ("a\rb", '"a\rb"'), ("\t", '"\t"'),
                            ('"', '""""'), ("a,b", '"a,b"'), (" a", '" a"'),
                            ("C:\\Users\\x", "C:\\Users\\x"),
                            ("\\\n", '"\\\n"'), ("\\u0007\n", '"\\\\u0007\n"'),
                            ("\x1b", "\\u001B"), ("\\\x1b", "\\\\\\u001B")):
            done = self.run_fine("cook", "--format", "csv",
                                 self.block([name]))
            self.assertIn(",,,%s,0,," % field, done.out)

    def test_formulas_of_spreadsheets(self):
        """Names that spreadsheets take for formulas are not changed in CSV.
        In PDH text logs no cell begins like one, apart from numbers."""
        names = ["=1+1", "+1", "-1", "@SUM(1)", "=HYPERLINK(1)", "\t=1"]
        done = self.run_fine("cook", "--format", "csv", self.block(names))
        rows = list(csv.DictReader(io.StringIO(done.out, newline="")))
        self.assertEqual([row["instance"] for row in rows], names)
        for form, delimiter in (("pdh-csv", ","), ("pdh-tsv", "\t")):
            done = self.run_program("cook", "--format", form,
                                    self.block(names))
            header = next(csv.reader(io.StringIO(done.out, newline=""),
                                     delimiter=delimiter))
            self.assertEqual(len(header), 1 + len(names))
            self.assertEqual({cell[0] for cell in header[1:]}, {"\\"})

    def test_tables(self):
        """Names in tables decode to the original names."""
        names = [name for name in NAMES if name.strip() == name]
        done = self.run_fine("cook", self.block(names), columns=1000)
        texts = [line.rsplit("  ", 1)[0].rstrip(" ")
                 for line in done.lines() if line.endswith("(1)")]
        self.assertEqual([decode(text) for text in texts], names)

    def test_tables_that_cut(self):
        """Tables cut names by their printed width, and not inside an escape.
        """
        for name, columns, whole in (
                ("\x07" * 9, 6, "\\u0007" * 9),
                ("\\\x07" * 9, 8, "\\\\\\u0007" * 9),
                ("\U000E0001" * 9, 10, "\\U000E0001" * 9)):
            done = self.run_fine("cook", self.block([name, "x"]), columns=40)
            shown = re.search(r"(?m)^(.*)\u2026  +\(1\)$", done.out)[1]
            self.assertTrue(whole.startswith(shown), name)
            self.assertRegex(shown, r"\A(\\\\|\\u.{4}|\\U.{8})+\Z", name)
            # 29 columns are left of the ellipsis; one more escape would not fit.
            self.assertGreater(len(shown), 29 - columns)
            self.assertLessEqual(len(shown), 29)

    def test_metrics(self):
        """Labels of metrics decode to the original names."""
        chunks = [metadata(DISK, "Disk", [(1, BULK, "Reads/sec")]),
                  w.chunk(b"QINF", w.identifier(DISK, name="*"))]
        chunks += [data(number, instances_result([1], [
            (n, name, [n]) for n, name in enumerate(NAMES)]))
            for number in range(2)]
        done = self.run_live(self.file("a.pfb", w.recording(*chunks)),
                             "--format", "prometheus", "--set", "*")
        points = re.findall(r'^\w+\{instance="(.*)"\} (\d+)$', done.out,
                            re.MULTILINE)
        self.assertEqual(len(points), len(NAMES))
        for label, number in points:
            text = re.sub(r'\\([\\"n])', lambda match: {"n": "\n"}.get(
                match[1], match[1]), label)
            self.assertEqual(decode(text), NAMES[int(number)])


class Messages(Case):
    """Names in error messages."""

    def test_cells(self):
        """Cells quoted in messages decode to the original cells."""
        cells = [name for name in NAMES if len(name) < 8
                 and name.strip(" \t") == name and not set(name) & set(
                     '",\n\r') and "0" not in name]
        self.assertGreater(len(cells), 100)
        done = self.run_program("eval", stdin=("type,value1\n" + "".join(
            "0x10000,%s\n" % cell for cell in cells)).encode())
        texts = re.findall(r'\(value1\): "(.*)" is not a number$', done.err,
                           re.MULTILINE)
        self.assertEqual([decode(text) for text in texts], cells)

    def test_escapes_are_not_cut_in_the_middle(self):
        """A long cell is cut before an escape that does not fit."""
        for cell, shown in (("x" * 57 + "\x07\x07", "x" * 57),
                            ("x" * 53 + "\x07\x07", "x" * 53 + "\\u0007")):
            done = self.run_program("eval", stdin=(
                "type,value1\n0x10000,%s\n" % cell).encode())
            self.assertIn('"%s\u2026" is not' % shown, done.err)

    def test_files(self):
        """File names in messages are escaped like other names."""
        for name, text in (*PAIRS, *((name, name) for name in ORDINARY)):
            done = self.run_program("check", "--", "absent/" + name)
            self.assertEqual(done.status, 3)
            self.assertTrue(done.err.startswith("absent/%s: " % text), name)

    def test_sets(self):
        """Names of countersets in messages are escaped like other names."""
        path = self.file("a.pfb", w.recording(metadata(DISK, "Disk", [
            (1, BULK, "Reads/sec")])))
        for name, text in (*PAIRS, *((name, name) for name in ORDINARY)):
            done = self.run_live(path, "--set", name)
            self.assertEqual((done.status, done.out), (2, ""))
            self.assertIn("no counterset %s; " % text, done.err)


if __name__ == "__main__":
    unittest.main()
