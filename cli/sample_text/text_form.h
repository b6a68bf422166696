/* SPDX-License-Identifier: MIT */
#ifndef CLI_TEXT_FORM_H
#define CLI_TEXT_FORM_H

#include "perfblock/source.h"

/* Reads samples in text form, which people can write, into a capture. docs/text.md describes the form. */

/* Returns true if the bytes begin with the first line of the text form, of any version. */
bool text_form_recognise(const void *data, size_t size);

/* Finds the 100 ns clock of the first sample in the first bytes of a text. Stores in *needs_more whether more bytes may
 * have it. */
bool text_form_find_time(const uint8_t *data, size_t size, bool is_last, int64_t *time, bool *needs_more);

/* Appends a capture with what the text describes. False after an error, which names its line and column, with status 1;
 * `file` is the name of the text for errors. */
bool text_form_read(const char *file, const void *data, size_t size, pfb_bytes *capture);

#endif
