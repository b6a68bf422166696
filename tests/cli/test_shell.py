# SPDX-License-Identifier: MIT
"""help --generate: man pages and the completion of bash. They are checked with
groff, mandoc and bash; a test without its tool is skipped."""

import os
import re
import shutil
import subprocess
import unittest

from program import ROOT, Case, program

COMPLETION = os.path.join(ROOT, "cli", "help", "perfblock.bash")
COMMANDS = ("show", "check", "cook", "convert", "report", "eval",
            "types", "live", "record", "countersets", "cpuid", "lwp show", "cpi show", "cpi run", "help")
FIRST_WORDS = {command.split()[0] for command in COMMANDS}
GROUPS = {"lwp": {"show"}, "cpi": {"show", "run"}}
FORMATS = {"show": "text json html", "check": "text json csv", "eval": "csv",
           "live": "text json csv pdh-csv pdh-tsv prometheus",
           "cook": "text json csv pdh-csv pdh-tsv prometheus",
           "convert": "pfb",
           "lwp show": "text json"}
# Command lines after "perfblock", and the expected completions of the last
# word. None: the names of files that begin with it.
CASES = (
    ("", FIRST_WORDS), ("co", {"cook", "convert", "countersets"}), ("nonsense", set()),
    ("lwp ", GROUPS["lwp"]), ("cpi r", {"run"}),
    *(("%s --format " % command, set(words.split()))
      for command, words in FORMATS.items()),
    ("show -f j", {"json"}),
    ("cook --kind c", {"capture"}),
    ("cook --color n", {"never"}),
    ("cook --fo", {"--follow", "--force", "--format"}), ("check --inter", set()),
    ("lwp show --st", {"--strict"}), ("live --inte", {"--interval"}),
    ("help --gen", {"--generate"}), ("help --generate m", {"man"}),
    ("help c", {"check", "cook", "convert", "countersets", "cpuid",
                "cpi"}),
    ("help lwp ", GROUPS["lwp"]), ("help cook ", set()),
    ("cook x --summ", {"--summary"}), ("cook x --format c", {"csv"}),
    ("cook rec", None), ("lwp show rec", None), ("live --paths rec", None),
    ("record -o rec", None),
    ("types rec", set()), ("live --set rec", set()),
)


class Shell(Case):
    """Man pages and completions."""

    def generated(self, *words):
        """The output of help --generate."""
        return self.run_fine("help", "--generate", *words).out

    def tool(self, name):
        """The path of a tool; skips the test if it is missing."""
        path = shutil.which(name)
        if not path:
            self.skipTest("there is no " + name)
        return path

    def finish(self, *command):
        """The output of a command, which must succeed and print no error."""
        done = subprocess.run(command, cwd=self.folder, check=False,
                              stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=60)
        self.assertEqual((done.returncode, done.stderr.decode()), (0, ""))
        return done.stdout.decode()

    def pages(self):
        """{command: path of its man page}; "" is the program itself."""
        return {command: self.file("%d.1" % i, self.generated(
            "man", *command.split()).encode())
            for i, command in enumerate(("", *COMMANDS))}

    def test_man(self):
        """groff formats each page without a warning. The page has the options
        that help lists."""
        groff = self.tool("groff")
        for command, path in self.pages().items():
            self.finish(groff, "-man", "-Tutf8", "-ww", "-z", path)
            text = self.finish(groff, "-man", "-Tascii", "-P-c", "-P-b",
                               "-P-u", path)
            for name in ("NAME", "SYNOPSIS", "OPTIONS", "EXIT STATUS"):
                self.assertIn("\n%s\n" % name, text)
            title = "-".join(["perfblock", *command.split()])
            self.assertTrue(text.startswith(title.upper() + "(1)"), text)
            self.assertRegex(text, r"\n +%s +- " % title)
            shown = self.run_fine("help", *command.split()).out
            for option in re.findall(r"(?m)^ +(?:-\w, )?(--[a-z0-9]+)", shown):
                self.assertRegex(text, r"(?m)^ +(-\w, )?%s\b" % option)
        program_page = self.finish(groff, "-man", "-Tascii", "-P-c", "-P-b",
                                   "-P-u", self.pages()[""])
        for command in COMMANDS:
            self.assertIn("perfblock-%s(1)" % command.replace(" ", "-"),
                          program_page)

    def test_mandoc(self):
        """mandoc finds no error. The pages intentionally have no date."""
        mandoc = self.tool("mandoc")
        for path in self.pages().values():
            self.finish(mandoc, "-T", "lint", "-W", "error", path)

    def test_generated(self):
        """The build makes a page for each command, and the completion."""
        folder = os.environ.get("PERFBLOCK_GENERATED")
        if not folder:
            self.skipTest("the build made no man pages and completions")
        found = {}
        for place, _, names in os.walk(folder):
            for name in names:
                path = os.path.join(place, name)
                with open(path, encoding="utf-8") as file:
                    found[os.path.relpath(path, folder)] = file.read()
        expected = {"man/man1/perfblock%s.1" % "".join(
            "-" + word for word in command.split()): self.generated(
                "man", *command.split()) for command in ("", *COMMANDS)}
        with open(COMPLETION, encoding="utf-8") as file:
            expected["bash-completion/completions/perfblock"] = file.read()
        self.assertEqual(found, expected)

    def test_bash(self):
        """bash completes commands, options, values and files."""
        bash = self.tool("bash")
        self.finish(bash, "-n", COMPLETION)
        os.mkdir(os.path.join(self.folder, "files"))
        self.folder = os.path.join(self.folder, "files")
        self.file("recording.pfb", b"")
        self.file("other", b"")

        def complete(line):
            words = re.split(r" |(=)", "perfblock " + line)
            words = [word for word in words if word is not None]
            words[0] = program()
            return set(self.finish(
                bash, "-c", 'source "$1"; shift; COMP_WORDS=("$@"); '
                'COMP_CWORD=$(($# - 1)); _perfblock; '
                'printf "%s\\n" "${COMPREPLY[@]}"', "bash", COMPLETION,
                *words).split())

        for line, expected in CASES:
            self.assertEqual(complete(line), {"recording.pfb"}
                             if expected is None else expected, line)
        self.assertEqual(complete("cook --format=js"), {"json"})
        for line in ("-- print", "-- tail -f print", "print"):
            self.assertIn("printf", complete("cpi run " + line))
        registered = self.finish(
            bash, "-c", 'source "$1"; complete -p perfblock', "bash",
            COMPLETION)
        self.assertIn("_perfblock", registered)


if __name__ == "__main__":
    unittest.main()
