# SPDX-License-Identifier: MIT
"""A second implementation of V1 blocks and V1 name tables, to which core is
compared.

decode_file() returns the records of a file with offsets from its start.
Objects after a broken one are read, so errors are records too: {"record":
"error", "offset": .., "code": ..}. The verdict on a file is its first error.
Keys that begin with an underscore are not part of the program's output.
"""

import argparse
import codecs
import json
import re
import struct
import sys
from collections import Counter

import blocks
import code_pages
import formula
from blocks import public, text

DATA_BLOCK, OBJECT, DEFINITION, INSTANCE, COUNTER_BLOCK = 88, 64, 40, 24, 4
NO_INSTANCES = -1
SIGNATURES = {"P\0E\0R\0F\0".encode(): "<", "\0P\0E\0R\0F".encode(): ">"}
MULTI, MULTI_BASE = 0x02000000, 0x42030500


class Malformed(Exception):
    """The input breaks a rule: the error's code, and the offset of the field."""

    def __init__(self, code, offset):
        super().__init__(code)
        self.code, self.offset = code, offset


def require(condition, code, offset):
    """Raise Malformed unless the condition holds."""
    if not condition:
        raise Malformed(code, offset)


def error_record(error):
    """The record of an error."""
    return {"record": "error", "offset": error.offset, "code": error.code}


def is_base(kind):
    """Whether the type is that of a base: a counter of the subtype
    PERF_COUNTER_BASE."""
    return kind & 0xC00 == 0x400 and kind & 0xF0000 == 0x30000


# Code pages that are UTF-16; 0 means UTF-16 in the byte order of the block.
WIDE = {0: None, 1200: "utf-16-le", 1201: "utf-16-be"}


