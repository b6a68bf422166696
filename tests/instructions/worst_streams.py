# SPDX-License-Identifier: MIT
"""Worst cases of name tables, metadata, captures, CPI hooks and LWP."""

import struct

from cases import case, filled
import cpi_writer as cpi
import v1_writer as v1
import make_lwp_seeds as lwp
import seed_writer as w

LARGE_RAWCOUNT = 0x00010100
EMPTY_NAME = b"\0\0"  # only a NUL
SET_GUID = "3f1c0c4e-5d1b-4a53-9c2e-0a1b2c3d4e5f"
L = v1.little

# ---- Name tables ------------------------------------------------------------

NAMES = ("name_table", "name_index")


@case(*NAMES)
def shortest_pairs(size):
    """Lines of 3 bytes."""
    return b"1\t\n" * (size // 3)


@case(*NAMES)
def shortest_pairs_on_two_lines(size):
    """Pairs of 4 bytes."""
    return b"1\na\n" * (size // 4)


@case(*NAMES)
def shortest_strings(size):
    """Pairs of 8 bytes as a multi-string in UTF-16."""
    return v1.multi_string(*["1", "a"] * (size // 8))


@case(*NAMES)
def empty_lines(size):
    """Only line ends after one pair."""
    return b"1\ta\n" + b"\n" * size


@case(*NAMES)
def empty_wide_lines(size):
    """empty_lines in UTF-16."""
    return ("1\ta\n" + "\n" * (size // 2)).encode("utf-16-le")


@case(*NAMES)
def lines_without_tab(size):
    """Lines of 2 bytes that are not pairs."""
    return b"1\ta\n" + b"x\n" * (size // 2)


@case(*NAMES)
def lines_that_are_no_number(size):
    """Index and text on separate lines; after one pair, no line is a number."""
    return b"1\na\n" + b"x\n" * (size // 2)


@case(*NAMES)
def strings_that_are_no_number(size):
    """A multi-string whose strings are not numbers."""
    return v1.multi_string("1", "a", *["x"] * (size // 4))


@case(*NAMES)
def numbers_as_texts(size):
    """Pairs whose text is a number, too."""
    return v1.multi_string(*["1"] * (size // 4))


@case(*NAMES)
def empty_strings(size):
    """Empty strings followed by other strings, repeatedly."""
    return ("1\0a\0" + "\0x\0" * (size // 6)).encode("utf-16-le")


@case(*NAMES)
def lines_without_index(size):
    """Tabs without index and text."""
    return b"1\ta\n" + b"\t\n" * (size // 2)


@case(*NAMES)
def lines_of_a_return(size):
    """Empty lines of 2 bytes."""
    return b"1\ta\n" + b"\r\n" * (size // 2)


@case(*NAMES)
def narrow_strings(size):
    """Pairs of 3 bytes as a multi-string in single bytes."""
    return b"10\0a\0" + b"1\0\0" * (size // 3)


@case(*NAMES)
def narrow_strings_that_are_no_number(size):
    """A multi-string in single bytes whose strings are not numbers."""
    return b"10\0a\0" + b"x\0" * (size // 2)


@case(*NAMES)
def one_long_number(size):
    """One index without a text. It is read twice, the first time to recognise
    the form of the table."""
    return b"0" * size


@case(*NAMES)
def long_numbers(size):
    """Indexes of ten digits."""
    return b"4294967295\t\n" * (size // 12)


@case("name_table")
def one_long_text(size):
    """A text that takes all bytes."""
    return b"1\t" + b"a" * size


@case("name_index")
def short_names_in_no_order(size):
    """Unsorted pairs of 4 bytes: the index sorts numbers and names."""
    return b"10\0a\0" + b"".join(
        b"%d\0%c\0" % (i * i * 7919 % 89 % 10, 97 + i * i * 104729 % 83 % 26)
        for i in range(size // 4))


@case("name_index")
def equal_names(size):
    """One name with descending indexes."""
    return b"".join(b"%d\tsame name\n" % (10 ** 9 - i)
                    for i in range(size // 20))


@case("name_index")
def long_similar_names(size):
    """Names of 201 characters that differ in their last character only,
    in descending order."""
    return b"".join(b"%d\t%s%c\n" % (10 ** 6 - i, b"n" * 200, 122 - i % 64)
                    for i in range(size // 209))


@case("name_index")
def wide_similar_names(size):
    """long_similar_names in UTF-16, with surrogates."""
    return "".join(f"{10 ** 6 - i}\t{chr(0x1F600) * 50}{chr(122 - i % 64)}\n"
                   for i in range(size // 218)).encode("utf-16-le")


# ---- Metadata ---------------------------------------------------------------

(CODE_SET, CODE_NAME, CODE_NAMES, GUIDS, IDENTIFIERS,
 INSTANCES) = 1, 3, 5, 11, 12, 13


def selected(code, body):
    """The input of read_inputs: the request code, or 11 to 13 for the lists,
    and the reply."""
    return bytes([code]) + body


@case("registration")
def counters(size):
    """Counters of 48 bytes with descending ids."""
    infos = [w.counter_info(size - i, LARGE_RAWCOUNT) for i in range(size // 48)]
    return selected(CODE_SET, w.counterset(SET_GUID, infos))


@case("registration")
def long_string(size):
    """A string that takes all bytes."""
    return selected(CODE_NAME, w.string("s" * (size // 2)))


@case("registration")
def tiny_strings(size):
    """Strings of one character."""
    return selected(CODE_NAMES, w.string_block(
        [(i, "s") for i in range(size // 12)]))


@case("registration")
def no_strings(size):
    """Entries without a string."""
    return selected(CODE_NAMES, w.string_block(
        [(i, None) for i in range(size // 8)]))


def overlapping(size, entries, step):
    """Entries whose strings overlap. Successive entries have different
    offsets."""
    text = w.string("s" * (size // 2 - 4 * entries))
    first = 8 + 8 * entries
    offsets = [first + step * (i % 2 if step == 2 else i)
               for i in range(entries)]
    body = b"".join(struct.pack("<II", i, at) for i, at in enumerate(offsets))
    return selected(CODE_NAMES, struct.pack(
        "<II", first + len(text), entries) + body + text)


@case("registration")
def overlapping_long_strings(size):
    """Overlapping strings whose sizes add up to the limit, which is 16 times
    the size of the block."""
    return overlapping(size, 16, 2)


@case("registration")
def overlapping_many_strings(size):
    """Many overlapping entries, until the reader rejects the block."""
    return overlapping(size, size // 16, 2)


@case("registration")
def guids(size):
    """A list of GUIDs."""
    return selected(GUIDS, w.guid_bytes(SET_GUID) * (size // 16))


@case("registration")
def identifiers(size):
    """Identifiers without names."""
    return selected(IDENTIFIERS, w.identifier(SET_GUID) * (size // 40))


@case("registration")
def named_identifiers(size):
    """Identifiers with the shortest names."""
    one = w.identifier(SET_GUID, name="")
    return selected(IDENTIFIERS, one * (size // len(one)))


@case("registration")
def listed_instances(size):
    """Instances of 10 bytes."""
    one = w.instance(1, "", size=10, raw_name=EMPTY_NAME)
    return selected(INSTANCES, one * (size // 10))


# ---- Captures ---------------------------------------------------------------

@case("capture")
def empty_chunks(size):
    """Chunks of 16 bytes without a body."""
    return w.recording(*filled(size, w.chunk(b"DATA")))


@case("capture")
def unknown_chunks(size):
    """Chunks with unknown tags."""
    return w.recording(*filled(size, w.chunk(b"ZZZZ")))


@case("capture")
def empty_replies(size):
    """Replies without results."""
    return w.recording(*filled(size, w.chunk(b"DATA", w.reply())))


@case("capture")
def small_replies(size):
    """Replies of one value."""
    one = w.chunk(b"DATA", w.reply(w.result(w.SINGLE, w.v8(1))))
    return w.recording(*filled(size, one))


@case("capture")
def small_registrations(size):
    """The smallest registration chunk of each request code in turn."""
    def one(number):
        body = {1: w.counterset(SET_GUID, []), 2: w.counter_info(1, LARGE_RAWCOUNT),
                8: w.guid_bytes(SET_GUID)}.get(number % 10 + 1, bytes(8))
        return w.registration_chunk(SET_GUID, number % 10 + 1, body)
    return w.recording(*filled(size, one))


@case("capture")
def empty_v1_blocks(size):
    """V1 blocks of 88 bytes."""
    return w.recording(*filled(size, w.chunk(b"V1DT", L.block(system=""))))


@case("capture")
def broken_bodies(size):
    """Chunks whose body of 8 bytes is too short for their tag."""
    tags = (b"DATA", b"V1DT", b"LWPC", b"CPIH", b"QINF")
    return w.recording(*filled(size, lambda n: w.chunk(
        tags[n % len(tags)], bytes(8))))


# ---- CPI hooks --------------------------------------------------------------

HUGE = 2 ** 64 - 1


@case("cpi_hooks")
def other_majors(size):
    """Records of 12 bytes with other major codes, which are skipped."""
    return b"".join(filled(size, cpi.record(cpi.SUMMARY, b"", major=1)))


@case("cpi_hooks")
def threads(size):
    """Groups of 48 bytes, of one thread each."""
    def one(number):
        return cpi.thread_hook(1, number, cpi.Counts(3, 10))
    return b"".join(filled(size, one))


@case("cpi_hooks")
def small_summaries(size):
    """Groups of 44 bytes, of one summary each."""
    return b"".join(filled(size, cpi.summary(9, [cpi.Counts(3, 10)])))


def hooks_of(size, count, row, forms="SD", text=b""):
    """Groups of `count` equal CPUs; each group differs from the one before."""
    def one(number):
        return cpi.group(number + 1, [row] * count, forms, True, text=text)
    return b"".join(filled(size, one))


@case("cpi_hooks")
def small_details(size):
    """Groups of a system hook and a processors hook of one CPU."""
    return hooks_of(size, 1, cpi.Counts(3, 10, 5, 1, 2), "D")


@case("cpi_hooks")
def large_details(size):
    """Groups with processors hooks of 100 CPUs."""
    return hooks_of(size, 100, cpi.Counts(3, 10, 5, 1, 2), "D")


@case("cpi_hooks")
def wide_counts(size):
    """Counts of up to 60 bits: comparing their figures takes products of more
    than 64 bits."""
    return hooks_of(size, 10, cpi.Counts(
        HUGE // 1000003, HUGE // 21, HUGE // 23, 1, 2), "D")


@case("cpi_hooks")
def wrong_figures(size):
    """Figures that do not match the counts; each causes a warning."""
    row = cpi.Counts(HUGE // 30, HUGE // 21, HUGE // 23, 1, 2)
    row.cpi = lambda: (7, 1)
    row.while_busy = lambda: (7, 1, 50, 0)
    return hooks_of(size, 10, row, "D")


@case("cpi_hooks")
def longest_labels(size):
    """Small groups between labels of 255 bytes."""
    return hooks_of(size, 1, cpi.Counts(3, 10), "S", b"l" * 255)


@case("cpi_hooks")
def shortest_labels(size):
    """Small groups between labels of one byte."""
    return hooks_of(size, 1, cpi.Counts(3, 10), "S", b"l")


# ---- LWP --------------------------------------------------------------------

def ring(size, stride, ident, **more):
    """A snapshot with as many unread records of this size as fit."""
    slots = size // stride
    registers = lwp.leaf(event_bytes=stride, latency_bits=20)
    one = lwp.record(ident, size=stride, **more)
    return lwp.simple(registers, [one] * (slots - 1), slots)


@case("lwp")
def short_records(size):
    """Records of 24 bytes."""
    return ring(size, 24, 1)


@case("lwp")
def cache_misses(size):
    """Records whose latency and address are decoded."""
    return ring(size, 32, 4, data1=0xFFFFFFFF, flags=0xFFFF)


@case("lwp")
def unknown_events(size):
    """Records of an unknown event id, each of which causes a note."""
    return ring(size, 24, 200, flags=0xFFFF)


@case("lwp")
def invalid_events(size):
    """Records of event id 0, as in slots that were never written."""
    return ring(size, 24, 0)
