#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The decisions of docs/pdh.md, as the program conformance.c prints them.

test_conformance.py PROGRAM
"""
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXPECTED = """\
formatted before the first collect: code C0000BC6, status C0000BBA, value 0
raw before the first collect: code 00000000, status 00000000
array before the first collect: code 800007D5
rate after one collect: code C0000BC6, status C0000BBA, value 0
array after one collect: code C0000BBA
array without instances: code 00000000, items 1, name ""
time base of a raw count: code C0000BBD
a counter of 8 bytes that fell: code 800007D8, status C0000BBA, value 0
a counter of 4 bytes that fell: code C0000BC6, status C0000BBA, value 0
a clock that ran backwards: code 800007D6, status C0000BBA, value 0
equal clocks: code 00000000, status 00000000, value 0
250 percent: code 00000000, status 00000000, value 100
250 percent without cap: code 00000000, status 00000000, value 250
250 percent times 1000: code 00000000, status 00000000, value 100000
a raw count above 2^31 as long: code 00000000, status 00000000, long -1294967296
199.99999 percent as long: code 00000000, status 00000000, long 199
"""

output = subprocess.run(
    [sys.argv[1]], capture_output=True, text=True, check=True, timeout=60,
    env={**os.environ, "PERFBLOCK_CAPTURE": str(ROOT / "fixtures/machine_v1.pfb")})
if output.stdout != EXPECTED:
    sys.exit(f"expected\n{EXPECTED}\nfound\n{output.stdout}")
