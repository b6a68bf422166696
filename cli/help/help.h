/* SPDX-License-Identifier: MIT */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include "commands.h"

/* Prints help on standard output, made from the tables of commands and options. */

void help_overview(void);
void help_group(const command_group *group);
void help_command(const command *c);
void help_version(void);

#endif
