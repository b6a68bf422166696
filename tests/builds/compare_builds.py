#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Builds the formulas with many compilers and options, and requires the same
bits from each.

compare_builds.py SOURCE FOLDER [VECTORS.csv...]

SOURCE is the root of the source tree. The builds are made in FOLDER, which is
deleted before and after the run.

The builds are those of CPUS at all LEVELS, and those of RISKY_OPTIONS. Programs
for other CPUs run under qemu's user mode. Every build must pass all vectors
and print the same digest of random samples. A missing compiler is a failure.
"""

import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys

SAMPLES = "30000"
SOURCES = ("formula/counter_type", "formula/formula", "bytes/wide")
LEVELS = ("-O0", "-O1", "-O2", "-O3")
WARNINGS = ("-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror")

X87 = ["-mno-sse", "-mno-sse2"]  # floating point without SSE
# For each CPU: the commands of its compilers, and the command of the emulator
# that runs their programs (empty: none is needed).
CPUS = {
    "x86-64": ([["gcc"], ["clang"]], []),
    "i386 with x87": ([["i686-linux-gnu-gcc", "-static", "-mfpmath=387"],
                       ["clang", "--target=i686-linux-gnu", "-static"] + X87],
                      ["qemu-i386-static"]),
    "aarch64": ([["aarch64-linux-gnu-gcc", "-static"],
                 ["clang", "--target=aarch64-linux-gnu", "-static"]],
                ["qemu-aarch64-static"]),
    "s390x": ([["s390x-linux-gnu-gcc", "-static"],
               ["clang", "--target=s390x-linux-gnu", "-static"]],
              ["qemu-s390x-static"]),
}

# Further builds for x86-64: without hardware division, with options that allow
# a compiler to change results, and optimized for size.
RISKY_OPTIONS = (
    ("-O2", "-DPFB_NO_HARDWARE_DIVISION"),
    ("-O3", "-ffast-math"),
    ("-O3", "-ffast-math", "-fno-finite-math-only"),
    ("-O3", "-funsafe-math-optimizations"),
    ("-O3", "-freciprocal-math"),
    ("-O3", "-mfma", "-ffp-contract=fast"),
    ("-Os",),
)


def all_builds():
    """Every build: a name, a command and an emulator."""
    for cpu, (compilers, emulator) in CPUS.items():
        for compiler in compilers:
            for level in LEVELS:
                yield "%s, %s" % (cpu, compiler[0]), compiler + [level], emulator
    for compiler in CPUS["x86-64"][0]:
        for options in RISKY_OPTIONS:
            yield "x86-64, %s" % compiler[0], compiler + list(options), []


def run(command):
    """The output of a command that must succeed."""
    done = subprocess.run(command, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError("%s: exit status %d\n%s" % (
            " ".join(map(str, command)), done.returncode,
            done.stdout[-2000:]))
    return done.stdout


def build_and_run(number, compiler, emulator, arguments):
    """The digest of one build, after its vectors have passed."""
    source, folder, vectors = arguments
    core = source / "core"
    command = compiler + list(WARNINGS) + ["-I", core / "include",
                                            "-I", core / "src"]
    objects = []
    for name in SOURCES:
        path = core / "src" / (name + ".c")
        objects.append(folder / ("%s_%d.o" % (path.stem, number)))
        run(command + ["-c", path, "-o", objects[-1]])
    programs = {}
    for name, path in (("digest_formula", "builds"),
                       ("run_formula", "vectors")):
        programs[name] = folder / ("%s_%d" % (name, number))
        run(command + [source / "tests" / path / (name + ".c")] + objects +
            ["-o", programs[name]])
    if vectors:
        run(emulator + [programs["run_formula"]] + vectors)
    return run(emulator + [programs["digest_formula"], SAMPLES]).strip()


def main(arguments):
    """Command line."""
    if len(arguments) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    source, folder = map(pathlib.Path, arguments[:2])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    builds = list(all_builds())
    failures = 0
    digests = {}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = [pool.submit(build_and_run, number, command, emulator,
                            (source, folder, arguments[2:]))
                for number, (_, command, emulator) in enumerate(builds)]
        for (name, command, _), job in zip(builds, jobs):
            options = " ".join(command[1:])
            try:
                digest = job.result()
            except (OSError, RuntimeError) as error:
                failures += 1
                print("%s %s: FAILED\n%s" % (name, options, error))
                continue
            digests.setdefault(digest, []).append(name)
            print("%s %s: %s" % (name, options, digest))
    shutil.rmtree(folder)
    if len(digests) > 1:
        print("The builds disagree.")
        failures += 1
    print("%d builds, %d vector files, %d failures" % (
        len(builds), len(arguments) - 2, failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
