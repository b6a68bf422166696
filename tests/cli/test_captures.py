# SPDX-License-Identifier: MIT
"""Captures in the commands that read files, and their metadata, which has
precedence over the program's catalog."""

import os
import struct
import unittest

import captures
import v1_blocks as v1
from captures import (BULK, DISK, MEMORY, PROCESSOR, RAW, TIMER_INV, data,
                      instances_result, metadata, three_sets)
from program import Case, bytes_of, seed, writer as w


class Readers(Case):
    """show, check, cook, countersets and record accept a capture under any
    name, and on standard input."""

    COMMANDS = (["show"], ["check"], ["cook"], ["countersets", "--source"])

    def setUp(self):
        super().setUp()
        self.data = three_sets()
        self.path = self.file("any name", self.data)

    def test_json(self):
        """From a file and from standard input, each command prints the same
        records, none of them an error."""
        for command in self.COMMANDS:
            items = self.run_json(*command, self.path)
            self.assertTrue(items, command)
            self.assertFalse([i for i in items
                              if i.get("record") == "error"])
            piped = self.run_json(*command, "-", stdin=self.data)
            for item in items + piped:
                item.pop("file", None)
            self.assertEqual(piped, items, command)

    def test_text(self):
        """Each command prints text; check names the format, the others the
        countersets."""
        for command in self.COMMANDS:
            text = self.run_fine(*command, self.path).out
            self.assertIn("capture" if command == ["check"] else
                          "Alpha Disk", text, command)

    def test_kinds(self):
        """--kind capture gives the same records as detecting the format."""
        for command in ("show", "check", "cook"):
            self.assertEqual(
                self.run_json(command, "--kind", "capture", self.path),
                self.run_json(command, self.path))

    def test_convert(self):
        """convert writes the same bytes from a file and from standard input."""
        copies = []
        for source, stdin in ((self.path, b""), ("-", self.data)):
            path = os.path.join(self.folder, "copy%d.pfb" % len(copies))
            self.run_fine("convert", "-o", path, "--set", "*", source,
                          stdin=stdin)
            copies.append(bytes_of(path))
        self.assertEqual(copies[0], copies[1])
        self.assertEqual(self.run_json("cook", path),
                         self.run_json("cook", self.path))


class Catalog(Case):
    """Names and types of Processor Information, which is in the program's
    catalog: those of the capture are used if it has them."""

    def capture(self, *chunks):
        """A capture with these chunks and two samples of counter 0."""
        return self.file("p.pfb", w.recording(
            *chunks, w.chunk(b"QINF", w.identifier(PROCESSOR, name="*")),
            *[data(number, instances_result([0], [
                (0, "0,0", [w.v8(2500000 * number)])]))
              for number in range(2)]))

    def shown(self, path):
        """(set, counter, type, value) of counter 0, as cook and live show it.
        """
        values = []
        for items in (self.run_json("cook", path), self.live(path)):
            item = items[-1]
            self.assertEqual((item["sample"], item["counter_id"]), (1, 0))
            values.append((item["set"], item["counter"], item["type"],
                           item["value"]))
        self.assertEqual(values[0], values[1])
        return values[0]

    def offered(self, path):
        """{counter id: (set, counter, type)} of countersets."""
        return {item["id"]: (item["set"], item["name"], item["type"])
                for item in self.run_json("countersets", "--source", path)
                if item["record"] == "counter"}

    def test_without_registration_the_catalog_is_used(self):
        path = self.capture()
        self.assertEqual(self.shown(path), (
            "Processor Information", "% Processor Time",
            "PERF_100NSEC_TIMER_INV", 75.0))
        self.assertEqual(self.run_json("countersets", "--source", path), [])

    def test_the_registration_has_precedence(self):
        """Another name and another type replace those of the catalog."""
        path = self.capture(metadata(PROCESSOR, "Renamed", [
            (0, 0x00010100, "Something Else")]))
        expected = ("Renamed", "Something Else",
                    "PERF_COUNTER_LARGE_RAWCOUNT")
        self.assertEqual(self.shown(path), expected + (2500000,))
        self.assertEqual(self.offered(path), {0: expected})
        for name in ("Renamed", "Processor Information", PROCESSOR):
            self.assertEqual(
                [i["counter"] for i in self.live(path, "--set", name)],
                ["Something Else"])
        done = self.run_live(path, "--counter", "% Processor Time")
        self.assertEqual((done.status, done.out), (2, ""))

    def test_a_registration_without_names(self):
        """Names of the catalog are not added to a registration without names.
        """
        path = self.capture(w.registration_chunk(
            PROCESSOR, 1, w.counterset(PROCESSOR, [
                w.counter_info(0, TIMER_INV)])))
        self.assertEqual(self.shown(path), (None, None,
                                            "PERF_100NSEC_TIMER_INV", 75.0))

    def test_counters_missing_in_the_registration(self):
        path = self.capture(metadata(PROCESSOR, "Renamed", [
            (1, RAW, "Another")]))
        item = self.run_json("cook", path)[-1]
        self.assertEqual((item["counter_id"], item["type"], item["status"],
                          item["raw"]), (0, None, "unknown_type", 2500000))
        self.assertEqual(set(self.offered(path)), {1})

    def test_names_without_registration(self):
        """Recorded names are used with types from the catalog."""
        path = self.capture(
            w.registration_chunk(PROCESSOR, 3, w.string("Prozessor")),
            w.registration_chunk(PROCESSOR, 5, w.string_block(
                [(0, "Zeit")])))
        expected = ("Prozessor", "Zeit", "PERF_100NSEC_TIMER_INV")
        self.assertEqual(self.shown(path), expected + (75.0,))
        offered = self.offered(path)
        self.assertEqual(offered[0], expected)
        self.assertEqual(offered[1], ("Prozessor", "% User Time",
                                      "PERF_100NSEC_TIMER"))


