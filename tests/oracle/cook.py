# SPDX-License-Identifier: MIT
"""A second implementation of the displayed values of a capture's V2 replies.

Each DATA chunk becomes a sample: the inputs of the formula of each value, with
the key (query, instance, counter). Output lines are computed from a sample and
the previous one.
"""

import json
import sys
from collections import Counter

import blocks
import formula

NONE = 0xFFFFFFFF
RAW_COUNTS = (0x00000000, 0x00000100, 0x00010000, 0x00010100)
# Statuses that have precedence over the status for a value of a wrong width.
BEFORE_WIDTH = ("unknown_type", "not_displayed", "need_two_samples",
                "type_mismatch")


class Metadata:
    """The metadata that the chunks before a DATA chunk contain."""

    def __init__(self):
        self.counters = {}  # set GUID -> counter id -> registration
        # (set GUID, request code) -> counter id (None: text of the set) -> record
        self.strings = {}
        self.queries = {}   # result index -> identifier

    def add_registration(self, payload):
        """Adds an RGST chunk, which replaces an earlier reply to its request.
        """
        blocks.require(len(payload) >= 24, "registration chunk too short", 0)
        guid, request = blocks.guid(payload, 0), blocks.u32(payload, 16)
        if request not in (1, 3, 5, 9, 10):
            return
        items, error = blocks.collect(
            blocks.decode_registration(payload[24:], request))
        table = {}
        for item in items:
            if item["record"] != "counterset":
                # Ids may repeat: the first entry is used.
                table.setdefault(item.get("id"), item)
        if request == 1:
            self.counters[guid] = table
        else:
            self.strings[guid, request] = table
        if error:
            raise error

    def add_queries(self, payload):
        """Adds a QINF chunk, which replaces the previous one."""
        items, error = blocks.collect(blocks.decode_identifiers(payload))
        self.queries = {}
        for item in items:
            self.queries.setdefault(item["index"], item)
        if error:
            raise error

    def registration(self, guid, counter):
        """The registration of a counter, or None."""
        return self.counters.get(guid, {}).get(counter)

    def string(self, guid, requests, ident=None):
        """The text of the first of these request codes that has one, or None.
        """
        for request in requests:
            item = self.strings.get((guid, request), {}).get(ident)
            if item and item["text"] is not None:
                return item["text"]
        return None


class Result:
    """A result block: its query and its values."""

    def __init__(self, index, query):
        self.query = query
        self.guid = query["guid"] if query else None
        self.signature = query and (query["guid"], query["counter"],
                                    query["instance"], query["_name"])
        self.index = index
        self.rows = []   # (identity, name, occurrence, counter id, value)
        self.first = {}  # (identity, counter id) -> value

    def add(self, identity, name, occurrence, value):
        """Appends a value. Of a repeated counter id the first value is found.
        """
        counter = value["counter"]
        if counter is None and self.query:
            counter = self.query["counter"]
            counter = None if counter == NONE else counter
        self.rows.append((identity, name, occurrence, counter, value))
        self.first.setdefault((identity, counter), value)


def exact_name(query):
    """The instance name of a query; None if it is a pattern, empty or absent."""
    name = query and query["name"]
    return name if name and not set("*?") & set(name) else None


def read_results(items, queries):
    """The results of one reply with their values."""
    results, identity, shown = [], None, (None, 0)
    for item in items:
        if item["record"] == "result":
            query = queries.get(item["query"])
            results.append(Result(item["query"], query))
            twins, names = Counter(), Counter()
            # If the result has no instances, the query identifies the instance.
            identity = query and ("filter", query["instance"], query["_name"])
            shown = (exact_name(query), 0)
        elif item["record"] == "instance":
            same = (item["id"], item["_name"])
            identity = same + (twins[same],)
            shown = (item["name"], names[item["_name"]])
            twins[same] += 1
            names[item["_name"]] += 1
        elif item["record"] == "value":
            results[-1].add(identity, shown[0], shown[1], item)
    return results


