#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The registry's functions under Windows' names, as a program binds them that
knows nothing of perfblock: through ctypes, in the shared library. Blocks are
read by the second implementation in tests/oracle.

test_names.py LIBRARY [TEST...]
"""
import ctypes
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/oracle"))

import fixture_reader  # noqa: E402
import log_writer as w  # noqa: E402
import v1  # noqa: E402
import v1_cook  # noqa: E402
import v1_writer as v1w  # noqa: E402

LIBRARY = sys.argv.pop(1)
DATA = 0xFFFFFFFF80000004
MORE_DATA, NO_MORE_ITEMS, INVALID_HANDLE = 234, 259, 6
RATE, MULTI, COUNT = 0x10410400, 0x22410500, 0x00010000
NO_LIMIT = 1 << 20

# A counter of each kind of formula that V2 and V1 data have.
TYPES = """\
perfblock text 1
counterset 3f1c0c4e-5d1b-4a53-9c2e-0a1b2c3d4e5f multiple "Kinds"
counter 1 PERF_COUNTER_RAWCOUNT 4 - "Small Count"
counter 2 PERF_COUNTER_LARGE_RAWCOUNT_HEX 8 - "Large Count"
counter 3 PERF_COUNTER_DELTA 4 - "Delta"
counter 4 PERF_COUNTER_BULK_COUNT 8 - "Rate"
counter 5 PERF_100NSEC_TIMER_INV 8 - "Inverse Timer"
counter 6 PERF_RAW_FRACTION 4 7 "Fraction"
counter 7 PERF_RAW_BASE 4 - "Fraction Base"
counter 8 PERF_LARGE_RAW_FRACTION 8 9 "Large Fraction"
counter 9 PERF_LARGE_RAW_BASE 8 - "Large Fraction Base"
counter 10 PERF_SAMPLE_FRACTION 4 11 "Sample Fraction"
counter 11 PERF_SAMPLE_BASE 4 - "Sample Base"
counter 12 PERF_AVERAGE_TIMER 4 13 "Average Timer"
counter 13 PERF_AVERAGE_BASE 4 - "Average Timer Base"
counter 14 PERF_AVERAGE_BULK 8 13 "Average Bulk"
counter 15 PERF_PRECISION_100NS_TIMER 8 9 "Precision Timer"
counter 16 PERF_COUNTER_LARGE_QUEUELEN_TYPE 8 - "Queue Length"
counter 17 PERF_ELAPSED_TIME 8 18/19 "Elapsed Time"
counter 18 PERF_COUNTER_LARGE_RAWCOUNT 8 - "Object Time"
counter 19 PERF_COUNTER_LARGE_RAWCOUNT 8 - "Object Frequency"
sample 0
result "Kinds"
row "b#0" 7 8 9 10 11 12 24 14 30 16 17 18 19 20 21 22 100 5000 1000
row "a#1" 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 5000 1000
row "b#2" 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 5000 1000
sample 2
result "Kinds"
row "b#0" +70 +8 +9 +100 +110 +1 +2 +3 +4 +5 +6 +7 +8 +9 +10 +11 = 7000 =
row "a#1" +1 +2 +3 +4 +5 +6 +7 +8 +9 +10 +11 +12 +13 +14 +15 +16 = 7000 =
row "b#2" = = = = = = = = = = = = = = = = = 7000 =
sample 3
result "Kinds"
row "a#1" +9 +8 +7 +6 +5 +4 +3 +2 +1 +2 +3 +4 +5 +6 +7 +8 = 8000 =
"""


class Library:
    """The functions over one source. Each has a copy of the library's file, so
    that it is loaded anew."""

    def __init__(self, folder, source):
        path = pathlib.Path(folder, f"lib{len(os.listdir(folder))}.so")
        path.write_bytes(pathlib.Path(LIBRARY).read_bytes())
        os.environ.pop("PERFBLOCK_CAPTURE", None)
        if source:
            os.environ["PERFBLOCK_CAPTURE"] = str(source)
        self.functions = ctypes.CDLL(str(path))

    def call(self, name, *arguments):
        return getattr(self.functions, name)(*arguments) & 0xFFFFFFFF

    def query(self, name, key=DATA, limit=NO_LIMIT):
        """(code, type, bytes) of a value, by the name without a letter, which
        .NET asks for."""
        kind, size = ctypes.c_uint32(), ctypes.c_uint32(limit)
        memory = ctypes.create_string_buffer(limit)
        code = self.call("RegQueryValueEx", ctypes.c_void_p(key),
                         (name + "\0").encode("utf-16-le"), None,
                         ctypes.byref(kind), memory, ctypes.byref(size))
        return code, kind.value, memory.raw[:size.value] if code == 0 else None

    def names(self):
        code, kind, table = self.query("Counter 009")
        assert (code, kind) == (0, 7)
        return v1.Names(table)

    def blocks(self, name):
        """The blocks of all samples."""
        found = []
        while True:
            code, kind, block = self.query(name)
            if code:
                assert code == NO_MORE_ITEMS, code
                return found
            assert kind == 3 and len(found) < 100
            found.append(block)


def key_of(line):
    return (line["sample"], line["set"], line["instance"], line["occurrence"],
            line["counter"])


def displayed(lines):
    """{key: (status, value)} of what is displayed."""
    return {key_of(line): (line["status"], line["value"]) for line in lines
            if line["status"] != "not_displayed"}


class Registry(unittest.TestCase):
    """The library."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def library(self, source=None):
        return Library(self.folder, source)

    def fixture(self, name):
        return self.library(ROOT / f"fixtures/{name}.pfb")

    def written(self, text):
        """A recording of a text."""
        path = pathlib.Path(self.folder, "text.pfb")
        subprocess.run([sys.executable, ROOT / "fixtures/perfblock-fixture", "-",
                        "-o", path], input=text.encode(), check=True)
        return self.library(path)

    def log(self, *events):
        path = pathlib.Path(self.folder, "log.blg")
        path.write_bytes(w.log(*events))
        return self.library(path)

    def test_exports(self):
        text = (ROOT / "platform/registry/shared/advapi32.map").read_text()
        names = re.findall(r"\b((?:Reg|Perf)\w+);", text)
        declared = set()
        for header in ("registry", "perflib"):
            lines = (ROOT / f"platform/include/perfblock/{header}.h").read_text()
            declared |= set(re.findall(r"pfb_((?:Reg|Perf)[A-Z]\w+)\(", lines))
            declared |= set(re.findall(r"define ((?:Reg)\w+) pfb_Reg", lines))
        self.assertEqual(sorted(names), sorted(declared))
        library = self.library()
        for name in names:
            self.assertTrue(hasattr(library.functions, name), name)
        for name in ("pfb_stream_new", "pfb_RegCloseKey", "PdhOpenQueryW"):
            self.assertFalse(hasattr(library.functions, name), name)

    def test_perflib(self):
        library = self.fixture("machine")
        count = ctypes.c_uint32()
        self.assertEqual(library.call("PerfEnumerateCounterSet", None, None, 0,
                                      ctypes.byref(count)), 8)
        self.assertEqual(count.value, 8)

    def test_sizes(self):
        library = self.fixture("machine_v1")
        self.assertEqual(library.query("Global", limit=100)[0], MORE_DATA)
        self.assertEqual(library.query("Counter", limit=100)[:2], (MORE_DATA, 7))
        self.assertEqual(library.query("2", key=0x80000004)[0], 0)
        self.assertEqual(library.query("2", key=0x1234)[0], INVALID_HANDLE)

    def test_values_of_all_kinds(self):
        library = self.written(TYPES)
        expected = displayed(fixture_reader.cook_text(TYPES)[0])
        lines, errors = v1_cook.cook_files(
            [b"".join(library.blocks("Global"))], library.names())
        self.assertEqual(errors, [])
        found = displayed(lines)
        # Clocks of an object have no place in V1 blocks but its header.
        self.assertEqual(set(found) - set(expected), set())
        for key, outcome in expected.items():
            self.assertEqual(found[key], outcome, key)

    def test_parents(self):
        """Threads of processes, the last of which the log does not have."""
        def name(thing, instance, counter, parent=None, kind=COUNT):
            return w.path(kind, w.SECOND, r"\\PC", thing, instance, counter,
                          parent=parent)

        library = self.log(*w.paths(
            name("Thread", "0", "ID Thread", "x"),
            name("Thread", "1", "ID Thread", "y"),
            name("Thread", "0", "ID Thread", "z"),
            name("Process", "y", "ID Process"), name("Process", "x", "ID Process"),
        ), *w.sample(*[w.counter(number, 0) for number in (7, 8, 9, 20, 30)]))
        _, _, block = library.query("232")
        records = v1.decode_block(block)
        self.assertEqual([record["object"] for record in records
                          if record["record"] == "object"], [232, 230])
        self.assertEqual([(record["parent"], record["name"]) for record in records
                          if record["record"] == "instance"],
                         [("x", "0"), ("y", "1"), (None, "z/0"), (None, "y"),
                          (None, "x")])
        self.assertEqual([record["raw"] for record in records
                          if record["record"] == "value"], [7, 8, 9, 20, 30])

    def objects(self, library, name="Global"):
        """The title indexes of the objects, and the (object, instance, raw
        value) of their values, of each sample."""
        found = []
        for block in library.blocks(name):
            records = v1.decode_block(block)
            title, instance, values = None, None, []
            for record in records:
                if record["record"] == "object":
                    title, instance = record["object"], None
                elif record["record"] == "instance":
                    instance = record["name"]
                elif record["record"] == "value":
                    values.append((title, instance, record["raw"]))
            found.append(([record["object"] for record in records
                           if record["record"] == "object"], values))
        return found

    def test_failed_results(self):
        """An object whose provider failed is not in the block, as on Windows;
        one that has no instance now is."""
        library = self.fixture("machine_fails")
        names = {index: name for index, name, _ in library.names().pairs}
        found = [{names[title] for title in titles}
                 for titles, _ in self.objects(library)]
        every = {"Process V2", "Network Interface", "Memory"}
        self.assertEqual(found, [every] * 3 + [every - {"Process V2"}] +
                         [every - {"Network Interface"}] * 2)
        library = self.written(TYPES + 'sample 4\nresult "Kinds"\n')
        block = library.blocks("Global")[-1]
        self.assertEqual([record["instances"] for record in v1.decode_block(block)
                          if record["record"] == "object"], [0])

    def test_values_that_a_log_lacks(self):
        """An instance without any value is not there, and no value of 0."""
        no_data = 0x800007D5
        paths = [w.path(COUNT, w.SECOND, r"\\PC", thing, instance, name)
                 for thing, instance, name in (
                     ("Process", "a", "Thread Count"),
                     ("Process", "a", "Handle Count"),
                     ("Process", "b", "Thread Count"),
                     ("Memory", None, "Available Bytes"))]
        library = self.log(
            *w.paths(*paths),
            *w.sample(*[w.counter(value, 0) for value in (1, 2, 3, 4)]),
            *w.sample(w.counter(5, 0), w.counter(6, 0, status=no_data),
                      w.counter(7, 0, status=no_data),
                      w.counter(8, 0, status=no_data), time=w.LOCAL + w.SECOND))
        self.assertEqual(self.objects(library), [
            ([230, 4], [(230, "a", 1), (230, "a", 2), (230, "b", 3),
                        (230, "b", 0), (4, None, 4)]),
            ([230], [(230, "a", 5), (230, "a", 0)])])

    def test_clock_of_a_log(self):
        """.NET takes a frequency of 0 for the lack of an older sample. Values
        without it are of no clock, or of that of 100 ns."""
        library = self.log(*w.paths(
            w.path(COUNT, 0, r"\\PC", "Process", "a", "Thread Count"),
            w.path(RATE, 1000, r"\\PC", "System", None, "Context Switches/sec"),
        ), *w.sample(w.counter(1, 0), w.counter(2, 7000)))
        blocks = [library.query(name)[2] for name in ("230", "2")]
        clocks = [struct.unpack_from("<QQQ", block, 56) for block in blocks]
        time = clocks[0][2]
        self.assertEqual(clocks, [(time, w.SECOND, time), (7000, 1000, time)])

    def test_parents_with_equal_names(self):
        """Threads belong to the processes whose ids they have, although several
        processes have one name."""
        processes = [("svchost", 10, 2), ("csrss", 20, 2), ("csrss", 30, 3),
                     ("svchost", 40, 1), ("svchost", 50, 2)]
        little, ident = v1w.little, 784
        counters = [little.counter(ident, COUNT, 4, 4)]

        def row(name, number, parent=(0, 0)):
            return little.instance(name, little.values(little.v4(number)),
                                   parent=parent)

        block = little.block(
            little.object(230, counters, [row(name, number)
                                          for name, number, _ in processes]),
            little.object(232, counters, [
                row(str(thread), number, (230, position))
                for position, (_, number, count) in enumerate(processes)
                for thread in range(count)]))
        library = self.log(*w.names(r"\\PC", (230, "Process"), (232, "Thread"),
                                    (ident, "ID Process")),
                           *w.sample(w.block(block)))
        found, title, rows = library.query("232")[2], None, {230: [], 232: []}
        for record in v1.decode_block(found):
            if record["record"] == "object":
                title = record["object"]
            elif record["record"] == "instance":
                rows[title].append([struct.unpack_from(
                    "<I", found, record["offset"] + 8)[0]])
            elif record["record"] == "value":
                rows[title][-1].append(record["raw"])
        ids = [number for _, number in rows[230]]
        self.assertEqual(ids, [number for _, number, _ in processes])
        self.assertEqual([ids[parent] for parent, _ in rows[232]],
                         [number for _, number in rows[232]])

    def test_multi_counts(self):
        library = self.log(*w.paths(
            w.path(MULTI, w.SECOND, r"\\PC", "Thing", None, "Busy"),
            w.path(RATE, w.SECOND, r"\\PC", "Thing", None, "Events/sec"),
        ), *[event for second in range(2) for event in w.sample(
            w.counter(second, w.SECOND * second, multi=4),
            w.counter(50 * second, w.SECOND * second))])
        lines, errors = v1_cook.cook_files(
            [b"".join(library.blocks("Global"))], library.names())
        self.assertEqual(errors, [])
        self.assertEqual({line["counter"]: line["value"] for line in lines
                          if line["sample"] == 1 and line["status"] == "ok"},
                         {"Busy": 25, "Events/sec": 50})

    def test_indexes_of_mixed_data(self):
        """Invented indexes are above those of V1 objects in a log."""
        block = v1w.little.block(v1w.little.object(
            12344, [v1w.little.counter(12346, COUNT, 4, 4)],
            [v1w.little.instance("a", v1w.little.values(v1w.little.v4(7)))]))
        library = self.log(*w.names(r"\\PC", (12344, "Gadget"), (12346, "Turns")),
                           *w.paths(w.path(COUNT, w.SECOND, r"\\PC", "Thing",
                                           "a", "Size")),
                           *w.sample(w.counter(5, 0), w.block(block)))
        pairs = {name: index for index, name, _ in library.names().pairs}
        self.assertEqual((pairs["Gadget"], pairs["Turns"]), (12344, 12346))
        self.assertEqual((pairs["Size"], pairs["Thing"]), (12348, 12350))
        _, _, found = library.query("12344 12350")
        self.assertEqual([(record["object"]) for record in v1.decode_block(found)
                          if record["record"] == "object"], [12344, 12350])

    def test_blocks_that_would_be_too_large(self):
        """6000 instances that have 6000 different counters."""
        count = 6000
        library = self.log(*w.paths(*[
            w.path(COUNT, w.SECOND, r"\\PC", "Thing", f"i{i}", f"c{i}")
            for i in range(count)]), *w.sample(
                *[w.counter(i, 0) for i in range(count)]))
        self.assertEqual(library.query("Global")[0], 1450)
        self.assertEqual(library.query("Counter")[0], 0)


if __name__ == "__main__":
    unittest.main()
