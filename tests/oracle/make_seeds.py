# SPDX-License-Identifier: MIT
"""Writes the seeds of the corpus, except those of the folders for which
corpus/README.md names another program: `make_seeds.py OUTDIR`.

Seeds are named `valid_*` or `broken_*`. `ruleNN` in a name is the number of
the rule that the seed is about; tests/unit uses the same numbers:

 1 to 16   V2 replies: 1 total size, 2 number of results, 3 size of a result,
           4 unknown kinds, 5 error results, 6 status, 7 counter ids,
           8 instances, 9 an instance and its name, 10 size of a value,
           11 size of its data, 12 bytes after the last child, 13 repeated ids
           and names, 14 no results, 15 contents of names, 16 clocks
17 to 22   metadata: 17 counters, 18 references between them, 19 blocks of
           strings, 20 single strings and GUIDs, 21 identifiers, 22 lists of
           instances
23 to 35   V1 blocks: 23 signature and byte order, 24 total size, header and
           system name, 25 number of objects, 26 size and header of an object,
           27 definitions, 28 number of instances, 29 an instance and its name,
           30 counter blocks, 31 offset of a value, 32 labels, texts and other
           sizes of values, 33 parents, 34 parents in repeated objects,
           35 sizes that are not multiples of 8
36         V1 name tables

docs/v2.md, docs/metadata.md and docs/v1.md state the rules. Every run writes
the same bytes.
"""

import json
import os
import struct
import sys

import seed_writer as w
from capture_seeds import capture_seeds
from cpi_seeds import cpi_hook_seeds
from log_seeds import log_seeds
from pdh_text_seeds import pdh_text_seeds
from v1_seeds import v1_seeds, name_table_seeds

LARGEST = 4095
PROCESSOR = "b4fc721a-0378-476f-89ba-a5a79f810b36"
OTHER = "978c167d-4764-4d9c-9824-14747351dc81"


def whole(results):
    """A reply for each result, with the same names."""
    return {name: w.reply(block) for name, block in results.items()}


def error_and_single():
    """Replies with results of kinds 0 (error) and 1 (single counter)."""
    return whole({
        "valid_error": w.result(w.ERROR, status=0x106A),
        "valid_rule05_error_with_bytes": w.result(w.ERROR, b"\x5a" * 8, 3),
        "valid_rule05_error_status_zero": w.result(w.ERROR),
        "valid_single_8": w.result(w.SINGLE, w.v8(0x1122334455667788)),
        "valid_single_4": w.result(w.SINGLE, w.v4(0xFFFFFFFF)),
        "valid_rule06_single_with_status": w.result(w.SINGLE, w.v8(7), 0xE),
        "valid_rule10_datum_0": w.result(w.SINGLE, w.datum(b"")),
        "valid_rule10_datum_3": w.result(w.SINGLE, w.datum(b"\1\2\3")),
        "valid_rule10_datum_16": w.result(w.SINGLE,
                                          w.datum(bytes(range(16)))),
        "valid_rule11_large_block": w.result(
            w.SINGLE, w.datum(struct.pack("<I", 9) + bytes(28), 4)),
        "valid_rule11_bare_4": w.result(
            w.SINGLE, w.datum(b"\1\2\3\4", block_size=12)[:12]),
        "valid_rule12_after_value": w.result(w.SINGLE, w.v8(1) + b"\xa5" * 8),
        "valid_reserved_not_zero": w.result(w.SINGLE, w.v8(1), reserved=99),
        "valid_dirty_padding": w.result(w.SINGLE,
                                        w.datum(b"\1\0\0\0", fill=b"\xee")),
    })


def multiple_counters():
    """Replies with results of kind 2 (multiple counters)."""
    two, three = w.v8(1) + w.v8(2), w.v8(1) + w.v4(2) + w.v8(3)
    bare = w.datum(b"\1\2\3\4", block_size=12)[:12]

    def kind2(ids, values, **options):
        return w.result(w.COUNTERS, w.id_list(ids, **options) + values)

    return whole({
        "valid_counters": kind2([0, 26], two),
        "valid_counters_mixed_4_8": kind2([3, 0, 7, 26], w.v4(1) + w.v8(2) +
                                          w.v4(3) + w.v8(4)),
        "valid_counters_none": kind2([], b""),
        "valid_counters_odd_padded": kind2([1, 2, 3], three),
        "valid_counters_odd_unpadded": kind2([1, 2, 3], three, pad=False),
        "valid_rule07_ids_with_slack": kind2([5, 6, 7, 8], two, count=2),
        "valid_rule13_ids_repeat": kind2([9, 9, 2, w.ANY], two + two),
        "valid_rule11_bare_4_counters": kind2(
            [1, 2, 3], bare + bare + w.v8(3), pad=False),
        "valid_counters_odd_data": kind2(
            [1, 2, 3, 4], w.v8(1) + w.datum(b"abc") +
            w.datum(bytes(range(16))) + w.v4(4)),
    })


