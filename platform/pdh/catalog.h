/* SPDX-License-Identifier: MIT */
#ifndef PFB_PDH_CATALOG_H
#define PFB_PDH_CATALOG_H

/* What a source has: machines, objects, counters and instances. Of files that is everything in them, of a live source
 * what exists at one time. A catalog does not change once it is made. */
#include "pdh/strings.h"
#include "perfblock/collect.h"

typedef struct pdh_counter_entry {
    const char *name, *english, *help; /* english, help: null if unknown */
    uint32_t object;
    uint32_t type;
    bool has_type; /* false: displayed values of a text log, or no registration */
    bool is_base;
    bool is_hidden;
    bool is_registered;
    uint32_t detail; /* 0: unknown */
    int32_t scale;   /* default scale */
    int64_t time_base;
    uint32_t id;
    uint32_t title; /* of V1 data; 0: none */
} pdh_counter_entry;

typedef struct pdh_instance_entry {
    const char *name; /* parent/name */
    uint32_t occurrence;
} pdh_instance_entry;

typedef struct pdh_object_entry {
    const char *machine;               /* without backslashes; "": unknown, which is this machine */
    const char *name, *english, *help; /* english, help: null if unknown */
    bool has_instances, has_parents;
    bool has_guid, has_title;
    pfb_guid guid;
    uint32_t title;
    uint32_t detail;          /* 0: unknown */
    uint32_t default_counter; /* PDH_NONE: none */
    uint32_t *counters;       /* positions in the catalog */
    pdh_instance_entry *instances;
    size_t counter_count, counter_capacity, instance_count, instance_capacity;
} pdh_object_entry;

typedef struct pdh_catalog {
    size_t users; /* protected by the lock of handles.h */
    pdh_object_entry *objects;
    pdh_counter_entry *counters;
    const char **machines;
    size_t object_count, object_capacity, counter_count, counter_capacity, machine_count, machine_capacity;
    pdh_map names;
    pdh_arena texts;
    bool is_text;                  /* of a log in text */
    bool is_recording;             /* it may grow */
    bool has_v1;                   /* V1 blocks of their own, not those inside of logs */
    uint32_t language;             /* primary language of the local names; 0: unknown, or English */
    uint32_t log_type;             /* PDH_LOG_TYPE_ */
    bool is_mixed;                 /* files of several types, or several logs in text */
    uint64_t size_bytes;           /* of all files */
    int64_t first_time, last_time; /* local */
    uint64_t sample_count;
    int64_t made; /* pfb_pdh_clock */
} pdh_catalog;

/* Reads a stream, to its end or, if `is_live`, up to its first sample, and closes it; null is a lack of memory. Returns
 * null with the PDH code in *code if nothing can be read. */
pdh_catalog *pfb_pdh_make_catalog(pfb_stream *stream, bool is_live, uint32_t *code);
void pfb_pdh_free_catalog(pdh_catalog *catalog); /* may be null */

/* Finds a machine by its name, with or without backslashes. "", "." and the names of this machine are the first machine
 * of real-time data (`is_live`). Returns its position or PDH_NONE. */
uint32_t pfb_pdh_find_machine(const pdh_catalog *catalog, const char *name, bool is_live);

/* The language of the names that are looked for. What has no English name of its own has the local one. */
typedef enum pdh_language {
    PDH_LOCAL,
    PDH_ENGLISH,
    PDH_LOCAL_FIRST, /* in a log, the names of which are either */
    PDH_ENGLISH_FIRST
} pdh_language;

/* The language of a call for a source: of real-time data that which the call asks for. */
pdh_language pfb_pdh_language(bool is_real_time, bool is_english);

uint32_t pfb_pdh_find_object(const pdh_catalog *catalog, uint32_t machine, const char *name, pdh_language language);
uint32_t pfb_pdh_find_counter(const pdh_catalog *catalog, uint32_t object, const char *name, pdh_language language);

enum { PDH_SET_TEXT = 64 };

/* Returns how a term of a selection names an object: its GUID, its title index, or its name. Uses `text`. */
const char *pfb_pdh_set_text(const pdh_object_entry *object, char text[PDH_SET_TEXT]);

/* The key of a counter in frames: the same for the catalog's entries and the series of all collectors of one source. */
void pfb_pdh_counter_key(pdh_map *map, const char *machine, const char *object, const char *counter, bool is_base);

/* Returns true for bases and multi counts. */
bool pfb_pdh_is_base(uint32_t type);

/* Returns the machine of a series without backslashes. */
const char *pfb_pdh_bare_machine(const char *machine);

/* The local time of a record, in whole milliseconds; 0: unknown. */
int64_t pfb_pdh_local_time(const pfb_record *record);

int64_t pfb_pdh_to_local(int64_t utc);
int64_t pfb_pdh_now(void); /* UTC, 100 ns since 1601 */

/* The name of this machine, in capital letters, without backslashes. */
void pfb_pdh_own_name(char name[256]);

/* Returns true if a machine's name, without backslashes before it, means this machine: also if it is empty. */
bool pfb_pdh_is_own_machine(const char *bare);

#endif
