/* SPDX-License-Identifier: MIT */
/* The facility opens and closes the source of this machine. The machine is simulated: the test program has its own
 * pfb_cpi_source_open_live and its own copy of the code that calls it. */
#include "perfblock/cpi_facility.h"

#include "support_cpi_source.h"

#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if !defined(_WIN32)
#include "support_stderr.h"
#endif

static const pfb_cpi_cpu cpus[][1] = {{{0, 0, 0, 0, 0}}, {{0, 500, 1000, 0, 0}}};
static const canned_step steps[] = {{.reading = {.snapshot = {0, cpus[0], 1, false, {0}}, .widths = {64, 64}}},
                                    {.reading = {.snapshot = {1000, cpus[1], 1, false, {0}}, .widths = {64, 64}}}};
static canned_source machine;
static int opened;
static bool is_exhausted;

pfb_cpi_source *pfb_cpi_source_open_live(pfb_cpi_failure *failure)
{
    if (is_exhausted) {
        *failure = (pfb_cpi_failure){.code = PFB_PU_ERROR_NOT_ENOUGH_MEMORY, .sentence = "memory is exhausted"};
        return NULL;
    }
    opened++;
    return canned_open(&machine);
}

static void make_machine(void)
{
    machine = (canned_source){.steps = steps, .step_count = 2, .is_closed = true};
    opened = 0;
}

TestSuite(cpi_facility_live, .init = make_machine);

static void *init(void)
{
    void *handle;
    cr_assert_eq(pfb_cpi_init(PFB_CPI_RAW, &handle), PFB_PU_SUCCESS, "%s", pfb_cpi_last_error_text());
    return handle;
}

Test(cpi_facility_live, the_first_instance_opens_the_source_and_the_last_one_closes_it)
{
    cr_expect_eq(opened, 0, "the source is not opened before the first instance");
    for (int round = 1; round <= 3; round++) {
        void *handles[3];
        for (int i = 0; i < 3; i++) {
            handles[i] = init();
            cr_expect(opened == round && !machine.is_closed, "instance %d of round %d", i, round);
        }
        for (int i = 0; i < 3; i++) {
            cr_expect_not(machine.is_closed, "instance %d of round %d", i, round);
            cr_expect_eq(pfb_cpi_terminate(handles[(i + round) % 3]), PFB_PU_SUCCESS, "instance %d of round %d", i,
                         round);
            cr_expect_eq(machine.closed, (size_t)i + 1, "instance %d of round %d", i, round);
        }
        cr_expect(machine.is_closed, "round %d", round);
    }
}

Test(cpi_facility_live, a_refused_instance_does_not_keep_the_source_open)
{
    void *handle;
    machine.refusal = PFB_PU_ERROR_NOT_VALID_IN_VM;
    cr_expect_eq(pfb_cpi_init(PFB_CPI_RAW, &handle), PFB_PU_ERROR_NOT_VALID_IN_VM);
    cr_expect(opened == 1 && machine.is_closed);
    cr_expect_eq(pfb_cpi_is_supported(), 0);
    cr_expect(opened == 2 && machine.is_closed);
    machine.refusal = 0;
    void *live = init();
    machine.refusal = PFB_PU_ERROR_NOT_VALID_IN_VM;
    cr_expect_eq(pfb_cpi_init(PFB_CPI_RAW, &handle), PFB_PU_ERROR_NOT_VALID_IN_VM);
    cr_expect(opened == 3 && !machine.is_closed, "another instance still uses the source");
    cr_expect_eq(pfb_cpi_terminate(live), PFB_PU_SUCCESS);
    cr_expect(machine.is_closed);
}

Test(cpi_facility_live, a_source_that_cannot_be_opened_is_reported)
{
    void *handle = &machine;
    is_exhausted = true;
    cr_expect_eq(pfb_cpi_init(PFB_CPI_RAW, &handle), PFB_PU_ERROR_NOT_ENOUGH_MEMORY);
    cr_expect_null(handle);
    cr_expect_str_eq(pfb_cpi_last_error_text(), "memory is exhausted");
    is_exhausted = false;
    cr_expect_eq(pfb_cpi_terminate(init()), PFB_PU_SUCCESS);
    cr_expect(opened == 1 && machine.is_closed);
}

/* If snapshots have no thread id, the id of the thread that called pfb_cpi_init is reported. */
Test(cpi_facility_live, the_default_thread_id_is_that_of_the_caller_of_init)
{
    const pfb_cpi_data *data;
    void *handle = init();
    cr_assert_eq(pfb_cpi_get(handle, &data), PFB_PU_SUCCESS);
    cr_expect(data->tid != 0 && data->num_cpus == 1 && data->raw_cpi[0] == 2.0);
    cr_expect_eq(pfb_cpi_terminate(handle), PFB_PU_SUCCESS);
}

