/* SPDX-License-Identifier: MIT */
/* The counterset System of the live source of Linux. */
#include <criterion/criterion.h>

#include "machine.h"
#include "perfblock/live.h"
#include "perfblock/v2.h"
#include "support.h"

#include <stdio.h>
#include <string.h>

static void make_system_machine(void)
{
    make_machine();
    use_counterset(&system_guid);
}

TestSuite(system, .init = make_system_machine, .fini = remove_machine);

static void put_system(void)
{
    put_file("/proc/stat", STAT "ctxt 4294967303\nbtime 1700000000\nprocesses 900\nprocs_running 3\n");
    put_file("/proc/loadavg", "0.52 0.58 0.59 4/812 31415\n");
    put_file("/proc/uptime", "350735.07 234388.90\n");
    put_file("/proc/1/comm", "init\n");
    put_file("/proc/77/comm", "sleep\n");
    put_file("/proc/4194304/comm", "sleep\n");
    put_file("/proc/self/comm", "test\n");
    put_file("/proc/5x/comm", "none\n");
    put_file("/proc/0/comm", "none\n");
    put_file("/proc/007/comm", "none\n");
    put_file("/proc/2147483648/comm", "none\n");
    put_file("/proc/99999999999/comm", "none\n");
}

/* ---- Values --------------------------------------------------------------------------------------------------- */

Test(system, counts_are_those_of_the_files)
{
    put_system();
    pfb_source *source = open_machine();
    cr_expect_str_eq(offered_by(source), "0 1 2 3 4 5 6 ");
    cr_expect_str_eq(ask(source, NULL, 0, PFB_NO_ID), "1 0 { 7/4}\n", "the count is modulo 2^32");
    cr_expect_str_eq(ask(source, NULL, 1, PFB_NO_ID), "1 0 { 3/4}\n");
    cr_expect_str_eq(ask(source, NULL, 2, PFB_NO_ID), "1 0 { 812/4}\n");
    cr_expect_str_eq(ask(source, NULL, 5, PFB_NO_ID), "1 0 { 10000000/8}\n");
    put_file("/proc/78/comm", "more\n");
    remove_file("/proc/1/comm");
    remove_file("/proc/1");
    remove_file("/proc/4194304/comm");
    remove_file("/proc/4194304");
    cr_expect_str_eq(ask(source, "", 1, PFB_NO_ID), "1 0 { 2/4}\n", "processes start and end");
    pfb_source_close(source);
}

/* Each of the three processors runs one thread. */
Test(system, the_queue_has_the_threads_that_no_processor_runs)
{
    static const struct {
        const char *running;
        const char *data;
    } cases[] = {{"5", "1 0 { 2/4}\n"},
                 {"4", "1 0 { 1/4}\n"},
                 {"3", "1 0 { 0/4}\n"},
                 {"1", "1 0 { 0/4}\n"},
                 {"18446744073709551615", "1 0 { 4294967292/4}\n"},
                 {"many", "0 1069\n"}};
    put_system();
    pfb_source *source = open_machine();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[512];
        snprintf(text, sizeof text, STAT "procs_running %s\nprocs_blocked 9\n", cases[i].running);
        put_file("/proc/stat", text);
        cr_expect_str_eq(ask(source, NULL, 6, PFB_NO_ID), cases[i].data, "%s", cases[i].running);
    }
    pfb_source_close(source);
}

/* Returns the value of a counter in a reply of kind 2; `block` receives its clocks. */
static uint64_t value_in(const pfb_bytes *reply, uint32_t counter, pfb_v2_reader *block)
{
    pfb_v2_result result;
    pfb_v2_instance instance;
    pfb_v2_value value;
    cr_assert(pfb_v2_open(block, reply->data, reply->size_bytes, STRICT));
    cr_assert(pfb_v2_next_result(block, &result) && pfb_v2_next_instance(block, &instance));
    while (pfb_v2_next_value(block, &value)) {
        if (value.counter_id == counter)
            return value.raw;
    }
    cr_assert_fail("the reply lacks counter %u", (unsigned)counter);
    return 0;
}

