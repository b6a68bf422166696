/* SPDX-License-Identifier: MIT */
#ifndef CLI_DISPLAY_H
#define CLI_DISPLAY_H

#include "metadata.h"
#include "output.h"
#include "perfblock/pairing.h"

/* Displayed values of a sample: a record per counter and instance as JSON or CSV, tables as text. */

/* A counter somebody asked for. */
typedef struct display_counter {
    pfb_guid set;
    uint32_t counter_id; /* PFB_NO_ID: all of the set */
} display_counter;

/* What is shown of what was collected: a source may give more than was asked for. */
typedef struct display_choice {
    display_counter *counters;
    size_t count, capacity;
    const uint8_t *pattern; /* of instance names, UTF-16LE; null: all instances */
    size_t pattern_units;
} display_choice;

typedef struct display {
    output *out;
    const char *file;
    size_t base; /* of the block in the file */
    uint64_t sample;
    const metadata *metadata;     /* null: nothing is known */
    const display_choice *choice; /* null: everything is shown */
    const pfb_snapshot *older;    /* null: this is the first */
    const pfb_snapshot *newer;
} display;

void display_sample(const display *d);

/* ---- For its parts --------------------------------------------------------------------------------------- */

/* A value with what its formula was given. */
typedef struct display_value {
    const pfb_snapshot_value *datum; /* null when a broken block ended before it */
    pfb_formula_result result;
    pfb_pairing_inputs inputs;
} display_value;

bool display_shows_result(const display *d, uint32_t result); /* something of its set was asked for */
bool display_shows_column(const display *d, uint32_t column);
bool display_shows_row(const display *d, uint32_t row);
display_value display_evaluate(const display *d, uint32_t row, uint32_t column);

/* The set of a result, or null. */
const metadata_set *display_set(const display *d, uint32_t result);

/* Tables (display_text.c). */
void display_text(const display *d);

#endif
