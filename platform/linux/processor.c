/* SPDX-License-Identifier: MIT */
#include "processor.h"

#include "source_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const pfb_guid pfb_processor_guid = {
    {0x1a, 0x72, 0xfc, 0xb4, 0x78, 0x03, 0x6f, 0x47, 0x89, 0xba, 0xa5, 0xa7, 0x9f, 0x81, 0x0b, 0x36}};

/* 55b494d5-fa0e-49a2-8aed-eb8fe7ef2597, chosen at random for this provider: data of Windows never carry it */
const pfb_guid pfb_processor_provider_guid = {
    {0xd5, 0x94, 0xb4, 0x55, 0x0e, 0xfa, 0xa2, 0x49, 0x8a, 0xed, 0xeb, 0x8f, 0xe7, 0xef, 0x25, 0x97}};

/* ---- Counters ------------------------------------------------------------------------------------------- */

enum { SUM = 1, MEAN = 2 }; /* aggregate functions, as registered */
enum { NOVICE = 100, ADVANCED = 200 };

#define STATE(n) PFB_KERNEL_C_STATE(n)

typedef struct counter_row {
    uint32_t id;
    uint32_t needs;
    uint8_t aggregate;
    uint8_t detail_level;
    char help[150];
} counter_row;

/* Names and types are the catalog's. */
static const counter_row counters[PFB_PROCESSOR_COUNTERS] = {
    {0, PFB_KERNEL_TIMES, MEAN, NOVICE,
     "Share of time in which the processor was not idle: all but idle and iowait of /proc/stat"},
    {1, PFB_KERNEL_TIMES, MEAN, NOVICE, "Share of time in user mode, guests included: user and nice of /proc/stat"},
    {2, PFB_KERNEL_TIMES, MEAN, NOVICE, "Share of time in the kernel: system, irq and softirq of /proc/stat"},
    {3, PFB_KERNEL_INTERRUPTS, SUM, NOVICE, "Interrupts taken by the processor: its column of /proc/interrupts"},
    {4, PFB_KERNEL_TIMES, MEAN, ADVANCED, "Share of time in deferred work of interrupts: softirq of /proc/stat"},
    {5, PFB_KERNEL_TIMES, MEAN, ADVANCED, "Share of time in interrupt handlers: irq of /proc/stat"},
    {8, PFB_KERNEL_TIMES, MEAN, ADVANCED,
     "Share of time in which the processor was idle: idle and iowait of /proc/stat"},
    {9, STATE(1), MEAN, ADVANCED,
     "Share of time in idle state C1: its time in cpuidle, counted when the state is left"},
    {10, STATE(2), MEAN, ADVANCED,
     "Share of time in idle state C2: its time in cpuidle, counted when the state is left"},
    {11, STATE(3), MEAN, ADVANCED,
     "Share of time in idle state C3: its time in cpuidle, counted when the state is left"},
    {12, STATE(1), SUM, ADVANCED, "Entries into idle state C1: its usage in cpuidle"},
    {13, STATE(2), SUM, ADVANCED, "Entries into idle state C2: its usage in cpuidle"},
    {14, STATE(3), SUM, ADVANCED, "Entries into idle state C3: its usage in cpuidle"},
    {15, PFB_KERNEL_TIMES, MEAN, ADVANCED,
     "Share of time in work of normal or higher priority: all but idle, iowait and nice of /proc/stat"},
    {17, PFB_KERNEL_FREQUENCY, MEAN, NOVICE,
     "Frequency in MHz: scaling_cur_freq of cpufreq, or cpu MHz of /proc/cpuinfo"},
    {18, PFB_KERNEL_FREQUENCY | PFB_KERNEL_MAX_FREQUENCY, MEAN, NOVICE,
     "Frequency in percent of the largest: scaling_cur_freq and cpuinfo_max_freq of cpufreq"},
    {20, PFB_KERNEL_CLOCK_INTERRUPTS, SUM, ADVANCED,
     "Interrupts of the processor's own timer: its column in row LOC of /proc/interrupts"},
};

