# SPDX-License-Identifier: MIT
"""Text logs in code pages. test_v1.py has V1 objects. The expected characters
are those of Python's codecs; the tables come from another library."""

import os
import random
import subprocess
import sys
import unittest

from program import ROOT, Case, code_pages

SCRIPT = os.path.join(ROOT, "scripts", "make_code_pages.py")
GUESS = "note: the names are read as Windows-1252"

# (code page, counterset, instance, counter): texts of which some characters end
# with a byte that is a backslash, or are letters of other scripts.
NAMES = (
    (874, "ตัวประมวลผล", "ทั้งหมด", "% เวลา"),
    (932, "リソース", "ソ能表", "性能ー"),
    (936, "处理器", "俓乗", "% 处理器时间"),
    (949, "프로세서", "똢똣", "% 프로세서 시간"),
    (950, "處理器", "功許蓋", "% 處理器時間"),
    (1250, "Procesor", "Ścieżka", "% času procesoru"),
    (1251, "Процессор", "База", "% загруженности процессора"),
    (1252, "Prozessorzeit", "Größe", "Café €"),
    (1253, "Επεξεργαστής", "Ώρα", "% Χρόνος"),
    (1254, "İşlemci", "Ağ", "% Süre"),
    (1255, "מעבד", "שרת", "% זמן"),
    (1256, "المعالج", "خادم", "% الوقت"),
    (1257, "Procesorius", "Šiauliai", "% Laikas ė"),
    (1258, "Bô", "Đia", "% Thư"),
    (65001, "Процессор", "リソース", "% 时间"),
)


def log(*paths):
    """A log with a value of each path, which is bytes."""
    cells = [b'"(PDH-CSV 4.0) (X)(0)"'] + [b'"%s"' % path for path in paths]
    row = ['"05/15/2018 02:13:06.123"'] + ['"%d"' % i
                                          for i in range(len(paths))]
    return b",".join(cells) + b"\r\n" + ",".join(row).encode() + b"\r\n"


