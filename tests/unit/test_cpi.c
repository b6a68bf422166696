/* SPDX-License-Identifier: MIT */
/* Figures of an interval, computed from two snapshots of CPI counters. */
#include "perfblock/cpi/cpi.h"

#include <criterion/criterion.h>

#include <stdio.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define TWO_TO(bits) (UINT64_C(1) << (bits))

static const pfb_cpi_widths wide = {64, 64};

/* ---- Helpers ------------------------------------------------------------------------------------------- */

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static void expect_double(double value, double expected, const char *what)
{
    cr_expect_eq(bits_of(value), bits_of(expected), "%s: %.17g instead of %.17g", what, value, expected);
}

static void expect_status(pfb_cpi_status status, pfb_cpi_status expected, const char *what)
{
    cr_expect_eq(status, expected, "%s: %s instead of %s", what, pfb_cpi_status_name(status),
                 pfb_cpi_status_name(expected));
}

static void expect_figures(const pfb_cpi_figures *f, pfb_cpi_status status, double raw, double scaled, double busy,
                           const char *what)
{
    expect_status(f->status, status, what);
    expect_double(f->raw_cpi, raw, what);
    expect_double(f->scaled_cpi, scaled, what);
    expect_double(f->busy_percent, busy, what);
}

static void expect_counts(const pfb_cpi_figures *f, uint64_t instr, uint64_t cycles, uint64_t busy, uint64_t elapsed,
                          uint64_t scaled, const char *what)
{
    cr_expect(f->instr == instr && f->cycles == cycles && f->busy == busy && f->elapsed == elapsed &&
                  f->scaled_cycles == scaled,
              "%s: %llu %llu %llu %llu %llu", what, (unsigned long long)f->instr, (unsigned long long)f->cycles,
              (unsigned long long)f->busy, (unsigned long long)f->elapsed, (unsigned long long)f->scaled_cycles);
}

/* Checks the status, and that all other fields but the number of the CPU are 0. */
static void expect_unused(const pfb_cpi_figures *f, pfb_cpi_status status, const char *what)
{
    expect_figures(f, status, 0.0, 0.0, 0.0, what);
    expect_counts(f, 0, 0, 0, 0, 0, what);
    cr_expect(!f->is_busy_clamped, "%s", what);
}

/* Between these readings a CPU executes 1000 instructions in 2000 cycles and is busy half of the time. */
static const pfb_cpi_cpu usual_start = {7, 100, 200, 300, 400};
static const pfb_cpi_cpu usual_end = {7, 1100, 2200, 800, 1400};

/* Computes the figures of an interval with one CPU. If `end_cpu` is null, the CPU is offline at the end. */
static pfb_cpi_verdict measure_one(const pfb_cpi_cpu *start_cpu, const pfb_cpi_cpu *end_cpu,
                                   const pfb_cpi_widths *widths, uint64_t clock, pfb_cpi_figures *figures,
                                   pfb_cpi_result *result)
{
    pfb_cpi_snapshot start = {.cpus = start_cpu, .cpu_count = 1};
    pfb_cpi_snapshot end = {.clock = clock, .cpus = end_cpu, .cpu_count = end_cpu ? 1 : 0};
    return pfb_cpi_compute(&start, &end, widths, PFB_CPI_SCALED, figures, result);
}

/* Returns the figures of one CPU whose counters start at 0. */
static pfb_cpi_figures measure_counts(uint64_t instr, uint64_t cycles)
{
    pfb_cpi_cpu start_cpu = {.cpu = 0};
    pfb_cpi_cpu end_cpu = {.instr = instr, .cycles = cycles, .elapsed = 1};
    pfb_cpi_figures figures;
    pfb_cpi_result result;
    measure_one(&start_cpu, &end_cpu, &wide, 0, &figures, &result);
    return figures;
}

/* ---- Whole intervals ----------------------------------------------------------------------------------- */

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
    cr_expect_eq(r.mode, PFB_CPI_RAW | PFB_CPI_SCALED);
    cr_expect_eq(r.elapsed_cycles, 3000000);
    cr_expect(r.cpu_count == 2 && !r.cpus_changed && !r.has_thread && r.tid == 0);
    expect_figures(&cpus[0], PFB_CPI_OK, 2.0, 1.5, 75.0, "CPU 0");
    expect_figures(&cpus[1], PFB_CPI_OK, 0.999960001599936, 0.1999920003199872, 20.0, "CPU 1");
    expect_figures(&r.system, PFB_CPI_OK, 1.3332977787259006, 0.6333164448948028, 47.5, "the system");
    expect_counts(&r.system, 4500120, 6000000, 2850000, 6000000, 2850000, "the system");
}

