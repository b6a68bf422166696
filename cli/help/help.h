/* SPDX-License-Identifier: MIT */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include "commands.h"

/* Prints help on standard output, made from the tables of commands and options. Man pages and the rows for completion
 * (perfblock.bash) come from the same tables: `perfblock help --generate`. */

void help_overview(void);
void help_group(const command_group *group);
void help_command(const command *c);
void help_version(void);

#endif
