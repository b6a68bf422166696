# SPDX-License-Identifier: MIT
"""The examples any_file, live_counters, metric_map, two_replies and v1_agent
work, and README.md prints the first one."""

import collections
import os
import pathlib
import re
import shlex
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(
    os.path.abspath(__file__)), os.pardir, "oracle"))

import running  # noqa: E402 (in the folder that was just added)
import v1_blocks as v1  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FIXTURE = ROOT / "fixtures" / "processor_information.pfb"
MACHINE_V1 = ROOT / "fixtures" / "machine_v1.pfb"
INSTANCES = "0,0", "0,1", "0,_Total", "_Total"
LIVE_SYSTEM = os.environ.get("PERFBLOCK_SYSTEM") == "Linux"
COMPILER = os.environ.get("PERFBLOCK_COMPILER", "")
EMULATED = bool(os.environ.get("PERFBLOCK_EMULATOR"))


def run(name, *arguments):
    """Runs an example; returns its exit status, output and errors."""
    suffix = ".exe" if os.environ.get("PERFBLOCK_SYSTEM") == "Windows" else ""
    path = os.path.join(os.environ["PERFBLOCK_EXAMPLES"], name + suffix)
    emulator = shlex.split(os.environ.get("PERFBLOCK_EMULATOR", "").replace(
        ";", " "))
    done = running.finish([*emulator, path, *arguments], timeout=60)
    return (done.returncode, done.stdout.decode().replace("\r", ""),
            done.stderr.decode().replace("\r", ""))


def machine_values():
    """{path: displayed values in the samples of the machine}. A value is an
    empty text where there is none."""
    text = ROOT.joinpath("fixtures", "machine.tsv").read_text(encoding="utf-8")
    return {row[0]: row[1:] for row in (
        line.split("\t") for line in text.splitlines()) if len(row) > 1}


def displayed():
    """{instance: displayed values of "% Processor Time" in the samples of the
    fixture}. The first is an empty text."""
    path = re.escape("\\Processor Information(") + "(.*)" + re.escape(
        ")\\% Processor Time")
    return {re.fullmatch(path, name)[1]: values[:11]
            for name, values in machine_values().items() if re.fullmatch(path, name)}


def samples():
    """Two blocks: raw counts of 10 and 70, and a rate of 30 in 2 seconds."""
    counters = [v1.counter(20, v1.RAW, 4, 4), v1.counter(22, v1.COUNTER, 8, 4)]
    for moment, raw, count in ((1, 10, 100), (3, 70, 130)):
        values = v1.LITTLE.values((4, 4, raw), (8, 4, count))
        yield v1.LITTLE.block(v1.LITTLE.object(
            2, counters, v1.LITTLE.instance("a", values)), moment=moment)


def chunks(data):
    """(tag, payload) of the chunks of a recording."""
    at = 0
    while at < len(data):
        size = int.from_bytes(data[at + 8:at + 16], "little")
        yield data[at:at + 4], data[at + 16:at + 16 + size]
        at += 16 + (size + 7) // 8 * 8


