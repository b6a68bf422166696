/* SPDX-License-Identifier: MIT */
/* The CPI facility: instances and their handles, modes, figures, and failures of the source. */
#include "perfblock/cpi_facility.h"
#include "perfblock/perfutil.h"

#include "support_cpi_source.h"

#include <criterion/criterion.h>

#include <pthread.h>
#include <string.h>
#if !defined(_WIN32)
#include <sys/wait.h>
#include <unistd.h>
#endif

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* ---- Helpers ------------------------------------------------------------------------------------------- */

/* Two CPUs and a thread: after n steps CPU 0 has 100 n^2 instructions and CPU 1 twice as many, in 1000 n cycles each;
 * the thread has 10 n^2 in 40 n. So the figures of an interval identify both of its ends. */
static const pfb_cpi_cpu counts[][2] = {
    {{0, 0, 0, 0, 0}, {1, 0, 0, 0, 0}},
    {{0, 100, 1000, 500, 1000}, {1, 200, 1000, 1000, 1000}},
    {{0, 400, 2000, 1000, 2000}, {1, 800, 2000, 2000, 2000}},
    {{0, 900, 3000, 1500, 3000}, {1, 1800, 3000, 3000, 3000}},
};

#define STEP(n)                                                                                                        \
    {                                                                                                                  \
        .reading = {.snapshot = {5000 * (n), counts[n], 2, true, {77, 10 * (n) * (n), 40 * (n)}}, .widths = {64, 64} } \
    }
#define REFUSED(code)                                                                                                  \
    {                                                                                                                  \
        .refusal = (code)                                                                                              \
    }

static const pfb_cpi_data anything; /* value of a data pointer before a call */
static const canned_step steps[] = {STEP(0), STEP(1), STEP(2), STEP(3)};
static canned_source default_source;

/* Makes new instances read these steps. */
static void use(canned_source *c, const canned_step *list, size_t count)
{
    *c = (canned_source){.steps = list, .step_count = count};
    cr_assert_eq(pfb_cpi_use_source(canned_open(c)), PFB_PU_SUCCESS);
}

static void use_default(void)
{
    use(&default_source, steps, COUNT(steps));
}

static void use_machine(void)
{
    cr_expect_eq(pfb_cpi_use_source(NULL), PFB_PU_SUCCESS);
}

TestSuite(cpi_facility, .init = use_default, .fini = use_machine);

static void *init(uint32_t mode)
{
    void *handle;
    cr_assert_eq(pfb_cpi_init(mode, &handle), PFB_PU_SUCCESS, "%s", pfb_cpi_last_error_text());
    cr_assert_not_null(handle);
    return handle;
}

static void terminate(void *handle)
{
    cr_expect_eq(pfb_cpi_terminate(handle), PFB_PU_SUCCESS);
}

/* Compares the bytes in memory, because an x87 register can hold a result with more precision than a double has. */
static bool is_same(double value, double expected)
{
    return memcmp(&value, &expected, sizeof value) == 0;
}

/* Checks the figures of the interval between two steps. */
static void expect_interval(const pfb_cpi_data *data, int start_step, int end_step)
{
    double cycles = 1000.0 * (end_step - start_step);
    double squares = end_step * end_step - start_step * start_step;
    cr_assert_not_null(data);
    cr_expect_eq(data->num_cpus, 2);
    cr_expect_eq(data->elapsed_cycles, (uint64_t)(5000 * (end_step - start_step)));
    cr_expect(is_same(data->raw_cpi[0], cycles / (100.0 * squares)), "%d to %d", start_step, end_step);
    cr_expect(is_same(data->raw_cpi[1], cycles / (200.0 * squares)), "%d to %d", start_step, end_step);
    cr_expect(is_same(data->raw_sys_cpi, 2 * cycles / (300.0 * squares)), "%d to %d", start_step, end_step);
}

static void expect_get(void *handle, int start_step, int end_step)
{
    const pfb_cpi_data *data;
    cr_assert_eq(pfb_cpi_get(handle, &data), PFB_PU_SUCCESS);
    expect_interval(data, start_step, end_step);
}

static void expect_text(const char *part)
{
    cr_expect_not_null(strstr(pfb_cpi_last_error_text(), part), "'%s'", pfb_cpi_last_error_text());
}

/* ---- Intervals ----------------------------------------------------------------------------------------- */

Test(cpi_facility, an_interval_goes_from_init_or_the_latest_start)
{
    void *handle = init(PFB_CPI_RAW);
    expect_get(handle, 0, 1);
    cr_expect_eq(pfb_cpi_start(handle), PFB_PU_SUCCESS);
    expect_get(handle, 2, 3);
    terminate(handle);
}

Test(cpi_facility, a_get_does_not_end_the_interval)
{
    void *handle = init(PFB_CPI_RAW);
    cr_expect_eq(pfb_cpi_start(handle), PFB_PU_SUCCESS);
    expect_get(handle, 1, 2);
    expect_get(handle, 1, 3);
    terminate(handle);
}

