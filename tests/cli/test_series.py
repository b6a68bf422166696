# SPDX-License-Identifier: MIT
"""Samples of several files: in which order they are read, and with which
earlier sample each is compared."""

import os
import random
import struct
import threading
import unittest

import captures
import v1_blocks as v1
from v1_blocks import BIG, LITTLE, NO_INSTANCES, counter
from program import ON_WINDOWS, Case, writer as w

SET = captures.DISK
RATE = [counter(20, v1.COUNTER, 4, 4)]


def rate_object(title, number, wr=LITTLE):
    """An object without instances, with one rate of this count."""
    return wr.object(title, RATE, wr.values((4, 4, number)),
                     instances=NO_INSTANCES)


def block(moment, *titles, wr=LITTLE, name="HOST", step=10):
    """A V1 block of second `moment` with objects of these titles. Their rates
    are `step` times the title index per second."""
    return wr.block(*[rate_object(t, 1000 + step * t * moment, wr)
                      for t in titles], moment=moment, name=name)


def sample(second, number, freq=10**7, boot=0, hundred=133 * 10**15):
    """A DATA chunk with the count `number` of one instance. `boot` is the
    second at which the machine started."""
    stamps = w.clocks((second - boot) * freq, hundred + second * 10**7, freq)
    return w.chunk(b"DATA", w.reply(captures.instances_result(
        [1], [(0, "sda", [number])]), stamps=stamps))


def capture(*chunks, kind=captures.BULK, guid=SET):
    """A capture with the metadata of one counter, and these chunks."""
    return w.recording(
        captures.metadata(guid, "Disk", [(1, kind, "Bytes/sec")]),
        w.chunk(b"QINF", w.identifier(guid, name="*")), *chunks)


class SeriesCase(Case):
    """A test of values that cook prints of several files."""

    def cooked(self, *paths, key="raw"):
        """(sample, object or instance, raw value, value) of each record;
        standard error is stored in self.err."""
        done = self.run_program("cook", "--format", "json", *paths)
        self.assertEqual(done.status, 0, done.err)
        self.err = done.err
        return [(i["sample"], i["object"] or i["instance"], i[key],
                 i["value"]) for i in done.objects()]

    def files(self, *contents):
        """Writes files named 0, 1 ... and returns their paths."""
        return [self.file("%d" % n, data) for n, data in enumerate(contents)]


class Sources(SeriesCase):
    """Several files are one series."""

    def setUp(self):
        super().setUp()
        paths = self.files(
            capture(sample(3, 300), sample(4, 400)),
            capture(sample(1, 100), sample(2, 200)))
        self.paths = paths
        self.sources = [word for path in paths
                        for word in ("--source", path)]

    def test_convert(self):
        """convert joins the samples of all files in the order of time."""
        path = os.path.join(self.folder, "joined.pfb")
        done = self.run_program("convert", "-o", path, *self.paths, "--path",
                                r"\Disk(*)\*")
        self.assertEqual(done.status, 0, done.err)
        self.assertEqual([(raw, value) for _, _, raw, value
                          in self.cooked(path)],
                         [(100, None), (200, 100.0), (300, 100.0),
                          (400, 100.0)])

    def test_countersets(self):
        """A name is looked up in all files."""
        other = self.file("other", w.recording(captures.metadata(
            captures.NETWORK, "Network", [(1, captures.BULK, "Bytes")])))
        for name in ("Disk", "Network"):
            done = self.run_program("countersets", "-f", "json", name,
                                    *self.sources, "--source", other)
            self.assertEqual(done.status, 0, done.err)
            self.assertEqual({i["name"] for i in done.objects()
                              if i["record"] == "counterset"}, {name})
        done = self.run_program("countersets", "Disc", *self.sources)
        self.assertEqual(done.status, 2)
        self.assertIn("did you mean Disk?", done.err)


