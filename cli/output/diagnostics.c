/* SPDX-License-Identifier: MIT */
#include "output/diagnostics.h"

#include "os/system.h"
#include "output/stream.h"
#include "output/text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- Status ---------------------------------------------------------------------------------------------- */

static bool raised[STATUS_COUNT]; /* the statuses that occurred */
static bool hides_notes;          /* --quiet: notes and progress are not printed */
static bool is_muted;
static buffer muted[STATUS_COUNT]; /* the first error of each status that was not printed */

static void raise_status(exit_status status)
{
    raised[status] = raised[status] || !is_muted;
}

exit_status diagnostics_status(void)
{
    static const exit_status order[] = {STATUS_USAGE, STATUS_IMPOSSIBLE, STATUS_FILE, STATUS_MALFORMED};
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
        if (raised[order[i]])
            return order[i];
    }
    return STATUS_FINE;
}

void diagnostics_quiet(bool is_quiet)
{
    hides_notes = is_quiet;
}

void diagnostics_mute(bool is_mute)
{
    is_muted = is_mute;
}

/* ---- Lines ----------------------------------------------------------------------------------------------- */

static buffer *copies; /* receives a copy of each line; null: no copies are made */

void diagnostics_copy_to(buffer *lines)
{
    copies = lines;
}

/* Starts a line with its subject. */
static void begin_line(buffer *line, const char *subject)
{
    text_safe(line, subject, strlen(subject));
    buffer_string(line, ": ");
}

/* Writes whole lines with one call, so that lines of several programs do not mix. */
static void print_lines(const buffer *lines)
{
    progress_clear();
    stream_flush();
    fwrite(lines->data, 1, lines->size, stderr);
    if (copies)
        buffer_bytes(copies, lines->data, lines->size);
}

/* Prints a line, or stores the first one of its status while muted, and raises the status. */
static void end_line(buffer *line, exit_status status)
{
    buffer_string(line, "\n");
    if (!is_muted)
        print_lines(line);
    else if (status != STATUS_FINE && muted[status].size == 0)
        buffer_bytes(&muted[status], line->data, line->size);
    buffer_free(line);
    raise_status(status);
}

void diagnostics_end_muted(void)
{
    for (exit_status status = STATUS_FINE; status < STATUS_COUNT; status++) {
        if (muted[status].size > 0 && !raised[status]) {
            print_lines(&muted[status]);
            raise_status(status);
        }
        buffer_free(&muted[status]);
    }
}

void diagnostics_malformed(const char *file, pfb_error error)
{
    diagnostics_input(file, error.offset, pfb_code_name(error.code), "%s", pfb_code_text(error.code));
}

void diagnostics_input(const char *file, uint64_t offset, const char *code, const char *format, ...)
{
    buffer line = {0};
    va_list arguments;
    begin_line(&line, file);
    buffer_format(&line, "offset %" PRIu64 ": %s: ", offset, code);
    va_start(arguments, format);
    buffer_format_list(&line, format, arguments);
    va_end(arguments);
    end_line(&line, STATUS_MALFORMED);
}

void diagnostics_file(const char *file, int number)
{
    diagnostics_say(STATUS_FILE, file, "%s", strerror(number));
}

void diagnostics_say(exit_status status, const char *subject, const char *format, ...)
{
    buffer line = {0};
    buffer sentence = {0};
    va_list arguments;
    if (status == STATUS_FINE && hides_notes)
        return;
    va_start(arguments, format);
    buffer_format_list(&sentence, format, arguments);
    va_end(arguments);
    begin_line(&line, subject);
    text_safe(&line, sentence.data, sentence.size);
    end_line(&line, status);
    buffer_free(&sentence);
}

void diagnostics_note(const char *file, uint64_t offset, const char *format, ...)
{
    buffer line = {0};
    va_list arguments;
    if (hides_notes)
        return;
    begin_line(&line, file);
    buffer_format(&line, "offset %" PRIu64 ": note: ", offset);
    va_start(arguments, format);
    buffer_format_list(&line, format, arguments);
    va_end(arguments);
    end_line(&line, STATUS_FINE);
}

/* ---- Progress -------------------------------------------------------------------------------------------- */

/* Nanoseconds before progress is first shown, and between its updates. */
#define FIRST_DELAY UINT64_C(1000000000)
#define MIN_INTERVAL UINT64_C(200000000)

static struct {
    bool is_on;           /* progress is shown when it is due */
    bool is_shown;        /* the line is on the terminal */
    bool shares_terminal; /* standard output is a terminal */
    uint64_t next;        /* the time at which the line is next due */
    const char *file;     /* the file that is being read */
    uint64_t begun;       /* the time at which the program began to read it */
} progress;

void progress_begin(bool prints_little)
{
    progress.shares_terminal = system_is_terminal(SYSTEM_OUTPUT);
    progress.is_on = !hides_notes && system_is_terminal(SYSTEM_ERROR) && (prints_little || !progress.shares_terminal);
    progress.begun = system_now();
    progress.next = progress.begun + FIRST_DELAY;
    progress.file = NULL;
}

/* Appends the total size, the percentage and the time left: " of 45.6 MB, 27 %, 1:05 left". */
static void put_rest(buffer *line, uint64_t done, uint64_t total, uint64_t elapsed)
{
    double left = (double)elapsed / 1e9 * (double)(total - done) / (double)done;
    buffer_format(line, " of %.1f MB, %.0f %%", (double)total / 1e6, 100.0 * (double)done / (double)total);
    if (left < 1e6) { /* 11 days; the limit also keeps the conversion to unsigned defined */
        unsigned seconds = (unsigned)left + 1;
        buffer_format(line, ", %u:%02u left", seconds / 60, seconds % 60);
    }
}

void progress_show(const char *file, uint64_t done, uint64_t total)
{
    enum { LONGEST_NAME = 50 };
    uint64_t now = progress.is_on ? system_now() : 0;
    if (progress.is_on && progress.file != file) {
        progress.begun = progress.file ? now : progress.begun;
        progress.file = file;
    }
    if (!progress.is_on || now < progress.next)
        return;
    buffer line = {0};
    text_safe_cut(&line, file, strlen(file), LONGEST_NAME);
    buffer_format(&line, ": %.1f", (double)done / 1e6);
    if (done > 0 && done <= total)
        put_rest(&line, done, total, now - progress.begun);
    else
        buffer_string(&line, " MB");
    fprintf(stderr, "\r\033[K%s", line.data);
    fflush(stderr);
    buffer_free(&line);
    progress.is_shown = true;
    progress.next = now + MIN_INTERVAL;
}

void progress_count(const char *file, uint64_t samples, uint64_t bytes, bool is_end)
{
    enum { LONGEST_NAME = 50 };
    uint64_t now = progress.is_on ? system_now() : 0;
    bool is_due = !progress.is_shown || now >= progress.next || is_end;
    if (!progress.is_on || !is_due)
        return;
    buffer line = {0};
    text_safe_cut(&line, file, strlen(file), LONGEST_NAME);
    fprintf(stderr, "\r\033[K%s: %" PRIu64 " sample%s, %.1f MB%s", line.data, samples, samples == 1 ? "" : "s",
            (double)bytes / 1e6, is_end ? "\n" : "");
    fflush(stderr);
    buffer_free(&line);
    progress.is_shown = !is_end;
    progress.next = now + MIN_INTERVAL;
}

void progress_clear(void)
{
    if (!progress.is_shown)
        return;
    fputs("\r\033[K", stderr);
    fflush(stderr);
    progress.is_shown = false;
}

void progress_yield(void)
{
    if (progress.shares_terminal)
        progress_clear();
}
