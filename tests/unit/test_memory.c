/* SPDX-License-Identifier: MIT */
/* The counterset Memory of the live source of Linux. */
#include "perfblock/live.h"
#include <criterion/criterion.h>

#include "machine.h"

#include <stdio.h>
#include <string.h>

static void make_memory_machine(void)
{
    make_machine();
    use_counterset(&memory_guid);
}

TestSuite(memory, .init = make_memory_machine, .fini = remove_machine);

/* ---- Values --------------------------------------------------------------------------------------------------- */

/* /proc/meminfo with 3000 KiB free, 7001 available, 2048 cached, a commit limit of 6000, and 1500 committed. */
#define MEMINFO                                                                                                        \
    "MemTotal:       16000 kB\n"                                                                                       \
    "MemFree:         3000 kB\n"                                                                                       \
    "MemAvailable:    7001 kB\n"                                                                                       \
    "Buffers:           11 kB\n"                                                                                       \
    "Cached:          2048 kB\n"                                                                                       \
    "SwapCached:         5 kB\n"                                                                                       \
    "CommitLimit:     6000 kB\n"                                                                                       \
    "Committed_AS:    1500 kB\n"                                                                                       \
    "HugePages_Total:     0\n"

#define VMSTAT "nr_free_pages 750\npgpgin 9\npgfault 4294967300\npgmajfault 12\n"

static const char everything[] =
    "2 0 { 0=7169024/8 1=7001/8 2=6/8 3=1536000/8 4=6144000/8 5=1500/8 6=6000/8 7=2097152/8 8=3072000/8 9=4/4}\n";

static void put_memory(void)
{
    put_file("/proc/meminfo", MEMINFO);
    put_file("/proc/vmstat", VMSTAT);
}

Test(memory, a_query_of_one_counter_has_the_value_in_a_query_of_all)
{
    static const char *const values[] = {"7169024/8", "7001/8", "6/8",       "1536000/8", "6144000/8",
                                         "1500/8",    "6000/8", "2097152/8", "3072000/8", "4/4"};
    put_memory();
    pfb_source *source = open_machine(); /* without /proc/stat, Memory is the only counterset */
    cr_expect_str_eq(offered_by(source), "0 1 2 3 4 5 6 7 8 9 ");
    cr_expect_str_eq(ask(source, NULL, PFB_NO_ID, PFB_NO_ID), everything);
    for (uint32_t counter = 0; counter < 10; counter++) {
        char expected[64];
        snprintf(expected, sizeof expected, "1 0 { %s}\n", values[counter]);
        cr_expect_str_eq(ask(source, NULL, counter, PFB_NO_ID), expected, "counter %u", (unsigned)counter);
    }
    pfb_source_close(source);
}

Test(memory, counters_are_those_of_windows)
{
    static const known_counter known[] = {
        {.type = "PERF_COUNTER_LARGE_RAWCOUNT",
         .name = "Available Bytes",
         .help = "Memory that is available without swapping, in bytes: MemAvailable of /proc/meminfo"},
        {.type = "PERF_COUNTER_LARGE_RAWCOUNT", .name = "Available KBytes"},
        {.type = "PERF_COUNTER_LARGE_RAWCOUNT", .name = "Available MBytes"},
        {.type = "PERF_COUNTER_LARGE_RAWCOUNT", .name = "Committed Bytes"},
        {.type = "PERF_COUNTER_LARGE_RAWCOUNT", .name = "Commit Limit"},
        {.type = "PERF_LARGE_RAW_FRACTION", .name = "% Committed Bytes In Use", .base_id = 6},
        {.type = "PERF_LARGE_RAW_BASE", .name = "% Committed Bytes In Use Base", .is_hidden = true},
        {.type = "PERF_COUNTER_LARGE_RAWCOUNT", .name = "Cache Bytes"},
        {.type = "PERF_COUNTER_LARGE_RAWCOUNT", .name = "Free & Zero Page List Bytes"},
        {.type = "PERF_COUNTER_COUNTER", .name = "Page Faults/sec"}};
    put_memory();
    pfb_source *source = open_machine();
    expect_counters(source, 0, known, sizeof known / sizeof known[0]);
    pfb_source_close(source);
}

/* ---- The single instance ----------------------------------------------------------------------------------------- */

Test(memory, no_name_and_patterns_that_match_an_empty_name_select_the_instance)
{
    static const struct {
        const char *name;
        uint32_t instance;
        const char *data;
    } cases[] = {
        {NULL, PFB_NO_ID, "1 0 { 7001/8}\n"}, {"", PFB_NO_ID, "1 0 { 7001/8}\n"}, {"*", PFB_NO_ID, "1 0 { 7001/8}\n"},
        {"**", PFB_NO_ID, "1 0 { 7001/8}\n"}, {NULL, 0, "1 0 { 7001/8}\n"},       {NULL, 1, "0 1069\n"},
        {"?", PFB_NO_ID, "0 1069\n"},         {"_Total", PFB_NO_ID, "0 1069\n"},  {"Memory", PFB_NO_ID, "0 1069\n"}};
    put_memory();
    pfb_source *source = open_machine();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        cr_expect_str_eq(ask(source, cases[i].name, 1, cases[i].instance), cases[i].data, "case %zu", i);
    cr_expect_str_eq(ask(source, "*", PFB_NO_ID, PFB_NO_ID), everything,
                     "the reply to a pattern has a single instance without name");
    pfb_source_close(source);
}

