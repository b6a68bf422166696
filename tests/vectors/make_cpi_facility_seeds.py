#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the seeds of the fuzz target cpi_facility.

make_cpi_facility_seeds.py CORPUS

CORPUS/cpi_facility/seeds gets sequences of calls for the states of an instance
and for the results of a get. Every run writes the same bytes.
fuzz/cpi_facility_fuzzer.c describes the layout of an input.
"""

import struct
import sys

from seed_files import write_seeds

RAW, SCALED, ON_THREAD, TRACE, SUMMARY, DETAILED = 1, 2, 4, 8, 0x20, 0x40
THREAD_ONLY = 0x80000000
POINTER, NUMBER = 8, 9


def step(turn, cpus=2, kind=1, shift=0):
    """A snapshot whose counts grow with `turn`."""
    counters = b"".join(
        struct.pack("<6B", cpu, shift, 5 * turn * (cpu + 1), 10 * turn,
                    4 * turn, 8 * turn) for cpu in range(cpus))
    return struct.pack("<BHHHB", kind, 100 * turn, 3 * turn, 7 * turn,
                       cpus) + counters


def seed(*calls, steps=None, widths=(64, 64)):
    """Steps and calls."""
    steps = [step(turn) for turn in range(8)] if steps is None else steps
    return bytes((*widths, len(steps))) + b"".join(steps) + b"".join(calls)


def init(mode, place=0):
    """A new instance."""
    return struct.pack("<BBI", 0, place, mode)


def call(what, place=0, operands=b""):
    """A call, optionally with operands."""
    return bytes((what, place)) + operands


def end(place=0):
    """Terminate."""
    return call(1, place)


def start(place=0):
    """Start the interval again."""
    return call(2, place)


def get(place=0):
    """Get the figures."""
    return call(3, place)


def trace(place=0, minor=1, forms=0, label=0):
    """Get the figures and write hooks."""
    return call(4, place, struct.pack("<hBH", minor, forms, label))


def identity(place=0, minor=7, label=8):
    """Set minor code and label of hooks."""
    return call(5, place, struct.pack("<hH", minor, label))


def attach(capacity, place=0):
    """Attach a buffer."""
    return call(6, place, struct.pack("<H", capacity))


def rest(place=0):
    """All calls that do not change the state of an instance."""
    return b"".join(call(what, place) for what in (7, 8, 9, 10)) + call(
        11, place, b"\1")


def calls_on(place, operands=b""):
    """Start, get, trace, identity, attach, details and terminate, on one handle.
    """
    return b"".join(
        call(what, place) + operands for what in (2, 3)) + b"".join(
            (call(4, place) + operands + struct.pack("<hBH", 1, 0, 0),
             call(5, place) + operands + struct.pack("<hH", 1, 0),
             call(6, place) + operands + struct.pack("<H", 9),
             call(8, place) + operands, call(1, place) + operands))


def all_seeds():
    """(name, bytes) of each seed."""
    number = struct.pack("<I", 0x12345)
    yield "intervals", seed(init(RAW), get(), start(), get(), get(), rest(),
                            end())
    yield "nested", seed(init(SCALED), init(RAW, 1), get(), get(1), end(),
                         start(1), get(1), end(1))
    yield "null", seed(calls_on(0))
    yield "never", seed(calls_on(POINTER), calls_on(NUMBER, number),
                        init(RAW), calls_on(POINTER),
                        calls_on(NUMBER, number))
    yield "dead", seed(init(RAW), end(), calls_on(0), init(RAW, 1),
                       calls_on(0))
    for mode in (0, 0x7F, THREAD_ONLY, THREAD_ONLY | SCALED,
                 THREAD_ONLY | SUMMARY, 0x80, THREAD_ONLY | DETAILED | TRACE):
        yield f"mode_{mode:x}", seed(init(mode), attach(4000), get(), trace(),
                                     rest(), end())
    yield "forms", seed(init(RAW | ON_THREAD), attach(4000), trace(),
                        trace(forms=SUMMARY), trace(forms=DETAILED),
                        trace(forms=SUMMARY | DETAILED), trace(forms=1))
    yield "labels", seed(init(TRACE), attach(6000), trace(label=255),
                         trace(label=256), identity(label=255), get(),
                         identity(label=256), identity(minor=256),
                         identity(minor=-1), trace(minor=-1), get())
    yield "buffers", seed(init(TRACE), get(), attach(51), get(), rest(),
                          attach(52), get(), rest(), get(), rest(), attach(0),
                          get())
    refused = [step(0), step(1, kind=3), step(2), step(3, kind=3), step(4)]
    yield "refused", seed(init(RAW), get(), get(), start(), get(), start(),
                          get(), start(), steps=refused)
    yield "refused_init", seed(init(RAW), rest(), steps=[step(0, kind=2)])
    yield "no_steps", seed(init(RAW), steps=[])
    yield "no_data", seed(init(TRACE), attach(400), get(), rest(),
                          steps=[step(1), step(1)])
    yield "backward", seed(init(RAW), get(), rest(), steps=[step(2), step(1)])
    yield "no_thread", seed(init(ON_THREAD), get(), rest(),
                            steps=[step(0, kind=0), step(1, kind=0)])
    yield "user_only", seed(init(THREAD_ONLY), get(), rest(),
                            steps=[step(0, 0, 5), step(1, 0, 1)])
    yield "sums", seed(init(RAW), attach(400), trace(), rest(),
                       steps=[step(0), step(12, 3, 1, 57)])
    yield "no_width", seed(init(RAW), get(), widths=(0, 64))
    yield "wrapped", seed(init(RAW), get(), steps=[step(7), step(8)],
                          widths=(5, 6))
    yield "cpu_gone", seed(init(RAW | SCALED), attach(400),
                           trace(forms=SUMMARY | DETAILED), rest(),
                           steps=[step(1, 3), step(4, 2)])


if __name__ == "__main__":
    sys.exit(write_seeds(__doc__, {"cpi_facility": all_seeds()}))
