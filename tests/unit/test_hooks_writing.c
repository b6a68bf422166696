/* SPDX-License-Identifier: MIT */
/* CPI hooks: writing them and reading them back. */
#include "support_cpi.h"

#include <criterion/criterion.h>

#include <string.h>

/* ---- The worked examples ------------------------------------------------------------------------------- */

static void expect_bytes(int number, const pfb_cpi_result *result, const pfb_cpi_figures *cpus,
                         const pfb_cpi_identity *identity)
{
    bytes b = example(number);
    uint8_t *out = malloc(b.size); /* of exactly the expected size */
    size_t size = 0;
    cr_assert_not_null(out);
    cr_expect_eq(pfb_cpi_hooks_write(result, cpus, identity, out, b.size, &size), PFB_OK, "example %d", number);
    cr_assert_eq(size, b.size, "example %d: %zu bytes", number, size);
    for (size_t i = 0; i < size; i++)
        cr_expect_eq(out[i], b.data[i], "example %d: byte %zu is %02x", number, i, out[i]);
    free(out);
}

static const pfb_cpi_figures first_cpus[] = {
    {.instr = 1500000, .cycles = 3000000, .busy = 2250000, .elapsed = 3000000, .scaled_cycles = 2250000},
    {.instr = 3000120, .cycles = 3000000, .busy = 600000, .elapsed = 3000000, .scaled_cycles = 600000},
};

static const pfb_cpi_result first_result = {
    .mode = PFB_CPI_RAW | PFB_CPI_SCALED,
    .elapsed_cycles = 3000000,
    .cpu_count = 2,
    .system = {.instr = 4500120, .cycles = 6000000, .busy = 2850000, .elapsed = 6000000, .scaled_cycles = 2850000},
};

static const pfb_cpi_figures third_cpus[] = {
    {.status = PFB_CPI_WRAPPED,
     .instr = 4000,
     .cycles = 8000,
     .busy = 6000,
     .elapsed = 8000,
     .scaled_cycles = 6000,
     .cpu = 0},
    {.status = PFB_CPI_NO_INSTR, .cycles = 8000, .elapsed = 8000, .cpu = 1},
    {.status = PFB_CPI_OFFLINE, .cpu = 3},
};

static const pfb_cpi_result third_result = {
    .mode = PFB_CPI_RAW | PFB_CPI_SCALED | PFB_CPI_ON_THREAD,
    .elapsed_cycles = 8000,
    .cpu_count = 3,
    .system = {.instr = 4000, .cycles = 16000, .busy = 6000, .elapsed = 16000, .scaled_cycles = 6000},
    .has_thread = true,
    .tid = 900,
    .thread = {.instr = 3200, .cycles = 4801},
};

Test(cpi_hooks_writing, worked_examples_are_written)
{
    expect_bytes(1, &first_result, first_cpus, &(pfb_cpi_identity){.minor = 1});
    expect_bytes(1, &first_result, first_cpus, &(pfb_cpi_identity){.minor = 1, .forms = PFB_CPI_FORM_SUMMARY});

    const pfb_cpi_figures large = {.instr = UINT64_C(9000000000), .cycles = UINT64_C(12000000001)};
    const pfb_cpi_result second = {.mode = PFB_CPI_RAW | PFB_CPI_ON_THREAD,
                                   .elapsed_cycles = UINT64_C(12000000001),
                                   .cpu_count = 1,
                                   .system = large,
                                   .has_thread = true,
                                   .tid = 4242,
                                   .thread = {.instr = UINT64_C(8000000000), .cycles = UINT64_C(10500000000)}};
    const pfb_cpi_identity loop = {
        .minor = 0x2A, .forms = PFB_CPI_FORM_DETAILED, .label = "loop A", .label_size_bytes = 6};
    expect_bytes(2, &second, &large, &loop);

    const pfb_cpi_identity phase = {
        .minor = 7, .forms = PFB_CPI_FORM_SUMMARY | PFB_CPI_FORM_DETAILED, .label = "phase-03", .label_size_bytes = 8};
    expect_bytes(3, &third_result, third_cpus, &phase);
}

