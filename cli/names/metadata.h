/* SPDX-License-Identifier: MIT */
#ifndef CLI_METADATA_H
#define CLI_METADATA_H

#include "output/name.h"
#include "perfblock/metadata.h"

/* What is known about countersets: registrations and names, from a capture or a source, and from the built-in catalog
 * for sets of which neither tells anything. */

typedef struct counter_name {
    uint32_t id;
    uint32_t position; /* among the entries, so that of several for one id the first counts */
    pfb_name text;
} counter_name;

typedef struct counter_names {
    counter_name *rows; /* ascending by id */
    size_t count;
} counter_names;

/* Where names come from, in the order in which they count. */
enum { NAMES_LOCAL, NAMES_ENGLISH, NAMES_CATALOG, NAMES_COUNT };

typedef struct metadata_set {
    pfb_guid guid;
    bool is_told;          /* some reply was given */
    bool has_registration; /* request code 1 was given: then nothing of the catalog counts */
    bool has_catalog;
    bool has_counters;                   /* from either: */
    pfb_registration registration;       /* the latest */
    uint32_t *order;                     /* its counters by id, where they do not ascend */
    uint64_t mark;                       /* for whoever goes through the sets */
    pfb_name names[NAMES_COUNT];         /* request codes 3 and 9 */
    counter_names counters[NAMES_COUNT]; /* request codes 5 and 10 */
    counter_names helps;                 /* request code 6 */
} metadata_set;

typedef struct metadata {
    bool takes_helps;   /* help texts are wanted; set it once it is open */
    metadata_set *sets; /* ascending by GUID */
    size_t set_count;
    uint8_t **owned; /* blocks made from the catalog */
    size_t owned_count, owned_capacity;
} metadata;

/* Begins with nothing known about these sets; those of the catalog are added by itself. */
void metadata_open(metadata *m, const pfb_guid *guids, size_t count);

/* The same for the sets of which a capture holds replies; these are not taken yet. */
void metadata_open_capture(metadata *m, const uint8_t *data, size_t size);
void metadata_free(metadata *m);

/* Takes the reply to a request for one of the sets; what came before for the same request is replaced. The bytes must
 * stay. Codes that tell nothing the program displays are passed over. The error is that of the bytes; what precedes it
 * counts. */
pfb_error metadata_add(metadata *m, const pfb_guid *guid, uint32_t request, const uint8_t *data, size_t size,
                       uint32_t options);

/* The set, or null when it is not one of those announced. */
metadata_set *metadata_find(const metadata *m, const pfb_guid *guid);

/* Takes from the catalog what it has on the set, unless a reply of code 1 was given. */
void metadata_complete(metadata *m, metadata_set *set);

/* Names, all of them in UTF-16LE; `set` may be null. */
pfb_name metadata_set_name(const metadata_set *set);
pfb_name metadata_counter_name(const metadata_set *set, uint32_t counter_id);

/* The help text of a counter; `set` may be null. */
pfb_name metadata_counter_help(const metadata_set *set, uint32_t counter_id);

/* The name one place (NAMES_LOCAL and so on) has for the set, and for the counter. */
pfb_name metadata_set_name_at(const metadata_set *set, size_t place);
pfb_name metadata_counter_name_at(const metadata_set *set, size_t place, uint32_t counter_id);

#endif
