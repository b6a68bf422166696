# SPDX-License-Identifier: MIT
"""perfblock cpi run: figures of canned snapshots, what is stored and replayed,
what is refused, and the command that runs meanwhile.

The command is the program itself, which is there on every system.  Expected
figures come from exact fractions.
"""

import os
import random
import re
import signal
import subprocess
import sys
import unittest

from program import (IMPOSSIBLE, ON_WINDOWS, SECONDS, Case, program, running,
                     writer as w)

import cpi_figures as f
import cpi_writer as c

FULL = "/dev/full"


def own_program():
    """The program as a command of its own: not the script that runs it."""
    path = program()
    if ON_WINDOWS:
        with open(path, "rb") as file:
            script = re.match(rb"#!.*\nexec wine '(.+)'", file.read(4096))
        if script:
            return script[1].decode()
    return path


def snapshot(clock, *cpus):
    """A snapshot of (number, instr, cycles, busy, elapsed)."""
    return f.Snapshot(clock, tuple(f.Cpu(*cpu) for cpu in cpus))


def text(*steps, widths=None):
    """Snapshots and refusals ((code, sentence)) as a text."""
    lines = ["cpi-snapshots 1"]
    if widths:
        lines.append("widths %d %d" % widths)
    for step in steps:
        if not isinstance(step, f.Snapshot):
            lines.append("refuse %d %s" % step)
            continue
        lines.append("snapshot %d" % step.clock)
        lines += ["cpu %d %d %d %d %d" % cpu for cpu in step.cpus]
    return ("\n".join(lines) + "\n").encode()


# ---- The worked examples -------------------------------------------------

TWO = (snapshot(1000, (0, 0, 1000, 0, 1000), (1, 5000, 1000, 0, 1000)),
       snapshot(3001000, (0, 1500000, 3001000, 2250000, 3001000),
                (1, 3005120, 3001000, 600000, 3001000)))
TWO_PRINTED = """\
cpi:  1.33  cpi_wb:  0.63  idle: 52.50%  busy: 47.50%
       System   CPU0   CPU1
cpi      1.33   2.00   1.00
cpi_wb   0.63   1.50   0.20
idle%   52.50  25.00  80.00
busy%   47.50  75.00  20.00
"""
# Raw only: it has no busy clock.
LARGE = b"""cpi-snapshots 1
snapshot 68719476736
cpu 0 7000000000 68719476736
thread 4242 100 200
snapshot 80719476737
cpu 0 16000000000 80719476737
thread 4242 8000000100 10500000200
"""
LARGE_BUSY = (snapshot(68719476736, (0, 7000000000, 68719476736, 5, 5)),
              snapshot(80719476737,
                       (0, 16000000000, 80719476737, 5, 12000000006)))
LARGE_PRINTED = """\
cpi:  1.33  cpi_wb:  0.00  idle: 100.00%  busy:  0.00%
       System   CPU0
cpi      1.33   1.33
cpi_wb   0.00   0.00
idle%  100.00 100.00
busy%    0.00   0.00
"""
PHASE = (snapshot(500, (0, 1099511626776, 10, 0, 0), (1, 777, 10, 5, 0),
                  (3, 1, 1, 1, 1)),
         snapshot(8500, (0, 3000, 8010, 6000, 8000), (1, 777, 8010, 5, 8000)))
PHASE_WIDTHS = (40, 64)
PHASE_PRINTED = """\
cpi:  4.00  cpi_wb:  1.50  idle: 62.50%  busy: 37.50%
       System   CPU0   CPU1   CPU3
cpi      4.00   2.00    n/a    n/a
cpi_wb   1.50   1.50    n/a    n/a
idle%   62.50  25.00 100.00    n/a
busy%   37.50  75.00   0.00    n/a
"""
# Nothing is executed, and a CPU has no busy clock either.
IDLE = (snapshot(0, (0, 7, 0, 0, 0), (12, 9, 0, 0, 0)),
        snapshot(50, (0, 7, 40, 10, 40), (12, 9, 40, 0, 0)))
