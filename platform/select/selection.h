/* SPDX-License-Identifier: MIT */
#ifndef PFB_SELECT_SELECTION_H
#define PFB_SELECT_SELECTION_H

#include "perfblock/stream.h"
#include "select/titles.h"

/* The parts of a selection, and how its terms are compared with names: for the stream, the collector and the recorder.
 * Patterns are UTF-8 with * and ?; the case of A to Z is ignored. A name of more than 2048 bytes, which is PDH's limit
 * of 1024 UTF-16 units, matches only "*": hostile input can give one long name to many counters, and each of them would
 * be compared with the whole name. */

/* A pattern for instances. One that ends in "#" and a number, such as "a#1", also matches the second of the instances
 * called "a". One with a slash, such as "a/b", also matches instances called "b" whose parent is "a"; with several,
 * both names may have slashes. */
typedef struct instance_pattern {
    pfb_name pattern;      /* all of the text */
    pfb_name name_pattern; /* without the "#" and the number, if it has_index */
    bool has_index;
    uint32_t index;   /* the number after "#" */
    uint32_t options; /* of pfb_query_match */
} instance_pattern;

/* A term. The texts are null for "all". A path that can be split in several ways, or has escapes of the program, has a
 * term for each, which have the same number and follow each other: the data decides which of them chooses something.
 * The first one is what pfb_path_parse returns. In the others, a part with a parenthesis or a backslash has no
 * wildcards. */
typedef struct selection_term {
    int32_t number;                        /* as pfb_selection_add returns it */
    char *machine;                         /* without backslashes before it */
    char *counterset;                      /* a name, a GUID or a title index */
    char *counter;                         /* a name, an id or a title index */
    char *instance;                        /* what pfb_path calls so: with parent and index */
    uint32_t set_options, counter_options; /* of pfb_query_match */
    bool is_path;                          /* it was added as a path */
    /* Made from these: */
    bool has_guid; /* `counterset` is a GUID */
    pfb_guid guid;
    const char *catalog_name; /* of that GUID, for data without GUIDs; or null */
    instance_pattern instance_pattern;
    size_t same_instance; /* number of the first term with this instance */
} selection_term;

struct pfb_selection {
    selection_term *terms; /* in the order of their numbers; without any, everything is chosen */
    size_t count, capacity;
    int32_t number_count;
    int64_t from, to; /* both included; INT64_MIN and INT64_MAX: no limit */
    uint64_t every;   /* at least 1 */
};

/* Returns a copy, which the caller closes; null when memory is exhausted. `selection` may be null: everything. */
pfb_selection *pfb_selection_copy(const pfb_selection *selection);

/* What identifies a counterset or a counter in the data. */
typedef struct selection_names {
    pfb_name names[1 + TITLE_MAX_TRANSLATIONS]; /* those that exist: in any language, in English, of the catalog */
    size_t count;
    const pfb_guid *guid; /* of a V2 counterset; else null */
    bool has_number;
    uint32_t number; /* title index of a V1 object, id or title index of a counter */
    bool is_log;     /* from a log, where names may be absent: then "*" matches */
} selection_names;

/* Adds a name unless it is absent. */
void pfb_selection_add_name(selection_names *names, pfb_name name);

/* Return true if the term chooses this counterset or counter: by a name, its GUID or its number; by a pattern for the
 * GUID or the number if it has no name. */
bool pfb_selection_has_set(const selection_term *term, const selection_names *names);
bool pfb_selection_has_counter(const selection_term *term, const selection_names *names);

/* Returns true if the term chooses this machine, whose name may begin with two backslashes or be absent. */
bool pfb_selection_has_machine(const selection_term *term, const pfb_name *machine);

/* Returns true if a pattern has U+FFFD, which also matches unpaired surrogates. */
bool pfb_selection_has_replacement(const pfb_name *pattern);

/* Returns true if an instance matches. `parent->bytes` is null if it has no parent; `parent` is null if any parent
 * matches. `occurrence` is the instance's number among those with this parent and name, from 0. */
bool pfb_instance_matches(const instance_pattern *pattern, const pfb_name *parent, const pfb_name *name,
                          uint32_t occurrence);

#endif
