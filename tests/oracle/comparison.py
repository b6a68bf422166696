# SPDX-License-Identifier: MIT
"""Common parts of the comparisons of the program with the second
implementation in this folder.

Functions named *_problem return a description of a disagreement, or None.
"""

import glob
import json
import os
import re
import struct
import subprocess
import sys
import tempfile
from collections import namedtuple

import blocks
import running

SECONDS = 120     # limit for one process, reached only by a program that hangs
SHOWN_PROBLEMS = 25


class Tally:
    """Counts comparisons, and prints the first problems."""

    def __init__(self):
        self.passed = self.failed = 0

    def add(self, label, problem):
        """Counts a comparison; `problem` is None if both agree."""
        if problem is None:
            self.passed += 1
            return
        self.failed += 1
        if self.failed <= SHOWN_PROBLEMS:
            print("%s: %s" % (label, problem), file=sys.stderr)

    def finish(self):
        """Prints the numbers; returns the exit status."""
        print("%d passed, %d failed" % (self.passed, self.failed))
        return 1 if self.failed or not self.passed else 0


# Running --------------------------------------------------------------------

# objects: the JSON lines of standard output. problem: why the output cannot be
# compared, or None. stderr: the text of standard error.
Run = namedtuple("Run", "status objects problem stderr")


def run(program, command, *arguments):
    """Runs a command of the program with JSON output."""
    line = [program, command, "--format", "json"] + list(arguments)
    try:
        done = running.finish(line, stdin=subprocess.DEVNULL, timeout=SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        return Run(None, [], str(error), "")
    status, stderr = done.returncode, done.stderr.decode("utf-8", "replace")
    if status not in (0, 1):
        return Run(status, [], "exit status %d: %r" % (status, stderr[-300:]),
                   stderr)
    try:
        lines = done.stdout.decode("utf-8").split("\n")
        objects = [json.loads(text) for text in lines if text]
    except ValueError as error:
        return Run(status, [], "output is not JSON lines: %s" % error, stderr)
    if not all(isinstance(item, dict) for item in objects):
        return Run(status, [], "a line is not an object", stderr)
    return Run(status, objects, None, stderr)


# Comparing ------------------------------------------------------------------

def same(expected, actual):
    """Whether two values are equal: doubles bit by bit, others in type and
    value, so that True is not 1."""
    if isinstance(expected, float):
        if isinstance(actual, bool) or not isinstance(actual, (int, float)):
            return False
        return struct.pack("<d", expected) == struct.pack("<d", actual)
    return type(expected) is type(actual) and expected == actual


def object_problem(expected, actual, ignored=()):
    """The first key of `expected` with another value in `actual`, which may
    have further keys."""
    for key, value in blocks.public(expected).items():
        if key in ignored:
            continue
        if key not in actual:
            return "%r is missing in %s" % (key, actual)
        if not same(value, actual[key]):
            return "%s is %r, expected %r, in %s" % (key, actual[key], value,
                                                     expected)
    return None


def list_problem(expected, actual, ignored=lambda item: ()):
    """The first disagreement of two lists of objects."""
    for number, (wanted, printed) in enumerate(zip(expected, actual)):
        problem = object_problem(wanted, printed, ignored(wanted))
        if problem:
            return "item %d: %s" % (number, problem)
    if len(expected) != len(actual):
        return "%d items, expected %d" % (len(actual), len(expected))
    return None


def error_problem(item, size):
    """What is wrong with an error record for an input of `size` bytes: its
    offset, code or message."""
    offset = item.get("offset")
    if type(offset) is not int or not 0 <= offset <= size:
        return "error offset %r of %d bytes" % (offset, size)
    if not re.fullmatch("[a-z][a-z0-9_]*", str(item.get("code"))):
        return "error code %r" % item.get("code")
    if not isinstance(item.get("message"), str) or not item["message"]:
        return "error without a message"
    return None


# Inputs ---------------------------------------------------------------------

def load(corpus, subject, suffix):
    """(path, bytes) of the seeds of a subject, in a fixed order."""
    paths = glob.glob(os.path.join(corpus, subject, "seeds", "*" + suffix))
    for path in sorted(paths):
        with open(path, "rb") as file:
            yield path, file.read()


def name_problem(path, valid):
    """A problem if the name of a seed contradicts its verdict."""
    if os.path.basename(path).startswith("valid_") != valid:
        return "tests/oracle finds it %s" % ("valid" if valid else "broken")
    return None


def batches(items, size):
    """The items in lists of at most `size` items."""
    batch = []
    for item in items:
        batch.append(item)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch


def scratch():
    """A temporary folder for inputs. It is in memory if possible, because
    about a hundred thousand files are written."""
    memory = "/dev/shm"
    is_usable = os.path.isdir(memory) and os.access(memory, os.W_OK)
    return tempfile.TemporaryDirectory(prefix="oracle-",
                                       dir=memory if is_usable else None)


def save(directory, batch):
    """Writes the inputs (label, bytes) of a batch; returns their paths."""
    paths = []
    for number, (_, data) in enumerate(batch):
        paths.append(os.path.join(directory, "%05d.bin" % number))
        with open(paths[-1], "wb") as file:
            file.write(data)
    return paths
