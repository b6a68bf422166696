/* SPDX-License-Identifier: MIT */
/* Conditions for executing LWP instructions: platform/lwp/cpu.c on a simulated machine. Executing an LWP
 * instruction where LWP cannot be used fails the test, as it would be illegal on real hardware. */
#include <criterion/criterion.h>

#include "lwp/cpu_private.h"
#include "perfblock/lwp/lwp.h"
#include "source/source_private.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- The machine ------------------------------------------------------------------------------------------------- */

/* One letter per CPU: U usable, E not enabled, L without LWP but with a filled leaf, I another vendor with a filled
 * leaf, B without the leaf, A not x86. */
static const char *simulated_cpus;
static size_t current_cpu;       /* position in simulated_cpus of the CPU that runs the thread */
static bool is_xcr0_known;       /* the system reports XCR0 */
static bool is_state_enabled;    /* XCR0 bit 62 */
static unsigned pins_left;       /* pinning fails when it is 0 */
static unsigned open_handles;    /* of pfb_cpus */
static unsigned executed;        /* instructions, on CPUs that allow them */
static const void *loaded_block; /* the address loaded by the last LLWPCB */
static uint64_t last_operand;

static void make_machine(const char *cpus)
{
    simulated_cpus = cpus;
    current_cpu = 0;
    is_xcr0_known = is_state_enabled = true;
    pins_left = UINT32_MAX;
    open_handles = executed = 0;
    loaded_block = NULL;
    last_operand = 0;
}

bool pfb_cpu_ask(uint32_t leaf, uint32_t subleaf, pfb_cpuid_leaf *answer)
{
    char cpu = simulated_cpus[current_cpu];
    *answer = (pfb_cpuid_leaf){.leaf = leaf, .subleaf = subleaf};
    if (leaf == 0)
        *answer = (pfb_cpuid_leaf){0, 0, 0x0D, 0x68747541, 0x444D4163, cpu == 'I' ? 0 : 0x69746E65};
    else if (leaf == 1)
        answer->ecx = UINT32_C(3) << 26;
    else if (leaf == 0x80000000)
        answer->eax = cpu == 'B' ? 0x80000008 : 0x8000001E;
    else if (leaf == 0x80000001)
        answer->ecx = cpu == 'L' ? 0 : UINT32_C(1) << 15;
    else if (leaf == 0x8000001C)
        *answer = (pfb_cpuid_leaf){leaf, 0, cpu == 'E' ? 0 : 0xE000000F, 0x80032013, 0x00010200, 0xE000000F};
    return cpu != 'A';
}

pfb_cpuid_xcr0 pfb_cpu_ask_xcr0(void)
{
    uint64_t value = is_state_enabled ? UINT64_C(0x4000000000000007) : 7;
    return is_xcr0_known ? (pfb_cpuid_xcr0){true, value} : (pfb_cpuid_xcr0){0};
}

struct pfb_cpus {
    size_t count;
};

pfb_cpus *pfb_cpus_open(pfb_source_failure *failure)
{
    pfb_cpus *cpus = calloc(1, sizeof *cpus);
    (void)failure;
    cr_assert_not_null(cpus);
    cpus->count = strlen(simulated_cpus);
    open_handles++;
    return cpus;
}

void pfb_cpus_close(pfb_cpus *cpus)
{
    open_handles -= cpus != NULL;
    free(cpus);
}

size_t pfb_cpus_count(const pfb_cpus *cpus)
{
    return cpus->count;
}

/* Numbers differ from positions, because a machine may number its CPUs in any way. */
uint32_t pfb_cpus_number(const pfb_cpus *cpus, size_t position)
{
    cr_assert_lt(position, cpus->count);
    return 2 * (uint32_t)position + 1;
}

bool pfb_cpus_pin(pfb_cpus *cpus, size_t position, pfb_source_failure *failure)
{
    if (position >= cpus->count || pins_left == 0)
        return pfb_source_fail(failure, PFB_WIN32_ACCESS_DENIED, "no pinning");
    pins_left--;
    current_cpu = position;
    return true;
}

static void execute(void)
{
    cr_assert(simulated_cpus[current_cpu] == 'U' && is_xcr0_known && is_state_enabled,
              "an LWP instruction on CPU %zu, which does not allow it", current_cpu);
    executed++;
}

void pfb_lwp_instruction_load(void *control)
{
    execute();
    loaded_block = control;
}

void *pfb_lwp_instruction_store(void)
{
    execute();
    return (void *)(uintptr_t)loaded_block;
}

