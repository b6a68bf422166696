/* SPDX-License-Identifier: MIT */
/* Figures of an interval: a worked example, and what the vectors cannot express. tests/vectors/test_cpi.py compares
 * every count, status and figure with exact fractions. */
#include "perfblock/cpi/cpi.h"

#include <criterion/criterion.h>

#include <string.h>

static const pfb_cpi_widths wide = {64, 64};

static void expect_figures(const pfb_cpi_figures *f, pfb_cpi_status status, double raw, double scaled, double busy,
                           const char *what)
{
    cr_expect_eq(f->status, status, "%s: %s instead of %s", what, pfb_cpi_status_name(f->status),
                 pfb_cpi_status_name(status));
    cr_expect(f->raw_cpi == raw && f->scaled_cpi == scaled && f->busy_percent == busy, "%s: %.17g %.17g %.17g", what,
              f->raw_cpi, f->scaled_cpi, f->busy_percent);
}

/* CPI 3000000 / 1500000 and 3000000 / 3000120; scaled cycles 2250000 and 600000. */
Test(cpi, raw_and_scaled_figures_of_two_cpus_are_computed)
{
    static const pfb_cpi_cpu start_cpus[] = {{0, 0, 1000, 0, 1000}, {1, 5000, 1000, 0, 1000}};
    static const pfb_cpi_cpu end_cpus[] = {{0, 1500000, 3001000, 2250000, 3001000},
                                           {1, 3005120, 3001000, 600000, 3001000}};
    pfb_cpi_snapshot start = {.clock = 1000, .cpus = start_cpus, .cpu_count = 2};
    pfb_cpi_snapshot end = {.clock = 3001000, .cpus = end_cpus, .cpu_count = 2};
    pfb_cpi_figures cpus[2];
    pfb_cpi_result r;
    cr_assert_eq(pfb_cpi_compute(&start, &end, &wide, PFB_CPI_RAW | PFB_CPI_SCALED, cpus, &r), PFB_CPI_COMPUTED);
    cr_expect_eq(r.elapsed_cycles, 3000000);
    cr_expect(r.cpu_count == 2 && !r.cpus_changed && !r.has_thread && r.tid == 0);
    expect_figures(&cpus[0], PFB_CPI_OK, 2.0, 1.5, 75.0, "CPU 0");
    expect_figures(&cpus[1], PFB_CPI_OK, 0.999960001599936, 0.1999920003199872, 20.0, "CPU 1");
    expect_figures(&r.system, PFB_CPI_OK, 1.3332977787259006, 0.6333164448948028, 47.5, "the system");
    cr_expect(r.system.instr == 4500120 && r.system.cycles == 6000000 && r.system.busy == 2850000 &&
              r.system.elapsed == 6000000 && r.system.scaled_cycles == 2850000);
}

Test(cpi, without_cpus_the_figures_may_be_null)
{
    pfb_cpi_snapshot none = {.clock = 5};
    pfb_cpi_result r;
    cr_expect_eq(pfb_cpi_compute(&none, &none, &wide, PFB_CPI_SCALED, NULL, &r), PFB_CPI_NO_DATA);
    cr_expect(r.cpu_count == 0 && !r.cpus_changed && r.elapsed_cycles == 0);
    expect_figures(&r.system, PFB_CPI_NO_INSTR, 0.0, 0.0, 0.0, "the system");
}

/* The CPUs are not read, whatever their number. */
Test(cpi, a_thread_is_computed_without_cpus)
{
    pfb_cpi_snapshot start = {.cpu_count = PFB_CPI_CPU_LIMIT + 1, .has_thread = true, .thread = {42, 100, 200}};
    pfb_cpi_snapshot end = {.cpu_count = 1, .has_thread = true, .thread = {42, 104, 206}};
    pfb_cpi_result r;
    cr_expect_eq(pfb_cpi_compute(&start, &end, &wide, PFB_CPI_THREAD_ONLY, NULL, &r), PFB_CPI_COMPUTED);
    cr_expect(r.cpu_count == 0 && !r.cpus_changed);
    expect_figures(&r.thread, PFB_CPI_OK, 1.5, 0.0, 0.0, "the thread");
}

