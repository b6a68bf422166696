# SPDX-License-Identifier: MIT
"""Tests of the V1 readers in this folder.

Run with: python3 -m unittest test_v1. If PERFBLOCK_REAL_DATA names the folder
of captured data, values of captured blocks are tested too.
"""

import json
import os
import struct
import unittest

import v1
import v1_cook
import v1_seeds
from v1_writer import big, little, multi_string

REAL = os.environ.get("PERFBLOCK_REAL_DATA")
ID_PROCESS = 784
RATE, RAW, AVERAGE, BASE = 0x10410400, 0x00010000, 0x40020500, 0x40030402
MULTI, MULTI_BASE, ELAPSED = 0x22410500, 0x42030500, 0x30240500


def read(name):
    """The bytes of a captured file."""
    with open(os.path.join(REAL, "v1", name), "rb") as file:
        return file.read()


def pick(records, kind):
    """The records of one kind."""
    return [record for record in records if record["record"] == kind]


class Seeds(unittest.TestCase):
    """Seeds are valid or broken as their names say."""

    def test_blocks(self):
        """The reader accepts the blocks named valid_* and no others."""
        codes = set()
        for name, seed in v1_seeds.v1_seeds().items():
            found = v1.verdict(v1.decode_file(seed))
            with self.subTest(name):
                self.assertEqual(name.startswith("valid_"), found is None)
                if found:
                    codes.add(found[0])
                    self.assertTrue(0 <= found[1] <= len(seed))
        self.assertEqual(codes, {
            "truncated_header", "truncated_block", "truncated_object",
            "truncated_definition", "truncated_instance",
            "truncated_counter_block", "unknown_format", "bad_total_size",
            "bad_byte_order", "bad_header_size", "bad_object_count",
            "bad_object_size", "bad_definition_length", "bad_counter_count",
            "bad_instance_count", "bad_definition_size", "bad_instance_size",
            "bad_counter_block_size", "bad_counter_offset", "bad_name",
            "excessive_values"})

    def test_name_tables(self):
        """The reader accepts the name tables named valid_* and no others."""
        for name, seed in v1_seeds.name_table_seeds().items():
            with self.subTest(name):
                self.assertEqual(name.startswith("valid_"),
                                 v1.Names(seed).error is None)

    def test_truncated_seeds_raise_no_exception(self):
        """Truncated blocks and name tables are read without an exception."""
        for seed in v1_seeds.v1_seeds().values():
            for size in range(0, len(seed), 7):
                v1_cook.cook_files([seed[:size], seed])
        for seed in v1_seeds.name_table_seeds().values():
            for size in range(len(seed)):
                v1.Names(seed[:size])


