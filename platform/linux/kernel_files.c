/* SPDX-License-Identifier: MIT */
#include "kernel_files.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* ---- Reading ------------------------------------------------------------------------------------------ */

enum {
    LEAST_READ_BYTES = 16 * 1024,
    LARGEST_FILE_BYTES = 512 * 1024 * 1024 /* /proc/interrupts of 4096 CPUs with some thousand rows is half of it */
};

static int read_open(int file, pfb_bytes *text)
{
    for (;;) {
        if (text->size_bytes > LARGEST_FILE_BYTES)
            return EFBIG;
        if (text->capacity_bytes - text->size_bytes < LEAST_READ_BYTES &&
            !pfb_bytes_reserve(text, text->size_bytes + LEAST_READ_BYTES))
            return ENOMEM;
        ssize_t got = read(file, text->data + text->size_bytes, text->capacity_bytes - text->size_bytes);
        if (got == 0)
            return 0;
        if (got > 0)
            text->size_bytes += (size_t)got;
        else if (errno != EINTR)
            return errno;
    }
}

int pfb_kernel_read(const char *path, pfb_bytes *text)
{
    text->size_bytes = 0;
    int file;
    do
        file = open(path, O_RDONLY | O_CLOEXEC);
    while (file < 0 && errno == EINTR);
    if (file < 0)
        return errno;
    int error = read_open(file, text);
    close(file);
    return error;
}

/* ---- Words and numbers -------------------------------------------------------------------------------- */

typedef struct span {
    const char *at;
    const char *end;
} span;

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static void skip_blanks(span *s)
{
    while (s->at < s->end && (*s->at == ' ' || *s->at == '\t'))
        s->at++;
}

/* True when `word` stands next; the span then begins behind it. */
static bool take_word(span *s, const char *word)
{
    size_t size = strlen(word);
    if ((size_t)(s->end - s->at) < size || memcmp(s->at, word, size) != 0)
        return false;
    s->at += size;
    return true;
}

/* The digits that stand next. Too large a number counts as the largest there is. */
static bool take_number(span *s, uint64_t *number)
{
    if (s->at == s->end || !is_digit(*s->at))
        return false;
    uint64_t value = 0;
    for (; s->at < s->end && is_digit(*s->at); s->at++) {
        uint64_t digit = (uint64_t)(*s->at - '0');
        value = value > (UINT64_MAX - digit) / 10 ? UINT64_MAX : value * 10 + digit;
    }
    *number = value;
    return true;
}

/* Blanks, then a number of at most `most`. */
static bool take_id(span *s, uint32_t most, uint32_t *id)
{
    uint64_t number;
    skip_blanks(s);
    if (!take_number(s, &number) || number > most)
        return false;
    *id = (uint32_t)number;
    return true;
}

static bool take_line(pfb_kernel_text *text, span *line)
{
    if (text->at >= text->size)
        return false;
    line->at = text->text + text->at;
    const char *newline = memchr(line->at, '\n', text->size - text->at);
    line->end = newline ? newline : text->text + text->size;
    text->at = (size_t)(line->end - text->text) + (newline ? 1 : 0);
    return true;
}

/* ---- Texts ---------------------------------------------------------------------------------------------- */

bool pfb_kernel_next_times(pfb_kernel_text *text, pfb_kernel_times *times)
{
    span line;
    while (take_line(text, &line)) {
        uint64_t number;
        pfb_kernel_times read = {0};
        uint64_t *const fields[] = {&read.user,   &read.nice, &read.system, &read.idle,
                                    &read.iowait, &read.irq,  &read.softirq};
        enum { FIELDS = sizeof fields / sizeof fields[0] };
        if (!take_word(&line, "cpu") || !take_number(&line, &number) || number > PFB_KERNEL_CPU_MAX ||
            (text->has_cpu && number <= text->cpu))
            continue;
        size_t i = 0;
        for (skip_blanks(&line); i < FIELDS && take_number(&line, fields[i]); i++)
            skip_blanks(&line);
        if (i < FIELDS)
            continue;
        read.cpu = text->cpu = (uint32_t)number;
        text->has_cpu = true;
        *times = read;
        return true;
    }
    return false;
}

