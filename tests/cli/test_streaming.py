# SPDX-License-Identifier: MIT
"""Peak memory while long files are read, and the progress that is shown."""

import itertools
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import time
import unittest

import captures
import log_seeds
import log_writer
import v1_blocks as v1
from program import (ON_WINDOWS, SECONDS, Case, on_machine, program, sanitizer,
                     writer as w)

if not ON_WINDOWS:
    import pty

MIB = 1 << 20
SIZE = 40 * 10**6      # of each file that is not a capture
MAX_BYTES = 32 * MIB   # limit of anonymous memory
IDS = list(range(1, 21))
FILTERS = ("--counter", "1", "--every", "50")


def v2_samples(count, instances):
    """DATA chunks with the counters IDS of some instances."""
    return [captures.data(number, captures.instances_result(IDS, [
        (i, "instance %d" % i, [number * 1000 + i * j for j in IDS])
        for i in range(instances)])) for number in range(count)]


def repeat(path, head, body, size=SIZE):
    """Writes `head` and then `body` repeatedly until the file has this size."""
    with open(path, "wb") as out:
        out.write(head)
        while out.tell() < size:
            out.write(body)


def write_capture(path, size=60 * 10**6):
    """Writes a capture whose samples have 90 KB, some almost a MiB."""
    chunks = v2_samples(10, 250) + v2_samples(1, 2900)
    assert 900000 < len(chunks[-1]) < MIB
    repeat(path, w.recording(
        captures.metadata(captures.DISK, "Disk", [
            (i, captures.BULK, "Counter %d" % i) for i in IDS]),
        w.chunk(b"QINF", w.identifier(captures.DISK, name="*"))),
        b"".join(chunks), size)


def write_replies(path):
    """Writes V2 replies without metadata."""
    repeat(path, b"", b"".join(chunk[16:] for chunk in v2_samples(10, 250)))


def write_v1(path):
    """Writes V1 blocks."""
    counters = [v1.counter(20 + 2 * i, v1.COUNTER, 4 + 4 * i, 4) for i in IDS]
    rows = [v1.LITTLE.instance("instance %d" % n, v1.LITTLE.values(
        *[(c["offset"], 4, n) for c in counters])) for n in range(1000)]
    repeat(path, b"", v1.LITTLE.block(v1.LITTLE.object(2, counters, *rows)))


def write_blg(path):
    """Writes a binary log of one counter; its samples repeat."""
    local, _ = log_seeds.stamp(1)
    samples = [part for tick in range(50) for part in log_writer.sample(
        log_writer.counter(70 * tick, 1000 * tick, time=local), time=local)]
    whole = log_writer.log(*log_writer.paths(log_seeds.RATE_PATH), *samples,
                           whole=True)
    # The first two buffers describe the log and list its paths.
    repeat(path, whole[:1024], whole[1024:])


def write_text(path):
    """Writes a text log."""
    names = ",".join('"\\\\PC\\Memory\\Counter %d"' % i for i in IDS)
    row = '"11/23/2026 04:05:%02d.000",' + ",".join(
        '"%d.25"' % (1000 + i) for i in IDS) + "\r\n"
    repeat(path, ('"(PDH-CSV 4.0) (Zone)(0)",%s\r\n' % names).encode(),
           "".join(row % second for second in range(60)).encode())


def anonymous_memory(process):
    """RssAnon (anonymous memory) of a process in bytes; 0 once it has ended."""
    try:
        with open("/proc/%d/status" % process.pid, encoding="ascii") as file:
            found = re.search(r"RssAnon:\s+(\d+) kB", file.read())
    except OSError:
        found = None
    return int(found[1]) * 1024 if found else 0


