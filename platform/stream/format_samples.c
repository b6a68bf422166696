/* SPDX-License-Identifier: MIT */
/* Text logs in other forms: what Get-Counter returns, as JSON (ConvertTo-Json) and as CSV (Export-Csv), and PDH text
 * inside an HTML page. The file is read whole and converted to a text log, which format_text.c reads. Each line of it
 * keeps its place in the file. A sample with other counters than the one before it gets a header of its own, so that
 * the text is not much longer than the file. */
#include "stream/format_text.h"

#include <stdlib.h>
#include <string.h>

enum { NO_CHARACTER = 0xFFFD, MAX_LEVELS = 32, MAX_COLUMNS = 256 };

/* Bytes that grow, within the budget of the stream. */
typedef struct text_bytes {
    uint8_t *bytes;
    size_t count, capacity;
} text_bytes;

typedef struct samples_state {
    text_state text;      /* of the converted text: format_text.c reads it */
    stream_window window; /* of the file, while file_input has that of the text */
    byte_source source;   /* of that one */
    bool is_converted;
    text_bytes lines, places; /* the text, and a text_place for each of its lines */
    const char *problem;      /* why the rest of the file cannot be converted; null: all of it was */
    uint64_t problem_at;
    bool is_reported;
} samples_state;

/* A part of the file. */
typedef struct text_part {
    size_t begin, end;
    bool is_quoted; /* CSV: the cell had quotation marks; JSON: a string */
    bool is_cut;    /* CSV: the file ends inside of the quotation marks */
} text_part;

/* How characters are written in the file. */
typedef enum text_writing { WRITTEN_PLAINLY, WRITTEN_AS_JSON, WRITTEN_AS_CSV, WRITTEN_AS_HTML } text_writing;

/* Parts of the file that have values and cannot be converted. */
typedef struct lost_parts {
    uint64_t count;
    size_t first; /* offset of the first one */
} lost_parts;

/* A value of a counter. */
typedef struct sample_value {
    bool has_path, has_value, has_time;
    text_part path, value, time, status; /* status: empty if there is none */
} sample_value;

/* The state of a conversion. */
typedef struct converter {
    file_input *file;
    samples_state *state;
    int32_t step; /* PFB_NEXT_RECORD, or why converting has ended */
    const uint8_t *data;
    size_t size, width; /* of the file; of a unit: 1, or 2 in UTF-16 */
    bool is_big_endian;
    text_writing writing;
    char separator; /* of the text */

    /* The row that is being made. */
    text_bytes header, row;
    bool has_row, is_last_quote; /* the last character was a quotation mark */
    uint64_t group;              /* number of its sample set; 0: none */
    text_part first_path, time;
    size_t row_at;                    /* where it begins in the file */
    size_t last_header, header_bytes; /* of the latest header in the text */

    size_t line_at; /* the part of the file whose lines were counted */
    uint64_t line;
    uint64_t values, sets; /* sets: of readings in CSV */
    lost_parts timeless;   /* values without Timestamp */
    lost_parts readings;   /* lines of Readings that belong to no counter */
    lost_parts records;    /* records of CSV that lack a cell */
    bool has_samples;      /* a part is called CounterSamples */
} converter;

/* ---- Characters ------------------------------------------------------------------------------------------ */

static uint32_t unit_at(const converter *c, size_t at)
{
    const uint8_t *unit = c->data + at;
    if (c->width == 1)
        return unit[0];
    return c->is_big_endian ? (uint32_t)unit[0] << 8 | unit[1] : unit[0] | (uint32_t)unit[1] << 8;
}

static bool is_blank(uint32_t unit)
{
    return unit == ' ' || unit == '\t' || unit == '\r' || unit == '\n';
}

/* Returns true if the part that begins at `at` begins with an ASCII word. */
static bool has_word(const converter *c, size_t at, size_t end, const char *word)
{
    for (; *word != '\0'; word++, at += c->width) {
        if (at >= end || unit_at(c, at) != (uint8_t)*word)
            return false;
    }
    return true;
}

static bool is_word(const converter *c, text_part part, const char *word)
{
    return part.end - part.begin == strlen(word) * c->width && has_word(c, part.begin, part.end, word);
}

static bool is_same_part(const converter *c, text_part a, text_part b)
{
    return a.end - a.begin == b.end - b.begin && memcmp(c->data + a.begin, c->data + b.begin, a.end - a.begin) == 0;
}

/* Sets the encoding by the first bytes. Returns where the text begins. */
static size_t find_encoding(converter *c)
{
    const uint8_t *p = c->data;
    if (c->size >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0)
        return 3;
    if (c->size < 2)
        return 0;
    bool has_mark = (p[0] == 0xff && p[1] == 0xfe) || (p[0] == 0xfe && p[1] == 0xff);
    c->is_big_endian = has_mark ? p[0] == 0xfe : p[0] == 0 && p[1] != 0;
    c->width = has_mark || c->is_big_endian || (p[0] != 0 && p[1] == 0) ? 2 : 1;
    c->size -= c->size % c->width;
    return has_mark ? 2 : 0;
}

