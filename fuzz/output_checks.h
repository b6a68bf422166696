/* SPDX-License-Identifier: MIT */
#ifndef PFB_FUZZ_OUTPUT_CHECKS_H
#define PFB_FUZZ_OUTPUT_CHECKS_H

/* Checks of what the program writes, by parsers that share no code with it. Each returns true if the text has the
 * format. Work is linear in the size. */
#include <stdbool.h>
#include <stddef.h>

/* UTF-8 as RFC 3629 defines it: no surrogates, no overlong forms. */
bool is_utf8(const char *text, size_t size);

/* Lines that are each an object of JSON (RFC 8259), in UTF-8, of at most 16 levels. */
bool is_json_lines(const char *text, size_t size);

/* Rows of CSV (RFC 4180) that all have as many fields as the first one. Rows end in a line feed, which a carriage
 * return may precede. */
bool is_csv(const char *text, size_t size, char separator);

/* Lines of the text format of Prometheus or of OpenMetrics: comments, and a name, labels and one or two numbers. */
bool is_metrics(const char *text, size_t size);

#endif
