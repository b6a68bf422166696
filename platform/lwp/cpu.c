/* SPDX-License-Identifier: MIT */
#include "lwp/cpu_private.h"

#include "perfblock/lwp/lwp.h"
#include "source/source_private.h"

#include <stdlib.h>

/* ---- Leaves -------------------------------------------------------------------------------------------------- */

#define FIRST_EXTENDED UINT32_C(0x80000000)

static size_t add_leaf(pfb_cpuid_leaf *leaves, size_t count, uint32_t leaf, uint32_t subleaf)
{
    return count + (pfb_cpu_ask(leaf, subleaf, &leaves[count]) ? 1 : 0);
}

/* Leaves above the highest supported one return arbitrary data, so they are not read. */
size_t pfb_cpu_leaves(pfb_cpuid_leaf leaves[PFB_CPU_LEAVES])
{
    static const struct {
        uint32_t leaf, subleaf;
    } wanted[] = {{1, 0},          {0x0D, 0},       {0x0D, 1},       {0x0D, PFB_CPUID_LWP_COMPONENT},
                  {0x80000001, 0}, {0x80000002, 0}, {0x80000003, 0}, {0x80000004, 0},
                  {0x8000001C, 0}};
    size_t count = add_leaf(leaves, 0, 0, 0);
    if (count == 0)
        return 0;
    uint32_t highest = leaves[0].eax;
    count = add_leaf(leaves, count, FIRST_EXTENDED, 0);
    uint32_t highest_extended = leaves[1].eax;
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        uint32_t limit = wanted[i].leaf < FIRST_EXTENDED ? highest : highest_extended;
        if (wanted[i].leaf <= limit)
            count = add_leaf(leaves, count, wanted[i].leaf, wanted[i].subleaf);
    }
    return count;
}

pfb_cpuid_xcr0 pfb_cpu_xcr0(void)
{
    pfb_cpuid_leaf leaves[PFB_CPU_LEAVES];
    pfb_cpuid_identity identity;
    pfb_cpuid cpuid = {leaves, pfb_cpu_leaves(leaves)};
    pfb_cpuid_identify(&cpuid, &identity);
    return identity.has_osxsave ? pfb_cpu_ask_xcr0() : (pfb_cpuid_xcr0){0};
}

/* If XCR0 is unknown, LWP counts as not enabled: its instructions might be illegal. */
pfb_lwp_refusal pfb_cpu_lwp(pfb_lwp_capabilities *capabilities)
{
    pfb_cpuid_leaf leaves[PFB_CPU_LEAVES];
    pfb_cpuid cpuid = {leaves, pfb_cpu_leaves(leaves)};
    if (cpuid.count == 0) {
        *capabilities = (pfb_lwp_capabilities){0};
        return PFB_LWP_NOT_X86;
    }
    pfb_cpuid_xcr0 xcr0 = pfb_cpu_xcr0();
    xcr0.is_known = true; /* if it was unknown, its value is 0: nothing enabled */
    return pfb_cpuid_lwp(&cpuid, xcr0, capabilities);
}

/* ---- All CPUs ---------------------------------------------------------------------------------------------------- */

static pfb_lwp_answer ask_current_cpu(void)
{
    pfb_lwp_answer answer = {.is_known = true}; /* only a text dump of CPUID can lack the leaves */
    answer.refusal = pfb_cpu_lwp(&answer.capabilities);
    return answer;
}

pfb_lwp_refusal pfb_cpus_lwp(pfb_cpus *cpus, pfb_lwp_capabilities *capabilities)
{
    pfb_lwp_answer machine = {0};
    for (size_t i = 0; i < pfb_cpus_count(cpus); i++) {
        if (!pfb_cpus_pin(cpus, i, NULL)) /* the CPU may have gone offline */
            continue;
        pfb_lwp_answer answer = ask_current_cpu();
        pfb_lwp_answer_join(&machine, &answer);
    }
    if (!machine.is_known) /* the thread could not be pinned to any: use the current CPU */
        machine = ask_current_cpu();
    *capabilities = machine.capabilities;
    return machine.refusal;
}

/* ---- LWP on one CPU ---------------------------------------------------------------------------------------------- */

struct pfb_lwp_cpu {
    pfb_cpus *cpus;  /* opened for this object, because the caller may close its own pfb_cpus */
    size_t position; /* in `cpus` */
    pfb_lwp_capabilities capabilities;
};

/* Pins the thread to the CPU. Called before each LWP instruction, because the program may have moved the thread. */
static bool pin_thread(const pfb_lwp_cpu *cpu, pfb_source_failure *failure)
{
    return pfb_cpus_pin(cpu->cpus, cpu->position, failure);
}

