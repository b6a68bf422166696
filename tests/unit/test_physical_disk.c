/* SPDX-License-Identifier: MIT */
/* The counterset PhysicalDisk of the live source of Linux. */
#include <criterion/criterion.h>

#include "machine.h"
#include "perfblock/v2.h"
#include "support.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static void make_disk_machine(void)
{
    make_machine();
    put_file("/proc/stat", STAT);
    use_counterset(&disk_guid);
}

TestSuite(physical_disk, .init = make_disk_machine, .fini = remove_machine);

/* Two disks that are hardware devices, and a device-mapper disk above them. */
#define SDA "   8       0 sda 10 1 2000 300 20 2 4000 500 3 600 800 5 5 5 5 6 6\n"
#define SDB "   8      16 sdb 1 0 8 7 2 0 16 9 0 11 16\n"
#define DM0 " 253       0 dm-0 100 0 800 70 200 0 1600 80 1 60 70 0 0 0 0\n"

static void put_disks(void)
{
    put_file("/proc/diskstats", SDA "   8       1 sda1 9 9 9 9 9 9 9 9 9 9 9\n" SDB DM0);
    put_file("/sys/block/sda/device/model", "A\n");
    put_file("/sys/block/sdb/device/model", "B\n");
    put_file("/sys/block/dm-0/size", "1\n");
}

/* ---- Instances, counters ---------------------------------------------------------------------------- */

Test(physical_disk, disks_and_their_total_are_instances)
{
    put_disks();
    pfb_source *source = open_machine();
    cr_expect_str_eq(offered_by(source), "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 ");
    cr_expect_str_eq(instances_of(source), "sda#800000 sdb#800010 dm-0#fd00000 _Total#fffffffe ");
    pfb_source_close(source);
}

/* A partition has the name of the preceding disk and a number, with a "p" between them if the name ends in a digit. */
Test(physical_disk, partitions_are_not_instances)
{
    static const struct {
        const char *names;
        const char *instances;
    } cases[] = {{"sda sda1 sda15 sdaa sdaa2 sdb", "sda#100000 sdaa#100003 sdb#100005 "},
                 {"nvme0n1 nvme0n1p1 nvme0n1p12 nvme0n2", "nvme0n1#100000 nvme0n2#100003 "},
                 {"loop1 loop10 loop1p1", "loop1#100000 loop10#100001 loop1p1#100002 "},
                 {"md0 md0p1 md01 md1", "md0#100000 md01#100002 md1#100003 "},
                 {"xvda1 xvda2", "xvda1#100000 xvda2#100001 "}, /* as on Xen, where there is no whole disk */
                 {"cciss/c0d0 cciss/c0d0p1", "cciss/c0d0#100000 "},
                 {"sda sda1x sdap1 sda", "sda#100000 sda1x#100001 sdap1#100002 sda#100003 "}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[1024] = "";
        char names[128];
        unsigned minor = 0;
        snprintf(names, sizeof names, "%s", cases[i].names);
        for (const char *name = strtok(names, " "); name; name = strtok(NULL, " "))
            snprintf(text + strlen(text), sizeof text - strlen(text), "1 %u %s 0 0 0 0 0 0 0 0 0 0 0\n", minor++, name);
        put_file("/proc/diskstats", text);
        pfb_source *source = open_machine();
        cr_expect_str_eq(instances_of(source), cases[i].instances, "%s", cases[i].names);
        pfb_source_close(source);
    }
}

/* If /sys distinguishes disks from partitions, names do not matter. */
Test(physical_disk, disks_are_the_entries_of_sys_block)
{
    put_file("/proc/diskstats", "9 1 md_data 0 0 0 0 0 0 0 0 0 0 0\n9 2 md_data2 0 0 0 0 0 0 0 0 0 0 0\n"
                                "9 3 part 0 0 0 0 0 0 0 0 0 0 0\n");
    put_file("/sys/block/md_data/size", "1\n");
    put_file("/sys/block/md_data2/size", "1\n");
    pfb_source *source = open_machine();
    cr_expect_str_eq(instances_of(source), "md_data#900001 md_data2#900002 ");
    pfb_source_close(source);
}

Test(physical_disk, a_machine_without_disks_has_no_disk_counterset)
{
    pfb_bytes reply = {0};
    pfb_source_failure failure = {0};
    for (int i = 0; i < 2; i++) {
        pfb_source *source = open_machine();
        cr_expect_not(pfb_source_instances(source, &disk_guid, &reply, &failure));
        cr_expect_eq(failure.code, PFB_WIN32_COUNTERSET_NOT_FOUND);
        pfb_source_close(source);
        put_file("/proc/diskstats", "");
    }
    pfb_bytes_free(&reply);
}

