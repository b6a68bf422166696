/* SPDX-License-Identifier: MIT */
#ifndef CLI_MANUAL_H
#define CLI_MANUAL_H

#include "commands.h"

/* Man pages in man(7), section 1, made from the tables of commands and options. */

/* Appends perfblock(1). */
void manual_put_program(buffer *out);

/* Appends perfblock-COMMAND(1); for "lwp show" that is perfblock-lwp-show(1). */
void manual_put_command(buffer *out, const command *c);

#endif
