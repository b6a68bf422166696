# SPDX-License-Identifier: MIT
"""live, record and countersets with captures and with this machine."""

import array
import csv
import io
import os
import signal
import subprocess
import sys
import time
import unittest

if os.name != "nt":
    import fcntl
    import termios

import captures
import pages
from captures import PROCESSOR
from program import (FULL, SECONDS, Case, LiveCase, bytes_of, program,
                     seed, writer as w)

F_SETPIPE_SZ = 1031  # fcntl: the size of a pipe (Python 3.10 names it)
OTHER = "3f1c0c4e-5d1b-4a53-9c2e-0a1b2c3d4e5f"
CAPTURE = seed("capture", "valid_processor_information.pfb")


def without_sample(item):
    """A JSON record without the number of its sample."""
    return {key: item[key] for key in item if key != "sample"}


class Live(Case):
    """live of a machine with the data of a recording."""

    def test_same_values_as_cook(self):
        """live shows what cook shows, except the first sample, which only
        serves to compute the values of the second."""
        cooked = [i for i in self.run_json("cook", CAPTURE) if i["sample"]]
        self.assertEqual(self.live(CAPTURE), cooked)
        self.assertEqual({i["sample"] for i in cooked}, {1})

    def test_output_to_a_file(self):
        """-o writes what standard output gets, and replaces a file once
        there is something to write."""
        path = self.file("a", b"old" * 10**5)
        done = self.run_live(CAPTURE, "--set", "Nothing", "-o", path)
        self.assertEqual(done.status, 2)
        self.assertEqual(bytes_of(path), b"old" * 10**5)
        for form in ("text", "json", "csv", "pdh-csv", "pdh-tsv"):
            shown = self.run_live(CAPTURE, "-f", form)
            done = self.run_live(CAPTURE, "-f", form, "-o", path)
            self.assertEqual((done.out, shown.status, done.status), ("", 0, 0))
            with open(path, encoding="utf-8", newline="") as file:
                self.assertEqual(file.read(), shown.out, form)
        for form in ("json", "prometheus"):
            done = self.run_live(CAPTURE, "--paths", path, "-f", form, "-o",
                                 path)
            self.assertEqual((done.status, done.out), (2, ""))
            self.assertIn("is an input", done.err)

    def test_counters(self):
        """--counter takes names in any case, and ids; each counter is shown
        once."""
        for filters in (["--counter", "% User Time"], ["--counter", "1"],
                        ["--counter", "% user TIME", "--counter", "1"]):
            items = self.live(CAPTURE, *filters)
            self.assertEqual({i["counter_id"] for i in items}, {1})
            self.assertEqual(len(items), 4)

    def test_counters_needed_only_by_formulas_are_not_shown(self):
        """The base of a selected counter is used but not shown."""
        items = self.live(CAPTURE, "--counter", "% Processor Utility")
        self.assertEqual({(i["counter_id"], i["status"]) for i in items},
                         {(26, "ok")})
        self.assertEqual({i["base"] for i in items}, {1250000})

    def test_instances(self):
        """--instance takes names in any case, and patterns."""
        names = {i["instance"] for i in self.live(CAPTURE, "--instance",
                                                  "0,*")}
        self.assertEqual(names, {"0,0", "0,1", "0,_Total"})
        names = {i["instance"] for i in self.live(CAPTURE, "--instance",
                                                  "_tot*")}
        self.assertEqual(names, {"_Total"})

    def test_sets(self):
        """--set takes a name in any case or a GUID, and may be repeated."""
        expected = self.live(CAPTURE)
        for name in ("Processor Information", "processor information",
                     PROCESSOR, "{" + PROCESSOR.upper() + "}"):
            self.assertEqual(self.live(CAPTURE, "--set", name), expected)
        path = seed("capture", "valid_two_sets.pfb")
        both = self.live(path, "--set", "Plain", "--set", "second")
        self.assertEqual({i["set"] for i in both}, {"Plain", "Second"})
        one = self.live(path, "--set", "Second")
        self.assertEqual({i["set"] for i in one}, {"Second"})

    def test_unknown_names(self):
        """A name that nothing has is refused and named in the message."""
        for arguments in (["--set", "Nothing"], ["--counter", "Nothing"],
                          ["--counter", "999"], ["--instance", "nothing*"],
                          ["--set", OTHER], ["--instance", "n" * 2000]):
            done = self.run_live(CAPTURE, *arguments)
            self.assertEqual((done.status, done.out), (2, ""), arguments)
            self.assertIn(arguments[1][:100], done.err)  # long names are cut

    def test_a_malformed_reply(self):
        """The values before the error are shown. The error has its offset in
        the reply. Later samples follow."""
        good = [captures.data(number, captures.instances_result(
            [0], [(0, "0,0", [2500000 * number])])) for number in range(5)]
        bad = w.reply(w.result(w.INSTANCES, w.v8(1), size=10 ** 6))
        path = self.file("a.pfb", w.recording(
            w.chunk(b"QINF", w.identifier(PROCESSOR, name="*")), *good[:2],
            w.chunk(b"DATA", bad), *good[2:]))
        done = self.run_live(path, "-f", "json", count=4)
        self.assert_error(done, 1, "live", 48 + 8, "bad_result_size")
        self.assertEqual([i["raw"] for i in done.objects()],
                         [2500000, 5000000, 7500000])

    def test_formats(self):
        """Text fits the terminal; CSV has the same samples."""
        text = self.run_live(CAPTURE, columns=70)
        self.assertLessEqual(max(map(len, text.lines())), 70)
        self.assertRegex(text.out, r"(?m)^Processor Information, sample 1, "
                         r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} ")
        rows = csv.DictReader(io.StringIO(self.run_live(
            CAPTURE, "--format", "csv").out))
        self.assertEqual({row["sample"] for row in rows}, {"1"})

    def test_the_end_of_the_data(self):
        """A source that fails ends live: what was shown remains, the status is
        4."""
        done = self.run_live(CAPTURE, "-f", "csv", count=9)
        self.assertEqual((done.status, done.out),
                         (4, self.run_live(CAPTURE, "-f", "csv").out))
        self.assertRegex(done.err, "^live: [^\n]+\n$")


