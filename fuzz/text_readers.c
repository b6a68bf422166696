/* SPDX-License-Identifier: MIT */
#include "text_readers.h"

#include "perfblock/cpi/text.h"
#include "walk.h"

#include <stdlib.h>
#include <string.h>

/* A reader with its array of CPUs. */
typedef struct snapshot_reader {
    pfb_cpi_text text;
    pfb_cpi_step step;
    pfb_cpi_cpu cpus[PFB_CPI_CPU_LIMIT];
    size_t offsets[PFB_CPI_CPU_LIMIT];
} snapshot_reader;

/* ---- Reading ------------------------------------------------------------------------------------------- */

/* Checks that the line at an offset begins with this word, after blanks. If the input changes meanwhile, checks only
 * that the offset is inside. */
static void check_line(walk *w, size_t offset, const char *word)
{
    size_t size = strlen(word);
    expect(w, offset < w->size && w->size - offset > size, "a line lies inside the input");
    if (w->out.broken || w->writable)
        return;
    expect(w, offset > 0 && w->data[offset - 1] == '\n', "an offset is that of the start of a line");
    while (w->size - offset > size && (w->data[offset] == ' ' || w->data[offset] == '\t'))
        offset++;
    expect(w, memcmp(w->data + offset, word, size) == 0, "a line begins with its keyword");
}

static void check_snapshot(walk *w, const snapshot_reader *r)
{
    const pfb_cpi_snapshot *s = &r->step.snapshot;
    size_t last = r->step.offset;
    check_line(w, r->step.offset, "snapshot");
    add(w, s->clock);
    for (size_t i = 0; i < s->cpu_count; i++) {
        const pfb_cpi_cpu *cpu = &s->cpus[i];
        expect(w, i == 0 || cpu->cpu > s->cpus[i - 1].cpu, "CPUs ascend");
        expect(w, r->step.has_busy || (cpu->busy | cpu->elapsed) == 0, "missing values are 0");
        expect(w, r->offsets[i] > last, "CPUs come in the order of their lines");
        last = r->offsets[i];
        check_line(w, last, "cpu");
        add(w, cpu->cpu ^ cpu->instr);
        add(w, cpu->cycles ^ cpu->busy);
        add(w, cpu->elapsed);
    }
    expect(w, s->cpu_count > 0 || !r->step.has_busy, "without CPUs there is no busy time");
    expect(w, s->has_thread || (!r->step.is_user_only && r->step.thread_offset == 0),
           "without a thread, is_user_only is false and thread_offset is 0");
    if (s->has_thread)
        check_line(w, r->step.thread_offset, "thread");
    add(w, s->thread.tid ^ s->thread.instr);
    add(w, s->thread.cycles ^ r->step.is_user_only);
}

static void check_refusal(walk *w, const pfb_cpi_step *step)
{
    check_line(w, step->offset, "refuse");
    expect(w, step->code != 0, "a refusal has a code");
    bool inside = is_inside(step->sentence_offset, step->sentence_size_bytes, step->offset, w->size);
    expect(w, inside, "a sentence lies inside the input, after the start of its line");
    if (!inside)
        return;
    touch(w, step->sentence_offset, step->sentence_size_bytes);
    add(w, (uint64_t)(int64_t)step->code);
    for (size_t i = 0; i < step->sentence_size_bytes && !w->writable; i++) {
        uint8_t c = w->data[step->sentence_offset + i];
        expect(w, c != '\0' && c != '\n' && c != '\r', "a sentence contains no NUL and no line end");
    }
}

static void check_end(walk *w, snapshot_reader *r)
{
    pfb_error error = r->text.error;
    expect(w, !pfb_cpi_text_next(&r->text, r->cpus, PFB_CPI_CPU_LIMIT, &r->step), "no item is returned after the end");
    expect(w, is_same_error(error, r->text.error), "the first error is kept");
    expect(w,
           error.code == PFB_OK || error.code == PFB_BAD_CPI_LINE ||
               (error.offset == 0 && (error.code == PFB_UNKNOWN_FORMAT || error.code == PFB_UNREAD_FORMAT)),
           "a text has no other error");
    expect(w, w->writable || error.offset == 0 || w->data[error.offset - 1] == '\n',
           "the offset of an error is the start of its line");
    record_error(w, error, 0);
}

