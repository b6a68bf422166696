# SPDX-License-Identifier: MIT
"""Counter paths: as arguments, with --path and in a file of --paths."""

import codecs
import csv
import io
import os
import random
import struct
import unittest

import v1_blocks
from captures import (BULK, DISK, LARGE_RAW, MEMORY, NETWORK, data,
                      instances_result, metadata, single_result, three_sets)
from program import Case, bytes_of, writer as w
import log_writer as log
from test_filters import ALL

READ_A = r"\Alpha Disk(sda)\Read Bytes/sec"
WRITE_B = r"\Alpha Disk(sdb)\Write Bytes/sec"
FREE = r"\Alpha Memory\Free Bytes"
# {path: keys in test_filters.ALL of the values that it selects}
VALUES = {READ_A: {("Alpha Disk", "sda", 1)},
          WRITE_B: {("Alpha Disk", "sdb", 2)},
          FREE: {("Alpha Memory", None, 1)},
          r"\alpha disk(SD?)\read*": {("Alpha Disk", "sda", 1),
                                      ("Alpha Disk", "sdb", 1)},
          r"\Alpha Disk\2": {("Alpha Disk", "sda", 2),
                             ("Alpha Disk", "sdb", 2),
                             ("Alpha Disk", "_Total", 2)},
          r"\*(lo)\*": {("Beta Network", "lo", 1)},
          r"\*(*)\*": set(ALL)}


def by_key(items):
    """The keys (set, instance, counter id) of the values of sample 1, which
    must be those of test_filters.ALL."""
    found = {(i["set"], i["instance"], i["counter_id"]): i["value"]
             for i in items if i["sample"] == 1 and i["status"] == "ok"}
    assert all(ALL[key] == value for key, value in found.items())
    return set(found)