Test(physical_disk, counters_are_those_of_windows)
{
    static const known_counter known[] = {
        {.type = "PERF_COUNTER_RAWCOUNT", .aggregate = 1, .name = "Current Disk Queue Length"},
        {.type = "PERF_PRECISION_100NS_TIMER", .aggregate = 2, .name = "% Disk Time", .base_id = 2},
        {.type = "PERF_PRECISION_TIMESTAMP", .name = "% Disk Time Base", .is_hidden = true},
        {.type = "PERF_COUNTER_100NS_QUEUELEN_TYPE", .aggregate = 1, .name = "Avg. Disk Queue Length"},
        {.type = "PERF_PRECISION_100NS_TIMER", .aggregate = 2, .name = "% Disk Read Time", .base_id = 2},
        {.type = "PERF_COUNTER_100NS_QUEUELEN_TYPE", .aggregate = 1, .name = "Avg. Disk Read Queue Length"},
        {.type = "PERF_PRECISION_100NS_TIMER", .aggregate = 2, .name = "% Disk Write Time", .base_id = 2},
        {.type = "PERF_COUNTER_100NS_QUEUELEN_TYPE", .aggregate = 1, .name = "Avg. Disk Write Queue Length"},
        {.type = "PERF_AVERAGE_TIMER", .name = "Avg. Disk sec/Transfer", .base_id = 11},
        {.type = "PERF_AVERAGE_TIMER", .name = "Avg. Disk sec/Read", .base_id = 12},
        {.type = "PERF_AVERAGE_TIMER", .name = "Avg. Disk sec/Write", .base_id = 13},
        {.type = "PERF_AVERAGE_BASE", .name = "Disk Transfers Base", .is_hidden = true},
        {.type = "PERF_AVERAGE_BASE", .name = "Disk Reads Base", .is_hidden = true},
        {.type = "PERF_AVERAGE_BASE", .name = "Disk Writes Base", .is_hidden = true},
        {.type = "PERF_COUNTER_COUNTER", .aggregate = 1, .name = "Disk Transfers/sec"},
        {.type = "PERF_COUNTER_COUNTER", .aggregate = 1, .name = "Disk Reads/sec"},
        {.type = "PERF_COUNTER_COUNTER", .aggregate = 1, .name = "Disk Writes/sec"},
        {.type = "PERF_COUNTER_BULK_COUNT", .aggregate = 1, .name = "Disk Bytes/sec"},
        {.type = "PERF_COUNTER_BULK_COUNT", .aggregate = 1, .name = "Disk Read Bytes/sec"},
        {.type = "PERF_COUNTER_BULK_COUNT", .aggregate = 1, .name = "Disk Write Bytes/sec"},
        {.type = "PERF_AVERAGE_BULK", .name = "Avg. Disk Bytes/Transfer", .base_id = 11},
        {.type = "PERF_AVERAGE_BULK", .name = "Avg. Disk Bytes/Read", .base_id = 12},
        {.type = "PERF_AVERAGE_BULK", .name = "Avg. Disk Bytes/Write", .base_id = 13},
        {.type = "PERF_PRECISION_100NS_TIMER",
         .aggregate = 2,
         .name = "% Idle Time",
         .base_id = 2,
         .help = "Share of time in which the disk had no request"}};
    put_disks();
    pfb_source *source = open_machine();
    expect_counters(source, PFB_INSTANCES_MULTIPLE | PFB_INSTANCES_AGGREGATE, known, sizeof known / sizeof known[0]);
    pfb_source_close(source);
}

/* ---- Values --------------------------------------------------------------------------------------------------- */

/* Of disk sda: 10 reads of 2000 sectors together took 300 ms, 20 writes of 4000 sectors together 500 ms. The total is
 * that of sda and sdb. Sectors have 512 bytes, times are in 100 ns. */
static const struct {
    unsigned id, bytes;
    uint64_t sda, total;
} values[] = {{0, 4, 3, 3},
              {1, 8, 8000000, 8160000},
              {3, 8, 8000000, 8160000},
              {4, 8, 3000000, 3070000},
              {5, 8, 3000000, 3070000},
              {6, 8, 5000000, 5090000},
              {7, 8, 5000000, 5090000},
              {11, 4, 30, 33},
              {12, 4, 10, 11},
              {13, 4, 20, 22},
              {14, 4, 30, 33},
              {15, 4, 10, 11},
              {16, 4, 20, 22},
              {17, 8, 3072000, 3084288},
              {18, 8, 1024000, 1028096},
              {19, 8, 2048000, 2056192},
              {20, 8, 3072000, 3084288},
              {21, 8, 1024000, 1028096},
              {22, 8, 2048000, 2056192}};

