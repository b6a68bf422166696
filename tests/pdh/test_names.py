#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""PDH's functions under Windows' names, as a program binds them that knows
nothing of perfblock: through ctypes, in the shared library.

test_names.py LIBRARY [TEST...]
"""
import ctypes
import json
import os
import pathlib
import random
import re
import select
import struct
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/oracle"))

import log_writer as w  # noqa: E402
from pdh_order import (AVERAGE, BULK, FRACTION, INVERSE, RATE, TIMER,  # noqa: E402
                       displayed, needs_two)

pdh = ctypes.CDLL(sys.argv.pop(1))

FMT_DOUBLE, FMT_LARGE, FMT_NOSCALE, FMT_NOCAP100 = 0x200, 0x400, 0x1000, 0x8000
MORE_DATA, NO_DATA, INVALID_DATA = 0x800007D2, 0x800007D5, 0xC0000BC6
NO_MORE_DATA, NO_OBJECT, INVALID_HANDLE = 0xC0000BCC, 0xC0000BB8, 0xC0000BBC
FREQUENCY = 2338337


class Value(ctypes.Structure):
    """PDH_FMT_COUNTERVALUE with a double."""
    _fields_ = [("status", ctypes.c_uint32), ("number", ctypes.c_double)]


class Item(ctypes.Structure):
    """PDH_FMT_COUNTERVALUE_ITEM."""
    _fields_ = [("name", ctypes.c_void_p), ("value", Value)]


class Raw(ctypes.Structure):
    """PDH_RAW_COUNTER."""
    _fields_ = [("status", ctypes.c_uint32), ("time", ctypes.c_uint32 * 2),
                ("first", ctypes.c_longlong), ("second", ctypes.c_longlong),
                ("multi", ctypes.c_uint32)]


def wide(text):
    """UTF-16 with a NUL, which a list needs twice."""
    return (text + "\0\0").encode("utf-16-le")


def wide_at(address):
    """The UTF-16 string at an address."""
    units = []
    while unit := ctypes.c_uint16.from_address(address + 2 * len(units)).value:
        units.append(unit)
    return b"".join(unit.to_bytes(2, "little")
                    for unit in units).decode("utf-16-le")


def call(name, *arguments):
    """The code that a function returns."""
    return getattr(pdh, name)(*arguments) & 0xFFFFFFFF


class Query:
    """A query of a source, whose functions have no letter: .NET asks so."""

    def __init__(self, source=None):
        self.handle = ctypes.c_void_p()
        self.code = call("PdhOpenQuery", wide(source) if source else None,
                         ctypes.c_size_t(0), ctypes.byref(self.handle))

    def add(self, path):
        counter = ctypes.c_void_p()
        code = call("PdhAddEnglishCounter", self.handle, wide(path),
                    ctypes.c_size_t(0), ctypes.byref(counter))
        assert code == 0, f"{path}: {code:08x}"
        return counter

    def collect(self):
        return call("PdhCollectQueryData", self.handle)

    def close(self):
        return call("PdhCloseQuery", self.handle)


def value_of(counter):
    value = Value()
    code = call("PdhGetFormattedCounterValue", counter,
                FMT_DOUBLE | FMT_NOCAP100, None, ctypes.byref(value))
    return code, value.number


def items_of(counter):
    size, count = ctypes.c_uint32(1), ctypes.c_uint32()
    assert call("PdhGetFormattedCounterArray", counter, FMT_DOUBLE,
                ctypes.byref(size), ctypes.byref(count), None) == MORE_DATA
    memory = ctypes.create_string_buffer(size.value)
    assert call("PdhGetFormattedCounterArray", counter, FMT_DOUBLE,
                ctypes.byref(size), ctypes.byref(count), memory) == 0
    items = ctypes.cast(memory, ctypes.POINTER(Item))
    return [(wide_at(items[i].name), items[i].value.number)
            for i in range(count.value)]


class Names(unittest.TestCase):
    """Which names there are."""

    def test_exports(self):
        text = (ROOT / "platform/pdh/shared/pdh.map").read_text()
        names = re.findall(r"\b((?:Pdh|pfb_)\w+);", text)
        self.assertEqual(len(names), len(set(names)))
        header = (ROOT / "platform/include/perfblock/pdh.h").read_text()
        declared = set(re.findall(r"PFB_API \w+ (pfb_\w+)\(", header))
        declared = {name.replace("pfb_Pdh", "Pdh") for name in declared}
        without = {name[:-1] for name in declared if re.match(r"Pdh\w+W$", name)}
        self.assertEqual(set(names), declared | without)
        for name in names:
            self.assertTrue(hasattr(pdh, name), name)
        for name in ("pfb_stream_new", "pfb_PdhOpenQueryW", "PerfOpenQueryHandle"):
            self.assertFalse(hasattr(pdh, name), name)


class Fixtures(unittest.TestCase):
    """Recordings as sources."""

    def test_array(self):
        query = Query(str(ROOT / "fixtures/machine_names_v1.pfb"))
        counter = query.add(r"\Process(*)\IO Read Bytes/sec")
        self.assertEqual([query.collect(), query.collect()], [0, 0])
        # System reads 327,680 bytes in 10 s, a svchost 8192 times its id.
        self.assertEqual(items_of(counter), [
            ("Idle", 0), ("System", 32768), ("svchost", 665190.4),
            ("svchost", 704512), ("svchost", 740556.8), ("database", 0),
            ("agent", 0), ("_Total", 2143027.2)])
        self.assertEqual(query.close(), 0)
        self.assertEqual(query.close(), INVALID_HANDLE)

    def test_errors(self):
        query = Query(str(ROOT / "fixtures/machine_v1.pfb"))
        counter = ctypes.c_void_p(1)
        self.assertEqual(call(
            "PdhAddCounter", query.handle, wide(r"\None\None"),
            ctypes.c_size_t(0), ctypes.byref(counter)), NO_OBJECT)
        self.assertIsNone(counter.value)
        self.assertEqual(query.close(), 0)
        self.assertNotEqual(Query("/nowhere.blg").code, 0)


class Languages(unittest.TestCase):
    """A German machine whose names are known in English, too."""

    ENGLISH = r"\Processor(_Total)\% Processor Time"
    GERMAN = r"\Prozessor(_Total)\Prozessorzeit (%)"

    def setUp(self):
        """Inserts English names before the German ones."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        recording = (ROOT / "fixtures/machine_german_v1.pfb").read_bytes()
        names = struct.pack("<I", 9) + "238\0Processor\0006\0% Processor Time\0\0".encode(
            "utf-16-le")
        at = recording.index(b"NAME\1\0\0\0")
        chunk = struct.pack("<4sIQ", b"NAME", 1, len(names)) + names + bytes(-len(names) % 8)
        self.path = pathlib.Path(folder.name, "german.pfb")
        self.path.write_bytes(recording[:at] + chunk + recording[at:])
        os.environ["PERFBLOCK_CAPTURE"] = str(self.path)
        self.addCleanup(pdh.pfb_pdh_use, None, None)
        self.addCleanup(os.environ.pop, "PERFBLOCK_CAPTURE")
        self.assertEqual(pdh.pfb_pdh_use(None, None), 0)

    def add(self, query, function, path):
        counter = ctypes.c_void_p()
        return call(function, query.handle, wide(path), ctypes.c_size_t(0),
                    ctypes.byref(counter))

    def expand(self, path):
        return call("PdhExpandWildCardPath", None, wide(path), None,
                    ctypes.byref(ctypes.c_uint32(0)), 0)

    def test_machine(self):
        """Each function has one language, as on a German Windows."""
        query = Query()
        for function, path, code in (
                ("PdhAddCounter", self.GERMAN, 0),
                ("PdhAddCounter", self.ENGLISH, NO_OBJECT),
                ("PdhAddEnglishCounter", self.ENGLISH, 0),
                ("PdhAddEnglishCounter", self.GERMAN, NO_OBJECT)):
            self.assertEqual(self.add(query, function, path), code, (function, path))
        self.assertEqual(query.close(), 0)
        for path, code in ((self.GERMAN, 0), (self.ENGLISH, NO_OBJECT)):
            self.assertEqual(call("PdhValidatePath", wide(path)), code)
            self.assertEqual(self.expand(path), code or MORE_DATA)

    def test_log(self):
        """A log has names, which are either."""
        query = Query(str(self.path))
        for function in ("PdhAddCounter", "PdhAddEnglishCounter"):
            for path in (self.GERMAN, self.ENGLISH):
                self.assertEqual(self.add(query, function, path), 0)
        self.assertEqual(query.close(), 0)


