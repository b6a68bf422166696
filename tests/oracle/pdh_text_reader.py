# SPDX-License-Identifier: MIT
"""A second implementation of the reader of PDH text logs (docs/log.md), with
regular expressions."""

import datetime
import math
import re

ZONE = re.compile(rb" *\((?P<zone>.*)\)\((?P<bias>-?[0-9]+)\)", re.DOTALL)
VERSION = re.compile(rb"\(PDH-[CT]SV 4\.0\)")
TIME = re.compile(rb"([0-9]+)/([0-9]+)/([0-9]+) ([0-9]+):([0-9]+):([0-9]+)"
                  rb"(?:\.([0-9]+))?")
NUMBER = re.compile(rb"(-?)([0-9]*)(?:\.([0-9]*))?(?:[eE]([-+]?)([0-9]+))?")
EPOCH = datetime.datetime(1601, 1, 1)
RUN = re.compile(rb'"+')
BOM = b"\xef\xbb\xbf"
MAX_EXPONENT = 2**31 - 1


def number_of(raw):
    """The double nearest to the number in these bytes, or None."""
    match = NUMBER.fullmatch(raw)
    if not match:
        return None
    _, whole, fraction, _, shift = match.groups()
    if not (whole or fraction):
        return None
    if int(shift or b"0") > MAX_EXPONENT:
        return None
    value = float(raw)
    return None if math.isinf(value) else value


def time_of(raw):
    """The time in these bytes in 100 ns since 1601, or None."""
    match = TIME.fullmatch(raw)
    if not match:
        return None
    month, day, year, hour, minute, second = map(int, match.groups()[:6])
    try:
        moment = datetime.datetime(year, month, day, hour, minute, second)
    except (ValueError, OverflowError):
        return None
    if moment < EPOCH:
        return None
    fraction = (match[7] or b"")[:7].ljust(7, b"0")
    return (moment - EPOCH) // datetime.timedelta(
        seconds=1) * 10000000 + int(fraction)


def quoted_end(line, at, separator):
    """(end of the content that begins at `at` in a quoted cell, whether the
    cell is closed).

    A run is a sequence of quotation marks. Its last mark closes the cell if the
    run is at the end of the line, or if a separator follows and the run is odd:
    the other marks are doubled marks of the name. An even run before a
    separator closes the cell if the line ends after the separator, or goes on
    with a mark and then a byte that is neither a mark nor a separator.
    """
    for marks in RUN.finditer(line, at):
        after = line[marks.end():marks.end() + 3]
        if not after:
            return marks.end() - 1, True
        is_odd = len(marks[0]) % 2 == 1
        ends_line = len(after) == 1
        is_before_cell = len(after) == 3 and after[1:2] == b'"' and \
            after[2:] not in (b'"', separator)
        if after[:1] == separator and (is_odd or ends_line or is_before_cell):
            return marks.end() - 1, True
    return len(line), False


def cells_of(line, separator):
    """(offset, content, whether the cell is closed) of each cell."""
    at = 0
    while at < len(line):
        if line[at:at + 1] == b'"':
            end, closed = quoted_end(line, at + 1, separator)
            yield at, line[at + 1:end], closed
            end += closed
            at = end + (line[end:end + 1] == separator)
        else:
            match = re.compile(rb"(.*?)(?:%s|\Z)" % separator,
                               re.DOTALL).match(line, at)
            yield at, match[1], True
            at = match.end()


def is_followed(line, cell, separator):
    """Whether a separator follows this last cell of the line."""
    at, content, closed = cell
    marks = 1 + closed if line[at:at + 1] == b'"' else 0
    return line[at + marks + len(content):] == separator


class Text:
    """A PDH text log: its header, columns, rows, notes and error."""

    def __init__(self, data):
        self.data, self.notes, self.error = data, set(), None
        self.header, self.columns, self.rows = None, [], []
        self.separator = b","
        lines = self.lines()
        for offset, line, _ in lines:
            if line:
                break
        else:
            offset, line = len(data), b""  # nothing but ends of lines
        if not self.read_header(offset, line):
            self.error = ("unknown_format", offset)
        self.is_open = self.error is None
        if self.is_open:
            self.read_rows(lines)

    def lines(self):
        """(offset, line without its end, whether it ended in a line feed)."""
        at = len(BOM) if self.data.startswith(BOM) else 0
        started = False
        while at < len(self.data):
            if not started and self.data[at:at + 1] in (b"\r", b"\n"):
                at += 1  # an empty line before the header
                continue
            started = True
            end = self.data.find(b"\n", at)
            whole = end >= 0
            end = end if whole else len(self.data)
            line = self.data[at:end]
            yield at, line[:-1] if line[-1:] == b"\r" else line, whole
            at = end + whole

    def read_header(self, offset, line):
        """Reads the first cell and the columns; False if this is not a header.
        """
        # A comma or tab inside the quotation marks of the first cell is not the
        # separator.
        match = re.search(rb'"([,\t])', line) if line[:1] == b'"' else \
            re.search(rb"([,\t])", line[1:])
        if match:
            self.separator = match[1]
        cells = list(cells_of(line, self.separator))
        if not cells:
            return False
        first = cells[0][1]
        version = VERSION.match(first)
        zone = ZONE.fullmatch(first[version.end():] if version else first)
        if zone and int(zone["bias"].lstrip(b"-")) > 1440:
            zone = None
        if not version and not zone:
            return False
        self.header = {"has_version": bool(version),
                       "bias": int(zone["bias"]) if zone else None}
        self.columns = [(offset + at, raw) for at, raw, _ in cells[1:]]
        if not all(closed for _, _, closed in cells):
            self.error = ("truncated_line", offset + len(line))
        return True

    def read_rows(self, lines):
        """Reads the rows: (offset, time, [(offset, value or None)])."""
        for offset, line, whole in lines:
            if not line:
                continue
            cells = list(cells_of(line, self.separator))
            end = offset + len(line)
            if not whole and not cells[0][2]:
                self.error = ("truncated_line", end)
                return
            time = time_of(cells[0][1])
            if time is None:
                self.notes.add("text_line")
                continue
            rest = cells[1:]
            if not whole and (len(rest) < len(self.columns) or not all(
                    closed for _, _, closed in rest)):
                self.error = ("truncated_line", end)
                return
            if len(rest) + 1 == len(self.columns) and \
                    is_followed(line, cells[-1], self.separator):
                rest.append((len(line), b"", True))  # a blank last cell
            if len(rest) != len(self.columns):
                self.notes.add("uneven_row")
            values = []
            for at, raw, _ in rest[:len(self.columns)]:
                values.append((offset + at, number_of(raw)))
                if values[-1][1] is None and raw.strip(b" \t"):
                    self.notes.add("bad_number")
            self.rows.append((offset, time, values))
