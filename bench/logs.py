#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures the program on long perfmon logs.

    logs.py PERFBLOCK [--megabytes N] [--runs N]

For each kind of item, writes a .blg of N MB (default 100) with one sample per second. Prints for each command the
median CPU time, MB of input and rows of output per CPU second, and the largest anonymous memory (resident memory
without mapped files) of any run.
"""
import argparse
import itertools
import os
import pathlib
import struct
import sys
import tempfile

import program

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "tests" / "oracle"))
import log_writer as log  # pylint: disable=wrong-import-position
import v1_writer  # pylint: disable=wrong-import-position

BUFFER_BYTES = 65536
PART_BYTES = 8000
FREQUENCY = 2725536  # of the performance clock, in ticks per second
RAW, RATE, TIMER, AVERAGE = 0x00010000, 0x10410400, 0x21510500, 0x40020500
LARGE_RAW, LARGE_RATE = 0x00010100, 0x10410500
WILDCARD, WHOLE = 0x01, 0x10  # flags of a path: all instances; all counters, as whole V1 objects
HEADER_BYTES = 0x48  # of a buffer
PART_AT = 0x40  # number of the part, in an event
COUNT_AT = HEADER_BYTES + 0x44  # number of buffers, in the header of the log


def put_log(path, size, paths, samples):
    """Writes a log in buffers like those of Windows: the events of `paths`, then those of each of the `samples`.

    Begins no further sample once `size` bytes are written.
    """
    with open(path, "wb") as out:
        out.write(log.buffer(log.trace(0, BUFFER_BYTES), size=BUFFER_BYTES))
        events, used_bytes, buffer_count = [], HEADER_BYTES, 1
        for event in itertools.chain(paths, itertools.chain.from_iterable(samples)):
            if out.tell() >= size and struct.unpack_from("<I", event, PART_AT)[0] == 1:
                break
            padded_bytes = len(event) + -len(event) % 8
            if used_bytes + padded_bytes > BUFFER_BYTES:
                out.write(log.buffer(*events, size=BUFFER_BYTES))
                events, used_bytes, buffer_count = [], HEADER_BYTES, buffer_count + 1
            events.append(event)
            used_bytes += padded_bytes
        out.write(log.buffer(*events, size=BUFFER_BYTES))
        out.seek(COUNT_AT)
        out.write(struct.pack("<I", buffer_count + 1))


def types(number):
    """Returns the type of the counter with this number, and the ticks per second of its clock."""
    return ((RATE, FREQUENCY), (TIMER, log.SECOND), (RAW, 0), (AVERAGE, FREQUENCY))[number % 4]


def values(number, tick):
    """Returns the first and the second value of the counter with this number, `tick` seconds after the start."""
    first = (number + 1) * 70 * tick + number
    return first, (FREQUENCY * tick, log.UTC + log.SECOND * tick, 0, 3 * tick)[number % 4]


def put_counters(path, size):
    """Writes a log with items of kind 1: 200 counters of one instance each."""
    count = 200
    paths = log.paths(*[log.path(*types(n), r"\\SERVER01", f"Object {n // 20}", f"instance {n % 20}", f"Counter {n % 7}")
                        for n in range(count)], each=PART_BYTES)
    put_log(path, size, paths, (
        log.sample(*[log.counter(*values(n, tick), time=log.LOCAL + log.SECOND * tick) for n in range(count)],
                   each=PART_BYTES, time=log.LOCAL + log.SECOND * tick) for tick in itertools.count(1)))


def put_instances(path, size):
    """Writes a log with items of kind 2: 8 counters of 64 instances each."""
    names = [f"process {n}" for n in range(64)]
    paths = log.paths(*[log.path(*types(n), r"\\SERVER01", "Process", "*", f"Counter {n}", flags=WILDCARD)
                        for n in range(8)], each=PART_BYTES)
    put_log(path, size, paths, (
        log.sample(*[log.instances(*[(name, *values(4 * at + n, tick)) for at, name in enumerate(names)],
                                   time=log.LOCAL + log.SECOND * tick) for n in range(8)],
                   each=PART_BYTES, time=log.LOCAL + log.SECOND * tick) for tick in itertools.count(1)))


def process_block(tick, counters, instance_count):
    """Returns a V1 block with one object. `counters` are pairs of a type and a size in bytes, 4 or 8."""
    v1 = v1_writer.little
    layout = "<" + "".join("Q" if size == 8 else "I" for _, size in counters)
    definitions, offset = [], 8
    for number, (counter_type, size) in enumerate(counters):
        definitions.append(v1.counter(784 + 2 * number, counter_type, size, offset))
        offset += size
    instances = [v1.instance(f"process {at}", v1.values(bytes(4), struct.pack(
        layout, *[(at + 1) * (n + 1) * 70 * tick % 256**size for n, (_, size) in enumerate(counters)])))
        for at in range(instance_count)]
    return v1.block(v1.object(230, definitions, instances, clock=(FREQUENCY * tick, FREQUENCY)),
                    clock=(FREQUENCY * tick, FREQUENCY, log.UTC + log.SECOND * tick))


def put_objects(path, size):
    """Writes a log with items of kind 5: an object with 28 counters and 100 instances."""
    counters = [(LARGE_RAW, 8), (RATE, 4), (TIMER, 8), (LARGE_RATE, 8), (RAW, 4), (RAW, 4), (RATE, 4)] * 4
    names = log.names(r"\\SERVER01", (230, "Process"), *[(784 + 2 * n, f"Counter {n}") for n in range(len(counters))],
                      each=PART_BYTES)
    paths = log.paths(log.path(0x10, 0, r"\\SERVER01", "Process", None, "*", flags=WHOLE), each=PART_BYTES)
    put_log(path, size, names + paths, (
        log.sample(log.block(process_block(tick, counters, 100)), each=PART_BYTES, time=log.LOCAL + log.SECOND * tick)
        for tick in itertools.count(1)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("perfblock")
    parser.add_argument("--megabytes", type=int, default=100)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print("| command | CPU seconds | MB per CPU second | million rows per CPU second | MiB of memory |")
        print("|---|---:|---:|---:|---:|")
        for name, put in (("counters", put_counters), ("instances", put_instances), ("objects", put_objects)):
            path = os.path.join(folder, name + ".blg")
            put(path, options.megabytes * 10**6)
            for command in (("check",), ("cook", "--format", "csv")):
                print(program.measure(f"perfblock {' '.join(command)} {name}.blg", [options.perfblock, *command, "--quiet", path],
                                      path, options.runs, command[0] == "cook"), flush=True)
            os.remove(path)


if __name__ == "__main__":
    sys.exit(main())