static void walk_text(walk *w)
{
    snapshot_reader *r = malloc(sizeof *r);
    if (!r)
        return;
    size_t last_end = 0;
    size_t counted = 0; /* lines that end before this offset were counted */
    uint32_t lines = 0;
    bool is_open = pfb_cpi_text_open(&r->text, w->data, w->size);
    expect(w, is_open == (r->text.error.code == PFB_OK), "a failed open has an error code");
    expect_if_unchanged(w, !is_open || pfb_cpi_text_recognise(w->data, w->size),
                        "input that can be opened is recognised");
    expect(w, !is_open || (r->text.widths.instr - 1 < 64 && r->text.widths.cycles - 1 < 64), "widths are 1 to 64");
    add(w, is_open ? (uint64_t)r->text.widths.instr << 32 | r->text.widths.cycles : 0);
    r->text.cpu_offsets = r->offsets;
    while (!w->out.broken && pfb_cpi_text_next(&r->text, r->cpus, PFB_CPI_CPU_LIMIT, &r->step)) {
        expect(w, r->step.offset >= last_end && r->text.at > r->step.offset, "steps follow each other");
        for (; counted < r->step.offset; counted++)
            lines += w->data[counted] == '\n';
        expect_if_unchanged(w, r->step.line == lines + 1, "the line number of an item is that of its offset");
        last_end = r->text.at;
        add(w, (uint64_t)r->step.line << 32 ^ r->step.offset);
        if (r->step.is_refusal)
            check_refusal(w, &r->step);
        else
            check_snapshot(w, r);
        w->out.items++;
        change_byte(w, r->step.offset);
    }
    if (!w->out.broken)
        check_end(w, r);
    free(r);
}

/* ---- Writing ------------------------------------------------------------------------------------------- */

static bool is_same_snapshot(const pfb_cpi_step *a, const pfb_cpi_step *b)
{
    const pfb_cpi_snapshot *s = &a->snapshot;
    const pfb_cpi_snapshot *t = &b->snapshot;
    if (s->clock != t->clock || s->cpu_count != t->cpu_count || s->has_thread != t->has_thread ||
        a->has_busy != b->has_busy || a->is_user_only != b->is_user_only || s->thread.tid != t->thread.tid ||
        s->thread.instr != t->thread.instr || s->thread.cycles != t->thread.cycles)
        return false;
    for (size_t i = 0; i < s->cpu_count; i++) {
        const pfb_cpi_cpu *c = &s->cpus[i];
        const pfb_cpi_cpu *d = &t->cpus[i];
        if (c->cpu != d->cpu || c->instr != d->instr || c->cycles != d->cycles || c->busy != d->busy ||
            c->elapsed != d->elapsed)
            return false;
    }
    return true;
}

/* Writes header and step as a text. Returns NULL when memory is exhausted. */
static char *write_alone(const pfb_cpi_widths *widths, const pfb_cpi_step *step, const char *sentence, size_t *size)
{
    size_t head = pfb_cpi_text_write_head(widths, NULL, 0);
    size_t rest = pfb_cpi_text_write_step(step, sentence, NULL, 0);
    *size = head + rest;
    char *out = malloc(*size > 0 ? *size : 1);
    if (!out)
        return NULL;
    pfb_cpi_text_write_head(widths, out, head);
    pfb_cpi_text_write_step(step, sentence, out + head, rest);
    return out;
}

static void check_rewritten(walk *w, const snapshot_reader *r, snapshot_reader *reread)
{
    const pfb_cpi_step *step = &r->step;
    size_t length = step->is_refusal ? step->sentence_size_bytes : 0;
    char *sentence = calloc(length + 1, 1);
    if (sentence && length > 0)
        memcpy(sentence, w->data + step->sentence_offset, length);
    size_t size = 0;
    char *out = sentence ? write_alone(&r->text.widths, step, sentence, &size) : NULL;
    if (out) {
        bool is_read = pfb_cpi_text_open(&reread->text, out, size) &&
                       pfb_cpi_text_next(&reread->text, reread->cpus, PFB_CPI_CPU_LIMIT, &reread->step);
        expect(w, is_read && reread->step.is_refusal == step->is_refusal, "a written step can be read");
        expect(w,
               reread->text.widths.instr == r->text.widths.instr && reread->text.widths.cycles == r->text.widths.cycles,
               "written widths read as before");
        if (is_read && step->is_refusal)
            expect(w,
                   reread->step.code == step->code && reread->step.sentence_size_bytes == length &&
                       memcmp(out + reread->step.sentence_offset, sentence, length) == 0,
                   "a written refusal reads as before");
        else if (is_read)
            expect(w, is_same_snapshot(step, &reread->step), "a written snapshot reads as before");
        expect(w,
               !pfb_cpi_text_next(&reread->text, reread->cpus, 0, &reread->step) && reread->text.error.code == PFB_OK,
               "nothing else was written");
    }
    free(out);
    free(sentence);
}

