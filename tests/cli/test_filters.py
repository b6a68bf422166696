# SPDX-License-Identifier: MIT
"""--set, --counter and --instance: which of several sets are shown."""

import os
import unittest

from captures import (DISK, LARGE_RAW, MEMORY, NETWORK, data, metadata,
                      single_result, three_sets)
from program import ON_WINDOWS, Case, writer as w

ALL = {("Alpha Disk", name, counter): value for name, values in (
    ("sda", (10, 20)), ("sdb", (30, 40)), ("_Total", (40, 60)))
       for counter, value in zip((1, 2), values)}
ALL.update({("Alpha Memory", None, 1): 112, ("Alpha Memory", None, 7): 778,
            ("Beta Network", "eth0", 1): 5, ("Beta Network", "lo", 1): 7})


class Filters(Case):
    """Patterns over a capture of three sets."""

    def setUp(self):
        super().setUp()
        self.path = self.file("three.pfb", three_sets())

    def shown(self, *arguments):
        """The values by set, instance and counter."""
        items = self.run_json("live", "--source", self.path, *arguments)
        self.assertEqual({i["status"] for i in items}, {"ok"})
        found = {(i["set"], i["instance"], i["counter_id"]): i["value"]
                 for i in items}
        self.assertEqual(len(found), len(items))
        return found

    def refused(self, *arguments):
        """The sentence of a run that ends with status 2."""
        done = self.run_program("live", "--source", self.path, *arguments)
        self.assertEqual((done.status, done.out), (2, ""), arguments)
        self.assertEqual(done.err.count("\n"), 1)
        return done.err

    @staticmethod
    def those(choose):
        """The part of all values that `choose` takes."""
        return {key: value for key, value in ALL.items() if choose(*key)}

    def test_sets(self):
        self.assertEqual(self.shown("--set", "*"), ALL)
        for pattern in ("Alpha *", "alpha ?*", "A*A*", "alph* *"):
            self.assertEqual(
                self.shown("--set", pattern),
                self.those(lambda name, *_: name.startswith("Alpha")))
        self.assertEqual(self.shown("--set", "???? network"),
                         self.those(lambda name, *_: name[0] == "B"))
        both = self.those(lambda name, *_: name != "Alpha Disk")
        self.assertEqual(self.shown("--set", NETWORK, "--set", "*memory",
                                    "--set", "Beta*"), both)

    def test_each_set_once_and_a_guid_is_no_pattern(self):
        self.assertEqual(len(self.run_json(
            "live", "--source", self.path, "--set", "*", "--set", "*",
            "--set", DISK)), len(ALL))
        self.refused("--set", "3f1c0c4e-*")

    def test_counters(self):
        self.assertEqual(
            self.shown("--set", "*", "--counter", "read*"),
            self.those(lambda name, _, counter: counter == 1 and
                       name != "Alpha Memory"))
        self.assertEqual(self.shown("--set", "*", "--counter", "7"),
                         self.those(lambda _a, _b, counter: counter == 7))
        self.assertEqual(
            self.shown("--set", "*", "--counter", "*Bytes", "--counter",
                       "WRITE ?*"),
            self.those(lambda name, _, counter: name == "Alpha Memory" or
                       (name == "Alpha Disk" and counter == 2)))
        self.assertEqual(self.shown("--set", "*", "--counter", "*"), ALL)

    def test_instances(self):
        self.assertEqual(
            self.shown("--set", "*", "--instance", "sd?"),
            self.those(lambda _a, name, _b: name in ("sda", "sdb")))
        self.assertEqual(
            self.shown("--set", "*", "--instance", "_TOTAL"),
            self.those(lambda _a, name, _b: name == "_Total"))

    def test_a_set_without_instances(self):
        """Its only instance has no name: what matches nothing means it."""
        memory = self.those(lambda name, *_: name == "Alpha Memory")
        self.assertEqual(self.shown("--set", "Alpha Memory"), memory)
        for pattern in ("*", "**", ""):
            self.assertEqual(self.shown("--set", "Alpha Memory",
                                        "--instance", pattern), memory)
        for pattern in ("?", "_Total", "value"):
            self.assertIn("Alpha Memory", self.refused(
                "--set", "Alpha Memory", "--instance", pattern))
        table = self.run_fine("live", "--source", self.path, "--set",
                              "*memory").lines()
        self.assertTrue(table[0].startswith("Alpha Memory, sample 1, "))
        self.assertEqual([line.split() for line in table[1:]], [
            ["value"], ["Free", "Bytes", "112"], ["Used", "Bytes", "778"],
            []])

    def test_a_set_named_in_full_must_have_it(self):
        """Of those a pattern finds the ones that have it count."""
        self.assertIn("Beta Network", self.refused(
            "--set", "*", "--set", "Beta Network", "--instance",
            "nothing"))
        self.assertIn("Beta Network", self.refused(
            "--set", "Alpha*", "--set", "Beta Network", "--counter", "7"))
        self.assertEqual(
            self.shown("--set", "Beta*", "--set", "Alpha*", "--counter", "7"),
            self.those(lambda _a, _b, counter: counter == 7))

    def test_nothing_is_left(self):
        self.assertIn("Gamma*", self.refused("--set", "Gamma*"))
        self.assertIn("gamma?", self.refused("--set", "*", "--counter",
                                             "gamma?"))
        self.assertIn("gamma", self.refused("--set", "*", "--instance",
                                            "gamma"))
        self.assertIn("sda", self.refused("--set", "*", "--instance", "sda",
                                          "--counter", "7"))

    def test_record_takes_the_same(self):
        path = self.file("copy.pfb", b"")
        self.run_fine("record", "-o", path, "--source", self.path, "--set",
                      "*")
        self.assertEqual(self.run_json("live", "--source", path, "--set",
                                       "*"),
                         self.run_json("live", "--source", self.path,
                                       "--set", "*"))


