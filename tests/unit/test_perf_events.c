/* SPDX-License-Identifier: MIT */
/* Counting with the perf events of Linux, on a simulated kernel. */
#include <criterion/criterion.h>

#include "support.h"
#include "support_perf_events.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void expect_nothing_left(void)
{
    cr_expect_eq(fake->open_descriptors, 0, "%zu descriptors were not closed", fake->open_descriptors);
    cr_expect_eq(fake->mistakes, 0, "%zu invalid system calls", fake->mistakes);
    remove_fake();
}

TestSuite(perf_events, .init = make_fake, .fini = expect_nothing_left);

/* ---- Refusals --------------------------------------------------------------------------------------------- */

typedef struct known_errno {
    int error;
    int code;
    int virtual_code; /* with a hypervisor */
    const char *name;
} known_errno;

static const known_errno known_errnos[] = {
    {EACCES, PFB_PU_ERROR_ACCESS_DENIED, PFB_PU_ERROR_ACCESS_DENIED, "EACCES (Permission denied)"},
    {EPERM, PFB_PU_ERROR_ACCESS_DENIED, PFB_PU_ERROR_ACCESS_DENIED, "EPERM (Operation not permitted)"},
    {ENOENT, PFB_PU_ERROR_NOT_SUPPORTED, PFB_PU_ERROR_NOT_VALID_IN_VM, "ENOENT (No such file or directory)"},
    {EOPNOTSUPP, PFB_PU_ERROR_NOT_SUPPORTED, PFB_PU_ERROR_NOT_VALID_IN_VM, "EOPNOTSUPP (Operation not supported)"},
    {ENODEV, PFB_PU_ERROR_NOT_SUPPORTED, PFB_PU_ERROR_NOT_VALID_IN_VM, "ENODEV (No such device)"},
    {ENXIO, PFB_PU_ERROR_NOT_SUPPORTED, PFB_PU_ERROR_NOT_VALID_IN_VM, "ENXIO (No such device or address)"},
    {EINVAL, PFB_PU_ERROR_EVENT_NOT_SUPPORTED, PFB_PU_ERROR_EVENT_NOT_SUPPORTED, "EINVAL (Invalid argument)"},
    {EMFILE, PFB_PU_ERROR_INSUFFICIENT_RESOURCES, PFB_PU_ERROR_INSUFFICIENT_RESOURCES, "EMFILE (Too many open files)"},
    {ENFILE, PFB_PU_ERROR_INSUFFICIENT_RESOURCES, PFB_PU_ERROR_INSUFFICIENT_RESOURCES,
     "ENFILE (Too many open files in system)"},
    {ENOMEM, PFB_PU_ERROR_NOT_ENOUGH_MEMORY, PFB_PU_ERROR_NOT_ENOUGH_MEMORY, "ENOMEM (Cannot allocate memory)"},
    {EBUSY, PFB_PU_ERROR_FACILITY_BUSY, PFB_PU_ERROR_FACILITY_BUSY, "EBUSY (Device or resource busy)"},
    {ENOSYS, PFB_PU_ERROR_REQUIRED_APIS_MISSING, PFB_PU_ERROR_REQUIRED_APIS_MISSING,
     "ENOSYS (Function not implemented)"},
    {ECHILD, PFB_PU_FAILURE, PFB_PU_FAILURE, "error 10 (No child processes)"}};

static void expect_refusal(const pfb_perf_target *target, int error, int64_t paranoid, int code, const char *sentence)
{
    pfb_perf_group group;
    pfb_cpi_failure failure = {0};
    cr_expect_eq(pfb_perf_group_open(&fake_functions, target, paranoid, &group, &failure), error);
    cr_expect_eq(failure.code, code, "%d instead of %d: %s", failure.code, code, failure.sentence);
    cr_expect_eq(strncmp(failure.sentence, sentence, strlen(sentence)), 0, "\"%s\" does not begin with \"%s\"",
                 failure.sentence, sentence);
    cr_expect_lt(strlen(failure.sentence), sizeof failure.sentence - 1, "the sentence is truncated: %s",
                 failure.sentence);
    cr_expect_eq(fake->open_descriptors, 0);
    cr_expect_eq(pfb_perf_group_open(&fake_functions, target, paranoid, &group, NULL), error);
}

