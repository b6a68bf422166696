# SPDX-License-Identifier: MIT
"""V1 blocks in show, check, cook, record and countersets. tests/oracle/compare.py
compares every record, value and error of the seeds with a second reader."""

import csv
import io
import json
import os
import struct
import unittest

import v1_blocks as v1
from v1_blocks import BIG, LITTLE, ONE_RAW, counter, plain
from program import Case, code_pages, needs_real_data, real, writer as v2

DATA_KEYS = ["record", "offset", "version", "size", "objects", "perf_time",
             "perf_time_100ns", "perf_freq", "system_time"]
OBJECT_KEYS = ["record", "offset", "object", "name", "instances", "code_page"]
COUNTER_KEYS = ["record", "offset", "object", "counter", "position", "type",
                "bytes", "value_offset"]
INSTANCE_KEYS = ["record", "offset", "object", "instance", "name",
                 "unique_id", "occurrence"]
VALUE_KEYS = ["record", "offset", "object", "instance", "counter", "position",
              "bytes", "raw", "base"]
COOK_KEYS = ["sample", "time", "set", "object", "instance", "occurrence",
             "counter", "counter_id", "position", "type", "status", "value",
             "unit", "flags", "raw", "base"]


def rows(w, *named, title=230, counters=None, **keywords):
    """An object with one counter and the instances `named`: (name, raw value)
    or (name, raw value, keyword arguments of the instance)."""
    bodies = [w.instance(name, w.values((4, 4, number)), **dict(*more))
              for name, number, *more in named]
    return w.object(title, counters or ONE_RAW, *bodies, **keywords)


def rich(w, moment):
    """A block of second `moment`: an object without instances, and one with
    two instances whose counters have bases, multi counts and a label. The raw
    count and the timers grow with the moment."""
    timer = [counter(6, v1.TIMER, 8, 8), counter(408, v1.FRACTION, 16, 4),
             counter(408, v1.FRACTION_BASE, 20, 4),
             counter(12, v1.MULTI_TIMER, 24, 8), counter(14, v1.LABEL, 0, 0)]
    values = w.values((8, 8, 2500000 * moment), (16, 4, 3), (20, 4, 8),
                      (24, 8, 4000000 * moment), (32, 4, 2))
    return w.block(plain(w, 70 + moment),
                   w.object(236, timer, w.instance("C:", values),
                            w.instance("_Total", values, unique=9)),
                   moment=moment)


def broken(w):
    """An object whose second instance has a counter block that is larger than
    the object, and the offset of that size in the object."""
    good = w.instance("a", w.values((4, 4, 1)))
    bad = w.instance("b", w.pack("II", 4000, 0))
    return (w.object(4, ONE_RAW, good, bad),
            64 + 40 + len(good) + len(bad) - 8)


class Show(Case):
    """What show prints of V1 blocks."""

    def show(self, data, *arguments):
        """The JSON records of show."""
        return self.run_json("show", *arguments, "-", stdin=data)

    def test_records_and_keys(self):
        """Each kind of record has its keys in order, and the values of the
        block."""
        items = self.show(rich(LITTLE, 1))
        self.assertEqual([i["record"] for i in items], [
            "data", "object", "counter", "value", "object"] +
            ["counter"] * 5 + (["instance"] + ["value"] * 5) * 2)
        for keys, item in ((DATA_KEYS, items[0]), (OBJECT_KEYS, items[1]),
                           (COUNTER_KEYS, items[2]), (VALUE_KEYS, items[3]),
                           (INSTANCE_KEYS, items[10])):
            self.assertEqual(list(item)[:len(keys)], keys)
        data, first, definition, value = items[:4]
        self.assertEqual(
            [data[key] for key in DATA_KEYS[1:]],
            [0, 1, len(rich(LITTLE, 1)), 2, 10**7, 10**7, 10**7,
             "2024-05-15T12:30:01.007"])
        self.assertEqual((data["system_name"], data["big_endian"]),
                         ("HOST", False))
        self.assertEqual([first[key] for key in OBJECT_KEYS[1:]],
                         [104, 2, None, -1, 0])
        self.assertEqual([definition[key] for key in COUNTER_KEYS[1:]],
                         [168, 2, 20, 0, "PERF_COUNTER_RAWCOUNT", 4, 4])
        self.assertEqual([value[key] for key in VALUE_KEYS[1:]],
                         [212, 2, None, 20, 0, 4, 71, None])

    def test_blocks_of_both_formats(self):
        """V1 blocks and V2 replies may follow each other in a file."""
        reply = v2.reply(v2.result(v2.SINGLE, v2.v4(5)))
        block = LITTLE.block(plain(LITTLE, 1))
        for data in (reply + block, block + reply):
            records = [i["record"] for i in self.show(data)]
            self.assertEqual(sorted(records), [
                "counter", "data", "data", "object", "result", "value",
                "value"])

    def test_text(self):
        """Text has the name of each file, and a line for each record."""
        path = self.file("a.bin", rich(LITTLE, 1))
        done = self.run_fine("show", path, path)
        self.assertEqual(done.out.count(path + ": v1, "), 2)
        self.assertRegex(done.out, r"(?m)^ +212 +value  counter 20 .*raw 71$")
        self.assertRegex(done.out, r'(?m)^ +\d+ +instance  instance 1  '
                         r'name "_Total"  unique_id 9$')


