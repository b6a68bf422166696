# SPDX-License-Identifier: MIT
"""Several files that overlap in time: their samples are read in the order of
time, as one series for each machine."""

import os
import random
import re
import subprocess
import threading
import unittest

from program import ON_WINDOWS, Case, bytes_of, program, writer as w
from test_series import SeriesCase, block, capture, sample
import captures
import log_seeds
import log_writer
import pdh_text_seeds

TICKS = 10**7  # per second, of both clocks
CLOCK = log_writer.UTC
SETS = {"Disk": "3f1c0c4e-5d1b-4a53-9c2e-0a1b2c3d4e5f",
        "Net": "4f1c0c4e-5d1b-4a53-9c2e-0a1b2c3d4e5f"}


class Recording:
    """Samples of one counter of one machine: counts[i] at second times[i].
    `boot` is the second at which the machine started, `name` the counterset
    and `row` the instance."""

    def __init__(self, times, counts, boot=0, name="Disk", row="sda"):
        self.times, self.counts = list(times), list(counts)
        self.boot, self.name, self.row = boot, name, row

    def data(self):
        """The bytes of the file."""
        guid = SETS[self.name]
        chunks = [captures.metadata(guid, self.name, [
            (1, captures.BULK, "Bytes/sec")]),
                  w.chunk(b"QINF", w.identifier(guid, name="*"))]
        for time, count in zip(self.times, self.counts):
            stamps = w.clocks((time - self.boot) * TICKS,
                              CLOCK + time * TICKS, TICKS)
            chunks.append(w.chunk(b"DATA", w.reply(captures.instances_result(
                [1], [(0, self.row, [count])]), stamps=stamps)))
        return w.recording(*chunks)


def expected(*recordings):
    """(row, second, count, rate) of all samples in the order of time. A rate
    is the growth per second since the previous sample of the same machine and
    counterset, whichever file has it."""
    positions = [0] * len(recordings)  # of the next sample of each
    latest, found = {}, []
    while True:
        next_samples = [(r.times[positions[n]], n)
                        for n, r in enumerate(recordings)
                        if positions[n] < len(r.times)]
        if not next_samples:
            return found
        time, n = min(next_samples)
        count = recordings[n].counts[positions[n]]
        positions[n] += 1
        key = (recordings[n].boot, recordings[n].name)
        rate = None
        if key in latest and time > latest[key][0]:
            rate = (count - latest[key][1]) / (time - latest[key][0])
        latest[key] = time, count
        found.append((recordings[n].row, time, count, rate))


def growing(seed, times, **options):
    """A recording of a count that grows irregularly."""
    order = random.Random(seed)
    return Recording(times, [1000 * t + order.randrange(1000) for t in times],
                     **options)


def parts(times, seed, count):
    """Recordings of one growing count at these seconds. Each sample is in one
    of at most `count` recordings, chosen at random."""
    order = random.Random(seed)
    files = [([], []) for _ in range(count)]
    total = 0
    for time in times:
        total += order.randrange(10**6)
        file = files[order.randrange(count)]
        file[0].append(time)
        file[1].append(total)
    return [Recording(*file) for file in files if file[0]]


class MergeCase(Case):
    """A test of values that cook prints of several files."""

    def written(self, *recordings):
        """Writes the recordings as files and returns their paths."""
        return [self.file("%d.pfb" % n, recording.data())
                for n, recording in enumerate(recordings)]

    def values(self, *arguments, stdin=b""):
        """(instance, second, raw value, value) of each record of cook;
        standard error is stored in self.err."""
        done = self.run_program("cook", "--format", "json", *arguments,
                                stdin=stdin)
        self.assertEqual(done.status, 0, done.err)
        self.err = done.err
        return [(v["instance"], self.second(v["time"]), v["raw"], v["value"])
                for v in done.objects()]

    @staticmethod
    def second(time):
        """The seconds from log_writer.UTC to a time as cook prints it."""
        hour, minute, second = time[11:-1].split(":")
        return round(int(hour) * 3600 + int(minute) * 60 + float(second) -
                     (2 * 3600 + 50 * 60 + 17.844))


