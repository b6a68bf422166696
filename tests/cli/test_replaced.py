# SPDX-License-Identifier: MIT
"""Files of -o: they are written beside their target, which they replace when
they are complete. A failure or a signal leaves the old file as it was, and no
other file."""

import os
import signal
import subprocess
import time
import unittest

from program import (ON_WINDOWS, ROOT, SECONDS, Case, bytes_of, program,
                     running, writer as w)

import captures

if not ON_WINDOWS:
    import resource

HAS_SQLITE = os.environ.get("PERFBLOCK_SQLITE", "1") == "1"
PROCESSOR = os.path.join(ROOT, "fixtures", "processor.pfb")
OLD = b"old" * 100
# Commands that read a file and write another one, and the ending of its name.
WRITING = (
    (["convert"], ".pfb"), (["report"], ".html"),
    (["show", "-f", "html"], ".html"), (["show", "-f", "json"], ".jsonl"),
    *[(["cook"], ending) for ending in (
        ".txt", ".json", ".csv", ".pdh.csv", ".tsv", ".prom",
        *([".sqlite"] if HAS_SQLITE else []))],
    (["cook", "--summary"], ".json"))


def many_samples(count):
    """A recording with many samples of a counter."""
    return w.recording(
        captures.metadata(captures.DISK, "Disk", [(1, captures.BULK, "N")]),
        w.chunk(b"QINF", w.identifier(captures.DISK, name="*")),
        *[w.chunk(b"DATA", w.reply(captures.instances_result([1], [
            (n, "instance %d" % n, [number]) for n in range(100)]),
            stamps=w.clocks(number * 10**7, 133 * 10**15 + number * 10**7,
                            10**7))) for number in range(count)])


class Replaced(Case):
    """A test with an old file."""

    def target(self, ending, old=OLD):
        """The path of the output in a folder of its own, with this content;
        None: it does not exist."""
        folder = os.path.join(self.folder, "out")
        os.makedirs(folder, exist_ok=True)
        for name in os.listdir(folder):
            os.remove(os.path.join(folder, name))
        path = os.path.join(folder, "a" + ending)
        if old is not None:
            with open(path, "wb") as file:
                file.write(old)
        return path

    def assert_old(self, path, old=OLD, message=None):
        """Asserts that nothing has changed in the folder of an output."""
        self.assertEqual(os.listdir(os.path.dirname(path)),
                         [] if old is None else [os.path.basename(path)],
                         message)
        if old is not None:
            self.assertEqual(bytes_of(path), old, message)


@unittest.skipIf(ON_WINDOWS, "Windows has no signals for other processes")
class Signals(Replaced):
    """Signals that end the program while it writes."""

    def run_signalled(self, number, words, ending, old=OLD):
        """Sends the signal to a command that has written much of its output
        and waits for more input. Returns its exit status and the path."""
        path = self.target(ending, old)
        data = many_samples(40)
        with subprocess.Popen([program(), *words, "-", "-o", path],
                              stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE) as child:
            child.stdin.write(data)
            child.stdin.flush()
            deadline = time.monotonic() + SECONDS
            while time.monotonic() < deadline and not self.has_read(child):
                time.sleep(0.01)
            child.send_signal(number)
            child.wait(SECONDS)
            self.assertEqual(child.stderr.read(), b"")
        return child.returncode, path

    @staticmethod
    def has_read(child):
        """Whether the child sleeps, after it has read all of its input."""
        try:
            with open("/proc/%d/stat" % child.pid, encoding="ascii") as file:
                state = file.read().rpartition(")")[2].split()[0]
        except OSError:  # no Linux
            time.sleep(0.5)
            return True
        time.sleep(0.05)
        return state == "S" and unread(child.stdin) == 0

    def test_ended(self):
        """SIGINT, SIGTERM and SIGHUP end it. Nothing is left."""
        numbers = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
        for at, (words, ending) in enumerate(WRITING):
            for old in (OLD, None):
                number = numbers[(at + (old is None)) % 3]
                status, path = self.run_signalled(number, words, ending, old)
                self.assertEqual(status, -number, words)
                self.assert_old(path, old, words)

    def test_killed(self):
        """After SIGKILL the old file is what it was."""
        for words, ending in WRITING:
            status, path = self.run_signalled(signal.SIGKILL, words, ending)
            self.assertEqual(status, -signal.SIGKILL)
            self.assertEqual(bytes_of(path), OLD, words)

    def test_ignored(self):
        """A signal that was ignored when the program started stays ignored."""
        path = self.target(".csv")
        with subprocess.Popen(
                [program(), "cook", "-", "-o", path], stdin=subprocess.PIPE,
                preexec_fn=lambda: signal.signal(signal.SIGHUP,
                                                 signal.SIG_IGN)) as child:
            child.stdin.write(many_samples(40))
            child.stdin.flush()
            while not self.has_read(child):
                time.sleep(0.01)
            child.send_signal(signal.SIGHUP)
            child.stdin.close()
            self.assertEqual(child.wait(SECONDS), 0)
        self.assertEqual(os.listdir(os.path.dirname(path)), ["a.csv"])
        self.assertGreater(len(bytes_of(path)), 100 * len(OLD))


