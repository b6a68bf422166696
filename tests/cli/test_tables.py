# SPDX-License-Identifier: MIT
"""Tables of displayed values: their rows, the order of the rows, and their
width."""

import re
import unicodedata
import unittest

from captures import (BULK, DISK, LARGE_RAW, MEMORY, NETWORK, data,
                      instances_result, metadata, single_result)
import v1_blocks
from program import Case, writer as w

# (instance, two rates, an amount) of the counters Reads, Writes and Queue.
DISKS = (("sda", 5, 300, 10), ("sdb", 0, 100, 40), ("sdc", 7, 300, 20),
         ("sdd", 6, 0, 30), ("_Total", 18, 700, 100))


def columns_of(line):
    """The number of columns that a line takes on a terminal."""
    return sum(0 if unicodedata.combining(c) else
               2 if unicodedata.east_asian_width(c) in "WF" else 1
               for c in line)


def first_words(lines):
    """The first word of each line that is not empty."""
    return [line.split()[0] for line in lines if line]


class Sorted(Case):
    """--sort and --top."""

    def test_a_name_with_a_nul(self):
        """A name of a log that begins like the name of --sort, and continues
        after a NUL, is another name."""
        path = self.file("a.csv", b'"(PDH-CSV 4.0)","\\\\M\\S\\A\0' + b"b" * 4000 +
                         b'"\r\n"01/02/2013 00:00:00.000","1"\r\n')
        done = self.run_program("cook", "--sort", "A", path)
        self.assertEqual(done.status, 2, done.err)

    def setUp(self):
        super().setUp()
        self.path = self.file("a.pfb", w.recording(
            metadata(DISK, "Alpha Disk", [
                (1, BULK, "Reads/sec"), (2, BULK, "Writes/sec"),
                (3, LARGE_RAW, "Queue")]),
            metadata(NETWORK, "Beta Network", [(1, BULK, "Packets/sec")]),
            metadata(MEMORY, "Memory", [(1, LARGE_RAW, "Pages")],
                     instance_type=0),
            w.chunk(b"QINF", w.identifier(DISK, name="*", index=0) +
                    w.identifier(NETWORK, name="*", index=1) +
                    w.identifier(MEMORY, index=2)),
            *(data(n, instances_result([1, 2, 3], [
                (i, name, [reads * n, writes * n, queue])
                for i, (name, reads, writes, queue) in enumerate(DISKS)
                if n > 0 or name != "sdd"]),
                instances_result([1], [(0, "eth0", [n]), (1, "lo", [2 * n])]),
                single_result([1], [5])) for n in range(2))))

    def tables(self, *arguments):
        """{counterset: names of the rows} of the tables of sample 1. cook and
        live must print the same."""
        by_command = []
        for done in (self.run_fine("cook", self.path, *arguments, columns=100),
                     self.run_live(self.path, "--set", "*", *arguments,
                                   columns=100)):
            tables = [part.split("\n") for part in done.out.split("\n\n")]
            by_command.append({
                lines[0].split(",")[0]: first_words(
                    line for line in lines[2:] if line[0] != " ")
                for lines in tables if ", sample 1, " in lines[0]})
        self.assertEqual(*by_command)
        return by_command[0]

    def test_order(self):
        """--sort orders the rows of a table by a counter; --top keeps the
        first of the sorted rows."""
        usual = ["sda", "sdb", "sdc", "sdd", "_Total"]
        network = ["eth0", "lo"]
        for arguments, disks, interfaces in (
                ([], usual, network),
                # sdd has no rate yet; equal values keep their order.
                (["--sort", "Reads/sec"],
                 ["_Total", "sdc", "sda", "sdb", "sdd"], network),
                (["--sort", "wRITES/SEC"],
                 ["_Total", "sda", "sdc", "sdb", "sdd"], network),
                (["--sort", "Queue"],
                 ["_Total", "sdb", "sdd", "sdc", "sda"], network),
                (["--sort", "Packets/sec"], usual, ["lo", "eth0"]),
                (["--top", "3"], ["_Total", "sdc", "sda"], ["lo", "eth0"]),
                (["--top", "1", "--sort", "Queue"], ["Reads/sec",
                 "Writes/sec", "Queue"], ["Packets/sec"]),
                (["--top", "99", "--sort", "Queue"],
                 ["_Total", "sdb", "sdd", "sdc", "sda"], ["lo", "eth0"]),
                (["--nonzero", "--top", "2", "--sort", "Packets/sec"],
                 ["_Total", "sdc"], ["lo", "eth0"])):
            tables = self.tables(*arguments)
            self.assertEqual(tables["Alpha Disk"], disks, arguments)
            self.assertEqual(tables["Beta Network"], interfaces, arguments)
            self.assertEqual(tables["Memory"], ["Pages"], arguments)

    def test_cells_stay_in_their_row(self):
        """Sorting moves whole rows."""
        lines = self.run_fine("cook", self.path, "--sort", "Reads/sec",
                              "--set", "Alpha Disk").lines()
        shown = [line.split() for line in lines
                 if line.split()[:1] and line.split()[0] in
                 [disk[0] for disk in DISKS]][-5:]
        values = {name: ["%d.00" % reads, "%d.00" % writes, str(queue)]
                  for name, reads, writes, queue in DISKS}
        values["sdd"][:2] = ["new", "new"]
        self.assertEqual(shown, [[name, *values[name]] for name in (
            "_Total", "sdc", "sda", "sdb", "sdd")])

    def test_logs(self):
        """The rows of a log are paths. Those of the counter to sort by come
        first."""
        path = self.file("log.csv", (
            '"(PDH-CSV 4.0) (UTC)(0)",' + ",".join(
                '"\\\\PC\\%s"' % name for name in (
                    "A(x)\\n", "A(x)\\m", "A(y)\\n", "A(z)\\n")) +
            '\n"01/01/2026 00:00:00.000","1","9","3"," "\n').encode())
        for arguments, order in (
                ([], "A(x)\\n A(x)\\m A(y)\\n A(z)\\n"),
                (["--sort", "N"], "A(y)\\n A(x)\\n A(x)\\m A(z)\\n"),
                (["--sort", "m", "--top", "2"], "A(x)\\m A(x)\\n"),
                (["--top", "1"], "A(y)\\n")):
            lines = self.run_fine("cook", path, *arguments).lines()
            self.assertEqual(
                first_words(line for line in lines if line[:1] == "\\"),
                ["\\\\PC\\" + name for name in order.split()], arguments)

    def test_wrong_names(self):
        """A counter that nothing has is refused, with a suggestion if a name is
        similar."""
        def cook(name):
            return self.run_program("cook", self.path, "--sort", name)

        def live(name):
            return self.run_live(self.path, "--set", "*", "--sort", name)
        for run, subject in ((cook, "perfblock"), (live, "live")):
            done = run("Raeds/sec")
            self.assertEqual((done.status, done.err), (
                2, "%s: no counter Raeds/sec to sort by; did you mean "
                "Reads/sec?\n" % subject))
            done = run("Nonsense")
            self.assertEqual((done.status, done.err), (
                2, "%s: no counter Nonsense to sort by\n" % subject))
        self.assertEqual(done.out, "")  # refused before any sample is shown

    def test_usage(self):
        """The options are refused with other formats and with wrong values."""
        for arguments in (["--sort", "Queue", "-f", "json"],
                          ["--top", "1", "-f", "csv"],
                          ["--top", "0"], ["--top", "x"], ["--sort", ""]):
            for command in (["cook", self.path], ["live"]):
                done = self.run_program(*command, *arguments)
                self.assertEqual((done.status, done.out), (2, ""), arguments)


