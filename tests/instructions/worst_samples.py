# SPDX-License-Identifier: MIT
"""Worst cases of two samples, which the reader "cook" loads, matches and
evaluates."""

import random
import struct

from cases import case, filled
import v1_writer as v1
import seed_writer as w
from worst_blocks import shared_values

LARGE = 0x00010100
SET = "3f1c0c4e-5d1b-4a53-9c2e-0a1b2c3d4e5f"
L = v1.little


def cook(sizes=(12288, 24576, 49152), matched=1, displayed=1, **more):
    """Decorator for a case of two samples with half of the bytes each. All
    rows must be matched and all values displayed, unless the case gives smaller
    shares. If no value is displayed, because the counters to which the values
    refer are not found, `min_cost` shows that the reader did search for them.
    """
    return case("cook", sizes=sizes, matched=matched, displayed=displayed,
                **more)


# ---- Two samples ------------------------------------------------------------

AVERAGE, LARGE_BASE, TIMER, RATE = (0x40020500, 0x40030500, 0x20510500,
                                    0x10410500)
OBJECT_TIMER = 0x20670500  # base and object time of both samples are looked up


def later(block):
    """The block with clocks so much later that quotients have many bits."""
    places = {b"P\0E\0": (56, 72)}.get(block[:4], (8, 16))
    changed = bytearray(block)
    for place, ticks in zip(places, (2 ** 61 + 12345, 2 ** 62 + 77777)):
        struct.pack_into("<q", changed, place, ticks)
    return bytes(changed)


def samples(older, newer, queries, *registrations):
    """The input of the reader "cook"; each part except the registrations after
    the first one must be below 64 KB."""
    parts = (older, later(newer), queries, registrations[0])
    assert all(len(part) < 65536 for part in parts)
    return (bytes(5) + struct.pack("<4H", *map(len, parts)) + b"".join(parts) +
            b"".join(registrations[1:]))


def set_of(ids, rows):
    """A reply with a result of kind 6."""
    return w.reply(w.result(w.COUNTERSET, w.id_list(ids) + w.instance_block(
        *rows)))


GAINED = 2 ** 60 + 3  # newer value, the older is 1; the increase has 61 bits


