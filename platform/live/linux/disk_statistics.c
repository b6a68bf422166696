/* SPDX-License-Identifier: MIT */
#include "live/linux/disk_statistics.h"

#include <string.h>

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
    BUSY_MS
};

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
    IDLE_TIME
};
_Static_assert(IDLE_TIME + 1 == PFB_DISK_STATISTICS_COUNTERS, "the ids of LogicalDisk alone follow");

#define NONE PFB_AGGREGATE_NONE
#define SUM PFB_AGGREGATE_SUM
#define MEAN PFB_AGGREGATE_MEAN
#define NOVICE PFB_DETAIL_NOVICE
#define ADVANCED PFB_DETAIL_ADVANCED

/* SHOWN is a counter that is displayed, BASE one that only other counters refer to. */
#define SHOWN(id, type, base_id, aggregate, level, name, help)                                                         \
    {                                                                                                                  \
        id, type, PFB_DISK_STATISTICS, base_id, 0, 0, aggregate, level, 0, name, help                                  \
    }
#define BASE(id, type, name, help)                                                                                     \
    {                                                                                                                  \
        id, type, PFB_DISK_STATISTICS, 0, 0, 0, NONE, ADVANCED, PFB_ATTRIBUTE_NO_DISPLAY, name, help                   \
    }

const pfb_set_counter pfb_disk_counters[PFB_DISK_COUNTERS] = {
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
    {PFB_DISK_FREE_SPACE, PERF_RAW_FRACTION, PFB_DISK_SPACE, PFB_DISK_FREE_SPACE_BASE, 0, 0, MEAN, NOVICE, 0,
     "% Free Space", "Space that users may still allocate, in percent of the size of the file system"},
    {PFB_DISK_FREE_SPACE_BASE, PERF_RAW_BASE, PFB_DISK_SPACE, 0, 0, 0, NONE, ADVANCED, PFB_ATTRIBUTE_NO_DISPLAY,
     "% Free Space Base", "Size of the file system in MiB"},
    {PFB_DISK_FREE_MEGABYTES, PERF_COUNTER_RAWCOUNT, PFB_DISK_SPACE, 0, 0, 0, SUM, NOVICE, 0, "Free Megabytes",
     "Space that users may still allocate, in MiB"},
};

/* ---- Values ---------------------------------------------------------------------------------------------- */

/* The statistics of reads, of writes, or of both. */
typedef struct activity {
    uint64_t transfers, sectors, ms;
} activity;

/* Several quantities have three counters with consecutive ids: for both directions, for reads and for writes, in this
 * order. */
typedef enum direction { BOTH, READING, WRITING } direction;

static activity get_activity(const pfb_disk_statistics *d, direction which)
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
static uint64_t idle_100ns(uint64_t now_100ns, const pfb_disk_statistics *d)
{
    const uint64_t end = UINT64_C(10000) << 32;
    uint64_t busy = (d->fields[BUSY_MS] & UINT32_MAX) * 10000;
    return (now_100ns % end + end - busy) % end;
}

/* Sums of counts wrap around, as the kernel's counts do. */
uint64_t pfb_disk_value(const pfb_kernel_reader *reader, uint64_t now_100ns, const pfb_disk_statistics *d, uint32_t id)
{
    uint64_t ticks_per_ms = (uint64_t)reader->times.perf_freq / 1000;
    switch (id) {
    case QUEUE_NOW:
        return d->fields[IN_FLIGHT];
    case TIME_BASE:
        return now_100ns;
    case IDLE_TIME:
        return idle_100ns(now_100ns, d);
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

/* ---- /proc/diskstats ------------------------------------------------------------------------------------------ */

bool pfb_disk_id(uint64_t major, uint64_t minor, uint32_t *id)
{
    enum { MAJOR_MAX = 0xFFF, MINOR_MAX = 0xFFFFF };
    if (major > MAJOR_MAX || minor > MINOR_MAX)
        return false;
    *id = (uint32_t)(major << 20 | minor); /* as the kernel packs it */
    return *id < PFB_TOTAL_ID;             /* PFB_TOTAL_ID and PFB_NO_ID are not ids of disks */
}

static bool parse_device(pfb_kernel_span *line, uint32_t *id)
{
    uint64_t major;
    uint64_t minor;
    return pfb_kernel_take_field(line, &major) && pfb_kernel_take_field(line, &minor) && pfb_disk_id(major, minor, id);
}

bool pfb_disk_parse(pfb_kernel_span *line, pfb_disk_statistics *d, pfb_kernel_span *name)
{
    if (!parse_device(line, &d->id))
        return false;
    pfb_kernel_skip_blanks(line);
    name->at = line->at;
    while (line->at < line->end && *line->at != ' ')
        line->at++;
    name->end = line->at;
    for (unsigned i = 0; i < PFB_DISK_FIELDS; i++) {
        if (!pfb_kernel_take_field(line, &d->fields[i]))
            return false;
    }
    size_t size = (size_t)(name->end - name->at);
    if (size == 0 || size > PFB_DISK_NAME_BYTES)
        return false;
    memcpy(d->name, name->at, size);
    d->name_size = size;
    return true;
}
