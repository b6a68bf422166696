# SPDX-License-Identifier: MIT
"""The list of worst cases: inputs that cost the readers most per byte.

A case is a function that returns an input of about a given size, with the same
kind of contents for each size. The modules worst_*.py add their cases to
`CASES`; read_inputs.c has the readers.
"""

import collections
import pathlib
import sys

HERE = pathlib.Path(__file__).parent
# So that modules that import this one can import the writers of seeds.
sys.path[:0] = [str(HERE.parent / "oracle"), str(HERE.parent / "vectors")]

# `sizes`: three sizes of the input. `min_cost`: minimum number of instructions
# per byte; with fewer, the reader stopped before the expensive part.
# `max_growth`: maximum factor by which the cost grows if the bytes double.
# `matched` and `displayed`, for the reader "cook": minimum share of rows that
# are matched, and of values that have a displayed value.
Case = collections.namedtuple(
    "Case", "name reader make sizes min_cost max_growth matched displayed")
CASES = []
SIZES = 8192, 16384, 32768
MIN_COST = 0.5
MAX_GROWTH = 2.4  # 2 for linear work, somewhat more for sorting


def case(*readers, sizes=SIZES, min_cost=MIN_COST, max_growth=MAX_GROWTH,
         matched=0, displayed=0):
    """Decorator that adds a function to CASES for each of these readers."""
    def register(function):
        for reader in readers:
            CASES.append(Case(f"{reader}/{function.__name__}", reader,
                              function, sizes, min_cost, max_growth, matched,
                              displayed))
        return function
    return register


def filled(size, one, used=0):
    """A list of pieces that have at least `size` bytes, of which `used` are already
    used. `one` is the piece, or a function from a number to a piece."""
    pieces, length, number = [], used, 0
    while length < size:
        pieces.append(one(number) if callable(one) else one)
        length += len(pieces[-1])
        number += 1
    return pieces
