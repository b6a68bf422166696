# SPDX-License-Identifier: MIT
"""--set, --counter and --instance: what live shows and record writes of a
capture with several countersets."""

import os
import re
import unittest

import v1_blocks
from captures import (BULK, DISK, LARGE_RAW, MEMORY, NETWORK, data,
                      instances_result, metadata, single_result, three_sets)
from program import ON_WINDOWS, Case, bytes_of, seed, writer as w

# PERF_LARGE_RAW_FRACTION and PERF_LARGE_RAW_BASE.
FRACTION, FRACTION_BASE = 0x20020500, 0x40030500
# The displayed values of three_sets() by (set, instance, counter id).
ALL = {("Alpha Disk", name, counter): value for name, values in (
    ("sda", (10, 20)), ("sdb", (30, 40)), ("_Total", (40, 60)))
       for counter, value in zip((1, 2), values)}
ALL.update({("Alpha Memory", None, 1): 112, ("Alpha Memory", None, 7): 778,
            ("Beta Network", "eth0", 1): 5, ("Beta Network", "lo", 1): 7})


class Filters(Case):
    """Patterns of live, with the capture of three_sets()."""

    def setUp(self):
        super().setUp()
        self.path = self.file("three.pfb", three_sets())

    def shown(self, *arguments):
        """{(set, instance, counter id): value} of live."""
        items = self.live(self.path, *arguments)
        self.assertEqual({i["status"] for i in items}, {"ok"})
        found = {(i["set"], i["instance"], i["counter_id"]): i["value"]
                 for i in items}
        self.assertEqual(len(found), len(items))
        return found

    def refused(self, *arguments):
        """The message of a run that ends with status 2."""
        done = self.run_live(self.path, *arguments)
        self.assertEqual((done.status, done.out), (2, ""), arguments)
        self.assertEqual(done.err.count("\n"), 1)
        return done.err

    @staticmethod
    def selected(condition):
        """The values of ALL for whose keys the condition is true."""
        return {key: value for key, value in ALL.items() if condition(*key)}

    def test_sets(self):
        """Patterns match names of sets in any case; a GUID selects its set."""
        self.assertEqual(self.shown("--set", "*"), ALL)
        for pattern in ("Alpha *", "alpha ?*", "A*A*", "alph* *"):
            self.assertEqual(
                self.shown("--set", pattern),
                self.selected(lambda name, *_: name.startswith("Alpha")))
        self.assertEqual(self.shown("--set", "???? network"),
                         self.selected(lambda name, *_: name[0] == "B"))
        both = self.selected(lambda name, *_: name != "Alpha Disk")
        self.assertEqual(self.shown("--set", NETWORK, "--set", "*memory",
                                    "--set", "Beta*"), both)

    def test_each_set_is_selected_once_and_a_guid_is_not_a_pattern(self):
        self.assertEqual(len(self.live(
            self.path, "--set", "*", "--set", "*", "--set", DISK)), len(ALL))
        self.refused("--set", "3f1c0c4e-*")

    def test_counters(self):
        """Patterns match names of counters; a number is a counter id."""
        self.assertEqual(
            self.shown("--set", "*", "--counter", "read*"),
            self.selected(lambda name, _, counter: counter == 1 and
                          name != "Alpha Memory"))
        self.assertEqual(self.shown("--set", "*", "--counter", "7"),
                         self.selected(lambda _a, _b, counter: counter == 7))
        self.assertEqual(
            self.shown("--set", "*", "--counter", "*Bytes", "--counter",
                       "WRITE ?*"),
            self.selected(lambda name, _, counter: name == "Alpha Memory" or
                          (name == "Alpha Disk" and counter == 2)))
        self.assertEqual(self.shown("--set", "*", "--counter", "*"), ALL)

    def test_instances(self):
        """Patterns match names of instances; one that matches nothing is
        ignored if another matches."""
        self.assertEqual(
            self.shown("--set", "*", "--instance", "sd?"),
            self.selected(lambda _a, name, _b: name in ("sda", "sdb")))
        self.assertEqual(
            self.shown("--set", "*", "--instance", "_TOT*"),
            self.selected(lambda _a, name, _b: name == "_Total"))
        self.assertEqual(
            self.shown("--set", "*", "--instance", "sda", "--instance", "lo"),
            self.selected(lambda _a, name, _b: name in ("sda", "lo")))
        self.assertEqual(
            self.shown("--set", "*", "--instance", "no", "--instance", "lo"),
            self.selected(lambda _a, name, _b: name == "lo"))
        self.assertRegex(self.refused("--set", "*", "--instance", "no",
                                      "--instance", "no2"), " no2?\n$")

    def test_a_set_without_instances(self):
        """A set without instances has one instance with an empty name. A
        pattern selects it if it matches the empty name."""
        memory = self.selected(lambda name, *_: name == "Alpha Memory")
        self.assertEqual(self.shown("--set", "Alpha Memory"), memory)
        for pattern in ("*", "**", ""):
            self.assertEqual(self.shown("--set", "Alpha Memory",
                                        "--instance", pattern), memory)
        for pattern in ("?", "_Total", "value"):
            self.assertIn("Alpha Memory", self.refused(
                "--set", "Alpha Memory", "--instance", pattern))
        table = self.run_live(self.path, "--set", "*memory").lines()
        self.assertTrue(table[0].startswith("Alpha Memory, sample 1, "))
        self.assertEqual([line.split() for line in table[1:]], [
            ["value"], ["Free", "Bytes", "112", "B"],
            ["Used", "Bytes", "778", "B"], []])

    def test_a_set_given_by_name_must_have_the_counter(self):
        """A pattern selects only those sets that have the counter or instance;
        a set given by name must have it."""
        self.assertIn("Beta Network", self.refused(
            "--set", "Alpha Disk", "--set", "Beta Network", "--instance",
            "sda"))
        self.assertIn("Beta Network", self.refused(
            "--set", "Alpha*", "--set", "Beta Network", "--counter", "7"))
        self.assertEqual(
            self.shown("--set", "Beta*", "--set", "Alpha*", "--counter", "7"),
            self.selected(lambda _a, _b, counter: counter == 7))

    def test_filters_that_match_nothing(self):
        """A filter that selects nothing is refused, and named in the message.
        """
        self.assertIn("no counterset Processor Information, which is the "
                      "default", self.refused())
        self.assertIn("Gamma*", self.refused("--set", "Gamma*"))
        self.assertIn("gamma?", self.refused("--set", "*", "--counter",
                                             "gamma?"))
        self.assertIn("gamma", self.refused("--set", "*", "--instance",
                                            "gamma"))
        self.assertIn("sda", self.refused("--set", "*", "--instance", "sda",
                                          "--counter", "7"))


