/* SPDX-License-Identifier: MIT */
#ifndef CLI_SET_NAMES_H
#define CLI_SET_NAMES_H

#include "input/suggest.h"
#include "perfblock/collect.h"

#include <stdbool.h>

/* Names of countersets, V1 objects or counters on the command line. Each is a GUID, a number (title index or counter
 * id), or a pattern of a whole name: * matches any number of characters, ? matches one character; the case of A to Z is
 * ignored. The caller compares all names that exist with these names. set_names_check() then reports a name on the
 * command line that nothing matched. */

typedef struct set_names {
    const char *const *names;
    size_t count;    /* 0: every name matches */
    size_t required; /* set_names_check() reports only the first ones */
    /* ------------------------------------------------------------------------------------------ */
    bool *is_found;      /* something with this name exists */
    suggestion *similar; /* the most similar name that exists */
} set_names;

void set_names_open(set_names *s, const char *const *names, size_t count);

/* Compares a name that exists with the names on the command line. Returns true if it matches one of them. */
bool set_names_match(set_names *s, const char *name, size_t size);

/* The same for a counterset with its GUID and names. */
bool set_names_match_set(set_names *s, const pfb_guid *guid, const pfb_described_counterset *set);

/* Compares the id and the names of a counter with the names of counters on the command line. */
void set_names_match_counter(set_names *s, const pfb_described_counter *counter);

/* Returns the number of names on the command line that matched something. */
size_t set_names_count_found(const set_names *s);

/* If one of the first `required` names matched nothing, reports the first one as "no KIND NAME", with exit status 2,
 * and returns false. */
bool set_names_check(const set_names *s, const char *subject, const char *kind);
void set_names_free(set_names *s);

#endif
