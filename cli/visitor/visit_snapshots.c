/* SPDX-License-Identifier: MIT */
/* Texts of CPI snapshots. */
#include "memory/memory.h"
#include "perfblock/cpi/text.h"
#include "perfblock/cpi_code.h"
#include "visitor/visits.h"

#include <stdlib.h>

/* A step is a snapshot or a refusal. */
typedef struct step_visit {
    visitor *v;
    pfb_cpi_text text;
    pfb_cpi_step step;
    size_t at; /* end of the lines that are on the page */
} step_visit;

static void write_snapshot(const step_visit *s)
{
    visitor *v = s->v;
    const pfb_cpi_step *step = &s->step;
    const pfb_cpi_thread *thread = &step->snapshot.thread;
    visit_record(v, step->offset, "snapshot", 0);
    output_unsigned(v->out, "line", step->line);
    output_unsigned(v->out, "clock", step->snapshot.clock);
    output_unsigned(v->out, "cpus", step->snapshot.cpu_count);
    output_unsigned(v->out, "instr_width", s->text.widths.instr);
    output_unsigned(v->out, "cycles_width", s->text.widths.cycles);
    for (size_t i = 0; i < step->snapshot.cpu_count; i++) {
        const pfb_cpi_cpu *cpu = &step->snapshot.cpus[i];
        visit_record(v, s->text.cpu_offsets[i], "cpu", 1);
        output_unsigned(v->out, "cpu", cpu->cpu);
        output_unsigned(v->out, "instr", cpu->instr);
        output_unsigned(v->out, "cycles", cpu->cycles);
        visit_number(v, "busy", step->has_busy, cpu->busy);
        visit_number(v, "elapsed", step->has_busy, cpu->elapsed);
    }
    if (!step->snapshot.has_thread)
        return;
    visit_record(v, step->thread_offset, "thread", 1);
    output_unsigned(v->out, "tid", thread->tid);
    output_unsigned(v->out, "instr", thread->instr);
    output_unsigned(v->out, "cycles", thread->cycles);
    output_bool(v->out, "user_only", step->is_user_only);
}

static void write_refusal(const step_visit *s)
{
    visitor *v = s->v;
    const pfb_cpi_step *step = &s->step;
    const pfb_cpi_code *code = pfb_cpi_code_find(step->code);
    visit_record(v, step->offset, "refusal", 0);
    output_unsigned(v->out, "line", step->line);
    output_signed(v->out, "code", step->code);
    if (code)
        output_word(v->out, "name", code->name);
    else
        output_null(v->out, "name");
    output_bytes(v->out, "sentence", (const char *)v->bytes.data + step->sentence_offset, step->sentence_size_bytes);
}

/* ---- The page of bytes ---------------------------------------------------------------------------------- */

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

static size_t skip(const uint8_t *data, size_t at, size_t end, bool blanks)
{
    while (at < end && (data[at] == ' ' || data[at] == '\t') == blanks)
        at++;
    return at;
}

/* Returns the kind of line that a word names; LINE_KINDS if it names none. */
static size_t find_kind(const uint8_t *word, size_t size)
{
    size_t kind = 0;
    while (kind < LINE_KINDS && (strlen(line_words[kind][0]) != size || memcmp(line_words[kind][0], word, size) != 0))
        kind++;
    return kind;
}

/* Visits a row of a line: text from `at` to `text_end`, and the blanks or line end up to `end`. */
static void visit_part(visitor *v, size_t at, size_t text_end, size_t end, const char *label)
{
    visit_name(v, NULL, (pfb_name){v->bytes.data + at, text_end - at, PFB_ENCODING_UTF8}, end - text_end, "%s", label);
}

/* Visits each word of a line, and the sentence of a refusal. Blanks and the line end belong to the word before them. */
static void visit_words(visitor *v, size_t kind, size_t at, size_t text_end, size_t end)
{
    for (size_t i = 0; at < text_end; i++) {
        const char *label = kind < LINE_KINDS && i < MAX_WORDS ? line_words[kind][i] : NULL;
        bool is_sentence = kind == LINE_REFUSAL && i == 2;
        size_t word_end = is_sentence ? text_end : skip(v->bytes.data, at, text_end, false);
        size_t next = skip(v->bytes.data, word_end, text_end, true);
        next = next == text_end ? end : next;
        visit_part(v, at, word_end, next, i == 0 ? "line" : label ? label : "word");
        at = next;
    }
}