class Recordings(MergeCase):
    """Several recordings."""

    def test_one_machine(self):
        """Samples that are spread over several files give the rates of the
        whole series."""
        for seed in range(5):
            files = parts(range(1, 60), seed, 2 + seed % 3)
            paths = self.written(*files)
            wanted = expected(*files)
            self.assertEqual(sum(rate is None for *_, rate in wanted), 1)
            self.assertEqual(self.values(*paths), wanted)
            self.assertEqual(self.values(*paths[::-1]), wanted)
            self.assertEqual(self.err, "")

    def test_machines(self):
        """Recordings have no machine names: samples are of one machine if
        their clocks agree on its start."""
        files = [growing(1, range(100, 160, 2), boot=1),
                 growing(2, range(101, 161, 2), boot=50, row="sdb"),
                 growing(3, range(100, 160, 3), boot=90, row="sdc"),
                 growing(4, range(161, 170), boot=50, row="sdb")]
        paths = self.written(*files)
        self.assertEqual(self.values(*paths), expected(*files))
        self.assertIn("several series", self.err)

    def test_countersets(self):
        """Rates of a counterset are computed from its own samples, although
        samples of another one lie between them."""
        files = [growing(1, range(1, 40, 2)),
                 growing(2, range(2, 40, 2), name="Net", row="eth0")]
        self.assertEqual(self.values(*self.written(*files)), expected(*files))
        self.assertEqual(self.err, "")

    def test_ties(self):
        """Of samples with equal times, that of the first file of the command
        line comes first."""
        files = [growing(1, (3, 5, 7), name="Net", row="eth0"),
                 growing(2, (1, 5, 7))]
        self.assertEqual(self.values(*self.written(*files)), expected(*files))
        self.assertEqual(
            self.values(*self.written(*files[::-1])), expected(*files[::-1]))

    def test_samples_that_two_files_have(self):
        """A sample that several files contain is used once."""
        joined = growing(1, range(1, 30))
        files = [Recording(joined.times[:12], joined.counts[:12]),
                 Recording(joined.times[11:20], joined.counts[11:20]),
                 Recording(joined.times[5:], joined.counts[5:])]
        self.assertEqual(self.values(*self.written(*files)), expected(joined))
        self.assertEqual(sum(int(n) for n in re.findall(
            "left out: ([0-9]+)", self.err)), 9 + 24 + 12 - 29)

    def test_every(self):
        """--every counts the samples of the series, not those of each file."""
        files = parts(range(1, 60), 9, 3)
        chosen = sorted((t, c) for f in files
                        for t, c in zip(f.times, f.counts))[::10]
        self.assertEqual(
            self.values("--every", "10", *self.written(*files)),
            expected(Recording(*zip(*chosen))))

    def test_every_by_machine(self):
        """--every counts the samples of each machine separately."""
        files = [growing(1, range(100, 160, 2), boot=1),
                 growing(2, range(101, 161, 2), boot=50, row="sdb")]
        chosen = [Recording(f.times[::4], f.counts[::4], f.boot, row=f.row)
                  for f in files]
        self.assertEqual(self.values("--every", "4", *self.written(*files)),
                         expected(*chosen))

    def test_a_file_that_is_not_sorted(self):
        """The samples of a file keep their order even if their times do not
        ascend, and are compared in that order."""
        first = Recording((1, 2, 9, 4, 5), (100, 300, 900, 950, 990))
        alone = self.values(*self.written(first))
        self.assertEqual([v[1] for v in alone], [1, 2, 9, 4, 5])
        other = Recording((3, 12), (10, 20), name="Net", row="eth0")
        both = self.values(*self.written(first, other))
        self.assertEqual([v[1] for v in both], [1, 2, 3, 9, 4, 5, 12])
        self.assertEqual([v for v in both if v[0] == "sda"], alone)

    @unittest.skipIf(ON_WINDOWS, "command lines are short")
    def test_many_files(self):
        """At most 200 files are merged. Of more, all samples are read, but not
        all in the order of time, and a message says so."""
        for count in (200, 230):
            paths = [self.file("%d.pfb" % n, capture(*[
                sample(second, n, boot=-100 * n) for second in (1, 5)]))
                for n in range(count)]
            found = self.values(*paths)
            self.assertEqual(sorted(v[2] for v in found),
                             sorted(2 * list(range(count))))
            self.assertEqual([v[3] for v in found].count(0), count)
            self.assertEqual("more than 200 files" in self.err, count > 200)
            if count == 200:
                seconds = [v[1] for v in found]
                self.assertEqual(seconds, sorted(seconds))

    def test_rotated(self):
        """The first sample of a file is compared with the last one of the
        file before it."""
        joined = growing(1, range(1, 50))
        files = [Recording(joined.times[n:n + 7], joined.counts[n:n + 7])
                 for n in range(0, 49, 7)]
        other = growing(2, range(1, 50, 3), name="Net", row="eth0")
        paths = self.written(*files, other)
        self.assertEqual(self.values(*paths), expected(joined, other))

    def test_summary(self):
        """--summary has the figures of the whole series."""
        files = parts(range(1, 60), 3, 2)
        rates = [rate for *_, rate in expected(*files) if rate is not None]
        found, = self.run_json("cook", "--summary", *self.written(*files))
        self.assertEqual((found["count"], found["minimum"], found["maximum"]),
                         (len(rates), min(rates), max(rates)))
        self.assertAlmostEqual(found["average"], sum(rates) / len(rates))

    def test_each_file_has_its_own_registrations(self):
        """A counter has different types in two files whose samples alternate;
        each sample is read with the type of its file."""
        paths = [self.file("%d.pfb" % n, capture(
            *[sample(second, 100 * second) for second in seconds], kind=kind))
            for n, (seconds, kind) in enumerate((
                ((1, 3, 5), captures.BULK), ((2, 4, 6), captures.LARGE_RAW)))]
        found = self.run_json("cook", *paths)
        self.assertEqual([(v["type"][13:], v["value"]) for v in found], [
            ("BULK_COUNT", None), ("LARGE_RAWCOUNT", 200),
            ("BULK_COUNT", None), ("LARGE_RAWCOUNT", 400),
            ("BULK_COUNT", None), ("LARGE_RAWCOUNT", 600)])


