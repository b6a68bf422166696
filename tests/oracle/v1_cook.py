# SPDX-License-Identifier: MIT
"""Displayed values of consecutive V1 blocks, computed with dictionaries."""

import argparse
import json
import sys
from collections import Counter, defaultdict
from fractions import Fraction

import cook
import formula
import v1
from blocks import clock_time, public

NO_UNIQUE_ID = -1
MAX_OBJECTS = 4096  # in all samples that a History stores
# The identity of the only instance of an object without instances: it has no
# name, and a key counter does not apply.
ONLY = {"name": None, "occurrence": 0, "unique_id": NO_UNIQUE_ID,
        "parent": None, "_name": None, "_parent_name": v1.EMPTY_NAME}


def evaluate(older, newer):
    """Evaluate the formula of a value."""
    kind = formula.find_type(newer["type"])
    if (older and kind and formula.needs_two(kind) and
            older["type"] == newer["type"] and
            {older["bytes"], newer["bytes"]} == {4, 8}):
        return formula.refused("type_mismatch", kind.unit)
    return formula.evaluate(older, newer)


class Instance:
    """One instance with its values by position."""

    def __init__(self, record):
        self.record, self.values, self.key = record or ONLY, {}, None
        self.is_unique = self.record["unique_id"] != NO_UNIQUE_ID

    def identity(self):
        """Its unique id, or the value of the key counter and its name."""
        if self.is_unique:
            return ("unique", self.record["unique_id"])
        return ("name", self.record["unique_id"], self.key,
                self.record["_name"], self.record["_parent_name"])


class Object:
    """An object with its counters, and its instances by identity."""

    def __init__(self, item):
        self.item, self.counters, self.instances = item, [], []
        self.found = {}  # (identity, rank among equal ones) -> instance

    def index(self, key_counter):
        """Index the instances, after all their values were added."""
        if "_has_block" in self.item and not self.instances:
            self.instances.append(Instance(None))  # its values could not be read
        keys = [counter["position"] for counter in self.counters
                if counter["counter"] == key_counter]
        ranks = Counter()
        given = Counter(instance.record["unique_id"]
                        for instance in self.instances)
        for instance in self.instances:
            # An id that occurs twice in an object is ignored; names are used.
            if instance.is_unique:
                instance.is_unique = given[instance.record["unique_id"]] == 1
            value = None
            if keys and instance.record is not ONLY:
                value = instance.values.get(keys[0])
            instance.key = value["raw"] if value else None
            who = instance.identity()
            instance.place = (who, ranks[who])
            self.found[instance.place] = instance
            ranks[who] += 1

    def column(self, position, newer):
        """The counter that a counter of a newer object is compared with.

        It has the same position if both objects have the same number of
        counters. Otherwise it is the only one with its title, in both objects.
        """
        title = newer.counters[position]["counter"]
        if len(self.counters) == len(newer.counters):
            if self.counters[position]["counter"] == title:
                return self.counters[position]
        same = [counter for counter in self.counters
                if counter["counter"] == title]
        alone = [counter["counter"] for counter in newer.counters]
        return same[0] if len(same) == alone.count(title) == 1 else None


class Sample:
    """A block as a table: objects, their instances, their values."""

    def __init__(self, records, key_counter=None):
        self.header, self.objects = None, []
        for record in records:
            if record["record"] == "data":
                self.header = record
            elif record["record"] == "object":
                self.objects.append(Object(record))
            elif record["record"] == "counter":
                self.objects[-1].counters.append(record)
            elif record["record"] == "instance":
                self.objects[-1].instances.append(Instance(record))
            elif record["record"] == "value":
                self.add_value(record)
        for item in self.objects:
            item.index(key_counter)

    def add_value(self, record):
        """Add a value to its instance."""
        instances = self.objects[-1].instances
        if record["instance"] is None and not instances:
            instances.append(Instance(None))
        instances[-1].values[record["position"]] = record

    def find(self, number, title, place):
        """The object and instance of another sample: the object at the same
        position if it has the instance, else the first one of this title that
        has it."""
        for item in self.objects[number:number + 1] + self.objects:
            if item.item["object"] == title and place in item.found:
                return item, item.found[place]
        return None, None

    def has_ended(self, number, newer):
        """Whether this older sample has an instance that a newer object
        lacks. The object is that of the first instance which both have."""
        found = [self.find(number, newer.item["object"], instance.place)
                 for instance in newer.instances]
        objects = [item for item, _ in found if item]
        return bool(objects) and sum(
            item is objects[0] for item in objects) < len(objects[0].instances)

    def inputs(self, item, kind, value):
        """All possible inputs of the formula of one counter."""
        value = value or {"raw": None, "base": None, "items": None,
                          "bytes": None}
        return {"type": kind, "bytes": value["bytes"], "value": value["raw"],
                "base": value["base"], "multi": value["items"],
                "perf_time": self.header["perf_time"],
                "perf_time_100ns": self.header["perf_time_100ns"],
                "perf_freq": self.header["perf_freq"],
                "object_time": item["perf_time"],
                "object_freq": item["perf_freq"]}

    def older_inputs(self, number, newer, place, value):
        """The inputs of a newer sample's value in this older one, or None."""
        item, instance = self.find(number, newer.item["object"], place)
        counter = item and item.column(value["position"], newer)
        if not counter:
            return None
        # A broken object may have the counter but not the value.
        return self.inputs(item.item, counter["type_value"],
                           instance.values.get(counter["position"]))


