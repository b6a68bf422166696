# SPDX-License-Identifier: MIT
"""Disks and network interfaces, compared with /proc: every count, which must
lie between two readings, and the displayed values.

The environment variable PERFBLOCK is the path of the program.
"""

import os
import re
import socket
import sys
import unittest

from live_samples import CountCase, elapsed, is_between, quotient, rate

PACKETS, BYTES = 50, 1000
MEBIBYTE = 1 << 20


# ---- The kernel's values ----------------------------------------------------


def interfaces_of(text):
    """{interface: numbers} of /proc/net/dev."""
    return {name.strip(): [int(word) for word in numbers.split()]
            for name, _, numbers in (line.rpartition(":")
                                     for line in text.splitlines()[2:])}


def disks_of(text, is_disk):
    """{disk: numbers} of /proc/diskstats. is_disk(name, all names) says which
    lines are disks, and not partitions."""
    lines = [line.split() for line in text.splitlines()]
    names = [words[2] for words in lines]
    return {words[2]: [int(word) for word in words[3:]]
            for words in lines if is_disk(words[2], names)}


def is_listed(name, _):
    """Whether /sys lists this as a disk."""
    return os.path.isdir("/sys/block/" + name.replace("/", "!"))


def is_no_partition(name, names):
    """Whether the name is not that of a partition of a disk in `names`."""
    return not any(re.fullmatch(
        re.escape(disk) + ("p" if disk[-1].isdigit() else "") + r"\d+", name)
                   for disk in names)


def read_text(path):
    """The text of a file."""
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def lies_on_a_disk(path):
    """Whether the kernel counts writes to this path as those of a disk."""
    device = os.stat(path).st_dev
    number = [str(os.major(device)), str(os.minor(device))]
    return any(line.split()[:2] == number
               for line in read_text("/proc/diskstats").splitlines())


# ---- Network ----------------------------------------------------------------


