# SPDX-License-Identifier: MIT
"""CPI snapshots as text files and in captures: show, check and cook."""

import unittest

from program import Case, writer as w

HEADER = 16
HEAD = b"cpi-snapshots 1\n"
UINT64_MAX = 2**64 - 1

# Lines of each kind, with the kind and the keys of the record that show prints
# for them (None: no record). The first snapshot is that of the text in
# docs/cpi.md, with one more CPU.
LINES = (
    (b"widths 40 64\n", None),
    (b"snapshot 500\n", ("snapshot", {
        "line": 3, "clock": 500, "cpus": 3, "instr_width": 40,
        "cycles_width": 64})),
    (b"cpu 0 1099511626776 10 0 0\n", ("cpu", {
        "cpu": 0, "instr": 2**40 - 1000, "cycles": 10, "busy": 0,
        "elapsed": 0})),
    (b"# a remark\n", None),
    (b"  cpu 1 777 10 5 0\n", ("cpu", {
        "cpu": 1, "instr": 777, "cycles": 10, "busy": 5, "elapsed": 0})),
    (b"cpu 3 1 1 1 1\n", ("cpu", {
        "cpu": 3, "instr": 1, "cycles": 1, "busy": 1, "elapsed": 1})),
    (b"thread 900 0 0\n", ("thread", {
        "tid": 900, "instr": 0, "cycles": 0, "user_only": False})),
    (b"snapshot 18446744073709551615\r\n", ("snapshot", {
        "line": 9, "clock": UINT64_MAX, "cpus": 1, "instr_width": 40,
        "cycles_width": 64})),
    (b"cpu 4294967295 18446744073709551615 8010\n", ("cpu", {
        "cpu": 2**32 - 1, "instr": UINT64_MAX, "cycles": 8010, "busy": None,
        "elapsed": None})),
    (b"thread 900 3200 4801 user\n", ("thread", {
        "tid": 900, "instr": 3200, "cycles": 4801, "user_only": True})),
    (b"refuse -234 instructions, ENOENT\n", ("refusal", {
        "line": 12, "code": -234, "name": "PU_ERROR_NOT_VALID_IN_VM",
        "sentence": "instructions, ENOENT"})),
    (b"refuse 77\n", ("refusal", {
        "line": 13, "code": 77, "name": None, "sentence": ""})),
)


def expected(base):
    """The text with all LINES, and its records if it begins at `base`."""
    text, records = HEAD, []
    for line, record in LINES:
        if record:
            records.append({"record": record[0], "offset": base + len(text),
                            **record[1]})
        text += line
    return text, records


def records_of_lines(records):
    """The records other than chunks and errors."""
    return [item for item in records if item["record"] not in
            ("chunk", "error")]


class Files(Case):
    """Files of snapshots as text."""

    def test_every_line(self):
        """Each line of a text file has its record."""
        text, records = expected(0)
        for start in (b"", b"\xef\xbb\xbf"):
            path = self.file("a.txt", start + text)
            for kind in ((), ("--kind", "snapshots")):
                self.assertEqual(self.run_json("show", path, *kind), [
                    {**item, "offset": item["offset"] + len(start)}
                    for item in records])
                verdict, = self.run_json("check", path, *kind)
                self.assertEqual((verdict["kind"], verdict["valid"]),
                                 ("snapshots", True))

    def test_first_lines(self):
        """A text is detected by the word at its start. Without that word it is
        an error even with --kind."""
        for text, kind, code in (
                (b"cpi-snapshot 1\n", "unknown", "unknown_format"),
                (b"cpi-snapshots1\n", "unknown", "unknown_format"),
                (b"cpi-snapshots 2\n", "snapshots", "unread_format"),
                (b"cpi-snapshots 1\nx\n", "snapshots", "bad_cpi_line")):
            path = self.file("a.txt", text)
            verdict, = self.run_program("check", "--format", "json",
                                        path).objects()
            self.assertEqual((verdict["kind"], verdict["code"]), (kind, code))
        path = self.file("a.txt", b"snapshot 1\n")
        self.assert_error(self.run_program("show", path, "--kind",
                                           "snapshots"),
                          1, path, 0, "unknown_format")

    def test_they_have_no_samples(self):
        """Commands that need samples refuse the text and name its format."""
        path = self.file("a.txt", expected(0)[0])
        for command in (["cook"], ["convert", "-o", path + ".pfb"],
                        ["report"]):
            done = self.run_program(*command, path)
            self.assert_error(done, 1, path, 0, "unknown_format")
            self.assertIn("is a text of CPI snapshots", done.err)


