# SPDX-License-Identifier: MIT
"""The doubles that Windows' PDH displays: each operation is rounded, in the
order that was found in logs of Windows (docs/formula.md, Decisions)."""

RATE, BULK, TIMER = 0x10410400, 0x10410500, 0x20510500
INVERSE, FRACTION, AVERAGE = 0x21510500, 0x20020400, 0x30020400
PRECISION, AVERAGE_BULK, QUEUE = 0x20570500, 0x40020500, 0x00550500
ELAPSED, COUNT, LARGE_COUNT = 0x30240500, 0x00010000, 0x00010100


def needs_two(kind):
    """Whether a value needs two samples."""
    return kind not in (FRACTION, ELAPSED, COUNT, LARGE_COUNT)


def displayed(kind, older, newer, frequency):
    """The double; pairs are (FirstValue, SecondValue)."""
    if kind in (COUNT, LARGE_COUNT):
        return float(newer[0])
    if kind == FRACTION:
        return float(newer[0]) / float(newer[1]) * 100
    if kind == ELAPSED:
        return float(newer[1] - newer[0]) / float(frequency)
    n, d = newer[0] - older[0], newer[1] - older[1]
    if d == 0:
        return 0.0
    if kind in (RATE, BULK):
        return float(n) / (float(d) / float(frequency))
    if kind in (AVERAGE_BULK, QUEUE):
        return float(n) / float(d)
    if kind == AVERAGE:
        return float(n) / float(frequency) / float(d)
    if kind == INVERSE:
        return (1 - float(n) / float(d)) * 100
    assert kind in (TIMER, PRECISION), hex(kind)
    return float(n) / float(d) * 100
