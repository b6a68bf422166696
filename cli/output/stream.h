/* SPDX-License-Identifier: MIT */
#ifndef CLI_STREAM_H
#define CLI_STREAM_H

#include <stdbool.h>
#include <stddef.h>

/* Standard output. After the first failed write, such as on a full disk or a closed pipe, nothing more is written. */

void stream_write(const void *bytes, size_t size);

/* Writes everything that is buffered. */
void stream_flush(void);

/* From now on the lines written between two flushes replace those before them on the terminal (screen.h). */
void stream_begin_pictures(void);
void stream_end_pictures(void);

bool stream_failed(void);

/* errno of the failure; 0 if there was none. */
int stream_error(void);

#endif