Test(cpi_facility, instances_nest_and_overlap)
{
    void *outer = init(PFB_CPI_RAW);
    cr_expect_eq(pfb_cpi_start(outer), PFB_PU_SUCCESS);
    void *inner = init(PFB_CPI_RAW);
    const pfb_cpi_data *of_inner;
    cr_assert_eq(pfb_cpi_get(inner, &of_inner), PFB_PU_SUCCESS);
    expect_get(outer, 1, 2);
    expect_interval(of_inner, 0, 1); /* the inner instance's data is still valid */
    terminate(outer);                /* terminated before the inner one */
    cr_expect_eq(pfb_cpi_start(inner), PFB_PU_SUCCESS);
    expect_get(inner, 2, 3);
    terminate(inner);
    cr_expect_eq(default_source.opened, 2);
    cr_expect_eq(default_source.closed, 2);
}

Test(cpi_facility, a_thousand_instances_have_their_own_intervals)
{
    static void *handles[1000];
    for (size_t i = 0; i < COUNT(handles); i++)
        handles[i] = init(PFB_CPI_RAW);
    for (size_t i = 0; i < COUNT(handles); i++) {
        cr_expect(i % 3 != 0 || pfb_cpi_start(handles[i]) == PFB_PU_SUCCESS);
        expect_get(handles[i], i % 3 == 0, i % 3 == 0 ? 2 : 1);
    }
    for (size_t i = 0; i < COUNT(handles); i++)
        terminate(handles[i * 7 % 1000]); /* 7 and 1000 are coprime, so each handle is terminated once */
    cr_expect_eq(default_source.closed, 1000);
}

/* ---- Handles ------------------------------------------------------------------------------------------- */

enum { CALLS = 10 };

static const char *const call_names[CALLS] = {
    "start",       "get",          "get_and_trace",       "set_trace_hook_id", "terminate",
    "get_details", "get_unhalted", "attach_trace_buffer", "get_trace_size",    "get_current_mode"};

/* Calls the function with this position in call_names, checks that it returns no data, and returns its code. */
static int call(int which, void *handle)
{
    static char buffer[4];
    const pfb_cpi_data *data = &anything;
    pfb_cpi_details details;
    uint64_t cycles;
    size_t used;
    int code;
    switch (which) {
    case 0:
        return pfb_cpi_start(handle);
    case 1:
        code = pfb_cpi_get(handle, &data);
        cr_expect_null(data);
        return code;
    case 2:
        code = pfb_cpi_get_and_trace(handle, 1, 0, NULL, &data);
        cr_expect_null(data);
        return code;
    case 3:
        return pfb_cpi_set_trace_hook_id(handle, 1, NULL);
    case 4:
        return pfb_cpi_terminate(handle);
    case 5:
        return pfb_cpi_get_details(handle, &details);
    case 6:
        return pfb_cpi_get_unhalted(handle, 0, &cycles);
    case 7:
        return pfb_cpi_attach_trace_buffer(handle, buffer, sizeof buffer);
    case 8:
        return pfb_cpi_get_trace_size(handle, &used, NULL);
    default:
        cr_expect_eq(pfb_cpi_get_current_mode(handle), 0);
        return PFB_PU_SUCCESS;
    }
}

static void expect_calls(void *handle, int code, const char *what)
{
    for (int which = 0; which < CALLS - 1; which++) {
        cr_expect_eq(call(which, handle), code, "%s with %s", call_names[which], what);
        cr_expect_neq(pfb_cpi_last_error_text()[0], '\0', "%s with %s", call_names[which], what);
    }
    call(CALLS - 1, handle);
}

Test(cpi_facility, invalid_handles_are_distinguished)
{
    int object[4] = {0};
    expect_calls(NULL, PFB_PU_ERR_NULL_PTR, "a null handle");
    expect_calls(object, PFB_PU_ERR_NOT_INITIALIZED, "a pointer that is not a handle, while there is no instance");
    void *dead = init(PFB_CPI_RAW);
    void *live = init(PFB_CPI_RAW);
    terminate(dead);
    expect_calls(object, PFB_PU_ERROR_INVALID_SIGNATURE, "a pointer that is not a handle");
    expect_calls(&((char *)object)[1], PFB_PU_ERROR_INVALID_SIGNATURE, "a pointer to an odd address");
    expect_calls(dead, PFB_PU_ERROR_INVALID_SIGNATURE, "the handle of a terminated instance");
    terminate(live);
    expect_calls(dead, PFB_PU_ERROR_INVALID_SIGNATURE,
                 "the handle of a terminated instance, while there is no instance");
    expect_calls(object, PFB_PU_ERR_NOT_INITIALIZED,
                 "a pointer that is not a handle, after the last instance was terminated");
    expect_calls(NULL, PFB_PU_ERR_NULL_PTR, "a null handle");
}

Test(cpi_facility, handles_are_not_reused)
{
    void *handles[50];
    void *live = init(PFB_CPI_RAW);
    for (size_t i = 0; i < COUNT(handles); i++) {
        handles[i] = init(PFB_CPI_RAW);
        terminate(handles[i]);
        for (size_t k = 0; k <= i; k++)
            cr_expect(handles[k] != live && (k == i || handles[k] != handles[i]), "handles %zu and %zu", k, i);
    }
    expect_get(live, 0, 1);
    terminate(live);
}

