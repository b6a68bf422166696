# SPDX-License-Identifier: MIT
"""Sequences of V1 blocks that random mutations of blocks rarely produce, such
as objects that change places, parents in the second of two objects with the
same title index, and the largest title index.
"""

from v1_writer import METADATA_INSTANCES, little

DELTA = 0x00400400
TITLE_MAX = 0xFFFFFFFF
# The writer cannot write TITLE_MAX, because it stores title index + 1 as the
# index of the help text. Blocks are written with PLACEHOLDER, which
# with_title_max() replaces.
PLACEHOLDER = 0x7FEEEEEE


def counters(*titles):
    """Definitions of 4-byte counters, whose values are consecutive."""
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


def single(title, titles, *numbers):
    """An object without instances."""
    return little.single(title, counters(*titles), *map(little.v4, numbers))


def with_title_max(block):
    """The same block with PLACEHOLDER replaced by the largest title index."""
    return block.replace(PLACEHOLDER.to_bytes(4, "little"),
                         TITLE_MAX.to_bytes(4, "little"))


def sequences():
    """{name: blocks} of all sequences."""
    block, child = little.block, rows(5, ("c", 1, {"parent": (4, 0)}))
    later = rows(5, ("c", 7, {"parent": (4, 0)}))
    parent = rows(4, ("p", 1))
    definitions_only = little.object(4, counters(10), [],
                                     instances=METADATA_INSTANCES)
    ansi_parent = little.object(4, counters(10), [little.instance(
        None, values(3), raw=b"p\0\0\0")], code_page=1252)
    return {
        "parent after an object without instances": [
            block(single(4, [10], 1), parent, child)],
        "parent after an object with definitions only": [
            block(definitions_only, parent, child)],
        "parent after an object with 0 instances": [
            block(rows(4), parent, child)],
        "parent whose name has another code page": [
            block(parent, child), block(ansi_parent, later)],
        "the largest title index at another position": [
            with_title_max(block(single(4, [PLACEHOLDER], 1))),
            with_title_max(block(single(4, [12, PLACEHOLDER], 1, 9)))],
        "unique ids that repeat": [
            block(rows(4, ("a", 1, {"unique": 5}), ("b", 2, {"unique": 5}))),
            block(rows(4, ("b", 5, {"unique": 5}), ("a", 9, {"unique": 5}),
                       ("a", 1)))],
        "objects with one title index changed places": [
            block(rows(4, ("a", 1)), rows(4, ("b", 2))),
            block(rows(4, ("b", 9)), rows(4, ("a", 7)))],
        "names that repeat in objects with one title index": [
            block(rows(4, ("a", 1)), rows(4, ("a", 2))),
            block(rows(4, ("a", 9), ("a", 10)), rows(4, ("a", 7)))],
        "counters with one title index, then one more": [
            block(single(4, [10, 10], 1, 5)),
            block(single(4, [10, 10, 10], 9, 8, 7))],
        "counters in another order": [
            block(single(4, [10, 12, 14], 1, 2, 3)),
            block(single(4, [14, 10, 12], 6, 5, 4))],
        "another object between two objects": [
            block(single(2, [10], 1), single(4, [10], 2)),
            block(single(2, [10], 3), single(6, [10], 9), single(4, [10], 7))],
    }
