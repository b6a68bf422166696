/* SPDX-License-Identifier: MIT */
/* The counterset LogicalDisk of the live source of Linux. */
#include <criterion/criterion.h>

#include "machine.h"
#include "support.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>

static void make_volume_machine(void)
{
    make_machine();
    put_file("/proc/stat", STAT);
    use_counterset(&volume_guid);
}

TestSuite(logical_disk, .init = make_volume_machine, .fini = remove_machine);

/* Replaces the function of the system, also for shared libraries: the file .space in a folder has the size of a block,
 * the number of blocks, the number of free blocks, and the number of those that users may allocate. */
__attribute__((visibility("default"))) int statvfs(const char *restrict path, struct statvfs *restrict space)
{
    char name[512];
    unsigned long long numbers[4];
    snprintf(name, sizeof name, "%s/.space", path);
    FILE *file = fopen(name, "r");
    int count = file ? fscanf(file, "%llu %llu %llu %llu", &numbers[0], &numbers[1], &numbers[2], &numbers[3]) : 0;
    if (file)
        fclose(file);
    errno = EACCES;
    if (count != 4)
        return -1;
    *space = (struct statvfs){.f_bsize = 1,
                              .f_frsize = (unsigned long)numbers[0],
                              .f_blocks = (fsblkcnt_t)numbers[1],
                              .f_bfree = (fsblkcnt_t)numbers[2],
                              .f_bavail = (fsblkcnt_t)numbers[3]};
    return 0;
}

#define ROOT "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
#define PROC "23 22 0:21 / /proc rw - proc proc rw\n"
#define HOME "24 22 8:17 / /home rw master:1 propagate_from:2 - xfs /dev/sdb1 rw\n"

static void put_volumes(void)
{
    put_file("/proc/self/mountinfo", ROOT PROC HOME);
    put_file("/proc/diskstats", "   8       0 sda 9 9 9 9 9 9 9 9 9 9 9\n"
                                "   8       1 sda1 10 1 2000 300 20 2 4000 500 3 600 800 5 5 5 5 6 6\n"
                                "   8      17 sdb1 1 0 8 7 2 0 16 9 0 11 16\n");
    put_file("/.space", "4096 256000 128000 64000\n");    /* 1000 MiB, 250 of them for users */
    put_file("/home/.space", "1048576 3000 2000 1500\n"); /* 3000 MiB */
}

/* ---- Instances ------------------------------------------------------------------------------------------------- */

static void expect_instances(const char *mounts, const char *instances)
{
    put_file("/proc/self/mountinfo", mounts);
    pfb_source *source = open_machine();
    cr_expect_str_eq(instances_of(source), instances, "%s", mounts);
    pfb_source_close(source);
}

Test(logical_disk, file_systems_on_disks_are_instances)
{
    put_volumes();
    put_file("/tank/.space", "4096 1000 500 400\n");
    put_file("/btrfs/.space", "4096 1000 500 400\n");
    expect_instances(ROOT PROC HOME, "/#800001 /home#800011 _Total#fffffffe ");
    expect_instances(ROOT "1 1 0:40 / /mnt rw - nfs4 server:/x rw\n2 1 0:41 / /media rw - fuse.sshfs a@b: rw\n"
                          "3 1 0:42 / /tmp rw - tmpfs tmpfs rw\n4 1 0:43 / /dev/shm rw - tmpfs /dev rw\n"
                          "5 1 7:1 / /snap/x ro - squashfs /dev/loop1 ro\n6 1 11:0 / /cd ro - iso9660 /dev/sr0 ro\n"
                          "7 1 254:3 / /image ro - erofs /dev/dm-3 ro\n",
                     "/#800001 _Total#fffffffe ");
    expect_instances(ROOT "1 1 0:40 / /tank rw - zfs tank rw\n2 1 0:41 /@x /btrfs rw - btrfs /dev/sdc2 rw\n"
                          "3 1 8:33 / /nofree ro - squashfss /dev/sdc1 ro\n",
                     "/#800001 /tank#28 /btrfs#29 /nofree#800021 _Total#fffffffe ");
    expect_instances("1 1 0:40 / / rw - overlay overlay rw\n", "/#28 _Total#fffffffe ");
}

/* The mount point nearest to the root represents a file system, and the last mount on a mount point hides the others.
 */
Test(logical_disk, each_file_system_is_listed_once)
{
    put_volumes();
    expect_instances(ROOT "1 1 8:2 /a /etc/hosts rw - ext4 /dev/sda2 rw\n2 1 8:2 / /data rw - ext4 /dev/sda2 rw\n"
                          "3 1 8:2 /b /mnt/b rw - ext4 /dev/sda2 rw\n4 1 8:1 /home /srv rw - ext4 /dev/sda1 rw\n",
                     "/#800001 /data#800002 _Total#fffffffe ");
    expect_instances("1 1 8:2 /x /b rw - ext4 /dev/sda2 rw\n2 1 8:2 /y /a rw - ext4 /dev/sda2 rw\n" ROOT,
                     "/b#800002 /#800001 _Total#fffffffe ");
    expect_instances("1 1 0:1 / / rw - rootfs rootfs rw\n" HOME "2 1 8:1 / / rw - ext4 /dev/sda1 rw\n",
                     "/home#800011 /#800001 _Total#fffffffe ");
}

