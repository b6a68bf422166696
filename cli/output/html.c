/* SPDX-License-Identifier: MIT */
#include "output/html.h"

#include "output/text.h"

#include <string.h>

/* Returns the character reference for a character that has a meaning in HTML; null for other characters. */
static const char *reference(char c)
{
    switch (c) {
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '&':
        return "&amp;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

void html_escaped(buffer *out, const char *safe, size_t size)
{
    for (size_t i = 0, run = 0; i < size; i += run) {
        for (run = 0; i + run < size && !reference(safe[i + run]);)
            run++;
        buffer_bytes(out, safe + i, run);
        if (i + run < size)
            buffer_string(out, reference(safe[i + run++]));
    }
}

void html_text(buffer *out, const char *utf8, size_t size)
{
    buffer safe = {0};
    buffer_clear(&safe);
    text_safe(&safe, utf8, size);
    html_escaped(out, safe.data, safe.size);
    buffer_free(&safe);
}

void html_string(buffer *out, const char *utf8)
{
    html_text(out, utf8, strlen(utf8));
}

void html_begin(buffer *out, const char *title, html_part style, html_part script)
{
    buffer_string(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                       "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; base-uri 'none'; "
                       "form-action 'none'; ");
    buffer_format(out, "style-src '%s'", style.hash);
    if (script.hash)
        buffer_format(out, "; script-src '%s'", script.hash);
    buffer_string(out, "\">\n");
    buffer_string(out, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                       "<meta name=\"color-scheme\" content=\"light dark\">\n<title>");
    html_string(out, title);
    buffer_format(out, "</title>\n<style>%s</style>\n</head>\n", style.bytes);
}

void html_flush(buffer *html, output *out)
{
    enum { BLOCK = 1 << 16 };
    if (html->size < BLOCK)
        return;
    output_raw(out, html->data, html->size);
    buffer_clear(html);
}