class Paths(Case):
    """Paths as arguments of live, with the capture of three_sets()."""

    def setUp(self):
        super().setUp()
        self.path = self.file("three.pfb", three_sets())

    def shown(self, *arguments):
        """The keys of the values that live shows."""
        return by_key(self.live(self.path, *arguments))

    def refused(self, *arguments, status=2):
        """The message of live, which must be refused."""
        done = self.run_live(self.path, *arguments)
        self.assertEqual((done.status, done.out), (status, ""), done.err)
        self.assertEqual(done.err.count("\n"), 1, done.err)
        return done.err

    def test_path_as_input(self):
        """A path in the place of an input is a missing file; the message
        names the option for paths."""
        done = self.run_program("cook", r"\Processor(*)\*")
        self.assertEqual(done.status, 3)
        self.assertIn("; give counter paths with --path\n", done.err)

    def test_each_path(self):
        """A path selects the same values as an argument and with --path."""
        for path, keys in VALUES.items():
            self.assertEqual(self.shown(path), keys, path)
            self.assertEqual(self.shown("--path", path), keys, path)

    def test_several(self):
        """Paths and options add up to the selection."""
        keys = VALUES[READ_A] | VALUES[WRITE_B] | VALUES[FREE]
        self.assertEqual(self.shown(READ_A, WRITE_B, FREE), keys)
        self.assertEqual(self.shown("--path", WRITE_B, FREE, "--path",
                                    READ_A), keys)
        self.assertEqual(self.shown(READ_A, "--set", "Beta*", "--instance",
                                    "lo"),
                         VALUES[READ_A] | {("Beta Network", "lo", 1)})

    def test_a_file_of_paths(self):
        """A file has one path per line, with any line ends; several files add
        up."""
        keys = VALUES[READ_A] | VALUES[WRITE_B]
        for text in (READ_A + "\n" + WRITE_B,
                     "\ufeff" + READ_A + "\r\n\r\n" + WRITE_B + " \r\n"):
            file = self.file("paths.txt", text.encode())
            self.assertEqual(self.shown("--paths", file), keys)
        # What PowerShell and Notepad write.
        text = "\r\n".join((READ_A, "", WRITE_B + " ", ""))
        for mark, encoding in ((codecs.BOM_UTF8, "utf-8"),
                               (codecs.BOM_UTF16_LE, "utf-16-le"),
                               (codecs.BOM_UTF16_BE, "utf-16-be")):
            file = self.file("paths.txt", mark + text.encode(encoding))
            self.assertEqual(self.shown("--paths", file), keys, encoding)
        self.assertEqual(self.shown("--paths", file, FREE),
                         keys | VALUES[FREE])
        other = self.file("other.txt", FREE.encode())
        for files in ((file, other), (other, file)):
            self.assertEqual(self.shown("--paths", files[0], "--paths",
                                        files[1]), keys | VALUES[FREE])

    def test_files_that_are_refused(self):
        """A file is refused if it is missing, empty, in UTF-16 without a byte
        order mark, or has a NUL or lines that are not paths."""
        self.assertIn("missing", self.refused("--paths", os.path.join(
            self.folder, "missing"), status=3))
        for content, words in ((b"\n\n", "has no paths"),
                               (READ_A.encode("utf-16-le"), "UTF-8"),
                               ("\ufeff\0".encode("utf-16-le"), "UTF-16"),
                               (codecs.BOM_UTF16_LE, "has no paths"),
                               ("\ufeffNo\n".encode("utf-16-be"),
                                "No is not a path"),
                               (b"Alpha Disk\n", "Alpha Disk is not a path"),
                               (b"a" * 900, ": " + "a" * 500 + "... is not a path")):
            file = self.file("paths.txt", content)
            sentence = self.refused("--paths", file)
            self.assertTrue(sentence.startswith(file + ": "), sentence)
            self.assertIn(words, sentence)

    def test_paths_that_are_refused(self):
        """Malformed paths, other machines and superfluous options are refused.
        """
        for path in ("Alpha Disk", "\\", r"\Alpha Disk", r"\A(b)", ""):
            self.assertIn("is not a path", self.refused(path), path)
        self.assertIn("no counterset A(b", self.refused(r"\A(b\c"))
        self.assertIn("; quote paths in the shell", self.refused("Alpha*"))
        self.assertNotIn("quote", self.refused(r"\A"))
        self.assertIn("not known to be the machine host",
                      self.refused(r"\\host" + FREE))
        self.assertIn("--set", self.refused(FREE, "--instance", "sda"))
        self.assertIn("--set", self.refused(FREE, "--counter", "1"))

    def test_names_that_do_not_exist(self):
        """An unknown name in one of several paths is refused, with a
        suggestion."""
        self.assertIn("did you mean Alpha Memory?", self.refused(
            READ_A, r"\Alpha Memry\Free Bytes"))
        self.assertIn("did you mean Free Bytes?", self.refused(
            READ_A, r"\Alpha Memory\Fre Bytes"))
        self.assertIn("nothing", self.refused(
            READ_A, r"\Alpha Disk(nothing)\Read Bytes/sec"))