/* Opens cpu->cpus, finds in it the CPU with this number, and pins the thread to it. */
static bool reopen_cpus(pfb_lwp_cpu *cpu, uint32_t number, pfb_source_failure *failure)
{
    cpu->cpus = pfb_cpus_open(failure);
    if (!cpu->cpus)
        return false;
    while (cpu->position < pfb_cpus_count(cpu->cpus) && pfb_cpus_number(cpu->cpus, cpu->position) != number)
        cpu->position++;
    return pin_thread(cpu, failure);
}

pfb_lwp_cpu *pfb_lwp_cpu_open(pfb_cpus *cpus, size_t position, pfb_lwp_capabilities *capabilities,
                              pfb_lwp_refusal *refusal, pfb_source_failure *failure)
{
    *refusal = PFB_LWP_USABLE;
    *capabilities = (pfb_lwp_capabilities){0};
    if (!pfb_cpus_pin(cpus, position, failure))
        return NULL;
    *refusal = pfb_cpu_lwp(capabilities);
    if (*refusal != PFB_LWP_USABLE) {
        pfb_source_fail(failure, PFB_WIN32_NOT_SUPPORTED, "%s", pfb_lwp_refusal_text(*refusal));
        return NULL;
    }
    pfb_lwp_cpu *cpu = calloc(1, sizeof *cpu);
    if (!cpu) {
        pfb_source_fail_memory(failure);
        return NULL;
    }
    cpu->capabilities = *capabilities;
    if (reopen_cpus(cpu, pfb_cpus_number(cpus, position), failure))
        return cpu;
    pfb_cpus_close(cpu->cpus);
    free(cpu);
    return NULL;
}

void pfb_lwp_cpu_close(pfb_lwp_cpu *cpu)
{
    if (!cpu)
        return;
    if (pin_thread(cpu, NULL))
        pfb_lwp_instruction_load(NULL);
    pfb_cpus_close(cpu->cpus);
    free(cpu);
}

/* Returns the name of the field that pfb_lwp_open refused, or that PFB_LWP_NOTE_OVERLAP is about. */
static const char *field_name(const pfb_lwp_place *place)
{
    if (place->part == PFB_LWP_PART_LEAF)
        return place->offset == 12 ? "EDX of the leaf" : "EBX of the leaf";
    return place->offset == PFB_LWP_AT_BUFFER_SIZE   ? "BufferSize"
           : place->offset == PFB_LWP_AT_BUFFER_BASE ? "BufferBase"
           : place->offset == PFB_LWP_AT_HEAD        ? "BufferHeadOffset"
                                                     : "BufferTailOffset";
}

/* Validates the control block. The ring is not read, because hardware may be writing to it: pfb_lwp_open gets a pointer
 * that it does not dereference, and a size that no ring exceeds. */
static bool is_valid_control(const pfb_lwp_cpu *cpu, const void *control, pfb_source_failure *failure)
{
    pfb_lwp reader;
    bool is_read = pfb_lwp_open(&reader, &cpu->capabilities, control, cpu->capabilities.control_bytes, control,
                                UINT32_C(0x10000000), &(pfb_read_options){.is_strict = true});
    if (is_read)
        pfb_lwp_place_control(&reader, (uintptr_t)control);
    if (is_read && !(reader.notes & UINT32_C(1) << PFB_LWP_NOTE_OVERLAP))
        return true;
    const pfb_lwp_place *place = is_read ? &reader.first[PFB_LWP_NOTE_OVERLAP] : &reader.error_place;
    return pfb_source_fail(failure, PFB_WIN32_INVALID_PARAMETER, "%s: %s (%s, offset %zu, value 0x%llX)",
                           pfb_lwp_refusal_text(PFB_LWP_BAD_CB),
                           is_read ? pfb_lwp_note_text(PFB_LWP_NOTE_OVERLAP) : pfb_code_text(reader.error.code),
                           field_name(place), place->offset, (unsigned long long)place->value);
}

bool pfb_lwp_cpu_load(pfb_lwp_cpu *cpu, void *control, pfb_source_failure *failure)
{
    if ((control && !is_valid_control(cpu, control, failure)) || !pin_thread(cpu, failure))
        return false;
    pfb_lwp_instruction_load(control);
    return true;
}

void *pfb_lwp_cpu_store(pfb_lwp_cpu *cpu)
{
    return pin_thread(cpu, NULL) ? pfb_lwp_instruction_store() : NULL;
}

bool pfb_lwp_cpu_insert(pfb_lwp_cpu *cpu, uint64_t data2, uint32_t data1)
{
    return pin_thread(cpu, NULL) && pfb_lwp_instruction_insert(data2, data1);
}
