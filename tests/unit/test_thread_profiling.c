/* SPDX-License-Identifier: MIT */
/* The live source of CPI counters on Windows, with a simulated system. close_source detects handles that are not closed
 * or are closed twice. */
#include <criterion/criterion.h>

#include "support.h"
#include "support_thread_profiling.h"

#include <stdio.h>
#include <string.h>

TestSuite(thread_profiling, .init = start_fake);

#define ALTERNATIVE "; for a thread alone use PFB_CPI_THREAD_ONLY"

/* ---- Instructions of all CPUs -------------------------------------------------------------------------- */

/* Modes that read CPUs, which are all refused. */
static const uint32_t modes_with_cpus[] = {0,
                                           PFB_CPI_RAW,
                                           PFB_CPI_RAW | PFB_CPI_SCALED,
                                           PFB_CPI_ON_THREAD,
                                           PFB_CPI_RAW | PFB_CPI_SCALED | PFB_CPI_ON_THREAD,
                                           PFB_CPI_THREAD_ONLY | PFB_CPI_SCALED};

static void expect_no_cpus(int code, const char *sentence)
{
    pfb_cpi_source *source = open_source();
    for (size_t i = 0; i < sizeof modes_with_cpus / sizeof modes_with_cpus[0]; i++)
        expect_refusal(source, modes_with_cpus[i], code, sentence);
    cr_expect_str_eq(fake.log, "", "no system function was called");
    close_source(source);
}

Test(thread_profiling, counters_of_cpus_need_administrator_rights)
{
    static const char sentence[] = "instructions of all CPUs need a system trace session (ETW), which only "
                                   "administrators may start; this version starts none for administrators either";
    char whole[240];
    snprintf(whole, sizeof whole, "%s%s", sentence, ALTERNATIVE);
    fake.is_administrator = false;
    expect_no_cpus(PFB_PU_ERROR_ACCESS_DENIED, whole);
    fake.has_hypervisor = true; /* missing rights are reported first */
    expect_no_cpus(PFB_PU_ERROR_ACCESS_DENIED, whole);
}

Test(thread_profiling, counters_of_cpus_need_a_trace_session)
{
    expect_no_cpus(PFB_PU_ERROR_NOT_SUPPORTED,
                   "instructions of all CPUs need a system trace session (ETW), which this version does not "
                   "start" ALTERNATIVE);
    fake.has_hypervisor = true;
    expect_no_cpus(PFB_PU_ERROR_NOT_SUPPORTED,
                   "instructions of all CPUs need a system trace session (ETW), which this version does not "
                   "start; here it would also need counters from the hypervisor" ALTERNATIVE);
}

/* ---- Refusals before profiling is enabled -------------------------------------------------------------- */

