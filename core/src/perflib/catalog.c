/* SPDX-License-Identifier: MIT */
#include "perfblock/catalog.h"

#include "bytes/memory.h"
#include "bytes/never.h"
#include "bytes/store.h"

enum { PROCESSOR_INFORMATION = 0, GPU_ENGINE = 2, GPU_ADAPTER_MEMORY = 3, GPU_PROCESS_MEMORY = 4 };

/* A GUID from the groups of its text form. */
#define GUID(a, b, c, d0, d1, d2, d3, d4, d5, d6, d7)                                                                  \
    {                                                                                                                  \
        {                                                                                                              \
            (uint8_t)(a), (uint8_t)((a) >> 8), (uint8_t)((a) >> 16), (uint8_t)((a) >> 24), (uint8_t)(b),               \
                (uint8_t)((b) >> 8), (uint8_t)(c), (uint8_t)((c) >> 8), d0, d1, d2, d3, d4, d5, d6, d7                 \
        }                                                                                                              \
    }

/* clang-format off */
static const pfb_catalog_set sets[] = {
    [PROCESSOR_INFORMATION] =
    {GUID(0xb4fc721au, 0x0378, 0x476f, 0x89, 0xba, 0xa5, 0xa7, 0x9f, 0x81, 0x0b, 0x36), "Processor Information", PFB_INSTANCES_MULTIPLE | PFB_INSTANCES_AGGREGATE, true},
    {GUID(0x52bc5412u, 0xdac2, 0x449c, 0x8b, 0xc2, 0x96, 0x44, 0x38, 0x88, 0xfe, 0x6b), "Thermal Zone Information", PFB_INSTANCES_MULTIPLE, false},
    [GPU_ENGINE] =
    {GUID(0x978c167du, 0x4764, 0x4d9c, 0x98, 0x24, 0x14, 0x74, 0x73, 0x51, 0xdc, 0x81), "GPU Engine", PFB_INSTANCES_MULTIPLE, true},
    [GPU_ADAPTER_MEMORY] =
    {GUID(0xbe2139c7u, 0xab81, 0x424d, 0xb1, 0x07, 0xd8, 0x7f, 0x7c, 0x93, 0x22, 0xac), "GPU Adapter Memory", PFB_INSTANCES_MULTIPLE, true},
    [GPU_PROCESS_MEMORY] =
    {GUID(0xf802502bu, 0x77b4, 0x4713, 0x81, 0xb3, 0x3b, 0xe0, 0x57, 0x59, 0xda, 0x5d), "GPU Process Memory", PFB_INSTANCES_MULTIPLE, true},
    {GUID(0xf9ed01f5u, 0x8f3e, 0x4956, 0x97, 0x3f, 0x9f, 0x05, 0xbc, 0x96, 0xf4, 0x89), "GPU Non Local Adapter Memory", PFB_INSTANCES_MULTIPLE, false},
    {GUID(0x227419d5u, 0xf6d8, 0x4fb7, 0x85, 0xd6, 0x2c, 0xac, 0x17, 0x25, 0xe4, 0xa9), "GPU Local Adapter Memory", PFB_INSTANCES_MULTIPLE, false},
    {GUID(0xbfe2736bu, 0xc79f, 0x4f36, 0xbd, 0x15, 0x28, 0x97, 0xa1, 0xa9, 0x1d, 0x4a), "DFS Replicated Folders", PFB_INSTANCES_MULTIPLE, false},
};

#define NONE PFB_NO_ID
#define TIMER UINT32_C(0x20510500)     /* PERF_100NSEC_TIMER */
#define TIMER_INV UINT32_C(0x21510500) /* PERF_100NSEC_TIMER_INV */
#define RATE UINT32_C(0x10410400)      /* PERF_COUNTER_COUNTER */
#define BULK UINT32_C(0x10410500)      /* PERF_COUNTER_BULK_COUNT */
#define RAW UINT32_C(0x00010000)       /* PERF_COUNTER_RAWCOUNT */
#define PRECISION UINT32_C(0x20570500) /* PERF_PRECISION_100NS_TIMER */
#define TIMESTAMP UINT32_C(0x40030500) /* PERF_PRECISION_TIMESTAMP */
#define AVERAGE UINT32_C(0x40020500)   /* PERF_AVERAGE_BULK */
#define AVG_BASE UINT32_C(0x40030402)  /* PERF_AVERAGE_BASE */

