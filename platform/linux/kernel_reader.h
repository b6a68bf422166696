/* SPDX-License-Identifier: MIT */
#ifndef PFB_KERNEL_READER_H
#define PFB_KERNEL_READER_H

/* Reading the kernel's files below a root folder. All countersets of a source share one reader: its buffer is kept and
 * grown, so that reading allocates nothing once it has grown, and its clocks are those of the sample.
 *
 * A file that is not there, that went or is not permitted has nothing to tell, and what is made of it is not known. Any
 * other error says nothing about the machine, above all that file handles or memory ran out: the reader keeps the first
 * one, so that nobody takes it for "there is nothing" (pfb_kernel_is_whole). */
#include "linux/kernel_text.h"
#include "source/source_private.h"

#include <dirent.h>
#include <time.h>

typedef struct pfb_kernel_reader {
    uint64_t ticks_per_second; /* USER_HZ, the unit of times in /proc */
    pfb_write_times times;     /* of the sample, once pfb_kernel_clock was called */
    /* ------------------------------------------------------------------------------------------ */
    bool has_times;
    bool has_stat; /* `stat` is of this sample */
    pfb_bytes stat;
    char *path; /* the root, and behind it the file in hand */
    size_t root_size;
    pfb_bytes text;  /* of the file in hand */
    bool has_failed; /* for the reason in `failure` */
    pfb_source_failure failure;
} pfb_kernel_reader;

/* The kernel below `root`, "" for that of this machine. False when memory is exhausted; then nothing need be closed. */
bool pfb_kernel_reader_open(pfb_kernel_reader *reader, const char *root, pfb_source_failure *failure);
void pfb_kernel_reader_close(pfb_kernel_reader *reader);

/* ---- Files ---------------------------------------------------------------------------------------------------
 *
 * Names begin with a slash and are cut after 127 bytes. A text is valid until the reader reads again. */

/* The path of a file or folder; valid until the next name. */
const char *pfb_kernel_path(pfb_kernel_reader *reader, const char *format, ...) PFB_PRINTF(2, 3);

/* Forgets the error that was kept. */
void pfb_kernel_begin(pfb_kernel_reader *reader);

/* Whether what was read since then is all there is; false and the reason when an error was kept. */
bool pfb_kernel_is_whole(const pfb_kernel_reader *reader, pfb_source_failure *failure);

/* The whole file; an empty text when it cannot be read. */
pfb_kernel_text pfb_kernel_file(pfb_kernel_reader *reader, const char *format, ...) PFB_PRINTF(2, 3);

/* A file that must be there: false and the reason when it cannot be read. */
bool pfb_kernel_need_file(pfb_kernel_reader *reader, const char *name, pfb_kernel_text *text,
                          pfb_source_failure *failure);

/* /proc/stat, which several countersets are made of: read once in a sample and valid until the next one. */
bool pfb_kernel_stat(pfb_kernel_reader *reader, pfb_kernel_text *text, pfb_source_failure *failure);

/* A file of a driver with one number; false when it is not there, or not that. Drivers answer with errors of their own
 * choice where they have none: of all errors only handles and memory that ran out are kept. */
bool pfb_kernel_file_number(pfb_kernel_reader *reader, uint64_t *number, const char *format, ...) PFB_PRINTF(3, 4);

bool pfb_kernel_exists(pfb_kernel_reader *reader, const char *format, ...) PFB_PRINTF(2, 3);

/* The whole file at `path`, replacing what was in `text`, whose memory is kept and grown: once it has grown nothing is
 * allocated. Returns 0, or the system's error (errno). Files beyond half a GiB are refused with EFBIG. */
int pfb_kernel_read(const char *path, pfb_bytes *text);

/* ---- Folders of numbers --------------------------------------------------------------------------------------- */

/* The folders in a folder whose names are a prefix and a number. */
typedef struct pfb_kernel_folders {
    const char *parent;
    const char *prefix;
    uint32_t least, most;
} pfb_kernel_folders;

/* Those of processes. */
extern const pfb_kernel_folders pfb_kernel_processes;

/* Null when the parent cannot be listed. */
DIR *pfb_kernel_open_folders(pfb_kernel_reader *reader, const pfb_kernel_folders *folders);

/* The next number, in the kernel's order; false at the end. */
bool pfb_kernel_next_folder(pfb_kernel_reader *reader, DIR *parent, const pfb_kernel_folders *folders,
                            uint32_t *number);

/* ---- Samples -------------------------------------------------------------------------------------------------
 *
 * A sample has one set of clocks, `times`. Every counterset asks for them right after the file its rates stand on; the
 * first one to ask has them read. */

void pfb_kernel_new_sample(pfb_kernel_reader *reader);
void pfb_kernel_clock(pfb_kernel_reader *reader);

enum { PFB_KERNEL_100NS = 10000000 }; /* units of 100 ns in a second */

/* One of the system's clocks, in 100 ns. */
uint64_t pfb_kernel_now(clockid_t clock);

/* A time in ticks of USER_HZ, as 100 ns, rounded down; the largest number when that has no room. */
uint64_t pfb_kernel_ticks_to_100ns(const pfb_kernel_reader *reader, uint64_t ticks);

#endif