/* Decodes 4 hexadecimal digits; NO_CHARACTER if they are none. */
static uint32_t take_hex(const converter *c, size_t *at, size_t end)
{
    uint32_t unit = 0;
    for (int i = 0; i < 4; i++, *at += c->width) {
        uint32_t digit = *at < end ? unit_at(c, *at) : 0;
        uint32_t lower = digit | 0x20;
        bool is_letter = lower >= 'a' && lower <= 'f';
        if (!is_letter && (digit < '0' || digit > '9'))
            return NO_CHARACTER;
        unit = unit << 4 | (is_letter ? lower - 'a' + 10 : digit - '0');
    }
    return unit;
}

/* Decodes a character reference of HTML after its ampersand. Returns the ampersand if it is none of a few. */
static uint32_t take_reference(const converter *c, size_t *at, size_t end)
{
    static const struct {
        const char *name;
        char character;
    } rows[] = {{"quot;", '"'}, {"#34;", '"'},  {"#x22;", '"'},  {"amp;", '&'}, {"lt;", '<'},
                {"gt;", '>'},   {"#39;", '\''}, {"apos;", '\''}, {"nbsp;", ' '}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (has_word(c, *at, end, rows[i].name)) {
            *at += strlen(rows[i].name) * c->width;
            return (uint8_t)rows[i].character;
        }
    }
    return '&';
}

/* Takes a code unit of the file, decoded. Sets *is_byte for a byte of an unknown encoding. */
static uint32_t take_unit(const converter *c, size_t *at, size_t end, bool is_quoted, bool *is_byte)
{
    static const char escapes[] = "nrtbf", controls[] = "\n\r\t\b\f";
    uint32_t unit = unit_at(c, *at);
    *at += c->width;
    *is_byte = c->width == 1 && unit >= 0x80;
    if (c->writing == WRITTEN_AS_HTML && unit == '&')
        return take_reference(c, at, end);
    if (c->writing == WRITTEN_AS_CSV && is_quoted && unit == '"' && *at < end) {
        *at += c->width; /* the second of two */
    } else if (c->writing == WRITTEN_AS_JSON && unit == '\\' && *at < end) {
        unit = unit_at(c, *at);
        *at += c->width;
        *is_byte = c->width == 1 && unit >= 0x80;
        const char *escape = unit > 0 && unit < 0x80 ? strchr(escapes, (int)unit) : NULL;
        if (unit == 'u')
            return take_hex(c, at, end);
        return escape ? (uint8_t)controls[escape - escapes] : unit;
    }
    return unit;
}

static bool is_surrogate(uint32_t unit, uint32_t first)
{
    return unit >= first && unit < first + 0x400;
}

/* Takes a character; NO_CHARACTER for half of one. */
static uint32_t take_character(const converter *c, size_t *at, size_t end, bool is_quoted, bool *is_byte)
{
    uint32_t unit = take_unit(c, at, end, is_quoted, is_byte);
    if (*is_byte || (!is_surrogate(unit, 0xD800) && !is_surrogate(unit, 0xDC00)))
        return unit;
    size_t next = *at;
    bool is_next_byte = false;
    uint32_t second = next < end ? take_unit(c, &next, end, is_quoted, &is_next_byte) : 0;
    if (is_next_byte || !is_surrogate(unit, 0xD800) || !is_surrogate(second, 0xDC00))
        return NO_CHARACTER;
    *at = next;
    return 0x10000 + ((unit - 0xD800) << 10) + (second - 0xDC00);
}

/* ---- The text -------------------------------------------------------------------------------------------- */

static bool put_bytes(converter *c, text_bytes *to, const void *bytes, size_t size)
{
    const size_t first = 4096;
    if (c->step != PFB_NEXT_RECORD || size == 0)
        return c->step == PFB_NEXT_RECORD;
    if (size > to->capacity - to->count) {
        size_t wanted = to->capacity < first ? first : to->capacity;
        c->step = pfb_stream_resize(c->file->input, &to->bytes, &to->capacity, to->count + size,
                                    to->count + size + wanted, c->row_at);
        if (c->step != PFB_NEXT_RECORD)
            return false;
    }
    memcpy(to->bytes + to->count, bytes, size);
    to->count += size;
    return true;
}

static void put_words(converter *c, text_bytes *to, const char *words)
{
    put_bytes(c, to, words, strlen(words));
}

static void put_separator(converter *c, text_bytes *to)
{
    put_bytes(c, to, &c->separator, 1);
}

/* Puts a character as UTF-8, and a byte as it is. */
static void put_character(converter *c, text_bytes *to, uint32_t character, bool is_byte)
{
    uint8_t bytes[4] = {(uint8_t)character};
    size_t size = 1;
    if (!is_byte && character >= 0x80) {
        size = character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
        for (size_t i = size - 1; i > 0; i--, character >>= 6)
            bytes[i] = (uint8_t)(0x80 | (character & 0x3F));
        bytes[0] = (uint8_t)(0xF00 >> size | character);
    }
    put_bytes(c, to, bytes, size);
}

/* Takes a backslash, if there is one. */
static bool take_backslash(const converter *c, size_t *at, text_part part)
{
    bool is_byte = false;
    size_t next = *at;
    bool is_taken = next < part.end && take_character(c, &next, part.end, part.is_quoted, &is_byte) == '\\';
    *at = is_taken ? next : *at;
    return is_taken;
}

/* Returns the place of the second backslash after the machine of a path: Get-Counter writes \\machine\\counterset for
 * other machines. Returns PFB_NONE if the path has none. */
