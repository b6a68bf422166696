# SPDX-License-Identifier: MIT
"""Text logs in other forms: what Get-Counter returns, as JSON and as CSV, and
PDH text in HTML pages; and manifests, which have no samples."""

import csv
import datetime
import io
import itertools
import json
import random
import unittest

from program import Case

MEMORY = r"\\pc\memory\available mbytes"
ODD = '\\\\pc\\process(a "x", (b)\\c\u2603)\\% cpu'
ROOT_TIME = datetime.datetime(2023, 11, 14, 22, 13, 20)
INVALID_DATA = 0xC0000BBA  # PDH_CSTATUS_INVALID_DATA


def sample(path, value, time, status=0):
    """A PerformanceCounterSample."""
    return {"Path": path, "InstanceName": None, "CookedValue": value,
            "RawValue": 7, "SecondValue": 4, "MultipleCount": 1,
            "CounterType": 65792, "Timestamp": time,
            "Timestamp100NSec": 133444444000000000, "Status": status,
            "DefaultScale": 0, "TimeBase": 10000000}


def moments(count):
    """The times of samples."""
    return [ROOT_TIME + datetime.timedelta(seconds=n) for n in range(count)]


def date_5(time):
    """A time as PowerShell 5 writes it in JSON."""
    seconds = (time - datetime.datetime(1970, 1, 1)).total_seconds()
    return "/Date(%d)/" % round(seconds * 1000)


def date_7(time):
    """The same of PowerShell 7, of a machine in the zone UTC+01:30."""
    local = time + datetime.timedelta(minutes=90)
    return local.strftime("%Y-%m-%dT%H:%M:%S.1234567+01:30")


def rows_of(count, date):
    """[(time, [samples])] with two counters."""
    return [(date(t), [sample(MEMORY, 2048.5 + n, date(t)),
                       sample(ODD, 0.1 + n, date(t))])
            for n, t in enumerate(moments(count))]


def sets_of(rows):
    """Sample sets."""
    return [{"Timestamp": time, "CounterSamples": samples}
            for time, samples in rows]


def with_readings(rows, samples, decimal="."):
    """Sample sets whose samples ConvertTo-Json or Export-Csv did not write,
    but which have their readings as text."""
    return [{"Timestamp": time, "CounterSamples": samples,
             "Readings": "".join("%s :\n%s\n\n" % (item["Path"], str(
                 item["CookedValue"]).replace(".", decimal))
                                 for item in items)}
            for time, items in rows]


def flat(rows):
    """The samples of all rows."""
    return [item for _, samples in rows for item in samples]


def exported(samples, delimiter=",", has_type=True, columns=None):
    """What Export-Csv writes."""
    text = io.StringIO()
    if has_type:
        text.write("#TYPE Microsoft.PowerShell.Commands.GetCounter."
                   "PerformanceCounterSample\r\n")
    writer = csv.writer(text, delimiter=delimiter, quoting=csv.QUOTE_ALL)
    columns = columns or list(samples[0])
    writer.writerow(columns)
    writer.writerows([item[key] for key in columns] for item in samples)
    return text.getvalue()


def wanted(count, fraction="0000000", zone="Z", paths=(MEMORY, ODD)):
    """The expected values: (time, path, value)."""
    first = {MEMORY: 2048.5, ODD: 0.1}
    return [(t.strftime("%Y-%m-%dT%H:%M:%S.") + fraction + zone, path,
             first[path] + n) for n, t in enumerate(moments(count))
            for path in paths]


SETS_5, ROWS_7 = sets_of(rows_of(3, date_5)), rows_of(3, date_7)
AMERICAN = rows_of(3, lambda t: t.strftime("%m/%d/%Y %I:%M:%S %p"))
GERMAN = [dict(item, CookedValue=str(item["CookedValue"]).replace(".", ","))
          for item in flat(rows_of(3, lambda t: t.strftime(
              "%d.%m.%Y %H:%M:%S")))]
PDH = ('"(PDH-CSV 4.0) (UTC)(0)","\\\\A\\Memory\\R&D"\r\n'
       '"01/01/2020 00:00:00.000","1.5"\r\n"01/01/2020 00:00:01.000","2.5"\r\n')
PDH_WANTED = [("2020-01-01T00:00:00.0000000Z", r"\\A\Memory\R&D", 1.5),
              ("2020-01-01T00:00:01.0000000Z", r"\\A\Memory\R&D", 2.5)]
