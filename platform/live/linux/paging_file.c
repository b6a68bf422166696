/* SPDX-License-Identifier: MIT */
#include "live/linux/counterset.h"

#include <stdlib.h>
#include <unistd.h>

/* The counterset Paging File, from /proc/swaps. docs/linux.md lists the sources of each counter. */

enum { NAME_BYTES = 255 }; /* swap areas with longer names are skipped */

/* A swap area. Sizes are in KiB. */
typedef struct swap {
    size_t name_size;
    char name[NAME_BYTES + 1]; /* path of the file or device */
    uint64_t size, used;
} swap;

typedef struct swaps {
    pfb_kernel_reader *reader;
    swap *list; /* in file order */
    size_t count, capacity;
    uint64_t page_bytes;
} swaps;

/* ---- Counters ------------------------------------------------------------------------------------------- */

/* Counter ids. */
enum { USAGE, USAGE_BASE, COUNTERS };

enum { SIZES = 1 }; /* the only bit of `needs`: all values are in one file */

static const pfb_set_counter counters[COUNTERS] = {
    {USAGE, PERF_RAW_FRACTION, SIZES, USAGE_BASE, 0, 0, PFB_AGGREGATE_MEAN, PFB_DETAIL_NOVICE, 0, "% Usage",
     "Used part of the swap area in percent"},
    {USAGE_BASE, PERF_RAW_BASE, SIZES, 0, 0, 0, PFB_AGGREGATE_NONE, PFB_DETAIL_ADVANCED, PFB_ATTRIBUTE_NO_DISPLAY,
     "% Usage Base", "Size of the swap area in pages"},
};

/* Returns pages, as on Windows, or the largest number of 4 bytes. The total is that of all areas. */
static uint64_t value(const void *context, size_t i, uint32_t needs, const pfb_set_counter *counter)
{
    const swaps *set = context;
    uint64_t sum = 0;
    (void)needs;
    for (size_t n = 0; n < set->count; n++) {
        if (n == i || i == set->count)
            sum = pfb_kernel_add(sum, counter->id == USAGE ? set->list[n].used : set->list[n].size);
    }
    uint64_t pages = pfb_kernel_scale(sum, 1024, set->page_bytes);
    return pages < UINT32_MAX ? pages : UINT32_MAX;
}

/* ---- Operations ----------------------------------------------------------------------------------------------- */

/* Parses "/dev/sda2  partition  8388604  1024  -2", in KiB. Returns false for the line with titles. */
static bool parse_swap(pfb_kernel_span line, swap *parsed)
{
    parsed->name_size = pfb_kernel_take_name(&line, parsed->name, sizeof parsed->name);
    pfb_kernel_next_word(&line); /* type */
    return parsed->name_size > 0 && pfb_kernel_take_field(&line, &parsed->size) &&
           pfb_kernel_take_field(&line, &parsed->used);
}

static bool sample(void *context, uint32_t needs, pfb_source_failure *failure)
{
    swaps *set = context;
    swap parsed;
    pfb_kernel_text text;
    pfb_kernel_span line;
    (void)needs;
    if (!pfb_kernel_need_file(set->reader, "/proc/swaps", &text, failure))
        return false;
    pfb_kernel_clock(set->reader);
    set->count = 0;
    while (pfb_kernel_take_line(&text, &line)) {
        if (!parse_swap(line, &parsed))
            continue;
        swap *list = pfb_source_grow(set->list, &set->capacity, set->count + 1, sizeof *list);
        if (!list)
            return pfb_source_fail_memory(failure);
        set->list = list;
        list[set->count++] = parsed;
    }
    return true;
}

static void close_swaps(void *context)
{
    swaps *set = context;
    free(set->list);
    free(set);
}

/* The set is available with /proc/swaps. Without swap areas it has no instances, as on Windows. */
static void *open_swaps(pfb_kernel_reader *reader, uint32_t *offered, pfb_source_failure *failure)
{
    swaps *set = malloc(sizeof *set);
    if (!set) {
        pfb_source_fail_memory(failure);
        return NULL;
    }
    long page_bytes = sysconf(_SC_PAGESIZE);
    *set = (swaps){.reader = reader, .page_bytes = page_bytes > 0 ? (uint64_t)page_bytes : 4096};
    *offered = SIZES;
    if (sample(set, SIZES, failure))
        return set;
    close_swaps(set);
    return NULL;
}

static size_t instance_count(const void *context)
{
    const swaps *set = context;
    return set->count > 0 ? set->count + 1 : 0;
}

/* The swap areas with their positions as ids, then the total. */
static bool instance(const void *context, size_t i, uint32_t needs, pfb_set_instance *found)
{
    const swaps *set = context;
    (void)needs;
    *found = i == set->count
                 ? pfb_set_total()
                 : (pfb_set_instance){(uint32_t)i, pfb_utf8_name(set->list[i].name, set->list[i].name_size)};
    return true;
}

/* 3fd4ddca-9033-4429-b4e2-2bca932dceee, chosen at random */
const pfb_counterset pfb_paging_file_set = {
    .guid = {{0xca, 0xdd, 0xd4, 0x3f, 0x33, 0x90, 0x29, 0x44, 0xb4, 0xe2, 0x2b, 0xca, 0x93, 0x2d, 0xce, 0xee}},
    .name = "Paging File",
    .help = "Swap files and partitions of this machine",
    .instance_type = PFB_INSTANCES_MULTIPLE | PFB_INSTANCES_AGGREGATE,
    .counters = counters,
    .counter_count = COUNTERS,
    .open = open_swaps,
    .close = close_swaps,
    .sample = sample,
    .instance_count = instance_count,
    .instance = instance,
    .value = value,
};