/* Tests every errno for both events of every target, with and without a hypervisor. */
Test(perf_events, an_errno_is_reported_with_its_code_and_the_event)
{
    static const struct {
        pfb_perf_target target;
        const char *phrase; /* in the sentence of the failure */
    } targets[] = {{{.cpu = 7}, "on CPU 7"},
                   {{.is_thread = true}, "of this thread"},
                   {{.is_thread = true, .is_user_only = true}, "of this thread (user mode)"}};
    static const char *const event_names[] = {"instructions", "unhalted cycles"};
    for (size_t i = 0; i < sizeof known_errnos / sizeof known_errnos[0]; i++) {
        const known_errno *known = &known_errnos[i];
        for (size_t n = 0; n < 12; n++) {
            char sentence[200];
            int event = n & 1;
            fake->is_virtual = n & 2;
            fake->rule_count = 0;
            add_rule(known->error, targets[n / 4].target.is_thread, ANY, event, ANY);
            snprintf(sentence, sizeof sentence, "%s %s cannot be counted: %s", event_names[event],
                     targets[n / 4].phrase, known->name);
            expect_refusal(&targets[n / 4].target, known->error, 2, n & 2 ? known->virtual_code : known->code,
                           sentence);
        }
    }
}

Test(perf_events, a_refusal_names_the_required_perf_event_paranoid_level)
{
    const pfb_perf_target cpu = {.cpu = 0};
    const pfb_perf_target thread = {.is_thread = true};
    const pfb_perf_target user = {.is_thread = true, .is_user_only = true};
    const char *const who = "instructions on CPU 0 cannot be counted: EACCES (Permission denied); ";
    char sentence[240];
    add_rule(EACCES, false, ANY, ANY, ANY);
    add_rule(EACCES, true, ANY, ANY, ANY);
    snprintf(sentence, sizeof sentence, "%skernel.perf_event_paranoid is 2; 0 or CAP_PERFMON is needed", who);
    expect_refusal(&cpu, EACCES, 2, PFB_PU_ERROR_ACCESS_DENIED, sentence);
    snprintf(sentence, sizeof sentence, "%skernel.perf_event_paranoid is 1; 0 or CAP_PERFMON is needed", who);
    expect_refusal(&cpu, EACCES, 1, PFB_PU_ERROR_ACCESS_DENIED, sentence);
    snprintf(sentence, sizeof sentence, "%skernel.perf_event_paranoid is 0 and allows it", who);
    expect_refusal(&cpu, EACCES, 0, PFB_PU_ERROR_ACCESS_DENIED, sentence);
    snprintf(sentence, sizeof sentence, "%skernel.perf_event_paranoid is -1 and allows it", who);
    expect_refusal(&cpu, EACCES, -1, PFB_PU_ERROR_ACCESS_DENIED, sentence);
    expect_refusal(&thread, EACCES, 2, PFB_PU_ERROR_ACCESS_DENIED,
                   "instructions of this thread cannot be counted: EACCES (Permission denied); "
                   "kernel.perf_event_paranoid is 2; 1 or CAP_PERFMON is needed");
    expect_refusal(&user, EACCES, 3, PFB_PU_ERROR_ACCESS_DENIED,
                   "instructions of this thread (user mode) cannot be counted: EACCES (Permission denied); "
                   "kernel.perf_event_paranoid is 3; 2 or CAP_PERFMON is needed");
    expect_refusal(&user, EACCES, 2, PFB_PU_ERROR_ACCESS_DENIED,
                   "instructions of this thread (user mode) cannot be counted: EACCES (Permission denied); "
                   "kernel.perf_event_paranoid is 2 and allows it");
}

Test(perf_events, missing_events_are_distinguished_from_refused_ones)
{
    for (size_t i = 0; i < sizeof known_errnos / sizeof known_errnos[0]; i++)
        cr_expect_eq(pfb_perf_is_absence(known_errnos[i].error), known_errnos[i].code == PFB_PU_ERROR_NOT_SUPPORTED,
                     "%s", known_errnos[i].name);
}

