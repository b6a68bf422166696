# SPDX-License-Identifier: MIT
"""CPI hooks: `show` and `check` of streams and of captures that hold them,
held against a second reader."""

import glob
import os
import random
import struct
import unittest

from program import CORPUS, Case, writer as w

import cpi_reader
import cpi_seeds
import cpi_writer as c

EXAMPLES = (c.first_example, c.second_example, c.third_example)


def seeds():
    """Every seed: (name, bytes)."""
    for path in sorted(glob.glob(os.path.join(CORPUS, "cpi_hooks", "seeds",
                                              "*.bin"))):
        with open(path, "rb") as file:
            yield os.path.basename(path)[:-4], file.read()


def mutations(count):
    """Seeds with a few words changed, cut or put twice; the same each run."""
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
    """--kind cpi."""

    def shown(self, data):
        """What show prints of a stream, and the error it ends with."""
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
        """Every word of every seed."""
        names = []
        for name, data in seeds():
            names.append(name)
            expected = cpi_reader.read(data)
            self.assertEqual(self.shown(data), expected, name)
            self.assertEqual(expected[1] is None, name.startswith("valid_"),
                             name)
        self.assertEqual(sorted(names), sorted(cpi_seeds.cpi_hook_seeds()))

    def test_each_error_has_a_seed_that_is_named_so(self):
        for name, data in cpi_seeds.broken().items():
            code = name.split("_of_", maxsplit=1)[0]
            self.assertEqual(self.shown(data)[1][0], code, name)

    def test_mutations(self):
        """The verdicts, code and offset, in one run; some are shown too."""
        cases = list(mutations(600))
        paths = [self.file("%04d" % number, data)
                 for number, data in enumerate(cases)]
        done = self.run_program("check", "--kind", "cpi", "--format", "json",
                                *paths)
        codes = set()
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
        """Of the third worked example, by hand."""
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
        self.assertEqual(hooks["summary"]["figures"], [
            {"of": "cpu", "position": 0, "cpi": 2, "scaled_cpi": 1.5,
             "busy": 75},
            {"of": "cpu", "position": 1, "cpi": None, "scaled_cpi": None,
             "busy": 0},
            {"of": "cpu", "position": 2, "cpi": None, "scaled_cpi": None,
             "busy": None},
            {"of": "system", "cpi": 4, "scaled_cpi": 1.5, "busy": 37.5},
            {"of": "thread", "cpi": 1.5003}])
        self.assertEqual(hooks["system"]["figures"], [
            {"of": "system", "instr": 4000, "cycles": 16000, "cpi": 4,
             "scaled_cycles": 6000, "scaled_cpi": 1.5, "busy": 37.5}])

    def test_text(self):
        lines = self.run_fine("show", "--kind", "cpi", self.file(
            "hooks", c.third_example())).lines()
        self.assertIn("         0  group  size 496  minor 7  label "
                      "\"phase-03\"  elapsed_cycles 8000  num_cpus 3", lines)
        self.assertIn("        36      cpu  position 1  cpi n/a  "
                      "scaled_cpi n/a  busy 0", lines)

    def test_warnings_are_no_errors(self):
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
        path = self.file("hooks", c.group(5, [c.Counts(1, 2)], "S",
                                          text=b"a\x1b[31m\xff\n"))
        self.assertEqual(self.run_json("show", "--kind", "cpi", path)[0][
            "label"], "a\x1b[31m\ufffd\n")
        self.assertNotIn("\x1b", self.run_fine("show", "--kind", "cpi",
                                               path).out)


class Captures(Case):
    """CPIH chunks."""

    def test_groups(self):
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
        self.assertIn("4 chunks, 3 groups", text)

    def test_a_broken_chunk_hides_nothing(self):
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
