/* SPDX-License-Identifier: MIT */
#ifndef PFB_REGISTRY_READER_H
#define PFB_REGISTRY_READER_H

/* The samples of the source, for each value name: a name that is queried for the first time begins with the first
 * sample of a recording, so that names which are queried in turn get the same samples. */
#include "pdh/data_source.h"
#include "pdh/titles.h"
#include "registry/value_name.h"

typedef struct registry_reader registry_reader;

/* The source of the registry, as long as it is that of real-time data. Zero is none. */
typedef struct registry_source {
    pdh_data_source *source;
    pdh_catalog *catalog;
    pdh_titles titles;
    registry_reader *readers; /* the latest first */
} registry_source;

/* Makes the source that of real-time data. Returns the Win32 code. */
uint32_t pfb_registry_open_source(registry_source *source);
void pfb_registry_close_source(registry_source *source);

/* Frees what reads a live source. Positions in recordings stay. */
void pfb_registry_close_live(registry_source *source);

/* Returns the sample that the next query of data gets, or null with the Win32 code in *code. It stays the next one
 * until pfb_registry_consume, which must follow before another call. The value's titles are copied. */
const pfb_bytes *pfb_registry_next_sample(registry_source *source, uint32_t machine, const registry_value *value,
                                          uint32_t *code);
void pfb_registry_consume(registry_source *source);

/* The name of a machine for blocks: of an unnamed one, that of this machine. */
const char *pfb_registry_machine_name(const registry_source *source, uint32_t machine, char own[256]);

#endif
