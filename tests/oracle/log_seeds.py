# SPDX-License-Identifier: MIT
"""The seeds of perfmon logs (.blg)."""

import struct

import log_writer as w
import v1_writer
from log_writer import LOCAL, SECOND, UTC

RAW, RATE, TIMER_INV = 0x00010000, 0x10410400, 0x21510500
AVERAGE, AVERAGE_TIMER, FRACTION = 0x40020500, 0x30020400, 0x20020400
PRECISION, ELAPSED, MULTI = 0x20570500, 0x30240500, 0x22510500
FREQUENCY = 2725536
ALL = 0x01
WHOLE = 0x10
NO_MACHINE, NO_INSTANCE, NO_OBJECT = 0x800007D0, 0x800007D1, 0xC0000BB8

DISK = w.path(AVERAGE, FREQUENCY, "\\\\PC", "PhysicalDisk", "0 C:",
              "Avg. Disk Bytes/Read", scale=-2)
RATE_PATH = w.path(RATE, FREQUENCY, "\\\\PC", "Memory", None, "Pages/sec")
CPUS = w.path(TIMER_INV, SECOND, "\\\\PC", "Processor", "*",
              "% Processor Time", flags=ALL)
OBJECT = w.path(0x10, 0, "\\\\PC", "Memory", None, "*", flags=WHOLE)


def stamp(tick):
    """Local time and UTC of a sample."""
    return LOCAL + tick * SECOND, UTC + tick * SECOND + 4875


def cpus(tick, *rows):
    """The item of the path CPUS with rows (name, idle time)."""
    local, utc = stamp(tick)
    return w.instances(*[(name, idle, utc) for name, idle in rows], time=local)


def three_counters(tick, each=w.PART_BYTES):
    """The events of a sample of the paths DISK, RATE_PATH and CPUS."""
    local, _ = stamp(tick)
    return w.sample(
        w.counter(4096 * tick, 3 * tick, time=local),
        w.counter(70 * tick, 5000000 + FREQUENCY * tick, time=local),
        cpus(tick, ("0", 4000000 * tick), ("1", 9000000 * tick),
             ("_Total", 6500000 * tick)), each=each, time=local)


def memory_block(tick):
    """A V1 block with one object, of sample `tick`."""
    v1 = v1_writer.little
    return v1.block(v1.single(
        4, [v1.counter(6, RAW, 4, 4), v1.counter(10, RATE, 4, 8)],
        v1.v4(1000 + tick), v1.v4(70 * tick)),
        clock=(FREQUENCY * tick, FREQUENCY, UTC + tick * SECOND))


def counters(**options):
    """A log of two samples of three counters."""
    return w.log(*w.paths(DISK, RATE_PATH, CPUS), *three_counters(1), *three_counters(2),
                 *w.summary(2), **options)


def objects(*samples, **options):
    """A log of whole objects with a name table."""
    return w.log(
        *w.names("\\\\PC", (1, "11"), (4, "Memory")),
        *w.names("\\\\PC", (6, "Available"), (10, "Pages/sec")),
        *w.paths(OBJECT), *samples, **options)


def whole_objects(each=w.PART_BYTES):
    """A log of two samples of one object."""
    return objects(*[part for tick in (1, 2) for part in w.sample(
        w.block(memory_block(tick)), each=each)])


def all_types():
    """A log with counters of many types, one of them unknown."""
    kinds = (RAW, RATE, TIMER_INV, AVERAGE, AVERAGE_TIMER, FRACTION,
             PRECISION, ELAPSED, MULTI, 0x00550500, 0x00400400, 0xFFFFFFFF)
    entries = [w.path(kind, FREQUENCY, "\\\\PC", "O", None, "%08x" % kind)
               for kind in kinds]
    samples = [w.sample(*[w.counter(1000 * tick * (n + 1), stamp(tick)[1],
                                    multi=n)
                          for n in range(len(kinds))]) for tick in (1, 2)]
    return w.log(*w.paths(*entries), *samples[0], *samples[1])


def moving_instances():
    """Instances are added, removed, reordered and repeated."""
    lists = ((("a", 1), ("b", 2), ("b", 3), ("c", 4)),
             (("b", 5), ("a", 6), ("b", 7), ("d", 8)),
             (), (("", 1), ("", 2), ("\ud800", 3)), (("", 2), ("b", 9)))
    return w.log(*w.paths(CPUS), *[
        part for tick, rows in enumerate(lists)
        for part in w.sample(cpus(tick, *rows))])