class Blocks(unittest.TestCase):
    """What v1.py reads from blocks."""

    def test_one_counter(self):
        """The records of a block with one object, counter and value."""
        data = "PERF".encode("utf-16-le") + struct.pack(
            "<IIIIIIi16x4xqqqII", 1, 1, 1, 200, 88, 1, -1, 5, 6, 7, 0, 0)
        data += struct.pack("<IIIIIIIIIiiIqq", 112, 104, 64, 2, 0, 3, 0, 100,
                            1, -1, -1, 0, 8, 9)
        data += struct.pack("<IIIIIiIIII", 40, 10, 0, 11, 0, 0, 100, RATE, 4,
                            4)
        data += struct.pack("<II", 8, 4242)
        records = v1.decode_block(data)
        self.assertEqual(
            [(record["record"], record["offset"]) for record in records],
            [("data", 0), ("object", 88), ("counter", 152), ("value", 196)])
        value = records[-1]
        self.assertEqual((value["raw"], value["instance"], value["counter"]),
                         (4242, None, 10))

    def test_byte_orders_agree(self):
        """Both byte orders give the same records."""
        shown = []
        for writer in (little, big):
            block = writer.block(v1_seeds.process(
                writer, *v1_seeds.ROWS))
            shown.append([v1.public(record)
                          for record in v1.decode_block(block)])
        self.assertEqual([records[0].pop("big_endian") for records in shown],
                         [False, True])
        self.assertEqual(shown[0], shown[1])
        self.assertEqual([record["occurrence"]
                          for record in pick(shown[0], "instance")],
                         [0, 0, 1, 0])

    def test_objects_after_a_broken_one_are_read(self):
        """The objects after the broken one have their records."""
        seed = v1_seeds.v1_seeds()["broken_between"]
        records = v1.decode_file(seed)
        self.assertEqual([record["object"]
                          for record in pick(records, "object")], [2, 2, 230])
        self.assertEqual(len(pick(records, "error")), 1)
        self.assertEqual(len(pick(records, "instance")), 4)

    def test_several_blocks(self):
        """Offsets in the second block count from the start of the file."""
        seeds = v1_seeds.v1_seeds()
        for name, count in (("valid_two_blocks", 2), ("valid_three_blocks", 3),
                            ("valid_trailing", 1)):
            records = v1.decode_file(seeds[name])
            self.assertEqual(len(pick(records, "data")), count, name)
        error, = pick(v1.decode_file(
            seeds["broken_rule24_second_block_cut"]), "error")
        first = len(little.block(v1_seeds.single(little)))
        self.assertEqual((error["code"], error["offset"]),
                         ("truncated_block", first + 20))

    def test_names_by_code_page(self):
        for page, raw, name in (
                (1252, b"caf\xe9 \x80\x81", "caf\xe9 \u20ac\ufffd"),
                (28591, b"\x80\xff", "\x80\xff"),
                (20127, b"a\xe9", "a\ufffd"), (437, b"a\x81b", "a\ufffdb"),
                (932, b"\x83A", "\ufffdA"),
                (65001, b"\xc3\xa9", "\xe9"),
                # Each byte that is not part of a character becomes one U+FFFD.
                (65001, b"\xe2\x82A", "\ufffd\ufffdA"),
                (65001, b"\xc0\x80", "\ufffd\ufffd"),
                (65001, b"\xed\xa0\x80", "\ufffd\ufffd\ufffd"),
                (65001, b"\xf0\x9f\x98", "\ufffd\ufffd\ufffd"),
                (0, b"\x3d\xd8a\0", "\ufffda"), (1200, b"a\0", "a"),
                (1201, b"\0a", "a")):
            with self.subTest(page=page, raw=raw):
                self.assertEqual(v1.decode_name(raw, "<", page), name)

    def test_bytes_after_a_block(self):
        block = little.block(v1_seeds.single(little))
        reply = struct.pack("<II40x", 48, 0)
        for tail, kinds in (
                (b"", ["v1"]), (bytes(500), ["v1"]), (b"x" * 47, ["v1"]),
                (b"x" * 48, ["v1", "bad"]), (reply, ["v1", "v2"]),
                (reply + block, ["v1", "v2", "v1"]),
                (struct.pack("<II40x", 47, 0) + block, ["v1", "bad"]),
                (block[:8], ["v1", "bad"])):
            found = ["bad" if part[0]["record"] == "error" else
                     "v2" if v1.is_v2(part) else "v1"
                     for part in v1.decode_parts(block + tail)]
            self.assertEqual(found, kinds, tail)

    def test_parents_make_names_different(self):
        parents = v1_seeds.process(little, ("x", 1, 2, {}),
                                       ("y", 3, 4, {}), title=230)
        children = v1_seeds.process(
            little, ("t", 1, 2, {"parent": (230, 0)}),
            ("t", 1, 2, {"parent": (230, 1)}),
            ("t", 1, 2, {"parent": (230, 0)}), title=232)
        records = v1.decode_block(little.block(children, parents))
        self.assertEqual([record["occurrence"]
                          for record in pick(records, "instance")],
                         [0, 0, 1, 0, 0])

    def test_excessive_values(self):
        """More values than the size of an object allows are an error of the
        instance that exceeds the limit."""
        # 100 definitions of 40 bytes and 200 instances of 28 bytes. Each value
        # counts as 2 bytes, and 40,000 is more than the object's 9,664 bytes.
        labels = [little.counter(2 * n, 0x40000200, 0, 0) for n in range(100)]
        parts = [little.instance(None, little.values())] * 200
        block = little.block(little.object(230, labels, parts),
                             v1_seeds.single(little))
        records = v1.decode_block(block)
        error, = pick(records, "error")
        self.assertEqual(error["code"], "excessive_values")
        # The 49th instance exceeds the limit.
        self.assertEqual(error["offset"], 96 + 64 + 4000 + 48 * 28 + 24)
        self.assertEqual(len(pick(records, "value")), 4800 + 1)

    def test_bases_and_multi_counts(self):
        seeds = v1_seeds.v1_seeds()
        for name, related in (
                ("valid_base", [(20, None), (None, None)]),
                ("valid_bases_shared", [(20, None), (None, None)] * 3),
                ("valid_base_missing", [(None, None)] * 2),
                ("valid_base_of_wrong_size",
                 [(9, None), (None, None), (3, None), (None, None)]),
                ("valid_base_precision_is_none", [(None, None)] * 2),
                ("valid_base_before_counter", [(90, None), (None, None)]),
                ("valid_multi_definition", [(None, 2), (None, None)]),
                ("valid_multi_after_value", [(None, 2), (None, None)]),
                ("valid_multi_claimed", [(None, None)] * 2),
                ("valid_multi_claimed_partly", [(None, None)] * 2),
                ("valid_multi_count_truncated", [(None, None)]),
                ("valid_multi_both", [(None, 3), (None, None)]),
                ("valid_multi_narrow", [(None, None)])):
            values = pick(v1.decode_block(seeds[name]), "value")
            self.assertEqual([(value["base"], value["items"])
                              for value in values], related, name)


