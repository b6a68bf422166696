# SPDX-License-Identifier: MIT
"""Writes perfmon logs (.blg).

Sizes, counts and offsets are those of the contents unless a keyword argument
overrides them, which is how broken seeds are made. The readers use nothing of
this module.
"""

import struct

from seed_writer import ANY, override_or, pad8

PATHS, SAMPLE, SUMMARY, NAMES = 0x20, 0x22, 0x23, 0x24
COUNTER, INSTANCES, OBJECT = 1, 2, 5
GUID = bytes.fromhex("b33b3f933e940d499ced3cbb14c14479")
LOG_GUID = bytes(range(16))
LOCAL = 130057734178440000     # time of the log, in 100 ns since 1601
UTC = LOCAL + 8 * 36000000000  # the same time; local time is 8 hours less
SECOND = 10000000
SIZE = 512        # of a buffer; logs of Windows have 65536
PART_BYTES = 360  # payload of a part; logs of Windows have 8000


def text(name):
    """UTF-16LE with NUL."""
    return (name + "\0").encode("utf-16-le", "surrogatepass")


# Containers -------------------------------------------------------------------

def buffer(*events, size=SIZE, declared=None, used=None, cut=None, flags=0,
           number=0, time=UTC):
    """A buffer of events, each of which begins at a multiple of 8. `declared`
    and `used` override the sizes in its header; `cut` truncates it."""
    body = b"".join(pad8(event, b"\xa5") for event in events)
    head = struct.pack("<IIIIQQ", override_or(declared, size), 0, 0, 0, time, number)
    head += bytes(0x30 - len(head)) + struct.pack(
        "<II", override_or(used, 0x48 + len(body)), flags)
    raw = head + bytes(0x48 - len(head)) + body
    assert len(raw) <= size or used is not None or cut is not None, len(raw)
    return (raw + b"\xff" * (size - len(raw)))[:cut]


def trace(buffers, size=SIZE, width=8, length=None, signature=b"\x02\xc0",
          names=("Standard", "Daylight"), bias=480, daylight=-60, tail=None,
          start=LOCAL, end=LOCAL + SECOND):
    """The first event, which describes the log."""
    def zone_name(name):
        return name.encode("utf-16-le")[:64].ljust(64, b"\0")

    head = bytearray(0x58 - 0x10 + 2 * width)  # from 0x10 on
    for offset, form, field in (
            (0x10, "Q", start), (0x20, "I", size), (0x24, "B", 6),
            (0x25, "B", 2), (0x28, "I", 9200), (0x30, "Q", end),
            (0x44, "I", buffers), (0x4C, "I", width)):
        struct.pack_into("<" + form, head, offset - 0x10, field)
    body = bytes(head)
    body += struct.pack("<i", bias) + zone_name(names[0]) + bytes(16)
    body += struct.pack("<i", 0) + zone_name(names[1]) + bytes(16)
    body += struct.pack("<i", daylight)
    body += override_or(tail, bytes(4) + struct.pack("<3Q", 1, 10000000, start))
    return struct.pack("<H", 0) + signature + struct.pack(
        "<H", override_or(length, 0x10 + len(body))) + bytes(10) + body


def event(kind, payload, part=1, parts=1, layout=b"\x14\xc0", guid=GUID,
          length=None, time=LOCAL):
    """An event with a part of a record."""
    return struct.pack("<H", override_or(length, 0x48 + len(payload))) + layout + \
        struct.pack("<HHIIQ", kind, 0x3C, 1, 2, time) + guid + bytes(8) + \
        LOG_GUID + struct.pack("<II", part, parts) + payload


def record(kind, payload, each=PART_BYTES, **options):
    """The events of a record, with `each` bytes of its payload in a part."""
    cuts = [payload[at:at + each] for at in range(0, len(payload), each)]
    cuts = cuts or [b""]
    return [event(kind, raw, number + 1, len(cuts), **options)
            for number, raw in enumerate(cuts)]


