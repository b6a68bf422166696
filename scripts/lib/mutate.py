# SPDX-License-Identifier: MIT
"""Plants one fault at a time in a copy of the sources and runs the tests that reach its file, or for files of the program
and of platform the comparison of scripts/golden; run by scripts/mutate."""

import argparse
import collections
import concurrent.futures
import hashlib
import json
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import time

import checks
import coverage
import faults
import golden

ROOT = faults.ROOT
BUILD = faults.FOLDER / "tests"
RESULTS = faults.FOLDER / "results.json"
BASELINE = faults.FOLDER / "baseline.json"
REACHED = faults.FOLDER / "reached.json"
ACCEPTED = ROOT / "tests" / "accepted_mutants.txt"
FLAGS = "-O1 -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer"
ENVIRONMENT = {"ASAN_OPTIONS": "detect_leaks=0", "UBSAN_OPTIONS": "print_stacktrace=0"}
SECONDS = 5  # for a run of the program with a fault
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
    """Decides whether faults are detected, and remembers the results."""

    def __init__(self):
        self.results = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
        self.kills = collections.Counter()  # (file, test): faults of the file that the test has detected

    def know(self, fault):
        """Counts the test that killed a fault, so that order() tries it early for other faults of the file."""
        kind, _, name = self.results.get(fault.key(), "").partition(" ")
        if kind == "killed":
            self.kills[fault.path, name] += 1

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
                if verdict.startswith("survived"):
                    print(f"{verdict}: {fault}", flush=True)


class TestJudge(Judge):
    """Detects faults of core, cpi and lwp with their tests."""

    def __init__(self, limit, jobs):
        super().__init__()
        self.limit = limit
        self.build = prepare()
        self.tests = self.build.tests()
        self.times = measure_baseline(self.tests, limit, jobs)
        self.reached = tests_by_line(self.tests)

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


