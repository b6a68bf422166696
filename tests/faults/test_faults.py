# SPDX-License-Identifier: MIT
"""Calls of the C library that fail. PERFBLOCK_FAULTS is the path of the library
made of faults.c, which is preloaded."""

import concurrent.futures
import contextlib
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "cli"))

from cpi_runs import SNAPSHOTS  # noqa: E402
from program import (ROOT, SECONDS, Case, Done, bytes_of, on_machine,  # noqa: E402
                     program, seed, writer as w)

import captures  # noqa: E402
import v1_blocks as v1  # noqa: E402

FAULTS = os.path.abspath(os.environ["PERFBLOCK_FAULTS"])
PROCESSOR = os.path.join(ROOT, "fixtures", "processor.pfb")
OLD = b"old" * 100


class FaultCase(Case):
    """Runs the program with a fault."""

    def run_faulty(self, fault, *arguments, machine=None):
        """Runs the program. `fault` is the value of PERFBLOCK_FAULT."""
        path, environment = on_machine(machine)
        environment.update(LD_PRELOAD=FAULTS, PERFBLOCK_FAULT=fault)
        done = subprocess.run([path, *arguments], capture_output=True,
                              timeout=SECONDS, env=environment, check=False)
        self.assertGreaterEqual(done.returncode, 0, (fault, arguments))
        return Done(done.returncode, done.stdout.decode(),
                    done.stderr.decode())


def long_recording(count):
    """A recording with samples of a growing number of instances, and a note of
    300 kB in the middle: the program's windows are smaller."""
    def sample(number):
        return w.chunk(b"DATA", w.reply(captures.instances_result([1], [
            (n, "instance %d" % n, [number]) for n in range(number + 1)]),
            stamps=w.clocks(number * 10**7, 133 * 10**15 + number * 10**7,
                            10**7)))
    return w.recording(
        captures.metadata(captures.DISK, "Disk", [(1, captures.BULK, "N")]),
        w.chunk(b"QINF", w.identifier(captures.DISK, name="*")),
        *[sample(number) for number in range(count)],
        w.chunk(b"NOTE", b"n" * 300000),
        *[sample(number) for number in range(count, 2 * count)])


class Check(FaultCase):
    """check of files that cannot be read to their end."""

    def test_read_error(self):
        """The verdict has a code, the place, and the size of the file."""
        data = long_recording(3)
        path = self.file("a.pfb", data)
        whole = self.run_json("check", path)[0]
        self.assertEqual((whole["valid"], whole["size"]), (True, len(data)))
        places = []
        for number in range(2, 20):
            done = self.run_faulty("read:%d" % number, "check", "-f", "json",
                                   path)
            if done.status == 0:
                self.assertEqual(done.objects(), [whole])
                break
            item, = done.objects()
            self.assertEqual((done.status, item["valid"], item["size"],
                              item["code"], item["message"]), (
                3, False, len(data), "unreadable", "Input/output error"))
            places.append(item["offset"])
            done = self.run_faulty("read:%d" % number, "check", path)
            self.assertIn("a.pfb: not read to its end (capture, %d bytes" %
                          len(data), done.out)
            self.assertIn("offset %d: unreadable: Input/output error" %
                          item["offset"], done.out)
            done = self.run_faulty("read:%d" % number, "check", "-f", "csv",
                                   path, path)
            self.assertEqual({line.count(",") for line in done.lines()},
                             {done.lines()[0].count(",")})
        self.assertGreater(len(places), 1)
        self.assertEqual(places, sorted(places))
        self.assertEqual(places[-1], len(data))

    def test_limit(self):
        """So has that of an input that is too large."""
        with subprocess.Popen([program(), "check", "-f", "json", "-"],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL) as child:
            head = w.recording() + w.chunk(b"NOTE", b"")[:8] + (
                1 << 40).to_bytes(8, "little")
            try:
                child.stdin.write(head)
                while True:
                    child.stdin.write(bytes(1 << 20))
            except BrokenPipeError:
                pass
            done = Done(child.wait(SECONDS), child.stdout.read().decode(), "")
        item, = done.objects()
        self.assertEqual((done.status, item["valid"], item["code"]),
                         (3, False, "caller_limit"))


class TwoPasses(FaultCase):
    """cook to pdh-csv, which reads files twice."""

    def test_read_error(self):
        """A read error of any pass gives exit status 3. What was read before
        is written; without any value the old file stays."""
        path = self.file("a.pfb", long_recording(3))
        target = os.path.join(self.folder, "o.pdh.csv")
        self.run_fine("cook", path, "-o", target)
        whole = bytes_of(target)
        kept = 0
        for number in range(1, 40):
            self.file("o.pdh.csv", OLD)
            done = self.run_faulty("read:%d" % number, "cook", path, "-o",
                                   target)
            if done.status == 0:
                self.assertEqual(bytes_of(target), whole, number)
                continue
            self.assertEqual((done.status, done.err.splitlines()[-1]), (
                3, path + ": Input/output error"), number)
            content = bytes_of(target)
            kept += content == OLD
            self.assertTrue(content == OLD or
                            content.startswith(b'"(PDH-CSV 4.0)'), number)
        self.assertGreater(kept, 1)