def statuses():
    """Items and instances, some with statuses that mean that there is no value.
    """
    samples = (
        (w.counter(0, 0, NO_MACHINE), w.instances(status=NO_OBJECT)),
        (w.counter(1, 1, 1), w.instances(("a", 1, UTC, NO_INSTANCE),
                                         ("b", 2, UTC))),
        (w.counter(2, 5), w.instances(("a", 3, UTC), ("b", 4, UTC + 9),
                                      status=NO_MACHINE)),
        (w.counter(2, 6, 0xFFFFFFFF), w.instances(("a", 3, UTC + 20))))
    return w.log(*w.paths(DISK, CPUS), *[
        part for items in samples for part in w.sample(*items)])


def odd_paths():
    """Paths with and without optional parts, and strings at any offset."""
    return w.log(*w.paths(
        w.path(RAW, 0, None, None, None, None),
        w.path(RAW, 0, "", "", "", "", parent=""),
        w.path(RAW, 0, "\\\\PC", "Thread", "0", "ID", parent="idle", index=7),
        w.path(RAW, 0, "\\\\PC", "O", "\ud800x", "\x01\x1b", slack=b"\xee" * 5),
        w.path(RAW, 0, "\\\\PC", "O", None, "same", offsets={"counter": 0}),
        w.path(RAW, (1 << 64) - 1, "\\\\PC", "O", None, "C", scale=-(1 << 31),
               flags=0x20000000, user=w.ANY)),
        *w.sample(*[w.counter(n, n) for n in range(4)]))


def valid_logs():
    """{name: bytes} of logs that only a strict reader may reject."""
    first = w.paths(DISK, RATE_PATH, CPUS)
    stray = w.event(w.SAMPLE, b"stray", part=2, parts=2)
    cut = w.sample(w.counter(1, 2), w.counter(3, 4), each=40)
    return {
        "counters": counters(), "counters_32_bit": counters(width=4),
        "parts": w.log(*first, *three_counters(1, 100), *three_counters(2, 48)),
        "empty": w.log(), "paths_only": w.log(*first),
        "no_paths": w.log(*three_counters(1)),
        "objects": whole_objects(), "objects_in_parts": whole_objects(48),
        "block_is_no_block": objects(*w.sample(w.block(b"not a block"))),
        "all_types": all_types(), "moving_instances": moving_instances(),
        "statuses": statuses(), "odd_paths": odd_paths(),
        "fewer_items": w.log(*first, *w.sample(w.counter(1, 2))),
        "more_items": w.log(*w.paths(DISK), *three_counters(1)),
        "two_path_lists": w.log(*w.paths(DISK), *w.sample(w.counter(1, 2)),
                                *w.paths(CPUS), *w.sample(cpus(1, ("a", 1)))),
        "unknown_item": w.log(*w.paths(DISK, RATE_PATH), *w.sample(
            w.item(9, b"whatever"), w.counter(1, 2))),
        "unaligned_item": w.log(*w.paths(DISK, RATE_PATH), *w.sample(
            w.counter(1, 2, size=49) + b"\0", w.counter(3, 4))),
        "after_sample": w.log(*w.paths(DISK), *w.sample(
            w.counter(1, 2), tail=b"\xa5" * 16)),
        "foreign_event": w.log(*first, w.event(w.SAMPLE, b"x", guid=bytes(16)),
                               *three_counters(1)),
        "unknown_layout": w.log(*first, *three_counters(1), w.event(
            w.SAMPLE, b"x", layout=b"\x13\xc0"), *three_counters(2)),
        "unknown_type": w.log(*first, w.event(0x21, b"x"), *three_counters(1)),
        "stray_part": w.log(*first, stray, *three_counters(1)),
        "missing_part": w.log(*first, cut[0], *cut[2:], *three_counters(1)),
        "repeated_part": w.log(*first, cut[0], cut[0], *cut[1:], *three_counters(1)),
        "foreign_part": w.log(*first, cut[0], *w.names("\\\\PC"), *cut[1:]),
        "last_buffer_whole": w.log(*first, whole=True),
        "bias_of_daylight": counters(bias=300, daylight=-60),
        "zone_names_full": counters(names=("x" * 40, "\u00e9" * 40)),
        "clock_zero": w.log(*w.paths(DISK), *w.sample(w.counter(0, 0, time=0)),
                            *w.sample(w.counter(0, 0, time=w.ANY))),
    }