def multiple_instances():
    """Replies with results of kind 4 (multiple instances)."""
    value = w.v4(0x01020304)

    def kind4(*instances, **options):
        return w.result(w.INSTANCES, w.instance_block(*instances, **options))

    def named(raw):
        return kind4(w.instance(1, "", value, raw_name=raw))

    return whole({
        "valid_instances_one": kind4(w.instance(7, "ab", value)),
        "valid_instances_none": kind4(),
        "valid_instances_names": kind4(
            w.instance(0, "0,0", value), w.instance(1, "0,_Total", value),
            w.instance(2, "", value), w.instance(3, "\u00e9\u4e2d", value),
            w.instance(w.ANY, "\U0001f600", value)),
        "valid_rule13_names_repeat": kind4(
            w.instance(0, "svchost", value), w.instance(1, "svchost", value),
            w.instance(1, "svchost", value), w.instance(0, "b", value)),
        "valid_rule15_lone_surrogates": kind4(
            w.instance(0, "a\ud800", value), w.instance(1, "\udc00b", value),
            w.instance(2, "\ud83d\ud83d\ude00", value),
            w.instance(3, "\udc00\ud800", value)),
        "valid_rule15_control_names": kind4(
            w.instance(0, "\x01\x07\x1b[31m\n\t", value),
            w.instance(1, "..\\..\\a/b:\"'\x7f\u202e", value)),
        "valid_rule15_long_name": kind4(w.instance(0, "x" * 1100, value)),
        "valid_rule09_smallest_size": named(b"\0\0"),
        "valid_rule09_odd_size": named(b"a\0\0\0\xff"),
        "valid_rule09_bytes_after_nul": named(b"a\0\0\0z\0\xff\xff"),
        "valid_rule12_after_instances": kind4(
            w.instance(0, "a", value), tail=b"\xa5" * 24),
        "valid_rule12_after_block": w.result(w.INSTANCES, w.instance_block(
            w.instance(0, "a", value)) + b"\xa5" * 8),
        "valid_rule12_count_below_bytes": kind4(
            w.instance(0, "a", value), w.instance(1, "b", value), count=1),
    })


def countersets():
    """Replies with results of kind 6 (counterset)."""
    def kind6(ids, *instances, pad=True, **options):
        return w.result(w.COUNTERSET, w.id_list(ids, pad=pad) +
                        w.instance_block(*instances, **options))

    def rows(count, width):
        return [w.instance(row, "0,%d" % row, *[
            (w.v8 if column % 3 else w.v4)(100 * row + column)
            for column in range(width)]) for row in range(count)]

    return whole({
        "valid_counterset": kind6([0, 26], *rows(2, 2)),
        "valid_counterset_no_instances": kind6([0, 26]),
        "valid_counterset_no_ids": kind6([], *rows(2, 0)),
        "valid_counterset_nothing": kind6([]),
        "valid_counterset_odd_padded": kind6([0, 1, 2], *rows(2, 3)),
        "valid_counterset_odd_unpadded": kind6([0, 1, 2], *rows(2, 3),
                                               pad=False),
        "valid_counterset_regular": kind6(
            [8, 1, 5, 0], *[w.instance(row, "0,%d" % row, *map(
                w.v8, range(row, row + 4))) for row in range(12)]),
        "valid_counterset_odd_data": kind6([1, 2], w.instance(
            0, "n", w.datum(b"abc"), w.datum(bytes(range(16))))),
        "valid_rule12_after_counterset": kind6(
            [0], w.instance(0, "a", w.v8(1)), tail=b"\xa5" * 12),
    })


