/* SPDX-License-Identifier: MIT */
#include "perfblock/cpi/text.h"

#include "bytes/line.h"
#include "bytes/memory.h"

static const char first_word[] = "cpi-snapshots";

/* ---- Words ------------------------------------------------------------------------------------------------------- */

/* Skips blanks; returns true if there was at least one or the line ends. */
static bool read_gap(span *s)
{
    size_t at = s->at;
    skip(s, BLANKS);
    return s->at > at || s->at == s->end;
}

/* If the next word is `name`, moves to the word after it and returns true. Compares the first character before it calls
 * take_exactly: the characters usually differ. */
static inline bool accept_word(span *s, const char *name)
{
    size_t at = s->at;
    if (peek(s) == (unsigned char)*name && take_exactly(s, name) && read_gap(s))
        return true;
    s->at = at;
    return false;
}

/* Reads a decimal number and moves to the following word. */
static bool read_number(span *s, uint64_t max, uint64_t *number)
{
    return take_decimal(s, max, number) && read_gap(s);
}

static bool read_number_32(span *s, uint32_t *number)
{
    uint64_t value = 0;
    bool is_valid = read_number(s, UINT32_MAX, &value);
    *number = (uint32_t)value;
    return is_valid;
}

/* Reads a decimal number with an optional minus sign. */
static bool read_signed_32(span *s, int32_t *number)
{
    uint64_t value = 0;
    bool is_negative = take_exactly(s, "-");
    bool is_valid = read_number(s, is_negative ? UINT64_C(0x80000000) : INT32_MAX, &value);
    *number = (int32_t)(is_negative ? -(int64_t)value : (int64_t)value);
    return is_valid;
}

/* ---- Lines ------------------------------------------------------------------------------------------------------- */

static bool cpi_text_fail(pfb_cpi_text *text, pfb_code code, size_t offset)
{
    text->error = (pfb_error){code, offset};
    return false;
}

/* Returns in *line the next line that is neither empty nor a comment, and in *start its offset. Returns false at the
 * end of the text, and with an error if that line has no line feed. */
static bool next_line(pfb_cpi_text *text, span *line, size_t *start)
{
    span rest = {text->data, text->at, text->size};
    for (;;) {
        text->lines += skip_empty_lines(&rest);
        text->at = rest.at;
        if (!take_line(&rest, line, start))
            return false;
        text->at = rest.at;
        text->lines++;
        if (line->at == line->end || peek(line) == '#')
            continue;
        if (text->data[text->at - 1] != '\n')
            return cpi_text_fail(text, PFB_BAD_CPI_LINE, *start);
        return true;
    }
}

/* Moves back to the start of the line that was just read. */
static void step_back(pfb_cpi_text *text, size_t start)
{
    text->at = start;
    text->lines--;
}

/* Reads "widths 40 64", after the first word. */
static bool read_widths(span *s, pfb_cpi_widths *widths)
{
    return read_number_32(s, &widths->instr) && read_number_32(s, &widths->cycles) && s->at == s->end &&
           widths->instr - 1 < 64 && widths->cycles - 1 < 64;
}

/* Reads "cpu 0 1099511626776 10 0 0", after the first word. */
static bool read_cpu(span *s, pfb_cpi_cpu *cpu, bool *has_busy)
{
    *cpu = (pfb_cpi_cpu){0};
    if (!read_number_32(s, &cpu->cpu) || !read_number(s, UINT64_MAX, &cpu->instr) ||
        !read_number(s, UINT64_MAX, &cpu->cycles))
        return false;
    *has_busy = s->at < s->end;
    return !*has_busy ||
           (read_number(s, UINT64_MAX, &cpu->busy) && read_number(s, UINT64_MAX, &cpu->elapsed) && s->at == s->end);
}

/* Reads "thread 900 0 0 user", after the first word. */
static bool read_thread(span *s, pfb_cpi_step *step)
{
    pfb_cpi_thread *thread = &step->snapshot.thread;
    if (step->snapshot.has_thread || !read_number_32(s, &thread->tid) || !read_number(s, UINT64_MAX, &thread->instr) ||
        !read_number(s, UINT64_MAX, &thread->cycles))
        return false;
    step->snapshot.has_thread = true;
    step->is_user_only = accept_word(s, "user");
    return s->at == s->end;
}

/* Reads "refuse -234 instructions, ENOENT", after the first word. Rejects a sentence that contains a NUL or CR, because
 * pfb_cpi_text_write_step would cut it there. */
