#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the generated part of the dictionaries fuzz/SUBJECT.dict.

    scripts/make_dictionaries.py [--check]

The generated part has the constants in the headers and sources with the name of the subject, such as v2.h and v2.c in
core for v2.dict, and of the other subjects in CONTAINED: macros with a number, tags, enumerators that are sizes in
bytes, counter types, and the words of text formats. The lines before the generated part are written by hand and stay as
they are. With --check nothing is written; the exit status is 1 if a dictionary is out of date, or if a target has no
dictionary or no seeds.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MARK = "# Generated from the sources by scripts/make_dictionaries.py.\n"

# {subject: other subjects whose constants occur in its inputs}
CONTAINED = {
    "v2_values": ["v2"], "changing": ["v2", "v1", "capture"], "sample": ["v2", "metadata", "counter_type"],
    "formula": ["counter_type"], "v1": ["counter_type", "name"], "query": ["metadata"], "metadata": ["counter_type"],
    "name_table": ["name"], "lwp": ["cpuid"], "model": ["lwp", "cpuid"],
    "cpi_facility": ["cpi", "hooks"], "collect": ["capture", "v2", "v1", "metadata", "log"],
    "stream": ["capture", "v2", "v1", "log", "name_table"],
    "sinks": ["capture", "v2", "v1", "log", "name_table", "counter_type"],
    "record": ["capture", "v2", "v1", "metadata", "log", "name_table"],
    "calls": ["v2", "v1", "metadata", "capture", "log"],
    "interfaces": ["capture", "v2", "v1", "log", "name_table"],
}
TEXTS = {"text", "cpuid_text"}  # subjects whose inputs contain words, which are strings in the sources

DEFINE = re.compile(r"#define (\w+) +\(?(?:UINT(?:32|(64))_C\()?(-?\d+|0x[0-9A-F]+)(?:u|(ull))?\)* *(?:/\*|$)", re.M)
NEGATIVE = re.compile(r"\b(\w+) = (-\d+)\b")
SIZE = re.compile(r"\b(\w+_BYTES) = (\d+)\b")
TYPE = re.compile(r'\{(?:UINT32_C\()?(0x[0-9A-F]{8})[u)], +"(PERF_\w+)"')
WORD = re.compile(r'"((?:[^"\\]|\\.){2,40})"')


def paths(name):
    """The headers and sources of core with this name."""
    return sorted(path for suffix in ("h", "c") for path in (ROOT / "core").glob(f"**/{name}.{suffix}"))


def escape(data):
    """Bytes as an entry of a dictionary writes them."""
    return "".join(chr(byte) if 0x20 < byte < 0x7F and byte not in b'"\\' else f"\\x{byte:02x}" for byte in data)


def unescape(token):
    """The bytes of an entry of a dictionary or of a string in C."""
    return token.encode("latin-1").decode("unicode_escape").encode("latin-1")


def little_endian(number, size=4):
    return (number % (1 << 8 * size)).to_bytes(size, "little")


def constants(subject):
    """(name, bytes) of each constant, file by file. Words have no name."""
    for name in [subject, *CONTAINED.get(subject, [])]:
        for path in paths(name):
            text = path.read_text(encoding="utf-8")
            for match in DEFINE.finditer(text):
                yield match[1], little_endian(int(match[3], 0), 8 if match[2] or match[4] else 4)
            for match in [*NEGATIVE.finditer(text), *SIZE.finditer(text)]:
                yield match[1], little_endian(int(match[2]))
            for match in TYPE.finditer(text):
                yield match[2], little_endian(int(match[1], 16))
            if subject in TEXTS and name == subject and path.suffix == ".c":
                code = re.sub(r"#include[^\n]*|/\*.*?\*/", "", text, flags=re.S)
                for match in WORD.finditer(code):
                    yield None, unescape(match[1])


def generated(subject, by_hand):
    """The generated part of a dictionary, without what the part written by hand already has."""
    known = {unescape(token) for token in re.findall(r'^[^#\n]*?"(.*)"$', by_hand, re.M)}
    lines = []
    for name, data in constants(subject):
        if data not in known and len(data) <= 32:
            known.add(data)
            lines.append(f'{name}="{escape(data)}"' if name else f'"{escape(data)}"')
    return MARK + "".join(line + "\n" for line in lines) if lines else ""


def main():
    check = sys.argv[1:] == ["--check"]
    if sys.argv[1:] and not check:
        sys.exit(__doc__)
    problems = []
    subjects = {path.name.removesuffix("_fuzzer.c") for path in (ROOT / "fuzz").glob("*_fuzzer.c")}
    for path in (ROOT / "fuzz").glob("*.dict"):
        if path.stem not in subjects:
            problems.append(f"{path.name} belongs to no target")
    for subject in sorted(subjects):
        path = ROOT / "fuzz" / f"{subject}.dict"
        old = path.read_text(encoding="utf-8") if path.exists() else ""
        by_hand = old.partition(MARK)[0]
        new = by_hand + generated(subject, by_hand)
        if not new:
            problems.append(f"{path.name} is empty or missing")
        elif new != old and check:
            problems.append(f"{path.name} is out of date: run scripts/make_dictionaries.py")
        elif new != old:
            path.write_text(new, encoding="utf-8")
        seeds = ROOT / "corpus" / subject / "seeds"
        if not seeds.is_dir() or not any(seeds.iterdir()):
            problems.append(f"corpus/{subject}/seeds has no files")
    for problem in problems:
        print(problem)
    return len(problems) > 0


if __name__ == "__main__":
    sys.exit(main())
