# SPDX-License-Identifier: MIT
"""perfblock cpi run with recorded snapshots as the source: printed figures,
stored results and their replay, and refusals. The last test runs it on this
machine."""

import os
import random
import re
import unittest

from program import FULL, IMPOSSIBLE, ON_WINDOWS, STEP, bytes_of, writer as w
from cpi_runs import (IDLE, IDLE_PRINTED, LARGE, LARGE_BUSY, LARGE_BUSY_PRINTED,
                      PHASE, PHASE_PRINTED, PHASE_WIDTHS, TWO, TWO_PRINTED,
                      RunCase, expected_json, snapshot, text)

import cpi_figures as f
import cpi_writer as c


class Figures(RunCase):
    """The figures that cpi run prints."""

    EXAMPLES = ((text(*TWO), TWO_PRINTED),
                (text(*LARGE_BUSY), LARGE_BUSY_PRINTED),
                (text(*PHASE, widths=PHASE_WIDTHS), PHASE_PRINTED))

    def test_tables(self):
        """The worked examples give the printed tables."""
        for data, printed in self.EXAMPLES:
            done = self.measure(data)
            self.assertEqual((done.status, done.out, done.err),
                             (0, printed, ""))

    def test_json(self):
        """The records of the worked examples are those computed with
        fractions."""
        for steps, widths in ((TWO, None), (LARGE_BUSY, None),
                              (PHASE, PHASE_WIDTHS)):
            done = self.measure(text(*steps, widths=widths), "--format",
                                "json")
            self.assertEqual((done.status, done.err), (0, ""))
            self.assertEqual(done.objects(), expected_json(
                *steps, widths or (64, 64)))

    def test_doubles_of_the_worked_example(self):
        """Doubles of the first worked example to the last bit."""
        records = self.measure(TWO, "--format", "json").objects()
        self.assertEqual(
            [(item["raw_cpi"], item["scaled_cpi"], item["busy_percent"])
             for item in (records[0]["system"], *records[1:])],
            [(1.3332977787259006, 0.6333164448948028, 47.5),
             (2.0, 1.5, 75.0), (0.999960001599936, 0.1999920003199872, 20.0)])

    def test_any_counts(self):
        """Random snapshots, whose figures have most statuses, compared with
        exact fractions."""
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

    def test_1024_cpus_exceed_the_limit_of_the_facility(self):
        """More CPUs than the facility supports are refused before the command
        runs."""
        many = [snapshot(clock, *((n, clock, clock, clock, clock)
                                  for n in range(1024)))
                for clock in (0, 10)]
        done = self.measure(many, command=self.creating)
        self.assertEqual((done.status, done.out), (1, ""))
        self.assertIn(": pu_error_insufficient_resources: ", done.err)
        self.assertFalse(os.path.exists(self.made))

    def test_128_cpus(self):
        """128 CPUs, the facility's limit, are measured and stored."""
        many = [snapshot(clock, *((8 * n, n * clock, clock, clock, clock)
                                  for n in range(128)))
                for clock in (0, 10)]
        path = os.path.join(self.folder, "stored.pfb")
        done = self.measure(many, "--format", "json", "-o", path)
        self.assertEqual((done.status, done.objects()),
                         (0, expected_json(*many)))
        (group,) = self.run_json("cpi", "show", path)
        self.assertEqual(group["num_cpus"], 128)

    def test_sums_of_more_than_64_bits(self):
        """If a sum over all CPUs exceeds 64 bits, the figures are printed, but
        no hooks are written, because they store sums in 64 bits."""
        half = 1 << 63
        steps = (snapshot(0, (0, 0, 0, 0, 0), (1, 0, 0, 0, 0)),
                 snapshot(9, (0, half, half, 1, 2), (1, half, half, 1, 2)))
        done = self.measure(steps, "--format", "json")
        self.assertEqual((done.status, done.err), (0, ""))
        self.assertEqual(done.objects(), expected_json(*steps))
        system = done.objects()[0]["system"]
        self.assertEqual((system["status"], system["instr"]),
                         ("overflow", (1 << 64) - 1))
        path = os.path.join(self.folder, "stored.pfb")
        stored = self.measure(steps, "--format", "json", "-o", path)
        self.assertEqual(stored.out, done.out)
        self.assert_error(stored, 1, os.path.join(self.folder, "source"),
                          text(*steps).index(b"snapshot 9"),
                          "pu_error_invalid_cpi_data")
        self.assertIn("hooks", stored.err)
        self.assertEqual([tag for tag, _ in self.chunks(path)], ["CPIS"])

    def test_from_standard_input(self):
        """Snapshots may come from standard input."""
        done = self.run_program("cpi", "run", "--source", "-", *self.quiet,
                                stdin=text(*TWO))
        self.assertEqual((done.status, done.out), (0, TWO_PRINTED))


