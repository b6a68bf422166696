# SPDX-License-Identifier: MIT
"""Help, options of all commands, and command lines that are refused."""

import os
import re
import shlex
import subprocess
import unittest

from program import Case, ON_WINDOWS, ROOT, program, writer as w

if not ON_WINDOWS:
    import pty

COMMANDS = ("show", "check", "cook", "convert", "report", "eval", "types", "live", "record",
            "countersets", "cpuid", "lwp show", "lwp model", "cpi show",
            "cpi run", "help")


def header_version():
    """The version that the library's header defines."""
    path = os.path.join(ROOT, "core", "include", "perfblock", "version.h")
    with open(path, encoding="utf-8") as file:
        header = file.read()
    return ".".join(
        re.search(r"#define PERFBLOCK_VERSION_%s (\d+)" % part, header)[1]
        for part in ("MAJOR", "MINOR", "PATCH"))


class Help(Case):
    """Help and version."""

    def test_version(self):
        """--version prints the version of the header, also after a command."""
        for arguments in (["--version"], ["show", "--version"]):
            self.assertEqual(self.run_fine(*arguments).out,
                             "perfblock %s\n" % header_version())

    def test_overview_lists_the_commands(self):
        """--help and -h list each command."""
        text = self.run_fine("--help").out
        for command in COMMANDS:
            self.assertRegex(text, r"(?m)^  %s " % command)
        self.assertEqual(self.run_fine("-h").out, text)

    def test_each_command_has_help(self):
        for command in COMMANDS:
            text = self.run_fine(*command.split(), "--help").out
            self.assertTrue(text.startswith("Usage: perfblock " + command))
            self.assertIn("--help", text)

    def test_help_lists_only_accepted_options(self):
        self.assertIn("--interval", self.run_fine("live", "--help").out)
        self.assertNotIn("--interval", self.run_fine("show", "--help").out)

    def test_help_lists_the_formats_of_the_command(self):
        for command, formats in (("show", "text (default), json, html"),
                                 ("check", "text (default), json, csv"),
                                 ("cook", "text (default), json, csv, "
                                  "pdh-csv, pdh-tsv"),
                                 ("live", "text (default), json, csv, "
                                  "pdh-csv, pdh-tsv, prometheus"),
                                 ("eval", "csv")):
            text = re.sub(r"\n {20,}", " ",
                          self.run_fine(command, "--help").out)
            self.assertRegex(text, r"(?m)^  -f, --format FORMAT .*: %s$" %
                             re.escape(formats))
        self.assertNotIn("--format", self.run_fine("record", "--help").out)

    def test_help_is_a_command(self):
        """`help COMMAND` prints the same as --help, also for groups."""
        self.assertEqual(self.run_fine("help").out,
                         self.run_fine("--help").out)
        for command in COMMANDS:
            words = command.split()
            self.assertEqual(self.run_fine("help", *words).out,
                             self.run_fine(*words, "-h").out)
        for group, members in (("lwp", 2), ("cpi", 2)):
            text = self.run_fine("help", group).out
            self.assertEqual(self.run_fine(group, "--help").out, text)
            self.assertEqual(self.run_fine(group, "-h").out, text)
            listed = re.findall(r"(?m)^  %s \w+ " % group, text)
            self.assertEqual(len(listed), members, text)

    def test_lines_fit_a_terminal(self):
        for command in ("", *COMMANDS):
            text = self.run_fine("help", *command.split()).out
            first, *lines = text.splitlines()
            self.assertTrue(first.startswith("Usage: perfblock "))
            for line in lines:
                if not line.startswith("  perfblock"):  # examples
                    self.assertLessEqual(len(line), 80, line)

    def test_examples_are_accepted(self):
        """The options in the examples of help are options of the command."""
        for command in COMMANDS:
            text = self.run_fine("help", *command.split()).out
            examples = re.findall(r"(?m)^  (perfblock .*)$",
                                  text.split("\nExamples:\n")[1])
            self.assertGreater(len(examples), 0, command)
            for example in examples:
                _, *words = shlex.split(example)
                self.assertEqual(words[:len(command.split())],
                                 command.split())
                if "--" in words:
                    words = words[:words.index("--")]
                done = self.run_fine(*words, "--help").out
                self.assertEqual(done.splitlines()[0], text.splitlines()[0])

    def test_short_options(self):
        """-f, -i, -n, -o and -q do the same as the long options."""
        path = self.file("a.bin", w.reply() + bytes(8))
        self.assertEqual(self.run_fine("check", "-fjson", path).out,
                         self.run_fine("check", "--format=json", path).out)
        self.assertEqual(self.run_program("cook", "-q", path).err, "")
        self.assertIn("note", self.run_program("cook", path).err)
        for letter, name in (("-i", "--interval"), ("-n", "--count")):
            self.assertEqual(
                self.run_program("live", letter, "x").err,
                self.run_program("live", name, "x").err)
        self.assertIn("--output", self.run_program("record", "-o", "-").err)