def cut_name(raw, page):
    """The bytes of a name up to its first NUL. An odd last byte of UTF-16 is
    dropped."""
    if page not in WIDE:
        return raw.split(b"\0")[0]
    raw = raw[:len(raw) // 2 * 2]
    stop = blocks.find_nul(raw, 0, len(raw))
    return raw if stop is None else raw[:stop]


EMPTY_NAME = (b"", 0)  # bytes and code page, for empty names of all pages
# The other encodings that are decoded, except code pages; names in all others
# are read as ASCII.
NARROW = {28591: "latin-1", 65001: "utf-8"}
# One U+FFFD for each invalid byte. Python's "replace" would make one of several.
codecs.register_error("each byte",
                      lambda error: ("\ufffd", error.start + 1))


def decode_name(raw, order, page):
    """The text of the bytes of a name in a code page."""
    if page in WIDE:
        codec = WIDE[page] or ("utf-16-le" if order == "<" else "utf-16-be")
        return re.sub("[\ud800-\udfff]", "\ufffd",
                      raw.decode(codec, "surrogatepass"))
    if page in code_pages.CODECS:
        return code_pages.decode(raw, page)
    return raw.decode(NARROW.get(page, "ascii"), "each byte")


def type_name(kind):
    """The name of a type, or its number in hexadecimal."""
    known = formula.find_type(kind)
    return known.name if known else "0x%08X" % kind


class Reader:
    """Reads one block in its byte order."""

    def __init__(self, data, start):
        self.data, self.start = data, start
        self.order = "<"

    def load(self, form, at):
        """struct.unpack_from() in the byte order, at an offset of the file."""
        return struct.unpack_from(self.order + form, self.data, at)

    # The header -------------------------------------------------------------

    def header(self):
        """Checks the block's header and returns its record."""
        at, left = self.start, len(self.data) - self.start
        require(left >= DATA_BLOCK, "truncated_header", at)
        signature = bytes(self.data[at:at + 8])
        require(signature in SIGNATURES, "unknown_format", at)
        self.order = SIGNATURES[signature]
        flag, version, revision, total, first, count, default = self.load(
            "IIIIIIi", at + 8)
        require(flag == (self.order == "<"), "bad_byte_order", at + 8)
        if self.lacks_header(total, first, count):
            total += first
        require(total >= DATA_BLOCK, "bad_total_size", at + 20)
        require(total <= left, "truncated_block", at + 20)
        require(DATA_BLOCK <= first <= total, "bad_header_size", at + 24)
        require(count <= (total - first) // OBJECT, "bad_object_count",
                at + 28)
        perf, freq, hundred, name_size, name_at = self.load("qqqII", at + 56)
        is_named = name_size <= total and name_at <= total - name_size
        name = cut_name(bytes(self.data[at + name_at:at + name_at +
                                        name_size]), 0)
        return {"record": "data", "offset": at, "size": total,
                "version": version, "revision": revision, "objects": count,
                "big_endian": self.order == ">", "default_object": default,
                "perf_time": perf, "perf_freq": freq,
                "perf_time_100ns": hundred,
                "system_time": self.system_time(at + 36),
                "system_name": decode_name(name, self.order, 0)
                if is_named and name_size else None,
                "_first": at + first,
                "_system_name": name if is_named and name_size else b""}

    def lacks_header(self, total, first, count):
        """Whether the total size does not include the header, as in blocks of
        Samba: the sizes of the objects add up to it, and the file is large
        enough for the header as well."""
        begin = self.start + first
        if first < DATA_BLOCK or begin + total > min(
                len(self.data), self.start + 0xFFFFFFFF):
            return False
        at, end = begin, begin + total
        for _ in range(count):
            if end - at < OBJECT:
                return False
            size, = self.load("I", at)
            if not OBJECT <= size <= end - at:
                return False
            at += size
        return at == end

    def system_time(self, at):
        """The header's time of day, printed without a check."""
        year, month, _, day, hour, minute, second, milli = self.load("8H", at)
        return "%04d-%02d-%02dT%02d:%02d:%02d.%03d" % (
            year, month, day, hour, minute, second, milli)

    # An object --------------------------------------------------------------

    def object_header(self, at, end):
        """The record of an object's header, whose fields are not checked."""
        require(end - at >= OBJECT, "truncated_object", at)
        (size, definitions, header, title, _, help_title, _, detail, count,
         default, instances, page, time, freq) = self.load("IIIIIIIIIiiIqq",
                                                           at)
        return {"record": "object", "offset": at, "object": title,
                "instances": instances, "code_page": page,
                "counters": count, "detail_level": detail, "size": size,
                "help": help_title, "default_counter": default,
                "perf_time": time, "perf_freq": freq,
                "_definitions": definitions, "_header": header}

    @staticmethod
    def check_object(item):
        """Checks the lengths and counts in an object's header."""
        at, size = item["offset"], item["size"]
        length, header = item["_definitions"], item["_header"]
        require(OBJECT <= header <= size, "bad_header_size", at + 8)
        require(header <= length <= size, "bad_definition_length", at + 4)
        require(item["counters"] <= (length - header) // DEFINITION,
                "bad_counter_count", at + 32)
        if item["instances"] < 0:
            require(item["instances"] >= -3, "bad_instance_count", at + 40)
        else:
            require(item["instances"] <= (size - length) //
                    (INSTANCE + COUNTER_BLOCK), "bad_instance_count", at + 40)

    def definitions(self, item):
        """The records of an object's counter definitions."""
        at = item["offset"] + item["_header"]
        end = item["offset"] + item["_definitions"]
        for position in range(item["counters"]):
            require(end - at >= DEFINITION, "truncated_definition", at)
            (length, title, _, help_title, _, scale, detail, kind, size,
             offset) = self.load("IIIIIiIIII", at)
            require(DEFINITION <= length <= end - at, "bad_definition_size",
                    at)
            yield {"record": "counter", "offset": at,
                   "object": item["object"], "counter": title,
                   "position": position, "type": type_name(kind),
                   "type_value": kind, "bytes": size, "value_offset": offset,
                   "help": help_title, "default_scale": scale,
                   "detail_level": detail}
            at += length

    def instance(self, item, number, at, end):
        """The record of an instance, and the offset of its counter block."""
        require(end - at >= INSTANCE, "truncated_instance", at)
        length, title, place, unique, offset, size = self.load("IIIiII", at)
        require(INSTANCE <= length <= end - at, "bad_instance_size", at)
        require(size <= length and offset <= length - size and
                (size == 0 or offset >= INSTANCE), "bad_name", at + 16)
        name = key = None
        if size > 0:
            page = item["code_page"] or (1200 if self.order == "<" else 1201)
            raw = cut_name(bytes(self.data[at + offset:at + offset + size]),
                           page)
            name = decode_name(raw, self.order, page)
            key = (raw, page) if raw else EMPTY_NAME
        return {"record": "instance", "offset": at,
                "object": item["object"], "instance": number, "name": name,
                "unique_id": unique, "_name": key,
                "parent_object": title or None,
                "parent_instance": place if title else None}, at + length

    def counter_block(self, at, end):
        """The size of the counter block at `at`, after checking it."""
        require(end - at >= COUNTER_BLOCK, "truncated_counter_block", at)
        size, = self.load("I", at)
        require(COUNTER_BLOCK <= size <= end - at, "bad_counter_block_size",
                at)
        return size

    # Values -----------------------------------------------------------------

    @staticmethod
    def fits(counter, size):
        """Whether a value is inside a counter block of this size, after the
        field with that size."""
        return (COUNTER_BLOCK <= counter["value_offset"] <=
                size - counter["bytes"])

    def number(self, counter, at, size):
        """A value of 4 or 8 bytes as a number; None if it has another size or
        is not inside the counter block."""
        width, offset = counter["bytes"], counter["value_offset"]
        if width not in (4, 8) or not self.fits(counter, size):
            return None
        return self.load("I" if width == 4 else "Q", at + offset)[0]

    def following_count(self, counters, position, at, size):
        """The multi count in the 4 bytes after a value; None if the counter
        block ends before that, or if they belong to another value."""
        begin = counters[position]["value_offset"] + 8
        if begin + 4 > size:
            return None
        for other in counters:
            if (other["bytes"] > 0 and other["value_offset"] < begin + 4 and
                    other["value_offset"] + other["bytes"] > begin):
                return None
        return self.load("I", at + begin)[0]

    def related(self, counters, position, at, size):
        """The base and the multi count of a value. Bases and labels have
        neither. MULTI_BASE is the type of a multi count, not of a base."""
        counter, base, items = counters[position], None, None
        if is_base(counter["type_value"]) or counter["bytes"] == 0:
            return None, None
        other = (counters[position + 1:position + 2] or [None])[0]
        if (other and is_base(other["type_value"]) and
                other["bytes"] in (4, 8)):
            base = self.number(other, at, size)
        is_counted = bool(other) and other["type_value"] == MULTI_BASE
        if counter["type_value"] & MULTI:
            if is_counted:
                items = base
            elif counter["bytes"] == 8:
                items = self.following_count(counters, position, at, size)
        return None if is_counted else base, items

    def values(self, item, counters, number, at, size):
        """A record for each definition, from the counter block at `at`.

        Values may share bytes, so their number is limited by the size of the
        object: a value counts as 2 bytes, that of a multi counter as 4, and
        their sum must not exceed the size.
        """
        item["_counted"] += sum(4 if other["type_value"] & MULTI and
                             not is_base(other["type_value"]) else 2
                             for other in counters)
        require(item["_counted"] <= item["size"], "excessive_values", at)
        for position, counter in enumerate(counters):
            width, offset = counter["bytes"], counter["value_offset"]
            require(width == 0 or self.fits(counter, size),
                    "bad_counter_offset", counter["offset"] + 36)
            base, items = self.related(counters, position, at, size)
            record = {"record": "value", "offset": at + offset * (width > 0),
                      "object": item["object"], "instance": number,
                      "counter": counter["counter"], "position": position,
                      "bytes": width, "raw": self.number(counter, at, size),
                      "base": base, "items": items,
                      "_type": counter["type_value"]}
            if width not in (4, 8):
                record["hex"] = bytes(self.data[at + offset:at + offset +
                                                width]).hex()
            yield record

    def parts(self, item, counters):
        """The records of the instances of an object and of all values."""
        at, end = item["offset"] + item["_definitions"], item["_end"]
        if item["instances"] == NO_INSTANCES:
            size = self.counter_block(at, end)
            item["_has_block"] = True
            yield from self.values(item, counters, None, at, size)
        for number in range(max(item["instances"], 0)):
            record, at = self.instance(item, number, at, end)
            size = self.counter_block(at, end)
            yield record
            yield from self.values(item, counters, number, at, size)
            at += size

    def object_parts(self, item):
        """All records in an object; the last may be its error."""
        counters = []
        try:
            self.check_object(item)
            for counter in self.definitions(item):
                counters.append(counter)
                yield counter
            yield from self.parts(item, counters)
        except Malformed as error:
            yield error_record(error)

    # The block --------------------------------------------------------------

    def records(self):
        """All records of the block."""
        header = self.header()
        yield header
        at, end = header["_first"], self.start + header["size"]
        for _ in range(header["objects"]):
            item = self.object_header(at, end)
            item["_end"] = at + item["size"]
            item["_counted"] = 0
            # The next object is found by this size.
            require(OBJECT <= item["size"] <= end - at, "bad_object_size", at)
            yield item
            yield from self.object_parts(item)
            at = item["_end"]


def number_instances(records):
    """Sets the name of the parent and the occurrence among equal names in each
    instance. A parent is searched in the first object with its title index
    that has instances."""
    objects = []
    for record in records:
        if record["record"] == "object":
            objects.append((record["object"], []))
        elif record["record"] == "instance":
            objects[-1][1].append(record)
    by_title = {}
    for title, instances in objects:
        if instances:
            by_title.setdefault(title, instances)
    for _, instances in objects:
        seen = Counter()
        for record in instances:
            place = record["parent_instance"]
            parents = by_title.get(record["parent_object"], [])
            parent = parents[place] if place is not None and (
                place < len(parents)) else {"name": None, "_name": None}
            record["parent"] = parent["name"]
            record["_parent_name"] = parent["_name"] or EMPTY_NAME
            # Different bytes may decode to the same text: compare the bytes.
            name = (record["_name"], record["_parent_name"])
            record["occurrence"] = seen[name]
            seen[name] += 1


def decode_block(data, at=0):
    """The records of the block at `at`, including those of its errors."""
    records = []
    try:
        for record in Reader(data, at).records():
            records.append(record)
    except Malformed as error:
        records.append(error_record(error))
    number_instances(records)
    return records


def decode_v2(data, at):
    """The records of a V2 reply; a record of an error has no code."""
    records, error = blocks.collect(blocks.decode_data(data, at))
    if error:
        records.append({"record": "error"})
    return records


def decode_parts(data):
    """A list of records for each block of a file, the first of which is V1.

    Reading ends after an invalid header or V2 reply, and where no signature
    follows but fewer bytes than a V2 header, or zeros up to the end of the
    file.
    """
    at, part = 0, decode_block(data)
    while True:
        yield part
        if part[0]["record"] == "error" or (is_v2(part) and "offset" not in
                                            part[-1]):
            return
        at += part[0]["size"]
        rest = bytes(data[at:])
        if rest[:8] in SIGNATURES:
            part = decode_block(data, at)
        elif len(rest) < blocks.DATA_HEADER or not any(rest):
            return
        else:
            part = decode_v2(data, at)


def first_time(data):
    """The 100 ns clock of a file's first block, or None without one."""
    order = SIGNATURES.get(bytes(data[:8]))
    if order is None or len(data) < 80:
        return None
    flag, = struct.unpack_from(order + "I", data, 8)
    return struct.unpack_from(order + "q", data, 72)[0] if flag == (
        order == "<") else None


def is_v2(part):
    """Whether these are the records of a V2 reply."""
    return "version" not in part[0] and "code" not in part[0]


def decode_file(data):
    """The records of all blocks of a file."""
    return [record for part in decode_parts(data) for record in part]


def verdict(records):
    """(code, offset) of the first error, which are None for an error in a V2
    reply; None without error."""
    for record in records:
        if record["record"] == "error":
            return record.get("code"), record.get("offset")
    return None


# Name tables ----------------------------------------------------------------

class Names:
    """A name table. `pairs` are (index, text, offset of the text); `unit` is
    the size of a character, 2 for UTF-16LE; `ends` are the characters that end
    a string."""

    def __init__(self, data):
        self.data, self.pairs, self.notes = bytes(data), [], set()
        self.error, self.unit, self.at = None, 1, 0
        if self.data[:2] == b"\xff\xfe":
            self.unit, self.at = 2, 2
        elif self.data[:3] == b"\xef\xbb\xbf":
            self.at = 3
        elif self.data[1:2] == b"\0":
            self.unit = 2
        # The character after the first index distinguishes lines from strings.
        start, self.ends = self.at, "\0\n\t"
        begin, end, ended_by = self.take()
        self.at = start
        self.is_lines = ended_by != "\0"
        self.has_tabs = ended_by == "\t"
        self.ends = "\0\n" if self.is_lines else "\0"
        if begin < end and self.number(begin, end) is None:
            self.error = ("unknown_format", begin)
        else:
            self.read()

    def character(self, at):
        """The character at an offset; None if the data ends before it does.
        """
        raw = self.data[at:at + self.unit]
        if len(raw) < self.unit:
            return None
        return chr(int.from_bytes(raw, "little"))

    def take(self, more=""):
        """The next string: (begin, end, the character that ended it or None).
        """
        begin = at = self.at
        found = self.character(at)
        while found is not None and found not in self.ends + more:
            at += self.unit
            found = self.character(at)
        self.at = len(self.data) if found is None else at + self.unit
        if ("\n" in self.ends and at > begin and
                self.character(at - self.unit) == "\r"):
            return begin, at - self.unit, found
        return begin, at, found

    def number(self, begin, end):
        """A title index, or None: only digits, below 2**32."""
        codec = "latin-1" if self.unit == 1 else "utf-16-le"
        found = self.data[begin:end].decode(codec, "replace")
        if not re.fullmatch("[0-9]+", found, re.ASCII):
            return None
        return int(found) if int(found) < 1 << 32 else None

    def is_over(self):
        """Whether all remaining characters are NUL."""
        whole = (len(self.data) - self.at) // self.unit * self.unit
        return not self.data[self.at:self.at + whole].strip(b"\0")

    def add(self, index, begin, end):
        """Appends a pair."""
        raw = self.data[begin:end]
        shown = (text(raw) if self.unit == 2 else
                 raw.decode("utf-8", "each byte"))
        self.pairs.append((index, shown, begin))

    def read(self):
        """Reads all pairs. If a string is not an index, the next string may be
        one, so only the first is skipped. In a table of lines the whole line is
        skipped."""
        while self.character(self.at) is not None:
            begin, end, ended_by = self.take("\t" if self.is_lines else "")
            if begin == end and ended_by != "\t":
                if not self.is_lines and self.is_over():
                    return
                if not self.is_lines:
                    self.notes.add("bad_pair")
                continue
            index, is_line = self.number(begin, end), ended_by == "\t"
            has_text = is_line or (not self.has_tabs and
                                   self.character(self.at) is not None)
            # The NUL that ends the table is not an empty text.
            if (not self.is_lines and
                    len(self.data) - self.at < 2 * self.unit):
                has_text = has_text and self.character(self.at) != "\0"
            has_text = has_text and ended_by is not None
            if is_line or (has_text and index is not None):
                place = self.take()
            if index is None or not has_text:
                self.notes.add("bad_pair")
                continue
            if place[2] is None and not self.is_lines:
                self.notes.add("unterminated")
            self.add(index, *place[:2])


# Command line ---------------------------------------------------------------

def main(arguments):
    """Command line."""
    parser = argparse.ArgumentParser(description="Print the records of FILE.")
    parser.add_argument("--show", metavar="FILE", required=True)
    parser.add_argument("--kind", choices=("v1", "names"), default="v1")
    options = parser.parse_args(arguments)
    sys.stdout.reconfigure(encoding="utf-8")
    with open(options.show, "rb") as file:
        data = file.read()
    if options.kind == "names":
        table = Names(data)
        for index, name, offset in table.pairs:
            print(json.dumps({"index": index, "name": name,
                              "offset": offset}, ensure_ascii=False))
        return 1 if table.error else 0
    records = list(decode_file(data))
    for record in records:
        print(json.dumps(public(record), ensure_ascii=False))
    return 1 if verdict(records) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