Test(cpi_facility, null_result_pointers_are_rejected)
{
    void *handle = init(PFB_CPI_RAW);
    cr_expect_eq(pfb_cpi_init(PFB_CPI_RAW, NULL), PFB_PU_ERR_NULL_PTR);
    cr_expect_eq(pfb_cpi_get(handle, NULL), PFB_PU_ERR_NULL_PTR);
    cr_expect_eq(pfb_cpi_get_and_trace(handle, 1, 0, NULL, NULL), PFB_PU_ERR_NULL_PTR);
    cr_expect_eq(pfb_cpi_get_details(handle, NULL), PFB_PU_ERR_NULL_PTR);
    cr_expect_eq(pfb_cpi_get_unhalted(handle, 0, NULL), PFB_PU_ERR_NULL_PTR);
    cr_expect_eq(pfb_cpi_get_trace_size(handle, NULL, NULL), PFB_PU_SUCCESS, "both result pointers may be null");
    terminate(handle);
}

/* ---- Modes --------------------------------------------------------------------------------------------- */

/* The bits are 1 raw, 2 scaled, 4 on thread, 8 trace on get, 0x10 trace only on get, 0x20 summary form, 0x40 detailed
 * form, and 0x80000000 thread only. */
Test(cpi_facility, modes_imply_others_or_are_rejected)
{
    static const struct {
        uint32_t mode;
        int code;
        uint32_t current, reader; /* modes of the instance and of the reader of the source */
    } rows[] = {
        {0, 0, 0x01, 0x01},
        {0x01, 0, 0x01, 0x01},
        {0x02, 0, 0x03, 0x03},
        {0x04, 0, 0x05, 0x05},
        {0x08, 0, 0x09, 0x01},
        {0x10, 0, 0x11, 0x01},
        {0x7F, 0, 0x7F, 0x07},
        {0x80000000, 0, 0x80000005, 0x80000005},
        {0x80000049, 0, 0x8000004D, 0x80000005},
        {0x80000002, PFB_PU_ERROR_INCOMPATIBLE_OPTIONS, 0, 0},
        {0x80000020, PFB_PU_ERROR_INCOMPATIBLE_OPTIONS, 0, 0},
        {0x80000062, PFB_PU_ERROR_INCOMPATIBLE_OPTIONS, 0, 0},
        {0x80, PFB_PU_ERROR_INVALID_PARAMETER, 0, 0},
        {0x40000000, PFB_PU_ERROR_INVALID_PARAMETER, 0, 0},
        {0x80000082, PFB_PU_ERROR_INVALID_PARAMETER, 0, 0}, /* the unknown bit is reported first */
        {0xFFFFFFFF, PFB_PU_ERROR_INVALID_PARAMETER, 0, 0},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        void *handle = &default_source;
        cr_expect_eq(pfb_cpi_init(rows[i].mode, &handle), rows[i].code, "mode %x", rows[i].mode);
        cr_expect_eq(handle == NULL, rows[i].code != 0, "mode %x", rows[i].mode);
        if (!handle)
            continue;
        cr_expect_eq(pfb_cpi_get_current_mode(handle), rows[i].current, "mode %x", rows[i].mode);
        cr_expect_eq(default_source.mode, rows[i].reader, "mode %x", rows[i].mode);
        terminate(handle);
    }
}

Test(cpi_facility, figures_that_were_not_requested_are_zero)
{
    const pfb_cpi_data *data;
    void *handle = init(PFB_CPI_RAW);
    cr_assert_eq(pfb_cpi_get(handle, &data), PFB_PU_SUCCESS);
    cr_expect(data->scaled_cpi[0] == 0.0 && data->scaled_sys_cpi == 0.0 && data->cpu_busy[1] == 0.0 &&
              data->sys_busy == 0.0 && data->thread_cpi == 0.0 && data->raw_cpi[2] == 0.0);
    cr_expect_eq(data->tid, 77, "the thread id is set in every mode");
    terminate(handle);
    handle = init(PFB_CPI_SCALED | PFB_CPI_ON_THREAD);
    cr_assert_eq(pfb_cpi_get(handle, &data), PFB_PU_SUCCESS);
    cr_expect(data->scaled_cpi[0] == 5.0 && data->scaled_cpi[1] == 5.0 && data->scaled_sys_cpi == 5.0);
    cr_expect(data->cpu_busy[0] == 50.0 && data->cpu_busy[1] == 100.0 && data->sys_busy == 75.0);
    cr_expect(data->thread_cpi == 4.0 && data->tid == 77);
    terminate(handle);
}

/* ---- Thread-only mode ---------------------------------------------------------------------------------- */

