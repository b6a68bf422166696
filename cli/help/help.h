/* SPDX-License-Identifier: MIT */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include "commands.h"

/* Prints help on standard output, made from the tables of commands and options. */

void help_overview(void);
void help_group(const command_group *group);
void help_command(const command *c);
void help_version(void);

/* Appends the meaning of an option and the words that the command accepts as its value. */
void help_option_meaning(buffer *out, const command_option *option, const command *c);

/* The meaning of each exit status, by number; a null follows the last. */
extern const char *const help_statuses[];

#endif
