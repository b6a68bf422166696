#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the seeds of the fuzz target lwp: `make_lwp_seeds.py CORPUS`.

CORPUS/lwp/seeds gets snapshots: four registers, control block and ring
(docs/lwp.md has the layouts). A tolerant reader accepts `valid_*` and rejects
`broken_*`. Every run writes the same bytes.
"""

import struct
import sys

from seed_files import write_seeds

CONT, PTSC, INT = 1 << 29, 1 << 30, 1 << 31
ALL = 0x7E | CONT | PTSC | INT | 1
VALUE, INSERTED = 1, 255


def leaf(**more):
    """EAX, EBX, ECX and EDX of a CPU with all events and without a minimum
    ring."""
    events = more.get("max_events", 6)
    offset = more.get("event_offset", 128)
    size = more.get("control_bytes", offset + 8 * events)
    edx = more.get("edx", ALL)
    return (more.get("eax", edx),
            offset << 24 | events << 16 | more.get("event_bytes", 32) << 8 |
            size // 8,
            more.get("min_buffer", 0) << 16 | more.get("version", 1) << 9 |
            more.get("data_address", 0) << 5 | more.get("latency_bits", 0),
            edx)


def control(size, **more):
    """An LWPCB of `size` bytes."""
    block = struct.pack(
        "<IIQIIQIIQQQII", more.get("flags", 0x7E),
        more.get("random", 0) << 28 | more["buffer"],
        more.get("base", 0x7F0000001000), more.get("head", 0),
        more.get("reserved_20", 0), more.get("missed", 0),
        more.get("threshold", 0), more.get("filters", 0),
        more.get("base_ip", 0), more.get("limit_ip", 0),
        more.get("reserved_56", 0), more.get("tail", 0),
        more.get("reserved_68", 0))
    block += bytes(more.get("event_offset", 128) - len(block))
    for interval, counter in more.get("pairs", ()):
        block += struct.pack("<II", interval & 0xFFFFFFFF,
                             counter & 0xFFFFFFFF)
    return (block + bytes(size))[:size]


def record(ident, data1=0, data2=0, flags=0, **more):
    """One record; a longer one is padded."""
    size = more.get("size", 32)
    whole = struct.pack("<BBHIQQQ", ident, more.get("core", 2), flags, data1,
                        more.get("address", 0x401000), data2,
                        more.get("stamp", 0))
    return (whole + b"\xee" * size)[:size]


def snapshot(registers, block, ring, cut=0):
    """A snapshot without its last `cut` bytes."""
    whole = (struct.pack("<4I", *registers) + struct.pack("<Q", len(block)) +
             block + struct.pack("<Q", len(ring)) + ring)
    return whole[:len(whole) - cut]


def ring_of(slots, first, records, stride=32):
    """A ring with records from slot `first` on, wrapping at the end."""
    ring = [bytes(stride)] * slots
    for number, each in enumerate(records):
        ring[(first + number) % slots] = each
    return b"".join(ring)


def simple(registers=None, records=(), slots=4, first=0, **more):
    """A snapshot whose unread records are the ones given."""
    registers = registers or leaf()
    stride = registers[1] >> 8 & 0xFF
    size = 8 * (registers[1] & 0xFF)
    more.setdefault("buffer", slots * stride)
    more.setdefault("head", (first + len(records)) % slots * stride)
    more.setdefault("tail", first * stride)
    more.setdefault("event_offset", registers[1] >> 24)
    ring = ring_of(slots, first, records, stride)
    return snapshot(registers, control(size, **more), ring)


# The sample program of the documentation of __llwpcb --------------------------

# EventId and i of each record: LWPINS for every seventh i, LWPVAL counted down
# from 0 with an interval of 9. A 64-bit build runs the loop twice.
FIRST = ((INSERTED, 0), (VALUE, 0), (INSERTED, 7), (VALUE, 10), (INSERTED, 14),
         (VALUE, 20), (INSERTED, 21), (INSERTED, 28), (VALUE, 30))
SECOND = ((INSERTED, 0), (INSERTED, 7), (VALUE, 9), (INSERTED, 14),
          (VALUE, 19), (INSERTED, 21), (INSERTED, 28), (VALUE, 29))
DATA2 = {(INSERTED, 0): 0xDEADBEEF, (VALUE, 0): 0x0BADF00D,
         (INSERTED, 1): 0xDEADBEEFDEADBEEF, (VALUE, 1): 0x0BADF00D0BADF00D}
FLAGS = {INSERTED: 0x4567, VALUE: 0x0CAD}


def sample(loops, counter):
    """A snapshot of the sample program, with 64 slots instead of 4096. As
    there, the records begin three slots before the end of the ring."""
    records = [record(ident, i, DATA2[ident, loop], FLAGS[ident])
               for loop, rows in enumerate(loops) for ident, i in rows]
    return simple(leaf(min_buffer=1), records, slots=64, first=61, flags=2,
                  threshold=262144, pairs=[(9, counter)])


# Seeds ------------------------------------------------------------------------

def cpus():
    """Leaves of real processors, and layouts that no processor has."""
    family_15h = leaf(max_events=3, min_buffer=1, edx=INT | 0xF, eax=0)
    version_2 = leaf(max_events=8, version=2, min_buffer=1, latency_bits=16,
                     data_address=1, edx=0xE000019F, eax=0)
    yield "family_15h", simple(family_15h, [record(3)], slots=32, flags=8)
    yield "version_2", simple(
        version_2, [record(4, 0x12345, 0x7FFF0000, 0x8000), record(7),
                    record(8)], slots=32, flags=0x19E & ~1,
        pairs=[(99, n) for n in range(8)])
    for size in (24, 40, 248):
        yield f"record_{size}", simple(
            leaf(event_bytes=size), [record(255, n, size=size)
                                     for n in range(3)], first=2)
    yield "no_pairs", simple(leaf(max_events=0), [record(255)])
    yield "pairs_at_72", simple(leaf(event_offset=72), [record(1, 5)],
                                pairs=[(9, 3)] * 6)
    yield "pairs_at_248", simple(leaf(event_offset=248, max_events=1),
                                 [record(1)], pairs=[(9, 3)])
    yield "version_127", simple(leaf(version=127))
    yield "inconsistent_leaf", simple(leaf(eax=ALL | 0x180, edx=ALL))


def rings():
    """Records of every kind, and rings in every state."""
    yield "empty", simple()
    yield "full", simple(records=[record(255, n) for n in range(3)], first=1,
                         missed=0xFFFFFFFF00000005)
    yield "every_event", simple(records=[
        record(0), record(1, 2, 3, 4), record(2), record(3, 0, 0x402000,
                                                         0xF000),
        record(4, 0x155, 0x7FFF0000, 0xB000), record(5), record(6), record(7),
        record(254, 1, 2, 3), record(255, 9, 8, 7)], slots=11, first=7)
    yield "reserved_bits", simple(records=[
        record(2, 1), record(3, 1, 0, 0x0FFF), record(4, 0, 0, 1),
        record(5, 0, 1), record(6, 0, 0, 1), record(255, stamp=1)], slots=7)
    yield "stamps", simple(records=[
        record(255, n, core=n & 1, stamp=(1 << 40) - n) for n in range(3)],
        flags=0x7E | PTSC)
    yield "continuous", simple(records=[record(3, n) for n in range(2)],
                               first=3, flags=8 | CONT, head=32, tail=32)
    yield "filters", simple(flags=8 | INT, filters=0x38000000, threshold=64,
                            base_ip=0x400000, limit_ip=0x4FFFFF)
    yield "sample_32", sample([FIRST], 9)
    yield "sample_64", sample([FIRST, SECOND], 8)


def oddities():
    """Deviations that a tolerant reader notes."""
    yield "remainder", simple(records=[record(1)], buffer=159)
    yield "below_minimum", simple(leaf(min_buffer=2))
    yield "head_beyond", simple(records=[record(1)], first=3, head=0xFFFFFFFF)
    yield "head_unaligned", simple(records=[record(1)], head=63)
    yield "unavailable", simple(leaf(edx=INT | 0xF), [record(4)], flags=0x10)
    yield "wraps", simple(base=(1 << 64) - 127)
    # The fuzz target uses the size of the input, here 336, as the address of
    # the control block; a ring at address 300 overlaps it.
    yield "overlap", simple(base=300)
    yield "reserved", simple(flags=0x1FFFFFFF, reserved_20=1, reserved_56=2,
                             reserved_68=3)
    yield "random", simple(random=15, threshold=0xFFFFFFFF, pairs=[
        (0x3FFFFFF, 0x2000000), (-1, -1), (5, 0xFC000001)])


def broken():
    """Seeds that a tolerant reader rejects."""
    for name, more in (("no_lwp", {"edx": ALL & ~1}),
                       ("record_0", {"event_bytes": 0}),
                       ("record_16", {"event_bytes": 16}),
                       ("record_36", {"event_bytes": 36}),
                       ("pairs_at_64", {"event_offset": 64}),
                       ("pairs_at_132", {"event_offset": 132}),
                       ("pairs_beyond", {"control_bytes": 168}),
                       ("many_pairs", {"max_events": 255, "event_offset": 72,
                                       "control_bytes": 2040})):
        yield name, snapshot(leaf(**more), control(176, buffer=64), bytes(64))
    for name, more in (("no_buffer", {"buffer": 0, "random": 15}),
                       ("one_record", {"buffer": 63}),
                       ("ring_beyond", {"buffer": 160}),
                       ("ring_max", {"buffer": 0xFFFFFFF}),
                       ("tail_beyond", {"tail": 128}),
                       ("tail_unaligned", {"tail": 4})):
        yield name, simple(**more)
    whole = (leaf(), control(176, buffer=64), bytes(64))
    yield "cut_ring", snapshot(*whole, cut=1)
    yield "cut_control", snapshot(*whole, cut=100)
    yield "cut_sizes", snapshot(*whole, cut=64 + 8 + 176 + 1)
    yield "short_control", snapshot(leaf(), control(168, buffer=64), bytes(64))
    yield "size_max", struct.pack("<4IQ", *leaf(), (1 << 64) - 1) + bytes(9)
    yield "no_bytes", b""


def seeds():
    """All seeds by name."""
    for make in (cpus, rings, oddities):
        for name, seed in make():
            yield "valid_" + name, seed
    for name, seed in broken():
        yield "broken_" + name, seed


if __name__ == "__main__":
    sys.exit(write_seeds(__doc__, {"lwp": seeds()}))