def processes(size, order, ids=(1,), infos=None, name="process {}"):
    """Two samples of one set. order() arranges the instances of the newer one.
    """
    one = w.instance(0, name.format(1000), *[w.v8(1)] * len(ids))

    def rows(number):
        return [w.instance(i, name.format(1000 + i),
                           *[w.v8(number)] * len(ids))
                for i in range(size // 2 // len(one))]
    infos = infos or [w.counter_info(ident, RATE) for ident in ids]
    return samples(set_of(ids, rows(1)), set_of(ids, order(rows(GAINED))),
                   w.identifier(SET, name="*"), w.counterset(SET, infos))


def scattered(rows):
    """The rows in a random order."""
    return random.Random(1).sample(rows, len(rows))


def reverse(rows):
    """The rows in the opposite order."""
    return rows[::-1]


@cook()
def in_order(size):
    """The newer instances are in the same order."""
    return processes(size, list)


@cook()
def reversed_rows(size):
    """The newer instances are in the opposite order."""
    return processes(size, reverse)


@cook()
def scattered_rows(size):
    """The newer instances are in a random order."""
    return processes(size, scattered)


@cook()
def long_names_scattered(size):
    """Names of about 400 bytes that differ at their end, in random order."""
    return processes(size, scattered, name="n" * 200 + "{}")


def same_names(size, order):
    """Two samples of instances with one id and one name."""
    rows = filled(size // 2, w.instance(1, "same", w.v8(1)))
    ids = (1,)
    return samples(set_of(ids, rows), set_of(ids, order(rows)),
                   w.identifier(SET, name="*"),
                   w.counterset(SET, [w.counter_info(1, RATE)]))


@cook()
def equal_instances(size):
    """All instances are equal."""
    return same_names(size, list)


@cook(matched=0.99, displayed=0.99)
def equal_instances_and_another(size):
    """The newer sample has another instance before the equal ones, so that all
    rows must be sorted."""
    return same_names(size, lambda rows: [w.instance(2, "new", w.v8(1))] +
                      rows)


@cook()
def two_alternate(size):
    """Two alternating instances, in the newer sample in the opposite order."""
    count = size // 2 // 64
    rows = [w.instance(1, "same", w.v8(1)), w.instance(2, "same", w.v8(1))]
    return samples(set_of((1,), rows * count), set_of((1,), rows[::-1] * count),
                   w.identifier(SET, name="*"),
                   w.counterset(SET, [w.counter_info(1, RATE)]))


@cook()
def falling_counters(size):
    """One row of as many counters as fit, with descending ids."""
    count = size // 2 // 20
    ids = list(range(count, 0, -1))
    rows = [w.instance(1, "n", *[w.v8(1)] * count)]
    infos = [w.counter_info(ident, RATE) for ident in ids]
    return samples(set_of(ids, rows), set_of(ids, rows),
                   w.identifier(SET, name="*"), b"", w.counterset(SET, infos))


@cook(displayed=0.99)
def equal_counters(size):
    """One row of counters with one id, and their base at the end."""
    count = size // 2 // 20
    ids = [1] * count + [2]

    def row(number):
        return w.instance(1, "n", *[w.v8(number)] * len(ids))
    infos = ([w.counter_info(1, AVERAGE, base=2)] * count +
             [w.counter_info(2, LARGE_BASE)])
    return samples(set_of(ids, [row(1)]), set_of(ids, [row(GAINED)]),
                   w.identifier(SET, name="*"), b"", w.counterset(SET, infos))


@cook()
def long_division(size):
    """Timers whose counts grow by a number of 61 bits: 100 times this number
    exceeds 64 bits."""
    infos = [w.counter_info(i, TIMER) for i in range(8)]
    return processes(size, list, range(8), infos)


@cook(displayed=0.5)
def bases_elsewhere(size):
    """Counters whose base is in no result."""
    results = filled(size // 2, lambda n: w.result(
        w.COUNTERSET, w.id_list([1 if n % 2 else 2]) + w.instance_block(
            w.instance(1, "n", w.v8(n)))))
    reply = w.reply(*results)
    queries = b"".join(w.identifier(SET, name="*", index=i)
                       for i in range(len(results)))
    infos = [w.counter_info(1, AVERAGE, base=3), w.counter_info(2, RATE),
             w.counter_info(3, LARGE_BASE)]
    return samples(reply, reply, queries, w.counterset(SET, infos))


def one_instance_of(ids, number):
    """A result of one instance with these counters."""
    return w.result(w.COUNTERSET, w.id_list(ids) + w.instance_block(
        w.instance(1, "n", *[w.v8(number)] * len(ids))))


def references(size, last, infos):
    """Results of one instance and counter 1, then one with the counters `last`,
    to which counter 1 refers."""
    results = filled(size // 2, lambda n: one_instance_of([1], n))
    reply = w.reply(*results, one_instance_of(last, 5))
    queries = b"".join(w.identifier(SET, name="*", index=i)
                       for i in range(len(results) + 1))
    return samples(reply, reply, queries, w.counterset(SET, infos))


@cook(min_cost=45, displayed=0)
def bases_in_the_last_result(size):
    """The base is in the last result, which is too far away to be searched."""
    return references(size, [3], [w.counter_info(1, AVERAGE, base=3),
                                  w.counter_info(3, LARGE_BASE)])


# A counter that refers to a base (3), a multi count and two clocks, a counter
# without references, and those that the first one refers to.
FAR_AWAY = [w.counter_info(1, OBJECT_TIMER, 3, 4, 5, 6), w.counter_info(2, LARGE),
            w.counter_info(3, LARGE_BASE)]
FAR_AWAY += [w.counter_info(ident, LARGE) for ident in (4, 5, 6)]
FAR = 64  # maximum number of rows of an instance that the reader examines


@cook(min_cost=75, displayed=0)
def everything_in_the_last_result(size):
    """Base, multi count and both clocks are in the last result."""
    return references(size, [3, 4, 5, 6], FAR_AWAY)


@cook(sizes=(32768, 65536, 98304), min_cost=450, displayed=0.1)
def many_counters_with_everything_far_away(size):
    """Many counters in one result. None of the results before it has their
    base, multi count and clocks: every second one has those of another
    instance."""
    count = (size // 2 - 10000) // 20
    other = w.result(w.COUNTERSET, w.id_list([3, 4, 5, 6]) + w.instance_block(
        w.instance(2, "m", *[w.v8(1)] * 4)))
    results = [one_instance_of([2], 1), other] * (FAR - 1)
    reply = w.reply(*results, one_instance_of([1] * count, 1))
    queries = b"".join(w.identifier(SET, name="*", index=i)
                       for i in range(len(results) + 1))
    return samples(reply, reply, queries, w.counterset(SET, FAR_AWAY))


@cook(sizes=(32768, 65536, 98304), min_cost=150, displayed=0)
def many_instances_with_everything_far_away(size):
    """As many results as the reader examines, all with the same instances, and
    one more: it has the counters that counter 1 refers to, but for another
    instance."""
    count = size // 2 // FAR // 40

    def result(number):
        return w.result(w.COUNTERSET, w.id_list([1]) + w.instance_block(
            *(w.instance(i, "n", w.v8(number)) for i in range(count))))
    last = w.result(w.COUNTERSET, w.id_list([3, 4, 5, 6]) + w.instance_block(
        w.instance(2 ** 20, "m", *[w.v8(1)] * 4)))
    reply = w.reply(*map(result, range(FAR)), last)
    queries = b"".join(w.identifier(SET, name="*", index=i)
                       for i in range(FAR + 1))
    return samples(reply, reply, queries, w.counterset(SET, FAR_AWAY))


@cook()
def queries_in_opposite_order(size):
    """The identifiers of the query are in the opposite order of the results."""
    results = filled(size // 2, one_instance_of([1], 1))
    queries = b"".join(w.identifier(SET, name="*", index=i)
                       for i in reversed(range(len(results))))
    return samples(w.reply(*results), w.reply(*results), queries,
                   w.counterset(SET, [w.counter_info(1, RATE)]))


@cook(sizes=(7000, 14000, 28000), min_cost=30, matched=0, displayed=0)
def unmatched_instances(size):
    """No row of these results is in the older sample: all rows are sorted."""
    count = size // 112

    def reply(name):
        return w.reply(*(w.result(w.INSTANCES, w.instance_block(
            w.instance(1, name, w.v8(i)))) for i in range(count)))
    queries = b"".join(w.identifier(SET, counter=i, name="*", index=i)
                       for i in range(count))
    return samples(reply("old"), reply("new"), queries,
                   w.counterset(SET, [w.counter_info(1, RATE)]))


@cook()
def moved_results(size):
    """Queries of one counter with results of one instance. The newer results are
    in reverse order."""
    def result(i, number):
        return w.result(w.INSTANCES, w.instance_block(
            w.instance(i, "n", w.v8(number))))
    count = size // 2 // len(result(0, 1))
    older = [result(i, 1) for i in range(count)]
    newer = [result(i, GAINED) for i in reversed(range(count))]
    queries = b"".join(w.identifier(SET, counter=1, name="*", index=i)
                       for i in range(count))
    return samples(w.reply(*older), w.reply(*newer), queries,
                   w.counterset(SET, [w.counter_info(1, RATE)]))


def parents(size, length, order):
    """V1 instances whose parents have names of `length` equal characters and a
    digit; many instances share a parent."""
    above = [L.instance("p" * length + str(i), L.values()) for i in range(4)]
    counter = L.counter(6, RATE, 8, 8)
    count = (size // 2 - len(above) * (2 * length + 64)) // 56
    rows = [L.instance("t", L.values(bytes(12)), parent=(2, i % 4))
            for i in range(max(count, 4))]
    older = L.block(L.object(2, [], above), L.object(4, [counter], rows))
    newer = L.block(L.object(2, [], above), L.object(4, [counter],
                                                     order(rows)))
    return samples(older, newer, b"", b"")


@cook(sizes=(32768, 65536, 98304))
def shared_parents(size):
    """Parents with long names; the newer instances are in reverse order."""
    return parents(size, 1000, reverse)


@cook()
def shared_short_parents(size):
    """Parents with short names; the newer instances are in reverse order."""
    return parents(size, 8, reverse)


@cook(displayed=0.97)
def v1_shared_values(size):
    """V1 samples whose definitions all refer to the same bytes."""
    block = shared_values(size // 2, L, LARGE, 8, 0.5)
    return samples(block, block, b"", b"")