/* Computes the figures of the third example from its snapshots and writes them. */
Test(cpi_hooks_writing, the_third_example_is_written_from_its_snapshots)
{
    static const pfb_cpi_cpu start_cpus[] = {
        {0, UINT64_C(1099511626776), 10, 0, 0}, {1, 777, 10, 5, 0}, {3, 1, 1, 1, 1}};
    static const pfb_cpi_cpu end_cpus[] = {{0, 3000, 8010, 6000, 8000}, {1, 777, 8010, 5, 8000}};
    const pfb_cpi_snapshot start = {500, start_cpus, 3, true, {900, 0, 0}};
    const pfb_cpi_snapshot end = {8500, end_cpus, 2, true, {900, 3200, 4801}};
    const pfb_cpi_widths widths = {40, 64};
    pfb_cpi_figures cpus[3];
    pfb_cpi_result result;
    cr_assert_eq(pfb_cpi_compute(&start, &end, &widths, PFB_CPI_SCALED | PFB_CPI_ON_THREAD, cpus, &result),
                 PFB_CPI_COMPUTED);
    expect_bytes(3, &result, cpus,
                 &(pfb_cpi_identity){.minor = 7,
                                     .forms = PFB_CPI_FORM_SUMMARY | PFB_CPI_FORM_DETAILED,
                                     .label = "phase-03",
                                     .label_size_bytes = 8});
}

/* ---- Capacity and refusals ----------------------------------------------------------------------------- */

Test(cpi_hooks_writing, a_group_is_written_whole_or_not_at_all)
{
    const pfb_cpi_identity identity = {.minor = 1};
    uint8_t out[101];
    size_t size = 0;
    cr_expect_eq(pfb_cpi_hooks_write(&first_result, first_cpus, &identity, NULL, 0, &size), PFB_CALLER_TOO_SMALL);
    cr_expect_eq(size, 100);
    for (size_t capacity = 0; capacity < sizeof out; capacity++) {
        memset(out, 0xA5, sizeof out);
        pfb_code code = pfb_cpi_hooks_write(&first_result, first_cpus, &identity, out, capacity, &size);
        cr_expect_eq(code, capacity < 100 ? PFB_CALLER_TOO_SMALL : PFB_OK, "capacity %zu", capacity);
        cr_expect_eq(size, 100, "capacity %zu", capacity);
        for (size_t i = capacity < 100 ? 0 : 100; i < sizeof out; i++)
            cr_assert_eq(out[i], 0xA5, "capacity %zu: byte %zu is unchanged", capacity, i);
    }
}

static void expect_refused(const pfb_cpi_result *result, const pfb_cpi_figures *cpus, const pfb_cpi_identity *identity,
                           const char *what)
{
    static uint8_t out[65536];
    size_t size = 1;
    out[0] = 0xA5;
    cr_expect_eq(pfb_cpi_hooks_write(result, cpus, identity, out, sizeof out, &size), PFB_CALLER_ARGUMENT, "%s", what);
    cr_expect(size == 0 && out[0] == 0xA5, "%s", what);
}

Test(cpi_hooks_writing, invalid_identities_are_refused)
{
    static char label[300];
    memset(label, 'x', sizeof label);
    static const struct {
        const char *what;
        pfb_cpi_identity identity;
    } identities[] = {
        {"a minor code of 256", {.minor = 256}},
        {"the summary and an undefined form", {.forms = PFB_CPI_FORM_SUMMARY | 8}},
        {"only an undefined form", {.forms = 1}},
        {"a label of 256 bytes", {.label = label, .label_size_bytes = 256}},
        {"a label with a 0 inside", {.label = "a\0b", .label_size_bytes = 3}},
        {"a label with a 0 at its end", {.label = "ab", .label_size_bytes = 3}},
    };
    for (size_t i = 0; i < sizeof identities / sizeof identities[0]; i++)
        expect_refused(&third_result, third_cpus, &identities[i].identity, identities[i].what);
}

