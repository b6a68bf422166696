/* SPDX-License-Identifier: MIT */
#ifndef PFB_SELECT_METADATA_H
#define PFB_SELECT_METADATA_H

#include "perfblock/metadata.h"
#include "select/selection.h"

/* Metadata of countersets: copies of registration replies, and the catalog for countersets without a registration.
 * Names refer to these copies and are not converted: a hostile reply can give one long name to thousands of counters.
 */

/* The name or help text of a counter. */
typedef struct metadata_text {
    uint32_t counter_id;
    uint32_t position; /* among the entries of the reply; of several entries for an id, the first is used */
    pfb_name text;
} metadata_text;

typedef struct metadata_texts {
    metadata_text *rows; /* ascending by counter id */
    size_t count;
} metadata_texts;

/* Where names come from, in order of precedence: the source in its language, the source in English, the catalog. */
enum { METADATA_LOCAL, METADATA_ENGLISH, METADATA_CATALOG, METADATA_ORIGINS };

/* A copy of a registration reply. */
typedef struct metadata_reply {
    struct metadata_reply *next;
    uint32_t request; /* the request code; metadata.c adds a bit if the reply is from the catalog */
    size_t size_bytes;
    uint8_t bytes[];
} metadata_reply;

typedef struct metadata_set {
    pfb_guid guid;
    metadata_reply *replies;       /* stored replies: at most one for each value of their `request` */
    uint32_t fetched;              /* bit N: stream of a source: it was asked for request code N */
    bool has_reply;                /* a reply was added, even a malformed one; false if known from the catalog only */
    bool has_registration;         /* a valid reply to PFB_REQUEST_COUNTERSET was added: the catalog is not used */
    bool has_catalog;              /* the catalog's replies were added */
    bool has_counters;             /* registration is valid */
    pfb_registration registration; /* the latest one of the source, or that of the catalog */
    uint32_t *order;               /* memory of registration.order; null if the ids ascend */
    bool is_chosen;                /* stream of a source: the replies are returned as records */
    uint64_t mark;                 /* number of the last pass that visited this counterset, see pfb_collector.mark */
    pfb_name names[METADATA_ORIGINS];
    pfb_name help;
    metadata_texts counters[METADATA_ORIGINS];
    metadata_texts helps;
} metadata_set;

typedef struct metadata_node metadata_node;

/* Initialised to zero. */
typedef struct metadata {
    metadata_set **sets; /* in order of appearance */
    size_t count, capacity;
    metadata_node *nodes; /* a crit-bit tree over the GUIDs */
    size_t node_capacity;
    uint32_t root;
} metadata;

void pfb_metadata_free(metadata *m);

/* Returns the counterset, or null. Takes at most 128 steps, for hostile GUIDs too. */
metadata_set *pfb_metadata_find(const metadata *m, const pfb_guid *guid);

/* Returns the counterset; adds it if it is missing. Returns null when memory is exhausted. */
metadata_set *pfb_metadata_get(metadata *m, const pfb_guid *guid);

/* Adds a reply to a registration request, which replaces an earlier one. *error is the first error in the bytes. Names
 * and help texts of counters that precede it are used; any other malformed reply only sets has_reply. Returns false
 * when memory is exhausted. */
bool pfb_metadata_add(metadata_set *set, uint32_t request, const void *data, size_t size,
                      const pfb_read_options *options, pfb_error *error);

/* Returns the reply to a registration request that pfb_metadata_add has stored; null if there is none. Of
 * a malformed reply, only counter names and help texts are stored. */
const metadata_reply *pfb_metadata_reply(const metadata_set *set, uint32_t request);

/* Adds the catalog's names and counters to a counterset without registration. Returns false when memory is exhausted.
 */
bool pfb_metadata_complete(metadata_set *set);

/* Return the name from one origin (_at), or the first name that exists (is_english: except a local one, unless there is
 * no other), or the help text; `bytes` is null if there is none. `set` may be null. */
pfb_name pfb_metadata_set_name_at(const metadata_set *set, unsigned origin);
pfb_name pfb_metadata_set_name(const metadata_set *set, bool is_english);
pfb_name pfb_metadata_counter_name_at(const metadata_set *set, unsigned origin, uint32_t counter_id);
pfb_name pfb_metadata_counter_name(const metadata_set *set, uint32_t counter_id, bool is_english);
pfb_name pfb_metadata_counter_help(const metadata_set *set, uint32_t counter_id);

/* The names by which a selection finds a counterset, or one of its counters. `set` may be null. */
selection_names pfb_metadata_names_of_set(const metadata_set *set, const pfb_guid *guid);
selection_names pfb_metadata_names_of_counter(const metadata_set *set, uint32_t counter_id);

#endif
