# SPDX-License-Identifier: MIT
"""Tests that run only under Wine: file names, and live commands without
counters.

Wine 8 has four of the nine functions that read V2 data. It lacks
PerfEnumerateCounterSet, which every live command without --v1 calls first.
"""

import os
import unittest

from program import Case, writer as w


class Names(Case):
    """Arguments and file names with characters outside the code page."""

    def test_names_with_any_letter(self):
        """Files are found by names outside the code page, and printed with
        them."""
        for name in ("a b.bin", "Z\u00e4hler.bin", "\u8a08\u6570.bin",
                     "\u0394 \U0001f4c8.bin", "- x"):
            path = self.file(name, w.reply())
            self.assertEqual(self.run_json("check", path)[0]["file"], path)

    def test_missing(self):
        """A missing file is reported by its name."""
        path = os.path.join(self.folder, "\u8a08\u6570 \U0001f4c8")
        done = self.run_program("check", path)
        self.assertEqual((done.status, done.out, done.err),
                         (3, "", path + ": No such file or directory\n"))

    def test_quotation_marks_in_arguments_are_kept(self):
        for argument in ('a "quoted" word', "back\\slash\\", "", "*", "100 %"):
            done = self.run_program(argument)
            self.assertEqual((done.status, done.out), (2, ""))
            self.assertTrue(done.err.startswith(
                "perfblock: unknown command %s; " % argument), done.err)


class Refusals(Case):
    """Live commands fail: without --v1 because a function is missing, with it
    because V1 data has no objects."""

    def refused(self, *arguments):
        """Asserts that the command is refused with a message that names
        PerfEnumerateCounterSet. The refusal of a counterset of the catalog,
        which is requested even without that function, may come before it."""
        done = self.run_program(*arguments)
        self.assertEqual((done.status, done.out), (4, ""), done.err)
        self.assertRegex(done.err,
                         r"^(live: counterset .*: refused with status 4200 "
                         r"\(no such counterset\)\n)?"
                         r"live: .*\bPerfEnumerateCounterSet\b.*\n$")

    def test_live(self):
        """live is refused as text, JSON and CSV."""
        for form in ("text", "json", "csv"):
            self.refused("live", "--count", "1", "--format", form)
        self.refused("live", "--set", "Memory", "--count", "1")

    def test_v1(self):
        """Wine's V1 data has no objects, so every name is unknown."""
        for command in (["live"], ["record", "-o", "x"]):
            done = self.run_program(*command, "--v1", "--set", "238")
            self.assertEqual((done.status, done.out), (2, ""), done.err)
            self.assertTrue(done.err.startswith("live: no counterset 238; "))
        done = self.run_program("countersets", "--v1")
        self.assertEqual((done.status, done.out, done.err), (0, "", ""))

    def test_other_machines(self):
        """live on a machine that does not exist ends with status 4."""
        for option in ([], ["--v1"]):
            done = self.run_program("live", "--machine", "perfblock.invalid",
                                    "--set", "Memory", *option)
            self.assertEqual((done.status, done.out), (4, ""), done.err)

    def test_countersets(self):
        """countersets is refused in each format."""
        self.refused("countersets")
        self.refused("countersets", "--format", "json")

    def test_record(self):
        """record is refused and leaves no file."""
        path = os.path.join(self.folder, "\u8a08\u6570.pfb")
        self.refused("record", "-o", path, "--count", "1")
        self.assertFalse(os.path.exists(path))


if __name__ == "__main__":
    unittest.main()
