/* SPDX-License-Identifier: MIT */
/* The counterset Process of the live source of Linux. */
#include "perfblock/live.h"
#include <criterion/criterion.h>

#include "machine.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void make_process_machine(void)
{
    make_machine();
    put_file("/proc/stat", STAT);
    use_counterset(&process_guid);
}

TestSuite(process, .init = make_process_machine, .fini = remove_machine);

/* ---- A machine ------------------------------------------------------------------------------------------------ */

static void put_process_file(unsigned pid, const char *name, const char *text)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%u/%s", pid, name);
    put_file(path, text);
}

/* /proc/PID/stat of a process, with these fields after its name, from the third on. */
static void put_stat(unsigned pid, const char *name, const char *fields)
{
    char text[1024];
    snprintf(text, sizeof text, "%u (%s) %s\n", pid, name, fields);
    put_process_file(pid, "stat", text);
}

/* Parent 1, 30 minor and 5 major faults, 700 ticks in user mode and 50 in the kernel, nice -5, 4 threads, started 900
 * ticks after boot, 8 MiB of address space and 25 pages of memory. */
#define BASH "S 1 2 3 34816 -1 4194304 30 31 5 32 700 50 33 34 20 -5 4 0 900 8388608 25 18446744073709551615 1 1 0"

/* A kernel thread: no memory, started with the machine. */
#define KERNEL "I 2 0 0 0 -1 69238880 0 0 0 0 0 6 0 0 0 -20 1 0 0 0 0 18446744073709551615 0 0 0"

/* The parent is 2^31 - 1; all other fields are 1. */
#define ONES "R 2147483647 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1"

#define IO(rchar, wchar, syscr, syscw)                                                                                 \
    "rchar: " #rchar "\nwchar: " #wchar "\nsyscr: " #syscr "\nsyscw: " #syscw "\nread_bytes: 9\nwrite_bytes: 9\n"

static void put_processes(void)
{
    put_stat(42, "bash", BASH);
    put_stat(7, "kworker/0:1-events", KERNEL);
    put_stat(1, "init", ONES);
    put_file("/proc/self/stat", "42 (bash) " BASH);
    put_file("/proc/sys/kernel/stat", "");
}

static void put_io(void)
{
    put_process_file(1, "io", IO(100, 200, 3, 4));
    put_process_file(7, "io", IO(0, 0, 0, 0));
    put_process_file(42, "io", IO(1000, 2000, 30, 40));
}

/* ---- Instances and counters ------------------------------------------------------------------------- */

Test(process, processes_ascend_and_the_total_is_last)
{
    put_processes();
    pfb_source *source = open_machine();
    cr_expect_str_eq(offered_by(source), "0 1 2 3 4 5 6 7 8 9 10 11 12 ", "no IO counters, as no io file can be read");
    cr_expect_str_eq(instances_of(source), "init#1 kworker/0:1#7 bash#2a _Total#fffffffe ");
    pfb_source_close(source);
}

Test(process, io_counters_need_the_io_files_of_half_of_the_processes)
{
    put_processes();
    put_stat(43, "bash", BASH);
    put_file("/proc/self/io", IO(1, 2, 3, 4));
    put_process_file(42, "io", IO(1, 2, 3, 4));
    put_process_file(1, "io", "rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: \n");
    pfb_source *source = open_machine();
    cr_expect_str_eq(offered_by(source), "0 1 2 3 4 5 6 7 8 9 10 11 12 ",
                     "no IO counters, as one of four io files can be read");
    pfb_source_close(source);
    put_process_file(1, "io", "rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\n");
    source = open_machine();
    cr_expect_str_eq(offered_by(source), "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 ",
                     "IO counters, as two of four io files can be read");
    pfb_source_close(source);
}

Test(process, a_machine_without_processes_has_no_counterset)
{
    pfb_bytes reply = {0};
    pfb_source_failure failure = {0};
    put_file("/proc/0/stat", "0 (none) " BASH);
    put_file("/proc/007/stat", "7 (none) " BASH);
    put_file("/proc/7x/stat", "7 (none) " BASH);
    put_file("/proc/2147483648/stat", "2147483648 (none) " BASH);
    pfb_source *source = open_machine();
    cr_expect_not(pfb_source_instances(source, &process_guid, &reply, &failure));
    cr_expect_eq(failure.code, PFB_WIN32_COUNTERSET_NOT_FOUND);
    pfb_source_close(source);
    pfb_bytes_free(&reply);
}

