#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes docs/report.png and docs/bytes.png, screenshots of pages that the
program writes, with a headless Chromium. PERFBLOCK names the program. The
inputs are made by this script and are always the same."""

import math
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "cli"))

import browser  # noqa: E402 (in the folder that was just added)
import captures as c  # noqa: E402
from program import program, writer as w  # noqa: E402

SAMPLES = 120
DISKS = ("0 C:", "1 D:")


def rates(number, disk):
    """The reads and bytes per second of a disk in sample `number`."""
    wave = math.sin(number / 9 + disk * 2) + math.sin(number / 4.3 + disk)
    burst = 420 if disk == 0 and 70 <= number < 76 else 0
    reads = int(120 + 70 * disk + 40 * wave + burst)
    return reads, reads * (8192 + 1024 * (number % 7))


def recording():
    """A capture of two minutes with two disks and their total."""
    counters = [(1, c.BULK, "Disk Reads/sec"),
                (2, c.BULK, "Disk Read Bytes/sec")]
    chunks = [c.metadata(c.DISK, "PhysicalDisk", counters),
              w.chunk(b"QINF", w.identifier(c.DISK, name="*", index=0))]
    totals = [[0, 0] for _ in DISKS]
    for number in range(SAMPLES):
        for disk, values in enumerate(totals):
            for i, rate in enumerate(rates(number, disk)):
                values[i] += rate
        rows = [(i, name, totals[i]) for i, name in enumerate(DISKS)]
        rows.append((len(DISKS), "_Total", [sum(v) for v in zip(*totals)]))
        chunks.append(c.data(number, c.instances_result([1, 2], rows)))
    return w.recording(*chunks)


def broken_reply():
    """A reply whose second value extends past its result."""
    reads = w.v8(52173)
    read_bytes = w.datum(bytes(8), block_size=400)
    instance = w.instance(0, DISKS[0], reads, read_bytes)
    return w.reply(w.result(w.COUNTERSET, w.id_list([1, 2]) +
                            w.instance_block(instance)))


def main():
    """Writes both pictures."""
    os.environ["TZ"] = "UTC0"
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for name, command, file, data, size in (
                ("report", ["report"], "disk.pfb", recording(), (700, 440)),
                ("bytes", ["show", "-f", "html"], "reply.bin",
                 broken_reply(), (900, 420))):
            (folder / file).write_bytes(data)
            # show exits with 1 because its input is malformed.
            subprocess.run([program(), *command, file, "-o", name + ".html"],
                           cwd=folder, stderr=subprocess.DEVNULL, check=False)
            with browser.Browser(*size) as page:
                page.load(folder / (name + ".html"))
                page.run("document.querySelector('article, tr.error')"
                         ".scrollIntoView({block: 'end'})")
                page.settle()
                page.screenshot(ROOT / "docs" / (name + ".png"))


if __name__ == "__main__":
    main()
