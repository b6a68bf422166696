# SPDX-License-Identifier: MIT
"""For the tests of --format prometheus: readers of Prometheus' text format and
of OpenMetrics, and the table of docs/prometheus.md with the metric of each type.
"""

import math
import os
import re
import shutil
import subprocess
import tempfile

from captures import FREQUENCY
from program import ROOT, SECONDS, Case

NAME = re.compile(r"^[a-z][a-z0-9_]*$")
ESCAPES = {"\\": "\\", "n": "\n", '"': '"'}


def unescape(text, allowed):
    """Decodes backslash escapes; those that are not in `allowed` are errors.
    """
    def decode(escape):
        assert escape[1] in allowed, text
        return ESCAPES[escape[1]]
    assert "\n" not in text
    return re.sub(r"\\(.)", decode, text)


def read_labels(text):
    """A dict from the text {name="value",...}."""
    labels, at = {}, 1
    assert text[0] == "{" and text[-1] == "}", text
    while at < len(text) - 1:
        found = re.compile(r'([a-z_]+)="((?:[^"\\]|\\.)*)"(,?)').match(text,
                                                                       at)
        assert found and found[1] not in labels, text
        labels[found[1]] = unescape(found[2], '\\n"')
        at = found.end()
    return labels


def read_family(kind, lines):
    """{labels: value} from the lines (suffix of the name, labels, value) of a
    metric. The value of a summary is (sum, count)."""
    points = {}
    for suffix, labels, value in lines:
        assert math.isfinite(value), lines
        points.setdefault(labels, []).append((suffix, value))
    for labels, values in points.items():
        suffixes = ["_sum", "_count"] if kind == "summary" else [""]
        assert [suffix for suffix, _ in values] == suffixes, lines
        points[labels] = tuple(value for _, value in values)
        if kind != "summary":
            points[labels] = points[labels][0]
    return points


def read_exposition(text):
    """{metric: (type, help, {labels: value})} from an exposition, which must
    be valid."""
    metrics, name = {}, None
    assert text == "" or text.endswith("\n")
    for line in text.split("\n")[:-1]:
        if line.startswith("# HELP "):
            _, _, name, help_text = line.split(" ", 3)
            assert NAME.match(name) and name not in metrics, line
            metrics[name] = [None, unescape(help_text, "\\n"), []]
        elif line.startswith("# TYPE "):
            _, _, typed, kind = line.split(" ")
            assert typed == name and metrics[name][0] is None, line
            metrics[name][0] = kind
        else:
            found = re.match(r"^([a-z0-9_]+)(\{.*\})? (\S+)$", line)
            assert found and found[1].startswith(name), line
            labels = tuple(sorted(read_labels(found[2] or "{}").items()))
            metrics[name][2].append((found[1][len(name):], labels,
                                     float(found[3])))
    for name, (kind, help_text, lines) in metrics.items():
        assert kind in ("counter", "gauge", "summary"), name
        assert help_text and lines, name
        assert (kind == "counter") == name.endswith("_total"), name
        metrics[name] = (kind, help_text, read_family(kind, lines))
    return metrics


SAMPLE = re.compile(r"^([a-z][a-z0-9_]*)(\{.*\})? (\S+) (\d+(?:\.\d*[1-9])?)$")
SUFFIXES = {"counter": ("_total",), "gauge": ("",),
            "summary": ("_sum", "_count")}


def read_openmetrics(text):
    """{metric: (type, help, {(labels, time): value})} from OpenMetrics, which must
    be valid: the lines of a metric are together, and so are those with the same
    labels, by ascending time. Times are text."""
    metrics, series, last = {}, set(), None
    assert text.endswith("# EOF\n")
    for line in text.split("\n")[:-2]:
        if line.startswith("# HELP "):
            _, _, name, help_text = line.split(" ", 3)
            assert NAME.match(name) and name not in metrics, line
            assert not re.search(r'(?<!\\)(\\\\)*"', help_text), line
            metrics[name] = [None, unescape(help_text, '\\n"'), {}]
            last = None
        elif line.startswith("# TYPE "):
            _, _, typed, kind = line.split(" ")
            assert typed == name and metrics[name][0] is None, line
            metrics[name][0] = kind
            rest = []
        else:
            found = SAMPLE.match(line)
            assert found, line
            if not rest:
                labels = tuple(sorted(read_labels(found[2] or "{}").items()))
                key, values = (labels, found[4]), []
                if last is None or last[0] != labels:
                    assert (name, labels) not in series, line
                    series.add((name, labels))
                else:
                    assert float(last[1]) < float(found[4]), line
                last = key
                rest = list(SUFFIXES[kind])
            assert found[1] == name + rest.pop(0), line
            assert (labels, found[4]) == (
                tuple(sorted(read_labels(found[2] or "{}").items())), key[1])
            values.append(float(found[3]))
            if not rest:
                assert all(map(math.isfinite, values)), line
                metrics[name][2][key] = (tuple(values) if len(values) > 1
                                         else values[0])
    for name, (kind, help_text, points) in metrics.items():
        assert kind in SUFFIXES and help_text and points, name
    return {name: tuple(metric) for name, metric in metrics.items()}


