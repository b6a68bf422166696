/* SPDX-License-Identifier: MIT */
#include "live/linux/disk_statistics.h"

#include <stdlib.h>
#include <string.h>

/* The counterset PhysicalDisk, from /proc/diskstats. docs/linux.md lists the sources of each counter. */

typedef struct disk {
    pfb_disk_statistics statistics;
    bool is_device; /* a hardware device, unlike dm, md, loop and ram, which are in memory or use other disks */
} disk;

typedef struct physical_disks {
    pfb_kernel_reader *reader;
    disk *disks; /* in file order */
    size_t count, capacity;
    size_t device_count;
    uint64_t now_100ns; /* when the file was read, by CLOCK_MONOTONIC */
} physical_disks;

/* ---- Values ---------------------------------------------------------------------------------------------- */

static uint64_t disk_value(const physical_disks *set, const disk *d, uint32_t id)
{
    return pfb_disk_value(set->reader, set->now_100ns, &d->statistics, id);
}

/* The total of the hardware devices is the sum of their values, including the bases of percentages and averages: the
 * percentages of the total are means over all devices, and its averages are means over all their transfers. */
static uint64_t value(const void *context, size_t i, uint32_t needs, const pfb_set_counter *counter)
{
    const physical_disks *set = context;
    (void)needs;
    if (i < set->count)
        return disk_value(set, &set->disks[i], counter->id);
    uint64_t sum = 0;
    for (size_t n = 0; n < set->count; n++)
        sum += set->disks[n].is_device ? disk_value(set, &set->disks[n], counter->id) : 0;
    return sum;
}

/* ---- /proc/diskstats ------------------------------------------------------------------------------------------ */

/* Returns true for the name of a partition: the name of its disk, which the kernel lists before it, and a number, with
 * a "p" between them if the disk's name ends in a digit. */
static bool is_partition(pfb_kernel_span disk_name, pfb_kernel_span name)
{
    size_t size = (size_t)(disk_name.end - disk_name.at);
    if (size == 0 || size >= (size_t)(name.end - name.at) || memcmp(disk_name.at, name.at, size) != 0)
        return false;
    name.at += size;
    if (pfb_kernel_is_digit(disk_name.end[-1]) && *name.at++ != 'p')
        return false;
    uint64_t number;
    return pfb_kernel_take_number(&name, &number) && name.at == name.end;
}

/* Returns true if the disk has this file in /sys/block; an empty `file` is the directory itself. */
static bool has_file(pfb_kernel_reader *reader, pfb_kernel_span name, const char *file)
{
    char folder[PFB_DISK_NAME_BYTES + 1];
    size_t size = (size_t)(name.end - name.at);
    for (size_t i = 0; i < size; i++)
        folder[i] = name.at[i] == '/' ? '!' : name.at[i]; /* as in the kernel's directory names */
    folder[size] = '\0';
    return pfb_kernel_exists(reader, "/sys/block/%s/%s", folder, file);
}

static bool add_disk(physical_disks *set, const disk *d)
{
    disk *disks = pfb_source_grow(set->disks, &set->capacity, set->count + 1, sizeof *disks);
    if (!disks)
        return false;
    set->disks = disks;
    disks[set->count++] = *d;
    set->device_count += d->is_device;
    return true;
}

static bool read_disks(physical_disks *set, pfb_kernel_text text)
{
    disk d = {0};
    pfb_kernel_span line;
    pfb_kernel_span previous = {NULL, NULL}; /* name of the previous disk */
    pfb_kernel_span name;
    bool has_folders = pfb_kernel_exists(set->reader, "/sys/block");
    set->count = set->device_count = 0;
    while (pfb_kernel_take_line(&text, &line)) {
        if (!pfb_disk_parse(&line, &d.statistics, &name))
            continue;
        if (has_folders ? !has_file(set->reader, name, "") : is_partition(previous, name))
            continue;
        previous = name;
        d.is_device = has_file(set->reader, name, "device");
        if (!add_disk(set, &d))
            return false;
    }
    return true;
}

/* ---- Operations ----------------------------------------------------------------------------------------------- */

static bool sample(void *context, uint32_t needs, pfb_source_failure *failure)
{
    physical_disks *set = context;
    pfb_kernel_text text;
    (void)needs; /* everything is in one file */
    if (!pfb_kernel_need_file(set->reader, "/proc/diskstats", &text, failure))
        return false;
    set->now_100ns = pfb_kernel_now(CLOCK_MONOTONIC);
    pfb_kernel_clock(set->reader);
    return read_disks(set, text) || pfb_source_fail_memory(failure);
}

static void close_disks(void *context)
{
    physical_disks *set = context;
    free(set->disks);
    free(set);
}

/* The set is not available if /proc/diskstats does not exist, may not be read or lists no disk. */
static void *open_disks(pfb_kernel_reader *reader, uint32_t *offered, pfb_source_failure *failure)
{
    physical_disks *set = malloc(sizeof *set);
    if (!set) {
        pfb_source_fail_memory(failure);
        return NULL;
    }
    *set = (physical_disks){.reader = reader};
    *offered = PFB_DISK_STATISTICS;
    if (sample(set, PFB_DISK_STATISTICS, failure)) {
        if (set->count > 0)
            return set;
        pfb_source_fail(failure, PFB_WIN32_NOT_SUPPORTED, "/proc/diskstats names no disk");
    }
    close_disks(set);
    return NULL;
}

static size_t instance_count(const void *context)
{
    const physical_disks *set = context;
    return set->count + 1;
}

/* The disks, then the total of the hardware devices, if there are any. */
static bool instance(const void *context, size_t i, uint32_t needs, pfb_set_instance *found)
{
    const physical_disks *set = context;
    (void)needs;
    const pfb_disk_statistics *d = i < set->count ? &set->disks[i].statistics : NULL;
    if (d)
        *found = (pfb_set_instance){d->id, pfb_utf8_name(d->name, d->name_size)};
    else
        *found = pfb_set_total();
    return d || set->device_count > 0;
}

/* 2a87a1bd-9cae-49ee-9498-2399d27cc28f, chosen at random */
const pfb_counterset pfb_physical_disk_set = {
    .guid = {{0xbd, 0xa1, 0x87, 0x2a, 0xae, 0x9c, 0xee, 0x49, 0x94, 0x98, 0x23, 0x99, 0xd2, 0x7c, 0xc2, 0x8f}},
    .name = "PhysicalDisk",
    .help = "Disks of this machine, from the statistics of the Linux kernel",
    .instance_type = PFB_INSTANCES_MULTIPLE | PFB_INSTANCES_AGGREGATE,
    .counters = pfb_disk_counters,
    .counter_count = PFB_DISK_STATISTICS_COUNTERS,
    .open = open_disks,
    .close = close_disks,
    .sample = sample,
    .instance_count = instance_count,
    .instance = instance,
    .value = value,
};
