# SPDX-License-Identifier: MIT
"""Every code point, in text, JSON and tables: which are escaped, and how many
columns they take.

The program's tables are generated from files of the Unicode Character Database.
The expected categories and widths come from other files, in its folder
"extracted"; Default_Ignorable_Code_Point is computed by its definition in UAX
#44. White_Space and the names of invisible characters come from files that the
generator reads, too.
"""

import os
import re
import subprocess
import sys
import unittest

from program import ROOT, Case, writer as w

FOLDER = "/usr/share/unicode"
SCRIPT = os.path.join(ROOT, "scripts", "make_unicode_table.py")
POINTS = 0x110000

# Characters whose names match INVISIBLE are invisible, except VISIBLE.
INVISIBLE = re.compile(r"\bBLANK\b|\bFILLER\b|\bNULL NOTEHEAD\b")
VISIBLE = {"BLANK SYMBOL", "DEVANAGARI GAP FILLER", "NEWA GAP FILLER",
            "MANICHAEAN PUNCTUATION LINE FILLER", "DIVES AKURU GAP FILLER",
            "BHAIKSUKI GAP FILLER-1", "BHAIKSUKI GAP FILLER-2",
            "KAWI PUNCTUATION SPACE FILLER"}

# Vowels and final consonants of Hangul. They are drawn together with the
# consonant before them and take no column of their own.
JOINING = ((0x1160, 0x11FF), (0xD7B0, 0xD7C6), (0xD7CB, 0xD7FB))


def setUpModule():
    """Skips all tests if the Unicode data is missing or has another version
    than the data from which the program's tables were generated."""
    done = subprocess.run([sys.executable, SCRIPT, "--check"], check=False,
                          stdout=subprocess.PIPE, encoding="ascii")
    if done.returncode == 77:
        print(done.stdout, end="")  # unittest does not print the reason
        raise unittest.SkipTest(done.stdout.strip())
    if done.returncode != 0:
        raise AssertionError(done.stdout)


def lines(*path):
    """(first code point, last, fields) of each line of a data file."""
    with open(os.path.join(FOLDER, *path), encoding="utf-8") as file:
        for line in file:
            fields = [text.strip() for text in line.split("#")[0].split(";")]
            if len(fields) > 1:
                first, _, last = fields[0].partition("..")
                yield int(first, 16), int(last or first, 16), fields[1:]


def values(*path):
    """The value of a property for each code point. The value of code points
    that are not listed is in the last @missing comment that covers them."""
    found = [None] * POINTS
    with open(os.path.join(FOLDER, *path), encoding="utf-8") as file:
        unlisted = re.findall(r"(?m)^# @missing: (\w+)\.\.(\w+); (\w+)$",
                              file.read())
    for first, last, value in ((int(first, 16), int(last, 16), value)
                               for first, last, value in unlisted):
        found[first:last + 1] = [value] * (last + 1 - first)
    for first, last, fields in lines(*path):
        found[first:last + 1] = [fields[0]] * (last + 1 - first)
    return found


def having(name):
    """The code points with a property in PropList.txt."""
    return {point for first, last, fields in lines("PropList.txt")
            if fields[0] == name for point in range(first, last + 1)}