Test(cpi_facility, thread_only_mode_succeeds_with_each_status)
{
    static const struct {
        uint64_t instr, cycles;
        pfb_cpi_status status;
        double cpi;
    } rows[] = {{200, 400, PFB_CPI_OK, 3.0},
                {100, 400, PFB_CPI_NO_INSTR, 0.0},
                {99, 400, PFB_CPI_BACKWARD, 0.0},
                {101, UINT64_C(0xFFFFFFFF) + 100, PFB_CPI_OVERFLOW, 4294967295.0}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        const canned_step list[] = {
            {.reading = {.snapshot = {10, NULL, 0, true, {8, 100, 100}}, .widths = {64, 64}, .is_user_only = true}},
            {.reading = {.snapshot = {30, NULL, 0, true, {8, rows[i].instr, rows[i].cycles}}, .widths = {64, 64}}}};
        canned_source c;
        const pfb_cpi_data *data;
        pfb_cpi_details details;
        use(&c, list, COUNT(list));
        void *handle = init(PFB_CPI_THREAD_ONLY);
        cr_assert_eq(pfb_cpi_get(handle, &data), PFB_PU_SUCCESS, "row %zu", i);
        cr_expect(data->num_cpus == 0 && data->raw_sys_cpi == 0.0 && data->elapsed_cycles == 20 && data->tid == 8);
        cr_expect(is_same(data->thread_cpi, rows[i].cpi), "row %zu", i);
        cr_assert_eq(pfb_cpi_get_details(handle, &details), PFB_PU_SUCCESS);
        cr_expect_eq(details.result.thread.status, rows[i].status, "row %zu", i);
        cr_expect(details.result.system.status == PFB_CPI_INVALID && details.is_user_only);
        terminate(handle);
        use_machine();
    }
}

/* ---- Threads ------------------------------------------------------------------------------------------- */

/* Calls that another thread makes with `handle` and with an instance that it creates: their results, and the error text
 * of the third one. */
typedef struct visit {
    void *handle, *created;
    int codes[CALLS];
    char text[240];
} visit;

static void *call_all(void *context)
{
    visit *v = context;
    static char buffer[200];
    const pfb_cpi_data *data;
    uint64_t cycles;
    v->codes[0] = pfb_cpi_start(v->handle);
    v->codes[1] = pfb_cpi_get(v->handle, &data);
    v->codes[2] = pfb_cpi_get_and_trace(v->handle, 1, 0, NULL, &data);
    strcpy(v->text, pfb_cpi_last_error_text());
    v->codes[3] = pfb_cpi_get_unhalted(v->handle, 0, &cycles);
    v->codes[4] = pfb_cpi_attach_trace_buffer(v->handle, buffer, sizeof buffer);
    v->codes[5] = pfb_cpi_set_trace_hook_id(v->handle, 2, "x");
    v->codes[6] = (int)pfb_cpi_get_current_mode(v->handle);
    v->codes[7] = pfb_cpi_init(PFB_CPI_ON_THREAD, &v->created);
    v->codes[8] = pfb_cpi_start(v->created);
    return NULL;
}

static void visit_in_a_thread(visit *v)
{
    pthread_t thread;
    cr_assert_eq(pthread_create(&thread, NULL, call_all, v), 0);
    cr_assert_eq(pthread_join(thread, NULL), 0);
}

Test(cpi_facility, a_thread_s_counters_are_read_by_that_thread)
{
    visit v = {.handle = init(PFB_CPI_ON_THREAD)};
    visit_in_a_thread(&v);
    for (int i = 0; i < 4; i++)
        cr_expect_eq(v.codes[i], PFB_PU_ERROR_INVALID_THREAD, "call %d", i);
    cr_expect_not_null(strstr(v.text, "thread"));
    cr_expect(v.codes[4] == 0 && v.codes[5] == 0 && v.codes[6] == 5, "these calls read no counters and succeed");
    cr_expect(v.codes[7] == 0 && v.codes[8] == 0, "the other thread can use an instance of its own");
    expect_get(v.handle, 0, 1); /* no step was consumed */
    cr_expect_eq(pfb_cpi_start(v.created), PFB_PU_ERROR_INVALID_THREAD);
    visit later = {.handle = v.created};
    visit_in_a_thread(&later); /* the operating system may reuse the id of the thread that ended */
    cr_expect_eq(later.codes[0], PFB_PU_ERROR_INVALID_THREAD);
    terminate(v.handle);
    terminate(v.created);
    terminate(later.created);
}

Test(cpi_facility, other_instances_can_be_used_by_any_thread)
{
    visit v = {.handle = init(PFB_CPI_RAW)};
    visit_in_a_thread(&v);
    cr_expect(v.codes[0] == 0 && v.codes[1] == 0);
    cr_expect_eq(v.codes[2], PFB_PU_ERROR_NO_BUFFER);
    expect_get(v.handle, 1, 3);
    terminate(v.handle);
    terminate(v.created);
}

#if !defined(_WIN32)
/* A child of fork has this thread's memory, but not its counters. */
Test(cpi_facility, a_child_of_fork_is_another_thread)
{
    const pfb_cpi_data *data = &anything;
    int status = 0;
    void *handle = init(PFB_CPI_ON_THREAD);
    pid_t child = fork();
    cr_assert_geq(child, 0);
    if (child == 0) {
        bool is_refused = pfb_cpi_get(handle, &data) == PFB_PU_ERROR_INVALID_THREAD && !data &&
                          pfb_cpi_start(handle) == PFB_PU_ERROR_INVALID_THREAD && default_source.readings == 1;
        _exit(is_refused ? 42 : 1);
    }
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 42, "status %d of the child", status);
    expect_get(handle, 0, 1);
    terminate(handle);
}
#endif

