# SPDX-License-Identifier: MIT
"""Tables on a terminal, tmux, at several widths, and after its size changed.

What tmux shows must equal the text that the program writes to a pipe for the
same number of columns.
"""

import os
import re
import shlex
import shutil
import subprocess
import tempfile
import time
import unittest

from captures import DISK, LARGE_RAW, data, instances_result, metadata
from program import ON_WINDOWS, SECONDS, Case, LiveCase, program, writer as w

TMUX = None if ON_WINDOWS else shutil.which("tmux")
WIDTHS = (80, 40, 200, 40)  # to which the terminal is resized in turn
LINE_OF_TITLE = re.compile(r".*sample \d+|.*\d{4}-\d\d-\d\d \d\d:")
# Counters whose values do not change while their process sleeps.
STEADY = ("--set", "Process", "--instance", "zq*", *(
    part for name in ("Virtual Bytes", "Thread Count", "Priority Base",
                      "ID Process", "Creating Process ID")
    for part in ("--counter", name)))
WIDE = "\u78c1\u76e4\u8b80\u53d6"


class Pane:
    """A command that runs in the only pane of a tmux server."""

    def __init__(self, folder, columns, rows, *command):
        self.socket = tempfile.mktemp(prefix="tmux", dir=folder)
        environment = {key: value for key, value in os.environ.items()
                       if key not in ("TMUX", "COLUMNS", "TERM", "LC_ALL")}
        self.environment = {**environment, "LC_ALL": "C.UTF-8"}
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", str(columns),
                  "-y", str(rows), "%s; sleep 1000" % shlex.join(command))
        self.tmux("set-option", "-g", "status", "off")
        self.resize(columns, rows)

    def tmux(self, *arguments):
        """Runs a tmux command; returns its output."""
        return subprocess.run(
            [TMUX, "-u", "-S", self.socket, *arguments], check=True,
            env=self.environment, timeout=SECONDS, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT).stdout.decode("utf-8")

    def resize(self, columns, rows):
        """Resizes the pane; the program gets a signal."""
        self.tmux("resize-window", "-x", str(columns), "-y", str(rows))

    def lines(self):
        """The lines that the pane shows."""
        return self.tmux("capture-pane", "-p").rstrip("\n").split("\n")

    def close(self):
        """Ends the server and the program in it."""
        self.tmux("kill-server")


def without_titles(lines):
    """The lines without titles, which change with each sample."""
    return [line for line in lines if not LINE_OF_TITLE.match(line)]


def unchanged(lines):
    """The lines as they are."""
    return lines


@unittest.skipIf(TMUX is None, "tmux is not installed")
class Terminal(Case):
    """Tables of cook."""

    def wait_for(self, pane, expected, choose, context):
        """Waits until choose(lines of the pane) is `expected`; fails after
        SECONDS."""
        end = time.monotonic() + SECONDS
        while choose(pane.lines()) != expected:
            if time.monotonic() > end:
                self.assertEqual(choose(pane.lines()), expected, context)
            time.sleep(0.05)

    def test_cook(self):
        """tmux shows the lines of cook at each width."""
        names = ("sda", WIDE * 20, "x" * 300, "e\u0301" * 30,
                 "\U0001F600" * 20)
        path = self.file("a.pfb", w.recording(
            metadata(DISK, "Disk " + WIDE * 15, [
                (n, LARGE_RAW, name) for n, name in enumerate((
                    "Reads", WIDE * 3, "Supercalifragilisticexpialidocious",
                    "Free Bytes"))]),
            w.chunk(b"QINF", w.identifier(DISK, name="*")),
            data(0, instances_result(range(4), [
                (i, name, [10 ** (3 * i), i, 7, 5 ** (4 * i)])
                for i, name in enumerate(names)]))))
        for columns in sorted(set(WIDTHS)):
            expected = self.run_fine("cook", path, columns=columns).lines()
            pane = Pane(self.folder, columns, 100, program(), "cook", path)
            try:
                self.wait_for(pane, expected[:-1], unchanged, columns)
            finally:
                pane.close()


@unittest.skipIf(TMUX is None, "tmux is not installed")
class Live(Terminal, LiveCase):
    """Tables of `live` that replace each other."""

    test_cook = None  # inherited, but must run only once

    def setUp(self):
        super().setUp()
        for name in ("zq" + WIDE, "zq" + "x" * 13):
            path = os.path.join(self.folder, name)
            os.symlink(shutil.which("sleep"), path)
            process = subprocess.Popen([path, "1000"])
            self.addCleanup(process.wait)
            self.addCleanup(process.kill)

    def test_resizing(self):
        """After each change of the width tmux shows the table for that width.
        """
        live = ["live", "--interval", "0.1", "--color", "never", *STEADY]
        expected = {}
        for columns in WIDTHS:
            expected[columns] = without_titles(self.run_fine(
                *live, "--count", "1", columns=columns).lines())[:-1]
            self.assertIn("zq", "".join(expected[columns]))
        pane = Pane(self.folder, WIDTHS[0], 60, program(), *live)
        try:
            for columns in WIDTHS:
                pane.resize(columns, 60)
                self.wait_for(pane, expected[columns], without_titles,
                              columns)
        finally:
            pane.close()

    def test_few_rows(self):
        """The last line has the number of lines that do not fit."""
        pane = Pane(self.folder, 40, 10, program(), "live", "--interval",
                    "0.1", "--set", "Processor Information")
        try:
            self.wait_for(
                pane, True, lambda lines: len(lines) == 9 and bool(
                    re.match(r"\d+ more lines: the terminal has 10 rows",
                             lines[8])), "40")
        finally:
            pane.close()


if __name__ == "__main__":
    if TMUX is None:
        print("skipped: tmux is not installed")  # recognised by CTest
    unittest.main()