/* Sorted by counterset and id. */
static const pfb_catalog_counter catalog_counters[] = {
    {PROCESSOR_INFORMATION, true, 0, TIMER_INV, NONE, "% Processor Time"},
    {PROCESSOR_INFORMATION, true, 1, TIMER, NONE, "% User Time"},
    {PROCESSOR_INFORMATION, true, 2, TIMER, NONE, "% Privileged Time"},
    {PROCESSOR_INFORMATION, true, 3, RATE, NONE, "Interrupts/sec"},
    {PROCESSOR_INFORMATION, true, 4, TIMER, NONE, "% DPC Time"},
    {PROCESSOR_INFORMATION, true, 5, TIMER, NONE, "% Interrupt Time"},
    {PROCESSOR_INFORMATION, true, 6, RATE, NONE, "DPCs Queued/sec"},
    {PROCESSOR_INFORMATION, true, 7, RAW, NONE, "DPC Rate"},
    {PROCESSOR_INFORMATION, true, 8, TIMER, NONE, "% Idle Time"},
    {PROCESSOR_INFORMATION, true, 9, TIMER, NONE, "% C1 Time"},
    {PROCESSOR_INFORMATION, true, 10, TIMER, NONE, "% C2 Time"},
    {PROCESSOR_INFORMATION, true, 11, TIMER, NONE, "% C3 Time"},
    {PROCESSOR_INFORMATION, true, 12, BULK, NONE, "C1 Transitions/sec"},
    {PROCESSOR_INFORMATION, true, 13, BULK, NONE, "C2 Transitions/sec"},
    {PROCESSOR_INFORMATION, true, 14, BULK, NONE, "C3 Transitions/sec"},
    {PROCESSOR_INFORMATION, true, 15, TIMER_INV, NONE, "% Priority Time"},
    {PROCESSOR_INFORMATION, true, 16, RAW, NONE, "Parking Status"},
    {PROCESSOR_INFORMATION, true, 17, RAW, NONE, "Processor Frequency"},
    {PROCESSOR_INFORMATION, true, 18, RAW, NONE, "% of Maximum Frequency"},
    {PROCESSOR_INFORMATION, true, 19, RAW, NONE, "Processor State Flags"},
    {PROCESSOR_INFORMATION, true, 20, RATE, NONE, "Clock Interrupts/sec"},
    {PROCESSOR_INFORMATION, true, 21, PRECISION, 22, "Average Idle Time"},
    {PROCESSOR_INFORMATION, true, 22, TIMESTAMP, NONE, "Average Idle Time Base"},
    {PROCESSOR_INFORMATION, true, 23, BULK, NONE, "Idle Break Events/sec"},
    {PROCESSOR_INFORMATION, true, 24, AVERAGE, 25, "% Processor Performance"},
    {PROCESSOR_INFORMATION, true, 25, AVG_BASE, NONE, "% Processor Performance Base"},
    {PROCESSOR_INFORMATION, true, 26, AVERAGE, 27, "% Processor Utility"},
    {PROCESSOR_INFORMATION, true, 27, AVG_BASE, NONE, "% Utility Base"},
    {PROCESSOR_INFORMATION, true, 28, AVERAGE, 27, "% Privileged Utility"},
    {PROCESSOR_INFORMATION, true, 30, RAW, NONE, "% Performance Limit"},
    {PROCESSOR_INFORMATION, true, 31, RAW, NONE, "Performance Limit Flags"},
    {GPU_ENGINE, false, 1, 0, NONE, "Running Time"},
    {GPU_ENGINE, true, 2, TIMER, NONE, "Utilization Percentage"},
    {GPU_ADAPTER_MEMORY, false, 1, 0, NONE, "Total Committed"},
    {GPU_ADAPTER_MEMORY, false, 2, 0, NONE, "Dedicated Usage"},
    {GPU_ADAPTER_MEMORY, false, 3, 0, NONE, "Shared Usage"},
    {GPU_PROCESS_MEMORY, false, 1, 0, NONE, "Total Committed"},
    {GPU_PROCESS_MEMORY, false, 2, 0, NONE, "Local Usage"},
    {GPU_PROCESS_MEMORY, false, 3, 0, NONE, "Non Local Usage"},
    {GPU_PROCESS_MEMORY, false, 4, 0, NONE, "Dedicated Usage"},
    {GPU_PROCESS_MEMORY, false, 5, 0, NONE, "Shared Usage"},
};
/* clang-format on */

