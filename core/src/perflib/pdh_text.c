/* SPDX-License-Identifier: MIT */
/* PDH text logs (CSV and TSV). docs/log.md has the layout. */
#include "perfblock/pdh_text.h"

#include "bytes/code_points.h"
#include "bytes/decimal.h"
#include "bytes/line.h"

static bool text_fail(pfb_pdh_text_reader *text, pfb_code code, size_t offset)
{
    text->error = (pfb_error){code, offset};
    return false;
}

/* Records a deviation as a note, or as an error in strict mode. Returns true if reading may continue. */
static bool text_tolerate(pfb_pdh_text_reader *text, uint32_t note, pfb_code code, size_t offset)
{
    if (text->is_strict)
        return text_fail(text, code, offset);
    text->notes |= note;
    return true;
}

/* ---- Lines and cells ------------------------------------------------------------------------------------------- */

/* The offsets of a line. */
typedef struct text_line {
    size_t begin, end; /* without the line end */
    size_t next;       /* where the next line begins */
    bool is_complete;  /* a line feed ends the line */
} text_line;

static text_line text_find_line(const uint8_t *data, size_t at, size_t size)
{
    text_line line = {.begin = at, .end = at};
    while (line.end < size && data[line.end] != '\n')
        line.end++;
    line.is_complete = line.end < size;
    line.next = line.end + line.is_complete;
    if (line.end > at && data[line.end - 1] == '\r')
        line.end--;
    return line;
}

/* The offsets of a cell. */
typedef struct text_cell {
    size_t begin, end; /* without the quotation marks */
    size_t next;       /* where the next cell begins; the end of the line after the last one */
    bool is_closed;    /* false: the closing quotation mark is missing */
    bool is_followed;  /* a separator follows */
} text_cell;

/* Returns the offset of the quotation mark that closes a cell, whose content begins at `at`; `end` if there is none.
 * Names may contain quotation marks. Some writers double them and some do not, so both are accepted.
 *
 * A mark closes the cell only at the end of the line or before a separator. If a mark before a separator is the second
 * of two consecutive ones, it closes the cell only if the line ends after the separator, or if the next cell begins
 * with a quotation mark and then a character that is neither a mark nor a separator. Otherwise it belongs to a name
 * such as x","y, which is written "x"",""y". */
static size_t text_find_quote(const uint8_t *data, size_t at, size_t end, uint8_t separator_byte)
{
    bool is_second = false;
    for (; at < end; at++) {
        if (data[at] != '"') {
            is_second = false;
            continue;
        }
        if (at + 1 == end)
            break;
        bool is_cell_end = at + 2 == end || (data[at + 2] == '"' && at + 3 < end && data[at + 3] != '"' &&
                                             data[at + 3] != separator_byte);
        if (data[at + 1] == separator_byte && (!is_second || is_cell_end))
            break;
        is_second = !is_second;
    }
    return at;
}

/* Reads the cell at `at`, which is before `end`. */
static text_cell text_find_cell(const uint8_t *data, size_t at, size_t end, char separator)
{
    bool is_quoted = data[at] == '"';
    uint8_t separator_byte = (uint8_t)separator;
    text_cell cell = {.begin = at + is_quoted, .end = at + is_quoted, .is_closed = true};
    if (is_quoted) {
        cell.end = text_find_quote(data, cell.begin, end, separator_byte);
        cell.is_closed = cell.end < end;
    } else {
        while (cell.end < end && data[cell.end] != separator_byte)
            cell.end++;
    }
    cell.next = cell.end + (is_quoted && cell.is_closed);
    cell.is_followed = cell.next < end;
    cell.next += cell.is_followed;
    return cell;
}

/* ---- Times ----------------------------------------------------------------------------------------------------- */

/* Reads a number from `min` to `max`. */
static bool text_take_field(span *s, unsigned min, unsigned max, unsigned *field)
{
    uint64_t number;
    if (!take_decimal(s, max, &number) || number < min)
        return false;
    *field = (unsigned)number;
    return true;
}

