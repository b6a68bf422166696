#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the seeds of the fuzz target record: `make_record_seeds.py CORPUS`.

Each one has the terms of a selection and a file of the targets collect and
stream (fuzz/record_fuzzer.c), which it reads from CORPUS. Every run writes the
same bytes.
"""

import pathlib
import sys

from seed_files import write_seeds

# (file in CORPUS, terms of the selection)
SEEDS = (
    ("collect/seeds/valid_moving_instances.pfb", ("*\t*\t*",)),
    ("collect/seeds/valid_moving_instances.pfb", ("*\t1\t*#1", "/2")),
    ("collect/seeds/valid_two_queries.pfb", ("\\Processor Information(*)\\*",)),
    ("collect/seeds/valid_two_queries.pfb", ("{b4fc721a-0378-476f-89ba-a5a79f810b36}\t1",)),
    ("collect/seeds/valid_replaced_queries.pfb", ("*\t2",)),
    ("collect/seeds/valid_replaced_queries.pfb", ()),
    ("collect/seeds/valid_v1.pfb", ("238\t6", "\\Processor(_Total)\\% Processor Time")),
    ("collect/seeds/valid_v1.pfb", ("*\t*\ta/b",)),
    ("stream/seeds/valid_late_names.bin", ("P*\t*",)),
    ("stream/seeds/valid_parts.bin", ("/3",)),
    ("stream/seeds/valid_blocks.bin", ("*\t*",)),
    ("stream/seeds/valid_unknown_tags.bin", ()),
    ("stream/seeds/valid_objects.blg", ("*\t*",)),
    ("stream/seeds/valid_parts.blg", ()),
    ("stream/seeds/valid_csv.csv", ("*\t*\t*",)),
    ("stream/seeds/broken_zeros_before_block.bin", ("*\t?*\t*",)),
)


def main():
    """Command line."""
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    seeds = []
    for number, (name, terms) in enumerate(SEEDS):
        path = pathlib.Path(sys.argv[1]) / name
        text = "".join(term + "\n" for term in (*terms, "")).encode()
        seeds.append(("%s_%d" % (path.stem, number), text + path.read_bytes()))
    return write_seeds(__doc__, {"record": seeds})


if __name__ == "__main__":
    sys.exit(main())
