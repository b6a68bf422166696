# SPDX-License-Identifier: MIT
"""What cook prints of V2 replies, alone and in captures."""

import csv
import io
import os
import unittest

import captures
import pages
from captures import PROCESSOR
from program import Case, seed, writer as w

OTHER = "3f1c0c4e-5d1b-4a53-9c2e-0a1b2c3d4e5f"
KEYS = ["sample", "time", "set", "object", "instance", "occurrence",
        "counter", "counter_id", "position", "type", "status", "value",
        "unit", "flags", "raw", "base"]
TIMER, RAW = 0x20510500, 0x00010100
# Standard error: empty, or the note that no value can be computed from the only
# sample.
NOTE_OR_NOTHING = (
    r"\A(perfblock: note: every value needs two samples, and .*\n)?\Z")


def stamps(number):
    """The clocks of sample `number`; samples are a second apart."""
    return w.clocks(10000000 * number, 10000000 * number, 10000000,
                    (2024, 5, 3, 15, 12, 30, number, 5))


def reply(number, *results):
    """A reply with the clocks of sample `number`."""
    return w.reply(*results, stamps=stamps(number))


def timer_rows(number, *rows, ids=(1,)):
    """A reply with one result of the instances (id, name, raw value of each
    counter of `ids`). Values have 8 bytes."""
    return reply(number, w.result(w.COUNTERSET, w.id_list(list(
        ids)) + w.instance_block(*[w.instance(
            ident, name, *map(w.v8, raw)) for ident, name, *raw in rows])))


def recording(*samples, names=True, infos=None, extra=b""):
    """A capture of one counterset; `samples` are replies, `extra` are chunks
    before them."""
    out = [w.registration_chunk(OTHER, 1, w.counterset(OTHER, infos or [
        w.counter_info(1, TIMER), w.counter_info(2, RAW)]))]
    if names:
        out += [w.registration_chunk(OTHER, 3, w.string("Our, Set")),
                w.registration_chunk(OTHER, 5, w.string_block(
                    [(1, "% Busy"), (2, 'Total "n"')]))]
    out += [w.chunk(b"QINF", w.identifier(OTHER, name="*")), extra]
    return w.recording(*out, *[w.chunk(b"DATA", one) for one in samples])