Test(thread_profiling, a_missing_function_is_named)
{
#define EXPECT_MISSING(name)                                                                                           \
    {                                                                                                                  \
        pfb_thread_profiling system = simulated_system("3");                                                           \
        system.functions.name = NULL;                                                                                  \
        pfb_cpi_source *source = open_over(&system);                                                                   \
        expect_refusal(source, PFB_CPI_THREAD_ONLY, PFB_PU_ERROR_REQUIRED_APIS_MISSING,                                \
                       "this system has no function " #name ", which Windows has from version 7 on");                  \
        close_source(source);                                                                                          \
    }
    PFB_THREAD_PROFILING_FUNCTIONS(EXPECT_MISSING)
#undef EXPECT_MISSING
    cr_expect_str_eq(fake.log, "", "no system function was called");
}

Test(thread_profiling, a_clock_of_constant_rate_is_required)
{
    fake.has_no_clock = true;
    pfb_cpi_source *source = open_source();
    expect_refusal(source, PFB_CPI_THREAD_ONLY, PFB_PU_ERROR_NOT_SUPPORTED,
                   "this processor has no time-stamp counter of constant rate, which is needed as the clock");
    cr_expect_str_eq(fake.log, "", "no system function was called");
    close_source(source);
}

Test(thread_profiling, the_number_of_the_counter_is_required)
{
    const pfb_thread_profiling system = simulated_system("");
    pfb_cpi_source *source = open_over(&system);
    expect_refusal(source, PFB_CPI_THREAD_ONLY, PFB_PU_ERROR_DRIVER_NOT_LOADED,
                   "instructions of a thread need a kernel driver that configures a hardware counter for them; set the "
                   "environment variable PERFBLOCK_CPI_COUNTER to the number of this counter, 0 to 15");
    cr_expect_str_eq(fake.log, "", "no system function was called");
    close_source(source);
}

Test(thread_profiling, the_number_of_the_counter_is_from_0_to_15)
{
    static const char *const texts[] = {
        "16", "99", "100", "999",    "0016", "x",        "3x",   "x3",      "-1", "+3",  "0x3",
        " 3", "3 ", "3.0", "429496", "1:",   "\xC3\xA4", "15\n", "1000000", "/1", "...", "003"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        const pfb_thread_profiling system = simulated_system(texts[i]);
        pfb_cpi_source *source = open_over(&system);
        expect_refusal(source, PFB_CPI_THREAD_ONLY, PFB_PU_ERROR_INVALID_PARAMETER,
                       "the environment variable PERFBLOCK_CPI_COUNTER is not the number of a counter, 0 to 15");
        cr_expect_str_eq(fake.log, "", "\"%s\": no system function was called", texts[i]);
        close_source(source);
    }
}

/* The number selects a bit of the mask and an element of the reply. Only the element `fake.configured` can have a
 * value. */
Test(thread_profiling, the_selected_counter_is_read)
{
    for (uint32_t i = 0; i < 16; i++) {
        char text[8];
        snprintf(text, sizeof text, "%u", (unsigned)i);
        const pfb_thread_profiling system = simulated_system(text);
        pfb_cpi_source *source = open_over(&system);
        fake.configured = i;
        pfb_cpi_reader_close(open_reader(source));
        cr_expect_eq(fake.counters, UINT64_C(1) << i, "counter %u", (unsigned)i);
        fake.configured = (i + 1) % 16;
        char sentence[120];
        snprintf(sentence, sizeof sentence,
                 "hardware counter %s is not configured: a kernel driver must set it to count instructions", text);
        expect_refusal(source, PFB_CPI_THREAD_ONLY, PFB_PU_ERROR_EVENT_NOT_SUPPORTED, sentence);
        close_source(source);
    }
}

/* ---- Enabling ------------------------------------------------------------------------------------------ */

Test(thread_profiling, a_failure_to_enable_is_reported_with_its_reason)
{
    static const struct {
        uint32_t win32;
        int code;
        const char *explanation;
    } rows[] = {
        {1, PFB_PU_ERROR_ENABLE_THREAD_PROFILING, ""},
        {5, PFB_PU_ERROR_ACCESS_DENIED, ""},
        {6, PFB_PU_ERROR_ENABLE_THREAD_PROFILING, ""},
        {8, PFB_PU_ERROR_NOT_ENOUGH_MEMORY, ""},
        {50, PFB_PU_ERROR_DRIVER_NOT_LOADED, ": a kernel driver must configure hardware counters"},
        {87, PFB_PU_ERROR_ENABLE_THREAD_PROFILING, ""},
        {170, PFB_PU_ERROR_FACILITY_BUSY, ": only one program at a time can profile threads"},
        {1450, PFB_PU_ERROR_INSUFFICIENT_RESOURCES, ""},
    };
    pfb_cpi_source *source = open_source();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char sentence[240];
        fake.enable_code = rows[i].win32;
        snprintf(sentence, sizeof sentence, "EnableThreadProfiling failed: the text of %u (%u)%s",
                 (unsigned)rows[i].win32, (unsigned)rows[i].win32, rows[i].explanation);
        clear_log();
        expect_refusal(source, PFB_CPI_THREAD_ONLY, rows[i].code, sentence);
        cr_expect_str_eq(fake.log, "IEIE", "code %u: a profile that was not enabled is not disabled",
                         (unsigned)rows[i].win32);
    }
    fake.enable_code = 0; /* after the failures, enabling succeeds */
    pfb_cpi_reader_close(open_reader(source));
    close_source(source);
}

