/* SPDX-License-Identifier: MIT */
/* Readings of the live CPI source of Linux. test_linux_cpi_cpus.c tests the choice of CPUs. */
#include <criterion/criterion.h>

#include "support_linux_cpi.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#define MAX_FREQ "/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq"

TestSuite(linux_cpi, .init = begin_linux_cpi, .fini = end_linux_cpi);

/* ---- Counters of CPUs ------------------------------------------------------------------------------------------- */

Test(linux_cpi, counts_are_those_of_the_interval)
{
    count(&fake->cpus[0], 500, 500, 1000, 9);
    count(&fake->cpus[1], 500, 500, 5000, 9);
    pfb_cpi_reader *reader = open_reader(PFB_CPI_RAW);
    fake->time_stamp = 70000;
    start(reader);
    cr_expect(at_start.reading.widths.instr == 63 && at_start.reading.widths.cycles == 64);
    cr_expect(at_start.reading.snapshot.clock == 70000 && at_start.reading.snapshot.cpu_count == 2);
    cr_expect(at_start.reading.snapshot.cpus == at_start.cpus && !at_start.reading.snapshot.has_thread);
    cr_expect(at_start.cpus[0].cpu == 0 && at_start.cpus[0].instr == 1000 && at_start.cpus[0].cycles == 70000);
    cr_expect(at_start.cpus[1].cpu == 1 && at_start.cpus[1].instr == 5000 && at_start.cpus[1].cycles == 70000);
    expect_unhalted(reader, 0, false, 0);
    count(&fake->cpus[0], 100, 100, 4000, 7000);
    count(&fake->cpus[1], 100, 100, 2000, 0);
    fake->time_stamp += 8000;
    finish(reader);
    compute(PFB_CPI_RAW);
    cr_expect(result.elapsed_cycles == 8000 && result.system.instr == 6000 && result.system.cycles == 16000);
    cr_expect(figures[0].instr == 4000 && figures[0].cycles == 8000 && figures[0].raw_cpi == 2.0);
    cr_expect(figures[1].instr == 2000 && figures[1].cycles == 8000 && figures[1].raw_cpi == 4.0);
    expect_unhalted(reader, 0, true, 7000);
    expect_unhalted(reader, 1, true, 0);
    expect_unhalted(reader, 2, false, 0);
    count(&fake->cpus[0], 100, 100, 1, 1);
    count(&fake->cpus[1], 100, 100, 1, 1);
    finish(reader); /* a longer interval with the same start */
    compute(PFB_CPI_RAW);
    cr_expect(figures[0].instr == 4001 && figures[1].instr == 2001);
    expect_unhalted(reader, 0, true, 7001);
    start(reader);
    expect_unhalted(reader, 0, false, 0);
    pfb_cpi_reader_close(reader);
}

Test(linux_cpi, counts_of_a_group_that_ran_part_of_the_time_are_extrapolated)
{
    count(&fake->cpus[0], 900, 10, 1000, 0);
    count(&fake->cpus[1], 10, 10, 3, 3);
    pfb_cpi_reader *reader = open_reader(PFB_CPI_RAW);
    start(reader);
    count(&fake->cpus[0], 1000, 250, 4001, 100);           /* ran a quarter of the time: 16004 and 400 */
    count(&fake->cpus[1], 10, 3, UINT64_C(1) << 61, 1000); /* 2^61 * 10 / 3, above 2^62; 3333 */
    fake->time_stamp += 50000;
    finish(reader);
    compute(PFB_CPI_RAW);
    cr_expect_eq(at_end.cpus[0].instr, 1000 + 16004);
    cr_expect(figures[0].instr == 16004 && figures[0].status == PFB_CPI_OK);
    cr_expect_eq(figures[1].instr, UINT64_C(7686143364045646506)); /* 2305843009213693952 * 10 / 3 = ..506.67 */
    expect_unhalted(reader, 0, true, 400);
    expect_unhalted(reader, 1, true, 3333);
    pfb_cpi_reader_close(reader);
}

