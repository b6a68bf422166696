/* SPDX-License-Identifier: MIT */
#include "hook_readers.h"

#include "perfblock/cpi/hooks.h"
#include "walk.h"

#include <stdlib.h>
#include <string.h>

/* ---- Reading ------------------------------------------------------------------------------------------- */

static bool is_figure_or_undefined(pfb_cpi_words words)
{
    double value;
    return pfb_cpi_words_value(words, &value) ||
           (words.integral == PFB_CPI_UNDEFINED && words.fraction == PFB_CPI_UNDEFINED);
}

static void walk_stored(walk *w, const pfb_cpi_hooks *hooks, const pfb_cpi_group *group, unsigned kind, uint32_t whose)
{
    pfb_cpi_stored s;
    if (!pfb_cpi_hooks_stored(hooks, group, (pfb_cpi_hook_kind)kind, whose, &s))
        return;
    bool is_valid = is_figure_or_undefined(s.cpi) &&
                    (!s.has_scaled || (is_figure_or_undefined(s.scaled_cpi) && is_figure_or_undefined(s.busy)));
    expect(w, is_valid || w->writable, "every figure is valid or undefined");
    add(w, s.instr ^ s.cycles ^ s.scaled_cycles);
    add(w, (uint64_t)s.cpi.integral << 32 ^ s.cpi.fraction);
}

static void walk_hook(walk *w, const pfb_cpi_hooks *hooks, const pfb_cpi_group *group, unsigned kind, size_t *end)
{
    const pfb_cpi_hook *hook = &group->hooks[kind];
    if (!hook->is_present) {
        pfb_cpi_stored s;
        expect(w, !pfb_cpi_hooks_stored(hooks, group, (pfb_cpi_hook_kind)kind, PFB_CPI_OF_SYSTEM, &s),
               "a hook that is absent has no figures");
        return;
    }
    size_t size = PFB_CPI_HOOK_HEADER_BYTES + (size_t)4 * hook->word_count;
    expect(w, hook->offset >= *end && hook->offset <= group->end_offset && size <= group->end_offset - hook->offset,
           "hooks follow each other inside their group");
    *end = hook->offset + size;
    for (uint32_t i = 0; i <= hook->cpu_count; i++)
        walk_stored(w, hooks, group, kind, i);
    walk_stored(w, hooks, group, kind, PFB_CPI_OF_SYSTEM);
    walk_stored(w, hooks, group, kind, PFB_CPI_OF_THREAD);
    w->out.items++;
}

static void walk_stream(walk *w, const pfb_cpi_limits *limits, uint64_t *groups)
{
    pfb_cpi_hooks hooks;
    pfb_cpi_group group;
    size_t end = 0;
    pfb_cpi_hooks_open(&hooks, w->data, w->size, limits);
    while (pfb_cpi_hooks_next(&hooks, &group)) {
        expect(w, group.offset >= end && group.offset < group.end_offset && group.end_offset <= w->size,
               "groups follow each other inside the stream");
        expect(w, hooks.error.code == PFB_OK, "a group is returned only without an error");
        if (w->out.broken)
            return;
        end = group.offset;
        for (unsigned kind = 0; kind < PFB_CPI_HOOK_COUNT; kind++)
            walk_hook(w, &hooks, &group, kind, &end);
        expect(w, end == group.end_offset, "a group ends with its last hook");
        for (size_t i = 0; i < group.label_size_bytes; i++) {
            expect(w, w->data[group.label_offset + i] != 0 || w->writable, "labels contain no NUL");
            add(w, w->data[group.label_offset + i]);
        }
        for (unsigned i = 0; i < PFB_CPI_WARNING_COUNT; i++)
            expect(w, group.warnings[i].count == 0 || group.warnings[i].offset < group.end_offset,
                   "the offset of a warning is not past its group");
        change_byte(w, end);
    }
    *groups = hooks.group_count;
    w->out.error = hooks.error;
    expect(w, hooks.error.offset <= w->size && hooks.word_offset <= w->size,
           "the offset of an error is inside the stream");
    expect(w, hooks.record_count <= w->size / PFB_CPI_HOOK_HEADER_BYTES, "every record has at least a header");
    expect(w, !pfb_cpi_hooks_next(&hooks, &group) && hooks.error.code == w->out.error.code,
           "no item is returned after the end");
}

/* Checks that with a limit of groups the same number of groups is returned, up to the limit; and the limits of bytes
 * and records. */
