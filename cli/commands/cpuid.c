/* SPDX-License-Identifier: MIT */
#include "commands.h"
#include "commands/cpuid_text.h"
#include "commands/lwp.h"
#include "memory/memory.h"
#include "output/diagnostics.h"
#include "perfblock/cpu.h"
#include "perfblock/lwp/cpuid_text.h"
#include "visitor/visits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The CPUID leaves of one CPU, and what they report about LWP. */
typedef struct cpu {
    pfb_cpuid_leaf *leaves;
    size_t count, capacity;
    uint32_t number;
    pfb_cpuid_xcr0 xcr0;
    pfb_lwp_answer answer;
} cpu;

/* The CPUs of a dump or of this machine, in the order in which they were found. */
typedef struct cpu_list {
    cpu *cpus;
    size_t count, capacity;
} cpu_list;

static cpu *add_cpu(cpu_list *list, uint32_t number)
{
    list->cpus = memory_grow(list->cpus, &list->capacity, list->count + 1, sizeof *list->cpus);
    list->cpus[list->count] = (cpu){.number = number};
    return &list->cpus[list->count++];
}

static void add_leaf(cpu *c, const pfb_cpuid_leaf *leaf)
{
    c->leaves = memory_grow(c->leaves, &c->capacity, c->count + 1, sizeof *c->leaves);
    c->leaves[c->count++] = *leaf;
}

static void free_list(cpu_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->cpus[i].leaves);
    free(list->cpus);
}

/* ---- Reading CPUs ------------------------------------------------------------------------------------------------ */

static void read_dump(cpu_list *list, const char *path)
{
    input in;
    pfb_cpuid_text text;
    pfb_cpuid_row row;
    if (!input_read(&in, path, INPUT_DATA))
        return;
    pfb_cpuid_text_open(&text, in.data, in.size);
    while (pfb_cpuid_text_next(&text, &row)) {
        if (list->count <= row.cpu) /* positions of CPUs ascend from 0 without gaps */
            add_cpu(list, row.cpu);
        add_leaf(&list->cpus[row.cpu], &row.leaf);
    }
    if (text.error.code == PFB_OK && list->count == 0)
        text.error = (pfb_error){.code = PFB_UNKNOWN_FORMAT};
    if (text.error.code != PFB_OK)
        diagnostics_malformed(path, text.error);
    input_free(&in);
    for (size_t i = 0; i < list->count; i++) {
        cpu *c = &list->cpus[i];
        pfb_cpuid cpuid = {c->leaves, c->count};
        c->answer = pfb_cpuid_lwp_answer(&cpuid, c->xcr0);
    }
}

/* Adds the CPU that this thread is pinned to. Returns false if it is not an x86 CPU. */
static bool read_cpu(cpu_list *list, uint32_t number)
{
    pfb_cpuid_leaf leaves[PFB_CPU_LEAVES];
    size_t count = pfb_cpu_leaves(leaves);
    if (count == 0)
        return false;
    cpu *c = add_cpu(list, number);
    for (size_t i = 0; i < count; i++)
        add_leaf(c, &leaves[i]);
    c->xcr0 = pfb_cpu_xcr0();
    c->answer.is_known = true;
    c->answer.refusal = pfb_cpu_lwp(&c->answer.capabilities);
    return true;
}

static void read_machine(cpu_list *list)
{
    pfb_source_failure failure = {0};
    pfb_cpus *cpus = pfb_cpus_open(&failure);
    if (!cpus) {
        diagnostics_say(STATUS_IMPOSSIBLE, "live", "%s", failure.sentence);
        return;
    }
    bool is_x86 = true;
    for (size_t i = 0; i < pfb_cpus_count(cpus); i++) {
        /* Pinning fails for a CPU that went offline, which is left out, and always if the system cannot pin threads. */
        if (pfb_cpus_pin(cpus, i, &failure))
            is_x86 = read_cpu(list, pfb_cpus_number(cpus, i));
    }
    pfb_cpus_close(cpus);
    if (!is_x86)
        lwp_report_refusal(PFB_LWP_NOT_X86);
    else if (list->count == 0)
        diagnostics_say(STATUS_IMPOSSIBLE, "live", "%s", failure.sentence);
}

/* ---- Printing ---------------------------------------------------------------------------------------------------- */

/* Returns true if the CPUs differ in what they report about LWP, and at least one has it. */
static bool is_lwp_partial(const cpu_list *list)
{
    pfb_lwp_answer machine = {0};
    for (size_t i = 0; i < list->count; i++)
        pfb_lwp_answer_join(&machine, &list->cpus[i].answer);
    return machine.refusal == PFB_LWP_PARTIAL;
}

