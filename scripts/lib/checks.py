# SPDX-License-Identifier: MIT
"""Removes the bounds checks of the readers, one at a time, and shows what detects it; run by scripts/mutate --checks."""

import html
import json
import os
import re
import signal
import subprocess
import sys
import time

import faults
import fuzzing

ROOT = faults.ROOT
RESULTS = faults.FOLDER / "checks.json"
PAGE = ROOT / "docs" / "checks.md"
REASONS = ROOT / "tests" / "undetected_checks.txt"
FLAGS = ("-O1 -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer "
         "-DPERFBLOCK_VERIFY")
# {source: fuzz targets that run it}; first come those that run little else.
TARGETS = {
    "core/src/perflib/v2.c": ["v2", "v2_values", "calls", "sample"],
    "core/src/perflib/v1.c": ["v1", "calls", "sample"],
    "core/src/perflib/name_table.c": ["name_table"],
    "core/src/perflib/metadata.c": ["metadata", "capture"],
    "core/src/perflib/query.c": ["query", "capture"],
    "core/src/perflib/path.c": ["name", "collect"],
    "core/src/perflib/capture.c": ["capture", "collect"],
    "core/src/perflib/catalog.c": ["collect"],
    "core/src/perflib/log.c": ["log", "collect"],
    "core/src/perflib/log_match.c": ["log", "collect"],
    "core/src/perflib/log_record.c": ["log", "collect"],
    "core/src/perflib/log_values.c": ["log", "collect"],
    "core/src/perflib/number_text.c": ["number_text"],
    "core/src/perflib/pdh_text.c": ["pdh_text"],
    "core/src/perflib/pdh_text_cells.c": ["pdh_text"],
    "core/src/perflib/pdh_text_form.c": ["pdh_text"],
    "core/cpi/src/hooks.c": ["hooks"],
    "core/cpi/src/text.c": ["text"],
    "core/lwp/src/cpuid_text.c": ["cpuid_text"],
    "core/lwp/src/lwp.c": ["lwp", "model"],
    "core/src/bytes/code_points.h": ["name", "name_table"],
    "core/src/bytes/cursor.c": ["v1", "metadata", "query", "capture", "lwp", "hooks"],
    "core/src/bytes/cursor.h": ["v2", "v1", "metadata", "query", "capture", "lwp", "hooks"],
    "core/src/bytes/decimal.c": ["pdh_text", "collect"],
    "core/src/bytes/line.h": ["text", "pdh_text", "number_text", "cpuid_text"],
    "core/src/bytes/name.c": ["name", "metadata"],
}
PREFACE = """# Bounds checks of the readers

`scripts/mutate --checks` removes each bounds check of the readers, one at a time, and shows what detects that. With `--write`
it writes this page; a run that was stopped continues.

A bounds check is an `if` in a source of the readers whose condition compares with `<`, `<=`, `>` or `>=`, and whose statement
reports an error or returns false, zero or another constant. Conditions of loops and of `?:`, and lines with `PFB_NEVER` or
`PFB_ALWAYS`, are not changed. The first detection of the removal is named, with its target:

- **sanitizer or guarantee**: the replay of the corpus, built with sanitizers and `PERFBLOCK_VERIFY`, fails or takes far longer.
- **reading**: the replay reads an input of the corpus with another error, offset, notes or items than with the check.
- **fuzzing**: libFuzzer, started from the corpus, stops the program. The targets of a source share
  {seconds:g} seconds.

Reasons for checks that nothing detects are in `tests/undetected_checks.txt`.

"""


def error_codes():
    text = (ROOT / "core" / "include" / "perfblock" / "error.h").read_text(encoding="utf-8")
    return re.findall(r"^    (PFB_[A-Z0-9_]+)", text, re.M)


def rejections():
    """A pattern of the statements that report an error or return a constant."""
    return re.compile(rf"\b(?:{'|'.join(error_codes())})\b|_?fail\w*\(|\breturn (?:false|NULL|0|[A-Z][A-Z0-9_]*);|^\s*return \d+;$")


def function_at(code, at):
    """The name of the function that contains a position, or ""."""
    names = re.findall(r"^(?!static_assert)[A-Za-z][^\n;{}=]*?\b(\w+)\([^;{}]*\)\n\{", code[:at], re.M)
    return names[-1] if names else ""


def checks_of(path):
    """[(fault, function, condition)] of the bounds checks of a file."""
    text = (ROOT / path).read_text(encoding="utf-8")
    code = faults.blank(text)
    skipped = faults.left_out(path, code)
    rejects = rejections()
    found = []
    for start, end in faults.conditions(code):
        statement = re.compile(r"\s*(?:\{[^}]*\}|[^;]*;)").match(code, end)
        if (code.count("\n", 0, start) + 1 not in skipped and re.search(r" [<>]=? ", code[start:end])
                and rejects.search(statement[0])):
            fault = faults.Fault(path, text, "check removed", start, end, f"(0 && {text[start:end]})")
            found.append((fault, function_at(code, start), faults.squeezed(text[start + 1:end - 1])))
    faults.numbered([fault for fault, _, _ in found])
    return found


# ---- Replays and fuzzing --------------------------------------------------------------------------------


