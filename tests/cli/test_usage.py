# SPDX-License-Identifier: MIT
"""Commands, options, help and what is refused."""

import os
import re
import unittest

from program import Case, ROOT

COMMANDS = ("show", "check", "cook", "eval", "types", "live", "record",
            "countersets", "cpuid", "lwp show", "lwp model", "cpi show",
            "cpi run")


def header_version():
    """The version that the library's header defines."""
    path = os.path.join(ROOT, "core", "include", "perfblock", "version.h")
    with open(path, encoding="utf-8") as file:
        header = file.read()
    return ".".join(
        re.search(r"#define PERFBLOCK_VERSION_%s (\d+)" % part, header)[1]
        for part in ("MAJOR", "MINOR", "PATCH"))


class Help(Case):
    """What the program says about itself."""

    def test_version(self):
        for arguments in (["--version"], ["show", "--version"]):
            self.assertEqual(self.run_fine(*arguments).out,
                             "perfblock %s\n" % header_version())

    def test_overview_lists_the_commands(self):
        text = self.run_fine("--help").out
        for command in COMMANDS:
            self.assertRegex(text, r"(?m)^  %s " % command)
        self.assertEqual(self.run_fine("-h").out, text)

    def test_each_command_has_help(self):
        for command in COMMANDS:
            text = self.run_fine(*command.split(), "--help").out
            self.assertTrue(text.startswith("Usage: perfblock " + command))
            self.assertIn("--help", text)

    def test_help_lists_what_is_taken_and_no_more(self):
        self.assertIn("--interval", self.run_fine("live", "--help").out)
        self.assertNotIn("--interval", self.run_fine("show", "--help").out)

    def test_help_lists_the_formats_of_the_command(self):
        for command, formats in (("show", "text (default), json"),
                                 ("cook", "text (default), json, csv"),
                                 ("live", "text (default), json, csv, "
                                  "prometheus"),
                                 ("eval", "csv")):
            self.assertRegex(self.run_fine(command, "--help").out,
                             r"(?m)^  --format FORMAT .*: %s$" %
                             re.escape(formats))
        self.assertNotIn("--format", self.run_fine("record", "--help").out)


class Refusals(Case):
    """Wrong usage ends with status 2 and a sentence, and reads nothing."""

    def refused(self, *arguments):
        """Run and check; the sentence."""
        done = self.run_program(*arguments)
        self.assertEqual((done.status, done.out), (2, ""), arguments)
        self.assertRegex(done.err, r"^perfblock: .+\n$")
        return done.err

    def test_commands(self):
        self.refused()
        for command in ("lwp", "cpi", "nothing", "lwp show", "show lwp", ""):
            self.refused(command)
        for group in ("lwp", "cpi"):
            self.assertIn("told what to do", self.refused(group, "shows"))

    def test_files(self):
        for command in ("show", "check", "cook"):
            self.refused(command)
        for command in ("types", "live", "countersets"):
            self.refused(command, "file")
        for command in ("eval", "cpuid"):
            self.assertIn("second", self.refused(command, "first", "second"))
        self.refused("lwp", "model", "--sample", "32", "file")
        self.refused("record")

    def test_options(self):
        self.assertIn("--nonsense", self.refused("show", "--nonsense", "x"))
        self.assertIn("--kind", self.refused("show", "x", "--kind"))
        self.assertIn("-x", self.refused("show", "-x", "y"))
        self.assertIn("--interval", self.refused("check", "--interval", "1",
                                                 "x"))
        self.assertIn("--strict", self.refused("types", "--strict"))

    def test_values(self):
        for option, values in (
                ("--interval", ("0", "0.009", "-1", "nan", "inf", "1e400",
                                "1s", "", " 1", "+1", "0x1p3", "0X2",
                                "0x.8p1", "infinity", "1 ")),
                ("--count", ("0", "-1", "x", "", "1.5",
                             "99999999999999999999999", "0x1", "+1",
                             " 1", "1e0")),
                ("--color", ("blue",)), ("--format", ("xml", ""))):
            for value in values:
                self.refused("live", option, value)

    def test_rotation(self):
        for value in ("0", "-1", "", "K", "1.5K", "1KB", "1T", "1k", "0G",
                      "8589934592G", "9223372036854775808"):
            self.refused("record", "-o", "x", "--rotate", value)
        self.assertIn("--rotate", self.refused("live", "--rotate", "1K"))

    def test_kinds(self):
        self.refused("show", "--kind", "nonsense", "x")

    def test_formats(self):
        for command in ("show", "check", "cook"):
            self.refused(command, "--format", "prometheus", "x")
        for command in ("types", "countersets"):
            self.refused(command, "--format", "prometheus")
        self.assertIn("--count", self.refused(
            "live", "--format", "prometheus", "--count", "2"))
        self.refused("show", "--format", "csv", "x")
        for command in ("countersets", "cpuid"):
            self.refused(command, "--format", "csv")
        self.refused("record", "-o", "x", "--format", "json")
        for name in ("text", "json", "prometheus"):
            self.refused("eval", "--format", name)

    def test_samples(self):
        self.assertIn("--sample", self.refused("lwp", "model"))
        for value in ("16", "0", "3264", "x", ""):
            self.refused("lwp", "model", "--sample", value)
        self.assertIn("--sample", self.refused("lwp", "show", "--sample",
                                               "32"))

    def test_requests(self):
        self.refused("show", "--kind", "registration", "x")
        self.refused("show", "--request", "1", "x")
        for value in ("0", "11", "x"):
            self.refused("show", "--kind", "registration", "--request", value,
                         "x")

    def test_cook_takes_data_only(self):
        for kind in ("registration", "strings", "guids", "names", "lwp"):
            self.refused("cook", "--kind", kind, "x")

    def test_name_tables_where_they_are_used(self):
        for command in ("check", "live", "types", "eval"):
            self.assertIn("--names", self.refused(command, "--names", "n"))
        self.assertIn("--names", self.refused("show", "x", "--names"))
        for command in ("show", "cook", "countersets"):
            self.assertIn("--names FILE", self.run_fine(command,
                                                        "--help").out)


if __name__ == "__main__":
    unittest.main()