class Details(unittest.TestCase):
    """Objects that are costly to collect."""

    def objects(self, path, detail):
        size = ctypes.c_uint32(0)
        self.assertEqual(call("PdhEnumObjects", wide(str(path)), None, None,
                              ctypes.byref(size), detail, 1), MORE_DATA)
        memory = ctypes.create_string_buffer(2 * size.value)
        self.assertEqual(call("PdhEnumObjects", wide(str(path)), None, memory,
                              ctypes.byref(size), detail, 0), 0)
        return memory.raw.decode("utf-16-le").split("\0")

    def test_costly(self):
        """They are listed only if they are asked for."""
        recording = bytearray((ROOT / "fixtures/machine_v1.pfb").read_bytes())
        chunk = 0
        while chunk < len(recording):
            tag, size = recording[chunk:chunk + 4], struct.unpack_from("<Q", recording, chunk + 8)[0]
            if tag == b"V1DT":
                first, count = struct.unpack_from("<II", recording, chunk + 16 + 24)
                at = chunk + 16 + first
                for _ in range(count):
                    if struct.unpack_from("<I", recording, at + 12)[0] == 2:  # System
                        struct.pack_into("<I", recording, at + 28, 0x10000 + 300)
                    at += struct.unpack_from("<I", recording, at)[0]
            chunk += 16 + size + -size % 8
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "costly.pfb")
            path.write_bytes(recording)
            for detail, is_listed in ((400, False), (0xFFFF, False), (0x10000 + 200, False),
                                      (0x10000 + 300, True), (0x1FFFF, True)):
                objects = self.objects(path, detail)
                self.assertIn("Memory", objects)
                self.assertEqual("System" in objects, is_listed, detail)


