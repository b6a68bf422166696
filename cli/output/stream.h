/* SPDX-License-Identifier: MIT */
#ifndef CLI_STREAM_H
#define CLI_STREAM_H

#include <stdbool.h>
#include <stddef.h>

/* Standard output, and the first failure to write it: a full disk, a pipe nobody reads. After that nothing more is
 * written, and loops end early. */

void stream_write(const void *bytes, size_t size);

/* Hands everything to the system. */
void stream_flush(void);

/* From now on what is written between two flushes is a picture of whole lines that takes the place of the one before
 * on the terminal (screen.h). */
void stream_begin_pictures(void);
void stream_end_pictures(void);

bool stream_failed(void);

/* errno of the failure; 0 while there is none. */
int stream_error(void);

#endif