IDLE_PRINTED = """\
cpi:   n/a  cpi_wb:   n/a  idle: 75.00%  busy: 25.00%
       System   CPU0  CPU12
cpi       n/a    n/a    n/a
cpi_wb    n/a    n/a    n/a
idle%   75.00  75.00    n/a
busy%   25.00  25.00    n/a
"""


def figures_json(figures):
    """What JSON tells of a CPU or of the system."""
    def told(value, below):
        return value if below else None
    return {"status": figures.status,
            "raw_cpi": told(figures.raw_cpi, figures.instr),
            "scaled_cpi": told(figures.scaled_cpi, figures.instr),
            "busy_percent": told(figures.busy_percent, figures.elapsed),
            "instr": figures.instr, "cycles": figures.cycles,
            "scaled_cycles": figures.scaled, "busy": figures.busy,
            "elapsed": figures.elapsed, "busy_clamped": figures.clamped}


def expected_json(start, end, widths=(64, 64), status=0):
    """The records of an interval; None when it has no figures."""
    _, result = f.compute(start, end, widths, f.RAW | f.SCALED)
    if result is None:
        return []
    return [{"record": "cpi", "elapsed_cycles": result.elapsed,
             "cpus_changed": result.changed, "num_cpus": len(result.cpus),
             "system": figures_json(result.system), "command_status": status,
             "command_signal": None}] + [
                 {"record": "cpu", "cpu": cpu.cpu, **figures_json(cpu),
                  "unhalted_cycles": None} for cpu in result.cpus]


class RunCase(Case):
    """A test with a command that is there, and quiet."""

    def setUp(self):
        super().setUp()
        self.command = own_program()
        self.made = os.path.join(self.folder, "made.pfb")
        self.quiet = [self.command, "cpi", "show", self.file("empty", b"")]
        # It leaves a file, and its output in one.
        self.leaves = [self.command, "lwp", "model", "--sample", "32", "-o",
                       self.made]

    def source(self, data, name="source"):
        """A file of snapshots."""
        return self.file(name, data if isinstance(data, bytes)
                         else text(*data))

    def measure(self, data, *options, command=None):
        """Measure the command over these snapshots."""
        return self.run_program("cpi", "run", "--source", self.source(data),
                                *options, "--", *(command or self.quiet))

    def chunks(self, path):
        """(tag, body) of a capture behind its first chunk."""
        with open(path, "rb") as file:
            data = file.read()
        return [(item["tag"], data[item["offset"] + 16:][:item["size"]])
                for item in self.run_json("show", path)
                if item["record"] == "chunk"][1:]