Test(process, counters_are_those_of_windows)
{
    static const known_counter known[] = {
        {.type = "PERF_100NSEC_TIMER", .aggregate = 1, .name = "% Processor Time"},
        {.type = "PERF_100NSEC_TIMER",
         .aggregate = 1,
         .name = "% User Time",
         .help = "Time in which threads of the process ran in user mode"},
        {.type = "PERF_100NSEC_TIMER", .aggregate = 1, .name = "% Privileged Time"},
        {.type = "PERF_COUNTER_LARGE_RAWCOUNT", .aggregate = 1, .name = "Virtual Bytes"},
        {.type = "PERF_COUNTER_LARGE_RAWCOUNT", .aggregate = 1, .name = "Working Set"},
        {.type = "PERF_COUNTER_COUNTER", .aggregate = 1, .name = "Page Faults/sec"},
        {.type = "PERF_COUNTER_RAWCOUNT", .aggregate = 1, .name = "Thread Count"},
        {.type = "PERF_COUNTER_RAWCOUNT", .name = "Priority Base"},
        {.type = "PERF_ELAPSED_TIME", .name = "Elapsed Time", .perf_time_id = 9, .perf_freq_id = 10},
        {.type = "PERF_COUNTER_LARGE_RAWCOUNT", .name = "Object Time", .is_hidden = true},
        {.type = "PERF_COUNTER_LARGE_RAWCOUNT", .name = "Object Frequency", .is_hidden = true},
        {.type = "PERF_COUNTER_RAWCOUNT", .name = "ID Process"},
        {.type = "PERF_COUNTER_RAWCOUNT", .name = "Creating Process ID"},
        {.type = "PERF_COUNTER_BULK_COUNT", .aggregate = 1, .name = "IO Read Operations/sec"},
        {.type = "PERF_COUNTER_BULK_COUNT", .aggregate = 1, .name = "IO Write Operations/sec"},
        {.type = "PERF_COUNTER_BULK_COUNT", .aggregate = 1, .name = "IO Data Operations/sec"},
        {.type = "PERF_COUNTER_BULK_COUNT", .aggregate = 1, .name = "IO Read Bytes/sec"},
        {.type = "PERF_COUNTER_BULK_COUNT", .aggregate = 1, .name = "IO Write Bytes/sec"},
        {.type = "PERF_COUNTER_BULK_COUNT", .aggregate = 1, .name = "IO Data Bytes/sec"}};
    put_processes();
    put_io();
    pfb_source *source = open_machine();
    expect_counters(source, PFB_INSTANCES_MULTIPLE | PFB_INSTANCES_AGGREGATE, known, sizeof known / sizeof known[0]);
    pfb_source_close(source);
}

/* ---- Values --------------------------------------------------------------------------------------------------- */

Test(process, counters_of_stat_are_computed_from_its_fields)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    put_processes();
    pfb_source *source = open_machine();
    const struct {
        unsigned id, bytes;
        uint64_t bash, kernel, total;
    } values[] = {{0, 8, ticks(750), ticks(6), ticks(758)},
                  {1, 8, ticks(700), 0, ticks(701)},
                  {2, 8, ticks(50), ticks(6), ticks(57)},
                  {3, 8, 8388608, 0, 8388609},
                  {4, 8, 25 * page, 0, 26 * page},
                  {5, 4, 35, 0, 37},
                  {6, 4, 4, 1, 6},
                  {7, 4, 25, 40, 0},
                  {8, 8, 10000000 + ticks(900), 10000000, 0},
                  {10, 8, 10000000, 10000000, 10000000},
                  {11, 4, 42, 7, 0},
                  {12, 4, 1, 2, 0}};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        expect_one(source, "bash", values[i].id, values[i].bash, values[i].bytes);
        expect_one(source, "kworker/0:1", values[i].id, values[i].kernel, values[i].bytes);
        expect_one(source, "_Total", values[i].id, values[i].total, values[i].bytes);
    }
    pfb_source_close(source);
}

Test(process, counters_of_io_are_computed_from_its_lines)
{
    static const struct {
        unsigned id;
        uint64_t bash, total;
    } values[] = {{13, 30, 33}, {14, 40, 44}, {15, 70, 77}, {16, 1000, 1100}, {17, 2000, 2200}, {18, 3000, 3300}};
    put_processes();
    put_io();
    pfb_source *source = open_machine();
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        expect_one(source, "bash", values[i].id, values[i].bash, 8);
        expect_one(source, "_Total", values[i].id, values[i].total, 8);
    }
    pfb_source_close(source);
}

