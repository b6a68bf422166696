/* SPDX-License-Identifier: MIT */
#ifndef PFB_TEST_MACHINE_H
#define PFB_TEST_MACHINE_H

/* A tree of kernel files in a temporary folder that represents a machine, and what a source over it gives, as text. */
#include "perfblock/source.h"

extern const pfb_guid processor_guid;
extern const pfb_guid system_guid;
extern const pfb_guid memory_guid;
extern const pfb_guid disk_guid;
extern const pfb_guid interface_guid;
extern const pfb_guid process_guid;

/* ---- The tree ------------------------------------------------------------------------------------------ */

/* Begin and end of a test's machine: init and fini of a suite. */
void make_machine(void);
void remove_machine(void);

/* The folder that represents "/". */
const char *machine_root(void);

/* Writes a file below the root, and the folders it lies in. */
void put_file(const char *name, const char *text);
void put_cpu_file(unsigned cpu, const char *name, const char *text);
void remove_file(const char *name);

/* Three CPUs. Alone it is the least a machine can have. */
#define STAT                                                                                                           \
    "cpu  0 0 0 0 0 0 0 0 0 0\n"                                                                                       \
    "cpu0 100 10 20 1000 5 1 2 0 0 0\n"                                                                                \
    "cpu1 200 20 40 2000 6 2 4 0 0 0\n"                                                                                \
    "cpu5 300 30 60 3001 7 3 6 0 0 0\n"                                                                                \
    "intr 1 2 3\n"

/* A machine that has everything: CPUs 0 and 1 on node 0, CPU 5 on node 3. */
void put_everything(void);

pfb_source *open_machine(void);

/* Ticks of USER_HZ, the unit of times in /proc, in units of 100 ns. */
uint64_t ticks(uint64_t count);

/* ---- Queries in short ------------------------------------------------------------------------------------- */

/* The counterset that all of the following is about; Processor Information until another is named. */
void ask_of(const pfb_guid *set);

/* An identifier block; a null name leaves it out. */
size_t put_block(uint8_t *out, size_t capacity, const char *name, uint32_t counter, uint32_t instance);

/* Status of the n-th block. */
uint32_t status_of(const uint8_t *blocks, size_t size, size_t n);

/* Adds or removes one block; its Status. */
uint32_t add_to(pfb_source_query *query, const char *name, uint32_t counter, uint32_t instance);
uint32_t remove_from(pfb_source_query *query, const char *name, uint32_t counter, uint32_t instance);

/* ---- Replies as text ---------------------------------------------------------------------------------------- */

/* Each of these makes one text, which is valid until the next is made. */

/* A whole data block: "kind status {name#id counter=raw/bytes ...} ..." and a newline for each result. Kinds without
 * names or counter ids have none. Status and id in hexadecimal. Fails the test unless the block is strictly valid. */
const char *data_of(const pfb_bytes *reply);

/* What a fresh query of one block gives, as data_of has it. */
const char *ask(pfb_source *source, const char *name, uint32_t counter, uint32_t instance);

/* The value of one counter of one instance, asked for alone. */
void expect_one(pfb_source *source, const char *instance, unsigned counter, uint64_t value, unsigned size);

/* The ids of the counters offered, a blank after each. */
const char *offered_by(pfb_source *source);

/* "name#id" of each instance, a blank after each. */
const char *instances_of(pfb_source *source);

/* ---- Registrations ------------------------------------------------------------------------------------------ */

/* A counter as it is to be registered. A reference of 0 means none, a null help text any. */
typedef struct known_counter {
    const char *type; /* as winperf.h names it */
    uint32_t aggregate;
    const char *name;
    uint32_t base_id, perf_time_id, perf_freq_id;
    bool is_hidden;
    const char *help;
} known_counter;

/* The set has these counters and no others, with the ids 0, 1, 2 ... */
void expect_counters(pfb_source *source, uint32_t instance_type, const known_counter *known, uint32_t count);

#endif