Test(thread_profiling, a_success_without_a_handle_is_a_failure)
{
    pfb_cpi_source *source = open_source();
    fake.gives_no_handle = true;
    expect_refusal(source, PFB_CPI_THREAD_ONLY, PFB_PU_ERROR_ENABLE_THREAD_PROFILING,
                   "EnableThreadProfiling failed: it succeeded without a handle");
    cr_expect_str_eq(fake.log, "IEIE", "a profile that was not enabled is not disabled");
    close_source(source);
}

/* A long text of the system is truncated, so that the sentence has space for the code after it. */
Test(thread_profiling, long_system_texts_are_truncated)
{
    char text[100];
    char sentence[240];
    memset(text, 'x', 99);
    text[99] = '\0';
    pfb_cpi_source *source = open_source();
    fake.enable_code = UINT32_MAX;
    snprintf(sentence, sizeof sentence, "EnableThreadProfiling failed: %s (4294967295)", text);
    expect_refusal(source, PFB_CPI_THREAD_ONLY, PFB_PU_ERROR_ENABLE_THREAD_PROFILING, sentence);
    fake.enable_code = 0;
    fake.read_fault = FAULT_CODE;
    fake.read_value = UINT32_MAX;
    snprintf(sentence, sizeof sentence, "ReadThreadProfilingData failed: %s (4294967295)", text);
    expect_refusal(source, PFB_CPI_THREAD_ONLY, PFB_PU_ERROR_READ_PERFORMANCE_DATA, sentence);
    close_source(source);
}

Test(thread_profiling, cycles_and_one_counter_are_requested)
{
    pfb_cpi_source *source = open_source();
    pfb_cpi_reader *reader = open_reader(source);
    const pfb_thread_profiling system = simulated_system("3");
    cr_expect_eq(fake.thread, system.this_thread);
    cr_expect_eq(fake.enable_flags, 1, "the flag is THREAD_PROFILING_FLAG_DISPATCH");
    cr_expect_eq(fake.counters, 8);
    cr_expect_eq(fake.read_flags, 3, "dispatch data and hardware counters are read");
    pfb_cpi_reader_close(reader);
    cr_expect_str_eq(fake.log, "IERID");
    close_source(source);
}

/* ---- Readings that fail -------------------------------------------------------------------------------- */

#define UNEXPECTED_STRUCTURE "ReadThreadProfilingData returned an unexpected structure: its "
#define NOT_CONFIGURED "hardware counter 3 is not configured: a kernel driver must set it to count instructions"

static const struct {
    fake_fault fault;
    uint32_t value;
    int code;
    const char *sentence;
} bad_readings[] = {
    {FAULT_CODE, 6, PFB_PU_ERROR_READ_PERFORMANCE_DATA, "ReadThreadProfilingData failed: the text of 6 (6)"},
    {FAULT_CODE, 50, PFB_PU_ERROR_READ_PERFORMANCE_DATA, "ReadThreadProfilingData failed: the text of 50 (50)"},
    {FAULT_VERSION, 0, PFB_PU_ERROR_READ_PERFORMANCE_DATA, UNEXPECTED_STRUCTURE "version is 0 instead of 1"},
    {FAULT_VERSION, 2, PFB_PU_ERROR_READ_PERFORMANCE_DATA, UNEXPECTED_STRUCTURE "version is 2 instead of 1"},
    {FAULT_SIZE, 0, PFB_PU_ERROR_READ_PERFORMANCE_DATA, UNEXPECTED_STRUCTURE "size is 0 instead of 288"},
    {FAULT_SIZE, 287, PFB_PU_ERROR_READ_PERFORMANCE_DATA, UNEXPECTED_STRUCTURE "size is 287 instead of 288"},
    {FAULT_SIZE, 304, PFB_PU_ERROR_READ_PERFORMANCE_DATA, UNEXPECTED_STRUCTURE "size is 304 instead of 288"},
    {FAULT_COUNT, 2, PFB_PU_ERROR_READ_PERFORMANCE_DATA, UNEXPECTED_STRUCTURE "number of counters is 2 instead of 1"},
    {FAULT_COUNT, 255, PFB_PU_ERROR_READ_PERFORMANCE_DATA,
     UNEXPECTED_STRUCTURE "number of counters is 255 instead of 1"},
    {FAULT_TYPE, 1, PFB_PU_ERROR_READ_PERFORMANCE_DATA, UNEXPECTED_STRUCTURE "type of counter is 1 instead of 0"},
    {FAULT_COUNT, 0, PFB_PU_ERROR_EVENT_NOT_SUPPORTED, NOT_CONFIGURED},
    {FAULT_INSTRUCTIONS, 0, PFB_PU_ERROR_EVENT_NOT_SUPPORTED, NOT_CONFIGURED},
    {FAULT_CYCLES, 0, PFB_PU_ERROR_EVENT_NOT_SUPPORTED, "ReadThreadProfilingData returned no cycles of the thread"},
};

