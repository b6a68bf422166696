#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints tables of benchmark results: median nanoseconds per item, and the ratio to the baseline of the same run.

    report.py [--save FILE] [--compare FILE] [--markdown] RESULT.json...
    report.py --check FILE

RESULT.json is what the programs of this folder write with --benchmark_out. --save writes all results to one file, which
--compare reads; --check only checks such a file. Names are SUBJECT/.../WHAT/COUNT (bench.h). Exit status 1 if a benchmark
failed, nothing ran, or a file has another format or cannot be read or written. Results are saved before they are
compared.
"""
import argparse
import json
import math
import re
import statistics
import sys

import promises

BASELINES = ("documented", "typical", "plain", "twin", "memcpy")  # in order of preference


class Failure(Exception):
    """A file of results cannot be used, or a benchmark failed."""


# ---- Reading ----------------------------------------------------------------------------------------


def read_file(path):
    """Returns the context and the runs of a file; the runs are in the order of registration, not of completion."""
    try:
        with open(path, encoding="utf-8") as file:
            content = json.load(file)
        context, runs = content["context"], content["benchmarks"]
        if not isinstance(context, dict):
            raise TypeError("another context")
        if not all(isinstance(run[key], str) for run in runs for key in ("name", "run_name", "run_type")):
            raise TypeError("a run without a name")
        return context, sorted(runs, key=lambda run: run.get("family_index", 0))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise Failure(f"{path}: not a file of benchmark results: {error}") from error


def merge(paths):
    """Merges files, with the context of the first. family_index, which orders the runs of one file, is renumbered."""
    files = [read_file(path) for path in paths]
    runs = [run for _, runs in files for run in runs]
    order = {name: index for index, name in enumerate(dict.fromkeys(run["name"] for run in runs))}
    return {"context": files[0][0], "benchmarks": [{**run, "family_index": order[run["name"]]} for run in runs]}


def nanoseconds(run):
    """Returns the nanoseconds that one repetition took for each item."""
    try:
        time = 1e9 / run["items_per_second"]
    except (KeyError, TypeError, ZeroDivisionError, OverflowError):
        time = 0
    if not 0 < time < math.inf:
        raise Failure(f"{run['name']}: no items per second")
    return time


def measure(content):
    """Maps each benchmark's name, without the suffixes added by the library, to its repetitions' nanoseconds per item."""
    times = {}
    for run in content["benchmarks"]:
        if run.get("error_occurred"):
            raise Failure(f"{run['name']}: {run.get('error_message', 'failed')}")
        if run["run_type"] != "iteration":
            continue
        name = run["run_name"].replace("/manual_time", "")
        if not re.fullmatch(r".+/[^/]+/[0-9]+", name):
            raise Failure(f"{name}: not the name of a benchmark")
        times.setdefault(name, []).append(nanoseconds(run))
    if not times:
        raise Failure("nothing was measured")
    return times


def read_earlier(path):
    """Returns a file's content in the format of merge(); fails if any of it cannot be compared."""
    content = merge([path])
    try:
        measure(content)
    except Failure as failure:
        raise Failure(f"{path}: {failure}") from failure
    return content


def save(content, path):
    """Writes a file that read_earlier() accepts."""
    try:
        with open(path, "w", encoding="utf-8") as file:
            json.dump(content, file, indent=1)
    except OSError as error:
        raise Failure(f"{path}: cannot be written: {error.strerror}") from error


# ---- Judging ----------------------------------------------------------------------------------------


def split(name):
    """Splits "formula/raw_count/evaluate/1000" into ("formula/raw_count", "evaluate", 1000)."""
    group, what, count = name.rsplit("/", 2)
    return group, what, int(count)


def baseline(name, times):
    """Returns the name of a benchmark's baseline: the first kind in BASELINES that was measured in its own group or a
    wider one, in the nearest of these groups.

    Returns None if there is none, and for a benchmark that is a baseline itself.
    """
    group, what, count = split(name)
    if what in BASELINES:
        return None
    for kind in BASELINES:
        parts = group.split("/")
        while parts:
            candidate = "/".join(parts + [kind, str(count)])
            if candidate in times:
                return candidate
            parts.pop()
    return None


def quartiles(values):
    """Returns the first and the third quartile."""
    if len(values) == 1:
        return values[0], values[0]
    low, _, high = statistics.quantiles(values, n=4, method="inclusive")
    return low, high


def spread(values):
    """Returns the interquartile range as a fraction of the median."""
    low, high = quartiles(values)
    return (high - low) / statistics.median(values)


def change(before, after):
    """Returns the change of the median in percent, or "~" if the interquartile ranges overlap: it may be noise."""
    old_low, old_high = quartiles(before)
    new_low, new_high = quartiles(after)
    if new_low <= old_high and old_low <= new_high:
        return "~"
    return f"{(statistics.median(after) / statistics.median(before) - 1) * 100:+.0f}%"


# ---- Printing ---------------------------------------------------------------------------------------


def number(value):
    """Writes a number with three digits or more, without exponent."""
    if value >= 99.95:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 9.995 else f"{value:.2f}"