class Effects(Case):
    """--quiet and --color."""

    def test_quiet(self):
        """--quiet omits notes. Errors and the exit status stay the same."""
        path = self.file("a.bin", w.reply() + bytes(8))
        missing = os.path.join(self.folder, "missing")
        noted = self.run_program("cook", path, missing)
        quiet = self.run_program("cook", "--quiet", path, missing)
        self.assertIn("note: ", noted.err)
        self.assertEqual(quiet.err.splitlines(), [
            line for line in noted.err.splitlines() if "note: " not in line])
        self.assertIn(missing, quiet.err)
        self.assertEqual((quiet.out, quiet.status), (noted.out, 3))

    def test_quiet_of_other_commands(self):
        """Every command that prints notes accepts --quiet."""
        log = self.file("a.csv", b'"(PDH-CSV 4.0)","\\\\PC\\A\\B"\r\n'
                        b'no row\r\n"01/01/2025 00:00:00.000","1"\r\n')
        for words in (("lwp", "model", "--sample", "32"),
                      ("countersets", "--source", log)):
            noted = self.run_program(*words)
            self.assertIn("note: ", noted.err)
            self.assertEqual(self.run_fine(*words, "-q").out, noted.out)

    @unittest.skipIf(ON_WINDOWS, "needs a pseudo-terminal")
    def test_color(self):
        """By default a terminal gets colors, unless NO_COLOR is set and not
        empty. --color overrides both."""
        for no_color, words, expected in (
                (None, (), True), ("", (), True), ("1", (), False),
                ("1", ("--color", "always"), True),
                (None, ("--color", "never"), False)):
            environment = {name: value for name, value in os.environ.items()
                           if name != "NO_COLOR"}
            if no_color is not None:
                environment["NO_COLOR"] = no_color
            ours, theirs = pty.openpty()
            with subprocess.Popen([program(), "types", *words],
                                  stdout=theirs, env=environment) as run:
                os.close(theirs)
                shown = b""
                try:
                    while data := os.read(ours, 4096):
                        shown += data
                except OSError:  # Linux reports a closed terminal like this
                    pass
                os.close(ours)
            self.assertEqual(run.returncode, 0)
            self.assertEqual(b"\033[" in shown, expected, words)