class Recorded(Case):
    """convert writes the values that the filters select, the bases and
    instances that these need, and no other values or names."""

    SETS = {"Alpha Disk": DISK, "Alpha Memory": MEMORY,
            "Beta Network": NETWORK}
    COUNTERS = {("Alpha Disk", 1): "Read Bytes/sec",
                ("Alpha Disk", 2): "Write Bytes/sec",
                ("Alpha Memory", 1): "Free Bytes",
                ("Alpha Memory", 7): "Used Bytes",
                ("Beta Network", 1): "Read Packets/sec"}
    INSTANCES = {"sda", "sdb", "_Total", "eth0", "lo"}

    def record(self, data, *arguments, status=0):
        """Converts the capture `data`; returns the path of the recording and
        the run."""
        source = self.file("source.pfb", data)
        path = os.path.join(self.folder, "out.pfb")
        if os.path.exists(path):
            os.remove(path)
        done = self.run_program("convert", "-o", path, source, *arguments)
        self.assertEqual(done.status, status, done.err)
        return path, done

    def cooked(self, path):
        """{(set, instance, counter id): value} of a recording."""
        return {(i["set"], i["instance"], i["counter_id"]): i["value"]
                for i in self.run_json("cook", path) if i["sample"] == 1}

    def assert_absent(self, path, names):
        """Asserts that none of the names occurs in the file, neither in UTF-16
        nor in UTF-8."""
        content = bytes_of(path)
        for name in names:
            self.assertNotIn(name.encode("utf-16-le") + b"\0\0", content,
                             name)
            self.assertNotIn(name.encode() + b"\0", content, name)

    def check(self, condition, *arguments):
        """Asserts that a recording with these filters has the values of ALL
        for whose keys the condition is true, and no names of others."""
        path, _ = self.record(three_sets(), *arguments)
        self.run_fine("check", "--strict", path)
        expected = {k: v for k, v in ALL.items() if condition(*k)}
        self.assertTrue(expected)
        self.assertEqual(self.cooked(path), expected)
        content = bytes_of(path)
        sets = {name for name, _, _ in expected}
        for name, guid in self.SETS.items():
            self.assertEqual(w.guid_bytes(guid) in content, name in sets)
        counters = {(name, counter) for name, _, counter in expected}
        self.assert_absent(path, set(self.SETS) - sets)
        self.assert_absent(path, set(self.COUNTERS.values()) - {
            self.COUNTERS[key] for key in counters})
        self.assert_absent(path, self.INSTANCES - {
            instance for _, instance, _ in expected})

    def test_sets(self):
        """--set records the selected sets and nothing of the others."""
        self.check(lambda *_: True, "--set", "*")
        for name in self.SETS:
            self.check(lambda set_name, *_, name=name: set_name == name,
                       "--set", name)

    def test_counters(self):
        """--counter records the selected counters and no names of others."""
        self.check(lambda _a, _b, counter: counter == 7, "--set", "*",
                   "--counter", "7")
        self.check(lambda name, _, counter: counter == 1 and
                   name != "Alpha Memory", "--set", "*", "--counter", "read*")

    def test_instances(self):
        """--instance records the selected instances and no names of others."""
        for name in ("sda", "_Total", "lo"):
            self.check(lambda _a, instance, _b, name=name: instance == name,
                       "--set", "*", "--instance", name)
        self.check(lambda _a, instance, _b: instance in ("sda", "sdb"),
                   "--set", "*", "--instance", "sdb", "--instance", "sda")

    def test_one_of_several_instances_with_the_same_name(self):
        """For "a#1", all instances called "a" are recorded, so that the second
        one can be found; others are not."""
        rows = [[(0, "a", [n]), (0, "a", [10 * n]), (1, "b", [100 * n])]
                for n in range(2)]
        path, _ = self.record(w.recording(
            metadata(DISK, "Alpha Disk", [(1, LARGE_RAW, "A")],
                     instances=["a", "a", "b"]),
            w.chunk(b"QINF", w.identifier(DISK, name="*")),
            *(data(n, instances_result([1], each))
              for n, each in enumerate(rows))),
            "--set", "*", "--instance", "A#1")
        self.assertEqual([i["value"] for i in self.run_json(
            "cook", path, "--instance", "a#1")], [0, 10])
        self.assertIn(w.instance(0, "a", w.v8(1)), bytes_of(path))
        self.assert_absent(path, ["b"])

    def test_all_filters_together(self):
        """A value is recorded if it is selected by each of the three options.
        """
        self.check(lambda name, instance, counter: instance == "sdb" and
                   counter == 2, "--set", "Alpha*", "--counter", "2",
                   "--instance", "SDB")

    def test_everything_is_copied_byte_for_byte(self):
        """Samples that are selected completely are copied unchanged."""
        path, _ = self.record(three_sets(), "--set", "*")
        content = bytes_of(path)
        source = three_sets()
        self.assertIn(source[source.index(b"QINF"):], content)

    def test_results_of_several_kinds(self):
        """Two queries of one counter each for all instances, queries for one
        instance by its name, and a query that fails."""
        def results(number):
            def one(rows):
                return w.result(w.INSTANCES, w.instance_block(*(
                    w.instance(i, name, w.v8(value))
                    for i, (name, value) in enumerate(rows))))
            return data(
                number,
                one([("sda", 10 * number), ("sdb", 20 * number)]),
                one([("sda", 30 * number), ("sdb", 40 * number)]),
                w.result(w.SINGLE, w.v8(50 * number)),
                single_result([1, 2], [60 * number, 70 * number]),
                w.result(w.ERROR, status=5))
        capture = w.recording(
            metadata(DISK, "Alpha Disk", [
                (1, BULK, "Read Bytes/sec"), (2, BULK, "Write Bytes/sec")],
                instances=["sda", "sdb", "sdc", "sdd"]),
            w.chunk(b"QINF",
                    w.identifier(DISK, counter=1, name="*", index=0) +
                    w.identifier(DISK, counter=2, name="*", index=1) +
                    w.identifier(DISK, counter=2, name="sdc", index=2) +
                    w.identifier(DISK, name="sdd", index=3) +
                    w.identifier(DISK, counter=1, name="sde", index=4)),
            results(0), results(1))
        rows = {("sda", 1): 10, ("sdb", 1): 20, ("sda", 2): 30,
                ("sdb", 2): 40, ("sdc", 2): 50, ("sdd", 1): 60,
                ("sdd", 2): 70}
        names = {"sda", "sdb", "sdc", "sdd"}
        for arguments, condition in (
                (["--counter", "1"], lambda _, counter: counter == 1),
                (["--counter", "2"], lambda _, counter: counter == 2),
                (["--instance", "sda"], lambda name, _: name == "sda"),
                (["--instance", "sdc"], lambda name, _: name == "sdc"),
                (["--instance", "sdd"], lambda name, _: name == "sdd"),
                (["--instance", "sdb", "--counter", "1"],
                 lambda name, counter: (name, counter) == ("sdb", 1))):
            path, _ = self.record(capture, "--set", "Alpha Disk", *arguments)
            self.run_fine("check", "--strict", path)
            found = {(i["instance"], i["counter_id"]): i["value"]
                     for i in self.run_json("cook", path)
                     if i.get("sample") == 1 and "value" in i}
            expected = {k: v for k, v in rows.items() if condition(*k)}
            self.assertEqual(found, expected, arguments)
            if "--instance" in arguments:
                self.assert_absent(path, names - {n for n, _ in expected} |
                                   {"sde"})

    def test_counters_of_a_formula(self):
        """The base of a selected counter is recorded although it is not
        selected."""
        capture = w.recording(
            metadata(MEMORY, "Alpha Memory", [
                (1, FRACTION, "Share", 2), (2, FRACTION_BASE, "Whole"),
                (3, LARGE_RAW, "Other")], instance_type=0),
            w.chunk(b"QINF", w.identifier(MEMORY)),
            data(0, single_result([1, 2, 3], [1, 4, 9])),
            data(1, single_result([1, 2, 3], [2, 4, 9])))
        path, _ = self.record(capture, "--set", "*", "--counter", "Share")
        items = {i["counter_id"]: i for i in self.run_json("cook", path)
                 if i["sample"] == 1}
        self.assertEqual(set(items), {1, 2})
        self.assertEqual((items[1]["value"], items[1]["base"]), (50, 4))
        self.assert_absent(path, ["Other"])

    def test_names_that_share_their_bytes(self):
        """Names of counters may share their bytes. A name is written once,
        even if several selected counters share it."""
        long, other = "A" * 500, "B" * 5000
        ids = range(120)
        start = 8 + 8 * len(ids)
        places = [(start, w.ANY, w.ANY, start + 2)[i % 4] for i in ids]
        places[1] = start + 2 * len(long) + 2
        strings = w.string_block([(0, long), (1, other)] + [
            (i, None) for i in ids[2:]], offsets=places)
        infos = [w.counter_info(i, LARGE_RAW) for i in ids]
        path, done = self.record(w.recording(
            w.registration_chunk(MEMORY, 1, w.counterset(
                MEMORY, infos, instance_type=0)),
            w.registration_chunk(MEMORY, 3, w.string("Alpha Memory")),
            w.registration_chunk(MEMORY, 5, strings),
            w.chunk(b"QINF", w.identifier(MEMORY)),
            data(0, single_result(ids, ids))), "--set", "*", "--counter",
            "*A*")
        self.assertEqual(done.err, "")
        self.run_fine("check", "--strict", path)
        names = {i["counter"]: i["text"] for i in self.run_json("show", path)
                 if i["record"] == "string" and i["counter"] is not None}
        self.assertEqual(names, {i: long if i % 4 == 0 else long[1:]
                                 for i in ids if i % 4 in (0, 3)})
        content = bytes_of(path)
        self.assertNotIn(other.encode("utf-16-le"), content)
        self.assertEqual(content.count(long.encode("utf-16-le")), 1)

    def test_a_counter_that_nothing_identifies(self):
        """If nothing says which counter a value belongs to, the value is not
        selected."""
        capture = w.recording(
            metadata(DISK, "Alpha Disk", [(1, LARGE_RAW, "A")],
                     instances=["sda"]),
            w.chunk(b"QINF", w.identifier(DISK, name="*")),
            *(data(n, w.result(w.INSTANCES, w.instance_block(
                w.instance(0, "sda", w.v8(7))))) for n in range(2)))
        path, _ = self.record(capture, "--set", "*", "--counter", "A",
                              status=2)
        self.assertFalse(os.path.exists(path))
        done = self.run_program("cook", "--counter", "A", "-f", "json",
                                os.path.join(self.folder, "source.pfb"))
        self.assertEqual(done.objects(), [])

    def test_results_without_a_query(self):
        """A result without a query is never selected, because its set is
        unknown."""
        secret = instances_result([1], [(0, "secret", [1])])
        chunks = [metadata(MEMORY, "Alpha Memory", [(1, LARGE_RAW, "A")],
                           instance_type=0),
                  w.chunk(b"QINF", w.identifier(MEMORY))]
        chunks += [data(n, single_result([1], [5 + n]), secret)
                   for n in range(2)]
        path, _ = self.record(w.recording(*chunks), "--set", "*")
        self.assert_absent(path, ["secret"])
        self.assertEqual(self.cooked(path), {("Alpha Memory", None, 1): 6})

    def test_bytes_after_a_reply_are_not_recorded(self):
        """Bytes between the end of a reply and the end of its chunk are left
        out."""
        chunks = [metadata(MEMORY, "Alpha Memory", [(1, LARGE_RAW, "A")],
                           instance_type=0),
                  w.chunk(b"QINF", w.identifier(MEMORY))]
        block = w.reply(single_result([1], [5]))
        chunks.append(w.chunk(b"DATA", block + w.string("secret")))
        path, _ = self.record(w.recording(*chunks), "--set", "Alpha*")
        self.assert_absent(path, ["secret"])

    def test_malformed_samples(self):
        """Results before the error are recorded, and nothing after it."""
        broken = instances_result([1], [(0, "secret", [1])])
        broken = broken[:-4] + b"\xff\xff\xff\xff"
        bad_size = w.result(w.SINGLE, w.datum(b"secret\0\0", data_size=99))
        for bad in (bad_size, broken[:8] + b"\xff\xff\xff\x7f" + broken[12:]):
            chunks = [
                metadata(MEMORY, "Alpha Memory", [(1, LARGE_RAW, "A")],
                         instance_type=0),
                w.chunk(b"QINF", w.identifier(MEMORY) + w.identifier(
                    MEMORY, counter=1, index=1)),
                data(0, single_result([1], [5]), bad)]
            path, done = self.record(w.recording(*chunks), "--set", "Alpha*",
                                     "--counter", "1", status=1)
            self.assertEqual(len(done.errors()), 1, done.err)
            self.assert_absent(path, ["secret"])
            self.run_fine("check", "--strict", path)
            self.assertEqual([i["raw"] for i in self.run_json("cook", path)],
                             [5])

    def test_samples_without_selected_values(self):
        """A sample without selected values is recorded too. Otherwise a rate
        would be computed across it."""
        chunks = [metadata(DISK, "Alpha Disk", [(1, BULK, "A")],
                           instances=["sda", "sdb"]),
                  metadata(MEMORY, "Alpha Memory", [(1, LARGE_RAW, "A")],
                           instance_type=0)]
        disk = w.chunk(b"QINF", w.identifier(DISK, name="*"))
        memory = w.chunk(b"QINF", w.identifier(MEMORY))
        rows = instances_result([1], [(0, "sda", [100])])
        other = single_result([1], [5])
        chunks += [memory, data(0, other), disk, data(1, rows), memory,
                   data(2, other), disk, data(3, rows), data(4, rows)]
        path, _ = self.record(w.recording(*chunks), "--set", "Alpha Disk")
        found = [i["status"] for i in self.run_json("cook", path)]
        self.assertEqual(found, ["need_two_samples", "need_two_samples",
                                 "ok"])
        self.assertEqual(
            [i["status"] for i in self.run_json(
                "cook", os.path.join(self.folder, "source.pfb"),
                "--set", "Alpha Disk")], found)


