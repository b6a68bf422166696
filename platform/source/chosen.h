/* SPDX-License-Identifier: MIT */
#ifndef PFB_CHOSEN_H
#define PFB_CHOSEN_H

/* The files that the environment names in place of this machine, for all interfaces of Windows: PerfLib, PDH and the
 * CPI facility. */

#include <stdbool.h>

typedef enum pfb_chosen_file {
    PFB_CHOSEN_CAPTURE,      /* PERFBLOCK_CAPTURE: a recording in place of this machine's counters */
    PFB_CHOSEN_CPI_SNAPSHOTS /* PERFBLOCK_CPI_SNAPSHOTS: snapshots in place of this machine's hardware counters */
} pfb_chosen_file;

/* Returns the path that the environment variable has, or null if it is not set or empty. */
const char *pfb_chosen_path(pfb_chosen_file file);

/* Returns true if an environment variable is set, and neither empty nor "0". */
bool pfb_chosen_is_on(const char *variable);

/* Returns true if pauses of the program are left out: PERFBLOCK_NO_SLEEP is on, and one of the files above is
 * used. */
bool pfb_chosen_skips_sleep(void);

/* Prints one line on standard error that says why the file cannot be used, once per file and process: a program that
 * does not show the code of a failed call would leave its user without a hint. */
void pfb_chosen_report(pfb_chosen_file file, const char *path, const char *sentence);

#endif
