/* SPDX-License-Identifier: MIT */
#ifndef CLI_STREAM_H
#define CLI_STREAM_H

#include <stdbool.h>
#include <stddef.h>

/* Writes to standard output, or to a file instead of it. After the first failed write, such as on a full disk or a
 * closed pipe, nothing more is written. */

/* Writes to a file instead of standard output until stream_close_file(). It is written beside `path`, where the first
 * write creates it, and replaces what is there when it is complete (replacement.h). Pipes, devices and names of
 * descriptors are written directly; a name of standard output, such as /dev/stdout, means standard output. `path` is
 * stored and must stay valid. A failure counts as a failed write. */
void stream_open_file(const char *path);

/* Closes the file. If it is not complete, or a write has failed, an existing file stays as it was. A complete file to
 * which nothing was written is empty. */
void stream_close_file(bool is_complete);

/* The path of the last file that was opened, even if it was closed since; "standard output" if there was none. */
const char *stream_name(void);

void stream_write(const void *bytes, size_t size);

/* Writes everything that is buffered. */
void stream_flush(void);

/* Between these two calls, the bytes written before each stream_flush() are a frame, which replaces the previous frame
 * on the terminal (screen.h). */
void stream_begin_frames(void);
void stream_end_frames(void);

bool stream_failed(void);

/* errno of the failure; 0 if there was none. */
int stream_error(void);

#endif