class Order(SeriesCase):
    """Files are processed in the order of their first samples."""

    def test_any_order(self):
        """Files of each format give the values of their samples in any order:
        V1 blocks of both byte orders, V2 replies, captures such as the rotated
        files of record --rotate, and captures that begin with long notes."""
        note = w.chunk(b"NOTE", b"n" * 200001)
        for name, contents, raw, rates in (
                ("v1", [block(n, 2) for n in range(1, 6)],
                 range(1020, 1101, 20), [None] + [20] * 4),
                ("v1, big-endian", [block(n, 2, wr=BIG) for n in range(1, 6)],
                 range(1020, 1101, 20), [None] + [20] * 4),
                ("v2", [w.reply(captures.instances_result(
                    [1], [(0, "a", [n])]), stamps=w.clocks(
                        hundred=133 * 10**15 + n)) for n in range(5)],
                 range(5), [None] * 5),
                ("captures", [capture(sample(2 * n, 200 * n), sample(
                    2 * n + 1, 200 * n + 100)) for n in range(4)],
                 range(0, 701, 100), [None] + [100] * 7),
                ("notes", [capture(note * 3, sample(n, 100 * n))
                           for n in range(1, 4)],
                 range(100, 301, 100), [None, 100, 100])):
            paths = self.files(*contents)
            order = random.Random(5)
            for chosen in [paths, paths[::-1]] + [
                    order.sample(paths, len(paths)) for _ in range(4)]:
                found = self.cooked(*chosen)
                self.assertEqual([number for number, *_ in found],
                                 list(range(len(found))), name)
                self.assertEqual([v[2:] for v in found],
                                 list(zip(raw, rates)), name)

    def test_files_of_the_same_time_keep_their_order(self):
        """Files of one time are read in the order of the arguments."""
        paths = self.files(*[block(1, title) for title in (9, 3, 7)])
        self.assertEqual([title for _, title, _, _ in self.cooked(*paths)],
                         [9, 3, 7])

    def test_files_without_a_sample(self):
        """Their errors are reported, in any order, and they take no sample
        number; the other files are sorted."""
        late, early = block(2, 2), block(1, 2)
        paths = self.files(late, b"no performance data", early[:70],
                           capture(), early)
        done = self.run_program("cook", "--format", "json", *paths)
        self.assertEqual(done.status, 1)
        self.assertEqual(sorted(done.errors()), [
            (paths[1], 0, "unknown_format"),
            (paths[2], 0, "truncated_header")])
        self.assertEqual([(i["sample"], i["raw"]) for i in done.objects()],
                         [(0, 1020), (1, 1040)])

    def test_missing_files(self):
        """Each file that cannot be read is reported once."""
        paths = self.files(block(2, 2), block(1, 2))
        missing = os.path.join(self.folder, "missing")
        done = self.run_program("cook", paths[0], missing, self.folder,
                                paths[1])
        self.assertEqual(done.status, 3)
        self.assertEqual(len(done.err.splitlines()), 2)

    def test_standard_input(self):
        """Standard input is sorted like a file."""
        first, third = self.files(block(1, 2), block(3, 2))
        done = self.run_program("cook", "--format", "json", third, "-", first,
                                stdin=block(2, 2))
        self.assertEqual([i["value"] for i in done.objects()],
                         [None, 20.0, 20.0])

    @unittest.skipIf(ON_WINDOWS, "Windows has no named pipes in folders")
    def test_pipes_are_read_once(self):
        """A named pipe is sorted like a file although it can be read only
        once."""
        first, third = self.files(block(1, 2), block(3, 2))
        pipe = os.path.join(self.folder, "pipe")
        os.mkfifo(pipe)

        def write():
            with open(pipe, "wb") as out:
                out.write(block(2, 2))

        writer = threading.Thread(target=write, daemon=True)
        writer.start()
        found = self.cooked(third, pipe, first)
        self.assertEqual([value for *_, value in found], [None, 20.0, 20.0])
        writer.join()

    def test_forced_kind(self):
        """Files are sorted with --kind, too."""
        paths = self.files(block(2, 2), block(1, 2))
        done = self.run_program("cook", "--format", "json", "--kind", "v1",
                                *paths)
        self.assertEqual([i["raw"] for i in done.objects()], [1020, 1040])


