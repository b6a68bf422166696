# SPDX-License-Identifier: MIT
"""Compares a perfblock program with the second implementation in this folder.

Usage: compare.py PROGRAM CORPUS

V2 seeds are read by `show` and `check`, captures by `cook`. Mutations of the
valid V2 seeds are read by `check`, and a fixed part of them by `show` as well.
Records, fields and verdicts must agree, doubles to the last bit. For broken V2
files there must be an error, whose code and offset are not compared.
compare_v1.py compares V1 blocks and name tables, compare_log.py logs. The exit
status is 0 only if something was compared and everything agreed.
"""

import argparse
import itertools
import os
import struct
import sys
import zlib
from concurrent.futures import ThreadPoolExecutor

import blocks
import compare_log
import compare_v1
import cook
from comparison import (Tally, batches, error_problem, list_problem, load,
                        name_problem, run, same, save, scratch)

RECORDS = ("data", "result", "instance", "value")
EXTREMES = (0, 1, 0x7FFFFFFF, 0xFFFFFFFF)
SHOW_EVERY = 199  # one mutation in this many also goes through `show`
BIG = 512  # in larger seeds one bit of each byte is flipped, not all eight


# Comparing ------------------------------------------------------------------

def verdict_problem(status, errors, last, valid, size):
    """A disagreement between the verdict (`valid`) and the exit status and
    error records of `show`."""
    if valid:
        if status != 0 or errors:
            return "refused (exit %s, %s), expected valid" % (status, errors)
        return None
    if status != 1:
        return "exit %s, expected 1: the file is invalid" % status
    if len(errors) != 1 or last is not errors[0]:
        return "%d error records, expected one at the end" % len(errors)
    return error_problem(last, size)


def show_problem(program, path, data):
    """Compares `show` of one file."""
    expected, error = blocks.collect(blocks.decode_file(data))
    status, objects, problem, _ = run(program, "show", "--kind", "data", path)
    if problem:
        return problem
    errors = [item for item in objects if item.get("record") == "error"]
    last = objects[-1] if objects else None
    items = [item for item in objects if item.get("record") in RECORDS]
    return (list_problem(expected, items) or
            verdict_problem(status, errors, last, error is None, len(data)))


def check_line_problem(line, data):
    """Compares the verdict of `check` on one file."""
    if line is None:
        return "no verdict"
    _, error = blocks.collect(blocks.decode_file(data))
    if line.get("valid") is not (error is None):
        return "valid is %r, tests/oracle finds it %s" % (
            line.get("valid"), "valid" if error is None else error)
    if not same(len(data), line.get("size")):
        return "size is %r, expected %d" % (line.get("size"), len(data))
    return None if error is None else error_problem(line, len(data))


def cook_problem(program, path, data):
    """Compares `cook` of one capture."""
    expected, errors = cook.cook(data)
    status, objects, problem, _ = run(program, "cook", path)
    if problem:
        return problem
    lines = [item for item in objects if "record" not in item]
    problem = list_problem(expected, lines, lambda item: (
        ("type",) if item["_unnamed"] else ()))
    if problem is None and status != (1 if errors else 0):
        problem = "exit %s, errors found by tests/oracle: %s" % (status, errors)
    return problem


# Inputs ---------------------------------------------------------------------

def flipped(seed):
    """(label, bytes) with one bit flipped, in every byte."""
    for at in range(len(seed)):
        for bit in range(8) if len(seed) <= BIG else (at % 8,):
            copy = bytearray(seed)
            copy[at] ^= 1 << bit
            yield "bit %d.%d" % (at, bit), bytes(copy)


def replaced(seed):
    """(label, bytes) with each of EXTREMES in each aligned 32-bit field."""
    for at in range(0, len(seed) - 3, 4):
        for value in EXTREMES:
            copy = bytearray(seed)
            struct.pack_into("<I", copy, at, value)
            if copy != seed:
                yield "field %d=%#x" % (at, value), bytes(copy)


def shortened(seed):
    """(label, bytes) of every proper prefix."""
    for size in range(len(seed)):
        yield "prefix %d" % size, seed[:size]


def mutations(seeds):
    """(label, bytes) of every mutation of the valid seeds."""
    for path, seed in seeds:
        name = os.path.basename(path)
        if not name.startswith("valid_"):
            continue
        for mutate in (flipped, replaced, shortened):
            for label, data in mutate(seed):
                yield name + " " + label, data


# The comparison -------------------------------------------------------------

def compare_batch(program, batch, sampled):
    """(label, problem) for each input of a batch, and for the batch."""
    with scratch() as directory:
        paths, out = save(directory, batch), []
        status, objects, problem, _ = run(program, "check", "--kind", "data",
                                          *paths)
        lines = {item.get("file"): item for item in objects}
        for path, (label, data) in zip(paths, batch):
            out.append((label + " (check)", problem or check_line_problem(
                lines.get(path), data)))
            if sampled(data):
                out.append((label + " (show)",
                            show_problem(program, path, data)))
        if problem is None:
            valid = all(item.get("valid") is True for item in objects)
            if (status == 0) is not valid or len(objects) != len(batch):
                problem = "exit %s after %d lines for %d files" % (
                    status, len(objects), len(batch))
        out.append(("batch at " + batch[0][0], problem))
        return out


def compare_data_seed(program, path, data):
    """(label, problem) for a v2 seed."""
    _, error = blocks.collect(blocks.decode_file(data))
    return [(path + " (name)", name_problem(path, error is None)),
            (path, show_problem(program, path, data))]


def compare_capture(program, path, data):
    """(label, problem) for a capture."""
    _, errors = cook.cook(data)
    return [(path + " (name)", name_problem(path, not errors)),
            (path, cook_problem(program, path, data))]


def compare_all(options, tally):
    """Runs all comparisons."""
    replies = list(load(options.corpus, "v2", ".bin"))
    captures = list(load(options.corpus, "capture", ".pfb"))
    if not replies or not captures:
        tally.add(options.corpus, "seeds are missing")
    jobs = [(compare_data_seed, path, data) for path, data in replies]
    jobs += [(compare_capture, path, data) for path, data in captures]

    def sampled(data):
        return zlib.crc32(data) % SHOW_EVERY == 0

    # The seeds themselves go through `check` as well.
    jobs += [(compare_batch, batch, sampled)
             for batch in batches(replies, options.batch)]
    changed = itertools.islice(mutations(replies), None, None, options.step)
    jobs += [(compare_batch, batch, sampled)
             for batch in batches(changed, options.batch)]
    try:
        jobs += compare_v1.jobs(options.corpus, options.step)
        jobs += compare_log.jobs(options.corpus, options.step)
    except FileNotFoundError as error:
        tally.add("V1 and logs", str(error))
    with ThreadPoolExecutor(options.jobs) as pool:
        for outcome in pool.map(
                lambda job: job[0](options.program, *job[1:]), jobs):
            for label, problem in outcome:
                tally.add(label, problem)


def main(arguments):
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program")
    parser.add_argument("corpus")
    parser.add_argument("--batch", type=int, default=500,
                        help="files for one `check`")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--step", type=int, default=1,
                        help="compare all seeds, and one mutation in so many")
    options = parser.parse_args(arguments)
    tally = Tally()
    if not os.access(options.program, os.X_OK):
        print("%s: cannot be run" % options.program, file=sys.stderr)
        return tally.finish()
    compare_all(options, tally)
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