@unittest.skipIf(ON_WINDOWS, "no limits of resources there")
class Work(Case):
    """What is derived from query information is derived once, not for each
    sample. The limit is far above what the program needs, and far below what
    repeating it would need."""

    COUNT = 40000
    LIMIT = 12  # seconds of CPU time

    def test_many_queries_and_many_samples(self):
        import resource

        def limit():
            resource.setrlimit(resource.RLIMIT_CPU, (self.LIMIT, self.LIMIT))
        path = self.file("a.pfb", w.recording(
            metadata(MEMORY, "Alpha Memory", [(1, LARGE_RAW, "A")],
                     instance_type=0),
            w.chunk(b"QINF", b"".join(w.identifier(MEMORY, index=i)
                                      for i in range(self.COUNT))),
            *(data(number) for number in range(self.COUNT))))
        for arguments in (["live"], ["record", "-o",
                                     os.path.join(self.folder, "b.pfb")]):
            self.run_fine(*arguments, "--set", "*", "--source", path,
                          begin=limit)
        with open(path, "rb") as source, open(arguments[2], "rb") as copy:
            content = source.read()
            self.assertIn(content[content.index(b"QINF"):], copy.read())


class NotDisplayed(Case):
    """Counters that only serve others, as their registration says."""

    def test_tables_and_metrics(self):
        hidden = w.counter_info(2, LARGE_RAW, attributes=2)
        path = self.file("a.pfb", w.recording(
            w.registration_chunk(MEMORY, 1, w.counterset(
                MEMORY, [w.counter_info(1, LARGE_RAW), hidden],
                instance_type=0)),
            w.registration_chunk(MEMORY, 5, w.string_block(
                [(1, "Plain"), (2, "Clock")])),
            w.chunk(b"QINF", w.identifier(MEMORY)),
            data(0, single_result([1, 2], [3, 4])),
            data(1, single_result([1, 2], [5, 6]))))
        live = ["live", "--set", "*", "--source", path]
        self.assertEqual({i["counter"] for i in self.run_json(*live)},
                         {"Plain", "Clock"})
        for arguments in (live, ["cook", path],
                          live + ["--format", "prometheus"]):
            text = self.run_fine(*arguments).out.lower()
            self.assertIn("plain", text)
            self.assertNotIn("clock", text)
        for arguments in (["--counter", "Clock"], ["--counter", "2"],
                          ["--counter", "Clock", "--format", "prometheus"]):
            text = self.run_fine(*live, *arguments).out.lower()
            self.assertIn("clock", text)
            self.assertNotIn("plain", text)


class WithoutNames(Case):
    """What has no name is called by its GUID or its id."""

    def test_patterns(self):
        counters = [(10, LARGE_RAW, None), (11, LARGE_RAW, "Named"),
                    (20, LARGE_RAW, None)]
        path = self.file("a.pfb", w.recording(
            metadata(MEMORY, None, counters, instance_type=0),
            w.chunk(b"QINF", w.identifier(MEMORY)),
            data(0, single_result([10, 11, 20], [1, 2, 3])),
            data(1, single_result([10, 11, 20], [4, 5, 6]))))
        for arguments, expected in (
                (["--set", "*"], {10, 11, 20}),
                (["--set", MEMORY[:8] + "*"], {10, 11, 20}),
                (["--set", "*", "--counter", "1?"], {10}),
                (["--set", "*", "--counter", "*d"], {11})):
            items = self.run_json("live", "--source", path, *arguments)
            self.assertEqual({i["counter_id"] for i in items}, expected)


if __name__ == "__main__":
    unittest.main()
