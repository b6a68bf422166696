# SPDX-License-Identifier: MIT
"""A second implementation of the displayed values of consecutive V1 blocks."""

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
ID_PROCESS, ID_THREAD = 784, 804  # title indexes of counters
MAX_OBJECTS = 4096  # in all samples that a History stores
# The record of the only instance of an object without instances. The instance
# has no name, and ids of processes do not apply to it.
ONLY = {"name": None, "occurrence": 0, "unique_id": NO_UNIQUE_ID,
        "parent": None, "_name": None, "_parent_name": v1.EMPTY_NAME}


def evaluate(older, newer):
    """The formula.Result of a value. If the formula needs two samples and one
    value has 4 bytes and the other 8, the status is type_mismatch."""
    kind = formula.find_type(newer["type"])
    if (older and kind and formula.needs_two(kind) and
            older["type"] == newer["type"] and
            {older["bytes"], newer["bytes"]} == {4, 8}):
        return formula.refused("type_mismatch", kind.unit)
    return formula.evaluate(older, newer)


class Instance:
    """An instance; `values` are {position: record of the value}."""

    def __init__(self, record):
        self.record, self.values = record or ONLY, {}
        self.process, self.thread = None, None  # ids that identify it
        self.is_unique = self.record["unique_id"] != NO_UNIQUE_ID

    def identity(self):
        """What identifies it in other samples: a unique id that occurs once in
        the object; otherwise the id, the name and that of the parent."""
        if self.is_unique:
            return ("unique", self.record["unique_id"])
        return ("name", self.record["unique_id"],
                self.record["_name"], self.record["_parent_name"])

    def ids(self):
        """(id of the process, id of the thread) that identify it, or None."""
        return None if self.process is self.thread is None else (
            self.process, self.thread)

    def is_same_owner(self, other):
        """Whether it is the process or thread of another sample that has the
        same ids. Names of threads are numbers that may change."""
        return self.record["_parent_name"] == other.record["_parent_name"] and (
            self.thread is not None or
            self.record["_name"] == other.record["_name"])


class Object:
    """An object with its counters and instances."""

    def __init__(self, item):
        self.item, self.counters, self.instances = item, [], []
        self.by_place = {}  # (identity, rank among equal ones) -> instance
        self.by_ids = {}    # ids of process and thread -> instance

    def read_id(self, instance, title):
        """The value of an id of an instance, or None."""
        for counter in self.counters:
            if counter["counter"] == title:
                value = instance.values.get(counter["position"])
                raw = value["raw"] if value else None
                return raw if raw and raw < 2**32 else None
        return None

    def find_ids(self):
        """Finds the ids of the instances, each of which one instance has."""
        has_thread = any(counter["counter"] == ID_THREAD
                         for counter in self.counters)
        named = [instance for instance in self.instances
                 if instance.record is not ONLY and not instance.is_unique]
        for instance in named:
            instance.process = self.read_id(instance, ID_PROCESS)
            instance.thread = self.read_id(instance, ID_THREAD)
            if has_thread and instance.thread is None:
                instance.process = None
        counts = Counter(instance.ids() for instance in named)
        for instance in named:
            if counts[instance.ids()] > 1:
                instance.process = instance.thread = None
            if instance.ids():
                self.by_ids[instance.ids()] = instance

    def index(self, identity):
        """Finds the identities of the instances when all values are known."""
        if "_has_block" in self.item and not self.instances:
            self.instances.append(Instance(None))  # no value was read
        ranks = Counter()
        id_counts = Counter(instance.record["unique_id"]
                            for instance in self.instances)
        for instance in self.instances:
            # With an id that occurs twice in an object, names are compared too.
            if instance.is_unique:
                instance.is_unique = \
                    id_counts[instance.record["unique_id"]] == 1
            place = instance.identity()
            instance.place = (place, ranks[place])
            self.by_place[instance.place] = instance
            ranks[place] += 1
        if identity == "process":
            self.find_ids()

    def column(self, position, newer):
        """The counter of this object that the counter at `position` of a newer
        object is compared with, or None.

        It is the one at the same position if both objects have the same number
        of counters and it has the same title index. Otherwise it is the one
        with the same title index, which must occur once in each object.
        """
        title = newer.counters[position]["counter"]
        if len(self.counters) == len(newer.counters):
            if self.counters[position]["counter"] == title:
                return self.counters[position]
        same = [counter for counter in self.counters
                if counter["counter"] == title]
        alone = [counter["counter"] for counter in newer.counters]
        return same[0] if len(same) == alone.count(title) == 1 else None


    def base_title(self, position):
        """The title index of the base of the counter at `position`, or None.
        """
        other = self.counters[position + 1:position + 2]
        return other[0]["counter"] if other and v1.is_base(
            other[0]["type_value"]) else None


