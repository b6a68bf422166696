# SPDX-License-Identifier: MIT
"""convert: other file formats, filters, and the text form of samples."""

import glob
import os
import re
import struct
import unittest

import captures
import v1_blocks as v1
from captures import DISK as DISK_SET, MEMORY as MEMORY_SET, three_sets
from program import (ROOT, STEP, Case, bytes_of, needs_real_data, real, seed,
                     writer as w)
from test_series import block, capture, sample
from v1_writer import little, big, multi_string

FIXTURES = sorted(glob.glob(os.path.join(ROOT, "fixtures", "*.pfb")))
VALID = sorted(glob.glob(seed("capture", "valid_*.pfb")))
# Its counter block has 15 bytes. The text form has no unaligned sizes, so the
# block changes in a round trip.
UNALIGNED = "valid_multi_count_truncated.bin"
# V1 blocks and V2 replies that are not in a recording.
BARE = sorted(glob.glob(seed("v1", "valid_*.bin")) +
              glob.glob(seed("v2", "valid_*.bin")))
BROKEN = sorted(glob.glob(seed("v2", "broken_rule1[01]_*.bin")) +
                glob.glob(seed("v2", "broken_second_*.bin")) +
                glob.glob(seed("v1", "broken_rule31_*.bin")))
# Captures with chunks that have no text form.
WITHOUT_TEXT_FORM = ("valid_cpi_hooks.pfb", "valid_cpi_snapshots.pfb",
                     "valid_unknown_tags.pfb")
HEAD = "perfblock text 1\n"
DISK = HEAD + """
counterset 3f1c0c4e-5d1b-4a53-9c2e-0a1b2c3d4e5f multiple "Example Disk"
counter 1 PERF_COUNTER_BULK_COUNT 8 - "Read Bytes/sec"
counter 2 PERF_AVERAGE_BULK 8 3 "Avg. Bytes/Read"
counter 3 PERF_AVERAGE_BASE 4 - "Avg. Bytes/Read Base"

sample 0
result "Example Disk"
row "sda#0" 0 0 0

sample 2
result "Example Disk"
row "sda#0" +4000000 +4000000 +100
"""
TEXT_ERROR = re.compile(r"^(?P<file>.*): offset (?P<offset>\d+): bad_text: "
                        r"line (?P<line>\d+), column (?P<column>\d+): .+$")


def chunks_of(capture):
    """The chunks of a recording with their headers, without the zeros that
    pad each to a multiple of 8 bytes."""
    found, at = [], 0
    while at < len(capture):
        size = 16 + struct.unpack_from("<Q", capture, at + 8)[0]
        found.append(capture[at:at + size])
        at += size + -size % 8
    return found


class ConvertCase(Case):
    """Runs convert and reads what it wrote."""

    def path(self, name):
        """A path in the temporary folder."""
        return os.path.join(self.folder, name)

    def converted(self, name, *arguments):
        """Converts without errors; returns the path of the output."""
        path = self.path(name)
        self.run_fine("convert", *arguments, "-q", "-o", path)
        return path

    def cooked(self, *arguments):
        """Exit status of cook, and the displayed values as JSON text."""
        done = self.run_program("cook", "--format", "json", *arguments)
        return done.status, done.out

    def refused(self, status, *arguments):
        """Asserts that a conversion fails with this status and writes
        nothing."""
        out = self.path("refused.pfb")
        if "-o" not in arguments:
            arguments = (*arguments, "-o", out)
        done = self.run_program("convert", *arguments)
        self.assertEqual((done.status, done.out), (status, ""), done.err)
        self.assertFalse(os.path.exists(out))
        return done.err