class Countersets(Case):
    """Errors that countersets reports."""

    def test_errors_in_names(self):
        """Errors in a name table are reported, as by cook."""
        table = bytes_of(seed("name_table", "broken_form_binary.bin"))
        path = self.file("a.pfb", w.recording(w.chunk(
            b"NAME", struct.pack("<I", 9) + table)))
        done = self.run_program("countersets", "--source", path)
        self.assertEqual((done.status, done.err),
                         (1, self.run_program("cook", "-q", path).err))
        self.assertIn("unknown_format", done.err)

    def test_blocks(self):
        """The V1 objects after a V2 reply are listed. Bytes after the last
        block are a note, or an error with --strict."""
        block = bytes_of(seed("v1", "valid_base_first.bin"))
        reply = w.reply()
        path = self.file("a.bin", block + reply + block + bytes(8))
        items = self.run_json("countersets", "--source", self.file(
            "b.bin", block + reply + block))
        alone = self.run_json("countersets", "--source", self.file(
            "c.bin", block + block))
        self.assertEqual(items, alone)
        done = self.run_program("countersets", "--source", path)
        self.assertEqual(done.status, 0, done.err)
        self.assertIn("belong to no block", done.err)
        done = self.run_program("countersets", "--strict", "--source", path)
        self.assert_error(done, 1, path, len(block + reply + block),
                          "trailing_bytes")


class LongNames(Case):
    """Names that together exceed 4 MiB of UTF-8. The collector's cache stores
    every name above 2 KiB, and shorter ones up to a sum of 4 MiB."""

    def test_the_set_of_each_counter(self):
        """countersets names the set of each counter."""
        for size, count, times in ((9000, 170, 3000), (1000, 1500, 100)):
            long, longer = "set" * times, "counter" * times
            path = self.file("a.pfb", w.recording(
                metadata(DISK, "Alpha", [(n, BULK, f"{n:\u20ac>{size}}")
                                         for n in range(count)]),
                metadata(MEMORY, long, [(1, RAW, longer), (2, RAW, "Free")])))
            items = self.run_json("countersets", "--source", path)
            self.assertEqual([(i["set"], i["name"]) for i in items
                              if i["record"] == "counter"][count:],
                             [(long, longer), (long, "Free")], size)


