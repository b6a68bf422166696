/* SPDX-License-Identifier: MIT */
#ifndef CLI_HTML_H
#define CLI_HTML_H

#include "output/output.h"

/* Pages of HTML with untrusted text. The text is written only by html_text(), as character data or as the value of an
 * attribute in quotation marks. It is never written into a script, a style sheet or a URL. */

/* Appends text, escaped as by text_safe(); the characters < > & " ' become character references. */
void html_text(buffer *out, const char *utf8, size_t size);
void html_string(buffer *out, const char *utf8);

/* The same for text that text_safe() has escaped already. */
void html_escaped(buffer *out, const char *safe, size_t size);

/* A style sheet or a script that is built into the program: its bytes, and its hash for a Content-Security-Policy. */
typedef struct html_part {
    const char *bytes;
    const char *hash;
} html_part;

/* Appends a page up to the end of its head. The Content-Security-Policy allows only the style sheet and the script: no
 * request, no other script, no form. `script.hash` is null for a page without a script. */
void html_begin(buffer *out, const char *title, html_part style, html_part script);

/* If the buffer holds 64 KiB or more, writes it to `out` and empties it. The caller calls this often, so that the
 * buffer stays small, and writes the rest at the end. */
void html_flush(buffer *html, output *out);

#endif
