/* SPDX-License-Identifier: MIT */
#ifndef CLI_TITLES_H
#define CLI_TITLES_H

#include "input/input.h"
#include "output/name.h"
#include "perfblock/collect.h"

/* Names of V1 title indexes, held by a collector: those of the name tables of a capture, and before them those of
 * --names. */

typedef struct title_names {
    pfb_collector *collector;
    input file;       /* of --names; without data: none */
    uint64_t ahead;   /* tables before this offset were looked for */
    uint64_t missing; /* tables before this offset were added one by one */
} title_names;

/* Opens a collector and reads the table of --names, whose error is reported. `path` may be null. */
void title_names_open(title_names *t, const char *path, const pfb_read_options *options);
void title_names_close(title_names *t);

/* Begins a file with its own names. */
void title_names_begin(title_names *t);

/* Adds the name tables of a capture, also those that follow the blocks which they belong to. In a pipe only the tables
 * in the first window are found ahead. Further calls for a file have no effect. Errors in tables are not reported here.
 */
void title_names_look_ahead(title_names *t, const input *capture);

/* Adds a name table at `offset` of the current file, unless it was added before. Its errors are not reported here. */
void title_names_add(title_names *t, uint64_t offset, const uint8_t *data, size_t size);

/* The name of a title index, or none. `t` may be null. */
pfb_name title_names_find(const title_names *t, uint32_t index);

#endif
