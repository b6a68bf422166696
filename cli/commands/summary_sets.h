/* SPDX-License-Identifier: MIT */
#ifndef CLI_SUMMARY_SETS_H
#define CLI_SUMMARY_SETS_H

#include "commands/set_names.h"
#include "names/titles.h"
#include "output/output.h"
#include "sinks/summary.h"

/* Lists the countersets of a perfmon log, which has no registrations, from a summary of its values, in the form in
 * which the command countersets lists registrations. Lists the countersets that match `names`, in either language of
 * `titles`, with their counters and, if the command line has names, with their instances. Each is listed once, in the
 * order of the first values. */
void summary_sets_write(const value_summary *summary, set_names *names, const title_names *titles, output *out);

#endif
