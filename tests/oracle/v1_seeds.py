# SPDX-License-Identifier: MIT
"""The seeds of V1 blocks and of V1 name tables. make_seeds.py writes them and
lists the rules whose numbers are in their names."""

import struct

import v1_writer as w
from v1_writer import big, little, lines, multi_string

MAX = 0xFFFFFFFF
RAW, LARGE, HEX = 0x00010000, 0x00010100, 0x00000000
RATE, BULK, TIMER = 0x10410400, 0x10410500, 0x20510500
AVERAGE_TIMER, AVERAGE_BULK, AVERAGE_BASE = 0x30020400, 0x40020500, 0x40030402
FRACTION, FRACTION_BASE = 0x20020400, 0x40030403
PRECISION, LARGE_BASE = 0x20570500, 0x40030500
MULTI, MULTI_BASE = 0x22410500, 0x42030500
ELAPSED, NODATA, TEXT = 0x30240500, 0x40000200, 0x00000B00
FREQUENCY = 10000000  # ticks per second of the clock of an object


def process(writer, *rows, title=230, **options):
    """An object with two counters, process id and time. Each row is (name, id,
    time, keyword arguments of Writer.instance) of an instance."""
    counters = [writer.counter(784, RAW, 4, 4),
                writer.counter(6, TIMER, 8, 8)]
    parts = [writer.instance(name, writer.values(
        writer.v4(ident), writer.v8(time), tail=bytes(4)), **more)
        for name, ident, time, more in rows]
    return writer.object(title, counters, parts, **options)


def single(writer, title=2, number=7, **options):
    """An object without instances and with one counter."""
    return writer.single(title, [writer.counter(10, RATE, 4, 4)],
                         writer.v4(number), **options)


ROWS = (("Idle", 0, 900, {}), ("svchost", 512, 50, {}),
        ("svchost", 640, 60, {}), ("_Total", 0, 1010, {}))


def without_header(writer, *objects, more=0, **options):
    """A block whose total size does not include the header, as Samba writes it.
    `more` is added to that size."""
    return writer.block(*objects, total=sum(map(len, objects)) + more,
                        **options)


def sizes_without_header():
    """Blocks whose total size does not include the header, alone and next to
    other blocks."""
    one, two = single(little), process(little, *ROWS)
    metadata = little.object(4, [], [], instances=w.METADATA_ALONE)
    short = without_header(little, one, two)
    return {
        "rule24_without_header": short,
        "rule24_big_without_header": without_header(
            big, single(big), process(big, *ROWS)),
        # The total size is below that of a header.
        "rule24_without_header_small": without_header(little, metadata),
        "rule24_without_header_in_two_blocks": short + little.block(one),
        "rule24_without_header_three_blocks": little.block(one) + short * 2,
    }


# Valid blocks ---------------------------------------------------------------

def whole_blocks():
    """Seeds about the header of a block, and about several blocks."""
    one, two = single(little), process(little, *ROWS)
    odd = single(little, tail=b"\xa5" * 3)
    good = little.block(one)
    # A system name outside of the block is tolerated.
    out = {"rule24_name_" + name: little.block(one, name_offset=offset,
                                               name_length=length)
           for name, offset, length in (
               ("offset", MAX, 6), ("empty", MAX, 0), ("length", 88, MAX),
               ("both", MAX, MAX), ("beyond", 88, len(good) - 87))}
    return out | {
        "empty": little.block(), "no_instances": little.block(one),
        "no_system_name": little.block(one, system=None),
        "instances": little.block(two), "two_objects": little.block(one, two),
        "object_twice": little.block(two, two),
        "two_blocks": little.block(one) + little.block(two, one),
        "three_blocks": little.block() + big.block(single(big)) +
        little.block(one),
        "trailing": little.block(one) + b"\xa5" * 13,
        "rule23_version": little.block(one, version=(7, 9)),
        "rule23_clocks": little.block(one, clock=(-1, 0, -(1 << 63))),
        "rule24_header_with_slack": little.block(
            one, raw_system=little.text("PC") + b"\xa5" * 40, name_length=6),
        "rule24_name_in_object": little.block(one, name_offset=100,
                                              name_length=20),
        "rule24_name_odd": little.block(one, name_length=5),
        "rule24_name_no_nul": little.block(one, name_length=4),
        "rule24_name_length_zero": little.block(one, name_offset=8,
                                                name_length=0),
        "rule25_count_below": little.block(one, two, count=1),
        "after_objects": little.block(one, tail=b"\xa5" * 24),
        **sizes_without_header(),
        "rule35_unaligned": little.block(odd, two, odd, one),
        "big_endian": big.block(single(big), process(big, *ROWS)),
    }


