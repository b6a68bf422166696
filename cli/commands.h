/* SPDX-License-Identifier: MIT */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "input/options.h"

/* The commands, one file each. What they did wrong they told and raised (diagnostics.h). */

void command_show(const options *o);
void command_check(const options *o);
void command_cook(const options *o);
void command_eval(const options *o);
void command_types(const options *o);
void command_live(const options *o);
void command_record(const options *o);
void command_countersets(const options *o);
void command_cpuid(const options *o);
void command_lwp_show(const options *o);
void command_lwp_model(const options *o);
void command_cpi_show(const options *o);
void command_cpi_run(const options *o);

#endif
