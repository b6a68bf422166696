/* SPDX-License-Identifier: MIT */
#ifndef CLI_VALUES_H
#define CLI_VALUES_H

#include "input/suggest.h"
#include "output/output.h"
#include "perfblock/collect.h"

/* Prints the displayed values of a collector's samples: a record per value as JSON or CSV, tables as text, or metrics.
 */

typedef struct kept_column kept_column;
typedef struct kept_metrics kept_metrics;

typedef struct values_printer {
    output *out;
    const char *file;      /* for messages */
    size_t base;           /* of the reply in the file */
    bool has_choice;       /* counters were asked for: nothing is printed of results without them */
    bool hides_empty;      /* no table is printed of a counterset without instances */
    bool is_nonzero;       /* tables leave out instances whose values are all zero or missing */
    const char *sort;      /* tables are sorted by the counter of this name, descending; null: they are not */
    uint64_t top;          /* most instances of a table; 0: all */
    bool is_live;          /* the first sample is not printed, because values need two ... */
    bool shows_first;      /* ... unless this is set: they need no other */
    uint64_t most_samples; /* most that live prints; 0: all */
    bool has_any;          /* some value was printed */
    bool has_single;       /* some value printed so far needs two samples ... */
    bool has_other;        /* ... and some has another status than that and not_displayed */
    /* ------------------------------------------------------------------------------------------ */
    pfb_collected_sample sample;
    bool has_number; /* a sample came, and the latest one had `number` */
    uint64_t number;
    uint64_t sample_count; /* that were printed as live does, and at most one more */
    kept_column *columns;  /* of records; null at first */
    bool has_sort_counter; /* a counter of that name was found */
    suggestion meant;      /* else: the most similar name */
    kept_metrics *metrics; /* of the sample before; null at first */
} values_printer;

/* Has tables sorted and cut: `sort` and `top` as above. */
void values_arrange(values_printer *p, const char *sort, uint64_t top);

/* Looks for the counter to sort by in the current sample, of which nothing was printed yet. */
void values_find_sort_counter(values_printer *p, pfb_collector *collector);

/* False after a message, status 2, if no counter in what was printed or searched has the name to sort by. */
bool values_check_sort_counter(const values_printer *p, const char *subject);

/* Returns true if nothing more is printed: the output failed, or most_samples were printed. */
bool values_has_ended(const values_printer *p);

/* Prints the current sample. */
void values_print(values_printer *p, pfb_collector *collector);

/* No part of the current sample follows. Optional: the next sample and values_end() end it, too. */
void values_end_sample(values_printer *p);

/* Ends the last sample and frees what the printer keeps. */
void values_end(values_printer *p);

/* ---- For its parts --------------------------------------------------------------------------------------- */

/* Registers the status of a value that is printed. */
void values_count(values_printer *p, pfb_status status);

/* The name of its status: of a log without a value, that of the PDH status. */
const char *values_status_name(const pfb_collected_value *v);

/* Names of at most VALUES_LONGEST_NAME characters, made of numbers where there is no name. */
enum { VALUES_LONGEST_NAME = 200 };

/* Names of series are cut after the 1024 characters that PDH allows (PDH_MAX_COUNTER_NAME, PDH_MAX_INSTANCE_NAME): many
 * counters of a file may share the bytes of a longer one. */
enum { VALUES_LONGEST_PART = 1024 };

/* Appends the name of a result's counterset or object. `position` is that of the result. */
void values_put_set_name(buffer *out, const pfb_collected_result *result, uint32_t position);

/* Appends the name of an instance after that of its parent, and its number where names repeat: "parent/child#2". */
void values_put_row_name(buffer *out, const pfb_collected_value *v);

/* Appends the name of a counter. */
void values_put_column_name(buffer *out, const pfb_collected_value *v);

/* Appends at most `most` characters of the name of the value's machine, with two backslashes before it. */
void values_put_machine(buffer *out, const pfb_collected_value *v, size_t most);

/* Appends the counter path of a value: "\\\\MACHINE\\Object(parent/instance#n)\\Counter". Parts that do
 * not exist are left out; those that have no name are called by their number. Each part has
 * at most VALUES_LONGEST_PART characters. */
void values_put_set_path(buffer *out, const pfb_collected_value *v, bool is_log); /* up to the counterset */
void values_put_path(buffer *out, const pfb_collected_value *v, bool is_log);

/* Put a field of a record, null unless it exists. */
void values_put_name(output *out, const char *key, bool exists, const char *name, size_t size);
void values_put_number(output *out, const char *key, bool exists, uint64_t number);

/* Returns false for bases and labels, which have no displayed value, and for hidden counters. */
bool values_is_shown(const pfb_collected_value *v);

/* PDH text logs (pdh.c). */
void values_print_pdh(values_printer *p, pfb_collector *collector);
void values_end_pdh(values_printer *p);

/* Summaries (summary.c). */
void values_print_summary(values_printer *p, pfb_collector *collector);

/* Appends a value of status ok as tables show it: rounded, with the unit of its counter if that is bytes (readable.c).
 */
void values_put_readable(buffer *out, const pfb_collected_value *v);

/* Whether tables are sorted by the counter of this name; the case of A to Z is ignored. */
bool values_is_sort_counter(values_printer *p, const char *name, size_t size);

/* Charts (charts.c). */
void values_print_charts(values_printer *p, pfb_collector *collector);

/* Tables (tables.c). */
void values_print_tables(values_printer *p, pfb_collector *collector);

/* Metrics (prometheus.c). */
void values_print_metrics(values_printer *p, pfb_collector *collector);
void values_end_metrics(values_printer *p);

#endif
