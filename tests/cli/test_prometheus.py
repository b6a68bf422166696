# SPDX-License-Identifier: MIT
"""--format prometheus: the names, types, values and labels of metrics of live and
of files, and how live replaces -o FILE."""

import datetime
import math
import os
import re
import shutil
import subprocess
import unittest
from decimal import Decimal

from captures import (BULK, DISK, FREQUENCY, LARGE_RAW, MEMORY, NETWORK,
                      RATE, RAW, TIMER, TIMER_INV, data,
                      instances_result, metadata, single_result, three_sets)
from expositions import (MetricsCase, expected_value, read_exposition,
                         read_openmetrics, table_of_types)
import log_writer
from program import (CORPUS, ON_WINDOWS, ROOT, SECONDS, STEP, needs_real_data,
                     program, real, seed, writer as w)

AVERAGE_BULK, AVERAGE_BASE = 0x40020500, 0x40030402
AVERAGE_TIMER, FRACTION = 0x30020400, 0x20020400
LARGE_FRACTION, LARGE_BASE = 0x20020500, 0x40030500
SAMPLE_FRACTION, SAMPLE_BASE = 0x20C20400, 0x40030401
QUEUE, RAW_HEX = 0x00550500, 0


def calendar_time(text):
    """Seconds since 1970 from a time of cook's JSON; one without a zone is
    UTC."""
    whole, fraction = text.rstrip("Z").split(".")
    moment = datetime.datetime.strptime(whole + "+0000", "%Y-%m-%dT%H:%M:%S%z")
    return int(moment.timestamp()) + Decimal("0." + fraction)


class Metrics(MetricsCase):
    """Metrics of captures that the tests write."""

    def replay(self, chunks, *arguments):
        """The metrics of a capture made of these chunks."""
        return self.metrics("--set", "*", *arguments, machine=self.file(
            "a.pfb", w.recording(*chunks)))

    def single(self, name, counters, values, *arguments):
        """{name: (type, value)} of the metrics of a set without instances."""
        found = self.replay([
            metadata(MEMORY, name, counters, instance_type=0),
            w.chunk(b"QINF", w.identifier(MEMORY)),
            data(0, single_result([row[0] for row in counters], values))],
            *arguments)
        for _, _, points in found.values():
            self.assertEqual(list(points), [()])
        return {key: (kind, points[()])
                for key, (kind, _, points) in found.items()}


class Types(Metrics):
    """Every counter type, compared with the table of docs/prometheus.md."""

    def test_the_table_has_every_type(self):
        """The table has every type; those without a metric are those without a
        value."""
        samples = {item["name"]: item["samples"]
                   for item in self.run_json("types")}
        table = table_of_types()
        self.assertEqual(set(table), set(samples))
        for name, (kind, _, _) in table.items():
            self.assertEqual(kind == "none", samples[name] == 0, name)

    def test_values(self):
        """A metric of each type has the kind, name and value of the table."""
        path = seed("capture", "valid_all_types.pfb")
        table = table_of_types()
        items = self.run_json("cook", path)
        self.assertEqual({i["type"] for i in items}, set(table))
        found = self.expositions("--set", "*", "--count", "2",
                                 machine=path)
        self.assertEqual(len(found), 2)
        for sample in range(2):
            metrics = {}
            for item in items:
                kind, ending, value = table[item["type"]]
                if item["sample"] != sample or kind == "none":
                    continue
                metrics["perfblock_%s_id_%d%s" % (
                    item["guid"].replace("-", "_"), item["counter_id"],
                    ending)] = (kind, [expected_value(value, item, 1000)])
            self.assertEqual(
                {name: (kind, list(points.values()))
                 for name, (kind, _, points) in found[sample].items()},
                metrics)

    def test_totals_without_an_older_sample(self):
        """A total is exported even if its counter has no displayed value, as
        in the first sample. A gauge without a displayed value is not exported,
        such as one whose base is 0, nor a summary whose base is missing."""
        chunks = [
            metadata(DISK, "Disk", [(1, RATE, "N"), (2, 0x12345678, "Odd"),
                                    (3, AVERAGE_BULK, "Baseless"),
                                    (4, LARGE_FRACTION, "Empty", 5),
                                    (5, LARGE_BASE, "Base")]),
            w.chunk(b"QINF", w.identifier(DISK, name="*"))]
        for number, value in ((0, 10), (1, 5)):
            rows = [(0, "falls", value), (1, "rises", 20 - value)]
            if number == 1:
                rows.append((2, "new", 7))
            chunks.append(data(number, w.result(
                w.COUNTERSET, w.id_list([1, 2, 3, 4, 5]) + w.instance_block(*[
                    w.instance(ident, name, w.v4(raw), *[w.v8(1)] * 3,
                               w.v8(0))
                    for ident, name, raw in rows]))))
        path = self.file("a.pfb", w.recording(*chunks))
        found = self.expositions("--set", "*", "--count", "2",
                                 machine=path)
        self.assertEqual(
            [{name: points for name, (_, _, points) in metrics.items()}
             for metrics in found],
            [{"perfblock_disk_n_total": {(("instance", "falls"),): 10,
                                         (("instance", "rises"),): 10}},
             {"perfblock_disk_n_total": {(("instance", "falls"),): 5,
                                         (("instance", "new"),): 7,
                                         (("instance", "rises"),): 15}}])


