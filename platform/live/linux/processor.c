/* SPDX-License-Identifier: MIT */
#include "live/linux/counterset.h"
#include "live/linux/kernel_cpus.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The countersets Processor Information and Processor. docs/linux.md lists the sources of each counter. */

enum { NAME_BYTES = 22 }; /* "2147483645,2147483647" and a NUL */

/* The instance id of a node's total. The id of a CPU is its number, the id of the machine's total is PFB_TOTAL_ID. */
#define NODE_TOTAL(node) (UINT32_C(0x80000000) + (node))

typedef struct processor_instance {
    uint32_t id;
    char name[NAME_BYTES];
    size_t first_cpu; /* position in `ordered` of its first CPU */
    size_t cpu_count; /* 1, or the number of CPUs in a total */
} processor_instance;

/* A CPU, in the order of the instances: by node, then by number. Without nodes, all are in node 0. */
typedef struct ordered_cpu {
    uint32_t node;
    uint32_t cpu;
    size_t position; /* in kernel.cpus */
} ordered_cpu;

typedef struct processor {
    pfb_kernel kernel;
    bool has_nodes;                /* Processor Information */
    processor_instance *instances; /* "0,0", "0,1", "0,_Total", "1,2", ..., "_Total"; without nodes "0", "1", ... */
    size_t instance_count;
    size_t instance_capacity;
    ordered_cpu *ordered; /* kernel.cpu_count elements */
    size_t ordered_capacity;
    uint32_t generation; /* kernel.generation when the instances were made */
} processor;

/* ---- Counters ------------------------------------------------------------------------------------------- */

#define TIMES PFB_KERNEL_TIMES
#define STATE(n) PFB_KERNEL_C_STATE(n)
#define MEAN PFB_AGGREGATE_MEAN
#define SUM PFB_AGGREGATE_SUM
#define NOVICE PFB_DETAIL_NOVICE
#define ADVANCED PFB_DETAIL_ADVANCED

/* Ids and types are those of Windows' Processor Information. Processor has the first of these counters. No counter
 * refers to another one. */
enum { PROCESSOR_COUNTERS = 13 };