/* Checks that the writer refuses steps and widths that the reader would reject. */
static void check_refused(walk *w)
{
    static pfb_cpi_cpu cpus[PFB_CPI_CPU_LIMIT + 1];
    for (uint32_t i = 0; i <= PFB_CPI_CPU_LIMIT; i++)
        cpus[i].cpu = i;
    const pfb_cpi_step too_many = {.snapshot = {.cpus = cpus, .cpu_count = PFB_CPI_CPU_LIMIT + 1}};
    expect(w, pfb_cpi_text_write_step(&too_many, NULL, NULL, 0) == 0, "too many CPUs are not written");
    cpus[1].cpu = 0;
    const pfb_cpi_step repeated = {.snapshot = {.cpus = cpus, .cpu_count = 2}};
    expect(w, pfb_cpi_text_write_step(&repeated, NULL, NULL, 0) == 0, "CPUs out of order are not written");
    const pfb_cpi_widths wide = {64, 65};
    expect(w, pfb_cpi_text_write_head(&wide, NULL, 0) == 0, "widths above 64 are not written");
}

/* Writes every step and reads it back. Also reads each snapshot of the input with capacity for one CPU less. */
static void check_writing(walk *w)
{
    snapshot_reader *both = malloc(2 * sizeof *both); /* readers of the input and of the written text */
    if (!both)
        return;
    check_refused(w);
    snapshot_reader *r = &both[0];
    pfb_cpi_text_open(&r->text, w->data, w->size);
    for (;;) {
        pfb_cpi_text before = r->text;
        if (w->out.broken || !pfb_cpi_text_next(&r->text, r->cpus, PFB_CPI_CPU_LIMIT, &r->step))
            break;
        check_rewritten(w, r, &both[1]);
        size_t count = r->step.is_refusal ? 0 : r->step.snapshot.cpu_count;
        if (count > 0)
            expect(w,
                   !pfb_cpi_text_next(&before, both[1].cpus, count - 1, &both[1].step) &&
                       before.error.code == PFB_CALLER_TOO_SMALL,
                   "a capacity that is too small is reported");
    }
    free(both);
}

/* ---- Entry points ---------------------------------------------------------------------------------- */

reading read_cpi_text(const uint8_t *data, size_t size)
{
    walk w = {.data = data, .size = size};
    walk_text(&w);
    return w.out;
}

reading verify_cpi_text(const uint8_t *data, size_t size)
{
    reading whole = read_cpi_text(data, size);
    reading repeated = read_cpi_text(data, size);
    walk w = {.data = data, .size = size};
    w.out = whole;
    expect(&w, is_same_reading(&whole, &repeated), "reading the same bytes twice gives the same result");
    if (whole.error.code == PFB_BAD_CPI_LINE && whole.error.offset > 0) {
        reading before = read_cpi_text(data, whole.error.offset);
        expect(&w, before.error.code == PFB_OK && before.items <= whole.items + 1,
               "the lines before a malformed one are valid");
    }
    check_writing(&w);
    return w.out;
}

reading read_changing_cpi_text(uint8_t *data, size_t size, uint64_t seed)
{
    walk w = {.data = data, .size = size, .random = seed | 1};
    w.writable = data;
    walk_text(&w);
    return w.out;
}

void fuzz_cpi_text(const uint8_t *data, size_t size)
{
    uint8_t *copy = copy_input(data, size);
    if (!copy)
        return;
    end_round(copy, verify_cpi_text(copy, size));
    copy = size > 0 ? copy_input(data, size) : NULL;
    if (!copy)
        return;
    end_round(copy, read_changing_cpi_text(copy, size, hash(data, size)));
}
