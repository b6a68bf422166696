/* SPDX-License-Identifier: MIT */
#ifndef CLI_OBJECTS_H
#define CLI_OBJECTS_H

#include "commands/set_names.h"
#include "names/titles.h"
#include "output/output.h"
#include "sinks/series.h"

/* Lists V1 objects and their counters in the form in which the command countersets lists V2 countersets. If the command
 * line has names, also lists the instances of each object. An object that several blocks have is listed once, from the
 * first of them. */

typedef struct object_list {
    output *out;
    const char *file; /* for messages */
    const pfb_read_options *options;
    const title_names *titles;
    set_names *names;
    series_list checked; /* title indexes of all objects that were found, listed or not */
} object_list;

/* Lists the objects of a block that match `names` and were in no earlier block, and reports the errors of the block.
 * It is the latest record of the stream. */
void objects_list_block(object_list *l, const pfb_stream *stream, const pfb_record *record);

/* Call at the end of a file. Returns true if a name on the command line matches an object only now: in a pipe, name
 * tables may follow the blocks, whose objects are then compared without names. */
bool objects_have_late_names(object_list *l);
void objects_free(object_list *l);

#endif
