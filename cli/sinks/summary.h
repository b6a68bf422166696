/* SPDX-License-Identifier: MIT */
#ifndef CLI_SUMMARY_H
#define CLI_SUMMARY_H

#include "output/output.h"
#include "perfblock/collect.h"

/* For each counter and instance over all samples: the number of values, their minimum, average, maximum and last one,
 * and the statuses of what has no value. summary_print() (sink.h) adds the values of a sample.
 * docs/perfblock.md describes the output. Memory grows with the number of counters and instances, not with that of
 * samples. */

typedef struct value_summary value_summary;

value_summary *value_summary_begin(void);

/* Writes a record per counter and instance, or in text a table per machine and counterset. `is_nonzero`: tables
 * leave out rows whose values are all zero or missing. */
void value_summary_write(const value_summary *summary, bool is_nonzero, output *out);

/* The number of records, and the counter and instance of record `i`, in the order of their first values. The returned
 * series has names, GUID, title, counter id, type, unit and attributes; its other members mean nothing. Its names are
 * valid until the next value is added. */
size_t value_summary_count(const value_summary *summary);
pfb_series value_summary_series(const value_summary *summary, size_t i);

void value_summary_free(value_summary *summary);

#endif