enum { BAD_READINGS = sizeof bad_readings / sizeof bad_readings[0] };

static void break_readings(size_t row)
{
    fake.read_fault = bad_readings[row].fault;
    fake.read_value = bad_readings[row].value;
}

/* Opening a reader reads the counter once, so that a counter that does not count is detected before the measurement. */
Test(thread_profiling, opening_fails_if_reading_fails)
{
    pfb_cpi_source *source = open_source();
    for (size_t i = 0; i < BAD_READINGS; i++) {
        break_readings(i);
        clear_log();
        expect_refusal(source, PFB_CPI_THREAD_ONLY, bad_readings[i].code, bad_readings[i].sentence);
        cr_expect_str_eq(fake.log, "IERIDIERID", "row %zu: profiling is disabled once after each failure", i);
    }
    close_source(source);
}

static bool read_at(pfb_cpi_reader *reader, pfb_cpi_moment moment, pfb_cpi_reading *reading, pfb_cpi_failure *failure)
{
    return pfb_cpi_reader_read(reader, moment, NULL, 0, reading, failure);
}

static void expect_reading(pfb_cpi_reader *reader, pfb_cpi_moment moment, pfb_cpi_reading *reading)
{
    pfb_cpi_failure failure = {0};
    cr_assert(read_at(reader, moment, reading, &failure), "%d: %s", failure.code, failure.sentence);
}

Test(thread_profiling, a_reading_can_succeed_after_one_that_failed)
{
    pfb_cpi_source *source = open_source();
    pfb_cpi_reader *reader = open_reader(source);
    pfb_cpi_reading reading;
    for (size_t i = 0; i < BAD_READINGS * 2; i++) {
        pfb_cpi_failure failure = {0};
        pfb_cpi_moment moment = i % 2 == 0 ? PFB_CPI_AT_START : PFB_CPI_AT_END;
        fake.read_fault = FAULT_NONE;
        expect_reading(reader, moment, &reading);
        break_readings(i / 2);
        cr_expect_not(read_at(reader, moment, &reading, &failure), "row %zu", i / 2);
        cr_expect_eq(failure.code, bad_readings[i / 2].code, "row %zu", i / 2);
        cr_expect_str_eq(failure.sentence, bad_readings[i / 2].sentence, "row %zu", i / 2);
        cr_expect_not(read_at(reader, moment, &reading, NULL), "row %zu", i / 2);
    }
    clear_log();
    pfb_cpi_reader_close(reader);
    cr_expect_str_eq(fake.log, "ID");
    close_source(source);
}

/* ---- Counts -------------------------------------------------------------------------------------------- */

