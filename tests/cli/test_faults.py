# SPDX-License-Identifier: MIT
"""Faults from outside: full disks, files that were cut, and files, chunks and
replies that are larger than memory."""

import itertools
import os
import struct
import subprocess
import threading
import unittest

import v1_blocks
from captures import three_sets
from program import (ON_WINDOWS, SECONDS, Case, bytes_of, on_machine, program,
                     running, sanitizer, writer as w)

import log_writer

if not ON_WINDOWS:
    import resource

HEADER = 16
MIB = 1 << 20
TIB = 1 << 40
BUDGET = 256 * MIB  # PFB_STREAM_BUDGET
SAMPLES = 2  # of three_sets()


def chunk_ends(data):
    """The offset after each chunk of a valid capture."""
    found, at = [], 0
    while at < len(data):
        size = struct.unpack_from("<Q", data, at + 8)[0]
        at += HEADER + size + -size % 8
        found.append(at)
    return found


def limited(**limits):
    """A preexec_fn that sets limits of the process, such as FSIZE=1000."""
    def limit():
        for name, value in limits.items():
            resource.setrlimit(getattr(resource, "RLIMIT_" + name),
                               (value, value))
    return limit


class FaultCase(Case):
    """Runs the program with limits."""

    def run_limited(self, *arguments, machine=None, **limits):
        """Runs the program, on_machine(machine); returns its exit status,
        standard output and standard error."""
        path, env = on_machine(machine)
        done = running.finish([path, *arguments], timeout=SECONDS, env=env,
                              preexec_fn=limited(**limits))
        return done.returncode, done.stdout, done.stderr.decode()

    def run_piped(self, pieces, *arguments, **limits):
        """The same, with pieces of bytes as standard input, which may be
        endless."""
        with subprocess.Popen([program(), *arguments], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              preexec_fn=limited(**limits)) as child:
            def feed():
                try:
                    for piece in pieces:
                        child.stdin.write(piece)
                    child.stdin.close()
                except OSError:  # the program has ended
                    pass
            thread = threading.Thread(target=feed)
            thread.start()
            out = child.stdout.read()
            err = child.stderr.read().decode()
            child.wait(SECONDS)
            thread.join()
        return child.returncode, out, err

    def require_address_space(self):
        """Skips the test where memory cannot be limited."""
        if ON_WINDOWS:
            self.skipTest("the address space of a Windows program cannot be "
                          "limited")
        if sanitizer():
            self.skipTest(sanitizer() + " has memory of its own")

    def sparse(self, name, head, size, tail=b""):
        """The path of a file with these bytes, `size` zeros, which take no
        space on the disk, and these bytes."""
        path = self.file(name, head)
        try:
            os.truncate(path, len(head) + size)
        except OSError as error:
            self.skipTest("no file of %d bytes: %s" % (size, error))
        with open(path, "r+b") as file:
            file.seek(0, os.SEEK_END)
            file.write(tail)
        return path