Test(cpi_hooks_writing, contradictory_results_are_refused)
{
    static const pfb_cpi_identity identity = {.minor = 1};
    static pfb_cpi_figures many[PFB_CPI_CPU_LIMIT + 1];
    pfb_cpi_result result = first_result;
    result.cpu_count = 0;
    expect_refused(&result, first_cpus, &identity, "no CPUs");
    result.cpu_count = PFB_CPI_CPU_LIMIT + 1;
    many[0] = first_result.system;
    expect_refused(&result, many, &identity, "too many CPUs");
    result = first_result;
    result.system.instr++;
    expect_refused(&result, first_cpus, &identity, "system instructions that are not the sum of the CPUs");
    result = first_result;
    result.system.cycles--;
    expect_refused(&result, first_cpus, &identity, "system cycles that are not the sum of the CPUs");
    result = first_result;
    result.system.scaled_cycles--;
    expect_refused(&result, first_cpus, &identity, "system scaled cycles that are not the sum of the CPUs");
    result = first_result;
    result.system.busy++;
    expect_refused(&result, first_cpus, &identity, "system busy cycles that are not the sum of the CPUs");
    result = first_result;
    result.mode |= PFB_CPI_ON_THREAD;
    expect_refused(&result, first_cpus, &identity, "the mode has a thread, but the result has none");

    pfb_cpi_figures cpus[2] = {{.cycles = 5}, {.cycles = 6}};
    result = (pfb_cpi_result){.mode = PFB_CPI_RAW, .cpu_count = 2, .system = {.cycles = 11}};
    expect_refused(&result, cpus, &identity, "a system without instructions");
    cpus[0].instr = cpus[1].instr = UINT64_C(1) << 63;
    result.system.instr = UINT64_MAX;
    expect_refused(&result, cpus, &identity, "a saturated sum of more than 64 bits");
    cpus[0].instr = 1;
    result.system.instr = (UINT64_C(1) << 63) + 1;
    result.mode |= PFB_CPI_SCALED;
    cpus[0].busy = result.system.busy = 2;
    cpus[0].elapsed = result.system.elapsed = 1;
    expect_refused(&result, cpus, &identity, "more busy than elapsed cycles");
}

/* ---- A thread alone ------------------------------------------------------------------------------------ */

Test(cpi_hooks_writing, a_thread_alone_has_the_detailed_form)
{
    const pfb_cpi_result result = {.mode = PFB_CPI_RAW | PFB_CPI_ON_THREAD | PFB_CPI_THREAD_ONLY,
                                   .elapsed_cycles = 10,
                                   .has_thread = true,
                                   .tid = 77,
                                   .thread = {.instr = 5, .cycles = 5}};
    pfb_cpi_identity identity = {.minor = 1, .forms = PFB_CPI_FORM_SUMMARY};
    expect_refused(&result, NULL, &identity, "a summary form for a thread alone");
    bytes b = {.size = 0};
    put_label(&b, 1, 10, "abcde", false);
    put_thread(&b, 1, 10);
    put_label(&b, 1, 10, "abcde", true);
    for (int i = 0; i < 2; i++) {
        uint8_t out[256];
        size_t size = 0;
        identity = (pfb_cpi_identity){
            .minor = 1, .forms = i ? PFB_CPI_FORM_DETAILED : 0, .label = "abcde", .label_size_bytes = 5};
        cr_assert_eq(pfb_cpi_hooks_write(&result, NULL, &identity, out, sizeof out, &size), PFB_OK, "forms %u",
                     identity.forms);
        cr_expect(size == b.size && memcmp(out, b.data, size) == 0, "forms %u", identity.forms);
    }
}

/* ---- Round trips --------------------------------------------------------------------------------------- */

static uint64_t random_state;

typedef struct sample {
    pfb_cpi_figures cpus[PFB_CPI_CPU_LIMIT];
    pfb_cpi_result result;
    pfb_cpi_identity identity;
    uint8_t label[PFB_CPI_MAX_LABEL_BYTES];
} sample;

/* Draws counts of up to 53 bits for each CPU, so that the sum of 1024 counts fits 64 bits. Some CPUs execute no
 * instructions. */