class Cooked(Case):
    """Paths and filters of cook."""

    def setUp(self):
        super().setUp()
        self.path = self.file("three.pfb", three_sets())

    def test_each_path(self):
        """A path selects its values in both samples."""
        for path, keys in VALUES.items():
            items = self.run_json("cook", self.path, "--path", path)
            self.assertEqual(by_key(items), keys, path)
            self.assertEqual(len(items), 2 * len(keys), path)

    def test_several(self):
        """Paths of the command line and of a file add up."""
        keys = VALUES[READ_A] | VALUES[WRITE_B] | VALUES[FREE]
        file = self.file("paths.txt", (READ_A + "\n" + FREE).encode())
        self.assertEqual(by_key(self.run_json(
            "cook", self.path, "--paths", file, "--path", WRITE_B)), keys)

    def test_options_select_the_same_as_with_live(self):
        for arguments in (["--set", "Alpha*"], ["--counter", "Read*"],
                          ["--instance", "?d?"], ["--set", NETWORK],
                          ["--set", "Beta Network", "--instance", "lo"],
                          ["--set", "*", "--counter", "1", "--counter",
                           "7"]):
            # Without --set, cook reads all sets and live only one.
            every = arguments if "--set" in arguments else [
                "--set", "*", *arguments]
            self.assertEqual(
                by_key(self.run_json("cook", self.path, *arguments)),
                by_key(self.live(self.path, *every)),
                arguments)

    def test_text_and_csv_have_only_the_selected_values(self):
        text = self.run_fine("cook", self.path, "--path", FREE).out
        self.assertIn("Free Bytes", text)
        csv = self.run_fine("cook", self.path, "--path", FREE, "-f",
                            "csv").lines()
        self.assertEqual(len(csv), 3)
        for name in ("Used Bytes", "Alpha Disk", "Beta"):
            self.assertNotIn(name, text + "".join(csv))

    def test_paths_that_match_nothing(self):
        """A selection without values is refused in one line."""
        for arguments in (["--set", "Alpha"], ["--counter", "Reads"],
                          ["--instance", "sdz"], ["--path", r"\A\b"]):
            done = self.run_program("cook", self.path, *arguments)
            self.assertEqual((done.status, done.out), (2, ""))
            self.assertEqual(done.err.count("\n"), 1, done.err)

    def test_nonzero(self):
        """--nonzero: tables omit instances whose values are all zero, and
        countersets without other instances."""
        path = self.file("zero.pfb", w.recording(
            metadata(DISK, "Alpha Disk", [(1, BULK, "Reads"),
                                          (2, BULK, "Writes")]),
            metadata(MEMORY, "Alpha Memory", [(1, LARGE_RAW, "Free")],
                     instance_type=0),
            w.chunk(b"QINF", w.identifier(DISK, name="*", index=0) +
                    w.identifier(MEMORY, index=1)),
            *(data(n, instances_result([1, 2], [
                (0, "sda", [5, 5]), (1, "sdb", [5, 5 + n]),
                (2, "sdc", [5 + n, 5 + n]), (3, "sdd", [0, 0])]),
                single_result([1], [0])) for n in range(2))))
        def cook(*arguments):
            return self.run_program("cook", path, *arguments)

        def live(*arguments):
            return self.run_live(path, "--set", "*", *arguments)
        for run in (cook, live):
            every = run().out
            some = run("--nonzero").lines()
            self.assertIn("sda", every)
            self.assertIn("Alpha Memory", every)
            self.assertEqual([line.split() for line in some[1:]], [
                ["Reads", "Writes"], ["sdb", "0.00", "1.00"],
                ["sdc", "1.00", "1.00"], []])
            refused = run("--nonzero", "-f", "csv")
            self.assertEqual((refused.status, refused.out), (2, ""))

    def test_v1(self):
        """Objects and counters by name, and by title index."""
        w1 = v1_blocks.LITTLE

        def rows(title, number, *names):
            return w1.object(title, v1_blocks.ONE_RAW, *(
                w1.instance(name, w1.values((4, 4, number + i)))
                for i, name in enumerate(names)))
        data = self.file("v1.bin", w1.block(
            rows(230, 10, "a", "b", "a"), rows(236, 20, "a"),
            v1_blocks.plain(w1, 30)))
        names = self.file("names.bin", v1_blocks.table(
            (2, "System"), (20, "Count"), (230, "Process"),
            (236, "Disk")))
        for arguments, expected in (
                (["--set", "Process"], [10, 11, 12]),
                (["--set", "236"], [20]),
                (["--path", r"\System\Count"], [30]),
                (["--path", r"\System\20"], [30]),
                (["--path", r"\Process(b)\*"], [11]),
                (["--path", r"\Process(a#1)\Count"], [12]),
                (["--path", r"\Process(b)\*", "--path", r"\2\*"], [11, 30]),
                (["--instance", "a"], [10, 12, 20])):
            items = self.run_json("cook", data, "--names", names, *arguments)
            self.assertEqual([i["raw"] for i in items], expected, arguments)
        self.assertEqual([i["raw"] for i in self.run_json(
            "cook", data, "--set", "230", "--counter", "20")], [10, 11, 12])