Test(cpi, counts_above_32_bits_are_computed)
{
    static const pfb_cpi_cpu start_cpu = {.instr = UINT64_C(7000000000), .cycles = UINT64_C(68719476736)};
    static const pfb_cpi_cpu end_cpu = {.instr = UINT64_C(16000000000), .cycles = UINT64_C(80719476737)};
    pfb_cpi_snapshot start = {UINT64_C(68719476736), &start_cpu, 1, true, {4242, 100, 200}};
    pfb_cpi_snapshot end = {
        UINT64_C(80719476737), &end_cpu, 1, true, {4242, UINT64_C(8000000100), UINT64_C(10500000200)}};
    pfb_cpi_figures cpu;
    pfb_cpi_result r;
    cr_assert_eq(pfb_cpi_compute(&start, &end, &wide, PFB_CPI_ON_THREAD, &cpu, &r), PFB_CPI_COMPUTED);
    cr_expect_eq(r.mode, PFB_CPI_RAW | PFB_CPI_ON_THREAD);
    cr_expect_eq(r.elapsed_cycles, UINT64_C(12000000001));
    cr_expect(r.has_thread && r.tid == 4242);
    expect_figures(&cpu, PFB_CPI_OK, 1.3333333334444444, 0.0, 0.0, "CPU 0");
    expect_figures(&r.system, PFB_CPI_OK, 1.3333333334444444, 0.0, 0.0, "the system");
    expect_figures(&r.thread, PFB_CPI_OK, 1.3125, 0.0, 0.0, "the thread");
    expect_counts(&r.thread, UINT64_C(8000000000), UINT64_C(10500000000), 0, 0, 0, "the thread");
}

/* The instruction counter of CPU 0 wraps at 2^40; CPU 1 is idle; CPU 3 goes offline. */
Test(cpi, cpus_that_wrap_idle_or_go_offline_have_a_status)
{
    static const pfb_cpi_widths widths = {40, 64};
    static const pfb_cpi_cpu start_cpus[] = {
        {0, UINT64_C(1099511626776), 10, 0, 0}, {1, 777, 10, 5, 0}, {3, 1, 1, 1, 1}};
    static const pfb_cpi_cpu end_cpus[] = {{0, 3000, 8010, 6000, 8000}, {1, 777, 8010, 5, 8000}};
    pfb_cpi_snapshot start = {500, start_cpus, 3, true, {900, 0, 0}};
    pfb_cpi_snapshot end = {8500, end_cpus, 2, true, {900, 3200, 4801}};
    pfb_cpi_figures cpus[3];
    pfb_cpi_result r;
    cr_assert_eq(pfb_cpi_compute(&start, &end, &widths, PFB_CPI_SCALED | PFB_CPI_ON_THREAD, cpus, &r),
                 PFB_CPI_COMPUTED);
    cr_expect(r.cpu_count == 3 && r.cpus_changed && r.elapsed_cycles == 8000 && r.tid == 900);
    expect_figures(&cpus[0], PFB_CPI_WRAPPED, 2.0, 1.5, 75.0, "CPU 0");
    expect_counts(&cpus[0], 4000, 8000, 6000, 8000, 6000, "CPU 0");
    expect_figures(&cpus[1], PFB_CPI_NO_INSTR, 0.0, 0.0, 0.0, "CPU 1");
    expect_counts(&cpus[1], 0, 8000, 0, 8000, 0, "CPU 1");
    expect_unused(&cpus[2], PFB_CPI_OFFLINE, "CPU 3");
    cr_expect_eq(cpus[2].cpu, 3);
    expect_figures(&r.system, PFB_CPI_OK, 4.0, 1.5, 37.5, "the system");
    expect_counts(&r.system, 4000, 16000, 6000, 16000, 6000, "the system");
    expect_figures(&r.thread, PFB_CPI_OK, 1.5003125, 0.0, 0.0, "the thread");
}

/* ---- Differences --------------------------------------------------------------------------------------- */

Test(cpi, counters_of_each_width_wrap_at_their_width)
{
    static const struct {
        uint32_t width;
        uint64_t start, end;
        pfb_cpi_status status;
        uint64_t delta;
    } rows[] = {
        {40, TWO_TO(40) - 1, 0, PFB_CPI_WRAPPED, 1},
        {40, 5, 4, PFB_CPI_BACKWARD, 0},
        {40, 0, TWO_TO(40) - 1, PFB_CPI_OK, TWO_TO(40) - 1},
        {40, TWO_TO(39) + 1, 0, PFB_CPI_WRAPPED, TWO_TO(39) - 1}, /* just less than half the range */
        {40, TWO_TO(39), 0, PFB_CPI_BACKWARD, 0},                 /* half the range */
        {40, TWO_TO(40), TWO_TO(40) + 5, PFB_CPI_INVALID, 0},
        {40, 5, TWO_TO(40), PFB_CPI_INVALID, 0},
        {40, TWO_TO(40), 5, PFB_CPI_INVALID, 0},
        {64, 20, 10, PFB_CPI_BACKWARD, 0},
        {64, UINT64_MAX, 0, PFB_CPI_BACKWARD, 0}, /* 64-bit counters do not wrap */
        {64, 0, UINT64_MAX, PFB_CPI_OK, UINT64_MAX},
        {63, TWO_TO(63) - 1, 0, PFB_CPI_WRAPPED, 1},
        {63, TWO_TO(63), 0, PFB_CPI_INVALID, 0},
        {2, 3, 0, PFB_CPI_WRAPPED, 1},
        {2, 2, 0, PFB_CPI_BACKWARD, 0},
        {1, 0, 1, PFB_CPI_OK, 1},
        {1, 1, 0, PFB_CPI_BACKWARD, 0}, /* half the range */
        {1, 2, 2, PFB_CPI_INVALID, 0},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        pfb_cpi_cpu start_cpu = usual_start;
        pfb_cpi_cpu end_cpu = usual_end;
        pfb_cpi_figures f;
        pfb_cpi_result r;
        start_cpu.cycles = rows[i].start;
        end_cpu.cycles = rows[i].end;
        end_cpu.instr = TWO_TO(40); /* so that no CPI is too large */
        measure_one(&start_cpu, &end_cpu, &(pfb_cpi_widths){64, rows[i].width}, 0, &f, &r);
        cr_expect(f.status == rows[i].status && f.cycles == rows[i].delta, "cycles %zu: %s, %llu", i,
                  pfb_cpi_status_name(f.status), (unsigned long long)f.cycles);
        start_cpu = usual_start;
        end_cpu = usual_end;
        start_cpu.instr = rows[i].start;
        end_cpu.instr = rows[i].end;
        measure_one(&start_cpu, &end_cpu, &(pfb_cpi_widths){rows[i].width, 64}, 0, &f, &r);
        cr_expect(f.status == rows[i].status && f.instr == rows[i].delta, "instructions %zu: %s, %llu", i,
                  pfb_cpi_status_name(f.status), (unsigned long long)f.instr);
    }
}