class NameTables(unittest.TestCase):
    """The pairs that are read from name tables."""

    def test_forms_agree(self):
        """Each form of a table gives the same pairs."""
        seeds = v1_seeds.name_table_seeds()
        for form in ("counter", "text", "text_crlf", "text_bom", "text_utf16",
                     "text_two_lines", "text_two_lines_utf16",
                     "rule36_no_last_nul", "rule36_no_nul"):
            table = v1.Names(seeds["valid_" + form])
            self.assertEqual([(str(index), name)
                              for index, name, _ in table.pairs],
                             list(v1_seeds.PAIRS), form)

    def test_offsets(self):
        """The offset of a name is where its text begins."""
        table = v1.Names(multi_string("2", "ab", "10", "c"))
        self.assertEqual(table.pairs, [(2, "ab", 4), (10, "c", 16)])

    def test_strings_that_are_not_pairs(self):
        seeds = v1_seeds.name_table_seeds()
        for name, pairs, notes in (
                ("rule36_odd", ["System"], {"bad_pair"}),
                ("rule36_no_index", ["a", "c"], {"bad_pair"}),
                ("rule36_empty_index", ["a", "c"], {"bad_pair"}),
                ("rule36_empty_text", ["", "Memory"], set()),
                ("rule36_empty_text_last", ["System", ""], set()),
                ("rule36_index_huge", ["a"], {"bad_pair"}),
                ("rule36_cut_character", None, {"unterminated"})):
            table = v1.Names(seeds["valid_" + name])
            self.assertEqual(table.notes, notes, name)
            if pairs is not None:
                self.assertEqual([text for _, text, _ in table.pairs], pairs)


def pair(older, newer, **options):
    """The output lines of the second of two blocks, as samples of a file."""
    lines, errors = v1_cook.cook_files([older + newer], **options)
    assert not errors
    return [line for line in lines if line["sample"] == 1]


