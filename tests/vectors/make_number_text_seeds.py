#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the seeds of the fuzz target number_text: `make_number_text_seeds.py
CORPUS`.

CORPUS/number_text/seeds gets V1 blocks of CORPUS/v1/seeds as numbers, in the
notations of docs/v1.md, and texts that are broken in one place. Every run
writes the same bytes.
"""

import pathlib
import sys

from seed_files import write_seeds

SIGNATURE = "PERF".encode("utf-16-le")


def lines(words, separator=" ", count=12, end="\n"):
    """Words in lines of `count`."""
    return (separator.rstrip(" ") + end).join(
        separator.join(words[at:at + count])
        for at in range(0, len(words), count))


def decimal(data):
    """Decimal words of bytes."""
    return [str(byte) for byte in data]


def prefixed(data):
    """Words such as 0x0A."""
    return ["0x%02X" % byte for byte in data]


def dump(data):
    """Words of two digits."""
    return ["%02x" % byte for byte in data]


def valid(little, big):
    """(name, text) of each valid seed; a block of either byte order."""
    yield "dump", lines(dump(little), count=16)
    yield "dump_upper", " ".join(dump(big)).upper()
    yield "dump_commas", ",".join(dump(SIGNATURE))
    yield "initialiser", "{\n    " + lines(prefixed(little), ", ", 12,
                                           "\n    ") + ",\n};\n"
    yield "short_digits", "{" + ",".join("0X%x" % byte for byte in big) + "}"
    yield "json", "[" + ",".join(decimal(little)) + "]"
    yield "json_indented", "[\n" + lines(decimal(big), ", ", 1) + "\n]\n"
    yield "blanks", lines(decimal(little), "\t", 20, "\r\n")
    yield "padded", " ".join("%03d" % byte for byte in big)
    yield "mixed", "0x50, 0, 0x45, 0, 82 , 0x0 70\n,000,0Xff 255"
    yield "byte_order_mark", "\ufeff" + lines(decimal(SIGNATURE), ", ") + ","
    yield "late", " " * 900 + lines(prefixed(SIGNATURE), "  ")


BROKEN = {
    "too_large": "256", "four_digits": "0080", "three_hex_digits": "0x123",
    "no_digit": "0x", "letter": "0x5G", "sign": "-1", "two_commas": ",,1",
    "semicolon": "; 1", "point": "1.5", "name": "x", "close": "1 }",
}


def broken():
    """(name, text) of each broken seed."""
    start = ", ".join(decimal(SIGNATURE)) + ", "
    for name, word in BROKEN.items():
        yield name, start + word
    yield "other_bracket", "{" + start + "1]"
    yield "no_bracket", "[" + start + "1"
    yield "after_bracket", "{" + start + "1}; 1"
    yield "dump_one_digit", "50 00 45 00 52 00 46 00 1"
    yield "dump_three_digits", "50 00 45 00 52 00 46 00 123"
    yield "dump_prefix", "50 00 45 00 52 00 46 00 0x1"
    yield "other_numbers", "[80,0,69,0,82,0,71,0]"
    yield "too_few", "80 0 69 0 82 0 70"
    yield "too_late", " " * 1100 + start
    yield "declaration", "char block[] = {" + start + "};"
    yield "no_bytes", ""


def seeds(corpus):
    """(name, text) of each seed."""
    blocks = [(corpus / "v1" / "seeds" / name).read_bytes() for name in
              ("valid_no_instances.bin", "valid_empty.bin")]
    little, big = blocks[0], blocks[1]
    # The other byte order; only the signature matters to this format.
    big = bytes(byte for pair in zip(big[1::2], big[::2]) for byte in pair)
    for name, text in valid(little, big):
        yield "valid_" + name, text
    for name, text in broken():
        yield "broken_" + name, text


if __name__ == "__main__":
    sys.exit(write_seeds(
        __doc__, {"number_text": seeds(pathlib.Path(sys.argv[-1]))}))