Test(memory, instances_cannot_be_listed)
{
    put_memory();
    pfb_source *source = open_machine();
    pfb_bytes reply = {0};
    pfb_source_failure failure = {0};
    cr_expect_not(pfb_source_instances(source, &memory_guid, &reply, &failure));
    cr_expect(failure.code == PFB_WIN32_INSTANCE_NOT_FOUND && reply.size_bytes == 0);
    pfb_bytes_free(&reply);
    pfb_source_close(source);
}

/* ---- Missing values ---------------------------------------------------------------------------------------------- */

Test(memory, counters_with_values_in_proc_are_offered)
{
    static const struct {
        const char *meminfo;
        const char *vmstat;
        const char *offered;
    } cases[] = {
        {MEMINFO, "", "0 1 2 3 4 5 6 7 8 "},
        {"", VMSTAT, "9 "},
        {"MemFree: 1 kB\n", "", "8 "},
        {"Committed_AS: 1 kB\n", "", "3 "},
        {"CommitLimit: 1 kB\n", "", "4 "},
        {"CommitLimit: 1 kB\nCommitted_AS: 1", "", "3 4 5 6 "},
        {"MemFree: none\nMemFree 5 kB\n MemFree: 6 kB\nMemFree:7 kB\nMemFree: 8kB\nMemFree: -9 kB\nCached:\t3", "",
         "7 "},
        {"\n\nMemFree:\nMemFree: \n\xff\xfeMemFree: 1\n", "pgfault\npgfaults 5\npgfault 0\n", "9 "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        put_file("/proc/meminfo", cases[i].meminfo);
        put_file("/proc/vmstat", cases[i].vmstat);
        pfb_source *source = open_machine();
        cr_expect_str_eq(offered_by(source), cases[i].offered, "case %zu", i);
        pfb_source_close(source);
    }
}

/* The first line with a key is used, and large numbers saturate. */
Test(memory, large_numbers_do_not_wrap)
{
    put_file("/proc/meminfo", "MemAvailable: 18014398509481983 kB\nMemAvailable: 1 kB\nMemFree: 18014398509481984 kB\n"
                              "Cached: 99999999999999999999999 kB\n");
    pfb_source *source = open_machine();
    cr_expect_str_eq(ask(source, NULL, 0, PFB_NO_ID), "1 0 { 18446744073709550592/8}\n");
    cr_expect_str_eq(ask(source, NULL, 2, PFB_NO_ID), "1 0 { 17592186044415/8}\n");
    cr_expect_str_eq(ask(source, NULL, 8, PFB_NO_ID), "1 0 { 18446744073709551615/8}\n");
    cr_expect_str_eq(ask(source, NULL, 7, PFB_NO_ID), "1 0 { 18446744073709551615/8}\n");
    pfb_source_close(source);
}

Test(memory, a_missing_value_affects_only_queries_of_it)
{
    put_memory();
    pfb_source *source = open_machine();
    put_file("/proc/meminfo", "MemAvailable: 5 kB\nCommitted_AS: 6 kB\n");
    cr_expect_str_eq(ask(source, NULL, 1, PFB_NO_ID), "1 0 { 5/8}\n");
    cr_expect_str_eq(ask(source, NULL, 4, PFB_NO_ID), "0 1069\n");
    cr_expect_str_eq(ask(source, NULL, 5, PFB_NO_ID), "0 1069\n", "a fraction without a base");
    cr_expect_str_eq(ask(source, NULL, PFB_NO_ID, PFB_NO_ID), "0 1069\n");
    cr_expect_str_eq(ask(source, NULL, 9, PFB_NO_ID), "1 0 { 4/4}\n", "a counter of another file");
    remove_file("/proc/meminfo");
    cr_expect_str_eq(ask(source, NULL, 1, PFB_NO_ID), "0 1069\n");
    put_file("/proc/meminfo", MEMINFO);
    cr_expect_str_eq(ask(source, NULL, PFB_NO_ID, PFB_NO_ID), everything);
    pfb_source_close(source);
}

Test(memory, this_machine_has_memory_counters)
{
    pfb_source *source = pfb_source_open_live(NULL);
    cr_assert(source);
    cr_expect(strncmp(offered_by(source), "0 1 2 3 4 5 6 7 8 ", 18) == 0);
    cr_expect(strncmp(ask(source, NULL, PFB_NO_ID, PFB_NO_ID), "2 0 { 0=", 8) == 0);
    pfb_source_close(source);
}