class Continued(FaultCase):
    """Recordings that are continued."""

    def setUp(self):
        super().setUp()
        self.source = self.file("source.pfb", three_sets())
        self.path = os.path.join(self.folder, "a.pfb")

    def record(self, *arguments):
        """Appends the samples of the source to the file."""
        return self.run_record(self.source, self.path, "--set", "*",
                               *arguments, count=SAMPLES)

    def record_limited(self, **limits):
        """The same, with limits."""
        return self.run_limited(
            "record", "-o", self.path, "--set", "*", "--interval", "0.01",
            "--count", str(SAMPLES), machine=self.source, **limits)

    def after(self, data):
        """The file that continuing a file with these bytes makes."""
        self.file("a.pfb", data)
        self.assertEqual(self.record().status, 0)
        return bytes_of(self.path)

    def test_cut_at_every_byte(self):
        """Of a file that ends inside a chunk, the incomplete chunk is removed,
        and the file is continued as if it had ended before it. A note says
        so. A file without a whole chunk becomes a new one."""
        whole = three_sets()
        ends = chunk_ends(whole)
        cuts = [*range(1, HEADER), *range(ends[-2], ends[-1] + 1)]
        for end in ends[:-1]:
            cuts += [end, end + 1, end + 8, end + HEADER]
        expected = {end: self.after(whole[:end]) for end in [0, *ends]}
        for cut in sorted(set(cuts)):
            with self.subTest(cut=cut):
                last = max(end for end in [0, *ends] if end <= cut)
                self.file("a.pfb", whole[:cut])
                done = self.record()
                self.assertEqual((done.status, done.err), (0, (
                    "%s: note: removed the incomplete chunk at offset %d, %d"
                    " bytes\n" % (self.path, last, cut - last))
                    if cut > last else ""))
                self.assertEqual(bytes_of(self.path), expected[last])
                self.run_fine("check", self.path)

    def test_unchanged_without_a_sample(self):
        """The incomplete chunk is removed together with the first write."""
        before = three_sets()[:-8]
        self.file("a.pfb", before)
        done = self.record(r"\\No\Thing")
        self.assertEqual(done.status, 2)
        self.assertEqual(bytes_of(self.path), before)

    def test_rotated(self):
        """A file that is renamed has no incomplete chunk."""
        whole = three_sets()
        self.file("a.pfb", whole[:-8])
        done = self.record("--rotate", str(len(whole) - 100))
        self.assertEqual(done.status, 0, done.err)
        self.assertEqual(bytes_of(self.path + ".1"),
                         whole[:chunk_ends(whole)[-2]])

    def test_damaged(self):
        """A file is not continued, and not changed, if what follows its whole
        chunks is no chunk that a recorder has begun: a size that cannot be, a
        payload that is too small, or an unknown tag or version."""
        whole = three_sets()
        for rest in (struct.pack("<4sIQ", b"DATA", 1, 1 << 32),
                     struct.pack("<4sIQ", b"DATA", 1, (1 << 64) - 1),
                     struct.pack("<4sIQ", b"RGST", 1, 8) + bytes(64),
                     struct.pack("<4sIQ", b"XXXX", 1, 1000),
                     struct.pack("<4sIQ", b"DATA", 2, 1000)):
            self.file("a.pfb", whole + rest)
            done = self.record()
            self.assertEqual((done.status, done.err), (
                3, "%s: the capture is broken at offset %d: it is not "
                "continued\n" % (self.path, len(whole))))
            self.assertEqual(bytes_of(self.path), whole + rest)

    def test_no_capture(self):
        """Other files are not changed, and neither are captures of a later
        version."""
        for data in (b"text", b"PFBX", b"PFBC\1\0\0\0x",
                     struct.pack("<4sIQ", b"PFBC", 2, 0),
                     struct.pack("<4sIQ", b"DATA", 1, 0)):
            self.file("a.pfb", data)
            done = self.record()
            self.assertEqual((done.status, done.err), (
                3, self.path + ": is no capture: it is not overwritten\n"))
            self.assertEqual(bytes_of(self.path), data)

    @unittest.skipIf(ON_WINDOWS, "Windows has no such limit")
    def test_full_disk(self):
        """Of chunks that do not fit nothing remains; the recording is continued
        when there is space again."""
        ends = chunk_ends(self.after(b""))
        for size in sorted({end + more for end in ends
                            for more in (-1, 0, 1, 9, HEADER + 1)}):
            if size <= 0 or size >= ends[-1]:
                continue
            with self.subTest(size=size):
                os.remove(self.path)
                status, _, err = self.record_limited(FSIZE=size)
                self.assertEqual((status, err.count("\n")), (3, 1))
                if size < ends[0]:
                    self.assertFalse(os.path.exists(self.path))
                else:
                    self.assertIn(os.path.getsize(self.path),
                                  [end for end in ends if end <= size])
                    self.run_fine("check", self.path)
                done = self.record()
                self.assertEqual((done.status, done.err), (0, ""))
                self.run_fine("check", self.path)

    def test_memory(self):
        """Memory does not depend on the size of the file that is continued:
        only the headers of its chunks are read."""
        self.require_address_space()
        whole = three_sets()
        note = struct.pack("<4sIQ", b"NOTE", 1, 600 * MIB)
        self.file("a.pfb", whole + note)
        os.truncate(self.path, len(whole) + HEADER + 600 * MIB)
        self.assertEqual(self.record_limited(AS=64 * MIB), (0, b"", ""))
        with open(self.path, "rb") as file:
            file.seek(len(whole) + HEADER + 600 * MIB)
            self.assertEqual(file.read(4), b"FILE")


