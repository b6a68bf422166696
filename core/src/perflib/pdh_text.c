/* SPDX-License-Identifier: MIT */
/* PDH text logs (CSV and TSV). docs/log.md has the layout. */
#include "perfblock/pdh_text.h"

#include "perflib/pdh_text_parts.h"

#include "bytes/code_points.h"

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

/* ---- The header ------------------------------------------------------------------------------------------------ */

/* Parses "(zone name)(bias)" at the end of a cell. The name may contain parentheses. *zone becomes the name. */
static bool text_parse_zone(pfb_pdh_text_reader *text, span s, span *zone)
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
    *zone = (span){s.data, s.at + 1, open - 2};
    return true;
}

/* Parses the first cell of the header: the version, the time zone, or both. Other versions are not known. */
static bool text_parse_version(pfb_pdh_text_reader *text, const text_cell *cell)
{
    uint8_t copy[TEXT_MAX_CELL];
    const size_t width = text_width(text);
    span s = {text->data, cell->begin, cell->end};
    span zone;
    if (text->is_wide)
        s = (span){copy, 0, pfb_pdh_text_narrow(text, cell->begin, cell->end, copy, sizeof copy)};
    const size_t start = s.at;
    text->has_bias = false;
    text->bias_minutes = 0;
    text->zone_name = (pfb_name){.bytes = NULL};
    text->has_version = take_exactly(&s, "(PDH-CSV 4.0)") || take_exactly(&s, "(PDH-TSV 4.0)");
    if (!text->has_version && take_exactly(&s, "(PDH-"))
        return false;
    if (!text_parse_zone(text, s, &zone))
        return text->has_version;
    text->zone_name.bytes = text->data + cell->begin + width * (zone.at - start);
    text->zone_name.size_bytes = width * (zone.end - zone.at);
    return true;
}

static bool text_is_separator(uint32_t character)
{
    return character == ',' || character == ';' || character == '\t';
}

/* Returns the separator after the first cell, which ends with a parenthesis, and a quotation mark if it begins with
 * one. If there is none, returns the first separator; a comma if there is none of these either: the header then has no
 * counters. */
