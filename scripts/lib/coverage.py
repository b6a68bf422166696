# SPDX-License-Identifier: MIT
"""Measures the coverage of core, cpi, lwp and parts of platform by the tests; run by scripts/coverage and scripts/mutate."""

import argparse
import functools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import fuzzing

ROOT = fuzzing.ROOT
BUILD = ROOT / "build" / "coverage"
PROFILES = BUILD / "profiles"
CTEST = ["ctest", "--test-dir", BUILD]
LIMITS = ROOT / "tests" / "coverage.json"
PAGE = ROOT / "docs" / "coverage.md"
GAPS = BUILD / "gaps.txt"
BEGIN = "<!-- table: written by scripts/coverage --write -->\n"
END = "<!-- end of table -->\n"
# A file is of the first module that matches. Those in platform have no limits, and their gaps are not listed.
MODULES = {"cpi": "core/cpi/", "lwp": "core/lwp/", "core": "core/", "collect": "platform/collect/",
           "live": "platform/live/", "select": "platform/select/", "stream": "platform/stream/"}
KINDS = ("lines", "branches", "mcdc")
NEVER = ROOT / "core" / "src" / "bytes" / "never.h"
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)


def libraries():
    """The arguments of llvm-cov that name the libraries."""
    found = sorted([*BUILD.glob("core/libperfblock*.so"), *BUILD.glob("platform/libperfblock*.so")])
    return [str(found[0]), *(f"-object={path}" for path in found[1:])]


def run_test(name):
    """Runs a test with its own profiles, PROFILES/TEST/*.profraw. Returns its output if it failed."""
    folder = PROFILES / name
    folder.mkdir(parents=True)
    # With %2m, all processes of the test add their counts to at most two files per library.
    done = subprocess.run([*CTEST, "-R", f"^{re.escape(name)}$", "--output-on-failure"],
                          env={**os.environ, "LLVM_PROFILE_FILE": str(folder / "%2m.profraw")},
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", errors="replace",
                          check=False)
    return done.stdout if done.returncode != 0 else None


def run_tests():
    """Runs all tests, as many at a time as there are CPUs."""
    fuzzing.build("coverage", ["all"])
    shutil.rmtree(PROFILES, ignore_errors=True)
    names = [test["name"] for test in json.loads(fuzzing.quietly([*CTEST, "--show-only=json-v1"]))["tests"]]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for number, (name, failure) in enumerate(zip(names, pool.map(run_test, names)), 1):
            if failure is not None:
                pool.shutdown(cancel_futures=True)
                sys.exit(f"{failure[-5000:]}\n{name} failed: coverage is measured with tests that pass")
            if number % 20 == 0:
                print(f"{number} of {len(names)} tests", flush=True)


def merge(profiles, out):
    """Merges profiles into the file `out`."""
    listing = out.with_suffix(".list")
    listing.write_text("".join(f"{path}\n" for path in profiles), encoding="utf-8")
    fuzzing.quietly(["llvm-profdata-19", "merge", "-sparse", f"--input-files={listing}", "-o", out])


