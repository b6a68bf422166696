/* SPDX-License-Identifier: MIT */
/* Trace hooks written by the facility: the worked examples, the hooks of a group, and the buffer. */
#include "perfblock/cpi_facility.h"

#include "support_cpi.h"
#include "support_cpi_source.h"

#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const pfb_cpi_data anything; /* value of a data pointer before a call */
static canned_source source;
static uint8_t buffer[8192];

static void use(const canned_step *list, size_t count)
{
    source = (canned_source){.steps = list, .step_count = count};
    cr_assert_eq(pfb_cpi_use_source(canned_open(&source)), PFB_PU_SUCCESS);
}

/* Makes an instance with these steps and the buffer attached. */
static void *init(uint32_t mode, const canned_step *list, size_t count)
{
    void *handle;
    use(list, count);
    cr_assert_eq(pfb_cpi_init(mode, &handle), PFB_PU_SUCCESS, "%s", pfb_cpi_last_error_text());
    memset(buffer, 0xEE, sizeof buffer);
    cr_assert_eq(pfb_cpi_attach_trace_buffer(handle, buffer, sizeof buffer), PFB_PU_SUCCESS);
    return handle;
}

static void finish(void *handle)
{
    cr_expect_eq(pfb_cpi_terminate(handle), PFB_PU_SUCCESS);
    cr_expect_eq(pfb_cpi_use_source(NULL), PFB_PU_SUCCESS);
}

static void expect_size(void *handle, size_t used, size_t needed, const char *what)
{
    size_t actual_used = 1;
    size_t actual_needed = 1;
    cr_expect_eq(pfb_cpi_get_trace_size(handle, &actual_used, &actual_needed), PFB_PU_SUCCESS);
    cr_expect_eq(actual_used, used, "%s: %zu used", what, actual_used);
    cr_expect_eq(actual_needed, needed, "%s: %zu needed", what, actual_needed);
}

/* Checks that the buffer contains the worked example and nothing after it. */
static void expect_example(void *handle, int number)
{
    bytes expected = example(number);
    expect_size(handle, expected.size, 0, "the worked example");
    cr_expect_arr_eq(buffer, expected.data, expected.size);
    cr_expect_eq(buffer[expected.size], 0xEE);
}

/* Compares the bytes in memory, because an x87 register can hold a result with more precision than a double has. */
static bool is_same(double value, double expected)
{
    return memcmp(&value, &expected, sizeof value) == 0;
}

static void expect_doubles(const double *values, const double *expected, size_t count, const char *what)
{
    for (size_t i = 0; i < PFB_CPI_MAX_CPUS; i++)
        cr_expect(is_same(values[i], i < count ? expected[i] : 0.0), "%s[%zu] is %.17g", what, i, values[i]);
}

/* ---- Worked examples ----------------------------------------------------------------------------------- */

Test(cpi_facility_trace, the_first_worked_example_is_written)
{
    static const pfb_cpi_cpu start_cpus[] = {{0, 0, 1000, 0, 1000}, {1, 5000, 1000, 0, 1000}};
    static const pfb_cpi_cpu end_cpus[] = {{0, 1500000, 3001000, 2250000, 3001000},
                                           {1, 3005120, 3001000, 600000, 3001000}};
    static const canned_step list[] = {{.reading = {.snapshot = {.clock = 1000, start_cpus, 2}, .widths = {64, 64}}},
                                       {.reading = {.snapshot = {.clock = 3001000, end_cpus, 2}, .widths = {64, 64}}}};
    const pfb_cpi_data *d;
    pfb_cpi_details details;
    void *handle = init(PFB_CPI_RAW | PFB_CPI_SCALED | PFB_CPI_FORM_SUMMARY, list, COUNT(list));
    cr_assert_eq(pfb_cpi_get_and_trace(handle, 1, 0, NULL, &d), PFB_PU_SUCCESS);
    cr_expect(d->num_cpus == 2 && d->tid == 0 && d->elapsed_cycles == 3000000);
    expect_doubles(d->raw_cpi, (double[]){2.0, 0.999960001599936}, 2, "raw_cpi");
    expect_doubles(d->scaled_cpi, (double[]){1.5, 0.1999920003199872}, 2, "scaled_cpi");
    expect_doubles(d->cpu_busy, (double[]){75.0, 20.0}, 2, "cpu_busy");
    cr_expect(is_same(d->raw_sys_cpi, 1.3332977787259006) && is_same(d->scaled_sys_cpi, 0.6333164448948028) &&
              is_same(d->sys_busy, 47.5));
    cr_expect(is_same(d->thread_cpi, 0.0));
    cr_assert_eq(pfb_cpi_get_details(handle, &details), PFB_PU_SUCCESS);
    cr_expect(details.cpus[0].status == PFB_CPI_OK && details.cpus[1].status == PFB_CPI_OK);
    cr_expect(details.result.system.status == PFB_CPI_OK && !details.result.cpus_changed);
    expect_example(handle, 1);
    finish(handle);
}

