/* SPDX-License-Identifier: MIT */
#include "output/screen.h"

#include "os/system.h"

#include <string.h>

/* A frame begins at the top left. While it is written, the cursor is hidden and wrapping is off, so that the terminal
 * cuts lines that are too long. */
#define BEGIN_FRAME "\033[?25l\033[?7l\033[H"
#define END_FRAME "\033[?7h\033[?25h"
#define CLEAR_LINE "\033[K"
#define CLEAR_BELOW "\033[J"

static bool has_frame; /* the terminal shows a frame */

static size_t count_lines(const buffer *lines)
{
    size_t count = 0;
    for (size_t i = 0; i < lines->size; i++)
        count += lines->data[i] == '\n';
    return count;
}

/* The number of columns of a line, not counting the control sequences for bold text: ESC [ digits m. */
static size_t visible_columns(const char *line, size_t size)
{
    size_t columns = 0;
    size_t start = 0;
    for (size_t at = 0; at < size; at++) {
        if (line[at] != '\033')
            continue;
        columns += text_columns(line + start, at - start);
        while (at < size && line[at] != 'm')
            at++;
        start = at < size ? at + 1 : size;
    }
    return columns + text_columns(line + start, size - start);
}

/* Appends a line and clears the rest of its row. A line that fills the row is not cleared: the cursor is still on its
 * last character, which CLEAR_LINE would remove. */
static void put_line(buffer *out, const char *line, size_t size, size_t columns)
{
    buffer_bytes(out, line, size);
    if (visible_columns(line, size) < columns)
        buffer_string(out, CLEAR_LINE);
    buffer_string(out, "\n");
}

/* Before the first frame, scrolls up what the terminal shows, so that the frame does not overwrite it. */
static void make_space(buffer *out, size_t rows)
{
    for (size_t i = 1; i < rows && !has_frame; i++)
        buffer_string(out, "\n");
    has_frame = true;
}

void screen_compose(buffer *out, const buffer *lines)
{
    size_t columns = system_columns();
    size_t rows = system_rows();
    size_t capacity = rows - 1; /* the last row is for the cursor and messages */
    size_t total = count_lines(lines);
    size_t shown = total <= capacity ? total : capacity - 1;
    const char *at = lines->data;
    make_space(out, rows);
    buffer_string(out, BEGIN_FRAME);
    for (size_t i = 0; i < shown; i++) {
        const char *end = memchr(at, '\n', lines->size - (size_t)(at - lines->data));
        put_line(out, at, (size_t)(end - at), columns);
        at = end + 1;
    }
    if (shown < total) {
        buffer more = {0};
        buffer fitting = {0};
        buffer_format(&more, "%zu more lines: the terminal has %zu rows", total - shown, rows);
        text_cut(&fitting, more.data, more.size, columns);
        put_line(out, fitting.data, fitting.size, columns);
        buffer_free(&more);
        buffer_free(&fitting);
    }
    buffer_string(out, CLEAR_BELOW END_FRAME);
}

void screen_leave(buffer *out)
{
    if (has_frame && system_interrupted())
        buffer_string(out, END_FRAME "\n"); /* on ^C the terminal may have discarded the end of a frame */
    has_frame = false;
}