class NewInstanceAtTop(Case):
    """An instance is marked as new if some other instance of its sample is in
    the previous sample, even if --top hides that other instance."""

    def test_other_instances_are_omitted(self):
        path = self.file("b.pfb", w.recording(
            metadata(DISK, "Disk", [(1, BULK, "Reads/sec"),
                                    (2, LARGE_RAW, "Queue")]),
            w.chunk(b"QINF", w.identifier(DISK, name="*")),
            *(data(n, instances_result([1, 2], [
                (0, "a", [1, 5]), (n, "b", [1, 9])])) for n in (1, 2))))
        lines = self.run_fine("cook", path, "--top", "1", "--sort",
                              "Queue").lines()
        self.assertEqual([line.split() for line in lines[-5:]], [
            ["b"], ["Reads/sec", "new"], ["Queue", "9"],
            ["new", "not", "in", "the", "previous", "sample"], []])


class New(Case):
    """Instances that are not in the previous sample have "new" for a rate."""

    def cook(self, *samples):
        """The lines of each sample's table, without the title. `samples` are
        lists of (id, name, count)."""
        path = self.file("a.pfb", w.recording(
            metadata(DISK, "Disk", [(1, BULK, "Reads/sec")]),
            w.chunk(b"QINF", w.identifier(DISK, name="*")),
            *(data(n, instances_result([1], [
                (number, name, [value]) for number, name, value in rows]))
              for n, rows in enumerate(samples))))
        return [part.split("\n")[1:] for part in self.run_program(
            "cook", path).out.split("\n\n")[:-1]]

    def test_new(self):
        """An instance without an older sample is marked, and explained below
        the table."""
        first, second = self.cook([(0, "a", 1), (1, "b", 1)],
                                  [(0, "a", 3), (2, "c", 9)])
        self.assertEqual([line.split() for line in first], [
            ["Reads/sec"], ["a", "-"], ["b", "-"],
            ["-", "need_two_samples"]])
        self.assertEqual([line.split() for line in second], [
            ["Reads/sec"], ["a", "2.00"], ["c", "new"],
            ["new", "not", "in", "the", "previous", "sample"]])

    def test_nothing_to_compare_with(self):
        """If none of the instances is in the previous sample, none is marked
        as new."""
        _, second = self.cook([(0, "a", 1)], [(1, "b", 1)])
        self.assertEqual([line.split() for line in second], [
            ["b"], ["Reads/sec", "-"], ["-", "need_two_samples"]])