Test(logical_disk, escapes_in_mount_points_are_replaced)
{
    char name[300];
    char line[600];
    put_volumes();
    expect_instances("1 1 8:1 / /a\\040b\\011\\134\\012 rw - ext4 /dev/sda1 rw\n",
                     "/a b\t\\\n#800001 _Total#fffffffe ");
    expect_instances("1 1 8:1 / /a\\04\\x\\08a\\400\\ rw - ext4 /dev/sda1 rw\n",
                     "/a\\04\\x\\08a\\400\\#800001 _Total#fffffffe ");
    for (size_t size = 255; size <= 256; size++) {
        memset(name, 'x', sizeof name);
        name[0] = '/';
        name[size] = '\0';
        snprintf(line, sizeof line, ROOT "1 1 8:2 / %s rw - ext4 /dev/sda2 rw\n", name);
        put_file("/proc/self/mountinfo", line);
        pfb_source *source = open_machine();
        cr_expect_eq(strstr(instances_of(source), name) != NULL, size == 255, "%zu", size);
        pfb_source_close(source);
    }
}

Test(logical_disk, malformed_lines_are_skipped)
{
    static const char *const lines[] = {"",
                                        "1",
                                        "1 1",
                                        "1 1 8",
                                        "1 1 8:",
                                        "1 1 8:x / /x rw - ext4 /dev/x rw",
                                        "1 1 :1 / /x rw - ext4 /dev/x rw",
                                        "1 1 4096:1 / /x rw - ext4 /dev/x rw",
                                        "1 1 8:1048576 / /x rw - ext4 /dev/x rw",
                                        "1 1 4095:1048574 / /x rw - ext4 /dev/x rw",
                                        "1 1 8:2 /",
                                        "1 1 8:2 / x rw - ext4 /dev/x rw",
                                        "1 1 0:9 / /x rw - - -",
                                        "1 1 0:9 / /x rw ext4 /dev/x rw"};
    put_volumes();
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        char text[256];
        snprintf(text, sizeof text, ROOT "%s\n", lines[i]);
        expect_instances(text, "/#800001 _Total#fffffffe ");
    }
}

Test(logical_disk, a_machine_without_file_systems_has_no_counterset)
{
    static const char *const texts[] = {NULL, "", PROC, HOME};
    pfb_bytes reply = {0};
    pfb_source_failure failure = {0};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (texts[i])
            put_file("/proc/self/mountinfo", texts[i]);
        pfb_source *source = open_machine();
        cr_expect_not(pfb_source_instances(source, &volume_guid, &reply, &failure), "case %zu", i);
        cr_expect_eq(failure.code, PFB_WIN32_COUNTERSET_NOT_FOUND);
        pfb_source_close(source);
    }
    pfb_bytes_free(&reply);
}

/* ---- Counters ------------------------------------------------------------------------------------------------- */

#define ALL "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 "
#define OF_STATISTICS "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 "

Test(logical_disk, counters_are_those_of_physical_disk_and_those_of_space)
{
    static const known_counter space[] = {
        {.type = "PERF_RAW_FRACTION", .aggregate = 2, .name = "% Free Space", .base_id = 25},
        {.type = "PERF_RAW_BASE", .name = "% Free Space Base", .is_hidden = true},
        {.type = "PERF_COUNTER_RAWCOUNT", .aggregate = 1, .name = "Free Megabytes"}};
    put_volumes();
    put_file("/sys/block/sda/device/model", "A\n");
    pfb_source *source = open_machine();
    cr_expect_str_eq(offered_by(source), ALL);
    expect_last_counters(source, &disk_guid, PFB_INSTANCES_MULTIPLE | PFB_INSTANCES_AGGREGATE, space, 24, 27);
    pfb_source_close(source);
}

/* Counters are offered if at least half of the file systems have them. */
Test(logical_disk, counters_need_the_statistics_or_the_space_of_half_of_the_file_systems)
{
    put_volumes();
    remove_file("/home/.space");
    put_file("/proc/diskstats", "   8      17 sdb1 1 0 8 7 2 0 16 9 0 11 16\n");
    pfb_source *source = open_machine();
    cr_expect_str_eq(offered_by(source), ALL, "each bit of one of two");
    cr_expect_str_eq(ask(source, "*", 26, PFB_NO_ID), "4 0 {/#800001 250/4} {_Total#fffffffe 250/4}\n");
    cr_expect_str_eq(ask(source, "*", 14, PFB_NO_ID), "4 0 {/home#800011 3/4} {_Total#fffffffe 3/4}\n");
    cr_expect_str_eq(ask(source, "/", 14, PFB_NO_ID), "0 1069\n");
    pfb_source_close(source);
    put_file("/proc/self/mountinfo", ROOT HOME "1 1 8:2 / /x rw - ext4 /dev/sda2 rw\n");
    put_file("/x/.space", "1048576 1 1 1\n");
    source = open_machine();
    cr_expect_str_eq(offered_by(source), "24 25 26 ", "statistics of one of three");
    pfb_source_close(source);
    put_volumes();
    remove_file("/.space");
    remove_file("/home/.space");
    source = open_machine();
    cr_expect_str_eq(offered_by(source), OF_STATISTICS);
    pfb_source_close(source);
}