def subtracts_bases(type_value):
    """Whether a formula subtracts the bases of two samples."""
    kind = formula.find_type(type_value)
    return bool(kind and kind.form) and kind.form.denominator in (
        "base_delta", "base_or_time")


class Sample:
    """A block as a table: objects, their instances, their values."""

    def __init__(self, records, identity="process"):
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
            item.index(identity)

    def add_value(self, record):
        """Adds a value to its instance."""
        instances = self.objects[-1].instances
        if record["instance"] is None and not instances:
            instances.append(Instance(None))
        instances[-1].values[record["position"]] = record

    def objects_of(self, number, title):
        """The objects with this title index, that at position `number` first.
        """
        return [item for item in self.objects[number:number + 1] + self.objects
                if item.item["object"] == title]

    def find(self, number, newer, instance):
        """(object, instance) of this sample that an instance of a newer sample
        is compared with: the one with the same ids of process and thread.
        Otherwise the one with the same name and position, unless both have ids
        or the newer sample has the ids of that one elsewhere. The object at
        position `number` is searched before the others of its title index.
        """
        title = newer.objects[number].item["object"]
        objects = self.objects_of(number, title)
        same = [item for item in objects if instance.ids() in item.by_ids]
        if same:
            found = same[0].by_ids[instance.ids()]
            if instance.is_same_owner(found):
                return same[0], found
        for item in objects:
            found = item.by_place.get(instance.place)
            if found and found.ids() and (instance.ids() or any(
                    found.ids() in other.by_ids
                    for other in newer.objects_of(number, title))):
                return None, None
            if found:
                return item, found
        return None, None

    def has_ended(self, number, newer):
        """Whether an instance of this older sample is missing in a newer object.
        The older object is the one with the first instance that both have."""
        found = [self.find(number, newer, instance)
                 for instance in newer.objects[number].instances]
        objects = [item for item, _ in found if item]
        return bool(objects) and sum(
            item is objects[0] for item in objects) < len(objects[0].instances)

    def inputs(self, item, kind, value):
        """All inputs that the formula of a counter may use."""
        value = value or {"raw": None, "base": None, "items": None,
                          "bytes": None}
        return {"type": kind, "bytes": value["bytes"], "value": value["raw"],
                "base": value["base"], "multi": value["items"],
                "perf_time": self.header["perf_time"],
                "perf_time_100ns": self.header["perf_time_100ns"],
                "perf_freq": self.header["perf_freq"],
                "object_time": item["perf_time"],
                "object_freq": item["perf_freq"]}

    def older_inputs(self, number, sample, newest, value):
        """The inputs of a newer sample's value in this older one, or None."""
        item, instance = self.find(number, sample, newest)
        newer = sample.objects[number]
        counter = item and item.column(value["position"], newer)
        if not counter:
            return None
        titles = {item.base_title(counter["position"]),
                  newer.base_title(value["position"])} - {None}
        if len(titles) == 2 and subtracts_bases(value["_type"]):
            return None
        # A broken object may have the counter but not the value.
        return self.inputs(item.item, counter["type_value"],
                           instance.values.get(counter["position"]))


def cook_pair(older, newer):
    """(object, instance, value, result) of each value of the newer sample.
    `older` is {title index: the sample that the object is compared with}."""
    for number, item in enumerate(newer.objects):
        sample = older.get(item.item["object"])
        has_ended = bool(sample) and sample.has_ended(number, newer)
        for instance in item.instances:
            for _, value in sorted(instance.values.items()):
                before = sample and sample.older_inputs(
                    number, newer, instance, value)
                outcome = evaluate(
                    before, newer.inputs(item.item, value["_type"], value))
                flags = cook.value_flags(instance.record["name"],
                                         value["_type"], value["raw"],
                                         outcome, has_ended)
                yield (item.item, instance, value,
                       outcome._replace(flags=flags))


def cook_v1(number, sample, older, titles):
    """The output lines of a V1 sample."""
    for item, instance, value, outcome in cook_pair(older, sample):
        yield line_of(number, sample, (item, instance, value), titles,
                      outcome)


def cook_v2(number, sample, older):
    """The output lines of a V2 reply without metadata."""
    before = cook.first_inputs(older) if older else {}
    for line in cook.lines_of(cook.Metadata(), number, sample, before):
        yield dict(line, guid=None, parent=None)


