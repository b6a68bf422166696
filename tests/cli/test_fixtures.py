# SPDX-License-Identifier: MIT
"""The captures in fixtures/: they are generated from their texts, commands read
them without an error, and fixtures/README.md describes them."""

import collections
import glob
import os
import re
import subprocess
import sys
import unittest

from program import ROOT, Case, bytes_of

FOLDER = os.path.join(ROOT, "fixtures")
# Rows of the table of statuses in fixtures/README.md, and of the counters in
# catalog.c.
ROW = re.compile(r"^\| `(\w+)` \| `(\w+)` \| (\d+) \|", re.M)
CATALOG_ROW = re.compile(r'^    \{([A-Z_]+), \w+, (\d+), \w+, \w+, "(.*)"\},$',
                         re.M)


def read(*names):
    """The text of a file of the project."""
    with open(os.path.join(ROOT, *names), encoding="utf-8") as file:
        return file.read()


class Fixtures(Case):
    """Everything in fixtures/."""

    def setUp(self):
        super().setUp()
        self.paths = sorted(glob.glob(os.path.join(FOLDER, "*.pfb")))
        self.assertGreaterEqual(len(self.paths), 12)

    def test_record_reads_their_texts(self):
        """record --source writes the same recording for a text as for the
        recording that was made from it, also of V1 data."""
        out = os.path.join(self.folder, "out.pfb")
        for path in self.paths:
            contents = []
            for source in (path, path[:-4] + ".txt"):
                self.run_fine("record", "-q", "--source", source, "--set", "*",
                              "-o", out, "--force")
                contents.append(bytes_of(out))
            self.assertEqual(contents[0], contents[1], path)

    def cooked(self, path):
        """The records of a fixture's values. Records of results that failed,
        whose status is a number, are left out."""
        done = self.run_program("cook", "--format", "json", path)
        self.assertEqual(done.status, 0, done.err)
        return [item for item in done.objects()
                if isinstance(item["status"], str)]

    @staticmethod
    def stem(path):
        """The name of a fixture without its extension."""
        return os.path.basename(path)[:-len(".pfb")]

    def test_fixtures_are_generated_from_their_texts(self):
        subprocess.run([sys.executable, os.path.join(FOLDER, "make_fixtures.py"),
                        self.folder], check=True, timeout=60)
        made = sorted(os.listdir(self.folder))
        self.assertEqual(made, [os.path.basename(path) for path in self.paths])
        for path in self.paths:
            self.assertEqual(bytes_of(path), bytes_of(os.path.join(
                self.folder, os.path.basename(path))), path)

    def test_commands_read_them(self):
        """show, check --strict, cook and countersets accept each fixture."""
        for path in self.paths:
            for command in (["show"], ["check", "--strict"], ["cook"]):
                self.assertEqual(self.run_program(*command, path).status, 0)
            self.run_fine("countersets", "--file", path)

    def test_statuses_are_those_in_the_readme(self):
        """The README's table has the number of values of each status other
        than ok."""
        documented = {(name, status): int(count) for name, status, count
                      in ROW.findall(read("fixtures", "README.md"))}
        found = collections.Counter(
            (self.stem(path), item["status"]) for path in self.paths
            for item in self.cooked(path) if item["status"] != "ok")
        self.assertEqual(found, documented)

    def test_readme_lists_them(self):
        """The README has a row for each fixture."""
        text = read("fixtures", "README.md")
        for path in self.paths:
            self.assertIn(f"\n| `{self.stem(path)}` | ", text)

    def test_every_counter_of_the_catalog_is_in_a_fixture(self):
        catalog = {(name.replace("_", " ").lower(), int(ident), counter)
                   for name, ident, counter in CATALOG_ROW.findall(
                       read("core", "src", "perflib", "catalog.c"))}
        self.assertGreaterEqual(len(catalog), 41)
        found = set()
        for path in self.paths:
            for item in self.cooked(path):
                found.add((str(item.get("set")).lower(), item.get("counter_id"),
                           item.get("counter")))
        self.assertEqual(catalog - found, set())


if __name__ == "__main__":
    unittest.main()
