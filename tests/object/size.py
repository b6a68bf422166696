#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Code size of the core, and stack of each of its functions, compiled with gcc -Os.

  size.py                 compares the sources with the table in size.md of this folder, and that table with the sums
                          in docs/performance.md
  size.py --write         writes both tables
  --compiler, --sources, --page and --summary name others than gcc, core and these pages

The total and each stack may grow by 2 %. Exit status 1 if one grew more, or if the sums are not those of the table;
each finding is a line. Numbers of different compilers cannot be compared: if the table was made by another compiler,
only the sums are checked, and if they are right, the program prints "skipped:" and exits with status 0.
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
    """The compiler's version line and its target; sizes are comparable where these are equal. The line begins with the
    name by which gcc was run, such as cc or x86_64-linux-gnu-gcc-12, which is replaced."""
    line = re.sub(r"^\S+ (?=\()", "gcc ", run(compiler, "--version").splitlines()[0])
    return f"{line}, {run(compiler, '-dumpmachine').strip()}"


def read_sections(path):
    """(code, constants) in bytes."""
    sizes = {"text": 0, "rodata": 0}
    for line in run("size", "-A", path).splitlines():
        match = re.match(r"\.(text|rodata)\S*\s+(\d+)\s", line)
        if match:
            sizes[match[1]] += int(match[2])
    return sizes["text"], sizes["rodata"]


def without_copy_numbers(name):
    """The name of a function without the numbers that the compiler adds to the names of its copies: the object has
    them, and the list of stacks does not."""
    return re.sub(r"\.\d+", "", name)


def original(name):
    """The function of the source from which the compiler made this copy. Copies are compared by this name, because a
    small change of the source can change which functions are copied."""
    return re.sub(r"\.(constprop|isra|part)(?=\.|$)", "", name)


def read_stacks(path):
    """function -> bytes of stack, the maximum of several copies. A stack of variable size is a failure."""
    stacks = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        place, stack, kind = line.split("\t")
        name = without_copy_numbers(place.split(":")[-1])
        if kind not in ("static", "dynamic,bounded"):  # bounded: arguments of a call are pushed, and counted
            raise Failure(f"{place}: the stack is {kind}")
        stacks[name] = max(int(stack), stacks.get(name, 0))
    return stacks


def measure_source(compiler, path, includes, folder):
    compiled = pathlib.Path(folder, path.stem + ".o")
    run(compiler, *FLAGS, *(f"-I{include}" for include in includes), "-c", path, "-o", compiled)
    stacks = read_stacks(compiled.with_suffix(".su"))
    functions = {}
    for line in run("nm", "-S", "--defined-only", compiled).splitlines():
        part = line.split()
        if len(part) == 4 and part[2] in "tT":
            name = without_copy_numbers(part[3])
            copies = functions.get(name, Function(0, 0)).bytes
            functions[name] = Function(copies + int(part[1], 16), stacks.get(name, 0))
    unmatched = set(stacks) ^ set(functions)
    if unmatched:
        raise Failure(f"{path.name}: {', '.join(sorted(unmatched))}: a stack without a function, or the reverse")
    return Source(*read_sections(compiled), functions)


def measure(compiler, sources):
    """source name -> Source, for all *.c below a folder."""
    paths = sorted(pathlib.Path(sources).rglob("*.c"), key=lambda path: path.stem)
    if not paths:
        raise Failure(f"{sources}: no sources")
    includes = [pathlib.Path(sources, part) for part in ("include", "cpi/include", "lwp/include", "src")]
    with tempfile.TemporaryDirectory() as folder:
        return {path.stem: measure_source(compiler, path, includes, folder) for path in paths}


# ---- The pages -------------------------------------------------------------------------------------------


def together(measured):
    """All sources as one; of functions with the same name, that with the larger stack."""
    functions = {}
    for source in measured.values():
        for name, sizes in source.functions.items():
            functions[name] = max(sizes, functions.get(name, sizes), key=lambda each: each.stack)
    return Source(sum(source.code for source in measured.values()),
                  sum(source.constants for source in measured.values()), functions)


def table(made_by, measured):
    """The lines of the table of all functions."""
    core = together(measured)
    largest = max(function.stack for function in core.functions.values())
    yield f"Made by `{made_by}` with `{' '.join(FLAGS[:2])}`."
    yield ""
    yield (f"Total: {core.code} bytes of code and {core.constants} bytes of constants. Largest stack of a "
           f"function: {largest} bytes.")
    yield ""
    yield "| source | function | code | stack |"
    yield "|---|---|---:|---:|"
    for name, source in measured.items():
        yield f"| `{name}` | all, and {source.constants} bytes of constants | {source.code} | |"
        for function, sizes in sorted(source.functions.items(), key=lambda each: (-each[1].bytes, each[0])):
            yield f"| `{name}` | `{function}` | {sizes.bytes} | {sizes.stack} |"


