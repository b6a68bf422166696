/* SPDX-License-Identifier: MIT */
#ifndef CLI_OBJECTS_H
#define CLI_OBJECTS_H

#include "commands/set_names.h"
#include "names/titles.h"
#include "output/output.h"
#include "values/series.h"

/* Lists the V1 objects of blocks with their counters, as the command countersets lists those of V2. If the command line
 * has names, also lists the instances of each object. Each object is listed once, as it is in the first block that has
 * it. */

typedef struct object_list {
    output *out;
    const char *file; /* for messages */
    const pfb_read_options *options;
    const title_names *titles;
    set_names *names;
    series_list checked; /* title indexes of all objects that were found, listed or not */
} object_list;

/* Lists the objects of a block that were not listed before, and reports the errors of the block. `base` is its offset
 * in the file. Returns the size of the block; 0 if its header is malformed. */
size_t objects_list_block(object_list *l, const uint8_t *data, size_t size, size_t base);

/* Returns true if a name on the command line is that of an object, but was not known when the object was compared: the
 * name tables of a pipe may follow its blocks. Call it at the end of the file. */
bool objects_have_late_names(object_list *l);
void objects_free(object_list *l);

#endif
