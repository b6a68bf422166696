# SPDX-License-Identifier: MIT
"""The records of show: V2 replies, metadata and captures. tests/oracle/compare.py
compares the records of V2 replies with a second reader."""

import glob
import itertools
import os
import struct
import sys
import unittest
import uuid

from captures import PROCESSOR as GUID
from program import Case, ON_WINDOWS, ROOT, bytes_of, seed, writer as w
from compare_log import STATUSES
from log_reader import Log

sys.path.insert(0, os.path.join(ROOT, "scripts"))
import make_layouts  # noqa: E402 (in the folder that was just added)

DATA_KEYS = ["record", "offset", "size", "queries", "perf_time",
             "perf_time_100ns", "perf_freq", "system_time"]
RESULT_KEYS = ["record", "offset", "query", "kind", "status", "size"]
INSTANCE_KEYS = ["record", "offset", "query", "instance", "id", "name"]
VALUE_KEYS = ["record", "offset", "query", "instance", "counter", "position",
              "bytes", "raw"]


def processors():
    """A reply with two results: of a counterset and of a single counter."""
    return w.reply(
        w.result(w.COUNTERSET, w.id_list([26, 3]) + w.instance_block(
            w.instance(0, "0,0", w.v8(2**64 - 1), w.v4(7)),
            w.instance(5, "_Total", w.v8(8), w.datum(b"\1\2\xff")))),
        w.result(w.SINGLE, w.v4(2**32 - 1), status=5))


class Data(Case):
    """V2 replies."""

    def test_keys_and_values(self):
        """Each kind of record has its keys in order, and the values of the
        reply."""
        path = self.file("a.bin", processors())
        items = self.run_json("show", path)
        self.assertEqual([item["record"] for item in items], [
            "data", "result", "instance", "value", "value", "instance",
            "value", "value", "result", "value"])
        data, result, instance, value = items[:4]
        self.assertEqual(list(data), DATA_KEYS)
        self.assertEqual(list(result), RESULT_KEYS)
        self.assertEqual(list(instance), INSTANCE_KEYS)
        self.assertEqual(list(value), VALUE_KEYS)
        self.assertEqual(data["size"], os.path.getsize(path))
        self.assertEqual(data["system_time"], "2024-05-15T12:30:45.678")
        self.assertEqual(result["kind"], "counterset")
        self.assertEqual((instance["id"], instance["name"]), (0, "0,0"))
        self.assertEqual((value["counter"], value["position"],
                          value["bytes"], value["raw"]),
                         (26, 0, 8, 2**64 - 1))

    def test_extreme_clocks(self):
        """Clocks and dates are printed as stored, also if they are impossible.
        """
        stamps = w.clocks(-2**63, 2**63 - 1, -1, (65535,) * 8)
        data = self.run_json("show", self.file("a.bin", w.reply(
            stamps=stamps)))[0]
        self.assertEqual((data["perf_time"], data["perf_time_100ns"],
                          data["perf_freq"]), (-2**63, 2**63 - 1, -1))
        self.assertEqual(data["system_time"],
                         "65535-65535-65535T65535:65535:65535.65535")

    def test_unknown_kind(self):
        """A result of unknown kind is tolerated with a note."""
        items = self.run_json("show", self.file("a.bin", w.reply(
            w.result(99, b"\0" * 8))))
        self.assertEqual(items[1]["kind"], "unknown")
        self.assertEqual(items[-1]["tolerated"], ["unknown_kind"])

    def test_standard_input(self):
        """Standard input gives the same records as a file."""
        block = processors()
        self.assertEqual(self.run_json("show", "-", stdin=block),
                         self.run_json("show", self.file("a.bin", block)))

    def test_trailing_bytes(self):
        """Bytes after a reply that are all zero, or fewer than a header, are a
        note, and an error with --strict."""
        for tail in (b"\1", b"\xff" * 47, bytes(48), bytes(500)):
            path = self.file("a.bin", processors() + tail)
            items = self.run_json("show", path)
            self.assertEqual(items[-1], {
                "record": "note", "offset": len(processors()),
                "tolerated": ["trailing_bytes"]})
            done = self.run_program("show", "--strict", path)
            self.assert_error(done, 1, path, len(processors()),
                              "trailing_bytes")