def cook_pair(older, newer):
    """(object, instance, value, outcome) for each value of the newer one;
    `older` has a sample for each title."""
    for number, item in enumerate(newer.objects):
        sample = older.get(item.item["object"])
        has_ended = bool(sample) and sample.has_ended(number, item)
        for instance in item.instances:
            for _, value in sorted(instance.values.items()):
                before = sample and sample.older_inputs(
                    number, item, instance.place, value)
                outcome = evaluate(
                    before, newer.inputs(item.item, value["_type"], value))
                flags = cook.total_flags(instance.record["name"],
                                         value["_type"], outcome, has_ended)
                yield (item.item, instance, value,
                       outcome._replace(flags=flags))


def cook_v1(number, sample, older, titles):
    """The lines of a V1 sample."""
    for item, instance, value, outcome in cook_pair(older, sample):
        yield line_of(number, sample, (item, instance, value), titles,
                      outcome)


def cook_v2(number, sample, older):
    """The lines of a V2 block without metadata."""
    before = cook.first_inputs(older) if older else {}
    for line in cook.lines_of(cook.Metadata(), number, sample, before):
        yield dict(line, guid=None, parent=None)


def continues(older, newer):
    """Whether the clocks continue from one header to that of a later file."""
    freq = older["perf_freq"]
    ticks = newer["perf_time"] - older["perf_time"]
    hundreds = newer["perf_time_100ns"] - older["perf_time_100ns"]
    return (freq == newer["perf_freq"] and min(freq - 1, ticks, hundreds) >= 0
            and Fraction(hundreds, 10**7) - Fraction(ticks, freq) <=
            1 + Fraction(hundreds, 10**10))


class Series:
    """The samples of one machine, as far as name and clocks show that."""

    def __init__(self, number):
        self.number = number
        self.file, self.header = None, None  # of its latest sample


class History:
    """The V1 samples that later ones are compared with."""

    def __init__(self):
        self.latest = {}  # (machine, series, title) -> order of its latest
        self.stored = {}  # order -> (sample, number, file, keys)
        self.count = 0    # of all samples that were stored; the next order
        self.series = defaultdict(list)  # machine -> its series, oldest first
        self.series_count = 0

    def choose(self, machine, header, file):
        """The series of a sample: that of the latest sample of its file, else
        the newest that the sample continues, else a new one."""
        known = self.series[machine][::-1]
        for series in known:
            if series.file == file:
                return series
        for series in known:
            if continues(series.header, header):
                return series
        self.series_count += 1
        return Series(self.series_count)

    def add(self, sample, number, file):
        """The number of a new sample, which is `number` unless it is part of
        the previous sample, and by title the samples that it is compared with.
        """
        header = sample.header
        machine = header["_system_name"]
        series = self.choose(machine, header, file)
        keys = {(machine, series.number, item.item["object"])
                for item in sample.objects}
        found = {key[2]: self.stored[self.latest[key]]
                 for key in keys if key in self.latest}
        if self.stored:
            last, at, _, _ = self.stored[max(self.stored)]
            if at + 1 == number and all(
                    older[1] != at for older in found.values()) and all(
                    header[key] == last.header[key] for key in (
                        "_system_name", "perf_time", "perf_time_100ns")):
                number = at
        if keys:
            if series not in self.series[machine]:
                self.series[machine].append(series)
            series.file, series.header = file, header
            self.store(keys, (sample, number, file, keys))
        return number, {title: older[0] for title, older in found.items()
                        if older[2] == file or continues(older[0].header,
                                                         header)}

    def store(self, keys, entry):
        """Store a sample, and drop those that are the latest of no object."""
        self.latest.update((key, self.count) for key in keys)
        self.stored = {order: older for order, older in self.stored.items()
                       if order in self.latest.values()}
        while self.stored and len(keys) + sum(
                len(older[3]) for older in self.stored.values()) > MAX_OBJECTS:
            del self.stored[min(self.stored)]
        self.stored[self.count] = entry
        self.count += 1
        self.latest = {key: order for key, order in self.latest.items()
                       if order in self.stored}
        used = {key[1] for key in self.latest}
        for machine, known in self.series.items():
            self.series[machine] = [s for s in known if s.number in used]