def run(command, seconds, **environment):
    """Runs a command; returns its exit status, or None if it did not end within `seconds`, and its output."""
    process = subprocess.Popen([str(part) for part in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, encoding="utf-8", errors="replace", start_new_session=True,
                               cwd=faults.FOLDER, env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0", **environment})
    try:
        output, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)  # start_new_session made it the leader of a process group
        process.communicate()
        return None, ""
    return process.returncode, output


class Judge:
    """Finds what detects the removal of a check; `seconds` is the time of fuzzing for each."""

    def __init__(self, seconds):
        self.seconds = seconds
        self.build = faults.Build(faults.FOLDER / "fuzz", FLAGS,
                                  ["-DPERFBLOCK_TESTS=OFF", "-DPERFBLOCK_FUZZ=ON", "-DPERFBLOCK_FUZZERS=ON"])
        self.expected = {}  # {target: (output, seconds) of the replay without a fault}

    def replay(self, target, libraries, seconds):
        """Runs a replay with the changed libraries of a folder. Most targets print readings (end_round in walk.h)."""
        program = self.build.folder / "fuzz" / f"{target}_replay"
        return run([program, *fuzzing.seed_folders(target)], seconds, PERFBLOCK_PRINT_READINGS="1",
                   LD_LIBRARY_PATH=str(libraries))

    def expectation(self, target):
        """The output of a replay without a fault, and how long it takes."""
        if target not in self.expected:
            begin = time.monotonic()
            status, output = self.replay(target, "", 600)
            if status != 0:
                sys.exit(f"the replay of {target} fails without a fault:\n{output[-2000:]}")
            self.expected[target] = output, time.monotonic() - begin
        return self.expected[target]

    def fuzz(self, target, folder, seconds):
        """Whether libFuzzer, with the changed libraries in a folder, stops the program."""
        corpus = folder / "corpus"
        corpus.mkdir(exist_ok=True)
        dictionary = fuzzing.dictionary(target)
        status, _ = run([self.build.folder / "fuzz" / f"{target}_fuzzer", f"-max_total_time={seconds:.0f}", "-timeout=10",
                         "-use_value_profile=1", f"-artifact_prefix={corpus}/", *([f"-dict={dictionary}"] if dictionary else []),
                         corpus, *fuzzing.seed_folders(target)], seconds + 120, LD_LIBRARY_PATH=str(folder))
        return status != 0

    def judge(self, fault, folder):
        """What detects the removal of a check, as the page prints it, or None."""
        if self.build.plant(fault, folder) is None:
            sys.exit(f"{fault} does not compile")
        targets = TARGETS[fault.path]
        for target in targets:
            output, seconds = self.expectation(target)
            status, found = self.replay(target, folder, 10 + 10 * seconds)
            if status != 0:
                return f"sanitizer or guarantee: {target}"
            if found != output:
                return f"reading: {target}"
        for target in targets:
            if self.fuzz(target, folder, self.seconds / len(targets)):
                return f"fuzzing: {target}"
        return None


# ---- The report ------------------------------------------------------------------------------------------


def reasons():
    """{"FILE: BEFORE -> AFTER": the comment before it} of tests/undetected_checks.txt."""
    found, comment, is_new = {}, "", True
    for line in REASONS.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            comment = (comment + " " if not is_new else "") + line.lstrip("# ")
            is_new = False
        else:
            is_new = True
            if line:
                found[line] = comment
    return found


def report(checks, results, arguments):
    """Prints a table, writes the page with --write, and returns whether an undetected check has no reason."""
    known = reasons()
    detectors = ["sanitizer or guarantee", "reading", "fuzzing", "not detected"]
    counts = {}
    rows, missing = [], 0
    for fault, function, condition in checks:
        if fault.key() not in results:
            print(f"NOT TESTED {fault}")
            continue
        found = results[fault.key()]
        kind = found.partition(":")[0] if found else "not detected"
        counts.setdefault(fault.path, dict.fromkeys(detectors, 0))[kind] += 1
        if not found:
            found = f"not detected: {known.get(fault.identity(), '?')}"
            if fault.identity() not in known:
                missing += 1
                print(f"NOT DETECTED {fault}")
        shown = html.escape(condition, quote=False).replace("|", "&#124;").replace("*", "&#42;")
        rows.append(f"| {os.path.basename(fault.path)}: {function} | <code>{shown}</code> | {found} |")
    total = {kind: sum(count[kind] for count in counts.values()) for kind in detectors}
    lines = ["| | " + " | ".join(detectors) + " |", "|---|--:|--:|--:|--:|"]
    for path, count in [*counts.items(), ("all", total)]:
        lines.append(f"| {path} | " + " | ".join(str(count[kind]) for kind in detectors) + " |")
    print("\n".join(lines))
    if arguments.write:
        text = PREFACE.format(seconds=arguments.seconds) + "\n".join(lines)
        text += "\n\n| check | condition | detected by |\n|---|---|---|\n" + "\n".join(rows) + "\n"
        PAGE.write_text(text, encoding="utf-8")
    return missing > 0


def main(arguments, files):
    checks = [check for path in TARGETS if path in files for check in checks_of(path)]
    judge = Judge(arguments.seconds)
    results = {} if arguments.fresh or not RESULTS.exists() else json.loads(RESULTS.read_text(encoding="utf-8"))
    folder = faults.FOLDER / "job-checks"
    known = reasons()
    for number, (fault, _, _) in enumerate(checks, 1):
        if arguments.survivors and results.get(fault.key(), "") is None and fault.identity() not in known:
            del results[fault.key()]
        if fault.key() not in results:
            results[fault.key()] = judge.judge(fault, folder)
            RESULTS.write_text(json.dumps(results, indent=0), encoding="utf-8")
            print(f"{number} of {len(checks)}: {results[fault.key()] or 'not detected'}: {fault}", flush=True)
    return report(checks, results, arguments)