def processes(*rows, key=True):
    """A block of instances (name, id, count, keyword arguments)."""
    counters = [little.counter(ID_PROCESS if key else 0, RAW, 4, 4),
                little.counter(6, 0x00400400, 4, 8)]
    return little.block(little.object(230, counters, [
        little.instance(name, little.values(little.v4(ident),
                                            little.v4(count)), **more)
        for name, ident, count, more in rows]))


class Cooking(unittest.TestCase):
    """How instances are matched, and displayed values."""

    def deltas(self, older, newer):
        """The growth of the counts in the newer sample."""
        return [line["value"] for line in pair(
            processes(*older), processes(*newer), key_counter=ID_PROCESS)
            if line["position"] == 1]

    def test_key_counter(self):
        """Instances with another value of the key counter are not compared."""
        self.assertEqual(self.deltas(
            [("svchost", 1, 10, {}), ("svchost", 2, 20, {})],
            [("svchost", 2, 25, {}), ("svchost", 3, 9, {}),
             ("x", 1, 9, {})]), [5, None, None])

    def test_ranks(self):
        """The n-th of equal instances is compared with the n-th older one."""
        self.assertEqual(self.deltas(
            [("a", 1, 10, {}), ("a", 1, 20, {})],
            [("a", 1, 11, {}), ("a", 1, 22, {}), ("a", 1, 33, {})]),
            [1, 2, None])

    def test_unique_ids(self):
        """A unique id identifies an instance, whatever its name."""
        self.assertEqual(self.deltas(
            [("a", 1, 10, {"unique": 7}), ("b", 2, 20, {"unique": 8})],
            [("renamed", 3, 21, {"unique": 8}), ("a", 1, 19, {}),
             ("b", 2, 12, {"unique": 7})]), [1, None, 2])

    def test_code_page_is_part_of_a_name(self):
        """Code page 0 is UTF-16 in the byte order of the block."""
        older = processes(("a", 1, 10, {}))
        for page, found in ((0, 3), (1200, 3), (1201, None), (1252, None)):
            newer = bytearray(processes(("a", 1, 13, {})))
            struct.pack_into("<I", newer, 96 + 44, page)
            self.assertEqual(pair(older, newer)[1]["value"], found, page)

    def test_an_object_without_instances_matches_an_unnamed_instance(self):
        counters = [little.counter(6, 0x00400400, 4, 4)]
        only = little.block(little.single(230, counters, little.v4(10)))
        unnamed = little.block(little.object(230, counters, [
            little.instance(None, little.values(little.v4(13)))]))
        line, = pair(only, unnamed)
        self.assertEqual(line["value"], 3)

    def test_a_block_without_a_header_gives_an_error_and_no_lines(self):
        older, newer = (processes(("a", 1, n, {})) for n in (10, 12))
        lines, errors = v1_cook.cook_files([older, older[:80], newer])
        self.assertEqual([(line["sample"], line["value"]) for line in lines
                          if line["position"] == 1], [(0, None), (1, 2)])
        self.assertEqual([(error["_file"], error["code"], error["offset"])
                          for error in errors], [(1, "truncated_header", 0)])

    def test_a_block_that_two_files_have(self):
        """A block that two files have is used once. If one file has it twice,
        it is used twice."""
        blocks = [processes(("a", 1, n, {})) for n in (10, 12)]
        for files, count in (([blocks[0], blocks[1], blocks[0]], 2),
                             ([blocks[0] + blocks[1], blocks[0]], 2),
                             ([blocks[0] + blocks[1] + blocks[0]], 3)):
            lines, _ = v1_cook.cook_files(files)
            self.assertEqual(len({line["sample"] for line in lines}), count)

    def test_v1_blocks_are_compared_across_a_v2_reply(self):
        block = processes(("a", 1, 10, {}))
        lines, errors = v1_cook.cook_files(
            [block + struct.pack("<II40x", 48, 0) + block])
        self.assertEqual([(line["sample"], line["status"]) for line in lines
                          if line["position"] == 1],
                         [(0, "need_two_samples"), (2, "ok")])
        self.assertEqual(errors, [])

    def test_order_of_files(self):
        """Files are read in the order of their times, and compared only if
        their machine and clocks agree."""
        def block(perf, hundred, count, system="PC"):
            return little.block(little.single(
                4, [little.counter(6, 0x00400400, 4, 4)], little.v4(count)),
                clock=(perf, 10, hundred), system=system)

        def values(*files):
            lines, _ = v1_cook.cook_files(files)
            return [(line["sample"], line["raw"], line["value"])
                    for line in lines]

        first, second = block(0, 0, 5), block(20, 2 * 10**7, 9)
        self.assertEqual(values(second, first), [(0, 5, None), (1, 9, 4)])
        for other in (block(20, 2 * 10**7, 9, system="OTHER"),
                      block(20, 9 * 10**7, 9)):
            self.assertEqual(values(first, other),
                             [(0, 5, None), (1, 9, None)])

    def test_worked_numbers(self):
        """Displayed values computed by hand."""
        def block(time, *numbers):
            c = little.counter
            return little.block(little.single(
                4, [c(10, RATE, 4, 4), c(12, AVERAGE, 8, 8),
                    c(12, BASE, 4, 16), c(30, MULTI, 8, 20),
                    c(674, ELAPSED, 8, 32)],
                little.v4(numbers[0]), little.v8(numbers[1]),
                little.v4(numbers[2]), little.v8(numbers[3]),
                little.v4(numbers[4]), little.v8(50), clock=(100 + time, 4)),
                clock=(time, 10, 0))
        lines = pair(block(0, 100, 1000, 10, 5, 2),
                     block(20, 107, 1030, 16, 25, 4))
        # 7 in 2 s; 30 in 6; 100 * 20 / 2 s / 4; (120 - 50) / 4.
        self.assertEqual([line["value"] for line in lines],
                         [3.5, 5, None, 250, 17.5])
        self.assertEqual([line["base"] for line in lines],
                         [None, 16, None, None, None])

    def test_names(self):
        """Records have the names of a name table."""
        block = little.block(v1_seeds.single(little))
        names = v1.Names(multi_string("2", "System", "10", "Reads",
                                          "2", "again"))
        line, = pair(block, block, names=names)
        self.assertEqual((line["set"], line["counter"], line["object"],
                          line["counter_id"], line["instance"]),
                         ("System", "Reads", 2, 10, None))


