# SPDX-License-Identifier: MIT
"""How every code point is printed, according to the Unicode Character Database.

The program's header is generated from UnicodeData.txt and other files.  The
expectations come from the files in the folder "extracted", and from the
definition of Default_Ignorable_Code_Point in UAX #44, section 5.1.
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

# Words in the names of invisible characters, and visible characters that have
# these words in their names as well.
WITHOUT_INK = re.compile(r"\bBLANK\b|\bFILLER\b|\bNULL NOTEHEAD\b")
WITH_INK = {"BLANK SYMBOL", "DEVANAGARI GAP FILLER", "NEWA GAP FILLER",
            "MANICHAEAN PUNCTUATION LINE FILLER", "DIVES AKURU GAP FILLER",
            "BHAIKSUKI GAP FILLER-1", "BHAIKSUKI GAP FILLER-2",
            "KAWI PUNCTUATION SPACE FILLER"}

# Vowels and final consonants of Hangul, which join the consonant before them.
JOINING = ((0x1160, 0x11FF), (0xD7B0, 0xD7C6), (0xD7CB, 0xD7FB))


def setUpModule():
    """Skips everything if the data from which the header is generated is
    missing, or has another version."""
    done = subprocess.run([sys.executable, SCRIPT, "--check"], check=False,
                          stdout=subprocess.PIPE, encoding="ascii")
    if done.returncode == 77:
        print(done.stdout, end="")  # unittest does not print the reason
        raise unittest.SkipTest(done.stdout.strip())
    if done.returncode != 0:
        raise AssertionError(done.stdout)


def lines(*path):
    """(first, last, fields) for each line of a data file."""
    with open(os.path.join(FOLDER, *path), encoding="utf-8") as file:
        for line in file:
            fields = [text.strip() for text in line.split("#")[0].split(";")]
            if len(fields) > 1:
                first, _, last = fields[0].partition("..")
                yield int(first, 16), int(last or first, 16), fields[1:]


def values(*path):
    """The value of a property for each code point.  For code points that the
    file does not list, it is in the last @missing comment that covers them."""
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
    """All characters of UTF-16 except NUL, which ends a name."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        category = values("extracted", "DerivedGeneralCategory.txt")
        width = values("extracted", "DerivedEastAsianWidth.txt")
        blank = {point for point, _, fields in lines("UnicodeData.txt")
                 if WITHOUT_INK.search(fields[0])
                 and fields[0] not in WITH_INK}
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
        """A V2 block with an instance of each name."""
        return self.file("block.bin", w.reply(w.result(
            w.INSTANCES, w.instance_block(*[
                w.instance(number, name, w.v4(1))
                for number, name in enumerate(names)]))))

    def names(self):
        """All characters, in names of 256."""
        return [self.points[at:at + 256]
                for at in range(0, len(self.points), 256)]

    def test_the_data_has_known_characters(self):
        self.assertGreater(len(self.escaped), 4000)
        for point in (0x07, 0x200B, 0xE0001, 0xE0FFF, 0x3164, 0x2800):
            self.assertIn(point, self.escaped)
        self.assertEqual([self.columns[ord(char)] for char in "a\u0301\u4e2d"],
                         [1, 0, 2])

    def test_text(self):
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
        names = ["".join(map(chr, name)) for name in self.names()]
        done = self.run_fine("show", "--format", "json", self.block(names))
        found = [item["name"] for item in done.objects()
                 if item["record"] == "instance"]
        self.assertEqual(found, names)
        self.assertEqual([hex(ord(char)) for char in sorted(set(done.out))
                          if ord(char) in self.escaped], ["0xa"])

    def test_columns(self):
        """Tables pad names to the same width."""
        chosen = [point for point in self.points if point not in self.escaped
                  and point > ord(" ")]
        edges = [point for point in chosen if any(
            near not in range(POINTS) or near in self.escaped
            or self.columns[near] != self.columns[point]
            for near in (point - 1, point + 1))]
        self.assertGreater(len(edges), 1000)
        names = [[point] for point in edges] + [
            chosen[at:at + 16] for at in range(0, len(chosen), 16)]
        done = self.run_fine("cook", self.block(
            "%s." % "".join(map(chr, name)) for name in names), columns=1000)
        rows = [line for line in done.lines() if line.endswith("(1)")]
        self.assertEqual(len(rows), len(names))
        taken = [sum(self.columns[point] for point in name) + 1
                 for name in names]
        # After the longest name: a gap, and values in the column "position".
        width = max(taken) + len("  position")
        for name, row, columns in zip(names, rows, taken):
            found = re.fullmatch(re.escape("%s." % "".join(map(chr, name))) +
                                 r"( +)\(1\)", row)
            self.assertTrue(found, name)
            self.assertEqual(columns + len(found[1]) + len("(1)"), width, name)


if __name__ == "__main__":
    unittest.main()