/* ---- Readings --------------------------------------------------------------------------------------------- */

static pfb_perf_group open_cpu(uint32_t cpu)
{
    const pfb_perf_target target = {.cpu = cpu};
    pfb_perf_group group;
    pfb_cpi_failure failure = {0};
    cr_assert_eq(pfb_perf_group_open(&fake_functions, &target, 0, &group, &failure), 0, "%s", failure.sentence);
    cr_expect_eq(fake->open_descriptors, 2);
    return group;
}

Test(perf_events, a_group_reads_the_counts_of_the_kernel)
{
    pfb_perf_group group = open_cpu(3);
    pfb_perf_counts counts = {0};
    count(&fake->cpus[3], 1000, 600, UINT64_C(0x8000000000000001), 77);
    cr_assert(pfb_perf_group_read(&fake_functions, &group, &counts, NULL));
    cr_expect(counts.enabled == 1000 && counts.running == 600 && counts.cycles == 77 &&
              counts.instructions == UINT64_C(0x8000000000000001));
    pfb_perf_group_close(&fake_functions, &group);
}

Test(perf_events, a_malformed_read_is_a_failure)
{
    static const struct {
        long size;
        uint64_t events;
        int code;
        const char *sentence;
    } reads[] = {{0, 2, PFB_PU_ERROR_READ_PERFORMANCE_DATA,
                  "instructions on CPU 3 cannot be read: the kernel gives 0 bytes instead of 40"},
                 {8, 2, PFB_PU_ERROR_READ_PERFORMANCE_DATA,
                  "instructions on CPU 3 cannot be read: the kernel gives 8 bytes instead of 40"},
                 {32, 1, PFB_PU_ERROR_READ_PERFORMANCE_DATA,
                  "instructions on CPU 3 cannot be read: the kernel gives 32 bytes instead of 40"},
                 {39, 2, PFB_PU_ERROR_READ_PERFORMANCE_DATA,
                  "instructions on CPU 3 cannot be read: the kernel gives 39 bytes instead of 40"},
                 {48, 3, PFB_PU_ERROR_READ_PERFORMANCE_DATA,
                  "instructions on CPU 3 cannot be read: the kernel gives 48 bytes instead of 40"},
                 {40, 0, PFB_PU_ERROR_INTERNAL_ERROR,
                  "instructions on CPU 3 cannot be read: the kernel gives 0 events instead of 2"},
                 {40, 1, PFB_PU_ERROR_INTERNAL_ERROR,
                  "instructions on CPU 3 cannot be read: the kernel gives 1 events instead of 2"},
                 {40, UINT64_MAX, PFB_PU_ERROR_INTERNAL_ERROR,
                  "instructions on CPU 3 cannot be read: the kernel gives 18446744073709551615 events instead of 2"},
                 {-EIO, 2, PFB_PU_ERROR_READ_PERFORMANCE_DATA,
                  "instructions on CPU 3 cannot be read: error 5 (Input/output error)"},
                 {-ENXIO, 2, PFB_PU_ERROR_READ_PERFORMANCE_DATA,
                  "instructions on CPU 3 cannot be read: ENXIO (No such device or address)"}};
    pfb_perf_group group = open_cpu(3);
    fake->bad_cpu = 3;
    for (size_t i = 0; i < sizeof reads / sizeof reads[0]; i++) {
        pfb_cpi_failure failure = {0};
        pfb_perf_counts counts = {1, 2, 3, 4};
        fake->bad_reads = 1;
        fake->bad_size = reads[i].size;
        fake->bad_events = reads[i].events;
        cr_expect_not(pfb_perf_group_read(&fake_functions, &group, &counts, &failure), "%s", reads[i].sentence);
        cr_expect_eq(failure.code, reads[i].code, "%s", reads[i].sentence);
        cr_expect_str_eq(failure.sentence, reads[i].sentence);
        cr_expect(counts.enabled == 1 && counts.running == 2 && counts.instructions == 3 && counts.cycles == 4, "%s",
                  reads[i].sentence);
    }
    pfb_perf_group_close(&fake_functions, &group);
}