AVERAGE_BULK, LARGE_RAW_BASE = 0x40020500, 0x40030500


class OtherQueries(SeriesCase):
    """A file whose query differs from that of the file before it. The values
    that both files have are compared."""

    GUIDS = {"Disk": captures.DISK, "Net": captures.NETWORK}

    def recording(self, seconds, query, boot=0, kinds=None, power=1):
        """A recording of these countersets: `query` has the instances of each,
        or None for all. Instance k of a counterset has the count 100 * k *
        second ** power."""
        names = {"Disk": ["sda", "sdb", "_Total"], "Net": ["eth0", "lo"]}
        chunks = [captures.metadata(self.GUIDS[name], name, [
            (1, (kinds or {}).get(name, captures.BULK), "Bytes/sec")])
            for name in names]
        blocks, rows = [], []
        for name, chosen in query.items():
            for pattern in chosen or ["*"]:
                blocks.append(w.identifier(self.GUIDS[name], name=pattern,
                                           index=len(blocks)))
                rows.append([(k, row) for k, row in enumerate(names[name], 1)
                             if pattern in ("*", row)])
        chunks.append(w.chunk(b"QINF", b"".join(blocks)))
        for second in seconds:
            stamps = w.clocks((second - boot) * TICKS,
                              133 * 10**15 + second * TICKS, TICKS)
            chunks.append(w.chunk(b"DATA", w.reply(*[
                captures.instances_result([1], [
                    (k, row, [100 * k * second ** power]) for k, row in found])
                for found in rows], stamps=stamps)))
        return w.recording(*chunks)

    def rates(self, *recordings):
        """{(sample, instance): rate} of the values that have one."""
        paths = self.files(*recordings)
        self.assertEqual(self.cooked(*paths), self.cooked(*paths[::-1]))
        return {(number, row): value
                for number, row, _, value in self.cooked(*paths)
                if value is not None}

    def test_filters(self):
        """Each instance that both files have has a rate at the boundary."""
        queries = ({"Disk": None}, {"Disk": ["sda"]}, {"Disk": ["sdb", "sda"]},
                   {"Net": None, "Disk": None}, {"Net": ["lo"], "Disk": ["sda"]})
        rows = {"sda": 100, "sdb": 200, "_Total": 300, "eth0": 100, "lo": 200}
        chosen = [{row for name, some in query.items() for row in some or (
            ["sda", "sdb", "_Total"] if name == "Disk" else ["eth0", "lo"])}
            for query in queries]
        for i, older in enumerate(queries):
            for j, newer in enumerate(queries):
                self.assertEqual(
                    self.rates(self.recording((1, 2), older),
                               self.recording((4, 5), newer)),
                    {(n, row): rows[row] for n, shown in (
                        (1, chosen[i]), (2, chosen[i] & chosen[j]),
                        (3, chosen[j])) for row in shown}, (older, newer))

    def test_several_files(self):
        """The older value is in the latest file that has the counterset."""
        self.assertEqual(
            self.rates(self.recording((1,), {"Disk": None}),
                       self.recording((2,), {"Net": None}),
                       self.recording((3,), {"Disk": ["sda"]}),
                       self.recording((4,), {"Disk": None, "Net": ["lo"]})),
            {(2, "sda"): 100, (3, "sda"): 100, (3, "lo"): 200})

    def test_same_query(self):
        """The older value is in the latest file, although an earlier file has
        the same query as the newer one."""
        found = self.rates(*(
            self.recording((second,), {"Disk": chosen}, power=2)
            for second, chosen in ((1, ["sda"]), (3, None), (4, ["sda"]))))
        # The counts are 100, 900 and 1600.
        self.assertEqual(found, {(1, "sda"): 400, (2, "sda"): 700})

    def test_files_that_overlap(self):
        """Samples of a file are not compared with those of another query
        while both files have samples."""
        found = self.rates(self.recording((1, 3, 5), {"Disk": None}),
                           self.recording((2, 4, 6), {"Disk": ["sda"]}))
        self.assertEqual({number for number, _ in found}, {2, 3, 4, 5})

    def test_other_machines(self):
        for boot in (2, -50):
            self.assertEqual(self.rates(
                self.recording((10,), {"Disk": None}),
                self.recording((11,), {"Disk": ["sda"]}, boot=boot)), {})

    def test_counters_of_other_types(self):
        """A counter whose type has changed has no rate; the others have one."""
        first = self.recording((1,), {"Disk": None, "Net": None})
        for query in ({"Disk": None, "Net": None},
                      {"Disk": ["sda"], "Net": None}):
            second = self.recording((2,), query,
                                    kinds={"Disk": captures.RATE})
            self.assertEqual(self.rates(first, second),
                             {(1, "eth0"): 100, (1, "lo"): 200})

    def test_counters_with_other_bases(self):
        """A counter has no value at the boundary if the two files name
        different counters as its base: their difference means nothing. The
        same applies to a recording that was continued."""
        def recording(second, base, query):
            infos = [(1, AVERAGE_BULK, "Bytes/Operation", base),
                     (2, LARGE_RAW_BASE, "Reads"),
                     (3, LARGE_RAW_BASE, "Writes")]
            stamps = w.clocks(second * TICKS, 133 * 10**15 + second * TICKS,
                              TICKS)
            return w.recording(
                captures.metadata(captures.DISK, "Disk", infos),
                w.chunk(b"QINF", w.identifier(captures.DISK, name=query)),
                w.chunk(b"DATA", w.reply(captures.instances_result(
                    [1, 2, 3], [(1, "sda", [1000 * second, 10 * second,
                                            5000 * second])]),
                    stamps=stamps)))

        for query in ("*", "sda"):
            for base, expected in ((2, {(1, "sda"): 100}), (3, {})):
                parts = recording(1, 2, "*"), recording(2, base, query)
                self.assertEqual(self.rates(*parts), expected)
                self.assertEqual(self.rates(b"".join(parts)), expected)

    def test_every(self):
        """The first sample of a file that --every keeps is compared with the
        file that ended last."""
        paths = self.files(*[
            self.recording(seconds, query, power=2) for seconds, query in (
                ((1,), {"Disk": None}), ((2,), {"Disk": ["sda"]}),
                ((3, 4), {"Disk": None}))])
        found = self.run_json("cook", "--every", "2", *paths)
        rates = {v["instance"]: v["value"] for v in found if v["value"]}
        self.assertEqual(rates, {"sda": (1600 - 400) / 2})

    def test_joined(self):
        """convert joins the files, and cook computes the same values from the
        result."""
        paths = self.files(self.recording((1, 2), {"Disk": None}),
                           self.recording((3, 4), {"Disk": ["sda"]}))
        made = os.path.join(self.folder, "joined.pfb")
        self.run_fine("convert", "-q", *paths, "-o", made)
        self.assertEqual(self.cooked(made), self.cooked(*paths))


