# SPDX-License-Identifier: MIT
"""The faults that scripts/mutate plants, and the gaps that scripts/coverage lists."""

import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "scripts" / "lib"))

import coverage  # noqa: E402
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
        self.addCleanup(setattr, mutate, "ROOT", mutate.ROOT)
        mutate.ROOT = pathlib.Path(folder.name)
        (mutate.ROOT / "short.c").write_text(SOURCE, encoding="utf-8")

    def test_each_fault_of_a_function(self):
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
            (8, "return true; /* size == 0 */"),
            (9, ";"),
            (10, "end += 2;"), (10, ";"),
            (11, "return false;"),
        }
        mutants = list(mutate.mutants_of("short.c"))
        self.assertEqual(expected, {(mutant.line, mutant.after) for mutant in mutants})
        self.assertEqual(len(expected), len({mutant.key() for mutant in mutants}))

    def test_mutants_of_a_changed_line_have_new_keys(self):
        before = {mutant.key() for mutant in mutate.mutants_of("short.c") if mutant.line == 10}
        (mutate.ROOT / "short.c").write_text(SOURCE.replace("end += 1", "end += 3"), encoding="utf-8")
        after = {mutant.key() for mutant in mutate.mutants_of("short.c") if mutant.line == 10}
        self.assertFalse(before & after)


class Coverage(unittest.TestCase):
    def test_modules_and_percentages(self):
        self.assertEqual("cpi", coverage.module_of("core/cpi/src/cpi.c"))
        self.assertEqual("lwp", coverage.module_of("core/lwp/src/lwp.c"))
        self.assertEqual("core", coverage.module_of("core/src/bytes/name.c"))
        self.assertEqual("75.0 (3 of 4)", coverage.cell((3, 4)))
        self.assertEqual(100.0, coverage.percent((0, 0)))

    def test_a_line_reached_in_one_library_is_not_a_gap_of_another(self):
        name = "core/src/bytes/line.h"
        entry = {"filename": str(ROOT / name), "segments": [],
                 "branches": [[5, 1, 5, 9, 1, 0, 0, 0, 6], [5, 1, 5, 9, 0, 7, 0, 0, 6], [6, 1, 6, 9, 0, 2, 0, 0, 6]],
                 "mcdc_records": [[5, 1, 5, 9, 0, 5, [True, False]], [5, 1, 5, 9, 0, 5, [False, True]],
                                  [6, 1, 6, 9, 0, 5, [True, False]]]}
        found = [gap.split(": ")[:2] for gap in coverage.gaps({"files": [entry]}, set())]
        self.assertEqual([[f"{name}:6", "MC/DC"], [f"{name}:6", "never true"]], found)
        constants = {(str(ROOT / name), 6, 1), (str(ROOT / name), 6, 1, 2)}
        self.assertEqual([], list(coverage.gaps({"files": [entry]}, constants)))

    def test_lines_that_only_PFB_NEVER_reaches_are_not_counted(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "short.c"
            path.write_text("if (PFB_NEVER(a(1) >\n    2)) /* why; */\n    return false;\nb();\n"
                            "if (PFB_NEVER(x)) {\n    c();\n}\nd();\n"
                            "if (PFB_NEVER(x) || y)\n    return;\n", encoding="utf-8")
            self.assertEqual({3, 6, 7}, coverage.never_reached(path))


if __name__ == "__main__":
    unittest.main()
