#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that CTest passes a program with Criterion's replacement exactly if its tests passed.

Usage: self_check.py FOLDER CTEST PASS_REGULAR_EXPRESSION SAMPLES [EMULATOR]
FOLDER is created and filled; SAMPLES has the programs of tests/criterion/samples.
"""
import os
import re
import subprocess
import sys

SECONDS = 300
NAMES = ("passing", "failing", "crashing", "leaving", "empty")  # "leaving" calls exit() in a test
FAILURES = 26  # failing checks in failing.c
wrong = []


def expect(is_true, what, output=""):
    """Record a failed expectation."""
    if not is_true:
        wrong.append(what + "\n" + output)


def register(folder, expression, commands):
    """Write the file that `ctest` reads, with a test for each command."""
    with open(os.path.join(folder, "CTestTestfile.cmake"), "w", encoding="utf-8") as file:
        for name, command in commands.items():
            words = " ".join(f"[==[{word}]==]" for word in command)
            file.write(f"add_test({name} {words})\n"
                       f"set_tests_properties({name} PROPERTIES PASS_REGULAR_EXPRESSION [==[{expression}]==])\n")


def run_test(folder, ctest, name):
    """Whether CTest passes the test, and the output of its program."""
    done = subprocess.run([ctest, "-V", "-R", f"^{name}$"], cwd=folder, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=SECONDS, check=False)
    text = done.stdout.decode(errors="replace").replace("\r", "")
    expect(re.search(r"tests passed, . tests? failed out of 1", text), f"{name}: CTest did not run it", text)
    return done.returncode == 0, "".join(line + "\n" for line in re.findall(r"(?m)^\d: (.*)$", text))


def check_failures(output):
    """Each failing check is reported, and ends its test if it is an assertion."""
    names = re.findall(r"(?m)^failing::((?:assert|expect)\w*)$", output)
    expect(len(names) == FAILURES, f"failing: {len(names)} tests", output)
    expect(output.count(": failed: ") == FAILURES, "failing: a failure is not reported exactly once", output)
    for name in names:
        continues = f"{name} continues\n" in output
        expect(continues == name.startswith("expect"), f"failing: {name}: continues after the failure: {continues}",
               output)
    expect(": message 42 of it\n" in output, "failing: the message is missing", output)
    expect(f"Tested: {FAILURES + 1} | Passing: 1 | Failing: {FAILURES} | Skipped: 0" in output,
           "failing: wrong totals", output)


def main():
    folder, ctest, expression, samples = sys.argv[1:5]
    emulator = sys.argv[5:]
    os.makedirs(folder, exist_ok=True)
    commands = {}
    for name in NAMES:
        files = [file for file in os.listdir(samples) if file.split(".")[0] == f"stand_in_{name}"]
        commands[name] = emulator + [os.path.join(samples, file) for file in files]
        expect(len(files) == 1, f"{name}: its program is missing")
    # Like an emulator that cannot run the program: it prints nothing and returns 0.
    commands["silent"] = ["true"]
    register(folder, expression, commands)
    outputs = {}
    for name in commands:
        is_passed, outputs[name] = run_test(folder, ctest, name)
        expect(is_passed == (name == "passing"), f"{name}: CTest passes it: {is_passed}", outputs[name])
    expect("Tested: 2 | Passing: 2 | Failing: 0 | Skipped: 1" in outputs["passing"], "passing: wrong totals",
           outputs["passing"])
    expect("skipped: for reason 7\n" in outputs["passing"], "passing: the reason for skipping is missing",
           outputs["passing"])
    expect("Tested: 0 " in outputs["empty"], "empty: wrong totals", outputs["empty"])
    expect("crashing::ends_the_program" in outputs["crashing"], "crashing: the test that crashed is not named",
           outputs["crashing"])
    check_failures(outputs["failing"])
    for line in wrong:
        print("wrong:", line)
    print(f"{len(commands)} programs checked, {len(wrong)} findings")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
