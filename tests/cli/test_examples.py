# SPDX-License-Identifier: MIT
"""The examples live_counters and two_replies: README.md prints their sources,
and they work."""

import os
import pathlib
import re
import shlex
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(
    os.path.abspath(__file__)), os.pardir, "oracle"))

import running  # noqa: E402 (in the folder that was just added)
import v1_blocks as v1  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LIVE_SYSTEM = os.environ.get("PERFBLOCK_SYSTEM") == "Linux"
EMULATED = bool(os.environ.get("PERFBLOCK_EMULATOR"))


def run(name, *arguments):
    """Runs an example; returns its exit status, output and errors."""
    suffix = ".exe" if os.environ.get("PERFBLOCK_SYSTEM") == "Windows" else ""
    path = os.path.join(os.environ["PERFBLOCK_EXAMPLES"], name + suffix)
    emulator = shlex.split(os.environ.get("PERFBLOCK_EMULATOR", "").replace(
        ";", " "))
    done = running.finish([*emulator, path, *arguments], timeout=60)
    return (done.returncode, done.stdout.decode().replace("\r", ""),
            done.stderr.decode().replace("\r", ""))


def samples():
    """Two blocks: raw counts of 10 and 70, and a rate of 30 in 2 seconds."""
    counters = [v1.counter(20, v1.RAW, 4, 4), v1.counter(22, v1.COUNTER, 8, 4)]
    for moment, raw, count in ((1, 10, 100), (3, 70, 130)):
        values = v1.LITTLE.values((4, 4, raw), (8, 4, count))
        yield v1.LITTLE.block(v1.LITTLE.object(
            2, counters, v1.LITTLE.instance("a", values)), moment=moment)


class Examples(unittest.TestCase):
    """Sources and output of the examples."""

    def test_the_readme_prints_them(self):
        page = ROOT.joinpath("README.md").read_text(encoding="utf-8")
        blocks = re.findall(r"^```c\n(.*?)^```", page, re.M | re.S)
        self.assertGreaterEqual(len(blocks), 2)
        for name, block in zip(("live_counters", "two_replies"), blocks):
            text = ROOT.joinpath("examples", name + ".c").read_text(
                encoding="utf-8")
            self.assertEqual(text.partition("\n")[2], block)

    def test_two_replies(self):
        """The program computes values from two blocks, and reports a truncated
        block and equal clocks."""
        with tempfile.TemporaryDirectory() as folder:
            paths = [os.path.join(folder, name) for name in "nab"]
            table = v1.table(("1", "1847"), ("2", "Thing"), ("20", "Size"),
                             ("22", "Things/sec"))
            for path, content in zip(paths, [table, *samples()]):
                pathlib.Path(path).write_bytes(content)
            older, newer = paths[1:]
            self.assertEqual(run("two_replies", *paths), (
                0, "Thing(a)\\Size: 70 \nThing(a)\\Things/sec: 15 /sec\n", ""))
            pathlib.Path(newer).write_bytes(
                pathlib.Path(newer).read_bytes()[:-8])
            status, out, err = run("two_replies", *paths)
            self.assertEqual((status, out), (1, ""))
            self.assertRegex(err, r"^offset \d+: .+\n$")
            self.assertEqual(run("two_replies", paths[0], older, older)[:2], (
                0, "Thing(a)\\Size: 10 \nThing(a)\\Things/sec: "
                "zero_denominator\n"))
            self.assertEqual(run("two_replies")[0], 2)

    @unittest.skipUnless(LIVE_SYSTEM and not EMULATED,
                         "only the tests on Linux have live counters")
    def test_live_counters(self):
        """The program prints processor times of this machine, and reports
        wrong paths."""
        status, out, err = run("live_counters")
        self.assertEqual((status, err), (0, ""))
        lines = out.splitlines()
        self.assertGreaterEqual(len(lines), 3 * 2)
        for line in lines:
            self.assertRegex(line, r"^\S+ % Processor Time -?\d+\.\d\d %$")
        status, out, err = run("live_counters", "\\Procesor(*)\\%")
        self.assertEqual((status, out), (1, ""))
        self.assertIn("Procesor", err)
        self.assertIn("none is a path", run("live_counters", "none is a path")[2])

    def test_counters_of_a_capture(self):
        """The rows are idle for 0.05, 0.26, 0.47 and 0.68 s in each second of
        the fixture."""
        capture = str(ROOT / "fixtures" / "processor_information.pfb")
        rows = (("0,0", 95), ("0,1", 74), ("0,_Total", 53), ("_Total", 32))
        expected = "".join(f"{name} % Processor Time {value:.2f} %\n"
                           for name, value in rows)
        path = "\\Processor Information(*)\\% Processor Time"
        self.assertEqual(run("live_counters", path, capture),
                         (0, 3 * expected, ""))
        self.assertEqual(
            run("live_counters", path.replace("*", "0,1"), capture),
            (0, 3 * "0,1 % Processor Time 74.00 %\n", ""))

    def test_captures_that_cannot_be_opened(self):
        """A missing file and a file of another format are reported."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "no.pfb")
            status, out, err = run("live_counters", "\\a\\b", path)
            self.assertEqual((status, out), (1, ""))
            self.assertIn("no.pfb", err)
            pathlib.Path(path).write_bytes(b"text\x1a")
            status, out, err = run("live_counters", "\\a\\b", path)
            self.assertEqual((status, out), (1, ""))
            self.assertNotEqual(err, "")

    @unittest.skipUnless(os.environ.get("PERFBLOCK_SYSTEM") == "Windows",
                         "the test is for Wine")
    def test_no_live_counters(self):
        """Wine has no countersets."""
        status, out, err = run("live_counters")
        self.assertEqual((status, out), (1, ""))
        self.assertNotEqual(err, "")


if __name__ == "__main__":
    unittest.main()