def objects():
    """Seeds about objects: metadata only, code pages, sizes with slack."""
    counter = little.counter(10, RATE, 4, 4)
    wide = little.counter(10, RATE, 4, 4, extra=b"\xee" * 12)
    block = little.values(little.v4(7))
    pages = {1252: "caf\u00e9".encode("cp1252"),
             932: "\u30c7\u30a3\u30b9\u30af".encode("cp932"),
             437: b"C:\x9b", 65001: "\u00e9\u4e2d".encode(), MAX: b"x",
             1200: ("\u4e2d" * 20).encode("utf-16-le") + b"\0",
             1201: ("\u4e2d" * 20).encode("utf-16-be") + b"\0"}
    out = {
        "rule28_metadata_instances": little.object(
            230, [counter], [], instances=w.METADATA_INSTANCES),
        "rule28_metadata_alone": little.object(
            2, [counter], [], instances=w.METADATA_ALONE),
        "rule28_metadata_with_bytes": little.object(
            2, [counter], [], instances=w.METADATA_ALONE, tail=bytes(24)),
        "rule28_zero_instances": little.object(230, [counter], []),
        "rule28_count_below": process(little, *ROWS, instances=2),
        "rule26_header_with_slack": little.single(
            2, [counter], little.v4(7), extra=b"\xee" * 8),
        "rule27_gap": little.single(2, [counter], little.v4(7),
                                    gap=b"\xee" * 16),
        "rule27_long_definition": little.single(2, [wide, wide], little.v4(7)),
        "rule27_no_counters": little.single(2, [], little.v4(7)),
        "rule27_no_counters_instances": little.object(
            230, [], [little.instance("a", block)]),
        "rule26_after_parts": little.single(2, [counter], little.v4(7),
                                            tail=b"\xa5" * 20),
        "object_clock": little.single(
            2, [little.counter(674, ELAPSED, 8, 8)], bytes(4),
            little.v8(5 * FREQUENCY), clock=(9 * FREQUENCY, FREQUENCY)),
    }
    for page, raw in pages.items():
        name = "max" if page == MAX else str(page)
        out["code_page_" + name] = little.object(
            234, [counter], [little.instance("", block, raw=raw + b"\0")],
            code_page=page)
    return {name: little.block(raw) for name, raw in out.items()}


def many_multi_counters():
    """Many multi counters, each with its multi count after its value."""
    counters = [little.counter(30 + 2 * n, MULTI, 8, 4 + 12 * n)
                for n in range(20)]
    raws = [little.v8(500 + n) + little.v4(n + 1) for n in range(20)]
    part = little.instance(None, little.values(*raws, tail=bytes(4)))
    return little.block(little.object(4, counters, [part] * 11))