class Machines(Case):
    """Machine names in paths, and the key `path` of cook's records."""

    def setUp(self):
        super().setUp()
        self.v2 = self.file("three.pfb", three_sets())
        w1 = v1_blocks.LITTLE
        names = self.file("names.bin", v1_blocks.table(
            (2, "System"), (20, "Count"), (230, "Process"), (232, "Thread")))
        self.v1 = ["--names", names, self.file("v1.bin", b"".join(
            w1.block(w1.object(230, v1_blocks.ONE_RAW, w1.instance(
                "a", w1.values((4, 4, number)))), w1.object(
                    232, v1_blocks.ONE_RAW, *(w1.instance(
                        "b", w1.values((4, 4, number + i)), parent=(230, 0))
                        for i in (1, 2))), v1_blocks.plain(w1, number + 3),
                     **system)
            for system, number in (({"name": "PC"}, 10), ({"name": "pd"}, 20),
                                   ({"name": "", "name_offset": 0}, 30))))]
        entries = [log.path(0x00010000, 0, machine, "Memory", None, "Free")
                   for machine in ("\\\\PC", "\\\\PD", None)]
        self.log = [self.file("a.blg", log.log(*log.paths(*entries), *log.sample(
            *(log.counter(10 * n, n) for n in range(3)))))]

    def test_machines(self):
        """A value without a machine name is selected by the machine * and by
        paths without a machine."""
        for files, path, expected in (
                (self.v1, r"\\pc\System\*", [13]),
                (self.v1, r"\\P?\Process(*)\*", [10, 20]),
                (self.v1, r"\\*\Process(*)\*", [10, 20, 30]),
                (self.v1, r"\Process(*)\*", [10, 20, 30]),
                (self.v1, r"\\PC\Thread(a/B)\*", [11, 12]),
                (self.v1, r"\\PC\Thread(?/b#1)\*", [12]),
                (self.v1, r"\\PC\*(*)\*", [10, 11, 12, 13]),
                (self.log, r"\\pd\Memory\*", [10]),
                (self.log, r"\\P*\*\*", [0, 10]),
                (self.log, r"\\*\*\*", [0, 10, 20]),
                ([self.v2], r"\\*\Alpha Memory\Used Bytes", [777, 778])):
            items = self.run_json("cook", *files, "--path", path)
            self.assertEqual([i["raw"] for i in items], expected, path)
        for files in (self.v1, self.log, [self.v2]):
            done = self.run_program("cook", *files, "--path", r"\\other\*\*")
            self.assertEqual((done.status, done.out), (2, ""))
            self.assertIn("of these machines", done.err)
            self.assertEqual("V2 data" in done.err, files == [self.v2])

    def test_convert(self):
        """V2 replies name no machine, so nothing of them is chosen."""
        made = os.path.join(self.folder, "made.pfb")
        self.run_fine("convert", *self.v1, self.v2, "--path",
                      r"\\pc\System\*", "-o", made)
        self.assertEqual([i["raw"] for i in self.run_json("cook", made)], [13])

    def test_paths_of_the_output_select_their_values(self):
        """The path of a record, given to --path, selects the values with that
        path."""
        for files, count in ((self.v1, 12), (self.log, 3), ([self.v2], 10)):
            items = [i for i in self.run_json("cook", *files) if i["path"]]
            paths = {i["path"] for i in items}
            self.assertEqual(len(paths), count)
            for path in paths:
                # A path without a machine selects the values of all machines,
                # a path without a number all instances with the name.
                same = [i for i in items if i["path"].endswith(path) or
                        i["path"].replace("#1", "").endswith(path)]
                self.assertEqual(self.run_json("cook", *files, "--path",
                                               path), same, path)

    def test_unknown_names(self):
        """A value whose counter has no name has no path."""
        for i in self.run_json("cook", self.v1[2]):
            self.assertEqual((i["counter"], i["path"]), (None, None))


