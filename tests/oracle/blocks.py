# SPDX-License-Identifier: MIT
"""A second implementation of the PerfLib V2 formats and of captures, to which
core is compared.

The decoders of whole inputs are generators of records (dicts) with offsets from
the start of the input. All decoders raise Malformed at the first error. Like
core without strict mode, they accept extra bytes, odd sizes and repeated ids.
Nothing is read outside the innermost enclosing block. Keys that begin with an
underscore are for the caller and not part of a record.
"""

import argparse
import datetime
import json
import re
import struct
import sys
import uuid

DATA_HEADER, RESULT_HEADER, IDENTIFIER_HEADER = 48, 16, 40
REG_INFO, COUNTER_REG_INFO, CHUNK_HEADER = 32, 48, 16
SMALLEST_INSTANCE = 10  # header and the NUL of an empty name
NO_STRING = 0xFFFFFFFF
KINDS = {0: "error", 1: "single_counter", 2: "multiple_counters",
         4: "multiple_instances", 6: "counterset"}


class Malformed(Exception):
    """The input breaks a rule at `offset`; the text is a short reason."""

    def __init__(self, reason, offset):
        super().__init__(reason)
        self.offset = offset


def collect(items):
    """(records of a decoder, the Malformed that ended it or None)."""
    taken = []
    try:
        for item in items:
            taken.append(item)
    except Malformed as error:
        return taken, error
    return taken, None


def public(item):
    """An item without its private keys."""
    return {key: item[key] for key in item if not key.startswith("_")}


def require(condition, reason, offset):
    """Raise Malformed unless the condition holds."""
    if not condition:
        raise Malformed(reason, offset)


def u32(data, at):
    """The unsigned 32-bit number at an offset."""
    return struct.unpack_from("<I", data, at)[0]


def find_nul(data, at, end):
    """Offset of the NUL that ends the UTF-16 text at `at`; None if there is no
    NUL before `end`."""
    while end - at >= 2:
        if data[at] == 0 and data[at + 1] == 0:
            return at
        at += 2
    return None


