/* SPDX-License-Identifier: MIT */
#ifndef CLI_TEXT_LINE_H
#define CLI_TEXT_LINE_H

#include "memory/buffer.h"
#include "perfblock/name.h"

/* Writes lines of the text form of samples (docs/text.md). A long line continues on the next one, which is indented. */

typedef struct text_line {
    buffer text;  /* whole lines, and the current one */
    size_t start; /* of the current line in `text` */
    buffer word;  /* the next word */
} text_line;

void text_line_free(text_line *line);

/* The functions up to text_line_bytes() append a word to the current line. */
void text_line_word(text_line *line, const char *word);
void text_line_format(text_line *line, const char *format, ...) TEXT_PRINTF(2, 3);

/* A name between quotation marks, or - if it is absent. */
void text_line_name(text_line *line, const pfb_name *name);

/* "NAME#ID" between quotation marks, or -#ID if the name is absent. */
void text_line_instance(text_line *line, const pfb_name *name, long long id);

/* "hex:" and two digits per byte. */
void text_line_bytes(text_line *line, const uint8_t *bytes, size_t size);

/* Ends the current line. */
void text_line_end(text_line *line);

/* Removes all text after the first `size` bytes. They must end at the end of a line. */
void text_line_cut(text_line *line, size_t size);

#endif