Test(cpi_facility_trace, the_second_worked_example_is_written)
{
    static const pfb_cpi_cpu start_cpu = {.instr = UINT64_C(7000000000), .cycles = UINT64_C(68719476736)};
    static const pfb_cpi_cpu end_cpu = {.instr = UINT64_C(16000000000), .cycles = UINT64_C(80719476737)};
    static const canned_step list[] = {
        {.reading = {.snapshot = {UINT64_C(68719476736), &start_cpu, 1, true, {4242, 100, 200}}, .widths = {64, 64}}},
        {.reading = {
             .snapshot =
                 {UINT64_C(80719476737), &end_cpu, 1, true, {4242, UINT64_C(8000000100), UINT64_C(10500000200)}},
             .widths = {64, 64}}}};
    const pfb_cpi_data *d;
    pfb_cpi_details details;
    void *handle = init(PFB_CPI_RAW | PFB_CPI_ON_THREAD, list, COUNT(list));
    cr_assert_eq(pfb_cpi_get_and_trace(handle, 0x2A, PFB_CPI_FORM_DETAILED, "loop A", &d), PFB_PU_SUCCESS);
    cr_expect(d->num_cpus == 1 && d->tid == 4242 && d->elapsed_cycles == UINT64_C(12000000001));
    expect_doubles(d->raw_cpi, (double[]){1.3333333334444444}, 1, "raw_cpi");
    expect_doubles(d->scaled_cpi, NULL, 0, "scaled_cpi");
    expect_doubles(d->cpu_busy, NULL, 0, "cpu_busy");
    cr_expect(is_same(d->raw_sys_cpi, 1.3333333334444444) && is_same(d->scaled_sys_cpi, 0.0) &&
              is_same(d->sys_busy, 0.0));
    cr_expect(is_same(d->thread_cpi, 1.3125));
    cr_assert_eq(pfb_cpi_get_details(handle, &details), PFB_PU_SUCCESS);
    cr_expect(details.cpus[0].status == PFB_CPI_OK && details.result.thread.status == PFB_CPI_OK);
    cr_expect_not(details.result.cpus_changed);
    expect_example(handle, 2);
    finish(handle);
}

/* The label and the minor code are set in advance, and pfb_cpi_get writes the hooks. */
Test(cpi_facility_trace, the_third_worked_example_is_written)
{
    static const pfb_cpi_cpu start_cpus[] = {
        {0, UINT64_C(1099511626776), 10, 0, 0}, {1, 777, 10, 5, 0}, {3, 1, 1, 1, 1}};
    static const pfb_cpi_cpu end_cpus[] = {{0, 3000, 8010, 6000, 8000}, {1, 777, 8010, 5, 8000}};
    static const canned_step list[] = {
        {.reading = {.snapshot = {500, start_cpus, 3, true, {900, 0, 0}}, .widths = {40, 64}}},
        {.reading = {.snapshot = {8500, end_cpus, 2, true, {900, 3200, 4801}}, .widths = {40, 64}}}};
    const pfb_cpi_data *d;
    pfb_cpi_details details;
    void *handle =
        init(PFB_CPI_SCALED | PFB_CPI_ON_THREAD | PFB_CPI_TRACE_ON_GET | PFB_CPI_FORM_SUMMARY | PFB_CPI_FORM_DETAILED,
             list, COUNT(list));
    char label[] = "phase-03";
    cr_assert_eq(pfb_cpi_set_trace_hook_id(handle, 7, label), PFB_PU_SUCCESS);
    memset(label, 'x', 8); /* the instance has copied the label */
    cr_assert_eq(pfb_cpi_get(handle, &d), PFB_PU_SUCCESS);
    cr_expect(d->num_cpus == 3 && d->tid == 900 && d->elapsed_cycles == 8000);
    expect_doubles(d->raw_cpi, (double[]){2.0, 0.0, 0.0}, 3, "raw_cpi");
    expect_doubles(d->scaled_cpi, (double[]){1.5, 0.0, 0.0}, 3, "scaled_cpi");
    expect_doubles(d->cpu_busy, (double[]){75.0, 0.0, 0.0}, 3, "cpu_busy");
    cr_expect(is_same(d->raw_sys_cpi, 4.0) && is_same(d->scaled_sys_cpi, 1.5) && is_same(d->sys_busy, 37.5));
    cr_expect(is_same(d->thread_cpi, 1.5003125));
    cr_assert_eq(pfb_cpi_get_details(handle, &details), PFB_PU_SUCCESS);
    cr_expect(details.cpus[0].status == PFB_CPI_WRAPPED && details.cpus[1].status == PFB_CPI_NO_INSTR &&
              details.cpus[2].status == PFB_CPI_OFFLINE);
    cr_expect(details.cpus[2].cpu == 3 && details.result.cpus_changed);
    expect_example(handle, 3);
    finish(handle);
}

