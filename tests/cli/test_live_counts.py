# SPDX-License-Identifier: MIT
"""Disks and network interfaces against the kernel's files: every count exactly,
and what is displayed of them.

Environment: PERFBLOCK, the program.
"""

import os
import re
import socket
import sys
import unittest
from fractions import Fraction

from live_samples import LiveCase, rate

PACKETS, BYTES = 50, 1000
MEBIBYTE = 1 << 20


# ---- The kernel's side ------------------------------------------------------


def interfaces_of(text):
    """Numbers of each line of /proc/net/dev by interface."""
    return {name.strip(): [int(word) for word in numbers.split()]
            for name, _, numbers in (line.rpartition(":")
                                     for line in text.splitlines()[2:])}


def disks_of(text, is_disk):
    """Numbers of each line of /proc/diskstats by disk."""
    lines = [line.split() for line in text.splitlines()]
    names = [words[2] for words in lines]
    return {words[2]: [int(word) for word in words[3:]]
            for words in lines if is_disk(words[2], names)}


def is_listed(name, _):
    """Whether /sys lists this as a disk."""
    return os.path.isdir("/sys/block/" + name.replace("/", "!"))


def is_no_partition(name, names):
    """The same by names alone: none of them makes this its partition."""
    return not any(re.fullmatch(
        re.escape(disk) + ("p" if disk[-1].isdigit() else "") + r"\d+", name)
                   for disk in names)


def read_text(path):
    """The whole file."""
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def lies_on_a_disk(path):
    """Whether the kernel counts what is written there as a disk's."""
    device = os.stat(path).st_dev
    number = [str(os.major(device)), str(os.minor(device))]
    return any(line.split()[:2] == number
               for line in read_text("/proc/diskstats").splitlines())


# ---- Network ----------------------------------------------------------------


def send_to_ourselves():
    """Traffic over the loopback interface."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver, \
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        receiver.bind(("127.0.0.1", 0))
        receiver.settimeout(10)
        for _ in range(PACKETS):
            sender.sendto(b"x" * BYTES, receiver.getsockname())
            receiver.recv(2 * BYTES)


@unittest.skipUnless(sys.platform == "linux", "the live source of Linux")
class Network(LiveCase):
    """Network Interface against /proc/net/dev."""

    @staticmethod
    def read():
        """The loopback interface's numbers."""
        return interfaces_of(read_text("/proc/net/dev"))["lo"]

    def sample(self):
        """One sample, and the kernel's numbers of that moment."""
        return self.record_between(self.read, "--set", "Network Interface")

    def expect_raw(self, numbers, values):
        """The raw values are the kernel's."""
        received, packets, errors, dropped = numbers[:4]
        sent, packets_sent, errors_sent, dropped_sent = numbers[8:12]
        self.assertEqual({key: value for key, value in values.items()
                          if key != 4}, {
            0: received + sent, 1: packets + packets_sent, 2: packets,
            3: packets_sent, 5: received, 6: dropped, 7: errors, 8: sent,
            9: dropped_sent, 10: errors_sent})

    def test_loopback(self):
        first = self.sample()
        send_to_ourselves()
        second = self.sample()
        older, newer = self.samples()
        for numbers, (_, values) in ((first, older), (second, newer)):
            self.expect_raw(numbers, next(
                counters for (_, name), counters in values.items()
                if name == "lo"))
        received, packets = (b - a for a, b in zip(first[:2], second[:2]))
        sent, packets_sent = (b - a for a, b in zip(first[8:10], second[8:10]))
        self.assertGreaterEqual(packets, PACKETS)
        self.assertGreaterEqual(received, PACKETS * BYTES)
        shown = self.displayed("Network Interface", "lo")
        for name, difference in (
                ("Bytes Received/sec", received), ("Bytes Sent/sec", sent),
                ("Bytes Total/sec", received + sent),
                ("Packets Received/sec", packets),
                ("Packets Sent/sec", packets_sent),
                ("Packets/sec", packets + packets_sent)):
            self.assertEqual(shown[name], rate(difference, older, newer), name)
        self.assertEqual(shown["Packets Received Errors"], ("ok", second[2]))

    def test_every_interface_is_there(self):
        def read():
            return list(interfaces_of(read_text("/proc/net/dev")))
        names = self.record_between(read, "--set", "Network Interface")
        self.assertEqual([name for _, name in self.samples()[0][1]], names)


# ---- Disks --------------------------------------------------------------------