class Input(Case):
    """The input live, and cook without an input."""

    def test_without_an_input(self):
        """cook then prints the values of this machine once."""
        expected = self.live(CAPTURE)
        self.assertEqual(self.run_json("cook", "-i", "0.01", machine=CAPTURE),
                         expected)
        done = self.run_program("cook", "-i", "0.01", "-n", "2",
                                machine=CAPTURE)
        self.assertEqual(done.status, 4)  # it has two samples only

    def test_cook(self):
        """`cook live` is `live`."""
        for form in ("text", "json", "csv", "pdh-csv", "prometheus"):
            done = self.run_program("cook", "live", "-i", "0.01", "-n", "1",
                                    "-f", form, machine=CAPTURE)
            self.assertEqual((done.status, done.err), (0, ""))
            self.assertEqual(done.out, self.run_live(CAPTURE, "-f", form).out)

    def test_summary(self):
        """--summary has the values of the printed samples."""
        rows = self.run_json("cook", "--summary", "-i", "0.01",
                             machine=CAPTURE)
        self.assertEqual(
            sorted(row["last"] for row in rows if row["count"]),
            sorted(i["value"] for i in self.live(CAPTURE)
                   if i["status"] == "ok"))

    def test_the_name_of_a_file(self):
        """A file called live is read as ./live."""
        os.symlink(CAPTURE, os.path.join(self.folder, "live"))
        self.assertEqual(
            self.run_json("cook", "./live", cwd=self.folder),
            self.run_json("cook", CAPTURE))

    def test_report(self):
        """A page has the samples that live prints."""
        done = self.run_program("report", "live", "-i", "0.01", "-n", "1",
                                machine=CAPTURE)
        self.assertEqual((done.status, done.err), (0, ""))
        self.assertEqual(pages.Report(done.out).facts()["Samples"], "1")