static uint64_t add(uint64_t a, uint64_t b)
{
    return a <= UINT64_MAX - b ? a + b : UINT64_MAX;
}

/* a * factor / divisor, rounded down; the largest number when that has no room. Requires factor * divisor < 2^64. */
static uint64_t scale(uint64_t a, uint64_t factor, uint64_t divisor)
{
    uint64_t whole = a / divisor;
    return whole > UINT64_MAX / factor ? UINT64_MAX : add(whole * factor, a % divisor * factor / divisor);
}

/* The ticks of /proc/stat that a timer counts. */
static uint64_t ticks_of(const pfb_kernel_times *times, uint32_t id)
{
    uint64_t idle = add(times->idle, times->iowait);
    switch (id) {
    case 1:
        return add(times->user, times->nice);
    case 2:
        return add(times->system, add(times->irq, times->softirq));
    case 4:
        return times->softirq;
    case 5:
        return times->irq;
    case 15:
        return add(idle, times->nice);
    default: /* 0 and 8: the one is displayed as the complement of the other */
        return idle;
    }
}

/* The raw value of a counter for one CPU. Times are in units of 100 ns. */
static uint64_t value_of(const pfb_processor *processor, const pfb_kernel_cpu *cpu, uint32_t id)
{
    switch (id) {
    case 3:
        return cpu->interrupts;
    case 9:
    case 10:
    case 11:
        return scale(cpu->state_us[id - 9], 10, 1);
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
        return scale(ticks_of(&cpu->times, id), 10000000, processor->ticks_per_second);
    }
}

bool pfb_processor_find(const pfb_processor *processor, uint32_t id, uint32_t *position)
{
    for (uint32_t i = 0; i < processor->counter_count; i++) {
        if (processor->ids[i] == id) {
            *position = i;
            return true;
        }
    }
    return false;
}

uint32_t pfb_processor_needs(const pfb_processor *processor, uint32_t position, uint32_t count)
{
    uint32_t needs = 0;
    for (uint32_t i = position; i < position + count; i++)
        needs |= counters[processor->rows[i]].needs;
    return needs;
}

/* ---- Values of instances ------------------------------------------------------------------------------- */

static const pfb_kernel_cpu *cpu_at(const pfb_processor *processor, const pfb_processor_instance *instance, size_t n)
{
    return &processor->kernel.cpus[processor->places[instance->first_place + n].position];
}

/* How many of the instance's CPUs have all that is needed. */
static size_t complete_count(const pfb_processor *processor, const pfb_processor_instance *instance, uint32_t needs)
{
    size_t count = 0;
    for (size_t i = 0; i < instance->place_count; i++)
        count += (cpu_at(processor, instance, i)->known & needs) == needs;
    return count;
}

bool pfb_processor_has(const pfb_processor *processor, const pfb_processor_instance *instance, uint32_t needs)
{
    return complete_count(processor, instance, needs) > 0;
}

void pfb_processor_write(const pfb_processor *processor, const pfb_processor_instance *instance, uint32_t needs,
                         uint32_t position, pfb_builder *builder)
{
    uint32_t id = processor->ids[position];
    size_t count = complete_count(processor, instance, needs);
    size_t divisor = counters[processor->rows[position]].aggregate == MEAN && count > 0 ? count : 1;
    uint64_t sum = 0;       /* of the quotients, which cannot pass 2^64 when there is one for each of the divisor; */
    uint64_t remainder = 0; /* and of the remainders: so the mean is exact. Sums of counts wrap, as counts do */
    for (size_t i = 0; i < instance->place_count; i++) {
        const pfb_kernel_cpu *cpu = cpu_at(processor, instance, i);
        if ((cpu->known & needs) != needs)
            continue;
        uint64_t value = value_of(processor, cpu, id);
        sum += value / divisor;
        remainder += value % divisor;
    }
    bool is_large = (processor->facts[position]->type & 0x300) == 0x100; /* the size bits of a counter type */
    pfb_builder_value(builder, sum + remainder / divisor, is_large ? 8 : 4);
}