@unittest.skipUnless(sys.platform == "linux", "the live source of Linux")
class Disks(LiveCase):
    """PhysicalDisk against /proc/diskstats."""

    @staticmethod
    def read():
        """The numbers of all disks; none where the file is missing."""
        if not os.path.exists("/proc/diskstats"):
            return {}
        return disks_of(read_text("/proc/diskstats"),
                        is_listed if os.path.isdir("/sys/block")
                        else is_no_partition)

    def sample(self):
        """One sample, and the kernel's numbers of that moment."""
        return self.record_between(self.read, "--set", "PhysicalDisk")

    def write(self):
        """Have something written to wherever the scratch folder lies."""
        with open(os.path.join(self.folder, "data"), "wb") as file:
            file.write(os.urandom(MEBIBYTE))
            file.flush()
            os.fsync(file.fileno())

    def expect_raw(self, numbers, values, clocks):
        """The raw values are the kernel's."""
        reads, _, sectors, reading = numbers[:4]
        writes, _, sectors_written, writing, queue = numbers[4:9]
        ticks = clocks["perf_freq"] // 1000
        expected = {
            0: queue, 1: (reading + writing) * 10000, 4: reading * 10000,
            6: writing * 10000, 8: (reading + writing) * ticks % 2**32,
            9: reading * ticks % 2**32, 10: writing * ticks % 2**32,
            11: reads + writes, 12: reads, 13: writes,
            17: (sectors + sectors_written) * 512, 18: sectors * 512,
            19: sectors_written * 512}
        expected.update({3: expected[1], 5: expected[4], 7: expected[6],
                         14: expected[11], 15: reads, 16: writes,
                         20: expected[17], 21: expected[18],
                         22: expected[19]})
        for counter, value in expected.items():
            self.assertEqual(values[counter], value, counter)
        self.assertEqual((values[23] + numbers[9] * 10000 - values[2])
                         % (10000 << 32), 0, "idle and busy are all the time")

    def expect_displayed(self, name, first, second, samples):
        """What is displayed of a disk are the kernel's differences."""
        reads, _, sectors, _, writes, _, written, writing = (
            b - a for a, b in zip(first[:8], second[:8]))
        shown = self.displayed("PhysicalDisk", name)
        for counter, difference in (
                ("Disk Reads/sec", reads), ("Disk Writes/sec", writes),
                ("Disk Transfers/sec", reads + writes),
                ("Disk Read Bytes/sec", 512 * sectors),
                ("Disk Write Bytes/sec", 512 * written),
                ("Disk Bytes/sec", 512 * (sectors + written))):
            self.assertEqual(shown[counter], rate(difference, *samples),
                             (name, counter))
        if writes == 0:
            self.assertEqual(shown["Avg. Disk Bytes/Write"],
                             ("zero_denominator", None))
            return
        self.assertEqual(shown["Avg. Disk Bytes/Write"],
                         ("ok", float(Fraction(512 * written, writes))))
        seconds = ("ok", float(Fraction(writing, 1000 * writes)))
        ticks = samples[0][0]["perf_freq"] // 1000
        if first[7] * ticks >> 32 == second[7] * ticks >> 32:
            self.assertEqual(shown["Avg. Disk sec/Write"], seconds)

    def test_every_disk(self):
        if not self.read():
            self.assertEqual(self.offered("PhysicalDisk"), {})
            return
        first = self.sample()
        self.write()
        second = self.sample()
        samples = self.samples()
        self.assertEqual(list(first), list(second), "the same disks")
        for numbers, (clocks, values) in zip((first, second), samples):
            by_name = {name: counters for (_, name), counters
                       in values.items() if name != "_Total"}
            self.assertEqual(list(by_name), list(numbers))
            for name, counters in by_name.items():
                self.expect_raw(numbers[name], counters, clocks)
        for name in first:
            self.expect_displayed(name, first[name], second[name], samples)
        grown = max(second[name][6] - first[name][6] for name in first)
        if lies_on_a_disk(self.folder):
            self.assertGreaterEqual(grown * 512, MEBIBYTE)

    def test_total(self):
        """The total is of the disks that hardware has."""
        devices = [name for name in self.read() if os.path.exists(
            f"/sys/block/{name.replace('/', '!')}/device")]
        if not self.read():
            return
        numbers = self.sample()
        values = {name: counters for (_, name), counters
                  in self.samples()[0][1].items()}
        self.assertEqual("_Total" in values, bool(devices))
        for counter, fields in ((0, (8,)), (15, (0,)), (14, (0, 4))):
            if not devices:
                continue
            self.assertEqual(
                values["_Total"][counter],
                sum(numbers[name][field] for name in devices
                    for field in fields), counter)


class Texts(unittest.TestCase):
    """The readers of this side."""

    def test_interfaces(self):
        text = "Inter-|\n face |\n  lo: 1 2 3\neth0:4 5\n"
        self.assertEqual(interfaces_of(text),
                         {"lo": [1, 2, 3], "eth0": [4, 5]})

    def test_disks(self):
        names = ["sda", "sda1", "sdaa", "loop1", "loop10", "loop1p2"]
        text = "".join(f"  8  0 {name} 1 2\n" for name in names)
        self.assertEqual(disks_of(text, is_no_partition), {
            "sda": [1, 2], "sdaa": [1, 2], "loop1": [1, 2],
            "loop10": [1, 2]})


if __name__ == "__main__":
    unittest.main()
