/* SPDX-License-Identifier: MIT */
#ifndef CLI_UNKNOWN_NAMES_H
#define CLI_UNKNOWN_NAMES_H

#include "collect/collecting.h"

/* Usage errors for names that do not exist, with a suggestion: "no counterset Procesor; did you mean Processor
 * Information?". */

/* Reports the first name in `choice` that no counterset has. */
void unknown_names_report_set(const collecting *c, const pfb_collector_choice *choice);

/* Reports the first counter name in `choice` that no counter of its countersets has. */
void unknown_names_report_counter(const collecting *c, const pfb_collector_choice *choice);

#endif
