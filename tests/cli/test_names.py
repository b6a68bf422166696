# SPDX-License-Identifier: MIT
"""V1 name tables as files, for --names, and in captures."""

import os
import unittest

import captures
import v1_blocks as v1
from v1_blocks import LITTLE, plain
from program import Case, writer as v2
from test_series import block


class Tables(Case):
    """show and check of name tables."""

    # The same table in each form that is read.
    FORMS = {
        "registry": v1.table((1, "1847"), (2, "System"), (4, "M\u00e9m")),
        "tabs": "1\t1847\n2\tSystem\n4\tM\u00e9m\n".encode(),
        "returns": "1\t1847\r\n2\tSystem\r\n4\tM\u00e9m".encode(),
        "lines": "1\n1847\n2\nSystem\n4\nM\u00e9m\n".encode(),
        "mark": "1\t1847\n2\tSystem\n4\tM\u00e9m\n".encode("utf-8-sig"),
        "wide": "\ufeff1\t1847\n2\tSystem\n4\tM\u00e9m\n".encode(
            "utf-16-le"),
    }

    def test_detected_only_if_unambiguous(self):
        """Short and unusual tables need --kind names."""
        for data in self.FORMS.values():
            self.assertEqual(self.run_json("check", "-", stdin=data)[0][
                "kind"], "names")
        for data in (v1.table((3, "Help on it")), b"2\tSystem\n", b"1\tx\n",
                     b"1\t7\n", b"\0\0", b"11\t22\n", b"1"):
            done = self.run_program("check", "--format", "json", "-",
                                    stdin=data)
            self.assertEqual(done.objects()[0]["kind"], "unknown", data)
            self.run_fine("check", "--kind", "names", "-", stdin=data)

    def test_malformed_tables(self):
        """A pair that is malformed is skipped with a note; --strict rejects
        it."""
        data = v1.table((2, "System"))[:-2] + v1.table(("x", "odd"),
                                                       (4, "Memory"))
        items = self.run_json("show", "--kind", "names", "-", stdin=data)
        self.assertEqual([i["name"] for i in items[:-1]],
                         ["System", "Memory"])
        self.assertEqual(items[-1]["tolerated"], ["bad_pair"])
        done = self.run_program("check", "--kind", "names", "--strict", "-",
                                stdin=data)
        self.assert_error(done, 1, "-", 18, "bad_pair")
        done = self.run_program("check", "--kind", "names", "-",
                                stdin=b"no table")
        self.assert_error(done, 1, "-", 0, "unknown_format")

    def test_cook_suggests_the_option_names(self):
        path = self.file("n.tsv", self.FORMS["tabs"])
        done = self.run_program("cook", path)
        self.assertEqual((done.status, done.out), (2, ""))
        self.assertIn("--names", done.err)


