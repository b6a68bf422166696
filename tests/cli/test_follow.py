# SPDX-License-Identifier: MIT
"""Reading captures that are being written, --follow, and pipes that stay open.
"""

import json
import os
import queue
import signal
import subprocess
import threading
import time
import unittest

import captures
import v1_blocks as v1
from program import (ON_WINDOWS, SECONDS, Case, LiveCase, program,
                     writer as w)

if not ON_WINDOWS:
    import fcntl

HEAD = w.recording(
    captures.metadata(captures.DISK, "Disk", [(1, captures.BULK, "Bytes/sec")]),
    w.chunk(b"QINF", w.identifier(captures.DISK, name="*")))


def sample(number):
    """The DATA chunk of sample `number`; the rate is always 10 per second."""
    return captures.data(number, captures.instances_result(
        [1], [(0, "sda", [1000 + 10 * number])]))


class Recorder:
    """Appends to a file and, if `is_locked`, holds the lock that a recorder
    would hold."""

    def __init__(self, path, is_locked=True):
        self.file = open(path, "ab", buffering=0)
        if is_locked:
            fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def write(self, data):
        """Appends bytes."""
        self.file.write(data)

    def close(self):
        """Closes the file and releases the lock."""
        self.file.close()


class Running:
    """The running program; its output lines can be read one by one."""

    def __init__(self, case, *arguments, stdin=subprocess.DEVNULL):
        self.process = subprocess.Popen(
            [program(), *arguments], stdin=stdin, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE)
        case.addCleanup(self.stop)
        self.lines = queue.Queue()
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self):
        """Runs in a thread: puts the lines of the output into the queue."""
        for line in self.process.stdout:
            self.lines.put(line.decode())

    def line(self):
        """The next line; fails if none is printed within SECONDS."""
        return self.lines.get(timeout=SECONDS)

    def end(self):
        """Waits for the end; returns status, remaining lines and errors."""
        status = self.process.wait(SECONDS)
        self.reader.join()
        errors = self.process.stderr.read().decode()
        rest = []
        while not self.lines.empty():
            rest.append(self.lines.get())
        return status, rest, errors

    def stop(self):
        """Kills the process if it still runs."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.reader.join()
        for stream in (self.process.stdout, self.process.stderr):
            stream.close()


@unittest.skipIf(ON_WINDOWS, "the tests lock files as Linux does")
class Locked(Case):
    """Reading captures that a recorder has locked or may lock."""

    def test_an_incomplete_chunk_is_no_error(self):
        """While a recorder has the file locked, an incomplete chunk is not
        reported."""
        whole = HEAD + sample(0) + sample(1)
        last = sample(2)
        path = self.file("a.pfb", whole)
        recorder = Recorder(path)
        self.addCleanup(recorder.close)
        for at in range(0, len(last), 8):
            for command in ("cook", "show"):
                done = self.run_program(command, "--format", "json", path)
                self.assertEqual((done.status, done.err), (0, ""), at)
                key = "raw" if command == "cook" else "perf_time"
                found = [i for i in done.objects() if i.get(key) is not None
                         and i.get("record") != "value"]
                self.assertEqual(len(found), 2, at)
            done = self.run_program("check", path)
            self.assertEqual((done.status, done.err), (0, ""), at)
            recorder.write(last[at:at + 8])
        self.assertEqual(len(self.run_json("cook", path)), 3)

    def test_without_a_recorder_an_incomplete_chunk_is_an_error(self):
        """Without a lock an incomplete chunk is reported."""
        whole = HEAD + sample(0)
        path = self.file("a.pfb", whole + sample(1)[:-8])
        recorder = Recorder(path)
        self.run_fine("check", path)
        recorder.close()
        for command in ("cook", "show", "check"):
            self.assert_error(self.run_program(command, path), 1, path,
                              len(whole), "truncated_chunk")

    def test_a_file_without_a_complete_first_chunk(self):
        """While the file is locked, its first chunk may be missing or
        incomplete. Without --kind, only cook recognises three bytes."""
        for begin in (b"", HEAD[:3], HEAD[:8], HEAD[:16]):
            path = self.file("a.pfb", begin)
            recorder = Recorder(path)
            for command in ("cook", "show", "check"):
                done = self.run_program(command, "--quiet", "--kind", "capture",
                                        path)
                self.assertEqual((done.status, done.err), (0, ""), begin)
            done = self.run_program("check", path)
            self.assertEqual(done.status, int(len(begin) == 3), done.err)
            done = self.run_program("cook", path)
            self.assertEqual((done.status, done.out, done.err), (0, "", ""))
            recorder.close()

    def test_following_a_file_without_a_complete_first_chunk(self):
        """cook --follow waits for the first chunk."""
        whole = HEAD + sample(0) + sample(1)
        for size in (0, 3, 8, 16):
            path = self.file("a.pfb", whole[:size])
            recorder = Recorder(path)
            running = Running(self, "cook", "--follow", "--format", "json",
                              path)
            time.sleep(0.3)
            self.assertIsNone(running.process.poll())
            recorder.write(whole[size:])
            first = json.loads(running.line())
            recorder.close()
            status, rest, errors = running.end()
            self.assertEqual((status, errors), (0, ""), size)
            self.assertEqual([first["value"]] + [json.loads(line)["value"]
                                                 for line in rest], [None, 10])

    def test_readers_do_not_block_a_recorder(self):
        """A recorder can lock a file while readers check whether it is locked.
        """
        source = self.file("a.pfb", HEAD + sample(0))
        path = source + ".copy"
        self.run_record(source, path, "--set", "*")
        for _ in range(20):
            readers = [Running(self, "check", path) for _ in range(3)]
            done = self.run_record(source, path, "--set", "*")
            self.assertEqual((done.status, done.err), (0, ""))
            for reader in readers:
                self.assertEqual(reader.end()[::2], (0, ""))


@unittest.skipIf(ON_WINDOWS, "the tests lock files as Linux does")
class Follow(Case):
    """cook and show with --follow."""

    def test_samples_come_one_by_one(self):
        """Each sample is printed when its chunk is complete; the end of the
        lock ends the program."""
        path = self.file("a.pfb", HEAD + sample(0))
        for form in ("json", "csv"):
            os.truncate(path, len(HEAD + sample(0)))
            recorder = Recorder(path)
            running = Running(self, "cook", "--follow", "--format", form, path)
            if form == "csv":
                self.assertIn("sample,time", running.line())
            self.assertIn("1000", running.line())
            for number in range(1, 5):
                chunk = sample(number)
                recorder.write(chunk[:21])
                recorder.write(chunk[21:])
                line = running.line()
                if form == "json":
                    item = json.loads(line)
                    self.assertEqual((item["raw"], item["value"]),
                                     (1000 + 10 * number, 10))
                else:
                    self.assertIn(str(1000 + 10 * number), line)
            recorder.close()
            self.assertEqual(running.end(), (0, [], ""))

    def test_pdh_log(self):
        """The columns are those of the first sample."""
        path = self.file("a.pfb", HEAD + sample(0))
        recorder = Recorder(path)
        running = Running(self, "cook", "--follow", "--format", "pdh-csv",
                          path)
        self.assertIn("\\Disk(sda)\\Bytes/sec", running.line())
        self.assertIn('," "', running.line())
        for number in range(1, 3):
            recorder.write(sample(number))
            self.assertIn(',"10"', running.line())
        recorder.close()
        self.assertEqual(running.end(), (0, [], ""))

    def test_text(self):
        """Tables are printed as samples arrive."""
        path = self.file("a.pfb", HEAD)
        recorder = Recorder(path)
        running = Running(self, "cook", "--follow", path)
        for number in range(3):
            recorder.write(sample(number))
            while not running.line().startswith("Bytes"):
                pass
        recorder.close()
        self.assertEqual(running.end()[::2], (0, ""))

    def test_show(self):
        """Chunks and their records are printed as they arrive."""
        path = self.file("a.pfb", HEAD[:16])
        recorder = Recorder(path)
        running = Running(self, "show", "--follow", "--format", "json", path)
        self.assertEqual(json.loads(running.line())["tag"], "PFBC")
        recorder.write(HEAD[16:])
        at = len(HEAD)
        for number in range(3):
            recorder.write(sample(number))
            item = {}
            while item.get("tag") != "DATA":
                item = json.loads(running.line())
            self.assertEqual(item["offset"], at)
            at += len(sample(number))
            while item.get("record") != "value":
                item = json.loads(running.line())
            self.assertEqual(item["raw"], 1000 + 10 * number)
        recorder.close()
        self.assertEqual(running.end(), (0, [], ""))

    def test_a_truncated_chunk_of_a_killed_recorder_is_an_error(self):
        """If the lock ends inside a chunk, the truncation is reported."""
        path = self.file("a.pfb", HEAD + sample(0))
        recorder = Recorder(path)
        running = Running(self, "cook", "--follow", "--format", "json", path)
        running.line()
        recorder.write(sample(1)[:-8])
        recorder.close()
        status, rest, errors = running.end()
        self.assertEqual((status, rest), (1, []))
        self.assertIn("truncated_chunk", errors)

    def test_a_file_without_lock_until_interrupted(self):
        """A file without a lock is followed until SIGINT; the status is then 0.
        """
        path = self.file("a.pfb", HEAD + sample(0))
        other = Recorder(path, is_locked=False)
        running = Running(self, "cook", "--follow", "--format", "json", path)
        for number in range(3):
            self.assertEqual(json.loads(running.line())["raw"],
                             1000 + 10 * number)
            other.write(sample(number + 1))
        running.line()
        other.write(sample(9)[:-8])
        running.process.send_signal(signal.SIGINT)
        self.assertEqual(running.end(), (0, [], ""))
        other.close()

    def test_a_skipped_chunk_that_is_incomplete(self):
        """A chunk of an unknown tag, of which a part is written, is waited
        for: the file was not truncated."""
        unknown = w.chunk(b"XXXX", bytes(300))
        for words in (["cook", "-f", "json"], ["show", "-f", "json"]):
            path = self.file("a.pfb", HEAD + sample(0))
            other = Recorder(path, is_locked=False)
            running = Running(self, *words, "--follow", path)
            running.line()
            for size in (16, 24, len(unknown)):
                other.write(unknown[os.path.getsize(path) - len(
                    HEAD + sample(0)):size])
                time.sleep(0.3)
            other.write(sample(1))
            while "1010" not in running.line():
                pass
            other.close()
            running.process.send_signal(signal.SIGINT)
            self.assertEqual(running.end(), (0, [], ""), words)

    def test_interrupted_before_the_end(self):
        """An interrupt ends it although the file has more, after a whole
        line."""
        count = 20000
        path = self.file("a.pfb", HEAD + b"".join(map(sample, range(count))))
        for words in (["cook", "-f", "json"], ["show", "-f", "json"]):
            with subprocess.Popen([program(), *words, "--follow", path],
                                  stdout=subprocess.PIPE) as child:
                child.stdout.readline()
                child.send_signal(signal.SIGINT)
                time.sleep(0.1)
                found = child.stdout.read()
                self.assertEqual(child.wait(SECONDS), 0)
            self.assertEqual(found[-1:], b"\n")
            self.assertLess(found.count(b"\n"), count - 1000, words)

    def test_blocks_and_text_logs(self):
        """Files of V1 blocks and text logs are followed as well."""
        blocks = [v1.LITTLE.block(v1.plain(v1.LITTLE, n), moment=n + 1)
                  for n in range(3)]
        rows = ['"(PDH-CSV 4.0) (Zone)(0)","\\\\PC\\Memory\\Pages/sec"\r\n'] + [
            '"11/23/2026 04:05:%02d.000","%d"\r\n' % (n, n) for n in range(3)]
        for name, parts in (("a.bin", blocks), (
                "a.csv", [rows[0].encode() + rows[1].encode()] +
                [row.encode() for row in rows[2:]])):
            path = self.file(name, parts[0])
            other = Recorder(path, is_locked=False)
            running = Running(self, "cook", "--follow", "--format", "json",
                              path)
            for number in range(3):
                self.assertEqual(json.loads(running.line())["value"], number)
                if number < 2:
                    other.write(parts[number + 1][:9])
                    other.write(parts[number + 1][9:])
            running.process.send_signal(signal.SIGINT)
            self.assertEqual(running.end(), (0, [], ""))
            other.close()

    def test_a_file_that_is_replaced(self):
        """A file that is truncated, or replaced by another one, is read again
        from its start, with its own columns. A note says so."""
        def log(counter, *numbers):
            return ('"(PDH-CSV 4.0) (Zone)(0)","\\\\PC\\Memory\\%s"\r\n' %
                    counter + "".join(
                        '"11/23/2026 04:05:%02d.000","%d"\r\n' % (n, n)
                        for n in numbers)).encode()
        note = ": note: was truncated or replaced: it is read from its start\n"
        for is_renamed in (False, True) if not ON_WINDOWS else (False,):
            path = self.file("a.csv", log("First", 1, 2, 3) + b'"11/23/20')
            running = Running(self, "cook", "--follow", "--format", "json",
                              path)
            found = [json.loads(running.line()) for _ in range(3)]
            for counter, number in (("Second", 7), ("Third", 8)):
                data = log(counter, number)
                if is_renamed:
                    os.rename(path, path + ".1")
                    time.sleep(0.3)  # there is no file of this name
                with open(path, "wb") as file:
                    time.sleep(0.3)  # it is empty
                    file.write(data[:50])
                    file.flush()
                    time.sleep(0.3)  # its header is incomplete
                    file.write(data[50:])
                found.append(json.loads(running.line()))
            self.assertEqual(
                [(item["counter"], item["value"]) for item in found],
                [("First", 1), ("First", 2), ("First", 3), ("Second", 7),
                 ("Third", 8)])
            running.process.send_signal(signal.SIGINT)
            self.assertEqual(running.end(), (0, [], 2 * (path + note)))

    def test_a_recording_that_is_replaced(self):
        """Its samples are those of another recording of the same machine."""
        path = self.file("a.pfb", HEAD + sample(0) + sample(1))
        for words in (["cook", "-f", "json"], ["show"]):
            self.file("a.pfb", HEAD + sample(0) + sample(1))
            running = Running(self, *words, "--follow", path)
            first = running.line()
            time.sleep(0.5)
            self.file("a.pfb", HEAD + sample(5))
            if words[0] == "cook":
                found = [json.loads(line)["value"] for line in (
                    first, running.line(), running.line())]
                self.assertEqual(found, [None, 10, 10])
            else:
                lines = [first]
                while lines.count(first) < 2:
                    lines.append(running.line())
            running.process.send_signal(signal.SIGINT)
            status, _, errors = running.end()
            self.assertEqual((status, errors.count("note: was truncated")),
                             (0, 1))


class Pipes(Case):
    """Each sample of standard input is printed as soon as it arrives."""

    def test_samples_come_one_by_one(self):
        """Each sample is printed before the next one is written."""
        running = Running(self, "cook", "--format", "json", "-",
                          stdin=subprocess.PIPE)
        pipe = running.process.stdin
        pipe.write(HEAD)
        for number in range(4):
            pipe.write(sample(number))
            pipe.flush()
            self.assertEqual(json.loads(running.line())["raw"],
                             1000 + 10 * number)
        pipe.close()
        self.assertEqual(running.end(), (0, [], ""))

    def test_a_truncated_chunk(self):
        """A pipe that ends inside a chunk is an error."""
        whole = HEAD + sample(0)
        done = self.run_program("cook", "-", stdin=whole + sample(1)[:-8])
        self.assert_error(done, 1, "-", len(whole), "truncated_chunk")

    def test_names_before_blocks(self):
        """Name tables in a pipe apply to the blocks that follow."""
        block = w.chunk(b"V1DT", v1.LITTLE.block(v1.plain(v1.LITTLE, 7)))
        names = w.chunk(b"NAME", bytes(4) + v1.table((1, "20"), (2, "Memory"),
                                                     (20, "Pages")))
        note = w.chunk(b"NOTE", b"n" * 400000)
        found = self.run_json("cook", "-", stdin=w.recording(
            note, names, block, note))
        self.assertEqual([(i["set"], i["counter"]) for i in found],
                         [("Memory", "Pages")])
        # In a file, name tables are found wherever they are.
        path = self.file("a.pfb", w.recording(note, block, note, names))
        found = self.run_json("cook", path)
        self.assertEqual([(i["set"], i["counter"]) for i in found],
                         [("Memory", "Pages")])


@unittest.skipIf(ON_WINDOWS, "Wine has no live source")
class Live(LiveCase):
    """A recorder of this machine."""

    def test_reading_at_any_time(self):
        """check and cook report no error whenever they read a file that is
        being recorded; a follower gets all samples."""
        path = os.path.join(self.folder, "a.pfb")
        recorder = Running(self, "record", "-o", path, "--interval", "0.01",
                           "--count", "150")
        end = time.monotonic() + SECONDS
        while not os.path.exists(path):
            self.assertLess(time.monotonic(), end)
            time.sleep(0.001)
        follower = Running(self, "cook", "--follow", "--format", "csv",
                           "--counter", "% Processor Time", path)
        runs = 0
        while recorder.process.poll() is None:
            for command in ("check", "cook"):
                done = self.run_program(command, "--quiet", path)
                self.assertEqual((done.status, done.err), (0, ""))
            runs += 1
        self.assertEqual(recorder.end()[::2], (0, ""))
        self.assertGreater(runs, 0)
        status, lines, errors = follower.end()
        self.assertEqual((status, errors), (0, ""))
        samples = {line.split(",")[0] for line in lines[1:]}
        self.assertEqual(len(samples), 150)


if __name__ == "__main__":
    unittest.main()
