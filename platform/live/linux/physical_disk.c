/* SPDX-License-Identifier: MIT */
#include "live/linux/counterset.h"

#include <stdlib.h>
#include <string.h>

/* The counterset PhysicalDisk, from /proc/diskstats. docs/linux.md lists the sources of each counter. */

/* Fields of a disk, in file order. Times are in ms, modulo 2^32; sectors have 512 bytes. */
enum {
    READS,
    READS_MERGED,
    SECTORS_READ,
    READ_MS,
    WRITES,
    WRITES_MERGED,
    SECTORS_WRITTEN,
    WRITE_MS,
    IN_FLIGHT,
    BUSY_MS,
    FIELDS
};

enum { NAME_BYTES = 64 }; /* the kernel's names are below 32 bytes; disks with names above 64 are skipped */

typedef struct disk {
    uint32_t id;
    size_t name_size;
    char name[NAME_BYTES];
    bool is_device; /* a hardware device, unlike dm, md, loop and ram, which are in memory or use other disks */
    uint64_t fields[FIELDS];
} disk;

typedef struct physical_disks {
    pfb_kernel_reader *reader;
    disk *disks; /* in file order */
    size_t count, capacity;
    size_t device_count;
    uint64_t now_100ns; /* when the file was read, by CLOCK_MONOTONIC */
} physical_disks;

/* ---- Counters ------------------------------------------------------------------------------------------- */

/* Counter ids. */
enum {
    QUEUE_NOW,
    TIME,
    TIME_BASE,
    QUEUE,
    READ_TIME,
    READ_QUEUE,
    WRITE_TIME,
    WRITE_QUEUE,
    SECONDS_PER_TRANSFER,
    SECONDS_PER_READ,
    SECONDS_PER_WRITE,
    TRANSFERS_BASE,
    READS_BASE,
    WRITES_BASE,
    TRANSFER_RATE,
    READ_RATE,
    WRITE_RATE,
    BYTE_RATE,
    READ_BYTE_RATE,
    WRITE_BYTE_RATE,
    BYTES_PER_TRANSFER,
    BYTES_PER_READ,
    BYTES_PER_WRITE,
    IDLE_TIME,
    COUNTERS
};

#define NONE PFB_AGGREGATE_NONE
#define SUM PFB_AGGREGATE_SUM
#define MEAN PFB_AGGREGATE_MEAN
#define NOVICE PFB_DETAIL_NOVICE
#define ADVANCED PFB_DETAIL_ADVANCED

enum { STATISTICS = 1 }; /* the only bit of `needs`: all values are in one file */

/* SHOWN is a counter that is displayed, BASE one that only other counters refer to. */
#define SHOWN(id, type, base_id, aggregate, level, name, help)                                                         \
    {                                                                                                                  \
        id, type, STATISTICS, base_id, 0, 0, aggregate, level, 0, name, help                                           \
    }
#define BASE(id, type, name, help)                                                                                     \
    {                                                                                                                  \
        id, type, STATISTICS, 0, 0, 0, NONE, ADVANCED, PFB_ATTRIBUTE_NO_DISPLAY, name, help                            \
    }

