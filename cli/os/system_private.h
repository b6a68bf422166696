/* SPDX-License-Identifier: MIT */
#ifndef CLI_SYSTEM_PRIVATE_H
#define CLI_SYSTEM_PRIVATE_H

/* Shared by the sources of system.h: system.c has what is the same on every system, system_posix.c and system_windows.c
 * the rest. */

#include <stddef.h>
#include <stdint.h>

#define NANOSECONDS UINT64_C(1000000000)
#define LOCK_TRIES 20                   /* with a pause of a millisecond: a reader may hold a lock for a moment */
#define LONGEST_SLEEP (NANOSECONDS / 5) /* the longest delay of an interrupt */

/* ---- In system.c ----------------------------------------------------------------------------------------- */

/* The last part of a path. `folder_marks` are the characters that end the names of folders. */
const char *system_name_of(const char *path, const char *folder_marks);

/* Subtracts the time since `begin`, a value of system_now(), from `left`, down to 0. */
void system_take_time(uint64_t *left, uint64_t begin);

/* Raises the number to N if the folder's entry is "NAME.N" and N is larger. */
void system_take_number(const char *entry, const char *name, uint64_t *number);

/* ---- Of each system -------------------------------------------------------------------------------------- */

/* One system call: the number of bytes read or written, -1 and errno on failure. */
long long system_read_some(int file, void *bytes, size_t size);
long long system_write_some(int file, const char *bytes, size_t size);

/* Of the terminal that standard output is connected to; 0 if unknown. */
size_t system_columns_of_terminal(void);
size_t system_rows_of_terminal(void);

#endif