static size_t find_doubled(const converter *c, text_part path)
{
    bool is_byte = false;
    size_t at = path.begin;
    bool has_machine = take_backslash(c, &at, path);
    bool has_name = false;
    has_machine = has_machine && take_backslash(c, &at, path);
    while (has_machine && at < path.end && !take_backslash(c, &at, path)) {
        take_character(c, &at, path.end, path.is_quoted, &is_byte);
        has_name = true;
    }
    const size_t doubled = at;
    return has_name && take_backslash(c, &at, path) ? doubled : PFB_NONE;
}

/* Puts a part as a cell. Characters that would end the cell or its line are replaced, and the one at `left_out` is left
 * out. */
static void put_cell(converter *c, text_bytes *to, text_part part, size_t left_out)
{
    put_words(c, to, "\"");
    uint32_t before = '"';
    for (size_t at = part.begin; at < part.end && c->step == PFB_NEXT_RECORD;) {
        bool is_byte = false;
        bool is_left_out = at == left_out;
        uint32_t character = take_character(c, &at, part.end, part.is_quoted, &is_byte);
        if (is_left_out)
            continue;
        bool is_end = character == '\n' || character == '\r' || (before == '"' && character == (uint8_t)c->separator) ||
                      character == '\t';
        if (character == '"')
            put_words(c, to, "\"");
        before = character;
        put_character(c, to, is_end ? NO_CHARACTER : character, is_byte);
    }
    put_words(c, to, "\"");
}

static void lose(lost_parts *lost, size_t at)
{
    lost->first = lost->count == 0 ? at : lost->first;
    lost->count++;
}

/* Notes where the next line comes from. */
static void put_place(converter *c, size_t at)
{
    for (; c->line_at < at; c->line_at += c->width)
        c->line += unit_at(c, c->line_at) == '\n';
    const text_place place = {c->state->lines.count, at, c->line};
    put_bytes(c, &c->state->places, &place, sizeof place);
}

/* Puts the time of a row. PowerShell 5 writes /Date(N)/, with milliseconds since 1970 in UTC. Returns false if it is
 * not one of these. */
static bool put_unix_time(converter *c, text_bytes *to, text_part part)
{
    char digits[32] = "";
    size_t count = 0;
    bool is_byte;
    for (size_t at = part.begin; at < part.end && count + 1 < sizeof digits;) {
        uint32_t character = take_character(c, &at, part.end, part.is_quoted, &is_byte);
        digits[count++] = (char)(character < 0x80 ? character : '?');
    }
    static const char first[] = "/Date(";
    const int64_t since_1601 = INT64_C(11644473600000); /* from there to 1970 */
    char *end = NULL;
    if (memcmp(digits, first, sizeof first - 1) != 0)
        return false;
    long long milliseconds = strtoll(digits + sizeof first - 1, &end, 10);
    if (end == digits + sizeof first - 1 || milliseconds < -since_1601 || milliseconds > INT64_C(200000000000000) ||
        (strncmp(end, ")/", 2) != 0 && *end != '+' && *end != '-'))
        return false;
    /* Days since 0000-03-01 in the Gregorian calendar, in which leap days are the last of a year. */
    int64_t days = (milliseconds + since_1601) / 86400000 + 584694;
    int64_t rest = (milliseconds + since_1601) % 86400000;
    int64_t era = days / 146097;
    int64_t day = days % 146097;
    int64_t year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
    day -= 365 * year + year / 4 - year / 100;
    int64_t month = (5 * day + 2) / 153;
    day -= (153 * month + 2) / 5;
    month += month < 10 ? 3 : -9;
    year += 400 * era + (month <= 2);
    char text[64];
    int size =
        snprintf(text, sizeof text, "\"%02d/%02d/%04d %02d:%02d:%02d.%03d\"", (int)month, (int)day + 1, (int)year,
                 (int)(rest / 3600000), (int)(rest / 60000 % 60), (int)(rest / 1000 % 60), (int)(rest % 1000));
    return size > 0 && put_bytes(c, to, text, (size_t)size);
}

/* Ends the row that is being made: puts its line, after a line with its paths unless the row before has the same. */
static void end_row(converter *c)
{
    text_bytes *lines = &c->state->lines;
    bool is_same = c->header_bytes == c->header.count && c->header_bytes > 0 &&
                   memcmp(lines->bytes + c->last_header, c->header.bytes, c->header_bytes) == 0;
    if (!c->has_row)
        return;
    if (!is_same) {
        put_place(c, c->row_at);
        c->last_header = lines->count;
        c->header_bytes = c->header.count;
        put_bytes(c, lines, c->header.bytes, c->header.count);
        put_words(c, lines, "\r\n");
    }
    put_place(c, c->row_at);
    put_bytes(c, lines, c->row.bytes, c->row.count);
    put_words(c, lines, "\r\n");
    c->header.count = c->row.count = 0;
    c->has_row = false;
}

