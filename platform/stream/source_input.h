/* SPDX-License-Identifier: MIT */
#ifndef PFB_SOURCE_INPUT_H
#define PFB_SOURCE_INPUT_H

/* The state of the stream of a source, shared by source_input.c, which returns records, and by source_terms.c and
 * source_titles.c, which choose the counters that are collected. */
#include "select/metadata.h"
#include "select/selection.h"
#include "select/titles.h"
#include "stream/stream_private.h"

/* A reply that is malformed. It is a problem of the stream unless it is returned as a record. */
typedef struct malformed_reply {
    metadata_set *set;
    uint32_t request;
    pfb_error error;
} malformed_reply;

/* What is returned next. */
typedef enum source_phase {
    SOURCE_BEGIN,
    SOURCE_NAMES,    /* V1: the name table */
    SOURCE_METADATA, /* V2: replies of the counterset at `set`, from `request` on */
    SOURCE_COLLECT,  /* a sample that is still to be collected */
    SOURCE_SAMPLE,   /* `sample` */
    SOURCE_END,
    SOURCE_ENDED
} source_phase;

typedef struct source_input {
    stream_input *input;
    pfb_source *source;
    bool is_recorded;
    bool is_v1;

    /* V2 (source_terms.c). */
    pfb_bytes guids;                 /* of the countersets that the source lists */
    pfb_source_failure list_failure; /* why it cannot list them (PFB_WIN32_NOT_SUPPORTED); code 0: it can */
    metadata metadata;               /* in the order of the list */
    uint64_t metadata_bytes;         /* taken from the budget of the stream */
    uint64_t mark;                   /* number of the last pass over `metadata` */
    malformed_reply *malformed;
    size_t malformed_count, malformed_capacity;
    pfb_source_query *query;

    /* V1 (source_titles.c). */
    titles titles;
    pfb_bytes names;  /* the name table; empty: there is none */
    uint32_t *chosen; /* title indexes of the chosen objects, ascending */
    size_t chosen_count, chosen_capacity;
    pfb_bytes value_name; /* of HKEY_PERFORMANCE_DATA, with its NUL */

    /* Records (source_input.c). */
    source_phase phase;
    size_t set;
    uint32_t request;
    pfb_bytes fetched;         /* a reply other than a sample */
    pfb_bytes sample;          /* the latest one */
    bool has_first_block;      /* V1: `sample` has the first block, which was read to decide the version */
    pfb_bytes info, next_info; /* query information of the latest sample, and memory for the next */
    bool has_info;

    bool accepts_absent; /* while a term is chosen: a counterset that it names need not have a matching instance */

    /* Time, in 100 ns of a monotonic clock. */
    bool has_begun;   /* the first sample was collected, or its collection has begun */
    bool has_next;    /* `next_time` is that of the next sample */
    uint64_t started; /* when the first sample was collected */
    uint64_t next_time;
} source_input;

/* Returns true if a source failed because memory is exhausted: that is a failure of the stream, and does not mean that
 * the source lacks what was asked. */
bool pfb_source_input_lacks_memory(const pfb_source_failure *failure);

/* Decides whether V1 or V2 data is collected, as PFB_STREAM_VERSION and the source say; for V2 stores the list of
 * countersets. Returns false on failure. */
bool pfb_source_input_list(source_input *s, pfb_source_failure *failure);

/* V2: finds the countersets, counters and instances of a term, and adds the counters to the query; with all metadata
 * instead of samples, only finds countersets. Counters that the source refuses are problems. Returns false on failure:
 * then the term adds no counter. */
bool pfb_source_input_choose(source_input *s, const selection_term *term, pfb_source_failure *failure);

/* Reports the malformed replies that are not returned as records. */
void pfb_source_input_report_malformed(source_input *s);

/* V1: reads the name table of the source. Returns false on failure; a source without a table is none. */
bool pfb_source_input_fetch_names(source_input *s, pfb_source_failure *failure);

/* V1: finds the objects of a term and adds them to the value name that is queried. Returns false on failure: then the
 * term adds no object. */
bool pfb_source_input_choose_v1(source_input *s, const selection_term *term, pfb_source_failure *failure);

/* V1: queries all objects except costly ones. Returns false when memory is exhausted. */
bool pfb_source_input_choose_all_v1(source_input *s, pfb_source_failure *failure);

/* Fails unless a term with a machine can be of this source, whose machine is not known. */
bool pfb_source_input_check_machine(const selection_term *term, pfb_source_failure *failure);

#endif
