# SPDX-License-Identifier: MIT
"""Writes PerfLib V2 bytes and captures.

Sizes and counts are those of the contents unless a keyword argument overrides
them, which is how broken seeds are made. The readers use nothing of this
module.
"""

import struct
import uuid

ANY = 0xFFFFFFFF
ERROR, SINGLE, COUNTERS, INSTANCES, COUNTERSET = 0, 1, 2, 4, 6


def pad8(raw, fill=b"\0"):
    """Bytes padded to a multiple of 8."""
    return raw + fill * (-len(raw) % 8)


def override_or(override, correct):
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
    return struct.pack("<II", override_or(data_size, len(raw)),
                       override_or(block_size, 8 + len(body))) + body


def v4(number):
    """A 4-byte value."""
    return datum(struct.pack("<I", number))


def v8(number):
    """An 8-byte value."""
    return datum(struct.pack("<Q", number))


def instance(ident, name, *values, size=None, raw_name=None):
    """An instance header and the values that follow it."""
    body = override_or(raw_name, pad8(utf16(name) + b"\0\0"))
    return struct.pack("<II", override_or(size, 8 + len(body)), ident) + body + \
        b"".join(values)


def id_list(ids, size=None, count=None, pad=True):
    """The list of counter ids. For an odd number of ids its size may include 4
    bytes of padding or not (`pad`)."""
    body = struct.pack("<%dI" % len(ids), *ids)
    body = pad8(body) if pad else body
    return struct.pack("<II", override_or(size, 8 + len(body)),
                       override_or(count, len(ids))) + body


def instance_block(*instances, total=None, count=None, tail=b""):
    """The block with the instances of a result."""
    body = b"".join(instances) + tail
    return struct.pack("<II", override_or(total, 8 + len(body)),
                       override_or(count, len(instances))) + body


def result(kind, body=b"", status=0, size=None, reserved=0):
    """One result block."""
    return struct.pack("<IIII", status, kind, override_or(size, 16 + len(body)),
                       reserved) + body


def clocks(perf=1000000, hundred=133000000000000000, freq=10000000,
           time=(2024, 5, 3, 15, 12, 30, 45, 678)):
    """The time fields of a reply."""
    return struct.pack("<qqq8H", perf, hundred, freq, *time)


def reply(*results, total=None, count=None, stamps=None):
    """A whole reply."""
    body = b"".join(results)
    return struct.pack("<II", override_or(total, 48 + len(body)),
                       override_or(count, len(results))) + \
        override_or(stamps, clocks()) + body


# Metadata -------------------------------------------------------------------

def counter_info(ident, type_value, base=ANY, perf_time=ANY, perf_freq=ANY,
                 multi=ANY, attributes=0, scale=0, aggregate=0):
    """The registration of one counter."""
    return struct.pack("<IIQIiIIIIII", ident, type_value, attributes, 100,
                       scale, base, perf_time, perf_freq, multi, aggregate, 0)


def counterset(guid, infos, count=None, instance_type=2):
    """A counterset and its counters."""
    return guid_bytes(guid) + struct.pack(
        "<IIII", 0, 100, override_or(count, len(infos)), instance_type) + \
        b"".join(infos)


def string(content):
    """One NUL-terminated text."""
    return utf16(content) + b"\0\0"


def string_block(texts, size=None, count=None, offsets=None):
    """A block of (counter id, text or None); `offsets` overrides those of the
    texts."""
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
    return struct.pack("<II", override_or(size, start + len(body)),
                       override_or(count, len(texts))) + entries + body


def identifier(guid, counter=ANY, ident=ANY, name=None, index=0, status=0,
               size=None, raw_name=None):
    """One identifier block, which without a name has 40 bytes."""
    body = b"" if name is None else pad8(string(name))
    body = override_or(raw_name, body)
    return guid_bytes(guid) + struct.pack(
        "<6I", status, override_or(size, 40 + len(body)), counter, ident, index,
        0) + body


# Captures -------------------------------------------------------------------

def chunk(tag, payload=b"", size=None, version=1):
    """One chunk of a recording."""
    return tag + struct.pack("<IQ", version,
                             override_or(size, len(payload))) + pad8(payload)


def registration_chunk(guid, request, payload, language=0):
    """An RGST chunk."""
    return chunk(b"RGST", guid_bytes(guid) +
                 struct.pack("<II", request, language) + payload)


def recording(*chunks):
    """A recording: its first chunk, PFBC, and these chunks."""
    return chunk(b"PFBC") + b"".join(chunks)