/* Begins a row with a value. Its header is that of a text in UTC if the time is. */
static void begin_row(converter *c, const sample_value *value, uint64_t group, size_t at)
{
    end_row(c);
    c->has_row = true;
    c->row_at = at;
    c->group = group;
    c->time = value->time;
    c->first_path = value->path;
    bool is_utc = put_unix_time(c, &c->row, value->time);
    if (!is_utc)
        put_cell(c, &c->row, value->time, PFB_NONE);
    put_words(c, &c->header, c->separator == '\t' ? "\"(PDH-TSV 4.0)" : "\"(PDH-CSV 4.0)");
    put_words(c, &c->header, is_utc ? " (UTC)(0)\"" : "\"");
}

/* Adds a value. Those of a sample set are a row; without sets, those that have the same time, until the first counter
 * comes again. A status other than 0 and 1 means that there is no value. */
static void add_value(converter *c, const sample_value *value, uint64_t group, size_t at)
{
    c->values++;
    if (!value->has_time) {
        lose(&c->timeless, at);
        return;
    }
    bool is_next =
        !c->has_row || group != c->group ||
        (group == 0 && (!is_same_part(c, value->time, c->time) || is_same_part(c, value->path, c->first_path)));
    if (is_next)
        begin_row(c, value, group, at);
    bool has_status = value->status.end > value->status.begin;
    bool is_valid = !has_status || is_word(c, value->status, "0") || is_word(c, value->status, "1");
    bool is_null =
        value->value.begin == value->value.end || (!value->value.is_quoted && is_word(c, value->value, "null"));
    put_separator(c, &c->header);
    put_cell(c, &c->header, value->path, find_doubled(c, value->path));
    put_separator(c, &c->row);
    if (is_valid && !is_null)
        put_cell(c, &c->row, value->value, PFB_NONE);
    else
        put_words(c, &c->row, "\" \"");
}

/* Adds the values of a text with the Readings of a sample set: for each counter a line of its path and " :", and one of
 * its value. */
static void add_readings(converter *c, text_part readings, text_part time, uint64_t group, size_t place)
{
    sample_value value = {.has_time = true, .time = time};
    const text_part empty = {.is_quoted = true};
    text_part line = readings;
    for (size_t at = readings.begin; line.begin < readings.end && c->step == PFB_NEXT_RECORD;) {
        bool is_byte = false;
        line.end = at;
        uint32_t character = at < readings.end ? take_character(c, &at, readings.end, true, &is_byte) : '\n';
        if (character != '\n' && character != '\r')
            continue;
        const size_t marks = 2 * c->width;
        bool is_path = line.end - line.begin > marks && has_word(c, line.end - marks, line.end, " :");
        if (value.has_path && line.end > line.begin) {
            value.value = is_path ? empty : line;
            add_value(c, &value, group, place);
            value.has_path = false;
        } else if (!is_path && line.end > line.begin) {
            lose(&c->readings, line.begin);
        }
        if (is_path) {
            value.has_path = true;
            value.path = line;
            value.path.end -= marks;
        }
        line.begin = at;
    }
    if (value.has_path) {
        value.value = empty;
        add_value(c, &value, group, place);
    }
}

static bool fail(converter *c, size_t at, const char *problem)
{
    c->state->problem = problem;
    c->state->problem_at = at;
    return false;
}

/* ---- JSON ------------------------------------------------------------------------------------------------ */

typedef enum json_next { NEXT_VALUE, NEXT_VALUE_OR_END, NEXT_KEY, NEXT_KEY_OR_END, NEXT_COLON, NEXT_COMMA } json_next;

/* An object or array that has begun. */
typedef struct json_level {
    bool is_object;
    bool is_time; /* PowerShell 5 may write a time as an object with `value` */
    uint64_t group;
    size_t at;
    text_part key; /* the latest one */
    sample_value value;
    bool has_readings;
    text_part readings;
    uint64_t values_before; /* the number of values when the object began */
} json_level;

typedef struct json_reader {
    converter *c;
    json_level levels[MAX_LEVELS]; /* the first is around all values */
    size_t depth;
    uint64_t groups;
    json_next next;
    size_t at;
} json_reader;

/* Takes the string after its quotation mark. Returns false if it has no end. */
static bool take_string(json_reader *j, text_part *part)
{
    const converter *c = j->c;
    part->begin = j->at;
    part->is_quoted = true;
    for (; j->at < c->size; j->at += c->width) {
        uint32_t unit = unit_at(c, j->at);
        if (unit == '"') {
            part->end = j->at;
            j->at += c->width;
            return true;
        }
        if (unit == '\\' && c->size - j->at > c->width)
            j->at += c->width;
    }
    return false;
}

/* Takes a number, true, false or null, and what PowerShell 5 writes for numbers that are not finite. */
static bool take_bare(json_reader *j, text_part *part)
{
    const converter *c = j->c;
    part->begin = j->at;
    part->is_quoted = false;
    for (; j->at < c->size; j->at += c->width) {
        uint32_t unit = unit_at(c, j->at);
        if (!((unit >= '0' && unit <= '9') || unit == '-' || unit == '+' || unit == '.' ||
              (unit >= 'A' && unit <= 'Z') || (unit >= 'a' && unit <= 'z')))
            break;
    }
    part->end = j->at;
    uint32_t first = part->end > part->begin ? unit_at(c, part->begin) : 0;
    return first == '-' || (first >= '0' && first <= '9') || is_word(c, *part, "true") || is_word(c, *part, "false") ||
           is_word(c, *part, "null") || is_word(c, *part, "NaN") || is_word(c, *part, "Infinity");
}

