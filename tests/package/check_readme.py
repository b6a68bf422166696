#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the commands of the sections "Build and install" and "Link" of README.md, as printed.

The commands use a copy of the sources and their own home folder. The program that is linked is the first
example in C that needs only core. The defaults in its table of options and that of CONTRIBUTING.md are compared with those
of the build.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess

from readme import FENCED, read_example

OPTION = re.compile(r"^\| `(\w+)` \| (?:`([^`]*)`)? *\|", re.MULTILINE)
CACHED = re.compile(r"^(PERFBLOCK_\w+|CMAKE_BUILD_TYPE|BUILD_SHARED_LIBS):(?:BOOL|PATH|FILEPATH|STRING)=(.*)$", re.MULTILINE)
NOT_COPIED = shutil.ignore_patterns("build", ".git", "__pycache__")
# Environment variables from which the build takes defaults.
CLEARED = ("CMAKE_BUILD_TYPE", "CMAKE_GENERATOR", "CFLAGS", "PERFBLOCK_REAL_DATA", "PERFBLOCK_SAMPLES")


def section(page, title):
    """The text of a section, up to the next heading of level 2."""
    found = re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL)
    if not found:
        raise SystemExit(f"README.md has no section {title}")
    return found[1]


def blocks(text, language):
    return [block[2] for block in FENCED.finditer(text) if block[1] == language]


class Check:
    def __init__(self, arguments):
        source = pathlib.Path(arguments.source).resolve()
        self.folder = pathlib.Path(arguments.folder).resolve()
        self.cmake = arguments.cmake
        shutil.rmtree(self.folder, ignore_errors=True)
        self.home = self.folder / "home"
        self.home.mkdir(parents=True)
        # "cc" and "cmake" are the ones of the build that runs this test.
        tools = self.folder / "tools"
        tools.mkdir()
        for name, path in (("cc", arguments.compiler), ("cmake", arguments.cmake)):
            (tools / name).symlink_to(shutil.which(path))
        self.copy = self.folder / "perfblock"
        shutil.copytree(source, self.copy, ignore=NOT_COPIED)
        page = (source / "README.md").read_text(encoding="utf-8")
        self.build_section, self.link_section = section(page, "Build and install"), section(page, "Link")
        example, input_name, self.expected = read_example(source / "README.md")
        self.input = source / input_name
        (self.folder / "agent.c").write_text(example, encoding="utf-8")
        self.environment = {name: value for name, value in os.environ.items() if name not in CLEARED}
        self.environment |= {"HOME": str(self.home), "PATH": f"{tools}:{os.environ['PATH']}", "CC": str(tools / "cc")}

    def run(self, *command, folder=None, **environment):
        done = subprocess.run([str(part) for part in command], cwd=folder or self.folder, check=False, text=True,
                              env={**self.environment, **environment}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(map(str, command))}\n{done.stdout}exit status {done.returncode}")
        return done.stdout

    def check_build(self):
        commands, = blocks(self.build_section, "sh")
        self.run("bash", "-e", "-c", commands, folder=self.copy)
        self.prefix = self.home / ".local"
        self.run(self.prefix / "bin" / "perfblock", "--version")
        print("build and install: ok")

    def check_options(self):
        cached = dict(CACHED.findall((self.copy / "build" / "CMakeCache.txt").read_text(encoding="utf-8")))
        listed = dict(OPTION.findall(self.build_section + (self.copy / "CONTRIBUTING.md").read_text(encoding="utf-8")))
        if cached != listed:
            wrong = sorted(name for name in cached.keys() | listed.keys() if cached.get(name) != listed.get(name))
            raise SystemExit("".join(f"{name}: the pages have {listed.get(name)!r}, the build {cached.get(name)!r}\n"
                                     for name in wrong))
        print("options: ok")

    def compare(self, how, program):
        output = self.run(program, self.input)
        if output != self.expected:
            raise SystemExit(f"{how}: the example prints\n{output}")
        print(f"{how}: ok")

    def check_cmake(self):
        for lines in blocks(self.link_section, "cmake"):
            how = re.match(r"\w+", lines)[0]
            (self.folder / "CMakeLists.txt").write_text(
                "cmake_minimum_required(VERSION 3.18)\nproject(agent LANGUAGES C)\nadd_executable(agent agent.c)\n" + lines,
                encoding="utf-8")
            self.run(self.cmake, "-B", how, CMAKE_PREFIX_PATH=str(self.prefix))
            self.run(self.cmake, "--build", how, "--parallel", "2")
            self.compare(how, self.folder / how / "agent")

    def check_commands(self):
        found = next(self.prefix.rglob("pkgconfig"))
        for line in blocks(self.link_section, "sh"):
            self.run("bash", "-e", "-c", line, PKG_CONFIG_PATH=str(found))
            self.compare(line.strip(), self.folder / "agent")
            (self.folder / "agent").unlink()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("source", "folder", "compiler", "cmake"):
        parser.add_argument(f"--{name}", required=True)
    check = Check(parser.parse_args())
    check.check_build()
    check.check_options()
    check.check_cmake()
    check.check_commands()


if __name__ == "__main__":
    main()
