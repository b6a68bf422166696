/* SPDX-License-Identifier: MIT */
#ifndef PFB_DISK_STATISTICS_H
#define PFB_DISK_STATISTICS_H

/* Lines of /proc/diskstats and their counters, which PhysicalDisk and LogicalDisk have with the same ids.
 * docs/linux.md lists the sources of each counter. */
#include "live/linux/counterset.h"

enum {
    PFB_DISK_NAME_BYTES = 64, /* the kernel's names are below 32 bytes; disks with names above 64 are skipped */
    PFB_DISK_FIELDS = 10
};

/* A disk or a partition. */
typedef struct pfb_disk_statistics {
    uint32_t id; /* device number: major << 20 | minor */
    size_t name_size;
    char name[PFB_DISK_NAME_BYTES];
    uint64_t fields[PFB_DISK_FIELDS];
} pfb_disk_statistics;

/* Packs a device number. Returns false if it is too large to be an instance id. */
bool pfb_disk_id(uint64_t major, uint64_t minor, uint32_t *id);

/* Parses a line. Returns false if it has another format, a device number that is too large or a name that is too long;
 * `name` is then unchanged or the name in the line. */
bool pfb_disk_parse(pfb_kernel_span *line, pfb_disk_statistics *d, pfb_kernel_span *name);

/* Bits of `needs`. */
enum { PFB_DISK_STATISTICS = 1, PFB_DISK_SPACE = 2 };

/* The counters of both sets: first those of the statistics, then, from PFB_DISK_FREE_SPACE on, those of LogicalDisk
 * alone. Bases and clocks are sums, too, in a total. */
enum {
    PFB_DISK_FREE_SPACE = 24,
    PFB_DISK_FREE_SPACE_BASE,
    PFB_DISK_FREE_MEGABYTES,
    PFB_DISK_COUNTERS,
    PFB_DISK_STATISTICS_COUNTERS = PFB_DISK_FREE_SPACE
};
extern const pfb_set_counter pfb_disk_counters[PFB_DISK_COUNTERS];

/* Returns the raw value of a counter of the statistics. `now_100ns` is when the file was read, by CLOCK_MONOTONIC. */
uint64_t pfb_disk_value(const pfb_kernel_reader *reader, uint64_t now_100ns, const pfb_disk_statistics *d, uint32_t id);

#endif
