# SPDX-License-Identifier: MIT
"""The page of `show -f html`: a row for each field of a file with its bytes,
name and value. All bytes are shown in order. Errors are shown at the offsets that
`show` reports."""

import glob
import os
import re
import struct
import sys
import unittest
import uuid

import captures as c
import cpi_writer as cpi
import pages
from program import (CORPUS, ROOT, STEP, Case, bytes_of, needs_real_data, real,
                     writer as w)
from compare_log import STATUSES
from test_report import HOSTILE, hostile_capture
from test_show import RESULTS

sys.path.insert(0, os.path.join(ROOT, "scripts"))
import make_layouts  # noqa: E402 (in the folder that was just added)

TAGS = set("html head meta title style body header h1 p ul li a main details "
           "summary b em table tbody tr td th small section h2 footer".split())
SEEDS = [os.path.join(CORPUS, subject, "seeds", name)
         for subject in ("v2", "v1", "capture", "log", "pdh_text", "lwp",
                         "hooks")
         for name in sorted(os.listdir(os.path.join(CORPUS, subject,
                                                    "seeds")))]
TEXTS = [os.path.join(CORPUS, "text", "seeds", name)
         for name in sorted(os.listdir(os.path.join(CORPUS, "text",
                                                    "seeds")))]
SEEDS, TEXTS = SEEDS[::STEP], TEXTS[::STEP]
# --kind for the folders with seeds whose format is not detected.
KINDS = {"lwp": "lwp", "hooks": "cpi", "text": "snapshots"}


# The structures that are headed by their record.
HEADED = ("data result object counter chunk counterset identifier control "
          "group record path item row").split()


def field_kinds():
    """{(field, size): formats} of the numbers and times in fields.c. Some names
    of strings are also those of their offsets."""
    kinds = {}
    path = os.path.join(ROOT, "cli", "visitor", "fields.c")
    for _, body in make_layouts.ARRAY.findall(bytes_of(path).decode()):
        for _, size, kind, name, *_ in make_layouts.ROW.findall(body):
            if size != "0" and kind not in ("ASCII", "UTF16", "BYTES") and \
                    name not in ("", "machine", "object", "instance", "parent",
                                 "counter", "name"):
                kinds.setdefault((name, int(size)), set()).add(kind)
    return kinds


FIELDS = field_kinds()


def value_of(kind, data, order):
    """The value of a field of some format as the page has it, before the words
    that explain it."""
    number = int.from_bytes(data, order)
    if kind == "SIGNED":
        return str(int.from_bytes(data, order, signed=True))
    if kind == "HEX":
        return "0x%X" % number
    if kind == "ID":
        return "none" if number == 2**32 - 1 else str(number)
    if kind == "RESULT":
        return RESULTS.get(number, "unknown")
    if kind == "PDH_STATUS":
        return STATUSES.get(number, "unknown_status_0x%08X" % number)
    if kind == "GUID":
        return str(uuid.UUID(bytes_le=data))
    if kind == "SYSTEM_TIME":
        parts = struct.unpack((">" if order == "big" else "<") + "8H", data)
        return "%04d-%02d-%02dT%02d:%02d:%02d.%03d" % (parts[:2] + parts[3:])
    if kind == "HIGH_LOW":
        return str(int.from_bytes(data[:4], order) << 32 |
                   int.from_bytes(data[4:], order))
    if kind == "FIGURE":
        words = struct.unpack("<II", data)
        return "undefined" if words == (2**32 - 1,) * 2 else \
            ("%d.%04d" if words[1] < 10000 else "%d, %d") % words
    return str(number)


def kind_of(path):
    """The options that a seed needs, by its folder."""
    subject = os.path.basename(os.path.dirname(os.path.dirname(path)))
    return ("--kind", KINDS[subject]) if subject in KINDS else ()


class Row:
    """A row of the page. `rule` is the limit that the field must obey;
    `structures` are the names of the structures around it, outermost first.
    A row is repeated if a row before it has its bytes."""

    def __init__(self, row, structures):
        cells = [e for e in row.children if isinstance(e, pages.Element)]
        self.offset = int(cells[0].text())
        self.bytes = bytes.fromhex(cells[1].text())
        self.name, self.value = cells[2].text(), cells[3].text()
        self.rule = cells[4].text()
        self.is_repeated = row.attributes.get("class") == "repeated"
        self.structures = structures


