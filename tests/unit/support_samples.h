/* SPDX-License-Identifier: MIT */
#ifndef PFB_TEST_SUPPORT_SAMPLES_H
#define PFB_TEST_SUPPORT_SAMPLES_H

/* Samples for the tests of samples and matching: a V2 reply, its queries, registrations, and the sample loaded from
 * them. The sample's memory has exactly the required size, so that a sanitizer detects accesses past the end.
 *
 *     sample *s = sample_new(1);                                  taken at second 1, see sample_new
 *     sample_register(s, SET, counters, 2);
 *     sample_query(s, SET, PFB_NO_ID, PFB_NO_ID, "*", 0);
 *     sample_result(s, PFB_V2_COUNTERSET, ids, 2);
 *     sample_row(s, 7, "a");  sample_value(s, 1, 8);  sample_value(s, 2, 4);
 *     sample_load(s);                                             s->table is the loaded sample
 *     sample_free(s); */
#include "perfblock/sample.h"
#include "perfblock/write.h"
#include "support_types.h"

enum { SAMPLE_REGISTRATIONS = 8, SAMPLE_BYTES = 1 << 16 };

typedef struct sample {
    pfb_writer data, info;
    pfb_registration registrations[SAMPLE_REGISTRATIONS];
    uint8_t *registration_bytes[SAMPLE_REGISTRATIONS];
    uint32_t registration_count;
    bool in_result, is_ended;
    pfb_sample_input input;
    pfb_sample_counts counts;
    pfb_error measured, loaded; /* results of pfb_sample_measure and pfb_sample_load */
    void *memory;
    size_t memory_size;
    pfb_sample table;
} sample;

/* Makes a sample that is taken `tick` seconds after the clocks started: the performance clock has 1000 ticks per
 * second, the other clock 10^7. The reply may have up to SAMPLE_BYTES bytes, or `capacity` bytes. */
sample *sample_new(int64_t tick);
sample *sample_new_large(int64_t tick, size_t capacity);
void sample_free(sample *s);
void sample_free_both(sample *older, sample *newer);

/* The GUID of a counterset by number, from 1. Numbers with the same last 8 bits have GUIDs that differ in one byte, the
 * last. */
pfb_guid set_guid(unsigned set);

/* A counter that refers to no other counter. */
pfb_counter counter_without_references(uint32_t id, uint32_t type);

/* Registers counters of a set. */
void sample_register(sample *s, unsigned set, const pfb_counter *counters, uint32_t count);

/* Adds the query of the result at `index`; `name` in ASCII, null for none. */
void sample_query(sample *s, unsigned set, uint32_t counter_id, uint32_t instance_id, const char *name, uint32_t index);

/* Begins a result, and ends the previous one. */
void sample_result(sample *s, uint32_t kind, const uint32_t *ids, uint32_t count);
void sample_row(sample *s, uint32_t id, const char *name);

/* Adds a value. A value whose size is not 4 or 8 bytes has the bytes of NOT_A_NUMBER instead of `raw`. */
#define NOT_A_NUMBER "a datum of another size"
void sample_value(sample *s, uint64_t raw, uint32_t size);

/* Ends the reply, and makes it the input of pfb_sample_measure and pfb_sample_load. */
void sample_end(sample *s);

/* Makes a sample of one result of kind PFB_V2_COUNTERSET with registered counters and a query. It has one instance
 * (1, "a"), to which values are added next. */
sample *sample_of_set(unsigned set, int64_t tick, const pfb_counter *counters, uint32_t count, const uint32_t *ids,
                      uint32_t id_count);

typedef struct instance {
    uint32_t id;
    const char *name;
} instance;

/* Makes and loads a sample of one result of kind PFB_V2_MULTIPLE_INSTANCES: counter 1, which has this type and 4 bytes.
 * `list` ends with an instance whose name is null; instance i has the value 100 * tick + i. */
sample *sample_of_instances(unsigned set, int64_t tick, uint32_t type, const instance *list);

/* Reference implementation of the matching of instances. Returns the position in the older list of the instance that
 * matches newer[n]: the k-th of equal instances matches the k-th of the older list. PFB_NONE when there is none. */
uint32_t matching_row(const instance *older, const instance *newer, uint32_t n);

/* Ends the reply, measures and loads it; sample_measure does not load it. */
void sample_load(sample *s);
void sample_measure(sample *s);

/* All values of a sample, evaluated at once. */
typedef struct displayed {
    double *values;
    uint8_t *status_bytes;
} displayed;

/* The number of values: for each result its rows times its columns. */
uint64_t value_count(const pfb_sample *table);

displayed displayed_of(const pfb_sample *older, const pfb_sample *newer, const pfb_formula_options *options);
void displayed_free(displayed all);

/* Checks that these values are those of pfb_sample_cook_value, bit for bit. Returns the number of values with status
 * ok. */
unsigned expect_displayed(const pfb_sample *older, const pfb_sample *newer, const pfb_formula_options *options,
                          displayed all);

/* The first row or column of a result with this name or counter id; PFB_NONE when there is none. */
uint32_t row_named(const sample *s, uint32_t result, const char *name);
uint32_t column_of(const sample *s, uint32_t result, uint32_t counter_id);

#endif
