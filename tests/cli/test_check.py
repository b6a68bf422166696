# SPDX-License-Identifier: MIT
"""The verdicts of `check`."""

import csv
import io
import os
import unittest

from captures import PROCESSOR
from program import ON_WINDOWS, Case, seed, writer as w

KEYS = ["file", "kind", "size", "valid"]
ERROR_KEYS = ["code", "offset", "message"]


class Check(Case):
    """check prints one verdict per file."""

    def verdicts(self, *arguments):
        """A run of check, and its JSON objects."""
        done = self.run_program("check", "--format", "json", *arguments)
        return done, done.objects()

    def test_valid(self):
        """A valid file has a verdict with kind and size, and no error."""
        path = seed("v2", "valid_two_replies.bin")
        done, items = self.verdicts(path)
        self.assertEqual((done.status, done.err, len(items)), (0, "", 1))
        self.assertEqual(list(items[0])[:4], KEYS)
        self.assertEqual(items[0]["file"], path)
        self.assertEqual(items[0]["kind"], "data")
        self.assertEqual(items[0]["size"], os.path.getsize(path))
        self.assertIs(items[0]["valid"], True)
        self.assertFalse(set(ERROR_KEYS) & set(items[0]))

    def test_invalid(self):
        """An invalid file has the code, offset and message of its error."""
        path = self.file("a.bin", w.reply(w.result(w.SINGLE, size=4000)))
        done, items = self.verdicts(path)
        self.assert_error(done, 1, path, 56, "bad_result_size")
        self.assertEqual(list(items[0])[:7], KEYS + ERROR_KEYS)
        self.assertIs(items[0]["valid"], False)
        self.assertEqual((items[0]["code"], items[0]["offset"]),
                         ("bad_result_size", 56))

    def test_everything_is_read(self):
        """An error in the last value of replies, or in the last chunk of a
        capture, is found."""
        good = w.reply(w.result(w.SINGLE, w.v8(1)))
        bad = w.reply(w.result(w.SINGLE, w.datum(b"12345678", data_size=9)))
        path = self.file("a.bin", good + bad)
        done, _ = self.verdicts(path)
        self.assert_error(done, 1, path, len(good) + 64, "bad_data_size")
        data = w.recording(w.chunk(b"DATA", good), w.chunk(
            b"INST", b"\0" * 16 + w.instance(1, "a", size=999)))
        path = self.file("b.pfb", data)
        done, _ = self.verdicts(path)
        self.assert_error(done, 1, path, len(data) - 16, "bad_instance_size")

    def test_verdict_is_the_first_error(self):
        data = w.recording(w.chunk(b"DATA", b"1"), w.chunk(b"DATA", b"22"))
        path = self.file("a.pfb", data)
        done, items = self.verdicts(path)
        self.assert_error(done, 1, path, 32, "truncated_header")
        self.assertEqual(len(items), 1)

    def test_tolerated_and_strict(self):
        """Bytes after a reply are listed as tolerated; --strict rejects them.
        """
        path = seed("v2", "valid_rule01_trailing.bin")
        _, items = self.verdicts(path)
        self.assertEqual(items[0]["tolerated"], ["trailing_bytes"])
        done, items = self.verdicts("--strict", path)
        self.assertEqual((done.status, items[0]["code"]),
                         (1, "trailing_bytes"))

    def test_chunks_that_are_not_read_are_counted(self):
        path = self.file("a.pfb", w.recording(w.chunk(b"CPIH", b"x",
                                                      version=9),
                                              w.chunk(b"LWPC", b"\0" * 4,
                                                      version=2)))
        _, items = self.verdicts(path)
        self.assertEqual((items[0]["valid"], items[0]["unread_chunks"]),
                         (True, 2))

    def test_text(self):
        """In text, each file has a line with its counts or its error."""
        good = seed("v2", "valid_single_8.bin")
        bad = self.file("bad.bin", w.reply()[:47])
        done = self.run_program("check", good, bad)
        self.assertEqual(done.lines()[0], good + ": ok (data, 80 bytes, "
                         "1 block, 1 result, 1 value)")
        self.assertTrue(done.lines()[1].startswith(
            bad + ": malformed (data, 47 bytes): offset 0: truncated_header: "))
        self.assert_error(done, 1, bad, 0, "truncated_header")

    def test_csv(self):
        """CSV has a row per file; names with commas and quotation marks are
        quoted."""
        # Windows has no names with quotation marks.
        path = self.file("a,b.bin" if ON_WINDOWS else 'a,"b".bin',
                         w.reply()[:47])
        done = self.run_program("check", "--format", "csv", seed(
            "v2", "valid_single_8.bin"), path)
        rows = list(csv.DictReader(io.StringIO(done.out)))
        self.assertEqual([row["valid"] for row in rows], ["true", "false"])
        self.assertEqual(rows[1]["file"], path)
        self.assertEqual((rows[0]["code"], rows[1]["code"]),
                         ("", "truncated_header"))

    def test_files_that_cannot_be_read(self):
        """Missing files and folders are reported; the other files are checked,
        and the status is 3."""
        missing = os.path.join(self.folder, "missing")
        bad, good = self.file("bad", b"x"), seed("v2",
                                                 "valid_single_8.bin")
        done, items = self.verdicts(missing, bad, self.folder, good)
        self.assertEqual(done.status, 3)
        self.assertEqual([item["valid"] for item in items], [False, True])
        self.assertIn(missing + ": No such file or directory\n", done.err)
        self.assertIn(self.folder + (": Permission denied\n" if ON_WINDOWS
                                     else ": Is a directory\n"), done.err)

    def test_metadata(self):
        """--kind registration checks a reply to the request code of --request.
        """
        path = self.file("a.bin", w.string("x") + b"after")
        self.run_fine("check", "--kind", "registration", "--request", "3",
                      path)
        self.assertEqual(self.run_program("check", "--kind", "registration",
                                          "--request", "8", path).status, 1)