class Json(Case):
    """The JSON record of each counter and instance."""

    def cook(self, data, *arguments):
        """The records of a capture or of replies."""
        done = self.run_program("cook", "--format", "json", *arguments, "-",
                                stdin=data)
        self.assertEqual(done.status, 0)
        self.assertRegex(done.err, NOTE_OR_NOTHING)
        return done.objects()

    def test_keys_and_values(self):
        """A record has all keys in order, and the value computed from both
        samples."""
        items = self.cook(recording(
            timer_rows(1, (0, "a", 0, 5), ids=(1, 2)),
            timer_rows(2, (0, "a", 1250000, 2**64 - 1), ids=(1, 2))))
        self.assertEqual(len(items), 4)
        for item in items:
            self.assertEqual(list(item)[:len(KEYS)], KEYS)
        self.assertEqual({key: items[2][key] for key in KEYS}, {
            "sample": 1, "time": "1601-01-01T00:00:02.0000000Z",
            "set": "Our, Set", "object": None, "instance": "a",
            "occurrence": 0, "counter": "% Busy", "counter_id": 1,
            "position": 0, "type": "PERF_100NSEC_TIMER", "status": "ok",
            "value": 12.5, "unit": "%", "flags": [], "raw": 1250000,
            "base": None})
        self.assertEqual(items[3]["raw"], 2**64 - 1)
        self.assertEqual(items[3]["value"], float(2**64))

    def test_first_sample(self):
        """In the first sample a rate has the status need_two_samples, an
        amount has a value."""
        first, second = self.cook(recording(timer_rows(1, (0, "a", 7, 5),
                                                       ids=(1, 2))))
        self.assertEqual((first["sample"], first["status"], first["value"],
                          first["raw"]), (0, "need_two_samples", None, 7))
        self.assertEqual((second["status"], second["value"]), ("ok", 5))

    def test_new_instance(self):
        """An instance that the previous sample lacks has no rate."""
        items = self.cook(recording(
            timer_rows(1, (0, "a", 1)),
            timer_rows(2, (0, "a", 2), (1, "b", 3))))
        self.assertEqual([(i["sample"], i["instance"], i["status"])
                          for i in items],
                         [(0, "a", "need_two_samples"), (1, "a", "ok"),
                          (1, "b", "need_two_samples")])

    def test_repeated_names(self):
        """Instances of one name are numbered by `occurrence`."""
        items = self.cook(recording(timer_rows(1, (0, "x", 1), (0, "x", 2),
                                               (7, "x", 3))))
        self.assertEqual([item["occurrence"] for item in items], [0, 1, 2])
        self.assertEqual([item["instance_id"] for item in items], [0, 0, 7])

    def test_flags_and_bases(self):
        """A value above 100 % has a flag, a quotient has the raw value of its
        base, and a base has no value."""
        infos = [w.counter_info(1, TIMER), w.counter_info(
            2, 0x40020500, base=3), w.counter_info(3, 0x40030500)]
        items = self.cook(recording(
            timer_rows(1, (0, "a", 0, 0, 0), ids=(1, 2, 3)),
            timer_rows(2, (0, "a", 25000000, 30, 4), ids=(1, 2, 3)),
            infos=infos))
        busy, average, base = items[3:]
        self.assertEqual((busy["value"], busy["flags"]), (250, ["above_100"]))
        self.assertEqual((average["value"], average["base"]), (7.5, 4))
        self.assertEqual((base["status"], base["value"], base["raw"]),
                         ("not_displayed", None, 4))

    def test_type_without_name(self):
        """A type without a name is printed as a number; its values have the
        status unknown_type."""
        items = self.cook(recording(timer_rows(1, (0, "a", 1)), infos=[
            w.counter_info(1, 0x12000)]))
        self.assertEqual((items[0]["type"], items[0]["status"]),
                         ("0x00012000", "unknown_type"))

    def test_set_without_name(self):
        """Without names, a record has the GUID of the set and null names."""
        item = self.cook(recording(timer_rows(1, (0, "a", 1)),
                                   names=False))[0]
        self.assertEqual((item["set"], item["counter"], item["guid"]),
                         (None, None, OTHER))

    def test_english_names_replace_missing_names(self):
        """English names are used if the capture has no localized ones."""
        extra = w.registration_chunk(OTHER, 9, w.string("English")) + \
            w.registration_chunk(OTHER, 10, w.string_block([(1, "busy")]))
        item = self.cook(recording(timer_rows(1, (0, "a", 1)), names=False,
                                   extra=extra))[0]
        self.assertEqual((item["set"], item["counter"]), ("English", "busy"))
        item = self.cook(recording(timer_rows(1, (0, "a", 1)),
                                   extra=extra))[0]
        self.assertEqual((item["set"], item["counter"]),
                         ("Our, Set", "% Busy"))

    def test_catalog_is_used_without_metadata(self):
        """A set of the catalog has its names and types, unless the capture
        registers its counters."""
        def capture(*more):
            return w.recording(
                *more, w.chunk(b"QINF", w.identifier(PROCESSOR, name="*")),
                w.chunk(b"DATA", timer_rows(1, (0, "0,0", 1))),
                w.chunk(b"DATA", timer_rows(2, (0, "0,0", 5000001))))

        item = self.cook(capture())[-1]
        self.assertEqual((item["set"], item["counter"], item["type"],
                          item["value"]),
                         ("Processor Information", "% User Time",
                          "PERF_100NSEC_TIMER", 50))
        item = self.cook(capture(w.registration_chunk(
            PROCESSOR, 1, w.counterset(PROCESSOR, [
                w.counter_info(1, RAW)]))))[-1]
        self.assertEqual((item["set"], item["counter"], item["type"]),
                         (None, None, "PERF_COUNTER_LARGE_RAWCOUNT"))

    def test_later_query_information_is_used(self):
        data = recording(timer_rows(1, (0, "a", 1)), extra=w.chunk(
            b"QINF", w.identifier(PROCESSOR, name="*")))
        self.assertEqual(self.cook(data)[0]["guid"], PROCESSOR)

    def test_exact_instance(self):
        """A single value has the instance that its query names."""
        infos = [w.counter_info(1, RAW)]
        data = w.recording(
            w.registration_chunk(OTHER, 1, w.counterset(OTHER, infos)),
            w.chunk(b"QINF", w.identifier(OTHER, 1, name="_Total")),
            w.chunk(b"DATA", reply(1, w.result(w.SINGLE, w.v8(9)))))
        item = self.cook(data)[0]
        self.assertEqual((item["instance"], item["counter_id"],
                          item["value"]), ("_Total", 1, 9))

    def test_errors_in_results_are_reported(self):
        """A result that is an error is a record in JSON and a note in text and
        CSV."""
        data = recording(reply(1, w.result(w.ERROR, status=0x1069)),
                         timer_rows(2, (0, "a", 1)))
        items = self.cook(data)
        self.assertEqual(items[0], {
            "record": "result", "sample": 0, "query": 0, "kind": "error",
            "status": 0x1069, "guid": OTHER, "counter_id": None})
        self.assertEqual(items[1]["sample"], 1)
        path = self.file("a.pfb", data)
        for form in ("text", "csv"):
            done = self.run_program("cook", "--format", form, path)
            self.assertEqual(done.status, 0)
            self.assertRegex(done.err, r"^%s: offset \d+: note: sample 0: "
                             r"result 0 is of kind error, status 4201 " % path)


