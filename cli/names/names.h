/* SPDX-License-Identifier: MIT */
#ifndef CLI_NAMES_H
#define CLI_NAMES_H

#include "perfblock/formula.h"
#include "perfblock/v2.h"

/* Names of the numeric codes in files, the same in every command. Strings are static unless the caller passes memory
 * for them. */

/* The kind of a V2 result (PFB_V2_COUNTERSET: "counterset"); "unknown" for an undefined kind. */
const char *names_of_kind(uint32_t kind);

/* The text of a Win32 error code; null for 0 and for codes that pfb_win32_find() does not know. */
const char *names_of_win32(uint32_t code);

/* The clock of a counter type (PFB_CLOCK_): "none", "perf", "100ns" or "object". */
const char *names_of_clock(unsigned clock);

/* Sizes of the memory for a type, a status and a time, and the largest number of PFB_NOTE_ or PFB_FLAG_ bits. */
enum { NAMES_TYPE_BYTES = 40, NAMES_STATUS_BYTES = 32, NAMES_TIME_BYTES = 64, NAMES_MAX_BITS = 16 };

/* The name of a counter type. For a value that has no name, the number in hexadecimal, such as "0x00012000". */
const char *names_of_type(uint32_t type, char memory[NAMES_TYPE_BYTES]);

/* The name of a PDH status; "unknown_status_0x800007FF" for one without a name. */
const char *names_of_pdh_status(uint32_t status, char memory[NAMES_STATUS_BYTES]);

/* "YYYY-MM-DDThh:mm:ss.mmm"; the fields of `time` need not be valid. */
const char *names_of_time(const pfb_system_time *time, char memory[NAMES_TIME_BYTES]);

/* Stores the names of the PFB_NOTE_ bits that are set in `notes`. Returns their number. */
size_t names_of_notes(uint32_t notes, const char *names[NAMES_MAX_BITS]);

/* Stores the names of the PFB_FLAG_ bits that are set in `flags`. Returns their number. */
size_t names_of_flags(uint32_t flags, const char *names[NAMES_MAX_BITS]);

#endif