static char text_find_separator(const pfb_pdh_text_reader *text, const text_line *line)
{
    const size_t width = text_width(text);
    bool is_quoted = pfb_pdh_text_character(text, line->begin) == '"';
    uint32_t before = 0;
    char first = ',';
    bool has_first = is_quoted; /* those inside of quotation marks do not count */
    for (size_t at = line->begin; at < line->end; at += width) {
        uint32_t character = pfb_pdh_text_character(text, at);
        if (text_is_separator(character)) {
            if (before == (is_quoted ? '"' : ')'))
                return (char)character;
            first = has_first ? first : (char)character;
            has_first = true;
        }
        before = character;
    }
    return first;
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

/* Returns true for a character with which a text begins. */
static bool text_is_first(uint8_t character)
{
    return character == '"' || character == '(' || character == 's' || character == '\r' || character == '\n';
}

/* Finds out whether the text is UTF-16, or UTF-8 with a byte order mark. Returns the size of its byte order mark. */
static size_t text_find_encoding(pfb_pdh_text_reader *text)
{
    const uint8_t *data = text->data;
    if (text->size >= 3 && data[0] == 0xEF && data[1] == 0xBB && data[2] == 0xBF) {
        text->code_page = PFB_ENCODING_UTF8;
        return 3;
    }
    if (text->size < 2)
        return 0;
    bool has_mark = (data[0] == 0xFF && data[1] == 0xFE) || (data[0] == 0xFE && data[1] == 0xFF);
    text->is_big_endian = has_mark ? data[0] == 0xFE : data[0] == 0 && text_is_first(data[1]);
    text->is_wide = has_mark || text->is_big_endian || (data[1] == 0 && text_is_first(data[0]));
    if (text->is_wide)
        text->size -= text->size % 2; /* half a character at the end of the window */
    return has_mark ? 2 : 0;
}

/* Returns true if the line is "sep=" and a character: Excel writes it before the header. */
static bool text_is_excel_line(const pfb_pdh_text_reader *text, const text_line *line)
{
    uint8_t copy[5];
    span s = {copy, 0, pfb_pdh_text_narrow(text, line->begin, line->end, copy, sizeof copy)};
    return s.end == sizeof copy && take_exactly(&s, "sep=");
}

/* Finds the header: the first line that is not empty. */
static bool text_find_header(pfb_pdh_text_reader *text, text_line *line)
{
    size_t at = text_find_encoding(text);
    do {
        *line = pfb_pdh_text_find_line(text, at);
        at = line->next;
        text->line++;
    } while (line->is_complete && (line->end == line->begin || text_is_excel_line(text, line)));
    return line->end > line->begin;
}

/* Returns the end of the machine of a path with one backslash before it, \machine\object(instance)\counter, without
 * parentheses in the counter; 0 if the cell has another form. */
static size_t text_bare_machine(const pfb_pdh_text_reader *text, const text_cell *cell)
{
    const size_t width = text_width(text);
    size_t machine = 0;
    size_t object = 0;
    size_t depth = 0;
    uint32_t before = 0;
    size_t at = cell->begin;
    for (; at < cell->end; at += width) {
        uint32_t character = pfb_pdh_text_character(text, at);
        bool is_backslash = character == '\\' && depth == 0;
        if (at > cell->begin && is_backslash && before == '\\')
            return 0; /* an empty name, or two backslashes before the machine */
        if (is_backslash && machine > 0 && object == 0)
            object = at;
        else if (is_backslash && at > cell->begin && machine == 0)
            machine = at;
        if ((at == cell->begin && !is_backslash) || (character == '(' && machine == 0))
            return 0;
        depth += character == '(';
        depth -= character == ')' && depth > 0;
        before = character;
    }
    return object > 0 && before != '\\' ? machine : 0;
}

static bool text_is_same(const pfb_pdh_text_reader *text, size_t a, size_t b, size_t size)
{
    size_t i = 0;
    while (i < size && text->data[a + i] == text->data[b + i])
        i++;
    return i == size;
}

static bool text_is_blank(const pfb_pdh_text_reader *text, const text_cell *cell)
{
    size_t at = cell->begin;
    while (at < cell->end && is_one_of(pfb_pdh_text_character(text, at), BLANKS))
        at += text_width(text);
    return at == cell->end;
}

/* Reads a header, and counts its columns up to the last one with a name. Returns false with an error if it is none. */
static bool text_read_header(pfb_pdh_text_reader *text, const text_line *line)
{
    text->separator = text_find_separator(text, line);
    text_cell cell = pfb_pdh_text_find_cell(text, line->begin, line->end);
    size_t first = 0, machine_size = 0; /* of the first path */
    uint32_t count = 0;
    text->path_at = cell.next;
    text->path_end = line->end;
    text->paths_read = 0;
    text->column_count = 0;
    text->has_bare_machine = false;
    text->header_offset = line->begin;
    text->header_size_bytes = line->end - line->begin;
    if (!text_parse_version(text, &cell))
        return text_fail(text, PFB_UNKNOWN_FORMAT, line->begin);
    if (text->is_wide)
        text->encoding = text->is_big_endian ? PFB_ENCODING_UTF16BE : PFB_ENCODING_UTF16LE;
    else if (text->code_page != 0)
        text->encoding = text->code_page;
    else
        text->encoding = text_is_utf8(text->data + line->begin, line->end - line->begin) ? PFB_ENCODING_UTF8
                                                                                         : PFB_ENCODING_WINDOWS_1252;
    text->zone_name.encoding = text->encoding;
    while (cell.is_closed && cell.next < text->path_end) {
        cell = pfb_pdh_text_find_cell(text, cell.next, text->path_end);
        count += count < UINT32_MAX; /* a line of 4 GiB can have more columns */
        if (text_is_blank(text, &cell))
            continue;
        size_t end = text_bare_machine(text, &cell);
        if (text->column_count == 0) {
            first = cell.begin;
            machine_size = end > 0 ? end - first : 0;
        }
        text->has_bare_machine = machine_size > 0 && end > 0 && end - cell.begin == machine_size &&
                                 (text->column_count == 0 || text->has_bare_machine) &&
                                 text_is_same(text, first, cell.begin, machine_size);
        text->column_count = count;
    }
    if (!cell.is_closed)
        return text_fail(text, PFB_TRUNCATED_LINE, line->end);
    if (pfb_pdh_text_find(text, line->begin, line->end, '\r') < line->end)
        text->skipped_row = PFB_NO_ROW; /* its lines may end in CR alone */
    return true;
}

/* Times with an offset from UTC need no bias of the header. */
static void text_set_bias(pfb_pdh_text_reader *text)
{
    text->has_bias = text->has_bias || (text->dates & PFB_DATE_ZONES);
}

bool pfb_pdh_text_recognise(const void *data, size_t size)
{
    enum { MAX_BYTES = 1024 };
    pfb_pdh_text_reader text = {.data = data, .size = size < MAX_BYTES ? size : MAX_BYTES};
    text_line line;
    if (!data || !text_find_header(&text, &line))
        return false;
    text.separator = text_find_separator(&text, &line);
    text_cell cell = pfb_pdh_text_find_cell(&text, line.begin, line.end);
    return text_parse_version(&text, &cell);
}

bool pfb_pdh_text_open(pfb_pdh_text_reader *text, const void *data, size_t size, bool is_last,
                       const pfb_read_options *options)
{
    *text = (pfb_pdh_text_reader){.data = data,
                                  .size = data ? size : 0,
                                  .is_last = is_last,
                                  .is_strict = options && options->is_strict,
                                  .code_page = options ? options->code_page : 0};
    text_line line;
    bool is_found = text_find_header(text, &line);
    if (!line.is_complete && !is_last)
        return text_fail(text, PFB_CALLER_TOO_SMALL, 0);
    if (!is_found)
        return text_fail(text, PFB_UNKNOWN_FORMAT, line.begin);
    text->next_line = line.next;
    if (!text_read_header(text, &line) || !pfb_pdh_text_find_form(text, line.next, options))
        return false;
    text_set_bias(text);
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
    text->size -= text->is_wide ? text->size % 2 : 0;
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
    text_cell cell = pfb_pdh_text_find_cell(text, text->path_at, text->path_end);
    *path = (pfb_pdh_text_path){.offset = text->path_at,
                                .column = text->paths_read++,
                                .name = {text->data + cell.begin, cell.end - cell.begin, text->encoding}};
    text->path_at = cell.next;
    return true;
}

bool pfb_pdh_text_split_path(const pfb_pdh_text_reader *text, const pfb_name *name, pfb_path *path)
{
    pfb_path whole;
    if (!text->has_bare_machine)
        return pfb_path_parse(name, path);
    if (!pfb_path_parse(name, &whole))
        return false;
    size_t size = (size_t)(whole.counter.bytes - name->bytes);
    size -= name->encoding == PFB_ENCODING_UTF16LE ? 2 : 1; /* the path begins with the backslash before `counter` */
    const pfb_name rest = {name->bytes + size, name->size_bytes - size, name->encoding};
    bool is_path = pfb_path_parse(&rest, path);
    path->machine = whole.counterset;
    return is_path;
}

/* ---- Rows ------------------------------------------------------------------------------------------------------ */

/* Counts something unreadable, and keeps the line of the first one. */
static void text_count(const pfb_pdh_text_reader *text, uint64_t *count, uint64_t *first)
{
    *first = *count == 0 ? text->line : *first;
    *count += 1;
}

/* Returns the size of a byte order mark at the begin of a line that is not empty: texts with one were joined; 0 if
 * there is none. */
static size_t text_mark_size(const pfb_pdh_text_reader *text, const text_line *line)
{
    span s = {text->data, line->begin, line->end};
    if (text->is_wide)
        return pfb_pdh_text_character(text, line->begin) == 0xFEFF ? 2 : 0;
    return take_exactly(&s, "\xEF\xBB\xBF") ? 3 : 0;
}

/* Returns true if "(PDH-CSV" or "(PDH-TSV" is at `at`. */
static bool text_has_magic(const pfb_pdh_text_reader *text, size_t at, size_t end)
{
    uint8_t copy[8];
    const size_t size = sizeof copy * text_width(text);
    if (end - at < size)
        return false;
    span s = {copy, 0, pfb_pdh_text_narrow(text, at, at + size, copy, sizeof copy)};
    return take_exactly(&s, "(PDH-CSV") || take_exactly(&s, "(PDH-TSV");
}

/* Returns true if a line begins with "(PDH-CSV" or "(PDH-TSV", or with a time zone as the first of several cells, with
 * or without a byte order mark and a quotation mark. The line then begins after the byte order mark. */
static bool text_begins_header(const pfb_pdh_text_reader *text, text_line *line)
{
    text_line rest = *line;
    rest.begin += text_mark_size(text, line);
    size_t begin = rest.begin;
    if (begin < rest.end && pfb_pdh_text_character(text, begin) == '"')
        begin += text_width(text);
    if (begin == rest.end || pfb_pdh_text_character(text, begin) != '(')
        return false;
    if (!text_has_magic(text, begin, rest.end)) {
        pfb_pdh_text_reader other = *text;
        other.separator = text_find_separator(text, &rest);
        text_cell cell = pfb_pdh_text_find_cell(&other, rest.begin, rest.end);
        if (!cell.is_followed || !text_parse_version(&other, &cell))
            return false;
    }
    line->begin = rest.begin;
    return true;
}

/* Returns where a header begins that follows a row in the same line: logs were joined, and the first one had no line
 * end. Returns the end of the line if there is none. */
static size_t text_find_joined(const pfb_pdh_text_reader *text, const text_line *line)
{
    const size_t width = text_width(text);
    size_t at = line->begin;
    while (at < line->end && !text_has_magic(text, at, line->end))
        at = pfb_pdh_text_find(text, at + width, line->end, '(');
    bool is_quoted = at < line->end && at > line->begin && pfb_pdh_text_character(text, at - width) == '"';
    return at - (is_quoted ? width : 0);
}

/* Skips a line, which is tolerated unless the reader is strict. `code`: why it cannot be read, if it resembles a row.
 * A header in it is read next. Returns false. */
static bool text_skip_line(pfb_pdh_text_reader *text, const text_line *line, pfb_code code)
{
    if (text_tolerate(text, PFB_NOTE_TEXT_LINE, PFB_BAD_TEXT_LINE, line->begin))
        text_count(text, &text->skipped_lines, &text->first_skipped_line);
    text->skipped_row = text->skipped_row == PFB_OK ? code : text->skipped_row;
    size_t header = text_find_joined(text, line);
    if (header < line->end) {
        text->next_line = header;
        text->line--;
    }
    return false;
}

/* Checks that the number of cells after `cell`, which is the time, equals the number of counters of the header; blank
 * ones after these do not count. A separator at the end of the line ends the last cell or, if that cell is missing,
 * precedes a blank one. Returns false on error, and for a row that is skipped: one before a header in the same line,
 * and one with too many cells, none of which is quoted, between commas. Its numbers may have decimal commas. */
static bool text_check_row(pfb_pdh_text_reader *text, const text_line *line, text_cell cell)
{
    bool is_cut = !line->is_complete; /* without a line feed, the end of the row may be missing */
    bool has_quotes = text->separator != ',';
    uint64_t count = 0;
    while (cell.next < line->end) {
        cell = pfb_pdh_text_find_cell(text, cell.next, line->end);
        count += count < text->column_count || !text_is_blank(text, &cell);
        has_quotes = has_quotes || cell.is_quoted;
        if (!cell.is_closed && is_cut)
            return text_fail(text, PFB_TRUNCATED_LINE, line->end);
    }
    if (count < text->column_count && is_cut)
        return text_fail(text, PFB_TRUNCATED_LINE, line->end);
    text->has_blank_end = cell.is_followed && count + 1 == text->column_count;
    count += text->has_blank_end;
    bool may_be_joined = count != text->column_count || pfb_pdh_text_find(text, cell.begin, cell.end, '(') < cell.end ||
                         (cell.begin < cell.end && pfb_pdh_text_character(text, cell.begin) == '\\');
    if (may_be_joined && text_find_joined(text, line) < line->end)
        return text_skip_line(text, line, PFB_OK);
    if (count == text->column_count)
        return true;
    if (!text_tolerate(text, PFB_NOTE_UNEVEN_ROW, PFB_UNEVEN_ROW, line->begin))
        return false;
    if (count > text->column_count && !has_quotes)
        return text_skip_line(text, line, PFB_NO_ROW);
    text_count(text, &text->uneven_rows, &text->first_uneven_line);
    return true;
}

/* Returns true if the last cell from `at` to `end` is a number. */
static bool text_has_number(const pfb_pdh_text_reader *text, size_t at, size_t end)
{
    double number;
    text_cell cell = {.begin = end, .end = end, .next = at};
    while (cell.next < end)
        cell = pfb_pdh_text_find_cell(text, cell.next, end);
    return pfb_pdh_text_parse_number(text, &cell, &number);
}

/* Reads the time of a line and checks its cells. Returns false on error, and if the line is skipped. */
static bool text_read_row(pfb_pdh_text_reader *text, const text_line *line, pfb_pdh_text_row *row)
{
    text_cell first = pfb_pdh_text_find_cell(text, line->begin, line->end);
    uint64_t time;
    if (!first.is_closed && !line->is_complete)
        return text_fail(text, PFB_TRUNCATED_LINE, line->end);
    if (!pfb_pdh_text_parse_time(text, &first, &time)) {
        bool has_date = true;
        bool is_row = first.is_followed && (pfb_pdh_text_resembles_time(text, &first, &has_date) ||
                                            text_has_number(text, first.next, line->end));
        return text_skip_line(text, line, !is_row ? PFB_OK : has_date ? PFB_NO_ROW : PFB_NO_DATE);
    }
    if (!text_check_row(text, line, first))
        return false;
    text->cell_at = first.next;
    text->cells_read = 0;
    text->rows++;
    *row = (pfb_pdh_text_row){line->begin, line->end - line->begin, time};
    return true;
}

bool pfb_pdh_text_next_row(pfb_pdh_text_reader *text, pfb_pdh_text_row *row)
{
    text->is_header = false;
    while (text->error.code == PFB_OK && !text->needs_more) {
        text_line line = pfb_pdh_text_find_line(text, text->next_line);
        if (!line.is_complete && !text->is_last) {
            text->needs_more = true;
            text->resume_offset = line.begin;
            return false;
        }
        text->cell_at = text->row_end = line.end;
        text->has_blank_end = false;
        if (line.begin == text->size) {
            if (text->rows == 0 && text->skipped_row != PFB_OK)
                text_fail(text, text->skipped_row, line.begin);
            return false;
        }
        text->next_line = line.next;
        text->line++;
        if (line.end == line.begin)
            continue;
        if (text_begins_header(text, &line)) {
            text->is_header = text_read_header(text, &line);
            text_set_bias(text);
            return false;
        }
        if (text_read_row(text, &line, row))
            return true;
    }
    return false;
}

bool pfb_pdh_text_open_row(pfb_pdh_text_reader *text, const void *data, size_t size, pfb_pdh_text_row *row)
{
    text->error = (pfb_error){PFB_OK, 0};
    text->data = data;
    text->size = text->next_line = data ? size : 0;
    text->is_wide = text_is_wide(text->encoding);
    text->is_big_endian = text->encoding == PFB_ENCODING_UTF16BE;
    text->size -= text->is_wide ? text->size % 2 : 0;
    text->is_last = true;
    text->is_header = false;
    text->needs_more = false;
    text->path_at = text->path_end = 0;
    text->cell_at = text->row_end = text->size;
    text->has_blank_end = false;
    text_line line = {.begin = 0, .end = text->size, .next = text->size, .is_complete = true};
    return line.end > 0 && text_read_row(text, &line, row);
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
        cell = pfb_pdh_text_find_cell(text, text->cell_at, text->row_end);
    pfb_pdh_text_value read = {.offset = text->cell_at, .column = text->cells_read};
    read.has_value = pfb_pdh_text_parse_number(text, &cell, &read.value);
    if (!read.has_value && !text_is_blank(text, &cell)) {
        if (!text_tolerate(text, PFB_NOTE_BAD_NUMBER, PFB_BAD_NUMBER, text->cell_at))
            return false;
        text_count(text, &text->unreadable_cells, &text->first_unreadable_line);
    }
    text->cell_at = cell.next;
    text->cells_read++;
    *value = read;
    return true;
}
