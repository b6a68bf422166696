# SPDX-License-Identifier: MIT
"""The commands in README.md print the output that README.md shows. Each block
of commands is a test, so that those that cannot run here are reported as
skipped."""

import os
import pathlib
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
FIXTURE = ("perfblock cook fixtures/machine.blg --summary --set Processor "
           "--set Memory")
CPI_RUN = "cat two.txt"
EVAL = "perfblock eval"


class Readme(RunCase):
    """The blocks of commands in README.md."""

    def run_line(self, line, stdin=""):
        """Runs a command line that begins with the program's name, with times
        in UTC, as README.md shows them."""
        name, *arguments = (
            os.path.join(ROOT, word) if word.startswith("fixtures/") else word
            for word in shlex.split(line))
        self.assertEqual(name, "perfblock")
        if ON_WINDOWS and arguments[-2:] == ["--", "true"]:
            # Windows has no command `true`; this one prints nothing either.
            arguments[-1:] = self.quiet
        return self.run_program(*arguments, stdin=stdin.encode(),
                                cwd=self.folder, zone="UTC0")

    def test_every_session_has_a_test(self):
        """Each block of commands in README.md is tested here."""
        self.assertEqual(list(SESSIONS), [FIXTURE, CPI_RUN, EVAL])

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

    def test_fixture(self):
        """The summary of a log is that of README.md; the report is a page."""
        os.mkdir(os.path.join(self.folder, "build"))
        for line, stdin, printed in SESSIONS[FIXTURE]:
            done = self.run_line(line, stdin)
            self.assertEqual((done.status, done.err), (0, ""), line)
            self.assertEqual(done.out.strip(), printed.strip(), line)
        with open(os.path.join(self.folder, "build", "report.html"),
                  encoding="utf-8") as page:
            self.assertIn("% Committed Bytes In Use", page.read())


if __name__ == "__main__":
    unittest.main()