class Wraps(Metrics):
    """A total continues to grow when its 4-byte counter wraps at 2^32."""

    def totals(self, kind, samples):
        """{instance: total} for each sample. `samples` are {instance: (raw
        value, base)} of a counter of type `kind` with 4 bytes."""
        counters = [(1, kind, "N", 2), (2, AVERAGE_BASE, "Base")]
        chunks = [metadata(DISK, "Disk", counters),
                  w.chunk(b"QINF", w.identifier(DISK, name="*"))]
        chunks += [data(number, instances_result([1, 2], [
            (list(samples[0]).index(name), name, [w.v4(raw), w.v4(base)])
            for name, (raw, base) in rows.items()]))
            for number, rows in enumerate(samples)]
        found = self.expositions(
            "--set", "*", "--count", str(len(samples)),
            machine=self.file("a.pfb", w.recording(*chunks)))
        return [{dict(labels)["instance"]: value
                 for labels, value in points.items()}
                for metrics in found
                for _, _, points in metrics.values()]

    def test_falls(self):
        """From one sample to the next, a count that falls by more than 2^31 has
        wrapped; one that falls by 2^31 or less has restarted."""
        samples = [{"wraps": (0xFFFFFFF0, 0), "restarts": (1000, 0),
                    "leaves": (0xFFFFFFFF, 0), "above": (0x80000001, 0),
                    "half": (0x80000000, 0)},
                   {"wraps": (0x10, 0), "restarts": (3, 0),
                    "above": (0, 0), "half": (0, 0)},
                   {"wraps": (0xF0000000, 0), "restarts": (5, 0),
                    "leaves": (1, 0), "above": (7, 0), "half": (7, 0)},
                   {"wraps": (2, 0), "restarts": (9, 0)}]
        end = 2 ** 32
        self.assertEqual(self.totals(RATE, samples), [
            {"wraps": 0xFFFFFFF0, "restarts": 1000, "leaves": 0xFFFFFFFF,
             "above": 0x80000001, "half": 0x80000000},
            {"wraps": end + 0x10, "restarts": 3, "above": end, "half": 0},
            {"wraps": end + 0xF0000000, "restarts": 5, "leaves": 1,
             "above": end + 7, "half": 7},
            {"wraps": 2 * end + 2, "restarts": 9}])

    def test_processes(self):
        """Process 61 has the place of 60 when that ends: its count restarts.
        That of 62 wraps."""
        names = ("Page Faults/sec", RATE), ("ID Process", RAW)
        events = log_writer.paths(*(log_writer.path(
            kind, 10**7, "\\\\PC", "Process", "*", name, flags=1)
            for name, kind in names))
        for at, rows in enumerate((
                (("a", 0xF0000000, 60), ("a", 10, 61), ("b", 0xF0000000, 62)),
                (("a", 20, 61), ("b", 9, 62)))):
            now = log_writer.LOCAL + at * log_writer.SECOND
            events += log_writer.sample(*(log_writer.instances(*(
                (row[0], row[field], 0) for row in rows), time=now)
                for field in (1, 2)), time=now)
        out = self.run_fine("cook", "-f", "prometheus", self.file(
            "a.blg", log_writer.log(*events))).out
        self.assertEqual(re.findall(
            r'faults_total\{instance="(.)",machine="PC"\} (\d+)', out), [
                ("a", str(0xF0000000)), ("a", "20"),
                ("b", str(0xF0000000)), ("b", str(2**32 + 9))])

    def test_sum_and_count(self):
        """Sum and count of a summary wrap separately."""
        samples = [{"a": (0xFFFFFFFF, 0xFFFFFFFE)}, {"a": (10 ** 7, 5)}]
        end = 2 ** 32
        self.assertEqual(self.totals(AVERAGE_TIMER, samples), [
            {"a": (0xFFFFFFFF / 1e7, 0xFFFFFFFE)},
            {"a": ((end + 10 ** 7) / 1e7, end + 5)}])

    def test_gauges_do_not_wrap(self):
        """A gauge of 4 bytes may fall."""
        values = [0xF0000000, 5, 0xFFFFFFFF, 0]
        for kind in (RAW, RAW_HEX):
            self.assertEqual(
                self.totals(kind, [{"a": (value, 0)} for value in values]),
                [{"a": value} for value in values])
        ratios = [(0xF0000000, 0xF0000000), (5, 10)]
        self.assertEqual(
            self.totals(FRACTION, [{"a": pair} for pair in ratios]),
            [{"a": 1}, {"a": 0.5}])

    def test_8_bytes_do_not_wrap(self):
        """A total of 8 bytes that falls has restarted."""
        chunks = [metadata(DISK, "Disk", [(1, BULK, "N")]),
                  w.chunk(b"QINF", w.identifier(DISK, name="*"))]
        chunks += [data(number, instances_result([1], [(0, "a", [raw])]))
                   for number, raw in enumerate((0xFFFFFFFF, 3))]
        found = self.expositions(
            "--set", "*", "--count", "2",
            machine=self.file("a.pfb", w.recording(*chunks)))
        self.assertEqual([list(metrics["perfblock_disk_n_total"][2].values())
                          for metrics in found], [[0xFFFFFFFF], [3]])


