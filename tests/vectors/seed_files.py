# SPDX-License-Identifier: MIT
"""Common part of the programs that write seeds: the command line."""

import pathlib
import sys


def write_seeds(description, subjects):
    """Runs the command line. `subjects` maps a subject to its seeds, pairs of
    a name and bytes or text. Returns the exit status."""
    if len(sys.argv) != 2:
        print(description, file=sys.stderr)
        return 2
    for subject, seeds in subjects.items():
        folder = pathlib.Path(sys.argv[1]) / subject / "seeds"
        folder.mkdir(parents=True, exist_ok=True)
        for name, data in seeds:
            is_text = isinstance(data, str)
            path = folder / (name + (".txt" if is_text else ".bin"))
            path.write_bytes(data.encode("utf-8") if is_text else data)
    return 0
