/* SPDX-License-Identifier: MIT */
#include "memory/memory.h"
#include "perfblock/cpi/text.h"
#include "perfblock/cpi_code.h"
#include "walk/walk_parts.h"

#include <stdlib.h>
#include <string.h>

/* State of the walk of a text of CPI snapshots. A step is a snapshot or a refusal. */
typedef struct step_walk {
    walk *w;
    const file_bytes *bytes;
    pfb_cpi_text text;
    pfb_cpi_step step;
    size_t explained; /* end of the lines that are on the page of explain */
} step_walk;

static void print_snapshot(const step_walk *s)
{
    output *out = s->w->out;
    output_begin(out, "snapshot", s->bytes->depth);
    output_offset(out, s->bytes->base + s->step.offset);
    output_unsigned(out, "line", s->step.line);
    output_unsigned(out, "clock", s->step.snapshot.clock);
    output_unsigned(out, "cpus", s->step.snapshot.cpu_count);
    output_unsigned(out, "instr_width", s->text.widths.instr);
    output_unsigned(out, "cycles_width", s->text.widths.cycles);
    output_end(out);
}

static void print_cpu(const step_walk *s, const pfb_cpi_cpu *cpu, size_t offset)
{
    output *out = s->w->out;
    output_begin(out, "cpu", s->bytes->depth + 1);
    output_offset(out, s->bytes->base + offset);
    output_unsigned(out, "cpu", cpu->cpu);
    output_unsigned(out, "instr", cpu->instr);
    output_unsigned(out, "cycles", cpu->cycles);
    walk_print_number(s->w, "busy", s->step.has_busy, cpu->busy);
    walk_print_number(s->w, "elapsed", s->step.has_busy, cpu->elapsed);
    output_end(out);
}

static void print_thread(const step_walk *s)
{
    output *out = s->w->out;
    const pfb_cpi_thread *thread = &s->step.snapshot.thread;
    output_begin(out, "thread", s->bytes->depth + 1);
    output_offset(out, s->bytes->base + s->step.thread_offset);
    output_unsigned(out, "tid", thread->tid);
    output_unsigned(out, "instr", thread->instr);
    output_unsigned(out, "cycles", thread->cycles);
    output_bool(out, "user_only", s->step.is_user_only);
    output_end(out);
}

static void print_refusal(const step_walk *s)
{
    output *out = s->w->out;
    const pfb_cpi_code *code = pfb_cpi_code_find(s->step.code);
    output_begin(out, "refusal", s->bytes->depth);
    output_offset(out, s->bytes->base + s->step.offset);
    output_unsigned(out, "line", s->step.line);
    output_signed(out, "code", s->step.code);
    if (code)
        output_word(out, "name", code->name);
    else
        output_null(out, "name");
    output_bytes(out, "sentence", (const char *)s->bytes->data + s->step.sentence_offset, s->step.sentence_size_bytes);
    output_end(out);
}

static void print_step(const step_walk *s)
{
    const pfb_cpi_snapshot *snapshot = &s->step.snapshot;
    if (s->step.is_refusal) {
        print_refusal(s);
        return;
    }
    print_snapshot(s);
    for (size_t i = 0; i < snapshot->cpu_count; i++)
        print_cpu(s, &snapshot->cpus[i], s->text.cpu_offsets[i]);
    if (snapshot->has_thread)
        print_thread(s);
}

/* ---- The bytes, for explain ----------------------------------------------------------------------------- */

enum { LINE_HEAD, LINE_WIDTHS, LINE_SNAPSHOT, LINE_CPU, LINE_THREAD, LINE_REFUSAL, LINE_KINDS, MAX_WORDS = 6 };

/* For each kind of line, the first word, which names the kind, and the meanings of the other words. */
static const char *const line_words[LINE_KINDS][MAX_WORDS] = {
    [LINE_HEAD] = {"cpi-snapshots", "version"},
    [LINE_WIDTHS] = {"widths", "bits of instructions", "bits of cycles"},
    [LINE_SNAPSHOT] = {"snapshot", "clock"},
    [LINE_CPU] = {"cpu", "CPU", "instructions", "cycles", "busy", "elapsed"},
    [LINE_THREAD] = {"thread", "thread id", "instructions", "cycles", "user mode only"},
    [LINE_REFUSAL] = {"refuse", "code", "sentence"},
};

/* A line from `at` to `end`, and its text, without surrounding blanks and the line end, from `text` to `text_end`. */
typedef struct text_line {
    size_t at, end;
    size_t text, text_end;
    size_t kind; /* a LINE_ constant; LINE_KINDS: unknown */
} text_line;

static bool is_blank(uint8_t byte)
{
    return byte == ' ' || byte == '\t';
}

static size_t end_of_word(const file_bytes *bytes, size_t at, size_t end)
{
    while (at < end && !is_blank(bytes->data[at]))
        at++;
    return at;
}

