/* SPDX-License-Identifier: MIT */
#ifndef CLI_SUMMARY_SETS_H
#define CLI_SUMMARY_SETS_H

#include "commands/set_names.h"
#include "output/output.h"
#include "values/summary.h"

/* Lists the countersets of the values of a summary with their counters, as the command countersets lists those of
 * registrations: those that match `names`, and if the command line has names, also their instances. Each counterset,
 * counter and instance is listed once, in the order of their first values. For perfmon logs, which have no
 * registrations. */
void summary_sets_write(const value_summary *summary, set_names *names, output *out);

#endif
