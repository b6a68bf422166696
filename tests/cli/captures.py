# SPDX-License-Identifier: MIT
"""Captures that several tests replay, made with the writer of tests/oracle."""

from program import writer as w

PROCESSOR = "b4fc721a-0378-476f-89ba-a5a79f810b36"
DISK = "3f1c0c4e-5d1b-4a53-9c2e-0a1b2c3d4e01"
MEMORY = "3f1c0c4e-5d1b-4a53-9c2e-0a1b2c3d4e02"
NETWORK = "3f1c0c4e-5d1b-4a53-9c2e-0a1b2c3d4e03"

# PERF_COUNTER_RAWCOUNT, _LARGE_RAWCOUNT, _BULK_COUNT and _COUNTER.
RAW, LARGE_RAW, BULK, RATE = 0x00010000, 0x00010100, 0x10410500, 0x10410400
TIMER, TIMER_INV = 0x20510500, 0x21510500  # PERF_100NSEC_TIMER, _TIMER_INV
FREQUENCY = 10000000  # of the performance clock


def instance_list(*names):
    """The reply to a query for the instances of a set, with these names."""
    return b"".join(w.instance(number, name)
                    for number, name in enumerate(names))


def metadata(guid, name, counters, instance_type=2, instances=None):
    """The chunks with a set's registration, names and instances. Each of
    `counters` is (id, type, name) and optionally further arguments of
    counter_info(), such as the id of the base."""
    infos = [w.counter_info(row[0], row[1], *row[3:]) for row in counters]
    chunks = [w.registration_chunk(guid, 1, w.counterset(
        guid, infos, instance_type=instance_type))]
    if name is not None:
        chunks.append(w.registration_chunk(guid, 3, w.string(name)))
    chunks.append(w.registration_chunk(guid, 5, w.string_block(
        [(row[0], row[2]) for row in counters])))
    if instances is not None:
        chunks.append(w.chunk(b"INST", w.guid_bytes(guid) +
                              instance_list(*instances)))
    return b"".join(chunks)


def data(number, *results):
    """The DATA chunk of sample `number`; samples are one second apart."""
    stamps = w.clocks(perf=(5 + number) * FREQUENCY,
                      hundred=133000000000000000 + number * 10000000,
                      freq=FREQUENCY)
    return w.chunk(b"DATA", w.reply(*results, stamps=stamps))


def datum(value):
    """A value of 8 bytes from a number; bytes are returned unchanged."""
    return value if isinstance(value, bytes) else w.v8(value)


def instances_result(ids, rows):
    """The result of a query for all counters of a set with instances. `rows`
    are (instance id, name, values)."""
    blocks = [w.instance(number, name, *map(datum, values))
              for number, name, values in rows]
    return w.result(w.COUNTERSET, w.id_list(ids) + w.instance_block(*blocks))


def single_result(ids, values):
    """The result of a query for all counters of a set without instances."""
    body = w.id_list(ids) + b"".join(map(datum, values))
    return w.result(w.COUNTERS, body)


def three_sets():
    """A capture of two sets with instances and one without, in two samples.
    The results are in another order than the identifier blocks, so that a
    reader must use Index to find the query of a result."""
    chunks = [
        metadata(DISK, "Alpha Disk", [
            (1, BULK, "Read Bytes/sec"), (2, BULK, "Write Bytes/sec")],
            instances=["sda", "sdb", "_Total"]),
        metadata(MEMORY, "Alpha Memory", [
            (1, LARGE_RAW, "Free Bytes"), (7, LARGE_RAW, "Used Bytes")],
            instance_type=0),
        metadata(NETWORK, "Beta Network", [
            (1, BULK, "Read Packets/sec")], instances=["eth0", "lo"]),
        w.chunk(b"QINF", w.identifier(MEMORY, index=2) +
                w.identifier(NETWORK, name="*", index=0) +
                w.identifier(DISK, name="*", index=1))]
    for number in range(2):
        chunks.append(data(
            number,
            instances_result([1], [(0, "eth0", [100 + 5 * number]),
                                   (1, "lo", [200 + 7 * number])]),
            instances_result([1, 2], [
                (0, "sda", [1000 + 10 * number, 2000 + 20 * number]),
                (1, "sdb", [3000 + 30 * number, 4000 + 40 * number]),
                (2, "_Total", [4000 + 40 * number, 6000 + 60 * number])]),
            single_result([1, 7], [111 + number, 777 + number])))
    return w.recording(*chunks)


def many_instances(count):
    """A capture of two samples of a counter with this number of instances."""
    return w.recording(
        metadata(DISK, "Disk", [(1, BULK, "Read Bytes/sec")]),
        w.chunk(b"QINF", w.identifier(DISK, name="*")),
        *[data(number, instances_result([1], [
            (n, "instance %d" % n, [number]) for n in range(count)]))
          for number in range(2)])
