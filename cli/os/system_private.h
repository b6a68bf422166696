/* SPDX-License-Identifier: MIT */
#ifndef CLI_SYSTEM_PRIVATE_H
#define CLI_SYSTEM_PRIVATE_H

/* What the sources of system.h share: system.c holds what is the same on every system, system_posix.c and
 * system_windows.c the rest. */

#include <stddef.h>
#include <stdint.h>

#define NANOSECONDS UINT64_C(1000000000)
#define LONGEST_SLEEP (NANOSECONDS / 5) /* how late an interrupt may be noticed */

/* ---- In system.c ----------------------------------------------------------------------------------------- */

/* The part of the path after its folders, whose names end in one of the characters of `folder_marks`. */
const char *system_name_of(const char *path, const char *folder_marks);

/* Subtracts the time since `begin` (of system_now()) from what is left, down to 0. */
void system_take_time(uint64_t *left, uint64_t begin);

/* Raises the number to N if the entry of a folder is "NAME.N". */
void system_take_number(const char *entry, const char *name, uint64_t *number);

/* ---- Of each system -------------------------------------------------------------------------------------- */

/* One call of the system's: bytes read or written, -1 and errno on failure. */
long long system_read_some(int file, void *bytes, size_t size);
long long system_write_some(int file, const char *bytes, size_t size);

/* Of the terminal that standard output is; 0 when the system does not say. */
size_t system_columns_of_terminal(void);
size_t system_rows_of_terminal(void);

#endif
