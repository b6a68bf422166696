/* SPDX-License-Identifier: MIT */
#ifndef PFB_BENCH_BASELINES_H
#define PFB_BENCH_BASELINES_H

/* What decoding is compared with, each in a file of its own so that no call of it is inlined either. */
#include "perfblock/v2.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- twin.c: the functions of v2.h over the same structs, without a check. Sound blocks only. --------------
 */

void twin_open(pfb_v2_reader *block, const void *data);
bool twin_next_result(pfb_v2_reader *block, pfb_v2_result *result);
bool twin_next_instance(pfb_v2_reader *block, pfb_v2_instance *instance);
bool twin_next_value(pfb_v2_reader *block, pfb_v2_value *value);

/* ---- typical.c: a reader of one counterset as programs write it by hand: field by field, each behind a check. -----
 */

typedef struct typical_processor {
    uint32_t id;
    const uint8_t *name; /* UTF-16LE */
    uint32_t name_units;
    uint64_t processor_time, user_time, privileged_time, interrupts, dpc_time, interrupt_time, dpcs_queued, dpc_rate;
    uint64_t idle_time, c1_time, c2_time, c3_time, c1_transitions, c2_transitions, c3_transitions, priority_time;
    uint64_t parking_status, frequency, percent_of_maximum, state_flags, clock_interrupts, average_idle,
        average_idle_base, idle_breaks;
    uint64_t performance, performance_base, utility, utility_base, privileged_utility, unassigned, performance_limit,
        limit_flags;
} typical_processor;

/* Reads a block's first result, one of Processor Information, into rows; false when it is broken or there are more
 * instances than `capacity`. */
bool typical_read(const uint8_t *data, size_t size, typical_processor *rows, size_t capacity, size_t *count);

/* The sum of a row's numbers. */
uint64_t typical_sum(const typical_processor *row);

#ifdef __cplusplus
}
#endif

#endif
