# SPDX-License-Identifier: MIT
"""Writes V1 blocks and name tables.

Sizes, counts and offsets are those of the contents unless a keyword argument
overrides them, which is how broken seeds are made. The readers use nothing of
this module.
"""

import struct

from seed_writer import override_or, pad8

NO_INSTANCES, METADATA_INSTANCES, METADATA_ALONE = -1, -2, -3
NO_ID = -1
TIME = (2024, 5, 3, 15, 12, 30, 45, 678)


class Writer:
    """Writes structures in one byte order, "<" or ">"."""

    def __init__(self, order):
        self.order = order

    def pack(self, form, *fields):
        """struct.pack in this writer's byte order."""
        return struct.pack(self.order + form, *fields)

    def utf16(self, name):
        """UTF-16 without NUL; lone surrogates are kept."""
        codec = "utf-16-le" if self.order == "<" else "utf-16-be"
        return name.encode(codec, "surrogatepass")

    def text(self, name):
        """UTF-16 with NUL."""
        return self.utf16(name + "\0")

    def counter(self, title, kind, size, offset, length=None, extra=b"",
                scale=0):
        """A PERF_COUNTER_DEFINITION; `extra` follows its fixed part."""
        return self.pack("IIIIIiIIII", override_or(length, 40 + len(extra)), title,
                         0, title + 1, 0, scale, 100, kind, size,
                         offset) + extra

    def values(self, *raws, length=None, tail=b""):
        """A PERF_COUNTER_BLOCK of consecutive raw bytes."""
        body = b"".join(raws) + tail
        return self.pack("I", override_or(length, 4 + len(body))) + body

    def v4(self, number):
        """A 4-byte number."""
        return self.pack("I", number)

    def v8(self, number):
        """An 8-byte number."""
        return self.pack("Q", number)

    def instance(self, name, block, unique=NO_ID, parent=(0, 0), raw=None,
                 length=None, name_offset=None, name_length=None, pad=True):
        """A PERF_INSTANCE_DEFINITION and the counter block after it."""
        body = override_or(raw, b"" if name is None else self.text(name))
        size = len(body)
        body = pad8(body) if pad else body
        return self.pack(
            "IIIiII", override_or(length, 24 + len(body)), parent[0], parent[1],
            unique, override_or(name_offset, 24 if size else 0),
            override_or(name_length, size)) + body + block

    def object(self, title, counters, parts, instances=None, size=None,
               definitions=None, header=None, count=None, code_page=0,
               clock=(0, 0), gap=b"", tail=b"", extra=b""):
        """A PERF_OBJECT_TYPE with its counters, then its parts.

        `extra` is put between header and counters, `gap` after the counters,
        `tail` after the parts.
        """
        first = 64 + len(extra)
        length = first + sum(map(len, counters)) + len(gap)
        body = extra + b"".join(counters) + gap + b"".join(parts) + tail
        return self.pack(
            "IIIIIIIIIiiIqq", override_or(size, 64 + len(body)),
            override_or(definitions, length), override_or(header, first), title, 0,
            title + 1, 0, 100, override_or(count, len(counters)), -1,
            override_or(instances, len(parts)), code_page, *clock) + body

    def single(self, title, counters, *raws, **options):
        """An object without instances: one counter block."""
        return self.object(title, counters, [self.values(*raws)],
                           instances=NO_INSTANCES, **options)

    def block(self, *objects, total=None, header=None, count=None, system="PC",
              name_offset=None, name_length=None, flag=None, signature=None,
              clock=(1000000, 10000000, 133000000000000000), tail=b"",
              version=(1, 1), raw_system=None):
        """A PERF_DATA_BLOCK around whole objects."""
        name = override_or(raw_system, self.text(system) if system else b"")
        body = pad8(name) + b"".join(objects) + tail
        flag = override_or(flag, 1 if self.order == "<" else 0)
        return override_or(signature, self.utf16("PERF")) + self.pack(
            "IIIIIIi8H4xqqqII", flag, *version,
            override_or(total, 88 + len(body)),
            override_or(header, 88 + len(pad8(name))), override_or(count, len(objects)),
            -1, *TIME, *clock, override_or(name_length, len(name)),
            override_or(name_offset, 88 if name else 0)) + body


little, big = Writer("<"), Writer(">")


# Name tables ----------------------------------------------------------------

def multi_string(*strings, end="\0"):
    """Strings as in the registry: each with a NUL, and one more at the end."""
    return ("".join(one + "\0" for one in strings) + end).encode(
        "utf-16-le", "surrogatepass")


def lines(*pairs, join="\t", end="\n"):
    """Pairs as text, one pair or one string per line."""
    return "".join(index + join + name + end for index, name in pairs)