static bool text_is_leap(unsigned year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

/* Returns the days from 1601-01-01 to the first day of the month. */
static uint32_t text_days(unsigned year, unsigned month)
{
    static const uint16_t before[12] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
    uint32_t years = year - 1601;
    uint32_t days = 365 * years + years / 4 - years / 100 + years / 400 + before[month - 1];
    return days + (month > 2 && text_is_leap(year));
}

static unsigned text_days_of_month(unsigned year, unsigned month)
{
    static const uint8_t days[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return days[month - 1] + (month == 2 && text_is_leap(year) ? 1u : 0u);
}

/* Parses all of `s` as a time, "05/29/2008 11:36:51.794". */
static bool text_parse_time(span s, uint64_t *time)
{
    unsigned month;
    unsigned day;
    unsigned year;
    unsigned hour;
    unsigned minute;
    unsigned second;
    bool is_time = text_take_field(&s, 1, 12, &month) && take_exactly(&s, "/") && text_take_field(&s, 1, 31, &day) &&
                   take_exactly(&s, "/") && text_take_field(&s, 1601, 9999, &year) && take_exactly(&s, " ") &&
                   text_take_field(&s, 0, 23, &hour) && take_exactly(&s, ":") && text_take_field(&s, 0, 59, &minute) &&
                   take_exactly(&s, ":") && text_take_field(&s, 0, 59, &second);
    if (!is_time || day > text_days_of_month(year, month))
        return false;
    uint32_t fraction = 0;
    if (take_exactly(&s, ".")) {
        size_t begin = s.at;
        uint32_t unit = 1000000;
        for (unsigned c; is_digit(c = peek(&s)); s.at++, unit /= 10)
            fraction += unit * (c - (unsigned)'0');
        if (s.at == begin)
            return false;
    }
    uint64_t days = text_days(year, month) + day - 1;
    *time = ((days * 24 + hour) * 60 + minute) * 60 + second;
    *time = *time * 10000000 + fraction;
    return s.at == s.end;
}

/* ---- The header ------------------------------------------------------------------------------------------------ */

/* Parses "(zone name)(bias)" at the end of a cell. The name may contain parentheses. */
static bool text_parse_zone(pfb_pdh_text_reader *text, span s)
{
    enum { MAX_BIAS_MINUTES = 24 * 60 };
    skip(&s, CHARACTER(' '));
    size_t open = s.end;
    while (open > s.at && s.data[open - 1] != '(')
        open--;
    if (open < s.at + 3 || s.data[s.at] != '(' || s.data[open - 2] != ')')
        return false;
    span bias = {s.data, open, s.end};
    uint64_t minutes;
    bool is_negative = take_exactly(&bias, "-");
    if (!take_decimal(&bias, MAX_BIAS_MINUTES, &minutes) || !take_exactly(&bias, ")") || bias.at != bias.end)
        return false;
    text->has_bias = true;
    text->bias_minutes = is_negative ? -(int32_t)minutes : (int32_t)minutes;
    text->zone_name = (pfb_name){s.data + s.at + 1, open - 2 - (s.at + 1), 0};
    return true;
}

/* Parses the first cell of the header: the version, the time zone, or both. */
static bool text_parse_version(pfb_pdh_text_reader *text, span s)
{
    text->has_version = take_exactly(&s, "(PDH-CSV 4.0)") || take_exactly(&s, "(PDH-TSV 4.0)");
    return text_parse_zone(text, s) || text->has_version;
}

/* Returns the character after the first cell, a comma or a tab. Returns a comma if there is none: the header
 * then has no counters. */
static char text_find_separator(const uint8_t *data, const text_line *line)
{
    bool is_quoted = data[line->begin] == '"';
    for (size_t at = line->begin + 1; at < line->end; at++) {
        if ((data[at] == ',' || data[at] == '\t') && (!is_quoted || data[at - 1] == '"'))
            return (char)data[at];
    }
    return ',';
}

/* Returns true if the bytes are valid UTF-8. The decoder returns U+FFFD for a malformed byte, which it skips alone, and
 * for a U+FFFD in the text, which has 3 bytes. */
static bool text_is_utf8(const uint8_t *data, size_t size)
{
    for (size_t at = 0; at < size;) {
        size_t begin = at;
        bool is_replaced = pfb_decode_utf8(data, size, &at) == 0xFFFD;
        if (is_replaced && at - begin != 3)
            return false;
    }
    return true;
}

/* Finds the header: the first line that is not empty. */
static bool text_find_header(const uint8_t *data, size_t size, text_line *line)
{
    size_t at = size >= 3 && data[0] == 0xEF && data[1] == 0xBB && data[2] == 0xBF ? 3 : 0;
    while (at < size && (data[at] == '\r' || data[at] == '\n'))
        at++;
    *line = text_find_line(data, at, size);
    return line->end > line->begin;
}

/* Reads the first cell of the header. Returns false if the text is not a PDH text log. */
static bool text_read_header(pfb_pdh_text_reader *text, const text_line *line, text_cell *first)
{
    text->separator = text_find_separator(text->data, line);
    *first = text_find_cell(text->data, line->begin, line->end, text->separator);
    text->path_at = first->next;
    text->path_end = line->end;
    return text_parse_version(text, (span){text->data, first->begin, first->end});
}

bool pfb_pdh_text_recognise(const void *data, size_t size)
{
    enum { MAX_BYTES = 1024 };
    pfb_pdh_text_reader text = {.data = data};
    text_line line;
    text_cell first;
    return data && text_find_header(data, size < MAX_BYTES ? size : MAX_BYTES, &line) &&
           text_read_header(&text, &line, &first);
}

bool pfb_pdh_text_open(pfb_pdh_text_reader *text, const void *data, size_t size, bool is_last,
                       const pfb_read_options *options)
{
    *text = (pfb_pdh_text_reader){
        .data = data, .size = data ? size : 0, .is_last = is_last, .is_strict = options && options->is_strict};
    text_line line;
    text_cell cell;
    bool is_found = text_find_header(text->data, text->size, &line);
    if (!line.is_complete && !is_last)
        return text_fail(text, PFB_CALLER_TOO_SMALL, 0);
    if (!is_found || !text_read_header(text, &line, &cell))
        return text_fail(text, PFB_UNKNOWN_FORMAT, line.begin);
    text->next_line = line.next;
    text->header_offset = line.begin;
    text->header_size_bytes = line.end - line.begin;
    text->encoding =
        text_is_utf8(text->data + line.begin, line.end - line.begin) ? PFB_ENCODING_UTF8 : PFB_ENCODING_WINDOWS_1252;
    text->zone_name.encoding = text->encoding;
    while (cell.is_closed && cell.next < text->path_end) {
        cell = text_find_cell(text->data, cell.next, text->path_end, text->separator);
        text->column_count += text->column_count < UINT32_MAX; /* a line of 4 GiB can have more columns */
    }
    if (!cell.is_closed)
        return text_fail(text, PFB_TRUNCATED_LINE, line.end);
    return true;
}

bool pfb_pdh_text_continue(pfb_pdh_text_reader *text, const void *data, size_t size, bool is_last)
{
    if (text->error.code != PFB_OK)
        return false;
    if (!text->needs_more)
        return text_fail(text, PFB_CALLER_ORDER, 0);
    text->window_offset += text->resume_offset;
    text->data = data;
    text->size = data ? size : 0;
    text->is_last = is_last;
    text->needs_more = false;
    text->resume_offset = text->next_line = 0;
    text->path_at = text->path_end = 0;
    text->cell_at = text->row_end = 0;
    text->has_blank_end = false;
    return true;
}

bool pfb_pdh_text_next_path(pfb_pdh_text_reader *text, pfb_pdh_text_path *path)
{
    if (text->error.code != PFB_OK || text->path_at == text->path_end || text->paths_read == text->column_count)
        return false;
    text_cell cell = text_find_cell(text->data, text->path_at, text->path_end, text->separator);
    *path = (pfb_pdh_text_path){.offset = text->path_at,
                                .column = text->paths_read++,
                                .name = {text->data + cell.begin, cell.end - cell.begin, text->encoding}};
    text->path_at = cell.next;
    return true;
}

/* ---- Rows ------------------------------------------------------------------------------------------------------ */

/* Checks that the number of cells after `cell`, which is the time, equals the number of counters of the header. A
 * separator at the end of the line ends the last cell or, if that cell is missing, precedes a blank one. Returns false
 * on error. */
static bool text_check_row(pfb_pdh_text_reader *text, const text_line *line, text_cell cell)
{
    bool is_cut = !line->is_complete; /* without a line feed, the end of the row may be missing */
    uint64_t count = 0;
    for (; cell.next < line->end; count++) {
        cell = text_find_cell(text->data, cell.next, line->end, text->separator);
        if (!cell.is_closed && is_cut)
            return text_fail(text, PFB_TRUNCATED_LINE, line->end);
    }
    if (count < text->column_count && is_cut)
        return text_fail(text, PFB_TRUNCATED_LINE, line->end);
    text->has_blank_end = cell.is_followed && count + 1 == text->column_count;
    count += text->has_blank_end;
    return count == text->column_count || text_tolerate(text, PFB_NOTE_UNEVEN_ROW, PFB_UNEVEN_ROW, line->begin);
}

/* Reads the time of a line and checks its cells. Returns false on error, and if the line is no row, which is tolerated
 * unless the reader is strict. */
static bool text_read_row(pfb_pdh_text_reader *text, const text_line *line, pfb_pdh_text_row *row)
{
    text_cell first = text_find_cell(text->data, line->begin, line->end, text->separator);
    uint64_t time;
    if (!first.is_closed && !line->is_complete)
        return text_fail(text, PFB_TRUNCATED_LINE, line->end);
    if (!text_parse_time((span){text->data, first.begin, first.end}, &time)) {
        if (text_tolerate(text, PFB_NOTE_TEXT_LINE, PFB_BAD_TEXT_LINE, line->begin))
            text->skipped_lines++;
        return false;
    }
    if (!text_check_row(text, line, first))
        return false;
    text->cell_at = first.next;
    text->cells_read = 0;
    *row = (pfb_pdh_text_row){line->begin, line->end - line->begin, time};
    return true;
}

bool pfb_pdh_text_next_row(pfb_pdh_text_reader *text, pfb_pdh_text_row *row)
{
    while (text->error.code == PFB_OK && !text->needs_more) {
        text_line line = text_find_line(text->data, text->next_line, text->size);
        if (!line.is_complete && !text->is_last) {
            text->needs_more = true;
            text->resume_offset = line.begin;
            return false;
        }
        text->cell_at = text->row_end = line.end;
        text->has_blank_end = false;
        if (line.begin == text->size)
            return false;
        text->next_line = line.next;
        if (line.end > line.begin && text_read_row(text, &line, row))
            return true;
    }
    return false;
}

bool pfb_pdh_text_open_row(pfb_pdh_text_reader *text, const void *data, size_t size, pfb_pdh_text_row *row)
{
    text->error = (pfb_error){PFB_OK, 0};
    text->data = data;
    text->size = text->next_line = data ? size : 0;
    text->is_last = true;
    text->needs_more = false;
    text->path_at = text->path_end = 0;
    text->cell_at = text->row_end = text->size;
    text->has_blank_end = false;
    text_line line = {.begin = 0, .end = text->size, .next = text->size, .is_complete = true};
    return line.end > 0 && text_read_row(text, &line, row);
}

static bool text_is_blank(span s)
{
    skip(&s, BLANKS);
    return s.at == s.end;
}

bool pfb_pdh_text_next_value(pfb_pdh_text_reader *text, pfb_pdh_text_value *value)
{
    bool is_at_end = text->cell_at == text->row_end;
    if (text->error.code != PFB_OK || text->cells_read == text->column_count || (is_at_end && !text->has_blank_end))
        return false;
    text_cell cell = {.begin = text->row_end, .end = text->row_end, .next = text->row_end};
    if (is_at_end)
        text->has_blank_end = false;
    else
        cell = text_find_cell(text->data, text->cell_at, text->row_end, text->separator);
    span content = {text->data, cell.begin, cell.end};
    pfb_pdh_text_value read = {.offset = text->cell_at, .column = text->cells_read};
    read.has_value = pfb_decimal_parse(content, &read.value);
    if (!read.has_value && !text_is_blank(content) &&
        !text_tolerate(text, PFB_NOTE_BAD_NUMBER, PFB_BAD_NUMBER, text->cell_at))
        return false;
    text->cell_at = cell.next;
    text->cells_read++;
    *value = read;
    return true;
}
