/* SPDX-License-Identifier: MIT */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "input/options.h"

/* ---- Table of commands ----------------------------------------------------------------------------------- */

/* The command at an index of the table, in the order of help; null past the last. */
const command *command_at(size_t i);

/* Several commands that share their first word, such as "cpi show" and "cpi run". */
typedef struct command_group {
    const char *name;
    const char *summary;
} command_group;

const command_group *command_group_at(size_t i);

/* Returns the command whose name the words begin with, or null. *word_count receives the number of words of its name:
 * 1, or 2 for a command of a group. */
const command *command_find(size_t count, char *const *words, size_t *word_count);
const command_group *command_group_find(const char *name);

/* Whether the command belongs to the group. */
bool command_is_in(const command *c, const command_group *group);

/* Reports the usage error that `words` do not begin with the name of a command. */
void command_refuse(size_t count, char *const *words);

/* ---- The commands ---------------------------------------------------------------------------------------- */

/* Each reports its errors, which raise the exit status (diagnostics.h). */
void command_show(const options *o);
void command_check(const options *o);
void command_cook(const options *o);
void command_convert(const options *o);
void command_eval(const options *o);
void command_types(const options *o);
void command_report(const options *o);
void command_record(const options *o);
void command_countersets(const options *o);
void command_cpuid(const options *o);
void command_lwp_show(const options *o);
void command_cpi_show(const options *o);
void command_cpi_run(const options *o);
void command_help(const options *o);

#endif
