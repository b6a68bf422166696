/* SPDX-License-Identifier: MIT */
/* Computes CPI figures from snapshots. Reads any number of cases from the standard input, as decimal numbers:
 *
 *     mode instr_width cycles_width, then for the start and for the end:
 *     clock has_thread tid instr cycles count, and `count` times: cpu instr cycles busy elapsed
 *
 * and prints one line for each case. It begins with the verdict. If there is a result, these fields follow: mode,
 * elapsed_cycles, cpu_count, cpus_changed, has_thread, tid, and then for the system, the thread and each CPU:
 *
 *     status instr cycles busy elapsed scaled_cycles raw_cpi scaled_cpi busy_percent cpu is_busy_clamped
 *
 * Doubles are printed as their bits. The program uses no test framework, so that it runs on any CPU, under emulation
 * and on boards. The exit status is 1 if a case is incomplete or a snapshot has more than PFB_CPI_CPU_LIMIT + 1 CPUs.
 */
#include "perfblock/cpi/cpi.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CAPACITY = PFB_CPI_CPU_LIMIT + 1 };

/* ---- Reading ------------------------------------------------------------------------------------------- */

/* Returns false if the input does not continue with a number. */
static bool read_number(uint64_t *value)
{
    return scanf("%" SCNu64, value) == 1;
}

static uint64_t take(void)
{
    uint64_t value;
    if (read_number(&value))
        return value;
    fputs("a case is incomplete\n", stderr);
    exit(1);
}

static pfb_cpi_snapshot take_snapshot(pfb_cpi_cpu cpus[CAPACITY])
{
    pfb_cpi_snapshot s = {.clock = take(), .cpus = cpus};
    s.has_thread = take() != 0;
    s.thread.tid = (uint32_t)take();
    s.thread.instr = take();
    s.thread.cycles = take();
    s.cpu_count = (size_t)take();
    if (s.cpu_count > CAPACITY) {
        fputs("too many CPUs\n", stderr);
        exit(1);
    }
    for (size_t i = 0; i < s.cpu_count; i++) {
        cpus[i].cpu = (uint32_t)take();
        cpus[i].instr = take();
        cpus[i].cycles = take();
        cpus[i].busy = take();
        cpus[i].elapsed = take();
    }
    return s;
}

/* ---- Printing ------------------------------------------------------------------------------------------ */

static void print_double(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    printf(" %016" PRIx64, bits);
}

static void print_figures(const pfb_cpi_figures *f)
{
    printf(" %s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64, pfb_cpi_status_name(f->status), f->instr,
           f->cycles, f->busy, f->elapsed, f->scaled_cycles);
    print_double(f->raw_cpi);
    print_double(f->scaled_cpi);
    print_double(f->busy_percent);
    printf(" %" PRIu32 " %d", f->cpu, f->is_busy_clamped);
}

static void print_result(const pfb_cpi_result *r, const pfb_cpi_figures *cpus)
{
    printf(" %" PRIu32 " %" PRIu64 " %u %d %d %" PRIu32, r->mode, r->elapsed_cycles, (unsigned)r->cpu_count,
           r->cpus_changed, r->has_thread, r->tid);
    print_figures(&r->system);
    print_figures(&r->thread);
    for (size_t i = 0; i < r->cpu_count; i++)
        print_figures(&cpus[i]);
}

int main(void)
{
    static pfb_cpi_cpu from[CAPACITY];
    static pfb_cpi_cpu to[CAPACITY];
    static pfb_cpi_figures figures[CAPACITY];
    uint64_t mode;
    while (read_number(&mode)) {
        pfb_cpi_widths widths = {.instr = (uint32_t)take()};
        widths.cycles = (uint32_t)take();
        pfb_cpi_snapshot start = take_snapshot(from);
        pfb_cpi_snapshot end = take_snapshot(to);
        pfb_cpi_result result;
        pfb_cpi_verdict verdict = pfb_cpi_compute(&start, &end, &widths, (uint32_t)mode, figures, &result);
        printf("%d", (int)verdict);
        if (verdict == PFB_CPI_COMPUTED || verdict == PFB_CPI_NO_DATA)
            print_result(&result, figures);
        putchar('\n');
    }
    return 0;
}
