/* SPDX-License-Identifier: MIT */
#ifndef PFB_COLLECT_COLLECTOR_H
#define PFB_COLLECT_COLLECTOR_H

#include "collect/choice.h"
#include "collect/ended.h"
#include "collect/log_state.h"
#include "collect/metadata.h"
#include "collect/query_info.h"
#include "collect/range.h"
#include "collect/sample_store.h"
#include "collect/texts.h"
#include "collect/titles.h"
#include "perfblock/collect.h"

/* The state of a collector, shared by the files of this folder. */

/* The samples of one format, V1 or V2. */
typedef struct format_samples {
    sample_store store;
    stored_sample *spare; /* memory for the next sample, or the current sample until it ends; may be null */
} format_samples;

/* A result and the sample it is compared with. */
typedef struct compared_result {
    stored_sample *older; /* null: none */
    uint32_t result;
} compared_result;

/* A column of the current sample: a counter. */
typedef struct shown_column {
    pfb_name name;
    text_view text; /* the name in the text cache; `bytes` is null if the cache does not have it */
    const char *unit;
    bool is_chosen;                    /* a choice selects this counter */
    bool has_all_instances;            /* all instances are chosen */
    size_t first_filter, filter_count; /* else: those that match one of these elements of column_filters */
    bool is_hidden;                    /* pfb_collected_value.is_hidden of its values */
} shown_column;

/* Indexes in pfb_collector.scratch, which holds the converted names of the current value, of a result or of a
 * description. */
enum {
    SCRATCH_COUNTERSET,
    SCRATCH_RESULT,
    SCRATCH_INSTANCE,
    SCRATCH_PARENT,
    SCRATCH_COUNTER,
    SCRATCH_MACHINE,
    SCRATCH_DESCRIBED_SET,                                 /* three: name, English name and help of a counterset */
    SCRATCH_DESCRIBED_COUNTER = SCRATCH_DESCRIBED_SET + 3, /* the same of a counter */
    SCRATCH_COUNT = SCRATCH_DESCRIBED_COUNTER + 3
};

/* Whether V1 or V2 data is collected from the source; decided when this is first needed. */
typedef enum collected_version { VERSION_UNDECIDED, VERSION_V1, VERSION_V2 } collected_version;

/* The state of a file that is not the chosen one. */
typedef struct parked_file {
    log_state log, replaced_log;
    titles titles;
    metadata metadata;
    query_info *query;
    uint64_t file_number;
} parked_file;

struct pfb_collector {
    pfb_source *source;
    pfb_collector_options options;
    collected_version version;
    metadata metadata;
    titles titles;
    text_cache texts;
    uint64_t mark; /* number of the last pass over the countersets of `metadata` */
    /* The source (add.c, collect.c). */
    counter_choice choice;
    pfb_source_query *query_handle; /* V2; null before the first counter is added or refused */
    uint32_t *titles_added;         /* V1: objects that were added */
    size_t title_count, title_capacity;
    pfb_bytes v1_query;   /* V1: value name of HKEY_PERFORMANCE_DATA, with its NUL; empty: no counter was added */
    bool has_title_names; /* V1: the source was asked for its name table */
    pfb_bytes fetched;    /* memory for replies of the source other than samples */
    pfb_collector_problem *problems;
    size_t problem_count, problem_capacity, problems_returned;
    pfb_bytes info, next_info; /* query information of the last sample, and memory for the next */
    bool has_info;             /* `info` is up to date; unless is_raw, `query` was made from it */
    bool has_begun;            /* a sample was collected */
    uint64_t started;          /* if the collector waits for intervals: when the first sample was collected */
    pfb_collected_reply reply;
    /* Samples (samples.c). */
    uint64_t number;           /* of the next sample */
    range_step raw_step;       /* for the option is_raw, which stores no samples and therefore has no series */
    uint64_t file_number;      /* of the chosen file: unique among all files that were begun */
    uint64_t last_file_number; /* the last one that was assigned */
    uint64_t source_file;      /* pfb_source_file() of the latest sample */
    size_t file; /* the chosen file, whose state is in the collector; its element of `files` is not used */
    parked_file *files;
    size_t file_count, file_capacity;
    query_info *query;         /* applies to the next V2 sample; null: none */
    format_samples formats[2]; /* V2, V1 */
    log_state log;             /* of the chosen file */
    log_state replaced_log;    /* `log` with its previous paths, until `log` has a sample; path_count is 0: none */
    ended_logs ended;
    uint32_t gaps; /* PFB_GAP_ bits, see pfb_collector_losses */
    /* The results of the current sample: */
    compared_result *pairs;   /* in runs of the same older sample */
    uint32_t *results;        /* positions, in the order of `pairs` */
    const pfb_sample **older; /* by position: the sample it is compared with, or null */
    size_t pair_capacity, result_capacity, older_capacity;
    double *values;        /* of the current sample, indexed by pfb_sample_place */
    uint8_t *status_bytes; /* indexed as `values` */
    size_t value_capacity, status_capacity;
    /* The current sample (values.c). */
    stored_sample *current; /* null: none */
    bool is_v1;             /* `current` is V1 */
    text_view machine;      /* name of its machine */
    bool has_machine;       /* that name is known */
    shown_column *columns;
    size_t column_capacity;
    uint32_t *column_filters; /* positions in choice.filters, grouped by column */
    size_t column_filter_count, column_filter_capacity;
    text_scratch scratch[SCRATCH_COUNT];
    uint32_t result, row, position; /* of the next value */
    bool has_result, has_row;       /* `value` has the members that depend on that result, and on that row */
    bool is_missing_known;          /* has_missing was determined for that result */
    bool has_missing;               /* the result lacks instances of the older sample */
    bool is_total;                  /* that row is a total */
    pfb_collected_value value;
};