/* The thread executes 8000000000 instructions in 10500000000 cycles, so its CPI is 1.3125. */
Test(thread_profiling, counts_are_those_of_the_thread)
{
    pfb_cpi_source *source = open_source();
    pfb_cpi_reader *reader = open_reader(source);
    pfb_cpi_reading start;
    pfb_cpi_reading end;
    pfb_cpi_result result;
    uint64_t unhalted;
    fake.now = UINT64_C(68719476736);
    expect_reading(reader, PFB_CPI_AT_START, &start);
    fake.now = UINT64_C(80719476737);
    fake.instructions = UINT64_C(8000000100);
    fake.cycles = UINT64_C(10500000200);
    expect_reading(reader, PFB_CPI_AT_END, &end);
    cr_expect(start.snapshot.thread.instr == 100 && start.snapshot.thread.cycles == 200);
    cr_expect(end.snapshot.clock == UINT64_C(80719476737) && end.snapshot.thread.tid == 4242);
    cr_expect(start.snapshot.cpu_count == 0 && end.snapshot.cpu_count == 0 && !end.is_user_only);
    cr_expect_eq(pfb_cpi_compute(&start.snapshot, &end.snapshot, &end.widths, PFB_CPI_THREAD_ONLY, NULL, &result),
                 PFB_CPI_COMPUTED);
    cr_expect(result.thread.status == PFB_CPI_OK && result.thread.raw_cpi == 1.3125);
    cr_expect(result.elapsed_cycles == UINT64_C(12000000001) && result.tid == 4242);
    cr_expect_not(pfb_cpi_reader_unhalted(reader, 0, &unhalted), "no unhalted cycles, because no CPUs are read");
    pfb_cpi_reader_close(reader);
    close_source(source);
}

/* The clock is read last at the start and first at the end, so that reading and identifying the thread are not part of
 * the interval. */
Test(thread_profiling, the_interval_excludes_the_time_of_reading)
{
    pfb_cpi_source *source = open_source();
    pfb_cpi_reader *reader = open_reader(source);
    pfb_cpi_reading reading;
    clear_log();
    expect_reading(reader, PFB_CPI_AT_START, &reading);
    cr_expect_str_eq(fake.log, "IRC");
    clear_log();
    expect_reading(reader, PFB_CPI_AT_END, &reading);
    cr_expect_str_eq(fake.log, "CIR");
    pfb_cpi_reader_close(reader);
    close_source(source);
}

Test(thread_profiling, counts_have_64_bits)
{
    pfb_cpi_source *source = open_source();
    pfb_cpi_reader *reader = open_reader(source);
    pfb_cpi_reading reading;
    fake.instructions = UINT64_MAX;
    fake.cycles = UINT64_MAX - 1;
    fake.now = UINT64_MAX - 2;
    expect_reading(reader, PFB_CPI_AT_END, &reading);
    cr_expect(reading.snapshot.thread.instr == UINT64_MAX && reading.snapshot.thread.cycles == UINT64_MAX - 1 &&
              reading.snapshot.clock == UINT64_MAX - 2);
    cr_expect(reading.widths.instr == 64 && reading.widths.cycles == 64);
    pfb_cpi_reader_close(reader);
    close_source(source);
}

/* ---- Threads ------------------------------------------------------------------------------------------- */

/* The other threads have another id, or the same id and a later start time. */
Test(thread_profiling, other_threads_are_refused)
{
    static const pfb_thread_identity others[] = {{4243, 77}, {4242, 78}};
    static const char *const sentences[] = {"the counters are those of thread 4242, and thread 4243 cannot read them",
                                            "the counters are those of thread 4242, and thread 4242 cannot read them"};
    pfb_cpi_source *source = open_source();
    pfb_cpi_reader *reader = open_reader(source);
    pfb_cpi_reading reading;
    for (size_t i = 0; i < 4; i++) {
        pfb_cpi_failure failure = {0};
        clear_log();
        fake.here = others[i / 2];
        cr_expect_not(read_at(reader, i % 2 == 0 ? PFB_CPI_AT_START : PFB_CPI_AT_END, &reading, &failure));
        cr_expect_eq(failure.code, PFB_PU_ERROR_INVALID_THREAD);
        cr_expect_str_eq(failure.sentence, sentences[i / 2]);
        cr_expect_str_eq(fake.log, i % 2 == 0 ? "I" : "CI", "no counter is read");
    }
    fake.here = (pfb_thread_identity){4242, 77};
    expect_reading(reader, PFB_CPI_AT_END, &reading);
    pfb_cpi_reader_close(reader);
    close_source(source);
}