class Undefined(RunCase):
    """Intervals for which figures are undefined."""

    def test_nothing_executed(self):
        """Without instructions the table has n/a; the error is at the second
        snapshot."""
        done = self.measure(IDLE)
        self.assertEqual(done.out, IDLE_PRINTED)
        path = os.path.join(self.folder, "source")
        second = text(*IDLE).index(b"snapshot 50")
        self.assert_error(done, 1, path, second, "pu_error_invalid_cpi_data")

    def test_nothing_executed_json(self):
        """Without instructions the records have null figures and their
        statuses."""
        done = self.measure(IDLE, "--format", "json")
        self.assertEqual(done.objects(), expected_json(*IDLE))
        self.assertEqual([item["status"] for item in done.objects()[1:]],
                         ["no_instr", "no_elapsed"])

    def test_clock_backward(self):
        """If the clock of the second snapshot is before that of the first,
        nothing is printed."""
        steps = (snapshot(10, (0, 0, 0, 0, 0)), snapshot(9, (0, 1, 1, 1, 1)))
        done = self.measure(steps)
        self.assertEqual(done.out, "")
        self.assert_error(done, 1, os.path.join(self.folder, "source"),
                          text(*steps).index(b"snapshot 9"),
                          "pu_error_invalid_cpi_data")

    def test_replaying_a_stored_failure_fails_again(self):
        path = os.path.join(self.folder, "stored.pfb")
        first = self.measure(IDLE, "-o", path)
        self.assertEqual([tag for tag, _ in self.chunks(path)], ["CPIS"])
        replay = self.run_program("cpi", "run", "--source", path, *self.quiet)
        self.assertEqual(replay.out, first.out)
        second = bytes_of(path).index(b"snapshot 50")
        self.assert_error(replay, 1, path, second, "pu_error_invalid_cpi_data")


