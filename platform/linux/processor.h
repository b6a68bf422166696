/* SPDX-License-Identifier: MIT */
#ifndef PFB_PROCESSOR_H
#define PFB_PROCESSOR_H

/* The counterset Processor Information from the numbers of the Linux kernel. docs/processor_information.md tells what
 * each counter is made of. */
#include "kernel_cpus.h"
#include "perfblock/catalog.h"

enum {
    PFB_PROCESSOR_COUNTERS = 17,  /* counters Linux can have numbers for */
    PFB_PROCESSOR_NAME_UNITS = 21 /* "2147483645,2147483647" */
};

/* Instance ids: a CPU's is its number. Above CPU numbers are the nodes' totals and the machine's. */
#define PFB_PROCESSOR_NODE_TOTAL(node) (UINT32_C(0x80000000) + (node))
#define PFB_PROCESSOR_MACHINE_TOTAL UINT32_C(0xFFFFFFFE)

typedef struct pfb_processor_instance {
    uint32_t id;
    uint32_t name_units;
    uint8_t name[2 * PFB_PROCESSOR_NAME_UNITS]; /* UTF-16LE */
    size_t first_place;                         /* the CPUs it is made of: one, or those of a total */
    size_t place_count;
} pfb_processor_instance;

/* A CPU's place in the order of instances. */
typedef struct pfb_processor_place {
    uint32_t node;
    uint32_t cpu;
    size_t position; /* in kernel.cpus */
} pfb_processor_place;

typedef struct pfb_processor {
    pfb_kernel kernel;
    pfb_processor_instance *instances; /* "0,0", "0,1", "0,_Total", "1,2", ..., "_Total" */
    size_t instance_count;
    uint32_t ids[PFB_PROCESSOR_COUNTERS]; /* of the counters offered, ascending */
    uint32_t counter_count;
    /* ------------------------------------------------------------------------------------------ */
    const pfb_catalog_set *set;
    uint8_t rows[PFB_PROCESSOR_COUNTERS];                     /* in the table of counters, */
    const pfb_catalog_counter *facts[PFB_PROCESSOR_COUNTERS]; /* and in the catalog: of the counters offered */
    size_t instance_capacity;
    pfb_processor_place *places; /* kernel.cpu_count of them */
    size_t place_capacity;
    uint32_t generation; /* of the CPUs the instances were made of */
    uint64_t ticks_per_second;
} pfb_processor;

/* Opens the kernel below `root` and decides which counters are offered, for as long as it is open: those every CPU has
 * the numbers for. */
bool pfb_processor_open(pfb_processor *processor, const char *root, pfb_source_failure *failure);
void pfb_processor_close(pfb_processor *processor);

extern const pfb_guid pfb_processor_guid;          /* of the counterset, as on Windows */
extern const pfb_guid pfb_processor_provider_guid; /* of this provider */

/* Position of a counter among those offered; false when it is not. */
bool pfb_processor_find(const pfb_processor *processor, uint32_t id, uint32_t *position);

/* The PFB_KERNEL_ bits that `count` counters from `position` on need. */
uint32_t pfb_processor_needs(const pfb_processor *processor, uint32_t position, uint32_t count);

/* Takes a sample of what is needed; the instances are then those of the sample. False: as pfb_kernel_sample. */
bool pfb_processor_sample(pfb_processor *processor, uint32_t needs, pfb_source_failure *failure);

/* True when the sample has values of `needs` for the instance: for the CPU, or for one of a total's CPUs. */
bool pfb_processor_has(const pfb_processor *processor, const pfb_processor_instance *instance, uint32_t needs);

/* Writes the value of the counter at `position` for an instance that has `needs`. A total is made of the CPUs that have
 * all of `needs`, so that the values of one instance are about the same CPUs. */
void pfb_processor_write(const pfb_processor *processor, const pfb_processor_instance *instance, uint32_t needs,
                         uint32_t position, pfb_builder *builder);

/* Writes the reply to a request code from 1 to 10; for code 2, about the counter at `position`. */
void pfb_processor_register(const pfb_processor *processor, uint32_t request, uint32_t position, pfb_builder *builder);

#endif