class Names(Case):
    """Names of instances in several encodings, with any content."""

    def names(self, raw, code_page, *options, w=LITTLE):
        """The text of a name in this code page, from its stored bytes. show
        and cook must print the same."""
        data = w.block(w.object(230, ONE_RAW, w.instance(
            "", w.values((4, 4, 1)), raw_name=raw), code_page=code_page))
        shown = self.run_json("show", *options, "-", stdin=data)[3]["name"]
        cooked = self.run_program(
            "cook", "--quiet", *options, "--format", "json", "-",
            stdin=data).objects()[0]["instance"]
        self.assertEqual(shown, cooked)
        return shown

    def test_code_pages(self):
        """Names are decoded by the code page of their object; unknown pages as
        ASCII, unless --code-page replaces them. It does not replace UTF-16."""
        every = bytes(range(1, 256))
        unknown = "".join(map(chr, range(1, 128))) + "\ufffd" * 128
        for page in code_pages.CODECS:
            self.assertEqual(self.names(every, page),
                             code_pages.decode(every, page), page)
        self.assertEqual(self.names(every, 28591), every.decode("latin-1"))
        self.assertEqual(self.names(every, 20127), unknown)
        for page in (437, 1, 2**32 - 1):
            self.assertEqual(self.names(every, page), unknown)
            self.assertEqual(self.names(every, page, "--code-page", "1251"),
                             code_pages.decode(every, 1251))
        self.assertEqual(self.names("x\u0416".encode("utf-16-le"), 0,
                                    "--code-page", "1251"), "x\u0416")
        text = "a\u00e9\u4e2d\U0001F600"
        self.assertEqual(self.names(text.encode() + b"\xff\xc3", 65001),
                         text + "\ufffd\ufffd")

    def test_an_unknown_code_page_is_noted(self):
        """Once in a file, unless all names are ASCII or an option says what
        the code page is. Different names may become equal."""
        note = "the names of object 230 are in code page 437"
        for raw, page, options, count in (
                (b"\x80", 437, (), 1), (b"a", 437, (), 0),
                (b"\x80", 1252, (), 0),
                (b"\x80", 437, ("--code-page", "1252"), 0)):
            blocks = b"".join(LITTLE.block(*(LITTLE.object(
                230, ONE_RAW, LITTLE.instance(
                    "", LITTLE.values((4, 4, 1)), raw_name=raw),
                code_page=page) for _ in range(2)), moment=moment)
                              for moment in (1, 2))
            done = self.run_program("cook", *options, "-", stdin=blocks)
            self.assertEqual((done.status, done.err.count(note)), (0, count))

    def test_names_without_end(self):
        """A name without NUL ends where its field ends."""
        for page in (0, 1252, 65001, 437):
            self.assertEqual(len(self.names(b"ab" * 30000, page)),
                             30000 if page == 0 else 60000)

    def test_text_is_safe_for_terminals(self):
        """Text has no control or directional characters of any name."""
        data = LITTLE.block(rows(LITTLE, ("\x1b]0;x\x07\u202e", 1)),
                            name="\x1b[2J\u2028")
        table = self.file("n.tsv", b"20\t\x1b[1m\xff\n230\t\x9b\x85\n")
        for command in ("show", "cook"):
            out = self.run_fine(command, "--names", table, "-",
                                stdin=data).out
            for char in out.replace("\n", ""):
                self.assertFalse(ord(char) < 32 or 127 <= ord(char) < 160 or
                                 char in "\u202e\u2028", repr(char))


