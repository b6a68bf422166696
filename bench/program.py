#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures perfblock on a long recording. `cat` and sysstat's `sadf` are measured in the same run, as baselines.

    program.py PERFBLOCK [--megabytes N] [--runs N]

Records all countersets of this Linux machine and repeats the samples with later timestamps until the recording has N MB
(default 100). Prints for each command the median CPU time, MB of input and rows of output per CPU second, and the largest
anonymous memory (resident memory without mapped files) of any run. `sadf` reads ten seconds of sysstat's activities, which
are repeated up to the same size. The row of `sadf` is missing if sysstat is not installed or if its records differ in size.
"""
import argparse
import os
import pathlib
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import time

CHUNK = struct.Struct("<4sIQ")
CLOCKS = struct.Struct("<qq")  # PERF_DATA_HEADER.PerfTimeStamp and PerfTime100NSec, at offset 8
AT_CLOCKS = 8
SADC = "/usr/lib/sysstat/sadc"
SYSSTAT_TIMES = struct.Struct("=QQ")  # at the start of a record: 1/100 s since the boot, and seconds since 1970
FOUR_COUNTERS = ("--set", "Processor Information", "--counter", "0", "--counter", "1", "--counter", "2", "--counter", "3")


def chunks(recording):
    """Yields the tag and the bytes of each chunk of a recording, with its header and padding."""
    at = 0
    while at < len(recording):
        tag, _, size = CHUNK.unpack_from(recording, at)
        end = at + CHUNK.size + (size + 7) // 8 * 8
        yield tag, recording[at:end]
        at = end


def write_recording(path, sample_path, size):
    """Writes a recording of at least `size` bytes: the one at `sample_path`, with its samples repeated at later times."""
    all_chunks = list(chunks(pathlib.Path(sample_path).read_bytes()))
    samples = [bytearray(chunk) for tag, chunk in all_chunks if tag == b"DATA"]
    at = CHUNK.size + AT_CLOCKS
    steps = [last - first for first, last in zip(CLOCKS.unpack_from(samples[0], at), CLOCKS.unpack_from(samples[-1], at))]
    steps = [step + step // (len(samples) - 1) for step in steps]
    with open(path, "wb") as out:
        for tag, chunk in all_chunks:
            if tag != b"DATA":
                out.write(chunk)
        number = 0
        while out.tell() < size:
            for sample in samples:
                copy = bytearray(sample)
                clocks = CLOCKS.unpack_from(sample, at)
                CLOCKS.pack_into(copy, at, *(clock + number * step for clock, step in zip(clocks, steps)))
                out.write(copy)
            number += 1


def write_sysstat(path, size):
    """Records ten seconds of all activities of sysstat and repeats them with later times.

    Returns False and repeats nothing if the records differ in size, for instance because a device or CPU was added, or if
    fewer than two are found.
    """
    begin = int(time.time())
    subprocess.run([SADC, "-S", "ALL", "1", "10", path], check=True)
    data = pathlib.Path(path).read_bytes()
    half = SYSSTAT_TIMES.size // 2
    found = (data.rfind(struct.pack("=Q", second)) - half for second in range(begin, int(time.time()) + 1))
    starts = [start for start in found if start >= 0]
    count = len(starts)
    record_size = len(data) - starts[-1] if starts else 0
    if {later - start for start, later in zip(starts, starts[1:])} != {record_size}:
        return False
    with open(path, "wb") as out:
        out.write(data[:starts[0]])
        number = 0
        while out.tell() < size:
            for start in starts:
                record = bytearray(data[start:start + record_size])
                uptime, seconds = SYSSTAT_TIMES.unpack_from(record)
                SYSSTAT_TIMES.pack_into(record, 0, uptime + 100 * count * number, seconds + count * number)
                out.write(record)
            number += 1
    return True


def own_memory(pid):
    """Returns the resident memory of a process without mapped files in KiB, or 0 if the process has ended."""
    lines = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    return next((int(line.split()[1]) for line in lines if line.startswith("RssAnon:")), 0)


def run(command):
    """Runs a command and discards its output. Returns its CPU seconds and the largest measured memory in KiB."""
    memory = 0
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        pid, status, usage = 0, 0, None
        while pid == 0:
            memory = max(memory, own_memory(process.pid))
            time.sleep(0.005)
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}: exit status {process.returncode}")
    return usage.ru_utime + usage.ru_stime, memory


def count_rows(command):
    """Returns the number of lines that a command prints."""
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        rows = sum(block.count(b"\n") for block in iter(lambda: process.stdout.read(1 << 20), b""))
    if process.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}: exit status {process.returncode}")
    return rows


def measure(name, command, path, runs, has_rows):
    """Runs a command `runs` times and returns its row of the printed table. `path` is the file that it reads."""
    results = [run(command) for _ in range(runs)]
    seconds = max(statistics.median(seconds for seconds, _ in results), 0.001)
    rows = f"{count_rows(command) / seconds / 1e6:.2f}" if has_rows else "-"
    memory = max(memory for _, memory in results) / 1024
    return f"| `{name}` | {seconds:.2f} | {os.path.getsize(path) / seconds / 1e6:.0f} | {rows} | {memory:.1f} |"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("perfblock")
    parser.add_argument("--megabytes", type=int, default=100)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    program = options.perfblock
    with tempfile.TemporaryDirectory() as folder:
        first, path, sysstat = (os.path.join(folder, name) for name in ("first.pfb", "long.pfb", "sysstat"))
        subprocess.run([program, "record", "--quiet", "-o", first, "--set", "*", "--count", "20", "--interval", "0.05"],
                       check=True)
        write_recording(path, first, options.megabytes * 10**6)
        print("| command | CPU seconds | MB per CPU second | million rows per CPU second | MiB of memory |")
        print("|---|---:|---:|---:|---:|")
        cook = [program, "cook", "--quiet"]
        rows = [
            ("cat long.pfb", ["cat", path], False),
            ("perfblock check long.pfb", [program, "check", "--quiet", path], False),
            ("perfblock cook --format csv long.pfb", [*cook, "--format", "csv", path], True),
            ("perfblock cook --format json long.pfb", [*cook, "--format", "json", path], True),
            ("perfblock cook --format csv, four counters", [*cook, "--format", "csv", *FOUR_COUNTERS, path], True),
            ("perfblock cook --summary --format csv long.pfb", [*cook, "--summary", "--format", "csv", path], False),
        ]
        for name, command, has_rows in rows:
            print(measure(name, command, path, options.runs, has_rows), flush=True)
        if shutil.which("sadf") and os.access(SADC, os.X_OK) and write_sysstat(sysstat, options.megabytes * 10**6):
            print(measure("sadf -d sysstat -- -A", ["sadf", "-d", sysstat, "--", "-A"], sysstat, options.runs, True))


if __name__ == "__main__":
    sys.exit(main())