def text(raw):
    """UTF-16LE bytes as text; each lone surrogate becomes U+FFFD."""
    whole = raw[:len(raw) // 2 * 2].decode("utf-16-le", "surrogatepass")
    return re.sub("[\ud800-\udfff]", "\ufffd", whole)


def guid(data, at):
    """A GUID in its usual text form."""
    return str(uuid.UUID(bytes_le=bytes(data[at:at + 16])))


# Data replies ---------------------------------------------------------------

def system_time(data, at):
    """The header's time of day as stored, without validation."""
    year, month, _, day, hour, minute, second, milli = struct.unpack_from(
        "<8H", data, at)
    return "%04d-%02d-%02dT%02d:%02d:%02d.%03d" % (
        year, month, day, hour, minute, second, milli)


def clock_time(clock):
    """A clock in 100 ns since 1601 as RFC 3339; None outside 1601 to 9999."""
    days, rest = divmod(clock, 864000000000)
    try:
        date = datetime.date(1601, 1, 1) + datetime.timedelta(days=days)
    except OverflowError:
        return None
    if date.year < 1601:
        return None
    seconds, units = divmod(rest, 10000000)
    return "%sT%02d:%02d:%02d.%07dZ" % (
        date.isoformat(), seconds // 3600, seconds // 60 % 60, seconds % 60,
        units)


def decode_value(data, at, end, place):
    """One value block inside [at, end): its record and the next offset."""
    require(end - at >= 8, "no space for a value header", at)
    data_size, block_size = struct.unpack_from("<II", data, at)
    require(8 <= block_size <= end - at, "value block size", at + 4)
    require(data_size <= block_size - 8, "value data size", at)
    raw = bytes(data[at + 8:at + 8 + data_size])
    record = dict({"record": "value", "offset": at}, **place)
    record.update(bytes=data_size, raw=None)
    if data_size in (4, 8):
        record["raw"] = int.from_bytes(raw, "little")
    else:
        record["hex"] = raw.hex()
    return record, at + block_size


def decode_instance(data, at, end):
    """One instance header inside [at, end): its item and the next offset."""
    require(end - at >= 8, "no space for an instance header", at)
    size, ident = struct.unpack_from("<II", data, at)
    require(SMALLEST_INSTANCE <= size <= end - at, "instance size", at)
    stop = find_nul(data, at + 8, at + size)
    require(stop is not None, "instance name without NUL", at + 8)
    raw = bytes(data[at + 8:stop])
    return {"record": "instance", "offset": at, "id": ident,
            "name": text(raw), "_name": raw}, at + size


def decode_ids(data, at, end):
    """The counter id list at [at, end): the ids and the next offset."""
    require(end - at >= 8, "no space for the counter ids", at)
    size, count = struct.unpack_from("<II", data, at)
    require(8 <= size <= end - at, "counter id block size", at)
    require(count <= (size - 8) // 4, "counter id count", at + 4)
    # What follows begins after this size, which may or may not include padding.
    return list(struct.unpack_from("<%dI" % count, data, at + 8)), at + size


def decode_values(data, at, end, query, instance, ids):
    """One value for each of `ids`, one after the other."""
    for position, counter in enumerate(ids):
        place = {"query": query, "instance": instance, "counter": counter,
                 "position": position}
        record, at = decode_value(data, at, end, place)
        yield record, at


def open_instances(data, at, end):
    """The block of instances at [at, end): their count, start and end."""
    require(end - at >= 8, "no space for the instances", at)
    size, count = struct.unpack_from("<II", data, at)
    require(8 <= size <= end - at, "instances size", at)
    require(count <= (size - 8) // 8, "instance count", at + 4)
    return count, at + 8, at + size


def decode_instances(data, instances, query, ids):
    """The instances of a block, each followed by its values."""
    count, at, end = instances
    for number in range(count):
        item, at = decode_instance(data, at, end)
        yield dict(item, query=query, instance=number)
        for record, at in decode_values(data, at, end, query, number, ids):
            yield record


def decode_result(data, result, at, end, kind):
    """A result and its contents, which depend on its kind. The contents of an
    unknown kind are skipped. The counter ids and the header of the instances
    are part of the result, whose record is returned only if they are valid.
    """
    ids, instances = [None], None  # kinds 1 and 4 contain no counter id
    if kind in (2, 6):
        ids, at = decode_ids(data, at, end)
    if kind in (4, 6):
        instances = open_instances(data, at, end)
    yield result
    if kind in (1, 2):
        for record, _ in decode_values(data, at, end, result["query"], None,
                                       ids):
            yield record
    elif instances:
        yield from decode_instances(data, instances, result["query"], ids)


def decode_header(data, at):
    """The record of the header of a reply."""
    available = len(data) - at
    require(available >= DATA_HEADER, "no space for the data header", at)
    total, count, perf, hundred, freq = struct.unpack_from("<IIqqq", data, at)
    require(DATA_HEADER <= total <= available, "total size", at)
    require(count <= (total - DATA_HEADER) // RESULT_HEADER, "result count",
            at + 4)
    return {"record": "data", "offset": at, "size": total, "queries": count,
            "perf_time": perf, "perf_time_100ns": hundred, "perf_freq": freq,
            "system_time": system_time(data, at + 32)}


def decode_data(data, at=0):
    """The reply that begins at `at`: data, result, instance, value records."""
    header = decode_header(data, at)
    yield header
    end, at = at + header["size"], at + DATA_HEADER
    for query in range(header["queries"]):
        require(end - at >= RESULT_HEADER, "no space for a result header", at)
        status, kind, size = struct.unpack_from("<III", data, at)
        require(RESULT_HEADER <= size <= end - at, "result size", at + 8)
        result = {"record": "result", "offset": at, "query": query,
                  "kind": KINDS.get(kind, "unknown"), "status": status,
                  "size": size}
        yield from decode_result(data, result, at + RESULT_HEADER, at + size,
                                 kind)
        at += size


def decode_file(data):
    """The records of one or several consecutive replies. Bytes at the end that
    are too few for another reply, or zeros, are ignored."""
    at = 0
    while True:
        yield from decode_data(data, at)
        at += u32(data, at)
        if len(data) - at < DATA_HEADER or not any(data[at:]):
            return


# Metadata -------------------------------------------------------------------

def decode_counter_info(data, at):
    """The registration of one counter."""
    names = ("id", "type", "attributes", "detail", "scale", "base",
             "perf_time", "perf_freq", "multi", "aggregate")
    fields = struct.unpack_from("<IIQIiIIIII", data, at)
    return dict({"record": "counter_info", "offset": at}, **dict(
        zip(names, fields)))


def decode_counterset(data):
    """Request code 1: a counterset and its counters."""
    require(len(data) >= REG_INFO, "no space for the counterset", 0)
    _, detail, count, instances = struct.unpack_from("<IIII", data, 16)
    require(count <= (len(data) - REG_INFO) // COUNTER_REG_INFO,
            "counter count", 24)
    yield {"record": "counterset", "offset": 0, "guid": guid(data, 0),
           "detail": detail, "counters": count, "instance_type": instances}
    for number in range(count):
        yield decode_counter_info(data, REG_INFO + COUNTER_REG_INFO * number)


def decode_counter(data):
    """Request code 2: one counter."""
    require(len(data) >= COUNTER_REG_INFO, "no space for the counter", 0)
    yield decode_counter_info(data, 0)


def decode_string(data):
    """Request codes 3, 4, 7 and 9: one text."""
    stop = find_nul(data, 0, len(data))
    require(stop is not None, "text without NUL", 0)
    yield {"record": "string", "offset": 0, "text": text(data[:stop])}


def decode_strings(data):
    """Request codes 5, 6 and 10: texts by counter id."""
    require(len(data) >= 8, "no space for the string header", 0)
    size, count = struct.unpack_from("<II", data, 0)
    require(8 <= size <= len(data), "string block size", 0)
    require(count <= (size - 8) // 8, "string count", 4)
    scanned, last = 0, NO_STRING
    for number in range(count):
        at = 8 + 8 * number
        ident, offset = struct.unpack_from("<II", data, at)
        item = {"record": "string", "offset": at, "id": ident, "text": None}
        if offset != NO_STRING:
            require(8 + 8 * count <= offset < size, "string offset", at + 4)
            stop = find_nul(data, offset, size)
            require(stop is not None, "text without NUL", offset)
            # A string that successive entries share counts once.
            scanned += stop + 2 - offset if offset != last else 0
            last = offset
            require(scanned <= 16 * size, "overlapping strings", at + 4)
            item["text"] = text(data[offset:stop])
        yield item


def decode_guid(data):
    """Request code 8: one GUID."""
    require(len(data) >= 16, "no space for the GUID", 0)
    yield {"record": "guid", "offset": 0, "guid": guid(data, 0)}


def decode_guids(data):
    """A list of GUIDs to the end of the input."""
    whole = len(data) // 16 * 16
    for at in range(0, whole, 16):
        yield {"record": "guid", "offset": at, "guid": guid(data, at)}
    require(whole == len(data), "GUID cut short", whole)


def decode_identifiers(data):
    """Identifier blocks to the end of the input."""
    at = 0
    while at < len(data):
        require(len(data) - at >= IDENTIFIER_HEADER, "identifier cut short",
                at)
        status, size, counter, instance, index = struct.unpack_from(
            "<5I", data, at + 16)
        require(IDENTIFIER_HEADER <= size <= len(data) - at,
                "identifier size", at + 20)
        raw = None
        if size > IDENTIFIER_HEADER:
            stop = find_nul(data, at + IDENTIFIER_HEADER, at + size)
            require(stop is not None, "identifier name without NUL",
                    at + IDENTIFIER_HEADER)
            raw = bytes(data[at + IDENTIFIER_HEADER:stop])
        yield {"record": "identifier", "offset": at, "guid": guid(data, at),
               "status": status, "counter": counter, "instance": instance,
               "index": index, "name": None if raw is None else text(raw),
               "_name": raw}
        at += size


def decode_instance_list(data):
    """Instance headers without values, to the end of the input."""
    at = 0
    while len(data) - at >= 8:
        item, at = decode_instance(data, at, len(data))
        yield item


REGISTRATION = {1: decode_counterset, 2: decode_counter, 3: decode_string,
                4: decode_string, 5: decode_strings, 6: decode_strings,
                7: decode_string, 8: decode_guid, 9: decode_string,
                10: decode_strings}


def decode_registration(data, request):
    """The records of a reply to this request code."""
    return REGISTRATION[request](data)


# Captures -------------------------------------------------------------------

def decode_capture(data):
    """The complete chunks of a capture whose version is known; payloads are in
    the key _payload."""
    at = 0
    while at < len(data):
        available = len(data) - at
        require(available >= CHUNK_HEADER, "chunk header cut short", at)
        tag, version, size = struct.unpack_from("<4sIQ", data, at)
        require(at > 0 or tag == b"PFBC", "not a capture", 0)
        require(at > 0 or version <= 1, "unknown version", 4)
        padded = (size + 7) // 8 * 8
        require(padded <= available - CHUNK_HEADER, "chunk cut short", at)
        begin = at + CHUNK_HEADER
        if version <= 1:
            yield {"record": "chunk", "offset": at,
                   "tag": tag.decode("latin-1"), "size": size,
                   "_payload": data[begin:begin + size]}
        at = begin + padded
    require(at > 0, "not a capture", 0)


# Command line ---------------------------------------------------------------

def show(items, size):
    """Prints the records of a decoder; returns 1 if it ended in an error."""
    taken, error = collect(items)
    for item in taken:
        print(json.dumps(public(item), ensure_ascii=False))
    if error is None:
        return 0
    print(json.dumps({"record": "error", "offset": min(error.offset, size),
                      "code": "malformed", "message": str(error)}))
    return 1


def main(arguments):
    """Command line."""
    parser = argparse.ArgumentParser(description="Print the records of FILE.")
    parser.add_argument("--show", metavar="FILE", required=True)
    decoders = {"data": decode_file, "guids": decode_guids,
                "identifiers": decode_identifiers,
                "instances": decode_instance_list, "capture": decode_capture}
    parser.add_argument("--kind", default="data",
                        choices=sorted(decoders) + ["registration"])
    parser.add_argument("--request", type=int, choices=range(1, 11), default=1)
    options = parser.parse_args(arguments)
    # The output must not depend on the locale.
    sys.stdout.reconfigure(encoding="utf-8")
    with open(options.show, "rb") as file:
        data = file.read()
    if options.kind == "registration":
        return show(decode_registration(data, options.request), len(data))
    return show(decoders[options.kind](data), len(data))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
