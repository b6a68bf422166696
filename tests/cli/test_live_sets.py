# SPDX-License-Identifier: MIT
"""The countersets that Linux has for programs which ask for those of Windows,
compared with /proc and with the tools of the system.

The environment variable PERFBLOCK is the path of the program.
"""

import os
import socket
import subprocess
import sys
import unittest

from live_samples import CountCase

TICK = 10**7 // os.sysconf("SC_CLK_TCK")  # in units of 100 ns
TOTAL = (0xFFFFFFFE, "_Total")


def read_text(path):
    """The text of a file."""
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


@unittest.skipUnless(sys.platform == "linux", "needs the live source of Linux")
class Processors(CountCase):
    """The counterset Processor against /proc/stat."""

    @staticmethod
    def read():
        """{CPU: its times} of /proc/stat, in ticks."""
        lines = [line.split() for line in read_text("/proc/stat").splitlines()
                 if line.startswith("cpu") and line[3] != " "]
        return {int(words[0][3:]): [int(word) for word in words[1:8]]
                for words in lines}

    @staticmethod
    def counts(times):
        """{counter id: time in units of 100 ns}."""
        user, nice, system, idle, iowait, irq, softirq = times
        ticks = {0: idle + iowait, 1: user + nice, 2: system + irq + softirq,
                 4: softirq, 5: irq, 8: idle + iowait}
        return {counter: count * TICK for counter, count in ticks.items()}

    def test_times(self):
        """The times of each processor are those of its line, and the total is
        their mean."""
        low, high = self.record_between(self.read, "--set", "Processor",
                                        seconds=0.3)
        values = self.samples()[0][1]
        self.assertEqual(list(values), [*((cpu, str(cpu)) for cpu in low),
                                        TOTAL])
        for cpu in low:
            self.expect_counts(self.counts, (low[cpu], high[cpu]),
                               values[cpu, str(cpu)], {})
        total = values.pop(TOTAL)
        for counter in self.counts([0] * 7):
            self.assertEqual(total[counter], sum(
                counters[counter] for counters in values.values())
                // len(values))


@unittest.skipUnless(sys.platform == "linux", "needs the live source of Linux")
class FileSystems(CountCase):
    """The counterset LogicalDisk against df and /proc/diskstats."""

    NEAR = 256  # MiB that may be written between a reading and a sample

    @staticmethod
    def mounts():
        """{mount point: (MiB, available MiB)} as df prints them."""
        done = subprocess.run(["df", "-P", "-k"], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True,
                              check=False)
        lines = [line.split(None, 5) for line in done.stdout.splitlines()[1:]]
        return {words[5]: (int(words[1]) // 1024, int(words[3]) // 1024)
                for words in lines if words[1].isdigit()}

    @staticmethod
    def devices():
        """{instance id: numbers} of /proc/diskstats."""
        lines = [line.split() for line in
                 read_text("/proc/diskstats").splitlines()
                 ] if os.path.exists("/proc/diskstats") else []
        return {int(words[0]) << 20 | int(words[1]):
                [int(word) for word in words[3:]] for words in lines}

    @staticmethod
    def counts(numbers):
        """{counter id: count} that only grows."""
        reads, writes = numbers[0], numbers[4]
        return {14: reads + writes, 15: reads, 16: writes,
                18: numbers[2] * 512, 19: numbers[6] * 512}

    def test_space_and_statistics(self):
        """The space is that of df, and the statistics of a file system with
        a device number are those of its device."""
        if not self.offered("LogicalDisk"):
            self.skipTest("this machine has no file system on a disk")
        sizes = self.mounts()
        low, high = self.record_between(self.devices, "--set", "LogicalDisk",
                                        seconds=0.3)
        values = self.samples()[0][1]
        total = values.pop(TOTAL)
        self.assertTrue(values)
        for (number, name), counters in values.items():
            if name in sizes and 24 in counters:
                size, free = sizes[name]
                self.assertEqual(counters[25], size, name)
                self.assertAlmostEqual(counters[24], free, delta=self.NEAR)
                self.assertEqual(counters[26], counters[24])
            if number in low and 14 in counters:
                self.expect_counts(self.counts, (low[number], high[number]),
                                   counters, {n: 2**32 for n in (14, 15, 16)})
        for counter, value in total.items():
            if counter in (14, 15, 16, 24, 25, 26):
                self.assertEqual(value, sum(
                    counters[counter] for counters in values.values()) % 2**32)


@unittest.skipUnless(sys.platform == "linux", "needs the live source of Linux")
class Protocols(CountCase):
    """The countersets TCPv4, UDPv4 and UDPv6 against /proc/net/snmp and
    snmp6."""

    TCP = {1: "CurrEstab", 2: "ActiveOpens", 3: "PassiveOpens",
           4: "AttemptFails", 5: "EstabResets", 6: "InSegs", 7: "OutSegs",
           8: "RetransSegs"}
    UDP = {1: "InDatagrams", 2: "NoPorts", 3: "InErrors", 4: "OutDatagrams"}

    @staticmethod
    def read():
        """{row: {name: number}} of both files."""
        lines = read_text("/proc/net/snmp").splitlines()
        rows = {titles.split(":")[0]: dict(zip(
            titles.split()[1:], map(int, numbers.split()[1:])))
                for titles, numbers in zip(lines[::2], lines[1::2])}
        if os.path.exists("/proc/net/snmp6"):
            words = read_text("/proc/net/snmp6").split()
            rows["Udp6"] = {name[4:]: int(number) for name, number
                            in zip(words[::2], words[1::2])
                            if name.startswith("Udp6")}
        return rows

    def counts_of(self, names, sums):
        """A function from a row to {counter id: count}."""
        def counts(row):
            found = {counter: row[name] for counter, name in names.items()}
            found[0] = sum(row[name] for name in sums)
            if names is self.TCP:
                del found[1]  # connections at this moment
            return found
        return counts

    def test_counts(self):
        """Connections of this test to itself, and datagrams, are counted."""
        rows = {"TCPv4": ("Tcp", self.counts_of(
            self.TCP, ("InSegs", "OutSegs"))),
                "UDPv4": ("Udp", self.counts_of(
                    self.UDP, ("InDatagrams", "OutDatagrams")))}
        if "Udp6" in self.read():
            rows["UDPv6"] = "Udp6", rows["UDPv4"][1]
        sets = [word for name in rows for word in ("--set", name)]
        with socket.create_server(("127.0.0.1", 0)) as server, \
                socket.create_connection(server.getsockname()), \
                socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            sender.sendto(b"x", server.getsockname())  # there is no receiver
            low, high = self.record_between(self.read, *sets, seconds=1)
        item = self.run_json("show", self.capture)
        queries = [line["query"] for line in item if line["record"] == "value"]
        self.assertEqual(sorted(set(queries)), list(range(len(rows))))
        for query, (row, counts) in enumerate(rows.values()):
            values = {line["counter"]: line["raw"] for line in item
                      if line["record"] == "value" and line["query"] == query}
            self.expect_counts(counts, (low[row], high[row]), values,
                               {n: 2**32 for n in range(9)})
            if row == "Tcp":
                self.assertGreaterEqual(values[1], 2)


@unittest.skipUnless(sys.platform == "linux", "needs the live source of Linux")
class Swap(CountCase):
    """The counterset Paging File against /proc/swaps."""

    def test_swap(self):
        """Each area has the size of its line in pages."""
        if not os.path.exists("/proc/swaps"):
            self.assertEqual(self.offered("Paging File"), {})
            return
        low, high = self.record_between(self.read, "--set", "Paging File",
                                        seconds=0.3)
        values = self.samples()[0][1]
        self.assertEqual([name for _, name in values],
                         [*low, "_Total"] if low else [])
        sizes = [sum(column) for column in zip((0, 0), *low.values())]
        for (_, name), counters in values.items():
            size, used = low.get(name, sizes)
            self.assertEqual(counters[1], size)
            if low == high:
                self.assertEqual(counters[0], used)

    @staticmethod
    def read():
        """{path: (size, used)} in pages."""
        page = os.sysconf("SC_PAGE_SIZE")
        lines = [line.split() for line in
                 read_text("/proc/swaps").splitlines()[1:]]
        return {words[0]: (int(words[2]) * 1024 // page,
                           int(words[3]) * 1024 // page) for words in lines}


if __name__ == "__main__":
    unittest.main()
