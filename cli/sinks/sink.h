/* SPDX-License-Identifier: MIT */
#ifndef CLI_SINK_H
#define CLI_SINK_H

#include "input/suggest.h"
#include "names/names.h"
#include "output/output.h"
#include "output/time_text.h"
#include "perfblock/collect.h"

/* Sinks: the formats of displayed values. A sink gets frames and writes them; it does not know where they come from.
 *
 *     sink_run run = {.out = &out};
 *     for each sample of the collector: run.file = ...; sink_print(&run, collector);
 *     sink_end(&run); */

typedef struct cached_fields cached_fields;
typedef struct metric_totals metric_totals;
typedef struct sqlite_log sqlite_log;

/* A value of the current frame, and what it belongs to. */
typedef struct element {
    pfb_series series;
    pfb_value value;
} element;

typedef struct sink_run {
    output *out;
    const char *file; /* for messages */
    size_t base;      /* offset of the current reply in the file */
    log_zone zone;    /* of the current sample */
    bool has_choice;  /* counters were chosen: results without any of them are not printed */
    bool hides_empty; /* a counterset without instances prints no table */
    bool is_grouped;  /* instances are grouped, see pfb_collector_group */
    bool is_nonzero;  /* tables leave out instances (of a log, paths) with no value but zeros */
    const char *sort; /* the name of the counter by which tables are sorted, descending; null: not given */
    uint64_t top;     /* maximum number of instances (of a log, paths) in a table; 0: no limit */
    bool has_group;   /* a group was printed */
    bool has_any;     /* a value was counted, whatever its status */
    bool has_value;   /* one that the output shows: with status ok, or raw */
    bool has_single;  /* a counted value has the status PFB_STATUS_NEED_TWO_SAMPLES */
    bool has_other;   /* a counted value has neither that status nor PFB_STATUS_NOT_DISPLAYED */
    /* ------------------------------------------------------------------------------------------ */
    pfb_collector *collector;
    pfb_frame frame;
    cached_fields *fields;   /* of records; null before the first one */
    bool has_sort_counter;   /* a counter with the name `sort` was found */
    suggestion closest;      /* the counter name most similar to `sort`, suggested if no counter has that name */
    uint64_t sum_count;      /* values with PFB_FLAG_SUM that the format does not mark */
    uint64_t partial_count;  /* the same with PFB_FLAG_PARTIAL */
    uint64_t negative_count; /* the same with PFB_FLAG_MAY_BE_NEGATIVE */
    metric_totals *metrics;  /* the totals of the previous sample; null before the first one */
    sqlite_log *sqlite;      /* the open file; null before the first sample */
} sink_run;

/* ---- Printing -------------------------------------------------------------------------------------------- */

/* Returns false if the program was built without the library that the format needs. */
bool sink_is_built(output_format format);

/* Prints the collector's current sample, if there is one, in the format of the output. */
void sink_print(sink_run *run, pfb_collector *collector);

/* Ends the current sample, which may come in several frames, after its last one. Optional, because the next sample and
 * sink_end() also end it. */
void sink_end_sample(sink_run *run);

/* Ends the last sample and frees the memory of the run. */
void sink_end(sink_run *run);

/* Sets the members `sort` and `top`. */
void sink_arrange(sink_run *run, const char *sort, uint64_t top);

/* Looks for the counter to sort by in the collector's current sample. */
void sink_find_sort_counter(sink_run *run, pfb_collector *collector);

/* Returns false, after a message and with exit status 2, if no counter that was printed or searched has the name
 * `sort`. */
bool sink_check_sort_counter(const sink_run *run, const char *subject);

/* ---- For sinks ------------------------------------------------------------------------------------------- */

/* Stores an element of the current frame. Returns false past the last one. */
bool sink_element(const sink_run *run, uint32_t at, element *e);

/* Returns false for counter types without a displayed value, such as bases, and for counters with
 * PFB_ATTRIBUTE_NO_DISPLAY that the user did not name. */
bool sink_is_shown(const element *e);

static inline bool sink_is_of_log(const element *e)
{
    return (e->series.has & PFB_SERIES_LOG) != 0;
}

/* The name of a value's status, or of its PDH status if a log stores one instead of a value (names_of_pdh_status). */
const char *sink_status_name(const element *e, char memory[NAMES_STATUS_BYTES]);

/* These functions write a field of a record, which is null unless `exists`. */
void sink_put_name(output *out, const char *key, bool exists, const char *name, size_t size);
void sink_put_number(output *out, const char *key, bool exists, uint64_t number);
void sink_put_guid(output *out, bool exists, const pfb_guid *guid);

/* Prints a record or a message if the result at `position` failed or is of unknown kind (results.c). */
void sink_report_result(const sink_run *p, uint32_t position);

/* Appends a value of status ok in the form of tables: rounded, and with a unit if it is in bytes (readable.c). */
void sink_put_readable(buffer *out, const element *e);

/* Returns true if `name` is that of the counter to sort by. The case of A to Z is ignored. Sets has_sort_counter, or
 * updates `closest` while no such counter has been found. */
bool sink_is_sort_counter(sink_run *run, const char *name, size_t size);

/* ---- The rows -------------------------------------------------------------------------------------------- */

/* Each prints the current frame. */
void records_print(sink_run *run); /* records.c; also calls sink_report_result() for each result */
void records_end(sink_run *run);
void tables_print(sink_run *p);  /* tables.c */
void charts_print(sink_run *p);  /* charts.c */
void summary_print(sink_run *p); /* summary.c */
void pdh_print(sink_run *p);     /* pdh.c */
void pdh_end(sink_run *p);
void metrics_print(sink_run *p); /* prometheus.c */
void metrics_end(sink_run *p);
void sqlite_print(sink_run *run); /* sqlite.c; only with PERFBLOCK_SQLITE */
void sqlite_end(sink_run *run);

#endif
