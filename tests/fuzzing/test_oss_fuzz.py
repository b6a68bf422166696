# SPDX-License-Identifier: MIT
"""fuzz/oss-fuzz/build.sh, run as OSS-Fuzz and ClusterFuzzLite run it.

Both services set CC, CXX, CFLAGS, CXXFLAGS, LIB_FUZZING_ENGINE, SRC, WORK and
OUT. They copy the sources to SRC/perfblock and the script to SRC/build.sh, and
run the script in SRC/perfblock. The engine is a compiler option or a C++ library.
"""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FOLDERS = ("core", "platform", "cli", "fuzz", "cmake", "corpus", "tests")
FLAGS = "-O1 -fno-omit-frame-pointer -gline-tables-only"
ADDRESS = f"{FLAGS} -fsanitize=address -fsanitize-address-use-after-scope -fsanitize=fuzzer-no-link"
AFL = f"{FLAGS} -fsanitize=address"
UNDEFINED = f"{FLAGS} -fsanitize=undefined -fno-sanitize-recover=undefined -fsanitize=fuzzer-no-link"


def setUpModule():
    for tool in ("clang", "clang++", "zip"):
        if not shutil.which(tool):
            print(f"skipped: {tool} is not installed")
            raise unittest.SkipTest(tool)


# The engines of project.yaml that are built here.
BUILT_ENGINES = {"libfuzzer", "afl"}


def engine_library():
    """The archive of libFuzzer that comes with clang."""
    done = subprocess.run(["clang", "-print-file-name=libclang_rt.fuzzer-x86_64.a"], check=True,
                          stdout=subprocess.PIPE, encoding="utf-8")
    path = pathlib.Path(done.stdout.strip())
    if path.is_absolute():
        return path
    done = subprocess.run(["clang", "-print-resource-dir"], check=True, stdout=subprocess.PIPE, encoding="utf-8")
    return next(pathlib.Path(done.stdout.strip()).glob("lib/*/libclang_rt.fuzzer*x86_64.a"))


