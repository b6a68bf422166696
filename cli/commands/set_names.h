/* SPDX-License-Identifier: MIT */
#ifndef CLI_SET_NAMES_H
#define CLI_SET_NAMES_H

#include "input/suggest.h"
#include "perfblock/metadata.h"

#include <stdbool.h>

/* The names of countersets and V1 objects that were asked for: whole names, in which * is any run of characters, ? one,
 * and case of A to Z is ignored; GUIDs; title indexes. */

typedef struct set_names {
    char *const *names;
    size_t count; /* 0: all are wanted */
    /* ------------------------------------------------------------------------------------------ */
    bool *is_found;
    suggestion *meant;
} set_names;

void set_names_open(set_names *s, char *const *names, size_t count);

/* Whether a set of this name is wanted. A set has several names: that of the system's language, the English one, and
 * its GUID or title index. */
bool set_names_have(set_names *s, const char *name, size_t size);
bool set_names_have_guid(set_names *s, const pfb_guid *guid);

/* Reports, status 2, the first name that no set had. */
void set_names_check(const set_names *s, const char *subject);
void set_names_free(set_names *s);

#endif