@unittest.skipIf(ON_WINDOWS, "Windows has no modes")
class Modes(Case):
    """Who may read recordings, which have the names of processes."""

    def record(self, *arguments, umask=0):
        """Records; returns the modes of the files in the order of their
        names."""
        source = self.file("source.pfb", three_sets())
        path = os.path.join(self.folder, "a.pfb")
        done = self.run_record(source, path, "--set", "*", *arguments,
                               count=SAMPLES, begin=lambda: os.umask(umask))
        self.assertEqual((done.status, done.err), (0, ""))
        return [os.stat(os.path.join(self.folder, name)).st_mode & 0o777
                for name in sorted(os.listdir(self.folder))
                if name.startswith("a.pfb")]

    def test_new_files(self):
        """Only the owner can read a new recording, whatever the umask; so it
        is with those of --rotate."""
        for umask in (0, 0o277):
            for name in os.listdir(self.folder):
                os.remove(os.path.join(self.folder, name))
            self.assertEqual(self.record(umask=umask), [0o600])
            self.assertEqual(self.record("--rotate", "1", umask=umask),
                             [0o600] * 3)

    def test_existing_files(self):
        """An existing file keeps its mode, and gives it to those that follow
        it with --rotate."""
        for mode in (0o644, 0o640, 0o600):
            for name in os.listdir(self.folder):
                os.remove(os.path.join(self.folder, name))
            os.chmod(self.file("a.pfb", b""), mode)
            self.assertEqual(self.record(umask=0o77), [mode])
            self.assertEqual(self.record("--rotate", "1", umask=0o77),
                             [mode] * 3)

    def test_forced(self):
        """--force keeps the mode of the file that it replaces."""
        os.chmod(self.file("a.pfb", b"old"), 0o644)
        self.assertEqual(self.record("--force", umask=0o77), [0o644])


@unittest.skipIf(ON_WINDOWS, "truncate() does not make sparse files there")
class Hops(FaultCase):
    """Chunks that nobody reads are not read from a file."""

    def test_unknown_chunks(self):
        """A chunk of 1 TiB with an unknown tag or a later version is skipped;
        what follows it is read."""
        whole = three_sets()
        path = self.file("a.pfb", whole + whole[HEADER:])
        small = {command: self.run_program(*command, path) for command in (
            ("cook",), ("countersets", "--source"), ("show",), ("check",))}
        for tag, version in ((b"XXXX", 1), (b"DATA", 9)):
            header = struct.pack("<4sIQ", tag, version, TIB)
            path = self.sparse("a.pfb", whole + header, TIB, whole[HEADER:])
            for command, expected in small.items():
                with self.subTest(tag=tag, command=command):
                    done = self.run_program(*command, path)
                    self.assertEqual(done.status, 0, done.err)
                    if command in (("cook",), ("countersets", "--source")):
                        self.assertEqual(done.out, expected.out)
            lines = self.run_fine("show", path).lines()
            self.assertEqual(len(lines), len(small[("show",)].lines()) + 1)
            self.assertIn("%10d  chunk  tag \"%s\"  version %d  size %d" % (
                len(whole), tag.decode(), version, TIB), lines)
            self.assertIn("1 chunk not read)", self.run_fine(
                "check", path).out)

    def test_cut_in_an_unknown_chunk(self):
        """A file that ends inside such a chunk is truncated there."""
        whole = three_sets()
        header = struct.pack("<4sIQ", b"XXXX", 1, TIB)
        path = self.sparse("a.pfb", whole + header, TIB - 1)
        self.assert_error(self.run_program("cook", path), 1, path, len(whole),
                          "truncated_chunk")


