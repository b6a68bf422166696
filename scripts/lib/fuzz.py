# SPDX-License-Identifier: MIT
"""Fuzzes targets with libFuzzer or AFL++; run by scripts/fuzz."""

import argparse
import os
import signal
import sys
import time

import fuzzing
import ledger


def parse_arguments():
    parser = argparse.ArgumentParser(
        prog="scripts/fuzz", formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Fuzzes one or more targets of fuzz/, or all of them.",
        epilog="A process stops at its first finding; one of AFL++ continues after a hang. New inputs are kept in\n"
               "build/fuzzing/TARGET/corpus, where the next run continues, findings in build/fuzzing/TARGET/findings.\n"
               "Exit status 1: something was found, or an engine failed.\n\nTargets: " + " ".join(fuzzing.targets()))
    # Without targets, argparse compares the empty list with the choices (in Python before 3.12).
    parser.add_argument("target", nargs="*", choices=[*fuzzing.targets(), *fuzzing.CHECKS, []], metavar="TARGET")
    parser.add_argument("--all", action="store_true", help="fuzz every target")
    parser.add_argument("--engine", choices=fuzzing.ENGINES, default="libfuzzer")
    parser.add_argument("--sanitizer", choices=("address", "memory"), default="address",
                        help="address: with UndefinedBehaviorSanitizer; memory: libFuzzer only")
    parser.add_argument("--minutes", type=float, default=1, help="for each target; default 1, may be a fraction")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(),
                        help="processes at a time, on one target or on several; default: one for each CPU")
    parser.add_argument("--ledger", action="store_true",
                        help="instead of a campaign, measure speed and how far an empty corpus gets, and write the table "
                             "of docs/fuzzing.md")
    arguments = parser.parse_args()
    if arguments.all or (arguments.ledger and not arguments.target):
        arguments.target = fuzzing.targets()
    if not arguments.target:
        parser.error("name a target, or give --all")
    if arguments.sanitizer not in fuzzing.ENGINES[arguments.engine]:
        parser.error("AFL++ runs with the address sanitizer only")
    if arguments.minutes <= 0 or arguments.jobs <= 0:
        parser.error("--minutes and --jobs are positive")
    return arguments


def make_runs(arguments, engine):
    """One run for each of several targets, or one run per job for a single target."""
    seconds = max(1, round(60 * arguments.minutes))
    if len(arguments.target) > 1:
        return [engine(target, seconds) for target in arguments.target]
    return [engine(arguments.target[0], seconds, number, arguments.jobs) for number in range(arguments.jobs)]


def run_all(runs, jobs, every):
    """Executes the runs, at most `jobs` at a time, and prints their progress about every `every` seconds."""
    waiting = list(runs)
    active = []
    last_report = time.monotonic()
    try:
        while waiting or active:
            while waiting and len(active) < jobs:
                active.append(waiting.pop(0))
                active[-1].start()
            time.sleep(0.2)
            for run in list(active):
                if run.poll() is not None:
                    active.remove(run)
                    print(f"done {run.target}: {run.progress()}", flush=True)
            if time.monotonic() - last_report >= every:
                last_report = time.monotonic()
                for run in active:
                    print(f"  {last_report - run.begin:4.0f} s {run.target}: {run.progress()}", flush=True)
    finally:
        for run in active:
            run.stop()


def report(runs, old_inputs):
    """Prints the results; returns whether anything was found or failed."""
    failed = False
    for run in runs:
        for problem in run.problems:
            failed = True
            print(f"PROBLEM {run.target}: {problem}")
    for target in dict.fromkeys(run.target for run in runs):
        run = next(run for run in runs if run.target == target)
        new = len(list(run.corpus.iterdir())) - old_inputs[target]
        print(f"{target}: {new} new inputs in {fuzzing.shown(run.corpus)}")
        for finding in sorted(run.findings.glob(f"{run.name}-*")):
            if not finding.name.startswith(f"{run.name}-slow-unit-"):
                failed = True
                print(f"FINDING {target}: replay with\n    {run.replay(finding)}")
    print("FOUND: see above" if failed else "nothing found")
    return failed


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    arguments = parse_arguments()
    if arguments.ledger:
        return ledger.measure(arguments)
    engine = fuzzing.ENGINES[arguments.engine][arguments.sanitizer]
    print(f"building {len(arguments.target)} targets ({engine.name})", flush=True)
    engine.prepare(arguments.target)
    runs = make_runs(arguments, engine)
    old_inputs = {run.target: len(list(run.corpus.iterdir())) for run in runs}
    run_all(runs, arguments.jobs, min(10, runs[0].seconds))
    ledger.add_campaign(runs)
    return report(runs, old_inputs)


if __name__ == "__main__":
    sys.exit(main())
