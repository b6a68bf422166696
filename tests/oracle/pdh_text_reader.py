# SPDX-License-Identifier: MIT
"""A second implementation of the reader of PDH text logs (docs/log.md), with
regular expressions.

A text is a str with one character per byte, or per 16-bit unit of UTF-16, so
that places in it are offsets in the file divided by the width of a character.
"""

import array
import datetime
import math
import re
import sys

ZONE = re.compile(r" *\((?P<zone>.*)\)\((?P<bias>-?[0-9]+)\)", re.DOTALL)
VERSION = re.compile(r"\(PDH-[CT]SV 4\.0\)")
MAGIC = re.compile(r'"?\(PDH-[CT]SV')
MARKS = {1: "\xef\xbb\xbf", 2: "\ufeff"}  # byte order marks
SPACE = r"(?:[\xa0\u202f\u2009]|\xc2\xa0|\xe2\x80[\xaf\x89])"
BLANK = r"(?:[ \t]|%s)*" % SPACE
# Digits, then groups of three with the same kind of separator before each.
SIGNS = {"space": SPACE, "apostrophe": "(?:['\x92\u2019]|\xe2\x80\x99)",
         ".": r"\.", ",": ","}
GROUPS = {kind: re.compile("-?[1-9][0-9]{0,2}(?:%s[0-9]{3}(?![0-9]))+" %
                           sign)
          for kind, sign in SIGNS.items()}
PERFMON = re.compile(r"[0-9]{2}/[0-9]{2}/[0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2}"
                     r"\.[0-9]{3}(?![0-9])")
DATE = (r"(?P<a>[0-9]+)(?:(?P<mark>[/-])|(?P<dot>\.) *)(?P<b>[0-9]+)"
        r"(?:(?P=mark)|(?P=dot) *)(?P<c>[0-9]+)")
CLOCK = (r"(?P<hour>[0-9]{1,2})(?P<colon>[:.])(?P<minute>[0-9]{1,2})"
         r"(?:(?P=colon)(?P<second>[0-9]{1,2})(?:[.,](?P<fraction>[0-9]+))?)?"
         + BLANK + r"(?:(?P<half>[aApP])(?:\.%s)?[mM]\.?)?" % BLANK + BLANK +
         r"(?P<zone>[Zz]|[+-](?:[0-9]{4}|[0-9]{2}(?::[0-9]{2})?))?")
TIME = re.compile(DATE + r"(?P<end>\.?)(?:,T|,[ \t]*|T|[ \t]+)" + CLOCK)
NUMBER = re.compile(r"(-?)([0-9]*)(?:\.([0-9]*))?(?:[eE]([-+]?)([0-9]+))?")
MARKED = re.compile(r"-?([0-9]*)([.,])([0-9]*)(?:([eE]).*)?", re.DOTALL)
EPOCH = datetime.datetime(1601, 1, 1)
RUN = re.compile(r'"+')
MAX_EXPONENT = 2**31 - 1
SHORT, LONG = 64, 1024  # characters of times and numbers that are copied
SAMPLE = 1 << 20  # bytes of rows that show the form
ORDERS = {"mdy": (2, 0, 1), "dmy": (2, 1, 0), "ymd": (0, 1, 2)}


def without_groups(text, decimal, thousands):
    """A number with a decimal point and without separators of thousands; an
    empty text if it has none or they are uncertain."""
    whole, sign, rest = text.partition(decimal)
    for kind, groups in GROUPS.items():
        if kind == decimal or not groups.fullmatch(whole):
            continue
        count = len(re.findall(SIGNS[kind], whole))
        if kind in ".," and not (sign or count > 1 or kind == thousands):
            continue
        return re.sub("[^-0-9]", "", whole) + ("." if sign else "") + rest
    return ""


def number_of(text, decimal=".", thousands=None):
    """The double nearest to the number in a text, or None."""
    plain = text.translate({ord("."): "x", ord(decimal): "."})
    if NUMBER.fullmatch(plain):
        text = plain
    elif len(text) <= LONG:
        text = without_groups(text, decimal, thousands)
    match = NUMBER.fullmatch(text)
    if not match:
        return None
    _, whole, fraction, _, shift = match.groups()
    if not (whole or fraction):
        return None
    if int(shift or "0") > MAX_EXPONENT:
        return None
    value = float(text)
    return None if math.isinf(value) else value


