# SPDX-License-Identifier: MIT
"""Detection of the format of a file, and messages about other formats."""

import gzip
import io
import os
import struct
import unittest
import zipfile

import v1_blocks as v1
from program import (Case, bytes_of, needs_real_data, program, real, seed,
                     writer as w)

EMPTY_CLOCKS = bytes(40)
VALUE = w.result(w.SINGLE, w.v4(1))
READERS = (["show"], ["check"], ["cook"], ["countersets", "--source"],
           ["convert", "-o", "unused.pfb"])


def zip_archive():
    """A zip archive with one file."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("a.txt", "text")
    return out.getvalue()


def windows_program():
    """The start of a Windows program (PE)."""
    return b"MZ" + bytes(58) + struct.pack("<I", 128) + bytes(64) + \
        b"PE\0\0" + bytes(100)


def event_trace(guid):
    """An event trace (.etl), the container of .blg logs: its first buffer, and
    a second one with an event of this provider."""
    first = bytearray(b"\xff" * 65536)
    struct.pack_into("<I", first, 0, 65536)
    struct.pack_into("<II", first, 0x30, 0x230, 0x00040001)
    struct.pack_into("<I", first, 0x48, 0xC0020000)
    struct.pack_into("<I", first, 0x48 + 0x20, 65536)
    return bytes(first) + bytes(0x48 + 0x18) + guid + bytes(500)


# Contents, and a word that the message must contain.
OTHERS = (
    (b"", "empty"),
    (bytes(1000), "zeros"),
    (bytes(3), "only zeros"),
    (bytes(300000) + b"x", "begins with zeros"),
    (b"x", "text"),
    (b"MZ and more text\n" * 10, "text"),
    (b"root:x:0:0:root:/root:/bin/sh\n" * 40, "text"),
    ("Z\u00e4hler\n".encode("latin-1") * 40, "text"),
    ("\ufeffName\r\n".encode("utf-16-le") * 40, "text in UTF-16"),
    (b"time,a,b\r\n1,2,3\r\n" * 40, "CSV"),
    (b'"(PDH-CSV 3.0)","\\\\H\\System\\Threads"\r\n"1","2"\r\n', "CSV"),
    (b"<?xml version='1.0'?><a/>", "XML"),
    (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(100), "PNG"),
    (gzip.compress(bytes(1000)), "gzip"),
    (zip_archive(), "zip"),
    (b"%PDF-1.7\n", "PDF"),
    (b'{"sample":1,"time":null}\n', "JSON"),
    (b"perfblock text 1\n# A disk\n", "perfblock-fixture"),
    (b"\xef\xbb\xbfperfblock text 1\r\n", "perfblock-fixture"),
    (b"ElfFile\0" + bytes(4088), "Windows event log"),
    (b"\x7fELF\2\1\1" + bytes(200), "ELF"),
    (windows_program(), "Windows program"),
    (event_trace(bytes(16)), "event trace"),
    (bytes(range(256)), "no known format"),
    (struct.pack("<IIQ", 65536, 3, 7) * 5000, "no known format"),
)


class Unknown(Case):
    """Files of other formats are refused. The message names their format and
    does not call them malformed."""

    def test_every_reader(self):
        """Each command refuses each of these files and names what the file
        looks like."""
        for number, (data, word) in enumerate(OTHERS):
            path = self.file("%d" % number, data)
            for command in READERS:
                done = self.run_program(*command, path, cwd=self.folder)
                self.assert_error(done, 1, path, 0, "unknown_format")
                self.assertIn("the file ", done.err)
                self.assertIn(word, done.err)
                self.assertIn("expected a capture", done.err)
                if command != ["check"]:
                    self.assertEqual(done.out, "")
                self.assertNotIn("malformed", done.out)
        self.assertFalse(os.path.exists(os.path.join(self.folder,
                                                     "unused.pfb")))

    def test_json(self):
        """JSON has the kind "unknown" and the message."""
        data = b"%PDF-1.7\n"
        path = self.file("a.pdf", data)
        item, = self.run_program("check", "--format", "json", path).objects()
        message = item["message"]
        self.assertIn("PDF", message)
        self.assertEqual(
            {key: item[key] for key in list(item)[:7]},
            {"file": path, "kind": "unknown", "size": len(data),
             "valid": False, "code": "unknown_format", "offset": 0,
             "message": message})
        self.assertEqual(
            self.run_program("show", "--format", "json", path).objects(),
            [{"record": "error", "offset": 0, "code": "unknown_format",
              "message": message}])

    def test_text(self):
        """check calls the file not recognised, instead of malformed."""
        path = self.file("a", b"x" * 70)
        self.assertTrue(self.run_program("check", path).out.startswith(
            path + ": not recognised (unknown, 70 bytes): offset 0: "
            "unknown_format: the file looks like text"))

    def test_standard_input(self):
        """Standard input of another format is refused like a file."""
        done = self.run_program("check", "-", stdin=b"x")
        self.assert_error(done, 1, "-", 0, "unknown_format")

    def test_the_program_itself(self):
        """An executable is not taken for performance data."""
        path = program()
        done = self.run_program("check", path)
        self.assert_error(done, 1, path, 0, "unknown_format")

    def test_other_files_of_the_command_are_read(self):
        """The files before and after an unknown one are read, and form one
        series."""
        good = self.file("a.bin", w.reply(VALUE))
        other = self.file("b", b"%PDF-1.7\n")
        later = self.file("c.bin", w.reply(VALUE, stamps=w.clocks(hundred=
                                                                  2**60)))
        done = self.run_program("cook", "--format", "json", good, other, later)
        self.assert_error(done, 1, other, 0, "unknown_format")
        self.assertEqual([i["sample"] for i in done.objects()], [0, 1])

    def test_option_kind_selects_the_format(self):
        """With --kind a file is read as this format, and reported as
        malformed."""
        for data, code in ((b"", "truncated_header"),
                           (b"x" * 100, "truncated_block"),
                           (bytes(100), "bad_total_size")):
            for command in ("show", "check", "cook"):
                done = self.run_program(command, "--kind", "data", "-",
                                        stdin=data)
                self.assert_error(done, 1, "-", 0, code)
        done = self.run_program("check", "--kind", "unknown", "-")
        self.assertEqual(done.status, 2)


class Sources(Case):
    """countersets refuses formats that perfblock knows but the command cannot
    use. The message names the format."""

    def test_other_data(self):
        """countersets refuses V2 data and name tables."""
        path = self.file("a", v1.table((1, "1847")))
        done = self.run_program("countersets", "--source", path)
        self.assertEqual((done.status, done.out), (2, ""))
        self.assertIn("is a name table", done.err)
        path = self.file("a", w.reply(VALUE))
        done = self.run_program("countersets", "--source", path)
        self.assert_error(done, 1, path, 0, "unknown_format")
        self.assertIn("V2 data", done.err)


class Numbers(Case):
    """Files with V1 blocks as numbers in a text are read like those blocks."""

    BLOCKS = seed("v1", "valid_two_blocks.bin")
    NUMBERS = seed("stream", "valid_numbers.txt")

    def test_cook(self):
        """Values are the same, from a file and from standard input."""
        expected = self.run_json("cook", self.BLOCKS)
        self.assertEqual({item["sample"] for item in expected}, {0, 1})
        self.assertEqual(self.run_json("cook", self.NUMBERS), expected)
        self.assertEqual(self.run_json("cook", "-",
                                       stdin=bytes_of(self.NUMBERS)), expected)

    def test_notations(self):
        """The values of a dump and an initialiser are the same."""
        data = bytes_of(self.BLOCKS)
        expected = self.run_json("cook", self.BLOCKS)
        dump = data.hex(" ")
        initialiser = "{" + ",".join("0x%X" % byte for byte in data) + "};"
        for text in (dump, initialiser):
            for more in ((), ("--kind", "v1")):
                self.assertEqual(self.run_json(
                    "cook", *more, "-", stdin=text.encode()), expected)

    def test_convert(self):
        """The recording has the blocks."""
        made = []
        for path in (self.BLOCKS, self.NUMBERS):
            made.append(os.path.join(self.folder, "%d.pfb" % len(made)))
            self.run_fine("convert", path, "-o", made[-1])
        self.assertEqual(bytes_of(made[0]), bytes_of(made[1]))

    def test_errors_are_at_their_numbers(self):
        """The offset of an error in a block is that of the number."""
        data = bytearray(bytes_of(self.BLOCKS))
        # The size of the first object, which follows the header.
        header, = struct.unpack_from("<I", data, 24)
        struct.pack_into("<I", data, header, 10**6)
        path = self.file("block", data)
        text = self.file("text", data.hex(" ").encode())
        made = os.path.join(self.folder, "made.pfb")
        for command in (["cook", "-f", "json"], ["countersets", "--source"],
                        ["convert", "-o", made]):
            done = self.run_program(*command, path)
            self.assertEqual(done.errors(), [(path, header,
                                              "bad_object_size")])
            done = self.run_program(*command, text)
            self.assertEqual(done.errors(), [(text, 3 * header,
                                              "bad_object_size")])

    def test_cut(self):
        """A list that lacks its bracket ends with an error after its
        blocks."""
        data = bytes_of(self.BLOCKS)
        text = "[" + ",".join("%03d" % byte for byte in data)
        path = self.file("text", text.encode())
        done = self.run_program("cook", "--format", "json", path)
        self.assert_error(done, 1, path, len(text), "bad_number_list")
        self.assertEqual(done.objects(), self.run_json("cook", self.BLOCKS))


class Data(Case):
    """V2 data is detected if its system time is valid, or if its sizes and the
    header of its first result are."""

    def kind(self, data):
        """The format that check detects, and the code of its error or None."""
        item, = self.run_program("check", "--format", "json", "-",
                                 stdin=data).objects()
        return item["kind"], item.get("code")

    def test_valid_headers(self):
        """Valid replies, also without results, are detected."""
        self.assertEqual(self.kind(w.reply()), ("data", None))
        self.assertEqual(self.kind(w.reply(VALUE)), ("data", None))

    def test_without_clocks(self):
        """Replies whose clocks are all 0 are detected."""
        self.assertEqual(self.kind(w.reply(VALUE, stamps=EMPTY_CLOCKS)),
                         ("data", None))
        self.assertEqual(self.kind(w.reply(stamps=EMPTY_CLOCKS)),
                         ("data", None))

    def test_bad_clocks(self):
        """Impossible clocks do not prevent detection."""
        for stamps in (w.clocks(freq=0), w.clocks(freq=-1),
                       w.clocks(hundred=0), w.clocks(time=(0,) * 8),
                       w.clocks(time=(0xFFFF,) * 8)):
            self.assertEqual(self.kind(w.reply(VALUE, stamps=stamps)),
                             ("data", None))

    def test_one_defect(self):
        """A wrong total size, count or size of the first result is reported as
        malformed V2 data."""
        for data, code in ((w.reply(VALUE, total=0), "bad_total_size"),
                           (w.reply(VALUE, total=2**32 - 1),
                            "truncated_block"),
                           (w.reply(VALUE, total=47), "bad_total_size"),
                           (w.reply(VALUE, count=2**32 - 1),
                            "bad_result_count"),
                           (w.reply(w.result(w.SINGLE, size=4000)),
                            "bad_result_size")):
            self.assertEqual(self.kind(data), ("data", code))

    def test_every_prefix(self):
        """A truncated reply is detected from 8 bytes on."""
        for stamps in (None, EMPTY_CLOCKS):
            data = w.reply(VALUE, w.result(w.ERROR, status=5), stamps=stamps)
            for size in range(8, len(data)):
                self.assertEqual(self.kind(data[:size]), (
                    "data", "truncated_header" if size < 48 else
                    "truncated_block"))
            for size in range(8):
                self.assertEqual(self.kind(data[:size]),
                                 ("unknown", "unknown_format"))

    def test_truncated_without_clocks(self):
        """Data without clocks that claims to be longer than the file is
        detected only if its first result is plausible."""
        valid = [w.SINGLE, 16 + 8, 0]
        for place, value in ((0, 3), (0, 7), (1, 15), (1, 20), (1, 10000),
                             (2, 1)):
            kind, size, reserved = [value if i == place else number
                                    for i, number in enumerate(valid)]
            data = struct.pack("<II40xIIII", 5000, 2, 0, kind, size,
                               reserved) + bytes(40)
            self.assertEqual(self.kind(data), ("unknown", "unknown_format"))
        data = struct.pack("<II40xIIII", 5000, 2, 0, *valid) + bytes(40)
        self.assertEqual(self.kind(data), ("data", "truncated_block"))


class NameTables(Case):
    """Name tables are detected, lists of numbers are not."""

    def kind(self, data):
        """The format that check detects."""
        item, = self.run_program("check", "--format", "json", "-",
                                 stdin=data).objects()
        return item["kind"]

    def test_recognised(self):
        """Tables of the registry and tables of lines that begin with index 1
        are detected."""
        for pairs in ([(1, "1847")], [(1, "10"), (2, "12")],
                      [(1, "8"), (2, "Memory"), (4, "Available Bytes")],
                      [(1, "8"), (2, "N" * 100)], [(1, "8"), (2, "4 KiB")]):
            table = v1.table(*pairs)
            text = "".join("%d\t%s\n" % pair for pair in pairs).encode()
            for data in (table, text):
                self.assertEqual(self.kind(data), "names", data[:40])

    def test_lists_of_numbers(self):
        """Files with numbers in place of names are no name tables."""
        for data in (b"1\n2\n3\n4\n", b"1\t2\n3\t4\n", b"1\n5\n",
                     b"1\t5\nx\ty\n", v1.table((1, "5")),
                     v1.table((1, "5"), (2, "7"))):
            self.assertEqual(self.kind(data), "unknown", data[:40])


@needs_real_data
class Real(Case):
    """Captured files, written by other programs."""

    def test_perfmon_logs(self):
        """Captured .blg files are detected as logs, also if they are text."""
        folder = real("blg")
        names = [n for n in os.listdir(folder) if n.endswith(".blg")]
        self.assertTrue(names)
        for name in names:
            item, = self.run_program("check", "--format", "json",
                                     os.path.join(folder, name)).objects()
            self.assertEqual(item["kind"], "log", name)

    def test_names_of_samba(self):
        """The name table of a Samba server is detected and valid."""
        path = real("v1-samba", "names.bin")
        item, = self.run_json("check", path)
        self.assertEqual((item["kind"], item["valid"]), ("names", True))


if __name__ == "__main__":
    unittest.main()
