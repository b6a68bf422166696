# SPDX-License-Identifier: MIT
"""Writes V1 blocks for the tests in this folder.

Sizes and counts are those of the contents unless a keyword argument overrides
them. A Writer has one byte order, "<" or ">".
"""

import struct

NO_INSTANCES, NO_ID = -1, -1
TIMER, RAW, COUNTER = 0x20510500, 0x00010000, 0x10410400
LARGE_RAW, FRACTION, FRACTION_BASE = 0x00010100, 0x20020400, 0x40030403
MULTI_TIMER, MULTI_BASE, LABEL = 0x22510500, 0x42030500, 0x40000200


def override_or(override, correct):
    """The override if there is one, otherwise the correct value."""
    return correct if override is None else override


def pad8(raw):
    """Bytes padded to a multiple of 8."""
    return raw + b"\0" * (-len(raw) % 8)


def counter(title, kind, offset, size):
    """The fields of a counter definition, for Writer.object()."""
    return {"title": title, "kind": kind, "offset": offset, "size": size}


class Writer:
    """Writes structures in one byte order."""

    def __init__(self, order="<"):
        self.order = order

    def pack(self, form, *numbers):
        """struct.pack() in this byte order."""
        return struct.pack(self.order + form, *numbers)

    def text(self, name):
        """UTF-16 in this byte order, without a terminating NUL."""
        code = "utf-16-le" if self.order == "<" else "utf-16-be"
        return name.encode(code, "surrogatepass")

    def definition(self, title, kind, offset, size, length=40):
        """PERF_COUNTER_DEFINITION."""
        return self.pack("IIIIIiIIII", length, title, 0, title + 1, 0, -2,
                         100, kind, size, offset) + b"\0" * (length - 40)

    def values(self, *placed, size_bytes=None):
        """PERF_COUNTER_BLOCK; `placed` are (offset, size in bytes, number).
        The block ends after the last value, padded to a multiple of 8, unless
        `size_bytes` is given."""
        end = max([4] + [offset + size for offset, size, _ in placed])
        block = bytearray(override_or(size_bytes, end + -end % 8))
        struct.pack_into(self.order + "I", block, 0, len(block))
        for offset, size, number in placed:
            struct.pack_into(self.order + {4: "I", 8: "Q"}[size], block,
                             offset, number)
        return bytes(block)

    def instance(self, name, values, parent=(0, 0), unique=NO_ID, size=None,
                 raw_name=None):
        """PERF_INSTANCE_DEFINITION, its name, and its counter block."""
        raw = raw_name
        if raw is None:
            raw = b"" if name is None else self.text(name + "\0")
        body = pad8(raw)
        return self.pack("IIIiII", override_or(size, 24 + len(body)), *parent,
                         unique, 24, len(raw)) + body + values

    def object(self, title, counters, *bodies, instances=None, code_page=0,
               size=None, clock=(0, 0), count=None, definitions=None):
        """PERF_OBJECT_TYPE and everything in it; `bodies` are instances, or
        the one counter block when `instances` is NO_INSTANCES."""
        listed = b"".join(self.definition(c["title"], c["kind"], c["offset"],
                                          c["size"]) for c in counters)
        body = b"".join(bodies)
        start = 64 + len(listed)
        return self.pack("IIIIIIIIIiiIqq", override_or(size, start + len(body)),
                         override_or(definitions, start), 64, title, 0, title + 1,
                         0, 100, override_or(count, len(counters)), -1,
                         override_or(instances, len(bodies)), code_page,
                         *clock) + listed + body

    def block(self, *objects, moment=1, name="HOST", total=None, count=None,
              little=None, name_offset=88, header=None):
        """PERF_DATA_BLOCK; every clock has the time `moment` in seconds."""
        raw = self.text(name + "\0")
        body = b"".join(objects)
        start = 88 + len(pad8(raw))
        times = (10**7 * moment, 10**7, 10**7 * moment)
        return self.text("PERF") + self.pack(
            "IIIIIIi8H4xqqqII", override_or(little, int(self.order == "<")), 1, 1,
            override_or(total, start + len(body)), override_or(header, start),
            override_or(count, len(objects)), -1, 2024, 5, 3, 15, 12, 30, moment,
            7, *times, len(raw), name_offset) + pad8(raw) + body


def table(*pairs):
    """A name table in the registry's form."""
    return b"".join(("%s\0%s\0" % pair).encode("utf-16-le", "surrogatepass")
                    for pair in pairs) + b"\0\0"


# Blocks for most tests ------------------------------------------------------

LITTLE, BIG = Writer("<"), Writer(">")
ONE_RAW = [counter(20, RAW, 4, 4)]


def plain(w, number, title=2):
    """An object without instances, with one counter of raw count `number`."""
    return w.object(title, ONE_RAW, w.values((4, 4, number)),
                    instances=NO_INSTANCES)
