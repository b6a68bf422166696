#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the seeds of the fuzz target changing: `make_changing_seeds.py
CORPUS`.

Each one combines two other seeds of the corpus, after the eight bytes that
choose the reader and the way the input changes (fuzz/changing_fuzzer.c). Every
run writes the same bytes.
"""

import pathlib
import struct
import sys

from seed_files import write_seeds

# In the order of changing_reader in fuzz/changing.h.
READERS = (("v2", "v2"), ("v2_values", "v2"),
           ("v1", "v1"), ("name_table", "name_table"),
           ("metadata", "metadata"), ("query", "query"),
           ("capture", "capture"), ("sample", "sample"),
           ("text", "name_table"), ("cpuid_text", "cpuid_text"),
           ("lwp", "lwp"), ("cpi_text", "text"),
           ("cpi_hooks", "hooks"), ("log", "log"), ("pdh_text", "pdh_text"),
           ("number_text", "number_text"))
MODES = ("swap", "flip", "fields")


def changing_seeds(corpus):
    """(name, bytes) of each seed."""
    for reader, (name, subject) in enumerate(READERS):
        files = [path.read_bytes() for path in
                 sorted((corpus / subject / "seeds").iterdir())
                 if not path.name.startswith("broken_")]
        files = sorted((data for data in files if data), key=len)
        files = files[len(files) // 4:]  # the smallest ones reach little code
        for mode, how in enumerate(MODES):
            first = files[mode % len(files)]
            second = files[(mode + 1) % len(files)]
            at = (7, 0, 12345)[mode]
            yield "%s_%s" % (name, how), struct.pack(
                "<BBIH", reader, mode, at, len(first)) + first + second


if __name__ == "__main__":
    sys.exit(write_seeds(
        __doc__, {"changing": changing_seeds(pathlib.Path(sys.argv[-1]))}))