@unittest.skipIf(ON_WINDOWS, "Windows has no resource limits")
class Work(Case):
    """CPU time with many queries, samples and counters. The limit is far above
    what linear work takes, and far below what quadratic work would take."""

    COUNT = 40000
    LIMIT = 12  # seconds of CPU time

    def limit(self):
        """Limits the CPU time of the process that calls it."""
        import resource
        resource.setrlimit(resource.RLIMIT_CPU, (self.LIMIT, self.LIMIT))

    def test_many_queries_and_many_samples(self):
        """Query information is processed once, not for each sample."""
        path = self.file("a.pfb", w.recording(
            metadata(MEMORY, "Alpha Memory", [(1, LARGE_RAW, "A")],
                     instance_type=0),
            w.chunk(b"QINF", b"".join(w.identifier(MEMORY, index=i)
                                      for i in range(self.COUNT))),
            *(data(number) for number in range(self.COUNT)),
            data(self.COUNT, single_result([1], [1]))))
        out = os.path.join(self.folder, "b.pfb")
        self.run_fine("convert", "-o", out, "--set", "*", path,
                      begin=self.limit)
        content = bytes_of(path)
        self.assertIn(content[content.index(b"QINF"):], bytes_of(out))

    def test_a_long_name_that_counters_share(self):
        """A pattern is not compared with a long name for each counter: only
        "*" matches it."""
        ids, start = range(self.COUNT), 8 + 8 * self.COUNT
        strings = w.string_block([(0, "n" * 10**6)] + [
            (i, None) for i in ids[1:]], offsets=[start] * self.COUNT)
        path = self.file("a.pfb", w.recording(
            w.registration_chunk(MEMORY, 1, w.counterset(MEMORY, [
                w.counter_info(i, LARGE_RAW) for i in ids],
                instance_type=0)),
            w.registration_chunk(MEMORY, 3, w.string("Alpha Memory")),
            w.registration_chunk(MEMORY, 5, strings),
            w.chunk(b"QINF", w.identifier(MEMORY)),
            data(0, single_result(ids, ids))))
        copy = os.path.join(self.folder, "b.pfb")
        self.run_fine("convert", "--set", "*", "--counter", "*", path, "-o",
                      copy, begin=self.limit)
        self.assertGreaterEqual(os.path.getsize(copy),
                                os.path.getsize(path))
        done = self.run_program("convert", "--set", "*", "--counter", "*?n",
                                path, "-o", copy, begin=self.limit)
        self.assertEqual(done.status, 2, done.err)