/* Stores the value of a key that matters. */
static void store_value(json_reader *j, text_part part)
{
    const converter *c = j->c;
    json_level *level = &j->levels[j->depth];
    sample_value *value = &level->value;
    j->next = NEXT_COMMA;
    if (!level->is_object)
        return;
    if (is_word(c, level->key, "Path")) {
        value->has_path = true;
        value->path = part;
    } else if (is_word(c, level->key, "CookedValue")) {
        value->has_value = true;
        value->value = part;
    } else if (is_word(c, level->key, "Status")) {
        value->status = part;
    } else if (is_word(c, level->key, "Readings")) {
        level->has_readings = part.is_quoted;
        level->readings = part;
    } else if (is_word(c, level->key, level->is_time ? "value" : "Timestamp")) {
        value->has_time = part.is_quoted;
        value->time = part;
    }
}

static bool begin_level(json_reader *j, bool is_object)
{
    const converter *c = j->c;
    const json_level *outer = &j->levels[j->depth];
    bool is_samples = outer->is_object && is_word(c, outer->key, "CounterSamples");
    if (j->depth + 1 >= MAX_LEVELS)
        return fail(j->c, j->at, "the JSON text is nested too deeply");
    j->c->has_samples = j->c->has_samples || is_samples;
    j->groups += is_samples;
    j->levels[++j->depth] = (json_level){.is_object = is_object,
                                         .is_time = outer->is_object && is_word(c, outer->key, "Timestamp"),
                                         .group = is_samples ? j->groups : outer->group,
                                         .at = j->at,
                                         .values_before = j->c->values};
    j->next = is_object ? NEXT_KEY_OR_END : NEXT_VALUE_OR_END;
    j->at += c->width;
    return true;
}

/* Ends an object or array. The time of an object without one is that of the object around it. */
static void end_level(json_reader *j)
{
    json_level *level = &j->levels[j->depth--];
    json_level *outer = &j->levels[j->depth];
    sample_value *value = &level->value;
    if (level->is_time && value->has_time) {
        outer->value.has_time = true;
        outer->value.time = value->time;
    }
    if (value->has_path && value->has_value) {
        for (size_t i = j->depth; i > 0 && level->group > 0; i--) {
            if (j->levels[i].value.has_time) { /* that of the sample set */
                value->has_time = true;
                value->time = j->levels[i].value.time;
                break;
            }
        }
        add_value(j->c, value, level->group, level->at);
    } else if (level->has_readings && value->has_time && j->c->values == level->values_before) {
        add_readings(j->c, level->readings, value->time, ++j->groups, level->at);
    }
    j->at += j->c->width;
    j->next = j->depth > 0 ? NEXT_COMMA : NEXT_VALUE;
}

static bool read_value(json_reader *j, uint32_t unit)
{
    text_part part;
    if (unit == '{' || unit == '[')
        return begin_level(j, unit == '{');
    const size_t begin = j->at;
    if (unit == '"') {
        j->at += j->c->width;
        if (!take_string(j, &part))
            return fail(j->c, begin, "the JSON text ends inside a string");
    } else if (!take_bare(j, &part)) {
        return fail(j->c, begin, "the JSON text has something else than a value here");
    }
    store_value(j, part);
    if (j->depth == 0)
        j->next = NEXT_VALUE;
    return true;
}

/* Reads what begins with a unit that is not blank. */
static bool read_token(json_reader *j, uint32_t unit)
{
    converter *c = j->c;
    json_level *level = &j->levels[j->depth];
    bool may_end =
        j->depth > 0 && (j->next == NEXT_COMMA || j->next == NEXT_VALUE_OR_END || j->next == NEXT_KEY_OR_END);
    const size_t begin = j->at;
    if (may_end && unit == (level->is_object ? '}' : ']')) {
        end_level(j);
        return true;
    }
    if (j->next == NEXT_VALUE || j->next == NEXT_VALUE_OR_END)
        return read_value(j, unit);
    j->at += c->width;
    if (j->next == NEXT_COLON && unit == ':') {
        j->next = NEXT_VALUE;
    } else if (j->next == NEXT_COMMA && unit == ',') {
        j->next = level->is_object ? NEXT_KEY : NEXT_VALUE;
    } else if ((j->next == NEXT_KEY || j->next == NEXT_KEY_OR_END) && unit == '"') {
        if (!take_string(j, &level->key))
            return fail(c, begin, "the JSON text ends inside a string");
        j->next = NEXT_COLON;
    } else {
        return fail(c, begin, "the JSON text is malformed here");
    }
    return true;
}

/* Reads JSON texts that follow each other: arrays and objects with samples at any depth. */
static void convert_json(converter *c, size_t at)
{
    json_reader *j = calloc(1, sizeof *j);
    if (!j) {
        c->step = pfb_stream_fail_memory(c->file->input->stream);
        return;
    }
    c->writing = WRITTEN_AS_JSON;
    j->c = c;
    j->at = at;
    bool is_read = true;
    while (is_read && c->step == PFB_NEXT_RECORD && j->at < c->size) {
        uint32_t unit = unit_at(c, j->at);
        if (is_blank(unit))
            j->at += c->width;
        else
            is_read = read_token(j, unit);
    }
    if (is_read && j->depth > 0)
        fail(c, c->size, "the JSON text ends too early");
    end_row(c);
    free(j);
}