/* An interval is ambiguous if it has at least as many clock cycles as the narrower counter has values. 64-bit counters
 * are never ambiguous. */
Test(cpi, intervals_with_more_than_one_possible_wrap_are_ambiguous)
{
    static const struct {
        pfb_cpi_widths widths;
        uint64_t clock;
        pfb_cpi_status status;
    } rows[] = {
        {{40, 64}, TWO_TO(40) - 1, PFB_CPI_OK},    {{40, 64}, TWO_TO(40), PFB_CPI_AMBIGUOUS},
        {{64, 40}, TWO_TO(40) - 1, PFB_CPI_OK},    {{64, 40}, TWO_TO(40), PFB_CPI_AMBIGUOUS},
        {{48, 40}, TWO_TO(40), PFB_CPI_AMBIGUOUS}, {{63, 64}, TWO_TO(63) - 1, PFB_CPI_OK},
        {{63, 64}, TWO_TO(63), PFB_CPI_AMBIGUOUS}, {{64, 64}, UINT64_MAX, PFB_CPI_OK},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        pfb_cpi_figures f;
        pfb_cpi_result r;
        pfb_cpi_verdict verdict = measure_one(&usual_start, &usual_end, &rows[i].widths, rows[i].clock, &f, &r);
        cr_expect_eq(verdict, rows[i].status == PFB_CPI_OK ? PFB_CPI_COMPUTED : PFB_CPI_NO_DATA, "row %zu", i);
        char what[32];
        snprintf(what, sizeof what, "row %zu", i);
        if (rows[i].status == PFB_CPI_OK)
            expect_figures(&f, PFB_CPI_OK, 2.0, 1.0, 50.0, what);
        else
            expect_unused(&f, PFB_CPI_AMBIGUOUS, what);
    }
}

/* ---- Statuses ------------------------------------------------------------------------------------------ */

/* Faults in the order of their precedence. The instruction counter has 40 bits and the cycle counter 48. */
enum { OFFLINE, AMBIGUOUS, INVALID, BACKWARD, NO_ELAPSED, NO_INSTR, OVERFLOW, WRAPPED, FAULT_COUNT };

static const pfb_cpi_status fault_statuses[FAULT_COUNT] = {PFB_CPI_OFFLINE,  PFB_CPI_AMBIGUOUS,  PFB_CPI_INVALID,
                                                           PFB_CPI_BACKWARD, PFB_CPI_NO_ELAPSED, PFB_CPI_NO_INSTR,
                                                           PFB_CPI_OVERFLOW, PFB_CPI_WRAPPED};

/* Returns the figures of a CPU with these faults, a bit for each. */
static pfb_cpi_figures measure_faults(unsigned faults)
{
    static const pfb_cpi_widths widths = {40, 48};
    pfb_cpi_cpu start_cpu = usual_start;
    pfb_cpi_cpu end_cpu = usual_end;
    if (faults & 1U << WRAPPED)
        start_cpu.cycles = TWO_TO(48) - 1;
    if (faults & 1U << OVERFLOW) {
        end_cpu.instr = start_cpu.instr + 1;
        end_cpu.cycles += TWO_TO(40);
    }
    if (faults & 1U << NO_INSTR)
        end_cpu.instr = start_cpu.instr;
    if (faults & 1U << NO_ELAPSED)
        end_cpu.elapsed = start_cpu.elapsed;
    if (faults & 1U << BACKWARD)
        end_cpu.busy = start_cpu.busy - 1;
    if (faults & 1U << INVALID)
        end_cpu.instr = TWO_TO(40);
    pfb_cpi_figures f;
    pfb_cpi_result r;
    bool is_offline = faults & 1U << OFFLINE;
    measure_one(&start_cpu, is_offline ? NULL : &end_cpu, &widths, faults & 1U << AMBIGUOUS ? TWO_TO(40) : 0, &f, &r);
    cr_expect_eq(r.cpus_changed, is_offline);
    return f;
}

Test(cpi, the_first_status_that_applies_is_reported)
{
    for (unsigned faults = 1; faults < 1U << FAULT_COUNT; faults++) {
        unsigned first = 0;
        while (!(faults & 1U << first))
            first++;
        pfb_cpi_figures f = measure_faults(faults);
        char what[32];
        snprintf(what, sizeof what, "faults 0x%x", faults);
        cr_expect_eq(f.cpu, 7, "%s", what);
        if (first < NO_INSTR) /* the CPU is left out of the sums of the system */
            expect_unused(&f, fault_statuses[first], what);
        else
            expect_status(f.status, fault_statuses[first], what);
    }
    pfb_cpi_figures f = measure_faults(0);
    expect_figures(&f, PFB_CPI_OK, 2.0, 1.0, 50.0, "no fault");
}