class Errors(Case):
    """Errors: the records before them are printed first."""

    def test_record_and_line(self):
        """The last record and the error line have the same code, offset and
        message."""
        data = w.reply(w.result(w.SINGLE, w.v8(1)), w.result(w.SINGLE,
                                                             size=4000))
        path = self.file("a.bin", data)
        done = self.run_program("show", "--format", "json", path)
        items = done.objects()
        self.assertEqual([item["record"] for item in items],
                         ["data", "result", "value", "error"])
        self.assertEqual(list(items[-1]), ["record", "offset", "code",
                                           "message"])
        self.assertEqual(items[-1]["offset"], 88)
        self.assert_error(done, 1, path, 88, "bad_result_size")
        self.assertTrue(done.err.rstrip().endswith(items[-1]["message"]))

    def test_offset_in_second_block(self):
        """The offset of an error counts from the start of the file."""
        good = processors()
        path = self.file("a.bin", good + w.reply(w.result(w.SINGLE, size=9)))
        done = self.run_program("show", path)
        self.assert_error(done, 1, path, len(good) + 56, "bad_result_size")
        self.assertIn("counter 26", done.out)

    def test_empty_and_cut(self):
        """Empty input is an unknown format, a truncated reply an error."""
        path = self.file("a.bin", b"")
        self.assert_error(self.run_program("show", path), 1, path, 0,
                          "unknown_format")
        path = self.file("b.bin", processors()[:-1])
        self.assert_error(self.run_program("show", path), 1, path, 0,
                          "truncated_block")
        self.assert_error(self.run_program("show", "-"), 1, "-", 0,
                          "unknown_format")

    def test_every_seed_is_shown_or_has_an_error(self):
        paths = [path for path in sorted(glob.glob(seed("*", "*_*")))
                 if os.path.isfile(path)]
        self.assertGreater(len(paths), 100)
        step = 100  # Windows takes 32,767 characters for all arguments
        for first, strict in itertools.product(range(0, len(paths), step),
                                               ([], ["--strict"])):
            done = self.run_program("show", "--format", "json", *strict,
                                    *paths[first:first + step])
            self.assertEqual(done.status, 1)
            self.assertTrue(done.objects())
            self.assertEqual(len(done.errors()),
                             sum(": note: " not in line
                                 for line in done.err.splitlines()))
            self.assertEqual(
                [(i["offset"], i["code"]) for i in done.objects()
                 if i["record"] == "error"],
                [(offset, code) for _, offset, code in done.errors()])

    def test_strict_rejects_more(self):
        """--strict rejects a result whose size is not a multiple of 8."""
        path = seed("v2", "valid_rule03_misaligned.bin")
        self.run_fine("show", path)
        done = self.run_program("show", "--strict", path)
        self.assertEqual(done.status, 1)
        self.assertEqual(done.errors()[0][2], "unaligned_size")


class Names(Case):
    """Instance names with arbitrary content."""

    def show(self, name, *arguments):
        """Runs show with a reply that has one instance of this name."""
        return self.run_fine("show", *arguments, self.file("a.bin", w.reply(
            w.result(w.INSTANCES, w.instance_block(
                w.instance(1, name, w.v4(1)))))))

    def test_lone_surrogates(self):
        """Lone surrogates are printed as U+FFFD."""
        done = self.show("a\ud800b\udc00", "--format", "json")
        self.assertEqual(done.objects()[2]["name"], "a\ufffdb\ufffd")
        self.assertIn('"a\ufffdb\ufffd"', self.show("a\ud800b\udc00").out)

    def test_json_keeps_every_other_name(self):
        for name in ("\U0001F600\u00e9\u4e2d", "\x1b[31m\x07\r\n\t\x7f\x9b",
                     'a"b\\c', "\u202eabc\u2028\ufeff", "\uffff\ufffe"):
            done = self.show(name, "--format", "json")
            self.assertEqual(done.objects()[2]["name"], name)
            self.assert_safe(done.out)

    def test_text_is_safe_for_terminals(self):
        done = self.show("\x1b[31mred\x07\x9b\u202e\u2028\x7f")
        self.assert_safe(done.out)
        self.assertIn(r'"\u001B[31mred\u0007\u009B\u202E\u2028\u007F"',
                      done.out)

    def assert_safe(self, text):
        """Asserts that the text has no control characters other than line ends,
        and no U+202E, U+2028 or U+FEFF."""
        for char in text.replace("\n", ""):
            self.assertFalse(ord(char) < 32 or 127 <= ord(char) < 160 or
                             char in "\u202e\u2028\ufeff", repr(char))


