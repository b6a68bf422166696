# SPDX-License-Identifier: MIT
"""Faults from outside: full disks, files that were cut, and files, chunks and
replies that are larger than memory."""

import os
import struct
import unittest

from captures import three_sets
from program import (ON_WINDOWS, SECONDS, Case, bytes_of, program, running,
                     sanitizer, writer as w)

if not ON_WINDOWS:
    import resource

HEADER = 16
MIB = 1 << 20


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

    def run_limited(self, *arguments, **limits):
        """Runs the program; returns its exit status, standard output and
        standard error."""
        done = running.finish([program(), *arguments], timeout=SECONDS,
                              preexec_fn=limited(**limits))
        return done.returncode, done.stdout, done.stderr.decode()

    def require_address_space(self):
        """Skips the test where memory cannot be limited."""
        if ON_WINDOWS:
            self.skipTest("the address space of a Windows program cannot be "
                          "limited")
        if sanitizer():
            self.skipTest(sanitizer() + " has memory of its own")


class Continued(FaultCase):
    """Recordings that are continued."""

    def setUp(self):
        super().setUp()
        self.source = self.file("source.pfb", three_sets())
        self.path = os.path.join(self.folder, "a.pfb")

    def record(self, *arguments):
        """Appends the samples of the source to the file."""
        return self.run_program("record", "-o", self.path, "--source",
                                self.source, "--set", "*", *arguments)

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
        words = ["record", "-o", self.path, "--source", self.source, "--set",
                 "*"]
        ends = chunk_ends(self.after(b""))
        for size in sorted({end + more for end in ends
                            for more in (-1, 0, 1, 9, HEADER + 1)}):
            if size <= 0 or size >= ends[-1]:
                continue
            with self.subTest(size=size):
                os.remove(self.path)
                status, _, err = self.run_limited(*words, FSIZE=size)
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
        words = ["record", "-o", self.path, "--source", self.source, "--set",
                 "*"]
        self.assertEqual(self.run_limited(*words, AS=64 * MIB),
                         (0, b"", ""))
        with open(self.path, "rb") as file:
            file.seek(len(whole) + HEADER + 600 * MIB)
            self.assertEqual(file.read(4), b"FILE")


if __name__ == "__main__":
    unittest.main()
