/* SPDX-License-Identifier: MIT */
#ifndef CLI_COMPLETION_H
#define CLI_COMPLETION_H

#include "commands.h"

/* Appends the completion script of a shell, "bash", "zsh" or "fish", made from the tables of commands and options. */
void completion_put(buffer *out, const char *shell);

#endif