/* ---- Values --------------------------------------------------------------------------------------------------- */

/* Of /dev/sda1: 10 reads of 2000 sectors together took 300 ms, 20 writes of 4000 sectors together 500 ms. */
Test(logical_disk, values_are_those_of_the_device_and_of_the_file_system)
{
    static const struct {
        unsigned id, bytes;
        uint64_t root, total;
    } values[] = {{0, 4, 3, 3},       {1, 8, 8000000, 8160000}, {14, 4, 30, 33},   {17, 8, 3072000, 3084288},
                  {24, 4, 250, 1750}, {25, 4, 1000, 4000},      {26, 4, 250, 1750}};
    put_volumes();
    pfb_source *source = open_machine();
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        expect_one(source, "/", values[i].id, values[i].root, values[i].bytes);
        expect_one(source, "_Total", values[i].id, values[i].total, values[i].bytes);
    }
    pfb_source_close(source);
}

/* Btrfs has anonymous device numbers; its source names the device. */
Test(logical_disk, devices_of_anonymous_file_systems_are_those_of_their_sources)
{
    static const struct {
        const char *source;
        const char *number;
        const char *data;
    } cases[] = {{"/dev/sda1", "8:1\n", "1 0 { 30/4}\n"},
                 {"/dev/sda1", "8:2\n", "0 1069\n"},
                 {"/dev/sda1", "8\n", "0 1069\n"},
                 {"/dev/sda1", "8:\n", "0 1069\n"},
                 {"/dev/sda1", "x\n", "0 1069\n"},
                 {"/dev/sda1", "4096:1\n", "0 1069\n"},
                 {"/dev/sda2", "8:1\n", "0 1069\n"},
                 {"/dev/mapper/sda1", "8:1\n", "0 1069\n"},
                 {"/dev/0123456789012345678901234567890123456789012345678901234567890123456", "8:1\n", "0 1069\n"}};
    put_volumes();
    pfb_source *source = open_machine();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[512];
        snprintf(text, sizeof text, HOME "1 1 0:40 /@ / rw - btrfs %s rw\n", cases[i].source);
        put_file("/proc/self/mountinfo", text);
        put_file("/sys/class/block/sda1/dev", cases[i].number);
        cr_expect_str_eq(ask(source, "/", 14, PFB_NO_ID), cases[i].data, "case %zu", i);
    }
    pfb_source_close(source);
}

Test(logical_disk, space_is_counted_in_whole_mebibytes_up_to_4_bytes)
{
    static const struct {
        const char *space;
        const char *free_data;
        const char *size_data;
    } cases[] = {{"512 4097 4000 2049", "1 0 { 1/4}\n", "1 0 { 2/4}\n"},
                 {"1048576 4294967295 1 4294967294", "1 0 { 4294967294/4}\n", "1 0 { 4294967295/4}\n"},
                 {"1048576 4294967297 1 4294967296", "1 0 { 4294967295/4}\n", "1 0 { 4294967295/4}\n"},
                 {"4294967295 18446744073709551615 1 1", "1 0 { 4095/4}\n", "1 0 { 4294967295/4}\n"},
                 {"4294967296 1 1 1", "0 1069\n", "0 1069\n"},
                 {"0 1 1 1", "0 1069\n", "0 1069\n"},
                 {"4096 0 0 0", "0 1069\n", "0 1069\n"}};
    put_volumes();
    pfb_source *source = open_machine();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        put_file("/.space", cases[i].space);
        cr_expect_str_eq(ask(source, "/", 26, PFB_NO_ID), cases[i].free_data, "case %zu", i);
        cr_expect_str_eq(ask(source, "/", 25, PFB_NO_ID), cases[i].size_data, "case %zu", i);
    }
    put_file("/home/.space", "1048576 4294967295 1 4294967295\n");
    put_file("/.space", "1048576 5 5 5\n");
    expect_one(source, "_Total", 26, UINT32_MAX, 4);
    pfb_source_close(source);
}

/* A query for space does not read the statistics, and the reverse. */
Test(logical_disk, file_systems_appear_and_disappear)
{
    put_volumes();
    pfb_source *source = open_machine();
    put_file("/proc/self/mountinfo", HOME);
    cr_expect_str_eq(ask(source, "*", 26, PFB_NO_ID), "4 0 {/home#800011 1500/4} {_Total#fffffffe 1500/4}\n");
    put_file("/proc/self/mountinfo", PROC);
    cr_expect_str_eq(ask(source, "*", 26, PFB_NO_ID), "4 0 {_Total#fffffffe 0/4}\n");
    put_file("/proc/self/mountinfo", HOME ROOT);
    remove_file("/proc/diskstats");
    cr_expect_str_eq(ask(source, "*", 14, PFB_NO_ID), "4 0 {_Total#fffffffe 0/4}\n");
    pfb_source_close(source);
}