static void draw_sample(sample *s, size_t cpus, uint32_t mode, uint32_t forms)
{
    s->result = (pfb_cpi_result){
        .mode = PFB_CPI_RAW | mode, .elapsed_cycles = random_number(&random_state, 64), .cpu_count = cpus};
    for (size_t i = 0; i < cpus; i++) {
        pfb_cpi_figures *f = &s->cpus[i];
        *f = (pfb_cpi_figures){.cpu = (uint32_t)i};
        if (i == 0 || random_number(&random_state, 4) != 0) {
            f->instr = i == 0 ? 1 : random_number(&random_state, 53);
            f->cycles = random_number(&random_state, 53);
            f->elapsed = random_number(&random_state, 53);
            f->busy = random_number(&random_state, 53) % (f->elapsed + 1);
            f->scaled_cycles = random_number(&random_state, 53);
        }
        s->result.system.instr += f->instr;
        s->result.system.cycles += f->cycles;
        s->result.system.elapsed += f->elapsed;
        s->result.system.busy += f->busy;
        s->result.system.scaled_cycles += f->scaled_cycles;
    }
    if (mode & PFB_CPI_ON_THREAD) {
        s->result.has_thread = true;
        s->result.tid = (uint32_t)random_number(&random_state, 32);
        s->result.thread =
            (pfb_cpi_figures){.instr = random_number(&random_state, 64), .cycles = random_number(&random_state, 64)};
    }
    s->identity =
        (pfb_cpi_identity){.minor = (uint32_t)random_number(&random_state, 8), .forms = forms, .label = s->label};
    s->identity.stamp = (uint32_t)random_number(&random_state, 32);
    s->identity.label_size_bytes = random_number(&random_state, 2) ? (size_t)random_number(&random_state, 8) : 0;
    for (size_t i = 0; i < s->identity.label_size_bytes; i++)
        s->label[i] = (uint8_t)(1 + i % 255);
}

static void expect_figures(const pfb_cpi_hooks *hooks, const pfb_cpi_group *group, pfb_cpi_hook_kind kind,
                           uint32_t whose, const pfb_cpi_figures *f, bool is_scaled)
{
    const char *name = pfb_cpi_hook_name(kind);
    pfb_cpi_stored s;
    cr_assert(pfb_cpi_hooks_stored(hooks, group, kind, whose, &s), "%s of %u", name, whose);
    pfb_cpi_words cpi = divided_words(f->cycles, f->instr, 4);
    cr_expect(s.cpi.integral == cpi.integral && s.cpi.fraction == cpi.fraction, "%s of %u", name, whose);
    cr_expect_eq(s.has_counts, kind != PFB_CPI_SUMMARY_HOOK, "%s of %u", name, whose);
    cr_expect_eq(s.has_scaled, is_scaled, "%s of %u", name, whose);
    if (s.has_counts)
        cr_expect(s.instr == f->instr && s.cycles == f->cycles, "%s of %u", name, whose);
    if (!is_scaled)
        return;
    cpi = divided_words(f->scaled_cycles, f->instr, 4);
    pfb_cpi_words busy = divided_words(f->busy, f->elapsed, 6);
    cr_expect(s.scaled_cpi.integral == cpi.integral && s.scaled_cpi.fraction == cpi.fraction, "%s of %u", name, whose);
    cr_expect(s.busy.integral == busy.integral && s.busy.fraction == busy.fraction, "%s of %u", name, whose);
    if (s.has_counts)
        cr_expect_eq(s.scaled_cycles, f->scaled_cycles, "%s of %u", name, whose);
}