/* ---- Failures ------------------------------------------------------------------------------------------ */

static const int source_codes[] = {
    PFB_PU_ERROR_ACCESS_DENIED,         PFB_PU_ERROR_NOT_ENOUGH_MEMORY,      PFB_PU_ERROR_DRIVER_NOT_LOADED,
    PFB_PU_ERROR_NOT_SUPPORTED,         PFB_PU_ERROR_FACILITY_BUSY,          PFB_PU_ERROR_EVENT_NOT_SUPPORTED,
    PFB_PU_ERROR_NOT_VALID_IN_VM,       PFB_PU_ERROR_INSUFFICIENT_RESOURCES, PFB_PU_ERROR_ENABLE_THREAD_PROFILING,
    PFB_PU_ERROR_READ_PERFORMANCE_DATA, PFB_PU_ERROR_REQUIRED_APIS_MISSING};

Test(cpi_facility, failures_of_the_source_are_passed_on)
{
    for (size_t i = 0; i < COUNT(source_codes); i++) {
        const canned_step list[] = {REFUSED(source_codes[i])};
        canned_source c;
        use(&c, list, COUNT(list));
        for (int k = 0; k < 2; k++) { /* first the reading fails, then opening the reader */
            void *handle = &c;
            cr_expect_eq(pfb_cpi_init(PFB_CPI_RAW, &handle), source_codes[i], "code %d, %d", source_codes[i], k);
            cr_expect_null(handle, "code %d, %d", source_codes[i], k);
            cr_expect_str_eq(pfb_cpi_last_error_text(), CANNED_SENTENCE);
            cr_expect_eq(pfb_cpi_is_supported(), 0, "code %d, %d", source_codes[i], k);
            c.refusal = source_codes[i];
        }
        cr_expect_eq(c.opened, c.closed);
        use_machine();
    }
}

Test(cpi_facility, a_failed_get_keeps_the_interval)
{
    static const canned_step list[] = {STEP(0), REFUSED(PFB_PU_ERROR_READ_PERFORMANCE_DATA), STEP(2)};
    canned_source c;
    pfb_cpi_details details;
    const pfb_cpi_data *data = &anything;
    use(&c, list, COUNT(list));
    void *handle = init(PFB_CPI_RAW);
    cr_expect_eq(pfb_cpi_get(handle, &data), PFB_PU_ERROR_READ_PERFORMANCE_DATA);
    cr_expect_null(data);
    cr_expect_str_eq(pfb_cpi_last_error_text(), CANNED_SENTENCE);
    cr_expect_eq(pfb_cpi_get_details(handle, &details), PFB_PU_ERROR_INCORRECT_STATE);
    expect_get(handle, 0, 2);
    cr_expect_str_eq(pfb_cpi_last_error_text(), "");
    cr_expect_eq(pfb_cpi_get(handle, &data), PFB_PU_ERROR_READ_PERFORMANCE_DATA, "the source has no more steps");
    terminate(handle);
    use_machine();
}

Test(cpi_facility, a_failed_start_discards_the_interval)
{
    static const canned_step list[] = {STEP(0), REFUSED(PFB_PU_ERROR_ACCESS_DENIED), STEP(2), STEP(3)};
    canned_source c;
    const pfb_cpi_data *data;
    use(&c, list, COUNT(list));
    void *handle = init(PFB_CPI_RAW);
    cr_expect_eq(pfb_cpi_start(handle), PFB_PU_ERROR_ACCESS_DENIED);
    cr_expect_eq(pfb_cpi_get(handle, &data), PFB_PU_ERROR_INCORRECT_STATE);
    cr_expect_null(data);
    cr_expect_eq(c.readings, 2, "a get without an interval does not read counters");
    cr_expect_eq(pfb_cpi_start(handle), PFB_PU_SUCCESS);
    expect_get(handle, 2, 3);
    terminate(handle);
    use_machine();
}

Test(cpi_facility, more_cpus_than_the_maximum_are_a_failure)
{
    static pfb_cpi_cpu many[PFB_CPI_MAX_CPUS + 1];
    for (uint32_t i = 0; i < COUNT(many); i++)
        many[i] = (pfb_cpi_cpu){.cpu = i, .instr = i, .cycles = i};
    const canned_step full = {
        .reading = {.snapshot = {.cpus = many, .cpu_count = COUNT(many) - 1}, .widths = {64, 64}}};
    canned_step over = full;
    over.reading.snapshot.cpu_count++;
    const canned_step list[] = {full, over, full};
    canned_source c;
    void *handle = &c;
    const pfb_cpi_data *data;
    use(&c, &list[1], 1);
    cr_expect_eq(pfb_cpi_init(PFB_CPI_RAW, &handle), PFB_PU_ERROR_INSUFFICIENT_RESOURCES);
    cr_expect_null(handle);
    use_machine();
    use(&c, list, COUNT(list));
    handle = init(PFB_CPI_RAW);
    cr_expect_eq(pfb_cpi_get(handle, &data), PFB_PU_ERROR_INSUFFICIENT_RESOURCES);
    cr_expect_null(data);
    cr_expect_eq(pfb_cpi_get(handle, &data), PFB_PU_ERROR_INVALID_CPI_DATA,
                 "no instructions were executed between the snapshots");
    cr_assert_not_null(data);
    cr_expect_eq(data->num_cpus, PFB_CPI_MAX_CPUS);
    terminate(handle);
    use_machine();
}