def cook_parts(parts, names=None, key_counter=None):
    """The output lines of blocks (file, records), of which some may be V2.

    A block without a valid header counts as a sample that has no lines.
    """
    titles = defaultdict(lambda: None)
    for index, name, _ in reversed(names.pairs if names else []):
        titles[index] = name  # the first of equal indexes is used
    history, older, next_number = History(), None, 0
    for file, part in parts:
        number, next_number = next_number, next_number + 1
        if part[0]["record"] == "error":
            continue
        if v1.is_v2(part):
            sample = cook.read_sample(cook.Metadata(), [
                record for record in part if record["record"] != "error"])
            yield from cook_v2(number, sample, older)
            older = sample
        else:
            sample = Sample(part, key_counter)
            number, before = history.add(sample, number, file)
            next_number = number + 1
            yield from cook_v1(number, sample, before, titles)


def line_of(number, sample, place, titles, outcome):
    """One output line."""
    item, instance, value = place
    record = instance.record
    unique = record["unique_id"]
    return {"sample": number, "time": clock_time(sample.header["perf_time_100ns"]),
            "set": titles[item["object"]], "object": item["object"],
            "instance": record["name"], "occurrence": record["occurrence"],
            "counter": titles[value["counter"]],
            "counter_id": value["counter"], "position": value["position"],
            "type": v1.type_name(value["_type"]),
            "status": outcome.status, "value": outcome.value,
            "unit": outcome.unit, "flags": outcome.flags,
            "raw": value["raw"], "base": value["base"], "guid": None,
            "instance_id": None if unique == NO_UNIQUE_ID else unique,
            "parent": record["parent"]}


def by_time(files):
    """(number, start) of the files in the order of their first samples. Files
    without a sample keep their place and have the start of the one before."""
    times = [v1.first_time(data) for data in files]
    timed = [n for n, time in enumerate(times) if time is not None]
    order = list(range(len(files)))
    for place, number in zip(timed, sorted(timed, key=lambda n: times[n])):
        order[place] = number
    starts = []
    for number in order:
        starts.append(times[number] if times[number] is not None
                      else starts[-1] if starts else -2**63)
    return list(zip(order, starts))


class Reader:
    """The blocks of a file that were not taken yet."""

    def __init__(self, number, start, data):
        self.number, self.data = number, data
        self.parts = list(v1.decode_parts(data))
        self.repeats = False
        self.time = start
        self.look()

    def look(self):
        """Find the time of the next block: without a valid header that of the
        one before."""
        self.has_time = bool(self.parts) and \
            self.parts[0][0]["record"] != "error"
        if self.has_time:
            self.time = self.parts[0][0]["perf_time_100ns"]

    def place(self):
        """Where the next block is among those of all files."""
        return self.time, not self.has_time, self.number

    def content(self):
        """The bytes of the next block, or None without a valid header."""
        header = self.parts[0][0]
        return self.data[header["offset"]:header["offset"] + header["size"]] \
            if self.has_time else None

    def take(self):
        """The next block."""
        part = self.parts.pop(0)
        self.repeats = False
        self.look()
        return part


def merged(files):
    """(number of the file, records) of the blocks of all files, in the order
    of their times. A block that another file has as well is left out."""
    waiting, readers = by_time(files), []
    while waiting or readers:
        readers = [reader for reader in readers if reader.parts]
        first = min(readers, key=Reader.place, default=None)
        if waiting and (not first or waiting[0][1] <= first.time):
            number, start = waiting.pop(0)
            readers.append(Reader(number, start, bytes(files[number])))
        elif first and first.repeats:
            first.take()
        elif first:
            content = first.content()
            for other in readers:
                if other is not first and content is not None and \
                        other.time == first.time and \
                        other.content() == content:
                    other.repeats = True
            yield first.number, first.take()


def cook_files(files, names=None, key_counter=None):
    """All lines of the blocks in several files, and their errors."""
    parts, errors = [], []
    for number, part in merged(files):
        parts.append((number, part))
        errors += [dict(record, _file=number) for record in part
                   if record["record"] == "error"]
    return list(cook_parts(parts, names, key_counter)), errors


def main(arguments):
    """Command line."""
    parser = argparse.ArgumentParser(description="Print displayed values.")
    parser.add_argument("files", metavar="FILE", nargs="+")
    parser.add_argument("--names", metavar="TABLE")
    parser.add_argument("--key-counter", type=int)
    options = parser.parse_args(arguments)
    sys.stdout.reconfigure(encoding="utf-8")
    names, contents = None, []
    for path in options.files:
        with open(path, "rb") as file:
            contents.append(file.read())
    if options.names:
        with open(options.names, "rb") as file:
            names = v1.Names(file.read())
    lines, errors = cook_files(contents, names, options.key_counter)
    for line in lines:
        print(json.dumps(public(line), ensure_ascii=False))
    for error in errors:
        print("%s at offset %s" % (error.get("code"), error.get("offset")),
              file=sys.stderr)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
