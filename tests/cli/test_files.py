#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Recordings with the contents of several files, which FILE chunks separate:
their values are those of the files."""

import os
import struct
import unittest

import captures
import v1_blocks as v1
from program import ROOT, Case, writer as w

SET = captures.DISK
FREQUENCY = 10**7


def file_chunk(number, label="", machine=""):
    """The FILE chunk that begins a file or returns to it."""
    texts = label.encode() + b"\0" + machine.encode() + b"\0"
    return w.chunk(b"FILE", struct.pack("<I", number) + texts)


def end_chunk(number):
    """The FILE chunk that ends a file."""
    return w.chunk(b"FILE", struct.pack("<I", number))


def sample(second, number, freq=FREQUENCY, boot=0):
    """A DATA chunk with the count `number` of one instance. `boot` is the
    second at which the machine started."""
    stamps = w.clocks(int((second - boot) * freq),
                      133 * 10**15 + int(second * 10**7), freq)
    return w.chunk(b"DATA", w.reply(captures.instances_result(
        [1], [(0, "sda", [number])]), stamps=stamps))


def described(name="Disk", kind=captures.BULK, query="*"):
    """The metadata of one counter, and its query."""
    return captures.metadata(SET, name, [(1, kind, "Bytes/sec")]) + w.chunk(
        b"QINF", w.identifier(SET, name=query))


def capture(*chunks, **options):
    """A recording with the metadata of one counter, and these chunks."""
    return w.recording(described(**options), *chunks)


def block(second, number, machine="HOST", title=20):
    """A V1DT chunk with one rate."""
    return w.chunk(b"V1DT", v1.LITTLE.block(
        v1.LITTLE.object(title, [v1.counter(22, v1.COUNTER, 4, 4)],
                         v1.LITTLE.values((4, 4, number)),
                         instances=v1.NO_INSTANCES),
        moment=second, name=machine))


def names(*pairs):
    """A NAME chunk."""
    text = "\0".join(word for pair in pairs for word in pair) + "\0\0"
    return w.chunk(b"NAME", struct.pack("<I", 9) + text.encode("utf-16-le"))


SAMPLES = [(1, 100), (2, 300), (3, 350), (4, 900)]
FIRST = capture(*[sample(*row) for row in SAMPLES])
V1_FIRST = w.recording(names(("20", "Disk"), ("22", "Reads/sec")),
                       *[block(*row) for row in SAMPLES])

# What follows FIRST or alternates with it.
PAIRS = {
    "continued": (FIRST, capture(sample(5, 950), sample(6, 960))),
    "restarted": (FIRST, capture(sample(15, 10, boot=9),
                                 sample(16, 70, boot=9))),
    "another machine": (FIRST, capture(sample(6, 5000, boot=-50),
                                       sample(7, 5001, boot=-50))),
    "other frequency": (FIRST, capture(sample(5, 1, freq=3000000),
                                       sample(6, 7, freq=3000000))),
    "alternating": (FIRST, capture(sample(1.5, 150), sample(2.5, 310),
                                   sample(3.5, 400))),
    "alternating machines": (FIRST, capture(
        *[sample(second, 7 * number, boot=-90) for second, number in
          [(1.5, 150), (2.5, 310), (3.5, 400), (4.5, 9000)]])),
    "other query, later": (FIRST, capture(
        sample(5, 950), sample(6, 970), query="sd?")),
    "other query, alternating": (FIRST, capture(
        sample(1.5, 150), sample(2.5, 310), sample(5, 950), query="sd?")),
    "other type": (FIRST, capture(sample(5, 950), sample(6, 960),
                                  kind=captures.LARGE_RAW)),
    "other name": (FIRST, capture(sample(5, 950), sample(6, 960),
                                  name="Laufwerk")),
    "without metadata": (FIRST, w.recording(sample(5, 950), sample(6, 960))),
    "repeated samples": (FIRST, capture(*[sample(*row) for row in SAMPLES[2:]],
                                        sample(5, 1000))),
    "same times": (FIRST, capture(*[sample(t, 3 * n) for t, n in SAMPLES])),
    "v1": (V1_FIRST, w.recording(block(5, 950), block(6, 960))),
    "v1, other names": (V1_FIRST, w.recording(
        names(("20", "Platte"), ("22", "Lesen/s")), block(2, 310),
        block(6, 960))),
    "v1, other machine": (V1_FIRST, w.recording(
        block(2, 310, "OTHER"), block(6, 960, "OTHER"))),
    "v1, backwards": (V1_FIRST, w.recording(block(6, 10), block(5, 20))),
    "both versions": (V1_FIRST, FIRST),
    "both in a file": (FIRST, V1_FIRST + w.recording()),
    "no samples": (FIRST, w.recording()),
    "blocks": (FIRST, b"".join(v1.LITTLE.block(
        v1.LITTLE.object(20, [v1.counter(22, v1.COUNTER, 4, 4)],
                         v1.LITTLE.values((4, 4, 50 * n)),
                         instances=v1.NO_INSTANCES), moment=n, name="HOST")
        for n in (1, 2, 3))),
}


class FilesCase(Case):
    """A test of recordings with FILE chunks."""

    count = 0  # of converted recordings

    def values(self, *words):
        """The records that cook prints, without the name of the file."""
        done = self.run_program("cook", "--format", "json", *words)
        self.assertEqual(done.status, 0, done.err)
        self.notes = [line.split(": ", 1)[-1] for line in
                      done.err.splitlines()]
        return [{key: value for key, value in row.items()
                 if key not in ("file", "offset")}
                for row in done.objects()]

    def unnumbered(self, *words):
        """The same without positions, which chosen counters change."""
        return [{key: value for key, value in row.items()
                 if key not in ("sample", "position")}
                for row in self.values(*words)]

    def converted(self, *words):
        """The path of what convert writes."""
        self.count += 1
        path = os.path.join(self.folder, "converted-%d.pfb" % self.count)
        done = self.run_program("convert", "-o", path, *words)
        self.assertEqual(done.status, 0, done.err)
        return path


def chunks(data):
    """(tag, payload) of each chunk."""
    at, found = 0, []
    while at < len(data):
        size, = struct.unpack_from("<Q", data, at + 8)
        found.append((data[at:at + 4], data[at + 16:at + 16 + size]))
        at += 16 + (size + 7) // 8 * 8
    return found


class Converted(FilesCase):
    """Values of a recording that convert makes of several files."""

    def test_pairs(self):
        """They are those of the files, in the same order."""
        for name, contents in PAIRS.items():
            for order in (contents, contents[::-1], contents + (FIRST,)):
                with self.subTest(name, count=len(order)):
                    paths = [self.file("%d.bin" % n, data)
                             for n, data in enumerate(order)]
                    expected, notes = self.values(*paths), self.notes
                    self.assertTrue(expected)
                    path = self.converted(*paths)
                    self.assertEqual(self.values(path), expected)
                    series = [n for n in notes if "several series" in n]
                    self.assertEqual([n for n in self.notes
                                      if "several series" in n], series)
                    # The recording is converted once more, and from a pipe.
                    self.assertEqual(self.values(self.converted(path)),
                                     expected)
                    with open(path, "rb") as opened:
                        data = opened.read()
                    done = self.run_program("cook", "-f", "json", "-",
                                            stdin=data)
                    self.assertEqual(
                        [row["value"] for row in done.objects()],
                        [row["value"] for row in expected])

    def test_with_another_file(self):
        """A recording of several files is one of several files."""
        second = PAIRS["another machine"][1]
        third = capture(sample(2.2, 7, boot=-300), sample(9, 90, boot=-300))
        paths = [self.file(name, data) for name, data in
                 (("a", FIRST), ("b", second), ("c", third))]
        expected = self.values(*paths)
        both = self.converted(*paths[:2])
        self.assertEqual(self.values(both, paths[2]), expected)
        self.assertEqual(self.values(self.converted(both, paths[2])), expected)

    def test_chosen_counters(self):
        """Counters are chosen in each file."""
        paths = [self.file("a", FIRST),
                 self.file("b", PAIRS["other name"][1]),
                 self.file("c", V1_FIRST)]
        for words in (["--set", "Disk"], ["--set", SET],
                      ["--counter", "Bytes/sec"], ["--counter", "Reads/sec"],
                      ["--every", "2"]):
            with self.subTest(words):
                expected = self.unnumbered(*words, *paths)
                self.assertTrue(expected)
                self.assertEqual(self.unnumbered(
                    self.converted(*words, *paths)), expected)
                whole = self.converted(*paths)
                self.assertEqual(self.unnumbered(*words, whole), expected)
                again = self.converted(*words, whole)
                self.assertEqual(self.unnumbered(again), expected)

    def test_every_and_a_time_that_is_left_out(self):
        """A sample that --every leaves out does not decide whether the next
        file continues the series: a recording of the rest does not have it."""
        path = self.file("a", capture(
            *[sample(*row) for row in SAMPLES], sample(30, 5000),
            file_chunk(1, "b"), described(),
            *[sample(*row) for row in ((5, 950), (6, 960), (7, 999))]))
        expected = [None, (900 - 100) / 3, (960 - 900) / 2]
        for words in (["--every", "3", path],
                      [self.converted("--every", "3", path)]):
            found = self.run_json("cook", *words)
            self.assertEqual([v["value"] for v in found], expected)

    def test_names_option(self):
        """The names of --names apply to every file."""
        table = self.file("names", "\0".join(
            ["1", "1847", "20", "Given", "22", "Given/sec", "", ""]
        ).encode("utf-16-le"))
        paths = [self.file("a", V1_FIRST),
                 self.file("b", PAIRS["v1, other names"][1])]
        expected = self.values("--names", table, *paths)
        self.assertEqual({row["set"] for row in expected}, {"Given"})
        self.assertEqual(self.values(self.converted("--names", table, *paths)),
                         expected)

    def test_chunks(self):
        """FILE chunks are written where the file changes, with the name of
        the file; a single file has none."""
        paths = [self.file("a", FIRST), self.file("b", PAIRS["alternating"][1])]
        with open(self.converted(*paths), "rb") as opened:
            found = chunks(opened.read())
        labels = [(struct.unpack_from("<I", payload)[0], payload[4:])
                  for tag, payload in found if tag == b"FILE"]
        first, second = b"a\0\0", b"b\0\0"
        self.assertEqual(labels, [(1, second), (0, first)] * 2 +
                         [(1, second), (1, b""), (0, first)])
        empty = self.file("c", w.recording())
        for words in (paths[:1], [paths[0], empty], [empty, paths[0]]):
            with open(self.converted(*words), "rb") as opened:
                self.assertEqual(opened.read(), FIRST)

    def test_seeds(self):
        """Recordings of the corpus keep their values, which cook.py of
        tests/oracle computes as well."""
        for name in ("valid_several_files.pfb", "valid_late_metadata.pfb"):
            path = os.path.join(ROOT, "corpus", "capture", "seeds", name)
            self.assertEqual(self.values(self.converted(path)),
                             self.values(path))


class Recorded(FilesCase):
    """Recordings that are continued."""

    def recorded(self, *contents):
        """The path of a recording of machines with the data of these
        recordings, one after the other."""
        path = os.path.join(self.folder, "recorded.pfb")
        for number, data in enumerate(contents):
            source = self.file("source-%d.pfb" % number, data)
            count = sum(tag == b"DATA" for tag, _ in chunks(data))
            done = self.run_record(source, path, "--set", "*", count=count)
            self.assertEqual((done.status, done.err), (0, ""))
        return path

    def test_restart(self):
        """A recording that is continued after a restart of the machine, or on
        another one, has the values of its parts."""
        for name in ("continued", "restarted", "another machine", "other type",
                     "other query, later", "other frequency"):
            with self.subTest(name):
                contents = PAIRS[name] + (capture(
                    sample(29, 5, boot=28), sample(30, 9, boot=28)),)
                path = self.recorded(*contents)
                self.assertEqual(self.values(path), self.values(*[
                    self.file("%d" % n, data)
                    for n, data in enumerate(contents)]))
                os.remove(path)

    def test_chunks(self):
        """FILE chunks precede what is appended to samples."""
        path = self.recorded(FIRST)
        with open(path, "rb") as opened:
            first = opened.read()
        self.assertNotIn(b"FILE", first)
        self.recorded(FIRST)
        self.recorded(FIRST)
        with open(path, "rb") as opened:
            data = opened.read()
        self.assertEqual(data[:len(first)], first)
        marks = [struct.unpack("<I", payload[:4]) + (payload[4:],)
                 for tag, payload in chunks(data) if tag == b"FILE"]
        label = b"recorded.pfb\0\0"
        self.assertEqual(marks, [(0, b""), (1, label), (1, b""), (2, label)])

    def test_without_samples(self):
        """What has no samples is continued without a FILE chunk."""
        path = self.file("recorded.pfb", w.recording(w.chunk(b"NOTE", b"x")))
        self.recorded(FIRST)
        with open(path, "rb") as opened:
            self.assertNotIn(b"FILE", opened.read())


class Written(FilesCase):
    """Recordings with FILE chunks that no program wrote."""

    def counts(self, data):
        """The values of a recording."""
        return [row["value"] for row in self.values(self.file("f.pfb", data))]

    def test_metadata_is_forgotten(self):
        """A file does not use the metadata of another one."""
        data = FIRST + file_chunk(1) + sample(5, 1000) + sample(6, 1100)
        self.assertEqual(self.counts(data), [None, 200, 50, 550, None, None])
        data += file_chunk(0) + sample(7, 1200)
        self.assertEqual(self.counts(data)[6:], [100])

    def test_ended_number(self):
        """An ended number begins another file."""
        later = sample(9, 5, boot=8) + sample(10, 25, boot=8)
        data = FIRST + end_chunk(0) + file_chunk(0) + described() + later
        self.assertEqual(self.counts(data), [None, 200, 50, 550, None, 20])

    def test_concatenated(self):
        """PFBC after FILE chunks begins files of its own; without FILE chunks
        it changes nothing."""
        self.assertEqual(self.counts(FIRST + capture(sample(9, 5, boot=8))),
                         self.counts(FIRST + described() +
                                     sample(9, 5, boot=8)))
        self.assertEqual(
            self.counts(FIRST + file_chunk(0) + capture(
                sample(9, 5, boot=8), sample(10, 25, boot=8))),
            [None, 200, 50, 550, None, 20])

    def test_malformed_texts(self):
        """A text without its NUL is an error, but its file begins."""
        data = FIRST + w.chunk(b"FILE", b"\1\0\0\0abc") + described() + sample(
            9, 5, boot=8)
        path = self.file("bad.pfb", data)
        for command in ("cook", "check", "show"):
            done = self.run_program(command, path)
            self.assertEqual(done.status, 1)
            self.assertIn("truncated_string", done.err + done.out)
            offset = len(FIRST) + 20
            self.assertIn(str(offset), done.err + done.out)

    def test_show(self):
        """show prints the number and the texts."""
        path = self.file("f.pfb", FIRST + file_chunk(7, "a b", "HOST") +
                         end_chunk(7))
        rows = self.run_program("show", "-f", "json", path).objects()
        numbers = [row["file"] for row in rows if row.get("tag") == "FILE"]
        self.assertEqual(numbers, [7, 7])
        texts = [(row["label"], row["machine"]) for row in rows
                 if row.get("record") == "file"]
        self.assertEqual(texts, [("a b", "HOST")])


if __name__ == "__main__":
    unittest.main()