class Bare(Case):
    """V2 replies without metadata."""

    def test_one_file(self):
        """Without metadata, values are printed raw, with the counter ids of
        the reply."""
        data = timer_rows(1, (0, "a", 1)) + timer_rows(2, (0, "a", 2))
        items = self.run_json("cook", self.file("a.bin", data))
        self.assertEqual([(i["sample"], i["status"], i["type"], i["set"],
                           i["counter"], i["counter_id"], i["raw"])
                          for i in items],
                         [(0, "unknown_type", None, None, None, 1, 1),
                          (1, "unknown_type", None, None, None, 1, 2)])

    def test_several_files_are_consecutive(self):
        paths = [self.file("%d.bin" % n, timer_rows(n, (0, "a", n)))
                 for n in range(5)]
        items = self.run_json("cook", *paths)
        self.assertEqual([(i["sample"], i["raw"]) for i in items],
                         [(n, n) for n in range(5)])

    def test_broken_files_between(self):
        """Replies without a valid header are reported and take no sample
        number; the others are printed."""
        paths = [self.file("a", timer_rows(1, (0, "a", 1))),
                 self.file("b", reply(1)[:40]),
                 self.file("c", reply(1)[:-1]),
                 self.file("d", timer_rows(2, (0, "a", 2)))]
        done = self.run_program("cook", "--format", "json", *paths)
        self.assertEqual(done.status, 1)
        self.assertEqual([(i["sample"], i["raw"]) for i in done.objects()],
                         [(0, 1), (1, 2)])
        self.assertEqual(sorted(path for path, _, _ in done.errors()),
                         paths[1:3])

    def test_broken_block(self):
        """The values before the error of a block are printed."""
        good = timer_rows(1, (0, "a", 1))
        bad = timer_rows(2, (0, "a", 2), (1, "b", 3))
        bad = bad[:-12] + b"\xff" * 4 + bad[-8:]  # size of the last value
        path = self.file("a.bin", good + bad)
        done = self.run_program("cook", "--format", "json", path)
        self.assert_error(done, 1, path, len(good) + len(bad) - 12,
                          "bad_value_size")
        self.assertEqual([i["raw"] for i in done.objects()], [1, 2])

    def test_trailing_bytes_are_noted(self):
        path = self.file("a.bin", timer_rows(1, (0, "a", 1)) + b"\1")
        done = self.run_program("cook", path)
        self.assertEqual(done.status, 0)
        self.assertIn(": note: ", done.err)
        self.assertEqual(self.run_program("cook", "--strict", path).status, 1)

    def test_blocks_are_not_compared_with_captures(self):
        """The counterset of a bare reply is unknown, so a rate in a capture is
        not computed from it."""
        bare = self.file("a.bin", timer_rows(1, (0, "a", 1)))
        capture = self.file("b.pfb", recording(timer_rows(2, (0, "a", 2))))
        later = self.file("c.bin", timer_rows(3, (0, "a", 1)))
        items = self.run_json("cook", bare, capture, later)
        self.assertEqual([(i["sample"], i["status"]) for i in items], [
            (0, "unknown_type"), (1, "need_two_samples"),
            (2, "unknown_type")])


