/* SPDX-License-Identifier: MIT */
#ifndef CLI_SET_NAMES_H
#define CLI_SET_NAMES_H

#include "input/suggest.h"
#include "perfblock/collect.h"

#include <stdbool.h>

/* The names of countersets and V1 objects that were asked for: whole names, in which * is any run of characters, ? one,
 * and case of A to Z is ignored; GUIDs; title indexes. */

typedef struct set_names {
    const char *const *names;
    size_t count; /* 0: all are wanted */
    /* ------------------------------------------------------------------------------------------ */
    bool *is_found;
    suggestion *meant;
} set_names;

void set_names_open(set_names *s, const char *const *names, size_t count);

/* Whether something of this name is wanted. */
bool set_names_have(set_names *s, const char *name, size_t size);

/* The same for a counterset, by its GUID, its name and its English name. */
bool set_names_have_set(set_names *s, const pfb_guid *guid, const pfb_described_counterset *set);

/* Reports, status 2, the first name that no set had, as "no WHAT NAME". False if there is one. */
bool set_names_check(const set_names *s, const char *subject, const char *what);
void set_names_free(set_names *s);

/* Reports the first of these names that no counterset has whose metadata were put to the collector, or no counter of
 * such countersets. False after that; true also without metadata. */
bool set_names_check_put(pfb_collector *collector, const char *subject, const char *const *sets, size_t set_count,
                         const char *const *counters, size_t counter_count);

#endif
