# SPDX-License-Identifier: MIT
"""Counts the instructions that readers take for inputs, by running read_inputs
under valgrind's tool callgrind."""

import collections
import pathlib
import subprocess

MEASURED = "read_measured"
Job = collections.namedtuple("Job", "name reader strict path size")
# total: instructions. functions: {name: instructions}. samples: the numbers that
# read_inputs prints (rows, matched rows, values, displayed values).
Count = collections.namedtuple("Count", "total functions samples")


class Failure(Exception):
    """The instructions could not be counted."""


def command(program, listed, out):
    """The command that runs read_inputs with the list of inputs `listed`,
    counts the instructions inside the function MEASURED, and writes a file
    each time that function returns."""
    return ["valgrind", "--tool=callgrind", f"--toggle-collect={MEASURED}",
            f"--dump-after={MEASURED}", "--compress-strings=no",
            "--compress-pos=no", f"--callgrind-out-file={out}", program,
            str(listed)]


def read_dump(path, samples):
    """The Count in a file of callgrind."""
    total, functions, name, is_call = None, collections.Counter(), "", False
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("summary:"):
            total = int(line.split()[1])
        elif line.startswith("fn="):
            name = line[3:].split("'")[0]
        elif line.startswith("calls="):
            is_call = True
        elif line[:1].isdigit():
            if not is_call:
                functions[name] += int(line.split()[1])
            is_call = False
    if total is None:
        raise Failure(f"{path}: no total")
    return Count(total, functions, samples)


def count(program, jobs, folder):
    """A Count for each job, in their order."""
    folder = pathlib.Path(folder)
    folder.mkdir()
    listed, out = folder / "inputs", folder / "counts"
    listed.write_text("".join(f"{job.reader} {int(job.strict)} {job.path}\n"
                              for job in jobs), encoding="utf-8")
    done = subprocess.run(command(program, listed, out), capture_output=True,
                          text=True, check=False)
    if done.returncode != 0:
        raise Failure(done.stderr)
    dumps = [pathlib.Path(f"{out}.{n + 1}") for n in range(len(jobs))]
    printed = [[int(word) for word in line.split()]
               for line in done.stdout.splitlines()]
    if not all(path.exists() for path in dumps) or len(printed) != len(jobs):
        raise Failure(f"{len(jobs)} inputs, but not as many counts")
    return [read_dump(*each) for each in zip(dumps, printed)]
