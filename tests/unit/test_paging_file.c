/* SPDX-License-Identifier: MIT */
/* The counterset Paging File of the live source of Linux. */
#include <criterion/criterion.h>

#include "machine.h"
#include "support.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void make_swap_machine(void)
{
    make_machine();
    put_file("/proc/stat", STAT);
    use_counterset(&swap_guid);
}

TestSuite(paging_file, .init = make_swap_machine, .fini = remove_machine);

#define TITLES "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"

/* Returns the number of pages of an amount in KiB. */
static uint64_t pages(uint64_t kib)
{
    return kib * 1024 / (uint64_t)sysconf(_SC_PAGESIZE);
}

Test(paging_file, swap_areas_and_their_total_are_instances)
{
    put_file("/proc/swaps", TITLES "/dev/dm-1                               partition\t8388608\t\t1048576\t\t-2\n"
                                   "/var/swap\\040file file 4194304 64 -3\n");
    pfb_source *source = open_machine();
    cr_expect_str_eq(offered_by(source), "0 1 ");
    cr_expect_str_eq(instances_of(source), "/dev/dm-1#0 /var/swap file#1 _Total#fffffffe ");
    expect_one(source, "/dev/dm-1", 0, pages(1048576), 4);
    expect_one(source, "/dev/dm-1", 1, pages(8388608), 4);
    expect_one(source, "/var/swap file", 0, pages(64), 4);
    expect_one(source, "_Total", 0, pages(1048576 + 64), 4);
    expect_one(source, "_Total", 1, pages(8388608 + 4194304), 4);
    put_file("/proc/swaps", TITLES "/var/swap\\040file file 4194304 64 -3\n");
    cr_expect_str_eq(instances_of(source), "/var/swap file#0 _Total#fffffffe ");
    pfb_source_close(source);
}

Test(paging_file, counters_are_those_of_windows)
{
    static const known_counter known[] = {
        {.type = "PERF_RAW_FRACTION", .aggregate = 2, .name = "% Usage", .base_id = 1},
        {.type = "PERF_RAW_BASE", .name = "% Usage Base", .is_hidden = true}};
    put_file("/proc/swaps", TITLES);
    pfb_source *source = open_machine();
    expect_counters(source, PFB_INSTANCES_MULTIPLE | PFB_INSTANCES_AGGREGATE, known, sizeof known / sizeof known[0]);
    cr_expect_str_eq(ask(source, "*", 1, PFB_NO_ID), "4 0\n", "a machine without swap areas");
    pfb_source_close(source);
}

Test(paging_file, malformed_lines_are_skipped_and_large_numbers_are_the_maximum)
{
    char name[300];
    char text[600];
    memset(name, 'x', sizeof name);
    for (size_t size = 255; size <= 256; size++) {
        snprintf(text, sizeof text,
                 "\n/a file\n/b file 1\n/c file x 1\n/d\\000 file 1 1\n/e file 18446744073709551615 1\n"
                 "%.*s file 4 4\n",
                 (int)size, name);
        put_file("/proc/swaps", text);
        pfb_source *source = open_machine();
        expect_one(source, "/e", 1, UINT32_MAX, 4);
        cr_expect_eq(strstr(instances_of(source), "xxx") != NULL, size == 255);
        expect_one(source, "_Total", 1, UINT32_MAX, 4);
        expect_one(source, "_Total", 0, size == 255 ? pages(5) : pages(1), 4);
        pfb_source_close(source);
    }
}

Test(paging_file, a_kernel_without_swap_has_no_counterset)
{
    pfb_bytes reply = {0};
    pfb_source_failure failure = {0};
    pfb_source *source = open_machine();
    cr_expect_not(pfb_source_instances(source, &swap_guid, &reply, &failure));
    cr_expect_eq(failure.code, PFB_WIN32_COUNTERSET_NOT_FOUND);
    pfb_source_close(source);
    pfb_bytes_free(&reply);
}
