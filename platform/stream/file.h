/* SPDX-License-Identifier: MIT */
#ifndef PFB_STREAM_FILE_H
#define PFB_STREAM_FILE_H

/* The few system calls that reading files needs. Paths are UTF-8 on Windows, and uninterpreted bytes elsewhere. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct system_file {
    int number;      /* descriptor; -1: not open */
    bool is_regular; /* any offset can be read */
    bool is_standard;
    uint64_t base; /* of a regular file that is standard input: the position at which it was opened */
} system_file;

/* Opens a file for reading; "-" is standard input. Returns false and sets *error, an errno value. */
bool pfb_file_open(system_file *file, const char *path, int *error);
void pfb_file_close(system_file *file);

/* Reads up to `size` bytes of a regular file. Returns their number, 0 at the end, -1 and *error on failure. */
int64_t pfb_file_read_at(const system_file *file, uint64_t offset, void *to, size_t size, int *error);

/* The same for other files, which are read in order. Waits at most `milliseconds` for the first byte: PFB_FILE_LATER
 * means that there is none yet. */
enum { PFB_FILE_LATER = -2 };
int64_t pfb_file_read_next(const system_file *file, void *to, size_t size, uint32_t milliseconds, int *error);

uint64_t pfb_file_size(const system_file *file); /* of a regular file, from `base` on; 0 if it is unknown */

/* Returns true if a regular file has fewer than `offset` bytes, or if the path with which it was opened is that of
 * another file now. Windows does not rename a file that is open. */
bool pfb_file_is_replaced(const system_file *file, const char *path, uint64_t offset);

/* Returns true if a recorder has the file open for appending. False if its file system has no locks. */
bool pfb_file_is_locked(const system_file *file);

/* Returns true if the path names a regular file. Does not open it: opening a named pipe may block. */
bool pfb_file_names_regular(const char *path);

uint64_t pfb_file_clock(void);              /* a monotonic clock in 100 ns, whose zero is unspecified */
void pfb_file_sleep(uint32_t milliseconds); /* a signal may end it early */

/* Writes the system's reason for an error, with its NUL; an empty text if it has none. */
void pfb_file_reason(int error, char *text, size_t capacity);

#endif
