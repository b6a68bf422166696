# SPDX-License-Identifier: MIT
"""The promises of docs/performance.md about speed, with which benchmark results are compared. A broken promise is
printed but does not change the exit status, because a shared machine is slow at times. scripts/bench prints the table
of promises, docs/performance.md contains it, and test_report.py compares both."""
import statistics
from collections import namedtuple

MIN_REPETITIONS = 9  # a result with fewer repetitions gets no verdict

# `measured` and `baseline` are whole names of benchmarks. `limit` is the largest allowed ratio of their medians or,
# without a baseline, the largest number of nanoseconds per item.
Promise = namedtuple("Promise", "text measured baseline limit")

REPLY = "v2/processor_information"
DISPLAY = "display/processor_information"

# Growth is measured with replies from memory: their times do not depend on the sizes of caches.
# For each displayed value, a typical reader reads two raw values.
PROMISES = (
    Promise("bulk reading with names, 64 processors: 2.5 times as fast as the documented sample",
            f"{REPLY}/bulk_instances/64", f"{REPLY}/documented/64", 0.4),
    Promise("bulk reading with names, 4,096 processors: the same",
            f"{REPLY}/bulk_instances/4096", f"{REPLY}/documented/4096", 0.4),
    Promise("careful walk: as fast as the documented sample",
            f"{REPLY}/walk/4096", f"{REPLY}/documented/4096", 1),
    Promise("careful walk: the checks take at most 30 % on top",
            f"{REPLY}/walk/4096", f"{REPLY}/twin/4096", 1.3),
    Promise("V1, 50 processes: a value takes at most 1.5 times one of V2",
            "v1/process/walk/50", f"{REPLY}/walk/64", 1.5),
    Promise("two replies to displayed values, 4,096 processors",
            f"{DISPLAY}/show/4096", None, 15),
    Promise("the same: at most 2.5 times the time of a typical reader for both",
            f"{DISPLAY}/show/4096", f"{DISPLAY}/typical/4096", 2.5),
    Promise("careful walk: from memory, a value takes the same time in large replies",
            f"{REPLY}/from_memory/walk/65536", f"{REPLY}/from_memory/walk/64", 1.15),
    Promise("careful walk: the same compared with 4,096 processors",
            f"{REPLY}/from_memory/walk/65536", f"{REPLY}/from_memory/walk/4096", 1.15),
    Promise("bulk reading: from memory, a value takes the same time in large replies",
            f"{REPLY}/from_memory/bulk_rows/65536", f"{REPLY}/from_memory/bulk_rows/64", 1.15),
    Promise("bulk reading: the same compared with 4,096 processors",
            f"{REPLY}/from_memory/bulk_rows/65536", f"{REPLY}/from_memory/bulk_rows/4096", 1.15),
)


def limit_text(promise):
    """The limit as text."""
    return f"{promise.limit:.2f}x" if promise.baseline else f"{promise.limit} ns"


def result(promise, times):
    """(figure, verdict) of a promise; `times` has the nanoseconds of each benchmark by name."""
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
    """Rows of the table for a run, the first being the heading; empty if no promise was measured."""
    rows = [[promise.text, limit_text(promise), *result(promise, times)] for promise in PROMISES]
    if all(row[3] == "not measured" for row in rows):
        return []
    return [["promise", "at most", "this run", ""]] + rows


def documented():
    """Lines of the table in docs/performance.md."""
    yield "| promise | measured | baseline | at most |"
    yield "|---|---|---|---:|"
    for promise in PROMISES:
        baseline = f"`{promise.baseline}`" if promise.baseline else ""
        yield f"| {promise.text} | `{promise.measured}` | {baseline} | {limit_text(promise)} |"


if __name__ == "__main__":
    print("\n".join(documented()))