/* A thread can have several readers, which are closed in any order. Profiling is enabled when the first reader is
 * opened and disabled when the last one is closed. */
Test(thread_profiling, readers_of_a_thread_share_its_profile)
{
    enum { READERS = 3 };
    static const size_t orders[][READERS] = {{0, 1, 2}, {2, 1, 0}, {1, 2, 0}};
    pfb_cpi_source *source = open_source();
    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++) {
        pfb_cpi_reader *readers[READERS];
        pfb_cpi_reading reading;
        clear_log();
        for (size_t k = 0; k < READERS; k++)
            readers[k] = open_reader(source);
        cr_expect_str_eq(fake.log, "IERIRIR");
        clear_log();
        for (size_t k = 0; k < READERS; k++) {
            expect_reading(readers[orders[i][k]], PFB_CPI_AT_END, &reading);
            pfb_cpi_reader_close(readers[orders[i][k]]);
        }
        cr_expect_str_eq(fake.log, "CIRCIRCIRID");
    }
    close_source(source);
}

/* Windows does not guarantee that another thread can disable profiling. If another thread closes the last reader,
 * profiling remains enabled, and the next reader of the profiled thread uses it. */
Test(thread_profiling, a_reader_that_another_thread_closes_leaves_profiling_enabled)
{
    static const pfb_thread_identity owner = {4242, 77};
    static const pfb_thread_identity others[] = {{4243, 77}, {4242, 78}};
    pfb_cpi_source *source = open_source();
    pfb_cpi_reading reading;
    for (size_t i = 0; i < 2; i++) {
        pfb_cpi_reader *reader = open_reader(source);
        fake.here = others[i];
        pfb_cpi_reader_close(reader);
        cr_expect_eq(fake.open_handles, 1);
        fake.here = owner;
        clear_log();
        reader = open_reader(source);
        expect_reading(reader, PFB_CPI_AT_START, &reading);
        pfb_cpi_reader_close(reader);
        cr_expect_str_eq(fake.log, "IRIRCID", "profiling is not enabled again, and is disabled by the last close");
    }
    pfb_cpi_reader *first = open_reader(source); /* the owner closes the last reader */
    pfb_cpi_reader *last = open_reader(source);
    fake.here = others[0];
    pfb_cpi_reader_close(first);
    fake.here = owner;
    expect_reading(last, PFB_CPI_AT_END, &reading);
    pfb_cpi_reader_close(last);
    close_source(source);
}

/* Closing a source disables profiling that is still enabled, but only of the calling thread. */
Test(thread_profiling, closing_a_source_disables_profiling_of_the_calling_thread)
{
    static const pfb_thread_identity owner = {4242, 77};
    static const pfb_thread_identity other = {4243, 77};
    for (size_t i = 0; i < 2; i++) {
        pfb_cpi_source *source = open_source();
        pfb_cpi_reader *reader = open_reader(source);
        fake.here = other;
        pfb_cpi_reader_close(reader);
        reader = open_reader(source); /* a reader of this thread */
        pfb_cpi_reader_close(reader);
        cr_expect_eq(fake.open_handles, 1);
        fake.here = i == 0 ? owner : other;
        pfb_cpi_source_close(source);
        cr_expect(fake.open_handles == i && fake.other_threads == 0 && fake.wrong_handles == 0);
        fake.here = owner;
    }
}

/* A reader that cannot be opened does not disable the profiling of other readers. */
Test(thread_profiling, a_refused_reader_does_not_affect_others)
{
    pfb_cpi_source *source = open_source();
    pfb_cpi_reader *reader = open_reader(source);
    pfb_cpi_reading reading;
    fake.read_fault = FAULT_INSTRUCTIONS;
    cr_expect_not(pfb_cpi_reader_open(source, PFB_CPI_THREAD_ONLY, NULL));
    cr_expect_eq(fake.open_handles, 1);
    fake.read_fault = FAULT_NONE;
    expect_reading(reader, PFB_CPI_AT_END, &reading);
    pfb_cpi_reader_close(reader);
    close_source(source);
}