# ---- Every call -------------------------------------------------------------

EVENTS = ("alloc", "read", "write", "open", "rename", "flush", "short_read",
          "short_write", "intr_read", "intr_write", "disk")
HARMLESS = ("short_read", "short_write", "intr_read", "intr_write")
ALL_CALLS = 200  # of the calls of a kind, each of these fails in a run
GROWTH = 1.25    # from then on, the number of the call grows by this factor
MACHINE = seed("capture", "valid_processor_information.pfb")
HAS_SQLITE = os.environ.get("PERFBLOCK_SQLITE", "1") == "1"
V2 = w.reply(w.result(w.INSTANCES, w.instance_block(
    w.instance(1, "one", w.v4(1)), w.instance(2, "two", w.v4(2)))))
V1 = [v1.LITTLE.block(v1.plain(v1.LITTLE, n), moment=n + 1, name="PC")
      for n in range(3)]
NAMES = "\0".join(("1", "1847", "2", "Disk", "20", "Disk", "22", "Reads/sec",
                   "", "")).encode("utf-16-le")
INPUTS = {
    "a.pfb": bytes_of(PROCESSOR),
    "b.pfb": long_recording(3),
    "v1.pfb": w.recording(
        *[w.chunk(b"V1DT", block) for block in V1],
        w.chunk(b"NAME", (9).to_bytes(4, "little") + NAMES)),
    "numbers": b",".join(b"%d" % byte for byte in V1[0]),
    "v1.bin": bytes_of(seed("v1", "valid_two_objects.bin")),
    "v2.bin": V2,
    "a.blg": bytes_of(seed("log", "valid_counters.blg")),
    "a.csv": bytes_of(seed("pdh_text", "valid_csv.csv")),
    "snapshots": SNAPSHOTS,
    "eval.csv": b"type,value0,time0,value1,time1\n"
                b"PERF_100NSEC_TIMER,100,1000,150,1400\n",
}
FORMATS = ("a.pfb", "b.pfb", "v1.pfb", "v1.bin", "v2.bin", "a.blg",
           "a.csv")
# The arguments of commands, and the name of the file that they write. v2.bin has
# no metadata: it gives no values for PDH-CSV and reports, which keep the old file.
COMMANDS = [
    *[(["cook", "-f", "json", name], None) for name in FORMATS],
    *[(["cook", name, "-o", "o" + ending], "o" + ending)
      for name in FORMATS for ending in (
          ".pdh.csv", ".prom", *([".sqlite"] if HAS_SQLITE else []))
      if (name, ending) != ("v2.bin", ".pdh.csv")],
    *[(["convert", name, "-o", "o.pfb"], "o.pfb")
      for name in ("a.pfb", "b.pfb", "v1.bin", "v2.bin")],
    *[(["report", name, "-o", "o.html"], "o.html") for name in FORMATS
      if name != "v2.bin"],
    *[(["show", "-f", "json", name], None) for name in FORMATS],
    *[(["show", "-f", "html", name, "-o", "o.html"], "o.html")
      for name in ("v1.bin", "v2.bin", "a.blg")],
    *[(["check", "-f", "json", name], None) for name in FORMATS],
    *[(["countersets", "--source", name, "-f", "json"], None)
      for name in ("a.pfb", "v1.bin", "a.blg")],
    (["cook", "a.pfb", "b.pfb", "--summary"], None),
    (["eval", "eval.csv"], None), (["types", "-f", "json"], None),
    (["cook", "-f", "csv", "numbers"], None),
    (["cook", "-f", "json", "b.pfb", "a.pfb", "v1.pfb"], None),
    (["cook", "-f", "text", "v1.pfb", "v1.bin"], None),
    (["show", "v1.pfb"], None),
    (["convert", "--set", "Processor", "a.pfb", "-o", "o.pfb"], "o.pfb"),
    *[([*words, seed(subject, sorted(os.listdir(os.path.join(
        ROOT, "corpus", subject, "seeds")))[0])], None)
      for words, subject in ((["cpuid"], "cpuid_text"),
                             (["lwp", "show"], "lwp"),
                             (["cpi", "show"], "hooks"))],
    (["cpi", "run", "--source", "snapshots", "-f", "json", "--", "true"],
     None),
    (["live", "-i", "0.01", "-n", "1", "-f", "csv", "-o", "o.csv"], "o.csv"),
    (["live", "-i", "0.01", "-n", "1", "-f", "prometheus", "-o", "o.prom"],
     "o.prom"),
    (["record", "-i", "0.01", "-n", "2", "-o", "r.pfb"], "r.pfb"),
]


def numbers(count, event):
    """The calls that fail, of `count`."""
    number = 0 if event == "disk" else 1
    while number <= count if event != "disk" else number < count:
        yield number
        number = number + 1 if number < ALL_CALLS and event != "disk" else \
            max(number + 1, int(number * GROWTH))


