/* SPDX-License-Identifier: MIT */
#include "memory/memory.h"
#include "perfblock/cpi/text.h"
#include "perfblock/cpi_code.h"
#include "walk/walk.h"

#include <stdlib.h>

/* State of the walk of a text of CPI snapshots. */
typedef struct step_walk {
    walk *w;
    const file_bytes *bytes;
    pfb_cpi_text text;
    pfb_cpi_step step;
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
    if (s->step.has_busy) {
        output_unsigned(out, "busy", cpu->busy);
        output_unsigned(out, "elapsed", cpu->elapsed);
    } else {
        output_null(out, "busy");
        output_null(out, "elapsed");
    }
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

void walk_snapshots(walk *w, const file_bytes *bytes)
{
    step_walk s = {.w = w, .bytes = bytes};
    pfb_cpi_cpu *cpus = memory_get(PFB_CPI_MOST_CPUS, sizeof *cpus);
    size_t *offsets = memory_get(PFB_CPI_MOST_CPUS, sizeof *offsets);
    pfb_cpi_text_open(&s.text, bytes->data, bytes->size);
    s.text.cpu_offsets = offsets;
    while (!output_failed(w->out) && pfb_cpi_text_next(&s.text, cpus, PFB_CPI_MOST_CPUS, &s.step)) {
        w->counts.steps++;
        print_step(&s);
    }
    walk_fail(w, bytes, s.text.error);
    free(cpus);
    free(offsets);
}
