/* SPDX-License-Identifier: MIT */
#ifndef CLI_TITLES_H
#define CLI_TITLES_H

#include "input/input.h"
#include "output/name.h"
#include "perfblock/collect.h"

/* Names of V1 title indexes. They come from the name tables of a capture or log, and from the file of --names; a
 * collector stores them. If both have a name for an index, that of --names is used. */

typedef struct title_names {
    pfb_collector *collector;
    uint32_t file_number; /* of the chosen file */
    input file;           /* of --names; `data` is null without one */
} title_names;

/* Opens a collector and reads the table of --names at `path`, which may be null. Reports an error in the table. */
void title_names_open(title_names *t, const char *path, const pfb_read_options *options);

void title_names_close(title_names *t);

/* Begins the chosen file: forgets the names of the previous file, but not the names of --names. */
void title_names_begin(title_names *t);

/* Chooses the file that the other functions refer to: 0 at first. */
void title_names_choose(title_names *t, size_t file);

/* Adds a name table of the chosen file. Does not report errors in the table. */
void title_names_add(title_names *t, const uint8_t *data, size_t size);

/* Reports that a name on the command line matches a title of V1 blocks only because of a name table that follows the
 * blocks in standard input or a pipe: the command compared the blocks before it had the name, and left them out. Prints
 * a note if the command has output values of later blocks (`has_values`), otherwise an error with exit status 2. */
void title_names_report_late(const char *subject, bool has_values);

/* The name of a title index; `bytes` is null if there is none. `t` may be null. */
pfb_name title_names_find(const title_names *t, uint32_t index);

#endif