Test(linux_cpi, a_cpu_that_was_not_counted_is_invalid)
{
    static const pfb_cpi_status statuses[] = {PFB_CPI_INVALID, PFB_CPI_OK};
    static const struct {
        uint64_t enabled, running, instructions;
    } progress[] = {{1000, 0, 0},               /* the group never ran */
                    {1000, 0, 7},               /* it never ran, but counted */
                    {0, 0, 0},                  /* it was not enabled */
                    {1000, 1001, 7},            /* it ran longer than it was enabled */
                    {2, 1, UINT64_C(1) << 62}}; /* the extrapolated count has more than 63 bits */
    pfb_cpi_reader *reader = open_reader(PFB_CPI_RAW);
    for (size_t i = 0; i < sizeof progress / sizeof progress[0]; i++) {
        start(reader);
        count(&fake->cpus[0], progress[i].enabled, progress[i].running, progress[i].instructions, 0);
        count(&fake->cpus[1], 1000, 1000, 50, 60);
        fake->time_stamp += 100;
        finish(reader);
        expect_statuses(PFB_CPI_RAW, statuses, 2);
        cr_expect(figures[0].instr == 0 && figures[1].instr == 50 && result.system.cycles == 100, "row %zu", i);
    }
    start(reader);
    fake->cpus[0].instructions--; /* the counter runs backward */
    count(&fake->cpus[0], 10, 10, 0, 0);
    count(&fake->cpus[1], 10, 10, 5, 5);
    fake->time_stamp += 100;
    finish(reader);
    expect_statuses(PFB_CPI_RAW, statuses, 2);
    expect_unhalted(reader, 0, false, 0);
    expect_unhalted(reader, 1, true, 5);
    pfb_cpi_reader_close(reader);
}

/* A group that ran without counting anything has a valid count of 0. */
Test(linux_cpi, a_count_of_0_is_valid)
{
    static const pfb_cpi_status statuses[] = {PFB_CPI_NO_INSTR, PFB_CPI_OK};
    pfb_cpi_reader *reader = open_reader(PFB_CPI_RAW);
    start(reader);
    count(&fake->cpus[0], 10, 10, 0, 0);
    count(&fake->cpus[1], 10, 10, 5, 5);
    fake->time_stamp += 100;
    finish(reader);
    expect_statuses(PFB_CPI_RAW, statuses, 2);
    pfb_cpi_reader_close(reader);
}

/* ---- Order of the reads ----------------------------------------------------------------------------- */

static unsigned idle_ticks;

/* Increases the idle times of both CPUs when the first CPU is read. */
static void grow_idle(int cpu)
{
    if (cpu == 0)
        put_idle(100 + idle_ticks, 10, 200 + idle_ticks, 20);
}

Test(linux_cpi, the_end_is_read_in_the_reverse_order_of_kinds)
{
    const uint32_t mode = PFB_CPI_RAW | PFB_CPI_SCALED | PFB_CPI_ON_THREAD;
    unsigned ticks_per_second = (unsigned)sysconf(_SC_CLK_TCK);
    pfb_cpi_reader *reader = open_reader(mode);
    fake->step = 1;
    fake->log[0] = '\0';
    fake->on_read = grow_idle;
    idle_ticks = ticks_per_second; /* start reads utilization before CPU 0, so this idle time is in the interval */
    start(reader);
    cr_expect_str_eq(fake->log, "stamp raw stamp cpu0 stamp cpu1 stamp thread stamp ");
    cr_expect_eq(at_start.cpus[1].cycles, at_start.cpus[0].cycles + 1);
    cr_expect_eq(at_start.reading.snapshot.clock, at_start.cpus[1].cycles + 1);
    cr_expect_eq(at_start.cpus[0].elapsed, at_start.cpus[0].cycles - 2);
    fake->log[0] = '\0';
    idle_ticks = 2 * ticks_per_second; /* finish reads utilization after CPU 0, so this is in the interval, too */
    count(&fake->cpus[0], 10, 10, 10, 10);
    count(&fake->cpus[1], 10, 10, 10, 10);
    count(&fake->thread, 10, 10, 10, 10);
    fake->step = 0;
    fake->time_stamp = at_start.cpus[0].elapsed + UINT64_C(9000000000);
    fake->ns = UINT64_C(3000000000); /* the clock was read once before, at 0 */
    finish(reader);
    cr_expect_str_eq(fake->log, "stamp thread cpu0 stamp cpu1 stamp stamp raw stamp ");
    cr_expect_eq(at_end.cpus[0].busy, UINT64_C(3000000000), "busy 1 of 3 seconds: %" PRIu64, at_end.cpus[0].busy);
    pfb_cpi_reader_close(reader);
}

/* ---- Utilization ------------------------------------------------------------------------------------------------ */

