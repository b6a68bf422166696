/* SPDX-License-Identifier: MIT */
#include "live/linux/counterset.h"

#include <stdlib.h>

/* The counterset Memory, from /proc/vmstat and /proc/meminfo. docs/linux.md lists the sources of each counter. */

/* The kernel's values: first those of /proc/vmstat, then, from INFO_FIRST on, those of /proc/meminfo. `needs` has a bit
 * for each. */
enum { FAULTS, AVAILABLE, COMMITTED, LIMIT, CACHED, FREE, NUMBERS, INFO_FIRST = AVAILABLE };

static const char *const keys[NUMBERS] = {
    "pgfault", "MemAvailable:", "Committed_AS:", "CommitLimit:", "Cached:", "MemFree:"};

#define BIT(number) (UINT32_C(1) << (number))

typedef struct memory {
    pfb_single_set single; /* single.known: bits of the values that this sample has */
    uint64_t numbers[NUMBERS];
} memory;

/* ---- Counters ------------------------------------------------------------------------------------------- */

#define RAW PERF_COUNTER_LARGE_RAWCOUNT
#define NOVICE PFB_DETAIL_NOVICE
#define ADVANCED PFB_DETAIL_ADVANCED
#define FRACTION (BIT(COMMITTED) | BIT(LIMIT))

/* Counter ids. */
enum {
    AVAILABLE_BYTES,
    AVAILABLE_KBYTES,
    AVAILABLE_MBYTES,
    COMMITTED_BYTES,
    COMMIT_LIMIT,
    IN_USE,
    IN_USE_BASE,
    CACHE_BYTES,
    FREE_BYTES,
    PAGE_FAULTS,
    COUNTERS
};

/* How each counter is computed: the kernel's value * factor / divisor. Values of /proc/meminfo are in KiB. */
static const struct {
    uint8_t number;
    uint16_t factor;
    uint16_t divisor;
} values[COUNTERS] = {[AVAILABLE_BYTES] = {AVAILABLE, 1024, 1},
                      [AVAILABLE_KBYTES] = {AVAILABLE, 1, 1},
                      [AVAILABLE_MBYTES] = {AVAILABLE, 1, 1024},
                      [COMMITTED_BYTES] = {COMMITTED, 1024, 1},
                      [COMMIT_LIMIT] = {LIMIT, 1024, 1},
                      [IN_USE] = {COMMITTED, 1, 1},
                      [IN_USE_BASE] = {LIMIT, 1, 1},
                      [CACHE_BYTES] = {CACHED, 1024, 1},
                      [FREE_BYTES] = {FREE, 1024, 1},
                      [PAGE_FAULTS] = {FAULTS, 1, 1}};

