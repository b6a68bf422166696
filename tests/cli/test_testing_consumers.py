# SPDX-License-Identifier: MIT
"""docs/testing-consumers.md shows the text of its examples, and their commands
print what it shows: values of fixtures/machine.tsv.

PERFBLOCK_CC and PERFBLOCK_LINK are as in test_samples.py, and
PERFBLOCK_PDH_LIBRARY is libperfblock_pdh.so.1, or empty.
"""

import os
import re
import shlex
import subprocess
import sys
import unittest

from program import FIXTURES, ROOT
from test_samples import CC, INCLUDES, LINK, Compiled

LIBRARY = os.environ.get("PERFBLOCK_PDH_LIBRARY", "")


def text_of(*names):
    """The text of a file of the project."""
    with open(os.path.join(ROOT, *names), encoding="utf-8") as file:
        return file.read()


PAGE = text_of("docs", "testing-consumers.md")
# {program: [(command, output)]} of the page
COMMANDS = [(command, output) for block in re.findall(r"^```\n(\$ .*?)^```$", PAGE, re.M | re.S)
            for command, output in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.M)]


def displayed(path):
    """The values of a counter path in machine.tsv; None: none."""
    for line in text_of("fixtures", "machine.tsv").splitlines():
        name, *values = line.split("\t")
        if name == path:
            return [float(value) if value else None for value in values]
    raise KeyError(path)


class Examples(Compiled):
    """The examples of the page."""

    def run_commands(self, name, **variables):
        """Runs the commands of the page with this example; returns what its
        last one printed, after all were compared."""
        printed = None
        for command, expected in COMMANDS:
            words = shlex.split(command)
            if not any(re.search(rf"\b{name}\b", word) for word in words):
                continue
            assigned = dict(word.split("=") for word in words if re.match(r"[A-Z_]+=", word))
            words = words[len(assigned):]
            if words[0] == "cc":
                words = [*CC, "-Wall", "-Wextra", "-Werror", *words[1:], *INCLUDES, *LINK, "-pthread"]
                words[words.index("-o") + 1] = os.path.join(self.folder, name)
            elif words[0].startswith("./"):
                words[0] = os.path.join(self.folder, words[0])
            else:
                words[0] = sys.executable
            done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False, timeout=60,
                                  env={**os.environ, **assigned, **variables})
            self.assertEqual((done.stdout, done.stderr), (expected, ""), command)
            printed = printed or done.stdout
        self.assertTrue(printed)
        return printed

    def test_texts(self):
        """The page has the text of two programs."""
        shown = re.findall(r"^```(?:c|python)\n(.*?)^```$", PAGE, re.M | re.S)
        self.assertEqual(len(shown), 2)
        for name, text in zip(("busy_pdh.c", "memory_pdh.py"), shown):
            self.assertTrue(text_of("examples", name).endswith("MIT\n" + text) or
                            text_of("examples", name).endswith("MIT */\n" + text), name)

    def test_busy_pdh(self):
        """Percentages of all processors."""
        lines = self.run_commands("busy_pdh").splitlines()
        expected = displayed(r"\Processor(_Total)\% Processor Time")[1:8]
        self.assertEqual(lines, [f"{value:5.1f} %{'  busy' if value > 80 else ''}" for value in expected])

    @unittest.skipUnless(LIBRARY, "there is no libperfblock_pdh.so.1")
    def test_memory_pdh(self):
        """Working sets of the first sample."""
        lines = self.run_commands("memory_pdh", LD_LIBRARY_PATH=os.path.dirname(LIBRARY)).splitlines()
        names = [line.split()[-1] for line in lines]
        self.assertEqual(sorted(names), ["Idle", "System", "_Total", "agent", "database"])
        for line, name in zip(lines, names):
            size = int(line.split()[0].replace(",", ""))
            self.assertEqual(size, displayed(rf"\Process({name})\Working Set")[0] // 1024, name)

    def test_busy_registry(self):
        """Percentages of each processor."""
        lines = self.run_commands("busy_registry").splitlines()
        self.assertEqual(len(lines), 3)
        for sample, line in enumerate(lines, 1):
            found = re.findall(r"(\S+) (\d+\.\d) %", line)
            self.assertEqual([name for name, _ in found], ["0", "1", "_Total"])
            for name, value in found:
                exact = displayed(rf"\Processor({name})\% Processor Time")[sample]
                self.assertAlmostEqual(float(value), exact, delta=0.05 + 1e-9)

    def test_fixtures(self):
        """The fixtures that the page names exist."""
        names = re.findall(r"`(\w+)`", PAGE[PAGE.index("| what may happen"):PAGE.index("| hostile")])
        self.assertGreater(len(names), 8)
        for name in names:
            self.assertTrue(os.path.exists(os.path.join(FIXTURES, name + ".pfb")), name)


if __name__ == "__main__":
    unittest.main()
