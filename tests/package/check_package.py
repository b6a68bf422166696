#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Builds the example of README.md with the installed CMake package, pkg-config, a subdirectory and the bare sources, and
compares its output with README.md; and a plugin in C++ that contains the libraries. With --kind sources only the bare sources are used, for cross
compilers; --emulator is the command that runs the program.

The example is README.md's first ```c block without collect.h; the next ``` block is its output. A file of the corpus
that is named between the two is the argument.
"""
import argparse
import csv
import ctypes
import os
import pathlib
import re
import shutil
import subprocess
import sys

from readme import read_example

# Output of the sample in docs/cpi.md on a machine with counters, and on one without.
ORIGINAL_OUTPUT = r"cpi +\d+\.\d\d  busy +\d+\.\d\d%\n|CpiInit: PU_[A-Z_]+\n"


class Check:
    def __init__(self, arguments):
        self.arguments = arguments
        self.folder = pathlib.Path(arguments.folder)
        self.source = pathlib.Path(arguments.source)
        self.prefix = self.folder / "moved" / "here"
        self.example = self.folder / "example.c"
        self.emulator = [arguments.emulator] if arguments.emulator else []
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        readme = pathlib.Path(arguments.readme or self.source / "README.md")
        text, input_name, self.expected = read_example(readme)
        if not input_name:
            raise SystemExit(f"{readme}: no input is named between the example and its output")
        self.input = self.source / input_name
        # On Windows the byte 0x1A ends a file that is read as text. The example must read the input as binary.
        if b"\x1a" not in self.input.read_bytes()[:-1]:
            raise SystemExit(f"{self.input}: no byte 0x1A before its end, so that reading it as text would go unnoticed")
        self.example.write_text(text, encoding="utf-8")

    def run(self, *command, environment=None, fails=False):
        merged = dict(os.environ, **(environment or {}))
        command = [str(part) for part in command]
        streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        done = subprocess.run(command, env=merged, check=False, **streams)
        if (done.returncode != 0) != fails:
            raise SystemExit(f"{' '.join(command)}\n{done.stdout}exit status {done.returncode}")
        return done.stdout

    def configure(self, source, build, *options, fails=False):
        compiler = f"-DCMAKE_C_COMPILER={self.arguments.compiler}"
        shared = f"-DBUILD_SHARED_LIBS={'ON' if self.arguments.kind == 'shared' else 'OFF'}"
        command = [self.arguments.cmake, "-G", "Ninja", "-S", source, "-B", build, compiler, shared, *options]
        return self.run(*command, fails=fails)

    def install(self):
        """Install into a folder and move it to another place: no .pc, .cmake or .h file may contain the first path."""
        build, first = self.folder / "build", self.folder / "first"
        self.configure(self.source, build, f"-DCMAKE_INSTALL_PREFIX={first}")
        self.run(self.arguments.cmake, "--build", build, "--target", "install")
        shutil.rmtree(build)
        self.prefix.parent.mkdir()
        first.rename(self.prefix)
        for path in self.prefix.rglob("*"):
            if path.suffix in (".pc", ".cmake", ".h") and str(self.folder) in path.read_text(encoding="utf-8"):
                raise SystemExit(f"{path} names the folder it was installed to first")

    def compare(self, how, program):
        output = self.run(*self.emulator, program, self.input, environment=self.library_path())
        if output != self.expected:
            raise SystemExit(f"{how}: README.md shows\n{self.expected}but the example prints\n{output}")
        print(f"{how}: ok")

    def library_path(self):
        found = next(self.prefix.rglob("pkgconfig"), None)
        return {"LD_LIBRARY_PATH": str(found.parent)} if found else {}

    def consume_with_cmake(self, how):
        build = self.folder / how
        options = [f"-DHOW={how}", f"-DKIND={self.arguments.kind}", f"-DEXAMPLE={self.example}"]
        options += [f"-DPERFBLOCK_SOURCE={self.source}", f"-DCMAKE_PREFIX_PATH={self.prefix}"]
        self.configure(self.source / "tests/package/consumer", build, *options)
        self.run(self.arguments.cmake, "--build", build)
        self.compare(how, build / "example")

    def check_requests(self):
        """A version with another major or minor number is refused, and so is a library kind that is not installed."""
        other = "shared" if self.arguments.kind == "static" else "static"
        for wrong in (*(f"-DPERFBLOCK_WANTED_VERSION={version}" for version in ("0.0", "0.2", "1.0")), f"-DKIND={other}"):
            output = self.request(wrong, fails=True)
            if "perfblock" not in output:
                raise SystemExit(f"refused for another reason:\n{output}")
        self.request("-DPERFBLOCK_WANTED_VERSION=0.1", fails=False)
        print("versions and kinds: ok")

    def request(self, option, fails):
        build = self.folder / "request"
        shutil.rmtree(build, ignore_errors=True)
        options = [f"-DKIND={self.arguments.kind}", "-DHOW=find_package", f"-DEXAMPLE={self.example}"]
        options += [f"-DCMAKE_PREFIX_PATH={self.prefix}", option]
        return self.configure(self.source / "tests/package/consumer", build, *options, fails=fails)

    def check_soname(self):
        """Programs require a shared library of the same minor version."""
        for name in ("perfblock", "perfblock_collect", "perfblock_platform"):
            library = next(self.prefix.rglob(f"lib{name}.so"))
            header = self.run("objdump", "-p", library)
            if not re.search(rf"SONAME +lib{name}\.so\.0\.1$", header, re.MULTILINE):
                raise SystemExit(f"{library}: the SONAME is not lib{name}.so.0.1\n{header}")
        print("SONAME: ok")

    def consume_with_pkg_config(self):
        found = next(self.prefix.rglob("pkgconfig"))
        environment = {"PKG_CONFIG_PATH": str(found), "PKG_CONFIG_ALLOW_SYSTEM_CFLAGS": "1"}
        flags = self.run("pkg-config", "--cflags", "--libs", "perfblock_platform", environment=environment).split()
        program = self.folder / "with_pkg_config"
        self.run(self.arguments.compiler, self.example, "-o", program, *flags)
        self.compare("pkg-config", program)

    def consume_original_names(self):
        """The sample of docs/cpi.md, its first ```c block, uses only the original names. As C and as C++ it must build
        without a warning and run; without counters it prints an error."""
        text, _, expected = read_example(self.source / "docs/cpi.md")
        found = next(self.prefix.rglob("pkgconfig"))
        environment = {"PKG_CONFIG_PATH": str(found), "PKG_CONFIG_ALLOW_SYSTEM_CFLAGS": "1"}
        flags = self.run("pkg-config", "--cflags", "--libs", "perfblock_platform", environment=environment).split()
        warnings = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
        for language, compiler, standard in (("c", self.arguments.compiler, "c11"), ("c++", "g++", "c++11")):
            source = self.folder / f"original.{language}"
            source.write_text(text, encoding="utf-8")
            program = source.with_suffix(source.suffix + ".program")
            self.run(compiler, f"-std={standard}", *warnings, "-x", language, source, "-x", "none", "-o", program, *flags)
            output = self.run(program, environment=self.library_path())
            if not re.fullmatch(ORIGINAL_OUTPUT, output):
                raise SystemExit(f"docs/cpi.md shows\n{expected}but the sample prints\n{output}")
            print(f"original names as {language}: ok")

    def consume_perflib(self):
        """The program of docs/perflib.md, with the compatibility headers and an installed fixture."""
        text, _, expected = read_example(self.source / "docs/perflib.md")
        found = next(self.prefix.rglob("pkgconfig"))
        environment = {"PKG_CONFIG_PATH": str(found), "PKG_CONFIG_ALLOW_SYSTEM_CFLAGS": "1"}
        flags = self.run("pkg-config", "--cflags", "--libs", "perfblock_platform", environment=environment).split()
        compat = self.run("pkg-config", "--variable=compatdir", "perfblock_platform", environment=environment).strip()
        source, program = self.folder / "agent.c", self.folder / "agent"
        source.write_text(text, encoding="utf-8")
        self.run(self.arguments.compiler, "-fshort-wchar", source, f"-I{compat}", "-o", program, *flags)
        fixture = next(self.prefix.rglob("processor_information.pfb"))
        output = self.run(program, environment={"PERFBLOCK_CAPTURE": str(fixture), **self.library_path()})
        if output != expected:
            raise SystemExit(f"docs/perflib.md shows\n{expected}but the program prints\n{output}")
        print("perflib.h: ok")

    def consume_with_ctypes(self):
        """examples/live_counters.py prints what the example in C does."""
        found = next(self.prefix.rglob("pkgconfig"))
        environment = {"PKG_CONFIG_PATH": str(found), "PKG_CONFIG_ALLOW_SYSTEM_CFLAGS": "1"}
        flags = self.run("pkg-config", "--cflags", "--libs", "perfblock_platform", environment=environment).split()
        program = self.folder / "live_counters"
        examples = self.source / "examples"
        self.run(self.arguments.compiler, examples / "live_counters.c", "-o", program, *flags)
        fixture = next(self.prefix.rglob("processor_information.pfb"))
        arguments = [r"\Processor Information(*)\*", fixture]
        expected = self.run(program, *arguments, environment=self.library_path())
        output = self.run(sys.executable, examples / "live_counters.py", *arguments, environment=self.library_path())
        if output != expected or "%" not in output:
            raise SystemExit(f"the example in C prints\n{expected}but the one in Python prints\n{output}")
        print("ctypes: ok")

    def consume_as_plugin(self):
        """A plugin exports its own function only, and finds as many values as the CSV file of the same log."""
        build = self.folder / "plugin"
        self.configure(self.source / "tests/package/plugin", build, f"-DPERFBLOCK_SOURCE={self.source}")
        self.run(self.arguments.cmake, "--build", build)
        plugin, = build.glob("*plugin.so")
        exported = self.run("nm", "-D", "--defined-only", "--format=just-symbols", plugin).split()
        with open(self.source / "fixtures" / "machine.csv", encoding="ascii", newline="") as file:
            expected = [sum(bool(cell.strip()) for cell in row[1:]) for row in list(csv.reader(file))[1:]]
        count = ctypes.CDLL(str(plugin)).plugin_count_values
        counted = [count(bytes(self.source / "fixtures" / "machine.csv"), n) for n in (1, len(expected))]
        if exported != ["plugin_count_values"] or counted != [expected[0], sum(expected)]:
            raise SystemExit(f"the plugin exports {exported} and counts {counted} values")
        print("plugin: ok")

    def consume_sources(self):
        """One compiler command over the sources of core, without a build system."""
        program = self.folder / f"from_sources{self.arguments.suffix}"
        core = self.source / "core"
        sources = sorted((core / "src").glob("*/*.c"))
        self.run(self.arguments.compiler, "-std=c11", f"-I{core}/include", f"-I{core}/src", self.example, *sources, "-o", program)
        self.compare("sources", program)
        self.refuse_wrong_inputs(program)

    def refuse_wrong_inputs(self, program):
        """No argument, a missing file, and a truncated block."""
        missing, cut = self.folder / "missing.bin", self.folder / "cut.bin"
        cut.write_bytes(self.input.read_bytes()[:-1])
        for arguments, pattern in (([], "usage: .*\n"),
                                   ([missing], f"{re.escape(str(missing))}: No such file or directory\n"),
                                   ([cut], "verdict: truncated_block, offset 0\n")):
            output = self.run(*self.emulator, program, *arguments, fails=True)
            if not re.fullmatch(pattern, output):
                raise SystemExit(f"with {arguments} the example prints\n{output}")
        print("wrong inputs: ok")

    def check_exports(self):
        """The libraries export only pfb_*."""
        suffix = "so" if self.arguments.kind == "shared" else "a"
        libraries = sorted(self.prefix.rglob(f"libperfblock*.{suffix}"))
        wanted = {"libperfblock", *(f"libperfblock_{name}" for name in ("collect", "cpi", "lwp", "platform"))}
        if {library.stem for library in libraries} != wanted or len(libraries) != len(wanted):
            raise SystemExit(f"instead of {sorted(wanted)} are installed: {[library.name for library in libraries]}")
        for library in libraries:
            script = self.source / "tests/object/check_objects.py"
            print(self.run(sys.executable, script, "exports", library).strip())

    def run_program(self):
        output = self.run(self.prefix / "bin" / "perfblock", "--version")
        print(f"installed program: {output.strip()}")

    def make_fixture(self):
        """The installed perfblock-fixture makes an installed fixture from its text."""
        text, made = next(self.prefix.rglob("gpu_engine.txt")), self.folder / "made.pfb"
        self.run(self.prefix / "bin" / "perfblock-fixture", text, "-o", made)
        if made.read_bytes() != text.with_suffix(".pfb").read_bytes():
            raise SystemExit(f"perfblock-fixture makes another recording from {text}")
        print("perfblock-fixture: ok")


def check_installed(check):
    check.install()
    check.run_program()
    check.make_fixture()
    check.check_exports()
    check.consume_with_cmake("find_package")
    check.check_requests()
    if check.arguments.kind == "shared":
        check.check_soname()
        check.consume_with_ctypes()
    check.consume_with_pkg_config()
    check.consume_original_names()
    check.consume_perflib()
    check.consume_with_cmake("add_subdirectory")
    if check.arguments.kind == "static":
        check.consume_as_plugin()
    check.consume_sources()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("source", "folder", "kind", "compiler", "cmake"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--readme", help="instead of the source folder's README.md")
    parser.add_argument("--suffix", default="", help="suffix of the names of programs, such as .exe")
    parser.add_argument("--emulator", help="command that runs the example if this machine cannot run it directly")
    check = Check(parser.parse_args())
    if check.arguments.kind == "sources":
        check.consume_sources()
    else:
        check_installed(check)


if __name__ == "__main__":
    main()