/* Counters are checked in the order instructions, cycles, busy, elapsed. The status is that of the first one that is
 * invalid or runs backward. */
Test(cpi, the_first_bad_counter_is_reported)
{
    static const pfb_cpi_widths widths = {40, 40};
    static const uint64_t beyond = TWO_TO(40);
    static const pfb_cpi_cpu start_cpu = {7, 100, 100, 100, 100};
    static const struct {
        pfb_cpi_cpu end_cpu;
        pfb_cpi_status status;
    } rows[] = {
        {{7, beyond, 99, 99, 99}, PFB_CPI_INVALID},  {{7, 99, beyond, 200, 200}, PFB_CPI_BACKWARD},
        {{7, 200, beyond, 99, 99}, PFB_CPI_INVALID}, {{7, 200, 99, 200, 100}, PFB_CPI_BACKWARD},
        {{7, 200, 200, 99, 200}, PFB_CPI_BACKWARD},  {{7, 200, 200, 200, 99}, PFB_CPI_BACKWARD},
        {{7, 100, 200, 200, 99}, PFB_CPI_BACKWARD},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        pfb_cpi_figures f;
        pfb_cpi_result r;
        char what[32];
        snprintf(what, sizeof what, "row %zu", i);
        cr_expect_eq(measure_one(&start_cpu, &rows[i].end_cpu, &widths, 0, &f, &r), PFB_CPI_NO_DATA, "%s", what);
        expect_unused(&f, rows[i].status, what);
        expect_unused(&r.system, PFB_CPI_NO_INSTR, what); /* the system has no usable CPU */
    }
}

/* In a hook, the integral word 2^32 - 1 means undefined. A figure is rounded to 4 places before it is compared with
 * this limit. */
Test(cpi, figures_too_large_for_a_hook_overflow)
{
    static const uint64_t max_ratio = 0xFFFFFFFE;
    static const struct {
        uint64_t instr, cycles;
        pfb_cpi_status status;
    } rows[] = {
        {1, max_ratio, PFB_CPI_OK},
        {1, max_ratio + 1, PFB_CPI_OVERFLOW},
        {20000, (max_ratio + 1) * 20000 - 2, PFB_CPI_OK}, /* the integral part is `max_ratio`, the fraction 9999 */
        {20000, (max_ratio + 1) * 20000 - 1, PFB_CPI_OVERFLOW}, /* a tie, rounded up */
        {20001, (max_ratio + 1) * 20001 - 1, PFB_CPI_OVERFLOW},
        {19999, (max_ratio + 1) * 19999 - 1, PFB_CPI_OK},
        {1, UINT64_MAX, PFB_CPI_OVERFLOW},
        {UINT64_MAX, UINT64_MAX, PFB_CPI_OK},
        {TWO_TO(32), UINT64_MAX, PFB_CPI_OVERFLOW},
        {TWO_TO(32) + 2, UINT64_MAX, PFB_CPI_OK}, /* slightly more than 2^32 - 2 */
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        pfb_cpi_figures f = measure_counts(rows[i].instr, rows[i].cycles);
        cr_expect_eq(f.status, rows[i].status, "row %zu: %s", i, pfb_cpi_status_name(f.status));
        cr_expect(f.raw_cpi > 0 && f.cycles == rows[i].cycles, "row %zu: an overflow still has its figure", i);
    }
}

/* ---- Figures ------------------------------------------------------------------------------------------- */

Test(cpi, figures_are_rounded_once)
{
    expect_double(measure_counts(3, 1).raw_cpi, 1.0 / 3.0, "1 / 3");
    expect_double(measure_counts(1, TWO_TO(53) + 1).raw_cpi, 9007199254740992.0, "2^53 + 1, a tie rounded to even");
    expect_double(measure_counts(1, TWO_TO(53) + 3).raw_cpi, 9007199254740996.0, "2^53 + 3, a tie rounded to even");
    expect_double(measure_counts(3, 3 * TWO_TO(52) + 2).raw_cpi, 4503599627370497.0, "2^52 + 2/3");
    expect_double(measure_counts(UINT64_MAX, 1).raw_cpi, 0x1p-64, "1 / (2^64 - 1)");
    expect_double(measure_counts(UINT64_MAX, UINT64_MAX - 1).raw_cpi, 1.0, "(2^64 - 2) / (2^64 - 1)");
}

Test(cpi, scaled_cycles_are_rounded_down)
{
    static const struct {
        uint64_t cycles, busy, elapsed, scaled;
    } rows[] = {
        {10, 1, 3, 3},
        {11, 1, 3, 3},
        {12, 1, 3, 4},
        {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX},
        {UINT64_MAX, UINT64_MAX - 1, UINT64_MAX, UINT64_MAX - 1},
        {UINT64_MAX - 1, UINT64_MAX - 1, UINT64_MAX, UINT64_MAX - 2}, /* (m - 1)^2 / m = m - 2 + 1 / m */
        {TWO_TO(63), TWO_TO(63), UINT64_MAX, TWO_TO(62)},             /* 2^126 / (2^64 - 1) is slightly above 2^62 */
        {UINT64_MAX, 1, UINT64_MAX, 1},
        {UINT64_MAX - 1, 1, UINT64_MAX, 0},
        {5, 0, 7, 0},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        pfb_cpi_cpu start_cpu = {.cpu = 0};
        pfb_cpi_cpu end_cpu = {0, 1, rows[i].cycles, rows[i].busy, rows[i].elapsed};
        pfb_cpi_figures f;
        pfb_cpi_result r;
        measure_one(&start_cpu, &end_cpu, &wide, 0, &f, &r);
        cr_expect_eq(f.scaled_cycles, rows[i].scaled, "row %zu: %llu", i, (unsigned long long)f.scaled_cycles);
    }
}

