/* SPDX-License-Identifier: MIT */
#ifndef CLI_MEANT_H
#define CLI_MEANT_H

#include "collect/collector.h"

/* Errors for names that do not exist, with a suggestion: "no counterset Procesor; did you mean Processor Information?".
 * They are usage errors. */

/* `guids` are the `count` countersets that are offered. */
void meant_refuse_set(const offer *f, const pfb_guid *guids, size_t count, const char *text);

/* For a counter that none of the sets has. */
void meant_refuse_counter(const metadata *m, const choice_sets *sets, const char *text);

#endif
