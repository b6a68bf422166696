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
FOLDERS = ("core", "platform", "fuzz", "cmake", "corpus", "tests")
FLAGS = "-O1 -fno-omit-frame-pointer -gline-tables-only"
ADDRESS = f"{FLAGS} -fsanitize=address -fsanitize-address-use-after-scope -fsanitize=fuzzer-no-link"
UNDEFINED = f"{FLAGS} -fsanitize=undefined -fno-sanitize-recover=undefined -fsanitize=fuzzer-no-link"


def setUpModule():
    for tool in ("clang", "clang++", "zip"):
        if not shutil.which(tool):
            print(f"skipped: {tool} is not installed")
            raise unittest.SkipTest(tool)


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

    def build(self, flags, engine):
        """Runs build.sh in a copy of the sources and returns the folder OUT."""
        source, work, out = (self.folder / name for name in ("src", "work", "out"))
        for path in (source, work, out):
            path.mkdir()
        for name in FOLDERS:
            shutil.copytree(ROOT / name, source / "perfblock" / name)
        shutil.copy(ROOT / "CMakeLists.txt", source / "perfblock")
        shutil.copy(ROOT / "fuzz" / "oss-fuzz" / "build.sh", source)
        environment = {**os.environ, "CC": "clang", "CXX": "clang++", "CFLAGS": flags, "CXXFLAGS": flags,
                       "LIB_FUZZING_ENGINE": str(engine), "SRC": str(source), "WORK": str(work), "OUT": str(out)}
        done = subprocess.run([source / "build.sh"], cwd=source / "perfblock", env=environment, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8")
        self.assertEqual(0, done.returncode, done.stdout[-5000:])
        return out

    def check(self, out):
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
                done = subprocess.run([out / name, "-runs=0", f"-dict={out / name}.dict", seeds], cwd=self.folder,
                                      check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace")
                self.assertEqual(0, done.returncode, done.stdout[-5000:])
                self.assertRegex(done.stdout, rf"{count} files found")

    def test_the_engine_is_an_option_of_the_compiler(self):
        self.check(self.build(ADDRESS, "-fsanitize=fuzzer"))

    def test_the_engine_is_a_library_in_cxx(self):
        self.check(self.build(UNDEFINED, engine_library()))

    def test_clusterfuzzlite_copies_the_script_of_oss_fuzz(self):
        lite = (ROOT / ".clusterfuzzlite" / "Dockerfile").read_text(encoding="ascii")
        self.assertTrue(re.search(r"(?m)^COPY fuzz/oss-fuzz/build.sh \$SRC/build.sh$", lite))
        for folder in ("fuzz/oss-fuzz", ".clusterfuzzlite"):
            self.assertTrue(re.search(r"(?m)^language: c$", (ROOT / folder / "project.yaml").read_text("ascii")))


if __name__ == "__main__":
    unittest.main()
