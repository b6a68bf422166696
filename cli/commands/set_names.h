/* SPDX-License-Identifier: MIT */
#ifndef CLI_SET_NAMES_H
#define CLI_SET_NAMES_H

#include "input/suggest.h"
#include "perfblock/collect.h"

#include <stdbool.h>

/* The names of countersets and V1 objects on the command line. Each is a GUID, a title index, or a pattern of a whole
 * name: * is any number of characters, ? is one character; the case of A to Z is ignored. The caller compares the names
 * that exist with them; set_names_check() then reports a name on the command line that none of them matched. */

typedef struct set_names {
    const char *const *names;
    size_t count; /* 0: every name matches */
    /* ------------------------------------------------------------------------------------------ */
    bool *is_found;      /* something with this name exists */
    suggestion *similar; /* the most similar name that exists */
} set_names;

void set_names_open(set_names *s, const char *const *names, size_t count);

/* Compares a name that exists with the names on the command line. Returns true if it matches one of them. */
bool set_names_match(set_names *s, const char *name, size_t size);

/* The same for a counterset with its GUID, name and English name. */
bool set_names_match_set(set_names *s, const pfb_guid *guid, const pfb_described_counterset *set);

/* Compares the id, the name and the English name of a counter with the names of counters on the command line. */
void set_names_match_counter(set_names *s, const pfb_described_counter *counter);

/* Returns how many names on the command line matched something. */
size_t set_names_count_found(const set_names *s);

/* If a name on the command line matched nothing, reports the first such name as "no WHAT NAME", with exit status 2, and
 * returns false. */
bool set_names_check(const set_names *s, const char *subject, const char *what);
void set_names_free(set_names *s);

#endif
