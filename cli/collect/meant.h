/* SPDX-License-Identifier: MIT */
#ifndef CLI_MEANT_H
#define CLI_MEANT_H

#include "collect/collecting.h"

/* Errors for names that do not exist, with a suggestion: "no counterset Procesor; did you mean Processor Information?".
 * They are usage errors. */

/* Reports the first name of --set that no counterset has. */
void meant_refuse_set(const collecting *c, const pfb_collector_choice *choice);

/* Reports the first name of --counter that no counter of these countersets has. */
void meant_refuse_counter(const collecting *c, const pfb_collector_choice *choice);

#endif
