# SPDX-License-Identifier: MIT
"""The tables of `perfblock live` on a terminal.

The program runs on a pseudo-terminal. The class Terminal interprets its output
and fails at escape sequences that the program must not use.
"""

import os
import re
import select
import signal
import struct
import time
import unittest

from program import SECONDS, LiveCase, program

try:
    import fcntl
    import pty
    import termios
except ImportError:  # this system has no such terminals
    pty = None

# Options for a table whose layout is the same in each sample.
STEADY = ("--counter", "Interrupts/sec", "--color", "never")
TITLE = re.compile(r"^Processor Information, sample (\d+), \d{4}-")
SEQUENCE = re.compile(r"\x1b\[(\??)([0-9;]*)([A-Za-z])")


class Terminal:
    """A simulated terminal: `lines` are its rows, `scrolled` the lines that
    scrolled out of it, `homes` how often the cursor moved to the top left."""

    def __init__(self, rows, columns):
        self.rows, self.columns = rows, columns
        self.lines = [[" "] * columns for _ in range(rows)]
        self.scrolled = []
        self.row = self.column = 0
        self.wraps = self.shows_cursor = True
        self.homes = 0
        self.pending = ""

    def feed(self, text):
        """Processes output, which may end inside an escape sequence."""
        text = self.pending + text
        self.pending = ""
        at = 0
        while at < len(text):
            if text[at] != "\x1b":
                self.put(text[at])
                at += 1
                continue
            found = SEQUENCE.match(text, at)
            if not found:
                self.pending = text[at:]
                assert len(self.pending) < 16, repr(self.pending)
                return
            self.control(*found.groups())
            at = found.end()

    def control(self, private, numbers, letter):
        """Processes one escape sequence; others than these are errors."""
        if private:
            assert numbers in ("7", "25") and letter in "hl", (numbers, letter)
            if numbers == "7":
                self.wraps = letter == "h"
            else:
                self.shows_cursor = letter == "h"
        elif letter == "H" and not numbers:
            self.row = self.column = 0
            self.homes += 1
        elif letter == "K" and not numbers:
            self.clear(self.row, self.column)
        elif letter == "J" and not numbers:
            self.clear(self.row, self.column)
            for row in range(self.row + 1, self.rows):
                self.clear(row, 0)
        else:
            assert letter == "m" and numbers in ("0", "1"), (numbers, letter)

    def clear(self, row, column):
        """Clears a row from this column to its end."""
        column = min(column, self.columns - 1)
        self.lines[row][column:] = [" "] * (self.columns - column)

    def put(self, character):
        """Processes a character, carriage return or line feed."""
        if character == "\r":
            self.column = 0
        elif character == "\n":
            self.feed_line()
        else:
            assert character >= " ", repr(character)
            if self.column == self.columns:
                if self.wraps:
                    self.column = 0
                    self.feed_line()
                else:
                    self.column -= 1
            self.lines[self.row][self.column] = character
            self.column += 1

    def feed_line(self):
        """Moves the cursor down one row; at the bottom the text scrolls."""
        self.row += 1
        if self.row == self.rows:
            self.row -= 1
            self.scrolled.append("".join(self.lines.pop(0)).rstrip())
            self.lines.append([" "] * self.columns)

    def text(self):
        """The rows without trailing blanks."""
        return ["".join(line).rstrip() for line in self.lines]


class Session:
    """The program running on a terminal."""

    def __init__(self, rows, columns, *arguments, environment=None):
        self.terminal = Terminal(rows, columns)
        self.process, self.file = pty.fork()
        if self.process == 0:
            self.become(rows, columns, arguments, environment or {})

    @staticmethod
    def become(rows, columns, arguments, environment):
        """Runs in the child process: starts the program on a terminal of that
        size."""
        try:
            fcntl.ioctl(1, termios.TIOCSWINSZ,
                        struct.pack("HHHH", rows, columns, 0, 0))
            os.environ.pop("COLUMNS", None)
            os.environ["TERM"] = "xterm"
            os.environ.update(environment)
            os.write(1, b"before\n")
            os.execv(program(), [program(), *arguments])
        finally:
            os._exit(99)

    def read(self, until):
        """Reads output until until(terminal) is true or the output ends."""
        end = time.monotonic() + SECONDS
        while not until(self.terminal):
            assert time.monotonic() < end, self.terminal.text()
            if not select.select([self.file], [], [], 1)[0]:
                continue
            try:
                data = os.read(self.file, 65536)
            except OSError:  # a closed terminal, on Linux
                return
            if not data:
                return
            self.terminal.feed(data.decode("utf-8"))

    def finish(self):
        """Reads all output and returns the wait status of the process."""
        self.read(lambda terminal: False)
        os.close(self.file)
        return os.waitpid(self.process, 0)[1]

    def resize(self, rows, columns):
        """Resizes the terminal and clears the simulated one."""
        fcntl.ioctl(self.file, termios.TIOCSWINSZ,
                    struct.pack("HHHH", rows, columns, 0, 0))
        self.terminal.__init__(rows, columns)

    def type(self, keys):
        """Types these keys."""
        os.write(self.file, keys)


