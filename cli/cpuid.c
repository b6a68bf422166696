/* SPDX-License-Identifier: MIT */
#include "commands.h"
#include "diagnostics.h"
#include "lwp.h"
#include "memory.h"
#include "perfblock/cpu.h"
#include "perfblock/cpuid_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What one CPU says. */
typedef struct cpu {
    pfb_cpuid_leaf *leaves;
    size_t count, capacity;
    uint32_t number;
    pfb_cpuid_xcr0 xcr0;
} cpu;

/* The CPUs of a dump or of this machine, in the order in which they were met. */
typedef struct cpu_list {
    cpu *cpus;
    size_t count, capacity;
    bool is_live;
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

/* ---- Where they come from --------------------------------------------------------------------------------------- */

static void read_dump(cpu_list *list, const char *path)
{
    input in;
    pfb_cpuid_text text;
    pfb_cpuid_row row;
    if (!input_read(&in, path, INPUT_DATA))
        return;
    pfb_cpuid_text_open(&text, in.data, in.size);
    while (pfb_cpuid_text_next(&text, &row)) {
        if (list->count <= row.cpu)
            add_cpu(list, row.cpu);
        add_leaf(&list->cpus[row.cpu], &row.leaf);
    }
    if (text.error.code == PFB_OK && list->count == 0)
        text.error = (pfb_error){.code = PFB_UNKNOWN_FORMAT};
    if (text.error.code != PFB_OK)
        diagnostics_malformed(path, text.error);
    input_free(&in);
}

static void ask_machine(cpu_list *list)
{
    pfb_source_failure failure = {0};
    pfb_cpus *cpus = pfb_cpus_open(&failure);
    if (!cpus) {
        diagnostics_say(STATUS_IMPOSSIBLE, "live", "%s", failure.sentence);
        return;
    }
    list->is_live = true;
    for (size_t i = 0; i < pfb_cpus_count(cpus); i++) {
        pfb_cpuid_leaf leaves[PFB_CPU_LEAVES];
        if (!pfb_cpus_pin(cpus, i, NULL)) /* switched off meanwhile */
            continue;
        size_t count = pfb_cpu_leaves(leaves);
        cpu *c = count > 0 ? add_cpu(list, pfb_cpus_number(cpus, i)) : NULL;
        for (size_t n = 0; n < count; n++)
            add_leaf(c, &leaves[n]);
        if (c)
            c->xcr0 = pfb_cpu_xcr0();
    }
    pfb_cpus_close(cpus);
    if (list->count == 0)
        diagnostics_say(STATUS_IMPOSSIBLE, "live", "%s", pfb_lwp_refusal_text(PFB_LWP_NOT_X86));
}

/* ---- What they say ---------------------------------------------------------------------------------------------- */

/* Whether some CPU has no LWP, whatever the system does. */
static bool lacks_lwp(const cpu_list *list)
{
    pfb_lwp_capabilities capabilities;
    for (size_t i = 0; i < list->count; i++) {
        pfb_cpuid cpuid = {list->cpus[i].leaves, list->cpus[i].count};
        if (!pfb_lwp_is_supported(pfb_cpuid_lwp(&cpuid, list->cpus[i].xcr0, &capabilities)))
            return true;
    }
    return false;
}

/* The answer for one CPU: where some have no LWP, that comes before what the system does. */
static pfb_lwp_refusal judge(const cpu *c, bool is_partial, pfb_lwp_capabilities *capabilities)
{
    pfb_cpuid cpuid = {c->leaves, c->count};
    pfb_lwp_refusal refusal = pfb_cpuid_lwp(&cpuid, c->xcr0, capabilities);
    return is_partial && pfb_lwp_is_supported(refusal) ? PFB_LWP_PARTIAL : refusal;
}

/* In text every part of a record has a line of its own. */
static void break_line(output *out, const char *name)
{
    if (out->format != OUTPUT_TEXT)
        return;
    output_end(out);
    output_begin(out, name, 0);
}

static void state_lwp(output *out, pfb_lwp_refusal refusal, const pfb_lwp_capabilities *lwp)
{
    break_line(out, "  lwp ");
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
        lwp_state_bits(out, "hardware", lwp->hardware & ~PFB_LWP_AVAILABLE);
        lwp_state_bits(out, "enabled", lwp->enabled & ~PFB_LWP_AVAILABLE);
        break_line(out, "      ");
        output_unsigned(out, "latency_bits", lwp->latency_bits);
        output_unsigned(out, "latency_rounding", lwp->latency_rounding);
        output_bool(out, "data_address", lwp->has_data_address);
        output_bool(out, "branch_prediction", lwp->has_branch_prediction);
        output_bool(out, "ip_filtering", lwp->has_ip_filtering);
        output_bool(out, "cache_levels", lwp->has_cache_levels);
        output_bool(out, "cache_latency", lwp->has_cache_latency);
        lwp_state_registers(out, lwp);
    }
    output_end_object(out);
}

static void state_identity(output *out, const cpu *c, const pfb_cpuid_identity *identity)
{
    output_string(out, "vendor", identity->vendor);
    output_unsigned(out, "cpu", c->number);
    output_string(out, "name", identity->name);
    output_unsigned(out, "family", identity->family);
    output_unsigned(out, "model", identity->model);
    output_unsigned(out, "stepping", identity->stepping);
    output_hex(out, "highest_leaf", identity->highest_leaf);
    output_hex(out, "highest_extended", identity->highest_extended);
    break_line(out, "  os  ");
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

static void state_cpu(output *out, const cpu *c, bool is_partial)
{
    pfb_cpuid_identity identity;
    pfb_lwp_capabilities capabilities;
    pfb_cpuid cpuid = {c->leaves, c->count};
    pfb_cpuid_identify(&cpuid, &identity);
    pfb_lwp_refusal refusal = judge(c, is_partial, &capabilities);
    output_begin(out, out->format == OUTPUT_TEXT ? "cpu " : NULL, 0);
    state_identity(out, c, &identity);
    state_lwp(out, refusal, &capabilities);
    if (refusal == PFB_LWP_USABLE) {
        output_null(out, "reason_code");
        output_null(out, "reason");
    } else {
        output_word(out, "reason_code", pfb_lwp_refusal_name(refusal));
        output_string(out, "reason", pfb_lwp_refusal_text(refusal));
    }
    output_end(out);
}

void command_cpuid(const options *o)
{
    output out;
    cpu_list list = {0};
    if (o->file_count > 0)
        read_dump(&list, o->files[0]);
    else
        ask_machine(&list);
    bool is_partial = lacks_lwp(&list);
    output_open(&out, o->format, options_color(o));
    for (size_t i = 0; i < list.count && !output_failed(&out); i++)
        state_cpu(&out, &list.cpus[i], is_partial);
    output_close(&out);
    free_list(&list);
}
