/* SPDX-License-Identifier: MIT */
#ifndef PFB_PDH_QUERY_STATE_H
#define PFB_PDH_QUERY_STATE_H

/* Queries and their counters. */
#include "pdh/data_source.h"
#include "pdh/handles.h"

typedef struct pdh_query pdh_query;

/* A value of a counter in the latest sample. */
typedef struct pdh_item {
    const char *name; /* of the instance: parent/name */
    uint32_t occurrence;
    uint32_t element;
    uint32_t status;         /* of the source: 0, or a PDH code for a value that is missing */
    pfb_raw_value inputs[2]; /* of the previous sample (has == 0: none) and of this one */
    bool has_type;           /* false: of a counter without a registered type, which only has raw values */
    bool is_text;            /* of a text log: inputs[1].value has the bits of the double that was displayed */
} pdh_item;

typedef struct pdh_counter {
    struct pdh_counter *next;
    pdh_query *query;
    HANDLE handle;
    DWORD_PTR user;
    LONG scale;
    pdh_catalog *catalog; /* has `object` and `entry` */
    const pdh_object_entry *object;
    const pdh_counter_entry *entry;
    char *machine, *object_name, *counter_name; /* as displayed */
    char *instance;                             /* as given; null: none */
    char *parent, *instance_name;               /* parts of it; null: none */
    uint32_t index;
    bool has_index, is_wildcard;
    struct pdh_counter *next_shared; /* the next one with the same key; null: none */
    uint32_t collected;              /* times, since it was added; stays at 2 */
    uint32_t status;                 /* PDH_CSTATUS_ of the latest collect */
    pdh_item *items;
    size_t item_count, item_capacity;
    size_t taken; /* items of earlier frames of the sample */
    uint32_t fit; /* of the only item of an exact path */
} pdh_counter;

struct pdh_query {
    size_t users; /* protected by the lock of handles.h: calls that run, and the handle */
    HANDLE handle;
    DWORD_PTR user;
    pdh_data_source *source;
    pfb_lock lock; /* protects what follows */
    bool is_closed;
    pdh_counter *counters; /* in the order of adding */
    pdh_counter *last_counter;
    pfb_stream *stream;       /* null: it is opened by the next collect */
    pfb_collector *collector; /* the same */
    bool is_changed;          /* counters were added since the stream was opened, or the range was set */
    bool has_pending;         /* `pending` was read but not put, or its values were not taken: */
    bool is_put;
    pfb_record pending;
    int64_t from, to;       /* local, inclusive */
    pdh_map keys;           /* of the counters, built before the first collect after a change */
    pdh_counter **by_place; /* the first counter of each key */
    size_t place_count, place_capacity;
    pdh_arena names;           /* of instances */
    uint64_t layout;           /* of the frame that items were made for; 0: none */
    uint64_t number;           /* of the sample */
    int64_t sample_time;       /* local, of the latest sample */
    bool is_lost;              /* the latest collect failed: the next sample has none before it */
    struct pdh_worker *worker; /* of PdhCollectQueryDataEx; null: none */
};

/* Finds the query of a handle and acquires its lock; null: PDH_INVALID_HANDLE. Release it with pfb_pdh_unlock. */
pdh_query *pfb_pdh_lock_query(HANDLE handle);

/* The same for the query of a counter, which becomes *counter. */
pdh_query *pfb_pdh_lock_counter(HANDLE handle, pdh_counter **counter);
void pfb_pdh_unlock(pdh_query *query);

uint32_t pfb_pdh_open_query(pdh_data_source *source, DWORD_PTR user, PDH_HQUERY *handle); /* takes the source */
uint32_t pfb_pdh_add_counter(HANDLE handle, pdh_text path_text, DWORD_PTR user, bool is_english, PDH_HCOUNTER *out);
uint32_t pfb_pdh_remove_counter(HANDLE handle);

/* Collects a sample. The query is locked. */
uint32_t pfb_pdh_collect(pdh_query *query);

/* Begins again with the first sample. The query is locked. */
void pfb_pdh_restart(pdh_query *query);

bool pfb_pdh_is_sample(const pfb_record *record); /* false: metadata */

/* ---- Paths ---------------------------------------------------------------------------------------------- */

/* A path and its parts, which are copies; null: absent. */
typedef struct pdh_path {
    char *machine, *object, *instance, *parent, *name, *counter;
    bool has_index;
    uint32_t index;
} pdh_path;

/* Splits a path in UTF-8. Returns 0, PDH_CSTATUS_NO_COUNTERNAME if it is empty, PDH_CSTATUS_BAD_COUNTERNAME or
 * PDH_MEMORY_ALLOCATION_FAILURE. Free the parts in every case. */
uint32_t pfb_pdh_parse_path(const char *text, pdh_path *path);
void pfb_pdh_free_path(pdh_path *path);

/* Makes a parent part of the name of the instance. Returns false when memory is exhausted. */
bool pfb_pdh_drop_parent(pdh_path *path);

bool pfb_pdh_is_wildcard(const char *text); /* may be null */

/* Finds the object of a path, which is a number in the catalog. A path without a machine means the first machine of a
 * log that has the object. Returns 0, PDH_CSTATUS_NO_MACHINE or PDH_CSTATUS_NO_OBJECT. */
uint32_t pfb_pdh_find_path_object(const pdh_catalog *catalog, const pdh_path *path, bool is_real_time, bool is_english,
                                  uint32_t *object);

/* Finds the object and the counter of a path, which are numbers in the catalog. Returns 0, PDH_CSTATUS_NO_MACHINE,
 * PDH_CSTATUS_NO_OBJECT or PDH_CSTATUS_NO_COUNTER. */
uint32_t pfb_pdh_find_names(const pdh_catalog *catalog, const pdh_path *path, bool is_real_time, bool is_english,
                            uint32_t *object, uint32_t *counter);

/* Returns true if the object has an instance that the path means; without an instance: if it has none. */
bool pfb_pdh_has_instance(const pdh_object_entry *o, const pdh_path *p);

/* Names may contain what separates the parts of a path, so that a text can be split in several ways. Replaces *path,
 * which is that of pfb_pdh_parse_path, by the first split whose names exist, instance included, if those of *path do
 * not; else by the first whose object and counter exist. Returns 0 or PDH_MEMORY_ALLOCATION_FAILURE. */
uint32_t pfb_pdh_choose_split(const char *text, pdh_path *path, const pdh_catalog *catalog, bool is_real_time,
                              bool is_english);

/* How well an instance of the data fits the one of a path: 0 not at all, higher is better. A wildcard fits with 1.
 * Names that differ only in case are names of different instances: the one that is spelt as in the path fits better. */
uint32_t pfb_pdh_fits(const char *instance, const char *parent, const char *name, bool has_index, uint32_t index,
                      bool is_wildcard, const char *found, uint32_t occurrence);

#endif
