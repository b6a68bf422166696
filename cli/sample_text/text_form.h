/* SPDX-License-Identifier: MIT */
#ifndef CLI_TEXT_FORM_H
#define CLI_TEXT_FORM_H

#include "perfblock/source.h"

/* Converts samples in text form to a capture. docs/text.md describes the text form, which can be written by hand. */

/* Returns true if the bytes begin with the first line of the text form, of any version. */
bool text_form_recognise(const void *data, size_t size);

/* Finds the 100 ns clock of the first sample in the first `size` bytes of a text. With `is_last` they are the whole
 * text. Returns false if the bytes have no whole sample line; *needs_more is true if bytes after them may have one. */
bool text_form_find_time(const uint8_t *data, size_t size, bool is_last, int64_t *time, bool *needs_more);

/* Appends a capture with the content of the text. Returns false after an error, which is reported with its line and
 * column and status 1. `file` is the name of the text in messages. */
bool text_form_read(const char *file, const void *data, size_t size, pfb_bytes *capture);

#endif
