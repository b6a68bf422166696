/* SPDX-License-Identifier: MIT */
#include "cpu_private.h"

#include "perfblock/lwp.h"
#include "source_private.h"

#include <stdlib.h>
#include <string.h>

/* ---- Leaves -------------------------------------------------------------------------------------------------- */

#define FIRST_EXTENDED UINT32_C(0x80000000)

static size_t add_leaf(pfb_cpuid_leaf *leaves, size_t count, uint32_t leaf, uint32_t subleaf)
{
    return count + (pfb_cpu_ask(leaf, subleaf, &leaves[count]) ? 1 : 0);
}

/* A leaf above the highest one answers garbage, so it is not asked. */
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
        uint32_t most = wanted[i].leaf < FIRST_EXTENDED ? highest : highest_extended;
        if (wanted[i].leaf <= most)
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

pfb_lwp_refusal pfb_cpu_lwp(pfb_lwp_capabilities *capabilities)
{
    pfb_cpuid_leaf leaves[PFB_CPU_LEAVES];
    pfb_cpuid cpuid = {leaves, pfb_cpu_leaves(leaves)};
    if (cpuid.count == 0) {
        *capabilities = (pfb_lwp_capabilities){0};
        return PFB_LWP_NOT_X86;
    }
    return pfb_cpuid_lwp(&cpuid, pfb_cpu_xcr0(), capabilities);
}

/* ---- All CPUs -------------------------------------------------------------------------------------------------- */

static bool is_same_leaf(const pfb_lwp_capabilities *a, const pfb_lwp_capabilities *b)
{
    return a->eax == b->eax && a->ebx == b->ebx && a->ecx == b->ecx && a->edx == b->edx;
}

pfb_lwp_refusal pfb_cpus_lwp(pfb_cpus *cpus, pfb_lwp_capabilities *capabilities)
{
    pfb_lwp_refusal answer = pfb_cpu_lwp(capabilities);
    bool is_first = true;
    for (size_t i = 0; i < pfb_cpus_count(cpus); i++) {
        pfb_lwp_capabilities here;
        if (!pfb_cpus_pin(cpus, i, NULL)) /* a CPU that was switched off meanwhile */
            continue;
        pfb_lwp_refusal refusal = pfb_cpu_lwp(&here);
        bool is_supported = pfb_lwp_is_supported(refusal);
        bool differs = !is_first && (is_supported || pfb_lwp_is_supported(answer)) &&
                       (refusal != answer || !is_same_leaf(&here, capabilities));
        if (is_first || (differs && is_supported && !pfb_lwp_is_supported(answer))) {
            *capabilities = here;
            answer = refusal;
        }
        if (differs)
            return PFB_LWP_PARTIAL;
        is_first = false;
    }
    return answer;
}

/* ---- LWP on one CPU ------------------------------------------------------------------------------------------- */

struct pfb_lwp_cpu {
    pfb_lwp_capabilities capabilities;
};

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
    pfb_lwp_cpu *cpu = malloc(sizeof *cpu);
    if (cpu)
        cpu->capabilities = *capabilities;
    else
        pfb_source_fail_memory(failure);
    return cpu;
}

void pfb_lwp_cpu_close(pfb_lwp_cpu *cpu)
{
    if (cpu)
        pfb_lwp_instruction_load(NULL);
    free(cpu);
}

/* The ring itself is not looked at: hardware writes it. So any pointer and any size stand for it. */
bool pfb_lwp_cpu_load(pfb_lwp_cpu *cpu, void *control, pfb_source_failure *failure)
{
    pfb_lwp reader;
    if (control && !pfb_lwp_open(&reader, &cpu->capabilities, control, cpu->capabilities.control_bytes, control,
                                 UINT32_C(0x10000000), PFB_STRICT))
        return pfb_source_fail(failure, PFB_WIN32_INVALID_PARAMETER, "%s: %s (offset %zu, value 0x%llX)",
                               pfb_lwp_refusal_text(PFB_LWP_BAD_CB), pfb_code_text(reader.error.code),
                               reader.error.offset, (unsigned long long)reader.error_place.value);
    pfb_lwp_instruction_load(control);
    return true;
}

void *pfb_lwp_cpu_store(pfb_lwp_cpu *cpu)
{
    (void)cpu;
    return pfb_lwp_instruction_store();
}

bool pfb_lwp_cpu_insert(pfb_lwp_cpu *cpu, uint64_t data2, uint32_t data1)
{
    (void)cpu;
    return pfb_lwp_instruction_insert(data2, data1);
}

void pfb_lwp_cpu_value(pfb_lwp_cpu *cpu, uint64_t data2, uint32_t data1)
{
    (void)cpu;
    pfb_lwp_instruction_value(data2, data1);
}