def find_value(results, home, identity, counter):
    """The value of a counter of the same instance: in the result `home`, or
    else in another result of the same counterset."""
    others = [other for other in results
              if other is not home and other.guid == home.guid]
    for result in [home] + others:
        value = result.first.get((identity, counter))
        if value is not None:
            return value
    return None


def type_bytes(type_value):
    """The size that a type declares, 4 or 8, or None."""
    return {0x000: 4, 0x100: 8}.get(type_value & 0x300)


def is_base(type_value):
    """Whether the type is that of a base: a counter of the subtype 3, except
    PERF_COUNTER_MULTI_BASE."""
    return (type_value & 0xC00 == 0x400 and type_value & 0xF0000 == 0x30000
            and type_value != 0x42030500)


def fits_base(entry, value):
    """Whether a value can be a base."""
    return (is_base(entry["type"])
            and value["bytes"] == type_bytes(entry["type"]))


def fits_number(entry, value):
    """Whether a value can be a count, time or frequency."""
    return entry["type"] in RAW_COUNTS and value["bytes"] in (4, 8)


def referenced(metadata, results, home, identity, entry, key):
    """The raw value of the counter to which `entry` refers with `key`, or
    None."""
    counter = entry[key]
    if counter in (NONE, entry["id"]):
        return None
    other = metadata.registration(home.guid, counter)
    value = find_value(results, home, identity, counter)
    fits = fits_base if key == "base" else fits_number
    if other is None or value is None or not fits(other, value):
        return None
    return value["raw"]


def build_inputs(metadata, header, results, home, row):
    """All inputs that the formula of a counter may use."""
    identity, _, _, counter, value = row
    inputs = {"value": value["raw"], "bytes": value["bytes"],
              "perf_time": header["perf_time"],
              "perf_time_100ns": header["perf_time_100ns"],
              "perf_freq": header["perf_freq"]}
    entry = metadata.registration(home.guid, counter)
    if entry is not None:
        inputs["type"] = entry["type"]
        for name, key in (("base", "base"), ("multi", "multi"),
                          ("object_time", "perf_time"),
                          ("object_freq", "perf_freq")):
            inputs[name] = referenced(metadata, results, home, identity,
                                      entry, key)
    return inputs


def wrong_width(inputs):
    """Whether a number has another size than its type declares. Raw counts may
    have either size."""
    return (inputs["type"] not in RAW_COUNTS and inputs["bytes"] in (4, 8)
            and inputs["bytes"] != type_bytes(inputs["type"]))


def evaluate(older, newer):
    """The result of the formula; values of a wrong size are refused."""
    result = formula.evaluate(older, newer)
    if result.status in BEFORE_WIDTH:
        return result
    two = formula.needs_two(formula.find_type(newer["type"]))
    if any(wrong_width(inputs) for inputs in [newer] + [older] * two):
        return formula.refused("type_mismatch", result.unit)
    return result


def read_sample(metadata, reply):
    """(header, [(key, row, result, inputs)]) of the values of a reply."""
    header, results = reply[0], read_results(reply[1:], metadata.queries)
    ordinals, entries = Counter(), []
    for result in results:
        # A later QINF chunk may renumber the queries, so a query is identified
        # by its content.
        query = (result.signature, ordinals[result.signature])
        ordinals[result.signature] += 1
        if result.query is None:
            query = (None, result.index)
        for row in result.rows:
            key = (query, row[0], row[3])
            inputs = build_inputs(metadata, header, results, result, row)
            entries.append((key, row, result, inputs))
    return header, entries


def first_inputs(sample):
    """{key: inputs}; of a repeated counter the first position is used."""
    table = {}
    for key, _, _, inputs in sample[1]:
        table.setdefault(key, inputs)
    return table


def is_total(name):
    """Whether an instance of this name is the sum of others."""
    return name is not None and (name == "_Total" or name.endswith(",_Total"))


