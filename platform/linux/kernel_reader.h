/* SPDX-License-Identifier: MIT */
#ifndef PFB_KERNEL_READER_H
#define PFB_KERNEL_READER_H

/* Reading the kernel's files below a root folder. All countersets of a source share one reader: its buffer is kept and
 * grown, so that reading allocates nothing once it has grown, and its clocks are those of the sample. */
#include "kernel_text.h"
#include "source_private.h"

typedef struct pfb_kernel_reader {
    uint64_t ticks_per_second; /* USER_HZ, the unit of times in /proc */
    pfb_data_times times;      /* of the sample, once pfb_kernel_clock was called */
    /* ------------------------------------------------------------------------------------------ */
    bool has_times;
    bool has_stat; /* `stat` is of this sample */
    pfb_bytes stat;
    char *path; /* the root, and behind it the file in hand */
    size_t root_size;
    pfb_bytes text; /* of the file in hand */
} pfb_kernel_reader;

/* The kernel below `root`, "" for that of this machine. False when memory is exhausted; then nothing need be closed. */
bool pfb_kernel_reader_open(pfb_kernel_reader *reader, const char *root, pfb_source_failure *failure);
void pfb_kernel_reader_close(pfb_kernel_reader *reader);

/* ---- Files ---------------------------------------------------------------------------------------------------
 *
 * Names begin with a slash and are cut after 127 bytes. A text is valid until the reader reads again. */

/* The path of a file or folder, for opendir and the like; valid until the next name. */
const char *pfb_kernel_path(pfb_kernel_reader *reader, const char *format, ...) PFB_PRINTF(2, 3);

/* The whole file; an empty text when it cannot be read. */
pfb_kernel_text pfb_kernel_file(pfb_kernel_reader *reader, const char *format, ...) PFB_PRINTF(2, 3);

/* The same for a name relative to an open folder, as openat takes it. */
pfb_kernel_text pfb_kernel_file_at(pfb_kernel_reader *reader, int folder, const char *name);

/* A file that must be there: false and the reason when it cannot be read. */
bool pfb_kernel_need_file(pfb_kernel_reader *reader, const char *name, pfb_kernel_text *text,
                          pfb_source_failure *failure);

/* /proc/stat, which several countersets are made of: read once in a sample and valid until the next one. */
bool pfb_kernel_stat(pfb_kernel_reader *reader, pfb_kernel_text *text, pfb_source_failure *failure);

/* A file with one number; false when it is not there, or not that. */
bool pfb_kernel_file_number(pfb_kernel_reader *reader, uint64_t *number, const char *format, ...) PFB_PRINTF(3, 4);

/* The whole file at `path`, replacing what was in `text`, whose memory is kept and grown: once it has grown nothing is
 * allocated. Returns 0, or the system's error (errno). Files beyond half a GiB are refused with EFBIG. */
int pfb_kernel_read(const char *path, pfb_bytes *text);

/* ---- Samples -------------------------------------------------------------------------------------------------
 *
 * A sample has one set of clocks, `times`. Every counterset asks for them right after the file its rates stand on; the
 * first one to ask has them read. */

void pfb_kernel_new_sample(pfb_kernel_reader *reader);
void pfb_kernel_clock(pfb_kernel_reader *reader);

/* A time in ticks of USER_HZ, as 100 ns, rounded down; the largest number when that has no room. */
uint64_t pfb_kernel_ticks_to_100ns(const pfb_kernel_reader *reader, uint64_t ticks);

#endif