def names():
    """Seeds about instances: names, unique ids, parents."""
    def named(*parts):
        return little.block(little.object(
            230, [little.counter(10, RATE, 4, 4)], parts))

    def one(name, **options):
        return little.instance(name, little.values(little.v4(7)), **options)

    disks = process(little, ("0", 1, 2, {}), ("1", 3, 4, {}), title=234)
    volumes = process(little, ("C:", 1, 2, {"parent": (234, 0)}),
                      ("D:", 3, 4, {"parent": (234, 1)}), title=236)
    own = process(little, ("a", 1, 2, {"parent": (230, 1)}),
                  ("b", 3, 4, {"parent": (230, 0)}))
    lost = process(little, ("a", 1, 2, {"parent": (230, MAX)}),
                   ("b", 3, 4, {"parent": (999, 0)}))
    return {
        "names": named(one("0"), one("_Total"), one("\u00e9\u4e2d"),
                       one("\U0001f600")),
        "names_repeat": named(one("svchost"), one("svchost"), one("b"),
                              one("svchost")),
        "names_surrogates": named(one("a\ud800"), one("\udc00b"),
                                  one("\ud83d\ud83d\ude00")),
        "names_control": named(one("\x01\x1b[31m\n\t"), one("..\\a/b#1")),
        "rule29_unnamed": named(one(None), one(None)),
        "rule29_empty_name": named(one("")),
        "rule29_no_nul": named(one("", raw=little.utf16("abcd"))),
        "rule29_bytes_after_nul": named(one("", raw=little.text("a") +
                                            b"z\0\xff\xff")),
        "rule29_odd_length": named(one("", raw=little.utf16("ab") + b"\xff")),
        "rule29_length_one": named(one("", raw=b"a")),
        "rule29_name_with_slack": named(one("", raw=b"\xee" * 8 + little.text(
            "a"), name_offset=32, name_length=4)),
        "rule29_unaligned": named(one("a", pad=False), one("bc", pad=False)),
        "rule29_length_zero": named(one("a", name_offset=8, name_length=0)),
        "unique_ids": named(one("a", unique=3), one("a", unique=-5),
                            one(None, unique=3), one("b", unique=0)),
        "rule33_parents": little.block(disks, volumes),
        "rule33_parents_after": little.block(volumes, disks),
        "rule33_parents_own": little.block(own),
        "rule33_parents_lost": little.block(lost),
        "rule34_parents_twice": little.block(disks, disks, volumes),
    }