class Metadata(Case):
    """Metadata, whose kind must be given with --kind."""

    def test_counterset(self):
        """The registration of a set and of its counter has all fields."""
        data = w.counterset(GUID, [w.counter_info(3, 0x10410400, base=7,
                                                  scale=-2)])
        items = self.run_json("show", "--kind", "registration", "--request",
                              "1", self.file("a.bin", data))
        self.assertEqual(items[0], {
            "record": "counterset", "offset": 0, "guid": GUID,
            "detail_level": 100, "instance_type": 2, "counters": 1})
        self.assertEqual(items[1], {
            "record": "counter", "offset": 32, "counter": 3,
            "type": "PERF_COUNTER_COUNTER", "type_value": 0x10410400,
            "attributes": 0, "detail_level": 100, "default_scale": -2,
            "base": 7, "perf_time": None, "perf_freq": None, "multi": None,
            "aggregate": 0})

    def test_type_without_name(self):
        """A type without a name is printed as a number."""
        items = self.run_json(
            "show", "--kind", "registration", "--request", "2",
            self.file("a.bin", w.counter_info(3, 0x12000)))
        self.assertEqual(items[0]["type"], "0x00012000")

    def test_strings(self):
        """--kind strings and the request codes for strings give the same
        records."""
        path = self.file("a.bin", w.string_block([(1, "one"), (2, None)]))
        items = self.run_json("show", "--kind", "strings", path)
        self.assertEqual([(i["record"], i["offset"], i["counter"], i["text"])
                          for i in items],
                         [("string", 8, 1, "one"), ("string", 16, 2, None)])
        for request in ("5", "6", "10"):
            self.assertEqual(items, self.run_json(
                "show", "--kind", "registration", "--request", request, path))

    def test_single_strings_and_guid(self):
        """The request codes for one string or one GUID give one record."""
        path = self.file("a.bin", w.string("name"))
        for request in ("3", "4", "7", "9"):
            self.assertEqual(self.run_json(
                "show", "--kind", "registration", "--request", request, path),
                [{"record": "string", "offset": 0, "counter": None,
                  "text": "name"}])
        self.assertEqual(self.run_json(
            "show", "--kind", "registration", "--request", "8",
            self.file("b.bin", w.guid_bytes(GUID))),
            [{"record": "guid", "offset": 0, "guid": GUID}])

    def test_lists(self):
        """Lists of GUIDs, instances and identifiers."""
        self.assertEqual(self.run_json("show", "--kind", "guids", self.file(
            "a.bin", w.guid_bytes(GUID) * 2)),
            [{"record": "guid", "offset": at, "guid": GUID}
             for at in (0, 16)])
        self.assertEqual(self.run_json("show", "--kind", "instances",
                                       self.file("b.bin", w.instance(
                                           7, "x"))),
                         [{"record": "instance", "offset": 0, "query": None,
                           "instance": 0, "id": 7, "name": "x"}])
        items = self.run_json("show", "--kind", "identifiers", self.file(
            "c.bin", w.identifier(GUID, 4, 5, "*", 6) + w.identifier(GUID)))
        self.assertEqual(items[0], {
            "record": "identifier", "offset": 0, "size": 48, "guid": GUID,
            "status": 0, "counter": 4, "instance": 5, "index": 6,
            "name": "*"})
        self.assertEqual((items[1]["counter"], items[1]["instance"],
                          items[1]["name"]), (None, None, None))

    def test_empty_lists_are_fine(self):
        path = self.file("a.bin", b"")
        for kind in ("guids", "identifiers", "instances"):
            self.assertEqual(self.run_json("show", "--kind", kind, path), [])

    def test_registration_seeds(self):
        """Valid seeds of metadata are shown, broken ones have one error."""
        kinds = {11: ["guids"], 12: ["identifiers"], 13: ["instances"]}
        paths = sorted(glob.glob(seed("metadata", "*.bin")))
        self.assertGreater(len(paths), 40)
        for path in paths:
            data = bytes_of(path)
            kind = kinds.get(data[0], ["registration", "--request",
                                       str(data[0])])
            done = self.run_program("show", "--format", "json", "--kind",
                                    *kind, "-", stdin=data[1:])
            valid = os.path.basename(path).startswith("valid_")
            self.assertEqual(done.status, 0 if valid else 1, path)
            self.assertEqual(len(done.errors()), 0 if valid else 1, path)