static const pfb_set_counter counters[] = {
    {0, PERF_100NSEC_TIMER_INV, TIMES, 0, 0, 0, MEAN, NOVICE, 0, "% Processor Time",
     "Share of time in which the processor was not idle: all but idle and iowait of /proc/stat"},
    {1, PERF_100NSEC_TIMER, TIMES, 0, 0, 0, MEAN, NOVICE, 0, "% User Time",
     "Share of time in user mode, guests included: user and nice of /proc/stat"},
    {2, PERF_100NSEC_TIMER, TIMES, 0, 0, 0, MEAN, NOVICE, 0, "% Privileged Time",
     "Share of time in the kernel: system, irq and softirq of /proc/stat"},
    {3, PERF_COUNTER_COUNTER, PFB_KERNEL_INTERRUPTS, 0, 0, 0, SUM, NOVICE, 0, "Interrupts/sec",
     "Interrupts taken by the processor: its column of /proc/interrupts"},
    {4, PERF_100NSEC_TIMER, TIMES, 0, 0, 0, MEAN, ADVANCED, 0, "% DPC Time",
     "Share of time in deferred work of interrupts: softirq of /proc/stat"},
    {5, PERF_100NSEC_TIMER, TIMES, 0, 0, 0, MEAN, ADVANCED, 0, "% Interrupt Time",
     "Share of time in interrupt handlers: irq of /proc/stat"},
    {8, PERF_100NSEC_TIMER, TIMES, 0, 0, 0, MEAN, ADVANCED, 0, "% Idle Time",
     "Share of time in which the processor was idle: idle and iowait of /proc/stat"},
    {9, PERF_100NSEC_TIMER, STATE(1), 0, 0, 0, MEAN, ADVANCED, 0, "% C1 Time",
     "Share of time in idle state C1: its time in cpuidle, counted when the state is left"},
    {10, PERF_100NSEC_TIMER, STATE(2), 0, 0, 0, MEAN, ADVANCED, 0, "% C2 Time",
     "Share of time in idle state C2: its time in cpuidle, counted when the state is left"},
    {11, PERF_100NSEC_TIMER, STATE(3), 0, 0, 0, MEAN, ADVANCED, 0, "% C3 Time",
     "Share of time in idle state C3: its time in cpuidle, counted when the state is left"},
    {12, PERF_COUNTER_BULK_COUNT, STATE(1), 0, 0, 0, SUM, ADVANCED, 0, "C1 Transitions/sec",
     "Entries into idle state C1: its usage in cpuidle"},
    {13, PERF_COUNTER_BULK_COUNT, STATE(2), 0, 0, 0, SUM, ADVANCED, 0, "C2 Transitions/sec",
     "Entries into idle state C2: its usage in cpuidle"},
    {14, PERF_COUNTER_BULK_COUNT, STATE(3), 0, 0, 0, SUM, ADVANCED, 0, "C3 Transitions/sec",
     "Entries into idle state C3: its usage in cpuidle"},
    {15, PERF_100NSEC_TIMER_INV, TIMES, 0, 0, 0, MEAN, ADVANCED, 0, "% Priority Time",
     "Share of time in work of normal or higher priority: all but idle, iowait and nice of /proc/stat"},
    {17, PERF_COUNTER_RAWCOUNT, PFB_KERNEL_FREQUENCY, 0, 0, 0, MEAN, NOVICE, 0, "Processor Frequency",
     "Frequency in MHz: scaling_cur_freq of cpufreq, or cpu MHz of /proc/cpuinfo"},
    {18, PERF_COUNTER_RAWCOUNT, PFB_KERNEL_FREQUENCY | PFB_KERNEL_MAX_FREQUENCY, 0, 0, 0, MEAN, NOVICE, 0,
     "% of Maximum Frequency", "Frequency in percent of the largest: scaling_cur_freq and cpuinfo_max_freq of cpufreq"},
    {20, PERF_COUNTER_COUNTER, PFB_KERNEL_CLOCK_INTERRUPTS, 0, 0, 0, SUM, ADVANCED, 0, "Clock Interrupts/sec",
     "Interrupts of the processor's own timer: its column in row LOC of /proc/interrupts"},
};

/* Returns the ticks of /proc/stat that a counter of times counts. Counters 0 and 15 have inverse timer types: they
 * count the times that they exclude, and evaluation displays the rest of the elapsed time. */
static uint64_t counter_ticks(const pfb_kernel_times *times, uint32_t id)
{
    uint64_t idle = pfb_kernel_add(times->idle, times->iowait);
    switch (id) {
    case 1:
        return pfb_kernel_add(times->user, times->nice);
    case 2:
        return pfb_kernel_add(times->system, pfb_kernel_add(times->irq, times->softirq));
    case 4:
        return times->softirq;
    case 5:
        return times->irq;
    case 15:
        return pfb_kernel_add(idle, times->nice);
    default: /* 0 and 8 */
        return idle;
    }
}

/* Returns the raw value of a counter for one CPU. Times are in units of 100 ns. */
static uint64_t cpu_value(const processor *p, const pfb_kernel_cpu *cpu, uint32_t id)
{
    switch (id) {
    case 3:
        return cpu->interrupts;
    case 9:
    case 10:
    case 11:
        return pfb_kernel_scale(cpu->state_us[id - 9], 10, 1);
    case 12:
    case 13:
    case 14:
        return cpu->state_entries[id - 12];
    case 17:
        return cpu->mhz;
    case 18:
        return cpu->percent_of_max;
    case 20:
        return cpu->clock_interrupts;
    default:
        return pfb_kernel_ticks_to_100ns(p->kernel.reader, counter_ticks(&cpu->times, id));
    }
}

/* ---- Values of instances ------------------------------------------------------------------------------- */

static const pfb_kernel_cpu *cpu_at(const processor *p, const processor_instance *instance, size_t n)
{
    return &p->kernel.cpus[p->ordered[instance->first_cpu + n].position];
}

