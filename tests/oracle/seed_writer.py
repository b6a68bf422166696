# SPDX-License-Identifier: MIT
"""Writes PerfLib V2 bytes.

Sizes and counts follow from the contents unless a keyword overrides them to
make a broken seed. Nothing here is shared with the readers.
"""

import struct
import uuid

ANY = 0xFFFFFFFF
ERROR, SINGLE, COUNTERS, INSTANCES, COUNTERSET = 0, 1, 2, 4, 6


def pad8(raw, fill=b"\0"):
    """Bytes padded to a multiple of 8."""
    return raw + fill * (-len(raw) % 8)


def chosen(override, correct):
    """The override if there is one, otherwise the correct value."""
    return correct if override is None else override


def utf16(name):
    """UTF-16LE without NUL; lone surrogates are kept."""
    return name.encode("utf-16-le", "surrogatepass")


def guid_bytes(text):
    """The 16 bytes of a GUID."""
    return uuid.UUID(text).bytes_le


# Data replies ---------------------------------------------------------------

def datum(raw, data_size=None, block_size=None, fill=b"\0"):
    """One value block around raw bytes."""
    body = pad8(raw, fill)
    return struct.pack("<II", chosen(data_size, len(raw)),
                       chosen(block_size, 8 + len(body))) + body


def v4(number):
    """A 4-byte value."""
    return datum(struct.pack("<I", number))


def v8(number):
    """An 8-byte value."""
    return datum(struct.pack("<Q", number))


def instance(ident, name, *values, size=None, raw_name=None):
    """An instance header and the values that follow it."""
    body = chosen(raw_name, pad8(utf16(name) + b"\0\0"))
    return struct.pack("<II", chosen(size, 8 + len(body)), ident) + body + \
        b"".join(values)


def id_list(ids, size=None, count=None, pad=True):
    """The list of counter ids; with an odd count its padding is optional."""
    body = struct.pack("<%dI" % len(ids), *ids)
    body = pad8(body) if pad else body
    return struct.pack("<II", chosen(size, 8 + len(body)),
                       chosen(count, len(ids))) + body


def instance_block(*instances, total=None, count=None, tail=b""):
    """The block that holds the instances."""
    body = b"".join(instances) + tail
    return struct.pack("<II", chosen(total, 8 + len(body)),
                       chosen(count, len(instances))) + body


def result(kind, body=b"", status=0, size=None, reserved=0):
    """One result block."""
    return struct.pack("<IIII", status, kind, chosen(size, 16 + len(body)),
                       reserved) + body


def clocks(perf=1000000, hundred=133000000000000000, freq=10000000,
           time=(2024, 5, 3, 15, 12, 30, 45, 678)):
    """The time fields of a reply."""
    return struct.pack("<qqq8H", perf, hundred, freq, *time)


def reply(*results, total=None, count=None, stamps=None):
    """A whole reply."""
    body = b"".join(results)
    return struct.pack("<II", chosen(total, 48 + len(body)),
                       chosen(count, len(results))) + \
        chosen(stamps, clocks()) + body


# Metadata -------------------------------------------------------------------

def counter_info(ident, type_value, base=ANY, perf_time=ANY, perf_freq=ANY,
                 multi=ANY, attributes=0, scale=0, aggregate=0):
    """The registration of one counter."""
    return struct.pack("<IIQIiIIIIII", ident, type_value, attributes, 100,
                       scale, base, perf_time, perf_freq, multi, aggregate, 0)


def counterset(guid, infos, count=None, instance_type=2):
    """A counterset and its counters."""
    return guid_bytes(guid) + struct.pack(
        "<IIII", 0, 100, chosen(count, len(infos)), instance_type) + \
        b"".join(infos)


def string(content):
    """One NUL-terminated text."""
    return utf16(content) + b"\0\0"


def string_block(texts, size=None, count=None, offsets=None):
    """Texts by id; None is a counter without string; `offsets` overrides."""
    entries, body, start = b"", b"", 8 + 8 * len(texts)
    for number, (ident, content) in enumerate(texts):
        offset = ANY
        if content is not None:
            offset = start + len(body)
            body += string(content)
        if offsets is not None:
            offset = offsets[number]
        entries += struct.pack("<II", ident, offset)
    body = pad8(body)
    return struct.pack("<II", chosen(size, start + len(body)),
                       chosen(count, len(texts))) + entries + body


def identifier(guid, counter=ANY, ident=ANY, name=None, index=0, status=0,
               size=None, raw_name=None):
    """One identifier block; without a name it is 40 bytes."""
    body = b"" if name is None else pad8(string(name))
    body = chosen(raw_name, body)
    return guid_bytes(guid) + struct.pack(
        "<6I", status, chosen(size, 40 + len(body)), counter, ident, index,
        0) + body


# Captures -------------------------------------------------------------------

def chunk(tag, payload=b"", size=None, version=1):
    """One chunk of a recording."""
    return tag + struct.pack("<IQ", version,
                             chosen(size, len(payload))) + pad8(payload)


def registration_chunk(guid, request, payload, language=0):
    """An RGST chunk."""
    return chunk(b"RGST", guid_bytes(guid) +
                 struct.pack("<II", request, language) + payload)


def recording(*chunks):
    """A recording of the chunks, opening chunk included."""
    return chunk(b"PFBC") + b"".join(chunks)