def broken_containers():
    """{name: bytes} of logs with broken buffers and events."""
    first, good = w.paths(DISK, RATE_PATH, CPUS), counters()

    def around(**options):
        return w.buffer(w.trace(2)) + w.buffer(first[0], **options)

    cut = w.log(*first, *w.sample(w.counter(1, 2), each=40)[:-1])
    out = {
        "no_bytes": b"", "short": good[:107], "first_buffer_cut": good[:300],
        "cut_in_event": good[:512 + 0x48 + 0x48 + 9],
        "cut_before_event": good[:512 + 0x48],
        "cut_in_buffer_header": good[:512 + 0x47],
        "cut_between_buffers": good[:512], "cut_in_record": cut,
        "signature": counters(signature=b"\x03\xc0"),
        "flags": counters(signature=b"\x02\xc1"),
        "pointer_size": counters(width=5, signature=b"\x02\xc0"),
        "header_small": w.log(*first, length=0x10B, width=4),
        "header_large": w.log(*first, length=0xFFFF),
        "fewer_buffers": w.log(*first, buffers=9),
        "many_buffers": w.log(*first, buffers=w.ANY),
        "buffer_zero": around(declared=0), "buffer_small": around(declared=64),
        "buffer_odd": around(declared=508),
        "used_small": around(used=0x47), "used_large": around(used=513),
        "used_max": around(used=w.ANY), "used_in_header": around(used=0x4C),
        "used_in_event": around(used=0x100),
        "event_small": w.log(w.event(w.NAMES, bytes(8), length=0x2F)),
        "part_small": w.log(w.event(w.NAMES, bytes(8), length=0x47)),
        "event_large": w.log(w.event(w.NAMES, bytes(8), length=0x59)),
        "zeros_after": w.log(*first, whole=True) + bytes(100),
    }
    other = bytearray(good)
    struct.pack_into("<I", other, 0x48 + 0x20, 1024)
    out["buffer_size_differs"] = bytes(other)
    return out


def broken_records():
    """{name: bytes} of logs with broken paths, samples, names, summaries."""
    def with_paths(*entries, **options):
        return w.log(*w.paths(*entries, **options))

    def with_items(*items, **options):
        return w.log(*w.paths(DISK), *w.sample(*items, **options))

    rows = (("a", 1, UTC), ("b", 2, UTC))
    return {
        "paths_short": w.log(*w.record(w.PATHS, bytes(7))),
        "path_small": with_paths(w.path(RAW, 0, None, None, None, None,
                                        size=51)),
        "path_large": with_paths(w.path(RAW, 0, None, None, None, None,
                                        size=4000)),
        "path_cut": with_paths(DISK, bytes(51)),
        "path_string": with_paths(w.path(
            RAW, 0, "m", "o", None, "c", offsets={"object": 1000})),
        "path_string_end": with_paths(w.path(
            RAW, 0, "m", "o", None, "c", offsets={"machine": w.ANY - 1})),
        "path_no_nul": w.log(*w.record(w.PATHS, bytes(8) + struct.pack(
            "<4IQi6I", 56, 0, 0, RAW, 0, 0, *[w.ANY] * 4, 0, 0) + b"cccc")),
        "sample_short": w.log(*w.record(w.SAMPLE, b"BL\3\0\x08\0\0")),
        "sample_signature": with_items(head=b"BL\2\0"),
        "sample_small": with_items(size=7),
        "sample_large": with_items(size=1000),
        "item_cut": with_items(b"BL\3\1"),
        "item_signature": with_items(w.counter(1, 2, signature=b"BL\2")),
        "item_small": with_items(w.counter(1, 2, size=7)),
        "item_large": with_items(w.counter(1, 2, size=56)),
        "counter_small": with_items(w.counter(1, 2, size=40)),
        "instances_small": with_items(w.instances(*rows, size=24)),
        "instances_count": with_items(w.instances(*rows, count=3)),
        "instances_count_max": with_items(w.instances(*rows, count=w.ANY)),
        "name_in_entries": with_items(w.instances(*rows, names=(71, 72))),
        "name_outside": with_items(w.instances(*rows, names=(72, 1000))),
        "name_max": with_items(w.instances(*rows, names=(72, w.ANY))),
        "name_no_nul": with_items(w.instances(*rows, names=(72, 80))),
        "names_shared": w.log(*w.paths(CPUS), *w.sample(w.instances(
            *[("x" * (n == 29) * 60, 1, UTC) for n in range(30)],
            names=[24 + 24 * 30 + 2 * 29] * 30))),
        "names_no_nul": w.log(*w.record(w.NAMES, b"\\\0\\\0P\0C\0")),
        "summary_short": w.log(*w.record(w.SUMMARY, bytes(19))),
    }


def log_seeds():
    """{name: bytes} of all logs."""
    seeds = {"valid_" + name: raw for name, raw in valid_logs().items()}
    for part in (broken_containers(), broken_records()):
        seeds.update(("broken_" + name, raw) for name, raw in part.items())
    return seeds