Test(physical_disk, counts_of_a_disk_are_read_and_added_to_the_total)
{
    put_disks();
    pfb_source *source = open_machine();
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        expect_one(source, "sda", values[i].id, values[i].sda, values[i].bytes);
        expect_one(source, "_Total", values[i].id, values[i].total, values[i].bytes);
    }
    expect_one(source, "dm-0", 17, 2400 * 512, 8);
    pfb_source_close(source);
}

/* Collects one sample of all counters of an instance; returns the values by id, and a reader of the freed
 * reply, of which only the header may be used. */
static pfb_v2_reader collect(pfb_source *source, const char *name, uint64_t by_id[24])
{
    pfb_bytes reply = {0};
    pfb_source_query *query = pfb_source_query_open(source, NULL);
    pfb_v2_reader block;
    pfb_v2_result result;
    pfb_v2_instance instance;
    pfb_v2_value value;
    cr_assert_eq(add_to(query, name, PFB_NO_ID, PFB_NO_ID), PFB_WIN32_SUCCESS);
    cr_assert(pfb_source_query_collect(query, &reply, NULL));
    cr_assert(pfb_v2_open(&block, reply.data, reply.size_bytes, STRICT));
    cr_assert(pfb_v2_next_result(&block, &result) && pfb_v2_next_instance(&block, &instance));
    while (pfb_v2_next_value(&block, &value)) {
        cr_assert_lt(value.counter_id, 24);
        by_id[value.counter_id] = value.raw;
    }
    pfb_bytes_free(&reply);
    pfb_source_query_close(query);
    return block;
}

/* Average times are in ticks of the performance clock, modulo 2^32. */
Test(physical_disk, average_times_are_in_ticks)
{
    uint64_t by_id[24];
    put_disks();
    pfb_source *source = open_machine();
    pfb_v2_reader block = collect(source, "sda", by_id);
    uint64_t ticks_per_ms = (uint64_t)block.perf_freq / 1000;
    cr_expect_eq(by_id[8], 800 * ticks_per_ms);
    cr_expect_eq(by_id[9], 300 * ticks_per_ms);
    cr_expect_eq(by_id[10], 500 * ticks_per_ms);
    put_file("/proc/diskstats", "8 0 sda 1 0 0 4294967295 1 0 0 1 0 0 0\n");
    block = collect(source, "sda", by_id);
    cr_expect_eq(by_id[8], 0, "2^32 ms are 0 ticks modulo 2^32");
    cr_expect_eq(by_id[9], (UINT32_MAX * ticks_per_ms) & UINT32_MAX);
    pfb_source_close(source);
}

/* The base is the time of reading. Idle time is that time minus busy time, modulo 2^32 ms. */
Test(physical_disk, idle_time_is_elapsed_time_minus_busy_time)
{
    const uint64_t end = UINT64_C(42949672960000);
    uint64_t by_id[24];
    put_disks();
    pfb_source *source = open_machine();
    uint64_t first = units_of_100ns(CLOCK_MONOTONIC);
    collect(source, "sda", by_id);
    cr_expect(by_id[2] >= first && by_id[2] <= units_of_100ns(CLOCK_MONOTONIC));
    cr_expect_eq((by_id[23] + 600 * 10000) % end, by_id[2] % end);
    cr_expect_lt(by_id[23], end);
    collect(source, "_Total", by_id);
    cr_expect_eq(by_id[2] % 2, 0, "the base of the total is the sum of two disks");
    cr_expect_eq((by_id[23] + 611 * 10000) % end, by_id[2] % end);
    pfb_source_close(source);
}

Test(physical_disk, idle_time_continues_when_busy_time_wraps)
{
    uint64_t older[24];
    uint64_t newer[24];
    put_file("/proc/diskstats", "8 0 sda 0 0 0 0 0 0 0 0 0 4294967290 0\n");
    pfb_source *source = open_machine();
    collect(source, "sda", older);
    put_file("/proc/diskstats", "8 0 sda 0 0 0 0 0 0 0 0 0 4 0\n"); /* 10 ms of busy time later */
    collect(source, "sda", newer);
    cr_expect_eq(newer[23] - older[23], newer[2] - older[2] - 100000);
    pfb_source_close(source);
}

/* ---- Unusual input ---------------------------------------------------------------------------------------------- */

#define LARGEST "18446744073709551615"

/* Times of reads and writes become 2^64 - 1; counts and the busy time wrap. Disks are left out if their device number
 * does not fit an instance id, or is that of _Total. */
