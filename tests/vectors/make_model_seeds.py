#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the seeds of the fuzz target model.

make_model_seeds.py CORPUS

CORPUS/model/seeds gets sequences of calls, one for each behaviour of the
model. Every run writes the same bytes. fuzz/model_fuzzer.c describes the
layout of an input.
"""

import struct
import sys

from seed_files import write_seeds

RING = 0xFFFFFFFFFFFFF000

FAMILY_15H = (0xE000000F, 0x80032013, 0x00010200, 0xE000000F)
VERSION_2 = (0xE000019F, 0x80082018, 0xD0010430, 0xE000019F)
COMPLETE = (0xE00001FF, 0x80082018, 0xF00004B0, 0xE00001FF)
LONG_RECORDS = (0xE00001FF, 0x48F5F8FF, 0xF0000430, 0xE00001FF)
OFF = (0, 0x80032013, 0x00010200, 0xE000000F)
NO_RING = (0xE000000F, 0x80030013, 0x00010200, 0xE000000F)

(IS_32_BIT, FREE_SLOT, ABOVE, ZERO_COUNTS, HOLDS, WRITES_BACK,
 VALUE_IP) = (1 << bit for bit in range(7))
VALUES, CONTINUOUS, STAMPS, INTERRUPT = 2, 1 << 29, 1 << 30, 1 << 31
EVERYTHING = 0x1FE


def load(distance=1):
    """LLWPCB with a block `distance` - 1 bytes after the start of its window; a
    distance of 0 disables LWP."""
    return struct.pack("<BH", 0, distance)


STORE, FORGET = b"\x01", b"\x06"


def values(times):
    return struct.pack("<BB", 2, times)


def inserts(times):
    return struct.pack("<BB", 3, times)


def event(number, traits=0, latency=0):
    return struct.pack("<BBHH", 4, number, traits, latency)


def write(place, data):
    return struct.pack("<BHB", 5, place, len(data)) + data


def window(is_ring):
    return struct.pack("<BB", 7, is_ring)


def block(flags, ring_bytes=1024, base=RING, start=0, threshold=0, filters=0,
          addresses=(0, 0), random=0):
    """Writes the control block's fixed fields."""
    fields = struct.pack("<IIQIIQIIQQQII", flags, ring_bytes | random << 28,
                         base, start, 0, 0, threshold, filters, *addresses, 0,
                         start, 0)
    return write(0, fields)


def pair(offset, number, interval, counter):
    return write(offset + 8 * (number - 1),
                 struct.pack("<II", interval, counter))


def seed(leaf, *calls, options=0, minimum=0):
    return struct.pack("<4IBI", *leaf, options, minimum) + b"".join(calls)


FOUR_LOOPS = b"".join(inserts(1) + values(7) for _ in range(4))

SEEDS = {
    "sample": seed(FAMILY_15H, block(VALUES, start=29 * 32),
                   pair(128, 1, 9, 0), load(), FOUR_LOOPS, STORE, load(0)),
    "full": seed(FAMILY_15H, block(VALUES), load(), inserts(40), STORE,
                 values(3), STORE),
    "full_free_slot": seed(FAMILY_15H, block(VALUES), load(), inserts(40),
                           STORE, options=FREE_SLOT),
    "continuous": seed(FAMILY_15H, block(VALUES | CONTINUOUS | STAMPS),
                       load(), inserts(70), STORE),
    "threshold": seed(FAMILY_15H, block(VALUES | INTERRUPT, threshold=64),
                      load(), inserts(4), STORE, options=ABOVE),
    "threshold_zero": seed(FAMILY_15H, block(VALUES | INTERRUPT), load(),
                           inserts(4), options=ZERO_COUNTS),
    "held": seed(FAMILY_15H, block(VALUES), load(), values(3), inserts(1),
                 values(1), load(0), options=HOLDS),
    "written_back": seed(FAMILY_15H, block(0xFFFFFFFF), load(), STORE,
                         options=WRITES_BACK),
    "address_filter": seed(COMPLETE, block(EVERYTHING, filters=0x80000000,
                                           addresses=(2, 5)), load(),
                           values(9), event(2, 0, 1), event(2, 0, 2), STORE,
                           options=VALUE_IP),
    "branches": seed(VERSION_2, block(EVERYTHING, filters=0x28000000), load(),
                     *(event(3, 1 << bit) for bit in range(5)), STORE),
    "misses": seed(COMPLETE, block(EVERYTHING, filters=0x0B19), load(),
                   *(event(4, 32 << bit, 99 + bit) for bit in range(4)),
                   STORE),
    "every_event": seed(COMPLETE, block(EVERYTHING), load(),
                        *(event(number) for number in range(12)), STORE),
    "random": seed(FAMILY_15H, block(VALUES, random=15), pair(128, 1, 99, 0),
                   load(), values(200), values(200), STORE),
    "minimum": seed(FAMILY_15H, block(0xE), load(), event(2), event(2),
                    STORE, minimum=3),
    "32_bit": seed(FAMILY_15H, block(VALUES, base=0x1_0001_0400), load(),
                   values(9), STORE, options=IS_32_BIT),
    "long_records": seed(LONG_RECORDS, block(VALUES, ring_bytes=2480), load(),
                         inserts(12), STORE),
    "bad_ring": seed(FAMILY_15H, block(VALUES, ring_bytes=1023), load(),
                     values(1)),
    "bad_tail": seed(FAMILY_15H, block(VALUES), load(), inserts(3),
                     write(64, b"\x01"), inserts(1), STORE,
                     write(64, b"\x20"), inserts(1), STORE),
    "ring_over_block": seed(COMPLETE, block(VALUES, base=0x10000), load(),
                            inserts(40), STORE),
    "ring_passes_the_end": seed(FAMILY_15H, block(VALUES, base=RING + 3073),
                                load(), inserts(1)),
    "block_passes_its_window": seed(FAMILY_15H, load(1898), load(1897)),
    "no_memory": seed(FAMILY_15H, block(VALUES), load(), FORGET, inserts(1),
                      window(0), inserts(1), window(1), inserts(1), STORE,
                      window(0), window(0), window(1)),
    "bad_tail_at_load": seed(FAMILY_15H, block(VALUES),
                             write(64, b"\x01"), load(), inserts(1)),
    "bad_tail_while_held": seed(FAMILY_15H, block(VALUES), load(), values(1),
                                write(64, b"\x01"), values(1), inserts(1),
                                STORE, load(), options=HOLDS),
    "no_memory_to_store": seed(FAMILY_15H, block(VALUES), load(), inserts(1),
                               FORGET, STORE, load(0), STORE),
    "off": seed(FAMILY_15H, values(1), inserts(1), event(2), STORE),
    "no_prediction": seed(FAMILY_15H, block(EVERYTHING, filters=0x06000000),
                          load(), event(3, 1), event(3, 2), STORE),
    "misses_of_one_level": seed(COMPLETE, block(EVERYTHING, filters=0x0900),
                                load(), event(4, 32), event(4, 128), STORE),
    "unavailable": seed(OFF, load(), STORE, values(1), inserts(1), event(2)),
    "no_ring": seed(NO_RING, load()),
}


if __name__ == "__main__":
    sys.exit(write_seeds(__doc__, {"model": SEEDS.items()}))