/* ---- Progress --------------------------------------------------------------------------------------------- */

Test(perf_events, scaling_is_exact)
{
    static const struct {
        uint64_t a, factor, divisor, expected;
    } cases[] = {
        {0, 5, 7, 0},
        {7, 0, 7, 0},
        {10, 3, 4, 7},
        {UINT64_MAX, 1, 1, UINT64_MAX},
        {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX},
        {UINT64_MAX, UINT64_MAX - 1, UINT64_MAX, UINT64_MAX - 1},
        {UINT64_MAX - 1, UINT64_MAX - 1, UINT64_MAX, UINT64_MAX - 2}, /* (m - 1)^2 / m = m - 2 + 1/m */
        {UINT64_C(1) << 63, 3, 2, UINT64_C(3) << 62},
        {UINT64_C(1) << 63, 2, 1, UINT64_MAX}, /* saturates */
        {UINT64_C(1) << 63, 4, 2, UINT64_MAX},
        {UINT64_MAX, 1, 2, UINT64_MAX / 2},
        {UINT64_MAX, UINT64_MAX, 1, UINT64_MAX},
        {UINT64_C(6148914691236517205), 3, 1, UINT64_MAX}, /* (2^64 - 1) / 3 * 3 */
        {UINT64_C(1000000007), UINT64_C(998244353) << 30, UINT64_C(1) << 30, UINT64_C(998244359987710471)},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        cr_expect_eq(pfb_perf_scale(cases[i].a, cases[i].factor, cases[i].divisor), cases[i].expected,
                     "case %zu: %" PRIu64, i, pfb_perf_scale(cases[i].a, cases[i].factor, cases[i].divisor));
}

/* If the product fits in 64 bits, the result is that of 64-bit arithmetic. */
Test(perf_events, scaling_agrees_with_64_bit_arithmetic)
{
    uint64_t random = 1;
    for (size_t i = 0; i < 20000; i++) {
        uint64_t a = random_number(&random, 32);
        uint64_t factor = random_number(&random, 32);
        uint64_t divisor = random_number(&random, 32) + 1;
        cr_assert_eq(pfb_perf_scale(a, factor, divisor), a * factor / divisor, "%" PRIu64 " * %" PRIu64 " / %" PRIu64,
                     a, factor, divisor);
    }
}

static const pfb_perf_counts begin = {.enabled = 1000, .running = 400, .instructions = 50, .cycles = 90};

Test(perf_events, counts_are_extrapolated_to_the_enabled_time)
{
    pfb_perf_progress progress;
    pfb_perf_counts end = begin;
    count(&end, 1000, 1000, 7, 11);
    cr_assert(pfb_perf_progress_of(&begin, &end, &progress));
    cr_expect(progress.instructions == 7 && progress.cycles == 11 && !progress.is_scaled);
    end = begin;
    count(&end, 1000, 300, 7, 11); /* 70/3 and 110/3, rounded down; only differences of the times are used */
    cr_assert(pfb_perf_progress_of(&begin, &end, &progress));
    cr_expect(progress.instructions == 23 && progress.cycles == 36 && progress.is_scaled);
    end = begin;
    count(&end, 2, 1, 0, 0); /* the group ran, but counted nothing */
    cr_assert(pfb_perf_progress_of(&begin, &end, &progress));
    cr_expect(progress.instructions == 0 && progress.cycles == 0 && progress.is_scaled);
}

Test(perf_events, intervals_without_valid_counts_have_no_progress)
{
    const uint64_t max = UINT64_MAX;
    const pfb_perf_counts ends[] = {{1000, 400, 50, 90},  {2000, 400, 50, 90},  {2000, 400, 60, 99},
                                    {1100, 501, 60, 99},  {999, 500, 60, 99},   {2000, 399, 60, 99},
                                    {2000, 500, 49, 99},  {2000, 500, 60, 89},  {0, 0, 0, 0},
                                    {1002, 401, max, 99}, {1002, 401, 60, max}, {1002, 401, max / 2 + 50, 99}};
    pfb_perf_progress progress;
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        cr_expect_not(pfb_perf_progress_of(&begin, &ends[i], &progress), "case %zu", i);
}
