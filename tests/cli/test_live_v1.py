# SPDX-License-Identifier: MIT
"""live, record and countersets of V1 data, and of another machine.

They run the program linked with machine.c, whose live source returns data from
a capture.
"""

import os
import struct
import unittest

import captures
import v1_blocks as v1
from expositions import read_exposition
from program import (IMPOSSIBLE, ON_WINDOWS, Case, bytes_of, seed,
                     writer as w)

SYSTEM, PROCESSOR, THREAD, COSTLY = 2, 238, 232, 1500  # title indexes
NAMES = v1.table((1, "1900"), (2, "System"), (6, "% Processor Time"),
                 (10, "File Ops/sec"), (232, "Thread"), (238, "Processor"),
                 (1500, "Thread Details"), (1502, "Count"))
PATHS = ["--path", "\\Processor(*)\\% Processor Time"]


def block(number, titles=(SYSTEM, PROCESSOR, THREAD, COSTLY), **header):
    """A V1 block of second `number` with these objects: 5 file operations per
    second, two processors with processor times of 10 % and 20 %."""
    wr = v1.LITTLE
    objects = {
        SYSTEM: wr.object(SYSTEM, [v1.counter(10, v1.COUNTER, 4, 4)],
                          wr.values((4, 4, 5 * number)),
                          instances=v1.NO_INSTANCES),
        PROCESSOR: wr.object(
            PROCESSOR, [v1.counter(6, v1.TIMER, 8, 8)],
            *[wr.instance(name, wr.values((8, 8, share * 10**6 * number)))
              for name, share in (("0", 1), ("1", 2))]),
        THREAD: wr.object(THREAD, [v1.counter(1502, v1.RAW, 4, 4)],
                          wr.instance("a", wr.values((4, 4, 3)))),
        COSTLY: wr.object(COSTLY, [v1.counter(1502, v1.RAW, 4, 4)],
                          wr.instance("a", wr.values((4, 4, 8))))}
    return wr.block(*(objects[title] for title in titles), moment=number,
                    **header)


def machine(count=12, **options):
    """A capture with a name table and `count` blocks, one per second."""
    return w.recording(w.chunk(b"NAME", struct.pack("<I", 9) + NAMES), *(
        w.chunk(b"V1DT", block(n + 1, **options)) for n in range(count)))


def processors():
    """A capture of the counterset Processor Information."""
    return bytes_of(seed("capture", "valid_processor_information.pfb"))


class V1Case(Case):
    """A test that runs the program with the simulated machine of machine.c."""

    def setUp(self):
        super().setUp()
        self.use(machine())

    def use(self, data, **settings):
        """Makes the simulated machine return the data of this capture. The
        settings without_list and without_v1 remove features from it."""
        for name in ("WITHOUT_LIST", "WITHOUT_V1"):
            os.environ.pop("PERFBLOCK_MACHINE_" + name, None)
        for name in settings:
            os.environ["PERFBLOCK_MACHINE_" + name.upper()] = "1"
        self.machine = self.file("machine.pfb", data)

    def run_own(self, *arguments):
        """Runs the program with the simulated machine."""
        return self.run_program(*arguments, machine=self.machine)

    def own_objects(self, *arguments):
        """The JSON objects of a run without errors."""
        done = self.run_own(*arguments, "--format", "json")
        self.assertEqual((done.status, done.err), (0, ""), arguments)
        return done.objects()

    def shown(self, *arguments):
        """The values that live prints for one sample."""
        return self.live(self.machine, *arguments)


