# SPDX-License-Identifier: MIT
"""Peak memory if many counters share a long name, and where text output cuts
long names.

The names of N counters may be the same bytes. If the name has a length
proportional to N, the size of the file is proportional to N, but the sum of
the lengths of all names is proportional to N * N. Peak memory must be
proportional to the size of the file.
"""

import os
import unittest

import v1_blocks as v1
from captures import LARGE_RAW, MEMORY, data, instances_result
from program import (ON_WINDOWS, SECONDS, Case, on_machine, running, sanitizer,
                     writer as w)

if not ON_WINDOWS:
    import resource

KIB, MIB = 1 << 10, 1 << 20
MAX_BYTES = 1 << 30    # address space that suffices for COUNTERS counters
STEP = 64 * KIB        # the precision of the measured peak
COUNTERS = 200         # in a file of size 1
SIZES = (1, 2, 4, 8)   # multiples of COUNTERS
TEXT = 0x00000B00      # PERF_COUNTER_TEXT
LONGEST_IN_TABLE, LONGEST_IN_LINE = 200, 1000  # docs/perfblock.md
LONGEST_IN_METRIC = 256                        # docs/prometheus.md


# Inputs ---------------------------------------------------------------------

def v2_capture(count, name, instances=("a",), set_name="Set",
               help_text=None):
    """A capture of two V2 samples of `count` counters with the same name. The
    bytes of the name are stored once."""
    ids = range(count)
    start = 8 + 8 * count
    strings = w.string_block([(0, name)] + [(i, None) for i in ids[1:]],
                             offsets=[start] * count)
    infos = [w.counter_info(i, LARGE_RAW) for i in ids]
    rows = [(number, instance, [5] * count)
            for number, instance in enumerate(instances)]
    return w.recording(
        w.registration_chunk(MEMORY, 1, w.counterset(MEMORY, infos)),
        w.registration_chunk(MEMORY, 3, w.string(set_name)),
        w.registration_chunk(MEMORY, 5, strings),
        w.registration_chunk(MEMORY, 6, w.string_block([(0, help_text)])),
        w.chunk(b"QINF", w.identifier(MEMORY, name="*")),
        *[data(number, instances_result(ids, rows)) for number in range(2)])


def v1_capture(count, name, instances=("a", "b")):
    """A capture of two V1 blocks whose counters all have one title index."""
    counters = [v1.counter(20, v1.RAW, 4 + 4 * i, 4) for i in range(count)]
    values = v1.LITTLE.values(*[(c["offset"], 4, 5) for c in counters])
    bodies = [v1.LITTLE.instance(each, values) for each in instances]
    names = v1.table(("1", "1847"), ("2", "Object"), ("20", name))
    blocks = [v1.LITTLE.block(v1.LITTLE.object(2, counters, *bodies),
                              moment=moment) for moment in (1, 2)]
    return w.recording(w.chunk(b"NAME", bytes(4) + names),
                       *[w.chunk(b"V1DT", block) for block in blocks])


def long_name(count):
    """A name whose length is proportional to the number of counters."""
    return "n" * (4 * count)


# Runs -----------------------------------------------------------------------