class Figures(RunCase):
    """What is printed."""

    EXAMPLES = ((text(*TWO), TWO_PRINTED),
                (text(*LARGE_BUSY), LARGE_PRINTED),
                (text(*PHASE, widths=PHASE_WIDTHS), PHASE_PRINTED))

    def test_tables(self):
        for data, printed in self.EXAMPLES:
            done = self.measure(data)
            self.assertEqual((done.status, done.out, done.err),
                             (0, printed, ""))

    def test_json(self):
        for steps, widths in ((TWO, None), (LARGE_BUSY, None),
                              (PHASE, PHASE_WIDTHS)):
            done = self.measure(text(*steps, widths=widths), "--format",
                                "json")
            self.assertEqual((done.status, done.err), (0, ""))
            self.assertEqual(done.objects(), expected_json(
                *steps, widths or (64, 64)))

    def test_doubles_are_those_of_the_worked_example(self):
        records = self.measure(TWO, "--format", "json").objects()
        self.assertEqual(
            [(item["raw_cpi"], item["scaled_cpi"], item["busy_percent"])
             for item in (records[0]["system"], *records[1:])],
            [(1.3332977787259006, 0.6333164448948028, 47.5),
             (2.0, 1.5, 75.0), (0.999960001599936, 0.1999920003199872, 20.0)])

    def test_any_counts(self):
        """Of every status, held against fractions."""
        chance = random.Random(7)
        statuses = set()
        for _ in range(40):
            widths = chance.choice(((64, 64), (64, 64), (40, 48), (20, 64)))
            numbers = sorted(chance.sample(range(2000),
                                           chance.randrange(1, 6)))
            steps = []
            for clock in (0, chance.choice((900, 1 << 19, 1 << 41))):
                cpus = [(number, *(chance.choice(
                    (0, 1, 5, 1000, (1 << 19) + 3, 1 << 40, 1 << 63))
                                   for _ in range(4))) for number in numbers]
                steps.append(snapshot(clock, *cpus))
            if chance.random() < 0.3:
                steps[1] = f.Snapshot(steps[1].clock, steps[1].cpus[1:])
            data = text(*steps, widths=widths)
            expected = expected_json(*steps, widths)
            done = self.measure(data, "--format", "json")
            self.assertEqual(done.objects(), expected, data)
            no_data = expected[0]["system"]["status"] == "no_instr"
            self.assertEqual(done.status, 1 if no_data else 0, done.err)
            statuses.update(item["status"] for item in expected[1:])
        self.assertGreaterEqual(statuses, {
            "ok", "no_instr", "backward", "ambiguous", "invalid",
            "no_elapsed", "offline"})

    def test_1024_cpus_are_more_than_the_facility_has_room_for(self):
        many = [snapshot(clock, *((n, clock, clock, clock, clock)
                                  for n in range(1024)))
                for clock in (0, 10)]
        done = self.measure(many, command=self.leaves)
        self.assertEqual((done.status, done.out), (1, ""))
        self.assertIn(": pu_error_insufficient_resources: ", done.err)
        self.assertFalse(os.path.exists(self.made))

    def test_128_cpus(self):
        many = [snapshot(clock, *((8 * n, n * clock, clock, clock, clock)
                                  for n in range(128)))
                for clock in (0, 10)]
        path = os.path.join(self.folder, "kept.pfb")
        done = self.measure(many, "--format", "json", "-o", path)
        self.assertEqual((done.status, done.objects()),
                         (0, expected_json(*many)))
        (group,) = self.run_json("cpi", "show", path)
        self.assertEqual(group["num_cpus"], 128)

    def test_from_standard_input(self):
        done = self.run_program("cpi", "run", "--source", "-", *self.quiet,
                                stdin=text(*TWO))
        self.assertEqual((done.status, done.out), (0, TWO_PRINTED))


class Undefined(RunCase):
    """Intervals without figures."""

    def test_nothing_executed(self):
        done = self.measure(IDLE)
        self.assertEqual(done.out, IDLE_PRINTED)
        path = os.path.join(self.folder, "source")
        second = text(*IDLE).index(b"snapshot 50")
        self.assert_error(done, 1, path, second, "pu_error_invalid_cpi_data")

    def test_nothing_executed_json(self):
        done = self.measure(IDLE, "--format", "json")
        self.assertEqual(done.objects(), expected_json(*IDLE))
        self.assertEqual([item["status"] for item in done.objects()[1:]],
                         ["no_instr", "no_elapsed"])

    def test_clock_backward(self):
        steps = (snapshot(10, (0, 0, 0, 0, 0)), snapshot(9, (0, 1, 1, 1, 1)))
        done = self.measure(steps)
        self.assertEqual(done.out, "")
        self.assert_error(done, 1, os.path.join(self.folder, "source"),
                          text(*steps).index(b"snapshot 9"),
                          "pu_error_invalid_cpi_data")

    def test_what_is_stored_of_it_fails_again(self):
        path = os.path.join(self.folder, "kept.pfb")
        first = self.measure(IDLE, "-o", path)
        self.assertEqual([tag for tag, _ in self.chunks(path)], ["CPIS"])
        again = self.run_program("cpi", "run", "--source", path, *self.quiet)
        self.assertEqual(again.out, first.out)
        with open(path, "rb") as file:
            second = file.read().index(b"snapshot 50")
        self.assert_error(again, 1, path, second, "pu_error_invalid_cpi_data")