class RoundTrips(ConvertCase):
    """A file is converted to text, to a recording, and to text again."""

    def check(self, path):
        """Both texts must be equal, and cook must show the same values for the
        file, the recording and the text."""
        text = self.converted("a.txt", path)
        back = self.converted("a.pfb", text)
        second = self.converted("b.txt", back)
        self.assertEqual(bytes_of(text), bytes_of(second), path)
        self.assertEqual(self.cooked(path), self.cooked(back), path)
        self.assertEqual(self.cooked(path), self.cooked(text), path)

    def test_fixtures(self):
        """The fixtures do not change in a round trip through text."""
        self.assertGreaterEqual(len(FIXTURES), 12)
        for path in FIXTURES:
            self.check(path)

    def test_seeds(self):
        """Texts and displayed values of the valid captures of the corpus do
        not change in a round trip."""
        self.assertGreaterEqual(len(VALID), 16)
        for path in VALID:
            self.check(path)

    def test_bare_blocks(self):
        """V1 blocks and V2 replies outside of recordings do not change in a
        round trip."""
        self.assertGreaterEqual(len(BARE), 40)
        for path in BARE[::STEP]:
            if os.path.basename(path) != UNALIGNED:
                self.check(path)

    def test_v1_without_a_machine(self):
        """A V1 block keeps its machine name, also an empty or missing one."""
        counters = [little.counter(10, 0x00010000, 4, 4)]
        thing = little.object(2, counters, [little.values(little.v4(7))],
                              instances=-1)
        for name in (None, "", "PC"):
            raw = None if name is None else (name + "\0").encode("utf-16-le")
            path = self.file("v1.bin", little.block(
                thing, raw_system=raw or b""))
            self.check(path)
            self.assertEqual(
                [item["machine"] for item in
                 self.run_json("cook", self.converted("a.txt", path))],
                [None if name is None else "\\\\" + name])

    def test_lists_and_providers(self):
        """Instance lists and provider registrations belong to no sample. They
        are converted as well."""
        without_sample = b"".join([
            w.registration_chunk(DISK_SET, 7, w.string("A \"provider\"")),
            w.registration_chunk(DISK_SET, 8, w.guid_bytes(MEMORY_SET)),
            w.chunk(b"INST", w.guid_bytes(MEMORY_SET))])
        path = self.file("three.pfb", three_sets().replace(
            w.chunk(b"PFBC"), w.chunk(b"PFBC") + without_sample))
        self.check(path)
        text = self.converted("a.txt", path)
        with open(text, encoding="utf-8") as file:
            lines = file.read().replace("\n    ", " ")
        self.assertIn('\ninstances "Beta Network" "eth0#0" "lo#1"\n', lines)
        self.assertIn(f'\ninstances {MEMORY_SET}\n', lines)
        self.assertIn(f'provider "A \\"provider\\"" provider-guid {MEMORY_SET}',
                      lines)
        back = bytes_of(self.converted("a.pfb", text))
        for tag, capture in ((b"INST", three_sets()),
                             (b"RGST", without_sample)):
            for chunk in chunks_of(capture):
                if chunk.startswith(tag):
                    self.assertTrue(chunk[16:] in back, chunk)
        self.assertEqual(self.run_json("countersets", "--file", path),
                         self.run_json("countersets", "--file", text))

    def test_texts_of_fixtures(self):
        """The program makes the same bytes from the texts as
        perfblock-fixture, which made the fixtures."""
        for path in FIXTURES:
            made = self.converted("made.pfb", path[:-len("pfb")] + "txt")
            self.assertEqual(bytes_of(made), bytes_of(path), path)

    def test_v1_instances_without_names(self):
        """An absent name differs from an empty one in the text form."""
        counters = [little.counter(10, 0x00010000, 4, 4)]
        path = self.file("v1.bin", little.block(little.object(2, counters, [
            little.instance(name, little.values(little.v4(n)), unique=n)
            for n, name in enumerate((None, "", "-"))])))
        self.check(path)
        found = [item["instance"] for item in
                 self.run_json("cook", self.converted("a.txt", path))]
        self.assertEqual(found, [None, "", "-"])

    def test_malformed_samples_are_reported_once(self):
        """The conversion reports the malformed data; its text has no errors.
        """
        self.assertGreater(len(BROKEN), 40)
        for path in BROKEN:
            text = self.path("a.txt")
            done = self.run_program("convert", path, "-o", text)
            self.assertEqual(done.status, 1, path)
            if os.path.exists(text):
                self.run_fine("convert", "-q", text, "-o",
                              self.path("a.pfb"))
                os.remove(text)

    def test_chunks_without_text_form_are_counted(self):
        for name in WITHOUT_TEXT_FORM:
            done = self.run_program("convert", seed("capture", name), "-o",
                                    self.path("a.txt"))
            self.assertEqual(done.status, 0)
            self.assertIn("no text form", done.err)
        path = self.file("a.pfb", w.recording(w.registration_chunk(
            "3f1c0c4e-5d1b-4a53-9c2e-0a1b2c3d4e5f", 99, b"")))
        done = self.run_program("convert", path, "-o", self.path("a.txt"))
        self.assertIn("1 chunks have no text form", done.err)

    def test_recordings_are_copied(self):
        for path in VALID + FIXTURES:
            self.assertEqual(bytes_of(self.converted("a.pfb", path)),
                             bytes_of(path), path)

    def test_v1_of_either_byte_order(self):
        """Instances, parents, texts and names of V1 blocks of both byte orders
        are kept."""
        for order in (little, big):
            counters = [order.counter(10, 0x10410400, 4, 4),
                        order.counter(12, 0x02410400, 4, 8),
                        order.counter(14, 0x00000b00, 12, 12),
                        order.counter(16, 0x40000200, 0, 0)]
            blocks = b"".join(order.block(order.object(2, counters, [
                order.instance(name, order.values(
                    order.v4(n + 100), order.v4(7 * n), b"\1\2\3text text"),
                    parent=(4, 0), unique=n)
                for n, name in enumerate(("a", "b\ud800", "", "\"\\#"))]),
                order.object(4, counters[:1], [order.values(order.v4(5))],
                             instances=-1, clock=(3, 4)),
                clock=(number * 10000000, 10000000,
                       133000000000000000 + number * 10000000))
                for number in range(3))
            names = self.file("names.bin", multi_string(
                "1", "1847", "2", "Thing", "10", "Rate \u00fc/sec"))
            path = self.file("v1.bin", blocks)
            made = self.converted("v1.pfb", path, "--names", names)
            self.assertEqual(self.cooked(path, "--names", names),
                             self.cooked(made))
            self.check(made)
            # The names of the option take precedence over those of a recording,
            # also if it is a pipe and longer than the window of a reader.
            other = self.file("other.bin", multi_string("2", "Other"))
            text = self.converted("b.txt", made, "--names", other)
            self.assertIn('"Other"', bytes_of(text).decode())
            piped = self.path("piped.txt")
            self.run_fine("convert", "-", "--names", other, "-q", "-o", piped,
                          stdin=bytes_of(made) + w.chunk(b"NOTE", bytes(10**6)))
            self.assertTrue(bytes_of(piped).startswith(bytes_of(text)))

    @needs_real_data
    def test_captured_blocks(self):
        """Captured V1 blocks, converted with a name table, keep their values.
        """
        blocks = sorted(glob.glob(real("v1", "pal-*.bin")))
        self.assertEqual(len(blocks), 16)
        names = ("--names", real("v1", "names-009.tsv"))
        made = self.converted("v1.pfb", *blocks, *names)
        self.assertEqual(self.cooked(*blocks, *names), self.cooked(made))
        self.check(made)

    @needs_real_data
    def test_captured_objects_of_a_log(self):
        """The V1 objects of a captured log become V1 blocks with the same
        values."""
        log = real("blg", "vista-objects-cut.blg")
        done = self.run_program("convert", log, "-o", self.path("log.pfb"))
        # The log is truncated.
        self.assertEqual((done.status, len(done.errors())), (1, 1))
        self.assertEqual(self.cooked(log)[1],
                         self.cooked(self.path("log.pfb"))[1])
        self.check(self.path("log.pfb"))

    def metadata_options(self, capture):
        """Writes the metadata of a capture to files; returns the options that
        name them."""
        options = []
        for number, chunk in enumerate(chunks_of(capture)):
            if chunk.startswith(b"RGST"):
                code, = struct.unpack_from("<I", chunk, 32)
                options += ["--registration", f"{code}:" + self.file(
                    f"{number}.bin", chunk[40:])]
            elif chunk.startswith(b"QINF"):
                options += ["--query-info",
                            self.file("info.bin", chunk[16:])]
        return options

    def test_bare_replies(self):
        """Bare replies with --registration and --query-info become a recording
        with the same values."""
        capture = three_sets()
        path = self.file("three.pfb", capture)
        replies = self.file("replies.bin", b"".join(
            chunk[16:] for chunk in chunks_of(capture)
            if chunk.startswith(b"DATA")))
        made = self.converted("made.pfb", replies,
                              *self.metadata_options(capture))
        self.assertEqual(self.cooked(made), self.cooked(path))
        self.check(made)

    def test_metadata_of_recordings(self):
        """A recording without metadata uses what --registration and
        --query-info name. A recording with metadata uses its own."""
        recording = three_sets()
        arguments = self.metadata_options(recording)
        only = self.file("only.pfb", b"".join(
            chunk + b"\0" * (-len(chunk) % 8) for chunk in chunks_of(recording)
            if chunk[:4] in (b"PFBC", b"DATA", b"NOTE")))
        path = self.file("whole.pfb", recording)
        expected = self.cooked(path)
        self.assertNotEqual(self.cooked(only), expected)
        self.assertEqual(self.cooked(only, *arguments), expected)
        for name in ("made.pfb", "made.txt"):
            made = self.converted(name, only, *arguments)
            self.assertEqual(self.cooked(made), expected)
            made = self.converted(name, only, *arguments, "--set",
                                  "Alpha Disk", "--instance", "sda")
            self.assertEqual({(item["set"], item["instance"])
                              for item in self.run_json("cook", made)},
                             {("Alpha Disk", "sda")})
        self.assertEqual(bytes_of(self.converted(
            "same.pfb", path, *arguments)), recording)
        broken = self.file("broken.bin", b"\1\0\0\0")
        done = self.run_program("convert", only, *arguments[:2],
                                "--registration", "5:" + broken, "-o",
                                self.path("made.pfb"))
        self.assertEqual([(file, done.status) for file, _, _ in
                          done.errors()], [(broken, 1)])

    def test_offsets_with_added_metadata(self):
        """Added metadata does not change the offsets of errors."""
        chunks = chunks_of(three_sets())
        info = next(chunk for chunk in chunks if chunk.startswith(b"QINF"))
        data = next(chunk for chunk in chunks if chunk.startswith(b"DATA"))
        cut = self.file("cut.pfb", chunks[0] + data + b"\0" * (
            -len(data) % 8) + data[:-8])
        for options in ([], ["--query-info", self.file("i.bin", info[16:])]):
            done = self.run_program("convert", cut, *options, "-o",
                                    self.path("out.pfb"))
            self.assertEqual(
                [(offset, code) for _, offset, code in done.errors()],
                [(16 + len(data) + -len(data) % 8, "truncated_chunk")])


