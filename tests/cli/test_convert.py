# SPDX-License-Identifier: MIT
"""convert: other file formats, and filters."""

import glob
import os
import re
import struct
import unittest

import captures
import v1_blocks as v1
from captures import three_sets
from program import (ROOT, STEP, Case, bytes_of, needs_real_data, real, seed,
                     writer as w)
from test_series import block, capture, sample
from v1_writer import little, big, multi_string

FIXTURES = sorted(glob.glob(os.path.join(ROOT, "fixtures", "*.pfb")))
# Captures with the contents of one file; test_files.py tests the others.
VALID = sorted(set(glob.glob(seed("capture", "valid_*.pfb"))) -
               {seed("capture", "valid_several_files.pfb"),
                seed("capture", "valid_late_metadata.pfb"),
                # Chunks of unknown tags are not copied.
                seed("capture", "valid_unknown_tags.pfb")})
# V1 blocks and V2 replies that are not in a recording.
BARE = sorted(glob.glob(seed("v1", "valid_*.bin")) +
              glob.glob(seed("v2", "valid_*.bin")))
BROKEN = sorted(glob.glob(seed("v2", "broken_rule1[01]_*.bin")) +
                glob.glob(seed("v2", "broken_second_*.bin")) +
                glob.glob(seed("v1", "broken_rule31_*.bin")))
