/* SPDX-License-Identifier: MIT */
#ifndef CLI_MEANING_H
#define CLI_MEANING_H

#include "commands.h"

/* Texts that help and the man pages share. */

/* Appends the meaning of an option and the words that the command accepts as its value, with "(default)" after the
 * first of several if that is the default. */
void meaning_put_option(buffer *out, const command_option *option, const command *c);

/* The meaning of each exit status, by number. A null follows the last meaning. */
extern const char *const meaning_of_status[];

#endif
