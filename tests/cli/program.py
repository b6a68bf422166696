# SPDX-License-Identifier: MIT
"""Runs the program for the tests in this folder.

PERFBLOCK is the path of the program, PERFBLOCK_TEST_PROGRAM that of the program
linked with machine.c, a simulated machine. PERFBLOCK_SYSTEM is the system for which
it was built; on "Windows" some tests expect other results or are skipped.
PERFBLOCK_REAL_DATA is a folder of files captured on real machines; without it
the tests that need them are skipped. Most other inputs come from the corpus,
or from the writer of tests/oracle, the second implementation of the formats,
which also makes the seeds of the corpus.
"""

import glob
import json
import os
import re
import runpy
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
CORPUS = os.path.join(ROOT, "corpus")
sys.path.insert(0, os.path.join(ROOT, "tests", "oracle"))

import code_pages  # noqa: E402,F401 (in the folder that was just added to sys.path)
import running  # noqa: E402
import seed_writer as writer  # noqa: E402

FIXTURES = os.path.join(ROOT, "fixtures")
FIXTURE_WRITER = os.path.join(FIXTURES, "perfblock-fixture")
SECONDS = 60
IMPOSSIBLE = 4  # exit status if this machine cannot do what was asked
FULL = "/dev/full"  # Linux: writing to it fails because of a full disk
ON_WINDOWS = running.ON_WINDOWS
# Tests that start the program once for each of many inputs take one input in
# STEP, which is above 1 with sanitizers and under emulation.
STEP = int(os.environ.get("PERFBLOCK_SWEEP_STEP", "1"))
REAL_DATA = os.environ.get("PERFBLOCK_REAL_DATA", "")
needs_real_data = unittest.skipUnless(
    REAL_DATA, "PERFBLOCK_REAL_DATA names no folder of captured data")
# Functions of the libraries of sanitizers, by which a program is recognised.
SANITIZERS = {b"__asan_init": "AddressSanitizer",
              b"__tsan_init": "ThreadSanitizer",
              b"__msan_init": "MemorySanitizer"}
ERROR_LINE = re.compile(r"^(?P<file>.*): offset (?P<offset>\d+): "
                        r"(?P<code>[a-z][a-z0-9_]*): (?P<text>.+)$")


def program():
    """The path of the program."""
    path = os.environ.get("PERFBLOCK")
    if not path:
        sys.exit("PERFBLOCK must name the program to test")
    return os.path.abspath(path)


def on_machine(machine):
    """The path of the program and its environment. `machine` is a recording:
    the live source is a machine with its data; None is the real one."""
    if not machine:
        return program(), dict(os.environ)
    return (os.environ["PERFBLOCK_TEST_PROGRAM"],
            dict(os.environ, PERFBLOCK_MACHINE=machine))


def own_program():
    """The path of the executable. For tests under Wine, PERFBLOCK is a script
    that runs the executable; its path is read from the script."""
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


def real(*names):
    """The path of a captured file or folder."""
    return os.path.join(REAL_DATA, *names)


def bytes_of(path):
    """The contents of a file."""
    with open(path, "rb") as file:
        return file.read()


def fixture_texts():
    """{path: text} of the recordings in fixtures/. machine.py has the texts of
    those that it makes."""
    machine = runpy.run_path(os.path.join(FIXTURES, "machine.py"))
    texts = {os.path.join(FIXTURES, name + ".pfb"): text
             for name, text in machine["texts"]().items()}
    for path in glob.glob(os.path.join(FIXTURES, "*.txt")):
        texts[path[:-len("txt")] + "pfb"] = bytes_of(path).decode()
    return texts


def sanitizer():
    """The sanitizer with which the program was built, or None."""
    content = bytes_of(own_program())
    return next((name for function, name in SANITIZERS.items()
                 if function in content), None)


class Done:
    """A finished run of the program: exit status, standard output and standard
    error."""

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
        """(file, offset, code) of the error lines on standard error. Notes
        have the same form and are left out."""
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
        """Writes a file into the temporary folder and returns its path."""
        path = os.path.join(self.folder, name)
        with open(path, "wb") as out:
            out.write(data)
        return path

    def write_fixture(self, *arguments, stdin=b""):
        """Runs perfblock-fixture; returns the finished process."""
        return subprocess.run(
            [sys.executable, FIXTURE_WRITER, *arguments], input=stdin,
            capture_output=True, check=False, timeout=SECONDS)

    def text_recording(self, name, text):
        """Makes a recording from a text (fixtures/README.md); returns its
        path."""
        path = os.path.join(self.folder, name)
        done = self.write_fixture("-", "-o", path, stdin=text.encode())
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (0, b"", b""), text)
        return path

    def run_program(self, *arguments, stdin=b"", columns=None, zone=None,
                    cwd=None, begin=None, machine=None):
        """Runs the program. `columns` is the width of the terminal, `zone` the
        time zone (TZ). `begin` is called in the new process before the program
        starts. `machine` is a recording: the live source is a machine with its
        data."""
        path, environment = on_machine(machine)
        environment.pop("COLUMNS", None)
        if columns:
            environment["COLUMNS"] = str(columns)
        if zone:
            environment["TZ"] = zone
        done = running.finish([path, *arguments], input=stdin,
                              timeout=SECONDS, env=environment, cwd=cwd,
                              preexec_fn=begin)
        errors = done.stderr.decode("utf-8")
        if machine:  # only Windows prints the note about short intervals
            errors = "".join(line for line in errors.splitlines(True)
                             if "the same values again" not in line)
        return Done(done.returncode, done.stdout.decode("utf-8"), errors)

    def run_fine(self, *arguments, **options):
        """Runs the program, which must return status 0 and print nothing on
        standard error."""
        done = self.run_program(*arguments, **options)
        self.assertEqual((done.status, done.err), (0, ""), arguments)
        return done

    def run_json(self, *arguments, **options):
        """The JSON objects of a run without errors."""
        return self.run_fine(*arguments, "--format", "json",
                             **options).objects()

    def run_live(self, machine, *arguments, count=1, **options):
        """Runs live with a machine that has the data of this recording, until
        `count` samples are printed."""
        return self.run_program("live", "--interval", "0.01", "--count",
                                str(count), *arguments, machine=machine,
                                **options)

    def live(self, machine, *arguments, **options):
        """The JSON objects of run_live() without errors."""
        done = self.run_live(machine, *arguments, "--format", "json",
                             **options)
        self.assertEqual((done.status, done.err), (0, ""), arguments)
        return done.objects()

    def run_record(self, machine, path, *arguments, count=1, **options):
        """Records `count` samples of a machine that has the data of this
        recording."""
        return self.run_program("record", "-o", path, "--interval", "0.01",
                                "--count", str(count), *arguments,
                                machine=machine, **options)

    def assert_error(self, done, status, file, offset, code):
        """Asserts that the run returned `status` and printed this error line
        and no other."""
        self.assertEqual(done.status, status, done.err)
        self.assertEqual(done.errors(), [(file, offset, code)], done.err)


class LiveCase(Case):
    """A test that needs counters of this machine; `offered` are the JSON
    records of `countersets`. Where there are none, it asserts that the program
    says so, and skips the test."""

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