class AnyNames(Case):
    """A path that is printed selects its own values, whatever is in the names:
    parentheses that balance or not, backslashes, slashes and numbers; invisible
    characters, which CSV escapes; unpaired surrogates, which become U+FFFD; and
    spaces at the end."""

    PIECES = "ab()\\#/1 .,"
    INVISIBLE = ("\"", "\"\"", "\t", "\n", "\x07", "\u200b", "\ud800",
                 "\U0001f600", "\U000e0001", " ")
    LIKE_ESCAPES = ("u0007", "\\u0041", "U000E0001", "\\u000a", "u12", "Uu")

    def setUp(self):
        super().setUp()
        self.random = random.Random(20)

    def name(self, shortest=1, pieces=PIECES):
        """A name that is not a number."""
        while True:
            text = "".join(self.random.choice(pieces) for _ in range(
                self.random.randint(shortest, 8)))
            if not text.isdigit():
                return text

    def names(self, count, pieces=PIECES):
        """Names that differ."""
        found = set()
        while len(found) < count:
            found.add(self.name(pieces=pieces))
        return sorted(found)

    def check(self, file, expected, machine=None):
        """`expected`: {path: value}, which the names of the file make."""
        found = self.run_json("cook", file)
        self.assertEqual({i["path"]: i["value"] for i in found}, expected)
        for path, value in expected.items():
            items = self.run_json("cook", file, "--path", path)
            self.assertEqual([(i["path"], i["value"]) for i in items],
                             [(path, value)], path)
        for path in sorted(expected)[::5] if machine else ():
            items = self.live(machine, "--path", path)
            self.assertEqual({i["path"] for i in items}, {path})

    def test_v2(self):
        """Countersets with and without instances."""
        for _ in range(8):
            expected, chunks, results, blocks = {}, [], [], b""
            for guid, name in zip((DISK, MEMORY), self.names(2)):
                counters, rows = self.names(3), self.names(3)
                ids = [1, 2, 3]
                chunks.append(metadata(guid, name, [
                    (i, LARGE_RAW, counter) for i, counter in zip(
                        ids, counters)], 0 if guid == MEMORY else 2))
                values = [[100 * row + i for i in ids] for row in range(3)]
                if guid == MEMORY:
                    rows = [None]
                    results.append(single_result(ids, values[0]))
                    blocks += w.identifier(guid, index=1)
                else:
                    results.append(instances_result(ids, [
                        (i, row, numbers) for i, (row, numbers) in enumerate(
                            zip(rows, values))]))
                    blocks += w.identifier(guid, name="*", index=0)
                expected.update({
                    "\\" + name + ("" if row is None else f"({row})") + "\\" +
                    counter: values[n][k] for n, row in enumerate(rows)
                    for k, counter in enumerate(counters)})
            if len(expected) < 12:  # two values have the same path
                continue
            chunks.append(w.chunk(b"QINF", blocks))
            self.check(
                self.file("names.pfb", w.recording(
                    *chunks, data(0, *results))), expected,
                self.file("machine.pfb", w.recording(
                    *chunks, *(data(n, *results) for n in range(3)))))

    def test_v1(self):
        """Instances with parents."""
        made = v1_blocks.LITTLE
        parent, *names = self.names(5)
        titles = dict(enumerate(names, 100))
        rows = self.names(3)
        expected = {}
        parents = made.object(
            100, [v1_blocks.counter(101, v1_blocks.RAW, 4, 4)],
            made.instance(parent, made.values((4, 4, 1))))
        children = made.object(
            102, [v1_blocks.counter(103, v1_blocks.RAW, 4, 4)],
            *(made.instance(row, made.values((4, 4, 10 + n)), (100, 0))
              for n, row in enumerate(rows)))
        expected[f"\\\\M\\{titles[100]}({parent})\\{titles[101]}"] = 1
        for n, row in enumerate(rows):
            expected[f"\\\\M\\{titles[102]}({parent}/{row})\\"
                     f"{titles[103]}"] = 10 + n
        table = v1_blocks.table((1, "200"), *sorted(titles.items()))
        block = made.block(parents, children, name="M")
        self.check(self.file("names.pfb", w.recording(
            w.chunk(b"NAME", struct.pack("<I", 9) + table),
            w.chunk(b"V1DT", block))), expected)

    def test_text(self):
        """Headers of text logs, with paths that no PDH would accept."""
        paths = set()
        while len(paths) < 40:
            instance = f"({self.name(0)})" if self.random.random() < .6 else ""
            paths.add(self.random.choice(("", "\\\\h")) + "\\c" + self.name() +
                      instance + "\\" + self.name())
        expected = dict(zip(sorted(paths), range(40)))
        cells = ["(PDH-CSV 4.0) (UTC)(0)", *expected]
        row = ["01/01/2020 00:00:00.000", *map(str, expected.values())]
        text = "".join(",".join(f'"{cell}"' for cell in line) + "\r\n"
                       for line in (cells, row))
        self.check(self.file("names.csv", text.encode()), expected)


    def test_each_format(self):
        """Escapes of CSV, and of the headers of text logs if no name looks like
        one, and lines of a file of paths."""
        for more in ((), (), (), self.LIKE_ESCAPES, self.LIKE_ESCAPES):
            pieces = (*self.PIECES, *self.INVISIBLE, *more)
            ids, rows = [1, 2, 3], self.names(3, pieces)
            file = self.file("names.pfb", w.recording(
                metadata(DISK, self.name(pieces=pieces), [
                    (i, LARGE_RAW, counter) for i, counter in zip(
                        ids, self.names(3, pieces))]),
                w.chunk(b"QINF", w.identifier(DISK, name="*")),
                *(data(n, instances_result(ids, [
                    (i, row, [10 * i + k for k in ids])
                    for i, row in enumerate(rows)])) for n in range(3))))
            found = [(i["path"], i["value"]) for i in
                     self.run_json("cook", file) if i["sample"] == 0]
            text = self.run_fine("cook", file, "-f", "csv").out
            found += [(row["path"], float(row["value"])) for row in
                      csv.DictReader(io.StringIO(text, newline=""))
                      if row["sample"] == "0"]
            for form, separator in () if more else (("csv", ","),
                                                    ("tsv", "\t")):
                text = self.run_fine("cook", file, "-f", "pdh-" + form).out
                header, row = list(csv.reader(io.StringIO(
                    text, newline=""), delimiter=separator))[:2]
                found += list(zip(header[1:], map(float, row[1:])))
            for path, value in found:
                items = self.run_json("cook", file, "--path", path)
                self.assertIn(value, {i["value"] for i in items}, path)
            for path, value in found[::5]:
                self.assertIn(value, {i["value"] for i in self.live(
                    file, "--path", path)}, path)
                if "\n" not in path:
                    listed = self.file("paths.txt", (path + "\r\n").encode())
                    items = self.run_json("cook", file, "--paths", listed)
                    self.assertIn(value, {i["value"] for i in items}, path)