static void check_limits(walk *w, uint64_t groups)
{
    for (uint64_t limit = 1; limit <= 3; limit++) {
        walk limited = {.data = w->data, .size = w->size};
        const pfb_cpi_limits limits = {.groups = limit};
        uint64_t count = 0;
        walk_stream(&limited, &limits, &count);
        expect(w, count == (groups < limit ? groups : limit), "no more groups are returned than the limit allows");
        expect(w, groups > limit ? limited.out.error.code == PFB_CALLER_LIMIT : true,
               "a limit that is exceeded is reported");
        expect(w, !limited.out.broken, limited.out.broken);
    }
    pfb_cpi_hooks hooks;
    pfb_cpi_group group;
    for (uint64_t limit = 1; limit <= 3; limit++) {
        const pfb_cpi_limits limits = {.records = limit};
        pfb_cpi_hooks_open(&hooks, w->data, w->size, &limits);
        pfb_cpi_hooks_finish(&hooks);
        expect(w, hooks.record_count <= limit, "no more records are read than the limit allows");
    }
    const pfb_cpi_limits half = {.bytes = w->size / 2};
    pfb_cpi_hooks_open(&hooks, w->data, w->size, &half);
    while (pfb_cpi_hooks_next(&hooks, &group))
        expect(w, half.bytes == 0 || group.end_offset <= half.bytes, "groups lie within the limit of bytes");
}

/* ---- Writing ------------------------------------------------------------------------------------------- */

static bool add_up(uint64_t *sum, uint64_t addend)
{
    *sum += addend;
    return *sum >= addend;
}

/* A result with its figures and the identity of its group. */
typedef struct draft {
    pfb_cpi_figures *cpus; /* result.cpu_count elements */
    pfb_cpi_result result;
    pfb_cpi_identity identity;
} draft;

/* Sets the system's figures to the sums over CPUs. Returns false if they do not fit. */
static bool add_system(draft *d)
{
    pfb_cpi_figures *all = &d->result.system;
    bool fits = true;
    for (size_t i = 0; i < d->result.cpu_count; i++) {
        const pfb_cpi_figures *f = &d->cpus[i];
        fits = add_up(&all->instr, f->instr) && add_up(&all->cycles, f->cycles) && add_up(&all->busy, f->busy) &&
               add_up(&all->elapsed, f->elapsed) && add_up(&all->scaled_cycles, f->scaled_cycles) && fits;
    }
    return fits;
}

/* Writes the draft, reads it back and compares the counts of the CPUs. */
static void check_written(walk *w, const draft *d)
{
    size_t size = 0;
    pfb_code code = pfb_cpi_hooks_write(&d->result, d->cpus, &d->identity, NULL, 0, &size);
    uint8_t *out = malloc(size);
    expect(w, code == PFB_CALLER_TOO_SMALL && size > 0, "counts that add up can be written");
    if (!out || w->out.broken) {
        free(out);
        return;
    }
    code = pfb_cpi_hooks_write(&d->result, d->cpus, &d->identity, out, size, &size);
    expect(w, code == PFB_OK, "a group can be written in memory of its size");
    pfb_cpi_hooks hooks;
    pfb_cpi_group group;
    pfb_cpi_hooks_open(&hooks, out, size, NULL);
    bool is_read = pfb_cpi_hooks_next(&hooks, &group);
    expect(w, is_read && group.end_offset == size, "written data can be read");
    expect(w, is_read && group.warnings[PFB_CPI_WARN_FIGURE].count == 0, "figures match their counters");
    for (uint32_t i = 0; is_read && i < d->result.cpu_count; i++) {
        pfb_cpi_stored s;
        bool is_same = pfb_cpi_hooks_stored(&hooks, &group, PFB_CPI_PROCESSORS_HOOK, i, &s) &&
                       s.instr == d->cpus[i].instr && s.cycles == d->cpus[i].cycles &&
                       (!s.has_scaled || s.scaled_cycles == d->cpus[i].scaled_cycles);
        expect(w, is_same, "counts read as they were written");
    }
    free(out);
}

static void check_refused(walk *w, const draft *d, const char *text)
{
    size_t size = 1;
    pfb_code code = pfb_cpi_hooks_write(&d->result, d->cpus, &d->identity, NULL, 0, &size);
    expect(w, code == PFB_CALLER_ARGUMENT && size == 0, text);
}

/* Checks that the draft is refused with a label that is too long, without CPUs, and with a CPU that is busy for longer
 * than its time. */
static void check_refusals(walk *w, const draft *d)
{
    uint8_t label[PFB_CPI_MAX_LABEL_BYTES + 1];
    memset(label, 'a', sizeof label);
    draft changed = *d;
    changed.identity.label = label;
    changed.identity.label_size_bytes = sizeof label;
    check_refused(w, &changed, "a label that is too long is refused");
    changed = *d;
    changed.result.cpu_count = 0;
    changed.result.system = (pfb_cpi_figures){.instr = 0};
    check_refused(w, &changed, "a result without CPUs is refused");
    changed = *d;
    changed.result.cpu_count = 1;
    changed.result.mode |= PFB_CPI_SCALED;
    pfb_cpi_figures busy = {.instr = 1, .busy = 1};
    changed.result.system = busy;
    changed.cpus = &busy;
    check_refused(w, &changed, "busy cycles above the elapsed ones are refused");
}

/* Checks the writer with the draft if the sums of its counts fit 64 bits and it has instructions. Frees the draft's
 * CPUs. */
static void check_draft(walk *w, draft *d)
{
    d->identity.forms = PFB_CPI_FORM_SUMMARY | PFB_CPI_FORM_DETAILED;
    if (add_system(d) && d->result.system.instr > 0) {
        check_written(w, d);
        check_refusals(w, d);
    }
    free(d->cpus);
}