Test(physical_disk, times_saturate_and_counts_wrap)
{
    put_file("/proc/diskstats",
             "8 0 sda " LARGEST " 0 " LARGEST " " LARGEST " 2 0 3 " LARGEST " 99999999999999999999 8589934591 0\n"
             "4095 1048573 sdb 0 0 0 0 0 0 0 0 0 0\n4095 1048574 sdc 0 0 0 0 0 0 0 0 0 0\n"
             "4096 0 sdd 0 0 0 0 0 0 0 0 0 0\n0 1048576 sde 0 0 0 0 0 0 0 0 0 0\n");
    pfb_source *source = open_machine();
    cr_expect_str_eq(instances_of(source), "sda#800000 sdb#fffffffd ");
    expect_one(source, "sda", 0, UINT32_MAX, 4);
    expect_one(source, "sda", 1, UINT64_MAX, 8);
    expect_one(source, "sda", 4, UINT64_MAX, 8);
    expect_one(source, "sda", 14, 1, 4);    /* 2^64 - 1 + 2 */
    expect_one(source, "sda", 17, 1024, 8); /* 2^64 - 1 + 3 sectors */
    const uint64_t end = UINT64_C(42949672960000);
    uint64_t by_id[24];
    collect(source, "sda", by_id);
    cr_expect_eq((by_id[23] + UINT64_C(42949672950000)) % end, by_id[2] % end, "busy for 2^32 - 1 ms");
    pfb_source_close(source);
}

Test(physical_disk, malformed_lines_are_skipped)
{
    char text[512];
    snprintf(
        text, sizeof text,
        "\n8 0\n8 0 \n8 0 sda\n8 0 sda 1 2 3 4 5 6 7 8 9\n8 0 sda 1 2 3 4 5 6 7 8 9 x\n8 x sda 1 2 3 4 5 6 7 8 9 0\n"
        "-8 0 sda 1 2 3 4 5 6 7 8 9 0\n8 0 %065d 1 2 3 4 5 6 7 8 9 0\n8 1 %064d 1 2 3 4 5 6 7 8 9 0\n"
        "8 2 s\xff\xc3\xa4 1 2 3 4 5 6 7 8 9 0",
        0, 0);
    put_file("/proc/diskstats", text);
    pfb_source *source = open_machine();
    snprintf(text, sizeof text, "%064d#800001 s\xef\xbf\xbd\xc3\xa4#800002 ", 0);
    cr_expect_str_eq(instances_of(source), text);
    pfb_source_close(source);
}

Test(physical_disk, disks_are_added_and_removed)
{
    put_disks();
    pfb_source *source = open_machine();
    put_file("/sys/block/sdc/size", "0\n");
    put_file("/proc/diskstats", SDB "8 32 sdc 5 0 0 0 0 0 0 0 0 0 0\n");
    cr_expect_str_eq(ask(source, "*", 15, PFB_NO_ID), "4 0 {sdb#800010 1/4} {sdc#800020 5/4} {_Total#fffffffe 1/4}\n",
                     "sdc is not a hardware device yet");
    put_file("/sys/block/sdc/device/model", "C\n");
    cr_expect_str_eq(ask(source, "*", 15, PFB_NO_ID), "4 0 {sdb#800010 1/4} {sdc#800020 5/4} {_Total#fffffffe 6/4}\n");
    put_file("/proc/diskstats", DM0);
    cr_expect_str_eq(ask(source, "*", 15, PFB_NO_ID), "4 0 {dm-0#fd00000 100/4}\n",
                     "without hardware disks there is no total");
    cr_expect_str_eq(ask(source, "_Total", 15, PFB_NO_ID), "0 1069\n");
    put_file("/proc/diskstats", "");
    cr_expect_str_eq(ask(source, "*", 15, PFB_NO_ID), "4 0\n");
    pfb_source_close(source);
}

Test(physical_disk, slashes_in_names_are_exclamation_marks_in_sys)
{
    put_file("/proc/diskstats", "104 0 cciss/c0d0 7 0 0 0 0 0 0 0 0 0 0\n");
    put_file("/sys/block/cciss!c0d0/device/model", "C\n");
    pfb_source *source = open_machine();
    expect_one(source, "_Total", 15, 7, 4);
    pfb_source_close(source);
}

Test(physical_disk, a_sample_fails_without_the_file_and_works_again_with_it)
{
    put_disks();
    pfb_source *source = open_machine();
    pfb_bytes reply = {0};
    pfb_source_failure failure = {0};
    remove_file("/proc/diskstats");
    cr_expect_not(pfb_source_instances(source, &disk_guid, &reply, &failure));
    cr_expect_eq(failure.code, PFB_WIN32_FILE_NOT_FOUND);
    cr_expect(strstr(failure.sentence, "/proc/diskstats cannot be read: No such file"), "%s", failure.sentence);
    put_disks();
    expect_one(source, "sda", 0, 3, 4);
    pfb_bytes_free(&reply);
    pfb_source_close(source);
}