/* ---- Identity and hooks of a group --------------------------------------------------------------------- */

/* A CPU with a thread: a thousand instructions and cycles in each step. */
static const pfb_cpi_cpu counts[] = {{0, 0, 0, 0, 0},
                                     {0, 1000, 1000, 1000, 1000},
                                     {0, 2000, 2000, 2000, 2000},
                                     {0, 3000, 3000, 3000, 3000},
                                     {0, 4000, 4000, 4000, 4000}};

#define STEP(n)                                                                                                        \
    {                                                                                                                  \
        .reading = {.snapshot = {1000 * (n), &counts[n], 1, true, {77, 5 * (n), 5 * (n)}}, .widths = {64, 64} }        \
    }

static const canned_step steps[] = {STEP(0), STEP(1), STEP(2), STEP(3), STEP(4)};

/* Expected groups: minor code, label size, and whether they have summary, system and thread hooks. */
typedef struct expected_group {
    uint32_t minor, label_size_bytes;
    bool has_summary, has_system, has_thread;
} expected_group;

static void expect_groups(void *handle, const expected_group *expected, size_t count)
{
    size_t used;
    pfb_cpi_hooks hooks;
    pfb_cpi_group group;
    cr_assert_eq(pfb_cpi_get_trace_size(handle, &used, NULL), PFB_PU_SUCCESS);
    pfb_cpi_hooks_open(&hooks, buffer, used, NULL);
    for (size_t i = 0; i < count; i++) {
        cr_assert(pfb_cpi_hooks_next(&hooks, &group), "group %zu", i);
        cr_expect_eq(group.minor, expected[i].minor, "group %zu", i);
        cr_expect_eq(group.label_size_bytes, expected[i].label_size_bytes, "group %zu", i);
        cr_expect_eq(group.hooks[PFB_CPI_SUMMARY_HOOK].is_present, expected[i].has_summary, "group %zu", i);
        cr_expect_eq(group.hooks[PFB_CPI_SYSTEM_HOOK].is_present, expected[i].has_system, "group %zu", i);
        cr_expect_eq(group.hooks[PFB_CPI_PROCESSORS_HOOK].is_present, expected[i].has_system, "group %zu", i);
        cr_expect_eq(group.hooks[PFB_CPI_THREAD_HOOK].is_present, expected[i].has_thread, "group %zu", i);
    }
    cr_expect_not(pfb_cpi_hooks_next(&hooks, &group));
    cr_expect_eq(hooks.error.code, PFB_OK);
}

Test(cpi_facility_trace, the_label_and_minor_code_remain_until_they_are_set_again)
{
    const pfb_cpi_data *data;
    void *handle = init(PFB_CPI_TRACE_ON_GET, steps, COUNT(steps));
    cr_expect_eq(pfb_cpi_get(handle, &data), PFB_PU_SUCCESS);
    cr_expect_eq(pfb_cpi_set_trace_hook_id(handle, 255, "ab"), PFB_PU_SUCCESS);
    cr_expect_eq(pfb_cpi_get(handle, &data), PFB_PU_SUCCESS);
    cr_expect_eq(pfb_cpi_get_and_trace(handle, 9, 0, NULL, &data), PFB_PU_SUCCESS,
                 "this label and minor code apply to this call only");
    cr_expect_eq(pfb_cpi_get(handle, &data), PFB_PU_SUCCESS);
    static const expected_group expected[] = {{1, 0, true, false, false},
                                              {255, 2, true, false, false},
                                              {9, 0, true, false, false},
                                              {255, 2, true, false, false}};
    expect_groups(handle, expected, COUNT(expected));
    finish(handle);
}