class BytePage(pages.Page):
    """The page of a file: `rows` in order, `errors` as (preceding row,
    message), `structures` as (name, whether it is unfolded), `headings` as what
    follows these names."""

    def __init__(self, text):
        super().__init__(text)
        self.rows, self.errors = [], []
        self.structures, self.headings = [], []
        main, = self.find("main")
        self.collect(main, ())
        self.links = [e.text() for e in self.find("a")]

    def collect(self, element, enclosing):
        """Collects the rows, errors and structures inside an element, which is
        inside the structures `enclosing`."""
        if element.attributes.get("id") == "fields":
            return
        if element.tag == "details":
            name = element.find("b")[0].text()
            enclosing += (name,)
            self.structures.append((name, "open" in element.attributes))
            self.headings.append(" ".join(
                element.find("summary")[0].children[2].split()))
        elif element.tag == "tr" and \
                element.attributes.get("class") == "error":
            self.errors.append((self.rows[-1] if self.rows else None,
                                element.text()))
            return
        elif element.tag == "tr":
            self.rows.append(Row(element, enclosing))
            return
        for child in element.children:
            if isinstance(child, pages.Element):
                self.collect(child, enclosing)

    def named(self, name):
        """The rows of a field."""
        return [row for row in self.rows if row.name == name]


class PageCase(Case):
    """A test of pages."""

    def setUp(self):
        super().setUp()
        self.seen = set()  # the fields of FIELDS that were compared

    def page(self, path, *arguments, status=0):
        """The parsed page and the run. The rows of the page must contain every
        byte of the file, in order."""
        done = self.run_program("show", "-f", "html", path, *arguments)
        self.assertEqual(done.status, status, (path, done.err))
        page = BytePage(done.out)
        pages.check_safe(self, page, TAGS)
        data = bytes_of(path)
        at = 0
        for row in page.rows:
            end = row.offset + len(row.bytes)
            self.assertEqual(row.bytes, data[row.offset:end], path)
            self.assertEqual(row.is_repeated, row.offset < at,
                             (path, row.offset))
            if not row.is_repeated:
                self.assertEqual(row.offset, at, path)
            at = max(at, end)
        self.assertEqual(at, len(data), path)
        return page, done

    def check_values(self, page):
        """Asserts that each field has the value of its bytes."""
        order = "little"
        for row in page.rows:
            key = row.name, len(row.bytes)
            if row.name == "Signature":
                order = "big" if row.bytes[0] == 0 else "little"
            if key not in FIELDS or row.structures[-1:] in (("Line",),
                                                            ("Snapshot",)):
                continue
            in_v1 = "PERF_DATA_BLOCK" in row.structures
            found = row.value if "FIGURE" in FIELDS[key] else \
                row.value.split(" ")[0]
            self.assertIn(found, [
                value_of(kind, row.bytes, order if in_v1 else "little")
                for kind in FIELDS[key]], (row.name, row.offset))
            self.seen.add(key)

    def check_headings(self, page, *arguments):
        """Asserts that the structures are headed by the records of show, in
        the same order."""
        def counts(lines):
            return [line for line in lines if line.split(" ")[0] in HEADED]
        shown = self.run_program("show", *arguments)
        self.assertEqual(
            counts(re.sub(r" \(\d.*\)$", "", text) for text in page.headings),
            counts(" ".join(line.split()[1:]) for line in shown.lines()))


