# SPDX-License-Identifier: MIT
"""For the tests of live --format prometheus: a reader of Prometheus' text
format, and the table of docs/prometheus.md with the metric of each type."""

import math
import os
import re
import shutil
import subprocess

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


def expected_value(value, item, object_frequency):
    """The value of a metric: `value` is the text of the table's last column,
    `item` an object of cook's JSON. The performance clock has 10 MHz."""
    return {"raw": lambda: item["raw"],
            "sum: raw": lambda: (item["raw"], item["base"]),
            "raw / base": lambda: item["raw"] / item["base"],
            "displayed": lambda: item["value"],
            "raw / 10,000,000": lambda: item["raw"] / 1e7,
            "raw / PerfFreq": lambda: item["raw"] / FREQUENCY,
            "sum: raw / PerfFreq":
                lambda: (item["raw"] / FREQUENCY, item["base"]),
            "raw / object's frequency":
                lambda: item["raw"] / object_frequency,
            }[value]()
