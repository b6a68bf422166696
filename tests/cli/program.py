# SPDX-License-Identifier: MIT
"""Runs the program for the tests in this folder.

PERFBLOCK is the path of the program. PERFBLOCK_SYSTEM is the system for which
it was built: on "Windows" file names and pipes differ. Inputs come from the
corpus, or from the writer with which the second implementation of the formats
(tests/oracle) makes its own seeds.
"""

import json
import os
import re
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
CORPUS = os.path.join(ROOT, "corpus")
sys.path.insert(0, os.path.join(ROOT, "tests", "oracle"))

import running  # noqa: E402 (its folder was just added)
import seed_writer as writer  # noqa: E402

SECONDS = 60
IMPOSSIBLE = 4  # status where a machine has no live source
FULL = "/dev/full"  # a device without space, on systems that have one
ON_WINDOWS = running.ON_WINDOWS
ERROR_LINE = re.compile(r"^(?P<file>.*): offset (?P<offset>\d+): "
                        r"(?P<code>[a-z][a-z0-9_]*): (?P<text>.+)$")


def program():
    """The path of the program."""
    path = os.environ.get("PERFBLOCK")
    if not path:
        sys.exit("PERFBLOCK must name the program to test")
    return os.path.abspath(path)


def own_program():
    """The path of the program itself. For tests under Wine, PERFBLOCK is a
    script that runs it."""
    path = program()
    if ON_WINDOWS:
        with open(path, "rb") as file:
            script = re.match(rb"#!.*\nexec wine '(.+)'", file.read(4096))
        if script:
            return script[1].decode()
    return path


def seed(subject, name):
    """The path of a file of the corpus."""
    return os.path.join(CORPUS, subject, "seeds", name)


class Done:
    """Exit status, output and error output of a run of the program."""

    def __init__(self, status, out, err):
        self.status, self.out, self.err = status, out, err

    def lines(self):
        """Standard output as lines."""
        return self.out.split("\n")[:-1]

    def objects(self):
        """Standard output as JSON, one object per line."""
        parsed = [json.loads(line, parse_constant=refuse_constant)
                  for line in self.lines()]
        assert all(isinstance(item, dict) for item in parsed)
        return parsed

    def errors(self):
        """(file, offset, code) of the error lines on standard error."""
        found = [ERROR_LINE.match(line) for line in self.err.splitlines()]
        return [(m["file"], int(m["offset"]), m["code"]) for m in found
                if m and m["code"] != "note"]


def refuse_constant(name):
    """Rejects NaN and Infinity, which are not JSON."""
    raise ValueError(name)


class Case(unittest.TestCase):
    """A test with a temporary folder."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="perfblock-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def file(self, name, data):
        """Write a file into the temporary folder and return its path."""
        path = os.path.join(self.folder, name)
        with open(path, "wb") as out:
            out.write(data)
        return path

    def run_program(self, *arguments, stdin=b"", columns=None, cwd=None,
                    begin=None):
        """Run the program; `begin` is called in its process before it starts."""
        environment = dict(os.environ)
        environment.pop("COLUMNS", None)
        if columns:
            environment["COLUMNS"] = str(columns)
        done = running.finish([program(), *arguments], input=stdin,
                              timeout=SECONDS, env=environment, cwd=cwd,
                              preexec_fn=begin)
        return Done(done.returncode, done.stdout.decode("utf-8"),
                    done.stderr.decode("utf-8"))

    def run_fine(self, *arguments, **options):
        """Run it; it must return status 0 and print nothing on standard error."""
        done = self.run_program(*arguments, **options)
        self.assertEqual((done.status, done.err), (0, ""), arguments)
        return done

    def run_json(self, *arguments, **options):
        """The JSON objects of a run without errors."""
        return self.run_fine(*arguments, "--format", "json",
                             **options).objects()

    def assert_error(self, done, status, file, offset, code):
        """Check that the run returned `status` and printed exactly this error line."""
        self.assertEqual(done.status, status, done.err)
        self.assertEqual(done.errors(), [(file, offset, code)], done.err)


class LiveCase(Case):
    """A test that needs counters of this machine. `offered` has the records of `countersets`."""

    def setUp(self):
        super().setUp()
        done = self.run_program("countersets", "--format", "json")
        if done.status == IMPOSSIBLE:
            self.assertNotEqual(done.err, "")
            # On Linux a live source is required: failing to open it is a failure.
            self.assertNotEqual(sys.platform, "linux", done.err)
            for arguments in (["live"], ["record", "-o", os.path.join(
                    self.folder, "a.pfb")]):
                refused = self.run_program(*arguments)
                self.assertEqual((refused.status, refused.out),
                                 (IMPOSSIBLE, ""))
                self.assertNotEqual(refused.err, "")
            self.skipTest(done.err.strip())
        self.assertEqual(done.status, 0)
        self.offered = done.objects()