static void expect_group(const pfb_cpi_hooks *hooks, const pfb_cpi_group *group, const sample *s)
{
    const pfb_cpi_result *r = &s->result;
    bool is_scaled = r->mode & PFB_CPI_SCALED;
    cr_expect(group->minor == s->identity.minor && group->elapsed_cycles == r->elapsed_cycles);
    cr_expect_eq(group->label_size_bytes, s->identity.label_size_bytes);
    cr_expect(group->label_size_bytes == 0 ||
              memcmp(hooks->data + group->label_offset, s->label, group->label_size_bytes) == 0);
    cr_expect_eq(group->cpu_count, r->cpu_count);
    cr_expect_eq(group->warnings[PFB_CPI_WARN_FIGURE].count, 0);
    for (unsigned i = 0; i < PFB_CPI_HOOK_COUNT; i++)
        cr_expect(!group->hooks[i].is_present || group->hooks[i].stamp == s->identity.stamp);
    for (unsigned kind = PFB_CPI_SUMMARY_HOOK; kind <= PFB_CPI_PROCESSORS_HOOK; kind++) {
        bool is_summary = kind == PFB_CPI_SUMMARY_HOOK;
        uint32_t form = is_summary ? PFB_CPI_FORM_SUMMARY : PFB_CPI_FORM_DETAILED;
        cr_expect_eq(group->hooks[kind].is_present, (s->identity.forms & form) != 0);
        if (!group->hooks[kind].is_present)
            continue;
        for (uint32_t i = 0; kind != PFB_CPI_SYSTEM_HOOK && i < r->cpu_count; i++)
            expect_figures(hooks, group, (pfb_cpi_hook_kind)kind, i, &s->cpus[i], is_scaled);
        if (kind != PFB_CPI_PROCESSORS_HOOK)
            expect_figures(hooks, group, (pfb_cpi_hook_kind)kind, PFB_CPI_OF_SYSTEM, &r->system, is_scaled);
        if (is_summary && (r->mode & PFB_CPI_ON_THREAD))
            expect_figures(hooks, group, PFB_CPI_SUMMARY_HOOK, PFB_CPI_OF_THREAD, &r->thread, false);
    }
    if (group->hooks[PFB_CPI_THREAD_HOOK].is_present) {
        cr_expect_eq(group->tid, r->tid);
        expect_figures(hooks, group, PFB_CPI_THREAD_HOOK, PFB_CPI_OF_THREAD, &r->thread, false);
    }
}

/* Writes a group and reads it back; returns its size. */
static size_t check_round_trip(const sample *s)
{
    size_t size = 0;
    cr_assert_eq(pfb_cpi_hooks_write(&s->result, s->cpus, &s->identity, NULL, 0, &size), PFB_CALLER_TOO_SMALL);
    uint8_t *out = malloc(size);
    cr_assert_not_null(out);
    cr_assert_eq(pfb_cpi_hooks_write(&s->result, s->cpus, &s->identity, out, size, &size), PFB_OK);
    pfb_cpi_hooks hooks;
    pfb_cpi_group group;
    pfb_cpi_hooks_open(&hooks, out, size, NULL);
    cr_assert(pfb_cpi_hooks_next(&hooks, &group), "%s at %zu", pfb_code_name(hooks.error.code), hooks.error.offset);
    expect_group(&hooks, &group, s);
    cr_expect(group.end_offset == size && !pfb_cpi_hooks_next(&hooks, &group) && hooks.error.code == PFB_OK);
    free(out);
    return size;
}

enum { BOTH_FORMS = PFB_CPI_FORM_SUMMARY | PFB_CPI_FORM_DETAILED };

Test(cpi_hooks_writing, groups_that_are_written_are_read_back)
{
    static const uint32_t modes[] = {0, PFB_CPI_SCALED, PFB_CPI_ON_THREAD, PFB_CPI_SCALED | PFB_CPI_ON_THREAD};
    static const uint32_t forms[] = {PFB_CPI_FORM_SUMMARY, PFB_CPI_FORM_DETAILED, BOTH_FORMS};
    static sample s;
    for (size_t i = 0; i < 3000; i++) {
        draw_sample(&s, 1 + i % 17, modes[i % 4], forms[i % 3]);
        check_round_trip(&s);
    }
}

/* The largest possible hook has 12 + 4 * (4 + 12 * 1024) bytes. */
Test(cpi_hooks_writing, the_largest_number_of_cpus_is_written)
{
    static sample s;
    draw_sample(&s, PFB_CPI_CPU_LIMIT, PFB_CPI_SCALED, PFB_CPI_FORM_DETAILED);
    s.identity.label_size_bytes = 0;
    cr_expect_eq(check_round_trip(&s), 12 + 4 * 15 + 49180);
    draw_sample(&s, PFB_CPI_CPU_LIMIT, PFB_CPI_SCALED | PFB_CPI_ON_THREAD, BOTH_FORMS);
    check_round_trip(&s);
}