bool pfb_kernel_next_range(pfb_kernel_text *text, uint32_t *first, uint32_t *last)
{
    span rest = {text->text + text->at, text->text + text->size};
    if (!take_id(&rest, PFB_KERNEL_CPU_MAX, first))
        return false;
    *last = *first;
    if (take_word(&rest, "-") && !take_id(&rest, PFB_KERNEL_CPU_MAX, last))
        return false;
    take_word(&rest, ",");
    text->at = (size_t)(rest.at - text->text);
    return true;
}

/* "key : " with blanks around the colon. */
static bool take_key(span *line, const char *key)
{
    if (!take_word(line, key))
        return false;
    skip_blanks(line);
    return take_word(line, ":");
}

bool pfb_kernel_next_clock(pfb_kernel_text *text, uint32_t *cpu, uint32_t *mhz)
{
    span line;
    while (take_line(text, &line)) {
        if (take_key(&line, "processor")) {
            text->has_cpu = take_id(&line, PFB_KERNEL_CPU_MAX, &text->cpu);
        } else if (text->has_cpu && take_key(&line, "cpu MHz") && take_id(&line, UINT32_MAX, mhz) && *mhz > 0) {
            *cpu = text->cpu;
            text->has_cpu = false; /* a clock belongs to the "processor" line before it, once */
            return true;
        }
    }
    return false;
}

bool pfb_kernel_number(const char *text, size_t size, uint64_t *number)
{
    span line = {text, text + size};
    if (size == 0 || !take_number(&line, number))
        return false;
    skip_blanks(&line);
    return line.at == line.end || *line.at == '\n';
}

unsigned pfb_kernel_c_state(const char *text, size_t size)
{
    span name = {text, text + size};
    if (size < 2 || !take_word(&name, "C") || *name.at < '1' || *name.at > '0' + PFB_KERNEL_C_STATES)
        return 0;
    unsigned state = (unsigned)(*name.at++ - '0');
    take_word(&name, "_ACPI");
    return name.at == name.end || *name.at == '\n' ? state : 0;
}

/* ---- /proc/interrupts ------------------------------------------------------------------------------------- */

/* The CPUs of the first line, of which the first `capacity` are written. */
static size_t take_columns(span *line, pfb_kernel_column *columns, size_t capacity)
{
    size_t count = 0;
    uint32_t cpu;
    for (skip_blanks(line); take_word(line, "CPU") && take_id(line, PFB_KERNEL_CPU_MAX, &cpu); skip_blanks(line)) {
        if (count < capacity)
            columns[count] = (pfb_kernel_column){.cpu = cpu};
        count++;
    }
    return count;
}

/* Puts the numbers of a row into the columns' scratch. False when there is not one for every CPU, or they are counted
 * elsewhere. The line begins behind the label's colon. */
static bool take_row(span *line, span label, pfb_kernel_column *columns, size_t count)
{
    if (take_word(&label, "ERR:") || take_word(&label, "MIS:") || take_word(&label, "Err:"))
        return false;
    for (size_t i = 0; i < count; i++) {
        uint64_t number;
        skip_blanks(line);
        if (!take_number(line, &number))
            return false;
        columns[i].row = (uint32_t)number;
    }
    skip_blanks(line);
    return !take_word(line, "[EXT]") && !take_word(line, "[I/O]") && !take_word(line, "[AIO]");
}

size_t pfb_kernel_interrupts(const char *text, size_t size, pfb_kernel_column *columns, size_t capacity,
                             bool *has_clock)
{
    pfb_kernel_text lines = {.text = text, .size = size};
    span line;
    *has_clock = false;
    if (!take_line(&lines, &line))
        return 0;
    size_t count = take_columns(&line, columns, capacity);
    if (count > capacity || count == 0)
        return count;
    while (take_line(&lines, &line)) {
        skip_blanks(&line);
        span label = line;
        const char *colon = memchr(line.at, ':', (size_t)(line.end - line.at));
        if (!colon)
            continue;
        line.at = colon + 1;
        if (!take_row(&line, label, columns, count))
            continue;
        bool is_clock = take_word(&label, "LOC:");
        *has_clock = *has_clock || is_clock;
        for (size_t i = 0; i < count; i++) {
            columns[i].all += columns[i].row;
            columns[i].clock += is_clock ? columns[i].row : 0;
        }
    }
    return count;
}
