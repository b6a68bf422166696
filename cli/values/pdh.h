/* SPDX-License-Identifier: MIT */
#ifndef CLI_PDH_H
#define CLI_PDH_H

#include "output/output.h"

/* Displayed values as a PDH text log: a column per counter path, a row per sample. docs/log.md.
 *
 * The columns are those of pass one, if there is one, else those of the first sample with values. Memory is that of the
 * columns and of a row. */

typedef struct pdh_log pdh_log;

/* `has_two_passes`: all samples are added twice, and pdh_log_begin_rows() is called in between. */
pdh_log *pdh_log_begin(bool has_two_passes);
void pdh_log_begin_rows(pdh_log *log);
void pdh_log_free(pdh_log *log); /* may be null */

#endif