def whole_replies():
    """Replies without results, with several, and with unusual ones."""
    error, single = w.result(w.ERROR, status=0x1069), w.result(w.SINGLE,
                                                               w.v8(5))
    strange = w.result(3, b"\x33" * 24)
    odd = w.result(w.SINGLE, w.datum(b"\1\2\3\4", block_size=12)[:12])
    every = [error, single,
             w.result(w.COUNTERS, w.id_list([1, 2]) + w.v4(1) + w.v8(2)),
             w.result(w.INSTANCES, w.instance_block(
                 w.instance(0, "a", w.v8(3)), w.instance(1, "b", w.v8(4)))),
             w.result(w.COUNTERSET, w.id_list([1, 2]) + w.instance_block(
                 w.instance(0, "_Total", w.v8(5), w.v4(6))), status=0xE)]
    hostile = w.clocks(-1, -(1 << 63), 0, (65535,) * 8)
    return {
        "valid_rule14_empty": w.reply(),
        "valid_all_kinds": w.reply(*every),
        "valid_rule04_unknown_between": w.reply(single, strange, single),
        "valid_rule04_unknown_kinds": w.reply(
            strange, w.result(5), w.result(7), w.result(w.ANY)),
        "valid_rule01_trailing": w.reply(single) + b"\xa5" * 13,
        "valid_rule01_trailing_header": w.reply() + b"\0" * 47,
        "valid_rule12_after_results": w.reply(single, error, count=1),
        "valid_rule03_misaligned": w.reply(odd, odd, single),
        "valid_rule16_clocks": w.reply(single, stamps=hostile),
        "valid_two_replies": w.reply(single) + w.reply(error, single),
    }


def broken_frames():
    """Replies that break rules 1 to 3: the reply and its results."""
    single, loose = w.result(w.SINGLE, w.v8(5)), w.result(9, bytes(24))
    good = w.reply(single)
    cut = {"broken_rule01_no_bytes": b"", "broken_rule01_short": good[:47],
           "broken_rule01_cut": good[:-8]}
    for name, total in (("zero", 0), ("below_header", 47), ("max", w.ANY),
                        ("beyond", len(good) + 1)):
        cut["broken_rule01_total_" + name] = w.reply(single, total=total)
    for name, count in (("beyond", 3), ("many", 100), ("max", w.ANY)):
        cut["broken_rule02_count_" + name] = w.reply(single, count=count)
    # The count fits the size of the reply, but the second result is truncated.
    cut["broken_rule03_truncated"] = w.reply(loose, bytes(8), count=2)
    for name, size in (("zero", 0), ("below_header", 15), ("beyond", 40),
                       ("max", w.ANY)):
        cut["broken_rule03_size_" + name] = w.reply(
            single, w.result(w.SINGLE, w.v8(5), size=size))
    return cut


def broken_lists():
    """Replies that break rules 7 and 8: counter ids and instances."""
    out = {}
    for kind, name in ((w.COUNTERS, "counters"), (w.COUNTERSET, "counterset")):
        rest = w.v8(1) if kind == w.COUNTERS else w.instance_block(
            w.instance(0, "a", w.v8(1)))
        bodies = {"truncated": b"\x08\0\0\0",
                  "size_zero": w.id_list([1], size=0) + rest,
                  "size_below": w.id_list([1], size=7) + rest,
                  "size_beyond": w.id_list([1], size=4000) + rest,
                  "count_beyond": w.id_list([1, 2], count=3) + rest,
                  "count_max": w.id_list([1, 2], count=w.ANY) + rest}
        for what, body in bodies.items():
            out["broken_rule07_%s_%s" % (name, what)] = w.result(kind, body)
    one = w.instance(0, "a", w.v8(1))
    bodies = {"truncated": b"\x08\0\0\0",
              "size_zero": w.instance_block(one, total=0),
              "size_below": w.instance_block(one, total=7),
              "size_beyond": w.instance_block(one, total=48),
              "count_bound": w.instance_block(one, count=5),
              "count_max": w.instance_block(one, count=w.ANY),
              "count_beyond": w.instance_block(one, count=2),
              "count_beyond_slack": w.instance_block(one, count=2,
                                                     tail=bytes(8))}
    for what, body in bodies.items():
        out["broken_rule08_" + what] = w.result(w.INSTANCES, body)
        out["broken_rule08_counterset_" + what] = w.result(
            w.COUNTERSET, w.id_list([4]) + body)
    # The block of instances is inside the reply but exceeds its result.
    out["broken_rule08_leaves_result"] = w.result(
        w.INSTANCES, w.instance_block(one), size=40) + bytes(8)
    return {name: w.reply(block, count=1) for name, block in out.items()}


