# SPDX-License-Identifier: MIT
"""Processes and threads are recognised by their ids: V1 blocks and .blg."""

import os
import random
import unittest

from program import Case, needs_real_data, real
import log_reader
import log_writer as w
import v1_cook
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


def v1_file():
    """The samples as V1 blocks."""
    little = v1_writer.little
    counters = [little.counter(6, TIMER, 8, 8), little.counter(784, RAW, 4, 16)]
    return b"".join(little.block(little.object(230, counters, [
        little.instance(name, little.values(bytes(4), little.v8(used),
                                            little.v4(number)))
        for name, number, used in processes]), clock=(
            SECOND * (1 + at), SECOND, time_of(at)))
        for at, processes in enumerate(PROCESSES))


def wildcards(*counters):
    """Paths of all processes."""
    return w.paths(*(w.path(kind, SECOND if kind == TIMER else 0, *PATH, "*",
                            counter, flags=1) for counter, kind in counters))


def wildcard_log(of_id="ID Process"):
    """The samples as a log of all processes. `of_id`: the name of the id."""
    events = wildcards(("% Processor Time", TIMER), (of_id, RAW))
    for at, processes in enumerate(PROCESSES):
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

    def test_wildcards(self):
        """A log of all instances."""
        path = self.file("a.blg", wildcard_log())
        self.assertEqual(self.percents(path), PERCENT)
        self.assertEqual(self.percents(path, "--identity", "windows"),
                         BY_POSITION)

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

    def test_single_paths(self):
        """Logs with a path for each instance."""
        for with_number in (False, True):
            path = self.file("a.blg", single_log(with_number))
            self.assertEqual(self.percents(path), PERCENT)
            self.assertEqual(self.percents(path, "--identity", "windows"),
                             BY_POSITION)

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


@needs_real_data
class Captured(Case):
    """Captured data has the values that it has by position, except where the
    ids in it show another process."""

    def values(self, *arguments):
        """The values that cook prints; one log is cut."""
        return self.run_program("cook", "-f", "json", *arguments).objects()

    def differing(self, *arguments):
        """The keys of the values that the rule changes, as instances."""
        ours, theirs = (self.values("--identity", how, *arguments)
                        for how in ("process", "windows"))
        self.assertEqual(len(ours), len(theirs))
        return {tuple(own[key] for key in ("sample", "instance", "occurrence"))
                for own, other in zip(ours, theirs) if own != other}

    def other_processes(self, *arguments):
        """The instances whose id is another one than that of the same name
        and position in the sample before."""
        before, out, rows = {}, set(), {}
        for value in self.values(*arguments):
            if value["counter"] == "ID Process":
                rows.setdefault(value["sample"], {})[
                    value["instance"], value["occurrence"]] = value["raw"]
        for sample, now in sorted(rows.items()):
            out |= {(sample,) + place for place, number in now.items()
                    if before.get(place, number) != number}
            before = now
        return out

    def test_blocks_and_logs(self):
        """The values that change are those of other processes."""
        folder = real("v1")
        inputs = [[os.path.join(real("blg"), name)]
                  for name in sorted(os.listdir(real("blg")))
                  if name.endswith(".blg")]
        inputs.append(["--names", os.path.join(folder, "names-009.tsv")] + [
            os.path.join(folder, "pal-s0%d-obj230.bin" % n) for n in (0, 1)])
        for arguments in inputs:
            with self.subTest(arguments):
                allowed = self.other_processes(*arguments)
                self.assertLessEqual(self.differing(*arguments), allowed)


if __name__ == "__main__":
    unittest.main()