/* ---- CSV ------------------------------------------------------------------------------------------------- */

/* Takes the cell at *at, which becomes the offset of what ends it. */
static text_part take_cell(const converter *c, size_t *at, uint32_t separator)
{
    text_part cell = {.begin = *at, .is_quoted = *at < c->size && unit_at(c, *at) == '"'};
    bool is_inside = cell.is_quoted;
    size_t closing = 0;
    cell.begin += cell.is_quoted ? c->width : 0;
    for (*at = cell.begin; *at < c->size; *at += c->width) {
        uint32_t unit = unit_at(c, *at);
        bool is_mark = cell.is_quoted && unit == '"';
        if (is_mark && is_inside)
            closing = *at;
        is_inside = is_inside != is_mark;
        if (!is_inside && (unit == separator || unit == '\n'))
            break;
    }
    size_t end = *at;
    if (!cell.is_quoted && end > cell.begin && unit_at(c, end - c->width) == '\r')
        end -= c->width;
    cell.is_cut = is_inside;
    cell.end = cell.is_quoted && !is_inside ? closing : end;
    return cell;
}

/* Takes the cells of a record, which may have line ends inside of quotation marks. Returns their number. Those after
 * the first MAX_COLUMNS are left out. */
static size_t take_record(const converter *c, size_t *at, uint32_t separator, text_part cells[MAX_COLUMNS])
{
    size_t count = 0;
    bool has_more = *at < c->size;
    while (has_more) {
        text_part cell = take_cell(c, at, separator);
        if (count < MAX_COLUMNS)
            cells[count++] = cell;
        has_more = *at < c->size && unit_at(c, *at) != '\n';
        *at += *at < c->size ? c->width : 0;
    }
    return count;
}

/* Finds the separator after the first cell of the header. */
static uint32_t find_separator(const converter *c, size_t at)
{
    bool is_inside = false;
    for (; at < c->size; at += c->width) {
        uint32_t unit = unit_at(c, at);
        is_inside = is_inside != (unit == '"');
        if (!is_inside && (unit == ',' || unit == ';' || unit == '\t'))
            return unit;
        if (!is_inside && unit == '\n')
            break;
    }
    return ',';
}

/* The columns of Export-Csv that are read. */
enum { PATH, COOKED_VALUE, STATUS, TIMESTAMP, READINGS, NAMES };

/* Finds the columns by their names; MAX_COLUMNS: there is none. Returns false, and leaves them, if the cells are not
 * those of a header. */
static bool find_columns(converter *c, const text_part *cells, size_t count, size_t columns[NAMES])
{
    static const char *const names[NAMES] = {"Path", "CookedValue", "Status", "Timestamp", "Readings"};
    size_t found[NAMES];
    for (size_t k = 0; k < NAMES; k++)
        found[k] = MAX_COLUMNS;
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < NAMES; k++)
            found[k] = is_word(c, cells[i], names[k]) ? i : found[k];
        c->has_samples = c->has_samples || is_word(c, cells[i], "CounterSamples");
    }
    bool is_header =
        (found[PATH] < count && found[COOKED_VALUE] < count) || (found[TIMESTAMP] < count && found[READINGS] < count);
    if (is_header)
        memcpy(columns, found, sizeof found);
    return is_header;
}

/* Returns true for an empty line, for one of separators only, as Excel writes, and for a line #TYPE. */
static bool has_no_values(const converter *c, const text_part *cells, size_t count)
{
    bool is_empty = true;
    for (size_t i = 0; i < count; i++)
        is_empty = is_empty && cells[i].begin == cells[i].end;
    return is_empty || has_word(c, cells[0].begin, cells[0].end, "#TYPE");
}

/* Adds the value of a record, or those of its readings. The record begins at `begin`. */
static void add_record(converter *c, const text_part *cells, size_t count, const size_t columns[NAMES], size_t begin)
{
    const bool has_readings = columns[PATH] == MAX_COLUMNS || columns[COOKED_VALUE] == MAX_COLUMNS;
    if (has_no_values(c, cells, count))
        return;
    if (has_readings && columns[TIMESTAMP] < count && columns[READINGS] < count) {
        add_readings(c, cells[columns[READINGS]], cells[columns[TIMESTAMP]], ++c->sets, begin);
    } else if (!has_readings && columns[PATH] < count && columns[COOKED_VALUE] < count) {
        sample_value value = {.path = cells[columns[PATH]], .value = cells[columns[COOKED_VALUE]]};
        value.has_time = columns[TIMESTAMP] < count;
        if (value.has_time)
            value.time = cells[columns[TIMESTAMP]];
        if (columns[STATUS] < count)
            value.status = cells[columns[STATUS]];
        add_value(c, &value, 0, begin);
    } else {
        lose(&c->records, begin);
    }
}

/* Reads the records of Export-Csv, one for each value or, with readings, one for each sample set. Joined files have
 * further headers, whose columns are those of the records after them. */
