# SPDX-License-Identifier: MIT
"""A second implementation of the text of the fixtures (fixtures/README.md).

cook_text() returns the displayed values of a text without making a recording
of it: the values of the text go straight to cook.py and v1_cook.py. It uses
nothing of perfblock-fixture, which makes the recordings. Texts must be valid.
"""

import datetime
import json
import sys
from collections import namedtuple
from decimal import Decimal

import blocks
import cook
import formula
import v1
import v1_cook

SECOND = 10_000_000  # ticks of all clocks
FIRST_TIME = (datetime.datetime(2025, 1, 1) -
              datetime.datetime(1601, 1, 1)).days * 86400 * SECOND
FIRST_TICK = 1000 * SECOND
TYPES = {kind.name: value for value, kind in formula.TYPES.items()}

# A counterset (is_v1 is False) or an object. counters: dicts with the keys id,
# type (None: unknown), bytes, name, and base (V2) or offset (V1).
Part = namedtuple("Part", "is_v1 key instances clock name counters")
# rows: (name or None, id, raw values of the counters). status: None, or that of
# an error result.
Result = namedtuple("Result", "part rows status")
# ticks: since second 0.
Sample = namedtuple("Sample", "ticks results")
Names = namedtuple("Names", "pairs")  # as v1.Names


def words_of(line):
    """The words of a line."""
    words, word, is_quoted, at = [], None, False, 0
    while at < len(line):
        letter = line[at]
        if letter == '"':
            is_quoted, word = not is_quoted, word or ""
        elif is_quoted and letter == "\\":
            at += 1
            word += line[at]
        elif not is_quoted and letter in " \t":
            if word is not None:
                words.append(word)
            word = None
        else:
            word = (word or "") + letter
        at += 1
    return words if word is None else words + [word]


def lines_of(text):
    """The words of each line with its continuations."""
    found = []
    for line in text.replace("\r\n", "\n").split("\n"):
        if line.strip(" \t") and line[0] != "#":
            if line[0] in " \t":
                found[-1] += words_of(line)
            else:
                found.append(words_of(line))
    return found


def integer(word):
    """A decimal number, or a hexadecimal one after 0x."""
    return int(word, 16) if "0x" in word.lower() else int(word)


def read_type(word):
    """The value of a type; None if it is unknown."""
    if word == "unknown":
        return None
    return TYPES[word] if word in TYPES else integer(word)


def read_counter(words):
    """A counter of a counterset."""
    ident, kind, width, base, name = words
    clock, slash, frequency = base.partition("/")
    return {"id": integer(ident), "type": read_type(kind), "bytes": int(width),
            "base": cook.NONE if base == "-" or slash else integer(base),
            "perf_time": integer(clock) if slash else cook.NONE,
            "perf_freq": integer(frequency) if slash else cook.NONE,
            "name": name}


def read_define(words):
    """A counter of an object."""
    index, kind, width, offset, _, name = words
    return {"id": integer(index), "type": read_type(kind), "bytes": int(width),
            "offset": integer(offset), "name": name}


class Values:
    """The values of the rows of a counterset or object."""

    def __init__(self):
        self.latest = {}  # (instance, its number among equal ones) -> numbers

    def read(self, part, instance, words):
        """The raw values of the counters of a row. Counters of an object with
        one offset share a value."""
        before = self.latest.get(instance, {})
        now, left = {}, list(words)
        for counter in part.counters:
            place = counter["offset"] if part.is_v1 else counter["id"]
            if place in now:
                continue
            word = left.pop(0)
            if word == "=":
                now[place] = before[place]
            elif word[0] in "+-":
                now[place] = before[place] + integer(word)
            else:
                now[place] = integer(word)
            now[place] &= (1 << 8 * counter["bytes"]) - 1
        assert not left
        self.latest[instance] = now
        return [now[counter["offset"] if part.is_v1 else counter["id"]]
                for counter in part.counters]


def read_row(result, values, words):
    """Adds a row to a result."""
    name, ident = None, 0
    if words[0] != "-":
        name, _, ident = words[0].rpartition("#")
    number = len([row for row in result.rows if row[0] == name])
    result.rows.append((name, int(ident), values.read(
        result.part, (name, number), words[1:])))


def read_text(text):
    """(machine or None, parts, samples) of a text."""
    machine, parts, samples, values = None, {}, [], {}
    for verb, *words in lines_of(text):
        if verb == "machine":
            machine = words[0]
        elif verb in ("counterset", "object"):
            part = Part(verb == "object", words[0], words[1],
                        words[2] == "object" and verb == "object", words[-1],
                        [])
            parts[part.name], values[part.name] = part, Values()
        elif verb == "counter":
            part.counters.append(read_counter(words))
        elif verb == "define":
            part.counters.append(read_define(words))
        elif verb == "sample":
            samples.append(Sample(int(Decimal(words[0]) * SECOND), []))
        elif verb == "result":
            samples[-1].results.append(Result(parts[words[0]], [], None))
        elif verb == "error":
            samples[-1].results[-1] = samples[-1].results[-1]._replace(
                status=integer(words[0]))
        elif verb == "row":
            result = samples[-1].results[-1]
            read_row(result, values[result.part.name], words)
    return machine, list(parts.values()), samples