class ProgramJudge(Judge):
    """Detects faults of the program and of platform with the matrix of scripts/golden. With --tests, tests of the program
    show which of the others have an effect; these count as survivors, too."""

    TESTS = ("merge", "series", "range", "cook", "v1", "log", "captures", "log_cook", "record")

    def __init__(self, has_tests, jobs):
        super().__init__()
        self.has_tests = has_tests
        golden.prepare_files()
        self.build = faults.Build(faults.FOLDER / "program", "-O1", [
            "-DPERFBLOCK_CLI=ON", "-DPERFBLOCK_TESTS=OFF", "-DPERFBLOCK_FUZZ=OFF", "-DPERFBLOCK_EXAMPLES=OFF"])
        self.program = str(self.build.folder / "cli" / "perfblock")
        self.pool = multiprocessing.Pool(jobs, golden.start_worker, ([self.program], [], SECONDS))
        reference = golden.Reference(self.program, sorted(self.build.folder.rglob("lib*.so*")))
        entries = golden.planted_inputs()
        hashes = self.pool.map(golden.hash_cells, [(entry, reference.find(entry)) for entry in entries], chunksize=4)
        for entry, found in zip(entries, hashes):
            reference.add(entry, found)
        reference.save()
        self.cells = [(entry.files, cell, value) for entry, found in zip(entries, hashes) for cell, value in found.items()]
        # First the values of all inputs: they show most faults.
        self.cells.sort(key=lambda item: golden.PLANTED.index(item[1]))
        self.names = [f"golden: {'+'.join(files)}: {golden.shown(cell)}" for files, cell, _ in self.cells]
        self.positions = {name: n for n, name in enumerate(self.names)}

    def judge(self, fault, folder):
        """Returns "killed golden: INPUT: CELL", "survived", "survived, killed TEST", "same" (the compiler sees no difference)
        or "invalid"."""
        replaced = self.build.plant(fault, folder)
        if replaced is None:
            return "invalid"
        program, libraries = replaced.get(self.program, self.program), str(folder)
        # The cells that have killed most faults of the file.
        kills = sorted(((count, name) for (path, name), count in self.kills.items() if path == fault.path), reverse=True)
        first = [self.positions[name] for _, name in kills if name in self.positions][:40]
        for order in (first, range(len(self.cells))):
            found = self.pool.apply(golden.first_difference, (program, libraries, [self.cells[n] for n in order]))
            if found is not None:
                return f"killed {self.names[order[found]]}"
            if order is first and self.build.is_same(fault, folder):
                return "same"
        for name in self.TESTS if self.has_tests else ():
            environment = {**os.environ, "PERFBLOCK": program, "LD_LIBRARY_PATH": libraries}
            try:
                done = subprocess.run([sys.executable, ROOT / "tests" / "cli" / f"test_{name}.py"], env=environment, timeout=120,
                                      stdin=subprocess.DEVNULL, capture_output=True, check=False)
            except subprocess.TimeoutExpired:
                return f"survived, killed test_{name}"
            if done.returncode != 0:
                return f"survived, killed test_{name}"
        return "survived"


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
    if not path.startswith("core/"):
        return path
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
        verdict = re.match(r"\w+", results[fault.key()])[0]
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
        print(f"{results[fault.key()].upper()} {fault}")
    existing = {fault.identity() for fault in every_fault}
    paths = {fault.path for fault in every_fault}
    for line in sorted(line for line in accepted() - existing if line.partition(":")[0] in paths):
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
        prog="scripts/mutate", description="Plants faults in the sources, one at a time, in a copy of them, and runs the tests "
        "that reach the changed file; for files outside core the comparison of scripts/golden. Results are stored, so that a run that was stopped continues. "
        "Exit status 1 if less than --score percent are killed or, with --checks, if a removal that nothing detects "
        "has no reason in tests/undetected_checks.txt.")
    parser.add_argument("file", nargs="*", help="a source; default: all of core, cpi and lwp")
    parser.add_argument("--sample", type=int, help="number of faults, chosen at random")
    parser.add_argument("--seed", type=int, default=1, help="of the random sample")
    parser.add_argument("--limit", type=float, default=10, help="skip tests that take longer than this many seconds")
    parser.add_argument("--score", type=float, default=0, help="the percentage of faults that must be killed")
    parser.add_argument("--jobs", type=int, default=1, help="number of faults at a time")
    parser.add_argument("--survivors", action="store_true", help="test again the survivors of earlier runs that are not accepted")
    parser.add_argument("--tests", action="store_true", help="outside core: tests of the program judge the survivors")
    parser.add_argument("--write", action="store_true",
                        help="update the table of docs/coverage.md; with --checks, write docs/checks.md")
    parser.add_argument("--checks", action="store_true", help="remove the bounds checks of the readers, and replay and fuzz")
    parser.add_argument("--seconds", type=float, default=60, help="of fuzzing for each of these checks")
    parser.add_argument("--fresh", action="store_true", help="forget earlier results and times")
    return parser.parse_args()


def main():
    signal.signal(signal.SIGTERM, lambda *_: os._exit(143))  # not waiting for other threads
    arguments = parse_arguments()
    files = [os.path.relpath(path, ROOT) for path in arguments.file] or faults.all_files()
    if arguments.file and arguments.write:
        sys.exit("--write needs all files")
    is_core = all(path in faults.all_files() for path in files)
    if not is_core and (arguments.checks or any(path in faults.all_files() for path in files)):
        sys.exit("give only sources of core, or only others without --checks")
    faults.FOLDER.mkdir(parents=True, exist_ok=True)
    faults.copy_sources()
    if arguments.checks:
        return checks.main(arguments, files)
    if arguments.fresh:
        for path in (RESULTS, BASELINE, REACHED):
            path.unlink(missing_ok=True)
    every_fault = [fault for path in (faults.all_files() if is_core else files) for fault in faults.faults_of(path)]
    selected = [fault for fault in every_fault if fault.path in files]
    if arguments.sample is not None:
        selected = sample_of(selected, arguments.sample, arguments.seed)
    print("building", flush=True)
    judge = TestJudge(arguments.limit, arguments.jobs) if is_core else ProgramJudge(arguments.tests, arguments.jobs)
    known = accepted()
    for fault in every_fault:
        judge.know(fault)
        survived = judge.results.get(fault.key(), "").startswith("survived") and fault.identity() not in known
        if arguments.survivors and survived:
            del judge.results[fault.key()]
    judge.judge_all(selected, arguments.jobs)
    return report(selected, judge.results, every_fault, arguments)


if __name__ == "__main__":
    sys.exit(main())