static void convert_csv(converter *c, size_t at)
{
    text_part *cells = calloc(MAX_COLUMNS, sizeof *cells);
    size_t columns[NAMES];
    if (!cells) {
        c->step = pfb_stream_fail_memory(c->file->input->stream);
        return;
    }
    c->writing = WRITTEN_AS_CSV;
    if (has_word(c, at, c->size, "#TYPE"))
        take_record(c, &at, 0, cells);
    const uint32_t separator = find_separator(c, at);
    c->separator = separator == ';' ? ';' : '\t'; /* semicolons are a sign of decimal commas */
    size_t count = take_record(c, &at, separator, cells);
    const bool is_header = find_columns(c, cells, count, columns);
    while (at < c->size && c->step == PFB_NEXT_RECORD && is_header) {
        const size_t begin = at;
        count = take_record(c, &at, separator, cells);
        if (count > 0 && cells[count - 1].is_cut) {
            fail(c, begin, "the CSV text ends inside a cell");
            break;
        }
        if (!find_columns(c, cells, count, columns))
            add_record(c, cells, count, columns, begin);
    }
    end_row(c);
    free(cells);
}

/* ---- HTML ------------------------------------------------------------------------------------------------ */

/* Returns true if the magic of any version is at `at`: another one than 4.0 is then malformed, not left out. */
static bool is_magic(const converter *c, size_t at)
{
    const size_t version = at + 9 * c->width;
    return (has_word(c, at, c->size, "(PDH-CSV ") || has_word(c, at, c->size, "(PDH-TSV ")) && version < c->size &&
           unit_at(c, version) >= '0' && unit_at(c, version) <= '9';
}

/* Returns where the section begins that begins with the magic at `at`; PFB_NONE if other text precedes it. */
static size_t find_section(const converter *c, size_t at)
{
    static const char quotation[] = "&quot;";
    const size_t size = (sizeof quotation - 1) * c->width;
    size_t begin = at;
    if (begin >= size && has_word(c, begin - size, begin, quotation))
        begin -= size;
    else if (begin >= c->width && unit_at(c, begin - c->width) == '"')
        begin -= c->width;
    size_t before = begin;
    while (before >= c->width && is_blank(unit_at(c, before - c->width)))
        before -= c->width;
    uint32_t last = before >= c->width ? unit_at(c, before - c->width) : 0;
    return last == '>' || last == '[' ? begin : PFB_NONE;
}

/* Puts the lines of a section up to the tag that ends it. Returns where that is. */
static size_t put_section(converter *c, size_t at)
{
    bool is_line = false;
    c->row_at = at;
    while (at < c->size && c->step == PFB_NEXT_RECORD && !has_word(c, at, c->size, "</") &&
           !has_word(c, at, c->size, "]]>")) {
        const size_t begin = at;
        bool is_byte = false;
        bool is_break = has_word(c, at, c->size, "<br") || has_word(c, at, c->size, "<BR");
        uint32_t character = take_character(c, &at, c->size, false, &is_byte);
        while (is_break && at < c->size && unit_at(c, at - c->width) != '>')
            at += c->width;
        character = is_break ? '\n' : character;
        if (!is_line)
            put_place(c, begin);
        is_line = character != '\n';
        put_character(c, &c->state->lines, character, is_byte);
    }
    if (is_line)
        put_words(c, &c->state->lines, "\n");
    return at;
}

static void convert_html(converter *c, size_t at)
{
    c->writing = WRITTEN_AS_HTML;
    while (at < c->size && c->step == PFB_NEXT_RECORD) {
        size_t begin = is_magic(c, at) ? find_section(c, at) : PFB_NONE;
        if (begin == PFB_NONE)
            at += c->width;
        else
            at = put_section(c, begin);
    }
}

/* ---- The format ------------------------------------------------------------------------------------------ */

/* Returns the first character that is not blank, and its place in *at. */
static uint32_t first_character(const converter *c, size_t *at)
{
    while (*at < c->size && is_blank(unit_at(c, *at)))
        *at += c->width;
    return *at < c->size ? unit_at(c, *at) : 0;
}

/* Returns true if one of the words is in the file, from `at` on. */
static bool finds_word(const converter *c, size_t at, const char *word)
{
    for (; at < c->size; at += c->width) {
        if (unit_at(c, at) == (uint8_t)word[0] && has_word(c, at, c->size, word))
            return true;
    }
    return false;
}

/* Returns true if the first line, or the one after #TYPE, has the columns of samples or sample sets. */
static bool is_samples_csv(const converter *c, size_t at)
{
    text_part cells[MAX_COLUMNS];
    bool has_time = false, has_values = false, has_readings = false;
    if (has_word(c, at, c->size, "#TYPE"))
        take_record(c, &at, 0, cells);
    const size_t count = take_record(c, &at, find_separator(c, at), cells);
    for (size_t i = 0; i < count; i++) {
        has_time = has_time || is_word(c, cells[i], "Timestamp");
        has_values = has_values || is_word(c, cells[i], "CookedValue") || is_word(c, cells[i], "CounterSamples");
        has_readings = has_readings || is_word(c, cells[i], "Readings");
    }
    return has_values || (has_time && has_readings);
}