class RepliesWithMetadata(Case):
    """V2 replies combined with metadata from other files."""

    def setUp(self):
        super().setUp()
        self.replies = [self.file("%d.bin" % n, timer_rows(
            n, (0, "a", n * 2500000, 70 + n), ids=(1, 2))) for n in (1, 2)]
        self.set = self.file("set.bin", w.counterset(OTHER, [
            w.counter_info(1, TIMER), w.counter_info(2, RAW)]))
        self.name = self.file("name.bin", w.string("Set"))
        self.names = self.file("names.bin", w.string_block(
            [(1, "% Time"), (2, "Count")]))
        self.query = self.file("query.bin", w.identifier(OTHER, name="*"))

    def options(self, *registrations, query=None):
        """Arguments of cook: the replies with these registrations and query
        information."""
        arguments = [part for one in registrations
                     for part in ("--registration", one)]
        return [*arguments, "--query-info", query or self.query,
                *self.replies]

    def test_values(self):
        """Replies with registrations and query information have names and
        values."""
        items = self.run_json("cook", *self.options(
            self.set, "3:" + self.name, "05:" + self.names))
        self.assertEqual(
            [(i["sample"], i["set"], i["instance"], i["counter"], i["status"],
              i["value"]) for i in items],
            [(0, "Set", "a", "% Time", "need_two_samples", None),
             (0, "Set", "a", "Count", "ok", 71),
             (1, "Set", "a", "% Time", "ok", 25),
             (1, "Set", "a", "Count", "ok", 72)])

    def test_convert(self):
        """convert takes the same files with the same metadata."""
        words = self.options(self.set, "3:" + self.name, "5:" + self.names)
        cooked = self.run_json("cook", *words)
        path = os.path.join(self.folder, "made.pfb")
        self.run_fine("convert", "-o", path, *words)
        self.assertEqual(self.run_json("cook", path), cooked)

    def test_request_code_1_may_be_given(self):
        self.assertEqual(
            self.run_json("cook", *self.options("1:" + self.set)),
            self.run_json("cook", *self.options(self.set)))

    def test_two_sets(self):
        """A name given with --registration 3:FILE belongs to the set given
        before it. A later name of the same set replaces an earlier one."""
        other = self.file("other.bin", w.counterset(PROCESSOR, [
            w.counter_info(1, RAW)]))
        wrong = self.file("wrong.bin", w.string("Wrong"))
        for order in ((other, "3:" + wrong, self.set, "3:" + self.name),
                      (self.set, "3:" + self.name, other, "3:" + wrong),
                      (self.set, "3:" + wrong, "3:" + self.name)):
            items = self.run_json("cook", *self.options(*order))
            self.assertEqual({i["set"] for i in items}, {"Set"}, order)

    def test_captures_use_their_own_metadata(self):
        """Metadata of the command line does not replace that of a capture."""
        capture = self.file("a.pfb", recording(timer_rows(
            1, (0, "a", 1, 5), ids=(1, 2))))
        own = self.run_json("cook", capture)
        wrong = self.file("wrong.bin", w.string("Wrong"))
        self.assertEqual(own, self.run_json(
            "cook", "--registration", self.set, "--registration",
            "3:" + wrong, capture))

    def test_malformed(self):
        """Malformed metadata is reported once, whatever the number of replies.
        """
        cut = self.file("cut.bin", w.counterset(OTHER, [
            w.counter_info(1, TIMER)])[:-1])
        done = self.run_program("cook", *self.options(cut))
        self.assert_error(done, 1, cut, 24, "bad_counter_count")
        short = self.file("short.bin", b"1234")
        done = self.run_program("cook", *self.options(short))
        self.assert_error(done, 1, short, 0, "truncated_header")
        done = self.run_program("cook", *self.options(self.set, query=short))
        self.assert_error(done, 1, short, 0, "truncated_identifier")

    def test_usage(self):
        """Wrong combinations of metadata options are refused; the message says
        what is missing."""
        done = self.run_program("cook", *self.options("3:" + self.name,
                                                      self.set))
        self.assertEqual(done.status, 2)
        self.assertIn("give the --registration of its counterset with code 1",
                      done.err)
        for wrong in ("0:a", "11:a", "100:a", "1:"):
            done = self.run_program("cook", *self.options(wrong))
            self.assertEqual(done.status, 2, wrong)
            self.assertIn("request code", done.err)
        done = self.run_program("cook", *self.options(self.set + ".gone"))
        self.assertEqual(done.status, 3)
        # The name does not belong to the set before the missing file.
        done = self.run_program("cook", *self.options(
            self.set, self.set + ".gone", "3:" + self.name))
        self.assertNotEqual(done.status, 0)
        self.assertIn("give the --registration of its counterset with code 1",
                      done.err)
        done = self.run_program("cook", "--query-info", self.query,
                                *self.options(self.set))
        self.assertEqual((done.status, done.out), (2, ""))
        self.assertIn("--query-info may be given only once", done.err)


