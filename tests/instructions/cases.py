# SPDX-License-Identifier: MIT
"""The list of worst-case inputs: those that cost the readers most per byte.

Each case is a function of a size. It returns about this many bytes, and the
same kind of contents for each size. `CASES` has all cases; read_inputs.c has
the readers. The modules worst_*.py add cases.
"""

import collections
import pathlib
import sys

HERE = pathlib.Path(__file__).parent
# Importing this module makes the writers of seeds available to the others.
sys.path[:0] = [str(HERE.parent / "oracle"), str(HERE.parent / "vectors")]

# `least`: minimum number of instructions per byte; with fewer, the reader
# stopped before the expensive part. `growth`: maximum ratio of the cost of one
# size to that of half the size. `matched` and `displayed`, for two samples:
# minimum share of matched rows and of evaluated values.
Case = collections.namedtuple(
    "Case", "name reader make sizes least growth matched displayed")
CASES = []
SIZES = 8192, 16384, 32768
LEAST = 0.5
GROWTH = 2.4  # twice the bytes, and the logarithm of sorting


def case(*readers, sizes=SIZES, least=LEAST, growth=GROWTH, matched=0,
         displayed=0):
    """Registers a function as a case of these readers."""
    def register(function):
        for reader in readers:
            CASES.append(Case(f"{reader}/{function.__name__}", reader,
                              function, sizes, least, growth, matched,
                              displayed))
        return function
    return register


def filled(size, one, rest=0):
    """Repeats `one`, bytes or a function of the position, up to the size."""
    pieces, length, number = [], rest, 0
    while length < size:
        pieces.append(one(number) if callable(one) else one)
        length += len(pieces[-1])
        number += 1
    return pieces
