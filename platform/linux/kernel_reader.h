/* SPDX-License-Identifier: MIT */
#ifndef PFB_KERNEL_READER_H
#define PFB_KERNEL_READER_H

/* Reads the kernel's files below a root directory. All countersets of a source share one reader: its buffer is kept and
 * grown, so that reading allocates nothing once it has grown, and all countersets of a sample share its clocks.
 *
 * A file that does not exist, has disappeared or may not be read has no data, and the values made from it are unknown.
 * Any other error, such as running out of file handles or memory, says nothing about the machine. The reader keeps the
 * first such error, so that it is not mistaken for missing data (pfb_kernel_is_whole). */
#include "linux/kernel_text.h"
#include "source/source_private.h"

#include <dirent.h>
#include <time.h>

typedef struct pfb_kernel_reader {
    uint64_t ticks_per_second; /* USER_HZ, the unit of times in /proc */
    pfb_write_times times;     /* of the sample, after pfb_kernel_clock was called */
    /* ------------------------------------------------------------------------------------------ */
    bool has_times;
    bool has_stat; /* `stat` belongs to this sample */
    pfb_bytes stat;
    char *path; /* the root followed by the current file */
    size_t root_size;
    pfb_bytes text;  /* contents of the current file */
    bool has_failed; /* an error was kept in `failure` */
    pfb_source_failure failure;
} pfb_kernel_reader;

/* Opens the files below `root`; "" is this machine. Returns false when memory is exhausted; then nothing must be
 * closed. */
bool pfb_kernel_reader_open(pfb_kernel_reader *reader, const char *root, pfb_source_failure *failure);
void pfb_kernel_reader_close(pfb_kernel_reader *reader);

/* ---- Files ---------------------------------------------------------------------------------------------------
 *
 * Names begin with a slash; they are truncated after 127 bytes. A text is valid until the next read. */

/* The path of a file or directory; valid until the next call that takes a name. */
const char *pfb_kernel_path(pfb_kernel_reader *reader, const char *format, ...) PFB_PRINTF(2, 3);

/* Clears the error that was kept. */
void pfb_kernel_begin(pfb_kernel_reader *reader);

/* Returns true if no error was kept since pfb_kernel_begin; otherwise false with the reason. */
bool pfb_kernel_is_whole(const pfb_kernel_reader *reader, pfb_source_failure *failure);

/* Reads the whole file. The text is empty if it cannot be read. */
pfb_kernel_text pfb_kernel_file(pfb_kernel_reader *reader, const char *format, ...) PFB_PRINTF(2, 3);

/* Reads a required file. Returns false with the reason if it cannot be read. */
bool pfb_kernel_need_file(pfb_kernel_reader *reader, const char *name, pfb_kernel_text *text,
                          pfb_source_failure *failure);

/* Reads /proc/stat, which several countersets use: once per sample. Valid until the next sample. */
bool pfb_kernel_stat(pfb_kernel_reader *reader, pfb_kernel_text *text, pfb_source_failure *failure);

/* Reads a driver's file with one number. Returns false if it does not exist or has another format. Drivers return
 * arbitrary errors for missing values, so only running out of file handles or memory is kept as an error. */
bool pfb_kernel_file_number(pfb_kernel_reader *reader, uint64_t *number, const char *format, ...) PFB_PRINTF(3, 4);

bool pfb_kernel_exists(pfb_kernel_reader *reader, const char *format, ...) PFB_PRINTF(2, 3);

/* Reads the whole file at `path` into `text`, whose memory is kept and grown. Returns 0 or errno; EFBIG for files
 * larger than 512 MiB. */
int pfb_kernel_read(const char *path, pfb_bytes *text);

/* ---- Numbered directories --------------------------------------------------------------------------------------- */

/* The subdirectories of `parent` whose names are a prefix and a number. */
typedef struct pfb_kernel_folders {
    const char *parent;
    const char *prefix;
    uint32_t least, most;
} pfb_kernel_folders;

/* The directories of processes. */
extern const pfb_kernel_folders pfb_kernel_processes;

/* Returns NULL if the parent cannot be listed. */
DIR *pfb_kernel_open_folders(pfb_kernel_reader *reader, const pfb_kernel_folders *folders);

/* Returns the next number, in the kernel's order. Returns false at the end. */
bool pfb_kernel_next_folder(pfb_kernel_reader *reader, DIR *parent, const pfb_kernel_folders *folders,
                            uint32_t *number);

/* ---- Samples -------------------------------------------------------------------------------------------------
 *
 * A sample has one set of clocks, `times`. Every counterset calls pfb_kernel_clock right after the file that its rates
 * come from; the first call reads the clocks. */

void pfb_kernel_new_sample(pfb_kernel_reader *reader);
void pfb_kernel_clock(pfb_kernel_reader *reader);

enum { PFB_KERNEL_100NS = 10000000 }; /* units of 100 ns per second */

/* Reads a clock of the system, in units of 100 ns. */
uint64_t pfb_kernel_now(clockid_t clock);

/* Converts ticks of USER_HZ to units of 100 ns. UINT64_MAX if the result does not fit. */
uint64_t pfb_kernel_ticks_to_100ns(const pfb_kernel_reader *reader, uint64_t ticks);

#endif
