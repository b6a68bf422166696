# SPDX-License-Identifier: MIT
"""live --format prometheus: names, types, values, text."""

import math
import os
import re
import subprocess
import unittest

from captures import (BULK, DISK, FREQUENCY, LARGE_RAW, MEMORY, NETWORK,
                      PROCESSOR, RATE, RAW, TIMER, TIMER_INV, data,
                      instances_result, metadata, single_result, three_sets)
from program import ROOT, SECONDS, Case, LiveCase, seed, writer as w

AVERAGE_BULK, AVERAGE_BASE = 0x40020500, 0x40030402
AVERAGE_TIMER, FRACTION = 0x30020400, 0x20020400
NAME = re.compile(r"^[a-z][a-z0-9_]*$")
ESCAPES = {"\\": "\\", "n": "\n", '"': '"'}


# A reader of the text format -----------------------------------------------

def unescape(text, allowed):
    """Take back the escapes of the format; others are errors."""
    def one(found):
        assert found[1] in allowed, text
        return ESCAPES[found[1]]
    assert "\n" not in text
    return re.sub(r"\\(.)", one, text)


def read_labels(text):
    """{name="value",...} as pairs."""
    labels, at = {}, 1
    assert text[0] == "{" and text[-1] == "}", text
    while at < len(text) - 1:
        found = re.compile(r'([a-z_]+)="((?:[^"\\]|\\.)*)"(,?)').match(text,
                                                                       at)
        assert found and found[1] not in labels, text
        labels[found[1]] = unescape(found[2], '\\n"')
        at = found.end()
    return labels


def read_exposition(text):
    """{metric: (type, help, {labels: value})}; the text must be flawless."""
    metrics, name = {}, None
    assert text == "" or text.endswith("\n")
    for line in text.split("\n")[:-1]:
        if line.startswith("# HELP "):
            _, _, name, text_of = line.split(" ", 3)
            assert NAME.match(name) and name not in metrics, line
            metrics[name] = [None, unescape(text_of, "\\n"), {}]
        elif line.startswith("# TYPE "):
            _, _, typed, kind = line.split(" ")
            assert typed == name and metrics[name][0] is None, line
            metrics[name][0] = kind
        else:
            found = re.match(r"^([a-z0-9_]+)(\{.*\})? (\S+)$", line)
            assert found and found[1] == name, line
            labels = tuple(sorted(read_labels(found[2] or "{}").items()))
            assert labels not in metrics[name][2], line
            value = float(found[3])
            assert math.isfinite(value), line
            metrics[name][2][labels] = value
    for name, (kind, text_of, points) in metrics.items():
        assert kind in ("counter", "gauge") and text_of and points, name
        assert (kind == "counter") == name.endswith("_total"), name
    return metrics


class Metrics(Case):
    """Expositions that both readers take."""

    def lint(self, text):
        """The tool of Prometheus has nothing to say."""
        done = subprocess.run(["promtool", "check", "metrics"],
                              input=text.encode(), stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=SECONDS,
                              check=False)
        self.assertEqual((done.returncode, done.stdout.decode()), (0, ""))

    def metrics(self, *arguments):
        """The metrics of a run."""
        text = self.run_fine("live", "--format", "prometheus",
                             *arguments).out
        self.lint(text)
        return read_exposition(text)

    def replay(self, chunks, *arguments):
        """Those of a capture made of chunks."""
        return self.metrics("--source", self.file("a.pfb", w.recording(
            *chunks)), "--set", "*", *arguments)

    def single(self, name, counters, older, newer):
        """Those of a set without instances, labels left out; values by
        name."""
        ids = [row[0] for row in counters]
        found = self.replay([
            metadata(MEMORY, name, counters, instance_type=0),
            w.chunk(b"QINF", w.identifier(MEMORY)),
            data(0, single_result(ids, older)),
            data(1, single_result(ids, newer))])
        for _, _, points in found.values():
            self.assertEqual(list(points), [()])
        return {key: (kind, points[()])
                for key, (kind, _, points) in found.items()}