Test(cpi_facility, no_instructions_give_data_and_a_code)
{
    static const canned_step list[] = {STEP(1), STEP(1), STEP(2)};
    canned_source c;
    const pfb_cpi_data *data;
    pfb_cpi_details details;
    use(&c, list, COUNT(list));
    void *handle = init(PFB_CPI_RAW | PFB_CPI_ON_THREAD);
    cr_expect_eq(pfb_cpi_get(handle, &data), PFB_PU_ERROR_INVALID_CPI_DATA);
    cr_assert_not_null(data);
    cr_expect(data->num_cpus == 2 && data->raw_cpi[0] == 0.0 && data->raw_sys_cpi == 0.0 && data->tid == 77);
    cr_assert_eq(pfb_cpi_get_details(handle, &details), PFB_PU_SUCCESS);
    cr_expect_eq(details.result.system.status, PFB_CPI_NO_INSTR);
    cr_expect_eq(details.cpus[1].status, PFB_CPI_NO_INSTR);
    expect_get(handle, 1, 2);
    terminate(handle);
    use_machine();
}

Test(cpi_facility, a_clock_that_runs_backward_gives_a_code_and_no_data)
{
    static const canned_step list[] = {STEP(2), STEP(3), STEP(1)};
    canned_source c;
    const pfb_cpi_data *data = &anything;
    pfb_cpi_details details;
    use(&c, list, COUNT(list));
    void *handle = init(PFB_CPI_RAW);
    expect_get(handle, 2, 3);
    cr_expect_eq(pfb_cpi_get(handle, &data), PFB_PU_ERROR_INVALID_CPI_DATA);
    cr_expect_null(data);
    expect_text("clock");
    cr_expect_eq(pfb_cpi_get_details(handle, &details), PFB_PU_ERROR_INCORRECT_STATE,
                 "a failed get discards the details of the earlier one");
    terminate(handle);
    use_machine();
}

Test(cpi_facility, invalid_readings_of_a_source_are_rejected)
{
    static const pfb_cpi_cpu descending[] = {{2, 0, 0, 0, 0}, {1, 0, 0, 0, 0}};
    static const canned_step broken[] = {
        /* 0: a failure without code */
        {.is_silent = true},
        /* 1: CPUs in descending order */
        {.reading = {.snapshot = {9000, descending, 2, true, {77, 0, 0}}, .widths = {64, 64}}},
        /* 2: another width of the cycle counter than at the start */
        {.reading = {.snapshot = {9000, counts[1], 2, true, {77, 0, 0}}, .widths = {64, 40}}},
        /* 3: another thread than at the start */
        {.reading = {.snapshot = {9000, counts[1], 2, true, {78, 0, 0}}, .widths = {64, 64}}},
        /* 4: no thread */
        {.reading = {.snapshot = {9000, counts[1], 2, false, {77, 0, 0}}, .widths = {64, 64}}},
    };
    for (size_t i = 0; i < COUNT(broken); i++) {
        const canned_step list[] = {STEP(0), broken[i], STEP(3)};
        canned_source c;
        const pfb_cpi_data *data = &anything;
        use(&c, list, COUNT(list));
        void *handle = init(PFB_CPI_ON_THREAD);
        cr_expect_eq(pfb_cpi_get(handle, &data), PFB_PU_ERROR_INTERNAL_ERROR, "row %zu", i);
        cr_expect_null(data, "row %zu", i);
        expect_text("the source");
        expect_get(handle, 0, 3);
        terminate(handle);
        c.is_silent = true;
        cr_expect_eq(pfb_cpi_init(PFB_CPI_RAW, &handle), PFB_PU_ERROR_INTERNAL_ERROR, "row %zu", i);
        cr_expect_null(handle);
        use_machine();
    }
}

Test(cpi_facility, the_error_text_is_that_of_the_latest_call)
{
    void *handle = NULL;
    cr_expect_eq(pfb_cpi_init(0x80, &handle), PFB_PU_ERROR_INVALID_PARAMETER);
    expect_text("0x80");
    handle = init(PFB_CPI_RAW);
    cr_expect_str_eq(pfb_cpi_last_error_text(), "");
    terminate(handle);
    cr_expect_eq(pfb_cpi_terminate(handle), PFB_PU_ERROR_INVALID_SIGNATURE);
    expect_text("terminated");
    visit v = {.handle = handle};
    visit_in_a_thread(&v);
    expect_text("terminated"); /* the text of this thread is not affected by another thread */
    terminate(v.created);
    cr_expect_str_eq(pfb_cpi_last_error_text(), "");
}