class Widths(Case):
    """No line is wider than the terminal."""

    NAMES = ("sda", "\u78c1\u76e4\u6a5f" * 12, "x" * 150, "e\u0301" * 30,
             "\U0001F600" * 20, "a b")
    COUNTERS = ("Reads/sec", "\u8b80\u53d6\u4f4d\u5143\u7d44" * 6,
                "Supercalifragilisticexpialidocious/sec" * 2, "Queue")

    def test_widths(self):
        """Names of wide and combining characters are cut so that lines fit."""
        path = self.file("a.pfb", w.recording(
            metadata(DISK, "\u78c1\u76e4 " * 30, [
                (n, BULK if n % 2 else LARGE_RAW, name)
                for n, name in enumerate(self.COUNTERS)]),
            w.chunk(b"QINF", w.identifier(DISK, name="*")),
            *(data(n, instances_result(range(4), [
                (i, name, [10 ** 11, i * n, 10 ** 9 * n, i])
                for i, name in enumerate(self.NAMES) if n or i])) for n in
              range(3))))
        for width in (20, 40, 60, 80, 200):
            done = self.run_fine("cook", path, columns=width)
            for line in done.lines():
                self.assertLessEqual(columns_of(line), width, line)
            self.assertIn("100,000,000,000", done.out)

    def test_columns_are_aligned(self):
        """The numbers of a column are right-aligned."""
        path = self.file("a.pfb", w.recording(
            metadata(DISK, "Disk", [(1, LARGE_RAW, "One"),
                                    (2, LARGE_RAW, "Two")]),
            w.chunk(b"QINF", w.identifier(DISK, name="*")),
            data(0, instances_result([1, 2], [
                (i, name, [7 * 10 ** i, 8]) for i, name in
                enumerate(self.NAMES)]))))
        for width in (40, 80, 200):
            rows = [line for line in self.run_fine(
                "cook", path, columns=width).lines() if line.endswith(" 8")]
            self.assertEqual(len(rows), len(self.NAMES))
            self.assertEqual(len({columns_of(row) for row in rows}), 1)
            self.assertEqual(len({columns_of(row.rsplit("  ", 1)[0].rstrip())
                                  for row in rows}), 1)


class Machines(Case):
    def test_blocks_of_two_machines(self):
        """The titles of V1 tables name the machine."""
        w = v1_blocks.LITTLE
        path = self.file("a.bin", b"".join(
            w.block(v1_blocks.plain(w, 5), name=name) for name in ("A", "B")))
        self.assertEqual(re.findall(r"(?m)^(.*), sample (\d)", self.run_fine(
            "cook", path).out), [(r"\\A\Object 2", "0"), (r"\\B\Object 2", "1")])


if __name__ == "__main__":
    unittest.main()
