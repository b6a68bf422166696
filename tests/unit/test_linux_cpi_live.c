/* SPDX-License-Identifier: MIT */
/* The live CPI source on the machine that runs the test. With counters, checks the number of instructions of a loop.
 * Without counters, opening a reader must fail with a code that a machine without counters can return. Prints which
 * case applies. */
#include "perfblock/cpi_source.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;

static void expect(bool is_so, const char *what)
{
    if (!is_so)
        printf("FAILED: %s\n", what);
    failures += !is_so;
}

/* ---- A loop ----------------------------------------------------------------------------------------------- */

#define ITERATIONS UINT32_C(50000000)

#if defined(__x86_64__) || defined(__i386__)
/* Two instructions per iteration. */
enum { MIN_PER_ITERATION = 2, MAX_PER_ITERATION = 2 };

static void run_loop(void)
{
    uint32_t left = ITERATIONS;
    __asm__ volatile("1: decl %0\n\tjnz 1b" : "+r"(left) : : "cc");
}
#else
/* An iteration takes at least one instruction, and no compiler generates more than twenty. */
enum { MIN_PER_ITERATION = 1, MAX_PER_ITERATION = 20 };

static void run_loop(void)
{
    for (uint32_t left = ITERATIONS; left > 0; left--)
        __asm__ volatile("" : "+r"(left));
}
#endif

/* ---- With counters ---------------------------------------------------------------------------------------- */

typedef struct snapshot {
    pfb_cpi_reading reading;
    pfb_cpi_cpu cpus[PFB_CPI_CPU_LIMIT];
} snapshot;

static snapshot first;
static snapshot last;
static pfb_cpi_figures figures[PFB_CPI_CPU_LIMIT];

/* Checks the counts of an interval in which the thread runs the loop. The thread may count up to 1.5 times the
 * instructions of the loop, because code around the loop and the kernel can execute instructions as well. */
static void check_counts(pfb_cpi_reader *reader, uint32_t mode)
{
    pfb_cpi_failure failure = {0};
    pfb_cpi_result result = {0};
    bool is_read =
        pfb_cpi_reader_read(reader, PFB_CPI_AT_START, first.cpus, PFB_CPI_CPU_LIMIT, &first.reading, &failure);
    run_loop();
    is_read =
        is_read && pfb_cpi_reader_read(reader, PFB_CPI_AT_END, last.cpus, PFB_CPI_CPU_LIMIT, &last.reading, &failure);
    if (!is_read) {
        printf("read: %d: %s\n", failure.code, failure.sentence);
        expect(false, "the counters can be read");
        return;
    }
    pfb_cpi_compute(&first.reading.snapshot, &last.reading.snapshot, &last.reading.widths, mode, figures, &result);
    const uint64_t min = (uint64_t)ITERATIONS * MIN_PER_ITERATION;
    const uint64_t max = (uint64_t)ITERATIONS * MAX_PER_ITERATION * 3 / 2;
    if (result.has_thread) {
        printf("thread: %" PRIu64 " instructions, %" PRIu64 " cycles\n", result.thread.instr, result.thread.cycles);
        expect(result.thread.instr >= min && result.thread.instr <= max,
               "the thread's instructions are those of the loop");
        expect(result.thread.cycles > 0, "the thread took cycles");
    }
    if (!(mode & PFB_CPI_THREAD_ONLY)) {
        printf("CPUs: %" PRIu64 " instructions, %" PRIu64 " cycles\n", result.system.instr, result.system.cycles);
        expect(result.system.instr >= min, "the CPUs' instructions include those of the loop");
        expect(result.system.cycles >= result.elapsed_cycles, "the CPUs' cycles are at least the elapsed cycles");
    }
}

/* ---- Without counters ------------------------------------------------------------------------------- */

static void check_refusal(const pfb_cpi_failure *failure, const char *event)
{
    static const int known[] = {PFB_PU_ERROR_NOT_VALID_IN_VM, PFB_PU_ERROR_NOT_SUPPORTED, PFB_PU_ERROR_ACCESS_DENIED,
                                PFB_PU_ERROR_REQUIRED_APIS_MISSING};
    bool is_known = false;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        is_known = is_known || failure->code == known[i];
    printf("refused: %d: %s\n", failure->code, failure->sentence);
    expect(is_known, "the code is one that a machine without counters can return");
    expect(strstr(failure->sentence, event) || strstr(failure->sentence, "perf_event_paranoid"),
           "the sentence names the event or perf_event_paranoid");
}

static void check_mode(pfb_cpi_source *source, uint32_t mode, const char *event)
{
    pfb_cpi_failure failure = {0};
    pfb_cpi_reader *reader = pfb_cpi_reader_open(source, mode, &failure);
    printf("mode %08" PRIx32 ", %s: ", mode, reader ? "counters" : "no counters");
    if (reader)
        check_counts(reader, mode);
    else
        check_refusal(&failure, event);
    pfb_cpi_reader_close(reader);
}

int main(void)
{
    pfb_cpi_failure failure = {0};
    pfb_cpi_source *source = pfb_cpi_source_open_live(&failure);
    if (!source) {
        printf("FAILED: the source cannot be opened: %d: %s\n", failure.code, failure.sentence);
        return EXIT_FAILURE;
    }
    check_mode(source, PFB_CPI_THREAD_ONLY | PFB_CPI_ON_THREAD, "instructions of this thread");
    check_mode(source, PFB_CPI_RAW | PFB_CPI_SCALED, "instructions on CPU");
    check_mode(source, PFB_CPI_RAW | PFB_CPI_ON_THREAD, "instructions");
    pfb_cpi_source_close(source);
    return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
