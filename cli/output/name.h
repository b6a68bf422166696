/* SPDX-License-Identifier: MIT */
#ifndef CLI_NAME_H
#define CLI_NAME_H

#include "memory/buffer.h"
#include "perfblock/name.h"

/* Printing of names. An input can give one long name to thousands of counters, so the program keeps a pfb_name and
 * converts it when it prints it. Nothing stores a converted name per counter, row or value: that memory would be
 * quadratic in the input. */

/* Appends the whole name as UTF-8. Appends nothing where there is no name. */
void name_text(buffer *out, pfb_name name);

/* Appends at most `most` characters of the name as UTF-8, and an ellipsis if it has more. Reads at most 4 bytes of the
 * name per character and 4 more. */
void name_cut(buffer *out, pfb_name name, size_t most);

#endif