def broken_leaves():
    """Replies that break rules 9 to 11: an instance, and values."""
    value, good = w.v8(1), w.instance(0, "a", w.v8(1))
    instances = {
        "size_zero": w.instance(1, "b", value, size=0),
        "size_header": w.instance(1, "b", value, size=8),
        "size_no_name": w.instance(1, "b", value, size=9),
        "size_beyond": w.instance(1, "b", value, size=33),
        "size_max": w.instance(1, "b", value, size=w.ANY),
        "no_nul": w.instance(1, "", value, raw_name=b"a\0b\0c\0d\0"),
        "nul_at_odd": w.instance(1, "", value, raw_name=b"a\0\0bc\1d\1"),
        # The name ends in a single 0. The next byte, which belongs to the
        # value, is 0 too and would make it a NUL.
        "nul_in_odd_byte": w.instance(1, "", w.datum(b""), size=11,
                                      raw_name=b"a\0\0"),
    }
    values = {
        "truncated": b"\x08\0\0\0",
        "size_zero": w.datum(bytes(8), block_size=0),
        "size_below": w.datum(bytes(8), block_size=7),
        "size_beyond": w.datum(bytes(8), block_size=17),
        "size_max": w.datum(bytes(8), block_size=w.ANY),
        "data_beyond": w.datum(bytes(8), data_size=9),
        "data_max": w.datum(bytes(8), data_size=w.ANY),
        "data_swapped": w.datum(bytes(8), 16, 8),
    }
    out = {}
    for what, body in instances.items():
        out["broken_rule09_" + what] = w.result(
            w.INSTANCES, w.instance_block(good, body))
    for what, body in values.items():
        rule = "broken_rule%s_" % ("11" if "data" in what else "10")
        out[rule + what] = w.result(w.SINGLE, body)
        out[rule + "instance_" + what] = w.result(
            w.INSTANCES, w.instance_block(good, w.instance(1, "b", body)))
        out[rule + "counters_" + what] = w.result(
            w.COUNTERS, w.id_list([1, 2]) + value + body)
    out["broken_rule10_values_missing"] = w.result(
        w.COUNTERS, w.id_list([1, 2]) + value)
    out["broken_rule10_leaves_result"] = w.result(
        w.SINGLE, value, size=24) + bytes(8)
    # The value is inside the result but exceeds the block of instances.
    out["broken_rule10_leaves_instances"] = w.result(
        w.INSTANCES, w.instance_block(good, total=24))
    out = {name: w.reply(block, count=1) for name, block in out.items()}
    out["broken_second_result"] = w.reply(
        w.result(w.SINGLE, value), w.result(w.SINGLE, bytes(8)))
    return out


def v2_seeds():
    """{name: bytes} of all seeds of replies."""
    seeds = {}
    for part in (error_and_single, multiple_counters, multiple_instances,
                 countersets, whole_replies, broken_frames, broken_lists,
                 broken_leaves):
        seeds.update(part())
    return seeds


def registration_valid():
    """{name: (selector, bytes)} of valid metadata. The selector is a request
    code, or 11 to 13 for lists of GUIDs, identifiers and instances."""
    timer = w.counter_info(0, 0x21510500, aggregate=2)
    pair = [w.counter_info(26, 0x40020500, base=27),
            w.counter_info(27, 0x40030402, attributes=2)]
    loop = [w.counter_info(1, 0x40020500, base=1, multi=2),
            w.counter_info(2, 0x22410500, base=99, multi=1, perf_time=2),
            w.counter_info(2, 0x00010000, scale=-10, attributes=0x1F)]
    names = [(0, "% Processor Time"), (26, "% Processor Utility"), (27, None)]
    out = {
        "counterset": (1, w.counterset(PROCESSOR, [timer] + pair)),
        "counterset_none": (1, w.counterset(PROCESSOR, [])),
        "rule18_references": (1, w.counterset(OTHER, loop, instance_type=22)),
        "counterset_trailing": (1, w.counterset(PROCESSOR, pair) + bytes(7)),
        "counter": (2, timer),
        "set_name": (3, w.string("Processor Information")),
        "set_help": (4, w.string("\u00dcber CPUs")),
        "counter_names": (5, w.string_block(names)),
        "counter_help": (6, w.string_block(names[:1])),
        "provider": (7, w.string("")),
        "provider_guid": (8, w.guid_bytes(OTHER)),
        "english_name": (9, w.string("a") + b"after"),
        "english_names": (10, w.string_block([])),
        "rule19_shared": (5, w.string_block(
            [(1, "abc"), (2, "d"), (1, "e")], offsets=[32, 34, 32])),
        "rule19_odd_offset": (5, b"\x18\0\0\0\1\0\0\0\1\0\0\0\x11\0\0\0" +
                              b"\xffa\0\0\0\0\0\0"),
        "rule19_trailing": (5, w.string_block(names) + bytes(9)),
        "rule20_lone_surrogate": (3, w.string("x\ud800y")),
        "guids": (11, w.guid_bytes(PROCESSOR) + w.guid_bytes(OTHER)),
        "guids_none": (11, b""),
        "identifiers": (12, w.identifier(PROCESSOR, 0, name="0,*") +
                        w.identifier(OTHER, 5, 3, index=1)),
        "instances": (13, w.instance(0, "0,0") + w.instance(1, "_Total")),
        "instances_none": (13, b""),
        "rule22_leftover": (13, w.instance(0, "0,0") + bytes(7)),
        "rule22_repeated": (13, w.instance(0, "a") * 3),
    }
    return {"valid_" + name: seed for name, seed in out.items()}