class Broken(Case):
    """An error in an object affects only that object."""

    def test_countersets(self):
        """All objects are listed."""
        w = LITTLE
        first, (bad, at) = plain(w, 1), broken(w)
        path = self.file("a.bin", w.block(first, bad, plain(w, 3, 6)))
        done = self.run_program("countersets", "--format", "json", "--source",
                                path)
        self.assert_error(done, 1, path, 104 + len(first) + at,
                          "bad_counter_block_size")
        self.assertEqual([i["object"] for i in done.objects()
                          if i["record"] == "object"], [2, 4, 6])

    def test_every_error_is_reported(self):
        """show and cook report the errors of all objects, check only the
        first."""
        w = LITTLE
        bad, at = broken(w)
        good = plain(w, 1)
        lost = w.object(8, ONE_RAW, size=10**6)
        data = w.block(bad, good, bad, lost, name_offset=10**6)
        starts = [104, 104 + len(bad) + len(good)]
        expected = [
            (start + at, "bad_counter_block_size") for start in starts] + [
            (starts[1] + len(bad), "bad_object_size")]
        path = self.file("b.bin", data)
        for command in ("show", "cook"):
            done = self.run_program(command, path)
            self.assertEqual(done.errors(), [(path, *one)
                                             for one in expected])
        self.assertEqual(self.run_program("check", path).errors(),
                         [(path, *expected[0])])

    def test_tolerated_and_strict(self):
        """Bytes after a block are a note, and an error with --strict."""
        data = LITTLE.block(plain(LITTLE, 5)) + b"\0" * 100
        path = self.file("b.bin", data)
        items = self.run_json("show", path)
        self.assertEqual(items[-1], {
            "record": "note", "offset": len(data) - 100,
            "tolerated": ["trailing_bytes"]})
        for command in (["show"], ["check"], ["cook"],
                        ["convert", "-o", path + ".pfb"]):
            done = self.run_program(*command, "--strict", path)
            self.assert_error(done, 1, path, len(data) - 100,
                              "trailing_bytes")
        chunk = self.file("c.pfb", v2.recording(v2.chunk(b"V1DT", data)))
        self.assertEqual(self.run_json("show", chunk)[-1]["tolerated"],
                         ["trailing_bytes"])
        done = self.run_program("check", "--strict", chunk)
        self.assert_error(done, 1, chunk, 32 + len(data) - 100,
                          "trailing_bytes")


def without_header(data):
    """The little-endian block `data`, with a total size that does not include
    its header."""
    total, header = struct.unpack_from("<II", data, 20)
    return data[:20] + struct.pack("<I", total - header) + data[24:]


class SizeWithoutHeader(Case):
    """Blocks whose total size does not include the header, as Samba's server
    writes them. They are read with a note; --strict rejects them."""

    NOTE = ["size_without_header"]

    def test_several_blocks(self):
        """Such blocks may follow each other and correct ones."""
        blocks = [rich(LITTLE, moment) for moment in (1, 2, 3)]
        data = (without_header(blocks[0]) + without_header(blocks[1]) +
                blocks[2])
        self.assertEqual(self.run_json("cook", "-", stdin=data),
                         self.run_json("cook", "-", stdin=b"".join(blocks)))
        path = self.file("b.bin", data)
        checked = self.run_json("check", path)
        self.assertEqual([item["tolerated"] for item in checked], [self.NOTE])
        chunks = [v2.chunk(b"V1DT", without_header(b)) for b in blocks]
        capture = self.file("c.pfb", v2.recording(*chunks))
        whole = self.file("w.pfb", v2.recording(
            *(v2.chunk(b"V1DT", b) for b in blocks)))
        self.assertEqual(self.run_json("cook", capture),
                         self.run_json("cook", whole))

    def test_strict(self):
        """--strict rejects the block with the offset of its total size."""
        path = self.file("b.bin", rich(LITTLE, 1) +
                         without_header(rich(LITTLE, 2)))
        at = len(rich(LITTLE, 1)) + 20
        for command in ("show", "check", "cook"):
            self.assert_error(self.run_program(command, "--strict", path), 1,
                              path, at, "size_without_header")


