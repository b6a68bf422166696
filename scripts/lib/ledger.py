# SPDX-License-Identifier: MIT
"""Records the results of fuzzing: the sums of all campaigns in build/fuzzing/ledger.json, and the table of docs/fuzzing.md."""

import json
import pathlib
import resource
import shutil
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
        entry = book.setdefault(run.target, {}).setdefault(run.name, {"seconds": 0, "executions": 0})
        entry["seconds"] += run.elapsed_seconds
        entry["executions"] += run.executions
    store(book)


# ---- Measuring -----------------------------------------------------------------------------------


def cpu_seconds():
    """The CPU time of all processes that this process has started and waited for."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


class Measured(fuzzing.LibFuzzer):
    """A run of libFuzzer in a temporary folder, with or without the seeds."""

    def __init__(self, target, seconds, scratch, with_seeds):
        super().__init__(target, seconds)
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

    def finish(self):
        """Waits for the end of the run. Its speed is then in executions per CPU second, which other load on the machine
        hardly changes."""
        before = cpu_seconds()
        while self.poll() is None:
            time.sleep(0.1)
        self.cpu_seconds = max(cpu_seconds() - before, 0.01)
        self.speed = round(self.executions / self.cpu_seconds)
        return self


def run_measured(target, seconds, scratch, with_seeds, *more):
    run = Measured(target, seconds, scratch, with_seeds)
    run.start(*more)
    return run.finish()


def measure(arguments):
    """Measures each target and writes the table; returns whether a run failed."""
    seconds = max(1, round(60 * arguments.minutes))
    fuzzing.LibFuzzer.prepare([*arguments.target, "empty"])
    scratch = tempfile.mkdtemp(prefix="perfblock_ledger_")
    failed = False
    try:
        empty = run_measured("empty", 5, scratch, False).speed
        book = load()
        for target in arguments.target:
            speed = run_measured(target, 10, scratch, True)
            seeds = run_measured(target, 60, scratch, True, "-runs=0")
            alone = run_measured(target, seconds, scratch, False, "-use_value_profile=1")
            failed = failed or any(run.problems for run in (speed, seeds, alone))
            book.setdefault(target, {})["measured"] = {
                "speed": speed.speed, "empty": empty, "seed_edges": seeds.edges, "alone_edges": alone.edges,
                "alone_seconds": alone.cpu_seconds, "date": time.strftime("%Y-%m-%d")}
            print(f"{target}: {speed.speed:,} runs/s of {empty:,}, edges: seeds {seeds.edges:,}, "
                  f"an empty corpus after {alone.cpu_seconds:.0f} CPU s {alone.edges:,}", flush=True)
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
    """A cell with the hours and the executions of campaigns."""
    return f"{entry['seconds'] / 3600:.2f} h, {entry['executions'] / 1e6:,.1f} M" if entry else "-"


def table(book):
    lines = ["", "| target | runs/s | of empty harness | edges: seeds | empty corpus, unaided | libFuzzer | with MSan | AFL++ |",
             "|---|--:|--:|--:|--:|--:|--:|--:|"]
    for target in sorted(set(book) - set(fuzzing.CHECKS)):
        entry = book[target]
        figures = entry.get("measured")
        cells = ["-"] * 4
        if figures:
            share = figures["alone_edges"] / figures["seed_edges"] if figures["seed_edges"] else 0
            cells = [f"{figures['speed']:,}", f"{figures['speed'] / figures['empty']:.1%}", f"{figures['seed_edges']:,}",
                     f"{figures['alone_edges']:,} ({share:.0%}) in {figures['alone_seconds'] / 60:.1f} min"]
        lines.append(f"| {target} | " + " | ".join(cells) + " | " +
                     " | ".join(hours(entry.get(name)) for name in ("libfuzzer", "msan", "afl")) + " |")
    dates = sorted(entry["measured"]["date"] for entry in book.values() if "measured" in entry)
    lines += ["", f"Measured on {dates[-1]}, libFuzzer with AddressSanitizer and UndefinedBehaviorSanitizer." if dates else ""]
    return "\n".join(lines) + "\n\n"
