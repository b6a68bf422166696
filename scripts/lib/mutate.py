# SPDX-License-Identifier: MIT
"""Plants one fault at a time in a copy of the sources and runs the tests that reach it; run by scripts/mutate."""

import argparse
import hashlib
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import time

import coverage
import fuzzing

ROOT = fuzzing.ROOT
FOLDER = ROOT / "build" / "mutate"
COPY = FOLDER / "source"
BUILD = FOLDER / "build"
RESULTS = FOLDER / "results.json"
BASELINE = FOLDER / "baseline.json"
REACHED = FOLDER / "reached.json"
ACCEPTED = ROOT / "tests" / "accepted_mutants.txt"
FLAGS = "-O1 -w -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer"
ENVIRONMENT = {"ASAN_OPTIONS": "detect_leaks=0", "UBSAN_OPTIONS": "print_stacktrace=0"}

# ---- Faults ------------------------------------------------------------------------------------------

# (name, pattern, replacement); in code only, without comments, strings and preprocessor lines.
OPERATORS = [
    ("comparison", re.compile(r"(?<=[\w)\]] )<(?= )"), "<="),
    ("comparison", re.compile(r"(?<=[\w)\]] )<=(?= )"), "<"),
    ("comparison", re.compile(r"(?<=[\w)\]] )>(?= )"), ">="),
    ("comparison", re.compile(r"(?<=[\w)\]] )>=(?= )"), ">"),
    ("comparison", re.compile(r"(?<= )==(?= )"), "!="),
    ("comparison", re.compile(r"(?<= )!=(?= )"), "=="),
    ("logic", re.compile(r"(?<= )&&(?= |$)"), "||"),
    ("logic", re.compile(r"(?<= )\|\|(?= |$)"), "&&"),
    ("arithmetic", re.compile(r"(?<=[\w)\]] )\+(?= )"), "-"),
    ("arithmetic", re.compile(r"(?<=[\w)\]] )-(?= )"), "+"),
    ("constant", re.compile(r"(?<![\w.\"'\[])(\d+)(?![\w.\]xX])"), lambda m: str(int(m[1]) + 1)),
    ("size", re.compile(r"\b([A-Z][A-Z_]*_BYTES)\b(?! =)"), r"(\1 + 1)"),
    ("size", re.compile(r"\b([A-Z][A-Z_]*_BYTES)\b(?! =)"), r"(\1 - 1)"),
    ("check removed", re.compile(r"(?<=\bif )\((?=.*\)$)"), "(0 && "),
    ("check forced", re.compile(r"(?<=\bif )\((?=.*\)$)"), "(1 || "),
    ("return", re.compile(r"(?<=\breturn )true(?=;)"), "false"),
    ("return", re.compile(r"(?<=\breturn )false(?=;)"), "true"),
    ("statement removed", re.compile(r"(?<=^)(\s+)(?!return\b|break\b|continue\b|case\b)[\w.>\-\[\]]+ [|&+\-^]?= [^;{}]*;$"), r"\1;"),
    ("statement removed", re.compile(r"(?<=^)(\s+)(?!return\b|sizeof\b)\w+\([^;{}]*\);$"), r"\1;"),
    ("early return", re.compile(r"(?<=^)(\s+)(break|continue);$"), r"\1return (__typeof__(0))0;"),
]


def blank(text):
    """The text with comments, strings, characters and preprocessor lines replaced by spaces of the same length."""
    pattern = re.compile(r'/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|^#(?:[^\n]*\\\n)*[^\n]*', re.S | re.M)
    return pattern.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)


def enumerations(code):
    """Line numbers of enumerations. They get no faults, because the tests use the same constants and would change with
    them."""
    lines = set()
    for match in re.finditer(r"\benum\b[^;{]*\{[^}]*\}", code):
        first = code.count("\n", 0, match.start()) + 1
        lines.update(range(first, first + match[0].count("\n") + 1))
    return lines


class Mutant:
    def __init__(self, path, line, column, operator, old, new, text):
        self.path, self.line, self.column, self.operator = path, line, column, operator
        self.old, self.new = old, new
        self.before = text.strip()
        self.after = (text[:column] + new + text[column + len(old):]).strip()

    def key(self):
        identity = f"{self.path}:{self.line}:{self.column}:{self.new}:{self.before}"
        return hashlib.sha256(identity.encode()).hexdigest()[:16]

    def __str__(self):
        return f"{self.path}:{self.line}: {self.operator}: {self.before}  ->  {self.after}"


def mutants_of(path):
    text = (ROOT / path).read_text(encoding="utf-8")
    code = blank(text)
    excluded = enumerations(code)
    originals = text.splitlines()
    for number, line in enumerate(code.splitlines(), 1):
        if number in excluded or not line.startswith(" "):
            continue
        for operator, pattern, replacement in OPERATORS:
            for match in pattern.finditer(line):
                new = match.expand(replacement) if isinstance(replacement, str) else replacement(match)
                if "(0 && " in new or "(1 || " in new:
                    new, old = close_condition(line, match.start(), new)
                    if new is None:
                        continue
                else:
                    old = match[0]
                if operator == "early return":
                    new = new.replace("return (__typeof__(0))0;", "return 0;")
                yield Mutant(path, number, match.start(), operator, old, new, originals[number - 1])