class Captures(Case):
    """Captures: their chunks, and the records in them."""

    def test_records(self):
        """Each chunk has a record, followed by the records of what it
        contains."""
        path = seed("capture", "valid_processor_information.pfb")
        items = self.run_json("show", path)
        chunks = [item for item in items if item["record"] == "chunk"]
        self.assertEqual(chunks[0], {"record": "chunk", "offset": 0,
                                     "tag": "PFBC", "version": 1, "size": 0})
        self.assertEqual([chunk["tag"] for chunk in chunks], [
            "PFBC", "NOTE", "RGST", "RGST", "RGST", "QINF", "INST", "DATA",
            "DATA"])
        self.assertEqual((chunks[2]["guid"], chunks[2]["request"],
                          chunks[2]["language"]), (GUID, 1, 0))
        kinds = {item["record"] for item in items}
        self.assertEqual(kinds, {
            "chunk", "text", "counterset", "counter", "string", "identifier",
            "instance", "data", "result", "value"})

    def test_broken_body_does_not_hide_the_rest(self):
        """Chunks after one with broken contents are shown."""
        good = w.chunk(b"DATA", w.reply(w.result(w.SINGLE, w.v4(1))))
        data = w.recording(w.chunk(b"DATA", w.reply(total=999)), good,
                           w.registration_chunk(GUID, 3, b"\1\0"))
        path = self.file("a.pfb", data)
        done = self.run_program("show", "--format", "json", path)
        self.assertEqual(done.status, 1)
        self.assertEqual(done.errors(), [
            (path, 32, "truncated_block"),
            (path, 16 + 64 + len(good) + 40, "truncated_string")])
        self.assertIn("value", [i["record"] for i in done.objects()])

    def test_truncation(self):
        """A capture that is truncated has one error, unless it ends between
        two chunks."""
        whole = bytes_of(seed("capture", "valid_two_queries.pfb"))
        paths = [self.file("%06d" % size, whole[:size])
                 for size in range(20, len(whole), 4)]
        done = self.run_program("show", "--format", "json", *paths)
        reported = [name for name, _, _ in done.errors()]
        self.assertEqual(len(reported), len(set(reported)))
        ends = {item["offset"] for item in self.run_json(
            "show", seed("capture", "valid_two_queries.pfb"))
            if item["record"] == "chunk"}
        self.assertGreater(len(ends & set(range(20, len(whole), 4))), 3)
        for path in paths:  # a capture that ends between two chunks is valid
            self.assertIs(path in reported, os.path.getsize(path) not in ends,
                          path)

    def test_other_chunks_are_listed(self):
        """Chunks of unknown tags and versions have a record."""
        data = w.recording(w.chunk(b"LWPC", b"12345678", version=2), w.chunk(
            b"CPIH", b""), w.chunk(b"\xff\x1b\0x", b"1", version=9))
        tags = [item["tag"] for item in self.run_json(
            "show", self.file("a.pfb", data))]
        self.assertEqual(tags, ["PFBC", "LWPC", "CPIH", "\ufffd\x1b\0x"])

    def test_kind_is_detected_or_given(self):
        """--kind must agree with the file."""
        path = seed("capture", "valid_start_only.pfb")
        self.assertEqual(len(self.run_json("show", "--kind", "capture",
                                           path)), 1)
        self.assertEqual(self.run_program("show", "--kind", "data",
                                          path).status, 1)
        data = self.file("a.bin", processors())
        done = self.run_program("show", "--kind", "capture", data)
        self.assert_error(done, 1, data, 0, "unknown_format")


