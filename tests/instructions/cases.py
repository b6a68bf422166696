# SPDX-License-Identifier: MIT
"""Inputs that make the readers work as hard as their bytes allow: their list.

Each case is a function of a size: it gives about this many bytes, and twice the
size is more of the same.  `CASES` has them; the readers are those of
read_inputs.c.  The modules worst_*.py fill it.
"""

import collections
import pathlib
import sys

HERE = pathlib.Path(__file__).parent
# The writers of the seeds, for the modules that import this one first.
sys.path[:0] = [str(HERE.parent / "oracle"), str(HERE.parent / "vectors")]

# `least` is how many instructions a byte takes at least: below, a reader has given
# up before it came to what the case is about.  `growth` is what a step of twice
# as many bytes takes at most, compared with the step before; `matched` and
# `displayed`, of two samples, are the least share of the rows that find their older
# one, and of the values that are evaluated.
Case = collections.namedtuple(
    "Case", "name reader make sizes least growth matched displayed")
CASES = []
SIZES = 8192, 16384, 32768
LEAST = 0.5
GROWTH = 2.4  # twice of everything, and what sorting has more


def case(*readers, sizes=SIZES, least=LEAST, growth=GROWTH, matched=0,
         displayed=0):
    """Registers a function for each of these readers."""
    def register(function):
        for reader in readers:
            CASES.append(Case(f"{reader}/{function.__name__}", reader,
                              function, sizes, least, growth, matched,
                              displayed))
        return function
    return register


def filled(size, one, rest=0):
    """As many of `one`, bytes or a function of the position, as fit."""
    pieces, length, number = [], rest, 0
    while length < size:
        pieces.append(one(number) if callable(one) else one)
        length += len(pieces[-1])
        number += 1
    return pieces