class Examples(unittest.TestCase):
    """Sources and output of the examples."""

    def test_the_readme_prints_them(self):
        """README.md has all of any_file, and the line of live_counters that
        adds the input."""
        page = ROOT.joinpath("README.md").read_text(encoding="utf-8")
        program, line, *_ = re.findall(r"^```c\n(.*?)^```", page, re.M | re.S)
        text = ROOT.joinpath("examples", "any_file.c").read_text(
            encoding="utf-8")
        self.assertEqual(text.partition("\n")[2], program)
        text = ROOT.joinpath("examples", "live_counters.c").read_text(
            encoding="utf-8")
        self.assertIn(line.strip().rstrip(";"), text)

    @unittest.skipUnless(COMPILER and not EMULATED, "no compiler")
    def test_pages_compile(self):
        """The code of collect.md and stream.md compiles; blocks without
        #include are statements."""
        head = ("#include <perfblock/collect.h>\n"
                "bool write(void *file, const void *bytes, size_t size);\n"
                "static void use(pfb_stream *stream, pfb_collector *collector,"
                " const pfb_selection *selection, const void *data,"
                " size_t size, int64_t from, int64_t to, uint32_t element,"
                " void *file)\n{\n    pfb_record record;\n    {\n")
        includes = [f"-I{ROOT / part / 'include'}"
                    for part in ("core", "platform")]
        for page in ("collect.md", "stream.md"):
            text = ROOT.joinpath("docs", page).read_text(encoding="utf-8")
            blocks = re.findall(r"^```c\n(.*?)^```", text, re.M | re.S)
            self.assertNotEqual(blocks, [])
            for block in blocks:
                if "#include" not in block:
                    block = head + block + "    }\n}\n"
                done = running.finish(
                    [COMPILER, "-std=c11", "-fsyntax-only", "-Wall", "-Werror",
                     "-Wno-unused", *includes, "-x", "c", "-"],
                    input=block.encode())
                self.assertEqual(done.returncode, 0, done.stderr.decode())

    def test_two_blocks(self):
        """The program computes values from two V1 blocks, whatever their
        order, and reports a truncated block. A block that both files have is
        used once, with a note."""
        with tempfile.TemporaryDirectory() as folder:
            paths = [os.path.join(folder, name) for name in "nab"]
            table = v1.table(("1", "1847"), ("2", "Thing"), ("20", "Size"),
                             ("22", "Things/sec"))
            for path, content in zip(paths, [table, *samples()]):
                pathlib.Path(path).write_bytes(content)
            names, older, newer = paths
            expected = (0, "Thing(a)\\Size: 70  ok\n"
                        "Thing(a)\\Things/sec: 15 /sec ok\n", "")
            for pair in ((older, newer), (newer, older)):
                self.assertEqual(run("two_replies", *pair, "names", names),
                                 expected)
            status, out, err = run("two_replies", older, older, "names", names)
            self.assertEqual((status, out), (0, ""))
            self.assertRegex(err, r"^.+: offset 0: .+: 1\n$")
            pathlib.Path(newer).write_bytes(
                pathlib.Path(newer).read_bytes()[:-8])
            status, out, err = run("two_replies", older, newer, "names", names)
            self.assertEqual((status, out), (1, ""))
            self.assertRegex(err, r"^.+: offset \d+: .+\n$")
            self.assertEqual(run("two_replies")[0], 2)

    def test_two_replies(self):
        """The program computes values from two V2 replies with the metadata
        of their query, and has no names and types without it."""
        with tempfile.TemporaryDirectory() as folder:
            def save(name, content):
                path = os.path.join(folder, name)
                pathlib.Path(path).write_bytes(content)
                return path
            replies, metadata = [], []
            for tag, body in chunks(FIXTURE.read_bytes()):
                if tag == b"DATA":
                    replies.append(save(f"{len(replies)}", body))
                elif tag == b"QINF":
                    metadata += ["info", save("info", body)]
                elif tag == b"RGST":  # after the GUID and two numbers
                    code = str(int.from_bytes(body[16:20], "little"))
                    metadata += [code, save("code" + code, body[24:])]
            status, out, err = run("two_replies", *replies[:2], *metadata)
            self.assertEqual((status, err), (0, ""))
            values = [line.partition("% Processor Time: ")[::2]
                      for line in out.splitlines()]
            self.assertEqual(
                [pair for pair in values if pair[1]],
                [(f"Processor Information({name})\\", f"{value} % ok")
                 for name, (_, value, *_) in displayed().items()])
            status, out, err = run("two_replies", *replies[:2])
            self.assertEqual(status, 0)
            self.assertNotIn(" ok", out)

    @unittest.skipUnless(LIVE_SYSTEM and not EMULATED,
                         "only the tests on Linux have live counters")
    def test_live_counters(self):
        """The program prints processor times of this machine, and reports
        wrong paths."""
        status, out, err = run("live_counters")
        self.assertEqual((status, err), (0, ""))
        lines = out.splitlines()
        self.assertGreaterEqual(len(lines), 3 * 2)
        for line in lines:
            self.assertRegex(line, r"^\S+ % Processor Time -?\d+\.\d\d %$")
        status, out, err = run("live_counters", "\\Procesor(*)\\%")
        self.assertEqual((status, out), (1, ""))
        self.assertIn("Procesor", err)
        self.assertIn("none is a path", run("live_counters", "none is a path")[2])

    def test_counters_of_a_capture(self):
        """The program prints the values in the table of the fixture."""
        capture = str(FIXTURE)
        values = displayed()
        self.assertEqual(tuple(values), INSTANCES)
        path = "\\Processor Information(*)\\% Processor Time"
        for names, chosen in ((INSTANCES, path),
                              (INSTANCES[1:2], path.replace("*", "0,1"))):
            expected = "".join(
                f"{name} % Processor Time {float(values[name][number]):.2f} %\n"
                for number in (1, 2, 3) for name in names)
            self.assertEqual(run("live_counters", chosen, capture),
                             (0, expected, ""))

    def test_any_file(self):
        """Files of several formats give a row for each value, and a sentence
        for each problem."""
        with tempfile.TemporaryDirectory() as folder:
            capture = str(FIXTURE)
            text = os.path.join(folder, "log.csv")
            pathlib.Path(text).write_text(
                '"(PDH-CSV 4.0) (UTC)(0)","\\\\M\\Thing(a)\\Size"\n'
                '"01/02/2024 00:00:01.000","70.5"\n', encoding="ascii")
            status, out, err = run("any_file", capture, text)
            self.assertEqual((status, err), (0, ""))
            rows = [line.split("\t")[1:] for line in out.splitlines()]
            values = [value for path, value, status in rows if status == "ok"
                      and path.endswith("(0,1)\\% Processor Time")]
            self.assertEqual(values, displayed()["0,1"][1:])
            self.assertIn(["\\\\M\\Thing(a)\\Size", "70.5", "ok"], rows)
            broken = os.path.join(folder, "broken.pfb")
            pathlib.Path(broken).write_bytes(
                pathlib.Path(capture).read_bytes()[:-8])
            status, out, err = run("any_file", broken)
            self.assertEqual(status, 0)
            self.assertRegex(err, r"broken\.pfb: offset \d+: .+\n$")

    def test_v1_agent(self):
        """The program prints the values in the table of the machine."""
        values = machine_values()
        for path, instances, *counters in (
                ("\\Process({})\\",
                 ("Idle", "System", "database", "agent", "_Total"),
                 "% Processor Time", "Working Set", "Elapsed Time"),
                ("\\PhysicalDisk({})\\", ("0 C: D:", "_Total"),
                 "% Disk Time", "Avg. Disk sec/Read"),
                ("\\Memory\\", ("(none)",),
                 "Pages/sec", "% Committed Bytes In Use")):
            status, out, err = run(
                "v1_agent", str(MACHINE_V1), path.split("\\")[1].split("(")[0],
                *counters)
            self.assertEqual((status, err), (0, ""))
            found = collections.defaultdict(list)
            for line in out.splitlines():
                _, instance, counter, value = line.split("\t")
                found[instance, counter].append(float(value))
            expected = {
                (instance, counter): [
                    float(value) for value
                    in values[path.format(instance) + counter] if value]
                for instance in instances for counter in counters}
            self.assertEqual(dict(found), expected)
        self.assertEqual(run("v1_agent")[0], 2)

    def test_metric_map(self):
        """The program exports the values in the table of the machine."""
        status, out, err = run("metric_map", str(MACHINE_V1))
        self.assertEqual((status, err), (0, ""))
        found = collections.defaultdict(list)
        for line in out.splitlines():
            metric, value, _ = line.split(" ")
            found[metric].append(float(value))
        counters = {"busy": "% Processor Time", "user": "% User Time",
                    "privileged": "% Privileged Time", "idle": "% Idle Time"}
        values = machine_values()
        expected = {}
        for cpu in "01":
            path = f"\\Processor({cpu})\\"
            for kind, counter in counters.items():
                expected[f'cpu_share{{cpu="{cpu}",kind="{kind}"}}'] = [
                    float(value) * 0.01
                    for value in values[path + counter] if value]
            expected[f'cpu_interrupts{{cpu="{cpu}",kind="all"}}'] = [
                float(value)
                for value in values[path + "Interrupts/sec"] if value]
        self.assertEqual(dict(found), expected)
        self.assertEqual(run("metric_map")[0], 2)

    def test_captures_that_cannot_be_opened(self):
        """A missing file and a file of another format are reported."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "no.pfb")
            status, out, err = run("live_counters", "\\a\\b", path)
            self.assertEqual((status, out), (1, ""))
            self.assertIn("no.pfb", err)
            pathlib.Path(path).write_bytes(b"text\x1a")
            status, out, err = run("live_counters", "\\a\\b", path)
            self.assertEqual((status, out), (1, ""))
            self.assertNotEqual(err, "")

    @unittest.skipUnless(os.environ.get("PERFBLOCK_SYSTEM") == "Windows",
                         "the test is for Wine")
    def test_no_live_counters(self):
        """Wine has no countersets."""
        status, out, err = run("live_counters")
        self.assertEqual((status, out), (1, ""))
        self.assertNotEqual(err, "")


if __name__ == "__main__":
    unittest.main()