class Text(Case):
    """Text output: each line begins with the offset in decimal."""

    def test_lines(self):
        """Text has a line for each record."""
        done = self.run_fine("show", self.file("a.bin", processors()))
        for line in done.lines():
            self.assertRegex(line, r"^ *\d+  +[a-z]+  ")
        self.assertIn('name "_Total"', done.out)
        self.assertIn("kind single_counter  status 5 (access denied)",
                      done.out)

    def test_text_of_several_files_has_their_names(self):
        path = self.file("a.bin", processors())
        done = self.run_fine("show", path, path)
        self.assertEqual(done.out.count(path + ": data, "), 2)

    def test_tolerated_deviations_are_reported(self):
        done = self.run_fine("show", seed("v2",
                                          "valid_rule01_trailing.bin"))
        self.assertIn("tolerated trailing_bytes", done.out)


# The structures in each kind of record: their name in fields.c, their format for
# the module struct, and the keys of show for its values. A value without
# a key is skipped as padding. Sources: perflib.h, winperf.h, docs/.
LAYOUTS = {
    "data": [
        ("data_header", "IIqqq16s", "size queries perf_time perf_time_100ns "
         "perf_freq system_time"),
        ("data_block", "12xII8xIi16s4xqqq", "version revision objects "
         "default_object system_time perf_time perf_freq perf_time_100ns")],
    "result": [("counter_header", "III", "status kind size")],
    "value": [("counter_data", "I", "bytes")],
    "object": [
        ("object_type", "I8xI4xI4xIIiiIqq", "size object help detail_level "
         "counters default_counter instances code_page perf_time perf_freq")],
    "counter": [
        ("counter_definition", "4xI4xI4xiIIII", "counter help default_scale "
         "detail_level type_value bytes value_offset"),
        ("counter_reg_info", "IIQIiIIIII", "counter type_value attributes "
         "detail_level default_scale base perf_time perf_freq multi "
         "aggregate")],
    "instance": [
        ("instance_header", "4xI", "id"),
        ("instance_definition", "4xIIi",
         "parent_object parent_instance unique_id"),
        ("log_instance", "4xIQQ", "status first second")],
    "counterset": [("counterset_reg_info", "16s4xIII",
                    "guid detail_level counters instance_type")],
    "identifier": [("identifier", "16sIIIII",
                    "guid status size counter instance index")],
    "chunk": [("chunk", "4sIQ", "tag version size")],
    "log": [("log_header", "16xQ16xI4xQ12xI4xI",
             "start_time build end_time buffers pointer_size"),
            ("log_zone", "i64s16xi64s16xi", "bias standard_name "
             "standard_bias daylight_name daylight_bias")],
    "record": [("log_event", "16xQ44xI", "time parts")],
    "path": [("log_path", "4xIIIQi",
              "flags user_data type_value frequency default_scale")],
    "item": [("log_item", "3xB", "kind"),
             ("log_counter", "8xIQ4xQQI",
              "status time first second multi_count"),
             ("log_instances", "12xII4xQ", "instances status time")],
    "summary": [("log_summary", "QQI", "first_time last_time samples")],
    "control": [("lwp_control", "I4xQI4xQIIQQ8xI", "flags buffer_base head "
                 "missed threshold_bytes filters base_ip limit_ip tail")],
    "event": [("lwp_event", "BBHIQQQ",
               "id core flags data1 address data2 stamp")],
    "hook": [("cpi_hook", "8xI", "stamp")],
    "hook of summary": [("cpi_summary", "16xI", "num_cpus")],
    "hook of processors": [("cpi_processors", "16xI", "num_cpus")],
    "hook of thread": [("cpi_thread", "12xI", "tid")]}
IN_V1 = {"data_block", "object_type", "counter_definition",
         "instance_definition"}
RESULTS = {0: "error", 1: "single_counter", 2: "multiple_counters",
           4: "multiple_instances", 6: "counterset"}
# Ids; all bits set means none.
IDS = {("counter_reg_info", key)
       for key in ("base", "perf_time", "perf_freq", "multi")} | {
    ("identifier", "counter"), ("identifier", "instance")}
