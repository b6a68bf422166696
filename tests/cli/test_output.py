# SPDX-License-Identifier: MIT
"""Files and streams that cannot be read or written, and resource limits."""

import os
import signal
import subprocess
import unittest

from cpi_runs import SNAPSHOTS
from program import (CORPUS, FULL, IMPOSSIBLE, ON_WINDOWS, SECONDS, Case,
                     bytes_of, on_machine, own_program, program, running,
                     sanitizer, seed, writer as w)

if not ON_WINDOWS:
    import resource

CAPTURE = seed("capture", "valid_processor_information.pfb")
PRINTING = (["--help"], ["--version"], ["types"], ["show", CAPTURE],
            ["check", CAPTURE], ["cook", CAPTURE],
            ["cook", "--format", "json", CAPTURE],
            ["show", "--format", "json", CAPTURE],
            ["eval", os.path.join(CORPUS, "formula", "worked.csv")])


class Files(Case):
    """Inputs that cannot be read, and unusual file names."""

    def test_missing(self):
        """A missing file is reported by name, with control characters escaped.
        """
        path = os.path.join(self.folder, "missing\x1b\x07")
        shown = os.path.join(self.folder, "missing\\u001B\\u0007")
        for command in ("show", "check", "cook"):
            done = self.run_program(command, path)
            self.assertEqual((done.status, done.out, done.err), (
                3, "", shown + (": Invalid argument\n" if ON_WINDOWS
                                else ": No such file or directory\n")))

    def test_the_more_severe_status_is_returned(self):
        """An unreadable file gives status 3, also next to a malformed one."""
        bad = self.file("bad", b"x")
        for files in ([bad, "/nonexistent"], ["/nonexistent", bad]):
            self.assertEqual(self.run_program("show", *files).status, 3)

    def test_names_that_look_like_options(self):
        """A file whose name begins with "-" is read after "--"."""
        self.file("-x", w.reply())
        self.run_fine("show", "--", "-x", cwd=self.folder)
        self.run_fine("show", "./-x", cwd=self.folder)

    def test_names_that_are_not_utf8(self):
        """Bytes of a file name that are not UTF-8 are printed as U+FFFD."""
        path = os.path.join(os.fsencode(self.folder), b"\xff\xfe.bin")
        with open(path, "wb") as file:
            file.write(w.reply())
        items = self.run_json("check", path)
        self.assertEqual(items[0]["file"], os.path.join(
            self.folder, "\ufffd\ufffd.bin"))