def sign_of(text):
    """(the decimal sign that a cell shows or None, whether it may separate
    thousands)."""
    for kind, groups in GROUPS.items():
        whole = groups.match(text)
        if whole:
            break
    else:
        match = MARKED.fullmatch(text)
        has_digit = match and (match[1] or match[3])
        return match[2] if has_digit else None, False
    match = re.fullmatch(r"([.,]?)[0-9]*(?:([eE]).*)?", text[whole.end():],
                         re.DOTALL)
    if not match or match[1] == kind:
        return None, False
    if match[1] or kind not in ".,":
        return match[1] or None, False
    if len(re.findall(SIGNS[kind], whole[0])) > 1:
        return "," if kind == "." else ".", False
    return kind, not match[2]


class Moment:
    """A time as it is written. `style` is what all times of a text have in
    common: (sign between the numbers of the date, whether the year is first,
    AM or PM, offset from UTC)."""

    def __init__(self, match):
        self.parts = [match[name] for name in "abc"]
        year_first = len(self.parts[0]) == 4
        self.is_valid = (year_first or len(self.parts[2]) == 4) and max(
            map(int, self.parts)) <= 9999
        mark = match["mark"] or "."
        if match["end"] and mark != ".":
            self.is_valid = False
        hour, self.minute = int(match["hour"]), int(match["minute"])
        self.second = int(match["second"] or 0)
        if hour > 23 or self.minute > 59 or self.second > 59:
            self.is_valid = False
        if match["half"]:
            self.is_valid = self.is_valid and 1 <= hour <= 12
            hour = hour % 12 + (12 if match["half"] in "pP" else 0)
        self.hour = hour
        self.fraction = int((match["fraction"] or "")[:7].ljust(7, "0"))
        self.offset = self.offset_of(match["zone"] or "")
        self.style = (mark, year_first, bool(match["half"]),
                      bool(match["zone"]))
        self.is_exact = bool(PERFMON.match(match[0]))

    def offset_of(self, zone):
        """The offset from UTC in minutes."""
        digits = re.sub("[^0-9]", "", zone).ljust(4, "0")
        hours, minutes = int(digits[:2]), int(digits[2:])
        # 24:59 has two numbers in range, 2459 is one that is not.
        if hours > 24 or minutes > 59 or (
                int(digits) > 2400 and ":" not in zone):
            self.is_valid = False
        return (hours * 60 + minutes) * (-1 if zone[:1] == "-" else 1)

    def date(self, order):
        """The moment if the numbers are in this order, or None."""
        if order == "ymd" and not self.style[1] or \
                order != "ymd" and self.style[1]:
            return None
        try:
            date = datetime.datetime(*(int(self.parts[place])
                                       for place in ORDERS[order]),
                                     self.hour, self.minute, self.second)
        except (ValueError, OverflowError):
            return None
        return date if date >= EPOCH else None


class Form:
    """The form of the rows of a text: what is the same in all of them."""

    def __init__(self):
        self.order, self.style, self.is_perfmon = None, None, True
        self.allows_exact = True
        self.decimal, self.thousands = ".", None


def quoted_end(line, at, separator):
    """(end of the content that begins at `at` in a quoted cell, whether the
    cell is closed).

    A run is a sequence of quotation marks. Its last mark closes the cell if the
    run is at the end of the line, or if a separator follows and the run is odd:
    the other marks are doubled marks of the name. But then the next cell must
    begin with a mark or have none. An even run before a separator closes the
    cell if the line ends after the separator, or goes on with a mark and then a
    character that is neither a mark nor a separator.
    """
    for marks in RUN.finditer(line, at):
        after = line[marks.end():marks.end() + 3]
        if not after:
            return marks.end() - 1, True
        if after[0] != separator:
            continue
        following = line[marks.end() + 1:].split(separator, 1)[0]
        if len(after) == 1:
            return marks.end() - 1, True
        if len(marks[0]) % 2 == 1:
            if after[1] == '"' or '"' not in following:
                return marks.end() - 1, True
        elif len(after) == 3 and after[1] == '"' and \
                after[2] not in ('"', separator):
            return marks.end() - 1, True
    return len(line), False