class NotDisplayed(Case):
    """Counters with the attribute PERF_ATTRIB_NO_DISPLAYABLE (2): tables and
    metrics omit them unless they are named, such as with --counter."""

    def test_tables_and_metrics(self):
        """JSON has the counter; tables and metrics have it only if it is
        named."""
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
        self.assertEqual({i["counter"] for i in self.live(
            path, "--set", "*")}, {"Plain", "Clock"})
        for done in (self.run_fine("cook", path),
                     self.run_live(path, "--set", "*"),
                     self.run_live(path, "--set", "*", "-f", "prometheus")):
            self.assertIn("plain", done.out.lower())
            self.assertNotIn("clock", done.out.lower())
        for arguments in (["--counter", "Clock"], ["--counter", "2"],
                          ["--counter", "Clock", "--format", "prometheus"]):
            text = self.run_live(path, "--set", "*", *arguments).out.lower()
            self.assertIn("clock", text)
            self.assertNotIn("plain", text)


class WithoutNames(Case):
    """Patterns are compared with the GUID of a set without a name, and with
    the id of a counter without a name."""

    def test_patterns(self):
        """A pattern may match a GUID or an id only where there is no name."""
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
            items = self.live(path, *arguments)
            self.assertEqual({i["counter_id"] for i in items}, expected)