class Outputs(ConvertCase):
    """The formats and the paths of the output."""

    def test_values_are_those_of_cook(self):
        """The extension of the output selects a format of cook; the output is
        that of cook."""
        path = FIXTURES[0]
        for name, form in (("a.json", "json"), ("a.jsonl", "json"),
                           ("a.csv", "pdh-csv"), ("b.CSV", "pdh-csv"),
                           ("a.tsv", "pdh-tsv")):
            out = self.converted(name, path)
            with open(out, encoding="utf-8", newline="") as file:
                self.assertEqual(file.read(), self.run_fine(
                    "cook", "--format", form, path).out)

    def test_format_overrides_the_extension(self):
        path = FIXTURES[0]
        with open(self.converted("a.csv", path, "--format", "csv"),
                  encoding="utf-8", newline="") as file:
            self.assertEqual(file.read(), self.run_fine(
                "cook", "--format", "csv", path).out)
        self.assertEqual(bytes_of(self.converted(
            "a.json", path, "--format", "pfb")), bytes_of(path))
        self.assertTrue(bytes_of(self.converted(
            "a.pfb", path, "--format", "text")).startswith(HEAD.encode()))

    def test_unknown_extensions(self):
        """An extension without a format is refused; the message names
        --format."""
        for name in ("a", "a.bin", "pfb"):
            path = self.path(name)
            self.assertIn("--format", self.refused(2, FIXTURES[0], "-o", path))
            self.assertFalse(os.path.exists(path))

    def test_output_is_needed(self):
        done = self.run_program("convert", FIXTURES[0])
        self.assertEqual(done.status, 2)
        self.assertIn("-o", done.err)

    def test_metadata_files_are_not_replaced(self):
        for option in ("--names", "--registration", "--query-info",
                       "--paths"):
            path = self.file("other.txt", b"\\*\\*\n")
            done = self.run_program("convert", FIXTURES[0], option, path,
                                    "-o", path)
            self.assertEqual((done.status, bytes_of(path)),
                             (2, b"\\*\\*\n"), (option, done.err))

    def test_an_input_is_not_replaced(self):
        path = self.file("a.pfb", bytes_of(FIXTURES[0]))
        self.assertEqual(self.run_program("convert", path, "-o",
                                          path).status, 2)
        self.assertEqual(bytes_of(path), bytes_of(FIXTURES[0]))

    def test_a_failure_replaces_nothing(self):
        broken = self.file("broken.txt", HEAD.encode() + b"nothing\n")
        for name in ("old.pfb", "old.csv", "old.tsv", "old.json"):
            old = self.file(name, b"old")
            for status, *arguments in (
                    (1, broken), (3, self.path("none")),
                    (2, FIXTURES[0], "--set", "none"),
                    (2, FIXTURES[0], "--from", "2100-01-01T00:00:00Z"),
                    (3, FIXTURES[0], "--paths", self.path("none"))):
                done = self.run_program("convert", *arguments, "-o", old)
                self.assertEqual(done.status, status, (name, arguments))
                self.assertEqual(bytes_of(old), b"old")

    def test_samples_before_a_truncation_are_converted(self):
        data = bytes_of(FIXTURES[0])
        cut = self.file("cut.pfb", data[:-100])
        for name in ("out.pfb", "out.txt"):
            done = self.run_program("convert", cut, "-o", self.path(name))
            self.assertEqual((done.status, len(done.errors())), (1, 1))
            self.assertEqual(self.cooked(self.path(name))[1],
                             self.cooked(cut)[1])

    def test_files_are_joined(self):
        """Files of any format are written in the order of their times,
        whatever the order of the arguments."""
        text = DISK.replace("sample 0", "sample 4").replace(
            "sample 2", "sample 6")
        later = self.file("later.txt", text.encode())
        first = self.file("first.txt", DISK.encode())
        pfb = [self.converted(name + ".pfb", path) for name, path in
               (("later", later), ("first", first))]
        long = self.file("long.txt", text.replace(
            "sample 4", "# long\n" * 20000 + "sample perf 10040000000\n"
            "  100ns 133801632040000000 frequency 10000000").encode())
        for files in (pfb, (later, first), (later, pfb[1]), (long, first)):
            made = self.converted("all.pfb", *files)
            done = self.run_program("show", made)
            self.assertEqual(done.out.count('"DATA"'), 4)
            times = re.findall(r"perf_time (\d+)", done.out)
            self.assertEqual(times, sorted(times, key=int), files)
        broken = self.file("broken.txt", HEAD.encode() + b"sample x\n")
        done = self.run_program("cook", broken, first)
        self.assertEqual((done.status, len(done.err.splitlines())), (1, 1))

    def test_a_sample_that_waits_and_is_a_repetition(self):
        """A sample that waits for the end of another series, and is then found
        in a file of that series, is left out; the rest of its file is not."""
        shared = sample(11, 5, boot=9)
        first = self.file("first.pfb", capture(
            sample(10, 1), sample(12, 2), shared))
        second = self.file("second.pfb", capture(
            shared, w.chunk(b"NOTE", b"x"), sample(13, 6, boot=9)))
        made = chunks_of(bytes_of(self.converted("a.pfb", first, second)))
        self.assertEqual(
            [chunk[16 + 48:] for chunk in made if chunk[:4] == b"DATA"],
            [chunk[16 + 48:] for chunk in (
                sample(10, 1), sample(12, 2), shared, sample(13, 6, boot=9))])
        self.assertEqual(sum(chunk[:4] == b"NOTE" for chunk in made), 1)

    def test_part_of_a_recording(self):
        """Samples that are left out are not written, and the others have
        the values that cook gives them."""
        for name in ("process", "processor_information"):
            path = os.path.join(ROOT, "fixtures", name + ".pfb")
            for part in (["--every", "2"],
                         ["--from", "2025-01-01T00:00:01Z",
                          "--to", "2025-01-01T00:00:02Z"],
                         ["--utc", "--from", "00:00:02"],
                         ["--set", "Process*", "--every", "3"]):
                for out in ("part.pfb", "part.txt"):
                    made = self.converted(out, path, *part)
                    self.assertEqual(self.cooked(path, *part),
                                     self.cooked(made), part)
        self.assertNotEqual(self.refused(
            2, path, "--from", "2026-01-01T00:00:00Z"), "")

    def test_formats_that_cannot_be_converted(self):
        """A text log has displayed values only: it is converted to values, not
        to a recording. Unknown formats are refused."""
        log = self.file("log.csv", b'"(PDH-CSV 4.0) (UTC)(0)","\\\\M\\A\\B"\r\n'
                        b'"01/02/2026 03:04:05.000","1"\r\n')
        self.assertIn("displayed values", self.refused(2, log))
        self.run_fine("convert", log, "-o", self.path("log.json"))
        self.refused(1, self.file("unknown", b"\x89PNG\r\n\x1a\n"))

    @needs_real_data
    def test_a_log_without_objects(self):
        """A log of single counters cannot become a recording; the message says
        why."""
        self.assertIn("V1 objects", self.refused(
            2, real("blg", "win8-counters.blg")))