def bases():
    """Seeds about counters: bases, multi counts, labels, sizes, offsets."""
    def counted(counters, *raws, **options):
        return little.block(little.single(4, counters, *raws, **options))

    c, v4, v8 = little.counter, little.v4, little.v8
    return {
        "base": counted([c(206, AVERAGE_TIMER, 4, 4),
                         c(206, AVERAGE_BASE, 4, 8)], v4(500), v4(20)),
        "base_wide_timer": counted([c(206, AVERAGE_TIMER, 8, 8),
                                    c(206, AVERAGE_BASE, 4, 4)],
                                   v4(20), v8(500)),
        "bases_shared": counted(
            [c(206, AVERAGE_TIMER, 4, 4), c(206, AVERAGE_BASE, 4, 8),
             c(228, AVERAGE_BULK, 8, 16), c(228, AVERAGE_BASE, 4, 8),
             c(408, FRACTION, 4, 12), c(0, FRACTION_BASE, 4, 8)],
            v4(500), v4(20), v4(3), v8(4096)),
        "base_precision": counted([c(1746, PRECISION, 8, 4),
                                   c(1746, LARGE_BASE, 8, 12)], v8(5), v8(9)),
        "base_missing": counted([c(408, FRACTION, 4, 4), c(10, RATE, 4, 4)],
                                v4(3)),
        "base_last": counted([c(10, RATE, 4, 4), c(408, FRACTION, 4, 4)],
                             v4(3)),
        "base_first": counted([c(408, FRACTION_BASE, 4, 4),
                               c(408, FRACTION, 4, 4)], v4(3)),
        "base_before_counter": counted(
            [c(408, FRACTION, 4, 8), c(408, FRACTION_BASE, 4, 4)],
            v4(90), v4(30)),
        "base_of_wrong_size": counted(
            [c(408, FRACTION, 4, 4), c(408, FRACTION_BASE, 8, 8),
             c(206, AVERAGE_BULK, 8, 8), c(206, LARGE_BASE, 4, 4)],
            v4(3), v8(9)),
        "base_precision_is_none": counted(
            [c(408, FRACTION, 4, 4), c(408, PRECISION, 8, 8)], v4(3), v8(9)),
        "base_of_text": counted(
            [c(408, FRACTION, 4, 4), c(408, 0x00030800, 4, 8)], v4(3), v4(9)),
        "multi_definition": counted([c(30, MULTI, 8, 4),
                                     c(30, MULTI_BASE, 8, 12)],
                                    v8(500), v8(2)),
        "multi_after_value": counted([c(30, MULTI, 8, 4), c(10, RATE, 4, 16)],
                                     v8(500), v4(2), v4(7)),
        "multi_claimed": counted([c(30, MULTI, 8, 4), c(10, RATE, 4, 12)],
                                 v8(500), v4(7)),
        "multi_claimed_partly": counted(
            [c(30, MULTI, 8, 4), c(10, 0x00000B00, 2, 14)], v8(500), v4(7)),
        "multi_claimed_unaligned": counted(
            [c(30, MULTI, 8, 5), c(12, LARGE, 8, 6)], bytes(range(16))),
        "multi_count_truncated": counted([c(30, MULTI, 8, 4)], v8(500),
                                         b"\2\0\0"),
        "multi_both": counted([c(30, MULTI, 8, 4), c(30, MULTI_BASE, 8, 16)],
                              v8(500), v4(2), v8(3)),
        "multi_wrong_definition": counted(
            [c(30, MULTI, 8, 4), c(30, MULTI_BASE, 4, 16)],
            v8(500), v4(2), v4(3)),
        "multi_narrow": counted([c(30, MULTI, 4, 4)], v4(5), v4(2)),
        "rule31_shared_offset": counted(
            [c(10, RATE, 4, 4), c(12, RAW, 4, 4), c(14, LARGE, 8, 4)], v8(1)),
        "rule31_odd_offset": counted([c(10, RATE, 4, 5), c(12, BULK, 8, 7)],
                                     bytes(range(16))),
        "rule31_order": counted([c(10, RATE, 4, 16), c(12, BULK, 8, 8),
                                 c(14, RAW, 4, 4)], v4(1), v8(2), v4(3)),
        "rule32_label": counted([c(0, NODATA, 0, 0), c(10, RATE, 4, 4)],
                                v4(3)),
        "rule32_label_beyond": counted([c(0, NODATA, 0, MAX),
                                        c(10, RATE, 4, 4)], v4(3)),
        "rule32_text": counted([c(0, TEXT, 10, 4), c(10, RATE, 4, 16)],
                               little.text("text"), b"\0\0", v4(3)),
        "rule32_sizes": counted([c(10, RAW, 3, 4), c(12, RAW, 16, 4),
                                 c(14, RAW, 8, 4), c(16, LARGE, 4, 4)],
                                bytes(range(16))),
        "unknown_types": counted([c(10, 0xFFFFFFFF, 4, 4), c(12, 0x300, 8, 4),
                                  c(14, 0x00012000, 8, 4)], v8(1)),
        "multi_many": many_multi_counters(),
        "only_labels": counted([c(2 * n, NODATA, 0, 0) for n in range(8)],
                               b""),
    }


def v1_valid():
    """{name: bytes} of all valid blocks."""
    out = {}
    for part in (whole_blocks, objects, names, bases):
        out.update(part())
    return {"valid_" + name: raw for name, raw in out.items()}


# Broken blocks --------------------------------------------------------------

