# SPDX-License-Identifier: MIT
"""A second implementation of the reader of perfmon logs (.blg, docs/log.md).

log_reader.py FILE...    prints the records of logs, one JSON object per line

Unlike core's reader, it first joins the parts of all records, and then reads
the records.
"""

import json
import re
import struct
import sys

NO_STRING = 0xFFFFFFFF  # offset of a string that does not exist
BUFFER_HEADER, MIN_EVENT, EVENT_HEADER, PART_HEADER = 0x48, 8, 0x30, 0x48
RECOGNISED = BUFFER_HEADER + 0x24  # bytes from which a log is recognised
GUID = bytes.fromhex("b33b3f933e940d499ced3cbb14c14479")
PATHS, SAMPLE, SUMMARY, NAMES = 0x20, 0x22, 0x23, 0x24
COUNTER, INSTANCES, OBJECT = 1, 2, 5
# Names of an item may overlap. The sum of their lengths may be at most SHARED
# times the bytes that contain them.
SHARED = 16


class Broken(Exception):
    """An error: code and offset."""

    def __init__(self, code, offset):
        super().__init__(code)
        self.code, self.offset = code, offset


def number(form, data, offset):
    """A little-endian number."""
    return struct.unpack_from("<" + form, data, offset)[0]


def text(raw):
    """UTF-16LE; lone surrogates become U+FFFD."""
    return raw.decode("utf-16-le", "surrogatepass").encode(
        "utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def ended(data, start, end):
    """The bytes of a UTF-16 string before its NUL, which is before `end`."""
    for at in range(start, end - 1, 2):
        if data[at:at + 2] == b"\0\0":
            return data[start:at]
    raise Broken("truncated_string", start)


class Log:
    """A log: its header, records, notes and error."""

    def __init__(self, data, strict=False):
        self.data, self.strict = data, strict
        self.notes, self.error, self.header = set(), None, None
        self.records = []  # (type, offset, local time, [(offset, bytes)])
        try:
            self.read()
        except Broken as broken:
            self.error = (broken.code, broken.offset)

    def tolerate(self, code, offset, note):
        """Records a deviation that only a strict reader rejects."""
        if self.strict:
            raise Broken(code, offset)
        self.notes.add(note)

    # Events ---------------------------------------------------------------

    def buffers(self):
        """(start, end of the events or of the log, whether the log ends first)
        of each buffer."""
        data, at = self.data, 0
        while at < len(data):
            left = len(data) - at
            if left < BUFFER_HEADER:
                raise Broken("truncated_buffer", at)
            size, used = number("I", data, at), number("I", data, at + 0x30)
            if size < BUFFER_HEADER or size % 8:
                raise Broken("bad_buffer_size", at)
            if not BUFFER_HEADER <= used <= size:
                raise Broken("bad_buffer_used", at + 0x30)
            yield at, at + min(used, left), used > left
            at += size

    def trace_header(self, at, end, cut):
        """Reads the first event; returns the offset after it."""
        data = self.data
        if end - at < 0x58:
            raise Broken("truncated_buffer" if cut else "truncated_event", at)
        size, width = number("H", data, at + 4), number("I", data, at + 0x4C)
        if cut and size > end - at:
            raise Broken("truncated_buffer", at)
        if width not in (4, 8):
            raise Broken("bad_log_header", at + 0x4C)
        zone = at + 0x58 + 2 * width
        if zone + 172 > at + size or size > end - at:
            raise Broken("bad_event_size", at + 4)

        def name(start):
            raw = data[start:start + 64] + b"\0\0"
            return text(ended(raw, 0, len(raw)))

        self.header = {
            "start_time": number("Q", data, at + 0x10),
            "end_time": number("Q", data, at + 0x30),
            "version": "%d.%d" % (data[at + 0x24], data[at + 0x25]),
            "build": number("I", data, at + 0x28), "pointer_size": width,
            "buffers": number("I", data, at + 0x44),
            "bias": number("i", data, zone),
            "standard_bias": number("i", data, zone + 84),
            "daylight_bias": number("i", data, zone + 168),
            "standard_name": name(zone + 4), "daylight_name": name(zone + 88)}
        return at + size

    def events(self):
        """(offset, part) of each event after the log header. A part is (type,
        number, count, local time, payload offset, payload); other events have
        None. The last item is (offset, "missing") if the log has fewer buffers
        than its header says.
        """
        data, count = self.data, 0
        for start, end, cut in self.buffers():
            count += 1
            at = start + BUFFER_HEADER
            if count == 1:
                at = self.trace_header(at, end, cut)
            elif end - at >= MIN_EVENT and data[at + 2:at + 4] in (
                    b"\x01\xc0", b"\x02\xc0"):  # of a log that was appended
                own, after = self.header, self.trace_header(at, end, cut)
                self.header = own
                yield at, None
                at = after
            while True:
                at = min(at + -(at - start) % 8, end)
                if at == end and not cut:
                    break
                if end - at < MIN_EVENT:
                    raise Broken("truncated_buffer" if cut else
                                 "truncated_event", at)
                if data[at + 2:at + 4] not in (b"\x14\xc0", b"\x0a\xc0"):
                    yield at, None
                    at = end
                    continue
                size = number("H", data, at)
                if cut and EVENT_HEADER <= size and size > end - at:
                    raise Broken("truncated_buffer", at)
                ours = data[at + 0x18:at + 0x28] == GUID
                min_size = EVENT_HEADER
                if EVENT_HEADER <= size <= end - at and ours:
                    min_size = PART_HEADER
                if not min_size <= size <= end - at:
                    raise Broken("bad_event_size", at)
                kind = number("H", data, at + 4)
                known = ours and kind in (PATHS, SAMPLE, SUMMARY, NAMES)
                yield at, (kind, number("I", data, at + 0x40),
                           number("I", data, at + 0x44),
                           number("Q", data, at + 0x10), at + PART_HEADER,
                           data[at + PART_HEADER:at + size]) if known else None
                at += size
        if count < self.header["buffers"]:
            yield len(data), "missing"

    # Records --------------------------------------------------------------

    def read(self):
        """Reads the whole log."""
        if len(self.data) < RECOGNISED:
            raise Broken("truncated_header", 0)
        event = BUFFER_HEADER
        if (self.data[event + 3] != 0xC0 or self.data[event + 2] not in (1, 2)
                or self.data[:4] != self.data[event + 0x20:event + 0x24]):
            raise Broken("unknown_format", 0)
        started = None  # type, offset, time, parts, count of parts
        for offset, part in self.events():
            if started and part != "missing":
                kind, _, _, parts, count = started
                if part and part[:3] == (kind, len(parts) + 1, count):
                    parts.append(part[4:])
                    started = self.finished(started)
                    continue
                self.tolerate("bad_part", offset, "incomplete_record")
                started = None
            if part == "missing":
                if started is None:
                    raise Broken("truncated_log", offset)
            elif part is None:
                self.tolerate("unknown_event", offset, "unknown_event")
            elif part[1] != 1 or part[2] == 0:
                self.tolerate("bad_part", offset, "incomplete_record")
            else:
                started = self.finished(
                    (part[0], offset, part[3], [part[4:]], part[2]))
        if started:
            raise Broken("truncated_record", len(self.data))

    def finished(self, started):
        """Stores the record and returns None if it has all its parts; returns
        the record otherwise."""
        kind, offset, time, parts, count = started
        if len(parts) < count:
            return started
        self.records.append((kind, offset, time, parts))
        return None


def place(parts, offset):
    """The offset in the log that corresponds to an offset in a record."""
    for start, raw in parts:
        if offset < len(raw):
            return start + offset
        offset -= len(raw)
    return parts[-1][0] + len(parts[-1][1])


# Paths -----------------------------------------------------------------------

class Record:
    """The content of a record: its lines, notes and error."""

    def __init__(self, raw, strict=False):
        self.raw, self.strict = raw, strict
        self.notes, self.error, self.lines = set(), None, []

    def tolerate(self, code, offset):
        """Records a deviation that only a strict reader rejects."""
        if self.strict:
            raise Broken(code, offset)
        self.notes.add(code)

    def run(self, generator):
        """Stores the lines of a generator, and its error."""
        try:
            for line in generator:
                self.lines.append(line)
        except Broken as broken:
            self.error = (broken.code, broken.offset)
        return self


def path_lines(record):
    """The lines of a list of paths."""
    raw, at, position = record.raw, 8, 0
    if len(raw) < 8:
        raise Broken("truncated_header", 0)
    while at < len(raw):
        if len(raw) - at < 52:
            raise Broken("truncated_item", at)
        (size, flags, user, kind, frequency, scale, machine, instance_object,
         instance, parent, index, counter) = struct.unpack_from(
             "<4IQi6I", raw, at)
        if not 52 <= size <= len(raw) - at:
            raise Broken("bad_item_size", at)
        if size % 8:
            record.tolerate("unaligned_size", at)

        def string(offset, field, at=at, size=size):
            if offset == NO_STRING:
                return None
            if offset > size - 52:
                raise Broken("bad_string_offset", at + field)
            return text(ended(raw, at + 52 + offset, at + size))

        names = [string(*each) for each in (
            (machine, 28), (instance_object, 32), (instance, 36),
            (parent, 40), (counter, 48))]
        yield {"record": "path", "offset": at, "position": position,
               "flags": flags, "user_data": user, "type": kind,
               "frequency": frequency, "default_scale": scale, "machine": names[0],
               "object": names[1], "instance": names[2], "parent": names[3],
               "instance_index": index, "counter": names[4]}
        at += size
        position += 1


# Samples ---------------------------------------------------------------------

def instance_lines(raw, start, end, count):
    """The lines of the instances of an item."""
    base = start + 8
    names = base + 24 + 24 * count
    left = SHARED * (end - names)
    for index in range(count):
        at = start + 32 + 24 * index
        offset, status, first, second = struct.unpack_from("<2I2Q", raw, at)
        if not names <= base + offset <= end:
            raise Broken("bad_string_offset", at)
        name = ended(raw, base + offset, end)
        left -= len(name) + 2
        if left < 0:
            raise Broken("overlapping_strings", at)
        yield {"record": "instance", "offset": at, "name": text(name),
               "status": status, "first": first, "second": second}


def item_line(record, at, kind, size, position):
    """The line of an item."""
    raw = record.raw
    line = {"record": "item", "offset": at, "position": position, "kind": kind}
    if kind == COUNTER:
        if size < 48:
            raise Broken("bad_item_size", at + 4)
        status, time, _, first, second, multi, _ = struct.unpack_from(
            "<IQIQQII", raw, at + 8)
        line.update(status=status, time=time, first=first, second=second,
                    multi_count=multi)
    elif kind == INSTANCES:
        if size < 32:
            raise Broken("bad_item_size", at + 4)
        count, status, _, time = struct.unpack_from("<IIIQ", raw, at + 12)
        if count > (size - 32) // 24:
            raise Broken("bad_instance_count", at + 12)
        line.update(status=status, time=time, instances=count)
    elif kind == OBJECT:
        line.update(size=size - 8, _block=raw[at + 8:at + size])
    else:
        record.tolerate("unknown_item", at)
    return line


def sample_lines(record):
    """The lines of a sample: items and instances."""
    raw = record.raw
    if len(raw) < 8:
        raise Broken("truncated_header", 0)
    if raw[:4] != b"BL\3\0":
        raise Broken("unknown_format", 0)
    end, at, position = number("I", raw, 4), 8, 0
    if not 8 <= end <= len(raw):
        raise Broken("bad_record_size", 4)
    if end < len(raw):
        record.tolerate("trailing_bytes", end)
    while at < end:
        if end - at < 8:
            raise Broken("truncated_item", at)
        size = number("I", raw, at + 4)
        if raw[at:at + 3] != b"BL\3":
            raise Broken("bad_item", at)
        if not 8 <= size <= end - at:
            raise Broken("bad_item_size", at + 4)
        if size % 8:
            record.tolerate("unaligned_size", at + 4)
        line = item_line(record, at, raw[at + 3], size, position)
        yield line
        if line["kind"] == INSTANCES:
            yield from instance_lines(raw, at, at + size, line["instances"])
        at += size
        position += 1


def names_lines(record):
    """The line of a part of a name table: its machine and its bytes."""
    machine = ended(record.raw, 0, len(record.raw))
    yield {"record": "names", "machine": text(machine),
           "_table": record.raw[len(machine) + 2:]}


def summary_lines(record):
    """The line of the summary."""
    if len(record.raw) < 20:
        raise Broken("truncated_header", 0)
    first, last, samples = struct.unpack_from("<QQI", record.raw)
    yield {"record": "summary", "first_time": first, "last_time": last,
           "samples": samples}


READERS = {PATHS: path_lines, SAMPLE: sample_lines, NAMES: names_lines,
           SUMMARY: summary_lines}


def read_record(kind, raw, strict=False):
    """The Record that these bytes contain."""
    record = Record(raw, strict)
    return record.run(READERS[kind](record))


# Values ----------------------------------------------------------------------

def has_value(status):
    """Whether an item with this PDH status has a value."""
    return status in (0, 1)


def values(sample):
    """{(path position, instance name or None, occurrence): value}; a value is
    (status, time, first, second, multi count)."""
    out, item, seen = {}, None, {}
    for line in sample.lines:
        if line["record"] == "item":
            item, seen = line, {}
            if line["kind"] == COUNTER or (
                    line["kind"] == INSTANCES and line["instances"] == 0
                    and not has_value(line["status"])):
                out[line["position"], None, 0] = (
                    line["status"], line["time"], line.get("first", 0),
                    line.get("second", 0), line.get("multi_count", 0))
        else:
            name = line["name"]
            status = line["status"] if has_value(
                item["status"]) else item["status"]
            out[item["position"], name, seen.get(name, 0)] = (
                status, item["time"], line["first"], line["second"], 0)
            seen[name] = seen.get(name, 0) + 1
    return out


# Instances in two samples ------------------------------------------------------

ROLES = {"id process": "process", "id thread": "thread"}


def folded(name):
    """A name in lower case, of which only A to Z are changed."""
    return re.sub("[A-Z]", lambda letter: letter[0].lower(), name or "")


class Instances:
    """The instances in a sample by the ids of their processes and threads.

    `paths` are the lines of the list of paths, `found` is values(sample).
    """

    def __init__(self, paths, found):
        self.paths, self.found = paths, found
        self.usable = {}  # instance -> (id of process, id of thread)
        ids = {}
        for place, (status, _, first, _, _) in found.items():
            role = self.role(place)
            if role and has_value(status) and 0 < first < 2**32:
                ids.setdefault(self.instance(place), {}).setdefault(
                    role, set()).add(first)
        threads = {self.object(path) for path in paths
                   if ROLES.get(folded(path["counter"])) == "thread"}
        for instance, own in ids.items():
            if ("thread" in own or instance[0] not in threads) and all(
                    len(numbers) == 1 for numbers in own.values()):
                self.usable[instance] = tuple(
                    max(own.get(role, [0])) for role in ("process", "thread"))
        owners = list((instance[0], key) for instance, key in self.usable.items())
        self.usable = {instance: key for instance, key in self.usable.items()
                       if owners.count((instance[0], key)) == 1}

    @staticmethod
    def object(path):
        """What identifies the object of a path."""
        return folded(path["machine"]), folded(path["object"])

    def role(self, place):
        """What the counter of a value is: the id of a process, of a thread, or
        None."""
        return place[0] < len(self.paths) and ROLES.get(
            folded(self.paths[place[0]]["counter"]))

    def instance(self, place):
        """(object, name with parent, number) of the instance of a value."""
        if place[0] >= len(self.paths):
            return None
        position, name, index = place
        path = self.paths[position]
        if name is None:
            name, index = path["instance"] or "", path["instance_index"]
            if path["parent"] is not None:
                name = path["parent"] + "/" + name
        number = re.search(r"#([0-9]{1,9})\Z", name)
        if number:
            name, index = name[:number.start()], index + int(number[1])
        return self.object(path), name, index

    def ids(self, place):
        """The usable ids of a value's instance, or None."""
        return self.usable.get(self.instance(place))

    def owner(self, place):
        """The part of the name that does not change: of a thread its parent,
        of a process the name without number."""
        name = self.instance(place)[1]
        return name[:name.rfind("/") + 1] if self.ids(place)[1] else name

    def counter(self, place):
        """What identifies the counter of a value and its formula."""
        if place[0] >= len(self.paths):
            return None
        path = self.paths[place[0]]
        return (self.object(path), folded(path["counter"]), path["type"],
                path["frequency"])

    def with_ids(self, counter, ids):
        """The places of a counter's values whose instances have these ids."""
        return [place for place in self.found if ids and
                self.ids(place) == ids and self.counter(place) == counter]


def older_place(older, newer, place):
    """The place in one sample that the value at a place in a newer sample is
    compared with, or None; both samples are Instances."""
    own, counter = newer.ids(place), newer.counter(place)
    same = older.with_ids(counter, own)
    if same:
        best = min(same, key=lambda other: (other[0] != place[0], other[0]))
        if older.owner(best) == newer.owner(place):
            return best
    if place not in older.found:
        return None
    other = older.ids(place)
    if other and (own or newer.with_ids(counter, other)):
        return None
    return place


def public(line):
    """A line without the keys for other modules, which begin with "_"."""
    return {key: value for key, value in line.items() if key[0] != "_"}


def main(paths):
    """Command line."""
    for path in paths:
        with open(path, "rb") as file:
            log = Log(file.read())
        print(json.dumps(dict(log.header or {}, record="log")))
        for kind, _, _, parts in log.records:
            record = read_record(kind, b"".join(raw for _, raw in parts))
            for line in record.lines:
                print(json.dumps(public(line)))
            if record.error:
                print("%s: %s" % (path, record.error), file=sys.stderr)
        print("%s: %s" % (path, log.error), file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