class NamesOption(Case):
    """--names, and the tables of captures."""

    TABLE = v1.table((1, "1847"), (2, "System"), (20, "Calls"), (20, "no"))

    def named(self, *arguments, stdin=b""):
        """The names of set and counter of the first value of cook."""
        item = self.run_json("cook", *arguments, stdin=stdin)[0]
        return item["set"], item["counter"]

    def test_show_and_cook(self):
        """--names gives names to objects and counters of bare V1 blocks."""
        block = self.file("a.bin", LITTLE.block(plain(LITTLE, 1)))
        table = self.file("n", self.TABLE)
        self.assertEqual(self.named(block), (None, None))
        self.assertEqual(self.named("--names", table, block),
                         ("System", "Calls"))
        items = self.run_json("show", "--names", table, block)
        self.assertEqual([i["name"] for i in items[1:3]],
                         ["System", "Calls"])
        items = self.run_json("show", block)
        self.assertEqual([i["name"] for i in items[1:3]], [None, None])
        text = self.run_fine("cook", "--names", table, block).out
        self.assertIn("System, sample 0", text)
        self.assertIn("Calls", text)
        self.assertIn("Object 2, sample 0", self.run_fine("cook", block).out)

    def test_captures(self):
        """Of several tables the later one has precedence, and --names over all
        of them."""
        block = v2.chunk(b"V1DT", LITTLE.block(plain(LITTLE, 1)))
        first = v2.chunk(b"NAME", bytes(4) + self.TABLE)
        second = v2.chunk(b"NAME", b"\7\4\0\0" + b"20\tAufrufe\n")
        self.assertEqual(self.named("-", stdin=v2.recording(first, block)),
                         ("System", "Calls"))
        both = v2.recording(first, second, block)
        self.assertEqual(self.named("-", stdin=both), ("System", "Aufrufe"))
        table = self.file("n", b"20\tAppels\n")
        self.assertEqual(self.named("--names", table, "-", stdin=both),
                         ("System", "Appels"))
        items = self.run_json("show", "--names", table, "-", stdin=both)
        self.assertEqual((items[-3]["name"], items[-2]["name"]),
                         ("System", "Appels"))
        items = self.run_json("show", "-", stdin=both)
        self.assertEqual([i["record"] for i in items], [
            "chunk", "chunk", "name", "name", "name", "name", "chunk",
            "name", "chunk", "data", "object", "counter", "value"])
        self.assertEqual((items[-3]["name"], items[-2]["name"]),
                         ("System", "Aufrufe"))
        self.assertEqual(self.run_json("check", "-", stdin=both)[0][
            "unread_chunks"], 0)

    def test_tables_after_their_blocks(self):
        """The names of a file apply to all its blocks. Those of a pipe apply
        to the blocks that follow; a message says so if the table with a chosen
        name follows its blocks. A stream also notes that names came too late,
        whatever is chosen."""
        table = v2.chunk(b"NAME", bytes(4) + v1.table(
            (2, "System"), (20, "Calls/sec")))
        blocks = [v2.chunk(b"V1DT", block(n, 2, 4)) for n in (1, 2, 3, 4)]
        late = v2.recording(*blocks, table)
        path = self.file("late", late)
        out = os.path.join(self.folder, "out.pfb")
        for words in (["cook", "-f", "json"], ["convert", "-o", out],
                      ["report"],
                      ["countersets", "-f", "json", "--source"]):
            option = [] if words[0] == "countersets" else ["--set"]
            for name, says in (("System", "follows their V1 blocks"),
                               ("Sistem", "did you mean System?")):
                for source, stdin in ((path, b""), ("-", late)):
                    done = self.run_program(*words, source, *option, name,
                                            stdin=stdin)
                    is_fine = name == "System" and source == path
                    self.assertEqual(done.status, 0 if is_fine else 2)
                    self.assertIn(says if source == "-" or not is_fine else
                                  "", done.err, words)
                    is_late = source == "-"
                    self.assertEqual("read only once: name a file, or give "
                                     "them with --names" in done.err, is_late)
                    self.assertTrue(is_fine or done.err.count("\n") ==
                                    1 + is_late)
                    self.assertEqual(os.path.exists(out), is_fine and
                                     words[0] == "convert")
                    if os.path.exists(out):
                        os.remove(out)
        for chosen in (["--set", "System"], ["--counter", "Calls/sec"],
                       ["--path", r"\System\Calls*"]):
            done = self.run_program("cook", "-f", "json", "-", *chosen,
                                    stdin=v2.recording(*blocks[:2], table,
                                                       *blocks[2:]))
            self.assertEqual(done.status, 0)
            self.assertEqual({i["sample"] for i in done.objects()}, {2, 3})
            self.assertIn("note: earlier samples are left out", done.err)
            for early in (v2.recording(table, *blocks),
                          v2.recording(table, *blocks, table)):
                self.run_fine("cook", "-", *chosen, stdin=early)

    def test_tables_after_blocks_that_have_names(self):
        """Names that follow their blocks in a pipe are noted only if the
        blocks lack them."""
        early, late, other = [
            v2.chunk(b"NAME", bytes(4) + v1.table(*rows)) for rows in (
                ((2, "System"), (20, "Calls/sec")),
                ((2, "Syst\u00e8me"), (20, "Appels")), ((7777, "Unused"),))]
        data = b"".join(v2.chunk(b"V1DT", block(n, 2)) for n in (1, 2))
        given = self.file("names", b"2\tSystem\n20\tCalls/sec\n")
        part = self.file("part", b"2\tSystem\n")
        for chunks, names, is_noted in (
                ((data, late), (), True), ((early, data, late), (), False),
                ((data, other), (), False), ((data, late, late), (), True),
                ((data, late), ("--names", given), False),
                ((data, late), ("--names", part), True)):
            done = self.run_program("cook", *names, "-",
                                    stdin=v2.recording(*chunks))
            self.assertEqual((done.status, done.err.count("\n"), "note: names"
                              in done.err), (0, is_noted, is_noted), names)

    def test_tables_that_cannot_be_read(self):
        """A table that cannot be read is reported; the data is printed without
        names."""
        block = self.file("a.bin", LITTLE.block(plain(LITTLE, 1)))
        missing = os.path.join(self.folder, "missing")
        done = self.run_program("show", "--names", missing, block)
        self.assertEqual(done.status, 3)
        self.assertIn(missing + ": ", done.err)
        self.assertIn("raw 1", done.out)
        bad = self.file("bad", b"what is this")
        done = self.run_program("cook", "--format", "json", "--names", bad,
                                block)
        self.assert_error(done, 1, bad, 0, "unknown_format")
        self.assertEqual(done.objects()[0]["raw"], 1)
        recording = captures.three_sets()
        replies = self.file("r.pfb", recording)
        for command in (
                ["show", replies], ["cook", replies], ["report", replies],
                ["show", "-f", "html", replies], ["countersets", "--source", replies],
                ["countersets", "--source", block, "--source", block],
                ["convert", replies, "-o", replies + ".copy.pfb"]):
            done = self.run_program(*command, "--names", missing)
            self.assertEqual(done.status, 3, command)
            self.assertEqual(done.err.count(missing + ": "), 1, command)
            done = self.run_program(*command, "--names", bad, *(
                ["--force"] if "-o" in command else []))
            self.assert_error(done, 1, bad, 0, "unknown_format")
        capture = self.file("c.pfb", v2.recording(v2.chunk(
            b"NAME", bytes(4) + b"what is this"), v2.chunk(
                b"V1DT", LITTLE.block(plain(LITTLE, 1)))))
        for command in ("show", "check", "cook"):
            done = self.run_program(command, capture)
            self.assert_error(done, 1, capture, 16 + 16 + 4,
                              "unknown_format")


if __name__ == "__main__":
    unittest.main()