class Memory(Case):
    """Reading a file of any size whose samples are smaller than 1 MiB takes
    less than 32 MiB of memory."""

    def setUp(self):
        super().setUp()
        if not sys.platform.startswith("linux") or ON_WINDOWS:
            self.skipTest("only Linux reports the anonymous memory of a "
                          "process")
        if sanitizer():
            self.skipTest(sanitizer() + " has memory of its own")

    def peak(self, arguments, stdin=None):
        """The peak memory of a run, which must end with status 0. If a run
        that reads a file ends before its memory was read, it is repeated."""
        peak = 0
        for _ in range(1 if stdin else 10):
            with subprocess.Popen([program(), *arguments], stdin=stdin,
                                  stdout=subprocess.DEVNULL) as process:
                while process.poll() is None:
                    peak = max(peak, anonymous_memory(process))
                    time.sleep(0.002)
            self.assertEqual(process.returncode, 0, arguments)
            if peak > 0:
                break
        self.assertGreater(peak, 0)
        return peak

    def check(self, write, *commands):
        """Asserts that the commands stay below the limit with a file that
        `write` wrote, and with a pipe."""
        path = os.path.join(self.folder, "long")
        write(path)
        for command in commands:
            self.assertLess(self.peak([*command, path]), MAX_BYTES, command)
            with subprocess.Popen(["cat", path],
                                  stdout=subprocess.PIPE) as pipe:
                peak = self.peak([*command, "-"], pipe.stdout)
                pipe.stdout.close()
            self.assertLess(peak, MAX_BYTES, command)

    def test_captures(self):
        """check, cook, convert and countersets of a capture."""
        out = os.path.join(self.folder, "out.pfb")
        self.check(write_capture, ["check"], ["cook", "-f", "csv", *FILTERS],
                   ["convert", "-q", "-o", out],
                   ["convert", "-q", "-o", out, *FILTERS],
                   ["countersets", "--source"])

    def test_replies(self):
        """cook of bare V2 replies."""
        self.check(write_replies, ["cook", "-f", "csv", "--every", "1000"])

    def test_v1(self):
        """cook of V1 blocks."""
        self.check(write_v1, ["cook", "-f", "csv", "--counter", "22"])

    def test_binary_logs(self):
        """cook of a binary log."""
        self.check(write_blg, ["cook", "-q", "-f", "csv", "--every", "1000"])

    def test_text_logs(self):
        """cook of a text log."""
        self.check(write_text, ["cook", "-f", "csv", "--every", "1000"])


class StandardInput(Case):
    """A regular file as standard input, which the program cannot open a second
    time by its name."""

    def test_a_name_table_after_blocks(self):
        """V1 blocks and a name table after them are read without an error.
        cook finds the names in advance; live has read the start when it calls
        cook, and notes that they came too late."""
        counters = [v1.counter(20, v1.RAW, 4, 4)]
        rows = [v1.LITTLE.instance("i%d" % n, v1.LITTLE.values((4, 4, n)))
                for n in range(500)]
        blocks = [v1.LITTLE.block(v1.LITTLE.object(2, counters, *rows),
                                  moment=number) for number in range(1, 30)]
        path = self.file("a.pfb", w.recording(
            *[w.chunk(b"V1DT", block) for block in blocks],
            w.chunk(b"NAME", bytes(4) + v1.table(("1", "1847"),
                                                 ("20", "Handles")))))
        self.assertGreater(os.path.getsize(path), 1 << 18)
        for command, mark in ((["cook"], b'"counter":"Handles"'),
                              (["show"], b'"index":20,')):
            with open(path, "rb") as file:
                done = subprocess.run(
                    [program(), *command, "-", "-f", "json"], stdin=file,
                    stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                    timeout=SECONDS, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, b""))
            self.assertIn(mark, done.stdout)


