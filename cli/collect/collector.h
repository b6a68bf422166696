/* SPDX-License-Identifier: MIT */
#ifndef CLI_COLLECTOR_H
#define CLI_COLLECTOR_H

#include "collect/offer.h"
#include "input/options.h"
#include "perfblock/capture.h"
#include "values/display.h"

/* A query made from --set, --instance and --counter, ready to be sampled; for live and record. */

/* A counterset that --set means. */
typedef struct choice_set {
    pfb_guid guid;
    const char *called; /* what the user wrote */
    bool is_pattern;    /* that was a pattern */
    size_t place;       /* among all that was meant */
} choice_set;

typedef struct choice_sets {
    choice_set *rows;
    size_t count, capacity;
} choice_sets;

typedef struct collector {
    offer offer;
    metadata metadata;
    choice_sets sets;
    offer_set *replies;    /* of each of these */
    display_choice choice; /* the counters asked for; those that were added for their sake are not among them */
    display_choice stored; /* what a recording holds: these as well */
    pfb_name pattern;      /* of the instances */
    pfb_source_query *query;
    pfb_capture recorded; /* of a capture: after the last sample */
    bool has_sample, has_new_info;
} collector;

/* Opens the source, finds the sets and counters, adds the query. False after a sentence on standard error: status 2 for
 * names that mean nothing here, else that of the source. */
bool collector_open(collector *c, const options *o);
void collector_close(collector *c);

typedef enum collector_outcome {
    COLLECTOR_SAMPLE, /* the bytes hold one */
    COLLECTOR_END,    /* a capture has no more */
    COLLECTOR_FAILED  /* told; status 4 */
} collector_outcome;

collector_outcome collector_sample(collector *c, pfb_bytes *bytes);

/* Whether the last sample has other query information than the one before: the first one, and in a capture each one
 * that new query information precedes. */
bool collector_has_new_info(const collector *c);

/* The query information of the last sample. False after a sentence, status 4. */
bool collector_info(const collector *c, pfb_bytes *info);

/* ---- Its choice of counters (choice.c) ------------------------------------------------------------------- */

/* Adds the sets that the user calls `text`: a GUID, or a name in either case with * and ?. `guids` are
 * those the source lists. False after a sentence when there is none. */
bool choose_sets(const offer *f, const pfb_guid *guids, size_t count, const char *text, choice_sets *sets);

/* Leaves each set where it was first meant; named in full anywhere, it is named in full. */
void choose_each_once(choice_sets *sets);

/* Adds to `asked` the counters of the set that the options name, or one element for all of them; and puts into `query`
 * the same and what their formulas need besides, in order. False when the set has none of them. */
bool choose_counters(const options *o, const metadata_set *set, display_choice *asked, display_choice *query);

/* False, after a sentence, when some counter of the options is in none of the sets. */
bool choose_check(const options *o, const metadata *m, const choice_sets *sets);

#endif