class Convert(MergeCase):
    """Several files that convert joins into one."""

    def convert(self, name, *arguments):
        """Runs convert and returns the path of the output."""
        path = os.path.join(self.folder, name)
        self.run_fine("convert", "-q", "-o", path, *arguments)
        return path

    def test_one_machine(self):
        """convert writes one recording with the values of the series."""
        files = parts(range(1, 60), 7, 3)
        paths = self.written(*files)
        for filters in ((), ("--set", "Disk"), ("--path", r"\Disk(sda)\*")):
            made = self.convert("all.pfb", *paths, *filters)
            self.assertEqual(self.values(made), expected(*files), filters)

    def test_several_series(self):
        """A recording of several series has their samples in the order of
        their times, and cook prints for it what it prints for the files."""
        files = [growing(1, range(1, 20, 2)),
                 growing(2, range(2, 20, 2), name="Net", row="eth0"),
                 growing(3, range(21, 30))]
        paths = self.written(*files)
        found = self.values(self.convert("all.pfb", *paths))
        self.assertEqual(found, self.values(*paths))
        for name, series in (("sda", expected(files[0])), ("eth0", expected(files[1]))):
            self.assertEqual([v[3] for v in found if v[0] == name and v[1] < 20],
                             [v[3] for v in series])

    def test_every(self):
        """--every counts samples as in cook."""
        files = [growing(1, range(1, 20)),
                 growing(2, range(20, 40), name="Net", row="eth0")]
        paths = self.written(*files)
        made = self.convert("all.pfb", *paths, "--every", "4")
        self.assertEqual(
            [v[:3] for v in self.values(made)],
            [v[:3] for v in self.values(*paths, "--every", "4")])
        self.assertEqual([v[1] for v in self.values(made)],
                         [*range(1, 20, 4), *range(20, 40, 4)])

    def test_v1_and_v2(self):
        """V1 and V2 samples are different series of one recording."""
        blocks = self.file("v1", b"".join(block(n, 2) for n in (2, 4, 6)))
        path = self.file("v2", capture(*[sample(
            n, 100 * n, hundred=0) for n in (1, 3, 5)]))
        expected_values = [None, None, 100, 20, 100, 20]
        found = self.run_json("cook", path, blocks)
        self.assertEqual([v["value"] for v in found], expected_values)
        made = self.convert("all.pfb", path, blocks)
        self.assertEqual([v["value"] for v in self.run_json("cook", made)],
                         expected_values)

    def test_from_pipes(self):
        """convert writes the same values from a pipe as from a file. The input
        is larger than the reader's window and has metadata after its first
        samples, which it writes earlier if it reads a file."""
        note = b"n" * 700000
        first = capture(sample(1, 100), sample(2, 200))
        later = capture(sample(3, 300), sample(4, 400),
                        guid=captures.NETWORK)[16:]
        data = capture() + w.chunk(b"NOTE", note) + \
            first[len(capture()):] + later
        path = self.file("a.pfb", data)
        for filters in ((), ("--set", "*"), ("--counter", "Bytes/sec")):
            found = self.values(self.convert("all.pfb", path, *filters))
            self.assertTrue(found)
            done = self.run_program(
                "convert", "-q", "-", *filters, "-o",
                os.path.join(self.folder, "all.pfb"), stdin=data)
            self.assertEqual((done.status, done.err), (0, ""))
            self.assertEqual(self.values(os.path.join(
                self.folder, "all.pfb")), found, filters)