def value_flags(name, type_value, raw, outcome, has_ended):
    """The flags of a value. A raw count whose highest bit of 64 is set may be
    negative, if its type is a decimal number. A total that is computed from two samples is
    incomplete if an instance has ended since the older sample, because the
    newer count of the total does not include that instance."""
    known = formula.find_type(type_value)
    is_incomplete = (has_ended and is_total(name) and outcome.status == "ok"
                     and known and formula.needs_two(known))
    may_be_negative = (type_value in (0x00010000, 0x00010100)
                       and outcome.status == "ok" and (raw or 0) >> 63)
    return (outcome.flags + ["incomplete_total"] * bool(is_incomplete)
            + ["may_be_negative"] * bool(may_be_negative))


def ended_queries(entries, older):
    """The queries of which the newer sample has some but not all instances of
    the older sample."""
    then, now = {}, {}
    for query, identity, _ in older:
        then.setdefault(query, set()).add(identity)
    for (query, identity, _), _, _, _ in entries:
        now.setdefault(query, set()).add(identity)
    return {query for query, found in now.items()
            if found & then.get(query, set()) and then[query] - found}


def lines_of(metadata, number, sample, older):
    """The output lines of one sample."""
    header, entries = sample
    ended = ended_queries(entries, older)
    for key, row, result, inputs in entries:
        _, name, occurrence, counter, value = row
        outcome = evaluate(older.get(key), inputs)
        known = formula.find_type(inputs.get("type"))
        yield {"sample": number, "time": blocks.clock_time(header["perf_time_100ns"]),
               "set": metadata.string(result.guid, (3, 9)),
               "object": None, "instance": name, "occurrence": occurrence,
               "counter": metadata.string(result.guid, (5, 10), counter),
               "counter_id": counter, "position": value["position"],
               "type": known.name if known else None,
               "status": outcome.status, "value": outcome.value,
               "unit": outcome.unit,
               "flags": value_flags(name, inputs.get("type"), value["raw"],
                                    outcome, key[0] in ended),
               "raw": value["raw"], "base": inputs.get("base"),
               # docs/perfblock.md does not say how a registered type without
               # a name is printed, so `type` is not compared then.
               "_unnamed": known is None and "type" in inputs}


class Files:
    """The files of a capture: which chunk belongs to which of them."""

    def __init__(self):
        self.last, self.current = 1, 1
        self.open = {0: 1}  # number -> serial, in the order of beginning
        self.has_numbers = False

    def begin(self, number):
        """Begins a file. At most 256 are open at a time."""
        if len(self.open) == 256:
            del self.open[next(iter(self.open))]
        self.last += 1
        self.open[number] = self.current = self.last

    def serial(self, chunk):
        """The serial number of the file of a chunk."""
        tag, payload = chunk["tag"], chunk["_payload"]
        if tag == "PFBC" and self.has_numbers:
            self.open, self.has_numbers = {}, False
            self.begin(0)
        elif tag == "FILE":
            blocks.require(len(payload) >= 4, "file without number", 0)
            self.has_numbers = True
            number = blocks.u32(payload, 0)
            if len(payload) == 4:
                self.open.pop(number, None)
            elif number in self.open:
                self.current = self.open[number]
            else:
                self.begin(number)
        elif self.current not in self.open.values():
            self.begin(object())  # a file that no number returns to
        return self.current


def check_texts(payload):
    """Checks the texts of a FILE chunk."""
    at = 4
    for _ in range(2 if len(payload) > 4 else 0):
        end = payload.find(b"\0", at)
        blocks.require(end >= 0, "text without its NUL", at)
        at = end + 1


def fits_clocks(older, newer):
    """Whether the clocks of two replies show the same machine without a
    restart in between: the performance clock differs from the other one by at
    most a second and 0.1 percent."""
    freq = newer["perf_freq"]
    if older["perf_freq"] != freq or freq <= 0:
        return False
    elapsed = newer["perf_time_100ns"] - older["perf_time_100ns"]
    ticks = newer["perf_time"] - older["perf_time"]
    return (elapsed >= 0 and ticks >= 0 and
            abs(ticks / freq - elapsed / 10**7) <= 1 + elapsed / 10**10)