class OssFuzz(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="perfblock_oss_fuzz_")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def build(self, flags, engine, cc="clang", cxx="clang++"):
        """Runs build.sh in a copy of the sources, in an environment with nothing but the variables of the services, and
        returns the folder OUT."""
        source, work, out = (self.folder / name for name in ("src", "work", "out"))
        for path in (source, work, out):
            path.mkdir()
        for name in FOLDERS:
            shutil.copytree(ROOT / name, source / "perfblock" / name)
        shutil.copy(ROOT / "CMakeLists.txt", source / "perfblock")
        shutil.copy(ROOT / "fuzz" / "oss-fuzz" / "build.sh", source)
        environment = {"PATH": os.environ["PATH"], "CC": cc, "CXX": cxx, "CFLAGS": flags, "CXXFLAGS": flags,
                       "LIB_FUZZING_ENGINE": str(engine), "SRC": str(source), "WORK": str(work), "OUT": str(out)}
        done = subprocess.run([source / "build.sh"], cwd=source / "perfblock", env=environment, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8")
        self.assertEqual(0, done.returncode, done.stdout[-5000:])
        return out

    def check(self, out, options=("-runs=0",), expected="{} files found"):
        """Asserts that OUT has every target with a dictionary, options and seeds, and that each reads its seeds."""
        names = sorted(path.stem for path in (ROOT / "fuzz").glob("*_fuzzer.c"))
        self.assertEqual(names, sorted(path.name for path in out.iterdir() if "." not in path.name))
        for name in names:
            with self.subTest(target=name):
                self.assertRegex((out / f"{name}.options").read_text(encoding="ascii"), r"^\[libfuzzer\]\n")
                with zipfile.ZipFile(out / f"{name}_seed_corpus.zip") as archive:
                    seeds = self.folder / "seeds" / name
                    archive.extractall(seeds)
                    count = sum(entry.file_size > 0 for entry in archive.infolist())  # as libFuzzer counts
                self.assertGreater(count, 0)
                inputs = [seeds] if options else sorted(seeds.iterdir())
                dictionary = [f"-dict={out / name}.dict"] if options else []
                done = subprocess.run([out / name, *options, *dictionary, *inputs], cwd=self.folder, check=False,
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace")
                self.assertEqual(0, done.returncode, done.stdout[-5000:])
                self.assertIn(expected.format(count), done.stdout)

    def test_the_engine_is_an_option_of_the_compiler(self):
        self.check(self.build(ADDRESS, "-fsanitize=fuzzer"))

    def test_the_engine_is_a_library_in_cxx(self):
        self.check(self.build(UNDEFINED, engine_library()))

    def test_the_engine_is_afl(self):
        driver = pathlib.Path("/usr/lib/afl/libAFLDriver.a")
        if not driver.exists() or not shutil.which("afl-clang-fast"):
            self.skipTest("AFL++ is not installed")
        out = self.build(AFL, driver, "afl-clang-fast", "afl-clang-fast++")
        self.check(out, options=(), expected="Execution successful")

    def test_no_variable_is_needed(self):
        """Without any, the script calls cmake with the compilers and the engine of libFuzzer."""
        script = (ROOT / "fuzz" / "oss-fuzz" / "build.sh").read_text(encoding="ascii")
        shutil.copytree(ROOT / "fuzz", self.folder / "fuzz")
        tools = self.folder / "tools"
        tools.mkdir()
        (tools / "cmake").write_text('#!/bin/sh\nprintf "%s\\n" "$@" "engine $LIB_FUZZING_ENGINE"\n', encoding="ascii")
        (tools / "cmake").chmod(0o700)
        self.assertNotIn("$1", script)
        done = subprocess.run([self.folder / "fuzz" / "oss-fuzz" / "build.sh"], cwd="/", check=False,
                              env={"PATH": f"{tools}:{os.environ['PATH']}"}, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, encoding="utf-8")
        for word in (self.folder, "-DCMAKE_C_COMPILER=clang", "engine -fsanitize=fuzzer"):
            self.assertIn(f"{word}\n", done.stdout)
        self.assertNotIn("unbound variable", done.stdout)

    def test_clusterfuzzlite_copies_the_script_of_oss_fuzz(self):
        lite = (ROOT / ".clusterfuzzlite" / "Dockerfile").read_text(encoding="ascii")
        self.assertTrue(re.search(r"(?m)^COPY fuzz/oss-fuzz/build.sh \$SRC/build.sh$", lite))
        for folder in ("fuzz/oss-fuzz", ".clusterfuzzlite"):
            self.assertTrue(re.search(r"(?m)^language: c$", (ROOT / folder / "project.yaml").read_text("ascii")))


# ---- Configuration of the services --------------------------------------------------------------------------


def load(path):
    """A file in YAML. The key `on` of a workflow is read as true, as YAML 1.1 says."""
    try:
        import yaml  # pylint: disable=import-outside-toplevel
    except ImportError as error:
        raise unittest.SkipTest("PyYAML is not installed") from error
    return yaml.safe_load((ROOT / path).read_text(encoding="utf-8"))


def workflows():
    return sorted(path.relative_to(ROOT) for path in (ROOT / ".github" / "workflows").glob("fuzz_*.yml"))


class Services(unittest.TestCase):
    def test_the_project_is_complete(self):
        project = load("fuzz/oss-fuzz/project.yaml")
        for key in ("homepage", "main_repo", "primary_contact", "language", "sanitizers", "fuzzing_engines", "architectures"):
            self.assertTrue(project.get(key), key)
        self.assertEqual(set(project["fuzzing_engines"]), BUILT_ENGINES)
        self.assertLessEqual(set(project["sanitizers"]), {"address", "undefined", "memory"})
        image = (ROOT / "fuzz" / "oss-fuzz" / "Dockerfile").read_text(encoding="ascii")
        self.assertNotRegex(image, r"(?m)^ARG ")
        self.assertIn(f"git clone --depth 1 {project['main_repo']} perfblock\n", image)

    def test_each_use_has_a_workflow(self):
        modes = []
        for path in workflows():
            workflow = load(path)
            self.assertTrue({"name", True, "permissions", "jobs"} == set(workflow), path)
            for job in workflow["jobs"].values():
                modes += self.check_job(job)
            for pattern in (workflow[True].get("pull_request") or {}).get("paths", ()):
                self.assertTrue((ROOT / pattern.removesuffix("/**")).exists(), pattern)
            for entry in workflow[True].get("schedule", ()):
                self.assertRegex(entry["cron"], r"^\d+ \d+ [*\d]+ [*\d]+ [*\d]+$")
        self.assertEqual(["batch", "code-change", "prune"], sorted(modes))

    def check_job(self, job):
        """Asserts that a job builds the targets and then runs them with the same sanitizer. Yields its mode."""
        project = load("fuzz/oss-fuzz/project.yaml")
        self.assertEqual("ubuntu-latest", job["runs-on"])
        self.assertLessEqual(set(job), {"runs-on", "concurrency", "strategy", "steps"})
        sanitizers = job.get("strategy", {}).get("matrix", {}).get("sanitizer", ["address"])
        self.assertLessEqual(set(sanitizers), set(project["sanitizers"]))
        build, run = job["steps"]
        self.assertEqual("google/clusterfuzzlite/actions/build_fuzzers@v1", build["uses"])
        self.assertEqual("google/clusterfuzzlite/actions/run_fuzzers@v1", run["uses"])
        self.assertEqual(load(".clusterfuzzlite/project.yaml")["language"], build["with"]["language"])
        self.assertEqual(build["with"]["sanitizer"], run["with"]["sanitizer"])
        self.assertLessEqual(set(build["with"]), {"language", "github-token", "sanitizer", "upload-build"})
        self.assertLessEqual(set(run["with"]), {"github-token", "sanitizer", "mode", "fuzz-seconds", "output-sarif"})
        self.assertGreater(run["with"]["fuzz-seconds"], 0)
        yield run["with"]["mode"]


if __name__ == "__main__":
    unittest.main()