def unread(pipe):
    """Bytes of a pipe that were not read yet; 0 if it is not known."""
    import array
    import fcntl
    import termios
    size = array.array("i", [0])
    fcntl.ioctl(pipe.fileno(), termios.FIONREAD, size)
    return size[0]


class Failures(Replaced):
    """Files that cannot be written, and inputs without values."""

    @unittest.skipIf(ON_WINDOWS, "Windows has no resource limits")
    def test_full(self):
        """If the file cannot be written to its end, nothing is left of it."""
        source = self.file("source.pfb", many_samples(40))
        for words, ending in WRITING:
            for old in (OLD, None):
                for limit in (0, 3000):
                    path = self.target(ending, old)
                    done = self.run_program(
                        *words, source, "-o", path, begin=lambda:
                        resource.setrlimit(resource.RLIMIT_FSIZE,
                                           (limit, limit)))
                    if done.status == 0:  # it is smaller
                        self.assertLessEqual(os.path.getsize(path), limit)
                        continue
                    self.assertEqual(done.status, 3, words)
                    self.assertEqual(done.err.count("\n"), 1, done.err)
                    self.assertTrue(done.err.startswith(path + ": "))
                    self.assert_old(path, old, words)

    def test_without_values(self):
        """After an error, a file without values replaces nothing."""
        disk = captures.metadata(captures.DISK, "Disk",
                                 [(1, captures.BULK, "N")])
        broken = b"PFBC" * 5
        for data in (b"", broken, w.recording(disk) + broken,
                     w.recording(disk, w.chunk(b"QINF", w.identifier(
                         captures.DISK, name="*"))) + broken,
                     w.recording(disk, w.chunk(b"DATA", b"x" * 48))):
            source = self.file("source", data)
            for words, ending in WRITING:
                if words[0] == "show" and data or (
                        words[0] == "convert" and data.endswith(b"x")):
                    continue  # shows the bytes; copies the malformed reply
                for old in (OLD, None):
                    path = self.target(ending, old)
                    done = self.run_program(*words, source, "-o", path)
                    self.assertEqual((done.status, done.out), (1, ""), words)
                    self.assert_old(path, old, (words, data))

    def test_inputs_without_values(self):
        """Neither without an error. A new or empty file is written."""
        head = b'"(PDH-CSV 4.0) (UTC)(0)","\\\\A\\Memory\\X"\r\n'
        row = b'"01/01/2020 00:00:00.000","%s"\r\n'
        disk = captures.metadata(captures.DISK, "Disk",
                                 [(1, captures.BULK, "N")])
        single = w.recording(
            disk, w.chunk(b"QINF", w.identifier(captures.DISK, name="*")),
            w.chunk(b"DATA", w.reply(captures.instances_result(
                [1], [(1, "a", [1])]))))
        raw = [".pfb", ".json", ".csv", ".prom", ".sqlite"]
        cases = (("log.csv", head, []), ("log.csv", head + row % b" ", []),
                 ("log.csv", head + row % b"x", []),
                 ("single.pfb", single, raw))
        for name, data, shown in cases:
            source = self.file(name, data)
            for words, ending in WRITING:
                if words[0] == "show" or (
                        words[0] == "convert" and data[len(head):]):
                    continue  # shows lines; text logs have no raw values
                is_shown = ending in shown and "--summary" not in words
                for old in (OLD, b"", None):
                    path = self.target(ending, old)
                    done = self.run_program(*words, source, "-o", path)
                    if is_shown or not old:
                        self.assertEqual(done.status, 0, (words, done.err))
                        self.assertNotEqual(bytes_of(path), OLD)
                        continue
                    self.assertEqual(done.status, 1, (words, name))
                    self.assertTrue(done.err.endswith(
                        path + ": is left as it is: there are no values to "
                        "replace it with\n"), done.err)
                    self.assert_old(path, old, (words, data))

    def test_values_before_an_error(self):
        """What was read before an error is written."""
        data = many_samples(5)
        whole = self.file("whole.pfb", data[:-8])
        for words, ending in WRITING:
            path = self.target(ending)
            done = self.run_program(*words, whole, "-o", path)
            self.assertEqual((done.status, done.out), (1, ""), words)
            self.assertNotEqual(bytes_of(path), OLD, words)
            self.assertEqual(len(os.listdir(os.path.dirname(path))), 1)

    def test_live(self):
        """The same for a machine."""
        for ending in (".csv", ".txt", ".prom"):
            path = self.target(ending)
            done = self.run_live(PROCESSOR, "--set", "None", "-o", path)
            self.assertEqual(done.status, 2)
            self.assert_old(path)