class Shared(Case):
    """Commands that print or record names, with counters that share a name."""

    def commands(self, path):
        """(command line, whether the size of its output must be proportional to
        the size of the file)"""
        for form in ("text", "json", "csv"):
            yield ["cook", "--format", form, path], form == "text"
        for form in ("pdh-csv", "pdh-tsv"):
            yield ["cook", "--format", form, path], False
        for form in ("text", "json", "csv"):
            yield ["cook", "--summary", "--format", form, path], form == "text"
        for command in (["show"], ["countersets", "--source"]):
            for form in ("text", "json"):
                yield [*command, path, "--format", form], form == "text"
        yield ["check", path], True

    def replays(self, path):
        """Like commands(), for live and record of a machine with the data of a
        V2 capture, the last word."""
        options = ["--interval", "0.01", "--set", MEMORY]
        for form in ("text", "json", "csv", "prometheus"):
            yield (["live", "--count", "1", "--format", form, *options, path],
                   form in ("text", "prometheus"))
        target = os.path.join(self.folder, "copy.pfb")
        for chosen in ([], ["--counter", "*"]):
            yield (["record", "-o", target, "--count", "2", *options, *chosen,
                    path], True)

    def run_limited(self, arguments, max_bytes):
        """Runs the program with an address space of `max_bytes` (None:
        unlimited). Returns its exit status and the size of the recording that
        it wrote. If the address space is unlimited, the size includes standard
        output."""
        target = os.path.join(self.folder, "copy.pfb")
        if os.path.exists(target):
            os.remove(target)
        is_live = arguments[0] in ("live", "record")
        path, environment = on_machine(arguments[-1] if is_live else None)
        words = [path, *(arguments[:-1] if is_live else arguments)]

        def limit():
            if max_bytes is not None:
                resource.setrlimit(resource.RLIMIT_AS, (max_bytes, max_bytes))
        with open(os.devnull if max_bytes else
                  os.path.join(self.folder, "out"), "wb") as out:
            done = running.finish(words, stdout=out, timeout=SECONDS,
                                  env=environment,
                                  preexec_fn=None if ON_WINDOWS else limit)
            size = out.tell()
        if os.path.exists(target):
            size += os.path.getsize(target)
        return done.returncode, size

    def peak(self, arguments):
        """The smallest address space with which the program succeeds."""
        low, high = 0, MAX_BYTES
        while high - low > STEP:
            middle = (low + high) // 2
            if self.run_limited(arguments, middle)[0] == 0:
                high = middle
            else:
                low = middle
        return high

    def why_not_measured(self):
        """The reason why peak memory cannot be measured here, or None."""
        if ON_WINDOWS:
            return "the address space of a Windows program cannot be limited"
        if sanitizer():
            return sanitizer() + " has memory of its own"
        if self.run_limited(["types"], MAX_BYTES)[0] != 0:
            return "the program does not start in %d bytes" % MAX_BYTES
        return None

    def compare(self, make, commands):
        """Runs the commands with files that make(number of counters, name)
        returns. Asserts that output and peak memory do not grow faster than
        the file."""
        reason = self.why_not_measured()
        paths = [self.file("%d.pfb" % size, make(
            size * COUNTERS, long_name(size * COUNTERS))) for size in SIZES]
        tiny = self.file("tiny.pfb", make(1, "n"))
        for (line, is_proportional), *larger in zip(
                commands(tiny), *map(commands, paths)):
            with self.subTest(command=line):
                smallest, largest = [self.run_limited(words, None)
                                     for words, _ in (larger[0], larger[-1])]
                self.assertEqual((smallest[0], largest[0]), (0, 0))
                if is_proportional:
                    self.assertLess(largest[1], 10 * smallest[1] + 10 * KIB)
                if reason is None:
                    self.check_growth(line, [words for words, _ in larger])
        if reason is not None:
            self.skipTest("peak memory was not measured: " + reason)

    def check_growth(self, tiny, lines):
        """Asserts that the memory beyond that of the command line `tiny` grows
        with the files of `lines` at most 10/8 times as fast as their size."""
        floor = self.peak(tiny)
        # malloc() takes memory in steps: below 320 KiB, a file of size 1 may
        # still fit into one that the smallest file began.
        first = max(self.peak(lines[0]) - floor, 320 * KIB)
        for size, line in zip(SIZES[1:], lines[1:]):
            limit = floor + first * size * 10 // 8
            self.assertEqual(self.run_limited(line, limit)[0], 0, (
                "more than %d KiB for %d times the file" % (limit // KIB,
                                                            size)))

    def tables(self, path):
        """The text tables of cook, whose layout depends on the number of
        instances."""
        yield ["cook", path], True

    def test_v2(self):
        """Commands that read a V2 capture."""
        self.compare(v2_capture, self.commands)

    def test_v2_tables_of_several_instances(self):
        """Tables with a column for each counter."""
        self.compare(lambda count, name: v2_capture(count, name, "abc"),
                     self.tables)

    def test_v2_replayed(self):
        """Commands that collect the data of a V2 capture."""
        self.compare(v2_capture, self.replays)

    def test_v1(self):
        """Commands that read a capture of V1 blocks."""
        self.compare(v1_capture, self.commands)

    def test_v1_tables_of_one_instance(self):
        """Tables with a line for each counter."""
        self.compare(lambda count, name: v1_capture(count, name, "a"),
                     self.tables)

    def test_many_tables(self):
        """The table of --names is stored once, however many tables the
        recording has."""
        reason = self.why_not_measured()
        if reason is not None:
            self.skipTest("peak memory was not measured: " + reason)
        table = self.file("names", v1.table(*[
            (str(title), "Counter %d" % title) for title in range(2, 4000)]))
        small = v1.table(("2", "Object"), ("5000", "Calls"))
        path = self.file("tables.pfb", w.recording(*[
            w.chunk(b"NAME", bytes(4) + small)] * 2000))
        line = ["show", "--names", table, path]
        self.assertEqual(self.run_limited(line, 128 * MIB)[0], 0)