bool pfb_lwp_instruction_insert(uint64_t data2, uint32_t data1)
{
    execute();
    last_operand = data2 + data1;
    return true;
}

/* ---- Capabilities ------------------------------------------------------------------------------------------------ */

Test(cpu_gate, the_refusal_describes_all_cpus)
{
    static const struct {
        const char *cpus;
        pfb_lwp_refusal refusal;
    } rows[] = {{"U", PFB_LWP_USABLE},      {"UUUU", PFB_LWP_USABLE},  {"E", PFB_LWP_NOT_ENABLED},
                {"L", PFB_LWP_NO_LWP},      {"I", PFB_LWP_NOT_AMD},    {"B", PFB_LWP_NO_LEAF},
                {"A", PFB_LWP_NOT_X86},     {"AA", PFB_LWP_NOT_X86},   {"LULU", PFB_LWP_PARTIAL},
                {"ULUL", PFB_LWP_PARTIAL},  {"LLLE", PFB_LWP_PARTIAL}, {"UE", PFB_LWP_PARTIAL},
                {"EEEEB", PFB_LWP_PARTIAL}, {"IL", PFB_LWP_NOT_AMD},   {"LI", PFB_LWP_NO_LWP}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        pfb_lwp_capabilities leaf;
        make_machine(rows[i].cpus);
        pfb_cpus *cpus = pfb_cpus_open(NULL);
        pfb_lwp_refusal refusal = pfb_cpus_lwp(cpus, &leaf);
        cr_expect_eq(refusal, rows[i].refusal, "%s: %s", rows[i].cpus, pfb_lwp_refusal_name(refusal));
        if (pfb_lwp_is_supported(refusal))
            cr_expect(leaf.event_bytes == 32 && !leaf.is_refused, "%s: the leaf is that of a CPU with LWP",
                      rows[i].cpus);
        pfb_cpus_close(cpus);
        cr_expect_eq(executed, 0, "%s", rows[i].cpus);
    }
}

/* A CPU that can no longer be pinned is skipped; if none can be pinned, the current CPU is used. */
Test(cpu_gate, cpus_that_cannot_be_pinned_are_skipped)
{
    pfb_lwp_capabilities leaf;
    make_machine("UL");
    pfb_cpus *cpus = pfb_cpus_open(NULL);
    pins_left = 1;
    cr_expect_eq(pfb_cpus_lwp(cpus, &leaf), PFB_LWP_USABLE);
    cr_expect_eq(pfb_cpus_lwp(cpus, &leaf), PFB_LWP_USABLE);
    cr_expect_eq(leaf.event_bytes, 32);
    current_cpu = 1;
    cr_expect_eq(pfb_cpus_lwp(cpus, &leaf), PFB_LWP_NO_LWP);
    pfb_cpus_close(cpus);
}

Test(cpu_gate, an_unknown_xcr0_counts_as_not_enabled)
{
    pfb_lwp_capabilities leaf;
    make_machine("U");
    cr_expect_eq(pfb_cpu_lwp(&leaf), PFB_LWP_USABLE);
    is_state_enabled = false;
    cr_expect_eq(pfb_cpu_lwp(&leaf), PFB_LWP_NO_XSTATE);
    is_xcr0_known = false;
    cr_expect_eq(pfb_cpu_lwp(&leaf), PFB_LWP_NO_XSTATE);
    is_state_enabled = true;
    cr_expect_eq(pfb_cpu_lwp(&leaf), PFB_LWP_NO_XSTATE);
    cr_expect_not(pfb_cpu_xcr0().is_known);
    cr_expect_eq(pfb_cpu_xcr0().value, 0);
}

/* ---- Opening ----------------------------------------------------------------------------------------------------- */

Test(cpu_gate, opening_fails_on_a_cpu_without_usable_lwp)
{
    static const char all[] = "ELIBA";
    static const pfb_lwp_refusal refusals[] = {PFB_LWP_NOT_ENABLED, PFB_LWP_NO_LWP, PFB_LWP_NOT_AMD, PFB_LWP_NO_LEAF,
                                               PFB_LWP_NOT_X86};
    make_machine(all);
    pfb_cpus *cpus = pfb_cpus_open(NULL);
    for (size_t i = 0; i < sizeof all - 1; i++) {
        pfb_lwp_capabilities leaf;
        pfb_lwp_refusal refusal;
        pfb_source_failure failure = {0};
        cr_expect_null(pfb_lwp_cpu_open(cpus, i, &leaf, &refusal, &failure));
        cr_expect_eq(refusal, refusals[i], "%c: %s", all[i], pfb_lwp_refusal_name(refusal));
        cr_expect_eq(failure.code, PFB_WIN32_NOT_SUPPORTED, "%c", all[i]);
        cr_expect_str_eq(failure.sentence, pfb_lwp_refusal_text(refusals[i]), "%c", all[i]);
    }
    pfb_cpus_close(cpus);
    cr_expect(executed == 0 && open_handles == 0);
}