class Kinds(Case):
    """--kind, and the format that is detected without it."""

    def test_forced(self):
        """With --kind a file of the other format is an error."""
        block = rich(LITTLE, 1)
        self.assertEqual(self.run_json("show", "--kind", "v1", "-",
                                       stdin=block),
                         self.run_json("show", "-", stdin=block))
        for command in ("show", "check", "cook"):
            done = self.run_program(command, "--kind", "data", "-",
                                    stdin=block)
            self.assert_error(done, 1, "-", 0, "truncated_block")
            done = self.run_program(command, "--kind", "v1", "-",
                                    stdin=v2.reply() + bytes(80))
            self.assert_error(done, 1, "-", 0, "unknown_format")

    def test_check_counts(self):
        """check counts blocks, objects, instances and values."""
        path = self.file("a.bin", rich(LITTLE, 1) * 2)
        self.assertEqual(self.run_fine("check", path).out, path + ": ok (v1, "
                         "%d bytes, 2 blocks, 4 objects, 4 instances, "
                         "22 values)\n" % os.path.getsize(path))


class Cook(Case):
    """What cook prints of V1 blocks."""

    def cook(self, data, *arguments):
        """The JSON records of cook."""
        return self.run_json("cook", *arguments, "-", stdin=data)

    def test_keys_and_values(self):
        """A record has all keys in order, and the value computed from both
        blocks."""
        for w in (LITTLE, BIG):
            items = self.cook(rich(w, 1) + rich(w, 2))
            self.assertEqual(len(items), 22)
            for item in items:
                self.assertEqual(list(item)[:len(COOK_KEYS)], COOK_KEYS)
            self.assertEqual({key: items[12][key] for key in COOK_KEYS}, {
                "sample": 1, "time": "1601-01-01T00:00:02.0000000Z",
                "set": None, "object": 236, "instance": "C:", "occurrence": 0,
                "counter": None, "counter_id": 6, "position": 0,
                "type": "PERF_100NSEC_TIMER", "status": "ok", "value": 25,
                "unit": "%", "flags": [], "raw": 5000000, "base": None})
            self.assertEqual([(items[n]["guid"], items[n]["instance_id"])
                              for n in (11, 12, 17)],
                             [(None, None), (None, None), (None, 9)])
            plain_one, _, part, base, multi, label = items[11:17]
            self.assertEqual((plain_one["instance"], plain_one["value"]),
                             (None, 72))
            self.assertEqual((part["value"], part["raw"], part["base"]),
                             (37.5, 3, 8))
            self.assertEqual((base["status"], base["counter_id"],
                              base["raw"]), ("not_displayed", 408, 8))
            self.assertEqual((multi["status"], multi["value"]), ("ok", 20))
            self.assertEqual((label["status"], label["raw"]),
                             ("not_displayed", None))

    def test_captures(self):
        """In a capture with V1 and V2 samples, V1 samples are compared with V1
        samples and V2 samples with V2 samples."""
        guid = "3f1c0c4e-5d1b-4a53-9c2e-0a1b2c3d4e5f"
        timer = v2.counterset(guid, [v2.counter_info(1, v1.TIMER)])

        def reply(number):
            return v2.chunk(b"DATA", v2.reply(v2.result(
                v2.COUNTERSET, v2.id_list([1]) + v2.instance_block(
                    v2.instance(0, "a", v2.v8(5000000 * number)))),
                stamps=v2.clocks(10**7 * number, 10**7 * number)))
        chunks = [v2.registration_chunk(guid, 1, timer),
                  v2.chunk(b"QINF", v2.identifier(guid, name="*"))]
        for number in (1, 2):
            chunks += [reply(number), v2.chunk(b"V1DT", rich(LITTLE, number))]
        items = self.cook(v2.recording(*chunks))
        self.assertEqual([(i["sample"], i["object"], i["value"])
                          for i in items if i["type"] == "PERF_100NSEC_TIMER"
                          and i["instance"] in ("a", "C:")], [
            (0, None, None), (1, 236, None), (2, None, 50), (3, 236, 25)])

    def test_formats_are_not_compared_with_each_other(self):
        """A V2 reply between two V1 blocks does not change their values."""
        reply = v2.reply(v2.result(v2.SINGLE, v2.v4(5)), stamps=v2.clocks(
            15 * 10**6, 15 * 10**6))
        paths = [self.file(name, data) for name, data in (
            ("a", rich(LITTLE, 1)), ("b", reply), ("c", rich(LITTLE, 2)),
            ("d", rich(LITTLE, 3)))]
        items = [i for i in self.run_json("cook", *paths)
                 if i["counter_id"] == 6 and i["instance"] == "C:"]
        self.assertEqual([(i["sample"], i["status"]) for i in items], [
            (0, "need_two_samples"), (2, "ok"), (3, "ok")])

    def test_broken_file_between(self):
        """A truncated block is an error and takes no sample number; the rate
        after it is computed across it."""
        paths = [self.file("a", rich(LITTLE, 1)),
                 self.file("b", rich(LITTLE, 2)[:-1]),
                 self.file("c", rich(LITTLE, 3))]
        done = self.run_program("cook", "--format", "json", *paths)
        self.assert_error(done, 1, paths[1], 20, "truncated_block")
        self.assertEqual([(i["sample"], i["value"]) for i in done.objects()
                          if i["counter_id"] == 6 and i["instance"] == "C:"],
                         [(0, None), (1, 25)])

    def test_csv(self):
        """CSV has the columns and the displayed values of JSON."""
        data = rich(LITTLE, 1) + rich(LITTLE, 2)
        text = self.run_fine("cook", "--format", "csv", "-", stdin=data).out
        items = [i for i in self.cook(data)
                 if i["status"] != "not_displayed"]
        read = list(csv.DictReader(io.StringIO(text)))
        self.assertEqual(list(read[0]), list(items[0]))
        self.assertEqual([(r["object"], r["instance"], r["value"])
                          for r in read],
                         [(str(i["object"]), i["instance"] or "",
                           "" if i["value"] is None else "%g" % i["value"])
                          for i in items])

    def test_text_names_the_parent(self):
        """Tables have parent/name#number, JSON has the parts."""
        w = LITTLE
        data = w.block(rows(w, ("idle", 1)), rows(
            w, ("0", 1, {"parent": (230, 0)}),
            ("0", 2, {"parent": (230, 0)}), title=232))
        done = self.run_fine("cook", "-", stdin=data)
        self.assertRegex(done.out, r"(?m)^idle/0 +1$")
        self.assertRegex(done.out, r"(?m)^idle/0#1 +2$")
        items = self.cook(data)
        self.assertEqual([(i["instance"], i["parent"], i["occurrence"])
                          for i in items], [("idle", None, 0),
                                            ("0", "idle", 0),
                                            ("0", "idle", 1)])

    def test_objects_with_the_same_title_are_separate(self):
        """Two objects with one title index have a table each."""
        w = LITTLE
        done = self.run_fine("cook", "-", stdin=w.block(
            rows(w, ("x" * 9, 1), code_page=1252),
            rows(w, ("x" * 9, 2), code_page=1252)))
        self.assertEqual(done.out.count("Object 230, sample 0"), 2)


