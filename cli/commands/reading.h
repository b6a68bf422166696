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
    bool is_begun;            /* a record was read, and that of a machine has what was chosen */
} reading;

#define LIVE_SET "Processor Information" /* the default of --set for a machine */

/* Opens the collector and the inputs. False after a message, see inputs_open(). */
bool reading_open(reading *r, const options *o, uint32_t metadata);
void reading_close(reading *r);

/* Chooses what the options choose; of a machine, interrupts end the reading from now on. False after a message, see
 * path_list_select(). */
bool reading_choose(reading *r);

/* Returns the next record of what was chosen, see inputs_next(). Also false after a message, with exit status 2 if a
 * counterset, a counter or a path of the options chooses nothing of the machine, else 4. */
bool reading_next(reading *r, pfb_record *record);

/* Puts a record into the collector. Returns true if there is a current frame. */
bool reading_put(reading *r, const pfb_record *record);

/* Reports what the collector found wrong with a record. */
void reading_report_record(const reading *r, const pfb_record *record);

#endif