def find_series(series, serial, header, queries):
    """The series that a sample continues: of samples that are compared with
    each other, (serial of the file, header, queries, inputs) of the latest."""
    for item in reversed(series):
        if item[0] == serial:
            return item
    for item in reversed(series):
        if fits_clocks(item[1], header) and item[2] == queries:
            return item
    return None


def use_late(metadata, chunks):
    """Adds metadata that follows the samples. Its errors are reported where it
    is read in its turn."""
    for chunk in chunks:
        try:
            if chunk["tag"] == "RGST":
                metadata.add_registration(chunk["_payload"])
            else:
                metadata.add_queries(chunk["_payload"])
        except blocks.Malformed:
            pass


def late_metadata(chunks):
    """{serial of a file: the chunks that its first samples use although they
    follow them}: the first reply to each registration request, and query
    information if that of the file is always the same."""
    files, sampled, given, late, infos = Files(), set(), set(), {}, {}
    for chunk in chunks:
        try:
            serial = files.serial(chunk)
        except blocks.Malformed:
            break
        payload = chunk["_payload"]
        if chunk["tag"] in ("DATA", "V1DT"):
            sampled.add(serial)
        elif chunk["tag"] == "RGST" and len(payload) >= 24:
            key = (serial, payload[:20])
            if serial in sampled and key not in given:
                late.setdefault(serial, []).append(chunk)
            given.add(key)
        elif chunk["tag"] == "QINF":
            infos.setdefault(serial, []).append((serial in sampled, chunk))
    for serial, found in infos.items():
        if found[0][0] and len({c["_payload"] for _, c in found}) == 1:
            late.setdefault(serial, []).append(found[0][1])
    return late


def cook(data):
    """(output lines, errors) of a capture."""
    chunks, stopped = blocks.collect(blocks.decode_capture(data))
    files, metadata, series, number, lines, errors = Files(), {}, [], 0, [], []
    late = late_metadata(chunks)
    for chunk in chunks:
        error = None
        try:
            serial = files.serial(chunk)
            known = metadata.setdefault(serial, Metadata())
            if chunk["tag"] in ("DATA", "V1DT"):
                use_late(known, late.pop(serial, []))
            if chunk["tag"] == "RGST":
                known.add_registration(chunk["_payload"])
            elif chunk["tag"] == "QINF":
                known.add_queries(chunk["_payload"])
            elif chunk["tag"] == "FILE":
                check_texts(chunk["_payload"])
        except blocks.Malformed as caught:
            error = caught
        if chunk["tag"] == "DATA":
            reply, error = blocks.collect(
                blocks.decode_data(chunk["_payload"]))
            if reply:
                sample = read_sample(known, reply)
                item = find_series(series, serial, sample[0], known.queries)
                lines.extend(lines_of(known, number, sample,
                                      item[3] if item else {}))
                new = (serial, sample[0], known.queries, first_inputs(sample))
                if item:
                    series[[i is item for i in series].index(True)] = new
                else:
                    series.append(new)
                number += 1  # a reply without a valid header takes no number
        if error:
            errors.append("%s at offset %d of the %s chunk at %d" % (
                error, error.offset, chunk["tag"], chunk["offset"]))
    if stopped:
        errors.append("%s at %d" % (stopped, stopped.offset))
    return lines, errors


def main(arguments):
    """Command line."""
    if len(arguments) != 1:
        print("usage: cook.py CAPTURE", file=sys.stderr)
        return 2
    sys.stdout.reconfigure(encoding="utf-8")
    with open(arguments[0], "rb") as file:
        lines, errors = cook(file.read())
    for line in lines:
        print(json.dumps(blocks.public(line), ensure_ascii=False))
    for error in errors:
        print("%s: %s" % (arguments[0], error), file=sys.stderr)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
