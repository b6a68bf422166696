#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The example live_counters in Python, with ctypes and the shared library.

    live_counters.py [PATH [FILE]]

Prints the values of a counter: four samples of this machine, one each second,
or those of a file. If the library is not installed where the system looks for
libraries, set LD_LIBRARY_PATH.

The structures are those of stream.h, collect.h and source.h in version 0.1:
each minor version has its own ABI, and therefore its own library name.
"""

import ctypes
import sys
from ctypes import (POINTER, byref, c_bool, c_char, c_char_p, c_double,
                    c_int32, c_int64, c_uint8, c_uint32, c_uint64, c_void_p)

NEXT_RECORD, STATUS_OK, PROBLEM_NOTE = 1, 0, 0
DEFAULT_PATH = "\\Processor Information(*)\\% Processor Time"


class Handle(c_void_p):
    """A pointer to an opaque structure."""


class Failure(ctypes.Structure):
    """pfb_source_failure"""
    _fields_ = [("code", c_uint32), ("sentence", c_char * 240)]


class Sized(ctypes.Structure):
    """A structure whose first member is its size."""
    def __init__(self):
        super().__init__(size=ctypes.sizeof(self))


class Problem(Sized):
    """pfb_problem"""
    _fields_ = [
        *((name, c_uint32)
          for name in ("size", "kind", "code", "system", "file")),
        ("term", c_int32), ("has_offset", c_uint32), ("offset", c_uint64),
        ("sentence", c_char_p)]


class Frame(Sized):
    """pfb_frame"""
    _fields_ = [
        *((name, c_uint32) for name in ("size", "kind", "file", "flags")),
        ("number", c_uint64), ("layout", c_uint64),
        ("time", c_int64), ("perf_time", c_int64), ("perf_freq", c_int64),
        ("notes", c_uint32), ("result_count", c_uint32), ("count", c_uint32),
        ("values", POINTER(c_double)), ("statuses", POINTER(c_uint8)),
        ("flag_bits", POINTER(c_uint8)), ("raw", POINTER(c_uint64)),
        ("times", POINTER(c_int64))]


class Series(Sized):
    """pfb_series"""
    _fields_ = [
        ("size", c_uint32), ("has", c_uint32),
        *((name, c_char_p) for name in (
            "machine", "counterset", "instance", "parent", "counter", "unit")),
        *((name, c_uint32) for name in (
            "machine_bytes", "counterset_bytes", "instance_bytes",
            "parent_bytes", "counter_bytes", "occurrence", "type",
            "counter_id", "title", "result", "position", "row")),
        ("attributes", c_uint64), ("instance_id", c_int64),
        ("set", c_uint8 * 16)]


def load():
    """The library. The results of its other functions are int or void."""
    library = ctypes.CDLL("libperfblock_platform.so.0.1")
    for result, names in (
            (Handle, ("stream_new", "collector_new", "selection_new",
                      "source_open_live")),
            (c_bool, ("stream_problem", "collector_take_problem",
                      "collector_frame", "collector_series")),
            (c_char_p, ("stream_label",))):
        for name in names:
            getattr(library, "pfb_" + name).restype = result
    return library


def print_values(library, collector):
    """Prints the values of the current frame."""
    frame, series = Frame(), Series()
    if not library.pfb_collector_frame(collector, byref(frame)):
        return
    for i in range(frame.count):
        if frame.statuses[i] == STATUS_OK:  # most values need two samples
            library.pfb_collector_series(collector, i, byref(series))
            print(series.instance.decode("utf-8"),
                  series.counter.decode("utf-8"), f"{frame.values[i]:.2f}",
                  series.unit.decode("utf-8"))


def main():
    """Returns the exit status."""
    path = sys.argv[1] if len(sys.argv) > 1 else DEFAULT_PATH
    library, failure, problem, failed = load(), Failure(), Problem(), False
    stream, collector = library.pfb_stream_new(), library.pfb_collector_new()
    selection = library.pfb_selection_new()
    if library.pfb_selection_add(selection, path.encode("utf-8")) < 0:
        failed = True
        print(f"{path} is not a counter path", file=sys.stderr)
    elif len(sys.argv) > 2:
        library.pfb_stream_add_file(stream, sys.argv[2].encode("utf-8"))
    elif library.pfb_stream_add_source(
            stream, library.pfb_source_open_live(byref(failure))) < 0:
        failed = True
        print(failure.sentence.decode("utf-8"), file=sys.stderr)
    library.pfb_collector_select(collector, selection)
    for _ in range(4):
        if library.pfb_collector_read(collector, stream) != NEXT_RECORD:
            break
        print_values(library, collector)
    while (library.pfb_stream_problem(stream, byref(problem)) or
           library.pfb_collector_take_problem(collector, byref(problem))):
        label = library.pfb_stream_label(stream, problem.file)
        print((label + b": " + problem.sentence).decode("utf-8"),
              file=sys.stderr)
        failed |= problem.kind != PROBLEM_NOTE
    library.pfb_selection_close(selection)
    library.pfb_collector_close(collector)
    library.pfb_stream_close(stream)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