class Names(Metrics):
    """Names of metrics, and the factors of units in counter names."""

    def test_names_and_units(self):
        """The unit in a counter's name is converted to the base unit and moved
        to the end."""
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
            (LARGE_RAW, "Bytes per KB", 3, "perkb_bytes", 3),
            (LARGE_RAW, "Cache Bytes Peak", 3, "cache_peak_bytes", 3),
            (LARGE_RAW, "Sent KB/sec", 3, "sent_bytes_per_second", 3072),
            (LARGE_RAW, "Working Set", 3, "working_set_bytes", 3),
            (LARGE_RAW, "Working Set - Private", 3,
             "working_set_private_bytes", 3),
            (LARGE_RAW, "Working Set Peak", 3, "working_set_peak_bytes", 3),
            (LARGE_RAW, "Commit Limit", 3, "commit_limit_bytes", 3),
            (LARGE_RAW, "Current Bandwidth", 10 ** 9,
             "current_bandwidth_bytes_per_second", 125000000),
            (LARGE_RAW, "Processor Frequency", 2596,
             "processor_frequency_hertz", 2596000000),
            (LARGE_RAW, "Avg. Depth", 3, "avg_depth", 3),
            (LARGE_RAW, "Größe", 1, "gr_e", 1),
            (LARGE_RAW, "速度", 1, "id_%d", 1),
            (LARGE_RAW, "", 1, "id_%d", 1),
            (LARGE_RAW, None, 1, "id_%d", 1),
            (BULK, "Read Bytes/sec", 10, "read_bytes_total", 10),
            (BULK, "Write KB/sec", 10, "write_bytes_total", 10240),
            (BULK, "Bytes Total/sec", 10, "bytes_total", 10),
            (BULK, "Bytes Out/sec", 10, "out_bytes_total", 10),
            (BULK, "Total Bytes Sent/sec", 10, "total_sent_bytes_total", 10),
            (BULK, "Packets Total/sec", 10, "packets_total", 10),
            (BULK, "Waits ms/sec", 10, "waits_seconds_total", 0.01),
            (TIMER, "% Busy Time", 25000000, "busy_time_seconds_total", 2.5),
            (TIMER, "Busy Percentage", 5, "busy_seconds_total", 5e-7),
            (TIMER_INV, "% Free Time", 5000000,
             "free_time_inactive_seconds_total", 0.5),
            (QUEUE, "Avg. Queue Length", 5000000,
             "queue_length_seconds_total", 0.5),
            (BULK, "Average Reads", 3, "average_reads_total", 3),
            (LARGE_RAW, "All", 2 ** 64 - 1, "all", 2.0 ** 64),
        )
        counters = [(number, row[0], row[1])
                    for number, row in enumerate(rows)]
        found = self.single("My Set", counters, [row[2] for row in rows],
                            "--quiet")
        for number, row in enumerate(rows):
            name = row[3].replace("%d", str(number))
            kind = "gauge" if row[0] == LARGE_RAW else "counter"
            self.assertEqual(found.pop("perfblock_my_set_" + name),
                             (kind, row[4]), row[1])
        self.assertEqual(found, {})

    def test_units_of_types(self):
        """The unit of some types is in the metric's name. The same unit in the
        counter's name is not repeated."""
        counters = [(1, AVERAGE_TIMER, "Avg. Disk sec/Read", 2),
                    (2, AVERAGE_BASE, "Reads Base"),
                    (3, AVERAGE_BULK, "Avg. Disk Bytes/Read", 2),
                    (4, AVERAGE_BULK, "% Utility", 2),
                    (5, FRACTION, "% Bytes Used", 6),
                    (6, 0x40030403, "Bytes Base"),
                    (7, SAMPLE_FRACTION, "Copy Read Hits %", 8),
                    (8, SAMPLE_BASE, "Hits Base"),
                    (9, AVERAGE_BULK, "Items per Count", 2)]
        found = self.single("Disk", counters,
                            [w.v4(FREQUENCY // 2), w.v4(4), 4096, 200,
                             w.v4(1), w.v4(8), w.v4(30), w.v4(40), 7])
        self.assertEqual(found, {
            "perfblock_disk_avg_disk_read_seconds": ("summary", (0.5, 4)),
            "perfblock_disk_avg_disk_read_bytes": ("summary", (4096, 4)),
            "perfblock_disk_utility_ratio": ("summary", (2, 4)),
            "perfblock_disk_bytes_used_ratio": ("gauge", 0.125),
            "perfblock_disk_copy_read_hits_ratio": ("summary", (30, 40)),
            "perfblock_disk_items_per_count_value": ("summary", (7, 4))})

    def test_words_that_the_linter_rejects(self):
        """promtool rejects some words in names, such as units with prefixes.
        Counters with these words, alone, at the end and inside a name, give
        names that it accepts."""
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
            for kind in (RAW, TIMER_INV, TIMER, BULK, AVERAGE_BULK,
                         LARGE_FRACTION):
                base = (AVERAGE_BASE if kind == AVERAGE_BULK else LARGE_BASE)
                counters = [(number, kind, form % word, 1000)
                            for number, word in enumerate(words)]
                values = [w.v4(1) if kind == RAW else 1] * len(words)
                counters.append((1000, base, "Base"))
                values.append(w.v4(1) if kind == AVERAGE_BULK else 1)
                found = self.single("A %s set" % words[-2], counters, values)
                # Fewer metrics than words: units of one quantity that differ,
                # such as kb and mb, give one metric.
                endings = {name.rsplit("_", 1)[-1] for name in found}
                self.assertGreater(len(found), len(words) - 25, endings)

    def test_all_digits_of_large_totals(self):
        """Totals above 2^53 are printed with all digits."""
        found = self.single("Set", [(1, BULK, "N")], [2 ** 63 + 1])
        self.assertEqual(found, {"perfblock_set_n_total":
                                 ("counter", float(2 ** 63 + 1))})
        text = self.run_live(os.path.join(self.folder, "a.pfb"), "--format",
                             "prometheus", "--set", "*").out
        self.assertIn("\nperfblock_set_n_total %d\n" % (2 ** 63 + 1), text)

    def test_one_quantity_in_several_units(self):
        """Counters of one quantity in several units are one metric, whichever
        of them is selected."""
        counters = [(24, LARGE_RAW, "Free KBytes"),
                    (30, LARGE_RAW, "Free Bytes"),
                    (7, LARGE_RAW, "Free MBytes"),
                    (40, BULK, "Sent Bits/sec"), (41, BULK, "Sent KB/sec")]
        values = [3, 4000, 2, 80, 1]
        for selected, expected in (
                ("*", {"free_bytes": 4000, "sent_bytes_total": 10}),
                ("Free Bytes", {"free_bytes": 4000}),
                ("Free KBytes", {"free_bytes": 3072}),
                ("Free MBytes", {"free_bytes": 2097152}),
                ("Free ?Bytes", {"free_bytes": 3072}),
                ("Sent KB/sec", {"sent_bytes_total": 1024})):
            found = self.single("Set", counters, values, "--counter",
                                selected)
            self.assertEqual({name: value for name, (_, value)
                              in found.items()},
                             {"perfblock_set_" + name: value
                              for name, value in expected.items()})
        text = self.run_live(os.path.join(self.folder, "a.pfb"), "--format",
                             "prometheus", "--set", "*").out
        self.assertIn("\n# HELP perfblock_set_free_bytes Free Bytes (PERF_",
                      "\n" + text)

    def test_collisions(self):
        """If the names of counters would be equal, the lowest id keeps the
        name; the other names contain the id. So does the name of a total that
        differs from that of another metric only in "_total"."""
        counters = [(24, LARGE_RAW, "Free Bytes"),
                    (7, LARGE_RAW, "Free_Bytes"), (31, BULK, "A/sec"),
                    (32, BULK, "A"), (33, LARGE_RAW, "A"),
                    (34, TIMER, "Wait"), (35, BULK, "Wait seconds"),
                    (36, BULK, "Wait ms"), (37, BULK, "Wait s ms")]
        found = self.single("Set", counters, [1, 2, 4, 5, 6, 7, 8, 9, 10])
        expected = {"perfblock_set_free_bytes": ("gauge", 2),
                    "perfblock_set_free_24_bytes": ("gauge", 1),
                    "perfblock_set_a_31_total": ("counter", 4),
                    "perfblock_set_a_32_total": ("counter", 5),
                    "perfblock_set_a": ("gauge", 6),
                    "perfblock_set_wait_seconds_total": ("counter", 7e-7),
                    "perfblock_set_wait_35_seconds_total": ("counter", 8),
                    "perfblock_set_wait_36_seconds_total": ("counter", 0.009),
                    "perfblock_set_waits_seconds_total": ("counter", 0.01)}
        self.assertEqual(found, expected)
        # Names do not depend on the selection.
        alone = self.metrics("--set", "*", "--counter", "Free Bytes",
                             machine=os.path.join(self.folder, "a.pfb"))
        self.assertEqual(set(alone), {"perfblock_set_free_24_bytes"})

    def test_names_do_not_change_between_samples(self):
        """Of two sets with equal names, the same one has the metric in each
        sample, and a note reports the other one once."""
        path = self.file("b.pfb", w.recording(
            metadata(MEMORY, "A E", [(1, RAW, "X")], instance_type=0),
            metadata(DISK, "a e", [(1, RAW, "X")], instance_type=0),
            w.chunk(b"QINF", w.identifier(MEMORY) +
                    w.identifier(DISK, index=1)),
            *[data(number, single_result([1], [10]), single_result([1], [20]))
              for number in range(2)]))
        done = self.run_live(path, "--format", "prometheus", "--set", "*",
                             count=2)
        self.assertEqual(done.status, 0)
        first, second = [read_exposition(text.rstrip("\n") + "\n")
                         for text in done.out.split("\n\n")]
        self.assertEqual(list(first), ["perfblock_a_e_x"])
        self.assertEqual(first, second)
        self.assertEqual(done.err.count("\n"), 1)
        self.assertIn("same name: 1, first perfblock_a_e_x", done.err)

    def test_processor_information(self):
        """No two counters of Processor Information get the same name, so no
        name has a counter id."""
        path = os.path.join(ROOT, "fixtures", "processor_information.pfb")
        found = self.metrics("--set", "*", machine=path)
        table = table_of_types()
        exported = {item["counter_id"] for item in self.run_json("cook", path)
                    if table[item["type"]][0] != "none"}
        names = [re.sub("^perfblock_processor_information_", "", name)
                 for name in found]
        self.assertEqual(len(names), len(exported))
        for name in names:
            self.assertNotRegex(name, "_[0-9]+_")
        for name in ("idle_time_seconds_total",
                     "average_idle_time_seconds_total",
                     "processor_time_inactive_seconds_total",
                     "processor_utility_ratio", "interrupts_total"):
            self.assertIn(name, names)

    def test_english_names_have_precedence(self):
        """Metrics have English names if the capture has them."""
        chunks = [
            metadata(MEMORY, "Speicher", [(1, RAW, "Frei")],
                     instance_type=0),
            w.registration_chunk(MEMORY, 9, w.string("Memory")),
            w.registration_chunk(MEMORY, 10, w.string_block([(1, "Free")])),
            w.chunk(b"QINF", w.identifier(MEMORY)),
            data(0, single_result([1], [1])),
            data(1, single_result([1], [2]))]
        self.assertEqual(set(self.replay(chunks)), {"perfblock_memory_free"})
        # record stores the English names of its source.
        copy = os.path.join(self.folder, "copy.pfb")
        self.run_record(os.path.join(self.folder, "a.pfb"), copy, "--set",
                        "*", count=2)
        self.assertEqual(set(self.metrics("--set", "*", machine=copy)),
                         {"perfblock_memory_free"})


class Text(Metrics):
    """Labels, help texts, and omitted values."""

    def test_labels_and_help(self):
        """Labels and help texts are escaped and read back the same, except that
        tabs and invisible characters remain escaped."""
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
        self.assertEqual((kind, text), (
            "counter", "Reads/sec (PERF_COUNTER_BULK_COUNT): "
            'Reads,\nwith "quotes" and \\.'))
        self.assertEqual(points, {(("instance", name),): 10 * n
                                  for n, name in enumerate(shown)})
        self.assertEqual(found["perfblock_disk_n_total"][1],
                         "N (PERF_COUNTER_BULK_COUNT)")

    def test_several_sets(self):
        """Metrics of all sets are sorted by name; _Total instances are left out.
        """
        path = self.file("three.pfb", three_sets())
        found = self.metrics("--set", "*", machine=path)
        self.assertEqual(
            {name: {dict(labels).get("instance"): value
                    for labels, value in points.items()}
             for name, (_, _, points) in found.items()},
            {"perfblock_alpha_disk_read_bytes_total":
             {"sda": 1000, "sdb": 3000},
             "perfblock_alpha_disk_write_bytes_total":
             {"sda": 2000, "sdb": 4000},
             "perfblock_alpha_memory_free_bytes": {None: 111},
             "perfblock_alpha_memory_used_bytes": {None: 777},
             "perfblock_beta_network_read_packets_total":
             {"eth0": 100, "lo": 200}})
        self.assertEqual(list(found), sorted(found))

    def test_repeated_names_have_ids(self):
        """Instances of equal names are distinguished by their ids."""
        chunks = [
            metadata(DISK, "P", [(1, LARGE_RAW, "N")]),
            w.chunk(b"QINF", w.identifier(DISK, name="*"))]
        chunks += [data(0, instances_result([1], [
            (4, "sh", [1]), (9, "sh", [2]), (5, "init", [3]),
            (9, "sh", [4])]))]
        points = self.replay(chunks)["perfblock_p_n"][2]
        self.assertEqual(points, {
            (("instance", "sh"), ("instance_id", "4")): 1,
            (("instance", "sh"), ("instance_id", "9")): 2,
            (("instance", "init"), ("instance_id", "5")): 3})

    def test_labels_of_processes_stay_the_same(self):
        """The labels of a process do not change when another process with its
        name starts or ends."""
        samples = ([(4, "sh")], [(4, "sh"), (9, "sh")], [(9, "sh")])
        chunks = [
            metadata(DISK, "Process", [(1, BULK, "Page Faults/sec"),
                                       (7, LARGE_RAW, "ID Process")]),
            w.chunk(b"QINF", w.identifier(DISK, name="*"))]
        chunks += [data(number, instances_result([1, 7], [
            (ident, name, [10 * ident, ident]) for ident, name in rows]))
            for number, rows in enumerate(samples)]
        path = self.file("a.pfb", w.recording(*chunks))
        for filters in ((), ("--counter", "Page Faults/sec")):
            found = self.expositions("--set", "*", "--count", "3", *filters,
                                     machine=path)
            self.assertEqual(
                [metrics["perfblock_process_page_faults_total"][2]
                 for metrics in found],
                [{(("instance", name), ("instance_id", str(ident))):
                  10 * ident for ident, name in rows} for rows in samples])
            for metrics in found:
                self.assertNotIn("perfblock_process_id_process", metrics)

    def test_process_ids_that_are_no_label(self):
        """A thread is identified by its own id, so its process id is exported
        as a metric unless the ids are equal."""
        chunks = [
            metadata(DISK, "Thread", [(7, LARGE_RAW, "ID Process")]),
            w.chunk(b"QINF", w.identifier(DISK, name="*")),
            data(0, instances_result([7], [(1, "sh/0", [40]),
                                           (41, "sh/1", [41])]))]
        path = self.file("a.pfb", w.recording(*chunks))
        metrics = self.metrics("--set", "*", machine=path)
        self.assertEqual(
            metrics["perfblock_thread_id_process"][2],
            {(("instance", "sh/0"), ("instance_id", "1")): 40})

    def test_totals_that_a_pattern_names(self):
        """_Total and instances that end in ",_Total" or "/_Total" are left out
        unless the pattern of instances contains "_Total", in upper or lower case."""
        names = ("0,0", "0,_Total", "_Total", "my_Total", "_Totals",
                 "_Total/_Total")
        chunks = [
            metadata(DISK, "Cpu", [(1, BULK, "Reads"), (2, BULK, "Writes")]),
            w.chunk(b"QINF", w.identifier(DISK, name="*")),
            data(0, instances_result([1, 2], [
                (n, name, [n, n]) for n, name in enumerate(names)]))]
        path = self.file("a.pfb", w.recording(*chunks))
        every = {"0,0", "my_Total", "_Totals"}
        for arguments, first, second in (
                (["--set", "*"], every, every),
                (["--set", "*", "--instance", "*"], every, every),
                (["--set", "*", "--instance", "0,*"], {"0,0"}, {"0,0"}),
                (["--set", "*", "--instance", "_total*"],
                 {"_Total", "_Totals", "_Total/_Total"},
                 {"_Total", "_Totals", "_Total/_Total"}),
                (["--set", "*", "--instance", "*_Total"],
                 {"_Total", "0,_Total", "my_Total", "_Total/_Total"},
                 {"_Total", "0,_Total", "my_Total", "_Total/_Total"}),
                ([r"\Cpu(0,_Total)\Reads", r"\Cpu(*)\Writes"], {"0,_Total"},
                 every),
                ([r"\Cpu(_Total)\*"], {"_Total"}, {"_Total"})):
            found = self.metrics(*arguments, machine=path)
            self.assertEqual(
                [{dict(labels)["instance"] for labels
                  in found["perfblock_cpu_%s_total" % name][2]}
                 for name in ("reads", "writes")], [first, second], arguments)

    def test_one_sample_is_enough(self):
        """Without --count, --duration and -o only the first sample is exported.
        """
        chunks = [
            metadata(MEMORY, "M", [(1, BULK, "N")], instance_type=0),
            w.chunk(b"QINF", w.identifier(MEMORY))]
        for number in range(3):
            chunks.append(data(number, single_result([1], [10 + number])))
            found = self.replay(chunks)
            self.assertEqual(
                [list(points.values()) for _, _, points in found.values()],
                [[10]])
        found = self.expositions("--set", "*", "--count", "3",
                                 machine=os.path.join(self.folder, "a.pfb"))
        self.assertEqual(
            [list(points.values()) for metrics in found
             for _, _, points in metrics.values()], [[10], [11], [12]])

    def test_errors_are_reported(self):
        """A result that is an error is a message, not a metric."""
        path = self.file("a.pfb", w.recording(
            metadata(NETWORK, "N", [(1, RAW, "X")]),
            w.chunk(b"QINF", w.identifier(NETWORK, name="gone")),
            *[data(n, w.result(w.ERROR, status=0x1069)) for n in range(2)]))
        done = self.run_live(path, "--format", "prometheus", "--set", "N")
        self.assertEqual((done.status, done.out), (0, ""))
        self.assertIn("no such instance", done.err)


class Files(Metrics):
    """-o FILE, which each sample replaces."""

    def setUp(self):
        super().setUp()
        self.target = os.path.join(self.folder, "a.prom")
        chunks = [metadata(DISK, "Disk", [(1, BULK, "N"), (2, BULK, "M")]),
                  w.chunk(b"QINF", w.identifier(DISK, name="*"))]
        chunks += [data(number, instances_result([1, 2], [
            (n, "instance %d" % n, [number, number]) for n in range(200)]))
            for number in range(3)]
        self.source = self.file("source.pfb", w.recording(*chunks))

    def replace(self, *arguments, **options):
        """Runs live with -o FILE."""
        return self.run_program(
            "live", "--format", "prometheus", "--interval", "0.01", "-o",
            self.target, "--set", "*", *arguments, machine=self.source,
            **options)

    def content(self):
        """The metrics of the file. No other file may be left in the folder."""
        self.assertEqual(sorted(os.listdir(self.folder)),
                         ["a.prom", "source.pfb"])
        with open(self.target, encoding="utf-8") as file:
            text = file.read()
        self.lint(text)
        return read_exposition(text)

    def test_each_sample_replaces_the_file(self):
        """The file has the metrics of the last sample."""
        for count, last in ((1, 0), (2, 1), (3, 2)):
            done = self.replace("--count", str(count))
            self.assertEqual((done.status, done.out, done.err), (0, "", ""))
            found = self.content()
            self.assertEqual(
                [set(points.values()) for _, _, points in found.values()],
                [{last}] * 2)

    def test_readers_see_whole_files(self):
        """A reader that opened the file before it was replaced reads the old
        content to its end."""
        self.replace("--count", "1")
        with open(self.target, encoding="utf-8") as opened:
            begin = opened.read(10)
            if not ON_WINDOWS:
                self.replace("--count", "2")
            text = begin + opened.read()
        _, _, points = read_exposition(text)["perfblock_disk_n_total"]
        self.assertEqual(set(points.values()), {0})

    @unittest.skipIf(ON_WINDOWS, "Windows has no resource limits")
    def test_failures_keep_the_file(self):
        """If the new content cannot be written, the file is not replaced."""
        import resource  # pylint: disable=import-outside-toplevel
        self.replace("--count", "1")
        before = self.content()
        done = self.replace("--count", "1", begin=lambda: resource.setrlimit(
            resource.RLIMIT_FSIZE, (5000, 5000)))
        self.assertEqual((done.status, done.out), (3, ""))
        self.assertIn("a.prom: ", done.err)
        self.assertEqual(self.content(), before)

    def test_folders_and_missing_folders(self):
        """A target that cannot be replaced is reported with status 3."""
        for target in (self.folder, os.path.join(self.folder, "none", "x")):
            done = self.run_live(self.source, "--format", "prometheus", "-o",
                                 target, "--set", "*")
            self.assertEqual((done.status, done.out), (3, ""))
        self.assertEqual(os.listdir(self.folder), ["source.pfb"])

    @unittest.skipIf(ON_WINDOWS, "Windows has no /dev/full")
    def test_devices_are_written_in_place(self):
        """A device is written, not replaced."""
        done = self.run_live(self.source, "--format", "prometheus", "-o",
                             "/dev/full", "--set", "*")
        self.assertEqual(done.status, 3)
        done = self.run_live(self.source, "--format", "prometheus", "-o",
                             "/dev/null", "--set", "*")
        self.assertEqual((done.status, done.err), (0, ""))
        self.assertTrue(os.path.exists("/dev/null"))


class Logs(MetricsCase):
    """cook --format prometheus: the metrics of all samples of files."""

    # Kind, files and options, and the frequencies of the performance clock and
    # of the object's clock.
    INPUTS = (
        *[("text log", [seed("pdh_text", "valid_%s.csv" % name)], 1, 1)
          for name in ("csv", "tsv", "typeperf", "utf8")],
        *[(".blg", [seed("log", "valid_%s.blg" % name)], FREQUENCY, 1)
          for name in ("counters", "objects", "moving_instances")],
        *[("V1", [seed("v1", "valid_%s.bin" % name)], FREQUENCY, 1)
          for name in ("two_objects", "unique_ids", "names_repeat")],
        ("V2", [seed("capture", "valid_all_types.pfb")], FREQUENCY, 1000),
        *[("V2", [os.path.join(ROOT, "fixtures", name + ".pfb")],
           FREQUENCY, 1) for name in (
               "processor_information", "machine_restart", "machine_v1",
               "machine_appears")])
    CAPTURED = (
        (".blg", [real("blg", "win8-counters.blg")], 2725536, 1),
        ("V1", [real("v1", "pal-s0%d-obj%d.bin" % (number, title))
                for number in range(2) for title in (2, 4, 230, 234, 238)] +
         ["--names", real("v1", "names-009.tsv")], 3579545, 1))
    # Factors of units, by parts of counter names.
    UNITS = (("%", 1 / 100), ("KBytes", 1024), ("MBytes", 1048576),
             ("Megabytes", 1048576), ("Processor Frequency", 1e6),
             ("Current Bandwidth", 1 / 8))

    def expected(self, item, table, frequency, object_frequency):
        """The value of the metric for an object of cook's JSON, as a tuple; None
        if it has none."""
        kind, value = "gauge", "displayed"
        if item["type"]:
            kind, _, value = table[item["type"]]
        inputs = [item["raw"], item["base"]][:2 if kind == "summary" else 1]
        if kind == "none" or None in (
                [item["value"]] if kind == "gauge" else inputs):
            return None
        number = expected_value(value, item, object_frequency, frequency)
        number = number if isinstance(number, tuple) else (number,)
        for word, factor in self.UNITS:
            if word in (item["counter"] or "") and (
                    value in ("raw", "sum: raw") or not item["type"]):
                number = (number[0] * factor, *number[1:])
        return number

    def wanted(self, kind, arguments, frequencies):
        """{(counter, type, labels, time): values} from the JSON of cook."""
        table, result = table_of_types(), {}
        for item in self.run_json("cook", "--quiet", *arguments):
            number = self.expected(item, table, *frequencies)
            is_sum = re.search("(^|,)_Total$", item["instance"] or "")
            if number is None or (is_sum and kind.startswith("V")):
                continue
            labels = {"instance": item["instance"], "parent": item["parent"],
                      "machine": (item["machine"] or "").strip("\\") or None}
            key = (item["counter"] or "Counter %d" % item["counter_id"],
                   item["type"] or "displayed value",
                   tuple(sorted((label, text) for label, text
                                in labels.items() if text is not None)),
                   calendar_time(item["time"]))
            result.setdefault(key, []).append(number)
        return result

    def found(self, arguments):
        """The same from its metrics."""
        table, result = table_of_types(), {}
        for kind, text, points in self.openmetrics("--quiet",
                                                   *arguments).values():
            counter, name = re.match(
                r"(.*?) \((PERF_\w+|displayed value)\)", text).groups()
            self.assertEqual(table.get(name, ("gauge",))[0], kind)
            for (labels, time), value in points.items():
                key = (counter, name,
                       tuple(label for label in labels if label[0] not in
                             ("occurrence", "instance_id")), Decimal(time))
                result.setdefault(key, []).append(
                    value if isinstance(value, tuple) else (value,))
        return result

    def compare(self, kind, arguments, *frequencies):
        """Compares the metrics of files with the JSON of cook."""
        wanted = self.wanted(kind, arguments, frequencies)
        found = self.found(arguments)
        self.assertGreater(len(found), 0)
        # ID Process is a label, and Available Bytes is also in larger units.
        missing = {key for key in wanted if key not in found}
        self.assertLessEqual({key[0] for key in missing}, {
            "ID Process", "Available KBytes", "Available MBytes"})
        self.assertEqual(set(found), set(wanted) - missing)
        for key, values in found.items():
            self.assertEqual(len(values), len(wanted[key]), key)
            for value, other in zip(sorted(values), sorted(wanted[key])):
                for one, two in zip(value, other):
                    self.assertTrue(math.isclose(one, two, rel_tol=1e-14),
                                    (key, one, two))

    def test_values(self):
        """Each metric has the value that follows from cook's JSON, and each value
        whose type has a metric is in one. promtool accepts the metrics."""
        for row in self.INPUTS:
            with self.subTest(row[0], files=row[1]):
                self.compare(*row)

    @needs_real_data
    def test_captured_values(self):
        """The same for files of real machines."""
        for row in self.CAPTURED:
            with self.subTest(row[0], files=row[1]):
                self.compare(*row)

    def test_corpus(self):
        """The metrics of all valid files of the corpus are valid."""
        for folder in ("capture", "log", "pdh_text", "v1", "v2"):
            folder = os.path.join(CORPUS, folder, "seeds")
            for name in sorted(os.listdir(folder))[::STEP]:
                if name.startswith("valid_"):
                    done = self.run_program("cook", "-f", "prometheus",
                                            os.path.join(folder, name))
                    self.assertNotIn("Sanitizer", done.err, name)
                    read_openmetrics(done.out)

    def test_several_inputs(self):
        """Of several files all samples of a metric are together, in the order of
        time."""
        path = os.path.join(ROOT, "fixtures", "machine_restart_v1.pfb")
        log = seed("log", "valid_counters.blg")
        alone = [self.openmetrics(name) for name in (path, log)]
        found = self.openmetrics(path, log)
        self.assertEqual(found, {**alone[0], **alone[1]})
        self.assertEqual(list(found), sorted(found))

    def test_filters(self):
        """The options that choose samples and counters apply, and sums of
        instances are exported if they are named."""
        path = os.path.join(ROOT, "fixtures", "processor_information.pfb")
        times = {time for _, _, points in self.openmetrics(path).values()
                 for _, time in points}
        for arguments, instances, count in (
                (["--every", "2"], None, (len(times) + 1) // 2),
                (["--instance", "0,0"], {"0,0"}, len(times)),
                (["--instance", "_Total"], {"_Total"}, len(times))):
            found = self.openmetrics(path, *arguments)
            points = [key for _, _, points in found.values()
                      for key in points]
            self.assertEqual(len({time for _, time in points}), count)
            if instances:
                self.assertEqual({dict(labels)["instance"]
                                  for labels, _ in points}, instances)
        done = self.run_program("cook", "-f", "prometheus", "--set", "Nothing",
                                path)
        self.assertEqual(done.status, 2)

    def test_wraps(self):
        """Totals of 4 bytes continue to grow when they wrap, and fall when the
        provider was restarted."""
        chunks = [metadata(DISK, "Disk", [(1, RATE, "N")]),
                  w.chunk(b"QINF", w.identifier(DISK, name="*"))]
        chunks += [data(number, instances_result([1], [
            (0, "a", [w.v4(raw)]), (1, "b", [w.v4(other)])]))
            for number, (raw, other) in enumerate(
                ((0xFFFFFFF0, 1000), (0x10, 3), (0x20, 5)))]
        points = self.openmetrics(self.file("a.pfb", w.recording(*chunks)))[
            "perfblock_disk_n"][2]
        end = 2 ** 32
        self.assertEqual(list(points.values()), [
            0xFFFFFFF0, end + 0x10, end + 0x20, 1000, 3, 5])

    def test_times(self):
        """Times have all digits of the 100 ns clock. A local time whose offset
        from UTC is unknown is one of this machine's time zone; with --utc it
        is taken as UTC. Samples before 1970 are left out with a note."""
        text = '"(PDH-CSV 4.0)","\\\\PC\\Memory\\Pages"\n"%s","1"\n'
        path = self.file("a.csv", (
            text % "02/20/2013 05:43:37.125").encode())
        for arguments, time in (([], "1361335417.125"),
                                (["--utc"], "1361339017.125")):
            done = self.run_program("cook", "-f", "prometheus", path,
                                    *arguments, zone="CET-1")
            self.assertEqual(done.out.split("\n")[-3:-1], [
                'perfblock_memory_pages{machine="PC"} 1 ' + time, "# EOF"])
        path = self.file("a.csv", (
            text % "12/30/1969 05:43:37.125").encode())
        done = self.run_program("cook", "-f", "prometheus", path)
        self.assertEqual((done.status, done.out), (0, "# EOF\n"))
        self.assertIn("not in the years 1970 to 9999: 1", done.err)
        chunks = [metadata(MEMORY, "Set", [(1, RAW, "X")], instance_type=0),
                  w.chunk(b"QINF", w.identifier(MEMORY))]
        for clock in (133000000000000001, 133000000010500000,
                      133000000020000000):
            stamps = w.clocks(perf=clock, hundred=clock, freq=FREQUENCY)
            chunks.append(w.chunk(b"DATA", w.reply(
                single_result([1], [w.v4(1)]), stamps=stamps)))
        points = self.openmetrics(self.file("a.pfb", w.recording(*chunks)))[
            "perfblock_set_x"][2]
        self.assertEqual([time for _, time in points], [
            "1655526400.0000001", "1655526401.05", "1655526402"])

    def test_labels(self):
        """Instances that only their number distinguishes have a label with it, and
        parents have one."""
        header = '"(PDH-CSV 4.0) (UTC)(0)"'
        paths = [r"\\PC\Thread(a/0)\N", r"\\PC\Thread(a/0#1)\N",
                 r"\\PC\Thread(b/0)\N", r"\\QC\Thread(b/0)\N"]
        path = self.file("a.csv", (
            ",".join([header] + ['"%s"' % path for path in paths]) +
            '\n"02/20/2013 05:43:37.000","1","2","3","4"\n').encode())
        points = self.openmetrics(path)["perfblock_thread_n"][2]
        self.assertEqual(
            {(labels.get("parent"), labels.get("occurrence"),
              labels["machine"]): value
             for labels, value in ((dict(labels), value)
                                   for (labels, _), value in points.items())},
            {("a", None, "PC"): 1, ("a", "1", "PC"): 2, ("b", None, "PC"): 3,
             ("b", None, "QC"): 4})

    def test_names_of_families(self):
        """In OpenMetrics, a total and another metric must not differ only in
        "_total"."""
        counters = [(1, BULK, "A/sec"), (2, LARGE_RAW, "A")]
        path = self.file("a.pfb", w.recording(
            metadata(MEMORY, "Set", counters, instance_type=0),
            w.chunk(b"QINF", w.identifier(MEMORY)),
            data(0, single_result([1, 2], [10, 20]))))
        self.assertEqual(
            {name: (kind, list(points.values())) for name, (kind, _, points)
             in self.openmetrics(path).items()},
            {"perfblock_set_a": ("gauge", [20]),
             "perfblock_set_a_1": ("counter", [10])})

    def test_types_of_families(self):
        """Of metrics with equal names from two files, those of another type than
        the first are left out with a note."""
        paths = [self.file("%d.pfb" % number, w.recording(
            metadata(MEMORY, "Set", [(1, kind, "A")], instance_type=0),
            w.chunk(b"QINF", w.identifier(MEMORY)),
            data(number, single_result([1], [10]))))
            for number, kind in enumerate((BULK, LARGE_RAW))]
        done = self.run_program("cook", "-f", "prometheus", *paths)
        self.assertEqual(done.status, 0)
        self.assertEqual(len(read_openmetrics(done.out)), 1)
        self.assertIn("same name: 1, first perfblock_set_a", done.err)


class Promtool(MetricsCase):
    """The check of metrics by promtool, which the other tests use if it is
    installed. Without it this test is skipped, and they check metrics only
    with the reader in expositions.py."""

    @unittest.skipUnless(shutil.which("promtool"), "no promtool")
    def test_invalid_metrics_are_rejected(self):
        """promtool accepts a valid metric and rejects those without help or
        with a wrong name."""
        self.lint("# HELP a_total Text.\n# TYPE a_total counter\na_total 1\n")
        for text in ("# TYPE a_total counter\na_total 1\n",
                     "# HELP a Text.\n# TYPE a counter\na 1\n"):
            with self.assertRaises(AssertionError):
                self.lint(text)


if __name__ == "__main__":
    unittest.main()