class Converted(Case):
    """convert of V1 files."""

    def test_blocks(self):
        """A recording of a V1 file has its values and names, or those of the
        selected object."""
        path = self.file("a.bin", rich(LITTLE, 1) + rich(LITTLE, 2))
        table = self.file("n", b"1\t1847\n236\tDisk\n408\tFree\n")
        cooked = self.run_json("cook", path, "--names", table, "-q")
        made = os.path.join(self.folder, "made.pfb")
        self.run_fine("convert", path, "--names", table, "-o", made)
        self.assertEqual(self.run_json("cook", made, "-q"), cooked)
        other = os.path.join(self.folder, "other.pfb")
        self.run_fine("convert", made, "--set", "Disk", "-o", other)
        self.assertEqual(
            {i["object"] for i in self.run_json("cook", other, "-q")}, {236})


class Countersets(Case):
    """What countersets prints of V1 files."""

    def test_each_title_is_listed_once(self):
        """Objects of several blocks are listed once, with names and counters.
        """
        path = self.file("a.bin", rich(LITTLE, 1) + rich(LITTLE, 2) +
                         LITTLE.block(plain(LITTLE, 1, 4)))
        table = self.file("n", b"1\t1847\n4\tMemory\n236\tDisk\n408\tFree\n")
        items = self.run_json("countersets", "-q", "--source", path,
                              "--names", table)
        self.assertEqual([(i["object"], i["name"], i["counters"],
                           i["instances"]) for i in items
                          if i["record"] == "object"],
                         [(2, None, 1, -1), (236, "Disk", 5, 2),
                          (4, "Memory", 1, -1)])
        found = [i for i in items if i["record"] == "counter"]
        self.assertEqual([(i["object"], i["set"], i["id"], i["name"],
                           i["type"], i["base_position"]) for i in found[2:4]],
                         [(236, "Disk", 408, "Free", "PERF_RAW_FRACTION", 2),
                          (236, "Disk", 408, "Free", "PERF_RAW_BASE", None)])
        self.assertEqual(len(found), 7)
        found = self.run_json("countersets", "-q", "--source", path, "--names",
                              table, "disk", "4")
        self.assertEqual([i["object"] for i in found
                          if i["record"] == "object"], [236, 4])
        self.assertEqual(len([i for i in found
                              if i["record"] == "instance"]), 2)
        text = self.run_fine("countersets", "-q", "--source", path).out
        self.assertRegex(text, r"(?m)^object  object 236  counters 5  "
                         r"instances 2$")

    def test_captures(self):
        """The objects of a capture have the names of its name table."""
        capture = v2.recording(
            v2.chunk(b"NAME", bytes(4) + b"2\tSystem\n"),
            *[v2.chunk(b"V1DT", rich(LITTLE, n)) for n in (1, 2)])
        items = self.run_json("countersets", "--source", self.file(
            "a.pfb", capture))
        self.assertEqual([(i["object"], i["name"]) for i in items
                          if i["record"] == "object"],
                         [(2, "System"), (236, None)])

    def test_other_files(self):
        """A file of V2 replies is refused: they name no sets."""
        path = self.file("a.bin", v2.reply())
        self.assert_error(self.run_program("countersets", "--source", path), 1,
                          path, 0, "unknown_format")


