/* SPDX-License-Identifier: MIT */
#ifndef PFB_TEST_SUPPORT_LINUX_CPI_H
#define PFB_TEST_SUPPORT_LINUX_CPI_H

/* Tests of the Linux CPI source on a simulated machine: perf events, clocks and kernel files are replaced. */
#include "cpi/linux/linux_cpi.h"
#include "machine.h"
#include "support_perf_events.h"

#define ONLINE "/sys/devices/system/cpu/online"
#define POSSIBLE "/sys/devices/system/cpu/possible"
#define DEVICES "/sys/bus/event_source/devices"
#define PARANOID "/proc/sys/kernel/perf_event_paranoid"

extern pfb_cpi_source *source;

/* Begin and end a test. The machine has CPUs 0 and 1 of one type; at the end nothing may be open. */
void begin_linux_cpi(void);
void end_linux_cpi(void);

/* Idle and iowait of CPUs 0 and 1, in ticks. */
void put_idle(unsigned idle0, unsigned iowait0, unsigned idle1, unsigned iowait1);

/* Advances the clock by 1000 cycles, in which CPU n counts 1000 (n + 1) instructions and one unhalted cycle. */
void run_cpus(void);

/* ---- Readings ---------------------------------------------------------------------------------------------- */

/* A reading with its CPUs. */
typedef struct cpi_reading {
    pfb_cpi_reading reading;
    pfb_cpi_cpu cpus[PFB_CPI_CPU_LIMIT];
} cpi_reading;

extern cpi_reading at_start;
extern cpi_reading at_end;

/* These functions fail the test if they do not succeed. */
pfb_cpi_reader *open_reader(uint32_t mode);
void take_reading(pfb_cpi_reader *reader, pfb_cpi_moment moment, cpi_reading *output);
void start(pfb_cpi_reader *reader);  /* into at_start */
void finish(pfb_cpi_reader *reader); /* into at_end */

/* Checks that opening fails with this code and a sentence that contains `sentence`, leaves nothing open, and accepts a
 * null `failure`. */
void expect_refused(uint32_t mode, int code, const char *sentence);

/* Checks that reading fails with this code and a sentence that contains `sentence`. */
void expect_read_failure(pfb_cpi_reader *reader, pfb_cpi_moment moment, size_t capacity, int code,
                         const char *sentence);

/* ---- Results ------------------------------------------------------------------------------------------------ */

/* Figures that core computed from at_start and at_end. */
extern pfb_cpi_figures figures[PFB_CPI_CPU_LIMIT];
extern pfb_cpi_result result;
void compute(uint32_t mode);

/* Computes the figures and checks the statuses of the CPUs. */
void expect_statuses(uint32_t mode, const pfb_cpi_status *statuses, size_t count);

/* Checks whether the reader has unhalted cycles for the CPU at this position of a reading, and their number. */
void expect_unhalted(const pfb_cpi_reader *reader, size_t position, bool is_known, uint64_t cycles);

#endif