# Cuts -----------------------------------------------------------------------

ELLIPSIS = "\u2026"


class Cut(Case):
    """Text output cuts long names, but not inside a character. JSON and CSV cut
    only names that are stored for several samples."""

    # What follows the first 199 characters of a name, and how text shows it.
    ENDS = (("b", "b"), ("bc", "b" + ELLIPSIS), ("\u00e9", "\u00e9"),
            ("\u00e9\u00e9", "\u00e9" + ELLIPSIS),
            ("\U0001f600", "\U0001f600"),
            ("\U0001f600\U0001f600", "\U0001f600" + ELLIPSIS),
            ("\x1b\x1b", "\\u001B" + ELLIPSIS),
            ("\ud83d\ud83d", "\ufffd" + ELLIPSIS))
    FIRST = "a" * (LONGEST_IN_TABLE - 1)

    def first_column(self, path, *arguments):
        """The first column of the tables of cook: the counters if there is one
        instance, otherwise the instances."""
        lines = self.run_fine("cook", path, *arguments, columns=1000).lines()
        return {line.split("  ")[0].rstrip() for line in lines if line}

    def json_names(self, path, key, *arguments):
        """The values of a key in the records of cook."""
        return {item[key] for item in self.run_json("cook", path, *arguments)}

    def test_counters_in_utf16(self):
        """Names of V2 counters are cut after 200 characters."""
        for end, shown in self.ENDS:
            with self.subTest(end=end):
                path = self.file("a.pfb", v2_capture(1, self.FIRST + end))
                self.assertIn(self.FIRST + shown, self.first_column(path))

    def test_titles_in_utf8(self):
        """Names of a name table in UTF-8 are cut after 200 characters."""
        block = v1.LITTLE.block(v1.plain(v1.LITTLE, 5))
        path = self.file("a.bin", block)
        for end, shown in self.ENDS[:-1]:
            with self.subTest(end=end):
                names = self.file("names.txt", (
                    "1\t1847\n20\t%s%s\n" % (self.FIRST, end)).encode())
                self.assertIn(self.FIRST + shown, self.first_column(
                    path, "--names", names))

    def test_instances(self):
        """Names of V1 instances in each code page are cut after 200
        characters."""
        for writer in (v1.LITTLE, v1.BIG):
            for page, code in ((0, None), (65001, "utf-8"), (1252, "cp1252")):
                for end, shown in self.ENDS[:4] if code else self.ENDS:
                    with self.subTest(page=page, end=end):
                        self.check_instance(writer, page, code, end, shown)

    def check_instance(self, writer, page, code, end, shown):
        """Asserts how text and JSON show an instance name that is stored in
        this code page."""
        raw = (self.FIRST + end + "\0").encode(code) if code else None
        values = writer.values((4, 4, 5))
        block = writer.block(writer.object(
            2, v1.ONE_RAW, writer.instance("other", values) if not code else
            writer.instance(None, values, raw_name=b"other\0"),
            writer.instance(self.FIRST + end, values, raw_name=raw),
            code_page=page))
        path = self.file("a.bin", block)
        self.assertIn(self.FIRST + shown, self.first_column(path))
        whole = (self.FIRST + end).encode("utf-16", "replace").decode(
            "utf-16") if end[0] != "\ud83d" else self.FIRST + "\ufffd" * 2
        self.assertIn(whole, self.json_names(path, "instance"))

    def test_machine_readable_formats_do_not_cut(self):
        """JSON and CSV have names of any length."""
        name = "n" * 5000
        path = self.file("a.pfb", v2_capture(2, name))
        self.assertEqual(self.json_names(path, "counter"), {name})
        rows = self.run_fine("cook", "--format", "csv", path).lines()
        self.assertEqual(sum(name in row for row in rows), 4)
        for command in (["show", path], ["countersets", "--source", path]):
            found = [item.get("text", item.get("name"))
                     for item in self.run_json(*command)]
            self.assertEqual(found.count(name), 2, command)

    def test_series(self):
        """Names that are stored for several samples are cut after 1024
        characters, the limit of PDH."""
        for size in (1024, 1025):
            path = self.file("a.pfb", v2_capture(1, "n" * size))
            shown = "n" * 1024 + ELLIPSIS * (size - 1024)
            self.assertEqual(self.json_names(path, "counter", "--summary"),
                             {shown})
            self.assertIn('"\\Set(a)\\%s"\r\n' % shown, self.run_fine(
                "cook", "--format", "pdh-csv", path).out)

    def test_lines_of_text(self):
        """Names in lines of text are cut after 1000 characters."""
        for size in (LONGEST_IN_LINE, LONGEST_IN_LINE + 1):
            path = self.file("a.pfb", v2_capture(1, "n" * size))
            shown = '"%s%s"' % ("n" * LONGEST_IN_LINE, ELLIPSIS * (
                size - LONGEST_IN_LINE))
            for command in (["show", path], ["countersets", "--source", path]):
                self.assertIn(shown, self.run_fine(*command).out)

    def test_data_that_are_not_numbers(self):
        """Bytes in hexadecimal are cut after 1000 digits."""
        bytes_in_line = LONGEST_IN_LINE // 2
        for size in (bytes_in_line, bytes_in_line + 1):
            path = self.file("a.bin", w.reply(w.result(
                w.COUNTERS, w.id_list([1]) + w.datum(b"\xab" * size))))
            cut = ELLIPSIS * (size - bytes_in_line)
            self.assertTrue(self.run_fine("show", path).out.endswith(
                "  hex " + "ab" * bytes_in_line + cut + "\n"))
            self.assertEqual(self.run_json("show", path)[-1]["hex"],
                             "ab" * size)

    def test_data_that_share_their_bytes(self):
        """The output is linear in the number of counters whose texts overlap.
        """
        sizes = []
        for count in (200, 1600):
            counters = [v1.counter(20 + i, TEXT, 4 + 4 * i, 4 * (count - i))
                        for i in range(count)]
            values = v1.LITTLE.values((4, 4, 0), size_bytes=8 + 4 * count)
            path = self.file("a.bin", v1.LITTLE.block(v1.LITTLE.object(
                2, counters, v1.LITTLE.instance("a", values))))
            sizes.append(len(self.run_fine("show", path).out))
        self.assertLess(sizes[1], 16 * sizes[0])

    def test_title_of_a_table(self):
        """The name in a title is cut at the width of the terminal, and after
        200 characters."""
        path = self.file("a.pfb", v2_capture(1, "n", set_name="s" * 5000))
        for columns, cut in ((1000, LONGEST_IN_TABLE), (100, 99)):
            title = self.run_fine("cook", path, columns=columns).lines()[0]
            self.assertEqual(title.split(",")[0], "s" * cut + ELLIPSIS)

    def metrics(self, path):
        """The Prometheus output of a capture."""
        return self.run_live(path, "--set", MEMORY, "--format",
                             "prometheus").lines()

    def test_metrics(self):
        """A counter whose name exceeds 256 characters has a metric with its
        id."""
        longest = "n" * LONGEST_IN_METRIC
        for name, word, text in ((longest, longest, longest),
                                 (longest + "n", "id_0", "Counter 0")):
            path = self.file("a.pfb", v2_capture(1, name))
            metric = "perfblock_set_" + word
            self.assertEqual(self.metrics(path), [
                "# HELP %s %s (PERF_COUNTER_LARGE_RAWCOUNT)" % (metric,
                                                                text),
                "# TYPE %s gauge" % metric, metric + '{instance="a"} 5'])

    def test_help_of_metrics(self):
        """Help texts are cut after 1000 characters."""
        path = self.file("a.pfb", v2_capture(1, "n", help_text="h" * 5000))
        self.assertEqual(self.metrics(path)[0], "# HELP perfblock_set_n n "
                         "(PERF_COUNTER_LARGE_RAWCOUNT): " +
                         "h" * LONGEST_IN_LINE + ELLIPSIS)


if __name__ == "__main__":
    unittest.main()
