# SPDX-License-Identifier: MIT
"""The lists that scripts/mutate reads: fuzz targets of readers, and faults with a reason."""

import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "scripts" / "lib"))

import checks  # noqa: E402
import faults  # noqa: E402
import fuzzing  # noqa: E402
import mutate  # noqa: E402


class Checks(unittest.TestCase):
    def test_every_reader_of_perflib_has_targets(self):
        """Each reader in core/src/perflib has fuzz targets, and all listed targets exist."""
        readers = {path for path in faults.all_files() if "/perflib/" in path and path.endswith(".c") and "/write" not in path}
        self.assertTrue(readers)
        self.assertFalse(readers - set(checks.TARGETS))
        targets = {target for listed in checks.TARGETS.values() for target in listed}
        self.assertFalse(targets - set(fuzzing.targets()))

    def test_faults_in_accepted_mutants_and_undetected_checks_exist(self):
        existing = {fault.identity() for path in faults.all_files() for fault in faults.faults_of(path)}
        self.assertFalse(mutate.accepted() - existing)
        self.assertFalse(set(checks.reasons()) - existing)


if __name__ == "__main__":
    unittest.main()
