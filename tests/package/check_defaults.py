#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks a build without options, `cmake -B build && cmake --build build`, which builds no tests and needs only a C
compiler and a build tool. Also checks how the build type, the tests and PERFBLOCK_REAL_DATA are chosen.

Missing tools are simulated with CMAKE_DISABLE_FIND_PACKAGE_PkgConfig and CMAKE_DISABLE_FIND_PACKAGE_Python3.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess

NO_CRITERION = "-DCMAKE_DISABLE_FIND_PACKAGE_PkgConfig=ON"
NO_PYTHON = "-DCMAKE_DISABLE_FIND_PACKAGE_Python3=ON"
# The environment without the variables that change defaults of CMake or of this project.
ENVIRONMENT = {name: value for name, value in os.environ.items()
               if name not in ("CMAKE_BUILD_TYPE", "CMAKE_GENERATOR", "CFLAGS", "PERFBLOCK_REAL_DATA",
                                "PERFBLOCK_SAMPLES")}


class Check:
    def __init__(self, arguments):
        self.cmake = arguments.cmake
        self.compiler = arguments.compiler
        self.source = pathlib.Path(arguments.source).resolve()
        self.folder = pathlib.Path(arguments.folder).resolve()
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)

    def run(self, *command, fails=False, **variables):
        command = [str(part) for part in command]
        done = subprocess.run(command, env={**ENVIRONMENT, **variables}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        self.expect((done.returncode != 0) == fails,
                    f"{' '.join(command)}: exit status {done.returncode}", done.stdout)
        return done.stdout

    @staticmethod
    def expect(condition, problem, output=""):
        if not condition:
            raise SystemExit(f"{problem}\n{output}")

    def configure(self, name, *options, fails=False, source=None, **variables):
        """(build folder, output of CMake)"""
        build = self.folder / name
        output = self.run(self.cmake, "-S", source or self.source, "-B", build, f"-DCMAKE_C_COMPILER={self.compiler}",
                          "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", *options, fails=fails, **variables)
        return build, output

    def cached(self, build, name):
        line = re.search(rf"^{name}:\w+=(.*)$", (build / "CMakeCache.txt").read_text(encoding="utf-8"), re.MULTILINE)
        self.expect(line, f"{build}: {name} is not in the cache")
        return line[1]

    def compiled(self, build):
        """source -> the command that compiles it"""
        commands = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
        return {str(pathlib.Path(row["file"]).relative_to(self.source)): row["command"] for row in commands}

    def expect_tests(self, build, expected):
        tests = [source for source in self.compiled(build) if source.startswith("tests/")]
        self.expect(bool(tests) == expected, f"{build}: tests are {'' if tests else 'not '}built")

    def check_user(self):
        """With only a compiler and a build tool: optimised libraries and the program."""
        build, _ = self.configure("user")
        folders = {source.split("/")[0] for source in self.compiled(build)}
        self.expect(folders == {"core", "platform", "cli"}, f"{sorted(folders)} are built")
        for source, command in self.compiled(build).items():
            self.expect(re.search(r" -O[23] ", command), f"{source} is not optimised: {command}")
        self.run(self.cmake, "--build", build, "--parallel", "2")
        version = self.run(build / "cli" / "perfblock", "--version")
        self.expect(version.startswith("perfblock "), "unexpected output of --version", version)
        print("libraries and program: ok")

    def check_build_types(self):
        """A given build type is used; a project that contains this one chooses its own."""
        build, _ = self.configure("debug", "-DCMAKE_BUILD_TYPE=Debug")
        self.expect(self.cached(build, "CMAKE_BUILD_TYPE") == "Debug", "the type Debug is not kept")
        outer = self.folder / "outer"
        outer.mkdir()
        (outer / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.18)\nproject(outer LANGUAGES C)\n"
                                              f"add_subdirectory([[{self.source}]] perfblock)\n", encoding="utf-8")
        build, _ = self.configure("inside", source=outer)
        self.expect(self.cached(build, "CMAKE_BUILD_TYPE") == "", "the build type of the outer project is changed")
        self.expect_tests(build, False)
        print("build types: ok")

    def check_parts(self):
        """A project that contains this one has perfblock::collect without perfblock::platform."""
        for name, options, expected in (("collect", ("-DPERFBLOCK_PLATFORM=OFF",), {"core", "platform"}),
                                        ("core", ("-DPERFBLOCK_PLATFORM=OFF", "-DPERFBLOCK_COLLECT=OFF"), {"core"})):
            build, _ = self.configure(f"only_{name}", *options, source=self.folder / "outer")
            sources = self.compiled(build)
            folders = {source.split("/")[0] for source in sources}
            self.expect(folders == expected and not any("live" in source for source in sources), f"with {options} {sorted(sources)} are built")
        print("parts: ok")

    def check_tests(self):
        """ON requires the tools of the tests."""
        for name, option, tool in (("criterion", NO_CRITERION, "Criterion"), ("python", NO_PYTHON, "Python 3")):
            _, output = self.configure(name, option, "-DPERFBLOCK_TESTS=ON", fails=True)
            self.expect(re.search(rf"CMake Error[^\0]*{tool}", output), f"no error names {tool}", output)
        build, _ = self.configure("on", "-DPERFBLOCK_TESTS=ON")
        self.expect_tests(build, True)
        print("tests: ok")

    def check_real_data(self):
        """The option PERFBLOCK_REAL_DATA of an existing build folder is set from the environment variable of the same
        name, even if that is set later. A value on the command line has precedence."""
        first, second = self.folder / "data 1", self.folder / "data 2"
        first.mkdir()
        second.mkdir()
        build, _ = self.configure("data")
        self.expect(self.cached(build, "PERFBLOCK_REAL_DATA") == "", "the option is set without the variable")
        self.configure("data", PERFBLOCK_REAL_DATA=str(first))
        self.expect(self.cached(build, "PERFBLOCK_REAL_DATA") == str(first), "the variable is ignored")
        self.configure("data", f"-DPERFBLOCK_REAL_DATA={second}", PERFBLOCK_REAL_DATA=str(first))
        self.expect(self.cached(build, "PERFBLOCK_REAL_DATA") == str(second), "the option is not used")
        second.rmdir()
        self.configure("data", PERFBLOCK_REAL_DATA=str(first))
        self.expect(self.cached(build, "PERFBLOCK_REAL_DATA") == str(first), "a deleted folder is kept")
        print("real data: ok")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("source", "folder", "compiler", "cmake"):
        parser.add_argument(f"--{name}", required=True)
    check = Check(parser.parse_args())
    check.check_user()
    check.check_build_types()
    check.check_parts()
    check.check_tests()
    check.check_real_data()


if __name__ == "__main__":
    main()