Test(cpi_facility_trace, mode_and_forms_determine_the_hooks_of_a_group)
{
    static const struct {
        uint32_t mode, forms;
        expected_group expected;
    } rows[] = {
        {PFB_CPI_RAW, 0, {1, 0, true, false, false}},
        {PFB_CPI_RAW, PFB_CPI_FORM_SUMMARY, {1, 0, true, false, false}},
        {PFB_CPI_RAW, PFB_CPI_FORM_DETAILED, {1, 0, false, true, false}},
        {PFB_CPI_FORM_DETAILED, 0, {1, 0, false, true, false}},
        {PFB_CPI_FORM_DETAILED, PFB_CPI_FORM_SUMMARY, {1, 0, true, false, false}},
        {PFB_CPI_ON_THREAD | PFB_CPI_FORM_DETAILED, 0, {1, 0, false, true, true}},
        {PFB_CPI_ON_THREAD, PFB_CPI_FORM_DETAILED | PFB_CPI_FORM_SUMMARY, {1, 0, true, true, true}},
        {PFB_CPI_THREAD_ONLY, 0, {1, 0, false, false, true}},
        {PFB_CPI_THREAD_ONLY, PFB_CPI_FORM_DETAILED, {1, 0, false, false, true}},
        {PFB_CPI_TRACE_ONLY_ON_GET, 0, {1, 0, true, false, false}},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const pfb_cpi_data *data;
        void *handle = init(rows[i].mode, steps, COUNT(steps));
        cr_expect_eq(pfb_cpi_get_and_trace(handle, 1, rows[i].forms, "", &data), PFB_PU_SUCCESS, "row %zu", i);
        expect_groups(handle, &rows[i].expected, 1);
        finish(handle);
    }
}

Test(cpi_facility_trace, trace_only_on_get_has_no_effect)
{
    const pfb_cpi_data *data;
    void *handle = init(PFB_CPI_TRACE_ONLY_ON_GET | PFB_CPI_FORM_SUMMARY, steps, COUNT(steps));
    cr_expect_eq(pfb_cpi_get(handle, &data), PFB_PU_SUCCESS);
    cr_expect_not_null(data, "PFB_CPI_TRACE_ONLY_ON_GET does not suppress the data");
    expect_size(handle, 0, 0, "no hooks are written");
    finish(handle);
}

Test(cpi_facility_trace, minor_codes_labels_and_forms_are_checked_before_reading)
{
    char longest[257];
    const pfb_cpi_data *data;
    void *handle = init(PFB_CPI_RAW, steps, COUNT(steps));
    memset(longest, 'x', sizeof longest);
    longest[256] = '\0';
    static const struct {
        int minor;
        uint32_t forms;
        bool is_long;
    } refused[] = {{-1, 0, false},   {256, 0, false},  {0x7FFFFFFF, 0, false}, {1, 1, false},
                   {1, 0x80, false}, {1, 0x61, false}, {1, 0x80000000, false}, {1, 0, true}};
    for (size_t i = 0; i < COUNT(refused); i++) {
        const char *label = refused[i].is_long ? longest : NULL;
        data = &anything;
        cr_expect_eq(pfb_cpi_get_and_trace(handle, refused[i].minor, refused[i].forms, label, &data),
                     PFB_PU_ERROR_INVALID_PARAMETER, "row %zu", i);
        cr_expect_null(data);
        if (refused[i].forms == 0)
            cr_expect_eq(pfb_cpi_set_trace_hook_id(handle, refused[i].minor, label), PFB_PU_ERROR_INVALID_PARAMETER,
                         "row %zu", i);
    }
    cr_expect_eq(source.readings, 1, "only the reading at the start");
    longest[255] = '\0';
    cr_expect_eq(pfb_cpi_get_and_trace(handle, 0, 0, longest, &data), PFB_PU_SUCCESS);
    cr_expect_eq(pfb_cpi_set_trace_hook_id(handle, 255, longest), PFB_PU_SUCCESS);
    static const expected_group expected = {0, 255, true, false, false};
    expect_groups(handle, &expected, 1);
    finish(handle);
}

