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


def private_950(lead, trail):
    """The character of bytes from C6A1 on, or None. Python has characters of
    ETEN here; in Windows users define them, from U+F6B1 on."""
    column = (trail - 0x40 if 0x40 <= trail <= 0x7E else
              trail - 0xA1 + 63 if 0xA1 <= trail <= 0xFE else None)
    return None if column is None else chr(
        0xF6B1 + (lead - 0xC6) * 157 + column - 63)


def character(data, page):
    """The character that these bytes are, or None."""
    if page == 950 and b"\xc6\xa1" <= data <= b"\xc8\xff" and len(data) == 2:
        return private_950(*data)
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