static void write_lwp(output *out, pfb_lwp_refusal refusal, const pfb_lwp_capabilities *lwp)
{
    output_begin_object(out, "lwp");
    output_bool(out, "supported", pfb_lwp_is_supported(refusal));
    output_bool(out, "available", refusal == PFB_LWP_USABLE);
    if (refusal != PFB_LWP_NOT_AMD && refusal != PFB_LWP_NO_LEAF) {
        output_unsigned(out, "version", lwp->version);
        output_unsigned(out, "cb_bytes", lwp->control_bytes);
        output_unsigned(out, "event_bytes", lwp->event_bytes);
        output_unsigned(out, "max_events", lwp->max_events);
        output_unsigned(out, "event_offset", lwp->event_offset);
        output_unsigned(out, "min_buffer_bytes", lwp->min_buffer_bytes);
        lwp_write_bits(out, "hardware", lwp->hardware & ~PFB_LWP_AVAILABLE, pfb_lwp_bit_name);
        lwp_write_bits(out, "enabled", lwp->enabled & ~PFB_LWP_AVAILABLE, pfb_lwp_bit_name);
        output_unsigned(out, "latency_bits", lwp->latency_bits);
        output_unsigned(out, "latency_rounding", lwp->latency_rounding);
        output_bool(out, "data_address", lwp->has_data_address);
        output_bool(out, "branch_prediction", lwp->has_branch_prediction);
        output_bool(out, "ip_filtering", lwp->has_ip_filtering);
        output_bool(out, "cache_levels", lwp->has_cache_levels);
        output_bool(out, "cache_latency", lwp->has_cache_latency);
        lwp_write_registers(out, lwp);
    }
    output_end_object(out);
}

static void write_identity(output *out, const cpu *c, const pfb_cpuid_identity *identity)
{
    output_string(out, "vendor", identity->vendor);
    output_unsigned(out, "cpu", c->number);
    output_string(out, "name", identity->name);
    output_unsigned(out, "family", identity->family);
    output_unsigned(out, "model", identity->model);
    output_unsigned(out, "stepping", identity->stepping);
    output_hex(out, "highest_leaf", identity->highest_leaf);
    output_hex(out, "highest_extended", identity->highest_extended);
    output_bool(out, "osxsave", identity->has_osxsave);
    output_hex(out, "components", identity->components);
    if (c->xcr0.is_known)
        output_hex(out, "xcr0", c->xcr0.value);
    else
        output_null(out, "xcr0");
    output_bool(out, "lwp_component", identity->has_lwp_component);
    output_unsigned(out, "lwp_component_bytes", identity->lwp_component_bytes);
    output_unsigned(out, "lwp_component_offset", identity->lwp_component_offset);
}

/* The reason why LWP cannot be used on a CPU, or PFB_LWP_USABLE. With `is_partial` (is_lwp_partial()), CPUs that have
 * LWP get PFB_LWP_PARTIAL, even if there is another reason. */
static pfb_lwp_refusal shown_refusal(const cpu *c, bool is_partial)
{
    return is_partial && pfb_lwp_is_supported(c->answer.refusal) ? PFB_LWP_PARTIAL : c->answer.refusal;
}

static void write_cpu(output *out, const cpu *c, bool is_partial)
{
    pfb_cpuid_identity identity;
    pfb_cpuid cpuid = {c->leaves, c->count};
    pfb_cpuid_identify(&cpuid, &identity);
    pfb_lwp_refusal refusal = shown_refusal(c, is_partial);
    output_begin(out, NULL, 0);
    write_identity(out, c, &identity);
    write_lwp(out, refusal, &c->answer.capabilities);
    if (refusal == PFB_LWP_USABLE) {
        output_null(out, "reason_code");
        output_null(out, "reason");
    } else {
        output_word(out, "reason_code", pfb_lwp_refusal_name(refusal));
        output_string(out, "reason", pfb_lwp_refusal_text(refusal));
    }
    output_end(out);
}

static void print_text(output *out, const cpu_list *list, bool is_partial)
{
    cpuid_text text = {0};
    for (size_t i = 0; i < list->count; i++) {
        const cpu *c = &list->cpus[i];
        pfb_cpuid cpuid = {c->leaves, c->count};
        cpuid_text_add(&text, c->number, &cpuid, c->xcr0, shown_refusal(c, is_partial), &c->answer.capabilities);
    }
    cpuid_text_print(&text, out);
}

void command_cpuid(const options *o)
{
    output out;
    cpu_list list = {0};
    if (o->file_count > 0)
        read_dump(&list, o->files[0]);
    else
        read_machine(&list);
    bool is_partial = is_lwp_partial(&list);
    output_open(&out, o->format, options_color(o));
    if (out.format == OUTPUT_TEXT)
        print_text(&out, &list, is_partial);
    else
        for (size_t i = 0; i < list.count && !output_failed(&out); i++)
            write_cpu(&out, &list.cpus[i], is_partial);
    output_close(&out);
    free_list(&list);
}