class Stored(RunCase):
    """Results that -o stores."""

    def setUp(self):
        super().setUp()
        self.path = os.path.join(self.folder, "stored.pfb")

    def store(self, data, *options):
        """Measures with -o and returns the chunks of the stored capture."""
        done = self.measure(data, "-o", self.path, *options)
        self.assertEqual((done.status, done.err), (0, ""))
        return self.chunks(self.path)

    def test_hooks(self):
        """The stored hooks are those that cpi_writer.py makes of the same
        counts, with the options --minor and --label."""
        for data, expected, options in (
                (text(*TWO), c.group(3000000, c.ONE_TWO, "SD", True), ()),
                (text(*PHASE, widths=PHASE_WIDTHS),
                 c.group(8000, c.PHASE, "SD", True, text=b"phase-03",
                         minor=7), ("--minor", "7", "--label", "phase-03"))):
            found = self.store(data, *options)
            self.assertEqual([tag for tag, _ in found[-2:]], ["CPIS", "CPIH"])
            self.assertEqual(found[-1][1], expected)

    def test_the_summary_of_the_worked_example(self):
        """The bytes of the first hook of the worked example."""
        summary = bytes.fromhex(
            "6400c0000100001000000000030000000200000000000000c0c62d0002000000"
            "00000000010000000000000001000000050d000001000000881300004b000000"
            "0000000000000000d0070000140000000000000000000000bd1800002f000000"
            "88130000")
        (_, hooks) = self.store(TWO)[-1]
        self.assertEqual(hooks[:100], summary)

    def test_replay(self):
        """A replay of the stored capture prints the same as the measurement.
        """
        for data in (text(*TWO), text(*PHASE, widths=PHASE_WIDTHS),
                     text(*LARGE_BUSY)):
            if os.path.exists(self.path):
                os.remove(self.path)
            for form in ("text", "json"):
                first = self.measure(data, "-o", self.path, "--format", form)
                replay = self.run_fine("cpi", "run", "--source", self.path,
                                       "--format", form, *self.quiet)
                self.assertEqual(replay.out, first.out)

    def test_snapshots_are_stored_unchanged(self):
        """The stored text has the lines of the source; comments may differ."""
        (_, body), _ = self.store(text(*PHASE, widths=PHASE_WIDTHS))
        lines = [line for line in body.decode().split("\n")
                 if line and not line.startswith("#")]
        self.assertEqual(lines, text(*PHASE, widths=PHASE_WIDTHS).decode()
                         .split("\n")[:-1])

    def test_appending_keeps_the_first_run_as_the_replayed_one(self):
        self.store(TWO)
        self.store(LARGE_BUSY)
        self.assertEqual([item["elapsed_cycles"] for item in
                          self.run_json("cpi", "show", self.path)],
                         [3000000, 12000000001])
        done = self.run_fine("cpi", "run", "--source", self.path, *self.quiet)
        self.assertEqual(done.out, TWO_PRINTED)

    def test_labels(self):
        """Labels of up to 255 bytes are stored unchanged."""
        for label in ("x", "a b\x1b[31m", "\u00e4" * 127, "l" * 255):
            self.store(TWO, "--label", label, "--minor", "255")
            group = self.run_json("cpi", "show", self.path)[-1]
            self.assertEqual((group["label"], group["minor"]), (label, 255))

    def test_an_unwritable_file_is_reported_first(self):
        """An unwritable file is reported before the command runs."""
        for data in (b"not a capture at all",
                     w.recording(w.chunk(b"XXXX", b"cut"))[:-1]):
            path = self.file("other", data)
            done = self.measure(TWO, "-o", path, command=self.creating)
            self.assertEqual((done.status, done.out), (3, ""))
            self.assertRegex(done.err, r"^[^\n]*other: [^\n]+\n$")
            self.assertEqual(bytes_of(path), data)
            self.assertFalse(os.path.exists(self.made))
        for path in (self.folder, os.path.join(self.folder, "no", "file")):
            done = self.measure(TWO, "-o", path, command=self.creating)
            self.assertEqual((done.status, done.out), (3, ""))
            self.assertFalse(os.path.exists(self.made))

    def test_an_output_file_without_results_is_removed(self):
        """If there are no results, an output file that cpi run created is
        removed. An empty file that existed before is not."""
        for steps in ([TWO[0]], [TWO[0], (-257, "the counters went")]):
            self.assertNotEqual(self.measure(steps, "-o",
                                             self.path).status, 0)
            self.assertFalse(os.path.exists(self.path))
        path = self.file("empty.pfb", b"")
        self.assertNotEqual(self.measure([TWO[0]], "-o", path).status, 0)
        self.assertEqual(bytes_of(path), b"")

    @unittest.skipIf(ON_WINDOWS, "Windows cannot replace an open file")
    def test_a_file_replaced_by_the_command_is_not_removed(self):
        """If there are no results, but the command replaced the output file,
        the replacement is not removed."""
        other = self.file("other", b"")
        done = self.measure([TWO[0]], "-o", self.path,
                            command=["mv", other, self.path])
        self.assertEqual(done.status, 1)
        self.assertEqual(bytes_of(self.path), b"")

    def test_the_command_stores_in_the_same_file(self):
        """If the measured command stores in the same file, it is refused,
        because the file is locked."""
        inner = [self.command, "cpi", "run", "--source", self.source(
            LARGE_BUSY, "inner"), "-o", self.path, "--", *self.quiet]
        done = self.measure(TWO, "-o", self.path, command=inner)
        self.assertEqual((done.status, done.err.splitlines()), (0, [
            self.path + ": is being written by another process",
            self.command + ": ended with status 3"]))
        self.assertEqual([tag for tag, _ in self.chunks(self.path)],
                         ["CPIS", "CPIH"])

    @unittest.skipUnless(os.path.exists(FULL), "no /dev/full here")
    def test_full_disk(self):
        """If the capture cannot be written, the figures are printed and the
        status is 3."""
        done = self.measure(TWO, "-o", FULL)
        self.assertEqual((done.status, done.out), (3, TWO_PRINTED))
        self.assertRegex(done.err, r"^/dev/full: [^\n]+\n$")