class Live(V1Case):
    """live with V1 data."""

    def test_values(self):
        """V1 data is used if there is no V2 data, with names from the name
        table."""
        for option in ([], ["--v1"]):
            rows = self.shown(*PATHS, *option)
            self.assertEqual(
                [(r["sample"], r["set"], r["object"], r["instance"],
                  r["counter"], r["counter_id"], r["value"], r["unit"],
                  r["machine"], r["guid"]) for r in rows],
                [(1, "Processor", 238, name, "% Processor Time", 6, value, "%",
                  "\\\\HOST", None) for name, value in (("0", 10), ("1", 20))])

    def test_parts(self):
        """--set and --counter take names, patterns and title indexes of V1
        objects."""
        rows = self.shown("--set", "system", "--set", "Proc*", "--counter",
                         "*o*", "--set", "1500")
        self.assertEqual([(r["set"], r["counter"], r["value"]) for r in rows],
                         [("System", "File Ops/sec", 5),
                          ("Processor", "% Processor Time", 10),
                          ("Processor", "% Processor Time", 20),
                          ("Thread Details", "Count", 8)])

    def test_costly_objects_must_be_named(self):
        """A costly object is queried only if it is named; "*" does not select
        it."""
        rows = self.shown("--set", "Thread Details")
        self.assertEqual([r["value"] for r in rows], [8])
        self.assertEqual({r["set"] for r in self.shown("--set", "*")},
                         {"System", "Processor", "Thread"})

    def test_unknown_names(self):
        """A name that nothing has is refused, with a suggestion if one is
        similar."""
        for arguments, named in ((["--set", "Procesor"], "Procesor"),
                                 (["--set", "System", "--counter", "Ops"],
                                  "Ops"),
                                 (["--set", "Processor", "--instance", "7"],
                                  "7")):
            done = self.run_own("live", "--v1", *arguments)
            self.assertEqual((done.status, done.out), (2, ""), done.err)
            self.assertRegex(done.err, r"^live: .*%s.*\n$" % named)
        done = self.run_own("live", "--v1", "--set", "Procesor")
        self.assertIn("did you mean Processor?", done.err)

    def test_formats(self):
        """Tables and metrics show V1 values."""
        done = self.run_own("live", "--count", "1", "--interval", "0.01",
                            "--set", "Processor", "--utc")
        self.assertEqual((done.status, done.err), (0, ""))
        self.assertRegex(done.out, r"\n1 +20.00\n")
        done = self.run_own("live", "--interval", "0.01", "--format",
                            "prometheus", "--set", "Processor")
        self.assertEqual((done.status, done.err), (0, ""))
        [(name, (_, _, points))] = read_exposition(done.out).items()
        self.assertEqual(name,
                         "perfblock_processor_processor_time_seconds_total")
        self.assertEqual(points, {(("instance", str(n)),): share * points[
            (("instance", "0"),)] for n, share in ((0, 1), (1, 2))})
        self.assertGreater(min(points.values()), 0)

    def test_v2_has_precedence(self):
        """V2 data is used if there is any, V1 data with --v1."""
        capture = machine() + captures.three_sets()
        self.use(capture)
        rows = self.shown("--set", "Alpha Memory")
        self.assertEqual({r["object"] for r in rows}, {None})
        self.use(capture)
        rows = self.shown("--v1", *PATHS)
        self.assertEqual([r["value"] for r in rows], [10, 20])
        done = self.run_own("live", *PATHS)
        self.assertEqual(done.status, 2)

    def test_without_v1(self):
        """Without V1 data each command says what is missing, with status 4, and
        writes no file."""
        self.use(machine(), without_v1=True)
        for option, reason in (([], "no list of countersets"),
                               (["--v1"], "no V1 data")):
            for command in (["live"], ["countersets"],
                            ["record", "-o", self.folder + "/none.pfb"]):
                done = self.run_own(*command, *option, *(
                    ["--set", "Some"] if command != ["countersets"] else []))
                self.assertEqual((done.status, done.out), (IMPOSSIBLE, ""))
                self.assertIn(reason, done.err)
        self.assertFalse(os.path.exists(self.folder + "/none.pfb"))

    def test_a_broken_block(self):
        """A malformed block ends live. The error has its offset in the block.
        """
        good = machine(2)
        broken = bytearray(block(3))
        broken[104:108] = b"\xff" * 4  # the size of the first object
        self.use(good + w.chunk(b"V1DT", bytes(broken)))
        done = self.run_own("live", "--v1", "--interval", "0.01", "--set",
                            "2", "--format", "json", "--count", "1")
        self.assertEqual((done.status, done.errors()),
                         (1, [("live", 104, "bad_object_size")]))


