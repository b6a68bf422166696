/* SPDX-License-Identifier: MIT */
#ifndef CLI_NAME_REF_H
#define CLI_NAME_REF_H

#include "output/text.h"

/* A name where it lies in the input. An input can give one long name to thousands of counters, so the program keeps
 * references and converts a name when it prints it. Nothing stores a converted name per counter, row or value: that
 * memory would be quadratic in the input. */
typedef struct name_ref {
    const uint8_t *bytes; /* null: there is no name */
    size_t size;          /* in bytes */
    uint32_t code_page;   /* of code_page.h */
} name_ref;

/* A name in UTF-16LE. */
name_ref name_ref_utf16(const uint8_t *utf16, size_t units);

/* Appends the whole name as UTF-8. Appends nothing where there is no name. */
void name_ref_text(buffer *out, name_ref name);

/* Appends at most `most` characters of the name as UTF-8, and an ellipsis if it has more. Reads no more of the name
 * than it appends. */
void name_ref_cut(buffer *out, name_ref name, size_t most);

#endif