def send_to_ourselves():
    """Sends PACKETS packets over the loopback interface."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver, \
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        receiver.bind(("127.0.0.1", 0))
        receiver.settimeout(10)
        for _ in range(PACKETS):
            sender.sendto(b"x" * BYTES, receiver.getsockname())
            receiver.recv(2 * BYTES)


def counts_of_interface(numbers):
    """{counter: count} from the numbers of an interface. Counter 4, the
    bandwidth, is not among them."""
    received, packets, errors, dropped = numbers[:4]
    sent, packets_sent, errors_sent, dropped_sent = numbers[8:12]
    return {0: received + sent, 1: packets + packets_sent, 2: packets,
            3: packets_sent, 5: received, 6: dropped, 7: errors, 8: sent,
            9: dropped_sent, 10: errors_sent}


INTERFACE_RATES = {0: "Bytes Total/sec", 1: "Packets/sec",
                   2: "Packets Received/sec", 3: "Packets Sent/sec",
                   5: "Bytes Received/sec", 8: "Bytes Sent/sec"}


@unittest.skipUnless(sys.platform == "linux", "needs the live source of Linux")
class Network(CountCase):
    """The counterset Network Interface against /proc/net/dev."""

    @staticmethod
    def read():
        """The numbers of the loopback interface."""
        return interfaces_of(read_text("/proc/net/dev"))["lo"]

    def sample(self):
        """Records one sample; returns the kernel's numbers before and after it.
        """
        return self.record_between(self.read, "--set", "Network Interface")

    def test_loopback(self):
        """Packets sent to this machine appear in the counts and rates of the
        loopback interface."""
        first = self.sample()
        send_to_ourselves()
        second = self.sample()
        samples = [(item, next(values for (_, name), values in found.items()
                               if name == "lo"))
                   for item, found in self.samples()]
        for readings, (_, values) in zip((first, second), samples):
            self.expect_counts(counts_of_interface, readings, values, {})
        self.assertGreater(self.exact, 0)
        grown = {counter: samples[1][1][counter] - samples[0][1][counter]
                 for counter in INTERFACE_RATES}
        for counter in (2, 3):
            self.assertGreaterEqual(grown[counter], PACKETS)
        for counter in (5, 8):
            self.assertGreaterEqual(grown[counter], PACKETS * BYTES)
        shown = self.displayed("Network Interface", "lo")
        for counter, name in INTERFACE_RATES.items():
            self.assertEqual(shown[name], rate(grown[counter], *samples), name)
        self.assertEqual(shown["Packets Received Errors"],
                         ("ok", samples[1][1][7]))

    def test_every_interface_is_there(self):
        """The instances are the interfaces of /proc/net/dev, in the same
        order."""
        def read():
            return list(interfaces_of(read_text("/proc/net/dev")))
        names = self.record_still(read, "--set", "Network Interface")
        self.assertEqual([name for _, name in self.samples()[0][1]], names)


# ---- Disks --------------------------------------------------------------------


TICKS_PER_MS = 10**4  # of the performance clock
BUSY_WRAP = TICKS_PER_MS << 32  # the kernel counts busy time modulo 2^32 ms
# (counter of time, counter of queue length) of all transfers, of reads and of
# writes.
SPENT = ((1, 3), (4, 5), (6, 7))
DISK_SIZES = {counter: 2**32 for counter in (0, *range(8, 17))}


def counts_of_disk(numbers):
    """{counter: count} from the numbers of a disk. Counters 0, 2 and 23, the
    current queue length, the clock and idle time, are not among them."""
    reads, _, sectors, reading = numbers[:4]
    writes, _, written, writing = numbers[4:8]
    counts = {11: reads + writes, 12: reads, 13: writes,
              17: (sectors + written) * 512, 18: sectors * 512,
              19: written * 512}
    # 14 to 16 have the same counts as 11 to 13, and 20 to 22 as 17 to 19.
    counts.update({counter + 3: counts[counter] for counter in list(counts)})
    for n, (time_id, queue_id) in enumerate(SPENT):
        milliseconds = (reading + writing, reading, writing)[n]
        counts[time_id] = counts[queue_id] = milliseconds * 10**4
        counts[8 + n] = milliseconds * TICKS_PER_MS
    return counts


@unittest.skipUnless(sys.platform == "linux", "needs the live source of Linux")
class Disks(CountCase):
    """The counterset PhysicalDisk against /proc/diskstats."""

    @staticmethod
    def read():
        """The numbers of all disks; empty if the file does not exist."""
        if not os.path.exists("/proc/diskstats"):
            return {}
        return disks_of(read_text("/proc/diskstats"),
                        is_listed if os.path.isdir("/sys/block")
                        else is_no_partition)

    def sample(self):
        """Records one sample; returns the kernel's numbers before and after it.
        """
        before, after = self.record_between(self.read, "--set",
                                            "PhysicalDisk")
        self.assertEqual(list(before), list(after), "the same disks")
        return before, after

    def write(self):
        """Writes a MiB to the disk of the temporary folder."""
        with open(os.path.join(self.folder, "data"), "wb") as file:
            file.write(os.urandom(MEBIBYTE))
            file.flush()
            os.fsync(file.fileno())

    def expect_raw(self, readings, values):
        """Asserts that the raw values are those of the kernel. The current
        queue length may fall, so it is compared only if both readings are
        equal."""
        self.expect_counts(counts_of_disk, readings, values, DISK_SIZES)
        low, high = readings
        if low == high:
            self.assertEqual(values[0], low[8], "transfers in progress")
        self.assertTrue(
            is_between(low[9] * 10**4, (values[2] - values[23]) % BUSY_WRAP,
                       high[9] * 10**4, BUSY_WRAP),
            "idle and busy time add up to the clock")

    def expect_displayed(self, name, samples):
        """Asserts that the displayed values of a disk are those computed from
        the differences of its raw values."""
        older, newer = (values for _, values in samples)
        grown = {counter: (newer[counter] - older[counter])
                 % DISK_SIZES.get(counter, 2**64) for counter in newer}
        span = elapsed(*samples, "perf_time_100ns")
        expected = {"Current Disk Queue Length": ("ok", newer[0])}
        for n, direction in enumerate(("", "Read ", "Write ")):
            noun = direction[:-1] or "Transfer"
            expected[f"Disk {noun}s/sec"] = rate(grown[14 + n], *samples)
            expected[f"Disk {direction}Bytes/sec"] = rate(grown[17 + n],
                                                          *samples)
            expected[f"Avg. Disk Bytes/{noun}"] = quotient(
                grown[20 + n], grown[11 + n])
            if newer[8 + n] >= older[8 + n]:
                expected[f"Avg. Disk sec/{noun}"] = quotient(
                    grown[8 + n], 1000 * TICKS_PER_MS * grown[11 + n])
            time_id, queue_id = SPENT[n]
            if newer[time_id] >= older[time_id]:
                expected[f"% Disk {direction}Time"] = quotient(
                    100 * grown[time_id], grown[2])
                expected[f"Avg. Disk {direction}Queue Length"] = quotient(
                    grown[queue_id], span)
        if newer[23] >= older[23]:
            expected["% Idle Time"] = quotient(100 * grown[23], grown[2])
        shown = self.displayed("PhysicalDisk", name)
        self.assertEqual({key: shown[key] for key in expected}, expected,
                         name)

    def test_every_disk(self):
        """Raw and displayed values of each disk follow from /proc/diskstats;
        without disks, PhysicalDisk is not offered."""
        if not self.read():
            self.assertEqual(self.offered("PhysicalDisk"), {})
            return
        readings = [self.sample()]
        self.write()
        readings.append(self.sample())
        samples = self.samples()
        names = list(readings[0][0])
        self.assertEqual(names, list(readings[1][0]), "the same disks")
        disks = {name: [] for name in names}
        for (low, high), (clocks, found) in zip(readings, samples):
            self.assertEqual(clocks["perf_freq"], 1000 * TICKS_PER_MS)
            values = {name: counters for (_, name), counters
                      in found.items() if name != "_Total"}
            self.assertEqual(list(values), names)
            for name in names:
                self.expect_raw((low[name], high[name]), values[name])
                disks[name].append((clocks, values[name]))
        if any(any(numbers) for numbers in readings[1][1].values()):
            self.assertGreater(self.exact, 0)
        for name in names:
            self.expect_displayed(name, disks[name])
        if lies_on_a_disk(self.folder):  # otherwise no disk has to change
            self.assertGreaterEqual(
                max(newer[19] - older[19]
                    for (_, older), (_, newer) in disks.values()), MEBIBYTE)

    def test_total(self):
        """_Total sums hardware devices only, not loop devices or the like."""
        disks = self.read()
        if not disks:
            self.skipTest("this machine lists no disks")
        devices = [name for name in disks if os.path.exists(
            f"/sys/block/{name.replace('/', '!')}/device")]
        readings = self.sample()
        values = {name: counters for (_, name), counters
                  in self.samples()[0][1].items()}
        self.assertEqual("_Total" in values, bool(devices))
        if devices:
            self.expect_raw([
                [sum(column) for column in zip(*(
                    numbers[name] for name in devices))]
                for numbers in readings], values["_Total"])


class Texts(unittest.TestCase):
    """The functions that parse and compare."""

    def test_between(self):
        """A count that wraps is compared modulo its size."""
        for low, value, high, good in (
                (5, 5, 5, True), (5, 4, 5, False), (5, 6, 5, False),
                (5, 5, 7, True), (5, 7, 7, True), (5, 8, 7, False),
                (5, 4, 7, False), (255, 0, 1, True), (255, 255, 1, True),
                (255, 2, 1, False), (255, 254, 1, False)):
            self.assertEqual(is_between(low, value, high, 256), good,
                             (low, value, high))

    def test_interfaces(self):
        """Names and numbers may be separated by a colon alone."""
        text = "Inter-|\n face |\n  lo: 1 2 3\neth0:4 5\n"
        self.assertEqual(interfaces_of(text),
                         {"lo": [1, 2, 3], "eth0": [4, 5]})

    def test_disks(self):
        """Partitions are not disks, whatever their names."""
        names = ["sda", "sda1", "sdaa", "loop1", "loop10", "loop1p2"]
        text = "".join(f"  8  0 {name} 1 2\n" for name in names)
        self.assertEqual(disks_of(text, is_no_partition), {
            "sda": [1, 2], "sdaa": [1, 2], "loop1": [1, 2],
            "loop10": [1, 2]})


if __name__ == "__main__":
    unittest.main()