class Bytes(PageCase):
    """Rows of every format, compared with show."""

    def compare(self, path, *kind):
        """Asserts that the page has every byte of a file, and the errors that
        show reports, each next to the bytes at its offset. A file of unknown
        format must be refused."""
        shown = self.run_program("show", path, "--format", "json", *kind)
        expected = ["offset %d: %s: %s" % (e["offset"], e["code"],
                                           e["message"])
                    for e in shown.objects() if e["record"] == "error"]
        if any(text.startswith("offset 0: unknown_format")
               for text in expected):
            done = self.run_program("show", "-f", "html", path)
            self.assertEqual((done.status, done.out), (1, ""))
            return
        page, done = self.page(path, *kind, status=1 if expected else 0)
        self.assertEqual(sorted(done.errors()), sorted(shown.errors()))
        self.assertEqual(sorted(text for _, text in page.errors),
                         sorted(expected), path)
        self.assertEqual(sorted(page.links), sorted(expected), path)
        self.check_values(page)
        self.check_headings(page, path, *kind)
        size = os.path.getsize(path)
        for row, text in page.errors:
            offset = int(re.match(r"offset (\d+)", text)[1])
            if row is not None and offset < size:
                self.assertIn(offset, range(
                    row.offset, row.offset + len(row.bytes)), path)

    def test_seeds(self):
        """Each seed of SEEDS and TEXTS has its page."""
        for path in SEEDS + TEXTS:
            self.compare(path, *kind_of(path))
        if STEP == 1:
            self.assertEqual(set(FIELDS) - self.seen, set())

    def test_chunks(self):
        """CPI hooks and snapshot texts inside a chunk of a capture."""
        for path in SEEDS + TEXTS:
            subject = os.path.basename(os.path.dirname(os.path.dirname(path)))
            tag = {"hooks": b"CPIH", "text": b"CPIS"}.get(subject)
            if tag:
                data = bytes_of(path)
                self.compare(self.file(
                    subject + "-" + os.path.basename(path) + ".pfb",
                    w.recording(w.chunk(tag, data), w.chunk(b"NOTE", b"end"))))

    def test_a_reply(self):
        """Fields in the layout of perflib.h."""
        data = w.reply(c.instances_result([7], [(3, "sda", [1234567890123])]))
        page, _ = self.page(self.file("a.bin", data))
        found = [(row.offset, row.name, row.value) for row in page.rows]
        self.assertEqual(found[:5], [
            (0, "dwTotalSize", str(len(data))), (4, "dwNumCounters", "1"),
            (8, "PerfTimeStamp", "1000000"),
            (16, "PerfTime100NSec", "133000000000000000"),
            (24, "PerfFreq", "10000000")])
        self.assertEqual(found[6:10], [
            (48, "dwStatus", "0"), (52, "dwType", "counterset"),
            (56, "dwSize", str(len(data) - 48)), (60, "Reserved", "0")])
        self.assertIn((72, "counter id 0", "7"), found)
        self.assertEqual([row.rule for row in page.rows[:3]],
                         ["48 up to the input's size",
                          "at most (total size - 48) / 16", ""])
        value, = page.named("value of counter 7")
        self.assertEqual((value.value, value.structures),
                         ("1234567890123",
                          ("PERF_DATA_HEADER", "PERF_COUNTER_HEADER",
                           "PERF_INSTANCE_HEADER")))
        name, = page.named("name")
        self.assertEqual((name.value, name.bytes),
                         ("sda", "sda\0".encode("utf-16-le")))

    def test_values_are_those_of_show(self):
        """The values on the page are the raw values that show prints. In V2,
        show prints the offset of PERF_COUNTER_DATA, 8 bytes before the value.
        """
        for path in SEEDS:
            if "valid" not in os.path.basename(path):
                continue
            if path.endswith((".blg", ".csv")) or kind_of(path):
                continue
            raw = {}
            for record in self.run_json("show", path):
                if record["record"] == "value" and record["raw"] is not None:
                    at = record["offset"] + (0 if "object" in record else 8)
                    raw.setdefault(at, set()).add(str(record["raw"]))
            page, _ = self.page(path)
            found = {}
            for row in page.rows:
                if row.name.startswith("value") and row.value:
                    found.setdefault(row.offset, set()).add(row.value)
            self.assertEqual(found, raw, path)

    @needs_real_data
    def test_captured_v1(self):
        """Captured V1 blocks have their signature, all their counters, and
        their types."""
        names = ("--names", real("v1", "names-009.tsv"))
        paths = sorted(glob.glob(real("v1", "*.bin")))
        self.assertTrue(paths)
        for path in paths:
            page, _ = self.page(path, *names)
            signature = page.rows[0]
            self.assertEqual((signature.name, signature.value),
                             ("Signature", "PERF"))
            count, = page.named("NumCounters")
            self.assertEqual(
                sum(s == "PERF_COUNTER_DEFINITION"
                    for s, _ in page.structures), int(count.value))
            for row in page.named("CounterType"):
                self.assertEqual(int(row.value.split()[0]),
                                 struct.unpack("<I", row.bytes)[0])

    def test_metadata(self):
        """Metadata of each kind has its fields."""
        guid = c.DISK
        infos = [w.counter_info(1, c.BULK), w.counter_info(2, c.RAW)]
        for data, arguments, expected in (
                (w.counterset(guid, infos),
                 ("--kind", "registration", "--request", "1"),
                 {"CounterSetGuid": guid, "NumCounters": "2"}),
                (w.string("Alpha"),
                 ("--kind", "registration", "--request", "3"),
                 {"string": "Alpha"}),
                (w.string_block([(1, "Reads"), (2, "Writes")]),
                 ("--kind", "strings"),
                 {"string of counter 1": "Reads", "dwCounters": "2",
                  "string of counter 2": "Writes"}),
                (w.identifier(guid, name="sd*", index=4),
                 ("--kind", "identifiers"),
                 {"CounterSetGuid": guid, "Index": "4", "name": "sd*"}),
                (c.instance_list("sda"), ("--kind", "instances"),
                 {"InstanceId": "0", "name": "sda"}),
                (w.guid_bytes(guid), ("--kind", "guids"), {"GUID": guid})):
            page, _ = self.page(self.file("a.bin", data), *arguments)
            for name, value in expected.items():
                self.assertEqual([row.value for row in page.named(name)],
                                 [value], arguments)

    def test_a_capture(self):
        """Each chunk of a capture is shown with its tag and what it contains.
        """
        page, _ = self.page(self.file("a.pfb", c.three_sets()))
        tags = [row.value for row in page.named("tag")]
        self.assertEqual(tags, ["PFBC"] + ["RGST", "RGST", "RGST", "INST",
                                           "RGST", "RGST", "RGST", "RGST",
                                           "RGST", "RGST", "INST"] +
                         ["QINF", "DATA", "DATA"])
        values = [row.value for row in page.named("value of counter 7")]
        self.assertEqual(values, ["777", "778"])
        headings = [e.text() for e in page.find("summary")]
        self.assertRegex(headings[1], r'^16 Chunk chunk  tag "RGST"  version 1'
                         r'  size \d+  guid [-0-9a-f]+  request 1  language 0$')

    def test_the_padding_of_the_last_chunk(self):
        """The zeros after the last chunk are shown as its padding."""
        page, _ = self.page(self.file("a.pfb", w.recording(
            w.chunk(b"NOTE", b"end"))))
        self.assertEqual([(row.name, row.bytes, row.structures)
                          for row in page.rows[-2:]],
                         [("text", b"end", ("Chunk",)),
                          ("padding", bytes(5), ("Chunk",))])


