# SPDX-License-Identifier: MIT
"""The command that `perfblock cpi run` measures: its arguments, standard
streams, signals and exit status."""

import os
import re
import signal
import subprocess
import sys
import unittest

from program import FULL, ON_WINDOWS, SECONDS, program, running
from cpi_runs import TWO, TWO_PRINTED, RunCase, expected_json


class Commands(RunCase):
    """'It' in the names of these tests is the measured command."""

    def test_its_output_precedes_the_figures(self):
        """The command writes to the same standard output, before the figures.
        """
        done = self.measure(TWO, command=[self.command, "--version"])
        lines = done.out.split("\n", 1)
        self.assertRegex(lines[0], r"^perfblock \d")
        self.assertEqual(lines[1], TWO_PRINTED)

    def test_its_output_is_not_mixed_with_json(self):
        """With --format json the command's output goes to standard error."""
        commands = [[self.command, "--version"]]
        if not ON_WINDOWS:
            commands.append(["printf", "perfblock has no end of line"])
        for command in commands:
            done = self.measure(TWO, "--format", "json", command=command)
            self.assertEqual(done.objects(), expected_json(*TWO))
            self.assertRegex(done.err, r"^perfblock \w+")

    def test_its_status(self):
        """The exit status of cpi run is that of the measurement. The status of
        the command is printed."""
        command = [self.command, "nonsense"]
        done = self.measure(TWO, command=command)
        self.assertEqual((done.status, done.out), (0, TWO_PRINTED))
        self.assertTrue(done.err.endswith(
            self.command + ": ended with status 2\n"), done.err)
        done = self.measure(TWO, "--format", "json", command=command)
        self.assertEqual(done.objects(), expected_json(*TWO, status=2))

    def test_its_arguments(self):
        """Arguments with blanks, quotation marks and other characters arrive
        unchanged."""
        for argument in ('a "quoted" word', "back\\slash\\", 'b\\"', "*", " ",
                         '\\\\"x\\\\', "100 %", "\u00e4"):
            done = self.measure(TWO, command=[self.command, argument])
            self.assertTrue(done.err.startswith(
                "perfblock: unknown command %s; " % argument), done.err)
        done = self.measure(TWO, command=[self.command, "--label"])
        self.assertTrue(done.err.startswith(
            "perfblock: expected a command before --label; "), done.err)
        empty = self.measure(TWO, command=[self.command, ""])
        self.assertIn("perfblock: unknown command ; ", empty.err)

    def test_its_options_are_not_read_by_perfblock(self):
        """The first word that is not an option begins the command, also
        without "--"."""
        path = self.source(TWO)
        for line in (["--", *self.creating], self.creating):
            done = self.run_program("cpi", "run", "--source", path, *line)
            self.assertEqual(done.status, 0)
            os.remove(self.made)

    def test_it_cannot_be_started(self):
        """A command that cannot be started is an error, and nothing is stored.
        """
        name = os.path.join(self.folder, "missing")
        for command, sentence in ((name, "No such file or directory"),
                                  ("there-is-no-such-command",
                                   "No such file or directory")):
            done = self.measure(TWO, "-o", self.made, command=[command])
            self.assertEqual((done.status, done.out, done.err), (
                3, "", "%s: %s\n" % (command, sentence)))
            self.assertFalse(os.path.exists(self.made))
        done = self.measure(TWO, command=[self.folder])
        self.assertEqual((done.status, done.out), (3, ""))

    @unittest.skipIf(ON_WINDOWS, "Windows has no such scripts")
    def test_a_script_that_names_no_interpreter(self):
        """execve refuses a script without "#!", and so does perfblock."""
        path = self.file("script", b"exit 0\n")
        os.chmod(path, 0o755)
        done = self.measure(TWO, command=[path])
        self.assertEqual((done.status, done.out, done.err), (
            3, "", path + ": Exec format error\n"))

    @unittest.skipIf(ON_WINDOWS, "Windows searches in another way")
    def test_search_in_path(self):
        """The command is searched for in each folder of PATH. Files that are
        not executable are skipped."""
        folders = [os.path.join(self.folder, name) for name in "abc"]
        for folder in folders[1:]:
            os.mkdir(folder)
            with open(os.path.join(folder, "found"), "wb") as file:
                file.write(b"#!/bin/sh\necho $0 $1\n")
        runnable = os.path.join(folders[2], "found")
        source = self.source(TWO)
        line = ["cpi", "run", "--source", source, "--", "found", "it"]

        def run(path):
            """Runs cpi run with this PATH."""
            done = running.finish([program(), *line], timeout=SECONDS,
                                  env={**os.environ, "PATH": path},
                                  cwd=folders[2])
            return (done.returncode, done.stdout.decode(),
                    done.stderr.decode())
        whole = ":".join(folders)
        self.assertEqual(run(whole), (3, "", "found: Permission denied\n"))
        os.chmod(runnable, 0o755)
        self.assertEqual(run(whole), (0, runnable + " it\n" + TWO_PRINTED,
                                      ""))
        self.assertEqual(run(folders[0] + ":")[0], 0)  # "": current folder
        self.assertEqual(run(folders[0]), (
            3, "", "found: No such file or directory\n"))

    @unittest.skipUnless(ON_WINDOWS, "only Windows has batch files")
    def test_batch_files(self):
        """Batch files are refused; the message names cmd /c."""
        for name in ("a.bat", "A.CMD", "a.bat.", "a.cmd .", "a.b\\c.Bat "):
            path = self.file("a.bat", b"@echo ran\r\n")
            done = self.measure(TWO, command=[name, "a"])
            self.assertEqual((done.status, done.out), (3, ""))
            self.assertTrue(done.err.startswith(name + ": "), done.err)
            self.assertIn("cmd /c", done.err)
            os.remove(path)

    @unittest.skipIf(ON_WINDOWS, "Windows has no signals")
    def test_termination_signals_are_passed_on(self):
        """SIGTERM and SIGHUP do not end perfblock but are sent to the command.
        When the command has ended, the figures are printed and stored."""
        for number in (signal.SIGTERM, signal.SIGHUP):
            for catches, ending in (
                    ("", "by signal %d" % number),
                    ("signal.signal(%d, lambda *_: sys.exit(5)); " % number,
                     "with status 5")):
                path = os.path.join(self.folder, "stored.pfb")
                done = self.measure(TWO, "-o", path, command=[
                    sys.executable, "-c", "import os, signal, sys; %s"
                    "os.kill(os.getppid(), %d); signal.pause()" % (
                        catches, number)])
                self.assertEqual((done.status, done.out, done.err), (
                    0, TWO_PRINTED, "%s: ended %s\n" % (sys.executable,
                                                        ending)))
                self.assertEqual([tag for tag, _ in self.chunks(path)],
                                 ["CPIS", "CPIH"])
                os.remove(path)

    @unittest.skipIf(ON_WINDOWS, "Windows has no signals")
    def test_ignored_signals_remain_ignored(self):
        """Signals that were ignored before perfblock started are ignored by
        perfblock and by the command, as nohup requires."""
        for number in (signal.SIGHUP, signal.SIGTERM):
            done = self.run_program(
                "cpi", "run", "--source", self.source(TWO), "--",
                sys.executable, "-c", "import os, signal; "
                "os.kill(os.getppid(), %d); os.kill(os.getpid(), %d)" % (
                    number, number),
                begin=lambda: signal.signal(number, signal.SIG_IGN))
            self.assertEqual((done.status, done.out, done.err),
                             (0, TWO_PRINTED, ""))

    @unittest.skipIf(ON_WINDOWS, "Windows has no signals")
    def test_its_status_where_children_are_ignored(self):
        """The command's status is reported even if perfblock was started with
        SIGCHLD ignored, and the command also starts with SIGCHLD ignored."""
        def begin():
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        script = "import signal, sys; sys.exit(%s)"
        source = self.source(TWO)
        for status in ("7", "0 if signal.getsignal(signal.SIGCHLD) == "
                       "signal.SIG_IGN else 9"):
            done = self.run_program("cpi", "run", "--source", source, "--",
                                    sys.executable, "-c", script % status,
                                    begin=begin)
            self.assertEqual((done.status, done.out, done.err), (
                0, TWO_PRINTED, sys.executable + ": ended with status 7\n"
                if status == "7" else ""))

    @unittest.skipIf(ON_WINDOWS, "Windows has no signals")
    def test_a_signal_ends_it(self):
        """The signal that ended the command is reported; the figures are
        printed."""
        for number in (signal.SIGKILL, signal.SIGTERM):
            command = [sys.executable, "-c",
                       "import os; os.kill(os.getpid(), %d)" % number]
            done = self.measure(TWO, command=command)
            self.assertEqual((done.status, done.out, done.err), (
                0, TWO_PRINTED,
                "%s: ended by signal %d\n" % (command[0], number)))
            done = self.measure(TWO, "--format", "json", command=command)
            self.assertEqual([done.objects()[0][key] for key in (
                "command_status", "command_signal")], [None, number])

    @unittest.skipIf(ON_WINDOWS, "Windows has no signals")
    def test_perfblock_ignores_keyboard_signals(self):
        """SIGINT and SIGQUIT, which a terminal sends to both processes, do not
        end perfblock."""
        for number in (signal.SIGINT, signal.SIGQUIT):
            done = self.measure(TWO, command=[
                sys.executable, "-c",
                "import os; os.kill(os.getppid(), %d)" % number])
            self.assertEqual((done.status, done.out, done.err),
                             (0, TWO_PRINTED, ""))

    @unittest.skipIf(ON_WINDOWS or not os.path.exists("/proc/self/status"),
                     "there is no /proc/self/status")
    def test_it_does_not_inherit_ignored_signals_of_perfblock(self):
        """The command ignores the same signals as without perfblock."""
        command = ["cat", "/proc/self/status"]
        line = re.compile(r"(?m)^SigIgn:\s*(\w+)$")
        standard = (1 << 31) - 1  # without real-time signals

        def ignored(out):
            return int(line.search(out)[1], 16) & standard
        alone = subprocess.run(command, check=True, timeout=SECONDS,
                               stdout=subprocess.PIPE).stdout.decode()
        self.assertEqual(ignored(self.measure(TWO, command=command).out),
                         ignored(alone))

    @unittest.skipUnless(os.path.exists(FULL), "no /dev/full here")
    def test_figures_for_a_full_disk(self):
        """A failure to print the figures is reported with status 3."""
        for form in ("text", "json"):
            with open(FULL, "wb") as full:
                done = running.finish(
                    [program(), "cpi", "run", "--format", form, "--source",
                     self.source(TWO), "--", *self.quiet], stdout=full,
                    timeout=SECONDS)
            self.assertEqual(done.returncode, 3)
            self.assertRegex(done.stderr.decode(),
                             r"^standard output: [^\n]+\n$")

    def test_figures_for_a_closed_pipe(self):
        """A closed pipe ends the output without a message."""
        for form in ("text", "json"):
            reader, writer = os.pipe()
            os.close(reader)
            with os.fdopen(writer, "wb") as pipe:
                done = running.finish(
                    [program(), "cpi", "run", "--format", form, "--source",
                     self.source(TWO), "--", *self.quiet], stdout=pipe,
                    timeout=SECONDS)
            self.assertEqual((done.returncode, done.stderr), (0, b""))


if __name__ == "__main__":
    unittest.main()