class Stored(RunCase):
    """-o."""

    def setUp(self):
        super().setUp()
        self.path = os.path.join(self.folder, "kept.pfb")

    def keep(self, data, *options):
        """Measure and store; the chunks."""
        done = self.measure(data, "-o", self.path, *options)
        self.assertEqual((done.status, done.err), (0, ""))
        return self.chunks(self.path)

    def test_hooks(self):
        for data, expected, options in (
                (text(*TWO), c.group(3000000, c.ONE_TWO, "SD", True), ()),
                (text(*PHASE, widths=PHASE_WIDTHS),
                 c.group(8000, c.PHASE, "SD", True, text=b"phase-03",
                         minor=7), ("--minor", "7", "--label", "phase-03"))):
            found = self.keep(data, *options)
            self.assertEqual([tag for tag, _ in found[-2:]], ["CPIS", "CPIH"])
            self.assertEqual(found[-1][1], expected)

    def test_the_summary_of_the_worked_example(self):
        """Byte for byte, behind the hooks' 12 bytes of header each."""
        summary = bytes.fromhex(
            "6400c0000100001000000000030000000200000000000000c0c62d0002000000"
            "00000000010000000000000001000000050d000001000000881300004b000000"
            "0000000000000000d0070000140000000000000000000000bd1800002f000000"
            "88130000")
        (_, hooks) = self.keep(TWO)[-1]
        self.assertEqual(hooks[:100], summary)

    def test_replay(self):
        for data in (text(*TWO), text(*PHASE, widths=PHASE_WIDTHS),
                     text(*LARGE_BUSY)):
            if os.path.exists(self.path):
                os.remove(self.path)
            for form in ("text", "json"):
                first = self.measure(data, "-o", self.path, "--format", form)
                again = self.run_fine("cpi", "run", "--source", self.path,
                                      "--format", form, *self.quiet)
                self.assertEqual(again.out, first.out)

    def test_snapshots_as_they_were(self):
        """All numbers, in their order."""
        (_, body), _ = self.keep(text(*PHASE, widths=PHASE_WIDTHS))
        lines = [line for line in body.decode().split("\n")
                 if line and not line.startswith("#")]
        self.assertEqual(lines, text(*PHASE, widths=PHASE_WIDTHS).decode()
                         .split("\n")[:-1])

    def test_a_capture_is_continued_and_its_first_run_replayed(self):
        self.keep(TWO)
        self.keep(LARGE_BUSY)
        self.assertEqual([item["elapsed_cycles"] for item in
                          self.run_json("cpi", "show", self.path)],
                         [3000000, 12000000001])
        done = self.run_fine("cpi", "run", "--source", self.path, *self.quiet)
        self.assertEqual(done.out, TWO_PRINTED)

    def test_labels(self):
        for label in ("x", "a b\x1b[31m", "\u00e4" * 127, "l" * 255):
            self.keep(TWO, "--label", label, "--minor", "255")
            group = self.run_json("cpi", "show", self.path)[-1]
            self.assertEqual((group["label"], group["minor"]), (label, 255))

    def test_what_is_no_capture_is_left_alone(self):
        path = self.file("other", b"not a capture at all")
        done = self.measure(TWO, "-o", path)
        self.assertEqual((done.status, done.out), (3, TWO_PRINTED))
        with open(path, "rb") as file:
            self.assertEqual(file.read(), b"not a capture at all")

    @unittest.skipUnless(os.path.exists(FULL), "no /dev/full here")
    def test_full_disk(self):
        done = self.measure(TWO, "-o", FULL)
        self.assertEqual((done.status, done.out), (3, TWO_PRINTED))
        self.assertRegex(done.err, r"^/dev/full: [^\n]+\n$")


