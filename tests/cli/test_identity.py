# SPDX-License-Identifier: MIT
"""Processes and threads are recognised by their ids: V1 blocks and .blg."""

import collections
import os
import random
import struct
import unittest

from program import Case, bytes_of, needs_real_data, real
import log_reader
import log_writer as w
import v1
import v1_writer

DELTA, TIMER, RAW = 0x00400400, 0x20510500, 0x00010000
SECOND = 10**7
# (name, id, 100 ns of processor time) of three samples, a second apart: chrome
# 41 ends, then java 60, and their numbers go to others.
PROCESSES = (
    (("chrome", 41, 1000000), ("chrome", 55, 2000000), ("java", 60, 500000)),
    (("chrome", 55, 2400000), ("java", 60, 3500000), ("java", 61, 100000)),
    (("chrome", 55, 3000000), ("java", 61, 600000)))
# (sample, name, occurrence) -> percent; the others have none yet.
PERCENT = {(1, "chrome", 0): 4, (1, "java", 0): 30, (2, "chrome", 0): 6,
           (2, "java", 0): 5}
BY_POSITION = {(1, "chrome", 0): 14, (1, "java", 0): 30, (2, "chrome", 0): 6}
PATH = "\\\\PC", "Process"


def time_of(number):
    """The time of a sample."""
    return w.LOCAL + number * SECOND


def v1_file(samples=PROCESSES):
    """The samples as V1 blocks."""
    little = v1_writer.little
    counters = [little.counter(6, TIMER, 8, 8), little.counter(784, RAW, 4, 16)]
    return b"".join(little.block(little.object(230, counters, [
        little.instance(name, little.values(bytes(4), little.v8(used),
                                            little.v4(number)))
        for name, number, used in processes]), clock=(
            SECOND * (1 + at), SECOND, time_of(at)))
        for at, processes in enumerate(samples))


def wildcards(*counters):
    """Paths of all processes."""
    return w.paths(*(w.path(kind, SECOND if kind == TIMER else 0, *PATH, "*",
                            counter, flags=1) for counter, kind in counters))


def wildcard_log(of_id="ID Process", names_at=None):
    """The samples as a log of all processes. `of_id`: the name of the id, which
    is also in a name table after `names_at` samples; -1: before the paths."""
    table = w.names("\\\\PC", (1, "1847"), (784, str(of_id)))
    events = table if names_at == -1 else []
    events += wildcards(("% Processor Time", TIMER), (of_id, RAW))
    for at, processes in enumerate(PROCESSES):
        events += table if names_at == at else []
        events += w.sample(
            w.instances(*((name, used, time_of(at))
                          for name, _, used in processes), time=time_of(at)),
            w.instances(*((name, number, 0) for name, number, _ in processes),
                        time=time_of(at)), time=time_of(at))
    return w.log(*events)


def single_log(with_number):
    """The samples as a log with paths for each instance. `with_number`: the
    name has the number of the instance."""
    places = [("chrome", 0), ("chrome", 1), ("java", 0), ("java", 1)]
    events = w.paths(*(w.path(
        kind, 0, *PATH, name + "#%d" % index if with_number and index else name,
        counter, index=0 if with_number else index)
        for name, index in places
        for counter, kind in (("% Processor Time", TIMER), ("ID Process", RAW))))
    for at, processes in enumerate(PROCESSES):
        items = []
        for name, index in places:
            found = [row for row in processes if row[0] == name][index:index + 1]
            items += [w.counter(found[0][2], time_of(at), time=time_of(at)),
                      w.counter(found[0][1], 0, time=time_of(at))] if found else \
                [w.counter(0, 0, status=0x800007D1, time=time_of(at))] * 2
        events += w.sample(*items, time=time_of(at))
    return w.log(*events)


