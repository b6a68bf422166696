/* SPDX-License-Identifier: MIT */
#ifndef PFB_TEST_MACHINE_H
#define PFB_TEST_MACHINE_H

/* A simulated Linux machine: a temporary folder with files that a test writes in place of those below /proc and /sys.
 * The functions below query a source that reads these files and return its replies as text. */
#include "perfblock/source.h"

#include <time.h>

extern const pfb_guid processor_guid; /* Processor Information */
extern const pfb_guid nodeless_processor_guid;
extern const pfb_guid system_guid;
extern const pfb_guid memory_guid;
extern const pfb_guid disk_guid;
extern const pfb_guid volume_guid;
extern const pfb_guid interface_guid;
extern const pfb_guid process_guid;
extern const pfb_guid swap_guid;
extern const pfb_guid thread_guid;
extern const pfb_guid tcp4_guid;
extern const pfb_guid udp4_guid;
extern const pfb_guid udp6_guid;

/* ---- The tree ------------------------------------------------------------------------------------------ */

/* Create and remove the folder. A test suite calls them as its `init` and `fini` functions. */
void make_machine(void);
void remove_machine(void);

/* The folder that represents "/". */
const char *machine_root(void);

/* Writes a file below the root, and creates the folders that contain it. */
void put_file(const char *name, const char *text);
void put_cpu_file(unsigned cpu, const char *name, const char *text);
void remove_file(const char *name);

/* The text of /proc/stat for three CPUs, the only file that the counters of CPUs require. */
#define STAT                                                                                                           \
    "cpu  0 0 0 0 0 0 0 0 0 0\n"                                                                                       \
    "cpu0 100 10 20 1000 5 1 2 0 0 0\n"                                                                                \
    "cpu1 200 20 40 2000 6 2 4 0 0 0\n"                                                                                \
    "cpu5 300 30 60 3001 7 3 6 0 0 0\n"                                                                                \
    "intr 1 2 3\n"

/* Writes files for all counters of Processor Information: CPUs 0 and 1 on node 0, CPU 5 on node 3. */
void put_everything(void);

pfb_source *open_machine(void);

/* Converts ticks of USER_HZ, the unit of times in /proc, to units of 100 ns. */
uint64_t ticks(uint64_t count);

/* Returns the time of a clock in units of 100 ns. */
uint64_t units_of_100ns(clockid_t clock);

/* ---- Queries ------------------------------------------------------------------------------------------------ */

/* Sets the counterset that the following functions query. make_machine sets it to Processor Information. */
void use_counterset(const pfb_guid *set);

/* Writes an identifier block; a null `name` means no name. */
size_t put_block(uint8_t *out, size_t capacity, const char *name, uint32_t counter, uint32_t instance);

/* Returns the Status of block number n, from 0. */
uint32_t status_of(const uint8_t *blocks, size_t size, size_t n);

/* Adds or removes one block and returns its Status. */
uint32_t add_to(pfb_source_query *query, const char *name, uint32_t counter, uint32_t instance);
uint32_t remove_from(pfb_source_query *query, const char *name, uint32_t counter, uint32_t instance);

/* ---- Replies as text ---------------------------------------------------------------------------------------- */

/* The texts that the following functions return are valid until the next call of any of them. */

/* Returns a whole reply as text: "kind status {name#id counter=raw/bytes ...} ..." and a newline for each result. Kinds
 * without names or counter ids omit these. Status and id are hexadecimal. Fails the test unless the reply is valid in
 * strict mode. */
const char *data_of(const pfb_bytes *reply);

/* Returns the reply to a new query of one block, in the format of data_of. */
const char *ask(pfb_source *source, const char *name, uint32_t counter, uint32_t instance);

/* Checks the value of one counter of one instance, queried alone. */
void expect_one(pfb_source *source, const char *instance, unsigned counter, uint64_t value, unsigned size);

/* Returns the ids of the offered counters, each followed by a blank. */
const char *offered_by(pfb_source *source);

/* Returns "name#id" of each instance, each followed by a blank. */
const char *instances_of(pfb_source *source);

/* ---- Registrations ------------------------------------------------------------------------------------------ */

/* The expected registration of a counter. A reference of 0 means none; a null help text matches any. */
typedef struct known_counter {
    const char *type; /* name in winperf.h */
    uint32_t aggregate;
    const char *name;
    uint32_t base_id, perf_time_id, perf_freq_id;
    bool is_hidden;
    const char *help;
} known_counter;

/* Checks that the set has exactly these counters, with the ids 0, 1, 2 ... */
void expect_counters(pfb_source *source, uint32_t instance_type, const known_counter *known, uint32_t count);

/* Checks that the set has `count` counters, up to `first` those of another set and then these. */
void expect_last_counters(pfb_source *source, const pfb_guid *other, uint32_t instance_type, const known_counter *known,
                          uint32_t first, uint32_t count);

/* Checks that the set has these counters, with the ids 0, 1, 2 ..., and maybe others. */
void expect_first_counters(pfb_source *source, uint32_t instance_type, const known_counter *known, uint32_t count);

#endif
