/* SPDX-License-Identifier: MIT */
#ifndef CLI_PDH_H
#define CLI_PDH_H

#include "output/output.h"

/* Displayed values as a PDH text log (docs/log.md): a column per counter path, a row per sample.
 *
 * With two passes the columns are the paths of all samples, with one pass those of the first sample that has values.
 * Memory holds all paths and one row. */

typedef struct pdh_log pdh_log;

/* `has_two_passes`: the caller prints all samples twice and calls pdh_log_begin_rows() in between. The first pass only
 * collects the paths. */
pdh_log *pdh_log_begin(bool has_two_passes);
void pdh_log_begin_rows(pdh_log *log);
bool pdh_log_has_rows(const pdh_log *log); /* a row was printed */
void pdh_log_free(pdh_log *log);           /* may be null */

#endif
