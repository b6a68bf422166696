/* SPDX-License-Identifier: MIT */
#ifndef PFB_KERNEL_READER_H
#define PFB_KERNEL_READER_H

/* Reads the kernel's files below a root directory. All countersets of a source share one reader. The reader reuses its
 * buffer and enlarges it when a file needs more, so that most reads allocate no memory.
 *
 * If a file does not exist, disappears or may not be read, the values computed from it are unknown. Any other error,
 * such as a lack of file handles or memory, does not mean that the machine lacks the data. Unless a function says
 * otherwise, the reader stores the first such error, and pfb_kernel_has_no_error returns it. */
#include "live/linux/kernel_text.h"
#include "source/source_private.h"

#include <dirent.h>
#include <time.h>

typedef struct pfb_kernel_reader {
    uint64_t ticks_per_second; /* USER_HZ, the unit of times in /proc */
    pfb_write_times times;     /* of the current sample; set by pfb_kernel_clock */
    /* Private: */
    bool has_times;             /* `times` was set for the current sample */
    bool has_stat;              /* `stat` was read for the current sample */
    pfb_bytes stat;             /* contents of /proc/stat */
    char *path;                 /* the root followed by the current file */
    size_t root_size;           /* size of the root in `path` */
    pfb_bytes text;             /* contents of the current file */
    bool has_failed;            /* `failure` is set */
    pfb_source_failure failure; /* the first error since pfb_kernel_begin */
} pfb_kernel_reader;

/* `root` is the directory that contains proc and sys; "" means this machine. Returns false if memory is exhausted; then
 * the reader needs no closing. */
bool pfb_kernel_reader_open(pfb_kernel_reader *reader, const char *root, pfb_source_failure *failure);
void pfb_kernel_reader_close(pfb_kernel_reader *reader);

/* ---- Files ---------------------------------------------------------------------------------------------------
 *
 * Names begin with a slash and are truncated after 287 bytes. Except for pfb_kernel_stat, a returned text is valid
 * until the next read. */

/* Returns the path of a file or directory. It is valid until the next call of this function or of one that accesses a
 * file or directory. */
const char *pfb_kernel_path(pfb_kernel_reader *reader, const char *format, ...) PFB_PRINTF(2, 3);

/* Clears the stored error, before the files of a counterset are read. */
void pfb_kernel_begin(pfb_kernel_reader *reader);

/* Returns true if no error was stored since pfb_kernel_begin. Otherwise returns false with the error. */
bool pfb_kernel_has_no_error(const pfb_kernel_reader *reader, pfb_source_failure *failure);

/* Reads a whole file. Returns an empty text if the file cannot be read. */
pfb_kernel_text pfb_kernel_file(pfb_kernel_reader *reader, const char *format, ...) PFB_PRINTF(2, 3);

/* Reads a required file. Returns false with the reason if it cannot be read; the error is not stored. */
bool pfb_kernel_need_file(pfb_kernel_reader *reader, const char *name, pfb_kernel_text *text,
                          pfb_source_failure *failure);

/* Returns the contents of /proc/stat, which several countersets use. The first call of a sample reads the file. The
 * text is valid until the next sample. Returns false with the reason if the file cannot be read. */
bool pfb_kernel_stat(pfb_kernel_reader *reader, pfb_kernel_text *text, pfb_source_failure *failure);

/* Reads a driver's file that contains one number. Returns false if the file cannot be read or has another format.
 * Drivers return arbitrary errors for missing values. Therefore only a lack of file handles or memory is stored as an
 * error. */
bool pfb_kernel_file_number(pfb_kernel_reader *reader, uint64_t *number, const char *format, ...) PFB_PRINTF(3, 4);

/* Returns true if a file or directory exists. */
bool pfb_kernel_exists(pfb_kernel_reader *reader, const char *format, ...) PFB_PRINTF(2, 3);

/* Reads the whole file at `path` into `text`. Reuses the memory of `text` and enlarges it if necessary. Returns 0, an
 * errno value, or EFBIG for files larger than 512 MiB. */
int pfb_kernel_read(const char *path, pfb_bytes *text);

/* ---- Numbered directories --------------------------------------------------------------------------------------- */

/* The subdirectories of `parent` whose names consist of the prefix and a number from `min` to `max`. */
typedef struct pfb_kernel_folders {
    const char *parent;
    const char *prefix;
    uint32_t min, max;
} pfb_kernel_folders;

/* The directories of processes in /proc. */
extern const pfb_kernel_folders pfb_kernel_processes;

/* Opens the parent for pfb_kernel_next_folder; closedir closes it. Returns NULL if the parent cannot be listed. */
DIR *pfb_kernel_open_folders(pfb_kernel_reader *reader, const pfb_kernel_folders *folders);

/* Returns the number of the next directory, in the order in which the kernel lists them. Returns false after the last
 * one or on an error, which is stored. */
bool pfb_kernel_next_folder(pfb_kernel_reader *reader, DIR *parent, const pfb_kernel_folders *folders,
                            uint32_t *number);

/* ---- Samples -------------------------------------------------------------------------------------------------
 *
 * All countersets of a sample use the same clock values, `times`. Every counterset calls pfb_kernel_clock right after
 * it reads the file or files that its rates are computed from; Processor Information right after /proc/stat, before its
 * other files. Only the first call of a sample reads the clocks. */

/* Begins a sample: clock values and /proc/stat will be read again. */
void pfb_kernel_new_sample(pfb_kernel_reader *reader);

/* Sets `times` at the first call of a sample. */
void pfb_kernel_clock(pfb_kernel_reader *reader);

enum { PFB_KERNEL_100NS = 10000000 }; /* units of 100 ns per second */

/* Returns the time of a system clock in units of 100 ns. */
uint64_t pfb_kernel_now(clockid_t clock);

/* Converts ticks of USER_HZ to units of 100 ns. Returns UINT64_MAX if the result does not fit. */
uint64_t pfb_kernel_ticks_to_100ns(const pfb_kernel_reader *reader, uint64_t ticks);

#endif