@unittest.skipIf(ON_WINDOWS, "Windows has no limits of the address space")
class Budget(FaultCase):
    """What needs more memory than PFB_STREAM_BUDGET is an error with its
    offset, whatever the format, from a file and from a pipe."""

    def setUp(self):
        super().setUp()
        self.require_address_space()

    # Besides the budget: the program, its libraries and its stack.
    LIMIT = BUDGET + 64 * MIB

    def assert_limit(self, run, name, offset):
        """Asserts that a run ended with caller_limit at the offset."""
        status, _, err = run
        self.assertEqual(status, 3, err)
        self.assertRegex(err, r"^%s: offset %d: caller_limit: .* 256 MiB" % (
            name, offset))

    def check(self, path, offset, commands):
        """Runs the commands with the file, and the first two with it in a
        pipe."""
        with open(path, "rb") as file:
            head = file.read(MIB)
        size = os.path.getsize(path)
        for command in commands:
            with self.subTest(command=command):
                self.assert_limit(self.run_limited(*command, path,
                                                   AS=self.LIMIT),
                                  path, offset)
        for command in commands[:2]:
            with self.subTest(command=command, pipe=True):
                rest = itertools.repeat(bytes(MIB), (size - 1) // MIB)
                self.assert_limit(self.run_piped(
                    itertools.chain([head], rest), *command, "-",
                    AS=self.LIMIT), "-", offset)

    def test_recording(self):
        """A chunk whose size is 1 TiB, and one whose size cannot be."""
        for size in (TIB, (1 << 64) - 32):
            head = three_sets()
            path = self.sparse("a.pfb", head + struct.pack(
                "<4sIQ", b"NOTE", 1, size), TIB)
            self.check(path, len(head), [["cook"], ["show"], ["check"]])

    def test_v1(self):
        """A V1 block of 4 GiB."""
        good = v1_blocks.LITTLE.block(v1_blocks.plain(v1_blocks.LITTLE, 5))
        head = good + v1_blocks.LITTLE.block(total=0xFFFFFFF8)
        path = self.sparse("a.bin", head, 1 << 32)
        self.check(path, len(good), [["cook"], ["show"], ["check"]])

    def test_counters(self):
        """An object that claims 4 billion counters is malformed, also where
        an earlier sample had its values and only they are written."""
        first, then = (v1_blocks.LITTLE.block(v1_blocks.LITTLE.object(
            4, v1_blocks.ONE_RAW, v1_blocks.LITTLE.values((4, 4, moment)),
            instances=v1_blocks.NO_INSTANCES, count=count), moment=moment)
            for moment, count in ((1, None), (2, 0xFFFFFFFF)))
        path = self.file("a.bin", first + then)
        at = len(first) + 88 + 16 + 32  # block, "HOST", counters of the object
        status, _, err = self.run_limited(
            "convert", "--path", r"\*\*", path, "-o",
            os.path.join(self.folder, "a.pfb"), AS=self.LIMIT)
        self.assertEqual(status, 1, err)
        self.assertTrue(err.startswith(
            "%s: offset %d: bad_counter_count: " % (path, at)), err)

    def test_v2(self):
        """A V2 reply of 4 GiB."""
        good = w.reply(w.result(w.SINGLE, w.v8(1)))
        huge = bytearray(good)
        struct.pack_into("<I", huge, 0, 0xFFFFFFF8)
        path = self.sparse("a.bin", good + bytes(huge), 1 << 32)
        self.check(path, len(good), [["cook"], ["show"], ["check"]])

    def test_log(self):
        """A record of a .blg with very many parts."""
        size, each = 1 << 16, 65000
        path = self.file("a.blg", log_writer.log(
            *log_writer.record(log_writer.SAMPLE, bytes(300 * MIB),
                               each=each), size=size))
        for command in (["cook"], ["show"], ["check"]):
            with self.subTest(command=command):
                status, _, err = self.run_limited(*command, path,
                                                  AS=self.LIMIT)
                self.assertEqual(status, 3, err)
                self.assertRegex(err, "^%s: offset [0-9]+: caller_limit: "
                                 % path)

    def endless(self, head, piece):
        """Pieces of a text that does not end."""
        return itertools.chain([head], itertools.repeat(piece))

    def test_text(self):
        """A line of a text log without an end."""
        head = (b'"(PDH-CSV 4.0) (UTC)(0)","\\\\PC\\a\\b"\r\n'
                b'"11/28/2026 12:00:00.000","1"\r\n')
        for command in (["cook"], ["show"], ["check"]):
            for at, start in ((len(head), head), (0, head[:30])):
                with self.subTest(command=command, start=start):
                    self.assert_limit(self.run_piped(
                        self.endless(start, b"x" * MIB), *command, "-",
                        AS=self.LIMIT), "-", at)

    def test_numbers(self):
        """A V1 block as numbers that do not end. A number whose digits do not
        end is malformed."""
        block = v1_blocks.LITTLE.block(total=0xFFFFFFF8)
        text = b"".join(b"%d," % byte for byte in block)
        self.assert_limit(self.run_piped(self.endless(
            text, b"0," * (MIB // 2)), "cook", "-", AS=self.LIMIT), "-", 0)
        status, _, err = self.run_piped(self.endless(text, b"0" * MIB), "cook",
                                        "-", AS=self.LIMIT)
        self.assertEqual(status, 1)
        self.assertRegex(err, "^-: offset [0-9]+: bad_number_list: ")

    def test_other_files(self):
        """Files that are read as a whole."""
        path = self.sparse("a", b"x", TIB)
        for command in (["lwp", "show"], ["cpi", "show"], ["cpuid"],
                        ["show", "-f", "html"]):
            with self.subTest(command=command):
                self.assert_limit(self.run_limited(*command, path,
                                                   AS=3 * BUDGET), path, 0)


if __name__ == "__main__":
    unittest.main()
