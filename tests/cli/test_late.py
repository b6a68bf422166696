#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Metadata that follows the samples of a recording."""

import glob
import os
import struct
import unittest

import captures
from program import ROOT, Case, bytes_of, writer as w
from test_files import chunks, described, file_chunk, sample

SEEDS = [path for path in sorted(glob.glob(os.path.join(
    ROOT, "corpus", "capture", "seeds", "valid_*.pfb")))
    if os.path.basename(path) not in (
        # The metadata is replaced between samples, or by FILE chunks.
        "valid_replaced_queries.pfb", "valid_several_files.pfb",
        "valid_late_metadata.pfb")
    and b"DATA" in bytes_of(path)]


def moved(data, *tags):
    """The recording with the chunks of these tags moved to its end."""
    early, late = [], []
    for tag, payload in chunks(data):
        (late if tag in tags else early).append(w.chunk(tag, payload))
    return b"".join(early + late)


def registration(name, kind=captures.BULK):
    """The registration of one counter."""
    return captures.metadata(captures.DISK, name, [(1, kind, "Bytes/sec")])


QUERY = w.chunk(b"QINF", w.identifier(captures.DISK, name="*"))
SAMPLES = sample(1, 100) + sample(2, 300)


class Late(Case):
    """cook uses metadata that follows its samples."""

    def values(self, *words, status=0, stdin=b""):
        """(set, counter, status, value, unit) of each value."""
        done = self.run_program("cook", "-f", "json", *words, stdin=stdin)
        self.assertEqual(done.status, status, done.err)
        self.err = done.err
        return [(row["set"], row["counter"], row["status"], row["value"],
                 row["unit"]) for row in done.objects() if "set" in row]

    def test_seeds(self):
        """Moved metadata gives the same values."""
        self.assertGreater(len(SEEDS), 8)
        for path in SEEDS:
            expected = self.values(path)
            for tags in ((b"RGST",), (b"RGST", b"NAME"), (b"QINF",),
                         (b"RGST", b"QINF")):
                with self.subTest(os.path.basename(path), tags=tags):
                    late = self.file("late.pfb", moved(bytes_of(path), *tags))
                    self.assertEqual(self.values(late), expected)

    def test_large_recording(self):
        """It is found at the end of a recording that is larger than the
        reader's window."""
        filler = w.chunk(b"NOTE", b"x" * 300000)
        data = w.recording(QUERY, sample(1, 100), filler * 3, sample(2, 300),
                           filler, registration("Disk"))
        found = self.values(self.file("late.pfb", data))
        self.assertEqual([row[0] for row in found], ["Disk"] * 2)
        self.assertEqual(found[1][3], 200)

    def test_earlier_metadata(self):
        """Metadata that precedes a sample is used for it."""
        for first, second, names in (
                (registration("A"), registration("B"), ["A", "A", "B"]),
                (b"", registration("A") + sample(3, 3) + registration("B"),
                 ["A"] * 3 + ["B"])):
            data = w.recording(first, QUERY, SAMPLES, second, sample(4, 900))
            found = self.values(self.file("f.pfb", data))
            self.assertEqual([row[0] for row in found], names)

    def test_each_request(self):
        """Each reply of a counterset is found by itself."""
        parts = [w.chunk(tag, payload) for tag, payload in
                 chunks(registration("Disk"))]
        expected = self.values(self.file("f.pfb", w.recording(
            *parts, QUERY, SAMPLES)))
        for late in range(len(parts)):
            data = w.recording(*parts[:late], *parts[late + 1:], QUERY,
                               SAMPLES, parts[late])
            self.assertEqual(self.values(self.file("f.pfb", data)), expected)

    def test_different_query_information(self):
        """Query information is used early only if it is unambiguous."""
        other = w.chunk(b"QINF", w.identifier(captures.DISK, name="sd*"))
        metadata = registration("Disk")
        for late, is_used in ((QUERY, True), (QUERY + QUERY, True),
                              (QUERY + other, False),
                              (QUERY + other + QUERY, False)):
            data = w.recording(metadata, SAMPLES, late)
            found = self.values(self.file("f.pfb", data))
            self.assertEqual([row[0] for row in found],
                             ["Disk" if is_used else None] * 2)

    def test_files_in_a_recording(self):
        """A file does not use late metadata of another one."""
        data = w.recording(QUERY, SAMPLES, file_chunk(1), QUERY,
                           sample(3, 350), registration("B"), file_chunk(0),
                           registration("A"), file_chunk(2), sample(4, 400),
                           described("C"))
        found = self.values(self.file("f.pfb", data))
        self.assertEqual([row[0] for row in found], ["A", "A", "B", "C"])
        self.assertEqual([row[3] for row in found], [None, 200, 50, 50])

    def test_options(self):
        """--registration and --query-info come before late metadata."""
        (_, payload), = [c for c in chunks(registration("Late"))
                         if c[0] == b"RGST" and c[1][16] == 3]
        first = [c[1][24:] for c in chunks(registration("Given"))
                 if c[0] == b"RGST"]
        given = [self.file("1", first[0]), self.file("3", first[1])]
        data = w.recording(QUERY, SAMPLES, registration("Late"), sample(3, 1))
        path = self.file("f.pfb", data)
        found = self.values("--registration", given[0], "--registration",
                            "3:" + given[1], path)
        self.assertEqual([row[0] for row in found], ["Given", "Given", "Late"])

    def test_pipe(self):
        """In a pipe it is found too late, which a note says."""
        late = w.recording(QUERY, SAMPLES, registration("Disk"), sample(3, 350))
        found = self.values("-", stdin=late)
        self.assertEqual([row[0] for row in found], [None, None, "Disk"])
        self.assertIn("note:", self.err)
        self.assertIn("name a file", self.err)
        late = w.recording(registration("Disk"), SAMPLES, QUERY, sample(3, 350))
        found = self.values("-", stdin=late)
        self.assertEqual([row[0] for row in found], [None, None, "Disk"])
        self.assertIn("name a file", self.err)
        for data in (w.recording(described(), SAMPLES, described()),
                     w.recording(SAMPLES), w.recording(QUERY, SAMPLES)):
            self.values("-", stdin=data)
            self.assertNotIn("name a file", self.err)

    def test_other_commands(self):
        """Commands that make values or names find it as well."""
        path = self.file("early.pfb", captures.three_sets())
        late = self.file("late.pfb", moved(captures.three_sets(), b"RGST",
                                           b"QINF"))
        cooked = self.values(path)
        made = os.path.join(self.folder, "made.pfb")
        done = self.run_program("convert", late, "-o", made)
        self.assertEqual((done.status, done.err), (0, ""))
        self.assertEqual(self.values(made), cooked)
        made = os.path.join(self.folder, "chosen.pfb")
        for source in (path, late):
            self.run_fine("convert", source, "--set", "Alpha*", "-o", made)
            self.assertEqual(
                sorted(row for row in self.values(made)),
                sorted(row for row in cooked if row[0][0] == "A"))
        done = [self.run_program("countersets", "--source", source, "-f",
                                 "json") for source in (path, late)]
        self.assertEqual(done[0].out, done[1].out)
        self.assertTrue(done[0].out)


if __name__ == "__main__":
    unittest.main()