class Characters(Case):
    """Instance names with all characters except NUL, which ends a name."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        category = values("extracted", "DerivedGeneralCategory.txt")
        width = values("extracted", "DerivedEastAsianWidth.txt")
        blank = {point for point, _, fields in lines("UnicodeData.txt")
                 if INVISIBLE.search(fields[0])
                 and fields[0] not in VISIBLE}
        noncharacters = {*range(0xFDD0, 0xFDF0), *(
            plane | low for plane in range(0, POINTS, 0x10000)
            for low in (0xFFFE, 0xFFFF))}
        cls.escaped = blank | noncharacters | having("White_Space") | having(
            "Other_Default_Ignorable_Code_Point") | having(
            "Variation_Selector") | {
            point for point in range(POINTS)
            if category[point] in ("Cc", "Cf", "Zl", "Zp")}
        cls.escaped.discard(ord(" "))
        cls.columns = [2 if value in ("W", "Wide", "F") else 1
                       for value in width]
        for point in range(POINTS):
            if category[point] in ("Mn", "Me") or any(
                    first <= point <= last for first, last in JOINING):
                cls.columns[point] = 0
        cls.points = [point for point in range(1, POINTS)
                      if not 0xD800 <= point <= 0xDFFF]

    def block(self, names):
        """The path of a V2 reply with an instance of each name."""
        return self.file("block.bin", w.reply(w.result(
            w.INSTANCES, w.instance_block(*[
                w.instance(number, name, w.v4(1))
                for number, name in enumerate(names)]))))

    def names(self):
        """All code points, in lists of 256."""
        return [self.points[at:at + 256]
                for at in range(0, len(self.points), 256)]

    def test_the_data_has_known_characters(self):
        """The expected values are right for some known characters."""
        self.assertGreater(len(self.escaped), 4000)
        for point in (0x07, 0x200B, 0xE0001, 0xE0FFF, 0x3164, 0x2800):
            self.assertIn(point, self.escaped)
        self.assertEqual([self.columns[ord(char)] for char in "a\u0301\u4e2d"],
                         [1, 0, 2])

    def test_text(self):
        """Text escapes the characters in `escaped` and the quotation mark, and
        no other."""
        names = self.names()
        done = self.run_fine("show", self.block(
            "".join(map(chr, name)) for name in names))
        texts = re.findall(r'^ *\d+ +instance .*  name "([^"]*)"$', done.out,
                           re.MULTILINE)
        self.assertEqual(len(texts), len(names))
        escaped = self.escaped | {ord('"')}  # it would end the field
        for name, text in zip(names, texts):
            self.assertEqual(text, "".join(
                chr(point) if point not in escaped
                else "\\u%04X" % point if point <= 0xFFFF
                else "\\U%08X" % point for point in name))

    def test_json(self):
        """JSON decodes to the original names, and contains no character in
        `escaped`, except the line feeds after its lines."""
        names = ["".join(map(chr, name)) for name in self.names()]
        done = self.run_fine("show", "--format", "json", self.block(names))
        found = [item["name"] for item in done.objects()
                 if item["record"] == "instance"]
        self.assertEqual(found, names)
        self.assertEqual([hex(ord(char)) for char in sorted(set(done.out))
                          if ord(char) in self.escaped], ["0xa"])

    def test_columns(self):
        """Tables pad names to the same number of columns. A code point whose
        neighbour has another width is a name by itself, because there a wrong
        boundary in the program's data would show."""
        printed = [point for point in self.points if point not in self.escaped
                   and point > ord(" ")]
        edges = [point for point in printed if any(
            near not in range(POINTS) or near in self.escaped
            or self.columns[near] != self.columns[point]
            for near in (point - 1, point + 1))]
        self.assertGreater(len(edges), 1000)
        names = [[point] for point in edges] + [
            printed[at:at + 16] for at in range(0, len(printed), 16)]
        done = self.run_fine("cook", self.block(
            "%s." % "".join(map(chr, name)) for name in names), columns=1000)
        rows = [line for line in done.lines() if line.endswith("(1)")]
        self.assertEqual(len(rows), len(names))
        widths = [sum(self.columns[point] for point in name) + 1
                  for name in names]
        # After the longest name: a gap, and values in the column "position".
        width = max(widths) + len("  position")
        for name, row, columns in zip(names, rows, widths):
            found = re.fullmatch(re.escape("%s." % "".join(map(chr, name))) +
                                 r"( +)\(1\)", row)
            self.assertTrue(found, name)
            self.assertEqual(columns + len(found[1]) + len("(1)"), width, name)


if __name__ == "__main__":
    unittest.main()