# Keys that are null in records in which the field has no meaning.
NULLABLE = {"parent_object", "parent_instance", "first", "second", "stamp"}


def shown(name, key, value, order):
    """The value of a field of the structure `name` as JSON output has it;
    `value` is what the module struct returned for it."""
    if key == "guid":
        return str(uuid.UUID(bytes_le=value))
    if key == "system_time":
        parts = struct.unpack(order + "8H", value)
        return "%04d-%02d-%02dT%02d:%02d:%02d.%03d" % (parts[:2] + parts[3:])
    if key == "tag":
        return value.decode("utf-8", "replace")
    if key in ("standard_name", "daylight_name"):
        return value.decode("utf-16-le").split("\0")[0]
    if (name, key) == ("counter_header", "kind"):
        return RESULTS.get(value, "unknown")
    if key == "status" and name.startswith("log_"):
        return STATUSES.get(value, "unknown_status_0x%08X" % value)
    return None if (name, key) in IDS and value == 2**32 - 1 else value


def structures_of(items, data):
    """(record, bytes, offset in them) of each record that show printed of a
    file, and of each hook in a group. `items` are the records, `data` is the
    content of the file. Offsets in records of a perfmon log count from the
    start of the joined record."""
    joined = {offset: b"".join(part for _, part in parts)
              for _, offset, _, parts in Log(data).records}
    content = data
    for item in items:
        if item["record"] == "log":
            yield item, data, 72
        elif item["record"] == "record":
            yield item, data, item["offset"]
            content = joined[item["offset"]]
        elif "offset" in item:
            yield item, content, item["offset"]
        for hook in item.get("hooks", ()):
            yield dict(hook, record="hook"), data, hook["offset"]
            yield dict(*hook.get("figures", [])[:1], **hook,
                       record="hook of " + hook["hook"]), data, hook["offset"]


class Fields(Case):
    """Keys whose value is the content of one field."""

    def compare(self, path, *arguments):
        """Asserts that the records of a file have the values of the bytes at
        their offsets. Returns the (structure, key) that were compared."""
        compared, v1_order = set(), "<"
        with open(path, "rb") as file:
            data = file.read()
        for record, content, start in structures_of(self.run_program(
                "show", path, "--format", "json", *arguments).objects(), data):
            if "big_endian" in record:
                v1_order = ">" if record["big_endian"] else "<"
            for name, layout, keys in LAYOUTS.get(record["record"], ()):
                if any(key not in record for key in keys.split()) or \
                        name == "counter_data" and "query" not in record:
                    continue  # a structure of another format
                order = v1_order if name in IN_V1 else "<"
                at = start + (88 + 2 * record["pointer_size"]
                              if name == "log_zone" else 0)
                # A record of a ring may end before its time stamp.
                for key, value in zip(keys.split(), struct.unpack_from(
                        order + layout, content + bytes(8), at)):
                    if record[key] is None and key in NULLABLE:
                        continue
                    self.assertEqual(record[key],
                                     shown(name, key, value, order),
                                     (path, record, key))
                    compared.add((name, key))
        return compared

    def test_values_are_those_of_the_bytes(self):
        """Every field that has a key in fields.c is compared."""
        with open(os.path.join(ROOT, "cli", "visitor", "fields.c"),
                  encoding="utf-8") as file:
            arrays = make_layouts.ARRAY.findall(file.read())
        described = {(name, row[4]) for name, body in arrays
                     for row in make_layouts.ROW.findall(body) if row[4]}
        self.assertEqual(described, {
            (name, key) for structures in LAYOUTS.values()
            for name, _, keys in structures for key in keys.split()})
        compared = set()
        for subject, kind in (("v2", "data"), ("v1", "v1"), ("log", "log"),
                              ("capture", "capture"), ("lwp", "lwp"),
                              ("hooks", "cpi")):
            for path in sorted(glob.glob(seed(subject, "valid_*")))[
                    ::20 if ON_WINDOWS else 1]:
                compared |= self.compare(path, "--kind", kind)
        if not ON_WINDOWS:
            self.assertEqual(compared, described)


if __name__ == "__main__":
    unittest.main()
