/* SPDX-License-Identifier: MIT */
#ifndef CLI_SUGGEST_H
#define CLI_SUGGEST_H

#include "memory/buffer.h"

/* Finds the name that a user probably meant: "recrod" -> "record", "Procesor" -> "Processor Information".
 *
 * A name matches when it, or its first words, differ from what was typed by few insertions, deletions, replacements and
 * swaps of adjacent bytes: none in up to 2 typed bytes, 1 in up to 5, 2 in up to 9, else 3. The case of A to Z is
 * ignored. The best name wins: fewest differences, a whole name before first words, an earlier one before a later one.
 * The work per name is bounded, whatever its length; nothing is suggested for more than 64 typed bytes. */
typedef struct suggestion {
    const char *typed; /* UTF-8; valid while the suggestion is used */
    /* ------------------------------------------------------------------------------------------ */
    size_t typed_size;
    size_t most_differences;
    size_t best_score;
    buffer best;
} suggestion;

void suggest_begin(suggestion *s, const char *typed);

/* Considers a name: UTF-8 of any content. It is copied when it is the best one. */
void suggest_name(suggestion *s, const char *name, size_t size);

void suggest_end(suggestion *s);

/* Appends "; did you mean NAME?" where there is a name, else the string `otherwise`. */
void suggest_put(const suggestion *s, buffer *out, const char *otherwise);

#endif
