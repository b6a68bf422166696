# SPDX-License-Identifier: MIT
"""Inputs that make the readers work as hard as their bytes allow: their list.

Each case is a function of a size: it gives about so many bytes, and twice the
size is more of the same.  `CASES` has (name, reader, function, sizes); the
readers are those of read_inputs.c.  The modules worst_*.py fill it.
"""

import pathlib
import sys

HERE = pathlib.Path(__file__).parent
# The writers of the seeds, for the modules that import this one first.
sys.path[:0] = [str(HERE.parent / "oracle"), str(HERE.parent / "vectors")]

CASES = []
SIZES = 16384, 32768


def case(*readers, sizes=SIZES):
    """Registers a function for each of these readers."""
    def register(function):
        for reader in readers:
            CASES.append((f"{reader}/{function.__name__}", reader, function,
                          sizes))
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
