/* SPDX-License-Identifier: MIT */
#ifndef CLI_DISPLAY_H
#define CLI_DISPLAY_H

#include "names/metadata.h"
#include "names/titles.h"
#include "output/output.h"
#include "perfblock/sample.h"

/* Displayed values of a sample: a record per counter and instance as JSON or CSV, tables as text, or metrics. */

/* A counter somebody asked for. */
typedef struct display_counter {
    pfb_guid set;
    uint32_t counter_id; /* PFB_NO_ID: all of the set */
} display_counter;

/* What is shown of what was collected: a source may give more than was asked for. */
typedef struct display_choice {
    display_counter *counters; /* ascending by set and counter once they are sorted */
    size_t count, capacity;
    pfb_name pattern; /* of instance names; bytes is null: all instances */
} display_choice;

/* Puts the counters in order, each once; the choice is to be looked at only then. */
void display_sort_choice(display_choice *choice);

/* Whether the choice contains the set, or a counter of it. PFB_NO_ID is a counter that nothing identifies: only a
 * choice of all counters contains it. */
bool display_chooses_set(const display_choice *choice, const pfb_guid *set);
bool display_chooses_counter(const display_choice *choice, const pfb_guid *set, uint32_t counter_id);

/* Whether the choice contains instances of this name, UTF-16LE. */
bool display_chooses_name(const display_choice *choice, const pfb_name *name);

/* What became of the values displayed. Those with status not_displayed do not count. */
typedef struct display_statuses {
    bool has_single; /* some need two samples */
    bool has_other;  /* some have another status */
} display_statuses;

typedef struct display {
    output *out;
    const char *file;
    size_t base; /* of the block in the file */
    bool is_v1;  /* V1 */
    uint64_t sample;
    const metadata *metadata;       /* of V2; null: nothing is known */
    titles *titles;                 /* of V1; null: none */
    const display_choice *choice;   /* null: everything is shown */
    const pfb_sample *const *older; /* by result: the snapshot it was matched with; null: there is none */
    const pfb_sample *newer;
    display_statuses *statuses; /* updated; null: not wanted */
} display;

void display_sample(const display *d);

/* ---- For its parts --------------------------------------------------------------------------------------- */

/* A value with what its formula was given. */
typedef struct display_value {
    pfb_sample_value datum;
    pfb_formula_result result;
    pfb_cook_inputs inputs;
} display_value;

bool display_shows_result(const display *d, uint32_t result); /* something of its set was asked for */
bool display_shows_column(const display *d, uint32_t column);
bool display_shows_row(const display *d, uint32_t row);

/* False for counters whose registration says that they are not to be displayed, unless one was asked for by itself:
 * they serve others. Records have them, tables and metrics do not. */
bool display_is_meant_for_people(const display *d, uint32_t column);

display_value display_evaluate(const display *d, uint32_t row, uint32_t column);

/* Whether the kind of a result is one that gives values. */
bool display_knows_kind(const display *d, uint32_t result);

/* What is known of a V2 result's set, or null. */
const metadata_set *display_set(const display *d, uint32_t result);

/* The names of a result's counterset or object and of a column's counter. */
pfb_name display_set_name(const display *d, uint32_t result);
pfb_name display_counter_name(const display *d, uint32_t column);

/* Tables (display_text.c). */
void display_text(const display *d);

/* Metrics (prometheus.c). */
void display_metrics(const display *d);

#endif