class Sources(RunCase):
    """Files that are no such snapshots, or not enough."""

    def assert_refused(self, data, offset, code, status=1, ran=False):
        """What it says; whether the command was run."""
        path = self.source(data)
        done = self.run_program("cpi", "run", "--source", path, "--",
                                *self.leaves)
        self.assert_error(done, status, path, offset, code)
        self.assertEqual(os.path.exists(self.made), ran)
        if ran:
            os.remove(self.made)
        else:
            self.assertEqual(done.out, "")

    def test_malformed(self):
        self.assert_refused(b"", 0, "unknown_format")
        self.assert_refused(b"anything\n", 0, "unknown_format")
        self.assert_refused(b"cpi-snapshots 2\n", 0, "unread_format")
        self.assert_refused(b"cpi-snapshots 1\nsnapshot\n", 16,
                            "bad_cpi_line")
        self.assert_refused(text(*TWO) + b"cpu 0 0 0 0 0\n", len(text(*TWO)),
                            "bad_cpi_line")

    def test_too_few(self):
        self.assert_refused(text(), len(text()),
                            "pu_error_read_performance_data")
        self.assert_refused(text(TWO[0]), len(text(TWO[0])),
                            "pu_error_read_performance_data", ran=True)

    def test_no_busy_clock(self):
        self.assert_refused(LARGE, LARGE.index(b"snapshot 6"),
                            "pu_error_event_not_supported")

    def test_captures(self):
        good = w.chunk(b"CPIS", text(*TWO))
        bad = w.chunk(b"CPIS", b"cpi-snapshots 1\nsnapshot x\n")
        self.assert_refused(w.recording(bad), 32 + 16, "bad_cpi_line")
        self.assert_refused(w.recording(good, bad),
                            16 + len(good) + 16 + 16, "bad_cpi_line")
        self.assert_refused(w.recording(good)[:-8], 16, "truncated_chunk")
        done = self.measure(w.recording(w.chunk(b"NOTE", b"nothing")))
        self.assertEqual((done.status, done.out), (1, ""))
        self.assertIn("no CPI snapshots", done.err)

    def test_captures_with_several_texts(self):
        """Their steps one after the other."""
        done = self.measure(w.recording(
            w.chunk(b"CPIS", text(TWO[0])), w.chunk(b"NOTE", b"a remark"),
            w.chunk(b"CPIS", text(TWO[1]))))
        self.assertEqual((done.status, done.out), (0, TWO_PRINTED))

    def test_files(self):
        for path in (os.path.join(self.folder, "missing"), self.folder):
            done = self.run_program("cpi", "run", "--source", path, "--",
                                    *self.leaves)
            self.assertEqual((done.status, done.out), (3, ""))
            self.assertTrue(done.err.startswith(path + ": "), done.err)
            self.assertFalse(os.path.exists(self.made))

    def test_refusals(self):
        """Those of another machine are told as if they were this one's."""
        sentence = "instructions: ENOENT"
        for code, name in ((-234, "pu_error_not_valid_in_vm"),
                           (-5, "pu_error_access_denied"),
                           (-210, "pu_error_not_supported")):
            path = self.source(text((code, sentence)))
            done = self.run_program("cpi", "run", "--source", path, "--",
                                    *self.leaves)
            self.assertEqual((done.status, done.out, done.err), (
                4, "", "%s: %s: %s\n" % (path, name, sentence)))
            self.assertFalse(os.path.exists(self.made))

    def test_a_refusal_at_the_end(self):
        done = self.measure([TWO[0], (-257, "the counters went")],
                            command=self.leaves)
        self.assertEqual(done.status, 4)
        self.assertIn(": pu_error_read_performance_data: the counters went\n",
                      done.err)
        self.assertTrue(os.path.exists(self.made))

    def test_hostile_files(self):
        """Every byte is somebody's: a status, and a sentence for each
        failure."""
        chance = random.Random(3)
        original = text(*PHASE, (-5, "no more"), widths=PHASE_WIDTHS)
        for _ in range(80):
            data = bytearray(original)
            for _ in range(chance.choice((1, 1, 2, 5))):
                at = chance.randrange(len(data))
                data[at:at + chance.randrange(3)] = bytes(
                    [chance.choice(b"09 \n\r\t#-cst\0\xff")])
            done = self.measure(bytes(data))
            self.assertIn(done.status, (0, 1, 4), bytes(data))
            self.assertEqual(done.err == "", done.status == 0, bytes(data))


