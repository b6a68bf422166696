#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Builds the wheel of bindings/python in a copy, installs it into an empty folder, and runs the tests of the package there.

Prints "skipped: " if no Python here has setuptools, wheel, pip, cffi, NumPy and headers.
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys

NEEDED = ("import setuptools, wheel, pip, cffi, numpy, sysconfig, pathlib\n"
          "assert (pathlib.Path(sysconfig.get_paths()['include']) / 'Python.h').exists()")


def run(*command, **variables):
    done = subprocess.run([str(part) for part in command], check=False, text=True, env={**os.environ, **variables},
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}\n{done.stdout}exit status {done.returncode}")
    return done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("source", "folder", "program"):
        parser.add_argument(f"--{name}", required=True, type=pathlib.Path)
    given = parser.parse_args()
    source, folder = given.source.resolve(), given.folder.resolve()
    pythons = [python for python in (sys.executable, "/usr/bin/python3")
               if subprocess.run([python, "-W", "ignore", "-c", NEEDED], check=False, capture_output=True).returncode == 0]
    if not pythons:
        print("skipped: no Python has setuptools, wheel, pip, cffi, NumPy and headers")
        return
    shutil.rmtree(folder, ignore_errors=True)
    ignored = shutil.ignore_patterns("build", "*.egg-info", "__pycache__", "_binding*")
    shutil.copytree(source / "bindings" / "python", folder / "bindings" / "python", ignore=ignored)
    for name in ("core", "platform", "scripts"):
        (folder / name).symlink_to(source / name)
    pip = [pythons[0], "-W", "ignore", "-m", "pip"]
    run(source / "scripts" / "amalgamate", folder / "bindings" / "python")
    run(*pip, "wheel", "--quiet", "--no-build-isolation", "--no-deps", "--wheel-dir", folder, folder / "bindings" / "python")
    wheel, = folder.glob("perfblock-*.whl")
    run(*pip, "install", "--quiet", "--no-deps", "--no-index", "--target", folder / "installed", wheel)
    print(run(pythons[0], source / "bindings" / "python" / "tests" / "test_perfblock.py", PYTHONPATH=str(folder / "installed"),
              PERFBLOCK_SOURCE=str(source), PERFBLOCK_PROGRAM=str(given.program.resolve())))


if __name__ == "__main__":
    main()
