/* SPDX-License-Identifier: MIT */
#ifndef CLI_MANUAL_H
#define CLI_MANUAL_H

#include "commands.h"

/* Man pages in man(7), section 1, made from the tables of commands and options. */

/* Appends perfblock(1). */
void manual_put_program(buffer *out);

/* Appends perfblock-COMMAND(1), with a dash between the words of the name. */
void manual_put_command(buffer *out, const command *c);

#endif
