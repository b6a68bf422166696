/* SPDX-License-Identifier: MIT */
#ifndef CLI_SYSTEM_H
#define CLI_SYSTEM_H

#include "memory/buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Functions of the operating system that the C library lacks. Text is UTF-8 on Windows, and uninterpreted bytes
 * elsewhere. */

/* Makes the standard streams binary, and has closed pipes and file size limits reported by write() instead of a signal.
 * Standard streams that are closed are replaced by streams that can be neither read nor written, so that no file opened
 * later takes their number. Call once, first. */
void system_prepare(void);

/* Returns the arguments, and their number in `count`. On Windows those of main() lack what the code page cannot
 * represent, so the system is asked for them again. They are never freed. */
char **system_arguments(int argc, char **argv, int *count);

/* errno of the last write; EPIPE for a pipe without reader, also on Windows. */
int system_write_error(void);

typedef enum system_stream { SYSTEM_INPUT = 0, SYSTEM_OUTPUT = 1, SYSTEM_ERROR = 2 } system_stream;

bool system_is_terminal(system_stream stream);

/* The width of text: COLUMNS if it is a number from 20 to 10000, else the width of the terminal that standard output is
 * connected to, else 100. */
size_t system_columns(void);

/* Returns the current height of the terminal, at least 2; 24 if it is unknown. */
size_t system_rows(void);

/* Whether standard output is a terminal with the control sequences of ECMA-48. */
bool system_can_paint(void);

/* ---- Time ---------------------------------------------------------------------------------------------- */

/* Nanoseconds of a monotonic clock. */
uint64_t system_now(void);

/* Whether providers of counters may return the same values for about a second: those of Windows do. */
bool system_repeats_values(void);

/* Sleeps until that clock reads `moment`. False if system_interrupted() became true before. */
bool system_sleep_until(uint64_t moment);

/* Times at multiples of an interval after the first one; being late once does not shift the following ones. */
typedef struct system_rhythm {
    uint64_t next, interval, end;
} system_rhythm;

/* Begins now. `interval` and `duration` are in nanoseconds; `interval` is at least 1, a `duration` of 0 has no end. */
system_rhythm system_rhythm_begin(uint64_t interval, uint64_t duration);

/* Sleeps until the next moment; missed ones are skipped. False if interrupted or past the end. */
bool system_rhythm_wait(system_rhythm *rhythm);

/* The offset of local time from UTC, in minutes, at a moment given in seconds since 1970-01-01 UTC. Positive east of
 * Greenwich; seconds, which offsets had before 1972, are rounded off. False when the system does not know it. */
bool system_local_offset(int64_t moment, int32_t *minutes);

/* Appends the name of local time at such a moment, in UTF-8: "CEST", on Windows "W. Europe Daylight Time". False, and
 * nothing is appended, when the system has none. */
bool system_zone_name(int64_t moment, buffer *name);

/* From now on SIGINT and SIGTERM, or Ctrl+C, set a flag instead of ending the program. */
void system_catch_interrupts(void);
bool system_interrupted(void);

/* ---- Commands -------------------------------------------------------------------------------------------- */

/* How a command ended. */
typedef struct system_ending {
    bool is_signal;  /* never on Windows */
    uint32_t number; /* the exit status, or the signal that ended it */
} system_ending;

/* Whether the name is that of a batch file (Windows). The system would pass its arguments to cmd.exe, which parses them
 * by its own rules. */
bool system_is_batch(const char *name);

/* Runs a command and waits for its end. The first argument names it and is searched in PATH; a null follows the last
 * one. It must be a file that the system can execute: no shell is used. It shares the standard streams; with
 * `is_output_aside` its standard output is standard error. Meanwhile SIGINT and SIGQUIT are left to the command, and
 * SIGTERM and SIGHUP are passed on to it. False and errno if it could not be started or waited for. */
bool system_run(char *const *arguments, bool is_output_aside, system_ending *ending);

/* ---- Reading --------------------------------------------------------------------------------------------- */

/* Whether the path names a regular file. It is not opened: opening a pipe may block, and closing it again would end its
 * writer. */
bool system_names_regular(const char *path);

/* Whether the path names something other than a regular file, such as a pipe, a device or a folder. */
bool system_names_special(const char *path);

/* Whether two paths are those of one regular file. */
bool system_names_same(const char *left, const char *right);

/* Opens a file for reading; -1 and errno on failure. SYSTEM_INPUT is always open. */
int system_read_open(const char *path);

/* Reads up to `size` bytes and waits only if there are none yet. Returns the number of bytes, 0 at the end, -1 and
 * errno on failure. */
long long system_read(int file, void *bytes, size_t size);

void system_read_close(int file);

/* ---- Writing --------------------------------------------------------------------------------------------- */

/* Opens a file to be written from its start, which empties it; -1 and errno on failure. system_append() writes it. */
int system_write_open(const char *path);

/* False and errno if written data may be lost. */
bool system_write_close(int file);

/* Creates a file that is to replace another one, and opens it for writing; one of its name is removed first. -1 and
 * errno on failure. system_append() writes it. */
int system_create(const char *path);

/* Renames a file, which replaces a file of the new name in one step. False and errno on failure. */
bool system_replace(const char *from, const char *to);

/* Removes a file if it exists. */
void system_remove(const char *path);

/* A number that no other running process of the machine has. */
uint32_t system_process(void);

/* Opens a page in the browser that the system chooses. Returns once it was started; false when it was not. */
bool system_open_page(const char *path);

/* ---- Appending ------------------------------------------------------------------------------------------- */

/* Opens a file for appending, and creates it if it does not exist, which `is_made` reports; -1 and errno on failure. A
 * regular file is locked until it is closed, if its file system has locks: errno is EAGAIN if another process has
 * opened it this way. Readers are not affected. */
int system_append_open(const char *path, bool *is_made);

/* Enters a critical section for opening and renaming files in the folder of `path`, which ends with
 * system_folder_leave(). Waits up to `*wait` nanoseconds, reduces `*wait` by the time it took, and then continues
 * without the lock, since any process that can read the folder could hold it. */
intptr_t system_folder_enter(const char *path, uint64_t *wait);
void system_folder_leave(intptr_t section);

/* Whether another process has opened the file with system_append_open() and not closed it yet. */
bool system_is_locked(int file);

/* Whether two open files are the same one. */
bool system_is_same_file(int left, int right);

/* Whether it is a regular file, not a pipe or a device. */
bool system_is_regular(int file);

/* Writes all bytes, with one write unless the system accepts fewer; false and errno on failure. */
bool system_append(int file, const void *bytes, size_t size);

/* Syncs a regular file to disk and closes it. False and errno on failure. */
bool system_append_close(int file);

/* Closes the file opened at `path`, and removes it if it is empty and still at this path. */
void system_append_discard(int file, const char *path);

/* The size of a regular file in bytes; 0 if it is unknown. */
uint64_t system_file_size(int file);

/* The highest N for which a file "PATH.N" exists; 0 if there is none. False and errno if the folder cannot be read. */
bool system_last_number(const char *path, uint64_t *number);

/* Renames a file. False and errno on failure, EEXIST if the new name exists. */
bool system_rename(const char *from, const char *to);

#endif