class Times(unittest.TestCase):
    """Samples that are closer than the clock of the blocks."""

    def test_equal_times(self):
        """Each block with an object again is a sample of its own."""
        recording = bytearray((ROOT / "fixtures/machine_names_v1.pfb").read_bytes())
        chunk, times, count = 0, [], 0
        while chunk < len(recording):
            tag, size = recording[chunk:chunk + 4], struct.unpack_from("<Q", recording, chunk + 8)[0]
            if tag == b"V1DT":  # the third block has the time of the second one
                times.append(recording[chunk + 16 + 72:chunk + 16 + 80])
                if len(times) == 3:
                    recording[chunk + 16 + 72:chunk + 16 + 80] = times[1]
            chunk += 16 + size + -size % 8
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "close.pfb")
            path.write_bytes(recording)
            query = Query(str(path))
            counter = query.add(r"\Process(*)\ID Process")
            while query.collect() == 0:
                count += 1
                self.assertIn(len(items_of(counter)), (7, 8))
            self.assertEqual(count, len(times))
            self.assertEqual(query.close(), 0)


class Formats(unittest.TestCase):
    """Scales and the limit of percentages."""

    TEXT = """\
perfblock text 1
object 5000 single none "Thing"
define 5002 PERF_COUNTER_RAWCOUNT 4 4 -3 "Count"
define 5004 PERF_COUNTER_RAWCOUNT 4 8 0 "Small Count"
define 5006 PERF_RAW_FRACTION 4 12 0 "Percent"
define 5006 PERF_RAW_BASE 4 16 0 "Percent"
sample 0
result "Thing"
row - 8192 250 500 200
"""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = pathlib.Path(folder.name, "thing.pfb")
        subprocess.run([sys.executable, ROOT / "fixtures/perfblock-fixture", "-",
                        "-o", path], input=self.TEXT.encode(), check=True)
        self.query = Query(str(path))
        self.addCleanup(self.query.close)
        self.counters = {name: self.query.add(rf"\Thing\{name}")
                         for name in ("Count", "Small Count", "Percent")}
        self.assertEqual(self.query.collect(), 0)

    def value(self, name, flags=0):
        value = Value()
        self.assertEqual(call("PdhGetFormattedCounterValue", self.counters[name],
                              FMT_DOUBLE | flags, None, ctypes.byref(value)), 0)
        return value.number

    def scales(self, name):
        """The scale and the default scale of PDH_COUNTER_INFO."""
        size = ctypes.c_uint32(0)
        self.assertEqual(call("PdhGetCounterInfo", self.counters[name], 0,
                              ctypes.byref(size), None), MORE_DATA)
        memory = ctypes.create_string_buffer(size.value)
        self.assertEqual(call("PdhGetCounterInfo", self.counters[name], 0,
                              ctypes.byref(size), memory), 0)
        # dwLength, dwType, CVersion, CStatus, lScale, lDefaultScale
        return struct.unpack_from("=16x2i", memory)

    def test_scale(self):  # T13
        self.assertEqual((self.value("Count"), self.scales("Count")), (8192, (0, -3)))
        self.assertEqual(call("PdhSetCounterScaleFactor",
                              self.counters["Count"], -5), 0)
        self.assertEqual(self.value("Count"), 0.08192)
        self.assertEqual(self.value("Count", FMT_NOSCALE), 8192)
        self.assertEqual(self.scales("Count"), (-5, -3))

    def test_limit(self):  # T14
        self.assertEqual(self.value("Percent"), 100)
        self.assertEqual(self.value("Percent", FMT_NOCAP100), 250)
        self.assertEqual(self.value("Small Count"), 250)