def registration_broken():
    """{name: (selector, bytes)} of broken metadata."""
    info = w.counter_info(0, 0x10410400)
    good, names = w.counterset(PROCESSOR, [info]), [(0, "a"), (1, "b")]
    one = w.instance(0, "0,0")
    out = {
        "rule17_short": (1, good[:31]), "rule17_cut": (1, good[:-1]),
        "rule17_count": (1, w.counterset(PROCESSOR, [info], count=2)),
        "rule17_count_max": (1, w.counterset(PROCESSOR, [info], count=w.ANY)),
        "rule17_counter_short": (2, info[:47]),
        "rule19_short": (5, bytes(7)),
        "rule19_size_below": (5, w.string_block(names, size=7)),
        "rule19_size_beyond": (6, w.string_block(names, size=33)),
        "rule19_count": (10, w.string_block(names, count=4)),
        "rule19_count_max": (10, w.string_block(names, count=w.ANY)),
        "rule19_offset_in_entries": (5, w.string_block(names,
                                                       offsets=[24, 23])),
        "rule19_offset_beyond": (5, w.string_block(names, offsets=[24, 32])),
        # Each string begins one character after the one before.
        "rule19_overlapping": (5, w.string_block(
            [(0, "x" * 400)] + [(n, "") for n in range(1, 100)],
            offsets=[808 + 2 * n for n in range(100)])),
        "rule19_no_nul": (5, w.string_block([(1, "abc")], size=22)),
        "rule20_empty": (3, b""), "rule20_no_nul": (4, w.utf16("abc")),
        "rule20_nul_at_odd": (7, b"a\0\0b"),
        "rule20_cut_nul": (9, w.string("a")[:-1]),
        "rule20_guid_short": (8, bytes(15)),
        "rule22_size_zero": (13, one + w.instance(1, "a", size=0)),
        "rule22_size_below": (13, w.instance(1, "a", size=9)),
        "rule22_size_beyond": (13, one + w.instance(1, "a", size=17)),
        "rule22_no_nul": (13, w.instance(1, "", raw_name=w.utf16("abcd"))),
        "rule22_cut": (13, one + one[:-1]),
    }
    out = {"broken_" + name: seed for name, seed in out.items()}
    for name, raw in broken_identifiers().items():
        out[name] = (12, raw)
    return out


def broken_identifiers():
    """{name: bytes} of identifiers that break rule 21."""
    good = w.identifier(PROCESSOR, 0, name="0,*")
    return {
        "broken_rule21_size_zero": good + w.identifier(OTHER, size=0),
        "broken_rule21_size_below": w.identifier(OTHER, size=39),
        "broken_rule21_size_beyond": good + w.identifier(OTHER, size=48),
        "broken_rule21_size_max": w.identifier(OTHER, size=w.ANY),
        "broken_rule21_no_nul": w.identifier(OTHER, raw_name=w.utf16("abcd")),
        "broken_rule21_no_name": w.identifier(OTHER, raw_name=b"\0"),
        "broken_rule21_cut": good[:-1],
    }


