/* SPDX-License-Identifier: MIT */
/* The counterset Thread of the live source of Linux. */
#include <criterion/criterion.h>

#include "machine.h"
#include "perfblock/live.h"
#include "support.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static void make_thread_machine(void)
{
    make_machine();
    put_file("/proc/stat", STAT);
    use_counterset(&thread_guid);
}

TestSuite(thread, .init = make_thread_machine, .fini = remove_machine);

/* The rest of a stat file. Fields 14 and 15 are the times, 18 to 20 priority, nice value and number of threads, 22 the
 * start. */
#define STAT_OF(state, user, system, priority, nice, threads, start)                                                   \
#state " 1 2 3 34816 -1 4194304 30 31 5 32 " #user " " #system " 33 34 " #priority " " #nice " " #threads          \
           " 0 " #start " 8388608 25 18446744073709551615 1 1 0\n"
#define STATUS(voluntary, involuntary)                                                                                 \
    "Name:\tx\nThreads:\t3\nvoluntary_ctxt_switches:\t" #voluntary "\nnonvoluntary_ctxt_switches:\t" #involuntary "\n"

static void put_thread(unsigned process, unsigned id, const char *name, const char *rest, const char *status)
{
    char path[64];
    char text[256];
    snprintf(path, sizeof path, "/proc/%u/task/%u/stat", process, id);
    snprintf(text, sizeof text, "%u (%s) %s", id, name, rest);
    put_file(path, text);
    snprintf(path, sizeof path, "/proc/%u/task/%u/status", process, id);
    put_file(path, status);
}

static void put_threads(void)
{
    put_thread(1, 1, "init", STAT_OF(S, 1, 2, 20, 0, 1, 0), STATUS(7, 8));
    put_thread(42, 42, "web", STAT_OF(R, 700, 50, 15, -5, 2, 900), STATUS(100, 20));
    put_thread(42, 44, "worker", STAT_OF(D, 30, 4, -51, 0, 2, 1000), STATUS(3, 4294967295));
    put_file("/proc/self/task/1/stat", "1 (init) " STAT_OF(S, 1, 2, 20, 0, 1, 0));
}

/* ---- Instances and counters -------------------------------------------------------------------------------------- */

Test(thread, threads_have_the_name_of_their_process_and_a_number)
{
    put_threads();
    pfb_source *source = open_machine();
    cr_expect_str_eq(offered_by(source), "0 1 2 3 4 5 6 7 8 9 10 11 ");
    cr_expect_str_eq(instances_of(source), "init/0#1 web/0#2a web/1#2c _Total/_Total#fffffffe ");
    put_thread(42, 45, "x", STAT_OF(S, 0, 0, 20, 0, 3, 5), STATUS(1, 1));
    put_thread(42, 7, "y", STAT_OF(S, 0, 0, 20, 0, 3, 5), "");
    const char *list = instances_of(source);
    cr_expect(strstr(list, "web/0#2a web/1#") && strstr(list, " web/3#") && strstr(list, "#7 ") && strstr(list, "#2d "),
              "%s", list);
    pfb_source_close(source);
}

/* The name of the longest process with the largest thread number fits, too. */
Test(thread, names_of_processes_may_have_64_bytes)
{
    static const char name[] = "0123456789012345678901234567890123456789012345678901234567890123";
    char expected[128];
    put_thread(5, 5, name, STAT_OF(S, 0, 0, 20, 0, 1, 0), STATUS(1, 1));
    pfb_source *source = open_machine();
    snprintf(expected, sizeof expected, "%s/0#5 _Total/_Total#fffffffe ", name);
    cr_expect_str_eq(instances_of(source), expected);
    pfb_source_close(source);
}

Test(thread, counters_are_those_of_windows)
{
    static const known_counter known[] = {
        {.type = "PERF_100NSEC_TIMER", .aggregate = 1, .name = "% Processor Time"},
        {.type = "PERF_100NSEC_TIMER", .aggregate = 1, .name = "% User Time"},
        {.type = "PERF_100NSEC_TIMER", .aggregate = 1, .name = "% Privileged Time"},
        {.type = "PERF_COUNTER_COUNTER", .aggregate = 1, .name = "Context Switches/sec"},
        {.type = "PERF_COUNTER_RAWCOUNT", .name = "Priority Base"},
        {.type = "PERF_COUNTER_RAWCOUNT", .name = "Priority Current"},
        {.type = "PERF_ELAPSED_TIME", .name = "Elapsed Time", .perf_time_id = 7, .perf_freq_id = 8},
        {.type = "PERF_COUNTER_LARGE_RAWCOUNT", .name = "Object Time", .is_hidden = true},
        {.type = "PERF_COUNTER_LARGE_RAWCOUNT", .name = "Object Frequency", .is_hidden = true},
        {.type = "PERF_COUNTER_RAWCOUNT", .name = "Thread State"},
        {.type = "PERF_COUNTER_RAWCOUNT", .name = "ID Process"},
        {.type = "PERF_COUNTER_RAWCOUNT", .name = "ID Thread"}};
    put_threads();
    pfb_source *source = open_machine();
    expect_counters(source, PFB_INSTANCES_MULTIPLE | PFB_INSTANCES_AGGREGATE, known, sizeof known / sizeof known[0]);
    pfb_source_close(source);
}

/* ---- Values --------------------------------------------------------------------------------------------------- */