/* A process whose io file cannot be read is missing in results that need it, and in their total. */
Test(process, processes_without_io_are_left_out_of_results_with_io)
{
    put_processes();
    put_io();
    pfb_source *source = open_machine();
    put_process_file(42, "io", "");
    cr_expect_str_eq(ask(source, "*", 13, PFB_NO_ID), "4 0 {init#1 3/8} {kworker/0:1#7 0/8} {_Total#fffffffe 3/8}\n");
    cr_expect_str_eq(ask(source, "*", 6, PFB_NO_ID),
                     "4 0 {init#1 1/4} {kworker/0:1#7 1/4} {bash#2a 4/4} {_Total#fffffffe 6/4}\n");
    const char *all = ask(source, "_Total", PFB_NO_ID, PFB_NO_ID);
    cr_expect(strstr(all, " 6=2/4 ") && strstr(all, " 13=3/8 "), "all totals are of the processes that have io: %s",
              all);
    cr_expect_str_eq(ask(source, "bash", PFB_NO_ID, PFB_NO_ID), "0 1069\n");
    pfb_source_close(source);
}

/* The clock of elapsed time and the start times count from one second before boot. */
Test(process, elapsed_time_uses_the_boot_clock)
{
    struct timespec before;
    struct timespec after;
    put_processes();
    pfb_source *source = open_machine();
    clock_gettime(CLOCK_BOOTTIME, &before);
    const char *data = ask(source, "init", 9, PFB_NO_ID);
    clock_gettime(CLOCK_BOOTTIME, &after);
    unsigned long long now;
    cr_assert_eq(sscanf(data, "1 0 { %llu/8}", &now), 1, "%s", data);
    cr_expect(now >= (unsigned long long)before.tv_sec * 10000000 + 10000000 + (unsigned long)before.tv_nsec / 100);
    cr_expect(now <= (unsigned long long)after.tv_sec * 10000000 + 10000000 + (unsigned long)after.tv_nsec / 100);
    pfb_source_close(source);
}

#define LARGEST "18446744073709551615"

/* Times and the working set become 2^64 - 1; counts and totals wrap. */
Test(process, large_numbers_wrap_or_become_the_maximum)
{
    put_stat(2147483647, "huge",
             "S -1 0 0 0 0 0 " LARGEST " 0 2 0 " LARGEST " 99999999999999999999 0 0 -100 19 " LARGEST " 0 " LARGEST
             " " LARGEST " " LARGEST);
    put_stat(1, "init", ONES);
    pfb_source *source = open_machine();
    expect_one(source, "huge", 0, UINT64_MAX, 8);
    expect_one(source, "huge", 3, UINT64_MAX, 8);
    expect_one(source, "huge", 4, UINT64_MAX, 8);
    expect_one(source, "huge", 5, 1, 4); /* 2^64 - 1 + 2 */
    expect_one(source, "huge", 6, UINT32_MAX, 4);
    expect_one(source, "huge", 7, 1, 4);
    expect_one(source, "huge", 8, UINT64_MAX, 8);
    expect_one(source, "huge", 11, 2147483647, 4);
    expect_one(source, "huge", 12, UINT32_MAX, 4);
    expect_one(source, "_Total", 3, 0, 8); /* 2^64 - 1 + 1 */
    pfb_source_close(source);
}

/* ---- Names ------------------------------------------------------------------------------------------------------ */

Test(process, names_may_contain_any_bytes)
{
    static const struct {
        const char *name;
        const char *displayed;
    } cases[] = {{"a b", "a b"},
                 {"(sd-pam)", "(sd-pam)"},
                 {") (", ") ("},
                 {") S 1 (", ") S 1 ("},
                 {"a\nb\n", "a\nb\n"},
                 {"", ""},
                 {" ", " "},
                 {"\xff", "\xef\xbf\xbd"},
                 {"\xe6\x97\xa5\xe6\x9c", "\xe6\x97\xa5\xef\xbf\xbd\xef\xbf\xbd"}, /* the kernel cuts after 15 bytes */
                 {"0123456789012345678901234567890123456789012345678901234567890123",
                  "0123456789012345678901234567890123456789012345678901234567890123"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char expected[256];
        put_stat(5, cases[i].name, BASH);
        pfb_source *source = open_machine();
        snprintf(expected, sizeof expected, "4 0 {%s#5 4/4} {_Total#fffffffe 4/4}\n", cases[i].displayed);
        cr_expect_str_eq(ask(source, "*", 6, PFB_NO_ID), expected, "case %zu", i);
        pfb_source_close(source);
    }
}

/* The kernel appends to the name of a worker "+" and the queue of its current work, or "-" and the queue of its last
 * work. */
Test(process, workers_keep_their_identity)
{
    static const struct {
        const char *name;
        const char *fields;
        const char *shown;
    } cases[] = {{"kworker/0:1", KERNEL, "kworker/0:1"},
                 {"kworker/0:1-events", KERNEL, "kworker/0:1"},
                 {"kworker/0:1-mm_percpu_wq", KERNEL, "kworker/0:1"},
                 {"kworker/0:1+events-power+efficient", KERNEL, "kworker/0:1"},
                 {"kworker/12:3H-kblockd", KERNEL, "kworker/12:3H"},
                 {"kworker/u8:2-ext4-rsv-conversion", KERNEL, "kworker/u8:2"},
                 {"kworker/R-rcu_gp", KERNEL, "kworker/R-rcu_gp"},
                 {"kworker/dying", KERNEL, "kworker/dying"},
                 {"kworker/", KERNEL, "kworker/"},
                 {"kworker", KERNEL, "kworker"},
                 {"ksoftirqd/0-x", KERNEL, "ksoftirqd/0-x"},
                 {"kworker/0:1-x", BASH, "kworker/0:1-x"}}; /* a program of that name */
    put_stat(5, "x", BASH);
    pfb_source *source = open_machine();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char expected[256];
        put_stat(5, cases[i].name, cases[i].fields);
        snprintf(expected, sizeof expected, "%s#5 _Total#fffffffe ", cases[i].shown);
        cr_expect_str_eq(instances_of(source), expected, "case %zu", i);
    }
    pfb_source_close(source);
}