def content(path):
    """The content of an output file, without what differs in each run; None if
    there is no file."""
    if not os.path.exists(path):
        return None
    data = bytes_of(path)
    if data.startswith(b"SQLite"):
        with contextlib.closing(sqlite3.connect(path)) as database:
            text = "\n".join(database.iterdump())
        return re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}", "GUID", text)
    return data


class Run:
    """Runs a command in a folder of its own."""

    def __init__(self, folder, words, target):
        self.folder = tempfile.mkdtemp(dir=folder)
        self.words, self.target = words, target
        self.counts = os.path.join(folder, os.path.basename(self.folder) + ".n")
        for name, data in INPUTS.items():
            with open(os.path.join(self.folder, name), "wb") as file:
                file.write(data)
        self.names = sorted({*INPUTS, *([target] if target else [])})
        # A recording that is continued, or any other file.
        self.old = INPUTS["a.pfb"] if words[0] == "record" else OLD
        is_live = words[0] in ("live", "record")
        self.program, self.environment = on_machine(
            MACHINE if is_live else None)
        self.reference, self.called = None, {}

    def path(self):
        """The path of the output."""
        return os.path.join(self.folder, self.target)

    def run(self, fault, words=None):
        """Runs the command; returns the finished process."""
        environment = dict(self.environment, LD_PRELOAD=FAULTS,
                           PERFBLOCK_FAULT=fault)
        if not fault:
            environment["PERFBLOCK_FAULT_COUNTS"] = self.counts
        return subprocess.run(
            [self.program, *(words or self.words)], cwd=self.folder,
            stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS,
            env=environment, check=False, close_fds=False)

    def prepare(self):
        """Restores the old file."""
        if self.target:
            with open(self.path(), "wb") as file:
                file.write(self.old)

    def result(self, done):
        """What the command has written."""
        return done.stdout, content(self.path()) if self.target else None

    def begin(self):
        """Runs it undisturbed. Returns an error, or None."""
        self.prepare()
        done = self.run("")
        self.status, self.reference = done.returncode, self.result(done)
        with open(self.counts, encoding="ascii") as file:
            self.called = {name: int(count) for name, count in (
                line.split() for line in file)}
        self.prepare()
        if self.result(self.run("")) != self.reference:
            return "two runs differ"
        return None if self.status == 0 or not self.target else \
            "status %d: %s" % (self.status, done.stderr)

    def fault(self, fault):
        """Runs it with a fault. Returns an error, or None."""
        self.prepare()
        done = self.run(fault)
        event = fault.partition(":")[0]
        found = self.result(done)
        listed = sorted(os.listdir(self.folder))
        error = None
        if not 0 <= done.returncode <= 4:
            error = "ended with %d" % done.returncode
        elif done.returncode == self.status and found != self.reference:
            error = "status %d, but another output" % self.status
        elif event in HARMLESS and done.returncode != self.status:
            error = "status %d" % done.returncode
        elif done.returncode != 0 and not done.stderr:
            error = "no message"
        elif listed != self.names and not (
                self.target and listed == sorted(INPUTS)):
            error = "files %s" % listed
        elif done.returncode != 0 and self.target:
            error = self.check_target(event, found[1])
        if error:
            for name in set(listed) - set(self.names):
                os.remove(os.path.join(self.folder, name))
            return "%s: %s: %s: %r" % (" ".join(self.words), fault, error,
                                       done.stderr[-300:])
        return None

    def check_target(self, event, found):
        """Checks the output file of a run that failed. Returns an error, or
        None."""
        if self.words[0] == "record":
            if not found.startswith(self.old):
                return "the recording has lost what it had"
            done = self.run("")
            if done.returncode != 0:
                return "cannot be continued: %r" % done.stderr
            done = self.run("", ["check", self.target])
            return None if done.returncode == 0 else "damaged: %r" % done.stdout
        if found in (self.old, self.reference[1]):
            return None
        # What was read before an error is written, but not without a value.
        if event in ("read", "alloc", "open") and found:
            return None
        return "the old file is lost"


class EveryCall(Case):
    """Each call of each command fails once."""

    def test_every_call(self):
        """The program does not crash, has exit status 0 only with the right
        output, and destroys no file. Reads and writes that are shortened or
        interrupted change nothing."""
        runs = [Run(self.folder, words, target) for words, target in COMMANDS]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            errors = ["%s: %s" % (" ".join(run.words), error)
                      for run, error in zip(runs, pool.map(Run.begin, runs))
                      if error]
            self.assertEqual(errors, [])
            found = [error for errors in pool.map(self.every, runs)
                     for error in errors]
        for run in runs:
            shutil.rmtree(run.folder)
        self.assertEqual(found, [], "\n".join(found[:40]))

    @staticmethod
    def every(run):
        """The errors of a command."""
        return [error for event in EVENTS
                for number in numbers(run.called[event], event)
                for error in [run.fault("%s:%d" % (event, number))] if error]


if __name__ == "__main__":
    unittest.main()
