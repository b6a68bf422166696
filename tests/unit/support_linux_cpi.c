/* SPDX-License-Identifier: MIT */
#include "support_linux_cpi.h"

#include <criterion/criterion.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

pfb_cpi_source *source;

void put_idle(unsigned idle0, unsigned iowait0, unsigned idle1, unsigned iowait1)
{
    char text[200];
    snprintf(text, sizeof text, "cpu  1 1 1 1 1 1 1 0\ncpu0 9 9 9 %u %u 9 9 0\ncpu1 9 9 9 %u %u 9 9 0\n", idle0,
             iowait0, idle1, iowait1);
    put_file("/proc/stat", text);
}

void begin_linux_cpi(void)
{
    pfb_cpi_failure failure = {0};
    make_fake();
    make_machine();
    put_file(ONLINE, "0-1\n");
    put_file(PARANOID, "2\n");
    put_file(DEVICES "/cpu/type", "4\n");
    put_idle(100, 10, 200, 20);
    source = pfb_linux_cpi_open(&fake_functions, machine_root(), &failure);
    cr_assert(source, "%s", failure.sentence);
}

void end_linux_cpi(void)
{
    cr_expect_eq(fake->open_descriptors, 0, "%zu descriptors are still open", fake->open_descriptors);
    cr_expect_eq(fake->mistakes, 0, "%zu invalid system calls", fake->mistakes);
    pfb_cpi_source_close(source);
    remove_machine();
    remove_fake();
}

/* ---- Readings ---------------------------------------------------------------------------------------------- */

cpi_reading at_start;
cpi_reading at_end;

pfb_cpi_reader *open_reader(uint32_t mode)
{
    pfb_cpi_failure failure = {0};
    pfb_cpi_reader *reader = pfb_cpi_reader_open(source, mode, &failure);
    cr_assert(reader, "%s", failure.sentence);
    return reader;
}

static void expect_failure(const pfb_cpi_failure *failure, int code, const char *sentence)
{
    cr_expect_eq(failure->code, code, "code %d instead of %d: %s", failure->code, code, failure->sentence);
    cr_expect(strstr(failure->sentence, sentence), "\"%s\" does not contain \"%s\"", failure->sentence, sentence);
}

void expect_refused(uint32_t mode, int code, const char *sentence)
{
    pfb_cpi_failure failure = {0};
    size_t before = fake->open_descriptors;
    cr_expect_null(pfb_cpi_reader_open(source, mode, &failure));
    expect_failure(&failure, code, sentence);
    cr_expect_null(pfb_cpi_reader_open(source, mode, NULL));
    cr_expect_eq(fake->open_descriptors, before);
}

void take_reading(pfb_cpi_reader *reader, pfb_cpi_moment moment, cpi_reading *output)
{
    pfb_cpi_failure failure = {0};
    cr_assert(pfb_cpi_reader_read(reader, moment, output->cpus, PFB_CPI_CPU_LIMIT, &output->reading, &failure), "%s",
              failure.sentence);
}

void start(pfb_cpi_reader *reader)
{
    take_reading(reader, PFB_CPI_AT_START, &at_start);
}

void finish(pfb_cpi_reader *reader)
{
    take_reading(reader, PFB_CPI_AT_END, &at_end);
}

void expect_read_failure(pfb_cpi_reader *reader, pfb_cpi_moment moment, size_t capacity, int code, const char *sentence)
{
    pfb_cpi_failure failure = {0};
    cr_expect_not(pfb_cpi_reader_read(reader, moment, at_end.cpus, capacity, &at_end.reading, &failure));
    expect_failure(&failure, code, sentence);
}

pfb_cpi_figures figures[PFB_CPI_CPU_LIMIT];
pfb_cpi_result result;

void compute(uint32_t mode)
{
    pfb_cpi_verdict verdict = pfb_cpi_compute(&at_start.reading.snapshot, &at_end.reading.snapshot,
                                              &at_end.reading.widths, mode, figures, &result);
    cr_assert(verdict == PFB_CPI_COMPUTED || verdict == PFB_CPI_NO_DATA, "verdict %d", (int)verdict);
}

void expect_statuses(uint32_t mode, const pfb_cpi_status *statuses, size_t number)
{
    compute(mode);
    cr_assert_eq(result.cpu_count, number);
    for (size_t i = 0; i < number; i++)
        cr_expect_eq(figures[i].status, statuses[i], "CPU at position %zu: status %s", i,
                     pfb_cpi_status_name(figures[i].status));
}

void expect_unhalted(const pfb_cpi_reader *reader, size_t position, bool is_known, uint64_t cycles)
{
    uint64_t actual = 0;
    cr_expect_eq(pfb_cpi_reader_unhalted(reader, position, &actual), is_known, "CPU at position %zu", position);
    if (is_known)
        cr_expect_eq(actual, cycles, "CPU at position %zu: %" PRIu64, position, actual);
}

void run_cpus(void)
{
    for (size_t i = 0; i < 8; i++)
        count(&fake->cpus[i], 100, 100, 1000 * (i + 1), 1);
    fake->time_stamp += 1000;
}