def broken_frames():
    """Rules 23 to 25: the block's header."""
    one = single(little)
    good = little.block(one)
    out = {
        "rule23_no_bytes": b"", "rule23_short": good[:87],
        "rule23_signature": little.block(one, signature=b"PERF\0\0\0\0"),
        "rule23_signature_last": little.block(
            one, signature=little.utf16("PERG")),
        "rule24_cut": good[:-1],
        "rule24_second_block_cut": good + good[:-8],
    }
    for name, flag in (("two", 2), ("max", MAX), ("swapped", 1 << 24)):
        out["rule23_byte_order_" + name] = little.block(one, flag=flag)
    out["rule23_byte_order_contradicts"] = little.block(one, flag=0)
    out["rule23_big_byte_order_contradicts"] = big.block(single(big),
                                                         flag=1 << 24)
    for name, total in (("zero", 0), ("below_header", 87), ("max", MAX),
                        ("beyond", len(good) + 1)):
        out["rule24_total_" + name] = little.block(one, total=total)
        out["rule24_big_total_" + name] = big.block(single(big), total=total)
    for name, header in (("zero", 0), ("below", 87), ("beyond", len(good) + 1),
                         ("max", MAX)):
        out["rule24_header_" + name] = little.block(one, header=header)
    short = without_header(little, one, one)
    out["rule24_without_header_cut"] = short[:-1]
    for name, more in (("above", 8), ("below", -8)):
        out["rule24_without_header_" + name] = without_header(
            little, one, one, more=more, tail=bytes(8))
    for name, count in (("beyond", 3), ("many", 100), ("max", MAX)):
        out["rule25_count_" + name] = little.block(one, count=count)
    return out


def broken_objects():
    """Rules 26 to 28: the object's header. A valid object follows most of
    them."""
    # The count fits the size of the block, but the second object is truncated.
    bad = {"rule26_truncated": little.block(
        single(little, tail=bytes(60)), bytes(56), count=2)}
    cases = [("size", name, "26", size) for name, size in (
        ("zero", 0), ("below", 63), ("beyond", 4000), ("max", MAX))]
    cases += [("definitions", name, "26", size) for name, size in (
        ("zero", 0), ("below_header", 63), ("beyond", 113), ("max", MAX))]
    cases += [("header", name, "26", size) for name, size in (
        ("zero", 0), ("below", 63), ("beyond_definitions", 105),
        ("beyond", 113), ("max", MAX))]
    cases += [("count", name, "27", count) for name, count in (
        ("beyond", 2), ("many", 1000), ("max", MAX))]
    cases += [("instances", name, "28", count) for name, count in (
        ("minus_4", -4), ("min", -(1 << 31)), ("beyond", 1),
        ("max", 0x7FFFFFFF))]
    for field, name, rule, number in cases:
        # The broken object has a header of 64 bytes, a definition of 40 and a
        # counter block of 8.
        bad["rule%s_%s_%s" % (rule, field, name)] = little.block(
            broken_object(field, number), single(little, title=4))
    # 576 values share their bytes. There is more than one per 4 bytes of the
    # object, which is too many for multi counters.
    bad["excessive_values"] = little.block(little.object(
        2, [little.counter(30, MULTI, 8, 4)] * 24,
        [little.instance(None, little.values(little.v8(7)))] * 24),
        single(little, title=4))
    bad["rule28_big_minus_4"] = big.block(process(big, *ROWS, instances=-4))
    return bad


def broken_object(field, number):
    """An object with one counter and this wrong number in a field."""
    fields = {"instances": w.NO_INSTANCES, field: number}
    return little.object(2, [little.counter(10, RATE, 4, 4)],
                         [little.values(little.v4(7))], **fields)


