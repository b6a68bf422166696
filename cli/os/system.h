/* SPDX-License-Identifier: MIT */
#ifndef CLI_SYSTEM_H
#define CLI_SYSTEM_H

#include "memory/buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Functions of the operating system that the C library lacks. Arguments and paths are UTF-8 on Windows, and
 * uninterpreted bytes elsewhere. */

/* Prepares the process; call it once, before the other functions. On Windows it switches the standard streams to binary
 * mode and the console to UTF-8. On other systems write() then reports closed pipes and file size limits as errors
 * instead of signals. Standard streams that are closed are replaced there by files on which every read or write fails,
 * so that no file opened later takes their descriptors. */
void system_prepare(void);

/* Returns the arguments of the command line and stores their number in *count. On Windows main() gets them in a code
 * page, which cannot represent every character, so they are read from the system instead. They are never freed. */
char **system_arguments(int argc, char **argv, int *count);

/* The errno of the last failed write. For a pipe without a reader it is EPIPE, also on Windows. */
int system_write_error(void);

typedef enum system_stream { SYSTEM_INPUT = 0, SYSTEM_OUTPUT = 1, SYSTEM_ERROR = 2 } system_stream;

bool system_is_terminal(system_stream stream);

/* The width of text output: the environment variable COLUMNS if it is a number from 20 to 10000; else the width of the
 * terminal on standard output, but at least 20; 100 without a terminal, or if its width is unknown. */
size_t system_columns(void);

/* Returns the current height of the terminal, at least 2; 24 if it is unknown. */
size_t system_rows(void);

/* Returns true if standard output is a terminal that supports the control sequences of ECMA-48. A Windows console
 * supports them in a mode that this function sets. */
bool system_enable_control_sequences(void);

/* ---- Time ---------------------------------------------------------------------------------------------- */

/* Nanoseconds of a monotonic clock. */
uint64_t system_now(void);

/* Whether counter providers may return the same values again within about a second. True on Windows. */
bool system_repeats_values(void);

/* Sleeps until system_now() reaches `moment`. False if system_interrupted() became true before that. */
bool system_sleep_until(uint64_t moment);

/* The offset of local time from UTC, in minutes, at a moment given in seconds since 1970-01-01 UTC. Positive east of
 * Greenwich. Seconds, which a few zones had in their offsets until 1972, are dropped. False if the system does not know
 * the offset. */
bool system_local_offset(int64_t moment, int32_t *minutes);

/* Appends the name of the local time zone in force at a moment given in the same way, such as "CEST", or on Windows
 * "W. Europe Daylight Time". If the system does not know the name, appends nothing and returns false. */
bool system_zone_name(int64_t moment, buffer *name);

/* From now on SIGINT and SIGTERM (on Windows every console event, such as Ctrl+C or closing the window) make
 * system_interrupted() true instead of ending the program. */
void system_catch_interrupts(void);
bool system_interrupted(void);

/* ---- Commands -------------------------------------------------------------------------------------------- */

/* How a command ended. */
typedef struct system_ending {
    bool is_signal;  /* never on Windows */
    uint32_t number; /* the exit status, or the number of the signal that ended the command */
} system_ending;

/* Whether the name is that of a batch file; always false on systems other than Windows. Windows passes the arguments of
 * a batch file to cmd.exe, which parses them by rules of its own, so system_run() must not run one. */
bool system_is_batch(const char *name);

/* Runs a command and waits for its end. arguments[0] is its name, which is searched in PATH; a null follows the last
 * argument. The file must be one that the system can execute: no shell is used. The command has the standard streams of
 * this process; if `stdout_to_stderr` is true, it writes its standard output to standard error. While the command runs,
 * this process ignores SIGINT and SIGQUIT (on Windows Ctrl+C and Ctrl+Break), which a terminal also sends to the
 * command, and forwards SIGTERM and SIGHUP to the command, except those that it ignored before. False and errno if the
 * command could not be started or waited for. */
bool system_run(char *const *arguments, bool stdout_to_stderr, system_ending *ending);

/* ---- Reading --------------------------------------------------------------------------------------------- */

/* Whether the path names a regular file. Does not open it: opening a named pipe may block, and closing it would send
 * its writer SIGPIPE. */
bool system_names_regular(const char *path);

/* Whether the path names something other than a regular file, such as a pipe, a device or a folder. */
bool system_names_special(const char *path);

/* Whether an input and an output are the same regular file. The input "-" is standard input. */
bool system_names_same(const char *input, const char *output);

/* Opens a file for reading; -1 and errno on failure. SYSTEM_INPUT can be read without this call. */
int system_read_open(const char *path);

/* Reads up to `size` bytes. Waits only while no byte is available. Returns the number of bytes, 0 at the end of the
 * file, -1 and errno on failure. */