/* The readers are closed in an order that removes profiles from the middle, the beginning and the end of the list. */
Test(thread_profiling, each_thread_has_its_own_profile)
{
    enum { THREADS = 5 };
    static const size_t order[THREADS] = {2, 4, 0, 3, 1};
    pfb_cpi_source *source = open_source();
    pfb_cpi_reader *readers[THREADS];
    for (size_t i = 0; i < THREADS; i++) {
        fake.here = (pfb_thread_identity){(uint32_t)(100 + i), 5};
        readers[i] = open_reader(source);
    }
    cr_expect_eq(fake.open_handles, THREADS);
    for (size_t i = 0; i < THREADS; i++) {
        pfb_cpi_reading reading;
        fake.here = (pfb_thread_identity){(uint32_t)(100 + order[i]), 5};
        expect_reading(readers[order[i]], PFB_CPI_AT_END, &reading);
        cr_expect_eq(reading.snapshot.thread.tid, 100 + order[i]);
        pfb_cpi_reader_close(readers[order[i]]);
        cr_expect_eq(fake.open_handles, THREADS - 1 - i);
    }
    close_source(source);
}

/* ---- Random behaviour ---------------------------------------------------------------------------------- */

static void choose_faults(uint64_t *random)
{
    static const uint32_t values[] = {0, 0, 0, 0, 1, 2, 5, 50, 170, 288, UINT32_MAX};
    fake.enable_code = values[random_below(random, 11)];
    fake.gives_no_handle = random_below(random, 8) == 0;
    fake.read_fault = (fake_fault)(random_below(random, FAULT_CYCLES + 1));
    fake.read_value = values[1 + random_below(random, 10)];
    fake.here.tid = 1 + random_below(random, 3);
}

/* Opens, reads and closes readers on random threads of a system with random faults. Every failure has a code and a
 * sentence, every successful reading has counts, and every profile is disabled once. A fault can have the code 0, which
 * is success. */
Test(thread_profiling, random_faults_are_reported)
{
    enum { READERS = 4 };
    pfb_cpi_reader *readers[READERS] = {0};
    uint64_t random = 1;
    size_t opened = 0;
    size_t readings = 0;
    pfb_cpi_source *source = open_source();
    for (size_t run = 0; run < 20000; run++) {
        pfb_cpi_failure failure = {0};
        pfb_cpi_reading reading = {0};
        pfb_cpi_reader **reader = &readers[random_below(&random, READERS)];
        bool is_done = true;
        choose_faults(&random);
        if (!*reader) {
            *reader = pfb_cpi_reader_open(source, PFB_CPI_THREAD_ONLY, &failure);
            is_done = *reader != NULL;
            opened += is_done;
        } else if (random_below(&random, 4) > 0) {
            is_done = read_at(*reader, PFB_CPI_AT_END, &reading, &failure);
            cr_assert(!is_done || (reading.snapshot.thread.instr > 0 && reading.snapshot.thread.cycles > 0));
            readings += is_done;
        } else {
            pfb_cpi_reader_close(*reader);
            *reader = NULL;
        }
        cr_assert(is_done || (failure.code < 0 && failure.sentence[0] != '\0'), "run %zu", run);
    }
    cr_expect(opened > 100 && readings > 100, "%zu readers were opened and %zu readings succeeded", opened, readings);
    for (size_t i = 0; i < READERS; i++)
        pfb_cpi_reader_close(readers[i]);
    const pfb_thread_identity last = fake.here;
    fake = (fake_profiling){.configured = 3,
                            .instructions = 1,
                            .cycles = 1,
                            .open_handles = fake.open_handles,
                            .wrong_handles = fake.wrong_handles,
                            .other_threads = fake.other_threads};
    /* Each thread opens a reader and closes it, which disables its profiling. */
    for (uint32_t tid = 1; tid <= 3; tid++) {
        fake.here = (pfb_thread_identity){tid, last.creation_time};
        pfb_cpi_reader_close(open_reader(source));
    }
    close_source(source);
}
