# SPDX-License-Identifier: MIT
"""Plants one fault at a time in a copy of the sources and runs the tests that reach its file; run by scripts/mutate."""

import argparse
import collections
import concurrent.futures
import hashlib
import json
import os
import re
import signal
import subprocess
import sys
import time

import checks
import coverage
import faults

ROOT = faults.ROOT
BUILD = faults.FOLDER / "tests"
RESULTS = faults.FOLDER / "results.json"
BASELINE = faults.FOLDER / "baseline.json"
REACHED = faults.FOLDER / "reached.json"
ACCEPTED = ROOT / "tests" / "accepted_mutants.txt"
FLAGS = "-O1 -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer"
ENVIRONMENT = {"ASAN_OPTIONS": "detect_leaks=0", "UBSAN_OPTIONS": "print_stacktrace=0"}
TRIES = 3  # tests that run before the optimised objects are compared; one of them kills most faults
BEGIN = "<!-- mutation: written by scripts/mutate --write -->\n"
END = "<!-- end of mutation -->\n"

# ---- Tests -------------------------------------------------------------------------------------------


def prepare():
    """Builds the tests."""
    # The replacement of Criterion runs all tests of a program in one process, which is many times faster.
    return faults.Build(BUILD, FLAGS, ["-DPERFBLOCK_TESTS=ON", "-DPERFBLOCK_STAND_IN=ON",
                                       "-DPERFBLOCK_TEST_KINDS=unit;vectors"])


def run_test(test, seconds, replaced=None, folder=None):
    """Whether a test passes within this many seconds, or is skipped. `replaced` and `folder` are those of Build.plant()."""
    command, environment, patterns = test
    if replaced:
        command = [replaced.get(part, part) for part in command]
        environment = {**environment, "LD_LIBRARY_PATH": str(folder)}
    process = subprocess.Popen(command, cwd=BUILD / "tests", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, encoding="utf-8", errors="replace", start_new_session=True,
                               env={**os.environ, **environment, **ENVIRONMENT})
    try:
        output, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)  # start_new_session made it the leader of a group
        process.communicate()
        return False
    found = {kind: any(re.search(pattern, output) for pattern in listed) for kind, listed in patterns.items()}
    if found["SKIP"]:
        return True
    return process.returncode == 0 and not found["FAIL"] and (found["PASS"] or not patterns["PASS"])


def measure_baseline(tests, limit, jobs):
    """{test: seconds} without a fault; at least `limit` for a test that takes longer. The times are stored for later runs.
    """
    times = json.loads(BASELINE.read_text(encoding="utf-8")) if BASELINE.exists() else {}

    def measure(name):
        begin = time.monotonic()
        passed = run_test(tests[name], limit)
        return name, passed, time.monotonic() - begin

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for name, passed, seconds in pool.map(measure, [name for name in tests if name not in times]):
            if not passed and seconds < limit:
                sys.exit(f"{name} fails without a fault; run it with ctest --test-dir {BUILD} -R {name}")
            times[name] = seconds
    BASELINE.write_text(json.dumps(times), encoding="utf-8")
    return times


def digest_of_sources():
    text = "".join((ROOT / path).read_text(encoding="utf-8") for path in faults.all_files())
    return hashlib.sha256(text.encode()).hexdigest()


def tests_by_line(tests):
    """{file: {line: tests that reach it}} from the profiles of scripts/coverage, which are measured again if a source has
    changed."""
    digest = digest_of_sources()
    changed = max((ROOT / path).stat().st_mtime for path in faults.all_files())
    if REACHED.exists():
        stored = json.loads(REACHED.read_text(encoding="utf-8"))
        if stored["sources"] == digest:
            return stored["reached"]
    if not coverage.PROFILES.is_dir() or coverage.PROFILES.stat().st_mtime < changed:
        print("measuring which tests reach which lines", flush=True)
        coverage.run_tests()
    reached = {}
    for folder in sorted(coverage.PROFILES.iterdir()):
        profiles = sorted(folder.glob("*.profraw"))
        if folder.name not in tests or not profiles:
            continue
        merged = faults.FOLDER / "one.profdata"
        coverage.merge(profiles, merged)
        lines = None
        for line in coverage.export(merged, "-format=lcov").decode().splitlines():
            if line.startswith("SF:"):
                lines = reached.setdefault(os.path.relpath(line[3:], ROOT), {})
            elif line.startswith("DA:"):
                number, count = line[3:].split(",")
                if count != "0":
                    lines.setdefault(number, []).append(folder.name)
    REACHED.write_text(json.dumps({"sources": digest, "reached": reached}), encoding="utf-8")
    return reached