class Hostile(Case):
    """No input causes an endless loop or unbounded memory."""

    def test_structures_larger_than_their_data(self):
        huge = 0xFFFFFFFF
        for data in (
                w.reply(count=huge),
                w.reply(w.result(w.COUNTERS, w.id_list([1], count=huge))),
                w.reply(w.result(w.INSTANCES, w.instance_block(count=huge))),
                w.recording(w.chunk(b"QINF", b"\0" * 8)),
                w.chunk(b"PFBC", size=huge)):
            done = self.run_program("check", "-", stdin=data)
            self.assertEqual((done.status, len(done.errors())), (1, 1))

    def test_many_small_structures(self):
        """Files of many empty blocks, chunks or counter ids are read within
        the time limit."""
        blocks = self.file("a.bin", w.reply() * 50000)
        self.run_fine("check", blocks)
        chunks = self.file("b.pfb", w.recording(w.chunk(b"DATA", w.reply()) *
                                                20000))
        self.run_fine("check", chunks)
        self.run_fine("cook", chunks)
        ids = w.reply(w.result(w.COUNTERSET, w.id_list(
            list(range(100000))) + w.instance_block()))
        path = self.file("c.bin", ids)
        self.run_fine("check", path)
        self.assertEqual(self.run_json("cook", path), [])

    def test_many_queries_and_many_samples(self):
        """The cost of a sample depends on its results, not on the query."""
        guid = "3f1c0c4e-5d1b-4a53-9c2e-0a1b2c3d4e5f"
        queries = b"".join(w.identifier(guid, 1, index=2 * 10**4 - n)
                           for n in range(2 * 10**4))
        sample = w.chunk(b"DATA", w.reply(w.result(w.SINGLE, w.v4(1))))
        path = self.file("a.pfb", w.recording(w.chunk(b"QINF", queries),
                                              sample * 10**4))
        self.assertEqual(len(self.run_json("cook", path)), 10**4)

    def test_long_names(self):
        """A heading of many words and very long names fit the columns."""
        guid = PROCESSOR
        words = "w " * 60000
        data = w.recording(
            w.registration_chunk(guid, 5, w.string_block([(1, words)])),
            w.chunk(b"QINF", w.identifier(guid, name="*")),
            w.chunk(b"DATA", w.reply(w.result(w.COUNTERSET, w.id_list(
                [1]) + w.instance_block(w.instance(0, "n" * 60000, w.v4(1)),
                                        w.instance(0, words, w.v4(1)))))))
        path = self.file("a.pfb", data)
        done = self.run_program("cook", path, columns=60)
        self.assertEqual(done.status, 0)
        self.assertTrue(done.lines()[0].endswith(", sample 0"))
        self.assertLessEqual(max(map(len, done.lines())), 60)


if __name__ == "__main__":
    unittest.main()
