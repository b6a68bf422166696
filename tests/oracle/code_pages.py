# SPDX-License-Identifier: MIT
"""Names in code pages of Windows, decoded with Python's codecs."""

CODECS = {874: "cp874", 932: "cp932", 936: "gbk", 949: "cp949", 950: "cp950",
          **{page: "cp%d" % page for page in range(1250, 1259)}}
SINGLE = [page for page in CODECS if page not in (932, 936, 949, 950)]

# What MultiByteToWideChar makes of single bytes that these codecs refuse. Those
# from 0x80 to 0x9F without a row become the control character of the same number.
REFUSED = {
    874: {**{byte: 0xF8C1 + byte - 0xDB for byte in range(0xDB, 0xDF)},
          **{byte: 0xF8C5 + byte - 0xFC for byte in range(0xFC, 0x100)}},
    936: {0x80: 0x20AC, 0xFF: 0xF8F5}, 949: {0xFF: 0xF8F7},
    950: {0xFF: 0xF8F8}, 1253: {0xAA: 0xF8F9, 0xD2: 0xF8FA, 0xFF: 0xF8FB},
    1255: {**{byte: 0xF88D + byte - 0xD9 for byte in range(0xD9, 0xE0)},
           0xCA: 0x05BA, 0xFB: 0xF894, 0xFC: 0xF895, 0xFF: 0xF896},
    1257: {0xA1: 0xF8FC, 0xA5: 0xF8FD},
}


def column(trail, gap_first, gap_last):
    """The place of a second byte among those from 0x40 to 0xFE without a gap."""
    return trail - 0x40 - (trail > gap_last) * (gap_last - gap_first + 1)


def private(lead, trail, page):
    """The number of a character that users define, or None. In 950 Python has
    characters of ETEN for some of them."""
    if page == 936 and 0xA1 <= lead <= 0xA7 and trail <= 0xA0:
        return None if trail in (0x7F, 0xFF) or trail < 0x40 else \
            0xE4C6 + (lead - 0xA1) * 96 + column(trail, 0x7F, 0x7F)
    if page in (936, 949) and 0xA1 <= trail <= 0xFE:
        for first, last, start in (((0xAA, 0xAF, 0xE000), (0xF8, 0xFE, 0xE234))
                                   if page == 936 else
                                   ((0xC9, 0xC9, 0xE000), (0xFE, 0xFE, 0xE05E))):
            if first <= lead <= last:
                return start + (lead - first) * 94 + trail - 0xA1
    if page == 950 and (0x40 <= trail <= 0x7E or 0xA1 <= trail <= 0xFE):
        place = column(trail, 0x7F, 0xA0)
        if (lead, trail) >= (0xC6, 0xA1) and lead <= 0xC8:
            return 0xF6B1 + (lead - 0xC6) * 157 + place - 63
        for first, last, start in ((0x81, 0x8D, 0xEEB8), (0x8E, 0xA0, 0xE311),
                                   (0xFA, 0xFE, 0xE000)):
            if first <= lead <= last:
                return start + (lead - first) * 157 + place
    return None


def character(data, page):
    """The character that these bytes are, or None."""
    own = private(*data, page) if len(data) == 2 else None
    if own is not None:
        return chr(own)
    try:
        text = data.decode(CODECS[page])
    except UnicodeDecodeError:
        return None
    return text if len(text) == 1 else None


def refused(byte, page):
    """The character of a byte that begins no other."""
    is_control = byte == 0x80 or (page in SINGLE and byte < 0xA0)
    return chr(REFUSED.get(page, {}).get(byte, byte if is_control else 0xFFFD))


def decode(data, page):
    """The text of a name."""
    text, at = "", 0
    while at < len(data):
        byte, pair = data[at:at + 1], data[at:at + 2]
        found = character(byte, page)
        if not found and len(pair) == 2 and byte > b"\x80":
            found = character(pair, page)
            at += found is not None
        text += found or refused(byte[0], page)
        at += 1
    return text
