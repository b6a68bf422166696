#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the seeds of the fuzz target name: `make_name_seeds.py CORPUS`.

Each one has the number of an encoding, a capacity and a name
(fuzz/name_fuzzer.c). Every run writes the same bytes.
"""

import sys

from seed_files import write_seeds

UTF8, UTF16LE, UTF16BE, WINDOWS_1252, ASCII, LATIN_1, OEM_437 = range(7)
PATH = "\\\\host\\Process(explorer/thread#12)\\% User Time"

SEEDS = (
    ("path_utf8", UTF8, 20, PATH.encode()),
    ("path_utf16", UTF16LE, 9, PATH.encode("utf-16-le")),
    ("path_without_machine", UTF8, 4, b"\\Memory\\Available Bytes"),
    ("path_with_parentheses", WINDOWS_1252, 30,
     b"\\GPU Engine(pid_1(a)\\b)_x)\\Running Time"),
    ("path_without_end", ASCII, 5, b"\\Set(instance\\counter"),
    ("index_of_ten_digits", UTF8, 5, b"\\a(b#1234567890)\\c"),
    ("all_bytes", LATIN_1, 100, bytes(range(256))),
    ("all_bytes_1252", WINDOWS_1252, 100, bytes(range(256))),
    ("all_bytes_437", OEM_437, 100, bytes(range(256))),
    ("surrogates", UTF16LE, 3, b"\x3d\xd8\x00\xde\x00\xd8\x00\xdc\x00\xdca"),
    ("surrogates_big", UTF16BE, 2, b"\xd8\x3d\xde\x00\xd8\x3d\xd8\x00a"),
    ("lengths", UTF8, 6, "a\u00e9\u20ac\U0001f600".encode()),
    ("malformed", UTF8, 4,
     b"\xc0\xaf\xe0\x80\x80\xed\xa0\x80\xf0\x80\x80\x80\xf5\x80\xf4\x90"),
    ("cut", UTF8, 2, b"ab\xf0\x9f\x98"),
)


if __name__ == "__main__":
    sys.exit(write_seeds(__doc__, {"name": [
        (name, bytes((encoding, capacity)) + text)
        for name, encoding, capacity, text in SEEDS]}))
