#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks perfblock.c and perfblock.h, which scripts/amalgamate writes.

They compile without a warning with each compiler here, in each version of C and C++ that the README names, with and
without collect and a system; and a program that they are part of prints the same about the corpus as one of the
separate sources. No function is exported if PFB_API is empty, and without a system none of it is used.
"""
import argparse
import concurrent.futures
import pathlib
import re
import shutil
import subprocess

WARNINGS = ["-Wall", "-Wextra", "-Wconversion", "-Wpedantic", "-Werror"]
C, CXX = ("c99", "c11", "c2x"), ("c++11", "c++14", "c++17", "c++20")
PARTS = ([], ["-DPFB_NO_SYSTEM"], ["-DPFB_NO_COLLECT", "-ffreestanding"])
MSVC = ["--target=x86_64-pc-windows-msvc", "-ffreestanding", "-DPFB_NO_COLLECT"]
# An application without a system: adds a file, and prints the problem.
NO_SYSTEM = """#include "perfblock.h"
#include <stdio.h>
#include <stdlib.h>

void *pfb_allocate(void *memory, size_t size)
{
    if (size > 0)
        return realloc(memory, size);
    free(memory);
    return NULL;
}

int main(void)
{
    pfb_record record = {.size = sizeof record};
    pfb_problem problem = {.size = sizeof problem};
    pfb_stream *stream = pfb_stream_new();
    pfb_stream_add_file(stream, "day.blg");
    while (pfb_stream_next(stream, &record) == PFB_NEXT_RECORD)
        continue;
    while (pfb_stream_problem(stream, &problem))
        printf("%s: %s\\n", pfb_stream_label(stream, problem.file), problem.sentence);
    pfb_stream_close(stream);
}
"""
# What the sources without a system use of the C library.
LIBRARY = {"clock", "memchr", "memcmp", "memcpy", "memmove", "memset", "qsort", "snprintf", "strchr", "strcmp", "strlen", "strncmp",
           "strncpy", "strtoll", "strtoull", "time", "vsnprintf", "pfb_allocate"}
USED = re.compile(r" U (\w+)$", re.M)


class Check:
    def __init__(self, arguments):
        self.source = pathlib.Path(arguments.source).resolve()
        self.folder = pathlib.Path(arguments.folder).resolve()
        self.compiler = arguments.compiler
        shutil.rmtree(self.folder, ignore_errors=True)
        (self.folder / "perfblock").mkdir(parents=True)

    def run(self, *command):
        done = subprocess.run([str(part) for part in command], cwd=self.folder, check=False, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(map(str, command))}\n{done.stdout}exit status {done.returncode}")
        return done.stdout

    def check_warnings(self):
        """Compiles the files, in parallel."""
        (self.folder / "header.cc").write_text('#include "perfblock.h"\n', encoding="utf-8")
        named = [self.compiler, "gcc", "clang", "clang-19", "x86_64-w64-mingw32-gcc"]
        compilers = list(dict.fromkeys(filter(None, map(shutil.which, named))))
        commands = [[compiler, f"-std={standard}", *parts, *WARNINGS, "-fsyntax-only", "perfblock.c"]
                    for compiler in compilers for standard in C for parts in PARTS]
        commands += [[compiler, f"-std={standard}", *WARNINGS, "-fsyntax-only", "header.cc"]
                     for compiler in filter(None, map(shutil.which, ("g++", "clang++"))) for standard in CXX]
        if shutil.which("clang"):
            commands.append(["clang", *MSVC, "-std=c11", *WARNINGS, "-fsyntax-only", "perfblock.c"])
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda command: self.run(*command), commands))
        print(f"warnings: none of {len(commands)} commands")

    def check_symbols(self):
        self.run(self.compiler, "-shared", "-fPIC", "-DPFB_API=", "perfblock.c", "-o", "plugin.so")
        exported = self.run("nm", "-D", "--defined-only", "plugin.so")
        self.run(self.compiler, "-O1", "-DPFB_NO_SYSTEM", "-c", "perfblock.c", "-o", "no_system.o")
        used = set(USED.findall(self.run("nm", "-u", "no_system.o")))
        if " T pfb_" in exported or not used or used - LIBRARY:
            raise SystemExit(f"exported: {exported}\nused: {used - LIBRARY}")
        print("symbols: ok")
        (self.folder / "no_system.c").write_text(NO_SYSTEM, encoding="utf-8")
        self.run(self.compiler, "-DPFB_NO_SYSTEM", "no_system.c", "no_system.o", "-o", "no_system")
        if self.run("./no_system") != "day.blg: there are no files: perfblock was compiled without a system\n":
            raise SystemExit("without a system, a file does not have the expected problem")
        print("without a system: ok")

    def check_verdicts(self):
        """Compares what examples/any_file.c prints of the corpus. The application may define _GNU_SOURCE."""
        for name in ("collect", "stream", "source", "perfblock"):
            (self.folder / "perfblock" / f"{name}.h").write_text('#include "../perfblock.h"\n', encoding="utf-8")
        example = self.source / "examples" / "any_file.c"
        self.run(self.compiler, "-O1", "-D_GNU_SOURCE", "-I.", example, "perfblock.c", "-o", "amalgamated")
        core = sorted((self.source / "core" / "src").glob("*/*.c"))
        collect = [path for name in ("collect", "replay", "select", "source", "stream")
                   for path in sorted((self.source / "platform" / name).glob("*.c"))
                   if path.name not in ("file_none.c", "file_windows.c")]
        folders = [f"-I{self.source / name}" for name in ("core/include", "core/src", "platform/include", "platform")]
        self.run(self.compiler, "-O1", "-D_POSIX_C_SOURCE=200809L", "-D_DEFAULT_SOURCE", *folders, example, *core, *collect, "-o",
                 "separate")
        inputs = sorted(path for folder in ("corpus", "fixtures") for path in (self.source / folder).rglob("*") if path.is_file())
        inputs.append(self.folder / "missing.blg")
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            different = [path for path, same in zip(inputs, pool.map(self.is_same, inputs)) if not same]
        if different or len(inputs) < 500:
            raise SystemExit(f"{len(inputs)} inputs, read differently: {different}")
        print(f"verdicts: the same of {len(inputs)} inputs")

    def is_same(self, path):
        both = [subprocess.run([self.folder / name, path], stdin=subprocess.DEVNULL, capture_output=True, check=False)
                for name in ("amalgamated", "separate")]
        return len({(done.returncode, done.stdout, done.stderr) for done in both}) == 1


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("source", "folder", "compiler", "cmake"):
        parser.add_argument(f"--{name}", required=True)
    check = Check(parser.parse_args())
    check.run(check.source / "scripts" / "amalgamate", check.folder)
    check.check_warnings()
    check.check_symbols()
    check.check_verdicts()


if __name__ == "__main__":
    main()
