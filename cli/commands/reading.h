/* SPDX-License-Identifier: MIT */
#ifndef CLI_READING_H
#define CLI_READING_H

#include "collect/paths.h"
#include "input/inputs.h"
#include "perfblock/collect.h"

/* The inputs of a command, and the collector that takes their records. */
typedef struct reading {
    const options *o;
    inputs in;
    pfb_collector *collector;
    path_list paths;
    pfb_selection *selection; /* what reading_choose() chose */
    bool has_choice;          /* the options choose counters */
} reading;

/* Opens the collector; the caller opens the inputs. */
void reading_open(reading *r, const options *o);
void reading_close(reading *r); /* also the inputs */

/* Makes the collector, and of a live source the stream, choose what the options choose. False after a message, see
 * path_list_select(). */
bool reading_choose(reading *r, const char *default_set);

/* Puts a record into the collector. Returns true if there is a current frame. */
bool reading_put(reading *r, const pfb_record *record);

/* Reports what the collector found wrong with a record. */
void reading_report_record(const reading *r, const pfb_record *record);

#endif
