#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The nine decisions of docs/pdh.md that only Windows can confirm, as the
program pdh_facts.c prints them.

test_facts.py COMMAND...: runs the program with perfblock's PDH.
"""
import os
import pathlib
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMAND = sys.argv[1:]
# Of the fixture, which has no processes of the program.
EXPECTED = """\
1 before the first collect: formatted C0000BC6 C0000BBA, raw 00000000 00000000, \
array 800007D5; after one: formatted C0000BC6 C0000BBA, raw 00000000 00000000, \
array C0000BBA
2 what fell: 8 bytes 800007D8 C0000BBA, clock 800007D6 C0000BBA, \
4 bytes C0000BC6 C0000BBA
3 as long: 199.99999 199, 3000000000 -1294967296
4 equal times: rate 0
5 an object without instances: 00000000, items 1, name ""
6 order of limit, scale and 1000: 250 percent 100, times 1000 100000, \
scale -1 10, both 10000
7 the first collect of a thread: 00000000, after 0.3 s none, event 0, \
then a sample
8 time base of a raw count: C0000BBD 0
9 instances of one name: 00000000, no such processes
"""


class Facts(unittest.TestCase):
    """Each test is a PDH."""

    def lines(self, **environment):
        """What the program prints with other environment variables."""
        done = subprocess.run(COMMAND, capture_output=True, text=True, timeout=60,
                              env={**os.environ, **environment}, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = done.stdout.splitlines(keepends=True)
        self.assertEqual([line[:2] for line in lines],
                         [f"{n} " for n in range(1, 10)])
        return lines

    def test_recording(self):
        self.assertEqual("".join(self.lines(PERFBLOCK_CAPTURE=str(
            ROOT / "fixtures/machine_v1.pfb"))), EXPECTED)

    @unittest.skipUnless(sys.platform == "linux" and len(COMMAND) == 1, "Linux only")
    def test_this_machine(self):
        """Processes of Linux have numbers, by which they are matched."""
        self.assertRegex(self.lines(PERFBLOCK_CAPTURE="")[8],
                         ": 00000000, by identity$")

    @unittest.skipUnless(len(COMMAND) > 1, "Wine only")
    def test_wine(self):
        """Wine's own PDH, of which the program finds what it lacks."""
        overrides = os.environ["WINEDLLOVERRIDES"] + ";pdh=b"
        self.assertRegex(self.lines(WINEDLLOVERRIDES=overrides)[0],
                         "cannot be added: C0000BB9$")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