/* ---- Details ------------------------------------------------------------------------------------------- */

Test(cpi_facility, details_and_unhalted_cycles_are_those_of_the_latest_get)
{
    uint64_t cycles = 5;
    pfb_cpi_details details;
    void *handle = init(PFB_CPI_RAW);
    cr_expect_eq(pfb_cpi_get_details(handle, &details), PFB_PU_ERROR_INCORRECT_STATE);
    cr_expect_eq(pfb_cpi_get_unhalted(handle, 0, &cycles), PFB_PU_ERROR_INCORRECT_STATE);
    default_source.unhalted = 1;
    expect_get(handle, 0, 1);
    cr_assert_eq(pfb_cpi_get_details(handle, &details), PFB_PU_SUCCESS);
    cr_expect(details.result.cpu_count == 2 && details.cpus[1].cpu == 1 && details.cpus[1].instr == 200);
    cr_expect(!details.is_user_only && !details.result.cpus_changed && details.result.mode == PFB_CPI_RAW);
    cr_expect_eq(pfb_cpi_get_unhalted(handle, 0, &cycles), PFB_PU_SUCCESS);
    cr_expect_eq(cycles, 1000);
    cr_expect_eq(pfb_cpi_get_unhalted(handle, 1, &cycles), PFB_PU_ERROR_EVENT_NOT_SUPPORTED);
    cr_expect_eq(pfb_cpi_get_unhalted(handle, 2, &cycles), PFB_PU_ERROR_INVALID_PARAMETER);
    terminate(handle);
}

/* The data of a get stay valid until the next get, even after a start. */
Test(cpi_facility, a_start_keeps_the_results_of_the_latest_get)
{
    canned_step own[3];
    canned_source c;
    uint64_t cycles = 0;
    for (int at = 0; at < 2; at++) { /* which reading is limited to user mode: 0 at the start, 1 at the end */
        memcpy(own, steps, sizeof own);
        own[at].reading.is_user_only = true;
        pfb_cpi_details details;
        use(&c, own, COUNT(own));
        c.unhalted = 1;
        void *handle = init(PFB_CPI_ON_THREAD);
        expect_get(handle, 0, 1);
        for (int i = 0; i < 2; i++) {
            cr_assert_eq(pfb_cpi_get_details(handle, &details), PFB_PU_SUCCESS, "pass %d", i);
            cr_expect(details.is_user_only && details.cpus[1].instr == 200, "pass %d", i);
            cr_assert_eq(pfb_cpi_get_unhalted(handle, 0, &cycles), PFB_PU_SUCCESS, "pass %d", i);
            cr_expect_eq(cycles, 1000);
            cr_expect_eq(pfb_cpi_get_unhalted(handle, 1, &cycles), PFB_PU_ERROR_EVENT_NOT_SUPPORTED);
            cr_expect(i > 0 || pfb_cpi_start(handle) == PFB_PU_SUCCESS);
        }
        terminate(handle);
        use_machine();
    }
}

/* ---- Sources ------------------------------------------------------------------------------------------- */

Test(cpi_facility, the_source_cannot_change_while_there_are_instances)
{
    canned_source other = {.steps = steps, .step_count = COUNT(steps)};
    pfb_cpi_source *source = canned_open(&other);
    void *handle = init(PFB_CPI_RAW);
    cr_expect_eq(pfb_cpi_use_source(source), PFB_PU_ERROR_INCORRECT_STATE);
    cr_expect_eq(pfb_cpi_use_source(NULL), PFB_PU_ERROR_INCORRECT_STATE);
    cr_expect_not(other.is_closed, "the caller still owns a source that was rejected");
    expect_get(handle, 0, 1);
    terminate(handle);
    cr_expect_not(default_source.is_closed, "the source stays open for later instances");
    terminate(init(PFB_CPI_RAW));
    cr_expect_eq(pfb_cpi_use_source(source), PFB_PU_SUCCESS);
    cr_expect(default_source.is_closed);
    cr_expect_eq(pfb_cpi_use_source(source), PFB_PU_SUCCESS);
    cr_expect_not(other.is_closed, "using the same source again does not close it");
    terminate(init(PFB_CPI_RAW));
    cr_expect_eq(other.opened, 1);
    use_machine();
    cr_expect(other.is_closed);
}

/* For example a source that first tries kernel mode, fails, and then succeeds in user mode. */
Test(cpi_facility, a_failure_reported_before_success_is_ignored)
{
    void *handle = NULL;
    default_source.reports_failure_first = true;
    cr_assert_eq(pfb_cpi_init(PFB_CPI_RAW, &handle), PFB_PU_SUCCESS);
    cr_expect_not_null(handle);
    cr_expect_str_eq(pfb_cpi_last_error_text(), "");
    expect_get(handle, 0, 1);
    cr_expect_str_eq(pfb_cpi_last_error_text(), "");
    cr_expect_eq(pfb_cpi_start(handle), PFB_PU_SUCCESS);
    cr_expect_str_eq(pfb_cpi_last_error_text(), "");
    terminate(handle);
}

