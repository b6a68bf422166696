# SPDX-License-Identifier: MIT
"""Calls of the C library that fail. PERFBLOCK_FAULTS is the path of the library
made of faults.c, which is preloaded."""

import os
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "cli"))

from program import (ROOT, SECONDS, Case, Done, bytes_of, on_machine,  # noqa: E402
                     program, writer as w)

import captures  # noqa: E402

FAULTS = os.path.abspath(os.environ["PERFBLOCK_FAULTS"])
PROCESSOR = os.path.join(ROOT, "fixtures", "processor.pfb")
OLD = b"old" * 100


class FaultCase(Case):
    """Runs the program with a fault."""

    def run_faulty(self, fault, *arguments, machine=None):
        """Runs the program. `fault` is the value of PERFBLOCK_FAULT."""
        path, environment = on_machine(machine)
        environment.update(LD_PRELOAD=FAULTS, PERFBLOCK_FAULT=fault)
        done = subprocess.run([path, *arguments], capture_output=True,
                              timeout=SECONDS, env=environment, check=False)
        self.assertGreaterEqual(done.returncode, 0, (fault, arguments))
        return Done(done.returncode, done.stdout.decode(),
                    done.stderr.decode())


def long_recording(count):
    """A recording with samples of a growing number of instances, and a note of
    300 kB in the middle: the program's windows are smaller."""
    def sample(number):
        return w.chunk(b"DATA", w.reply(captures.instances_result([1], [
            (n, "instance %d" % n, [number]) for n in range(number + 1)]),
            stamps=w.clocks(number * 10**7, 133 * 10**15 + number * 10**7,
                            10**7)))
    return w.recording(
        captures.metadata(captures.DISK, "Disk", [(1, captures.BULK, "N")]),
        w.chunk(b"QINF", w.identifier(captures.DISK, name="*")),
        *[sample(number) for number in range(count)],
        w.chunk(b"NOTE", b"n" * 300000),
        *[sample(number) for number in range(count, 2 * count)])


class Check(FaultCase):
    """check of files that cannot be read to their end."""

    def test_read_error(self):
        """The verdict has a code, the place, and the size of the file."""
        data = long_recording(3)
        path = self.file("a.pfb", data)
        whole = self.run_json("check", path)[0]
        self.assertEqual((whole["valid"], whole["size"]), (True, len(data)))
        places = []
        for number in range(2, 20):
            done = self.run_faulty("read:%d" % number, "check", "-f", "json",
                                   path)
            if done.status == 0:
                self.assertEqual(done.objects(), [whole])
                break
            item, = done.objects()
            self.assertEqual((done.status, item["valid"], item["size"],
                              item["code"], item["message"]), (
                3, False, len(data), "unreadable", "Input/output error"))
            places.append(item["offset"])
            done = self.run_faulty("read:%d" % number, "check", path)
            self.assertIn("a.pfb: not read to its end (capture, %d bytes" %
                          len(data), done.out)
            self.assertIn("offset %d: unreadable: Input/output error" %
                          item["offset"], done.out)
            done = self.run_faulty("read:%d" % number, "check", "-f", "csv",
                                   path, path)
            self.assertEqual({line.count(",") for line in done.lines()},
                             {done.lines()[0].count(",")})
        self.assertGreater(len(places), 1)
        self.assertEqual(places, sorted(places))
        self.assertEqual(places[-1], len(data))

    def test_limit(self):
        """So has that of an input that is too large."""
        with subprocess.Popen([program(), "check", "-f", "json", "-"],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL) as child:
            head = w.recording() + w.chunk(b"NOTE", b"")[:8] + (
                1 << 40).to_bytes(8, "little")
            try:
                child.stdin.write(head)
                while True:
                    child.stdin.write(bytes(1 << 20))
            except BrokenPipeError:
                pass
            done = Done(child.wait(SECONDS), child.stdout.read().decode(), "")
        item, = done.objects()
        self.assertEqual((done.status, item["valid"], item["code"]),
                         (3, False, "caller_limit"))


class TwoPasses(FaultCase):
    """cook to pdh-csv, which reads files twice."""

    def test_read_error(self):
        """A read error of any pass gives exit status 3. What was read before
        is written; without any value the old file stays."""
        path = self.file("a.pfb", long_recording(3))
        target = os.path.join(self.folder, "o.pdh.csv")
        self.run_fine("cook", path, "-o", target)
        whole = bytes_of(target)
        kept = 0
        for number in range(1, 40):
            self.file("o.pdh.csv", OLD)
            done = self.run_faulty("read:%d" % number, "cook", path, "-o",
                                   target)
            if done.status == 0:
                self.assertEqual(bytes_of(target), whole, number)
                continue
            self.assertEqual((done.status, done.err.splitlines()[-1]), (
                3, path + ": Input/output error"), number)
            content = bytes_of(target)
            kept += content == OLD
            self.assertTrue(content == OLD or
                            content.startswith(b'"(PDH-CSV 4.0)'), number)
        self.assertGreater(kept, 1)


if __name__ == "__main__":
    unittest.main()
