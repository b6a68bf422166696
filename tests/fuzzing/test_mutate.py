# SPDX-License-Identifier: MIT
"""scripts/mutate and scripts/coverage: which faults are planted, and which gaps are listed."""

import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "scripts" / "lib"))

import coverage  # noqa: E402
import checks  # noqa: E402
import faults  # noqa: E402
import fuzzing  # noqa: E402
import mutate  # noqa: E402

SOURCE = """\
/* a comment: if (x < 1) */
#define LIMIT 2
enum { HEADER_BYTES = 8 };

static bool is_short(size_t size, size_t end)
{
    if (size > end - 4 || size < HEADER_BYTES)
        return false; /* size == 0 */
    note("a < b");
    end += 1;
    return true;
}
"""


class Faults(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="perfblock_mutate_")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for module in (faults, checks, coverage):
            self.addCleanup(setattr, module, "ROOT", module.ROOT)
            module.ROOT = self.folder
        self.write(SOURCE)

    def write(self, text):
        (self.folder / "short.c").write_text(text, encoding="utf-8")

    def test_each_fault_of_a_function(self):
        """All faults of a function are found, each with its own key."""
        condition = "size > end - 4 || size < HEADER_BYTES"
        expected = {
            (7, "if (size >= end - 4 || size < HEADER_BYTES)"),
            (7, "if (size > end - 4 || size <= HEADER_BYTES)"),
            (7, "if (size > end + 4 || size < HEADER_BYTES)"),
            (7, "if (size > end - 4 && size < HEADER_BYTES)"),
            (7, "if (size > end - 5 || size < HEADER_BYTES)"),
            (7, "if (size > end - 4 || size < (HEADER_BYTES + 1))"),
            (7, "if (size > end - 4 || size < (HEADER_BYTES - 1))"),
            (7, f"if (0 && ({condition}))"), (7, f"if (1 || ({condition}))"),
            (8, "return true;"),
            (9, ";"),
            (10, "end += 2;"), (10, ";"),
            (11, "return false;"),
        }
        found = faults.faults_of("short.c")
        self.assertEqual(expected, {(fault.line, fault.after) for fault in found})
        self.assertEqual(len(expected), len({fault.key() for fault in found}))

    def test_conditions_of_several_lines(self):
        """A condition that spans lines is removed as a whole."""
        self.write(SOURCE.replace(" || ", " ||\n        "))
        removed = [fault for fault in faults.faults_of("short.c") if fault.operator == "check removed"]
        self.assertEqual(["if (0 && (size > end - 4 || size < HEADER_BYTES))"], [fault.after for fault in removed])

    def test_lines_that_PFB_NEVER_controls_have_no_faults(self):
        self.write(SOURCE.replace("size > end - 4 || size < HEADER_BYTES", "PFB_NEVER(size > end - 4)"))
        self.assertEqual({9, 10, 11}, {fault.line for fault in faults.faults_of("short.c")})

    def test_the_key_depends_on_the_text_of_the_line_not_on_its_number(self):
        before = {fault.key() for fault in faults.faults_of("short.c") if fault.line == 10}
        self.write(SOURCE.replace("end += 1", "end += 3"))
        after = {fault.key() for fault in faults.faults_of("short.c") if fault.line == 10}
        self.assertFalse(before & after)
        self.write("\n" + SOURCE)
        self.assertEqual(before, {fault.key() for fault in faults.faults_of("short.c") if fault.line == 11})

    def test_a_larger_sample_contains_the_smaller_one(self):
        found = faults.faults_of("short.c")
        self.assertEqual(mutate.sample_of(found, 3, 1), mutate.sample_of(found, 8, 1)[:3])
        self.assertNotEqual(mutate.sample_of(found, 8, 1), mutate.sample_of(found, 8, 2))

    def test_only_comparisons_that_reject_are_bounds_checks(self):
        (self.folder / "core/include/perfblock").mkdir(parents=True)
        (self.folder / "core/include/perfblock/error.h").write_text("    PFB_SHORT,\n", encoding="utf-8")
        self.write(SOURCE + """
static int read(size_t size)
{
    if (size == 0)
        return 0;
    if (size < 3) {
        error = PFB_SHORT;
        return 1;
    }
    if (size > 5)
        size = 5;
    return 1;
}
""")
        self.assertEqual([("is_short", "size > end - 4 || size < HEADER_BYTES"), ("read", "size < 3")],
                         [(function, condition) for _, function, condition in checks.checks_of("short.c")])


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


class Coverage(unittest.TestCase):
    def test_modules_and_percentages(self):
        """Files belong to the library of their folder; percentages have one decimal."""
        self.assertEqual("cpi", coverage.module_of("core/cpi/src/cpi.c"))
        self.assertEqual("lwp", coverage.module_of("core/lwp/src/lwp.c"))
        self.assertEqual("core", coverage.module_of("core/src/bytes/name.c"))
        self.assertEqual("75.0 (3 of 4)", coverage.cell((3, 4)))
        self.assertEqual(100.0, coverage.percent((0, 0)))

    def test_outcomes_in_several_libraries_are_combined(self):
        """An outcome or condition that one library covers is no gap, nor is one that the compiler has folded."""
        name = "core/src/bytes/line.h"
        # Each row begins with the first and the last line and column. A branch continues with how often it was true and
        # false; the numbers after that are not used. The last member of a record of MC/DC says which of its conditions
        # are covered.
        entry = {"filename": str(ROOT / name), "segments": [],
                 "branches": [[5, 1, 5, 9, 1, 0, 0, 0, 6], [5, 1, 5, 9, 0, 7, 0, 0, 6], [6, 1, 6, 9, 0, 2, 0, 0, 6]],
                 "mcdc_records": [[5, 1, 5, 9, 0, 5, [True, False]], [5, 1, 5, 9, 0, 5, [False, True]],
                                  [6, 1, 6, 9, 0, 5, [True, False]]]}
        found = [gap.split(": ")[:2] for gap in coverage.gaps({"files": [entry]}, set())]
        self.assertEqual([[f"{name}:6", "MC/DC"], [f"{name}:6", "never true"]], found)
        constants = {(str(ROOT / name), 6, 1), (str(ROOT / name), 6, 1, 2)}
        self.assertEqual([], list(coverage.gaps({"files": [entry]}, constants)))

    def test_lines_that_PFB_NEVER_controls_are_not_counted(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "short.c"
            path.write_text("if (PFB_NEVER(a(1) >\n    2)) /* why; */\n    return false;\nb();\n"
                            "if (PFB_NEVER(x)) {\n    c();\n}\nd();\n"
                            "if (PFB_NEVER(x) || y)\n    return;\n", encoding="utf-8")
            self.assertEqual({3, 6, 7}, coverage.never_reached(path))


if __name__ == "__main__":
    unittest.main()