class CodePages(Case):
    """--code-page N."""

    def test_the_tables_are_those_of_the_library(self):
        """The script makes the same tables again."""
        done = subprocess.run([sys.executable, SCRIPT, "--check"], check=False,
                              stdout=subprocess.PIPE, encoding="utf-8")
        if done.returncode == 77:
            self.skipTest(done.stdout.strip())
        self.assertEqual(done.returncode, 0, done.stdout)

    def paths(self, page, *names):
        """The paths that show prints of a log with these names."""
        data = log(*(b"\\\\PC\\" + name for name in names))
        items = self.run_json("show", "--code-page", str(page), "-",
                              stdin=data)
        self.assertEqual(items[0]["code_page"], page)
        return [item["path"][5:] for item in items
                if item["record"] == "column"]

    def test_every_character(self):
        """Each byte, and each pair of bytes, alone and in random names."""
        rng = random.Random(7)
        for page in code_pages.CODECS:
            names = [bytes((byte,)) for byte in range(0x80, 0x100)]
            for lead in range(0x80, 0x100):
                names.append(b"".join(bytes((lead, trail)) + b"(" for trail
                                      in range(0x40, 0x100)))
            names += [bytes(rng.choice(b"\\(a\x7f\x80\x81\xa0\xe0\xff") if
                            rng.random() < 0.3 else rng.randrange(0x40, 0x100)
                            for _ in range(rng.randrange(1, 12)))
                      for _ in range(500)]
            expected = [code_pages.decode(name, page) for name in names]
            self.assertEqual(self.paths(page, *names), expected)
            if page in code_pages.SINGLE:
                self.assertEqual(len(set(expected[:128])), 128)

    def test_names_are_split_after_decoding(self):
        """Columns can be chosen by the characters of their names."""
        for page, name, instance, counter in NAMES:
            path = "\\\\PC\\%s(%s)\\%s" % (name, instance, counter)
            codec = code_pages.CODECS.get(page, "utf-8")
            file = self.file("a.csv", log(b"\\\\PC\\A(b)\\C",
                                          path.encode(codec)))
            for option in (("--path", path), ("--set", name),
                           ("--instance", instance), ("--counter", counter)):
                items = self.run_json("cook", "--code-page", str(page),
                                      *option, file)
                self.assertEqual(
                    [(item["set"], item["instance"], item["counter"],
                      item["path"], item["value"]) for item in items],
                    [(name, instance, counter, path, 1)], option)

    def test_the_guess_is_noted(self):
        """Names in bytes are UTF-8 or Windows-1252. Only the second is a
        guess, and no guess is made with the option."""
        path = "\\\\PC\\Größe(a)\\C"
        for codec, options, note in (
                ("cp1252", (), True), ("utf-8", (), False),
                ("utf-8-sig", (), False), ("utf-16", (), False),
                ("cp1252", ("--code-page", "1252"), False),
                ("utf-8-sig", ("--code-page", "1251"), False),
                ("utf-16", ("--code-page", "1251"), False)):
            data = log(path.encode()).decode().encode(codec)
            done = self.run_program("cook", "--format", "json", *options, "-",
                                    stdin=data)
            self.assertEqual([item["path"] for item in done.objects()], [path])
            self.assertEqual(GUESS in done.err, note, (codec, options))
        ascii_only = self.run_fine("cook", "-", stdin=log(b"\\\\PC\\A(b)\\C"))
        self.assertNotIn(GUESS, ascii_only.err)

    def test_the_option_replaces_what_is_valid_utf_8(self):
        """Two bytes of a code page may be UTF-8 by accident."""
        self.assertEqual(self.paths(932, b"\xc3\xa5"), ["ﾃ･"])
        self.assertEqual(self.paths(65001, b"\xc3\xa5\xff"), ["\u00e5\ufffd"])

    def test_undefined_bytes_stay_different(self):
        """Windows-1252 does not define five bytes."""
        names = [b"M%c(a)\\C" % byte for byte in b"\x81\x8d\x8f\x90\x9d"]
        items = self.run_json("cook", "--quiet", "-", stdin=log(
            *(b"\\\\PC\\" + name for name in names)))
        self.assertEqual([item["set"] for item in items],
                         ["M\x81", "M\x8d", "M\x8f", "M\x90", "M\x9d"])

    def test_headers_inside_a_log(self):
        """Their names are in the same code page, also of recorded columns."""
        data = log("\\\\PC\\Х(1)\\а".encode("cp1251")) + \
            log("\\\\PC\\Х(2)\\б".encode("cp1251"))
        items = self.run_json("cook", "--code-page", "1251", "-", stdin=data)
        self.assertEqual([item["path"] for item in items],
                         ["\\\\PC\\Х(1)\\а", "\\\\PC\\Х(2)\\б"])

    def test_zone_names(self):
        """The zone in a header is in its code page, and is written in UTF-8.
        """
        for page, zone in ((1251, "Русское время (зима)"), (932, "東京 ソ能表"),
                           (950, "台北 功許蓋"), (1252, "Mitteleuropäische Zeit"),
                           (65001, "Русское время (зима)"), (0, "東京 時")):
            option = ("--code-page", str(page)) if page else ()
            codec = code_pages.CODECS.get(page, "utf-8")
            file = self.file("a.csv", log(b"\\\\PC\\A\\C").replace(
                b"(X)(0)", b"(%s)(-180)" % zone.encode(codec)))
            self.assertEqual(self.run_json("show", *option, file)[0][
                "zone_name"], zone)
            for form in ("csv", "tsv"):
                written = self.run_fine("cook", *option, "-f", "pdh-" + form,
                                        file).out
                self.assertEqual(written.split('"')[1], "(PDH-%s 4.0) (%s)"
                                 "(-180)" % (form.upper(), zone))

    def test_other_numbers_are_refused(self):
        """The code pages that can be named are listed."""
        done = self.run_program("cook", "--code-page", "437", "-")
        self.assertEqual(done.status, 2)
        self.assertIn("1251", done.err)


if __name__ == "__main__":
    unittest.main()
