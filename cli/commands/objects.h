/* SPDX-License-Identifier: MIT */
#ifndef CLI_OBJECTS_H
#define CLI_OBJECTS_H

#include "commands/set_names.h"
#include "names/titles.h"
#include "output/output.h"
#include "values/series.h"

/* The objects of V1 blocks with their counters, each title once, as at its first occurrence: the counterpart of
 * countersets. */

typedef struct object_list {
    output *out;
    const char *file; /* for messages */
    const title_names *titles;
    set_names *names;
    series_list known; /* titles that were listed or are not wanted */
} object_list;

/* Lists the new objects of a block, which is at `base` of the file. Reports its errors. Returns its size; 0 if its
 * header is malformed. */
size_t objects_list_block(object_list *l, const uint8_t *data, size_t size, size_t base);
void objects_free(object_list *l);

#endif