def broken_parts():
    """Rules 27 and 29 to 31: definitions, instances, counter blocks."""
    c, v4, v8 = little.counter, little.v4, little.v8
    good, block = c(10, RATE, 4, 4), little.values(v4(7))
    first = little.instance("a", block)
    out = {}
    for name, length in (("zero", 0), ("below", 39), ("beyond", 81),
                         ("max", MAX)):
        out["rule27_size_" + name] = little.single(
            2, [good, c(12, RAW, 4, 4, length=length)], v4(7))
    # The first definition is so long that the second one is truncated.
    out["rule27_truncated"] = little.single(
        2, [c(10, RATE, 4, 4, length=72), good], v4(7))
    for name, length in (("zero", 0), ("below", 3), ("beyond", 9),
                         ("max", MAX)):
        bad = little.values(v4(7), length=length)
        out["rule30_size_" + name] = little.object(
            2, [good], [bad], instances=w.NO_INSTANCES)
        out["rule30_instance_" + name] = little.object(
            230, [good], [first, little.instance("b", bad)])
    out["rule30_truncated"] = little.object(2, [good], [b"\0\0"],
                                            instances=w.NO_INSTANCES)
    out["rule30_instance_truncated"] = little.object(
        230, [good], [first, little.instance("bc", b"\0\0")])
    for name, length in (("zero", 0), ("below", 23), ("beyond", 73),
                         ("max", MAX)):
        out["rule29_size_" + name] = little.object(
            230, [good], [first, little.instance("b", block, length=length)])
    out["rule29_truncated"] = little.object(
        230, [good], [little.instance("a", little.values(v4(7),
                                                         tail=bytes(16))),
                      bytes(20)])
    for name, offset, length in (
            ("in_header", 20, 4), ("offset_zero", 0, 4), ("empty", 33, 0),
            ("offset_beyond", 33, 4), ("offset_max", MAX, 4),
            ("length_beyond", 24, 9), ("length_max", 24, MAX),
            ("both_max", MAX, MAX)):
        out["rule29_name_" + name] = little.object(
            230, [good], [first, little.instance(
                "b", block, name_offset=offset, name_length=length), first])
    for name, size, offset in (
            ("in_length", 4, 0), ("half_in_length", 4, 3),
            ("beyond", 4, 5), ("at_end", 4, 8), ("past_end", 4, 9),
            ("offset_max", 4, MAX), ("size_max", MAX, 4),
            ("both_max", MAX, MAX), ("wide", 8, 4), ("wraps", 8, 0xFFFFFFFC)):
        out["rule31_value_" + name] = little.single(
            2, [good, c(12, RAW, size, offset)], v4(7))
        out["rule31_instance_" + name] = little.object(
            230, [good, c(12, RAW, size, offset)],
            [little.instance("a", little.values(v4(7))),
             little.instance("b", little.values(v8(7), v8(8)))])
    # Only the second instance is wrong.
    out["rule31_second_instance"] = little.object(
        230, [good, c(12, RAW, 4, 8)],
        [little.instance("a", little.values(v4(1), v4(2))),
         little.instance("b", block)])
    return {name: little.block(raw, single(little, title=4))
            for name, raw in out.items()}


def broken_between():
    """Broken objects among valid ones. The valid objects must be read, except
    after an object with a wrong size, where reading ends."""
    one, two = single(little), process(little, *ROWS)
    bad = broken_object("instances", -4)
    worse = little.single(2, [little.counter(12, RAW, 4, 9)], little.v4(7))
    return {
        "between": little.block(one, bad, two),
        "between_two": little.block(bad, one, worse, two),
        "all": little.block(bad, worse),
        "between_stops": little.block(one, broken_object("size", 8), two),
        "name_and_object": little.block(one, worse, two, name_offset=MAX),
        "first_of_two_blocks": little.block(one, worse) + little.block(two),
        "second_of_two_blocks": little.block(two) + little.block(one, bad),
        "big": big.block(single(big), big.single(
            2, [big.counter(12, RAW, 4, 9)], big.v4(7)), single(big)),
    }


def v1_seeds():
    """{name: bytes} of all seeds of V1 blocks."""
    out = {}
    for part in (broken_frames, broken_objects, broken_parts, broken_between):
        out.update(part())
    seeds = {"broken_" + name: raw for name, raw in out.items()}
    return dict(seeds, **v1_valid())


# Name tables ----------------------------------------------------------------

PAIRS = (("1", "1847"), ("2", "System"), ("4", "Memory"),
         ("6", "% Processor Time"), ("10", "File Read Operations/sec"))
STRINGS = tuple(part for pair in PAIRS for part in pair)


