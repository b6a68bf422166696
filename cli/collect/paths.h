/* SPDX-License-Identifier: MIT */
#ifndef CLI_PATHS_H
#define CLI_PATHS_H

#include "input/options.h"
#include "perfblock/collect.h"

/* The counter paths of a command line: those of --path, of the arguments, and of the file of --paths. */

typedef struct path_list {
    char **texts;
    pfb_collector_choice *choices; /* the parts of each path */
    size_t count, text_capacity, choice_capacity;
} path_list;

/* Lists and splits the paths. False after a message: status 2 for one that is no path, or that names a machine; 3 for a
 * file that cannot be read. The list need not be freed then. */
bool path_list_open(path_list *list, const options *o);

/* Reports, status 2, that a perfmon log has no GUIDs, if a counterset that is asked for by path or --set is a GUID that
 * the catalog does not know. */
void path_list_check_log(const path_list *list, const options *o, const char *file);
void path_list_free(path_list *list);

/* Opens the list and chooses the counters of the options in a collector without a source: those of the paths, and those
 * of --set, --counter and --instance. `has_choice` is false if the options choose none, which means all. False after a
 * message, as path_list_open(). */
bool path_list_choose(path_list *list, pfb_collector *collector, const options *o, bool *has_choice);

#endif