@unittest.skipUnless(REAL, "PERFBLOCK_REAL_DATA does not name the captured "
                     "data")
class RealBlocks(unittest.TestCase):
    """Captured blocks, compared with values computed by another program."""

    def test_all_values(self):
        """Each value of captured blocks is the expected one."""
        found = {}
        for title in (2, 4, 230, 234, 236, 238, 510, 638):
            blocks = [read("pal-s0%d-obj%d.bin" % (number, title))
                      for number in range(2)]
            key = ID_PROCESS if title == 230 else None
            for line in pair(*blocks, key_counter=key):
                found[title, line["position"], line["instance"],
                      line["occurrence"]] = line
        expected = [json.loads(line) for line in
                    read("expected-s00-s01.jsonl").decode().splitlines()]
        self.assertEqual(len(expected), len(found))
        for want in expected:
            line = found[want["object"], want["pos"], want["instance"],
                         want["occurrence"]]
            for key, name in (("raw", "raw"), ("base", "base"),
                              ("status", "status"), ("value", "value"),
                              ("counter", "counter_id")):
                self.assertEqual(want[key], line[name], want)

    def test_name_table(self):
        """A captured table of lines is read without notes."""
        table = v1.Names(read("names-009.tsv"))
        self.assertEqual((table.error, table.notes), (None, set()))
        self.assertEqual(table.pairs[:2], [(1, "1847", 2),
                                           (2, "System", 9)])


if __name__ == "__main__":
    unittest.main()