class Types(Metrics):
    """Every counter type, after the table of docs/prometheus.md."""

    def table(self):
        """type -> (metric, ending, value) of the page."""
        with open(os.path.join(ROOT, "docs", "prometheus.md"),
                  encoding="utf-8") as page:
            rows = re.findall(r"^\| (PERF_\w+) \| (counter|gauge) \|"
                              r" `?(\w*)`? ?\| (.+) \|$", page.read(), re.M)
        self.assertEqual(len({row[0] for row in rows}), len(rows))
        return {row[0]: row[1:] for row in rows}

    def test_the_table_has_every_type_that_displays_something(self):
        shown = {item["name"] for item in self.run_json("types")
                 if item["samples"] > 0}
        self.assertEqual(set(self.table()), shown)

    def test_values(self):
        path = seed("capture", "valid_all_types.pfb")
        table = self.table()
        items = [i for i in self.run_json("live", "--source", path, "--set",
                                          "*") if i["type"] in table]
        self.assertEqual({i["type"] for i in items}, set(table))
        found = self.metrics("--source", path, "--set", "*")
        names = {i["counter_id"]: i for i in items if i["status"] == "ok"}
        self.assertEqual(len(found), len(names))
        for counter, item in names.items():
            kind, ending, value = table[item["type"]]
            name = "perfblock_%s_id_%d%s" % (
                item["guid"].replace("-", "_"), counter, ending)
            self.assertIn(name, found)
            self.assertEqual(found[name][0], kind)
            self.assertEqual(list(found[name][2].values()),
                             [self.expected(value, item)], item)

    def expected(self, value, item):
        """What the page's column says, of the corpus' capture, whose clocks
        run at 10 MHz and whose object's clock at 1 kHz."""
        return {"raw": lambda: item["raw"],
                "displayed": lambda: item["value"],
                "displayed / 100": lambda: item["value"] / 100,
                "raw / 10,000,000": lambda: item["raw"] / 1e7,
                "raw / PerfFreq": lambda: item["raw"] / 1e7,
                "raw / object's frequency": lambda: item["raw"] / 1e3,
                }[value]()