def cells_of(line, separator):
    """(place, content, whether the cell is closed, quoted, followed by a
    separator) of each cell."""
    at = 0
    while at < len(line):
        start, is_quoted, closed = at, line[at] == '"', True
        if is_quoted:
            end, closed = quoted_end(line, at + 1, separator)
            content = line[at + 1:end]
            end += closed
        else:
            end = line.find(separator, at)
            end = len(line) if end < 0 else end
            content = line[at:end]
        followed = end < len(line)
        at = end + followed
        yield start, content, closed, is_quoted, followed


class Text:
    """A PDH text log: its headers, columns, rows, notes and error. `lines` has
    the headers and rows in their order."""

    def __init__(self, data, order=None, decimal=None):
        self.notes, self.error = set(), None
        self.lines, self.form = [], Form()
        self.header = self.columns = None
        self.separator, self.bias = ",", 0
        self.skipped, self.unreadable, self.rows = 0, 0, 0
        self.is_open = False
        self.reason = None  # why the first skipped row cannot be read
        self.decode(data)
        self.given = order, decimal
        lines = self.split()
        for place, line, whole in lines:
            if not whole or (line and not re.fullmatch("sep=.", line,
                                                       re.DOTALL)):
                break
        else:
            place, line = len(self.text), ""  # nothing but ends of lines
        if not line:
            self.fail("unknown_format", place)
        elif self.read_header(place, line, 0):
            rest = list(lines)
            self.find_form(rest)
            self.is_open = self.error is None
            if self.is_open:
                self.read_rows(rest)

    def fail(self, code, place):
        """Ends reading with an error."""
        self.error = (code, self.width * place)

    def decode(self, data):
        """Sets `text`, `width` and `start`, the place after a byte order mark.
        """
        first = b'"(s\r\n'
        mark = data[:2] in (b"\xff\xfe", b"\xfe\xff")
        pair = data[:2] if len(data) >= 2 and not data.startswith(
            b"\xef\xbb\xbf") else b"xx"
        is_big = pair == b"\xfe\xff" or (pair[0] == 0 and pair[1] in first)
        self.width = 2 if mark or is_big or (
            pair[1] == 0 and pair[0] in first) else 1
        if self.width == 1:
            self.text = data.decode("latin-1")
            self.start = 3 if data.startswith(b"\xef\xbb\xbf") else 0
            return
        units = array.array("H", data[:len(data) // 2 * 2])
        if is_big != (sys.byteorder == "big"):
            units.byteswap()
        self.text, self.start = "".join(map(chr, units)), int(mark)

    def split(self):
        """(place, line without its end, whether it ended in a line feed)."""
        at = self.start
        while at < len(self.text):
            end = self.text.find("\n", at)
            whole = end >= 0
            end = end if whole else len(self.text)
            yield at, self.text[at:end].rstrip("\r"), whole
            at = end + whole

    def split_header(self, line):
        """(separator, first cell, its version, its time zone) of a header."""
        # Separators inside the quotation marks of the first cell do not count.
        match = re.search('"([,;\t])', line) if line[0] == '"' else \
            re.search(r"(?<=\))([,;\t])", line) or re.search("([,;\t])", line)
        separator = match[1] if match else ","
        cell = next(cells_of(line, separator))
        first = cell[1]
        if self.width == 2:
            first = first if len(first) <= LONG else ""
        version = VERSION.match(first)
        zone = ZONE.fullmatch(first[version.end():] if version else first)
        if zone and (int(zone["bias"].lstrip("-")) > 1440 or
                     not version and first.startswith("(PDH-")):
            zone = None
        return separator, cell, version, zone

    def begins_header(self, line):
        """Whether a later line is a header."""
        if MAGIC.match(line):
            return True
        if not re.match(r'"?\(', line):
            return False
        _, cell, version, zone = self.split_header(line)
        return bool(cell[4] and (version or zone))

    def read_header(self, place, line, shown):
        """Reads a header. `shown` is the place that is printed for it. Returns
        False with an error if it is none."""
        self.separator, _, version, zone = self.split_header(line)
        if not version and not zone:
            self.fail("unknown_format", place)
            return False
        cells = list(cells_of(line, self.separator))
        self.bias = int(zone["bias"]) if zone else 0
        header = {"has_version": bool(version),
                  "bias": self.bias if zone else None}
        columns = [(self.width * (place + cell[0]), cell[1])
                   for cell in cells[1:]]
        if not all(cell[2] for cell in cells):
            self.fail("truncated_line", place + len(line))
            return False
        while columns and not columns[-1][1].strip(" \t"):
            columns.pop()
        if "\r" in line:
            self.reason = "no_row"  # its lines may end in CR alone
        self.header, self.columns = header, columns
        self.lines.append(("header", self.width * shown, header, columns))
        return True

    def short(self, content):
        """The characters of a cell that may be a time."""
        return content if self.width == 1 or len(content) <= SHORT else ""

    def moment(self, content):
        """The time that a cell has, or None."""
        match = TIME.fullmatch(self.short(content))
        moment = match and Moment(match)
        return moment if moment and moment.is_valid else None

    def find_form(self, lines):
        """Finds the form of the rows."""
        first, month_first, day_first, either = None, False, False, False
        date = number = None
        points, commas = [False, False], [False, False]  # sure, or groups
        end, begin = len(self.text), None
        for place, line, _ in lines:
            begin = place if begin is None else begin
            if (place - begin) * self.width >= SAMPLE:
                end = place
                break
            cells = list(cells_of(line, self.separator))
            moment = self.moment(cells[0][1]) if cells else None
            if not moment:
                continue
            orders = [bool(moment.date(order)) for order in ("mdy", "dmy")]
            if moment.style[1]:
                orders = [bool(moment.date("ymd"))] * 2
                if not orders[0]:  # "2018/15/05" has the style, too
                    swapped = Moment.date
                    moment.parts[1:] = moment.parts[:0:-1]
                    orders = [False, bool(swapped(moment, "ymd"))]
            if not any(orders):
                continue
            if first is None:
                first = moment
                is_perfmon = moment.is_exact and orders[0] and \
                    moment.style == ("/", False, False, False)
                date = place + cells[0][0] + cells[0][3]
            if moment.style == first.style:
                month_first = month_first or not orders[1]
                day_first = day_first or not orders[0]
                pair = moment.parts[1:] if moment.style[1] else \
                    moment.parts[:2]
                either = either or int(pair[0]) != int(pair[1])
            for at, content, _, quoted, _ in cells[1:]:
                sign, group = sign_of(self.short(content))
                if not sign:
                    continue
                number = number or place + at + quoted
                seen = points if sign == "." else commas
                seen[group] = True
            if is_perfmon and points[0]:
                break
        if first is None:
            self.choose_decimal(points, commas, number)
            return
        if not self.choose_order(first, is_perfmon, (month_first, day_first),
                                 not either and end == len(self.text)):
            self.fail("ambiguous_dates", date)
            return
        self.choose_decimal(points, commas, number)

    def choose_order(self, first, is_perfmon, seen, is_equal):
        """Chooses the order of dates; False if it is ambiguous."""
        form, given = self.form, self.given[0]
        form.style, form.is_perfmon = first.style, is_perfmon and not given
        form.allows_exact = first.is_exact
        if form.is_perfmon:
            form.order = "mdy"
        elif first.style[1]:
            form.order = "ymd"
        elif given:
            form.order = given
        elif first.style[0] == ".":
            form.order = "dmy"
        elif seen[0] != seen[1]:
            form.order = "mdy" if seen[0] else "dmy"
        elif is_equal and not any(seen):
            form.order = "mdy"
        return form.order is not None

    def choose_decimal(self, points, commas, number):
        """Chooses the decimal sign."""
        form, semicolons = self.form, self.separator == ";"
        if self.given[1]:
            form.decimal = self.given[1]
            form.thousands = "," if form.decimal == "." else "."
            return
        point, comma = points[0], commas[0]
        if not point and not comma:
            point, comma = points[1], commas[1]
            dots = not form.is_perfmon and form.style[0] == "."
            if (comma and not semicolons) or (point and (semicolons or dots)):
                self.fail("ambiguous_numbers", number)
                return
        if point and comma:
            self.fail("ambiguous_numbers", number)
        elif comma or (semicolons and not point):
            form.decimal = ","

    def time_of(self, content):
        """The time in a cell in 100 ns since 1601, or None."""
        form, moment = self.form, self.moment(content)
        if not moment:
            return None
        if form.is_perfmon:
            if not moment.is_exact or moment.style != ("/", False, False,
                                                       False):
                return None
        elif moment.style != form.style or (
                form.order == "dmy" and moment.is_exact and
                not form.allows_exact):
            return None
        date = moment.date("mdy" if form.is_perfmon else form.order)
        if date is None:
            return None
        time = (date - EPOCH) // datetime.timedelta(
            seconds=1) * 10000000 + moment.fraction
        if moment.style[3]:
            time -= (moment.offset + self.bias) * 600000000
        return time if time >= 0 else None

    def skip(self, reason):
        """Skips a line."""
        self.notes.add("text_line")
        self.skipped += 1
        self.reason = self.reason or reason

    def default_bias(self):
        """Times with offsets from UTC need no bias of the header."""
        if self.form.style and self.form.style[3] and \
                self.header["bias"] is None:
            self.header["bias"] = 0

    def read_rows(self, lines):
        """Reads the rows: (offset, time, [(offset, value or None)])."""
        self.default_bias()
        for place, line, whole in lines:
            if not line:
                continue
            while line:
                line, place = self.read_line(place, line, whole)
                if self.error:
                    return
        if self.rows == 0 and self.reason:
            self.fail(self.reason, len(self.text))

    def read_line(self, place, line, whole):
        """Reads a header or row. Returns the header that follows in the same
        line after a row that was cut, and its place."""
        mark = MARKS[self.width]
        rest = line.removeprefix(mark)
        if self.begins_header(rest):
            place += len(line) - len(rest)
            if self.read_header(place, rest, place):
                self.default_bias()
        elif self.read_row(place, line, whole):
            joined = MAGIC.search(line)
            if joined:
                return line[joined.start():], place + joined.start()
        return "", place

    def number_in(self, cell):
        """The number in a cell, or None."""
        if len(cell) > LONG and (self.width == 2 or self.form.decimal == ","):
            return None
        return number_of(cell, self.form.decimal, self.form.thousands)

    def read_row(self, place, line, whole):
        """Reads a row, or skips the line. Returns whether it was skipped."""
        cells = list(cells_of(line, self.separator))
        end = place + len(line)
        if not whole and not cells[0][2]:
            self.fail("truncated_line", end)
            return False
        content = cells[0][1]
        time = self.time_of(content)
        if time is None:
            is_time = re.match("[0-9]+(:?)", self.short(content))
            is_row = cells[0][4] and (is_time or self.number_in(
                cells[-1][1]) is not None)
            self.skip(None if not is_row else "no_date" if is_time and
                      is_time[1] else "no_row")
            return True
        rest = cells[1:]
        columns = len(self.columns)
        if not whole and (len(rest) < columns or not all(
                cell[2] for cell in rest)):
            self.fail("truncated_line", end)
            return False
        count = len(rest)
        if count + 1 == columns and cells[-1][4]:
            rest.append((len(line), "", True, False, False))  # a blank cell
        is_quoted = any(cell[3] for cell in rest)
        rest[columns:] = [cell for cell in rest[columns:]
                          if cell[1].strip(" \t")]
        if (len(rest) != columns or re.match(r"\\|.*\(", cells[-1][1],
                                             re.DOTALL)) and MAGIC.search(line):
            self.skip(None)
            return True
        if len(rest) != columns:
            self.notes.add("uneven_row")
            if len(rest) > columns and self.separator == "," and \
                    not is_quoted:
                self.skip("no_row")
                return True
        values = []
        for at, raw, _, _, _ in rest[:columns]:
            value = self.number_in(raw)
            values.append((self.width * (place + at), value))
            if value is None and raw.strip(" \t"):
                self.notes.add("bad_number")
                self.unreadable += 1
        self.rows += 1
        self.lines.append(("row", self.width * place, time, values))
        return False


def is_recognised(data):
    """Whether the first bytes are those of a text log."""
    error = Text(data[:1024]).error
    return error is None or error[0] != "unknown_format"