def log(*events, size=SIZE, buffers=None, width=8, whole=False, time=UTC,
        **options):
    """A log: a buffer with the log header, then the events in as few buffers as
    possible. The last buffer ends with its events unless `whole` is true."""
    groups, used = [[]], 0x48
    for raw in events:
        padded = len(raw) + -len(raw) % 8
        if used + padded > size:
            groups.append([])
            used = 0x48
        groups[-1].append(raw)
        used += padded
    groups = [group for group in groups if group]
    layout = b"\x02\xc0" if width == 8 else b"\x01\xc0"
    options.setdefault("signature", layout)
    first = trace(override_or(buffers, 1 + len(groups)), size, width, **options)
    raws = [buffer(first, size=size, flags=0x40001, time=time)] + [
        buffer(*group, size=size, number=number + 1, time=time)
        for number, group in enumerate(groups)]
    if not whole:
        raws[-1] = raws[-1][:struct.unpack_from("<I", raws[-1], 0x30)[0]]
    return b"".join(raws)


# Records ----------------------------------------------------------------------

def path(kind, frequency, machine, instance_object, instance, counter,
         parent=None, flags=0, index=0, scale=0, user=0, size=None,
         offsets=None, slack=b""):
    """An entry of the list of paths; `offsets` replaces those of strings."""
    strings, at = slack, {}
    for key, name in (("machine", machine), ("object", instance_object),
                      ("instance", instance), ("parent", parent),
                      ("counter", counter)):
        at[key] = ANY if name is None else len(strings)
        strings += b"" if name is None else text(name)
    at.update(offsets or {})
    body = pad8(struct.pack("<QiIIIIII", frequency, scale, at["machine"],
                            at["object"], at["instance"], at["parent"], index,
                            at["counter"]) + strings + bytes(4))
    return struct.pack("<4I", override_or(size, 16 + len(body)), flags, user,
                       kind) + body


def paths(*entries, head=b"\xff\x06\0\0\x08\0\x02\0", **options):
    """The events of the list of paths."""
    return record(PATHS, head + b"".join(entries), **options)


def item(kind, body, size=None, signature=b"BL\3"):
    """An item of a sample."""
    body = pad8(body)
    return signature + bytes([kind]) + struct.pack(
        "<I", override_or(size, 8 + len(body))) + body


def counter(first, second, status=0, time=LOCAL, multi=1, **options):
    """The item of a path with one value."""
    return item(COUNTER, struct.pack("<IQIQQII", status, time, 0, first,
                                     second, multi, 0), **options)


def instances(*rows, status=0, time=LOCAL, count=None, names=None, **options):
    """The item of a path with all instances: (name, first, second, status)
    each; `names` overrides the offsets of the names."""
    out, strings = b"", b""
    start = 24 + 24 * len(rows)
    for number, row in enumerate(rows):
        name, first, second, own = (row + (0,))[:4]
        offset = names[number] if names else start + len(strings)
        out += struct.pack("<2I2Q", offset, own, first, second)
        strings += text(name)
    body = struct.pack("<IIIQ", override_or(count, len(rows)), status, 0,
                       time) + out + strings
    size = 8 + 4 + len(body)
    size += -size % 8 - 8
    return item(INSTANCES, struct.pack("<I", size) + body, **options)


def block(raw, **options):
    """The item of a whole V1 object, in a V1 block."""
    return item(OBJECT, raw, **options)


def joined(*items, size=None, head=b"BL\3\0", tail=b""):
    """The payload of a sample record."""
    body = b"".join(items)
    return head + struct.pack("<I", override_or(size, 8 + len(body))) + body + tail


def sample(*items, each=PART_BYTES, time=LOCAL, **options):
    """The events of a sample."""
    return record(SAMPLE, joined(*items, **options), each, time=time)


def names(machine, *pairs, **options):
    """The events of a part of a name table."""
    return record(NAMES, text(machine) + b"".join(
        text(str(index)) + text(name) for index, name in pairs), **options)


def summary(count, first=LOCAL, last=LOCAL + SECOND, tail=bytes(4), **options):
    """The event of the summary."""
    return record(SUMMARY, struct.pack("<QQI", first, last, count) + tail,
                  **options)