class Refusals(Case):
    """A wrong command line is refused with status 2 and a message."""

    def refused(self, *arguments):
        """The message of a command line that must be refused."""
        done = self.run_program(*arguments)
        self.assertEqual((done.status, done.out), (2, ""), arguments)
        self.assertRegex(done.err, r"^perfblock: .+\n$")
        return done.err

    def test_commands(self):
        """A missing or unknown command is refused; a group names its commands.
        """
        self.refused()
        for command in ("lwp", "cpi", "nothing", "lwp show", "show lwp", ""):
            self.refused(command)
        for group in ("lwp", "cpi"):
            self.assertIn("expected %s show or" % group, self.refused(group))

    def test_files(self):
        """A missing file, and one that the command does not take, is refused.
        """
        for command in ("show", "check", "cook"):
            self.refused(command)
        for command in ("types", "live"):
            self.refused(command, "file")
        for command in ("eval", "cpuid"):
            self.assertIn("second", self.refused(command, "first", "second"))
        self.refused("lwp", "model", "--sample", "32", "file")
        self.refused("record")

    def test_options(self):
        """Unknown options, options of other commands and missing values are
        named."""
        self.assertIn("--nonsense", self.refused("show", "--nonsense", "x"))
        self.assertIn("--kind", self.refused("show", "x", "--kind"))
        self.assertIn("-x", self.refused("show", "-x", "y"))
        self.assertIn("--interval", self.refused("check", "--interval", "1",
                                                 "x"))
        self.assertIn("--strict", self.refused("types", "--strict"))
        for words in (("-f", "json", "cook", "x"), ("--utc", "show", "x")):
            self.assertIn("expected a command before " + words[0],
                          self.refused(*words))

    def test_values(self):
        """Numbers of another form or range, and unknown words, are refused."""
        for option, values in (
                ("--interval", ("0", "0.009", "-1", "nan", "inf", "1e400",
                                "1s", "", " 1", "+1", "0x1p3", "0X2",
                                "0x.8p1", "infinity", "1 ")),
                ("--duration", ("0", "-1", "0x2", "1m", "", "0.5")),
                ("--count", ("0", "-1", "x", "", "1.5",
                             "99999999999999999999999", "0x1", "+1",
                             " 1", "1e0")),
                ("--color", ("blue",)), ("--format", ("xml", ""))):
            for value in values:
                self.refused("live", option, value)

    def test_a_duration_is_refused_with_a_source(self):
        for command in (["live"], ["record", "-o", "x"]):
            self.assertIn("--duration applies to this machine",
                          self.refused(*command, "--duration", "2",
                                       "--source", "a.pfb"))

    def test_what_is_given_once(self):
        """A second value would cancel the first one without a message, and
        standard input can be read only once."""
        for line, name in (
                ("cook x --names a --names b", "--names"),
                ("cook x --query-info a --query-info b", "--query-info"),
                ("cook x --from 01:00 --from 02:00", "--from"),
                ("cook x --to 01:00 --to 02:00", "--to"),
                ("cook x --every 1 --every 2", "--every"),
                ("live --machine a --machine b", "--machine"),
                ("convert x -o a.csv -o b.csv", "--output"),
                ("cook - -", "-"), ("cook - --names -", "-"),
                ("show - --names -", "-"), ("cook - --paths -", "-"),
                ("cook - --query-info -", "-"),
                ("live --source - --paths -", "-"),
                ("cook - --registration 1:-", "-")):
            self.assertIn(": %s may be given only once" % name,
                          self.refused(*line.split()))

    def test_rotation(self):
        """A size is a positive number, alone or followed by K, M or G, of less
        than 2^63 bytes; only record rotates files."""
        for value in ("0", "-1", "", "K", "1.5K", "1KB", "1T", "1k", "0G",
                      "8589934592G", "9223372036854775808"):
            self.refused("record", "-o", "x", "--rotate", value)
        self.assertIn("--rotate", self.refused("live", "--rotate", "1K"))

    def test_suggestions(self):
        """An unknown command, option or word gets a suggestion if one is
        similar."""
        for words, suggested in (
                ("recrod", "record"), ("chekc", "check"), ("Cook", "cook"),
                ("countersest", "countersets"), ("lwp shwo", "lwp show"),
                ("lpw show", "lwp show"), ("help recrod", "record"),
                ("cook --fromat json x", "--format"),
                ("live --intervall 1", "--interval"),
                ("cook --format jsno x", "json"),
                ("show --kind registrations x", "registration"),
                ("show --kind lpw x", "lwp"),
                ("live --color nevre", "never"),
                ("nonsense", None), ("x", None), ("show --nonsense x", None),
                ("show --format svc x", None), ("show --kind x x", None),
                ("recordings-of-yesterday", None)):
            sentence = self.refused(*words.split())
            found = re.search(r"; did you mean (.+)\?$", sentence)
            self.assertEqual(found[1] if found else None, suggested, sentence)

    def test_help_of_unknown_commands(self):
        """help refuses unknown commands and further words."""
        self.assertIn("nonsense", self.refused("help", "nonsense"))
        self.assertIn("lwp nonsense", self.refused("help", "lwp", "nonsense"))
        self.assertIn("second", self.refused("help", "cook", "second"))
        self.assertIn("--generate", self.refused("help", "--generate", "x"))
        self.assertIn("--generate", self.refused("cook", "--generate", "man"))

    def test_options_of_other_commands(self):
        """An option without effect is refused."""
        for line, name in (("check -i 1 x", "--interval"),
                           ("cook -n 1 x", "--count"),
                           ("countersets -o x", "--output"),
                           ("record -o x -f json", "--format"),
                           ("types -q", "--quiet"),
                           ("check --color never x", "--color")):
            self.assertIn(name + " does not apply",
                          self.refused(*line.split()))

    def test_sources_that_exclude_each_other(self):
        for line, text in (
                ("live --source a --source live",
                 "--source live cannot be combined with --source FILE"),
                ("report --source live --source a",
                 "--source live cannot be combined with --source FILE"),
                ("record -o x -n 1 --source a --source b", "--count"),
                ("record -o x --rotate 1M --source a --source b", "--rotate"),
                ("cpi run --source a --source b -o x -- true",
                 "--source may be given only once")):
            self.assertIn(text, self.refused(*line.split()))

    def test_flags_take_no_value(self):
        self.assertIn("--strict takes no value",
                      self.refused("show", "--strict=1", "x"))

    def test_kinds(self):
        """An unknown --kind is refused."""
        self.refused("show", "--kind", "nonsense", "x")

    def test_formats(self):
        """A format that the command does not write is refused."""
        for command in ("show", "check", "cook"):
            self.refused(command, "--format", "prometheus", "x")
        for command in ("types", "countersets"):
            self.refused(command, "--format", "prometheus")
        self.refused("show", "--format", "csv", "x")
        for command in ("countersets", "cpuid"):
            self.refused(command, "--format", "csv")
        self.refused("record", "-o", "x", "--format", "json")
        for name in ("text", "json", "prometheus"):
            self.refused("eval", "--format", name)

    def test_samples(self):
        """lwp model needs --sample 32 or 64; other commands do not take it."""
        self.assertIn("--sample", self.refused("lwp", "model"))
        for value in ("16", "0", "3264", "x", ""):
            self.refused("lwp", "model", "--sample", value)
        self.assertIn("--sample", self.refused("lwp", "show", "--sample",
                                               "32"))

    def test_requests(self):
        """--kind registration needs --request 1 to 10; other kinds do not take
        it."""
        self.refused("show", "--kind", "registration", "x")
        self.refused("show", "--request", "1", "x")
        for value in ("0", "11", "x"):
            self.refused("show", "--kind", "registration", "--request", value,
                         "x")

    def test_cook_refuses_kinds_without_samples(self):
        """cook refuses kinds of input that contain no samples."""
        for kind in ("registration", "strings", "guids", "names", "lwp"):
            self.refused("cook", "--kind", kind, "x")

    def test_name_tables_in_commands_that_use_them(self):
        """--names and other metadata are accepted only where they have an
        effect."""
        for command in ("check", "live", "record -o x", "types", "eval"):
            self.assertIn("--names", self.refused(*command.split(),
                                                  "--names", "n"))
        for words in ("--kind v1", "--registration r", "--query-info q"):
            for command in ("live", "record -o x"):
                self.assertIn(words.split()[0], self.refused(
                    *command.split(), *words.split()))
        self.assertIn("--names", self.refused("show", "x", "--names"))
        for command in ("show", "cook", "countersets"):
            self.assertIn("--names FILE", self.run_fine(command,
                                                        "--help").out)


if __name__ == "__main__":
    unittest.main()