class Record(V1Case):
    """record with V1 data."""

    def record(self, *arguments, status=0):
        """Records into a file and returns its path."""
        path = os.path.join(self.folder, "out.pfb")
        done = self.run_own("record", "-o", path, "--interval", "0.01",
                            *arguments)
        self.assertEqual(done.status, status, done.err)
        return path

    def test_blocks_and_names(self):
        """A recording has the name table, and blocks with the selected objects
        only."""
        path = self.record("--set", "Processor", "--count", "3")
        chunks = [r for r in self.run_json("show", path)
                  if r["record"] == "chunk"]
        self.assertEqual([r["tag"] for r in chunks],
                         ["PFBC", "NOTE", "NAME"] + 3 * ["V1DT"])
        self.assertEqual(chunks[2]["language"], 9)
        data = bytes_of(path)
        for number in (3, 4, 5):  # blocks 1 and 2 answered earlier queries
            self.assertIn(block(number, titles=[PROCESSOR]), data)
        rows = self.run_json("cook", path)
        self.assertEqual({r["set"] for r in rows}, {"Processor"})
        self.assertEqual([r["value"] for r in rows if r["sample"] == 2],
                         [10, 20])

    def test_each_rotated_file_has_the_names(self):
        """Each of the rotated files can be read alone."""
        for filters, expected in (
                (["--set", "2"], ("System", None)),
                (["--set", "Processor", "--instance", "0"],
                 ("Processor", "0"))):
            path = self.record(*filters, "--count", "4", "--rotate", "1K")
            self.assertTrue(os.path.exists(path + ".1"))
            for name in os.listdir(self.folder):
                if not name.startswith("out.pfb"):
                    continue
                file = os.path.join(self.folder, name)
                done = self.run_program("cook", "--format", "json", file)
                self.assertEqual({(r["set"], r["instance"])
                                  for r in done.objects()}, {expected})
                os.remove(file)

    def test_only_selected_values_are_recorded(self):
        """The machine returns whole objects. What the filters exclude of them
        is not recorded."""
        for arguments, expected, absent in (
                (["--set", "Processor", "--instance", "1"],
                 ("Processor", "1", "% Processor Time", 20),
                 ["File", "System", "Thread", "Count"]),
                (["--set", "Processor", "--counter", "6", "--instance", "0"],
                 ("Processor", "0", "% Processor Time", 10),
                 ["File", "System", "Thread", "Count"]),
                (["\\System\\File Ops/sec"],
                 ("System", None, "File Ops/sec", 5),
                 ["Processor", "Thread", "Count"])):
            path = self.record(*arguments, "--count", "3")
            rows = self.run_json("cook", path)
            self.assertEqual([(r["set"], r["instance"], r["counter"],
                               r["value"]) for r in rows][1:], [expected] * 2)
            data = bytes_of(path)
            for name in absent:
                self.assertNotIn(name.encode("utf-16-le"), data)
            os.remove(path)

    def test_a_broken_block(self):
        """The objects before the error are recorded, and the error is
        reported."""
        broken = bytearray(block(3))
        second = broken.index(struct.pack("<III", 64, PROCESSOR, 0))
        broken[second - 8:second - 4] = b"\xff" * 4
        self.use(machine(2) + w.chunk(b"V1DT", bytes(broken)))
        path = os.path.join(self.folder, "out.pfb")
        done = self.run_own("record", "-o", path, "--interval", "0.01",
                            "--count", "1", "--set", "System", "--counter",
                            "10")
        self.assertEqual((done.status, done.errors()), (
            1, [("live", second - 8, "bad_object_size")]))
        self.assertEqual([(r["set"], r["raw"]) for r in self.run_program(
            "cook", "--format", "json", path).objects()], [("System", 15)])

    def test_strict(self):
        """--strict reports the samples that it rejects. Their chosen values
        are recorded nevertheless."""
        self.use(machine(2) + b"".join(
            w.chunk(b"V1DT", block(n, name_offset=10**6)) for n in (3, 4)))
        path = os.path.join(self.folder, "out.pfb")
        for chosen in (["--set", "System"],
                       ["--set", "System", "--counter", "10"]):
            done = self.run_own("record", "-o", path, "--interval", "0.01",
                                "--count", "2", "--strict", "--force", *chosen)
            self.assertEqual(done.status, 1, done.err)
            self.assertEqual({error[2] for error in done.errors()},
                             {"bad_name"})
            self.assertEqual([r["raw"] for r in self.run_json("cook", path)],
                             [15, 20])

    def test_a_guid_of_the_catalog(self):
        """The GUID of a counterset in the catalog selects the V1 object with
        its name."""
        names = NAMES.replace("Processor\0".encode("utf-16-le"),
                              "Processor Information\0".encode("utf-16-le"))
        self.use(w.recording(
            w.chunk(b"NAME", struct.pack("<I", 9) + names),
            *(w.chunk(b"V1DT", block(n + 1)) for n in range(12))))
        path = self.record("--set", captures.PROCESSOR, "--instance", "1",
                           "--count", "2")
        self.assertEqual([r["value"] for r in self.run_json("cook", path)
                          if r["sample"] == 1], [20])

    def test_values_of_other_instances(self):
        """The values of other instances are not in the file."""
        path = self.record("--set", "Processor", "--instance", "0", "--count",
                           "2")
        data = bytes_of(path)
        for second in (3, 4):  # the values of 1 are twice those of 0
            self.assertIn(struct.pack("<Q", 10**6 * second), data)
            self.assertNotIn(struct.pack("<Q", 2 * 10**6 * second), data)

    def test_a_file_with_v1_data(self):
        """convert copies the V1 and V2 data of a file."""
        out = os.path.join(self.folder, "out.pfb")
        arguments = ["convert", "-o", out]
        path = self.file("v1.pfb", machine(3))
        choice = ["--set", "Processor"]
        done = self.run_own(*arguments, path, *choice)
        self.assertEqual((done.status, done.out, done.err), (0, "", ""))
        self.assertEqual(self.run_json("cook", out),
                         self.run_json("cook", path, *choice))
        os.remove(out)
        both = self.file("both.pfb", machine(3) + captures.three_sets())
        done = self.run_own(*arguments, both, "--set", "Alpha Disk", *choice)
        self.assertEqual((done.status, done.out, done.err), (0, "", ""))
        self.assertEqual({value["set"] for value in self.run_json("cook", out)},
                         {"Alpha Disk", "Processor"})


