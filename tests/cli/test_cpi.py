# SPDX-License-Identifier: MIT
"""CPI hooks in show, check and cpi show, as streams and in captures, compared
with the reader of tests/oracle."""

import glob
import os
import random
import struct
import unittest

from program import CORPUS, Case, bytes_of, writer as w

import cpi_reader
import cpi_seeds
import cpi_writer as c

EXAMPLES = (c.first_example, c.second_example, c.third_example)


def seeds():
    """(name, bytes) of each seed of CPI hooks."""
    for path in sorted(glob.glob(os.path.join(CORPUS, "hooks", "seeds",
                                              "*.bin"))):
        yield os.path.basename(path)[:-4], bytes_of(path)


def mutations(count):
    """`count` seeds with one to three changes, the same in each run: a word is
    replaced, a bit is flipped, another seed is appended, or the end is cut off.
    """
    chance = random.Random(20)
    originals = [data for _, data in seeds() if data]
    interesting = (0, 1, 2, 3, 7, 9999, 10000, 0xC0, 0xFFFFFFFF, 0x80000001,
                   0x40000001, 0x20000001, 0x10000001, 0xF0000001, 1)
    for _ in range(count):
        data = bytearray(chance.choice(originals))
        for _ in range(chance.choice((1, 1, 1, 2, 3))):
            at = 4 * chance.randrange(len(data) // 4 or 1)
            kind = chance.randrange(4)
            if kind == 0:
                data[at:at + 4] = struct.pack("<I", chance.choice(interesting))
            elif kind == 1 and data:
                data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
            elif kind == 2:
                data += chance.choice(originals)
            else:
                data = data[:chance.randrange(len(data) + 1)]
            if not data:
                break
        yield bytes(data)


class Streams(Case):
    """Files of hooks alone, which are read with --kind cpi."""

    def shown(self, data):
        """The records that show prints of a stream, and (code, offset) of its
        error, or None."""
        path = self.file("hooks", data)
        done = self.run_program("show", "--kind", "cpi", "--format", "json",
                                path)
        records = done.objects()
        errors = done.errors()
        self.assertEqual(done.status, 1 if errors else 0, done.err)
        if not errors:
            return records, None
        last = records.pop()
        self.assertEqual(errors, [(path, last["offset"], last["code"])])
        self.assertEqual(last["record"], "error")
        return records, (last["code"], last["offset"])

    def test_second_reader(self):
        """show prints each seed as the reader of tests/oracle reads it."""
        names = []
        for name, data in seeds():
            names.append(name)
            expected = cpi_reader.read(data)
            self.assertEqual(self.shown(data), expected, name)
            self.assertEqual(expected[1] is None, name.startswith("valid_"),
                             name)
        self.assertEqual(sorted(names), sorted(cpi_seeds.cpi_hook_seeds()))

    def test_broken_seeds_have_the_errors_of_their_names(self):
        for name, data in cpi_seeds.broken().items():
            code = name.split("_of_", maxsplit=1)[0]
            self.assertEqual(self.shown(data)[1][0], code, name)

    def test_mutations(self):
        """check gives each mutated seed the same verdict as the reader of
        tests/oracle; show is compared for every 20th."""
        cases = list(mutations(600))
        paths = [self.file("%04d" % number, data)
                 for number, data in enumerate(cases)]
        done = self.run_program("check", "--kind", "cpi", "--format", "json",
                                *paths)
        codes = set()
        self.assertEqual(len(done.objects()), len(cases))
        for data, item in zip(cases, done.objects()):
            expected = cpi_reader.read(data)[1]
            found = None if item["valid"] else (item["code"], item["offset"])
            self.assertEqual(found, expected, (item["file"], data.hex()))
            codes.add(expected and expected[0])
        self.assertGreater(len(codes), 12, codes)
        for data in cases[::20]:
            self.assertEqual(self.shown(data), cpi_reader.read(data),
                             data.hex())

    def test_figures(self):
        """The figures of the third worked example of cpi_writer.py."""
        (group,), error = self.shown(c.third_example())
        self.assertIsNone(error)
        self.assertEqual((group["label"], group["minor"], group["num_cpus"]),
                         ("phase-03", 7, 3))
        hooks = {hook["hook"]: hook for hook in group["hooks"]}
        self.assertEqual(list(hooks), [
            "label_start", "summary", "system", "processors", "thread",
            "label_end"])
        self.assertEqual(hooks["summary"]["flags"],
                         ["raw", "scaled", "thread"])
        none = {"integral": 0xFFFFFFFF, "fraction": 0xFFFFFFFF}
        rows = [{key: value for key, value in row.items()
                 if not key.endswith("_words")}
                for row in hooks["summary"]["figures"]]
        self.assertEqual(rows, [
            {"of": "cpu", "position": 0, "cpi": 2, "scaled_cpi": 1.5,
             "busy": 75},
            {"of": "cpu", "position": 1, "cpi": None, "scaled_cpi": None,
             "busy": 0},
            {"of": "cpu", "position": 2, "cpi": None, "scaled_cpi": None,
             "busy": None},
            {"of": "system", "cpi": 4, "scaled_cpi": 1.5, "busy": 37.5},
            {"of": "thread", "cpi": 1.5003}])
        self.assertEqual(hooks["summary"]["figures"][1]["cpi_words"], none)
        self.assertEqual(hooks["summary"]["figures"][4]["cpi_words"],
                         {"integral": 1, "fraction": 0x138B})
        self.assertEqual(hooks["system"]["figures"], [
            {"of": "system", "instr": 4000, "cycles": 16000, "cpi": 4,
             "cpi_words": {"integral": 4, "fraction": 0},
             "scaled_cycles": 6000, "scaled_cpi": 1.5,
             "scaled_cpi_words": {"integral": 1, "fraction": 5000},
             "busy": 37.5,
             "busy_words": {"integral": 37, "fraction": 5000}}])

    def test_text(self):
        """In text, a group and each of its figures has a line with its offset.
        """
        lines = self.run_fine("show", "--kind", "cpi", self.file(
            "hooks", c.third_example())).lines()
        self.assertIn("         0  group  size 496  minor 7  label "
                      "\"phase-03\"  elapsed_cycles 8000  num_cpus 3", lines)
        self.assertIn("        36      cpu  position 1  cpi n/a  "
                      "scaled_cpi n/a  busy 0", lines)

    def test_warnings_do_not_change_the_verdict(self):
        data = cpi_seeds.valid()["warnings"]
        path = self.file("hooks", data)
        self.assertEqual(
            [(item["code"], item["offset"], item["count"])
             for item in self.run_json("show", "--kind", "cpi", path)
             if item["record"] == "warning"],
            [("figure_mismatch", 100, 1), ("missing_thread_hook", 12, 1),
             ("stamp_descends", 68, 2)])
        verdict = self.run_json("check", "--kind", "cpi", path)[0]
        self.assertIs(verdict["valid"], True)

    def test_labels_are_shown_safely(self):
        """Text escapes control characters of labels; JSON has them unchanged.
        """
        path = self.file("hooks", c.group(5, [c.Counts(1, 2)], "S",
                                          text=b"a\x1b[31m\xff\n"))
        self.assertEqual(self.run_json("show", "--kind", "cpi", path)[0][
            "label"], "a\x1b[31m\ufffd\n")
        self.assertNotIn("\x1b", self.run_fine("show", "--kind", "cpi",
                                               path).out)


class Show(Case):
    """cpi show: the hooks of files, in text as tables."""

    def test_streams(self):
        """The records are those of the reader of tests/oracle, from a file and
        from standard input."""
        for name, data in seeds():
            expected, error = cpi_reader.read(data)
            path = self.file("hooks", data)
            done = self.run_program("cpi", "show", "--format", "json", path)
            records = done.objects()
            if error:
                self.assert_error(done, 1, path, error[1], error[0])
                self.assertEqual(records.pop()["record"], "error")
            self.assertEqual(records, expected, name)
            if not error:
                self.assertEqual(self.run_json("cpi", "show", stdin=data),
                                 expected, name)

    def test_captures(self):
        """The hooks of all chunks and files are shown in order."""
        path = self.file("a.pfb", w.recording(
            w.chunk(b"NOTE", b"a remark"),
            *[w.chunk(b"CPIH", make()) for make in EXAMPLES]))
        shown = self.run_json("cpi", "show", path)
        self.assertEqual([item["minor"] for item in shown], [1, 42, 7])
        self.assertEqual(shown, [item for item in self.run_json("show", path)
                                 if item["record"] == "group"])
        self.assertEqual(self.run_json("cpi", "show", path, path), 2 * shown)

    def test_broken_captures(self):
        """Chunks after a broken one are shown; a capture without hooks is an
        error."""
        bad = c.first_example()[:-4]
        path = self.file("a.pfb", w.recording(
            w.chunk(b"CPIH", bad), w.chunk(b"CPIH", c.first_example())))
        done = self.run_program("cpi", "show", "--format", "json", path)
        self.assert_error(done, 1, path, 32, "trunc_record")
        self.assertEqual([item["record"] for item in done.objects()],
                         ["error", "group"])
        done = self.run_program("cpi", "show", self.file(
            "b.pfb", w.recording(w.chunk(b"NOTE", b"nothing"))))
        self.assertEqual((done.status, done.out), (1, ""))
        self.assertIn("no CPI hooks", done.err)
        missing = self.run_program("cpi", "show", self.folder + "/missing")
        self.assertEqual((missing.status, missing.out), (3, ""))

    def test_captures_of_a_later_version(self):
        """If all hooks are of a later version, the error says so, not that
        there are none. Otherwise a note says how many were skipped."""
        later = w.chunk(b"CPIH", b"anything", version=2)
        good = w.chunk(b"CPIH", c.first_example())
        done = self.run_program("cpi", "show", self.file(
            "a.pfb", w.recording(w.chunk(b"LWPC", b"", version=3), later)))
        self.assertEqual((done.status, done.out), (1, ""))
        self.assertIn("of a later version", done.err)
        self.assertNotIn("no CPI hooks", done.err)
        path = self.file("b.pfb", w.recording(good, later, later))
        done = self.run_program("cpi", "show", "--format", "json", path)
        self.assertEqual((done.status, len(done.objects())), (0, 1))
        self.assertEqual(done.err, "%s: offset %d: note: CPI hooks of a later "
                         "version were skipped: 2 chunks\n" % (
                             path, 16 + len(good)))
        other = self.run_program("cpi", "show", self.file(
            "c.pfb", w.recording(w.chunk(b"LWPC", b"", version=3))))
        self.assertIn("no CPI hooks", other.err)

    def test_table(self):
        """The counts of the first worked example, with a label and summary,
        system and processors hooks."""
        data = c.group(3000000, c.ONE_TWO, "SD", True, text=b"a\x1bb")
        self.assertEqual(self.run_fine("cpi", "show", self.file(
            "hooks", data)).lines(), [
                "         0  group  size %d  minor 1  label \"a\\u001Bb\"  "
                "elapsed_cycles 3000000  num_cpus 2" % len(data),
                "                                           scaled",
                "hook              instr   cycles     cpi   cycles  cpi_wb"
                "    busy%",
                "summary #0                        2.0000           1.5000"
                "  75.0000",
                "summary #1                        1.0000           0.2000"
                "  20.0000",
                "summary system                    1.3333           0.6333"
                "  47.5000",
                "system          4500120  6000000  1.3333  2850000  0.6333"
                "  47.5000",
                "processors #0   1500000  3000000  2.0000  2250000  1.5000"
                "  75.0000",
                "processors #1   3000120  3000000  1.0000   600000  0.2000"
                "  20.0000"])

    def test_table_of_the_third_example(self):
        """The table of the third worked example of cpi_writer.py."""
        lines = self.run_fine("cpi", "show", "-",
                              stdin=c.third_example()).lines()
        rows = [line.split() for line in lines[3:]]
        self.assertEqual(rows[2], ["summary", "#2", "n/a", "n/a", "n/a"])
        self.assertEqual(rows[4], ["summary", "thread", "1.5003"])
        self.assertEqual(rows[7], ["processors", "#1", "0", "8000", "n/a",
                                   "0", "n/a", "0.0000"])
        self.assertEqual(rows[9], ["thread", "900", "3200", "4801", "1.5003"])

    def test_warnings_are_printed_in_text(self):
        """Each kind of warning has a line."""
        text = self.run_fine("cpi", "show", self.file(
            "hooks", cpi_seeds.valid()["warnings"])).out
        for code in ("figure_mismatch", "missing_thread_hook",
                     "stamp_descends"):
            self.assertIn("warning  code " + code, text)


class Captures(Case):
    """show and check of hooks in captures."""

    def test_groups(self):
        """Offsets of groups and hooks in a capture count from the start of the
        file."""
        parts = [make() for make in EXAMPLES]
        path = self.file("a.pfb", w.recording(
            *[w.chunk(b"CPIH", part) for part in parts]))
        records = self.run_json("show", path)
        bases = [item["offset"] + 16 for item in records
                 if item["record"] == "chunk"][1:]
        found = [item for item in records if item["record"] == "group"]
        for part, base, group in zip(parts, bases, found):
            (expected,), _ = cpi_reader.read(part)
            self.assertEqual(group["offset"], base)
            self.assertEqual([hook["offset"] for hook in group["hooks"]], [
                hook["offset"] + base for hook in expected["hooks"]])
            self.assertEqual(group["elapsed_cycles"],
                             expected["elapsed_cycles"])
        self.assertEqual(len(found), len(parts))
        text = self.run_fine("check", path).out
        self.assertIn("4 chunks, 3 groups of CPI hooks", text)

    def test_chunks_after_a_broken_one_are_read(self):
        bad = c.first_example()[:-4]
        path = self.file("a.pfb", w.recording(
            w.chunk(b"CPIH", c.second_example() + bad),
            w.chunk(b"CPIH", c.first_example())))
        done = self.run_program("show", "--format", "json", path)
        self.assert_error(done, 1, path, 16 + 16 + 220, "trunc_record")
        self.assertEqual([item["minor"] for item in done.objects()
                          if item["record"] == "group"], [42, 1])
        done = self.run_program("check", path)
        self.assert_error(done, 1, path, 16 + 16 + 220, "trunc_record")


if __name__ == "__main__":
    unittest.main()