def summary(measured):
    """The lines of the table of sums."""
    yield "| source | code | constants | largest stack | of |"
    yield "|---|---:|---:|---:|---|"
    rows = {f"`{name}`": source for name, source in measured.items()}
    for name, source in {**rows, "all": together(measured)}.items():
        stack, function = min(((-sizes.stack, f"`{function}` ") for function, sizes in source.functions.items()),
                              default=(0, ""))
        yield f"| {name} | {source.code} | {source.constants} | {-stack} | {function}|"


def split_page(page):
    """The text before, in and after the table."""
    text = page.read_text(encoding="utf-8")
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        raise Failure(f"{page}: no place for the table")
    before, rest = text.split(BEGIN)
    inside, after = rest.split(END)
    return before, inside, after


def write(page, lines):
    before, _, after = split_page(page)
    text = "\n".join(lines)
    page.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{after}", encoding="utf-8")


def read(page):
    """The compiler, and source name -> Source, of the table."""
    inside = split_page(page)[1]
    made_by = re.search(r"^Made by `(.+?)` with", inside, re.M)
    sums = re.findall(r"^\| `(\S+)` \| all, and (\d+) bytes of constants \| (\d+) \| \|$", inside, re.M)
    rows = re.findall(r"^\| `(\S+)` \| `(\S+)` \| (\d+) \| (\d+) \|$", inside, re.M)
    table_of = {name: Source(int(code), int(constants), {}) for name, constants, code in sums}
    if not made_by or not rows or not {row[0] for row in rows} <= set(table_of):
        raise Failure(f"{page}: the table is not understood")
    for name, function, code, stack in rows:
        table_of[name].functions[function] = Function(int(code), int(stack))
    if list(table(made_by[1], table_of)) != inside.strip().split("\n"):
        raise Failure(f"{page}: the table is not understood")
    return made_by[1], table_of


# ---- Comparing -------------------------------------------------------------------------------------------


def total(measured):
    """Bytes of code and constants."""
    return sum(source.code + source.constants for source in measured.values())


def compare(before, now):
    """A line for the total and for each stack that grew too much. The stack of a function that the table does not have
    is compared with the largest stack of all; that of a compiler's copy with the largest stack of the copies of the same
    function."""
    if total(now) > GROWTH * total(before):
        yield f"code and constants: {total(now)} bytes, the table has {total(before)}"
    stacks = {}
    for name, source in before.items():
        for function, sizes in source.functions.items():
            key = name, original(function)
            stacks[key] = max(sizes.stack, stacks.get(key, 0))
    largest = max(stacks.values())
    for name, source in now.items():
        for function, sizes in source.functions.items():
            known = stacks.get((name, original(function)), largest)
            if sizes.stack > GROWTH * known:
                yield f"{name}: {function} uses {sizes.stack} bytes of stack, the table has {known}"


def check(compiler, sources, page, sums):
    """Lines to print, and the exit status."""
    made_by, before = read(page)
    if list(summary(before)) != split_page(sums)[1].strip().split("\n"):
        return [f"{sums}: not the sums of {page}", "tests/object/size.py --write writes both"], 1
    compiled_by = version(compiler)
    if compiled_by != made_by:
        return [f"skipped: the table was made by {made_by}, this is {compiled_by}"], 0
    now = measure(compiler, sources)
    findings = list(compare(before, now))
    if findings:
        return findings + ["if the growth is intended, run tests/object/size.py --write"], 1
    return [f"{total(now)} bytes of code and constants, the table has {total(before)}: ok"], 0


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write both tables")
    parser.add_argument("--compiler", default="gcc")
    parser.add_argument("--sources", default=ROOT / "core", type=pathlib.Path)
    parser.add_argument("--page", default=ROOT / "tests" / "object" / "size.md", type=pathlib.Path)
    parser.add_argument("--summary", default=ROOT / "docs" / "performance.md", type=pathlib.Path)
    options = parser.parse_args(arguments)
    try:
        if options.write:
            split_page(options.summary)  # fails before the first page is written
            measured = measure(options.compiler, options.sources)
            write(options.page, table(version(options.compiler), measured))
            write(options.summary, summary(measured))
            lines, status = [f"{options.page}, {options.summary}: written"], 0
        else:
            lines, status = check(options.compiler, options.sources, options.page, options.summary)
    except Failure as failure:
        lines, status = [str(failure)], 1
    print("\n".join(lines))
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
