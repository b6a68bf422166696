#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that the functions in tests/wraps.txt exist.

check_wraps.py SOURCE

The compiler ignores unknown names, so a renamed function would lose its exception. SOURCE is the root of the source
tree. Exit status 1 if a function is defined in no source of core or platform, or if the file names none.
"""

import pathlib
import re
import sys


def main():
    root = pathlib.Path(sys.argv[1])
    sources = "".join(path.read_text(encoding="utf-8") for folder in ("core", "platform")
                      for path in (root / folder).rglob("*.[ch]"))
    names = re.findall(r"^fun:(\w+)$", (root / "tests" / "wraps.txt").read_text(encoding="utf-8"), re.MULTILINE)
    if not names:
        print("tests/wraps.txt names no function")
        return 1
    # A definition begins at the start of a line, with its type.
    missing = [name for name in names if not re.search(rf"^\w[^\n;]*\b{name}\([^;{{]*\{{", sources, re.MULTILINE)]
    for name in missing:
        print(f"tests/wraps.txt: no source defines {name}")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
