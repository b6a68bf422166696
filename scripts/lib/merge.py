# SPDX-License-Identifier: MIT
"""Selects the inputs of corpus/TARGET/found; run by scripts/corpus."""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import fuzzing

AFL = {**os.environ, "AFL_QUIET": "1", "AFL_SKIP_CPUFREQ": "1", "AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES": "1",
       "AFL_ALLOW_TMP": "1"}


def parse_arguments():
    parser = argparse.ArgumentParser(
        prog="scripts/corpus",
        description="Replaces the inputs of corpus/TARGET/found by a small set of them and of those in "
                    "build/fuzzing/TARGET/corpus that reaches code which the seeds do not.")
    # Without targets, argparse compares the empty list with the choices (in Python before 3.12).
    parser.add_argument("target", nargs="*", choices=[*fuzzing.targets(), []], metavar="TARGET")
    parser.add_argument("--all", action="store_true", help="every target")
    parser.add_argument("--shrink", action="store_true", help="also shorten each input, which takes seconds for each")
    arguments = parser.parse_args()
    if arguments.all:
        arguments.target = fuzzing.targets()
    if not arguments.target:
        parser.error("name a target, or give --all")
    return arguments


def merge(target, seeds, candidates, out):
    """Copies to `out` the seeds and, with libFuzzer's merge, the candidates that reach further edges or reach edges more
    often. The merge compares candidates with the files in `out`, so the seeds are copied first. Returns the
    names of the seeds."""
    for folder in seeds:
        for path in folder.iterdir():
            fuzzing.keep_copy(path, out)
    names = {path.name for path in out.iterdir()}
    fuzzing.quietly([fuzzing.program("fuzz", target), "-merge=1", f"-max_len={fuzzing.MAX_BYTES}",
                     f"-artifact_prefix={out}.", out, candidates], cwd=out.parent)
    return names


def minimise(target, inputs, names, out):
    """Copies to `out`, with afl-cmin, a small set of the inputs that reaches the same edges. Returns the files of the set
    that are not seeds."""
    fuzzing.quietly(["afl-cmin", "-i", inputs, "-o", out, "-m", "none", "-t", str(1000 * fuzzing.MAX_SECONDS), "--",
                     fuzzing.program("fuzz-afl", target)], env=AFL, cwd=out.parent)
    return [path for path in sorted(out.iterdir()) if path.name not in names and path.is_file()]


def shrink(target, path):
    """Shortens an input with afl-tmin. Returns the path of a shorter input that reaches the same edges, or `path` if the
    tool fails."""
    short = path.with_suffix(".short")
    done = subprocess.run(["afl-tmin", "-e", "-i", path, "-o", short, "-m", "none", "-t", str(1000 * fuzzing.MAX_SECONDS),
                           "--", fuzzing.program("fuzz-afl", target)], env=AFL, check=False, stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return short if done.returncode == 0 and short.stat().st_size > 0 else path


def update(target, with_shrink):
    """Replaces the inputs of corpus/TARGET/found."""
    found = fuzzing.CORPUS / target / "found"
    with tempfile.TemporaryDirectory(prefix="perfblock_corpus_") as scratch:
        scratch = pathlib.Path(scratch)
        candidates, merged = scratch / "candidates", scratch / "merged"
        candidates.mkdir()
        merged.mkdir()
        for folder in (found, fuzzing.RESULTS / target / "corpus"):
            if folder.is_dir():
                for path in folder.iterdir():
                    if path.stat().st_size <= fuzzing.MAX_BYTES:
                        fuzzing.keep_copy(path, candidates)
        seeds = [folder for folder in fuzzing.seed_folders(target) if folder != found]
        names = merge(target, seeds, candidates, merged)
        selected = minimise(target, merged, names, scratch / "minimised")
        if with_shrink:
            selected = [shrink(target, path) for path in selected]
        before = len(list(found.iterdir())) if found.is_dir() else 0
        shutil.rmtree(found, ignore_errors=True)
        if selected:
            found.mkdir()
        for path in selected:
            fuzzing.keep_copy(path, found)
        print(f"{target}: {len(list(candidates.iterdir()))} candidates, {len(selected)} in {fuzzing.shown(found)} "
              f"({before} before)", flush=True)


def main():
    arguments = parse_arguments()
    for engine in (fuzzing.LibFuzzer, fuzzing.Afl):
        engine.prepare(arguments.target)
    for target in arguments.target:
        update(target, arguments.shrink)
    return 0


if __name__ == "__main__":
    sys.exit(main())