class Cpi(PageCase):
    """CPI hooks and snapshot texts."""

    def test_a_summary(self):
        """The example of docs/cpi.md."""
        page, _ = self.page(self.file("a.bin", cpi.first_example()),
                               "--kind", "cpi")
        self.assertEqual([(row.offset, row.name, row.value)
                          for row in page.rows], [
            (0, "length and type", "0x64"), (2, "major", "0xC0"),
            (4, "minor", "0x10000001"), (8, "time stamp", "0"),
            (12, "flags", "0x3"), (16, "n", "2"), (20, "elapsed", "3000000"),
            (28, "CPI of CPU #0", "2.0000"), (36, "CPI of CPU #1", "1.0000"),
            (44, "CPI of the system", "1.3333"),
            (52, "scaled CPI of CPU #0", "1.5000"),
            (60, "busy of CPU #0", "75.0000"),
            (68, "scaled CPI of CPU #1", "0.2000"),
            (76, "busy of CPU #1", "20.0000"),
            (84, "scaled CPI of the system", "0.6333"),
            (92, "busy of the system", "47.5000")])
        self.assertEqual([name for name, _ in page.structures],
                         ["Group", "Hook"])

    def test_a_wrong_figure(self):
        """A record with an invalid figure is shown with its other fields, and
        the invalid figure as two words."""
        data = bytearray(cpi.first_example())
        data[32:36] = struct.pack("<I", 10000)  # the fraction of CPU 0
        page, _ = self.page(self.file("a.bin", bytes(data)),
                               "--kind", "cpi", status=1)
        (row, text), = page.errors
        self.assertEqual((row.name, row.offset), ("length and type", 0))
        self.assertIn("bad_fraction", text)
        figure, = page.named("CPI of CPU #0")
        self.assertEqual(figure.value, "2, 10000")
        page, _ = self.page(self.file("b.bin", bytes(data) + b"rest"),
                               "--kind", "cpi", status=1)
        self.assertEqual((page.rows[-1].name, page.rows[-1].bytes),
                         ("not read", b"rest"))

    def test_other_records(self):
        """Records with other major codes before, between and after groups."""
        other = struct.pack("<HHIII", 16, 0xC1, 0, 0, 7)
        group = cpi.first_example()
        page, _ = self.page(
            self.file("a.bin", other + group + other + group + other),
            "--kind", "cpi")
        self.assertEqual([name for name, _ in page.structures],
                         ["Hook"] + ["Group", "Hook", "Hook"] * 2)
        self.assertEqual([row.value for row in page.named("major")],
                         ["0xC1", "0xC0", "0xC1", "0xC0", "0xC1"])
        self.assertEqual([row.bytes for row in page.named("not explained")],
                         [struct.pack("<I", 7)] * 3)

    def text(self, *lines, status=0):
        """The page of a snapshot text in a capture."""
        return self.page(self.file("a.pfb", w.recording(w.chunk(
            b"CPIS", b"".join(line + b"\n" for line in lines)))),
                            status=status)[0]

    def test_a_text(self):
        """Each field of a snapshot text is a row."""
        page = self.text(b"cpi-snapshots 1", b"widths 40  64", b"# two",
                         b"snapshot 500", b"cpu 0 1 2 3 4", b"",
                         b"thread 900 5 6\tuser", b"refuse -257 it is gone ")
        self.assertEqual(
            [(row.name, row.value, row.bytes) for row in page.rows
             if row.offset >= 32 and row.name != "padding"], [
                ("line", "cpi-snapshots", b"cpi-snapshots "),
                ("version", "1", b"1\n"), ("line", "widths", b"widths "),
                ("bits of instructions", "40", b"40  "),
                ("bits of cycles", "64", b"64\n"),
                ("comment", "# two", b"# two\n"),
                ("line", "snapshot", b"snapshot "),
                ("clock", "500", b"500\n"), ("line", "cpu", b"cpu "),
                ("CPU", "0", b"0 "), ("instructions", "1", b"1 "),
                ("cycles", "2", b"2 "), ("busy", "3", b"3 "),
                ("elapsed", "4", b"4\n"), ("empty line", "", b"\n"),
                ("line", "thread", b"thread "), ("thread id", "900", b"900 "),
                ("instructions", "5", b"5 "), ("cycles", "6", b"6\t"),
                ("user mode only", "user", b"user\n"),
                ("line", "refuse", b"refuse "), ("code", "-257", b"-257 "),
                ("sentence", "it is gone", b"it is gone \n")])
        self.assertEqual([name for name, _ in page.structures],
                         ["Chunk", "Chunk", "Line", "Line", "Snapshot",
                          "Line", "Line", "Line"])

    def test_a_wrong_line(self):
        """The line with the error is shown, and the rest is not read."""
        page = self.text(b"cpi-snapshots 1", b"snapshot 1", b"cpu 0 1 x y",
                         b"cpu 1 1 1", status=1)
        (row, text), = page.errors
        self.assertEqual((row.name, row.value, row.structures),
                         ("line", "cpu", ("Chunk", "Snapshot", "Line")))
        self.assertIn("bad_cpi_line", text)
        self.assertEqual([row.value for row in page.named("cycles")], ["x"])
        self.assertEqual([row.bytes[:10] for row in page.named("not read")],
                         [b"cpu 1 1 1\n"])


