/* SPDX-License-Identifier: MIT */
#ifndef CLI_PATHS_H
#define CLI_PATHS_H

#include "input/options.h"
#include "perfblock/stream.h"

/* The counter paths of a command line: those of --path, of the arguments, and in the files of --paths. */

/* A path and its parts, in UTF-8. */
typedef struct counter_path {
    char *text;
    char *machine, *counterset, *counter; /* machine: null if the path has none */
} counter_path;

typedef struct path_list {
    counter_path *paths;
    size_t count, capacity;
} path_list;

/* For a perfmon log, which contains names but no GUIDs: if a path or --set has a GUID whose name the catalog does not
 * know, reports that and sets the exit status to 2. */
void path_list_check_log(const path_list *list, const options *o, const char *file);

/* Returns the end of the message that there are no such counters and instances: " of these machines" if a path names a
 * machine, followed with `has_v2` by the explanation that V2 data does not name its machine; otherwise "". */
const char *path_list_machines(const path_list *list, bool has_v2);
void path_list_free(path_list *list);

/* Opens the list, and makes a selection of what the options choose: a term for each path of the list, then for each
 * instance pattern, in it for each counterset, and in it for each counter one of --instance, --set and --counter. Paths
 * of the machine of --machine have no machine. If the options choose nothing, the selection has the counterset
 * `default_set`, or if that is null no term, which means everything. *has_choice is true if it has a term. Null after a
 * message, with exit status 2 for a malformed path and for a file of --paths without paths, 3 if such a file cannot be
 * read; then the list need not be freed. */
pfb_selection *path_list_select(path_list *list, const options *o, const char *default_set, bool *has_choice);

#endif
