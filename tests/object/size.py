#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Code size of the core, and stack of each of its functions, as gcc -Os makes them.

  size.py                 holds what the sources make now against the table in docs/size.md
  size.py --write         makes the table anew
  --compiler, --sources and --page name others than gcc, core and docs/size.md

Sums and stacks may grow by 2 %. Exit status 0 when they did not, 1 when one did; each finding is a line. Numbers of
different compilers cannot be compared: with another one than the page names nothing is, and a line says "skipped:".
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile
from collections import namedtuple

ROOT = pathlib.Path(__file__).parent.parent.parent
FLAGS = ["-std=c11", "-Os", "-fno-stack-protector", "-fno-asynchronous-unwind-tables", "-fstack-usage"]
GROWTH = 1.02
BEGIN, END = "<!-- table: tests/object/size.py --write -->", "<!-- end of table -->"

Function = namedtuple("Function", "bytes stack")
Source = namedtuple("Source", "code constants functions")  # functions: name -> Function


class Failure(Exception):
    """Nothing can be measured or compared."""


# ---- Measuring -------------------------------------------------------------------------------------------


def run(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise Failure(f"{' '.join(map(str, command))}: {done.stderr.strip()}")
    return done.stdout


def version(compiler):
    """What makes numbers comparable: the compiler's own line and its target."""
    return f"{run(compiler, '--version').splitlines()[0]}, {run(compiler, '-dumpmachine').strip()}"


def read_sections(path):
    """(code, constants) in bytes."""
    sizes = {"text": 0, "rodata": 0}
    for line in run("size", "-A", path).splitlines():
        match = re.match(r"\.(text|rodata)\S*\s+(\d+)\s", line)
        if match:
            sizes[match[1]] += int(match[2])
    return sizes["text"], sizes["rodata"]


def plain(name):
    """A function's name without the numbers that the compiler gives its copies: only one of both files has them."""
    return re.sub(r"\.\d+", "", name)


def read_stacks(path):
    """function -> bytes of stack, the most of several copies; a stack that depends on what runs has no number."""
    stacks = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        place, stack, kind = line.split("\t")
        name = plain(place.split(":")[-1])
        if kind not in ("static", "dynamic,bounded"):  # bounded: arguments of a call are pushed, and counted
            raise Failure(f"{place}: the stack is {kind}")
        stacks[name] = max(int(stack), stacks.get(name, 0))
    return stacks


def measure_source(compiler, path, include, folder):
    made = pathlib.Path(folder, path.stem + ".o")
    run(compiler, *FLAGS, "-I", include, "-c", path, "-o", made)
    stacks = read_stacks(made.with_suffix(".su"))
    functions = {}
    for line in run("nm", "-S", "--defined-only", made).splitlines():
        part = line.split()
        if len(part) == 4 and part[2] in "tT":
            name = plain(part[3])
            copies = functions.get(name, Function(0, 0)).bytes
            functions[name] = Function(copies + int(part[1], 16), stacks.get(name, 0))
    odd = set(stacks) ^ set(functions)
    if odd:
        raise Failure(f"{path.name}: {', '.join(sorted(odd))}: a stack without a function, or the reverse")
    return Source(*read_sections(made), functions)


def measure(compiler, sources):
    """source name -> Source, for src/*.c of a folder."""
    paths = sorted(pathlib.Path(sources, "src").glob("*.c"))
    if not paths:
        raise Failure(f"{sources}: no sources")
    with tempfile.TemporaryDirectory() as folder:
        return {path.stem: measure_source(compiler, path, pathlib.Path(sources, "include"), folder) for path in paths}


# ---- The page --------------------------------------------------------------------------------------------


def table(made_by, measured):
    """Lines between the marks."""
    code = sum(source.code for source in measured.values())
    constants = sum(source.constants for source in measured.values())
    largest = max(function.stack for source in measured.values() for function in source.functions.values())
    yield f"Made by `{made_by}` with `{' '.join(FLAGS[:2])}`."
    yield ""
    yield f"Total: {code} bytes of code and {constants} bytes of constants. Largest stack of a function: {largest} bytes."
    yield ""
    yield "| source | function | code | stack |"
    yield "|---|---|---:|---:|"
    for name, source in measured.items():
        yield f"| `{name}` | all, and {source.constants} bytes of constants | {source.code} | |"
        for function, sizes in sorted(source.functions.items(), key=lambda each: (-each[1].bytes, each[0])):
            yield f"| `{name}` | `{function}` | {sizes.bytes} | {sizes.stack} |"


def split_page(page):
    """What stands before, in and behind the table."""
    text = page.read_text(encoding="utf-8")
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        raise Failure(f"{page}: no place for the table")
    before, rest = text.split(BEGIN)
    inside, behind = rest.split(END)
    return before, inside, behind


def write(page, made_by, measured):
    before, _, behind = split_page(page)
    lines = "\n".join(table(made_by, measured))
    page.write_text(f"{before}{BEGIN}\n\n{lines}\n\n{END}{behind}", encoding="utf-8")


def read(page):
    """(compiler, total bytes, (source, function) -> stack) of the table."""
    inside = split_page(page)[1]
    made_by = re.search(r"^Made by `(.+?)` with", inside, re.M)
    total = re.search(r"^Total: (\d+) bytes of code and (\d+) bytes", inside, re.M)
    stacks = {(row[0], row[1]): int(row[2])
              for row in re.findall(r"^\| `(\S+)` \| `(\S+)` \| \d+ \| (\d+) \|$", inside, re.M)}
    if not made_by or not total or not stacks:
        raise Failure(f"{page}: the table is not understood")
    return made_by[1], int(total[1]) + int(total[2]), stacks


# ---- Comparing -------------------------------------------------------------------------------------------


def compare(measured, total, stacks):
    """A line for each thing that grew. A function that the table does not have may use as much as any that it has."""
    now = sum(source.code + source.constants for source in measured.values())
    if now > GROWTH * total:
        yield f"code and constants: {now} bytes, the table has {total}"
    largest = max(stacks.values())
    for name, source in measured.items():
        for function, sizes in source.functions.items():
            known = stacks.get((name, function), largest)
            if sizes.stack > GROWTH * known:
                yield f"{name}: {function} uses {sizes.stack} bytes of stack, the table has {known}"


def check(compiler, sources, page):
    """Lines to print, the last one a summary, and the exit status."""
    made_by, total, stacks = read(page)
    here = version(compiler)
    if here != made_by:
        return [f"skipped: the table was made by {made_by}, this is {here}"], 0
    measured = measure(compiler, sources)
    findings = list(compare(measured, total, stacks))
    if findings:
        return findings + ["if that is meant: tests/object/size.py --write"], 1
    now = sum(source.code + source.constants for source in measured.values())
    return [f"{now} bytes of code and constants, the table has {total}: ok"], 0


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="make the table anew")
    parser.add_argument("--compiler", default="gcc")
    parser.add_argument("--sources", default=ROOT / "core", type=pathlib.Path)
    parser.add_argument("--page", default=ROOT / "docs" / "size.md", type=pathlib.Path)
    options = parser.parse_args(arguments)
    try:
        if options.write:
            write(options.page, version(options.compiler), measure(options.compiler, options.sources))
            lines, status = [f"{options.page}: written"], 0
        else:
            lines, status = check(options.compiler, options.sources, options.page)
    except Failure as failure:
        lines, status = [str(failure)], 1
    print("\n".join(lines))
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
