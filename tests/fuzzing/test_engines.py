# SPDX-License-Identifier: MIT
"""scripts/fuzz with each engine, and scripts/corpus.

fuzz/check/planted_fuzzer.c has a bug that each engine must find and report. The target query must have none.
"""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "scripts" / "lib"))

import fuzzing  # noqa: E402

# {name: options of scripts/fuzz}
ENGINES = {"libfuzzer": ["--engine", "libfuzzer"],
           "msan": ["--engine", "libfuzzer", "--sanitizer", "memory"],
           "afl": ["--engine", "afl"]}
SECOND = "0.017"  # in minutes


def setUpModule():
    for tool in ("clang", "afl-fuzz", "afl-clang-fast"):
        if not shutil.which(tool):
            print(f"skipped: {tool} is not installed")
            raise unittest.SkipTest(tool)


class Engines(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="perfblock_engines_")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.corpus = self.folder / "corpus"
        shutil.copytree(ROOT / "corpus" / "query", self.corpus / "query")
        self.environment = {**os.environ, "PERFBLOCK_FUZZING": str(self.folder / "fuzzing"),
                            "PERFBLOCK_CORPUS": str(self.corpus)}

    def script(self, name, *arguments):
        return subprocess.run([ROOT / "scripts" / name, *arguments], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, encoding="utf-8", check=False,
                              env=self.environment)

    def test_a_planted_bug_is_found_and_can_be_replayed(self):
        for name, options in ENGINES.items():
            with self.subTest(engine=name):
                done = self.script("fuzz", "planted", "--minutes", "1", "--jobs", "1", *options)
                self.assertEqual(1, done.returncode, done.stdout)
                match = re.search(r"(?m)^FINDING planted: replay with\n    (.+)$", done.stdout)
                self.assertTrue(match, done.stdout)
                replayed = subprocess.run(match[1].split(), cwd=ROOT, stdout=subprocess.PIPE,
                                          stderr=subprocess.STDOUT, errors="replace", check=False)
                self.assertNotEqual(0, replayed.returncode)
                self.assertRegex(replayed.stdout, "heap-buffer-overflow|use-of-uninitialized-value")
                finding = pathlib.Path(match[1].split()[1])
                self.assertEqual(b"\x6f\xb0\xed\x5e", finding.read_bytes()[:4])  # the target's magic number

    def test_a_target_without_defects_passes(self):
        for name, options in ENGINES.items():
            with self.subTest(engine=name):
                done = self.script("fuzz", "query", "--minutes", SECOND, "--jobs", "1", *options)
                self.assertEqual(0, done.returncode, done.stdout)
                self.assertRegex(done.stdout, r"done query: [\d,]+ runs/s, [\d,]*[1-9][\d,]* runs, [1-9]")
                self.assertTrue(done.stdout.endswith("nothing found\n"), done.stdout)

    def test_inputs_that_reach_more_than_the_seeds_are_kept(self):
        seeds = sorted((self.corpus / "query" / "seeds").iterdir())
        collected = self.folder / "fuzzing" / "query" / "corpus"
        collected.mkdir(parents=True)
        for number, seed in enumerate(seeds):
            if number % 8 != 0:  # one seed in eight stays; the others become collected inputs
                seed.replace(collected / seed.name)
        (collected / "long").write_bytes(bytes(5000))
        contents = {path.read_bytes() for path in collected.iterdir()}
        done = self.script("corpus", "query")
        self.assertEqual(0, done.returncode, done.stdout)
        kept = [path.read_bytes() for path in (self.corpus / "query" / "found").iterdir()]
        self.assertTrue(0 < len(kept) < len(contents), done.stdout)
        self.assertLessEqual(set(kept), contents)
        self.assertLess(max(map(len, kept)), 4097)
        done = self.script("corpus", "query")
        self.assertIn(f"{len(kept)} in", done.stdout)

    def test_wrong_usage_is_refused(self):
        for arguments in (["no_such_target"], [], ["query", "--engine", "afl", "--sanitizer", "memory"],
                          ["query", "--minutes", "0"]):
            with self.subTest(arguments=arguments):
                self.assertEqual(2, self.script("fuzz", *arguments).returncode)

    def test_stopped_processes_of_an_engine_are_killed(self):
        """The shell ends without killing the process that it started, as AFL++ sometimes does."""
        sleep = shutil.which("sleep")
        number = self.folder / "pid"
        fuzzing.adopt_orphans()
        subprocess.run(["sh", "-c", f"{sleep} 1000 & echo $! > {number}"], stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        process = pathlib.Path("/proc") / number.read_text(encoding="ascii").strip()
        while not (process / "exe").samefile(sleep):  # until then it is a shell
            time.sleep(0.01)
        os.kill(int(process.name), signal.SIGSTOP)
        fuzzing.kill_orphans("/bin/sh")
        self.assertTrue(process.exists(), "it has another executable")
        fuzzing.kill_orphans(sleep)
        self.assertFalse(process.exists())


if __name__ == "__main__":
    unittest.main()