class Logs(PageCase):
    """Perfmon logs, whose records may be spread over several events."""

    def names(self, rows):
        """The names in these rows. The row of a name's offset precedes the row
        of the name; a name that is absent has only the former, with the value
        "none"."""
        found, rows = [], iter(rows)
        for row in rows:
            found.append(None if row.value == "none" else next(rows).value)
        return found

    def compare(self, path):
        """Asserts that values are those of the bytes, and names those of show.
        """
        done = self.run_program("show", path, "--format", "json")
        page, _ = self.page(path, status=done.status)
        self.check_values(page)
        self.check_headings(page, path)
        paths = [record for record in done.objects()
                 if record["record"] == "path"]
        for key in ("object", "counter"):
            self.assertEqual(
                self.names(page.named(key)),
                [record[key] and pages.INVISIBLE.sub(
                    lambda m: "\\u%04X" % ord(m[0]), record[key])
                 for record in paths])

    def test_logs_of_the_corpus(self):
        """The rows of the valid logs of the corpus have show's values."""
        for path in SEEDS:
            if path.endswith(".blg") and "valid" in os.path.basename(path):
                self.compare(path)

    def test_bytes_between_fields(self):
        """The index before each name of a name table, and the zeros that fill
        a path up to a multiple of 8."""
        page, _ = self.page(os.path.join(CORPUS, "log", "seeds",
                                            "valid_objects.blg"))
        separators = [row for row in page.rows if "Name table" in
                      row.structures and not row.name.startswith("name of")]
        self.assertIn("31 00 00 00", [row.bytes.hex(" ")
                                      for row in separators])
        self.assertLessEqual({row.name for row in separators},
                             {"index and separators", "end"})
        page, _ = self.page(os.path.join(CORPUS, "log", "seeds",
                                            "valid_counters.blg"))
        self.assertIn(("padding", bytes(4)), [
            (row.name, row.bytes) for row in page.rows
            if "Path" in row.structures])

    @needs_real_data
    def test_captured_logs(self):
        """The rows of a captured log have show's values. The page of a
        truncated one has its structures, and a link to each error."""
        with open(real("blg", "win8-counters.blg"), "rb") as file:
            self.compare(self.file("a.blg", file.read(2 * 65536)))
        path = real("blg", "vista-objects-cut.blg")
        page, done = self.page(path, status=1)
        self.assertEqual([text for _, text in page.errors], page.links)
        self.assertIn("truncated_record", done.err)
        self.assertIn("PERF_OBJECT_TYPE",
                      {name for name, _ in page.structures})

    def test_text(self):
        """The page has a row for each cell of a text log."""
        path = self.file("a.csv", b'"(PDH-CSV 4.0) (CET)(-60)","\\\\M\\A\\B",'
                         b'"\\\\M\\A\\C"\r\n"01/02/2013 03:04:05.006",'
                         b'"1.5"," "\r\n\r\nExiting\r\n')
        page, _ = self.page(path)
        self.assertEqual([(row.name, row.bytes) for row in page.rows], [
            ("first cell", b'"(PDH-CSV 4.0) (CET)(-60)",'),
            ("column 0", b'"\\\\M\\A\\B",'),
            ("column 1", b'"\\\\M\\A\\C"\r\n'),
            ("first cell", b'"01/02/2013 03:04:05.006",'),
            ("column 0", b'"1.5",'), ("column 1", b'" "\r\n'),
            ("not read", b"\r\nExiting\r\n")])


