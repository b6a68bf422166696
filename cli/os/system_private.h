/* SPDX-License-Identifier: MIT */
#ifndef CLI_SYSTEM_PRIVATE_H
#define CLI_SYSTEM_PRIVATE_H

/* Shared by the sources of system.h: system.c has what is the same on every system, system_posix.c and system_windows.c
 * the rest. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NANOSECONDS UINT64_C(1000000000) /* per second */
#define LOCK_TRIES 20                    /* at intervals of a millisecond: a reader holds the lock only for a moment */
#define MAX_SLEEP (NANOSECONDS / 5)      /* an interrupt is noticed after this time at the latest */

/* ---- In system.c ----------------------------------------------------------------------------------------- */

/* The file name in a path: what follows the last of the characters in `separators`. */
const char *system_file_name(const char *path, const char *separators);

/* Subtracts the time since `begin`, a value of system_now(), from *remaining, but not below 0. */
void system_subtract_elapsed(uint64_t *remaining, uint64_t begin);

/* Sets *number to N if `entry`, a name found in a folder, is "NAME.N" and N is larger than *number. */
void system_raise_number(const char *entry, const char *name, uint64_t *number);

/* ---- In system_posix.c and system_windows.c -------------------------------------------------------------- */

/* One system call: the number of bytes read or written, -1 and errno on failure. */
long long system_read_some(int file, void *bytes, size_t size);
long long system_write_some(int file, const char *bytes, size_t size);

/* Sets the position at which the next bytes of a regular file are read. Returns false and sets errno on failure. */
bool system_seek(int file, uint64_t offset);

/* Both return false and set errno to EPIPE if nobody reads from the file for MAX_UNREAD after an interrupt, without
 * which they wait forever. system_wait_writable() waits until one unit (system_unit) can be written,
 * system_wait_empty() until a pipe is empty, so that more than a unit is likely to fit. */
#define MAX_UNREAD NANOSECONDS
bool system_wait_writable(int file);
bool system_wait_empty(int file);

/* The size of the terminal that standard output is connected to; 0 if unknown. */
size_t system_columns_of_terminal(void);
size_t system_rows_of_terminal(void);

#endif