static pfb_cpi_reader *start_scaled(void)
{
    pfb_cpi_reader *reader = open_reader(PFB_CPI_RAW | PFB_CPI_SCALED);
    fake->time_stamp = 5000;
    fake->ns = 777;
    start(reader);
    cr_expect(at_start.cpus[0].busy == 0 && at_start.cpus[0].elapsed == 5000);
    cr_expect(at_start.cpus[1].busy == 0 && at_start.cpus[1].elapsed == 5000);
    return reader;
}

/* Ends an interval of two seconds at 3 GHz. */
static void finish_scaled(pfb_cpi_reader *reader)
{
    count(&fake->cpus[0], 10, 10, 1000, 1000);
    count(&fake->cpus[1], 10, 10, 1000, 1000);
    fake->time_stamp = UINT64_C(5000) + UINT64_C(6000000000);
    fake->ns = UINT64_C(777) + UINT64_C(2000000000);
    finish(reader);
    compute(PFB_CPI_RAW | PFB_CPI_SCALED);
}

Test(linux_cpi, busy_time_is_elapsed_time_minus_idle_time)
{
    unsigned second = (unsigned)sysconf(_SC_CLK_TCK);
    pfb_cpi_reader *reader = start_scaled();
    /* CPU 0 is idle for 0.75 s of 2 s, including iowait; CPU 1 is not idle. */
    put_idle(100 + second / 2, 10 + second / 4, 200, 20);
    finish_scaled(reader);
    cr_expect_eq(at_end.cpus[0].busy, UINT64_C(3750000000), "%" PRIu64, at_end.cpus[0].busy);
    cr_expect_eq(at_end.cpus[1].busy, UINT64_C(6000000000));
    cr_expect(figures[0].busy_percent == 62.5 && figures[1].busy_percent == 100.0 && !result.system.is_busy_clamped);
    pfb_cpi_reader_close(reader);
}

Test(linux_cpi, busy_time_is_limited_to_the_interval)
{
    unsigned second = (unsigned)sysconf(_SC_CLK_TCK);
    pfb_cpi_reader *reader = start_scaled();
    /* CPU 0 has more idle time than elapsed time; the idle time of CPU 1 decreased. */
    put_idle(100 + 3 * second, 10, 199, 20);
    finish_scaled(reader);
    cr_expect_eq(at_end.cpus[0].busy, 0);
    cr_expect_eq(at_end.cpus[1].busy, UINT64_C(6000000000));
    pfb_cpi_reader_close(reader);
}

Test(linux_cpi, a_cpu_without_idle_time_has_no_elapsed_time)
{
    static const pfb_cpi_status statuses[] = {PFB_CPI_OK, PFB_CPI_NO_ELAPSED};
    pfb_cpi_reader *reader = start_scaled();
    put_file("/proc/stat", "cpu0 9 9 9 100 10 9 9\n");
    finish_scaled(reader);
    expect_statuses(PFB_CPI_RAW | PFB_CPI_SCALED, statuses, 2);
    pfb_cpi_reader_close(reader);
    reader = start_scaled(); /* the idle time of CPU 1 is unknown at the start */
    put_idle(100, 10, 200, 20);
    finish_scaled(reader);
    expect_statuses(PFB_CPI_RAW | PFB_CPI_SCALED, statuses, 2);
    pfb_cpi_reader_close(reader);
}

Test(linux_cpi, scaled_figures_need_proc_stat)
{
    pfb_cpi_reader *reader = open_reader(PFB_CPI_RAW | PFB_CPI_SCALED);
    start(reader);
    remove_file("/proc/stat");
    expect_refused(PFB_CPI_RAW | PFB_CPI_SCALED, PFB_PU_ERROR_REQUIRED_APIS_MISSING, "/proc/stat");
    expect_read_failure(reader, PFB_CPI_AT_END, 2, PFB_PU_ERROR_REQUIRED_APIS_MISSING, "/proc/stat");
    expect_read_failure(reader, PFB_CPI_AT_START, 2, PFB_PU_ERROR_REQUIRED_APIS_MISSING, "/proc/stat");
    pfb_cpi_reader_close(reader);
    expect_refused(PFB_CPI_RAW | PFB_CPI_SCALED, PFB_PU_ERROR_REQUIRED_APIS_MISSING, "/proc/stat");
    reader = open_reader(PFB_CPI_RAW);
    start(reader);
    pfb_cpi_reader_close(reader);
}