class Structures(PageCase):
    """Which structures are unfolded; errors in sizes; options."""

    def reply(self, count, broken=None):
        """A reply with `count` instances. The value of instance `broken` has a
        wrong size."""
        blocks = []
        for number in range(count):
            value = struct.pack("<II", 99, 16) + bytes(8) \
                if number == broken else w.v8(number)
            blocks.append(w.instance(number, "i%d" % number, value))
        return w.reply(w.result(w.COUNTERSET, w.id_list([1]) +
                                w.instance_block(*blocks)))

    def opened(self, page):
        """For each instance, whether it is unfolded."""
        return [is_open for name, is_open in page.structures
                if name == "PERF_INSTANCE_HEADER"]

    def test_instances_fold(self):
        """Eight instances are unfolded, those after them are folded."""
        page, _ = self.page(self.file("a.bin", self.reply(10)))
        self.assertEqual(self.opened(page), [True] * 8 + [False] * 2)

    def test_structures_with_an_error_are_unfolded(self):
        """The structures around an error are unfolded."""
        page, _ = self.page(self.file("a.bin", self.reply(20, 11)),
                               status=1)
        (row, text), = page.errors
        self.assertIn("bad_data_size", text)
        self.assertEqual((row.name, row.value), ("dwDataSize", "99"))
        self.assertEqual(row.structures,
                         ("PERF_DATA_HEADER", "PERF_COUNTER_HEADER",
                          "PERF_INSTANCE_HEADER"))
        self.assertTrue(dict(page.structures)["PERF_COUNTER_HEADER"])
        self.assertEqual(self.opened(page), [True] * 8 + [False] * 3 + [True])

    def test_a_wrong_size_is_shown_as_a_field(self):
        """The row before an error about a size is that of the size field."""
        expected = {("data", "bad_result_size"): {"dwSize"},
                    ("data", "bad_instance_size"): {"Size"},
                    ("data", "bad_value_size"): {"dwSize"},
                    ("v1", "bad_object_size"): {"TotalByteLength"},
                    ("v1", "bad_definition_size"): {"ByteLength"},
                    ("v1", "bad_instance_size"): {"ByteLength"},
                    ("v1", "bad_counter_block_size"): {"ByteLength"}}
        found = {}
        checked = self.run_program("check", "--format", "json", *SEEDS)
        for item in checked.objects():
            key = item["kind"], item.get("code")
            if key in expected:
                page, _ = self.page(item["file"], status=1)
                found.setdefault(key, set()).update(
                    row.name for row, text in page.errors
                    if row and key[1] in text)
        if STEP == 1:
            self.assertEqual(found, expected)

    def test_hostile_names(self):
        """Names that look like HTML are shown as text."""
        page, _ = self.page(self.file("a.pfb", hostile_capture()))
        text = page.root.text()
        for name in HOSTILE[:6]:
            self.assertIn(name, text)

    def test_output(self):
        """-o FILE writes the same page as standard output, but not over the
        input."""
        path = self.file("a.bin", self.reply(2))
        name = os.path.join(self.folder, "a.html")
        html = ("show", "-f", "html", path)
        self.assertEqual(self.run_fine(*html, "-o", name).out, "")
        with open(name, encoding="utf-8") as file:
            self.assertEqual(file.read(), self.run_fine(*html).out)
        done = self.run_program("show", "-f", "html", path, "-o", path)
        self.assertEqual(done.status, 2)

    def test_large_files_have_a_note(self):
        """A file of more than 4 MiB gives a note about the size of the page.
        """
        for size, has_note in ((2**22, False), (2**22 + 8, True)):
            path = self.file("a.pfb", w.recording(
                w.chunk(b"NONE", bytes(size - 32))))
            done = self.run_program("show", "-f", "html", path, "-o",
                                    path + ".html")
            self.assertEqual((done.status, "note: the page" in done.err),
                             (0, has_note))

    def test_several_files(self):
        """Files are one page, in order; one that is not recognised is left out
        with an error."""
        good = self.file("a.bin", self.reply(1))
        bad = self.file("b.bin", self.reply(2, 1))
        png = self.file("c.png", b"\x89PNG\r\n\x1a\n")
        done = self.run_program("show", "-f", "html", good, bad, png, bad)
        self.assertEqual(done.status, 1)
        self.assertIn("PNG", done.err)
        page = BytePage(done.out)
        pages.check_safe(self, page, TAGS)
        self.assertEqual([e.text() for e in page.find("h1")], [good, bad, bad])
        self.assertEqual([sum(len(row.bytes) for row in page.rows)],
                         [sum(os.path.getsize(p) for p in (good, bad, bad))])
        self.assertEqual([e.attributes["id"] for e in page.find("tr", "error")],
                         ["error-0", "error-1"])

    def test_refusals(self):
        """A file of another format is named in the message, and nothing is
        written."""
        for arguments in (["show", "-f", "html"],
                          ["show", "-f", "html", "a", "--open"]):
            done = self.run_program(*arguments)
            self.assertEqual((done.status, done.out), (2, ""), arguments)
        path = self.file("a.png", b"\x89PNG\r\n\x1a\n")
        done = self.run_program("show", "-f", "html", path)
        self.assertEqual((done.status, done.out), (1, ""))
        self.assertIn("PNG", done.err)


if __name__ == "__main__":
    unittest.main()
