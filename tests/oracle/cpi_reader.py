# SPDX-License-Identifier: MIT
"""A second implementation of the reader of CPI hooks (docs/cpi.md). read()
returns the records that `show --format json` must print, and the first error.
"""

import struct
from fractions import Fraction

NONE = 0xFFFFFFFF
NAMES = {0: "label_start", 1: "summary", 8: "system", 4: "processors",
         2: "thread", 15: "label_end"}
FLAG_NAMES = ((1, "raw"), (2, "scaled"), (4, "thread"))
# The kinds that may follow a hook of a kind in its group; None is the start of a
# group.
AFTER = {None: (0, 1, 8, 2), 0: (1, 8, 2), 1: (8, 15), 8: (4,), 4: (2, 15),
         2: (15,), 15: ()}


class Malformed(Exception):
    """The input breaks a rule: the error's code and offset."""

    def __init__(self, code, offset):
        super().__init__(code)
        self.code_and_offset = (code, offset)


class Hook:
    """A hook: a record with the CPI major code."""

    def __init__(self, offset, kind, minor, stamp, body):
        self.offset, self.kind, self.minor = offset, kind, minor
        self.stamp, self.body = stamp, body
        self.words = struct.unpack("<%dI" % (len(body) // 4), body)
        self.flags = self.count = self.elapsed = 0
        self.figures, self.label = [], b""
        self.wrong_figures = []  # offsets of figures that do not match the counts

    def fail(self, code):
        """Raises an error with the offset of this record."""
        raise Malformed(code, self.offset)

    def long(self, at):
        """The 64-bit number in two words, high word first."""
        return self.words[at] << 32 | self.words[at + 1]

    def figure(self, at, busy=False):
        """The figure in two words as a fraction, or None if undefined."""
        whole, part = self.words[at:at + 2]
        if (whole, part) == (NONE, NONE):
            return None
        if whole == NONE or part > 9999:
            self.fail("bad_fraction")
        value = Fraction(10000 * whole + part, 10000)
        if busy and value > 100:
            self.fail("busy_range")
        return value

    def compare(self, at, value, cycles, instr):
        """Notes a figure if it differs by more than 0.0001 from the rounded
        quotient of its counts, or if only one of the two is defined."""
        expected = None
        if instr:
            units = int(Fraction(10000 * cycles, instr) + Fraction(1, 2))
            expected = units if units < 10000 * NONE else None
        if value is None or expected is None:
            is_wrong = value is not None or expected is not None
        else:
            is_wrong = abs(10000 * value - expected) > 1
        if is_wrong:
            self.wrong_figures.append(self.offset + 12 + 4 * at)

    def counted(self, at, scaled):
        """The counts and figures of a CPU, the system or a thread."""
        instr, cycles = self.long(at), self.long(at + 2)
        item = {"instr": instr, "cycles": cycles, "cpi": self.figure(at + 4)}
        self.compare(at + 4, item["cpi"], cycles, instr)
        if scaled:
            item["scaled_cycles"] = self.long(at + 6)
            item["scaled_cpi"] = self.figure(at + 8)
            item["busy"] = self.figure(at + 10, True)
            self.compare(at + 8, item["scaled_cpi"], item["scaled_cycles"],
                         instr)
        return item

    # -- Checks of a single record --

    def check(self):
        """Reads and checks the fields after the header of the record."""
        if self.kind in (0, 15):
            self.check_label()
            return
        words, kind = len(self.words), self.kind
        if words < {1: 6, 8: 9, 4: 4, 2: 9}[kind]:
            self.fail("length_mismatch")
        if kind != 2:
            self.flags = self.words[0]
            if not self.flags & 1 or self.flags > (7 if kind == 1 else 3):
                self.fail("bad_flags")
        if kind in (1, 4):
            self.count = self.words[1]
            if not 1 <= self.count <= 1024:
                self.fail("bad_num_cpus")
        self.elapsed = self.long(2 if kind in (1, 4) else 1)
        scaled, n = bool(self.flags & 2), self.count
        thread = bool(self.flags & 4)
        if words != {1: 6 + 2 * n + scaled * (4 * n + 4) + thread * 2,
                     8: 9 + 6 * scaled, 4: 4 + 6 * n * (1 + scaled),
                     2: 9}[kind]:
            self.fail("length_mismatch")
        if kind == 1:
            self.read_summary(scaled, thread, n)
        elif kind == 4:
            step = 12 if scaled else 6
            self.figures = [
                {"of": "cpu", "position": i,
                 **self.counted(4 + step * i, scaled)} for i in range(n)]
        elif kind == 8:
            self.figures = [{"of": "system", **self.counted(3, scaled)}]
        else:
            self.figures = [{"of": "thread", "tid": self.words[0],
                             **self.counted(3, False)}]

    def read_summary(self, scaled, thread, n):
        """Reads the figures of a summary."""
        items = [{"of": "cpu", "position": i} for i in range(n)]
        items.append({"of": "system"})
        at = 4
        for item in items:
            item["cpi"] = self.figure(at)
            at += 2
        for item in items if scaled else ():
            item["scaled_cpi"] = self.figure(at)
            item["busy"] = self.figure(at + 2, True)
            at += 4
        if thread:
            items.append({"of": "thread", "cpi": self.figure(at)})
        self.figures = items

    def check_label(self):
        """Reads and checks a label: elapsed cycles and a string."""
        if len(self.body) < 16:
            self.fail("bad_label")
        size = self.words[3]
        text, padding = self.body[16:16 + size], self.body[16 + size:]
        if (self.words[0] != 2 or not 1 <= size <= 255 or
                len(self.body) != 16 + size + -size % 4 or b"\0" in text or
                any(padding)):
            self.fail("bad_label")
        self.elapsed, self.label = self.long(1), text

    def as_json(self):
        """The hook as `show` prints it."""
        item = {"hook": NAMES[self.kind], "offset": self.offset,
                "words": len(self.words), "stamp": self.stamp}
        if self.flags:
            item["flags"] = [name for bit, name in FLAG_NAMES
                             if self.flags & bit]
        if self.count:
            item["num_cpus"] = self.count
        if self.figures:
            item["figures"] = [figures_json(row) for row in self.figures]
        return item


def figures_json(row):
    """Figures as `show` prints them: numbers, each with its two words."""
    item = {}
    for key, value in row.items():
        item[key] = value
        if key in ("cpi", "scaled_cpi", "busy"):
            item[key] = None if value is None else float(value)
            words = ((NONE, NONE) if value is None
                     else divmod(int(10000 * value), 10000))
            item[key + "_words"] = dict(zip(("integral", "fraction"), words))
    return item


def hooks(data):
    """The hooks of a stream; raises the first error."""
    at = 0
    while at < len(data):
        if len(data) - at < 12:
            raise Malformed("trunc_header", at)
        first, major, minor, stamp = struct.unpack_from("<HHII", data, at)
        length, kind_type = first & ~3, first & 3
        if length < 12:
            raise Malformed("bad_length", at)
        if length > len(data) - at:
            raise Malformed("trunc_record", at)
        if not 1 <= major <= 255:
            raise Malformed("bad_major", at)
        if major == 0xC0:
            hook = Hook(at, minor >> 28, minor & 255, stamp,
                        data[at + 12:at + length])
            if hook.kind not in NAMES or minor & 0x0FFFFF00:
                hook.fail("unknown_minor")
            if kind_type != (2 if hook.kind in (0, 15) else 0):
                hook.fail("bad_type")
            hook.check()
            yield hook
        at += length


def join(group, hook):
    """Checks a hook against the group to which it is added."""
    by_kind = {member.kind: member for member in group}
    first, total = group[0], by_kind.get(1)
    if hook.minor != first.minor:
        hook.fail("minor_mismatch")
    if hook.elapsed != first.elapsed:
        hook.fail("elapsed_mismatch")
    if ((hook.kind == 8 and total and hook.flags != total.flags & 3) or
            (hook.kind == 4 and hook.flags != by_kind[8].flags) or
            (hook.kind == 2 and total and not total.flags & 4)):
        hook.fail("flags_mismatch")
    if hook.kind == 4 and total and hook.count != total.count:
        hook.fail("num_cpus_mismatch")
    if hook.kind == 4:
        for name in ("instr", "cycles", "scaled_cycles"):
            added = sum(item.get(name, 0) for item in hook.figures)
            if added >> 64 or added != by_kind[8].figures[0].get(name, 0):
                hook.fail("sum_mismatch")
    if hook.kind == 15 and hook.label != first.label:
        hook.fail("label_mismatch")


def is_whole(group):
    """Whether a group may end after its last hook."""
    last = group[-1].kind
    return last == 15 if group[0].kind == 0 else last != 8


GROUP_ERRORS = ("minor_mismatch", "elapsed_mismatch", "flags_mismatch",
                "num_cpus_mismatch", "sum_mismatch", "label_mismatch")


def is_error_of_group(group, error):
    """Whether the error is one of a hook that belongs to this group."""
    return bool(group) and error.code_and_offset[0] in GROUP_ERRORS


def groups(data):
    """The groups of a stream. If there is an error, it is raised after the
    complete groups before it were returned."""
    group = []
    try:
        for hook in hooks(data):
            follows = group and hook.kind in AFTER[group[-1].kind]
            if group and is_whole(group):
                follows = (follows and hook.kind != 15 and
                           (hook.minor, hook.elapsed) ==
                           (group[0].minor, group[0].elapsed))
                if not follows:
                    yield group
                    group = []
            if not group and hook.kind not in AFTER[None]:
                hook.fail("bad_order")
            if group and not follows:
                hook.fail("bad_order")
            if group:
                join(group, hook)
            group.append(hook)
    except Malformed as error:
        # A complete group before a malformed record is returned.
        if group and is_whole(group) and not is_error_of_group(group, error):
            yield group
        raise
    if group and not is_whole(group):
        raise Malformed("unterminated_group", len(data))
    if group:
        yield group


def group_json(group):
    """The record that `show` prints of a group."""
    first, last = group[0], group[-1]
    counts = [hook.count for hook in group if hook.count]
    return {"record": "group", "offset": first.offset,
            "size": last.offset + 12 + len(last.body) - first.offset,
            "minor": first.minor,
            "label": first.label.decode("utf-8", "replace") or None,
            "elapsed_cycles": first.elapsed,
            "num_cpus": counts[0] if counts else None,
            "hooks": [hook.as_json() for hook in group]}


def warnings_json(group, last_stamp):
    """The records of a group's warnings, and the last time stamp so far."""
    kinds = {hook.kind: hook for hook in group}
    found = {"figure_mismatch": [at for hook in group
                                 for at in hook.wrong_figures],
             "missing_thread_hook": [], "stamp_descends": []}
    if 1 in kinds and kinds[1].flags & 4 and 4 in kinds and 2 not in kinds:
        found["missing_thread_hook"].append(kinds[1].offset + 12)
    for hook in group:
        if hook.stamp == 0:  # no time stamp
            continue
        if hook.stamp < last_stamp:
            found["stamp_descends"].append(hook.offset + 8)
        last_stamp = hook.stamp
    return [{"record": "warning", "offset": places[0], "code": code,
             "count": len(places)}
            for code, places in found.items() if places], last_stamp


def read(data):
    """(records that `show` prints, (code, offset) of the error or None)."""
    records, stamp = [], 0
    try:
        for group in groups(data):
            warnings, stamp = warnings_json(group, stamp)
            records.append(group_json(group))
            records.extend(warnings)
    except Malformed as error:
        return records, error.code_and_offset
    return records, None
