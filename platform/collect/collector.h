/* SPDX-License-Identifier: MIT */
#ifndef PFB_COLLECT_COLLECTOR_H
#define PFB_COLLECT_COLLECTOR_H

#include "collect/ended.h"
#include "collect/frame.h"
#include "collect/group.h"
#include "collect/log_state.h"
#include "collect/query_info.h"
#include "collect/range.h"
#include "collect/sample_store.h"
#include "collect/texts.h"
#include "perfblock/collect.h"
#include "select/metadata.h"
#include "select/titles.h"

/* The state of a collector, shared by the files of this folder. */

/* The samples of one format, V1 or V2. */
typedef struct format_samples {
    sample_store store;
    stored_sample *spare; /* the first of a list of samples, linked by `after`, whose memory the next ones use; it is
                           * the current sample until that ends */
} format_samples;

/* A result and the sample it is compared with. */
typedef struct compared_result {
    stored_sample *older; /* null: none */
    uint32_t result;
} compared_result;

/* A member that is zero is the default. */
typedef struct collector_options {
    pfb_read_options reader;
    pfb_formula_options formula; /* applied to every value */
    uint32_t identity;           /* PFB_IDENTITY_ */
    unsigned language;           /* of names, where the data has them in it: TITLE_ */
    bool is_recorder;            /* "a#1" chooses all instances called "a": in other samples it is another one */
    time_range range;
} collector_options;

/* What became of the bytes that were put last. */
typedef struct collected_reply {
    pfb_error error;  /* the first one; values that precede it are used */
    bool is_sample;   /* they are the current sample; false: the header is malformed, the sample was left out, or it is
                       * a record without values */
    bool is_left_out; /* the range leaves the sample out */
    uint64_t unreadable_cells; /* of a row of a text log */
} collected_reply;

/* A file or part that records refer to. */
typedef struct record_file {
    bool is_open; /* it has begun and not ended */
    uint32_t file, part;
    uint64_t unreadable_cells, first_unreadable_line; /* of a text log */
    bool has_unknown_code_page;                       /* a note says so */
} record_file;

/* A problem that pfb_collector_take_problem returns. */
typedef struct kept_problem {
    pfb_problem problem;
    char sentence[200];
} kept_problem;

/* The state of a file that is not the chosen one. */
typedef struct parked_file {
    log_state log, replaced_log;
    titles titles;
    metadata metadata;
    query_info *query;
    uint64_t file_number, names_version;
} parked_file;

struct pfb_collector {
    collector_options options;
    char *machine; /* of V2 data and of V1 blocks without a name; null: unknown */
    metadata metadata;
    titles titles;
    uint64_t names_version;      /* of the chosen file: changes with its names and registrations */
    uint64_t last_names_version; /* the last one of any file */
    pfb_selection *selection;    /* null: everything */
    uint64_t choice_version;     /* changes with the selection and options that series depend on */
    text_pool described;         /* texts of descriptions */
    uint64_t mark;               /* number of the last pass over the countersets of `metadata` */
    collected_reply reply;
    /* Samples (samples.c). */
    uint64_t number;           /* of the next sample */
    uint64_t file_number;      /* of the chosen file: unique among all files that were begun */
    uint64_t last_file_number; /* the last one that was assigned */
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
    const pfb_sample **older; /* by position, of the current samples: the one it is compared with, or null */
    size_t pair_capacity, result_capacity, older_capacity;
    double *values;        /* of the current samples; those of a sample are indexed by pfb_sample_place */
    uint8_t *status_bytes; /* indexed as `values` */
    size_t value_capacity, status_capacity;
    pfb_log_value *chosen; /* copies of the values of a log's sample that a selection chooses */
    size_t chosen_capacity;
    size_t value_count, older_count; /* elements of `values` and `older` in use */
    size_t ended_count;              /* samples of the current record that have ended */
    stored_sample *retained; /* samples that are no longer stored but belong to the current record, linked by `after` */
    /* The current sample. */
    stored_sample *current;          /* V1 or V2; null: none */
    bool is_v1;                      /* `current` is V1 */
    size_t first_value, first_older; /* its elements in `values` and `older` */
    frame_state frame;
    group_state group;
    /* Records (records.c). */
    record_file *record_files; /* by position of the file in `files` */
    size_t record_file_count, record_file_capacity;
    const pfb_stream *stream; /* of the record that is being put; null: the caller's */
    kept_problem *kept_problems;
    size_t kept_count, kept_capacity, kept_taken;
};

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
void pfb_collect_choose_series(pfb_collector *c, stored_sample *sample, const sample_clocks *clocks, bool is_v1);

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

