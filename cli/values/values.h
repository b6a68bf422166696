/* SPDX-License-Identifier: MIT */
#ifndef CLI_VALUES_H
#define CLI_VALUES_H

#include "input/suggest.h"
#include "output/output.h"
#include "perfblock/collect.h"

/* Prints the displayed values of a collector's samples: a record per value as JSON or CSV, tables as text, or metrics.
 */

typedef struct cached_column cached_column;
typedef struct metric_totals metric_totals;

typedef struct values_printer {
    output *out;
    const char *file;     /* for messages */
    size_t base;          /* offset of the current reply in the file */
    bool has_choice;      /* the user named counters: results without any of them are not printed */
    bool hides_empty;     /* a counterset without instances prints no table */
    bool is_nonzero;      /* tables leave out instances whose values are all zero or missing */
    const char *sort;     /* tables are sorted by the counter of this name, descending; null: not sorted */
    uint64_t top;         /* maximum number of instances of a table; 0: no limit */
    bool is_live;         /* the first sample is not printed, because most values need two samples ... */
    bool shows_first;     /* ... unless this is set, because the values of this input need one */
    uint64_t max_samples; /* is_live: maximum number of samples printed; 0: no limit */
    bool has_any;         /* some value was printed; is_live: or the first sample has one */
    bool has_single;      /* some printed value has the status PFB_STATUS_NEED_TWO_SAMPLES */
    bool has_other;       /* some printed value has neither that status nor PFB_STATUS_NOT_DISPLAYED */
    /* ------------------------------------------------------------------------------------------ */
    pfb_collected_sample sample;
    bool has_number; /* is_live: `number` is that of the latest sample */
    uint64_t number;
    uint64_t sample_count;  /* is_live: samples printed; max_samples + 1 once a further sample came */
    cached_column *columns; /* fields of records; null before the first record */
    bool has_sort_counter;  /* a counter with the name `sort` was found */
    suggestion closest;     /* the most similar name, for the message if none was found */
    metric_totals *metrics; /* of the previous sample; null before the first one */
} values_printer;

/* Sets the members `sort` and `top`. */
void values_arrange(values_printer *p, const char *sort, uint64_t top);

/* Looks for the counter to sort by in the current sample. Called before values of the sample are read. */
void values_find_sort_counter(values_printer *p, pfb_collector *collector);

/* Returns false, after a message and with exit status 2, if no counter that was printed or searched has the name
 * `sort`. */
bool values_check_sort_counter(const values_printer *p, const char *subject);

/* Returns true if nothing more is printed: the output failed, or max_samples were printed. */
bool values_has_ended(const values_printer *p);

/* Prints the current sample. */
void values_print(values_printer *p, pfb_collector *collector);

/* Ends the current sample: a sample may come in several parts, and this was the last. Optional, because the next sample
 * and values_end() also end it. */
void values_end_sample(values_printer *p);

/* Ends the last sample and frees the memory of the printer. */
void values_end(values_printer *p);

/* ---- Shared by the files of this folder ------------------------------------------------------------------ */

/* Updates has_any, has_single and has_other for a value that is printed. */
void values_count(values_printer *p, pfb_status status);

/* The name of a value's status. Where a log stores a PDH status instead of a value, the name of the PDH status. */
const char *values_status_name(const pfb_collected_value *v);

/* Names in tables and charts are cut after this many characters. */
enum { VALUES_LONGEST_NAME = 200 };

/* Names in the keys of series (series.h) are cut after the 1024 characters that PDH allows (PDH_MAX_COUNTER_NAME,
 * PDH_MAX_INSTANCE_NAME): each key is a copy, and in a file many counters may share the bytes of one long name. */
enum { VALUES_LONGEST_PART = 1024 };

/* Appends the name of a result's counterset or object. `position` is that of the result. */
void values_put_set_name(buffer *out, const pfb_collected_result *result, uint32_t position);

/* Appends the name of an instance after that of its parent. If several instances have the same name, those after the
 * first are numbered: "parent/child#2". */
void values_put_row_name(buffer *out, const pfb_collected_value *v);

/* Appends the name of a counter. */
void values_put_column_name(buffer *out, const pfb_collected_value *v);

/* Appends at most `max_characters` characters of the name of the value's machine. Two backslashes are put before a name
 * that does not begin with one. */
void values_put_machine(buffer *out, const pfb_collected_value *v, size_t max_characters);

/* Appends a part of the counter path of a value, \\MACHINE\Object(parent/instance#n)\Counter. Names that do not exist
 * are left out. A counter without a name is written as its number; so is a counterset, but in a log (is_log) it is left
 * out. Each name is cut after VALUES_LONGEST_PART characters. */
void values_put_set_path(buffer *out, const pfb_collected_value *v, bool is_log);      /* \\MACHINE\Object */
void values_put_instance_path(buffer *out, const pfb_collected_value *v, bool is_log); /* all before the counter */
void values_put_counter(buffer *out, const pfb_collected_value *v);

/* Writes a field of a record: null unless `exists`. */
void values_put_name(output *out, const char *key, bool exists, const char *name, size_t size);
void values_put_number(output *out, const char *key, bool exists, uint64_t number);

/* Returns false for bases and labels, which have no displayed value, and for counters with
 * PFB_ATTRIBUTE_NO_DISPLAY that the user did not name. */
bool values_is_shown(const pfb_collected_value *v);

/* PDH text logs (pdh.c). */
void values_print_pdh(values_printer *p, pfb_collector *collector);
void values_end_pdh(values_printer *p);

/* Summaries (summary.c). */
void values_print_summary(values_printer *p, pfb_collector *collector);

/* Appends a value of status ok as tables show it: rounded, and with a unit if it is an amount of bytes (readable.c). */
void values_put_readable(buffer *out, const pfb_collected_value *v);

/* Returns true if `name` is that of the counter to sort by. The case of A to Z is ignored. */
bool values_is_sort_counter(values_printer *p, const char *name, size_t size);

/* Charts (charts.c). */
void values_print_charts(values_printer *p, pfb_collector *collector);

/* Tables (tables.c). */
void values_print_tables(values_printer *p, pfb_collector *collector);

/* Metrics (prometheus.c). */
void values_print_metrics(values_printer *p, pfb_collector *collector);
void values_end_metrics(values_printer *p);

#endif