def continues(older, newer):
    """Whether the clocks of two headers can be those of one machine without a
    restart between them."""
    freq = older["perf_freq"]
    ticks = newer["perf_time"] - older["perf_time"]
    hundreds = newer["perf_time_100ns"] - older["perf_time_100ns"]
    return (freq == newer["perf_freq"] and min(freq - 1, ticks, hundreds) >= 0
            and Fraction(hundreds, 10**7) - Fraction(ticks, freq) <=
            1 + Fraction(hundreds, 10**10))


class Series:
    """Samples that are of one machine according to its name and clocks."""

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
        """The series of a sample: the newest whose latest sample is of the same
        file, else the newest that the sample continues, else a new one."""
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
        """Adds a sample. Returns its number, and {title index: the sample to
        compare with}. Its number is `number`, unless it has the machine and
        times of the previous sample and other objects: then it is a part of
        that sample and has its number."""
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
        """Stores a sample. Drops those that are the latest of no object and,
        beyond MAX_OBJECTS, the oldest ones."""
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


def cook_parts(parts, names=None, identity="process"):
    """The output lines of blocks (file, records), some of which may be V2. A
    block without a valid header is no sample, and takes no number."""
    titles = defaultdict(lambda: None)
    for index, name, _ in reversed(names.pairs if names else []):
        titles[index] = name  # the first of equal indexes is used
    history, older, next_number = History(), None, 0
    for file, part in parts:
        if part[0]["record"] == "error":
            continue
        number, next_number = next_number, next_number + 1
        if v1.is_v2(part):
            sample = cook.read_sample(cook.Metadata(), [
                record for record in part if record["record"] != "error"])
            yield from cook_v2(number, sample, older)
            older = sample
        else:
            sample = Sample(part, identity)
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
    """(number, start time) of the files in the order of their first samples.
    Files without a sample come first: they have only errors."""
    times = [v1.first_time(data) for data in files]
    starts = [(number, -2**63 if time is None else time)
              for number, time in enumerate(times)]
    return sorted(starts, key=lambda item: item[1])


class Reader:
    """The blocks of a file that were not returned yet."""

    def __init__(self, number, start, data):
        self.number, self.data = number, data
        self.parts = list(v1.decode_parts(data))
        self.repeats = False  # the next block was returned from another file
        self.time = start
        self.look()

    def look(self):
        """Sets the time of the next block. A block without a valid header has
        the time of the one before."""
        self.has_time = bool(self.parts) and \
            self.parts[0][0]["record"] != "error"
        if self.has_time:
            self.time = self.parts[0][0]["perf_time_100ns"]

    def place(self):
        """The key by which the next blocks of all files are sorted."""
        return self.time, not self.has_time, self.number

    def content(self):
        """The bytes of the next block, or None without a valid header."""
        header = self.parts[0][0]
        return self.data[header["offset"]:header["offset"] + header["size"]] \
            if self.has_time else None

    def take(self):
        """Returns and removes the next block."""
        part = self.parts.pop(0)
        self.repeats = False
        self.look()
        return part


def merged(files):
    """(number of the file, records) of the blocks of all files, in the order
    of their times. A block that several files contain is returned once."""
    waiting, readers = by_time(files), []
    latest, returned = None, {}  # the blocks of the latest time: {bytes: file}
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
            if content is not None and (first.time == latest or
                                        len(readers) > 1):
                if first.time != latest:
                    latest, returned = first.time, {}
                if returned.setdefault(content, first.number) != first.number:
                    first.take()
                    continue
            for other in readers:
                if other is not first and content is not None and \
                        other.time == first.time and \
                        other.content() == content:
                    other.repeats = True
            yield first.number, first.take()


def cook_files(files, names=None, identity="process"):
    """The output lines of several files, and the records of their errors."""
    parts, errors = [], []
    for number, part in merged(files):
        parts.append((number, part))
        errors += [dict(record, _file=number) for record in part
                   if record["record"] == "error"]
    return list(cook_parts(parts, names, identity)), errors


def main(arguments):
    """Command line."""
    parser = argparse.ArgumentParser(description="Print displayed values.")
    parser.add_argument("files", metavar="FILE", nargs="+")
    parser.add_argument("--names", metavar="TABLE")
    parser.add_argument("--identity", default="process",
                        choices=("process", "windows"))
    options = parser.parse_args(arguments)
    sys.stdout.reconfigure(encoding="utf-8")
    names, contents = None, []
    for path in options.files:
        with open(path, "rb") as file:
            contents.append(file.read())
    if options.names:
        with open(options.names, "rb") as file:
            names = v1.Names(file.read())
    lines, errors = cook_files(contents, names, options.identity)
    for line in lines:
        print(json.dumps(public(line), ensure_ascii=False))
    for error in errors:
        print("%s at offset %s" % (error.get("code"), error.get("offset")),
              file=sys.stderr)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