def close_condition(line, at, new):
    """The replacement for the whole condition that begins at `at`, and its text."""
    depth = 0
    for i in range(at, len(line)):
        depth += {"(": 1, ")": -1}.get(line[i], 0)
        if depth == 0:
            old = line[at:i + 1]
            return f"{new}{old})", old
    return None, None


# ---- The copy of the sources, and its tests ----------------------------------------------------------


def prepare():
    """Copies the sources that Git knows, builds them and returns the tests: {name: (command, environment, patterns)}."""
    listed = fuzzing.quietly(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT)
    for name in filter(None, listed.split("\0")):
        source, copy = ROOT / name, COPY / name
        if not source.is_file():
            continue
        copy.parent.mkdir(parents=True, exist_ok=True)
        if not copy.exists() or copy.read_bytes() != source.read_bytes():
            shutil.copy(source, copy)
    fuzzing.quietly(["cmake", "-S", COPY, "-B", BUILD, "-G", "Ninja", "-DCMAKE_C_COMPILER=clang", f"-DCMAKE_C_FLAGS={FLAGS}",
                     "-DCMAKE_BUILD_TYPE=Debug", "-DBUILD_SHARED_LIBS=ON", "-DCMAKE_LINK_DEPENDS_NO_SHARED=ON",
                     "-DPERFBLOCK_CLI=OFF", "-DPERFBLOCK_TESTS=ON", "-DPERFBLOCK_TEST_KINDS=unit;vectors"])
    fuzzing.quietly(["cmake", "--build", BUILD])
    tests = {}
    for test in json.loads(fuzzing.quietly(["ctest", "--test-dir", BUILD, "--show-only=json-v1"]))["tests"]:
        properties = {item["name"]: item["value"] for item in test["properties"]}
        environment = dict(item.split("=", 1) for item in properties.get("ENVIRONMENT", []))
        tests[test["name"]] = (test["command"], environment, properties.get("FAIL_REGULAR_EXPRESSION", []),
                               properties.get("SKIP_REGULAR_EXPRESSION", []))
    return tests


def run_test(test, seconds):
    """True if the test passes within `seconds`, or is skipped."""
    command, environment, failing, skipping = test
    process = subprocess.Popen(command, cwd=BUILD / "tests", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, encoding="utf-8", errors="replace", start_new_session=True,
                               env={**os.environ, **environment, **ENVIRONMENT})
    try:
        output, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)  # start_new_session made it the leader of a group
        process.communicate()
        return False
    if any(re.search(pattern, output) for pattern in skipping):
        return True
    return process.returncode == 0 and not any(re.search(pattern, output) for pattern in failing)


def measure_baseline(tests):
    """{test: seconds} without a fault; stored for later runs."""
    times = json.loads(BASELINE.read_text(encoding="utf-8")) if BASELINE.exists() else {}
    for number, (name, test) in enumerate(tests.items(), 1):
        if name in times:
            continue
        begin = time.monotonic()
        if not run_test(test, 1800):
            sys.exit(f"{name} fails without a fault; run it with ctest --test-dir {BUILD} -R {name}")
        times[name] = time.monotonic() - begin
        BASELINE.write_text(json.dumps(times), encoding="utf-8")
        print(f"measured {number} of {len(tests)} tests", flush=True)
    return times


def tests_by_line(tests):
    """{file: {line: [test]}} from the profiles of scripts/coverage."""
    if not coverage.PROFILES.is_dir():
        coverage.run_tests()
    if REACHED.exists() and REACHED.stat().st_mtime > coverage.PROFILES.stat().st_mtime:
        return json.loads(REACHED.read_text(encoding="utf-8"))
    reached = {}
    for folder in sorted(coverage.PROFILES.iterdir()):
        profiles = sorted(folder.glob("*.profraw"))
        if folder.name not in tests or not profiles:
            continue
        merged = FOLDER / "one.profdata"
        coverage.merge(profiles, merged)
        lines = None
        for line in coverage.export(merged, "-format=lcov").decode().splitlines():
            if line.startswith("SF:"):
                lines = reached.setdefault(os.path.relpath(line[3:], ROOT), {})
            elif line.startswith("DA:"):
                number, count = line[3:].split(",")
                if count != "0":
                    lines.setdefault(number, []).append(folder.name)
    REACHED.write_text(json.dumps(reached), encoding="utf-8")
    return reached


# ---- One fault ---------------------------------------------------------------------------------------


