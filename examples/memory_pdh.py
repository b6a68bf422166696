#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints the working set of each process, largest first: through PDH, on Windows and elsewhere."""
import ctypes
import sys

pdh = ctypes.CDLL("pdh.dll" if sys.platform == "win32" else "libperfblock_pdh.so.1")
FMT_LARGE, MORE_DATA = 0x400, 0x800007D2


class Item(ctypes.Structure):
    """PDH_FMT_COUNTERVALUE_ITEM_W with an integer."""
    _fields_ = [("name", ctypes.c_void_p), ("status", ctypes.c_uint32), ("value", ctypes.c_int64)]


def wide(text):
    """A string of 16-bit characters; c_wchar_p has 32 bits except on Windows."""
    return (text + "\0").encode("utf-16-le")


def name_at(address):
    units = 0
    while ctypes.string_at(address + 2 * units, 2) != b"\0\0":
        units += 1
    return ctypes.string_at(address, 2 * units).decode("utf-16-le")


def check(status, expected=0):
    if status & 0xFFFFFFFF != expected:
        sys.exit(f"PDH status {status & 0xFFFFFFFF:08X}")


def working_sets(path):
    """[(name, bytes)] of the instances of a path."""
    query, counter = ctypes.c_void_p(), ctypes.c_void_p()
    size, count = ctypes.c_uint32(0), ctypes.c_uint32(0)
    check(pdh.PdhOpenQueryW(None, ctypes.c_size_t(0), ctypes.byref(query)))
    check(pdh.PdhAddEnglishCounterW(query, wide(path), ctypes.c_size_t(0), ctypes.byref(counter)))
    check(pdh.PdhCollectQueryData(query))
    arguments = counter, FMT_LARGE, ctypes.byref(size), ctypes.byref(count)
    check(pdh.PdhGetFormattedCounterArrayW(*arguments, None), MORE_DATA)
    items = (Item * (size.value // ctypes.sizeof(Item) + 1))()
    check(pdh.PdhGetFormattedCounterArrayW(*arguments, items))
    found = [(name_at(item.name), item.value) for item in items[:count.value] if item.status == 0]
    check(pdh.PdhCloseQuery(query))
    return found


for name, size in sorted(working_sets(r"\Process(*)\Working Set"), key=lambda pair: -pair[1]):
    print(f"{size >> 10:12,} KiB  {name}")