ESCAPED = PDH.replace("&", "&amp;").replace('"', "&quot;")
IN_7 = wanted(3, "1234567")
READ = {
    # JSON
    "sets": (json.dumps(SETS_5), wanted(3)),
    "indented": (json.dumps(SETS_5, indent=4).replace("/", "\\/"), wanted(3)),
    "one set": (json.dumps(SETS_5[0]), wanted(1)),
    "samples": (json.dumps(flat(ROWS_7)), IN_7),
    "lines": ("\n".join(json.dumps(item) for item in flat(ROWS_7)), IN_7),
    "unescaped": (json.dumps(sets_of(ROWS_7), ensure_ascii=False), IN_7),
    "times as objects": (json.dumps([dict(item, Timestamp={
        "value": item["Timestamp"], "DateTime": "Tuesday"})
        for item in flat(rows_of(3, date_5))]), wanted(3)),
    "values and readings": (json.dumps([dict(read, **item) for read, item in zip(
        with_readings(rows_of(3, date_5), ""), SETS_5)]), wanted(3)),
    "readings": (json.dumps(with_readings(
        rows_of(3, date_5), ["Microsoft.PowerShell.Commands.GetCounter."
                             "PerformanceCounterSample"])), wanted(3)),
    "only readings": (json.dumps([{key: item[key] for key in (
        "Timestamp", "Readings")} for item in with_readings(ROWS_7, "")]), IN_7),
    "no finite numbers": ('[{"Path":"a","CookedValue":NaN,"Timestamp":"/Date(-1'
                          ')/"},{"Path":"b","CookedValue":-Infinity,"Timestamp"'
                          ':"/Date(-1)/"},{"Path":"c","CookedValue":1,'
                          '"Timestamp":"/Date(-1)/"}]', [
                              ("1969-12-31T23:59:59.9990000Z", None, value)
                              for value in (None, None, 1)]),
    "lists as objects": (json.dumps([dict(item, CounterSamples={
        "value": item["CounterSamples"], "Count": 2}) for item in SETS_5]),
        wanted(3)),
    "other machines": (json.dumps(sets_of([(time, [dict(
        item, Path=item["Path"].replace("pc\\", "pc\\\\", 1))
        for item in items]) for time, items in rows_of(3, date_5)])),
        wanted(3)),
    "paths with two backslashes": (json.dumps([sample(
        path, 1, "2020-01-01T00:00:00Z") for path in (
            r"\\m\a\\b", r"\a\\b\c", r"\\m", r"\\\\a\b")]), [
                ("2020-01-01T00:00:00.0000000Z", path, 1) for path in (
                    r"\\m\a\\b", r"\a\\b\c", None, None)]),
    # CSV
    "exported": (exported(flat(AMERICAN)), wanted(3, zone="")),
    "without type": (exported(flat(ROWS_7), has_type=False), IN_7),
    "semicolons": (exported(GERMAN, ";"), wanted(3, zone="")),
    "tabs": (exported(flat(ROWS_7), "\t"), IN_7),
    "three columns": (exported(flat(AMERICAN), columns=[
        "Timestamp", "CookedValue", "Path"]), wanted(3, zone="")),
    "no quotation marks": ("CookedValue,Path,Timestamp\n1.5,%s,10/13/2023 16:00:"
                           "00\n" % MEMORY, [("2023-10-13T16:00:00.0000000",
                                              MEMORY, 1.5)]),
    "exported readings": (exported(with_readings(AMERICAN, "x[]")),
                          wanted(3, zone="")),
    "german readings": (exported(with_readings(rows_of(3, lambda t: t.strftime(
        "%d.%m.%Y %H:%M:%S")), "x[]", ","), ";"), wanted(3, zone="")),
    "joined": (exported(flat(AMERICAN)[:2]) + "\r\n,,,\r\n" + exported(
        flat(AMERICAN)[2:4], columns=["Timestamp", "CookedValue", "Path"]) +
               exported(flat(AMERICAN)[4:], has_type=False),
               wanted(3, zone="")),
    # HTML
    "page": ("<!DOCTYPE html>\n<html><h1>(PDH-CSV 4.0)</h1><pre>\n" + ESCAPED +
             "</pre><p>1,2</p></html>\n", PDH_WANTED),
    "script": ('<html><script type="text/csv">' + PDH + "</script></html>",
               PDH_WANTED),
    "breaks": ("<html><p>" + ESCAPED.replace("\r\n", "<br/>") + "</p></html>",
               PDH_WANTED),
    "capital breaks": ("<HTML><P>" + ESCAPED.replace("\r\n", "<BR>") +
                       "</P></HTML>", PDH_WANTED),
    "two sections": ("<html><pre>" + ESCAPED + "</pre><hr><pre>" + PDH.replace(
        "2020", "2021") + "</pre></html>", PDH_WANTED + [
            (time.replace("2020", "2021"), path, value)
            for time, path, value in PDH_WANTED]),
}
MANIFEST = ('<?xml version="1.0"?>\n<instrumentationManifest><counters>'
            '<provider><counterSet guid="{1}"><counter id="1"/></counterSet>'
            "</provider></counters></instrumentationManifest>")
NO_SAMPLES = ("is a manifest (.man), which has the definitions of counters and "
              "no samples")