class Logs(unittest.TestCase):
    """Perfmon logs."""

    def test_values_of_windows(self):
        """Each double is that of the order of operations that was measured,
        bit for bit."""
        generator = random.Random(7)
        kinds = [RATE, BULK, TIMER, INVERSE, FRACTION, AVERAGE]
        names = [f"counter {i}" for i in range(len(kinds))]
        frequencies = [FREQUENCY if kind in (RATE, BULK, AVERAGE) else w.SECOND
                       for kind in kinds]
        paths = [w.path(kind, frequency, r"\\PC", "Thing", "a", name)
                 for kind, frequency, name in zip(kinds, frequencies, names)]
        now = [(10, 1000)] * len(kinds)
        samples = []
        for _ in range(200):
            now = [(n + generator.randrange(1, 10**5),
                    d + generator.randrange(10**5, 10**7)) for n, d in now]
            samples.append(now)
        events = w.paths(*paths)
        for pairs in samples:
            events += w.sample(*[w.counter(*pair) for pair in pairs])
        with tempfile.TemporaryDirectory() as folder:
            log = pathlib.Path(folder, "values.blg")
            log.write_bytes(w.log(*events))
            self.compare(str(log), {
                rf"\Thing(a)\{name}": (kind, frequency, [
                    pairs[i] for pairs in samples])
                for i, (name, kind, frequency) in enumerate(
                    zip(names, kinds, frequencies))})

    def compare(self, log, expected):
        """Compares a log with path -> (type, frequency, its pairs)."""
        query = Query(log)
        self.assertEqual(query.code, 0)
        counters = {path: query.add(path) for path in expected}
        count = len(next(iter(expected.values()))[2])
        for sample in range(count):
            self.assertEqual(query.collect(), 0)
            for path, (kind, frequency, pairs) in expected.items():
                code, number = value_of(counters[path])
                if sample == 0 and needs_two(kind):
                    self.assertEqual(code, INVALID_DATA)
                    continue
                self.assertEqual((code, number), (0, displayed(
                    kind, pairs[max(sample, 1) - 1], pairs[sample],
                    frequency)), (path, sample))
        self.assertEqual(query.collect(), NO_MORE_DATA)
        self.assertEqual(query.close(), 0)

    @unittest.skipUnless(os.environ.get("PERFBLOCK_REAL_DATA"), "no real data")
    def test_log_of_windows(self):
        folder = pathlib.Path(os.environ["PERFBLOCK_REAL_DATA"], "blg")
        expected = {}
        with open(folder / "win8-counters.expected.jsonl") as rows:
            for row in map(json.loads, rows):
                path = (rf"\{row['object']}({row['instance']})"
                        rf"\{row['counter']}")
                entry = expected.setdefault(
                    path, (int(row["type"], 16), w.SECOND, []))
                entry[2].append((row["first"], row["second"]))
        self.compare(str(folder / "win8-counters.blg"), expected)