/* Writes a group with one CPU per 20 bytes of input. */
static void check_figures_of_bytes(walk *w)
{
    enum { BYTES_EACH = 20 };
    size_t count = w->size / BYTES_EACH < PFB_CPI_CPU_LIMIT ? w->size / BYTES_EACH : PFB_CPI_CPU_LIMIT;
    draft d = {.cpus = calloc(count, sizeof *d.cpus)};
    if (!d.cpus || count == 0) {
        free(d.cpus);
        return;
    }
    d.result = (pfb_cpi_result){.mode = PFB_CPI_RAW | (w->data[0] & PFB_CPI_SCALED), .cpu_count = count};
    d.identity.minor = w->data[1];
    for (size_t i = 0; i < count; i++) {
        uint32_t parts[5];
        memcpy(parts, w->data + BYTES_EACH * i, sizeof parts);
        unsigned shift = parts[4] % 33;
        uint64_t elapsed = (uint64_t)parts[2] << shift;
        d.cpus[i] = (pfb_cpi_figures){.instr = (uint64_t)parts[0] << shift,
                                      .cycles = (uint64_t)parts[1] << shift,
                                      .elapsed = elapsed,
                                      .busy = elapsed > 0 ? parts[3] % elapsed : 0,
                                      .scaled_cycles = parts[3]};
    }
    check_draft(w, &d);
}

/* Writes a group that was read, with the counts of its CPUs. A busy share becomes busy cycles out of 1,000,000 elapsed.
 */
static void check_rewriting(walk *w, const pfb_cpi_hooks *hooks, const pfb_cpi_group *group)
{
    const pfb_cpi_hook *processors = &group->hooks[PFB_CPI_PROCESSORS_HOOK];
    draft d = {.cpus = calloc(processors->cpu_count, sizeof *d.cpus)};
    if (!d.cpus)
        return;
    d.result.mode = processors->flags; /* the flags have the bits of the mode */
    d.result.elapsed_cycles = group->elapsed_cycles;
    d.result.cpu_count = processors->cpu_count;
    d.identity.minor = group->minor;
    d.identity.label = w->data + group->label_offset;
    d.identity.label_size_bytes = group->label_size_bytes;
    for (uint32_t i = 0; i < processors->cpu_count; i++) {
        pfb_cpi_stored s;
        pfb_cpi_hooks_stored(hooks, group, PFB_CPI_PROCESSORS_HOOK, i, &s);
        d.cpus[i] = (pfb_cpi_figures){.instr = s.instr, .cycles = s.cycles, .scaled_cycles = s.scaled_cycles, .cpu = i};
        if (s.has_scaled && s.busy.integral <= 100) {
            d.cpus[i].busy = (uint64_t)s.busy.integral * 10000 + s.busy.fraction;
            d.cpus[i].elapsed = 1000000;
        }
    }
    check_draft(w, &d);
}

static void check_writing(walk *w)
{
    pfb_cpi_hooks hooks;
    pfb_cpi_group group;
    pfb_cpi_hooks_open(&hooks, w->data, w->size, NULL);
    while (pfb_cpi_hooks_next(&hooks, &group)) {
        if (group.hooks[PFB_CPI_PROCESSORS_HOOK].is_present)
            check_rewriting(w, &hooks, &group);
    }
    check_figures_of_bytes(w);
}

/* ---- Entry points ---------------------------------------------------------------------------------- */

reading verify_hooks(const uint8_t *data, size_t size)
{
    walk w = {.data = data, .size = size};
    walk repeated = w;
    uint64_t groups = 0;
    uint64_t repeated_groups = 0;
    walk_stream(&w, NULL, &groups);
    walk_stream(&repeated, NULL, &repeated_groups);
    expect(&w, groups == repeated_groups && is_same_reading(&w.out, &repeated.out),
           "reading the same bytes twice gives the same result");
    pfb_cpi_hooks hooks;
    pfb_cpi_hooks_open(&hooks, data, size, NULL);
    pfb_error error = pfb_cpi_hooks_finish(&hooks);
    expect(&w, is_same_error(error, w.out.error) && hooks.group_count == groups,
           "the error does not depend on what is read");
    check_limits(&w, groups);
    check_writing(&w);
    return w.out;
}

reading read_changing_hooks(uint8_t *data, size_t size, uint64_t seed)
{
    uint64_t groups = 0;
    walk w = {.data = data, .size = size, .random = seed | 1};
    w.writable = data;
    walk_stream(&w, NULL, &groups);
    return w.out;
}

void fuzz_hooks(const uint8_t *data, size_t size)
{
    uint8_t *copy = copy_input(data, size);
    if (!copy)
        return;
    end_round(copy, verify_hooks(copy, size));
    copy = size > 0 ? copy_input(data, size) : NULL;
    if (!copy)
        return;
    end_round(copy, read_changing_hooks(copy, size, hash(data, size)));
}