def expositions_of(text):
    """A text exposition for each time of OpenMetrics."""
    parts = {}
    for line in text.split("\n")[:-2]:
        if line.startswith("#"):
            words = line.split(" ", 3)
            head = head + [words] if words[1] == "TYPE" else [words]
            continue
        name, time = line.rsplit(" ", 1)
        part = parts.setdefault(time, {})
        ending = "_total" if head[1][3] == "counter" else ""
        lines = part.setdefault(head[0][2], [
            " ".join([*words[:2], words[2] + ending,
                      words[3].replace('\\"', '"')]) for words in head])
        lines.append(name)
    return ["\n".join(sum(part.values(), [])) + "\n"
            for part in parts.values()]


class MetricsCase(Case):
    """A test whose expositions are checked by this reader and by promtool, the
    checker of Prometheus."""

    def lint(self, text):
        """Asserts that promtool reports nothing, if it is installed."""
        if not shutil.which("promtool"):
            return
        done = subprocess.run(["promtool", "check", "metrics"],
                              input=text.encode(), stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=SECONDS,
                              check=False)
        self.assertEqual((done.returncode, done.stdout.decode()), (0, ""))

    def openmetrics(self, *arguments, **options):
        """The metrics that cook prints of files. promtool imports them, and
        accepts those of the first and the last time as an exposition."""
        text = self.run_fine("cook", "--format", "prometheus", *arguments,
                             **options).out
        parts = expositions_of(text)
        for part in parts[:1] + parts[-1:]:
            self.lint(part)
        if shutil.which("promtool") and text != "# EOF\n":
            with tempfile.TemporaryDirectory() as folder:
                done = subprocess.run(
                    ["promtool", "tsdb", "create-blocks-from", "openmetrics",
                     self.file("import.om", text.encode()), folder],
                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                    timeout=SECONDS, check=False)
                self.assertEqual(done.returncode, 0, done.stdout.decode())
        return read_openmetrics(text)

    def expositions(self, *arguments, **options):
        """The metrics of each sample that live prints."""
        text = self.run_fine("live", "--format", "prometheus", "--interval",
                             "0.01", *arguments, **options).out
        parts = text.split("\n\n")
        parts = [part + "\n" for part in parts[:-1]] + parts[-1:]
        for part in parts:
            self.lint(part)
        return [read_exposition(part) for part in parts]

    def metrics(self, *arguments, **options):
        """The metrics that live prints; it must print one sample."""
        [metrics] = self.expositions(*arguments, **options)
        return metrics


def table_of_types():
    """{counter type: (metric type, suffix of the name, value)}: the table of
    docs/prometheus.md."""
    with open(os.path.join(ROOT, "docs", "prometheus.md"),
              encoding="utf-8") as page:
        rows = re.findall(r"^\| (`PERF_[^|]+) \| (\w+) \|"
                          r" `?(\w*)`? ?\|(?: (.+))? \|$", page.read(), re.M)
    types = [(name, row[1:]) for row in rows
             for name in re.findall(r"PERF_\w+", row[0])]
    assert len(dict(types)) == len(types)
    return dict(types)


def expected_value(value, item, object_frequency, frequency=FREQUENCY):
    """The value of a metric: `value` is the text of the table's last column,
    `item` an object of cook's JSON, `frequency` that of the performance clock."""
    return {"raw": lambda: item["raw"],
            "sum: raw": lambda: (item["raw"], item["base"]),
            "raw / base": lambda: item["raw"] / item["base"],
            "displayed": lambda: item["value"],
            "raw / 10,000,000": lambda: item["raw"] / 1e7,
            "raw / PerfFreq": lambda: item["raw"] / frequency,
            "sum: raw / PerfFreq":
                lambda: (item["raw"] / frequency, item["base"]),
            "raw / object's frequency":
                lambda: item["raw"] / object_frequency,
            }[value]()