Test(cpi, busy_time_above_elapsed_time_is_clamped)
{
    pfb_cpi_cpu end_cpu = usual_end;
    pfb_cpi_figures f;
    pfb_cpi_result r;
    end_cpu.busy = usual_start.busy + 1000; /* busy the whole time */
    measure_one(&usual_start, &end_cpu, &wide, 0, &f, &r);
    cr_expect(!f.is_busy_clamped && !r.system.is_busy_clamped);
    expect_figures(&f, PFB_CPI_OK, 2.0, 2.0, 100.0, "a busy time equal to the elapsed time");
    end_cpu.busy++;
    measure_one(&usual_start, &end_cpu, &wide, 0, &f, &r);
    cr_expect(f.is_busy_clamped && r.system.is_busy_clamped);
    expect_figures(&f, PFB_CPI_OK, 2.0, 2.0, 100.0, "a clamped busy time");
    expect_counts(&f, 1000, 2000, 1000, 1000, 2000, "a clamped busy time");
}

/* If scaled figures are not requested, the busy and elapsed times are ignored. Here they run backward. */
Test(cpi, raw_figures_need_no_busy_clock)
{
    static const pfb_cpi_cpu start_cpu = {3, 10, 20, 99, 99};
    static const pfb_cpi_cpu end_cpu = {3, 20, 50, 5, 5};
    pfb_cpi_snapshot start = {.cpus = &start_cpu, .cpu_count = 1};
    pfb_cpi_snapshot end = {.cpus = &end_cpu, .cpu_count = 1};
    pfb_cpi_figures f;
    pfb_cpi_result r;
    cr_assert_eq(pfb_cpi_compute(&start, &end, &wide, 0, &f, &r), PFB_CPI_COMPUTED);
    cr_expect_eq(r.mode, PFB_CPI_RAW);
    expect_figures(&f, PFB_CPI_OK, 3.0, 0.0, 0.0, "raw figures");
    expect_counts(&f, 10, 30, 0, 0, 0, "raw figures");
}

/* Only CPUs 2 and 4 have usable counters and are part of the sums. */
Test(cpi, sums_leave_out_unusable_cpus)
{
    static const pfb_cpi_cpu start_cpus[] = {
        {0, 9, 0, 0, 0}, {1, 0, 0, 0, 5}, {2, 0, 0, 0, 0}, {3, TWO_TO(50), 0, 0, 0}, {4, 5, 0, 0, 0}};
    static const pfb_cpi_cpu end_cpus[] = {
        {0, 8, 7, 7, 7}, {1, 7, 7, 7, 5}, {2, 100, 250, 1, 4}, {3, TWO_TO(50), 7, 7, 7}, {4, 5, 50, 3, 4}};
    pfb_cpi_snapshot start = {.cpus = start_cpus, .cpu_count = 5};
    pfb_cpi_snapshot end = {.cpus = end_cpus, .cpu_count = 5};
    pfb_cpi_figures cpus[5];
    pfb_cpi_result r;
    cr_assert_eq(pfb_cpi_compute(&start, &end, &(pfb_cpi_widths){48, 64}, PFB_CPI_SCALED, cpus, &r), PFB_CPI_COMPUTED);
    expect_unused(&cpus[0], PFB_CPI_BACKWARD, "CPU 0");
    expect_unused(&cpus[1], PFB_CPI_NO_ELAPSED, "CPU 1");
    expect_unused(&cpus[3], PFB_CPI_INVALID, "CPU 3");
    expect_figures(&cpus[4], PFB_CPI_NO_INSTR, 0.0, 0.0, 75.0, "CPU 4");
    expect_counts(&r.system, 100, 300, 4, 8, 62 + 37, "the system");
    expect_figures(&r.system, PFB_CPI_OK, 3.0, 0.99, 50.0, "the system");
}

/* ---- CPUs that go on- and offline ---------------------------------------------------------------------- */

