# SPDX-License-Identifier: MIT
"""Worst cases of perfmon logs, binary and text."""

import struct

import log_writer as w
from cases import case, filled


def in_one_buffer(events):
    """A log with these events in its second buffer."""
    used = 0x48 + sum(len(event) + -len(event) % 8 for event in events)
    return w.buffer(w.trace(2, 512), size=512) + w.buffer(*events, size=used)


def one_buffer(size, event):
    """A log with this event repeated until `size` bytes are filled."""
    return in_one_buffer(filled(size, event))


def one_record(size, kind, head, item):
    """A log with one record, in which this item is repeated until `size` bytes
    are filled."""
    payload = head + b"".join(filled(size, item))
    if kind == w.SAMPLE:
        payload = payload[:4] + struct.pack("<I", len(payload)) + payload[8:]
    return in_one_buffer(w.record(kind, payload, 8000))


# ---- Containers -------------------------------------------------------------


@case("log")
def empty_buffers(size):
    """Buffers without events."""
    return w.buffer(w.trace(2, 512), size=512) + w.buffer(size=72) * (
        size // 72)


@case("log")
def small_events(size):
    """Events of an unknown type, as small as they may be."""
    return one_buffer(size, w.event(0x21, b"", length=0x48))


@case("log")
def records_without_end(size):
    """Each event claims to begin a record of 2^32 - 1 parts."""
    return one_buffer(size, w.event(w.SAMPLE, b"", part=1, parts=2**32 - 1))


@case("log")
def parts_of_nothing(size):
    """One record whose parts are empty."""
    events = -(-size // 72)  # filled() makes as many
    return one_buffer(size, lambda number: w.event(
        w.SAMPLE, b"", part=number + 1, parts=events))


@case("log")
def parts_without_end(size):
    """A record of 2^32 - 1 empty parts. The reader searches for its next part
    up to the end of the log."""
    return one_buffer(size, lambda number: w.event(
        w.SAMPLE, b"", part=number + 1, parts=2**32 - 1)) + bytes(8)


@case("log")
def empty_samples(size):
    """Samples without items, of 8 bytes."""
    return one_buffer(size, w.sample()[0])


# ---- Records ----------------------------------------------------------------


@case("log")
def small_paths(size):
    """Paths without strings."""
    return one_record(size, w.PATHS, bytes(8), w.path(0, 0, None, None, None,
                                                      None))


@case("log")
def shared_strings(size):
    """Paths whose five strings are the same."""
    names = dict.fromkeys(("machine", "object", "instance", "parent",
                           "counter"), 0)
    return one_record(size, w.PATHS, bytes(8), w.path(
        0, 0, "n" * 400, None, None, None, offsets=names))


@case("log")
def small_items(size):
    """A sample with items of an unknown kind, of 8 bytes."""
    return one_record(size, w.SAMPLE, w.joined(), w.item(9, b""))


@case("log")
def counters(size):
    """A sample with the items of counters, of 48 bytes."""
    return one_record(size, w.SAMPLE, w.joined(), w.counter(1, 2))


@case("log")
def equal_names(size):
    """Instances with empty names, which are sorted and numbered."""
    count = size // 24
    return one_record(1, w.SAMPLE, w.joined(), w.instances(
        *[("", 1, 2)] * count, names=[24 + 24 * count] * count))


@case("log")
def shared_names(size):
    """Instances whose names are suffixes of one string, until the reader rejects
    their total length."""
    count = size // 32
    start = 24 + 24 * count
    rows = [("n" * (2 * count), 1, 2)] + [("", 1, 2)] * (count - 1)
    at = [start + 2 * (2 * count - 60 - n % 2) for n in range(count)]
    return one_record(1, w.SAMPLE, w.joined(), w.instances(*rows, names=at))


# ---- Text -------------------------------------------------------------------

HEADER = b'"(PDH-CSV 4.0)"'
TIME = b'"01/01/2000 00:00:00.000"'


def row(size, cell):
    """A text with as many of these cells in a row as fit."""
    count = size // (len(cell) + 4)
    return HEADER + b',""' * count + b"\n" + TIME + (b"," + cell) * count + b"\n"


def number(text):
    """Adds a case with many cells that contain this number, unquoted."""
    def make(size):
        return row(size, text)
    make.__name__ = "number_" + text.decode()
    case("pdh_text")(make)


for text in (b"1", b".1", b"1e9", b"1e99", b"1e300", b"1e-9", b"1e-99",
             b"1e-300", b"4.6153846153846096", b"1.7976931348623157e308",
             b"2.2250738585072011e-308", b"9" * 40 + b"e-300"):
    number(text)


@case("pdh_text")
def many_digits(size):
    """One number that takes all bytes."""
    return HEADER + b",a\n" + TIME + b"," + b"9" * size + b"\n"


@case("pdh_text")
def used_digits(size):
    """Numbers with 769 digits, the most that the reader keeps."""
    return row(size, b"9" * 769 + b"e-900")


@case("pdh_text")
def marks(size):
    """A path that consists of quotation marks."""
    return HEADER + b"," + b'"' * size + b"\n"


@case("pdh_text")
def marks_and_separators(size):
    """A quoted path with many doubled quotation marks before separators."""
    return HEADER + b',"' + b'"",' * (size // 3) + b"\n"


@case("pdh_text")
def blank_cells(size):
    """Empty cells."""
    return row(size, b"")


@case("pdh_text")
def lines_that_are_not_rows(size):
    """Lines of one character, which are not rows."""
    return HEADER + b"\n" + b"x\n" * (size // 2)


@case("pdh_text")
def empty_lines(size):
    """Line ends after the header."""
    return HEADER + b"\n" * size


@case("pdh_text")
def rows_without_cells(size):
    """Rows that consist of the shortest time."""
    return HEADER + b"\n" + b"1/1/1601 0:0:0\n" * (size // 15)