REFUSED = {
    "manifest with a prefix": (MANIFEST.replace("<c", "<m:c").replace(
        "</c", "</m:c"), NO_SAMPLES),
    "manifest without declaration": (MANIFEST[22:].replace(
        "instrumentationManifest>", "assembly>"), NO_SAMPLES),
    "times of no form": ('[{"Path":"a","CookedValue":1,"Timestamp":"now"}]',
                         "no row can be read: none has a time"),
    "manifest": (MANIFEST, "is a manifest (.man), which has the definitions of "
                 "counters and no samples"),
    "manifest with prefixes": (MANIFEST.replace("<counter", "<c:counter"),
                               "is a manifest (.man)"),
    "sets in CSV": (
        '#TYPE Microsoft.PowerShell.Commands.GetCounter.PerformanceCounter'
        'SampleSet\r\n"Timestamp","CounterSamples","Readings"\r\n"1/1/2020 1:00'
        ':00 AM","Microsoft.PowerShell.Commands.GetCounter.PerformanceCounter'
        'Sample[]","x"\r\n', "sample sets without their values"),
    "flattened": (json.dumps([{
        "Timestamp": "/Date(1700000000000)/", "CounterSamples":
        ["Microsoft.PowerShell.Commands.GetCounter.PerformanceCounterSample"]}]
    ), "ConvertTo-Json needs -Depth 4"),
    "without times": (exported(flat(AMERICAN), columns=[
        "Path", "CookedValue"]), "no Timestamp"),
    "other JSON": ('{"a":1}', "looks like JSON"),
    "deep": ("[" * 40 + '"CookedValue"', "nested too deeply"),
    "page without log": ("<html><p>a (PDH-CSV 4.0) b</p></html>",
                         "looks like text"),
}
CODECS = {"utf-8": b"", "utf-8-sig": b"", "utf-16": b"", "utf-16-le": b"",
          "utf-16-be": b"\xfe\xff"}


