/* SPDX-License-Identifier: MIT */
#include "live/linux/kernel_files.h"

#include <string.h>

/* Skips blanks, then parses a number of at most `max`. */
static bool parse_id(pfb_kernel_span *s, uint32_t max, uint32_t *id)
{
    uint64_t number;
    if (!pfb_kernel_take_field(s, &number) || number > max)
        return false;
    *id = (uint32_t)number;
    return true;
}

/* ---- Texts ---------------------------------------------------------------------------------------------- */

bool pfb_kernel_next_times(pfb_kernel_text *text, pfb_kernel_times *times)
{
    pfb_kernel_span line;
    while (pfb_kernel_take_line(text, &line)) {
        uint64_t number;
        pfb_kernel_times read = {0};
        uint64_t *const fields[] = {&read.user,   &read.nice, &read.system, &read.idle,
                                    &read.iowait, &read.irq,  &read.softirq};
        enum { FIELDS = sizeof fields / sizeof fields[0] };
        if (!pfb_kernel_take_word(&line, "cpu") || !pfb_kernel_take_number(&line, &number) ||
            number > PFB_KERNEL_CPU_MAX || (text->has_cpu && number <= text->cpu))
            continue;
        size_t i = 0;
        while (i < FIELDS && pfb_kernel_take_field(&line, fields[i]))
            i++;
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
    pfb_kernel_span rest = {text->text + text->at, text->text + text->size};
    if (!parse_id(&rest, PFB_KERNEL_CPU_MAX, first))
        return false;
    *last = *first;
    if (pfb_kernel_take_word(&rest, "-") && !parse_id(&rest, PFB_KERNEL_CPU_MAX, last))
        return false;
    pfb_kernel_take_word(&rest, ",");
    text->at = (size_t)(rest.at - text->text);
    return true;
}

/* Parses "key:", with or without blanks before the colon. */
static bool parse_key(pfb_kernel_span *line, const char *key)
{
    if (!pfb_kernel_take_word(line, key))
        return false;
    pfb_kernel_skip_blanks(line);
    return pfb_kernel_take_word(line, ":");
}

bool pfb_kernel_next_clock(pfb_kernel_text *text, uint32_t *cpu, uint32_t *mhz)
{
    pfb_kernel_span line;
    while (pfb_kernel_take_line(text, &line)) {
        if (parse_key(&line, "processor")) {
            text->has_cpu = parse_id(&line, PFB_KERNEL_CPU_MAX, &text->cpu);
        } else if (text->has_cpu && parse_key(&line, "cpu MHz") && parse_id(&line, UINT32_MAX, mhz) && *mhz > 0) {
            *cpu = text->cpu;
            text->has_cpu = false; /* each "processor" line has one clock */
            return true;
        }
    }
    return false;
}

unsigned pfb_kernel_c_state(const char *text, size_t size)
{
    pfb_kernel_span name = {text, text + size};
    if (size < 2 || !pfb_kernel_take_word(&name, "C") || *name.at < '1' || *name.at > '0' + PFB_KERNEL_C_STATES)
        return 0;
    unsigned state = (unsigned)(*name.at++ - '0');
    pfb_kernel_take_word(&name, "_ACPI");
    return name.at == name.end || *name.at == '\n' ? state : 0;
}

/* ---- /proc/interrupts ------------------------------------------------------------------------------------- */

/* Parses the first line. Returns its number of CPUs; the first `capacity` are written to `columns`. */
static size_t parse_columns(pfb_kernel_span *line, pfb_kernel_column *columns, size_t capacity)
{
    size_t count = 0;
    uint32_t cpu;
    for (pfb_kernel_skip_blanks(line); pfb_kernel_take_word(line, "CPU") && parse_id(line, PFB_KERNEL_CPU_MAX, &cpu);
         pfb_kernel_skip_blanks(line)) {
        if (count < capacity)
            columns[count] = (pfb_kernel_column){.cpu = cpu};
        count++;
    }
    return count;
}

/* Parses a row into columns[].row. `line` starts after the colon of the label. Returns false if the row lacks a number
 * for some CPU, or is a row that pfb_kernel_interrupts does not count. */
static bool parse_row(pfb_kernel_span *line, pfb_kernel_span label, pfb_kernel_column *columns, size_t count)
{
    if (pfb_kernel_take_word(&label, "ERR:") || pfb_kernel_take_word(&label, "MIS:") ||
        pfb_kernel_take_word(&label, "Err:"))
        return false;
    for (size_t i = 0; i < count; i++) {
        uint64_t number;
        if (!pfb_kernel_take_field(line, &number))
            return false;
        columns[i].row = (uint32_t)number;
    }
    pfb_kernel_skip_blanks(line);
    return !pfb_kernel_take_word(line, "[EXT]") && !pfb_kernel_take_word(line, "[I/O]") &&
           !pfb_kernel_take_word(line, "[AIO]");
}

size_t pfb_kernel_interrupts(const char *text, size_t size, pfb_kernel_column *columns, size_t capacity,
                             bool *has_clock)
{
    pfb_kernel_text lines = {.text = text, .size = size};
    pfb_kernel_span line;
    *has_clock = false;
    if (!pfb_kernel_take_line(&lines, &line))
        return 0;
    size_t count = parse_columns(&line, columns, capacity);
    if (count > capacity || count == 0)
        return count;
    while (pfb_kernel_take_line(&lines, &line)) {
        pfb_kernel_skip_blanks(&line);
        pfb_kernel_span label = line;
        const char *colon = memchr(line.at, ':', (size_t)(line.end - line.at));
        if (!colon)
            continue;
        line.at = colon + 1;
        if (!parse_row(&line, label, columns, count))
            continue;
        bool is_clock = pfb_kernel_take_word(&label, "LOC:");
        *has_clock = *has_clock || is_clock;
        for (size_t i = 0; i < count; i++) {
            columns[i].all += columns[i].row;
            columns[i].clock += is_clock ? columns[i].row : 0;
        }
    }
    return count;
}