long long system_read(int file, void *bytes, size_t size);

/* The same for the bytes at `offset` of a regular file. Moves the position at which system_read() continues. */
long long system_read_at(int file, uint64_t offset, void *bytes, size_t size);

void system_read_close(int file);

/* ---- Writing --------------------------------------------------------------------------------------------- */

/* Opens a file for writing with system_append(): creates it, or empties an existing one. -1 and errno on failure. */
int system_write_open(const char *path);

/* Closes a file that was opened for writing. False and errno if written data may be lost. */
bool system_write_close(int file);

/* Finds where an output is stored: appends to *target the path after following symbolic links, also to a file that does
 * not exist. Returns false if the path names something other than a regular file, or a descriptor, such as /dev/fd/3.
 */
bool system_find_target(const char *path, buffer *target);

/* Whether the path names what standard output is connected to, such as /dev/stdout. */
bool system_names_output(const char *path);

/* Creates a file for writing with system_append(), which system_replace() renames to `target` when it is complete. It
 * gets the mode of the target and its owner, where this user may set that. -1 and errno on failure, EEXIST if `path`
 * exists, also if the target exists and cannot be written. From now on a signal that ends the program removes the
 * file. */
int system_create(const char *path, const char *target);

/* Chooses the file that is removed if SIGINT, SIGTERM or SIGHUP (on Windows a console event) ends the program; null:
 * none. */
void system_remove_at_signal(const char *path);

/* Renames a file. An existing file of the new name is replaced atomically. False and errno on failure. */
bool system_replace(const char *from, const char *to);

/* Removes a file if it exists. */
void system_remove(const char *path);

/* The id of this process. */
uint32_t system_process(void);

/* Opens a page in the default browser. Usually returns while the browser runs, but xdg-open may wait until it ends.
 * False if no browser was started. */
bool system_open_page(const char *path);

/* ---- Appending ------------------------------------------------------------------------------------------- */

/* Opens a file for appending. If it does not exist it is created with this mode, and *is_created is true. -1 and errno
 * on failure. A regular file stays locked until it is closed, if its file system has locks: errno is EAGAIN if another
 * process has it open through this function, or holds such a lock, for which reading the file suffices. The lock does
 * not affect readers. */
int system_append_open(const char *path, uint32_t mode, bool *is_created);

/* The mode of files that only their owner can read, and that of an open file: who may read and write it. Windows has no
 * modes: new files inherit the rights of their folder. */
enum { SYSTEM_PRIVATE = 0600 };
uint32_t system_mode(int file);

/* Enters a critical section, in which no other perfblock process opens or renames recordings in the folder of `path`.
 * Pass the returned value to system_folder_leave(), which ends the section. Waits up to *wait nanoseconds for other
 * processes and subtracts the time it waited from *wait. When that time is over it returns without the lock, since any
 * process that can read the folder could hold the lock forever; so it does if the folder cannot be opened. */
intptr_t system_folder_enter(const char *path, uint64_t *wait);
void system_folder_leave(intptr_t section);

/* Whether another process has the file open through system_append_open(). False if its file system has no locks. */
bool system_is_locked(int file);

/* Whether two open files are the same one. */
bool system_is_same_file(int left, int right);

/* Whether an open file has fewer than `offset` bytes, or `path`, unless it is "-", names another regular file now. */
bool system_is_replaced(int file, const char *path, uint64_t offset);

/* Whether an open file is a regular file, not a pipe or a device. */
bool system_is_regular(int file);

/* After system_catch_interrupts() the number of bytes that a pipe takes as a whole: what is written in units is not cut
 * by an interrupt. SIZE_MAX without system_catch_interrupts(), for other files and on Windows. */
size_t system_unit(int file);

/* Writes all bytes, in one call of write() if they are no more than a unit and the system accepts all. False and errno
 * on failure. If an interrupt was caught and nobody reads the pipe, errno is EPIPE if nothing was written, and
 * ETIMEDOUT if a part was. */
bool system_append(int file, const void *bytes, size_t size);

/* Truncates an open regular file. False and errno on failure. */
bool system_append_cut(int file, uint64_t size);

/* Closes a file, after syncing it to disk if it is regular. False and errno on failure. */
bool system_append_close(int file);

/* Closes a file that was opened at `path`, and removes it if it is empty and `path` still names it. */
void system_append_discard(int file, const char *path);

/* The size of a regular file in bytes; 0 if it is unknown. */
uint64_t system_file_size(int file);

/* Sets *number to the highest N for which a file "PATH.N" exists, or to 0 if there is none. False and errno if the
 * folder cannot be read. */
bool system_last_number(const char *path, uint64_t *number);

/* Renames a file. False and errno on failure, EEXIST if the new name exists. */
bool system_rename(const char *from, const char *to);

#endif