class Record(Case):
    """record of a machine with the data of a recording."""

    def record(self, path, *arguments, source=CAPTURE, count=2):
        """Records from a machine into a file."""
        done = self.run_record(source, path, *arguments, count=count)
        self.assertEqual((done.status, done.err), (0, ""))

    def test_round_trip(self):
        """A recording has the values of the machine, and as many chunks of
        each kind as the recording with its data."""
        path = os.path.join(self.folder, "new.pfb")
        self.record(path)
        self.assertEqual(self.run_json("cook", path),
                         self.run_json("cook", CAPTURE))
        tags = [sorted(item["tag"] for item in self.run_json("show", name)
                       if item["record"] == "chunk")
                for name in (CAPTURE, path)]
        self.assertEqual(tags[1], tags[0])

    def test_count(self):
        """--count limits the number of recorded samples."""
        path = os.path.join(self.folder, "new.pfb")
        self.record(path, count=1)
        self.assertEqual({i["sample"] for i in self.run_json("cook", path)},
                         {0})

    def test_continues(self):
        """Recording into an existing capture appends to it. The samples are
        the same again, so the second part does not continue the first one."""
        path = os.path.join(self.folder, "new.pfb")
        self.record(path)
        once = self.run_json("cook", path)
        first = bytes_of(path)
        self.record(path)
        self.assertTrue(bytes_of(path).startswith(first))
        done = self.run_program("cook", path, "--format", "json")
        self.assertIn("the time runs backwards", done.err)
        items = done.objects()
        self.assertEqual({i["sample"] for i in items}, {0, 1, 2, 3})
        self.assertEqual([without_sample(i) for i in items[:len(once)]],
                         [without_sample(i) for i in once])
        self.assertEqual([without_sample(i) for i in items[len(once):]],
                         [without_sample(i) for i in once])

    def test_empty_file_is_used(self):
        """An empty file becomes a capture."""
        path = self.file("a.pfb", b"")
        self.record(path)
        self.run_fine("check", path)

    def test_files_that_are_not_captures_are_not_changed(self):
        content = b"something else"
        path = self.file("a.pfb", content)
        done = self.run_record(CAPTURE, path)
        self.assertEqual((done.status, done.out), (3, ""))
        self.assertTrue(done.err.startswith(path + ": "))
        self.assertEqual(bytes_of(path), content)

    def test_paths_that_cannot_be_written(self):
        """Folders, missing folders and full disks are reported with status 3.
        """
        places = ["/nonexistent/a.pfb", self.folder]
        if os.path.exists(FULL):
            places.append(FULL)
        for path in places:
            done = self.run_record(CAPTURE, path)
            self.assertEqual(done.status, 3)
            self.assertRegex(done.err, "^%s: [^\n]+\n$" % path)

    def test_no_file_remains_if_nothing_is_collected(self):
        """A recording without samples leaves no file; -o takes no "-"."""
        path = os.path.join(self.folder, "new.pfb")
        done = self.run_record(CAPTURE, path, "--set", "Nothing")
        self.assertEqual(done.status, 2)
        self.assertFalse(os.path.exists(path))
        self.assertEqual(self.run_program("record", "-o", "-").status, 2)

    def test_every_set_keeps_its_metadata(self):
        source = seed("capture", "valid_two_sets.pfb")
        path = os.path.join(self.folder, "new.pfb")
        cooked = self.run_json("cook", source)
        names = {i["set"] for i in cooked}
        self.assertEqual(len(names), 2)
        self.record(path, *(word for guid in {i["guid"] for i in cooked}
                            for word in ("--set", guid)), source=source)
        self.assertEqual(sorted(self.run_json("cook", path), key=str),
                         sorted(cooked, key=str))
        for name in names - {None}:
            os.remove(path)
            self.record(path, "--set", name, source=source)
            self.assertEqual(self.run_json("cook", path),
                             [i for i in cooked if i["set"] == name])