def cell(name, times, earlier):
    """Returns a benchmark's cell of a table: its median, and in brackets the change or the ratio to the baseline.

    The cell is empty if the benchmark was not measured.
    """
    if name not in times:
        return ""
    text = number(statistics.median(times[name]))
    if earlier is not None:
        return f"{text} ({change(earlier[name], times[name]) if name in earlier else 'new'})"
    other = baseline(name, times)
    if other is None:
        return text
    return f"{text} ({number(statistics.median(times[name]) / statistics.median(times[other]))}x)"


def tables(times, earlier):
    """Yields each subject and the rows of its table, in the order of the benchmarks. The first row is the heading."""
    names = [split(name) for name in times]
    for subject in dict.fromkeys(group.split("/")[0] for group, _, _ in names):
        mine = [name for name in names if name[0].split("/")[0] == subject]
        counts = sorted({count for _, _, count in mine})
        rows = [[subject] + [f"{count:,}" for count in counts]]
        for group, what, _ in dict.fromkeys((group, what, 0) for group, what, _ in sorted(mine, key=sort_key(mine))):
            label = "/".join(group.split("/")[1:] + [what])
            rows.append([label] + [cell(f"{group}/{what}/{count}", times, earlier) for count in counts])
        yield subject, rows


def sort_key(names):
    """Returns a function for sorted(): groups in the order of registration, and in them benchmarks before baselines."""
    groups = list(dict.fromkeys(group for group, _, _ in names))
    return lambda name: (groups.index(name[0]), BASELINES.index(name[1]) + 1 if name[1] in BASELINES else 0)


def draw(rows, markdown):
    """Returns the lines of a table: the first column left-aligned, the other columns right-aligned."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [row[0].ljust(widths[0])] + [text.rjust(width) for text, width in zip(row[1:], widths[1:])]
        lines.append("| " + " | ".join(cells) + " |" if markdown else "  ".join(cells).rstrip())
    if markdown:
        lines.insert(1, "|---|" + "---:|" * (len(widths) - 1))
    return lines


def describe(content, times, earlier):
    """Yields the lines above the tables: the machine, the contents of the tables, and the spread of the repetitions."""
    context = content["context"]
    repetitions = sorted({len(values) for values in times.values()})
    brackets = ("times the baseline of its group" if earlier is None
                else "change since the earlier run, ~ when the middle halves of both overlap")
    noisy = max(times, key=lambda name: spread(times[name]))
    typical = statistics.median(spread(values) for values in times.values())
    yield f"CPU: {context.get('cpu', 'unknown')}. Compiler: {context.get('compiler', 'unknown')}."
    yield (f"Nanoseconds per item, median of {' or '.join(map(str, repetitions))} repetitions; columns: number of "
           f"instances; in brackets: {brackets}.")
    yield (f"Middle half of the repetitions: at most {typical:.1%} of the median for half of the benchmarks, "
           f"{spread(times[noisy]):.0%} for the worst ({noisy}).")


def report(content, earlier, markdown):
    """Yields the lines to print for results; `earlier` is None, or the results to compare with."""
    times = measure(content)
    before = None
    if earlier is not None:
        before = measure(earlier)
        for key in ("cpu", "compiler"):
            if earlier["context"].get(key) != content["context"].get(key):
                yield f"The earlier run had another {key}: {earlier['context'].get(key, 'unknown')}."
    yield from describe(content, times, before)
    for subject, rows in tables(times, before):
        yield ""
        if markdown:
            rows[0][0] = f"`{subject}/`"
            rows[1:] = [[f"`{row[0]}`"] + row[1:] for row in rows[1:]]
        yield from draw(rows, markdown)
    verdicts = promises.verdict_table(times)
    if verdicts:
        yield ""
        yield from draw(verdicts, markdown)


def run(options):
    """Performs the request of the options; returns the lines to print."""
    if options.check:
        read_earlier(options.check)
        return []
    content = merge(options.results)
    measure(content)
    # FILE of --compare may be the file that is written: read it first, and report its errors after saving.
    earlier = refusal = None
    try:
        earlier = read_earlier(options.compare) if options.compare else None
    except Failure as failure:
        refusal = failure
    if options.save:
        save(content, options.save)
    if refusal:
        raise refusal
    return list(report(content, earlier, options.markdown))


def main(arguments):
    """Runs the program and returns its exit status."""
    parser = argparse.ArgumentParser(description="Prints tables of benchmark results.")
    parser.add_argument("results", nargs="*", metavar="RESULT.json")
    parser.add_argument("--check", metavar="FILE", help="only check that this file can be used with --compare")
    parser.add_argument("--save", metavar="FILE", help="write all results into one file")
    parser.add_argument("--compare", metavar="FILE", help="show the change since this earlier file")
    parser.add_argument("--markdown", action="store_true", help="print tables for a page")
    options = parser.parse_args(arguments)
    if bool(options.check) == bool(options.results):
        parser.error("give either RESULT.json or --check FILE")
    try:
        lines = run(options)
    except Failure as failure:
        print(failure, file=sys.stderr)
        return 1
    for line in lines:
        print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