static const pfb_set_counter counters[COUNTERS] = {
    SHOWN(QUEUE_NOW, PERF_COUNTER_RAWCOUNT, 0, SUM, NOVICE, "Current Disk Queue Length",
          "Requests in progress when the statistics were read"),
    SHOWN(TIME, PERF_PRECISION_100NS_TIMER, TIME_BASE, MEAN, NOVICE, "% Disk Time",
          "Time of finished reads and writes, in percent of elapsed time: above 100 % if they overlapped"),
    BASE(TIME_BASE, PERF_PRECISION_TIMESTAMP, "% Disk Time Base", "Time at which the statistics were read"),
    SHOWN(QUEUE, PERF_COUNTER_100NS_QUEUELEN_TYPE, 0, SUM, ADVANCED, "Avg. Disk Queue Length",
          "Average number of reads and writes in progress"),
    SHOWN(READ_TIME, PERF_PRECISION_100NS_TIMER, TIME_BASE, MEAN, NOVICE, "% Disk Read Time",
          "Time of finished reads, in percent of elapsed time"),
    SHOWN(READ_QUEUE, PERF_COUNTER_100NS_QUEUELEN_TYPE, 0, SUM, ADVANCED, "Avg. Disk Read Queue Length",
          "Average number of reads in progress"),
    SHOWN(WRITE_TIME, PERF_PRECISION_100NS_TIMER, TIME_BASE, MEAN, NOVICE, "% Disk Write Time",
          "Time of finished writes, in percent of elapsed time"),
    SHOWN(WRITE_QUEUE, PERF_COUNTER_100NS_QUEUELEN_TYPE, 0, SUM, ADVANCED, "Avg. Disk Write Queue Length",
          "Average number of writes in progress"),
    SHOWN(SECONDS_PER_TRANSFER, PERF_AVERAGE_TIMER, TRANSFERS_BASE, NONE, NOVICE, "Avg. Disk sec/Transfer",
          "Average time of a read or write"),
    SHOWN(SECONDS_PER_READ, PERF_AVERAGE_TIMER, READS_BASE, NONE, NOVICE, "Avg. Disk sec/Read",
          "Average time of a read"),
    SHOWN(SECONDS_PER_WRITE, PERF_AVERAGE_TIMER, WRITES_BASE, NONE, NOVICE, "Avg. Disk sec/Write",
          "Average time of a write"),
    BASE(TRANSFERS_BASE, PERF_AVERAGE_BASE, "Disk Transfers Base", "Reads and writes finished"),
    BASE(READS_BASE, PERF_AVERAGE_BASE, "Disk Reads Base", "Reads finished"),
    BASE(WRITES_BASE, PERF_AVERAGE_BASE, "Disk Writes Base", "Writes finished"),
    SHOWN(TRANSFER_RATE, PERF_COUNTER_COUNTER, 0, SUM, NOVICE, "Disk Transfers/sec", "Reads and writes finished"),
    SHOWN(READ_RATE, PERF_COUNTER_COUNTER, 0, SUM, NOVICE, "Disk Reads/sec", "Reads finished"),
    SHOWN(WRITE_RATE, PERF_COUNTER_COUNTER, 0, SUM, NOVICE, "Disk Writes/sec", "Writes finished"),
    SHOWN(BYTE_RATE, PERF_COUNTER_BULK_COUNT, 0, SUM, NOVICE, "Disk Bytes/sec", "Bytes read and written"),
    SHOWN(READ_BYTE_RATE, PERF_COUNTER_BULK_COUNT, 0, SUM, NOVICE, "Disk Read Bytes/sec", "Bytes read"),
    SHOWN(WRITE_BYTE_RATE, PERF_COUNTER_BULK_COUNT, 0, SUM, NOVICE, "Disk Write Bytes/sec", "Bytes written"),
    SHOWN(BYTES_PER_TRANSFER, PERF_AVERAGE_BULK, TRANSFERS_BASE, NONE, ADVANCED, "Avg. Disk Bytes/Transfer",
          "Bytes of a read or write on average"),
    SHOWN(BYTES_PER_READ, PERF_AVERAGE_BULK, READS_BASE, NONE, ADVANCED, "Avg. Disk Bytes/Read",
          "Bytes of a read on average"),
    SHOWN(BYTES_PER_WRITE, PERF_AVERAGE_BULK, WRITES_BASE, NONE, ADVANCED, "Avg. Disk Bytes/Write",
          "Bytes of a write on average"),
    SHOWN(IDLE_TIME, PERF_PRECISION_100NS_TIMER, TIME_BASE, MEAN, NOVICE, "% Idle Time",
          "Share of time in which the disk had no request"),
};

/* ---- Values ---------------------------------------------------------------------------------------------- */

/* The statistics of reads, of writes, or of both. */
typedef struct activity {
    uint64_t transfers, sectors, ms;
} activity;

/* Several quantities have three counters with consecutive ids: for both directions, for reads and for writes, in this
 * order. */
typedef enum direction { BOTH, READING, WRITING } direction;

static activity get_activity(const disk *d, direction which)
{
    activity reading = {d->fields[READS], d->fields[SECTORS_READ], d->fields[READ_MS]};
    activity writing = {d->fields[WRITES], d->fields[SECTORS_WRITTEN], d->fields[WRITE_MS]};
    if (which != BOTH)
        return which == READING ? reading : writing;
    return (activity){reading.transfers + writing.transfers, reading.sectors + writing.sectors,
                      pfb_kernel_add(reading.ms, writing.ms)};
}

static uint64_t ms_to_100ns(uint64_t ms)
{
    return pfb_kernel_scale(ms, 10000, 1);
}

/* Returns the time of CLOCK_MONOTONIC minus the busy time. Only differences of two samples have a meaning: the idle
 * time between them. The kernel's busy time wraps at 2^32 ms. The result is computed modulo that time, so a difference
 * is correct unless the result itself wraps between the samples. */
static uint64_t idle_100ns(const physical_disks *set, const disk *d)
{
    const uint64_t end = UINT64_C(10000) << 32;
    uint64_t busy = (d->fields[BUSY_MS] & UINT32_MAX) * 10000;
    return (set->now_100ns % end + end - busy) % end;
}