Test(cpu_gate, opening_fails_without_pinning)
{
    pfb_lwp_capabilities leaf;
    pfb_lwp_refusal refusal;
    make_machine("UU");
    pfb_cpus *cpus = pfb_cpus_open(NULL);
    for (pins_left = 0; pins_left < 2; pins_left++) {
        unsigned pins = pins_left;
        pfb_source_failure failure = {0};
        cr_expect_null(pfb_lwp_cpu_open(cpus, 1, &leaf, &refusal, &failure), "%u", pins);
        cr_expect(refusal == PFB_LWP_USABLE && failure.code == PFB_WIN32_ACCESS_DENIED, "%u", pins);
        cr_expect_eq(open_handles, 1);
        pins_left = pins;
    }
    cr_expect_null(pfb_lwp_cpu_open(cpus, 2, &leaf, &refusal, NULL), "there is no CPU at this position");
    pfb_cpus_close(cpus);
    cr_expect_eq(executed, 0);
}

/* ---- Instructions ------------------------------------------------------------------------------------------------ */

/* A control block of Family 15h with a ring of the minimum size at address 0, which is not accessed. */
static uint8_t control[152];

static void make_control(void)
{
    memset(control, 0, sizeof control);
    control[PFB_LWP_AT_BUFFER_SIZE + 1] = 4; /* 1024 bytes */
}

static pfb_lwp_cpu *open_cpu(pfb_cpus **cpus, size_t position)
{
    pfb_lwp_capabilities leaf;
    pfb_lwp_refusal refusal;
    pfb_source_failure failure = {0};
    *cpus = pfb_cpus_open(NULL);
    pfb_lwp_cpu *cpu = pfb_lwp_cpu_open(*cpus, position, &leaf, &refusal, &failure);
    cr_assert_not_null(cpu, "%s", failure.sentence);
    cr_expect(refusal == PFB_LWP_USABLE && leaf.control_bytes == sizeof control && current_cpu == position);
    make_control();
    return cpu;
}

Test(cpu_gate, instructions_reach_the_cpu)
{
    pfb_cpus *cpus;
    make_machine("LU");
    pfb_lwp_cpu *cpu = open_cpu(&cpus, 1);
    cr_expect_eq(executed, 0, "opening executes no LWP instruction");
    cr_expect(pfb_lwp_cpu_load(cpu, control, NULL) && loaded_block == control);
    cr_expect(pfb_lwp_cpu_store(cpu) == control);
    cr_expect(pfb_lwp_cpu_insert(cpu, 100, 1) && last_operand == 101);
    cr_expect(pfb_lwp_cpu_load(cpu, NULL, NULL) && loaded_block == NULL);
    cr_expect(pfb_lwp_cpu_load(cpu, control, NULL));
    cr_expect_eq(executed, 5);
    pfb_lwp_cpu_close(cpu);
    cr_expect(executed == 6 && loaded_block == NULL, "closing disables LWP");
    pfb_cpus_close(cpus);
    pfb_lwp_cpu_close(NULL);
    cr_expect(executed == 6 && open_handles == 0);
}

static void use(pfb_lwp_cpu *cpu)
{
    pfb_lwp_cpu_load(cpu, control, NULL);
    pfb_lwp_cpu_store(cpu);
    pfb_lwp_cpu_insert(cpu, 1, 1);
}

/* Between two instructions something else may pin the thread to another CPU or unpin it, so it is pinned again before
 * each instruction. */