class Broken(Case):
    """Captures with errors: cook prints the values of the valid part."""

    def test_cut(self):
        """The samples before a truncation are printed."""
        data = recording(timer_rows(1, (0, "a", 1)),
                         timer_rows(2, (0, "a", 2)))
        done = self.run_program("cook", "--format", "json", "-",
                                stdin=data[:-8])
        self.assertEqual(done.status, 1)
        self.assertEqual([i["sample"] for i in done.objects()], [0])
        self.assertEqual(done.errors()[0][2], "truncated_chunk")

    def test_broken_metadata(self):
        """Each broken reply about metadata is reported; what could be read of
        it is used."""
        data = w.recording(
            w.registration_chunk(OTHER, 1, b"1234"),
            w.registration_chunk(OTHER, 3, w.string("Set")),
            w.registration_chunk(OTHER, 5, w.string_block(
                [(1, "good"), (2, "bad")], offsets=[24, 9999])),
            w.chunk(b"QINF", w.identifier(OTHER, name="*")),
            w.chunk(b"DATA", timer_rows(1, (0, "a", 1))))
        path = self.file("a.pfb", data)
        done = self.run_program("cook", "--format", "json", path)
        self.assertEqual(done.status, 1)
        self.assertEqual([code for _, _, code in done.errors()],
                         ["truncated_header", "bad_string_offset"])
        item = done.objects()[0]
        self.assertEqual((item["set"], item["counter"], item["status"]),
                         ("Set", "good", "unknown_type"))

    def test_skipped_chunks_are_reported(self):
        """Chunks of data that cook does not read are counted in a note."""
        path = self.file("a.pfb", recording(
            timer_rows(1, (0, "a", 1), ids=(2,)),
            extra=w.chunk(b"CPIH", b"x") * 3))
        done = self.run_program("cook", "--format", "json", path)
        self.assertEqual((done.status, len(done.objects())), (0, 1))
        self.assertRegex(done.err, r"note: .*: 3 of CPIH\n$")


class Csv(Case):
    """CSV with a row for each value."""

    def test_columns_and_quoting(self):
        """The columns are the keys of JSON, and cells have the same values."""
        data = recording(timer_rows(1, (0, 'a,"b"', 1, 2), ids=(1, 2)),
                         timer_rows(2, (0, 'a,"b"', 3, 4), ids=(1, 2)))
        text = self.run_fine("cook", "--format", "csv", "-", stdin=data).out
        rows = list(csv.DictReader(io.StringIO(text)))
        items = self.run_json("cook", "-", stdin=data)
        self.assertEqual(list(rows[0]), list(items[0]))
        self.assertEqual(len(rows), len(items))
        for row, item in zip(rows, items):
            for key, value in item.items():
                if key != "flags":
                    self.assertEqual(row[key], "" if value is None
                                     else str(value), key)

    def test_bases_are_left_out(self):
        """Bases have no displayed value and no row."""
        text = self.run_fine("cook", "--format", "csv", seed(
            "capture", "valid_processor_information.pfb")).out
        self.assertNotIn("not_displayed", text)

    def test_control_characters(self):
        """Control characters are escaped; line breaks are quoted."""
        data = recording(timer_rows(1, (0, "\x1b[31m\r\n", 1), ids=(2,)))
        text = self.run_fine("cook", "--format", "csv", "-", stdin=data).out
        self.assertIn(',"\\u001B[31m\r\n",', text)
        rows = list(csv.DictReader(io.StringIO(text, newline="")))
        self.assertEqual([row["instance"] for row in rows],
                         ["\\u001B[31m\r\n"])