def header_of(machine, sample):
    """The record of the header of a reply or block."""
    return {"record": "data", "perf_time": FIRST_TICK + sample.ticks,
            "perf_time_100ns": FIRST_TIME + sample.ticks,
            "perf_freq": SECOND,
            "_system_name": (machine or "").encode("utf-16-le")}


# V2 -------------------------------------------------------------------------

def metadata_of(parts):
    """The metadata of countersets, of which each has a query."""
    metadata = cook.Metadata()
    for index, part in enumerate(parts):
        guid = part.key.lower()
        metadata.counters[guid] = {
            counter["id"]: dict(counter, multi=cook.NONE)
            for counter in part.counters if counter["type"] is not None}
        metadata.strings[guid, 3] = {None: {"text": part.name}}
        metadata.strings[guid, 5] = {
            counter["id"]: {"text": counter["name"]}
            for counter in part.counters}
        name = None if part.instances == "single" else "*"
        metadata.queries[index] = {
            "guid": guid, "counter": cook.NONE, "instance": cook.NONE,
            "name": name, "_name": name and name.encode("utf-16-le")}
    return metadata


def v2_records(parts, sample):
    """The records of a reply, which has a result of each counterset."""
    yield header_of(None, sample)
    results = {result.part.name: result for result in sample.results}
    for index, part in enumerate(parts):
        yield {"record": "result", "query": index}
        for name, ident, numbers in results[part.name].rows:
            if name is not None:
                yield {"record": "instance", "id": ident, "name": name,
                       "_name": name.encode("utf-16-le")}
            for position, (counter, number) in enumerate(
                    zip(part.counters, numbers)):
                yield {"record": "value", "position": position,
                       "counter": counter["id"], "bytes": counter["bytes"],
                       "raw": number}


def cook_v2(parts, samples):
    """The output lines of samples of countersets."""
    metadata, older = metadata_of(parts), {}
    for number, sample in enumerate(samples):
        newer = cook.read_sample(metadata, list(v2_records(parts, sample)))
        yield from cook.lines_of(metadata, number, newer, older)
        older = cook.first_inputs(newer)


# V1 -------------------------------------------------------------------------

def v1_values(part, number, numbers):
    """The value records of a row. The base, or the multi count, of a counter is
    the value of the next counter if that has the type of one."""
    for position, (counter, raw) in enumerate(zip(part.counters, numbers)):
        base = items = None
        following = part.counters[position + 1:position + 2]
        if (following and v1.is_base(following[0]["type"]) and
                not v1.is_base(counter["type"])):
            base = numbers[position + 1]
            if following[0]["type"] == formula.MULTI_BASE:
                base, items = None, base
        yield {"record": "value", "object": int(part.key), "instance": number,
               "counter": counter["id"], "position": position,
               "bytes": counter["bytes"], "raw": raw, "base": base,
               "items": items, "_type": counter["type"]}


def v1_records(machine, sample):
    """The records of a block."""
    header = dict(header_of(machine, sample), version=1)
    records = [header]
    for part, rows, _ in sample.results:
        records.append({
            "record": "object", "object": int(part.key),
            "perf_time": header["perf_time_100ns"] if part.clock else 0,
            "perf_freq": SECOND if part.clock else 0})
        records += [{"record": "counter", "counter": counter["id"],
                     "position": position, "type_value": counter["type"]}
                    for position, counter in enumerate(part.counters)]
        for number, (name, ident, numbers) in enumerate(rows):
            if name is not None:
                records.append({
                    "record": "instance", "name": name, "unique_id": ident,
                    "_name": (name.encode("utf-16-le"), 1200),
                    "parent_object": None, "parent_instance": None})
            records += v1_values(part, None if name is None else number,
                                 numbers)
    v1.number_instances(records)
    return records


def cook_v1(machine, parts, samples):
    """The output lines of samples of objects."""
    pairs = [(int(part.key), part.name, None) for part in parts] + \
        [(counter["id"], counter["name"], None)
         for part in parts for counter in part.counters]
    return v1_cook.cook_parts(
        [(0, v1_records(machine, sample)) for sample in samples], Names(pairs))


# ----------------------------------------------------------------------------

def cook_text(text):
    """(output lines of the values, [(sample, name, status)] of the error
    results) of a text."""
    machine, parts, samples = read_text(text)
    is_v1 = any(part.is_v1 for part in parts)
    lines = cook_v1(machine, parts, samples) if is_v1 else \
        cook_v2(parts, samples)
    errors = [(number, result.part.name, result.status)
              for number, sample in enumerate(samples)
              for result in sample.results if result.status is not None]
    return list(lines), errors


def main(arguments):
    """Command line."""
    if len(arguments) != 1:
        print("usage: fixture_reader.py FILE.txt", file=sys.stderr)
        return 2
    sys.stdout.reconfigure(encoding="utf-8")
    with open(arguments[0], encoding="utf-8") as file:
        lines, _ = cook_text(file.read())
    for line in lines:
        print(json.dumps(blocks.public(line), ensure_ascii=False))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