class Compressed(Case):
    """A capture that another program decompresses into a pipe."""

    def test_pipe(self):
        """A decompressed pipe gives the same output as the file; the
        compressed file is refused."""
        tool = next(filter(shutil.which, ("zstd", "gzip")), None)
        if not tool:
            self.skipTest("neither zstd nor gzip is installed")
        path = os.path.join(self.folder, "a.pfb")
        write_capture(path, 10**6)
        with open(path, "rb") as plain, open(path + ".z", "wb") as packed:
            subprocess.run([tool, "-c"], stdin=plain, stdout=packed,
                           check=True)
        self.assertLess(os.path.getsize(path + ".z"), 10**6 // 2)
        self.assert_error(self.run_program("cook", path + ".z"), 1,
                          path + ".z", 0, "unknown_format")
        for command in (["check", "-f", "json"], ["cook", "-q", "-f", "csv"]):
            expected = self.run_fine(*command, path).out
            with subprocess.Popen([tool, "-dc", path + ".z"],
                                  stdout=subprocess.PIPE) as pipe:
                found = subprocess.run(
                    [program(), *command, "-"], stdin=pipe.stdout,
                    stdout=subprocess.PIPE, timeout=SECONDS,
                    check=True).stdout.decode()
            self.assertEqual(found.replace('"-"', '"%s"' % path), expected)


class Zeros(Case):
    """A reply followed by more zeros than the reader's window holds."""

    def test_zeros(self):
        """Zeros at the end of a file are tolerated. Zeros before other data are
        a malformed reply."""
        reply = w.reply()
        for end, valid in ((b"", True), (b"x", False), (reply, False)):
            data = reply + bytes(10**6) + end
            path = self.file("a.bin", data)
            for name, stdin in ((path, b""), ("-", data)):
                done = self.run_program("check", "--format", "json", name,
                                        stdin=stdin)
                item, = done.objects()
                self.assertEqual((item["valid"], item["size"]),
                                 (valid, len(data)))
                if not valid:
                    self.assert_error(done, 1, name, len(reply),
                                      "bad_total_size")


class OnTerminal:
    """A running program whose standard error is a terminal. If `shared` is
    true, its standard output is the same terminal."""

    def __init__(self, *arguments, shared=False, machine=None):
        ours, theirs = pty.openpty()
        self.file = ours
        path, environment = on_machine(machine)
        self.process = subprocess.Popen(
            [path, *arguments], stdin=subprocess.DEVNULL, env=environment,
            stdout=theirs if shared else subprocess.DEVNULL, stderr=theirs)
        os.close(theirs)
        self.text = ""

    def read(self, seconds):
        """Reads output for up to this time. Returns False at its end."""
        ready, _, _ = select.select([self.file], [], [], seconds)
        try:
            data = os.read(self.file, 65536) if ready else None
        except OSError:  # the end, on Linux
            data = b""
        self.text += (data or b"").decode()
        return data != b""

    def end(self):
        """Waits until the program ends; returns its status and all output."""
        while self.read(SECONDS):
            pass
        status = self.process.wait(SECONDS)
        os.close(self.file)
        return status, self.text


@unittest.skipIf(ON_WINDOWS, "Windows has no pseudo-terminals")
class Progress(Case):
    """The progress of long work, which is shown on a terminal."""

    def check_share(self, *arguments, size=10**8, shared=False):
        """Asserts that the share and the time left are shown. Progress is
        shown after a second, so the test stops the program for longer than
        that; it tries again if the program had already ended."""
        path = os.path.join(self.folder, "long")
        write_capture(path, size)
        for tries in itertools.count(1):
            running = OnTerminal(*arguments, path, shared=shared)
            time.sleep(0.01 * tries)
            running.process.send_signal(signal.SIGSTOP)
            time.sleep(1.2)
            running.process.send_signal(signal.SIGCONT)
            status, text = running.end()
            self.assertEqual(status, 0, text)
            if text or tries == 20:
                break
        self.assertRegex(text, r"long: \d+\.\d of %.1f MB, \d+ %%, "
                         r"\d+:\d\d left" % (os.path.getsize(path) / 1e6))

    def test_share_and_time_left(self):
        """check shows its progress."""
        self.check_share("check")

    def test_pages(self):
        """report and show -f html with -o FILE show their progress also if standard
        output is a terminal."""
        out = os.path.join(self.folder, "page.html")
        for command, size in ((["report"], 10**8),
                              (["show", "-f", "html"], 2 * 10**6)):
            self.check_share(*command, "-o", out, size=size, shared=True)
            self.assertGreater(os.path.getsize(out), 0)

    def test_record(self):
        """record shows the number of samples and leaves the last line. With
        --quiet it shows nothing."""
        path = self.file("a.pfb", captures.three_sets())
        out = os.path.join(self.folder, "out.pfb")
        command = ("record", "-i", "0.01", "-n", "2", "--set", "*", "-o", out)
        status, text = OnTerminal(*command, machine=path).end()
        self.assertEqual(status, 0, text)
        self.assertIn("out.pfb: 1 sample, 0.0 MB", text)
        self.assertTrue(text.endswith("out.pfb: 2 samples, 0.0 MB\r\n"), text)
        self.assertEqual(OnTerminal(*command, "--quiet", machine=path).end(),
                         (0, ""))
        self.assertEqual(self.run_fine(*command, machine=path).out, "")


if __name__ == "__main__":
    unittest.main()
