/* SPDX-License-Identifier: MIT */
#ifndef CLI_SYSTEM_H
#define CLI_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All that the program asks of an operating system beyond the C library: arguments, terminals, time, interruption,
 * reading, appending, commands. Text is UTF-8 on Windows, and elsewhere what the system gives. */

/* Standard streams in binary; broken pipes and files beyond their limit reported by write instead of by a signal. In
 * the place of those that are closed comes what can be neither read nor written, lest a file that is opened later is
 * taken for one. Call once, first. */
void system_prepare(void);

/* The arguments, from those that main() got: on Windows these have lost what its code page lacks, and are asked for
 * again. They last to the end of the program; `count` is how many there are. */
char **system_arguments(int argc, char **argv, int *count);

/* errno, and EPIPE where Windows has another number for a pipe that nobody reads. Of the last write. */
int system_write_error(void);

typedef enum system_stream { SYSTEM_INPUT = 0, SYSTEM_OUTPUT = 1, SYSTEM_ERROR = 2 } system_stream;

bool system_is_terminal(system_stream stream);

/* Columns of the terminal that standard output is: COLUMNS when it is set to a number from 20 to 10000, else what the
 * terminal says, else 100. */
size_t system_columns(void);

/* Rows of that terminal as it is now; 24 when it does not say. At least 2. */
size_t system_rows(void);

/* Whether standard output is a terminal that understands the control sequences of ECMA-48. */
bool system_can_paint(void);

/* ---- Time ---------------------------------------------------------------------------------------------- */

/* Nanoseconds of a clock that never jumps. */
uint64_t system_now(void);

/* Sleeps until that clock reads `moment`. False when system_interrupted() became true first. */
bool system_sleep_until(uint64_t moment);

/* Moments at an interval, counted from the first one: being late once does not shift those that follow. */
typedef struct system_rhythm {
    uint64_t next, interval;
} system_rhythm;

/* Begins now. `interval` in nanoseconds, at least 1. */
system_rhythm system_rhythm_begin(uint64_t interval);

/* Sleeps until the next moment; those that passed meanwhile are left out. False when interrupted. */
bool system_rhythm_wait(system_rhythm *rhythm);

/* The offset of local time from UTC, in minutes, at a moment given in seconds since 1970-01-01 UTC. Positive east of
 * Greenwich; seconds, which offsets had before 1972, are rounded off. False when the system does not know it. */
bool system_local_offset(int64_t moment, int32_t *minutes);

/* From now on an interrupt or termination request sets a flag instead of ending the program. */
void system_catch_interrupts(void);
bool system_interrupted(void);

/* ---- Commands -------------------------------------------------------------------------------------------- */

/* How a command ended. */
typedef struct system_ending {
    bool is_signal;  /* never on Windows */
    uint32_t number; /* the exit status, or the signal that ended it */
} system_ending;

/* Whether it is a batch file by its name (Windows): the system would hand its arguments to cmd.exe, which takes them
 * apart by rules of its own. */
bool system_is_batch(const char *name);

/* Runs the command that the first argument names, looked for in PATH, and waits for its end; a null stands behind the
 * last argument. It must be a file that the system itself can run: no shell is asked for help. It has our standard
 * streams, or in the place of its output the one for errors. Meanwhile an interrupt from the keyboard is the command's
 * alone, and a request to terminate or a hangup is passed on to it. False and errno when it could not be started, or
 * how it ended not be learnt. */
bool system_run(char *const *arguments, bool is_output_aside, system_ending *ending);

/* ---- Reading --------------------------------------------------------------------------------------------- */

/* Whether the path names a regular file, without opening it: opening a pipe can wait, and takes its writer a reader. */
bool system_names_regular(const char *path);

/* Whether the path names something that is no regular file: a pipe, a device, a folder. */
bool system_names_special(const char *path);

/* Opens a file for reading; -1 and errno on failure. SYSTEM_INPUT is open already. */
int system_read_open(const char *path);

/* Reads what is there, up to `size` bytes, and waits only while there is nothing. Returns how many bytes it was, 0 at
 * the end, -1 and errno on failure. */
long long system_read(int file, void *bytes, size_t size);

void system_read_close(int file);

/* ---- Appending ------------------------------------------------------------------------------------------- */

/* Opens a file so that every write goes to its end, creating it when missing, which `is_made` reports; -1 and errno on
 * failure. A regular file is locked until it is closed, where the system can do that: errno is EAGAIN when another
 * process has it open this way. Reading is not affected. */
int system_append_open(const char *path, bool *is_made);

/* Keeps other processes out of a section in which files of the folder of `path` are opened or renamed, until
 * system_folder_leave() with the value returned. Waits up to `*wait` nanoseconds, which is reduced by the time that it
 * took, and then continues without: any process that can read the folder can hold its lock. */
intptr_t system_folder_enter(const char *path, uint64_t *wait);
void system_folder_leave(intptr_t section);

/* Whether two open files are the same one. */
bool system_is_same_file(int left, int right);

/* Whether it is a file that can be read back, and not a pipe or a device. */
bool system_is_regular(int file);

/* Writes all bytes, in one go unless the system takes fewer; false and errno on failure. */
bool system_append(int file, const void *bytes, size_t size);

/* Has the system put on its disk what a regular file holds, and closes it. False and errno when that failed. */
bool system_append_close(int file);

/* Closes the file opened at `path`, and takes it away if it still is the one that stands there, and empty. */
void system_append_discard(int file, const char *path);

/* Bytes of a regular file; 0 when that is not known. */
uint64_t system_file_size(int file);

/* The highest N for which there is a file "PATH.N"; 0 when there is none. False and errno when its folder cannot be
 * read. */
bool system_last_number(const char *path, uint64_t *number);

/* Gives a file another name, which no file may have: then false and errno EEXIST. */
bool system_rename(const char *from, const char *to);

#endif