class Snapshots(Case):
    """Snapshots in captures (CPIS chunks)."""

    def test_every_line(self):
        """Each line of a chunk has its record; check counts the steps."""
        text, records = expected(2 * HEADER)
        path = self.file("a.pfb", w.recording(w.chunk(b"CPIS", text)))
        self.assertEqual(records_of_lines(self.run_json("show", path)), records)
        verdict = self.run_json("check", path)[0]
        self.assertIs(verdict["valid"], True)
        self.assertEqual(verdict["unread_chunks"], 0)
        self.assertIn("2 chunks, 4 CPI steps", self.run_fine("check", path).out)

    def test_text(self):
        """Text has a line for each step and CPU."""
        text, records = expected(2 * HEADER)
        path = self.file("a.pfb", w.recording(w.chunk(b"CPIS", text)))
        lines = self.run_fine("show", path).lines()
        self.assertIn("%10d    snapshot  line 3  clock 500  cpus 3  "
                      "instr_width 40  cycles_width 64"
                      % records[0]["offset"], lines)
        self.assertIn("%10d      cpu  cpu 1  instr 777  cycles 10  busy 5  "
                      "elapsed 0" % records[2]["offset"], lines)
        self.assertIn("%10d    refusal  line 12  code -234  name "
                      "PU_ERROR_NOT_VALID_IN_VM  sentence "
                      "\"instructions, ENOENT\"" % records[-2]["offset"],
                      lines)

    def test_broken_lines(self):
        """Snapshots before the error are shown, except the last one, and so
        are later chunks."""
        for line, code in ((b"cpu 0 1\n", "bad_cpi_line"),
                           (b"hello\n", "bad_cpi_line"),
                           (b"snapshot 50", "bad_cpi_line")):
            before = HEAD + b"snapshot 1\ncpu 5 1 2\nsnapshot 2\n"
            path = self.file("a.pfb", w.recording(
                w.chunk(b"CPIS", before + line),
                w.chunk(b"CPIS", HEAD + b"snapshot 9\n")))
            offset = 2 * HEADER + len(before)
            done = self.run_program("show", "--format", "json", path)
            self.assert_error(done, 1, path, offset, code)
            self.assertEqual([item["clock"] for item in done.objects()
                              if item["record"] == "snapshot"], [1, 9])
            done = self.run_program("check", "--format", "json", path)
            self.assert_error(done, 1, path, offset, code)
            verdict = done.objects()[0]
            self.assertEqual((verdict["valid"], verdict["code"],
                              verdict["offset"]), (False, code, offset))

    def test_first_lines(self):
        """A chunk must begin with the word and version of the format."""
        for text, code in ((b"", "unknown_format"), (b"x", "unknown_format"),
                           (b"cpi-snapshots 2\n", "unread_format"),
                           (b"cpi-snapshots 0\n", "bad_cpi_line")):
            path = self.file("a.pfb", w.recording(w.chunk(b"CPIS", text)))
            self.assert_error(self.run_program("check", path), 1, path,
                              2 * HEADER, code)

    def test_control_characters_in_sentences_are_escaped(self):
        path = self.file("a.pfb", w.recording(w.chunk(
            b"CPIS", HEAD + b"refuse -5 a\x1b[31m\xff\n")))
        self.assertEqual(records_of_lines(self.run_json("show", path))[0]["sentence"],
                         "a\x1b[31m\ufffd")
        self.assertNotIn("\x1b", self.run_fine("show", path).out)

    def test_later_versions_are_not_read(self):
        """A chunk of a later version is counted as unread."""
        path = self.file("a.pfb", w.recording(w.chunk(b"CPIS", b"?",
                                                      version=2)))
        self.assertEqual(records_of_lines(self.run_json("show", path)), [])
        self.assertEqual(self.run_json("check", path)[0]["unread_chunks"], 1)

    def test_cook_notes_them(self):
        """cook counts the chunks in a note."""
        block = w.reply(w.result(w.SINGLE, w.v8(1)))
        path = self.file("a.pfb", w.recording(
            w.chunk(b"DATA", block), w.chunk(b"CPIS", HEAD) * 2))
        self.assertRegex(self.run_program("cook", path).err,
                         r"note: .*: 2 of CPIS\n")


if __name__ == "__main__":
    unittest.main()