/* Checks the interval between two sets of online CPUs, given as bits. */
static void check_online_cpus(unsigned before, unsigned after)
{
    enum { CPUS = 5 };
    pfb_cpi_cpu start_cpus[CPUS];
    pfb_cpi_cpu end_cpus[CPUS];
    pfb_cpi_snapshot start = {.cpus = start_cpus};
    pfb_cpi_snapshot end = {.cpus = end_cpus};
    for (uint32_t i = 0; i < CPUS; i++) {
        if (before & 1U << i)
            start_cpus[start.cpu_count++] = (pfb_cpi_cpu){.cpu = 10 * i};
        if (after & 1U << i)
            end_cpus[end.cpu_count++] = (pfb_cpi_cpu){.cpu = 10 * i, .instr = 1 + i, .cycles = 1 + i};
    }
    pfb_cpi_figures cpus[CPUS];
    pfb_cpi_result r;
    pfb_cpi_verdict verdict = pfb_cpi_compute(&start, &end, &wide, 0, cpus, &r);
    cr_expect_eq(verdict, before & after ? PFB_CPI_COMPUTED : PFB_CPI_NO_DATA, "%x to %x", before, after);
    cr_expect_eq(r.cpus_changed, before != after, "%x to %x", before, after);
    cr_expect_eq(r.cpu_count, start.cpu_count, "%x to %x", before, after);
    uint64_t sum = 0;
    for (size_t i = 0; i < start.cpu_count; i++) {
        bool is_online = after & 1U << start_cpus[i].cpu / 10;
        cr_expect_eq(cpus[i].cpu, start_cpus[i].cpu, "%x to %x", before, after);
        cr_expect_eq(cpus[i].status, is_online ? PFB_CPI_OK : PFB_CPI_OFFLINE, "CPU %u of %x to %x", start_cpus[i].cpu,
                     before, after);
        cr_expect_eq(cpus[i].instr, is_online ? 1 + start_cpus[i].cpu / 10 : 0, "%x to %x", before, after);
        sum += cpus[i].instr;
    }
    cr_expect_eq(r.system.instr, sum, "%x to %x", before, after);
}

Test(cpi, cpus_are_computed_if_online_at_both_ends)
{
    for (unsigned before = 0; before < 32; before++) {
        for (unsigned after = 0; after < 32; after++)
            check_online_cpus(before, after);
    }
}

Test(cpi, without_cpus_the_figures_may_be_null)
{
    pfb_cpi_snapshot none = {.clock = 5};
    pfb_cpi_result r;
    cr_expect_eq(pfb_cpi_compute(&none, &none, &wide, PFB_CPI_SCALED, NULL, &r), PFB_CPI_NO_DATA);
    cr_expect(r.cpu_count == 0 && !r.cpus_changed && r.elapsed_cycles == 0);
    expect_unused(&r.system, PFB_CPI_NO_INSTR, "the system");
}

/* ---- Many CPUs ----------------------------------------------------------------------------------------- */

enum { MAX_CPUS = PFB_CPI_CPU_LIMIT };

/* Returns the result for `count` CPUs whose counters go from 0 to `end_of_each`. */
static pfb_cpi_result measure_many(size_t count, const pfb_cpi_cpu *end_of_each)
{
    static pfb_cpi_cpu start_cpus[MAX_CPUS];
    static pfb_cpi_cpu end_cpus[MAX_CPUS];
    static pfb_cpi_figures cpus[MAX_CPUS];
    for (uint32_t i = 0; i < count; i++) {
        start_cpus[i] = (pfb_cpi_cpu){.cpu = i};
        end_cpus[i] = *end_of_each;
        end_cpus[i].cpu = i;
    }
    pfb_cpi_snapshot start = {.cpus = start_cpus, .cpu_count = count};
    pfb_cpi_snapshot end = {.cpus = end_cpus, .cpu_count = count};
    pfb_cpi_result r;
    pfb_cpi_compute(&start, &end, &wide, PFB_CPI_SCALED, cpus, &r);
    return r;
}

/* A system of equal CPUs has the figures of each CPU even if the sums of the counts overflow. */
Test(cpi, sums_above_64_bits_overflow_but_have_figures)
{
    const pfb_cpi_cpu all = {0, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX};
    pfb_cpi_result r = measure_many(MAX_CPUS, &all);
    expect_figures(&r.system, PFB_CPI_OVERFLOW, 1.0, 1.0, 100.0, "counts of 2^64 - 1");
    expect_counts(&r.system, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, "counts of 2^64 - 1");
    const pfb_cpi_cpu third = {0, 3 * TWO_TO(60), TWO_TO(60), 1, 4};
    r = measure_many(MAX_CPUS, &third);
    expect_figures(&r.system, PFB_CPI_OVERFLOW, 1.0 / 3.0, 1.0 / 12.0, 25.0, "a CPI of 1 / 3");
    expect_counts(&r.system, UINT64_MAX, UINT64_MAX, 1024, 4096, UINT64_MAX, "a CPI of 1 / 3");
}

/* A sum of 2^64 - 1 does not overflow. 15 is a divisor of this number. */
Test(cpi, sums_of_64_bits_do_not_overflow)
{
    const pfb_cpi_cpu largest = {0, UINT64_MAX / 15, UINT64_MAX / 15, 1, 2};
    pfb_cpi_result r = measure_many(15, &largest);
    expect_status(r.system.status, PFB_CPI_OK, "sums of 2^64 - 1");
    cr_expect_eq(r.system.cycles, UINT64_MAX);
    r = measure_many(16, &largest);
    expect_figures(&r.system, PFB_CPI_OVERFLOW, 1.0, 0.5, 50.0, "sums above 2^64 - 1");
    static const pfb_cpi_cpu long_cycles = {0, 1000, TWO_TO(60), 0, 1};
    static const pfb_cpi_cpu long_elapsed = {0, 1000, 1000, 0, TWO_TO(60)};
    expect_status(measure_many(15, &long_elapsed).system.status, PFB_CPI_OK, "an elapsed time of 15 * 2^60");
    expect_status(measure_many(16, &long_elapsed).system.status, PFB_CPI_OVERFLOW, "an elapsed time of 2^64");
    expect_status(measure_many(1, &long_cycles).system.status, PFB_CPI_OVERFLOW, "a CPI of 2^60 / 1000");
    static const pfb_cpi_cpu idle = {0, 0, TWO_TO(60), 0, 1};
    r = measure_many(16, &idle);
    expect_figures(&r.system, PFB_CPI_NO_INSTR, 0.0, 0.0, 0.0, "no instructions, 2^64 cycles");
}