class Pipes(MergeCase):
    """Files that are pipes, which can be read only once."""

    def test_standard_input(self):
        """Any one of the files may be standard input."""
        files = parts(range(1, 40), 11, 3)
        paths = self.written(*files)
        for n, path in enumerate(paths):
            data = bytes_of(path)
            names = paths[:n] + ["-"] + paths[n + 1:]
            self.assertEqual(self.values(*names, stdin=data),
                             expected(*files))

    @unittest.skipIf(ON_WINDOWS, "Windows has no named pipes in folders")
    def test_named_pipes(self):
        """Several of the files may be named pipes."""
        files = parts(range(1, 40), 12, 3)
        paths = self.written(*files)
        pipes = []
        for path in paths[:2]:
            pipes.append(path + ".pipe")
            os.mkfifo(pipes[-1])

            def write(source=path, name=pipes[-1]):
                with open(source, "rb") as file, open(name, "wb") as out:
                    out.write(file.read())

            threading.Thread(target=write, daemon=True).start()
        self.assertEqual(self.values(paths[2], *pipes),
                         expected(files[2], *files[:2]))

    @unittest.skipIf(ON_WINDOWS, "an open pipe is not tested there")
    def test_nothing_is_read_ahead(self):
        """A sample of a pipe is printed before the next one arrives."""
        far = self.file("far.pfb", capture(sample(1000, 10**6)))
        with subprocess.Popen([program(), "cook", "-f", "json", far, "-"],
                              stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE) as process:
            process.stdin.write(capture())
            for second in range(1, 5):
                process.stdin.write(sample(second, 100 * second))
                process.stdin.flush()
                self.assertIn(b'"raw":%d,' % (100 * second),
                              process.stdout.readline())
            process.stdin.close()
            self.assertIn(b'"raw":1000000,', process.stdout.readline())
            self.assertEqual(process.stdout.readline(), b"")
        self.assertEqual(process.returncode, 0)