/* ---- Metadata of the source (fetch.c) -------------------------------------------------------------------- */

/* Asks the source for the reply to a request code unless it was asked before or the caller put a valid reply. Returns
 * false only when memory is exhausted: a source without such a reply is not a failure. */
bool pfb_collect_fetch(pfb_collector *c, metadata_set *set, uint32_t request);

/* Fetches the counters and all names; without a registration, adds those of the catalog. Returns false when memory is
 * exhausted. */
bool pfb_collect_complete(pfb_collector *c, metadata_set *set);

/* Adds a problem, which pfb_collector_next_problem returns. Returns false when memory is exhausted. */
bool pfb_collect_add_problem(pfb_collector *c, const pfb_collector_problem *problem);

/* Adds the name table of the source, unless an earlier call did so or found none. Without a table, from the source or
 * put by the caller, objects and counters are found by title index only. Returns false on failure; a source without a
 * table is not a failure. */
bool pfb_collect_fetch_titles(pfb_collector *c, pfb_source_failure *failure);

/* Call after a sample was collected. If it comes from another file of a recording than the previous one, begins a file:
 * forgets the metadata and names of the previous one. Returns false on failure. */
bool pfb_collect_follow_file(pfb_collector *c, pfb_source_failure *failure);

/* ---- V1 of the source (add_v1.c) ------------------------------------------------------------------------- */

/* Decides whether V1 or V2 data is collected from the source; for V2 lists its countersets in *guids. If a V2 source
 * cannot list them (PFB_WIN32_NOT_SUPPORTED), *list_failure is that failure; countersets can then be found by GUID and
 * in the catalog only. Returns false on other failures. */
bool pfb_collect_list(pfb_collector *c, pfb_bytes *guids, pfb_source_failure *list_failure,
                      pfb_source_failure *failure);

/* pfb_collector_add_choice for V1. */
bool pfb_collect_add_v1(pfb_collector *c, const pfb_collector_choice *choice, pfb_source_failure *failure);

/* ---- samples.c ------------------------------------------------------------------------------------------- */

/* Loads the reply in the spare sample of a format, compares it with older samples, computes its values and makes it
 * the current sample, unless its header is malformed (c->reply.is_sample). Returns false when memory is exhausted. */
bool pfb_collect_load(pfb_collector *c, bool is_v1);

/* Ends the current sample and returns the spare sample of a format, which is allocated if there is none. Returns null
 * when memory is exhausted. */
stored_sample *pfb_collect_spare(pfb_collector *c, bool is_v1);

/* Ends the current sample and keeps it for comparison with later ones. Returns false when memory is exhausted. */
bool pfb_collect_end_sample(pfb_collector *c);

/* Finds the series that a sample with these clocks belongs to: the one whose latest sample comes from the same file,
 * else the newest one that the sample continues by its clocks and, for V2, its queries. Of `sample`, reads only the
 * machine name; sets `series` and `gap`. */
void pfb_collect_choose_series(pfb_collector *c, stored_sample *sample, const pfb_collector_clocks *clocks, bool is_v1);

/* Frees all samples and the memory for computed values. */
void pfb_collect_free_samples(pfb_collector *c);

/* ---- pairs.c --------------------------------------------------------------------------------------------- */

/* Returns why samples of two files may not be compared, judged by their clocks, as a PFB_GAP_ bit; or 0. */
uint32_t pfb_collect_find_gap(const stored_sample *older, const stored_sample *newer, bool is_v1);

/* Stores the results of a sample in c->pairs, each with the older sample that it is compared with: the latest of its
 * object in the sample's series. Unless the latest sample of its series is from the same file, a V2 sample may also be
 * compared with samples of ended files with other queries. A V2 result with a counter that has another type or other
 * related counters in the older sample is not compared; if that sample is from another file, adds PFB_GAP_COUNTERS to
 * c->gaps. Returns false when memory is exhausted. */
bool pfb_collect_list_pairs(pfb_collector *c, const stored_sample *sample, bool is_v1);

/* ---- range.c --------------------------------------------------------------------------------------------- */

/* Returns true if the range leaves a sample out. Sets is_left_out and the time in c->reply. Of `sample`, reads only the
 * series. */
bool pfb_collect_leave_out(pfb_collector *c, const stored_sample *sample, const pfb_collector_clocks *clocks,
                           bool is_v1);

/* ---- collect.c -------------------------------------------------------------------------------------------- */

/* Forgets the paths and samples of the chosen file's log. */
void pfb_collect_forget_log(pfb_collector *c);

/* ---- log_values.c ----------------------------------------------------------------------------------------- */

/* Sets the time of a value: in UTC if the bias is known, else in local time. A time so large that UTC could overflow is
 * unknown. */
void pfb_collect_set_log_time(pfb_collected_value *v, uint64_t local_time, bool has_bias, int32_t bias_minutes);

/* Returns the next value of the current sample, which comes from a log; false after the last one. */
bool pfb_collect_next_of_log(pfb_collector *c, pfb_collected_value *value);

/* Describes the current sample, which comes from a log. */
pfb_collected_sample pfb_collect_log_sample(const pfb_collector *c);

/* ---- values.c -------------------------------------------------------------------------------------------- */

/* Makes the sample the current one. Returns false when memory is exhausted. */
bool pfb_collect_show(pfb_collector *c, stored_sample *sample, bool is_v1);

#endif