/* ---- Threads ------------------------------------------------------------------------------------------- */

static const pfb_cpi_thread thread_start = {42, 100, 200};

/* Computes the interval of a thread alone. The number of CPUs is invalid, which must not matter. */
static pfb_cpi_verdict measure_thread(pfb_cpi_thread start_thread, pfb_cpi_thread end_thread, pfb_cpi_result *r)
{
    pfb_cpi_snapshot start = {
        .clock = 5, .cpu_count = PFB_CPI_CPU_LIMIT + 1, .has_thread = true, .thread = start_thread};
    pfb_cpi_snapshot end = {.clock = 9, .cpu_count = 1, .has_thread = true, .thread = end_thread};
    return pfb_cpi_compute(&start, &end, &wide, PFB_CPI_THREAD_ONLY, NULL, r);
}

Test(cpi, a_thread_is_computed_without_cpus)
{
    static const struct {
        pfb_cpi_thread end_thread;
        pfb_cpi_status status;
        double cpi;
        uint64_t instr, cycles;
    } rows[] = {
        {{42, 104, 206}, PFB_CPI_OK, 1.5, 4, 6},
        {{42, 100, 206}, PFB_CPI_NO_INSTR, 0.0, 0, 6},
        {{42, 100, 200}, PFB_CPI_NO_INSTR, 0.0, 0, 0},
        {{42, 99, 206}, PFB_CPI_BACKWARD, 0.0, 0, 0},
        {{42, 104, 199}, PFB_CPI_BACKWARD, 0.0, 0, 0},
        {{42, 100, 199}, PFB_CPI_BACKWARD, 0.0, 0, 0},
        {{42, 101, 200 + TWO_TO(33)}, PFB_CPI_OVERFLOW, 8589934592.0, 1, TWO_TO(33)},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        pfb_cpi_result r;
        char what[32];
        snprintf(what, sizeof what, "row %zu", i);
        cr_assert_eq(measure_thread(thread_start, rows[i].end_thread, &r), PFB_CPI_COMPUTED, "%s", what);
        cr_expect_eq(r.mode, PFB_CPI_RAW | PFB_CPI_ON_THREAD | PFB_CPI_THREAD_ONLY, "%s", what);
        cr_expect(r.has_thread && r.tid == 42 && r.elapsed_cycles == 4 && r.cpu_count == 0 && !r.cpus_changed, "%s",
                  what);
        expect_unused(&r.system, PFB_CPI_INVALID, what);
        expect_figures(&r.thread, rows[i].status, rows[i].cpi, 0.0, 0.0, what);
        expect_counts(&r.thread, rows[i].instr, rows[i].cycles, 0, 0, 0, what);
    }
}

/* The returned verdict is about the system, even if the thread has no figures. */
Test(cpi, a_thread_without_figures_does_not_change_the_verdict)
{
    pfb_cpi_snapshot start = {.cpus = &usual_start, .cpu_count = 1, .has_thread = true, .thread = thread_start};
    pfb_cpi_snapshot end = {.cpus = &usual_end, .cpu_count = 1, .has_thread = true, .thread = {42, 99, 200}};
    pfb_cpi_figures f;
    pfb_cpi_result r;
    cr_expect_eq(pfb_cpi_compute(&start, &end, &wide, PFB_CPI_ON_THREAD, &f, &r), PFB_CPI_COMPUTED);
    expect_unused(&r.thread, PFB_CPI_BACKWARD, "the thread");
    end.thread = (pfb_cpi_thread){42, 101, 203};
    end.cpu_count = 0;
    cr_expect_eq(pfb_cpi_compute(&start, &end, &wide, PFB_CPI_ON_THREAD, &f, &r), PFB_CPI_NO_DATA);
    expect_figures(&r.thread, PFB_CPI_OK, 3.0, 0.0, 0.0, "the thread");
}

/* ---- Refusals ------------------------------------------------------------------------------------------ */

/* The arguments of a computation. */
typedef struct arguments {
    pfb_cpi_cpu start_cpus[2], end_cpus[2];
    pfb_cpi_snapshot start, end;
    pfb_cpi_widths widths;
    uint32_t mode;
} arguments;

/* Makes valid arguments with two CPUs and a thread. */
static void make_valid(arguments *args)
{
    *args = (arguments){
        .start_cpus = {{.cpu = 1}, {.cpu = 2}},
        .end_cpus = {{1, 1, 1, 1, 1}, {2, 1, 1, 1, 1}},
        .start = {.clock = 5, .cpus = args->start_cpus, .cpu_count = 2, .has_thread = true, .thread = {.tid = 42}},
        .end = {.clock = 6, .cpus = args->end_cpus, .cpu_count = 2, .has_thread = true, .thread = {42, 1, 1}},
        .widths = {64, 64},
        .mode = PFB_CPI_SCALED | PFB_CPI_ON_THREAD};
}