class Hostile(Case):
    """No input causes an endless loop or unbounded memory."""

    def test_many_small_structures(self):
        """Files of many empty objects, blocks or name tables are read within
        the time limit."""
        w = LITTLE
        empty = w.object(2, [])
        many = self.file("a.bin", w.block(*[empty] * 50000))
        blocks = self.file("b.bin", w.block(empty) * 20000)
        names = self.file("c.pfb", v2.recording(*[v2.chunk(
            b"NAME", bytes(4) + b"%d\tx\n" % n) + v2.chunk(
                b"V1DT", w.block(empty)) for n in range(10000)]))
        for path in (many, blocks, names):
            for command in ("show", "check", "cook"):
                self.run_fine(command, "--format", "json", path)
            self.run_fine("countersets", "--source", path)

    def test_counts_larger_than_the_file(self):
        """Counts that exceed their object or block, values that overlap too
        often and an object size of 0 are one error."""
        w = LITTLE
        shared = [counter(1, v1.RAW, 4, 4)] * 2000
        for data in (w.block(w.object(2, [], count=2**32 - 1)),
                     w.block(w.object(2, [], instances=2**31 - 1)),
                     w.block(w.object(2, shared, *[w.instance(
                         "a", w.values((4, 4, 1)))] * 2000)),
                     w.block(w.object(2, [], size=0))):
            for command in ("show", "check", "cook"):
                done = self.run_program(command, "-", stdin=data)
                self.assertEqual((done.status, len(done.errors())), (1, 1))