const char *pfb_format_samples_recognise(const uint8_t *data, size_t available)
{
    converter c = {.data = data, .size = available, .width = 1};
    if (available == 0)
        return NULL;
    size_t at = find_encoding(&c);
    uint32_t first = first_character(&c, &at);
    if ((first == '{' || first == '[') &&
        (finds_word(&c, at, "\"CookedValue\"") || finds_word(&c, at, "\"CounterSamples\"") ||
         (finds_word(&c, at, "\"Readings\"") && finds_word(&c, at, "\"Timestamp\""))))
        return "has samples of Get-Counter as JSON";
    for (size_t i = at; first == '<' && i < c.size; i += c.width) {
        if (unit_at(&c, i) == '(' && is_magic(&c, i) && find_section(&c, i) != PFB_NONE)
            return "is a page with a perfmon log in text (PDH CSV or TSV)";
    }
    return is_samples_csv(&c, at) ? "has samples of Get-Counter as CSV" : NULL;
}

/* Reads the rest of the file. */
static int32_t read_file(file_input *file)
{
    stream_window *window = &file->window;
    int32_t step = PFB_NEXT_RECORD;
    while (step == PFB_NEXT_RECORD && !window->is_last)
        step = window->is_waiting ? pfb_window_resume(window) : pfb_window_more(window, 0, 0);
    bool has_ended = step == PFB_NEXT_END && !file->bytes.has_failed; /* a file that is still being written */
    return has_ended ? PFB_NEXT_RECORD : step;
}

/* Why nothing was converted. */
static const char *reason_of(const converter *c)
{
    if (c->state->problem)
        return c->state->problem;
    if (c->timeless.count > 0)
        return "the values have no Timestamp: export it together with Path and CookedValue";
    if (c->has_samples && c->writing == WRITTEN_AS_CSV)
        return "the file has sample sets without their values: export their CounterSamples, as with "
               "\"ForEach-Object CounterSamples | Export-Csv\"";
    return c->writing == WRITTEN_AS_JSON
               ? "the file has no samples with Path and CookedValue: ConvertTo-Json needs -Depth 4 for sample sets"
               : "the file has no samples with Path and CookedValue";
}

static void report(file_input *file, const char *sentence, uint64_t offset)
{
    const pfb_problem problem = {.kind = PFB_PROBLEM_ERROR,
                                 .code = PFB_UNKNOWN_FORMAT,
                                 .file = file->input->number,
                                 .term = -1,
                                 .has_offset = 1,
                                 .offset = offset};
    file->is_incomplete = true;
    pfb_stream_report(file->input->stream, &problem, "%s", sentence);
}

static void note_lost(const converter *c, const lost_parts *lost, const char *what)
{
    uint64_t line = 1;
    for (size_t at = 0; at < lost->first; at += c->width)
        line += unit_at(c, at) == '\n';
    pfb_file_lost(c->file, lost->count, line, what);
}

/* Converts the file, and makes the window that of the text. */
static int32_t convert(file_input *file)
{
    samples_state *state = file->state;
    converter c = {.file = file,
                   .state = state,
                   .step = PFB_NEXT_RECORD,
                   .data = file->window.data,
                   .size = file->window.size,
                   .width = 1,
                   .separator = '\t',
                   .line = 1};
    size_t at = find_encoding(&c);
    c.line_at = at;
    uint32_t first = first_character(&c, &at);
    if (first == '{' || first == '[')
        convert_json(&c, at);
    else if (first == '<')
        convert_html(&c, at);
    else
        convert_csv(&c, at);
    pfb_stream_release(file->input->stream, &c.header.bytes, &c.header.capacity);
    pfb_stream_release(file->input->stream, &c.row.bytes, &c.row.capacity);
    if (c.step == PFB_NEXT_RECORD && state->lines.count == 0) {
        report(file, reason_of(&c), state->problem_at);
        return PFB_NEXT_END;
    }
    if (c.step != PFB_NEXT_RECORD)
        return c.step;
    note_lost(&c, &c.timeless, "values without Timestamp were left out");
    note_lost(&c, &c.readings, "lines of Readings that are no values were left out");
    note_lost(&c, &c.records, "records without all cells were left out");
    state->window = file->window;
    state->source =
        (byte_source){.input = file->input, .memory = state->lines.bytes, .size = state->lines.count, .can_seek = true};
    state->text.places = (const text_place *)(const void *)state->places.bytes;
    state->text.place_count = state->places.count / sizeof(text_place);
    state->is_converted = true;
    return pfb_window_open(&file->window, &state->source);
}

static int32_t open_samples(file_input *file)
{
    const samples_state *state = file->state;
    int32_t step = PFB_NEXT_RECORD;
    if (!state->is_converted) {
        step = read_file(file);
        step = step == PFB_NEXT_RECORD ? convert(file) : step;
    }
    return step == PFB_NEXT_RECORD ? pfb_format_text.open(file) : step;
}

static int32_t next_of_samples(file_input *file, pfb_record *record)
{
    samples_state *state = file->state;
    int32_t step = pfb_format_text.next(file, record);
    if (step == PFB_NEXT_END && state->problem && !state->is_reported) {
        state->is_reported = true;
        report(file, state->problem, state->problem_at);
    }
    return step;
}

static void close_samples(file_input *file)
{
    samples_state *state = file->state;
    pfb_stream *stream = file->input->stream;
    if (state->is_converted)
        file->window = state->window;
    pfb_stream_release(stream, &state->lines.bytes, &state->lines.capacity);
    pfb_stream_release(stream, &state->places.bytes, &state->places.capacity);
}

const stream_format pfb_format_samples = {
    .open = open_samples, .next = next_of_samples, .close = close_samples, .state_bytes = sizeof(samples_state)};