class Countersets(V1Case):
    """countersets with V1 data."""

    def test_objects(self):
        """The objects of the machine, except costly ones, are listed with their
        counters, with and without --v1."""
        rows = self.own_objects("countersets")
        self.assertEqual(
            [(r["record"], r["object"], r.get("id"), r["name"]) for r in rows],
            [("object", 2, None, "System"),
             ("counter", 2, 10, "File Ops/sec"),
             ("object", 238, None, "Processor"),
             ("counter", 238, 6, "% Processor Time"),
             ("object", 232, None, "Thread"), ("counter", 232, 1502, "Count")])
        self.assertEqual(self.own_objects("countersets", "--v1"), rows)


class Machines(V1Case):
    """--machine."""

    def test_other(self):
        """live and countersets read another machine."""
        self.assertEqual(len(self.shown("--machine", "other", *PATHS)), 2)
        self.assertEqual(len(self.own_objects("countersets", "--machine",
                                              "other")), 6)

    def test_the_machine_name_is_used_for_v2(self):
        """Values of another machine have its name, those of this machine none.
        """
        self.use(captures.three_sets())
        for option, name in (([], None), (["--machine", "other"],
                                          "\\\\other")):
            rows = self.shown("--set", "Alpha Memory", *option)
            self.assertEqual({r["machine"] for r in rows}, {name})

    def test_paths_with_a_machine(self):
        """A path may name the machine of --machine, and no other one."""
        self.use(captures.three_sets())
        for name, is_fine in (("other", True), ("OTHER", True), ("*", True),
                              ("third", False)):
            done = self.run_own("live", "--machine", "other", "-i", "0.01",
                                "-n", "1", "\\\\%s\\Alpha Memory\\*" % name)
            self.assertEqual(done.status, 0 if is_fine else 2, done.err)
            self.assertEqual("Alpha Memory" in done.out, is_fine)

    def test_unknown_machine(self):
        """A machine that does not exist is refused."""
        done = self.run_own("live", "--machine", "a b")
        self.assertEqual((done.status, done.out), (2, ""))

    @unittest.skipIf(ON_WINDOWS, "Windows can read other machines")
    def test_other_systems(self):
        """On other systems than Windows --machine and --v1 are refused;
        for --machine the message names an alternative."""
        for command in (["live"], ["countersets"], ["record", "-o", "x"]):
            done = self.run_program(*command, "--machine", "other")
            self.assertEqual((done.status, done.out), (IMPOSSIBLE, ""))
            self.assertIn("examples/remote_v1.py", done.err)
            done = self.run_program(*command, "--v1")
            self.assertEqual((done.status, done.out), (IMPOSSIBLE, ""))
            self.assertRegex(done.err, "^live: .*V1 data\n$")

    def test_usage(self):
        """--machine and --v1 are refused together with a file."""
        path = self.file("x.pfb", machine())
        for command in (["cook", path], ["report", path],
                        ["countersets", "--source", path]):
            for option in (["--machine", "x"], ["--v1"]):
                done = self.run_program(*command, *option)
                self.assertEqual((done.status, done.out), (2, ""), done.err)


class Catalog(V1Case):
    """A machine that cannot enumerate its countersets: only those in the
    program's catalog can be selected."""

    def test_known(self):
        """A set of the catalog is selected by GUID or name."""
        self.use(processors(), without_list=True, without_v1=True)
        for name in (captures.PROCESSOR, "Processor Information"):
            rows = self.shown("--set", name, "--counter", "% Processor Time")
            self.assertTrue(rows)
            self.assertEqual({(r["set"], r["counter"], r["type"])
                              for r in rows},
                             {("Processor Information", "% Processor Time",
                               "PERF_100NSEC_TIMER_INV")})

    def test_unknown(self):
        """A set that is not in the catalog is refused: there is no list of
        countersets."""
        self.use(processors(), without_list=True, without_v1=True)
        done = self.run_own("live", "--set", "Alpha Disk")
        self.assertEqual((done.status, done.out), (IMPOSSIBLE, ""))
        self.assertIn("no list of countersets", done.err)


if __name__ == "__main__":
    unittest.main()