class Recorded(Case):
    """convert writes exactly what the paths select."""

    def record(self, *paths):
        """Converts these paths of three_sets(); returns the path of the file.
        """
        source = self.file("source.pfb", three_sets())
        path = os.path.join(self.folder, "out.pfb")
        if os.path.exists(path):
            os.remove(path)
        self.run_fine("convert", "-o", path, source, *(
            word for name in paths for word in ("--path", name)))
        self.run_fine("check", "--strict", path)
        return path

    def test_each_path(self):
        """A recording has the values that the path selects, and no others."""
        for path, keys in VALUES.items():
            self.assertEqual(by_key(self.run_json("cook", self.record(path))),
                             keys, path)

    def test_other_counters_of_other_instances(self):
        """If different counters are selected for two instances, each instance
        has only the values of its own. No other value and no other name is in
        the file."""
        path = self.record(READ_A, WRITE_B, FREE)
        items = self.run_json("cook", path)
        self.assertEqual(by_key(items), VALUES[READ_A] | VALUES[WRITE_B] |
                         VALUES[FREE])
        self.assertEqual({i["status"] for i in items if i["sample"] == 1 and (
            i["set"], i["instance"], i["counter_id"]) in (
                ("Alpha Disk", "sda", 2), ("Alpha Disk", "sdb", 1))},
                         {"missing_input"})
        content = bytes_of(path)
        for name in ("_Total", "eth0", "lo", "Used Bytes", "Beta Network",
                     "Read Packets/sec"):
            self.assertNotIn(name.encode("utf-16-le") + b"\0\0", content)
        for guid, is_present in ((DISK, True), (MEMORY, True),
                                 (NETWORK, False)):
            self.assertEqual(w.guid_bytes(guid) in content, is_present)
        values = {record["raw"] for record in self.run_json("show", path)
                  if record["record"] == "value"}
        self.assertEqual(values & {2000, 2020, 3000, 3030, 6000, 6060},
                         set())
        self.assertLessEqual({1000, 1010, 4000, 4040, 111, 112}, values)


if __name__ == "__main__":
    unittest.main()