@unittest.skipIf(pty is None, "Windows has no pseudo-terminals")
class Screen(LiveCase):
    """Tables that are updated in place."""

    def watch(self, rows, columns, *arguments, environment=None):
        """Starts live with a short interval on a terminal of this size."""
        return Session(rows, columns, "live", "--interval", "0.05",
                       *arguments, environment=environment)

    def shown_sample(self, terminal):
        """The number of the sample on the screen, which has one table."""
        titles = [TITLE.match(line) for line in terminal.text()]
        numbers = [int(found[1]) for found in titles if found]
        self.assertEqual(len(numbers), 1, terminal.text())
        return numbers[0]

    def test_each_sample_replaces_the_one_before(self):
        """The table of a sample overwrites the previous one; what was printed
        before stays."""
        session = self.watch(60, 100, "--count", "4")
        self.assertEqual(session.finish(), 0)
        terminal = session.terminal
        self.assertEqual(terminal.homes, 4)
        self.assertRegex(terminal.text()[0], TITLE)
        self.assertEqual(self.shown_sample(terminal), 4)
        self.assertTrue(terminal.shows_cursor and terminal.wraps)
        # Lines printed before the program started stay above the table; no
        # earlier table does.
        self.assertEqual([line for line in terminal.scrolled if line],
                         ["before"])
        self.assertEqual(terminal.column, 0)
        self.assertEqual("".join(terminal.text()[terminal.row:]), "")

    def test_the_screen_shows_the_text_output(self):
        """The screen has the lines of the text output, except for numbers, on
        two widths. The second one is that of the widest line: if the program
        cleared the rest of that line, its last character would be lost."""
        def shape(lines):
            return [re.sub(r"[-\d:.,]+", "#", re.sub(" +", " ", line))
                    for line in lines]
        plain = self.run_fine("live", "--interval", "0.05", "--count", "1",
                              *STEADY, columns=100).lines()
        for width in (100, max(map(len, plain))):
            session = self.watch(60, width, "--count", "2", *STEADY)
            session.finish()
            shown = session.terminal.text()
            self.assertEqual(shape(shown[1:len(plain)]), shape(plain[1:]))
            self.assertEqual("".join(shown[len(plain):]), "")

    def test_few_rows(self):
        """On a small terminal the last line has the number of lines that do
        not fit."""
        rows = 5
        session = self.watch(rows, 100, "--count", "3", *STEADY)
        self.assertEqual(session.finish(), 0)
        text = session.terminal.text()
        self.assertEqual(self.shown_sample(session.terminal), 3)
        plain = self.run_fine("live", "--interval", "0.05", "--count", "1",
                              *STEADY, columns=100).lines()
        self.assertEqual(text[rows - 2], "%d more lines: the terminal has 5 "
                         "rows" % (len(plain) - (rows - 2)))
        self.assertEqual(text[rows - 1], "")
        self.assertEqual([line for line in session.terminal.scrolled if line],
                         ["before"])

    def test_a_new_size_is_used_from_the_next_update_on(self):
        """After a change of the terminal's size the next table fits it."""
        session = self.watch(60, 100)
        session.read(lambda terminal: terminal.homes > 1)
        session.resize(6, 100)
        session.read(lambda terminal: terminal.text()[4].endswith(
            "more lines: the terminal has 6 rows"))
        self.assertEqual(session.terminal.text()[5], "")
        session.type(b"\x03")
        self.assertEqual(session.finish(), 0)

    def test_interrupt(self):
        """After ^C the last table stays, and the cursor is in an empty line
        below it."""
        # ^C makes a terminal discard pending output, so it is typed between
        # two updates, when there is none.
        session = self.watch(60, 100, "--interval", "0.5")
        session.read(lambda terminal: terminal.homes > 1 and
                     terminal.shows_cursor)
        session.type(b"\x03")
        self.assertEqual(session.finish(), 0)
        terminal = session.terminal
        self.assertTrue(terminal.shows_cursor and terminal.wraps)
        self.shown_sample(terminal)
        self.assertEqual(terminal.column, 0)
        self.assertEqual(terminal.text()[terminal.row], "")

    def test_a_killed_program_leaves_cursor_and_wrapping_on(self):
        """Between two updates the cursor is visible and lines wrap."""
        session = self.watch(60, 100, *STEADY)
        session.read(lambda terminal: terminal.homes > 1)
        os.kill(session.process, signal.SIGKILL)
        session.finish()
        self.assertTrue(session.terminal.shows_cursor and
                        session.terminal.wraps)

    def test_options_that_do_not_replace_the_table(self):
        """Tables do not replace each other if there is only one, in other
        formats, and on terminals that cannot move the cursor."""
        for arguments, environment in (
                (["--count", "1"], {}),
                (["--count", "2", "--format", "csv"], {}),
                (["--count", "2"], {"TERM": "dumb"}),
                (["--count", "2"], {"TERM": ""})):
            session = self.watch(400, 100, *arguments,
                                 environment=environment)
            self.assertEqual(session.finish(), 0)
            self.assertEqual(session.terminal.homes, 0, arguments)
            self.assertEqual(session.terminal.text()[0], "before")

    def test_a_file_gets_all_tables(self):
        """Standard output that is no terminal has the tables of all samples.
        """
        text = self.run_fine("live", "--interval", "0.05", "--count", "3").out
        self.assertNotIn("\x1b", text)
        titles = [int(found[1]) for found in
                  map(TITLE.match, text.splitlines()) if found]
        self.assertEqual(titles, [1, 2, 3])


if __name__ == "__main__":
    unittest.main()