#define SET_COUNT (sizeof sets / sizeof sets[0])
#define COUNTER_COUNT (sizeof catalog_counters / sizeof catalog_counters[0])

/* ---- Look-up -------------------------------------------------------------------------------------------- */

const pfb_catalog_set *pfb_catalog_set_at(size_t position)
{
    return position < SET_COUNT ? &sets[position] : NULL;
}

const pfb_catalog_set *pfb_catalog_find(const pfb_guid *guid)
{
    for (size_t i = 0; i < SET_COUNT; i++) {
        if (pfb_guid_equal(&sets[i].guid, guid))
            return &sets[i];
    }
    return NULL;
}

const pfb_catalog_counter *pfb_catalog_counter_at(const pfb_catalog_set *set, size_t n)
{
    size_t position = (size_t)(set - sets);
    for (size_t i = 0; i < COUNTER_COUNT; i++) {
        if (catalog_counters[i].set == position && n-- == 0)
            return &catalog_counters[i];
    }
    return NULL;
}

/* ---- Registration ---------------------------------------------------------------------------------------- */

static pfb_name catalog_name(const char *ascii)
{
    /* With a bound, no compiler replaces the loop by a call of strlen, which core must not use. */
    enum { MAX_BYTES = 256 };
    size_t size = 0;
    while (PFB_ALWAYS(size < MAX_BYTES) && ascii[size] != '\0') /* every name of the catalog is shorter */
        size++;
    return pfb_utf8_name(ascii, size);
}

static void write_counters(const pfb_catalog_set *set, pfb_writer *writer)
{
    enum { ADVANCED = 200 };
    const pfb_catalog_counter *row;
    uint32_t count = 0;
    for (size_t n = 0; (row = pfb_catalog_counter_at(set, n)) != NULL; n++)
        count += row->has_type;
    pfb_write_counterset(writer, &set->guid, ADVANCED, set->instance_type, count);
    for (size_t n = 0; (row = pfb_catalog_counter_at(set, n)) != NULL; n++) {
        pfb_counter counter = {.id = row->id,
                               .type = row->type,
                               .detail_level = ADVANCED,
                               .base_id = row->base_id,
                               .perf_time_id = PFB_NO_ID,
                               .perf_freq_id = PFB_NO_ID,
                               .multi_id = PFB_NO_ID};
        if (row->has_type)
            pfb_write_counter(writer, &counter);
    }
}

static void write_counter_names(const pfb_catalog_set *set, pfb_writer *writer)
{
    const pfb_catalog_counter *row;
    uint32_t count = 0;
    while (pfb_catalog_counter_at(set, count))
        count++;
    pfb_write_begin_strings(writer, count);
    for (size_t n = 0; (row = pfb_catalog_counter_at(set, n)) != NULL; n++) {
        pfb_name name = catalog_name(row->name);
        pfb_write_counter_string(writer, row->id, &name);
    }
    pfb_write_end_strings(writer);
}

bool pfb_catalog_registration(const pfb_catalog_set *set, uint32_t request, pfb_writer *writer)
{
    pfb_name name = catalog_name(set->name);
    switch (request) {
    case PFB_REQUEST_COUNTERSET:
        write_counters(set, writer);
        return true;
    case PFB_REQUEST_COUNTERSET_NAME:
    case PFB_REQUEST_COUNTERSET_ENGLISH_NAME:
        pfb_write_string(writer, &name);
        return true;
    case PFB_REQUEST_COUNTER_NAMES:
    case PFB_REQUEST_COUNTER_ENGLISH_NAMES:
        write_counter_names(set, writer);
        return true;
    default:
        return false;
    }
}
