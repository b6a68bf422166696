# SPDX-License-Identifier: MIT
"""Files that fail, pipes that close, numbers that must read back."""

import os
import struct
import subprocess
import unittest

from program import (ON_WINDOWS, SECONDS, Case, program, running, seed,
                     writer as w)

CAPTURE = seed("capture", "valid_processor_information.pfb")
PRINTING = (["--help"], ["--version"], ["types"], ["show", CAPTURE],
            ["check", CAPTURE], ["cook", CAPTURE],
            ["cook", "--format", "json", CAPTURE],
            ["show", "--format", "json", CAPTURE])


class Files(Case):
    """Inputs that cannot be read."""

    def test_missing(self):
        path = os.path.join(self.folder, "missing\x1b\x07")
        shown = os.path.join(self.folder, "missing\\u001B\\u0007")
        for command in ("show", "check", "cook"):
            done = self.run_program(command, path)
            self.assertEqual((done.status, done.out, done.err), (
                3, "", shown + (": Invalid argument\n" if ON_WINDOWS
                                else ": No such file or directory\n")))

    def test_the_graver_status_counts(self):
        bad = self.file("bad", b"x")
        for files in ([bad, "/nonexistent"], ["/nonexistent", bad]):
            self.assertEqual(self.run_program("show", *files).status, 3)

    def test_names_that_look_like_options(self):
        self.file("-x", w.reply())
        self.run_fine("show", "--", "-x", cwd=self.folder)
        self.run_fine("show", "./-x", cwd=self.folder)

    def test_names_that_are_no_utf8(self):
        path = os.path.join(os.fsencode(self.folder), b"\xff\xfe.bin")
        with open(path, "wb") as file:
            file.write(w.reply())
        items = self.run_json("check", path)
        self.assertEqual(items[0]["file"], os.path.join(
            self.folder, "\ufffd\ufffd.bin"))


class Output(Case):
    """Standard output that cannot be written."""

    def finish(self, arguments, **options):
        """Run with a standard output of its own."""
        return running.finish([program(), *arguments], timeout=SECONDS,
                              stdin=subprocess.DEVNULL, **options)

    @unittest.skipUnless(os.path.exists("/dev/full"), "no /dev/full here")
    def test_full_disk(self):
        for arguments in PRINTING:
            with open("/dev/full", "wb") as full:
                done = self.finish(arguments, stdout=full)
            self.assertEqual(done.returncode, 3, arguments)
            self.assertRegex(done.stderr.decode(),
                             r"^standard output: [^\n]+\n$")

    def test_closed_pipe(self):
        for arguments in PRINTING:
            reader, writer = os.pipe()
            os.close(reader)
            with os.fdopen(writer, "wb") as pipe:
                done = self.finish(arguments, stdout=pipe)
            self.assertEqual((done.returncode, done.stderr), (0, b""),
                             arguments)

    def test_reader_that_leaves(self):
        path = self.file("big.bin", w.reply(w.result(w.SINGLE, w.v4(
            1))) * 20000)
        for command in ("show", "cook"):
            with subprocess.Popen(
                    [program(), command, "--format", "json", path],
                    stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
                self.assertTrue(child.stdout.readline())
                child.stdout.close()
                self.assertEqual(child.stderr.read(), b"")
                self.assertEqual(child.wait(SECONDS), 0)

    def test_order_of_output_and_error(self):
        path = self.file("a.bin", w.reply(w.result(w.SINGLE, w.v4(
            5)))[:-12] + b"\xf8" + b"\xff" * 11)
        done = running.finish([program(), "show", path], timeout=SECONDS,
                              stderr=subprocess.STDOUT)
        lines = done.stdout.decode().splitlines()
        self.assertEqual(len(lines), 3)
        self.assertIn("bad_value_size", lines[-1])


class Numbers(Case):
    """Doubles come in the shortest form that reads back the same."""

    def test_values(self):
        guid = "3f1c0c4e-5d1b-4a53-9c2e-0a1b2c3d4e5f"
        infos = [w.counter_info(1, 0x20020500, base=2),
                 w.counter_info(2, 0x40030500)]
        pairs = [(1, 3), (1, 8), (1, 2**64 - 1), (2**64 - 1, 1), (1, 1000),
                 (123456789, 7), (2**53 + 1, 100), (5, 10**12), (10**17, 100)]
        data = w.recording(
            w.registration_chunk(guid, 1, w.counterset(guid, infos)),
            w.chunk(b"QINF", w.identifier(guid, name="*")),
            w.chunk(b"DATA", w.reply(w.result(w.COUNTERSET, w.id_list(
                [1, 2]) + w.instance_block(*[w.instance(
                    0, str(n), w.v8(raw), w.v8(base))
                    for n, (raw, base) in enumerate(pairs)])))))
        done = self.run_fine("cook", "--format", "json", "-", stdin=data)
        items = [i for i in done.objects() if i["counter_id"] == 1]
        for item, line, (raw, base) in zip(items, done.lines()[::2], pairs):
            exact = 100 * raw / base  # big integers: rounded once
            self.assertEqual(struct.pack("<d", item["value"]),
                             struct.pack("<d", exact))
            text = line.split('"value":')[1].split(",")[0]
            self.assertLessEqual(len(text), max(len(repr(exact)), 17))


if __name__ == "__main__":
    unittest.main()