/* Returns true if the range leaves a sample out. Sets is_left_out in c->reply. Of `sample`, reads only the
 * series. */
bool pfb_collect_leave_out(pfb_collector *c, const stored_sample *sample, const sample_clocks *clocks, bool is_v1);

/* ---- collect.c -------------------------------------------------------------------------------------------- */

/* Forgets the paths and samples of the chosen file's log. */
void pfb_collect_forget_log(pfb_collector *c);

/* Series have other names from now on. */
void pfb_collect_change_names(pfb_collector *c);

/* Begins another file in place of the chosen one: ends the current sample, and forgets the registrations, names, query
 * information and log of the previous file. */
void pfb_collect_begin_file(pfb_collector *c);

/* Ends the chosen file, so that later files can continue it. Returns false when memory is exhausted: then the first
 * sample of the next log may have no older one to be compared with. */
bool pfb_collect_end_file(pfb_collector *c);

/* Chooses the file that the following calls refer to, a position in `files`, and ends the current sample. Each file has
 * its own registrations, query information, V1 names, log paths and log samples; V1 blocks and V2 replies are compared
 * with the latest one of their machine, whatever file it comes from. Returns false when memory is exhausted. */
bool pfb_collect_choose_file(pfb_collector *c, size_t file);

/* Put a record of metadata for the chosen file. *error is the first error in its bytes. Return false when memory is
 * exhausted. */
bool pfb_collect_put_registration(pfb_collector *c, const pfb_record *record, pfb_error *error);
bool pfb_collect_put_names(pfb_collector *c, const pfb_record *record, pfb_error *error);
bool pfb_collect_put_query_info(pfb_collector *c, const pfb_record *record, pfb_error *error);

/* Puts a V2 reply or V1 block, which becomes the current sample without a frame. Sets c->reply. Returns false when
 * memory is exhausted. */
bool pfb_collect_put_reply(pfb_collector *c, bool is_v1, const void *data, size_t size);

/* ---- logs.c ---------------------------------------------------------------------------------------------- */

/* Put a record of the chosen file: paths or a sample of a .blg, the header of a text log, a row of it. Set c->reply;
 * offsets of errors count from the start of the record. Return false when memory is exhausted. */
bool pfb_collect_put_log(pfb_collector *c, const pfb_record *record);
bool pfb_collect_put_text_paths(pfb_collector *c, const pfb_record *record);
bool pfb_collect_put_row(pfb_collector *c, const pfb_record *record);

/* A sample of a .blg may contain whole V1 objects, each as a V1 block. Puts the next of these blocks of the latest
 * record; it becomes the current sample, with the sample number of the record. Offsets of errors count from the start
 * of the joined record. Returns false after the last block, and when memory is exhausted, which *has_memory says. */
bool pfb_collect_next_object(pfb_collector *c, bool *has_memory);

/* ---- frame.c --------------------------------------------------------------------------------------------- */

/* Begins the frame of the current sample, without values. */
void pfb_collect_begin_frame(pfb_collector *c);

/* Appends the values of the current sample to the frame. Returns false when memory is exhausted. */
bool pfb_collect_extend_frame(pfb_collector *c);

/* Completes the frame, which becomes the current one. Returns false when memory is exhausted. */
bool pfb_collect_end_frame(pfb_collector *c);

/* Makes the frame of the current sample, if there is one, the current one. Returns false when memory is exhausted. */
bool pfb_collect_make_frame(pfb_collector *c);

/* Forgets the frames, so that the next layout has a new identifier. */
void pfb_collect_forget_frame(pfb_collector *c);

/* These are pfb_collector_series and so on, without groups; *series and *value are of the current size. */
bool pfb_collect_source_series(const pfb_collector *c, uint32_t element, pfb_series *series);
bool pfb_collect_source_value(const pfb_collector *c, uint32_t element, pfb_value *value);
bool pfb_collect_source_inputs(const pfb_collector *c, uint32_t element, pfb_raw_value inputs[2]);

/* Stores the time of the latest sample of a log, and whether it is local. Returns false, and stores 0, if it is so
 * large that UTC could overflow. */
bool pfb_collect_log_time(const log_state *log, uint64_t local_time, bool *is_local, int64_t *time);

/* ---- records.c ------------------------------------------------------------------------------------------- */

void pfb_collect_free_records(pfb_collector *c);

#endif