/* Returns the number of the instance's CPUs that have all of `needs`. */
static size_t complete_count(const processor *p, const processor_instance *instance, uint32_t needs)
{
    size_t count = 0;
    for (size_t i = 0; i < instance->cpu_count; i++)
        count += (cpu_at(p, instance, i)->known & needs) == needs;
    return count;
}

static uint64_t instance_value(const void *context, size_t i, uint32_t needs, const pfb_set_counter *counter)
{
    const processor *p = context;
    const processor_instance *instance = &p->instances[i];
    size_t count = complete_count(p, instance, needs);
    size_t divisor = counter->aggregate == MEAN && count > 0 ? count : 1;
    /* The mean is rounded down once: quotients and remainders are added separately. Sums of counts wrap around, as the
     * kernel's counts do. */
    uint64_t sum = 0;
    uint64_t remainder = 0;
    for (size_t n = 0; n < instance->cpu_count; n++) {
        const pfb_kernel_cpu *cpu = cpu_at(p, instance, n);
        if ((cpu->known & needs) != needs)
            continue;
        uint64_t value = cpu_value(p, cpu, counter->id);
        sum += value / divisor;
        remainder += value % divisor;
    }
    return sum + remainder / divisor;
}

/* ---- Instances ----------------------------------------------------------------------------------------- */

static int compare_ordered(const void *left, const void *right)
{
    const ordered_cpu *a = left;
    const ordered_cpu *b = right;
    if (a->node != b->node)
        return a->node < b->node ? -1 : 1;
    return (a->cpu > b->cpu) - (a->cpu < b->cpu);
}

static void add_instance(processor *p, uint32_t id, size_t first_cpu, size_t cpu_count, const char *name)
{
    processor_instance *instance = &p->instances[p->instance_count++];
    *instance = (processor_instance){.id = id, .first_cpu = first_cpu, .cpu_count = cpu_count};
    snprintf(instance->name, sizeof instance->name, "%s", name);
}

/* Lists the instances in the order of Windows: CPUs by node and number, after each node its total, and last the total
 * of the machine. Without nodes: CPUs by number, and the total. */
static void list_instances(processor *p)
{
    char name[NAME_BYTES];
    size_t count = p->kernel.cpu_count;
    size_t node_start = 0;
    p->instance_count = 0;
    for (size_t i = 0; i < count; i++) {
        const ordered_cpu *entry = &p->ordered[i];
        if (p->has_nodes)
            snprintf(name, sizeof name, "%u,%u", (unsigned)entry->node, (unsigned)entry->cpu);
        else
            snprintf(name, sizeof name, "%u", (unsigned)entry->cpu);
        add_instance(p, entry->cpu, i, 1, name);
        if (!p->has_nodes || (i + 1 < count && p->ordered[i + 1].node == entry->node))
            continue;
        snprintf(name, sizeof name, "%u,_Total", (unsigned)entry->node);
        add_instance(p, NODE_TOTAL(entry->node), node_start, i + 1 - node_start, name);
        node_start = i + 1;
    }
    add_instance(p, PFB_TOTAL_ID, 0, count, "_Total");
}

/* Rebuilds the instances if CPUs or nodes changed. Returns false when memory is exhausted. */
static bool update_instances(processor *p)
{
    const pfb_kernel *kernel = &p->kernel;
    if (p->instance_count > 0 && p->generation == kernel->generation)
        return true;
    p->instance_count = 0;
    ordered_cpu *ordered = pfb_source_grow(p->ordered, &p->ordered_capacity, kernel->cpu_count, sizeof *ordered);
    if (!ordered)
        return false;
    p->ordered = ordered;
    processor_instance *instances = pfb_source_grow(p->instances, &p->instance_capacity, 2 * kernel->cpu_count + 1,
                                                    sizeof *instances); /* each CPU may be in a node of its own */
    if (!instances)
        return false;
    p->instances = instances;
    for (size_t i = 0; i < kernel->cpu_count; i++)
        ordered[i] = (ordered_cpu){p->has_nodes ? kernel->cpus[i].node : 0, kernel->cpus[i].times.cpu, i};
    qsort(ordered, kernel->cpu_count, sizeof *ordered, compare_ordered);
    list_instances(p);
    p->generation = kernel->generation;
    return true;
}

