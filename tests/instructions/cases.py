# SPDX-License-Identifier: MIT
"""The list of worst-case inputs: those that cost the readers most per byte.

Each case is a function of a size. It returns about this many bytes, with the
same kind of contents for each size. The modules worst_*.py add their cases to
`CASES`; read_inputs.c has the readers.
"""

import collections
import pathlib
import sys

HERE = pathlib.Path(__file__).parent
# Importing this module makes the writers of seeds available to the others.
sys.path[:0] = [str(HERE.parent / "oracle"), str(HERE.parent / "vectors")]

# `min_cost`: minimum number of instructions per byte; with fewer, the reader
# stopped before the expensive part. `max_growth`: maximum ratio of the cost of
# one size to that of half the size. `matched` and `displayed`, for two
# samples: minimum share of matched rows, and of values with a displayed value.
Case = collections.namedtuple(
    "Case", "name reader make sizes min_cost max_growth matched displayed")
CASES = []
SIZES = 8192, 16384, 32768
MIN_COST = 0.5
MAX_GROWTH = 2.4  # twice the bytes, and the logarithm of sorting


def case(*readers, sizes=SIZES, min_cost=MIN_COST, max_growth=MAX_GROWTH,
         matched=0, displayed=0):
    """Registers a function as a case of these readers."""
    def register(function):
        for reader in readers:
            CASES.append(Case(f"{reader}/{function.__name__}", reader,
                              function, sizes, min_cost, max_growth, matched,
                              displayed))
        return function
    return register


def filled(size, one, used=0):
    """A list of pieces that fill `size` bytes, of which `used` are taken.
    `one` is a piece, or a function that makes the piece of a number."""
    pieces, length, number = [], used, 0
    while length < size:
        pieces.append(one(number) if callable(one) else one)
        length += len(pieces[-1])
        number += 1
    return pieces
