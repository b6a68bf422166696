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
    input file; /* of --names; without data: none */
} title_names;

/* Opens a collector and reads the table of --names, whose error is reported. `path` may be null. */
void title_names_open(title_names *t, const char *path, const pfb_read_options *options);
void title_names_close(title_names *t);

/* Begins a file with its own names: those of a capture, or none if `capture` is null. Errors in its tables are not
 * reported here. */
void title_names_begin(title_names *t, const input *capture);

/* Adds a name table of the current file. Its errors are not reported here. */
void title_names_add(title_names *t, const uint8_t *data, size_t size);

/* The name of a title index, or none. `t` may be null. */
pfb_name title_names_find(const title_names *t, uint32_t index);

#endif