class Empty(Case):
    """The note that a file has no samples."""

    def test_a_note_says_so(self):
        """cook prints nothing and a note: of a recording, a log and a text
        log that end after their metadata."""
        for subject, name in (("capture", "valid_start_only.pfb"),
                              ("log", "valid_paths_only.blg"),
                              ("pdh_text", "valid_header_only.csv")):
            path = seed(subject, name)
            done = self.run_program("cook", path)
            self.assertEqual((done.status, done.out), (0, ""), name)
            self.assertEqual(done.err, path + ": offset 0: note: the file "
                             "has no samples\n")

    def test_samples_that_a_filter_leaves_out_are_there(self):
        """A file whose samples are all before --from has samples."""
        path = self.file("recording", three_sets())
        done = self.run_program("cook", path, "--from",
                                "2999-01-01T00:00:00Z")
        self.assertEqual(done.status, 2)
        self.assertNotIn("has no samples", done.err)

    def test_a_copy_of_another_file_has_samples(self):
        """A file whose samples are all left out as repetitions has samples."""
        done = self.run_program("cook", self.file("a", three_sets()),
                                self.file("b", three_sets()))
        self.assertEqual(done.status, 0)
        self.assertIn("samples that another file has", done.err)
        self.assertNotIn("has no samples", done.err)


class Errors(Case):
    """Offsets of errors count from the start of the file, and --strict
    rejects more, in the commands that read a recording."""

    def commands(self, path):
        """Command lines that read the samples of the recording. All but the
        fourth, which copies the recording, read the query information."""
        out = os.path.join(self.folder, "out")
        every = ["--set", "*"]
        return (["show", path], ["check", path], ["cook", path],
                ["convert", path, "-o", out + ".pfb"],
                ["convert", path, "-o", out + ".pfb", *every],
                ["cook", path, "-o", out + ".json"])

    def test_malformed_reply(self):
        good = captures.three_sets()
        reply = w.reply(w.result(w.SINGLE, w.v8(1), size=10 ** 6))
        path = self.file("a.pfb", good + w.chunk(b"DATA", reply))
        for command in self.commands(path):
            self.assert_error(self.run_program(*command), 1, path,
                              len(good) + 16 + 48 + 8, "bad_result_size")

    def test_malformed_query_information(self):
        good = captures.three_sets()
        info = w.identifier(captures.MEMORY, index=0) + b"12345"
        path = self.file("a.pfb", good + w.chunk(b"QINF", info) +
                         captures.data(3))
        for command in self.commands(path)[:3] + self.commands(path)[4:]:
            self.assert_error(self.run_program(*command), 1, path,
                              len(good) + 16 + len(info) - 5,
                              "truncated_identifier")

    def test_strict(self):
        good = captures.three_sets()
        reply = w.reply(w.result(w.SINGLE, w.v8(1)))
        path = self.file("a.pfb", good + w.chunk(b"DATA", reply + b"\1" * 64))
        for command in self.commands(path):
            done = self.run_program(*command)
            self.assertEqual((done.status, done.errors()), (0, []), command)
            self.assert_error(self.run_program(*command, "--strict"), 1, path,
                              len(good) + 16 + len(reply), "trailing_bytes")

    def test_instance_lists(self):
        instances = captures.instance_list("sda")
        head = captures.metadata(captures.DISK, "Disk", [
            (1, captures.BULK, "Bytes")])
        start = 16 + len(head) + 16 + 16 + len(instances)
        for tail, code, strict in (
                (w.instance(1, "b", size=1000), "bad_instance_size", []),
                (b"123", "trailing_bytes", ["--strict"])):
            path = self.file("a.pfb", w.recording(head, w.chunk(
                b"INST", w.guid_bytes(captures.DISK) + instances + tail)))
            done = self.run_program("countersets", "--source", path, "Disk",
                                    *strict)
            self.assert_error(done, 1, path, start, code)
            self.assertIn('name "sda"', done.out)

    def test_strict_countersets(self):
        path = self.file("a.pfb", w.recording(w.chunk(
            b"V1DT", v1.LITTLE.block(v1.plain(v1.LITTLE, 5)) + bytes(9) +
            b"\1")))
        self.run_fine("countersets", "--source", path)
        done = self.run_program("countersets", "--source", path, "--strict")
        self.assert_error(done, 1, path, os.path.getsize(path) - 6 - 10,
                          "trailing_bytes")


if __name__ == "__main__":
    unittest.main()
