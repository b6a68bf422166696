/* SPDX-License-Identifier: MIT */
#ifndef CLI_UNKNOWN_NAMES_H
#define CLI_UNKNOWN_NAMES_H

#include "collect/collecting.h"

/* Reports names that do not exist as usage errors, with a suggestion if there is a similar name: "no counterset
 * Procesor; did you mean Processor Information?". */

/* Call after adding `choice` has failed with PFB_WIN32_COUNTERSET_NOT_FOUND. Reports the first counterset name in it
 * that does not exist. */
void unknown_names_report_set(const collecting *c, const pfb_collector_choice *choice);

/* The same for PFB_WIN32_COUNTER_NOT_FOUND and counter names. */
void unknown_names_report_counter(const collecting *c, const pfb_collector_choice *choice);

#endif
