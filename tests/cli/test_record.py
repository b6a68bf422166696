# SPDX-License-Identifier: MIT
"""record: rotated files, files shared with other processes, and recorders that
are killed. test_faults.py has captures that were truncated."""

import os
import random
import signal
import struct
import subprocess
import threading
import time
import unittest

from captures import three_sets
from cpi_runs import SNAPSHOTS
from program import (ON_WINDOWS, SECONDS, Case, LiveCase, bytes_of,
                     on_machine, own_program, program, running)

HEADER = 16


def chunks(data):
    """(tag, bytes) of each chunk of a valid capture. The bytes include header
    and padding."""
    found, at = [], 0
    while at < len(data):
        tag, version, size = struct.unpack_from("<4sIQ", data, at)
        end = at + HEADER + size + -size % 8
        assert version == 1 and end <= len(data), (at, tag)
        found.append((tag.decode(), data[at:end]))
        at = end
    return found


def samples(path):
    """The DATA chunks of a file."""
    return [raw for tag, raw in chunks(bytes_of(path)) if tag == "DATA"]


def clocks(path):
    """The performance clock of each sample of a file."""
    return [struct.unpack_from("<q", raw, HEADER + 8)[0]
            for raw in samples(path)]


class Rotation(Case):
    """--rotate, of a machine with the data of a recording, so that the expected
    bytes of each file are known."""

    def setUp(self):
        super().setUp()
        self.source = self.file("source.pfb", self.many(24))
        self.path = os.path.join(self.folder, "new.pfb")

    @staticmethod
    def many(count):
        """three_sets() with `count` copies of its first sample, which differ
        in their performance clock."""
        every = chunks(three_sets())
        metadata_chunks = [raw for tag, raw in every if tag != "DATA"]
        sample = [raw for tag, raw in every if tag == "DATA"][0]
        copies = [sample[:HEADER + 8] + struct.pack("<q", number) +
                  sample[HEADER + 16:] for number in range(count)]
        return b"".join(metadata_chunks + copies)

    def record(self, *arguments, count=24):
        """Records from the source."""
        done = self.run_record(self.source, self.path, "--set", "*",
                               *arguments, count=count)
        self.assertEqual((done.status, done.err), (0, ""))

    def files(self):
        """The recorded files, the oldest first."""
        numbers = sorted(int(name.rsplit(".", 1)[1])
                         for name in os.listdir(self.folder)
                         if name.startswith("new.pfb."))
        return ["%s.%d" % (self.path, n) for n in numbers] + [self.path]

    def assert_whole(self, paths):
        """Asserts that each file is a complete capture with metadata, and that
        together they have all samples."""
        for path in paths:
            self.run_fine("check", "--strict", path)
            tags = [tag for tag, _ in chunks(bytes_of(path))]
            self.assertEqual(tags[:2], ["PFBC", "NOTE"])
            self.assertEqual(tags.count("PFBC"), 1)
            self.assertLess(tags.index("QINF"), tags.index("DATA"))
            self.assertEqual({i["set"] for i in self.run_json("cook", path)},
                             {"Alpha Disk", "Alpha Memory", "Beta Network"})
        self.assertEqual([clock for path in paths for clock in clocks(path)],
                         list(range(24)))

    def test_sizes(self):
        """A file is rotated when the next sample would exceed the size."""
        size = len(samples(self.source)[0])
        self.record()
        metadata_size = len(bytes_of(self.path)) - 24 * size
        os.remove(self.path)
        for max_bytes, per_file in (
                (metadata_size + 5 * size, 5),
                (metadata_size + 6 * size - 1, 5),
                (metadata_size + 6 * size, 6),
                (metadata_size + 24 * size, 24)):
            self.record("--rotate", str(max_bytes))
            paths = self.files()
            self.assertEqual([len(samples(path)) for path in paths],
                             [per_file] * (24 // per_file) +
                             ([24 % per_file] if 24 % per_file else []))
            self.assertLessEqual(max(map(os.path.getsize, paths)), max_bytes)
            self.assert_whole(paths)
            for path in paths:
                os.remove(path)

    def test_units(self):
        """Sizes may end in K, M or G."""
        self.record("--rotate", "4K")
        paths = self.files()
        self.assertGreater(len(paths), 1)
        for path, later in zip(paths, paths[1:]):
            size = os.path.getsize(path)
            self.assertLessEqual(size, 4096)
            self.assertGreater(size + len(samples(later)[0]), 4096)
        self.assert_whole(paths)

    def test_a_sample_larger_than_the_limit(self):
        """Each file has at least one sample."""
        self.record("--rotate", "1")
        paths = self.files()
        self.assertEqual(len(paths), 24)
        self.assert_whole(paths)

    def test_no_rotation_below_the_size(self):
        """A file below the size is not rotated; sizes of almost 8 PiB are
        accepted."""
        for size in ("1M", "1G", "8388607G"):
            self.record("--rotate", size)
            self.assertEqual(self.files(), [self.path])
            os.remove(self.path)

    def test_an_existing_file_is_renamed_first(self):
        """An existing file is rotated before the first sample if that sample
        would exceed the size."""
        self.record()
        before = bytes_of(self.path)
        self.record("--rotate", str(len(before)))
        self.assertEqual(bytes_of(self.path + ".1"), before)
        self.assertEqual(clocks(self.path), list(range(24)))
        # The next sample fits into this file, so it is appended.
        self.record("--rotate", "1M", count=1)
        self.assertEqual(len(samples(self.path)), 25)

    def test_nothing_is_overwritten(self):
        """A rotated file gets a number above all existing ones. Other files
        are not changed."""
        existing = {}
        for name in ("new.pfb.3", "new.pfb.10", "new.pfb.x", "new.pfb.",
                     "new.pfb.7a", "new.pfbx.99", "other.50",
                     "new.pfb.-5"):
            existing[self.file(name, name.encode())] = name.encode()
        os.mkdir(os.path.join(self.folder, "new.pfb.12"))
        self.record("--rotate", "1", count=4)
        for path, data in existing.items():
            self.assertEqual(bytes_of(path), data)
        made = [self.path + ".13", self.path + ".14", self.path + ".15",
                self.path]
        self.assertEqual([clock for path in made for clock in clocks(path)],
                         list(range(4)))

    def test_another_folder(self):
        """Rotated files are in the folder of the output file."""
        os.mkdir(os.path.join(self.folder, "deep"))
        done = self.run_record(self.source, "deep/a.pfb", "--set", "*",
                               "--rotate", "1", count=2, cwd=self.folder)
        self.assertEqual((done.status, done.err), (0, ""))
        self.assertEqual(sorted(os.listdir(os.path.join(self.folder,
                                                        "deep"))),
                         ["a.pfb", "a.pfb.1"])

    def test_regular_files_only(self):
        """Devices cannot be rotated."""
        for path in ("/dev/null", "/dev/full"):
            if not os.path.exists(path):
                continue
            done = self.run_record(self.source, path, "--set", "*",
                                   "--rotate", "1M")
            self.assertEqual((done.status, done.out), (3, ""))
            self.assertRegex(done.err, "^%s: .*--rotate.*\n$" % path)


class Forced(Case):
    """--force replaces an existing file."""

    def test_content(self):
        """The file is then the same as a new one, whatever it was before."""
        source = self.file("source.pfb", three_sets())
        new = os.path.join(self.folder, "new.pfb")
        self.assertEqual(self.run_record(source, new, r"\*(*)\*").status, 0)
        for before in (bytes_of(new), bytes_of(source)[:-1], b"text"):
            path = self.file("old.pfb", before)
            done = self.run_record(source, path, "--force", r"\*(*)\*")
            self.assertEqual(done.status, 0, done.err)
            self.assertEqual(bytes_of(path), bytes_of(new))

    def test_refusals(self):
        """--force does not replace an input, and is refused without an output
        file."""
        source = self.file("source.pfb", three_sets())
        for command, words in (
                (["record", "--force", "-o", source, "--paths", source],
                 "is an input"),
                (["cpi", "run", "--force", "--source", source, "-o", source,
                  "--", "true"], "is an input"),
                (["convert", "--force", "-o", source, source], "is an input"),
                (["live", "--force"], "--force applies")):
            done = self.run_program(*command)
            self.assertEqual((done.status, done.out), (2, ""))
            self.assertIn(words, done.err)
            self.assertEqual(bytes_of(source), three_sets())

    def test_without_samples(self):
        """The old content stays until there is a sample."""
        source = self.file("source.pfb", three_sets())
        path = self.file("old.pfb", b"old")
        done = self.run_record(source, path, "--force", r"\No\Thing")
        self.assertEqual(done.status, 2)
        self.assertEqual(bytes_of(path), b"old")

    def test_other_commands(self):
        """cpi run replaces its output file with --force."""
        new = os.path.join(self.folder, "new.pfb")

        def run(*options):
            return self.run_program(
                "cpi", "run", "--source", self.file("source", SNAPSHOTS),
                *options, "--", own_program(), "--version")

        self.assertEqual(run("-o", new).status, 0)
        for before in (bytes_of(new), b"old"):
            path = self.file("old.pfb", before)
            done = run("-o", path, "--force")
            self.assertEqual(done.status, 0, done.err)
            self.assertEqual(bytes_of(path), bytes_of(new))


class Shared(Case):
    """An output file that is also an input, or that another process writes or
    replaces at the same time."""

    def test_its_own_standard_input(self):
        """The output file is refused also as standard input."""
        source = self.file("source.pfb", three_sets())
        for command in (["record", "-o", source, "--paths", "-"],
                        ["convert", "-", "-o", source],
                        ["report", "-", "-o", source]):
            with open(source, "rb") as file:
                done = running.finish([program(), *command], stdin=file,
                                      timeout=SECONDS)
            self.assertEqual((done.returncode, done.stdout), (2, b""), command)
            self.assertIn(b"is an input", done.stderr)
            self.assertEqual(bytes_of(source), three_sets(), command)

    def test_a_second_writer_is_refused(self):
        """cpi run keeps its output file open and locked while the command
        runs. Here that command is cpi run with the same output file."""
        capture = self.file("source.pfb", three_sets())
        snapshots = self.file("snapshots", SNAPSHOTS)
        path = os.path.join(self.folder, "new.pfb")
        run = ["cpi", "run", "--source", snapshots, "-o", path, "--",
               own_program()]
        done = self.run_program(*run, *run, "--version")
        self.assertEqual(done.status, 0)
        self.assertEqual(done.err.splitlines(), [
            path + ": is being written by another process",
            own_program() + ": ended with status 3"])
        self.run_fine("check", path)
        self.assertEqual(samples(path), [])
        # Reading is allowed, and writing again afterwards.
        done = self.run_program(
            "cpi", "run", "--source", snapshots, "-o", path, "--",
            own_program(), "check", "--format", "json", path)
        self.assertEqual((done.status, done.err), (0, ""))
        done = self.run_record(capture, path, "--set", "*", count=2)
        self.assertEqual(done.status, 0, done.err)
        self.assertEqual(len(samples(path)), 2)

    @unittest.skipIf(ON_WINDOWS, "symbolic links need privileges on Windows")
    def test_a_symbolic_link_that_changes(self):
        """While a symbolic link alternates between a capture and another file,
        record never appends to the other file: it checks the file that it
        opened."""
        capture = self.file("source.pfb", three_sets())
        other = self.file("other", b"precious")
        path = os.path.join(self.folder, "link")
        new = path + ".new"
        os.symlink(other, path)
        ended = threading.Event()

        def change():
            while not ended.is_set():
                for target in (capture, other):
                    os.symlink(target, new)
                    os.replace(new, path)
        thread = threading.Thread(target=change)
        thread.start()
        source = self.file("samples.pfb", three_sets())
        try:
            for _ in range(200):
                self.assertIn(self.run_record(source, path, "--set",
                                              "*").status, (0, 3))
                self.assertEqual(bytes_of(other), b"precious")
        finally:
            ended.set()
            thread.join()


@unittest.skipIf(ON_WINDOWS, "Windows has other signals")
class TwoRecorders(LiveCase):
    """While a recorder rotates its files, others that start with the same
    output file are refused."""

    def test_no_other_recorder_opens_the_file(self):
        """No other recorder can open the output file, even while the first one
        rotates it."""
        capture = self.file("source.pfb", three_sets())
        path = os.path.join(self.folder, "a.pfb")
        with subprocess.Popen([program(), "record", "-o", path, "--interval",
                               "0.01", "--rotate", "1"],
                              stderr=subprocess.PIPE) as child:
            try:
                end = time.monotonic() + SECONDS
                while not os.path.exists(path + ".1"):
                    self.assertLess(time.monotonic(), end)
                    time.sleep(0.001)
                for number in range(60):
                    done = self.run_record(
                        capture, path, "--set", "*",
                        *(["--rotate", "1"] if number % 2 else []))
                    self.assertEqual((done.status, done.err), (
                        3, path + ": is being written by another process\n"))
                self.assertIsNone(child.poll())
            finally:
                child.send_signal(signal.SIGTERM)
                err = child.communicate(timeout=SECONDS)[1]
        self.assertEqual((child.returncode, err), (0, b""))
        names = [name for name in os.listdir(self.folder)
                 if name.startswith("a.pfb")]
        self.assertGreater(len(names), 2)
        for name in names:
            self.run_fine("check", "--strict",
                          os.path.join(self.folder, name))


@unittest.skipIf(ON_WINDOWS, "Windows has no locks of folders")
class FolderLocks(Case):
    """The lock on the folder, which rotation uses. A recorder does not hold it
    while it waits for the reader of a pipe, and waits for it only for a
    limited time."""

    def setUp(self):
        super().setUp()
        self.source = self.file("source.pfb", Rotation.many(24))

    def lock(self):
        """Locks the folder until the end of the test; fails if it is locked.
        """
        import fcntl
        folder = os.open(self.folder, os.O_RDONLY)
        self.addCleanup(os.close, folder)
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)

    @unittest.skipUnless(os.path.exists("/proc/self/stat"), "no /proc")
    def test_waiting_for_a_reader(self):
        """While a recorder waits for the reader of a pipe, the folder is not
        locked."""
        path = os.path.join(self.folder, "pipe")
        os.mkfifo(path)
        recorder, environment = on_machine(self.source)
        with subprocess.Popen([recorder, "record", "-o", path, "-i", "0.01",
                               "-n", "24", "--set", "*"], env=environment,
                              stderr=subprocess.PIPE) as child:
            try:
                sleeping = 0  # consecutive readings in which it was asleep
                while sleeping < 50:
                    stat = bytes_of("/proc/%d/stat" % child.pid)
                    state = stat.rpartition(b")")[2].split()[0]
                    sleeping = sleeping + 1 if state == b"S" else 0
                    time.sleep(0.01)
                self.assertIsNone(child.poll())
                self.lock()
                recorded = bytes_of(path)
                err = child.communicate(timeout=SECONDS)[1]
            except BaseException:
                child.kill()
                raise
        self.assertEqual((child.returncode, err), (0, b""))
        self.assertEqual([tag for tag, _ in chunks(recorded)].count("DATA"),
                         24)

    def test_a_lock_that_is_never_released(self):
        """A recorder stops waiting for the lock and rotates its file without
        it. If it waited without a limit, the test would exceed its time limit.
        """
        self.lock()
        path = os.path.join(self.folder, "new.pfb")
        done = self.run_record(self.source, path, "--set", "*", "--rotate",
                               "1", count=24)
        self.assertEqual((done.status, done.err), (0, ""))
        self.assertEqual(len(samples(path)), 1)
        self.assertTrue(os.path.exists(path + ".23"))