class Objects(SeriesCase):
    """V1 blocks of different objects."""

    def test_in_a_capture(self):
        """Blocks of one time in a capture are one sample."""
        found = self.cooked(self.file("a", w.recording(*[
            w.chunk(b"V1DT", block(moment, title))
            for moment in (1, 2) for title in (2, 4)])))
        self.assertEqual([(number, value) for number, _, _, value in found],
                         [(0, None), (0, None), (1, 20.0), (1, 40.0)])

    def test_restart(self):
        """After a restart of the machine, which resets the performance clock
        but not the 100 ns clock, no rate is computed."""
        later = bytearray(block(50, 2))
        struct.pack_into("<q", later, 56, 3 * 10**7)
        found = self.cooked(*self.files(block(1, 2), bytes(later)))
        self.assertEqual([value for *_, value in found], [None, None])
        self.assertRegex(self.err, "none of the 2 blocks continues .*: the "
                         "clocks show a restart or another machine\n$")

    def test_instances_of_several_blocks(self):
        """Objects with instances in several blocks, in JSON and in text."""
        def part(moment, *titles):
            return LITTLE.block(*[LITTLE.object(title, RATE, *[
                LITTLE.instance(name, LITTLE.values(
                    (4, 4, title * step * moment)))
                for name, step in (("a", 10), ("b", 30))])
                for title in titles], moment=moment)
        paths = self.files(part(1, 2), part(1, 4), part(2, 4, 2))
        self.assertEqual(
            [i["value"] for i in self.run_json("cook", *paths)],
            [None] * 4 + [40.0, 120.0, 20.0, 60.0])
        rows = [line.split() for line in self.run_fine(
            "cook", *paths).lines()]
        self.assertEqual([row[1] for row in rows
                          if row and row[0] in ("a", "b")],
                         ["-"] * 4 + ["40.00", "120.00", "20.00", "60.00"])

    def test_limit_of_stored_samples(self):
        """The latest samples of at most 4096 objects are stored, so that
        memory is bounded. The last sample of a file is stored, too, because
        another file may continue it: of 2 * 4097 samples 4096 are kept."""
        titles = list(range(2, 2 + 2 * 4097, 2))
        for count, is_kept in ((300, True), (4096, True), (4097, False)):
            found = self.cooked(self.file("a", b"".join(
                block(moment, title) for moment in (1, 2)
                for title in titles[:count])))
            self.assertEqual(
                [value for *_, value in found], [None] * count + [
                    10.0 * title if is_kept else None
                    for title in titles[:count]])
            if is_kept:
                self.assertEqual(self.err, "")
            else:
                self.assertRegex(self.err, r"^perfblock: note: 4098 samples "
                                 r"were not kept .* 4096 objects .*\n$")

    def test_many_machines(self):
        """The limit applies to all machines together."""
        for count, is_kept in ((4096, True), (4097, False)):
            found = self.cooked(self.file("a", b"".join(
                block(moment, 2, name="M%d" % machine)
                for moment in (1, 2) for machine in range(count))))
            self.assertEqual({value for *_, value in found[count:]},
                             {20.0 if is_kept else None})

    def test_large_blocks(self):
        """Fewer blocks are stored if they are large, but always the latest
        one. Blocks are large by their size or by their number of objects."""
        large_object = LITTLE.object(
            10**6, [], LITTLE.values(size_bytes=33 << 20),
            instances=NO_INSTANCES)
        empty = [LITTLE.object(n, []) for n in range(1000, 1000 + 2100)]
        for extra, rate in (([], 10.0), ([large_object], None), (empty, None)):
            def large(moment, title, more):
                renamed = [
                    o[:12] + LITTLE.pack("I", 10**5 * title + n) + o[16:]
                    for n, o in enumerate(more)]
                return LITTLE.block(rate_object(title, 10 * moment), *renamed,
                                    moment=moment)

            paths = self.files(*[large(moment, title, extra) for moment, title
                                 in ((1, 2), (2, 4), (3, 4), (4, 2))])
            self.assertEqual(
                [(title, value) for _, title, _, value in self.cooked(*paths)],
                [(2, None), (4, None), (4, 10.0), (2, rate)])

    def test_many_files(self):
        """199 files in descending order give the rates of the ascending
        series."""
        paths = self.files(*[block(n, 2) for n in range(1, 200)])
        paths.reverse()
        self.assertEqual([value for *_, value in self.cooked(*paths)],
                         [None] + [20.0] * 198)


