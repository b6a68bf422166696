/* SPDX-License-Identifier: MIT */
/* The countersets Processor Information and Processor of the live source of Linux. */
#include <criterion/criterion.h>

#include "machine.h"
#include "perfblock/live.h"
#include "perfblock/v2.h"
#include "support.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

TestSuite(processor, .init = make_machine, .fini = remove_machine);

/* The expected text, which expect_more extends. */
static char expected[4096];

static void expect_more(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void expect_more(const char *format, ...)
{
    size_t size = strlen(expected);
    va_list arguments;
    va_start(arguments, format);
    int added = vsnprintf(expected + size, sizeof expected - size, format, arguments);
    va_end(arguments);
    cr_assert(added >= 0 && size + (size_t)added < sizeof expected);
}

/* ---- Offered counters -------------------------------------------------------------------------------------------- */

Test(processor, counters_that_all_cpus_have_are_offered)
{
    put_file("/proc/stat", STAT);
    pfb_source *source = open_machine();
    cr_expect_str_eq(offered_by(source), "0 1 2 4 5 8 15 ");
    cr_expect_str_eq(instances_of(source), "0,0#0 0,1#1 0,5#5 0,_Total#80000000 _Total#fffffffe ",
                     "instances of a machine without nodes");
    pfb_source_close(source);

    put_everything();
    source = open_machine();
    cr_expect_str_eq(offered_by(source), "0 1 2 3 4 5 8 9 10 11 12 13 14 15 17 18 20 ");
    cr_expect_str_eq(instances_of(source), "0,0#0 0,1#1 0,_Total#80000000 3,5#5 3,_Total#80000003 _Total#fffffffe ");
    pfb_source_close(source);

    put_cpu_file(1, "cpuidle/state3/name", "C2-X\n");
    put_cpu_file(5, "cpuidle/state5/usage", "none\n");
    put_cpu_file(5, "cpufreq/cpuinfo_max_freq", "0\n");
    put_file("/proc/interrupts", "     CPU0 CPU1\n 1: 1 20 timer\nLOC: 7 8\n");
    source = open_machine();
    cr_expect_str_eq(offered_by(source), "0 1 2 4 5 8 9 12 15 17 ");
    pfb_source_close(source);
}

Test(processor, frequencies_of_all_cpus_come_from_the_same_file)
{
    put_everything();
    put_file("/proc/cpuinfo",
             "processor : 0\ncpu MHz : 700.9\nprocessor : 1\ncpu MHz : 800\nprocessor : 3\ncpu MHz : 1\nprocessor : 5\n"
             "cpu MHz : 900\n");
    put_cpu_file(5, "cpufreq/scaling_cur_freq", "<unknown>\n");
    pfb_source *source = open_machine();
    cr_expect_str_eq(offered_by(source), "0 1 2 3 4 5 8 9 10 11 12 13 14 15 17 20 ");
    cr_expect_str_eq(
        ask(source, "?,*", 17, PFB_NO_ID),
        "4 0 {0,0#0 700/4} {0,1#1 800/4} {0,_Total#80000000 750/4} {3,5#5 900/4} {3,_Total#80000003 900/4}\n");
    pfb_source_close(source);

    put_file("/proc/cpuinfo", "processor : 0\ncpu MHz : 700.9\nprocessor : 1\n");
    source = open_machine();
    cr_expect_str_eq(offered_by(source), "0 1 2 3 4 5 8 9 10 11 12 13 14 15 20 ");
    pfb_source_close(source);
}

Test(processor, a_machine_without_countersets_cannot_be_opened)
{
    pfb_source_failure failure = {0};
    cr_expect_null(pfb_source_open_linux(machine_root(), &failure));
    cr_expect_eq(failure.code, PFB_WIN32_FILE_NOT_FOUND);
    cr_expect(strstr(failure.sentence, "/proc/stat cannot be read: No such file"), "%s", failure.sentence);
    cr_expect_null(pfb_source_open_linux(machine_root(), NULL));
    put_file("/proc/stat", "cpu  1 2 3 4 5 6 7\ncpu0 1 2 3 4\n");
    cr_expect_null(pfb_source_open_linux(machine_root(), &failure));
    cr_expect_eq(failure.code, PFB_WIN32_NOT_SUPPORTED);
}

/* ---- Values --------------------------------------------------------------------------------------------------- */

enum { ALL = 17 };

static const unsigned ids[ALL] = {0, 1, 2, 3, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15, 17, 18, 20};

/* The values of the machine with all files. Those of /proc/stat are in sixths of a tick, so that their means
 * are integers. */
static const struct {
    const char *instance;
    uint64_t values[ALL];
} everything[] = {
    {"0,0#0", {6030, 660, 138, 6, 12, 6, 6030, 10000, 30000, 50000, 100, 300, 500, 6090, 1000, 50, 7}},
    {"0,1#1", {12036, 1320, 276, 28, 24, 12, 12036, 10010, 30010, 50010, 101, 301, 501, 12156, 1500, 75, 8}},
    {"0,_Total#80000000", {9033, 990, 207, 34, 18, 9, 9033, 10005, 30005, 50005, 201, 601, 1001, 9123, 1250, 62, 15}},
    {"3,5#5", {18048, 1980, 414, 39, 36, 18, 18048, 10020, 30020, 50020, 102, 302, 502, 18228, 2001, 100, 9}},
    {"3,_Total#80000003",
     {18048, 1980, 414, 39, 36, 18, 18048, 10020, 30020, 50020, 102, 302, 502, 18228, 2001, 100, 9}},
    {"_Total#fffffffe",
     {12038, 1320, 276, 73, 24, 12, 12038, 10010, 30010, 50010, 303, 903, 1503, 12158, 1500, 75, 24}},
};

enum { INSTANCES = sizeof everything / sizeof everything[0] };

static void expect_value(size_t instance, size_t n)
{
    unsigned id = ids[n];
    bool is_time = id <= 2 || id == 4 || id == 5 || id == 8 || id == 15;
    bool is_small = id == 3 || id == 17 || id == 18 || id == 20;
    uint64_t value = everything[instance].values[n];
    expect_more("%llu/%u", (unsigned long long)(is_time ? ticks(value) / 6 : value), is_small ? 4u : 8u);
}

Test(processor, all_counters_have_their_values_together)
{
    put_everything();
    pfb_source *source = open_machine();
    expect_more("6 0");
    for (size_t i = 0; i < INSTANCES; i++) {
        expect_more(" {%s", everything[i].instance);
        for (size_t n = 0; n < ALL; n++) {
            expect_more(" %u=", ids[n]);
            expect_value(i, n);
        }
        expect_more("}");
    }
    expect_more("\n");
    cr_expect_str_eq(ask(source, "*", PFB_NO_ID, PFB_NO_ID), expected);
    pfb_source_close(source);
}

/* Queries each counter alone, because a sample reads only the files that it needs. */
Test(processor, every_counter_has_its_value_alone)
{
    put_everything();
    pfb_source *source = open_machine();
    for (size_t n = 0; n < ALL; n++) {
        expected[0] = '\0';
        expect_more("4 0");
        for (size_t i = 0; i < INSTANCES; i++) {
            expect_more(" {%s ", everything[i].instance);
            expect_value(i, n);
            expect_more("}");
        }
        expect_more("\n");
        cr_expect_str_eq(ask(source, "*", ids[n], PFB_NO_ID), expected, "counter %u", ids[n]);
    }
    pfb_source_close(source);
}

#define LARGEST "18446744073709551615"

Test(processor, large_means_do_not_overflow_and_large_sums_wrap)
{
    put_file("/proc/stat", "cpu0 " LARGEST " 1 2 " LARGEST " 4 5 6\ncpu1 " LARGEST " 0 0 " LARGEST " 1 1 1\n");
    put_file("/proc/interrupts", "CPU0 CPU1\nLOC: 4294967295 4294967295\n");
    for (unsigned cpu = 0; cpu < 2; cpu++) {
        put_cpu_file(cpu, "cpuidle/state0/name", "C1\n");
        put_cpu_file(cpu, "cpuidle/state0/time", LARGEST "\n");
        put_cpu_file(cpu, "cpuidle/state0/usage", LARGEST "\n");
        put_cpu_file(cpu, "cpufreq/scaling_cur_freq", "4294967295\n");
        put_cpu_file(cpu, "cpufreq/cpuinfo_max_freq", "1\n");
    }
    pfb_source *source = open_machine();
    cr_expect_str_eq(ask(source, "_total", 0, PFB_NO_ID), "1 0 { " LARGEST "/8}\n");
    cr_expect_str_eq(ask(source, "_total", 1, PFB_NO_ID), "1 0 { " LARGEST "/8}\n");
    cr_expect_str_eq(ask(source, "_total", 9, PFB_NO_ID), "1 0 { " LARGEST "/8}\n");
    cr_expect_str_eq(ask(source, "_total", 12, PFB_NO_ID), "1 0 { 18446744073709551614/8}\n",
                     "the sum of counts wraps");
    cr_expect_str_eq(ask(source, "_total", 20, PFB_NO_ID), "1 0 { 4294967294/4}\n", "the sum of counts wraps");
    cr_expect_str_eq(ask(source, "_total", 17, PFB_NO_ID), "1 0 { 4294967/4}\n");
    cr_expect_str_eq(ask(source, "_total", 18, PFB_NO_ID), "1 0 { 4294967295/4}\n");
    pfb_source_close(source);
}

/* ---- Machines that change --------------------------------------------------------------------------------------- */

Test(processor, cpus_are_added_and_removed)
{
    put_everything();
    pfb_source *source = open_machine();
    put_file("/proc/stat", "cpu1 200 20 40 2000 6 2 4\ncpu5 300 30 60 3001 7 3 6\n");
    cr_expect_str_eq(instances_of(source), "0,1#1 0,_Total#80000000 3,5#5 3,_Total#80000003 _Total#fffffffe ");
    cr_expect_str_eq(ask(source, "*", 17, PFB_NO_ID),
                     "4 0 {0,1#1 1500/4} {0,_Total#80000000 1500/4} {3,5#5 2001/4} {3,_Total#80000003 2001/4} "
                     "{_Total#fffffffe 1750/4}\n");
    put_file("/sys/devices/system/node/node3/cpulist", "5-7\n");
    put_file("/proc/stat", "cpu1 200 20 40 2000 6 2 4\ncpu6 300 30 60 3001 7 3 6\n");
    cr_expect_str_eq(instances_of(source), "0,1#1 0,_Total#80000000 3,6#6 3,_Total#80000003 _Total#fffffffe ");
    put_file("/proc/stat", STAT "cpu8 1 1 1 1 1 1 1\n");
    cr_expect_str_eq(instances_of(source),
                     "0,0#0 0,1#1 0,8#8 0,_Total#80000000 3,5#5 3,_Total#80000003 _Total#fffffffe ");
    /* The kernel adds a new CPU to /proc/stat first and to its node later. */
    put_file("/sys/devices/system/node/node3/cpulist", "0,5-8\n");
    put_file("/sys/devices/system/node/node0/cpulist", "1\n");
    cr_expect_str_eq(instances_of(source),
                     "0,1#1 0,_Total#80000000 3,0#0 3,5#5 3,8#8 3,_Total#80000003 _Total#fffffffe ");
    pfb_source_close(source);
}

Test(processor, a_cpu_without_a_value_is_left_out_of_results_with_this_value)
{
    put_everything();
    pfb_source *source = open_machine();
    put_cpu_file(1, "cpufreq/scaling_cur_freq", "0\n");
    cr_expect_str_eq(ask(source, "0*", 17, PFB_NO_ID), "4 0 {0,0#0 1000/4} {0,_Total#80000000 1000/4}\n");
    cr_expect_str_eq(ask(source, "0,1", 17, PFB_NO_ID), "0 1069\n");
    cr_expect_str_eq(ask(source, "0,1", PFB_NO_ID, PFB_NO_ID), "0 1069\n");
    cr_expect_str_eq(ask(source, "0*", 3, PFB_NO_ID), "4 0 {0,0#0 6/4} {0,1#1 28/4} {0,_Total#80000000 34/4}\n");
    put_cpu_file(0, "cpufreq/scaling_cur_freq", "\n");
    cr_expect_str_eq(ask(source, "0*", 17, PFB_NO_ID), "4 0\n", "there is no total without CPUs");
    remove_file("/proc/interrupts");
    cr_expect_str_eq(ask(source, "*", 20, PFB_NO_ID), "4 0\n");
    cr_expect_str_eq(offered_by(source), "0 1 2 3 4 5 8 9 10 11 12 13 14 15 17 18 20 ",
                     "the offered counters do not change");
    pfb_source_close(source);
}

Test(processor, all_values_of_a_total_are_about_the_same_cpus)
{
    put_everything();
    pfb_source *source = open_machine();
    put_cpu_file(1, "cpuidle/state3/time", "none\n");
    const char *data = ask(source, "0,_Total", PFB_NO_ID, PFB_NO_ID);
    cr_expect(strstr(data, " 3=6/4 ") && strstr(data, " 17=1000/4 "), "the totals have CPU 0 only: %s", data);
    pfb_source_close(source);
}

Test(processor, a_sample_needs_proc_stat)
{
    put_file("/proc/stat", STAT);
    pfb_source *source = open_machine();
    pfb_source_query *query = pfb_source_query_open(source, NULL);
    pfb_source_failure failure = {0};
    pfb_bytes reply = {0};
    cr_assert_eq(add_to(query, "*,*", 4, PFB_NO_ID), PFB_WIN32_SUCCESS);
    remove_file("/proc/stat");
    cr_expect_not(pfb_source_query_collect(query, &reply, &failure));
    cr_expect_eq(failure.code, PFB_WIN32_FILE_NOT_FOUND);
    put_file("/proc/stat", "cpu  1 2\n");
    cr_expect_not(pfb_source_query_collect(query, &reply, &failure));
    cr_expect_eq(failure.code, PFB_WIN32_NOT_SUPPORTED);
    put_file("/proc/stat", "cpu3 0 0 0 0 0 0 0\n");
    cr_assert(pfb_source_query_collect(query, &reply, &failure), "%s", failure.sentence);
    cr_expect_str_eq(data_of(&reply), "4 0 {0,3#3 0/8} {0,_Total#80000000 0/8}\n");
    pfb_bytes_free(&reply);
    pfb_source_query_close(query);
    pfb_source_close(source);
}

Test(processor, numbers_of_cpus_and_nodes_have_an_upper_limit)
{
    put_file("/proc/stat", "cpu0 0 0 0 0 0 0 0\ncpu2147483647 0 0 0 0 0 0 0\ncpu2147483648 0 0 0 0 0 0 0\n");
    put_file("/sys/devices/system/node/node2147483645/cpulist", "2147483647\n");
    put_file("/sys/devices/system/node/node2147483646/cpulist", "0\n");
    put_file("/sys/devices/system/node/node1x/cpulist", "0\n");
    pfb_source *source = open_machine();
    cr_expect_str_eq(instances_of(source), "0,0#0 0,_Total#80000000 2147483645,2147483647#7fffffff "
                                           "2147483645,_Total#fffffffd _Total#fffffffe ");
    pfb_source_close(source);
}

/* ---- Large machines ---------------------------------------------------------------------------------------------- */

enum { CPUS = 4096 };

/* Creates CPUs 0, 3, 6 ... 12285 on two nodes. CPU n has n / 3 ticks in user mode and n / 3 clock interrupts. */
static void put_large_machine(void)
{
    static char stat[64 * CPUS];
    static char interrupts[32 * CPUS];
    size_t stat_size = 0;
    size_t size = 0;
    for (unsigned i = 0; i < CPUS; i++) {
        stat_size += (size_t)snprintf(stat + stat_size, sizeof stat - stat_size, "cpu%u %u 0 0 0 0 0 0\n", 3 * i, i);
        size += (size_t)snprintf(interrupts + size, sizeof interrupts - size, " CPU%u", 3 * i);
    }
    size += (size_t)snprintf(interrupts + size, sizeof interrupts - size, "\nLOC:");
    for (unsigned i = 0; i < CPUS; i++)
        size += (size_t)snprintf(interrupts + size, sizeof interrupts - size, " %u", i);
    put_file("/proc/stat", stat);
    put_file("/proc/interrupts", interrupts);
    put_file("/sys/devices/system/node/node0/cpulist", "6144-99999\n");
    put_file("/sys/devices/system/node/node1/cpulist", "0-6143\n");
}

Test(processor, numbers_of_thousands_of_cpus_may_have_gaps)
{
    put_large_machine();
    pfb_source *source = open_machine();
    pfb_source_query *query = pfb_source_query_open(source, NULL);
    pfb_bytes reply = {0};
    cr_assert_eq(add_to(query, "*", PFB_NO_ID, PFB_NO_ID), PFB_WIN32_SUCCESS);
    cr_assert(pfb_source_query_collect(query, &reply, NULL));
    const uint8_t *memory = reply.data;
    cr_assert(pfb_source_query_collect(query, &reply, NULL) && reply.data == memory,
              "the memory of the reply is reused");
    pfb_bytes_free(&reply);
    pfb_source_query_close(query);
    const char *list = instances_of(source);
    cr_expect(strncmp(list, "0,6144#1800 0,6147#1803 ", 24) == 0);
    cr_expect(strstr(list, " 0,12285#2ffd 0,_Total#80000000 1,0#0 "));
    cr_expect_str_eq(ask(source, "0,12285", 3, PFB_NO_ID), "1 0 { 4095/4}\n");
    cr_expect_str_eq(ask(source, "_Total", 20, PFB_NO_ID), "1 0 { 8386560/4}\n", "the total is the sum of 0 to 4095");
    expected[0] = '\0';
    expect_more("1 0 { %llu/8}\n", (unsigned long long)(ticks(4095) / 2));
    cr_expect_str_eq(ask(source, "_Total", 1, PFB_NO_ID), expected);
    pfb_source_close(source);
}

/* ---- Processor --------------------------------------------------------------------------------------------------- */

/* Returns the text with the nodes of instances removed: without "0,_Total" and "3,_Total", and with "1" for "0,1". */
static const char *without_nodes(const char *text)
{
    static char out[sizeof expected];
    size_t size = 0;
    for (const char *at = text; *at;) {
        bool is_instance = at[0] == '{' && at[1] != '_';
        if (is_instance && at[3] == '_') {
            at = strchr(at, '}') + 1;
            size -= size > 0; /* the blank before it */
            continue;
        }
        out[size++] = *at;
        at += is_instance ? 3 : 1;
    }
    out[size] = '\0';
    return out;
}

/* It has the CPUs and the total of Processor Information, and its counters up to C3 Transitions/sec with their types.
 */
Test(processor, processors_without_nodes_have_the_same_values)
{
    char both[sizeof expected];
    put_everything();
    pfb_source *source = open_machine();
    use_counterset(&nodeless_processor_guid);
    cr_expect_str_eq(offered_by(source), "0 1 2 3 4 5 8 9 10 11 12 13 14 ");
    cr_expect_str_eq(instances_of(source), "0#0 1#1 5#5 _Total#fffffffe ");
    for (size_t n = 0; ids[n] < 15; n++) {
        use_counterset(&processor_guid);
        snprintf(both, sizeof both, "%s", without_nodes(ask(source, "*", ids[n], PFB_NO_ID)));
        use_counterset(&nodeless_processor_guid);
        cr_expect_str_eq(ask(source, "*", ids[n], PFB_NO_ID), both, "counter %u", ids[n]);
    }
    cr_expect_str_eq(ask(source, "*", 3, PFB_NO_ID), "4 0 {0#0 6/4} {1#1 28/4} {5#5 39/4} {_Total#fffffffe 73/4}\n");
    pfb_source_close(source);
}

Test(processor, processors_without_nodes_are_named_as_on_windows)
{
    static const known_counter known[] = {
        {.type = "PERF_100NSEC_TIMER_INV", .aggregate = 2, .name = "% Processor Time"},
        {.type = "PERF_100NSEC_TIMER", .aggregate = 2, .name = "% User Time"},
        {.type = "PERF_100NSEC_TIMER", .aggregate = 2, .name = "% Privileged Time"},
        {.type = "PERF_COUNTER_COUNTER", .aggregate = 1, .name = "Interrupts/sec"},
        {.type = "PERF_100NSEC_TIMER", .aggregate = 2, .name = "% DPC Time"},
        {.type = "PERF_100NSEC_TIMER", .aggregate = 2, .name = "% Interrupt Time"}};
    put_file("/proc/stat", STAT);
    put_file("/proc/interrupts", "     CPU0 CPU1 CPU5\n 1: 1 20 30 timer\n");
    pfb_source *source = open_machine();
    use_counterset(&nodeless_processor_guid);
    cr_expect_str_eq(offered_by(source), "0 1 2 3 4 5 8 ", "a machine without C-states");
    expect_first_counters(source, PFB_INSTANCES_MULTIPLE | PFB_INSTANCES_AGGREGATE, known,
                          sizeof known / sizeof known[0]);
    put_file("/proc/stat", STAT "cpu6 300 30 60 3001 7 3 6\n");
    cr_expect_str_eq(instances_of(source), "0#0 1#1 5#5 6#6 _Total#fffffffe ");
    pfb_source_close(source);
}

/* ---- Clocks, and this machine ------------------------------------------------------------------------------------ */

Test(processor, the_clocks_are_those_of_the_sample)
{
    put_file("/proc/stat", STAT);
    pfb_source *source = open_machine();
    pfb_source_query *query = pfb_source_query_open(source, NULL);
    pfb_bytes reply = {0};
    pfb_v2_reader block;
    uint64_t steady = units_of_100ns(CLOCK_MONOTONIC);
    uint64_t wall = units_of_100ns(CLOCK_REALTIME);
    cr_assert(pfb_source_query_collect(query, &reply, NULL));
    cr_assert(pfb_v2_open(&block, reply.data, reply.size_bytes, STRICT));
    uint64_t since_1970 = (uint64_t)block.perf_time_100ns - UINT64_C(116444736000000000);
    uint64_t perf_time = (uint64_t)block.perf_time;
    cr_expect(perf_time >= steady && perf_time <= units_of_100ns(CLOCK_MONOTONIC));
    cr_expect(since_1970 >= wall && since_1970 <= units_of_100ns(CLOCK_REALTIME));
    cr_expect_eq(block.perf_freq, 10000000);
    time_t seconds = (time_t)(since_1970 / 10000000);
    struct tm utc;
    cr_assert(gmtime_r(&seconds, &utc));
    const pfb_system_time *t = &block.system_time;
    cr_expect(t->year == utc.tm_year + 1900 && t->month == utc.tm_mon + 1 && t->day == utc.tm_mday);
    cr_expect(t->day_of_week == utc.tm_wday && t->hour == utc.tm_hour && t->minute == utc.tm_min);
    cr_expect(t->second == utc.tm_sec && t->millisecond == since_1970 / 10000 % 1000);
    pfb_bytes_free(&reply);
    pfb_source_query_close(query);
    pfb_source_close(source);
}

Test(processor, this_machine_can_be_read)
{
    pfb_source_failure failure = {0};
    pfb_source *source = pfb_source_open_live(&failure);
    cr_assert(source, "%s", failure.sentence);
    cr_expect(strncmp(offered_by(source), "0 1 2 ", 6) == 0);
    cr_expect(strstr(instances_of(source), "_Total#80000000 "));
    cr_expect(strncmp(ask(source, "*", PFB_NO_ID, PFB_NO_ID), "6 0 {", 5) == 0);
    pfb_source_close(source);
}