static const pfb_set_counter counters[COUNTERS] = {
    {AVAILABLE_BYTES, RAW, BIT(AVAILABLE), 0, 0, 0, 0, NOVICE, 0, "Available Bytes",
     "Memory that is available without swapping, in bytes: MemAvailable of /proc/meminfo"},
    {AVAILABLE_KBYTES, RAW, BIT(AVAILABLE), 0, 0, 0, 0, NOVICE, 0, "Available KBytes",
     "Memory that is available without swapping, in KiB: MemAvailable of /proc/meminfo"},
    {AVAILABLE_MBYTES, RAW, BIT(AVAILABLE), 0, 0, 0, 0, NOVICE, 0, "Available MBytes",
     "Memory that is available without swapping, in MiB: MemAvailable of /proc/meminfo"},
    {COMMITTED_BYTES, RAW, BIT(COMMITTED), 0, 0, 0, 0, NOVICE, 0, "Committed Bytes",
     "Memory committed to processes, in bytes: Committed_AS of /proc/meminfo"},
    {COMMIT_LIMIT, RAW, BIT(LIMIT), 0, 0, 0, 0, ADVANCED, 0, "Commit Limit",
     "Memory that can be committed under strict accounting, in bytes: CommitLimit of /proc/meminfo"},
    {IN_USE, PERF_LARGE_RAW_FRACTION, FRACTION, IN_USE_BASE, 0, 0, 0, NOVICE, 0, "% Committed Bytes In Use",
     "Committed_AS in percent of CommitLimit of /proc/meminfo"},
    {IN_USE_BASE, PERF_LARGE_RAW_BASE, FRACTION, 0, 0, 0, 0, NOVICE, PFB_ATTRIBUTE_NO_DISPLAY,
     "% Committed Bytes In Use Base", "Divisor of % Committed Bytes In Use: CommitLimit of /proc/meminfo"},
    {CACHE_BYTES, RAW, BIT(CACHED), 0, 0, 0, 0, NOVICE, 0, "Cache Bytes",
     "Memory that holds contents of files, shared memory included, in bytes: Cached of /proc/meminfo"},
    {FREE_BYTES, RAW, BIT(FREE), 0, 0, 0, 0, ADVANCED, 0, "Free & Zero Page List Bytes",
     "Unused memory, in bytes: MemFree of /proc/meminfo"},
    {PAGE_FAULTS, PERF_COUNTER_COUNTER, BIT(FAULTS), 0, 0, 0, 0, NOVICE, 0, "Page Faults/sec",
     "Page faults of all processes, minor and major: pgfault of /proc/vmstat"},
};

static uint64_t value(const void *context, size_t i, uint32_t needs, const pfb_set_counter *counter)
{
    const memory *m = context;
    (void)i;
    (void)needs;
    return pfb_kernel_scale(m->numbers[values[counter->id].number], values[counter->id].factor,
                            values[counter->id].divisor);
}

/* ---- Opening and sampling ----------------------------------------------------------------------------------- */

/* Reads page faults right before the clock, because Page Faults/sec is the only rate. */
static bool sample(void *context, uint32_t needs, pfb_source_failure *failure)
{
    memory *m = context;
    pfb_kernel_reader *reader = m->single.reader;
    uint32_t known = 0;
    (void)failure;
    if (needs & BIT(FAULTS))
        known = pfb_kernel_take_keys(pfb_kernel_file(reader, "/proc/vmstat"), keys, INFO_FIRST, m->numbers);
    pfb_kernel_clock(reader);
    if (needs & ~BIT(FAULTS))
        known |= pfb_kernel_take_keys(pfb_kernel_file(reader, "/proc/meminfo"), keys + INFO_FIRST, NUMBERS - INFO_FIRST,
                                      m->numbers + INFO_FIRST)
                 << INFO_FIRST;
    m->single.known = known;
    return true;
}

static void *open_memory(pfb_kernel_reader *reader, uint32_t *offered, pfb_source_failure *failure)
{
    memory *m = calloc(1, sizeof *m);
    if (!m) {
        pfb_source_fail_memory(failure);
        return NULL;
    }
    m->single.reader = reader;
    sample(m, BIT(NUMBERS) - 1, failure);
    *offered = m->single.known;
    if (m->single.known != 0)
        return m;
    pfb_source_fail(failure, PFB_WIN32_NOT_SUPPORTED, "/proc has no information about the memory");
    free(m);
    return NULL;
}

/* efca981e-209b-4db4-b120-0b5c19e5643a, chosen at random */
const pfb_counterset pfb_memory_set = {
    .guid = {{0x1e, 0x98, 0xca, 0xef, 0x9b, 0x20, 0xb4, 0x4d, 0xb1, 0x20, 0x0b, 0x5c, 0x19, 0xe5, 0x64, 0x3a}},
    .name = "Memory",
    .help = "Memory of this machine, as the Linux kernel accounts it",
    .counters = counters,
    .counter_count = COUNTERS,
    .open = open_memory,
    .close = free,
    .sample = sample,
    .instance_count = pfb_single_set_count,
    .instance = pfb_single_set_instance,
    .value = value};
