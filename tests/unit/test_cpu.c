/* SPDX-License-Identifier: MIT */
/* Tests on the CPUs of this machine: properties that hold for any CPU, and comparisons with /proc/cpuinfo. */
#include <criterion/criterion.h>

#include "perfblock/cpu.h"

#include <stdio.h>
#include <string.h>

Test(cpu, leaves_are_in_the_range_of_the_cpu)
{
    pfb_cpuid_leaf leaves[PFB_CPU_LEAVES];
    size_t count = pfb_cpu_leaves(leaves);
    cr_assert_leq(count, PFB_CPU_LEAVES);
#if defined(__x86_64__) || defined(__i386__)
    cr_assert_geq(count, 2);
    cr_expect_eq(leaves[0].leaf, 0);
    cr_expect_eq(leaves[1].leaf, 0x80000000);
    for (size_t i = 2; i < count; i++)
        cr_expect_leq(leaves[i].leaf, leaves[i].leaf < 0x80000000 ? leaves[0].eax : leaves[1].eax, "leaf %x",
                      leaves[i].leaf);
#else
    cr_expect_eq(count, 0);
#endif
}

#if defined(__linux__) && (defined(__x86_64__) || defined(__i386__))
/* Finds the first value of a key in /proc/cpuinfo. */
static bool read_cpuinfo(const char *key, char *value, size_t capacity)
{
    char line[512];
    FILE *file = fopen("/proc/cpuinfo", "r");
    bool is_found = false;
    while (file && !is_found && fgets(line, sizeof line, file)) {
        char *colon = strchr(line, ':');
        is_found = colon && strncmp(line, key, strlen(key)) == 0;
        if (is_found)
            snprintf(value, capacity, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
    }
    if (file)
        fclose(file);
    return is_found;
}

Test(cpu, identity_is_that_of_proc_cpuinfo)
{
    pfb_cpuid_leaf leaves[PFB_CPU_LEAVES];
    pfb_cpuid cpuid = {leaves, pfb_cpu_leaves(leaves)};
    pfb_cpuid_identity identity;
    char reported[128];
    char number[16];
    pfb_cpuid_identify(&cpuid, &identity);
    cr_assert(read_cpuinfo("vendor_id", reported, sizeof reported));
    cr_expect_str_eq(identity.vendor, reported);
    cr_assert(read_cpuinfo("cpu family", reported, sizeof reported));
    snprintf(number, sizeof number, "%u", identity.family);
    cr_expect_str_eq(number, reported);
    cr_assert(read_cpuinfo("model\t", reported, sizeof reported));
    snprintf(number, sizeof number, "%u", identity.model);
    cr_expect_str_eq(number, reported);
}
#endif

Test(cpu, lwp_is_refused_for_the_reason_in_cpuid)
{
    pfb_lwp_capabilities capabilities;
    pfb_lwp_capabilities leaf_capabilities;
    pfb_lwp_refusal refusal = pfb_cpu_lwp(&capabilities);
    pfb_cpuid_leaf leaves[PFB_CPU_LEAVES];
    pfb_cpuid cpuid = {leaves, pfb_cpu_leaves(leaves)};
    if (cpuid.count == 0)
        cr_expect_eq(refusal, PFB_LWP_NOT_X86);
    else
        cr_expect_eq(refusal, pfb_cpuid_lwp(&cpuid, pfb_cpu_xcr0(), &leaf_capabilities));
}

Test(cpu, every_cpu_can_be_pinned)
{
    pfb_source_failure failure = {0};
    pfb_cpus *cpus = pfb_cpus_open(&failure);
    cr_assert_not_null(cpus, "%s", failure.sentence);
    size_t count = pfb_cpus_count(cpus);
    cr_assert_geq(count, 1);
    for (size_t i = 0; i < count; i++) {
        cr_expect(pfb_cpus_pin(cpus, i, &failure), "CPU at position %zu: %s", i, failure.sentence);
        cr_expect(i == 0 || pfb_cpus_number(cpus, i) > pfb_cpus_number(cpus, i - 1), "CPU at position %zu", i);
    }
    cr_expect_not(pfb_cpus_pin(cpus, count, &failure));
    cr_expect_eq(failure.code, PFB_WIN32_INVALID_PARAMETER);
    pfb_cpus_close(cpus);
    cpus = pfb_cpus_open(&failure); /* closing restored the thread's affinity */
    cr_assert_not_null(cpus);
    cr_expect_eq(pfb_cpus_count(cpus), count);
    pfb_cpus_close(cpus);
    pfb_cpus_close(NULL);
}

Test(cpu, a_refused_opening_has_a_reason)
{
    pfb_source_failure failure = {0};
    pfb_lwp_capabilities of_all_cpus;
    pfb_lwp_capabilities capabilities;
    pfb_cpus *cpus = pfb_cpus_open(&failure);
    cr_assert_not_null(cpus);
    pfb_lwp_refusal expected = pfb_cpus_lwp(cpus, &of_all_cpus);
    for (size_t i = 0; i < pfb_cpus_count(cpus); i++) {
        pfb_lwp_refusal refusal;
        pfb_lwp_cpu *cpu = pfb_lwp_cpu_open(cpus, i, &capabilities, &refusal, &failure);
        cr_expect_eq(cpu != NULL, refusal == PFB_LWP_USABLE, "CPU at position %zu: %s", i, failure.sentence);
        if (expected != PFB_LWP_PARTIAL)
            cr_expect_eq(refusal, expected, "CPU at position %zu", i);
        if (!cpu) {
            cr_expect_eq(failure.code, PFB_WIN32_NOT_SUPPORTED, "CPU at position %zu", i);
            cr_expect_str_eq(failure.sentence, pfb_lwp_refusal_text(refusal), "CPU at position %zu", i);
        }
        pfb_lwp_cpu_close(cpu);
    }
    pfb_cpus_close(cpus);
}