static bool read_refusal(span *s, pfb_cpi_step *step)
{
    step->is_refusal = true;
    if (!read_signed_32(s, &step->code) || step->code == 0)
        return false;
    step->sentence_offset = s->at;
    step->sentence_size_bytes = s->end - s->at;
    for (; s->at < s->end; s->at++) {
        if (peek(s) == '\0' || peek(s) == '\r')
            return false;
    }
    return true;
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

bool pfb_cpi_text_recognise(const void *data, size_t size)
{
    span s = {data, 0, data ? size : 0};
    take_exactly(&s, "\xEF\xBB\xBF");
    return take_exactly(&s, first_word) &&
           (s.at == s.end || is_one_of(peek(&s), BLANKS | CHARACTER('\r') | CHARACTER('\n')));
}

bool pfb_cpi_text_open(pfb_cpi_text *text, const void *data, size_t size)
{
    span line;
    size_t start;
    uint64_t version;
    *text = (pfb_cpi_text){.data = data, .size = data ? size : 0, .widths = {64, 64}};
    if (!pfb_cpi_text_recognise(data, size))
        return cpi_text_fail(text, PFB_UNKNOWN_FORMAT, 0);
    if (!next_line(text, &line, &start))
        return cpi_text_fail(text, PFB_BAD_CPI_LINE, 0);
    if (!accept_word(&line, first_word) || !read_number(&line, UINT64_MAX, &version) || version == 0)
        return cpi_text_fail(text, PFB_BAD_CPI_LINE, 0);
    if (version > PFB_CPI_TEXT_VERSION)
        return cpi_text_fail(text, PFB_UNREAD_FORMAT, 0);
    if (line.at != line.end)
        return cpi_text_fail(text, PFB_BAD_CPI_LINE, 0);
    if (!next_line(text, &line, &start))
        return text->error.code == PFB_OK;
    if (!accept_word(&line, "widths"))
        step_back(text, start);
    else if (!read_widths(&line, &text->widths))
        return cpi_text_fail(text, PFB_BAD_CPI_LINE, start);
    return true;
}

/* Reads a CPU's line and appends the CPU to the snapshot. */
static pfb_code add_cpu(const pfb_cpi_text *text, span *line, size_t start, pfb_cpi_cpu *cpus, size_t capacity,
                        pfb_cpi_step *step)
{
    pfb_cpi_cpu cpu;
    bool has_busy;
    size_t count = step->snapshot.cpu_count;
    if (count == PFB_CPI_CPU_LIMIT || !read_cpu(line, &cpu, &has_busy))
        return PFB_BAD_CPI_LINE;
    if (count > 0 && (cpu.cpu <= cpus[count - 1].cpu || has_busy != step->has_busy))
        return PFB_BAD_CPI_LINE;
    if (count >= capacity)
        return PFB_CALLER_TOO_SMALL;
    cpus[count] = cpu;
    if (text->cpu_offsets)
        text->cpu_offsets[count] = start;
    step->has_busy = has_busy;
    step->snapshot.cpu_count++;
    return PFB_OK;
}

/* Reads the lines that belong to a snapshot, up to the next step. */
static bool read_rest(pfb_cpi_text *text, pfb_cpi_cpu *cpus, size_t capacity, pfb_cpi_step *step)
{
    span line;
    size_t start;
    while (next_line(text, &line, &start)) {
        pfb_code code = PFB_BAD_CPI_LINE;
        if (accept_word(&line, "cpu")) {
            code = add_cpu(text, &line, start, cpus, capacity, step);
        } else if (accept_word(&line, "thread")) {
            step->thread_offset = start;
            code = read_thread(&line, step) ? PFB_OK : PFB_BAD_CPI_LINE;
        } else if (accept_word(&line, "snapshot") || accept_word(&line, "refuse")) {
            step_back(text, start);
            return true;
        }
        if (code != PFB_OK)
            return cpi_text_fail(text, code, start);
    }
    return text->error.code == PFB_OK;
}

bool pfb_cpi_text_next(pfb_cpi_text *text, pfb_cpi_cpu *cpus, size_t capacity, pfb_cpi_step *step)
{
    span line;
    size_t start;
    if (text->error.code != PFB_OK || !next_line(text, &line, &start))
        return false;
    *step = (pfb_cpi_step){.offset = start, .line = text->lines};
    if (accept_word(&line, "refuse")) {
        if (!read_refusal(&line, step))
            return cpi_text_fail(text, PFB_BAD_CPI_LINE, start);
        return true;
    }
    step->snapshot.cpus = cpus;
    if (!accept_word(&line, "snapshot") || !read_number(&line, UINT64_MAX, &step->snapshot.clock) ||
        line.at != line.end)
        return cpi_text_fail(text, PFB_BAD_CPI_LINE, start);
    return read_rest(text, cpus, capacity, step);
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

/* The text to write. It is stored at `out`; if `out` is null, only its size is counted. */
typedef struct text_output {
    char *out;
    size_t size;
} text_output;

static void put(text_output *p, const char *bytes, size_t size)
{
    if (p->out)
        memcpy(p->out + p->size, bytes, size);
    p->size += size;
}

static void cpi_text_put(text_output *p, const char *word)
{
    size_t size = 0;
    while (word[size] != '\0')
        size++;
    put(p, word, size);
}

static void put_digits(text_output *p, uint64_t number)
{
    char digits[20]; /* enough for 2^64 - 1 */
    size_t at = sizeof digits;
    do {
        digits[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    put(p, digits + at, sizeof digits - at);
}

/* Writes a blank and the number. */
static void put_number(text_output *p, uint64_t number)
{
    put(p, " ", 1);
    put_digits(p, number);
}

static void put_cpu(text_output *p, const pfb_cpi_cpu *cpu, bool has_busy)
{
    cpi_text_put(p, "cpu");
    put_number(p, cpu->cpu);
    put_number(p, cpu->instr);
    put_number(p, cpu->cycles);
    if (has_busy) {
        put_number(p, cpu->busy);
        put_number(p, cpu->elapsed);
    }
    put(p, "\n", 1);
}

static void put_snapshot(text_output *p, const pfb_cpi_step *step)
{
    const pfb_cpi_snapshot *snapshot = &step->snapshot;
    cpi_text_put(p, "snapshot");
    put_number(p, snapshot->clock);
    put(p, "\n", 1);
    for (size_t i = 0; i < snapshot->cpu_count; i++)
        put_cpu(p, &snapshot->cpus[i], step->has_busy);
    if (!snapshot->has_thread)
        return;
    cpi_text_put(p, "thread");
    put_number(p, snapshot->thread.tid);
    put_number(p, snapshot->thread.instr);
    put_number(p, snapshot->thread.cycles);
    if (step->is_user_only)
        cpi_text_put(p, " user");
    put(p, "\n", 1);
}

/* Returns the part of a sentence that the reader would return: up to a line end, without surrounding blanks. */
static span trim(const char *sentence)
{
    span s = {(const uint8_t *)sentence, 0, 0};
    while (sentence && sentence[s.end] != '\0' &&
           !is_one_of((unsigned char)sentence[s.end], CHARACTER('\r') | CHARACTER('\n')))
        s.end++;
    skip(&s, BLANKS);
    while (s.end > s.at && is_one_of(s.data[s.end - 1], BLANKS))
        s.end--;
    return s;
}

static void put_refusal(text_output *p, int32_t code, const char *sentence)
{
    cpi_text_put(p, code < 0 ? "refuse -" : "refuse ");
    put_digits(p, code < 0 ? (uint64_t) - (int64_t)code : (uint64_t)code);
    span text = trim(sentence);
    if (text.at < text.end) {
        put(p, " ", 1);
        put(p, sentence + text.at, text.end - text.at);
    }
    put(p, "\n", 1);
}

/* Returns true if the reader would accept the step. */
static bool is_readable(const pfb_cpi_step *step)
{
    const pfb_cpi_snapshot *snapshot = &step->snapshot;
    if (step->is_refusal)
        return step->code != 0;
    if (snapshot->cpu_count > PFB_CPI_CPU_LIMIT)
        return false;
    for (size_t i = 1; i < snapshot->cpu_count; i++) {
        if (snapshot->cpus[i].cpu <= snapshot->cpus[i - 1].cpu)
            return false;
    }
    return true;
}

static void put_step(text_output *p, const pfb_cpi_step *step, const char *sentence)
{
    if (step->is_refusal)
        put_refusal(p, step->code, sentence);
    else
        put_snapshot(p, step);
}

static void put_head(text_output *p, const pfb_cpi_widths *widths)
{
    cpi_text_put(p, first_word);
    put_number(p, PFB_CPI_TEXT_VERSION);
    cpi_text_put(p, "\nwidths");
    put_number(p, widths->instr);
    put_number(p, widths->cycles);
    put(p, "\n", 1);
}

size_t pfb_cpi_text_write_head(const pfb_cpi_widths *widths, char *out, size_t capacity)
{
    text_output p = {NULL, 0};
    if (widths->instr - 1 >= 64 || widths->cycles - 1 >= 64)
        return 0;
    put_head(&p, widths);
    if (p.size > capacity)
        return p.size;
    p.size = 0;
    p.out = out;
    put_head(&p, widths);
    return p.size;
}

size_t pfb_cpi_text_write_step(const pfb_cpi_step *step, const char *sentence, char *out, size_t capacity)
{
    text_output p = {NULL, 0};
    if (!is_readable(step))
        return 0;
    put_step(&p, step, sentence);
    if (p.size > capacity)
        return p.size;
    p.size = 0;
    p.out = out;
    put_step(&p, step, sentence);
    return p.size;
}