class Commands(RunCase):
    """The command that runs meanwhile."""

    def test_its_output_stands_before_the_figures(self):
        done = self.measure(TWO, command=[self.command, "--version"])
        lines = done.out.split("\n", 1)
        self.assertRegex(lines[0], r"^perfblock \d")
        self.assertEqual(lines[1], TWO_PRINTED)

    def test_its_status(self):
        """Ours tells of the measurement."""
        command = [self.command, "nonsense"]
        done = self.measure(TWO, command=command)
        self.assertEqual((done.status, done.out), (0, TWO_PRINTED))
        self.assertTrue(done.err.endswith(
            self.command + ": ended with status 2\n"), done.err)
        done = self.measure(TWO, "--format", "json", command=command)
        self.assertEqual(done.objects(), expected_json(*TWO, status=2))

    def test_its_arguments(self):
        for argument in ('a "quoted" word', "back\\slash\\", 'b\\"', "*", " ",
                         '\\\\"x\\\\', "100 %", "--label", "\u00e4"):
            done = self.measure(TWO, command=[self.command, argument])
            self.assertTrue(done.err.startswith(
                "perfblock: %s: there is no such command" % argument),
                            done.err)
        empty = self.measure(TWO, command=[self.command, ""])
        self.assertIn("perfblock: : there is no such command", empty.err)

    def test_its_options_are_not_ours(self):
        path = self.source(TWO)
        for line in (["--", *self.leaves], self.leaves):
            done = self.run_program("cpi", "run", "--source", path, *line)
            self.assertEqual(done.status, 0)
            os.remove(self.made)

    def test_it_cannot_be_started(self):
        name = os.path.join(self.folder, "missing")
        for command, sentence in ((name, "No such file or directory"),
                                  ("there-is-no-such-command",
                                   "No such file or directory")):
            done = self.measure(TWO, "-o", self.made, command=[command])
            self.assertEqual((done.status, done.out, done.err), (
                3, "", "%s: %s\n" % (command, sentence)))
            self.assertFalse(os.path.exists(self.made))
        done = self.measure(TWO, command=[self.folder])
        self.assertEqual((done.status, done.out), (3, ""))

    @unittest.skipIf(ON_WINDOWS, "no signals there")
    def test_a_signal_ends_it(self):
        for number in (signal.SIGKILL, signal.SIGTERM):
            command = [sys.executable, "-c",
                       "import os; os.kill(os.getpid(), %d)" % number]
            done = self.measure(TWO, command=command)
            self.assertEqual((done.status, done.out, done.err), (
                0, TWO_PRINTED,
                "%s: ended by signal %d\n" % (command[0], number)))
            done = self.measure(TWO, "--format", "json", command=command)
            self.assertEqual([done.objects()[0][key] for key in (
                "command_status", "command_signal")], [None, number])

    @unittest.skipIf(ON_WINDOWS, "no signals there")
    def test_the_keyboard_is_its_own(self):
        for number in (signal.SIGINT, signal.SIGQUIT):
            done = self.measure(TWO, command=[
                sys.executable, "-c",
                "import os; os.kill(os.getppid(), %d)" % number])
            self.assertEqual((done.status, done.out, done.err),
                             (0, TWO_PRINTED, ""))

    @unittest.skipIf(ON_WINDOWS or not os.path.exists("/proc/self/status"),
                     "no such file there")
    def test_it_ignores_no_signal_on_our_account(self):
        command = ["cat", "/proc/self/status"]
        line = re.compile(r"(?m)^SigIgn:\s*(\w+)$")
        public = (1 << 31) - 1  # those above may be the C library's own

        def ignored(out):
            return int(line.search(out)[1], 16) & public
        alone = subprocess.run(command, check=True, timeout=SECONDS,
                               stdout=subprocess.PIPE).stdout.decode()
        self.assertEqual(ignored(self.measure(TWO, command=command).out),
                         ignored(alone))

    @unittest.skipUnless(os.path.exists(FULL), "no /dev/full here")
    def test_figures_for_a_full_disk(self):
        for form in ("text", "json"):
            with open(FULL, "wb") as full:
                done = running.finish(
                    [program(), "cpi", "run", "--format", form, "--source",
                     self.source(TWO), "--", *self.quiet], stdout=full,
                    timeout=SECONDS)
            self.assertEqual(done.returncode, 3)
            self.assertRegex(done.stderr.decode(),
                             r"^standard output: [^\n]+\n$")

    def test_figures_for_a_closed_pipe(self):
        for form in ("text", "json"):
            reader, writer = os.pipe()
            os.close(reader)
            with os.fdopen(writer, "wb") as pipe:
                done = running.finish(
                    [program(), "cpi", "run", "--format", form, "--source",
                     self.source(TWO), "--", *self.quiet], stdout=pipe,
                    timeout=SECONDS)
            self.assertEqual((done.returncode, done.stderr), (0, b""))


