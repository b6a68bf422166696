/* SPDX-License-Identifier: MIT */
#ifndef CLI_PATHS_H
#define CLI_PATHS_H

#include "input/options.h"
#include "perfblock/collect.h"

/* The counter paths of a command line: those of --path, of the arguments, and in the files of --paths. */

typedef struct path_list {
    char **texts;                  /* the paths, in UTF-8 */
    pfb_collector_choice *choices; /* the parts of each path */
    size_t count, text_capacity, choice_capacity;
} path_list;

/* Reads the paths of the options and splits them into their parts. False after a message, with exit status 2 for a
 * malformed path and for a file of --paths without paths, 3 if such a file cannot be read; then the list need not be
 * freed. */
bool path_list_open(path_list *list, const options *o);

/* For a perfmon log, which contains names but no GUIDs: if a path or --set has a GUID whose name the catalog does not
 * know, reports that and sets the exit status to 2. */
void path_list_check_log(const path_list *list, const options *o, const char *file);

/* Returns the end of the message that there are no such counters and instances: " of these machines" if a path names a
 * machine, followed with `has_v2` by the explanation that V2 data does not name its machine; otherwise "". */
const char *path_list_machines(const path_list *list, bool has_v2);
void path_list_free(path_list *list);

/* Opens the list, and adds the counters that the options choose to a collector without a source: by path, and with
 * --set, --counter and --instance. *has_choice is false if the options choose none, which means all counters. False
 * after a message, like path_list_open(). */
bool path_list_choose(path_list *list, pfb_collector *collector, const options *o, bool *has_choice);

#endif