@needs_real_data
class Real(Case):
    """Blocks of a real machine, compared with values from exact arithmetic."""

    def real(self, name):
        """The path of a captured file."""
        return real("v1", name)

    def test_every_value(self):
        """Each raw and displayed value is the expected one, to the last bit.
        """
        with open(self.real("expected-s00-s01.jsonl"),
                  encoding="utf-8") as file:
            expected = [json.loads(line) for line in file]
        self.assertEqual(len(expected), 1719)
        types = {"0x%08x" % t["value"]: t["name"]
                 for t in self.run_json("types")}
        cooked = {}
        for title in sorted({row["object"] for row in expected}):
            for item in self.run_json("cook", *[self.real(
                    "pal-s%02d-obj%d.bin" % (n, title)) for n in (0, 1)]):
                if item["sample"] == 1:
                    key = (item["object"], item["instance"],
                           item["occurrence"], item["position"])
                    self.assertNotIn(key, cooked)
                    cooked[key] = item
        self.assertEqual(len(cooked), len(expected))
        for row in expected:
            key = (row["object"], row["instance"], row["occurrence"],
                   row["pos"])
            item = cooked[key]
            self.assertEqual(item["counter_id"], row["counter"], key)
            self.assertEqual(item["type"], types.get(row["type"]), key)
            self.assertEqual((item["raw"], item["base"], item["status"]),
                             (row["raw"], row["base"], row["status"]), key)
            self.assert_double(item["value"], row["value"], key)

    def assert_double(self, value, expected, key):
        """Both are the same double, or both are null."""
        if value is None or expected is None:
            self.assertIs(value, expected, key)
        else:
            self.assertEqual(struct.pack("<d", value),
                             struct.pack("<d", expected), key)

    def test_names(self):
        """A captured name table keeps its lines, and gives names to objects.
        """
        table = self.real("names-009.tsv")
        with open(table, encoding="utf-8") as file:
            lines = file.read().splitlines()
        items = self.run_json("show", table)
        self.assertEqual(["%d\t%s" % (i["index"], i["name"]) for i in items],
                         lines)
        found = {i["set"] for i in self.run_json(
            "cook", "--names", table, *[self.real("pal-s00-obj%d.bin" % title)
                                        for title in (2, 230, 638)])}
        self.assertEqual(found, {"System", "Process", "TCPv4"})


@needs_real_data
class RealSamba(Case):
    """Blocks of Samba's server; the expected values are computed from the counts
    that were stored in its databases."""

    def real(self, name):
        """The path of a captured file."""
        return real("v1-samba", name)

    def test_every_value(self):
        """The displayed values are those of the stored counts."""
        items = self.run_json("cook", "--names", self.real("names.bin"),
                              self.real("g0.bin"), self.real("g1.bin"))
        found = {(item["set"], item["instance"], item["counter"]):
                 item["value"] for item in items if item["sample"] == 1}
        expected = {("Memory", None, "Available Bytes"): 4077,
                    ("Memory", None, "Page Faults/sec"): 77,
                    ("Memory", None, "Pages/sec"): 77}
        for number, name in enumerate(("0", "1", "_Total"), 1):
            expected.update({
                ("Processor", name, "% Processor Time"): 10 * number,
                ("Processor", name, "% User Time"): 10 * number,
                ("Processor", name, "Interrupts/sec"): 1000000 * number})
        self.assertEqual(found, expected)

    def test_sizes(self):
        """The blocks are tolerated, and rejected by --strict."""
        for name in ("g0.bin", "g1.bin"):
            shown = self.run_json("show", self.real(name))
            self.assertEqual(shown[0]["size"], 720)
            self.assertEqual(shown[-1]["tolerated"], ["size_without_header"])
            path = self.real(name)
            self.assert_error(self.run_program("check", "--strict", path), 1,
                              path, 20, "size_without_header")


if __name__ == "__main__":
    unittest.main()
