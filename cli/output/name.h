/* SPDX-License-Identifier: MIT */
#ifndef CLI_NAME_H
#define CLI_NAME_H

#include "memory/buffer.h"
#include "perfblock/name.h"

/* Printing of names. An input can give one long name to thousands of counters, so the program stores a pfb_name, which
 * points into the input, and converts it only for printing. A converted copy per counter, row or value would need
 * memory quadratic in the size of the input. */

/* Appends the whole name as UTF-8, or nothing if `name.bytes` is null. */
void name_text(buffer *out, pfb_name name);

/* Appends at most `max_characters` characters of the name as UTF-8, and an ellipsis if it has more. Reads at most
 * 4 * (max_characters + 1) bytes of the name. */
void name_cut(buffer *out, pfb_name name, size_t max_characters);

#endif
