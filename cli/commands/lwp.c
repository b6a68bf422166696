/* SPDX-License-Identifier: MIT */
#include "commands/lwp.h"

#include "commands.h"
#include "memory/memory.h"
#include "output/diagnostics.h"
#include "perfblock/cpu.h"
#include "perfblock/lwp/lwp.h"
#include "visitor/visitor.h"

#include <stdlib.h>
#include <string.h>

/* ---- Showing ----------------------------------------------------------------------------------------------------- */

/* Prints the records of all LWP snapshots in a capture, or of a file that is one snapshot. */
static void show_input(output *out, const options *o, input *in)
{
    visitor v = {.in = in, .out = out, .options = &o->reader};
    visit_kind(&v, INPUT_LWP, "LWP snapshots");
}

static void show_file(output *out, const options *o, const char *path)
{
    input in;
    if (!input_read(&in, path, INPUT_AUTO))
        return;
    show_input(out, o, &in);
    input_free(&in);
}

/* ---- This machine ------------------------------------------------------------------------------------------------ */

void lwp_report_refusal(pfb_lwp_refusal refusal)
{
    diagnostics_say(STATUS_IMPOSSIBLE, "live", "%s: %s", pfb_lwp_refusal_name(refusal), pfb_lwp_refusal_text(refusal));
}

enum { LIVE_RECORDS = 8, ALIGNMENT = 64 };

/* Writes a number to a control block, in little-endian order. */
static void put_u32(uint8_t *at, uint32_t value)
{
    for (unsigned i = 0; i < 4; i++)
        at[i] = (uint8_t)(value >> 8 * i);
}

/* Memory for a control block and a ring. Both are aligned to 64 bytes, which is fastest for the processor. */
typedef struct live_memory {
    uint8_t *memory; /* of both; free with free() */
    uint8_t *control, *ring;
    uint32_t ring_bytes;
} live_memory;

static live_memory make_memory(const pfb_lwp_capabilities *leaf)
{
    enum { DEFAULT_RECORDS = 32 }; /* if the processor states no minimum */
    live_memory m = {.ring_bytes =
                         leaf->min_buffer_bytes > 0 ? leaf->min_buffer_bytes : DEFAULT_RECORDS * leaf->event_bytes};
    m.memory = memory_get(leaf->control_bytes + m.ring_bytes + 2 * ALIGNMENT, 1);
    m.control = m.memory + (ALIGNMENT - (uintptr_t)m.memory % ALIGNMENT) % ALIGNMENT;
    m.ring = m.control + leaf->control_bytes;
    m.ring += (ALIGNMENT - (uintptr_t)m.ring % ALIGNMENT) % ALIGNMENT;
    put_u32(m.control + PFB_LWP_AT_BUFFER_SIZE, m.ring_bytes);
    put_u32(m.control + PFB_LWP_AT_BUFFER_BASE, (uint32_t)(uintptr_t)m.ring);
    put_u32(m.control + PFB_LWP_AT_BUFFER_BASE + 4, (uint32_t)((uint64_t)(uintptr_t)m.ring >> 32));
    return m;
}

/* Prints the memory as a snapshot, as a capture stores it: the registers of the CPUID leaf, the control block and the
 * ring. */
static void show_memory(output *out, const options *o, const pfb_lwp_capabilities *leaf, const live_memory *m)
{
    input in = {.name = "live", .kind = INPUT_LWP};
    in.size = pfb_lwp_snapshot_write(leaf, m->control, leaf->control_bytes, m->ring, m->ring_bytes, NULL, 0);
    in.data = memory_get(in.size, 1);
    pfb_lwp_snapshot_write(leaf, m->control, leaf->control_bytes, m->ring, m->ring_bytes, in.data, in.size);
    show_input(out, o, &in);
    input_free(&in);
}

/* Executes LWPINS several times and prints the records that the processor wrote for it. */
static void record_events(output *out, const options *o, pfb_lwp_cpu *cpu, const pfb_lwp_capabilities *leaf)
{
    pfb_source_failure failure = {0};
    live_memory m = make_memory(leaf);
    if (pfb_lwp_cpu_load(cpu, m.control, &failure)) {
        for (uint32_t i = 0; i < LIVE_RECORDS; i++)
            pfb_lwp_cpu_insert(cpu, i, i);
        pfb_lwp_cpu_store(cpu);
        pfb_lwp_cpu_load(cpu, NULL, NULL); /* disables LWP, so that the memory can be freed */
        show_memory(out, o, leaf, &m);
    } else if (failure.code == PFB_WIN32_INVALID_PARAMETER) {
        diagnostics_say(STATUS_IMPOSSIBLE, "live", "%s: %s", pfb_lwp_refusal_name(PFB_LWP_BAD_CB), failure.sentence);
    } else {
        diagnostics_say(STATUS_IMPOSSIBLE, "live", "%s", failure.sentence);
    }
    free(m.memory);
}

static void show_machine(output *out, const options *o)
{
    pfb_source_failure failure = {0};
    pfb_lwp_capabilities leaf;
    pfb_cpus *cpus = pfb_cpus_open(&failure);
    pfb_lwp_refusal refusal = cpus ? pfb_cpus_lwp(cpus, &leaf) : pfb_cpu_lwp(&leaf);
    pfb_lwp_cpu *cpu = cpus && refusal == PFB_LWP_USABLE ? pfb_lwp_cpu_open(cpus, 0, &leaf, &refusal, &failure) : NULL;
    if (cpu)
        record_events(out, o, cpu, &leaf);
    else if (refusal != PFB_LWP_USABLE)
        lwp_report_refusal(refusal);
    else
        diagnostics_say(STATUS_IMPOSSIBLE, "live", "%s", failure.sentence);
    pfb_lwp_cpu_close(cpu);
    pfb_cpus_close(cpus);
}

void command_lwp_show(const options *o)
{
    output out;
    output_open(&out, o->format, options_color(o));
    for (size_t i = 0; i < o->file_count && !output_failed(&out); i++)
        show_file(&out, o, o->files[i]);
    if (o->file_count == 0)
        show_machine(&out, o);
    output_close(&out);
}