class Processes(Case):
    """One sequence of processes in each form."""

    def percents(self, path, *options):
        """{(sample, name, occurrence): percent} of the values that exist."""
        name = lambda value: value["instance"].partition("#")
        return {(value["sample"], name(value)[0],
                 int(name(value)[2] or value["occurrence"])): value["value"]
                for value in self.run_json("cook", *options, path)
                if value["type"] == "PERF_100NSEC_TIMER"
                and value["status"] == "ok"}

    def test_blocks(self):
        """V1."""
        path = self.file("a.bin", v1_file())
        self.assertEqual(self.percents(path), PERCENT)
        self.assertEqual(self.percents(path, "--identity", "process"), PERCENT)
        self.assertEqual(self.percents(path, "--identity", "windows"),
                         BY_POSITION)

    def test_chosen_counters(self):
        """A part of V1 data keeps the ids."""
        path = self.file("a.bin", v1_file())
        names = self.file("names.txt", b"230\tProcess\n"
                          b"6\t% Processor Time\n784\tID Process\n")
        part = os.path.join(self.folder, "part.pfb")
        for chosen in (["--counter", "6"], ["--path", r"\Process(*)\% P*"]):
            arguments = [path, "--names", names, *chosen]
            self.assertEqual(self.percents(*arguments), PERCENT)
            self.run_fine("convert", *arguments, "-o", part)
            self.assertEqual(self.percents(part), PERCENT)

    def test_chosen_instances(self):
        """A part of V1 data with java#1 has every java: the same process may
        be another one of them before. Here java 60 becomes java#1."""
        path = self.file("a.bin", v1_file(PROCESSES[:2] + (
            PROCESSES[2] + (("java", 60, 3700000),),)))
        names = self.file("names.txt", b"230\tProcess\n6\t% Processor Time\n")
        part = os.path.join(self.folder, "part.pfb")
        every = {(1, "java", 0): 30, (2, "java", 0): 5, (2, "java", 1): 2}
        for number in ("", "#0", "#1"):
            chosen = ["--names", names, "--path",
                      r"\Process(java%s)\%% Processor Time" % number]
            self.run_fine("convert", *chosen, path, "-o", part)
            self.assertEqual(self.percents(part), every)
            self.assertEqual(self.percents(part, *chosen), {
                key: value for key, value in every.items()
                if number in ("", "#%d" % key[2])})

    def test_wildcards(self):
        """A log of all instances."""
        path = self.file("a.blg", wildcard_log())
        self.assertEqual(self.percents(path), PERCENT)
        self.assertEqual(self.percents(path, "--identity", "windows"),
                         BY_POSITION)

    def test_totals(self):
        """A total lacks the count of a process that ended, as in V1 data."""
        for ended, flags in ((False, []), (True, ["incomplete_total"])):
            events = wildcards(("% Processor Time", TIMER), ("ID Process", RAW))
            for at in range(2):
                now, last = time_of(at), at == 1
                rows = (("a", 5, 60), ("a", at, 61), ("_Total", 9 + at, 0))[
                    last and ended:]
                events += w.sample(*(w.instances(*(
                    (row[0], row[field], now) for row in rows), time=now)
                    for field in (1, 2)), time=now)
            values = self.run_json("cook", self.file("a.blg", w.log(*events)))
            self.assertEqual([v["flags"] for v in values if v["sample"] == 1 and
                              v["instance"] == "_Total"], [flags, []])

    def test_names_in_german(self):
        """A table of names has the German names of the counters of ids."""
        path = self.file("a.blg", wildcard_log("Prozesskennung"))
        names = "\0".join(("1", "1847", "784", "Prozesskennung", "804",
                           "Threadkennung", "", ""))
        table = self.file("german.bin", names.encode("utf-16-le"))
        self.assertEqual(self.percents(path), BY_POSITION)
        self.assertEqual(self.percents(path, "--names", "007:" + table),
                         PERCENT)
        path = self.file("a.blg", wildcard_log(None))
        self.assertEqual(self.percents(path), BY_POSITION)
        path = self.file("a.blg", wildcard_log("Threadkennung"))
        self.assertEqual(self.percents(path, "--names", "007:" + table),
                         PERCENT)

    def test_names_in_the_log(self):
        """The table may precede the paths or follow them, but not samples."""
        for names_at in (-1, 0):
            path = self.file("a.blg", wildcard_log("Prozesskennung", names_at))
            self.assertEqual(self.percents(path), PERCENT)
        path = self.file("a.blg", wildcard_log("Prozesskennung", 1))
        done = self.run_program("cook", path)
        self.assertEqual(done.err.count("name table"), 1, done.err)
        self.assertEqual(self.percents("-q", path), BY_POSITION)

    def test_single_paths(self):
        """Logs with a path for each instance."""
        for with_number in (False, True):
            path = self.file("a.blg", single_log(with_number))
            self.assertEqual(self.percents(path), PERCENT)
            self.assertEqual(self.percents(path, "--identity", "windows"),
                             BY_POSITION)

    def test_numbers_in_names(self):
        """The path java#1 is the second java of a wildcard: 62, then 63."""
        samples = (("java", 61, 0), ("java", 62, 0)), (
            ("java", 62, 0), ("java", 63, SECOND // 10))
        for of_cpu, of_id in (("java#1", "*"), ("*", "java#1")):
            paths = (of_cpu, "% Processor Time", TIMER, 2), (
                of_id, "ID Process", RAW, 1)
            events = w.paths(*(w.path(kind, 0, *PATH, name, counter,
                                      flags=name == "*")
                               for name, counter, kind, _ in paths))
            for at, rows in enumerate(samples):
                now = time_of(at)
                events += w.sample(*(w.instances(*(
                    (row[0], row[field], now) for row in rows), time=now)
                    if name == "*" else w.counter(rows[1][field], now, time=now)
                    for name, _, _, field in paths), time=now)
            path = self.file("a.blg", w.log(*events))
            self.assertNotIn((1, "java", 1), self.percents(path))
            self.assertEqual(self.percents(path, "--identity", "windows")[
                1, "java", 1], 10)

    def test_names_with_ids(self):
        """Windows 10 can put the id into the name: without ID Process such
        names match as they are."""
        rows = ((("a_41", 1000), ("b_55", 0)), (("b_55", SECOND // 10),))
        events = wildcards(("% Processor Time", TIMER))
        for at, row in enumerate(rows):
            events += w.sample(w.instances(*(
                (name, used, time_of(at)) for name, used in row),
                time=time_of(at)), time=time_of(at))
        self.assertEqual(self.percents(self.file("a.blg", w.log(*events))),
                         {(1, "b_55", 0): 10})

    def test_report(self):
        """report has the option, too."""
        path = self.file("a.bin", v1_file())
        pages = [self.run_fine("report", "--identity", how, path).out
                 for how in ("process", "windows")]
        self.assertNotEqual(*pages)


class RandomLogs(Case):
    """Random logs compared with the second implementation. Each raw value of
    DELTA occurs once in its sample, so a difference shows the older one."""

    def paths(self, draw):
        """The lists of paths: (type, object, instance, counter, parent, index)."""
        thing = draw.choice(("Process", "Thread"))
        out = [(DELTA, thing, "*", "Rate", None, 0)]
        for counter in draw.sample(("ID Process", "ID Thread", "id process"),
                                   draw.choice((1, 1, 2))):
            out.append((RAW, thing, "*", counter, None, 0))
        for _ in range(draw.randrange(4)):
            out.append((DELTA, draw.choice((thing, "Thread")), draw.choice(
                ("a", "b#1", "a#2")), "Rate", draw.choice((None, None, "p")),
                draw.randrange(2)))
        if draw.random() < 0.5:
            out.append((RAW, thing, "a", "ID Process", None, 0))
        draw.shuffle(out)
        return out

    def sample(self, draw, paths, names, numbers):
        """The items of a sample."""
        items = []
        for kind, _, instance, counter, _, _ in paths:
            ids = [draw.choice((0, 1, 2, 3, 4, 2**32)) if draw.random() < 0.3
                   else number + 5 for number in numbers]
            raws = draw.sample(range(1000, 9000), len(names))
            values = ids if "id" in counter.lower() else raws
            if instance == "*":
                items.append(w.instances(*(
                    (name, value, 0, draw.choice((0,) * 9 + (0x800007D1,)))
                    for name, value in zip(names, values))))
            else:
                items.append(w.counter(draw.randrange(1000, 9000)
                                       if kind == DELTA else draw.choice(ids + [7]),
                                       0))
        return items

    def test_agreement(self):
        """Which older value each value is compared with."""
        compared = by_ids = 0
        for seed in range(60):
            draw = random.Random(seed)
            paths = self.paths(draw)
            events = w.paths(*(w.path(
                kind, 0, PATH[0], thing, instance, counter, parent=parent,
                index=index, flags=instance == "*")
                for kind, thing, instance, counter, parent, index in paths))
            names = [draw.choice(("a", "b", "b#1", "p/a", "p/0", "q/1"))
                     for _ in range(draw.randrange(1, 7))]
            order = list(range(len(names)))
            for at in range(4):
                events += w.sample(*self.sample(
                    draw, paths, [names[n] for n in order], order))
                draw.shuffle(order)
                order = order[:draw.randrange(1, len(order) + 1)] if \
                    draw.random() < 0.4 else order
            log = w.log(*events)
            expected, moved = self.expected(log)
            printed = {}
            for value in self.run_json("cook", self.file("r.blg", log)):
                if value["type"] == "PERF_COUNTER_DELTA":
                    key = value["sample"], value["position"]
                    printed.setdefault(key, []).append(
                        (value["status"], value["value"]))
            self.assertEqual(printed, expected, seed)
            compared += len(expected)
            by_ids += moved
        self.assertGreater(compared, 100)
        self.assertGreater(by_ids, 50)

    def expected(self, data):
        """({(sample, path): [(status, value)]}, the number of values that are
        not compared with those of their position)."""
        out, moved, paths, older, number = {}, 0, [], None, 0
        for kind, _, _, parts in log_reader.Log(data).records:
            record = log_reader.read_record(kind, b"".join(r for _, r in parts))
            if kind == log_reader.PATHS:
                paths = record.lines
                continue
            newer = log_reader.Instances(paths, log_reader.values(record))
            for place, value in newer.found.items():
                if paths[place[0]]["type"] != DELTA:
                    continue
                other = older and log_reader.older_place(older, newer, place)
                moved += bool(older) and other != place
                out.setdefault((number, place[0]), []).append(self.difference(
                    value, other and older.found[other]))
            older, number = newer, number + 1
        return out, moved

    @staticmethod
    def difference(newer, older):
        """(status, value) of PERF_COUNTER_DELTA."""
        if newer[0] == 0x800007D1:
            return "no_instance", None
        if not older or not log_reader.has_value(older[0]):
            return "need_two_samples", None
        if older[2] > newer[2]:
            return "negative_delta", None
        return "ok", newer[2] - older[2]


def processes_of(block):
    """(name, id, offset, end) of the instances of a block of one object."""
    records = v1.decode_block(block)
    item = next(record for record in records if record["record"] == "object")
    found = [record for record in records if record["record"] == "instance"]
    ids = [record["raw"] for record in records
           if record["record"] == "value" and record["counter"] == 784]
    starts = [record["offset"] for record in found]
    return list(zip((record["name"] for record in found), ids, starts,
                    starts[1:] + [item["_end"]]))


def without(block, pid):
    """A block of one object without the instance that has this id."""
    (_, _, start, end), = (row for row in processes_of(block) if row[1] == pid)
    at = next(record["offset"] for record in v1.decode_block(block)
              if record["record"] == "object")
    out = bytearray(block)
    # TotalByteLength of block and object, NumInstances.
    for offset, less in ((20, end - start), (at, end - start), (at + 40, 1)):
        struct.pack_into("<I", out, offset, struct.unpack_from(
            "<I", out, offset)[0] - less)
    del out[start:end]
    return bytes(out)


@needs_real_data
class Captured(Case):
    """Captured data has the values that it has by position, except where the
    ids in it show another process."""

    def values(self, how, *arguments):
        """The values that cook prints; one log is cut."""
        return self.run_program("cook", "-f", "json", "--identity", how,
                                *arguments).objects()

    @staticmethod
    def place(value):
        """Name and position of an instance."""
        return tuple(value[key] for key in (
            "machine", "set", "object", "parent", "instance", "occurrence"))

    def ids(self, values):
        """{sample: {place: id}}; ids that are 0 or occur repeatedly in an
        object show nothing."""
        out = {}
        for value in values:
            here = out.setdefault(value["sample"], {})
            if value["counter"] == "ID Process" and value["raw"]:
                here[self.place(value)] = value["raw"]
        for here in out.values():
            of = {place: (place[:3], number) for place, number in here.items()}
            counts = collections.Counter(of.values())
            for place, key in of.items():
                if counts[key] > 1:
                    del here[place]
        return out

    def assert_only_other_processes_change(self, *arguments):
        """Asserts that a value that needs an older one is not compared with the
        one of the same name and position if that is of another process, and
        that all others are as by name and position."""
        ours, theirs = (self.values(how, *arguments)
                        for how in ("process", "windows"))
        ids = self.ids(ours)
        two = {(value["set"], value["counter"], value["type"])
               for value in ours if value["status"] == "need_two_samples"}
        self.assertEqual(len(ours), len(theirs))
        for own, other in zip(ours, theirs):
            older, place = ids.get(own["sample"] - 1, {}), self.place(own)
            now, before = ids[own["sample"]].get(place), older.get(place)
            needs_two = (own["set"], own["counter"], own["type"]) in two
            if needs_two and now and before and now != before and \
                    other["status"] != "need_two_samples":
                if now in older.values():
                    continue  # compared with another position
                other = dict(other, status="need_two_samples", value=None,
                             flags=[])
            self.assertEqual(own, other)

    def test_blocks_and_logs(self):
        """The values that change are those of other processes."""
        folders = [(real(name), sorted(os.listdir(real(name))))
                   for name in ("blg", "v1", "v1-samba")]
        files = [[os.path.join(folder, name) for name in names
                  if name.endswith((".blg", ".bin")) and name != "names.bin"]
                 for folder, names in folders]
        blocks = ["--names", real("v1", "names-009.tsv"), *files[1]]
        for arguments in [*([log] for log in files[0]), files[0], blocks,
                          files[2]]:
            for every in "1", "2":
                with self.subTest(arguments):
                    self.assert_only_other_processes_change(
                        "--every", every, *arguments)

    def by_process(self, how, *blocks):
        """{(sample, id, counter): (status, value)} of blocks of the object
        Process."""
        values = self.values(how, "--names", real("v1", "names-009.tsv"),
                             self.file("a.bin", b"".join(blocks)))
        ids = self.ids(values)
        return {(value["sample"], ids[value["sample"]][self.place(value)],
                 value["counter"]): (value["status"], value["value"])
                for value in values
                if self.place(value) in ids[value["sample"]]}

    def test_process_that_ends(self):
        """Without one of the captured processes, the others have the values
        that they have with it. By name and position, those after it of the
        same name do not."""
        older, newer = (bytes_of(real("v1", "pal-s0%d-obj230.bin" % sample))
                        for sample in (0, 1))
        complete = self.by_process("process", older, newer)
        pids = [pid for name, pid, _, _ in processes_of(newer)
                if name == "svchost"]
        self.assertGreater(len(pids), 2)
        for number, gone in enumerate(pids):
            cut = without(newer, gone)
            expected = {key: value for key, value in complete.items()
                        if key[:2] != (1, gone)}
            self.assertEqual(self.by_process("process", older, cut), expected)
            by_position = self.by_process("windows", older, cut)
            self.assertEqual({key[1] for key, value in by_position.items()
                              if value != expected[key]},
                             set(pids[number + 1:]))


if __name__ == "__main__":
    unittest.main()