# ---- One fault ---------------------------------------------------------------------------------------


class Judge:
    """Decides whether tests detect faults, and remembers the results."""

    def __init__(self, limit, jobs):
        self.limit = limit
        self.build = prepare()
        self.tests = self.build.tests()
        self.times = measure_baseline(self.tests, limit, jobs)
        self.reached = tests_by_line(self.tests)
        self.results = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
        self.kills = collections.Counter()  # (file, test): faults of the file that the test has detected

    def know(self, fault):
        """Counts the test that killed a fault, so that order() tries it early for other faults of the file."""
        kind, _, name = self.results.get(fault.key(), "").partition(" ")
        if kind == "killed":
            self.kills[fault.path, name] += 1

    def order(self, fault):
        """The tests to run, in order: those that reach the line, then those that reach another line of the file, because
        the line may be data, or tests may have changed since they were measured. In both groups, tests that are short and
        have detected many faults of the file come first."""
        lines = self.reached.get(fault.path, {})
        exact = lines.get(str(fault.line), [])
        names = [name for name in {name for names in lines.values() for name in names}
                 if self.times.get(name, self.limit) < self.limit]
        return sorted(names, key=lambda name: (name not in exact, self.times[name] / (1 + self.kills[fault.path, name])))

    def judge(self, fault, folder):
        """Returns "killed NAME", "survived", "same" (the compiler sees no difference) or "invalid"."""
        replaced = self.build.plant(fault, folder)
        if replaced is None:
            return "invalid"
        names = self.order(fault)
        for number, name in enumerate(names):
            if number == TRIES and self.build.is_same(fault, folder):
                return "same"
            if not run_test(self.tests[name], 5 + 10 * self.times[name], replaced, folder):
                return f"killed {name}"
        return "same" if len(names) <= TRIES and self.build.is_same(fault, folder) else "survived"

    def judge_all(self, selected, jobs):
        """Judges the faults that have no result yet, `jobs` at a time."""
        remaining = [fault for fault in selected if fault.key() not in self.results]
        folders = [faults.FOLDER / f"job-{number}" for number in range(jobs)]
        begin = time.monotonic()

        def work(fault):
            folder = folders.pop()
            try:
                return fault, self.judge(fault, folder)
            finally:
                folders.append(folder)

        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            for number, done in enumerate(pool.map(work, remaining), 1):
                fault, verdict = done
                self.results[fault.key()] = verdict
                self.know(fault)
                if number % 10 == 0 or number == len(remaining):
                    save_results(self.results)
                    print(f"{number} of {len(remaining)}, {(time.monotonic() - begin) / number:.2f} s each", flush=True)
                if verdict == "survived":
                    print(f"survived: {fault}", flush=True)


def save_results(results):
    written = RESULTS.with_suffix(".new")
    written.write_text(json.dumps(results, indent=0), encoding="utf-8")
    written.replace(RESULTS)


# ---- The report --------------------------------------------------------------------------------------


def accepted():
    """The faults of tests/accepted_mutants.txt, which have no effect that a test could detect."""
    lines = ACCEPTED.read_text(encoding="utf-8").splitlines()
    return {line for line in lines if line and not line.startswith("#")}


def sample_of(listed, count, seed):
    """`count` faults, selected by a hash, so that a larger sample contains a smaller one, and a sample changes little when
    sources change."""
    rank = {fault: hashlib.sha256(f"{seed} {fault.key()}".encode()).digest() for fault in listed}
    return sorted(listed, key=rank.get)[:count]


def module_of(path):
    parts = path.split("/")
    return parts[1] if parts[1] != "src" else f"core/{parts[2]}"


def share(killed, counted):
    """`killed` as a percentage."""
    return 100.0 * killed / counted if counted else 100.0


def summary(selected, results):
    """{module: Counter of verdicts}, with an entry "all" for all modules, and the survivors that are not accepted."""
    known = accepted()
    counts, survivors = {}, []
    for fault in selected:
        verdict = results[fault.key()].partition(" ")[0]
        if verdict == "survived" and fault.identity() in known:
            verdict = "accepted"
        elif verdict == "survived":
            survivors.append(fault)
        for name in (module_of(fault.path), "all"):
            counts.setdefault(name, collections.Counter())[verdict] += 1
    return counts, survivors