class Events(unittest.TestCase):
    """The event of PdhCollectQueryDataEx in an event loop."""

    def test_poll(self):
        pdh.pfb_event_create.restype = ctypes.c_void_p
        event = ctypes.c_void_p(pdh.pfb_event_create(0, 0))
        descriptor = pdh.pfb_event_descriptor(event)
        os.environ["PERFBLOCK_CAPTURE"] = str(ROOT / "fixtures/machine_v1.pfb")
        self.addCleanup(os.environ.pop, "PERFBLOCK_CAPTURE")
        self.addCleanup(pdh.pfb_pdh_use, None, None)
        self.assertEqual(pdh.pfb_pdh_use(None, None), 0)
        query = Query()
        processes = query.add(r"\System\Processes")
        self.assertEqual(select.select([descriptor], [], [], 0)[0], [])
        self.assertEqual(call("PdhCollectQueryDataEx", query.handle, 0, event), 0)
        self.assertEqual(select.select([descriptor], [], [], 20)[0], [descriptor])
        self.assertEqual(pdh.pfb_event_wait(event, 0), 0)
        self.assertEqual(value_of(processes), (0, 4))
        self.assertEqual(query.close(), 0)
        self.assertEqual(pdh.pfb_event_close(event), 1)


class Machine(unittest.TestCase):
    """This machine."""

    def test_every_object(self):
        """All counters that the lists have can be added and collected."""
        if not sys.platform.startswith("linux"):
            self.skipTest("Linux only")
        os.environ.pop("PERFBLOCK_CAPTURE", None)
        size = ctypes.c_uint32(0)
        self.assertEqual(call("PdhEnumObjects", None, None, None,
                              ctypes.byref(size), 400, 1), MORE_DATA)
        memory = ctypes.create_string_buffer(2 * size.value)
        self.assertEqual(call("PdhEnumObjects", None, None, memory,
                              ctypes.byref(size), 400, 0), 0)
        objects = memory.raw[:2 * size.value].decode("utf-16-le").split("\0")
        self.assertIn("Memory", objects)
        query = Query()
        memory_bytes = query.add(r"\Memory\Available Bytes")
        self.assertEqual(query.collect(), 0)
        code, number = value_of(memory_bytes)
        self.assertEqual(code, 0)
        help_at = 96 if ctypes.sizeof(ctypes.c_void_p) == 8 else 64
        info, size = ctypes.create_string_buffer(4096), ctypes.c_uint32(4096)
        self.assertEqual(call("PdhGetCounterInfo", memory_bytes, 1,
                              ctypes.byref(size), info), 0)
        self.assertIn("MemAvailable", wide_at(ctypes.c_void_p.from_address(
            ctypes.addressof(info) + help_at).value))
        with open("/proc/meminfo") as file:
            total = int(re.search(r"MemTotal: +(\d+)", file.read())[1]) * 1024
        self.assertTrue(0 < number < total)
        self.assertEqual(query.close(), 0)


    def test_details(self):
        """Priority Base is for advanced users, ID Process for all."""
        if not sys.platform.startswith("linux"):
            self.skipTest("Linux only")
        os.environ.pop("PERFBLOCK_CAPTURE", None)
        for detail, is_listed in ((100, False), (200, True), (400, True)):
            counters, instances = ctypes.c_uint32(4096), ctypes.c_uint32(65536)
            names = ctypes.create_string_buffer(2 * 4096)
            others = ctypes.create_string_buffer(2 * 65536)
            self.assertEqual(call(
                "PdhEnumObjectItems", None, None, wide("Process"), names,
                ctypes.byref(counters), others, ctypes.byref(instances), detail, 0), 0)
            listed = names.raw[:2 * counters.value].decode("utf-16-le").split("\0")
            self.assertEqual("Priority Base" in listed, is_listed, detail)
            self.assertIn("ID Process", listed)


if __name__ == "__main__":
    unittest.main()