class SampleFiles(Case):
    """Files of Get-Counter, pages and manifests."""

    def cooked(self, name, data, status=0, *options):
        """(values of cook, standard error) of a file."""
        done = self.run_program("cook", "--format", "json", *options,
                                self.file(name, data))
        self.assertEqual(done.status, status, done.err)
        return [(item["time"], item["path"], item["value"])
                for item in done.objects()], done.err

    def test_each_form(self):
        """All values, at their times, in every encoding and from a pipe."""
        for name, (text, expected) in READ.items():
            for codec, mark in CODECS.items():
                with self.subTest((name, codec)):
                    self.assertEqual(self.cooked(
                        "a.txt", mark + text.encode(codec))[0], expected)
            done = self.run_program("cook", "-", "--format", "json",
                                    stdin=text.encode())
            self.assertEqual([item["value"] for item in done.objects()],
                             [value for _, _, value in expected], name)

    def test_files_that_are_refused(self):
        """They are named for what they are."""
        for name, (text, words) in REFUSED.items():
            for codec in ("utf-8", "utf-16"):
                if codec == "utf-16" and "looks like" in words:
                    continue
                with self.subTest((name, codec)):
                    values, err = self.cooked("a.txt", text.encode(codec), 1)
                    self.assertEqual(values, [])
                    self.assertIn(": no_row: " if "no row" in words else
                                  ": unknown_format: ", err)
                    self.assertIn(words, err)

    def test_a_section_of_another_version(self):
        """It is malformed; its line is named."""
        page = ("<html><pre>" + ESCAPED + "</pre>\n<pre>" +
                ESCAPED.replace("4.0", "5.0") + "</pre></html>")
        values, err = self.cooked("a.htm", page.encode(), 1)
        self.assertEqual(values, PDH_WANTED)
        self.assertIn("note: line 5 is not read, nor are those after it", err)
        self.assertIn(": unknown_format: ", err)

    def test_samples_without_values(self):
        """A status other than 0 and 1, or null, is no value."""
        items = [sample(MEMORY, 5, "2020-01-01T00:00:00Z", INVALID_DATA),
                 sample(ODD, None, "2020-01-01T00:00:00Z"),
                 sample(r"\\pc\a\b", "NaN", "2020-01-01T00:00:00Z"),
                 sample(r"\\pc\a\c", 3, "2020-01-01T00:00:00Z", 1)]
        for text in (json.dumps(items), exported(items)):
            values, err = self.cooked("a.txt", text.encode())
            self.assertEqual([value for _, _, value in values],
                             [None, None, None, 3])
            self.assertIn("1 cells that are no numbers have no value", err)

    def test_what_is_lost_is_counted(self):
        """Records that lack cells have a count and the line of the first one,
        values without times and lines of readings, too."""
        rows = exported(flat(AMERICAN)).splitlines()
        rows[3:3] = ['"%s",""' % MEMORY, "x"]
        readings = exported(with_readings(AMERICAN, "x[]")).replace(
            "2048.5\n", "2048.5\nmore\n")
        for text, count, note in (
                ("\n".join(rows), 6, "2 records without all cells were left "
                 "out, the first in line 4"),
                (json.dumps(flat(ROWS_7), indent=1).replace(
                    "Timestamp\"", "Time\"", 2), 4, "2 values without Timestamp "
                 "were left out, the first in line 2"),
                (readings, 6, "1 lines of Readings that are no values were left "
                 "out, the first in line 5")):
            for codec in ("utf-8", "utf-16"):
                values, err = self.cooked("a.txt", text.encode(codec))
                self.assertEqual(len(values), count)
                self.assertIn("a.txt: note: %s\n" % note, err)

    def test_other_counters(self):
        """Sample sets may have other counters than the ones before."""
        rows = rows_of(4, date_5)
        rows[1] = (rows[1][0], rows[1][1][:1])
        rows[2] = (rows[2][0], rows[2][1][::-1])
        expected = wanted(4)
        del expected[3]
        for text in (json.dumps(sets_of(rows)), json.dumps(flat(rows))):
            self.assertEqual(sorted(self.cooked("a.txt", text.encode())[0]),
                             sorted(expected))

    def test_ambiguous_times(self):
        """Neither the dates nor the numbers are guessed."""
        text = exported(flat(rows_of(2, lambda t: t.strftime(
            "%d/11/2023 %H:%M:%S").replace("14/11", "04/11"))))
        values, err = self.cooked("a.csv", text.encode(), 1)
        self.assertEqual(values, [])
        self.assertIn("ambiguous_dates", err)
        self.assertIn("--date-order mdy or dmy", err)
        self.assertEqual(self.cooked(
            "a.csv", text.encode(), 0, "--date-order", "dmy")[0][0][0][:10],
            "2023-11-04")

    def test_files_that_are_cut(self):
        """The samples before the end of a cut file are read, and the place is
        an error."""
        text = json.dumps(flat(ROWS_7)).encode()
        for size in range(len(text) // 2, len(text), 97):
            values, err = self.cooked("a.json", text[:size], 1)
            self.assertEqual(values, IN_7[:len(values)])
            self.assertGreater(len(values), 1)
            self.assertRegex(err, ": offset [0-9]+: unknown_format: the JSON")

    def test_exports_that_are_cut(self):
        """A cut number is no value."""
        text = exported(flat(AMERICAN), columns=[
            "Path", "Timestamp", "CookedValue"])
        for readings in (text, exported(with_readings(AMERICAN, "x[]"))):
            values, err = self.cooked("a.csv", readings[:-3].encode(), 1)
            self.assertEqual(values, wanted(3, zone="")[:len(values)])
            self.assertGreater(len(values), 3)
            self.assertIn("unknown_format: the CSV text ends inside a cell", err)

    def test_damaged_texts(self):
        """Damage neither ends the program abnormally nor makes up values."""
        rng = random.Random(11)
        texts = [text for text, _ in READ.values()]
        for number, text in itertools.product(range(4), texts):
            data = bytearray(text.encode())
            for _ in range(1 + number):
                at = rng.randrange(len(data))
                data[at:at + rng.randrange(3)] = rng.choice(
                    (b"", b"\"", b"{", b"]", b"\\", b"\0", b"\xff", b"\n",
                     b"&", b"<", b"\xef\xbb\xbf", b"\\u", b"\\ud800"))
            done = self.run_program("cook", "--format", "json", self.file(
                "a.txt", bytes(data)))
            self.assertIn(done.status, (0, 1), done.err)

    def test_hostile_names(self):
        """Characters in names do not move values to other columns."""
        names = ["a\nb", 'a"\t"b', 'a","b', '"', 'x"', "\ufeff", "a\r", "\\",
                 "a\t", "\u202e", ""]
        items = [sample(r"\\pc\s(%s)\c" % name, number, "2020-01-01T00:00:00Z")
                 for number, name in enumerate(names)]
        for text in (json.dumps(items), exported(items),
                     exported(items, ";"), exported(items, "\t")):
            values = self.cooked("a.txt", text.encode())[0]
            self.assertEqual([value for _, _, value in values],
                             list(range(len(names))))
            for (_, path, _), item in zip(values, items):
                for letter, other in zip(path, item["Path"]):
                    self.assertIn(letter, (other, "\ufffd"))

    def test_show(self):
        """show and check read logs in their usual forms only."""
        path = self.file("a.json", json.dumps(SETS_5).encode())
        for command in ("show", "check"):
            done = self.run_program(command, path)
            self.assertEqual(done.status, 1)
            self.assertIn("has samples of Get-Counter as JSON", done.err)


if __name__ == "__main__":
    unittest.main()
