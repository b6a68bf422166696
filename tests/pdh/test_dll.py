#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""pdh.dll under Wine, used by a program that was compiled for Windows.

test_dll.py EMULATOR PERFBLOCK PROGRAM: PROGRAM is pdh_values.exe, which prints
values of counters; the program PERFBLOCK displays those that they must have.
EMULATOR runs both; "": they run here.
"""
import collections
import functools
import json
import math
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/oracle"))

from pdh_order import displayed  # noqa: E402

EMULATOR = sys.argv[1:2] if sys.argv[1] else []
PERFBLOCK, COMMAND = (EMULATOR + [path] for path in sys.argv[2:])
EVERYTHING = ("\\*(*)\\*", "\\*\\*")
INVALID_DATA = 0xC0000BC6
Value = collections.namedtuple("Value", "kind first second base code number")


def fixture(name):
    return ROOT / "fixtures" / name


def without_machine(path):
    return re.sub(r"^\\\\[^\\]+", "", path)


def chunks(path):
    """The bytes of the chunks of a recording."""
    data = path.read_bytes()
    while data:
        size = struct.unpack_from("<Q", data, 8)[0]
        end = 16 + (size + 7) // 8 * 8
        yield data[:end]
        data = data[end:]


@functools.cache
def displayed_rows(source):
    """The values that the program displays."""
    done = subprocess.run([*PERFBLOCK, "cook", "--format", "json", source],
                          capture_output=True, text=True, check=True, timeout=60)
    return [row for row in map(json.loads, done.stdout.splitlines())
            if row["status"] != "not_displayed"]


class Dll(unittest.TestCase):
    """The values of recordings and logs."""

    def setUp(self):
        self.older = {}  # the previous values of paths

    def run_program(self, *arguments, source=None):
        """Runs the program over a recording or log."""
        environment = {**os.environ, "PERFBLOCK_CAPTURE": str(source or "")}
        return subprocess.run([*COMMAND, *map(str, arguments)], env=environment,
                              capture_output=True, text=True, timeout=60,
                              check=False)

    def run_values(self, *arguments, source=None):
        """(sample, path) -> value."""
        done = self.run_program(*arguments, source=source)
        self.assertEqual(done.returncode, 0, done.stderr)
        values = {}
        for line in done.stdout.splitlines():
            sample, path, kind, first, second, base, code, bits = line.split("\t")
            values[int(sample), without_machine(path)] = Value(
                int(kind, 16), int(first), int(second), int(base),
                int(code, 16), struct.unpack(">d", bytes.fromhex(bits))[0])
        return values

    def check_values(self, values, source):
        """Compares values with those of the program, and bit for bit with
        Windows' order of operations."""
        rows = displayed_rows(source)
        for row in rows:
            key = row["sample"], without_machine(row["path"])
            value = values.pop(key)
            older = self.older.get(key[1])
            self.older[key[1]] = value
            if row["status"] == "need_two_samples":
                self.assertEqual((value.code, key[0]), (INVALID_DATA, 0), key)
                continue
            self.assertEqual(value.code, 0, key)
            self.assertEqual(value.number, displayed(
                value.kind, older and older[1:3], value[1:3], value.base), key)
            self.assertTrue(math.isclose(value.number, row["value"] or 0,
                                         rel_tol=1e-15, abs_tol=1e-13), key)
            self.assertEqual(value.first, row["raw"], key)
        self.assertGreater(len(rows), 900)
        # Pairs of an instance and a counter that a log does not have.
        self.assertEqual({value.code for value in values.values()} - {
            INVALID_DATA}, set())

    def test_recordings(self):
        for name in ("machine_v1.pfb", "machine.pfb"):
            with self.subTest(name):
                self.older = {}
                values = self.run_values(0, "--", *EVERYTHING,
                                         source=fixture(name))
                self.check_values(values, fixture(name))

    def test_log(self):
        """Values of a log: perfmon prints their text in machine.csv."""
        values = self.run_values(0, fixture("machine.blg"), "--", *EVERYTHING)
        self.check_values(values, fixture("machine.blg"))

    def test_recording_that_grows(self):
        """Chunks are written while the program runs and waits for them."""
        source = fixture("machine_v1.pfb")
        with tempfile.TemporaryDirectory() as folder:
            growing = pathlib.Path(folder, "growing.pfb")
            first, rest = list(chunks(source))[:4], list(chunks(source))[4:]
            growing.write_bytes(b"".join(first))

            def append():
                for chunk in rest:
                    time.sleep(0.02)
                    with open(growing, "ab", buffering=0) as file:
                        file.write(chunk)

            writer = threading.Thread(target=append)
            writer.start()
            values = self.run_values(len(rest) + 1, "--", *EVERYTHING,
                                     source=growing)
            writer.join()
            self.check_values(values, source)

    def test_message(self):
        """FormatMessage has a text for each code."""
        done = self.run_program(0, "none.blg", "--", *EVERYTHING)
        self.assertEqual(done.returncode, 1)
        self.assertIn("PdhBindInputDataSourceW: C0000BD1 The file does not "
                      "exist.", done.stderr)
        text = (ROOT / "platform/pdh/shared/pdh_messages.mc").read_text()
        header = (ROOT / "platform/include/perfblock/pdhmsg.h").read_text()
        codes = {name: int(code, 16) for name, code in re.findall(
            r"#define (PDH_\w+) \(\(uint32_t\)(0x\w+)\)", header)}
        severities = {"Success": 0, "Warning": 2, "Error": 3}
        self.assertEqual({
            name: severities[severity] << 30 | int(code, 16)
            for code, severity, name in re.findall(
                r"MessageId=(\w+) Severity=(\w+) Facility=None "
                r"SymbolicName=(\w+)\nLanguage=English\n.+\n\.\n", text)}, codes)

    def test_thread(self):
        """PdhCollectQueryDataEx signals an event of Windows."""
        values = self.run_values(2, "-", "--", r"\System\System Up Time",
                                 source=fixture("machine_v1.pfb"))
        self.assertEqual([value.number for value in values.values()],
                         [3600, 3610])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
