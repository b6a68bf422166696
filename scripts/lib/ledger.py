# SPDX-License-Identifier: MIT
"""Records the results of fuzzing: the sums of all campaigns in build/fuzzing/ledger.json, and the table of docs/fuzzing.md."""

import concurrent.futures
import json
import os
import pathlib
import shutil
import signal
import tempfile
import time

import fuzzing

FILE = fuzzing.RESULTS / "ledger.json"
PAGE = fuzzing.ROOT / "docs" / "fuzzing.md"
BEGIN = "<!-- ledger: written by scripts/fuzz --ledger -->\n"
END = "<!-- end of ledger -->\n"


def load():
    try:
        return json.loads(FILE.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}


def store(book):
    FILE.parent.mkdir(parents=True, exist_ok=True)
    FILE.write_text(json.dumps(book, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def add_campaign(runs):
    """Adds the time and the executions of these runs to the sums."""
    book = load()
    for run in runs:
        entry = book.setdefault(run.target, {}).setdefault(run.name, {"cpu_seconds": 0, "executions": 0})
        entry["cpu_seconds"] += run.cpu_seconds
        entry["executions"] += run.executions
    store(book)


# ---- Measuring -----------------------------------------------------------------------------------


def cpu_seconds(process):
    """The CPU time that a running process has used so far."""
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")  # utime and stime


class Measured(fuzzing.LibFuzzer):
    """A run of libFuzzer on a temporary corpus, with or without the seeds, that ends after `seconds` of CPU time."""
    MAX_SLOWDOWN = 20  # the elapsed time may be this many times the CPU time

    def __init__(self, target, seconds, scratch, with_seeds):
        super().__init__(target, self.MAX_SLOWDOWN * seconds)
        self.max_cpu_seconds = seconds
        self.corpus = pathlib.Path(tempfile.mkdtemp(dir=scratch))
        self.with_seeds = with_seeds

    def start(self, *more):
        if self.with_seeds:
            for folder in fuzzing.seed_folders(self.target):
                for path in folder.iterdir():
                    if path.stat().st_size <= fuzzing.MAX_BYTES:
                        fuzzing.keep_copy(path, self.corpus)
        self.spawn([fuzzing.program(self.preset, self.target), *self.options(), f"-max_len={fuzzing.MAX_BYTES}",
                    f"-artifact_prefix={self.findings}/{self.name}-", *more, self.corpus])

    def collect(self, status):
        super().collect(status)
        if status != 0 and not self.problems:
            self.problems.append(f"found something, see {fuzzing.shown(self.findings)}")

    def finish(self, goal):
        """Waits for the end of the run, which comes early if it reaches `goal` edges. Its speed is then in executions
        per CPU second, which other load on the machine hardly changes."""
        while self.poll() is None:
            if goal > 0:
                self.measure()
            if cpu_seconds(self.process) >= self.max_cpu_seconds or self.edges >= goal > 0:
                os.kill(self.process.pid, signal.SIGUSR1)  # libFuzzer ends as if its time were over
            time.sleep(0.2)
        self.speed = round(self.executions / max(self.cpu_seconds, 0.01))
        return self


def run_measured(target, seconds, scratch, with_seeds, *more, goal=0):
    run = Measured(target, seconds, scratch, with_seeds)
    run.start(*more)
    return run.finish(goal)


def measure_target(target, seconds, scratch):
    """Returns the figures of a target, and whether all runs ended as expected."""
    speed = run_measured(target, 10, scratch, True)
    seeds = run_measured(target, 60, scratch, True, "-runs=0")
    alone = run_measured(target, seconds, scratch, False, "-use_value_profile=1", goal=seeds.edges)
    figures = {"speed": speed.speed, "seed_edges": seeds.edges, "alone_edges": alone.edges,
               "alone_seconds": alone.cpu_seconds, "date": time.strftime("%Y-%m-%d")}
    for run in (speed, seeds, alone):
        for problem in run.problems:
            print(f"PROBLEM {target}: {problem}")
    return figures, not any(run.problems for run in (speed, seeds, alone))


def measure(arguments):
    """Measures each target and writes the table; returns whether a run failed."""
    seconds = max(1, round(60 * arguments.minutes))
    fuzzing.LibFuzzer.prepare([*arguments.target, "empty"])
    scratch = tempfile.mkdtemp(prefix="perfblock_ledger_")
    failed = False
    try:
        empty = run_measured("empty", 5, scratch, False).speed
        book = load()
        with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
            results = pool.map(lambda target: measure_target(target, seconds, scratch), arguments.target)
            for target, (figures, is_sound) in zip(arguments.target, results):
                failed = failed or not is_sound
                book.setdefault(target, {})["measured"] = {**figures, "empty": empty}
                print(f"{target}: {figures['speed']:,} runs/s of {empty:,}, edges: seeds {figures['seed_edges']:,}, "
                      f"an empty corpus after {figures['alone_seconds']:.0f} CPU s {figures['alone_edges']:,}", flush=True)
                store(book)
    finally:
        shutil.rmtree(scratch)
    write_page(book)
    return failed


# ---- The page ------------------------------------------------------------------------------------


def write_page(book):
    head, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    _, _, tail = rest.partition(END)
    PAGE.write_text(head + BEGIN + table(book) + END + tail, encoding="utf-8")


def hours(entry):
    """A cell with the CPU hours and the executions of campaigns."""
    return f"{entry['cpu_seconds'] / 3600:.2f} h, {entry['executions'] / 1e6:,.1f} M" if entry else "-"


def table(book):
    lines = ["", "| target | runs/s | of empty harness | edges of the seeds | empty corpus, unaided | libFuzzer | with MSan | AFL++ |",
             "|---|--:|--:|--:|--:|--:|--:|--:|"]
    for target in sorted(set(book) - set(fuzzing.CHECKS)):
        entry = book[target]
        figures = entry.get("measured")
        cells = ["-"] * 4
        if figures:
            share = figures["alone_edges"] / figures["seed_edges"] if figures["seed_edges"] else 0
            cells = [f"{figures['speed']:,}", f"{figures['speed'] / figures['empty']:.1%}", f"{figures['seed_edges']:,}",
                     f"{figures['alone_edges']:,} ({share:.0%}) in {figures['alone_seconds']:.0f} s"]
        lines.append(f"| {target} | " + " | ".join(cells) + " | " +
                     " | ".join(hours(entry.get(name)) for name in ("libfuzzer", "msan", "afl")) + " |")
    dates = sorted(entry["measured"]["date"] for entry in book.values() if "measured" in entry)
    lines += ["", f"Measured on {dates[-1]}, libFuzzer with AddressSanitizer and UndefinedBehaviorSanitizer." if dates else ""]
    return "\n".join(lines) + "\n\n"
