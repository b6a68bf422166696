#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that only src/bytes turns offsets in the input into pointers.

check_pointers.py CORE

In the other sources of core, cpi and lwp, nothing is added to the pointer to the input (a field or parameter named data
or base), and neither this pointer nor an array in the input (ids) is indexed. Exceptions are the writers, which address
memory of the caller, and the readers of text, which compare an index with the end before each character. Exit status 1
if a line breaks the rule; each finding is a line.
"""

import pathlib
import re
import sys

EXEMPT = {
    "src/perflib/pdh_text.c": "characters of a text; each index is compared with the end first",
    "src/perflib/pdh_text_cells.c": "characters of a text; each index is compared with the end first",
    "src/perflib/pdh_text_form.c": "characters of a text; each index is compared with the end first",
    "src/perflib/write.c": "writes to the caller's memory",
    "src/perflib/write_v1.c": "writes to the caller's memory",
    "cpi/src/text.c": "characters of a span (bytes/line.h)",
    "lwp/src/cpuid_text.c": "characters of a span (bytes/line.h)",
}
INPUT = r"\b(?:data|base|ids)\b"
RULES = [
    re.compile(INPUT + r"\s*(?:\+[^+=]|\[)"),   # data + offset, data[offset]
    re.compile(r"\+\s*(?:\w+(?:->|\.))*" + INPUT + r"(?!\w|->|\.|_)"),  # offset + data
    re.compile(INPUT + r"\s*(?:\+=|\+\+)"),
]
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
# Lines that break a rule. If no rule matches one of them, the rules are wrong.
BROKEN = ["p = reader->data + offset;", "x = data[at];", "load_le32(base + 4 * n)", "q = 4 + block->data;", "data += 8;"]


def findings_in(text):
    """The numbers of the lines that break a rule."""
    plain = COMMENT.sub(lambda match: "\n" * match[0].count("\n"), text)
    return [number for number, line in enumerate(plain.split("\n"), 1) if any(rule.search(line) for rule in RULES)]


def main():
    core = pathlib.Path(sys.argv[1])
    missed = [line for line in BROKEN if not findings_in(line)]
    if missed:
        raise SystemExit(f"not recognised: {missed}")
    files = [file for folder in ("src", "cpi/src", "lwp/src") for pattern in ("*.c", "*.h")
             for file in sorted((core / folder).rglob(pattern))]
    checked = [file for file in files
               if "bytes" not in file.relative_to(core).parts and file.relative_to(core).as_posix() not in EXEMPT]
    findings = 0
    for file in checked:
        text = file.read_text(encoding="utf-8")
        for number in findings_in(text):
            print(f"{file}:{number}: {text.splitlines()[number - 1].strip()}")
            findings += 1
    print(f"{len(checked)} files, {findings} findings")
    return 1 if findings or not checked else 0


if __name__ == "__main__":
    sys.exit(main())