/* At the start, the thread is twice preempted for a second between the reads of the two clocks. The CPUs are idle for
 * one of the two seconds that follow. */
Test(linux_cpi, clocks_are_read_again_after_a_preemption)
{
    unsigned second = (unsigned)sysconf(_SC_CLK_TCK);
    pfb_cpi_reader *reader = open_reader(PFB_CPI_RAW | PFB_CPI_SCALED);
    fake->pauses = 2;
    fake->pause_cycles = UINT64_C(3000000000);
    fake->pause_ns = UINT64_C(1000000000);
    start(reader);
    cr_expect_eq(fake->pauses, 0);
    put_idle(100 + second, 10, 200 + second, 20);
    run_cpus();
    fake->time_stamp = at_start.cpus[0].elapsed + UINT64_C(6000000000);
    fake->ns += UINT64_C(2000000000);
    finish(reader);
    cr_expect_eq(at_end.cpus[0].busy, UINT64_C(3000000000), "%" PRIu64, at_end.cpus[0].busy);
    pfb_cpi_reader_close(reader);
}

Test(linux_cpi, clocks_are_read_a_limited_number_of_times)
{
    pfb_cpi_reader *reader = open_reader(PFB_CPI_RAW | PFB_CPI_SCALED);
    fake->pauses = 1000;
    fake->pause_cycles = UINT64_C(3000000000);
    fake->pause_ns = UINT64_C(1000000000);
    start(reader);
    cr_expect(fake->pauses >= 990 && fake->pauses < 999, "%zu", 1000 - fake->pauses);
    fake->pauses = 0;
    finish(reader);
    pfb_cpi_reader_close(reader);
}

/* ---- The clock -------------------------------------------------------------------------------------------------- */

Test(linux_cpi, without_a_time_stamp_counter_cycles_are_computed_from_the_highest_frequency)
{
    fake->has_time_stamp = false;
    put_file(MAX_FREQ, "2500000\n");
    pfb_cpi_reader *reader = open_reader(PFB_CPI_RAW | PFB_CPI_SCALED);
    fake->ns = UINT64_C(4000000000000000001); /* 126 years, so the product has 84 bits */
    start(reader);
    cr_expect_eq(at_start.reading.snapshot.clock, UINT64_C(10000000000000000002)); /* times 2.5, rounded down */
    cr_expect_eq(at_start.cpus[0].cycles, UINT64_C(10000000000000000002));
    cr_expect(!strstr(fake->log, "stamp"));
    pfb_cpi_reader_close(reader);
}

Test(linux_cpi, without_a_constant_rate_clock_opening_fails)
{
    static const char *const rates[] = {"0\n", "4294967296\n", "fast\n", ""};
    fake->has_time_stamp = false;
    expect_refused(PFB_CPI_RAW | PFB_CPI_ON_THREAD, PFB_PU_ERROR_EVENT_NOT_SUPPORTED,
                   "there is no constant-rate clock");
    for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++) {
        put_file(MAX_FREQ, rates[i]);
        expect_refused(PFB_CPI_RAW, PFB_PU_ERROR_EVENT_NOT_SUPPORTED, "there is no constant-rate clock");
        expect_refused(PFB_CPI_THREAD_ONLY, PFB_PU_ERROR_EVENT_NOT_SUPPORTED, "there is no constant-rate clock");
    }
    add_rule(ENOENT, false, ANY, ANY, ANY);
    expect_refused(PFB_CPI_RAW, PFB_PU_ERROR_NOT_SUPPORTED,
                   "instructions on CPU 0"); /* counters are checked before the clock */
}

/* ---- The thread ------------------------------------------------------------------------------------------------- */

Test(linux_cpi, the_thread_has_its_own_counters)
{
    pfb_cpi_reader *reader = open_reader(PFB_CPI_RAW | PFB_CPI_ON_THREAD);
    count(&fake->thread, 100, 100, 100, 200);
    start(reader);
    cr_expect(at_start.reading.snapshot.has_thread && at_start.reading.snapshot.thread.tid == 4242);
    cr_expect_not(at_start.reading.is_user_only);
    count(&fake->cpus[0], 10, 10, 1, 1);
    count(&fake->cpus[1], 10, 10, 1, 1);
    count(&fake->thread, 1000, 400, 16, 21); /* 40 and 52.5 */
    finish(reader);
    compute(PFB_CPI_RAW | PFB_CPI_ON_THREAD);
    cr_expect(result.has_thread && result.tid == 4242 && result.thread.instr == 40 && result.thread.cycles == 52);
    cr_expect_eq(result.cpu_count, 2);
    pfb_cpi_reader_close(reader);
}