class Countersets(Case):
    """countersets with captures."""

    def test_json(self):
        """The records of a set and of its counters."""
        items = self.run_json("countersets", "--source", CAPTURE)
        self.assertEqual(items[0], {
            "record": "counterset", "guid": PROCESSOR,
            "name": "Processor Information", "instance_type": 2,
            "counters": 9})
        self.assertEqual(len(items), 10)
        utility = [i for i in items[1:] if i["id"] == 26][0]
        self.assertEqual((utility["record"], utility["set"], utility["name"],
                          utility["type"], utility["base"]),
                         ("counter", "Processor Information",
                          "% Processor Utility", "PERF_AVERAGE_BULK", 27))

    def test_catalog_and_unknown(self):
        """A set that the capture only names has the counters of the catalog,
        if the catalog has the set."""
        data = w.recording(
            w.registration_chunk(PROCESSOR, 3, w.string("Renamed")),
            w.registration_chunk(OTHER, 4, w.string("help")))
        items = self.run_json("countersets", "--source", self.file("a", data))
        sets = {i["guid"]: i for i in items if i["record"] == "counterset"}
        self.assertEqual(sets[PROCESSOR]["name"], "Renamed")
        self.assertEqual(sets[PROCESSOR]["counters"], 31)
        self.assertEqual((sets[OTHER]["name"], sets[OTHER]["counters"]),
                         (None, None))

    def test_errors(self):
        """Broken metadata and a truncation are both reported."""
        data = w.recording(w.registration_chunk(OTHER, 1, b"x"))
        path = self.file("a", data + b"cut")
        done = self.run_program("countersets", "--source", path)
        self.assertEqual(done.status, 1)
        self.assertEqual(done.errors(), [
            (path, 56, "truncated_header"),
            (path, len(data), "truncated_chunk")])
        self.assertEqual(self.run_program("countersets", "--source",
                                          "/nonexistent").status, 3)

    def test_many_sets(self):
        """A file with 30,000 sets is read within the time limit."""
        chunks = b"".join(w.registration_chunk(
            "00000000-0000-0000-0000-%012x" % n, 3, w.string("x"))
            for n in range(30000))
        items = self.run_json("countersets", "--source", self.file(
            "a", w.recording(chunks)))
        self.assertEqual(len(items), 30000)

    def named(self, *names):
        """The JSON records of countersets with these names."""
        data = captures.three_sets()[16:]
        helps = [(captures.DISK, 4, w.string("about disks")),
                 (captures.DISK, 6, w.string_block([(2, "bytes written")]))]
        path = self.file("a.pfb", w.recording(
            *[w.registration_chunk(*row) for row in helps], data))
        return self.run_json("countersets", "--source", path, *names)

    def test_names(self):
        """countersets with names prints only these sets, with help texts and
        instances."""
        every = self.named()
        self.assertEqual(len(every), 3 + 2 + 2 + 1)
        self.assertFalse([i for i in every if "help" in i])
        found = self.named("alpha d*")
        self.assertEqual([i["record"] for i in found],
                         ["counterset"] + 2 * ["counter"] + 3 * ["instance"])
        self.assertEqual([i["help"] for i in found[:3]],
                         ["about disks", None, "bytes written"])
        self.assertEqual(
            [(i["set"], i["guid"], i["id"], i["name"]) for i in found[3:]],
            [("Alpha Disk", captures.DISK, number, name)
             for number, name in enumerate(("sda", "sdb", "_Total"))])
        for names in (["Alpha*"], ["Alpha Memory", captures.DISK.upper()]):
            self.assertEqual({i["name"] for i in self.named(*names)
                              if i["record"] == "counterset"},
                             {"Alpha Disk", "Alpha Memory"})

    def test_unknown_name(self):
        """An unknown name gets a suggestion; the sets of other names are
        printed."""
        done = self.run_program("countersets", "--source", CAPTURE,
                                "Procesor Information", "Processor*")
        self.assertEqual(done.status, 2)
        self.assertIn("no counterset Procesor Information; did you mean "
                      "Processor Information?", done.err)
        self.assertIn("% Processor Utility", done.out)

    def test_text(self):
        """Text has the names of counters."""
        text = self.run_fine("countersets", "--source", CAPTURE).out
        self.assertIn('name "% Processor Utility"', text)