static size_t instance_count(const void *context)
{
    const processor *p = context;
    return p->instance_count;
}

/* Returns false if no CPU of the instance has all data in `needs`. */
static bool instance_at(const void *context, size_t i, uint32_t needs, pfb_set_instance *instance)
{
    const processor *p = context;
    const processor_instance *found = &p->instances[i];
    *instance = (pfb_set_instance){found->id, pfb_utf8_name(found->name, strlen(found->name))};
    return complete_count(p, found, needs) > 0;
}

/* ---- Opening and sampling ----------------------------------------------------------------------------------- */

static bool sample(void *context, uint32_t needs, pfb_source_failure *failure)
{
    processor *p = context;
    if (!pfb_kernel_sample(&p->kernel, needs, failure))
        return false;
    return update_instances(p) || pfb_source_fail_memory(failure);
}

static void *open_cpus(pfb_kernel_reader *reader, bool has_nodes, uint32_t groups, uint32_t *offered,
                       pfb_source_failure *failure)
{
    processor *p = calloc(1, sizeof *p);
    if (!p) {
        pfb_source_fail_memory(failure);
        return NULL;
    }
    p->has_nodes = has_nodes;
    if (!pfb_kernel_open(&p->kernel, reader, groups, failure)) {
        free(p);
        return NULL;
    }
    *offered = p->kernel.offered;
    return p;
}

static void *open_processor_information(pfb_kernel_reader *reader, uint32_t *offered, pfb_source_failure *failure)
{
    return open_cpus(reader, true, PFB_KERNEL_ALL, offered, failure);
}

static void *open_processor(pfb_kernel_reader *reader, uint32_t *offered, pfb_source_failure *failure)
{
    const uint32_t groups = TIMES | PFB_KERNEL_INTERRUPTS | STATE(1) | STATE(2) | STATE(3);
    return open_cpus(reader, false, groups, offered, failure);
}

static void close_processor(void *context)
{
    processor *p = context;
    pfb_kernel_close(&p->kernel);
    free(p->instances);
    free(p->ordered);
    free(p);
}

/* The GUID is that of the counterset of Windows. */
const pfb_counterset pfb_processor_information_set = {
    .guid = {{0x1a, 0x72, 0xfc, 0xb4, 0x78, 0x03, 0x6f, 0x47, 0x89, 0xba, 0xa5, 0xa7, 0x9f, 0x81, 0x0b, 0x36}},
    .name = "Processor Information",
    .help = "Processors of this machine, from the accounting of the Linux kernel",
    .instance_type = PFB_INSTANCES_MULTIPLE | PFB_INSTANCES_AGGREGATE,
    .counters = counters,
    .counter_count = sizeof counters / sizeof counters[0],
    .open = open_processor_information,
    .close = close_processor,
    .sample = sample,
    .instance_count = instance_count,
    .instance = instance_at,
    .value = instance_value};

/* 33f83a38-8762-4e38-b771-92511b8951b7, chosen at random */
const pfb_counterset pfb_processor_set = {
    .guid = {{0x38, 0x3a, 0xf8, 0x33, 0x62, 0x87, 0x38, 0x4e, 0xb7, 0x71, 0x92, 0x51, 0x1b, 0x89, 0x51, 0xb7}},
    .name = "Processor",
    .help = "Processors of this machine without their nodes, from the accounting of the Linux kernel",
    .instance_type = PFB_INSTANCES_MULTIPLE | PFB_INSTANCES_AGGREGATE,
    .counters = counters,
    .counter_count = PROCESSOR_COUNTERS,
    .open = open_processor,
    .close = close_processor,
    .sample = sample,
    .instance_count = instance_count,
    .instance = instance_at,
    .value = instance_value};