def compile_object(path, out):
    """An object without debug information, to detect faults without effect; None if it does not compile."""
    includes = [f"-I{COPY / folder}" for folder in ("core/src", "core/include", "core/cpi/include", "core/lwp/include")]
    done = subprocess.run(["clang", "-O2", "-w", "-std=c11", *includes, "-c", COPY / path, "-o", out], check=False,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return out.read_bytes() if done.returncode == 0 else None


def judge(mutant, tests, times, names, limit):
    """Returns "killed NAME", "survived", "same" (the compiler sees no difference) or "invalid"."""
    copy = COPY / mutant.path
    source = (ROOT / mutant.path).read_bytes()
    lines = source.decode().split("\n")
    line = lines[mutant.line - 1]
    lines[mutant.line - 1] = line[:mutant.column] + mutant.new + line[mutant.column + len(mutant.old):]
    try:
        is_source = mutant.path.endswith(".c")
        before = compile_object(mutant.path, FOLDER / "before.o") if is_source else None
        copy.write_bytes("\n".join(lines).encode())
        if is_source:
            after = compile_object(mutant.path, FOLDER / "after.o")
            if after is None:
                return "invalid"
            if after == before:
                return "same"
        done = subprocess.run(["cmake", "--build", BUILD], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        if done.returncode != 0:
            return "invalid"
        for name in sorted(names, key=times.get):
            if times[name] > limit:
                continue
            if not run_test(tests[name], 20 + 5 * times[name]):
                return f"killed {name}"
        return "survived"
    finally:
        copy.write_bytes(source)


# ---- Everything --------------------------------------------------------------------------------------


def all_files():
    files = [path for pattern in ("src/*/*.[ch]", "*/src/*.[ch]") for path in (ROOT / "core").glob(pattern)]
    return sorted(str(path.relative_to(ROOT)) for path in files)


def accepted():
    """Faults without an effect that a test could detect: lines "BEFORE -> AFTER" of ACCEPTED, where comments state the
    reasons."""
    if not ACCEPTED.exists():
        return set()
    lines = ACCEPTED.read_text(encoding="utf-8").splitlines()
    return {line for line in lines if line and not line.startswith("#")}


def parse_arguments():
    parser = argparse.ArgumentParser(
        prog="scripts/mutate", description="Plants faults in core, cpi and lwp, one at a time, in a copy of the sources, "
        "and runs the tests that reach the line. Results are stored, so that a run that was stopped continues. Exit status 1 "
        "if less than --score percent are killed.")
    parser.add_argument("file", nargs="*", help="a source of core; default: all")
    parser.add_argument("--sample", type=int, help="number of faults, chosen at random")
    parser.add_argument("--seed", type=int, default=1, help="seed of the random choice; default 1")
    parser.add_argument("--limit", type=float, default=600, help="skip tests that take longer than this many seconds")
    parser.add_argument("--score", type=float, default=0, help="required percentage of killed faults; default 0")
    parser.add_argument("--fresh", action="store_true", help="forget earlier results, profiles and times")
    return parser.parse_args()


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    arguments = parse_arguments()
    files = [os.path.relpath(path, ROOT) for path in arguments.file] or all_files()
    for path in files:
        if path not in all_files():
            sys.exit(f"{path} is no source of core")
    if arguments.fresh:
        for path in (RESULTS, BASELINE, REACHED):
            path.unlink(missing_ok=True)
        shutil.rmtree(coverage.PROFILES, ignore_errors=True)
    mutants = [mutant for path in files for mutant in mutants_of(path)]
    if arguments.sample is not None and arguments.sample < len(mutants):
        mutants = random.Random(arguments.seed).sample(mutants, arguments.sample)
    FOLDER.mkdir(parents=True, exist_ok=True)
    print("building", flush=True)
    tests = prepare()
    times = measure_baseline(tests)
    reached = tests_by_line(tests)
    results = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    for number, mutant in enumerate(mutants, 1):
        if mutant.key() not in results:
            names = [name for name in reached.get(mutant.path, {}).get(str(mutant.line), []) if name in tests]
            results[mutant.key()] = judge(mutant, tests, times, names, arguments.limit)
            RESULTS.write_text(json.dumps(results, indent=0), encoding="utf-8")
        print(f"{number} of {len(mutants)}: {results[mutant.key()]}: {mutant.path}:{mutant.line}", flush=True)
    return report(mutants, results, arguments.score)


def report(mutants, results, score):
    known = accepted()
    verdicts = {mutant: results[mutant.key()] for mutant in mutants}
    killed = sum(verdict.startswith("killed") for verdict in verdicts.values())
    survivors = [mutant for mutant, verdict in verdicts.items() if verdict == "survived"]
    explained = [mutant for mutant in survivors if f"{mutant.before} -> {mutant.after}" in known]
    open_ones = [mutant for mutant in survivors if mutant not in explained]
    print()
    for mutant in open_ones:
        print(f"SURVIVED {mutant}")
    counted = killed + len(open_ones)
    reached = 100 * killed / counted if counted else 100
    others = ", ".join(f"{sum(verdict == name for verdict in verdicts.values())} {text}"
                       for name, text in (("same", "change nothing"), ("invalid", "do not compile")))
    print(f"{killed} of {counted} killed: {reached:.1f} % ({len(explained)} survivors are accepted, {others})")
    return reached < score


if __name__ == "__main__":
    sys.exit(main())