# A text for perfblock-fixture.
DISK = """perfblock text 1
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
        """Converts without errors, not over an old file; returns the path of
        the output."""
        path = self.path(name)
        if os.path.exists(path):
            os.remove(path)
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


class Recordings(ConvertCase):
    """What is converted to a recording keeps its values."""

    def test_bare_blocks(self):
        """V1 blocks and V2 replies may be outside of recordings."""
        self.assertGreaterEqual(len(BARE), 40)
        for path in BARE[::STEP]:
            self.assertEqual(self.cooked(self.converted("a.pfb", path)),
                             self.cooked(path), path)

    def test_malformed_samples_are_reported_once(self):
        self.assertGreater(len(BROKEN), 40)
        for path in BROKEN:
            done = self.run_program("convert", path, "--force", "-o",
                                    self.path("a.pfb"))
            errors = done.errors()
            self.assertEqual(done.status, 1, path)
            self.assertEqual(len(errors), len(set(errors)), path)

    def test_recordings_are_copied(self):
        for path in VALID + FIXTURES:
            self.assertEqual(bytes_of(self.converted("a.pfb", path)),
                             bytes_of(path), path)

    def test_v1_of_either_byte_order(self):
        """Instances, texts and names of V1 blocks of both byte orders are kept.
        """
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
            # The names of the option take precedence over those of a recording,
            # also if it is a pipe and longer than the window of a reader.
            other = self.file("other.bin", multi_string("2", "Other"))
            named = self.converted("b.pfb", made, "--names", other)
            self.assertIn("Other", {item["set"] for item in
                                    self.run_json("cook", named)})
            piped = self.path("piped.pfb")
            self.run_fine("convert", "-", "--names", other, "-q", "--force",
                          "-o", piped, stdin=bytes_of(made) +
                          w.chunk(b"NOTE", bytes(10**6)))
            self.assertEqual(self.cooked(piped), self.cooked(named))

    def test_seeds_keep_their_values(self):
        """Chunks of unknown tags are left out; values do not change."""
        for path in sorted(glob.glob(seed("capture", "valid_*.pfb"))):
            self.assertEqual(self.cooked(self.converted("a.pfb", path)),
                             self.cooked(path), path)

    def test_metadata_is_written_once(self):
        """Metadata that is repeated without a change is written once; changed
        metadata is written again."""
        def described(name):
            return captures.metadata(captures.NETWORK, name, [
                (1, captures.BULK, "Packets/sec")])
        query = w.chunk(b"QINF", w.identifier(captures.NETWORK, name="*"))
        replies = [captures.data(n, captures.instances_result(
            [1], [(1, "eth0", [n * 7])])) for n in range(4)]
        first, other = described("Net"), described("Other")
        path = self.file("a.pfb", w.recording(
            first, query, replies[0], first, query, replies[1], other,
            replies[2], first, replies[3]))
        made = self.converted("b.pfb", path)
        self.assertEqual(self.cooked(made), self.cooked(path))
        tags = [chunk[:4] for chunk in chunks_of(bytes_of(made))]
        changed = sum(a != b for a, b in zip(chunks_of(w.recording(first)),
                                             chunks_of(w.recording(other))))
        count = len(chunks_of(w.recording(first))) - 1
        self.assertEqual(tags.count(b"RGST") + tags.count(b"INST"),
                         count + 2 * changed)
        self.assertEqual(tags.count(b"QINF"), 1)

    @needs_real_data
    def test_captured_blocks(self):
        """Captured V1 blocks, converted with a name table, keep their values.
        """
        blocks = sorted(glob.glob(real("v1", "pal-*.bin")))
        self.assertEqual(len(blocks), 16)
        names = ("--names", real("v1", "names-009.tsv"))
        made = self.converted("v1.pfb", *blocks, *names)
        self.assertEqual(self.cooked(*blocks, *names), self.cooked(made))

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
        made = self.converted("made.pfb", only, *arguments)
        self.assertEqual(self.cooked(made), expected)
        made = self.converted("made.pfb", only, *arguments, "--set",
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

    def test_values(self):
        """The extension of the output of cook selects its format, unless
        --format does; the output is that without -o."""
        path = FIXTURES[0]
        for name, form in (("a.json", "json"), ("a.jsonl", "json"),
                           ("a.csv", "csv"), ("b.CSV", "csv"),
                           ("a.pdh.csv", "pdh-csv"), ("a.tsv", "pdh-tsv"),
                           ("a.txt", "text"), ("a.prom", "prometheus")):
            for options in ([], ["--format", form]):
                out = self.path(("b." if options else "") + name)
                self.run_fine("cook", path, "-q", "-o", out, *options)
                with open(out, encoding="utf-8", newline="") as file:
                    self.assertEqual(file.read(), self.run_fine(
                        "cook", "--format", form, path).out)
        out = self.path("c.csv")
        self.run_fine("cook", path, "-q", "-o", out, "--format", "json")
        with open(out, encoding="utf-8", newline="") as file:
            self.assertEqual(file.read(), self.run_fine(
                "cook", "--format", "json", path).out)

    def test_format_overrides_the_extension(self):
        path = FIXTURES[0]
        self.assertEqual(bytes_of(self.converted(
            "a.json", path, "--format", "pfb")), bytes_of(path))

    def test_unknown_extensions(self):
        """An extension without a format is refused; the message names
        --format."""
        for name in ("a", "a.bin", "a.txt", "a.csv", "pfb"):
            path = self.path(name)
            self.assertIn("--format", self.refused(2, FIXTURES[0], "-o", path))
            self.assertFalse(os.path.exists(path))
        for name in ("a", "a.bin", "a.pfb", "csv"):
            done = self.run_program("cook", FIXTURES[0], "-o", self.path(name))
            self.assertEqual((done.status, done.out), (2, ""))
            self.assertIn("--format", done.err)
            self.assertFalse(os.path.exists(self.path(name)))

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
        broken = self.file("broken.bin", w.chunk(b"PFBC") + b"PFBC")
        for name in ("old.pfb", "old.csv", "old.tsv", "old.json"):
            old = self.file(name, b"old")
            for status, *arguments in (
                    (1, broken), (3, self.path("none")),
                    (2, FIXTURES[0], "--set", "none"),
                    (2, FIXTURES[0], "--from", "2100-01-01T00:00:00Z"),
                    (3, FIXTURES[0], "--paths", self.path("none"))):
                done = self.run_program("convert" if name == "old.pfb" else
                                        "cook", *arguments, "-o", old)
                self.assertEqual(done.status, status, (name, arguments))
                self.assertEqual(bytes_of(old), b"old")

    def test_samples_before_a_truncation_are_converted(self):
        data = bytes_of(FIXTURES[0])
        cut = self.file("cut.pfb", data[:-100])
        out = self.path("out.pfb")
        done = self.run_program("convert", cut, "-o", out)
        self.assertEqual((done.status, len(done.errors())), (1, 1))
        self.assertEqual(self.cooked(out)[1], self.cooked(cut)[1])

    def test_files_are_joined(self):
        """Files are written in the order of their times, whatever the order of
        the arguments."""
        first = self.text_recording("first.pfb", DISK)
        later = self.text_recording("later.pfb", DISK.replace(
            "sample 0", "sample 4").replace("sample 2", "sample 6"))
        for files in ((first, later), (later, first)):
            made = self.converted("all.pfb", *files)
            done = self.run_program("show", made)
            self.assertEqual(done.out.count('"DATA"'), 4)
            times = re.findall(r"perf_time (\d+)", done.out)
            self.assertEqual(times, sorted(times, key=int), files)

    def test_repetitions_among_several_series(self):
        """A sample that another file has as well is left out; the rest of its
        file is not."""
        shared = sample(11, 5, boot=9)
        paths = [self.file("first.pfb", capture(sample(10, 1), shared, sample(12, 2))),
                 self.file("second.pfb", capture(shared, w.chunk(b"NOTE", b"x"), sample(13, 6, boot=9)))]
        made = chunks_of(bytes_of(self.converted("a.pfb", *paths)))
        self.assertEqual([chunk[32:40] for chunk in made if chunk[:4] == b"DATA"],
                         [sample(second, 0)[32:40] for second in (10, 11, 12, 13)])
        self.assertEqual(sum(chunk[:4] == b"NOTE" for chunk in made), 1)

    def test_part_of_a_recording(self):
        """Samples that are left out are not written, and the others have
        the values that cook gives them."""
        for name in ("machine_names_v1", "processor_information"):
            path = os.path.join(ROOT, "fixtures", name + ".pfb")
            for part in (["--every", "2"],
                         ["--from", "2025-01-01T00:00:10Z",
                          "--to", "2025-01-01T00:00:20Z"],
                         ["--utc", "--from", "00:00:20"],
                         ["--set", "Process*", "--every", "3"]):
                made = self.converted("part.pfb", path, *part)
                self.assertEqual(self.cooked(path, *part), self.cooked(made),
                                 part)
        self.assertNotEqual(self.refused(
            2, path, "--from", "2026-01-01T00:00:00Z"), "")

    def test_formats_that_cannot_be_converted(self):
        """A text log has displayed values only, which are not converted to a
        recording. Unknown formats are refused."""
        log = self.file("log.csv", b'"(PDH-CSV 4.0) (UTC)(0)","\\\\M\\A\\B"\r\n'
                        b'"01/02/2026 03:04:05.000","1"\r\n')
        self.assertIn("displayed values", self.refused(2, log))
        self.run_fine("cook", log, "-o", self.path("log.json"))
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
        """Converts with the filters. The output must have the values that cook
        shows of the source with the same filters. Returns its bytes."""
        made = self.converted("filtered.pfb", source, *filters)
        self.assertEqual(self.values(source, *filters),
                         self.values(made, *filters), filters)
        return bytes_of(made)

    def assert_has(self, data, present, absent):
        """The bytes contain each name of `present` in UTF-16, and no name of
        `absent` in UTF-8 or UTF-16."""
        for name in present:
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
        path = self.text_recording("disk.pfb", DISK.replace(
            "+4000000 +4000000", f"{chosen} {secret}") +
            f'row "sdb#1" {secret} {secret} 7\n')
        data = self.filtered(path, "--set", "*", "--counter", "1",
                             "--instance", "sda")
        self.assertIn(struct.pack("<Q", chosen), data)
        self.assertNotIn(struct.pack("<Q", secret), data)

    def test_an_instance_that_comes_later(self):
        """A selected instance that is not in the instance list is found when a
        reply has it."""
        rows = [[(1, "sda", [10 * n])] + [(2, "sdb", [100 * n])] * (n > 1)
                for n in range(4)]
        path = self.file("a.pfb", w.recording(
            captures.metadata(captures.DISK, "Disk", [
                (1, captures.BULK, "Bytes/sec")], instances=["sda"]),
            w.chunk(b"QINF", w.identifier(captures.DISK, name="*")),
            *(captures.data(n, captures.instances_result([1], each))
              for n, each in enumerate(rows))))
        made = self.converted("b.pfb", path, "--instance", "sdb")
        found = self.run_json("cook", made)
        self.assertEqual([(item["set"], item["instance"], item["value"])
                          for item in found],
                         [("Disk", "sdb", None), ("Disk", "sdb", 100)])
        self.assertNotIn("sda".encode("utf-16-le"), bytes_of(made))

    def test_bases_are_kept(self):
        """The base of a selected counter is written although it is not
        selected."""
        path = self.text_recording("disk.pfb", DISK)
        self.filtered(path, "--set", "*", "--counter", "Avg. Bytes/Read")
        made = self.converted("filtered.pfb", path, "--set", "*", "--counter",
                              "Avg. Bytes/Read")
        value = [item["value"] for item in self.run_json("cook", made)
                 if item["counter_id"] == 2]
        self.assertEqual(value[-1], 40000)

    def test_fixtures(self):
        """Filters of each kind, applied to recordings of V1 and V2 data."""
        for name, filters in (
                ("machine_names_v1", ["--set", "Process", "--instance",
                                      "svchost"]),
                ("machine_restart_v1", ["--set", "230", "--counter",
                                        "ID Process", "--counter",
                                        "% User Time"]),
                ("machine_v1", ["--path", r"\Process(agent)\Elapsed Time"]),
                ("machine_v1", ["--counter", "*", "--instance", "_Total"]),
                ("machine_v1", ["--set", "*", "--counter", "Avg*"]),
                ("machine_v1", ["--path", r"\PhysicalDisk(*)\*Idle*"]),
                ("machine_v1", ["--set", "Memory", "--counter", "%*"]),
                ("machine", ["--counter", "Bytes*"]),
                ("machine_wraps", ["--instance", "0,1"]),
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
        path = os.path.join(ROOT, "fixtures", "machine_appears.pfb")
        names = {item["instance"] for item in self.run_json("cook", path)}
        for name in names:
            self.filtered(path, "--instance", name)

    def test_filters_that_match_nothing(self):
        """Filters that select nothing are refused, and no file is written."""
        for path in (FIXTURES[0], os.path.join(ROOT, "fixtures",
                                               "machine_v1.pfb")):
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
            made = self.path("out.pfb")
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
                    messages = [line for line in done.err.splitlines()
                                if ": note: " not in line]
                    self.assertEqual((done.status, messages), (
                        2, ["perfblock: no counterset %s; did you mean %s?" %
                            (name, known)]))


if __name__ == "__main__":
    unittest.main()