class Filters(ConvertCase):
    """Data that the filters exclude is not in the output."""

    def values(self, *arguments):
        """The displayed values without `position` and `query`: a filtered file
        has fewer counters and queries and numbers them from 0 again."""
        items = self.run_json("cook", *arguments)
        for item in items:
            item.pop("position", None)
            item.pop("query", None)
        return items

    def filtered(self, source, *filters):
        """Converts with the filters to a recording and to a text. Both must
        have the values that cook shows of the source with the same filters.
        Returns the bytes of both files, joined."""
        written = b""
        for name in ("filtered.pfb", "filtered.txt"):
            made = self.converted(name, source, *filters)
            self.assertEqual(self.values(source, *filters),
                             self.values(made, *filters), filters)
            written += bytes_of(made)
        return written

    def assert_has(self, data, present, absent):
        """The bytes contain each name of `present` in UTF-8 and in UTF-16,
        and no name of `absent` in either."""
        for name in present:
            self.assertIn(name.encode(), data)
            self.assertIn(name.encode("utf-16-le"), data)
        for name in absent:
            self.assertNotIn(name.encode(), data)
            self.assertNotIn(name.encode("utf-16-le"), data)

    def test_v2(self):
        """V2 data keeps only the names of the selected sets, counters and
        instances."""
        note = w.chunk(b"NOTE", b"Beta Network sentinel")
        path = self.file("three.pfb", three_sets() + note)
        self.assert_has(self.filtered(path, "--set", "Alpha Disk"),
                        ["Alpha Disk", "Read Bytes/sec", "sda", "sdb"],
                        ["Alpha Memory", "Beta", "eth0", "Packets"])
        self.assert_has(self.filtered(path, "--set", "*", "--counter",
                                      "Read Bytes/sec", "--instance", "sda"),
                        ["Alpha Disk", "Read Bytes/sec", "sda"],
                        ["Write", "sdb", "_Total", "Memory", "eth0"])
        self.assert_has(self.filtered(path, "--path",
                                      r"\Alpha Memory\Free Bytes"),
                        ["Alpha Memory", "Free Bytes"],
                        ["Used", "Disk", "sda", "eth0"])

    def test_v1_objects_of_one_title(self):
        """Of two objects with the same title index, only the second has the
        selected instance."""
        counters = [little.counter(10, 0x10410400, 4, 4)]
        path = self.file("two.bin", b"".join(little.block(
            *[little.object(2, counters, [little.instance(
                name, little.values(little.v4(7)))]) for name in "ab"],
            clock=(number * 10000000, 10000000,
                   133000000000000000 + number * 10000000))
            for number in (1, 2)))
        self.filtered(path, "--instance", "b")

    def test_values_of_v2(self):
        """The values of other counters and instances are not in the output."""
        secret, chosen = 0x1122334455667788, 0x0807060504030201
        path = self.file("disk.txt", (DISK.replace(
            "+4000000 +4000000", f"{chosen} {secret}") +
            f'row "sdb#1" {secret} {secret} 7\n').encode())
        data = self.filtered(path, "--set", "*", "--counter", "1",
                             "--instance", "sda")
        self.assertIn(struct.pack("<Q", chosen), data)
        self.assertIn(str(chosen).encode(), data)
        self.assertNotIn(struct.pack("<Q", secret), data)
        self.assertNotIn(str(secret).encode(), data)

    def test_bases_are_kept(self):
        """The base of a selected counter is written although it is not
        selected."""
        path = self.file("disk.txt", DISK.encode())
        self.filtered(path, "--set", "*", "--counter", "Avg. Bytes/Read")
        made = self.converted("filtered.pfb", path, "--set", "*", "--counter",
                              "Avg. Bytes/Read")
        value = [item["value"] for item in self.run_json("cook", made)
                 if item["counter_id"] == 2]
        self.assertEqual(value[-1], 40000)

    def test_fixtures(self):
        """Filters of each kind, applied to recordings of V1 and V2 data."""
        for name, filters in (
                ("process", ["--set", "Process", "--instance", "svchost"]),
                ("process", ["--set", "230", "--counter", "ID Process",
                             "--counter", "% User Time"]),
                ("process", ["--path", r"\Process(app)\Elapsed Time"]),
                ("logical_disk", ["--counter", "*", "--instance", "_Total"]),
                ("logical_disk", ["--set", "*", "--counter", "Avg*"]),
                ("physical_disk", ["--path", r"\PhysicalDisk(*)\*Idle*"]),
                ("system", ["--set", "System", "--counter", "*Quota*"]),
                ("network_interface", ["--counter", "Bytes*"]),
                ("processor_information_changes", ["--instance", "0,1"]),
                ("gpu_memory", ["--set", "GPU Process*"])):
            path = os.path.join(ROOT, "fixtures", name + ".pfb")
            self.filtered(path, *filters)

    def test_names_and_values_of_v1(self):
        """Names and values of other V1 objects, counters and instances are not
        in the output."""
        secret = 0x55667788
        counters = [little.counter(10, 0x10410400, 4, 4),
                    little.counter(12, 0x00010000, 4, 8)]
        blocks = b"".join(little.block(*(little.object(title, counters, [
            little.instance(name, little.values(
                little.v4(1000 + number),
                little.v4(secret if name == "hidden" or title == 4 else 99)))
            for name in ("shown", "hidden")]) for title in (2, 4)),
            clock=(number * 10000000, 10000000,
                   133000000000000000 + number * 10000000))
            for number in range(2))
        names = self.file("names.bin", multi_string(
            "1", "1847", "2", "Thing", "4", "Sentinel", "10", "Rate",
            "12", "Count", "14", "Unused"))
        source = self.converted("all.pfb", self.file("v1.bin", blocks),
                                "--names", names)
        data = self.filtered(source, "--set", "Thing", "--instance", "shown")
        self.assert_has(data, ["Thing", "Rate", "Count", "shown"],
                        ["Sentinel", "Unused", "hidden"])
        self.assertNotIn(struct.pack("<I", secret), data)
        self.assertNotIn(str(secret).encode(), data)
        data = self.filtered(source, "--set", "Thing", "--counter", "Rate")
        self.assert_has(data, ["Thing", "Rate", "shown", "hidden"],
                        ["Sentinel", "Unused", "Count"])
        self.assertNotIn(struct.pack("<I", secret), data)

    def test_parents_of_v1(self):
        """The name of a process stays in the output if a thread of it is
        selected."""
        processes = [little.instance(name, little.values(little.v4(7)))
                     for name in ("first", "second", "third")]
        threads = [little.instance(name, little.values(little.v4(number)),
                                   parent=(2, parent))
                   for number, (name, parent) in enumerate(
                       (("0", 0), ("1", 2), ("0", 2)))]
        counters = [little.counter(10, 0x00010000, 4, 4)]
        block = little.block(little.object(2, counters, processes),
                             little.object(4, counters, threads))
        names = self.file("names.bin", multi_string(
            "1", "1847", "2", "Process", "4", "Thread", "10", "Id"))
        source = self.converted("all.pfb", self.file("v1.bin", block),
                                "--names", names)
        data = self.filtered(source, "--set", "Thread", "--instance", "1")
        self.assert_has(data, ["third"], ["first", "second"])
        made = self.converted("filtered.pfb", source, "--set", "Thread",
                              "--instance", "1")
        self.assertEqual([(item["parent"], item["instance"], item["raw"])
                          for item in self.run_json("cook", made)],
                         [("third", "1", 1)])

    def test_no_rate_across_a_sample_without_the_instance(self):
        """No rate is computed from two samples if a sample between them lacks
        the instance."""
        path = os.path.join(ROOT, "fixtures", "network_interface.pfb")
        names = {item["instance"] for item in self.run_json("cook", path)}
        for name in names:
            self.filtered(path, "--instance", name)

    def test_filters_that_match_nothing(self):
        """Filters that select nothing are refused, and no file is written."""
        for path in (FIXTURES[0], os.path.join(ROOT, "fixtures",
                                               "process.pfb")):
            self.assertNotEqual(self.refused(2, path, "--set", "Nothing"), "")
            self.assertNotEqual(
                self.refused(2, path, "--instance", "nothing"), "")


    def test_names_of_one_format_or_file(self):
        """Names may be those of V1 objects, of V2 countersets, or of one of
        several files. convert writes what cook prints with these names."""
        table = w.chunk(b"NAME", bytes(4) + v1.table(
            (2, "System"), (4, "Memory"), (20, "Calls/sec")))
        blocks = table + b"".join(w.chunk(b"V1DT", block(n, 2, 4))
                                  for n in (1, 2, 3))
        replies = capture(sample(1, 100), sample(2, 300))
        net = w.recording(captures.metadata(captures.NETWORK, "Net", [
            (1, captures.BULK, "Packets/sec")]), w.chunk(
                b"QINF", w.identifier(captures.NETWORK, name="*")), *[
                    captures.data(n, captures.instances_result(
                        [1], [(1, "eth0", [n * 7])])) for n in range(3)])
        paths = {name: self.file(name, data) for name, data in (
            ("both", replies + blocks), ("first", w.recording(blocks) +
                                         replies[16:]),
            ("v1", w.recording(blocks)), ("v2", replies), ("net", net))}
        cases = [(names, chosen) for names in (
            ["both"], ["first"], ["v1", "v2"], ["v2", "v1"],
            ["net", "v2"], ["v2", "net"], ["both", "net"]) for chosen in (
                ["--set", "System"], ["--set", "Disk"],
                ["--set", "4"], ["--path", r"\Memory\*"],
                ["--path", r"\Disk(*)\Bytes*"],
                ["--path", r"\System\*", "--set", "Net"],
                ["--set", "Disk", "--set", "System"],
                ["--counter", "Calls/sec"],
                ["--set", "Net", "--counter", "Bytes/sec",
                 "--counter", "Packets/sec"])]
        for names, chosen in cases[::STEP]:
            files = [paths[name] for name in names]
            cooked = self.run_program("cook", "-q", "-f", "json",
                                      *files, *chosen)
            for out in ("out.pfb", "out.txt"):
                made = self.path(out)
                done = self.run_program("convert", "-q", *files, *chosen,
                                        "-o", made)
                self.assertEqual(done.status, cooked.status, (names, chosen))
                self.assertEqual(done.err, cooked.err)
                if cooked.status != 0:
                    self.assertFalse(os.path.exists(made))
                    continue
                # Several series are written one after the other.
                self.assertEqual(*[sorted(
                    (v["set"], v["raw"], v["value"] or 0) for v in values)
                    for values in (self.run_json("cook", "-q", made),
                                   cooked.objects())], (names, chosen))
                os.remove(made)

    def test_v1_names_of_several_files(self):
        """In the text form the chosen V1 objects of each file have the names
        of that file. An object that is the same in both is defined once."""
        def recording(number, counter):
            return w.recording(w.chunk(b"NAME", bytes(4) + v1.table(
                (2, "System"), (20, counter))), w.chunk(
                    b"V1DT", block(number, 2)))
        first = self.file("1", recording(1, "Calls/sec"))
        for counter, expected in (("Calls/sec", ["Calls/sec"]),
                                  ("Rufe/s", ["Calls/sec", "Rufe/s"])):
            later = self.file("2", recording(2, counter))
            self.run_fine("convert", "-q", first, later, "--set", "System",
                          "-o", self.path("out.txt"))
            text = bytes_of(self.path("out.txt")).decode()
            self.assertEqual(
                re.findall(r'(?m)^object 2 .* (.*)\ndefine 20 .* (.*)$', text),
                [('"System"', '"%s"' % name) for name in expected])
            os.remove(self.path("out.txt"))

    def test_v1_names_of_several_files_of_a_range(self):
        """The objects have the names of their file also if the range leaves out
        the first samples of each."""
        paths = [self.file(str(first), w.recording(
            w.chunk(b"NAME", bytes(4) + v1.table((2, "System"), (20, name))),
            *[w.chunk(b"V1DT", block(number, 2))
              for number in range(first, 7, 2)]))
            for first, name in ((1, "Calls/sec"), (2, "Rufe/s"))]
        start = self.run_json("cook", "-q", paths[0])[-1]["time"]
        out = self.path("out.txt")
        self.run_fine("convert", "-q", *paths, "--from", start, "-o", out)
        self.assertEqual(
            re.findall(r'(?m)^object 2 .* (.*)\ndefine 20 .* (.*)$',
                       bytes_of(out).decode()),
            [('"System"', '"Calls/sec"'), ('"System"', '"Rufe/s"')])

    def test_names_that_no_file_has(self):
        """The suggestion comes from all files, whatever their formats."""
        replies = capture(sample(1, 100)) + w.chunk(
            b"NAME", bytes(4) + v1.table((2, "System"))) + w.chunk(
                b"V1DT", block(1, 2))
        path = self.file("both", replies)
        other = self.file("other", capture(sample(2, 100)))
        for files in ([path], [path, other], [other, path]):
            for name, known in (("Disc", "Disk"), ("Sistem", "System")):
                for command in (["cook"], ["convert", "-o", self.path("o")]):
                    done = self.run_program(*command, *files, "-f",
                                            "pfb" if len(command) > 1 else
                                            "json", "--set", name)
                    self.assertEqual((done.status, done.err), (
                        2, "perfblock: no counterset %s; did you mean %s?\n" %
                        (name, known)))


