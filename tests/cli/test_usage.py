# SPDX-License-Identifier: MIT
"""Help, options of all commands, and command lines that are refused."""

import os
import re
import shlex
import subprocess
import unittest

from program import Case, ON_WINDOWS, ROOT, program, seed, writer as w

if not ON_WINDOWS:
    import pty

COMMANDS = ("show", "check", "cook", "convert", "report", "eval", "types", "live", "record",
            "countersets", "cpuid", "lwp show", "cpi show", "cpi run", "help")


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
                                  "pdh-csv, pdh-tsv, prometheus"),
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
        for group, members in (("lwp", 1), ("cpi", 2)):
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
        for words in (("lwp", "show", seed("lwp", "valid_head_unaligned.bin")),
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


# Command lines that are refused, and a part of the message. '' is an empty
# argument.
REFUSED = r"""
                                     | expected a command
lwp                                  | lwp: expected lwp show
cpi                                  | cpi: expected cpi show or cpi run
nothing                              | unknown command nothing; perfblock help
'show lwp'                           | unknown command show lwp
''                                   | unknown command ;
lwp model                            | unknown command lwp model
lwp nothing                          | unknown command lwp nothing
-f json cook x                       | expected a command before -f
--utc show x                         | expected a command before --utc
help nonsense                        | unknown command nonsense
help lwp nonsense                    | lwp nonsense
help cook second                     | second: expected one COMMAND
show                                 | expected a FILE
check                                | expected a FILE
report                               | expected a FILE
types file                           | file: expected no argument
eval first second                    | second: expected one FILE
cpuid first second                   | second: expected one FILE
report --source live                 | --source does not apply
cook live a                          | live cannot be combined with other inputs
report a live                        | live cannot be combined with other inputs
cpi run                              | expected a COMMAND to run
record                               | expected -o FILE
convert x                            | expected -o FILE
show --nonsense x                    | unknown option --nonsense; perfblock help show
show -x y                            | unknown option -x
cook --so c x                        | unknown option --so; did you mean --to?
show x --kind                        | --kind needs a value
show x --names                       | --names needs a value
live -i                              | -i needs a value
show --strict=1 x                    | --strict takes no value
countersets --file x                 | unknown option --file
check --interval 1 x                 | --interval does not apply
check -i 1 x                         | --interval does not apply
show -n 1 x                          | --count does not apply
countersets -o x                     | --output does not apply
record -o x -f json                  | --format does not apply
types -q                             | --quiet does not apply
types --strict                       | --strict does not apply
check --color never x                | --color does not apply
check x --names n                    | --names does not apply
types --names n                      | --names does not apply
eval --names n                       | --names does not apply
live --rotate 1K                     | --rotate does not apply
live --source a                      | --source does not apply
record -o x --source a               | --source does not apply
live --names n                       | --names does not apply
record -o x --from 01:00             | --from does not apply
cook --generate man x                | --generate does not apply
countersets --wrap32                 | --wrap32 does not apply
convert x -o y --cap-100             | --cap-100 does not apply
show x --clamp-0                     | --clamp-0 does not apply
record -o -                          | --output -: expected the name of a file
live --duration 0.5                  | --duration is shorter than --interval
countersets --v1 --source a          | --v1 apply to live data, not to files
cook x -n 1                          | --machine and --v1 apply to live data
cook --follow                        | --follow applies to files
cook --names n                       | --kind apply to files
live --machine ''                    | --machine : expected a NAME
cook --sort '' x                     | --sort : expected a COUNTER
record -o x --names n                | --names does not apply
record -o x --language english       | --language does not apply
live --code-page 1251                | --code-page does not apply
cook x --code-page 437               | --code-page 437: expected 874, 932
cook x --language de                 | --language de: expected local or english
cook x --names 000:n                 | --names 000:n: expected a file
report live --names n                | --kind apply to files
report x --interval 1                | apply to live data, not to files
report x --v1                        | apply to live data, not to files
cook live --every 2                  | --every choose samples of files
cook x --from 02:00 --to 01:00       | --from is after --to
cook x --path \A\B --counter c       | --counter and --instance apply to --set
cook x -f pdh-csv --summary          | --summary applies to
cook x -f json --nonzero             | --nonzero applies to --format text
live -f csv --sort c                 | --sort applies to --format text
cook x -f json --top 1               | --top applies to --format text
cook x --summary --sort c            | --sort does not apply to --summary
cook x --summary --top 1             | --top does not apply to --summary
live --force                         | --force applies to the file of --output
report x --open                      | --open needs -o
cpi run --source a --source b -o x -- true      | --source may be given only once
cook x --names a --names 009:b       | each --names of several needs
cook x --query-info a --query-info b | --query-info may be given only once
cook x --from 01:00 --from 02:00     | --from may be given only once
cook x --to 01:00 --to 02:00         | --to may be given only once
cook x --every 1 --every 2           | --every may be given only once
live --machine a --machine b         | --machine may be given only once
convert x -o a.csv -o b.csv          | --output may be given only once
cook - -                             | - may be given only once
cook - --names -                     | - may be given only once
show - --names -                     | - may be given only once
cook - --paths -                     | - may be given only once
cook - --query-info -                | - may be given only once
live --paths - --paths -             | - may be given only once
cook - --registration 1:-            | - may be given only once
show --kind registration x           | --kind registration needs --request
show --request 1 x                   | --request needs --kind registration
help --generate x                    | --generate x: expected man or options
check --format prometheus x          | expected text, json or csv
cook --format html x                 | json, csv, pdh-csv, pdh-tsv or prometheus
"""

# Values that an option of a command refuses.
REFUSED_VALUES = (
    ("live", "interval", "0 0.009 -1 nan inf 1e400 1s '' ' 1' +1 0x1p3 0X2 "
     "0x.8p1 infinity '1 ' 10000001"),
    ("live", "duration", "0 -1 0x2 1m ''"),
    ("live", "count", "0 -1 x '' 1.5 99999999999999999999999 0x1 +1 ' 1' 1e0 "
     "18446744073709551615"),
    ("live", "color", "blue"), ("live", "format", "xml ''"),
    ("record -o x", "rotate", "0 -1 '' K 1.5K 1KB 1T 1k 0G 8589934592G "
     "9223372036854775808"),
    ("cook x", "top", "0 -1 x ''"), ("cook x", "every", "0 -1 x ''"),
    ("cook x", "from", "x '' 25:00"), ("cook x", "to", "x ''"),
    ("cook x", "registration", "0:f 11:f 123:f 1: ''"),
    ("cpi run", "minor", "-1 256 x ''"),
    ("cpi run", "label", "'' " + 256 * "l"),
    ("show x --kind registration", "request", "0 11 x ''"),
    ("show x", "kind", "nonsense"), ("show x", "format", "csv prometheus"),
    ("types", "format", "prometheus"), ("countersets", "format",
                                        "prometheus csv"),
    ("cpuid", "format", "csv"), ("eval", "format", "text json prometheus"),
    # Kinds of input that contain no samples.
    ("cook x", "kind", "registration strings guids names lwp"))

# Unknown commands, options and words, and the suggestion.
SUGGESTIONS = (
    ("recrod", "record"), ("chekc", "check"), ("Cook", "cook"),
    ("countersest", "countersets"), ("lwp shwo", "lwp show"),
    ("lpw show", "lwp show"), ("help recrod", "record"),
    ("cook --fromat json x", "--format"), ("live --intervall 1", "--interval"),
    ("cook --format jsno x", "json"),
    ("show --kind registrations x", "registration"),
    ("show --kind lpw x", "lwp"), ("live --color nevre", "never"),
    ("cook --warp32 x", "--wrap32"),
    ("nonsense", None), ("x", None), ("show --nonsense x", None),
    ("show --format svc x", None), ("show --kind x x", None),
    ("recordings-of-yesterday", None))


class Refusals(Case):
    """A wrong command line is refused with status 2 and a message."""

    def refused(self, *arguments):
        """The message of a command line that must be refused."""
        done = self.run_program(*arguments)
        self.assertEqual((done.status, done.out), (2, ""), arguments)
        self.assertRegex(done.err, r"^perfblock: [^\n]+\n$")
        return done.err

    def test_command_lines(self):
        for row in REFUSED.strip("\n").split("\n"):
            line, text = (part.strip() for part in row.rsplit("|", 1))
            lexer = shlex.shlex(line, posix=True, punctuation_chars=False)
            lexer.whitespace_split, lexer.escape = True, ""
            self.assertIn(text, self.refused(*lexer), row)

    def test_values(self):
        for command, option, values in REFUSED_VALUES:
            for value in shlex.split(values):
                message = self.refused(*command.split(), "--" + option, value)
                self.assertIn("--%s %s: expected " % (option, value), message)

    def test_suggestions(self):
        for words, suggested in SUGGESTIONS:
            sentence = self.refused(*words.split())
            found = re.search(r"; did you mean (.+)\?$", sentence)
            self.assertEqual(found[1] if found else None, suggested, sentence)


# Command lines with the largest and smallest values that are accepted. The
# file does not exist, which is found after the options.
ACCEPTED = (
    "cook x --every 18446744073709551609 --top 1",
    "cook x --registration 10:x", "show x --kind registration --request 10",
    "live --paths x --interval 0.01", "live --paths x -i 1e7 -n 1",
    "record -o y --paths x --rotate 8589934591G",
    "record -o y --paths x --rotate 9223372036854775807",
    "cpi run --source x --minor 255 --label " + 255 * "l" + " true",
    "cpi run --source x --minor 000 --label l true -x",
    "cook x --form json", "cook x -qfjson", "cook -- x", "cook x --sor=a",
    "cook x --color never --color auto --format csv --format text",
    "cook x --wrap32 --cap-100 --clamp-0",
    "report x --wrap32 --cap-100 --clamp-0")


class Accepted(Case):
    def test_command_lines(self):
        for line in ACCEPTED:
            done = self.run_program(
                *line.split(), cwd=self.folder,
                machine=seed("capture", "valid_two_sets.pfb"))
            self.assertRegex(done.err, r"^x: [^\n]+\n", line)


if __name__ == "__main__":
    unittest.main()
