/* SPDX-License-Identifier: MIT */
/* PDH text logs: characters, lines and cells. */
#include "perflib/pdh_text_parts.h"

#include "bytes/cursor.h"

uint32_t pfb_pdh_text_character(const pfb_pdh_text_reader *text, size_t at)
{
    const uint8_t *p = text->data + at;
    if (!text->is_wide)
        return *p;
    return text->is_big_endian ? (uint32_t)p[0] << 8 | p[1] : load_le16(p);
}

size_t pfb_pdh_text_find(const pfb_pdh_text_reader *text, size_t at, size_t end, uint8_t character)
{
    if (text->is_wide) {
        while (at < end && pfb_pdh_text_character(text, at) != character)
            at += 2;
        return at;
    }
    const uint8_t *data = text->data;
    while (at < end && data[at] != character)
        at++;
    return at;
}

text_line pfb_pdh_text_find_line(const pfb_pdh_text_reader *text, size_t at)
{
    text_line line = {.begin = at, .end = pfb_pdh_text_find(text, at, text->size, '\n')};
    line.is_complete = line.end < text->size;
    line.next = line.end + (line.is_complete ? text_width(text) : 0);
    while (line.end > at && pfb_pdh_text_character(text, line.end - text_width(text)) == '\r')
        line.end -= text_width(text);
    return line;
}

/* Returns true if the cell at `at` has a quotation mark. */
static bool text_has_quote(const pfb_pdh_text_reader *text, size_t at, size_t end)
{
    size_t next = pfb_pdh_text_find(text, at, end, (uint8_t)text->separator);
    return pfb_pdh_text_find(text, at, next, '"') < next;
}

/* Returns the offset of the quotation mark that closes a cell, whose content begins at `at`; `end` if there is none.
 * Names may contain quotation marks. Some writers double them and some do not, so both are accepted.
 *
 * A mark closes the cell only at the end of the line or before a separator, and there only if the next cell begins with
 * a mark or has none: in "(vm "q", 2)" the second mark does not close the cell. If a mark before a separator is the
 * second of two consecutive ones, it closes the cell only if the line ends after the separator, or if the next cell
 * begins with a quotation mark and then a character that is neither a mark nor a separator. Otherwise it belongs to a
 * name such as x","y, which is written "x"",""y". */
static size_t text_find_quote(const pfb_pdh_text_reader *text, size_t at, size_t end)
{
    const uint32_t separator = (uint8_t)text->separator;
    const size_t width = text_width(text);
    bool is_second = false;
    while (true) {
        size_t mark = pfb_pdh_text_find(text, at, end, '"');
        is_second = is_second && mark == at;
        at = mark + width;
        if (mark == end || at == end)
            return mark;
        if (pfb_pdh_text_character(text, at) == separator) {
            size_t after = at + width;
            if (after == end)
                return mark;
            bool is_quoted = pfb_pdh_text_character(text, after) == '"';
            if (!is_second && (is_quoted || !text_has_quote(text, after, end)))
                return mark;
            uint32_t first = is_quoted && after + width < end ? pfb_pdh_text_character(text, after + width) : '"';
            if (is_second && first != '"' && first != separator)
                return mark;
        }
        is_second = !is_second;
    }
}

text_cell pfb_pdh_text_find_cell(const pfb_pdh_text_reader *text, size_t at, size_t end)
{
    const size_t width = text_width(text);
    text_cell cell = {.begin = at, .is_quoted = pfb_pdh_text_character(text, at) == '"', .is_closed = true};
    if (cell.is_quoted) {
        cell.begin += width;
        cell.end = text_find_quote(text, cell.begin, end);
        cell.is_closed = cell.end < end;
        cell.next = cell.end + (cell.is_closed ? width : 0);
    } else {
        cell.next = cell.end = pfb_pdh_text_find(text, at, end, (uint8_t)text->separator);
    }
    cell.is_followed = cell.next < end;
    cell.next += cell.is_followed ? width : 0;
    return cell;
}

size_t pfb_pdh_text_narrow(const pfb_pdh_text_reader *text, size_t at, size_t end, uint8_t *to, size_t capacity)
{
    size_t count = 0;
    for (; at < end; at += text_width(text)) {
        uint32_t character = pfb_pdh_text_character(text, at);
        if (count == capacity)
            return 0;
        bool is_space = character == 0x00A0 || character == 0x202F || character == 0x2009;
        uint8_t other = is_space ? 0xA0 : character == 0x2019 ? '\'' : 0xFF;
        to[count++] = character < 0x80 ? (uint8_t)character : other;
    }
    return count;
}
