#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the seeds of the fuzz target cpuid_text.

make_cpuid_seeds.py CORPUS

CORPUS/cpuid_text/seeds gets text dumps in the layouts of docs/cpuid.md. The
registers in MACHINES are those of public dumps of real machines, with the
leaves that are decoded. `broken_*` has a malformed line that begins like a
leaf. Every run writes the same bytes.
"""

import struct
import sys

from seed_files import write_seeds

AMD = (0x68747541, 0x444D4163, 0x69746E65)  # EBX, ECX, EDX
INTEL = (0x756E6547, 0x6C65746E, 0x49656E69)
BASIC = (0x00080800, 0x1E98220B, 0x178BFBFF)

# By name: EAX of leaf 1, EAX of leaf 80000000, ECX of leaf 80000001, all
# registers of leaf 8000001C or None; and the vendor if it is not AMD.
EARLY = (0, 0x80032013, 0x00010200, 0x8000000F)
LATER = (0, 0x80032013, 0x00010200, 0xE000000F)
MACHINES = {
    "fx_8150": (0x00600F12, 0x8000001E, 0x01C9BFFF, EARLY),
    "fx_8350": (0x00600F20, 0x8000001E, 0x01EBBFFF, EARLY),
    "a10_5800k": (0x00610F01, 0x8000001E, 0x01EBBFFF, EARLY),
    "a10_6800k": (0x00610F31, 0x8000001E, 0x01EBBFFF, EARLY),
    "a10_7850k": (0x00630F01, 0x8000001E, 0x0FEBBFFF, LATER),
    "a10_7890k": (0x00630F81, 0x8000001E, 0x0FEBBFFF, LATER),
    "a12_9800": (0x00660F51, 0x8000001E, 0x2FABBFFF, LATER),
    "a9_9410": (0x00670F00, 0x8000001E, 0x2FABBFFF, LATER),
    "4700s": (0x00840F70, 0x80000020, 0xF5C2B7FF,
              (0, 0x80082018, 0xD0010430, 0xE000019F)),
    "opteron_6380_even": (0x00600F20, 0x8000001E, 0x01EB3FFF, EARLY),
    "opteron_6380_odd": (0x00600F20, 0x8000001E, 0x01EBBFFF, EARLY),
    "phenom_1055t": (0x00100FA0, 0x8000001B, 0x000037FF, None),
    "a4_5000": (0x00700F01, 0x8000001E, 0x154037FF, (0, 0, 0, 0)),
    "ryzen_1800x": (0x00800F11, 0x8000001F, 0x35C233FF, (0, 0, 0, 0)),
    "ryzen_3600": (0x00870F10, 0x80000020, 0x75C237FF, (0, 0, 0, 0)),
    "4800s": (0x00880F40, 0x80000020, 0x75C237FF, (0, 0, 0, 0)),
    "core_2": (0x000006FB, 0x80000008, 0x00000001,
               (0x07280202, 0, 0, 0x00000503), INTEL),
    "haswell": (0x000306C3, 0x80000008, 0x00000021, (7, 0x340, 0x340, 0),
                INTEL),
}


def leaves(signature, highest, features, lwp, vendor=AMD):
    """(leaf, sub-leaf, EAX, EBX, ECX, EDX) of a machine."""
    rows = [(0, 0, 0xD, *vendor), (1, 0, signature, *BASIC),
            (0x80000000, 0, highest, 0, 0, 0),
            (0x80000001, 0, signature, 0, features, 0)]
    return rows + ([(0x8000001C, 0, *lwp)] if lwp else [])


def whole():
    """An FX-8150 with its name and its state components."""
    rows = leaves(*MACHINES["fx_8150"])
    name = b"AMD FX(tm)-8150 Eight-Core Processor".ljust(48, b"\0")
    for i, registers in enumerate(struct.iter_unpack("<4I", name)):
        rows.append((0x80000002 + i, 0, *registers))
    return rows + [(0xD, 0, 7, 0x340, 0x3C0, 0x40000000),
                   (0xD, 0x3E, 0x80, 0x340, 0, 0)]


# Layouts ---------------------------------------------------------------------

def marked(row):
    """A line that begins with CPUID."""
    return "CPUID %08X: %08X-%08X-%08X-%08X [SL %02X]" % (
        row[0], *row[2:], row[1])


def named(row):
    """A line with the names of the registers."""
    return ("   0x%08x 0x%02x: eax=0x%08x ebx=0x%08x ecx=0x%08x edx=0x%08x" %
            row)


def columns(row):
    """Bare numbers without the sub-leaf."""
    return "%08X %08X %08X %08X %08X" % (row[0], *row[2:])


def wide_columns(row):
    """Bare numbers with the sub-leaf; all lines of a dump must have the same
    columns."""
    return "%08X %08X %08X %08X %08X %08X" % row


def arrays(row):
    """A line of a raw file of libcpuid."""
    leaf, subleaf = row[:2]
    if leaf == 0xD:
        start = "intel_fn13[%d]" % subleaf
    elif leaf >> 31:
        start = "ext_cpuid[%d]" % (leaf & 0x7FFFFFFF)
    else:
        start = "basic_cpuid[%d]" % leaf
    return start + "=%08x %08x %08x %08x" % row[2:]


LAYOUTS = {"marked": marked, "named": named, "columns": columns,
           "arrays": arrays}


def dump(rows, layout, end="\n"):
    """Lines in a layout."""
    return "".join(layout(row) + end for row in rows)


# Seeds -----------------------------------------------------------------------

def machines():
    """Every machine in one of the layouts, and one machine in all of them."""
    for number, (name, machine) in enumerate(MACHINES.items()):
        layout = list(LAYOUTS.values())[number % len(LAYOUTS)]
        yield name, dump(leaves(*machine), layout)
    for name, layout in dict(LAYOUTS, columns=wide_columns).items():
        yield "whole_" + name, dump(whole(), layout)
    enabled = (0x80000003, *LATER[1:])
    yield "enabled", dump(leaves(0x00630F01, 0x8000001E, 0x0FEBBFFF, enabled),
                          marked)
    everything = (0xFFFFFFFF,) * 4
    yield "all_ones", dump(leaves(*everything[:3], everything), columns)
    yield "beyond_highest", dump(
        leaves(0x00100FA0, 0x8000001B, 0x01C9BFFF, EARLY), named)


def several():
    """Several CPUs, with and without headings."""
    even = dump(leaves(*MACHINES["opteron_6380_even"])[2:], named)
    odd = dump(leaves(*MACHINES["opteron_6380_odd"])[2:], named)
    for name, heading in (("cpu", "CPU %d:\n"),
                          ("logical", "------[ Logical CPU #%d ]------\n\n"),
                          ("registers", "------[ CPUID Registers / Logical "
                           "CPU #%d ]------\n"),
                          ("underlined", "_____ Logical CPU #%d _____\r\n")):
        yield "named_by_" + name, "".join(
            heading % number + (odd if number % 2 else even)
            for number in range(2))
    yield "named_once", "CPU:\n" + even
    first = dump(leaves(*MACHINES["opteron_6380_even"])[:1], columns)
    yield "told_by_leaf_0", (first + even + first + odd).replace("   0x", "0x")
    yield "empty_headings", "CPU 0:\nCPU 1:\n" + odd + "CPU 7:\n"


def oddities():
    """Unusual lines that are accepted, and lines that are skipped."""
    rows = leaves(*MACHINES["fx_8150"])
    yield "returns", dump(rows, marked, "\r\n")
    yield "no_last_end", dump(rows, columns)[:-1]
    yield "other_case", dump(rows, marked).lower() + dump(rows, named).upper()
    yield "remarks", ("# a dump\n\nversion=0.5.1\nCPU Type: FX-8150\n"
                      "MSR 0000001B: 0000-0000-FEE0-0900 [S200]\n12345678 is\n"
                      + dump(rows, named) + "cafebabe\nCPU 0 is busy\n"
                      "CPUID Registers\neax=1\n0xZZ\n")
    yield "any_order", ("0x8000001c: EDX=0x8000000f, EAX=0x0, ECX=0x10200, "
                        "EBX=0x80032013 [AuthenticAMD]\n")
    # These lines are skipped: their registers are too short for columns.
    yield "shortest", "0x0:0 0 0 0\n0x1:1 2 3 4\n0x2 0:0-0-0-0\n"
    yield "twice", dump(rows[:2] + rows[1:] + rows[4:], arrays)
    yield "functions", ("intel_fn4[1]=00000001 00000002 00000003 00000004\n"
                        "intel_fn12h[2]=00000001 00000002 00000003 00000004\n"
                        "amd_fn8000001dh[2147483647]=00000001 2 3 4\n")
    yield "byte_order_mark", "\ufeff" + dump(rows, wide_columns)
    yield "strange_vendor", dump(
        [(0, 0, 0xFFFFFFFF, 0x68740041, 0xFF4D4163, 0x09746E0A)] + rows[1:],
        columns)
    for number, name in enumerate(("ebx", "ecx", "edx")):
        vendor = AMD[:number] + INTEL[number:number + 1] + AMD[number + 1:]
        yield "vendor_other_" + name, dump(
            leaves(*MACHINES["fx_8150"], vendor), columns)
    blanks = struct.unpack("<4I", b"   A \x7fB         ")
    yield "strange_name", dump([(0x80000002 + i, 0, *blanks)
                                for i in range(3)], marked)
    yield "seven_numbers", dump(rows, columns) + " ".join(["00000001"] * 7) + "\n"
    yield "no_leaves", "hello\n"
    yield "no_bytes", ""
    yield "utf16", dump(rows[:2], marked).encode("utf-16")


def registers():
    """Leaves as six binary numbers each; the fuzz target reads its input in this
    form, too."""
    for name, rows in (("whole", whole()),
                       ("no_lwp", leaves(*MACHINES["opteron_6380_even"])),
                       ("other_vendor", leaves(*MACHINES["haswell"]))):
        yield "bytes_" + name, b"".join(struct.pack("<6I", *row)
                                        for row in rows)


BROKEN = {
    "three_registers": "CPUID 8000001C: 00000000-80032013-00010200",
    "no_registers": "CPUID 8000001C:",
    "digit_too_many": "CPUID 8000001C: 00000000-80032013-00010200-8000000FF",
    "no_digit": "CPUID 8000001C: 00000000-80032013-00010200-8000000G",
    "mark_no_number": "CPUID 0000000D: 00000007-340-3C0-40000000 [SL XX]",
    "mark_open": "CPUID 0000000D: 00000007-340-3C0-40000000 [SL 3E",
    "named_three": "0x8000001c 0x00: eax=0x00000000 ebx=0x80032013 ecx=0x1",
    "named_twice": "0x8000001c 0x00: eax=0x0 eax=0x80032013 ecx=0x0 edx=0xf",
    "columns_two": "8000001C 00000000 80032013",
    "array_three": "ext_cpuid[28]=00000000 80032013 00010200",
    "array_open": "ext_cpuid[28",
    "array_beyond": "ext_cpuid[2147483648]=00000001 00000002 00000003 4",
    "function_no_value": "amd_fn8000001dh[0]",
    "columns_short": "8000001C 0 80032013 00010200 8000000F",
}


def broken():
    """Some valid lines, the malformed line, and more lines after it."""
    rows = leaves(*MACHINES["fx_8350"])
    for number, (name, line) in enumerate(BROKEN.items()):
        before = rows[:number % 3]
        yield name, (dump(before, columns) + line + "\n" +
                     dump(rows[4:], marked))
    yield "columns_fewer", (dump(rows, wide_columns)[:-10] + "\n" +
                            dump(rows, wide_columns))
    yield "columns_more", dump(rows[:4], columns) + wide_columns(rows[4])
    yield "second_cpu", ("CPU 0:\n" + dump(rows[3:], named) + "CPU 1:\n" +
                         dump(rows[3:], named)[:-12] + "\n")


def seeds():
    """(name, text or bytes) of each seed."""
    for make in (machines, several, oddities, registers):
        for name, data in make():
            yield "valid_" + name, data
    for name, data in broken():
        yield "broken_" + name, data


if __name__ == "__main__":
    sys.exit(write_seeds(__doc__, {"cpuid_text": seeds()}))