def log(machine, ticks):
    """A log whose samples have a rate and a whole V1 object."""
    events = [*log_writer.names("\\\\PC", (4, "Memory"), (6, "Available"),
                                (10, "Rate")),
              *log_writer.paths(log_writer.path(
                  log_seeds.RATE, log_seeds.FREQUENCY, machine, "Disk", None,
                  "Reads/sec"), log_seeds.OBJECT)]
    for tick in ticks:
        local, _ = log_seeds.stamp(tick)
        events += log_writer.sample(
            log_writer.counter(70 * tick, log_seeds.FREQUENCY * tick,
                               time=local),
            log_writer.block(log_seeds.memory_block(tick)), time=local)
    return log_writer.log(*events, start=CLOCK + ticks[0] * TICKS)


class Mixed(SeriesCase):
    """Logs together with recordings and V1 blocks of the same machine."""

    def values(self, *paths):
        """(second, counter, value) of each record of cook."""
        done = self.run_program("cook", "-q", "--format", "json", *paths)
        self.assertEqual((done.status, done.err), (0, ""))
        return [(MergeCase.second(v["time"]), v["counter"], v["value"])
                for v in done.objects()]

    def test_log_and_recording(self):
        """The samples of binary logs, text logs and recordings are read in the
        order of their times. Rates are computed within each kind."""
        paths = self.files(log("\\\\PC", (1, 3, 5)), growing(
            1, (2, 4, 6)).data(), pdh_text_seeds.text(
                "(PDH-CSV 4.0) (UTC)(0)", ("\\\\PC\\Memory\\Pages/sec",),
                (("1",), ("2",)), ("02/20/2013 02:50:19.844",
                                   "02/20/2013 02:50:23.844")))
        found = self.values(*paths)
        self.assertEqual([(second, counter) for second, counter, _ in found], [
            (second, counter) for second in range(1, 7) for counter in (
                ("Reads/sec", "Available", "Rate") if second % 2 else
                ("Bytes/sec", "Pages/sec") if second in (2, 6) else
                ("Bytes/sec",))])
        self.assertEqual([v for _, counter, v in found
                          if counter == "Reads/sec"], [None, 70, 70])
        self.assertEqual(self.values(*paths[::-1])[0][0], 1)

    def test_objects(self):
        """Whole objects of a log and V1 blocks are one series."""
        blocks = [log_seeds.memory_block(tick) for tick in (2, 4, 6)]
        paths = self.files(log("\\\\PC", (1, 3, 5)), b"".join(blocks))
        done = self.run_program("cook", "-q", "--format", "json", *paths)
        rates = [(MergeCase.second(v["time"]), v["value"])
                 for v in done.objects() if v["counter_id"] == 10]
        self.assertEqual(rates, [(1, None)] + [(n, 70) for n in range(2, 7)])
        out = os.path.join(self.folder, "all.pfb")
        self.run_program("convert", "-q", *paths, "-o", out)
        rates = [v["value"] for v in self.run_json("cook", out)
                 if v["counter_id"] == 10]
        self.assertEqual(rates, [None] + [70] * 5)


