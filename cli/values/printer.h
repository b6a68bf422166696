/* SPDX-License-Identifier: MIT */
#ifndef CLI_VALUES_PRINTER_H
#define CLI_VALUES_PRINTER_H

#include "input/suggest.h"
#include "output/output.h"
#include "perfblock/collect.h"

/* The state of the printer of values.h, and functions that its formats share. */

typedef struct cached_column cached_column;
typedef struct metric_totals metric_totals;

typedef struct values_printer {
    output *out;
    const char *file;     /* for messages */
    size_t base;          /* offset of the current reply in the file */
    bool has_choice;      /* counters were chosen: results without any of them are not printed */
    bool hides_empty;     /* a counterset without instances prints no table */
    bool is_nonzero;      /* tables leave out instances (of a log, paths) with no value but zeros */
    const char *sort;     /* the name of the counter by which tables are sorted, descending; null: not given */
    uint64_t top;         /* maximum number of instances (of a log, paths) in a table; 0: no limit */
    bool is_live;         /* a file is printed as by live: without the first sample, as most values need two samples */
    bool shows_first;     /* is_live: the first sample is printed, because the values of this input need only one */
    uint64_t max_samples; /* is_live: maximum number of samples printed; 0: no limit */
    bool has_any;         /* a value was counted; is_live: or the first sample, which is not printed, has a value */
    bool has_single;      /* a counted value has the status PFB_STATUS_NEED_TWO_SAMPLES */
    bool has_other;       /* a counted value has neither that status nor PFB_STATUS_NOT_DISPLAYED */
    /* ------------------------------------------------------------------------------------------ */
    pfb_collected_sample sample;
    bool has_number; /* is_live: `number` is that of the latest sample */
    uint64_t number;
    uint64_t sample_count;  /* is_live: number of samples printed; max_samples + 1 if another sample followed */
    cached_column *columns; /* fields of records; null before the first record */
    bool has_sort_counter;  /* a counter with the name `sort` was found */
    suggestion closest;     /* the counter name most similar to `sort`, suggested if no counter has that name */
    metric_totals *metrics; /* the totals of the previous sample; null before the first one */
} values_printer;

/* ---- Fields ---------------------------------------------------------------------------------------------- */

/* Returns false for counter types without a displayed value, such as bases, and for counters with
 * PFB_ATTRIBUTE_NO_DISPLAY that the user did not name. */
bool values_is_shown(const pfb_collected_value *v);

/* Updates has_any, has_single and has_other for a value of a sample that is printed, even if its row is left out.
 * Metrics are not counted. */
void values_count(values_printer *p, pfb_status status);

/* The name of a value's status, or of its PDH status if a log stores one instead of a value. */
const char *values_status_name(const pfb_collected_value *v);

/* These functions write a field of a record, which is null unless `exists`. */
void values_put_name(output *out, const char *key, bool exists, const char *name, size_t size);
void values_put_number(output *out, const char *key, bool exists, uint64_t number);
void values_put_guid(output *out, bool exists, const pfb_guid *guid);

/* ---- Sorting --------------------------------------------------------------------------------------------- */

/* Sets the members `sort` and `top`. */
void values_arrange(values_printer *p, const char *sort, uint64_t top);

/* Looks for the counter to sort by in the current sample. Call it before the values of the sample are read. */
void values_find_sort_counter(values_printer *p, pfb_collector *collector);

/* Returns false, after a message and with exit status 2, if no counter that was printed or searched has the name
 * `sort`. */
bool values_check_sort_counter(const values_printer *p, const char *subject);

/* Returns true if `name` is that of the counter to sort by. The case of A to Z is ignored. Sets has_sort_counter, or
 * updates `closest` while no such counter has been found. */
bool values_is_sort_counter(values_printer *p, const char *name, size_t size);

#endif