Test(thread, values_are_those_of_the_files)
{
    put_threads();
    pfb_source *source = open_machine();
    const struct {
        unsigned id, bytes;
        uint64_t web, worker, total;
    } values[] = {{0, 8, ticks(750), ticks(34), ticks(787)},
                  {1, 8, ticks(700), ticks(30), ticks(731)},
                  {2, 8, ticks(50), ticks(4), ticks(56)},
                  {3, 4, 120, 2, 137},
                  {4, 4, 25, 20, 0},
                  {5, 4, 25, 91, 0}, /* realtime priority 50 */
                  {6, 8, 10000000 + ticks(900), 10000000 + ticks(1000), 0},
                  {8, 8, 10000000, 10000000, 10000000},
                  {9, 4, 2, 5, 0},
                  {10, 4, 42, 42, 0},
                  {11, 4, 42, 44, 0}};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        expect_one(source, "web/0", values[i].id, values[i].web, values[i].bytes);
        expect_one(source, "web/1", values[i].id, values[i].worker, values[i].bytes);
        expect_one(source, "_Total/_Total", values[i].id, values[i].total, values[i].bytes);
    }
    pfb_source_close(source);
}

Test(thread, states_are_those_of_windows)
{
    static const char letters[] = "RSDTtIZXP?";
    static const unsigned numbers[] = {2, 5, 5, 5, 5, 5, 4, 4, 7, 7};
    put_threads();
    pfb_source *source = open_machine();
    for (size_t i = 0; letters[i]; i++) {
        char rest[] = STAT_OF(S, 1, 2, 20, 0, 1, 0);
        rest[0] = letters[i];
        put_thread(1, 1, "init", rest, "");
        expect_one(source, "init/0", 9, numbers[i], 4);
    }
    pfb_source_close(source);
}

Test(thread, elapsed_time_uses_the_boot_clock)
{
    put_threads();
    pfb_source *source = open_machine();
    uint64_t before = units_of_100ns(CLOCK_BOOTTIME);
    const char *data = ask(source, "init/0", 7, PFB_NO_ID);
    uint64_t after = units_of_100ns(CLOCK_BOOTTIME);
    unsigned long long now;
    cr_assert_eq(sscanf(data, "1 0 { %llu/8}", &now), 1, "%s", data);
    cr_expect(now >= before + 10000000 && now <= after + 10000000);
    pfb_source_close(source);
}

/* ---- Missing files --------------------------------------------------------------------------------------------- */

Test(thread, threads_that_end_are_left_out)
{
    put_threads();
    pfb_source *source = open_machine();
    put_file("/proc/42/task/44/status", "voluntary_ctxt_switches: 1\n");
    cr_expect_str_eq(ask(source, "*", 3, PFB_NO_ID),
                     "4 0 {init/0#1 15/4} {web/0#2a 120/4} {_Total/_Total#fffffffe 135/4}\n");
    put_file("/proc/42/task/44/stat", "");
    cr_expect_str_eq(instances_of(source), "init/0#1 web/0#2a _Total/_Total#fffffffe ");
    remove_file("/proc/1/task/1/stat");
    cr_expect_str_eq(instances_of(source), "web/0#2a _Total/_Total#fffffffe ");
    put_thread(1, 1, "init", STAT_OF(S, 1, 2, 20, 0, 1, 0), STATUS(7, 8));
    put_file("/proc/42/task/42/stat", "");
    cr_expect_str_eq(instances_of(source), "init/0#1 _Total/_Total#fffffffe ", "nor is a process without its thread");
    pfb_source_close(source);
}

/* Opening reads one thread, not all: the only files of the others are pipes, whose opening would wait. */
Test(thread, opening_reads_one_thread, .timeout = 30)
{
    char path[128];
    put_thread(1, 1, "init", STAT_OF(S, 1, 2, 20, 0, 2, 0), "");
    put_file("/proc/1/task/2/status", "");
    snprintf(path, sizeof path, "%s/proc/1/task/2/stat", machine_root());
    cr_assert_eq(mkfifo(path, 0600), 0);
    pfb_source *source = open_machine();
    cr_expect_str_eq(offered_by(source), "0 1 2 4 5 6 7 8 9 10 11 ", "without the file status");
    cr_assert_eq(remove(path), 0);
    pfb_source_close(source);
}

Test(thread, a_machine_without_threads_has_no_counterset)
{
    pfb_bytes reply = {0};
    pfb_source_failure failure = {0};
    put_file("/proc/7/stat", "7 (x) " STAT_OF(S, 1, 2, 20, 0, 1, 0));
    put_file("/proc/8/task/8/stat", "8 (x) S");
    pfb_source *source = open_machine();
    cr_expect_not(pfb_source_instances(source, &thread_guid, &reply, &failure));
    cr_expect_eq(failure.code, PFB_WIN32_COUNTERSET_NOT_FOUND);
    pfb_source_close(source);
    pfb_bytes_free(&reply);
}

/* ---- This machine --------------------------------------------------------------------------------------------- */

Test(thread, this_machine_can_be_read)
{
    pfb_source *source = pfb_source_open_live(NULL);
    cr_assert(source);
    char expected[64];
    snprintf(expected, sizeof expected, "4 0 {test_thread/0#%x %d/4}\n", (unsigned)getpid(), (int)getpid());
    cr_expect_str_eq(ask(source, "test_t*/0", 10, (uint32_t)getpid()), expected);
    pfb_source_close(source);
}