class Usage(RunCase):
    """What is refused before anything is read."""

    def refused(self, *arguments):
        """The sentence."""
        done = self.run_program("cpi", "run", *arguments)
        self.assertEqual((done.status, done.out), (2, ""), arguments)
        self.assertRegex(done.err, r"^perfblock: cpi run: [^\n]+\n$")
        self.assertFalse(os.path.exists(self.made))
        return done.err

    def test_refusals(self):
        for value in ("-1", "256", "x", "", "1.0", "99999999999999999999"):
            self.assertIn("0 to 255", self.refused("--minor", value, "--",
                                                   *self.leaves))
        for value in ("", "l" * 256, "\u00e4" * 128):
            self.assertIn("1 to 255 bytes", self.refused(
                "--label", value, "--", *self.leaves))
        self.assertIn("COMMAND", self.refused())
        self.assertIn("COMMAND", self.refused("--minor", "3", "--"))
        self.assertIn("standard output", self.refused("-o", "-", "--",
                                                      *self.leaves))
        for form in ("csv", "prometheus"):
            self.assertIn("--format", self.refused("--format", form, "--",
                                                   *self.leaves))
        self.assertIn("--count", self.refused("--count", "1", "--",
                                              *self.leaves))

    def test_the_least_and_the_most(self):
        for value in ("0", "255", "007"):
            self.assertEqual(self.measure(TWO, "--minor", value).status, 0)
        self.assertEqual(self.measure(TWO, "--label", "l" * 255).status, 0)


class Live(RunCase):
    """This machine: figures, or a refusal that names its reason."""

    REFUSAL = re.compile(r"^live: pu_error_[a-z_]+: \S[^\n]*\n$")

    def test_this_machine(self):
        kept = os.path.join(self.folder, "kept.pfb")
        done = self.run_program("cpi", "run", "--format", "json", "-o", kept,
                                "--", *self.quiet)
        if done.status == IMPOSSIBLE:
            print("refused: " + done.err.strip())
            self.assertRegex(done.err, self.REFUSAL)
            self.assertEqual(done.out, "")
            self.assertFalse(os.path.exists(kept))
            left = self.run_program("cpi", "run", "--", *self.leaves)
            self.assertEqual((left.status, left.out, left.err),
                             (IMPOSSIBLE, "", done.err))
            self.assertFalse(os.path.exists(self.made))
            return
        print("counted")
        self.assertEqual((done.status, done.err), (0, ""))
        total, *cpus = done.objects()
        self.assertEqual(total["num_cpus"], len(cpus))
        self.assertGreater(total["system"]["instr"], 100000)
        for item in (total["system"], *cpus):
            if item["raw_cpi"] is not None:
                self.assertTrue(0 <= item["scaled_cpi"] <= item["raw_cpi"])
                self.assertGreater(item["raw_cpi"], 0.05)
            if item["busy_percent"] is not None:
                self.assertTrue(0 <= item["busy_percent"] <= 100)
        again = self.run_json("cpi", "run", "--source", kept, "--",
                              *self.quiet)
        for item in cpus:
            item["unhalted_cycles"] = None  # no part of a snapshot
        self.assertEqual(again, [total, *cpus])


if __name__ == "__main__":
    unittest.main()