class Names(Metrics):
    """Names, and what they do to values."""

    def test_names_and_units(self):
        rows = (
            (LARGE_RAW, "Available Bytes", 5, "available_bytes", 5),
            (LARGE_RAW, "Cache KBytes", 5, "cache_bytes", 5120),
            (LARGE_RAW, "Pool (MB)", 3, "pool_bytes", 3145728),
            (LARGE_RAW, "Disk GBytes", 2, "disk_bytes", 2147483648),
            (LARGE_RAW, "Link Bits", 20, "link_bytes", 2.5),
            (LARGE_RAW, "Latency ms", 7, "latency_seconds", 0.007),
            (LARGE_RAW, "Up Minutes", 3, "up_seconds", 180),
            (LARGE_RAW, "% Limit", 50, "limit_ratio", 0.5),
            (LARGE_RAW, "Level Percent", 25, "level_ratio", 0.25),
            (LARGE_RAW, "Errors/sec", 4, "errors_per_second", 4),
            (LARGE_RAW, "Thread Count", 9, "thread_count_value", 9),
            (LARGE_RAW, "Grand Total", 9, "grand_total_value", 9),
            (LARGE_RAW, "Drive D", 1, "drived", 1),
            (LARGE_RAW, "User's Counter", 1, "userscounter", 1),
            (LARGE_RAW, "Fan Millivolts", 1, "fanmillivolts", 1),
            (LARGE_RAW, "A--E  (C1)", 1, "a_e_c1", 1),
            (LARGE_RAW, "Bytes per KB", 3, "bytes_perkb", 3),
            (LARGE_RAW, "Größe", 1, "gr_e", 1),
            (LARGE_RAW, "速度", 1, "id_18", 1),
            (LARGE_RAW, "", 1, "id_19", 1),
            (LARGE_RAW, None, 1, "id_20", 1),
            (BULK, "Read Bytes/sec", 10, "read_bytes_total", 10),
            (BULK, "Write KB/sec", 10, "write_bytes_total", 10240),
            (BULK, "Packets Total/sec", 10, "packets_total", 10),
            (BULK, "Waits ms/sec", 10, "waits_seconds_total", 0.01),
            (TIMER, "% Busy Time", 25000000, "busy_time_seconds_total", 2.5),
            (TIMER, "Busy Percentage", 5, "busy_seconds_total", 5e-7),
            (TIMER_INV, "% Free Time", 5000000, "free_time_ratio", 0.5),
            (LARGE_RAW, "All", 2 ** 64 - 1, "all", 2.0 ** 64),
        )
        counters = [(number, row[0], row[1])
                    for number, row in enumerate(rows)]
        found = self.single("My Set", counters, [0] * len(rows),
                            [row[2] for row in rows])
        for row in rows:
            kind = "gauge" if row[0] in (LARGE_RAW, TIMER_INV) else "counter"
            self.assertEqual(found.pop("perfblock_my_set_" + row[3]),
                             (kind, row[4]), row[1])
        self.assertEqual(found, {})

    def test_units_of_types(self):
        """What the type measures is not taken from the name again."""
        counters = [(1, AVERAGE_TIMER, "Avg. Disk sec/Read", 2),
                    (2, AVERAGE_BASE, "Reads Base"),
                    (3, AVERAGE_BULK, "Avg. Disk Bytes/Read", 2),
                    (4, AVERAGE_BULK, "% Utility", 2),
                    (5, FRACTION, "% Bytes Used", 6),
                    (6, 0x40030403, "Bytes Base")]
        found = self.single("Disk", counters,
                            [w.v4(0), w.v4(0), 0, 0, w.v4(0), w.v4(0)],
                            [w.v4(FREQUENCY), w.v4(4), 4096, 200, w.v4(1),
                             w.v4(8)])
        self.assertEqual(found, {
            "perfblock_disk_avg_disk_read_seconds": ("gauge", 0.25),
            "perfblock_disk_avg_disk_bytes_read": ("gauge", 1024),
            "perfblock_disk_utility_ratio": ("gauge", 0.5),
            "perfblock_disk_bytes_used_ratio": ("gauge", 0.125)})

    def test_words_that_the_linter_objects_to(self):
        """By themselves, last, and in every combination of prefix and
        unit."""
        prefixes = ("", "pico", "nano", "micro", "milli", "centi", "deci",
                    "deca", "hecto", "kilo", "kibi", "mega", "mibi", "mebi",
                    "giga", "gibi", "tera", "tebi", "peta", "pebi")
        units = ("amperes bytes celsius grams joules kelvin meters metres "
                 "moles seconds volts bits calories days fahrenheit hours "
                 "inches kelvins miles minutes ounces pounds rankine weeks "
                 "yards").split()
        words = [prefix + unit for prefix in prefixes for unit in units]
        words += ("counter gauge summary histogram untyped total count sum "
                  "bucket info created percent ratio sec kb mb gb tb pb us "
                  "ms ns").split()
        words += "abcdefghijklmnopqrstuvwxyz"
        for form in ("Some %s here", "Some %s", "%s"):
            for kind in (RAW, TIMER_INV, TIMER, BULK):
                counters = [(number, kind, form % word)
                            for number, word in enumerate(words)]
                values = [w.v4(1) if kind == RAW else 1] * len(words)
                self.assertEqual(
                    len(self.single("A %s set" % words[-2], counters, values,
                                    values)), len(words))

    def test_all_digits_of_large_totals(self):
        found = self.single("Set", [(1, BULK, "N")], [0], [2 ** 63 + 1])
        self.assertEqual(found, {"perfblock_set_n_total":
                                 ("counter", float(2 ** 63 + 1))})
        text = self.run_fine("live", "--format", "prometheus", "--set", "*",
                             "--source", os.path.join(self.folder,
                                                      "a.pfb")).out
        self.assertIn("\nperfblock_set_n_total %d\n" % (2 ** 63 + 1), text)

    def test_collisions(self):
        counters = [(24, LARGE_RAW, "Free KBytes"), (7, LARGE_RAW,
                                                     "Free Bytes"),
                    (30, LARGE_RAW, "Free MBytes"), (31, BULK, "A/sec"),
                    (32, BULK, "A"), (33, LARGE_RAW, "A")]
        found = self.single("Set", counters, [0] * 6, [1, 2, 3, 4, 5, 6])
        expected = {"perfblock_set_free_bytes": ("gauge", 2),
                    "perfblock_set_free_bytes_24": ("gauge", 1024),
                    "perfblock_set_free_bytes_30": ("gauge", 3145728),
                    "perfblock_set_a_total": ("counter", 4),
                    "perfblock_set_a_32_total": ("counter", 5),
                    "perfblock_set_a": ("gauge", 6)}
        self.assertEqual(found, expected)
        # Names do not depend on what is asked for.
        alone = self.metrics("--source", os.path.join(self.folder, "a.pfb"),
                             "--set", "*", "--counter", "Free MBytes")
        self.assertEqual(set(alone), {"perfblock_set_free_bytes_30"})

    def test_names_that_stay_the_same(self):
        path = self.file("b.pfb", w.recording(
            metadata(MEMORY, "A E", [(1, RAW, "X")], instance_type=0),
            metadata(DISK, "a e", [(1, RAW, "X")], instance_type=0),
            w.chunk(b"QINF", w.identifier(MEMORY) +
                    w.identifier(DISK, index=1)),
            *[data(number, single_result([1], [10]), single_result([1], [20]))
              for number in range(2)]))
        done = self.run_program("live", "--format", "prometheus", "--set",
                                "*", "--source", path)
        self.assertEqual(done.status, 0)
        self.lint(done.out)
        self.assertEqual(list(read_exposition(done.out)),
                         ["perfblock_a_e_x"])
        self.assertEqual(done.err.count("\n"), 1)
        self.assertIn("same name: 1, first perfblock_a_e_x", done.err)

    def test_english_names_first(self):
        chunks = [
            metadata(MEMORY, "Speicher", [(1, RAW, "Frei")],
                     instance_type=0),
            w.registration_chunk(MEMORY, 9, w.string("Memory")),
            w.registration_chunk(MEMORY, 10, w.string_block([(1, "Free")])),
            w.chunk(b"QINF", w.identifier(MEMORY)),
            data(0, single_result([1], [1])),
            data(1, single_result([1], [2]))]
        self.assertEqual(set(self.replay(chunks)), {"perfblock_memory_free"})
        # A recording keeps them where they say something of their own.
        copy = os.path.join(self.folder, "copy.pfb")
        self.run_fine("record", "-o", copy, "--source", os.path.join(
            self.folder, "a.pfb"), "--set", "*")
        self.assertEqual(set(self.metrics("--source", copy, "--set", "*")),
                         {"perfblock_memory_free"})


