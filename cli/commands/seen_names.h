/* SPDX-License-Identifier: MIT */
#ifndef CLI_SEEN_NAMES_H
#define CLI_SEEN_NAMES_H

#include "collect/paths.h"
#include "commands/set_names.h"
#include "names/titles.h"
#include "perfblock/log.h"
#include "values/series.h"

/* Compares the names of countersets and counters on the command line with those in the files, in order to report a name
 * that is in none of the files. */

typedef struct seen_names {
    set_names sets, counters; /* the names on the command line */
    bool has_any;             /* a V1 object, a path of a log or a registration was seen */
    bool is_late;             /* V1: a chosen name is only in a table that follows its blocks in a pipe */
    bool is_incomplete; /* not all names are known: a log has whole V1 objects, whose counters and title indexes are not
                         * in its paths, or V2 replies have no registrations */
    /* ------------------------------------------------------------------------------------------ */
    const char **set_list, **counter_list; /* the names of `sets` and `counters` */
    series_list pairs; /* V1: the objects that were seen, and the counters of those that match `sets` */
    buffer text;
} seen_names;

/* `paths` and the options must stay valid until seen_names_close(). */
void seen_names_open(seen_names *s, const path_list *paths, const options *o);
void seen_names_close(seen_names *s);

/* Adds the objects of a V1 block, the paths of a record of a .blg, or the paths of a text log. */
void seen_names_add_block(seen_names *s, const title_names *titles, const uint8_t *data, size_t size);
void seen_names_add_record(seen_names *s, const pfb_log_reader *log, const pfb_log_record *record);
void seen_names_add_text(seen_names *s, const pfb_pdh_text_reader *text);

/* Adds the countersets that a collector describes. Call it for a file with V2 replies when its metadata was read. */
void seen_names_add_metadata(seen_names *s, pfb_collector *collector);

/* Call at the end of a pipe. V1 blocks before a name table were compared without its names, so compares the titles in
 * `pairs` again. Sets `is_late` if a name on the command line matches only now. */
void seen_names_end_pipe(seen_names *s, const title_names *titles);

/* Reports the first counterset that did not occur, or the first counter that no chosen counterset has, with exit status
 * 2. Returns false after that. Does not check, and returns true, if not all names are known or none was seen. */
bool seen_names_check(const seen_names *s, const char *subject);

#endif