@unittest.skipIf(ON_WINDOWS, "Windows has no /dev/zero and no limits")
class Endless(Case):
    """Inputs that never end, and very large files."""

    GIB = 1 << 30
    READING = (["check"], ["show"], ["lwp", "show"], ["cpi", "show"],
               ["cpuid"], ["cook", CAPTURE, "--names"])

    def limit(self, size):
        """A function that limits the address space of the process that calls
        it. Skips the test if the program does not start with this limit."""
        def begin():
            resource.setrlimit(resource.RLIMIT_AS, (size, size))
        done = self.run_program("--version", begin=begin)
        if done.status != 0:
            self.skipTest("does not run with %d MiB of address space "
                          "(AddressSanitizer?)" % (size >> 20))
        return begin

    def test_memory_that_is_exhausted(self):
        """If memory is exhausted, each command reports it and exits with
        status 4."""
        begin = self.limit(self.GIB // 4)
        for arguments in self.READING:
            done = self.run_program(*arguments, "/dev/zero", begin=begin)
            self.assertEqual((done.status, done.err), (
                4, "perfblock: out of memory\n"), arguments)

    def test_an_endless_file_of_no_format(self):
        """Streams need only the start of a file to refuse it."""
        for arguments in (["cook"], ["countersets", "--source"]):
            done = self.run_program(*arguments, "/dev/zero",
                                    begin=self.limit(self.GIB // 4))
            self.assert_error(done, 1, "/dev/zero", 0, "unknown_format")

    def test_more_than_the_limit(self):
        """Input that must be in memory as a whole is read up to 256 MiB."""
        begin = self.limit(self.GIB)
        for command in ["check"], ["show", "-f", "html"]:
            done = self.run_program(*command, "/dev/zero", begin=begin)
            self.assertEqual((done.status, done.out), (3, ""))
            self.assertRegex(done.err, "^/dev/zero: offset 0: caller_limit: "
                             ".* 256 MiB .*\n$")

    def test_large_regular_files(self):
        """A regular file may be larger than 1 GiB. This one is a reply with
        zeros after it."""
        path = self.file("large", w.reply())
        os.truncate(path, self.GIB + 4096)
        begin = self.limit(3 * self.GIB)
        done = self.run_program("check", path, begin=begin)
        self.assertEqual((done.status, done.err), (0, ""))


@unittest.skipIf(ON_WINDOWS, "Windows has no resource limits")
class SmallStack(Case):
    """Commands run with a stack of 128 KiB, which also contains the environment
    and the arguments."""

    SIZE = 128 << 10
    FILES = 40  # files of the corpus per run

    def setUp(self):
        super().setUp()
        if sanitizer() == "AddressSanitizer":
            self.skipTest("AddressSanitizer makes frames larger")

    def limit(self):
        """Sets the limit; runs in the child process before the program."""
        resource.setrlimit(resource.RLIMIT_STACK, (self.SIZE, self.SIZE))

    def check(self, *arguments):
        """Asserts that the output is the same as with a stack of usual size."""
        usual = self.run_program(*arguments)
        small = self.run_program(*arguments, begin=self.limit)
        self.assertEqual((small.status, small.out, small.err),
                         (usual.status, usual.out, usual.err), arguments)

    def test_the_corpus(self):
        """show, check, cook, lwp show and cpi show of all seeds."""
        for subject in sorted(os.listdir(CORPUS)):
            folder = os.path.join(CORPUS, subject, "seeds")
            paths = sorted(os.path.join(folder, name) for name in (
                os.listdir(folder) if os.path.isdir(folder) else ()))
            for at in range(0, len(paths), self.FILES):
                part = paths[at:at + self.FILES]
                for command in (["show"], ["check"], ["cook"],
                                ["cook", "--format", "json"],
                                ["show", "--format", "json"],
                                ["lwp", "show"], ["cpi", "show"]):
                    self.check(*command, *part)

    def test_other_commands(self):
        """Commands that test_the_corpus does not run."""
        snapshots = self.file("snapshots", SNAPSHOTS)
        folder = os.path.join(CORPUS, "formula")
        for name in sorted(os.listdir(folder)):
            if name.endswith(".csv"):
                self.check("eval", os.path.join(folder, name))
        for arguments in (["--help"], ["types"], ["cpuid"],
                          ["countersets", "--source", CAPTURE],
                          ["show", "-f", "html", CAPTURE], ["report", CAPTURE],
                          ["convert", CAPTURE, "--force", "-o",
                           os.path.join(self.folder, "out.pfb")],
                          ["cpi", "run", "--source", snapshots, "--",
                           own_program(), "--version"],
                          ["cpuid", seed("cpuid_text", sorted(os.listdir(
                              os.path.join(CORPUS, "cpuid_text",
                                           "seeds")))[0])]):
            self.check(*arguments)
        path = os.path.join(self.folder, "new.pfb")
        for live in (["record", "-o", path, "--count", "2", "--set", "*",
                      "--interval", "0.05", "--rotate", "1"],
                     ["live", "--count", "1", "--interval", "0.05", "--set",
                      "*"], ["countersets"],
                     ["cook"]):
            self.assertIn(self.run_program(*live, begin=self.limit).status,
                          (0, IMPOSSIBLE), live)


@unittest.skipIf(ON_WINDOWS, "Windows has no resource limits")
class TooLarge(Case):
    """A limit on the size of files (ulimit -f): exceeding it is reported like a
    full disk, and SIGXFSZ does not end the program."""

    LIMIT = 1024

    def limit(self):
        """Sets the limit; runs in the child process before the program."""
        resource.setrlimit(resource.RLIMIT_FSIZE, (self.LIMIT, self.LIMIT))

    def test_recordings(self):
        """record reports a file that grew too large, in which it leaves whole
        chunks only (test_faults.py)."""
        path = os.path.join(self.folder, "new.pfb")
        done = self.run_record(CAPTURE, path, begin=self.limit)
        self.assertEqual((done.status, done.err.splitlines()[-1]),
                         (3, path + ": File too large"))
        self.assertLess(os.path.getsize(path), self.LIMIT)
        self.run_fine("check", path)

    def test_standard_output(self):
        """show reports standard output that grew too large."""
        with open(os.path.join(self.folder, "out"), "wb") as out:
            done = running.finish([program(), "show", CAPTURE], stdout=out,
                                  timeout=SECONDS, preexec_fn=self.limit)
        self.assertEqual(done.returncode, 3)
        self.assertIn(b"File too large", done.stderr)

    def test_the_measured_command_gets_the_signal(self):
        """The program ignores SIGXFSZ, but the measured command gets the action
        that the program was started with."""
        source = self.file("snapshots", SNAPSHOTS)
        for is_ignored in (False, True):
            def begin():
                if is_ignored:
                    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            done = self.run_program("cpi", "run", "--source", source, "--",
                                    "sh", "-c", "kill -XFSZ $$", begin=begin)
            self.assertEqual(done.status, 0)
            self.assertEqual(done.err, "" if is_ignored else
                             "sh: ended by signal %d\n" % signal.SIGXFSZ)


class Closed(Case):
    """Standard streams that were closed before the program started.

    If a file that the program opens got the descriptor of such a stream, what
    is printed to the stream would be written into the file.
    """

    # Wine does not start a program if several are closed.
    STREAMS = ((0,), (1,), (2,), *(() if ON_WINDOWS else ((1, 2), (0, 1, 2))))

    def storing(self, path):
        """A command line that writes to a file and to standard output."""
        source = self.file("source", SNAPSHOTS)
        return ["cpi", "run", "--source", source, "-o", path, "--",
                own_program(), "--version"]

    def run_without(self, streams, arguments):
        """Runs the program with these streams closed."""
        def begin():
            for number in streams:
                os.close(number)
        return self.run_program(*arguments, begin=begin)

    def test_files_that_are_not_captures_are_not_changed(self):
        path = self.file("other.txt", b"")
        for streams in self.STREAMS:
            self.file("other.txt", b"not a capture at all\n")
            self.assertEqual(self.run_without(
                streams, self.storing(path)).status, 3)
            self.assertEqual(bytes_of(path), b"not a capture at all\n",
                             streams)

    def test_messages_are_not_written_to_stored_files(self):
        path = os.path.join(self.folder, "stored.pfb")
        self.run_program(*self.storing(path))
        whole = bytes_of(path)
        os.remove(path)
        for streams in self.STREAMS:
            done = self.run_without(streams, self.storing(path))
            self.assertEqual(done.status, 3 if 1 in streams else 0)
            if streams == (1,):
                self.assertRegex(done.err, "standard output: [^\n]+\n")
            self.assertEqual(bytes_of(path), whole, streams)
            os.remove(path)


class Output(Case):
    """Standard output that cannot be written."""

    def finish(self, arguments, **options):
        """Runs the program with the standard output of `options`."""
        return running.finish([program(), *arguments], timeout=SECONDS,
                              stdin=subprocess.DEVNULL, **options)

    @unittest.skipUnless(os.path.exists(FULL), "no /dev/full here")
    def test_full_disk(self):
        """Each command reports a full disk with status 3."""
        for arguments in PRINTING:
            with open(FULL, "wb") as full:
                done = self.finish(arguments, stdout=full)
            self.assertEqual(done.returncode, 3, arguments)
            self.assertRegex(done.stderr.decode(),
                             r"^standard output: [^\n]+\n$")

    def test_closed_pipe(self):
        """Each command ends without a message if nobody reads its output."""
        for arguments in PRINTING:
            reader, writer = os.pipe()
            os.close(reader)
            with os.fdopen(writer, "wb") as pipe:
                done = self.finish(arguments, stdout=pipe)
            self.assertEqual((done.returncode, done.stderr), (0, b""),
                             arguments)

    @unittest.skipIf(ON_WINDOWS, "Windows has no /dev/stdout")
    def test_closed_pipe_of_a_recording(self):
        """A recorder ends without an error if nobody reads the recording."""
        for machine, arguments in (
                (CAPTURE, ["record", "-n", "1", "-o", "/dev/stdout"]),
                (None, ["convert", CAPTURE, "-f", "pfb", "-o",
                        "/dev/stdout"])):
            path, environment = on_machine(machine)
            reader, writer = os.pipe()
            os.close(reader)
            with os.fdopen(writer, "wb") as pipe:
                done = running.finish([path, *arguments], timeout=SECONDS,
                                      env=environment, stdout=pipe,
                                      stdin=subprocess.DEVNULL)
            self.assertEqual(done.returncode, 0, arguments)
            self.assertNotIn(b"/dev/stdout", done.stderr, arguments)

    def test_reader_that_closes_the_pipe(self):
        """A command ends without a message if its reader stops reading."""
        path = self.file("big.bin", w.reply(w.result(w.SINGLE, w.v4(
            1))) * 20000)
        for command in ("show", "cook"):
            with subprocess.Popen(
                    [program(), command, "--format", "json", path],
                    stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
                self.assertTrue(child.stdout.readline())
                child.stdout.close()
                self.assertEqual(child.stderr.read(), b"")
                self.assertEqual(child.wait(SECONDS), 0)

    def test_order_of_output_and_error(self):
        """The error follows the output that precedes it in the file."""
        path = self.file("a.bin", w.reply(w.result(w.SINGLE, w.v4(
            5)))[:-12] + b"\xf8" + b"\xff" * 11)
        done = running.finish([program(), "show", path], timeout=SECONDS,
                              stderr=subprocess.STDOUT)
        lines = done.stdout.decode().splitlines()
        self.assertEqual(len(lines), 3)
        self.assertIn("bad_value_size", lines[-1])


if __name__ == "__main__":
    unittest.main()