class Sources(RunCase):
    """Captures as sources, and sources without usable snapshots."""

    def assert_refused(self, data, offset, code, status=1, has_run=False):
        """Asserts that a source with this data is refused, and that the
        command was run only if `has_run` is true."""
        path = self.source(data)
        done = self.run_program("cpi", "run", "--source", path, "--",
                                *self.creating)
        self.assert_error(done, status, path, offset, code)
        self.assertEqual(os.path.exists(self.made), has_run)
        if has_run:
            os.remove(self.made)
        else:
            self.assertEqual(done.out, "")

    def test_malformed(self):
        """Malformed snapshots are refused before the command runs."""
        self.assert_refused(b"", 0, "unknown_format")
        self.assert_refused(b"anything\n", 0, "unknown_format")
        self.assert_refused(b"cpi-snapshots 2\n", 0, "unread_format")
        self.assert_refused(b"cpi-snapshots 1\nsnapshot\n", 16,
                            "bad_cpi_line")
        self.assert_refused(text(*TWO) + b"cpu 0 0 0 0 0\n", len(text(*TWO)),
                            "bad_cpi_line")

    def test_too_few(self):
        """No snapshot is an error before the command runs, a single one after
        it."""
        self.assert_refused(text(), len(text()),
                            "pu_error_read_performance_data")
        self.assert_refused(text(TWO[0]), len(text(TWO[0])),
                            "pu_error_read_performance_data", has_run=True)

    def test_no_busy_clock(self):
        """Snapshots without a busy clock are refused, because busy percentages
        need it."""
        self.assert_refused(LARGE, LARGE.index(b"snapshot 6"),
                            "pu_error_event_not_supported")

    def test_captures(self):
        """Errors in snapshots of captures have offsets of the file."""
        good = w.chunk(b"CPIS", text(*TWO))
        bad = w.chunk(b"CPIS", b"cpi-snapshots 1\nsnapshot x\n")
        self.assert_refused(w.recording(bad), 32 + 16, "bad_cpi_line")
        self.assert_refused(w.recording(good, bad),
                            16 + len(good) + 16 + 16, "bad_cpi_line")
        self.assert_refused(w.recording(good)[:-8], 16, "truncated_chunk")
        done = self.measure(w.recording(w.chunk(b"NOTE", b"nothing")))
        self.assertEqual((done.status, done.out), (1, ""))
        self.assertIn("no CPI snapshots", done.err)

    def test_captures_of_a_later_version(self):
        """If all snapshots are of a later version, the error says so, not that
        there are none. Otherwise a note says how many were skipped."""
        later = w.chunk(b"CPIS", b"anything", version=2)
        good = w.chunk(b"CPIS", text(*TWO))
        done = self.measure(w.recording(later))
        self.assertEqual((done.status, done.out), (1, ""))
        self.assertIn("of a later version", done.err)
        self.assertNotIn("no CPI snapshots", done.err)
        done = self.measure(w.recording(good, later, later))
        self.assertEqual((done.status, done.out), (0, TWO_PRINTED))
        self.assertEqual(done.err, "%s: offset %d: note: CPI snapshots of a "
                         "later version were skipped: 2 chunks\n" % (
                             os.path.join(self.folder, "source"),
                             16 + len(good)))

    def test_captures_with_several_texts(self):
        """The steps of all texts are concatenated."""
        done = self.measure(w.recording(
            w.chunk(b"CPIS", text(TWO[0])), w.chunk(b"NOTE", b"a remark"),
            w.chunk(b"CPIS", text(TWO[1]))))
        self.assertEqual((done.status, done.out), (0, TWO_PRINTED))

    def test_files(self):
        """Files that cannot be read are reported with status 3."""
        for path in (os.path.join(self.folder, "missing"), self.folder):
            done = self.run_program("cpi", "run", "--source", path, "--",
                                    *self.creating)
            self.assertEqual((done.status, done.out), (3, ""))
            self.assertTrue(done.err.startswith(path + ": "), done.err)
            self.assertFalse(os.path.exists(self.made))

    def test_refusals(self):
        """A refusal that was recorded is reported like one of this machine."""
        sentence = "instructions: ENOENT"
        for code, name in ((-234, "pu_error_not_valid_in_vm"),
                           (-5, "pu_error_access_denied"),
                           (-210, "pu_error_not_supported")):
            path = self.source(text((code, sentence)))
            done = self.run_program("cpi", "run", "--source", path, "--",
                                    *self.creating)
            self.assertEqual((done.status, done.out, done.err), (
                4, "", "%s: %s: %s\n" % (path, name, sentence)))
            self.assertFalse(os.path.exists(self.made))

    def test_a_refusal_at_the_end(self):
        """A refusal instead of the second snapshot is reported after the
        command has run."""
        done = self.measure([TWO[0], (-257, "the counters went")],
                            command=self.creating)
        self.assertEqual(done.status, 4)
        self.assertIn(": pu_error_read_performance_data: the counters went\n",
                      done.err)
        self.assertTrue(os.path.exists(self.made))

    def test_hostile_files(self):
        """Each mutated source gives one of the documented exit statuses, and a
        message if the status is not 0."""
        chance = random.Random(3)
        original = text(*PHASE, (-5, "no more"), widths=PHASE_WIDTHS)
        for _ in range(80 // STEP):
            data = bytearray(original)
            for _ in range(chance.choice((1, 1, 2, 5))):
                at = chance.randrange(len(data))
                data[at:at + chance.randrange(3)] = bytes(
                    [chance.choice(b"09 \n\r\t#-cst\0\xff")])
            done = self.measure(bytes(data))
            self.assertIn(done.status, (0, 1, 4), bytes(data))
            self.assertEqual(done.err == "", done.status == 0, bytes(data))


class Usage(RunCase):
    """Command lines that are refused before the source is read."""

    def refused(self, *arguments):
        """The message of a refused command line."""
        done = self.run_program("cpi", "run", *arguments)
        self.assertEqual((done.status, done.out), (2, ""), arguments)
        self.assertRegex(done.err, r"^perfblock: cpi run: [^\n]+\n$")
        self.assertFalse(os.path.exists(self.made))
        return done.err

    def test_refusals(self):
        """Values out of range, missing words and options without effect are
        refused."""
        for value in ("-1", "256", "x", "", "1.0", "99999999999999999999"):
            self.assertIn("0 to 255", self.refused("--minor", value, "--",
                                                   *self.creating))
        for value in ("", "l" * 256, "\u00e4" * 128):
            self.assertIn("1 to 255 bytes", self.refused(
                "--label", value, "--", *self.creating))
        self.assertIn("COMMAND", self.refused())
        self.assertIn("COMMAND", self.refused("--minor", "3", "--"))
        self.assertIn("standard output", self.refused("-o", "-", "--",
                                                      *self.creating))
        for form in ("csv", "prometheus"):
            self.assertIn("--format", self.refused("--format", form, "--",
                                                   *self.creating))
        self.assertIn("--count", self.refused("--count", "1", "--",
                                              *self.creating))

    def test_smallest_and_largest_values(self):
        """The limits of --minor and --label are accepted."""
        for value in ("0", "255", "007"):
            self.assertEqual(self.measure(TWO, "--minor", value).status, 0)
        self.assertEqual(self.measure(TWO, "--label", "l" * 255).status, 0)


class Live(RunCase):
    """This machine: cpi run prints figures, or the reason why it cannot."""

    REFUSAL = re.compile(r"^live: pu_error_[a-z_]+: \S[^\n]*\n$")

    def test_this_machine(self):
        """A machine with counters prints plausible figures; another one prints
        why it has none."""
        path = os.path.join(self.folder, "stored.pfb")
        done = self.run_program("cpi", "run", "--format", "json", "-o", path,
                                "--", *self.quiet)
        if done.status == IMPOSSIBLE:
            print("refused: " + done.err.strip())
            self.assertRegex(done.err, self.REFUSAL)
            self.assertEqual(done.out, "")
            self.assertFalse(os.path.exists(path))
            refused = self.run_program("cpi", "run", "--", *self.creating)
            self.assertEqual((refused.status, refused.out, refused.err),
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
        replay = self.run_json("cpi", "run", "--source", path, "--",
                               *self.quiet)
        for item in cpus:
            item["unhalted_cycles"] = None  # not part of a snapshot
        self.assertEqual(replay, [total, *cpus])


if __name__ == "__main__":
    unittest.main()