Test(cpi_facility_trace, a_refused_identity_does_not_replace_the_previous_one)
{
    const pfb_cpi_data *data;
    void *handle = init(PFB_CPI_TRACE_ON_GET, steps, COUNT(steps));
    cr_expect_eq(pfb_cpi_set_trace_hook_id(handle, 5, "abc"), PFB_PU_SUCCESS);
    cr_expect_eq(pfb_cpi_set_trace_hook_id(handle, 256, "abcd"), PFB_PU_ERROR_INVALID_PARAMETER);
    cr_expect_eq(pfb_cpi_get(handle, &data), PFB_PU_SUCCESS);
    static const expected_group expected = {5, 3, true, false, false};
    expect_groups(handle, &expected, 1);
    finish(handle);
}

Test(cpi_facility_trace, a_thread_alone_has_no_summary)
{
    const pfb_cpi_data *data;
    void *handle = init(PFB_CPI_THREAD_ONLY, steps, COUNT(steps));
    cr_expect_eq(pfb_cpi_get_and_trace(handle, 1, PFB_CPI_FORM_SUMMARY, NULL, &data),
                 PFB_PU_ERROR_INCOMPATIBLE_OPTIONS);
    cr_expect_null(data);
    cr_expect_eq(pfb_cpi_get_and_trace(handle, 1, PFB_CPI_FORM_SUMMARY | PFB_CPI_FORM_DETAILED, NULL, &data),
                 PFB_PU_ERROR_INCOMPATIBLE_OPTIONS);
    cr_expect_eq(source.readings, 1);
    expect_size(handle, 0, 0, "no hooks are written");
    finish(handle);
}

/* ---- Buffers ------------------------------------------------------------------------------------------- */

/* A summary of one CPU has 12 + 4 * 8 bytes. */
enum { SUMMARY_BYTES = 44 };

Test(cpi_facility_trace, without_a_buffer_nothing_is_read)
{
    const pfb_cpi_data *data;
    void *handle = init(PFB_CPI_TRACE_ON_GET, steps, COUNT(steps));
    cr_expect_eq(pfb_cpi_attach_trace_buffer(handle, NULL, 100), PFB_PU_SUCCESS);
    data = &anything;
    cr_expect_eq(pfb_cpi_get(handle, &data), PFB_PU_ERROR_NO_BUFFER);
    cr_expect_null(data);
    cr_expect_eq(pfb_cpi_get_and_trace(handle, 1, 0, NULL, &data), PFB_PU_ERROR_NO_BUFFER);
    cr_expect_eq(source.readings, 1);
    finish(handle);
}

Test(cpi_facility_trace, a_full_buffer_reports_the_size_of_the_group)
{
    const pfb_cpi_data *data;
    pfb_cpi_details details;
    void *handle = init(PFB_CPI_TRACE_ON_GET, steps, COUNT(steps));
    uint8_t *exact = malloc(SUMMARY_BYTES);
    cr_assert_not_null(exact);
    cr_expect_eq(pfb_cpi_attach_trace_buffer(handle, exact, SUMMARY_BYTES - 1), PFB_PU_SUCCESS);
    exact[0] = 0xEE;
    cr_expect_eq(pfb_cpi_get(handle, &data), PFB_PU_ERROR_BUFFER_FULL);
    cr_expect_null(data);
    cr_expect_eq(exact[0], 0xEE, "nothing is written");
    expect_size(handle, 0, SUMMARY_BYTES, "after the refused get");
    cr_expect_eq(pfb_cpi_get_details(handle, &details), PFB_PU_ERROR_INCORRECT_STATE);
    cr_expect_eq(pfb_cpi_attach_trace_buffer(handle, exact, SUMMARY_BYTES), PFB_PU_SUCCESS);
    expect_size(handle, 0, 0, "after attaching the buffer");
    cr_assert_eq(pfb_cpi_get(handle, &data), PFB_PU_SUCCESS);
    cr_expect_eq(data->elapsed_cycles, 2000, "the interval continues");
    expect_size(handle, SUMMARY_BYTES, 0, "the group fills the buffer");
    cr_expect_eq(pfb_cpi_get(handle, &data), PFB_PU_ERROR_BUFFER_FULL);
    expect_size(handle, SUMMARY_BYTES, SUMMARY_BYTES, "the buffer still has the first group");
    cr_expect_eq(pfb_cpi_attach_trace_buffer(handle, exact, 0), PFB_PU_SUCCESS);
    cr_expect_eq(pfb_cpi_get(handle, &data), PFB_PU_ERROR_BUFFER_FULL, "a buffer of size 0 is attached, but full");
    finish(handle);
    free(exact);
}

