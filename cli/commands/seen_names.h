/* SPDX-License-Identifier: MIT */
#ifndef CLI_SEEN_NAMES_H
#define CLI_SEEN_NAMES_H

#include "collect/paths.h"
#include "commands/set_names.h"
#include "names/titles.h"
#include "perfblock/log.h"
#include "sinks/series.h"

/* Compares the names of countersets and counters on the command line with those in the files, in order to report a name
 * that is in none of the files. */

/* Another way to split a path than that of pfb_path_parse. */
typedef struct split_names {
    size_t path; /* position in the list of paths */
    char *set, *counter;
} split_names;

typedef struct seen_names {
    set_names sets, counters; /* the names on the command line, then those of `splits` */
    bool has_any;             /* a V1 object, a path of a log or a registration was seen */
    bool is_late;             /* V1: a chosen name is only in a table that follows its blocks in a pipe */
    bool is_incomplete; /* not all names are known: a log has whole V1 objects, whose counters and title indexes are not
                         * in its paths; or V2 replies have no registrations */
    /* ------------------------------------------------------------------------------------------ */
    const char **set_list, **counter_list; /* the names of `sets` and `counters` */
    split_names *splits;
    size_t split_count, split_capacity;
    uint32_t v2_file;  /* number of the latest file with a V2 reply, plus 1 */
    series_list pairs; /* V1: the objects that were seen, and the counters of those that match `sets` */
    buffer text;
} seen_names;

/* `paths` and the options must stay valid until seen_names_close(). */
void seen_names_open(seen_names *s, const path_list *paths, const options *o);
void seen_names_close(seen_names *s);

/* Adds the names in a record: the objects of a V1 block, the paths of a log, or, when a file with V2 replies ends, the
 * countersets that the collector of `titles` describes. The collector must have the records of metadata before this
 * one. */
void seen_names_add(seen_names *s, const title_names *titles, const pfb_record *record);

/* Call at the end of a pipe. V1 blocks before a name table were compared without its names, so compares the titles in
 * `pairs` again. Sets `is_late` if a name on the command line matches only now. */
void seen_names_end_pipe(seen_names *s, const title_names *titles);

/* Reports the first counterset that did not occur, or the first counter that no chosen counterset has, with exit status
 * 2. Returns false after that. Does not check, and returns true, if not all names are known or none was seen. */
bool seen_names_check(const seen_names *s, const char *subject);

#endif