class Text(Metrics):
    """Labels, help texts, what is left out."""

    def test_labels_and_help(self):
        names = ["plain", 'quote " and \\', "two\nlines", "tab\tand \u202e",
                 "über 速度"]
        shown = ["plain", 'quote " and \\', "two\nlines",
                 "tab\\u0009and \\u202E", "über 速度"]
        chunks = [
            metadata(DISK, "Disk", [(1, BULK, "Reads/sec"), (2, BULK, "N")]),
            w.registration_chunk(DISK, 6, w.string_block(
                [(1, 'Reads,\nwith "quotes" and \\.'), (2, None)])),
            w.chunk(b"QINF", w.identifier(DISK, name="*"))]
        chunks += [data(number, instances_result([1, 2], [
            (n, name, [10 * n, n]) for n, name in enumerate(names)]))
            for number in range(2)]
        found = self.replay(chunks)
        kind, text, points = found["perfblock_disk_reads_total"]
        self.assertEqual((kind, text),
                         ("counter", 'Reads,\nwith "quotes" and \\.'))
        self.assertEqual(points, {(("instance", name),): 10 * n
                                  for n, name in enumerate(shown)})
        self.assertEqual(found["perfblock_disk_n_total"][1], "Counter 2, N")

    def test_several_sets(self):
        path = self.file("three.pfb", three_sets())
        found = self.metrics("--source", path, "--set", "*")
        self.assertEqual(
            {name: {dict(labels).get("instance"): value
                    for labels, value in points.items()}
             for name, (_, _, points) in found.items()},
            {"perfblock_alpha_disk_read_bytes_total":
             {"sda": 1010, "sdb": 3030, "_Total": 4040},
             "perfblock_alpha_disk_write_bytes_total":
             {"sda": 2020, "sdb": 4040, "_Total": 6060},
             "perfblock_alpha_memory_free_bytes": {None: 112},
             "perfblock_alpha_memory_used_bytes": {None: 778},
             "perfblock_beta_network_read_packets_total":
             {"eth0": 105, "lo": 207}})
        self.assertEqual(list(found), sorted(found))

    def test_repeated_names_have_ids(self):
        chunks = [
            metadata(DISK, "P", [(1, LARGE_RAW, "N")]),
            w.chunk(b"QINF", w.identifier(DISK, name="*"))]
        chunks += [data(number, instances_result([1], [
            (4, "sh", [1]), (9, "sh", [2]), (5, "init", [3]),
            (9, "sh", [4])])) for number in range(2)]
        points = self.replay(chunks)["perfblock_p_n"][2]
        self.assertEqual(points, {
            (("instance", "sh"), ("instance_id", "4")): 1,
            (("instance", "sh"), ("instance_id", "9")): 2,
            (("instance", "init"), ("instance_id", "5")): 3})

    def test_statuses_other_than_ok_are_left_out(self):
        chunks = [
            metadata(DISK, "Disk", [(1, RATE, "N"), (2, 0x12345678, "Odd"),
                                 (3, AVERAGE_BULK, "Baseless")]),
            w.chunk(b"QINF", w.identifier(DISK, name="*"))]
        for number, value in ((0, 10), (1, 5)):
            rows = [(0, "falls", value), (1, "rises", 20 - value)]
            if number == 1:
                rows.append((2, "new", 7))
            chunks.append(data(number, w.result(
                w.COUNTERSET, w.id_list([1, 2, 3]) + w.instance_block(*[
                    w.instance(ident, name, w.v4(raw), w.v8(1), w.v8(1))
                    for ident, name, raw in rows]))))
        self.assertEqual(
            {name: points for name, (_, _, points)
             in self.replay(chunks).items()},
            {"perfblock_disk_n_total": {(("instance", "rises"),): 15}})

    def test_the_first_pair_of_a_capture(self):
        chunks = [
            metadata(MEMORY, "M", [(1, BULK, "N")], instance_type=0),
            w.chunk(b"QINF", w.identifier(MEMORY))]
        for number in range(4):
            found = self.replay(chunks)
            self.assertEqual(
                [list(points.values()) for _, _, points in found.values()],
                [[11]] if number > 1 else [])
            chunks.append(data(number, single_result([1], [10 + number])))

    def test_errors_are_told(self):
        path = self.file("a.pfb", w.recording(
            metadata(NETWORK, "N", [(1, RAW, "X")]),
            w.chunk(b"QINF", w.identifier(NETWORK, name="gone")),
            *[data(n, w.result(w.ERROR, status=0x1069)) for n in range(2)]))
        done = self.run_program("live", "--format", "prometheus", "--set",
                                "N", "--source", path)
        self.assertEqual((done.status, done.out), (0, ""))
        self.assertIn("no such instance", done.err)


class Machine(LiveCase, Metrics):
    """All that this machine offers."""

    def test_all_sets(self):
        found = self.metrics("--set", "*", "--interval", "0.2")
        for item in self.offered:
            if item["record"] != "counterset":
                continue
            prefix = "perfblock_%s_" % re.sub(
                "[^a-z0-9]+", "_", item["name"].lower())
            self.assertTrue([name for name in found
                             if name.startswith(prefix)], prefix)

    def test_totals_do_not_fall(self):
        name = "perfblock_processor_information_interrupts_total"
        first, second = (self.metrics("--counter", "Interrupts/sec",
                                      "--interval", "0.05")[name][2]
                         for _ in range(2))
        self.assertEqual(set(first), set(second))
        for labels, value in first.items():
            self.assertLess((second[labels] - value) % 2 ** 32, 2 ** 31)

    def test_ratios(self):
        name = "perfblock_processor_information_processor_time_ratio"
        points = self.metrics("--counter", "% Processor Time", "--interval",
                              "1")[name][2]
        for value in points.values():
            self.assertTrue(-0.1 < value < 1.1, points)


if __name__ == "__main__":
    unittest.main()
