#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that size.py reports growth, with small sources instead of core. Usage: test_size.py COMPILER"""
import contextlib
import io
import pathlib
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

    def test_growth_is_reported(self):
        """Each source that grew, and what the message says."""
        for name, text, stack, message in (
                ("one", source(1016), False, None),
                ("one", source(1100), True, r"one: pfb_f uses 11\d\d bytes of stack, the table has 10\d\d"),
                ("one", source(1000, code=40), False, "code and constants:"),
                ("two", "static const char t[1100] = {1};\nint pfb_g(int n) { return t[n]; }\n", False,
                 "code and constants:"),
                ("three", source(900).replace("pfb_f", "pfb_h"), False, "code and constants:"),
                ("three", source(1100).replace("pfb_f", "pfb_h"), True, "three: pfb_h uses")):
            with self.subTest(name, text=text):
                self.setUp()
                self.put(name, text)
                status, output = self.call()
                self.assertEqual((status, "bytes of stack" in output), (int(message is not None), stack), output)
                self.assertRegex(output, message or "ok")

    def test_only_the_table_is_written(self):
        text = self.page.read_text(encoding="utf-8")
        self.assertTrue(text.startswith("# Size\n\nBefore.\n\n") and text.endswith("\n\nAfter.\n"), text)
        self.assertRegex(text, r"\n[|] `one` [|] `pfb_f` [|] \d+ [|] 10\d\d [|]\n")
        self.assertRegex(text, r"\n[|] `two` [|] all, and 1000 bytes of constants [|] \d+ [|] [|]\n")
        self.call("--write")
        self.assertEqual(self.page.read_text(encoding="utf-8"), text)

    def test_a_summary_of_another_table_is_reported(self):
        text = self.summary.read_text(encoding="utf-8")
        for other in (text.replace("| all | ", "| all | 1"), text.replace("| 1000 |", "| 999 |"), PAGE):
            self.summary.write_text(other, encoding="utf-8")
            status, output = self.call()
            self.assertEqual((status, "performance.md: not the sums of " in output), (1, True), output)
        self.call("--write")
        self.assertEqual(self.summary.read_text(encoding="utf-8"), text)
        self.assertEqual(self.call()[0], 0)

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


if __name__ == "__main__":
    if len(sys.argv) > 1:
        Size.compiler = sys.argv.pop()
    unittest.main()
