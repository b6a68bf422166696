#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that size.py reports growth, with small sources instead of core. Usage: test_size.py COMPILER"""
import contextlib
import io
import pathlib
import shutil
import sys
import tempfile
import unittest

import size

PAGE = f"# Size\n\nBefore.\n\n{size.BEGIN}\n{size.END}\n\nAfter.\n"


def source(stack, code=1):
    """The source of a function with an array of `stack` bytes, and `code` times the same statement."""
    return ("void pfb_out(volatile char *);\n"
            f"void pfb_f(void)\n{{\n    volatile char a[{stack}];\n" + "    pfb_out(a);\n" * code + "}\n")


class Size(unittest.TestCase):
    """Calls of size.py with a folder that contains the sources one.c and two.c, and both pages."""

    compiler = "gcc"

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.page = self.folder / "size.md"
        self.summary = self.folder / "performance.md"
        for page in (self.page, self.summary):
            page.write_text(PAGE, encoding="utf-8")
        (self.folder / "src").mkdir()
        (self.folder / "include").mkdir()
        self.put("one", source(1000))
        self.put("two", "static const char t[1000] = {1};\nint pfb_g(int n) { return t[n]; }\n")
        self.assertEqual(self.call("--write")[0], 0)

    def put(self, name, text):
        """Write a source."""
        (self.folder / "src" / f"{name}.c").write_text(text, encoding="ascii")

    def call(self, *arguments):
        """Exit status and output."""
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            status = size.main(["--compiler", self.compiler, "--sources", str(self.folder), "--page",
                                str(self.page), "--summary", str(self.summary), *arguments])
        return status, out.getvalue()

    def test_nothing_is_reported_without_changes(self):
        status, text = self.call()
        self.assertEqual((status, text.endswith("ok\n")), (0, True), text)

    def test_the_name_of_the_compiler_command_is_ignored(self):
        """gcc prints the name of its command, but it is the same compiler under any name."""
        name = self.folder / "some-gcc-1"
        name.symlink_to(shutil.which(self.compiler))
        self.compiler = str(name)
        status, text = self.call()
        self.assertEqual((status, text.endswith("ok\n")), (0, True), text)

    def test_only_the_table_is_written(self):
        text = self.page.read_text(encoding="utf-8")
        self.assertTrue(text.startswith("# Size\n\nBefore.\n\n") and text.endswith("\n\nAfter.\n"), text)
        self.assertRegex(text, r"\n[|] `one` [|] `pfb_f` [|] \d+ [|] 10\d\d [|]\n")
        self.assertRegex(text, r"\n[|] `two` [|] all, and 1000 bytes of constants [|] \d+ [|] [|]\n")
        self.call("--write")
        self.assertEqual(self.page.read_text(encoding="utf-8"), text)

    def test_the_summary_has_each_source(self):
        text = self.summary.read_text(encoding="utf-8")
        self.assertTrue(text.startswith("# Size\n\nBefore.\n\n") and text.endswith("\n\nAfter.\n"), text)
        self.assertRegex(text, r"\n[|] `one` [|] \d+ [|] 0 [|] 10\d\d [|] `pfb_f` [|]\n")
        self.assertRegex(text, r"\n[|] `two` [|] \d+ [|] 1000 [|] \d+ [|] `pfb_g` [|]\n")
        self.assertRegex(text, r"\n[|] all [|] \d+ [|] 1000 [|] 10\d\d [|] `pfb_f` [|]\n")
        self.call("--write")
        self.assertEqual(self.summary.read_text(encoding="utf-8"), text)

    def test_the_summary_of_equal_stacks_and_of_none(self):
        self.put("one", source(1000) + source(1000, code=9).replace("pfb_f", "pfb_h").split("\n", 1)[1])
        self.put("none", "extern const char pfb_t[];\nconst char pfb_t[100] = {1};\n")
        self.call("--write")
        text = self.summary.read_text(encoding="utf-8")
        self.assertRegex(text, r"\n[|] `one` [|] \d+ [|] 0 [|] 10\d\d [|] `pfb_f` [|]\n")
        self.assertIn("\n| `none` | 0 | 100 | 0 | |\n", text)
        self.assertEqual(self.call()[0], 0)

    def test_a_summary_of_another_table_is_reported(self):
        text = self.summary.read_text(encoding="utf-8")
        for other in (text.replace("| all | ", "| all | 1"), text.replace("| 1000 |", "| 999 |"), PAGE):
            self.summary.write_text(other, encoding="utf-8")
            status, output = self.call()
            self.assertEqual((status, "performance.md: not the sums of " in output), (1, True), output)
        self.call("--write")
        self.assertEqual(self.summary.read_text(encoding="utf-8"), text)
        self.assertEqual(self.call()[0], 0)

    def test_a_summary_without_a_place_is_reported(self):
        before = self.page.read_text(encoding="utf-8")
        self.summary.write_text("# Size\n", encoding="utf-8")
        self.put("one", source(1001))
        for arguments in ((), ("--write",)):
            status, text = self.call(*arguments)
            self.assertEqual((status, "performance.md: no place for the table" in text), (1, True), text)
        self.assertEqual(self.page.read_text(encoding="utf-8"), before)

    def test_a_stack_may_grow_a_little(self):
        self.put("one", source(1016))
        self.assertEqual(self.call()[0], 0)

    def test_a_stack_that_grew_is_reported(self):
        self.put("one", source(1100))
        status, text = self.call()
        self.assertEqual(status, 1)
        self.assertRegex(text, r"one: pfb_f uses 11\d\d bytes of stack, the table has 10\d\d")
        self.assertNotIn("code and constants:", text)

    def test_code_that_grew_is_reported(self):
        self.put("one", source(1000, code=40))
        status, text = self.call()
        self.assertEqual(status, 1)
        self.assertIn("code and constants:", text)
        self.assertNotIn("stack", text)

    def test_constants_that_grew_are_reported(self):
        self.put("two", "static const char t[1100] = {1};\nint pfb_g(int n) { return t[n]; }\n")
        status, text = self.call()
        self.assertEqual((status, "code and constants:" in text), (1, True), text)

    def test_a_new_function_is_compared_with_the_largest_stack(self):
        self.put("three", source(900).replace("pfb_f", "pfb_h"))
        self.assertNotIn("stack", self.call()[1])
        self.put("three", source(1100).replace("pfb_f", "pfb_h"))
        self.assertIn("three: pfb_h uses", self.call()[1])

    def test_a_copy_made_by_the_compiler_is_not_a_new_function(self):
        self.put("one", source(100))
        self.put("three", source(1000).replace("pfb_f", "pfb_h"))
        self.call("--write")
        self.put("one", source(900))
        page = self.page.read_text(encoding="utf-8")
        for suffix in ("", ".constprop", ".isra", ".part", ".isra.constprop"):
            self.page.write_text(page.replace("`pfb_f`", f"`pfb_f{suffix}`"), encoding="utf-8")
            size.write(self.summary, size.summary(size.read(self.page)[1]))
            status, text = self.call()
            self.assertEqual(status, 1, suffix)
            self.assertRegex(text, r"one: pfb_f uses 9\d\d bytes of stack, the table has 1\d\d\n")

    def test_the_largest_of_the_copies_counts(self):
        def grown(before, now):
            before, now = ({"one": size.Source(100, 0, {name: size.Function(10, stack) for name, stack in each.items()}),
                            "two": size.Source(10, 0, {"pfb_g": size.Function(10, 1000)})} for each in (before, now))
            return len([line for line in size.compare(before, now) if "bytes of stack" in line])
        self.assertEqual(grown({"f": 100}, {"f.part": 500}), 1)
        self.assertEqual(grown({"f.isra": 100}, {"f.constprop": 500, "f": 100}), 1)
        self.assertEqual(grown({"f.constprop": 500, "f": 100}, {"f.part": 500}), 0)
        self.assertEqual(grown({"f": 100, "f.part": 500}, {"f": 500}), 0)
        self.assertEqual(grown({"f": 100}, {"fpart": 500}), 0)

    def test_a_stack_without_a_bound_is_reported(self):
        self.put("one", source(1000).replace("void pfb_f(void)", "void pfb_f(int n)").replace("1000", "n"))
        status, text = self.call()
        self.assertEqual((status, "the stack is dynamic" in text), (1, True), text)

    def test_with_another_compiler_nothing_is_measured(self):
        text = self.page.read_text(encoding="utf-8")
        self.page.write_text(text.replace("Made by `", "Made by `another "), encoding="utf-8")
        self.put("one", source(5000))
        status, text = self.call()
        self.assertEqual((status, text.startswith("skipped: the table was made by another ")), (0, True), text)

    def test_a_table_that_cannot_be_read_is_a_failure(self):
        for text in ("", PAGE, PAGE + PAGE):
            self.page.write_text(text, encoding="utf-8")
            self.assertEqual(self.call()[0], 1, text)

    def test_a_source_that_does_not_compile_is_a_failure(self):
        self.put("one", "int pfb_f(void) { return x; }")
        self.assertEqual(self.call()[0], 1)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        Size.compiler = sys.argv.pop()
    unittest.main()