def table(counts, command):
    lines = ["", f"`{command}`:", "", "| | planted | no effect | killed | accepted | survived | killed, % |",
             "|---|--:|--:|--:|--:|--:|--:|"]
    for name in sorted(counts, key=lambda name: (name == "all", name)):
        count = counts[name]
        unseen = count["same"] + count["invalid"]
        percent = share(count["killed"], count["killed"] + count["survived"])
        lines.append(f"| {name} | {count.total()} | {unseen} | {count['killed']} | {count['accepted']} | {count['survived']} | "
                     f"{percent:.1f} |")
    return "\n".join(lines) + "\n\n"


def report(selected, results, every_fault, arguments):
    """Prints the results, writes the table with --write, and returns whether the score is too low."""
    counts, survivors = summary(selected, results)
    print()
    for fault in survivors:
        print(f"SURVIVED {fault}")
    existing = {fault.identity() for fault in every_fault}
    for line in sorted(accepted() - existing):
        print(f"{ACCEPTED.relative_to(ROOT)} has a fault that does not exist: {line}")
    options = f" --sample {arguments.sample} --seed {arguments.seed}" if arguments.sample else ""
    text = table(counts, f"scripts/mutate{options}")
    print(text)
    if arguments.write:
        head, _, rest = coverage.PAGE.read_text(encoding="utf-8").partition(BEGIN)
        coverage.PAGE.write_text(head + BEGIN + text + END + rest.partition(END)[2], encoding="utf-8")
    total = counts.get("all", {"killed": 0, "survived": 0})
    return share(total["killed"], total["killed"] + total["survived"]) < arguments.score


def parse_arguments():
    parser = argparse.ArgumentParser(
        prog="scripts/mutate", description="Plants faults in core, cpi and lwp, one at a time, in a copy of the sources, "
        "and runs the tests that reach the changed file. Results are stored, so that a run that was stopped continues. "
        "Exit status 1 if less than --score percent are killed or, with --checks, if a removal that nothing detects "
        "has no reason in tests/undetected_checks.txt.")
    parser.add_argument("file", nargs="*", help="a source of core; default: all")
    parser.add_argument("--sample", type=int, help="number of faults, chosen at random")
    parser.add_argument("--seed", type=int, default=1, help="of the random sample")
    parser.add_argument("--limit", type=float, default=10, help="skip tests that take longer than this many seconds")
    parser.add_argument("--score", type=float, default=0, help="the percentage of faults that must be killed")
    parser.add_argument("--jobs", type=int, default=1, help="number of faults at a time")
    parser.add_argument("--survivors", action="store_true", help="test again the survivors of earlier runs that are not accepted")
    parser.add_argument("--write", action="store_true",
                        help="update the table of docs/coverage.md; with --checks, write docs/checks.md")
    parser.add_argument("--checks", action="store_true", help="remove the bounds checks of the readers, and replay and fuzz")
    parser.add_argument("--seconds", type=float, default=60, help="of fuzzing for each of these checks")
    parser.add_argument("--fresh", action="store_true", help="forget earlier results and times")
    return parser.parse_args()


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    arguments = parse_arguments()
    files = [os.path.relpath(path, ROOT) for path in arguments.file] or faults.all_files()
    if arguments.file and arguments.write:
        sys.exit("--write needs all files")
    for path in files:
        if path not in faults.all_files():
            sys.exit(f"{path} is no source of core")
    faults.FOLDER.mkdir(parents=True, exist_ok=True)
    faults.copy_sources()
    if arguments.checks:
        return checks.main(arguments, files)
    if arguments.fresh:
        for path in (RESULTS, BASELINE, REACHED):
            path.unlink(missing_ok=True)
    every_fault = [fault for path in faults.all_files() for fault in faults.faults_of(path)]
    selected = [fault for fault in every_fault if fault.path in files]
    if arguments.sample is not None:
        selected = sample_of(selected, arguments.sample, arguments.seed)
    print("building", flush=True)
    judge = Judge(arguments.limit, arguments.jobs)
    known = accepted()
    for fault in every_fault:
        judge.know(fault)
        survived = judge.results.get(fault.key()) == "survived" and fault.identity() not in known
        if arguments.survivors and survived:
            del judge.results[fault.key()]
    judge.judge_all(selected, arguments.jobs)
    return report(selected, judge.results, every_fault, arguments)


if __name__ == "__main__":
    sys.exit(main())