@unittest.skipIf(os.name == "nt", "Windows has other signals")
class Killed(LiveCase):
    """A killed recorder cuts at most the chunk that it is writing."""

    ROUNDS = 20

    def kill(self, path, seconds, *arguments):
        """Starts a recorder of this machine. Waits until the file exists and is
        not empty, which may be so from the start, and kills the recorder this
        many seconds later."""
        with subprocess.Popen([program(), "record", "-o", path, "--interval",
                               "0.01", *arguments],
                              stderr=subprocess.DEVNULL) as child:
            try:
                end = time.monotonic() + SECONDS
                while not (os.path.exists(path) and os.path.getsize(path)):
                    self.assertLess(time.monotonic(), end)
                    time.sleep(0.001)
                time.sleep(seconds)
            finally:
                child.send_signal(signal.SIGKILL)

    def assert_readable(self, path):
        """Asserts that the file consists of complete chunks, except perhaps
        the last one. Returns whether the last one is complete too."""
        done = self.run_program("check", path)
        if done.status == 0:
            return True
        self.assertEqual(len(done.errors()), 1, done.err)
        offset = done.errors()[0][1]
        data = bytes_of(path)
        self.assert_error(done, 1, path, offset, "truncated_chunk")
        self.assertLess(offset, len(data))
        chunks(data[:offset])
        return False

    def test_killed_at_any_moment(self):
        """A file of a killed recorder is readable, and is continued after its
        last whole chunk."""
        moments = random.Random(1)
        path = os.path.join(self.folder, "a.pfb")
        before = b""
        for _ in range(self.ROUNDS):
            self.kill(path, moments.uniform(0, 0.05))
            data = bytes_of(path)
            self.assertTrue(data.startswith(before))
            before = data
            if not self.assert_readable(path):
                before = data[:self.run_program(
                    "check", path).errors()[0][1]]
        self.run_program("record", "-o", path, "--count", "2")
        self.assertTrue(self.assert_readable(path))
        self.assertTrue(samples(path))

    def test_killed_while_files_are_rotated(self):
        """Rotated files are complete, or empty if the recorder was killed while
        it renamed a file. Complete ones do not change afterwards."""
        moments = random.Random(2)
        path = os.path.join(self.folder, "a.pfb")
        seen = {}
        for _ in range(self.ROUNDS // 2):
            self.kill(path, moments.uniform(0, 0.08), "--rotate", "6K")
            for name in os.listdir(self.folder):
                if name == "a.pfb" or not os.path.getsize(
                        os.path.join(self.folder, name)):
                    continue
                full = os.path.join(self.folder, name)
                data = bytes_of(full)
                self.assertEqual(seen.setdefault(name, data), data)
                self.assertTrue(self.assert_readable(full))
            if os.path.exists(path) and os.path.getsize(path) and \
                    not self.assert_readable(path):
                os.remove(path)
        self.assertTrue(seen)


class Identifiers(LiveCase):
    """The queries with which record collects from this machine."""

    def test_names_in_identifiers(self):
        """Each set has one identifier block. Its instance name is "*" if the
        set has instances, and absent otherwise."""
        path = os.path.join(self.folder, "a.pfb")
        self.run_fine("record", "-o", path, "--set", "*", "--count", "1")
        sets = {i["guid"]: i["instance_type"] for i in self.offered
                if i["record"] == "counterset"}
        queried = {i["guid"]: i for i in self.run_json("show", path)
                   if i["record"] == "identifier"}
        self.assertEqual(set(queried), set(sets))
        for guid, instance_type in sets.items():
            has_instances = bool(instance_type & 2)
            self.assertEqual((queried[guid]["name"], queried[guid]["size"]),
                             ("*", 48) if has_instances else (None, 40))
        self.assertEqual(sorted(i["index"] for i in queried.values()),
                         list(range(len(sets))))


if __name__ == "__main__":
    unittest.main()
