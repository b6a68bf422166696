/* SPDX-License-Identifier: MIT */
/* The facility opens and closes the source of this machine. The machine is simulated: the test program has its own
 * pfb_cpi_source_open_live and its own copy of the code that calls it. */
#include "perfblock/cpi_facility.h"

#include "support_cpi_source.h"

#include <criterion/criterion.h>

#include <string.h>

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