/* Object time minus start is the time in the file, to the hundredth of a second. */
Test(system, the_up_time_is_that_of_the_kernel)
{
    static const struct {
        const char *text;
        uint64_t elapsed;
    } cases[] = {{"350735.07 234388.90\n", UINT64_C(3507350700000)},
                 {"0.00 0.00\n", 0},
                 {"0.01", 100000},
                 {"9999999999.99 0.00\n", UINT64_C(99999999999900000)}};
    put_system();
    pfb_source *source = open_machine();
    pfb_source_query *query = pfb_source_query_open(source, NULL);
    pfb_bytes reply = {0};
    cr_assert_eq(add_to(query, NULL, PFB_NO_ID, PFB_NO_ID), PFB_WIN32_SUCCESS);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        pfb_v2_reader block;
        put_file("/proc/uptime", cases[i].text);
        cr_assert(pfb_source_query_collect(query, &reply, NULL));
        uint64_t start = value_in(&reply, 3, &block);
        uint64_t now = value_in(&reply, 4, &block);
        cr_expect_eq(now - start, cases[i].elapsed, "case %zu", i);
        cr_expect_eq(now, (uint64_t)block.perf_time_100ns,
                     "case %zu: the object time is the 100 ns clock of the sample", i);
    }
    pfb_bytes_free(&reply);
    pfb_source_query_close(query);
    pfb_source_close(source);
}

Test(system, counters_are_those_of_windows)
{
    static const known_counter known[] = {
        {.type = "PERF_COUNTER_COUNTER",
         .name = "Context Switches/sec",
         .help = "Context switches of all processors: ctxt of /proc/stat"},
        {.type = "PERF_COUNTER_RAWCOUNT", .name = "Processes"},
        {.type = "PERF_COUNTER_RAWCOUNT", .name = "Threads"},
        {.type = "PERF_ELAPSED_TIME", .name = "System Up Time", .perf_time_id = 4, .perf_freq_id = 5},
        {.type = "PERF_COUNTER_LARGE_RAWCOUNT", .name = "Object Time", .is_hidden = true},
        {.type = "PERF_COUNTER_LARGE_RAWCOUNT", .name = "Object Frequency", .is_hidden = true},
        {.type = "PERF_COUNTER_RAWCOUNT", .name = "Processor Queue Length"}};
    put_system();
    pfb_source *source = open_machine();
    expect_counters(source, 0, known, sizeof known / sizeof known[0]);
    pfb_source_close(source);
}

/* ---- Missing files and values ----------------------------------------------------------------------- */

Test(system, counters_are_offered_if_the_kernel_has_their_numbers)
{
    static const struct {
        const char *loadavg;
        const char *uptime;
        const char *offered;
    } cases[] = {{"0.52 0.58 0.59 4/812 31415\n", "1.00", "1 2 3 4 5 "},
                 {"4/0 31415\n", "1.23", "1 3 4 5 "},
                 {"4/x\n", "1", "1 "},
                 {"4/", "1.\n", "1 "},
                 {"", "1.5\n", "1 "},
                 {"812", "1.100\n", "1 "},
                 {"", "", "1 "},
                 {"/1", ".5 1.5", "1 2 "},
                 {"", "99999999999.00", "1 "},
                 {"", "18446744073709551616.00", "1 "}};
    put_file("/proc/12/comm", "one\n");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        put_file("/proc/loadavg", cases[i].loadavg);
        put_file("/proc/uptime", cases[i].uptime);
        pfb_source *source = open_machine();
        cr_expect_str_eq(offered_by(source), cases[i].offered, "case %zu", i);
        pfb_source_close(source);
    }
}

Test(system, only_queries_for_a_missing_number_fail)
{
    put_system();
    pfb_source *source = open_machine();
    put_file("/proc/uptime", "soon\n");
    put_file("/proc/stat", "ctxt\n");
    cr_expect_str_eq(ask(source, NULL, 3, PFB_NO_ID), "0 1069\n");
    cr_expect_str_eq(ask(source, NULL, 0, PFB_NO_ID), "0 1069\n");
    cr_expect_str_eq(ask(source, NULL, PFB_NO_ID, PFB_NO_ID), "0 1069\n");
    cr_expect_str_eq(ask(source, NULL, 1, PFB_NO_ID), "1 0 { 3/4}\n");
    pfb_source_close(source);
}

Test(system, this_machine_has_the_counterset)
{
    pfb_source *source = pfb_source_open_live(NULL);
    cr_assert(source);
    cr_expect_str_eq(offered_by(source), "0 1 2 3 4 5 6 ");
    cr_expect(strncmp(ask(source, NULL, PFB_NO_ID, PFB_NO_ID), "2 0 { 0=", 8) == 0);
    pfb_source_close(source);
}