Test(cpi_facility_live, a_source_of_the_caller_replaces_that_of_this_machine)
{
    canned_source own = {.steps = steps, .step_count = 2};
    cr_assert_eq(pfb_cpi_use_source(canned_open(&own)), PFB_PU_SUCCESS);
    cr_expect_eq(pfb_cpi_terminate(init()), PFB_PU_SUCCESS);
    cr_expect(opened == 0 && !own.is_closed);
    cr_expect_eq(pfb_cpi_use_source(NULL), PFB_PU_SUCCESS);
    cr_expect(own.is_closed);
    cr_expect_eq(pfb_cpi_terminate(init()), PFB_PU_SUCCESS);
    cr_expect(opened == 1 && machine.is_closed);
}

#if !defined(_WIN32)

#define SNAPSHOTS PERFBLOCK_SOURCE_DIR "/fixtures/two_cpus.cpi"

/* The figures are those of docs/cpi.md's example of trace hooks. Each instance begins with the first snapshot. */
Test(cpi_facility_live, a_file_of_the_environment_replaces_this_machine)
{
    const pfb_cpi_data *data;
    setenv("PERFBLOCK_CPI_SNAPSHOTS", SNAPSHOTS, 1);
    for (int i = 0; i < 2; i++) {
        void *handle;
        cr_assert_eq(pfb_cpi_init(PFB_CPI_RAW | PFB_CPI_SCALED, &handle), PFB_PU_SUCCESS);
        cr_assert_eq(pfb_cpi_start(handle), PFB_PU_SUCCESS);
        cr_assert_eq(pfb_cpi_get(handle, &data), PFB_PU_SUCCESS);
        cr_expect(data->num_cpus == 2 && data->tid == 0);
        cr_expect(data->raw_cpi[0] == 2.0 && data->scaled_cpi[0] == 1.5 && data->sys_busy == 47.5);
        cr_expect_eq(pfb_cpi_get(handle, &data), PFB_PU_ERROR_READ_PERFORMANCE_DATA, "there is no fourth snapshot");
        cr_expect_eq(pfb_cpi_terminate(handle), PFB_PU_SUCCESS);
    }
    cr_expect_eq(opened, 0);
    setenv("PERFBLOCK_CPI_SNAPSHOTS", "", 1);
    cr_expect_eq(pfb_cpi_terminate(init()), PFB_PU_SUCCESS);
    cr_expect_eq(opened, 1);
    unsetenv("PERFBLOCK_CPI_SNAPSHOTS");
}

static void init_in_vain(void)
{
    void *handle;
    cr_expect_eq(pfb_cpi_init(PFB_CPI_RAW, &handle), PFB_PU_ERROR_INVALID_PARAMETER);
}

/* The first failure is printed, once. */
Test(cpi_facility_live, a_file_of_the_environment_that_cannot_be_used_is_reported)
{
    static const char *const paths[] = {"/nowhere/a.cpi", "/", PERFBLOCK_SOURCE_DIR "/LICENSE"};
    static const char *const reasons[] = {"/nowhere/a.cpi cannot be opened", "/ cannot be read",
                                          "the snapshots cannot be read at offset 0: "};
    for (size_t i = 0; i < 3; i++) {
        setenv("PERFBLOCK_CPI_SNAPSHOTS", paths[i], 1);
        cr_expect_str_eq(printed_by(init_in_vain),
                         i == 0 ? "perfblock: PERFBLOCK_CPI_SNAPSHOTS=/nowhere/a.cpi: /nowhere/a.cpi cannot be opened\n"
                                : "");
        cr_expect(strncmp(pfb_cpi_last_error_text(), reasons[i], strlen(reasons[i])) == 0, "%s",
                  pfb_cpi_last_error_text());
    }
    unsetenv("PERFBLOCK_CPI_SNAPSHOTS");
}

/* A recording of 100 KiB. */
Test(cpi_facility_live, a_file_of_the_environment_may_be_large)
{
    char path[] = "/tmp/perfblock-XXXXXX";
    int descriptor = mkstemp(path);
    FILE *file = fdopen(descriptor, "wb");
    cr_assert(file);
    fputs("cpi-snapshots 1\n", file);
    for (int i = 0; i < 100; i++)
        fprintf(file, "#%01022d\n", i);
    fputs("snapshot 0\ncpu 0 0 0\nsnapshot 1000\ncpu 0 500 1000\n", file);
    cr_assert_eq(fclose(file), 0);
    setenv("PERFBLOCK_CPI_SNAPSHOTS", path, 1);
    const pfb_cpi_data *data;
    void *handle = init();
    cr_expect(pfb_cpi_get(handle, &data) == PFB_PU_SUCCESS && data->raw_cpi[0] == 2.0);
    cr_expect_eq(pfb_cpi_terminate(handle), PFB_PU_SUCCESS);
    cr_expect_eq(remove(path), 0);
    unsetenv("PERFBLOCK_CPI_SNAPSHOTS");
}

#endif