class Machines(SeriesCase):
    """V1 blocks: names and clocks show which are of one machine."""

    def test_names_and_clocks(self):
        """Blocks of one name but different starts are different machines."""
        def other(moment):
            """A machine of the same name that started later."""
            data = bytearray(block(moment, 2, step=50))
            data[56:64] = (moment * TICKS - 5 * TICKS).to_bytes(8, "little")
            return bytes(data)
        paths = self.files(
            b"".join(block(n, 2, name="A") for n in range(10, 20, 2)),
            b"".join(block(n, 2, name="B", step=30)
                     for n in range(11, 20, 2)),
            b"".join(block(n, 2, step=7) for n in range(10, 20)),
            b"".join(other(n) for n in range(12, 20)))
        for order in (paths, paths[::-1]):
            found = self.cooked(*order)
            values = [value for *_, value in found]
            self.assertEqual(values.count(None), 4)
            self.assertEqual([values.count(rate) for rate in
                              (20, 60, 14, 100)], [4, 4, 9, 7])

    def test_blocks_of_one_time_that_two_files_have(self):
        """A block is used once also if its time has other blocks, of other
        objects, that only one of the files has."""
        blocks = [block(moment, title) for moment in (1, 2, 3)
                  for title in (2, 4, 6)]
        whole = sorted(self.cooked(self.file("whole", b"".join(blocks))),
                       key=repr)
        for first, end in ((1, 3), (2, 3), (2, 4), (4, 9)):
            paths = self.files(b"".join(blocks[:end]),
                               b"".join(blocks[first:]))
            for order in (paths, paths[::-1]):
                self.assertEqual(sorted(self.cooked(*order), key=repr), whole)
                self.assertIn("left out: %d" % (end - first), self.err)


if __name__ == "__main__":
    unittest.main()
