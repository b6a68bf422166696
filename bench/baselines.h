/* SPDX-License-Identifier: MIT */
#ifndef PFB_BENCH_BASELINES_H
#define PFB_BENCH_BASELINES_H

/* Readers that the benchmarks compare with those of the library. Each is in its own source file, so that the compiler
 * cannot inline its functions into the benchmark. */
#include "perfblock/log.h"
#include "perfblock/v2.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- twin.c -------------------------------------------------------------------------------------------- */

/* A reader that returns the same structures as the functions of v2.h with similar names, but checks nothing: it shows
 * the cost of the library's checks. The reply must be valid, without errors and with numbers only, and all values of an
 * instance must be read before the next one. */

typedef struct twin_reader {
    uint32_t total_size_bytes;
    uint32_t result_count;
    int64_t perf_time, perf_time_100ns, perf_freq;
    const uint8_t *data;
    const uint8_t *ids;
    size_t at, result_end;
    uint32_t results_read, kind, counter_count, instances_left, instances_read;
    uint32_t value_position, value_end;
} twin_reader;

void twin_open(twin_reader *reader, const void *data);
bool twin_next_result(twin_reader *reader, pfb_v2_result *result);
bool twin_next_instance(twin_reader *reader, pfb_v2_instance *instance);
bool twin_next_value(twin_reader *reader, pfb_v2_value *value);

/* ---- typical.c ----------------------------------------------------------------------------------------- */

/* A reader as it would be written for a program that needs a single counterset: it stores each counter in a field of a
 * struct, and checks that each field is inside the reply. */

typedef struct typical_processor {
    uint32_t id;
    const uint8_t *name; /* UTF-16LE */
    uint32_t name_units;
    uint64_t processor_time, user_time, privileged_time, interrupts, dpc_time, interrupt_time, dpcs_queued, dpc_rate;
    uint64_t idle_time, c1_time, c2_time, c3_time, c1_transitions, c2_transitions, c3_transitions, priority_time;
    uint64_t parking_status, frequency, percent_of_maximum, state_flags, clock_interrupts, average_idle,
        average_idle_base, idle_breaks;
    uint64_t performance, performance_base, utility, utility_base, privileged_utility, unassigned, performance_limit,
        limit_flags; /* in the order of the counter ids 0 to 31; no counter has the id 29 (unassigned) */
} typical_processor;

/* Reads the first result of a reply, which must be one of Processor Information, into `rows`. Returns false if the
 * result is malformed or has more than `capacity` instances. */
bool typical_read(const uint8_t *data, size_t size, typical_processor *rows, size_t capacity, size_t *count);

/* Returns the sum of a row's values. */
uint64_t typical_sum(const typical_processor *row);

/* ---- plain_v1.c ---------------------------------------------------------------------------------------- */

/* A V1 reader as agents have it: finds the object, walks its instances, and for each value goes through the definitions
 * until it finds the counter's title index. Nothing is checked: the block must be valid and little-endian, and its
 * values numbers of 4 or 8 bytes. */

/* Returns the object with this title index; null: none. */
const uint8_t *plain_v1_object(const uint8_t *block, uint32_t title);

/* Returns the first instance of an object and stores their number. */
const uint8_t *plain_v1_first_instance(const uint8_t *object, uint32_t *count);
const uint8_t *plain_v1_next_instance(const uint8_t *instance);

/* Stores the value of a counter of an instance. Returns false if the object does not have the counter. */
bool plain_v1_value(const uint8_t *object, const uint8_t *instance, uint32_t title, uint64_t *value);

/* ---- plain_log.c --------------------------------------------------------------------------------------- */

/* A reader of .blg files as it would be written for one log: it knows the formula of each path, computes in double, and
 * checks nothing. The values of each sample must be those of the sample before, in the same order. */

typedef enum plain_log_form { PLAIN_RAW, PLAIN_RATE, PLAIN_INVERSE_PERCENT, PLAIN_AVERAGE_TIME } plain_log_form;

typedef struct plain_log_path {
    plain_log_form form;
    uint64_t frequency;
} plain_log_path;

/* The caller sets `paths`, and the arrays to enough memory for the values and the bytes of a sample. */
typedef struct plain_log {
    const plain_log_path *paths;
    uint8_t *record;
    uint64_t *first, *second;
    double *values;
    size_t count; /* values of the latest sample */
} plain_log;

typedef void plain_log_sample(void *context, const plain_log *log);

/* Calls `use` for each sample. Returns their number. */
size_t plain_log_read(plain_log *log, const uint8_t *data, size_t size, plain_log_sample *use, void *context);

#ifdef __cplusplus
}

/* ---- documented.cc -------------------------------------------------------------------------------------- */

/* Microsoft's documented sample program for PerfLib (CpuPerfCounters.cpp), if PERFBLOCK_SAMPLES names its folder. */

struct documented_reader;

/* Returns a reader of replies with at most `capacity` processors. */
documented_reader *documented_new(size_t capacity);
void documented_delete(documented_reader *reader);

/* Reads names and values of a reply of Processor Information. Returns false if the sample program refuses it. A reply
 * that is read several times in succession is copied only the first time. */
bool documented_read(documented_reader *reader, const uint8_t *data, size_t size, size_t *count);

/* Returns a value that was read: counter 0, 11, 20 or 31. */
uint64_t documented_value(const documented_reader *reader, size_t row, uint32_t counter);

/* Returns the name that was read: UTF-16 in host order with a NUL, cut to 15 characters. */
const void *documented_name(const documented_reader *reader, size_t row);
#endif

#endif