class Targets(Replaced):
    """What the path of -o may be."""

    def cook(self, path, **options):
        """Runs cook, which must write the same as to standard output."""
        self.run_fine("cook", "-f", "csv", PROCESSOR, "-o", path, **options)

    def setUp(self):
        super().setUp()
        self.expected = self.run_fine("cook", "-f", "csv",
                                      PROCESSOR).out.encode()

    @unittest.skipIf(ON_WINDOWS, "Windows has no modes")
    def test_mode(self):
        """An existing file keeps its mode, a new one gets the usual one."""
        for mode in (0o600, 0o640, 0o664, 0o644, 0o755):
            path = self.target(".csv")
            os.chmod(path, mode)
            self.cook(path, begin=lambda: os.umask(0o77))
            self.assertEqual(os.stat(path).st_mode & 0o7777, mode)
        for mask in (0o22, 0o77):
            path = self.target(".csv", None)
            self.cook(path, begin=lambda: os.umask(mask))
            self.assertEqual(os.stat(path).st_mode & 0o7777, 0o666 & ~mask)

    @unittest.skipIf(ON_WINDOWS, "links need rights on Windows")
    def test_links(self):
        """Symbolic links are followed, also to a file that does not exist."""
        for old in (OLD, None):
            path = self.target(".csv", old)
            folder = os.path.dirname(path)
            os.symlink(os.path.join("out", "second"),
                       os.path.join(self.folder, "first"))
            os.symlink(path, os.path.join(folder, "second"))
            self.cook(os.path.join(self.folder, "first"))
            self.assertEqual(bytes_of(path), self.expected)
            self.assertTrue(os.path.islink(os.path.join(folder, "second")))
            self.assertEqual(sorted(os.listdir(folder)), ["a.csv", "second"])
            os.remove(os.path.join(self.folder, "first"))
        os.symlink("loop", os.path.join(self.folder, "loop"))
        done = self.run_program("cook", "-f", "csv", PROCESSOR, "-o",
                                os.path.join(self.folder, "loop"))
        self.assertEqual(done.status, 3)

    @unittest.skipIf(ON_WINDOWS or not hasattr(os, "geteuid"), "no modes")
    def test_read_only(self):
        """A file that may not be written is not replaced."""
        if os.geteuid() == 0:
            self.skipTest("root may write every file")
        path = self.target(".csv")
        os.chmod(path, 0o444)
        done = self.run_program("cook", PROCESSOR, "-o", path)
        self.assertEqual(done.status, 3)
        self.assert_old(path)

    @unittest.skipIf(ON_WINDOWS, "Windows has no /dev/stdout")
    def test_standard_output(self):
        """/dev/stdout is standard output, whatever that is: a file gets no new
        name, and keeps what precedes."""
        path = self.target(".csv")
        for name in ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"):
            if not os.path.exists(name):
                continue
            for mode in ("wb", "ab"):
                with open(path, "wb") as file:
                    file.write(OLD)
                with open(path, mode) as file:
                    node = os.fstat(file.fileno()).st_ino
                    done = running.finish(
                        [program(), "cook", "-f", "csv", PROCESSOR, "-o",
                         name], stdout=file, timeout=SECONDS)
                self.assertEqual((done.returncode, done.stderr), (0, b""))
                self.assertEqual(os.stat(path).st_ino, node)
                self.assertEqual(bytes_of(path), (
                    OLD if mode == "ab" else b"") + self.expected)

    @unittest.skipIf(ON_WINDOWS, "Windows has no named pipes of this kind")
    def test_pipe(self):
        """A named pipe is written, not replaced."""
        path = self.target(".csv", None)
        os.mkfifo(path)
        with subprocess.Popen([program(), "cook", PROCESSOR, "-o",
                               path]) as child:
            self.assertEqual(bytes_of(path), self.expected)
            self.assertEqual(child.wait(SECONDS), 0)
        self.assertEqual(os.listdir(os.path.dirname(path)), ["a.csv"])

    def test_long_name(self):
        """The file beside the target has a name that the system accepts."""
        path = self.target(".csv", None)
        path = os.path.join(os.path.dirname(path), 251 * "x" + ".csv")
        self.cook(path)
        self.assertEqual(bytes_of(path), self.expected)

    @unittest.skipIf(ON_WINDOWS, "ids of processes are not given there")
    def test_taken_name(self):
        """A file with the name of the one beside the target is not touched."""
        path = self.target(".csv")
        with subprocess.Popen(
                ["sh", "-c", 'touch "$2.$$.new"; exec "$0" cook "$1" -o "$2"',
                 program(), PROCESSOR, path]) as child:
            self.assertEqual(child.wait(SECONDS), 0)
        self.assertEqual(len(os.listdir(os.path.dirname(path))), 2)
        self.assertEqual(bytes_of(path), self.expected)


if __name__ == "__main__":
    unittest.main()