def export(profile, *options):
    """The output of llvm-cov export for a merged profile."""
    done = subprocess.run(["llvm-cov-19", "export", *libraries(), f"-instr-profile={profile}", *options],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    return done.stdout


def name_of(path):
    return str(pathlib.Path(path).relative_to(ROOT))


def module_of(name):
    """The module of a file, or None."""
    return next((module for module, prefix in MODULES.items() if name.startswith(prefix)), None)


@functools.lru_cache(maxsize=None)
def without_comments(text):
    """The text with comments replaced by spaces, so that lines and columns stay the same."""
    return COMMENT.sub(lambda comment: re.sub(r"[^\n]", " ", comment[0]), text)


def read_code(name):
    """The text of a source without comments."""
    return without_comments((ROOT / name).read_text(encoding="utf-8"))


def closing(text, at, pair):
    """The position of the bracket that closes the one at text[at]; `pair` is "()" or "{}"."""
    depth = 0
    for i in range(at, len(text)):
        depth += (text[i] == pair[0]) - (text[i] == pair[1])
        if depth == 0:
            return i
    sys.exit("a bracket is not closed")


def never_reached(name):
    """The numbers of the lines that an `if (PFB_NEVER(...))` controls. Its condition is constantly false in this build,
    but clang counts these lines as code that no test reaches."""
    lines, text = set(), read_code(name)
    for found in re.finditer(r"\bif (\()PFB_NEVER(\()", text):
        end = closing(text, found.start(1), "()")
        if closing(text, found.start(2), "()") != end - 1:
            continue
        body = re.compile(r"\s*").match(text, end + 1).end()
        last = closing(text, body, "{}") if text[body] == "{" else text.index(";", body)
        lines |= set(range(text.count("\n", 0, end) + 2, text.count("\n", 0, last) + 2))
    return lines


def defences():
    """The number of uses of PFB_NEVER and PFB_ALWAYS (never.h) in each module."""
    uses = {module: 0 for module, prefix in MODULES.items() if prefix.startswith("core/")}
    for path in sorted((ROOT / "core").rglob("*.[ch]")):
        if path != NEVER:
            uses[module_of(name_of(path))] += len(re.findall(r"\bPFB_(?:NEVER|ALWAYS)\(", read_code(path)))
    return uses


def folded(profile):
    """The branches (file, line, column) and conditions (file, line, column, position) whose value the compiler knows, so
    that no test can reach both outcomes."""
    shown = subprocess.run(["llvm-cov-19", "show", *libraries(), f"-instr-profile={profile}", "-show-mcdc",
                            "-show-branches=count", "-show-expansions=false"],
                           stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True, encoding="utf-8",
                           errors="replace").stdout
    constants, name, decision = set(), "", ()
    for line in shown.splitlines():
        if line.startswith("/") and line.endswith(":"):
            name = line[:-1]
        elif "Folded" in line and (found := re.search(r"Branch \((\d+):(\d+)\)", line)):
            constants.add((name, *map(int, found.groups())))
        elif found := re.search(r"Decision Region \((\d+):(\d+)\)", line):
            decision = tuple(map(int, found.groups()))
        elif found := re.search(r"C(\d+)-Pair: constant folded", line):
            constants.add((name, *decision, int(found[1])))
    return constants


def lines_reached(profile):
    """{file: (number of reached lines, number of lines)}. The totals of llvm-cov cannot be used, because they count a
    function in a header once for each source that includes it."""
    files, name, never = {}, "", set()
    for line in export(profile, "-format=lcov").decode().splitlines():
        if line.startswith("SF:"):
            name = line[3:]
            never = never_reached(name)
        elif line.startswith("DA:"):
            number, count = map(int, line[3:].split(","))
            covered, total = files.get(name, (0, 0))
            if number not in never:
                files[name] = (covered + (count > 0), total + 1)
    return files


def summarise(data, lines):
    """{file: {kind: (covered, count)}}, and {module: the same}."""
    files, modules = {}, {}
    for entry in data["files"]:
        name = name_of(entry["filename"])
        if not module_of(name):
            continue
        figures = {kind: (entry["summary"][kind]["covered"], entry["summary"][kind]["count"]) for kind in KINDS}
        figures["lines"] = lines.get(entry["filename"], (0, 0))
        if figures["lines"][1] > 0:
            files[name] = figures
        total = modules.setdefault(module_of(name), dict.fromkeys(KINDS, (0, 0)))
        for kind in KINDS:
            total[kind] = tuple(map(sum, zip(total[kind], figures[kind])))
    return files, modules


def gaps(data, constants):
    """Descriptions of lines that are not executed, of branches of which one outcome never occurs, and of conditions
    without an independence pair (MC/DC).

    A function in a header is compiled into several libraries; it counts as reached if it is reached in one of them.
    """
    for entry in data["files"]:
        name = name_of(entry["filename"])
        if not name.startswith("core/"):
            continue
        source = (ROOT / name).read_text(encoding="utf-8").splitlines()
        never = never_reached(name)
        branches, decisions = {}, {}
        for *where, taken, not_taken, _, _, _ in entry["branches"]:
            counts = branches.setdefault(tuple(where), [0, 0])
            counts[0] += taken
            counts[1] += not_taken
        for record in entry.get("mcdc_records", []):
            covered = decisions.setdefault(tuple(record[:4]), [False] * len(record[-1]))
            decisions[tuple(record[:4])] = [one or other for one, other in zip(covered, record[-1])]
        branches = {where: counts for where, counts in branches.items()
                    if (entry["filename"], *where[:2]) not in constants}
        found = {(where[0], "never true") for where, counts in branches.items() if counts[0] == 0}
        found |= {(where[0], "never false") for where, counts in branches.items() if counts[1] == 0}
        for where, covered in decisions.items():
            missing = [str(i) for i, is_covered in enumerate(covered, 1)
                       if not is_covered and (entry["filename"], *where[:2], i) not in constants]
            if missing:
                found.add((where[0], "MC/DC: condition " + ", ".join(missing)))
        # A segment is [line, column, count, whether it has a count, whether a region begins here, ...].
        found |= {(segment[0], "not reached") for segment in entry["segments"]
                  if segment[3] and segment[2] == 0 and segment[4] and segment[0] not in never
                  and "if (PFB_NEVER(" not in source[segment[0] - 1]}
        for line, what in sorted(found):
            yield f"{name}:{line}: {what}: {source[line - 1].strip()}"


def percent(pair):
    return 100.0 if pair[1] == 0 else 100.0 * pair[0] / pair[1]


def cell(pair):
    return "" if pair[1] == 0 else f"{percent(pair):.1f} ({pair[0]} of {pair[1]})"


def table(rows):
    lines = ["", "| | lines | branches | MC/DC |", "|---|--:|--:|--:|"]
    for name in sorted(rows):
        lines.append(f"| {name} | " + " | ".join(cell(rows[name][kind]) for kind in KINDS) + " |")
    return "\n".join(lines) + "\n\n"


def sentence():
    """The sentence of docs/coverage.md with the numbers of uses of PFB_NEVER and PFB_ALWAYS."""
    uses = defences()
    parts = [f"{uses[module]} in {module}" for module in sorted(uses)]
    return f"Uses of `PFB_NEVER` and `PFB_ALWAYS`: {', '.join(parts)}.\n\n"


def check(modules):
    """Prints what is below its limit or out of date; returns whether there is anything."""
    modules_limits = json.loads(LIMITS.read_text(encoding="utf-8"))
    failed = sentence() not in PAGE.read_text(encoding="utf-8")
    if failed:
        print(f"{PAGE.relative_to(ROOT)} has another number of uses of PFB_NEVER and PFB_ALWAYS; "
              "run scripts/coverage --write")
    for module, limits in modules_limits.items():
        for kind, limit in limits.items():
            reached = percent(modules[module][kind])
            if reached < limit:
                failed = True
                print(f"BELOW {module} {kind}: {reached:.2f} %, tests/coverage.json requires {limit} %")
    return failed


def main():
    parser = argparse.ArgumentParser(prog="scripts/coverage", description="Measures the coverage of the tests.")
    parser.add_argument("--write", action="store_true", help="update the table of docs/coverage.md")
    parser.add_argument("--report", action="store_true", help="read the profiles of the last run")
    arguments = parser.parse_args()
    if not arguments.report:
        run_tests()
    merged = BUILD / "all.profdata"
    merge(PROFILES.glob("*/*.profraw"), merged)
    data = json.loads(export(merged))["data"][0]
    files, modules = summarise(data, lines_reached(merged))
    print(table(files))
    text = table(modules)
    print(text)
    listed = list(gaps(data, folded(merged)))
    GAPS.write_text("".join(f"{gap}\n" for gap in listed), encoding="utf-8")
    print(f"{len(listed)} gaps, listed in {GAPS.relative_to(ROOT)}")
    if arguments.write:
        head, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
        PAGE.write_text(head + BEGIN + text + sentence() + END + rest.partition(END)[2], encoding="utf-8")
    return check(modules)


if __name__ == "__main__":
    sys.exit(main())