/* The figures and the result are not written unless there is a result. */
Test(cpi, refused_snapshots_leave_the_output_unchanged)
{
    static const struct {
        const char *what;
        pfb_cpi_widths widths;
        uint32_t second_cpu, tid, mode; /* a tid of 0: no thread at the end */
        uint64_t end_clock;
        pfb_cpi_verdict verdict;
    } rows[] = {
        {"valid arguments", {64, 64}, 2, 42, PFB_CPI_ON_THREAD, 6, PFB_CPI_COMPUTED},
        {"the smallest widths", {1, 1}, 2, 42, PFB_CPI_ON_THREAD, 5, PFB_CPI_COMPUTED},
        {"a width of 0 bits", {0, 64}, 2, 42, PFB_CPI_ON_THREAD, 6, PFB_CPI_BAD_ARGUMENT},
        {"another width of 0 bits", {64, 0}, 2, 42, PFB_CPI_ON_THREAD, 6, PFB_CPI_BAD_ARGUMENT},
        {"a width of 65 bits", {65, 64}, 2, 42, PFB_CPI_ON_THREAD, 6, PFB_CPI_BAD_ARGUMENT},
        {"another width of 65 bits", {64, 65}, 2, 42, PFB_CPI_ON_THREAD, 6, PFB_CPI_BAD_ARGUMENT},
        {"a width of 0 bits, and a clock that runs backward", {0, 64}, 2, 42, PFB_CPI_RAW, 4, PFB_CPI_BAD_ARGUMENT},
        {"two CPUs with one number", {64, 64}, 1, 42, PFB_CPI_RAW, 6, PFB_CPI_BAD_ARGUMENT},
        {"another thread", {64, 64}, 2, 43, PFB_CPI_ON_THREAD, 6, PFB_CPI_BAD_ARGUMENT},
        {"another thread, which is not requested", {64, 64}, 2, 43, PFB_CPI_SCALED, 6, PFB_CPI_COMPUTED},
        {"no thread at the end", {64, 64}, 2, 0, PFB_CPI_ON_THREAD, 6, PFB_CPI_BAD_ARGUMENT},
        {"a thread alone, with scaled figures",
         {64, 64},
         2,
         42,
         PFB_CPI_THREAD_ONLY | PFB_CPI_SCALED,
         6,
         PFB_CPI_BAD_ARGUMENT},
        {"an unknown mode", {64, 64}, 2, 42, 8, 6, PFB_CPI_BAD_ARGUMENT},
        {"a clock that runs backward", {64, 64}, 2, 42, PFB_CPI_RAW, 4, PFB_CPI_CLOCK_BACKWARD},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const pfb_cpi_cpu start_cpus[] = {{.cpu = 1}, {.cpu = rows[i].second_cpu}};
        const pfb_cpi_cpu end_cpus[] = {{1, 1, 1, 1, 1}, {rows[i].second_cpu, 1, 1, 1, 1}};
        pfb_cpi_snapshot start = {5, start_cpus, 2, true, {.tid = 42}};
        pfb_cpi_snapshot end = {rows[i].end_clock, end_cpus, 2, rows[i].tid != 0, {rows[i].tid, 1, 1}};
        struct {
            pfb_cpi_figures cpus[2];
            pfb_cpi_result result;
        } answer, untouched;
        memset(&answer, 0xA5, sizeof answer);
        memset(&untouched, 0xA5, sizeof untouched);
        cr_expect_eq(pfb_cpi_compute(&start, &end, &rows[i].widths, rows[i].mode, answer.cpus, &answer.result),
                     rows[i].verdict, "%s", rows[i].what);
        cr_expect_eq(memcmp(&answer, &untouched, sizeof answer) != 0, rows[i].verdict == PFB_CPI_COMPUTED, "%s",
                     rows[i].what);
    }
}

Test(cpi, every_status_has_a_name)
{
    static const char *const names[] = {"ok",      "wrapped",    "no_instr", "backward", "ambiguous",
                                        "invalid", "no_elapsed", "offline",  "overflow"};
    cr_assert_eq(sizeof names / sizeof names[0], PFB_CPI_STATUS_COUNT);
    for (unsigned i = 0; i < PFB_CPI_STATUS_COUNT; i++)
        cr_expect_str_eq(pfb_cpi_status_name((pfb_cpi_status)i), names[i]);
    cr_expect_str_eq(pfb_cpi_status_name(PFB_CPI_STATUS_COUNT), "unknown_status");
    cr_expect_str_eq(pfb_cpi_status_name((pfb_cpi_status)UINT32_MAX), "unknown_status");
}
