# SPDX-License-Identifier: MIT
"""The commands in README.md print the output that README.md shows. Each block
of commands is a test, so that those that cannot run here are reported as
skipped."""

import os
import pathlib
import platform
import re
import shlex
import sys
import unittest

from cpi_runs import RunCase
from program import ON_WINDOWS, ROOT

sys.path.insert(0, os.path.join(ROOT, "tests", "package"))

import readme  # noqa: E402 (in the folder that was just added)

# {first command of a block: [(command, standard input, expected output)]}
SESSIONS = {session[0][0]: session
            for session in readme.read_sessions(pathlib.Path(ROOT,
                                                             "README.md"))}
LIVE = "perfblock live --count 1"
CPI_RUN = "cat two.txt"
EVAL = "perfblock eval"
NUMBER = r"\d[\d,.]*"


def same_but_for_numbers(line):
    """A pattern that matches the line with any numbers and column widths."""
    return re.compile(r"\s+".join(
        NUMBER.join(map(re.escape, re.split(NUMBER, word)))
        for word in line.split()))


def without_headings(lines):
    """The lines with numbers, and the sorted words of the others. Those are
    headings, and where they are wrapped depends on the widths of numbers."""
    return ([line for line in lines if re.search(r"\d", line)],
            sorted(word for line in lines if not re.search(r"\d", line)
                   for word in line.split()))


def unmatched(lines, others):
    """The lines that equal none of the others, except for numbers."""
    patterns = [same_but_for_numbers(other) for other in others]
    return [line for line in lines
            if not any(p.fullmatch(line.strip()) for p in patterns)]


class Readme(RunCase):
    """The blocks of commands in README.md."""

    def run_line(self, line, stdin=""):
        """Runs a command line that begins with the program's name, with times
        in UTC, as README.md shows them."""
        name, *arguments = shlex.split(line)
        self.assertEqual(name, "perfblock")
        if ON_WINDOWS and arguments[-2:] == ["--", "true"]:
            # Windows has no command `true`; this one prints nothing either.
            arguments[-1:] = self.quiet
        return self.run_program(*arguments, stdin=stdin.encode(),
                                cwd=self.folder, zone="UTC0")

    def test_every_session_has_a_test(self):
        """Each block of commands in README.md is tested here."""
        self.assertEqual(list(SESSIONS), [LIVE, CPI_RUN, EVAL])

    def test_eval(self):
        """The command prints what README.md shows."""
        (line, stdin, printed), = SESSIONS[EVAL]
        done = self.run_line(line, stdin)
        self.assertEqual((done.status, done.out, done.err), (0, printed, ""))

    def test_cpi_run(self):
        """The snapshots of README.md give the printed figures."""
        (cat, _, snapshots), (line, _, printed) = SESSIONS[CPI_RUN]
        self.file(cat.split()[1], snapshots.encode())
        done = self.run_line(line)
        self.assertEqual((done.status, done.out, done.err), (0, printed, ""))

    @unittest.skipIf(ON_WINDOWS or (sys.platform, platform.machine()) !=
                     ("linux", "x86_64"),
                     "README.md shows the live counters of Linux on x86-64")
    def test_live(self):
        """The output has the same lines as README.md, except for numbers and
        for the number of CPUs. Where README.md shows "...", there may be
        further lines."""
        for line, _, printed in SESSIONS[LIVE]:
            done = self.run_line(line)
            self.assertEqual((done.status, done.err), (0, ""), line)
            shown = [text for text in printed.splitlines() if text]
            found = [text for text in done.out.splitlines() if text]
            if "..." in shown:
                shown = [text for text in shown if text != "..."]
            else:
                found, found_words = without_headings(found)
                shown, shown_words = without_headings(shown)
                self.assertEqual(found_words, shown_words, line)
                self.assertEqual(unmatched(found, shown), [], line)
            self.assertEqual(unmatched(shown, found), [], line)


if __name__ == "__main__":
    unittest.main()
