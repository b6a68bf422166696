#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The 21 functions that pywin32's win32pdh calls, with its buffers: a size is
asked with NULL, one more is allocated, and a counter whose status is neither 0
nor 1 has no information.

test_pywin32.py LIBRARY [TEST...]
"""
import ctypes
import os
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
os.environ["PERFBLOCK_CAPTURE"] = str(ROOT / "fixtures/machine_names_v1.pfb")
pdh = ctypes.CDLL(sys.argv.pop(1))

FMT_DOUBLE, FMT_LONG, DETAIL_WIZARD = 0x200, 0x100, 400
MORE_DATA, DIALOG_CANCELLED = 0x800007D2, 0x800007D9


class Elements(ctypes.Structure):
    """PDH_COUNTER_PATH_ELEMENTS_W."""
    _fields_ = [("machine", ctypes.c_void_p), ("object", ctypes.c_void_p),
                ("instance", ctypes.c_void_p), ("parent", ctypes.c_void_p),
                ("index", ctypes.c_uint32), ("counter", ctypes.c_void_p)]


class Info(ctypes.Structure):
    """PDH_COUNTER_INFO_W."""
    _fields_ = [("length", ctypes.c_uint32), ("type", ctypes.c_uint32),
                ("version", ctypes.c_uint32), ("status", ctypes.c_uint32),
                ("scale", ctypes.c_int32), ("default_scale", ctypes.c_int32),
                ("user", ctypes.c_size_t), ("query_user", ctypes.c_size_t),
                ("path", ctypes.c_void_p), ("elements", Elements),
                ("explain", ctypes.c_void_p)]


class Value(ctypes.Structure):
    """PDH_FMT_COUNTERVALUE with a double."""
    _fields_ = [("status", ctypes.c_uint32), ("number", ctypes.c_double)]


class Item(ctypes.Structure):
    """PDH_FMT_COUNTERVALUE_ITEM_W."""
    _fields_ = [("name", ctypes.c_void_p), ("value", Value)]


def wide(text):
    return None if text is None else (text + "\0").encode("utf-16-le")


def text_at(address):
    """The UTF-16 string at an address, or None."""
    units = b""
    while address:
        unit = ctypes.string_at(address + len(units), 2)
        if unit == b"\0\0":
            return units.decode("utf-16-le")
        units += unit
    return None


def code_of(name, *arguments):
    return getattr(pdh, name)(*arguments) & 0xFFFFFFFF


def call(name, *arguments):
    """Calls a function, which must succeed."""
    code = code_of(name, *arguments)
    assert code == 0, f"{name}: {code:08x}"


def sized(name, *arguments, unit=2, is_size_first=False):
    """The bytes that a function returns; its buffer and size, in this order
    unless `is_size_first`, are the argument `...`."""
    place = arguments.index(...)
    size = ctypes.c_uint32(0)

    def run(buffer):
        pair = [buffer, ctypes.byref(size)]
        if is_size_first:
            pair.reverse()
        return code_of(name, *arguments[:place], *pair, *arguments[place + 1:])

    assert run(None) == MORE_DATA
    size.value += 1  # as Windows XP needs it
    memory = ctypes.create_string_buffer(size.value * unit)
    code = run(memory)
    assert code == 0, f"{name}: {code:08x}"
    return memory, size.value * unit


def strings(memory, size):
    """The strings of a list."""
    return memory.raw[:size].decode("utf-16-le").rstrip("\0").split("\0")


class Pywin32(unittest.TestCase):
    """Each function."""

    def setUp(self):
        self.query = ctypes.c_void_p()
        call("PdhOpenQueryW", None, ctypes.c_size_t(7), ctypes.byref(self.query))
        self.addCleanup(lambda: call("PdhCloseQuery", self.query))

    def add(self, path, function="PdhAddCounterW"):
        counter = ctypes.c_void_p()
        call(function, self.query, wide(path), ctypes.c_size_t(3),
             ctypes.byref(counter))
        return counter

    def test_lists(self):
        memory, size = sized("PdhEnumObjectsW", None, None, ..., DETAIL_WIZARD, 1)
        self.assertEqual(strings(memory, size), ["Process"])
        sizes = [ctypes.c_uint32(0), ctypes.c_uint32(0)]
        buffers = [None, None]

        def items():
            return code_of(
                "PdhEnumObjectItemsW", None, None, wide("Process"),
                buffers[0], ctypes.byref(sizes[0]), buffers[1],
                ctypes.byref(sizes[1]), DETAIL_WIZARD, 0)

        self.assertEqual(items(), MORE_DATA)
        for i, size in enumerate(sizes):
            size.value += 1
            buffers[i] = ctypes.create_string_buffer(2 * size.value)
        self.assertEqual(items(), 0)
        counters, instances = (strings(memory, 2 * size.value)
                               for memory, size in zip(buffers, sizes))
        self.assertIn("IO Read Bytes/sec", counters)
        self.assertEqual(instances, ["Idle", "System", "svchost", "database",
                                     "agent", "_Total"])
        memory, size = sized("PdhExpandCounterPathW",
                             wide(r"\Process(svchost*)\Thread Count"), ...)
        self.assertEqual([path.rpartition("Process")[2] for path in
                          strings(memory, size)],
                         [rf"(svchost{number})\Thread Count"
                          for number in ("", "#1", "#2")])

    def test_values(self):
        rate = self.add(r"\Process(svchost)\IO Read Bytes/sec",
                        "PdhAddEnglishCounterW")
        all_rates = self.add(r"\Process(*)\IO Read Bytes/sec")
        removed = self.add(r"\Process(agent)\Thread Count")
        call("PdhRemoveCounter", removed)
        for _ in range(2):
            call("PdhCollectQueryData", self.query)
        value, kind = Value(), ctypes.c_uint32()
        call("PdhGetFormattedCounterValue", rate, FMT_DOUBLE,
             ctypes.byref(kind), ctypes.byref(value))
        self.assertEqual((value.status, value.number, kind.value),
                         (0, 665190.4, 0x10410500))
        call("PdhSetCounterScaleFactor", rate, -3)
        call("PdhGetFormattedCounterValue", rate, FMT_DOUBLE, None,
             ctypes.byref(value))
        self.assertAlmostEqual(value.number, 665.1904, places=9)
        size, count = ctypes.c_uint32(0), ctypes.c_uint32(0)
        self.assertEqual(code_of(
            "PdhGetFormattedCounterArrayW", all_rates, FMT_DOUBLE,
            ctypes.byref(size), ctypes.byref(count), None), MORE_DATA)
        memory = ctypes.create_string_buffer(size.value)
        call("PdhGetFormattedCounterArrayW", all_rates, FMT_DOUBLE,
             ctypes.byref(size), ctypes.byref(count), memory)
        items = ctypes.cast(memory, ctypes.POINTER(Item))
        self.assertEqual([(text_at(items[i].name), items[i].value.number)
                          for i in range(count.value)][2:5],
                         [("svchost", 665190.4), ("svchost", 704512),
                          ("svchost", 740556.8)])
        memory, _ = sized("PdhGetCounterInfoW", rate, 1, ..., unit=1,
                          is_size_first=True)
        info = Info.from_buffer(memory)
        self.assertIn(info.status, (0, 1))
        self.assertEqual((info.scale, info.user, info.query_user), (-3, 3, 7))
        self.assertEqual(text_at(info.path),
                         r"\\FIXTURE\Process(svchost)\IO Read Bytes/sec")
        self.assertEqual(text_at(info.elements.instance), "svchost")

    def test_log(self):
        """A perfmon log, which OpenQuery may name: 10 s between samples."""
        query, counter, value = ctypes.c_void_p(), ctypes.c_void_p(), Value()
        call("PdhOpenQueryW", wide(str(ROOT / "fixtures/machine.blg")),
             ctypes.c_size_t(0), ctypes.byref(query))
        call("PdhAddCounterW", query, wide(r"\System\System Up Time"),
             ctypes.c_size_t(0), ctypes.byref(counter))
        for seconds in (3600, 3610):
            call("PdhCollectQueryData", query)
            call("PdhGetFormattedCounterValue", counter, FMT_DOUBLE, None,
                 ctypes.byref(value))
            self.assertEqual(value.number, seconds)
        call("PdhCloseQuery", query)

    def test_paths(self):
        parts = ["\\\\pc", "Object", "name", "parent", "Count"]
        memories = [ctypes.create_string_buffer(wide(part)) for part in parts]
        machine, name, instance, parent, counter = map(ctypes.addressof, memories)
        elements = Elements(machine, name, instance, parent, 2, counter)
        path = strings(*sized("PdhMakeCounterPathW", ctypes.byref(elements), ...,
                              0))[0]
        self.assertEqual(path, r"\\pc\Object(parent/name#2)\Count")
        memory, _ = sized("PdhParseCounterPathW", wide(path), ..., 0, unit=1)
        found = Elements.from_buffer(memory)
        self.assertEqual([text_at(address) for address in (
            found.machine, found.object, found.instance, found.parent,
            found.counter)], parts)
        self.assertEqual(found.index, 2)
        sizes = [ctypes.c_uint32(200), ctypes.c_uint32(200)]
        buffers = [ctypes.create_string_buffer(400) for _ in range(2)]
        index = ctypes.c_uint32(9)
        call("PdhParseInstanceNameW", wide("dog/cat#1"),
             buffers[0], ctypes.byref(sizes[0]), buffers[1],
             ctypes.byref(sizes[1]), ctypes.byref(index))
        self.assertEqual([strings(b, 2 * s.value)[0] for b, s in
                          zip(buffers, sizes)], ["cat", "dog"])
        self.assertEqual(index.value, 1)
        call("PdhValidatePathW", wide(r"\Process(agent)\Thread Count"))

    def test_names(self):
        call("PdhConnectMachineW", None)
        name = strings(*sized("PdhLookupPerfNameByIndexW", None, 230, ...))[0]
        self.assertEqual(name, "Process")
        index = ctypes.c_uint32()
        call("PdhLookupPerfIndexByNameW", None, wide(name), ctypes.byref(index))
        self.assertEqual(index.value, 230)
        dialog = ctypes.create_string_buffer(200)
        self.assertEqual(code_of("PdhBrowseCountersW", dialog), DIALOG_CANCELLED)


if __name__ == "__main__":
    unittest.main()
