#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the seeds of the fuzz target calls: `make_calls_seeds.py CORPUS`.

Each seed has the bytes of a seed of another subject twice, and calls of the
functions that read this subject, first in a useful order and then in the
reverse order (fuzz/calls_fuzzer.c). Every run writes the same bytes.
"""

import pathlib
import struct
import sys

from seed_files import write_seeds

# Positions in `calls` of fuzz/calls_fuzzer.c.
READERS = {
    "v2": (range(0, 7), range(32, 39)), "v1": (range(7, 13), range(32, 39)),
    "name_table": (range(13, 17),), "metadata": (range(17, 25),),
    "capture": (range(25, 27),), "pdh_text": (range(27, 29),),
    "log": (range(29, 32),),
}


def calls_seeds(corpus):
    """(name, bytes) of each seed."""
    for subject, ranges in READERS.items():
        files = sorted((path.read_bytes() for path in
                        (corpus / subject / "seeds").iterdir()
                        if path.name.startswith("valid_")), key=len)
        data = files[len(files) // 2]
        if subject == "metadata":  # without its selector
            data = data[1:]
        functions = [number for numbers in ranges for number in numbers]
        calls = b"".join(bytes((function, argument))
                         for argument in (0, 1, 3, 2, 255)
                         for function in functions + functions[::-1])
        size = len(data) & ~1  # even: not strict
        yield subject, struct.pack("<HH", size, size) + data[:size] * 2 + calls


if __name__ == "__main__":
    sys.exit(write_seeds(
        __doc__, {"calls": calls_seeds(pathlib.Path(sys.argv[-1]))}))
