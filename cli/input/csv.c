/* SPDX-License-Identifier: MIT */
#include "input/csv.h"

#include "memory/memory.h"
#include "os/system.h"
#include "output/diagnostics.h"
#include "output/stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- Bytes ----------------------------------------------------------------------------------------------- */

/* The size of the window: the largest record, and as much for bytes that are read after it. */
#define WINDOW_BYTES (2 * CSV_MAX_RECORD_BYTES)

/* Moves the current record and the bytes after it to the front of the window. */
static void move_record_to_front(csv_reader *r)
{
    size_t start = r->start;
    if (start == 0)
        return;
    memmove(r->bytes, r->bytes + start, r->end - start);
    r->base += start;
    r->start = 0;
    r->at -= start;
    r->end -= start;
}

/* Reads more bytes into the window. The current record stays in it and takes at most half of it. False at the end of
 * the file and after an error. */
static bool fetch(csv_reader *r)
{
    if (r->has_ended)
        return false;
    move_record_to_front(r);
    stream_flush();
    r->has_stopped = stream_failed();
    long long read_size = r->has_stopped ? 0 : system_read(r->file, r->bytes + r->end, WINDOW_BYTES - r->end);
    if (read_size < 0) {
        diagnostics_file(r->name, errno);
        r->has_stopped = true;
    }
    r->has_ended = read_size <= 0;
    if (read_size > 0)
        r->end += (size_t)read_size;
    return !r->has_ended;
}

static void skip_byte_order_mark(csv_reader *r)
{
    static const char byte_order_mark[] = {'\xEF', '\xBB', '\xBF'};
    while (r->end < sizeof byte_order_mark && fetch(r)) {
    }
    if (r->end >= sizeof byte_order_mark && memcmp(r->bytes, byte_order_mark, sizeof byte_order_mark) == 0)
        r->start = r->at = sizeof byte_order_mark;
}

bool csv_open(csv_reader *r, const char *name)
{
    *r = (csv_reader){.name = name, .line = 1};
    bool is_standard = strcmp(name, "-") == 0;
    r->file = is_standard ? SYSTEM_INPUT : system_read_open(name);
    if (r->file < 0) {
        diagnostics_file(name, errno);
        return false;
    }
    r->bytes = memory_get(WINDOW_BYTES, 1);
    r->text = memory_get(CSV_MAX_RECORD_BYTES, 1);
    skip_byte_order_mark(r);
    return true;
}

void csv_close(csv_reader *r)
{
    if (r->file != SYSTEM_INPUT)
        system_read_close(r->file);
    free(r->bytes);
    free(r->text);
    free(r->cells);
}

/* ---- Cells ----------------------------------------------------------------------------------------------- */

static void open_cell(csv_reader *r)
{
    r->cells = memory_grow(r->cells, &r->capacity, r->count + 1, sizeof *r->cells);
    r->cells[r->count++] = (csv_cell){.text = r->text + r->text_size, .offset = r->base + r->at};
}

/* Adds bytes of the record to the current cell. */
static void add_text(csv_reader *r, const char *bytes, size_t size)
{
    memcpy(r->text + r->text_size, bytes, size);
    r->text_size += size;
    r->cells[r->count - 1].size += size;
}

csv_cell csv_trim(csv_cell cell)
{
    while (cell.size > 0 && (cell.text[0] == ' ' || cell.text[0] == '\t')) {
        cell.text++;
        cell.size--;
    }
    while (cell.size > 0 && (cell.text[cell.size - 1] == ' ' || cell.text[cell.size - 1] == '\t'))
        cell.size--;
    return cell;
}

/* ---- Scanning -------------------------------------------------------------------------------------------- */

/* The state of the scanner: where in a record the next byte is. */
enum {
    AT_CELL, /* before the first byte of a cell */
    IN_CELL,
    IN_QUOTES,
    AFTER_QUOTE,  /* after a quotation mark that ends the cell or is the first of a doubled one */
    AFTER_RETURN, /* after a CR that follows a cell in quotation marks */
    AT_END
};

static const char nul_fault[] = "this cell contains a NUL byte; the text must be UTF-8, not UTF-16";

/* Moves past the byte that ends a cell: a comma or LF. */
static void end_cell(csv_reader *r, char byte)
{
    r->at++;
    r->state = byte == ',' ? AT_CELL : AT_END;
    if (byte == '\n')
        r->breaks++;
}

/* Reads a cell without quotation marks, but no byte at or after `limit`. */
static void scan_plain(csv_reader *r, size_t limit)
{
    const char *bytes = r->bytes;
    size_t start = r->at;
    size_t at = start;
    while (at < limit && bytes[at] != ',' && bytes[at] != '\n' && bytes[at] != '"' && bytes[at] != '\0')
        at++;
    add_text(r, bytes + start, at - start);
    r->at = at;
    if (at == limit)
        return;
    csv_cell *cell = &r->cells[r->count - 1];
    if (bytes[at] == '\0') {
        r->fault = nul_fault;
    } else if (bytes[at] == '"') {
        r->fault = "this cell contains a quotation mark but does not begin with one";
    } else {
        if (bytes[at] == '\n' && cell->size > 0 && cell->text[cell->size - 1] == '\r')
            cell->size--;
        end_cell(r, bytes[at]);
    }
}