/* Visits a line that is neither empty nor a comment. Returns whether a snapshot is open after it. */
static bool visit_line(visitor *v, size_t at, size_t text, size_t text_end, size_t end, bool is_in_snapshot)
{
    const uint8_t *data = v->bytes.data;
    size_t kind = find_kind(data + text, skip(data, text, text_end, false) - text);
    bool is_inside = kind == LINE_CPU || kind == LINE_THREAD || kind == LINE_KINDS;
    if (is_in_snapshot && !is_inside)
        visit_end(v, VISIT_FINE, 0);
    visit_begin(v, kind == LINE_SNAPSHOT ? STRUCTURE_CPI_SNAPSHOT : STRUCTURE_TEXT_LINE, at, NULL, 0);
    visit_words(v, kind, text, text_end, end);
    if (kind != LINE_SNAPSHOT)
        visit_end(v, VISIT_FINE, 0);
    return (is_in_snapshot && is_inside) || kind == LINE_SNAPSHOT;
}

static void visit_mark(step_visit *s, size_t end)
{
    enum { MARK_BYTES = 3 }; /* of a byte order mark */
    if (s->at > 0 || end < MARK_BYTES || memcmp(s->v->bytes.data, "\xEF\xBB\xBF", MARK_BYTES) != 0)
        return;
    visit_field(s->v, NULL, 0, MARK_BYTES, FIELD_BYTES, "byte order mark");
    s->at = MARK_BYTES;
}

/* Visits the lines up to `end`. The lines of CPUs and of the thread are inside the structure of their snapshot. */
static void visit_lines(step_visit *s, size_t end)
{
    visitor *v = s->v;
    const uint8_t *data = v->bytes.data;
    bool is_in_snapshot = false;
    if (!v->page)
        return;
    visit_mark(s, end);
    while (s->at < end) {
        size_t at = s->at;
        const uint8_t *feed = memchr(data + at, '\n', v->bytes.size - at);
        s->at = feed ? (size_t)(feed - data) + 1 : v->bytes.size;
        size_t text_end = feed ? s->at - 1 : s->at;
        size_t text = skip(data, at, text_end, true);
        while (text_end > text && strchr(" \t\r", data[text_end - 1]) && data[text_end - 1] != '\0')
            text_end--;
        if (text == text_end || data[text] == '#')
            visit_part(v, at, text_end, s->at, text == text_end ? "empty line" : "comment");
        else
            is_in_snapshot = visit_line(v, at, text, text_end, s->at, is_in_snapshot);
    }
    if (is_in_snapshot)
        visit_end(v, VISIT_FINE, 0);
}

/* ---- A text --------------------------------------------------------------------------------------------- */

void visit_snapshots(visitor *v)
{
    step_visit s = {.v = v};
    pfb_cpi_step next;
    pfb_cpi_cpu *cpus = memory_get(PFB_CPI_CPU_LIMIT, sizeof *cpus);
    size_t *offsets = memory_get(PFB_CPI_CPU_LIMIT, sizeof *offsets);
    pfb_cpi_text_open(&s.text, v->bytes.data, v->bytes.size);
    s.text.cpu_offsets = offsets;
    while (!output_failed(v->out) && pfb_cpi_text_next(&s.text, cpus, PFB_CPI_CPU_LIMIT, &next)) {
        if (v->counts.steps < sizeof v->first_steps / sizeof v->first_steps[0])
            v->first_steps[v->counts.steps] = (visit_step){v->bytes.base + next.offset, next.is_refusal};
        v->counts.steps++;
        visit_lines(&s, next.offset);
        s.step = next;
        if (next.is_refusal)
            write_refusal(&s);
        else
            write_snapshot(&s);
    }
    visit_error(v, s.text.error);
    /* After an error, the malformed line is the last one. */
    if (s.text.error.code == PFB_OK)
        visit_lines(&s, v->bytes.size);
    else if (s.text.error.offset < v->bytes.size)
        visit_lines(&s, s.text.error.offset + 1);
    visit_padding(v, s.text.error, v->bytes.size);
    free(cpus);
    free(offsets);
}
