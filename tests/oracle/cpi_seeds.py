# SPDX-License-Identifier: MIT
"""The seeds of CPI hooks. The name of a broken one is "broken_" and the code of
its error; "_of_" and what is wrong follow in further seeds of the same code."""

import cpi_writer as c

ELAPSED = 1000
ROWS = (c.Counts(400, 1000, 500, 50, 100), c.Counts(600, 900, 300, 25, 100))
TID = (77, c.Counts(10, 15))


def detailed(scaled=False, **options):
    """A system hook and a processors hook."""
    return c.group(ELAPSED, ROWS, "D", scaled, **options)


def summary(**options):
    """A summary hook."""
    return c.summary(ELAPSED, ROWS, **options)


def framed(body, end=None, **options):
    """These hooks between two labels; `end` replaces the second one."""
    first = c.label(b"abc", ELAPSED, **options)
    last = c.label(b"abc", ELAPSED, c.LABEL_END, **options)
    return first + body + (last if end is None else end)


def valid():
    """{name: bytes} of valid streams."""
    foreign = c.words(0, (1, 2, 3), major=0x12)
    thread = c.thread_hook(TID[0], ELAPSED, TID[1])
    return {
        "empty": b"",
        "summary_scaled": c.first_example(),
        "label_thread_large": c.second_example(),
        "everything": c.third_example(),
        "two_groups": c.second_example() + c.third_example(),
        "unlabelled_joined": summary(thread=TID[1]) + detailed() + thread,
        "unlabelled_others": (summary() + detailed(minor=2) +
                              summary() + summary() + thread + thread),
        "label_of_255": c.group(ELAPSED, ROWS, "S", text=b"x" * 255),
        "foreign": framed(foreign + detailed() + foreign) + foreign,
        "foreign_alone": foreign * 3,
        "thread_alone": framed(thread) + thread,
        "warnings": (
            c.summary(ELAPSED, ROWS, thread=TID[1], stamp=9) +
            c.system(ELAPSED, ROWS, stamp=8, row=(
                0, 1000, 0, 1900, 1, 9002)) +
            c.processors(ELAPSED, ROWS, stamp=7)),
        "many_cpus": c.group(ELAPSED, ROWS * 5, "SD", True),
    }


def broken():
    """{name without "broken_": bytes} of broken streams."""
    n = len(ROWS)
    return {
        "trunc_header": summary() + summary()[:11],
        "bad_length": summary() + c.words(c.SUMMARY, (), length=8),
        "trunc_record": summary()[:-4],
        "bad_major": c.words(c.SUMMARY, (), major=0x1C0),
        "unknown_minor": c.words(c.SUMMARY, (), word=0x30000001),
        "bad_type": summary(type=2),
        "length_mismatch": c.words(c.SYSTEM, [1] * 8),
        "length_mismatch_of_one_word": c.words(c.SUMMARY, [1]),
        "bad_flags": summary(flags=8 | 1),
        "bad_num_cpus": summary(n=1025),
        "length_mismatch_of_n": summary(n=n + 1),
        "bad_fraction": c.system(ELAPSED, ROWS, row=(0, 1, 0, 1, 0, 10000)),
        "busy_range": c.summary(ELAPSED, [c.Counts(1, 1, 1, 101, 100)], True),
        "bad_label": c.label(b"a\0c", ELAPSED),
        "bad_label_of_three_words": c.words(c.LABEL, (2, 0, ELAPSED)),
        "bad_label_of_size_zero": c.label(b"abc", ELAPSED, size=0),
        "bad_label_of_size_beyond": c.label(b"abcd", ELAPSED, size=255),
        "bad_order": framed(detailed() + summary()),
        "minor_mismatch": framed(summary(minor=2)),
        "elapsed_mismatch": framed(c.summary(ELAPSED + 1, ROWS)),
        "flags_mismatch": summary() + detailed(True),
        "num_cpus_mismatch": c.summary(ELAPSED, ROWS[:1]) + detailed(),
        "sum_mismatch": (c.system(ELAPSED, ROWS[:1]) +
                         c.processors(ELAPSED, ROWS)),
        "label_mismatch": framed(summary(), c.label(
            b"abd", ELAPSED, c.LABEL_END)),
        "unterminated_group": summary() + c.system(ELAPSED, ROWS),
    }


def cpi_hook_seeds():
    """{name: bytes} of all streams."""
    seeds = {"valid_" + name: data for name, data in valid().items()}
    seeds.update(("broken_" + name, data) for name, data in broken().items())
    return seeds