Test(cpi_facility_trace, each_instance_has_its_own_buffer)
{
    const pfb_cpi_data *data;
    static uint8_t other[SUMMARY_BYTES];
    void *second;
    void *handle = init(PFB_CPI_TRACE_ON_GET, steps, COUNT(steps));
    cr_assert_eq(pfb_cpi_init(PFB_CPI_TRACE_ON_GET, &second), PFB_PU_SUCCESS);
    cr_expect_eq(pfb_cpi_get(second, &data), PFB_PU_ERROR_NO_BUFFER);
    cr_expect_eq(pfb_cpi_attach_trace_buffer(second, other, sizeof other), PFB_PU_SUCCESS);
    cr_expect_eq(pfb_cpi_get(handle, &data), PFB_PU_SUCCESS);
    cr_expect_eq(pfb_cpi_get(second, &data), PFB_PU_SUCCESS);
    cr_expect_arr_eq(buffer, other, SUMMARY_BYTES, "the same steps give the same hooks");
    cr_expect_eq(pfb_cpi_terminate(second), PFB_PU_SUCCESS);
    finish(handle);
}

/* ---- No hooks ------------------------------------------------------------------------------------------ */

Test(cpi_facility_trace, a_get_that_fails_writes_no_hooks)
{
    static const canned_step list[] = {STEP(1), STEP(1), STEP(0), {.refusal = PFB_PU_ERROR_ACCESS_DENIED}, STEP(2)};
    static const int codes[] = {PFB_PU_ERROR_INVALID_CPI_DATA, PFB_PU_ERROR_INVALID_CPI_DATA,
                                PFB_PU_ERROR_ACCESS_DENIED};
    const pfb_cpi_data *data;
    void *handle = init(PFB_CPI_TRACE_ON_GET, list, COUNT(list));
    for (size_t i = 0; i < COUNT(codes); i++) {
        cr_expect_eq(pfb_cpi_get(handle, &data), codes[i], "get %zu", i);
        cr_expect_eq(data != NULL, i == 0, "get %zu", i);
        char what[40];
        snprintf(what, sizeof what, "after get %zu", i);
        expect_size(handle, 0, 0, what);
    }
    cr_expect_eq(pfb_cpi_get(handle, &data), PFB_PU_SUCCESS);
    expect_size(handle, SUMMARY_BYTES, 0, "after a successful get");
    finish(handle);
}

Test(cpi_facility_trace, sums_that_are_too_large_for_hooks_are_not_written)
{
    static const pfb_cpi_cpu start_cpus[] = {{0, 0, 0, 0, 0}, {1, 0, 0, 0, 0}};
    static const pfb_cpi_cpu end_cpus[] = {{0, 1, UINT64_MAX, 0, 0}, {1, 1, 1, 0, 0}};
    static const canned_step list[] = {{.reading = {.snapshot = {.clock = 1, start_cpus, 2}, .widths = {64, 64}}},
                                       {.reading = {.snapshot = {.clock = 2, end_cpus, 2}, .widths = {64, 64}}},
                                       {.reading = {.snapshot = {.clock = 3, end_cpus, 2}, .widths = {64, 64}}}};
    const pfb_cpi_data *data;
    pfb_cpi_details details;
    void *handle = init(PFB_CPI_RAW, list, COUNT(list));
    cr_expect_eq(pfb_cpi_get_and_trace(handle, 1, 0, NULL, &data), PFB_PU_ERROR_INVALID_CPI_DATA);
    cr_assert_not_null(data);
    cr_expect(is_same(data->raw_sys_cpi, 9223372036854775808.0), "the quotient is 2^64 / 2");
    cr_assert_eq(pfb_cpi_get_details(handle, &details), PFB_PU_SUCCESS);
    cr_expect_eq(details.result.system.status, PFB_CPI_OVERFLOW);
    expect_size(handle, 0, 0, "no hooks are written");
    cr_expect_eq(pfb_cpi_get(handle, &data), PFB_PU_SUCCESS, "without hooks the sum is no error");
    finish(handle);
}