def sound_tables():
    """Name tables without deviations."""
    text = lines(*PAIRS)
    return {
        "counter": multi_string(*STRINGS),
        "help": multi_string("3", "The System performance object.",
                             "5", "Memory."),
        "one": multi_string("2", "System"),
        "text": text.encode(), "text_crlf": lines(*PAIRS, end="\r\n").encode(),
        "text_bom": b"\xef\xbb\xbf" + text.encode(),
        "text_utf16": ("\ufeff" + text).encode("utf-16-le"),
        "text_two_lines": lines(*PAIRS, join="\n").encode(),
        "text_two_lines_utf16": ("\ufeff" + lines(
            *PAIRS, join="\r\n", end="\r\n")).encode("utf-16-le"),
        "rule36_unordered": multi_string("10", "b", "2", "a", "6", "c"),
        "rule36_indexes_repeat": multi_string("2", "a", "2", "b", "4", "a"),
        "rule36_names_repeat": multi_string("2", "x", "8", "x", "4", "x"),
        "rule36_index_large": multi_string("2147483648", "a", "4294967295",
                                           "b", "0", "c"),
        "rule36_leading_zeros": multi_string("0002", "a", "000", "b"),
        "surrogates": multi_string("2", "a\ud800", "4", "\U0001f600",
                                   "6", "\uff41", "8", "\ufffd"),
        "text_not_utf8": b"2\ta\xff\xfe\n4\t\xc3\n6\t\xed\xa0\x80\n",
        "order": multi_string("2", "\U0001f600", "4", "\uffee", "6", "\ue000",
                              "8", "a", "10", "ab"),
        "text_tabs": b"2\ta\tb\n4\t\tc\n",
    }


def unusual_tables():
    """Name tables with irregular contents. A strict reader rejects some of
    them; other readers reject none."""
    return {
        "rule36_odd": multi_string("2", "System", "4"),
        "rule36_no_index": multi_string("2", "a", "x", "b", "4", "c"),
        "rule36_empty_index": multi_string("2", "a", "", "b", "4", "c"),
        "rule36_empty_text": multi_string("2", "", "4", "Memory"),
        "rule36_empty_text_last": multi_string("2", "System", "4", ""),
        "rule36_index_huge": multi_string("2", "a", "4294967296", "b",
                                          "99999999999999999999", "c"),
        "rule36_negative": multi_string("2", "a", "-4", "b", "+6", "c"),
        "rule36_blanks": multi_string("2", "a", " 4", "b", "6 ", "c"),
        "rule36_no_last_nul": multi_string(*STRINGS, end=""),
        "rule36_no_nul": multi_string(*STRINGS, end="")[:-2],
        "rule36_cut_character": multi_string(*STRINGS, end="")[:-3],
        "rule36_cut_nul": multi_string(*STRINGS)[:-1],
        "rule36_after_end": multi_string("2", "a") + multi_string("4", "b"),
        "rule36_many_nuls": multi_string("2", "a", end="\0\0\0\0"),
        "rule36_index_alone": multi_string("2", end="")[:-2],
        "text_no_index": b"2\ta\nx\tb\n\n4\tc\n",
        "text_no_tab": b"2\ta\n4 c\n6\tb\n", "text_no_end": b"2\ta\n4\tb",
        "text_odd_lines": b"2\na\n4\n", "text_blank_lines": b"2\ta\n\n\n4\tb\n",
        "text_nul": b"2\ta\0b\n4\tc\n", "text_cr": b"2\ta\r4\tb\r",
        "text_utf16_odd": ("\ufeff2\ta\n").encode("utf-16-le") + b"4",
    }


def name_table_seeds():
    """{name: bytes} of all seeds of name tables."""
    seeds = {"valid_" + name: raw for name, raw in
             dict(sound_tables(), **unusual_tables(), empty=b"",
                  nuls=bytes(4)).items()}
    for name, raw in (("letters", b"name\t2\n"), ("text_first", multi_string(
            "System", "2")), ("one_byte", b"\xff"), ("binary", struct.pack(
                "<I", 0x80818283)), ("blank", b" 2\ta\n")):
        seeds["broken_form_" + name] = raw
    return seeds