class Suggestions(Case):
    """The message about an unknown name suggests a similar one, if any."""

    def setUp(self):
        super().setUp()
        self.path = self.file("a.pfb", w.recording(
            metadata(MEMORY, "Memory Zones", [
                (1, LARGE_RAW, "Pages/sec"), (2, LARGE_RAW, "\u8a08\u6570")]),
            metadata(DISK, "Drive", [(1, LARGE_RAW, "% Idle Time"),
                                     (2, LARGE_RAW, "Reads" * 100)])))

    def refused(self, *arguments):
        """The name that the message suggests, or None."""
        done = self.run_live(self.path, *arguments)
        self.assertEqual((done.status, done.out), (2, ""))
        self.assertIn(" %s;" % arguments[-1], done.err)
        found = re.search(r"; did you mean (.+)\?\n$", done.err)
        if not found:
            self.assertIn("perfblock countersets lists them", done.err)
        return found and found[1]

    def test_sets(self):
        """The set with the most similar name is suggested, if one is similar
        enough."""
        for typed, suggested in (
                ("Memory", "Memory Zones"), ("memory", "Memory Zones"),
                ("Mmeory", "Memory Zones"), ("Memmory Zone", "Memory Zones"),
                ("Drives", "Drive"), ("Driv", "Drive"), ("Dri", None),
                ("Zones", None), ("Network", None), ("Drive Zones", None),
                ("x" * 10000, None)):
            self.assertEqual(self.refused("--set", typed), suggested, typed)

    def test_counters(self):
        """The counter with the most similar name is suggested, if one is
        similar enough."""
        for typed, suggested in (
                ("Pages", "Pages/sec"), ("page/sec", "Pages/sec"),
                ("% Idel Time", "% Idle Time"), ("Idle Time", "% Idle Time"),
                ("\u8a08\u6571", "\u8a08\u6570"), ("Writes", None),
                ("Reads" * 99, None)):
            self.assertEqual(self.refused(
                "--set", "*", "--counter", typed), suggested, typed)

    def test_cook(self):
        """cook makes the same suggestions if nothing in a file matches."""
        path = self.file("b.pfb", w.recording(
            metadata(DISK, "Drive", [(1, LARGE_RAW, "% Idle Time")]),
            w.chunk(b"QINF", w.identifier(DISK, name="*")),
            data(0, instances_result([1], [(0, "a", [5])]))))
        for arguments, sentence in (
                (["--set", "Drives"],
                 "no counterset Drives; did you mean Drive?"),
                (["--path", "\\Driv(*)\\*"],
                 "no counterset Driv; did you mean Drive?"),
                (["--set", "Drive", "--counter", "Idle Time"],
                 "no counter Idle Time; did you mean % Idle Time?"),
                (["--set", "Drive", "--instance", "b"],
                 "there are no such counters and instances")):
            done = self.run_program("cook", path, *arguments)
            self.assertEqual((done.status, done.out), (2, ""))
            self.assertIn(sentence, done.err)

    def test_blocks_and_logs(self):
        """cook also makes suggestions for V1 blocks and logs, convert for V1
        blocks."""
        little = v1_blocks.LITTLE
        block = self.file("v1.bin", little.block(v1_blocks.plain(
            little, 1, 4)))
        table = self.file("names", b"1\t1847\n4\tMemory\n10\tPages\n")
        other = ["--instance", "zz"]
        nothing = "there are no such counters and instances"
        for files, *rows in (
                ([block, "--names", table],
                 (["--set", "Memroy"], "no counterset Memroy; did you mean "
                  "Memory?"),
                 (["--set", "5"], "no counterset 5;"),
                 (["--set", "4", *other], nothing),
                 (["--set", "memory", *other], nothing)),
                ([seed("log", "valid_counters.blg")],
                 (["--set", "Procesor"],
                  "no counterset Procesor; did you mean Processor?"),
                 (["--path", r"\Memory\Page/sec"],
                  "no counter Page/sec; did you mean Pages/sec?"),
                 (["--set", "Processor", *other], nothing),
                 (["--path", r"\\X\Memory\Pages/sec"], nothing)),
                ([seed("log", "valid_objects.blg")],
                 (["--counter", "10", *other], nothing)),
                ([seed("pdh_text", "valid_csv.csv")],
                 (["--set", "Proces"],
                  "no counterset Proces; did you mean Process?"),
                 (["--counter", "IDs"],
                  "no counter IDs; did you mean ID?"),
                 (["--set", "Memory", *other], nothing))):
            for arguments, sentence in rows:
                done = self.run_program("cook", *files, *arguments)
                self.assertEqual((done.status, done.out), (2, ""))
                self.assertIn(sentence, done.err, arguments)
                if files[0] != block:
                    continue
                made = os.path.join(self.folder, "made.pfb")
                done = self.run_program("convert", *files, *arguments, "-o",
                                        made)
                self.assertEqual((done.status, done.out), (2, ""))
                self.assertIn(sentence.replace("there are", "the files have"),
                              done.err, arguments)
                self.assertFalse(os.path.exists(made))


if __name__ == "__main__":
    unittest.main()
