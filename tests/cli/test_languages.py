# SPDX-License-Identifier: MIT
"""Name tables of several languages, and --language."""

import unittest

import v1_blocks as v1
from v1_blocks import LITTLE, counter
from captures import DISK, LARGE_RAW, data, instances_result, metadata
from program import Case, writer as w
import log_seeds
from test_code_pages import log

OBJECT, COUNTER, SAME = 4000, 4002, 4004
ENGLISH = {OBJECT: "Processor Information", COUNTER: "% Processor Time",
           SAME: "Processor Frequency"}
RUSSIAN = {OBJECT: "Сведения о процессоре", COUNTER: "% загруженности",
           SAME: "Частота процессора"}
CYRILLIC = "\\\\PC\\%s(0,0)\\%s" % (RUSSIAN[OBJECT], RUSSIAN[COUNTER])


def table(names, encoding="utf-8"):
    """A name table."""
    return "".join("%d\t%s\r\n" % item for item in
                   sorted({1: "4010", **names}.items())).encode(encoding)


def multi_string(names, encoding="utf-16-le"):
    """The same as in the registry."""
    pairs = [part for item in sorted({1: "4010", **names}.items())
             for part in map(str, item)]
    return ("\0".join(pairs) + "\0\0").encode(encoding)


class Languages(Case):
    """--names LANG:FILE and --language."""

    def setUp(self):
        super().setUp()
        self.english = "009:" + self.file("en.bin", multi_string(ENGLISH))
        self.russian = "0419:" + self.file("ru.bin", multi_string(RUSSIAN))
        self.tables = ("--names", self.russian, "--names", self.english)
        self.block = LITTLE.block(LITTLE.object(
            OBJECT, [counter(COUNTER, v1.RAW, 4, 4)],
            LITTLE.instance("0,0", LITTLE.values((4, 4, 7)))))
        self.text = log(CYRILLIC.encode("cp1251"))

    def shown(self, *arguments, data=None):
        """(counterset, counter) of each value."""
        return [(item["set"], item["counter"]) for item in self.run_json(
            "cook", *arguments, "-", stdin=data or self.block)]

    def test_names_of_v1_blocks(self):
        """Every name can be asked for; the language decides what is printed,
        in whatever order the tables are given."""
        local = [(RUSSIAN[OBJECT], RUSSIAN[COUNTER])]
        english = [(ENGLISH[OBJECT], ENGLISH[COUNTER])]
        for tables in (self.tables, self.tables[2:] + self.tables[:2]):
            for choice in ((), ("--set", RUSSIAN[OBJECT]),
                           ("--set", ENGLISH[OBJECT]),
                           ("--set", "4000", "--counter", ENGLISH[COUNTER]),
                           ("--path", "\\%s(*)\\%s" % (
                               ENGLISH[OBJECT], RUSSIAN[COUNTER]))):
                self.assertEqual(self.shown(*tables, *choice), local)
                self.assertEqual(self.shown(*tables, *choice, "--language",
                                            "english"), english)
        one = ("--language", "english", "--names", self.russian)
        self.assertEqual(self.shown(*one), local)
        self.assertEqual(self.shown("--names", self.english), english)
        self.assertEqual(self.shown("--names", self.russian[5:]), local)

    def test_columns_of_text_logs(self):
        """Paths are found by English names, and printed in both languages.
        Types and units come from the catalog where the names are known."""
        page = ("--code-page", "1251", *self.tables)
        for choice in ((), ("--path", CYRILLIC),
                       ("--path", "\\\\PC\\Processor Information(*)\\*"),
                       ("--set", "Processor Information", "--counter",
                        "% Processor Time", "--instance", "0,0")):
            item, = self.run_json("cook", *page, *choice, "-",
                                  stdin=self.text)
            self.assertEqual((item["path"], item["set"], item["type"],
                              item["unit"]),
                             (CYRILLIC, RUSSIAN[OBJECT],
                              "PERF_100NSEC_TIMER_INV", "%"))
            item, = self.run_json("cook", *page, *choice, "--language",
                                  "english", "-", stdin=self.text)
            self.assertEqual(
                item["path"],
                "\\\\PC\\Processor Information(0,0)\\% Processor Time")
        done = self.run_program("cook", *page, "--set", "Processor", "-",
                                stdin=self.text)
        self.assertEqual(done.status, 2)

    def test_case_does_not_count(self):
        """A to Z in the names of a log may have another case than in the
        tables and the catalog: programs write paths as they were typed."""
        local = {OBJECT: "Prozessorinformationen",
                 COUNTER: "Prozessorzeit (%)"}
        tables = ("--names", "007:" + self.file("de.bin", multi_string(local)),
                  "--names", self.english)
        for path in ("\\\\PC\\PROZESSORinformationen(0,0)\\prozessorZEIT (%)",
                     "\\\\PC\\processor information(0,0)\\% processor TIME"):
            for choice in ((), ("--set", "processor INFORMATION",
                                "--counter", "% processor time")):
                item, = self.run_json("cook", *tables, *choice, "-",
                                      stdin=log(path.encode()))
                self.assertEqual((item["path"], item["type"], item["unit"]),
                                 (path, "PERF_100NSEC_TIMER_INV", "%"))

    def test_a_name_with_several_translations(self):
        """Each of them chooses the counter. The one that the catalog has with
        the object is printed, else the first one."""
        local = {10: "Zeit", 12: "Ding", COUNTER: "Zeit", OBJECT: "Ding"}
        english = {10: "Time", 12: "Thing", COUNTER: "% Processor Time",
                   OBJECT: "Processor Information"}
        path = "\\\\PC\\Ding(0,0)\\Zeit"
        for left_out, shown in (((), (OBJECT, COUNTER)),
                                ((OBJECT,), (12, 10))):
            tables = [word for number, names in (("007", local),
                                                 ("009", english))
                      for word in ("--names", number + ":" + self.file(
                          number + ".bin", multi_string(
                              {index: name for index, name in names.items()
                               if index not in left_out})))]
            for index in english:
                if index in left_out:
                    continue
                option = "--set" if index in (12, OBJECT) else "--counter"
                item, = self.run_json(
                    "cook", *tables, option, english[index], "--language",
                    "english", "-", stdin=log(path.encode()))
                self.assertEqual((item["set"], item["counter"]),
                                 tuple(english[index] for index in shown))

    def test_several_local_tables(self):
        """A log is translated by the table that has its names."""
        french = "040C:" + self.file("fr.bin", multi_string(
            {OBJECT: "Informations sur le processeur"}))
        for tables in (("--names", french, *self.tables),
                       (*self.tables, "--names", french)):
            item, = self.run_json("cook", "--code-page", "1251", *tables,
                                  "--set", "Processor Information", "-",
                                  stdin=self.text)
            self.assertEqual(item["path"], CYRILLIC)

    def test_names_of_logs_in_options(self):
        """Both names are known to --sort and to countersets, and messages
        name the one that does not exist."""
        path = self.file("a.csv", self.text)
        page = ("--code-page", "1251", *self.tables)
        for language, names in (("local", RUSSIAN), ("english", ENGLISH)):
            for wanted in (RUSSIAN, ENGLISH):
                option = (*page, "--language", language)
                items = self.run_json("countersets", *option, "--source",
                                      path, wanted[OBJECT])
                self.assertEqual([item["name"] for item in items], [
                    names[OBJECT], names[COUNTER], "0,0"])
                done = self.run_fine("cook", *option, "--sort",
                                     wanted[COUNTER], "--set", wanted[OBJECT],
                                     path)
                self.assertIn(names[COUNTER], done.out)
                done = self.run_program("cook", *option, "--set",
                                        wanted[OBJECT], "--counter",
                                        "Nothing", path)
                self.assertEqual(done.status, 2)
                self.assertIn("no counter Nothing", done.err)

    def test_paths_of_a_blg(self):
        """The same for binary logs; here English stands for the language of
        the machine."""
        path = self.file("a.blg", log_seeds.log_seeds()["valid_counters"])
        tables = ("--names", "007:" + self.file("own.bin", multi_string(
            {6: "% Processor Time", 238: "Processor"})),
            "--names", "009:" + self.file("other.bin", multi_string(
                {6: "% Busy", 238: "Engine"})))
        for option, names in (("local", ("Processor", "% Processor Time")),
                              ("english", ("Engine", "% Busy"))):
            items = self.run_json("cook", *tables, "--language", option,
                                  "--path", "\\Engine(*)\\% Busy", path)
            self.assertEqual([(item["set"], item["counter"], item["value"])
                              for item in items[3:]],
                             [(*names, 60), (*names, 10), (*names, 35)])

    def test_types_of_english_columns(self):
        """No table is needed for them. Other columns have no type."""
        rows = (("Processor Information", "% Processor Time",
                 "PERF_100NSEC_TIMER_INV", "%"),
                ("Processor Information", "Processor Frequency",
                 "PERF_COUNTER_RAWCOUNT", ""),
                ("Processor Information", "Unknown", None, ""),
                ("Unknown", "% Processor Time", None, ""))
        items = self.run_json("cook", "-", stdin=log(*(
            ("\\\\PC\\%s(0,0)\\%s" % row[:2]).encode() for row in rows)))
        self.assertEqual([(item["set"], item["counter"], item["type"],
                           item["unit"]) for item in items], list(rows))
        self.assertEqual([item["value"] for item in items], [0, 1, 2, 3])

    def test_tables_in_a_code_page(self):
        """A table that is not UTF-8 is in the code page of the option."""
        narrow = "019:" + self.file("ru.txt", table(RUSSIAN, "cp1251"))
        utf8 = "019:" + self.file("utf8.txt", table(RUSSIAN))
        strings = "019:" + self.file("strings.bin", multi_string(
            RUSSIAN, "cp1251"))
        for name in (narrow, utf8, strings):
            self.assertEqual(
                self.shown("--code-page", "1251", "--names", name,
                           "--names", self.english, "--set",
                           RUSSIAN[OBJECT]),
                [(RUSSIAN[OBJECT], RUSSIAN[COUNTER])])
            item, = self.run_json(
                "cook", "--code-page", "1251", "--names", name, "--names",
                self.english, "--language", "english", "-", stdin=self.text)
            self.assertEqual(item["set"], ENGLISH[OBJECT])

    def test_other_commands(self):
        """show and countersets print the names of the language, and convert
        keeps both tables."""
        path = self.file("a.bin", self.block)
        copy = self.file("copy.pfb", b"")
        self.run_fine("convert", *self.tables, "-o", copy, path)
        for language, names in (("local", RUSSIAN), ("english", ENGLISH)):
            option = ("--language", language)
            items = self.run_json("show", *self.tables, *option, path)
            self.assertEqual(items[1]["name"], names[OBJECT])
            items = self.run_json("countersets", *self.tables, *option,
                                  "--source", path)
            self.assertEqual([item["name"] for item in items],
                             [names[OBJECT], names[COUNTER]])
            for wanted in (RUSSIAN[OBJECT], ENGLISH[OBJECT]):
                items = self.run_json("countersets", *self.tables, *option,
                                      "--source", path, wanted)
                self.assertEqual(items[0]["name"], names[OBJECT])
            items = self.run_json("cook", *option, "--set", ENGLISH[OBJECT],
                                  copy)
            self.assertEqual(items[0]["set"], names[OBJECT])

    def test_both_names_of_v2(self):
        """Names are found in both languages, whichever is printed."""
        ids, names = [1, 2], ("Lesen", "Schreiben")
        path = self.file("a.pfb", w.recording(
            metadata(DISK, "Platte", list(zip(ids, [LARGE_RAW] * 2, names))),
            w.registration_chunk(DISK, 9, w.string("Disk")),
            w.registration_chunk(DISK, 10, w.string_block(
                list(zip(ids, ("Read", "Write"))))),
            w.chunk(b"QINF", w.identifier(DISK, name="*")),
            *(data(n, instances_result(ids, [(0, "a", ids)]))
              for n in range(2))))
        for language, shown in (("local", ("Platte", *names)),
                                ("english", ("Disk", "Read", "Write"))):
            option = ("--language", language)
            for name in ("Platte", "Disk"):
                items = self.run_json("countersets", *option, "--source",
                                      path, name)
                self.assertEqual([item["name"] for item in items[:3]],
                                 list(shown))
                for counter in ("Schreiben", "Write"):
                    chosen = ("--path", "\\%s(*)\\%s" % (name, counter))
                    items = self.run_json("cook", *option, *chosen, path)
                    items += self.live(path, *option, *chosen)
                    self.assertEqual({item["path"] for item in items},
                                     {"\\%s(a)\\%s" % (shown[0], shown[2])})
                done = self.run_program("cook", *option, "--set", name,
                                        "--counter", "Lesen", "--counter",
                                        "Nothing", "--instance", "b", path)
                self.assertIn("no counter Nothing", done.err)

    def test_a_chosen_part_has_english_names(self):
        """The name table that convert writes is in English if it can be."""
        path = self.file("a.bin", self.block)
        copy = self.file("copy.pfb", b"")
        self.run_fine("convert", *self.tables, "--set", RUSSIAN[OBJECT], "-o",
                      copy, path)
        self.assertEqual(self.run_json("cook", copy)[0]["set"],
                         ENGLISH[OBJECT])

    def test_wrong_usage(self):
        """Each of several tables needs a language, and numbers are checked."""
        for arguments in (("--names", self.english, "--names",
                           self.russian[5:]),
                          ("--names", "000:" + self.english[4:]),
                          ("--names", "009:"), ("--language", "german")):
            done = self.run_program("cook", *arguments, "-", stdin=self.block)
            self.assertEqual(done.status, 2, arguments)


if __name__ == "__main__":
    unittest.main()