Test(process, invalid_bytes_of_the_longest_name_become_u_fffd)
{
    char name[65];
    char expected[256] = "";
    for (unsigned i = 0; i < 64; i++) {
        name[i] = (char)(0x80 + i); /* none of these bytes begins a character */
        strcat(expected, "\xef\xbf\xbd");
    }
    name[64] = '\0';
    strcat(expected, "#5 _Total#fffffffe ");
    put_stat(5, name, BASH);
    pfb_source *source = open_machine();
    cr_expect_str_eq(instances_of(source), expected);
    pfb_source_close(source);
}

Test(process, malformed_stat_files_are_skipped)
{
    static const char *const texts[] = {
        "",
        "\n",
        "5",
        "5 (",
        "5 )",
        "5 ()",
        "5 (x",
        "5 )x(" BASH,
        "5 x " BASH,
        "5 (x) ",
        "5 (x) S 1 2 3 34816 -1 4194304 30 31 5 32 700 50 33 34 20 -5 4 0 900 8388608\n",
        "5 (12345678901234567890123456789012345678901234567890123456789012345) " BASH};
    put_stat(1, "init", ONES);
    pfb_source *source = open_machine();
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        put_process_file(5, "stat", texts[i]);
        cr_expect_str_eq(instances_of(source), "init#1 _Total#fffffffe ", "\"%s\"", texts[i]);
    }
    pfb_source_close(source);
}

/* ---- Processes that start and end ----------------------------------------------------------------------------- */

Test(process, processes_that_end_are_left_out)
{
    put_processes();
    pfb_source *source = open_machine();
    remove_file("/proc/7/stat"); /* its folder is still listed */
    put_process_file(42, "stat", "");
    cr_expect_str_eq(ask(source, "*", 6, PFB_NO_ID), "4 0 {init#1 1/4} {_Total#fffffffe 1/4}\n");
    put_stat(41, "ls", BASH);
    put_stat(42, "cat", BASH);
    put_stat(43, "ls", ONES);
    cr_expect_str_eq(ask(source, "ls", 11, 43), "1 0 { 43/4}\n", "the id distinguishes equal names");
    cr_expect_str_eq(ask(source, "ls", 11, PFB_NO_ID), "1 0 { 41/4}\n",
                     "without an id, the first of equal names is used");
    cr_expect_str_eq(instances_of(source), "init#1 ls#29 cat#2a ls#2b _Total#fffffffe ");
    remove_file("/proc/1/stat");
    cr_expect_str_eq(ask(source, "*", 6, PFB_NO_ID),
                     "4 0 {ls#29 4/4} {cat#2a 4/4} {ls#2b 1/4} {_Total#fffffffe 9/4}\n");
    pfb_source_close(source);
}

Test(process, the_total_without_processes_is_0)
{
    put_stat(1, "init", ONES);
    pfb_source *source = open_machine();
    remove_file("/proc/1/stat");
    cr_expect_str_eq(ask(source, "*", 3, PFB_NO_ID), "4 0 {_Total#fffffffe 0/8}\n");
    pfb_source_close(source);
}

/* ---- This machine --------------------------------------------------------------------------------------------- */

/* Finds the test program itself and the id of its parent. */
Test(process, this_machine_can_be_read)
{
    pfb_source *source = pfb_source_open_live(NULL);
    cr_assert(source);
    char expected[64];
    snprintf(expected, sizeof expected, "4 0 {test_process#%x %d/4}\n", (unsigned)getpid(), (int)getppid());
    cr_expect_str_eq(ask(source, "test_p*", 12, (uint32_t)getpid()), expected);
    pfb_source_close(source);
}
