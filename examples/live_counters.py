#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The example live_counters in Python, with ctypes and the shared library.

    live_counters.py [PATH [CAPTURE]]

Collects up to four samples of this machine, or of a capture (.pfb), and prints
the values of a counter. If the library is not installed where the system looks
for libraries, set LD_LIBRARY_PATH.

The structures are those of collect.h and source.h in version 0.1: each minor
version has its own ABI, and therefore its own library name.
"""

import ctypes
import pathlib
import sys
from ctypes import (POINTER, byref, c_bool, c_char, c_char_p, c_double, c_int,
                    c_int64, c_size_t, c_uint8, c_uint32, c_uint64, c_void_p)

STATUS_OK = 0
DEFAULT_PATH = "\\Processor Information(*)\\% Processor Time"


class Failure(ctypes.Structure):
    """pfb_source_failure"""
    _fields_ = [("code", c_uint32), ("sentence", c_char * 240)]


class Value(ctypes.Structure):
    """pfb_collected_value. Names are pointers, because they may contain NUL."""
    _fields_ = [
        *((name, c_void_p) for name in (
            "counterset", "instance", "parent", "counter", "machine")),
        *((name + "_size", c_size_t) for name in (
            "counterset", "instance", "parent", "counter", "machine")),
        *(("has_" + name, c_bool) for name in (
            "counterset", "instance", "parent", "counter", "machine")),
        ("occurrence", c_uint32),
        ("has_time", c_bool), ("is_local_time", c_bool), ("time", c_int64),
        ("status", c_int), ("log_status", c_uint32), ("flags", c_uint32),
        ("value", c_double), ("is_integer", c_bool), ("integer", c_uint64),
        ("unit", c_char_p),
        ("has_raw", c_bool), ("raw", c_uint64),
        ("has_base", c_bool), ("base", c_uint64),
        ("has_type", c_bool), ("type", c_uint32), ("attributes", c_uint64),
        ("is_hidden", c_bool),
        ("has_guid", c_bool), ("guid", c_uint8 * 16),
        ("has_title", c_bool), ("title", c_uint32),
        ("has_counter_id", c_bool), ("counter_id", c_uint32),
        ("has_instance_id", c_bool), ("instance_id", c_int64),
        ("sample", c_uint64), ("result", c_uint32), ("row", c_uint32),
        ("position", c_uint32),
        ("has_object_freq", c_bool), ("object_freq", c_int64)]

    def text(self, name):
        """A name as str."""
        size = getattr(self, name + "_size")
        return ctypes.string_at(getattr(self, name), size).decode("utf-8")


def load():
    """The library with the types of its functions."""
    library = ctypes.CDLL("libperfblock_platform.so.0.1")
    failure = POINTER(Failure)
    for name, result, *arguments in (
            ("source_open_live", c_void_p, failure),
            ("source_open_capture", c_void_p, c_char_p, c_size_t, failure),
            ("source_close", None, c_void_p),
            ("collector_open", c_void_p, c_void_p, c_void_p, failure),
            ("collector_close", None, c_void_p),
            ("collector_add", c_bool, c_void_p, c_char_p, failure),
            ("collector_collect", c_bool, c_void_p, failure),
            ("collector_next", c_bool, c_void_p, POINTER(Value))):
        function = getattr(library, "pfb_" + name)
        function.restype, function.argtypes = result, arguments
    return library


def print_values(library, collector, value):
    """Prints the values of the current sample."""
    while library.pfb_collector_next(collector, byref(value)):
        if value.status == STATUS_OK:  # most values need two samples
            print(value.text("instance"), value.text("counter"),
                  f"{value.value:.2f}", value.unit.decode("utf-8"))


def main():
    """Returns the exit status."""
    path = sys.argv[1] if len(sys.argv) > 1 else DEFAULT_PATH
    library, failure, value = load(), Failure(), Value()
    if len(sys.argv) > 2:
        data = pathlib.Path(sys.argv[2]).read_bytes()
        source = library.pfb_source_open_capture(data, len(data),
                                                 byref(failure))
    else:
        source = library.pfb_source_open_live(byref(failure))
    collector = source and library.pfb_collector_open(source, None,
                                                      byref(failure))
    if collector and library.pfb_collector_add(
            collector, path.encode("utf-8"), byref(failure)):
        for _ in range(4):  # live: waits a second in between
            if not library.pfb_collector_collect(collector, byref(failure)):
                break
            print_values(library, collector, value)
    library.pfb_collector_close(collector)
    library.pfb_source_close(source)
    if failure.sentence:
        print(failure.sentence.decode("utf-8"), file=sys.stderr)
    return 1 if failure.sentence else 0


if __name__ == "__main__":
    sys.exit(main())