/* Reads a cell up to its next quotation mark, but no byte at or after `limit`. */
static void scan_quoted(csv_reader *r, size_t limit)
{
    const char *bytes = r->bytes;
    size_t start = r->at;
    size_t at = start;
    for (; at < limit && bytes[at] != '"' && bytes[at] != '\0'; at++)
        r->breaks += bytes[at] == '\n';
    add_text(r, bytes + start, at - start);
    r->at = at;
    if (at == limit)
        return;
    if (bytes[at] == '\0') {
        r->fault = nul_fault;
        return;
    }
    r->state = AFTER_QUOTE;
    r->at++;
}

/* Handles a byte in the states AFTER_QUOTE and AFTER_RETURN. */
static void scan_after_quote(csv_reader *r)
{
    char byte = r->bytes[r->at];
    bool is_after_return = r->state == AFTER_RETURN;
    if (byte == '\n' || (byte == ',' && !is_after_return)) {
        end_cell(r, byte);
    } else if (byte == '\r' && !is_after_return) {
        r->state = AFTER_RETURN;
        r->at++;
    } else if (byte == '"' && !is_after_return) {
        add_text(r, "\"", 1);
        r->state = IN_QUOTES;
        r->at++;
    } else {
        r->fault = "expected a comma or the end of the line after the closing quotation mark";
    }
}

/* Scans the bytes in the window, up to the end of the record, a fault in it, or its largest size. */
static void scan(csv_reader *r)
{
    size_t remaining = CSV_MAX_RECORD_BYTES - (r->at - r->start);
    size_t limit = r->end - r->at > remaining ? r->at + remaining : r->end;
    while (r->at < limit && r->state != AT_END && !r->fault) {
        if (r->state == AT_CELL) {
            bool is_quoted = r->bytes[r->at] == '"';
            open_cell(r);
            r->has_quotes |= is_quoted;
            r->at += is_quoted;
            r->state = is_quoted ? IN_QUOTES : IN_CELL;
        } else if (r->state == IN_CELL) {
            scan_plain(r, limit);
        } else if (r->state == IN_QUOTES) {
            scan_quoted(r, limit);
        } else {
            scan_after_quote(r);
        }
    }
}

/* Ends the last record, which has no line break. */
static void end_record_at_end_of_file(csv_reader *r)
{
    if (r->state == AT_CELL)
        open_cell(r);
    if (r->state == IN_QUOTES)
        r->fault = "the quotation mark that opens this cell is not closed";
    r->state = AT_END;
}

/* ---- Records --------------------------------------------------------------------------------------------- */

/* Skips the line in which the record begins. False if the file ends in it. */
static bool skip_line(csv_reader *r)
{
    const char *line_break = NULL;
    do {
        const char *start = r->bytes + r->start;
        line_break = memchr(start, '\n', r->end - r->start);
        r->start = line_break ? (size_t)(line_break + 1 - r->bytes) : r->end;
        r->at = r->start;
    } while (!line_break && fetch(r));
    r->line++;
    return line_break != NULL;
}

/* Moves to the next record. After a malformed record, that is the line after the one in which the record begins. False
 * if there is none. */
static bool begin_record(csv_reader *r)
{
    if (r->fault && !skip_line(r))
        return false;
    if (!r->fault)
        r->line += r->breaks;
    r->start = r->at;
    r->count = r->text_size = 0;
    r->breaks = 0;
    r->fault = NULL;
    r->has_quotes = false;
    r->state = AT_CELL;
    if (r->at == r->end && !fetch(r))
        return false;
    r->offset = r->base + r->start;
    return true;
}

/* Blank lines are skipped: they would count as rows with one empty cell. */
static bool is_blank(const csv_reader *r)
{
    return r->count == 1 && !r->has_quotes && csv_trim(r->cells[0]).size == 0;
}

/* Scans more of the current record. False if reading the file or writing to standard output failed. */
static bool advance(csv_reader *r)
{
    bool has_more = r->at < r->end || fetch(r);
    if (r->has_stopped)
        return false;
    if (!has_more)
        end_record_at_end_of_file(r);
    else if (r->at - r->start < CSV_MAX_RECORD_BYTES)
        scan(r);
    else if (r->state == IN_QUOTES)
        r->fault = "the quotation mark that opens this cell is not closed within 65536 bytes of the row";
    else
        r->fault = "the row is longer than 65536 bytes";
    return true;
}

bool csv_next(csv_reader *r)
{
    do {
        if (!begin_record(r))
            return false;
        while (r->state != AT_END && !r->fault) {
            if (!advance(r))
                return false;
        }
    } while (!r->fault && is_blank(r));
    return true;
}