Test(cpi_facility, a_reader_that_succeeds_leaves_no_failure)
{
    canned_source c = {.steps = steps, .step_count = COUNT(steps), .reports_failure_first = true};
    pfb_cpi_failure failure = {.code = -1, .sentence = "before"};
    pfb_cpi_reading reading;
    pfb_cpi_cpu cpus[2];
    pfb_cpi_source *source = canned_open(&c);
    pfb_cpi_reader *reader = pfb_cpi_reader_open(source, PFB_CPI_RAW, &failure);
    cr_assert_not_null(reader);
    cr_expect(failure.code == 0 && failure.sentence[0] == '\0', "%d %s", failure.code, failure.sentence);
    failure.code = -1;
    cr_expect(pfb_cpi_reader_read(reader, PFB_CPI_AT_START, cpus, 2, &reading, &failure));
    cr_expect(failure.code == 0 && failure.sentence[0] == '\0', "%d %s", failure.code, failure.sentence);
    pfb_cpi_reader_close(reader);
    pfb_cpi_source_close(source);
}

Test(cpi_facility, is_supported_reports_if_an_instance_can_be_created)
{
    cr_expect_neq(pfb_cpi_is_supported(), 0);
    cr_expect_eq(default_source.opened, default_source.closed);
    default_source.refusal = PFB_PU_ERROR_NOT_VALID_IN_VM;
    cr_expect_eq(pfb_cpi_is_supported(), 0);
    cr_expect_str_eq(pfb_cpi_last_error_text(), CANNED_SENTENCE);
}

/* The machine that runs the test may or may not have counters. With counters it must return complete figures, without
 * counters it must report a reason. */
Test(cpi_facility, this_machine_measures_or_reports_a_reason)
{
    use_machine();
    for (int i = 0; i < 3; i++) {
        void *handle = &default_source;
        int code = pfb_cpi_init(PFB_CPI_RAW, &handle);
        cr_expect_eq(code == PFB_PU_SUCCESS, handle != NULL);
        if (handle) {
            const pfb_cpi_data *data;
            cr_expect_eq(pfb_cpi_get(handle, &data), PFB_PU_SUCCESS, "%s", pfb_cpi_last_error_text());
            cr_expect(data && data->num_cpus > 0 && data->elapsed_cycles > 0 && data->tid != 0);
            terminate(handle);
        } else {
            cr_expect_lt(code, 0);
            cr_expect_neq(pfb_cpi_last_error_text()[0], '\0');
        }
        cr_expect_eq(pfb_cpi_is_supported() != 0, code == PFB_PU_SUCCESS);
    }
}

/* ---- perfutil.h ---------------------------------------------------------------------------------------- */

/* perfutil.h has the names, the values and the structure layout of the headers of Performance Inspector, and
 * CPI_TYPE_THREAD_ONLY in addition. */
Test(cpi_facility, perfutil_names_have_the_original_values)
{
    static const uint32_t modes[] = {CPI_TYPE_RAW,
                                     CPI_TYPE_SCALED,
                                     CPI_TYPE_ONTHREAD,
                                     CPI_TYPE_TRACE_ON_GET,
                                     CPI_TYPE_TRACE_ONLY_ON_GET,
                                     CPI_TYPE_TRACE_SUMMARY,
                                     CPI_TYPE_TRACE_DETAILED,
                                     CPI_TYPE_TRACE_EVERYTHING,
                                     CPI_TYPE_ALL,
                                     CPI_TYPE_THREAD_ONLY};
    static const uint32_t values[] = {1, 2, 4, 8, 0x10, 0x20, 0x40, 0x60, 0x7F, 0x80000000};
    for (size_t i = 0; i < COUNT(values); i++)
        cr_expect_eq(modes[i], values[i], "mode %zu", i);
    const CPI_DATA *data;
    void *handle;
    cr_expect_neq(IsCpiSupported(), 0);
    cr_assert_eq(CpiInit(CPI_TYPE_RAW | CPI_TYPE_SCALED, &handle), PU_SUCCESS);
    cr_expect_eq(CpiGetCurrentMode(handle), 3);
    cr_expect_eq(CpiStart(handle), PU_SUCCESS);
    cr_expect_eq(CpiSetTraceHookId(handle, 256, NULL), PU_ERROR_INVALID_PARAMETER);
    cr_expect_eq(CpiGetAndTrace(handle, 1, CPI_TYPE_TRACE_SUMMARY, NULL, &data), PU_ERROR_NO_BUFFER);
    cr_assert_eq(CpiGet(handle, &data), PU_SUCCESS);
    expect_interval(data, 1, 2);
    cr_expect_eq(CpiTerminate(handle), PU_SUCCESS);
    cr_expect_eq(CpiTerminate(handle), PU_ERROR_INVALID_SIGNATURE);
    cr_expect_str_eq(RcToString(PU_ERROR_INVALID_SIGNATURE), "PU_ERROR_INVALID_SIGNATURE");
    cr_expect_eq(sizeof(CPI_DATA), 48 + 24 * MAX_CPUS);
}