/* Checks the verdict, and that the output is unchanged unless the verdict is PFB_CPI_COMPUTED. */
static void expect_verdict(const arguments *args, pfb_cpi_verdict expected, const char *what)
{
    struct {
        pfb_cpi_figures cpus[2];
        pfb_cpi_result result;
    } answer, untouched;
    memset(&answer, 0xA5, sizeof answer);
    memset(&untouched, 0xA5, sizeof untouched);
    pfb_cpi_verdict verdict =
        pfb_cpi_compute(&args->start, &args->end, &args->widths, args->mode, answer.cpus, &answer.result);
    cr_expect_eq(verdict, expected, "%s: %d", what, (int)verdict);
    if (expected != PFB_CPI_COMPUTED)
        cr_expect_eq(memcmp(&answer, &untouched, sizeof answer), 0, "%s: the output changed", what);
}

#define EXPECT_REFUSED(statement)                                                                                      \
    do {                                                                                                               \
        make_valid(&args);                                                                                             \
        statement;                                                                                                     \
        expect_verdict(&args, PFB_CPI_BAD_ARGUMENT, #statement);                                                       \
    } while (0)

Test(cpi, invalid_arguments_are_refused)
{
    arguments args;
    make_valid(&args);
    expect_verdict(&args, PFB_CPI_COMPUTED, "valid arguments");
    EXPECT_REFUSED(args.widths.instr = 0);
    EXPECT_REFUSED(args.widths.instr = 65);
    EXPECT_REFUSED(args.widths.cycles = 0);
    EXPECT_REFUSED(args.widths.cycles = UINT32_MAX);
    EXPECT_REFUSED(args.start_cpus[1].cpu = 1);
    EXPECT_REFUSED(args.start_cpus[1].cpu = 0);
    EXPECT_REFUSED(args.end_cpus[1].cpu = 1);
    EXPECT_REFUSED(args.end_cpus[0].cpu = UINT32_MAX);
    EXPECT_REFUSED(args.start.has_thread = false);
    EXPECT_REFUSED(args.end.has_thread = false);
    EXPECT_REFUSED(args.end.thread.tid = 43);
    EXPECT_REFUSED(args.mode |= PFB_CPI_THREAD_ONLY);
    EXPECT_REFUSED((args.mode = PFB_CPI_THREAD_ONLY, args.end.has_thread = false));
    EXPECT_REFUSED((args.mode = PFB_CPI_THREAD_ONLY, args.widths.instr = 0));
    for (uint32_t bit = 8; bit < PFB_CPI_THREAD_ONLY; bit *= 2)
        EXPECT_REFUSED(args.mode |= bit);
    make_valid(&args);
    args.mode = PFB_CPI_SCALED;
    args.start.has_thread = false;
    args.end.thread.tid = 43;
    expect_verdict(&args, PFB_CPI_COMPUTED, "threads that were not requested");
}

/* The start or the end has one CPU more than allowed. */
Test(cpi, too_many_cpus_are_refused)
{
    static pfb_cpi_cpu cpus[MAX_CPUS + 1];
    static pfb_cpi_figures figures[MAX_CPUS];
    pfb_cpi_snapshot many = {.cpus = cpus, .cpu_count = MAX_CPUS + 1};
    pfb_cpi_snapshot full = {.cpus = cpus, .cpu_count = MAX_CPUS};
    pfb_cpi_result r;
    for (uint32_t i = 0; i <= MAX_CPUS; i++)
        cpus[i].cpu = 3 * i;
    cr_expect_eq(pfb_cpi_compute(&many, &full, &wide, 0, figures, &r), PFB_CPI_BAD_ARGUMENT);
    cr_expect_eq(pfb_cpi_compute(&full, &many, &wide, 0, figures, &r), PFB_CPI_BAD_ARGUMENT);
    cr_expect_eq(pfb_cpi_compute(&full, &full, &wide, 0, figures, &r), PFB_CPI_NO_DATA);
    cr_expect_eq(figures[MAX_CPUS - 1].cpu, 3 * (MAX_CPUS - 1));
}

Test(cpi, a_clock_that_runs_backward_is_reported)
{
    arguments args;
    make_valid(&args);
    args.end.clock = args.start.clock - 1;
    expect_verdict(&args, PFB_CPI_CLOCK_BACKWARD, "a clock that runs backward");
    args.end.clock = args.start.clock;
    expect_verdict(&args, PFB_CPI_COMPUTED, "a clock that does not advance");
    args.end.clock = args.start.clock - 1;
    args.widths.instr = 0;
    expect_verdict(&args, PFB_CPI_BAD_ARGUMENT, "an invalid width takes precedence over the clock");
}

/* ---- Names --------------------------------------------------------------------------------------------- */

Test(cpi, every_status_has_a_name)
{
    static const char *const names[] = {"ok",      "wrapped",    "no_instr", "backward", "ambiguous",
                                        "invalid", "no_elapsed", "offline",  "overflow"};
    cr_assert_eq(COUNT(names), PFB_CPI_STATUS_COUNT);
    for (unsigned i = 0; i < COUNT(names); i++)
        cr_expect_str_eq(pfb_cpi_status_name((pfb_cpi_status)i), names[i]);
    cr_expect_str_eq(pfb_cpi_status_name(PFB_CPI_STATUS_COUNT), "unknown_status");
    cr_expect_str_eq(pfb_cpi_status_name((pfb_cpi_status)UINT32_MAX), "unknown_status");
}
