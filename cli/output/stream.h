/* SPDX-License-Identifier: MIT */
#ifndef CLI_STREAM_H
#define CLI_STREAM_H

#include <stdbool.h>
#include <stddef.h>

/* Standard output, or a file in its place. After the first failed write, such as on a full disk or a closed pipe,
 * nothing more is written. */

/* Creates or empties a file to which everything goes that is written from now on. A failure is that of a write. */
void stream_open_file(const char *path);
void stream_close_file(void);

/* Between these two calls everything goes to a file that then replaces the one at `path`, so that readers see either
 * the whole of it or the earlier one. After a failure the earlier one stays. What is no regular file, such as a device,
 * is written in place. */
void stream_begin_replacement(const char *path);
void stream_end_replacement(void);

/* What is written: the path of the file, or "standard output". */
const char *stream_name(void);

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