/* Returns the raw value of a counter for a disk. Sums of counts wrap around, as the kernel's counts do. */
static uint64_t disk_value(const physical_disks *set, const disk *d, uint32_t id)
{
    uint64_t ticks_per_ms = (uint64_t)set->reader->times.perf_freq / 1000;
    switch (id) {
    case QUEUE_NOW:
        return d->fields[IN_FLIGHT];
    case TIME_BASE:
        return set->now_100ns;
    case IDLE_TIME:
        return idle_100ns(set, d);
    case TIME:
    case QUEUE:
        return ms_to_100ns(get_activity(d, BOTH).ms);
    case READ_TIME:
    case READ_QUEUE:
        return ms_to_100ns(d->fields[READ_MS]);
    case WRITE_TIME:
    case WRITE_QUEUE:
        return ms_to_100ns(d->fields[WRITE_MS]);
    case SECONDS_PER_TRANSFER:
    case SECONDS_PER_READ:
    case SECONDS_PER_WRITE:
        return get_activity(d, (direction)(id - SECONDS_PER_TRANSFER)).ms * ticks_per_ms;
    case TRANSFERS_BASE:
    case READS_BASE:
    case WRITES_BASE:
        return get_activity(d, (direction)(id - TRANSFERS_BASE)).transfers;
    case TRANSFER_RATE:
    case READ_RATE:
    case WRITE_RATE:
        return get_activity(d, (direction)(id - TRANSFER_RATE)).transfers;
    case BYTE_RATE:
    case READ_BYTE_RATE:
    case WRITE_BYTE_RATE:
        return get_activity(d, (direction)(id - BYTE_RATE)).sectors * 512;
    default: /* BYTES_PER_TRANSFER and the two that follow */
        return get_activity(d, (direction)(id - BYTES_PER_TRANSFER)).sectors * 512;
    }
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

/* Parses a device number and packs major and minor as the kernel does. */
static bool parse_device(pfb_kernel_span *line, uint32_t *id)
{
    enum { MAJOR_MAX = 0xFFF, MINOR_MAX = 0xFFFFF };
    uint64_t major;
    uint64_t minor;
    if (!pfb_kernel_take_field(line, &major) || !pfb_kernel_take_field(line, &minor) || major > MAJOR_MAX ||
        minor > MINOR_MAX)
        return false;
    *id = (uint32_t)(major << 20 | minor);
    return *id < PFB_TOTAL_ID; /* PFB_TOTAL_ID and PFB_NO_ID are not ids of disks */
}

/* Parses a line of /proc/diskstats. */
static bool parse_disk(pfb_kernel_span *line, disk *d, pfb_kernel_span *name)
{
    if (!parse_device(line, &d->id))
        return false;
    pfb_kernel_skip_blanks(line);
    name->at = line->at;
    while (line->at < line->end && *line->at != ' ')
        line->at++;
    name->end = line->at;
    for (unsigned i = 0; i < FIELDS; i++) {
        if (!pfb_kernel_take_field(line, &d->fields[i]))
            return false;
    }
    size_t size = (size_t)(name->end - name->at);
    if (size == 0 || size > NAME_BYTES)
        return false;
    memcpy(d->name, name->at, size);
    d->name_size = size;
    return true;
}

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
    char folder[NAME_BYTES + 1];
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
        if (!parse_disk(&line, &d, &name))
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
    *offered = STATISTICS;
    if (sample(set, STATISTICS, failure)) {
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
    if (i < set->count)
        *found = (pfb_set_instance){set->disks[i].id, pfb_utf8_name(set->disks[i].name, set->disks[i].name_size)};
    else
        *found = pfb_set_total();
    return i < set->count || set->device_count > 0;
}

/* 2a87a1bd-9cae-49ee-9498-2399d27cc28f, chosen at random */
const pfb_counterset pfb_physical_disk_set = {
    .guid = {{0xbd, 0xa1, 0x87, 0x2a, 0xae, 0x9c, 0xee, 0x49, 0x94, 0x98, 0x23, 0x99, 0xd2, 0x7c, 0xc2, 0x8f}},
    .name = "PhysicalDisk",
    .help = "Disks of this machine, from the statistics of the Linux kernel",
    .instance_type = PFB_INSTANCES_MULTIPLE | PFB_INSTANCES_AGGREGATE,
    .counters = counters,
    .counter_count = COUNTERS,
    .open = open_disks,
    .close = close_disks,
    .sample = sample,
    .instance_count = instance_count,
    .instance = instance,
    .value = value,
};
