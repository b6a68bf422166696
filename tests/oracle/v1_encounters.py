# SPDX-License-Identifier: MIT
"""Sequences of V1 blocks that random mutations of blocks rarely produce:
objects that change places, parents in one of several objects with the same
title index, names and title indexes at the limits of their ranges.
"""

from v1_writer import little

DELTA = 0x00400400
TITLE_MAX = 0xFFFFFFFF
# The writer cannot write TITLE_MAX, because it stores title index + 1 as the
# index of the help text. Blocks are written with STAND_IN, which last_title()
# replaces.
STAND_IN = 0x7FEEEEEE


def counters(*titles):
    """Definitions of counters of 4 bytes, one after the other."""
    return [little.counter(title, DELTA, 4, 4 + 4 * position)
            for position, title in enumerate(titles)]


def values(*numbers):
    """The counter block with these values."""
    return little.values(*map(little.v4, numbers))


def rows(title, *named, **options):
    """An object of instances: (name, number) or (name, number, keywords)."""
    return little.object(title, counters(10), [
        little.instance(name, values(number), **dict(*more))
        for name, number, *more in named], **options)


def only(title, titles, *numbers):
    """An object without instances."""
    return little.single(title, counters(*titles), *map(little.v4, numbers))


def last_title(block):
    """The same block with the largest title in place of STAND_IN."""
    return block.replace(STAND_IN.to_bytes(4, "little"),
                         TITLE_MAX.to_bytes(4, "little"))


def encounters():
    """{name: blocks} of the sequences."""
    block, child = little.block, rows(5, ("c", 1, {"parent": (4, 0)}))
    later = rows(5, ("c", 7, {"parent": (4, 0)}))
    parent = rows(4, ("p", 1))
    without_instances = little.object(4, counters(10), [], instances=-2)
    ansi_parent = little.object(4, counters(10), [little.instance(
        None, values(3), raw=b"p\0\0\0")], code_page=1252)
    return {
        "parent after an object without instances": [
            block(only(4, [10], 1), parent, child)],
        "parent after an object asked for its counters": [
            block(without_instances, parent, child)],
        "parent after an object with no instance": [
            block(rows(4), parent, child)],
        "parent whose name changed its code page": [
            block(parent, child), block(ansi_parent, later)],
        "the largest title moved": [
            last_title(block(only(4, [STAND_IN], 1))),
            last_title(block(only(4, [12, STAND_IN], 1, 9)))],
        "unique ids that repeat": [
            block(rows(4, ("a", 1, {"unique": 5}), ("b", 2, {"unique": 5}))),
            block(rows(4, ("b", 5, {"unique": 5}), ("a", 9, {"unique": 5}),
                       ("a", 1)))],
        "objects of one title changed places": [
            block(rows(4, ("a", 1)), rows(4, ("b", 2))),
            block(rows(4, ("b", 9)), rows(4, ("a", 7)))],
        "names that repeat in objects of one title": [
            block(rows(4, ("a", 1)), rows(4, ("a", 2))),
            block(rows(4, ("a", 9), ("a", 10)), rows(4, ("a", 7)))],
        "counters of one title, and one more": [
            block(only(4, [10, 10], 1, 5)),
            block(only(4, [10, 10, 10], 9, 8, 7))],
        "counters in another order": [
            block(only(4, [10, 12, 14], 1, 2, 3)),
            block(only(4, [14, 10, 12], 6, 5, 4))],
        "an object in between": [
            block(only(2, [10], 1), only(4, [10], 2)),
            block(only(2, [10], 3), only(6, [10], 9), only(4, [10], 7))],
    }
