/* SPDX-License-Identifier: MIT */
#ifndef CLI_NAMES_H
#define CLI_NAMES_H

#include "perfblock/formula.h"
#include "perfblock/v2.h"

/* Words for the numbers of the formats, the same in every command. All strings are static. */

/* "counterset" and others; "unknown" for an undefined kind. */
const char *names_of_kind(uint32_t kind);

/* A Win32 code in words, or null if it is not one that the interface is known to return. */
const char *names_of_win32(uint32_t code);

/* "none", "perf", "100ns", "object". */
const char *names_of_clock(unsigned clock);

enum { NAMES_TYPE_BYTES = 40, NAMES_TIME_BYTES = 64, NAMES_MOST_BITS = 16 };

/* The counter type's name, or "0x00012000" for a value without one. */
const char *names_of_type(uint32_t type, char memory[NAMES_TYPE_BYTES]);

/* "YYYY-MM-DDThh:mm:ss.mmm"; the numbers are not checked. */
const char *names_of_time(const pfb_system_time *time, char memory[NAMES_TIME_BYTES]);

/* The names of PFB_NOTE_ bits; returns how many. */
size_t names_of_notes(uint32_t notes, const char *names[NAMES_MOST_BITS]);

/* The names of PFB_FLAG_ bits; returns how many. */
size_t names_of_flags(uint32_t flags, const char *names[NAMES_MOST_BITS]);

#endif