class Captures(SeriesCase):
    """A capture is compared with the previous one if the clocks continue."""

    def values(self, *contents):
        """The values of the samples of files with these contents."""
        return [value for *_, value in self.cooked(*self.files(*contents))]

    def test_continued(self):
        """A capture continues another one with the same clocks and counters.
        """
        self.assertEqual(self.values(capture(sample(1, 100)),
                                     capture(sample(3, 300))), [None, 100.0])

    def test_other_clocks(self):
        """Captures with other frequencies or starts are not compared."""
        for later in (sample(3, 300, freq=10**6), sample(3, 300, boot=-9),
                      sample(3, 300, boot=2), sample(3, 300, freq=0)):
            self.assertEqual(self.values(capture(sample(1, 100)),
                                         capture(later)), [None, None])

    def test_each_has_its_own_metadata(self):
        """A counter of another set, type or without registration is not
        compared."""
        self.assertEqual(self.values(
            capture(sample(1, 100)),
            capture(sample(2, 200), guid=captures.NETWORK)), [None, None])
        items = self.run_json("cook", *self.files(
            capture(sample(1, 100)),
            capture(sample(2, 200), kind=captures.LARGE_RAW)))
        self.assertEqual([(i["type"], i["status"], i["value"])
                          for i in items],
                         [("PERF_COUNTER_BULK_COUNT", "need_two_samples",
                           None),
                          ("PERF_COUNTER_LARGE_RAWCOUNT", "ok", 200)])
        items = self.run_program("cook", "--format", "json", *self.files(
            capture(sample(1, 100)), w.recording(sample(2, 200)))).objects()
        self.assertEqual(items[1]["status"], "unknown_type")

    def test_samples_of_a_file_are_not_sorted(self):
        """Samples of one file are compared in the order in which they are
        stored."""
        found = self.values(capture(sample(1, 100), sample(
            3, 300, hundred=0), sample(4, 400)))
        self.assertEqual(found, [None, 100.0, 100.0])


class Note(SeriesCase):
    """Notes that say why no value, or no value across files, is computed."""

    def test_notes(self):
        """If every value lacks an earlier sample, a note says why, in each
        format."""
        first, second = block(1, 2), block(2, 4)
        for contents, words in (
                ([first], "there is only one: add a later sample"),
                ([first, second], "none of the 2 blocks continues"),
                ([capture(sample(1, 1))], "there is only one")):
            paths = self.files(*contents)
            for form in ("text", "json", "csv"):
                done = self.run_program("cook", "--format", form, *paths)
                self.assertEqual(done.status, 0)
                self.assertRegex(done.err, r"^perfblock: note: every value "
                                 r"needs two samples, and [^\n]*%s[^\n]*\n$"
                                 % words)

    def test_reasons(self):
        """The note about files that do not continue each other has the
        reasons."""
        first = sample(10, 100)
        for contents, words in (
                ([capture(first), capture(sample(11, 1, freq=10**6))],
                 "the clocks have different frequencies"),
                ([capture(first), capture(sample(11, 1, boot=9))],
                 "the clocks show a restart or another machine"),
                ([capture(first),
                  capture(sample(11, 1), guid=captures.NETWORK)],
                 "the counters differ"),
                ([capture(first, sample(20, 100)), capture(sample(11, 1))],
                 None),
                ([capture(first), capture(sample(11, 1, freq=10**6)),
                  capture(sample(12, 1, boot=9, freq=10**6))],
                 "the clocks have different frequencies; the clocks show a "
                 "restart or another machine")):
            self.cooked(*self.files(*contents))
            self.assertEqual(self.err, "" if words is None else (
                "perfblock: note: every value needs two samples, and none of "
                "the %d blocks continues an earlier one of the same counters:"
                " %s\n" % (len(contents), words)))

    def test_several_machines(self):
        """A note says that the files are several series, although each has
        values."""
        for boot, freq, words in (
                (2, 10**7, "the clocks show a restart or another machine"),
                (0, 10**6, "the clocks have different frequencies"),
                (0, 10**7, None)):
            self.cooked(*self.files(
                capture(sample(3, 1), sample(4, 2)),
                capture(sample(5, 1, freq, boot), sample(6, 2, freq, boot))))
            self.assertEqual(self.err, "" if words is None else (
                "perfblock: note: the files are several series, which are "
                "not compared with each other: %s\n" % words))

    def test_no_note(self):
        """There is no note if some value does not need two samples, if there
        are no values, or if files continue each other. A recording without
        samples has only the note that says so."""
        raw = LITTLE.block(rate_object(2, 1), v1.plain(LITTLE, 5, 4))
        for contents in ([raw], [block(1, 2), block(2, 2)],
                         [w.reply(w.result(w.SINGLE, w.v4(1)))],
                         [LITTLE.block()]):
            self.run_fine("cook", *self.files(*contents))
        done = self.run_program("cook", *self.files(capture()))
        self.assertEqual(done.status, 0)
        self.assertRegex(done.err, r"\A.*: note: the file has no samples\n\Z")


if __name__ == "__main__":
    unittest.main()