/* ---- Instances ----------------------------------------------------------------------------------------- */

static int compare_places(const void *left, const void *right)
{
    const pfb_processor_place *a = left;
    const pfb_processor_place *b = right;
    if (a->node != b->node)
        return a->node < b->node ? -1 : 1;
    return (a->cpu > b->cpu) - (a->cpu < b->cpu);
}

static void add_instance(pfb_processor *processor, uint32_t id, size_t first_place, size_t place_count,
                         const char *name)
{
    pfb_processor_instance *instance = &processor->instances[processor->instance_count++];
    *instance = (pfb_processor_instance){.id = id, .first_place = first_place, .place_count = place_count};
    instance->name_units = (uint32_t)pfb_utf16_from_utf8(name, strlen(name), instance->name, PFB_PROCESSOR_NAME_UNITS);
}

/* CPUs by node and number, behind each node's its total, at last the machine's: the order of Windows. */
static void list_instances(pfb_processor *processor)
{
    char name[PFB_PROCESSOR_NAME_UNITS + 1];
    size_t count = processor->kernel.cpu_count;
    size_t node_start = 0;
    processor->instance_count = 0;
    for (size_t i = 0; i < count; i++) {
        const pfb_processor_place *place = &processor->places[i];
        snprintf(name, sizeof name, "%u,%u", (unsigned)place->node, (unsigned)place->cpu);
        add_instance(processor, place->cpu, i, 1, name);
        if (i + 1 < count && processor->places[i + 1].node == place->node)
            continue;
        snprintf(name, sizeof name, "%u,_Total", (unsigned)place->node);
        add_instance(processor, PFB_PROCESSOR_NODE_TOTAL(place->node), node_start, i + 1 - node_start, name);
        node_start = i + 1;
    }
    add_instance(processor, PFB_PROCESSOR_MACHINE_TOTAL, 0, count, "_Total");
}

/* Makes the instances anew when CPUs or nodes changed. False when memory is exhausted. */
static bool update_instances(pfb_processor *processor)
{
    const pfb_kernel *kernel = &processor->kernel;
    if (processor->instance_count > 0 && processor->generation == kernel->generation)
        return true;
    processor->instance_count = 0;
    pfb_processor_place *places =
        pfb_source_grow(processor->places, &processor->place_capacity, kernel->cpu_count, sizeof *places);
    if (!places)
        return false;
    processor->places = places;
    pfb_processor_instance *instances =
        pfb_source_grow(processor->instances, &processor->instance_capacity, 2 * kernel->cpu_count + 1,
                        sizeof *instances); /* each CPU may have a node of its own */
    if (!instances)
        return false;
    processor->instances = instances;
    for (size_t i = 0; i < kernel->cpu_count; i++)
        places[i] = (pfb_processor_place){kernel->cpus[i].node, kernel->cpus[i].times.cpu, i};
    qsort(places, kernel->cpu_count, sizeof *places, compare_places);
    list_instances(processor);
    processor->generation = kernel->generation;
    return true;
}

bool pfb_processor_sample(pfb_processor *processor, uint32_t needs, pfb_source_failure *failure)
{
    if (!pfb_kernel_sample(&processor->kernel, needs, failure))
        return false;
    return update_instances(processor) || pfb_source_fail_memory(failure);
}

/* ---- Opening --------------------------------------------------------------------------------------------- */

static const pfb_catalog_counter *find_facts(const pfb_catalog_set *set, uint32_t id)
{
    const pfb_catalog_counter *facts;
    for (size_t i = 0; (facts = pfb_catalog_counter_at(set, i)) != NULL; i++) {
        if (facts->id == id)
            break;
    }
    return facts;
}