class Machine(LiveCase):
    """The counters of this machine, if it has a live source."""

    def test_names(self):
        """countersets NAME prints counters, help texts and instances."""
        items = self.run_json("countersets", "processor i*")
        self.assertEqual({i.get("set", i["name"]) for i in items},
                         {"Processor Information"})
        self.assertIn("_Total", {i["name"] for i in items
                                 if i["record"] == "instance"})
        self.assertTrue(all(i["help"] for i in items
                            if i["record"] != "instance"))
        self.assertEqual(self.run_program("countersets", "Processr").status,
                         2)
        missing = os.path.join(self.folder, "missing")
        self.assertEqual(self.run_program("countersets", "Memory", "--names",
                                          missing).status, 3)

    def test_offers_processors(self):
        """Every machine offers the counterset Processor Information."""
        names = {i["name"] for i in self.offered
                 if i["record"] == "counterset"}
        self.assertIn("Processor Information", names)

    def test_live(self):
        """live shows Processor Information if no set is given."""
        items = self.run_json("live", "--count", "2", "--interval", "0.05")
        self.assertEqual({i["sample"] for i in items}, {1, 2})
        self.assertEqual({i["set"] for i in items},
                         {"Processor Information"})
        self.assertIn("_Total", {i["instance"] for i in items})
        self.assertFalse({i["status"] for i in items} -
                         {"ok", "not_displayed", "negative_delta"})

    def test_pdh_log(self):
        """live writes a PDH text log like typeperf: a row for each sample."""
        for form, mark in (("pdh-csv", ","), ("pdh-tsv", "\t")):
            done = self.run_program(
                "live", "--format", form, "--utc", "-n", "3", "-i", "0.1",
                "--quiet", "\\Memory\\*")
            rows = list(csv.reader(io.StringIO(done.out, newline=""),
                                   delimiter=mark))
            self.assertEqual((done.status, len(rows)), (0, 4), done.err)
            self.assertEqual({len(row) for row in rows}, {len(rows[0])})
            self.assertEqual(rows[0][0], "(PDH-%s 4.0) (UTC)(0)" %
                             form[4:].upper())
            for row in rows[1:]:
                self.assertRegex(row[0], r"^\d\d/\d\d/20\d\d [\d:]{8}\.\d{3}$")
                self.assertTrue(all(float(cell) >= 0 for cell in row[1:]))

    def test_interval(self):
        """Five samples with an interval of 0.2 s take a second."""
        begin = time.monotonic()
        self.run_fine("live", "--count", "5", "--interval", "0.2")
        self.assertGreater(time.monotonic() - begin, 0.95)

    def test_duration(self):
        """--duration ends live and record. On a busy machine samples may be
        skipped, so there may be fewer than expected."""
        items = self.run_json("live", "--interval", "0.2", "--duration",
                              "0.65")
        self.assertLessEqual({i["sample"] for i in items}, {1, 2, 3})
        path = os.path.join(self.folder, "a.pfb")
        self.run_fine("record", "-o", path, "--interval", "0.2",
                      "--duration", "0.5")
        samples = [i for i in self.run_json("show", path)
                   if i["record"] == "data"]
        self.assertIn(len(samples), (1, 2, 3))

    def test_record_then_cook(self):
        """A recording of this machine is valid and has the recorded samples.
        """
        path = os.path.join(self.folder, "a.pfb")
        self.run_fine("record", "-o", path, "--count", "3", "--interval",
                      "0.05", "--instance", "_Total")
        self.run_fine("check", "--strict", path)
        items = self.run_json("cook", path)
        self.assertEqual({i["sample"] for i in items}, {0, 1, 2})
        self.assertEqual({i["instance"] for i in items}, {"_Total"})

    def interrupt(self, number, *arguments):
        """Starts the program, sends it a signal after its first line (live) or
        after a second; returns its status, output and errors."""
        with subprocess.Popen([program(), *arguments], text=True,
                              stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as child:
            first = child.stdout.readline() if "live" in arguments else ""
            if not first:
                time.sleep(1)
            child.send_signal(number)
            out, err = child.stdout.read(), child.stderr.read()
            return child.wait(SECONDS), first + out, err

    @unittest.skipIf(os.name == "nt", "Windows has other signals")
    def test_interrupt(self):
        """After SIGINT or SIGTERM the last row is complete and the status is
        0."""
        for number in (signal.SIGINT, signal.SIGTERM):
            status, out, err = self.interrupt(
                number, "live", "--format", "csv", "--interval", "0.05")
            self.assertEqual((status, err), (0, ""))
            rows = out.split("\n")
            self.assertEqual(rows[-1], "")
            self.assertEqual({row.count(",") for row in rows if row and
                              '"' not in row}, {rows[0].count(",")})

    def interrupt_unread(self, number, *arguments, reads=False, size=None):
        """Starts the program with a pipe that nobody reads until it has ended,
        or, with `reads`, until it was interrupted; sends it a signal when the
        pipe is full. `size` is that of the pipe. Returns its status, output
        and errors."""
        reader, writer = os.pipe()
        if size:
            fcntl.fcntl(writer, F_SETPIPE_SZ, size)
        with subprocess.Popen([program(), *arguments], stdout=writer,
                              stderr=subprocess.PIPE) as child, \
                os.fdopen(reader, "rb") as out:
            os.close(writer)
            unread, last = array.array("i", [0]), -1
            while unread[0] == 0 or unread[0] != last:  # until it is full
                last = unread[0]
                time.sleep(0.5)
                fcntl.ioctl(reader, termios.FIONREAD, unread)
            child.send_signal(number)
            if reads:
                time.sleep(0.1)
                return out.read(), child.stderr.read(), child.wait(SECONDS)
            begin = time.monotonic()
            status = child.wait(SECONDS)
            self.assertLess(time.monotonic() - begin, SECONDS / 4)
            return out.read(), child.stderr.read(), status

    @unittest.skipIf(os.name == "nt", "Windows has other signals")
    def test_interrupt_without_reader(self):
        """If nobody reads the pipe, SIGINT and SIGTERM end live after whole
        lines, and record, with status 0: short lines, and those of more than
        PIPE_BUF."""
        live = ["live", "--set", "*", "--interval", "0.01"]
        for number, words in (
                (signal.SIGTERM, [*live, "-f", "json"]),
                (signal.SIGINT, [*live, "-f", "csv"]),
                (signal.SIGTERM, ["live", "-i", "0.01", "-f", "pdh-csv",
                                  "--set", "Memory", "--set", "System",
                                  "--set", "Network Interface", "--set",
                                  "Processor Information"]),
                (signal.SIGINT, ["record", "-o", "/dev/stdout", "--set", "*",
                                 "--interval", "0.01"])):
            for reads in (False, True):
                out, err, status = self.interrupt_unread(number, *words,
                                                         reads=reads)
                self.assertEqual((status, err), (0, b""), words)
                self.assertGreater(len(out), 4096, words)
                if "live" in words:
                    self.assertEqual(out[-1:], b"\n", words)

    @unittest.skipUnless(sys.platform == "linux", "no size of pipes")
    def test_interrupt_in_a_line(self):
        """If nobody reads the pipe, and it has a part of a line that is larger
        than the pipe, the status is 3."""
        words = ("live", "-f", "pdh-csv", "--set", "*", "-i", "0.01")
        out, err, status = self.interrupt_unread(signal.SIGTERM, *words,
                                                 size=4096)
        self.assertEqual((status, len(out), err), (
            3, 4096, b"standard output: Connection timed out\n"))
        out, err, status = self.interrupt_unread(signal.SIGTERM, *words,
                                                 size=4096, reads=True)
        self.assertEqual((status, out[-1:], err), (0, b"\n", b""))

    @unittest.skipUnless(sys.platform == "linux", "no size of pipes")
    def test_interrupt_in_a_long_line(self):
        """The same for a line that is written in several parts."""
        path = self.file("a.pfb", captures.many_instances(2000))
        with subprocess.Popen(
                [program(), "cook", "--follow", "-f", "pdh-csv", path],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
            time.sleep(1)
            child.send_signal(signal.SIGTERM)
            status = child.wait(SECONDS)
            out, err = child.stdout.read(), child.stderr.read()
        self.assertEqual((status, out.count(b"\n"), err), (
            3, 0, b"standard output: Connection timed out\n"))

    @unittest.skipIf(os.name == "nt", "Windows has other signals")
    def test_a_killed_recorder_leaves_complete_chunks(self):
        path = os.path.join(self.folder, "a.pfb")
        self.interrupt(signal.SIGKILL, "record", "-o", path, "--interval",
                       "0.01")
        self.run_fine("check", path)
        self.assertTrue(self.run_json("cook", path))


if __name__ == "__main__":
    unittest.main()
