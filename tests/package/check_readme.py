#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs every command of README.md, as printed, and installs and removes the packages that CPack makes.

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
import sys

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
        self.sections = {title: section(page, re.escape(title)) for title in re.findall("^## (.*)$", page, re.MULTILINE)}
        self.build_section, self.link_section = self.sections["Build and install"], self.sections["Link"]
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
        for commands in blocks(self.build_section, "sh"):
            self.run("bash", "-e", "-c", commands, folder=self.copy)
        self.prefix = self.home / ".local"
        self.run(self.prefix / "bin" / "perfblock", "--version")
        print("build and install: ok")

    def check_packages(self):
        """The packages have one file each of what README.md says, and nothing of them is left after they are removed."""
        root = self.folder / "root"
        for name in ("info", "updates"):
            (root / "var/lib/dpkg" / name).mkdir(parents=True)
        (root / "var/lib/dpkg/status").touch()
        packages = sorted((self.copy / "build").glob("*.deb"))
        names = [self.run("dpkg-deb", "--field", package, "Package").strip() for package in packages]
        if names != ["libperfblock-dev", "perfblock"]:
            raise SystemExit(f"CPack has made {names}")
        # Maintainer scripts would run in a root that has no shell.
        dpkg = ["dpkg", f"--root={root}", "--force-depends", "--force-not-root", "--force-bad-path", "--log=/dev/null"]
        self.run(*dpkg, "--unpack", *packages)
        self.run(root / "usr/bin/perfblock", "check", root / "usr/share/perfblock/fixtures/machine.blg")
        for name in ("man/man1/perfblock-cook.1", "bash-completion/completions/perfblock", "doc/perfblock/copyright"):
            if not (root / "usr/share" / name).is_file():
                raise SystemExit(f"the packages have no {name}")
        flags = self.run("pkg-config", "--cflags", "--libs", "perfblock", PKG_CONFIG_LIBDIR=str(root / "usr/lib/pkgconfig"),
                         PKG_CONFIG_ALLOW_SYSTEM_CFLAGS="1").split()
        self.run("cc", "agent.c", *flags, "-o", "packaged")
        self.compare("packages", self.folder / "packaged")
        for script in (root / "var/lib/dpkg/info").glob("*.post*"):
            script.unlink()
        self.run(*dpkg, "--purge", *names)
        left = [path for path in (root / "usr").rglob("*") if not path.is_dir()]
        if left:
            raise SystemExit(f"left after the removal of the packages: {left}")

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


    def check_rest(self):
        """The other blocks of commands, with fixtures for the files that they name."""
        shutil.copy(self.copy / "fixtures/machine.blg", self.copy / "log.blg")
        shutil.copy(self.copy / "fixtures/processor_information.pfb", self.copy)
        embedded = blocks(self.sections["Embed it"], "c")[0]
        (self.copy / "any_file.c").write_text(embedded, encoding="utf-8")
        consumer, _, _ = read_example(self.copy / "docs/perflib.md")
        (self.copy / "consumer.c").write_text(consumer, encoding="utf-8")
        environment = {"PKG_CONFIG_PATH": str(next(self.prefix.rglob("pkgconfig"))),
                       "PATH": f"{self.prefix / 'bin'}:{self.environment['PATH']}"}
        self.run("bash", "-e", "-c", "cc -fshort-wchar consumer.c -I$(pkg-config --variable=compatdir perfblock_platform) "
                 "$(pkg-config --cflags --libs perfblock_platform) -o consumer", folder=self.copy, **environment)
        for title in ("What do you have?", "See it run", "Embed it"):
            for commands in (text for language in ("", "sh") for text in blocks(self.sections[title], language)):
                if re.match(r"(perfblock|cc|\w+=\S+) |scripts/", commands):
                    self.run("bash", "-e", "-c", commands, folder=self.copy, **environment)
                    print(f"{commands.splitlines()[0]}: ok")
        self.run(sys.executable, self.copy / "tests/cli/test_readme.py", PERFBLOCK=str(self.prefix / "bin/perfblock"),
                 PERFBLOCK_SYSTEM="Linux")
        print("sessions: ok")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("source", "folder", "compiler", "cmake"):
        parser.add_argument(f"--{name}", required=True)
    check = Check(parser.parse_args())
    check.check_build()
    check.check_options()
    check.check_cmake()
    check.check_commands()
    check.check_packages()
    check.check_rest()


if __name__ == "__main__":
    main()