Test(linux_cpi, a_thread_alone_needs_no_cpus)
{
    add_rule(EACCES, false, ANY, ANY, ANY);
    remove_file(ONLINE);
    remove_file("/proc/stat");
    pfb_cpi_reader *reader = open_reader(PFB_CPI_THREAD_ONLY);
    cr_expect(fake->opened == 1 && fake->open_descriptors == 2);
    fake->time_stamp = 1000;
    start(reader);
    cr_expect(at_start.reading.snapshot.cpu_count == 0 && at_start.reading.snapshot.clock == 1000);
    count(&fake->thread, 50, 50, 3200, 4801);
    fake->time_stamp = 6000;
    finish(reader);
    compute(PFB_CPI_THREAD_ONLY);
    /* static, because an x87 register could hold the quotient with more precision than a double has */
    static const double expected = 4801.0 / 3200.0;
    cr_expect(result.cpu_count == 0 && result.elapsed_cycles == 5000 && result.thread.raw_cpi == expected);
    expect_unhalted(reader, 0, false, 0);
    pfb_cpi_reader_close(reader);
}

Test(linux_cpi, user_mode_is_counted_if_counting_the_kernel_is_refused)
{
    static const int errors[] = {EACCES, EPERM};
    for (size_t i = 0; i < 2; i++) {
        fake->rule_count = 0;
        add_rule(errors[i], true, ANY, (int)i, 0);
        pfb_cpi_reader *reader = open_reader(PFB_CPI_THREAD_ONLY);
        start(reader);
        cr_expect(at_start.reading.is_user_only);
        count(&fake->thread, 10, 10, 10, 10);
        finish(reader);
        cr_expect(at_end.reading.is_user_only);
        cr_expect_eq(fake->open_descriptors, 2);
        pfb_cpi_reader_close(reader);
    }
    put_file(PARANOID, "4\n");
    fake->rule_count = 0;
    add_rule(EACCES, true, ANY, ANY, ANY);
    expect_refused(PFB_CPI_THREAD_ONLY, PFB_PU_ERROR_ACCESS_DENIED,
                   "instructions of this thread (user mode) cannot be counted: EACCES (Permission denied); "
                   "kernel.perf_event_paranoid is 4; 2 or CAP_PERFMON is needed");
    expect_refused(PFB_CPI_RAW | PFB_CPI_ON_THREAD, PFB_PU_ERROR_ACCESS_DENIED,
                   "instructions of this thread (user mode)");
    fake->rule_count = 0;
    add_rule(EBUSY, true, ANY, ANY, 0); /* after this error there is no retry in user mode */
    expect_refused(PFB_CPI_THREAD_ONLY, PFB_PU_ERROR_FACILITY_BUSY,
                   "instructions of this thread cannot be counted: EBUSY");
}

Test(linux_cpi, a_thread_that_was_not_counted_is_a_failure)
{
    pfb_cpi_reader *reader = open_reader(PFB_CPI_THREAD_ONLY);
    start(reader);
    count(&fake->thread, 1000, 0, 0, 0);
    expect_read_failure(reader, PFB_CPI_AT_END, 0, PFB_PU_ERROR_READ_PERFORMANCE_DATA,
                        "instructions of this thread were not counted");
    count(&fake->thread, 1000, 10, 1, 1);
    finish(reader); /* the thread was counted in the meantime */
    fake->bad_cpu = ANY;
    fake->bad_reads = 2;
    fake->bad_size = 32;
    fake->bad_events = 2;
    expect_read_failure(reader, PFB_CPI_AT_END, 0, PFB_PU_ERROR_READ_PERFORMANCE_DATA,
                        "instructions of this thread cannot be read");
    expect_read_failure(reader, PFB_CPI_AT_START, 0, PFB_PU_ERROR_READ_PERFORMANCE_DATA,
                        "instructions of this thread cannot be read");
    expect_read_failure(reader, PFB_CPI_AT_END, 0, PFB_PU_ERROR_INCORRECT_STATE, "no interval was begun");
    pfb_cpi_reader_close(reader);
}