def registration_seeds():
    """{name: bytes} of all metadata seeds; the first byte is the selector."""
    seeds = dict(registration_valid(), **registration_broken())
    return {name: bytes([selector]) + raw
            for name, (selector, raw) in seeds.items()}


def pattern(text, name, units=None):
    """The input of the fuzz target that matches a pattern: an odd byte, the
    pattern with its length, and a name. `units` overrides the length."""
    raw = w.utf16(text)
    return b"\1" + struct.pack("<H", w.override_or(units, len(raw) // 2)) + raw + \
        w.utf16(name)


def query_seeds():
    """{name: bytes} of identifiers (after an even byte), and of patterns."""
    several = w.identifier(PROCESSOR, 26, name="*", index=1) + w.identifier(
        PROCESSOR, 27, name="_Total", index=0) + w.identifier(OTHER, index=2)
    seeds = {
        "valid_identifiers_none": b"", "valid_identifiers": several,
        "valid_identifier_no_name": w.identifier(OTHER, 4, 9),
        "valid_identifier_empty_name": w.identifier(OTHER, name=""),
        "valid_identifier_long_name": w.identifier(OTHER, name="x" * 1025),
        "valid_identifier_status": w.identifier(OTHER, 1, status=0x106A),
        "valid_identifier_after_nul": w.identifier(
            OTHER, raw_name=b"*\0\0\0junk"),
        "valid_identifier_surrogate": w.identifier(OTHER, name="\udc00*"),
        "valid_rule21_index_repeats": w.identifier(OTHER, 1, index=w.ANY) * 2,
    }
    seeds.update(broken_identifiers())
    seeds = {name: b"\0" + raw for name, raw in seeds.items()}
    pairs = {"star": ("*", "0,_Total"), "prefix": ("0,*", "0,11"),
             "question": ("?,_Total", "0,_Total"), "empty": ("", ""),
             "no_match": ("0,*", "1,0"), "exact": ("_Total", "_Total"),
             "case": ("_TOTAL", "_total"), "middle": ("a*b*c", "axxbxxbc"),
             "backtrack": ("*a*a*a*a*b", "a" * 40), "only_stars": ("***", "x"),
             "question_short": ("a??", "a"), "surrogates": ("?", "\U0001f600"),
             "lone": ("\ud800*", "\ud800\ud800")}
    for name, (text, matched_name) in pairs.items():
        seeds["valid_pattern_" + name] = pattern(text, matched_name)
    seeds["broken_pattern_length"] = pattern("ab*", "", units=4)
    seeds["broken_pattern_length_max"] = pattern("*", "a", units=0xFFFF)
    seeds["broken_pattern_no_length"] = b"\1\1"
    seeds["broken_pattern_odd_name"] = pattern("*", "abc")[:-1]
    return seeds


def write_folder(directory, seeds, suffix):
    """Writes the seeds of one subject."""
    os.makedirs(directory, exist_ok=True)
    for name, raw in sorted(seeds.items()):
        if len(raw) > LARGEST:
            raise ValueError("%s has %d bytes" % (name, len(raw)))
        with open(os.path.join(directory, name + suffix), "wb") as file:
            file.write(raw)
    print("%s: %d files" % (directory, len(seeds)))


def collect_seeds():
    """{name: bytes} of captures for the fuzz target of collectors: with many
    values to match, and one of V1 blocks with a name table."""
    captures = capture_seeds()
    seeds = {name: captures[name] for name in (
        "valid_moving_instances", "valid_two_queries", "valid_all_types",
        "valid_replaced_queries")}
    blocks = v1_seeds()
    seeds["valid_v1"] = w.recording(
        w.chunk(b"NAME", bytes(4) + name_table_seeds()["valid_counter"]),
        *[w.chunk(b"V1DT", blocks[name]) for name in (
            "valid_rule33_parents", "valid_base", "valid_rule33_parents")])
    return seeds


def file_chunk(number, texts=b""):
    """The FILE chunk that begins a part or returns to it; without texts, the
    one that ends it."""
    return w.chunk(b"FILE", struct.pack("<I", number) + texts)


def stream_seeds():
    """{name: bytes} of files for the fuzz target of streams: what a stream
    does beyond its readers."""
    captures = capture_seeds()
    seeds = {name: captures[name] for name in (
        "valid_unknown_tags", "valid_two_queries")}
    block = v1_seeds()["valid_base"]
    reply = v2_seeds()["valid_two_replies"]
    names = w.chunk(b"NAME", bytes(4) + name_table_seeds()["valid_counter"])
    sample = w.chunk(b"V1DT", block)
    part = file_chunk(1, b"a\0b\0")
    seeds["valid_late_names"] = w.recording(sample, names, sample)
    seeds["valid_parts"] = w.recording(
        part, sample, file_chunk(2, b"\0\0"), sample, names, part, sample,
        file_chunk(2), file_chunk(1), sample)
    seeds["valid_concatenated"] = w.recording(part, sample) + w.recording(
        sample)
    seeds["valid_blocks"] = block + reply + block + bytes(100)
    seeds["broken_zeros_before_block"] = block + bytes(100) + block
    seeds["broken_text_as_part"] = w.recording(file_chunk(3, b"a"), sample)
    return seeds


def sample_seeds():
    """{name: bytes} of text logs in other forms."""
    path = "\\\\pc\\process(a \"x\")\\% cpu"

    def samples(number, time):
        return [{"Path": name, "CookedValue": number + 0.5, "Status": 0,
                 "Timestamp": time} for name in (path, "\\\\pc\\a\\b")]
    sets = [{"Timestamp": "/Date(%d)/" % time, "CounterSamples": samples(
        number, "/Date(%d)/" % time)} for number, time in enumerate(
            (1700000000000, 1700000001000))]
    flat = samples(1, "2023-11-14T22:13:20.1234567+01:00")
    page = '"(PDH-CSV 4.0)","\\\\A\\B&amp;C\\d"\r\n"01/01/2020 00:00:00.000","1.5"'
    return {"valid_sets": json.dumps(sets).replace("/", "\\/").encode(),
            "valid_sets_wide": json.dumps(sets).encode("utf-16-be"),
            "valid_samples": json.dumps(flat, ensure_ascii=False).encode(),
            "broken_samples": json.dumps(flat).encode()[:-30],
            "valid_exported": ('#TYPE A\r\n"Path","CookedValue","Timestamp"\r\n'
                               '"\\\\a\\b""c\\d","1,5","14.11.2023 22:13:20"\r\n'
                               ).encode(),
            "valid_page": ("<html><pre>\n" + page + "</pre></html>").encode()}


def number_text_of(block):
    """A V1 block as numbers in a text."""
    return (",\n".join(", ".join("%d" % byte for byte in block[at:at + 16])
                       for at in range(0, len(block), 16)) + "\n").encode()


def all_seeds():
    """(subject, {name: bytes}, suffix of the files) of all seeds."""
    logs = {name: log_seeds()[name] for name in (
        "valid_counters", "valid_objects", "valid_parts")}
    files = [(collect_seeds(), ".pfb"),
             (logs, ".blg"),
             ({"valid_csv": pdh_text_seeds()["valid_csv"]}, ".csv"),
             (stream_seeds(), ".bin"),
             ({"valid_numbers": number_text_of(
                 v1_seeds()["valid_two_blocks"])}, ".txt")]
    return (*(("sinks", seeds, suffix) for seeds, suffix in files),
            ("v2", v2_seeds(), ".bin"),
            ("metadata", registration_seeds(), ".bin"),
            ("query", query_seeds(), ".bin"),
            ("capture", capture_seeds(), ".pfb"),
            ("collect", collect_seeds(), ".pfb"),
            ("collect", logs, ".blg"),
            ("collect", {"valid_csv": pdh_text_seeds()["valid_csv"]}, ".csv"),
            ("stream", stream_seeds(), ".bin"),
            ("stream", logs, ".blg"),
            ("stream", sample_seeds(), ".txt"),
            ("stream", {"valid_csv": pdh_text_seeds()["valid_csv"]}, ".csv"),
            ("stream", {"valid_numbers": number_text_of(
                v1_seeds()["valid_two_blocks"])}, ".txt"),
            ("v1", v1_seeds(), ".bin"),
            ("name_table", name_table_seeds(), ".bin"),
            ("log", log_seeds(), ".blg"),
            ("pdh_text", pdh_text_seeds(), ".csv"),
            ("hooks", cpi_hook_seeds(), ".bin"))


def main(arguments):
    """Command line."""
    if len(arguments) != 1:
        print("usage: make_seeds.py OUTDIR", file=sys.stderr)
        return 2
    for subject, seeds, suffix in all_seeds():
        write_folder(os.path.join(arguments[0], subject, "seeds"), seeds,
                     suffix)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
