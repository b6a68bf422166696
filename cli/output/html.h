/* SPDX-License-Identifier: MIT */
#ifndef CLI_HTML_H
#define CLI_HTML_H

#include "output/output.h"

/* Pages of HTML with text that nobody checked. Such text is written as character data or as an attribute's value in
 * quotation marks only, through html_text(); never into a script, a style sheet or the value of a URL. */

/* Appends UTF-8 of any content as text_safe() prints it, and the characters that HTML gives a meaning as references. */
void html_text(buffer *out, const char *utf8, size_t size);
void html_string(buffer *out, const char *utf8);

/* A style sheet or a script of the program's own: its bytes and its hash for a Content-Security-Policy. */
typedef struct html_part {
    const char *bytes;
    const char *hash;
} html_part;

/* Appends a page up to the end of its head. The policy allows the script and the style sheet, and nothing else: no
 * request, no other script, no form. Without a script its hash is null. */
void html_begin(buffer *out, const char *title, html_part style, html_part script);

/* Writes what was appended once it is long enough, and empties the buffer. */
void html_flush(buffer *html, output *out);

#endif