class TextForm(ConvertCase):
    """Syntax and meaning of the text form."""

    def broken(self, text, line, column):
        """The text is refused with an error at this line and column."""
        data = text if isinstance(text, bytes) else text.encode()
        path = self.file("broken.txt", data)
        done = self.run_program("cook", path)
        self.assertEqual((done.status, done.out), (1, ""), text)
        match = TEXT_ERROR.match(done.err.rstrip("\n"))
        self.assertTrue(match, done.err)
        self.assertEqual((int(match["line"]), int(match["column"])),
                         (line, column), done.err)
        start = data.split(b"\n")[:line - 1]
        self.assertEqual(int(match["offset"]),
                         sum(map(len, start)) + line - 1 + column - 1)

    def test_many_definitions(self):
        """A name table precedes each sample and has the names that were
        defined since the sample before. If an object is defined twice, its
        second definition is used."""
        lines = [HEAD]
        for number in (*range(300), 7):
            lines.append(f"object {2 * number} single none Thing{number}\n"
                         f"define 1 PERF_COUNTER_RAWCOUNT 4 - 0 Old\n"
                         f"define 3 PERF_COUNTER_RAWCOUNT 4 - 0 Raw\n"
                         f"sample {number} v1\nresult Thing{number}\n"
                         f"row - {number} {2 * number}\n")
        path = self.file("many.txt", "".join(lines).encode())
        items = self.run_json("show", path)
        self.assertEqual(sum(item["record"] == "chunk" and
                             item["tag"] == "NAME" for item in items), 301)
        found = [(item["set"], item["counter"], item["value"])
                 for item in self.run_json("cook", path)]
        self.assertEqual(found, [
            (f"Thing{number}", counter, factor * number)
            for number in (*range(300), 7)
            for counter, factor in (("Old", 1), ("Raw", 2))])

    def test_worked_numbers(self):
        """The displayed values of a text are those computed by hand."""
        path = self.file("disk.txt", DISK.encode())
        found = {(item["sample"], item["counter_id"]):
                 (item["status"], item["value"])
                 for item in self.run_json("cook", path)}
        self.assertEqual(found[1, 1], ("ok", 2000000))  # 4 MB in 2 s
        self.assertEqual(found[1, 2], ("ok", 40000))    # 4 MB in 100 reads
        self.assertEqual(found[0, 1][0], "need_two_samples")

    def test_every_command_reads_it(self):
        """Every command that reads samples from files reads the text form."""
        path = self.file("disk.txt", DISK.encode())
        for command in (["show"], ["check", "--strict"], ["cook"],
                        ["explain"], ["report"], ["countersets", "--file"],
                        ["live", "--set", "Example Disk", "--source"]):
            self.assertNotEqual(self.run_fine(*command, path).out, "")
        self.run_fine("record", "-o", self.path("a.pfb"), "--set",
                      "Example Disk", "--source", path)
        self.assertEqual(self.run_fine("cook", "-", stdin=DISK.encode()).out,
                         self.run_fine("cook", path).out)

    def test_equivalent_spellings(self):
        """Line ends, comments, escapes, quotation and number formats do not
        change the values."""
        plain = self.cooked(self.file("a.txt", DISK.encode()))[1]
        for text in ("\ufeff" + DISK, DISK.replace("\n", "\r\n"),
                     DISK.rstrip("\n"),
                     DISK.replace(" +4000000", "\n\t+4000000"),
                     DISK.replace("+100", "\n# between\n\n   0x64"),
                     DISK.replace("sda", "\\u0073\\u0064a"),
                     DISK.replace('row "sda#0"', "row sda#0"),
                     DISK.replace("sample 2", "sample 2.0000000"),
                     DISK.replace("+100", "4:100"),
                     DISK.replace("multiple", "2").replace(
                         "PERF_AVERAGE_BASE", "0x40030402")):
            self.assertEqual(self.cooked(
                self.file("b.txt", text.encode()))[1], plain, text)

    def test_renamed_countersets(self):
        """A counterset whose name another one had before is written with its
        GUID, because the name still refers to the other one."""
        other = "4f1c0c4e-5d1b-4a53-9c2e-0a1b2c3d4e5f"
        head = DISK.split("sample 0", 1)[0]
        text = (DISK + head[len(HEAD):].replace("Example Disk", "New") +
                "sample 3\nresult \"Example Disk\"\nrow \"sda#0\" 1 2 3\n" +
                head[len(HEAD):].replace("Example Disk", "New").replace(
                    "3f1c", "4f1c") +
                'sample 4\nresult "Example Disk"\nrow "sda#0" 1 2 3\n'
                f"result {other}\nrow \"sda#0\" 5 6 7\n")
        path = self.file("renamed.txt", text.encode())
        again = self.converted("again.txt", self.converted("a.pfb", path))
        self.assertEqual(self.cooked(path), self.cooked(again))
        self.assertIn(other, {item["guid"] for item in self.run_json(
            "cook", again)})

    def test_queries_that_change(self):
        """Without query lines, a counterset that is defined again with or
        without instances is queried again; `query -` ends earlier queries."""
        single = DISK.replace("multiple", "single").replace('"sda#0"', "-")
        head = single[len(HEAD):].split("sample 0")[0]
        for first, second in ((single, DISK), (DISK, single)):
            text = first + second[len(HEAD):].replace(
                "sample 2", "sample 6").replace("sample 0", "sample 4")
            items = self.run_json("cook", self.file("a.txt", text.encode()))
            self.assertEqual({item["instance"] for item in items},
                             {None, "sda"})
        text = (HEAD + head + 'query "Example Disk"\nsample 0\n'
                'result "Example Disk"\nrow - 1 2 3\nquery -\nsample 2\n'
                "result - kind 5 counters 1\n")
        shown = self.run_json("show", self.file("a.txt", text.encode()))
        self.assertEqual([item["size"] for item in shown
                          if item.get("tag") == "QINF"], [40, 0])

    def test_definitions_without_samples(self):
        """Queries are converted even if the file has no samples."""
        text = DISK[:DISK.index("sample")] + \
            'query "Example Disk" counter 2 instance "sd*"\n'
        made = self.converted("a.pfb", self.file("a.txt", text.encode()))
        second = self.converted("b.txt", made)
        self.assertIn(b'counter 2 instance "sd*"\n', bytes_of(second))
        self.assertEqual(bytes_of(self.converted("b.pfb", second)),
                         bytes_of(made))

    def test_relative_values_wrap(self):
        """A value relative to the previous one wraps at the width of its
        counter."""
        text = DISK.replace("0 0 0", "0 18446744073709551615 4294967295")
        items = self.run_json("cook", self.file("a.txt", text.encode()))
        raws = {item["counter_id"]: item["raw"] for item in items
                if item["sample"] == 1}
        self.assertEqual((raws[2], raws[3]), (3999999, 99))

    def test_line_and_column_of_errors(self):
        """An error is reported at the line and column of the word that is
        wrong."""
        last = DISK.count("\n")  # the number of its last line
        for text, line, column in (
                ("perfblock text 2\n", 1, 16), ("perfblock text \n", 1, 16),
                (HEAD + "nothing\n", 2, 1), (HEAD + "note a b\n", 2, 8),
                (HEAD + 'note "a\n', 2, 6), (HEAD + 'note "a"b\n', 2, 9),
                (HEAD + 'note "\\x"\n', 2, 6), (HEAD + "note\n", 2, 5),
                (HEAD + "counter 1\n", 2, 8), (HEAD + "define 1\n", 2, 7),
                (HEAD + "row a#1\n", 2, 4), (HEAD + "error 1\n", 2, 6),
                (HEAD + "result a\n", 2, 7),
                (HEAD + "counterset x\n", 2, 12),
                (HEAD + "object 4294967296\n", 2, 8),
                (HEAD + "sample 0\nresult a\n", 3, 8),
                (HEAD + "sample 1.00000001\n", 2, 8),
                (HEAD + "sample 1.0x1\n", 2, 8),
                (HEAD + "sample 0x1.5\n", 2, 8),
                (HEAD + "sample system 1,2,3\n", 2, 15),
                (HEAD + "sample 18446744073709551616\n", 2, 8),
                (HEAD + "sample perf 9223372036854775808\n", 2, 13),
                (DISK.replace("+100", "4294967296"), last, 31),
                (DISK.replace("+100", "4:4294967296"), last, 31),
                (DISK.replace("+100", "hex:0"), last, 31),
                (DISK.replace("+100", "hex:0G"), last, 31),
                (DISK.replace("+100", ""), last, 31),
                (DISK.replace("+100", "1 2"), last, 33),
                (DISK.replace("0 0 0", "= 0 0"), last - 4, 13),
                (DISK.replace('"sda#0" +', '"sda" +'), last, 5),
                (DISK.replace('"sda#0" +', "- +"), last, 5),
                (DISK.replace('"sda#0" +', '"sdb#0" +'), last, 13),
                (HEAD + "sample 0\nresult - kind 1\nrow - +5\n", 4, 7),
                (DISK + "error 5\n", last + 1, 7),
                (HEAD + "query -\nsample 0\nresult - kind 2 counters 1\n",
                 4, 7),
                (HEAD + "object 2 single none -\nsample 0 v1\nresult 2\n"
                 "note a\n", 4, 7)):
            self.broken(text, line, column)
        self.broken(HEAD.encode() + b'note "\xff"\n', 2, 6)
        self.broken(HEAD.encode() + b'note "a\0b"\n', 2, 6)

    def test_offsets_that_are_used_up(self):
        """If the values before a counter leave no offset for `-`, the message
        says so."""
        head = HEAD + "object 2 single none T\ndefine 4 0x100 4 65532 0 A\n"
        self.broken(head + "define 6 0x100 4 - 0 B\n", 4, 18)
        done = self.run_program("cook", self.path("broken.txt"))
        self.assertIn("leave no offset up to 65535", done.err)

    def test_numbers_out_of_range(self):
        """V1 sizes and offsets above 65535, scales above 2147483647,
        offsets inside the header of a counter block, and sizes of V2 values
        other than 4 and 8 are refused."""
        v1 = "object 1 single none a\n"
        v2 = "counterset 3f1c0c4e-5d1b-4a53-9c2e-0a1b2c3d4e5f single a\n"
        for text in (v1 + "define 1 0 65536 4 0 b\n",
                     v1 + "define 1 0 4 65536 0 b\n",
                     v1 + "define 1 0 4 3 0 b\n",
                     v1 + "define 1 0 4 4 2147483648 b\n",
                     v2 + "counter 1 0 0 - b\n", v2 + "counter 1 0 5 - b\n",
                     v2 + "counter 1 0 9 - b\n"):
            done = self.run_program("check", self.file(
                "a.txt", (HEAD + text).encode()))
            self.assertEqual(done.status, 1, text)
            self.assertRegex(done.err, "bad_text: line 3, column ")

    def test_truncated_texts(self):
        """A text that ends early is valid or has a bad_text error."""
        text = DISK.encode()
        v1 = bytes_of(os.path.join(ROOT, "fixtures", "tcpv4.txt"))[:1500]
        for data in (text, v1):
            for size in range(len(HEAD), len(data), 7 * STEP):
                path = self.file("cut.txt", data[:size])
                done = self.run_program("check", path)
                self.assertIn(done.status, (0, 1), done.err)
                self.assertEqual(done.status == 1,
                                 bool(TEXT_ERROR.match(done.err)), done.err)

    def test_long_lines(self):
        """Lines of 100,000 characters are read or refused like short ones."""
        name = "x" * 100000
        path = self.file("long.txt", DISK.replace("sda", name).encode())
        made = self.converted("long.pfb", path)
        self.assertIn(name.encode("utf-16-le"), bytes_of(made))
        many = HEAD + "sample " + "perf 1 " * 100000 + "\n"
        self.run_fine("check", self.file("many.txt", many.encode()))
        self.broken(HEAD + "sample " + "1" * 100000 + "\n", 2, 8)

    def test_many_rows_of_one_name(self):
        """Rows with equal names are matched in order: the n-th of a sample
        with the n-th of the next sample."""
        rows = "".join(f'row "same#0" {n} 0 0\n' for n in range(3000))
        later = 'row "same#0" +1 0 0\n' * 3000
        text = DISK[:DISK.index("row")] + rows + \
            "sample 2\nresult \"Example Disk\"\n" + later
        items = self.run_json("cook", self.file("a.txt", text.encode()))
        self.assertEqual([item["raw"] for item in items
                          if item["sample"] == 1 and item["counter_id"] == 1],
                         [n + 1 for n in range(3000)])


if __name__ == "__main__":
    unittest.main()