bool pfb_processor_open(pfb_processor *processor, const char *root, pfb_source_failure *failure)
{
    *processor = (pfb_processor){.set = pfb_catalog_find(&pfb_processor_guid)};
    if (!processor->set)
        return pfb_source_fail(failure, 0, "the catalog of countersets has no Processor Information");
    long ticks = sysconf(_SC_CLK_TCK);
    processor->ticks_per_second = ticks > 0 ? (uint64_t)ticks : 100;
    if (!pfb_kernel_open(&processor->kernel, root, failure))
        return false;
    for (unsigned row = 0; row < PFB_PROCESSOR_COUNTERS; row++) {
        const pfb_catalog_counter *facts = find_facts(processor->set, counters[row].id);
        if (!facts || (processor->kernel.offered & counters[row].needs) != counters[row].needs)
            continue;
        processor->ids[processor->counter_count] = counters[row].id;
        processor->rows[processor->counter_count] = (uint8_t)row;
        processor->facts[processor->counter_count++] = facts;
    }
    return true;
}

void pfb_processor_close(pfb_processor *processor)
{
    pfb_kernel_close(&processor->kernel);
    free(processor->instances);
    free(processor->places);
    *processor = (pfb_processor){0};
}

/* ---- Registration ----------------------------------------------------------------------------------------- */

static void write_string(const char *text, pfb_builder *builder)
{
    uint8_t utf16[2 * 256];
    size_t units = pfb_utf16_from_utf8(text, strlen(text), utf16, 256);
    pfb_builder_string(builder, utf16, units < 256 ? units : 256);
}

static void write_counter(const pfb_processor *processor, uint32_t position, pfb_builder *builder)
{
    const counter_row *row = &counters[processor->rows[position]];
    const pfb_counter counter = {.id = row->id,
                                 .type = processor->facts[position]->type,
                                 .detail_level = row->detail_level,
                                 .base_id = PFB_NO_ID,
                                 .perf_time_id = PFB_NO_ID,
                                 .perf_freq_id = PFB_NO_ID,
                                 .multi_id = PFB_NO_ID,
                                 .aggregate = row->aggregate};
    pfb_builder_counter(builder, &counter);
}

static void write_strings(const pfb_processor *processor, bool are_helps, pfb_builder *builder)
{
    pfb_builder_begin_strings(builder, processor->counter_count);
    for (uint32_t i = 0; i < processor->counter_count; i++) {
        const char *text = are_helps ? counters[processor->rows[i]].help : processor->facts[i]->name;
        uint8_t utf16[2 * sizeof counters[0].help];
        size_t units = pfb_utf16_from_utf8(text, strlen(text), utf16, sizeof counters[0].help);
        pfb_builder_counter_string(builder, processor->ids[i], utf16, units);
    }
    pfb_builder_end_strings(builder);
}

void pfb_processor_register(const pfb_processor *processor, uint32_t request, uint32_t position, pfb_builder *builder)
{
    const pfb_catalog_set *set = processor->set;
    switch (request) {
    case PFB_REQUEST_COUNTERSET:
        pfb_builder_counterset(builder, &set->guid, NOVICE, set->instance_type, processor->counter_count);
        for (uint32_t i = 0; i < processor->counter_count; i++)
            write_counter(processor, i, builder);
        break;
    case PFB_REQUEST_COUNTER:
        write_counter(processor, position, builder);
        break;
    case PFB_REQUEST_COUNTERSET_NAME:
    case PFB_REQUEST_COUNTERSET_ENGLISH_NAME:
        write_string(set->name, builder);
        break;
    case PFB_REQUEST_COUNTERSET_HELP:
        write_string("Processors of this machine, from the accounting of the Linux kernel", builder);
        break;
    case PFB_REQUEST_COUNTER_HELPS:
        write_strings(processor, true, builder);
        break;
    case PFB_REQUEST_PROVIDER_NAME:
        write_string("perfblock", builder);
        break;
    case PFB_REQUEST_PROVIDER_GUID:
        pfb_builder_guid(builder, &pfb_processor_provider_guid);
        break;
    default: /* both codes for counter names: they are English in every language */
        write_strings(processor, false, builder);
        break;
    }
}