class Text(Case):
    """Tables that fit the width of the terminal."""

    def test_fits(self):
        """Tables are not wider than the terminal, or than 100 columns without
        one."""
        names = [(n, "Counter number %d with a long name" % n)
                 for n in range(40)]
        infos = [w.counter_info(n, RAW) for n in range(40)]
        data = w.recording(
            w.registration_chunk(OTHER, 1, w.counterset(OTHER, infos)),
            w.registration_chunk(OTHER, 5, w.string_block(names)),
            w.chunk(b"QINF", w.identifier(OTHER, name="*")),
            w.chunk(b"DATA", timer_rows(1, *[
                (row, "instance %d %s" % (row, "x" * 40), *range(
                    10**9, 10**9 + 40)) for row in range(3)],
                ids=range(40))))
        path = self.file("a.pfb", data)
        for columns in (20, 40, 60, 100, 300):
            done = self.run_fine("cook", path, columns=columns)
            longest = max(map(len, done.lines()))
            self.assertLessEqual(longest, columns)
            self.assertIn("1,000,000,039", done.out)
        self.assertLessEqual(max(map(len, self.run_fine(
            "cook", path).lines())), 100)

    def test_one_instance_has_one_line_per_counter(self):
        """The table of one instance has a line for each counter."""
        done = self.run_fine("cook", "-", columns=60, stdin=recording(
            timer_rows(1, (0, "a", 0, 5), ids=(1, 2)),
            timer_rows(2, (0, "a", 1250000, 2**64 - 1), ids=(1, 2))))
        self.assertRegex(done.out, r'(?m)^% Busy +12\.50$')
        self.assertRegex(done.out, r'(?m)^Total "n" +1\.84467e\+19!$')
        self.assertIn("need_two_samples", done.out)

    def test_raw_values_without_type(self):
        """The raw value of a counter of unknown type is in parentheses."""
        done = self.run_fine("cook", "-", stdin=timer_rows(1, (0, "a", 7)))
        self.assertIn("(7)", done.out)

    def test_safe(self):
        """Control characters in names are escaped."""
        data = recording(timer_rows(1, (0, "\x1b]0;x\x07", 1), ids=(2,)))
        done = self.run_fine("cook", "--color", "never", "-", stdin=data)
        self.assertNotIn("\x1b", done.out)
        self.assertIn(" \\u001B]0;x\\u0007\n", done.out)

    def test_color(self):
        """--color always colors text, but not JSON."""
        data = recording(timer_rows(1, (0, "a", 1), ids=(2,)))
        self.assertIn("\x1b[1m", self.run_fine(
            "cook", "--color", "always", "-", stdin=data).out)
        self.assertNotIn("\x1b", self.run_fine("cook", "-", stdin=data).out)
        self.assertNotIn("\x1b", self.run_fine(
            "cook", "--color", "always", "--format", "json", "-",
            stdin=data).out)