Test(cpu_gate, a_thread_that_was_moved_is_pinned_again)
{
    pfb_cpus *cpus;
    make_machine("LUL");
    pfb_lwp_cpu *cpu = open_cpu(&cpus, 1);
    pfb_cpus_pin(cpus, 0, NULL);
    cr_expect(pfb_lwp_cpu_load(cpu, control, NULL));
    pfb_cpus_pin(cpus, 2, NULL);
    cr_expect(pfb_lwp_cpu_store(cpu) == control);
    pfb_cpus_pin(cpus, 0, NULL);
    pfb_lwp_cpu_insert(cpu, 1, 1);
    current_cpu = 2;
    pfb_lwp_cpu_insert(cpu, 1, 1);
    pfb_cpus_close(cpus); /* before the CPU that was opened from it */
    current_cpu = 0;
    use(cpu);
    cr_expect_eq(executed, 7);
    current_cpu = 0;
    pfb_lwp_cpu_close(cpu);
    cr_expect(executed == 8 && open_handles == 0);
}

Test(cpu_gate, a_thread_that_cannot_be_pinned_executes_no_instruction)
{
    pfb_cpus *cpus;
    pfb_source_failure failure = {0};
    make_machine("LU");
    pfb_lwp_cpu *cpu = open_cpu(&cpus, 1);
    current_cpu = 0;
    pins_left = 0;
    cr_expect_not(pfb_lwp_cpu_load(cpu, control, &failure));
    cr_expect_eq(failure.code, PFB_WIN32_ACCESS_DENIED);
    cr_expect_null(pfb_lwp_cpu_store(cpu));
    cr_expect_not(pfb_lwp_cpu_insert(cpu, 1, 1));
    pfb_lwp_cpu_close(cpu);
    pfb_cpus_close(cpus);
    cr_expect(executed == 0 && open_handles == 0);
}

/* Blocks that every reading rejects, and blocks that only strict reading rejects. */
Test(cpu_gate, invalid_control_blocks_are_refused)
{
    static const struct {
        size_t at;
        uint8_t byte;
        const char *sentence;
    } rows[] = {
        {PFB_LWP_AT_BUFFER_SIZE + 1, 0,
         "the control block is refused: BufferSize is 0 (BufferSize, offset 4, value 0x0)"},
        {PFB_LWP_AT_BUFFER_SIZE + 1, 3,
         "the control block is refused: the ring is smaller than the leaf's minimum (BufferSize, offset 4, value "
         "0x300)"},
        {PFB_LWP_AT_HEAD, 1,
         "the control block is refused: BufferHeadOffset is inside a record (BufferHeadOffset, offset 16, value 0x1)"},
        {PFB_LWP_AT_TAIL + 1, 4,
         "the control block is refused: BufferTailOffset is outside the ring (BufferTailOffset, offset 64, value "
         "0x400)"},
    };
    pfb_cpus *cpus;
    make_machine("U");
    pfb_lwp_cpu *cpu = open_cpu(&cpus, 0);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        pfb_source_failure failure = {0};
        make_control();
        control[rows[i].at] = rows[i].byte;
        cr_expect_not(pfb_lwp_cpu_load(cpu, control, &failure), "%s", rows[i].sentence);
        cr_expect_eq(failure.code, PFB_WIN32_INVALID_PARAMETER);
        cr_expect_str_eq(failure.sentence, rows[i].sentence, "%s", failure.sentence);
    }
    cr_expect_eq(executed, 0);
    pfb_lwp_cpu_close(cpu);
    pfb_cpus_close(cpus);
}

/* Hardware would write records over the control block, so this block is not loaded. */
Test(cpu_gate, a_ring_over_the_block_is_refused)
{
    pfb_cpus *cpus;
    pfb_source_failure failure = {0};
    char sentence[200];
    uint64_t last = (uintptr_t)control + sizeof control - 1;
    make_machine("U");
    pfb_lwp_cpu *cpu = open_cpu(&cpus, 0);
    snprintf(
        sentence, sizeof sentence,
        "the control block is refused: control block and ring share addresses (BufferBase, offset 8, value 0x%llX)",
        (unsigned long long)last);
    make_control();
    for (unsigned i = 0; i < 8; i++)
        control[PFB_LWP_AT_BUFFER_BASE + i] = (uint8_t)(last >> 8 * i);
    cr_expect_not(pfb_lwp_cpu_load(cpu, control, &failure));
    cr_expect_eq(failure.code, PFB_WIN32_INVALID_PARAMETER);
    cr_expect_str_eq(failure.sentence, sentence, "%s", failure.sentence);
    for (unsigned i = 0; i < 8; i++)
        control[PFB_LWP_AT_BUFFER_BASE + i] = (uint8_t)((last + 1) >> 8 * i);
    cr_expect(executed == 0 && pfb_lwp_cpu_load(cpu, control, &failure) && executed == 1);
    pfb_lwp_cpu_close(cpu);
    pfb_cpus_close(cpus);
}
