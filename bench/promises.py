# SPDX-License-Identifier: MIT
"""Promises about speed, and their comparison with benchmark results. A missed promise is printed but does not change the
exit status, because a shared machine is slow at times. docs/performance.md contains the table of promises, and
test_report.py compares it with this file."""
import statistics
from collections import namedtuple

MIN_REPETITIONS = 9  # a result with fewer repetitions gets no verdict

# `measured` and `baseline` are whole names of benchmarks. `limit` is the largest allowed ratio of their medians or,
# without a baseline, the largest number of nanoseconds per item.
Promise = namedtuple("Promise", "text measured baseline limit")

REPLY = "v2/processor_information"
DISPLAY = "display/processor_information"

# `documented` is Microsoft's sample program CpuPerfCounters. `twin` is the same reader as `walk` without checks. `typical`
# is a reader of both replies that computes nothing: it reads two raw values for each displayed value. The last four
# promises say that the time per value does not grow with the size of a reply. They use replies that are in no cache,
# because otherwise small replies would be faster.
PROMISES = (
    Promise("bulk reading with names, 64 processors: 2.5 times as fast as Microsoft's sample program",
            f"{REPLY}/bulk_instances/64", f"{REPLY}/documented/64", 0.4),
    Promise("bulk reading with names, 4,096 processors: 2.5 times as fast as Microsoft's sample program",
            f"{REPLY}/bulk_instances/4096", f"{REPLY}/documented/4096", 0.4),
    Promise("value by value: as fast as Microsoft's sample program",
            f"{REPLY}/walk/4096", f"{REPLY}/documented/4096", 1),
    Promise("value by value: at most 1.3 times the time of the same reader without checks",
            f"{REPLY}/walk/4096", f"{REPLY}/twin/4096", 1.3),
    Promise("V1, 50 processes: a value takes at most 1.5 times as long as a V2 value",
            "v1/process/walk/50", f"{REPLY}/walk/64", 1.5),
    Promise("V1, 50 processes: a value by object, instance and counter: at most 1.25 times the time of a walk without checks",
            "v1/chosen/find/50", "v1/chosen/plain/50", 1.25),
    Promise("a .blg in memory with 8 wildcards of 64 instances to frames: at most 8 times a reader that checks nothing",
            "frames/blg_instances/collect/64", "frames/blg_instances/plain/64", 8),
    Promise("the same with 200 paths of single counters",
            "frames/blg_counters/collect/200", "frames/blg_counters/plain/200", 8),
    Promise("computing displayed values from two replies, 4,096 processors",
            f"{DISPLAY}/show/4096", None, 15),
    Promise("the same: at most 2.5 times the time that a typical reader needs to read both replies",
            f"{DISPLAY}/show/4096", f"{DISPLAY}/typical/4096", 2.5),
    Promise("value by value, not cached: 65,536 processors at most 1.15 times the time per value of 64",
            f"{REPLY}/from_memory/walk/65536", f"{REPLY}/from_memory/walk/64", 1.15),
    Promise("value by value, not cached: 65,536 processors at most 1.15 times that of 4,096",
            f"{REPLY}/from_memory/walk/65536", f"{REPLY}/from_memory/walk/4096", 1.15),
    Promise("bulk reading, not cached: 65,536 processors at most 1.15 times the time per value of 64",
            f"{REPLY}/from_memory/bulk_rows/65536", f"{REPLY}/from_memory/bulk_rows/64", 1.15),
    Promise("bulk reading, not cached: 65,536 processors at most 1.15 times that of 4,096",
            f"{REPLY}/from_memory/bulk_rows/65536", f"{REPLY}/from_memory/bulk_rows/4096", 1.15),
)


def limit_text(promise):
    """Returns the limit as text."""
    return f"{promise.limit:.2f}x" if promise.baseline else f"{promise.limit} ns"


def result(promise, times):
    """Returns figure and verdict of a promise, as text. `times` maps each benchmark to the nanoseconds per item of its
    repetitions."""
    names = [name for name in (promise.measured, promise.baseline) if name]
    if any(name not in times for name in names):
        return "", "not measured"
    medians = [statistics.median(times[name]) for name in names]
    figure = medians[0] / medians[1] if promise.baseline else medians[0]
    text = f"{figure:.3f}x" if promise.baseline else f"{figure:.2f} ns"
    if min(len(times[name]) for name in names) < MIN_REPETITIONS:
        return text, "too few repetitions"
    return text, "kept" if figure <= promise.limit else "missed"


def verdict_table(times):
    """Returns the rows of the table for a run, of which the first is the heading; empty if no promise was measured."""
    rows = [[promise.text, limit_text(promise), *result(promise, times)] for promise in PROMISES]
    if all(row[3] == "not measured" for row in rows):
        return []
    return [["promise", "at most", "this run", ""]] + rows


def documentation_table():
    """Yields the lines of the table in docs/performance.md."""
    yield "| promise | measured | baseline | at most |"
    yield "|---|---|---|---:|"
    for promise in PROMISES:
        baseline = f"`{promise.baseline}`" if promise.baseline else ""
        yield f"| {promise.text} | `{promise.measured}` | {baseline} | {limit_text(promise)} |"


if __name__ == "__main__":
    print("\n".join(documentation_table()))