static text_line find_line(const file_bytes *bytes, size_t at)
{
    const uint8_t *data = bytes->data;
    const uint8_t *feed = memchr(data + at, '\n', bytes->size - at);
    text_line line = {.at = at, .text = at, .end = feed ? (size_t)(feed - data) + 1 : bytes->size};
    line.text_end = feed ? line.end - 1 : line.end;
    while (line.text < line.text_end && is_blank(data[line.text]))
        line.text++;
    while (line.text_end > line.text && (is_blank(data[line.text_end - 1]) || data[line.text_end - 1] == '\r'))
        line.text_end--;
    size_t size = end_of_word(bytes, line.text, line.text_end) - line.text;
    while (line.kind < LINE_KINDS &&
           (strlen(line_words[line.kind][0]) != size || memcmp(line_words[line.kind][0], data + line.text, size) != 0))
        line.kind++;
    return line;
}

/* Prints a row per word, and one for the sentence of a refusal. Blanks and the line end belong to the word before them.
 */
static void explain_line_words(const step_walk *s, const text_line *line)
{
    const file_bytes *bytes = s->bytes;
    size_t at = line->text;
    for (size_t i = 0; at < line->text_end; i++) {
        const char *label = line->kind < LINE_KINDS && i < MAX_WORDS ? line_words[line->kind][i] : NULL;
        bool is_sentence = line->kind == LINE_REFUSAL && i == 2;
        size_t end = is_sentence ? line->text_end : end_of_word(bytes, at, line->text_end);
        size_t next = end;
        while (next < line->text_end && is_blank(bytes->data[next]))
            next++;
        if (next == line->text_end)
            next = line->end;
        pfb_name word = {bytes->data + at, end - at, PFB_ENCODING_UTF8};
        explain_name(s->w->page, bytes, &word, next - end, "%s", i == 0 ? "line" : label ? label : "word");
        at = next;
    }
}

/* Prints the lines up to `end`. The lines of CPUs and of the thread are inside the structure of their snapshot. */
static void explain_lines(step_walk *s, size_t end)
{
    enum { MARK_BYTES = 3 }; /* of a byte order mark */
    explainer *page = s->w->page;
    const file_bytes *bytes = s->bytes;
    bool is_in_snapshot = false;
    if (!page)
        return;
    while (s->explained < end) {
        bool has_mark =
            s->explained == 0 && bytes->size >= MARK_BYTES && memcmp(bytes->data, "\xEF\xBB\xBF", MARK_BYTES) == 0;
        if (has_mark)
            explain_row(page, bytes, 0, MARK_BYTES, FIELD_BYTES, "byte order mark");
        text_line line = find_line(bytes, has_mark ? MARK_BYTES : s->explained);
        s->explained = line.end;
        if (line.text == line.text_end || bytes->data[line.text] == '#') {
            pfb_name text = {bytes->data + line.at, line.text_end - line.at, PFB_ENCODING_UTF8};
            explain_name(page, bytes, &text, line.end - line.text_end, "%s",
                         line.text == line.text_end ? "empty line" : "comment");
            continue;
        }
        bool is_inside = line.kind == LINE_CPU || line.kind == LINE_THREAD || line.kind == LINE_KINDS;
        if (is_in_snapshot && !is_inside)
            explain_end(page, bytes, 0);
        is_in_snapshot = (is_in_snapshot && is_inside) || line.kind == LINE_SNAPSHOT;
        if (line.kind == LINE_SNAPSHOT) {
            explain_begin(page, bytes, STRUCTURE_CPI_SNAPSHOT, line.at, explain_folds_parts(page), NULL, "%s", "");
            explain_line_words(s, &line);
            continue;
        }
        explain_begin(page, bytes, STRUCTURE_TEXT_LINE, line.at, s->step.snapshot.cpu_count > EXPLAIN_MAX_OPEN, NULL,
                      "%s", line.kind < LINE_KINDS ? line_words[line.kind][0] : "");
        explain_line_words(s, &line);
        explain_end(page, bytes, 0);
    }
    if (is_in_snapshot)
        explain_end(page, bytes, 0);
}

/* Prints the remaining lines. After an error, the malformed line is the last one. */
static void explain_last_lines(step_walk *s)
{
    const file_bytes *bytes = s->bytes;
    pfb_error error = s->text.error;
    if (error.code == PFB_OK)
        explain_lines(s, bytes->size);
    else if (error.offset < bytes->size)
        explain_lines(s, error.offset + 1);
    explain_part_end(s->w->page, bytes, error, bytes->size);
}

/* ---- A text --------------------------------------------------------------------------------------------- */

void walk_snapshots(walk *w, const file_bytes *bytes)
{
    step_walk s = {.w = w, .bytes = bytes};
    pfb_cpi_step next;
    pfb_cpi_cpu *cpus = memory_get(PFB_CPI_CPU_LIMIT, sizeof *cpus);
    size_t *offsets = memory_get(PFB_CPI_CPU_LIMIT, sizeof *offsets);
    pfb_cpi_text_open(&s.text, bytes->data, bytes->size);
    s.text.cpu_offsets = offsets;
    while (!output_failed(w->out) && pfb_cpi_text_next(&s.text, cpus, PFB_CPI_CPU_LIMIT, &next)) {
        w->counts.steps++;
        explain_lines(&s, next.offset);
        s.step = next;
        print_step(&s);
    }
    walk_fail(w, bytes, s.text.error);
    explain_last_lines(&s);
    free(cpus);
    free(offsets);
}
