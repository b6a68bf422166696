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


def processes(title, *named, ids=(784,)):
    """An object of instances with ids: (name, number, ids, keywords)."""
    return little.object(title, counters(10, *ids), [
        little.instance(name, values(number, *own), **dict(*more))
        for name, number, own, *more in named])


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
        "a process that ends, and one that begins": [
            block(processes(230, ("a", 1, [5]), ("b", 2, [6]), ("b", 3, [7]))),
            block(processes(230, ("b", 9, [7]), ("b", 4, [8]), ("a", 2, [5]))),
            block(processes(230, ("b", 5, [8]), ("a", 12, [9])))],
        "ids of processes that are 0, repeat or are missing": [
            block(processes(230, ("a", 1, [5]), ("b", 2, [0]), ("c", 3, [0]))),
            block(processes(230, ("b", 3, [7]), ("a", 9, [0]), ("c", 4, [7]))),
            block(processes(230, ("b", 5, [7]), ("c", 6, [8]), ("a", 10, [7]))),
            block(processes(230, ("b", 7, [0]), ("b", 8, [8]), ("a", 11, [5]))),
            block(processes(230, ("b", 9, [8]), ("b", 10, [0]), ("a", 12, [6])))],
        "a process that another sample has at a place without an id": [
            block(processes(230, ("a", 1, [5]), ("a", 2, [6]))),
            block(processes(230, ("a", 7, [0]), ("a", 9, [5])))],
        "ids of processes that programs use again": [
            block(processes(230, ("a", 1, [5]), ("b", 2, [6]))),
            block(processes(230, ("b", 7, [5]), ("a", 9, [6]), ("_Total", 1, [0]))),
            block(processes(230, ("a", 8, [5]), ("a", 10, [6]), ("_Total", 2, [0])))],
        "ids of processes and unique ids": [
            block(processes(230, ("a", 1, [5], {"unique": 1}), ("b", 2, [6]),
                            ("c", 2, [7], {"unique": 2}),
                            ("c", 3, [8], {"unique": 2}))),
            block(processes(230, ("a", 7, [9], {"unique": 1}), ("b", 4, [5]),
                            ("c", 9, [8], {"unique": 2}),
                            ("c", 8, [7], {"unique": 2})))],
        "ids of threads": [
            block(processes(230, ("x", 0, [5]), ("y", 0, [6])),
                  processes(232, ("0", 1, [51, 5], {"parent": (230, 0)}),
                            ("1", 2, [52, 5], {"parent": (230, 0)}),
                            ("0", 3, [61, 6], {"parent": (230, 1)}),
                            ("1", 3, [0, 6], {"parent": (230, 1)}),
                            ids=(804, 784))),
            block(processes(230, ("x", 0, [5]), ("y", 0, [6])),
                  processes(232, ("0", 9, [52, 5], {"parent": (230, 0)}),
                            ("0", 7, [53, 6], {"parent": (230, 1)}),
                            ("1", 8, [61, 6], {"parent": (230, 0)}),
                            ("2", 9, [0, 6], {"parent": (230, 1)}),
                            ids=(804, 784)))],
        "ids of threads without those of processes": [
            block(processes(232, ("0", 1, [51]), ("1", 2, [52]), ids=(804,))),
            block(processes(232, ("0", 9, [52]), ("1", 8, [51]), ids=(804,)))],
        "two objects with the ids of processes": [
            block(processes(230, ("a", 1, [5]), ("b", 2, [6])),
                  processes(230, ("a", 3, [7]), ("b", 4, [5]))),
            block(processes(230, ("b", 8, [5]), ("b", 9, [7])),
                  processes(230, ("a", 7, [5]), ("a", 6, [7]), ("b", 1, [0]))),
            block(processes(230, ("a", 9, [5])),
                  processes(230, ("a", 9, [9]), ("a", 8, [5])))],
        "another object between two objects": [
            block(single(2, [10], 1), single(4, [10], 2)),
            block(single(2, [10], 3), single(6, [10], 9), single(4, [10], 7))],
    }