class Totals(Case):
    """The flag incomplete_total: the rate of a total is too small if an
    instance ended since the previous sample."""

    def write(self, *samples):
        """Writes a capture with a rate (counter 1) and an amount (counter 2);
        returns its path. A sample is {instance: (count, amount)}."""
        ids = {"a": 1, "b": 2, "c": 3, "my_Total": 4, "0,_Total": 5,
               "_Total": 6}
        return self.file("a.pfb", w.recording(
            captures.metadata(captures.DISK, "Process", [
                (1, captures.BULK, "Reads/sec"),
                (2, captures.LARGE_RAW, "Handles")]),
            w.chunk(b"QINF", w.identifier(captures.DISK, name="*")),
            *[captures.data(number, captures.instances_result([1, 2], [
                (ids[name], name, values) for name, values in rows.items()]))
              for number, rows in enumerate(samples)]))

    def flagged(self, *samples):
        """(sample, instance, counter id) of the values with the flag. No value
        may have another flag."""
        found = []
        for item in self.run_json("cook", self.write(*samples)):
            self.assertIn(item["flags"], ([], ["incomplete_total"]))
            if item["flags"]:
                self.assertEqual(item["status"], "ok")
                found.append((item["sample"], item["instance"],
                              item["counter_id"]))
        return found

    def test_flag(self):
        """Totals have the flag in the sample in which an instance is missing,
        amounts do not."""
        names = ("a", "b", "my_Total", "0,_Total", "_Total")
        full = {name: (10, 10) for name in names}
        later = {name: (20, 20) for name in names}
        without_b = {name: (30, 30) for name in names if name != "b"}
        with_c = {**without_b, "c": (1, 1)}
        self.assertEqual(self.flagged(full, later, {}, full), [])
        self.assertEqual(self.flagged(full, later, without_b, with_c),
                         [(2, "0,_Total", 1), (2, "_Total", 1)])
        # One instance ends and another one begins.
        self.assertEqual(self.flagged(full, with_c),
                         [(1, "0,_Total", 1), (1, "_Total", 1)])
        before_b = {name: (5, 5) for name in without_b}
        self.assertEqual(self.flagged(before_b, later), [])

    def test_total_that_falls(self):
        """A total whose count fell has no value and therefore no flag."""
        self.assertEqual(self.flagged({"a": (9, 9), "_Total": (9, 9)},
                                      {"_Total": (0, 0)}), [])

    def test_text(self):
        """Tables mark such a value with a tilde and explain it below."""
        path = self.write({"a": (9, 9), "b": (0, 0), "_Total": (9, 9)},
                          {"b": (5, 5), "_Total": (12, 5)})
        lines = self.run_fine("cook", path).lines()
        row = [line.split() for line in lines if line.startswith("_Total")]
        self.assertEqual(row[1], ["_Total", "3.00~", "5"])
        self.assertIn("  ~ without instances that ended", lines)


class Policies(Case):
    """--wrap32, --cap-100 and --clamp-0, in every command that has them.

    Two samples, a second apart: a rate of a 4-byte counter from 2^32 - 10 to
    5, which is 15 if it wrapped; a timer that advanced by two seconds, 200 %;
    its inverse, 100 (1 - 2) = -100 %."""

    EXPECTED = ((None, 200, -100), (15, 200, -100), (None, 100, -100),
                (None, 200, 0), (15, 100, 0))
    OPTIONS = ((), ("--wrap32",), ("--cap-100",), ("--clamp-0",),
               ("--wrap32", "--cap-100", "--clamp-0"))

    def setUp(self):
        super().setUp()
        types = (captures.RATE, captures.TIMER, captures.TIMER_INV)
        chunks = [captures.metadata(OTHER, "Set", [
            (i, kind, "c%d" % i) for i, kind in enumerate(types, 1)],
            instance_type=0), w.chunk(b"QINF", w.identifier(OTHER))]
        for number, values in enumerate(((2**32 - 10, 0, 0),
                                         (5, 20000000, 20000000))):
            chunks.append(captures.data(number, captures.single_result(
                (1, 2, 3), (w.v4(values[0]), *values[1:]))))
        self.path = self.file("a.pfb", w.recording(*chunks))

    def test_cook_and_live(self):
        for options, expected in zip(self.OPTIONS, self.EXPECTED):
            for found in (self.run_json("cook", self.path, *options)[-3:],
                          self.live(self.path, "--set", "Set", *options)):
                self.assertEqual(tuple(item["value"] for item in found),
                                 expected, options)

    def test_report(self):
        for options, expected in zip(self.OPTIONS, self.EXPECTED):
            page = pages.Report(self.run_fine("report", self.path,
                                              *options).out)
            last = {key[-2]: line.figures[-1]
                    for key, line in page.lines.items()}
            self.assertEqual(tuple(last[name] for name in ("c1", "c2", "c3")),
                             expected, options)

    TEXT = (b'"(PDH-CSV 4.0) (UTC)(0)","\\\\PC\\P(0)\\% Idle",'
            b'"\\\\PC\\S\\Prozessorzeit (%)","\\\\PC\\S\\Delta",'
            b'"\\\\PC\\GPU Engine(a)\\Utilization Percentage"\r\n'
            b'"01/02/2024 03:04:05.000","101.5","-1.5","-300","160"\r\n'
            b'"01/02/2024 03:04:06.000","100","0","300","100"\r\n')

    def test_text_logs(self):
        """Limits apply to displayed values; a percentage has a percent sign
        in its name, or is one of the catalog. What a limit changed has a
        flag."""
        path = self.file("a.csv", self.TEXT)
        rows = {
            (): ([101.5, -1.5, -300, 160], [[], [], [], []]),
            ("--wrap32",): ([101.5, -1.5, -300, 160], [[], [], [], []]),
            ("--cap-100",): ([100, -1.5, -300, 100],
                             [["above_100"], [], [], ["above_100"]]),
            ("--clamp-0",): ([101.5, 0, 0, 160],
                             [[], ["below_zero"], ["below_zero"], []]),
            ("--cap-100", "--clamp-0"): ([100, 0, 0, 100], [
                ["above_100"], ["below_zero"], ["below_zero"],
                ["above_100"]])}
        for options, (values, flags) in rows.items():
            found = self.run_json("cook", path, *options)
            self.assertEqual([v["value"] for v in found],
                             values + [100, 0, 300, 100], options)
            self.assertEqual([v["flags"] for v in found], flags + [[]] * 4,
                             options)


class MayBeNegative(Case):
    """The flag of raw counts of 8 bytes whose highest bit is set."""

    TYPES = {  # type: (size of the value, does it have the flag)
        0x00010000: (8, True), 0x00010100: (8, True),
        0x00000000: (8, False), 0x00000100: (8, False),  # _HEX: bit patterns
        0x00010001: (8, False)}  # unknown
    TOP = (2**63 - 1, 2**63, 2**64 - 2)

    def test_v2(self):
        """Only decimal counts have it, from 2^63 on. The value stays that of
        the formula, which is unsigned."""
        chunks = [captures.metadata(OTHER, "Set", [
            (i, kind, "c%d" % i) for i, kind in enumerate(self.TYPES, 1)] + [
                (9, 0x00010000, "c9")], instance_type=0),
                  w.chunk(b"QINF", w.identifier(OTHER))]
        ids = (*range(1, len(self.TYPES) + 1), 9)
        chunks += [captures.data(number, captures.single_result(
            ids, (*[value] * len(self.TYPES), w.v4(2**32 - 2))))
                   for number, value in enumerate(self.TOP)]
        path = self.file("a.pfb", w.recording(*chunks))
        for item in self.run_json("cook", path):
            size, has_flag = dict(enumerate(self.TYPES.values(), 1)).get(
                item["counter_id"], (4, False))
            raw = self.TOP[item["sample"]] if size == 8 else 2**32 - 2
            self.assertEqual(item["raw"], raw)
            self.assertEqual(item["flags"], ["may_be_negative"] if
                             has_flag and raw >= 2**63 else [], item)
            if item["status"] == "ok":
                self.assertEqual(item["value"], float(raw))
        text = self.run_fine("cook", path).out
        self.assertEqual(text.count("! may be below zero"), 2)
        self.assertRegex(text, r"c1 +1.84467e\+19!\n")

    def test_limit(self):
        """--clamp-0 does not change it: nothing says that it is negative."""
        path = self.file("a.pfb", w.recording(
            captures.metadata(OTHER, "Set", [(1, 0x00010100, "c")],
                              instance_type=0),
            w.chunk(b"QINF", w.identifier(OTHER)),
            captures.data(0, captures.single_result((1,), (2**64 - 2,)))))
        item, = self.run_json("cook", path, "--clamp-0")
        self.assertEqual((item["value"], item["flags"]),
                         (float(2**64 - 2), ["may_be_negative"]))


if __name__ == "__main__":
    unittest.main()
